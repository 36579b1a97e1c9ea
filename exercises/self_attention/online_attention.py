"""Lab 02, exercise `online_attention`."""

import math

import numpy as np

from autograder.declaring import Advice, Case, Exercise, wrong
from coursekit.generator import Generator
from coursekit.probes.blocks import ALL, ALL_KEYS
from coursekit.probes.self_attention import never_held
from exercises.drawing import drawn_until, is_far_apart, normal
from exercises.formulas.attention import softmax
from exercises.self_attention.shared import BUILT_IN_ATTENTION, ROOT, SCALED_BY_D, UNSCALED

exercise = Exercise("online_attention", forbidden=BUILT_IN_ATTENTION)


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


def _inputs(rng: Generator, queries: int, keys: int, block_size: int, *, d: int = 3, e: int = 2) -> dict:
    """Keys that answer the queries more and more, so that the largest score of a row changes on the way."""
    inputs = {
        "q": normal(rng, queries, d),
        "k": normal(rng, keys, d) * np.linspace(0.5, 3, keys, dtype="float32")[:, None],
        "v": normal(rng, keys, e),
    }
    return {**inputs, "block_size": block_size}


@exercise.group(
    "block sizes that divide the number of keys",
    points=2,
    advice=Advice(
        nan="exp of a large positive number is infinite. In the first block m is still as low as possible: which of "
        "your exponents has −m in it, and is it exp(new − m), or exp(score − m) with the old m?"
    ),
)
def values(rng: Generator) -> list[Case]:
    return [Case(_inputs(rng, 5, 14, 7)), Case(_inputs(rng, 7, 15, 3, d=5, e=11))]


@exercise.group("a shorter last block, blocks of one key, one block", points=1, must_fail_for=("last_keys_dropped",))
def other_blocks(rng: Generator) -> list[Case]:
    return [Case(_inputs(rng, 5, 17, 7)), Case(_inputs(rng, 7, 11, 1)), Case(_inputs(rng, 5, 7, 11))]


@exercise.group("finite for large scores", points=1, must_fail_for=("last_keys_dropped",))
def large_scores(rng: Generator) -> list[Case]:
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

    return [
        Case(drawn_until(is_clear, draw), description="scores of tens of thousands, block_size=3"),
        Case(drawn_until(is_clear, negative), description="scores far below zero, block_size=3"),
    ]


@exercise.group(
    "never holds T × S scores",
    points=1,
    advice="Only the scores of one block exist at a time, (T, block_size). What has to be kept of a block when the "
    "next one comes?",
)
def memory(rng: Generator) -> list[Case]:
    queries, keys = int(rng.integers(170, 210)), 11 * int(rng.integers(56, 64)) + 8
    description = f"{queries} queries, {keys} keys, block_size=11"
    return [Case(_inputs(rng, queries, keys, 11), mode="memory", description=description)]


# No factor before there is a maximum, as it is written to avoid ∞ · 0: without that every number is NaN, and NaN says
# nothing of the reason. The group's advice speaks then.
INVERTED = "np.where(np.isinf(largest), 0, np.exp(new - largest))"
SUMMED, MIXED = "powers.sum(axis=-1, keepdims=True)", "output * np.exp(largest - new) + powers @ values_of_block"

