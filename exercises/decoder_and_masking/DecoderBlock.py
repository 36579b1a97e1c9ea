"""Lab 08, exercise `DecoderBlock`."""

import math
from typing import Any

import numpy as np

from autograder.declare import Case, Exercise, edit
from exercises.decoder_and_masking.shared import weights
from exercises.drawing import normal, one_of, partial_mask, size_other_than
from exercises.formulas.decoder_block import (
    CAUSAL,
    FIRST,
    PRE_NORM,
    SECOND,
    THIRD,
    along,
    block,
    head_width,
    kept,
    one_by_one,
    third_erased,
)
from exercises.formulas.encoder_block import unpacked

exercise = Exercise("DecoderBlock", own_probe=True, probe_only=("dropout",))


def shapes(d_model: int, num_heads: int, d_ff: int) -> dict[str, tuple[int, ...]]:
    """Shapes of the block's weights, in the order in which the probe packs them."""
    width = head_width(d_model, num_heads)
    found: dict[str, tuple[int, ...]] = {}
    for name in ("self", "cross"):
        for part in ("query", "key", "value"):
            found |= {f"{name}.{part}.kernel": (d_model, num_heads, width), f"{name}.{part}.bias": (num_heads, width)}
        found |= {f"{name}.output.kernel": (num_heads, width, d_model), f"{name}.output.bias": (d_model,)}
    found |= {"in.kernel": (d_model, d_ff), "in.bias": (d_ff,), "out.kernel": (d_ff, d_model), "out.bias": (d_model,)}
    return found | {f"norm{number}.{part}": (d_model,) for number in (1, 2, 3) for part in ("gamma", "beta")}


@exercise.formula
def decoder_block(x, memory, d_model, num_heads, d_ff, weights, memory_mask=None):
    """`block` with its weights end to end, in the order of `shapes`.

    Args:
        x: (B, T, D).
        memory: (B, S, D).
        memory_mask: (T, S), (B, T, S) or (B, 1, S); true where a query may attend.
    """
    return block(x, memory, unpacked(weights, shapes(d_model, num_heads, d_ff)), memory_mask)


@exercise.formula_for("inference")
def decoder_block_inference(x, memory, d_model, num_heads, d_ff, weights):
    """Not in training, with `third_erased` in place of the three dropouts: nothing is dropped."""
    dropped = kept
    return block(x, memory, unpacked(weights, shapes(d_model, num_heads, d_ff)), None, dropped)


@exercise.formula_for("training")
def decoder_block_training(x, memory, d_model, num_heads, d_ff, weights):
    """The same in training, with `third_erased` in place of the three dropouts."""
    return block(x, memory, unpacked(weights, shapes(d_model, num_heads, d_ff)), None, third_erased)


@exercise.formula_for("prefix")
def decoder_block_prefix(x, memory, d_model, num_heads, d_ff, weights, cut):
    """The first `cut` results for the whole of x, and those for its first `cut` tokens alone: they are the same."""
    w = unpacked(weights, shapes(d_model, num_heads, d_ff))
    return {"whole": block(x, memory, w, None)[:, :cut], "prefix": block(x[:, :cut], memory, w, None)}


@exercise.formula_for("slopes")
def decoder_block_slopes(
    x: np.ndarray,
    memory: np.ndarray,
    d_model: int,
    num_heads: int,
    d_ff: int,
    weights: np.ndarray,
    weighting: np.ndarray,
    direction: np.ndarray,
    direction_x: np.ndarray,
    direction_memory: np.ndarray,
) -> dict[str, np.ndarray]:
    """Derivatives of ``sum(output * weighting)`` along x, along memory, and weight by weight."""
    parts = shapes(d_model, num_heads, d_ff)

    def run(x: np.ndarray, memory: np.ndarray, vector: np.ndarray) -> np.ndarray:
        return block(x, memory, unpacked(vector, parts), None)

    steps = [(direction_x, 0, 0), (0, direction_memory, 0), *((0, 0, part) for part in one_by_one(direction, parts))]
    return {"slopes": along(run, (x, memory, weights), steps, weighting)}


