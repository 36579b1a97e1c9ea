"""Mistakes of lab 08: in masks, the decoder block, the Transformer, losses on distributions, the schedule, decoding."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from autograder.mistaken.attention import masked_softmax, softmax
from autograder.mistaken.encoder_block import ACTIVATIONS, layer_norm
from autograder.oracles.decoder_and_masking import (
    along,
    decoder_block_shapes,
    one_by_one,
    spread,
    third_erased,
    transformer_shapes,
)
from autograder.oracles.encoder_block import unpacked

Weights = Mapping[str, np.ndarray]


def causal_mask(length: int, *, shape: str = "lower") -> dict[str, np.ndarray]:
    """True where the key's position (column) is not after the query's (row)."""
    query, key = np.arange(length)[:, None], np.arange(length)
    made = {
        "lower": key <= query,
        "upper": key >= query,
        "strictly lower": key < query,
        "strictly upper": key > query,
        "additive": np.where(key <= query, 0.0, -np.inf),
        "large negative": np.where(key <= query, 0.0, -1e9),
        "with batch": (key <= query)[None],
    }
    return {"output": made[shape]}


def padding_mask(ids: np.ndarray, pad_id: int = 0, *, kind: str = "real", axes: str = "B1S", ignored: bool = False):
    """True where a token is not padding, with an axis of size 1 for the queries. ids (B, S) -> (B, 1, S)."""
    kept = ids != (0 if ignored else pad_id)
    if kind == "inverted":
        kept = ~kept
    if kind == "positive":
        kept = ids > pad_id
    shaped = {
        "B1S": lambda: kept[:, None, :],
        "BS": lambda: kept,
        "BS1": lambda: kept[:, :, None],
        "B11S": lambda: kept[:, None, None, :],
        "BSS": lambda: kept[:, None, :] & kept[:, :, None],
    }[axes]()
    return {"output": shaped}


def combine_masks(
    count: int, mask_1: Any = None, mask_2: Any = None, mask_3: Any = None, *, how: str = "and"
) -> dict[str, Any]:
    """The masks joined by "and", broadcast against each other; None blocks nothing, and None is what no mask gives."""
    given = [np.asarray(mask).astype(bool) for mask in (mask_1, mask_2, mask_3)[:count] if mask is not None]
    if not given:
        return {"output": None}
    if how == "sum":
        joined = given[0].astype("int64")
        for mask in given[1:]:
            joined = joined + mask
        return {"output": joined}
    if how in ("first", "last"):
        return {"output": given[0] if how == "first" else given[-1]}
    joined = given[0]
    for mask in given[1:2] if how == "only two" else given[1:]:
        joined = {"or": joined | mask, "nand": joined & mask, "xor": joined ^ mask}.get(how, joined & mask)
    return {"output": ~joined if how == "nand" else joined}


def shift_right(ids: np.ndarray, start_id: int, *, kind: str = "right") -> dict[str, np.ndarray]:
    """The start id, then all ids but the last one. ids (B, T) -> (B, T)."""
    start = np.full_like(ids[:, :1], start_id)
    made = {
        "right": lambda: np.concatenate([start, ids[:, :-1]], axis=1),
        "longer": lambda: np.concatenate([start, ids], axis=1),
        "left": lambda: np.concatenate([ids[:, 1:], start], axis=1),
        "rolled": lambda: np.roll(ids, 1, axis=1),
        "rolled all": lambda: np.roll(ids, 1),
        "rolled all, started": lambda: np.concatenate([start, np.roll(ids, 1)[:, 1:]], axis=1),
        "replaced": lambda: np.concatenate([start, ids[:, 1:]], axis=1),
        "zero": lambda: np.concatenate([start * 0, ids[:, :-1]], axis=1),
        "down": lambda: np.concatenate([np.full_like(ids[:1], start_id), ids[:-1]], axis=0),
        "shorter": lambda: np.concatenate([start, ids[:, :-1]], axis=1)[:, 1:],
    }
    return {"output": made[kind]()}


def _attention(
    x: np.ndarray, memory: np.ndarray, w: Weights, name: str, mask: Any, masking: str = "block", dropout: Any = None
) -> np.ndarray:
    """Multi-head attention as `keras.layers.MultiHeadAttention` computes it. x (B, T, D), memory (B, S, D)."""
    heads = len(w[f"{name}.query.bias"])

    def projected(tokens: np.ndarray, part: str) -> np.ndarray:
        flat = tokens @ w[f"{name}.{part}.kernel"].reshape(tokens.shape[-1], -1) + w[f"{name}.{part}.bias"].ravel()
        return flat.reshape(*tokens.shape[:2], heads, -1).transpose(0, 2, 1, 3)  # (B, H, S, K)

    q = projected(x, "query")
    scores = q @ projected(memory, "key").swapaxes(-1, -2) / math.sqrt(q.shape[-1])
    if mask is not None:
        mask = np.asarray(mask).astype(bool)
        mask = mask[:, None] if mask.ndim == 3 else mask[None, None]  # the axis of the heads
    weights = masked_softmax(scores, mask, masking=masking)
    if dropout is not None:
        weights = dropout(weights)
    joined = (weights @ projected(memory, "value")).transpose(0, 2, 1, 3).reshape(*x.shape[:2], -1)  # (B, T, H·K)
    output = joined @ w[f"{name}.output.kernel"].reshape(-1, x.shape[-1]) + w[f"{name}.output.bias"]
    return output.astype(x.dtype)


def _self_mask(length: int, causal: str) -> np.ndarray | None:
    """The mask (T, T) of a decoder's self-attention. A query that may see nothing sees all, as in Keras."""
    query, key = np.arange(length)[:, None], np.arange(length)
    if causal == "none":
        return None
    if causal == "strict":
        return (key < query) | (query == 0)
    if causal == "inverted":
        return (key > query) | (query == length - 1)
    return key >= query if causal == "reversed" else key <= query


