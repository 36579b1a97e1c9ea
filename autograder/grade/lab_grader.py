"""Grades submissions of a lab: one at a time or many over several warm workers, always to the same verdict."""

from __future__ import annotations

import hashlib
import logging
import os
import secrets
import sys
import tempfile
import traceback
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.metadata import version
from itertools import islice, takewhile
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from nbformat import NotebookNode
from nbformat.v4 import new_notebook

import autograder
import coursekit
from autograder.course import labs
from autograder.course.labs import (
    grade_id,
    is_test,
    make_writing_cell,
    read_earlier_cells,
    read_files,
    read_known_cells,
    read_released,
)
from autograder.course.settings import FILE_NAME, Course, CourseError
from autograder.course.text import printable
from autograder.course.text_pairs import PairError, read_pair
from autograder.declare.declaration import (
    Case,
    Declaration,
    OwnExercise,
    course_files,
    declared_exercises,
    own_exercises,
)
from autograder.declare.exercise import Exercise
from autograder.grade.database import digest_cases
from autograder.grade.results import ExerciseResult, LabResult
from autograder.grade.submission_run import DEMONSTRATION_TAG, PreparedExercise, SubmissionRun, read_attempt
from autograder.read import (
    CellStep,
    Children,
    FoundSubmission,
    LabReader,
    Plan,
    ProbeStep,
    ReaderLost,
    Reading,
    Rules,
    Unreadable,
    read_release,
)
from autograder.sandbox import Limits, Sandbox, SandboxUnavailable, Session, SessionLost, WorkerLost
from autograder.sandbox.warm import limits_of, preload_of
from coursekit.check.judge import Attempt, Expectation
from coursekit.check.rules import find_imports

if TYPE_CHECKING:
    from nbformat import NotebookNode

log = logging.getLogger(__name__)

SEED_FILE = ".grading-seed"
LIBRARIES = ("tensorflow", "keras", "numpy")  # another version of them may give other marks
SHORT_TURN = 0.0005  # seconds after which a thread lets others run: a process whose answer waits stands still
QUEUED = 4  # submissions in the hands of each worker: it goes on while verdicts are recorded


def read_grading_seed(course: Course) -> int:
    """The seed of the hidden cases: drawn at random on first use, and kept where students are not.

    Raises:
        CourseError: the file of the seed holds no seed.
    """
    path = course.root / SEED_FILE
    if not path.exists():
        # Written beside and linked: there is never half of one, and of two graders the first one's counts.
        with tempfile.NamedTemporaryFile("w", dir=course.root, prefix=SEED_FILE, encoding="utf-8") as file:
            file.write(f"{secrets.randbits(62)}\n")
            file.flush()
            try:
                os.link(file.name, path)
            except FileExistsError:
                pass
            except OSError:  # a file system without hard links
                with suppress(FileExistsError), path.open("x", encoding="utf-8") as own:
                    own.write(Path(file.name).read_text(encoding="utf-8"))
    text = path.read_text(encoding="utf-8", errors="replace").strip()
    if not text.isdecimal():
        raise CourseError(
            f"{path}: there is no seed in it. Put the file back from a backup, so that later submissions meet the same "
            f"hidden cases as earlier ones; or delete it: then a new seed is drawn and everything is graded again"
        )
    return int(text)


@dataclass(frozen=True)
class Opened:
    """A submission that was read: how it is graded, or the reason why nothing can be made of it."""

    content_hash: str = ""
    reading: Reading | None = None
    reason: str = ""


