"""Lab 06, exercise `build_classifier`."""

import numpy as np

from autograder.declaring import Case, Exercise, wrong
from coursekit.generator import Generator
from exercises.formulas import imdb_classifier as oracles
from exercises.imdb_classifier.shared import padded
from exercises.mistaken import imdb_classifier as mistaken

TINY = {"max_length": 13, "vocab_size": 31, "d_model": 6, "num_heads": 3, "d_ff": 11}


TINY_SHOWN = "max_length=13, vocab_size=31, d_model=6, num_heads=3, d_ff=11"


def _reviews_case(rng: Generator, mode: str, description: str, batch: int = 7, **more) -> Case:
    ids = padded(rng, batch, TINY["max_length"], least=3)
    return Case({**TINY, "ids": ids, "weights": int(rng.integers(1 << 30)), **more}, mode=mode, description=description)


exercise = Exercise(
    "build_classifier",
    oracle=oracles.classifier_values,
    by_mode={"parameters": oracles.classifier_parameters, "padding": oracles.classifier_padding, "order": oracles.classifier_order, "learning": oracles.classifier_learning},
    mistaken=mistaken.build_classifier,
    probe_only=("more", "reordered", "weights", "word"),
    cpu_seconds=40,
)


@exercise.group("657,737 parameters, and as many as the table says for other sizes", points=2, advice="Print `model.summary()` and compare each line with the table of the lab's text.")
def parameters(rng: Generator) -> list[Case]:
    heads = int(rng.integers(2, 6))
    sizes = {"max_length": 37, "vocab_size": int(rng.integers(100, 900)), "d_model": heads * int(rng.integers(3, 9))}
    sizes |= {"num_heads": heads, "d_ff": int(rng.integers(41, 90))}
    return [
        Case({}, mode="parameters", description="parameters of build_classifier()"),
        Case(sizes, mode="parameters", description=f"parameters, {', '.join(f'{key}={value}' for key, value in sizes.items())}"),
    ]


@exercise.group("one number from 0 to 1 for each review", points=1, advice="A review's result depends on that review alone: not on its neighbours in the batch, not on chance.")
def values(rng: Generator) -> list[Case]:
    return [_reviews_case(rng, "values", f"seven reviews, {TINY_SHOWN}")]


@exercise.group("padding changes nothing", points=3, advice="Padding can get in at two places: the attention's keys, and the mean over the tokens.")
def padding(rng: Generator) -> list[Case]:
    case = _reviews_case(rng, "padding", f"four places of padding more, {TINY_SHOWN}", batch=5, more=4, word=30)
    ids = case.inputs["ids"]
    for row, place in enumerate((0, 1, 2, 1, 0)):
        ids[row, place] = 30  # its vector will be changed: do the others notice?
        ids[row, -1] = 0
    return [case]


@exercise.group("the order of the words counts", points=1, advice="Attention and mean are blind to order. The vector of the position is added to that of the word.")
def order(rng: Generator) -> list[Case]:
    case = _reviews_case(rng, "order", "the words of seven reviews in another order")
    reordered = case.inputs["ids"].copy()
    for row in reordered:
        words = np.count_nonzero(row)
        row[:words] = np.roll(row[:words], 1)
    return [Case({**case.inputs, "reordered": reordered}, mode=case.mode, description=case.description)]


@exercise.group(
    "works inside tf.function, and gradients reach every weight",
    points=1,
    advice="NumPy stops graphs and gradients. A layer that is called on a fixed array while the model is built becomes a constant.",
)
def learning(rng: Generator) -> list[Case]:
    case = _reviews_case(rng, "learning", "gradients inside tf.function, batch size unknown")
    ids = case.inputs["ids"].astype("int32")
    return [Case({**case.inputs, "ids": ids}, mode=case.mode, description=case.description)]


