import numpy as np
import pytest
import tensorflow as tf
from lab_matrix import LabTests, expectations

from exercises.encoder_block.derive_layer_norm_gradient import gradient
from exercises.formulas.encoder_block import normalised

LAB = "04_encoder_block"


class TestEncoderBlock(LabTests):
    lab = LAB


@pytest.mark.parametrize("eps", [1e-6, 0.5])
def test_the_derived_gradient_is_that_of_finite_differences(eps):
    x, upstream = np.random.default_rng(4).normal(size=(2, 3, 7))
    gamma, h = np.linspace(0.5, 2, 7), 1e-6
    steps = h * np.eye(7)[:, None]  # (D, 1, D): one feature after the other

    def loss(x):
        return (normalised(x, gamma, np.zeros(7), eps) * upstream).sum(axis=-1)  # (D, 3)

    differences = (loss(x + steps) - loss(x - steps)).T / (2 * h)  # (3, D)
    np.testing.assert_allclose(gradient(x, gamma, upstream, eps), differences, atol=1e-7)


@pytest.mark.parametrize("seed", range(3))
def test_the_derived_gradient_is_that_of_the_tape(seed):
    for case in expectations(LAB, "derive_layer_norm_gradient", seed):
        x, gamma, upstream = (
            tf.constant(np.asarray(case.inputs[name], "float64")) for name in ("x", "gamma", "upstream")
        )
        with tf.GradientTape() as tape:
            tape.watch(x)
            mean, variance = tf.nn.moments(x, [-1], keepdims=True)
            normed = (x - mean) / tf.sqrt(variance + case.inputs.get("eps", 1e-6))
            loss = tf.reduce_sum(gamma * normed * upstream)
        np.testing.assert_allclose(case.expected["output"], tape.gradient(loss, x), rtol=1e-6, atol=1e-6)
