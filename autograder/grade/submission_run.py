"""Takes one repaired submission through the sandbox, and survives whatever its code does there."""

from __future__ import annotations

import errno
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from autograder.course.labs import make_writing_cell
from autograder.declare.declaration import Declaration
from autograder.grade.results import ExerciseResult, GroupResult
from autograder.read import CellStep, ProbeStep, Reading
from autograder.sandbox import CellError, CellReply, Limits, ProbeReply, Sandbox, Session, SessionLost, WorkerLost
from autograder.sandbox.session import turn
from coursekit.check.comparison import READS
from coursekit.check.judge import (
    STUB,
    Attempt,
    ExerciseSpec,
    Expectation,
    Judgement,
    beside,
    judge,
    not_run,
    read,
    tidy_message,
)

DEMONSTRATION_TAG = "demonstration"  # of cells that only show something; they are not run
MAX_RESTARTS = 3  # of the process, by the cells of one exercise or by the student's own; then they are left out
OWN_BUDGETS = 3  # of the student's own cells together, in budgets of one step
LEAST_SECONDS = 0.1
START_SECONDS = 0.5  # of the submission's clock, for each process that is started for it
MOST_AGAIN = 8  # steps of a submission that are taken again at once, because they ran short of something
PAUSES = (2.0, 4.0, 8.0)  # seconds, in a whole submission, before what ran short twice is taken once more
SHORT = (errno.EAGAIN, errno.ENOMEM, errno.ENFILE, errno.EMFILE, errno.ENOSPC)
SHORTAGES = (
    "MemoryError", "ResourceExhaustedError", "BlockingIOError", "RuntimeError: can't start new",
    *(f"OSError: [Errno {number}]" for number in SHORT),
)  # fmt: skip
Reply = TypeVar("Reply", CellReply, ProbeReply)
WithCallees = Callable[[Sequence[CellStep | ProbeStep], str, Collection[str]], Reading | None]

WORDS_OF_LOSS = {
    "timeout": "The code did not finish in time: {}.",
    "crashed": "The code ended its Python process: {}.",
    "memory": "The code took more than it may: {}.",
    "protocol": "The code disturbed its own test: {}.",
}
LEAST_ROOM = 1 << 20  # bytes, for the results of one case
TIMES_EXPECTED = 24  # what came back may be so many times as large as what is expected: a list takes more than an array
OF_ARRAY = 128  # bytes that an array takes without its numbers


@dataclass
class _Spent:
    """Seconds that the cells and probes of one exercise, or the student's own cells, have used in one process.

    `wall` is by the clock, as `Limits` counts it.
    """

    cpu: float = 0.0
    wall: float = 0.0


@dataclass(frozen=True)
class PreparedExercise:
    """An exercise with its hidden cases and their references. `spec` reveals no reference value."""

    exercise: Declaration
    spec: ExerciseSpec
    cases: list[Expectation]


