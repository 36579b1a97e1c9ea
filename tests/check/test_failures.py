"""What a student reads when the code raises an error: what was tried, her own line, and what the message means."""

from __future__ import annotations

import linecache
from dataclasses import replace

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import ops

from coursekit.check import failures
from coursekit.check.comparison import fingerprint
from coursekit.check.judge import Attempt, ExerciseSpec, Expectation, GroupSpec, judge, tidy_message
from coursekit.check.lab import Lab, load_reference

MATRIX, WIDE, IDS = tf.ones((5, 3)), np.ones((3, 4)), tf.constant([[7]])


def in_graph(function):
    return tf.function(function, input_signature=[tf.TensorSpec([None, 3])])(MATRIX)


def one_layer_twice():
    layer = keras.layers.Dense(2)
    layer(MATRIX), layer(tf.ones((5, 4)))


def new_part():
    layer = keras.layers.LayerNormalization()
    layer(MATRIX)
    layer.part = keras.layers.Dense(2)


def write_into_an_argument():
    np.asarray(MATRIX)[0] = 1


def assign():
    MATRIX[0] = 1


def if_array():
    if np.ones(3):
        pass


MISTAKES = {
    "assignment through a mask": lambda: np.ones((2, 3, 4)).__setitem__(np.ones((3, 4), bool), 0),
    "more indices than axes": lambda: np.ones((2, 3))[0, 1, 2],
    "goes beyond an axis": lambda: np.ones((2, 3))[np.array([0, 1, 2])],
    "keepdims": lambda: MATRIX / ops.sum(MATRIX, axis=-1),
    "last axis of the first factor": lambda: ops.matmul(MATRIX, MATRIX),
    "second-to-last axis": lambda: np.ones((2, 3)) @ np.ones((2, 3)),
    "exchange the last two": lambda: ops.matmul(tf.ones((2, 5, 7)), tf.ones((7, 3, 2))),
    "take no vectors": lambda: tf.ones(3) @ tf.ones((3, 2)),
    "compared from the right": lambda: WIDE + np.ones(3),
    "a class token (1, 1, D)": lambda: ops.concatenate([tf.ones((1, 1, 7)), tf.ones((2, 3, 7))], axis=1),
    "nothing is broadcast": lambda: np.concatenate([np.ones((1, 1, 7)), np.ones((2, 3, 7))], axis=1),
    "once for each item of the batch": lambda: in_graph(
        lambda x: ops.concatenate([tf.ones((1, 1, 3)), tf.ones((2, 3, 3))], axis=1)
    ),
    "number of values": lambda: ops.reshape(MATRIX, (4, 4)),
    "a whole number": lambda: ops.reshape(MATRIX, (5, 3 / 1)),
    "np.asarray": lambda: MATRIX.T,
    "cannot be changed in place": assign,
    "`ops.cast(a, b.dtype)`": lambda: MATRIX * tf.ones((5, 3), "float64"),
    "Work on a copy": write_into_an_argument,
    "is not None": if_array,
    "a reshape takes −1": lambda: in_graph(lambda x: ops.reshape(x, (x.shape[0], 3, 1))),
    "Something is None": lambda: 2 * None,
    "has `attention_mask`": lambda: keras.layers.MultiHeadAttention(1, 2)(MATRIX[None], MATRIX[None], mask=None),
    "no row with this number": lambda: keras.layers.Embedding(3, 2)(IDS),
    "used in two places": one_layer_twice,
    "10000.0": lambda: 10000 ** -np.arange(3),
    "turns an empty list into an array of floats": lambda: WIDE[np.array([])],
    "Dense takes only the width of its result": lambda: keras.layers.Dense(7, 11),
    "cannot be sliced with a tensor": lambda: in_graph(lambda x: WIDE[: tf.shape(x)[0]]),
    "move that line to `__init__`": new_part,
    "A layer is called": lambda: MATRIX @ keras.layers.Dense(2),
    "`ops.cast` for `tf.cast`": lambda: tf.cast(keras.Input((3,)), "int32"),
    "lose its `axis=`": lambda: np.linalg.norm(WIDE) @ WIDE,
    "without numbers": lambda: np.asarray(keras.Input((3,))),
}


@pytest.mark.parametrize("told", MISTAKES)
def test_the_usual_errors_are_explained(told):
    with pytest.raises(Exception) as caught:
        MISTAKES[told]()
    assert told in failures.meaning(f"{caught.type.__name__}: {caught.value}"), str(caught.value)


@pytest.mark.parametrize(
    "message",
    [
        "InvalidArgumentError: In[0] ndims must be >= 2: 1 [Op:BatchMatMulV2]",
        "InvalidArgumentError: In[0] and In[1] has different ndims: [3] vs. [3,2] [Op:MatMul]",
    ],
)
def test_every_wording_of_a_product_with_a_vector_is_explained(message):
    """Which one TensorFlow takes depends on the processor."""
    assert "take no vectors" in failures.meaning(message)


