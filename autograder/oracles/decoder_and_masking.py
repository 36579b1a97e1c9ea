"""Oracles of lab 08: masks, the decoder block, the Transformer, losses on distributions, the schedule, decoding."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from autograder.oracles.attention import masked_softmax
from autograder.oracles.encoder_block import normalised, unpacked
from autograder.oracles.losses import cross_entropy

Weights = Mapping[str, np.ndarray]
Dropout = Callable[[np.ndarray, int], np.ndarray]


def causal_mask(length: int) -> dict[str, np.ndarray]:
    """True where the key's position (column) is not after the query's (row)."""
    return {"output": np.arange(length) <= np.arange(length)[:, None]}


def padding_mask(ids: np.ndarray, pad_id: int = 0) -> dict[str, np.ndarray]:
    """True where a token is not padding, with an axis of size 1 for the queries. ids (B, S) -> (B, 1, S)."""
    return {"output": (ids != pad_id)[:, None, :]}


def combine_masks(count: int, mask_1: Any = None, mask_2: Any = None, mask_3: Any = None) -> dict[str, Any]:
    """The masks joined by "and", broadcast against each other; None blocks nothing, and None is what no mask gives."""
    given = [np.asarray(mask).astype(bool) for mask in (mask_1, mask_2, mask_3)[:count] if mask is not None]
    return {"output": np.logical_and.reduce(np.broadcast_arrays(*given)) if given else None}


def shift_right(ids: np.ndarray, start_id: int) -> dict[str, np.ndarray]:
    """The start id, then all ids but the last one. ids (B, T) -> (B, T)."""
    return {"output": np.concatenate([np.full_like(ids[:, :1], start_id), ids[:, :-1]], axis=1)}


def attended(x: np.ndarray, memory: np.ndarray, w: Weights, name: str, mask: Any) -> np.ndarray:
    """Multi-head attention as `keras.layers.MultiHeadAttention` computes it. x (B, T, D), memory (B, S, D)."""

    def projected(tokens: np.ndarray, part: str) -> np.ndarray:
        heads = np.einsum("btd,dhk->bhtk", tokens, w[f"{name}.{part}.kernel"])
        return heads + w[f"{name}.{part}.bias"][:, None]

    q, k, v = projected(x, "query"), projected(memory, "key"), projected(memory, "value")
    if np.ndim(mask) == 3:
        mask = np.asarray(mask)[:, None]  # the axis of the heads
    weights = masked_softmax(q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1]), mask)
    return np.einsum("bhtk,hkd->btd", weights @ v, w[f"{name}.output.kernel"]) + w[f"{name}.output.bias"]


def kept(h: np.ndarray, place: int) -> np.ndarray:
    """In place of a dropout when nothing is dropped."""
    return h


def third_erased(h: np.ndarray, place: int) -> np.ndarray:
    """A dropout of rate ⅓ without chance: every third feature is erased, the rest 1.5 times as large."""
    return h * np.where(np.arange(h.shape[-1]) % 3 == place % 3, 0.0, 1.5).astype(h.dtype)


def decoder_block_shapes(d_model: int, num_heads: int, d_ff: int) -> dict[str, tuple[int, ...]]:
    """Shapes of a decoder block's weights, in the order in which the probe packs them."""
    width = d_model // num_heads
    shapes: dict[str, tuple[int, ...]] = {}
    for name in ("self", "cross"):
        for part in ("query", "key", "value"):
            shapes |= {f"{name}.{part}.kernel": (d_model, num_heads, width), f"{name}.{part}.bias": (num_heads, width)}
        shapes |= {f"{name}.output.kernel": (num_heads, width, d_model), f"{name}.output.bias": (d_model,)}
    shapes |= {"in.kernel": (d_model, d_ff), "in.bias": (d_ff,), "out.kernel": (d_ff, d_model), "out.bias": (d_model,)}
    return shapes | {f"norm{number}.{part}": (d_model,) for number in (1, 2, 3) for part in ("gamma", "beta")}


def transformed(x: np.ndarray, w: Weights) -> np.ndarray:
    """The feed-forward network max(0, x W₁ + b₁) W₂ + b₂ (Vaswani et al. 2017, equation 2)."""
    return np.maximum(x @ w["in.kernel"] + w["in.bias"], 0) @ w["out.kernel"] + w["out.bias"]