@exercise.formula_for("parameters")
def decoder_block_parameters(d_model: int, num_heads: int, d_ff: int) -> dict[str, int]:
    """The sizes of `shapes`, added up."""
    return {"trainable_parameters": sum(math.prod(shape) for _, shape in shapes(d_model, num_heads, d_ff).items())}


@exercise.formula_for("dropped")
def left_to_chance() -> dict[str, Any]:
    """Nothing: what a dropout erases is judged by a property."""
    return {}


SMALL = (6, 2, 5)


def _block_inputs(rng, *, batch=2, length=5, memory=7, sizes=(15, 3, 11), scale=0.5, spread=1.5, dropout=0.3):
    inputs: dict[str, Any] = dict(zip(("d_model", "num_heads", "d_ff"), sizes, strict=True))
    inputs |= {} if dropout is None else {"dropout": dropout}
    return {
        **inputs,
        "x": (spread * rng.normal(size=(batch, length, sizes[0]))).astype("float32"),
        "memory": (spread * rng.normal(size=(batch, memory, sizes[0]))).astype("float32"),
        "weights": weights(rng, shapes(*sizes), scale),
    }


@exercise.group("right values", points=3)
def values(rng):
    yield Case(_block_inputs(rng), "x (2, 5, 15), memory (2, 7, 15), num_heads=3, d_ff=11")
    yield Case(
        _block_inputs(rng, sizes=SMALL, batch=3, length=7, memory=5),
        "x (3, 7, 6), memory (3, 5, 6), num_heads=2, d_ff=5",
    )


@exercise.group("right values, for a sentence and for its beginning alone", points=2, must_fail_for=("keras_epsilon",))
def causal(rng):
    cases = []
    for cut in (1, 3):
        description = f"five tokens, and the first {cut if cut > 1 else 'one'} of them alone"
        cases.append(Case({**_block_inputs(rng), "cut": cut}, description, mode="prefix"))
    return cases


@exercise.group("memory masks of shape (B, 1, S), (T, S) and (B, T, S)", points=2)
def memory_mask(rng):
    cases = []
    for shape, dtype in (((2, 1, 7), "bool"), ((5, 7), "int32"), ((2, 5, 7), "float32")):
        mask = partial_mask(rng, *shape).astype(dtype)
        cases.append(Case({**_block_inputs(rng), "memory_mask": mask}, f"memory_mask {shape} of {dtype}"))
    mask = partial_mask(rng, 2, 1, 7)
    mask[1] = False
    description = "memory_mask (2, 1, 7), one source is padding alone"
    return [*cases, Case({**_block_inputs(rng), "memory_mask": mask}, description)]


@exercise.group("layer norms with epsilon 1e-6", must_pass_for=("cross_attention_causal", "feed_forward_from_first"))
def epsilon(rng):
    return Case(_block_inputs(rng, scale=0.012, spread=0.01), "tokens whose features hardly differ")


@exercise.group(
    "dropout: in training only, on each sub-layer's output, at its rate", points=2, must_fail_for=("keras_epsilon",)
)
def dropout(rng):
    erased = "each dropout set to erase a third of the features"
    many: dict[str, Any] = {"batch": 5, "length": 41, "sizes": SMALL}
    yield Case(_block_inputs(rng), f"training=True, {erased}", mode="training")
    yield Case(_block_inputs(rng), f"training=False, {erased}", mode="inference")
    yield Case(
        _block_inputs(rng, **many),
        "dropout=0.3, called with training=True and False",
        mode="dropped",
        property="drops at its rate",
    )
    yield Case(
        _block_inputs(rng, **many, dropout=None),
        "dropout as it is by default, called with training=True and False",
        mode="dropped",
        property="drops at its rate",
    )


@exercise.group("the right number of parameters")
def parameters(rng):
    sizes = one_of(rng, 9, 12, 15, 18, 21), 3, size_other_than(rng, 7, 29, 9, 12, 15, 18, 21)
    description = "trainable parameters, d_model={}, num_heads={}, d_ff={}".format(*sizes)
    return Case(_block_inputs(rng, sizes=sizes), description, mode="parameters")


