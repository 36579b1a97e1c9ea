"""Lab 01, exercise `BahdanauAttention`."""

import numpy as np

from autograder.declare import Advice, Case, Exercise, edit
from exercises.attention_intuition import shared
from exercises.attention_intuition.shared import additive_scores, attended
from exercises.drawing import drawn_until, normal, one_of, partial_mask, size_other_than
from exercises.self_attention.shared import BLOCKED, BUILT_IN_ATTENTION


def _bahdanau(rng, batch=2, t=5, s=3, d_q=7, d_v=11, units=13):
    return {
        "units": units,
        "query": normal(rng, batch, t, d_q),
        "values": normal(rng, batch, s, d_v),
        "query_proj.kernel": normal(rng, d_q, units) / 2,
        "value_proj.kernel": normal(rng, d_v, units) / 2,
        "score_proj.kernel": normal(rng, units, 1),
    }


exercise = Exercise(
    "BahdanauAttention",
    layer={
        "init": ("units",),
        "call": ("query", "values"),
        "weights": ("query_proj.kernel", "value_proj.kernel", "score_proj.kernel"),
        "returns": ("context", "weights"),
    },
    returns=("context", "weights"),
    probe_only=("units",),
    forbidden=BUILT_IN_ATTENTION,
    uses=("attend",),
)


@exercise.formula
def bahdanau_attention(query, values, query_proj_kernel, value_proj_kernel, score_proj_kernel, mask=None):
    """softmax(vᵀ tanh(W_q q + W_v v_s)) · values (Bahdanau et al. 2015, section 3.1 and appendix A.1.2).

    Args:
        query: (B, T, dq).
        values: (B, S, dv).
        query_proj_kernel, value_proj_kernel, score_proj_kernel: (dq, U), (dv, U), (U, 1).
        mask: (B, S) or (B, T, S); true where a query may attend.

    Returns:
        The context (B, T, dv), a mean of the values themselves, and the weights (B, T, S).
    """
    asked = np.einsum("btd,du->btu", query, query_proj_kernel)
    offered = np.einsum("bsd,du->bsu", values, value_proj_kernel)
    scores = additive_scores(asked[:, :, None], offered[:, None], score_proj_kernel)[..., 0]
    pair_mask = np.asarray(mask)[:, None] if np.ndim(mask) == 2 else mask
    return attended(scores, values, pair_mask)


@exercise.formula_for("parameters")
def number_of_parameters(query_proj_kernel, value_proj_kernel, score_proj_kernel):
    """Three Dense layers without bias have the numbers of their kernels."""
    return {"trainable_parameters": query_proj_kernel.size + value_proj_kernel.size + score_proj_kernel.size}


@exercise.group("right values", points=2)
def values(rng):
    yield Case(_bahdanau(rng), "query (2, 5, 7), values (2, 3, 11), units=13")
    yield Case(_bahdanau(rng, t=5, s=5, d_q=3, d_v=3, units=3), "query (2, 5, 3), values (2, 5, 3), units=3")
    yield Case(_bahdanau(rng, batch=1, t=1), "query (1, 1, 7), values (1, 3, 11), units=13")


@exercise.group("mask (B, S): padding of the source")
def source_mask(rng):
    def case(inputs: dict, mask: np.ndarray) -> Case:
        description = (
            f"query {inputs['query'].shape}, values {inputs['values'].shape}, mask {mask.shape} of {mask.dtype}"
        )
        return Case({**inputs, "mask": mask}, description)

    yield case(_bahdanau(rng, batch=2), partial_mask(rng, 2, 3))
    yield case(_bahdanau(rng, batch=5), partial_mask(rng, 5, 3).astype("int32"))
    yield case(_bahdanau(rng, batch=2, s=7), partial_mask(rng, 2, 7).astype("float32"))
    yield case(_bahdanau(rng, batch=2, t=5, s=5), partial_mask(rng, 2, 5))


@exercise.group("mask (B, T, S)")
def pair_mask(rng):
    inputs = _bahdanau(rng)
    return Case({**inputs, "mask": partial_mask(rng, 2, 5, 3)}, "query (2, 5, 7), mask (2, 5, 3)")


@exercise.group("a query that may attend to nothing")
def fully_masked(rng):
    source, pair = partial_mask(rng, 2, 3), partial_mask(rng, 2, 5, 3)
    source[1] = False
    pair[0, 1] = pair[1, 4] = False
    return [
        Case({**_bahdanau(rng), "mask": mask}, f"mask {mask.shape}, {what}", property="rows are distributions")
        for mask, what in ((source, "one source of padding only"), (pair, "two queries that may attend to nothing"))
    ]


@exercise.group("three Dense layers without bias")
def parameters(rng):
    d_q, units = size_other_than(rng, 4, 29, 8, 10, 11, 13), one_of(rng, 8, 10, 13)
    description = f"trainable parameters, dq={d_q}, dv=11, units={units}"
    return Case(_bahdanau(rng, d_q=d_q, units=units), description, mode="parameters")


