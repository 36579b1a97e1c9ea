"""Lab 10, a language model: the exercises, their cases and the mistakes that are named."""
