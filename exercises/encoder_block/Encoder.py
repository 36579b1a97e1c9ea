"""Lab 04, exercise `Encoder`."""

import math

import numpy as np

from autograder.declaring import Case, Exercise, wrong
from coursekit.generator import Generator
from exercises.drawing import partial_mask, size_other_than
from exercises.encoder_block.shared import (
    DROPOUT_ALWAYS,
    DROPOUT_INVERTED,
    DROPOUT_NEVER,
    MASK_MISTAKES,
    NOT_AGAIN,
    THIRD_DROPOUT,
    Dropout,
    block,
    block_inputs,
    block_shapes,
    block_size,
    draw_dropout,
    half_erased,
    kept,
    left_to_chance,
    same_again,
    training,
    unassigned,
)
from exercises.formulas.derivatives import weight_by_weight
from exercises.formulas.encoder_block import normalised, unpacked

exercise = Exercise("Encoder", probe_only=("dropout",), uses=("EncoderBlock",))
Sizes = tuple[int, int, int, int]  # num_layers, d_model, num_heads, d_ff


@exercise.formula
def encoder(
    x: np.ndarray,
    num_layers: int,
    d_model: int,
    num_heads: int,
    d_ff: int,
    weights: np.ndarray,
    norm: str = "post",
    attention_mask: np.ndarray | None = None,
) -> np.ndarray:
    """`stack` with the arguments of the layer; x and mask as for `EncoderBlock`."""
    mask = attention_mask
    return stack(x, weights, (num_layers, d_model, num_heads, d_ff), norm, mask, kept)


@exercise.formula_for("inference")
def in_inference(
    x: np.ndarray, num_layers: int, d_model: int, num_heads: int, d_ff: int, weights: np.ndarray, norm: str = "post"
) -> np.ndarray:
    """Not in training, with `half_erased` in place of all dropouts: nothing is dropped."""
    dropped = kept
    return stack(x, weights, (num_layers, d_model, num_heads, d_ff), norm, None, dropped)


@exercise.formula_for("training")
def in_training(
    x: np.ndarray, num_layers: int, d_model: int, num_heads: int, d_ff: int, weights: np.ndarray, norm: str = "post"
) -> np.ndarray:
    """The same in training, with `half_erased` in place of all dropouts."""
    return stack(x, weights, (num_layers, d_model, num_heads, d_ff), norm, None, half_erased)


def stack(
    x: np.ndarray, vector: np.ndarray, sizes: Sizes, norm: str, mask: np.ndarray | None, dropout: Dropout
) -> np.ndarray:
    """Blocks one after the other, each with weights of its own; a pre-norm stack ends with one more layer norm.

    Args:
        vector: weights of the blocks end to end, then γ and β of the final norm of a pre-norm stack.
    """
    num_layers, d_model, *_ = sizes
    shapes, size = block_shapes(*sizes[1:]), block_size(*sizes[1:])
    h = x
    for start in range(0, num_layers * size, size):
        h = block(h, unpacked(vector[start : start + size], shapes), norm, mask, dropout)
    if norm == "post":
        return h
    gamma, beta = vector[num_layers * size :].reshape(2, d_model)
    return normalised(h, gamma, beta)


@exercise.formula_for("slopes")
def slopes(
    x: np.ndarray,
    num_layers: int,
    d_model: int,
    num_heads: int,
    d_ff: int,
    weights: np.ndarray,
    weighting: np.ndarray,
    direction: np.ndarray,
    direction_x: np.ndarray,
    norm: str = "post",
) -> dict[str, np.ndarray]:
    """Derivatives of ``sum(output * weighting)``, see `weight_by_weight`."""
    one_block = [math.prod(shape) for shape in block_shapes(d_model, num_heads, d_ff).values()]
    sizes = num_layers * one_block + 2 * [d_model] * (norm == "pre")

    def run(x: np.ndarray, vector: np.ndarray) -> np.ndarray:
        return stack(x, vector, (num_layers, d_model, num_heads, d_ff), norm, None, kept)

    return {"slopes": weight_by_weight(run, x, weights, sizes, weighting, direction, direction_x)}


@exercise.formula_for("parameters")
def number_of_parameters(
    num_layers: int, d_model: int, num_heads: int, d_ff: int, norm: str = "post"
) -> dict[str, int]:
    """Those of the blocks, and γ and β of a pre-norm stack's final norm."""
    final = 2 * d_model if norm == "pre" else 0
    return {"trainable_parameters": num_layers * block_size(d_model, num_heads, d_ff) + final}


