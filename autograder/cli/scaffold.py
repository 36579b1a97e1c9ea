"""`course new exercise`, `course new lab`, `course new course`: what is typed, and what is said afterwards."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Write the first files of an exercise, a lab or a course. Every place to fill in is marked TODO.",
)


@app.command()
def exercise(
    lab: Annotated[str, typer.Argument(help="The lab, such as 02_self_attention.")],
    name: Annotated[str, typer.Argument(help="The name of the function or class that students write.")],
    own: Annotated[
        bool,
        typer.Option("--own", help="In the autograder's repository: the solution is the reference, not a formula."),
    ] = False,
    layer: Annotated[
        bool, typer.Option("--layer", help="A Keras layer, into which the checks put weights, with a formula.")
    ] = False,
) -> None:
    """Write every file of a new exercise. Nothing is overwritten.

    In your own course it writes cells in solutions/LAB/LAB.ipynb, and exercises/TOPIC/NAME.py for the inputs to try.
    In the autograder's repository the declaration has a formula and named mistakes, and the test gets variants as well.
    With `--layer` it has a formula in your own course, too.

    Fill in the places marked TODO, then type `course release`: it lists what is still missing, with file and line.
    """
    from autograder.course.settings import load_course
    from autograder.integrations.scaffold.new import new_exercise

    _say(
        new_exercise(load_course(), lab, name, own=own, layer=layer),
        f"fill in the places marked TODO, then type: course release {lab}",
    )


@app.command()
def lab(
    lab: Annotated[str, typer.Argument(help="Two digits and a topic, such as 10_averages.")],
    title: Annotated[str, typer.Option(help="Its title; made from the name by default.")] = "",
    exercise: Annotated[str, typer.Option(help="Name of its first exercise.")] = "first_exercise",
) -> None:
    """Write a new lab with one exercise to start from, and list it in course.toml."""
    from autograder.course.settings import load_course
    from autograder.integrations.scaffold.new import new_lab

    _say(
        new_lab(load_course(), lab, title, exercise), f"fill in the places marked TODO, then type: course release {lab}"
    )


@app.command()
def course(directory: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder.")]) -> None:
    """Write a course of your own: settings, and a lab with one exercise that works and that you can change."""
    from autograder.integrations.scaffold.new import new_course

    _say(new_course(directory), f"go there (cd {directory}), then type: course release")


def _say(written: list[Path], following: str) -> None:
    out = Console()
    here = Path.cwd()
    for path in dict.fromkeys(written):
        shown = path.relative_to(here) if path.is_relative_to(here) else path
        out.print(f"wrote  {escape(str(shown))}", highlight=False, soft_wrap=True)
    out.print(f"Now {escape(following)}", highlight=False, soft_wrap=True)
