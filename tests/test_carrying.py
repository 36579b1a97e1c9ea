"""A mistake is charged once: exercises that call a wrong one pass with its mistake, and with nothing else.

Two hand-made exercises show every rule in milliseconds; those of the course are tried as their formulas, lab by lab.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from lab_matrix import LABS, PRELUDE, SEED, code_cells, expectations, namespace, solution_sources
from test_submission_run import LIMITS, Machine, cell
from this_course import exercises_of

from autograder.declaring import Case, Exercise, wrong
from autograder.grading.carrying import JudgedAlone, judged_together
from autograder.grading.submission_run import PreparedExercise, SubmissionRun
from autograder.submission import Plan, ProbeStep, Rules
from autograder.submission.lab_reader import with_rules
from coursekit import rules
from coursekit.judge import Attempt, Judgement, judge
from coursekit.lab import Lab, run_cases
from coursekit.reference import load_reference
from coursekit.statements import read_cells

WITHOUT_GRADIENTS = ("gradient", "slopes", "derivative")
CARRIES = "This carries the mistake of exercise “shares”, which costs no points here."
BEHIND = "“shares”, which this one calls, is wrong: mend that first."


def shares(x: np.ndarray) -> np.ndarray:
    """Numbers over their sum; nobody says what those of a row of zeros are."""
    total = x.sum(axis=-1, keepdims=True)
    return np.where(total == 0, np.nan, x / total)


def mixture(x: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The mean of v, weighted by shares."""
    return shares(x) @ v + 1


def exercise_of_shares() -> Exercise:
    exercise = Exercise("shares", call=("x",))
    exercise.formula(shares)
    exercise.group("right", points=1, name="right")(lambda rng: [Case({"x": rng.uniform(1, 2, size=(3, 5))})])
    exercise.mistakes(
        over_columns=wrong("Over columns.", ("x.sum(axis=-1, keepdims=True)", "x.sum(axis=0, keepdims=True)")),
        doubled=wrong("Doubled.", ("x / total", "2 * x / total")),
        no_number=wrong("No number.", ("x / total", "x / total * (0 / np.floor(x - 1.5))")),
    )
    return exercise


def exercise_of_mixture(uses: tuple[str, ...] = ("shares",)) -> Exercise:
    exercise = Exercise("mixture", call=("x", "v"), uses=uses)
    exercise.formula(mixture)

    def case(rng, zeros: bool = False) -> Case:
        x = rng.uniform(1, 2, size=(3, 5))
        x[1] *= not zeros
        return Case({"x": x, "v": rng.normal(size=(5, 2))})

    exercise.group("right", points=2, name="right")(lambda rng: [case(rng)])
    exercise.group("zeros", points=1, name="zeros")(lambda rng: [case(rng, zeros=True)])
    exercise.mistakes(
        one_forgotten=wrong("One forgotten.", ("+ 1", "")),
        halves=wrong("Halves.", ("shares(x) @ v", "2 * shares(x) @ v")),
    )
    exercise.hints("A hint.")
    return exercise


def answer(function: Callable) -> Callable[[Mapping], Attempt]:
    def attempt(inputs: Mapping) -> Attempt:
        try:
            with np.errstate(all="ignore"):
                return Attempt({"output": np.nan_to_num(function(**inputs))})
        except ValueError as error:
            return Attempt(kind="error", message=f"ValueError: {error}")

    return attempt


def tried(exercise: Exercise, function: Callable) -> JudgedAlone:
    cases = exercise.expectations(SEED)
    attempts = [answer(function)(case.inputs) for case in cases]
    return JudgedAlone(exercise, cases, attempts, judge(exercise.spec, cases, attempts))


def together(part: Callable, whole: Callable, uses=("shares",), called=("shares",)):
    found = {"shares": tried(exercise_of_shares(), part), "mixture": tried(exercise_of_mixture(uses), whole)}
    return judged_together(found, {"shares": frozenset(), "mixture": frozenset(called)})["mixture"]


def doubled(x: np.ndarray) -> np.ndarray:
    return 2 * shares(x)


def over_columns(x: np.ndarray) -> np.ndarray:
    return x / x.sum(axis=0, keepdims=True)


def strange(x: np.ndarray) -> np.ndarray:
    return shares(x) ** 2


def right_with(part: Callable) -> Callable:
    return lambda x, v: part(x) @ v + 1


