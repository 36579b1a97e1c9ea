"""Mutants of a formula, and what is said of numbers that no listed mistake explains."""

from __future__ import annotations

import ast
import warnings
from dataclasses import replace

import numpy as np
import pytest

from autograder.declaring import Case, Exercise, wrong
from autograder.declaring.copying import find_the_bug
from autograder.declaring.exercise import VISIBLE_SEED
from autograder.declaring.mutants import in_turns, mutants
from autograder.releasing import reference_export
from coursekit.changes import PHRASES, Change, sketch
from coursekit.generator import Generator
from coursekit.judge import Attempt, judge
from coursekit.reference import _load
from coursekit.relations import relation
from coursekit.report import Report


def centred(x):
    """x minus the mean of its rows."""
    return x - x.mean(axis=-1, keepdims=True)


def normed(x, shift=0.0, mask=None):
    scale = np.sqrt((centred(x) ** 2).sum(axis=-1, keepdims=True))
    shown = centred(x) / scale + shift
    return shown if mask is None else shown * mask


def described() -> Exercise:
    exercise = Exercise("normed", call=("x",), optional=("shift", "mask"))
    exercise.formula(normed)

    @exercise.group("right values", points=1)
    def values(rng: Generator) -> list[Case]:
        return [Case({"x": rng.normal(size=(3, 5)), "shift": 0.5}) for _ in range(2)]

    @exercise.group("a mask", points=1)
    def masked(rng: Generator) -> list[Case]:
        return [Case({"x": rng.normal(size=(3, 5)), "mask": np.array([1.0, 0.0, 1.0, 1.0, 0.0])})]

    squares = "(centred(x) ** 2).sum(axis=-1, keepdims=True)"
    exercise.mistakes(no_root=wrong("The root is missing.", (f"np.sqrt({squares})", squares)))
    return exercise


EXERCISE = described()
CASES = EXERCISE.expectations(VISIBLE_SEED)
SPEC = replace(EXERCISE.spec, changes=EXERCISE.changes.telling(CASES))


def judged(function, spec=SPEC, cases=CASES):
    return judge(spec, cases, [Attempt({"output": function(**case.inputs).astype("float32")}) for case in cases])


@pytest.mark.parametrize(
    ("text", "kind", "changed"),
    [
        ("a - b", "difference", "b - a"),
        ("a * b", "times", "a / b"),
        ("x.sum(axis=-1)", "axis", "x.sum(axis=-2)"),
        ("x.sum(axis=-1)", "function", "x.mean(axis=-1)"),
        ("f(a, b)", "arguments", "f(b, a)"),
        ("np.sqrt(a)", "call", "a"),
        ("a < b", "boundary", "a <= b"),
        ("a if b else c", "condition", "c"),
        ("x[1:]", "part", "x"),
        ("x.shape[-1]", "size", "x.shape[-2]"),
        ("np.einsum('td,sd->ts', a, b)", "transposed", "np.einsum('td,sd->st', a, b)"),
        ("range(n)", "one_off", "range(1, n + 1)"),
        ("[a for a in b if a]", "condition", "[a for a in b]"),
        ("a and b", "either", "a or b"),
        ("a @ b", "factors", "b @ a"),
    ],
)
def test_an_operator_changes_one_thing(text, kind, changed):
    found = {(mutant.kind, mutant.text) for mutant in mutants(f"y = {text}")}
    assert (kind, f"y = {changed}") in found


def test_no_mutant_leaves_the_order_of_ties_to_the_machine():
    found = [mutant.text for mutant in mutants("y = np.argsort(-x, kind='stable')")]
    assert found and all("kind='stable'" in text or "argsort" not in text for text in found)


