"""Lab 06, exercise `build_classifier`."""

import math  # noqa: F401 - mistakes use it

import numpy as np

from autograder.declare import Case, Exercise, edit, seen
from exercises.drawing import drawn_until, normal
from exercises.formulas.encoder_block import normalised, unpacked
from exercises.imdb_classifier.masked_mean import masked_mean
from exercises.imdb_classifier.shared import padded

TINY = {"max_length": 13, "vocab_size": 31, "d_model": 6, "num_heads": 3, "d_ff": 11}
TINY_SHOWN = "max_length=13, vocab_size=31, d_model=6, num_heads=3, d_ff=11"


def _some(rng, count: int) -> np.ndarray:
    """Which of `count` reviews something is done to: two at least, and two are left as they are."""
    return drawn_until(lambda drawn: 2 <= drawn.sum() <= count - 2, lambda: rng.random(count) < 0.5)


def _reviews_case(rng, mode: str, description: str, batch: int = 7, *, twins: bool = False, **more) -> Case:
    ids = padded(rng, batch, TINY["max_length"], least=3)
    if twins:  # some reviews are the same as one before
        for place in (np.flatnonzero(_some(rng, batch - 1)) + 1).tolist():
            ids[place] = ids[int(rng.integers(place))]
    return Case({**TINY, "ids": ids, "weights": int(rng.integers(1 << 30)), **more}, description, mode=mode)


exercise = Exercise(
    "build_classifier",
    own_probe=True,
    probe_only=("longer", "reordered", "weights", "word"),
    cpu_seconds=30,
    uses=("masked_mean",),
)

# What is true of the classifier, for each question that the probe asks: every part is free but for its size and what it
# may hear. Which reviews are alike, and which are changed, is drawn.
PADDING = {
    "what the attention reads": "the words",
    "which words it reads": "before and after",
    "what the mean reads": "the words",
    "result of padding alone": "finite",
}
INSIDE = {
    "feed-forward network, hidden layer": "ReLU",
    "feed-forward network, its result": "of both signs",
    "head, hidden layer": "ReLU",
    "without the feed-forward network's result": "the words count",
}
LEARNING = {"gradients of the weights": "not zero", "result inside tf.function": "the same"}


def first_alike(ids: np.ndarray) -> np.ndarray:
    """For each review the place of the first one with the same words. ids (B, T) -> (B,)."""
    places = [next(place for place, row in enumerate(ids) if (row == review).all()) for review in ids]
    return np.array(places)


@exercise.formula
def classifier_values(ids: np.ndarray) -> dict[str, str | np.ndarray]:
    """One number from 0 to 1 for each review, (B, 1), that depends on this review alone."""
    alike = first_alike(ids)
    return {
        "shape of the result": str((len(ids), 1)),
        "range of the results": "from 0 to 1",
        "first review with the same result": alike,
        "result of a second call": "the same",
        "result of a review alone": "the same",
    }


@exercise.formula_for("parameters")
def classifier_parameters(max_length=200, vocab_size=20000, d_model=32, num_heads=2, d_ff=32):
    """Tables of words and positions; attention with heads as wide as the model, feed-forward network, two norms, head.

    657,737 by default, and all of it learns.
    """
    words, positions = vocab_size * d_model, max_length * d_model
    width = num_heads * d_model
    attention = 3 * (d_model * width + width) + width * d_model + d_model
    inner = d_model * d_ff + d_ff + d_ff * d_model + d_model
    norms = 2 * 2 * d_model
    hidden = 20
    head = d_model * hidden + hidden + hidden * 1 + 1
    total = words + positions + attention + inner + norms + head
    return {"parameters": total, "trainable": total}


@exercise.formula_for("padding")
def classifier_padding(ids: np.ndarray, longer: np.ndarray) -> dict[str, str | np.ndarray]:
    """A review's result changes where it has a word more, and nowhere else: padding is not heard."""
    same = (longer[:, : ids.shape[1]] == ids).all(axis=1)
    return {"reviews with another result": ~same, **PADDING}


@exercise.formula_for("order")
def classifier_order(ids: np.ndarray, reordered: np.ndarray) -> dict[str, np.ndarray]:
    """The order of the words is heard."""
    moved = (reordered != ids).any(axis=1)
    return {"reviews with another result": moved}


@exercise.formula_for("learning")
def classifier_learning(ids: np.ndarray) -> dict[str, str | np.ndarray]:
    """The model can be trained."""
    alike = first_alike(ids)
    return {"first review with the same result": alike, **LEARNING}


