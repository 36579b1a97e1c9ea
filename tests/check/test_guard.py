"""Calls that an exercise forbids stop while the guard stands, and work again afterwards."""

import pytest

from coursekit.check.rules import ForbiddenCall, guard


def test_a_guarded_class_and_function_stop_and_come_back():
    import keras

    with guard(["keras.layers.MultiHeadAttention", "keras.ops.dot_product_attention", "no.such.module", "rotary"]):
        with pytest.raises(ForbiddenCall):
            keras.layers.MultiHeadAttention(1, 2)
        with pytest.raises(ForbiddenCall):
            keras.ops.dot_product_attention(1, 2, 3)
    assert keras.layers.MultiHeadAttention(1, 2).num_heads == 1


def test_a_function_that_was_taken_from_its_module_before_stops_too():
    import keras

    kept, before = keras.ops.dot_product_attention, keras.ops.dot_product_attention.__code__
    with guard(["keras.ops.dot_product_attention"]), pytest.raises(ForbiddenCall, match="write it yourself"):
        kept(1, 2, 3)
    assert kept.__code__ is before


def test_what_the_code_raises_leaves_nothing_forbidden():
    import keras

    with pytest.raises(ZeroDivisionError), guard(["keras.ops.softmax"]):
        _ = 1 / 0
    assert float(keras.ops.softmax(keras.ops.zeros(2))[0]) == 0.5
