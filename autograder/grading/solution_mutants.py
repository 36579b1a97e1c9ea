"""Measures the cases of an exercise by mutants of the instructor's solution, graded in the sandbox.

Edits of the formula (`autograder.declaring.strength`) tell nothing of layers, graphs and state; edits of the solution
do. Beside the operators on its syntax tree there are `HABITS`: what code can do wrong around a right calculation.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from nbformat import NotebookNode

from autograder.course.cells import grade_id, is_test
from autograder.course.settings import CourseError
from autograder.declaring.declaration import Declaration
from autograder.declaring.exercise import Exercise
from autograder.declaring.mutants import Mutant, in_turns, mutants
from autograder.declaring.strength import FRESH_SEED, fresh_inputs
from autograder.grading.lab_files import writing
from autograder.grading.submission_run import DEMONSTRATION_TAG, attempt_of
from autograder.sandbox import Sandbox, Session, SessionLost
from coursekit.judge import Attempt, Expectation, Judgement, judge, problem
from coursekit.readings import read

MOST_OF_TRAINING = 20  # mutants of an exercise that trains a model
FRESH_INPUTS = 200  # on which a mutant must be right to count as equivalent
MOST_DRAWN = 4 * FRESH_INPUTS  # until there are so many for which the solution is right
DRAWN_AT_ONCE = 25

# What stands around the right function, or around the `call` of the right layer. `right` is it, `own` what is kept.
HABITS = {
    "the first result is given for ever": "own[:] = own or [right(*given, **named)]\n    return own[0]",
    "an optional argument is kept for later calls": "kept.update(named)\n    return right(*given, **kept)",
    "optional arguments are ignored": "return right(*given)",
    "the argument is changed in place": (
        "result = right(*given, **named)\n"
        "    [each.fill(0) for each in given if isinstance(each, np.ndarray)]\n"
        "    return result"
    ),
    "only the first item of a batch is used": (
        "first = lambda each: np.repeat(np.asarray(each)[:1], len(each), 0) if np.ndim(each) > 2 else each\n"
        "    return right(*map(first, given), **named)"
    ),
    "NumPy is used": (
        "as_array = lambda each: each if each is None or isinstance(each, (int, float, str)) or callable(each)"
        " or not hasattr(each, 'shape') or not hasattr(each, 'dtype') or is_layer(each) else np.asarray(each)\n"
        "    return right(*map(as_array, given), **named)"
    ),
}
_AROUND = """
import functools, inspect
import numpy as np
right, own, kept, is_layer = getattr({name}, "call", {name}), [], {{}}, inspect.isclass
@functools.wraps(right)
def around(*given, right=right, own=own, kept=kept, **named):
    {body}
if inspect.isclass({name}):
    {name}.call = around
else:
    {name} = around