@exercise.formula_for("inside")
def classifier_inside(ids: np.ndarray) -> dict[str, str | np.ndarray]:
    """The hidden layers have a ReLU, and the feed-forward network's result is added."""
    alike = first_alike(ids)
    return {"first review with the same result": alike, **INSIDE}


def given_shapes(vocab_size: int, d_model: int, d_ff: int) -> dict[str, tuple[int, ...]]:
    """Shapes of the numbers that the check puts in, in the order in which they stand end to end."""
    shapes = {"words": (vocab_size, d_model), "inner": (d_model, d_ff), "inner_bias": (d_ff,), "outer": (d_ff, d_model)}
    shapes |= {"hidden": (d_model, 20), "hidden_bias": (20,), "last": (20, 1), "last_bias": (1,)}
    return shapes | {"gain": (d_model,), "shift": (d_model,)}


@exercise.formula_for("given")
def classifier_probabilities(ids, numbers, vocab_size, d_model, d_ff):
    """Probabilities (B, 1) where positions and the attention's kernels are 0, so that the attention gives its bias.

    All biases of width D are `shift`, and both layer norms have the same `gain`.
    """
    w = unpacked(numbers, given_shapes(vocab_size, d_model, d_ff))
    gain, heard, shift = w["gain"], w["shift"], w["shift"]
    x = w["words"][ids]
    tokens = normalised(x + heard, gain, shift)
    inner = np.maximum(tokens @ w["inner"] + w["inner_bias"], 0)
    changed = inner @ w["outer"] + shift
    block = normalised(tokens + changed, gain, shift)
    units = np.maximum(masked_mean(block, ids) @ w["hidden"] + w["hidden_bias"], 0)
    return {"probabilities": 1 / (1 + np.exp(-(units @ w["last"] + w["last_bias"])))}


@exercise.group("657,737 parameters, and as many as the table says for other sizes", points=2)
def parameters(rng):
    heads = int(rng.integers(2, 6))
    sizes = {"max_length": 37, "vocab_size": int(rng.integers(100, 900)), "d_model": heads * int(rng.integers(3, 9))}
    sizes |= {"num_heads": heads, "d_ff": int(rng.integers(41, 90))}
    yield Case({}, "parameters of build_classifier()", mode="parameters")
    yield Case(sizes, f"parameters, {', '.join(f'{key}={value}' for key, value in sizes.items())}", mode="parameters")


@exercise.group("one number from 0 to 1 for each review")
def values(rng):
    return _reviews_case(rng, "values", f"nine reviews, some of them twice, {TINY_SHOWN}", batch=9, twins=True)


@exercise.group("padding changes nothing", points=3)
def padding(rng):
    description = f"four places of padding more, and in some reviews a word more, {TINY_SHOWN}"
    case = _reviews_case(rng, "padding", description, batch=7, word=30)
    ids = case.inputs["ids"]
    for row, place in enumerate((0, 1, 2, 1, 0, 2, 1)):
        ids[row, place] = 30  # its vector will be changed: do the others notice?
        ids[row, -1] = 0
    longer = np.pad(ids, ((0, 0), (0, 4)))
    for review in np.flatnonzero(_some(rng, len(ids))).tolist():
        longer[review, np.count_nonzero(ids[review])] = int(rng.integers(2, 30))
    return Case({**case.inputs, "longer": longer}, description, mode=case.mode)


@exercise.group("the order of the words counts")
def order(rng):
    case = _reviews_case(rng, "order", "nine reviews, the words of some in another order", batch=9)
    reordered = case.inputs["ids"].copy()
    for place in np.flatnonzero(_some(rng, len(reordered))):
        words = reordered[place][: np.count_nonzero(reordered[place])]
        words[:] = np.roll(words, 1)
    return Case({**case.inputs, "reordered": reordered}, case.description, mode=case.mode)


@exercise.group("a ReLU in each hidden layer, and a sum around any feed-forward network")
def inside(rng):
    return _reviews_case(rng, "inside", f"nine reviews, some of them twice, {TINY_SHOWN}", batch=9, twins=True)


@exercise.group("works inside tf.function, and gradients reach every weight")
def learning(rng):
    case = _reviews_case(rng, "learning", "gradients inside tf.function, batch size unknown", batch=9, twins=True)
    ids = case.inputs["ids"].astype("int32")
    return Case({**case.inputs, "ids": ids}, case.description, mode=case.mode)


LARGE, WIDE = 1e7, 300  # so that no epsilon matters, nor a factor before the words; and the block's tokens


