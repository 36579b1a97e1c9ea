"""Feedback pages in one archive, each under the name by which Moodle or Canvas gives it to its student."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from autograder.course.labs import read_known_cells
from autograder.course.roster import ExportRefused, Roster
from autograder.course.settings import Course, CourseError
from autograder.course.text import on_one_line, student_id
from autograder.read import FoundSubmission, find_submissions
from autograder.read.layouts import read_name

_TIME = (1980, 1, 1, 0, 0, 0)  # the same pages make the same archive
_UPLOADED = re.compile(r"_\d+_\d+_$")


def make_moodle_names(lab: str, roster: Roster, people: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Names by student, as Moodle's "Upload multiple feedback files in a zip" reads them.

    Raises:
        CourseError: the roster does not tell the participants' numbers.
    """
    name = roster.column("Full name", "Fullname")
    if roster.column("Identifier") is None or name is None:
        raise CourseError(
            f"{roster.path}: has no columns 'Identifier' and 'Full name', which Moodle needs to match pages with "
            "students; take the assignment's grading worksheet as the roster"
        )
    # Moodle reads the number between the first two underscores, so the name before it may hold none.
    names = {}
    for student, row in people.items():
        person = re.sub(r'[_/\\:*?"<>|]', " ", on_one_line(row[name])).strip(" .")
        names[student] = f"{person}_{roster.number(row)}_assignsubmission_file_{lab}.html"
    return names


def find_canvas_names(course: Course, lab: str, students: Iterable[str], download: Path) -> dict[str, str]:
    """Names by student, as Canvas's "Upload Submissions" reads them: like the file that was handed in.

    Args:
        course: the course.
        lab: the lab's name.
        students: who gets a page.
        download: the archive of submissions as Canvas made it, or its folder.

    Raises:
        ExportRefused: the download does not hold a student's file.
    """
    known = read_known_cells(course)
    found = {submission.student: submission for submission in find_submissions([download], lab, known).submissions}
    others = _list_uploads(download)
    names, reasons = {}, []
    for student in students:
        prefix = (_find_upload(found[student]) if student in found else "") or others.get(student, "")
        if prefix:
            names[student] = f"{prefix}{lab}.html"
        else:
            reasons.append(f"{student}: {download} holds no file of this student")
    if reasons:
        raise ExportRefused([*reasons, "Name the download that was graded."])
    return names


def _find_upload(found: FoundSubmission) -> str:
    """What Canvas put before the name of the file that counts: whose it is, and the number of the upload."""
    inside = getattr(found.source, "members", ())
    for name in (part for place in (*inside, str(found.path)) for part in place.split("/")):
        if (named := read_name(name)) is not None:
            prefix = name.removesuffix(named.file)
            return prefix if _UPLOADED.search(prefix) else ""
    return ""


def _list_uploads(download: Path) -> dict[str, str]:
    """By student, what Canvas put before the name of a file, also of one in which there is nothing to grade."""
    names: list[str] = []
    with suppress(zipfile.BadZipFile, OSError):
        if download.is_dir():
            names = [path.name for path in download.iterdir()]
        else:
            with zipfile.ZipFile(download) as archive:
                names = [name.rpartition("/")[2] for name in archive.namelist()]
    found = {}
    for name in sorted(names):
        named = read_name(name)
        if named is not None and _UPLOADED.search(prefix := name.removesuffix(named.file)):
            found[student_id(named.who)] = prefix
    return found


def pack(lab: str, pages: Path, names: Mapping[str, str]) -> bytes:
    """Return the archive of the students' pages in the folder that `course grade` writes.

    Raises:
        ExportRefused: a page is missing.
    """
    missing = [student for student in names if not (pages / student / f"{lab}.html").is_file()]
    if missing:
        absent = [f"{student}: there is no page {pages / student / f'{lab}.html'}" for student in missing]
        raise ExportRefused([*absent, f"Write what is missing with: course grade {lab} PATH"])
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for student, name in sorted(names.items(), key=lambda item: item[1]):
            archive.writestr(zipfile.ZipInfo(name, _TIME), (pages / student / f"{lab}.html").read_bytes(), 8)
    return content.getvalue()
