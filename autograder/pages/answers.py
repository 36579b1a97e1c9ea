"""Writes the page of answers in words: every question with its rubric, and what the class wrote side by side."""

from __future__ import annotations

from collections.abc import Sequence

from autograder.course.printable import printable
from autograder.course.settings import Course
from autograder.grade.answers import QuestionInWords
from autograder.pages.rendering import render

MOST_CHARACTERS = 20_000  # of one answer


def answers_page(course: Course, lab: str, questions: Sequence[QuestionInWords]) -> bytes:
    """The page as HTML, for the instructor. Every text of a student is escaped; the page holds no script."""
    return render("answers.html.j2", course=course, lab=course.lab(lab), questions=questions, shown=_shown)


def _shown(text: str) -> str:
    text = printable(text)
    return text if len(text) <= MOST_CHARACTERS else text[:MOST_CHARACTERS] + "\n… cut here: the answer is very long"
