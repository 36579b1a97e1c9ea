"""A class server: who may sign in, what a student's server may use, and how nbgrader is set up there."""