def test_every_mutant_is_python_once_and_has_a_sentence():
    source = (
        "def f(a, b=2, mask=None):\n    '''f.'''\n    c = a / b\n    c = c + 1\n"
        "    if mask is not None:\n        c *= mask\n    raise ValueError(f'{a - b}')"
    )
    found = mutants(source)
    assert len({mutant.text for mutant in found}) == len(found) > 20
    for mutant in found:
        ast.parse(mutant.text)
        assert mutant.kind in PHRASES and "raise ValueError(f'{a - b}')" in mutant.text
        assert Change(mutant.kind, mutant.detail, mutant.place).sentence.endswith(".")
    texts = {mutant.text for mutant in found}
    assert any("mask = None\n" in text for text in texts), "an optional argument that is not used"
    kinds = [mutant.kind for mutant in in_turns(found) if mutant.kind != "ignored"]
    assert len(set(kinds[: len(set(kinds))])) == len(set(kinds)), "the first of each kind comes first"


def test_a_change_that_nobody_listed_is_said_in_words():
    judgement = judged(lambda x, shift=0.0, mask=None: normed(x, 0.0, mask))
    assert judgement.remark.endswith("`shift` is not used.") and judgement.misconceptions == ()
    assert [group.passed for group in judgement.groups] == [False, True]
    report = Report(SPEC, judgement, 1, {"normed": False})
    assert judgement.remark in str(report) and "<code>shift</code> is not used." in report._repr_html_()
    assert judgement.sentences(SPEC) == (judgement.remark,)

    def over_columns(x, shift=0.0, mask=None):
        mine = centred(x) / np.sqrt((centred(x) ** 2).sum(axis=-2, keepdims=True)) + shift
        return mine if mask is None else mine * mask

    told = judged(over_columns).remark
    assert told.endswith("one change: a sum runs over another axis.") and "scale" not in told, "her code has no `scale`"


def test_a_listed_mistake_comes_first_and_right_numbers_hear_nothing():
    def without_root(x, shift=0.0, mask=None):
        mine = centred(x) / (centred(x) ** 2).sum(axis=-1, keepdims=True) + shift
        return mine if mask is None else mine * mask

    judgement = judged(without_root)
    assert judgement.misconceptions == ("no_root",) and judgement.remark == ""
    assert judged(normed).passed and judged(normed).remark == ""


def test_a_change_has_to_agree_with_every_group():
    def in_one_group_only(x, shift=0.0, mask=None):
        return normed(x, 0.0) if mask is None else 7 + normed(x, shift, mask) ** 3

    assert judged(in_one_group_only).remark == ""


def test_changes_are_few_different_and_clear():
    keys = list(SPEC.changes)
    assert 10 < len(keys) <= 40
    rows = [tuple(str(np.float32(case.changed[key])) for case in CASES) for key in keys]
    assert len(set(rows)) == len(rows)
    (listed,) = [key for key in EXERCISE.changes if "scale = (centred(x) ** 2)" in EXERCISE.changes.lines(key)]
    assert listed not in keys, "what a listed mistake says is not said twice"


def test_finding_the_bug_stays_the_task():
    copy = find_the_bug(EXERCISE)
    copy.oracle = normed
    assert reference_export._changes(copy, copy.expectations(VISIBLE_SEED)) == {}


def test_changes_are_in_the_released_files_without_the_formula(tmp_path):
    files = reference_export.export("01_norm", "Norm", {"normed": 2.0}, {"normed": EXERCISE})
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
        assert b"centred" not in content or name.endswith(".json")
    read = _load("01_norm", tmp_path)
    assert dict(read.specs["normed"].changes) == dict(SPEC.changes)
    function = lambda x, shift=0.0, mask=None: normed(x, 0.0, mask)  # noqa: E731
    assert judged(function, read.specs["normed"], read.expectations["normed"]).remark.endswith("`shift` is not used.")


def test_a_change_whose_results_are_nothing_but_rounding_is_not_kept():
    exercise = Exercise("spread", call=("x",))

    @exercise.formula
    def spread(x):
        return x / np.sqrt((centred(x) ** 2).mean(axis=-1, keepdims=True))

    exercise.group("values", points=1, name="values")(lambda rng: [Case({"x": rng.normal(size=(13, 7))})])
    kept = exercise.changes.telling(exercise.expectations(1))
    noise = [key for key in exercise.changes if "centred(x).mean" in exercise.changes.lines(key)]
    assert noise and kept and not kept.keys() & set(noise)


