"""Repeats a graded submission, and says of every hidden case what went in, what came, and what was expected."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from autograder.course.settings import Course, CourseError
from autograder.course.text import printable, write_atomically
from autograder.grade.lab_grader import LabGrader, content_hash
from autograder.grade.marks import Mark
from autograder.grade.results import ExerciseResult, check_path_part
from autograder.grade.submission_run import PreparedExercise
from autograder.read import Unreadable, find_submissions
from autograder.read.tree import is_work
from autograder.sandbox import Sandbox
from coursekit.check.comparison import beginning
from coursekit.check.judge import Attempt, Expectation, problem

NOT_REACHED = "no answer: the code ended or stopped its process here, or an earlier step did"
MOST_SHOWN = 800  # characters of one value
MOST_AXES = 5  # of an array that is shown row by row


@dataclass(frozen=True)
class Work:
    """The bytes to repeat. `note` says what they are where they are not the file that was graded."""

    data: bytes
    note: str = ""


@dataclass(frozen=True)
class FailedCase:
    """A case that fails: its number in the exercise from 1, what came back, and what is wrong with it."""

    number: int
    case: Expectation
    attempt: Attempt
    problem: str


@dataclass(frozen=True)
class Explanation:
    """An exercise that ran again: its verdict, the number of its cases, and those that failed."""

    result: ExerciseResult
    cases: int
    failed: tuple[FailedCase, ...]


def find_work(course: Course, lab: str, mark: Mark, path: Path | None, known: Mapping[str, frozenset[str]]) -> Work:
    """Find the work behind a mark: at `path`, or else where grading left it.

    Args:
        course: the course.
        lab: the lab's name.
        mark: what is recorded for the student.
        path: a notebook, folder or archive; None to look in submitted/ and autograded/.
        known: the cells of each lab, by which a notebook is recognised.

    Raises:
        CourseError: nothing is there; the text says what to type.
    """
    if path is not None:
        return _compare(_read_handed_in(lab, mark.student, path, known), mark, str(path))
    check_path_part(mark.student)
    folder = course.submitted / mark.student / lab
    for file in sorted(file for file in folder.iterdir() if is_work(file.name)) if folder.is_dir() else ():
        if content_hash(data := file.read_bytes()) == mark.result.content_hash:
            return Work(data)
    copy = course.autograded / mark.student / lab / f"{lab}.ipynb"
    if mark.result.state != "unreadable" and copy.is_file():
        return Work(copy.read_bytes(), f"this repeats the repaired copy that grading kept, {copy}")
    raise CourseError(
        f"the submission that was graded is neither in {folder} nor in {copy.parent}; name the file, the folder or the "
        f"archive that was handed in: course explain {lab} {mark.student} --from PATH"
    )


def _read_handed_in(lab: str, student: str, path: Path, known: Mapping[str, frozenset[str]]) -> bytes:
    if not path.exists():
        raise CourseError(f"{path} does not exist; name a notebook, a folder or an archive with --from")
    if path.is_file() and is_work(path.name):
        return path.read_bytes()
    submissions = find_submissions([path], lab, known, check_owner=False).submissions  # its hash is compared
    by_student = {submission.student: submission for submission in submissions}
    if student not in by_student:
        raise CourseError(f"{path} holds nothing of {student} for {lab}; name the student's own notebook with --from")
    try:
        return by_student[student].read()
    except Unreadable as error:
        raise CourseError(f"{path}: the work of {student} cannot be read: {error.reason}") from error


def _compare(data: bytes, mark: Mark, name: str) -> Work:
    same = content_hash(data) == mark.result.content_hash
    return Work(data, "" if same else f"{name} is not the file that was graded; its marks may differ")


def explain(grader: LabGrader, work: Work, sandbox: Sandbox) -> dict[str, Explanation]:
    """Run the work again, and compare outside the sandbox what came with what is right; by exercise.

    Raises:
        CourseError: the work cannot be read.
        SandboxUnavailable, WorkerLost, ReaderLost: nothing can be said, by no fault of the submission.
    """
    try:
        reading = grader.read(work.data)
    except Unreadable as error:
        raise CourseError(f"the work cannot be read, so no case can be repeated: {error.reason}") from error
    run = grader.submission_run(reading, sandbox)
    results = run.results()
    prepared = grader.prepare(sandbox)
    return {
        name: Explanation(
            result, len(prepared[name].cases), tuple(_find_lost(prepared[name], run.attempts.get(name, ()), result))
        )
        for name, result in results.items()
    }


def _find_lost(prepared: PreparedExercise, attempts: Sequence[Attempt], result: ExerciseResult) -> Iterator[FailedCase]:
    """The failed cases but those of groups that pass with the course's own code of an exercise that is called."""
    passed = {group.name for group in result.groups if group.passed}
    yield from (failed for failed in _find_failed(prepared, attempts) if failed.case.group not in passed)


def _find_failed(prepared: PreparedExercise, attempts: Sequence[Attempt]) -> Iterator[FailedCase]:
    spec = replace(prepared.spec, reveal=True)  # the instructor may see what is right
    for number, case in enumerate(prepared.cases, 1):
        if number > len(attempts):
            yield FailedCase(number, case, Attempt(), NOT_REACHED)
            return  # those after it had no chance either
        if (wrong := problem(spec, case, attempts[number - 1])) is not None:
            yield FailedCase(number, case, attempts[number - 1], wrong)


def show_value(value: Any) -> str:
    """A value as a person reads it: arrays with type and shape, long ones cut; nothing in it acts on a terminal.

    Of an array of many axes the values are shown in one row: of 16 axes two from each end would be a thousand million.
    """
    if isinstance(value, np.ndarray):
        rows = value if value.ndim <= MOST_AXES else value.ravel()
        values = np.array2string(rows, precision=6, threshold=40, edgeitems=2)
        text = f"{value.dtype} {value.shape}\n{values}"
    else:
        text = beginning(value, MOST_SHOWN)
    text = printable(text)
    return text if len(text) <= MOST_SHOWN else text[: MOST_SHOWN - 1] + "…"


def save_inputs(path: Path, explained: Iterable[Explanation]) -> int:
    """Write the inputs of the failed cases as EXERCISE/NUMBER/NAME into an .npz; return how many arrays there are.

    What is no array of numbers or text is written as its text: loading needs no pickle.
    """
    arrays = {
        f"{explanation.result.exercise}/{failed.number}/{name}": _make_plain_array(value)
        for explanation in explained
        for failed in explanation.failed
        for name, value in failed.case.inputs.items()
    }
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]  # its stub takes the names of arrays for allow_pickle
    write_atomically(path, buffer.getvalue())
    return len(arrays)


def _make_plain_array(value: Any) -> np.ndarray:
    try:
        array = np.asarray(value)
    except ValueError:  # a list of arrays of several shapes
        return np.asarray(repr(value))
    return np.asarray(repr(value)) if array.dtype.hasobject else array
