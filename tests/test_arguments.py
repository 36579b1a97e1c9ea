"""What every function and layer owes by default: its arguments stay as they were, and it keeps nothing of a call."""

from __future__ import annotations

import keras
import numpy as np
import pytest

from coursekit.attempts import attempt
from coursekit.probes.driving import LayerProbe, function, record

X = np.array([[1.0, 2.0], [3.0, 4.0]], "float32")


def in_place(x, others=()):
    x *= 2
    return x


def drops_a_word(words):
    words.pop()
    return {"count": len(words)}


@pytest.mark.parametrize(
    ("probe", "inputs", "name"),
    [
        (function("in_place", "x"), {"x": X}, "x"),
        (function("in_place", "x", optional=("others",)), {"x": X, "others": X}, "x"),
        (record("drops_a_word", "words", fields=("count",)), {"words": ["a", "b"]}, "words"),
    ],
)
def test_a_function_that_changes_its_argument_is_told_which(probe, inputs, name):
    found = attempt(probe, {"in_place": in_place, "drops_a_word": drops_a_word}, inputs, "call")
    assert found.kind == "contract" and f"changed its argument `{name}`" in found.message
    assert X[0, 0] == 1.0 and inputs.get("words", ["a", "b"]) == ["a", "b"], "the case itself stays as it is"


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
