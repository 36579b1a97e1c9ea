"""Lab 08, exercise `masked_cross_entropy`."""

import math  # noqa: F401 - mistakes use it

import numpy as np

from autograder.declare import Advice, Case, Exercise, edit
from exercises.formulas.attention import softmax  # noqa: F401 - mistakes use it
from exercises.formulas.losses import log_softmax

exercise = Exercise("masked_cross_entropy", own_probe=True)


@exercise.formula
def masked_cross_entropy(logits, targets, pad_id=0, label_smoothing=0.0):
    """Mean over the real tokens of −Σ_v t_v log softmax(logits)_v with smoothed targets t.

    Args:
        logits: (B, T, V).
        targets: ids, (B, T).
    """
    real = targets != pad_id
    log_p = log_softmax(logits)
    wanted = smoothed(targets, logits.shape[-1], label_smoothing).astype(logits.dtype)
    losses = np.where(real, -(wanted * log_p).sum(axis=-1), 0)
    return np.asarray(losses.sum() / real.sum())


def smoothed(targets: np.ndarray, size: int, epsilon: float) -> np.ndarray:
    """(1 − ε)·one-hot + ε/V (Szegedy et al. 2016, section 7). targets (…) -> (…, V)."""
    one_hot = np.eye(size)[targets]
    return one_hot * (1 - epsilon) + epsilon / size


@exercise.formula_for("derivative")
def numerical_derivative(logits, targets, pad_id=0, label_smoothing=0.0):
    """The loss's derivative by each logit, (B, T, V): central differences in float64."""
    gradient, step = np.zeros(logits.shape), 1e-5
    for place in np.ndindex(logits.shape):
        nudge = np.zeros(logits.shape)
        nudge[place] = step
        upper, lower = (
            masked_cross_entropy(logits + side * nudge, targets, pad_id, label_smoothing) for side in (1, -1)
        )
        gradient[place] = (upper - lower) / (2 * step)
    return {"gradient": gradient}