def block(x: np.ndarray, memory: np.ndarray, w: Weights, memory_mask: Any, dropout: Dropout = kept) -> np.ndarray:
    """One decoder block, post-norm: self-attention that cannot look ahead, attention over the memory, feed-forward
    network, each with dropout, sum and layer norm (Vaswani et al. 2017, section 3.1)."""

    def norm(h: np.ndarray, number: int) -> np.ndarray:
        return normalised(h, w[f"norm{number}.gamma"], w[f"norm{number}.beta"])

    causal = causal_mask(x.shape[1])["output"]
    x = norm(x + dropout(attended(x, x, w, "self", causal), 0), 1)
    x = norm(x + dropout(attended(x, memory, w, "cross", memory_mask), 1), 2)
    return norm(x + dropout(transformed(x, w), 2), 3)


def decoder_block(
    x: np.ndarray,
    memory: np.ndarray,
    d_model: int,
    num_heads: int,
    d_ff: int,
    weights: np.ndarray,
    memory_mask: Any = None,
) -> dict[str, np.ndarray]:
    """`block` with its weights end to end, in the order of `decoder_block_shapes`.

    Args:
        x: (B, T, D).
        memory: (B, S, D).
        memory_mask: (T, S), (B, T, S) or (B, 1, S); true where a query may attend.
    """
    return {"output": block(x, memory, unpacked(weights, decoder_block_shapes(d_model, num_heads, d_ff)), memory_mask)}


def decoder_block_training(
    x: np.ndarray, memory: np.ndarray, d_model: int, num_heads: int, d_ff: int, weights: np.ndarray
) -> dict[str, np.ndarray]:
    """The same in training, with `third_erased` in place of the three dropouts."""
    w = unpacked(weights, decoder_block_shapes(d_model, num_heads, d_ff))
    return {"output": block(x, memory, w, None, third_erased)}


def decoder_block_prefix(
    x: np.ndarray, memory: np.ndarray, d_model: int, num_heads: int, d_ff: int, weights: np.ndarray, cut: int
) -> dict[str, np.ndarray]:
    """The first `cut` results for the whole of x, and those for its first `cut` tokens alone: they are the same."""
    whole = decoder_block(x, memory, d_model, num_heads, d_ff, weights)["output"][:, :cut]
    return {"whole": whole, "prefix": decoder_block(x[:, :cut], memory, d_model, num_heads, d_ff, weights)["output"]}


def decoder_block_slopes(
    x: np.ndarray,
    memory: np.ndarray,
    d_model: int,
    num_heads: int,
    d_ff: int,
    weights: np.ndarray,
    weighting: np.ndarray,
    direction: np.ndarray,
    direction_x: np.ndarray,
    direction_memory: np.ndarray,
) -> dict[str, np.ndarray]:
    """Derivatives of ``sum(output * weighting)`` along x, along memory, and weight by weight."""
    shapes = decoder_block_shapes(d_model, num_heads, d_ff)

    def run(x: np.ndarray, memory: np.ndarray, vector: np.ndarray) -> np.ndarray:
        return block(x, memory, unpacked(vector, shapes), None)

    steps = [(direction_x, 0, 0), (0, direction_memory, 0), *((0, 0, each) for each in one_by_one(direction, shapes))]
    return {"slopes": along(run, (x, memory, weights), steps, weighting)}


def decoder_block_parameters(d_model: int, num_heads: int, d_ff: int) -> dict[str, int]:
    """The sizes of `decoder_block_shapes`, added up."""
    return {"trainable_parameters": sum(map(math.prod, decoder_block_shapes(d_model, num_heads, d_ff).values()))}


def left_to_chance() -> dict[str, Any]:
    """Nothing: what a dropout erases is judged by a property."""
    return {}


