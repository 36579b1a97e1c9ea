"""Lab 07: solutions as different students write them."""
