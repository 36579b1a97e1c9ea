"""Lab 10, exercise `GroupedAttention`."""

from dataclasses import replace
from typing import Any

import numpy as np

from autograder.declare import Case, Exercise, edit
from exercises.drawing import normal
from exercises.language_model.shared import UNSCALED, attend
from exercises.self_attention.shared import BUILT_IN_ATTENTION

exercise = Exercise("GroupedAttention", own_probe=True, probe_only=("d_model",), forbidden=BUILT_IN_ATTENTION)


@exercise.formula
def grouped_attention(x, w_q_kernel, w_k_kernel, w_v_kernel, w_o_kernel, num_heads, num_kv_heads, cuts=()):
    """Causal attention with grouped heads and rotary positions of x (B, T, D), handed over in the parts of `cuts`."""
    outputs: list[np.ndarray] = []
    cache: Any = None
    for part in np.split(x, list(cuts), axis=1):
        output, cache = attend(part, w_q_kernel, w_k_kernel, w_v_kernel, w_o_kernel, num_heads, num_kv_heads, cache)
        outputs.append(output)
    keys, values_so_far = cache
    return {"output": np.concatenate(outputs, axis=1), "keys": keys, "values": values_so_far}


@exercise.formula_for("graph")
def in_one_array(x, w_q_kernel, w_k_kernel, w_v_kernel, w_o_kernel, num_heads, num_kv_heads):
    """Inside a graph the pair comes back as one array (2, B, G, T, K)."""
    found = grouped_attention(x, w_q_kernel, w_k_kernel, w_v_kernel, w_o_kernel, num_heads, num_kv_heads)
    return {"output": found["output"], "cache": np.stack([found["keys"], found["values"]])}


@exercise.formula_for("twice")
def continued_twice(x, w_q_kernel, w_k_kernel, w_v_kernel, w_o_kernel, num_heads, num_kv_heads, cuts):
    """The same tokens behind the same cache, two times."""
    kernels = w_q_kernel, w_k_kernel, w_v_kernel, w_o_kernel
    before, new = np.split(x, list(cuts), axis=1)
    _, cache = attend(before, *kernels, num_heads, num_kv_heads, None)
    first, _longer = attend(new, *kernels, num_heads, num_kv_heads, cache)
    second, _ = attend(new, *kernels, num_heads, num_kv_heads, cache)
    return {"first_output": first, "second_output": second}


@exercise.formula_for("parameters")
def number_of_parameters(w_q_kernel, w_k_kernel, w_v_kernel, w_o_kernel):
    """Four Dense layers without bias have the numbers of their kernels."""
    kernels = [w_q_kernel, w_k_kernel, w_v_kernel, w_o_kernel]
    return {"trainable_parameters": int(sum(kernel.size for kernel in kernels))}


def _inputs(rng, heads=6, shared=2, size=4, *, batch=2, length=7, cuts=()):
    width, narrow = heads * size, shared * size
    kernels = {
        f"w_{name}.kernel": normal(rng, width, columns) / np.float32(width**0.5)
        for name, columns in zip("qkvo", (width, narrow, narrow, width), strict=True)
    }
    return {
        "d_model": width,
        "num_heads": heads,
        "num_kv_heads": shared,
        "x": 2 * normal(rng, batch, length, width),
        **kernels,
        **({"cuts": list(cuts)} if cuts else {}),
    }


@exercise.group("causal, with grouped heads and rotary positions")
def values(rng):
    yield Case(_inputs(rng), "d_model=24, num_heads=6, num_kv_heads=2, x (2, 7, 24)")
    yield Case(_inputs(rng, 6, 3, 2, batch=3, length=5), "d_model=12, num_heads=6, num_kv_heads=3, x (3, 5, 12)")
    yield Case(
        _inputs(rng, 6, 3, 2), "trainable parameters, d_model=12, num_heads=6, num_kv_heads=3", mode="parameters"
    )


@exercise.group("the tokens in parts, each behind the cache of the one before", points=2)
def parts(rng):
    yield Case(
        _inputs(rng, cuts=(3, 4, 5)), "three tokens, then one, one and two; num_heads=6, num_kv_heads=2", mode="parts"
    )
    yield Case(
        _inputs(rng, 3, 1, length=5, cuts=(1, 2, 3, 4)), "one token a call, num_heads=3, num_kv_heads=1", mode="parts"
    )
    yield Case(
        _inputs(rng, 3, 3, length=5, cuts=(2,)), "two tokens, then three; num_heads=3, num_kv_heads=3", mode="parts"
    )


@exercise.group("one cache can be continued twice")
def twice(rng):
    return Case(_inputs(rng, length=5, cuts=(3,)), "two tokens behind a cache of three, twice", mode="twice")


@exercise.group("works inside tf.function, and gradients reach every weight")
def training(rng):
    small = _inputs(rng, 2, 1, 2, batch=1, length=3)
    yield Case(_inputs(rng, 6, 3, 2), "inside tf.function, batch size and length unknown", mode="graph")
    yield Case(
        {**small, "cotangent.output": normal(rng, 1, 3, 4)}, "gradients, compared with numerical ones", mode="gradient"
    )