def test_an_error_of_the_students_own_is_left_alone():
    assert failures.meaning("ValueError: d_model must be even") == ""


SOURCE = "def softmax(x, axis=-1):\n    e = ops.exp(x)\n    return e / ops.sum(e, axis=axis)  # weights\n"


def notebook(source: str) -> dict:
    """Global names after a cell with `source`, which the line cache knows, as it knows IPython's cells."""
    names = {"ops": ops}
    linecache.cache["<cell 1>"] = (len(source), None, source.splitlines(True), "<cell 1>")
    exec(compile(source, "<cell 1>", "exec"), names)
    return names


def test_a_check_quotes_the_line_and_says_what_was_tried_and_what_it_means():
    report = Lab(load_reference("01_attention_intuition")).report("softmax", notebook(SOURCE))
    text = str(report)
    assert "tried x (5, 3)" in text
    assert "in your line `return e / ops.sum(e, axis=axis)`" in text
    assert text.count("`keepdims=True` in a sum") == 1


NUMPY_HELPER = """
import keras
import numpy as np
from keras import ops

def scaled_dot_product_attention(q, k, v, mask=None):
    q = np.asarray(q)
    weights = ops.softmax(ops.matmul(q, ops.swapaxes(k, -1, -2)) / q.shape[-1] ** 0.5)
    return ops.matmul(weights, v), weights

class SelfAttention(keras.Layer):
    def __init__(self, d_k, d_v, **kwargs):
        super().__init__(**kwargs)
        self.w_q = keras.layers.Dense(d_k, use_bias=False)
        self.w_k = keras.layers.Dense(d_k, use_bias=False)
        self.w_v = keras.layers.Dense(d_v, use_bias=False)

    def call(self, x, attention_mask=None, return_weights=False):
        output, weights = scaled_dot_product_attention(self.w_q(x), self.w_k(x), self.w_v(x))
        return (output, weights) if return_weights else output
"""


def test_numpy_in_a_helper_of_a_layer_is_told_by_its_line():
    report = Lab(load_reference("02_self_attention")).report("SelfAttention", notebook(NUMPY_HELPER))
    assert "Use `keras.ops`, in your line `q = np.asarray(q)`" in str(report)


@pytest.mark.parametrize(
    ("message", "means"),
    [
        ("TypeError: Binding inputs to tf.function failed due to `Can not cast TensorSpec(…)`", "“Can not cast” names"),
        (
            "TypeError: Failed to convert elements of (None, 1, -1), in your line `m = ops.softmax(s, axis=(1, 2))`",
            "flatten the two axes to one first",
        ),
        ('ValueError: Layer "dense" expects 1 input(s), but it received 5 input tensors.', "a whole dictionary"),
    ],
)
def test_other_errors_are_explained(message, means):
    assert means in failures.meaning(message)


def test_what_keras_adds_to_an_error_is_left_out():
    with pytest.raises(ValueError) as caught:
        tf.cast(keras.Input((3,)), "int32")
    assert tidy_message(str(caught.value)) == "A KerasTensor cannot be used as input to a TensorFlow function."
    for added in ("Arguments received by Dense.call()", "Call arguments received by layer 'dense' (type Dense)"):
        assert tidy_message(f"too wide.\n\n{added}:\n  • inputs=…") == "too wide."


FACTS = ExerciseSpec("twice", (GroupSpec("values", "right values", 1, advice="Look at x."),), {})
CASES = [Expectation("values", "x (3,)", {"x": np.ones(3)}, "call", {"output": np.ones(3)}, {"output": 0.0})] * 2


def test_when_every_case_raises_the_first_error_is_told_with_its_case():
    failed = Attempt(kind="error", message="TypeError: 'NoneType' object is not subscriptable")
    judgement = judge(FACTS, CASES, [Attempt(kind="missing"), failed])
    assert judgement.status == "error" and judgement.message.startswith("tried x (3,): TypeError")
    assert judgement.message.endswith("a reshape takes −1.")


@pytest.mark.parametrize(
    ("kind", "message", "end"),
    [
        ("error", "ValueError: could not be broadcast", "the wrong size?"),
        ("error", "ValueError: of the student's own", "own. Look at x."),
        ("contract", "`f(x)` returned None. Is the `return` missing?", "Is the `return` missing?"),
    ],
)
def test_one_line_follows_what_went_wrong(kind, message, end):
    """What the error means, or else the group's advice; a broken contract says itself what to do."""
    judgement = judge(FACTS, CASES, [Attempt({"output": np.ones(3)}), Attempt(kind=kind, message=message)])
    assert judgement.explanations[0].endswith(end)