exercise.mistakes(
    attention_unmasked=wrong("The words attend to padding: the attention layer needs `attention_mask=`, by name. It says for every key whether the key is a word.", attention_hears=(True, True)),
    attention_mask_inverted=wrong("The words attend to the padding and to nothing else: True means may attend, here and in Keras.", attention_hears=(False, True)),
    pooling_unmasked=wrong("The attention is masked, but padding gets into the mean over the tokens (`GlobalAveragePooling1D` without a mask does that).", pooling_hears=(True, True)),
    no_mask_at_all=wrong("There is no mask: words attend to padding, and padding gets into the mean. Both need to know which ids are 0.", attention_hears=(True, True), pooling_hears=(True, True)),
    pooling_mask_inverted=wrong("The pooling takes padding, not words: is the mask the wrong way round, or do you take the last place?", pooling_hears=(False, True)),
    padding_leaks=wrong("Padding changes the result, though neither attention nor mean seems to let it in. Does something depend on the length of the input?", leaks=True),
    only_padding_nan=wrong("A review that is all padding gives NaN. `masked_mean` of such a row is 0.", empty="not finite"),
    positions_missing=wrong("Words in another order give the same result: no positions are added to the words.", positions="none"),
    positions_constant=wrong(
        "The order counts, but the positions have no weights in the model, and other values in every model: an Embedding that is called on a fixed array while the model is built leaves only a random constant in the model.",
        positions="constant",
    ),
    positions_not_learned=wrong("The order counts, but the positions have no weights in the model: sinusoids are fixed, and the contract asks for learned positions.", positions="fixed"),
    key_dim_divided=wrong("The heads are d_model / num_heads wide. The published model has `key_dim=d_model`: each head is as wide as the model.", key_dim="D/H"),
    attention_without_bias=wrong("The attention's projections have no bias; Keras's default has.", attention_bias=False),
    feed_forward_missing=wrong("The feed-forward network is missing.", feed_forward=False),
    one_norm=wrong("The block has one layer norm; it should have two.", norms=1),
    no_norm=wrong("The block has no layer norm; it should have two.", norms=0),
    two_blocks=wrong("There are two encoder blocks; the model should have one.", blocks=2),
    no_hidden_layer=wrong("The mean goes straight to the output. A hidden layer of 20 units with ReLU is missing between them.", hidden="none"),
    hidden_as_wide_as_model=wrong("The head's hidden layer has d_model units; it should have 20.", hidden="D"),
    hidden_as_wide_as_d_ff=wrong("The head's hidden layer has d_ff units; it should have 20.", hidden="F"),
    spare_row=wrong("The words' table has one row too many: padding is id 0 of the vocab_size ids, not one more.", spare_rows=1),
    spare_rows=wrong('The words\' table has two rows too many: "" and "[UNK]" are among the vocab_size entries.', spare_rows=2),
    words_frozen=wrong("The words' table does not learn: it is not trainable.", frozen=True),
    two_outputs=wrong("There are two outputs for each review. Two classes need one: the probability of the second.", outputs=2),
    no_sigmoid=wrong("The results are not always between 0 and 1: the last layer lacks its sigmoid.", activation="none"),
    same_result_for_all=wrong(
        "Every review gets the same result. A softmax over a single output is always 1: use a sigmoid for one output. Or does the head not read the mean at all?", activation="softmax"
    ),
    axis_lost=wrong("The results have the shape (B,); it should be (B, 1).", squeezed=True),
    not_pooled=wrong("There is a result for every token: the mean over the tokens is missing.", pooled=False),
    dropout_always=wrong("The same review gives another result each time: something is random with `training=False`.", dropout_always=True),
    batch_mixed=wrong("A review's result depends on which others are in the batch.", batch_mixed=True),
)


exercise.hints(
    '`ids = keras.Input((max_length,), dtype="int32")`, and from there on each layer is called on what the layer before returned. Count after each one.',
    "To get positions in the shape of the ids: `ops.cumsum(ops.ones_like(ids), axis=1) - 1` is 0, 1, 2, … in every row. An Embedding with max_length rows turns them into vectors.",
)
exercise.hints("The mask of the keys is `ids != 0` with an axis for the queries, (B, 1, T). The same ids go into `masked_mean`.", group="padding")
exercise.hints("Do the positions reach the sum with the words? Print `model.summary()`, and look for their 6,400 parameters.", group="order")