exercise.formula_for("repeated")(same_again)
exercise.formula_for("dropped")(left_to_chance)


@exercise.group("post-norm, right values", points=1)
def values_post(rng: Generator) -> list[Case]:
    return [
        Case(block_inputs(rng, blocks=2), description="two blocks, x (2, 7, 15)"),
        Case(
            block_inputs(rng, "post", blocks=3, sizes=(6, 2, 5)), description='three blocks, x (2, 7, 6), norm="post"'
        ),
    ]


@exercise.group(
    "pre-norm with its final norm, right values",
    points=1,
    advice="A pre-norm stack ends with a layer norm (epsilon 1e-6) under the name `norm`.",
)
def values_pre(rng: Generator) -> list[Case]:
    inputs = block_inputs(rng, "pre", blocks=3, sizes=(6, 2, 5))
    return [Case(inputs, description='three blocks, x (2, 7, 6), norm="pre"')]


@exercise.group(
    "the mask reaches every block",
    points=1,
    advice=(
        "With `supports_masking = True` in the block, Keras treats the mask as a padding mask, (B, T), and passes it"
        " on: leave that line out."
    ),
)
def masked(rng: Generator) -> list[Case]:
    cases = []
    for shape, norm in (((7, 7), None), ((2, 7, 7), "pre"), ((2, 1, 7), None)):
        inputs = {**block_inputs(rng, norm, blocks=2), "attention_mask": partial_mask(rng, *shape)}
        cases.append(Case(inputs, description=f"two blocks, mask {shape}, norm={norm or 'post'!r}"))
    return cases


@exercise.group(
    "dropout: in training only, in every block, at its rate",
    points=1,
    advice="Pass `training` and the rate to every block. The stack has no dropout of its own.",
)
def dropout(rng: Generator) -> list[Case]:
    return draw_dropout(2, None, "pre")(rng)


@exercise.group("each block has weights of its own", points=1)
def parameters(rng: Generator) -> list[Case]:
    sizes = 6, 2, size_other_than(rng, 4, 29, 6)
    return [
        Case(
            unassigned(block_inputs(rng, norm, blocks=3, sizes=sizes)),
            mode="parameters",
            description=f"trainable parameters of three blocks, d_ff={sizes[-1]}, norm={norm!r}",
        )
        for norm in ("post", "pre")
    ]


@exercise.group("works inside tf.function, and gradients reach every weight", points=1, name="training")
def training_cases(rng: Generator) -> list[Case]:
    return training(2)(rng)


ALL_BLOCKS = "num_layers * block_size(d_model, num_heads, d_ff)"
STARTS = "range(0, num_layers * size, size)"
ONE_BLOCK = "h = block(h, unpacked(vector[start : start + size], shapes), norm, mask, dropout)"
FINAL = "final = 2 * d_model if norm == 'pre' else 0"
LAST = "return normalised(h, gamma, beta)"
NO_FIT = "num_layers, d_model, *_ = sizes", 'raise ValueError("the weights are those of num_layers blocks")'

