"""Oracles of lab 05: sinusoidal tables and their shifts, embeddings with positions, equivariance, rotary positions."""

from __future__ import annotations

import math

import numpy as np

from coursekit.probes.positional_encoding import token_map


def angular_speeds(d_model: int) -> np.ndarray:
    """The angular frequency of every pair of columns, (D/2,): 1/10000^(2i/D) (Vaswani et al. 2017, section 3.5)."""
    return 10_000.0 ** (-2 * np.arange(d_model // 2) / d_model)


def sinusoidal_table(length: int, d_model: int) -> np.ndarray:
    """Row p holds sin(p·ω_i) in column 2i and cos(p·ω_i) in column 2i + 1; returns (length, D)."""
    angles = np.arange(length)[:, None] * angular_speeds(d_model)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(length, d_model)


def sinusoidal_positions(length: int, d_model: int) -> dict[str, np.ndarray]:
    """Sinusoidal positions (length, D) (Vaswani et al. 2017, section 3.5)."""
    return {"output": sinusoidal_table(length, d_model)}


def odd_width_refused(d_model: int) -> dict[str, str]:
    """An odd D has no pairs, and is refused with a ValueError; an even one is not."""
    return {"raised": "ValueError" if d_model % 2 else "no error"}


def shift_matrix(offset: int, d_model: int) -> dict[str, np.ndarray]:
    """M (D, D) with PE[p + offset] = PE[p] M, a rotation for each pair, by the addition theorems."""
    matrix = np.zeros((d_model, d_model))
    for pair, speed in enumerate(angular_speeds(d_model)):
        c, s = math.cos(offset * speed), math.sin(offset * speed)
        matrix[2 * pair : 2 * pair + 2, 2 * pair : 2 * pair + 2] = [[c, -s], [s, c]]
    return {"output": matrix}


def token_and_position(
    ids: np.ndarray, token_embedding_embeddings: np.ndarray, position_embedding_embeddings: np.ndarray
) -> dict[str, np.ndarray]:
    """Token vector plus learned position vector: ids (B, T) -> (B, T, D)."""
    return {"output": token_embedding_embeddings[ids] + position_embedding_embeddings[: ids.shape[1]]}


def token_and_position_parameters(vocab_size: int, max_length: int, d_model: int) -> dict[str, int]:
    """A table of tokens and a table of positions."""
    return {"trainable_parameters": (vocab_size + max_length) * d_model}


def sinusoidal_embedding(
    ids: np.ndarray, d_model: int, token_embedding_embeddings: np.ndarray
) -> dict[str, np.ndarray]:
    """Token vector times √D plus sinusoidal position (Vaswani et al. 2017, sections 3.4, 3.5): (B, T) -> (B, T, D)."""
    tokens = token_embedding_embeddings[ids] * math.sqrt(d_model)
    return {"output": tokens + sinusoidal_table(ids.shape[1], d_model).astype(tokens.dtype)}


def sinusoidal_embedding_parameters(vocab_size: int, d_model: int) -> dict[str, int]:
    """A table of tokens; the positions are fixed."""
    return {"trainable_parameters": vocab_size * d_model}


def is_permutation_equivariant(
    fn: str, x: np.ndarray, permutation: np.ndarray, tolerance: float = 1e-5
) -> dict[str, bool]:
    """Whether fn(x[:, permutation]) equals fn(x)[:, permutation], entry by entry, within the tolerance."""
    compute = token_map(fn, x.shape[-1])
    apart = compute(x[:, permutation]) - compute(x)[:, permutation]
    return {"output": bool(np.abs(apart).max() <= tolerance)}


def rotary(x: np.ndarray, positions: np.ndarray) -> dict[str, np.ndarray]:
    """Rotary positions (Su et al. 2021, section 3.4.2): x (…, T, D), positions (T,) -> (…, T, D).

    Pair (x[2i], x[2i + 1]) turns by position/10000^(2i/D).
    """
    angles = np.asarray(positions, "float64")[:, None] * angular_speeds(x.shape[-1])  # (T, D/2)
    cosine, sine = np.cos(angles).astype(x.dtype), np.sin(angles).astype(x.dtype)
    a, b = x[..., 0::2], x[..., 1::2]
    return {"output": np.stack([a * cosine - b * sine, a * sine + b * cosine], axis=-1).reshape(x.shape)}


def rotary_scores(q: np.ndarray, k: np.ndarray, positions: np.ndarray) -> dict[str, np.ndarray]:
    """Scaled scores of queries and keys (…, T, D) turned by their positions (T,) (Su et al. 2021, equation 16)."""
    turned_q, turned_k = (rotary(each, positions)["output"] for each in (q, k))
    return {"output": np.einsum("...td,...sd->...ts", turned_q, turned_k) / math.sqrt(q.shape[-1])}


def slow_pairs() -> dict[str, float]:
    """Of the 32 pairs of D = 64, those that turn by less than a quarter from position 0 to 511."""
    return {"value": float(np.sum(511 * angular_speeds(64) < math.pi / 2))}
