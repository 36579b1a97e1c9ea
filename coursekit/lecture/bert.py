"""The two halves of BERT: where they are, how one forgets what it learned, and one clear error for the wrong Keras.

A half is named by a handle, which `hub.KerasLayer` takes: a folder, or an address on the web. The same cell takes the
small BERT that comes with the course and the published ones. data/README.md says what the small one was trained on.
"""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parents[1] / "data" / "bert"
PREPROCESS, ENCODER = str(FOLDER / "preprocess"), str(FOLDER / "encoder")
PUBLIC_PREPROCESS = "https://tfhub.dev/tensorflow/bert_en_uncased_preprocess/3"
PUBLIC_ENCODER = "https://tfhub.dev/tensorflow/small_bert/bert_en_uncased_L-4_H-512_A-8/2"
PUBLIC_BASE = "https://tfhub.dev/tensorflow/bert_en_uncased_L-12_H-768_A-12/4"  # the encoder of BERT-base

INPUTS = ("input_word_ids", "input_mask", "input_type_ids")  # what the first half gives and the second takes
OUTPUTS = ("pooled_output", "sequence_output", "encoder_outputs")


def checked(preprocess: Any, encoder: Any) -> dict[str, str]:
    """Try two halves together on two texts and say what they give: name -> shape and type.

    Args:
        preprocess, encoder: what `hub.load` returns for their handles.

    Raises:
        ValueError: an input or an output is missing, or has another shape or type than the course's cells need.
    """
    import tensorflow as tf

    texts = tf.constant(["Stocks fall.", "The bees win."])
    rows = preprocess(texts)
    short = preprocess.bert_pack_inputs([preprocess.tokenize(texts)], seq_length=16)
    found = {name: _seen("the preprocessing", name, rows.get(name), (2, 128), tf.int32) for name in INPUTS}
    for name in INPUTS:
        _seen("bert_pack_inputs", name, short.get(name), (2, 16), tf.int32)
    said = encoder({name: rows[name] for name in INPUTS})
    found["pooled_output"] = _seen("the encoder", "pooled_output", said.get("pooled_output"), (2, None), tf.float32)
    width = said["pooled_output"].shape[1]
    blocks = list(said.get("encoder_outputs") or [None])
    for name, output in (("sequence_output", said.get("sequence_output")), *(("encoder_outputs", b) for b in blocks)):
        found[name] = _seen("the encoder", name, output, (2, 128, width), tf.float32)
    return found | {"encoder_outputs": f"{len(blocks)} times {found['encoder_outputs']}"}


def _seen(half: str, name: str, value: Any, shape: tuple[int | None, ...], dtype: Any) -> str:
    """The shape and type of a tensor in words; None in `shape` is any size."""
    if value is None:
        raise ValueError(f"{half} gives no {name}: does its handle name this half of a BERT?")
    same = len(shape) == len(value.shape) and all(a in (None, b) for a, b in zip(shape, value.shape, strict=True))
    if not same or value.dtype != dtype:
        raise ValueError(f"{half}: {name} is {tuple(value.shape)} {value.dtype.name}, expected {shape} {dtype.name}")
    return f"{tuple(value.shape)} {value.dtype.name}"


def forget(layer: Any, seed: int = 0) -> Any:
    """Give an encoder fresh weights, so that it starts from scratch, and return it.

    Tables and kernels are drawn as BERT's were (Devlin et al. 2019, their published code): normal with a standard
    deviation of 0.02, and no value beyond two standard deviations. The scales of normalisations become 1, the rest 0.

    Args:
        layer: what has `variables`: a `hub.KerasLayer`, or what `hub.load` returns.
        seed: of the draws.
    """
    rng = np.random.default_rng(seed)
    for variable in layer.variables:
        shape = tuple(variable.shape)
        if "gamma" in variable.name:
            value = np.ones(shape)
        elif len(shape) < 2 or "bias" in variable.name:
            value = np.zeros(shape)
        else:
            value = rng.normal(size=shape)
            while (far := np.abs(value) > 2).any():
                value[far] = rng.normal(size=far.sum())
            value *= 0.02
        variable.assign(value.astype("float32"))
    return layer


class KerasMixError(TypeError):
    """A part of Keras 3 met a part of Keras 2."""


MIXED = (
    "Two versions of Keras meet here. hub.KerasLayer is a layer of Keras 2, which is called tf_keras; keras and "
    "tf.keras are Keras 3 since TensorFlow 2.16. Take every part of this model from tf_keras: the Input, all layers, "
    "the Model, the optimizer."
)


@contextlib.contextmanager
def one_keras() -> Iterator[None]:
    """While the block runs, a mix of Keras 2 and 3 raises one error, which names the cause.

    Without it there are several errors that do not name the cause, and one mistake without an error: a layer of Keras 3
    on a tensor of Keras 2 gives a model that does not know the layer's weights.

    Raises:
        KerasMixError: a layer, a model or an optimizer of Keras 3 is used in the block, or an error comes from there.
    """
    import keras

    original = keras.Layer.__call__

    def refuse(*_: Any, **__: Any) -> None:
        raise KerasMixError(MIXED)

    keras.Layer.__call__ = refuse
    try:
        yield
    except KerasMixError:
        raise
    except Exception as error:
        if _from_keras_3(error):
            raise KerasMixError(MIXED) from error
        raise
    finally:
        keras.Layer.__call__ = original


def _from_keras_3(error: BaseException) -> bool:
    """Whether one of Keras 3's files, or one of its objects by name, has a part in an error."""
    import keras

    folder = str(Path(keras.__file__).parent)
    seen: BaseException | None = error
    while seen is not None:
        if any(frame.filename.startswith(folder) for frame in traceback.extract_tb(seen.__traceback__)):
            return True
        if "keras.src" in str(seen).replace("tf_keras.src", "") or "KerasTensor cannot be used" in str(seen):
            return True
        seen = seen.__cause__ or seen.__context__
    return False
