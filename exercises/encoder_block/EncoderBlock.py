"""Lab 04, exercise `EncoderBlock`."""

import math
from dataclasses import replace

import numpy as np

from autograder.declare import Advice, Case, Exercise, Mistake, edit, seen
from exercises.drawing import one_of, partial_mask, size_other_than
from exercises.encoder_block import shared
from exercises.encoder_block.shared import (
    block,
    block_inputs,
    block_shapes,
    block_size,
    coarse,
    draw_dropout,
    half_erased,
    kept,
    left_to_chance,
    same_again,
    training,
    unassigned,
)
from exercises.formulas.derivatives import weight_by_weight
from exercises.formulas.encoder_block import unpacked


def _values(norm: str | None, description: str):
    def draw(rng) -> list[Case]:
        return [
            Case(block_inputs(rng, norm), f"x (2, 7, 15), num_heads=3, d_ff=11, {description}"),
            Case(block_inputs(rng, norm, sizes=(6, 2, 5), batch=3), f"x (3, 7, 6), num_heads=2, d_ff=5, {description}"),
        ]

    return draw


EPSILON_FIRST = (
    "Where no mistake is named, look at both norms first: with Keras's default epsilon every number is a little off, "
    "and the check cannot tell what else is wrong."
)

exercise = Exercise("EncoderBlock", own_probe=True, probe_only=("dropout",), uses=("FeedForward",))


@exercise.formula
def encoder_block(x, d_model, num_heads, d_ff, weights, norm="post", attention_mask=None):
    """`block` with its weights end to end, in the order of `block_shapes`.

    Args:
        x: (B, T, D).
        attention_mask: (T, T), (B, T, T) or (B, 1, T); true where a query may attend.
    """
    mask = attention_mask
    return block(x, unpacked(weights, block_shapes(d_model, num_heads, d_ff)), norm, mask, kept)


@exercise.formula_for("training")
def in_training(x, d_model, num_heads, d_ff, weights, norm="post"):
    """The same in training, with `half_erased` in place of both dropouts."""
    return block(x, unpacked(weights, block_shapes(d_model, num_heads, d_ff)), norm, None, half_erased)


@exercise.formula_for("inference")
def in_inference(x, d_model, num_heads, d_ff, weights, norm="post"):
    """Not in training, with `half_erased` in place of both dropouts: nothing is dropped."""
    dropped = kept
    return block(x, unpacked(weights, block_shapes(d_model, num_heads, d_ff)), norm, None, dropped)


@exercise.formula_for("slopes")
def slopes(x, d_model, num_heads, d_ff, weights, weighting, direction, direction_x, norm="post"):
    """Derivatives of ``sum(output * weighting)``, see `weight_by_weight`."""
    shapes = block_shapes(d_model, num_heads, d_ff)
    sizes = [math.prod(shape) for shape in shapes.values()]

    def run(x: np.ndarray, vector: np.ndarray) -> np.ndarray:
        return block(x, unpacked(vector, shapes), norm, None, kept)

    return {"slopes": weight_by_weight(run, x, weights, sizes, weighting, direction, direction_x)}


@exercise.formula_for("parameters")
def number_of_parameters(d_model: int, num_heads: int, d_ff: int) -> dict[str, int]:
    """`block_size` under the name of its result."""
    return {"trainable_parameters": block_size(d_model, num_heads, d_ff)}


@exercise.formula_for("reload")
def rebuilt(x, d_model, num_heads, d_ff, weights, norm="post"):
    """A block that is rebuilt from its configuration does the same."""
    configured = norm
    return encoder_block(x, d_model, num_heads, d_ff, weights, configured)


exercise.formula_for("repeated")(same_again)
exercise.formula_for("dropped", "dropped_reloaded")(left_to_chance)


@exercise.formula_for("renamed")
def name_kept() -> dict[str, str]:
    """A layer that is rebuilt from its configuration has the name of the first."""
    return {"name": "kept"}