def transformer_shapes(d_model: int, num_heads: int, d_ff: int, vocab_size: int) -> dict[str, tuple[int, ...]]:
    """Shapes of the kinds of weights in a Transformer, in the order in which the probe packs them."""
    width = d_model // num_heads
    return {
        "embedding": (vocab_size, d_model),
        "projection.kernel": (d_model, num_heads, width),
        "projection.bias": (num_heads, width),
        "output.kernel": (num_heads, width, d_model),
        "in.kernel": (d_model, d_ff),
        "in.bias": (d_ff,),
        "out.kernel": (d_ff, d_model),
        "bias": (d_model,),
        "gamma": (d_model,),
        "beta": (d_model,),
    }


def spread(table: Weights) -> dict[str, np.ndarray]:
    """The weights of a block whose weights of one kind are all the same."""
    weights = {key: table[key] for key in ("in.kernel", "in.bias", "out.kernel")} | {"out.bias": table["bias"]}
    for name in ("self", "cross"):
        for part in ("query", "key", "value"):
            weights |= {f"{name}.{part}.{each}": table[f"projection.{each}"] for each in ("kernel", "bias")}
        weights |= {f"{name}.output.kernel": table["output.kernel"], f"{name}.output.bias": table["bias"]}
    for number in (1, 2, 3):
        weights |= {f"norm{number}.{each}": table[each] for each in ("gamma", "beta")}
    return weights


def positions(length: int, d_model: int) -> np.ndarray:
    """Sinusoidal positions (Vaswani et al. 2017, section 3.5): even columns sine, odd ones cosine. (length, D)."""
    angles = np.arange(length)[:, None] / 10_000.0 ** (np.arange(0, d_model, 2) / d_model)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(length, d_model)


def transformer_logits(
    source: np.ndarray, target: np.ndarray, table: Weights, num_layers: int, dropout: Dropout = kept
) -> np.ndarray:
    """The encoder-decoder Transformer, post-norm, one table for source, target, output (Vaswani et al. 2017, 3.4)."""
    w, embedding = spread(table), table["embedding"]
    d_model = embedding.shape[-1]
    real = (source != 0)[:, None]

    def embedded(ids: np.ndarray) -> np.ndarray:
        rows = embedding[ids] * math.sqrt(d_model) + positions(ids.shape[1], d_model).astype(embedding.dtype)
        return dropout(rows, 1)

    def norm(h: np.ndarray) -> np.ndarray:
        return normalised(h, table["gamma"], table["beta"])

    memory = embedded(source)
    for _ in range(num_layers):
        memory = norm(memory + dropout(attended(memory, memory, w, "self", real), 1))
        memory = norm(memory + dropout(transformed(memory, w), 1))
    y = embedded(target)
    for _ in range(num_layers):
        y = block(y, memory, w, real, lambda h, place: dropout(h, 1))
    return y @ embedding.T


def _table(weights: np.ndarray, *sizes: int) -> Weights:
    return unpacked(weights, transformer_shapes(*sizes))


def transformer(
    source: np.ndarray,
    target: np.ndarray,
    num_layers: int,
    d_model: int,
    num_heads: int,
    d_ff: int,
    vocab_size: int,
    weights: np.ndarray,
) -> dict[str, np.ndarray]:
    """`transformer_logits`; those of padding in the target are left free (NaN).

    Args:
        source, target: ids (B, S) and (B, T), 0 is padding.
        weights: the kinds of weights, end to end in the order of `transformer_shapes`; all weights of a kind are equal.
    """
    table = _table(weights, d_model, num_heads, d_ff, vocab_size)
    logits = transformer_logits(source, target, table, num_layers)
    return {"logits": np.where((target == 0)[..., None], np.nan, logits).astype(weights.dtype)}


def transformer_training(
    source: np.ndarray,
    target: np.ndarray,
    num_layers: int,
    d_model: int,
    num_heads: int,
    d_ff: int,
    vocab_size: int,
    weights: np.ndarray,
    dropout: float = 0.1,
) -> dict[str, np.ndarray]:
    """The same in training, with `third_erased` in place of all dropouts; and the one rate that they have."""
    table = _table(weights, d_model, num_heads, d_ff, vocab_size)
    logits = transformer_logits(source, target, table, num_layers, third_erased)
    free = np.where((target == 0)[..., None], np.nan, logits).astype(weights.dtype)
    return {"logits": free, "rates": np.array([dropout])}


