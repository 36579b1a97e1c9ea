"""Lab 07, exercise `build_news_classifier`."""

from collections.abc import Sequence

import numpy as np

from autograder.declare import Case, Exercise, edit, seen
from coursekit.probes.news_classifier import FROZEN
from exercises.bert_ag_news.shared import SENTENCES
from exercises.drawing import normal, one_of
from exercises.formulas.attention import softmax

FIRST = {"width": 6, "num_classes": 4}

SECOND = {"width": 6, "num_classes": 7, "dropout": 0.5, "trainable": False}

FIRST_SHOWN = "build_news_classifier(preprocess_handle, encoder_handle)"

SECOND_SHOWN = "build_news_classifier(…, num_classes={num_classes}, dropout={dropout}, trainable=False)"


def _news(rng, mode: str, sizes: dict, description: str) -> Case:
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
    return Case({**sizes, "texts": texts, **weights}, f"{description} of {shown}", mode=mode)


def _both_news(rng, mode: str, description: str, **drawn: float) -> list[Case]:
    # The defaults come last: whoever keeps an argument of an earlier call has another model then.
    return [_news(rng, mode, sizes, description) for sizes in ({**SECOND, **drawn}, FIRST)]


exercise = Exercise("build_news_classifier", own_probe=True)


@exercise.formula
def build_news_classifier(texts, table, pooler, w1, b1, w2, b2, length=13, codes=17):
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
def news_classifier_gradients(texts, table, pooler, w1, b1, w2, b2, direction):
    """How far the gradients get, and the slope of the first class's probabilities as the table moves by `direction`."""
    step = 1e-5 * direction.astype("float64")
    head = pooler, w1, b1, w2, b2
    upper, lower = (build_news_classifier(texts, table + sign * step, *head)["probabilities"] for sign in (1, -1))
    slope = np.sum(upper[:, 0] - lower[:, 0]) / 2e-5
    return {"gradients": "reach every weight that learns", "slope": np.array(slope)}


@exercise.group("16 hidden values, as many results as classes, and the right parts learn", points=2)
def head(rng):
    return _both_news(rng, "parameters", "trainable numbers", num_classes=one_of(rng, *range(5, 20)))


@exercise.group("right probabilities with given weights", points=3)
def values(rng):
    return _both_news(rng, "values", "probabilities")


@exercise.group("dropout behind the hidden layer, in training only", points=2)
def dropout(rng):
    # Between two hundredths, for whoever rounds it; and not one half, which is also what is kept.
    rate = one_of(rng, *range(305, 476, 10), *range(535, 656, 10)) / 1000
    return _both_news(rng, "dropout", "results with training=True", dropout=rate)


