"""What an exercise is, and what follows from its declaration."""

from autograder.declaring.copying import find_the_bug
from autograder.declaring.declaration import Advice, Case, Group
from autograder.declaring.design import Design
from autograder.declaring.exercise import Exercise, Mistake, wrong
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
    "find_the_bug",
    "wrong",
]
