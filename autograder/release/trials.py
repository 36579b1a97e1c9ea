"""Tries what is about to be released: the solution has to pass every check, and no declared wrong answer may.

The solution runs in a process of its own, as a student's would; wrong answers run in the sandbox, on the cases that
students see, and each has to hear the name that it must.
"""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import nbformat
from nbformat import NotebookNode

import coursekit
from autograder.course.labs import grade_id, is_test, make_writing_cell
from autograder.course.settings import CourseError
from autograder.declare.declaration import Declaration
from autograder.grade.submission_run import DEMONSTRATION_TAG, read_attempt
from autograder.sandbox import Sandbox, Session, SessionLost
from coursekit.check.judge import Attempt, Expectation, Judgement, judge, problem, read
from coursekit.terminal import RAISED

PATIENCE = 900  # seconds; labs that train a model take about a minute


def find_failed_checks(
    lab: str, solution: NotebookNode, references: Mapping[str, bytes], files: Mapping[str, bytes]
) -> list[str]:
    """Run a solution against reference files that are not written yet; return what it fails, one sentence each.

    The notebook runs with the instructor's rights: it is her own.

    Args:
        lab: the lab's name.
        solution: the instructor's notebook.
        references: the lab's reference files by name, as they would be released.
        files: what lies beside the notebook, by path.
    """
    with tempfile.TemporaryDirectory(prefix="course-proof-") as name:
        root = Path(name)
        package = Path(coursekit.__file__).parent
        shutil.copytree(package, root / package.name, ignore=shutil.ignore_patterns("__pycache__"))
        for file, content in references.items():
            (root / package.name / "reference" / file).write_bytes(content)
        for file, content in files.items():
            (root / file).parent.mkdir(parents=True, exist_ok=True)
            (root / file).write_bytes(content)
        notebook = root / f"{lab}.ipynb"
        notebook.write_text(nbformat.writes(solution), encoding="utf-8")
        command = [sys.executable, "-m", package.name, "check", "--raised", notebook.name]
        try:
            done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=PATIENCE, check=False)
        except subprocess.TimeoutExpired:
            return [f"solutions/{lab}: the solution's checks do not end within {PATIENCE} seconds"]
    if done.returncode == 0:
        return []
    failed = _failures(done.stdout.splitlines())
    said = failed or done.stderr.strip().splitlines()[-1:]
    return [f"solutions/{lab}: the solution fails its own checks: {line}" for line in said]


def _failures(lines: list[str]) -> list[str]:
    """What a report says of the cells that raised, and of each exercise that fails: the first thing that is wrong."""
    failures = [line.removeprefix(RAISED) for line in lines if line.startswith(RAISED)]
    for number, line in enumerate(lines):
        if line.startswith("✗ "):
            wrong = next((n for n in range(number + 1, len(lines)) if lines[n].startswith("    ✗ ")), None)
            following = lines[wrong : wrong + 2] if wrong else []
            detail = [line for n, line in enumerate(following) if n == 0 or line.startswith(" " * 8)]
            failures.append(": ".join([line.removeprefix("✗ "), *(line.strip(" ✗") for line in detail)]))
    return failures


def find_too_good(
    lab: str,
    exercise: Declaration,
    solution: NotebookNode,
    cases: Sequence[Expectation],
    sandbox: Sandbox,
    files: Mapping[str, bytes],
) -> list[str]:
    """Return a sentence for each wrong answer that passes, is no code, or is told another mistake than it must be.

    Args:
        lab: name of the lab.
        exercise: the exercise, with its wrong answers.
        solution: the instructor's notebook.
        cases: the exercise's cases.
        sandbox: where the answers run.
        files: what lies beside the notebook, by path.
    """
    before, own = cells_of(solution, exercise.name)
    trial = Trial(lab, exercise, [make_writing_cell(files), *before], own, sandbox)
    found = []
    for number, answer in enumerate(exercise.wrong_answers, start=1):
        which = f"{exercise.at()}{lab}, {exercise.name}: wrong answer {number}"
        try:
            ast.parse(answer.source)
        except SyntaxError as error:
            found.append(f"{which} is not Python ({error})")
            continue
        if answer.names and answer.names not in exercise.spec.sentences:
            known = ", ".join(exercise.spec.sentences) or "none"
            found.append(
                f"{which} is to be named {answer.names}, which is no mistake of the exercise; these are {known}"
            )
        elif answer.names:
            if said := _find_other_name(answer.names, trial, answer.source, cases):
                found.append(f"{which} {said}")
        elif trial.find_problem(answer.source, cases) is None:
            found.append(f"{which} passes all {len(cases)} cases: add a case in which it fails")
    trial.end()
    return found


