"""Lab 08, exercise `Transformer`."""

import math

import numpy as np

from autograder.declare import Case, Exercise, edit
from exercises.decoder_and_masking.shared import positions, weights
from exercises.drawing import normal, one_of
from exercises.formulas.attention import softmax  # noqa: F401 - mistakes use it
from exercises.formulas.decoder_block import (
    CAUSAL,
    PRE_NORM,
    Dropout,
    Weights,
    along,
    attended,
    block,
    head_width,
    kept,
    norm,
    one_by_one,
    third_erased,
    transformed,
)
from exercises.formulas.encoder_block import unpacked
from exercises.formulas.transformer_weights import shapes, spread

exercise = Exercise("Transformer", own_probe=True, returns=("logits",), uses=("DecoderBlock", "padding_mask"))


def embedded(ids: np.ndarray, embedding: np.ndarray, dropout: Dropout) -> np.ndarray:
    """Rows of the table times √D, and positions (Vaswani et al. 2017, 3.4 and 5.4). ids (B, T) -> (B, T, D)."""
    d_model = embedding.shape[-1]
    rows = embedding[ids] * math.sqrt(d_model) + positions(ids.shape[1], d_model).astype(embedding.dtype)
    return dropout(rows, 1)


def encoded(source: np.ndarray, table: Weights, num_layers: int, dropout: Dropout) -> np.ndarray:
    """The source after so many encoder blocks, post-norm. source (B, S) -> (B, S, D)."""
    w, real = spread(table), (source != 0)[:, None]
    h = embedded(source, table["embedding"], dropout)
    for _ in range(num_layers):
        h = norm(h + dropout(attended(h, h, w, "self", real), 1), w, "norm1")
        h = norm(h + dropout(transformed(h, w), 1), w, "norm2")
    return h


def transformer_logits(source, target, table, num_layers, dropout=kept):
    """The encoder-decoder Transformer, post-norm, one table for source, target, output (Vaswani et al. 2017, 3.4)."""
    w, embedding, real = spread(table), table["embedding"], (source != 0)[:, None]
    memory = encoded(source, table, num_layers, dropout)
    y = embedded(target, embedding, dropout)
    for number in range(1, num_layers + 1):  # noqa: B007 - an edit of the formula uses it
        y = block(y, memory, w, real, lambda h, place: dropout(h, 1))
    return y @ embedding.T


@exercise.formula
def transformer(source, target, num_layers, d_model, num_heads, d_ff, vocab_size, weights):
    """`transformer_logits`; those of padding in the target are left free (NaN), unless there is no block.

    Args:
        source, target: ids (B, S) and (B, T), 0 is padding.
        weights: the kinds of weights, end to end in the order of `shapes`; all weights of a kind are equal.
    """
    table = unpacked(weights, shapes(d_model, num_heads, d_ff, vocab_size))
    logits = transformer_logits(source, target, table, num_layers)
    return (free(logits, target) if num_layers else logits).astype(weights.dtype)


def free(logits: np.ndarray, target: np.ndarray) -> np.ndarray:
    """The logits, NaN at padding."""
    return np.where((target == 0)[..., None], np.nan, logits)


@exercise.formula_for("training")
def transformer_training(source, target, num_layers, d_model, num_heads, d_ff, vocab_size, weights, dropout=0.1):
    """The same in training, with `third_erased` in place of all dropouts; and the one rate that they have."""
    table = unpacked(weights, shapes(d_model, num_heads, d_ff, vocab_size))
    logits = transformer_logits(source, target, table, num_layers, third_erased)
    return {"logits": free(logits, target).astype(weights.dtype), "rates": np.array([dropout])}


@exercise.formula_for("inference")
def transformer_inference(source, target, num_layers, d_model, num_heads, d_ff, vocab_size, weights, dropout=0.1):
    """Outside of training nothing is dropped; and the one rate that the dropouts have."""
    logits = transformer(source, target, num_layers, d_model, num_heads, d_ff, vocab_size, weights)
    return {"logits": logits, "rates": np.array([dropout])}


