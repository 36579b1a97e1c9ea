"""Renders the HTML pages of the autograder; everything in them is escaped unless it is made here."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from autograder.course.settings import Course
from autograder.course.text import printable
from coursekit.check.report import as_html

if TYPE_CHECKING:
    from autograder.grade.answers import QuestionInWords

MOST_CHARACTERS = 20_000  # of one answer


def render(template: str, **values: Any) -> bytes:
    """Fill a template of ``autograder/pages/templates`` with values."""
    return _environment().get_template(template).render(**values).encode("utf-8", "replace")


def read_source(name: str) -> str:
    """The text of a file of ``autograder/pages/templates``, as it stands."""
    environment = _environment()
    assert environment.loader is not None
    return environment.loader.get_source(environment, name)[0]


def mark_up(text: str) -> Markup:
    """Escape a text, and set what stands between backquotes as code."""
    return Markup(as_html(text))


@functools.cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("autograder.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["marked"] = mark_up
    return environment


def render_answers(course: Course, lab: str, questions: Sequence[QuestionInWords]) -> bytes:
    """The page as HTML, for the instructor. Every text of a student is escaped; the page holds no script."""
    return render("answers.html.j2", course=course, lab=course.lab(lab), questions=questions, shown=_cut)


def _cut(text: str) -> str:
    text = printable(text)
    return text if len(text) <= MOST_CHARACTERS else text[:MOST_CHARACTERS] + "\n… cut here: the answer is very long"
