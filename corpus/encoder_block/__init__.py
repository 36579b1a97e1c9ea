"""Lab 04: solutions as different students write them."""
