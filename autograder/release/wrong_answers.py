"""Tries the wrong answers that an exercise declares: none may pass, and each hears the name that it must.

`course release` runs them in the sandbox, on the cases that students see.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from nbformat import NotebookNode

from autograder.course.labs import grade_id, is_test, make_writing_cell
from autograder.course.settings import CourseError
from autograder.declare.declaration import Declaration
from autograder.grade.submission_run import DEMONSTRATION_TAG, read_attempt
from autograder.sandbox import Sandbox, Session, SessionLost
from coursekit.check.judge import Attempt, Expectation, Judgement, judge, problem
from coursekit.check.readings import read


def too_good(
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
        which = f"{lab}, {exercise.name}: wrong answer {number}"
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
            if said := _other_name(answer.names, trial.judged(answer.source, cases)):
                found.append(f"{which} {said}")
        elif trial.failing(answer.source, cases) is None:
            found.append(f"{which} passes all {len(cases)} cases: add a case in which it fails")
    trial.end()
    return found


def _other_name(wanted: str, judgement: Judgement | str) -> str:
    """Return what was named in place of the right mistake; nothing if the right one was named."""
    if isinstance(judgement, str):
        return f"stops before a case can tell that it is {wanted}: {judgement}"
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


class Trial:
    """A process in which the cells before an exercise have run; if an answer ends it, a new one takes its place."""

    def __init__(self, lab: str, exercise: Declaration, before: Sequence[str], own: str, sandbox: Sandbox):
        self._lab = lab
        self._exercise = exercise
        self._before = [*before, own]  # of the right one, names are left that another answer may lose
        self._sandbox = sandbox
        self._session: Session | None = None

    def failing(self, source: str, cases: Sequence[Expectation]) -> str | None:
        """What is wrong first with the object that `source` defines; None if it passes all cases."""
        try:
            session = self._session or self._opened()
            reply = session.run_cell(source, cpu_seconds=self._exercise.cpu_seconds)
            if reply.error:
                return f"{reply.error.type}: {reply.error.message}"
            found = next(filter(None, (self._problem(session, case) for case in cases)), None)
            if session.is_exhausted():
                self.end()
            return found
        except SessionLost as lost:
            self.end()
            return lost.message

    def judged(self, source: str, cases: Sequence[Expectation]) -> Judgement | str:
        """Return what a check says about the object that `source` defines, or a sentence on why it can say nothing."""
        try:
            session = self._session or self._opened()
            reply = session.run_cell(source, cpu_seconds=self._exercise.cpu_seconds)
            if reply.error:
                return f"{reply.error.type}: {reply.error.message}"
            attempts = [self._attempt(session, case) for case in cases]
            if session.is_exhausted():
                self.end()
        except SessionLost as lost:
            self.end()
            return lost.message
        return judge(self._exercise.spec, cases, attempts)

    def passed(self, source: str, cases: Sequence[Expectation]) -> list[Expectation]:
        """The cases in which the object that `source` defines is right; none after one that ends the process."""
        found: list[Expectation] = []
        try:
            session = self._session or self._opened()
            session.run_cell(source, cpu_seconds=self._exercise.cpu_seconds)
            found += (case for case in cases if self._problem(session, case) is None)
            if session.is_exhausted():
                self.end()
        except SessionLost:
            self.end()
        return found

    def _problem(self, session: Session, case: Expectation) -> str | None:
        return problem(self._exercise.spec, case, self._attempt(session, case))

    def _attempt(self, session: Session, case: Expectation) -> Attempt:
        spec = self._exercise.spec
        reply = session.probe(
            self._lab,
            self._exercise.name,
            case.inputs,
            mode=case.mode,
            forbidden=spec.forbidden,
            probe=spec.probe,
            cpu_seconds=self._exercise.cpu_seconds,
        )
        return read(self._lab, self._exercise.name, case.inputs, case.mode, read_attempt(reply))

    def _opened(self) -> Session:
        self._context = self._sandbox.session()
        session = self._context.__enter__()
        for source in self._before:
            session.run_cell(source)
        self._session = session
        return session

    def end(self) -> None:
        """Let the process go."""
        if self._session is not None:
            self._session = None
            self._context.__exit__(None, None, None)
