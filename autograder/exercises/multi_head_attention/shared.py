"""What several exercises of lab 03 share."""

import numpy as np
from coursekit.generator import Generator

from autograder.exercises.drawing import normal


def attention_arrays(rng: Generator, width: int, kv_width: int, *, batch: int, queries: int, keys: int) -> dict[str, np.ndarray]:
    """The arrays of an attention layer, float32: query (B, T, D), key and value (B, S, D), kernels and biases.

    Args:
        rng: where the numbers come from.
        width: D, of the inputs, the projected queries and the output.
        kv_width: of the projected keys and values; D, or less where heads share them.
        batch: B.
        queries: T.
        keys: S.
    """
    arrays = {"query": normal(rng, batch, queries, width), "key": normal(rng, batch, keys, width), "value": normal(rng, batch, keys, width)}
    for name, out in (("w_q", width), ("w_k", kv_width), ("w_v", kv_width), ("w_o", width)):
        arrays[f"{name}.kernel"] = normal(rng, width, out) / width**0.5
        arrays[f"{name}.bias"] = normal(rng, out)
    return {key: each.astype("float32") for key, each in arrays.items()}
