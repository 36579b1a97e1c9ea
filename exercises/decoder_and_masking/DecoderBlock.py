"""Lab 08, exercise `DecoderBlock`."""

import math
from typing import Any

import numpy as np

from autograder.declaring import Case, Exercise, wrong
from coursekit.generator import Generator
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

exercise = Exercise("DecoderBlock", probe_only=("dropout",))


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
def decoder_block(
    x: np.ndarray,
    memory: np.ndarray,
    d_model: int,
    num_heads: int,
    d_ff: int,
    weights: np.ndarray,
    memory_mask: Any = None,
) -> np.ndarray:
    """`block` with its weights end to end, in the order of `shapes`.

    Args:
        x: (B, T, D).
        memory: (B, S, D).
        memory_mask: (T, S), (B, T, S) or (B, 1, S); true where a query may attend.
    """
    return block(x, memory, unpacked(weights, shapes(d_model, num_heads, d_ff)), memory_mask)


@exercise.formula_for("inference")
def decoder_block_inference(
    x: np.ndarray, memory: np.ndarray, d_model: int, num_heads: int, d_ff: int, weights: np.ndarray
) -> np.ndarray:
    """Not in training, with `third_erased` in place of the three dropouts: nothing is dropped."""
    dropped = kept
    return block(x, memory, unpacked(weights, shapes(d_model, num_heads, d_ff)), None, dropped)


@exercise.formula_for("training")
def decoder_block_training(
    x: np.ndarray, memory: np.ndarray, d_model: int, num_heads: int, d_ff: int, weights: np.ndarray
) -> np.ndarray:
    """The same in training, with `third_erased` in place of the three dropouts."""
    return block(x, memory, unpacked(weights, shapes(d_model, num_heads, d_ff)), None, third_erased)


@exercise.formula_for("prefix")
def decoder_block_prefix(
    x: np.ndarray, memory: np.ndarray, d_model: int, num_heads: int, d_ff: int, weights: np.ndarray, cut: int
) -> dict[str, np.ndarray]:
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


def _block_inputs(
    rng: Generator,
    *,
    batch: int = 2,
    length: int = 5,
    memory: int = 7,
    sizes: tuple[int, int, int] = (15, 3, 11),
    scale: float = 0.5,
    spread: float = 1.5,
    dropout: float | None = 0.3,
) -> dict:
    inputs: dict[str, Any] = dict(zip(("d_model", "num_heads", "d_ff"), sizes, strict=True))
    inputs |= {} if dropout is None else {"dropout": dropout}
    return {
        **inputs,
        "x": (spread * rng.normal(size=(batch, length, sizes[0]))).astype("float32"),
        "memory": (spread * rng.normal(size=(batch, memory, sizes[0]))).astype("float32"),
        "weights": weights(rng, shapes(*sizes), scale),
    }


@exercise.group("right values", points=3)
def values(rng: Generator) -> list[Case]:
    return [
        Case(_block_inputs(rng), description="x (2, 5, 15), memory (2, 7, 15), num_heads=3, d_ff=11"),
        Case(
            _block_inputs(rng, sizes=SMALL, batch=3, length=7, memory=5),
            description="x (3, 7, 6), memory (3, 5, 6), num_heads=2, d_ff=5",
        ),
    ]


@exercise.group(
    "right values, for a sentence and for its beginning alone",
    points=2,
    advice="Both have to be right. Where they differ from each other, a token sees what comes later.",
    must_fail_for=("keras_epsilon",),
)
def causal(rng: Generator) -> list[Case]:
    cases = []
    for cut in (1, 3):
        description = f"five tokens, and the first {cut if cut > 1 else 'one'} of them alone"
        cases.append(Case({**_block_inputs(rng), "cut": cut}, mode="prefix", description=description))
    return cases


@exercise.group(
    "memory masks of shape (B, 1, S), (T, S) and (B, T, S)",
    points=2,
    advice="Keras takes these shapes as they are, if the mask is passed by its name.",
)
def memory_mask(rng: Generator) -> list[Case]:
    cases = []
    for shape, dtype in (((2, 1, 7), "bool"), ((5, 7), "int32"), ((2, 5, 7), "float32")):
        mask = partial_mask(rng, *shape).astype(dtype)
        cases.append(Case({**_block_inputs(rng), "memory_mask": mask}, description=f"memory_mask {shape} of {dtype}"))
    mask = partial_mask(rng, 2, 1, 7)
    mask[1] = False
    description = "memory_mask (2, 1, 7), one source is padding alone"
    return [*cases, Case({**_block_inputs(rng), "memory_mask": mask}, description=description)]


