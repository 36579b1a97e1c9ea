"""Lab 10: solutions as different students write them."""