@exercise.formula_for("prefix")
def transformer_prefix(source, target, num_layers, d_model, num_heads, d_ff, vocab_size, weights, cut):
    """The first `cut` results for the whole target, and those for its first `cut` tokens alone: they are the same."""
    table = unpacked(weights, shapes(d_model, num_heads, d_ff, vocab_size))
    whole, prefix = (transformer_logits(source, ids, table, num_layers) for ids in (target, target[:, :cut]))
    return {"whole": whole[:, :cut], "prefix": prefix}


@exercise.formula_for("slopes")
def transformer_slopes(source, target, num_layers, d_model, num_heads, d_ff, vocab_size, weights, weighting, direction):
    """Derivatives of ``sum(logits * weighting)``, kind of weight by kind of weight."""
    kinds = shapes(d_model, num_heads, d_ff, vocab_size)

    def run(vector: np.ndarray) -> np.ndarray:
        return transformer_logits(source, target, unpacked(vector, kinds), num_layers)

    return {"slopes": along(run, [weights], [[piece] for piece in one_by_one(direction, kinds)], weighting)}


@exercise.formula_for("parameters")
def transformer_parameters(num_layers, d_model, num_heads, d_ff, vocab_size, max_length):
    """The table, and for each layer three attentions, two feed-forward networks and five norms."""
    width = num_heads * head_width(d_model, num_heads)
    attention = 4 * d_model * width + 3 * width + d_model
    feed_forward = 2 * d_model * d_ff + d_ff + d_model
    layer = 3 * attention + 2 * feed_forward + 5 * 2 * d_model
    table = vocab_size * d_model
    return {"trainable_parameters": table + num_layers * layer}


def _model_inputs(rng, num_layers=1, *, source=(2, 7), length=5, dropout=0.3, scale=0.4, words=13):
    sizes = {"num_layers": num_layers, "d_model": 10, "num_heads": 2, "d_ff": 7, "vocab_size": words, "max_length": 11}
    return {
        **sizes,
        **({} if dropout is None else {"dropout": dropout}),
        "source": rng.integers(1, words, size=source).astype("int32"),
        "target": rng.integers(1, words, size=(source[0], length)).astype("int32"),
        "weights": weights(rng, shapes(10, 2, 7, words), scale, 0.6),
    }


@exercise.group("embedding, positions and output, without any block", points=2)
def embedding(rng):
    padded = _model_inputs(rng, 0, source=(2, 3), length=7)
    padded["target"][0, 4:] = padded["target"][1, 6:] = 0
    yield Case(_model_inputs(rng, 0), "num_layers=0: embedding, positions and output, target_in (2, 5)")
    yield Case(_model_inputs(rng, 0, source=(3, 5), length=11), "num_layers=0, target_in (3, 11), max_length=11")
    yield Case(padded, "num_layers=0, target_in (2, 7) with padding, which has a row of the table too")


@exercise.group("right logits with one and two layers", points=2)
def values(rng):
    yield Case(_model_inputs(rng), "one layer, source (2, 7), target_in (2, 5)")
    yield Case(_model_inputs(rng, 2, source=(3, 5), length=7), "two layers, source (3, 5), target_in (3, 7)")


@exercise.group("padding in the source changes nothing", points=2)
def padding(rng):
    ended, everywhere, empty = (_model_inputs(rng, source=(3, 7)) for _ in range(3))
    ended["source"][0, 4:] = ended["source"][1, 2:] = 0
    everywhere["source"][0, 0] = everywhere["source"][1, 2:4] = everywhere["source"][2, 6] = 0
    everywhere["target"][0, 3:] = 0
    empty["source"][1, 5:] = empty["source"][2] = 0
    yield Case(ended, "source (3, 7), two of the sentences padded")
    yield Case(everywhere, "padding in the source at other places, and at the end of target_in")
    yield Case(empty, "source (3, 7), one source is padding alone")


