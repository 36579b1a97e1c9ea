"""`course remove`: takes a submission or a student out of the gradebook, the tables and the pages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from autograder.cli.console import GRADES, Database, Decided, Lab, Student, ToUpdate, say
from autograder.course.settings import Course, CourseError, load_course
from autograder.course.text import did_you_mean, printable

app = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown")

Because = Annotated[str, typer.Option(metavar="TEXT", help="The reason, for the log.", show_default=False)]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask first.")]


@app.callback()
def remove() -> None:
    """Remove what was graded by mistake, or a student who has left the course.

    The commands remove marks and comments from the gradebook, and the pages and the copies that grading made. They
    leave alone what was handed in, and everybody else's marks, and they bring the tables up to date. The log of the lab
    keeps who removed what, and why: see **course mark LAB**. Grading leaves out what was removed; **course remove
    undo** takes it back.
    """


@app.command()
def attempt(
    lab: Lab,
    student: Student,
    because: Because = "",
    by: Decided = None,
    yes: Yes = False,
    folder: ToUpdate = GRADES,
    db: Database = None,
) -> None:
    """Remove what is graded of one student in one lab, such as the wrong file, or a submission under a wrong name.

      course remove attempt 02_self_attention ada_1815 --because "she handed in somebody else's file"

    The gradebook holds one attempt of a student for each lab. Grade another file to put it in its place; the removed
    file itself is left out from now on.
    """
    _remove(student, lab, because, by, yes, folder, db)


@app.command(name="student")
def student_(
    student: Student,
    because: Because = "",
    by: Decided = None,
    yes: Yes = False,
    folder: ToUpdate = GRADES,
    db: Database = None,
) -> None:
    """Remove a student with everything that is graded of them. Grading leaves out their work from now on.

    course remove student ada_1815 --because "has left the course"
    """
    _remove(student, None, because, by, yes, folder, db)


@app.command()
def undo(
    student: Student,
    lab: Annotated[
        str | None, typer.Argument(metavar="[LAB]", help="Take back the removed attempt at this lab only.")
    ] = None,
    db: Database = None,
) -> None:
    """Let grading take again what was removed. It brings back no marks: grade the work again.

    course remove undo ada_1815

    course remove undo ada_1815 02_self_attention
    """
    course = load_course()
    name = course.lab(lab).name if lab is not None else None

    from autograder.grade.gradebook import GradebookWriter

    with GradebookWriter(course.gradebook_at(db), course) as gradebook:
        if not gradebook.take_back(student, name):
            raise CourseError(f"nothing of {student} was removed{f' from {name} alone' if name else ''}")
    say(f"taken back  {student}: grade the work again, with course grade {name or 'LAB'} PATH")


def _remove(
    student: str, lab: str | None, because: str, by: str | None, yes: bool, folder: Path, db: str | None
) -> None:
    from autograder.grade.database import show_url
    from autograder.grade.gradebook import GradebookWriter, read_students
    from autograder.grade.results import remove_files
    from autograder.marking.results_folder import bring_up_to_date

    course = load_course()
    name = course.lab(lab).name if lab is not None else None
    url = course.gradebook_at(db)
    students = read_students(url)
    if student not in students:
        raise CourseError(f"the gradebook {show_url(url)} has no student {student}{did_you_mean(student, students)}")
    is_its_own = url == course.db_url
    tables = folder if folder.is_dir() and (is_its_own or folder != GRADES) else None
    with GradebookWriter(url, course) as gradebook:
        labs = [graded for graded in gradebook.labs_of(student) if name is None or graded == name]
        if name is not None and not labs:
            raise CourseError(f"{name}: no submission of {student} is graded, so there is nothing to remove")
        if not yes:
            _ask(gradebook.scores_of(student), labs, student, everything=name is None)
        if is_its_own:
            remove_files(course, tables and tables / "feedback", student, labs)
        gradebook.remove(student, labs, because=because, by=by, everything=name is None)
        if tables is not None:
            bring_up_to_date(course, gradebook, tables)
    say(f"removed  {student}{'' if name is None else f' from {name}'}: {_count(len(labs))}")
    for own in (course.submitted / student / lab for lab in labs):
        if own.is_dir():
            say(f"note:  what was handed in is still in {own}; delete it too, unless it is to be graded again")
    if name is None:
        _say_what_course_toml_has(course, student)


def _ask(scores: dict[str, float], labs: Sequence[str], student: str, *, everything: bool) -> None:
    for lab in labs:
        worth = f", which has {scores[lab]:g} points" if lab in scores else ""
        say(f"the submission of {student} in {lab}{worth}")
    what = f"the student {student} and {_count(len(labs))}" if everything else "it"
    typer.confirm(printable(f"Remove {what}? Marks and comments by hand go with it"), abort=True)


def _say_what_course_toml_has(course: Course, student: str) -> None:
    named = {student for student, _, _ in course.lateness.extensions} | {who for who, _ in course.lateness.excused}
    if student in named:
        say(f"note:  course.toml has an extension or an excuse for {student}; delete it, for nobody has this id now")


def _count(submissions: int) -> str:
    return "1 submission" if submissions == 1 else f"{submissions} submissions"
