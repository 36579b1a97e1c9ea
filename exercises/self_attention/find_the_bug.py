"""Lab 02, exercise `find_the_bug`."""

import math

import numpy as np

from autograder.declare import Case, Exercise, edit, instead
from exercises.drawing import drawn_until, is_far_apart, normal
from exercises.formulas.attention import scaled_dot_product_attention, softmax
from exercises.self_attention import shared
from exercises.self_attention.shared import low_blocks_matter, project_qkv

exercise = Exercise("find_the_bug", forbidden=shared.BUILT_IN_ATTENTION)


@exercise.formula
def causal_self_attention(x: np.ndarray, w_q: np.ndarray, w_k: np.ndarray, w_v: np.ndarray) -> dict[str, np.ndarray]:
    """Self-attention in which token t mixes the values of tokens 0 to t. x (…, T, D) -> ``output`` (…, T, d_v)."""
    past = np.tri(x.shape[-2], dtype=bool)
    return {"output": scaled_dot_product_attention(**project_qkv(x, w_q, w_k, w_v), mask=past)["output"]}


def normalised_after(x: np.ndarray, w_q: np.ndarray, w_k: np.ndarray, w_v: np.ndarray) -> dict[str, np.ndarray]:
    """The weights of later tokens are cut off after the softmax, and the others divided by their sum."""
    q, k, v = project_qkv(x, w_q, w_k, w_v).values()
    weights = softmax(np.einsum("...td,...sd->...ts", q, k) / math.sqrt(q.shape[-1])) * np.tri(x.shape[-2])
    return {"output": weights / weights.sum(axis=-1, keepdims=True) @ v}


def _inputs(rng, *leading: int, length: int = 5) -> dict:
    return {
        "x": normal(rng, *leading, length, 7),
        "w_q": normal(rng, 7, 3),
        "w_k": normal(rng, 7, 3),
        "w_v": normal(rng, 7, 11),
    }


exercise.group("right values", points=2, values=lambda rng: [_inputs(rng), _inputs(rng, length=11)])


@exercise.group("leading dimensions")
def batched(rng):
    yield _inputs(rng, 2)
    yield Case(_inputs(rng, 2, 3), "TensorFlow tensors, x (2, 3, 5, 7)", mode="tensor")


@exercise.group(
    "a later token with a far larger score changes nothing", must_fail_for=("normalised_after", "scores_zeroed")
)
def large_scores(rng):
    def draw() -> dict:
        inputs = _inputs(rng)
        return {**inputs, "x": inputs["x"] * 60}

    def is_clear(inputs: dict) -> bool:
        scores = inputs["x"] @ inputs["w_q"] @ (inputs["x"] @ inputs["w_k"]).T
        seen = np.where(np.tri(5, dtype=bool), scores, -1e9)
        lowest = seen.max(axis=-1)[:-1] / 3**0.5  # the last token sees all
        return is_far_apart(seen[1:], 1000) and is_far_apart(scores, 1000) and low_blocks_matter(lowest)

    return Case(drawn_until(is_clear, draw), "x (5, 7), scores of tens of thousands")


PAST = "np.tri(x.shape[-2], dtype=bool)"
# A row that sees nothing: all scores are −1e9 so all weights are equal.
EQUAL_WEIGHTS = ("np.where(allowed.any(axis=-1, keepdims=True), softmax(kept), np.nan)", "softmax(kept)")

exercise.given((shared.BLOCKED, "scores"), ("softmax(kept)", "softmax(kept) * allowed"))

exercise.mistakes(
    normalised_after=instead(normalised_after)
    | "The remaining weights are divided by their sum. That is right until a later token has a far larger score: then "
    "the remaining weights round to 0, and the result is 0/0. Can the later tokens be kept out before the softmax?",
    nothing_blocked=edit("mask=past", "mask=None") | "Every token sees the later ones as well.",
    earlier_blocked=edit(PAST, "np.tri(x.shape[-2], dtype=bool).T")
    | "The mask has the wrong half: tokens see those that come later.",
    past_blocked=edit((PAST, "~np.tri(x.shape[-2], dtype=bool)"), EQUAL_WEIGHTS)
    | "The mask is read the wrong way round: a token sees the later tokens alone.",
    past_blocked_by_addition=edit(PAST, "~np.tri(x.shape[-2], dtype=bool)")
    | edit(shared.BLOCKED, 'np.where(allowed, scores, scores.astype("float32") + np.float32(-1e9))')
    | edit(EQUAL_WEIGHTS)
    | "The large negative number is added to the scores of the past: a token sees the later tokens alone.",
    itself_blocked=edit((PAST, "np.tri(x.shape[-2], k=-1, dtype=bool)"), EQUAL_WEIGHTS)
    | "The triangle leaves out the diagonal: a token no longer sees itself.",
    scores_zeroed=shared.MASK_MISTAKES["mask_zeroes_scores"],
    mask_added=shared.MASK_MISTAKES["mask_added"],
    blocked_not_low_enough=shared.NOT_LOW_ENOUGH,
    unscaled=shared.UNSCALED,
    softmax_over_queries=shared.OVER_QUERIES,
)

exercise.hints(
    values=(
        "Print the weights of a small example: what do the rows sum to?",
        "In the code as it is given, the triangle comes after the softmax. Among which tokens does the softmax still "
        "share the weight?",
        "`scaled_dot_product_attention` has the same problem with its mask. What did you change there: the score or "
        "the weight?",
    ),
    batched="Does the triangle (T, T) broadcast to (…, T, T)? Is it made from the length of a sequence?",
    large_scores="Write down the weights of a row in which only a later token has a large score. What is left of the "
    "others?",
)
