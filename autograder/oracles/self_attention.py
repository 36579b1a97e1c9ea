"""Oracles of lab 02: self-attention with and without parameters, in blocks, causal, its cost, numbers by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograder.oracles.attention import scaled_dot_product_attention, softmax


def plain_self_attention(x: np.ndarray) -> dict[str, np.ndarray]:
    """softmax(XXᵀ / √D) X, self-attention without parameters. x (…, T, D) -> ``output`` (…, T, D)."""
    return {"output": scaled_dot_product_attention(x, x, x)["output"]}


def project_qkv(x: np.ndarray, w_q: np.ndarray, w_k: np.ndarray, w_v: np.ndarray) -> dict[str, np.ndarray]:
    """Q = XW_q, K = XW_k, V = XW_v. x (…, T, D), w_q (D, d_k), w_k (D, d_k), w_v (D, d_v)."""
    return {name: np.einsum("...td,dk->...tk", x, w) for name, w in {"q": w_q, "k": w_k, "v": w_v}.items()}


def self_attention_layer(
    x: np.ndarray,
    w_q_kernel: np.ndarray,
    w_k_kernel: np.ndarray,
    w_v_kernel: np.ndarray,
    mask: Any = None,
    return_weights: bool = False,
) -> dict[str, np.ndarray]:
    """Self-attention of x (B, T, D) with learned projections; mask (T, S), (B, T, S), (B, 1, S) or (B, 1, T, S)."""
    if np.ndim(mask) == 4:
        mask = np.asarray(mask)[:, 0]
    result = scaled_dot_product_attention(**project_qkv(x, w_q_kernel, w_k_kernel, w_v_kernel), mask=mask)
    return result if return_weights else {"output": result["output"]}


def self_attention_parameters(w_q_kernel: np.ndarray, w_k_kernel: np.ndarray, w_v_kernel: np.ndarray) -> dict[str, int]:
    """Three Dense layers without bias have the numbers of their kernels."""
    return {"trainable_parameters": w_q_kernel.size + w_k_kernel.size + w_v_kernel.size}


def attention_cost(length: int, d_model: int) -> dict[str, int]:
    """Multiply-adds of QKᵀ and of weights·V (T²·D each), and the number of weights (Vaswani et al. 2017, table 1)."""
    return {"multiply_adds": 2 * length**2 * d_model, "weights_entries": length**2}


HAND_X = np.array([[1, 2, 3, 4], [2, 4, 8, 7], [1, 2, 1, 2]], "float64")
HAND_W_Q = np.array([[1, 1, 1], [0, 0, 0], [2, 1, 1], [3, 2, 4]], "float64")
HAND_W_K = np.array([[1, 0, 2], [0, 1, 1], [1, 1, 0], [0, 1, 0]], "float64")


def hand_calculation(entry: str) -> dict[str, Any]:
    """The numbers that lab 02 asks for: a key by hand, two scaled scores, their weights, what √d_k is for.

    Scores 126 and 120 with d_k = 36 become 21 and 20; their softmax is 0.7311 and 0.2689.
    """
    scaled = np.array([126.0, 120.0]) / np.sqrt(36)
    answers = {
        "key_row": HAND_X[1] @ HAND_W_K,
        "scaled_scores": scaled,
        "weights": softmax(scaled),
        "without_scaling": "b",
    }
    return {"answer": answers[entry]}


def online_attention(q: np.ndarray, k: np.ndarray, v: np.ndarray, block_size: int) -> dict[str, np.ndarray]:
    """Attention without a mask: reading keys in blocks changes the memory, not the result (Dao et al. 2022, 3.1)."""
    return {"output": scaled_dot_product_attention(q, k, v)["output"]}


def few_scores_at_once() -> dict[str, str]:
    """A matrix (T, S) of scores is never held."""
    return {"all_scores": "never held"}


def causal_self_attention(x: np.ndarray, w_q: np.ndarray, w_k: np.ndarray, w_v: np.ndarray) -> dict[str, np.ndarray]:
    """Self-attention in which token t mixes the values of tokens 0 to t. x (…, T, D) -> ``output`` (…, T, d_v)."""
    past = np.tri(x.shape[-2], dtype=bool)
    return {"output": scaled_dot_product_attention(**project_qkv(x, w_q, w_k, w_v), mask=past)["output"]}


def spread_of_scaled_scores() -> dict[str, float]:
    """Entries of deviation 2 give products of deviation 4, 100 of them a sum of deviation 40, and 40 / √100 is 4."""
    return {"value": 2 * 2 * math.sqrt(100) / math.sqrt(100)}
