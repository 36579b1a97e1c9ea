import keras
import numpy as np
import pytest
from lab_matrix import LabTests, expectations, namespace, solution_sources
from scipy.special import softmax
from this_course import exercises_of

from coursekit.generator import Generator

LAB = "03_multi_head_attention"


class TestMultiHeadAttention(LabTests):
    lab = LAB


@pytest.mark.parametrize("heads", [1, 3])
def test_weights_and_output_of_the_layer_follow_from_the_circuits(heads):
    rng, width = Generator([heads]), 15
    kernels = [rng.normal(size=(width, width)).astype("float32") / width**0.5 for _ in range(4)]
    layer = namespace(solution_sources(LAB))["MultiHeadAttention"](width, heads)
    x, y = (rng.normal(size=(1, length, width)).astype("float32") for length in (5, 7))
    layer(x, y, y)
    for dense, kernel in zip((layer.w_q, layer.w_k, layer.w_v, layer.w_o), kernels, strict=True):
        dense.set_weights([kernel, np.zeros(width)])
    output, weights = layer(x, y, y, return_weights=True)
    qk, ov = exercises_of(LAB)["derive_circuits"].oracle(*kernels, heads)
    followed = softmax(x @ qk @ y[0].T, axis=-1)  # (H, T, S)
    np.testing.assert_allclose(weights[0], followed, atol=1e-5)
    np.testing.assert_allclose(output[0], (followed @ y[0] @ ov).sum(axis=0), atol=1e-5)


def test_scores_and_output_of_keras_follow_where_values_have_a_width_of_their_own():
    case = expectations(LAB, "derive_circuits", 3)[-1]
    w_q, w_k, w_v, w_o, heads = (case.inputs[name] for name in ("w_q", "w_k", "w_v", "w_o", "num_heads"))
    width, key_dim, value_dim = len(w_q), w_q.shape[1] // heads, w_v.shape[1] // heads
    layer = keras.layers.MultiHeadAttention(heads, key_dim, value_dim, use_bias=False)
    x = Generator([5]).normal(size=(1, 5, width)).astype("float32")
    layer(query=x, value=x)
    shapes = [(width, heads, key_dim)] * 2 + [(width, heads, value_dim), (heads, value_dim, width)]
    layer.set_weights([kernel.reshape(shape) for kernel, shape in zip((w_q, w_k, w_v, w_o), shapes, strict=True)])
    followed = softmax(x @ case.expected["qk"] @ x[0].T, axis=-1)
    wanted = (followed @ x[0] @ case.expected["ov"]).sum(axis=0)
    np.testing.assert_allclose(layer(query=x, value=x)[0], wanted, atol=1e-4)


def test_a_head_that_is_its_mean_costs_nothing_with_it_and_a_removed_one_costs_its_squares():
    """Targets are what the heads give, so an increase is the mean square of what the replacement takes away."""
    rng = Generator([4])
    heads, w_o = rng.normal(size=(7, 3, 5, 2)), rng.normal(size=(3, 2, 11))
    heads[:, 1] = heads[:1, 1, :1]  # the same everywhere
    heads[:, 2] = heads[:1, 2]  # the same in each item
    targets = np.einsum("bhtk,hkd->btd", heads, w_o)
    found = exercises_of(LAB)["measure_head"].oracle(heads, w_o, targets)
    written = np.einsum("bhtk,hkd->hbtd", heads, w_o)
    about_mean = written - written.mean(axis=(1, 2), keepdims=True)
    np.testing.assert_allclose(found["zero"], (written**2).mean(axis=(1, 2, 3)))
    np.testing.assert_allclose(found["mean"], (about_mean**2).mean(axis=(1, 2, 3)), atol=1e-12)
    np.testing.assert_allclose(found["row_mean"], written.var(axis=1).mean(axis=(1, 2)), atol=1e-12)
    assert abs(found["mean"][1]) < 1e-12 and abs(found["row_mean"][2]) < 1e-12 < found["mean"][2]
