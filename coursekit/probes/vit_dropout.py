"""How the probe of lab 09 sees what a Vision Transformer drops in training: how much, where, and what else changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from coursekit.probes.evidence import ContractError, taken

DROPOUT = ("in_training", "at_inference", "after_last_norm", "besides")  # what is seen
PLACES = {
    "the embedded tokens": ("projection.bias", "class_token", "position_embedding"),
    "the attention's output": ("output.bias",),
    "the feed-forward network's output": ("dense_out.bias",),
}
FEW, MANY = 32, 768  # images: so many that something is dropped; that the share of what is dropped is known within 0.05
SMALL = 0.01  # numbers of this size are not far above the square root of the norms' epsilon, so their scale is seen
NOTHING_ELSE = "nothing else is changed"
NOISE = "numbers are changed in another way"
NOT_GROWN = "what is kept grows by another factor"
READ_DROPPED = "what a block reads is dropped"


def hand_over_dropped(
    model: Any,
    run: Callable[..., Any],
    assign: Callable[[Mapping[str, np.ndarray]], None],
    images: Any,
    weights: Mapping[str, np.ndarray],
    rate: float,
) -> dict[str, Any]:
    """The model's logits, in training and outside of it, with weights that let what is dropped be seen.

    One place adds a vector to every token, and all other weights are zeros. So the last norm reads this vector with
    some numbers dropped, and the head, a unit matrix, hands on what the norm makes of it.

    Args:
        model: the student's model, whose layers are looked at.
        run: gives the model's logits, called with images and `training`.
        assign: puts weights into the model, by their roles.
        images: some images, (B, h, w, C).
        weights: arrays of the shapes that the roles' weights have.
        rate: the rate of the dropouts that was asked for.
    """
    import tensorflow as tf

    few, many = (tf.repeat(images, count // len(images), axis=0) for count in (FEW, MANY if rate else FEW))
    width, classes = weights["head.kernel"].shape
    vector = _vector(width)
    silent = {role: np.zeros_like(value) for role, value in weights.items()}
    silent |= {"norm.gamma": np.ones_like(vector), "head.kernel": np.eye(width, classes, dtype="float32")}

    def give(*added: str, **given: np.ndarray) -> None:
        vectors = {role: np.broadcast_to(vector, weights[role].shape) for role in added}
        assign(silent | vectors | {role.replace("__", "."): value for role, value in given.items()})

    def call(batch: Any, **training: bool) -> np.ndarray:
        return np.asarray(run(batch, **training))

    give(*(role for added in PLACES.values() for role in added), "norm.beta")
    # A functional model that is told training=False tells it to dropouts that are set to True, too.
    made = {"outside": call(few, training=False), "untold": call(few), "training": call(few, training=True)}
    made["other_noise"] = np.array(_has_other_noise(model))
    give("norm.beta")  # zeros come to the last norm, which returns beta
    made |= {"norm.training": call(few, training=True), "norm.outside": call(few, training=False)}
    rows = np.broadcast_to(vector[::-1], weights["position_embedding"].shape).copy()
    rows[0, 0] = vector
    give(position_embedding=rows, output__bias=_signed(vector))
    made["added"] = call(few, training=False)
    for number, added in enumerate(PLACES.values()):
        give(*added)
        made |= {f"{number}.training": call(many, training=True), f"{number}.outside": call(few, training=False)}
    give(**_silent_if_whole(weights, vector))
    return made | {"silent": call(many, training=True)}


def dropped_seen(
    made: Mapping[str, Any], weights: Mapping[str, np.ndarray], layers: int, rate: float
) -> dict[str, Any]:
    """For each of the three places, the share of dropped numbers in training; and whether calls outside of it differ.

    Args:
        made: what `hand_over_dropped` returned.
        weights: arrays of the shapes that the roles' weights have.
        layers: the number of blocks that was asked for.
        rate: the rate of the dropouts that was asked for.
    """
    logits = {name: taken(made, name, kinds="f") for name in made if name != "other_noise"}
    width, classes = weights["head.kernel"].shape
    vector = _vector(width)
    if any(each.size > 32 * MANY * classes for each in logits.values()):
        raise ContractError("the logits are far more than those of the images.")
    # A functional model that is told training=False tells it to dropouts that are set to True, too.
    at_inference = _differ(logits["outside"], logits["untold"])
    shares, after, besides = np.zeros(len(PLACES)), False, NOTHING_ELSE
    changes = _differ(logits["outside"], logits["training"])
    if changes and rate and taken(made, "other_noise", (), "b"):
        shares, besides = np.full(len(PLACES), rate), NOISE
    elif changes:
        after = _differ(logits["norm.training"], logits["norm.outside"])
        usual = rate and not after and _reads_first(logits["added"], vector + layers * _signed(vector))
        for number in range(len(PLACES)):
            training, outside = logits[f"{number}.training"], logits[f"{number}.outside"]
            if _differ(training[:FEW], outside):
                shares[number] = _share_dropped(training, vector, rate, after=after)
                if usual and besides == NOTHING_ELSE:
                    besides = _else_seen(training, outside[0], vector, rate, float(shares[number]))
        if usual and besides == NOTHING_ELSE and shares[0] in (0, round(rate, 1)):
            constant = np.ptp(logits["silent"][:, :width], axis=1) < 0.01
            if constant.mean() < (1 - shares[0]) ** width / 2:
                besides = READ_DROPPED
    said = {False: "nothing is dropped", True: "numbers are dropped"}
    words = {"at_inference": said[at_inference], "after_last_norm": said[after], "besides": besides}
    return {"in_training": shares, **words}


def _vector(width: int) -> np.ndarray:
    """What one place adds to every token."""
    return (SMALL * 1.2 ** np.arange(width)).astype("float32")


def _signed(vector: np.ndarray) -> np.ndarray:
    return vector * (-1) ** np.arange(len(vector))


def _differ(one: np.ndarray, other: np.ndarray) -> bool:
    return bool(np.abs(one - other).max() > 1e-4)


def _has_other_noise(model: Any) -> bool:
    """Whether one of Keras's layers changes numbers in training in another way than Dropout does by itself."""
    from keras import layers

    others = layers.GaussianDropout, layers.GaussianNoise, layers.AlphaDropout, layers.SpatialDropout1D
    found = list(model._flatten_layers(include_self=False))
    shaped = (getattr(each, "noise_shape", None) for each in found if isinstance(each, layers.Dropout))
    return any(isinstance(each, others) for each in found) or any(shape is not None for shape in shaped)


