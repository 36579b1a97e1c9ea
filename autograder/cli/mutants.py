"""`course mutants`: how many wrong solutions the cases of an exercise let pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

if TYPE_CHECKING:
    from autograder.declaring.exercise import Exercise

COLUMNS = ("exercise", "made", "equivalent", "killed", "left")


def mutants(
    lab: Annotated[str | None, typer.Argument(metavar="[LAB]", help="The lab; all of the course by default.")] = None,
    exercise: Annotated[str | None, typer.Argument(metavar="[EXERCISE]", help="One exercise of it.")] = None,
    most: Annotated[int, typer.Option(min=1, help="How many mutants of an exercise are tried.")] = 60,
    seed: Annotated[int, typer.Option(help="Seed of the cases.")] = 40723,
) -> None:
    """Edit the solution in many ways, grade each in the sandbox, and say which wrong ones pass.

    A mutant is equivalent if it also passes 200 fresh inputs, and left if it fails there: then a case is wanting. Of an
    exercise that trains a model, at most 20 mutants are tried, and the fresh inputs are those of one more draw.

      course mutants 02_self_attention project_qkv

    It takes minutes for a lab. The output holds the answer: it is for instructors.
    """
    from autograder.author.solution_mutants import measure, summary
    from autograder.course.settings import CourseError, load_course
    from autograder.course.text_pairs import read_pair
    from autograder.declaring.course_exercises import declared_exercises
    from autograder.declaring.exercise import FIND_THE_BUG, Exercise
    from autograder.grading.preloading import start_sandbox

    course = load_course()
    console = Console()
    for name in [course.lab(lab).name] if lab else [declared_lab.name for declared_lab in course.labs]:
        declared = declared_exercises(course, name)
        if exercise is not None and not isinstance(declared.get(exercise), Exercise):
            raise CourseError(f"{name}: {exercise} has no formula; there are exercises {', '.join(declared)}")
        chosen = [
            candidate
            for candidate in declared.values()
            if isinstance(candidate, Exercise)
            and (candidate.name == exercise if exercise else _is_tried(candidate, FIND_THE_BUG))
        ]
        solution = read_pair(course.solution_notebook(name))
        table = Table(*COLUMNS, title=name)
        with start_sandbox(course, name) as starting:
            sandbox = starting.result()
            found = {tried.name: measure(name, tried, solution, sandbox, seed=seed, most=most) for tried in chosen}
        for row in [*found.values(), summary(found)]:
            table.add_row(row.exercise, *map(str, (row.made, row.equivalent, row.killed, len(row.left))))
        console.print(table)
        for row in found.values():
            for label in row.left:
                console.print(f"left in {row.exercise}: {escape(label)}", highlight=False, soft_wrap=True)


def _is_tried(exercise: Exercise, bug: str) -> bool:
    """Whether it is a function or layer; a value that is written down has nothing to mutate."""
    return exercise.oracle is not None and exercise.name != bug
