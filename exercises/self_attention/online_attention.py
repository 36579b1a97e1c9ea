"""Lab 02, exercise `online_attention`."""

import math

import numpy as np

from autograder.declare import Advice, Case, Exercise, edit, instead, seen
from coursekit.probes.self_attention import ALL, ALL_KEYS, never_held
from exercises.drawing import drawn_until, is_far_apart, normal
from exercises.formulas.attention import softmax
from exercises.self_attention.shared import BUILT_IN_ATTENTION, ROOT, SCALED_BY_D, UNSCALED

exercise = Exercise("online_attention", own_probe=True, forbidden=BUILT_IN_ATTENTION)


@exercise.formula
def online_attention(q: np.ndarray, k: np.ndarray, v: np.ndarray, block_size: int) -> dict[str, np.ndarray]:
    """Attention with keys in blocks (Dao et al. 2022, 3.1). q (T, d), k (S, d), v (S, e) -> ``output`` (T, e)."""
    scores = np.einsum("td,sd->ts", q, k) / math.sqrt(q.shape[-1])
    output, total = np.zeros((len(q), v.shape[-1]), q.dtype), np.zeros((len(q), 1), q.dtype)
    largest = np.full((len(q), 1), -np.inf, q.dtype)
    for start in range(0, len(k), block_size):
        part, values_of_block = scores[:, start : start + block_size], v[start : start + block_size]
        new = np.maximum(largest, part.max(axis=-1, keepdims=True))
        powers = np.exp(part - new)
        total = total * np.exp(largest - new) + powers.sum(axis=-1, keepdims=True)
        output = output * np.exp(largest - new) + powers @ values_of_block
        largest = new
    return {"output": output / total}


@exercise.formula_for("memory")
def few_scores_at_once(q: np.ndarray, k: np.ndarray) -> dict[str, str]:
    """A matrix (T, S) of scores is never held."""
    return {"all_scores": never_held(q, k)}


def _outputs_of_blocks(q: np.ndarray, k: np.ndarray, v: np.ndarray, block_size: int) -> list[np.ndarray]:
    scores = np.einsum("td,sd->ts", q, k) / math.sqrt(q.shape[-1])
    blocks = [slice(start, start + block_size) for start in range(0, len(k), block_size)]
    return [softmax(scores[:, block]) @ v[block] for block in blocks]


def blocks_added(q: np.ndarray, k: np.ndarray, v: np.ndarray, block_size: int) -> dict[str, np.ndarray]:
    """A softmax for each block; the results are added."""
    return {"output": np.sum(_outputs_of_blocks(q, k, v, block_size), axis=0)}


def blocks_averaged(q: np.ndarray, k: np.ndarray, v: np.ndarray, block_size: int) -> dict[str, np.ndarray]:
    """A softmax for each block; the results are averaged."""
    return {"output": np.mean(_outputs_of_blocks(q, k, v, block_size), axis=0)}


def _inputs(rng, queries: int, keys: int, block_size: int, *, d: int = 3, e: int = 2) -> dict:
    """Keys that answer the queries more and more, so that the largest score of a row changes on the way."""
    inputs = {
        "q": normal(rng, queries, d),
        "k": normal(rng, keys, d) * np.linspace(0.5, 3, keys, dtype="float32")[:, None],
        "v": normal(rng, keys, e),
    }
    return {**inputs, "block_size": block_size}


exercise.group(
    "block sizes that divide the number of keys",
    points=2,
    values=lambda rng: [_inputs(rng, 5, 14, 7), _inputs(rng, 7, 15, 3, d=5, e=11)],
)
exercise.group(
    "a shorter last block, blocks of one key, one block",
    must_fail_for=("last_keys_dropped",),
    other_blocks=lambda rng: [_inputs(rng, 5, 17, 7), _inputs(rng, 7, 11, 1), _inputs(rng, 5, 7, 11)],
)


@exercise.group("right and finite for large scores", must_fail_for=("last_keys_dropped",))
def large_scores(rng):
    """Scores of some thousands; in the second case all of them are negative, and the first query's are the lowest."""

    def draw() -> dict:
        inputs = _inputs(rng, 5, 13, 3)
        return {**inputs, "q": inputs["q"] * 100, "k": inputs["k"] * 100}

    def negative() -> dict:
        inputs = _inputs(rng, 5, 13, 3)
        lengths = np.array([900, 100, 200, 300, 400], "float32")[:, None]
        return {**inputs, "q": -lengths * (1 + np.abs(inputs["q"])), "k": 3 + np.abs(inputs["k"])}

    def is_clear(inputs: dict) -> bool:
        return is_far_apart(inputs["q"] @ inputs["k"].T / 3**0.5, 200)

    yield Case(drawn_until(is_clear, draw), "scores of tens of thousands, block_size=3")
    yield Case(drawn_until(is_clear, negative), "scores far below zero, block_size=3")


@exercise.group("never holds T × S scores")
def memory(rng):
    queries, keys = int(rng.integers(170, 210)), 11 * int(rng.integers(56, 64)) + 8
    description = f"{queries} queries, {keys} keys, block_size=11"
    return Case(_inputs(rng, queries, keys, 11), description, mode="memory")


# No factor before there is a maximum, as it is written to avoid ∞ · 0: without that every number is NaN, and NaN says
# nothing of the reason. The group's advice speaks then.
INVERTED = "np.where(np.isinf(largest), 0, np.exp(new - largest))"
SUMMED, MIXED = "powers.sum(axis=-1, keepdims=True)", "output * np.exp(largest - new) + powers @ values_of_block"

