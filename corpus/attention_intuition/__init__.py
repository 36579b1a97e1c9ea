"""Lab 01: solutions as different students write them."""
