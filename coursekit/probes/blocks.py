"""How many scores a function that reads its keys in blocks holds at a time: all, those of all keys, or of a block."""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any
from unittest import mock

import numpy as np

from coursekit.probes.arguments import ContractError
from coursekit.probes.evidence import taken

# A graph of all blocks would take half a second, and its tensors are no larger than those of the first ones.
_BLOCKS_TO_TRACE = 4
_NUMBERS_UNKNOWN = ("Shape", "ShapeN", "Size", "Rank")  # operations that look at the size of a tensor alone
MOST_SHAPES = 100_000  # that are read
ALL, ALL_KEYS = "held", "all keys at once"

Attention = Callable[[np.ndarray, np.ndarray, np.ndarray], Any]


def tensors_held(
    attend: Attention, q: np.ndarray, k: np.ndarray, v: np.ndarray, block_size: int
) -> dict[str, np.ndarray]:
    """How many numbers `attend` holds at most, and the shapes of what it makes of the queries.

    What is written with TensorFlow is traced for some queries and the keys of some blocks, and the shape of every
    tensor looked at; NumPy, which cannot be traced, is asked how much memory it took for all keys, and for the shapes
    of the arrays that it made from the queries.

    Args:
        attend: the function, of queries, keys and values.
        q: (T, d), with T well above `block_size`.
        k: (S, d), where S is no other size.
        v: (S, e).
        block_size: how many keys may be looked at at a time; d, e and their sum are below it.

    Returns:
        ``most``; ``shapes`` (n, axes), with axes of size 1 in front; and ``in_graph``, whether it was traced.
    """
    queries, keys = _traced_sizes(k, block_size)
    found = _in_graph(attend, q[:queries], k[:keys], v[:keys])
    most, of_queries = _with_arrays(attend, q, k, v) if found is None else found
    axes = max(map(len, of_queries), default=0)
    shapes = np.array([[1] * (axes - len(shape)) + list(shape) for shape in of_queries], "int64")
    return {"most": np.array(most), "shapes": shapes.reshape(-1, axes), "in_graph": np.array(found is not None)}


def _traced_sizes(k: np.ndarray, block_size: int) -> tuple[int, int]:
    """How many queries and keys a function gets while it is traced."""
    return block_size + 6, len(k) % block_size + _BLOCKS_TO_TRACE * block_size


def scores_held(q: np.ndarray, k: np.ndarray, block_size: int, made: Mapping[str, Any]) -> str | None:
    """Whether a function held as many numbers as there are scores, or met queries with all keys at once.

    Args:
        q, k, block_size: what the function was called with.
        made: what `tensors_held` returned.

    Returns:
        `ALL`, `ALL_KEYS`, or None when neither is seen.
    """
    queries, keys = _traced_sizes(k, block_size) if taken(made, "in_graph", (), "b") else (len(q), len(k))
    if taken(made, "most", (), "i") >= queries * keys:
        return ALL
    shapes = taken(made, "shapes", kinds="i")
    if len(shapes) > MOST_SHAPES:
        raise ContractError("there are too many arrays to look at.")
    for shape in shapes.tolist():
        others = math.prod(shape) // keys if keys in shape else 0
        if others == 1 or others >= block_size:
            return ALL_KEYS
    return None


def _in_graph(
    attend: Attention, q: np.ndarray, k: np.ndarray, v: np.ndarray
) -> tuple[int, list[tuple[int, ...]]] | None:
    """The entries of the largest tensor, and the shapes of those made from q; None when it cannot be traced."""
    import tensorflow as tf

    specs = [tf.TensorSpec(each.shape, each.dtype) for each in (q, k, v)]
    as_eager = mock.patch.multiple(tf.Tensor, __iter__=lambda each: iter(tf.unstack(each)), __len__=_rows)
    try:
        with as_eager:
            traced = tf.function(attend, input_signature=specs, autograph=False).get_concrete_function()
    except Exception:  # whatever it is, the call with arrays says it
        return None
    most, of_queries, made = 0, [], {traced.inputs[0].op.name}
    for node in traced.graph.get_operations():
        if node.type not in _NUMBERS_UNKNOWN and any(each.op.name in made for each in node.inputs):
            made.add(node.name)
        for tensor in node.outputs:
            if tensor.shape.is_fully_defined():
                shape = tuple(tensor.shape.as_list())
                most = max(most, math.prod(shape))
                if node.name in made and tensor.dtype.is_floating:
                    of_queries.append(shape)
    return most, of_queries


def _rows(tensor: Any) -> int:
    return tensor.shape[0]


def _with_arrays(attend: Attention, q: np.ndarray, k: np.ndarray, v: np.ndarray) -> tuple[int, list[tuple[int, ...]]]:
    """How many numbers of q's type the memory took at most, and the shapes of the arrays made from q.

    What NumPy makes of a subclass is of the subclass, unless `np.asarray` or `np.array` makes it a plain array: so
    these keep it for the time of the call. What still comes out plain is not looked at.
    """
    shapes: set[tuple[int, ...]] = set()

    class Queries(np.ndarray):
        def __array_finalize__(self, source: Any) -> None:
            if source is not None and self.dtype.kind == "f":
                shapes.add(self.shape)

    keep = mock.patch.multiple(np, asarray=np.asanyarray, array=partial(np.array, subok=True))
    arguments = q.copy().view(Queries), k.copy(), v.copy()
    tracemalloc.start()
    try:
        with keep:
            attend(*arguments)
        most = tracemalloc.get_traced_memory()[1] // q.itemsize
    finally:
        tracemalloc.stop()
    return most, list(shapes)