def _open(rng):
    """Two open keys or more: with one, its weight is 1 whatever the layer computes."""
    mask = drawn_until(lambda drawn: (drawn.sum(axis=-1) > 1).all(), lambda: partial_mask(rng, 2, 3))
    return {**_bahdanau(rng, units=2), "mask": mask}


exercise.training(_open, unknown="batch size and lengths")

exercise.mistakes(
    **shared.ACTIVATION_MISTAKES,
    values_projected=edit("attended(scores, values, pair_mask)", "attended(scores, offered, pair_mask)")
    | "The context mixes the projected values. It should be a mean of the values themselves.",
    projections_swapped=edit("query, query_proj_kernel)", "query, value_proj_kernel)")
    | edit("values, value_proj_kernel)", "values, query_proj_kernel)")
    | "query_proj is applied to the values, value_proj to the query.",
    scaled_here=edit("(scores, values, pair_mask)", "(scores / score_proj_kernel.size ** 0.5, values, pair_mask)")
    | "The scores are divided by something; additive scores are not divided.",
    mask_by_query=edit("np.asarray(mask)[:, None]", "np.asarray(mask)[None]")
    | "The mask (B, S) is read as (T, S). Each row of it belongs to one member of the batch: it needs an axis for T.",
    mask_on_queries=edit(
        "attended(scores, values, pair_mask)",
        "attended(np.where(np.asarray(mask).astype(bool)[..., None], scores, 0), values) if np.ndim(mask) == 2 else "
        "attended(scores, values, pair_mask)",
    )
    | "The mask (B, S) blocks queries: S is the axis of the keys. It needs its new axis in the middle, (B, 1, S).",
    softmax_over_queries=shared.OVER_QUERIES,
    softmax_over_queries_unmasked=edit("softmax(x, axis=-1)", "softmax(x, axis=-2)")
    | edit(BLOCKED, "scores")
    | f"{shared.OVER_QUERIES.sentence} And the mask changes nothing.",
    score_proj_unused=edit("np.tanh(asked + offered) @ v", "np.tanh(asked + offered).sum(axis=-1, keepdims=True)")
    | edit(" + score_proj_kernel.size", "")
    | "The hidden units are summed as they are: `score_proj` is not used. It makes one score of the U numbers.",
    no_softmax=shared.NO_SOFTMAX,
    softmax_over_one=edit("attended(scores, values, pair_mask", "(np.ones_like(scores) @ values, np.ones_like(scores)")
    | "All weights are 1: the softmax runs over an axis of size 1, the one that score_proj leaves at the end.",
    mask_ignored=shared.MASK_MISTAKES["mask_ignored"],
    mask_inverted=shared.MASK_MISTAKES["mask_inverted"],
    mask_added=shared.MASK_MISTAKES["mask_added"],
    mask_zeroes_scores=shared.MASK_MISTAKES["mask_zeroes_scores"],
    mask_after_softmax=shared.MASK_MISTAKES["mask_after_softmax"],
    results_swapped=shared.SWAPPED_RESULTS,
    dense_with_bias=edit("score_proj_kernel.size", "score_proj_kernel.size + 2 * score_proj_kernel.shape[0] + 1")
    | "The Dense layers have a bias; this exercise asks for none.",
    projections_with_bias=edit("score_proj_kernel.size", "score_proj_kernel.size + 2 * score_proj_kernel.shape[0]")
    | "query_proj and value_proj have a bias; this exercise asks for none.",
    score_with_bias=edit("score_proj_kernel.size", "score_proj_kernel.size + 1")
    | "score_proj has a bias; this exercise asks for none. (A bias does not change the result of the softmax.)",
)

exercise.advice(
    values=Advice(value="Are all three layers made in `__init__`, and does `call` use each of them?"),
    pair_mask="Only a mask (B, S) needs an axis for the queries; this one has it.",
    parameters="Each of the three layers has one matrix, and nothing else is learned.",
    fully_masked="Where every key is blocked, −∞ for a blocked score gives 0/0, and so do exponentials that are "
    "multiplied by the mask. What does your `attend` return for such a row?",
    training=shared.TRAINING_ADVICE,
)
exercise.hints(
    values=(
        "First the shapes: queries (B, T, U) and values (B, S, U) meet in (B, T, S, U), when each has an axis of size "
        "1 where it has none; score_proj leaves an axis of size 1 at the end, and `[..., 0]` takes it off.",
        "Are the shapes right? Then compare with the formula, part by part: the tanh of the sum, `score_proj` (made in "
        "`__init__`), a softmax whose rows sum to 1 over S, and a mean of the values themselves.",
    ),
    source_mask="Scores are (B, T, S). A mask (B, S) has no axis for the queries: where does it belong?",
    pair_mask="`len(mask.shape)` tells the two kinds of masks apart.",
    fully_masked="Which number do you write in place of a blocked score, and what does a row of them give?",
    parameters="Which of the three layers has a bias, and which argument of Dense leaves it out?",
    training="Follow the call: which of the functions that it reaches uses NumPy, or a size from `.shape` that may be "
    "None?",
)
