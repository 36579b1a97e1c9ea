"""Lab 05: solutions as different students write them."""