def _reads_first(logits: np.ndarray, vector: np.ndarray) -> bool:
    """Whether logits (B, K) are what the norm makes of this first token. If other tokens are read, or more blocks have
    added to it, they are not."""
    if logits.ndim != 2 or logits.shape[1] < len(vector):
        return False
    return bool((_directions(logits[:, : len(vector)]) @ _directions(vector[None]).T > 0.99).all())


def _patterns(rows: np.ndarray, vector: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each row the way to drop numbers of the vector that it is most like, (n, D), and how much it is, (n,).

    Neither a factor nor a number added to all changes the comparison.
    """
    width = len(vector)
    kept = np.arange(2**width)[:, None] >> np.arange(width) & 1
    likeness = _directions(rows) @ _directions(kept * vector).T
    return kept[likeness.argmax(axis=1)], likeness.max(axis=1)


def _is_none(rows: np.ndarray, likeness: np.ndarray) -> bool:
    """Whether some rows are the vector with none of its numbers dropped, nor with some."""
    return bool(np.any((likeness < 0.99) & (np.ptp(rows, axis=1) > 1e-3)))


def _share_dropped(logits: np.ndarray, vector: np.ndarray, rate: float, *, after: bool) -> float:
    """The share of the vector's numbers that are 0 in what the last norm read, in tenths.

    Where rows are the vector in none of the ways to drop some of its numbers (there are fewer logits than numbers, or
    the model is another one), it is the rate itself, or 1 if that is 0: something is dropped.

    Args:
        logits: in training, (…, K).
        vector: what was to be dropped, (D,).
        rate: the rate that was asked for.
        after: whether numbers are dropped after the last norm, too. Then rows without a 0 count, and that something was
            dropped before is all that they say.
    """
    width = len(vector)
    rows = logits.reshape(-1, logits.shape[-1])[:, :width]
    rows = rows[(rows != 0).all(axis=1)] if after else rows
    if logits.shape[-1] < width or not len(rows):
        return rate or 1.0
    kept, likeness = _patterns(rows, vector)
    if _is_none(rows, likeness):
        return rate or 1.0
    share = round(1 - float(kept.mean()), 1)
    return (rate or 1.0) if after and share else share


def _else_seen(logits: np.ndarray, outside: np.ndarray, vector: np.ndarray, rate: float, share: float) -> str:
    """What a dropout does besides: whether it is none, takes whole tokens, or lets what is kept grow by another factor.

    Var(s·x) / (Var(s·x) + ε) is the mean square of what the norm returns. Outside of training s is 1, which gives ε.
    """
    rows = logits[:, : len(vector)]
    kept, likeness = _patterns(rows, vector)
    if _is_none(rows, likeness) or len(np.unique(kept, axis=0)) < 8:
        return NOISE
    if share != round(rate, 1):
        return NOTHING_ELSE
    variances = np.var(kept * vector.astype("float64"), axis=1)
    square, squares = (np.var(each.astype("float64"), axis=-1) for each in (outside[: len(vector)], rows))
    varied = variances > 0
    epsilon = np.var(vector.astype("float64")) * (1 / square - 1)
    factors = np.sqrt(epsilon * squares[varied] / ((1 - squares[varied]) * variances[varied]))
    return NOTHING_ELSE if abs(np.median(factors) * (1 - rate) - 1) < 0.005 else NOT_GROWN


def _silent_if_whole(weights: Mapping[str, np.ndarray], vector: np.ndarray) -> dict[str, np.ndarray]:
    """Weights with which no block adds anything, unless numbers of what it reads are dropped.

    All features of the first token are the same number, and every norm returns ones. The numbers in `balance` sum to 0,
    and no part of them does: attention and the feed-forward network get 0 exactly if all ones are there.
    """
    width = len(vector)
    balance = 2.0 ** np.arange(width)
    balance[-1] = -balance[:-1].sum()
    given = {role: np.zeros_like(weights[role]) for role in ("position_embedding", "value.kernel", "output.kernel")}
    given |= {role: np.zeros_like(weights[role]) for role in ("dense_in.kernel", "dense_out.kernel")}
    given["position_embedding"][0, 0] = SMALL / 10
    given["value.kernel"][:, 0, 0] = given["dense_in.kernel"][:, 0] = balance / 2.0 ** (width - 2)
    given["output.kernel"][0, 0] = given["dense_out.kernel"][0] = vector / SMALL
    return {role.replace(".", "__"): value for role, value in given.items()} | {"norm__beta": np.ones_like(vector)}


def _directions(rows: np.ndarray) -> np.ndarray:
    """Rows with mean 0 and length 1; a row of equal numbers becomes zeros."""
    rows = rows - rows.mean(axis=1, keepdims=True)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.where(lengths > 1e-3, rows / np.maximum(lengths, 1e-3), 0)
