"""Rounds of `course watch`: note what has arrived, grade it as `course grade` does, and hand the feedback back."""

from __future__ import annotations

import fcntl
import hashlib
import logging
import os
import sqlite3
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from nbgrader.auth import Authenticator
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange.default import ExchangeReleaseFeedback
from sqlalchemy.exc import SQLAlchemyError

from autograder.course.labs import read_known_cells
from autograder.course.roster import read_course_roster
from autograder.course.settings import Course, CourseError, load_nbgrader_config
from autograder.course.text import on_one_line, printable, write_atomically
from autograder.grade.marks import Mark
from autograder.grade.results import LONGEST_SECRET, SECRET
from autograder.marking.run import Marking, pass_over_stranger
from autograder.pages.feedback import feedback_path
from autograder.read import FileSource, FoundSubmission, PassedOver, Unreadable, find_submissions
from autograder.read.handing_in import date_submission
from autograder.read.layouts import LabNames, show_place, stem_of
from autograder.read.tree import Tree
from autograder.sandbox import SandboxUnavailable
from autograder.sandbox.warm import start_sandbox

if TYPE_CHECKING:
    from autograder.integrations.cluster.client import Cluster  # Dask is slow to import

log = logging.getLogger(__name__)

EVERYBODYS = SandboxUnavailable, CourseError, OSError, SQLAlchemyError, sqlite3.Error  # no single attempt is at fault
SETTLED_SECONDS = 2.0  # a file that changed later than this may still be on its way
COMPLETED_SECONDS = 60.0  # and one without its end is waited for until then: an upload may stop for a while


class Arrival(NamedTuple):
    """A submission that lies in a place and is not read yet; `state` is the file's, and another one if it changes.

    `changed` is when it was changed last, as the kernel wrote it down; `place` stays the same between runs.
    """

    place: str
    state: str
    found: FoundSubmission
    changed: datetime


class NotedAttempt(NamedTuple):
    """A row of the record: what was handed in when. Its bytes lie in `submitted`; times are seconds since 1970.

    `key` is the place with the hash of the bytes, `file` the state of the file in which it was read, and `state` what
    became of the attempt: waiting, graded, replaced or left out.
    """

    key: str
    place: str
    file: str
    student: str
    lab: str
    handed_in: float
    noted: float
    secret: str
    note: str | None
    state: str = "waiting"
    ended: float = 0.0


@dataclass
class Round:
    """What has no verdict after a round, with the reason: what the grader failed at, and what is not graded."""

    failures: dict[str, str] = field(default_factory=dict)
    passed_over: list[PassedOver] = field(default_factory=list)