@exercise.group(
    "layer norms with epsilon 1e-6",
    points=1,
    advice="Keras's own default for epsilon is 1e-3. The contract says 1e-6, for all three norms.",
    must_pass_for=("cross_attention_causal", "feed_forward_from_first"),
)
def epsilon(rng: Generator) -> list[Case]:
    return [Case(_block_inputs(rng, scale=0.012, spread=0.01), description="tokens whose features hardly differ")]


@exercise.group(
    "dropout: in training only, on each sub-layer's output, at its rate",
    points=2,
    advice="Each sub-layer's output goes through its own dropout, then the sum. No other dropout is in the block.",
    must_fail_for=("keras_epsilon",),
)
def dropout(rng: Generator) -> list[Case]:
    erased = "each dropout set to erase a third of the features"
    many: dict[str, Any] = {"batch": 5, "length": 41, "sizes": SMALL}
    return [
        Case(_block_inputs(rng), mode="training", description=f"training=True, {erased}"),
        Case(_block_inputs(rng), mode="inference", description=f"training=False, {erased}"),
        Case(
            _block_inputs(rng, **many),
            mode="dropped",
            description="dropout=0.3, called with training=True and False",
            property="drops at its rate",
        ),
        Case(
            _block_inputs(rng, **many, dropout=None),
            mode="dropped",
            description="dropout as it is by default, called with training=True and False",
            property="drops at its rate",
        ),
    ]


@exercise.group("the right number of parameters", points=1)
def parameters(rng: Generator) -> list[Case]:
    sizes = one_of(rng, 9, 12, 15, 18, 21), 3, size_other_than(rng, 7, 29, 9, 12, 15, 18, 21)
    description = "trainable parameters, d_model={}, num_heads={}, d_ff={}".format(*sizes)
    return [Case(_block_inputs(rng, sizes=sizes), mode="parameters", description=description)]


@exercise.group(
    "works inside tf.function, and gradients reach every weight", points=1, must_fail_for=("keras_epsilon",)
)
def training(rng: Generator) -> list[Case]:
    inputs = _block_inputs(rng, sizes=SMALL, length=3, memory=4)
    inputs |= {"weighting": normal(rng, 2, 3, 6), "direction_x": normal(rng, 2, 3, 6)}
    inputs |= {"direction_memory": normal(rng, 2, 4, 6), "direction": normal(rng, len(inputs["weights"]))}
    return [
        Case(_block_inputs(rng), mode="graph", description="inside tf.function, batch size and lengths unknown"),
        Case(inputs, mode="slopes", description="gradients, compared with numerical ones"),
    ]


LOOKS_BACK = "np.tri(x.shape[1], memory.shape[1], dtype=bool)"
CROSS_CALL = 'attended(first, memory, w, "cross", memory_mask)'
READS = "(transformed(second, w), 2)"

# Keras gives all keys the same weight where a query may see none.
WEIGHTS = "masked_softmax(q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1]), mask)"
ALIKE_IF_NOTHING_IS_SEEN = WEIGHTS, f"np.nan_to_num({WEIGHTS}, nan=1 / k.shape[2])"

