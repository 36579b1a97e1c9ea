"""Lab 08, exercise `masked_cross_entropy`."""

import math  # noqa: F401 - mistakes use it

import numpy as np

from autograder.declaring import Advice, Case, Exercise, wrong
from coursekit.generator import Generator
from exercises.formulas.attention import softmax  # noqa: F401 - mistakes use it
from exercises.formulas.losses import log_softmax

exercise = Exercise("masked_cross_entropy")


@exercise.formula
def masked_cross_entropy(
    logits: np.ndarray, targets: np.ndarray, pad_id: int = 0, label_smoothing: float = 0.0
) -> np.ndarray:
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
def numerical_derivative(
    logits: np.ndarray, targets: np.ndarray, pad_id: int = 0, label_smoothing: float = 0.0
) -> dict[str, np.ndarray]:
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


def _loss_inputs(rng: Generator, batch: int = 3, length: int = 5, words: int = 7, scale: float = 2.0) -> dict:
    targets = rng.integers(1, words, size=(batch, length)).astype("int32")
    for row in range(batch):
        targets[row, length - row * (length - 1) // batch :] = 0
    return {"logits": (scale * rng.normal(size=(batch, length, words))).astype("float32"), "targets": targets}


@exercise.group(
    "mean over all real tokens of the batch",
    points=2,
    advice=Advice(
        value="These are logits. A ready-made loss treats them as probabilities unless you set `from_logits=True`.",
        shape="One number for the batch: sum the losses, and divide by the number of real tokens.",
    ),
)
def values(rng: Generator) -> list[Case]:
    wide = _loss_inputs(rng, 2, 7, 11)
    return [
        Case(_loss_inputs(rng), description="logits (3, 5, 7), sentences of different lengths"),
        Case({**wide, "targets": wide["targets"].astype("int64")}, description="logits (2, 7, 11), targets of int64"),
    ]


@exercise.group(
    "another padding id, and a sentence without tokens",
    points=1,
    advice="Count the real tokens of the whole batch. A sentence without any adds 0 to both sums.",
)
def padding(rng: Generator) -> list[Case]:
    other, empty = _loss_inputs(rng), _loss_inputs(rng)
    other["targets"] = np.where(other["targets"] == 4, 0, other["targets"]).astype("int32")
    other["targets"][0, 0], other["targets"][1, 1] = 4, 0
    empty["targets"][1] = 0
    return [
        Case({**other, "pad_id": 4}, description="logits (3, 5, 7), pad_id=4"),
        Case(empty, description="logits (3, 5, 7), one sentence is padding alone"),
    ]


@exercise.group(
    "label smoothing", points=2, advice="The right word gets 1 − ε + ε/V and every other word ε/V: together 1."
)
def smoothing(rng: Generator) -> list[Case]:
    cases = []
    for epsilon in (0.1, 0.3):
        inputs = {**_loss_inputs(rng), "label_smoothing": epsilon}
        cases.append(Case(inputs, description=f"logits (3, 5, 7), label_smoothing={epsilon}"))
    both = {**_loss_inputs(rng), "pad_id": 2, "label_smoothing": 0.2}
    return [*cases, Case(both, description="logits (3, 5, 7), pad_id=2, label_smoothing=0.2")]


@exercise.group(
    "finite and right for large logits",
    points=1,
    advice="The softmax of large logits has exact zeros, and their logarithm is −inf. There is a log-softmax.",
)
def large_logits(rng: Generator) -> list[Case]:
    return [
        Case(_loss_inputs(rng, scale=1000), description="logits (3, 5, 7) in the thousands"),
        Case(
            {**_loss_inputs(rng, scale=1000), "label_smoothing": 0.1}, description="the same with label_smoothing=0.1"
        ),
    ]


@exercise.group("tensors, tf.function, gradients", points=1)
def training(rng: Generator) -> list[Case]:
    smooth = {**_loss_inputs(rng), "label_smoothing": 0.1}
    return [
        Case(_loss_inputs(rng), mode="tensor", description="TensorFlow tensors"),
        Case(
            smooth, mode="graph", description="inside tf.function, batch size and length unknown, label_smoothing=0.1"
        ),
        Case(smooth, mode="derivative", description="gradient with respect to the logits, label_smoothing=0.1"),
    ]


REAL = "targets != pad_id"
LOG_P = "log_softmax(logits)"
MEAN = "losses.sum() / real.sum()"
SMOOTHED = "one_hot * (1 - epsilon) + epsilon / size"
PRODUCT = "wanted * log_p"
GRADIENT = 'return {"gradient": gradient}'
WANTED = "wanted = smoothed(targets, logits.shape[-1], label_smoothing).astype(logits.dtype)"

exercise.mistakes(
    padding_counted=wrong(
        "Padding counts as if it were words.",
        (REAL, "np.ones_like(targets, dtype=bool)"),
        hint="Which positions should have no share of the sum, and which number divides it?",
        see="06#padding-leaks",
    ),
    divided_by_positions=wrong(
        "The sum is divided by all positions, padding too. Divide by the number of real tokens.",
        (MEAN, "losses.mean()"),
        hint="A mean divides by all entries, also by those that you set to 0.",
        see="06#padding-leaks",
    ),
    mean_of_means=wrong(
        "Each sentence is averaged by itself, so tokens of short sentences weigh more. Average over all "
        "tokens at once.",
        (MEAN, "(losses.sum(-1) / np.maximum(real.sum(-1), 1)).mean()"),
        hint="How many divisions does your code have, one for each sentence or one in all?",
    ),
    divided_by_sentences=wrong(
        "The sum is divided by the number of sentences, not of tokens.", (MEAN, "losses.sum() / len(losses)")
    ),
    not_averaged=wrong("The losses are only summed; divide by the number of real tokens.", (MEAN, "losses.sum()")),
    divided_by_words=wrong(
        "The loss is divided by V too: a loss is a sum over the words.",
        (MEAN, "losses.sum() / real.sum() / logits.shape[-1]"),
    ),
    only_padding=wrong("Only the padding counts: the mask is the wrong way round.", (REAL, "targets == pad_id")),
    pad_id_ignored=wrong("The argument `pad_id` changes nothing: id 0 is left out.", (REAL, "targets != 0")),
    smaller_ids_left_out=wrong(
        "Ids below `pad_id` are left out, too. Only `pad_id` itself is padding.", (REAL, "targets > pad_id")
    ),
    smoothing_ignored=wrong(
        "The argument `label_smoothing` changes nothing.",
        ("logits.shape[-1], label_smoothing)", "logits.shape[-1], 0.0)"),
    ),
    smoothing_over_others=wrong(
        "Your ε is spread over the other V − 1 words. It belongs to all V words, the right one too.",
        (SMOOTHED, "np.where(one_hot == 1, 1 - epsilon, epsilon / (size - 1))"),
        see="08#loss-floor",
    ),
    smoothing_not_divided=wrong(
        "Every word gets the whole ε; spread it: ε/V for each word.", ("epsilon / size", "epsilon")
    ),
    smoothing_without_padding=wrong(
        "Your padding id gets no share of ε. It belongs to all V ids.",
        ("epsilon / size", "epsilon / (size - 1)"),
        (WANTED, f"{WANTED}\nwanted[..., pad_id] -= label_smoothing / (logits.shape[-1] - 1)"),
    ),
    smoothing_reversed=wrong(
        "The right word gets ε and the spread 1 − ε: they are swapped.",
        (SMOOTHED, "one_hot * epsilon + (1 - epsilon) / size"),
    ),
    log_of_softmax=wrong(
        "The logarithm is taken of a softmax. For large logits that is the logarithm of 0, and 0 times it is NaN.",
        (LOG_P, "np.log(softmax(logits))"),
        ("np.where(real, -(wanted * log_p).sum(axis=-1), 0)", "-(wanted * log_p).sum(axis=-1) * real"),
        hint="Which one function computes the logarithm of a softmax without computing the softmax?",
    ),
    log_of_softmax_of_one_word=wrong(
        "The logarithm is taken of a softmax. For large logits that is the logarithm of 0.",
        (LOG_P, "np.log(softmax(logits))"),
        (PRODUCT, "np.where(wanted == 0, 0, wanted * log_p)"),
    ),
    softmax_over_positions=wrong(
        "The softmax runs over the positions; it should run over the vocabulary.",
        ("log_softmax(scores, axis=-1)", "log_softmax(scores, axis=-2)"),
    ),
    logits_taken_as_probabilities=wrong(
        "The logits are treated as probabilities: the softmax is missing. (In Keras: `from_logits=True`.)",
        (LOG_P, "np.log(logits)"),
        (PRODUCT, "np.where(wanted == 0, 0, wanted * log_p)"),
    ),
    softmax_twice=wrong(
        "The softmax is taken twice: a loss from logits got probabilities.", (LOG_P, "log_softmax(softmax(logits))")
    ),
    log_to_base_2=wrong(
        "The logarithm is to the base 2; nats use the natural one.", (LOG_P, "log_softmax(logits) / math.log(2)")
    ),
    minus_missing=wrong(
        "The minus sign is missing.", ("-(wanted * log_p).sum(axis=-1)", "(wanted * log_p).sum(axis=-1)")
    ),
    smoothing_without_right_word=wrong(
        "Your right word gets 1 − ε alone. ε belongs to all V words, so its own share ε/V comes on top.",
        (SMOOTHED, "np.where(one_hot == 1, 1 - epsilon, epsilon / size)"),
        hint="Add up your target distribution. Is the sum 1?",
        see="08#loss-floor",
    ),
    smoothing_too_large=wrong(
        "Your target sums to more than 1: all V words get ε/(V − 1).",
        (SMOOTHED, "one_hot * (1 - epsilon) + epsilon / (size - 1)"),
        hint="Over how many words is ε spread?",
        see="08#loss-floor",
    ),
    small_number_added=wrong(
        "A small number is added before the logarithm, so no word costs more than −ln of it. Large logits cost more.",
        (LOG_P, "np.log(softmax(logits) + 1e-9)"),
        hint="Which one function computes the logarithm of a softmax without computing the softmax?",
    ),
    targets_masked=wrong(
        "The loss is right, and its gradient at padding is not 0: your targets are 0 there. TensorFlow's gradient is "
        "softmax − target, as if each target summed to 1. Multiply the losses by the mask, not the targets.",
        (
            GRADIENT,
            "padding = (targets == pad_id)[..., None]\n"
            'return {"gradient": gradient + padding * softmax(logits) / (targets != pad_id).sum()}',
        ),
        hint="Which array of your code has one number for each position, the loss of this position alone?",
    ),
)


exercise.hints("One loss for each position first, (B, T); then a weight of 1 or 0 for each; then one division.")
exercise.hints(
    "With smoothing the loss of a token is (1 − ε) times that of the right word plus ε times the mean over "
    "all V words.",
    group="smoothing",
)
exercise.hints("`ops.log_softmax` does not overflow, and `ops.one_hot` makes targets (B, T, V).", group="large_logits")
exercise.hints(
    "A graph has no numbers yet: no `np.`, no `float(…)`, no `.numpy()`, and no `if` on a tensor.", group="training"
)
