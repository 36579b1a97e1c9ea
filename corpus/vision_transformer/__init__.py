"""Lab 09: solutions as different students write them."""
