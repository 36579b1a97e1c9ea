"""What several exercises of lab 04 share."""

import numpy as np
from coursekit.generator import Generator

from autograder.declaring import Case, wrong
from autograder.exercises.drawing import normal
from autograder.oracles import encoder_block as oracles

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
)


def weights(rng: Generator, blocks: int, sizes: tuple[int, int, int], final: bool, scale: float) -> np.ndarray:
    """Weights of some blocks, end to end: γ around 1, all others around 0."""
    pieces = []
    for _ in range(blocks):
        for name, shape in oracles.block_shapes(*sizes).items():
            spread = scale if name.endswith("kernel") else 0.5 * min(1, scale)
            pieces.append(float(name.endswith("gamma")) + spread * rng.normal(size=int(np.prod(shape))))
    if final:
        pieces += [1 + 0.3 * rng.normal(size=sizes[0]), 0.3 * rng.normal(size=sizes[0])]
    return np.concatenate(pieces).astype("float32")


def block_inputs(
    rng: Generator,
    norm: str | None = None,
    *,
    blocks: int | None = None,
    batch: int = 2,
    length: int = 7,
    sizes: tuple[int, int, int] = (15, 3, 11),
    scale: float = 0.5,
    spread: float = 1.5,
    dropout: float | None = 0.3,
) -> dict:
    """Inputs of one block, or of a stack of `blocks`; without `norm` the layer's own default is tried."""
    inputs: dict = {} if blocks is None else {"num_layers": blocks}
    inputs |= dict(zip(("d_model", "num_heads", "d_ff"), sizes, strict=True))
    inputs |= {"dropout": dropout} | ({"norm": norm} if norm else {})
    final = blocks is not None and norm == "pre"
    return {**inputs, "x": (spread * rng.normal(size=(batch, length, sizes[0]))).astype("float32"), "weights": weights(rng, blocks or 1, sizes, final, scale)}


def draw_dropout(blocks: int | None, *norms: str | None):
    def draw(rng: Generator) -> list[Case]:
        cases = []
        erased = "each dropout set to erase one half of the features"
        for norm in norms:
            inputs = block_inputs(rng, norm, blocks=blocks)
            cases.append(Case(inputs, mode="training", description=f"training=True, norm={norm or 'post'!r}, {erased}"))
        cases.append(Case(inputs, mode="inference", description=f"training=False, norm={norm!r}"))
        cases.append(Case(inputs, mode="repeated", description=f"training=True twice, {erased}: the same result"))
        rates = (0.3,) if blocks else (0.3, None)
        for rate in rates:
            inputs = block_inputs(rng, blocks=blocks, batch=29, dropout=rate)
            if rate is None:
                del inputs["dropout"]
            description = f"dropout={rate}" if rate else "dropout as it is by default"
            cases.append(Case(inputs, mode="dropped", description=f"{description}, called with training=True and False", property="drops at its rate"))
        return cases

    return draw


def unassigned(inputs: dict) -> dict:
    return {key: value for key, value in inputs.items() if key != "weights"}


def training(blocks: int | None):
    def draw(rng: Generator) -> list[Case]:
        graph = block_inputs(rng, "pre" if blocks else None, blocks=blocks)
        cases = [Case(graph, mode="graph", description="inside tf.function, batch size and length unknown")]
        for norm in ("pre",) if blocks else (None, "pre"):
            inputs = block_inputs(rng, norm, blocks=blocks and 3, sizes=(6, 2, 5))
            shape = inputs["x"].shape
            inputs |= {"weighting": normal(rng, *shape), "direction_x": normal(rng, *shape)}
            inputs["direction"] = normal(rng, len(inputs["weights"]))
            description = f"gradients, compared with numerical ones, norm={norm or 'post'!r}"
            cases.append(Case(inputs, mode="slopes", description=description))
        return cases

    return draw


MASK_MISTAKES = dict(
    mask_ignored=wrong("The mask changes nothing. Does it reach the attention layer, and by its name, `attention_mask=`?", masking="ignore"),
    mask_inverted=wrong("The mask is read the wrong way round. Here and in Keras True means: may attend.", masking="invert"),
)


DROPOUT_NEVER = wrong("With `training=True` nothing is dropped: are both dropouts called, with `training=training`?", drop="never")


DROPOUT_ALWAYS = wrong("Something is dropped with `training=False` too: `training` does not decide about it.", drop="always")


THIRD_DROPOUT = wrong("Something besides `dropout1` and `dropout2` drops in training: a `dropout=` in the attention, or a third Dropout.", third_dropout=True)
