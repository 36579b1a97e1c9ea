"""Mistakes of lab 02: in self-attention with and without parameters, in blocks, causal, its cost, numbers by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograder.mistaken.attention import scaled_dot_product_attention, softmax
from autograder.oracles.self_attention import HAND_W_K, HAND_W_Q, HAND_X


def plain_self_attention(
    x: np.ndarray,
    *,
    exclude_self: bool = False,
    return_weights: bool = False,
    unchanged: bool = False,
    features: bool = False,
    causal: bool = False,
    **flags: Any,
) -> dict[str, np.ndarray]:
    """softmax(XXᵀ / √D) X, self-attention without parameters. x (…, T, D) -> ``output`` (…, T, D)."""
    if unchanged:
        return {"output": x}
    if features:  # XᵀX in place of XXᵀ: one weight for each pair of features
        columns = np.swapaxes(x, -1, -2)
        weights = softmax(columns @ x / np.sqrt(x.shape[-1]).astype(x.dtype))
        return {"output": x @ weights}
    mask = ~np.eye(x.shape[-2], dtype=bool) if exclude_self else None
    if causal:
        mask = np.tri(x.shape[-2], dtype=bool)
    result = scaled_dot_product_attention(x, x, x, mask, **flags)
    return {"output": result["weights"] if return_weights else result["output"]}


def project_qkv(
    x: np.ndarray,
    w_q: np.ndarray,
    w_k: np.ndarray,
    w_v: np.ndarray,
    *,
    order: str = "qkv",
    transposed: bool = False,
    one_matrix: bool = False,
    matrices_used: str = "qkv",
) -> dict[str, np.ndarray]:
    """Q = XW_q, K = XW_k, V = XW_v. x (…, T, D), w_q (D, d_k), w_k (D, d_k), w_v (D, d_v)."""
    given = {"q": w_q, "k": w_k, "v": w_v, "1": np.eye(x.shape[-1], dtype=x.dtype)}
    used = "qqq" if one_matrix else matrices_used
    matrices = {name: given[matrix] for name, matrix in zip("qkv", used, strict=True)}
    if transposed:
        matrices = {name: matrix.T for name, matrix in matrices.items()}
    made = {name: np.einsum("...td,dk->...tk", x, matrix) for name, matrix in matrices.items()}
    return {name: made[source] for name, source in zip("qkv", order, strict=True)}


def self_attention_layer(
    x: np.ndarray,
    w_q_kernel: np.ndarray,
    w_k_kernel: np.ndarray,
    w_v_kernel: np.ndarray,
    mask: Any = None,
    return_weights: bool = False,
    *,
    mode: str = "call",
    bias: bool = False,
    roles: str = "qkv",
    values_unprojected: bool = False,
    **flags: Any,
) -> dict[str, Any]:
    """Self-attention of x (B, T, D) with learned projections; mask (T, S), (B, T, S) or (B, 1, T, S)."""
    kernels = {"q": w_q_kernel, "k": w_k_kernel, "v": w_v_kernel}
    if mode == "parameters":
        count = sum(kernel.size + bias * kernel.shape[-1] for kernel in kernels.values())
        return {"trainable_parameters": int(count)}
    if mask is not None and np.ndim(mask) == 4:
        mask = np.asarray(mask)[:, 0]
    q, k = (np.einsum("btd,dk->btk", x, kernels[role]) for role in roles[:2])
    v = x if values_unprojected else np.einsum("btd,dv->btv", x, kernels[roles[2]])
    if flags.get("scale") == "sqrt_d_model":
        flags["scale"] = float(np.sqrt(x.shape[-1]))
    result = scaled_dot_product_attention(q, k, v, mask, **flags)
    return result if return_weights else {"output": result["output"]}


def attention_cost(
    length: int,
    d_model: int,
    *,
    products: int = 2,
    length_power: int = 2,
    width_power: int = 1,
    entries: str = "T²",
    factor: int = 1,
    projections: bool = False,
) -> dict[str, int]:
    """Multiply-adds of QKᵀ and of weights·V (T²·D each), and the number of weights (Vaswani et al. 2017, table 1)."""
    counts = {"T²": length * length, "TD": length * d_model, "2T²": 2 * length * length, "3D²": 3 * d_model**2}
    return {
        "multiply_adds": factor * products * length**length_power * d_model**width_power
        + (3 * length * d_model**2 if projections else 0),
        "weights_entries": counts[entries],
    }


def hand_calculation(
    entry: str, *, scaling: str = "√d_k", queries_for_keys: bool = False, row: int = 1, effect: str = "right"
) -> dict:
    """The numbers that lab 02 asks for: a key by hand, two scaled scores, their weights, what √d_k is for.

    Scores 126 and 120 with d_k = 36 become 21 and 20; their softmax is 0.7311 and 0.2689.
    """
    keys = HAND_X @ (HAND_W_Q if queries_for_keys else HAND_W_K)
    scores = np.array([126.0, 120.0])
    scaled = {"√d_k": scores / 6, "d_k": scores / 36, "none": scores}[scaling]
    answers = {
        "key_row": keys[row],
        "scaled_scores": scaled,
        "weights": softmax(scaled),
        "without_scaling": {"right": "b", "flatter": "a", "nothing": "c", "sum": "d"}[effect],
    }
    return {"answer": answers[entry]}


def online_attention(
    q: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    block_size: int,
    *,
    mode: str = "call",
    held: str = "never held",
    scale: str = "sqrt_d_k",
    rescaled: str = "both",
    peak: str = "running",
    first_peak: float = -np.inf,
    rest: str = "read",
    combined: str = "running",
    divided: str = "at the end",
) -> dict[str, Any]:
    """Attention with keys in blocks. q (T, d), k (S, d), v (S, e) -> ``output`` (T, e).

    Args:
        held: the result of the mode ``memory``.
        rescaled: ``both``, ``sum``, ``output`` or ``none``: what follows a maximum that grows.
        peak: ``running`` (right), ``block`` (one maximum for all queries), or ``none``: what is subtracted.
        first_peak: the running maximum before the first block.
        rest: ``dropped`` leaves out the keys behind the last whole block.
        combined: ``added`` or ``averaged``: blocks with a softmax each.
        divided: ``at the end`` by the sum, ``in every block`` by the sum so far, or ``never``.
    """
    if mode == "memory":
        return {"all_scores": held}
    scores = np.einsum("td,sd->ts", q, k) / {"sqrt_d_k": math.sqrt(q.shape[-1]), "none": 1.0, "d_k": q.shape[-1]}[scale]
    keys = len(k) // block_size * block_size if rest == "dropped" else len(k)
    blocks = [slice(start, min(start + block_size, keys)) for start in range(0, keys, block_size)]
    if combined != "running":
        each = [softmax(scores[:, block]) @ v[block] for block in blocks]
        return {"output": np.sum(each, axis=0) / (len(each) if combined == "averaged" else 1)}
    output, total = np.zeros((len(q), v.shape[-1]), q.dtype), np.zeros((len(q), 1), q.dtype)
    largest = np.full((len(q), 1), first_peak, q.dtype)
    for block in blocks:
        part = scores[:, block]
        top = {"running": part.max(axis=-1, keepdims=True), "block": part.max(), "none": largest}[peak]
        new = np.maximum(largest, top) if peak != "none" else np.zeros_like(largest)
        shrink = np.exp(largest - new) if peak != "none" else np.ones_like(largest)
        powers = np.exp(part - new)
        total = total * (shrink if rescaled in ("both", "sum") else 1) + powers.sum(axis=-1, keepdims=True)
        output = output * (shrink if rescaled in ("both", "output") else 1) + powers @ v[block]
        output = output / total if divided == "in every block" else output
        largest = new
    return {"output": output / total if divided == "at the end" else output}


def causal_self_attention(
    x: np.ndarray,
    w_q: np.ndarray,
    w_k: np.ndarray,
    w_v: np.ndarray,
    *,
    causal: bool = True,
    renormalised: bool = False,
    **flags: Any,
) -> dict[str, np.ndarray]:
    """Self-attention in which token t mixes the values of tokens 0 to t. x (…, T, D) -> ``output`` (…, T, d_v).

    Args:
        causal: without it every token sees all.
        renormalised: the weights of later tokens are cut off after the softmax, and the others divided by their sum.
    """
    q, k, v = project_qkv(x, w_q, w_k, w_v).values()
    past = np.tri(x.shape[-2], dtype=bool)
    if renormalised:
        weights = softmax(np.einsum("...td,...sd->...ts", q, k) / math.sqrt(q.shape[-1])) * past
        return {"output": weights / weights.sum(axis=-1, keepdims=True) @ v}
    return {"output": scaled_dot_product_attention(q, k, v, past if causal else None, **flags)["output"]}


def spread_of_scaled_scores(*, thought: float = 4.0) -> dict[str, float]:
    """The deviation of q·k / √100 where the entries of q and k have the deviation 2; `thought` is a wrong one."""
    return {"value": thought}
