"""Lab 03, exercise `derive_circuits`."""

import math

import numpy as np

from autograder.declaring import Advice, Case, Exercise, wrong
from coursekit.generator import Generator
from exercises.drawing import normal

exercise = Exercise("derive_circuits", call=("w_q", "w_k", "w_v", "w_o", "num_heads"), returns=("qk", "ov"))


@exercise.formula
def circuits(
    w_q: np.ndarray, w_k: np.ndarray, w_v: np.ndarray, w_o: np.ndarray, num_heads: int
) -> tuple[np.ndarray, np.ndarray]:
    """W_Q W_Kᵀ / √K and W_V W_O of every head, (H, D, D) each (Elhage et al. 2021, "Attention heads are independent").

    Kernels w_q, w_k (D, H·K), w_v (D, H·V), w_o (H·V, D); biases are left out.
    """
    queries = columns_of_heads(w_q, num_heads)
    keys = columns_of_heads(w_k, num_heads)
    values = columns_of_heads(w_v, num_heads)
    outputs = rows_of_heads(w_o, num_heads)
    qk = queries @ keys.swapaxes(1, 2) / math.sqrt(queries.shape[2])
    ov = values @ outputs
    return qk, ov


def columns_of_heads(kernel: np.ndarray, num_heads: int) -> np.ndarray:
    """(D, H·K) -> (H, D, K): head h has the h-th block of columns."""
    width, columns = kernel.shape
    return kernel.reshape(width, num_heads, columns // num_heads).transpose(1, 0, 2)


def rows_of_heads(kernel: np.ndarray, num_heads: int) -> np.ndarray:
    """(H·V, D) -> (H, V, D): head h has the h-th block of rows."""
    rows, width = kernel.shape
    return kernel.reshape(num_heads, rows // num_heads, width)


def values_cut_by_keys(
    w_q: np.ndarray, w_k: np.ndarray, w_v: np.ndarray, w_o: np.ndarray, num_heads: int
) -> tuple[np.ndarray, np.ndarray]:
    """The circuits, with w_v and w_o cut into heads as wide as the keys."""
    return circuits_cut(w_q, w_k, w_v, w_o, num_heads, w_q.shape[1] // num_heads)


def heads_cut_by_tokens(
    w_q: np.ndarray, w_k: np.ndarray, w_v: np.ndarray, w_o: np.ndarray, num_heads: int
) -> tuple[np.ndarray, np.ndarray]:
    """The circuits, with all kernels cut into heads D/H wide."""
    return circuits_cut(w_q, w_k, w_v, w_o, num_heads, len(w_q) // num_heads)


def circuits_cut(
    w_q: np.ndarray, w_k: np.ndarray, w_v: np.ndarray, w_o: np.ndarray, num_heads: int, width: int
) -> tuple[np.ndarray, np.ndarray]:
    """The circuits of heads that are `width` columns wide, whatever the kernels have."""
    blocks = [slice(head * width, (head + 1) * width) for head in range(num_heads)]
    qk = np.stack([w_q[:, block] @ w_k[:, block].T / math.sqrt(width) for block in blocks])
    return qk, np.stack([w_v[:, block] @ w_o[block] for block in blocks])


def _kernels(rng: Generator, width: int, heads: int, key_dim: int, value_dim: int) -> dict:
    return {
        "w_q": normal(rng, width, heads * key_dim),
        "w_k": normal(rng, width, heads * key_dim),
        "w_v": normal(rng, width, heads * value_dim),
        "w_o": normal(rng, heads * value_dim, width),
        "num_heads": heads,
    }


@exercise.group(
    "one head",
    points=1,
    advice=Advice(
        value="Write q = x W_Q and k = y W_K into the score q·k/√K. Which product is left between x on the left and "
        "y on the right? For the output, do the same with v = y W_V.",
        shape="Both circuits stand between two tokens of width D: (H, D, D), also when H is 1.",
    ),
)
def one_head(rng: Generator) -> list[Case]:
    return [Case(_kernels(rng, 7, 1, 7, 7)), Case(_kernels(rng, 5, 1, 5, 5))]


@exercise.group(
    "several heads, K = D/H",
    points=2,
    advice=Advice(
        value="Head h has its own columns of w_q, w_k and w_v, those that `split_heads` would give it. Which part of "
        "w_o reads what it wrote?",
        shape="There is one (D, D) matrix for each head: (H, D, D).",
    ),
    must_fail_for=("columns_interleaved", "rows_interleaved", "cut_by_reshape", "product_of_all"),
)
def several_heads(rng: Generator) -> list[Case]:
    return [Case(_kernels(rng, 15, 3, 5, 5)), Case(_kernels(rng, 14, 7, 2, 2))]


@exercise.group(
    "heads of any width",
    points=2,
    advice=Advice(
        value="K is the number of columns of w_q divided by H. It need not be D/H, and values may have another width.",
        shape="The widths of keys and values disappear in the products. Only H and D are left.",
    ),
    must_fail_for=("width_of_values", "width_over_heads"),
)
def any_widths(rng: Generator) -> list[Case]:
    return [Case(_kernels(rng, 6, 3, 7, 5)), Case(_kernels(rng, 10, 2, 3, 7))]


QUERIES, KEYS, VALUES = (f"columns_of_heads({name}, num_heads)" for name in ("w_q", "w_k", "w_v"))
CUT_COLUMNS = "kernel.reshape(width, num_heads, columns // num_heads).transpose(1, 0, 2)"
CUT_ROWS = "kernel.reshape(num_heads, rows // num_heads, width)"
INTERLEAVED_ROWS = "kernel.reshape(rows // num_heads, num_heads, width).transpose(1, 0, 2)"
QK = "queries @ keys.swapaxes(1, 2) / math.sqrt(queries.shape[2])"
OV = "values @ outputs"
SCALE = "math.sqrt(queries.shape[2])"

exercise.mistakes(
    unscaled=wrong(
        "The QK circuits are not scaled. The layer divides each score by a number; x · qk[h] · y has to be the score.",
        (f"/ {SCALE}", ""),
        hint="Nothing may be left to do between x · qk[h] · y and the softmax. What does the layer do there?",
        see="03#circuits",
    ),
    product_of_all=wrong(
        "You multiply the whole matrices. That adds the circuits of all heads up; each head has a softmax of its own.",
        ("queries @ keys.swapaxes(1, 2)", "w_q @ w_k.T"),
        (OV, "w_v @ w_o"),
        hint="Cut the kernels into heads first. Which columns of w_q belong to head 0?",
        see="03#circuits",
    ),
    width_over_heads=wrong(
        "The QK circuits are divided by √(D/H). Here K is free: it is the number of columns that one head has.",
        (SCALE, "math.sqrt(w_q.shape[0] / num_heads)"),
        hint="How many products does the score of one head add up?",
        see="03#key-dim",
    ),
    keys_ask=wrong(
        "The QK circuits are transposed: the token on the left is the query, and yours reads it as the key.",
        ("queries @ keys.swapaxes(1, 2)", "keys @ queries.swapaxes(1, 2)"),
        hint="In x · qk[h] · y, which kernel does x meet first?",
        see="03#circuits",
    ),
    columns_interleaved=wrong(
        "Head h takes every H-th column of w_q, w_k and w_v. Its columns stand side by side, as in `split_heads`.",
        (CUT_COLUMNS, "kernel.reshape(width, columns // num_heads, num_heads).transpose(2, 0, 1)"),
        hint="Which columns of x @ w_q does `split_heads` give to head 0?",
        see="03#heads",
    ),
    cut_by_reshape=wrong(
        "The columns are cut out by a reshape alone, which mixes the rows of the kernel.",
        (CUT_COLUMNS, "kernel.reshape(num_heads, width, columns // num_heads)"),
        hint="Cut the last axis into two, then move the axis of the heads to the front.",
        see="03#heads",
    ),
    rows_interleaved=wrong(
        "Head h takes every H-th row of w_o. Its rows stand below each other, in the order in which `merge_heads` puts "
        "the heads side by side.",
        (CUT_ROWS, INTERLEAVED_ROWS),
        hint="Which entries of a merged row come from head 0, and which rows of w_o do these entries meet?",
        see="03#key-dim",
    ),
    ov_transposed=wrong(
        "The OV circuits are transposed: here a token is a row and stands on the left of its matrix.",
        (OV, "(values @ outputs).swapaxes(1, 2)"),
        hint="In y · ov[h], which kernel does y meet first?",
        see="03#circuits",
    ),
    values_scaled=wrong(
        "The OV circuits are divided by √K as well. Only scores are scaled.", (OV, f"{OV} / {SCALE}"), see="03#circuits"
    ),
    scaled_twice=wrong(
        "The QK circuits are divided by K; the score is divided by its square root.", (SCALE, "queries.shape[2]")
    ),
    width_of_tokens=wrong(
        "The QK circuits are divided by √D, the root of the width of a token.",
        (SCALE, "math.sqrt(w_q.shape[0])"),
        hint="How many products does the score of one head add up?",
        see="03#key-dim",
    ),
    values_cut_by_keys=wrong(
        "The values are cut into heads K columns wide. They have a width of their own: the columns of w_v over H.",
        instead=values_cut_by_keys,
    ),
    heads_cut_by_tokens=wrong(
        "The kernels are cut into heads D/H columns wide. The width is free: the columns of w_q, or of w_v, over H.",
        instead=heads_cut_by_tokens,
        see="03#key-dim",
    ),
    results_swapped=wrong("The results come in the wrong order: return (qk, ov).", ("return qk, ov", "return ov, qk")),
    width_of_all=wrong(
        "The QK circuits are divided by the square root of H·K, the number of all columns of w_q.",
        (SCALE, "math.sqrt(w_q.shape[1])"),
        hint="How many products does the score of one head add up?",
    ),
    width_of_values=wrong(
        "The QK circuits are divided by the square root of the width of the values.",
        (SCALE, "math.sqrt(values.shape[2])"),
        hint="How many products does the score of one head add up?",
    ),
    column_convention=wrong(
        "These are the products W_Qᵀ W_K, (K, K), of papers in which a token is a column. Here it is a row, x W_Q.",
        ("queries @ keys.swapaxes(1, 2)", "queries.swapaxes(1, 2) @ keys"),
        hint="What stands on the left of x W_Q (y W_K)ᵀ, and what on the right? Take both away.",
        see="03#circuits",
    ),
    output_first=wrong(
        "W_O comes first in your OV circuits. A token meets W_V first.",
        (OV, "outputs @ values"),
        hint="In y · ov[h], which kernel does y meet first?",
        see="03#circuits",
    ),
)

exercise.hints(
    "(y W_K)ᵀ = W_Kᵀ yᵀ. What stands between x and yᵀ in x W_Q (y W_K)ᵀ / √K?",
    "A head adds A (x W_V) W_O to the output, and the brackets can be put elsewhere: A x (…).",
)
exercise.hints(
    "Cut w_q, w_k and w_v into blocks of columns, and w_o into blocks of rows.",
    "A reshape to (D, H, K) cuts the columns. Where does the axis of the heads have to go?",
    group="several_heads",
)
exercise.hints("Take K from the shape of w_q, and cut w_v and w_o by a width of their own.", group="any_widths")
