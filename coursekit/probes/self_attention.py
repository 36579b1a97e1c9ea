"""Probes of lab 02, self-attention."""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any
from unittest import mock

import numpy as np

from coursekit.probes.driving import design, entries, find, floats, function, function_of, whole
from coursekit.probes.evidence import CALLS, Asked, ContractError, ReadOutside, part_of_grid, taken

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


# -- the exercises ----------------------------------------------------------------------------------------------------


_attend_in_blocks = function("online_attention", "q", "k", "v", "block_size")


def _online_attention(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Call the function; in the mode ``memory`` hand over how much it holds at a time."""
    if mode != "memory":
        return _attend_in_blocks(namespace, inputs, mode)
    target, block_size = find(namespace, "online_attention"), inputs["block_size"]
    q, k, v = (inputs[key] for key in "qkv")
    return tensors_held(lambda *arrays: target(*arrays, block_size), q, k, v, block_size)


def _memory_seen(inputs: Mapping[str, Any], made: Mapping[str, Any]) -> dict[str, Any]:
    q, k = inputs["q"], inputs["k"]
    return {"all_scores": scores_held(q, k, inputs["block_size"], made) or never_held(q, k)}


def never_held(q: np.ndarray, k: np.ndarray) -> str:
    """What is true of a function that never holds all scores of q (T, d) and k (S, d)."""
    return f"{len(q)} × {len(k)}, never held"


def every_draw(seeds: Sequence[int]) -> str:
    """What is true of a function that drew with each of these seeds at every width."""
    return f"every seed at every width: {', '.join(map(str, seeds))}"


CHANGED = "arrays that were changed afterwards"
MEANS, FIRSTS = ("unscaled", "scaled"), ("first_unscaled", "first_scaled")


def _measure_saturation(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Hand over queries and keys that are drawn already, and note which are asked for."""
    widths, seeds = list(inputs["widths"]), list(inputs["seeds"])
    asked = Asked("`draw` was asked for", width=widths, seed=seeds)
    returned: list[tuple[np.ndarray, np.ndarray]] = []  # arrays that were handed over, and what was in them

    def draw(seed: int, d: int) -> tuple[np.ndarray, ...]:
        width, number = asked.place(seed=seed, width=d)
        drawn = [inputs[name][width, number, :, :d] for name in ("queries", "keys")]
        copies = tuple(array.copy() for array in drawn)
        returned.extend(zip(copies, drawn, strict=True))
        return copies

    limit = (inputs["threshold"],) if "threshold" in inputs else ()
    found = function_of(namespace, "measure_saturation")(draw, list(widths), list(seeds), *limit)
    names = (*MEANS, *FIRSTS, "base")
    missing = [name for name in names if not isinstance(found, Mapping) or name not in found]
    found = entries(found, names, "measure_saturation(…)", ", ".join(map(repr, missing)))
    if mode == "draws":
        changed = [not np.array_equal(array, before) for array, before in returned]
        return {"asked": asked.table, "changed": np.array(any(changed))}
    if mode == "base":
        return {"base": floats(found["base"], '"base"')}
    means = {name: floats(found[name], f'"{name}"') for name in MEANS}
    for name, mean in means.items():
        if mean.shape != (len(widths),):
            raise ContractError(f'"{name}" has the shape {mean.shape}; expected one number for each of the widths.')
    return {**means, **{name: _width(found[name], name) for name in FIRSTS}} if mode == "firsts" else means


def _width(value: Any, name: str) -> str:
    """The first width that passes, as text."""
    if value is None:
        return "None"
    width = np.asarray(value)
    if width.size != 1 or width.dtype.kind not in "iuf" or not float(width.reshape(())).is_integer():
        raise ContractError(f'"{name}" is {str(value)[:40]}; expected one of the widths, or None.')
    return str(int(width.reshape(())))


def _draws_seen(inputs: Mapping[str, Any], made: Mapping[str, Any]) -> dict[str, Any]:
    widths, seeds = inputs["widths"], inputs["seeds"]
    asked, changed = taken(made, "asked", (len(widths), len(seeds)), "i"), taken(made, "changed", (), "b")
    return {"draws": CHANGED if changed else part_of_grid(asked, every_draw(seeds), "draws")}


TOKENS, WIDTH, FLOAT_BYTES, KIBIBYTE = 4096, 64, 4, 1024  # of the attention in `design`
FAST_MEMORY, MOST_READINGS = 128 * KIBIBYTE, 64


def bytes_of_blocks(queries: int, keys: int) -> int:
    """Bytes of a block of queries with output, maximum and sum, of a block of keys and values, and of the scores."""
    return FLOAT_BYTES * (2 * queries * WIDTH + 2 * queries + 2 * keys * WIDTH + queries * keys)


def _standing(constraint: str, block_queries: int, block_keys: int, key_blocks: int) -> str:
    """What is true of the chosen sizes, about one constraint."""
    if constraint == "memory":
        held = bytes_of_blocks(block_queries, block_keys)
        if held > FAST_MEMORY:
            return "more than 128 KiB"
        return "from 64 to 128 KiB" if held >= FAST_MEMORY / 2 else "less than 64 KiB"
    if constraint == "readings":
        return f"{'more than' if -(-TOKENS // block_queries) > MOST_READINGS else 'at most'} 64 times"
    if key_blocks * block_keys < TOKENS:
        return "keys left out"
    return "every key, and no empty block" if (key_blocks - 1) * block_keys < TOKENS else "empty blocks"


PROBES = {
    "design": design(_standing, block_queries=whole(), block_keys=whole(), key_blocks=whole()),
    "measure_saturation": ReadOutside(_measure_saturation, {"draws": _draws_seen}, {"draws": CALLS}),
    "online_attention": ReadOutside(
        _online_attention, {"memory": _memory_seen}, {"all_scores": "what a function holds in memory"}
    ),
}
