"""Lab 02, exercise `SelfAttention`."""

import numpy as np

from autograder.declare import Case, Exercise, edit
from exercises.drawing import normal, one_of, partial_mask, size_other_than
from exercises.formulas.attention import scaled_dot_product_attention
from exercises.self_attention import shared
from exercises.self_attention.shared import project_qkv


def _layer_inputs(rng, batch: int = 2, length: int = 5, width: int = 7, d_k: int = 3) -> dict:
    d_v = 11
    return {
        "d_k": d_k,
        "d_v": d_v,
        "x": normal(rng, batch, length, width),
        "w_q.kernel": normal(rng, width, d_k),
        "w_k.kernel": normal(rng, width, d_k),
        "w_v.kernel": normal(rng, width, d_v),
    }


exercise = Exercise(
    "SelfAttention",
    layer={
        "init": ("d_k", "d_v"),
        "call": ("x",),
        "weights": ("w_q.kernel", "w_k.kernel", "w_v.kernel"),
        "optional": ("attention_mask",),
        "with_weights": "weights",
    },
    probe_only=("d_k", "d_v"),
    forbidden=shared.BUILT_IN_ATTENTION,
    uses=("scaled_dot_product_attention",),
)


@exercise.formula
def self_attention_layer(x, w_q_kernel, w_k_kernel, w_v_kernel, attention_mask=None, return_weights=False):
    """Self-attention of x (B, T, D) with learned projections; mask (T, S), (B, T, S), (B, 1, S) or (B, 1, T, S)."""
    mask = attention_mask
    if np.ndim(mask) == 4:
        mask = np.asarray(mask)[:, 0]
    projections = project_qkv(x, w_q_kernel, w_k_kernel, w_v_kernel)
    result = scaled_dot_product_attention(**projections, mask=mask)
    return result if return_weights else {"output": result["output"]}


@exercise.formula_for("parameters")
def number_of_parameters(w_q_kernel: np.ndarray, w_k_kernel: np.ndarray, w_v_kernel: np.ndarray) -> dict[str, int]:
    """Three Dense layers without bias have the numbers of their kernels."""
    kernels = [w_q_kernel, w_k_kernel, w_v_kernel]
    return {"trainable_parameters": int(sum(kernel.size for kernel in kernels))}


@exercise.group("right values", points=2)
def values(rng):
    yield Case(_layer_inputs(rng), "x (2, 5, 7), d_k=3, d_v=11")
    yield Case({**_layer_inputs(rng), "return_weights": True}, "x (2, 5, 7), return_weights=True")


@exercise.group("masks of shape (T, S), (B, T, S) and (B, 1, S)")
def masked(rng):
    return [
        Case({**_layer_inputs(rng), "attention_mask": mask, "return_weights": True}, f"x (2, 5, 7), mask {mask.shape}")
        for mask in (partial_mask(rng, 5, 5), partial_mask(rng, 2, 5, 5), partial_mask(rng, 2, 1, 5))
    ]


@exercise.group("mask of shape (B, 1, T, S)")
def mask_with_head_axis(rng):
    """The second case has one token: only the axis for the heads is to be taken out, not every axis of size 1."""
    one_token = _layer_inputs(rng, length=1)
    return [
        Case({**_layer_inputs(rng), "attention_mask": partial_mask(rng, 2, 1, 5, 5)}, "x (2, 5, 7), mask (2, 1, 5, 5)"),
        Case({**one_token, "attention_mask": np.ones((2, 1, 1, 1), bool)}, "x (2, 1, 7), mask (2, 1, 1, 1)"),
    ]


@exercise.group("three Dense layers without bias")
def parameters(rng):
    width, d_k = size_other_than(rng, 6, 29, 11), one_of(rng, 3, 4, 5)
    description = f"trainable parameters, d_model={width}, d_k={d_k}, d_v=11"
    return Case(_layer_inputs(rng, width=width, d_k=d_k), description, mode="parameters")


exercise.training(lambda rng: {**_layer_inputs(rng), "attention_mask": partial_mask(rng, 2, 5, 5)})

PROJECTED = "project_qkv(x, w_q_kernel, w_k_kernel, w_v_kernel)"