class LabGrader:
    """Grades any number of submissions of one lab. The hidden cases are drawn, and their references computed, once.

    Args:
        course: the course.
        lab: the lab's name.
        seed: seed of the hidden cases; the course's own secret seed when None.

    Raises:
        CourseError: the course has no such lab, or it is not released.
    """

    def __init__(self, course: Course, lab: str, *, seed: int | None = None):
        self.course = course
        self.lab = course.lab(lab).name
        seed = read_grading_seed(course) if seed is None else seed
        self.release = read_released(course, self.lab)
        released = course.release_notebook(self.lab).read_bytes()
        self.files = read_files(course.releases / self.lab)
        self.known = read_known_cells(course)
        self.earlier = read_earlier_cells(course, self.lab)
        self._demonstrations = {
            cell.source for cell in self.release.cells if DEMONSTRATION_TAG in cell.metadata.get("tags", ())
        }
        declared = declared_exercises(course, self.lab)
        self.seed = seed
        self._own = own_exercises(declared)
        self.solution = _read_solution(course, self.lab) if self._own else read_callees(course, self.lab, declared)
        self._callees = find_callees_code(self.solution, declared)
        self._prepared = {
            name: PreparedExercise(exercise, replace(exercise.spec, reveal=False), exercise.expectations(seed))
            for name, exercise in declared.items()
            if isinstance(exercise, Exercise)
        }
        specs = {name: exercise.spec for name, exercise in self._prepared.items()}
        specs |= {name: exercise.spec for name, exercise in self._own.items()}
        rules = {name: Rules(tuple(spec.forbidden), spec.no_loops) for name, spec in specs.items()}
        imports = find_imports([cell.source for cell in self.release.cells if cell.cell_type == "code"])
        release = read_release(self.release, self.earlier)
        self._readers = Children(LabReader(release, self.known, rules, imports, self._callees))
        self._own_prepared: dict[str, PreparedExercise] | None = None
        self._preparing = Lock()
        libraries = [version(name) for name in LIBRARIES]
        own = [path.read_bytes() for path in course_files(course)]
        own += [cell.source for cell in self.solution.cells] if self.solution else []
        own += [repr(self.files).encode()] if self.files else []
        self.version = _digest(digest_sources(), released, seed, course.limits, libraries, *own)

    @property
    def limits(self) -> Limits:
        """What one submission may use, from course.toml."""
        return limits_of(self.course)

    @property
    def points(self) -> dict[str, float]:
        """Points of each exercise, from the released notebook."""
        return labs.points(self.release)

    def grade(self, submission: FoundSubmission, sandbox: Sandbox) -> LabResult:
        """Give a verdict on one submission, whatever is in it."""
        return add_origin(self.judge(self.open(submission), submission.student, sandbox), submission)

    def open(self, submission: FoundSubmission) -> Opened:
        """Read one submission, whatever is in it. Another one may run meanwhile.

        Raises:
            ReaderLost: no process could read it, through no fault of its own.
        """
        try:
            return self.open_bytes(submission.read(), submission.spent)
        except Unreadable as error:
            return Opened(reason=error.reason)

    def open_bytes(self, data: bytes, spent: float = 0.0) -> Opened:
        """Read the bytes of a notebook, whatever they are; see `open`."""
        try:
            return Opened(content_hash(data), self.read(data, spent))
        except Unreadable as error:
            return Opened(content_hash(data), reason=error.reason)

    def judge(self, opened: Opened, student: str, sandbox: Sandbox) -> LabResult:
        """Give a verdict on what was opened: run it and judge every exercise of the lab."""
        if opened.reading is None:
            return replace(self.refuse(student, opened.reason), content_hash=opened.content_hash)
        run, plan = self.submission_run(opened.reading, sandbox), opened.reading.plan
        return LabResult(
            student,
            self.lab,
            tuple(run.results().values()),
            repairs=(*plan.repairs, *run.notes),
            notebook=plan.notebook,
            grader_version=self.version,
            content_hash=opened.content_hash,
        )

    def read(self, data: bytes, spent: float = 0.0) -> Reading:
        """How the bytes of a notebook are graded. They are read in a child process, under limits.

        Args:
            data: the notebook.
            spent: the processor seconds that it took to find it.

        Raises:
            Unreadable: nothing can be made of them, or they take more than they may.
            ReaderLost: no process could read them, through no fault of theirs.
        """
        reading: Reading = self._readers.ask("read", data, spent=spent)
        return reading

    def plan(self, data: bytes) -> Plan:
        """The plan alone, without rules; it is read as `read` does it, and raises the same."""
        plan: Plan = self._readers.ask("plan", data)
        return plan

    def submission_run(self, reading: Reading, sandbox: Sandbox) -> SubmissionRun:
        """A repaired submission with the lab's hidden cases, ready to run."""
        prepared = self.prepare(sandbox)
        lab, shown, again = self.lab, self._demonstrations, self._with_callees
        return SubmissionRun(lab, prepared, shown, self.limits, reading, sandbox, self.files, again)

    def _with_callees(
        self, plan: Sequence[CellStep | ProbeStep], exercise: str, names: Collection[str]
    ) -> Reading | None:
        """How one exercise is judged with the course's own code of others; None where there is none to be had."""
        if self._callees.keys().isdisjoint(names):
            return None
        try:
            reading: Reading = self._readers.ask("with_callees", plan, exercise, names)
        except Unreadable:  # it takes more than it may
            return None
        return reading

    def prepare(self, sandbox: Sandbox) -> dict[str, PreparedExercise]:
        """The exercises with their hidden cases; those whose references the solution gives need the sandbox for it."""
        with self._preparing:
            if self._own_prepared is None:
                cases: Mapping[str, list[Expectation]] = {}
                if self._own and self.solution is not None:
                    cases = compute_own_expectations(self.lab, self.solution, self._own, self.seed, sandbox, self.files)
                self._own_prepared = {
                    name: PreparedExercise(self._own[name], replace(self._own[name].spec, reveal=False), drawn)
                    for name, drawn in cases.items()
                }
            return self._prepared | self._own_prepared

    def case_digests(self) -> dict[str, str]:
        """Of each exercise a text that changes when its hidden cases do. Nothing runs for it."""
        digests = {name: digest_cases(prepared.spec, prepared.cases) for name, prepared in self._prepared.items()}
        for name, exercise in self._own.items():  # what their cases expect comes from the solution
            digests[name] = digest_cases(exercise.spec, [self._solution_of(name), *exercise.inputs(self.seed)])
        return digests

    def _solution_of(self, name: str) -> list[str]:
        """The code of the instructor's solution down to that of an exercise."""
        cells = self.solution.cells if self.solution is not None else []
        above = takewhile(lambda cell: labs.grade_id(cell) != name, cells)
        return [cell.source for cell in above if cell.cell_type == "code"]

    def hidden_inputs(self) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
        """The inputs of the hidden cases: exercise, group, and inputs by name. Nothing runs for it."""
        for name, prepared in self._prepared.items():
            for case in prepared.cases:
                yield name, case.group, case.inputs
        for name, exercise in self._own.items():
            for group, inputs in exercise.inputs(self.seed):
                yield name, group, inputs

    def refuse(self, student: str, reason: str) -> LabResult:
        """The verdict on what cannot be read: no points, and the reason."""
        exercises = tuple(
            ExerciseResult(name, 0.0, points, "missing", message=reason) for name, points in self.points.items()
        )
        return LabResult(student, self.lab, exercises, "unreadable", reason, grader_version=self.version)


