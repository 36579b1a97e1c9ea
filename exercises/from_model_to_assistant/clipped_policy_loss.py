"""Lab 10b, exercise `clipped_policy_loss`."""

import numpy as np

from autograder.declare import Advice, Case, Exercise, edit
from exercises.drawing import drawn_until
from exercises.from_model_to_assistant.shared import around, by_differences, likely, some_columns

exercise = Exercise("clipped_policy_loss", own_probe=True)


@exercise.formula
def clipped_policy_loss(new, old, reference, mask, advantage, clip, beta):
    """The clipped objective with a price (Shao et al. 2024, equation 3; Schulman 2020), all tokens counted alike.

    new, old, reference, mask (B, T), advantage (B,) -> ().
    """
    log_ratio = new - old
    ratio = np.exp(log_ratio)
    held = np.clip(ratio, 1 - clip, 1 + clip)
    a = advantage[:, None]
    worth = np.minimum(ratio * a, held * a)
    gap = reference - new
    price = np.exp(gap) - gap - 1
    counted = (worth - beta * price) * mask
    return np.asarray(-counted.sum() / mask.sum())


@exercise.formula_for("derivative")
def slopes(new, old, reference, mask, advantage, clip, beta):
    """The loss's derivative by each log probability of the new model."""

    def loss(each):
        return clipped_policy_loss(each, old, reference, mask, advantage, clip, beta)

    return {"gradient": by_differences(loss, new)}


def _advantage(rng, rows: int) -> np.ndarray:
    """Of both signs."""
    signs = np.where(np.arange(rows) % 2, 1, -1)[rng.permutation(rows)]
    return (signs * (0.4 + rng.random(rows))).astype("float32")


def _inputs(
    rng, rows: int, columns: int, *, clip: float = 0.2, beta: float = 0.0, size: float = 0.4, is_first: bool = False
) -> dict:
    """A step; of the first one on new draws `new` is `old`. No ratio is at the edge of the clip."""

    def draw() -> dict:
        old = likely(rng, rows, columns)
        new = old.copy() if is_first else around(rng, old, size)
        arrays = {"new": new, "old": old, "reference": around(rng, old), "mask": some_columns(rng, rows, columns)}
        return arrays | {"advantage": _advantage(rng, rows), "clip": clip, "beta": beta}

    return drawn_until(lambda drawn: is_first or _is_clear(drawn), draw)


def _is_clear(drawn: dict) -> bool:
    """Whether some tokens of good and of bad answers lie on each side of the clip, and none near its edges."""
    ratio, is_counted = np.exp(drawn["new"] - drawn["old"]), drawn["mask"] > 0
    edges = np.array([1 - drawn["clip"], 1 + drawn["clip"]])
    is_good = np.broadcast_to(drawn["advantage"][:, None] > 0, ratio.shape)
    sides = [
        (side & is_counted & good).any()
        for side in (ratio < edges[0], ratio > edges[1])
        for good in (is_good, ~is_good)
    ]
    return bool(all(sides) and np.abs(ratio[..., None] - edges).min() > 1e-3)


@exercise.group("the first step on new draws: all ratios are 1", must_fail_for=("advantage_once", "half_square"))
def first(rng):
    yield Case(_inputs(rng, 5, 7, is_first=True), "new is old, beta=0")
    yield Case(_inputs(rng, 3, 7, is_first=True, beta=0.3), "new is old, beta=0.3")


def _far(rng) -> dict:
    """A step with large ratios; a bad answer has one below `clip`, which is no edge."""

    def is_far(drawn: dict) -> bool:
        is_bad = (drawn["advantage"][:, None] < 0) & (drawn["mask"] > 0)
        return bool((np.exp(drawn["new"] - drawn["old"])[is_bad] < 0.25).any())

    return drawn_until(is_far, lambda: _inputs(rng, 5, 8, clip=0.3, size=1.0))


@exercise.group("ratios inside and beyond the clip, good answers and bad ones", points=2)
def clipped(rng):
    yield Case(_inputs(rng, 5, 11), "rows (5, 11), clip=0.2, beta=0")
    yield Case(_inputs(rng, 7, 8, clip=0.1), "rows (7, 8), clip=0.1, beta=0")
    yield Case(_far(rng), "rows (5, 8), clip=0.3, beta=0, ratios from a fifth to five")


@exercise.group("the price for leaving the reference", points=2)
def price(rng):
    yield Case(_inputs(rng, 5, 11, beta=0.5), "rows (5, 11), clip=0.2, beta=0.5")
    yield Case(_inputs(rng, 3, 13, clip=0.3, beta=2.0), "rows (3, 13), clip=0.3, beta=2")


