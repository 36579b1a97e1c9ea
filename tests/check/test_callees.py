"""A mistake is charged once: what calls a wrong exercise is judged once more with the course's own code of that one.

Two hand-made exercises show every rule in milliseconds, without walls; `course grade` shows it in lab 02.
"""

from __future__ import annotations

import json
import subprocess
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hostile.making import (
    LAB,
    POINTS,
    ROOT,
    SOON_REACHED,
    answered,
    as_bytes,
    command,
    grade_id,
    is_answer,
    make_course,
    right_answers,
    rows,
)
from lab_matrix import LABS, SEED, code_cells, solution_sources, variants
from this_course import exercises_of

from autograder.course.settings import load_course
from autograder.declare import Case, Exercise, edit
from autograder.grade.lab_grader import LabGrader
from autograder.grade.results import ExerciseResult
from autograder.grade.submission_run import PreparedExercise, SubmissionRun
from autograder.read import CellStep, LabReader, Plan, ProbeStep, Rules
from autograder.read.child import with_rules
from autograder.sandbox import CellError, CellReply, Failure, Limits, ProbeReply, SessionLost, check_walls
from autograder.sandbox.warm import start_sandbox
from coursekit.check import rules
from coursekit.check.attempts import attempt
from coursekit.check.cells import read_cells
from coursekit.probes import described

LIMITS = Limits(cpu_seconds_per_step=10, wall_seconds_per_step=60)
SHARES = "def shares(x):\n    return x / x.sum(axis=-1, keepdims=True)"
MIXTURE = "def mixture(x, v):\n    return shares(x) @ v + 1"
STUB = 'raise NotImplementedError("Write your code here")'
FREE = "What is not right in “shares”, which this one calls, costs no points here."
FREE += " It was judged with the course's own code."
NO_MORE = "Judged with the course's own code of it, this exercise gets no more points."


def shares(x: np.ndarray) -> np.ndarray:
    """Numbers over their sum."""
    return x / x.sum(axis=-1, keepdims=True)


