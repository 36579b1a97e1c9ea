"""Lab 10b: the exercises of From a model to an assistant."""
