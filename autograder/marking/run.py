"""One run of `course grade`: finds submissions, grades what is new, records it, writes tables and feedback."""

from __future__ import annotations

import errno
import logging
import traceback
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, ProgrammingError

from autograder.course.roster import Roster
from autograder.course.settings import Course, CourseError, load_nbgrader_config
from autograder.course.text import format_time, printable
from autograder.grade.database import Removed, show_url
from autograder.grade.gradebook import GradebookWriter, find_unknown_names
from autograder.grade.lab_grader import GradingFailed, LabGrader, content_hash, grade_all
from autograder.grade.marks import Mark, make_mark
from autograder.grade.results import LabResult
from autograder.marking.results_folder import HiddenInputs, bring_up_to_date, write_passed_over
from autograder.pages.feedback import feedback_path, write_feedback
from autograder.read import FoundSubmission, PassedOver, find_submissions
from autograder.read.handing_in import PlatformTimes, date_submission
from autograder.read.layouts import LAYOUTS, show_place
from autograder.sandbox import Sandbox, SandboxUnavailable

if TYPE_CHECKING:
    from autograder.integrations.cluster.client import Cluster  # Dask is slow to import, and most grade without

log = logging.getLogger(__name__)


class Marking:
    """A lab to be marked, and where the results go.

    Args:
        course: the course.
        lab: the lab's name.
        folder: where tables and feedback go.
        db_url: the gradebook.
        seed: seed of the hidden cases; the course's own when None.
        again: grade also what was graded before and has not changed.
        keep_best: leave the recorded attempt of a student alone where the new one is worth less.
    """

    def __init__(
        self,
        course: Course,
        lab: str,
        folder: Path,
        *,
        db_url: str,
        seed: int | None = None,
        again: bool = False,
        keep_best: bool = False,
    ):
        self.grader = LabGrader(course, lab, seed=seed)
        self.lab = self.grader.lab
        self.db_url = db_url
        self.folder = folder
        self.results_csv = folder / "results.csv"
        self.grades_csv = folder / "grades.csv"
        self.passed_over_csv = folder / "passed_over.csv"
        self.feedback = folder / "feedback"
        self.results: list[Mark] = []
        self.counts_instead: dict[str, Mark] = {}  # by student, where an earlier attempt is better
        self.failures: dict[str, str] = {}
        self.passed_over: list[PassedOver] = []
        self.claimed_twice: list[str] = []
        self.layouts: list[str] = []
        self.left_out: dict[str, str] = {}  # by student, why what was handed in is not graded
        self.marked_late: set[str] = set()
        self.without_time: list[str] = []
        self.unknown_names: list[str] = []
        self._hidden: HiddenInputs | None = None  # while there is a gradebook
        self._times: dict[str, datetime] = {}  # by student, where the platform says one
        self._without_order: list[str] = []  # students whose file replaces another one, though it has no time
        self._looked_at: Sequence[Path] = ()
        self._course = course
        self._again = again
        self._is_courses_seed = seed is None
        self._keep_best = keep_best

    def find(
        self,
        paths: Sequence[Path],
        only: Roster | None = None,
        times: Sequence[PlatformTimes] = (),
        layout: str | None = None,
    ) -> list[FoundSubmission]:
        """The submissions in the given notebooks, folders and archives.

        What is nobody's goes to `passed_over`, and what is to be said of names in course.toml to `find_unknown_names`.

        Args:
            paths: where to look.
            only: a roster; the work of those who are not in it goes to `passed_over` as well.
            times: when students handed in, by the platform; those who are not in it go to `without_time`.
            layout: how the submissions lie there; recognised where nothing is said. `layouts` has what was read.

        Raises:
            CourseError: there is no such layout, or course.toml has an extension or an excuse for nobody in the
                course's roster.
        """
        if layout not in (None, *LAYOUTS):
            known = "".join(f"\n  {name:<12}{shape}" for name, shape in LAYOUTS.items())
            raise CourseError(f"--layout {layout}: there is no such layout; those known are{known}")
        self._looked_at = paths
        check_owner = bool(load_nbgrader_config(self._course).ExchangeCollect.get("check_owner", True))
        handed_in = find_submissions(paths, self.lab, self.grader.known, layout=layout, check_owner=check_owner)
        submissions, strangers = handed_in.submissions, list[PassedOver]()
        if only is not None:
            submissions, strangers = split_by_roster(only, submissions)
        self.passed_over, self.claimed_twice = [*handed_in.passed_over, *strangers], handed_in.claimed_twice
        self.layouts = handed_in.layouts
        self.unknown_names = find_unknown_names(
            self._course, self.db_url, [submission.student for submission in submissions]
        )
        self.marked_late = {submission.student for submission in submissions if submission.is_marked_late}
        return [self._date(submission, times) for submission in submissions] if times else submissions

    def _date(self, submission: FoundSubmission, times: Sequence[PlatformTimes]) -> FoundSubmission:
        seen = max(filter(None, (time_table.of(submission.student) for time_table in times)), default=None)
        if seen is None:
            self.without_time.append(submission.student)
            return submission
        submission = date_submission(submission, seen, self._course.zone_of(self.lab))
        if submission.timestamp is not None:
            self._times[submission.student] = submission.timestamp
        return submission

    def run(
        self, submissions: Iterable[FoundSubmission], warm: Future[Sandbox] | Cluster, *, workers: int = 1
    ) -> Iterator[Mark]:
        """Grade, record and write; yield each mark once it is recorded.

        Args:
            submissions: what was handed in.
            warm: the sandbox, or a promise of it; not asked for when there is nothing new. Or a cluster.
            workers: number of submissions that run at once here.

        Raises:
            SandboxUnavailable: the walls cannot be built, or no longer; what was recorded is in the tables.
            CourseError: the gradebook or the disk takes no more; what was recorded before stays.
        """
        try:
            self.feedback.mkdir(parents=True, exist_ok=True)  # where this fails, nothing was graded in vain
            with GradebookWriter(self.db_url, self._course) as gradebook:
                self._hidden = HiddenInputs(self._course, gradebook, self.grader)
                new, known = [], {}
                removed, attempts = gradebook.read_removed(self.lab), gradebook.attempts(self.lab)
                for submission in submissions:
                    student, content = submission.student, _hash_of(submission)
                    why = self._stays_out(submission, content, removed.get(student), attempts.get(student))
                    if why is not None:
                        self.left_out[student] = why
                        place = show_place(str(submission.path or student))
                        self.passed_over.append(PassedOver(place, f"{why}."))
                        continue
                    with self._losing_only(student):
                        key = student, self.lab, content, self.grader.version
                        if content and not self._again and gradebook.find_graded(*key):
                            known[student] = submission
                        else:
                            new.append(submission)
                if again := {name: when for name, when in self._times.items() if name in known}:
                    gradebook.set_times(self.lab, again)
                for mark in gradebook.marks(self.lab, known.keys()) if known else ():
                    with self._losing_only(mark.student):
                        self._write_missing_page(mark, known[mark.student])
                        yield self._keep(mark)
                if new:
                    state = self.grader.version, self.grader.case_digests()
                    gradebook.note_cases(self.lab, *state, is_now=self._is_courses_seed)
                unavailable = None
                try:
                    for batch in self._batches(new, warm, workers) if new else ():
                        yield from self._record(gradebook, batch)
                except SandboxUnavailable as error:
                    unavailable = error
                bring_up_to_date(self._course, gradebook, self.folder)  # of every lab and run, so that all tables agree
            write_passed_over(self.passed_over_csv, self.lab, self._looked_at, self.passed_over)
            if unavailable is not None:
                raise unavailable
        except (DBAPIError, OSError) as error:
            reason = error.orig if isinstance(error, DBAPIError) else error
            raise CourseError(
                f"stopped, because a result cannot be written: {reason}. What was recorded stays in "
                f"{show_url(self.db_url)}; correct that and run it again; it continues from there"
            ) from error

    def _stays_out(
        self, submission: FoundSubmission, content: str, removed: Removed | None, attempt: tuple[datetime, str] | None
    ) -> str | None:
        """Why a submission is not graded, though it is somebody's; None for all others.

        Args:
            submission: what was found.
            content: the hash of its file; empty where it cannot be read.
            removed: what was removed of the student.
            attempt: when the recorded attempt was handed in, and its hash.
        """
        if removed is not None and removed.content_hash in ("", content):
            return removed.sentence
        if attempt is None or content == attempt[1] or self._keep_best:
            return None
        if submission.timestamp is None:
            self._without_order.append(submission.student)
            return None
        if submission.timestamp >= attempt[0]:
            return None
        newer, older = (
            format_time(when, self._course.zone_of(self.lab)) for when in (attempt[0], submission.timestamp)
        )
        return (
            f"a newer attempt of “{submission.student}” is recorded, of {newer}, and this one is of {older}; to grade "
            f"this one in its place, type first: course remove attempt {self.lab} {quote(submission.student)}"
        )

    def _batches(
        self, new: Sequence[FoundSubmission], warm: Future[Sandbox] | Cluster, workers: int
    ) -> Iterator[list[LabResult | GradingFailed]]:
        if isinstance(warm, Future):
            return grade_all(self.grader, new, warm.result(), workers=min(workers, len(new)))
        return warm.grade_all(self.grader, new)

    def _record(self, gradebook: GradebookWriter, batch: Sequence[LabResult | GradingFailed]) -> Iterator[Mark]:
        verdicts = [result for result in batch if isinstance(result, LabResult)]
        if self._keep_best:
            better = [verdict for verdict in verdicts if gradebook.find_better(verdict) is not None]
            for verdict in better:
                verdicts.remove(verdict)
                with self._losing_only(verdict.student):
                    mark = make_mark(verdict, gradebook.count_lost_by_lateness(verdict))
                    (counts,) = gradebook.marks(self.lab, [verdict.student])
                    self.counts_instead[verdict.student] = counts
                    self._write_page(mark, instead=counts)
                    yield self._keep(mark)
        self.failures |= {failure.student: failure.reason for failure in batch if isinstance(failure, GradingFailed)}
        try:
            recorded = self._record_together(gradebook, verdicts)
        except Exception as error:
            if _is_everybodys(error):
                raise
            recorded = []
            for verdict in verdicts:  # one of them cannot be recorded; the others can
                with self._losing_only(verdict.student):
                    recorded += self._record_together(gradebook, [verdict])
        for mark in recorded:
            with self._losing_only(mark.student):
                self._write_page(mark)
            yield self._keep(mark)

    def _record_together(self, gradebook: GradebookWriter, verdicts: Sequence[LabResult]) -> list[Mark]:
        """Record verdicts in one transaction; return what counts, with the notebooks."""
        if not verdicts:
            return []
        for verdict in verdicts:  # a page of an older verdict would be taken for this one's, were we stopped here
            feedback_path(self.feedback, verdict.student, verdict.lab).unlink(missing_ok=True)
        gradebook.record(verdicts)
        notebooks = {verdict.student: verdict.notebook for verdict in verdicts}
        return [mark.with_notebook(notebooks[mark.student]) for mark in gradebook.marks(self.lab, notebooks.keys())]

    def sentences_on_lateness(self) -> list[str]:
        """What an instructor has to know of the times: whose are missing, and where Canvas says late and we do not."""
        sentences = []
        if self.without_time:
            sentences.append(f"no time of handing in is given for {', '.join(sorted(self.without_time))}")
        if self._without_order:
            sentences.append(
                "another file was graded before, and nothing says that this one is newer, which counts now: "
                f"{', '.join(sorted(self._without_order))}; give the times with --times FILE"
            )
        late = [mark for mark in self.results if mark.student in self.marked_late and not mark.seconds_late]
        unknown = sorted(mark.student for mark in late if mark.seconds_late is None)
        in_time = sorted(mark.student for mark in late if mark.seconds_late is not None)
        if unknown:
            missing = "" if self._course.lab(self.lab).due else ", and the due date in course.toml"
            sentences.append(
                f"Canvas calls this work late, and nothing says how late it is, so it loses no points: "
                f"{', '.join(unknown)}; give the times with --times FILE{missing}"
            )
        if in_time:
            sentences.append(
                f"Canvas calls this work late, and by course.toml it is in time: {', '.join(in_time)}; compare the due "
                "dates"
            )
        return sentences

    @contextmanager
    def _losing_only(self, student: str) -> Iterator[None]:
        """Whatever goes wrong with one student's verdict is that student's line, and not the end of the run."""
        try:
            yield
        except Exception as error:
            if _is_everybodys(error):
                raise
            log.error("%s", printable(f"nothing is recorded for {student}\n{traceback.format_exc()}"))
            self.failures[student] = f"the verdict cannot be written: {type(error).__name__}: {error}"

    def _keep(self, mark: Mark) -> Mark:
        self.results.append(mark.with_notebook(None))  # a thousand notebooks would fill the memory
        return self.results[-1]

    def _write_missing_page(self, mark: Mark, submission: FoundSubmission) -> None:
        if feedback_path(self.feedback, mark.student, mark.lab).exists():
            return
        notebook = None
        with suppress(Exception):  # it was graded before; its page can do without the code
            notebook = self.grader.plan(submission.read()).notebook
        self._write_page(mark.with_notebook(notebook))

    def _write_page(self, mark: Mark, instead: Mark | None = None) -> None:
        hidden = self._hidden.of(mark) if self._hidden is not None else None
        write_feedback(self._course, mark, self.feedback, instead=instead, hidden=hidden)


