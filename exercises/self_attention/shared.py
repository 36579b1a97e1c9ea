"""What several exercises of lab 02 share."""

import numpy as np

from autograder.declare import Case, edit
from exercises.drawing import drawn_until, masks_matter, normal
from exercises.formulas.attention import scaled_dot_product_attention


def project_qkv(x: np.ndarray, w_q: np.ndarray, w_k: np.ndarray, w_v: np.ndarray) -> dict[str, np.ndarray]:
    """Q = XW_q, K = XW_k, V = XW_v. x (…, T, D), w_q (D, d_k), w_k (D, d_k), w_v (D, d_v)."""
    return {"q": projected(x, w_q), "k": projected(x, w_k), "v": projected(x, w_v)}


def projected(x: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """x (…, T, D), weight (D, d) -> (…, T, d)."""
    return np.einsum("...td,dk->...tk", x, weight)


def plain_self_attention(x: np.ndarray) -> dict[str, np.ndarray]:
    """softmax(XXᵀ / √D) X, self-attention without parameters. x (…, T, D) -> ``output`` (…, T, D)."""
    return {"output": scaled_dot_product_attention(x, x, x)["output"]}


BUILT_IN_ATTENTION = (
    "keras.layers.MultiHeadAttention",
    "keras.layers.GroupedQueryAttention",
    "keras.layers.GroupQueryAttention",
    "keras.layers.Attention",
    "keras.layers.AdditiveAttention",
    "keras.ops.dot_product_attention",
    "keras.ops.nn.dot_product_attention",
    "tensorflow.nn.scaled_dot_product_attention",
)
READY_SELF_ATTENTION = (*BUILT_IN_ATTENTION, "coursekit.lecture.pages.self_attention.PlainSelfAttention")

AUTOMATIC_GRADIENTS = ("tensorflow.GradientTape", "tensorflow.gradients", "tensorflow.autodiff.ForwardAccumulator")


# What mistakes change in `attention` and `masked_softmax` of `exercises.formulas.attention`.
ROOT = "math.sqrt(q.shape[-1])"
DIVISION = "/ math.sqrt(q.shape[-1])"
AXIS = "softmax(x, axis=-1)"
PEAK = "x.max(axis=axis, keepdims=True)"
POWERS = "np.exp(x - x.max(axis=axis, keepdims=True))"
SHARES = "powers / powers.sum(axis=axis, keepdims=True)"
BLOCKED = "np.where(allowed, scores, scores.dtype.type(-1e9))"
ALLOWED = "np.asarray(mask).astype(bool)"
ATTENTION = 'scaled_dot_product_attention(x, x, x)["output"]'

SCORES_RETURNED = (
    edit('"weights": weights', '"weights": scores if mask is None else np.where(mask, scores, -1e9)')
    | "The second result holds the scores. Return the weights: what the softmax makes of them."
)
UNSCALED = (
    edit(DIVISION, "", see="02#why-sqrt-dk")
    | "The scores are not scaled: nothing divides them before the softmax."
    | "Which number grows with the width of q and k, and by what do you divide to undo it?"
)
SCALED_BY_D = (
    edit(ROOT, "q.shape[-1]", see="02#why-sqrt-dk")
    | "The scores are divided by the width itself, not by its square root."
    | "The variance of a score is the width. Which number divides its standard deviation?"
)
SCALED_BY_LENGTH = (
    edit(ROOT, "math.sqrt(k.shape[-2])", see="02#why-sqrt-dk")
    | "The scores are divided by the root of the number of keys. Which axis of the inputs is summed over in a score?"
    | "Over which axis of q and k does one dot product sum? Its size is the one that counts."
)
SCALED_BY_AXIS_ONE = (
    edit(ROOT, "math.sqrt(q.shape[1])")
    | "The scores are divided by the root of the size of axis 1. That is the width for one sequence, and something "
    "else in a batch: count from the end."
)
SCALE_INVERTED = (
    edit(DIVISION, "* math.sqrt(q.shape[-1])", see="02#why-sqrt-dk")
    | "The scores are multiplied by the root of the width instead of divided by it."
    | "Should wider vectors make the scores larger or smaller before the softmax?"
)
SCALED_AFTER = (
    edit(DIVISION, "")
    | edit(
        "masked_softmax(scores, mask)", "masked_softmax(scores, mask) / math.sqrt(q.shape[-1])", see="02#why-sqrt-dk"
    )
    | "The scaling is applied to the weights, after the softmax, so the rows no longer sum to 1."
    | "Scaling comes between the product q kᵀ and the softmax."
)
OVER_QUERIES = (
    edit(AXIS, "softmax(x, axis=-2)", see="02#formula")
    | "The columns of the weights sum to 1, not the rows: the softmax runs over the queries instead of the keys."
    | "A row of the scores belongs to one query. Along which axis do its keys lie?"
)
COLUMNS_SUM_TO_ONE = (
    edit(AXIS, "softmax(x, axis=-2)", see="02#formula")
    | "The columns of the weights sum to 1, not the rows: a softmax over the queries, transposed weights, or a sum "
    "over the keys without `keepdims=True`."
    | "A row of the scores belongs to one query. Along which axis do its keys lie, and has your sum the shape (T, 1)?"
)
OVER_ALL = (
    edit(AXIS, "softmax(x, axis=(-2, -1))")
    | "The whole matrix of weights sums to 1: one softmax over both axes instead of one for each query."
)
NO_SOFTMAX = (
    edit(SHARES, "np.where(x > -1e8, x, 0)", see="02#formula")
    | "The scores weight the values directly: the softmax is missing."
    | "What must be true of the numbers in a row of the weights, and which function makes them so?"
)
SUM_NORMALISED = (
    edit(POWERS, "np.where(x > -1e8, x, 0)")
    | "The scores are divided by their sum. Scores can be negative, and such weights can be negative, too: "
    "exponentiate first."
)
LARGEST_ONLY = (
    edit(SHARES, "(x == x.max(axis=-1, keepdims=True)).astype(x.dtype)")
    | "Each query takes the one key with the largest score. The softmax shares the weight among all keys."
)
AXIS_ONE = (
    edit(AXIS, "softmax(x, axis=1)")
    | "The softmax runs over axis 1. That is the keys for one sequence, and something else in a batch: count from the "
    "end."
)
UNSTABLE = (
    edit(PEAK, "0", see="01#ten-lines")
    | "Large scores overflow in `exp` and give NaN. What can be subtracted from a row without changing its softmax?"
)
WHOLE_PEAK = (
    edit(PEAK, "x.max()")
    | "What is subtracted is not the largest score of each row, so that some rows become 0/0 or ∞/∞. The largest "
    "score of the whole array, for example, lies far above the scores of other rows."
)
PEAK_IN_COLUMNS = (
    edit(PEAK, "x.max(axis=axis)")
    | "The largest scores of the rows are subtracted from the columns: a maximum of shape (T,) broadcasts along the "
    "last axis. `keepdims=True` makes it (T, 1)."
)
PLAIN_MISTAKES = dict(
    unscaled=UNSCALED,
    unstable_softmax=UNSTABLE,
    divided_by_sum=SUM_NORMALISED,
    largest_only=LARGEST_ONLY,
    scaled_by_d=SCALED_BY_D,
    scaled_by_length=SCALED_BY_LENGTH,
    scale_inverted=SCALE_INVERTED,
    scaled_after_softmax=SCALED_AFTER,
    softmax_over_queries=COLUMNS_SUM_TO_ONE,
    softmax_over_everything=OVER_ALL,
    no_softmax=NO_SOFTMAX,
    one_maximum_for_all=WHOLE_PEAK,
    unchanged=edit(ATTENTION, "x") | "The tokens come back unchanged: nothing is mixed.",
    returns_weights=edit(ATTENTION, 'scaled_dot_product_attention(x, x, x)["weights"]')
    | "The weights come back, not the mixture of the inputs.",
    one_sum_for_all=edit(SHARES, "powers / powers.sum()")
    | "Each exponential is divided by the sum of all of them. A row of the weights has a sum of its own, over its "
    "keys.",
    averaged=edit(ATTENTION, f"{ATTENTION} / x.shape[-2]")
    | "The weighted rows are averaged. The weights sum to 1 already: add the rows up.",
    self_left_out=edit(
        "scaled_dot_product_attention(x, x, x)",
        "scaled_dot_product_attention(x, x, x, ~np.eye(x.shape[-2], dtype=bool))",
    )
    | "A token does not attend to itself here; it should.",
    later_tokens_left_out=edit(
        "scaled_dot_product_attention(x, x, x)",
        "scaled_dot_product_attention(x, x, x, np.tri(x.shape[-2], dtype=bool))",
    )
    | "A token attends to itself and the tokens before it only. Nothing is masked here: a token should attend to all "
    "tokens.",
    not_normalised=edit(SHARES, "powers")
    | "The weights are positive, but they do not sum to 1: the division by their sum is missing.",
)
NOT_LOW_ENOUGH = (
    edit(BLOCKED, "np.where(allowed, scores, -1e4)")
    | "A blocked score becomes a number that is too near to 0: among scores of −20,000 it wins. Use −1e9."
)
LOSES_TOO_LITTLE = (
    edit(BLOCKED, "np.where(allowed, scores, scores - 1e4)")
    | "A blocked score loses a number that is too small: one that leads by 20,000 still wins. Use −1e9."
)
MASK_MISTAKES = dict(
    mask_ignored=edit(BLOCKED, "scores") | "The mask changes nothing: blocked keys keep their weight.",
    mask_inverted=edit("np.where(allowed, scores,", "np.where(~allowed, scores,", see="02#causal")
    | "The mask is read the wrong way round. In this course True means: may attend."
    | "Take a mask with a single True. Which weight should be 1?",
    mask_added=edit(BLOCKED, "scores + allowed")
    | "The mask itself is added to the scores, so a blocked key loses only 1. It should lose all of its weight.",
    mask_zeroes_scores=edit(BLOCKED, "scores * allowed")
    | "Blocked scores become 0, and the softmax gives a score of 0 a weight like any other.",
    mask_after_softmax=edit((BLOCKED, "scores"), ("softmax(kept)", "softmax(kept) * allowed"), see="02#causal")
    | "The mask is applied after the softmax, so the remaining weights no longer sum to 1.",
    mask_transposed=edit(ALLOWED, "np.swapaxes(np.asarray(mask).astype(bool), -1, -2)")
    | "The axes of the mask are swapped: rows are queries.",
)


def low_blocks_matter(lowest: np.ndarray) -> bool:
    """Whether a blocked score of −100 and one of −10,000 win in the same queries, and one of −65,000 in none.

    Args:
        lowest: (T,), the largest scaled score that each query may see, of the queries that may not see all keys.
    """
    falls = lowest < -20_000
    return bool(falls.any() and (lowest[falls] > -35_000).all() and (lowest[~falls] > 0).all())


def large_masks_matter(scores: np.ndarray, mask: np.ndarray) -> bool:
    """Whether a mask over large scores (…, T, S), scaled already, changes the result, and each wrong way to mask does.

    Every wrong number in place of a blocked score does what `low_blocks_matter` says. One that is added does the same
    from 0 to −10,000, and −65,000 is enough. No row depends on rounding, and all overflow unless their maximum goes.
    """
    seen = np.where(mask, scores, -np.inf).max(axis=-1)
    lead = np.where(mask, -np.inf, scores).max(axis=-1) - seen
    wins = lead > 0
    return bool(
        masks_matter(scores, mask)
        and low_blocks_matter(seen)
        and wins.any()
        and (lead[wins] > 11_000).all()
        and (lead < 60_000).all()
        and (np.abs([seen, scores.max(axis=-1)]) > 1000).all()
    )


def plain_large(rng) -> list[Case]:
    """Tokens of one direction and very different lengths, so that the longest wins and no token answers itself."""
    lengths = drawn_until(lambda drawn: drawn[0] < 700, lambda: rng.permutation([100.0, 200.0, 300.0, 400.0, 700.0]))
    x = lengths.astype("float32")[:, None] * (normal(rng, 7) + normal(rng, 5, 7) / 9)
    return [Case({"x": x}, "scores of tens of thousands")]
