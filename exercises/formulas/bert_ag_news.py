"""Oracles of lab 07: word pieces, packing, masking, the schedule, the news classifier, class names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from exercises.formulas.attention import softmax


def wordpiece_tokenize(word: str, vocabulary: Sequence[str], unknown: str = "[UNK]", max_chars: int = 100) -> dict[str, list[str]]:
    """Greedy longest match first; "##" marks what continues a word (Wu et al. 2016, 4.1; Devlin et al. 2019)."""
    if len(word) > max_chars:
        return {"pieces": [unknown]}
    pieces: list[str] = []
    start = 0
    for _ in word:  # a piece has a character at least; a loop that ends, whatever is changed in it
        if start >= len(word):
            break
        parts = [("##" if start else "") + word[start:end] for end in range(len(word), start, -1)]
        piece = next((part for part in parts if part in vocabulary), None)
        if piece is None:
            return {"pieces": [unknown]}
        pieces.append(piece)
        start += len(piece) - 2 * bool(start)
    return {"pieces": pieces}


def pack_inputs(a: Sequence[int], b: Sequence[int] | None = None, *, max_length: int, cls_id: int, sep_id: int, pad_id: int = 0) -> dict[str, Any]:
    """``[CLS] a [SEP]`` or ``[CLS] a [SEP] b [SEP]``, cut and padded to `max_length` (Devlin et al. 2019, 3).

    What does not fit is taken from the end of the longer segment, token by token; of the second one on a tie.
    """
    pair = b is not None
    first, second = list(a), list(b or ())
    while len(first) + len(second) > max_length - 2 - pair:
        (first if len(first) > len(second) else second).pop()
    front = [cls_id, *first, sep_id]
    end = [*second, sep_id] if pair else []
    padding = max_length - len(front) - len(end)
    return {
        "input_word_ids": np.array(front + end + [pad_id] * padding),
        "input_mask": np.array([1] * len(front + end) + [0] * padding),
        "input_type_ids": np.array([0] * len(front) + [1] * len(end) + [0] * padding),
        "kinds": "whole numbers",
        "arguments": "as they were",
    }


# What is true of the masking, in words, for each question that the probe asks. Chance decides which tokens are chosen
# (Devlin et al. 2019, section 3.1).


def masked_labels() -> dict[str, str]:
    """What the labels are, and what stays as it is."""
    return {"labels": "the original ids where chosen, -100 elsewhere", "special": "never chosen", "unlabelled": "stay as they are", "argument": "as it was", "shape": "that of ids"}


def masked_share() -> dict[str, str]:
    """How many tokens are chosen."""
    return {"share": "the rate"}


def masked_kinds() -> dict[str, str]:
    """What becomes of the chosen tokens."""
    return {"kinds": "80 % mask, 10 % random, 10 % kept"}


def random_ids() -> dict[str, str]:
    """Where the random tokens come from."""
    return {"random_ids": "uniform over the vocabulary"}


def chosen_independently() -> dict[str, str]:
    """Whether one token's choice depends on another's."""
    return {"chosen": "each token for itself"}


def numbers_from_the_generator() -> dict[str, str]:
    """Where chance comes from."""
    return {"numbers": "from rng"}


def tiny_ids(texts: Sequence[str], length: int, codes: int) -> np.ndarray:
    """Ids of the tiny preprocessing: 1, then a number from 2 on for every byte, 0 behind the text."""
    ids = np.zeros((len(texts), length), "int64")
    ids[:, 0] = 1
    for row, text in zip(ids, texts, strict=True):
        values = np.frombuffer(text.encode()[: length - 1], np.uint8).astype("int64")
        row[1 : 1 + len(values)] = 2 + values % codes
    return ids


def build_news_classifier(
    texts: Sequence[str], table: np.ndarray, pooler: np.ndarray, w1: np.ndarray, b1: np.ndarray, w2: np.ndarray, b2: np.ndarray, length: int = 13, codes: int = 17
) -> dict[str, np.ndarray]:
    """Probabilities (B, classes): softmax(relu(pooled W₁ + b₁) W₂ + b₂) on the pooled output of the tiny encoder.

    That encoder adds twice the mean of the words to each of them, and pools tanh(first token · pooler).
    """
    ids = tiny_ids(texts, length, codes)
    real = (ids != 0)[..., None]
    x = table[ids]  # (B, L, D)
    mean = (x * real).sum(axis=1) / real.sum(axis=1)
    pooled = np.tanh((x[:, 0] + 2 * mean) @ pooler)
    hidden = np.maximum(pooled @ w1 + b1, 0)
    return {"probabilities": softmax(hidden @ w2 + b2)}


def news_classifier_parameters(num_classes: int = 4, trainable: bool = True, width: int = 6) -> dict[str, Any]:
    """Whether the encoder learns, and the numbers of the head: (width, 16) and (16, classes), with biases."""
    head = width * 16 + 16 + 16 * num_classes + num_classes
    return {"encoder": "learns" if trainable else "is frozen", "head": head}


def news_classifier_dropout(dropout: float = 0.2) -> dict[str, str]:
    """Where something is dropped in training, and that nothing is outside of it."""
    return {"training": f"{dropout:.0%} behind the hidden layer", "outside": "the same result"}


REACHED = "reach every weight that learns"


def news_classifier_gradients() -> dict[str, str]:
    """How far the gradients get."""
    return {"gradients": REACHED}


def predict_class_names(probabilities: np.ndarray, class_names: Sequence[str]) -> dict[str, Any]:
    """The name of each text's most probable class, in the order of the texts. probabilities (n, classes)."""
    return {"names": [class_names[row.argmax()] for row in probabilities], "kind": "a list"}
