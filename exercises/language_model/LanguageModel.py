"""Lab 10, exercise `LanguageModel`."""

import math
from collections.abc import Sequence

import numpy as np

from autograder.declare import Case, Exercise, edit
from coursekit.probes.language_model import model_paths, roles
from exercises.drawing import normal
from exercises.language_model.shared import cut_to, logits_and_caches, model_shapes
from exercises.self_attention.shared import BUILT_IN_ATTENTION

SIZES = {"vocab_size": 17, "d_model": 12, "num_layers": 2, "num_heads": 3, "num_kv_heads": 1, "d_ff": 11}
STEP = 1e-6
COUNTED = "sum(math.prod(shape) for shape in shapes.values())"

exercise = Exercise("LanguageModel", own_probe=True, forbidden=BUILT_IN_ATTENTION, uses=("GroupedAttention",))


@exercise.formula
def language_model(ids, weights, vocab_size, d_model, num_layers, num_heads, num_kv_heads, d_ff, cuts=()):
    """A decoder-only Transformer of the form of 2023 (Touvron et al.), with grouped heads and caches."""
    named = cut_to(model_shapes(vocab_size, d_model, num_layers, num_heads, num_kv_heads, d_ff), weights)
    logits = []
    caches: list = [None] * num_layers
    for part in np.split(ids, list(cuts), axis=1):
        found, caches = logits_and_caches(part, named, num_layers, num_heads, num_kv_heads, caches)
        logits.append(found)
    return {"logits": np.concatenate(logits, axis=1), "caches": np.array(caches)}


@exercise.formula_for("parameters")
def number_of_parameters(vocab_size, d_model, num_layers, num_heads, num_kv_heads, d_ff):
    """One table, and the kernels and norms of the blocks."""
    shapes = model_shapes(vocab_size, d_model, num_layers, num_heads, num_kv_heads, d_ff)
    return {"trainable_parameters": sum(math.prod(shape) for shape in shapes.values())}


@exercise.formula_for("slopes")
def loss_along_directions(
    ids: np.ndarray,
    targets: np.ndarray,
    weights: np.ndarray,
    direction: np.ndarray,
    vocab_size: int,
    d_model: int,
    num_layers: int,
    num_heads: int,
    num_kv_heads: int,
    d_ff: int,
) -> dict[str, np.ndarray]:
    """Central differences of the mean cross-entropy, in float64, for the weights of each part of the model."""
    shapes = model_shapes(vocab_size, d_model, num_layers, num_heads, num_kv_heads, d_ff)
    weights, direction = weights.astype("float64"), direction.astype("float64")

    def loss(vector: np.ndarray) -> float:
        logits, _ = logits_and_caches(
            ids, cut_to(shapes, vector), num_layers, num_heads, num_kv_heads, [None] * num_layers
        )
        nats = np.log(np.exp(logits).sum(axis=-1)) - np.take_along_axis(logits, targets[..., None], axis=-1)[..., 0]
        return float(nats.mean())

    slopes = []
    for paths in roles(model_paths({"num_layers": num_layers})).values():
        only = (
            np.concatenate([np.full(math.prod(shape), float(path in paths)) for path, shape in shapes.items()])
            * direction
        )
        slopes.append((loss(weights + STEP * only) - loss(weights - STEP * only)) / (2 * STEP))
    return {"slopes": np.array(slopes)}


def _inputs(rng, *, batch: int = 2, length: int = 5, cuts: Sequence[int] = (), **other_sizes: int) -> dict:
    sizes = {**SIZES, **other_sizes}
    drawn = [
        1 + normal(rng, *shape) / 2
        if path.endswith("gamma")
        else normal(rng, *shape) / np.float32(shape[-1 if path.endswith("embeddings") else 0] ** 0.5)
        for path, shape in model_shapes(**sizes).items()
    ]
    weights = np.concatenate([np.ravel(weight) for weight in drawn]).astype("float32")
    ids = np.stack([rng.permutation(sizes["vocab_size"])[:length] for _ in range(batch)]).astype("int32")
    return {**sizes, "ids": ids, "weights": weights, **({"cuts": list(cuts)} if cuts else {})}


