"""Lab 10b, exercise `answer_loss`."""

import numpy as np

from autograder.declare import Advice, Case, Exercise, edit
from exercises.formulas.attention import softmax  # noqa: F401 - mistakes use it
from exercises.formulas.losses import log_softmax
from exercises.from_model_to_assistant.shared import by_differences, some_columns

exercise = Exercise("answer_loss", own_probe=True)


@exercise.formula
def answer_loss(logits, rows, mask):
    """The mean of −ln p over the tokens that the mask marks, over all rows together.

    logits (B, T + 1, V), behind each token of rows (B, T + 1); mask (B, T) -> ().
    """
    read, targets = logits[:, :-1], rows[:, 1:]
    log_p = log_softmax(read)
    of_targets = np.take_along_axis(log_p, targets[..., None], axis=-1)[..., 0]
    counted = of_targets * mask
    return np.asarray(-counted.sum() / mask.sum())


@exercise.formula_for("derivative")
def slopes(logits, rows, mask):
    """The loss's derivative by each logit."""
    return {"gradient": by_differences(lambda each: answer_loss(each, rows, mask), logits)}


def _inputs(rng, batch: int, length: int, words: int, scale: float = 2.0) -> dict:
    return {
        "logits": (scale * rng.normal(size=(batch, length + 1, words))).astype("float32"),
        "rows": rng.integers(words, size=(batch, length + 1)).astype("int32"),
        "mask": some_columns(rng, batch, length),
    }


def _case(inputs: dict, text: str = "", mode: str = "call") -> Case:
    return Case(inputs, text or f"logits {inputs['logits'].shape}, rows {inputs['rows'].shape}", mode=mode)


exercise.group(
    "the mean over the tokens of all answers",
    points=2,
    values=lambda rng: [_case(_inputs(rng, 3, 7, 11)), _case(_inputs(rng, 5, 8, 13))],
)
exercise.group(
    "finite and right for large logits",
    large_logits=lambda rng: _case(_inputs(rng, 3, 7, 5, scale=1000), "logits (3, 8, 5) in the thousands"),
)


@exercise.group("tensors, tf.function, gradients")
def training(rng):
    yield _case(_inputs(rng, 3, 7, 5), "TensorFlow tensors", "tensor")
    yield _case(_inputs(rng, 3, 7, 5), "inside tf.function, number and length of the rows unknown", "graph")
    yield _case(_inputs(rng, 3, 5, 3), "gradient with respect to the logits", "derivative")


SHIFT = "read, targets = logits[:, :-1], rows[:, 1:]"
MEAN = "-counted.sum() / mask.sum()"
LOG_P = "log_softmax(read)"

exercise.mistakes(
    not_shifted=edit(SHIFT, "read, targets = logits[:, :-1], rows[:, :-1]")
    | "The token that is read is asked for, not the next one. `logits[:, t]` predict `rows[:, t + 1]`."
    | "Which token has the model not seen yet when it gives `logits[:, 0]`?",
    targets_read=edit(SHIFT, "read, targets = logits[:, 1:], rows[:, 1:]")
    | "`logits[:, t]` are compared with `rows[:, t]`, which the model has read by then. They predict `rows[:, t + 1]`."
    | "Which logits have no target, those behind the first token or those behind the last?",
    shifted_back=edit(SHIFT, "read, targets = logits[:, 1:], rows[:, :-1]")
    | "The shift goes the wrong way: the token before is asked for. `logits[:, t]` predict `rows[:, t + 1]`.",
    mean_of_all=edit(MEAN, "-counted.mean()", see="10b#fine-tuning")
    | "The sum is divided by all B·T positions. Divide by the number of tokens that the mask marks."
    | "A mean divides by all entries, also by those that you set to 0.",
    mask_ignored=edit("of_targets * mask", "of_targets")
    | edit(MEAN, "-counted.mean()")
    | "Every token costs, also those of the prompt and the padding: the mask changes nothing.",
    sum_of_all=edit("of_targets * mask", "of_targets")
    | "The sum runs over all tokens, and the divisor over those of the answers. The mask belongs to both.",
    inverted=edit("of_targets * mask", "of_targets * (1 - mask)")
    | edit(MEAN, "-counted.sum() / (1 - mask).sum()")
    | "The tokens that the mask leaves out are counted, and those of the answers are not.",
    mean_of_rows=edit(MEAN, "-(counted.sum(axis=1) / mask.sum(axis=1)).mean()")
    | "Each answer is averaged by itself, so tokens of short answers weigh more. Average over the tokens of all "
    "answers at once." | "How many divisions does your code have, one for each row or one in all?",
    divided_by_rows=edit(MEAN, "-counted.sum() / len(mask)")
    | "The sum is divided by the number of rows. Divide by the number of tokens that the mask marks.",
    not_averaged=edit(MEAN, "-counted.sum()") | "The losses are only summed; divide by what the mask marks.",
    minus_missing=edit(MEAN, "counted.sum() / mask.sum()")
    | "The minus sign is missing: this is a mean of ln p, and training would make it small.",
    no_softmax=edit(LOG_P, "read")
    | "The logits themselves are added up. Their log-softmax gives ln p."
    | "Do the exponentials of your ln p sum to 1 over the vocabulary?",
    probabilities=edit(LOG_P, "softmax(read)") | "These are means of probabilities. The loss takes their logarithms.",
    softmax_twice=edit(LOG_P, "log_softmax(softmax(read))")
    | "The softmax is taken twice: a loss from logits got probabilities.",
    softmax_over_positions=edit(LOG_P, "log_softmax(read, axis=1)")
    | "The softmax runs over the positions; it should run over the vocabulary.",
    logits_as_probabilities=edit(LOG_P, "np.log(np.clip(read / read.sum(axis=-1, keepdims=True), 1e-7, 1 - 1e-7))")
    | "The logits are treated as probabilities: the softmax is missing. (In Keras: `from_logits=True`.)",
    log_of_softmax=edit(LOG_P, "np.log(softmax(read))")
    | "The logarithm is taken of a softmax. For large logits that is the logarithm of 0."
    | "Which one function computes the logarithm of a softmax without computing the softmax?",
)

exercise.advice(
    values=Advice(
        value="Three steps: which logits predict which tokens; ln p of these tokens, (B, T); the mean of those "
        "that the mask marks.",
        shape="One number for the batch: sum what the mask marks, and divide once.",
    ),
    large_logits="The softmax of large logits has exact zeros, and their logarithm is −inf. There is a log-softmax.",
    training=Advice(
        graph="A graph has no numbers yet: no `np.`, no `float(…)`, no `.numpy()`, and no `if` on a tensor.",
        value="The gradient at tokens that the mask leaves out is 0.",
    ),
)
exercise.hints(
    values=(
        "The last logits of a row predict what nobody knows. The first token of a row is predicted by nothing.",
        "`ops.sparse_categorical_crossentropy(targets, logits, from_logits=True)` gives −ln p for each position.",
    ),
    large_logits="`ops.log_softmax` does not overflow.",
    training="Search your function for `np.` and `float(…)`: `keras.ops` works in graphs, too.",
)
