"""Probes of lab 08b, generating text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from coursekit.probes.driving import ContractError, design, entries, find, function_of, numbers, unpack, whole
from coursekit.probes.evidence import CALLS, Asked, ReadOutside, kind_of, part_of_grid, taken

Step = Callable[[Sequence[int]], np.ndarray]


def table_step(table: np.ndarray, kind: str) -> Step:
    """Return the ``step_fn`` that a table of log-probabilities makes; its argument is a list of token ids.

    With the kind ``last token`` the next token depends on the last one, and row i of the table (V, V) belongs to
    token i. With ``all tokens`` every token of the prefix decides, by its place, which row of the table (R, V) counts.
    """

    def step(prefix: Sequence[int]) -> np.ndarray:
        tokens = [int(token) for token in prefix]
        if kind == "last token":
            row = tokens[-1] if tokens else 0
        else:
            row = sum((place + 2) * (3 * token + 1) for place, token in enumerate(tokens))
        return table[row % len(table)].copy()

    return step


def _sentence(value: Any, call: str) -> str:
    """Token ids as text, such as "[0, 4, 1]"; numbers of any kind are taken, one axis of them."""
    try:
        ids = np.asarray(value)
    except (ValueError, TypeError):
        ids = np.asarray(None)
    if ids.ndim != 1 or ids.dtype.kind not in "iuf" or (ids != np.round(ids)).any():
        raise ContractError(f"{call} gives {str(value)[:80]} as tokens; expected a list of token ids.")
    return str([int(token) for token in ids])


def _greedy_decode(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Call the function; in the mode ``asked`` hand over how often it asks `step_fn`."""
    step, asked = table_step(inputs["table"], inputs["kind"]), []

    def counted(prefix: Sequence[int]) -> np.ndarray:
        asked.append(len(prefix))
        return step(prefix)

    result = find(namespace, "greedy_decode")(counted, inputs["start_id"], inputs["end_id"], inputs["max_length"])
    if mode == "asked":
        return {"times": len(asked)}
    call = "greedy_decode(step_fn, …)"
    return {"tokens": _sentence(unpack(result, ("tokens",), call)["tokens"], call)}


def _asked_seen(inputs: Mapping[str, Any], made: Mapping[str, Any]) -> dict[str, Any]:
    """Whether `step_fn` is asked at all."""
    return {"asked": bool(taken(made, "times", (), "i") > 0)}


