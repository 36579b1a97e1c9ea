"""Lab 09, exercise `build_vit`."""

from typing import Any

import numpy as np

from autograder.declare import Case, Exercise, edit
from coursekit.probes.vision_transformer import by_role, role_shapes
from coursekit.probes.vit_dropout import NOISE, NOT_GROWN, NOTHING_ELSE, READ_DROPPED
from exercises.drawing import normal, size_other_than
from exercises.formulas.encoder_block import Weights, attended, normalised
from exercises.vision_transformer.shared import FRONT_FIRST, JOINED, PIECES, Draw, embedded, gelu, vit_size

# Two sets of sizes, and no more: building a model takes much longer than calling it, and cases may share one.
FIRST: dict[str, Any] = {
    "image_shape": [6, 9, 2],
    "patch_size": 3,
    "num_classes": 5,
    "num_layers": 2,
    "d_model": 12,
    "num_heads": 3,
    "d_ff": 17,
}


# One block, and no fewer classes than features: the logits then tell which numbers were dropped.
SECOND: dict[str, Any] = {
    "image_shape": [10, 4, 1],
    "patch_size": 2,
    "num_classes": 7,
    "num_layers": 1,
    "d_model": 6,
    "num_heads": 2,
    "d_ff": 11,
    "dropout": 0.3,
}

BATCH = 2


def _model_inputs(rng, sizes: dict, added: float = 0.1) -> dict:
    """Inputs of build_vit, with weights for every role: γ around 1, all others around 0.

    `added` scales what is added to the residual stream: the smaller, the more the norms' epsilon matters. What GELU
    gets is small, so that its usual approximation by tanh, `ops.gelu`'s default, passes as well, whatever the seed.
    """
    adding = ("projection", "class_token", "position_embedding", "output", "dense_out")
    pieces = []
    for role, shape in role_shapes(sizes).items():
        piece = rng.normal(size=shape) * (0.6 if role.endswith("kernel") else 0.4)
        piece = piece * (added if role.startswith(adding) else 0.05 if role.startswith("dense_in") else 1)
        pieces.append(np.ravel(piece + role.endswith("gamma")))
    weights = np.concatenate(pieces).astype("float32")
    return {**sizes, "images": normal(rng, BATCH, *sizes["image_shape"]), "weights": weights}


def _described(sizes: dict, *more: str) -> str:
    shown = [f"{key}={tuple(value) if isinstance(value, list) else value}" for key, value in sizes.items()]
    return ", ".join([*shown, *more])


def _models(mode: str, *models: tuple[dict, str], **settings: float) -> Draw:
    """Cases of build_vit in one mode, each given by its sizes and by what is tried."""
    return lambda rng: [
        Case(_model_inputs(rng, sizes, **settings), description, mode=mode) for sizes, description in models
    ]


exercise = Exercise("build_vit", own_probe=True, returns=("logits",), uses=("PatchEmbedding",))


@exercise.formula
def vit(image_shape, patch_size, num_classes, num_layers, d_model, num_heads, d_ff, images, weights, dropout=0.0):
    """`vit_logits` with the weights of the roles end to end. images (B, h, w, C) -> (B, classes)."""
    sizes = model_sizes(image_shape, patch_size, num_classes, d_model, num_heads, d_ff)
    return outside_training(vit_logits(images, by_role(weights, sizes), patch_size, num_layers), dropout)


def outside_training(result: np.ndarray, dropout: float) -> np.ndarray:
    """What dropouts of this rate make of a result outside training: nothing."""
    return result


def model_sizes(image_shape, patch_size, num_classes, d_model, num_heads, d_ff):
    """The sizes by name, as `by_role` reads them."""
    sizes: dict[str, Any] = {"image_shape": image_shape, "patch_size": patch_size, "num_classes": num_classes}
    return sizes | {"d_model": d_model, "num_heads": num_heads, "d_ff": d_ff}


def vit_logits(images: np.ndarray, w: Weights, patch_size: int, num_layers: int) -> np.ndarray:
    """Logits of a Vision Transformer: pre-norm encoder, final norm, class token, one Dense layer.

    Source: Dosovitskiy et al. 2021, equations 1 to 4. All blocks, and all norms, have the same weights here.
    """

    def norm(h: np.ndarray) -> np.ndarray:
        return normalised(h, w["norm.gamma"], w["norm.beta"])

    def transform(h: np.ndarray) -> np.ndarray:
        hidden = gelu(h @ w["dense_in.kernel"] + w["dense_in.bias"])
        return hidden @ w["dense_out.kernel"] + w["dense_out.bias"]

    kernel, bias = w["projection.kernel"], w["projection.bias"]
    x = embedded(images, patch_size, kernel, bias, w["class_token"], w["position_embedding"])
    for _ in range(num_layers):
        h = x + attended(norm(x), w, None)
        x = h + transform(norm(h))
    summary = norm(x)[:, 0]
    return summary @ w["head.kernel"] + w["head.bias"]


