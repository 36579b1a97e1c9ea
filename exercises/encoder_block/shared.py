"""What several exercises of lab 04 share."""

import math
from collections.abc import Callable

import numpy as np

from autograder.declare import Case, edit
from exercises.drawing import normal
from exercises.formulas.encoder_block import Weights, attended, normalised
from exercises.self_attention.shared import MASK_MISTAKES as ATTENTION_MASK_MISTAKES

READY_NORMS = (
    "keras.layers.LayerNormalization",
    "keras.layers.RMSNormalization",
    "keras.layers.GroupNormalization",
    "keras.layers.UnitNormalization",
    "keras.layers.BatchNormalization",
    "keras.layers.Normalization",
    "keras.ops.layer_normalization",
    "keras.ops.nn.layer_normalization",
    "keras.ops.rms_normalization",
    "keras.ops.nn.rms_normalization",
    "keras.ops.batch_normalization",
    "keras.ops.nn.batch_normalization",
    "tensorflow.nn.batch_normalization",
)
Dropout = Callable[[np.ndarray, int], np.ndarray]


def feed_forward(x, dense_in_kernel, dense_in_bias, dense_out_kernel, dense_out_bias):
    """max(0, x W₁ + b₁) W₂ + b₂ for every token (Vaswani et al. 2017, equation 2). x (…, D) -> (…, D)."""
    hidden = np.maximum(x @ dense_in_kernel + dense_in_bias, 0)
    return hidden @ dense_out_kernel + dense_out_bias


def block_shapes(d_model: int, num_heads: int, d_ff: int) -> dict[str, tuple[int, ...]]:
    """Shapes of a block's weights, in the order in which the probe packs them."""
    width = d_model // num_heads
    shapes: dict[str, tuple[int, ...]] = {}
    for part in ("query", "key", "value"):
        shapes[f"{part}.kernel"], shapes[f"{part}.bias"] = (d_model, num_heads, width), (num_heads, width)
    shapes |= {"output.kernel": (num_heads, width, d_model), "output.bias": (d_model,)}
    shapes |= {"in.kernel": (d_model, d_ff), "in.bias": (d_ff,), "out.kernel": (d_ff, d_model), "out.bias": (d_model,)}
    return shapes | {f"{norm}.{part}": (d_model,) for norm in ("norm1", "norm2") for part in ("gamma", "beta")}


def block_size(d_model: int, num_heads: int, d_ff: int) -> int:
    """Number of weights of a block with key_dim D/H."""
    return sum(math.prod(shape) for shape in block_shapes(d_model, num_heads, d_ff).values())


def kept(h: np.ndarray, place: int) -> np.ndarray:
    """In place of a dropout when nothing is dropped."""
    return h


def half_erased(h: np.ndarray, place: int) -> np.ndarray:
    """A dropout of rate 0.5 without chance: every other feature is erased, the rest doubled."""
    return h * (2 * ((np.arange(h.shape[-1]) + place) % 2)).astype(h.dtype)


def block(x: np.ndarray, w: Weights, norm: str, mask: np.ndarray | None, dropout: Dropout) -> np.ndarray:
    """One encoder block, post-norm or pre-norm (Vaswani et al. 2017, section 3.1; Xiong et al. 2020, table 1)."""

    def attention(h: np.ndarray) -> np.ndarray:
        return attended(h, w, mask)

    def transform(h: np.ndarray) -> np.ndarray:
        return feed_forward(h, w["in.kernel"], w["in.bias"], w["out.kernel"], w["out.bias"])

    def norm1(h: np.ndarray) -> np.ndarray:
        return normalised(h, w["norm1.gamma"], w["norm1.beta"])

    def norm2(h: np.ndarray) -> np.ndarray:
        return normalised(h, w["norm2.gamma"], w["norm2.beta"])

    if norm == "post":
        h = norm1(x + dropout(attention(x), 0))
        return norm2(h + dropout(transform(h), 1))
    h = x + dropout(attention(norm1(x)), 0)
    return h + dropout(transform(norm2(h)), 1)


def left_to_chance() -> dict:
    """Nothing: what a dropout erases is judged by a property."""
    return {}


def same_again() -> dict[str, bool]:
    """With `half_erased` in place of the dropouts, nothing is left to chance."""
    return {"same_again": True}


def weights(rng, blocks: int, sizes: tuple[int, int, int], final: bool, scale: float) -> np.ndarray:
    """Weights of some blocks, end to end: γ around 1, all others around 0."""
    pieces = []
    for _ in range(blocks):
        for name, shape in block_shapes(*sizes).items():
            spread = scale if name.endswith("kernel") else 0.5 * min(1, scale)
            pieces.append(float(name.endswith("gamma")) + spread * rng.normal(size=int(np.prod(shape))))
    if final:
        pieces += [1 + 0.3 * rng.normal(size=sizes[0]), 0.3 * rng.normal(size=sizes[0])]
    return np.concatenate(pieces).astype("float32")


def block_inputs(rng, norm=None, *, blocks=None, batch=2, length=7, sizes=(15, 3, 11), scale=0.5, spread=1.5):
    """Inputs of one block, or of a stack of `blocks`; without `norm` the layer's own default is tried."""
    inputs: dict = {} if blocks is None else {"num_layers": blocks}
    inputs |= dict(zip(("d_model", "num_heads", "d_ff"), sizes, strict=True))
    inputs |= {"dropout": 0.3} | ({"norm": norm} if norm else {})
    final = blocks is not None and norm == "pre"
    return {
        **inputs,
        "x": (spread * rng.normal(size=(batch, length, sizes[0]))).astype("float32"),
        "weights": weights(rng, blocks or 1, sizes, final, scale),
    }


