"""Rounds of `course watch`: look what has arrived, grade what is due, hand feedback back, write the status page."""

from __future__ import annotations

import fcntl
import logging
import os
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy.exc import SQLAlchemyError

from autograder.course.files import write_atomically
from autograder.course.printable import on_one_line, printable
from autograder.course.settings import Course, CourseError
from autograder.grading.autograded_notebook import SECRET
from autograder.grading.lab_grader import known_cells
from autograder.grading.marks import Mark
from autograder.grading.people import course_roster, stranger
from autograder.grading.preloading import start_sandbox
from autograder.integrations.watching.arrivals import Arrived, HandedIn, in_exchange, in_folder
from autograder.integrations.watching.journal import Journal
from autograder.integrations.watching.resting import Resting
from autograder.integrations.watching.returning import Exchange, written_time
from autograder.integrations.watching.status import status_page
from autograder.marking.run import Marking
from autograder.pages.feedback import feedback_path
from autograder.sandbox import SandboxUnavailable
from autograder.submission import PassedOver, Unreadable
from autograder.submission.file_names import LabNames, shown_place, stem_of
from autograder.submission.handing_in import dated, later

if TYPE_CHECKING:
    from autograder.integrations.cluster.client import Cluster  # Dask is slow to import

log = logging.getLogger(__name__)

EVERYBODYS = SandboxUnavailable, CourseError, OSError, SQLAlchemyError  # the round stops: no single attempt is at fault
NOT_HANDED_BACK = "feedback cannot be handed back"


@dataclass
class Round:
    """What one round did: attempts that were new, verdicts, and attempts that the grader failed at, with the reason."""

    arrived: int = 0
    graded: list[Mark] = field(default_factory=list)
    failures: dict[str, str] = field(default_factory=dict)
    passed_over: list[PassedOver] = field(default_factory=list)


@dataclass(frozen=True)
class Graders:
    """What grades for a watcher.

    Attributes:
        workers: number of submissions graded at the same time.
        unsafe: grade without walls where they cannot be built.
        cluster: a Dask cluster that grades in place of this machine.
    """

    workers: int = 1
    unsafe: bool = False
    cluster: Cluster | None = None