@exercise.group("gradients reach the encoder")
def learning(rng):
    case = _news(rng, "gradients", FIRST, "gradients")
    direction = normal(rng, *case.inputs["table"].shape)
    return Case({**case.inputs, "direction": direction}, case.description, mode=case.mode)


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
    encoder_always_frozen=edit(LEARNS, '"is frozen"')
    | seen({"gradients": FROZEN, "slope": 0.0})
    | "The encoder never learns. `hub.KerasLayer` is frozen by default; see its argument `trainable`.",
    encoder_never_frozen=edit(LEARNS, '"learns"')
    | "The encoder learns even with trainable=False. Pass the argument on to its layer.",
    trainable_inverted=edit(LEARNS, '"is frozen" if trainable else "learns"')
    | seen({"gradients": FROZEN, "slope": 0.0})
    | "The encoder learns with trainable=False and is frozen with trainable=True.",
    encoder_lost=edit((LEARNS, '"is no part of the model"'), NO_VALUES)
    | "The encoder's weights are not part of the model: the encoder is called inside a function or a Lambda, where "
    "the model does not find them. Make it a layer with `hub.KerasLayer`.",
    handles_ignored=edit(*OTHER_WEIGHTS)
    | seen({"encoder": "is not the one of the handle", "head": -1})
    | "The encoder is not the one that `encoder_handle` names: is another one written into the function?",
    head_frozen=edit('"head": head', '"head": head if trainable else 0')
    | "With trainable=False the head does not learn either: `model.trainable` concerns all of the model. Only the "
    "encoder should be frozen.",
    classes_ignored=edit("16 * num_classes + num_classes", "16 * 4 + 4")
    | edit("asked = dropout", "if num_classes != 4:\n    raise ValueError\nasked = dropout")
    | edit(BEGIN, f"if w2.shape[1] != 4:\n    raise ValueError\n{BEGIN}")
    | "The last layer has four values whatever `num_classes` says.",
    no_hidden_layer=edit(*OTHER_WEIGHTS)
    | edit(HEAD, "width * num_classes + num_classes")
    | "The Dense layer with 16 values is missing: the probabilities come straight from the pooled output.",
    two_hidden_layers=edit(*OTHER_WEIGHTS)
    | edit(HEAD, HEAD + " + 16 * 16 + 16")
    | "There are two hidden layers; there should be one.",
    hidden_wider=edit(*OTHER_WEIGHTS)
    | edit(HEAD, "width * 32 + 32 + 32 * num_classes + num_classes")
    | "The hidden layer has 32 values; it should have 16.",
    head_without_bias=edit(*OTHER_WEIGHTS)
    | edit(HEAD, "width * 16 + 16 * num_classes")
    | "The layers of the head have no bias.",
    first_token_taken=edit(POOLED, "sequence[:, 0]")
    | "You take the first token of `sequence_output`. The encoder's vector for a whole text is `pooled_output`, which "
    "has a trained layer of its own.",
    sequence_averaged=edit(POOLED, "sequence.mean(axis=1)")
    | "You take the mean of `sequence_output`, padding included. Take `pooled_output`.",
    words_averaged=edit(POOLED, "(sequence * real).sum(axis=1) / real.sum(axis=1)")
    | "You take the mean of the real tokens of `sequence_output`. Take `pooled_output`.",
    sequence_maximum=edit(POOLED, "sequence.max(axis=1)")
    | "You take the largest value of each feature of `sequence_output`. Take `pooled_output`.",
    first_layer_taken=edit(POOLED, "x[:, 0]")
    | "You take the first of `encoder_outputs`, the result of the lowest layer. Take `pooled_output`.",
    no_relu=edit(RELU, "pooled @ w1 + b1")
    | "The hidden layer has no activation: two linear layers are the same as one. It should have a ReLU.",
    hidden_tanh=edit(RELU, "np.tanh(pooled @ w1 + b1)") | "The hidden layer has a tanh; it should have a ReLU.",
    hidden_sigmoid=edit(RELU, "1 / (1 + np.exp(-(pooled @ w1 + b1)))")
    | "The hidden layer has a sigmoid; it should have a ReLU.",
    no_softmax=edit(SOFTMAX, "hidden @ w2 + b2")
    | seen({"training": "not known"})
    | "The results are logits: the last layer has no softmax.",
    sigmoid_instead=edit(SOFTMAX, "1 / (1 + np.exp(-(hidden @ w2 + b2)))")
    | seen({"training": "not known"})
    | "The last layer has a sigmoid, as if a text could be of several classes. With a softmax the probabilities of "
    "the classes sum to 1.",
    softmax_over_batch=edit(SOFTMAX, "softmax(hidden @ w2 + b2, axis=0)")
    | seen({"training": "not known"})
    | "The softmax runs over the texts of a batch. It should run over the classes, the last axis.",
    dropout_missing=seen({"training": "nowhere"})
    | "Nothing is dropped in training: the dropout is missing, or is off.",
    dropout_before=seen({"training": "before the hidden layer"})
    | "The dropout is before the hidden layer. It should be between the two Dense layers.",
    dropout_behind_output=seen({"training": "behind the output"})
    | "In training the probabilities do not sum to 1: the dropout comes behind the softmax.",
    dropout_elsewhere=seen({"training": "somewhere else"})
    | "In training something other than a share of the 16 hidden values is random. Use one Dropout, between the two "
    "Dense layers.",
    dropout_rate_fixed=edit("asked = dropout", "asked = 0.2")
    | "The rate of the dropout is 0.2 whatever `dropout` says.",
    dropout_rate_inverted=edit("asked = dropout", "asked = 1 - dropout")
    | "The dropout drops 1 - dropout: its argument is the share that is dropped, not the share that is kept.",
    dropout_always=edit(NO_VALUES)
    | seen({"outside": "another result each time"})
    | "With training=False the same text gets another result each time: the dropout is on all the time.",
    frozen_later=seen({"gradients": FROZEN, "slope": 0.0})
    | "The encoder is to learn, and it is frozen when the model is trained: another call of your function, with "
    "trainable=False, or a later line has frozen it. Make the encoder anew in each call."
    | "Is there one encoder for all calls, in a variable outside of your function?",
    gradients_stopped=seen({"gradients": "do not reach the encoder", "slope": 0.0})
    | "No gradient reaches the encoder, though it is trainable: `stop_gradient`, NumPy or `.numpy()` is in the way.",
)

exercise.advice(
    head="`model.summary()` lists every layer. The head has two: Dense 16 and Dense num_classes, each with bias.",
    values="From strings to probabilities: preprocessing, encoder, its `pooled_output`, Dense 16 with ReLU, dropout, "
    "Dense with softmax.",
    dropout="One `tf_keras.layers.Dropout`, between the two Dense layers, with the rate that you are given.",
    learning="A trainable encoder is changed by training: nothing may block the gradient between the encoder and the "
    "loss.",
)
exercise.hints(
    head=(
        "Every layer, the Input and the Model come from `tf_keras`. The input is one string for each text: shape (), "
        "dtype tf.string.",
        "`hub.KerasLayer(handle)` is called like any layer. The encoder's result is a dictionary with three entries.",
        "`hub.KerasLayer(encoder_handle, trainable=trainable)`. The preprocessing has nothing to learn.",
    ),
    learning="Does `trainable` reach the encoder's layer? `model.trainable_weights` should hold weights besides the "
    "four of the head.",
)
