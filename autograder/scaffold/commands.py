"""`course new exercise`, `course new lab`, `course new course`: what is typed, and what is said afterwards."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Write an exercise, a lab or a course, with every place to fill in marked TODO.",
)


@app.command()
def exercise(
    lab: Annotated[str, typer.Argument(help="The lab, such as 02_self_attention.")],
    name: Annotated[str, typer.Argument(help="The name of the function that students write.")],
    own: Annotated[
        bool, typer.Option("--own", help="References come from the solution, also in the repository of the autograder.")
    ] = False,
) -> None:
    """Write every file of a new exercise; nothing is overwritten.

    In your own course: cells in solutions/LAB/LAB.ipynb, and exercises/LAB/NAME.py, which says which inputs to try.
    In the repository of the autograder besides: the oracle, its mistaken twin, the probe and the test's variants.

    Fill in what is marked TODO, then type [b]course release[/b]: it names what is still missing, with file and line.
    """
    from autograder.course import load_course
    from autograder.scaffold.new import new_exercise

    _say(new_exercise(load_course(), lab, name, own=own), "fill in what is marked TODO, then: course release")


@app.command()
def lab(
    lab: Annotated[str, typer.Argument(help="Two digits and a topic, such as 10_averages.")],
    title: Annotated[str, typer.Option(help="Its title; made from the name by default.")] = "",
    exercise: Annotated[str, typer.Option(help="Name of its first exercise.")] = "first_exercise",
) -> None:
    """Write a new lab with one exercise to start from, and list it in course.toml."""
    from autograder.course import load_course
    from autograder.scaffold.new import new_lab

    _say(new_lab(load_course(), lab, title, exercise), "fill in what is marked TODO, then: course release")


@app.command()
def course(directory: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder.")]) -> None:
    """Write a course of your own: settings, a lab, and one exercise that works, to change into yours."""
    from autograder.scaffold.new import new_course

    _say(new_course(directory), f"go there (cd {directory}), then: course release")


def _say(written: list[Path], following: str) -> None:
    out = Console()
    here = Path.cwd()
    for path in dict.fromkeys(written):
        shown = path.relative_to(here) if path.is_relative_to(here) else path
        out.print(f"wrote  {escape(str(shown))}", highlight=False, soft_wrap=True)
    out.print(f"Now {escape(following)}", highlight=False, soft_wrap=True)
