"""The inputs of hidden cases, for students' pages, once nobody can hand in in time any more."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from autograder.course.settings import Course, CourseError
from autograder.grade.gradebook import GradebookWriter
from autograder.grade.marks import Mark

if TYPE_CHECKING:
    from autograder.grade.lab_grader import LabGrader  # slow to import, and few pages need it

Cases = Mapping[str, Mapping[str, tuple[str, ...]]]  # exercise -> group -> its cases, as text


class HiddenInputs:
    """Says which labs' hidden cases may be shown, by `hidden_cases` in course.toml, and gives them.

    Args:
        course: the course.
        gradebook: knows the extensions that were given there.
        grader: of the lab that is being graded; of other labs, graders are made where a page needs them.
    """

    def __init__(self, course: Course, gradebook: GradebookWriter, grader: LabGrader | None = None):
        self._course, self._gradebook = course, gradebook
        self._graders: dict[str, LabGrader | None] = {grader.lab: grader} if grader is not None else {}
        self._open: dict[str, bool] = {}
        self._texts: dict[str, Cases] = {}

    def is_open(self, lab: str) -> bool:
        """Whether the lab was due, and the last extension for it is over, with the time of grace."""
        if lab not in self._open:
            due = self._course.lab(lab).due
            self._open[lab] = self._course.hidden_cases == "after due" and due is not None and self._is_over(lab, due)
        return self._open[lab]

    def _is_over(self, lab: str, due: datetime) -> bool:
        dates = [due, due + self._gradebook.longest_extension(lab)]
        dates += [later for _, what, later in self._course.lateness.extensions if what == lab]
        return datetime.now(UTC) > max(dates) + timedelta(minutes=self._course.lateness.grace_minutes)

    def of(self, mark: Mark) -> Cases | None:
        """The hidden cases of a mark's lab: None while they are not open, none where it was graded with others."""
        if not self.is_open(mark.lab):
            return None
        if mark.lab not in self._graders:
            from autograder.grade.lab_grader import LabGrader

            try:
                self._graders[mark.lab] = LabGrader(self._course, mark.lab)
            except CourseError:  # the lab was withdrawn, or is not whole: its pages do without
                self._graders[mark.lab] = None
        grader = self._graders[mark.lab]
        if grader is None or grader.version != mark.result.grader_version:
            return {}
        if mark.lab not in self._texts:
            self._texts[mark.lab] = _texts(grader)
        return self._texts[mark.lab]


def _texts(grader: LabGrader) -> Cases:
    """The inputs of each exercise's hidden cases by group, as text."""
    from autograder.grade.explaining import shown

    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for exercise, group, inputs in grader.hidden_inputs():
        shown_ones = {name: value for name, value in inputs.items() if not name.startswith("cotangent.")}
        text = "\n".join(f"{name}: {shown(value)}" for name, value in shown_ones.items())
        if text:
            of_exercise = found.setdefault(exercise, {})
            of_exercise[group] = (*of_exercise.get(group, ()), text)
    return found
