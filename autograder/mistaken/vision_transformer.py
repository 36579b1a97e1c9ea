"""Mistakes of lab 09: in patches and tubelets, their embedding, the Vision Transformer, its size, attention rollout."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from autograder.mistaken.attention import masked_softmax, softmax
from autograder.mistaken.encoder_block import ACTIVATIONS, layer_norm
from autograder.mistaken.patches import extract_patches
from autograder.oracles.vision_transformer import role_by_role
from coursekit.probes.vision_transformer import by_role

PLACES = ("embedding", "attention", "feed-forward")


def patch_embedding(
    images: np.ndarray,
    patch_size: int,
    num_patches: int,
    d_model: int,
    projection_kernel: np.ndarray,
    projection_bias: np.ndarray,
    class_token: np.ndarray,
    position_embedding: np.ndarray,
    *,
    mode: str = "call",
    class_place: str = "first",
    class_value: str = "learned",
    positions: str = "all",
    joined: str = "sum",
    token_factor: str = "1",
    activation: str = "none",
    tracked: str = "both",
    order: str = "rows",
    turned: bool = False,
    channels_first: bool = False,
    how: str = "blocks",
) -> dict[str, Any]:
    """Projected patches with a class token in front, plus positions: (B, h, w, C) -> (B, N + 1, D).

    Source: Dosovitskiy et al. 2021, equation 1.
    """
    if mode == "parameters":
        count = projection_kernel.size + d_model
        count += d_model if tracked in ("both", "class token") else 0
        return {"trainable_parameters": count + (position_embedding.size if tracked in ("both", "positions") else 0)}
    patches = extract_patches(images, patch_size, order=order, turned=turned, channels_first=channels_first, how=how)[
        "output"
    ]
    tokens = np.einsum("bnp,pd->bnd", patches, projection_kernel) + projection_bias
    tokens = ACTIVATIONS[activation](tokens) * {"1": 1.0, "√D": math.sqrt(d_model)}[token_factor]
    return {
        "output": _with_class_token(
            tokens, class_token, position_embedding, class_place, class_value, positions, joined
        )
    }


def _with_class_token(
    tokens: np.ndarray,
    class_token: np.ndarray,
    rows: np.ndarray,
    class_place: str,
    class_value: str,
    positions: str,
    joined: str,
) -> np.ndarray:
    """Join the class token and the tokens (B, N, D), and add the rows of the position table (1, N + 1, D)."""
    own = np.broadcast_to(class_token, (len(tokens), *class_token.shape[1:])) * (class_value == "learned")
    if class_place == "added to every token":
        return (tokens + own + rows[:, 1:]).astype(tokens.dtype)
    if class_place == "missing":
        return tokens + rows[:, 1:]
    parts = [own, tokens] if class_place == "first" else [tokens, own]
    joint = np.concatenate(parts, axis=1).astype(tokens.dtype)
    none = np.zeros_like(rows[:, :1])
    table = {
        "all": rows,
        "none": np.zeros_like(rows),
        "patches only": np.concatenate([none, rows[:, 1:]], axis=1),
        "patches only, from row 0": np.concatenate([none, rows[:, :-1]], axis=1),
        "class token in the last row": np.roll(rows, 1, axis=1),
        "class token only": np.concatenate([rows[:, :1], np.zeros_like(rows[:, 1:])], axis=1),
    }[positions]
    if class_place == "last" and positions.startswith(("patches", "class")):
        table = np.roll(table, -1, axis=1)
    return joint * table if joined == "product" else joint + table


def vit(
    image_shape: tuple[int, int, int],
    patch_size: int,
    num_classes: int,
    num_layers: int,
    d_model: int,
    num_heads: int,
    d_ff: int,
    dropout: float = 0.0,
    images: np.ndarray | None = None,
    weights: np.ndarray | None = None,
    weighting: np.ndarray | None = None,
    direction: np.ndarray | None = None,
    *,
    mode: str = "call",
    key_dim: str = "D/H",
    blocks: str = "each its own",
    norms: str = "two",
    final_norm: bool = True,
    tracked: str = "both",
    drop: str = "everywhere",
    drop_when: str = "in training, at its rate",
    **flags: Any,
) -> dict[str, Any]:
    """Logits of a Vision Transformer: pre-norm encoder, final norm, class token, one Dense layer.

    Source: Dosovitskiy et al. 2021, equations 1 to 4. All blocks have the same weights here.

    Args:
        images, weights: (B, h, w, C), and the weights of the roles, end to end; not needed for the mode ``parameters``.
        weighting, direction: for the mode ``slopes``, the sum whose derivatives are asked for, and along what.
    """
    sizes = dict(image_shape=image_shape, patch_size=patch_size, num_classes=num_classes, d_model=d_model)
    sizes |= dict(num_heads=num_heads, d_ff=d_ff)
    depth = 1 if blocks == "only one" else num_layers
    if mode == "parameters":
        height, width, channels = image_shape
        count = _count(
            pixels=patch_size**2 * channels,
            patches=height // patch_size * (width // patch_size),
            d_model=d_model,
            num_layers=1 if blocks == "shared" else depth,
            d_ff=d_ff,
            num_classes=num_classes,
            attention_width=d_model * (num_heads if key_dim == "D" else 1),
            class_token=tracked != "positions",
            positions="all" if tracked != "class token" else "none",
            norms=2 if norms == "two" else 1,
            final_norm=final_norm,
        )
        return {"trainable_parameters": count}
    if mode == "dropout":
        return _dropouts(dropout, drop, drop_when, flags.get("residuals", (True, True)))
    if key_dim == "D":
        raise ValueError("weights for D/H do not fit into this model")
    assert images is not None and weights is not None  # all modes but those above give them
    settings = {**flags, "norms": norms, "final_norm": final_norm}

    def run(vector: np.ndarray) -> np.ndarray:
        return _vit(images.astype(vector.dtype), by_role(vector, sizes), patch_size, depth, **settings)

    if mode == "slopes":
        assert weighting is not None and direction is not None
        return {"slopes": role_by_role(run, weights, weighting, direction, sizes)}
    return {"logits": run(weights)}


def _dropouts(rate: float, drop: str, when: str, residuals: tuple[bool, bool]) -> dict[str, np.ndarray]:
    """Where a call in training and one outside of it are left to chance: tokens, attention, feed-forward network.

    What is not handed on along a residual path is not seen from outside, once the sub-layers are silent.
    """
    seen = np.array([all(residuals), residuals[1], True])
    where = seen & [drop == "everywhere" or place in drop.split(", ") for place in PLACES]
    acting = rate > 0 or when == "at a rate of its own"
    return {
        "in_training": where.astype("int64") * int(acting and when != "never"),
        "at_inference": where.astype("int64") * int(acting and when == "always"),
    }


def _vit(
    images: np.ndarray,
    w: Mapping[str, np.ndarray],
    patch_size: int,
    depth: int,
    *,
    norm_place: str = "pre",
    final_norm: bool = True,
    read: str = "class token",
    output: str = "logits",
    positions: str = "all",
    class_place: str = "first",
    order: str = "rows",
    turned: bool = False,
    channels_first: bool = False,
    how: str = "blocks",
    **flags: Any,
) -> np.ndarray:
    patches = extract_patches(images, patch_size, order=order, turned=turned, channels_first=channels_first, how=how)[
        "output"
    ]
    tokens = np.einsum("bnp,pd->bnd", patches, w["projection.kernel"]) + w["projection.bias"]
    x = _with_class_token(tokens, w["class_token"], w["position_embedding"], class_place, "learned", positions, "sum")
    for _ in range(depth):
        x = _block(x, w, norm_place=norm_place, **flags)
    if final_norm:
        x = layer_norm(x, w["norm.gamma"], w["norm.beta"], flags.get("eps", 1e-6))["output"]
    summary = {
        "class token": lambda: x[:, 0],
        "last token": lambda: x[:, -1],
        "first patch": lambda: x[:, 1],
        "mean of all": lambda: x.mean(axis=1),
        "mean of patches": lambda: x[:, 1:].mean(axis=1),
        "largest": lambda: x.max(axis=1),
    }[read]()
    logits = np.einsum("bd,dk->bk", summary, w["head.kernel"]) + w["head.bias"]
    return {
        "logits": lambda: logits,
        "softmax": lambda: softmax(logits),
        "sigmoid": lambda: ACTIVATIONS["sigmoid"](logits),
    }[output]()


def _block(
    x: np.ndarray,
    w: Mapping[str, np.ndarray],
    *,
    norm_place: str,
    norms: str = "two",
    eps: float = 1e-6,
    activation: str = "gelu",
    activated: str = "hidden",
    residuals: tuple[bool, bool] = (True, True),
    residual_from: str = "token",
    value_input: str = "normed",
    feed_input: str = "first sum",
    causal: bool = False,
) -> np.ndarray:
    """One block of the encoder, (B, T, D) -> (B, T, D)."""

    def normed(h: np.ndarray, half: str) -> np.ndarray:
        if norms == f"{half} missing":
            return h
        return layer_norm(h, w["norm.gamma"], w["norm.beta"], eps)["output"]

    stream = x
    for number, half in enumerate(("first", "second")):
        start = x if number and feed_input == "block input" else stream
        inner = normed(start, half) if norm_place == "pre" else start
        if half == "first":
            raw = {"normed": (), "raw": ("value",), "raw, as the keys": ("key", "value")}[value_input]
            h = _attention({each: start if each in raw else inner for each in ("query", "key", "value")}, w, causal)
        else:
            h = _feed_forward(inner, w, activation, activated)
        base = inner if residual_from in ("normed", f"{half} normed") else stream
        stream = base + h if residuals[number] else h
        stream = normed(stream, half) if norm_place == "post" else stream
    return stream


def _attention(parts: Mapping[str, np.ndarray], w: Mapping[str, np.ndarray], causal: bool) -> np.ndarray:
    q, k, v = (
        np.einsum("btd,dhk->bhtk", each, w[f"{name}.kernel"]) + w[f"{name}.bias"][:, None]
        for name, each in parts.items()
    )
    scores = np.einsum("bhtk,bhsk->bhts", q, k) / math.sqrt(q.shape[-1])
    allowed = np.tril(np.ones(scores.shape[-2:], bool)) if causal else None
    heads = np.einsum("bhts,bhsk->bthk", masked_softmax(scores, allowed), v)
    return (np.einsum("bthk,hkd->btd", heads, w["output.kernel"]) + w["output.bias"]).astype(parts["query"].dtype)


def _feed_forward(x: np.ndarray, w: Mapping[str, np.ndarray], activation: str, activated: str) -> np.ndarray:
    act = ACTIVATIONS[activation]
    hidden = act(np.einsum("btd,df->btf", x, w["dense_in.kernel"]) + w["dense_in.bias"])
    result = np.einsum("btf,fd->btd", hidden, w["dense_out.kernel"]) + w["dense_out.bias"]
    return act(result) if activated == "hidden, output" else result


def vit_parameter_count(
    image_size: int,
    patch_size: int,
    channels: int,
    d_model: int,
    num_layers: int,
    d_ff: int,
    num_classes: int | None = None,
    *,
    pixels: str = "P·P·C",
    patches: str = "squared",
    **flags: Any,
) -> dict[str, int]:
    """Trainable numbers of a Vision Transformer for square images (Dosovitskiy et al. 2021, table 1)."""
    side = image_size // patch_size
    return {
        "output": _count(
            pixels={"P·P·C": patch_size**2 * channels, "P·P": patch_size**2, "P·C": patch_size * channels}[pixels],
            patches={"squared": side**2, "one side": side, "pixels": image_size**2}[patches],
            d_model=d_model,
            num_layers=num_layers,
            d_ff=d_ff,
            num_classes=num_classes,
            attention_width=d_model,
            **flags,
        )
    }


def _count(
    *,
    pixels: int,
    patches: int,
    d_model: int,
    num_layers: int,
    d_ff: int,
    num_classes: int | None,
    attention_width: int,
    class_token: bool = True,
    class_tokens: str = "one",
    positions: str = "all",
    attention_bias: str = "all",
    attention_matrices: int = 4,
    feed_forward_bias: bool = True,
    feed_forward_matrices: int = 2,
    norms: int = 2,
    per_norm: int = 2,
    final_norm: bool = True,
    head_bias: bool = True,
    head: str = "one layer",
    depth: str = "num_layers",
) -> int:
    """Patch projection, class token, positions; per block attention, feed-forward network, norms; final norm, head."""
    front = (num_classes or 1) if class_tokens == "one per class" else 1
    count = pixels * d_model + d_model + (front * d_model if class_token else 0)
    count += {"all": patches + front, "none": 0}[positions] * d_model
    width = attention_width
    attention = attention_matrices * d_model * width
    attention += {"all": 3 * width + d_model, "inputs": 3 * width, "output": d_model, "none": 0}[attention_bias]
    feed = feed_forward_matrices * d_model * d_ff
    feed += d_ff + d_model if feed_forward_bias else 0
    count += (1 if depth == "one" else num_layers) * (attention + feed + norms * per_norm * d_model)
    count += per_norm * d_model if final_norm else 0
    if num_classes is None:
        return count
    hidden = d_model * d_model + d_model if head == "with a hidden layer" else 0
    return (
        count
        + {"one layer": d_model, "with a hidden layer": d_model, "none": 0}[head] * num_classes
        + hidden
        + (num_classes if head_bias and head != "none" else 0)
    )


def train_vit(unseen: np.ndarray, num_classes: int, *, returns: str = "logits", learned: bool = True) -> dict[str, Any]:
    """What is true after a training, in words; the logits are free, their accuracy is a property."""
    return {
        "returns": returns,
        "fits": "its training images" if learned else "nothing",
        "logits": np.full((len(unseen), num_classes), np.nan),
    }


def attention_rollout(
    attentions: np.ndarray,
    *,
    heads: str = "mean",
    identity: str = "half",
    normalised: str = "rows",
    product: str = "last on the left",
    layers: str = "all",
    transposed: bool = False,
) -> dict[str, np.ndarray]:
    """How much each token's start contributes to each token's end (Abnar and Zuidema 2020, section 3, equation 1).

    Args:
        attentions: weights (L, B, H, T, T), rows are queries.

    Returns:
        (B, T, T).
    """
    if heads == "one by one":
        rest: dict[str, Any] = dict(identity=identity, normalised=normalised, product=product, layers=layers)
        rest["transposed"] = transposed
        each = [attention_rollout(attentions[:, :, [h]], **rest)["output"] for h in range(attentions.shape[2])]
        return {"output": np.mean(each, axis=0)}
    joined = {
        "mean": lambda: attentions.mean(axis=2),
        "sum": lambda: attentions.sum(axis=2),
        "largest": lambda: attentions.max(axis=2),
        "smallest": lambda: attentions.min(axis=2),
        "first": lambda: attentions[:, :, 0],
    }[heads]()
    eye = np.eye(attentions.shape[-1], dtype=attentions.dtype)
    half, one = attentions.dtype.type(0.5), attentions.dtype.type(1)
    if normalised == "rows, before":
        joined = joined / joined.sum(axis=-1, keepdims=True)
    mixed = {"half": half * joined + half * eye, "whole": joined + one * eye, "beside half": half * joined + one * eye}
    maps = mixed.get(identity, joined)
    if transposed:
        maps = maps.swapaxes(-1, -2)
    if normalised in ("rows", "columns"):
        maps = maps / maps.sum(axis=-1 if normalised == "rows" else -2, keepdims=True)
    elif normalised == "largest":
        maps = maps / maps.max(axis=-1, keepdims=True)
    maps = {
        "all": maps,
        "first twice": np.concatenate([maps[:1], maps]),
        "last": maps[-1:],
        "first": maps[:1],
        "all but the first": maps[1:] if len(maps) > 1 else maps,
    }[layers]
    rollout = maps[0]
    for each in maps[1:]:
        rollout = {
            "last on the left": lambda r=rollout, a=each: a @ r,
            "first on the left": lambda r=rollout, a=each: r @ a,
            "entry by entry": lambda r=rollout, a=each: r * a,
            "mean": lambda r=rollout, a=each: r + a,
        }[product]()
    return {"output": rollout / attentions.dtype.type(len(maps)) if product == "mean" else rollout}


def answers(
    entry: str,
    *,
    class_tokens: str = "one",
    reading: str = "right",
    shuffled: str = "b",
) -> dict[str, Any]:
    """The answers to the questions at the end of the lab."""
    learned = 768 * {"one": 1, "one per class": 1000, "one per patch": 196}[class_tokens]
    largest, grid = 6, (3, 4)
    found = {
        "right": divmod(largest, grid[1]),
        "class token counted": divmod(largest + 1, grid[1]),
        "by columns": divmod(largest, grid[0])[::-1],
        "column first": divmod(largest, grid[1])[::-1],
        "from one": tuple(each + 1 for each in divmod(largest, grid[1])),
        "class token itself": (0, 0),
    }[reading]
    return {
        "answer": {
            "class_token_numbers": float(learned),
            "rollout_patch": np.array(found, dtype="float64"),
            "shuffled_patches": shuffled,
        }[entry]
    }


def predict(width: int, *, thought: str = "right") -> dict[str, np.ndarray]:
    """The spread of the cosine of two random rows; `thought` chooses a wrong one."""
    found = {"right": 1 / math.sqrt(width), "mean": 0.0, "dot product": math.sqrt(width)}
    return {"prediction": np.asarray(found[thought])}