def add_origin(result: LabResult, submission: FoundSubmission) -> LabResult:
    """A verdict with what is known of how the submission was found: its name and time, a note for the instructor."""
    notes = (submission.note,) if submission.note else ()
    return replace(result, timestamp=submission.timestamp, file=submission.file_name, repairs=(*notes, *result.repairs))


@dataclass(frozen=True)
class GradingFailed:
    """No verdict on a submission, by a fault of the grader or the machine; nothing is recorded for the student."""

    student: str
    reason: str


def grade_all(
    grader: LabGrader, submissions: Iterable[FoundSubmission], sandbox: Sandbox, *, workers: int = 1
) -> Iterator[list[LabResult | GradingFailed]]:
    """Yield verdicts as they come: each time all that have come meanwhile. Submissions are read while others run.

    Args:
        grader: the lab's grader.
        submissions: what was handed in; not looked at long before it is graded.
        sandbox: where the submissions run, each behind walls of its own.
        workers: number of submissions that run at once.

    Raises:
        SandboxUnavailable: the walls cannot be built, or no longer; the text says what to type. All verdicts that could
            still be had have been given before.
        CourseError: something of the course itself stands in the way of every verdict.
    """

    def verdict(submission: FoundSubmission, opened: Future[Opened]) -> LabResult | GradingFailed:
        try:
            return add_origin(grader.judge(opened.result(), submission.student, sandbox), submission)
        except (SandboxUnavailable, CourseError):
            raise
        except (WorkerLost, ReaderLost) as lost:
            return GradingFailed(submission.student, str(lost))
        except Exception as error:
            log.error("%s", printable(f"no verdict on {submission.student}\n{traceback.format_exc()}"))
            return GradingFailed(submission.student, f"{type(error).__name__}: {error}")

    def submit(submission: FoundSubmission) -> Future[LabResult | GradingFailed]:
        return pool.submit(verdict, submission, readers.submit(grader.open, submission))

    todo = iter(submissions)
    pool, readers = ThreadPoolExecutor(workers), ThreadPoolExecutor(workers)
    turn = sys.getswitchinterval()
    sys.setswitchinterval(SHORT_TURN)
    try:
        waiting = {*map(submit, islice(todo, QUEUED * workers))}
        unavailable = None
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            verdicts = []
            for future in done:
                if future.cancelled():
                    continue
                if (error := future.exception()) is not None:
                    unavailable = error
                else:
                    verdicts.append(future.result())
            if unavailable is None:
                waiting |= {*map(submit, islice(todo, len(done)))}
            else:  # those that have begun may still end well
                for future in waiting:
                    future.cancel()
            yield verdicts
        if unavailable is not None:
            raise unavailable
    finally:
        pool.shutdown(cancel_futures=True)
        readers.shutdown(cancel_futures=True)
        sys.setswitchinterval(turn)


