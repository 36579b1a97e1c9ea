"""Lab 07, exercise `build_news_classifier`."""

from collections.abc import Sequence

import numpy as np

from autograder.declaring import Case, Exercise, wrong
from coursekit.generator import Generator
from coursekit.probes.news_classifier import FROZEN
from exercises.bert_ag_news.shared import SENTENCES
from exercises.drawing import normal, one_of
from exercises.formulas.attention import softmax

FIRST = {"width": 6, "num_classes": 4}


SECOND = {"width": 6, "num_classes": 7, "dropout": 0.5, "trainable": False}


FIRST_SHOWN = "build_news_classifier(preprocess_handle, encoder_handle)"


SECOND_SHOWN = "build_news_classifier(…, num_classes={num_classes}, dropout={dropout}, trainable=False)"


def _news(rng: Generator, mode: str, sizes: dict, description: str) -> Case:
    width, classes = sizes["width"], sizes["num_classes"]
    weights = {
        "table": normal(rng, 19, width),
        "pooler": normal(rng, width, width),
        "w1": normal(rng, width, 16),
        "b1": normal(rng, 16),
        "w2": 0.3 * normal(rng, 16, classes),
        "b2": normal(rng, classes),
    }
    texts = [str(sentence) for sentence in rng.permutation(SENTENCES)[:5]]
    shown = FIRST_SHOWN if sizes is FIRST else SECOND_SHOWN.format(**sizes)
    return Case({**sizes, "texts": texts, **weights}, mode=mode, description=f"{description} of {shown}")


def _both_news(rng: Generator, mode: str, description: str, **drawn: float) -> list[Case]:
    # The defaults come last: whoever keeps an argument of an earlier call has another model then.
    return [_news(rng, mode, sizes, description) for sizes in ({**SECOND, **drawn}, FIRST)]


exercise = Exercise("build_news_classifier")


@exercise.formula
def build_news_classifier(
    texts: Sequence[str],
    table: np.ndarray,
    pooler: np.ndarray,
    w1: np.ndarray,
    b1: np.ndarray,
    w2: np.ndarray,
    b2: np.ndarray,
    length: int = 13,
    codes: int = 17,
) -> dict[str, np.ndarray]:
    """Probabilities (B, classes): softmax(relu(pooled W₁ + b₁) W₂ + b₂) on the pooled output of the tiny encoder.

    That encoder adds twice the mean of the words to each of them, and pools tanh(first token · pooler).
    """
    ids = tiny_ids(texts, length, codes)
    real = (ids != 0)[..., None]
    x = table[ids]  # (B, L, D)
    mean = (x * real).sum(axis=1, keepdims=True) / real.sum(axis=1, keepdims=True)
    sequence = x + 2 * mean  # (B, L, D)
    pooled = np.tanh(sequence[:, 0] @ pooler)
    hidden = np.maximum(pooled @ w1 + b1, 0)
    return {"probabilities": softmax(hidden @ w2 + b2)}


def tiny_ids(texts: Sequence[str], length: int, codes: int) -> np.ndarray:
    """Ids of the tiny preprocessing: 1, then a number from 2 on for every byte, 0 behind the text."""
    ids = np.zeros((len(texts), length), "int64")
    ids[:, 0] = 1
    for row, text in zip(ids, texts, strict=True):
        values = np.frombuffer(text.encode()[: length - 1], np.uint8).astype("int64")
        row[1 : 1 + len(values)] = 2 + values % codes
    return ids


@exercise.formula_for("parameters")
def news_classifier_parameters(num_classes: int = 4, trainable: bool = True, width: int = 6) -> dict[str, str | int]:
    """Whether the encoder learns, and the numbers of the head: (width, 16) and (16, classes), with biases."""
    head = width * 16 + 16 + 16 * num_classes + num_classes
    return {"encoder": "learns" if trainable else "is frozen", "head": head}


@exercise.formula_for("dropout")
def news_classifier_dropout(dropout: float = 0.2, num_classes: int = 4) -> dict[str, str]:
    """Where something is dropped in training, and that nothing is outside of it."""
    asked = dropout
    return {"training": f"{100 * asked:g}% behind the hidden layer", "outside": "the same result"}


@exercise.formula_for("gradients")
def news_classifier_gradients(
    texts: Sequence[str],
    table: np.ndarray,
    pooler: np.ndarray,
    w1: np.ndarray,
    b1: np.ndarray,
    w2: np.ndarray,
    b2: np.ndarray,
    direction: np.ndarray,
) -> dict[str, str | np.ndarray]:
    """How far the gradients get, and the slope of the first class's probabilities as the table moves by `direction`."""
    step = 1e-5 * direction.astype("float64")
    head = pooler, w1, b1, w2, b2
    upper, lower = (build_news_classifier(texts, table + sign * step, *head)["probabilities"] for sign in (1, -1))
    slope = np.sum(upper[:, 0] - lower[:, 0]) / 2e-5
    return {"gradients": "reach every weight that learns", "slope": np.array(slope)}