def _hash_of(submission: FoundSubmission) -> str:
    try:
        return content_hash(submission.read())
    except Exception:  # whatever it is, it is no file that was graded before; grading says so, of this one alone
        return ""


def _is_everybodys(error: Exception) -> bool:
    """Whether an error says that nothing more can be written, and not only that one verdict cannot."""
    if isinstance(error, DBAPIError):
        return not isinstance(error, DataError | IntegrityError | ProgrammingError)
    if isinstance(error, OSError):
        return error.errno not in (errno.EINVAL, errno.EILSEQ, errno.ENAMETOOLONG)  # what a student's name can do
    return isinstance(error, CourseError)


def split_by_roster(
    roster: Roster, submissions: Iterable[FoundSubmission]
) -> tuple[list[FoundSubmission], list[PassedOver]]:
    """The submissions of those who are in the roster, and the others as passed over."""
    theirs, others = [], []
    for submission in submissions:
        if roster.places(submission.student):
            theirs.append(submission)
        else:
            others.append(pass_over_stranger(roster, submission))
    return theirs, others


def pass_over_stranger(roster: Roster, submission: FoundSubmission) -> PassedOver:
    """A submission that is passed over because its student is not in the roster."""
    place = show_place(str(submission.path)) if submission.path else submission.student
    return PassedOver(place, f"“{submission.student}” is not in {roster.path.name}.")
