"""Lab 04, exercise `Encoder`."""

import math

import numpy as np

from autograder.declare import Case, Exercise, edit
from exercises.drawing import partial_mask, size_other_than
from exercises.encoder_block import shared
from exercises.encoder_block.shared import (
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

exercise = Exercise("Encoder", own_probe=True, probe_only=("dropout",), uses=("EncoderBlock",))
Sizes = tuple[int, int, int, int]  # num_layers, d_model, num_heads, d_ff


@exercise.formula
def encoder(x, num_layers, d_model, num_heads, d_ff, weights, norm="post", attention_mask=None):
    """`stack` with the arguments of the layer; x and mask as for `EncoderBlock`."""
    mask = attention_mask
    return stack(x, weights, (num_layers, d_model, num_heads, d_ff), norm, mask, kept)


@exercise.formula_for("inference")
def in_inference(x, num_layers, d_model, num_heads, d_ff, weights, norm="post"):
    """Not in training, with `half_erased` in place of all dropouts: nothing is dropped."""
    dropped = kept
    return stack(x, weights, (num_layers, d_model, num_heads, d_ff), norm, None, dropped)


@exercise.formula_for("training")
def in_training(x, num_layers, d_model, num_heads, d_ff, weights, norm="post"):
    """The same in training, with `half_erased` in place of all dropouts."""
    return stack(x, weights, (num_layers, d_model, num_heads, d_ff), norm, None, half_erased)


def stack(x, vector, sizes, norm, mask, dropout):
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
def slopes(x, num_layers, d_model, num_heads, d_ff, weights, weighting, direction, direction_x, norm="post"):
    """Derivatives of ``sum(output * weighting)``, see `weight_by_weight`."""
    one_block = [math.prod(shape) for shape in block_shapes(d_model, num_heads, d_ff).values()]
    sizes = num_layers * one_block + 2 * [d_model] * (norm == "pre")

    def run(x: np.ndarray, vector: np.ndarray) -> np.ndarray:
        return stack(x, vector, (num_layers, d_model, num_heads, d_ff), norm, None, kept)

    return {"slopes": weight_by_weight(run, x, weights, sizes, weighting, direction, direction_x)}


@exercise.formula_for("parameters")
def number_of_parameters(num_layers, d_model, num_heads, d_ff, norm="post"):
    """Those of the blocks, and γ and β of a pre-norm stack's final norm."""
    final = 2 * d_model if norm == "pre" else 0
    return {"trainable_parameters": num_layers * block_size(d_model, num_heads, d_ff) + final}


exercise.formula_for("repeated")(same_again)
exercise.formula_for("dropped")(left_to_chance)


@exercise.group("post-norm, right values")
def values_post(rng):
    yield Case(block_inputs(rng, blocks=2), "two blocks, x (2, 7, 15)")
    yield Case(block_inputs(rng, "post", blocks=3, sizes=(6, 2, 5)), 'three blocks, x (2, 7, 6), norm="post"')


@exercise.group("pre-norm with its final norm, right values")
def values_pre(rng):
    inputs = block_inputs(rng, "pre", blocks=3, sizes=(6, 2, 5))
    return Case(inputs, 'three blocks, x (2, 7, 6), norm="pre"')


@exercise.group("the mask reaches every block")
def masked(rng):
    cases = []
    for shape, norm in (((7, 7), None), ((2, 7, 7), "pre"), ((2, 1, 7), None)):
        inputs = {**block_inputs(rng, norm, blocks=2), "attention_mask": partial_mask(rng, *shape)}
        cases.append(Case(inputs, f"two blocks, mask {shape}, norm={norm or 'post'!r}"))
    return cases


@exercise.group("dropout: in training only, in every block, at its rate")
def dropout(rng):
    return draw_dropout(2, None, "pre")(rng)


@exercise.group("each block has weights of its own")
def parameters(rng):
    sizes = 6, 2, size_other_than(rng, 4, 29, 6)
    return [
        Case(
            unassigned(block_inputs(rng, norm, blocks=3, sizes=sizes)),
            f"trainable parameters of three blocks, d_ff={sizes[-1]}, norm={norm!r}",
            mode="parameters",
        )
        for norm in ("post", "pre")
    ]


exercise.group("works inside tf.function, and gradients reach every weight", training=training(2))

ALL_BLOCKS = "num_layers * block_size(d_model, num_heads, d_ff)"
STARTS = "range(0, num_layers * size, size)"
ONE_BLOCK = "h = block(h, unpacked(vector[start : start + size], shapes), norm, mask, dropout)"
FINAL = "final = 2 * d_model if norm == 'pre' else 0"
LAST = "return normalised(h, gamma, beta)"
NO_FIT = "num_layers, d_model, *_ = sizes", 'raise ValueError("the weights are those of num_layers blocks")'

exercise.mistakes(
    one_block_repeated=edit("vector[start : start + size]", "vector[(num_layers - 1) * size : num_layers * size]")
    | edit(ALL_BLOCKS, "block_size(d_model, num_heads, d_ff)", see="04#parameters")
    | "One block is used several times; each layer of the stack has weights of its own."
    | "How many times does `__init__` call `EncoderBlock(…)`?",
    one_block_too_many=edit(ALL_BLOCKS, "(num_layers + 1) * block_size(d_model, num_heads, d_ff)")
    | edit(NO_FIT[0], "return np.full_like(x, np.nan)")
    | edit(shared.NOT_AGAIN)
    | "The stack has one block more than `num_layers` says.",
    one_block_too_few=edit((ALL_BLOCKS, "(num_layers - 1) * block_size(d_model, num_heads, d_ff)"), NO_FIT)
    | "The stack has one block less than `num_layers` says.",
    blocks_reversed=edit(STARTS, "range((num_layers - 1) * size, -1, -size)") | "The blocks run in reverse order.",
    not_chained=edit(ONE_BLOCK, ONE_BLOCK.replace("block(h,", "block(x,"))
    | "Every block reads the stack's input; each should read the output of the block before it."
    | "Does the name that a block's result gets come back as the next block's input?",
    final_norm_missing=edit((LAST, "return h"), (FINAL, "final = 0"), see="04#post-or-pre")
    | "The final norm of the pre-norm stack is missing."
    | "In a pre-norm stack nothing normalises the last sum. What follows the stack, and what does it expect?",
    final_norm_not_used=edit(LAST, "return h", see="04#post-or-pre")
    | "The pre-norm stack has a final norm, but what comes back is not its result."
    | "Does `call` return what `self.norm(…)` returns?",
    final_norm_always=edit('if norm == "post":\n    return h', 'if norm == "post":\n    return normalised(h, 1, 0)')
    | edit(FINAL, "final = 2 * d_model", see="04#post-or-pre")
    | "A post-norm stack ends in a norm already; only pre-norm gets a final one."
    | "With what does a post-norm block end?",
    final_norm_in_the_loop=edit(
        ONE_BLOCK,
        f"{ONE_BLOCK}\nif norm == 'pre':\n    h = normalised(h, *vector[num_layers * size:].reshape(2, d_model))",
    )
    | edit(LAST, "return h", see="04#post-or-pre")
    | "The final norm comes after every block; it should come once, after the last block."
    | "Which lines of `call` are inside the loop over the blocks?",
    final_epsilon=edit(LAST, "return normalised(h, gamma, beta, 1e-3)", see="04#norm", costs_at_most=0.5)
    | "The final norm has Keras's default epsilon, 0.001; this exercise asks for 1e-6."
    | "Print `encoder.norm.epsilon`.",
    block_added=edit(ONE_BLOCK, ONE_BLOCK.replace("h = block", "h = h + block"), see="04#block")
    | "Each block's result is added to its input once more. The residual paths are inside the block."
    | "How often is a token added between the input of a block and its result?",
    normed_at_the_start=edit(
        ONE_BLOCK,
        "if start == 0 and norm == 'pre':\n"
        f"    h = normalised(h, *vector[num_layers * size:].reshape(2, d_model))\n{ONE_BLOCK}",
    )
    | "The final norm is applied to the stack's input, too. It comes once, after the last block."
    | "How often does `call` use `self.norm`?",
    mask_in_first_block_only=edit(ONE_BLOCK, ONE_BLOCK.replace("mask", "mask if start == 0 else None"))
    | "The mask reaches the first block only."
    | "Does every call of a block in your loop get the mask?",
    **shared.MASK_MISTAKES,
    dropout_never=shared.DROPOUT_NEVER,
    dropout_always=shared.DROPOUT_ALWAYS,
    dropout_inverted=shared.DROPOUT_INVERTED,
    third_dropout=shared.THIRD_DROPOUT,
    norm_not_handed_on=edit(ONE_BLOCK, ONE_BLOCK.replace("norm", '"post"'), see="04#post-or-pre")
    | "The blocks are post-norm whatever `norm` says: pass it on to them."
    | "Which arguments of `EncoderBlock` does your `__init__` set?",
)

exercise.advice(
    values_pre="A pre-norm stack ends with a layer norm (epsilon 1e-6) under the name `norm`.",
    masked="With `supports_masking = True` in the block, Keras treats the mask as a padding mask, (B, T), and passes "
    "it on: leave that line out.",
    dropout="Pass `training` and the rate to every block. The stack has no dropout of its own.",
)
exercise.hints(
    values_post=(
        "`self.blocks` is a list of `num_layers` different blocks, made in `__init__`.",
        "`call` sends x through the blocks one after the other, with the same mask and the same `training` for each.",
        "The final layer norm needs the name `norm`: keep the argument under another name, such as `self.order`.",
    ),
    values_pre=(
        "What does the lecture say about the size of the tokens at the end of a pre-norm stack?",
        "Print `type(encoder.norm)` for a pre-norm stack. Is it a layer?",
    ),
    masked="Does every call of a block in your loop get the mask, by its name?",
    dropout="Are `training` and the rate passed on to every block, by their names?",
    parameters="How many different blocks are in your list? `[block] * 3` holds one block three times.",
    training="Is every block in the list used in `call`, and every layer made in `__init__`?",
)
