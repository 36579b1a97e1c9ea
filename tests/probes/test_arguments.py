"""What every function and layer owes by default: its arguments stay as they were, and it keeps nothing of a call."""

from __future__ import annotations

import re

import keras
import numpy as np
import pytest
from lab_matrix import LABS, code_cells, namespace, outcome, solution_sources
from this_course import exercises_of

from autograder.declare.exercise import FIND_THE_BUG
from coursekit.check.attempts import attempt
from coursekit.check.judge import Expectation
from coursekit.check.lab import run_cases
from coursekit.probes.driving import LayerProbe, function, function_of, record
from coursekit.probes.evidence import ContractError, shorter

X = np.array([[1.0, 2.0], [3.0, 4.0]], "float32")


def in_place(x, others=()):
    x *= 2
    return x


def drops_a_word(words):
    words.pop()
    return {"count": len(words)}


def ends(rows):
    for row in rows:
        row.append(0)
    return X


@pytest.mark.parametrize(
    ("probe", "inputs", "name"),
    [
        (function("in_place", "x"), {"x": X}, "x"),
        (function("in_place", "x", optional=("others",)), {"x": X, "others": X}, "x"),
        (record("drops_a_word", "words", fields=("count",)), {"words": ["a", "b"]}, "words"),
        (function("ends", "rows"), {"rows": [[1], [2]]}, "rows"),
    ],
)
def test_a_function_that_changes_its_argument_is_told_which(probe, inputs, name):
    functions = {"in_place": in_place, "drops_a_word": drops_a_word, "ends": ends}
    found = attempt(probe, functions, inputs, "call")
    assert found.kind == "contract" and f"changed its argument `{name}`" in found.message
    assert X[0, 0] == 1.0 and inputs.get("words", ["a", "b"]) == ["a", "b"], "the case itself stays as it is"
    assert inputs.get("rows", [[1], [2]]) == [[1], [2]]


def test_what_an_answer_changes_is_as_before_in_the_next_check(monkeypatch):
    def tried(namespace, inputs, mode):
        inputs["rows"][0].append(0)
        return {"output": len(inputs["rows"][0])}

    monkeypatch.setattr("coursekit.check.lab.load_probe", lambda lab, exercise: tried)
    case = Expectation("group", "", {"rows": [[1]]}, "call", {"output": 2}, {})
    assert [run_cases("lab", "exercise", [case], {})[0].outputs for _ in range(2)] == [{"output": 2}] * 2


def sorts(words, *, pair=()):
    words.sort()


def fills(x, pair=()):
    pair[1].fill(0)


@pytest.mark.parametrize(
    ("changes", "given", "named", "told"),
    [
        (sorts, (["b", "a"],), {}, "words"),
        (fills, (X, (X, X.copy())), {}, "pair[1]"),
        (fills, (X,), {"pair": (X, X.copy())}, "pair[1]"),
        (lambda rows: rows[0].append(0), ([[1], [2]],), {}, "rows"),
        (lambda rows: rows[1].fill(0), ([X, X.copy()],), {}, "rows"),
        (lambda *words: words[1].clear(), (1, ["a"]), {}, "argument 2"),
    ],
)
def test_a_function_that_a_probe_calls_in_its_own_way_is_told_as_well(changes, given, named, told):
    with pytest.raises(ContractError, match=re.escape(f"mean(…) changed its argument `{told}`")):
        function_of({"mean": changes}, "mean")(*given, **named)


CHANGES_WHAT_IT_GETS = """
import functools
_right, _changed = {name}, []
@functools.wraps(_right)
def {name}(*given, **named):
    result = _right(*given, **named)
    for each in (*given, *named.values()):
        if isinstance(each, np.ndarray) and each.any():
            each.fill(0)
            _changed.append("an array")
        elif isinstance(each, list) and each:
            each.clear()
            _changed.append("a list")
    return result
"""


@pytest.mark.long
@pytest.mark.parametrize("lab", LABS)
def test_no_function_of_the_course_may_change_what_it_gets(lab):
    passing = []
    for name, exercise in exercises_of(lab).items():
        is_tried = exercise.oracle is not None and exercise.cpu_seconds is None and name != FIND_THE_BUG
        if not is_tried or f"def {name}(" not in code_cells(lab).get(f"{name}-code", ""):
            continue
        names = namespace([*solution_sources(lab), CHANGES_WHAT_IT_GETS.format(name=name)])
        if outcome(lab, exercise, names).passed and names["_changed"]:
            passing.append(f"{name}: {sorted(set(names['_changed']))}")
    assert not passing


def test_nan_and_unchanged_arguments_are_no_change():
    probe = function("first", "x")
    found = attempt(probe, {"first": lambda x: x[0]}, {"x": np.array([np.nan, 1.0])}, "call")
    assert found.kind is None


class KeepsItsLength(keras.layers.Layer):
    """Its table is as long as the first sequences that it sees."""

    def __init__(self, width):
        super().__init__()
        self.scale = keras.layers.Dense(width, use_bias=False)
        self.table = None

    def call(self, x):
        if self.table is None:
            self.table = np.ones((x.shape[1], x.shape[2]), "float32")
        return self.scale(x) + self.table


class TakesAnyLength(KeepsItsLength):
    def call(self, x):
        return self.scale(x) + 1.0


@pytest.mark.parametrize(("cls", "kind"), [(KeepsItsLength, "error"), (TakesAnyLength, None)])
def test_a_layer_has_seen_a_shorter_input_before(cls, kind):
    probe = LayerProbe("Own", init=("width",), call=("x",), weights=("scale.kernel",))
    inputs = {"width": 3, "x": np.ones((2, 5, 3), "float32"), "scale.kernel": np.eye(3, dtype="float32")}
    assert attempt(probe, {"Own": cls}, inputs, "call").kind == kind


def test_vectors_are_not_made_shorter_and_sequences_are():
    """A Dense layer of the solution that is built on vectors with one number less refuses the case's weights."""
    assert shorter(np.ones((11, 3), "float32")).shape == (11, 3)
    assert shorter(np.ones((11, 3), "int32")).shape == (11, 2)
    assert shorter(np.ones((2, 5, 3), "float32")).shape == (2, 4, 3)
    probe = LayerProbe("Own", init=("width",), call=("x",), weights=("scale.kernel",))
    inputs = {"width": 3, "x": np.ones((5, 3), "float32"), "scale.kernel": np.eye(3, dtype="float32")}
    assert attempt(probe, {"Own": TakesAnyLength}, inputs, "call").kind is None