@exercise.group("right logits, for a target and for its beginning alone")
def causal(rng):
    return [
        Case({**_model_inputs(rng), "cut": cut}, f"target_in of five tokens, and the first {cut} alone", mode="prefix")
        for cut in (2, 4)
    ]


@exercise.group("dropout on both embeddings and in every block, in training only", points=2)
def dropout(rng):
    erased = "every Dropout set to erase a third of the features"
    yield Case(_model_inputs(rng), f"training=True, dropout=0.3, {erased}", mode="training")
    yield Case(_model_inputs(rng), f"training=False, {erased}", mode="inference")
    yield Case(_model_inputs(rng, 0, dropout=None), "num_layers=0, dropout by default", mode="training")


@exercise.group("one table, and blocks with weights of their own")
def parameters(rng):
    words = one_of(rng, *range(13, 40))
    shown = f"trainable parameters, d_model=10, num_heads=2, d_ff=7, {words} words, num_layers="
    return [Case(_model_inputs(rng, layers, words=words), f"{shown}{layers}", mode="parameters") for layers in (0, 2)]


@exercise.group("works inside tf.function, and gradients reach every weight")
def training(rng):
    inputs = _model_inputs(rng, source=(2, 4), length=3)
    inputs |= {"weighting": normal(rng, 2, 3, 13), "direction": normal(rng, len(inputs["weights"]))}
    yield Case(_model_inputs(rng), "inside tf.function, batch size and lengths unknown", mode="graph")
    yield Case(inputs, "gradients of each kind of weight, compared with numerical ones", mode="slopes")


ROOT = "* math.sqrt(d_model)"
PLACES = "+ positions(ids.shape[1], d_model).astype(embedding.dtype)"
ROWS = "embedding[ids] * math.sqrt(d_model) + positions(ids.shape[1], d_model).astype(embedding.dtype)"
ENCODER_ATTENDS = 'h = norm(h + dropout(attended(h, h, w, "self", real), 1), w, "norm1")'
ENCODER_TRANSFORMS = 'h = norm(h + dropout(transformed(h, w), 1), w, "norm2")'
ENCODER_PRE_NORM = (
    (ENCODER_ATTENDS, 'inner = norm(h, w, "norm1")\nh = h + dropout(attended(inner, inner, w, "self", real), 1)'),
    (ENCODER_TRANSFORMS, 'h = h + dropout(transformed(norm(h, w, "norm2"), w), 1)'),
)
LOGITS = "y @ embedding.T"
OWN_OUTPUT = "y @ embedding[::-1].T"  # the probe gives a table of the output's own the rows in reverse
OWN_TABLE = (
    "The logits come from a layer with weights of its own. They should be x Eᵀ, with the table E of the embedding."
)
TABLE = "vocab_size * d_model"

