"""Lab 04, exercise `find_the_bug`: a list that holds one array many times, because `+=` changes it in place."""

import numpy as np

from autograder.declare import Case, Exercise, edit
from exercises.drawing import normal

exercise = Exercise("find_the_bug", own_probe=True)


@exercise.formula
def residual_stream(x: np.ndarray, scales: np.ndarray, matrices: np.ndarray) -> np.ndarray:
    """x, and then x + tanh(norm(x) M) for each M of `matrices` (n, D, D). x (B, T, D) -> (n + 1, B, T, D).

    The norms are those that the probe hands over: a token over its largest size, times the scale, (n, D).
    """
    stream = [x]
    for scale, matrix in zip(scales, matrices, strict=True):
        x = x + np.tanh(over_largest(x, scale) @ matrix)
        stream.append(x)
    return np.stack(stream)


def over_largest(x: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Tokens x (…, D), each over the size of its largest feature, times `scale` (D,)."""
    return x * scale / abs(x).max(axis=-1)[..., None]


def _inputs(rng, layers: int, *, batch: int = 2, length: int = 5, width: int = 7) -> dict:
    return {
        "x": 3 * normal(rng, batch, length, width),
        "scales": 1 + 0.3 * normal(rng, layers, width),
        "matrices": normal(rng, layers, width, width),
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
STREAM = "return np.stack(stream)"

exercise.given((STREAM, "return np.stack([x for _ in stream])"))

exercise.mistakes(
    start_changed=edit(STREAM, "return np.stack([x, *stream[1:]])")
    | "All entries are right but the first: it holds the tokens after the last sub-layer, as `x` itself does.",
    start_missing=edit(STREAM, "return np.stack(stream[1:])")
    | "The tokens before the first sub-layer are missing. They are the first entry.",
    end_missing=edit(STREAM, "return np.stack(stream[:-1])")
    | "The tokens after the last sub-layer are missing. They are the last entry.",
    last_alone=edit(STREAM, "return x") | "Only the tokens after the last sub-layer come back.",
    no_residual=edit(ADDED, "x = np.tanh(over_largest(x, scale) @ matrix)")
    | "Nothing is added: each sub-layer's output replaces the token.",
    norm_after_sum=edit(ADDED, "x = over_largest(x + np.tanh(x @ matrix), scale)", see="04#post-or-pre")
    | "That is post-norm: the norm comes after the sum. Here it should come before the sub-layer.",
    sublayer_not_normed=edit(ADDED, "x = x + np.tanh(x @ matrix)")
    | "The sub-layer reads the token as it is; it should read the normalised token.",
)

exercise.hints(
    one=(
        "Print `stream[0] is stream[1]` at the end of the loop. How many arrays does the list hold?",
        "`x = x + y` makes a new array and gives it the name `x`. What does `x += y` do with the old one?",
    ),
    several="One sub-layer works, several do not. Compare the entries of the result with each other.",
)