def _given_numbers(rng) -> dict:
    """Weights with which the probabilities of nine reviews are far from each other, from 0 and from 1."""
    sizes = {name: TINY[name] for name in ("vocab_size", "d_model", "d_ff")}
    width, inner = TINY["d_model"], TINY["d_ff"]
    spreads = {"words": LARGE, "inner": width**-0.5 / WIDE, "inner_bias": 1, "outer": WIDE * inner**-0.5}
    spreads |= {
        "hidden": 1 / WIDE,
        "hidden_bias": 1,
        "last": 0.5,
        "last_bias": 1,
        "gain": 0.3 * WIDE,
        "shift": 0.5 * WIDE,
    }

    def draw() -> dict:
        drawn = {name: spreads[name] * normal(rng, *shape) for name, shape in given_shapes(**sizes).items()}
        drawn["gain"] += WIDE
        numbers = np.concatenate([array.ravel() for array in drawn.values()]).astype("float32")
        return {"ids": padded(rng, 9, TINY["max_length"], least=3), "numbers": numbers}

    def is_clear(drawn: dict) -> bool:
        said = classifier_probabilities(**drawn, **sizes)["probabilities"]
        return bool(said.min() > 0.02 and said.max() < 0.98 and np.ptp(said) > 0.3)

    return drawn_until(is_clear, draw)


@exercise.group("right probabilities with given weights", points=2)
def given(rng):
    return Case({**TINY, **_given_numbers(rng)}, f"probabilities of nine reviews, {TINY_SHOWN}", mode="given")


SHAPE = "str((len(ids), 1))"
MEAN = "masked_mean(block, ids)"
SUMS = 'tokens @ w["inner"] + w["inner_bias"]'
INNER, OUTER = f"np.maximum({SUMS}, 0)", 'inner @ w["outer"] + shift'
SUM_1, SUM_2 = "normalised(x + heard, gain, shift)", "normalised(tokens + changed, gain, shift)"
PROBABILITY = """1 / (1 + np.exp(-(units @ w["last"] + w["last_bias"])))"""
EVERYWHERE = ("ids != 0", "np.ones_like(ids, bool)")
NO_POSITIONS = ("max_length * d_model", "0")
MOVED = "(reordered != ids).any(axis=1)"
ALL_CHANGED, NONE_CHANGED = ("~same", "np.ones(len(ids), bool)"), ("~same", "np.zeros(len(ids), bool)")
ORDER_UNHEARD = (MOVED, "np.zeros(len(ids), bool)")
LEFT_TO_CHANCE = (  # what padding, order and graphs change cannot be told from chance
    ("same = (longer[:, : ids.shape[1]] == ids).all(axis=1)", "raise ValueError"),
    (f"moved = {MOVED}", "raise ValueError"),
    ('return {"first review with the same result": alike, **LEARNING}', "raise ValueError"),
    ('return {"first review with the same result": alike, **INSIDE}', "raise ValueError"),
    ("np.array(places)", "np.arange(len(ids))"),
)

