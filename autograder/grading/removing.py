"""Takes out of the course's folder what grading wrote of a submission that is removed."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path

from autograder.course.settings import Course
from autograder.grading.autograded_notebook import check_path_part


def remove_files(course: Course, pages: Path | None, student: str, labs: Collection[str]) -> None:
    """Remove the pages and the repaired copies that grading wrote; what was handed in stays.

    Args:
        course: the course.
        pages: the folder of the feedback pages; None leaves them alone.
        student: the student's id.
        labs: the labs.
    """
    try:
        check_path_part(student)
    except ValueError:  # nbgrader's own command takes any id; grading wrote no file for this one
        return
    places = [course.autograded, course.root / "feedback"]
    for lab in labs:
        for place in places:
            shutil.rmtree(place / student / lab, ignore_errors=True)
        if pages is not None:
            (pages / student / f"{lab}.html").unlink(missing_ok=True)
    for place in [*places, *([pages] if pages is not None else [])]:
        with suppress(OSError):  # another lab's page is in it, or it never was
            (place / student).rmdir()


def left_behind(course: Course, student: str, labs: Iterable[str]) -> list[Path]:
    """Where the student's own work still lies in the course's folder."""
    return [folder for lab in labs if (folder := course.submitted / student / lab).is_dir()]