def _loss_inputs(rng, batch: int = 3, length: int = 5, words: int = 7, scale: float = 2.0) -> dict:
    targets = rng.integers(1, words, size=(batch, length)).astype("int32")
    for row in range(batch):
        targets[row, length - row * (length - 1) // batch :] = 0
    return {"logits": (scale * rng.normal(size=(batch, length, words))).astype("float32"), "targets": targets}


@exercise.group("mean over all real tokens of the batch", points=2)
def values(rng):
    wide = _loss_inputs(rng, 2, 7, 11)
    yield Case(_loss_inputs(rng), "logits (3, 5, 7), sentences of different lengths")
    yield Case({**wide, "targets": wide["targets"].astype("int64")}, "logits (2, 7, 11), targets of int64")


@exercise.group("another padding id, and a sentence without tokens")
def padding(rng):
    other, empty = _loss_inputs(rng), _loss_inputs(rng)
    other["targets"] = np.where(other["targets"] == 4, 0, other["targets"]).astype("int32")
    other["targets"][0, 0], other["targets"][1, 1] = 4, 0
    empty["targets"][1] = 0
    yield Case({**other, "pad_id": 4}, "logits (3, 5, 7), pad_id=4")
    yield Case(empty, "logits (3, 5, 7), one sentence is padding alone")


@exercise.group("label smoothing", points=2)
def smoothing(rng):
    cases = []
    for epsilon in (0.1, 0.3):
        inputs = {**_loss_inputs(rng), "label_smoothing": epsilon}
        cases.append(Case(inputs, f"logits (3, 5, 7), label_smoothing={epsilon}"))
    both = {**_loss_inputs(rng), "pad_id": 2, "label_smoothing": 0.2}
    return [*cases, Case(both, "logits (3, 5, 7), pad_id=2, label_smoothing=0.2")]


@exercise.group("finite and right for large logits")
def large_logits(rng):
    yield Case(_loss_inputs(rng, scale=1000), "logits (3, 5, 7) in the thousands")
    yield Case({**_loss_inputs(rng, scale=1000), "label_smoothing": 0.1}, "the same with label_smoothing=0.1")


@exercise.group("tensors, tf.function, gradients")
def training(rng):
    smooth = {**_loss_inputs(rng), "label_smoothing": 0.1}
    yield Case(_loss_inputs(rng), "TensorFlow tensors", mode="tensor")
    yield Case(smooth, "inside tf.function, batch size and length unknown, label_smoothing=0.1", mode="graph")
    yield Case(smooth, "gradient with respect to the logits, label_smoothing=0.1", mode="derivative")


REAL = "targets != pad_id"
LOG_P = "log_softmax(logits)"
MEAN = "losses.sum() / real.sum()"
MASKED = "np.where(real, -(wanted * log_p).sum(axis=-1), 0)"
SMOOTHED = "one_hot * (1 - epsilon) + epsilon / size"
PRODUCT = "wanted * log_p"
GRADIENT = 'return {"gradient": gradient}'
WANTED = "wanted = smoothed(targets, logits.shape[-1], label_smoothing).astype(logits.dtype)"

exercise.mistakes(
    padding_counted=edit(REAL, "np.ones_like(targets, dtype=bool)", see="06#padding-leaks")
    | "Padding counts as if it were words."
    | "Which positions should have no share of the sum, and which number divides it?",
    divided_by_positions=edit(MEAN, "losses.mean()", see="06#padding-leaks")
    | "The sum is divided by all positions, padding too. Divide by the number of real tokens."
    | "A mean divides by all entries, also by those that you set to 0.",
    mean_of_means=edit(MEAN, "(losses.sum(-1) / np.maximum(real.sum(-1), 1)).mean()")
    | "Each sentence is averaged by itself, so tokens of short sentences weigh more. Average over all tokens at once."
    | "How many divisions does your code have, one for each sentence or one in all?",
    divided_by_sentences=edit(MEAN, "losses.sum() / len(losses)")
    | "The sum is divided by the number of sentences, not of tokens.",
    not_averaged=edit(MEAN, "losses.sum()") | "The losses are only summed; divide by the number of real tokens.",
    divided_by_words=edit(MEAN, "losses.sum() / real.sum() / logits.shape[-1]")
    | "The loss is divided by V too: a loss is a sum over the words.",
    only_padding=edit(REAL, "targets == pad_id") | "Only the padding counts: the mask is the wrong way round.",
    pad_id_ignored=edit(REAL, "targets != 0") | "The argument `pad_id` changes nothing: id 0 is left out.",
    smaller_ids_left_out=edit(REAL, "targets > pad_id")
    | "Ids below `pad_id` are left out, too. Only `pad_id` itself is padding.",
    smoothing_ignored=edit("logits.shape[-1], label_smoothing)", "logits.shape[-1], 0.0)")
    | "The argument `label_smoothing` changes nothing.",
    smoothing_over_others=edit(
        SMOOTHED, "np.where(one_hot == 1, 1 - epsilon, epsilon / (size - 1))", see="08#loss-floor"
    )
    | "Your ε is spread over the other V − 1 words. It belongs to all V words, the right one too.",
    smoothing_not_divided=edit("epsilon / size", "epsilon")
    | "Every word gets the whole ε; spread it: ε/V for each word.",
    smoothing_without_padding=edit("epsilon / size", "epsilon / (size - 1)")
    | edit(WANTED, f"{WANTED}\nwanted[..., pad_id] -= label_smoothing / (logits.shape[-1] - 1)")
    | "Your padding id gets no share of ε. It belongs to all V ids.",
    smoothing_reversed=edit(SMOOTHED, "one_hot * epsilon + (1 - epsilon) / size")
    | "The right word gets ε and the spread 1 − ε: they are swapped.",
    log_of_softmax=edit(LOG_P, "np.log(softmax(logits))")
    | edit(MASKED, "-(wanted * log_p).sum(axis=-1) * real")
    | "The logarithm is taken of a softmax. For large logits that is the logarithm of 0, and 0 times it is NaN."
    | "Which one function computes the logarithm of a softmax without computing the softmax?",
    log_of_softmax_of_one_word=edit(LOG_P, "np.log(softmax(logits))")
    | edit(PRODUCT, "np.where(wanted == 0, 0, wanted * log_p)")
    | "The logarithm is taken of a softmax. For large logits that is the logarithm of 0.",
    softmax_over_positions=edit("log_softmax(scores, axis=-1)", "log_softmax(scores, axis=-2)")
    | "The softmax runs over the positions; it should run over the vocabulary.",
    logits_taken_as_probabilities=edit((LOG_P, "np.log(logits)"), (PRODUCT, "np.where(wanted == 0, 0, wanted * log_p)"))
    | "The logits are treated as probabilities: the softmax is missing. (In Keras: `from_logits=True`.)",
    softmax_twice=edit(LOG_P, "log_softmax(softmax(logits))")
    | "The softmax is taken twice: a loss from logits got probabilities.",
    log_to_base_2=edit(LOG_P, "log_softmax(logits) / math.log(2)")
    | "The logarithm is to the base 2; nats use the natural one.",
    minus_missing=edit("-(wanted * log_p).sum(axis=-1)", "(wanted * log_p).sum(axis=-1)")
    | "The minus sign is missing.",
    smoothing_without_right_word=edit(
        SMOOTHED, "np.where(one_hot == 1, 1 - epsilon, epsilon / size)", see="08#loss-floor"
    )
    | "Your right word gets 1 − ε alone. ε belongs to all V words, so its own share ε/V comes on top."
    | "Add up your target distribution. Is the sum 1?",
    smoothing_too_large=edit(SMOOTHED, "one_hot * (1 - epsilon) + epsilon / (size - 1)", see="08#loss-floor")
    | "Your target sums to more than 1: all V words get ε/(V − 1)."
    | "Over how many words is ε spread?",
    small_number_added=edit(LOG_P, "np.log(softmax(logits) + 1e-9)")
    | "A small number is added before the logarithm, so no word costs more than −ln of it. Large logits cost more."
    | "Which one function computes the logarithm of a softmax without computing the softmax?",
    targets_masked=edit(
        GRADIENT,
        "padding = (targets == pad_id)[..., None]\n"
        'return {"gradient": gradient + padding * softmax(logits) / (targets != pad_id).sum()}',
    )
    | "The loss is right, and its gradient at padding is not 0: your targets are 0 there. TensorFlow's gradient is "
    "softmax − target, as if each target summed to 1. Multiply the losses by the mask, not the targets."
    | "Which array of your code has one number for each position, the loss of this position alone?",
    padding_in_sum=edit(MASKED, "-(wanted * log_p).sum(axis=-1)", see="06#padding-leaks")
    | "The losses at padding are still in the sum; only the number that divides it counts real tokens alone."
    | "What has to become of the losses at padding before the sum?",
    mask_not_cast=edit(MEAN, "((np.abs(losses) >= 1) & real).sum() / real.sum()")  # a bool drops fractions
    | "Your result is a quotient of two numbers of positions: TensorFlow's `*` of floats and a boolean "
    "tensor is boolean. `ops.cast` makes numbers of the mask."
    | "Which type has the product of losses and mask, and what is its sum?",
    from_logits_missing=edit(LOG_P, "np.log(np.clip(logits / logits.sum(axis=-1, keepdims=True), 1e-7, 1 - 1e-7))")
    | "A ready-made loss got logits and treats them as probabilities: set `from_logits=True`.",
)

exercise.advice(
    values=Advice(
        value="Of each position take −Σ t ln p over the V words. Add up those of the real tokens, and divide by the "
        "number of real tokens.",
        shape="One number for the batch: sum the losses, and divide by the number of real tokens.",
    ),
    padding="Count the real tokens of the whole batch. A sentence without any adds 0 to both sums.",
    smoothing="The right word gets 1 − ε + ε/V and every other word ε/V: together 1.",
    large_logits="The softmax of large logits has exact zeros, and their logarithm is −inf. There is a log-softmax.",
)
exercise.hints(
    values="One loss for each position first, (B, T); then a weight of 1 or 0 for each; then one division.",
    smoothing="With smoothing the loss of a token is (1 − ε) times that of the right word plus ε times the mean over "
    "all V words.",
    large_logits="`ops.log_softmax` does not overflow, and `ops.one_hot` makes targets (B, T, V).",
    training="A graph has no numbers yet: no `np.`, no `float(…)`, no `.numpy()`, and no `if` on a tensor.",
)
