"""Lab 06: solutions as different students write them."""