def _transform(x: np.ndarray, w: Weights, activation: str = "relu") -> np.ndarray:
    return ACTIVATIONS[activation](x @ w["in.kernel"] + w["in.bias"]) @ w["out.kernel"] + w["out.bias"]


def _decode(
    x: np.ndarray,
    memory: np.ndarray,
    w: Weights,
    memory_mask: Any,
    dropping: bool = False,
    *,
    causal: str = "lower",
    masking: str = "block",
    cross_mask: str = "given",
    cross_source: str = "memory",
    cross_query: str = "stream",
    order: str = "self, cross",
    residual: tuple[bool, bool, bool] = (True, True, True),
    second_base: str = "stream",
    third_base: str = "stream",
    feed_input: str = "stream",
    norms: tuple[str, str, str] = ("norm1", "norm2", "norm3"),
    norm_place: str = "after the sum",
    drop: str = "before the sum",
    drops: tuple[int, ...] = (0, 1, 2),
    eps: float = 1e-6,
    activation: str = "relu",
) -> np.ndarray:
    dropping = (dropping and drop != "never") or drop == "always"

    def normalised(h: np.ndarray, place: int) -> np.ndarray:
        return layer_norm(h, w[f"{norms[place]}.gamma"], w[f"{norms[place]}.beta"], eps)["output"]

    def dropped(h: np.ndarray, place: int, where: str) -> np.ndarray:
        actual = drop if drop in ("after the sum", "after the norm", "on the input") else "before the sum"
        if not dropping or actual != where or drops[place] < 0:
            return h
        return third_erased(h, drops[place])

    def attend_self(h: np.ndarray) -> np.ndarray:
        return _attention(h, h, w, "self", _self_mask(x.shape[1], causal))

    def attend_cross(h: np.ndarray) -> np.ndarray:
        mask = memory_mask if cross_mask == "given" else np.tri(h.shape[1], memory.shape[1], dtype=bool)
        if cross_source == "x":
            return _attention(h, h, w, "cross", None)
        return _attention(h, memory, w, "cross", mask, masking if mask is memory_mask else "block")

    layers: Sequence[Callable[[np.ndarray], np.ndarray]] = (attend_self, attend_cross)
    if order == "cross, self":
        layers = layers[::-1]
    stream, first = x, x
    for place, layer in enumerate((*layers, lambda h: _transform(h, w, activation))):
        base, source = stream, stream
        if place == 1:
            first = stream
            base = x if second_base == "block input" else base
            source = x if cross_query == "block input" else source
        if place == 2:
            base = {"block input": x, "first sum": first}.get(third_base, base)
            source = {"block input": x, "first sum": first}.get(feed_input, source)
        inner = normalised(source, place) if norm_place == "before the sub-layer" else source
        h = dropped(layer(dropped(inner, place, "on the input")), place, "before the sum")
        h = normalised(h, place) if norm_place == "before the sum" else h
        stream = dropped(base + h if residual[place] else h, place, "after the sum")
        stream = normalised(stream, place) if norm_place == "after the sum" else stream
        stream = dropped(stream, place, "after the norm")
    return stream


