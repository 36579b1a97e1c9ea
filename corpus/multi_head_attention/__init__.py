"""Lab 03: solutions as different students write them."""