@exercise.formula_for("slopes")
def slopes(
    image_shape: tuple[int, int, int],
    patch_size: int,
    num_classes: int,
    num_layers: int,
    d_model: int,
    num_heads: int,
    d_ff: int,
    images: np.ndarray,
    weights: np.ndarray,
    weighting: np.ndarray,
    direction: np.ndarray,
) -> dict[str, np.ndarray]:
    """Derivatives of ``sum(logits * weighting)`` along `direction`, role by role."""
    sizes = model_sizes(image_shape, patch_size, num_classes, d_model, num_heads, d_ff)

    def run(vector: np.ndarray) -> np.ndarray:
        return vit_logits(images.astype("float64"), by_role(vector, sizes), patch_size, num_layers)

    return {"slopes": role_by_role(run, weights, weighting, direction, sizes)}


def role_by_role(run, vector, weighting, direction, sizes):
    """Derivatives of ``sum(run(vector) * weighting)`` along `direction`, role by role; central differences."""
    vector, weighting, step = vector.astype("float64"), weighting.astype("float64"), 1e-5
    found = []
    for places in by_role(np.arange(len(vector)), sizes).values():
        change = np.zeros_like(vector)
        change[places.ravel()] = direction[places.ravel()]
        upper, lower = (run(vector + sign * step * change) for sign in (1, -1))
        found.append(float(np.sum((upper - lower) * weighting)) / (2 * step))
    return np.array(found)


