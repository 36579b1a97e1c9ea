"""Probes of lab 02, self-attention."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from coursekit.probes.blocks import scores_held, tensors_held
from coursekit.probes.choosing import design, whole
from coursekit.probes.driving import ContractError, entries, find, floats, function, function_of
from coursekit.probes.evidence import CALLS, Asked, ReadOutside, part_of_grid, taken

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
