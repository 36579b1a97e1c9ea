"""Makes `nbgrader autograde` and Formgrader's button grade as `course grade` does: sandbox, oracles, one writer."""

from __future__ import annotations

import re
from dataclasses import replace
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
import nh3
from nbconvert.exporters import NotebookExporter
from nbconvert.filters import markdown2html
from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor
from pygments.token import STANDARD_TYPES
from traitlets import Unicode
from traitlets.config import Application

from autograder.course.labs import points as points_of
from autograder.course.labs import read_released
from autograder.course.settings import Course, load_course
from autograder.grade import lab_grader
from autograder.grade.gradebook import GradebookWriter
from autograder.grade.results import ExerciseResult, LabResult, add_verdicts
from autograder.read import Children, FileSource, NotebookReader, Unreadable
from autograder.read.handing_in import time_in

Resources = dict[str, Any]

_SAFE_TAGS = {
    *("a", "abbr", "acronym", "b", "blockquote", "br", "code", "del", "details", "div", "em", "h1", "h2", "h3", "h4"),
    *("h5", "h6", "hr", "i", "img", "kbd", "li", "ol", "p", "pre", "s", "span", "strong", "sub", "summary", "sup"),
    *("table", "tbody", "td", "th", "thead", "tr", "tt", "u", "ul"),
}
_SAFE_ATTRIBUTES: dict[str, set[str]] = {
    **{"*": {"class", "title"}, "a": {"href"}, "img": {"alt", "src"}, "ol": {"start"}},
    **{f"h{level}": {"id"} for level in range(1, 7)},
}
_SAFE_CLASSES = {*STANDARD_TYPES.values(), "highlight", "anchor-link"} - {""}
_BESIDE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_ ./-]*")
_SAFE_SCHEMES = {"http", "https", "mailto"}


def prepare_gradebook(assignment: str, **_: Any) -> None:
    """Hook before autograding: the gradebook learns of the released labs, which "course release" does not tell it."""
    course = load_course(Path.cwd())  # nbgrader works in the course's folder
    running = Application.instance() if Application.initialized() else None
    coursedir = getattr(running, "coursedir", None)
    with GradebookWriter(coursedir.db_url if coursedir else course.db_url, course) as writer:
        for lab in course.labs:
            if fnmatch(lab.name, assignment) and course.release_notebook(lab.name).is_file():
                writer.ensure_lab(lab.name)


class ForgivingExporter(NotebookExporter):
    """Reads any file that a student calls a notebook; what nothing can be made of becomes an empty notebook.

    nbgrader would otherwise stop at it and leave the submission without a verdict. The verdict is given later, on the
    file as it was handed in.
    """

    def from_filename(
        self, filename: str, resources: Resources | None = None, **kwargs: Any
    ) -> tuple[NotebookNode, Resources]:
        """Called by nbgrader once to sanitise a submission and once to grade it."""
        path = Path(filename)
        try:
            notebook = _get_readers().ask("notebook", FileSource(path).read())
        except Unreadable:
            notebook = nbformat.v4.new_notebook()
        resources = {**(resources or {})}
        resources["metadata"] = {"name": path.stem, "path": str(path.parent)}
        return self.from_notebook_node(nbformat.from_dict(notebook), resources=resources, **kwargs)


class _CoursePreprocessor(NbGraderPreprocessor):
    """A preprocessor that knows the course."""

    course_root = Unicode(help="the folder with course.toml").tag(config=True)

    @property
    def course(self) -> Course:
        return load_course(Path(self.course_root))


class RestoreRelease(_CoursePreprocessor):
    """First half of autograding: the submission with its cells put back as they were released."""

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        """Called by nbconvert."""
        release = read_released(self.course, resources["nbgrader"]["assignment"])
        try:
            return _get_readers().ask("repair", nb, release), resources
        except Unreadable:
            return release, resources


class GradeSubmission(_CoursePreprocessor):
    """Second half of autograding: grade the file as it was handed in, record the marks, show the verdicts.

    The notebook that comes in is only a stand-in: nothing it displays is looked at.
    """

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        """Called by nbconvert."""
        names = resources["nbgrader"]
        student, lab = names["student"], names["assignment"]
        folder = self.course.submitted / student / lab
        file = f"{names['notebook']}.ipynb"
        result = grade_file(self.course, student, lab, folder / file)
        result = replace(result, file=file, timestamp=time_in(FileSource(folder / "timestamp.txt")) or result.timestamp)
        with GradebookWriter(names["db_url"], self.course) as writer:
            result = writer.record([result])[0]
        self.log.info("%s: %g of %g points for %s", lab, result.score, result.max_score, student)
        shown = result.notebook if result.notebook is not None else nb
        return add_verdicts(shown, result), resources


@cache
def _get_readers() -> Children:
    return Children(NotebookReader())


def grade_file(course: Course, student: str, lab: str, path: Path) -> LabResult:
    """Grade one submitted file; a file nothing can be made of gets a verdict with zero points and the reason."""
    release = read_released(course, lab)
    try:
        return lab_grader.grade_bytes(course, lab, FileSource(path).read(), student)
    except Unreadable as error:
        exercises = tuple(
            ExerciseResult(name, 0.0, points, "missing", message=error.reason)
            for name, points in points_of(release).items()
        )
        return LabResult(student, lab, exercises, state="unreadable", reason=error.reason)


def safe_markdown(source: str) -> str:
    """HTML of a text cell, for feedback and Formgrader, without anything that runs or tells who looks at it.

    nbgrader's templates know nothing of nbconvert's `sanitize_html`, and a submission's text cells may hold scripts.
    Of a picture that does not lie beside the notebook its text is left, and of classes those of coloured code.
    """
    return nh3.clean(
        markdown2html(source),
        tags=_SAFE_TAGS,
        attributes=_SAFE_ATTRIBUTES,
        attribute_filter=_keep_harmless,
        url_schemes=_SAFE_SCHEMES,
        link_rel=None,
    )


def _keep_harmless(tag: str, attribute: str, value: str) -> str | None:
    match attribute:
        case "src":
            return value if _BESIDE.fullmatch(value) and ".." not in value else None
        case "class":
            return " ".join(name for name in value.split() if name in _SAFE_CLASSES) or None
    return value
