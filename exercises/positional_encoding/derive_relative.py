"""Lab 05, exercise `derive_relative`."""

import numpy as np

from autograder.declare import Advice, Case, Exercise, edit
from exercises.drawing import by_hand, normal
from exercises.positional_encoding.shared import ANGLE_TOLERANCE, FLOORED, HALF_EXPONENT, OTHER_BASE, angular_speeds

exercise = Exercise("derive_relative", tolerance=ANGLE_TOLERANCE, forbidden=("rotary", "find_the_bug"))


@exercise.formula
def relative_scores(q: np.ndarray, k: np.ndarray, offset: np.ndarray) -> dict[str, np.ndarray]:
    """The dot product of q turned to m and k turned to n, by m − n alone (Su et al. 2021, equation 16).

    q, k (…, D), offset (N,) -> ``output`` (…, N).
    """
    aligned = q[..., 0::2] * k[..., 0::2] + q[..., 1::2] * k[..., 1::2]  # (…, D/2)
    crossed = q[..., 0::2] * k[..., 1::2] - q[..., 1::2] * k[..., 0::2]  # (…, D/2)
    angles = np.asarray(offset, "float64")[:, None] * angular_speeds(q.shape[-1])  # (N, D/2)
    cosine, sine = np.cos(angles), np.sin(angles)
    terms = aligned[..., None, :] * cosine + crossed[..., None, :] * sine  # (…, N, D/2)
    scores = terms.sum(axis=-1)
    return {"output": scores.astype(q.dtype) if q.dtype.kind == "f" else scores}


def _scores(rng, offset: np.ndarray, *shape: int, description: str = "") -> Case:
    inputs = {"q": normal(rng, *shape), "k": normal(rng, *shape), "offset": np.asarray(offset).astype("int32")}
    return Case(inputs, description)


def _whole(rng) -> Case:
    """Queries and keys of whole numbers, as in the text: the scores are none."""
    q, k = (rng.integers(-4, 5, size=6).astype("int32") for _ in "qk")
    inputs = {"q": q, "k": k, "offset": _some(rng, 9, 5).astype("int32")}
    return Case(inputs, "q, k (6,) of whole numbers, 5 offsets")


def _some(rng, below: int, count: int) -> np.ndarray:
    """Different distances from 1 on, in any order."""
    return 1 + rng.permutation(below)[:count]


@exercise.group("keys before the query", points=2)
def values(rng):
    yield by_hand("at one position", q=[1, 2], k=[3, 4], offset=np.array([0], "int32"))
    yield by_hand("a right angle, and 1 to add", q=[1, 0], k=[0, 1], offset=np.array([1], "int32"))
    for below, count, width in ((9, 5, 6), (300, 7, 10), (9, 5, 6)):
        yield _scores(rng, _some(rng, below, count), width)
    yield _whole(rng)


@exercise.group("keys on both sides, and the query's own")
def sides(rng):
    near, far = _some(rng, 9, 3), _some(rng, 200, 3)
    yield _scores(rng, np.concatenate([-near, [0], near]), 6, description="q, k (6,), offsets of both signs and 0")
    yield _scores(rng, -far, 10, description="q, k (10,), negative offsets")


@exercise.group("leading dimensions")
def batched(rng):
    yield _scores(rng, _some(rng, 9, 5), 3, 6, description="q, k (3, 6), 5 offsets")
    yield _scores(rng, _some(rng, 40, 7) - 20, 2, 3, 10, description="q, k (2, 3, 10), 7 offsets")


ALIGNED = "q[..., 0::2] * k[..., 0::2] + q[..., 1::2] * k[..., 1::2]"
CROSSED = "q[..., 0::2] * k[..., 1::2] - q[..., 1::2] * k[..., 0::2]"
OFFSET = "np.asarray(offset, 'float64')"
ANGLES = f"{OFFSET}[:, None] * angular_speeds(q.shape[-1])"
SCORES = "terms.sum(axis=-1)"

