"""`course mistake`: what a named mistake changes in the right formula."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console
from rich.syntax import Syntax


def mistake(
    lab: Annotated[str, typer.Argument(help="The lab, such as 02_self_attention.")],
    exercise: Annotated[str, typer.Argument(help="The exercise.")],
    id: Annotated[str | None, typer.Argument(metavar="[ID]", help="The mistake; all of them by default.")] = None,
) -> None:
    """Show what a mistake changes in the right formula, with its sentence and its hint.

      course mistake 02_self_attention scaled_dot_product_attention unscaled

    The output holds the answer: it is for instructors.
    """
    from autograder.author.mistake_text import described
    from autograder.course.settings import CourseError, load_course
    from autograder.declaring.course_exercises import declared_exercises
    from autograder.declaring.exercise import Exercise

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
