"""What has arrived: attempts in nbgrader's exchange and notebooks in drop folders, with whose they are and when."""

from __future__ import annotations

import hashlib
import os
import re
import stat
import time
from collections.abc import Collection, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from autograder.course.ids import student_id
from autograder.course.printable import on_one_line
from autograder.grading.autograded_notebook import LONGEST_SECRET, SECRET
from autograder.submission import (
    FileSource,
    FoundSubmission,
    KeptSource,
    PassedOver,
    Unreadable,
    find_submissions,
)
from autograder.submission.file_names import INBOUND
from autograder.submission.opening import another_owner, descriptor
from autograder.submission.times import as_time
from autograder.submission.tree import Tree

SETTLED_SECONDS = 2.0  # a file that changed later than this may still be on its way
COMPLETED_SECONDS = 60.0  # and one without its end is waited for until then: an upload may stop for a while


@dataclass(frozen=True)
class HandedIn:
    """One attempt of one student at one lab.

    Attributes:
        key: what tells this attempt from all others, and stays the same between runs.
        student: the student's id.
        lab: the lab's name.
        handed_in: when, in UTC.
        submission: what to read and grade.
        secret_file: where nbgrader put the secret; None where the attempt did not come through the exchange.
    """

    key: str
    student: str
    lab: str
    handed_in: datetime
    submission: FoundSubmission
    secret_file: FileSource | None = None

    @cached_property
    def secret(self) -> str:
        """What names the student's feedback in the exchange, read when somebody first asks; empty where none is."""
        try:
            with self.secret_file.opened() if self.secret_file else nullcontext() as file:
                data = file.read(LONGEST_SECRET + 1) if file else b""
            text = data.decode("ascii").strip()
        except (OSError, Unreadable, UnicodeDecodeError):
            return ""
        return text if len(text) <= 200 and text.isprintable() else ""


@dataclass(frozen=True)
class Arrived:
    """The attempts, oldest first, and what is nobody's, with the reason."""

    attempts: list[HandedIn]
    passed_over: list[PassedOver]


def in_exchange(inbound: Path, labs: Collection[str], *, check_owner: bool = True) -> Arrived:
    """The attempts in the exchange's folder `<exchange>/<course>/inbound`; none where there is no such folder.

    An attempt's bytes are read when somebody first asks for them, and kept: what is copied, graded and recorded is the
    same, whatever happens to the file. They are reached from `inbound` by descriptors, no link is followed, and folder
    and file have to be of the account that was seen here. A folder that vanishes meanwhile is no attempt.

    Args:
        inbound: the folder. Its entries are `<student>+<lab>+<time>+<random>`, each with the lab's notebook inside.
        labs: the labs that are watched.
        check_owner: pass over an entry that belongs to another account than the student's (nbgrader's
            `ExchangeCollect.check_owner`). Entries of the account that grades are taken as they are named.
    """
    attempts, passed_over = list[HandedIn](), list[PassedOver]()
    for entry in sorted(os.listdir(inbound)) if inbound.is_dir() else ():
        named = INBOUND.fullmatch(entry)
        if named is None or named["lab"] not in labs:
            continue
        try:
            found = _attempt(inbound, named, check_owner=check_owner)
        except Exception as error:  # whatever a stranger's folder does, the others are looked at
            found = _fault(f"{inbound.name}/{entry}", error)
        if isinstance(found, HandedIn):
            attempts.append(found)
        elif found is not None:
            passed_over.append(found)
    return Arrived(sorted(attempts, key=lambda attempt: (attempt.handed_in, attempt.key)), passed_over)


def _attempt(inbound: Path, named: re.Match[str], *, check_owner: bool) -> HandedIn | PassedOver | None:
    """The attempt in an entry of the exchange, or why there is none; nothing where it vanishes meanwhile."""
    entry, lab, student = named[0], named["lab"], named["who"]
    shown = f"{inbound.name}/{entry}"
    when = as_time(named["time"])
    try:
        with descriptor(inbound, (entry,)) as folder:
            status = os.fstat(folder)
            file = _notebook_in(folder, lab)
    except FileNotFoundError:
        return None
    except OSError:
        status = None
    if status is None or not stat.S_ISDIR(status.st_mode):
        return PassedOver(shown, "it is no folder: nbgrader makes one for each attempt")
    if on_one_line(entry) != entry:
        return PassedOver(shown, "its name has characters that cannot be shown: the student has to hand in again")
    if student_id(student) != student:
        return PassedOver(shown, "no student can have this name")
    if when is None:
        return PassedOver(shown, "its name has no time")
    if check_owner and (other := another_owner(status.st_uid, student)):
        return PassedOver(shown, f"it is in {student}'s name and belongs to {other}")
    owner = status.st_uid if check_owner else None
    source = KeptSource(FileSource(inbound, (entry, file), owner))
    found = FoundSubmission(student, lab, source.path, source, timestamp=when)
    secret = FileSource(inbound, (entry, SECRET), owner)
    return HandedIn(f"exchange/{entry}", student, lab, when, found, secret)


