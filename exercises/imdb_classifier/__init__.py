"""Lab 06, the classifier of film reviews: the exercises, their cases and the mistakes that are named."""