def decoder_block(
    x: np.ndarray,
    memory: np.ndarray,
    d_model: int,
    num_heads: int,
    d_ff: int,
    weights: np.ndarray | None = None,
    memory_mask: Any = None,
    cut: int | None = None,
    weighting: np.ndarray | None = None,
    direction: np.ndarray | None = None,
    direction_x: np.ndarray | None = None,
    direction_memory: np.ndarray | None = None,
    *,
    mode: str = "call",
    key_dim: str = "D/H",
    **flags: Any,
) -> dict[str, Any]:
    """One decoder block, post-norm: self-attention that cannot look ahead, attention over the memory, feed-forward
    network, each with dropout, sum and layer norm (Vaswani et al. 2017, section 3.1).

    Args:
        x: (B, T, D).
        memory: (B, S, D).
        weights: all weights end to end, in the order of `decoder_block_shapes`.
        memory_mask: (T, S), (B, T, S) or (B, 1, S); true where a query may attend.
        cut: for the mode ``prefix``, how many tokens the second call sees.
    """
    shapes = decoder_block_shapes(d_model, num_heads, d_ff)
    if mode == "parameters":
        wider = (num_heads - 1) * d_model if key_dim == "D" else 0  # columns that heads of width D have too many
        extra = 2 * (3 * (d_model * wider + wider) + wider * d_model)
        return {"trainable_parameters": sum(math.prod(shape) for shape in shapes.values()) + extra}
    if key_dim != "D/H":
        raise ValueError("weights for D/H do not fit into this block")
    if mode == "dropped":
        return {}  # left to chance: a property judges it

    assert weights is not None  # all modes but those above give them

    def run(x: np.ndarray, memory: np.ndarray, vector: np.ndarray) -> np.ndarray:
        return _decode(x, memory, unpacked(vector, shapes), memory_mask, mode == "training", **flags)

    if mode in ("slopes", "graph"):
        _only_without(flags)
    if mode == "slopes":
        assert direction is not None and weighting is not None
        steps = [
            (direction_x, 0, 0),
            (0, direction_memory, 0),
            *((0, 0, each) for each in one_by_one(direction, shapes)),
        ]
        return {"slopes": along(run, (x, memory, weights), steps, weighting)}
    if mode == "prefix":
        return {"whole": run(x, memory, weights)[:, :cut], "prefix": run(x[:, :cut], memory, weights)}
    return {"output": run(x, memory, weights)}


def _only_without(flags: Mapping[str, Any]) -> None:
    """Slopes and graphs tell nothing of a mistake that the values have not told; hundreds of runs are saved."""
    if flags:
        raise ValueError("this mode is not asked for with a mistake")


def _positions(length: int, d_model: int, first: int = 0, layout: str = "in turn") -> np.ndarray:
    """Sinusoidal positions (Vaswani et al. 2017, section 3.5): even columns sine, odd ones cosine."""
    angles = (np.arange(length) + first)[:, None] / 10_000.0 ** (np.arange(0, d_model, 2) / d_model)
    if layout == "sines first":
        return np.concatenate([np.sin(angles), np.cos(angles)], axis=-1)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(length, d_model)


def transformer(
    source: np.ndarray,
    target: np.ndarray,
    num_layers: int,
    d_model: int,
    num_heads: int,
    d_ff: int,
    vocab_size: int,
    max_length: int,
    dropout: float = 0.1,
    weights: np.ndarray | None = None,
    cut: int | None = None,
    weighting: np.ndarray | None = None,
    direction: np.ndarray | None = None,
    *,
    mode: str = "call",
    tables: int = 1,
    tracked: bool = True,
    output_bias: bool = False,
    learned_positions: bool = False,
    shared_blocks: bool = False,
    key_dim: str = "D/H",
    **flags: Any,
) -> dict[str, Any]:
    """The encoder-decoder Transformer, post-norm, with one table for source, target and output (section 3.4).

    All weights of one kind are the same: `weights` holds the kinds, end to end in the order of `transformer_shapes`.
    Logits of padding in the target are left free (NaN).
    """
    if mode == "parameters":
        width = d_model if key_dim == "D" else d_model // num_heads
        attention = 4 * d_model * num_heads * width + 3 * num_heads * width + d_model
        feed = 2 * d_model * d_ff + d_ff + d_model
        count = (1 if shared_blocks else num_layers) * (3 * attention + 2 * feed + 10 * d_model)
        count += (tables * vocab_size * d_model if tracked else 0) + (vocab_size if output_bias else 0)
        return {"trainable_parameters": count + (max_length * d_model if learned_positions else 0)}
    if learned_positions or key_dim != "D/H":
        raise ValueError("the weights do not fit into this model")
    assert weights is not None  # all modes but the one above give them
    shapes = transformer_shapes(d_model, num_heads, d_ff, vocab_size)

    def run(target: np.ndarray, vector: np.ndarray) -> np.ndarray:
        return _transformer(
            source, target, unpacked(vector, shapes), num_layers, num_heads, mode == "training", **flags
        )

    if mode in ("slopes", "graph"):
        _only_without(flags)
    if mode == "slopes":
        assert direction is not None and weighting is not None
        steps = [[piece] for piece in one_by_one(direction, shapes)]
        return {"slopes": along(lambda vector: run(target, vector), [weights], steps, weighting)}
    if mode == "prefix":
        return {"whole": run(target, weights)[:, :cut], "prefix": run(target[:, :cut], weights)}
    logits = np.where((target == 0)[..., None], np.nan, run(target, weights)).astype(weights.dtype)
    if mode in ("training", "inference"):
        return {"logits": logits, "rates": np.array([flags.get("rate") or dropout])}
    return {"logits": logits}


