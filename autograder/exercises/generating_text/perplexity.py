"""Lab 08b, exercise `perplexity`."""

import numpy as np
from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.exercises.drawing import normal
from autograder.mistaken import generating_text as mistaken
from autograder.oracles import generating_text as oracles


def _rows(rng: Generator, lengths: tuple[int, ...], width: int, words: int) -> dict:
    """Logits (B, `width`, `words`), and targets (B, `width`): so many in each row, one of them id 1, then padding."""
    targets = rng.integers(2, words, size=(len(lengths), width)).astype("int32")
    targets[np.arange(len(lengths)), rng.integers(min(lengths), size=len(lengths))] = 1
    targets[np.arange(width) >= np.array(lengths)[:, None]] = 0
    return {"logits": 1.5 * normal(rng, len(lengths), width, words), "targets": targets}


def _lifted(rng: Generator) -> dict:
    """Logits of which every second place is near 1,000 and the others near −1,000: a softmax sees no difference."""
    inputs = _rows(rng, (7, 7), 7, 3)
    far = np.where(np.arange(14).reshape(2, 7, 1) % 2, 1000, -1000)
    return {**inputs, "logits": (inputs["logits"] + far).astype("float32")}


def _nearly_impossible(rng: Generator) -> dict:
    """Rows of 87 tokens together, one of which has a logit so low that its probability is 0 in every float type."""
    inputs = _rows(rng, (29, 29, 29), 29, 5)
    inputs["logits"][1, 2, inputs["targets"][1, 2]] = -800
    return inputs


exercise = Exercise("perplexity", oracle=oracles.perplexity, mistaken=mistaken.perplexity)


@exercise.group(
    "rows of one length", points=1, advice="These are logits: first a log-softmax over V, then the entry of each target, then one mean, then the exponential.", must_fail_for=("id_1_left_out",)
)
def values(rng: Generator) -> list[Case]:
    return [Case(_rows(rng, (5, 5, 5), 5, 7), description="logits (3, 5, 7), no padding"), Case(_rows(rng, (7, 7), 7, 11), description="logits (2, 7, 11), no padding")]


@exercise.group(
    "padding, and rows of different lengths",
    points=1,
    advice="Only targets different from 0 are real. Put the real tokens of all rows into one mean.",
    must_fail_for=("padding_counted", "mean_of_rows", "mean_of_perplexities", "divided_by_positions"),
)
def padding(rng: Generator) -> list[Case]:
    return [Case(_rows(rng, (7, 3, 5), 7, 5), description="logits (3, 7, 5), rows of 7, 3 and 5 tokens"), Case(_rows(rng, (3, 5), 5, 11), description="logits (2, 5, 11), rows of 3 and 5 tokens")]


@exercise.group(
    "large logits",
    points=1,
    advice="e to 1,000 is too large for a float, and the logarithm of a probability that was rounded to 0 is −inf. A log-softmax subtracts the largest logit first, and never takes the logarithm of a probability.",
)
def large_logits(rng: Generator) -> list[Case]:
    return [
        Case(_lifted(rng), scale=1000, description="logits (2, 7, 3) near 1,000 and −1,000"),
        Case(_nearly_impossible(rng), description="logits (3, 29, 5), one of the 87 targets has the logit −800"),
    ]


@exercise.group("arrays and tensors", points=1, advice="The arguments may be TensorFlow tensors, and targets may be int32 or int64.")
def types(rng: Generator) -> list[Case]:
    wide = _rows(rng, (4, 7), 7, 5)
    return [
        Case(_rows(rng, (5, 3), 5, 7), mode="tensor", description="TensorFlow tensors, logits (2, 5, 7)"),
        Case({**wide, "targets": wide["targets"].astype("int64")}, description="arrays, targets of int64, logits (2, 7, 5)"),
    ]


exercise.mistakes(
    padding_counted=wrong("Padding counts as if it were tokens: leave out the places where the target is 0.", counted="all"),
    mean_of_perplexities=wrong(
        "Each row has a perplexity of its own, and their mean is returned. Take one mean over the tokens of all rows first, and its exponential last.", averaged="perplexities of rows"
    ),
    mean_of_rows=wrong("Each row is averaged by itself, so tokens of short rows weigh more. Average over all tokens at once.", over="rows"),
    divided_by_positions=wrong("The sum is divided by all places, padding too. Divide it by the number of real tokens.", over="positions"),
    not_averaged=wrong("The losses are only summed. Divide by the number of real tokens before you take the exponential.", over="sum"),
    loss_returned=wrong("This is the mean loss. The perplexity is its exponential.", power="none"),
    power_of_2=wrong("2 is raised to a mean of natural logarithms: the base of the power should be e, as in the logarithm.", power="2"),
    minus_missing=wrong("The minus sign is missing: this is 1 over the perplexity.", power="1/e"),
    mean_of_probabilities=wrong("The probabilities are averaged: this is 1 over their mean. Average their logarithms.", averaged="probabilities"),
    power_before_mean=wrong("The exponential is taken of each token's loss, and then the mean. Take the mean of the losses first.", averaged="perplexities of tokens"),
    logits_as_log_probabilities=wrong("The logits are read as log-probabilities: the log-softmax is missing.", taken_as="log-probabilities"),
    logits_as_probabilities=wrong("The logits are read as probabilities. (In Keras: `from_logits=True`.)", taken_as="probabilities"),
    logarithm_of_logits=wrong("The logarithm is taken of the logits themselves, and a negative number has none. The softmax is missing.", taken_as="probabilities, uncut"),
    softmax_twice=wrong("The softmax is taken twice: a log-softmax, or a loss from logits, got probabilities.", taken_as="softmax twice"),
    softmax_over_positions=wrong("The softmax runs over the places of a row. It should run over the words, the last axis.", axis=-2),
    targets_shifted=wrong("The logits of a place are compared with the target one place further on. They belong to the target of their own place.", moved=1),
    id_1_left_out=wrong("Targets with id 1 are left out. Only id 0 is padding.", counted="above 1"),
    overflow=wrong("e to a large logit is inf, and inf divided by inf is NaN. Subtract the largest logit of each place first, as a log-softmax does.", softmax="of large numbers"),
    log_of_softmax=wrong("The logarithm is taken of a softmax. A small probability is rounded to 0 there, and its logarithm is −inf.", softmax="then logarithm"),
)


exercise.hints(
    "Three steps: the loss −log p of each target, (B, T); one mean; its exponential. Print what you have after each step.",
    "`np.asarray` turns a tensor into an array, and `np.take_along_axis` picks one of the V entries at each place.",
)
exercise.hints("`targets != 0` chooses places of all rows at once. How many does it choose, and what did you divide by?", group="padding")
exercise.hints("Replace the logarithm of the softmax by one function: `ops.log_softmax` or `tf.nn.log_softmax`.", group="large_logits")
exercise.hints("What type do the arguments have? `np.asarray` reads a tensor, and `ops.convert_to_tensor` an array.", group="types")