THREE = ExerciseSpec(
    "twice",
    tuple(GroupSpec(name, name, 1, advice=f"Look at {name}.") for name in ("first", "second", "third")),
    {"doubled": "The result is doubled."},
)
THREE_CASES = [
    Expectation(
        name,
        f"x of the {name} group",
        {},
        "call",
        {"output": np.ones(3)},
        {"output": 1e-6},
        wrong={"doubled": {"output": fingerprint(np.full(3, 2.0))}},
    )
    for name in ("first", "second", "third")
]


def test_one_cause_is_told_once():
    """The same error in the same line, for inputs of other shapes; another error is told."""
    line = ", in your line `x @ y`"
    first = Attempt(kind="error", message=f"ValueError: Incompatible shapes: [2,3] vs. [4,5]{line}")
    again = Attempt(kind="error", message=f"ValueError: Incompatible shapes: [12,3,1] vs. [5]{line}")
    told = judge(THREE, THREE_CASES, [Attempt({"output": np.ones(3)}), first, again]).explanations
    assert told[1].startswith("tried x of the second group: ValueError: Incompatible") and told[1].endswith("size?")
    assert told[2] == "tried x of the third group: the same error as above."
    other = Attempt(kind="error", message="ValueError: Incompatible shapes: [2,3] vs. [4,5], in your line `y @ x`")
    assert "in your line" in judge(THREE, THREE_CASES, [Attempt({"output": np.ones(3)}), first, other]).explanations[2]
    wrong = Attempt({"output": np.zeros(3)})
    assert "above" not in "".join(judge(THREE, THREE_CASES, [wrong] * 3).explanations)


def test_what_no_named_mistake_explains_keeps_its_advice():
    attempts = [Attempt({"output": np.full(3, factor)}) for factor in (2.0, 2.0, 11.6)]
    not_known = replace(THREE_CASES[2], wrong={"doubled": {"output": fingerprint(np.full(3, np.nan))}})
    judgement = judge(THREE, [*THREE_CASES[:2], not_known], attempts)
    assert judgement.misconceptions == ("doubled",) and judgement.hints == ()
    assert ["Look at" in explanation for explanation in judgement.explanations] == [False, False, True]
    attempts[2] = attempts[0]
    assert not any("Look at" in explanation for explanation in judge(THREE, THREE_CASES, attempts).explanations)


@pytest.mark.parametrize(
    ("group", "attempt", "speaks"),
    [
        ("values", Attempt({"output": np.zeros(3)}), True),
        ("values", Attempt({"output": np.zeros(4)}), True),
        ("fully_masked", Attempt({"output": np.full(3, np.nan)}), True),
        ("fully_masked", Attempt({"output": np.zeros(4)}), False),
        ("fully_masked", Attempt({"output": np.zeros(3)}), False),
        ("large_scores", Attempt({"output": np.full(3, np.inf)}), True),
        ("large_scores", Attempt(kind="error", message="KeyError: 3"), False),
        ("types", Attempt(kind="error", message="KeyError: 3"), True),
        ("training", Attempt({"output": np.full(3, np.nan)}), False),
        ("training", Attempt(kind="error", message="KeyError: 3"), True),
        ("sizes", Attempt({"output": np.zeros(3)}), False),
        ("sizes", Attempt({"output": np.zeros(4)}), True),
    ],
)
def test_advice_and_hints_speak_of_their_kind_of_failure_only(group, attempt, speaks):
    """A group about NaN says nothing about a wrong shape, one about resizing nothing about a ReLU."""
    spec = ExerciseSpec("f", (GroupSpec(group, "a title", 1, "Look here.", ("A hint.",)),), {})
    case = Expectation(group, "x", {}, "call", {"output": np.ones(3)}, {"output": 1e-6})
    right = Attempt({"output": np.ones(3)})
    judgement = judge(
        ExerciseSpec("f", (*spec.groups, GroupSpec("last", "a title", 1)), {}),
        [case, Expectation("last", "x", {}, "call", {"output": np.ones(3)}, {"output": 1e-6})],
        [attempt, right],
    )
    assert ("Look here." in judgement.explanations[0], judgement.hints == ("A hint.",)) == (speaks, speaks)


def test_a_result_that_is_no_error_is_not_explained():
    judgement = judge(FACTS, CASES, [Attempt({"output": np.zeros(3)})] * 2)
    assert judgement.explanations[0].endswith("values differ. Look at x.")


def test_a_table_of_whole_numbers_is_told_so():
    half = [Expectation("values", "", {}, "call", {"output": np.full(3, 0.5)}, {"output": 1e-6})]
    told = judge(FACTS, half, [Attempt({"output": np.zeros(3, "int64")})]).explanations[0]
    assert "array of whole numbers (int64)" in told
    assert "whole numbers" not in judge(FACTS, CASES[:1], [Attempt({"output": np.zeros(3, int)})]).explanations[0]
