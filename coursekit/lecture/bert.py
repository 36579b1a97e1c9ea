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