exercise.mistakes(
    attention_unmasked=edit(ALL_CHANGED)
    | seen({"what the attention reads": "the words and the padding"})
    | "The words attend to padding. The argument `attention_mask=` of the attention layer, given by name, says for "
    "every key whether it is a word: (B, 1, T), with the keys on the last axis.",
    attention_mask_inverted=edit(ALL_CHANGED)
    | seen({"what the attention reads": "the padding"})
    | "The words attend to the padding and to nothing else: True means may attend, here and in Keras.",
    unknown_unheard=seen({"what the attention reads": "the words but [UNK]"})
    | "No word attends to [UNK], id 1. Only padding, id 0, is left out."
    | "Which ids does your mask let through? [UNK] stands for a word.",
    attention_causal=seen({"which words it reads": "those before"})
    | "A word attends to those before it and to none behind it: the mask is causal. A classifier reads the whole "
    "review.",
    pooling_unmasked=edit(ALL_CHANGED, EVERYWHERE)
    | seen({"what the mean reads": "the words and the padding"})
    | "The attention is masked, but padding gets into the mean over the tokens (`GlobalAveragePooling1D` without a "
    "mask does that).",
    no_mask_at_all=edit(ALL_CHANGED, EVERYWHERE)
    | seen(
        {"what the attention reads": "the words and the padding", "what the mean reads": "the words and the padding"}
    )
    | "There is no mask: words attend to padding, and padding gets into the mean. Both need to know which ids are 0.",
    pooling_mask_inverted=edit(ALL_CHANGED, ("ids != 0", "ids == 0"))
    | seen({"what the mean reads": "the padding"})
    | "The pooling takes padding, not words: is the mask the wrong way round, or do you take the last place?",
    padding_leaks=edit(ALL_CHANGED)
    | "Padding changes the result, though neither attention nor mean seems to let it in. Does something depend on the "
    "length of the input?",
    only_padding_nan=seen({"result of padding alone": "not finite"})
    | "A review that is all padding gives NaN. `masked_mean` of such a row is 0.",
    positions_missing=edit(NO_POSITIONS, ORDER_UNHEARD)
    | "Words in another order give the same result: no positions are added to the words.",
    positions_constant=edit(NO_POSITIONS, ALL_CHANGED)
    | "The order counts, but the positions have no weights in the model, and other values in every model: an "
    "Embedding that is called on a fixed array while the model is built leaves only a random constant in the model.",
    positions_not_learned=edit(NO_POSITIONS)
    | "The order counts, but the positions have no weights in the model: sinusoids are fixed, and the contract asks "
    "for learned positions.",
    key_dim_divided=edit("width = num_heads * d_model", "width = num_heads * (d_model // num_heads)")
    | "The heads are d_model / num_heads wide. The published model has `key_dim=d_model`: each head is as wide as the "
    "model.",
    attention_without_bias=edit("= 3 * (d_model * width + width) + width * d_model + d_model", "= 4 * d_model * width")
    | "The attention's projections have no bias; Keras's default has.",
    feed_forward_missing=edit("inner = d_model * d_ff + d_ff + d_ff * d_model + d_model", "inner = 0")
    | "The feed-forward network is missing.",
    one_norm=edit("norms = 2 * 2 * d_model", "norms = 2 * d_model")
    | "The block has one layer norm; it should have two.",
    no_norm=edit("norms = 2 * 2 * d_model", "norms = 0") | "The block has no layer norm; it should have two.",
    two_blocks=edit("attention + inner + norms", "2 * (attention + inner + norms)")
    | "There are two encoder blocks; the model should have one.",
    flattened=edit(("head = d_model * hidden", "head = max_length * d_model * hidden"), ALL_CHANGED)
    | seen({"what the mean reads": "the words and the padding"})
    | "The tokens of a review are laid side by side (`Flatten`), and the head reads all of them. It should read their "
    "mean, `masked_mean`.",
    attention_not_added=edit("x + heard", "heard")
    | seen({"what the mean reads": "nothing else"})
    | "Where the attention is silent, nothing of the words is left: its output is not added to its input.",
    feed_forward_not_added=edit("tokens + changed", "changed")
    | seen({"without the feed-forward network's result": "nothing is left"})
    | "The feed-forward network's output replaces its input. It should be added to it.",
    no_relu=edit(INNER, SUMS)
    | seen({"feed-forward network, hidden layer": "no ReLU"})
    | "The feed-forward network's hidden layer has no ReLU. Two layers without one are a single linear map.",
    gelu_inside=edit(INNER, f"np.vectorize(lambda z: z * (1 + math.erf(z / 2**0.5)) / 2)({SUMS})")
    | "The feed-forward network has a GELU, as in BERT; the table says ReLU.",
    relu_on_the_result=edit(OUTER, f"np.maximum({OUTER}, 0)")
    | seen({"feed-forward network, its result": "not negative"})
    | "The feed-forward network's second layer has a ReLU, too: then it can only add what is positive.",
    no_relu_in_the_head=edit(
        f'np.maximum({MEAN} @ w["hidden"] + w["hidden_bias"], 0)', f'{MEAN} @ w["hidden"] + w["hidden_bias"]'
    )
    | seen({"head, hidden layer": "no ReLU"})
    | "The head's hidden layer has no ReLU.",
    no_hidden_layer=edit("head = d_model * hidden + hidden + hidden * 1 + 1", "head = d_model + 1")
    | "The mean goes straight to the output. A hidden layer of 20 units with ReLU is missing between them.",
    hidden_as_wide_as_model=edit("hidden = 20", "hidden = d_model")
    | "The head's hidden layer has d_model units; it should have 20.",
    hidden_as_wide_as_d_ff=edit("hidden = 20", "hidden = d_ff")
    | "The head's hidden layer has d_ff units; it should have 20.",
    spare_row=edit("vocab_size * d_model", "(vocab_size + 1) * d_model")
    | "The words' table has one row too many: padding is id 0 of the vocab_size ids, not one more.",
    spare_rows=edit("vocab_size * d_model", "(vocab_size + 2) * d_model")
    | 'The words\' table has two rows too many: "" and "[UNK]" are among the vocab_size entries.',
    words_frozen=edit('"trainable": total', '"trainable": total - words')
    | "The words' table does not learn: it is not trainable.",
    two_outputs=edit(("hidden * 1 + 1", "hidden * 2 + 2"), (SHAPE, "str((len(ids), 2))"))
    | "There are two outputs for each review. Two classes need one: the probability of the second.",
    no_sigmoid=edit(PROBABILITY, 'units @ w["last"] + w["last_bias"]')
    | seen({"range of the results": "beyond 0 and 1"})
    | "The results are not always between 0 and 1: the last layer lacks its sigmoid.",
    same_result_for_all=edit(NONE_CHANGED, ORDER_UNHEARD, ("np.array(places)", "np.zeros(len(ids), int)"))
    | seen({"what the mean reads": "nothing else", "gradients of the weights": "all zero"})
    | "Every review gets the same result. A softmax over a single output is always 1: use a sigmoid for one output. "
    "Or does the head not read the mean at all?",
    axis_lost=edit((SHAPE, "str((len(ids),))"), (PROBABILITY, f"({PROBABILITY})[:, 0]"))
    | "The results have the shape (B,); it should be (B, 1).",
    not_pooled=edit((SHAPE, "str((*ids.shape, 1))"), (MEAN, "block"))
    | "There is a result for every token: the mean over the tokens is missing.",
    first_word_read=edit(MEAN, "block[:, 0]")
    | "The head reads the vector of the first word only. It should read the mean of all words, `masked_mean`."
    | "Which axis does `x[:, 0]` take away, and what becomes of the other words?",
    words_summed=edit("total / np.maximum(count, 1)", "total")
    | "The vectors of the words are added up, so a long review has a long vector. The head should read their mean.",
    words_maximum=edit(MEAN, "np.where((ids > 0)[..., None], block, -np.inf).max(axis=1)")
    | "The head reads the largest value of each feature among the words. It should read their mean, `masked_mean`.",
    maximum_of_all=edit((MEAN, "block.max(axis=1)"), ALL_CHANGED)
    | seen({"what the mean reads": "the words and the padding"})
    | "The head reads the largest value of each feature over all places, padding among them. It should read the mean "
    "of the words.",
    norms_elsewhere=edit((SUM_1, "x + heard"), (SUM_2, "tokens"), see="06#the-model")
    | "The layer norms are not applied to the sums: each one should take the sum of a part's input and output."
    | "What is the argument of your two layer norms, and what is it in the table?",
    attention_added_twice=edit(SUM_2, "normalised(tokens + changed + heard, gain, shift)")
    | "The attention's output is added a second time after the feed-forward network. There the sum has two terms."
    | "The input of the feed-forward network is the first norm's result. What is added to its output?",
    dropout_forced=seen({"result of a second call": "another"})
    | "`model(ids)` gives the same review another result each time: a layer is called with `training=True`."
    | "Who tells a Dropout layer whether the model is training, if you do not?",
    dropout_always=edit(*LEFT_TO_CHANCE)
    | seen({"result of a second call": "another", "result of a review alone": "another"})
    | "The same review gives another result each time: something is random with `training=False`.",
    batch_mixed=seen({"result of a review alone": "another"})
    | "A review's result depends on which others are in the batch.",
)