exercise.mistakes(
    one_block_repeated=wrong(
        "One block is used several times; each layer of the stack has weights of its own.",
        ("vector[start : start + size]", "vector[(num_layers - 1) * size : num_layers * size]"),
        (ALL_BLOCKS, "block_size(d_model, num_heads, d_ff)"),
        hint="How many times does `__init__` call `EncoderBlock(…)`?",
        see="04#parameters",
    ),
    one_block_too_many=wrong(
        "The stack has one block more than `num_layers` says.",
        (ALL_BLOCKS, "(num_layers + 1) * block_size(d_model, num_heads, d_ff)"),
        (NO_FIT[0], "return np.full_like(x, np.nan)"),  # the block too many has weights of its own, which nobody knows
        NOT_AGAIN,
    ),
    one_block_too_few=wrong(
        "The stack has one block less than `num_layers` says.",
        (ALL_BLOCKS, "(num_layers - 1) * block_size(d_model, num_heads, d_ff)"),
        NO_FIT,
    ),
    blocks_reversed=wrong("The blocks run in reverse order.", (STARTS, "range((num_layers - 1) * size, -1, -size)")),
    not_chained=wrong(
        "Every block reads the stack's input; each should read the output of the block before it.",
        (ONE_BLOCK, ONE_BLOCK.replace("block(h,", "block(x,")),
        hint="Does the name that a block's result gets come back as the next block's input?",
    ),
    final_norm_missing=wrong(
        "The final norm of the pre-norm stack is missing.",
        (LAST, "return h"),
        (FINAL, "final = 0"),
        hint="In a pre-norm stack nothing normalises the last sum. What follows the stack, and what does it expect?",
        see="04#post-or-pre",
    ),
    final_norm_not_used=wrong(
        "The pre-norm stack has a final norm, but what comes back is not its result.",
        (LAST, "return h"),
        hint="Does `call` return what `self.norm(…)` returns?",
        see="04#post-or-pre",
    ),
    final_norm_always=wrong(
        "A post-norm stack ends in a norm already; only pre-norm gets a final one.",
        ('if norm == "post":\n    return h', 'if norm == "post":\n    return normalised(h, 1, 0)'),
        (FINAL, "final = 2 * d_model"),
        hint="With what does a post-norm block end?",
        see="04#post-or-pre",
    ),
    final_norm_in_the_loop=wrong(
        "The final norm comes after every block; it should come once, after the last block.",
        (
            ONE_BLOCK,
            f"{ONE_BLOCK}\nif norm == 'pre':\n    h = normalised(h, *vector[num_layers * size:].reshape(2, d_model))",
        ),
        (LAST, "return h"),
        hint="Which lines of `call` are inside the loop over the blocks?",
        see="04#post-or-pre",
    ),
    final_epsilon=wrong(
        "The final norm has Keras's default epsilon, 0.001; this exercise asks for 1e-6.",
        (LAST, "return normalised(h, gamma, beta, 1e-3)"),
        hint="Print `encoder.norm.epsilon`.",
        see="04#norm",
        costs_at_most=0.5,
    ),
    block_added=wrong(
        "Each block's result is added to its input once more. The residual paths are inside the block.",
        (ONE_BLOCK, ONE_BLOCK.replace("h = block", "h = h + block")),
        hint="How often is a token added between the input of a block and its result?",
        see="04#block",
    ),
    normed_at_the_start=wrong(
        "The final norm is applied to the stack's input, too. It comes once, after the last block.",
        (
            ONE_BLOCK,
            "if start == 0 and norm == 'pre':\n"
            f"    h = normalised(h, *vector[num_layers * size:].reshape(2, d_model))\n{ONE_BLOCK}",
        ),
        hint="How often does `call` use `self.norm`?",
    ),
    mask_in_first_block_only=wrong(
        "The mask reaches the first block only.",
        (ONE_BLOCK, ONE_BLOCK.replace("mask", "mask if start == 0 else None")),
        hint="Does every call of a block in your loop get the mask?",
    ),
    **MASK_MISTAKES,
    dropout_never=DROPOUT_NEVER,
    dropout_always=DROPOUT_ALWAYS,
    dropout_inverted=DROPOUT_INVERTED,
    third_dropout=THIRD_DROPOUT,
    norm_not_handed_on=wrong(
        "The blocks are post-norm whatever `norm` says: pass it on to them.",
        (ONE_BLOCK, ONE_BLOCK.replace("norm", '"post"')),
        hint="Which arguments of `EncoderBlock` does your `__init__` set?",
        see="04#post-or-pre",
    ),
)


exercise.hints(
    "`self.blocks` is a list of `num_layers` different blocks, made in `__init__`.",
    "`call` sends x through the blocks one after the other, with the same mask and the same `training` for each.",
    "The final layer norm needs the name `norm`: keep the argument under another name, such as `self.order`.",
)
exercise.hints(
    "What does the lecture say about the size of the tokens at the end of a pre-norm stack?",
    "Print `type(encoder.norm)` for a pre-norm stack. Is it a layer?",
    group="values_pre",
)
exercise.hints("Does every call of a block in your loop get the mask, by its name?", group="masked")
exercise.hints("Are `training` and the rate passed on to every block, by their names?", group="dropout")
exercise.hints(
    "How many different blocks are in your list? `[block] * 3` holds one block three times.", group="parameters"
)
exercise.hints("Is every block in the list used in `call`, and every layer made in `__init__`?", group="training")