exercise.group("post-norm, right values", points=2, values_post=_values(None, "norm as it is by default"))
exercise.group("pre-norm, right values", points=2, values_pre=_values("pre", 'norm="pre"'))


@exercise.group("masks of shape (T, T), (B, T, T) and (B, 1, T)", points=2)
def masked(rng):
    shapes = (((7, 7), "bool", "post"), ((2, 7, 7), "int32", "pre"), ((2, 1, 7), "float32", "post"))
    cases = []
    for shape, dtype, norm in shapes:
        mask = partial_mask(rng, *shape).astype(dtype)
        cases.append(
            Case({**block_inputs(rng, norm), "attention_mask": mask}, f"mask {shape} of {dtype}, norm={norm!r}")
        )
    mask = partial_mask(rng, 2, 7, 7)
    mask[1, 4] = False
    return [
        *cases,
        Case({**block_inputs(rng), "attention_mask": mask}, "mask (2, 7, 7), one query may attend to nothing"),
    ]


exercise.group(
    "layer norms with epsilon 1e-6",
    epsilon=lambda rng: [
        Case(
            block_inputs(rng, norm, scale=0.02, spread=0.01),
            f"tokens whose features hardly differ, norm={norm!r}",
            scale=0.1,
        )
        for norm in ("post", "pre")
    ],
)
exercise.group(
    "dropout: in training only, on each sub-layer's output, at its rate",
    points=2,
    dropout=draw_dropout(None, "post", "pre"),
)


@exercise.group("the right number of parameters")
def parameters(rng):
    sizes = one_of(rng, 9, 12, 15, 18, 21), 3, size_other_than(rng, 7, 29, 9, 12, 15, 18, 21)
    description = "trainable parameters, d_model={}, num_heads={}, d_ff={}".format(*sizes)
    return Case(unassigned(block_inputs(rng, sizes=sizes)), description, mode="parameters")


exercise.group("works inside tf.function, and gradients reach every weight", training=training(None))


@exercise.group("survives the round trip through get_config")
def reload(rng):
    watched = coarse(block_inputs(rng, "pre", batch=29))
    yield Case(block_inputs(rng, "pre"), 'norm="pre", rebuilt by from_config(get_config())', mode="reload")
    yield Case(
        watched, "dropout=0.3, rebuilt, called in training", mode="dropped_reloaded", property="drops at its rate"
    )
    yield Case(block_inputs(rng), "rebuilt by from_config(get_config()): its name", mode="renamed")


