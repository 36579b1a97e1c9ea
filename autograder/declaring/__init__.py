"""What an exercise is, and what follows from its declaration."""

from autograder.declaring.exercise import Case, Exercise, Group, Mistake, wrong

__all__ = ["Case", "Exercise", "Group", "Mistake", "wrong"]
