"""Mistakes of lab 05: in sinusoidal tables, their shifts, embeddings with positions, equivariance, rotary positions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from coursekit.probes.positional_encoding import token_map


def angular_speeds(d_model: int, exponent: str = "2i/D") -> np.ndarray:
    """The angular frequency of every column, (D,): 1/10000^(2i/D) for both columns of pair i.

    Source: Vaswani et al. 2017, section 3.5. The other values of `exponent` are mistakes.
    """
    column = np.arange(d_model)
    pair = column // 2
    if exponent == "no brackets":  # 10000 ** 2i / D: the power comes first
        return 10_000.0 ** (-2.0 * pair) / d_model
    power = {
        "2i/D": 2 * pair / d_model,
        "i/D": pair / d_model,
        "4i/D": 4 * pair / d_model,
        "2i/(D-2)": 2 * pair / max(d_model - 2, 1),
        "floor": 2 * pair // d_model,
        "inverse": -2 * pair / d_model,
        "column": column / d_model,
        "double_column": 2 * column / d_model,
        "base_1000": 2 * pair / d_model * 0.75,
    }[exponent]
    return 10_000.0 ** (-power.astype("float64"))


def sinusoidal_table(
    positions: np.ndarray, d_model: int, *, exponent: str = "2i/D", layout: str = "sin, cos"
) -> np.ndarray:
    """Rows of sin (even columns) and cos (odd columns) at the given positions (N,); returns (N, D)."""
    angles = np.asarray(positions, "float64")[:, None] * angular_speeds(d_model, exponent)
    even = np.arange(d_model) % 2 == 0
    if layout == "cos, sin":
        even = ~even
    if layout in ("sin", "cos"):
        even = np.full(d_model, layout == "sin")
    table = np.where(even, np.sin(angles), np.cos(angles))
    return np.concatenate([table[:, 0::2], table[:, 1::2]], axis=1) if layout == "halves" else table


def sinusoidal_positions(
    length: int,
    d_model: int,
    *,
    mode: str = "call",
    first: int = 0,
    transposed: bool = False,
    refusal: str = "ValueError",
    exponent: str = "2i/D",
    layout: str = "sin, cos",
) -> dict[str, Any]:
    """Sinusoidal positions (length, D) (Vaswani et al. 2017, section 3.5); an odd D is refused."""
    if mode == "refusal":
        return {"raised": refusal if d_model % 2 else "no error"}
    table = sinusoidal_table(np.arange(length) + first, d_model, exponent=exponent, layout=layout)
    return {"output": table.T if transposed else table}


def shift_matrix(
    offset: int,
    d_model: int,
    *,
    transposed: bool = False,
    unit_offset: bool = False,
    beyond: int = 0,
    sign: bool = True,
    rolled: bool = False,
    block: str = "rotation",
    exponent: str = "2i/D",
    layout: str = "neighbours",
) -> dict[str, np.ndarray]:
    """M (D, D) with PE[p + offset] = PE[p] M, a rotation for each pair, by the addition theorems."""
    if rolled:
        return {"output": np.roll(np.eye(d_model), offset, axis=1)}
    offset = offset + beyond if sign else abs(offset + beyond)
    matrix = np.zeros((d_model, d_model))
    speeds = angular_speeds(d_model, exponent)[0::2]
    for pair, speed in enumerate(speeds):
        angle = speed * (1 if unit_offset else offset)
        c, s = math.cos(angle), math.sin(angle)
        places = [pair, pair + d_model // 2] if layout == "halves" else [2 * pair, 2 * pair + 1]
        matrix[np.ix_(places, places)] = {
            "rotation": [[c, -s], [s, c]],
            "plus": [[c, s], [s, c]],
            "reflection": [[c, s], [s, -c]],
            "two minus": [[c, -s], [-s, c]],
            "cosines": [[c, 0], [0, c]],
            "sin_cos_exchanged": [[s, -c], [c, s]],
        }[block]
    return {"output": matrix.T if transposed else matrix}


def _places(kind: str, ids: np.ndarray, max_length: int) -> np.ndarray:
    """Which row of the position table each token gets, (B, T)."""
    batch, length = ids.shape
    rows = {
        "right": np.arange(length),
        "one_based": np.arange(length) + 1,
        "reversed": np.arange(length)[::-1],
        "from_the_end": np.arange(max_length - length, max_length),
        "first_row": np.zeros(length, int),
        "ids": ids,
        "sequence": np.arange(batch)[:, None],
    }[kind]
    return np.broadcast_to(rows, ids.shape)


def token_and_position(
    ids: np.ndarray,
    max_length: int,
    vocab_size: int,
    d_model: int,
    token_embedding_embeddings: np.ndarray,
    position_embedding_embeddings: np.ndarray,
    *,
    mode: str = "call",
    parts: str = "token, position",
    places: str = "right",
    joined: str = "sum",
    token_factor: str = "1",
    tables: str = "right",
    frozen: bool = False,
) -> dict[str, Any]:
    """Token vector plus learned position vector: ids (B, T) -> (B, T, D)."""
    if mode == "parameters":
        return {"trainable_parameters": (vocab_size + (0 if frozen else max_length)) * d_model}
    words, rows = token_embedding_embeddings, position_embedding_embeddings
    if tables == "exchanged":
        words, rows = rows, words
    tokens = words[ids] * (math.sqrt(d_model) if token_factor == "√D" else 1)
    positions = rows[_places(places, ids, max_length)]
    return {"output": _joined(tokens, positions, parts, joined)}


def sinusoidal_embedding(
    ids: np.ndarray,
    max_length: int,
    vocab_size: int,
    d_model: int,
    token_embedding_embeddings: np.ndarray,
    *,
    mode: str = "call",
    parts: str = "token, position",
    places: str = "right",
    joined: str = "sum",
    token_factor: str = "√D",
    position_factor: str = "1",
    trainable: bool = False,
    exponent: str = "2i/D",
    layout: str = "sin, cos",
) -> dict[str, Any]:
    """Token vector times √D plus sinusoidal position (Vaswani et al. 2017, sections 3.4, 3.5): (B, T) -> (B, T, D)."""
    if mode == "parameters":
        return {"trainable_parameters": (vocab_size + (max_length if trainable else 0)) * d_model}
    factors = {"1": 1.0, "√D": math.sqrt(d_model), "D": float(d_model), "1/√D": 1 / math.sqrt(d_model)}
    table = sinusoidal_table(np.arange(max_length + 1), d_model, exponent=exponent, layout=layout)
    tokens = token_embedding_embeddings[ids] * factors[token_factor]
    positions = table[_places(places, ids, max_length)].astype(tokens.dtype) * factors[position_factor]
    return {"output": _joined(tokens, positions, parts, joined)}


def _joined(tokens: np.ndarray, positions: np.ndarray, parts: str, joined: str) -> np.ndarray:
    if parts != "token, position":
        return tokens if parts == "token" else positions
    if joined == "side by side":
        return np.concatenate([tokens, positions], axis=-1)
    return tokens * positions if joined == "product" else tokens + positions


def is_permutation_equivariant(
    fn: str,
    x: np.ndarray,
    permutation: np.ndarray,
    tolerance: float = 1e-5,
    *,
    axis: int = 1,
    compared_with: str = "shuffled result",
    measure: str = "largest",
    fixed_tolerance: bool = False,
    own_permutation: bool = False,
    verdict: str = "honest",
) -> dict[str, bool]:
    """Whether fn(x[:, permutation]) equals fn(x)[:, permutation], entry by entry, within the tolerance."""
    if own_permutation:
        permutation = np.arange(len(permutation))[::-1]
    if verdict in ("always yes", "always no"):
        return {"output": verdict == "always yes"}
    compute = token_map(fn, x.shape[-1])
    shuffled_first = compute(np.take(x, permutation, axis=axis))
    target = compute(x)
    if compared_with == "shuffled result":
        target = np.take(target, permutation, axis=axis)
    apart = shuffled_first - target
    if measure == "first sequence":
        apart = apart[0]
    size = {
        "largest": np.abs(apart).max(),
        "first sequence": np.abs(apart).max(),
        "mean": np.abs(apart).mean(),
        "signed sum": abs(apart.sum()),
        "without absolute value": apart.max(),
        "smallest": np.abs(apart).min(),
    }[measure]
    same = bool(size <= (1e-5 if fixed_tolerance else tolerance))
    return {"output": not same if verdict == "negated" else same}


def rotary(
    x: np.ndarray,
    positions: np.ndarray,
    *,
    direction: int = 1,
    rotation: str = "right",
    layout: str = "neighbours",
    counted: bool = False,
    first: int = 0,
    degrees: bool = False,
    exponent: str = "2i/D",
) -> dict[str, np.ndarray]:
    """Rotary positions (Su et al. 2021, section 3.4.2): x (…, T, D), positions (T,) -> (…, T, D).

    Pair (x[2i], x[2i + 1]) turns by position/10000^(2i/D).
    """
    width = x.shape[-1]
    places = np.arange(len(positions)) if counted else np.asarray(positions, "float64")
    places = places + first
    angles = direction * places[:, None] * angular_speeds(width, exponent)[0::2]  # (T, D/2)
    if degrees:
        angles = np.deg2rad(angles)
    cosine, sine = np.cos(angles).astype(x.dtype), np.sin(angles).astype(x.dtype)
    if layout == "halves":
        a, b = x[..., : width // 2], x[..., width // 2 :]
    else:
        a, b = x[..., 0::2], x[..., 1::2]
    first, second = {
        "right": (a * cosine - b * sine, a * sine + b * cosine),
        "plus": (a * cosine + b * sine, a * sine + b * cosine),
        "scaled": (a * cosine, b * cosine),
        "added": (a + sine, b + cosine),
        "turned and added": (a + a * cosine - b * sine, b + a * sine + b * cosine),
        "mirrored": (a * cosine - b * sine, a * sine - b * cosine),
        "sin_cos_exchanged": (a * sine - b * cosine, a * cosine + b * sine),
        "overwritten": (a * cosine - b * sine, (a * cosine - b * sine) * sine + b * cosine),
    }[rotation]
    if layout == "angles in halves":
        doubled = np.concatenate([angles, angles], axis=-1)  # (T, D)
        turned = np.stack([-b, a], axis=-1).reshape(x.shape)
        return {"output": x * np.cos(doubled).astype(x.dtype) + turned * np.sin(doubled).astype(x.dtype)}
    if layout in ("halves", "not interleaved"):
        return {"output": np.concatenate([first, second], axis=-1)}
    return {"output": np.stack([first, second], axis=-1).reshape(x.shape)}


def rotary_scores(
    q: np.ndarray,
    k: np.ndarray,
    positions: np.ndarray,
    *,
    keys_turn: int = 1,
    mirrored: bool = False,
    scaled: bool = True,
    **flags: Any,
) -> dict[str, np.ndarray]:
    """Scores of queries and keys (…, T, D) turned by their positions (T,).

    Args:
        keys_turn: 1 as the queries, −1 the other way, 0 not at all.
        mirrored: the second number of each pair of k changes its sign, as in a complex conjugate.
        scaled: whether √D divides.
    """
    if mirrored:
        k = k * np.where(np.arange(k.shape[-1]) % 2, -1, 1).astype(k.dtype)
    turned_q = rotary(q, positions, **flags)["output"]
    turned_k = rotary(k, keys_turn * np.asarray(positions), **flags)["output"] if keys_turn else k
    scores = np.einsum("...td,...sd->...ts", turned_q, turned_k)
    return {"output": scores / math.sqrt(q.shape[-1]) if scaled else scores}


def slow_pairs(*, thought: float = 11.0) -> dict[str, float]:
    """Of the 32 pairs those that turn by less than a quarter; `thought` is a wrong number."""
    return {"value": thought}
