"""Lab 03, exercise `derive_circuits`."""

import math

import numpy as np

from autograder.declare import Advice, Case, Exercise, edit, instead
from exercises.drawing import by_hand, normal

exercise = Exercise("derive_circuits", returns=("qk", "ov"))


@exercise.formula
def circuits(w_q, w_k, w_v, w_o, num_heads):
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


def values_cut_by_keys(w_q, w_k, w_v, w_o, num_heads):
    """The circuits, with w_v and w_o cut into heads as wide as the keys."""
    return circuits_cut(w_q, w_k, w_v, w_o, num_heads, w_q.shape[1] // num_heads)


def heads_cut_by_tokens(w_q, w_k, w_v, w_o, num_heads):
    """The circuits, with all kernels cut into heads D/H wide."""
    return circuits_cut(w_q, w_k, w_v, w_o, num_heads, len(w_q) // num_heads)


def circuits_cut(w_q, w_k, w_v, w_o, num_heads, width):
    """The circuits of heads that are `width` columns wide, whatever the kernels have."""
    blocks = [slice(head * width, (head + 1) * width) for head in range(num_heads)]
    qk = np.stack([w_q[:, block] @ w_k[:, block].T / math.sqrt(width) for block in blocks])
    return qk, np.stack([w_v[:, block] @ w_o[block] for block in blocks])


KERNELS = ("w_q", "w_k", "w_v", "w_o")


def _kernels(rng, width: int, heads: int, key_dim: int, value_dim: int) -> dict:
    return {
        "w_q": normal(rng, width, heads * key_dim),
        "w_k": normal(rng, width, heads * key_dim),
        "w_v": normal(rng, width, heads * value_dim),
        "w_o": normal(rng, heads * value_dim, width),
        "num_heads": heads,
    }


@exercise.group("one head")
def one_head(rng):
    yield by_hand("tokens of one number", w_q=[[2]], w_k=[[3]], w_v=[[5]], w_o=[[7]], num_heads=1)
    ones = np.ones((4, 4), "float32")
    yield Case({**dict.fromkeys(KERNELS, ones), "num_heads": 1}, "tokens of four numbers, kernels (4, 4) full of ones")
    yield from (_kernels(rng, 7, 1, 7, 7), _kernels(rng, 5, 1, 5, 5))


exercise.group(
    "several heads, K = D/H",
    points=2,
    must_fail_for=("columns_interleaved", "rows_interleaved", "cut_by_reshape", "product_of_all"),
    several_heads=lambda rng: [_kernels(rng, 15, 3, 5, 5), _kernels(rng, 14, 7, 2, 2)],
)


@exercise.group("heads of any width", points=2, must_fail_for=("width_of_values", "width_over_heads"))
def any_widths(rng):
    return [Case(_kernels(rng, 6, 3, 7, 5)), Case(_kernels(rng, 10, 2, 3, 7))]


QUERIES, KEYS, VALUES = (f"columns_of_heads({name}, num_heads)" for name in ("w_q", "w_k", "w_v"))
CUT_COLUMNS = "kernel.reshape(width, num_heads, columns // num_heads).transpose(1, 0, 2)"
CUT_ROWS = "kernel.reshape(num_heads, rows // num_heads, width)"
INTERLEAVED_ROWS = "kernel.reshape(rows // num_heads, num_heads, width).transpose(1, 0, 2)"
QK = "queries @ keys.swapaxes(1, 2) / math.sqrt(queries.shape[2])"
OV = "values @ outputs"
SCALE = "math.sqrt(queries.shape[2])"

exercise.mistakes(
    unscaled=edit(f"/ {SCALE}", "", see="03#circuits")
    | "The QK circuits are not scaled. The layer divides each score by a number; x · qk[h] · y has to be the score."
    | "Nothing may be left to do between x · qk[h] · y and the softmax. What does the layer do there?",
    product_of_all=edit(("queries @ keys.swapaxes(1, 2)", "w_q @ w_k.T"), (OV, "w_v @ w_o"), see="03#circuits")
    | "You multiply the whole matrices. That adds the circuits of all heads up; each head has a softmax of its own."
    | "Cut the kernels into heads first. Which columns of w_q belong to head 0?",
    width_over_heads=edit(SCALE, "math.sqrt(w_q.shape[0] / num_heads)", see="03#key-dim")
    | "The QK circuits are divided by √(D/H). Here K is free: it is the number of columns that one head has."
    | "How many products does the score of one head add up?",
    keys_ask=edit("queries @ keys.swapaxes(1, 2)", "keys @ queries.swapaxes(1, 2)", see="03#circuits")
    | "The QK circuits are transposed: the token on the left is the query, and yours reads it as the key."
    | "In x · qk[h] · y, which kernel does x meet first?",
    columns_interleaved=edit(
        CUT_COLUMNS, "kernel.reshape(width, columns // num_heads, num_heads).transpose(2, 0, 1)", see="03#heads"
    )
    | "Head h takes every H-th column of w_q, w_k and w_v. Its columns stand side by side, as in `split_heads`."
    | "Which columns of x @ w_q does `split_heads` give to head 0?",
    cut_by_reshape=edit(CUT_COLUMNS, "kernel.reshape(num_heads, width, columns // num_heads)", see="03#heads")
    | "The columns are cut out by a reshape alone, which mixes the rows of the kernel."
    | "Cut the last axis into two, then move the axis of the heads to the front.",
    rows_interleaved=edit(CUT_ROWS, INTERLEAVED_ROWS, see="03#key-dim")
    | "Head h takes every H-th row of w_o. Its rows stand below each other, in the order in which `merge_heads` puts "
    "the heads side by side."
    | "Which entries of a merged row come from head 0, and which rows of w_o do these entries meet?",
    ov_transposed=edit(OV, "(values @ outputs).swapaxes(1, 2)", see="03#circuits")
    | "The OV circuits are transposed: here a token is a row and stands on the left of its matrix."
    | "In y · ov[h], which kernel does y meet first?",
    values_scaled=edit(OV, f"{OV} / {SCALE}", see="03#circuits")
    | "The OV circuits are divided by √K as well. Only scores are scaled.",
    scaled_twice=edit(SCALE, "queries.shape[2]")
    | "The QK circuits are divided by K; the score is divided by its square root.",
    width_of_tokens=edit(SCALE, "math.sqrt(w_q.shape[0])", see="03#key-dim")
    | "The QK circuits are divided by √D, the root of the width of a token."
    | "How many products does the score of one head add up?",
    values_cut_by_keys=instead(values_cut_by_keys)
    | "The values are cut into heads K columns wide. They have a width of their own: the columns of w_v over H.",
    heads_cut_by_tokens=instead(heads_cut_by_tokens, see="03#key-dim")
    | "The kernels are cut into heads D/H columns wide. The width is free: the columns of w_q, or of w_v, over H.",
    results_swapped=edit("return qk, ov", "return ov, qk") | "The results come in the wrong order: return (qk, ov).",
    width_of_all=edit(SCALE, "math.sqrt(w_q.shape[1])")
    | "The QK circuits are divided by the square root of H·K, the number of all columns of w_q."
    | "How many products does the score of one head add up?",
    width_of_values=edit(SCALE, "math.sqrt(values.shape[2])")
    | "The QK circuits are divided by the square root of the width of the values."
    | "How many products does the score of one head add up?",
    column_convention=edit("queries @ keys.swapaxes(1, 2)", "queries.swapaxes(1, 2) @ keys", see="03#circuits")
    | "These are the products W_Qᵀ W_K, (K, K), of papers in which a token is a column. Here it is a row, x W_Q."
    | "What stands on the left of x W_Q (y W_K)ᵀ, and what on the right? Take both away.",
    output_first=edit(OV, "outputs @ values", see="03#circuits")
    | "W_O comes first in your OV circuits. A token meets W_V first."
    | "In y · ov[h], which kernel does y meet first?",
)

exercise.advice(
    one_head=Advice(
        value="Write q = x W_Q and k = y W_K into the score q·k/√K. Which product is left between x on the left and "
        "y on the right? For the output, do the same with v = y W_V.",
        shape="Both circuits stand between two tokens of width D: (H, D, D), also when H is 1.",
    ),
    several_heads=Advice(
        value="Head h has its own columns of w_q, w_k and w_v, those that `split_heads` would give it. Which part of "
        "w_o reads what it wrote?",
        shape="There is one (D, D) matrix for each head: (H, D, D).",
    ),
    any_widths=Advice(
        value="K is the number of columns of w_q divided by H. It need not be D/H, and values may have another width.",
        shape="The widths of keys and values disappear in the products. Only H and D are left.",
    ),
)
exercise.hints(
    one_head=(
        "(y W_K)ᵀ = W_Kᵀ yᵀ. What stands between x and yᵀ in x W_Q (y W_K)ᵀ / √K?",
        "A head adds A (y W_V) W_O to the output, and the brackets can be put elsewhere: A y (…).",
    ),
    several_heads=(
        "Cut w_q, w_k and w_v into blocks of columns, and w_o into blocks of rows.",
        "A reshape to (D, H, K) cuts the columns. Where does the axis of the heads have to go?",
    ),
    any_widths="Take K from the shape of w_q, and cut w_v and w_o by a width of their own.",
)
exercise.worked = (
    "Head h has its own block of columns of W_Q, W_K and W_V, and its own block of rows of W_O. Below, these "
    "names mean the blocks of one head.\n"
    "The queries of the head are x W_Q and its keys are y W_K. Their dot products, divided by √K, are the scores:"
    " x W_Q (y W_K)ᵀ/√K.\n"
    "A product is transposed in reverse order: (y W_K)ᵀ = W_Kᵀ yᵀ. So the scores are x (W_Q W_Kᵀ/√K) yᵀ, and the "
    "bracket is qk.\n"
    "The heads' results stand side by side, and W_O multiplies them: columns of head h meet rows of head h alone."
    " So the output is a sum over heads of A_h (y W_V) W_O.\n"
    "Matrix products may be grouped in any way: A_h y (W_V W_O), and the bracket is ov.\n"
    "Both are (D, D), whatever K and V are. In the example by hand, head 0 has 2·5 = 10 and 1·6 = 6."
)
