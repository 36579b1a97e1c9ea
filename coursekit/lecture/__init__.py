"""What the lectures draw, run and show: plots, diagrams, live figures, page classes, small tasks, recorded results."""
