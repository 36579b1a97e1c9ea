"""What an exercise is, and what follows from its declaration."""

from autograder.declare.declaration import Advice, Case, Group, OwnExercise, cases
from autograder.declare.exercise import Exercise
from autograder.declare.mistakes import Mistake, edit, instead, seen
from autograder.declare.questions import ONE, Design, Questions, find_the_bug

__all__ = [
    "ONE", "Advice", "Case", "Design", "Exercise", "Group", "Mistake", "OwnExercise", "Questions", "cases", "edit",
    "find_the_bug", "instead", "seen",
]  # fmt: skip
