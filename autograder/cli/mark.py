"""`course mark`: a mark by hand, with the reason that the student reads; the log of such marks; answers in words."""

from __future__ import annotations

from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table

from autograder.cli.console import GRADES, Database, Decided, Lab, ToUpdate, out, say
from autograder.course.settings import Course, CourseError, load_course
from autograder.course.text import did_you_mean, format_time, printable

if TYPE_CHECKING:
    from datetime import tzinfo

    from autograder.grade.answers import QuestionInWords
    from autograder.grade.database import MarkChange
    from autograder.grade.marks import Mark

AUTOMATIC = "automatic"
SAID_IN_TERMINAL = 10  # answers to a question
FIRST_WORDS = 70  # characters of an answer
LONGEST_COMMENT = 60  # in the table; the log below it has all


def mark(
    lab: Lab,
    student: Annotated[
        str | None, typer.Argument(metavar="[STUDENT]", help="The student's id, as in grades.csv.")
    ] = None,
    exercise: Annotated[
        str | None, typer.Argument(metavar="[EXERCISE]", help="The exercise, or the cell of an answer in words.")
    ] = None,
    points: Annotated[
        str | None,
        typer.Argument(metavar="[POINTS]", help="The points; or the word automatic, which gives the grader's back."),
    ] = None,
    item: Annotated[
        list[int] | None,
        typer.Option(
            metavar="NUMBER", help="An item of the rubric that the answer meets; may be repeated; 0 for none of them."
        ),
    ] = None,
    answers: Annotated[
        bool, typer.Option("--answers", help="List the answers in words that wait for a mark; write a page with all.")
    ] = False,
    because: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The reason; the student reads it.", show_default=False)
    ] = None,
    by: Decided = None,
    folder: ToUpdate = GRADES,
    db: Database = None,
) -> None:
    """Set a mark by hand, show what counts, or list the answers in words that wait.

      course mark 02_self_attention ada_1815 SelfAttention 5 --because "right; the mistake is in exercise 4"

      course mark 02_self_attention ada_1815 explanation --item 1 --item 3 --because "and what does W_k add?"

      course mark 02_self_attention ada_1815 SelfAttention automatic --because "my error"

      course mark 02_self_attention ada_1815

      course mark 02_self_attention

      course mark 02_self_attention --answers

    The first form sets points in place of the automatic ones. The student reads "Set by your instructor: 5 of 6 points,
    because: …". Grading again does not change it; if the answer itself changes, you are asked to look again. The second
    form marks an answer in words by its rubric: the student reads which items it meets, and your comment; POINTS beside
    --item replace the sum of the items. The third form takes a mark back. The fourth shows the student's marks and
    their log; the fifth shows the log of the lab.

    --answers lists the answers in words that wait, with the rubric and what to type. It also writes
    DIR/answers/LAB.html: the answers of the class side by side, beside them the rubric, your own answer and half an
    answer. The page names students: it is for you. Answers without points wait as well, until you have written
    something back; exports do not wait for them. The rubric stands in rubrics.toml beside the lab's exercises.

    Formgrader does the same: points and comment that are typed there are logged, count and reach the student's
    page. The command brings tables and page up to date at once; course export and course report do so as well.
    """
    course = load_course()
    lab = course.lab(lab).name  # a misspelt one is told before what is slow to import

    from autograder.grade.database import show_url
    from autograder.grade.gradebook import GradebookWriter, find_unknown_names, read_marks
    from autograder.marking.results_folder import bring_up_to_date
    from autograder.pages.feedback import feedback_path

    url = course.gradebook_at(db)
    notes = find_unknown_names(course, url)
    if not read_marks(course, url, lab):
        raise CourseError(f"the gradebook {show_url(url)} holds no marks of {lab} yet; run: course grade {lab} PATH")
    if answers:
        _show_answers(course, lab, read_marks(course, url, lab), folder)
        return
    given, told = None, because or ""
    if student is not None and exercise is not None:
        given, told = _read_points(course, lab, exercise, points, item or [], told)
    with GradebookWriter(url, course) as gradebook:
        if student is not None and exercise is not None:
            gradebook.mark_by_hand(lab, student, exercise, given, told, by)
            marks = bring_up_to_date(course, gradebook, folder)
        else:
            gradebook.settle(lab)
            marks = gradebook.marks(lab)
        log = gradebook.changes(lab, student)
    own = [mark for mark in marks if (mark.student, mark.lab) == (student, lab)]
    if student is not None and not own:
        meant = did_you_mean(student, [mark.student for mark in marks if mark.lab == lab])
        raise CourseError(
            f"{lab}: no submission of {student} is graded{meant or f'; course mark {lab} shows the log of the lab'}"
        )
    for sentence in notes:
        say(f"note:  {sentence}")
    for mark in own:
        _show(mark)
    _show_log(log[-1:] if exercise else log, lab, student, course.zone_of(lab))
    for mark in own if exercise else ():
        page = feedback_path(folder / "feedback", mark.student, mark.lab)
        there = f"The page says so: {page}" if page.exists() else f"There is no page {page}; name its folder with --out"
        say(there)


