"""Measures the cases of an exercise by mutants of the instructor's solution, graded in the sandbox.

Edits of the formula (`autograder.author.strength`) tell nothing of layers, graphs and state; edits of the solution
do. Beside the operators on its syntax tree there are `HABITS`: what code can do wrong around a right calculation.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

from nbformat import NotebookNode

from autograder.author.mutants import make_mutants, take_turns
from autograder.author.strength import FRESH_SEED, fresh_inputs
from autograder.course.settings import CourseError
from autograder.declare.exercise import Exercise
from autograder.release.trials import Trial, cells_of
from autograder.sandbox import Sandbox
from coursekit.check.judge import Expectation

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
        equivalent: how many give the right results on every fresh input. These come from the declaration's own draws:
            a number that no draw gives, such as a row of one word, is never among them.
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


def measure(
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
    before, own = cells_of(solution, exercise.name)
    cases = exercise.expectations(seed)
    trial = Trial(lab, exercise, before, own, sandbox)
    if (failed := trial.find_problem(own, cases)) is not None:
        raise CourseError(f"solutions/{lab}: the solution of {exercise.name} does not pass: {failed}")
    trains = exercise.cpu_seconds is not None  # then one more draw has to do
    drawn = iter(exercise.expectations(FRESH_SEED)) if trains else fresh_inputs(exercise)
    fresh = _FreshInputs(trial, own, drawn)
    counts = MutantCounts(exercise.name)
    limit = min(most, MOST_OF_TRAINING) if trains else most
    for label, source in islice(_wrong_solutions(own, exercise.name), limit):
        if trial.find_problem(source, cases) is not None:
            counts.killed += 1
        elif any(trial.find_problem(source, batch) is not None for batch in fresh.batches()):
            counts.left.append(label)
        else:
            counts.equivalent += 1
    trial.end()
    return counts


class _FreshInputs:
    """Inputs that no check uses and for which the solution gives results; for all others the task asks for nothing.

    They are drawn as far as they are needed. Most wrong solutions fail on the first ones; only one that looks
    equivalent meets all `FRESH_INPUTS`.
    """

    def __init__(self, trial: Trial, own: str, drawn: Iterator[Expectation]):
        self._trial = trial
        self._own = own
        self._drawn = islice(drawn, MOST_DRAWN)
        self._batches: list[list[Expectation]] = []

    def batches(self) -> Iterator[list[Expectation]]:
        """All of them, some at a time."""
        yield from self._batches
        wanted = FRESH_INPUTS - sum(map(len, self._batches))
        while wanted and (drawn := list(islice(self._drawn, DRAWN_AT_ONCE))):
            batch = self._trial.find_passed(self._own, drawn)[:wanted]
            wanted -= len(batch)
            self._batches.append(batch)
            yield batch


def _wrong_solutions(source: str, name: str) -> Iterator[tuple[str, str]]:
    """Habits first, then every change of the text, those of different kinds in turns."""
    if any(
        isinstance(statement, ast.FunctionDef | ast.ClassDef) and statement.name == name
        for statement in ast.parse(source).body
    ):
        for habit, body in HABITS.items():
            yield habit, source + _AROUND.format(name=name, body=body)
    for mutant in take_turns(make_mutants(source)):
        yield mutant.label, mutant.text


def summary(counted: Mapping[str, MutantCounts]) -> MutantCounts:
    """All exercises of a table added up."""
    total = MutantCounts("all")
    for counts in counted.values():
        total.equivalent += counts.equivalent
        total.killed += counts.killed
        total.left += counts.left
    return total
