"""Rules find what may not do the work, wherever it hides, and let everything else pass."""

import pytest

from coursekit import rules

FORBIDDEN = ("keras.layers.MultiHeadAttention", "keras.ops.dot_product_attention", "tensorflow.nn.softmax")


def found(*cells, name="f", **options):
    return rules.violations(rules.parse_cells(cells), name, **{"forbidden": FORBIDDEN, **options})


@pytest.mark.parametrize(
    "cells",
    [
        ("import keras\ndef f(): return keras.layers.MultiHeadAttention(1, 2)",),
        ("from keras import layers as L", "def f(): return L.MultiHeadAttention(1, 2)"),
        ("from keras.layers import MultiHeadAttention as M", "def f(): return M(1, 2)"),
        ("import tensorflow as tf", "def f(): return tf.keras.layers.MultiHeadAttention(1, 2)"),
        ("import tensorflow as tf", "f = lambda x: tf.nn.softmax(x)"),
        ("import keras", "helper = keras.ops.dot_product_attention", "def f(q): return helper(q, q, q)"),
        (
            "import keras",
            "def helper(): return keras.layers.MultiHeadAttention",
            "class f:\n    def call(self): helper()",
        ),
        ("import keras", "if True:\n    def f(): return keras.layers.MultiHeadAttention(1, 2)"),
        (
            "import tensorflow as tf\n%time 1\n!ls",
            "def f(x):\n    from tensorflow.nn import softmax\n    return softmax(x)",
        ),
    ],
)
def test_forbidden_names_are_found(cells):
    assert len(found(*cells)) == 1


@pytest.mark.parametrize(
    "cells",
    [
        ("import keras\ndef g(): return keras.layers.MultiHeadAttention(1, 2)\ndef f(): return 1",),
        ("def f():\n    'keras.layers.MultiHeadAttention is not used'\n    return 1",),
        ("x = [i for i in range(3)]\nscores = list(map(str, x))", "def f(x):\n    scores = x + 1\n    return scores"),
        ("def f(x): return [i for i in x]", "def f(x): return x"),
        ("def f(x:", "def f(x): return x"),
    ],
)
def test_what_is_allowed_passes(cells):
    assert found(*cells, no_loops=True) == []


@pytest.mark.parametrize(
    "cells",
    [
        ("def f(x): return [i for i in x]",),
        ("def f(x):\n    while x: x -= 1",),
        ("def slow(x):\n    for i in x: pass", "def f(x): return slow(x)"),
        ("import numpy as np", "def f(x): return np.vectorize(abs)(x)"),
        ("def f(x): return list(map(abs, x))",),
        ("f = lambda x: sum(i for i in x)",),
    ],
)
def test_loops_are_found(cells):
    assert len(found(*cells, no_loops=True)) == 1


def test_a_guarded_class_and_function_stop_and_come_back():
    import keras

    with rules.guard(["keras.layers.MultiHeadAttention", "keras.ops.dot_product_attention", "no.such.module"]):
        with pytest.raises(rules.ForbiddenCall):
            keras.layers.MultiHeadAttention(1, 2)
        with pytest.raises(rules.ForbiddenCall):
            keras.ops.dot_product_attention(1, 2, 3)
    assert keras.layers.MultiHeadAttention(1, 2).num_heads == 1
