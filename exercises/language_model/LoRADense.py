"""Lab 10, optional exercise `LoRADense`."""

import numpy as np

from autograder.declare import Case, Exercise, edit, seen
from exercises.drawing import normal

exercise = Exercise("LoRADense", own_probe=True)


@exercise.formula
def adapted(x, kernel, bias, a, b, rank, alpha):
    """x W + bias + (α/r) x a b, and the one matrix that does the same (Hu et al. 2021)."""
    scale = alpha / rank
    merged = kernel + scale * (a @ b)
    return {"output": x @ kernel + bias + scale * (x @ a) @ b, "merged": merged}


@exercise.formula_for("start")
def frozen(x: np.ndarray, kernel: np.ndarray, bias: np.ndarray, rank: int, alpha: float) -> dict[str, str | int]:
    """Before training: what the layer does, and what is trained."""
    thin = rank * (x.shape[-1] + kernel.shape[-1])
    return {"start": "as the frozen layer", "b": "zeros", "a": "random", "trainable_parameters": thin}


def _inputs(rng, rank: int, alpha: float, width: int = 7, columns: int = 11) -> dict:
    fixed = {
        "x": normal(rng, 2, 5, width),
        "kernel": normal(rng, width, columns),
        "bias": normal(rng, columns),
        "rank": rank,
        "alpha": alpha,
    }
    return {**fixed, "a": normal(rng, width, rank), "b": normal(rng, rank, columns)}


@exercise.group("starts as the frozen layer")
def start(rng):
    rank = int(rng.integers(2, 6))
    inputs = {key: value for key, value in _inputs(rng, rank, 2.0 * rank).items() if key not in "ab"}
    return Case(inputs, f"rank={rank}, alpha={2 * rank}, before training", mode="start")


@exercise.group("the thin product beside it, and both in one matrix")
def values(rng):
    yield Case(_inputs(rng, 3, 7.5), "rank=3, alpha=7.5")
    yield Case(_inputs(rng, 2, 1.0, 5, 5), "rank=2, alpha=1")


exercise.mistakes(
    b_random=seen({"b": "random", "start": "another result"}, see="07#three-ways")
    | "b is random, so the layer does not start as the frozen one. It should start at zeros.",
    both_zero=seen({"a": "zeros"}, see="07#three-ways")
    | "a and b are both zeros. Then neither has a gradient: a has to be random.",
    not_frozen=edit(
        "[-1] + kernel.shape[-1])", "[-1] + kernel.shape[-1]) + kernel.size + bias.size", see="07#three-ways"
    )
    | "The given layer is trained as well. `dense.trainable = False` freezes it.",
    nothing_trained=edit("rank * (x.shape[-1] + kernel.shape[-1])", "0 * rank")
    | "The layer has no trainable weight. Keras tracks what `self.add_weight` makes, and no `tf.Variable`; and "
    "`self.trainable = False` would freeze a and b, too." | "What does `len(layer.trainable_variables)` say?",
    a_untracked=edit("rank * (x.shape[-1] + kernel.shape[-1])", "rank * kernel.shape[-1]")
    | "`a` is not trained: it is not among the layer's trainable weights. Keras tracks what `self.add_weight` makes, "
    "and no `tf.Variable`." | "What does `len(layer.trainable_variables)` say?",
    scale_missing=edit("alpha / rank", "1.0") | "The product is not scaled by alpha / rank.",
    alpha_alone=edit("alpha / rank", "alpha") | "The product is scaled by alpha; divide by the rank.",
    merged_unscaled=edit("kernel + scale * (a @ b)", "kernel + a @ b")
    | "The merged matrix lacks the factor alpha / rank.",
    merged_is_kernel=edit("kernel + scale * (a @ b)", "kernel") | "merged() gives the frozen matrix alone.",
    bias_lost=edit("x @ kernel + bias + scale", "x @ kernel + scale")
    | seen({"start": "as the frozen layer without its bias"})
    | "The bias of the given layer is lost: call the layer itself.",
)

exercise.advice(
    start="b starts at zeros, so the product is 0; a starts at random, or nothing would ever be learned. "
    "`dense.trainable = False` freezes."
)
exercise.hints(start="`self.dense(x)` is the frozen part. What is added has the shape (…, out) as well.")