@exercise.group("tensors, tf.function, gradients")
def training(rng):
    unknown = "inside tf.function, number and length of the rows unknown"
    yield Case(_inputs(rng, 5, 7, beta=0.5), "TensorFlow tensors", mode="tensor")
    yield Case(_inputs(rng, 5, 7, beta=0.5), unknown, mode="graph")
    yield Case(_inputs(rng, 5, 7, beta=0.5), "gradient with respect to new", mode="derivative")
    yield Case(_inputs(rng, 3, 5, is_first=True), "gradient with respect to new, where new is old", mode="derivative")


WORTH = "np.minimum(ratio * a, held * a)"
HELD = "np.clip(ratio, 1 - clip, 1 + clip)"
PRICE = "np.exp(gap) - gap - 1"
MEAN = "-counted.sum() / mask.sum()"
COUNTED = "(worth - beta * price) * mask"

exercise.mistakes(
    larger_taken=edit(WORTH, "np.maximum(ratio * a, held * a)", see="10b#reward")
    | "The larger of the two products is taken. The smaller one should count: it never promises more than what was "
    "drawn can support." | "A good answer has a ratio of 3 already. Which product stops pushing it?",
    only_clipped=edit(WORTH, "held * a")
    | "Only the clipped ratio counts. A bad answer that has become likelier (ratio 3) gets no gradient then, and stays."
    | "Compute both products for A = −1 and a ratio of 3. Which one is smaller, and which has a gradient?",
    not_clipped=edit(WORTH, "ratio * a")
    | "Nothing is clipped: one batch may push a token as far as it likes."
    | "What should the loss be for a good answer whose ratio is 3, with clip = 0.2?",
    clipped_above_only=edit(HELD, "np.minimum(ratio, 1 + clip)")
    | "The ratio is clipped above alone. It should be held between 1 − clip and 1 + clip.",
    lower_edge=edit(HELD, "np.clip(ratio, clip, 1 + clip)")
    | "The ratio is held between clip and 1 + clip. The lower edge should be 1 − clip.",
    around_zero=edit(HELD, "np.clip(ratio, -clip, clip)")
    | "The ratio is held near 0. It is 1 where nothing has changed: hold it between 1 − clip and 1 + clip.",
    advantage_once=edit(WORTH, "np.minimum(ratio, held * a)")
    | "One of the two products lacks the advantage."
    | "Which two numbers are compared, and does each have A in it?",
    product_clipped=edit(WORTH, "np.clip(ratio * a, 1 - clip, 1 + clip)")
    | "The product with the advantage is clipped. It is the ratio that should be held between 1 − clip and 1 + clip.",
    one_side_by_sign=edit(WORTH, "np.minimum(ratio, held) * a")
    | "The smaller ratio is taken, and then multiplied. Take the smaller *product*: for a negative advantage that "
    "is the one with the larger ratio."
    | "Is the smaller of two numbers still the smaller one after a multiplication by −1?",
    ratio_inverted=edit("log_ratio = new - old", "log_ratio = old - new")
    | "The ratio is old/new. It should be the new probability divided by the old one.",
    log_ratio_taken=edit("ratio = np.exp(log_ratio)", "ratio = log_ratio")
    | "This is the logarithm of the ratio. Its exponential is the ratio of the probabilities."
    | "How large is the ratio where new is old?",
    logarithms_divided=edit("ratio = np.exp(log_ratio)", "ratio = new / old")
    | "Two logarithms are divided. The ratio of the probabilities is the exponential of the logarithms' difference.",
    ratio_of_the_answer=edit("log_ratio = new - old", "log_ratio = ((new - old) * mask).sum(axis=1, keepdims=True)")
    | "The ratio is that of a whole answer, the product over its tokens. Each token should have a ratio of its own."
    | "Which shape does your ratio have, (B, T) or (B, 1)?",
    no_ratio=edit("log_ratio = new - old", "log_ratio = new")
    | "These are probabilities of the new model, divided by nothing. The ratio should be to the model that drew.",
    log_p_for_ratio=edit("ratio = np.exp(log_ratio)", "ratio = new", see="10b#reward")
    | "The log probability itself is multiplied by the advantage, as in the lecture's `policy_loss`. With several "
    "steps on the same draws it should be the ratio.",
    ratio_to_reference=edit("log_ratio = new - old", "log_ratio = new - reference")
    | "The ratio is to the reference. It should be to `old`, the model that drew these answers.",
    price_earned=edit("worth - beta * price", "worth + beta * price", see="10b#price")
    | "The price is added to the worth, so that leaving the reference pays. It should be taken off."
    | "Which sign does `beta * price` have in the loss, which is to become small?",
    gap_reversed=edit("gap = reference - new", "gap = new - reference", see="10b#reward")
    | "The gap is reversed. The mean of q/p − ln(q/p) − 1 over draws of p is KL(p, q); p is the new model, q the "
    "reference." | "Which of the two log probabilities has the plus sign in ln(q/p)?",
    plain_difference=edit(PRICE, "-gap")
    | "The price is ln(p/q) alone. Its mean is right, but for a single token it may be negative. Here it should be "
    "q/p − ln(q/p) − 1." | "What does the whole term give for a gap of 0, of 1 and of −1? Can it be negative?",
    half_square=edit(PRICE, "gap**2 / 2")
    | "The price is half a square of the gap. That is nearly the same for small gaps; here it should be q/p − ln(q/p) "
    "− 1.",
    minus_one_missing=edit(PRICE, "np.exp(gap) - gap")
    | "The −1 of the price is missing: it should be 0 where both models agree.",
    log_missing=edit(PRICE, "np.exp(gap) - 1") | "The logarithm is missing in the price q/p − ln(q/p) − 1.",
    price_to_old=edit("gap = reference - new", "gap = old - new")
    | "The price is for leaving `old`. It should be for leaving the reference.",
    beta_ignored=edit("worth - beta * price", "worth") | "`beta` changes nothing: the price is missing.",
    price_without_beta=edit("worth - beta * price", "worth - price")
    | "The price is charged in full, whatever `beta` says.",
    price_times_advantage=edit("worth - beta * price", "worth - beta * price * a")
    | "The price is multiplied by the advantage. It should be charged at every token, of good answers and of bad ones.",
    price_of_all_tokens=edit(COUNTED, "worth * mask - beta * price")
    | "The price is charged at the prompt and at the padding, too. The mask belongs to both parts.",
    mean_of_all=edit(MEAN, "-counted.mean()")
    | "The sum is divided by all B·T positions. Divide by the number of tokens that the mask marks."
    | "A mean divides by all entries, also by those that you set to 0.",
    mask_ignored=edit(COUNTED, "worth - beta * price")
    | edit(MEAN, "-counted.mean()")
    | "Prompt and padding count as well: the mask changes nothing.",
    mean_of_rows=edit(MEAN, "-(counted.sum(axis=1) / mask.sum(axis=1)).mean()", see="10b#reward")
    | "Each answer is averaged by itself, as in the paper. Here all tokens of the batch should count alike: one "
    "division.",
    not_averaged=edit(MEAN, "-counted.sum()") | "The tokens are only summed; divide by what the mask marks.",
    divided_by_rows=edit(MEAN, "-counted.sum() / len(mask)")
    | "The sum is divided by the number of answers. Divide by the number of tokens that the mask marks.",
    minus_missing=edit(MEAN, "counted.sum() / mask.sum()")
    | "The minus sign is missing: a loss is made small, and good answers should become likelier.",
)