@exercise.group(
    "16 hidden values, as many results as classes, and the right parts learn",
    points=2,
    advice="`model.summary()` lists every layer. The head has two: Dense 16 and Dense num_classes, each with bias.",
)
def head(rng: Generator) -> list[Case]:
    return _both_news(rng, "parameters", "trainable numbers", num_classes=one_of(rng, *range(5, 20)))


@exercise.group(
    "right probabilities with given weights",
    points=3,
    advice="From strings to probabilities: preprocessing, encoder, its `pooled_output`, Dense 16 with ReLU, "
    "dropout, Dense with softmax.",
)
def values(rng: Generator) -> list[Case]:
    return _both_news(rng, "values", "probabilities")


@exercise.group(
    "dropout behind the hidden layer, in training only",
    points=2,
    advice="One `tf_keras.layers.Dropout`, between the two Dense layers, with the rate that you are given.",
)
def dropout(rng: Generator) -> list[Case]:
    # Between two hundredths, for whoever rounds it; and not one half, which is also what is kept.
    rate = one_of(rng, *range(305, 476, 10), *range(535, 656, 10)) / 1000
    return _both_news(rng, "dropout", "results with training=True", dropout=rate)


@exercise.group(
    "gradients reach the encoder",
    points=1,
    advice="A trainable encoder is changed by training: nothing may block the gradient between the encoder and the "
    "loss.",
)
def learning(rng: Generator) -> list[Case]:
    case = _news(rng, "gradients", FIRST, "gradients")
    direction = normal(rng, *case.inputs["table"].shape)
    return [Case({**case.inputs, "direction": direction}, mode=case.mode, description=case.description)]


BEGIN = "ids = tiny_ids(texts, length, codes)"
LEARNS = '"learns" if trainable else "is frozen"'
HEAD = "width * 16 + 16 + 16 * num_classes + num_classes"
POOLED, RELU, SOFTMAX = (
    "np.tanh(sequence[:, 0] @ pooler)",
    "np.maximum(pooled @ w1 + b1, 0)",
    "softmax(hidden @ w2 + b2)",
)
NO_VALUES = (BEGIN, "raise ValueError")
OTHER_WEIGHTS = (  # the weights of the case do not fit such a model
    NO_VALUES,
    ("asked = dropout", "raise ValueError"),
    ("step = 1e-5 * direction", "raise ValueError\nstep = 1e-5 * direction"),
)

