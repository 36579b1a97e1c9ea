"""What several exercises of lab 03 share."""

from collections.abc import Callable

import numpy as np

from autograder.declare import edit
from exercises.drawing import drawn_until, normal, partial_mask
from exercises.self_attention.shared import large_masks_matter

DENSE_WEIGHTS = tuple(f"{name}.{variable}" for name in ("w_q", "w_k", "w_v", "w_o") for variable in ("kernel", "bias"))


def attention_arrays(rng, width, kv_width, *, batch, queries, keys):
    """The arrays of an attention layer, float32: query (B, T, D), key and value (B, S, D), kernels and biases.

    Args:
        rng: where the numbers come from.
        width: D, of the inputs, the projected queries and the output.
        kv_width: of the projected keys and values; D, or less where heads share them.
        batch: B.
        queries: T.
        keys: S.
    """
    arrays = {
        "query": normal(rng, batch, queries, width),
        "key": normal(rng, batch, keys, width),
        "value": normal(rng, batch, keys, width),
    }
    for name, out in (("w_q", width), ("w_k", kv_width), ("w_v", kv_width), ("w_o", width)):
        arrays[f"{name}.kernel"] = normal(rng, width, out) / width**0.5
        arrays[f"{name}.bias"] = normal(rng, out)
    return {key: array.astype("float32") for key, array in arrays.items()}


def large_and_masked(rng, draw: Callable[[], dict]) -> dict:
    """Inputs of a layer with one head and one sentence, with large scores and a mask (T, S) that matters there.

    Args:
        rng: where the masks come from.
        draw: draws inputs as `attention_arrays` does.
    """

    def drawn() -> dict:
        inputs = draw()
        large = {name: 150 * inputs[name] for name in ("query", "key")}
        return {**inputs, **large, "mask": partial_mask(rng, large["query"].shape[1], large["key"].shape[1])}

    def fits(inputs: dict) -> bool:
        query, key = (
            inputs[name][0] @ inputs[f"{weight}.kernel"] + inputs[f"{weight}.bias"]
            for name, weight in (("query", "w_q"), ("key", "w_k"))
        )
        return large_masks_matter(query @ key.T / query.shape[-1] ** 0.5, inputs["mask"])

    return drawn_until(fits, drawn)


def split(x: np.ndarray, num_heads: int) -> np.ndarray:
    """(B, T, D) -> (B, H, T, D/H): head h is the h-th block of a token's features (Vaswani et al. 2017, 3.2.2)."""
    batch, length, width = x.shape
    return x.reshape(batch, length, num_heads, width // num_heads).transpose(0, 2, 1, 3)


def merge(x: np.ndarray) -> np.ndarray:
    """(B, H, T, K) -> (B, T, H·K), the way back."""
    batch, heads, length, size = x.shape
    return x.transpose(0, 2, 1, 3).reshape(batch, length, heads * size)


# What mistakes change in `split` and `merge`.
CUT = "x.reshape(batch, length, num_heads, width // num_heads).transpose(0, 2, 1, 3)"
JOINED = "x.transpose(0, 2, 1, 3).reshape(batch, length, heads * size)"

SPLIT_BY_RESHAPE = (
    edit(CUT, "x.reshape(batch, num_heads, length, width // num_heads)", see="03#heads")
    | "The heads are cut out by a reshape alone, which mixes the tokens: a reshape moves no number. Give the heads an "
    "axis beside the features first."
    | "Number the entries of a small x with arange: which features of which tokens does head 0 get?"
)
MERGED_BY_RESHAPE = (
    edit(JOINED, "x.reshape(batch, length, heads * size)", see="03#heads")
    | "The heads are merged by a reshape alone, so that a row of the result holds several tokens: the heads are still "
    "before the tokens when you reshape."
    | "Which axis has to stand beside the features before a reshape can join the two?"
)
OVER_HEADS = (
    edit("softmax(x, axis=-1)", "softmax(x, axis=1)", see="03#heads")
    | "The weights of the heads sum to 1 for each pair of tokens: the softmax runs over the heads instead of the keys."
    | "Which axis of scores (B, H, T, S) holds the keys? Count it from the end."
)
MASK_MEETS_HEADS = (
    edit("np.asarray(mask)[:, None]", "np.asarray(mask)", see="03#heads")
    | "A mask (B, T, S) meets scores (B, H, T, S): its first axis meets the heads. The mask needs an axis for the "
    "heads." | "Shapes are aligned from the right. At which place does an axis of size 1 bring B to B?"
)
MASK_KEPT = (
    edit("no_mask = None", "no_mask = mask")
    | "An earlier mask is kept: a call without a mask gets that of the call before. Keep no mask in the layer."
    | "What does your layer remember from one call to the next, besides its weights? It should be nothing."
)
VALUES_FROM_KEY = (
    edit("value @ w_v_kernel", "key @ w_v_kernel")
    | "The values are made from the argument `key`; make them from `value`."
)
KERAS_ORDER = (
    edit(("key @ w_k_kernel", "value @ w_k_kernel"), ("value @ w_v_kernel", "key @ w_v_kernel"))
    | "Key and value change places: the order here is call(query, key, value), unlike Keras's query, value, key."
)
