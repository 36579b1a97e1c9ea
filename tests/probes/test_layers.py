"""The labs' layers, as solved, behave as Keras layers: any batch size, graphs, XLA, saved models."""

from __future__ import annotations

from functools import cache

import keras
import numpy as np
import pytest
import tensorflow as tf
from lab_matrix import LABS, namespace, solution_sources

pytestmark = pytest.mark.long

# lab -> class name, constructor arguments, shapes of the inputs without the batch axis (an int: that many token ids; a
# list: one argument that is a tuple of such inputs)
LAYERS = {
    "01_attention_intuition": [
        ("BahdanauAttention", (8,), [(4, 5), (7, 3)]),
        ("SpatialAttention", (4,), [(8, 8, 3), (4, 4, 5)]),
    ],
    "02_self_attention": [("SelfAttention", (3, 11), [(5, 7)])],
    "03_multi_head_attention": [
        ("MultiHeadAttention", (12, 3), [(5, 12), (7, 12), (7, 12)]),
        ("GroupedQueryAttention", (12, 6, 3), [(5, 12), (7, 12), (7, 12)]),
    ],
    "04_encoder_block": [
        ("FeedForward", (6, 13), [(5, 6)]),
        ("EncoderBlock", (6, 2, 13), [(5, 6)]),
        ("Encoder", (2, 6, 2, 13, 0.1, "pre"), [(5, 6)]),
    ],
    "05_positional_encoding": [
        ("TokenAndPositionEmbedding", (11, 17, 6), [5]),
        ("SinusoidalEmbedding", (11, 17, 6), [5]),
    ],
    "08_decoder_and_masking": [
        ("DecoderBlock", (6, 2, 13), [(5, 6), (7, 6)]),
        ("EncoderBlock", (6, 2, 13), [(5, 6)]),
        ("Transformer", (2, 6, 2, 13, 17, 11), [[7, 5]]),
    ],
    "09_vision_transformer": [("PatchEmbedding", (3, 6, 5), [(6, 9, 2)])],
    "10_language_model": [
        ("GroupedAttention", (12, 6, 3), [(5, 12)]),
        ("GatedBlock", (12, 6, 3, 11), [(5, 12)]),
        ("LanguageModel", (17, 12, 2, 6, 3, 11), [5]),
    ],
}  # fmt: skip
AROUND_A_LAYER = {"LoRADense"}  # made around a layer that is built: no numbers make it
CASES = [(lab, *layer) for lab in LABS for layer in LAYERS.get(lab, [])]


@cache
def solved(lab: str) -> dict:
    return namespace(solution_sources(lab))


def batch(shapes: list, size: int) -> list[tf.Tensor]:
    rng = np.random.default_rng(size)

    def drawn(shape):
        if isinstance(shape, list):
            return tuple(map(drawn, shape))
        if isinstance(shape, int):
            return tf.constant(rng.integers(1, 17, size=(size, shape)))
        return tf.constant(rng.normal(size=(size, *shape)), tf.float32)

    return [drawn(shape) for shape in shapes]


def placeholder(shape):
    if isinstance(shape, list):
        return tuple(map(placeholder, shape))
    return keras.Input((shape,), dtype="int64") if isinstance(shape, int) else keras.Input(shape)


def first(result):
    return np.asarray(result[0] if isinstance(result, (tuple, list)) else result)


def test_every_layer_of_the_labs_is_here():
    for lab in LABS:
        classes = {
            name
            for name, value in solved(lab).items()
            if isinstance(value, type) and issubclass(value, keras.Layer) and value.__module__ == "__main__"
        }
        assert classes - AROUND_A_LAYER == {layer[0] for layer in LAYERS.get(lab, [])}


@pytest.mark.parametrize(("lab", "name", "arguments", "shapes"), CASES)
def test_a_graph_and_xla_give_what_eager_gives(lab, name, arguments, shapes):
    layer = solved(lab)[name](*arguments)
    for size in (1, 4):  # one layer, two batch sizes
        inputs = batch(shapes, size)
        eager = first(layer(*inputs))
        assert eager.shape[0] == size
        for jit in (False, True):
            compiled = tf.function(lambda *arrays: layer(*arrays), jit_compile=jit)
            np.testing.assert_allclose(first(compiled(*inputs)), eager, atol=1e-5)


@pytest.mark.filterwarnings("ignore:`build\\(\\)` was called")
@pytest.mark.parametrize(("lab", "name", "arguments", "shapes"), [case for case in CASES if case[1] != "LanguageModel"])
def test_a_saved_model_gives_what_it_gave(lab, name, arguments, shapes, tmp_path):
    """Not the language model: of a subclassed `keras.Model` Keras saves weights, and no arguments."""
    cls = solved(lab)[name]
    inputs = [placeholder(shape) for shape in shapes]
    outputs = cls(*arguments)(*inputs)
    model = keras.Model(tf.nest.flatten(inputs), outputs[0] if isinstance(outputs, (tuple, list)) else outputs)
    values = tf.nest.flatten(batch(shapes, 3))
    before = np.asarray(model(values))
    model.save(tmp_path / "model.keras")
    classes = {key: value for key, value in solved(lab).items() if isinstance(value, type)}
    again = keras.models.load_model(tmp_path / "model.keras", custom_objects=classes)
    np.testing.assert_allclose(np.asarray(again(values)), before, atol=1e-6)