"""


@dataclass
class MutantCounts:
    """The mutants of one solution, by what became of them.

    Attributes:
        exercise: its name.
        equivalent: how many give the right results on every fresh input.
        killed: how many fail.
        left: those that pass the cases, though they are wrong on a fresh input; kind and changed lines.
    """

    exercise: str
    equivalent: int = 0
    killed: int = 0
    left: list[str] = field(default_factory=list)

    @property
    def made(self) -> int:
        """How many mutants there were."""
        return self.equivalent + self.killed + len(self.left)


def measured(
    lab: str, exercise: Exercise, solution: NotebookNode, sandbox: Sandbox, *, seed: int, most: int = 60
) -> MutantCounts:
    """Grade mutants of an exercise's solution on its cases, and those that pass on fresh inputs.

    Args:
        lab: name of the lab.
        exercise: the exercise.
        solution: the instructor's notebook.
        sandbox: where the solution runs.
        seed: of the cases.
        most: how many mutants are tried; fewer of an exercise that trains a model.

    Raises:
        CourseError: the solution itself does not run, or does not pass.
    """
    before, own = _cells(solution, exercise.name)
    cases = exercise.expectations(seed)
    trial = _Trial(lab, exercise, before, own, sandbox)
    if (failed := trial.failing(own, cases)) is not None:
        raise CourseError(f"solutions/{lab}: the solution of {exercise.name} does not pass: {failed}")
    trains = exercise.cpu_seconds is not None  # then one more draw has to do
    drawn = iter(exercise.expectations(FRESH_SEED)) if trains else fresh_inputs(exercise)
    fresh = _FreshInputs(trial, own, drawn)
    found = MutantCounts(exercise.name)
    limit = min(most, MOST_OF_TRAINING) if trains else most
    for label, source in islice(_wrong_solutions(own, exercise.name), limit):
        if trial.failing(source, cases) is not None:
            found.killed += 1
        elif any(trial.failing(source, batch) is not None for batch in fresh.batches()):
            found.left.append(label)
        else:
            found.equivalent += 1
    trial.end()
    return found


class _FreshInputs:
    """Inputs that no check uses, and for which the solution is right: for others the text asks for nothing.

    They are drawn as far as they are needed. Most wrong solutions fail on the first ones; only one that looks
    equivalent meets all `FRESH_INPUTS`.
    """

    def __init__(self, trial: _Trial, own: str, drawn: Iterator[Expectation]):
        self._trial = trial
        self._own = own
        self._drawn = islice(drawn, MOST_DRAWN)
        self._batches: list[list[Expectation]] = []

    def batches(self) -> Iterator[list[Expectation]]:
        """All of them, some at a time."""
        yield from self._batches
        wanted = FRESH_INPUTS - sum(map(len, self._batches))
        while wanted and (drawn := list(islice(self._drawn, DRAWN_AT_ONCE))):
            batch = self._trial.passed(self._own, drawn)[:wanted]
            wanted -= len(batch)
            self._batches.append(batch)
            yield batch


def too_good(
    lab: str,
    exercise: Declaration,
    solution: NotebookNode,
    cases: Sequence[Expectation],
    sandbox: Sandbox,
    files: Mapping[str, bytes],
) -> list[str]:
    """What is wrong with an exercise's wrong answers, a sentence each: they pass, are no code, or hear another name.

    Args:
        lab: name of the lab.
        exercise: the exercise, with its wrong answers.
        solution: the instructor's notebook.
        cases: the exercise's cases.
        sandbox: where the answers run.
        files: what lies beside the notebook, by path.
    """
    before, own = _cells(solution, exercise.name)
    trial = _Trial(lab, exercise, [writing(files), *before], own, sandbox)
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
    """What was found in the place of the mistake that has to be named; nothing where it was."""
    if isinstance(judgement, str):
        return f"stops before a case can tell that it is {wanted}: {judgement}"
    if judgement.passed:
        return f"passes all cases, and is to be named {wanted}: add a case in which it fails"
    if judgement.misconceptions == (wanted,):
        return ""
    failed = ", ".join(group.spec.name for group in judgement.groups if not group.passed)
    named = " and ".join(judgement.misconceptions) or "no mistake is named"
    return (
        f"fails {failed}, and is to be named {wanted}: {named}. Compare what the mistake's edit changes (course "
        "mistake) with what the answer does"
    )


def _wrong_solutions(source: str, name: str) -> Iterator[tuple[str, str]]:
    """Habits first, then every change of the text, those of different kinds in turns."""
    if any(
        isinstance(statement, ast.FunctionDef | ast.ClassDef) and statement.name == name
        for statement in ast.parse(source).body
    ):
        for habit, body in HABITS.items():
            yield habit, source + _AROUND.format(name=name, body=body)
    for mutant in in_turns(mutants(ast.unparse(ast.parse(source)))):
        yield f"{mutant.kind}: {_changed_lines(source, mutant)}", mutant.text


def _changed_lines(source: str, mutant: Mutant) -> str:
    before = set(ast.unparse(ast.parse(source)).splitlines())
    return " / ".join(line.strip() for line in mutant.text.splitlines() if line not in before) or "a line is left out"


def _cells(solution: NotebookNode, name: str) -> tuple[list[str], str]:
    """The sources of the code cells before an exercise's own, and its own."""
    before: list[str] = []
    for cell in solution.cells:
        if cell.cell_type != "code" or is_test(cell) or DEMONSTRATION_TAG in cell.metadata.get("tags", ()):
            continue
        if grade_id(cell) == f"{name}-code":
            return before, cell.source
        before.append(cell.source)
    raise CourseError(f"the solution has no cell {name}-code")


class _Trial:
    """One process in which the cells before an exercise have run; a new one where a mutant has ended it."""

    def __init__(self, lab: str, exercise: Declaration, before: Sequence[str], own: str, sandbox: Sandbox):
        self._lab = lab
        self._exercise = exercise
        self._before = [*before, own]  # of the right one, names are left that a mutant may lose
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
        """What a check says of the object that `source` defines, or in a sentence why it cannot say anything."""
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
        return read(self._lab, self._exercise.name, case.inputs, case.mode, attempt_of(reply))

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


def summary(found: Mapping[str, MutantCounts]) -> MutantCounts:
    """All exercises of a table added up."""
    total = MutantCounts("all")
    for counts in found.values():
        total.equivalent += counts.equivalent
        total.killed += counts.killed
        total.left += counts.left
    return total
