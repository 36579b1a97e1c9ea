"""Lab 08b, exercise `perplexity`."""

import numpy as np

from autograder.declare import Advice, Case, Exercise, edit
from exercises.drawing import normal
from exercises.formulas.losses import log_softmax

exercise = Exercise("perplexity", returns=("perplexity",))


@exercise.formula
def perplexity(logits: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """e to the mean of −ln p over the real tokens of all rows (Jelinek et al. 1977); id 0 is padding.

    The logits are (B, T, V), the targets ids (B, T).
    """
    real = targets != 0
    log_p = log_softmax(logits)
    losses = -np.take_along_axis(log_p, targets[..., None].astype(int), axis=-1)[..., 0]
    return np.asarray(power(token_mean(losses, real)))


def power(loss: np.ndarray) -> np.ndarray:
    """e to the loss."""
    return np.exp(loss)


def token_mean(losses: np.ndarray, real: np.ndarray) -> np.ndarray:
    """The mean of the losses (…, T) where `real` is True."""
    return np.where(real, losses, 0).sum() / real.sum()


def _rows(rng, lengths: tuple[int, ...], width: int, words: int) -> dict:
    """Logits (B, `width`, `words`), and targets (B, `width`): so many in each row, one of them id 1, then padding."""
    targets = rng.integers(2, words, size=(len(lengths), width)).astype("int32")
    targets[np.arange(len(lengths)), rng.integers(min(lengths), size=len(lengths))] = 1
    targets[np.arange(width) >= np.array(lengths)[:, None]] = 0
    return {"logits": 1.5 * normal(rng, len(lengths), width, words), "targets": targets}


def _lifted(rng) -> dict:
    """Logits of which every second place is near 1,000 and the others near −1,000: a softmax sees no difference."""
    inputs = _rows(rng, (7, 7), 7, 3)
    far = np.where(np.arange(14).reshape(2, 7, 1) % 2, 1000, -1000)
    return {**inputs, "logits": (inputs["logits"] + far).astype("float32")}


def _nearly_impossible(rng) -> dict:
    """Rows of 87 tokens together, one of which has a logit so low that its probability is 0 in every float type."""
    inputs = _rows(rng, (29, 29, 29), 29, 5)
    inputs["logits"][1, 2, inputs["targets"][1, 2]] = -800
    return inputs


@exercise.group("rows of one length", must_fail_for=("id_1_left_out",))
def values(rng):
    yield Case(_rows(rng, (5, 5, 5), 5, 7), "logits (3, 5, 7), no padding")
    yield Case(_rows(rng, (7, 7), 7, 11), "logits (2, 7, 11), no padding")


@exercise.group(
    "padding, and rows of different lengths",
    must_fail_for=("padding_counted", "mean_of_rows", "mean_of_perplexities", "divided_by_positions"),
)
def padding(rng):
    yield Case(_rows(rng, (7, 3, 5), 7, 5), "logits (3, 7, 5), rows of 7, 3 and 5 tokens")
    yield Case(_rows(rng, (3, 5), 5, 11), "logits (2, 5, 11), rows of 3 and 5 tokens")


@exercise.group("large logits")
def large_logits(rng):
    yield Case(_lifted(rng), "logits (2, 7, 3) near 1,000 and −1,000", scale=1000)
    yield Case(_nearly_impossible(rng), "logits (3, 29, 5), one of the 87 targets has the logit −800")


@exercise.group("arrays and tensors")
def types(rng):
    wide = _rows(rng, (4, 7), 7, 5)
    yield Case(_rows(rng, (5, 3), 5, 7), "TensorFlow tensors, logits (2, 5, 7)", mode="tensor")
    yield Case({**wide, "targets": wide["targets"].astype("int64")}, "arrays, targets of int64, logits (2, 7, 5)")


MEAN = "power(token_mean(losses, real))"
LOG_P = "log_softmax(logits)"
TOKEN_MEAN = "np.where(real, losses, 0).sum() / real.sum()"
SHIFTED = "scores - scores.max(axis, keepdims=True)"
LOGARITHM = "shifted - np.log(exponentials.sum(axis, keepdims=True))"
OF_SHARE = "np.log(exponentials / exponentials.sum(axis, keepdims=True))"

exercise.mistakes(
    padding_counted=edit("targets != 0", "targets >= 0", see="06#padding-leaks")
    | "Padding counts as if it were tokens: leave out the places where the target is 0."
    | "How many targets are different from 0, and how many losses are in your mean?",
    mean_of_perplexities=edit(MEAN, "np.mean([power(token_mean(row, kept)) for row, kept in zip(losses, real)])")
    | "Each row has a perplexity of its own, and their mean is returned. Take one mean over the tokens of all rows "
    "first, and its exponential last." | "In which order do the mean and the exponential stand in the formula?",
    mean_of_rows=edit(TOKEN_MEAN, "(np.where(real, losses, 0).sum(axis=-1) / real.sum(axis=-1)).mean()")
    | "Each row is averaged by itself, so tokens of short rows weigh more. Average over all tokens at once."
    | "One row of 3 tokens and one of 7: which share of the mean should a token of the first row have?",
    divided_by_positions=edit("/ real.sum()", "/ real.size")
    | "The sum is divided by all places, padding too. Divide it by the number of real tokens."
    | "N is the number of tokens that are no padding. Which number do you divide by?",
    not_averaged=edit("/ real.sum()", "")
    | "The losses are only summed. Divide by the number of real tokens before you take the exponential.",
    loss_returned=edit("np.exp(loss)", "loss", see="06#cross-entropy")
    | "This is the mean loss. The perplexity is its exponential."
    | "A model that chooses between 12 equally probable words has the perplexity 12. What is its loss?",
    power_of_2=edit("np.exp(loss)", "np.exp2(loss)")
    | "2 is raised to a mean of natural logarithms: the base of the power should be e, as in the logarithm.",
    minus_missing=edit("np.exp(loss)", "np.exp(-loss)")
    | "The minus sign is missing: this is 1 over the perplexity."
    | "A logarithm of a probability is negative. Can a perplexity be below 1?",
    mean_of_probabilities=edit(MEAN, "1 / token_mean(np.exp(-losses), real)")
    | "The probabilities are averaged: this is 1 over their mean. Average their logarithms.",
    power_before_mean=edit(MEAN, "token_mean(power(losses), real)")
    | "The exponential is taken of each token's loss, and then the mean. Take the mean of the losses first.",
    logits_as_log_probabilities=edit(LOG_P, "logits")
    | "The logits are read as log-probabilities: the log-softmax is missing.",
    logits_as_probabilities=edit(LOG_P, "log_softmax(np.log(np.clip(logits, 1e-7, 1 - 1e-7)))", see="06#padding-leaks")
    | "The logits are read as probabilities. (In Keras: `from_logits=True`.)",
    logarithm_of_logits=edit(LOG_P, "np.log(logits)")
    | "The logarithm is taken of the logits themselves, and a negative number has none. The softmax is missing.",
    softmax_twice=edit(LOG_P, "log_softmax(np.exp(log_softmax(logits)))")
    | "The softmax is taken twice: a log-softmax, or a loss from logits, got probabilities.",
    softmax_over_positions=edit("log_softmax(scores, axis=-1)", "log_softmax(scores, axis=-2)")
    | "The softmax runs over the places of a row. It should run over the words, the last axis.",
    targets_shifted=edit("real = targets != 0", "targets = targets[:, 1:]\nreal = targets != 0")
    | edit(LOG_P, "log_softmax(logits[:, :-1])", see="08#teacher-forcing")
    | "The logits of a place are compared with the target one place further on. They belong to the target of their "
    "own place.",
    id_1_left_out=edit("targets != 0", "targets > 1") | "Targets with id 1 are left out. Only id 0 is padding.",
    overflow=edit((SHIFTED, "scores"), (LOGARITHM, OF_SHARE))
    | "e to a large logit is inf, and inf divided by inf is NaN. Subtract the largest logit of each place first, as a "
    "log-softmax does.",
    log_of_softmax=edit(LOGARITHM, OF_SHARE)
    | "The logarithm is taken of a softmax. A small probability is rounded to 0 there, and its logarithm is −inf.",
)

exercise.advice(
    values=Advice(
        value="These are logits: first a log-softmax over V, then the entry of each target, then one mean, then the "
        "exponential."
    ),
    padding=Advice(value="Only targets different from 0 are real. Put the real tokens of all rows into one mean."),
    large_logits=Advice(
        nan="e to 1,000 is too large for a float, and the logarithm of a probability that was rounded to 0 is −inf. A "
        "log-softmax subtracts the largest logit first, and never takes the logarithm of a probability."
    ),
    types="The arguments may be TensorFlow tensors, and targets may be int32 or int64.",
)
exercise.hints(
    values=(
        "Three steps: the loss −log p of each target, (B, T); one mean; its exponential. Print what you have after "
        "each step.",
        "`np.asarray` turns a tensor into an array, and `np.take_along_axis` picks one of the V entries at each place.",
    ),
    padding="`targets != 0` chooses places of all rows at once. How many does it choose, and what did you divide by?",
    large_logits="Replace the logarithm of the softmax by one function: `ops.log_softmax` or `tf.nn.log_softmax`.",
    types="What type do the arguments have? `np.asarray` reads a tensor, and `ops.convert_to_tensor` an array.",
)
