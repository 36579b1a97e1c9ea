"""Lab 10b: solutions as different students write them."""
