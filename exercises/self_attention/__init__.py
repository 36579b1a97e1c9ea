"""Lab 02, self-attention: the exercises, their cases and the mistakes that are named."""
