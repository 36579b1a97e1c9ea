"""Says what a release means: what a student will notice, and what becomes of work that was graded before it."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping

from nbformat import NotebookNode

from autograder.course.labs import grade_id, is_test, points
from autograder.course.settings import Course, CourseError
from autograder.grade.database import describe_other_cases
from autograder.grade.gradebook import GradebookWriter, read_marks
from autograder.grade.lab_grader import LabGrader
from autograder.grade.marks import describe_waiting
from autograder.release import reference_export
from autograder.release.numbering import read_beginning

_NAMED = 4  # cells or exercises named in a line; more are counted


def describe_student_changes(lab: str, old: NotebookNode | None, new: NotebookNode) -> list[str]:
    """What a student who has the `old` release of a lab will notice in the `new` one, one line each."""
    now = points(new)
    if old is None:
        noun = "exercise" if len(now) == 1 else "exercises"
        return [f"{lab}: new, {len(now)} {noun}, {math.fsum(now.values()):g} points"]
    before = points(old)
    lines = [f"{lab}: new exercise {name} ({now[name]:g} points)" for name in now if name not in before]
    lines += [f"{lab}: exercise {name} was removed" for name in before if name not in now]
    lines += [
        f"{lab}: {name} is worth {now[name]:g} points, was {before[name]:g}"
        for name in now
        if name in before and now[name] != before[name]
    ]
    texts = [{cell.source: _name(cell) for cell in notebook.cells if not is_test(cell)} for notebook in (old, new)]
    written = [name for source, name in texts[1].items() if source not in texts[0]]
    unnamed = any(name.startswith('"') for name in written)  # then a text that begins otherwise may be the old one
    gone = [
        name
        for source, name in texts[0].items()
        if source not in texts[1] and name not in texts[1].values() and not (unnamed and name.startswith('"'))
    ]
    if written:
        lines.append(f"{lab}: new text in {_list_some(written)}")
    if gone:
        lines.append(f"{lab}: removed: {_list_some(gone)}")
    return lines


def describe_check_changes(lab: str, old: Mapping[str, bytes], new: Mapping[str, bytes]) -> list[str]:
    """The exercises whose visible checks, hints or reference outputs differ between two exports of a lab, in one line.

    Args:
        lab: the lab's name.
        old, new: the files under ``coursekit/reference`` of the lab, by name. Points are not compared here.
    """
    differing = reference_export.differing_exercises(lab, old, new)
    return [f"{lab}: changed checks in {_list_some(differing)}"] if differing else []


def _name(cell: NotebookNode) -> str:
    return grade_id(cell) or f'"{read_beginning(cell)}"'


def _list_some(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def find_work_to_redo(
    course: Course, labs: Collection[str] | None, totals: Mapping[str, tuple[float, float]]
) -> Iterator[str]:
    """Return a sentence for each thing to do: grade again, export again. Brings the gradebook's cells up to date, too.

    Args:
        course: the course.
        labs: those that were released; None for all.
        totals: the points before and now of the labs whose points changed.
    """
    try:
        if not read_marks(course, course.db_url):
            return
        with GradebookWriter(course.db_url, course) as gradebook:
            for lab in gradebook.labs():
                if not labs or lab in labs:
                    gradebook.settle(lab)
                    grader = LabGrader(course, lab)
                    gradebook.note_cases(lab, grader.version, grader.case_digests())
                    marks = gradebook.marks(lab)
                    behind = [mark for mark in marks if mark.waiting_for("grader")]
                    yield from describe_waiting(behind)
                    yield from describe_other_cases(marks)
                    if lab in totals:
                        before, now = totals[lab]
                        when = "when that is done, export again" if behind else "export again"
                        yield (
                            f"{lab} has {now:g} points now, and had {before:g}: {when}, because tables that you "
                            "exported before have the old maximum"
                        )
    except CourseError as error:
        yield f"the gradebook does not know of this release yet: {error}"