exercise.mistakes(
    nothing_rescaled=edit("total * np.exp(largest - new)", "total")
    | edit("output * np.exp(largest - new)", "output", see="02b#blocks")
    | "When a larger score comes, the sum and the output so far still belong to the old maximum. Both have to be "
    "multiplied by exp(old − new)." | "Compare exp(s − old) with exp(s − new) for a score of the first block.",
    output_not_rescaled=edit("output * np.exp(largest - new)", "output")
    | "The running sum follows the new maximum, the output so far does not.",
    sum_not_rescaled=edit("total * np.exp(largest - new)", "total")
    | "The output so far follows the new maximum, the running sum does not.",
    factor_inverted=edit("total * np.exp(largest - new)", f"total * {INVERTED}")
    | edit("output * np.exp(largest - new)", f"output * {INVERTED}")
    | "The factor is the wrong way round: exp(new − old) instead of exp(old − new). What was summed up under a "
    "smaller maximum has to become smaller.",
    maximum_not_kept=edit("largest = new", "largest = largest")
    | "The largest score so far is not kept: m stays as low as before the first block, so all blocks but the last are "
    "multiplied by 0.",
    blocks_added=instead(blocks_added)
    | "Each block has a softmax of its own, and the results are added: the weights of a query then sum to the number "
    "of blocks.",
    blocks_averaged=instead(blocks_averaged, see="02b#blocks")
    | "Each block has a softmax of its own, and the results are averaged: every block then counts the same, whatever "
    "its scores." | "Which block should count more: one with large scores or one with small ones?",
    softmax_in_every_block=edit(
        "np.exp(part - new)", "np.exp(part - new) / np.exp(part - new).sum(axis=-1, keepdims=True)", see="02b#blocks"
    )
    | "The exponentials of a block are divided by their sum in this block, so every block counts the same. Divide "
    "once, after the last block.",
    new_block_rescaled=edit(f"total * np.exp(largest - new) + {SUMMED}", f"(total + {SUMMED}) * np.exp(largest - new)")
    | edit(MIXED, "(output + powers @ values_of_block) * np.exp(largest - new)")
    | "The new block is multiplied by exp(old − new) as well. The factor is for what was summed up before it: "
    "multiply first, then add the block.",
    last_keys_dropped=edit("range(0, len(k), block_size)", "range(0, len(k) - block_size + 1, block_size)")
    | "The keys after the last whole block are left out.",
    not_divided=edit("output / total", "output") | "The division by the running sum at the end is missing.",
    divided_in_every_block=edit(
        "output * np.exp(largest - new) + powers @ values_of_block",
        "(output * np.exp(largest - new) + powers @ values_of_block) / total",
    )
    | edit("output / total", "output")
    | "The output is divided by the running sum after every block, so earlier blocks are divided again and again. "
    "Divide once, after the last block.",
    scaled_by_block_size=edit(ROOT, "math.sqrt(block_size)", see="02#why-sqrt-dk")
    | "The scores are divided by the root of the block size. The number that counts is the width of q and k.",
    unscaled=UNSCALED,
    scaled_by_d=SCALED_BY_D,
    no_maximum=edit("np.maximum(largest, part.max(axis=-1, keepdims=True))", "np.zeros_like(largest)")
    | "Large scores overflow in `exp`: the largest score so far is not subtracted. Keep a running maximum for each "
    "query.",
    maximum_of_the_block=edit(
        "np.maximum(largest, part.max(axis=-1, keepdims=True))", "part.max(axis=-1, keepdims=True)"
    )
    | "The maximum of each block is subtracted, not the largest score so far. When a block has smaller scores than "
    "the one before, exp(old − new) overflows.",
    one_maximum_for_all=edit("part.max(axis=-1, keepdims=True)", "part.max()")
    | "One maximum serves all queries: a query whose scores lie far below it gets 0/0. Each query needs its own.",
    maximum_starts_at_zero=edit("-np.inf", "0.0")
    | "The running maximum starts too high, at 0 for example: a query whose scores all lie far below it gets 0/0. "
    "Which number is below every score?",
    all_scores_held=seen({"all_scores": ALL}, see="02b#memory-bound")
    | "At some point all T × S scores exist at once. The result is right, but the blocks are there to save memory.",
    all_keys_at_once=seen({"all_scores": ALL_KEYS})
    | "Queries meet all keys at once. The blocks are blocks of keys: no score of a later block exists yet."
    | "What do you know about a query after the first `block_size` keys, and how does the next block change it?",
)

exercise.advice(
    values=Advice(
        nan="exp of a large positive number is infinite. In the first block m is still as low as possible: which of "
        "your exponents has −m in it, and is it exp(new − m), or exp(score − m) with the old m?"
    ),
    memory="Only the scores of one block exist at a time, (T, block_size). What has to be kept of a block when the "
    "next one comes?",
)
exercise.hints(
    values=(
        "Write down for one query what you know after the first block: its largest score, the sum of the "
        "exponentials, the sum of exponentials times values. How do the three change with the second block?",
        "exp(s − new) = exp(s − old) · exp(old − new). So both sums under the old maximum need one and the same "
        "factor.",
        "Keep m and the sum as columns (T, 1): then everything broadcasts against (T, block) and (T, d_v). The "
        "division by the sum comes once, after the last block.",
    ),
    other_blocks="A slice that goes beyond the last key is not an error: it is only shorter.",
    large_scores=(
        "The maximum is subtracted in each row on its own, (T, 1), and it is the largest so far, not that of the "
        "block.",
        "Before the first block no score has been seen: which number is smaller than any score? exp(−∞ − new) is 0, "
        "so it needs no case of its own.",
    ),
    memory="Take the slice of the keys first, then its scores; do not collect the scores of all blocks.",
)
