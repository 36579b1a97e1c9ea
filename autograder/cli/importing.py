"""`course import`: what is typed, and what is said afterwards."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape


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
    from autograder.course.settings import load_course
    from autograder.declare.course_exercises import lab_folder
    from autograder.integrations.importing.writing import import_assignment

    out, here = Console(), Path.cwd()
    course = load_course()
    made = import_assignment(course, path, lab, title)
    for file in dict.fromkeys(made.written):
        shown = file.relative_to(here) if file.is_relative_to(here) else file
        out.print(f"wrote  {escape(str(shown))}", highlight=False, soft_wrap=True)
    for heading, lines in (("taken over", made.taken), ("not taken over", made.left)):
        for line in lines:
            out.print(f"{heading}  {escape(line)}", highlight=False, soft_wrap=True)
    out.print(
        f"Now read {escape(str(lab_folder(course, lab).relative_to(course.root)))}/, fill in what is marked TODO, "
        f"if anything is, then type: course release {escape(lab)}",
        highlight=False,
        soft_wrap=True,
    )
