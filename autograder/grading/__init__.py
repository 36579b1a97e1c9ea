"""From submissions to marks: one submission, one lab, one command; results, the gradebook, nbgrader's plugin."""
