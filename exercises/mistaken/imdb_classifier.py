"""Mistakes of lab 06: in text to ids, the masked mean, the classifier's facts, its training, the measures."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

BREAKS = {"all": r"<br\s*/?>", "one spelling": r"<br />", "every tag": r"<[^>]*>", "none": r"(?!)"}
SPECIALS = {"both": ["", "[UNK]"], "swapped": ["[UNK]", ""], "no padding": ["[UNK]"], "none": []}


def vectorize(
    texts: Sequence[str],
    vocabulary: Sequence[str],
    max_length: int,
    *,
    pad: str = "end",
    cut: str = "end",
    unit: str = "words",
    unknown: str = "1",
    shift: int = 0,
    padding: int = 0,
    empty_word: bool = False,
    width: str = "max_length",
    kind: str = "whole numbers",
) -> dict[str, Any]:
    """The place of each word in the vocabulary, 1 for others; cut and filled up with 0 at the end. (n, max_length)"""
    places = {word: place + shift for place, word in enumerate(vocabulary)}
    stranger = {"1": 1, "0": 0, "after the last": len(vocabulary) + shift, "dropped": None}[unknown]
    rows = []
    for text in texts:
        if unit == "characters":
            text = text[:max_length]
        words = text.split(" ") if empty_word else text.split()
        row = [places.get(word, stranger) if word in vocabulary[2:] else stranger for word in words]
        row = [place for place in row if place is not None]
        rows.append(row[max(0, len(row) - max_length) :] if cut == "front" else row[:max_length])
    wide = max_length if width == "max_length" else max(map(len, rows))
    ids = np.full((len(texts), wide), padding)
    for line, row in zip(ids, rows, strict=True):
        line[wide - len(row) if pad == "front" else 0 :][: len(row)] = row
    return {"ids": ids, "kind": kind}


def masked_mean(
    x: np.ndarray, ids: np.ndarray, *, kept: str = "words", reduce: str = "mean", divisor: str = "words", guarded: bool = True, axis: int = 1, keepdims: bool = False
) -> dict[str, np.ndarray]:
    """Mean of the tokens whose id is not 0; the zero vector where there is none. x (B, T, D), ids (B, T) -> (B, D)"""
    real = ids != 0
    chosen = {"words": real, "all": np.ones_like(real), "known words": ids > 1, "padding": ~real, "up to the first padding": np.cumprod(real, axis=1).astype(bool)}[kept][..., None]
    total = np.where(chosen, x, 0).sum(axis=axis, keepdims=keepdims)
    if reduce == "max":
        highest = np.where(chosen, x, -np.inf).max(axis=axis, keepdims=keepdims)
        return {"output": np.where(chosen.any(axis=axis, keepdims=keepdims), highest, 0).astype(x.dtype)}
    count = {
        "words": lambda: chosen.sum(axis=axis, keepdims=keepdims),
        "length": lambda: np.array(x.shape[axis]),
        "one more": lambda: chosen.sum(axis=axis, keepdims=keepdims) + 1,
        "most words": lambda: chosen.sum(axis=axis).max(),
        "batch": lambda: chosen.sum(),
    }[divisor]()
    if reduce == "sum":
        return {"output": total}
    return {"output": (total / (np.maximum(count, 1) if guarded else count)).astype(x.dtype)}


def evaluate_predictions(
    probabilities: np.ndarray,
    labels: np.ndarray,
    threshold: float = 0.5,
    *,
    inclusive: bool = True,
    fixed: bool = False,
    positive: int = 1,
    broadcast: bool = False,
    swapped: bool = False,
    f1: str = "harmonic",
    nothing: float = 0.0,
    layout: str = "[[tn, fp], [fn, tp]]",
    shares: bool = False,
    accuracy_as: str = "share",
) -> dict[str, np.ndarray]:
    """Counts and measures of a decision between two classes; 0 where a measure would divide by nothing.

    `accuracy_as` is ``share``, ``percent``, ``count``, or ``sum``: right answers over the number of reviews, however
    many pairs are compared.
    """
    threshold = 0.5 if fixed else threshold
    said = probabilities >= threshold if inclusive else probabilities > threshold
    if not (broadcast and said.ndim == 2):
        said = said.reshape(-1)
    said, true = np.broadcast_arrays(said, labels.reshape(-1).astype(bool))
    if positive == 0:
        said, true = ~said, ~true
    tn, fp, fn, tp = (int(np.sum(each)) for each in (~said & ~true, said & ~true, ~said & true, said & true))

    def divided(part: float, whole: float) -> float:
        return part / whole if whole else nothing

    precision, recall = divided(tp, tp + fp), divided(tp, tp + fn)
    precision, recall = (recall, precision) if swapped else (precision, recall)
    mean = {
        "harmonic": lambda: divided(2 * precision * recall, precision + recall),
        "arithmetic": lambda: (precision + recall) / 2,
        "half": lambda: divided(precision * recall, precision + recall),
        "geometric": lambda: math.sqrt(precision * recall),
    }[f1]()
    counts = {"[[tn, fp], [fn, tp]]": [[tn, fp], [fn, tp]], "[[tn, fn], [fp, tp]]": [[tn, fn], [fp, tp]], "[[tp, fp], [fn, tn]]": [[tp, fp], [fn, tn]], "[[tp, fn], [fp, tn]]": [[tp, fn], [fp, tn]]}[
        layout
    ]
    divisor = {"share": said.size, "percent": said.size / 100, "count": 1, "sum": labels.size}[accuracy_as]
    accuracy = (tp + tn) / divisor
    return {**{"accuracy": np.array(accuracy), "precision": np.array(precision), "recall": np.array(recall)}, "f1": np.array(mean), "confusion": np.array(counts) / (said.size if shares else 1)}


HEARD = {(True, False): "the words", (True, True): "the words and the padding", (False, True): "the padding"}


def classifier_parameters(
    max_length: int,
    vocab_size: int,
    d_model: int,
    num_heads: int,
    d_ff: int,
    *,
    spare_rows: int = 0,
    positions: str = "learned",
    key_dim: str = "D",
    attention_bias: bool = True,
    feed_forward: bool = True,
    norms: int = 2,
    blocks: int = 1,
    hidden: str = "20",
    outputs: int = 1,
) -> dict[str, int]:
    """The numbers in each part of the classifier; 657,737 in all for (200, 20,000, 32, 2, 32)."""
    width = num_heads * (d_model if key_dim == "D" else d_model // num_heads)
    attention = 3 * (d_model * width + attention_bias * width) + width * d_model + attention_bias * d_model
    inner = (d_model * d_ff + d_ff + d_ff * d_model + d_model) if feed_forward else 0
    head = {"20": 20, "D": d_model, "F": d_ff, "none": 0}[hidden]
    return {
        "words": (vocab_size + spare_rows) * d_model,
        "positions": max_length * d_model if positions == "learned" else 0,
        "blocks": blocks * (attention + inner + norms * 2 * d_model),
        "head": (d_model * head + head) + (head or d_model) * outputs + outputs,
    }


def build_classifier(
    max_length: int = 200,
    vocab_size: int = 20_000,
    d_model: int = 32,
    num_heads: int = 2,
    d_ff: int = 32,
    ids: np.ndarray | None = None,
    *,
    mode: str = "parameters",
    frozen: bool = False,
    activation: str = "sigmoid",
    squeezed: bool = False,
    pooled: bool = True,
    attention_hears: tuple[bool, bool] = (True, False),
    pooling_hears: tuple[bool, bool] = (True, False),
    leaks: bool = False,
    empty: str = "finite",
    dropout_always: bool = False,
    batch_mixed: bool = False,
    **shape: Any,
) -> dict[str, Any]:
    """What is true of the classifier, in words and counts: every part is free but for its size and what it may hear."""
    outputs, same = shape.get("outputs", 1), activation == "softmax" and shape.get("outputs", 1) == 1
    if mode == "parameters":
        parts = classifier_parameters(max_length, vocab_size, d_model, num_heads, d_ff, **shape)
        total = sum(parts.values())
        return {"parameters": total, "trainable": total - parts["words"] * frozen}
    if mode == "values":
        assert ids is not None
        sizes = (len(ids), *(() if pooled else (max_length,)), *(() if squeezed and outputs == 1 else (outputs,)))
        return {
            "shape of the result": str(sizes),
            "range of the results": "beyond 0 and 1" if activation == "none" else "from 0 to 1",
            "result of different reviews": "the same" if same else "different",
            "result of a second call": "another" if dropout_always and not same else "the same",
            "result of a review alone": "another" if (dropout_always or batch_mixed) and not same else "the same",
        }
    if dropout_always and not same:
        raise ValueError("what padding, order and graphs change cannot be told from chance")
    if mode == "padding":
        constant = shape.get("positions") == "constant"  # random ones, which differ from model to model
        leaking = attention_hears[1] or (pooling_hears[1] and not same) or leaks or constant
        return {
            "result with more padding": "another" if leaking and not same else "the same",
            "what the attention reads": HEARD[attention_hears],
            "what the mean reads": "nothing else" if same else HEARD[pooling_hears],
            "result of padding alone": empty,
        }
    if mode == "order":
        counts = shape.get("positions", "learned") != "none" and not same
        return {"result with the words in another order": "another" if counts else "the same"}
    return {"gradients of the weights": "all zero" if same else "not zero", "result inside tf.function": "the same"}


def train_classifier(
    x_test: np.ndarray | None = None,
    *,
    mode: str = "call",
    watched: str = "the validation reviews",
    kept: str = "the best epoch",
    loss: str = "binary cross-entropy",
    accuracy: bool = True,
    part: bool = False,
    same_model: bool = True,
    validation_learned: bool = False,
    learned: bool = True,
    several: bool = True,
) -> dict[str, Any]:
    """What is true after a training, in words; the probabilities are free, their accuracy is a property."""
    unmoved = not same_model or loss == "cross-entropy over classes"  # the loss of a single class is 0
    if mode == "stopping":
        unknown = {"kept": "not known", "loss": "not known"}
        if watched == "nothing":
            return {"watched": watched, **unknown}
        if loss == "cross-entropy over classes":
            return {"watched": "the validation reviews", "kept": "the best epoch", "loss": loss}
        if not same_model or watched == "other reviews":
            return {"watched": "other reviews", **unknown}
        best = kept == "the best epoch" or watched == "the training reviews" or not several
        return {"watched": watched, "kept": "the best epoch" if best else kept, "loss": loss}
    assert x_test is not None  # every mode but the one above gives it
    training = "nothing" if unmoved else "a part of the reviews" if part else "all reviews"
    return {
        "history": "no validation loss" if watched == "nothing" else "complete" if accuracy else "no accuracy",
        "training": training,
        "validation": "learned from" if validation_learned and not unmoved else "looked at",
        "epochs": "several" if several else "one",
        "fits": "the training reviews" if learned or training != "all reviews" else "nothing",
        "probabilities": np.full((len(x_test), 1), np.nan),
    }


def linear_baseline(
    train_texts: Sequence[str], train_labels: np.ndarray, texts: Sequence[str], *, fitted: str = "training", sizes: tuple[int, ...] = (1, 2), weighting: str = "tf-idf", result: str = "probabilities"
) -> dict[str, np.ndarray]:
    """Logistic regression on TF-IDF of terms of these sizes, by gradient steps of Newton in the space of reviews."""

    def terms(text: str) -> Counter[str]:
        words = re.findall(r"\w{2,}", text.lower())
        return Counter(" ".join(words[i : i + n]) for n in sizes for i in range(len(words) - n + 1))

    train, new = [terms(text) for text in train_texts], [terms(text) for text in texts]
    seen = train + new if fitted == "all" else train
    frequency = {term: sum(term in each for each in seen) for term in set().union(*seen)}
    found = {term: math.log((1 + len(seen)) / (1 + count)) + 1 for term, count in frequency.items()}

    def vector(counts: Counter[str]) -> dict[str, float]:
        if weighting == "counts":
            return {term: float(count) for term, count in counts.items() if term in found}
        weighed = {term: count * found[term] for term, count in counts.items() if term in found}
        length = math.sqrt(sum(value * value for value in weighed.values())) or 1.0
        return {term: value / length for term, value in weighed.items()}

    def alike(one: Sequence[dict[str, float]], other: Sequence[dict[str, float]]) -> np.ndarray:
        return np.array([[sum(value * b.get(term, 0.0) for term, value in a.items()) for b in other] for a in one])

    # With w = Xᵀa the gradient is Xᵀ(p − y + a) for the weights and Σ (p − y) for the bias: both are 0 in the end.
    x, y = [vector(each) for each in train], [vector(each) for each in new]
    kernel, labels, count = alike(x, x), np.asarray(train_labels, float), len(x)
    unknown = np.zeros(count + 1)
    for _ in range(30):
        p = 1 / (1 + np.exp(-(kernel @ unknown[:-1] + unknown[-1])))
        slope = p * (1 - p)
        jacobian = np.block([[np.eye(count) + slope[:, None] * kernel, slope[:, None]], [slope @ kernel, slope.sum()]])
        unknown = unknown - np.linalg.solve(jacobian, np.append(unknown[:-1] + p - labels, (p - labels).sum()))
    scores = alike(y, x) @ unknown[:-1] + unknown[-1]
    p = 1 / (1 + np.exp(-scores))
    return {"output": {"probabilities": p, "negative": 1 - p, "decisions": (p > 0.5) * 1.0, "scores": scores}[result]}