@exercise.formula_for("parameters")
def number_of_parameters(image_shape, patch_size, num_classes, num_layers, d_model, num_heads, d_ff):
    """`vit_size` for images that need not be square, with heads that together are as wide as the model."""
    height, width, channels = image_shape
    patches = (height // patch_size) * (width // patch_size)
    wider = num_heads * (d_model // num_heads) - d_model  # what the heads are wider than the model, all together
    more = num_layers * wider * (4 * d_model + 3)
    return {
        "trainable_parameters": (
            more + vit_size(patches, patch_size**2 * channels, d_model, num_layers, d_ff, num_classes)
        )
    }


@exercise.formula_for("dropout")
def dropped(num_layers: int, dropout: float = 0.0) -> dict[str, Any]:
    """The share of numbers that are dropped after the embedding and in both halves of a block: in training only."""
    per_block = min(num_layers, 1)
    times = np.array([1, per_block, per_block])
    kept = 1 - dropout
    shares = np.round(1 - kept**times, 1)
    at_inference = "nothing is dropped"
    after_last_norm = "nothing is dropped"
    besides = NOTHING_ELSE
    words = {"at_inference": at_inference, "after_last_norm": after_last_norm, "besides": besides}
    return {"in_training": shares, **words}


exercise.group(
    "right logits with known weights",
    points=3,
    values=_models("call", (FIRST, _described(FIRST, "known weights, not in training"))),
)
exercise.group("another image shape, one channel, other widths", shapes=_models("call", (SECOND, _described(SECOND))))
exercise.group(
    "layer norms with epsilon 1e-6",
    epsilon=_models("call", (SECOND, "tokens whose features hardly differ"), added=0.01),
)


@exercise.group("the right number of parameters", points=2)
def parameters(rng):
    sizes = {**FIRST, "num_layers": 3, "num_classes": size_other_than(rng, 7, 29, 12, 17, 18)}
    return _models("parameters", (sizes, f"trainable parameters, {_described(sizes)}"))(rng)


@exercise.group(
    "dropout: in training only, in three places, at the rate given",
    fixed="the three places are the same in every model",
)
def dropout(rng):
    built_last = {**FIRST, "num_layers": 1}  # whoever keeps an argument of an earlier call drops something here
    return _models(
        "dropout",
        (SECOND, "dropout=0.3, called with training=True and False"),
        (built_last, "dropout as it is by default, called with training=True and False"),
    )(rng)


@exercise.group("works inside tf.function, and gradients reach every weight")
def training(rng):
    inputs = _model_inputs(rng, FIRST)
    inputs |= {"weighting": normal(rng, BATCH, FIRST["num_classes"]), "direction": normal(rng, len(inputs["weights"]))}
    return [
        *_models("graph", (FIRST, "inside tf.function, batch size unknown"))(rng),
        Case(inputs, "gradients, compared with numerical ones", mode="slopes"),
    ]


exercise.group(
    "can be saved and loaded", saved=_models("saved", (SECOND, "saved with model.save, loaded with load_model"))
)
READ = "norm(x)[:, 0]"
LOGITS = 'summary @ w["head.kernel"] + w["head.bias"]'
LAST_NORM = 'normalised(x, w["norm.gamma"], w["norm.beta"], 1e-3)[:, 0]'
BLOCKS = "num_layers * (attention + feed_forward + norms)"
TIMES = "[1, per_block, per_block]"
NOTHING = '"nothing is dropped"'
NUMBERS = '"numbers are dropped" if dropout else "nothing is dropped"'
BESIDES = "besides = NOTHING_ELSE"
READS = (BESIDES, f"besides = {READ_DROPPED!r} if dropout else NOTHING_ELSE")
READ_HINT = "Where does the Dropout of `encoder_block` stand: before a sub-layer, or behind it?"
DROPPED_AFTER = (f"after_last_norm = {NOTHING}", f"after_last_norm = {NUMBERS}")

exercise.mistakes(
    final_norm_missing=edit((READ, "x[:, 0]"), ("last_norm = 2 * d_model", "last_norm = 0"), see="09#whole-vit")
    | "The final norm, after the last block, is missing."
    | "In a pre-norm stack nothing normalises the last sum. What stands before the head?",
    mean_pooled=edit(READ, "norm(x).mean(axis=1)", see="09#class-token")
    | "The head reads the mean of all tokens. It should read the class token, the first one."
    | "Which of the tokens was put there for the head to read?",
    patches_pooled=edit(READ, "norm(x)[:, 1:].mean(axis=1)", see="09#class-token")
    | "The head reads the mean of the patches. It should read the class token, the first one."
    | "Which of the tokens was put there for the head to read?",
    last_token_read=edit(READ, "norm(x)[:, -1]", see="09#class-token")
    | "The head reads the last token, a patch."
    | "At which place does PatchEmbedding put the class token?",
    first_patch_read=edit(READ, "norm(x)[:, 1]", see="09#class-token")
    | "The head reads the token of the first patch. The class token stands before it, at place 0."
    | "At which place does PatchEmbedding put the class token?",
    softmax_output=edit(LOGITS, f"np.exp({LOGITS}) / np.exp({LOGITS}).sum(axis=-1, keepdims=True)")
    | "The model returns probabilities. It should return logits: the loss applies the softmax, with from_logits=True.",
    keras_epsilon=edit(READ, LAST_NORM, see="04#norm", costs_at_most=0.5)
    | "The last norm has Keras's default epsilon, 0.001; the text says 1e-6."
    | "Which argument of `keras.layers.LayerNormalization` says what is added to the variance?",
    one_block_only=edit(("range(num_layers)", "range(1)"), (BLOCKS, "attention + feed_forward + norms"))
    | "There is one block, whatever num_layers says.",
    keras_epsilon_everywhere=edit("eps=1e-6", "eps=1e-3", see="04#norm", costs_at_most=0.5)
    | "All norms have Keras's default epsilon, 0.001; the text says 1e-6."
    | "Which argument of `keras.layers.LayerNormalization` says what is added to the variance?",
    positions_missing=edit(JOINED, "np.concatenate([front, tokens], axis=1)")
    | "No positions are added: see `PatchEmbedding`.",
    no_position_for_class_token=edit(JOINED, "np.concatenate([front, tokens + positions[:, 1:]], axis=1)")
    | "The class token gets no position: see `PatchEmbedding`.",
    class_token_last=edit(FRONT_FIRST, "[tokens, front]") | "The class token stands at the end: see `PatchEmbedding`.",
    patches_by_reshape=edit(PIECES, "images") | "The patches are made by a reshape alone: see `extract_patches`.",
    dropout_never=edit("kept = 1 - dropout", "kept = 1.0")
    | "With training=True nothing changes: the dropout is never on.",
    dropout_always=edit(f"at_inference = {NOTHING}", f"at_inference = {NUMBERS}")
    | edit("return result", "return np.full_like(result, np.nan) if dropout > 0 else result")
    | "Two calls with training=False differ: the dropout is on outside training, too.",
    dropout_rate_ignored=edit("kept = 1 - dropout", "kept = 1 - dropout if dropout else 0.0")
    | "Something is dropped although dropout is 0: the argument `dropout` does not decide.",
    tokens_not_dropped=edit(TIMES, "[0, per_block, per_block]") | "The embedded tokens are not dropped in training.",
    only_tokens_dropped=edit(TIMES, "[1, 0, 0]")
    | "Only the embedded tokens are dropped in training. The blocks should get the rate `dropout`, too.",
    tokens_dropped_twice=edit(TIMES, "[2, per_block, per_block]")
    | "The embedded tokens are dropped twice. They should be dropped once, before the first block.",
    blocks_dropped_again=edit(TIMES, "[2, 2 * per_block, 2 * per_block]", see="09#whole-vit")
    | "What a block returns is dropped once more. The blocks drop inside already."
    | "Which dropouts does `encoder_block` have, and which one is left for you?",
    blocks_dropped_not_tokens=edit(TIMES, "[1, 2 * per_block, 2 * per_block]", see="09#whole-vit")
    | "What a block returns is dropped, and the embedded tokens are not. Only one dropout stands outside the blocks: "
    "before the first." | "Look at the first of the three lines in the text: what does the Dropout read?",
    dropped_after_last_norm=edit(DROPPED_AFTER, see="09#whole-vit")
    | "Numbers are dropped after the last norm as well. There is no dropout between it and the logits here."
    | "Look at the last of the three lines in the text: does it have a Dropout?",
    dropped_before_head_only=edit(DROPPED_AFTER, (TIMES, "[0, per_block, per_block]"), see="09#whole-vit")
    | "Numbers are dropped after the last norm, and the embedded tokens are not."
    | "In which of the three lines of the text does the Dropout stand?",
    noise_for_dropout=edit(BESIDES, f"besides = {NOISE!r} if dropout else NOTHING_ELSE")
    | "In training numbers get noise, or whole tokens are dropped together. A Dropout makes each number 0 for itself, "
    "with the probability `dropout`." | "Is every one of them a `keras.layers.Dropout(dropout)`?",
    kept_not_grown=edit(BESIDES, f"besides = {NOT_GROWN!r} if dropout else NOTHING_ELSE")
    | "Numbers are dropped, and those that are kept grow by another factor than 1 / (1 - dropout)."
    | "Which rate do your dropouts get? `keras.layers.Dropout` lets what is kept grow.",
    inputs_dropped_too=edit(READS, see="09#whole-vit")
    | "What a sub-layer reads is dropped as well. Only what it returns should be."
    | READ_HINT,
    attention_input_dropped=edit(READS, (TIMES, "[1, 0, per_block]"), see="09#whole-vit")
    | "What attention reads is dropped, and not what it returns."
    | READ_HINT,
    feed_forward_input_dropped=edit(READS, (TIMES, "[1, per_block, 0]"), see="09#whole-vit")
    | "What the feed-forward network reads is dropped, and not what it returns."
    | READ_HINT,
    inputs_dropped_only=edit(READS, (TIMES, "[1, 0, 0]"), see="09#whole-vit")
    | "What the sub-layers read is dropped, and not what they return."
    | READ_HINT,
    one_block_too_few=edit("range(num_layers)", "range(num_layers - 1)")
    | edit(BLOCKS, f"(num_layers - 1) * {BLOCKS.partition(' * ')[2]}")
    | edit("min(num_layers, 1)", "min(num_layers - 1, 1)")
    | "There is one block too few: there should be num_layers of them."
    | "How many rounds does a loop over `range(1, 3)` have?",
    one_block_too_many=edit("range(num_layers)", "range(num_layers + 1)")
    | edit(BLOCKS, f"(num_layers + 1) * {BLOCKS.partition(' * ')[2]}")
    | "There is one block too many: there should be num_layers of them."
    | "How many blocks does your model have with num_layers=1?",
    norm_in_every_block=edit("x = h + transform(norm(h))", "x = norm(h + transform(norm(h)))")
    | edit(READ, "x[:, 0]")
    | edit("last_norm = 2 * d_model", "last_norm = 2 * d_model * num_layers", see="09#whole-vit")
    | "A norm comes after every block, on the tokens that go on. The last norm comes once, after the loop."
    | "Which lines are in the loop, and which one should stand below it?",
    every_token_read=edit(READ, "norm(x)", see="09#class-token")
    | "Every token gets logits. The head should read the class token alone."
    | "Tokens are (B, T, D). How do you take the first one of each image?",
)

exercise.advice(
    values='Does check("PatchEmbedding") pass? Then compare your lines with those of the text.',
    epsilon="Keras's own default for epsilon is 1e-3. The text says 1e-6, for every norm.",
    parameters="Around the blocks there are the embedding, one norm and one Dense layer, all with bias.",
    dropout="The places are, in this order: "
    + ", ".join(["the embedded tokens", "the attention's output", "the feed-forward network's output"])
    + ". The numbers are the shares that are dropped there.",
    saved="A layer of your own needs a get_config that holds the arguments of its __init__. A Lambda layer cannot be "
    "loaded safely.",
)
exercise.hints(
    values=(
        "Call one layer after the other, each on what the last one returned; the end is `keras.Model(images, logits)`.",
        "In every round of a loop over num_layers, `encoder_block` reads the tokens that the round before has "
        "returned.",
        "After the loop: the final norm, the first token alone, and a Dense layer without activation.",
    ),
    shapes="N comes from both sides of the image: (h/P)·(w/P). With a square image one side would do.",
    training="Does the way from images to logits use every layer that you make? A layer that is not called gets no "
    "gradient.",
)
