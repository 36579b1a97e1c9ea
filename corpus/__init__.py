"""For each lab: correct solutions written in different ways, and wrong ones with the mistake they must be told of."""