def _show_answers(course: Course, lab: str, marks: list[Mark], folder: Path) -> None:
    from autograder.course.text import write_atomically
    from autograder.grade.answers import read_questions
    from autograder.pages.feedback import render_answers

    asked = read_questions(course, lab, marks)
    for question in asked:
        _show_question(question, lab)
    page = folder / "answers" / f"{lab}.html"
    write_atomically(page, render_answers(course, lab, asked))
    say(f"{page}: the answers side by side, for you only")


def _show_question(question: QuestionInWords, lab: str) -> None:
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


def _read_points(
    course: Course, lab: str, part: str, points: str | None, items: list[int], because: str
) -> tuple[float | None, str]:
    """The points, None for the automatic ones, and what the student reads."""
    from autograder.course.labs import answers_in_words, details, read_released
    from autograder.declare.rubrics import check_items, rubric_file, rubrics

    released = read_released(course, lab)
    if items:
        rubric = rubrics(course, lab, released).get(part)
        if rubric is None:
            raise CourseError(f"{rubric_file(course, lab)} has no rubric for {part}; write one, or give points")
        if points == AUTOMATIC:
            raise CourseError(f"give items, or the word {AUTOMATIC}, not both")
        met = {*items} - {0}
        check_items(met, len(rubric.items), "--item")
        given = rubric.points(met) if points is None else _read_number(points)
        return given, rubric.describe(met, because, with_points=points is None)
    cell = answers_in_words(released).get(part)
    if points is None and cell is not None and not details(cell)["points"]:
        points = "0"  # nothing is to be had: the comment is all
    if points is None or not because.strip():
        raise CourseError(
            f"a mark needs points and a reason: course mark {lab} STUDENT {part} POINTS "
            f'--because "what the student is to read"'
        )
    return None if points == AUTOMATIC else _read_number(points), because


def _read_number(text: str) -> float:
    try:
        return float(text.replace(",", "."))
    except ValueError:
        raise CourseError(f"{text!r} is no number of points; write a number, or the word {AUTOMATIC}") from None


def _show(mark: Mark) -> None:
    table = Table(box=SIMPLE_HEAD, title=f"{mark.student} · {mark.lab}", title_justify="left", pad_edge=False)
    longest = max((len(part.name) for part in mark.parts), default=0)  # names are typed again: they are never cut
    for heading in ("part", "counts", "of", "automatic", "by hand", "comment"):
        table.add_column(
            heading,
            justify="left" if heading in ("part", "comment") else "right",
            no_wrap=heading == "part",
            min_width=longest if heading == "part" else None,
        )
    for part in mark.parts:
        table.add_row(
            escape(part.name),
            f"{part.score:g}",
            f"{part.max_score:g}",
            "" if part.automatic is None else f"{part.automatic:g}",
            "" if part.by_hand is None else f"{part.by_hand:g}",
            escape(shorten(part.comment, LONGEST_COMMENT, placeholder=" …")),
        )
    out.print(table)
    late = f", {mark.penalty:g} of {mark.earned:g} lost by lateness" if mark.penalty else ""
    state = "" if mark.state == "graded" else f" ({mark.state})"
    say(f"counts: {mark.score:g} of {mark.max_score:g}{late}{state}")


def _show_log(log: list[MarkChange], lab: str, student: str | None, zone: tzinfo) -> None:
    if not log:
        say(f"Nothing was changed by hand{'' if student else f' in {lab}'}.")
    for entry in log:
        because = entry.because.replace("\n", "; ") or "no reason was given"
        say(f"{format_time(entry.changed_at, zone)}  {entry.by}: {_describe(entry)}, because: {because}")


def _describe(change: MarkChange) -> str:
    if not change.part:
        worth = "" if change.before is None else f", which had {change.before:g} points"
        return f"{change.student}: removed the submission{worth}"
    before, after = (AUTOMATIC if value is None else f"{value:g}" for value in (change.before, change.after))
    return f"{change.student}, {change.part}: from {before} to {after}"