def test_a_change_with_which_a_whole_result_is_nan_is_not_kept():
    exercise = Exercise("depth", call=("x",))

    @exercise.formula
    def depth(x):
        return np.sqrt(x + 5) * 3

    exercise.group("values", points=1, name="values")(lambda rng: [Case({"x": 1 + 0.9 * rng.random((13, 7))})])
    cases = exercise.expectations(1)
    kept = exercise.changes.telling(cases)
    drawn = Case(dict(cases[0].inputs), mode=cases[0].mode)
    shares = {}
    for key in exercise.changes:
        output = (exercise.changes.results(key, drawn) or {}).get("output")
        if isinstance(output, np.ndarray) and output.shape == (13, 7):
            shares[key] = np.isnan(output).mean()
    assert max(shares.values()) == 1 and kept and all(shares.get(key, 0) < 1 for key in kept)


def test_a_change_that_returns_a_generator_returns_no_values():
    exercise = Exercise("total", call=("x",))

    @exercise.formula
    def total(x):
        return sum(2 * value for value in x)

    exercise.group("values", points=1, name="values")(lambda rng: [Case({"x": [1.0, 2.5, 4.0]})])
    kept = exercise.changes.telling(exercise.expectations(1))
    assert kept and not any(exercise.changes.lines(key).startswith("return (") for key in kept)


def test_a_formula_that_would_not_end_ends():
    exercise = Exercise("halvings", call=("n",))

    @exercise.formula
    def halvings(n):
        count = 0
        while n > 1:
            n = n // 2
            count += 1
        return count

    exercise.group("values", points=1, name="values")(lambda rng: [Case({"n": 9}), Case({"n": 70})])
    assert exercise.changes.telling(exercise.expectations(1))


def test_a_sketch_tells_places_shapes_and_words_apart_and_leaves_free_values_out():
    right = {"y": np.arange(6.0).reshape(2, 3)}

    def of(value):
        return sketch({"y": value}, right, {"y": 1e-6})

    base = of(right["y"])
    assert base.agrees(float(np.float32(base.value)))
    for other in (right["y"][::-1], right["y"].reshape(3, 2), right["y"] + 1e-3, "word", None, [1, 2]):
        assert not base.agrees(of(other).value)
    free = {"y": np.array([1.0, np.nan])}
    one, other = (sketch({"y": np.array([1.0, value])}, free, {"y": 1e-6}) for value in (2.0, 3.0))
    assert one == other


def related(actual, right, **inputs) -> str:
    return relation([inputs], [{"y": actual}], [{"y": right}], [{"y": 1e-5}])


RIGHT = np.array([[0.1, 0.2, 0.7, 0.5], [0.3, 0.3, 0.4, 0.9], [0.6, 0.1, 0.3, 0.2]])
NOTHING_LEFT = np.array([[True] * 4, [False] * 4, [True, False, True, True]])


@pytest.mark.parametrize(
    ("actual", "inputs", "said"),
    [
        (RIGHT * 4, {"q": np.zeros((3, 4))}, "times the size of axis -1 of `q`"),
        (RIGHT / np.sqrt(5), {"k": np.zeros((5, 2))}, "divided by the root of the size of axis -2 of `k`"),
        (RIGHT * 1.37, {}, "the right one times 1.37"),
        (RIGHT + 0.25, {}, "the right one plus 0.25"),
        (RIGHT.T, {}, "its last two axes, which are exchanged"),
        (RIGHT[::-1], {}, "the order along axis -2, which is reversed"),
        (RIGHT[:, None], {}, "its numbers are right, and its shape is another"),
        (np.where([[True], [False], [False]], RIGHT, 9 * RIGHT**2), {}, "only the first item along axis 0 is right"),
        (RIGHT * np.array([[1.0], [2.0], [3.0]]), {}, "only the first item along axis 0 is right"),
        (RIGHT * np.array([[4.0], [2.0], [3.0]]), {}, "each row is a multiple of the right one"),
        (np.where([[False], [True], [False]], np.nan, RIGHT), {"mask": NOTHING_LEFT}, "the mask leaves nothing"),
        (np.where(NOTHING_LEFT, RIGHT, 5.0), {"mask": NOTHING_LEFT}, "right exactly where the mask is True"),
        (RIGHT + 1e-4, {}, "the right one plus 0.0001"),
        (RIGHT + 1e-3 * RIGHT**2, {}, "nearly right"),
        (2 * np.ones((3, 4)), {"x": 2 * np.ones((3, 4))}, "it is the input `x` as it came"),
        (np.zeros((3, 4)), {}, "all its numbers are 0"),
    ],
)  # fmt: skip
def test_a_relation_is_said(actual, inputs, said):
    assert said in related(actual, RIGHT, **inputs)