MIXED = "(weights @ for_each_query_head(v, times))"
BLOCKED = "np.where(seen, scores, scores.dtype.type(-1e9))"

exercise.mistakes(
    positions_restart=edit("past + np.arange(x.shape[1])", "np.arange(x.shape[1])", see="05#rotary")
    | "Behind a cache the positions begin at 0 again, so a new token has the angle of the first one."
    | "How many tokens does the cache hold, and along which axis of (B, G, t, K)? That is the position of the first "
    "new token.",
    heads_in_turn=edit("np.repeat(heads, times, axis=1)", "np.tile(heads, (1, times, 1, 1))", see="03#heads")
    | "Query head h reads key head h % G. Neighbours should share one: heads 0 to H/G − 1 read the first. Compare "
    "`repeat` with `tile`." | "With six query heads and two key heads: which three should read key head 0?",
    mask_restarts=edit(".shape[1], k.shape[2], past, dtype=bool", ".shape[1], k.shape[2], dtype=bool", see="02#causal")
    | "Behind a cache the mask begins at its first row again: a new token sees only the oldest keys, and not itself."
    | "The scores are (t, S). Query row 0 is the token at position S − t: which keys may it see?",
    rotated_twice=edit("([cache[0], k], axis=2)", "([turned(cache[0], np.arange(past)), k], axis=2)")
    | "The keys of the cache are turned again in each call. They are turned already when they go into the cache."
    | "Turn the new keys first, and concatenate afterwards.",
    not_causal=edit(BLOCKED, "scores", see="02#causal")
    | "Every token sees the later ones as well: the mask is missing."
    | "Which keys lie behind the token at position t?",
    unscaled=replace(UNSCALED, costs_at_most=0.5),  # lab 02 asks for it
    turned_whole=edit(
        "turned(heads_of(x @ w_q, num_heads), positions)", "heads_of(turned(x @ w_q, positions), num_heads)"
    )
    | edit("turned(heads_of(x @ w_k, num_kv_heads), positions)", "heads_of(turned(x @ w_k, positions), num_kv_heads)")
    | "The tokens are turned before they are split into heads, so every head has other angles. Each head of width K "
    "should be turned on its own." | "`rotated` takes (…, T, K): what is the last axis when you call it?",
    not_turned=edit("turned(heads_of(x @ w_q, num_heads), positions)", "heads_of(x @ w_q, num_heads)")
    | edit("turned(heads_of(x @ w_k, num_kv_heads), positions)", "heads_of(x @ w_k, num_kv_heads)", see="05#rotary")
    | "Nothing is turned: queries and keys have no positions.",
    repeated_in_cache=edit("output, (k, v)", "output, (for_each_query_head(k, times), for_each_query_head(v, times))")
    | "The cache holds keys and values for every query head. Keep the G heads that were computed: that is what "
    "sharing saves.",
    kept_in_the_layer=edit(
        "second, _ = attend(new, *kernels, num_heads, num_kv_heads, cache)",
        "second, _ = attend(new, *kernels, num_heads, num_kv_heads, _longer)",
    )
    | "A second continuation of the same cache sees the first one's tokens: the layer keeps keys and values itself. "
    "Use those that come in.",
    root_of_d_model=edit("math.sqrt(q.shape[-1])", "math.sqrt(x.shape[-1])", see="02#why-sqrt-dk")
    | "The scores are divided by √D. Each score is a sum over the K numbers of one head."
    | "Over how many products does one score sum?",
    keys_not_turned=edit(
        "turned(heads_of(x @ w_k, num_kv_heads), positions)", "heads_of(x @ w_k, num_kv_heads)", see="05#rotary"
    )
    | "The queries are turned, and the keys are not. A score knows a distance only if both are turned.",
    queries_not_turned=edit(
        "turned(heads_of(x @ w_q, num_heads), positions)", "heads_of(x @ w_q, num_heads)", see="05#rotary"
    )
    | "The keys are turned, and the queries are not. A score knows a distance only if both are turned.",
    itself_hidden=edit("(x.shape[1], k.shape[2], past, dtype=bool)", "(x.shape[1], k.shape[2], past - 1, dtype=bool)")
    | "A token does not see itself. It should see all earlier tokens and itself."
    | "Which keys may the first token of all see?",
    mask_turned_around=edit(
        "np.tri(x.shape[1], k.shape[2], past, dtype=bool)",
        "~np.tri(x.shape[1], k.shape[2], past - 1, dtype=bool)",
        see="02#causal",
    )
    | "The mask is turned around: each token sees itself and the later ones. It should see the earlier ones."
    | "Which keys may the last token of all see? It knows the whole text.",
    newest_first=edit("np.concatenate([cache[0], k], axis=2)", "np.concatenate([k, cache[0]], axis=2)")
    | edit("np.concatenate([cache[1], v], axis=2)", "np.concatenate([v, cache[1]], axis=2)")
    | "The new keys and values are put before the cache. The newest ones should come last.",
    unmasked_behind_a_cache=edit(BLOCKED, f"{BLOCKED} if cache is None else scores", see="02#causal")
    | "Behind a cache nothing is blocked: of several new tokens the first sees the last. One new token alone needs no "
    "mask, several do." | "Three tokens come behind a cache of two. Which of the five keys may the first of them see?",
    only_new_returned=edit("return output, (k, v)", "return output, (k[:, :, past:], v[:, :, past:])")
    | "The pair that comes back holds the new tokens alone. It should hold those of the cache and the new ones."
    | "A second call with the pair of the first one: how many tokens must it know?",
    cache_not_read=edit("past = 0 if cache is None else cache[0].shape[2]", "past, cache = 0, None")
    | "The cache changes nothing: a call knows its own tokens alone.",
    key_positions_restart=edit(", num_kv_heads), positions", ", num_kv_heads), np.arange(x.shape[1])", see="05#rotary")
    | "Behind a cache the positions of the new keys begin at 0 again; those of the queries go on."
    | "Token 5 is a query now, and a key for those that come later. Which position has its key?",
    pair_swapped=edit("return output, (k, v)", "return output, (v, k)")
    | "The cache comes back as (values, keys). The keys should come first.",
    raw_keys_kept=edit("turned(heads_of(x @ w_k, num_kv_heads), positions)", "heads_of(x @ w_k, num_kv_heads)")
    | edit("for_each_query_head(k, times)", "for_each_query_head(turned(k, np.arange(k.shape[2])), times)")
    | "The cache holds keys that are not turned. Turn the new keys first, and concatenate afterwards: then no key is "
    "turned a second time.",
    positions_from_one=edit("past + np.arange(x.shape[1])", "past + 1 + np.arange(x.shape[1])")
    | "The positions begin at 1. Scores know distances alone, so the output is the same, but the keys of the cache "
    "are not. The first token should have position 0.",
    query_positions_restart=edit(", num_heads), positions)", ", num_heads), np.arange(x.shape[1]))", see="05#rotary")
    | "Behind a cache the positions of the queries begin at 0 again; those of the keys go on.",
    values_turned=edit(
        "v = heads_of(x @ w_v, num_kv_heads)", "v = turned(heads_of(x @ w_v, num_kv_heads), positions)", see="05#rotary"
    )
    | "The values are turned as well. Only queries and keys should be: positions belong into the scores.",
    over_the_queries=edit(f"softmax({BLOCKED})", f"softmax({BLOCKED}, axis=-2)")
    | "The softmax runs over the queries. The weights of one query should sum to 1: it should run over the keys, the "
    "last axis.",
    values_in_turn=edit(MIXED, "(weights @ np.tile(v, (1, times, 1, 1)))", see="03#heads")
    | "Query head h reads value head h % G. Neighbours should share keys and values alike. Compare `repeat` with "
    "`tile`.",
    first_head_for_all=edit("(heads, times, axis=1)", "(heads[:, :1], times * heads.shape[1], axis=1)", see="03#heads")
    | "All query heads read the first key head. Only neighbours should share one: H/G query heads read each."
    | "With six query heads and two key heads: which three should read key head 1?",
    mask_after_softmax=edit(f"softmax({BLOCKED})", "np.where(seen, softmax(scores), 0)", see="02#causal")
    | "The mask comes after the softmax, so the weights of a query do not sum to 1. Block the scores.",
    scaled_twice=edit("/ math.sqrt(q.shape[-1])", "/ q.shape[-1]", see="02#why-sqrt-dk")
    | "The scores are divided by K. Divide once by √K."
    | "Is there a second place that scales, such as the queries?",
    heads_not_put_back=edit(f"{MIXED}.transpose(0, 2, 1, 3)", MIXED, see="03#heads")
    | "The heads are not put side by side: before the reshape to (B, T, D), (B, H, T, K) should become (B, T, H, K).",
)