@exercise.group("works inside tf.function, and gradients reach every weight", must_fail_for=("keras_epsilon",))
def training(rng):
    inputs = _block_inputs(rng, sizes=SMALL, length=3, memory=4)
    inputs |= {"weighting": normal(rng, 2, 3, 6), "direction_x": normal(rng, 2, 3, 6)}
    inputs |= {"direction_memory": normal(rng, 2, 4, 6), "direction": normal(rng, len(inputs["weights"]))}
    yield Case(_block_inputs(rng), "inside tf.function, batch size and lengths unknown", mode="graph")
    yield Case(inputs, "gradients, compared with numerical ones", mode="slopes")


LOOKS_BACK = "np.tri(x.shape[1], memory.shape[1], dtype=bool)"
CROSS_CALL = 'attended(first, memory, w, "cross", memory_mask)'
READS = "(transformed(second, w), 2)"

# Keras gives all keys the same weight where a query may see none.
WEIGHTS = "masked_softmax(q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1]), mask)"
ALIKE_IF_NOTHING_IS_SEEN = WEIGHTS, f"np.nan_to_num({WEIGHTS}, nan=1 / k.shape[2])"

exercise.mistakes(
    not_causal=edit(CAUSAL, "None", see="08#look-ahead-mask")
    | "The self-attention sees later tokens. The block has to be causal by itself, without a mask from outside."
    | "Which argument of the call of `self_attention` hides later tokens?",
    causal_reversed=edit(CAUSAL, f"{CAUSAL}.T", see="08#look-ahead-mask")
    | "The self-attention sees a token and what comes after it, the wrong half of the sentence.",
    causal_inverted=edit((CAUSAL, f"~{CAUSAL}"), ALIKE_IF_NOTHING_IS_SEEN, see="08#look-ahead-mask")
    | "The causal mask is the wrong way round: a token sees only what comes after it. In Keras True means: may "
    "attend. In PyTorch True means: blocked.",
    itself_hidden=edit(CAUSAL, "np.tri(x.shape[1], k=-1, dtype=bool)")
    | edit(ALIKE_IF_NOTHING_IS_SEEN, see="08#teacher-forcing")
    | "A token does not see itself. The target is shifted already: position t may see positions up to t.",
    cross_attention_causal=edit(
        '"cross", memory_mask',
        f'"cross", {LOOKS_BACK} & np.asarray(True if memory_mask is None else memory_mask).astype(bool)',
    )
    | edit(ALIKE_IF_NOTHING_IS_SEEN, see="08#decoder-block")
    | "The cross-attention is causal too. The whole source is known from the start: every target token may see all of "
    "it." | "Which of the two attentions reads a sentence that is not written yet?",
    memory_mask_ignored=edit('"cross", memory_mask', '"cross", None')
    | "memory_mask hides nothing. Is it passed to the cross-attention, and by its name, `attention_mask=`?",
    memory_mask_inverted=edit(
        '"cross", memory_mask', '"cross", None if memory_mask is None else ~np.asarray(memory_mask).astype(bool)'
    )
    | "memory_mask is read the wrong way round. Here and in Keras True means: may attend.",
    cross_attends_to_itself=edit(CROSS_CALL, 'attended(first, first, w, "cross", None)', see="08#decoder-block")
    | "The cross-attention takes keys and values from the target. They should come from the memory."
    | "Which of its arguments does an attention make keys and values of?",
    cross_attention_first=edit('attended(x, x, w, "self", causal)', 'attended(x, memory, w, "cross", memory_mask)')
    | edit(CROSS_CALL, 'attended(first, first, w, "self", causal)', see="08#decoder-block")
    | "The cross-attention comes first. The self-attention should come first, so that the queries to the source know "
    "their context.",
    cross_query_from_input=edit("attended(first, memory", "attended(x, memory", see="08#decoder-block")
    | "The cross-attention's query is the block's input; it should be the result of the first sub-layer.",
    second_residual_from_input=edit("first + dropout", "x + dropout")
    | "The second sum adds the block's input again; it should add the result of the first sub-layer.",
    third_residual_from_input=edit("second + dropout", "x + dropout")
    | "The third sum adds the block's input; it should add the result of the second sub-layer.",
    third_residual_from_first=edit("second + dropout", "first + dropout")
    | "The third sum adds the result of the first sub-layer; it should add the result of the second one.",
    feed_forward_from_input=edit("transformed(second, w)", "transformed(x, w)")
    | "The feed-forward network reads the block's input; it should read the result of the cross-attention's part.",
    feed_forward_from_first=edit("transformed(second, w)", "transformed(first, w)")
    | "The feed-forward network reads the result of the self-attention's part; the cross-attention should come "
    "between.",
    no_first_residual=edit("x + dropout", "dropout", see="04#without-residual")
    | "The residual path around the self-attention is missing.",
    no_second_residual=edit("first + dropout", "dropout", see="04#without-residual")
    | "The residual path around the cross-attention is missing.",
    no_third_residual=edit("second + dropout", "dropout", see="04#without-residual")
    | "The residual path around the feed-forward network is missing.",
    no_residuals=edit("x + dropout", "dropout")
    | edit("first + dropout", "dropout")
    | edit("second + dropout", "dropout", see="04#without-residual")
    | "All residual paths are missing: add each sub-layer's input to its output.",
    norm_used_twice=edit('"norm3"', '"norm2"')
    | "norm2 is used in place of norm3 as well: the block should use three norms.",
    one_norm_for_all=edit(('"norm2"', '"norm1"'), ('"norm3"', '"norm1"'))
    | "norm1 is used in all three places: the block should use three norms.",
    norms_two_and_three_swapped=edit(('"norm2"', '"norm3"'), ('"norm3"', '"norm2"'))
    | "norm2 and norm3 are swapped: norm2 belongs to the cross-attention.",
    pre_norm=edit(*PRE_NORM, see="04#post-or-pre")
    | "The norms come before the sub-layers. This block should be post-norm: normalise each sum."
    | "Is what `call` returns the result of a norm, or a sum?",
    norm_before_sum=edit(FIRST, 'first = x + norm(dropout(attended(x, x, w, "self", causal), 0), w, "norm1")')
    | edit(SECOND, f'second = first + norm(dropout({CROSS_CALL}, 1), w, "norm2")')
    | edit(THIRD, 'return second + norm(dropout(transformed(second, w), 2), w, "norm3")')
    | "The sub-layer's output is normalised and then added; the norm should come after the sum.",
    dropout_never=edit("None, third_erased)", "None)", see="04#dropout")
    | "With `training=True` nothing is dropped: are the three dropouts called, and not with `training=False`?",
    dropout_always=edit("dropped = kept", "dropped = third_erased")
    | edit("memory_mask, dropout=kept", "memory_mask, dropout=lambda h, place: h * np.nan", see="04#dropout")
    | "Something is dropped with `training=False` too: `training` does not decide about it.",
    dropout_after_sum=edit(FIRST, 'first = norm(dropout(x + attended(x, x, w, "self", causal), 0), w, "norm1")')
    | edit(SECOND, f'second = norm(dropout(first + {CROSS_CALL}, 1), w, "norm2")')
    | edit(THIRD, 'return norm(dropout(second + transformed(second, w), 2), w, "norm3")')
    | "Dropout comes after the sum, so it erases parts of the residual path.",
    dropout_after_norm=edit(FIRST, 'first = dropout(norm(x + attended(x, x, w, "self", causal), w, "norm1"), 0)')
    | edit(SECOND, f'second = dropout(norm(first + {CROSS_CALL}, w, "norm2"), 1)')
    | edit(THIRD, 'return dropout(norm(second + transformed(second, w), w, "norm3"), 2)')
    | "Dropout comes after the norm; it belongs to the sub-layer's output, before the sum.",
    dropout_on_input=edit(
        FIRST, 'first = norm(x + attended(dropout(x, 0), dropout(x, 0), w, "self", causal), w, "norm1")'
    )
    | edit(SECOND, f'second = norm(first + {CROSS_CALL.replace("(first", "(dropout(first, 1)")}, w, "norm2")')
    | edit(THIRD, 'return norm(second + transformed(dropout(second, 2), w), w, "norm3")')
    | "Dropout is applied to the sub-layer's input, not to its output.",
    first_dropout_missing=edit('dropout(attended(x, x, w, "self", causal), 0)', 'attended(x, x, w, "self", causal)')
    | "The self-attention's output is not dropped in training: is dropout1 called, and not with `training=False`?",
    second_dropout_missing=edit(f"dropout({CROSS_CALL}, 1)", CROSS_CALL)
    | "The cross-attention's output is not dropped in training: is dropout2 called, and not with `training=False`?",
    third_dropout_missing=edit("dropout(transformed(second, w), 2)", "transformed(second, w)")
    | "The feed-forward network's output is not dropped in training: is dropout3 called, and not with "
    "`training=False`?",
    dropout_used_three_times=edit(("memory_mask), 1)", "memory_mask), 0)"), (READS, "(transformed(second, w), 0)"))
    | "dropout1 is used in place of dropout2 and dropout3 as well.",
    keras_epsilon=edit("gamma, beta, 1e-06)", "gamma, beta, 0.001)", costs_at_most=0.5)
    | "The norms have Keras's default epsilon, 0.001; this exercise asks for 1e-6.",
    causal_in_training_only=edit(CAUSAL, f"{CAUSAL} if dropout is third_erased else None", see="08#leak")
    | "Without `training=True` the self-attention sees later tokens. The block is always causal."
    | "Which argument of the call of `self_attention` hides later tokens, and what is it without `training`?",
    cross_causal_unmasked=edit('"cross", memory_mask', f'"cross", {LOOKS_BACK}', see="08#decoder-block")
    | "The cross-attention is causal, and memory_mask hides nothing. The whole source is known from the start, but "
    "for its padding.",
    cross_lines_first=edit(
        (FIRST, 'first = norm(x + dropout(attended(x, memory, w, "cross", memory_mask), 1), w, "norm2")'),
        (SECOND, 'second = norm(first + dropout(attended(first, first, w, "self", causal), 0), w, "norm1")'),
        see="08#decoder-block",
    )
    | "The cross-attention comes first. The self-attention should come first, so that the queries to the source know "
    "their context.",
)

