"""Takes over assignments that were written for plain nbgrader."""