exercise.advice(
    first=Advice(
        value="Where new is old, every ratio is 1, and nothing is clipped. The loss is −Σ A over the tokens of the "
        "answers, divided by their number, plus the price.",
        shape="One number for the batch. `advantage[:, None]` gives each row's tokens its advantage.",
    ),
    clipped="Compute one token by hand for each of the four: A = 1 or −1, a ratio of 0.5 or 2. Both products, then the "
    "smaller one.",
    price="The price is q/p − ln(q/p) − 1 for each token, where ln(q/p) is reference − new. It is never negative.",
    training=Advice(
        graph="A graph has no numbers yet: no `np.`, no `float(…)`, and no `if` on a tensor.",
        value="The gradient should flow through the ratio and through the price. `old` and `reference` are given "
        "numbers.",
    ),
)
exercise.hints(
    first="ops.exp(new − old) is 1 there. What is left of the smaller of two equal products?",
    clipped=(
        "`ops.clip(ratio, 1 - clip, 1 + clip)` holds the ratio. Both products have the advantage in them.",
        "`ops.minimum` of two arrays takes the smaller number, place by place.",
    ),
    price="Give the gap a name, and use it twice: once in the exponential, once as it is.",
    training="Search your function for `np.` and for functions of Python (`min`, `sum`, `float`).",
)
