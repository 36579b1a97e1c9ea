"""`course author`: what somebody who writes exercises asks of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.syntax import Syntax
from rich.table import Table

if TYPE_CHECKING:
    from autograder.declare.exercise import Exercise

COLUMNS = ("exercise", "made", "equivalent", "killed", "left")

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Show what a mistake changes in a formula, and try wrong solutions.\n\n"
    "The output of both commands holds the answer: it is for instructors.",
)


@app.command()
def mistake(
    lab: Annotated[str, typer.Argument(help="The lab, such as 02_self_attention.")],
    exercise: Annotated[str, typer.Argument(help="The exercise.")],
    id: Annotated[str | None, typer.Argument(metavar="[ID]", help="The mistake; all of them by default.")] = None,
) -> None:
    """Show what a mistake changes in the right formula, with its sentence and its hint.

    course author mistake 02_self_attention scaled_dot_product_attention unscaled
    """
    from autograder.author.mistake_text import described
    from autograder.course.settings import CourseError, load_course
    from autograder.declare.course_exercises import declared_exercises
    from autograder.declare.exercise import Exercise

    course = load_course()
    declared = declared_exercises(course, course.lab(lab).name)
    found = declared.get(exercise)
    if not isinstance(found, Exercise):
        raise CourseError(f"{lab}: {exercise} names no mistakes; there are exercises {', '.join(declared)}")
    if id is not None and id not in found.named_mistakes:
        raise CourseError(f"{exercise}: no mistake {id}; there are {', '.join(found.named_mistakes)}")
    console = Console()
    for name in [id] if id else found.named_mistakes:
        console.print(f"[bold]{name}[/]", highlight=False)
        text = described(found, name)
        console.print(Syntax(text, "diff", background_color="default") if console.is_terminal else text, markup=False)


@app.command()
def mutants(
    lab: Annotated[str | None, typer.Argument(metavar="[LAB]", help="The lab; all of the course by default.")] = None,
    exercise: Annotated[str | None, typer.Argument(metavar="[EXERCISE]", help="One exercise of it.")] = None,
    most: Annotated[int, typer.Option(min=1, help="How many mutants of an exercise are tried.")] = 60,
    seed: Annotated[int, typer.Option(help="Seed of the cases.")] = 40723,
) -> None:
    """Edit the solution in many ways, grade each in the sandbox, and say which wrong ones pass.

    A mutant is equivalent if it also passes 200 fresh inputs, and left if it fails there: then a case is missing. Of an
    exercise that trains a model, at most 20 mutants are tried, and the fresh inputs are those of one more draw.

      course author mutants 02_self_attention project_qkv

    It takes minutes for a lab.
    """
    from autograder.author.solution_mutants import measure, summary
    from autograder.course.settings import CourseError, load_course
    from autograder.course.text_pairs import read_pair
    from autograder.declare.course_exercises import declared_exercises
    from autograder.declare.exercise import Exercise
    from autograder.grade.preloading import start_sandbox

    course = load_course()
    console = Console()
    for name in [course.lab(lab).name] if lab else [declared_lab.name for declared_lab in course.labs]:
        declared = declared_exercises(course, name)
        if exercise is not None and not isinstance(declared.get(exercise), Exercise):
            raise CourseError(f"{name}: {exercise} has no formula; there are exercises {', '.join(declared)}")
        chosen = [
            candidate
            for candidate in declared.values()
            if isinstance(candidate, Exercise) and (candidate.name == exercise if exercise else _is_tried(candidate))
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


def _is_tried(exercise: Exercise) -> bool:
    """Whether it is a function or layer; a value that is written down has nothing to mutate."""
    from autograder.declare.exercise import FIND_THE_BUG

    return exercise.oracle is not None and exercise.name != FIND_THE_BUG
