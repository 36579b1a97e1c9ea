"""Lab 04, encoder block: the exercises, their cases and the mistakes that are named."""