@dataclass
class Watcher:
    """Grades what arrives for the labs of a course. One watcher for one folder of results.

    Args:
        course: the course.
        labs: the names of the labs that are watched.
        out_dir: where tables, feedback and the record `watch.db` go.
        db_url: the gradebook.
        drops: folders into which notebooks are put, besides nbgrader's exchange.
        workers: number of submissions graded at the same time here; without walls where they cannot be built, if
            `unsafe`. A `cluster` grades in place of this machine.
        only_roster: pass over attempts of those who are not in the course's roster, which each round reads anew.
        clock: the time, aware; tests set it.

    Raises:
        CourseError: another watcher works on `out_dir`, or course.toml or nbgrader_config.py cannot be read.
    """

    course: Course
    labs: Sequence[str]
    out_dir: Path
    db_url: str
    drops: Sequence[Path] = ()
    workers: int = 1
    unsafe: bool = False
    cluster: Cluster | None = None
    only_roster: bool = False
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    last_round: Round = field(default_factory=Round)

    def __post_init__(self) -> None:
        self._known = read_known_cells(self.course)
        self._refused: dict[tuple[str, str], str] = {}  # by place and state, why a file is not read again; "" untold
        self.out_dir.mkdir(parents=True, exist_ok=True)
        self._lock = (self.out_dir / "watch.lock").open("w")
        path = self.out_dir / "watch.db"
        self._record = sqlite3.connect(path, isolation_level=None)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._record.execute(
                f"create table if not exists noted ({','.join(NotedAttempt._fields)}, primary key (key))"
            )
        except BlockingIOError:
            self.__exit__()
            told = f"another `course watch` works on {self.out_dir}: stop it, or name another --out"
            raise CourseError(told) from None
        except sqlite3.DatabaseError as error:
            self.__exit__()
            again = "all attempts are looked at again, and those that have not changed are not graded again"
            raise CourseError(f"{path}: it is no record of attempts ({error}). Delete it: {again}") from error
        config = load_nbgrader_config(self.course)
        self._check_owner = bool(config.ExchangeCollect.get("check_owner", True))
        self._release = ExchangeReleaseFeedback(
            coursedir=CourseDirectory(config=config), authenticator=Authenticator(config=config), config=config
        )
        self._release.log.setLevel("WARNING")
        self._inbound = Path(self._release.root) / self.course.course_id / "inbound"

    def __enter__(self) -> Watcher:
        return self

    def __exit__(self, *_: object) -> None:
        self._record.close()
        self._lock.close()

    def round(self) -> Iterator[Mark]:
        """Grade everything that is due now; yield each verdict once it is recorded and handed back.

        Raises:
            SandboxUnavailable: the walls cannot be built; what was graded before is kept, the rest waits.
            CourseError: the gradebook or the disk takes no more, or the roster cannot be read; the same holds.
        """
        self.last_round = Round()
        self._take_in(self._look())
        for lab in self.labs:
            yield from self._grade_all_that_can_be(
                lab, self._attempts("state = 'waiting' and lab = ? order by handed_in, key", lab)
            )
        graded = self._attempts("state = 'graded' order by ended")
        for attempt in {(attempt.student, attempt.lab): attempt for attempt in graded}.values():
            with self._losing_only(attempt.student, "feedback cannot be handed back"), suppress(FileNotFoundError):
                page = feedback_path(self.out_dir / "feedback", attempt.student, attempt.lab)
                if page.stat().st_mtime_ns > self._released(attempt).stat().st_mtime_ns:
                    self._hand_back(attempt)  # it was changed since: a mark by hand, a rubric, an extension

    def _look(self) -> list[Arrival]:
        """What lies in the exchange and in the drop folders; what goes wrong in one of these is a line."""
        roster, arrivals = read_course_roster(self.course) if self.only_roster else None, list[Arrival]()
        for place in (self._inbound, *self.drops):
            told, taken, listed = dict[str, PassedOver](), set[str](), dict[Path, Tree | None]()
            try:
                empty = not os.listdir(place) if place != self._inbound or place.is_dir() else True
                for lab in () if empty else self.labs:
                    found = find_submissions([place], lab, self._known, check_owner=self._check_owner, listed=listed)
                    told |= {passed.path: passed for passed in found.passed_over}
                    for each in found.submissions:
                        shown = show_place(str(each.path or place / each.student))
                        if each.source is None:
                            told.setdefault(shown, PassedOver(shown, each.problem or "There is no notebook."))
                        elif roster is not None and not roster.places(each.student):
                            told[shown] = pass_over_stranger(roster, each)
                        elif (arrival := _look_at(each)) is None:
                            continue
                        elif arrival[:2] in self._refused:
                            if why := self._refused[arrival[:2]]:
                                told[shown] = PassedOver(shown, why)
                        else:
                            arrivals.append(arrival)
                            taken.add(shown)
            except Exception as error:
                told[str(place)] = self._fault(str(place), "it cannot be looked at now", error)
            self.last_round.passed_over += [passed for shown, passed in told.items() if shown not in taken]
        return arrivals

    def _take_in(self, arrivals: Sequence[Arrival]) -> None:
        """Note what is new, one attempt of each student and lab; beyond the hour's limit it waits where it lies."""
        now, most, attempts = self.clock(), self.course.attempts.per_hour, self._attempts("true")
        latest = self.course.attempts.counts == "latest"
        busy = {(attempt.student, attempt.lab) for attempt in attempts if attempt.state == "waiting" and not latest}
        seen = {(attempt.place, attempt.file) for attempt in attempts}
        spent = Counter(attempt.student for attempt in attempts if attempt.noted > now.timestamp() - 3600)
        for arrival in sorted(arrivals, key=lambda arrival: (arrival.changed, arrival.place), reverse=latest):
            student, path = arrival.found.student, str(arrival.found.path)
            if arrival[:2] in seen or (student, arrival.found.lab) in busy:
                continue
            if most and spent[student] >= most:
                self.last_round.passed_over.append(PassedOver(path, f"it waits: {most} attempts an hour are graded"))
                continue
            with self._losing_only(student, "it cannot be taken in"):
                if why := self._note(arrival, now):
                    self.last_round.passed_over.append(PassedOver(path, why))
                busy.add((student, arrival.found.lab))
                spent[student] += 1

    def _note(self, arrival: Arrival, now: datetime) -> str:
        """Read what arrived, keep it, and write down when it came; say why not.

        From here on its bytes are those in `submitted`, whatever happens to the file.
        """
        found, lab = arrival.found, arrival.found.lab
        assert found.source is not None
        try:
            data, status = found.source.read_with_status()
        except Unreadable as error:
            return self._refused.setdefault(arrival[:2], error.reason)
        changed = max(arrival.changed, datetime.fromtimestamp(status.st_ctime, UTC))
        age = (now - changed).total_seconds()
        is_whole = data.lstrip(b"\xef\xbb\xbf \r\n\t")[:1] != b"{" or data.rstrip()[-1:] == b"}"
        if 0 <= age < (SETTLED_SECONDS if is_whole else COMPLETED_SECONDS):
            waits = "it has no end yet; it is graded when it is whole, or has not changed for a minute"
            return "" if is_whole else waits
        if not found.source.path.is_relative_to(self._inbound) and (likely := self._likely_lab(found, data)) != lab:
            why = "" if likely in self.labs else f"it is a notebook of {likely}"
            return self._refused.setdefault(arrival[:2], why)
        key = f"{arrival.place} {hashlib.sha256(data).hexdigest()}"
        if self._set(key, file=arrival.state):
            return ""  # it was touched, and says the same
        said = found.timestamp or datetime.fromtimestamp(status.st_mtime, UTC)
        found = date_submission(replace(found, timestamp=min(said, now)), min(changed, now), self.course.zone_of(lab))
        when, secret = (found.timestamp or now).timestamp(), self._secret_of(found)
        place, state = arrival[:2]
        attempt = NotedAttempt(key, place, state, found.student, lab, when, now.timestamp(), secret, found.note)
        folder = self.course.submitted / found.student / lab
        write_atomically(folder / f"{lab}.ipynb", data)
        _write_words(folder, attempt)
        for older in self._attempts("state = 'waiting' and student = ? and lab = ?", found.student, lab):
            self._set(older.key, state="replaced")
        self._record.execute(f"insert into noted values ({','.join('?' * len(attempt))})", attempt)
        return ""

    def _likely_lab(self, found: FoundSubmission, data: bytes) -> str:
        """The lab that a notebook is named like, or else the one of which it holds most cells: a look takes any."""
        names = {lab: LabNames(lab, self._known) for lab in (found.lab, *self._known)}
        if names[found.lab].is_copy(stem_of(found.file_name)):
            return found.lab
        return max(names, key=lambda lab: names[lab].score(data))

    def _secret_of(self, found: FoundSubmission) -> str:
        """What names the student's feedback in the exchange; empty where nothing does."""
        file = getattr(found.source, "file", found.source)
        if not isinstance(file, FileSource) or not file.path.is_relative_to(self._inbound):
            return ""
        try:
            entry = file.path.relative_to(self._inbound).parts[0]
            with FileSource(self._inbound, (entry, SECRET), file.owner).open() as opened:
                text = opened.read(LONGEST_SECRET + 1).decode("ascii").strip()
        except (OSError, Unreadable, UnicodeDecodeError):
            return ""
        return text if len(text) <= 200 and text.isprintable() else ""

    def _grade_all_that_can_be(self, lab: str, attempts: Sequence[NotedAttempt]) -> Iterator[Mark]:
        """Grade attempts together, and where that fails, each of those without a verdict by itself."""
        try:
            if attempts:
                yield from self._grade(lab, {attempt.student: attempt for attempt in attempts})
        except EVERYBODYS:
            raise
        except Exception as error:
            left = [attempt for attempt in attempts if attempt in self._attempts("state = 'waiting'")]
            if not left:
                told = self._fault(lab, "the tables and pages may be behind the gradebook", error)
                self.last_round.passed_over.append(told)
            elif len(attempts) == 1:
                with self._losing_only(left[0].student, "the grader failed at it"):
                    raise error
            else:
                for attempt in left:
                    yield from self._grade_all_that_can_be(lab, [attempt])

    def _grade(self, lab: str, attempts: dict[str, NotedAttempt]) -> Iterator[Mark]:
        best = self.course.attempts.counts == "best"
        marking = Marking(self.course, lab, self.out_dir, db_url=self.db_url, keep_best=best)
        here = nullcontext(self.cluster) if self.cluster else start_sandbox(self.course, lab, unsafe=self.unsafe)
        with here as grading:
            for mark in marking.run(map(self._found, attempts.values()), grading, workers=self.workers):
                with self._losing_only(mark.student, "feedback cannot be handed back"):
                    self._hand_back(attempts[mark.student])
                    self._set(attempts[mark.student].key, state="graded", ended=self.clock().timestamp())
                yield mark
        for student in marking.left_out:
            self._set(attempts[student].key, state="left out")
        self.last_round.passed_over += marking.passed_over
        self.last_round.failures |= {student: on_one_line(why) for student, why in marking.failures.items()}

    def _found(self, attempt: NotedAttempt) -> FoundSubmission:
        path = self.course.submitted / attempt.student / attempt.lab / f"{attempt.lab}.ipynb"
        found = FoundSubmission(attempt.student, attempt.lab, path, FileSource(path), note=attempt.note)
        return replace(found, timestamp=datetime.fromtimestamp(attempt.handed_in, UTC))

    def _hand_back(self, attempt: NotedAttempt) -> None:
        """Put the page of an attempt where nbgrader's `fetch_feedback` finds it.

        It also lies in the course's folder for feedback, so that `nbgrader release_feedback` gives out the same page.
        """
        page, released = feedback_path(self.out_dir / "feedback", attempt.student, attempt.lab), self._released(attempt)
        if attempt.secret and page.exists():
            written = page.stat().st_mtime_ns  # first: what is written while this one is read is newer than it
            write_atomically(released, page.read_bytes())
            os.utime(released, ns=(written, written))
            released.chmod(released.stat().st_mode | 0o444)  # nbgrader copies the mode; the student reads the copy
            _write_words(released.parent, attempt)
            self._release.start()

    def _released(self, attempt: NotedAttempt) -> Path:
        coursedir = self._release.coursedir
        coursedir.assignment_id, coursedir.student_id = attempt.lab, attempt.student
        folder = coursedir.format_path(coursedir.feedback_directory, attempt.student, attempt.lab)
        return Path(folder) / f"{attempt.lab}.html"

    def _attempts(self, condition: str, *values: str) -> list[NotedAttempt]:
        return [NotedAttempt(*row) for row in self._record.execute(f"select * from noted where {condition}", values)]

    def _set(self, key: str, **values: str | float) -> int:
        """Change an attempt's row; return how many have this key."""
        names = ", ".join(f"{name} = ?" for name in values)
        return self._record.execute(f"update noted set {names} where key = ?", (*values.values(), key)).rowcount

    @contextmanager
    def _losing_only(self, student: str, what: str) -> Iterator[None]:
        """Whatever goes wrong with one attempt is that student's line, after `what`; a later round tries again."""
        try:
            yield
        except Exception as error:
            self.last_round.failures[student] = self._fault(student, what, error).reason

    def _fault(self, place: str, what: str, error: Exception) -> PassedOver:
        log.error("%s", printable(f"{place}\n{traceback.format_exc()}"))
        said = getattr(error, "strerror", None) or f"{type(error).__name__}: {error}"
        return PassedOver(place, f"{what}: {said}", is_fault=True)


def _look_at(found: FoundSubmission) -> Arrival | None:
    """A submission with the state of its file, which nobody reads for that; None if it vanishes meanwhile."""
    assert found.path is not None
    with suppress(OSError):
        both = os.lstat(found.path), os.stat(found.path)  # in a drop folder, it may be a link to a file beside it
        state = " ".join(f"{each.st_ino} {each.st_size} {each.st_mtime_ns} {each.st_ctime_ns}" for each in both)
        changed = datetime.fromtimestamp(max(each.st_ctime for each in both), UTC)
        return Arrival(f"{str(found.path)!r} {found.student} {found.lab}", state, found, changed)
    return None


def _write_words(folder: Path, attempt: NotedAttempt) -> None:
    """Write the time and the secret of an attempt as nbgrader does."""
    when = datetime.fromtimestamp(attempt.handed_in, UTC)
    write_atomically(folder / "timestamp.txt", f"{when:%Y-%m-%d %H:%M:%S.%f} UTC".encode())
    if attempt.secret:
        write_atomically(folder / SECRET, attempt.secret.encode())
