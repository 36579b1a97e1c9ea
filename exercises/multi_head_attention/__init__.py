"""Lab 03, multi-head attention: the exercises, their cases and the mistakes that are named."""