exercise.mistakes(
    embedding_not_scaled=edit(ROOT, "", see="08#decoder-block")
    | "The embeddings are not multiplied by √D before positions are added."
    | "How large are the entries of an embedding beside those of a sine?",
    scaled_after_positions=edit(
        ROWS, "((embedding[ids] + positions(ids.shape[1], d_model)) * math.sqrt(d_model)).astype(embedding.dtype)"
    )
    | "The positions are multiplied by √D as well: scale, then add."
    | "In which order do the product and the sum stand in the text?",
    embedding_divided=edit(ROOT, "/ math.sqrt(d_model)")
    | "The embeddings are divided by √D; they should be multiplied by it.",
    positions_missing=edit(PLACES, "", see="05#twins")
    | "There are no positions."
    | "What does a Transformer without positions know of the order of words?",
    positions_from_one=edit(PLACES, "+ positions(ids.shape[1] + 1, d_model)[1:].astype(embedding.dtype)")
    | "The positions begin with 1. The first token has position 0.",
    positions_in_source_only=edit(
        "embedded(target, embedding, dropout)",
        "dropout(embedding[target] * math.sqrt(embedding.shape[-1]), 1).astype(embedding.dtype)",
    )
    | "The target has no positions.",
    positions_in_target_only=edit(
        'embedded(source, table["embedding"], dropout)',
        'dropout(table["embedding"][source] * math.sqrt(table["embedding"].shape[-1]), 1)',
    )
    | "The source has no positions.",
    encoder_sees_padding=edit('"self", real', '"self", None', see="06#padding-leaks")
    | "The encoder attends to padding: its self-attention needs the source's padding mask."
    | "Which calls in your model get the padding mask?",
    memory_padding_seen=edit("w, real, lambda", "w, None, lambda", see="06#padding-leaks")
    | "The decoder attends to the source's padding: pass the padding mask on as memory_mask."
    | "Which calls in your model get the padding mask?",
    encoder_mask_inverted=edit('"self", real', '"self", ~real')
    | "The encoder attends to the padding and to nothing else.",
    memory_mask_inverted=edit("w, real, lambda", "w, ~real, lambda")
    | "The decoder attends to the source's padding and to nothing else.",
    encoder_causal=edit('"self", real', '"self", np.tri(source.shape[1], dtype=bool) & real', see="08#decoder-block")
    | "The encoder is causal. The source is known as a whole: its tokens see each other in both directions.",
    decoder_not_causal=edit(CAUSAL, "None", see="08#leak")
    | "The decoder sees later target tokens, and training learns to copy.",
    memory_is_embedding=edit("block(y, memory,", "block(y, embedded(source, embedding, dropout),")
    | "The decoder reads the source's embeddings; it should read the result of the last encoder block.",
    memory_from_same_block=edit("y, memory,", "y, encoded(source, table, number, dropout),", see="08#decoder-block")
    | "Each decoder block reads the encoder block of the same number. All of them should read the output of the last "
    "encoder block.",
    softmax_over_vocabulary=edit(LOGITS, f"softmax({LOGITS})")
    | "These are probabilities. The model returns logits; the loss and the decoding apply the softmax.",
    softmax_over_positions=edit(LOGITS, f"softmax({LOGITS}, -2)")
    | "The columns sum to 1: a softmax over the positions. A prediction is a distribution over the vocabulary, and "
    "the model returns logits.",
    log_probabilities=edit(LOGITS, f"np.log(softmax({LOGITS}))")
    | "These are log-probabilities. The model returns the logits.",
    logits_scaled=edit(LOGITS, f"{LOGITS} / math.sqrt(embedding.shape[-1])")
    | "The logits are divided by √D. Only the embedding is scaled.",
    keras_epsilon=edit("gamma, beta, 1e-06)", "gamma, beta, 0.001)", costs_at_most=0.5)
    | "The norms have Keras's default epsilon, 0.001; this exercise asks for 1e-6.",
    pre_norm=edit(*PRE_NORM)
    | edit(*ENCODER_PRE_NORM, see="04#post-or-pre")
    | "The blocks are pre-norm; this model should be post-norm.",
    encoder_pre_norm=edit(*ENCODER_PRE_NORM, see="04#post-or-pre")
    | "The encoder's blocks are pre-norm; this model should be post-norm."
    | "Is what your `EncoderBlock` returns the result of a norm, or a sum?",
    encoder_is_decoder=edit(
        f"{ENCODER_ATTENDS}\n{ENCODER_TRANSFORMS}", "h = block(h, h, w, real, lambda h, place: dropout(h, 1))"
    )
    | edit("3 * attention", "4 * attention")
    | edit("5 * 2 * d_model", "6 * 2 * d_model", see="08#decoder-block")
    | "The encoder's blocks are decoder blocks. They need one self-attention, not causal, and no cross-attention."
    | "Which of the three sub-layers of a decoder block has an encoder block?",
    blocks_side_by_side=edit("y, memory,", "embedded(target, embedding, dropout), memory,", see="08#decoder-block")
    | "The logits come from one decoder block that reads the embedded target. Does the loop run to its end, is "
    "`return` behind it, and does each block read the output of the one before it?"
    | "Where does `return` stand? Which name does the loop give to a block's output, which one does it read?",
    dropout_never=edit("num_layers, third_erased)", "num_layers)", see="04#dropout")
    | "With `training=True` nothing is dropped: does `training` reach the blocks?",
    dropout_always=edit("num_layers, dropout=kept", "num_layers, dropout=third_erased", see="04#dropout")
    | "Something is dropped with `training=False` too: `training` does not decide about it.",
    embedding_not_dropped=edit("dropout(rows, 1)", "rows")
    | "The sums of embedding and position are not dropped in training.",
    embedding_dropped_twice=edit("dropout(rows, 1)", "dropout(dropout(rows, 1), 1)", see="04#dropout")
    | "The sums of embedding and position are dropped twice. The skeleton does it after `embed`.",
    padding_erased=edit("dropout(rows, 1)", "dropout(rows * (ids != 0)[..., None], 1)")
    | "The embedding of padding is set to 0. Padding has a row of the table and a position like every other id; masks "
    "hide it.",
    output_layer=edit((LOGITS, OWN_OUTPUT), (TABLE, f"2 * {TABLE} + vocab_size"), see="08#decoder-block") | OWN_TABLE,
    output_layer_without_bias=edit((LOGITS, OWN_OUTPUT), (TABLE, f"2 * {TABLE}"), see="08#decoder-block") | OWN_TABLE,
    table_not_shared=edit(TABLE, f"2 * {TABLE}", see="04#parameters")
    | "V·D numbers too many: there is a second table. Source, target and output share one embedding.",
    output_bias=edit(TABLE, f"{TABLE} + vocab_size")
    | "V numbers too many: the output has a bias. The logits are x Eᵀ alone.",
    embedding_not_tracked=edit(TABLE, "0")
    | "V·D numbers are missing: Keras does not know the embedding. A bare `tf.Variable` on a layer is not tracked.",
    key_dim_is_d_model=edit("d_model // num_heads", "d_model", see="03#key-dim")
    | "key_dim is d_model for each head; here it should be D/H.",
    multiplied_by_d=edit(ROOT, "* d_model", see="08#decoder-block")
    | "The embeddings are multiplied by D. The factor is its root, √D.",
)

