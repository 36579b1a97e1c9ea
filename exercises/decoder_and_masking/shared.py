"""What several exercises of lab 08 share."""

import math

import numpy as np

from autograder.declare import Advice, Case, edit


def positions(length: int, d_model: int) -> np.ndarray:
    """Sinusoidal positions (Vaswani et al. 2017, section 3.5): even columns sine, odd ones cosine. (length, D)."""
    angles = np.arange(length)[:, None] / 10_000.0 ** (np.arange(0, d_model, 2) / d_model)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(length, d_model)


def draw_ids(rng, batch: int, length: int, *, words: int = 13, pad: int = 0) -> np.ndarray:
    """Token ids with padding: rows end in padding of different lengths, and one row has some in the middle."""
    ids = rng.integers(1, words, size=(batch, length)).astype("int32")
    ids = np.where(ids == pad, words, ids).astype("int32")
    for row, ending in enumerate(rng.permutation(np.arange(1, length - 1))[: batch - 1], 1):
        ids[row, length - ending :] = pad
    ids[0, int(rng.integers(1, length - 1))] = pad
    return ids


def weights(rng, shapes, scale=0.5, spread=0.5):
    """Weights end to end: γ around 1, all others around 0."""
    pieces = []
    for name, shape in shapes.items():
        width = scale if "kernel" in name or name == "embedding" else spread * min(1, scale)
        pieces.append(float(name.endswith("gamma")) + width * rng.normal(size=math.prod(shape)))
    return np.concatenate(pieces).astype("float32")


def distribution(rng, size: int, zeros: int = 0, dtype: str = "float64") -> np.ndarray:
    p = rng.random(size) ** 2 + 0.01
    p[rng.choice(size, size=zeros, replace=False)] = 0
    return (p / p.sum()).astype(dtype)


def pairs(*sizes: int):
    def draw(rng) -> list[Case]:
        return [Case({"p": distribution(rng, size), "q": distribution(rng, size)}) for size in sizes]

    return draw


def zeros_in_p(rng) -> list[Case]:
    one_hot = np.zeros(7)
    one_hot[int(rng.integers(7))] = 1
    both = distribution(rng, 7, zeros=2)
    other = np.where(both == 0, 0, distribution(rng, 7))
    return [
        Case({"p": one_hot, "q": distribution(rng, 7)}, "p one-hot (7,), no zero in q"),
        Case({"p": both, "q": other / other.sum()}, "p and q (7,) are 0 at the same places"),
    ]


def zeros_in_q(rng) -> list[Case]:
    p, q = distribution(rng, 5), distribution(rng, 5, zeros=1)
    second = np.where(np.arange(7) < 2, 0, distribution(rng, 7))
    other = np.where((np.arange(7) > 0) & (np.arange(7) < 5), distribution(rng, 7), 0)
    return [
        Case({"p": p, "q": q}, "q (5,) is 0 once where p is positive"),
        Case({"p": second / second.sum(), "q": other / other.sum()}, "p and q (7,) are 0 at different places"),
    ]


def pair_types(rng) -> list[Case]:
    return [
        Case(
            {"p": distribution(rng, 7, dtype="float32"), "q": distribution(rng, 7, dtype="float32")},
            "TensorFlow tensors of float32",
            mode="tensor",
        ),
        Case({"p": distribution(rng, 5), "q": distribution(rng, 5)}, "TensorFlow tensors of float64", mode="tensor"),
    ]


# What mistakes change in `exercises.formulas.losses`.
OPEN_Q = "np.where(p == 0, 1, q)"
LOG_TWO = (
    edit("* np.log", "* np.log2", see="06#cross-entropy")
    | "The logarithm is to the base 2, so these are bits; nats use ln."
    | "Which function of NumPy is the natural logarithm?"
)
LOG_TEN = edit("* np.log", "* np.log10") | "The logarithm is to the base 10; nats use the natural one."
EPS_ADDED = (
    edit(OPEN_Q, "np.where(p == 0, 1, q + 1e-9)")
    | "A small number is added before the logarithm. It hides what is infinite, and no zero of p needs it."
    | "Which terms of the sum count as 0 whatever q is? Leave those out, and add nothing to the others."
)
NOT_A_NUMBER = (
    edit(("np.where(p == 0, 0, p", "(p"), (OPEN_Q, "q"))
    | "A zero of p gives NaN: 0 · log 0 is 0 by its limit, and a computer says NaN. Leave these terms out."
    | "What is p > 0, and what is an array indexed with it?"
)
ZERO_Q_SKIPPED = (
    "Where q is 0 the term is left out. If p is positive there, q rules out what happens, and the sum is infinite."
)
SWAPPED = "p and q are swapped. The factor before the logarithm should be p."
AVERAGED = edit(".sum()", ".mean()") | "The terms are averaged; they should be summed."
MASK_ADVICE = Advice(value="In this course True means: may attend.")