def test_numbers_in_a_row_of_their_own_have_one_factor_in_each_case():
    right = {"x": np.array([1.0, 2.5, 0.3])}
    found = relation([{}, {}], [{"x": 2.2 * right["x"]}, {"x": 3.1 * right["x"]}], [right, right], [{"x": 1e-6}] * 2)
    assert found.endswith(
        "wrong in the same way each time: it is a multiple of the right one, with a factor that depends on the case."
    )


def test_what_holds_of_any_line_with_one_number_is_no_fact():
    """Rows of weights that are all on one key, equal rows, and a few numbers of which one is right."""
    one_key, equal_rows = np.eye(3, 5), np.ones((3, 1)) * np.array([2.0, 3.0, 5.0, 7.0])
    assert related(equal_rows + np.array([0.1, 0.5, 0.0, 2.0]), equal_rows) == ""
    assert related(one_key * np.array([[0.2], [0.5], [0.9]]), one_key) == ""
    assert related(np.array([0.5, 0.9, 0.7]), np.array([0.4, 0.6, 0.7])) == ""
    assert "only the last item" in related(np.array([0.5, 0.9, 0.1, 0.7]), np.array([0.4, 0.6, 0.2, 0.7]))


def test_a_count_is_explained_by_a_size_or_not_at_all():
    assert related(1009, 1000) == "" and related(np.int64(1009), np.int64(1000)) == ""
    assert "times `heads`" in related(4000, 1000, heads=4) and "times 1.5" in related(1.5, 1.0)


def test_any_factor_fits_one_number_and_is_no_fact():
    assert related(1.773, 1.0) == ""
    assert "all its numbers" not in related(np.array([1, 1]), np.array([3, 1]))
    twice = [{"y": 1.773}, {"y": 3.546}], [{"y": 1.0}, {"y": 2.0}]
    assert "the right one times 1.773" in relation([{}, {}], *twice, [{"y": 1e-5}] * 2)


@pytest.mark.parametrize(
    "actual",
    [
        np.full((3, 4), 1e300),
        np.full((3, 4), np.inf),
        np.full((3, 4), np.finfo("longdouble").max),
        np.full((4, 3), 1e300),
        np.array([[1e308, -1e308, 1.0, 2.0]] * 3),
    ],
)
def test_of_numbers_that_cannot_be_added_nothing_false_is_said_and_no_warning(actual):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        said = related(actual, RIGHT)
    assert said == "" or "all its numbers are" in said


def test_a_relation_holds_wherever_the_result_is_wrong():
    double = {"y": 2 * RIGHT}
    assert relation([{}, {}], [double, {"y": RIGHT}], [{"y": RIGHT}] * 2, [{"y": 1e-5}] * 2)
    assert relation([{}, {}], [double, {"y": RIGHT**2 + 3}], [{"y": RIGHT}] * 2, [{"y": 1e-5}] * 2) == ""
    assert related(RIGHT**2 + 3, RIGHT) == "" and related("word", RIGHT) == "" and related(None, RIGHT) == ""


def test_no_relation_of_a_gradient_is_said_where_a_result_is_wrong():
    limits = {"output": 1e-5, "gradient.x": 1e-5}
    right = {"output": RIGHT, "gradient.x": RIGHT}
    double = {"output": RIGHT, "gradient.x": 2 * RIGHT}
    assert "`gradient.x`" in relation([{}], [double], [right], [limits])
    assert relation([{}], [{**double, "output": RIGHT**2 + 3}], [right], [limits]) == ""
    assert "`output`" in relation([{}], [{**double, "output": 3 * RIGHT}], [right], [limits])
