"""Lab 09, the Vision Transformer: the exercises, their cases and the mistakes that are named."""
