"""One submission's way through the sandbox: the order of its steps, who answers for a lost process, and the notes."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest

from autograder.course.labs import make_writing_cell
from autograder.grade import submission_run
from autograder.grade.submission_run import MAX_RESTARTS, MOST_AGAIN, PAUSES, PreparedExercise, SubmissionRun
from autograder.read import CellStep, Plan, ProbeStep, Rules
from autograder.read.child import with_rules
from autograder.sandbox import CellError, CellReply, Failure, Limits, ProbeReply, SessionLost, WorkerLost
from coursekit.check.judge import ExerciseSpec, Expectation, GroupSpec

LIMITS = Limits(cpu_seconds_per_step=10, wall_seconds_per_step=60)
POINTS = {"one": 3.0, "two": 5.0}


@pytest.fixture(autouse=True)
def waited(monkeypatch):
    """The pauses are not waited for; those that a test takes are in the list."""
    seconds: list[float] = []
    monkeypatch.setattr(submission_run, "time", SimpleNamespace(sleep=seconds.append))
    return seconds


class Machine:
    """Stands in for the sandbox: `does` says for each source or exercise what comes of it; all else goes well.

    What is done is written down in `log`, with "new" for each fresh process.
    """

    def __init__(self, **does: object):
        self.does = does
        self.log: list[str] = []
        self.alone: list[bool] = []  # whether a session was to be the only one
        self.used = 0.0

    def session(self, *, alone: bool = False) -> Machine:
        self.log.append("new")
        self.alone.append(alone)
        return self

    def __enter__(self) -> Machine:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def run_cell(self, source: str, **_: float) -> CellReply:
        return self._do(source, CellReply(None, "", 1.0, 2.0))

    def probe(self, lab: str, exercise: str, inputs: object, **_: object) -> ProbeReply:
        return self._do(exercise, ProbeReply({"output": np.ones(2)}, None, 1.0, 2.0))

    def is_exhausted(self) -> bool:
        return bool(self.does.get(f"exhausted_by_{self.log[-1]}"))

    def _do(self, name: str, reply: object) -> object:
        self.log.append(name)
        done = self.does.get(name, reply)
        if isinstance(done, Callable):
            done = done()
        if isinstance(done, Exception):
            raise done
        return done


def once(*outcomes: object) -> Callable[[], object]:
    """Each time the next of the outcomes; after them, all goes well."""
    left = list(outcomes)
    return lambda: left.pop(0) if left else CellReply(None, "", 1.0, 2.0)


def exercise(name: str) -> PreparedExercise:
    spec = ExerciseSpec(name, (GroupSpec("all", "right numbers", 1, hints=("Add.",)),), sentences={})
    case = Expectation("all", "ones", {"x": np.ones(2)}, "call", {"output": np.ones(2)}, {"output": 1e-6})
    return PreparedExercise(SimpleNamespace(cpu_seconds=None, uses=()), spec, [case])


def cell(source: str, exercise: str | None = None, *, locked: bool = False) -> CellStep:
    return CellStep(source, exercise, locked, 0, source)


def probe(name: str) -> ProbeStep:
    return ProbeStep(name, POINTS[name], name)


STEPS = (
    cell("imports", locked=True), cell("own"), cell("answer_one", "one"), probe("one"),
    cell("middle", locked=True), cell("answer_two", "two"), probe("two"),
)  # fmt: skip


def take(machine: Machine, steps: tuple[CellStep | ProbeStep, ...] = STEPS, missing: frozenset[str] = frozenset()):
    """Run the plan; return the run, and for each exercise its status and its score."""
    plan = Plan(steps, POINTS, missing, frozenset(), {}, (), (), None)
    reading = with_rules(plan, {name: Rules() for name in POINTS})
    run = SubmissionRun("lab", {name: exercise(name) for name in POINTS}, {"shown"}, LIMITS, reading, machine)
    return run, {name: (result.status, result.score) for name, result in run.results().items()}


WELL = {"one": ("graded", 3.0), "two": ("graded", 5.0)}


def lost(reason: str = "crashed", seconds: float = 0.0, wall: float = 0.0) -> SessionLost:
    return SessionLost(reason, "the process ended", seconds, wall)


def test_steps_are_taken_in_order_in_one_process():
    machine = Machine()
    run, results = take(machine)
    assert results == WELL and run.notes == []
    assert machine.log == ["new", "imports", "own", "answer_one", "one", "middle", "answer_two", "two"]


def test_files_of_the_lab_are_written_first_in_each_process():
    files, machine = {"table.csv": b"1"}, Machine(answer_one=once(lost()))
    plan = Plan(STEPS, POINTS, frozenset(), frozenset(), {}, (), (), None)
    reading = with_rules(plan, {name: Rules() for name in POINTS})
    prepared = {name: exercise(name) for name in POINTS}
    SubmissionRun("lab", prepared, set(), LIMITS, reading, machine, files).results()
    assert machine.log.count("new") == 2
    assert all(machine.log[at + 1] == make_writing_cell(files) for at, what in enumerate(machine.log) if what == "new")


def test_what_only_shows_something_is_not_run():
    machine = Machine()
    assert take(machine, (cell("shown", locked=True), *STEPS))[1] == WELL
    assert "shown" not in machine.log


def test_nothing_after_the_last_probe_is_run():
    machine = Machine()
    take(machine, (*STEPS, cell("after")))
    assert "after" not in machine.log


def test_a_cell_that_is_missing_earns_nothing():
    steps = tuple(step for step in STEPS if step != probe("one"))
    assert take(Machine(), steps, frozenset({"one"}))[1] == {"one": ("missing", 0.0), "two": WELL["two"]}


def test_an_error_in_the_answer_is_told_where_nothing_is_defined():
    error = CellReply(CellError("NameError", "name 'np' is not defined", ""), "", 1.0, 2.0)
    missing = ProbeReply(None, Failure("missing", "It is not defined."), 1.0, 2.0)
    run, results = take(Machine(answer_one=error, one=missing))
    assert results == {"one": ("error", 0.0), "two": WELL["two"]}
    assert "NameError" in run.results()["one"].message


# Who answers for a lost process --------------------------------------------------------------------------------------


@pytest.mark.parametrize("reason", ["timeout", "crashed", "memory", "protocol"])
@pytest.mark.parametrize("by", ["answer_one", "one"])
def test_an_exercise_that_loses_the_process_loses_its_own_points(by, reason):
    machine = Machine(**{by: lost(reason)})
    status = "timeout" if reason == "timeout" else "crashed"
    assert take(machine)[1] == {"one": (status, 0.0), "two": WELL["two"]}
    assert machine.log.count("new") == 2 + (reason == "crashed")  # an end without a cause is tried once more
    again = since_new(machine)
    assert "one" not in again and again[-1] == "two"
    assert ("answer_one" in again) == (by == "one")  # a probe that failed leaves its cell in place


@pytest.mark.parametrize("by", ["own", "answer_one", "one", "middle"])
def test_a_process_that_ends_once_and_not_again_costs_nothing(by):
    """As when a library gets no thread from a crowded machine."""
    machine = Machine()
    well = ProbeReply({"output": np.ones(2)}, None, 1.0, 2.0) if by in POINTS else CellReply(None, "", 1.0, 2.0)
    left = [lost()]
    machine.does[by] = lambda: left.pop() if left else well
    run, results = take(machine)
    assert results == WELL and run.notes == []


SHORT = {
    "error of a case": ("one", ProbeReply(None, Failure("error", "RuntimeError: can't start new thread"), 1.0, 2.0)),
    "error of an answer": ("answer_one", CellReply(CellError("MemoryError", "", ""), "", 1.0, 2.0)),
    "error of an own cell": ("own", CellReply(CellError("BlockingIOError", "[Errno 11]", ""), "", 1.0, 2.0)),
    "error of the lab": ("imports", CellReply(CellError("OSError", "[Errno 12] Cannot allocate", ""), "", 1.0, 2.0)),
    "end by a signal": ("one", SessionLost("crashed", "the process ended", by_signal=True)),
}


@pytest.mark.parametrize("kind", SHORT)
@pytest.mark.parametrize("times", range(1, len(PAUSES) + 2))
def test_what_runs_short_for_a_while_costs_nothing(kind, times, waited):
    """It is tried again at once, and then after longer and longer pauses."""
    where, reply = SHORT[kind]
    well = ProbeReply({"output": np.ones(2)}, None, 1.0, 2.0) if where in POINTS else CellReply(None, "", 1.0, 2.0)
    left = [reply] * times
    machine = Machine(**{where: lambda: left.pop() if left else well})
    run, results = take(machine)
    assert results == WELL and run.notes == []
    assert machine.log.count("new") == 1 + times
    assert [seconds for seconds in waited if seconds] == list(PAUSES[: times - 1])


def test_who_always_runs_short_is_blamed_and_the_pauses_are_those_of_the_whole_submission(waited):
    ended = SessionLost("crashed", "the process ended", by_signal=True)
    _, results = take(Machine(one=ended, two=ended))
    assert results == {"one": ("crashed", 0.0), "two": ("crashed", 0.0)}
    assert [seconds for seconds in waited if seconds] == list(PAUSES)


def test_a_submission_has_few_passes_for_what_runs_short(waited):
    own = [f"own{number}" for number in range(40)]
    machine = Machine(**dict.fromkeys(own, CellReply(CellError("MemoryError", "", ""), "", 1.0, 2.0)))
    assert take(machine, (*map(cell, own), *STEPS))[1] == WELL
    assert machine.log.count("new") == 1 + MOST_AGAIN + len(PAUSES)


def test_an_error_that_tells_of_no_shortage_is_not_tried_again(waited):
    error = CellReply(CellError("OSError", "[Errno 30] Read-only file system", ""), "", 1.0, 2.0)
    machine = Machine(own=error, answer_one=error)
    assert take(machine)[1] == WELL
    assert machine.log.count("new") == 1 and not any(waited)


def test_an_own_cell_that_loses_the_process_is_left_out():
    run, results = take(Machine(own=lost()))
    assert results == WELL
    assert run.notes == [
        "One of your own cells was left out while grading: The code ended its Python process: the process ended."
    ]


def test_own_cells_that_keep_losing_it_are_left_out_together():
    own = [f"own{number}" for number in range(MAX_RESTARTS + 2)]
    machine = Machine(**dict.fromkeys(own, lost()))
    run, results = take(machine, (*map(cell, own), *STEPS))
    assert results == WELL
    assert machine.log.count("new") == 2 * MAX_RESTARTS + 1
    assert own[-1] not in machine.log
    assert run.notes[-1] == f"After {MAX_RESTARTS} such cells, all of your own cells that no answer uses were left out."


def test_cells_that_lose_it_take_no_helper_of_an_answer_with_them():
    own = [f"own{number}" for number in range(MAX_RESTARTS + 2)]
    machine = Machine(**dict.fromkeys(own, lost()))
    machine.does["answer_one"] = CellReply(None, "", 1.0, 2.0)
    _, results = take(machine, (*map(cell, own[:3]), cell("answer_one = 1"), *map(cell, own[3:]), *STEPS))
    assert results == WELL
    assert "answer_one = 1" in since_new(machine)


def test_a_locked_cell_is_never_left_out_and_the_cell_before_it_answers():
    """The answer to exercise one disturbs a cell of the lab. Its points are given; the cell goes."""
    machine = Machine()
    machine.does["middle"] = lambda: lost() if "answer_one" in since_new(machine) else CellReply(None, "", 1.0, 2.0)
    assert take(machine)[1] == WELL
    assert since_new(machine) == ["imports", "own", "middle", "answer_two", "two"]


def test_one_cell_after_the_other_answers_until_the_locked_cell_runs():
    machine = Machine()
    machine.does["middle"] = lambda: lost() if "own" in since_new(machine) else CellReply(None, "", 1.0, 2.0)
    run, results = take(machine)
    assert results == WELL
    assert since_new(machine) == ["imports", "middle", "answer_two", "two"]
    assert run.notes == [
        "One of your own cells was left out while grading: A cell of the lab that comes after it did not run. "
        "The code ended its Python process: the process ended."
    ]


def since_new(machine: Machine) -> list[str]:
    return machine.log[len(machine.log) - machine.log[::-1].index("new") :]


def test_a_locked_cell_that_fails_before_any_of_the_students_is_the_graders_fault():
    with pytest.raises(WorkerLost, match="none of the student's came before it"):
        take(Machine(imports=lost()))
    assert take(Machine(imports=once(lost())))[1] == WELL


@pytest.mark.parametrize("at", ["imports", "own", "answer_one", "one", "middle", "answer_two", "two"])
def test_a_worker_that_is_lost_costs_nobody_anything(at):
    well = ProbeReply({"output": np.ones(2)}, None, 1.0, 2.0) if at in POINTS else CellReply(None, "", 1.0, 2.0)
    left = [WorkerLost("the warm worker ended")]
    machine = Machine(**{at: lambda: left.pop() if left else well})
    run, results = take(machine)
    assert results == WELL and run.notes == []
    assert machine.alone == [False, True]  # whoever was to blame for the first time, is not there the second


def test_a_worker_that_is_lost_twice_is_the_graders_failure():
    with pytest.raises(WorkerLost, match=r"twice, .*: the warm worker ended"):
        take(Machine(own=WorkerLost("the warm worker ended")))


def test_the_students_own_losses_do_not_use_up_the_graders():
    left = [WorkerLost("the warm worker ended")]
    machine = Machine(own=lost(), answer_one=lambda: left.pop() if left else lost())
    assert take(machine)[1] == {"one": ("crashed", 0.0), "two": WELL["two"]}


# Time ----------------------------------------------------------------------------------------------------------------


def test_cells_of_one_exercise_share_its_budget():
    heavy = CellReply(None, "", 6.0, 6.0)
    steps = (*STEPS[:2], cell("help", "one"), *STEPS[2:4], cell("more", "one"), *STEPS[4:])
    machine = Machine(help=heavy, answer_one=heavy)
    assert take(machine, steps)[1] == WELL  # the third cell comes after the probe
    assert "more" not in machine.log
    steps = (*STEPS[:2], cell("help", "one"), cell("more", "one"), *STEPS[2:])
    assert take(Machine(help=heavy, more=heavy), steps)[1] == {"one": ("timeout", 0.0), "two": WELL["two"]}


def test_a_submission_that_always_loses_its_process_ends():
    """By the clock it may take what its exercises and its own cells together may: a minute each, and three."""
    machine = Machine(own=lost("timeout", wall=160.0), answer_one=lost("timeout", wall=160.0))
    run, results = take(machine)
    assert results == {"one": ("timeout", 0.0), "two": ("timeout", 0.0)}
    assert "as a whole" in run.results()["two"].message


def test_the_start_of_a_process_counts_on_the_clock(monkeypatch):
    """Cells that end it again and again cost more than they compute. What the machine ends is started for nothing."""
    monkeypatch.setattr(submission_run, "START_SECONDS", 100.0)
    own = [f"own{number}" for number in range(MAX_RESTARTS)]
    _, results = take(Machine(**dict.fromkeys(own, lost())), (*map(cell, own), *STEPS))
    assert results == {"one": ("timeout", 0.0), "two": ("timeout", 0.0)}
    left, well = [WorkerLost("the warm worker ended")], ProbeReply({"output": np.ones(2)}, None, 1.0, 2.0)
    machine = Machine(own=once(lost("memory")), two=lambda: left.pop() if left else well)
    assert take(machine)[1] == WELL


def test_time_that_was_lost_with_the_worker_is_not_counted():
    slow = CellReply(None, "", 1.0, 55.0)
    left = [WorkerLost("the warm worker ended")]
    machine = Machine(own=slow, answer_one=slow, answer_two=lambda: left.pop() if left else slow)
    assert take(machine)[1] == WELL


def test_a_process_that_ran_out_of_something_serves_no_further_exercise():
    short = ProbeReply(None, Failure("error", "MemoryError: "), 1.0, 2.0)
    machine = Machine(one=short)
    assert take(machine)[1]["two"] == WELL["two"]
    assert since_new(machine) == ["imports", "own", "answer_one", "middle", "answer_two", "two"]


def test_a_cell_that_leaves_too_much_behind_is_left_out():
    machine = Machine(exhausted_by_own=True)
    run, results = take(machine)
    assert results == WELL and "own" not in since_new(machine)
    assert "too many processes" in run.notes[0]


# The clock of the whole notebook --------------------------------------------------------------------------------------


def waiting(wall: float) -> Callable[[], object]:
    return lambda: CellReply(None, "", 1.0, wall)


def test_cells_of_the_lab_that_run_again_are_charged_to_the_cell_that_asks_for_it():
    """Thirty cells throw away all names; the lab's first cell, which they have made slow, runs after each of them."""
    first = cell("imports", locked=True)
    resets = [step for number in range(30) for step in (cell(f"%reset -f  # {number}"), first)]
    machine = Machine(imports=once(*[CellReply(None, "", 1.0, 2.0)], *[CellReply(None, "", 1.0, 5.0)] * 200))
    run, results = take(machine, (first, *resets, *STEPS[1:]))
    assert results == WELL
    assert machine.log.count("imports") < 45 and machine.log.count("new") == 2
    assert run.notes[-1] == f"After {MAX_RESTARTS} such cells, all of your own cells that no answer uses were left out."


def test_the_clock_counts_the_cells_of_the_lab_and_ends_the_pass():
    slow = [cell(f"slow{number}", locked=True) for number in range(30)]
    machine = Machine(**{step.source: waiting(59.0) for step in slow})
    _, results = take(machine, (*STEPS[:2], *slow, *STEPS[2:]))
    assert results == {"one": ("timeout", 0.0), "two": ("timeout", 0.0)}
    assert sum(name.startswith("slow") for name in machine.log) < 10


def test_what_came_back_is_not_kept_where_it_is_far_larger_than_what_is_expected():
    large = ProbeReply({"output": np.ones(1 << 20), "other": np.ones(1 << 20)}, None, 1.0, 2.0)
    run, found = take(Machine(one=large))
    assert found == {**WELL, "one": ("graded", 0.0)}
    assert run.attempts["one"][0].outputs is None
    assert "far larger than what is expected" in run.results()["one"].groups[0].message
