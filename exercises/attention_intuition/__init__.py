"""Lab 01, attention intuition: the exercises, their cases and the mistakes that are named."""