def _beam_search(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    step, call = table_step(inputs["table"], inputs["kind"]), "beam_search(step_fn, …)"
    sizes = [inputs[key] for key in ("start_id", "end_id", "beam_width", "max_length")]
    keywords = {"length_penalty": inputs["length_penalty"]} if "length_penalty" in inputs else {}
    found = unpack(find(namespace, "beam_search")(step, *sizes, **keywords), ("tokens", "score"), call)
    score = np.asarray(found["score"])
    if score.size != 1 or score.dtype.kind not in "iuf":
        raise ContractError(f"{call} gives {str(found['score'])[:80]} as score; expected one number.")
    return {"tokens": _sentence(found["tokens"], call), "score": score.reshape(()).astype("float64")}


def _cached_attention(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Drive the function token by token; in the mode ``branches`` the last two tokens continue the same cache."""
    import tensorflow as tf

    attend = find(namespace, "cached_attention")
    convert = tf.convert_to_tensor if mode == "tensor" else np.array

    def step(number: int, cache: Any) -> tuple[Any, Any]:
        arguments = [convert(inputs[name][:, :, [number]]) for name in ("query", "key", "value")]
        found = unpack(attend(*arguments, cache), ("output", "cache"), "cached_attention(query, key, value, cache)")
        return found["output"], found["cache"]

    length = inputs["query"].shape[2]
    outputs, cache = [], None
    for number in range(length - 2 * (mode == "branches")):
        output, cache = step(number, cache)
        outputs.append(numbers(output, "`output`"))
    if mode == "branches":
        return {"first": step(length - 2, cache)[0], "second": step(length - 1, cache)[0]}
    wrong = next((output.shape for output in outputs if output.ndim != 4 or output.shape[2] != 1), None)
    if wrong is not None:
        raise ContractError(f"`output` has the shape {wrong}; expected (B, H, 1, K) in each call.")
    if not isinstance(cache, (tuple, list)) or len(cache) != 2:
        raise ContractError(f"`cache` is {kind_of(cache)}; expected the pair (keys, values).")
    return {"output": np.concatenate(outputs, axis=2), "keys": cache[0], "values": cache[1]}


SEEDS_AGAIN = "several sentences for one seed"  # a function that asks again for a seed


def each_seed(seeds: Sequence[int]) -> str:
    """What is true of a function that drew one sentence for each of these seeds."""
    return f"one sentence for each seed: {', '.join(map(str, seeds))}"


def _measure_typical(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Hand over sentences that are drawn already, one for each seed, and note which seeds are asked for."""
    step, seeds = table_step(inputs["table"], inputs["kind"]), inputs["seeds"]
    asked = Asked("`draw` was asked for", seed=seeds)

    def draw(seed: int) -> list[int]:
        return list(inputs["drawn"][asked.place(seed=seed)[0]])

    names = inputs["names"]
    sentences = {name: list(tokens) for name, tokens in zip(names, inputs["sentences"], strict=True)}
    found = function_of(namespace, "measure_typical")(step, sentences, draw, list(seeds))
    shown = "measure_typical(…)"
    found = entries(found, names, shown, "an entry for each name")
    rows = [numbers(found[name], f"the entry of {name!r}") for name in names]
    if any(row.shape != (3,) for row in rows):
        raise ContractError(f"{shown} has an entry that is not (log_p, ahead, ahead_per_token).")
    return {"rows": np.array(rows, "float64"), "asked": asked.table}


def _draws_seen(inputs: Mapping[str, Any], made: Mapping[str, Any]) -> dict[str, Any]:
    """Whether each seed was asked for, and none of them again."""
    asked, seeds = taken(made, "asked", (len(inputs["seeds"]),), "i"), inputs["seeds"]
    again = asked.min(initial=1) >= 1 and asked.sum() > len(seeds)
    return {"draws": SEEDS_AGAIN if again else part_of_grid(asked, each_seed(seeds), "seeds")}


def _log_p_seen(inputs: Mapping[str, Any], made: Mapping[str, Any]) -> dict[str, Any]:
    return {"log_p": taken(made, "rows", (len(inputs["names"]), 3)).T[0]}


def _typical_seen(inputs: Mapping[str, Any], made: Mapping[str, Any]) -> dict[str, Any]:
    asked, seeds = taken(made, "asked", (len(inputs["seeds"]),), "i"), inputs["seeds"]
    _, ahead, per_token = taken(made, "rows", (len(inputs["names"]), 3)).T
    calls = part_of_grid(asked, each_seed(seeds), "seeds")
    return {**_log_p_seen(inputs, made), "ahead": ahead, "ahead_per_token": per_token, "calls": calls}


TYPICAL_SEEN = {"log_p": _log_p_seen, "call": _typical_seen, "calls": _draws_seen}


BLOCKS, QUERY_HEADS, HEAD_WIDTH, TOKENS, BYTES = 40, 40, 128, 4096, 2  # of the model in `design`
GIBIBYTE = 2**30


def bytes_of_caches(num_kv_heads: int, texts: int) -> int:
    """Bytes of the caches of so many texts."""
    return 2 * BLOCKS * num_kv_heads * HEAD_WIDTH * TOKENS * BYTES * texts


def _standing(constraint: str, num_kv_heads: int, texts: int) -> str:
    """What is true of the chosen sizes, about one constraint."""
    if (num_kv_heads, texts) == (QUERY_HEADS, 7):
        raise ContractError("this is the example of the text, in which 7 texts fit. Choose other numbers.")
    if constraint == "texts":
        return "at least 24 texts" if texts >= 24 else "fewer than 24 texts"
    if constraint == "memory":
        held = bytes_of_caches(num_kv_heads, texts)
        if held > 24 * GIBIBYTE:
            return "more than 24 GiB"
        return "from 12 to 24 GiB" if held >= 12 * GIBIBYTE else "less than 12 GiB"
    if QUERY_HEADS % num_kv_heads:
        return "G does not divide 40"
    fits = QUERY_HEADS // num_kv_heads <= 8
    return f"{'G divides 40, and at most' if fits else 'more than'} 8 query heads share a key head"


PROBES = {
    "design": design(_standing, num_kv_heads=whole(), texts=whole()),
    "measure_typical": ReadOutside(_measure_typical, TYPICAL_SEEN, {"calls": CALLS, "draws": CALLS}),
    "greedy_decode": ReadOutside(_greedy_decode, {"asked": _asked_seen}, {"asked": CALLS}),
    "beam_search": _beam_search,
    "cached_attention": _cached_attention,
}
