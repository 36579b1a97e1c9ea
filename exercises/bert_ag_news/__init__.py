"""Lab 07, fine-tuning BERT on news: the exercises, their cases and the mistakes that are named."""
