"""Writes what a student gets back: one HTML page with their code, their marks, what to mend first, and hints."""

from __future__ import annotations

import functools
import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from nbformat import NotebookNode
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from autograder.course.labs import grade_id, is_solution
from autograder.course.settings import Course
from autograder.course.text import format_time, printable, write_atomically
from autograder.grade.marks import ExerciseMark, Mark, PartMark
from autograder.grade.results import GroupResult, round_score
from coursekit.check.judge import STATUS_WORDS, Section
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


# -- feedback ---------------------------------------------------------------------------------------------------------


MAX_SHOWN_CHARACTERS = 20_000  # of a cell
LONGEST_LINE = 1_000  # characters of a line of code that are shown
HEAD_BYTES = 1_000  # of a page, which say for which mark it was written
MOST_TO_MEND = 3  # things that a page tells first


def feedback_path(folder: Path, student: str, lab: str) -> Path:
    """Where the page of one student and lab is: ``<folder>/<student>/<lab>.html``."""
    return folder / student / f"{lab}.html"


def is_current(page: Path, mark: Mark, *, is_open: bool = False) -> bool:
    """Whether a page was written for exactly this mark, with hidden cases as open or closed as they are now."""
    with page.open("rb") as file:
        return f'name="mark" content="{_take_fingerprint(mark, is_open)}"'.encode() in file.read(HEAD_BYTES)


def write_feedback(
    course: Course,
    mark: Mark,
    folder: Path,
    *,
    instead: Mark | None = None,
    hidden: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
) -> Path:
    """Write the page of one student. It holds no reference value; all of their text is escaped.

    Args:
        course: the course.
        mark: what counts, the graded notebook in its result.
        folder: where the pages of all students are.
        instead: the mark of an earlier attempt that counts in place of this one.
        hidden: the inputs of hidden cases as text, by exercise and group; shown for groups that failed. None while
            students may not see any.
    """
    path = feedback_path(folder, mark.student, mark.lab)
    things = [] if mark.result.reason or mark.excused else find_to_mend(course, mark)
    unread = [part for part in mark.parts if mark.result.reason and _says_nothing(part)]
    page = render(
        "feedback.html.j2",
        course=course,
        lab=course.lab(mark.lab),
        mark=mark,
        result=mark.result,
        instead=instead,
        things=things[:MOST_TO_MEND],
        parts=[part for part in mark.parts if part not in unread],
        unread=unread,
        fingerprint=_take_fingerprint(instead or mark, hidden is not None),
        hidden=hidden or {},
        code=_highlight_code(mark.result.notebook),
        words=_find_answers(mark.result.notebook),
        status_words=STATUS_WORDS,
        time=functools.partial(format_time, zone=course.zone_of(mark.lab)),
        points=_format_points,
        style=Markup(_get_formatter().get_style_defs(".code")),
        dark_style=Markup(_get_formatter("github-dark").get_style_defs(".code")),
    )
    write_atomically(path, page)
    return path


def _take_fingerprint(mark: Mark, is_open: bool) -> str:
    """Return a short text that changes with anything in a mark except its seconds, and when hidden cases open."""
    parts = [(part.name, part.max_score, part.score, part.by_hand, part.comment, part.waits) for part in mark.parts]
    result = mark.result.to_dict()
    for exercise in result["exercises"]:
        del exercise["seconds"]
    content = [result, parts, mark.penalty, mark.excused, *(["open"] if is_open else [])]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode("utf-8", "replace")).hexdigest()[:16]


def _says_nothing(part: PartMark) -> bool:
    """Whether a part of work that could not be graded holds no word or mark of a person."""
    return part.by_hand is None and not part.comment and part.waits in ("", "grader")


def _format_points(exercise: ExerciseMark, group: GroupResult) -> str:
    """A group's share of its exercise's points, as text."""
    return f"{round_score(exercise.verdict.points_of(group)):g}"


def _find_answers(notebook: NotebookNode | None) -> dict[str, str]:
    """The student's answers in text cells, by the cell's name."""
    cells = notebook.cells if notebook is not None else ()
    return {grade_id(cell): cell.source for cell in cells if cell.cell_type == "markdown" and is_solution(cell)}