exercise.advice(
    values="Project, split, turn queries and keys, repeat keys and values for the heads that share them, score, block "
    "what comes later, mix, merge, project.",
    parts="With a cache the result must be what one call with all tokens gives: the same rows, and the same keys and "
    "values at the end.",
    twice="Whoever holds a cache may continue it a second time. Use the cache that comes in, and keep nothing in the "
    "layer.",
    training="Inside tf.function batch size and length are None in `x.shape`: take them from `ops.shape(x)`, or put "
    "-1 for one of them in a reshape. NumPy stops graphs and gradients.",
)
exercise.hints(
    values=(
        "Go through the page's `PlainRotaryAttention` line by line. Which lines change with grouped heads, and is "
        "everything else still there: both turns, the root, the mask?",
        "After the split k is (B, G, T, K). `ops.repeat(k, n, axis=…)` writes every head n times in a row: which "
        "axis, and what is n?",
    ),
    parts=(
        "The cache has the shape (B, G, t, K). Which number of it is the position of the first new token?",
        "Positions of the new tokens: offset + arange(length). The mask compares them with the positions of all keys, "
        "0 to S − 1.",
    ),
    twice="What does your layer remember from one call to the next, besides its weights? It should be nothing.",
    training="Does every size in your reshape come from `ops.shape(x)` or from the constructor?",
)
