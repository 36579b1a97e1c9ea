"""Lab 08, decoder and masking: the exercises, their cases and the mistakes that are named."""
