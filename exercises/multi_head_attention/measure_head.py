"""Lab 03, exercise `measure_head`."""

import numpy as np

from autograder.declare import Advice, Case, Exercise, edit, seen
from coursekit.probes.multi_head_attention import SEVERAL, STAYING, loss_of, one_at_a_time
from exercises.drawing import drawn_until, normal

exercise = Exercise("measure_head", own_probe=True, returns=("zero", "mean", "row_mean", "calls"))


@exercise.formula
def importance(heads: np.ndarray, w_o: np.ndarray, targets: np.ndarray) -> dict[str, np.ndarray]:
    """How much the loss grows when one head is replaced, for each head (Michel et al. 2019; Voita et al. 2019).

    heads (B, H, T, K); the replacement is 0, the head's mean, or its mean at each position.
    """
    intact = loss_of(heads, w_o, targets)
    number, every = np.arange(heads.shape[1]), range(heads.shape[1])
    nothing = np.zeros_like(heads)
    mean = heads.mean(axis=(0, 2), keepdims=True)
    row_mean = heads.mean(axis=0, keepdims=True)

    def increases(instead: np.ndarray) -> np.ndarray:
        return np.array([loss_of(replaced(instead, head), w_o, targets) - intact for head in every])

    def replaced(instead: np.ndarray, head: int) -> np.ndarray:
        is_replaced = number == head
        return np.where(is_replaced[:, None, None], instead, heads)

    return {"zero": increases(nothing), "mean": increases(mean), "row_mean": increases(row_mean)}


@exercise.formula_for("zero")
def zero_alone(heads: np.ndarray, w_o: np.ndarray, targets: np.ndarray) -> dict[str, np.ndarray]:
    """The increases with zero in a head's place."""
    return {"zero": importance(heads, w_o, targets)["zero"]}


@exercise.formula_for("calls")
def calls_alone(heads: np.ndarray) -> dict[str, str]:
    """What the loss was asked for."""
    return {"calls": one_at_a_time(heads.shape[1])}


def _drawn(rng, batch: int, heads: int, length: int, size: int, width: int) -> dict:
    """Outputs of heads with a mean, a mean at each position and a part of their own; targets near what they give.

    One head is not in the targets, so it is in the way: without it the loss is smaller.
    """
    drawn = normal(rng, batch, heads, length, size)
    drawn = drawn + 0.9 * normal(rng, 1, heads, 1, size) + 0.9 * normal(rng, 1, heads, length, size)
    w_o = normal(rng, heads, size, width) / np.sqrt(heads * size)
    helps = np.arange(heads) != rng.integers(heads)
    targets = np.einsum("bhtk,hkd,h->btd", drawn, w_o, helps) + 0.5 * normal(rng, batch, length, width)
    return {key: array.astype("float32") for key, array in (("heads", drawn), ("w_o", w_o), ("targets", targets))}


def _one_is_in_the_way(inputs: dict) -> bool:
    """Whether each replacement of some head makes the loss clearly smaller, and of another one clearly larger."""
    return all(found.min() < -0.05 and found.max() > 0.05 for found in importance(**inputs).values())


def _case(rng, *sizes: int, mode: str = "call") -> Case:
    inputs = drawn_until(_one_is_in_the_way, lambda: _drawn(rng, *sizes))
    return Case(inputs, f"heads {inputs['heads'].shape}", mode=mode)


exercise.group(
    "zero in the place of one head",
    points=2,
    must_fail_for=("not_subtracted", "kept_alone", "ablated_stays"),
    zero=lambda rng: [_case(rng, 7, 3, 5, 2, 11, mode="zero"), _case(rng, 3, 5, 7, 11, 2, mode="zero")],
)
exercise.group(
    "its mean, and its mean at each position",
    points=2,
    must_fail_for=("exchanged", "mean_of_all_heads", "own_mean", "along_positions"),
    means=lambda rng: [_case(rng, 7, 3, 5, 2, 11), _case(rng, 3, 5, 7, 11, 2)],
)


@exercise.group("one head at a time")
def calls(rng):
    inputs = _drawn(rng, 5, int(rng.integers(4, 30)), 3, 2, 7)
    return Case(inputs, f"heads {inputs['heads'].shape}", mode="calls")


IS_REPLACED = "number == head"
REPLACED = "is_replaced[:, None, None]"
INCREASE = "loss_of(replaced(instead, head), w_o, targets) - intact"
MEAN = "heads.mean(axis=(0, 2), keepdims=True)"
ROW_MEAN = "heads.mean(axis=0, keepdims=True)"