exercise.mistakes(
    not_causal=wrong(
        "The self-attention sees later tokens. The block has to be causal by itself, without a mask from outside.",
        (CAUSAL, "None"),
        hint="Which argument of the call of `self_attention` hides later tokens?",
        see="08#look-ahead-mask",
    ),
    causal_reversed=wrong(
        "The self-attention sees a token and what comes after it, the wrong half of the sentence.",
        (CAUSAL, f"{CAUSAL}.T"),
        see="08#look-ahead-mask",
    ),
    causal_inverted=wrong(
        "The causal mask is the wrong way round: a token sees only what comes after it. In Keras True means: may "
        "attend. In PyTorch True means: blocked.",
        (CAUSAL, f"~{CAUSAL}"),
        ALIKE_IF_NOTHING_IS_SEEN,
        see="08#look-ahead-mask",
    ),
    itself_hidden=wrong(
        "A token does not see itself. The target is shifted already: position t may see positions up to t.",
        (CAUSAL, "np.tri(x.shape[1], k=-1, dtype=bool)"),
        ALIKE_IF_NOTHING_IS_SEEN,
        see="08#teacher-forcing",
    ),
    cross_attention_causal=wrong(
        "The cross-attention is causal too. The whole source is known from the start: every target token may see all "
        "of it.",
        (
            '"cross", memory_mask',
            f'"cross", {LOOKS_BACK} & np.asarray(True if memory_mask is None else memory_mask).astype(bool)',
        ),
        ALIKE_IF_NOTHING_IS_SEEN,
        hint="Which of the two attentions reads a sentence that is not written yet?",
        see="08#decoder-block",
    ),
    memory_mask_ignored=wrong(
        "memory_mask hides nothing. Is it passed to the cross-attention, and by its name, `attention_mask=`?",
        ('"cross", memory_mask', '"cross", None'),
    ),
    memory_mask_inverted=wrong(
        "memory_mask is read the wrong way round. Here and in Keras True means: may attend.",
        ('"cross", memory_mask', '"cross", None if memory_mask is None else ~np.asarray(memory_mask).astype(bool)'),
    ),
    cross_attends_to_itself=wrong(
        "The cross-attention takes keys and values from the target. They should come from the memory.",
        (CROSS_CALL, 'attended(first, first, w, "cross", None)'),
        hint="Which of its arguments does an attention make keys and values of?",
        see="08#decoder-block",
    ),
    cross_attention_first=wrong(
        "The cross-attention comes first. The self-attention should come first, so that the queries to the source know "
        "their context.",
        ('attended(x, x, w, "self", causal)', 'attended(x, memory, w, "cross", memory_mask)'),
        (CROSS_CALL, 'attended(first, first, w, "self", causal)'),
        see="08#decoder-block",
    ),
    cross_query_from_input=wrong(
        "The cross-attention's query is the block's input; it should be the result of the first sub-layer.",
        ("attended(first, memory", "attended(x, memory"),
        see="08#decoder-block",
    ),
    second_residual_from_input=wrong(
        "The second sum adds the block's input again; it should add the result of the first sub-layer.",
        ("first + dropout", "x + dropout"),
    ),
    third_residual_from_input=wrong(
        "The third sum adds the block's input; it should add the result of the second sub-layer.",
        ("second + dropout", "x + dropout"),
    ),
    third_residual_from_first=wrong(
        "The third sum adds the result of the first sub-layer; it should add the result of the second one.",
        ("second + dropout", "first + dropout"),
    ),
    feed_forward_from_input=wrong(
        "The feed-forward network reads the block's input; it should read the result of the cross-attention's part.",
        ("transformed(second, w)", "transformed(x, w)"),
    ),
    feed_forward_from_first=wrong(
        "The feed-forward network reads the result of the self-attention's part; the cross-attention should come "
        "between.",
        ("transformed(second, w)", "transformed(first, w)"),
    ),
    no_first_residual=wrong(
        "The residual path around the self-attention is missing.", ("x + dropout", "dropout"), see="04#without-residual"
    ),
    no_second_residual=wrong(
        "The residual path around the cross-attention is missing.",
        ("first + dropout", "dropout"),
        see="04#without-residual",
    ),
    no_third_residual=wrong(
        "The residual path around the feed-forward network is missing.",
        ("second + dropout", "dropout"),
        see="04#without-residual",
    ),
    no_residuals=wrong(
        "All residual paths are missing: add each sub-layer's input to its output.",
        ("x + dropout", "dropout"),
        ("first + dropout", "dropout"),
        ("second + dropout", "dropout"),
        see="04#without-residual",
    ),
    norm_used_twice=wrong(
        "norm2 is used in place of norm3 as well: the block should use three norms.", ('"norm3"', '"norm2"')
    ),
    one_norm_for_all=wrong(
        "norm1 is used in all three places: the block should use three norms.",
        ('"norm2"', '"norm1"'),
        ('"norm3"', '"norm1"'),
    ),
    norms_two_and_three_swapped=wrong(
        "norm2 and norm3 are swapped: norm2 belongs to the cross-attention.",
        ('"norm2"', '"norm3"'),
        ('"norm3"', '"norm2"'),
    ),
    pre_norm=wrong(
        "The norms come before the sub-layers. This block should be post-norm: normalise each sum.",
        *PRE_NORM,
        hint="Is what `call` returns the result of a norm, or a sum?",
        see="04#post-or-pre",
    ),
    norm_before_sum=wrong(
        "The sub-layer's output is normalised and then added; the norm should come after the sum.",
        (FIRST, 'first = x + norm(dropout(attended(x, x, w, "self", causal), 0), w, "norm1")'),
        (SECOND, f'second = first + norm(dropout({CROSS_CALL}, 1), w, "norm2")'),
        (THIRD, 'return second + norm(dropout(transformed(second, w), 2), w, "norm3")'),
    ),
    dropout_never=wrong(
        "With `training=True` nothing is dropped: are the three dropouts called, and not with `training=False`?",
        ("None, third_erased)", "None)"),
        see="04#dropout",
    ),
    dropout_always=wrong(
        "Something is dropped with `training=False` too: `training` does not decide about it.",
        ("dropped = kept", "dropped = third_erased"),
        ("memory_mask, dropout=kept", "memory_mask, dropout=lambda h, place: h * np.nan"),  # what comes is not known
        see="04#dropout",
    ),
    dropout_after_sum=wrong(
        "Dropout comes after the sum, so it erases parts of the residual path.",
        (FIRST, 'first = norm(dropout(x + attended(x, x, w, "self", causal), 0), w, "norm1")'),
        (SECOND, f'second = norm(dropout(first + {CROSS_CALL}, 1), w, "norm2")'),
        (THIRD, 'return norm(dropout(second + transformed(second, w), 2), w, "norm3")'),
    ),
    dropout_after_norm=wrong(
        "Dropout comes after the norm; it belongs to the sub-layer's output, before the sum.",
        (FIRST, 'first = dropout(norm(x + attended(x, x, w, "self", causal), w, "norm1"), 0)'),
        (SECOND, f'second = dropout(norm(first + {CROSS_CALL}, w, "norm2"), 1)'),
        (THIRD, 'return dropout(norm(second + transformed(second, w), w, "norm3"), 2)'),
    ),
    dropout_on_input=wrong(
        "Dropout is applied to the sub-layer's input, not to its output.",
        (FIRST, 'first = norm(x + attended(dropout(x, 0), dropout(x, 0), w, "self", causal), w, "norm1")'),
        (SECOND, f'second = norm(first + {CROSS_CALL.replace("(first", "(dropout(first, 1)")}, w, "norm2")'),
        (THIRD, 'return norm(second + transformed(dropout(second, 2), w), w, "norm3")'),
    ),
    first_dropout_missing=wrong(
        "The self-attention's output is not dropped in training: is dropout1 called, and not with `training=False`?",
        ('dropout(attended(x, x, w, "self", causal), 0)', 'attended(x, x, w, "self", causal)'),
    ),
    second_dropout_missing=wrong(
        "The cross-attention's output is not dropped in training: is dropout2 called, and not with `training=False`?",
        (f"dropout({CROSS_CALL}, 1)", CROSS_CALL),
    ),
    third_dropout_missing=wrong(
        "The feed-forward network's output is not dropped in training: is dropout3 called, and not with "
        "`training=False`?",
        ("dropout(transformed(second, w), 2)", "transformed(second, w)"),
    ),
    dropout_used_three_times=wrong(
        "dropout1 is used in place of dropout2 and dropout3 as well.",
        ("memory_mask), 1)", "memory_mask), 0)"),
        (READS, "(transformed(second, w), 0)"),
    ),
    keras_epsilon=wrong(
        "The norms have Keras's default epsilon, 0.001; this exercise asks for 1e-6.",
        ("gamma, beta, 1e-06)", "gamma, beta, 0.001)"),
        costs_at_most=0.5,
    ),
    causal_in_training_only=wrong(
        "Without `training=True` the self-attention sees later tokens. The block is always causal.",
        (CAUSAL, f"{CAUSAL} if dropout is third_erased else None"),
        hint="Which argument of the call of `self_attention` hides later tokens, and what is it without `training`?",
        see="08#leak",
    ),
    cross_causal_unmasked=wrong(
        "The cross-attention is causal, and memory_mask hides nothing. The whole source is known from the start, but "
        "for its padding.",
        ('"cross", memory_mask', f'"cross", {LOOKS_BACK}'),
        see="08#decoder-block",
    ),
    cross_lines_first=wrong(
        "The cross-attention comes first. The self-attention should come first, so that the queries to the source know "
        "their context.",
        (FIRST, 'first = norm(x + dropout(attended(x, memory, w, "cross", memory_mask), 1), w, "norm2")'),
        (SECOND, 'second = norm(first + dropout(attended(first, first, w, "self", causal), 0), w, "norm1")'),
        see="08#decoder-block",
    ),
)


exercise.hints(
    "Write three parts of the same form: self-attention with norm1 and dropout1, cross-attention with norm2 and "
    "dropout2, feed-forward network with norm3 and dropout3.",
    "Each line has the form `x = self.norm1(x + self.dropout1(…, training=training))`: what belongs in place of the "
    "dots?",
    "Where do the queries of the cross-attention come from, and where the keys? The output has one row for each target "
    "token.",
)
exercise.hints("`use_causal_mask=True` belongs to one of the two attentions.", group="causal")
exercise.hints(
    "`memory_mask` belongs to the cross-attention alone. Pass it by its name: the fourth argument by position is "
    "`query_mask`.",
    group="memory_mask",
)
exercise.hints(
    "Both attentions have H heads of `key_dim` D/H, and three norms of 2·D numbers. Compare with "
    "`block.count_params()`.",
    group="parameters",
)
exercise.hints(
    "Search `call` for `np.` and for `x.shape[…]`: inside a graph B, T and S may be unknown, and `x.shape[1]` is then "
    "None. `ops.shape(x)[1]` is the length.",
    group="training",
)