exercise.mistakes(
    always_post=edit(shared.IS_POST, "if True:", see="04#post-or-pre")
    | "The block is post-norm whatever `norm` says."
    | shared.WHERE_NORM,
    always_pre=edit(shared.IS_POST, "if False:", see="04#post-or-pre")
    | "The block is pre-norm whatever `norm` says; by default it is post-norm."
    | shared.WHERE_NORM,
    orders_exchanged=edit(shared.IS_POST, 'if norm == "pre":', see="04#post-or-pre")
    | "The two orders are exchanged: the block is pre-norm where `norm` says post, and post-norm where it says pre.",
    no_first_residual=edit(shared.POST_1, "norm1(dropout(attention(x), 0))")
    | edit(shared.PRE_1, "dropout(attention(norm1(x)), 0)", see="04#without-residual")
    | "The residual path around the attention is missing."
    | "What is left of a token when attention has taken other tokens' values?",
    no_second_residual=edit(shared.POST_2, "norm2(dropout(transform(h), 1))")
    | edit(shared.PRE_2, "dropout(transform(norm2(h)), 1)", see="04#without-residual")
    | "The residual path around the feed-forward network is missing."
    | "Both halves of the block have the same form. What does the first add?",
    no_residuals=edit(shared.POST_1, "norm1(dropout(attention(x), 0))")
    | edit(shared.POST_2, "norm2(dropout(transform(h), 1))")
    | edit(shared.PRE_1, "dropout(attention(norm1(x)), 0)")
    | edit(shared.PRE_2, "dropout(transform(norm2(h)), 1)", see="04#without-residual")
    | "Both residual paths are missing: add the input of each half to the result of its sub-layer."
    | "What does the lecture measure of a stack without them?",
    residual_from_normed=edit(shared.PRE_1, "norm1(x) + dropout(attention(norm1(x)), 0)")
    | edit(shared.PRE_2, "norm2(h) + dropout(transform(norm2(h)), 1)", see="04#post-or-pre")
    | "In pre-norm the sum takes the normalised token; the residual path should carry the token as it came."
    | "Does your code give the normalised token the name of the token?",
    first_residual_from_normed=edit(shared.PRE_1, "norm1(x) + dropout(attention(norm1(x)), 0)", see="04#post-or-pre")
    | "In the first half of pre-norm the sum takes the normalised token; the residual path should carry the token as "
    "it came." | "Does your code give the normalised token the name of the token?",
    second_residual_from_input=edit(shared.POST_2, "norm2(x + dropout(transform(h), 1))")
    | edit(shared.PRE_2, "x + dropout(transform(norm2(h)), 1)", see="04#block")
    | "The second sum adds the block's input again; it should add the result of the first half.",
    feed_forward_from_input=edit(shared.POST_2, "norm2(h + dropout(transform(x), 1))")
    | edit(shared.PRE_2, "h + dropout(transform(norm2(x)), 1)", see="04#block")
    | "The feed-forward network reads the block's input; it should read the result of the first half.",
    norm_used_twice=edit(shared.POST_2, shared.POST_2.replace("norm2", "norm1"))
    | edit(shared.PRE_2, shared.PRE_2.replace("norm2", "norm1"))
    | "norm1 is used in place of norm2 as well: the block should use two norms.",
    one_norm_under_two_names=edit(shared.NORM_1, shared.NORM_2)
    | "norm2 is used in place of norm1 as well: are they two layers, or one layer under two names?",
    extra_norm_in_pre=edit(shared.PRE_2, f"normalised({shared.PRE_2}, 1, 0)", see="04#post-or-pre")
    | "In pre-norm the block's result is normalised once more; return it as it is. The final norm belongs to the "
    "stack.",
    norm2_at_the_end_of_pre=edit(shared.PRE_2, f"norm2({shared.PRE_2})", see="04#post-or-pre")
    | "In pre-norm the block's result goes through norm2 as well; return it as it is. The final norm belongs to the "
    "stack." | "With which operation does the formula of pre-norm end?",
    extra_norm=edit(shared.POST_2, f"normalised({shared.POST_2}, 1, 0)")
    | edit(shared.PRE_2, f"normalised({shared.PRE_2}, 1, 0)")
    | edit('"trainable_parameters": block_size', '"trainable_parameters": 2 * d_model + block_size')
    | "The block's result goes through a third norm; the block should have two.",
    norms_swapped=edit(shared.POST_1, shared.POST_1.replace("norm1", "norm2"))
    | edit(shared.POST_2, shared.POST_2.replace("norm2", "norm1"))
    | edit(shared.PRE_1, shared.PRE_1.replace("norm1", "norm2"))
    | edit(shared.PRE_2, shared.PRE_2.replace("norm2", "norm1"))
    | "norm1 and norm2 are swapped: norm1 belongs to the attention.",
    first_norm_missing=edit(shared.POST_1, shared.POST_1.replace("norm1", ""))
    | edit(shared.PRE_1, shared.PRE_1.replace("norm1", ""))
    | "The norm of the attention's half, norm1, is not applied.",
    second_norm_missing=edit(shared.POST_2, shared.POST_2.replace("norm2", ""))
    | edit(shared.PRE_2, shared.PRE_2.replace("norm2", ""))
    | "The norm of the feed-forward half, norm2, is not applied.",
    norm_before_sum=edit(shared.POST_1, "x + norm1(dropout(attention(x), 0))")
    | edit(shared.POST_2, "h + norm2(dropout(transform(h), 1))", see="04#post-or-pre")
    | "In post-norm the sub-layer's output is normalised and then added; the norm should come after the sum.",
    values_not_normed=edit(*shared.SOURCE)
    | edit('projected(x, w, "key")', 'projected(source, w, "key")')
    | edit('projected(x, w, "value")', 'projected(source, w, "value")', see="04#post-or-pre")
    | "In pre-norm only the query is normalised: the attention takes keys and values from the tokens as they came."
    | "`attention(query, value)` takes two arguments here. Which of your two is normalised?",
    query_not_normed=edit(*shared.SOURCE)
    | edit('projected(x, w, "query")', 'projected(source, w, "query")', see="04#post-or-pre")
    | "In pre-norm only keys and values are normalised: the queries come from the tokens as they came."
    | "`attention(query, value)` takes two arguments here. Which of your two is normalised?",
    normed_before_attention_in_post=edit(
        shared.POST_1, "norm1(x + dropout(attention(norm1(x)), 0))", see="04#post-or-pre"
    )
    | "In post-norm the attention reads the normalised tokens; it should read the tokens as they came.",
    **shared.MASK_MISTAKES,
    norm_not_in_config=edit("configured = norm", 'configured = "post"')
    | "The rebuilt block is post-norm although the first was pre-norm: `get_config` does not hold `norm`.",
    config_without_super=seen({"name": "lost"})
    | "The rebuilt block has another name: what `super().get_config()` returns, name and dtype among it, is missing "
    "from `get_config`.",
    dropout_never=shared.DROPOUT_NEVER,
    dropout_always=shared.DROPOUT_ALWAYS,
    dropout_inverted=shared.DROPOUT_INVERTED,
    third_dropout=shared.THIRD_DROPOUT,
    dropout_after_sum=edit(shared.POST_1, "norm1(dropout(x + attention(x), 0))")
    | edit(shared.POST_2, "norm2(dropout(h + transform(h), 1))")
    | edit(shared.PRE_1, "dropout(x + attention(norm1(x)), 0)")
    | edit(shared.PRE_2, "dropout(h + transform(norm2(h)), 1)", see="04#dropout")
    | "Dropout comes after the sum, so it erases parts of the residual path."
    | "Which of the two summands may lose features?",
    dropout_after_norm=edit(shared.POST_1, "dropout(norm1(x + attention(x)), 0)")
    | edit(shared.POST_2, "dropout(norm2(h + transform(h)), 1)", see="04#dropout")
    | "In post-norm dropout comes after the norm; it belongs to the sub-layer's output, before the sum."
    | "Which of the two summands may lose features?",
    dropout_on_input=edit(shared.POST_1, "norm1(x + attention(dropout(x, 0)))")
    | edit(shared.POST_2, "norm2(h + transform(dropout(h, 1)))")
    | edit(shared.PRE_1, "x + attention(dropout(norm1(x), 0))")
    | edit(shared.PRE_2, "h + transform(dropout(norm2(h), 1))", see="04#dropout")
    | "Dropout is applied to the sub-layer's input, not to its output."
    | "Which of the two summands may lose features?",
    first_dropout_missing=edit("dropout(attention(x), 0)", "attention(x)")
    | edit("dropout(attention(norm1(x)), 0)", "attention(norm1(x))")
    | "The attention's output is not dropped in training: is dropout1 called, with `training=training`?",
    second_dropout_missing=edit("dropout(transform(h), 1)", "transform(h)")
    | edit("dropout(transform(norm2(h)), 1)", "transform(norm2(h))")
    | "The feed-forward network's output is not dropped in training: is dropout2 called, with `training=training`?",
    dropout_used_twice=edit("dropout(transform(h), 1)", "dropout(transform(h), 0)")
    | edit("dropout(transform(norm2(h)), 1)", "dropout(transform(norm2(h)), 0)")
    | "dropout1 is used in place of dropout2 as well.",
    keras_epsilon=edit("eps=1e-6", "eps=1e-3", see="04#norm", costs_at_most=0.5)
    | "The norms have Keras's default epsilon, 0.001; this exercise asks for 1e-6."
    | "Which argument of `keras.layers.LayerNormalization` says what is added to the variance?",
    key_dim_is_d_model=edit("width = d_model // num_heads", "width = d_model", see="03#key-dim")
    | "key_dim is d_model for each head; here it should be D/H."
    | "In Keras key_dim is the width of one head. All heads side by side are how wide?",
    heads_and_key_dim_exchanged=edit("width = d_model //", "num_heads, width = d_model // num_heads,")
    | "The attention has D/H heads of width H; it should be the other way round. num_heads is its first argument.",
    feed_forward_linear=edit(shared.HIDDEN, "x @ dense_in_kernel + dense_in_bias", see="04#feed-forward")
    | "There is no ReLU in the feed-forward network.",
)


