"""Oracles of lab 09: patches and tubelets, their embedding, the Vision Transformer, its size, attention rollout."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from autograder.oracles.encoder_block import attended, normalised
from autograder.oracles.patches import patches_of
from coursekit.probes.vision_transformer import by_role


def embedded(
    images: np.ndarray,
    patch_size: int,
    kernel: np.ndarray,
    bias: np.ndarray,
    class_token: np.ndarray,
    positions: np.ndarray,
) -> np.ndarray:
    """Projected patches with a class token in front, plus positions: (B, h, w, C) -> (B, N + 1, D).

    Source: Dosovitskiy et al. 2021, equation 1.
    """
    tokens = patches_of(images, patch_size) @ kernel + bias
    front = np.broadcast_to(class_token, (len(tokens), 1, tokens.shape[-1]))
    return np.concatenate([front, tokens], axis=1) + positions


def patch_embedding(
    images: np.ndarray,
    patch_size: int,
    projection_kernel: np.ndarray,
    projection_bias: np.ndarray,
    class_token: np.ndarray,
    position_embedding: np.ndarray,
) -> dict[str, np.ndarray]:
    """`embedded` under the name of its result."""
    tokens = embedded(images, patch_size, projection_kernel, projection_bias, class_token, position_embedding)
    return {"output": tokens}


def patch_embedding_parameters(
    projection_kernel: np.ndarray, projection_bias: np.ndarray, class_token: np.ndarray, position_embedding: np.ndarray
) -> dict[str, int]:
    """All four weights learn."""
    weights = (projection_kernel, projection_bias, class_token, position_embedding)
    return {"trainable_parameters": sum(each.size for each in weights)}


def gelu(x: np.ndarray) -> np.ndarray:
    """x·Φ(x), with the distribution function of the normal distribution (Hendrycks and Gimpel 2016)."""
    return (x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))).astype(x.dtype)


def vit_logits(images: np.ndarray, w: Mapping[str, np.ndarray], patch_size: int, num_layers: int) -> np.ndarray:
    """Logits of a Vision Transformer: pre-norm encoder, final norm, class token, one Dense layer.

    Source: Dosovitskiy et al. 2021, equations 1 to 4. All blocks, and all norms, have the same weights here.
    """

    def norm(h: np.ndarray) -> np.ndarray:
        return normalised(h, w["norm.gamma"], w["norm.beta"])

    kernel, bias = w["projection.kernel"], w["projection.bias"]
    x = embedded(images, patch_size, kernel, bias, w["class_token"], w["position_embedding"])
    for _ in range(num_layers):
        x = x + attended(norm(x), w, None)
        hidden = gelu(norm(x) @ w["dense_in.kernel"] + w["dense_in.bias"])
        x = x + hidden @ w["dense_out.kernel"] + w["dense_out.bias"]
    return norm(x)[:, 0] @ w["head.kernel"] + w["head.bias"]


def vit(
    image_shape: tuple[int, int, int],
    patch_size: int,
    num_classes: int,
    num_layers: int,
    d_model: int,
    num_heads: int,
    d_ff: int,
    images: np.ndarray,
    weights: np.ndarray,
) -> dict[str, np.ndarray]:
    """`vit_logits` with the weights of the roles end to end. images (B, h, w, C) -> (B, classes)."""
    sizes = _sizes(image_shape, patch_size, num_classes, d_model, num_heads, d_ff)
    return {"logits": vit_logits(images, by_role(weights, sizes), patch_size, num_layers)}


def _sizes(
    image_shape: tuple[int, int, int], patch_size: int, num_classes: int, d_model: int, num_heads: int, d_ff: int
) -> dict[str, Any]:
    return {
        **{"image_shape": image_shape, "patch_size": patch_size, "num_classes": num_classes},
        **{"d_model": d_model, "num_heads": num_heads, "d_ff": d_ff},
    }


def vit_slopes(
    image_shape: tuple[int, int, int],
    patch_size: int,
    num_classes: int,
    num_layers: int,
    d_model: int,
    num_heads: int,
    d_ff: int,
    images: np.ndarray,
    weights: np.ndarray,
    weighting: np.ndarray,
    direction: np.ndarray,
) -> dict[str, np.ndarray]:
    """Derivatives of ``sum(logits * weighting)`` along `direction`, role by role."""
    sizes = _sizes(image_shape, patch_size, num_classes, d_model, num_heads, d_ff)

    def run(vector: np.ndarray) -> np.ndarray:
        return vit_logits(images.astype("float64"), by_role(vector, sizes), patch_size, num_layers)

    return {"slopes": role_by_role(run, weights, weighting, direction, sizes)}


def role_by_role(
    run: Any,
    vector: np.ndarray,
    weighting: np.ndarray,
    direction: np.ndarray,
    sizes: Mapping[str, Any],
    step: float = 1e-5,
) -> np.ndarray:
    """Derivatives of ``sum(run(vector) * weighting)`` along `direction`, role by role; central differences."""
    vector, weighting = vector.astype("float64"), weighting.astype("float64")
    slopes = []
    for places in by_role(np.arange(len(vector)), sizes).values():
        change = np.zeros_like(vector)
        change[places.ravel()] = direction[places.ravel()]
        upper, lower = (run(vector + sign * step * change) for sign in (1, -1))
        slopes.append(float(np.sum((upper - lower) * weighting)) / (2 * step))
    return np.array(slopes)


def vit_parameters(
    image_shape: tuple[int, int, int], patch_size: int, num_classes: int, num_layers: int, d_model: int, d_ff: int
) -> dict[str, int]:
    """`vit_size` for images that need not be square."""
    height, width, channels = image_shape
    patches = (height // patch_size) * (width // patch_size)
    return {"trainable_parameters": vit_size(patches, patch_size**2 * channels, d_model, num_layers, d_ff, num_classes)}


def vit_size(patches: int, pixels: int, d_model: int, num_layers: int, d_ff: int, num_classes: int | None) -> int:
    """Patch projection, class token, positions; per block attention, feed-forward network, norms; final norm, head."""
    front = pixels * d_model + d_model + d_model + (patches + 1) * d_model
    attention = 4 * (d_model * d_model + d_model)
    feed_forward = 2 * d_model * d_ff + d_ff + d_model
    blocks = num_layers * (attention + feed_forward + 2 * 2 * d_model)
    head = d_model * num_classes + num_classes if num_classes else 0
    return front + blocks + 2 * d_model + head


def vit_parameter_count(
    image_size: int,
    patch_size: int,
    channels: int,
    d_model: int,
    num_layers: int,
    d_ff: int,
    num_classes: int | None = None,
) -> dict[str, int]:
    """Trainable numbers of a Vision Transformer for square images (Dosovitskiy et al. 2021, table 1)."""
    patches = (image_size // patch_size) ** 2
    return {"output": vit_size(patches, patch_size**2 * channels, d_model, num_layers, d_ff, num_classes)}


def vit_dropout(dropout: float = 0.0) -> dict[str, np.ndarray]:
    """In training, chance acts after the embedding and in both halves of a block; outside of it nowhere."""
    return {"in_training": np.full(3, int(dropout > 0)), "at_inference": np.zeros(3, int)}


def train_vit(unseen: np.ndarray, num_classes: int) -> dict[str, Any]:
    """What is true after a training, in words; the logits are free, their accuracy is a property."""
    free = np.full((len(unseen), num_classes), np.nan)
    return {"returns": "logits", "fits": "its training images", "logits": free}


def attention_rollout(attentions: np.ndarray) -> dict[str, np.ndarray]:
    """How much each token's start contributes to each token's end (Abnar and Zuidema 2020, section 3, equation 1).

    Args:
        attentions: weights (L, B, H, T, T), rows are queries.

    Returns:
        (B, T, T).
    """
    maps = (attentions.mean(axis=2) + np.eye(attentions.shape[-1], dtype=attentions.dtype)) / 2
    maps = maps / maps.sum(axis=-1, keepdims=True)
    rollout = maps[0]
    for each in maps[1:]:
        rollout = each @ rollout
    return {"output": rollout}


def answers(entry: str) -> dict[str, Any]:
    """The answers to the questions at the end of the lab."""
    found = {
        "class_token_numbers": 768.0,
        "rollout_patch": np.array(divmod(6, 4), "float64"),
        "shuffled_patches": "b",
    }
    return {"answer": found[entry]}


def predict(width: int) -> dict[str, np.ndarray]:
    """The standard deviation of the cosine of two random directions: a direction's number has the variance 1/D."""
    return {"prediction": np.asarray(np.sqrt(width * (1 / width) ** 2))}
