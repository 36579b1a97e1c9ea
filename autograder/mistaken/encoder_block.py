"""Mistakes of lab 04: in layer norm, the feed-forward network, the encoder block, a stack of them, their parameters."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from autograder.mistaken.attention import masked_softmax
from autograder.oracles.derivatives import weight_by_weight
from autograder.oracles.encoder_block import block_shapes, block_size, half_erased, unpacked

Weights = Mapping[str, np.ndarray]
AXES = {"features": lambda rank: (-1,), "tokens": lambda rank: (-2,), "sentence": lambda rank: (-2, -1),
        "batch": lambda rank: tuple(range(rank - 1))}  # fmt: skip


def layer_norm(
    x: np.ndarray,
    gamma: np.ndarray,
    beta: np.ndarray,
    eps: float = 1e-6,
    *,
    over: str = "features",
    unbiased: bool = False,
    divisor: str = "√(σ²+ε)",
    fixed_eps: float | None = None,
    centred: bool = True,
    use_gamma: bool = True,
    use_beta: bool = True,
    swapped: bool = False,
    shift_first: bool = False,
) -> dict[str, np.ndarray]:
    """γ (x − μ) / √(σ² + ε) + β over the last axis, σ² divided by D (Ba et al. 2016, equations 3 and 4)."""
    eps = eps if fixed_eps is None else fixed_eps
    axes = AXES[over](x.ndim)
    mean = x.mean(axis=axes, keepdims=True)
    count = math.prod(x.shape[axis] for axis in axes) - int(unbiased)
    variance = ((x - mean) ** 2).sum(axis=axes, keepdims=True) / count
    by = {
        "√(σ²+ε)": lambda: np.sqrt(variance + eps),
        "σ+ε": lambda: np.sqrt(variance) + eps,
        "σ²+ε": lambda: variance + eps,
        "√max(σ²,ε)": lambda: np.sqrt(np.maximum(variance, eps)),
        "√(mean x²+ε)": lambda: np.sqrt((x**2).mean(axis=axes, keepdims=True) + eps),
        "none": lambda: np.ones_like(variance),
    }[divisor]()
    normed = (x - mean if centred else x) / by
    if swapped:
        gamma, beta = beta, gamma
    if shift_first:
        return {"output": (normed + beta) * gamma}
    normed = normed * gamma if use_gamma else normed
    return {"output": normed + beta if use_beta else normed}


def feed_forward(
    x: np.ndarray,
    dense_in_kernel: np.ndarray,
    dense_in_bias: np.ndarray,
    dense_out_kernel: np.ndarray,
    dense_out_bias: np.ndarray,
    *,
    mode: str = "call",
    activation: str = "relu",
    output_relu: bool = False,
    bias: bool = True,
    residual: bool = False,
) -> dict[str, Any]:
    """max(0, x W₁ + b₁) W₂ + b₂ for every token (Vaswani et al. 2017, equation 2). x (…, D) -> (…, D)."""
    if mode == "parameters":
        arrays = [dense_in_kernel, dense_out_kernel, *((dense_in_bias, dense_out_bias) if bias else ())]
        return {"trainable_parameters": int(sum(array.size for array in arrays))}
    hidden = np.einsum("...d,df->...f", x, dense_in_kernel) + (dense_in_bias if bias else 0)
    output = np.einsum("...f,fd->...d", ACTIVATIONS[activation](hidden), dense_out_kernel)
    output = output + (dense_out_bias if bias else 0)
    output = np.maximum(output, 0) if output_relu else output
    return {"output": output + x if residual else output}


ACTIVATIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "relu": lambda x: np.maximum(x, 0),
    "none": lambda x: x,
    "gelu": lambda x: (x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))).astype(x.dtype),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "tanh": np.tanh,
}


def _attention(x: np.ndarray, values: np.ndarray, w: Weights, mask: Any, masking: str) -> np.ndarray:
    """Multi-head self-attention as `keras.layers.MultiHeadAttention` computes it. x (B, T, D) -> (B, T, D)."""
    q = np.einsum("btd,dhk->bhtk", x, w["query.kernel"]) + w["query.bias"][:, None]
    k = np.einsum("btd,dhk->bhtk", x, w["key.kernel"]) + w["key.bias"][:, None]
    v = np.einsum("btd,dhk->bhtk", values, w["value.kernel"]) + w["value.bias"][:, None]
    scores = np.einsum("bhtk,bhsk->bhts", q, k) / math.sqrt(q.shape[-1])
    if mask is not None:
        mask = np.asarray(mask).astype(bool)
        mask = mask[:, None] if mask.ndim == 3 else mask[None, None]  # the axis of the heads
    weights = masked_softmax(scores, mask, masking=masking)
    heads = np.einsum("bhts,bhsk->bthk", weights, v)
    return (np.einsum("bthk,hkd->btd", heads, w["output.kernel"]) + w["output.bias"]).astype(x.dtype)


def _block(
    x: np.ndarray,
    w: Weights,
    norm: str,
    mask: Any,
    training: bool,
    *,
    order: str | None = None,
    masking: str = "block",
    residual: tuple[bool, bool] = (True, True),
    residual_from: str = "input",
    second_residual: str = "first sum",
    feed_input: str = "first sum",
    norms: str = "1 and 2",
    norm_place: str = "contract",
    value_input: str = "query",
    drop: str = "before the sum",
    eps: float = 1e-6,
    activation: str = "relu",
    extra_norm: tuple[str, ...] = (),
) -> np.ndarray:
    order = order or norm
    chosen = {"1 and 2": ("norm1", "norm2"), "1 twice": ("norm1", "norm1"), "2 twice": ("norm2", "norm2"),
              "swapped": ("norm2", "norm1"), "only 1": ("norm1", ""), "only 2": ("", "norm2")}[norms]  # fmt: skip
    dropping = (training and drop != "never") or drop == "always"

    def normalised(h: np.ndarray, place: int) -> np.ndarray:
        name = chosen[place]
        return layer_norm(h, w[f"{name}.gamma"], w[f"{name}.beta"], eps)["output"] if name else h

    def dropped(h: np.ndarray, place: int, where: str) -> np.ndarray:
        actual = {"after the sum": "sum", "on the input": "input"}.get(drop, "sub-layer")
        actual = "norm" if drop == "after the norm" and order == "post" else actual
        if not dropping or actual != where or (drop == "only first" and place == 1):
            return h
        return half_erased(h, 0 if drop == "first twice" else place)

    def attend(h: np.ndarray, raw: np.ndarray) -> np.ndarray:
        return _attention(h, raw if value_input == "raw" else h, w, mask, masking)

    def transform(h: np.ndarray, raw: np.ndarray) -> np.ndarray:
        weights = (w["in.kernel"], w["in.bias"], w["out.kernel"], w["out.bias"])
        return feed_forward(h, *weights, activation=activation)["output"]

    stream = x
    for place, sub_layer in enumerate((attend, transform)):
        source = x if place == 1 and feed_input == "block input" else stream
        inner = normalised(source, place) if order == "pre" else source
        h = dropped(sub_layer(dropped(inner, place, "input"), stream), place, "sub-layer")
        if norm_place == "branch" and order == "post":
            h = normalised(h, place)
        base = inner if order == "pre" and residual_from == "normed" else stream
        base = x if place == 1 and second_residual == "block input" else base
        total = dropped(base + h if residual[place] else h, place, "sum")
        stream = normalised(total, place) if order == "post" and norm_place == "contract" else total
        stream = dropped(stream, place, "norm")
    if order in extra_norm:  # a third norm has no name, so its γ and β are as they were made
        stream = layer_norm(stream, np.ones_like(x[0, 0]), np.zeros_like(x[0, 0]), eps)["output"]
    return stream


def encoder_block(
    x: np.ndarray,
    d_model: int,
    num_heads: int,
    d_ff: int,
    norm: str = "post",
    mask: Any = None,
    weights: np.ndarray | None = None,
    weighting: np.ndarray | None = None,
    direction: np.ndarray | None = None,
    direction_x: np.ndarray | None = None,
    *,
    mode: str = "call",
    key_dim: str = "D/H",
    heads: str = "H",
    norms: str = "1 and 2",
    extra_norm: tuple[str, ...] = (),
    third_dropout: bool = False,
    config: str = "complete",
    super_config: bool = True,
    **flags: Any,
) -> dict[str, Any]:
    """One encoder block, post-norm or pre-norm (Vaswani et al. 2017, section 3.1; Xiong et al. 2020, table 1).

    Args:
        x: (B, T, D).
        weights: all weights end to end, in the order of `block_shapes`.
        mask: (T, T), (B, T, T) or (B, 1, T); true where a query may attend.
        weighting, direction, direction_x: for the mode ``slopes``, the sum whose derivatives are asked for, and along
            what.

    In the mode ``repeated`` the result is whether two calls in training return the same, with `half_erased`.
    """
    if mode == "parameters":
        count = encoder_parameter_count(d_model, num_heads, d_ff, d_model if key_dim == "D" else None)["output"]
        count += 2 * d_model * (norm in extra_norm)
        return {"trainable_parameters": count}  # a norm too few has one number for several mistakes: no name for it
    if key_dim != "D/H":
        raise ValueError("weights for D/H do not fit into this block")
    if mode.startswith("dropped"):
        return {}  # left to chance: a property judges it
    if mode == "repeated":
        return {"same_again": not third_dropout}
    if mode == "renamed":
        return {"name": "kept" if super_config else "lost"}
    if third_dropout and mode == "training":
        raise ValueError("what a third dropout erases is left to chance")
    assert x is not None and weights is not None  # all modes but those above give them
    shapes = block_shapes(d_model, num_heads if heads == "H" else d_model // num_heads, d_ff)
    norm = "post" if mode == "reload" and config == "without norm" else norm

    def run(x: np.ndarray, vector: np.ndarray) -> np.ndarray:
        training = mode == "training"
        return _block(x, unpacked(vector, shapes), norm, mask, training, norms=norms, extra_norm=extra_norm, **flags)

    if mode == "slopes":
        assert weighting is not None and direction is not None and direction_x is not None
        sizes = [math.prod(shape) for shape in shapes.values()]
        return {"slopes": weight_by_weight(run, x, weights, sizes, weighting, direction, direction_x)}
    return {"output": run(x, weights)}


def encoder(
    x: np.ndarray,
    num_layers: int,
    d_model: int,
    num_heads: int,
    d_ff: int,
    norm: str = "post",
    mask: Any = None,
    weights: np.ndarray | None = None,
    weighting: np.ndarray | None = None,
    direction: np.ndarray | None = None,
    direction_x: np.ndarray | None = None,
    *,
    mode: str = "call",
    shared: bool = False,
    more_blocks: int = 0,
    reverse: bool = False,
    chained: bool = True,
    final_norm: str = "pre only",
    mask_in: str = "all",
    third_dropout: bool = False,
    **flags: Any,
) -> dict[str, Any]:
    """A stack of encoder blocks, each with weights of its own; a pre-norm stack ends with one more layer norm.

    Args:
        weights: those of the blocks, one block after the other, then γ and β of the final norm of a pre-norm stack.
        more_blocks: by how many the stack is too long; weights for `num_layers` blocks do not fit it then.

    The other arguments are those of `encoder_block`.
    """
    pre = norm == "pre"
    has_final = {"pre only": pre, "every block": pre, "never": False, "always": True}[final_norm]
    if mode == "parameters":
        blocks = (1 if shared else num_layers + more_blocks) * block_size(d_model, num_heads, d_ff)
        return {"trainable_parameters": blocks + (2 * d_model if has_final else 0)}
    if mode.startswith("dropped"):
        return {}  # left to chance: a property judges it
    if mode == "repeated":
        return {"same_again": not third_dropout and more_blocks <= 0}  # a block too many keeps its own dropouts
    if more_blocks:
        raise ValueError("the weights are those of num_layers blocks")
    if third_dropout and mode == "training":
        raise ValueError("what a third dropout erases is left to chance")
    assert x is not None and weights is not None  # all modes but those above give them
    shapes = block_shapes(d_model, num_heads, d_ff)
    size = block_size(d_model, num_heads, d_ff)

    def run(x: np.ndarray, vector: np.ndarray) -> np.ndarray:
        order = range(num_layers)[::-1] if reverse else range(num_layers)
        ends = vector[num_layers * size :] if pre else np.repeat([1, 0], d_model).astype(x.dtype)
        stream = x
        for position, number in enumerate(order, 1):
            at = (num_layers - 1 if shared else number) * size
            here = mask if mask_in == "all" or number == 0 else None
            source = stream if chained else x
            stream = _block(source, unpacked(vector[at : at + size], shapes), norm, here, mode == "training", **flags)
            if has_final and (final_norm == "every block" or position == num_layers):
                stream = layer_norm(stream, ends[:d_model], ends[d_model:])["output"]
        return stream

    if mode == "slopes":
        assert weighting is not None and direction is not None and direction_x is not None
        sizes = num_layers * [math.prod(shape) for shape in shapes.values()] + 2 * [d_model] * (norm == "pre")
        return {"slopes": weight_by_weight(run, x, weights, sizes, weighting, direction, direction_x)}
    return {"output": run(x, weights)}


def encoder_parameter_count(
    d_model: int,
    num_heads: int,
    d_ff: int,
    key_dim: int | None = None,
    *,
    default_key_dim: str = "D/H",
    heads_counted: bool = True,
    attention_bias: bool = True,
    bias_width: str = "HK",
    output_bias: str = "D",
    output_projection: bool = True,
    feed_forward_bias: bool = True,
    norms: int = 2,
    per_norm: int = 2,
    key_dim_ignored: bool = False,
    key_dim_is: str = "per head",
) -> dict[str, int]:
    """Trainable numbers of a block: attention 3·(D·HK + HK) + HK·D + D, feed-forward 2·DF + F + D, norms 4·D."""
    counted = heads_counted and (key_dim is None or key_dim_is == "per head")
    if key_dim is None or key_dim_ignored:
        key_dim = d_model // num_heads if default_key_dim == "D/H" else d_model
    width = (num_heads if counted else 1) * key_dim
    attention = 3 * (d_model * width + ({"HK": width, "D": d_model}[bias_width] if attention_bias else 0))
    if output_projection:
        bias = {"D": d_model, "HK": width, "none": 0}[output_bias]
        attention += width * d_model + (bias if attention_bias else 0)
    feed = 2 * d_model * d_ff + (d_ff + d_model if feed_forward_bias else 0)
    return {"output": attention + feed + norms * per_norm * d_model}


def rms_norm(
    x: np.ndarray,
    gamma: np.ndarray,
    eps: float = 1e-6,
    *,
    over: str = "features",
    divisor: str = "√(mean+ε)",
    centred: bool = False,
    use_gamma: bool = True,
    fixed_eps: float | None = None,
) -> dict[str, np.ndarray]:
    """γ x / √(mean x² + ε) over the last axis (Zhang and Sennrich 2019, equation 4).

    Args:
        over: ``features`` (right), ``tokens`` or ``sentence``: what the mean runs over.
        divisor: ``√mean+ε``, ``mean+ε`` (no root), ``√(sum+ε)`` or ``√(σ²+ε)`` in place of the right one.
        centred: the mean is subtracted first, as in layer norm.
    """
    eps = eps if fixed_eps is None else fixed_eps
    axis: Any = {"features": -1, "tokens": -2, "sentence": (-2, -1)}[over]
    mean = x.mean(axis=axis, keepdims=True)
    x = x - mean if centred else x
    square = (x**2).mean(axis=axis, keepdims=True)
    by = {
        "√(mean+ε)": np.sqrt(square + eps),
        "√mean+ε": np.sqrt(square) + eps,
        "mean+ε": square + eps,
        "√(sum+ε)": np.sqrt((x**2).sum(axis=axis, keepdims=True) + eps),
        "√(σ²+ε)": np.sqrt(x.var(axis=axis, keepdims=True) + eps),
    }[divisor]
    return {"output": x / by * (gamma if use_gamma else 1)}


def pre_norm_stack(
    x: np.ndarray,
    scales: np.ndarray,
    matrices: np.ndarray,
    final_scale: np.ndarray,
    *,
    carried: str = "token",
    place: str = "before",
    final: str = "once",
) -> dict[str, np.ndarray]:
    """x + tanh(norm(x) M) for each M of `matrices` (n, D, D), then a last norm.

    Args:
        carried: ``token`` (right), ``normed`` (the sum takes the norm's result), or ``nothing``.
        place: ``before`` (right), ``after`` the sum, or ``nowhere``: where the norm of a sub-layer stands.
        final: ``once`` (right), ``never``, or ``every time``.
    """

    def norm(tokens: np.ndarray, scale: np.ndarray) -> np.ndarray:
        return scale * tokens / np.abs(tokens).max(axis=-1, keepdims=True)

    for scale, matrix in zip(scales, matrices, strict=True):
        read = norm(x, scale) if place == "before" else x
        kept = {"token": x, "normed": read, "nothing": 0}[carried]
        x = kept + np.tanh(read @ matrix)
        x = norm(x, scale) if place == "after" else x
        x = norm(x, final_scale) if final == "every time" else x
    return {"output": norm(x, final_scale) if final == "once" else x}


def spread_after_sums(*, thought: float = 5.0) -> dict[str, float]:
    """The deviation of tokens after 24 sums; `thought` is a wrong one."""
    return {"value": thought}
