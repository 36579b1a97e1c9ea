"""`course watch`: what arrives in nbgrader's exchange and in drop folders is graded, and feedback goes back."""
