"""Lab 10, exercise `bits_per_byte`."""

import math

import numpy as np

from autograder.declare import Case, Exercise, edit
from exercises.drawing import normal

exercise = Exercise("bits_per_byte", returns=("bits",))


@exercise.formula
def bits_per_byte(logits: np.ndarray, targets: np.ndarray, token_bytes: np.ndarray) -> np.ndarray:
    """The bits of all targets together, divided by their bytes together."""
    shifted = logits - logits.max(axis=-1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    nats = -np.take_along_axis(log_p, targets[..., None], axis=-1)[..., 0]
    size = token_bytes[targets]
    return np.asarray(nats.sum() / math.log(2) / size.sum())


def _inputs(rng, rows: int, length: int, words: int, scale: float = 2.0) -> dict:
    """Rows of very different sizes in bytes, each with an end, which has none."""
    token_bytes = np.concatenate([rng.permutation(words - 1) + 1, [0]])
    order = np.argsort(token_bytes[:-1], kind="stable")
    targets = np.stack(
        [rng.permutation(order[: words // 2] if row % 2 else order[words // 2 :])[:length] for row in range(rows)]
    )
    targets[:, int(rng.integers(1, length))] = words - 1
    logits = scale * normal(rng, rows, length, words)
    logits[1::2] *= 1.5
    return {"logits": logits, "targets": targets.astype("int32"), "token_bytes": token_bytes.astype("int64")}


@exercise.group("all bits over all bytes", must_fail_for=("mean_of_ratios", "end_left_out"))
def values(rng):
    yield Case(_inputs(rng, 2, 5, 11), "logits (2, 5, 11), targets (2, 5)")
    yield Case(_inputs(rng, 3, 5, 13), "TensorFlow tensors, logits (3, 5, 13)", mode="tensor")


@exercise.group("logits in the thousands")
def large(rng):
    inputs = _inputs(rng, 2, 5, 11, scale=3000.0)
    return Case(inputs, "logits of some thousands, (2, 5, 11)", scale=float(np.abs(inputs["logits"]).max()))


exercise.mistakes(
    nats=edit("/ math.log(2)", "", see="10#guess")
    | "These are nats: bits need the logarithm of base 2."
    | "How many nats is one bit?",
    per_token=edit("size.sum()", "targets.size", see="10#byte-pairs")
    | "The bits are divided by the number of tokens. Tokens of two tokenizers differ; bytes do not."
    | "What stays the same if another tokenizer cuts the text?",
    mean_of_ratios=edit(
        "nats.sum() / math.log(2) / size.sum()", "(nats.sum(axis=-1) / math.log(2) / size.sum(axis=-1)).mean()"
    )
    | "Each row is divided by its own bytes, and then a mean is taken. Rows of few bytes count too much: sum both "
    "first." | "Two rows: 10 bits for 1 byte, and 10 bits for 9 bytes. How many bits does a byte of the text cost?",
    end_left_out=edit("nats.sum()", "(nats * (size > 0)).sum()", see="10#byte-pairs")
    | "The bits of the ends are left out. The model must predict where a text ends, and pays for it."
    | "The end has no byte. Does it have a probability?",
    unstable=edit("logits - logits.max(axis=-1, keepdims=True)", "logits")
    | "Large logits: `exp` overflows, or a probability becomes 0, and its logarithm is infinite. A log-softmax gets "
    "the logarithm without either." | "Which function of `keras.ops` gives the logarithm of a softmax in one step?",
    mean_of_tokens=edit("nats.sum() / math.log(2) / size.sum()", "(nats / math.log(2) / np.maximum(size, 1)).mean()")
    | "Each token is divided by its own bytes, and then a mean is taken. Sum bits and bytes first, and divide once."
    | "Two tokens: 10 bits for 1 byte, and 10 bits for 9 bytes. How many bits does a byte of the text cost?",
    mean_of_tokens_with_bytes=edit(
        "nats.sum() / math.log(2) / size.sum()", "(nats[size > 0] / math.log(2) / size[size > 0]).mean()"
    )
    | "Each token that has bytes is divided by them, and then a mean is taken. Sum bits and bytes first, those of the "
    "ends too, and divide once."
    | "Two tokens: 10 bits for 1 byte, and 10 bits for 9 bytes. How many bits does a byte of the text cost?",
    end_has_a_byte=edit("= token_bytes[targets]", "= np.maximum(token_bytes[targets], 1)", see="10#byte-pairs")
    | "The end counts as one byte. It costs bits, and the text has no byte for it.",
    shifted_again=edit("(log_p, targets[..., None], axis=-1)", "(log_p[:, :-1], targets[:, 1:, None], axis=-1)")
    | "The targets are moved by one more position. They are the next tokens already."
    | "Which row of the logits was made to predict `targets[:, 0]`?",
    logits_as_probabilities=edit(
        "logits - logits.max(axis=-1, keepdims=True)", "np.log(np.clip(logits, 1e-7, 1 - 1e-7))"
    )
    | "The cross-entropy takes the logits for probabilities. Keras needs `from_logits=True`."
    | "Which argument of `sparse_categorical_crossentropy` says what comes in?",
)

exercise.advice(
    values="−log₂ p of every target, the ends included, summed over all rows; divided by the bytes of all targets, "
    "summed over all rows.",
    large="The softmax of a large logit rounds to 0 for all others, and the logarithm of 0 is −∞. `ops.log_softmax` "
    "stays finite.",
)
exercise.hints(
    values=(
        "`ops.log_softmax(logits, axis=-1)` gives ln p of all tokens. `np.take_along_axis` picks those of the targets.",
        "Two sums over everything, and one division at the end.",
    )
)
