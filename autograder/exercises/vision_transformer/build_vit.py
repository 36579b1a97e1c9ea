"""Lab 09, exercise `build_vit`."""

from typing import Any

import numpy as np
from coursekit.generator import Generator
from coursekit.probes.vision_transformer import role_shapes

from autograder.declaring import Case, Exercise, wrong
from autograder.exercises.drawing import normal
from autograder.exercises.vision_transformer.shared import Draw
from autograder.mistaken import vision_transformer as mistaken
from autograder.oracles import vision_transformer as oracles

# Two sets of sizes, and no more: building a model takes much longer than calling it, and cases may share one.
FIRST: dict[str, Any] = {"image_shape": [6, 9, 2], "patch_size": 3, "num_classes": 5, "num_layers": 2, "d_model": 12, "num_heads": 3, "d_ff": 17, "dropout": 0.5}


SECOND = {"image_shape": [10, 4, 1], "patch_size": 2, "num_classes": 7, "num_layers": 1, "d_model": 6, "num_heads": 2, "d_ff": 11}


BATCH = 2


def _model_inputs(rng: Generator, sizes: dict, added: float = 0.1) -> dict:
    """Inputs of build_vit, with weights for every role: γ around 1, all others around 0.

    `added` scales what is added to the residual stream: the smaller, the more the norms' epsilon matters. What GELU gets
    is small, so that its usual approximation by tanh, `ops.gelu`'s default, passes as well, whatever the seed.
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
    shown = [f"{key}={tuple(each) if isinstance(each, list) else each}" for key, each in sizes.items()]
    return ", ".join([*shown, *more])


def _models(mode: str, *each: tuple[dict, str], **settings: float) -> Draw:
    """Cases of build_vit in one mode, each given by its sizes and by what is tried."""
    return lambda rng: [Case(_model_inputs(rng, sizes, **settings), mode=mode, description=description) for sizes, description in each]


exercise = Exercise("build_vit", oracle=oracles.vit, mistaken=mistaken.vit, by_mode={"parameters": oracles.vit_parameters, "dropout": oracles.vit_dropout, "slopes": oracles.vit_slopes})


@exercise.group("right logits with known weights", points=3, advice='Does check("PatchEmbedding") pass? Then compare your blocks with the five lines of the text.')
def values(rng: Generator) -> list[Case]:
    return _models("call", (FIRST, _described(FIRST, "known weights, not in training")))(rng)


@exercise.group("another image shape, one channel, other widths", points=1)
def shapes(rng: Generator) -> list[Case]:
    return _models("call", (SECOND, _described(SECOND)))(rng)


@exercise.group("layer norms with epsilon 1e-6", points=1, advice="Keras's own default for epsilon is 1e-3. The text says 1e-6, for every norm.")
def epsilon(rng: Generator) -> list[Case]:
    return _models("call", (SECOND, "tokens whose features hardly differ"), added=0.01)(rng)


@exercise.group("the right number of parameters", points=2, advice="Each block has two norms, one attention and two Dense layers of its own, all with bias.")
def parameters(rng: Generator) -> list[Case]:
    return _models("parameters", (FIRST, f"trainable parameters, {_described(FIRST)}"))(rng)


@exercise.group(
    "dropout: in training only, in three places, at the rate given",
    points=1,
    advice="The places are, in this order: " + ", ".join(["the embedded tokens", "the attention's output", "the feed-forward network's output"]) + ". 1 means: the logits change there.",
)
def dropout(rng: Generator) -> list[Case]:
    return _models("dropout", (FIRST, "dropout=0.5, called with training=True and False"), (SECOND, "dropout as it is by default, called with training=True and False"))(rng)


@exercise.group("works inside tf.function, and gradients reach every weight", points=1)
def training(rng: Generator) -> list[Case]:
    inputs = _model_inputs(rng, FIRST)
    inputs |= {"weighting": normal(rng, BATCH, FIRST["num_classes"]), "direction": normal(rng, len(inputs["weights"]))}
    return [*_models("graph", (FIRST, "inside tf.function, batch size unknown"))(rng), Case(inputs, mode="slopes", description="gradients, compared with numerical ones")]


@exercise.group("can be saved and loaded", points=1, advice="A layer of your own needs a get_config that holds the arguments of its __init__. A Lambda layer cannot be loaded safely.")
def saved(rng: Generator) -> list[Case]:
    return _models("saved", (SECOND, "saved with model.save, loaded with load_model"))(rng)


exercise.mistakes(
    post_norm=wrong("The blocks are post-norm, as in 2017, and there is no final norm. Here each norm comes before its sub-layer, and one more at the end.", norm_place="post", final_norm=False),
    post_norm_and_final_norm=wrong("The blocks are post-norm: each norm comes before its sub-layer here, not after the sum.", norm_place="post"),
    final_norm_missing=wrong("The final norm, after the last block, is missing.", final_norm=False),
    mean_pooled=wrong("The head reads the mean of all tokens. It should read the class token, the first one.", read="mean of all"),
    patches_pooled=wrong("The head reads the mean of the patches. It should read the class token, the first one.", read="mean of patches"),
    max_pooled=wrong("The head reads the largest value of each feature over the tokens. It should read the class token, the first one.", read="largest"),
    last_token_read=wrong("The head reads the last token, a patch.", read="last token"),
    first_patch_read=wrong("The head reads the token of the first patch. The class token stands before it, at place 0.", read="first patch"),
    softmax_output=wrong("The model returns probabilities. It should return logits: the loss applies the softmax, with from_logits=True.", output="softmax"),
    sigmoid_output=wrong("A sigmoid follows the head. The model should return logits.", output="sigmoid"),
    relu=wrong("The activation is ReLU, as in lab 04. A ViT has GELU.", activation="relu"),
    no_activation=wrong("There is no activation between the two Dense layers of a block, so they collapse into one.", activation="none"),
    gelu_twice=wrong("A GELU follows both Dense layers of a block. The second one should be linear.", activated="hidden, output"),
    no_first_residual=wrong("The residual path around the attention is missing.", residuals=(False, True)),
    no_second_residual=wrong("The residual path around the feed-forward network is missing.", residuals=(True, False)),
    no_residuals=wrong("Both residual paths of a block are missing.", residuals=(False, False)),
    residual_from_normed=wrong("The sum takes the normalised token; the residual path should carry the token as it came.", residual_from="normed"),
    first_residual_from_normed=wrong("The sum after the attention takes the normalised token; the residual path should carry the token as it came.", residual_from="first normed"),
    second_residual_from_normed=wrong("The sum after the feed-forward network takes the normalised token; the residual path should carry the token as it came.", residual_from="second normed"),
    feed_forward_from_input=wrong("The feed-forward network reads the block's input; it should read the result of the first half.", feed_input="block input"),
    first_norm_missing=wrong("The norm before the attention is missing.", norms="first missing"),
    second_norm_missing=wrong("The norm before the feed-forward network is missing.", norms="second missing"),
    one_norm_per_block=wrong("A block uses one norm in two places; it should have two norms.", norms="one for both"),
    values_not_normed=wrong("The attention takes its values from the token as it came. Query, key and value should be normalised.", value_input="raw"),
    only_query_normed=wrong("Only the query is normalised. `value` comes from the token as it was, and so does `key`, which is the value when it is not given.", value_input="raw, as the keys"),
    causal=wrong("The attention is causal: the class token is the first token, so it sees only itself.", causal=True),
    keras_epsilon=wrong("The norms have Keras's default epsilon, 0.001; the text says 1e-6.", eps=0.001),
    key_dim_is_d_model=wrong("key_dim is d_model for each head; here it should be D/H.", key_dim="D"),
    one_block_only=wrong("There is one block, whatever num_layers says.", blocks="only one"),
    blocks_shared=wrong("All blocks share their weights: the layers are made once and used again and again.", blocks="shared"),
    class_token_untracked=wrong("`class_token` is not among the trainable weights: see exercise 3.", tracked="positions"),
    positions_untracked=wrong("`position_embedding` is not among the trainable weights: see exercise 3.", tracked="class token"),
    positions_missing=wrong("No positions are added: see exercise 3.", positions="none"),
    no_position_for_class_token=wrong("The class token gets no position: see exercise 3.", positions="patches only"),
    class_token_last=wrong("The class token stands at the end: see exercise 3.", class_place="last"),
    patches_by_reshape=wrong("The patches are made by a reshape alone: see exercise 1.", how="reshape"),
    dropout_never=wrong("With training=True nothing changes: the dropout is never on.", drop_when="never"),
    dropout_always=wrong("Two calls with training=False differ: the dropout is on outside training, too.", drop_when="always"),
    dropout_rate_ignored=wrong("Something is dropped although dropout is 0: the argument `dropout` does not decide.", drop_when="at a rate of its own"),
    tokens_not_dropped=wrong("The embedded tokens are not dropped in training.", drop="attention, feed-forward"),
    attention_not_dropped=wrong("The attention's output is not dropped in training.", drop="embedding, feed-forward"),
    feed_forward_not_dropped=wrong("The feed-forward network's output is not dropped in training.", drop="embedding, attention"),
    only_tokens_dropped=wrong("Only the embedded tokens are dropped in training; the outputs of both sub-layers should be dropped, too.", drop="embedding"),
)


exercise.hints(
    "Start with `keras.Input(image_shape)`, and pass it through layers until logits come out.",
    "A loop over num_layers makes new layers in every round: norm, attention, sum; norm, two Dense layers, sum.",
    "After the loop: the final norm, the first token alone, and a Dense layer without activation.",
)
exercise.hints("N comes from both sides of the image: (h/P)·(w/P). With a square image one side would do.", group="shapes")
exercise.hints("Does the way from images to logits use every layer that you make? A layer that is not called gets no gradient.", group="training")
