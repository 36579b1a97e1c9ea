"""`course author`: what somebody who writes exercises asks of them."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Annotated

import typer
from rich.syntax import Syntax
from rich.table import Table

from autograder.cli.console import Lab, out, say
from autograder.course.settings import CourseError, load_course
from autograder.declare.declaration import declared_exercises
from autograder.declare.exercise import FIND_THE_BUG, Exercise
from autograder.declare.mistakes import spelling

COLUMNS = ("exercise", "made", "equivalent", "killed", "left")

app = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown")


@app.callback()
def author() -> None:
    """Show what a mistake changes in a formula, and try wrong solutions.

    The output of both commands holds the answer: it is for instructors.
    """


@app.command()
def mistake(
    lab: Lab,
    exercise: Annotated[str, typer.Argument(help="The exercise.")],
    id: Annotated[str | None, typer.Argument(metavar="[ID]", help="The mistake; all of them by default.")] = None,
) -> None:
    """Show what a mistake changes in the right formula, with its sentence and its hint.

    course author mistake 02_self_attention scaled_dot_product_attention unscaled
    """

    course = load_course()
    declared = declared_exercises(course, course.lab(lab).name)
    known = declared.get(exercise)
    if not isinstance(known, Exercise):
        raise CourseError(f"{lab}: {exercise} names no mistakes; there are exercises {', '.join(declared)}")
    if id is not None and id not in known.named_mistakes:
        raise CourseError(f"{exercise}: no mistake {id}; there are {', '.join(known.named_mistakes)}")
    for name in [id] if id else known.named_mistakes:
        say(name, "[bold]")
        text = describe_mistake(known, name)
        out.print(Syntax(text, "diff", background_color="default") if out.is_terminal else text, markup=False)


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
    from autograder.course.text_pairs import read_pair
    from autograder.sandbox.warm import start_sandbox

    course = load_course()
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
            counts = {tried.name: measure(name, tried, solution, sandbox, seed=seed, most=most) for tried in chosen}
        for row in [*counts.values(), summary(counts)]:
            table.add_row(row.exercise, *map(str, (row.made, row.equivalent, row.killed, len(row.left))))
        out.print(table)
        for row in counts.values():
            for label in row.left:
                say(f"left in {row.exercise}: {label}")


def _is_tried(exercise: Exercise) -> bool:
    """Whether it is a function or layer; a value that is written down has nothing to mutate."""
    return exercise.oracle is not None and exercise.name != FIND_THE_BUG


def describe_mistake(exercise: Exercise, id: str) -> str:
    """Sentence, hint and section of a mistake, and the lines of the formula that it changes, as a unified diff."""
    mistake = exercise.named_mistakes[id]
    parts = [mistake.sentence]
    parts += [f"hint: {mistake.hint}"] if mistake.hint else []
    parts += [f"see: {mistake.see}"] if mistake.see else []
    changed = exercise.formulas.change_texts(mistake.edits) if mistake.edits else {}  # questions have no formula
    for function, new in changed.items():
        parts += _difference(exercise.formulas.texts[function], new)
    if mistake.instead is not None and exercise.oracle is not None:
        parts += _difference(spelling(exercise.oracle), spelling(mistake.instead))
    if mistake.seen is not None:
        parts.append(f"the probe says: {mistake.seen}")
    return "\n".join([*parts, ""])


def _difference(old: str, new: str) -> Iterator[str]:
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=2)
    return (line for line in lines if not line.startswith(("---", "+++")))
