"""What an exercise is, and what follows from its declaration."""

from autograder.declaring.copying import find_the_bug
from autograder.declaring.declaration import Advice, Case, Group, cases
from autograder.declaring.design import Design
from autograder.declaring.exercise import Exercise
from autograder.declaring.mistakes import Mistake, edit, instead, seen
from autograder.declaring.own import OwnExercise
from autograder.declaring.questions import ONE, Questions

__all__ = [
    "ONE",
    "Advice",
    "Case",
    "Design",
    "Exercise",
    "Group",
    "Mistake",
    "OwnExercise",
    "Questions",
    "cases",
    "edit",
    "find_the_bug",
    "instead",
    "seen",
]
