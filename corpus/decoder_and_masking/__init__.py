"""Lab 08: solutions as different students write them."""