def _in_one_order(id: str, order: str, *sums: str) -> dict[str, Mistake]:
    """A mistake that both orders can have, made in the branch of one: only those of its edits that change `sums`."""
    mistake = exercise.named_mistakes[id]
    edits = tuple(edit for edit in mistake.edits if edit[0] in sums)
    sentence = f"In {order}-norm, and there alone: {mistake.sentence[0].lower()}{mistake.sentence[1:]}"
    return {f"{id}_in_{order}": replace(mistake, sentence=sentence, edits=edits)}


for _id in shared.IN_ONE_ORDER:
    exercise.mistakes(
        **_in_one_order(_id, "post", shared.POST_1, shared.POST_2),
        **_in_one_order(_id, "pre", shared.PRE_1, shared.PRE_2),
    )
for _order, _half, _sum in (
    ("post", 1, shared.POST_1),
    ("post", 2, shared.POST_2),
    ("pre", 1, shared.PRE_1),
    ("pre", 2, shared.PRE_2),
):
    _mistake = exercise.named_mistakes["dropout_after_sum"]
    _sentence = f"In {_order}-norm dropout{_half} comes after the sum, so it erases parts of the residual path."
    _edits = tuple(edit for edit in _mistake.edits if edit[0] == _sum)
    exercise.mistakes(**{f"dropout{_half}_after_sum_in_{_order}": replace(_mistake, sentence=_sentence, edits=_edits)})

