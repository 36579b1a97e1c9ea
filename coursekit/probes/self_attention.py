"""Probes of lab 02, self-attention."""

from __future__ import annotations

import tracemalloc
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from coursekit.probes.choosing import design, whole
from coursekit.probes.driving import ContractError, find, function, numbers
from coursekit.probes.keeping import function_of
from coursekit.probes.naming import kind_of

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
    return {"all_scores": "held" if most >= scores else never_held(q, k)}


def never_held(q: np.ndarray, k: np.ndarray) -> str:
    """What is true of a function that never holds all scores of q (T, d) and k (S, d)."""
    return f"{len(q)} × {len(k)}, never held"


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


def every_draw(seeds: Sequence[int]) -> str:
    """What is true of a function that drew with each of these seeds at every width."""
    return f"every seed at every width: {', '.join(map(str, seeds))}"


MEANS, FIRSTS = ("unscaled", "scaled"), ("first_unscaled", "first_scaled")


def _measure_saturation(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Hand over queries and keys that are drawn already, and note which are asked for."""
    widths, seeds = list(inputs["widths"]), list(inputs["seeds"])
    asked: set[tuple[int, int]] = set()

    def draw(seed: int, d: int) -> tuple[np.ndarray, np.ndarray]:
        for value, known, name in ((seed, seeds, "seed"), (d, widths, "width")):
            if value not in known:
                raise ContractError(f"`draw` was asked for the {name} {value!r}, which is not among those given.")
        asked.add((widths.index(d), seeds.index(seed)))
        return tuple(inputs[name][widths.index(d), seeds.index(seed), :, :d].copy() for name in ("queries", "keys"))

    limit = (inputs["threshold"],) if "threshold" in inputs else ()
    found = function_of(namespace, "measure_saturation")(draw, list(widths), list(seeds), *limit)
    shown = "measure_saturation(…)"
    missing = [name for name in (*MEANS, *FIRSTS, "base") if not isinstance(found, Mapping) or name not in found]
    if missing:
        raise ContractError(
            f"{shown} returned {kind_of(found)}; expected a dictionary with {', '.join(map(repr, missing))}."
        )
    if mode == "draws":
        return {"draws": _drawn(asked, len(widths), seeds)}
    if mode == "base":
        return {"base": numbers(found["base"], '"base"').astype("float64")}
    means = {name: numbers(found[name], f'"{name}"').astype("float64") for name in MEANS}
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


def _drawn(asked: set[tuple[int, int]], widths: int, seeds: Sequence[int]) -> str:
    """What was drawn, of all seeds and widths."""
    if len(asked) == widths * len(seeds):
        return every_draw(seeds)
    if asked and len({seed for _, seed in asked}) == 1:
        return "one seed only"
    return f"{len(asked)} of {widths * len(seeds)} draws"


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
    "measure_saturation": _measure_saturation,
    "online_attention": _online_attention,
}