class SubmissionRun:
    """One submission's way through the sandbox.

    Cells run in the plan's order, and an exercise is probed where its test cell stands. When the process is lost, the
    cell or probe that lost it is left out, a new process is brought to the same point, and the rest goes on: the loss
    costs one exercise. Locked cells are never left out: where one loses the process, the student's cell before it goes.

    When the process is lost by no fault of the submission, nothing is left out and nothing is counted, and from then on
    it runs alone. A second time is one too many: the fault is the machine's, or the grader's, and there is no verdict.

    A step that runs short of memory, processes or threads is taken again in a fresh process before anybody is blamed,
    for what is short may be the machine's share: the first time at once, which `MOST_AGAIN` steps of a submission may,
    and then as long as the submission has one of the `PAUSES` left, so that who always runs short waits for no more
    than these.

    Each exercise, its cells and its cases together, has one budget of CPU time and one by the clock, as `Limits` counts
    them; so has each of the student's own cells that an answer uses. Their other cells have a larger one together. A
    locked cell that runs again because of a student's cell (`%reset`) is charged to that cell. By the clock the whole
    submission, locked cells and starts of processes included, may take what the budgets of the exercises and of these
    other cells add up to.

    Args:
        lab: the lab's name.
        prepared: the exercises by name.
        demonstrations: sources of locked cells that only show something; they are not run.
        limits: what the submission may use.
        reading: the repaired submission, with the rules that its source breaks.
        sandbox: where its code runs.
        files: what lies beside the notebook, by path.
        with_callees: how one exercise is judged with the course's own code of others that it calls; None where the
            course has none.
    """

    def __init__(
        self,
        lab: str,
        prepared: Mapping[str, PreparedExercise],
        demonstrations: Collection[str],
        limits: Limits,
        reading: Reading,
        sandbox: Sandbox,
        files: Mapping[str, bytes] | None = None,
        with_callees: WithCallees | None = None,
    ):
        self.notes: list[str] = []
        self.attempts: dict[str, list[Attempt]] = {}  # what came from the cases; fewer than cases after a loss
        self.judged: dict[str, Judgement] = {}
        self._lab = lab
        self._prepared = prepared
        self._limits = limits
        self._plan = plan = reading.plan
        self._sandbox = sandbox
        self._files = files
        self._with_callees = with_callees
        self._finished: dict[str, ExerciseResult] = {}
        self._left_out = {
            index
            for index, step in enumerate(plan.steps)
            if isinstance(step, CellStep) and step.locked and step.source in demonstrations
        }
        self._broken = reading.broken
        self._called = reading.called
        self._errors: dict[str, CellError] = {}
        self._restarts: Counter[str | int | None] = Counter()
        self._helpers = reading.helpers
        self._brought_back = _find_brought_back(plan.steps)
        self._spent: defaultdict[str | int | None, _Spent] = defaultdict(_Spent)  # by `_budget_key`
        self._was_lost = False
        self._short: set[int] = set()  # steps that ran short of something, and were taken again
        self._pauses = list(PAUSES)  # that are left
        self._pause = 0.0  # before the next pass
        self._wall = 0.0  # of the whole submission
        self._most_wall = sum(limits.wall_seconds(self._budget(name)) for name in (None, *plan.exercises))

    def results(self) -> dict[str, ExerciseResult]:
        """Run what is needed, and return a result for every exercise of the plan.

        Raises:
            SandboxUnavailable: no process can be had any more; nothing is said about the submission then.
            WorkerLost: the process was lost twice by no fault of the submission; nothing is said about it either.
        """
        for name in self._plan.missing:
            self._record_zero(name, "missing", self._plan.reasons.get(name) or "Its cell is not in the notebook.")
        while (last := self._last_waiting_probe()) is not None:
            if self._wall > self._most_wall:
                self._give_up()
                break
            before = self._wall
            time.sleep(self._pause)
            self._pause = 0.0
            try:
                self._pass(last)
            except WorkerLost as lost:
                if self._was_lost:
                    raise WorkerLost(
                        f"the grader lost its process twice, through no fault of its own: {lost}"
                    ) from lost
                self._was_lost = True
                self._wall = before
        for name in self._plan.exercises:
            if self._fails(name) and (wrong := self._wrong_callees(name)):
                self._judge_beside(name, wrong)
        return {name: self._finished[name] for name in self._plan.exercises}

    def _last_waiting_probe(self) -> int | None:
        waiting = [
            index
            for index, step in enumerate(self._plan.steps)
            if isinstance(step, ProbeStep) and step.exercise not in self._finished
        ]
        return max(waiting, default=None)

    def _pass(self, last: int) -> None:
        """Take the steps up to the `last` one in a fresh process, as far as it lives."""
        index = 0
        self._spent.clear()
        with turn(alone=self._was_lost) as alone, self._sandbox.session(alone=alone) as session:
            self._wall += START_SECONDS
            try:
                if self._files:
                    session.run_cell(make_writing_cell(self._files))
                for index in range(last + 1):
                    if self._run_step(session, index):
                        return
            except SessionLost as lost:
                self._wall += lost.wall
                self._record_loss(index, lost)

    def _run_step(self, session: Session, index: int) -> bool:
        """Take one step; return whether the process is used up, so that what follows needs a fresh one."""
        step = self._plan.steps[index]
        if self._wall > self._most_wall:
            return True
        if isinstance(step, ProbeStep):
            if step.exercise in self._finished:
                return False
            return self._probe(session, step.exercise, index) or session.is_exhausted()
        if index in self._left_out:
            return False
        if step.locked:
            return self._run_locked(session, index, step)
        if self._has_used_up(self._budget_key(index)):
            self._leave_out(index, step.exercise, "timeout", "Its cells together took too long.")
            return False
        reply = self._ask(self._budget_key(index), partial(session.run_cell, step.source))
        if _is_short(reply) and self._goes_again(index):
            return True
        if reply.error is not None and step.exercise is not None:
            self._errors[step.exercise] = reply.error
        if session.is_exhausted():
            raise SessionLost("memory", "it left too many processes, or too much memory in use, behind")
        return False

    def _run_locked(self, session: Session, index: int, step: CellStep) -> bool:
        """Run a cell of the lab; return whether the process is used up."""
        run = partial(session.run_cell, step.source)
        by = self._brought_back.get(index)  # the student's cell because of which it runs again
        if by is None:
            left = min(self._limits.wall_seconds_per_step, self._most_wall - self._wall)
            reply = run(wall_seconds=max(left, LEAST_SECONDS))
            self._wall += reply.wall
        elif by in self._left_out:
            return False
        else:
            key = self._budget_key(by)
            if self._has_used_up(key):
                self._restarts[key] = MAX_RESTARTS - 1  # all of them go: without one the next would do the same
                raise SessionLost("timeout", "the cells of the lab that had to run again took too long")
            reply = self._ask(key, run)
        return _is_short(reply) and self._goes_again(index)

    def _probe(self, session: Session, name: str, index: int) -> bool:
        """Try an exercise on all of its cases and judge it, unless it is tried again; return whether it ran short."""
        prepared = self._prepared[name]
        attempts = not_run(prepared.spec, prepared.cases, self._broken[name])
        self.attempts[name] = attempts
        for case in () if attempts else prepared.cases:
            ask = partial(
                session.probe,
                self._lab,
                name,
                case.inputs,
                mode=case.mode,
                forbidden=prepared.spec.forbidden,
                probe=prepared.spec.probe,
            )
            came = read_attempt(self._ask(name, ask))
            attempts.append(keep_expected(read(self._lab, name, case.inputs, case.mode, came), case))
        is_short = any(attempt.kind == "error" and attempt.message.startswith(SHORTAGES) for attempt in attempts)
        if is_short and self._goes_again(index):
            return True
        judgement = judge(prepared.spec, prepared.cases, attempts, self._broken[name])
        error = self._errors.get(name)
        if judgement.status == "missing" and error is not None and STUB not in error.message:
            text = f"The cell stops with {error.type}: {tidy_message(error.message)}"
            judgement = Judgement(name, "error", judgement.groups, (), text)
        self.judged[name] = judgement
        self._finish(judgement, self._spent[name].cpu)
        return is_short

    # -- exercises that call each other --------------------------------------------------------------------------

    def _wrong_callees(self, name: str) -> list[str]:
        """The exercises that are not right, of those that the student's code of one calls and that it is declared to
        use, in the lab's order; and those that the course's own code of these needs."""
        called = self._find_used(name) & self._called.get(name, frozenset())
        needed = called.union(*(self._find_used(other) for other in called if self._fails(other)))
        return [other for other in self._plan.exercises if other in needed and self._fails(other)]

    def _find_used(self, name: str) -> set[str]:
        """The exercises that one is declared to use, and those that these use."""
        used: set[str] = set()
        waiting = [name]
        while waiting:
            more = {*self._prepared[waiting.pop()].exercise.uses} & self._prepared.keys() - used
            used |= more
            waiting += more
        return used

    def _fails(self, name: str) -> bool:
        result = self._finished[name]
        return not result.passed and result.status != "forbidden"

    def _judge_beside(self, name: str, wrong: Sequence[str]) -> None:
        """Judge an exercise where others that it calls are not right: a mistake is charged once.

        Where the exercise gets more points with the course's own code in the place of theirs, these count. Of that code
        nothing may reach the student: of that judgement the page has only which groups pass.
        """
        first, again = self.judged.get(name), self._judge_with_own(wrong, name)
        if again is not None and again.share > (first.share if first else 0.0):
            names = " and ".join(f"“{other}”" for other in wrong)
            end = "costs no points here." if again.passed else "is not what fails here."
            words = (
                f"What is not right in {names}, which this one calls, {end} It was judged with the course's own code."
            )
            told = replace(again.bare, first=words)
        elif first is None or (first.status == "missing" and not self._is_written(name, again)):
            return
        else:
            specs = {other: prepared.spec for other, prepared in self._prepared.items()}
            words = "Judged with the course's own code of it, this exercise gets no more points." if again else ""
            told = beside(first, [self._read_judgement(other) for other in wrong], specs, words)
            if again is None or again.misconceptions != first.misconceptions:  # the other's mistake, perhaps
                told = replace(told, misconceptions=())
        self.judged[name] = told
        self._finish(told, self._finished[name].seconds)

    def _judge_with_own(self, callees: Sequence[str], name: str) -> Judgement | None:
        """Judge one exercise, and nothing else, with the course's own code of others that it calls, in new processes.

        It has a budget of its own, and the submission as a whole has the time that it had before.
        """
        if self._with_callees is None:
            return None
        steps = [step for at, step in enumerate(self._plan.steps) if at not in self._left_out or step.exercise == name]
        reading = self._with_callees(steps, name, callees)
        if reading is None:
            return None
        run = SubmissionRun(self._lab, self._prepared, (), self._limits, reading, self._sandbox, self._files)
        run._pauses, run._most_wall = self._pauses, min(run._most_wall, self._most_wall - self._wall)
        run.results()
        self._wall += run._wall
        return run.judged.get(name)

    def _is_written(self, name: str, again: Judgement | None) -> bool:
        """Whether an exercise of which nothing came back has been written: then the stub of another one was reached."""
        if again is not None:
            return again.status != "missing"
        cells = (step for step in self._plan.steps if isinstance(step, CellStep) and step.exercise == name)
        return not any(STUB in cell.source for cell in cells)

    def _read_judgement(self, name: str) -> Judgement:
        """What was found of an exercise; of one that lost its process, what was said then."""
        lost = self._finished[name]
        status = "missing" if lost.status == "missing" else "error"
        return self.judged.get(name) or Judgement(name, status, (), (), lost.message)

    # -- time ----------------------------------------------------------------------------------------------------

    def _budget_key(self, index: int) -> str | int | None:
        """Whose budget a step is taken from: its exercise's; its own, as a helper; else that of all other own cells."""
        return self._plan.steps[index].exercise or (index if index in self._helpers else None)

    def _budget(self, key: str | int | None) -> float:
        if key is None:
            return OWN_BUDGETS * self._limits.cpu_seconds_per_step
        own = self._prepared[key].exercise.cpu_seconds if isinstance(key, str) else None
        return own or self._limits.cpu_seconds_per_step

    def _has_used_up(self, key: str | int | None) -> bool:
        budget, spent = self._budget(key), self._spent[key]
        return spent.cpu > budget or spent.wall > self._limits.wall_seconds(budget)

    def _ask(self, key: str | int | None, ask: Callable[..., Reply]) -> Reply:
        """Ask the process for one step within what is left of the budget."""
        budget, spent = self._budget(key), self._spent[key]
        wall = min(self._limits.wall_seconds(budget) - spent.wall, self._most_wall - self._wall)
        reply = ask(cpu_seconds=max(budget - spent.cpu, LEAST_SECONDS), wall_seconds=max(wall, LEAST_SECONDS))
        spent.cpu += reply.seconds
        spent.wall += reply.wall
        self._wall += reply.wall
        return reply

    # -- what runs short -----------------------------------------------------------------------------------------

    def _goes_again(self, index: int, *, with_pauses: bool = True) -> bool:
        """Whether a step that ran short of something is taken again; then the next pass waits until it may."""
        if index in self._short or len(self._short) == MOST_AGAIN:
            if not (with_pauses and self._pauses):
                return False
            self._pause = self._pauses.pop(0)
        else:
            self._short.add(index)
        return True

    # -- losses --------------------------------------------------------------------------------------------------

    def _record_loss(self, index: int, lost: SessionLost) -> None:
        """Make one step of the student's responsible for the loss, and go round it from now on.

        A process that ends itself does so again before anybody is blamed: a library that gets no thread from a crowded
        machine aborts as the worst code does. `os._exit` is no such end; it is taken again once.
        """
        if lost.reason == "crashed" and self._goes_again(index, with_pauses=lost.by_signal):
            return
        step = self._plan.steps[index]
        status = "timeout" if lost.reason == "timeout" else "crashed"
        text = WORDS_OF_LOSS[lost.reason].format(lost.message)
        if isinstance(step, CellStep) and step.locked:
            index, step = self._own_cell_before(index, lost)
            text = f"A cell of the lab that comes after it did not run. {text}"
        key = self._budget_key(index)
        seconds = self._spent[key].cpu + lost.seconds
        if isinstance(step, ProbeStep):
            self._record_zero(step.exercise, status, text, seconds)
            return
        self._leave_out(index, step.exercise, status, text, seconds)
        self._restarts[key] += 1
        if self._restarts[key] == MAX_RESTARTS:
            self._left_out |= {
                at
                for at, step in enumerate(self._plan.steps)
                if isinstance(step, CellStep) and not step.locked and self._budget_key(at) == key
            }
            if key is None:
                self.notes.append(
                    f"After {MAX_RESTARTS} such cells, all of your own cells that no answer uses were left out."
                )

    def _own_cell_before(self, index: int, lost: SessionLost) -> tuple[int, CellStep]:
        """The student's last cell that ran before a locked one. Where there is none, nobody can have disturbed it."""
        for before in reversed(range(index)):
            step = self._plan.steps[before]
            if isinstance(step, CellStep) and not step.locked and before not in self._left_out:
                return before, step
        raise WorkerLost(f"a cell of the lab does not run, and none of the student's came before it: {lost.message}")

    def _leave_out(self, index: int, exercise: str | None, status: str, why: str, seconds: float = 0.0) -> None:
        self._left_out.add(index)
        if exercise is None:
            note = f"One of your own cells was left out while grading: {why.rstrip('.')}."
            if note not in self.notes:
                self.notes.append(note)
        elif exercise not in self._finished:
            self._record_zero(exercise, status, why, seconds)

    def _give_up(self) -> None:
        for name in self._plan.exercises:
            if name not in self._finished:
                self._record_zero(name, "timeout", "The notebook as a whole did not finish in time.")

    def _record_zero(self, name: str, status: str, message: str, seconds: float = 0.0) -> None:
        self._finished[name] = ExerciseResult(
            name, 0.0, self._plan.exercises[name], status, message=message, seconds=seconds
        )

    def _finish(self, judgement: Judgement, seconds: float) -> None:
        spec = self._prepared[judgement.exercise].spec
        points = self._plan.exercises[judgement.exercise]
        graded, hints = judgement.status == "graded", judgement.hints
        self._finished[judgement.exercise] = ExerciseResult(
            judgement.exercise,
            points * judgement.share,
            points,
            judgement.status,
            misconceptions=judgement.misconceptions,
            sentences=judgement.sentences(spec),
            groups=tuple(
                GroupResult(
                    group.spec.name,
                    group.spec.title,
                    group.spec.weight,
                    group.passed,
                    explanation,
                )
                for group, explanation in zip(judgement.groups, judgement.explanations, strict=True)
            )
            if graded
            else (),
            message=judgement.message,
            hint=hints[0] if graded and hints else "",
            seconds=seconds,
        )


