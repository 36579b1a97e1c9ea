"""Lab 10b, exercise `preference_loss`."""

import numpy as np

from autograder.declare import Advice, Case, Exercise, edit
from exercises.drawing import drawn_until
from exercises.from_model_to_assistant.shared import around, by_differences, likely, some_columns

exercise = Exercise("preference_loss", own_probe=True)


@exercise.formula
def preference_loss(new, reference, mask, beta):
    """−ln σ(β (gain of the chosen − gain of the rejected)), averaged (Rafailov et al. 2023, equation 7).

    new, reference, mask (2, B, T), the chosen answers first -> ().
    """
    gained = new - reference
    gains = (gained * mask).sum(axis=-1)
    apart = gains[0] - gains[1]
    margins = beta * apart
    losses = np.logaddexp(0, -margins)
    return np.asarray(losses.mean())


@exercise.formula_for("derivative")
def slopes(new, reference, mask, beta):
    """The loss's derivative by each log probability of the new model."""
    return {"gradient": by_differences(lambda each: preference_loss(each, reference, mask, beta), new)}


def _inputs(rng, pairs: int, columns: int, beta: float, size: float = 0.6) -> dict:
    """Log probabilities of pairs; chosen and rejected answers have other lengths."""
    old = likely(rng, 2, pairs, columns)
    mask = np.stack([some_columns(rng, pairs, columns), some_columns(rng, pairs, columns)])
    mask[1, :, columns // 2] = 0.0  # as if the answers were shorter
    mask[1, 0, :] = mask[0, 0, :] * (np.arange(columns) % 2)
    return {"new": around(rng, old, size), "reference": old, "mask": mask, "beta": beta}


@exercise.group("pairs of answers", points=2, must_pass_for=("small_number_added",))
def values(rng):
    yield Case(_inputs(rng, 5, 7, 0.5), "5 pairs, beta=0.5")
    yield Case(_inputs(rng, 3, 11, 2.0), "3 pairs, beta=2")
    yield Case(_inputs(rng, 1, 13, 0.1), "one pair, beta=0.1")


@exercise.group("gains of hundreds of nats")
def large(rng):
    def draw() -> dict:
        far = _inputs(rng, 5, 7, 1.0)
        return {**far, "new": 100 * far["new"]}

    def is_clear(far: dict) -> bool:
        """Whether some margins are large and others small, and none is near 0."""
        gains = ((far["new"] - far["reference"]) * far["mask"]).sum(axis=-1)
        margins = gains[0] - gains[1]
        return bool(margins.min() < -100 and margins.max() > 100 and np.abs(margins).min() > 30)

    yield Case(drawn_until(is_clear, draw), "5 pairs far apart, beta=1", scale=300.0)


@exercise.group("tensors, tf.function, gradients")
def training(rng):
    yield Case(_inputs(rng, 5, 7, 0.5), "TensorFlow tensors", mode="tensor")
    yield Case(_inputs(rng, 5, 7, 0.5), "inside tf.function, number of pairs unknown", mode="graph")
    yield Case(_inputs(rng, 3, 5, 0.5), "gradient with respect to new", mode="derivative")


GAINS = "(gained * mask).sum(axis=-1)"
APART = "gains[0] - gains[1]"
LOSSES = "np.logaddexp(0, -margins)"

exercise.mistakes(
    exchanged=edit(APART, "gains[1] - gains[0]")
    | "Chosen and rejected are exchanged, or a sign is lost: this loss falls when the rejected answer gains."
    | "The chosen answers are `new[0]`. What should the loss do when they become likelier?",
    reference_forgotten=edit("new - reference", "new", see="10b#preferences")
    | "The reference is missing. A gain is counted from it: how much likelier is the answer than before?"
    | "How large is the loss at the start, where new is the reference? It should be ln 2.",
    logarithms_divided=edit("new - reference", "new / reference")
    | "Two logarithms are divided. A gain is their difference: ln p − ln q.",
    beta_outside=edit("np.asarray(losses.mean())", "np.asarray(beta * losses.mean())")
    | edit("margins = beta * apart", "margins = apart")
    | "β stands outside of the sigmoid. It should multiply the difference of the gains, inside.",
    beta_ignored=edit("margins = beta * apart", "margins = apart") | "`beta` changes nothing.",
    beta_divides=edit("beta * apart", "apart / beta") | "The difference is divided by β. It should be multiplied by "
    "it.",
    mean_of_tokens=edit(GAINS, "(gained * mask).sum(axis=-1) / mask.sum(axis=-1)")
    | "Each answer's gain is a mean over its tokens. The log probability of an answer is a sum: a long answer may gain "
    "more." | "What is the logarithm of a product of probabilities?",
    mean_of_columns=edit(GAINS, "(gained * mask).mean(axis=-1)")
    | "Each answer's gain is a mean over all columns. The log probability of an answer is the sum over its tokens.",
    mask_ignored=edit(GAINS, "gained.sum(axis=-1)") | "Prompt and padding count as well: the mask changes nothing.",
    over_pairs=edit(GAINS, "(gained * mask).sum(axis=1)")
    | "The sum runs over the pairs. It should run over the tokens of an answer, the last axis.",
    small_number_added=edit(LOSSES, "-np.log(1 / (1 + np.exp(-margins)) + 1e-7)")
    | "A small number is added before the logarithm, so no pair costs more than −ln of it. Far apart it should."
    | "Which one function computes ln σ without computing σ?",
    logarithm_missing=edit(LOSSES, "-1 / (1 + np.exp(-margins))")
    | "The logarithm is missing: this is −σ. Where the wrong answer leads by far, its gradient is 0.",
    one_minus=edit(LOSSES, "1 / (1 + np.exp(margins))")
    | "This is 1 − σ. The loss is −ln σ: where the wrong answer leads by far, 1 − σ has no gradient.",
    minus_missing=edit("losses.mean()", "-losses.mean()")
    | "The minus sign is missing: ln σ is negative, and a loss is made small.",
    not_averaged=edit("losses.mean()", "losses.sum()") | "The pairs are summed. Take their mean.",
    before_the_sigmoid=edit("margins = beta * apart", "margins = np.mean(beta * apart)")
    | "The mean over the pairs is taken before the sigmoid. Each pair should have a loss of its own.",
    no_sigmoid=edit(LOSSES, "-margins")
    | "The sigmoid is missing: a pair that is right already would be pushed without end.",
    hinge=edit(LOSSES, "np.maximum(0, 1 - margins)") | "This is a hinge loss. DPO takes −ln σ.",
    log_of_sigmoid=edit(LOSSES, "-np.log(np.where(margins < -88.7, 0, 1 / (1 + np.exp(-margins))))")
    | "The logarithm is taken of a sigmoid. Far apart that is the logarithm of 0."
    | "Which one function computes ln σ without computing σ?",
    added=edit(APART, "gains[0] + gains[1]") | "The gains of both answers are added. Their difference should count.",
    base_two=edit(LOSSES, "np.logaddexp(0, -margins) / np.log(2)")
    | "The logarithm is to the base 2. Take the natural one.",
)

exercise.advice(
    values=Advice(
        value="By steps: gain of each token; sum over each answer, (2, B); difference of the two rows, times β; −ln σ; "
        "mean.",
        shape="One number for all pairs.",
    ),
    large=Advice(
        nan="σ of −200 is 0 in float32, and ln 0 is −inf. −ln σ(z) is ln(1 + e^(−z)), and there are functions for "
        "both.",
        value="For a large negative difference −ln σ(z) is nearly −z.",
    ),
    training=Advice(graph="A graph has no numbers yet: no `np.`, no `float(…)`, and no `if` on a tensor."),
)
exercise.hints(
    values=(
        "Where new is the reference, every gain is 0 and the loss is ln 2. Test your function with this first.",
        "`ops.sum((…) * mask, axis=-1)` is (2, B): row 0 are the chosen answers.",
    ),
    large="`ops.log_sigmoid` and `ops.softplus` do not overflow.",
    training="Search your function for `np.` and for `math.`: `keras.ops` works in graphs, too.",
)
