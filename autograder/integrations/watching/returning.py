"""Hands a feedback page back to the student who sent the attempt in, through nbgrader's exchange."""

from __future__ import annotations

import os
from pathlib import Path

from nbgrader.auth import Authenticator
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange.default import ExchangeReleaseFeedback

from autograder.course.files import write_atomically
from autograder.course.settings import Course, load_nbgrader_config
from autograder.grading.autograded_notebook import SECRET
from autograder.integrations.watching.arrivals import HandedIn


class Exchange:
    """nbgrader's exchange of a course, as its nbgrader_config.py describes it."""

    def __init__(self, course: Course):
        self._course = course
        self._config = load_nbgrader_config(course)
        self._coursedir = CourseDirectory(config=self._config)
        self._release = ExchangeReleaseFeedback(
            coursedir=self._coursedir, authenticator=Authenticator(config=self._config), config=self._config
        )
        self._release.log.setLevel("WARNING")

    @property
    def inbound(self) -> Path:
        """Where students' attempts arrive."""
        return Path(self._release.root) / self._course.course_id / "inbound"

    @property
    def check_owner(self) -> bool:
        """Whether an attempt has to belong to the account of the student whose name it bears."""
        return bool(self._config.ExchangeCollect.get("check_owner", True))

    def hand_back(self, attempt: HandedIn, page: Path) -> None:
        """Put a page where nbgrader's `fetch_feedback` finds it for this attempt.

        It also lies in the course's folder for feedback, so that `nbgrader release_feedback` gives out the same page.
        """
        written = page.stat().st_mtime_ns  # first: what is written while this one is read is newer than it
        released = self._released(attempt)
        released.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(released, page.read_bytes())
        os.utime(released, ns=(written, written))
        released.chmod(released.stat().st_mode | 0o444)  # nbgrader copies the mode; the student reads the copy
        write_atomically(released.parent / "timestamp.txt", written_time(attempt).encode())
        write_atomically(released.parent / SECRET, attempt.secret.encode())
        self._release.start()

    def is_behind(self, attempt: HandedIn, page: Path) -> bool:
        """Whether a page was written anew since one was handed back, such as after a mark by hand."""
        try:
            return page.stat().st_mtime_ns > self._released(attempt).stat().st_mtime_ns
        except FileNotFoundError:
            return False

    def _released(self, attempt: HandedIn) -> Path:
        self._coursedir.assignment_id = attempt.lab
        self._coursedir.student_id = attempt.student
        folder = self._coursedir.format_path(self._coursedir.feedback_directory, attempt.student, attempt.lab)
        return Path(folder) / f"{attempt.lab}.html"


def written_time(attempt: HandedIn) -> str:
    """The time of an attempt as nbgrader writes it."""
    return attempt.handed_in.strftime("%Y-%m-%d %H:%M:%S.%f UTC")