class Watcher:
    """Grades what arrives for the labs of a course, until it is told to stop. One watcher for one folder of results.

    Args:
        course: the course.
        labs: the names of the labs that are watched.
        drops: folders into which notebooks are put, besides the exchange.
        out_dir: where tables, feedback, the journal and `status.html` go.
        db_url: the gradebook.
        graders: what grades; one worker on this machine when None.
        clock: the time, aware; tests set it.

    Attributes:
        status: the status page.
        only_roster: pass over attempts of those who are not in the course's roster, which each round reads anew.
        last_round: what the last round did.

    Raises:
        CourseError: another watcher works on `out_dir`, or course.toml or nbgrader_config.py cannot be read.
    """

    def __init__(
        self,
        course: Course,
        labs: Sequence[str],
        *,
        drops: Sequence[Path] = (),
        out_dir: Path,
        db_url: str,
        graders: Graders | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ):
        self.status = out_dir / "status.html"
        self.only_roster = False
        self._course, self._labs, self._drops = course, list(labs), list(drops)
        self._out_dir, self._db_url = out_dir, db_url
        self._graders, self._clock = graders or Graders(), clock
        out_dir.mkdir(parents=True, exist_ok=True)
        self._lock = (out_dir / "watch.lock").open("w")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.close()
            raise CourseError(f"another `course watch` works on {out_dir}: stop it, or name another --out") from None
        self._exchange = Exchange(course)
        self._journal = Journal(out_dir / "watch.db", counts=course.attempts.counts, per_hour=course.attempts.per_hour)
        self._known = known_cells(course)
        self._lab_of: dict[str, str] = {}  # by attempt in a drop folder
        self._resting = Resting()
        self._last: datetime | None = None
        self.last_round = Round()

    def __enter__(self) -> Watcher:
        return self

    def __exit__(self, *_: object) -> None:
        self._journal.close()
        self._lock.close()

    def round(self) -> Iterator[Mark]:
        """Grade everything that is due now; yield each verdict once it is recorded and handed back.

        Raises:
            SandboxUnavailable: the walls cannot be built; what was graded before is kept, the rest waits.
            CourseError: the gradebook or the disk takes no more, or the roster cannot be read; the same holds.
        """
        self.last_round = Round()
        attempts, self.last_round.passed_over = self._look()
        attempts = self._noted(self._rested(attempts), self._clock())
        self.write_status()
        tried: set[str] = set()
        while due := [key for key in self._journal.due(self._clock()) if key in attempts and key not in tried]:
            tried.update(due)
            for lab in self._labs:
                of_lab = [attempts[key] for key in due if attempts[key].lab == lab]
                if of_lab:
                    yield from self._grade_all_that_can_be(lab, of_lab)
            self.write_status()
        self._hand_back_anew(attempts)
        self._last = self._clock()
        self.write_status()

    def write_status(self) -> None:
        """Write the status page. One that cannot be made keeps nobody's work waiting."""
        try:
            page = status_page(
                self._course,
                now=self._clock(),
                last=self._last,
                journal=self._journal,
                passed_over=self.last_round.passed_over,
                failures=self.last_round.failures,
            )
        except Exception as error:
            self._tell_fault(str(self.status), "it cannot be written now", error)
        else:
            write_atomically(self.status, page)

    def _look(self) -> tuple[dict[str, HandedIn], list[PassedOver]]:
        inbound = self._exchange.inbound
        places = {inbound: partial(in_exchange, inbound, self._labs, check_owner=self._exchange.check_owner)}
        places |= {folder: partial(in_folder, folder, self._labs, self._known) for folder in self._drops}
        arrived = [self._arrived(place, look) for place, look in places.items()]
        attempts = {attempt.key: attempt for some in arrived for attempt in some.attempts}
        passed_over = [passed for some in arrived for passed in some.passed_over]
        if self.only_roster:
            roster = course_roster(self._course)
            strangers = {key: attempt for key, attempt in attempts.items() if not roster.places(attempt.student)}
            passed_over += [stranger(roster, attempt.submission) for attempt in strangers.values()]
            attempts = {key: attempt for key, attempt in attempts.items() if key not in strangers}
        return attempts, passed_over

    def _arrived(self, place: Path, look: Callable[[], Arrived]) -> Arrived:
        """What lies in one place. What goes wrong there is a line, and the other places are looked at all the same."""
        if place in self._drops and not place.is_dir():
            return Arrived([], [PassedOver(str(place), "there is no such folder any more", is_fault=True)])
        try:
            arrived = look()
            return self._of_their_labs(arrived) if place in self._drops else arrived
        except Exception as error:
            _log(str(place))
            return Arrived([], [PassedOver(str(place), f"it cannot be looked at now ({_said(error)})", is_fault=True)])

    def _of_their_labs(self, arrived: Arrived) -> Arrived:
        """What lies in a drop folder without the notebooks that are another lab's: a look takes each for every lab."""
        for attempt in arrived.attempts:
            if attempt.key not in self._lab_of:
                self._lab_of[attempt.key] = self._likely_lab(attempt)
        own = [attempt for attempt in arrived.attempts if self._lab_of[attempt.key] == attempt.lab]
        told = {
            self._lab_of[attempt.key]: attempt
            for attempt in arrived.attempts
            if self._lab_of[attempt.key] not in self._labs
        }
        over = [PassedOver(str(attempt.submission.path), f"it is a notebook of {lab}") for lab, attempt in told.items()]
        taken = {shown_place(str(attempt.submission.path)) for attempt in own}
        return Arrived(own, [passed for passed in arrived.passed_over if passed.path not in taken] + over)

    def _likely_lab(self, attempt: HandedIn) -> str:
        """The lab that a notebook is named like, or else the one of which it holds most cells."""
        names = {lab: LabNames(lab, self._known) for lab in (attempt.lab, *self._known)}
        if attempt.submission.path is None or names[attempt.lab].is_copy(stem_of(attempt.submission.path.name)):
            return attempt.lab
        with suppress(Unreadable):
            data = attempt.submission.read()
            return max(names, key=lambda lab: names[lab].score(data))
        return attempt.lab

    def _rested(self, attempts: Mapping[str, HandedIn]) -> dict[str, HandedIn]:
        """The attempts to try in this round: without those that failed again and again, a while ago."""
        rested, now = dict[str, HandedIn](), self._clock()
        for key, attempt in attempts.items():
            if (reason := self._resting.reason(key, now)) is None:
                rested[key] = attempt
            else:
                self.last_round.failures[attempt.student] = reason
        return rested

    def _noted(self, attempts: Mapping[str, HandedIn], now: datetime) -> dict[str, HandedIn]:
        """The attempts with the times that count, the new ones written down; without those of which that fails."""
        written, timed, noted = self._journal.handed_in(attempts), list[HandedIn](), dict[str, HandedIn]()
        for key, attempt in attempts.items():
            with self._losing_only(attempt, "it cannot be taken in"):
                timed.append(self._dated(attempt, written.get(key) or _came(attempt, now)))
        try:
            self.last_round.arrived = self._journal.note(timed, now)
            return {attempt.key: attempt for attempt in timed}
        except EVERYBODYS:
            raise
        except Exception:  # one of them cannot be written down; the others can
            for attempt in timed:
                with self._losing_only(attempt, "it cannot be taken in"):
                    self.last_round.arrived += self._journal.note([attempt], now)
                    noted[attempt.key] = attempt
            return noted

    def _dated(self, attempt: HandedIn, when: datetime) -> HandedIn:
        """The attempt as handed in at a time, which its verdict and its page say; with a note where it says another."""
        zone = self._course.zone_of(attempt.lab)
        submission = dated(replace(attempt.submission, timestamp=attempt.handed_in), when, zone)
        return replace(attempt, handed_in=when, submission=replace(submission, timestamp=when))

    def _grade_all_that_can_be(self, lab: str, attempts: Sequence[HandedIn]) -> Iterator[Mark]:
        """Grade attempts together, and where that fails, each of those without a verdict by itself."""
        graded = set[str]()
        try:
            for mark in self._grade(lab, attempts):
                graded.add(mark.student)
                yield mark
        except EVERYBODYS:
            raise
        except Exception as error:
            left = [attempt for attempt in attempts if attempt.student not in graded]
            if not left:
                self._tell_fault(lab, "the tables and pages may be behind the gradebook", error)
            elif len(attempts) == 1:
                _log(left[0].key)
                self._fail(left[0], f"the grader failed at it: {_said(error)}")
            else:
                for attempt in left:
                    yield from self._grade_all_that_can_be(lab, [attempt])

    def _grade(self, lab: str, attempts: Sequence[HandedIn]) -> Iterator[Mark]:
        by_student = {attempt.student: attempt for attempt in attempts}
        best = self._course.attempts.counts == "best"
        marking = Marking(self._course, lab, self._out_dir, db_url=self._db_url, keep_best=best)
        by_student = {student: self._taken_in(attempt) for student, attempt in by_student.items()}
        found = [attempt.submission for attempt in by_student.values()]
        cluster, unsafe = self._graders.cluster, self._graders.unsafe
        here = nullcontext(cluster) if cluster else start_sandbox(self._course, lab, unsafe=unsafe)
        with here as grading:
            for result in marking.run(found, grading, workers=self._graders.workers):
                attempt = by_student[result.student]
                with self._losing_only(attempt, NOT_HANDED_BACK):
                    self._hand_back(attempt, marking, result)
                    note = attempt.submission.note or ""
                    self._journal.finish(attempt.key, self._clock(), result.score, result.max_score, note)
                    self._resting.succeeded(attempt.key)
                self.last_round.graded.append(result)
                yield result
        for student, reason in marking.left_out.items():
            self._journal.leave_out(by_student[student].key, self._clock(), reason)
        self.last_round.passed_over += marking.passed_over
        for student, reason in marking.failures.items():
            self._fail(by_student[student], reason)

    def _taken_in(self, attempt: HandedIn) -> HandedIn:
        """The attempt as it was read, a copy of it where nbgrader and Formgrader look for what was handed in."""
        folder = self._course.submitted / attempt.student / attempt.lab
        with self._losing_only(attempt, f"it cannot be copied to {folder}"):
            try:
                data = attempt.submission.read()
            except Unreadable:
                return attempt  # its verdict says so
            attempt = _as_read(attempt, self._clock())
            write_atomically(folder / f"{attempt.lab}.ipynb", data)
            write_atomically(folder / "timestamp.txt", written_time(attempt).encode())
            if attempt.secret:
                write_atomically(folder / SECRET, attempt.secret.encode())
        return attempt

    def _hand_back(self, attempt: HandedIn, marking: Marking, result: Mark) -> None:
        page = feedback_path(marking.feedback, result)
        if attempt.secret and page.exists():
            self._exchange.hand_back(attempt, page)

    def _hand_back_anew(self, attempts: Mapping[str, HandedIn]) -> None:
        """Hand back the pages that changed after their attempt was answered: marks by hand, rubrics, extensions."""
        answered = [attempts[key] for key in self._journal.answered() if key in attempts]
        for attempt in answered:
            page = feedback_path(self._out_dir / "feedback", attempt)
            with self._losing_only(attempt, NOT_HANDED_BACK):
                if self._exchange.is_behind(attempt, page) and attempt.secret:
                    self._exchange.hand_back(attempt, page)

    @contextmanager
    def _losing_only(self, attempt: HandedIn, what: str) -> Iterator[None]:
        """Whatever goes wrong with one attempt is that attempt's line, after `what`; a later round tries again."""
        try:
            yield
        except Exception as error:
            _log(attempt.key)
            self._fail(attempt, f"{what}: {_said(error)}")

    def _fail(self, attempt: HandedIn, reason: str) -> None:
        reason = on_one_line(reason)
        self.last_round.failures[attempt.student] = reason
        self._resting.failed(attempt.key, reason, self._clock())
        try:
            self._journal.fail(attempt.key, reason)
        except Exception:  # the attempt itself may be what cannot be written; the line is told all the same
            _log(attempt.key)

    def _tell_fault(self, what: str, sentence: str, error: Exception) -> None:
        _log(what)
        self.last_round.passed_over.append(PassedOver(what, f"{sentence} ({_said(error)})", is_fault=True))