exercise.mistakes(
    unscaled=shared.UNSCALED,
    scaled_by_d=shared.SCALED_BY_D,
    scaled_by_d_model=edit(
        PROJECTED, "project_qkv(x, w_q_kernel * (w_q_kernel.shape[-1] / x.shape[-1]) ** 0.5, w_k_kernel, w_v_kernel)"
    )
    | "The scores are divided by the root of d_model, not of d_k.",
    scaled_by_d_v=edit(shared.ROOT, "math.sqrt(v.shape[-1])")
    | "The scores are divided by the root of d_v, not of d_k.",
    softmax_over_queries=shared.OVER_QUERIES,
    no_softmax=shared.NO_SOFTMAX,
    mask_ignored=shared.MASK_MISTAKES["mask_ignored"],
    mask_inverted=shared.MASK_MISTAKES["mask_inverted"],
    mask_added=shared.MASK_MISTAKES["mask_added"],
    mask_zeroes_scores=shared.MASK_MISTAKES["mask_zeroes_scores"],
    mask_after_softmax=shared.MASK_MISTAKES["mask_after_softmax"],
    head_axis_kept=edit("np.asarray(mask)[:, 0]", "np.asarray(mask)")
    | "The mask (B, 1, T, S) keeps its axis for the heads, and the result gets one axis too many."
    | "`len(attention_mask.shape)` is 4 for this mask alone. Which of its axes has the size 1?",
    activated=edit('np.einsum("...td,dk->...tk", x, weight)', 'np.maximum(np.einsum("...td,dk->...tk", x, weight), 0)')
    | "The projections have an activation. They are matrix products alone: `Dense` gets no `activation`.",
    query_key_swapped=edit(PROJECTED, "project_qkv(x, w_k_kernel, w_q_kernel, w_v_kernel)")
    | "w_q makes the keys and w_k the queries; exchange the two.",
    one_dense=edit(PROJECTED, "project_qkv(x, w_k_kernel, w_k_kernel, w_v_kernel)")
    | edit("kernels = [w_q_kernel, w_k_kernel, w_v_kernel]", "kernels = [w_k_kernel, w_v_kernel]")
    | "One Dense layer makes the queries and the keys. Each of them has a layer of its own.",
    one_projection=edit(PROJECTED, "project_qkv(x, w_q_kernel, w_q_kernel, w_v_kernel)")
    | "Queries and keys come from the same projection, w_q.",
    values_from_keys=edit(PROJECTED, "project_qkv(x, w_q_kernel, w_k_kernel, w_k_kernel)")
    | "The values come from w_k instead of w_v.",
    values_unprojected=edit(PROJECTED, "project_qkv(x, w_q_kernel, w_k_kernel, np.eye(x.shape[-1]))")
    | "The values are the inputs themselves: w_v is not used.",
    dense_with_bias=edit("kernel.size for", "kernel.size + kernel.shape[-1] for")
    | "The Dense layers have a bias; this exercise asks for none.",
)

exercise.advice(
    mask_with_head_axis="A mask made for several heads has an axis of size 1 for them. This layer has no such axis: "
    "take it out.",
    training="Inside a layer use `keras.ops` (or TensorFlow operations): NumPy stops both graphs and gradients.",
)
exercise.hints(
    values=(
        "Make the three Dense layers in `__init__` with `use_bias=False`, and keep them as `self.w_q`, `self.w_k`, "
        "`self.w_v`.",
        "`call` projects x three times and passes the results, with the mask, to the function that you wrote before.",
        "With `return_weights=True` return (output, weights), otherwise the output alone.",
    ),
    masked="Does the mask reach `scaled_dot_product_attention`, by its name, and each of the three shapes as it is?",
    mask_with_head_axis="`len(attention_mask.shape)` is 4 for this mask alone. Which of its axes has the size 1?",
    parameters="A Dense layer has a bias unless you set `use_bias=False`.",
    training="Follow the call into the functions that it uses: does one of them call NumPy, or `if` on a tensor such "
    "as `tf.rank(mask)`? `len(mask.shape)` is a number. All layers are made in `__init__`.",
)