def _highlight_code(notebook: NotebookNode | None) -> dict[str, Markup]:
    """The student's code for each exercise, highlighted."""
    sources_of: dict[str, list[str]] = {}
    for cell in notebook.cells if notebook is not None else ():
        name = grade_id(cell)
        if cell.cell_type == "code" and name.endswith("-code"):
            sources_of.setdefault(name.removesuffix("-code"), []).append(cell.source)
    return {name: _highlight("\n\n".join(sources)) for name, sources in sources_of.items()}


def _highlight(source: str) -> Markup:
    """Code in colours. Pygments takes the square of the length for lines of blanks, and for some long lines: blanks at
    the ends of lines go, long lines are cut, and at most two empty lines are left between others."""
    lines = (line.rstrip() for line in source.splitlines())
    source = "\n".join(line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}  # …" for line in lines)
    source = re.sub(r"\n{4,}", "\n\n\n", source)
    if len(source) > MAX_SHOWN_CHARACTERS:
        source = source[:MAX_SHOWN_CHARACTERS] + "\n# … cut here: the cell is very long"
    return Markup(highlight(source, PythonLexer(), _get_formatter()))


@functools.cache
def _get_formatter(style: str = "default") -> HtmlFormatter:
    return HtmlFormatter(style=style, cssclass="code")


@dataclass(frozen=True)
class Mend:
    """One thing to mend: what it is, the points that it is worth, the exercises that it stands in.

    `sections` are those of the lectures that explain it, each with its address; empty where nobody knows it.
    """

    what: str
    points: float
    exercises: tuple[str, ...]
    sections: tuple[tuple[Section, str], ...] = ()


def find_to_mend(course: Course, mark: Mark) -> list[Mend]:
    """Return everything that costs points, the most expensive first, and what was not started at the end.

    One mistake in several exercises is one thing. What a person marked is left out: that person says why.
    """
    sections = _read_sections(course, mark.lab)
    faults: dict[str, list[ExerciseMark]] = {}
    for part in mark.exercises:
        if _count_lost(part) > 0 and part.by_hand is None and part.waits != "grader":
            faults.setdefault(_name_fault(part), []).append(part)
    things = [_make_thing(course, what, parts, sections) for what, parts in faults.items()]
    return sorted(things, key=lambda thing: (thing.what.endswith(STATUS_WORDS["missing"]), -thing.points))


def _count_lost(part: ExerciseMark) -> float:
    return round_score(part.max_score - part.score)


def _name_fault(part: ExerciseMark) -> str:
    """The mistakes that were named; else what did not pass."""
    if part.verdict.sentences:
        return " ".join(part.verdict.sentences)
    failed = [group.title for group in part.groups if not group.passed]
    if part.status != "graded" or not failed:
        return f"`{part.name}`: {STATUS_WORDS[part.status]}"
    return f"`{part.name}` fails: {', '.join(failed)}"


def _make_thing(
    course: Course, what: str, parts: list[ExerciseMark], sections: Mapping[str, Mapping[str, Section]]
) -> Mend:
    explained = [
        sections[part.name][id] for part in parts for id in part.misconceptions if id in sections.get(part.name, {})
    ]
    points = round_score(math.fsum(map(_count_lost, parts)))
    linked = tuple((mistake, _find_address(course, mistake.page)) for mistake in dict.fromkeys(explained))
    return Mend(what, points, tuple(part.name for part in parts), linked)


def _find_address(course: Course, page: str) -> str:
    """Where a section, such as ``"lectures/02_x.ipynb#look"``, is read: on the course's site, else in JupyterLab."""
    return f"{course.site}/{page.replace('.ipynb', '.html')}" if course.site else course.jupyterlab_url(page)


def _read_sections(course: Course, lab: str) -> dict[str, dict[str, Section]]:
    """The sections of a lab's mistakes, by exercise and mistake, as its release says; none where it is not released."""
    for folder in course.reference(lab):
        path = folder / f"{lab}.json"
        if path.is_file():
            return _read_reference(path, path.stat().st_mtime_ns)
    return {}


@functools.lru_cache(maxsize=16)
def _read_reference(path: Path, changed: int) -> dict[str, dict[str, Section]]:
    """The sections in a reference file as it was at a time, in nanoseconds."""
    entries = json.loads(path.read_text("utf-8"))["exercises"]
    return {
        entry["name"]: {id: Section(**section) for id, section in entry.get("sections", {}).items()}
        for entry in entries
    }