exercise.mistakes(
    nothing_rescaled=wrong(
        "When a larger score comes, the sum and the output so far still belong to the old maximum. Both have "
        "to be multiplied by exp(old − new).",
        ("total * np.exp(largest - new)", "total"),
        ("output * np.exp(largest - new)", "output"),
        hint="Compare exp(s − old) with exp(s − new) for a score of the first block.",
        see="02b#blocks",
    ),
    output_not_rescaled=wrong(
        "The running sum follows the new maximum, the output so far does not.",
        ("output * np.exp(largest - new)", "output"),
    ),
    sum_not_rescaled=wrong(
        "The output so far follows the new maximum, the running sum does not.",
        ("total * np.exp(largest - new)", "total"),
    ),
    factor_inverted=wrong(
        "The factor is the wrong way round: exp(new − old) instead of exp(old − new). What was summed up under a "
        "smaller maximum has to become smaller.",
        ("total * np.exp(largest - new)", f"total * {INVERTED}"),
        ("output * np.exp(largest - new)", f"output * {INVERTED}"),
    ),
    maximum_not_kept=wrong(
        "The largest score so far is not kept: m stays as low as before the first block, so all blocks but the last "
        "are multiplied by 0.",
        ("largest = new", "largest = largest"),
    ),
    blocks_added=wrong(
        "Each block has a softmax of its own, and the results are added: the weights of a query then sum to "
        "the number of blocks.",
        instead=blocks_added,
    ),
    blocks_averaged=wrong(
        "Each block has a softmax of its own, and the results are averaged: every block then counts the "
        "same, whatever its scores.",
        instead=blocks_averaged,
        hint="Which block should count more: one with large scores or one with small ones?",
        see="02b#blocks",
    ),
    softmax_in_every_block=wrong(
        "The exponentials of a block are divided by their sum in this block, so every block counts the same. Divide "
        "once, after the last block.",
        ("np.exp(part - new)", "np.exp(part - new) / np.exp(part - new).sum(axis=-1, keepdims=True)"),
        see="02b#blocks",
    ),
    new_block_rescaled=wrong(
        "The new block is multiplied by exp(old − new) as well. The factor is for what was summed up before it: "
        "multiply first, then add the block.",
        (f"total * np.exp(largest - new) + {SUMMED}", f"(total + {SUMMED}) * np.exp(largest - new)"),
        (MIXED, "(output + powers @ values_of_block) * np.exp(largest - new)"),
    ),
    last_keys_dropped=wrong(
        "The keys after the last whole block are left out.",
        ("range(0, len(k), block_size)", "range(0, len(k) - block_size + 1, block_size)"),
    ),
    not_divided=wrong("The division by the running sum at the end is missing.", ("output / total", "output")),
    divided_in_every_block=wrong(
        "The output is divided by the running sum after every block, so earlier blocks are divided again and "
        "again. Divide once, after the last block.",
        (
            "output * np.exp(largest - new) + powers @ values_of_block",
            "(output * np.exp(largest - new) + powers @ values_of_block) / total",
        ),
        ("output / total", "output"),
    ),
    scaled_by_block_size=wrong(
        "The scores are divided by the root of the block size. The number that counts is the width of q and k.",
        (ROOT, "math.sqrt(block_size)"),
        see="02#why-sqrt-dk",
    ),
    unscaled=UNSCALED,
    scaled_by_d=SCALED_BY_D,
    no_maximum=wrong(
        "Large scores overflow in `exp`: the largest score so far is not subtracted. Keep a running maximum for each "
        "query.",
        ("np.maximum(largest, part.max(axis=-1, keepdims=True))", "np.zeros_like(largest)"),
    ),
    maximum_of_the_block=wrong(
        "The maximum of each block is subtracted, not the largest score so far. When a block has smaller scores than "
        "the one before, exp(old − new) overflows.",
        ("np.maximum(largest, part.max(axis=-1, keepdims=True))", "part.max(axis=-1, keepdims=True)"),
    ),
    one_maximum_for_all=wrong(
        "One maximum serves all queries: a query whose scores lie far below it gets 0/0. Each query needs its own.",
        ("part.max(axis=-1, keepdims=True)", "part.max()"),
    ),
    maximum_starts_at_zero=wrong(
        "The running maximum starts too high, at 0 for example: a query whose scores all lie far below it gets 0/0. "
        "Which number is below every score?",
        ("-np.inf", "0.0"),
    ),
    all_scores_held=wrong(
        "At some point all T × S scores exist at once. The result is right, but the blocks are there to save memory.",
        seen={"all_scores": ALL},
        see="02b#memory-bound",
    ),
    all_keys_at_once=wrong(
        "Queries meet all keys at once. The blocks are blocks of keys: no score of a later block exists yet.",
        seen={"all_scores": ALL_KEYS},
        hint="What do you know about a query after the first `block_size` keys, and how does the next block change it?",
    ),
)

exercise.hints(
    "Write down for one query what you know after the first block: its largest score, the sum of the "
    "exponentials, the sum of exponentials times values. How do the three change with the second block?",
    "exp(s − new) = exp(s − old) · exp(old − new). So both sums under the old maximum need one and the same factor.",
    "Keep m and the sum as columns (T, 1): then everything broadcasts against (T, block) and (T, d_v). The division by "
    "the sum comes once, after the last block.",
)
exercise.hints("A slice that goes beyond the last key is not an error: it is only shorter.", group="other_blocks")
exercise.hints(
    "The maximum is subtracted in each row on its own, (T, 1), and it is the largest so far, not that of the block.",
    "Before the first block no score has been seen: which number is smaller than any score? exp(−∞ − new) is 0, so "
    "it needs no case of its own.",
    group="large_scores",
)
exercise.hints(
    "Take the slice of the keys first, then its scores; do not collect the scores of all blocks.", group="memory"
)
