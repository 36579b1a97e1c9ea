"""Lab 04, exercise `find_the_bug`."""

import numpy as np

from autograder.declare import Case, Exercise, edit
from exercises.drawing import normal

exercise = Exercise("find_the_bug", own_probe=True)


@exercise.formula
def pre_norm_stack(x: np.ndarray, scales: np.ndarray, matrices: np.ndarray, final_scale: np.ndarray) -> np.ndarray:
    """x + tanh(norm(x) M) for each M of `matrices` (n, D, D), then a last norm.

    The norms are those that the probe hands over: a token over its largest size, times the scale, (n, D) and (D,).
    """
    for scale, matrix in zip(scales, matrices, strict=True):
        x = x + np.tanh(over_largest(x, scale) @ matrix)
    return over_largest(x, final_scale)


def over_largest(x: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Tokens x (…, D), each over the size of its largest feature, times `scale` (D,)."""
    return x * scale / abs(x).max(axis=-1)[..., None]


def _inputs(rng, layers: int, *, batch: int = 2, length: int = 5, width: int = 7) -> dict:
    return {
        "x": 3 * normal(rng, batch, length, width),
        "scales": 1 + 0.3 * normal(rng, layers, width),
        "matrices": normal(rng, layers, width, width),
        "final_scale": 1 + 0.3 * normal(rng, width),
    }


exercise.group("one sub-layer", one=lambda rng: Case(_inputs(rng, 1), "x (2, 5, 7), one norm and one sub-layer"))
exercise.group(
    "several sub-layers",
    points=2,
    several=lambda rng: [
        Case(_inputs(rng, 3), "x (2, 5, 7), three norms and sub-layers"),
        Case(_inputs(rng, 5, batch=3, width=11), "x (3, 5, 11), five norms and sub-layers"),
    ],
)
ADDED = "x = x + np.tanh(over_largest(x, scale) @ matrix)"
LAST = "return over_largest(x, final_scale)"

exercise.given((ADDED, "x = over_largest(x, scale)\nx = x + np.tanh(x @ matrix)"))

exercise.mistakes(
    no_residual=edit(ADDED, "x = np.tanh(over_largest(x, scale) @ matrix)")
    | "Nothing is added: each sub-layer's output replaces the token.",
    norm_after_sum=edit(ADDED, "x = over_largest(x + np.tanh(x @ matrix), scale)", see="04#post-or-pre")
    | "That is post-norm: the norm comes after the sum. Here it should come before the sub-layer.",
    output_normed=edit(ADDED, "x = x + over_largest(np.tanh(x @ matrix), scale)")
    | "The norm comes after the sub-layer, before the sum. Here it should come before the sub-layer.",
    sublayer_not_normed=edit(ADDED, "x = x + np.tanh(x @ matrix)")
    | "The sub-layer reads the token as it is; it should read the normalised token.",
    final_norm_missing=edit(LAST, "return x") | "The last norm is missing.",
    final_norm_in_the_loop=edit((ADDED, f"{ADDED}\nx = over_largest(x, final_scale)"), (LAST, "return x"))
    | "The last norm comes after every sub-layer; it should come once, after the loop.",
)

exercise.hints(
    one=(
        "The formula of pre-norm is x + sublayer(norm(x)). In how many places is x, and what does the code put into "
        "each of them?",
        "A name that is assigned again has lost its old value. Which value would the last line of the loop need?",
    ),
    several="One sub-layer works, several do not. What does the second one get as its x?",
)