def in_folder(
    folder: Path, labs: Iterable[str], known: Mapping[str, Collection[str]], *, now: float | None = None
) -> Arrived:
    """The notebooks in a drop folder, in any layout that `course grade` reads. A changed file is a new attempt.

    A student of whom nothing can be graded for any of the labs, such as a damaged archive, is passed over by name.

    Args:
        folder: the drop folder.
        labs: the labs that are watched.
        known: the grade_ids of each lab.
        now: the time, in seconds since 1970. A file changed less than `SETTLED_SECONDS` before it waits for the next
            round, and a notebook that has no end `COMPLETED_SECONDS`, which is told; a clock that runs behind the
            file's does not keep it waiting.
    """
    attempts, passed_over = list[HandedIn](), list[PassedOver]()
    whole, refused = set[str](), dict[str, str]()  # students with a notebook for some lab; and why there is none
    now = time.time() if now is None else now
    listed = dict[Path, Tree | None]()
    for lab in labs:
        found = find_submissions([folder], lab, known, listed=listed)
        passed_over += found.passed_over
        for submission in found.submissions:
            if submission.source is None:
                refused.setdefault(submission.student, submission.problem or "There is no notebook.")
                continue
            whole.add(submission.student)
            try:
                attempt = _dropped(folder, submission, now)
            except Exception as error:  # whatever a stranger's file does, the others are looked at
                attempt = _fault(_shown(folder, submission), error)
            if isinstance(attempt, HandedIn):
                attempts.append(attempt)
            elif attempt is not None:
                passed_over.append(attempt)
    passed_over += [PassedOver(str(folder / who), why) for who, why in refused.items() if who not in whole]
    return Arrived(sorted(attempts, key=lambda attempt: (attempt.handed_in, attempt.key)), passed_over)


def _dropped(folder: Path, submission: FoundSubmission, now: float) -> HandedIn | PassedOver | None:
    """The attempt that a notebook in a drop folder is, or why it waits; nothing for one that is still on its way."""
    assert submission.source is not None
    try:
        data, status = submission.source.read_with_status()
    except Unreadable:
        return None  # it is being replaced: the next round sees what came
    changed = status.st_mtime
    if 0 <= now - changed < SETTLED_SECONDS:
        return None
    if 0 <= now - changed < COMPLETED_SECONDS and _has_no_end(data):
        why = "it has no end yet; it is graded when it is whole, or has not changed for a minute"
        return PassedOver(_shown(folder, submission), why)
    when = submission.timestamp or datetime.fromtimestamp(changed, UTC)
    key = f"{folder}/{submission.student}/{submission.lab}/{hashlib.sha256(data).hexdigest()}"
    kept = replace(submission, source=KeptSource(submission.source))
    return HandedIn(key, submission.student, submission.lab, when.astimezone(UTC), kept)


def _shown(folder: Path, submission: FoundSubmission) -> str:
    return str(folder / os.path.relpath(submission.path or folder, folder))


def _fault(shown: str, error: Exception) -> PassedOver:
    why = f"it cannot be looked at ({type(error).__name__}: {error}); take it away, and grade it with course grade"
    return PassedOver(shown, why, is_fault=True)


def _has_no_end(data: bytes) -> bool:
    """Whether this begins like a notebook and is cut off."""
    return data.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"{") and not data.rstrip().endswith(b"}")


def _notebook_in(folder: int, lab: str) -> str:
    """The name of the lab's notebook in an attempt; that of the script, where there is no notebook beside it."""
    notebook, script = f"{lab}.ipynb", f"{lab}.py"
    try:
        names = os.listdir(folder)
    except OSError:  # no folder: what it is, is said elsewhere
        return notebook
    return script if script in names and notebook not in names else notebook
