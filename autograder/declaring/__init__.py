"""What an exercise is, and what follows from its declaration."""

from autograder.declaring.copying import find_the_bug
from autograder.declaring.declaration import Case, Group
from autograder.declaring.exercise import Exercise, Mistake, wrong
from autograder.declaring.own import OwnExercise

__all__ = ["Case", "Exercise", "Group", "Mistake", "OwnExercise", "find_the_bug", "wrong"]