exercise.advice(
    values_post=Advice(value=EPSILON_FIRST),
    masked="Keras takes all three shapes as they are, if the mask is passed by its name.",
    epsilon="Keras's own default for epsilon is 1e-3. The contract says 1e-6, for both norms.",
    dropout="Each sub-layer's output should go through its own dropout, then the sum. The block needs no "
    "other dropout.",
    reload="`get_config` must hold every argument of `__init__`, and also everything in `super().get_config()`.",
)
exercise.hints(
    values_post=(
        "Two halves of the same form: attention with norm1 and dropout1, the feed-forward network with norm2 and "
        "dropout2.",
        "Post-norm normalises each sum: first attention, dropout, sum, norm1; then the same with the other sub-layer.",
    ),
    values_pre="Pre-norm normalises what goes into the sub-layer, and the sum takes the token as it was.",
    masked="Pass the mask to the attention as `attention_mask=`, whatever its shape.",
    epsilon="Print `block.norm1.epsilon`.",
    dropout=(
        "Pass `training=training` to both dropouts; each takes the result of its sub-layer, and the sum comes after "
        "it.",
        "Print `block.dropout1.rate` and `block.dropout2.rate` of a block with `dropout=0.3`. Are these two layers?",
    ),
    parameters="How wide is a head here, and how many heads are there? Print `block.count_params()` and compare with "
    "`encoder_parameter_count`.",
    training="Is everything in `call` made of `keras.ops` and layers, and are all layers made in `__init__`?",
    reload=(
        "Print `block.get_config()`: which argument of `__init__` is missing?",
        '`{**super().get_config(), "d_model": self.d_model}` joins two dictionaries; `__init__` has to keep its '
        "arguments.",
    ),
)