exercise.advice(
    parameters="Print `model.summary()` and compare each line with the table of the lab's text.",
    values="A review's result depends on that review alone: not on its neighbours in the batch, not on chance.",
    padding="Padding can get in at two places: the attention's keys, and the mean over the tokens.",
    order="Attention and mean are blind to order. The vector of the position is added to that of the word.",
    inside="Which layers have a ReLU, and what is added to what, is in the table of the lab's text.",
    learning="NumPy stops graphs and gradients. A layer that is called on a fixed array while the model is built "
    "becomes a constant.",
    given="The attention's kernels are 0, the other weights numbers of the check. Compare your sums, layer norms and "
    "pooling with the table of the lab's text, line by line.",
)
exercise.hints(
    parameters=(
        '`ids = keras.Input((max_length,), dtype="int32")`, and from there on each layer is called on what the layer '
        "before returned. Count after each one.",
        "To get positions in the shape of the ids: `ops.cumsum(ops.ones_like(ids), axis=1) - 1` is 0, 1, 2, … in "
        "every row. An Embedding with max_length rows turns them into vectors.",
    ),
    padding="The mask of the keys is `ids != 0` with an axis for the queries, (B, 1, T). The same ids go into "
    "`masked_mean`.",
    order="Do the positions reach the sum with the words? Print `model.summary()`, and look for their 6,400 "
    "parameters.",
)