exercise.advice(
    causal="Both have to be right. Where they differ from each other, a token sees what comes later.",
    memory_mask="Keras takes these shapes as they are, if the mask is passed by its name.",
    epsilon="Keras's own default for epsilon is 1e-3. The contract says 1e-6, for all three norms.",
    dropout="Each sub-layer's output should go through its own dropout, then the sum. The block needs no "
    "other dropout.",
)
exercise.hints(
    values=(
        "Write three parts of the same form: self-attention with norm1 and dropout1, cross-attention with norm2 and "
        "dropout2, feed-forward network with norm3 and dropout3.",
        "Each line has the form `x = self.norm1(x + self.dropout1(…, training=training))`: what belongs in place of "
        "the dots?",
        "Where do the queries of the cross-attention come from, and where the keys? The output has one row for each "
        "target token.",
    ),
    causal="`use_causal_mask=True` belongs to one of the two attentions.",
    memory_mask="`memory_mask` belongs to the cross-attention alone. Pass it by its name: the fourth argument by "
    "position is `query_mask`.",
    parameters="Both attentions have H heads of `key_dim` D/H, and three norms of 2·D numbers. Compare with "
    "`block.count_params()`.",
    training="Search `call`, and what it calls, for `np.`, `ops.tri` and `x.shape[…]`: inside a graph B, T and S may "
    "be unknown. `use_causal_mask=True` needs no length; `ops.arange` takes that of `ops.shape(x)[1]`.",
)
