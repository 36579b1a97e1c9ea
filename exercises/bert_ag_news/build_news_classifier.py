"""Lab 07, exercise `build_news_classifier`."""

from autograder.declaring import Case, Exercise, wrong
from coursekit.generator import Generator
from exercises.bert_ag_news.shared import SENTENCES
from exercises.drawing import normal
from exercises.formulas import bert_ag_news as oracles
from exercises.mistaken import bert_ag_news as mistaken

FIRST = {"width": 6, "num_classes": 4}


SECOND = {"width": 6, "num_classes": 7, "dropout": 0.5, "trainable": False}


FIRST_SHOWN = "build_news_classifier(preprocess_handle, encoder_handle)"


SECOND_SHOWN = "build_news_classifier(…, num_classes=7, dropout=0.5, trainable=False)"


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
    texts = [str(each) for each in rng.permutation(SENTENCES)[:5]]
    shown = FIRST_SHOWN if sizes is FIRST else SECOND_SHOWN
    return Case({**sizes, "texts": texts, **weights}, mode=mode, description=f"{description} of {shown}")


def _both_news(mode: str, description: str):
    return lambda rng: [_news(rng, mode, sizes, description) for sizes in (FIRST, SECOND)]


def _one_news(mode: str, sizes: dict, description: str):
    return lambda rng: [_news(rng, mode, sizes, description)]


exercise = Exercise(
    "build_news_classifier",
    oracle=oracles.build_news_classifier,
    mistaken=mistaken.build_news_classifier,
    by_mode={"parameters": oracles.news_classifier_parameters, "dropout": oracles.news_classifier_dropout, "gradients": oracles.news_classifier_gradients},
)


@exercise.group(
    "16 hidden values, as many results as classes, and the right parts learn", points=2, advice="`model.summary()` lists every layer. The head has two: Dense 16 and Dense num_classes, each with bias."
)
def head(rng: Generator) -> list[Case]:
    return _both_news("parameters", "trainable numbers")(rng)


@exercise.group(
    "right probabilities with given weights", points=3, advice="From strings to probabilities: preprocessing, encoder, its `pooled_output`, Dense 16 with ReLU, dropout, Dense with softmax."
)
def values(rng: Generator) -> list[Case]:
    return _both_news("values", "probabilities")(rng)


@exercise.group("dropout behind the hidden layer, in training only", points=2, advice="One `tf_keras.layers.Dropout`, between the two Dense layers, with the rate that you are given.")
def dropout(rng: Generator) -> list[Case]:
    return _both_news("dropout", "results with training=True")(rng)


@exercise.group("gradients reach the encoder", points=1, advice="A trainable encoder is changed by training: nothing may block the gradient between the encoder and the loss.")
def learning(rng: Generator) -> list[Case]:
    return _one_news("gradients", FIRST, "gradients")(rng)


exercise.mistakes(
    encoder_always_frozen=wrong("The encoder never learns. `hub.KerasLayer` is frozen by default; see its argument `trainable`.", learns="never"),
    encoder_never_frozen=wrong("The encoder learns even with trainable=False. Pass the argument on to its layer.", learns="always"),
    trainable_inverted=wrong("The encoder learns with trainable=False and is frozen with trainable=True.", learns="the other way round"),
    encoder_lost=wrong(
        "The encoder's weights are not part of the model: the encoder is called inside a function or a Lambda, where the model does not find them. Make it a layer with `hub.KerasLayer`.",
        learns="lost",
    ),
    handles_ignored=wrong("The encoder is not the one that `encoder_handle` names: is another one written into the function?", handle="is not the one of the handle"),
    head_frozen=wrong("With trainable=False the head does not learn either: `model.trainable` concerns all of the model. Only the encoder is frozen.", head_learns="with the encoder"),
    classes_ignored=wrong("The last layer has four values whatever `num_classes` says.", classes="always 4"),
    no_hidden_layer=wrong("The Dense layer with 16 values is missing: the probabilities come straight from the pooled output.", layers=1),
    two_hidden_layers=wrong("There are two hidden layers; there should be one.", layers=3),
    hidden_wider=wrong("The hidden layer has 32 values; it should have 16.", units=32),
    head_without_bias=wrong("The layers of the head have no bias.", bias=False),
    first_token_taken=wrong("You take the first token of `sequence_output`. The encoder's vector for a whole text is `pooled_output`, which has a trained layer of its own.", source="first token"),
    sequence_averaged=wrong("You take the mean of `sequence_output`, padding included. Take `pooled_output`.", source="mean of the tokens"),
    words_averaged=wrong("You take the mean of the real tokens of `sequence_output`. Take `pooled_output`.", source="mean of the words"),
    sequence_maximum=wrong("You take the largest value of each feature of `sequence_output`. Take `pooled_output`.", source="largest of the tokens"),
    first_layer_taken=wrong("You take the first of `encoder_outputs`, the result of the lowest layer. Take `pooled_output`.", source="first layer"),
    no_relu=wrong("The hidden layer has no activation: two linear layers are the same as one. It should have a ReLU.", hidden="none"),
    hidden_tanh=wrong("The hidden layer has a tanh; it should have a ReLU.", hidden="tanh"),
    hidden_sigmoid=wrong("The hidden layer has a sigmoid; it should have a ReLU.", hidden="sigmoid"),
    no_softmax=wrong("The results are logits: the last layer has no softmax.", output="none"),
    sigmoid_instead=wrong("The last layer has a sigmoid, as if a text could be of several classes. With a softmax the probabilities of the classes sum to 1.", output="sigmoid"),
    softmax_over_batch=wrong("The softmax runs over the texts of a batch. It should run over the classes, the last axis.", output="softmax over the batch"),
    dropout_missing=wrong("Nothing is dropped in training: the dropout is missing, or is off.", drops="nowhere"),
    dropout_before=wrong("The dropout is before the hidden layer. It should be between the two Dense layers.", drops="before the hidden layer"),
    dropout_behind_output=wrong("In training the probabilities do not sum to 1: the dropout comes behind the softmax.", drops="behind the output"),
    dropout_elsewhere=wrong("In training something other than a share of the 16 hidden values is random. Use one Dropout, between the two Dense layers.", drops="somewhere else"),
    dropout_rate_fixed=wrong("The rate of the dropout is 0.2 whatever `dropout` says.", rate="default"),
    dropout_rate_inverted=wrong("The dropout drops 1 - dropout: its argument is the share that is dropped, not the share that is kept.", rate="kept"),
    dropout_always=wrong("With training=False the same text gets another result each time: the dropout is on all the time.", outside="another result each time"),
    gradients_stopped=wrong("No gradient reaches the encoder, though it is trainable: `stop_gradient`, NumPy or `.numpy()` is in the way.", gradients="do not reach the encoder"),
)


exercise.hints(
    "Every layer, the Input and the Model come from `tf_keras`. The input is one string for each text: shape (), dtype tf.string.",
    "`hub.KerasLayer(handle)` is called like any layer. The encoder's result is a dictionary with three entries.",
    "`hub.KerasLayer(encoder_handle, trainable=trainable)`. The preprocessing has nothing to learn.",
)
exercise.hints("Does `trainable` reach the encoder's layer? `model.trainable_weights` should hold weights besides the four of the head.", group="learning")
