"""Oracles of lab 06: text to ids, the masked mean, the classifier's facts, its training, the measures of a result."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np


def vectorize(texts: Sequence[str], vocabulary: Sequence[str], max_length: int) -> dict[str, Any]:
    """The place of each word in the vocabulary, 1 for others; cut and filled up with 0 at the end. (n, max_length)."""
    places = {word: place for place, word in enumerate(vocabulary) if place > 1}
    ids = np.zeros((len(texts), max_length), int)
    for row, text in zip(ids, texts, strict=True):
        found = [places.get(word, 1) for word in text.split()[:max_length]]
        row[: len(found)] = found
    return {"ids": ids, "kind": "whole numbers"}


def masked_mean(x: np.ndarray, ids: np.ndarray) -> dict[str, np.ndarray]:
    """Mean of the tokens whose id is not 0; the zero vector where there is none. x (B, T, D), ids (B, T) -> (B, D)."""
    real = (ids != 0)[..., None]
    return {"output": (np.where(real, x, 0).sum(axis=1) / np.maximum(real.sum(axis=1), 1)).astype(x.dtype)}


def evaluate_predictions(probabilities: np.ndarray, labels: np.ndarray, threshold: float = 0.5) -> dict[str, np.ndarray]:
    """Counts and measures of a decision between two classes; 0 where a measure would divide by nothing."""
    said, true = probabilities.reshape(-1) >= threshold, labels.reshape(-1) == 1
    tn, fp, fn, tp = (int(np.sum(each)) for each in (~said & ~true, said & ~true, ~said & true, said & true))
    precision, recall = _share(tp, tp + fp), _share(tp, tp + fn)
    f1 = _share(2 * precision * recall, precision + recall)
    measures: dict[str, Any] = {"accuracy": (tp + tn) / said.size, "precision": precision, "recall": recall, "f1": f1}
    measures["confusion"] = [[tn, fp], [fn, tp]]
    return {name: np.array(value, float) for name, value in measures.items()}


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def classifier_size(max_length: int, vocab_size: int, d_model: int, d_ff: int, attention_width: int) -> int:
    """Tables of words and positions; attention, feed-forward network and two norms; Dense(20) and Dense(1).

    657,737 for (200, 20,000, 32, 32, 64). `attention_width` is num_heads · key_dim.
    """
    attention = 4 * d_model * attention_width + 3 * attention_width + d_model
    block = attention + 2 * d_model * d_ff + d_ff + d_model + 2 * 2 * d_model
    return (vocab_size + max_length) * d_model + block + d_model * 20 + 20 + 20 + 1


def classifier_parameters(max_length: int = 200, vocab_size: int = 20_000, d_model: int = 32, num_heads: int = 2, d_ff: int = 32) -> dict[str, int]:
    """`classifier_size` with heads as wide as the model; all of it learns."""
    size = classifier_size(max_length, vocab_size, d_model, d_ff, num_heads * d_model)
    return {"parameters": size, "trainable": size}


# What is true of the classifier, in words, for each question that the probe asks: every part is free but for its size
# and what it may hear.


def classifier_values(ids: np.ndarray) -> dict[str, str]:
    """One number from 0 to 1 for each review, (B, 1), that depends on this review alone."""
    return {
        "shape of the result": str((len(ids), 1)),
        "range of the results": "from 0 to 1",
        "result of different reviews": "different",
        "result of a second call": "the same",
        "result of a review alone": "the same",
    }


def classifier_padding() -> dict[str, str]:
    """Padding is not heard."""
    return {"result with more padding": "the same", "what the attention reads": "the words", "what the mean reads": "the words", "result of padding alone": "finite"}


def classifier_order() -> dict[str, str]:
    """The order of the words is heard."""
    return {"result with the words in another order": "another"}


def classifier_learning() -> dict[str, str]:
    """The model can be trained."""
    return {"gradients of the weights": "not zero", "result inside tf.function": "the same"}


def train_classifier(x_test: np.ndarray) -> dict[str, Any]:
    """What is true after a training, in words; the probabilities are free, their accuracy is a property."""
    return {"history": "complete", "training": "all reviews", "validation": "looked at", "epochs": "several", "fits": "the training reviews", "probabilities": np.full((len(x_test), 1), np.nan)}


def train_classifier_stopping() -> dict[str, str]:
    """Which weights are kept."""
    return {"watched": "the validation reviews", "kept": "the best epoch", "loss": "binary cross-entropy"}


def linear_baseline(train_texts: Sequence[str], train_labels: np.ndarray, texts: Sequence[str]) -> dict[str, np.ndarray]:
    """Probabilities of class 1 from words and pairs: TF-IDF and logistic regression, with scikit-learn's defaults.

    Terms are words of two and more characters and neighbouring pairs; idf is ln((1 + n) / (1 + df)) + 1, rows have
    length 1; the weights minimise ½‖w‖² plus the sum of the log losses, with a bias that is not penalised. The minimum
    is found to the last digit by Newton's method, which scikit-learn does not use here.
    """
    documents = [_words_and_pairs(text) for text in train_texts]
    place = {term: number for number, term in enumerate(sorted({term for each in documents for term in each}))}
    frequency = np.array([sum(term in each for each in documents) for term in place])
    idf = 1 + np.log((1 + len(documents)) / (1 + frequency))
    x, new = (_rows_of(each, place, idf) for each in (documents, [_words_and_pairs(text) for text in texts]))
    weights = _logistic(np.column_stack([x, np.ones(len(x))]), np.asarray(train_labels))
    return {"output": 1 / (1 + np.exp(-(new @ weights[:-1] + weights[-1])))}


def _words_and_pairs(text: str) -> list[str]:
    words = re.findall(r"\b\w\w+\b", text.lower())
    return [*words, *(f"{one} {two}" for one, two in pairwise(words))]


def _rows_of(documents: Sequence[Sequence[str]], place: dict[str, int], idf: np.ndarray) -> np.ndarray:
    counts = np.zeros((len(documents), len(place)))
    for row, terms in zip(counts, documents, strict=True):
        for term in terms:
            if term in place:
                row[place[term]] += 1
    weighed = counts * idf
    lengths = np.linalg.norm(weighed, axis=1, keepdims=True)
    return weighed / np.where(lengths == 0, 1, lengths)


def _logistic(x: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Weights that minimise ½‖w‖² + Σ log loss, the last one (of a column of ones) not penalised."""
    weights, penalty = np.zeros(x.shape[1]), np.append(np.ones(x.shape[1] - 1), 0.0)
    for _ in range(30):
        p = 1 / (1 + np.exp(-x @ weights))
        slope = x.T @ (p - labels) + penalty * weights
        weights = weights - np.linalg.solve((x.T * (p * (1 - p))) @ x + np.diag(penalty), slope)
    return weights
