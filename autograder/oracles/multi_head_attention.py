"""Oracles of lab 03: splitting and merging heads, the layers, their parameters and cache, Keras's weights, ablation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograder.oracles.attention import scaled_dot_product_attention

DENSE = {"query": "w_q", "key": "w_k", "value": "w_v", "output": "w_o"}


def split(x: np.ndarray, num_heads: int) -> np.ndarray:
    """(B, T, D) -> (B, H, T, D/H): head h of a token is the h-th block of its features (Vaswani et al. 2017, 3.2.2)."""
    batch, length, width = x.shape
    return x.reshape(batch, length, num_heads, width // num_heads).transpose(0, 2, 1, 3)


def merge(x: np.ndarray) -> np.ndarray:
    """(B, H, T, K) -> (B, T, H·K), the way back."""
    batch, heads, length, size = x.shape
    return x.transpose(0, 2, 1, 3).reshape(batch, length, heads * size)


def split_heads(x: np.ndarray, num_heads: int) -> dict[str, np.ndarray]:
    """`split` under the name of its result."""
    return {"output": split(x, num_heads)}


def merge_heads(x: np.ndarray) -> dict[str, np.ndarray]:
    """`merge` under the name of its result."""
    return {"output": merge(x)}


def multi_head_attention(
    num_heads: int,
    query: np.ndarray,
    key: np.ndarray,
    value: np.ndarray,
    w_q_kernel: np.ndarray,
    w_q_bias: np.ndarray,
    w_k_kernel: np.ndarray,
    w_k_bias: np.ndarray,
    w_v_kernel: np.ndarray,
    w_v_bias: np.ndarray,
    w_o_kernel: np.ndarray,
    w_o_bias: np.ndarray,
    mask: Any = None,
    return_weights: bool = False,
) -> dict[str, np.ndarray]:
    """Multi-head attention with D/H features per head (Vaswani et al. 2017, section 3.2.2), biases included.

    Args:
        query, key, value: (B, T, D), (B, S, D), (B, S, D).
        mask: (T, S), (B, T, S) or (B, 1, T, S); true where a query may attend.

    Returns:
        ``output`` (B, T, D) and, if asked for, ``weights`` (B, H, T, S). Rows without any key are NaN in both.
    """
    q = split(query @ w_q_kernel + w_q_bias, num_heads)
    k = split(key @ w_k_kernel + w_k_bias, num_heads)
    v = split(value @ w_v_kernel + w_v_bias, num_heads)
    if np.ndim(mask) == 3:
        mask = np.asarray(mask)[:, None]  # the axis of the heads
    result = scaled_dot_product_attention(q, k, v, mask)
    output = {"output": merge(result["output"]) @ w_o_kernel + w_o_bias}
    return {**output, "weights": result["weights"]} if return_weights else output


def layer_parameters(d_model: int) -> dict[str, int]:
    """Four Dense layers (D, D) with bias."""
    return {"trainable_parameters": 4 * (d_model * d_model + d_model)}


def refused() -> dict[str, str]:
    """What does not fit is refused with a ValueError."""
    return {"raised": "ValueError"}


def mha_parameter_count(
    d_model: int, num_heads: int, key_dim: int | None = None, value_dim: int | None = None, use_bias: bool = True
) -> dict[str, int]:
    """Weights of W_Q, W_K (D, H·key_dim), W_V (D, H·value_dim) and W_O (H·value_dim, D), with their biases.

    The sizes are those of `keras.layers.MultiHeadAttention`; the paper's are key_dim = value_dim = D/H.
    """
    key_dim = d_model // num_heads if key_dim is None else key_dim
    keys, values = num_heads * key_dim, num_heads * (key_dim if value_dim is None else value_dim)
    kernels = 2 * d_model * keys + d_model * values + values * d_model
    biases = 2 * keys + values + d_model
    return {"output": kernels + biases if use_bias else kernels}


def load_keras_weights(
    d_model: int,
    parts: Sequence[str],
    keras_query_kernel: np.ndarray,
    keras_query_bias: np.ndarray,
    keras_key_kernel: np.ndarray,
    keras_key_bias: np.ndarray,
    keras_value_kernel: np.ndarray,
    keras_value_bias: np.ndarray,
    keras_output_kernel: np.ndarray,
    keras_output_bias: np.ndarray,
) -> dict[str, np.ndarray]:
    """Kernels (D, H, K) become (D, H·K), head after head; the output kernel (H, K, D) becomes (H·K, D)."""
    kernels = (keras_query_kernel, keras_key_kernel, keras_value_kernel, keras_output_kernel)
    biases = (keras_query_bias, keras_key_bias, keras_value_bias, keras_output_bias)
    mine: dict[str, np.ndarray] = {
        f"{name}.kernel": kernel.reshape(d_model, d_model) for name, kernel in zip(DENSE.values(), kernels, strict=True)
    }
    mine |= {f"{name}.bias": bias.reshape(-1) for name, bias in zip(DENSE.values(), biases, strict=True)}
    return {part: mine[part] for part in parts}


def ablate_heads(head_outputs: np.ndarray, keep: Sequence[int]) -> dict[str, np.ndarray]:
    """head_outputs (B, H, T, K) with the heads that are not in `keep` set to zero (Michel et al. 2019, section 2.3)."""
    stays = np.isin(np.arange(head_outputs.shape[1]), np.asarray(list(keep), int))
    return {"output": np.where(stays[:, None, None], head_outputs, head_outputs.dtype.type(0))}


def grouped_query_attention(
    num_heads: int,
    num_kv_heads: int,
    query: np.ndarray,
    key: np.ndarray,
    value: np.ndarray,
    w_q_kernel: np.ndarray,
    w_q_bias: np.ndarray,
    w_k_kernel: np.ndarray,
    w_k_bias: np.ndarray,
    w_v_kernel: np.ndarray,
    w_v_bias: np.ndarray,
    w_o_kernel: np.ndarray,
    w_o_bias: np.ndarray,
    mask: Any = None,
    return_weights: bool = False,
) -> dict[str, np.ndarray]:
    """Grouped-query attention (Ainslie et al. 2023, section 2.2): H query heads share G heads of keys and values.

    Query head h reads key head h // (H/G). Other arguments and results as for `multi_head_attention`.
    """
    q = split(query @ w_q_kernel + w_q_bias, num_heads)
    shared = np.arange(num_heads) // (num_heads // num_kv_heads)
    k = split(key @ w_k_kernel + w_k_bias, num_kv_heads)[:, shared]
    v = split(value @ w_v_kernel + w_v_bias, num_kv_heads)[:, shared]
    if np.ndim(mask) == 3:
        mask = np.asarray(mask)[:, None]  # the axis of the heads
    result = scaled_dot_product_attention(q, k, v, mask)
    output = {"output": merge(result["output"]) @ w_o_kernel + w_o_bias}
    return {**output, "weights": result["weights"]} if return_weights else output


def grouped_parameters(d_model: int, num_heads: int, num_kv_heads: int) -> dict[str, int]:
    """W_Q and W_O are (D, D), W_K and W_V (D, G·K); each has a bias as wide as its output."""
    shared = num_kv_heads * (d_model // num_heads)
    return {"trainable_parameters": 2 * (d_model + 1) * d_model + 2 * (d_model + 1) * shared}


def kv_cache_numbers(length: int, num_layers: int, num_kv_heads: int, head_dim: int, batch: int = 1) -> dict[str, int]:
    """A key and a value for each token, layer and key head (Shazeer 2019, section 2.4)."""
    return {"output": 2 * batch * num_layers * num_kv_heads * head_dim * length}


def heads_beside_tokens(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> dict[str, np.ndarray]:
    """Attention of every head where the heads stand behind the tokens. q (B, T, H, K), k, v (B, S, H, K)."""
    q, k, v = (each.swapaxes(1, 2) for each in (q, k, v))
    return {"output": scaled_dot_product_attention(q, k, v)["output"].swapaxes(1, 2)}


def share_of_parameters() -> dict[str, float]:
    """The parameters of a grouped layer over those of the multi-head layer, D = 512, H = 8, G = 2."""
    grouped = grouped_parameters(512, 8, 2)["trainable_parameters"]
    return {"value": grouped / layer_parameters(512)["trainable_parameters"]}