def test_what_calls_a_wrong_exercise_passes_with_its_mistake():
    judgement = together(over_columns, right_with(over_columns))
    assert judgement.passed and judgement.share == 1 and not judgement.misconceptions and not judgement.hints
    assert judgement.sentences(exercise_of_mixture().spec) == (CARRIES,)


@pytest.mark.parametrize(
    ("part", "whole", "is_named"),
    [
        (shares, lambda x, v: shares(x) @ v, "one_forgotten"),  # the other one is right
        (shares, right_with(over_columns), ""),  # a mistake of the other's, which the other does not make
        (doubled, right_with(over_columns), "behind"),  # another one than the other makes
        (over_columns, lambda x, v: over_columns(x) @ v, "behind"),  # its own on top
        (over_columns, lambda x, v: np.zeros((3, 2)), "behind"),
        (strange, right_with(strange), "behind"),  # what has no name is not carried
    ],
)
def test_nothing_else_gains_a_point(part, whole, is_named):
    alone = tried(exercise_of_mixture(), whole).judgement
    judgement = together(part, whole)
    assert judgement.share == alone.share < 1
    if is_named == "behind":
        assert judgement.sentences(exercise_of_mixture().spec) == (BEHIND,)
        assert not judgement.misconceptions and not judgement.hints
    else:
        assert judgement == alone and judgement.misconceptions == ((is_named,) if is_named else ())


def test_the_same_numbers_by_another_mistake_of_its_own_carry_nothing():
    assert tried(exercise_of_mixture(), right_with(doubled)).judgement.misconceptions == ("halves",)
    judgement = together(doubled, right_with(doubled))
    assert judgement.share == 0 and judgement.sentences(exercise_of_mixture().spec) == (BEHIND,)


def test_only_what_is_called_and_declared_is_carried():
    whole = right_with(over_columns)
    alone = tried(exercise_of_mixture(), whole).judgement
    assert together(over_columns, whole, called=()) == alone
    judgement = together(over_columns, whole, uses=())
    assert judgement.share == alone.share and judgement.remark == BEHIND


def test_where_any_number_is_right_nothing_speaks_for_a_mistake():
    """NaN in a row of zeros may be the other's fault or not: that group stays, and the other one passes."""
    exercise = exercise_of_mixture()
    cases = exercise.expectations(SEED)
    with np.errstate(all="ignore"):
        attempts = [Attempt({"output": over_columns(case.inputs["x"]) @ case.inputs["v"] + 1}) for case in cases]
    attempts[1].outputs["output"][1] = np.nan
    found = {
        "shares": tried(exercise_of_shares(), over_columns),
        "mixture": JudgedAlone(exercise, cases, attempts, judge(exercise.spec, cases, attempts)),
    }
    judgement = judged_together(found, {"mixture": frozenset({"shares"})})["mixture"]
    assert [group.passed for group in judgement.groups] == [True, False] and judgement.remark == CARRIES