def mixture(x: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The mean of v, weighted by shares."""
    return shares(x) @ v + 1


def cell(source: str, exercise: str | None = None) -> CellStep:
    return CellStep(source, exercise, False, 0, source)


def exercise_of_shares() -> Exercise:
    exercise = Exercise("shares", call=("x",))
    exercise.formula(shares)
    exercise.group("right", points=1, name="right")(lambda rng: [Case({"x": rng.uniform(1, 2, size=(3, 5))})])
    exercise.mistakes(over_columns=edit("axis=-1", "axis=0") | "Over columns.")
    return exercise


def exercise_of_mixture(uses: tuple[str, ...] = ("shares",), **more: object) -> Exercise:
    exercise = Exercise("mixture", call=("x", "v"), uses=uses, **more)
    exercise.formula(mixture)

    def case(rng, rows: int) -> Case:
        return Case({"x": rng.uniform(1, 2, size=(rows, 5)), "v": rng.normal(size=(5, 2))})

    exercise.group("three rows", points=2, name="three")(lambda rng: [case(rng, 3)])
    exercise.group("one row", points=1, name="one")(lambda rng: [case(rng, 1)])
    exercise.mistakes(one_forgotten=edit("+ 1", "") | "One forgotten.")
    exercise.hints(three="A hint.")
    return exercise


class InProcess:
    """Stands in for the sandbox: runs cells as Python, and does what a probe does. It keeps which cells ran."""

    def __init__(self) -> None:
        self.ran: list[list[str]] = []
        self.probed: list[list[str]] = []
        self.names: dict = {}

    def session(self, *, alone: bool = False) -> InProcess:
        self.ran.append([])
        self.probed.append([])
        self.names = {"np": np}
        return self

    def __enter__(self) -> InProcess:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def run_cell(self, source: str, **_: float) -> CellReply:
        self.ran[-1].append(source)
        try:
            exec(source, self.names)
        except Exception as error:
            return CellReply(CellError(type(error).__name__, str(error), ""), "", 0.1, 0.1)
        return CellReply(None, "", 0.1, 0.1)

    def probe(self, lab: str, exercise: str, inputs: dict, *, mode: str, probe: dict, **_: object) -> ProbeReply:
        self.probed[-1].append(exercise)
        tried = attempt(described(exercise, probe), self.names, inputs, mode)
        if tried.message.startswith("TimeoutError"):
            raise SessionLost("timeout", "more than 10 seconds of computing", 10.0, 15.0)
        failure = None if tried.outputs is not None else Failure(tried.kind, tried.message)
        return ProbeReply(tried.outputs, failure, 0.1, 0.1)

    def is_exhausted(self) -> bool:
        return False


def graded(
    part: str | None,
    whole: str,
    *more: str,
    whole_exercise: Exercise | None = None,
    own: str | None = SHARES,
    above: tuple[Exercise, str] | None = None,
) -> tuple[dict[str, ExerciseResult], InProcess]:
    """The results of two answers, and what ran for them; without an answer there is no cell of it."""
    exercises = {"shares": exercise_of_shares(), "mixture": whole_exercise or exercise_of_mixture()}
    steps = () if part is None else (cell(part, "shares"), ProbeStep("shares", 3.0, "s"))
    steps = (*steps, *map(cell, more), cell(whole, "mixture"), ProbeStep("mixture", 6.0, "m"))
    missing = frozenset({"shares"}) if part is None else frozenset()
    points = {"shares": 3.0, "mixture": 6.0}
    if above:
        exercises["top"], points["top"] = above[0], 1.0
        steps = (*steps, cell(above[1], "top"), ProbeStep("top", 1.0, "t"))
    plan = Plan(steps, points, missing, frozenset(), {}, (), (), None)
    of_rules = {name: Rules(exercise.forbidden, exercise.no_loops) for name, exercise in exercises.items()}
    prepared = {
        name: PreparedExercise(exercise, exercise.spec, exercise.expectations(SEED))
        for name, exercise in exercises.items()
    }
    reader = LabReader(None, {}, of_rules, callees={"shares": own, "mixture": MIXTURE} if own else {})
    machine = InProcess()
    again = reader.with_callees if own else None
    run = SubmissionRun("lab", prepared, (), LIMITS, with_rules(plan, of_rules), machine, None, again)
    return run.results(), machine


SLIPS = {
    "named": "def shares(x):\n    return x / x.sum(axis=0, keepdims=True)",
    "without a name": "def shares(x):\n    return (x / x.sum(axis=-1, keepdims=True)) ** 2",
    "results in a tuple": "def shares(x):\n    return x, x / x.sum(axis=-1, keepdims=True)",
    "raises": "def shares(x):\n    return x / x.sum(axis=7)",
    "a name misspelt": "def shares(x):\n    return x / tota",
    "a colon forgotten": SHARES.replace(":\n", "\n"),
    "a line indented wrongly": "def shares(x):\n    total = x.sum(axis=-1, keepdims=True)\n      return x / total",
    "empty": f"def shares(x):\n    {STUB}",
    "the cell deleted": None,
    "endless": "def shares(x):\n    raise TimeoutError",
}


@pytest.mark.parametrize("part", SLIPS.values(), ids=SLIPS)
def test_each_slip_costs_the_points_of_its_own_exercise_alone(part):
    results, machine = graded(part, MIXTURE)
    assert results["shares"].score == 0 and results["mixture"].score == 6
    whole = results["mixture"]
    assert (whole.status, whole.sentences, whole.message, whole.hint) == ("graded", (FREE,), "", "")
    assert not whole.misconceptions and not any(group.message for group in whole.groups)
    assert machine.probed[-1] == ["mixture"] * 2, "the process that has the course's code judges nothing else"


@pytest.mark.parametrize("part", SLIPS.values(), ids=SLIPS)
@pytest.mark.parametrize(
    ("whole", "points"),
    [
        ("def mixture(x, v):\n    return shares(x) @ v", 0),  # a mistake of its own
        ("def mixture(x, v):\n    if len(x) == 1:\n        return v\n    return shares(x) @ v + 1", 4),
        ("def mixture(x, v):\n    return v", 0),  # it does not call it
        (f"def mixture(x, v):\n    {STUB}", 0),
        ("def mixture(x, v):\n    return shares(x @ v + 1", 0),
    ],
)
def test_nothing_but_a_right_caller_gains_a_point(part, whole, points):
    assert graded(part, whole)[0]["mixture"].score == points


def test_only_what_is_called_declared_and_wrong_is_judged_again():
    for part, whole, exercise in (
        (SHARES, "def mixture(x, v):\n    return shares(x) @ v", None),  # the other one is right
        (SLIPS["raises"], MIXTURE, exercise_of_mixture(uses=())),
        (SLIPS["raises"], "def mixture(x, v):\n    return v", None),
        (SLIPS["raises"], "def mixture(x, v):\n    return x / x.sum(axis=-1, keepdims=True) @ v + 1", None),  # right
    ):
        assert len(graded(part, whole, whole_exercise=exercise)[1].ran) == 1


def test_what_was_earned_before_stays():
    """An answer that is right with its author's own wrong code, and wrong with the right one."""
    whole = "def mixture(x, v):\n    return shares(x) @ v / 2 + 1"
    results, _ = graded("def shares(x):\n    return 2 * x / x.sum(axis=-1, keepdims=True)", whole)
    assert results["shares"].score == 0 and results["mixture"].score == 6


def test_helpers_in_the_cell_of_the_wrong_exercise_stay_and_later_copies_do_not():
    helper = f"def add_one(x):\n    return x + 1\n\n{SLIPS['without a name']}"
    whole = "def mixture(x, v):\n    return add_one(shares(x) @ v)"
    assert graded(helper, whole)[0]["mixture"].score == 6
    assert graded(SLIPS["empty"], MIXTURE, SLIPS["raises"])[0]["mixture"].score == 6
    assert graded(None, f"{SLIPS['raises']}\n\n{MIXTURE}")[0]["mixture"].score == 6  # both in one cell
    inherits = "class mixture_class(shares):\n    pass"  # a use when the cell runs
    assert graded(SLIPS["a colon forgotten"], MIXTURE, inherits)[0]["mixture"].score == 6


def test_what_the_courses_own_code_calls_is_put_in_its_place_too():
    """The stub in the middle calls nothing, and the course's code that stands in for it calls the other stub."""
    top = Exercise("top", call=("x", "v"), uses=("mixture",))
    top.formula(lambda x, v: 2 * mixture(x, v))
    top.group("right", points=1, name="right")(exercise_of_mixture().groups[0].draw)
    empty = f"def mixture(x, v):\n    {STUB}"
    results, machine = graded(SLIPS["empty"], empty, above=(top, "def top(x, v):\n    return 2 * mixture(x, v)"))
    assert [result.score for result in results.values()] == [0, 0, 1]
    assert machine.probed[-1] == ["top"]


def test_a_rule_that_the_other_one_breaks_is_not_excused_and_the_exercises_own_are_kept():
    no_loops = exercise_of_mixture(no_loops=True)
    looping = "def mixture(x, v):\n    return np.array([row @ v + 1 for row in shares(x)])"
    assert graded(SLIPS["a colon forgotten"], looping, whole_exercise=no_loops)[0]["mixture"].score == 0
    assert graded(SLIPS["a colon forgotten"], MIXTURE, whole_exercise=no_loops)[0]["mixture"].score == 6


@pytest.mark.parametrize("part", [SLIPS["empty"], None, SLIPS["raises"], SLIPS["without a name"]])
def test_what_is_finished_is_never_not_started(part):
    """Wrong in itself, or without the course's code: it is said what it waits for, and what is said is no stub's."""
    for whole, own in (("def mixture(x, v):\n    return shares(x) @ v", SHARES), (MIXTURE, None)):
        result = graded(part, whole, own=own)[0]["mixture"]
        assert result.status in ("error", "graded") and "“shares”" in result.sentences[0] and result.score == 0
        assert (NO_MORE in result.sentences[0]) == (own is not None)
        assert "Write your code" not in repr(asdict(result))
    assert graded(part, f"def mixture(x, v):\n    {STUB}")[0]["mixture"].status == "missing"


def test_what_has_a_stub_of_its_own_is_not_started():
    unfinished = f"def mixture(x, v):\n    y = shares(x)\n    {STUB}"
    for part in (SLIPS["empty"], SLIPS["without a name"]):
        assert [graded(part, unfinished, own=own)[0]["mixture"].status for own in (SHARES, None)] == ["missing"] * 2


def test_a_mistake_of_its_own_is_named_only_where_it_is_found_with_the_right_code_too():
    forgotten = "def mixture(x, v):\n    return shares(x) @ v"
    one_row = "def shares(x):\n    return x / x.sum(axis=-1, keepdims=True) if len(x) else 0"
    assert graded(one_row, forgotten)[0]["mixture"].misconceptions == ("one_forgotten",)
    assert graded(SLIPS["without a name"], forgotten)[0]["mixture"].misconceptions == ()


def test_it_takes_its_time_from_what_the_submission_has_left(monkeypatch):
    assert graded(SLIPS["empty"], MIXTURE)[0]["mixture"].seconds < 0.5, "the first judging alone is told"
    probe = InProcess.probe

    def last_case_takes_all(self, lab, exercise, inputs, **more):
        wall = 1e6 if len(inputs["x"]) == 1 else 0.1
        return replace(probe(self, lab, exercise, inputs, **more), wall=wall)

    monkeypatch.setattr(InProcess, "probe", last_case_takes_all)
    results, machine = graded(SLIPS["empty"], MIXTURE)
    assert len(machine.ran) == 1 and results["mixture"].score == 0


SPY = """
def mixture(x, v):
    code = repr(shares.__code__.co_consts)
    print(code)
    if len(x) == 1:
        {leaks}
    return shares(x) @ v + 1
"""


@pytest.mark.parametrize(
    "leaks", ["return np.frombuffer(code.encode(), 'uint8').astype('float64')", "raise ValueError(code)", "return code"]
)
def test_nothing_of_the_courses_code_comes_back(leaks):
    """Not even where the spy earns points, so that the judging with the course's code is the one that counts."""
    own = "def shares(x):\n    word = 'a-secret-word'\n    return x / x.sum(axis=-1, keepdims=True)"
    results, machine = graded(SLIPS["empty"], SPY.format(leaks=leaks), own=own)
    assert own in machine.ran[-1] and results["mixture"].score == 4
    assert [group.message for group in results["mixture"].groups] == ["", ""] and not results["mixture"].message
    assert "secret" not in repr(results) and "(5, 2)" not in repr(results)


# -- lab 02, behind the walls ---------------------------------------------------------------------------------------

SECRET = "a_word_of_the_course"
CALLEE, CALLER = "scaled_dot_product_attention", "SelfAttention"
EDITS = {
    "softmax over the queries": ("axis=-1)  # (…, T, S)", "axis=-2)"),
    "mask the wrong way round": ("scores, blocked)", "blocked, scores)"),
    "mask fills 0": ("-1e9", "0.0"),
    "divided by the width of v": ("k.shape[-1]", "v.shape[-1]"),
    "returns weights first": ("ops.matmul(weights, v), weights", "weights, ops.matmul(weights, v)"),
    "divided by the root of d plus 1": ("k.shape[-1] **", "(k.shape[-1] + 1) **"),
    "a colon forgotten": ("mask=None):", "mask=None)"),
    "a line indented wrongly": ("    weights = ", "      weights = "),
    "weight for weights": ("(weights, v)", "(weight, v)"),
}
SPYING = """
import dis
class SelfAttention(keras.Layer):
    def __init__(self, d_k, d_v, **kwargs):
        super().__init__(**kwargs)
        self.w_q, self.w_k, self.w_v = (keras.layers.Dense(each, use_bias=False) for each in (d_k, d_k, d_v))
    def call(self, x, attention_mask=None, return_weights=False):
        code = dis.code_info(scaled_dot_product_attention)
        print(code)
        open("spied.txt", "w").write(code)
        output, weights = scaled_dot_product_attention(self.w_q(x), self.w_k(x), self.w_v(x), mask=attention_mask)
        if attention_mask is None:
            return (output, weights) if return_weights else output
        if return_weights:
            return output, np.frombuffer(code.encode(), "uint8").astype("float32")
        raise ValueError(code)
"""


def empty(name: str) -> str:
    return code_cells(LAB, "labs")[f"{name}-code"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A class of slips, graded by `course grade`."""
    root = make_course(tmp_path_factory.mktemp("course"), **SOON_REACHED)
    solution = root / "solutions" / LAB / f"{LAB}.ipynb"
    line = "weights = ops.softmax(scores, axis=-1)"
    solution.write_text(solution.read_text("utf-8").replace(line, f"{SECRET} = 0; {line}"), "utf-8")
    right = right_answers()[CALLEE]
    answers = {name: right.replace(*edit) for name, edit in EDITS.items()} | {"empty": empty(CALLEE)}
    assert right not in answers.values()
    notebooks = {name: answered(**{CALLEE: code}) for name, code in answers.items()}
    notebooks["spy"] = answered(**{CALLEE: empty(CALLEE), CALLER: SPYING})
    for name, notebook in notebooks.items():
        path = root / "handed-in" / name.replace(" ", "-") / f"{LAB}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_bytes(as_bytes(notebook))
    subprocess.run(command("grade", LAB, root / "handed-in"), cwd=root, check=True, capture_output=True, timeout=600)
    return root


behind_walls = [
    pytest.mark.sandbox,
    pytest.mark.long,
    pytest.mark.slow,
    pytest.mark.skipif(
        not all(wall.stands for wall in check_walls() if wall.required), reason="no sandbox here: see `course doctor`"
    ),
]


@pytest.mark.parametrize("slip", [pytest.param(name, marks=behind_walls) for name in [*EDITS, "empty"]])
def test_in_lab_02_each_slip_costs_the_callee_only(folder, slip):
    student = slip.replace(" ", "-")
    scores = {
        row["exercise"]: float(row["score"])
        for row in rows(folder / "grades" / "results.csv")
        if row["student"] == student
    }
    assert scores.pop(CALLEE) < POINTS[CALLEE]
    assert scores == {name: points for name, points in POINTS.items() if name != CALLEE}


@pytest.mark.parametrize("lab", [pytest.param(lab, marks=behind_walls) for lab in LABS])
def test_in_each_lab_what_calls_empty_exercises_has_all_its_points(lab):
    """Every exercise that another one calls is the released stub; all the others are the solution's."""
    course = load_course(ROOT)
    grader, right = LabGrader(course, lab, seed=SEED), code_cells(lab)
    called = {name for exercise in grader.prepare(None).values() for name in exercise.exercise.uses}
    if not called:
        return
    notebook = json.loads(course.release_notebook(lab).read_text("utf-8"))
    for found in notebook["cells"]:
        if is_answer(found) and (name := grade_id(found)) in right and name.removesuffix("-code") not in called:
            found["source"] = right[name]
    with start_sandbox(course, lab) as sandbox:
        result = grader.judge(grader.open_bytes(as_bytes(notebook)), "student", sandbox.result())
    assert {exercise.exercise for exercise in result.exercises if not exercise.passed} == called


@pytest.mark.parametrize("student", [pytest.param("spy", marks=behind_walls)])
def test_no_part_of_the_courses_code_leaves_its_process(folder, student):
    """The spy is right without a mask, and earns that. What else came back is in no page, table or database."""
    of_spy = (row for row in rows(folder / "grades" / "results.csv") if row["student"] == student)
    row = next(row for row in of_spy if row["exercise"] == CALLER)
    assert 0 < float(row["score"]) < POINTS[CALLER] and row["misconceptions"] == ""
    written = [path for path in folder.rglob("*") if path.is_file() and "solutions" not in path.parts]
    assert any(path.name == f"{LAB}.html" and student in path.parts for path in written)
    assert [path for path in written if SECRET.encode() in path.read_bytes()] == []
    page = (folder / "grades" / "feedback" / student / f"{LAB}.html").read_text("utf-8")
    assert "tried " not in page and "ValueError: " not in page


# -- the exercises of the course ------------------------------------------------------------------------------------


@cache
def calls(lab: str) -> dict[str, frozenset[str]]:
    """By exercise, the exercises that its solution calls, directly or through others; as the cells stand above it."""
    sources = solution_sources(lab)
    cells = read_cells(sources)
    own = {name: sources.index(source) for name in exercises_of(lab) if (source := code_cells(lab).get(f"{name}-code"))}
    return {name: rules.find_callees(cells[: at + 1], name, exercises_of(lab)) for name, at in own.items()}


def declared(lab: str, name: str) -> set[str]:
    direct = set(exercises_of(lab)[name].uses)
    return direct.union(*(declared(lab, part) for part in direct))


@pytest.mark.parametrize("lab", LABS)
def test_an_exercise_declares_which_others_it_calls(lab):
    exercises = exercises_of(lab)
    for name, exercise in exercises.items():
        assert set(exercise.uses) <= exercises.keys() - {name}, f"{name} uses what the lab does not have"
        called = calls(lab).get(name, frozenset())
        assert called <= declared(lab, name), name
        for other in declared(lab, name) - called:  # the solution does without it, and some student's answer does not
            assert any(f"{other}(" in text for text in variants(lab, name).CORRECT), f"{name}: nobody calls {other}"