def _log(what: str) -> None:
    """Write what is being handled into the log, with its traceback."""
    log.error("%s", printable(f"{what}\n{traceback.format_exc()}"))


def _said(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or f"{type(error).__name__}: {error}")


def _came(attempt: HandedIn, now: datetime) -> datetime:
    """When an attempt was handed in: the later of what it says itself and of its coming, where these lie apart.

    A student writes the name of a folder in the exchange, and sets the date of a file. It came before the watcher saw
    it first, `now`, and not before the kernel wrote down its last change, which nobody but root can set back.
    """
    came = now
    if attempt.submission.path is not None:
        with suppress(OSError):
            changed = os.stat(attempt.submission.path, follow_symlinks=False).st_ctime
            came = min(now, datetime.fromtimestamp(changed, UTC))
    return later(attempt.handed_in, came) or came


def _as_read(attempt: HandedIn, now: datetime) -> HandedIn:
    """The attempt with the time of its last change, where that is later: it may have waited, and its owner may write.

    The kernel wrote this time down for the file that was read.
    """
    source = attempt.submission.source
    if source is None:
        return attempt
    changed = min(now, datetime.fromtimestamp(source.read_with_status()[1].st_ctime, UTC))
    counts = later(attempt.handed_in, changed)
    if counts is None or counts == attempt.handed_in:
        return attempt
    before, after = (f"{when:%Y-%m-%d %H:%M} UTC" for when in (attempt.handed_in, counts))
    told = f"It came at {before} and was changed at {after}, which counts."
    note = " ".join(filter(None, [attempt.submission.note, told]))
    return replace(attempt, handed_in=counts, submission=replace(attempt.submission, timestamp=counts, note=note))
