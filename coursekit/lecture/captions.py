"""A small decoder-only model of captions, trained by `experiments/caption_model.py`: its words and weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

PAD, UNKNOWN, START, END = range(4)
SPECIAL = ("[pad]", "[unknown]", "[start]", "[end]")
FILE = Path(__file__).parent / "recorded" / "caption_model.npz"
LONGEST = 64  # rows of the table of positions


def waves(length: int, width: int) -> np.ndarray:
    """The sinusoids of lecture 5, (length, width), sine and cosine in turn."""
    angle = np.arange(length)[:, None] / 10_000 ** (np.arange(0, width, 2) / width)  # (length, D/2)
    return np.stack([np.sin(angle), np.cos(angle)], axis=-1).reshape(length, width).astype("float32")


def normed(x: np.ndarray) -> np.ndarray:
    """Vectors (…, D) divided by their root mean square (RMS norm without a gain, Zhang and Sennrich 2019).

    >>> normed(np.array([[3.0, 4.0]])).round(3)
    array([[0.849, 1.131]])
    """
    return x / np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + 1e-6)


def with_constants(weights: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The trained weights as float32, with the positions and with the words that may be written.

    Args:
        weights: table (V, D); w_q, w_k, w_v, w_o (L, D, D); widen (L, D, F); narrow (L, F, D).

    Returns:
        The same, and positions (64, D) and allowed (V,): 0, or −∞ for padding, unknown word and start.
    """
    full = {name: array.astype("float32") for name, array in weights.items()}
    words, width = full["table"].shape
    full["positions"] = waves(LONGEST, width)
    full["allowed"] = np.where(np.isin(np.arange(words), [PAD, UNKNOWN, START]), -np.inf, 0).astype("float32")
    return full


def load() -> tuple[list[str], dict[str, np.ndarray]]:
    """The V words, and the weights that `coursekit.lecture.pages.caption_model.PlainCaptionModel` takes."""
    with np.load(FILE) as arrays:
        weights = dict(arrays)
    words = str(weights.pop("words")).split("\n")
    return words, with_constants(weights)


def save(words: list[str], weights: dict[str, np.ndarray], path: Path = FILE) -> None:
    """Write words and trained weights, in float16."""
    half: dict[str, Any] = {name: array.astype("float16") for name, array in weights.items()}
    np.savez_compressed(path, words=np.array("\n".join(words)), **half)
