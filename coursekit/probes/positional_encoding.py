"""Probes of lab 05, positional encoding."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy.special import softmax

from coursekit.generator import Generator
from coursekit.probes.driving import find, function, layer, refusing, unpack


def token_map(name: str, width: int) -> Callable[[Any], Any]:
    """Return the map called `name` from tokens (B, T, D) to (B, T, …): the `fn` that a student's function judges.

    It computes in float64, and returns the float type and the kind (array or tensor) of what it was given.
    """
    weights = Generator(width).normal(size=(width, width + 2)) / width**0.5
    compute = TOKEN_MAPS[name]

    def fn(x: Any) -> Any:
        given = np.asarray(x)
        result = compute(given.astype("float64"), weights).astype(given.dtype)
        if isinstance(x, np.ndarray):
            return result
        import tensorflow as tf

        return tf.convert_to_tensor(result)

    return fn


def _attention(x: np.ndarray, weights: np.ndarray) -> np.ndarray:
    scores = np.einsum("btd,bsd->bts", x @ weights, x @ weights[:, ::-1])
    return np.einsum("bts,bsd->btd", softmax(scores, axis=-1), x)


def _places(x: np.ndarray) -> np.ndarray:
    return np.sin(1.0 + np.arange(x.shape[1]))[:, None]


def _last_sequence_only(x: np.ndarray, weights: np.ndarray) -> np.ndarray:
    result = x.copy()
    result[-1] += _places(x)
    return result


def _first_entry_only(x: np.ndarray, weights: np.ndarray) -> np.ndarray:
    result = x.copy()
    result[:, 0, 0] += 0.5
    return result


def _second_half(x: np.ndarray, weights: np.ndarray) -> np.ndarray:
    result = x.copy()
    result[:, x.shape[1] // 2 :] += 1.0
    return result


TOKEN_MAPS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "self-attention": _attention,
    "each token by itself": lambda x, weights: np.tanh(x @ weights),
    "distance from the mean token": lambda x, weights: x - x.mean(axis=1, keepdims=True),
    "positions added": lambda x, weights: np.tanh(x + _places(x)),
    "each token plus its predecessor": lambda x, weights: x + np.roll(x, 1, axis=1),
    "running sum": lambda x, weights: np.cumsum(x, axis=1),
    "features sorted over the tokens": lambda x, weights: np.sort(x, axis=1),
    "positions added, a thousandth of them": lambda x, weights: x + 1e-3 * _places(x),
    "positions added in the last sequence only": _last_sequence_only,
    "0.5 added to the first feature of the first token": _first_entry_only,
    "one added to the second half of the tokens": _second_half,
    "the first token's first feature added everywhere": lambda x, weights: x + x[:, :1, :1],
}


def _is_permutation_equivariant(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Hand the student's function a map made here, tokens and a permutation; return its verdict."""
    target = find(namespace, "is_permutation_equivariant")
    x, permutation = inputs["x"].copy(), inputs["permutation"].copy()
    if mode == "tensor":
        import tensorflow as tf

        x, permutation = tf.convert_to_tensor(x), tf.convert_to_tensor(permutation)
    keywords = {"tolerance": inputs["tolerance"]} if "tolerance" in inputs else {}
    verdict = target(token_map(inputs["fn"], inputs["x"].shape[-1]), x, permutation, **keywords)
    return unpack(verdict, ("output",), "is_permutation_equivariant(fn, x, permutation)")


PROBES = {
    "sinusoidal_positions": refusing(function("sinusoidal_positions", "length", "d_model")),
    "TokenAndPositionEmbedding": layer(
        "TokenAndPositionEmbedding",
        init=("max_length", "vocab_size", "d_model"),
        call=("ids",),
        optional=(),
        weights=("token_embedding.embeddings", "position_embedding.embeddings"),
        unknown_axes=(0, 1),
    ),
    "SinusoidalEmbedding": layer(
        "SinusoidalEmbedding",
        init=("max_length", "vocab_size", "d_model"),
        call=("ids",),
        optional=(),
        weights=("token_embedding.embeddings",),
        unknown_axes=(0, 1),
    ),
    "is_permutation_equivariant": _is_permutation_equivariant,
}