@exercise.group("known weights, right logits", points=2)
def known_weights(rng):
    other = _inputs(rng, length=3, vocab_size=19, d_model=8, num_layers=3, num_heads=2, num_kv_heads=2, d_ff=7)
    yield Case(_inputs(rng), "two blocks, ids (2, 5)")
    yield Case(other, "three blocks, num_kv_heads=num_heads=2, ids (2, 3)")


@exercise.group("with caches, in parts, the same logits")
def parts(rng):
    yield Case(_inputs(rng, cuts=(3, 4)), "three ids, then one and one, two blocks")
    yield Case(_inputs(rng, batch=1, cuts=(1, 2, 3, 4)), "one id a call, two blocks")


@exercise.group("the right number of parameters")
def parameters(rng):
    inputs = _inputs(rng) | {"vocab_size": int(rng.integers(18, 40)), "d_ff": int(rng.integers(13, 30))}
    return Case(
        {key: value for key, value in inputs.items() if key != "weights"},
        f"trainable parameters, V={inputs['vocab_size']}, D=12, two blocks, H=3, G=1, F={inputs['d_ff']}",
        mode="parameters",
    )


@exercise.group("works inside tf.function, and the loss has the right gradients")
def training(rng):
    inputs = _inputs(rng)
    targets = rng.integers(SIZES["vocab_size"], size=inputs["ids"].shape).astype("int32")
    direction = normal(rng, inputs["weights"].size)
    yield Case(_inputs(rng), "inside tf.function, batch size and length unknown", mode="graph")
    yield Case(
        {**inputs, "targets": targets, "direction": direction},
        "gradients of the cross-entropy, compared with numerical ones",
        mode="slopes",
    )