def _find_brought_back(steps: Sequence[CellStep | ProbeStep]) -> dict[int, int]:
    """By their places, the locked steps that were there before, and the student's cell that made them run again."""
    brought_back: dict[int, int] = {}
    seen: set[str] = set()
    own = 0
    for index, step in enumerate(steps):
        if isinstance(step, CellStep) and not step.locked:
            own = index
        elif isinstance(step, CellStep):
            if step.cell_id in seen:
                brought_back[index] = own
            seen.add(step.cell_id)
    return brought_back


def _is_short(reply: CellReply) -> bool:
    error = reply.error
    return error is not None and f"{error.type}: {error.message}".startswith(SHORTAGES)


def read_attempt(reply: ProbeReply) -> Attempt:
    """What a worker's reply says of one case; its texts are tidied again, for the worker is not trusted."""
    if reply.failure is None:
        return Attempt(reply.outputs)
    return Attempt(kind=reply.failure.kind, message=tidy_message(reply.failure.message))


def keep_expected(attempt: Attempt, case: Expectation) -> Attempt:
    """The attempt with the results that the case expects, and those that its property reads.

    Where these are far larger than what is expected, they are wrong: a sentence that says so is kept in their place.
    """
    if attempt.outputs is None:
        return attempt
    names = {*case.expected, *([READS[case.property]] if case.property else [])}
    outputs = {name: value for name, value in attempt.outputs.items() if name in names}
    room = max(LEAST_ROOM, TIMES_EXPECTED * sum(_measure(value, sys.maxsize) for value in case.expected.values()))
    sizes = {name: _measure(value, room) for name, value in outputs.items()}
    if sum(sizes.values()) <= room:
        return Attempt(outputs)
    largest = max(sizes, key=lambda name: sizes[name])
    value = outputs[largest]
    said = f"has shape {value.shape} and is" if isinstance(value, np.ndarray) else "is"
    return Attempt(kind="contract", message=f"`{largest}` {said} far larger than what is expected.")


def _measure(value: Any, most: int) -> int:
    """The bytes that a result takes in memory; of one that takes more than `most`, at least so many."""
    size, waiting = 0, [value]
    while waiting and size <= most:
        part = waiting.pop()
        size += part.nbytes + OF_ARRAY if isinstance(part, np.ndarray) else sys.getsizeof(part)
        if isinstance(part, list):
            waiting += part
        elif isinstance(part, dict):
            waiting += [*part, *part.values()]
    return size