def transformer_inference(
    source: np.ndarray,
    target: np.ndarray,
    num_layers: int,
    d_model: int,
    num_heads: int,
    d_ff: int,
    vocab_size: int,
    weights: np.ndarray,
    dropout: float = 0.1,
) -> dict[str, np.ndarray]:
    """Outside of training nothing is dropped; and the one rate that the dropouts have."""
    result = transformer(source, target, num_layers, d_model, num_heads, d_ff, vocab_size, weights)
    return {**result, "rates": np.array([dropout])}


def transformer_prefix(
    source: np.ndarray,
    target: np.ndarray,
    num_layers: int,
    d_model: int,
    num_heads: int,
    d_ff: int,
    vocab_size: int,
    weights: np.ndarray,
    cut: int,
) -> dict[str, np.ndarray]:
    """The first `cut` results for the whole target, and those for its first `cut` tokens alone: they are the same."""
    table = _table(weights, d_model, num_heads, d_ff, vocab_size)
    whole, prefix = (transformer_logits(source, ids, table, num_layers) for ids in (target, target[:, :cut]))
    return {"whole": whole[:, :cut], "prefix": prefix}


def transformer_slopes(
    source: np.ndarray,
    target: np.ndarray,
    num_layers: int,
    d_model: int,
    num_heads: int,
    d_ff: int,
    vocab_size: int,
    weights: np.ndarray,
    weighting: np.ndarray,
    direction: np.ndarray,
) -> dict[str, np.ndarray]:
    """Derivatives of ``sum(logits * weighting)``, kind of weight by kind of weight."""
    shapes = transformer_shapes(d_model, num_heads, d_ff, vocab_size)

    def run(vector: np.ndarray) -> np.ndarray:
        return transformer_logits(source, target, unpacked(vector, shapes), num_layers)

    return {"slopes": along(run, [weights], [[piece] for piece in one_by_one(direction, shapes)], weighting)}


def transformer_parameters(num_layers: int, d_model: int, num_heads: int, d_ff: int, vocab_size: int) -> dict[str, int]:
    """The table, and for each layer three attentions, two feed-forward networks and five norms."""
    attention = 4 * (d_model * d_model + d_model)
    feed_forward = 2 * d_model * d_ff + d_ff + d_model
    layer = 3 * attention + 2 * feed_forward + 5 * 2 * d_model
    return {"trainable_parameters": vocab_size * d_model + num_layers * layer}


def one_by_one(vector: np.ndarray, shapes: Mapping[str, tuple[int, ...]]) -> list[np.ndarray]:
    """One vector for each of the shapes packed in `vector`: that part of it, and 0 elsewhere."""
    number = np.repeat(np.arange(len(shapes)), [math.prod(shape) for shape in shapes.values()])
    return [np.where(number == each, vector, 0) for each in range(len(shapes))]


def along(
    run: Callable[..., np.ndarray],
    point: Sequence[Any],
    steps: Sequence[Sequence[Any]],
    weighting: np.ndarray,
    size: float = 1e-5,
) -> np.ndarray:
    """Derivatives of ``sum(run(*point) * weighting)`` along each of the steps; central differences in float64."""
    point = [each.astype("float64") for each in point]

    def loss(step: Sequence[Any], sign: int) -> float:
        moved = [each + sign * size * np.asarray(part, "float64") for each, part in zip(point, step, strict=True)]
        return float(np.sum(run(*moved) * weighting.astype("float64")))

    return np.array([(loss(step, 1) - loss(step, -1)) / (2 * size) for step in steps])


def answers(entry: str) -> dict[str, Any]:
    """The answers by hand."""
    found = {
        "inference": "b",
        "vocabulary": "c",
        "untracked": "a",
        "base_model": np.array([512.0, 8.0, 2048.0, 6.0]),
    }
    return {"answer": found[entry]}


def predict(words: int, smoothing: float) -> dict[str, np.ndarray]:
    """The entropy of a smoothed target (nats), below which no cross-entropy with it goes."""
    p = (1 - smoothing) * np.eye(words)[0] + smoothing / words
    return {"prediction": np.asarray(cross_entropy(p, p)["output"])}