def coarse(inputs: dict) -> dict:
    """Tokens in steps of 1/8: for a case in which they only pass through, and which is shorter to store so."""
    return {**inputs, "x": np.round(inputs["x"] * 8) / 8}


def draw_dropout(blocks: int | None, *norms: str | None):
    def draw(rng) -> list[Case]:
        cases = []
        erased = "each dropout set to erase one half of the features"
        for norm in norms:
            inputs = block_inputs(rng, norm, blocks=blocks)
            cases.append(Case(inputs, f"training=True, norm={norm or 'post'!r}, {erased}", mode="training"))
        cases.append(Case(inputs, f"training=False, norm={norm!r}", mode="inference"))
        cases.append(Case(inputs, f"training=True twice, {erased}: the same result", mode="repeated"))
        for rate in (0.3, None):
            inputs = coarse(block_inputs(rng, blocks=blocks, batch=29))
            if rate is None:
                del inputs["dropout"]
            description = f"dropout={rate}" if rate else "dropout as it is by default"
            cases.append(
                Case(
                    inputs,
                    f"{description}, called with training=True and False",
                    mode="dropped",
                    property="drops at its rate",
                )
            )
        return cases

    return draw


def unassigned(inputs: dict) -> dict:
    return {key: value for key, value in inputs.items() if key != "weights"}


def training(blocks: int | None):
    def draw(rng) -> list[Case]:
        graph = block_inputs(rng, "pre" if blocks else None, blocks=blocks)
        cases = [Case(graph, "inside tf.function, batch size and length unknown", mode="graph")]
        for norm in ("pre",) if blocks else (None, "pre"):
            inputs = block_inputs(rng, norm, blocks=blocks and 3, sizes=(6, 2, 5))
            shape = inputs["x"].shape
            inputs |= {"weighting": normal(rng, *shape), "direction_x": normal(rng, *shape)}
            inputs["direction"] = normal(rng, len(inputs["weights"]))
            description = f"gradients, compared with numerical ones, norm={norm or 'post'!r}"
            cases.append(Case(inputs, description, mode="slopes"))
        return cases

    return draw


# What mistakes change in the formulas.
# The four sums of `block`: first and second, post-norm and pre-norm.
POST_1, POST_2 = "norm1(x + dropout(attention(x), 0))", "norm2(h + dropout(transform(h), 1))"
PRE_1, PRE_2 = "x + dropout(attention(norm1(x)), 0)", "h + dropout(transform(norm2(h)), 1)"
SOURCE = (
    ("def attended(x, w, mask):", "def attended(x, w, mask, source):"),
    ("def attention(h):", "def attention(h, source=x):"),
    ("attended(h, w, mask)", "attended(h, w, mask, source)"),
)
IS_POST = 'if norm == "post":'
# Mistakes of a block that can be made in one order alone.
IN_ONE_ORDER = (
    "no_first_residual",
    "no_second_residual",
    "no_residuals",
    "second_residual_from_input",
    "feed_forward_from_input",
    "norm_used_twice",
    "dropout_after_sum",
    "norms_swapped",
    "first_norm_missing",
    "second_norm_missing",
)
WHERE_NORM = "Where in `call` do you look at `norm`, and is it the value that `__init__` got?"
NORM_1, NORM_2 = (f'normalised(h, w["{norm}.gamma"], w["{norm}.beta"])' for norm in ("norm1", "norm2"))
HIDDEN = "np.maximum(x @ dense_in_kernel + dense_in_bias, 0)"
ERASED = "h * (2 * ((np.arange(h.shape[-1]) + place) % 2)).astype(h.dtype)"
CHANCE = f"return {ERASED}", 'raise ValueError("what is erased is left to chance")'
BY_CHANCE = "lambda h, place: h * np.nan"  # what comes out is not known
NOT_AGAIN = '{"same_again": True}', '{"same_again": False}'

MASK_MISTAKES = dict(
    mask_ignored=edit(*ATTENTION_MASK_MISTAKES["mask_ignored"].edits, see="04#block")
    | "In the cases that fail, the mask changes nothing. Does it reach the attention layer, and by its name, "
    "`attention_mask=`?"
    | "What is the second positional argument of a call of `keras.layers.MultiHeadAttention`? Not a mask.",
    mask_inverted=edit(*ATTENTION_MASK_MISTAKES["mask_inverted"].edits, see="02#causal")
    | "The mask is read the wrong way round. Here and in Keras True means: may attend."
    | "Take a mask with a single True. Which weight should be 1?",
)
DROPOUT_NEVER = (
    edit(ERASED, "h", see="04#dropout")
    | "With `training=True` nothing is dropped: are both dropouts called, with `training=training`?"
    | "A Dropout that is called without `training=` in a call by hand drops nothing."
)
DROPOUT_ALWAYS = (
    edit("dropped = kept", "dropped = half_erased")
    | edit("norm, mask, kept", f"norm, mask, {BY_CHANCE}")
    | edit("norm, None, kept", f"norm, None, {BY_CHANCE}", see="04#dropout")
    | "Something is dropped with `training=False` too: `training` does not decide about it."
    | "Which value of `training` do your dropouts get: the one that `call` got, or one that you wrote down?"
)
DROPOUT_INVERTED = (
    edit(*DROPOUT_ALWAYS.edits)
    | edit("norm, None, half_erased", "norm, None, kept", see="04#dropout")
    | "Dropout is off with `training=True`, and on with False or None: the condition is the wrong way round."
    | "What is `not training` while the model is trained, and what is it where nobody says?"
)
THIRD_DROPOUT = (
    edit(CHANCE, NOT_AGAIN, see="04#dropout")
    | "Something besides `dropout1` and `dropout2` drops in training: a `dropout=` in the attention, or a third "
    "Dropout." | "Look through `__init__`: which of its layers got a rate?"
)
