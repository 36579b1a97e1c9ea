"""Probes of lab 02, self-attention."""

from __future__ import annotations

import tracemalloc
from collections.abc import Mapping
from typing import Any

import numpy as np

from coursekit.probes.driving import find, function

# A graph of all blocks would take half a second, and its tensors are no larger than those of the first ones.
_BLOCKS_TO_TRACE = 4

_attend_in_blocks = function("online_attention", "q", "k", "v", "block_size")


def _online_attention(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Call the function; in the mode ``memory`` say whether it ever holds as many numbers as there are scores.

    What is written with TensorFlow is traced over the keys of some blocks, and the size of every tensor looked at;
    NumPy, which cannot be traced, is asked how much memory it took for all keys.
    """
    if mode != "memory":
        return _attend_in_blocks(namespace, inputs, mode)
    target = find(namespace, "online_attention")
    q, k, v = (inputs[key] for key in "qkv")
    block_size = inputs["block_size"]
    few = len(k) % block_size + _BLOCKS_TO_TRACE * block_size
    scores = len(q) * few
    most = _largest_tensor(target, q, k[:few], v[:few], block_size)
    if most is None:
        scores = len(q) * len(k)
        tracemalloc.start()
        try:
            _attend_in_blocks(namespace, inputs, "call")
            most = tracemalloc.get_traced_memory()[1] // q.itemsize
        finally:
            tracemalloc.stop()
    return {"all_scores": "held" if most >= scores else "never held"}


def _largest_tensor(target: Any, q: np.ndarray, k: np.ndarray, v: np.ndarray, block_size: int) -> int | None:
    """The number of entries of the largest tensor inside `target`; None when it cannot be traced."""
    import tensorflow as tf

    specs = [tf.TensorSpec(each.shape, each.dtype) for each in (q, k, v)]
    try:
        traced = tf.function(lambda *given: target(*given, block_size), input_signature=specs, autograph=False)
        nodes = traced.get_concrete_function().graph.get_operations()
    except Exception:  # whatever it is, the call with arrays says it
        return None
    shapes = [tensor.shape for node in nodes for tensor in node.outputs]
    return max((int(np.prod(shape)) for shape in shapes if shape.is_fully_defined()), default=0)


PROBES = {"online_attention": _online_attention}