def grade_bytes(course: Course, lab: str, data: bytes, student: str) -> LabResult:
    """Grade the bytes of one notebook with a worker that stays warm for the next one. For `nbgrader autograde`.

    Raises:
        SandboxUnavailable: the walls cannot be built; the text says what to type.
        Unreadable: nothing can be made of the bytes.
    """
    grader = _get_grader(course, lab)
    opened = Opened(content_hash(data), grader.read(data))
    return grader.judge(opened, student, _get_sandbox(course, preload_of(course, lab)))


@cache
def _get_grader(course: Course, lab: str) -> LabGrader:
    return LabGrader(course, lab)


@cache
def _get_sandbox(course: Course, preload: tuple[str, ...]) -> Sandbox:
    sandbox = Sandbox(limits_of(course), preload=preload)
    sandbox.start()
    return sandbox


def _read_solution(course: Course, lab: str) -> NotebookNode:
    """The instructor's notebook. Raises CourseError where it cannot be read."""
    path = course.solution_notebook(lab)
    try:
        return read_pair(path)
    except (PairError, FileNotFoundError) as error:
        raise CourseError(f"{path}: the references of your own exercises come from it, and {error}") from error


def content_hash(data: bytes) -> str:
    """What tells one submitted file from another."""
    return hashlib.sha256(data).hexdigest()


# What no verdict and no page of feedback rests on, among the folders of the packages.
NOT_READ = {"__pycache__", "reference", "recorded", "author", "cli", "integrations", "marking", "release"}


@cache
def digest_sources() -> str:
    """A digest of all that decides on marks and pages: a changed grader grades again.

    Code, templates, and the models in coursekit's data. Pages count, for only who is graded again gets a new one.
    """
    folders = [Path(folder) for package in (autograder, coursekit) for folder in package.__path__]
    files = sorted(
        path
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file() and not NOT_READ & {*path.relative_to(folder).parts}
    )
    return _digest(*(path.read_bytes() for path in files))


def _digest(*parts: Any) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part if isinstance(part, bytes) else repr(part).encode())
        digest.update(b"\0")
    return digest.hexdigest()[:32]


# -- what grading takes from the instructor's solution ----------------------------------------------------------------


_NO_REFERENCE = "there is no lab"  # what `start_lab` says in the sandbox, where a lab's references never are


