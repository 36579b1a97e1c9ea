"""Lab 03, exercise `load_keras_weights`."""

from collections.abc import Sequence

import numpy as np

from autograder.declare import Case, Exercise, edit
from exercises.drawing import normal

KERAS_NAMES = ("query", "key", "value", "output")


def _keras_weights(*parts: str):
    def draw(rng) -> list[Case]:
        heads, size = 3, 5
        width = heads * size
        inputs: dict = {"d_model": width, "num_heads": heads, "parts": list(parts)}
        for name in KERAS_NAMES:
            out = name == "output"
            inputs[f"keras.{name}.kernel"] = normal(rng, *((heads, size, width) if out else (width, heads, size)))
            inputs[f"keras.{name}.bias"] = normal(rng, *((width,) if out else (heads, size)))
        return [Case(inputs, f"{', '.join(parts)} after load_keras_weights(mine, keras_mha), d_model=15, num_heads=3")]

    return draw


exercise = Exercise("load_keras_weights", own_probe=True, probe_only=("d_model", "num_heads"))


@exercise.formula
def load_keras_weights(
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
    """What `mine`, which holds zeros before, has for weights after the copying, by the names in `parts`."""
    mine = {
        "w_q.kernel": heads_side_by_side(keras_query_kernel),
        "w_q.bias": flat(keras_query_bias),
        "w_k.kernel": heads_side_by_side(keras_key_kernel),
        "w_k.bias": flat(keras_key_bias),
        "w_v.kernel": heads_side_by_side(keras_value_kernel),
        "w_v.bias": flat(keras_value_bias),
        "w_o.kernel": heads_below_each_other(keras_output_kernel),
        "w_o.bias": keras_output_bias,
    }
    return {part: mine[part] for part in parts}


def heads_side_by_side(kernel: np.ndarray) -> np.ndarray:
    """Kernel (D, H, K) of `keras.layers.MultiHeadAttention` -> (D, H·K), head after head."""
    return kernel.reshape(kernel.shape[0], -1)


def heads_below_each_other(kernel: np.ndarray) -> np.ndarray:
    """Output kernel (H, K, D) -> (H·K, D), head after head."""
    return kernel.reshape(-1, kernel.shape[-1])


def flat(bias: np.ndarray) -> np.ndarray:
    """Bias (H, K) -> (H·K,), head after head."""
    return bias.reshape(-1)


exercise.group(
    "kernels of w_q, w_k and w_v", points=2, kernels=_keras_weights("w_q.kernel", "w_k.kernel", "w_v.kernel")
)
exercise.group("kernel of w_o", points=2, output=_keras_weights("w_o.kernel"))
exercise.group("all four biases", biases=_keras_weights("w_q.bias", "w_k.bias", "w_v.bias", "w_o.bias"))

SIDE_BY_SIDE = "kernel.reshape(kernel.shape[0], -1)"
BELOW = "kernel.reshape(-1, kernel.shape[-1])"
LOADED = "{part: mine[part] for part in parts}"

exercise.mistakes(
    kernels_interleaved=edit(SIDE_BY_SIDE, "kernel.transpose(0, 2, 1).reshape(kernel.shape[0], -1)", see="03#heads")
    | "In your kernels the features of the heads alternate. `split_heads` wants head 0's columns first, then head 1's."
    | "Keras's kernel (D, H, K) has the heads before the features already. Does anything have to move?",
    kernels_heads_first=edit(SIDE_BY_SIDE, "kernel.transpose(1, 0, 2).reshape(kernel.shape[0], -1)", see="03#heads")
    | "Keras's kernel (D, H, K) already has the inputs first: moving the heads before a reshape mixes rows."
    | "Which axis of (D, H, K) are the rows of your kernel (D, H·K)?",
    kernels_transposed=edit(SIDE_BY_SIDE, "kernel.transpose(1, 2, 0).reshape(-1, kernel.shape[0])", see="02#q-k-v")
    | "The kernels of w_q, w_k and w_v are transposed: rows are inputs, columns are outputs."
    | "A Dense layer calculates x @ kernel. Which axis of the kernel meets the features of x?",
    output_interleaved=edit(BELOW, "kernel.transpose(1, 0, 2).reshape(-1, kernel.shape[-1])", see="03#key-dim")
    | "The rows of w_o's kernel are out of order: head 0's K rows come first, then head 1's."
    | "w_o reads what `merge_heads` writes. In which order do the heads stand there?",
    output_transposed=edit(BELOW, "kernel.transpose(2, 0, 1).reshape(kernel.shape[-1], -1)", see="03#key-dim")
    | "The kernel of w_o is transposed: rows are inputs, columns are outputs."
    | "Which axis of Keras's (H, K, D) does the output have?",
    output_not_copied=edit(
        "heads_below_each_other(keras_output_kernel)", "0 * heads_below_each_other(keras_output_kernel)"
    )
    | edit('"w_o.bias": keras_output_bias', '"w_o.bias": 0 * keras_output_bias')
    | "w_o keeps its own weights.",
    biases_not_copied=edit("bias.reshape(-1)", "0 * bias.reshape(-1)")
    | edit('"w_o.bias": keras_output_bias', '"w_o.bias": 0 * keras_output_bias')
    | "The biases are not copied. In a fresh layer the biases are 0, so a test with a fresh layer does not show it."
    | "How many arrays does `get_weights` of a Dense layer return?",
    output_bias_not_copied=edit('"w_o.bias": keras_output_bias', '"w_o.bias": 0 * keras_output_bias')
    | "The bias of w_o is not copied.",
    biases_interleaved=edit("bias.reshape(-1)", "bias.T.reshape(-1)")
    | "In your biases the features of the heads alternate. A bias (H, K) of Keras is read row by row: head 0 first.",
    query_key_swapped=edit("heads_side_by_side(keras_query_kernel)", "heads_side_by_side(keras_key_kernel)")
    | edit("heads_side_by_side(keras_key_kernel)", "heads_side_by_side(keras_query_kernel)")
    | edit("flat(keras_query_bias)", "flat(keras_key_bias)")
    | edit("flat(keras_key_bias)", "flat(keras_query_bias)")
    | "w_q and w_k get each other's weights.",
    key_value_swapped=edit("heads_side_by_side(keras_key_kernel)", "heads_side_by_side(keras_value_kernel)")
    | edit("heads_side_by_side(keras_value_kernel)", "heads_side_by_side(keras_key_kernel)")
    | edit("flat(keras_key_bias)", "flat(keras_value_bias)")
    | edit("flat(keras_value_bias)", "flat(keras_key_bias)")
    | "w_k and w_v get each other's weights."
    | "Keras calls its layer with (query, value, key), but its weights come in the order query, key, value.",
    nothing_loaded=edit(LOADED, "{part: 0 * mine[part] for part in parts}")
    | "The weights of `mine` did not change. Are they copied the other way, or only computed and not assigned?",
)

exercise.hints(
    kernels=(
        "Print the shapes of `keras_mha.get_weights()`, and beside them the shapes of your four kernels and biases.",
        "The numbers are in the right order already: which reshape gives (D, H, K) the shape of your kernel? And (H, "
        "K, D)?",
        "A Dense layer takes both at once: `dense.set_weights([kernel, bias])`.",
    ),
    output="Keras's output kernel is (H, K, D). Which two of its axes become one?",
    biases="A bias of Keras is (H, K), yours is (H·K,). And w_o has one, too.",
)