exercise.mistakes(
    other_side=edit(CROSSED, "q[..., 1::2] * k[..., 0::2] - q[..., 0::2] * k[..., 1::2]", see="05#rotary")
    | "Keys before the query get the scores of keys after it: the sines have the other sign."
    | "Try q = (1, 0), k = (0, 1) and m − n = 1 with your `rotary`: which sign does the product have?",
    cosines_alone=edit(CROSSED, "0 * (q[..., 0::2] * k[..., 1::2])", see="05#rotary")
    | "There are cosines alone. With them a key before the query counts as much as one after it."
    | "Which products are left beside the sines when q and k have different directions?",
    crossed_added=edit(CROSSED, "q[..., 0::2] * k[..., 1::2] + q[..., 1::2] * k[..., 0::2]")
    | "Beside the sine you add two products that should be subtracted: for q = k the sines have to cancel."
    | "What is left beside the sine when query and key are the same vector?",
    angles_added=edit(ALIGNED, "q[..., 0::2] * k[..., 0::2] - q[..., 1::2] * k[..., 1::2]")
    | "Beside the cosine you have a·c − b·d: that is what remains when the two angles are added up."
    | "At offset 0 nothing is turned. What should the score be there?",
    not_conjugated=edit(ALIGNED, "q[..., 0::2] * k[..., 0::2] - q[..., 1::2] * k[..., 1::2]")
    | edit(CROSSED, "0 - q[..., 0::2] * k[..., 1::2] - q[..., 1::2] * k[..., 0::2]")
    | "The pairs are multiplied as complex numbers, query times key. A dot product is the real part of one number "
    "times the *conjugate* of the other."
    | "(a + ib)(c + id) has the real part a·c − b·d. Which sign does the dot product have?",
    one_product_for_all=edit(ALIGNED, "(q * k).sum(axis=-1, keepdims=True) + 0 * q[..., 0::2]")
    | "The whole dot product q·k is multiplied by the cosines. Each pair has its own product and its own angle."
    | "Derive it for D = 2 first. What changes with a second pair?",
    side_lost=edit(OFFSET, f"abs({OFFSET})")
    | "The sign of the offset is lost: a key after the query counts as one before it.",
    half_pairs=edit(
        ALIGNED,
        "q[..., : q.shape[-1] // 2] * k[..., : q.shape[-1] // 2] "
        "+ q[..., q.shape[-1] // 2 :] * k[..., q.shape[-1] // 2 :]",
    )
    | edit(
        CROSSED,
        "q[..., : q.shape[-1] // 2] * k[..., q.shape[-1] // 2 :] "
        "- q[..., q.shape[-1] // 2 :] * k[..., : q.shape[-1] // 2]",
    )
    | "Column i is paired with column i + D/2. Here neighbours make a pair: columns 2i and 2i + 1.",
    scaled=edit(SCORES, f"{SCORES} / q.shape[-1] ** 0.5")
    | "The scores are divided by √D. This exercise asks for the dot product itself.",
    one_angle_for_all=edit("angular_speeds(q.shape[-1])", "np.ones(q.shape[-1] // 2)")
    | "All pairs turn with the first pair's angle, the offset itself. Pair i has its own: the offset divided by "
    "10000^(2i/D).",
    pairs_averaged=edit(SCORES, "terms.mean(axis=-1)")
    | "You take the mean over the pairs. A dot product is the sum over them.",
    angles_cut=edit(ANGLES, f"np.trunc({ANGLES})")
    | "Your angles are whole numbers: the fractions were cut off. Offsets come as integers, and the angles are floats."
    | "Of which type is offset · θ in your code, if the offset is 3 and θ is 0.01?",
    exponent_floored=FLOORED,
    exponent_halved=HALF_EXPONENT,
    base_1000=OTHER_BASE,
)

exercise.advice(
    values=Advice(
        value="Turn one pair (a, b) of the query by mθ and one pair (c, d) of the key by nθ, multiply out, and collect "
        "what stands beside cos(m − n)θ and beside sin(m − n)θ. Then add the pairs up.",
        shape="The result has an entry for each offset, on the last axis.",
    ),
    sides="The sine knows the side: sin(−x) = −sin x. The offset is m − n, negative for a key after the query.",
    batched="Pairs are on the last axis of q and k; the offsets make a new axis before it, and the sum over the pairs "
    "leaves (…, N).",
)
exercise.hints(
    values=(
        "One pair first: ⟨(a, b) turned by mθ, (c, d) turned by nθ⟩. Which of the four products carry cos mθ · cos nθ?",
        "cos x cos y + sin x sin y = cos(x − y), and sin x cos y − cos x sin y = sin(x − y).",
        "Every pair gives two numbers that do not depend on the offset: one beside its cosine, one beside its sine.",
    ),
    sides="Is your formula symmetric in the offset? Should it be?",
    batched="The two numbers of a pair are arrays (…, D/2), the cosines (N, D/2). Which axis is missing in the first?",
)
exercise.worked = (
    "Take one pair. Turned by the angle M = mθ, the query (a, b) is (a cos M − b sin M, a sin M + b cos M). The "
    "key (c, d) is turned by N = nθ in the same way.\n"
    "Multiply out the dot product and collect the products of a, b, c and d: (ac + bd)(cos M cos N + sin M sin N)"
    " + (ad − bc)(sin M cos N − cos M sin N).\n"
    "By the addition theorems the brackets are cos(M − N) and sin(M − N), and M − N is the offset times θ.\n"
    "So a pair adds (ac + bd) cos(offset · θ) + (ad − bc) sin(offset · θ). At offset 0 this is the dot product "
    "without a turn.\n"
    "The D/2 pairs have speeds of their own, θᵢ = 10000^(−2i/D) with i from 0. The score is the sum over the "
    "pairs.\n"
    "In the example by hand ac + bd is 7 and ad − bc is −1: at offset 1 the score is 7 cos 1 − sin 1 = 2.94."
)