def test_a_mistake_that_gives_nan_is_carried_by_nan_alone():
    def no_number(x: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            return np.where(x >= 2, 0, shares(x)) * (0 / np.floor(x - 1.5))

    def attempts(part: Callable, cases) -> list[Attempt]:
        with np.errstate(all="ignore"):
            return [Attempt({"output": (part(**case.inputs))}) for case in cases]

    for whole, gained in ((right_with(no_number), True), (right_with(shares), False)):
        part, exercise = exercise_of_shares(), exercise_of_mixture()
        cases, inner = exercise.expectations(SEED)[:1], part.expectations(SEED)
        of_part, of_whole = attempts(no_number, inner), attempts(whole, cases)
        if not gained:
            of_whole[0].outputs["output"][0, 0] = 7
        specs = replace(exercise.spec, groups=exercise.spec.groups[:1])
        found = {
            "shares": JudgedAlone(part, inner, of_part, judge(part.spec, inner, of_part)),
            "mixture": JudgedAlone(exercise, cases, of_whole, judge(specs, cases, of_whole)),
        }
        assert found["shares"].judgement.misconceptions == ("no_number",)
        assert judged_together(found, {"mixture": frozenset({"shares"})})["mixture"].passed == gained


def test_what_raises_because_of_another_exercise_says_so():
    def raises(**_: object) -> np.ndarray:
        raise ValueError("shapes")

    judgement = together(over_columns, raises)
    assert judgement.status == "error" and judgement.share == 0 and judgement.remark == BEHIND
    assert "ValueError: shapes" in judgement.message


def test_a_submission_is_looked_at_as_a_whole_when_all_of_it_was_judged():
    """`called` comes from the student's own code, and points from what is carried."""
    sources = ["def shares(x): ...", "def mixture(x, v): return shares(x) @ v + 1", "def mixture(x, v): return v"]

    def score(whole: str) -> tuple[float, tuple[str, ...]]:
        exercises = {"shares": exercise_of_shares(), "mixture": exercise_of_mixture()}
        steps = (cell(sources[0], "shares"), ProbeStep("shares", 3.0, "s"))
        steps = (*steps, cell(whole, "mixture"), ProbeStep("mixture", 6.0, "m"))
        plan = Plan(steps, {"shares": 3.0, "mixture": 6.0}, frozenset(), frozenset(), {}, (), (), None)
        reading = with_rules(plan, {name: Rules() for name in exercises})
        prepared = {
            name: PreparedExercise(exercise, exercise.spec, exercise.expectations(SEED))
            for name, exercise in exercises.items()
        }
        machine = Machine()
        of = {"shares": over_columns, "mixture": right_with(over_columns)}
        machine.probe = lambda lab, name, inputs, **_: SimpleNamespace(
            outputs=answer(of[name])(inputs).outputs, failure=None, seconds=0.1, wall=0.1
        )
        results = SubmissionRun("lab", prepared, (), LIMITS, reading, machine).results()
        return results["mixture"].score, results["mixture"].sentences

    assert score(sources[1]) == (6.0, (CARRIES,))
    assert score(sources[2])[0] == 0


# -- the exercises of the course ------------------------------------------------------------------------------------


@cache
def calls(lab: str) -> dict[str, frozenset[str]]:
    """By exercise, the exercises that its solution calls, directly or through others; as the cells stand above it."""
    sources = solution_sources(lab)
    cells = read_cells(sources)
    own = {name: sources.index(source) for name in exercises_of(lab) if (source := code_cells(lab).get(f"{name}-code"))}
    return {name: rules.called(cells[: at + 1], name, exercises_of(lab)) for name, at in own.items()}


def declared(lab: str, name: str) -> set[str]:
    direct = set(exercises_of(lab)[name].uses)
    return direct.union(*(declared(lab, part) for part in direct))


@pytest.mark.parametrize("lab", LABS)
def test_an_exercise_declares_which_others_it_calls(lab):
    exercises = exercises_of(lab)
    for name, exercise in exercises.items():
        assert set(exercise.uses) <= exercises.keys() - {name}, f"{name} uses what the lab does not have"
        assert calls(lab).get(name, frozenset()) == declared(lab, name), name


def pairs(lab: str) -> list[tuple[str, str]]:
    """Each exercise with one that it uses, where the mistakes of that one can be carried."""
    exercises = exercises_of(lab)
    return [
        (name, other)
        for name in exercises
        for other in sorted(declared(lab, name))
        if any(exercises[name].formulas_calling([(exercises[other], (id,))]) for id in exercises[other].named_mistakes)
    ]


def as_formula(exercise: Exercise, functions: Mapping, cases) -> list[Attempt]:
    attempts = []
    for case in cases:
        given = Case(dict(case.inputs), mode=case.mode, withheld=case.withheld)
        try:
            results = exercise.run(functions.get(case.mode) or functions[""], given)
        except Exception as error:  # a formula with a mistake may end in any
            attempts.append(Attempt(kind="error", message=str(error)))
            continue
        arrays = {key for key, value in case.expected.items() if isinstance(value, np.ndarray)}
        outputs = {key: np.asarray(value) if key in arrays else value for key, value in results.items()}
        for key in arrays:
            if (free := np.isnan(case.expected[key])).shape == outputs[key].shape:
                outputs[key] = np.where(free, 0, outputs[key])
        attempts.append(Attempt(outputs))
    return attempts


def settled(lab: str, name: str, other: str, id: str, attempts: list[Attempt]) -> tuple[Judgement, Judgement]:
    """The judgement on an exercise alone, and where another one, which it calls, has a mistake."""
    exercise, cases = exercises_of(lab)[name], quick_cases(lab, name)
    wrong_part = SimpleNamespace(is_wrong=True, misconceptions=(id,))
    alone = judge(exercise.spec, cases, attempts)
    parts = {part: SimpleNamespace(is_wrong=False) for part in declared(lab, name)} | {other: wrong_part}
    found = {part: JudgedAlone(exercises_of(lab)[part], (), (), judgement) for part, judgement in parts.items()}
    found[name] = JudgedAlone(exercise, cases, attempts, alone)
    return alone, judged_together(found, {name: frozenset({other})})[name]


def quick_cases(lab: str, name: str) -> list:
    return [case for case in expectations(lab, name) if case.mode not in WITHOUT_GRADIENTS]


def filled(case, made: Callable | None) -> Attempt:
    """Every array of the right results as zeros, ones, or the first input."""
    return Attempt(
        {
            key: value if not isinstance(value, np.ndarray) else made(value) if made else _input(case)
            for key, value in case.expected.items()
        }
    )


@pytest.mark.parametrize(
    "lab",
    [
        pytest.param(lab, marks=() if lab in ("02_self_attention", "05_positional_encoding") else pytest.mark.long)
        for lab in LABS
    ],
)
def test_a_mistake_of_the_course_is_carried_unless_it_has_another_name(lab):
    """No answer passes by results that another of its own mistakes gives, nor by zeros, ones or its input."""
    for name, other in pairs(lab):
        exercise, part = exercises_of(lab)[name], exercises_of(lab)[other]
        cases = quick_cases(lab, name)
        for id, mistake in part.named_mistakes.items():
            functions = exercise.formulas_calling([(part, (id,))])
            if functions is None:
                continue
            attempts = as_formula(exercise, functions, cases)
            alone, judgement = settled(lab, name, other, id, attempts)
            own = [exercise.named_mistakes[own_id] for own_id in alone.misconceptions]
            if not all((named.edits, named.instead) == (mistake.edits, mistake.instead) for named in own):
                assert judgement.share == alone.share, f"{name}: {alone.misconceptions} passes as {id} of {other}"
            elif all(attempt.outputs for attempt in attempts) and not any(case.property for case in cases):
                assert judgement.passed, f"{name} does not carry {id} of {other}"
            for made in (np.zeros_like, np.ones_like, None):
                alone, judgement = settled(lab, name, other, id, [filled(case, made) for case in cases])
                assert judgement.share == alone.share, f"{name}: {made} passes as {id} of {other}"


def _input(case) -> np.ndarray:
    return next(value for value in case.inputs.values() if isinstance(value, np.ndarray))


WIDTH_OF_V = """
def scaled_dot_product_attention(q, k, v, mask=None):
    q, k, v = (ops.convert_to_tensor(each) for each in (q, k, v))
    scores = ops.matmul(q, ops.swapaxes(k, -1, -2)) / ops.sqrt(ops.cast(v.shape[-1], q.dtype))
    if mask is not None:
        scores = ops.where(ops.cast(mask, "bool"), scores, ops.cast(-1e9, scores.dtype))
    weights = ops.softmax(scores)
    return ops.matmul(weights, v), weights
"""


def test_one_wrong_character_in_lab_02_costs_the_points_of_one_exercise():
    """The width of v where that of k is meant: 7 of 8 points there, and 5 of 6 more in the layer that calls it."""
    lab, names = "02_self_attention", ("scaled_dot_product_attention", "SelfAttention")
    own = code_cells(lab)[f"{names[0]}-code"]
    sources = [WIDTH_OF_V if source == own else source for source in solution_sources(lab)]
    cells = read_cells([PRELUDE, *sources])
    objects = namespace(sources)
    found = {}
    for name in names:
        exercise, cases = exercises_of(lab)[name], expectations(lab, name)
        attempts = run_cases(lab, name, cases, objects, exercise.probe)
        found[name] = JudgedAlone(exercise, cases, attempts, judge(exercise.spec, cases, attempts))
    called = {name: rules.called(cells, name, exercises_of(lab)) for name in names}
    after = judged_together(found, called)
    points = load_reference(lab).points
    assert [round(points[name] * found[name].judgement.share, 2) for name in names] == [1, 1]
    assert [round(points[name] * after[name].share, 2) for name in names] == [1, 6]
    assert after[names[0]] is found[names[0]].judgement
    check = Lab(load_reference(lab)).report("SelfAttention", objects)
    assert check.sentences == ("“scaled_dot_product_attention”, which this one calls, is wrong: mend that first.",)
    assert not check.hints and not check.sections
    assert check.judgement.share == found[names[1]].judgement.share  # the check knows no formula: it never gives more