def compute_own_expectations(
    lab: str,
    solution: NotebookNode,
    exercises: Mapping[str, OwnExercise],
    seed: int,
    sandbox: Sandbox,
    files: Mapping[str, bytes] | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> dict[str, list[Expectation]]:
    """The cases of each exercise, drawn from `seed`, with what the solution returns for them.

    The notebook's cells run in order, and an exercise is tried where its test cell stands, as in a submission. The
    `files`, by path, lie in the working folder. A given cell that fails, though every exercise has its results, is
    handed to `tell` as a sentence.

    Raises:
        CourseError: the solution does not get that far, or a case is not as it should be; says which and what happened.
        SandboxUnavailable: the walls cannot be built.
    """
    expected: dict[str, list[Expectation]] = {}
    where = given = ""
    try:
        with sandbox.session() as session:
            if files:
                session.run_cell(make_writing_cell(files))
            for cell in solution.cells:
                where = grade_id(cell)
                if is_test(cell):
                    if where in exercises:
                        exercise = exercises[where]
                        expected[where] = exercise.expectations(seed, partial(_try, session, lab, exercise))
                elif cell.cell_type == "code" and DEMONSTRATION_TAG not in cell.metadata.get("tags", ()):
                    answered = exercises.get(where.removesuffix("-code"))
                    reply = session.run_cell(cell.source, cpu_seconds=answered.cpu_seconds if answered else None)
                    if reply.error:
                        stops = f"stops with {reply.error.type}: {reply.error.message}"
                        if answered:
                            raise ValueError(f"the cell {where} {stops}")
                        if "start_lab(" in cell.source and reply.error.message.startswith(_NO_REFERENCE):
                            continue
                        begins = cell.source.strip().partition("\n")[0][:60]
                        remedy = _advise(reply.error.type)
                        given = given or f'the given cell that begins "{begins}" {stops}{remedy}'
                if len(expected) == len(exercises):
                    break
    except SessionLost as lost:
        raise CourseError(f"solutions/{lab}: the solution's {where or 'cell'} does not end: {lost.message}") from lost
    except ValueError as error:  # of the solution, or of the function that draws the cases
        first = f"{given}; then " if given else ""
        raise CourseError(f"solutions/{lab}, exercise {where.removesuffix('-code')}: {first}{error}") from error
    if given:
        tell(f"solutions/{lab}: {given}")
    return expected


def _advise(kind: str) -> str:
    """What to do about an error of a given cell that has to do with the sandbox."""
    if kind == "ModuleNotFoundError":
        return f" (install the package, and name it in {FILE_NAME}: packages = […])"
    if kind == "FileNotFoundError":
        return " (put the file beside the solution's notebook, and name it by its path from there)"
    return ""


def _try(session: Session, lab: str, exercise: OwnExercise, case: Case) -> Attempt:
    reply = session.probe(
        lab, exercise.name, case.inputs, mode=case.mode, probe=exercise.probe, cpu_seconds=exercise.cpu_seconds
    )
    return read_attempt(reply)


def read_callees(course: Course, lab: str, declared: Mapping[str, Declaration]) -> NotebookNode | None:
    """Of a lab's solution, the cells of exercises that others call, and their tests; the rest is not needed to grade.

    None where no exercise calls another one, or where there is no solution: then nothing stands in.

    Raises:
        CourseError: the solution cannot be read.
    """
    path = course.solution_notebook(lab)
    if not (names := _list_called(declared)):
        return None
    try:
        solution = read_pair(path)
    except FileNotFoundError:
        return None
    except PairError as error:
        raise CourseError(f"{path}: the code of exercises that others call comes from it, and {error}") from error
    cells = read_release(solution).cells
    kept = [cell for cell in cells if names.intersection(cell.exercises) or cell.grade_id in names]
    for cell in kept:
        cell.cell["outputs"] = []
    return new_notebook(cells=[cell.cell for cell in kept], metadata=solution.metadata)


def find_callees_code(solution: NotebookNode | None, declared: Mapping[str, Declaration]) -> dict[str, str]:
    """The source of the cell that answers each exercise that others call, by name."""
    names = _list_called(declared)
    cells = read_release(solution).cells if solution else ()
    return {name: cell.source for cell in cells for name in cell.exercises if name in names}


def _list_called(declared: Mapping[str, Declaration]) -> set[str]:
    return {name for exercise in declared.values() for name in exercise.uses}
