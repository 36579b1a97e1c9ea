"""Lab 10, exercise `bits_per_byte`."""

import math

import numpy as np

from autograder.declaring import Case, Exercise, wrong
from coursekit.generator import Generator
from exercises.drawing import normal

exercise = Exercise("bits_per_byte", call=("logits", "targets", "token_bytes"), returns=("bits",))


@exercise.formula
def bits_per_byte(logits: np.ndarray, targets: np.ndarray, token_bytes: np.ndarray) -> np.ndarray:
    """The bits of all targets together, divided by their bytes together."""
    shifted = logits - logits.max(axis=-1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    nats = -np.take_along_axis(log_p, targets[..., None], axis=-1)[..., 0]
    size = token_bytes[targets]
    return np.asarray(nats.sum() / math.log(2) / size.sum())


def _inputs(rng: Generator, rows: int, length: int, words: int, scale: float = 2.0) -> dict:
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


@exercise.group(
    "all bits over all bytes",
    points=1,
    must_fail_for=("mean_of_ratios", "end_left_out"),
    advice="−log₂ p of every target, the ends included, summed over all rows; divided by the bytes of all targets, "
    "summed over all rows.",
)
def values(rng: Generator) -> list[Case]:
    return [
        Case(_inputs(rng, 2, 5, 11), description="logits (2, 5, 11), targets (2, 5)"),
        Case(_inputs(rng, 3, 5, 13), mode="tensor", description="TensorFlow tensors, logits (3, 5, 13)"),
    ]


@exercise.group(
    "logits in the thousands",
    points=1,
    advice="The softmax of a large logit rounds to 0 for all others, and the logarithm of 0 is −∞. "
    "`ops.log_softmax` stays finite.",
)
def large(rng: Generator) -> list[Case]:
    inputs = _inputs(rng, 2, 5, 11, scale=3000.0)
    return [
        Case(inputs, scale=float(np.abs(inputs["logits"]).max()), description="logits of some thousands, (2, 5, 11)")
    ]


exercise.mistakes(
    nats=wrong(
        "These are nats: bits need the logarithm of base 2.",
        ("/ math.log(2)", ""),
        hint="How many nats is one bit?",
        see="10#guess",
    ),
    per_token=wrong(
        "The bits are divided by the number of tokens. Tokens of two tokenizers differ; bytes do not.",
        ("size.sum()", "targets.size"),
        hint="What stays the same if another tokenizer cuts the text?",
        see="10#byte-pairs",
    ),
    mean_of_ratios=wrong(
        "Each row is divided by its own bytes, and then a mean is taken. Rows of few bytes count too much: "
        "sum both first.",
        ("nats.sum() / math.log(2) / size.sum()", "(nats.sum(axis=-1) / math.log(2) / size.sum(axis=-1)).mean()"),
        hint="Two rows: 10 bits for 1 byte, and 10 bits for 9 bytes. How many bits does a byte of the text cost?",
    ),
    end_left_out=wrong(
        "The bits of the ends are left out. The model must predict where a text ends, and pays for it.",
        ("nats.sum()", "(nats * (size > 0)).sum()"),
        hint="The end has no byte. Does it have a probability?",
        see="10#byte-pairs",
    ),
    unstable=wrong(
        "Large logits: `exp` overflows, or a probability becomes 0, and its logarithm is infinite. A log-softmax "
        "gets the logarithm without either.",
        ("logits - logits.max(axis=-1, keepdims=True)", "logits"),
        hint="Which function of `keras.ops` gives the logarithm of a softmax in one step?",
    ),
    mean_of_tokens=wrong(
        "Each token is divided by its own bytes, and then a mean is taken. Sum bits and bytes first, and divide once.",
        ("nats.sum() / math.log(2) / size.sum()", "(nats / math.log(2) / np.maximum(size, 1)).mean()"),
        hint="Two tokens: 10 bits for 1 byte, and 10 bits for 9 bytes. How many bits does a byte of the text cost?",
    ),
    mean_of_tokens_with_bytes=wrong(
        "Each token that has bytes is divided by them, and then a mean is taken. Sum bits and bytes first, those of "
        "the ends too, and divide once.",
        ("nats.sum() / math.log(2) / size.sum()", "(nats[size > 0] / math.log(2) / size[size > 0]).mean()"),
        hint="Two tokens: 10 bits for 1 byte, and 10 bits for 9 bytes. How many bits does a byte of the text cost?",
    ),
    end_has_a_byte=wrong(
        "The end counts as one byte. It costs bits, and the text has no byte for it.",
        ("size = token_bytes[targets]", "size = np.maximum(token_bytes[targets], 1)"),
        see="10#byte-pairs",
    ),
    shifted_again=wrong(
        "The targets are moved by one more position. They are the next tokens already.",
        (
            "-np.take_along_axis(log_p, targets[..., None], axis=-1)[..., 0]",
            "-np.take_along_axis(log_p[:, :-1], targets[:, 1:, None], axis=-1)[..., 0]",
        ),
        hint="Which row of the logits was made to predict `targets[:, 0]`?",
    ),
    logits_as_probabilities=wrong(
        "The cross-entropy takes the logits for probabilities. Keras needs `from_logits=True`.",
        ("logits - logits.max(axis=-1, keepdims=True)", "np.log(np.clip(logits, 1e-7, 1 - 1e-7))"),
        hint="Which argument of `sparse_categorical_crossentropy` says what comes in?",
    ),
)

exercise.hints(
    "`ops.log_softmax(logits, axis=-1)` gives ln p of all tokens. `np.take_along_axis` picks those of the targets.",
    "Two sums over everything, and one division at the end.",
)