exercise.mistakes(
    root_missing=edit("table[ids] * math.sqrt(table.shape[1])", "table[ids]", see="10#model")
    | "The embeddings are not multiplied by √D."
    | "The table's rows have a length of about 1. How long is a token to be at the entry of the first block?",
    post_norm=edit('attend(rms_normed(x, w["norm1"]), ', "attend(x, ")
    | edit("x = x + mixed", 'x = rms_normed(x + mixed, w["norm1"])')
    | edit('z = rms_normed(x, w["norm2"])', "z = x")
    | edit('x + hidden @ w["w_down"]', 'rms_normed(x + hidden @ w["w_down"], w["norm2"])', see="04#block")
    | "The norm comes after the sum. In these blocks it should come before its part: the tokens go past it unchanged."
    | "Draw the path of a token from the entry of a block to its end, without the two parts. What stands on it?",
    gate_is_up=edit('silu(z @ w["w_gate"]) *', '(z @ w["w_gate"]) * silu', see="10#model")
    | "The other half goes through silu: the gate should be silu of `w_gate`, and `w_up` stays linear."
    | "Compare with the formula of the lecture: which matrix stands inside silu?",
    silu_missing=edit('silu(z @ w["w_gate"])', '(z @ w["w_gate"])', see="10#model")
    | "Nothing in the feed-forward network is non-linear but the product: silu is missing.",
    residual_of_the_normed=edit("x = x + mixed", 'x = rms_normed(x, w["norm1"]) + mixed')
    | edit('x + hidden @ w["w_down"]', 'z + hidden @ w["w_down"]', see="04#block")
    | "The sum takes the normed tokens. The residual stream should carry the tokens as they came.",
    one_cache_for_all=edit("caches[number]", "caches[0]")
    | "Every block gets the cache of the first block. Each has its own keys and values."
    | "`zip(self.blocks, caches)` gives each block its own.",
    two_tables=edit(COUNTED, COUNTED + " + vocab_size * d_model", see="10#model")
    | "There are V · D parameters too many: the logits come from a second table. One table should read and predict."
    | "How does the page's model make its logits from the table?",
    first_residual_missing=edit("x = x + mixed", "x = mixed", see="04#without-residual")
    | "The attention's result stands alone. Both parts of a block should add to the tokens that came in."
    | "What is added to the attention's result?",
    second_residual_missing=edit('x + hidden @ w["w_down"]', 'hidden @ w["w_down"]', see="04#without-residual")
    | "The feed-forward network's result stands alone. Both parts of a block should add to the tokens that came in."
    | "What is added to the result of `w_down`?",
    probabilities=edit(
        'rms_normed(x, weights["norm.gamma"]) @ table.T', 'softmax(rms_normed(x, weights["norm.gamma"]) @ table.T)'
    )
    | "These are probabilities. The model should return logits: the loss and the writing apply the softmax.",
    silu_of_product=edit('z @ w["w_gate"]) * (z @ w["w_up"])', '(z @ w["w_gate"]) * (z @ w["w_up"]))', see="10#model")
    | "silu is taken of the product. Only the gate should go through it, and the product comes after.",
    relu=edit('silu(z @ w["w_gate"])', 'np.maximum(z @ w["w_gate"], 0)', see="10#model")
    | "The gate goes through ReLU. It should go through silu.",
    last_norm_missing=edit('rms_normed(x, weights["norm.gamma"]) @ table.T', "x @ table.T", see="10#model")
    | "The last norm is missing: the tokens go from the blocks to the table as they are."
    | "Which layer of the model is made in `__init__` and never called?",
    one_block_for_all=edit('"blocks." + str(number) + "."', '"blocks." + str(num_layers - 1) + "."')
    | edit(
        COUNTED, "sum(math.prod(shape) for path, shape in shapes.items() if path[:7] != 'blocks.' or path[7] == '0')"
    )
    | "Only one block is at work. Is it a list such as `[block] * n`, which holds one block n times? Or does your loop "
    "end too early?" | "Is `blocks[0] is blocks[1]` true? How often does the body of your loop run?",
    blocks_side_by_side=edit(
        "block_output(x, w, num_heads, num_kv_heads, caches[number])",
        "block_output(table[ids] * len(table.T) ** 0.5, w, num_heads, num_kv_heads, caches[number])",
    )
    | "Every block reads the embedded ids. Each should read the output of the one before it."
    | "Which variable does the loop hand to a block, and which does it assign?",
    width_for_root=edit("math.sqrt(table.shape[1])", "table.shape[1]", see="10#model")
    | "The embeddings are multiplied by D. The factor should be √D.",
    divided_by_root=edit("[ids] * math.sqrt(table.shape[1])", "[ids] / math.sqrt(table.shape[1])", see="10#model")
    | "The embeddings are divided by √D. Multiply by it.",
    norm_after_each_block=edit("kept.append(cache)", 'kept.append(cache)\nx = rms_normed(x, weights["norm.gamma"])')
    | edit('rms_normed(x, weights["norm.gamma"]) @ table.T', "x @ table.T")
    | "The last norm stands in the loop, so it comes after each block. It should come once, behind the last one.",
    caches_not_read=edit("caches[number]", "None")
    | "The caches that come in change nothing: a new token sees only itself. Does each block get its pair?"
    | "Follow one pair: from `caches` to the block, and from the block to its attention.",
)

exercise.advice(
    known_weights="Embedding times √D, the blocks one after the other, the last norm, and the product with the same "
    "table. In a block each norm stands before its part.",
    parts="`caches` is a list with one pair for each block, in their order. None in the first call stands for no "
    "cache anywhere.",
    parameters="One table reads and predicts, no layer has a bias, and each block has layers of its own.",
    training="A step of training runs inside tf.function, and its gradients must reach every weight. NumPy stops both.",
)
exercise.hints(
    known_weights=(
        "Begin with the page's `PlainGatedBlock` and `PlainLanguageModel`. What changes when the attention returns a "
        "pair?",
        "`embedding` is a Keras Embedding; its table is `self.embedding.embeddings`, (V, D). The logits are the "
        "normed tokens times its transpose.",
    ),
    parts="A block returns two things: its tokens and its cache. Collect the caches in a list, in the order of the "
    "blocks.",
    parameters="Sum on paper: V·D for the table, D for the last norm. What does one block have?",
    training="Is every part used in `call`, and every layer made in `__init__`?",
)
