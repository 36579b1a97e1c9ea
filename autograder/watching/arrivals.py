"""What has arrived: attempts in nbgrader's exchange and notebooks in drop folders, with whose they are and when."""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from autograder.printable import printable
from autograder.submission import FileSource, FoundSubmission, PassedOver, Unreadable, find_submissions, student_id
from autograder.submission.file_names import INBOUND
from autograder.submission.times import as_time

SETTLED_SECONDS = 2.0  # a file that changed later than this may still be on its way
SECRET = "submission_secret.txt"


@dataclass(frozen=True)
class HandedIn:
    """One attempt of one student at one lab.

    Attributes:
        key: what tells this attempt from all others, and stays the same between runs.
        student: the student's id.
        lab: the lab's name.
        handed_in: when, in UTC.
        submission: what to read and grade.
        secret: what names the student's feedback in the exchange; empty where the attempt did not come from there.
    """

    key: str
    student: str
    lab: str
    handed_in: datetime
    submission: FoundSubmission
    secret: str = ""


@dataclass(frozen=True)
class Arrived:
    """The attempts, oldest first, and what is nobody's, with the reason."""

    attempts: list[HandedIn]
    passed_over: list[PassedOver]


def in_exchange(inbound: Path, labs: Collection[str], *, check_owner: bool = True) -> Arrived:
    """The attempts in the exchange's folder `<exchange>/<course>/inbound`; none where there is no such folder.

    Args:
        inbound: the folder. Its entries are `<student>+<lab>+<time>+<random>`, each with the lab's notebook inside.
        labs: the labs that are watched.
        check_owner: pass over an entry that belongs to another account than the student's (nbgrader's
            `ExchangeCollect.check_owner`). Entries of the account that grades are taken as they are named.
    """
    attempts, passed_over = [], []
    for entry in sorted(os.scandir(inbound), key=lambda each: each.name) if inbound.is_dir() else ():
        named = INBOUND.fullmatch(entry.name)
        if named is None or named["lab"] not in labs:
            continue
        lab, student = named["lab"], named["who"]
        shown = f"{inbound.name}/{printable(entry.name)}"
        when = as_time(named["time"])
        if entry.is_symlink() or not entry.is_dir(follow_symlinks=False):
            passed_over.append(PassedOver(shown, "it is no folder: nbgrader makes one for each attempt"))
        elif student_id(student) != student:
            passed_over.append(PassedOver(shown, "no student can have this name"))
        elif when is None:
            passed_over.append(PassedOver(shown, "its name has no time"))
        elif check_owner and (other := _another_owner(entry, student)):
            passed_over.append(PassedOver(shown, f"it is in {student}'s name and belongs to {other}"))
        else:
            path = Path(entry.path) / f"{lab}.ipynb"
            found = FoundSubmission(student, lab, path, FileSource(path), timestamp=when)
            attempts.append(HandedIn(f"exchange/{entry.name}", student, lab, when, found, _secret(path.parent)))
    return Arrived(sorted(attempts, key=lambda each: (each.handed_in, each.key)), passed_over)


def in_folder(
    folder: Path, labs: Iterable[str], known: Mapping[str, Collection[str]], *, now: float | None = None
) -> Arrived:
    """The notebooks in a drop folder, in any layout that `course grade` reads. A changed file is a new attempt.

    Args:
        folder: the drop folder.
        labs: the labs that are watched.
        known: the grade_ids of each lab.
        now: the time, in seconds since 1970. A file changed less than `SETTLED_SECONDS` before it waits for the next
            round; a clock that runs behind the file's does not keep it waiting.
    """
    attempts, passed_over = [], []
    now = time.time() if now is None else now
    for lab in labs:
        found = find_submissions([folder], lab, known)
        passed_over += found.passed_over
        for submission in found.submissions:
            if submission.path is None or submission.source is None:
                continue
            try:
                status = os.stat(submission.path, follow_symlinks=False)
                data = submission.read()
            except (OSError, Unreadable):
                continue  # it is being replaced: the next round sees what came
            if not stat.S_ISREG(status.st_mode) or 0 <= now - status.st_mtime < SETTLED_SECONDS:
                continue
            when = submission.timestamp or datetime.fromtimestamp(status.st_mtime, UTC)
            key = f"{folder}/{submission.student}/{lab}/{hashlib.sha256(data).hexdigest()}"
            attempts.append(HandedIn(key, submission.student, lab, when.astimezone(UTC), submission))
    return Arrived(sorted(attempts, key=lambda each: (each.handed_in, each.key)), passed_over)


def _another_owner(entry: os.DirEntry[str], student: str) -> str:
    """The account that owns an entry, where it is neither the student's nor the one that grades; else nothing."""
    try:
        import pwd
    except ImportError:  # no accounts of this kind here
        return ""
    owner = entry.stat(follow_symlinks=False).st_uid
    if owner == os.getuid():
        return ""
    try:
        name = pwd.getpwuid(owner).pw_name
    except KeyError:
        name = f"account {owner}"
    return "" if name == student else name


def _secret(folder: Path) -> str:
    try:
        text = FileSource(folder / SECRET).read().decode("ascii").strip()
    except (Unreadable, UnicodeDecodeError):
        return ""
    return text if len(text) <= 200 and text.isprintable() else ""
