"""From submissions to marks: one submission, one lab; results, the gradebook, nbgrader's plugin."""
