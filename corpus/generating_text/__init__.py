"""Lab 08b: solutions as different students write them."""
