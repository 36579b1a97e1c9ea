"""`course new exercise`, `new lab`, `new course`, and `course import`: the first files of what an instructor writes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from autograder.cli.console import Lab, say, say_written
from autograder.course.settings import load_course

app = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown")
FILL_IN = "Now fill in the places marked TODO, then type: course release"


@app.callback()
def new() -> None:
    """Write the first files of an exercise, a lab or a course. Every place to fill in is marked TODO."""


@app.command()
def exercise(
    lab: Lab,
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
    from autograder.integrations.scaffold.making import new_exercise

    say_written(new_exercise(load_course(), lab, name, own=own, layer=layer))
    say(f"{FILL_IN} {lab}")


@app.command()
def lab(
    lab: Annotated[str, typer.Argument(help="Two digits and a topic, such as 10_averages.")],
    title: Annotated[str, typer.Option(help="Its title; made from the name by default.")] = "",
    exercise: Annotated[str, typer.Option(help="Name of its first exercise.")] = "first_exercise",
) -> None:
    """Write a new lab with one exercise to start from, and list it in course.toml."""
    from autograder.integrations.scaffold.making import new_lab

    say_written(new_lab(load_course(), lab, title, exercise))
    say(f"{FILL_IN} {lab}")


@app.command()
def course(directory: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder.")]) -> None:
    """Write a course of your own: settings, and a lab with one exercise that works and that you can change."""
    from autograder.integrations.scaffold.making import new_course

    say_written(new_course(directory))
    say(f"Now go there (cd {directory}), then type: course release")


def import_(
    path: Annotated[
        Path, typer.Argument(help="The instructor's notebook of the assignment, or the folder that holds it.")
    ],
    lab: Annotated[str, typer.Argument(help="The lab to make of it: two digits and a topic, such as 10_averages.")],
    title: Annotated[str, typer.Option(help="Its title; made from the name by default.")] = "",
) -> None:
    """Make a lab from an nbgrader assignment, and list what is left to do.

    The command copies text, given code, solutions, points, and answers that a person marks. It does not copy tests:
    here the solution is the reference, and a test says which inputs to try. If a test calls the function with literal
    arguments, these become inputs. The command lists every other statement of the tests, and writes it as a comment
    into the exercise's file. Inputs of hidden tests are marked TODO, because students could read literal values.

      course new course statistics && cd statistics

      course import ../old-course/source/ps1/problem1.ipynb 02_squares

      course release 02_squares

    The import runs no code of the assignment. Its code runs in the sandbox when you release the lab.
    """
    from autograder.declare.declaration import lab_folder
    from autograder.integrations.importing.writing import import_assignment

    course = load_course()
    made = import_assignment(course, path, lab, title)
    say_written(made.written)
    for heading, lines in (("taken over", made.taken), ("not taken over", made.left)):
        for line in lines:
            say(f"{heading}  {line}")
    say(
        f"Now read {lab_folder(course, lab).relative_to(course.root)}/, fill in what is marked TODO, "
        f"if anything is, then type: course release {lab}"
    )