exercise.advice(
    embedding="Without blocks the logits are (E[ids]·√D + positions) Eᵀ for the target ids.",
    padding="Padding is masked twice: in the encoder's self-attention and in the decoder's cross-attention.",
    causal="Both have to be right. Where they differ from each other, a token sees what comes later.",
    dropout="Every `keras.layers.Dropout` of the model gets `training` and the rate `dropout`. Pass `training=` to "
    "the blocks by name. The attention layers have no dropout of their own.",
    training="Inside a graph a sentence's length may be unknown: `ids.shape[1]` is None, and `table[:None]` is the "
    "whole table. Slice the table of positions, as a tensor, up to `ops.shape(ids)[1]`.",
)
exercise.hints(
    embedding=(
        "Begin with both ends: first write the embedding and the logits, with no block between. The first group of "
        "the check needs no more.",
        "The table of a `keras.layers.Embedding` is its attribute `embeddings`, (V, D), once it is built: calling the "
        "layer builds it.",
    ),
    values=(
        "An encoder block is a decoder block without its middle sub-layer; its self-attention looks both ways.",
        "All decoder blocks read the same memory: the output of the last encoder block.",
    ),
    padding="The mask is made from the source's ids, by your `padding_mask`, and goes to every encoder and every "
    "decoder block.",
    causal='Does check("DecoderBlock") pass? Then look at what else you pass to the blocks.',
    parameters="One table serves three times. Each block is made by a call of its class of its own.",
)