exercise.mistakes(
    encoder_always_frozen=wrong(
        "The encoder never learns. `hub.KerasLayer` is frozen by default; see its argument `trainable`.",
        (LEARNS, '"is frozen"'),
        seen={"gradients": FROZEN, "slope": 0.0},
    ),
    encoder_never_frozen=wrong(
        "The encoder learns even with trainable=False. Pass the argument on to its layer.", (LEARNS, '"learns"')
    ),
    trainable_inverted=wrong(
        "The encoder learns with trainable=False and is frozen with trainable=True.",
        (LEARNS, '"is frozen" if trainable else "learns"'),
        seen={"gradients": FROZEN, "slope": 0.0},
    ),
    encoder_lost=wrong(
        "The encoder's weights are not part of the model: the encoder is called inside a function or a "
        "Lambda, where the model does not find them. Make it a layer with `hub.KerasLayer`.",
        (LEARNS, '"is no part of the model"'),
        NO_VALUES,
    ),
    handles_ignored=wrong(
        "The encoder is not the one that `encoder_handle` names: is another one written into the function?",
        *OTHER_WEIGHTS,
        seen={"encoder": "is not the one of the handle", "head": -1},
    ),
    head_frozen=wrong(
        "With trainable=False the head does not learn either: `model.trainable` concerns all of the model. "
        "Only the encoder is frozen.",
        ('"head": head', '"head": head if trainable else 0'),
    ),
    classes_ignored=wrong(
        "The last layer has four values whatever `num_classes` says.",
        ("16 * num_classes + num_classes", "16 * 4 + 4"),
        ("asked = dropout", "if num_classes != 4:\n    raise ValueError\nasked = dropout"),
        (BEGIN, f"if w2.shape[1] != 4:\n    raise ValueError\n{BEGIN}"),
    ),
    no_hidden_layer=wrong(
        "The Dense layer with 16 values is missing: the probabilities come straight from the pooled output.",
        *OTHER_WEIGHTS,
        (HEAD, "width * num_classes + num_classes"),
    ),
    two_hidden_layers=wrong(
        "There are two hidden layers; there should be one.", *OTHER_WEIGHTS, (HEAD, HEAD + " + 16 * 16 + 16")
    ),
    hidden_wider=wrong(
        "The hidden layer has 32 values; it should have 16.",
        *OTHER_WEIGHTS,
        (HEAD, "width * 32 + 32 + 32 * num_classes + num_classes"),
    ),
    head_without_bias=wrong(
        "The layers of the head have no bias.", *OTHER_WEIGHTS, (HEAD, "width * 16 + 16 * num_classes")
    ),
    first_token_taken=wrong(
        "You take the first token of `sequence_output`. The encoder's vector for a whole text is "
        "`pooled_output`, which has a trained layer of its own.",
        (POOLED, "sequence[:, 0]"),
    ),
    sequence_averaged=wrong(
        "You take the mean of `sequence_output`, padding included. Take `pooled_output`.",
        (POOLED, "sequence.mean(axis=1)"),
    ),
    words_averaged=wrong(
        "You take the mean of the real tokens of `sequence_output`. Take `pooled_output`.",
        (POOLED, "(sequence * real).sum(axis=1) / real.sum(axis=1)"),
    ),
    sequence_maximum=wrong(
        "You take the largest value of each feature of `sequence_output`. Take `pooled_output`.",
        (POOLED, "sequence.max(axis=1)"),
    ),
    first_layer_taken=wrong(
        "You take the first of `encoder_outputs`, the result of the lowest layer. Take `pooled_output`.",
        (POOLED, "x[:, 0]"),
    ),
    no_relu=wrong(
        "The hidden layer has no activation: two linear layers are the same as one. It should have a ReLU.",
        (RELU, "pooled @ w1 + b1"),
    ),
    hidden_tanh=wrong("The hidden layer has a tanh; it should have a ReLU.", (RELU, "np.tanh(pooled @ w1 + b1)")),
    hidden_sigmoid=wrong(
        "The hidden layer has a sigmoid; it should have a ReLU.", (RELU, "1 / (1 + np.exp(-(pooled @ w1 + b1)))")
    ),
    no_softmax=wrong(
        "The results are logits: the last layer has no softmax.",
        (SOFTMAX, "hidden @ w2 + b2"),
        seen={"training": "not known"},
    ),
    sigmoid_instead=wrong(
        "The last layer has a sigmoid, as if a text could be of several classes. With a softmax the "
        "probabilities of the classes sum to 1.",
        (SOFTMAX, "1 / (1 + np.exp(-(hidden @ w2 + b2)))"),
        seen={"training": "not known"},
    ),
    softmax_over_batch=wrong(
        "The softmax runs over the texts of a batch. It should run over the classes, the last axis.",
        (SOFTMAX, "softmax(hidden @ w2 + b2, axis=0)"),
        seen={"training": "not known"},
    ),
    dropout_missing=wrong(
        "Nothing is dropped in training: the dropout is missing, or is off.", seen={"training": "nowhere"}
    ),
    dropout_before=wrong(
        "The dropout is before the hidden layer. It should be between the two Dense layers.",
        seen={"training": "before the hidden layer"},
    ),
    dropout_behind_output=wrong(
        "In training the probabilities do not sum to 1: the dropout comes behind the softmax.",
        seen={"training": "behind the output"},
    ),
    dropout_elsewhere=wrong(
        "In training something other than a share of the 16 hidden values is random. Use one Dropout, "
        "between the two Dense layers.",
        seen={"training": "somewhere else"},
    ),
    dropout_rate_fixed=wrong(
        "The rate of the dropout is 0.2 whatever `dropout` says.", ("asked = dropout", "asked = 0.2")
    ),
    dropout_rate_inverted=wrong(
        "The dropout drops 1 - dropout: its argument is the share that is dropped, not the share that is kept.",
        ("asked = dropout", "asked = 1 - dropout"),
    ),
    dropout_always=wrong(
        "With training=False the same text gets another result each time: the dropout is on all the time.",
        NO_VALUES,
        seen={"outside": "another result each time"},
    ),
    frozen_later=wrong(
        "The encoder is to learn, and it is frozen when the model is trained: another call of your function, with "
        "trainable=False, or a later line has frozen it. Make the encoder anew in each call.",
        seen={"gradients": FROZEN, "slope": 0.0},
        hint="Is there one encoder for all calls, in a variable outside of your function?",
    ),
    gradients_stopped=wrong(
        "No gradient reaches the encoder, though it is trainable: `stop_gradient`, NumPy or `.numpy()` is in the way.",
        seen={"gradients": "do not reach the encoder", "slope": 0.0},
    ),
)


exercise.hints(
    "Every layer, the Input and the Model come from `tf_keras`. The input is one string for each text: shape "
    "(), dtype tf.string.",
    "`hub.KerasLayer(handle)` is called like any layer. The encoder's result is a dictionary with three entries.",
    "`hub.KerasLayer(encoder_handle, trainable=trainable)`. The preprocessing has nothing to learn.",
)
exercise.hints(
    "Does `trainable` reach the encoder's layer? `model.trainable_weights` should hold weights besides the "
    "four of the head.",
    group="learning",
)
