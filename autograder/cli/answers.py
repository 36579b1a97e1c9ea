"""`course answers`: the answers in words that wait for a mark, and a page with all of them side by side."""

from __future__ import annotations

from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape

from autograder.course.printable import printable

if TYPE_CHECKING:
    from autograder.grading.answers import QuestionInWords

SAID_IN_TERMINAL = 10
FIRST_WORDS = 70


def answers(
    lab: Annotated[str, typer.Argument(help="The lab, such as 02_self_attention.")],
    part: Annotated[
        str | None, typer.Argument(metavar="[PART]", help="The cell of one answer; all of the lab by default.")
    ] = None,
    target: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="The page to write. [default: grades/answers/LAB.html]"),
    ] = None,
    db: Annotated[str | None, typer.Option(metavar="URL", help="Gradebook; the course's own by default.")] = None,
) -> None:
    """List the answers in words that wait for a mark, with the rubric and what to type; write a page with all answers.

      course answers 02_self_attention

      course mark 02_self_attention ada_1815 explanation --item 1 --item 3 --because "and what does W_k add?"

    Answers without points wait as well, until you have written something back; exports do not wait for them. The page
    shows the answers of the class side by side, beside them the rubric, your own answer and half an answer. It names
    students: it is for you. Formgrader shows and marks the same answers.

    The rubric stands in rubrics.toml beside the lab's exercises.
    """
    from autograder.course.files import write_atomically
    from autograder.course.settings import CourseError, load_course

    course = load_course()
    lab = course.lab(lab).name  # a misspelt one is told before what is slow to import

    from autograder.grading.answers import questions
    from autograder.grading.database import shown_url
    from autograder.grading.gradebook import recorded_marks
    from autograder.pages.answers import answers_page

    url = course.gradebook_at(db)
    marks = recorded_marks(course, url, lab)
    if not marks:
        raise CourseError(f"the gradebook {shown_url(url)} holds no marks of {lab} yet; run: course grade {lab} PATH")
    found = questions(course, lab, marks, part)
    out = Console()
    for question in found:
        _show(question, lab, out)
    page = target or Path("grades") / "answers" / f"{lab}.html"
    write_atomically(page, answers_page(course, lab, found))
    out.print(escape(f"{page}: the answers side by side, for you only"), highlight=False, soft_wrap=True)


def _show(question: QuestionInWords, lab: str, out: Console) -> None:
    def say(text: str) -> None:
        out.print(escape(text), highlight=False, soft_wrap=True)

    waiting = question.waiting
    say(f"{question.part}: {len(waiting)} of {len(question.answers)} wait")
    if question.rubric and waiting:
        for number, item in enumerate(question.rubric.items, start=1):
            say(f"  item {number}{f' ({item.points:.3g})' if item.points else ''}: {item.says}")
    for answer in waiting[:SAID_IN_TERMINAL]:
        again = " (changed after it was marked)" if answer.part.waits == "second look" else ""
        words = "the graded notebook is not here" if answer.text is None else printable(answer.text)
        say(f"  {answer.student}{again}: {shorten(words, FIRST_WORDS, placeholder=' …')}")
        say(f"    {question.command(lab, answer)}")
    if len(waiting) > SAID_IN_TERMINAL:
        say(f"  … and {len(waiting) - SAID_IN_TERMINAL} more, on the page")
