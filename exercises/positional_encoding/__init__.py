"""Lab 05, positional encoding: the exercises, their cases and the mistakes that are named."""
