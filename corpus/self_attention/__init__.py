"""Lab 02: solutions as different students write them."""