def _transformer(
    source: np.ndarray,
    target: np.ndarray,
    table: Weights,
    num_layers: int,
    num_heads: int,
    training: bool,
    *,
    scale: str = "√D",
    positions: str = "both",
    first_position: int = 0,
    layout: str = "in turn",
    encoder_mask: str = "padding",
    memory_mask: str = "padding",
    causal: str = "lower",
    memory_from: str = "last block",
    logits: str = "scores",
    eps: float = 1e-6,
    norm_place: str = "after the sum",
    drop: str = "right",
    rate: float | None = None,
) -> np.ndarray:
    w, embedding = spread(table), table["embedding"]
    d_model = embedding.shape[-1]
    dropping = (training and drop != "never") or drop == "always"

    def dropped(h: np.ndarray, is_embedding: bool = False) -> np.ndarray:
        if not dropping or (is_embedding and drop == "not on embeddings"):
            return h
        return third_erased(h, 1)

    def embedded(ids: np.ndarray, name: str) -> np.ndarray:
        places = _positions(ids.shape[1], d_model, first_position, layout) if positions in ("both", name) else 0.0
        factor = {"√D": math.sqrt(d_model), "after": math.sqrt(d_model), "none": 1.0, "divided": d_model**-0.5}[scale]
        rows = (embedding[ids] + places) * factor if scale == "after" else embedding[ids] * factor + places
        return dropped(rows.astype(embedding.dtype), is_embedding=True)

    def normalised(h: np.ndarray) -> np.ndarray:
        return layer_norm(h, table["gamma"], table["beta"], eps)["output"]

    def attend(h: np.ndarray, memory: np.ndarray, mask: Any) -> np.ndarray:
        dropout = (lambda h: third_erased(h, 1)) if dropping and drop == "attention too" else None
        return _attention(h, memory, w, "self", mask, dropout=dropout)

    def half(h: np.ndarray, layer: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        if norm_place == "before the sub-layer":
            return h + dropped(layer(normalised(h)))
        return normalised(h + dropped(layer(h)))

    real = (source != 0)[:, None]
    masks = {"padding": real, "none": None, "inverted": ~real}
    seen = np.tri(source.shape[1], dtype=bool) & real if encoder_mask == "causal" else masks[encoder_mask]
    own = _self_mask(target.shape[1], causal)
    x = embedded(source, "source")
    outputs = [x]
    for _ in range(num_layers):
        x = half(x, lambda h: attend(h, h, seen))
        x = half(x, lambda h: _transform(h, w))
        outputs.append(x)
    y = embedded(target, "target")
    for number in range(num_layers):
        memory = {"last block": outputs[-1], "same block": outputs[number + 1], "embedding": outputs[0]}[memory_from]
        y = half(y, lambda h: attend(h, h, own))
        y = half(y, partial(attend, memory=memory, mask=masks[memory_mask]))
        y = half(y, lambda h: _transform(h, w))
    scores = y @ embedding.T
    if logits == "scaled":
        return scores / math.sqrt(d_model)
    if logits == "log softmax":
        return np.log(softmax(scores))
    return scores if logits == "scores" else softmax(scores, _axis(logits))


def _axis(logits: str) -> int:
    return {"softmax": -1, "softmax over positions": -2}[logits]


def answers(
    entry: str, *, model: str = "base", inference: str = "b", vocabulary: str = "c", untracked: str = "a"
) -> dict[str, Any]:
    """The answers by hand: the numbers of a model, and a letter for each of three questions."""
    numbers = {
        "base": [512.0, 8.0, 2048.0, 6.0],
        "bert": [768.0, 12.0, 3072.0, 12.0],
        "both stacks": [512.0, 8.0, 2048.0, 12.0],
    }
    letters = {"inference": inference, "vocabulary": vocabulary, "untracked": untracked}
    return {"answer": letters.get(entry) or np.array(numbers[model])}


def predict(words: int, smoothing: float, *, thought: str = "right") -> dict[str, np.ndarray]:
    """The lowest loss with a smoothed target; `thought` chooses a wrong one."""
    right, other = 1 - smoothing + smoothing / words, smoothing / words
    entropy = -right * np.log(right) - (words - 1) * other * np.log(other)
    found = {
        "right": entropy,
        "no smoothing": 0.0,
        "right word alone": -np.log(right),
        "untrained": np.log(words),
        "bits": entropy / np.log(2),
    }
    return {"prediction": np.asarray(found[thought])}
