"""The ways that work takes to and from the grader. Each can be taken away; nothing in the engine imports them."""