def _find_other_name(wanted: str, trial: Trial, source: str, cases: Sequence[Expectation]) -> str:
    """Return what was named in place of the right mistake; nothing if the right one was named."""
    try:
        judgement = trial.judge(source, cases)
    except Stopped as stopped:
        return f"stops before a case can tell that it is {wanted}: {stopped}"
    if judgement.passed:
        return f"passes all cases, and is to be named {wanted}: add a case in which it fails"
    if judgement.misconceptions == (wanted,):
        return ""
    failed = ", ".join(group.spec.name for group in judgement.groups if not group.passed)
    named = " and ".join(judgement.misconceptions) or "no mistake is named"
    return (
        f"fails {failed}, and is to be named {wanted}: {named}. Compare what the mistake's edit changes (course author "
        "mistake) with what the answer does"
    )


def cells_of(solution: NotebookNode, name: str) -> tuple[list[str], str]:
    """The sources of the code cells before an exercise's own, and its own."""
    before: list[str] = []
    for cell in solution.cells:
        if cell.cell_type != "code" or is_test(cell) or DEMONSTRATION_TAG in cell.metadata.get("tags", ()):
            continue
        if grade_id(cell) == f"{name}-code":
            return before, cell.source
        before.append(cell.source)
    raise CourseError(f"the solution has no cell {name}-code")


class Stopped(Exception):
    """A tried cell raised, or ended its process; the text says with what."""


class Trial:
    """A process in which the cells before an exercise have run; if an answer ends it, a new one takes its place."""

    def __init__(self, lab: str, exercise: Declaration, before: Sequence[str], own: str, sandbox: Sandbox):
        self._lab = lab
        self._exercise = exercise
        self._before = [*before, own]  # of the right one, names are left that another answer may lose
        self._sandbox = sandbox
        self._session: Session | None = None

    def find_problem(self, source: str, cases: Iterable[Expectation]) -> str | None:
        """Return what is wrong first with the object that `source` defines; None if it passes all cases."""
        try:
            return next((wrong for _, wrong in self._find_problems(source, cases) if wrong is not None), None)
        except Stopped as stopped:
            return str(stopped)

    def find_passed(self, source: str, cases: Iterable[Expectation]) -> list[Expectation]:
        """Return the cases in which the object that `source` defines is right; none after one that ends the process."""
        passed: list[Expectation] = []
        with suppress(Stopped):
            passed += (case for case, wrong in self._find_problems(source, cases) if wrong is None)
        return passed

    def judge(self, source: str, cases: Sequence[Expectation]) -> Judgement:
        """Return what a check says about the object that `source` defines.

        Raises:
            Stopped: the check can say nothing.
        """
        return judge(self._exercise.spec, cases, [attempt for _, attempt in self._try(source, cases)])

    def end(self) -> None:
        """Let the process go."""
        if self._session is not None:
            self._session = None
            self._context.__exit__(None, None, None)

    def _find_problems(self, source: str, cases: Iterable[Expectation]) -> Iterator[tuple[Expectation, str | None]]:
        spec = self._exercise.spec
        for case, attempt in self._try(source, cases):
            yield case, problem(spec, case, attempt)

    def _try(self, source: str, cases: Iterable[Expectation]) -> Iterator[tuple[Expectation, Attempt]]:
        """Run a cell, then yield each case with what came of it. Raises Stopped."""
        spec, seconds = self._exercise.spec, self._exercise.cpu_seconds
        try:
            session = self._open()
            if error := session.run_cell(source, cpu_seconds=seconds).error:
                raise Stopped(f"{error.type}: {error.message}")
            for case in cases:
                reply = session.probe(
                    self._lab, spec.name, case.inputs, mode=case.mode, forbidden=spec.forbidden, probe=spec.probe,
                    cpu_seconds=seconds,
                )  # fmt: skip
                yield case, read(self._lab, spec.name, case.inputs, case.mode, read_attempt(reply))
        except SessionLost as lost:
            self.end()
            raise Stopped(lost.message) from lost

    def _open(self) -> Session:
        if self._session is not None and self._session.is_exhausted():
            self.end()
        if self._session is None:
            self._context = self._sandbox.session()
            session = self._context.__enter__()
            for source in self._before:
                session.run_cell(source)
            self._session = session
        return self._session
