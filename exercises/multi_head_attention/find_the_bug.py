"""Lab 03, exercise `find_the_bug`."""

import numpy as np

from autograder.declare import Case, Exercise, edit
from exercises.drawing import normal
from exercises.formulas.attention import scaled_dot_product_attention
from exercises.multi_head_attention.shared import OVER_HEADS
from exercises.self_attention.shared import BUILT_IN_ATTENTION, OVER_QUERIES, ROOT, SCALED_BY_D, UNSCALED

exercise = Exercise("find_the_bug", forbidden=BUILT_IN_ATTENTION)


@exercise.formula
def heads_beside_tokens(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Attention of every head where the heads stand behind the tokens. q (B, T, H, K), k, v (B, S, H, K)."""
    q, k, v = q.swapaxes(1, 2), k.swapaxes(1, 2), v.swapaxes(1, 2)
    return scaled_dot_product_attention(q, k, v)["output"].swapaxes(1, 2)


def _inputs(rng, queries: int, keys: int, *, batch: int = 2, heads: int = 3, size: int = 7) -> dict:
    return {
        "q": normal(rng, batch, queries, heads, size),
        **{name: normal(rng, batch, keys, heads, size) for name in "kv"},
    }


exercise.group(
    "self-attention", points=2, values=lambda rng: [_inputs(rng, 5, 5), _inputs(rng, 11, 11, batch=3, heads=2, size=5)]
)
exercise.group(
    "cross-attention: T and S differ",
    cross=lambda rng: [
        _inputs(rng, 5, 11),
        Case(_inputs(rng, 7, 3), "TensorFlow tensors, q (2, 7, 3, 7), k and v (2, 3, 3, 7)", mode="tensor"),
    ],
)
MIXED = '"...ts,...sd->...td", weights, v'

exercise.given((MIXED, '"...ts,...td->...td", weights, v'))

exercise.mistakes(
    summed_over_queries=edit(MIXED, '"...ts,...td->...sd", weights, v')
    | "The sum runs over the queries: you sum the weights that different queries give to one key. Sum over the keys.",
    softmax_over_queries=OVER_QUERIES,
    softmax_over_heads=OVER_HEADS,
    unscaled=UNSCALED,
    scaled_by_heads=edit(ROOT, "math.sqrt(q.shape[1])")
    | "The scores are divided by the root of the number of heads. Divide by the root of the width of a head, the axis "
    "over which a score sums." | "The heads stand behind the tokens here. Which axis of q is K?",
    scaled_by_d=SCALED_BY_D,
    heads_before_tokens=edit('["output"].swapaxes(1, 2)', '["output"]')
    | "The heads are before the tokens, (B, H, T, K); they should come after the tokens, (B, T, H, K).",
)

exercise.advice(
    cross="Every letter of an einsum stands for one axis, in all of its places. Is the axis of v the axis of the "
    "queries?"
)
exercise.hints(
    values=(
        "Set the values of one token to 100 and look at the result: whose rows change?",
        "A letter that stands on the left of the arrow and not on the right is summed over. Which letters are these "
        "in the last line, and where does each of them occur?",
        "Write down what each axis of `weights` is, and each axis of v. Which two of them have to meet?",
    ),
    cross="Try q with 2 tokens, k and v with 3: which letter then gets two sizes?",
)