exercise.mistakes(
    not_subtracted=edit(INCREASE, "loss_of(replaced(instead, head), w_o, targets)", see="03b#ablation")
    | "These are the losses without a head. Take the loss of the intact heads off."
    | "What should a head get that the model does not need at all?",
    ablated_stays=edit(IS_REPLACED, "number <= head")
    | seen({"calls": STAYING}, see="03b#ablation")
    | "A head that was replaced stays replaced while you measure the next one."
    | "Where do you make the copy: before the loop over heads, or in it?",
    kept_alone=edit(IS_REPLACED, "number != head")
    | seen({"calls": SEVERAL}, see="03b#ablation")
    | "You keep one head and replace all others. It is the one head that should be replaced."
    | "`keep` of `ablate_heads` lists the heads that stay. Which are these when head h goes?",
    own_mean=edit(MEAN, "heads.mean(axis=2, keepdims=True)")
    | "For `mean`, each item gets the mean of its own positions. One mean, over batch and positions, goes into all."
    | "How many numbers may still be in the place of one head? K of them.",
    along_positions=edit(ROW_MEAN, "heads.mean(axis=2, keepdims=True)")
    | "For `row_mean`, the mean runs over the positions of each item. It should run over the batch, so that each "
    "position keeps a mean of its own." | "What is the same in all items, and what differs, when the mean is (T, K)?",
    mean_of_all_heads=edit(MEAN, "heads.mean(axis=(0, 1, 2), keepdims=True)")
    | "For `mean`, you take the mean of all heads. A head is replaced by its own mean."
    | "Which slice of `heads` does the mean run over, and is the axis of the heads gone by then?",
    exchanged=edit((MEAN, ROW_MEAN), (ROW_MEAN, MEAN))
    | "`mean` and `row_mean` have changed places."
    | "Which of the two still knows the position?",
    one_number=edit(MEAN, "heads.mean(axis=(0, 2, 3), keepdims=True)")
    | "For `mean`, one number replaces all K features. Each feature has a mean of its own."
    | "Over which axes of (B, T, K) does the mean run?",
    all_at_once=edit(IS_REPLACED, "number >= 0")
    | seen({"calls": SEVERAL})
    | "All heads are replaced at once, so each head gets the same number.",
    one_number_a_position=edit(ROW_MEAN, "heads.mean(axis=(0, 3), keepdims=True)")
    | "For `row_mean`, one number at each position replaces all K features. Each feature has a mean of its own."
    | "Over which axes of (B, T, K) does the mean run?",
    means_of_all_heads=edit(MEAN, "heads.mean(axis=(0, 1, 2), keepdims=True)")
    | edit(ROW_MEAN, "heads.mean(axis=(0, 1), keepdims=True)")
    | "Both means run over all heads. A head is replaced by means of its own outputs."
    | "Which slice of `heads` does the mean run over, and is the axis of the heads gone by then?",
    positions_replaced=edit("heads.shape[1]), range(heads.shape[1])", "heads.shape[2]), range(heads.shape[2])")
    | edit("is_replaced[:, None, None]", "is_replaced[:, None]")
    | edit(MEAN, "heads.mean(axis=(0, 1), keepdims=True)")
    | seen({"calls": SEVERAL})
    | "Positions are replaced, one after the other. The heads are axis 1 of (B, H, T, K).",
    other_sign=edit(INCREASE, "intact - loss_of(replaced(instead, head), w_o, targets)")
    | "The sign is wrong: a positive number says that the loss grows without the head.",
    sign_lost=edit(INCREASE, f"abs({INCREASE})")
    | "A loss that shrinks without a head counts as one that grows: the sign is lost. Such a head gets a negative "
    "number." | "May a model be better without one of its heads?",
    never_negative=edit(INCREASE, f"max({INCREASE}, 0)")
    | "A head without which the loss shrinks gets 0. It should get a negative number."
    | "May a model be better without one of its heads?",
    first_text_only=edit(REPLACED, f"{REPLACED} & (np.arange(len(heads)) == 0)[:, None, None, None]")
    | "The head is replaced in the first text alone. It should be replaced in all texts of the batch."
    | "What is `heads[0, h]`, and what is `heads[:, h]`?",
    ratio=edit(INCREASE, "loss_of(replaced(instead, head), w_o, targets) / intact")
    | "These are losses divided by the intact loss. Asked for is the difference of the two losses.",
    relative=edit(INCREASE, "loss_of(replaced(instead, head), w_o, targets) / intact - 1")
    | "These are increases divided by the intact loss. Asked for is the difference of the two losses.",
)

exercise.advice(
    zero=Advice(
        value="For each head: a copy of `heads` in which this head alone is 0, its loss, and the loss of the intact "
        "heads taken off.",
        shape="One number for each head: (H,).",
    ),
    means=Advice(
        value="`heads[:, h]` is (B, T, K). `mean` keeps K numbers of it; `row_mean` keeps (T, K).",
        shape="One number for each head: (H,).",
    ),
    calls="Call `loss` for each head with all other heads as they were.",
)
exercise.hints(
    zero=(
        "Two loops: over the three replacements, and over the heads. The copy belongs into the inner one.",
        "`loss(heads)` first, once. Each result is a loss minus this one.",
    ),
    means=(
        "`heads[:, h].mean(axis=…)`: which axes of (B, T, K) does each of the two means run over?",
        "An array of K numbers, or of (T, K), broadcasts into `heads[:, h]`, which is (B, T, K).",
    ),
    calls="Make a fresh copy of `heads` for every call.",
)
