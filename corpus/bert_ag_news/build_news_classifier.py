"""Lab 07, exercise `build_news_classifier`: solutions as different students write them, right and wrong."""

# A classifier in pieces, so that variants can change one of them.
NEWS = """
def build_news_classifier(preprocess_handle, encoder_handle, num_classes=4, dropout=0.2, trainable=True):
    text = tf_keras.layers.Input(shape=(), dtype=tf.string)
    rows = {rows}(text)
    encoder = hub.KerasLayer({encoder})
    outputs = encoder(rows)
    x = {pooled}
    {before}
    h = {hidden}
    h = {dropped}
    y = {output}
    return {model}
"""

PIECES = {
    "rows": "hub.KerasLayer(preprocess_handle)",
    "encoder": "encoder_handle, trainable=trainable",
    "pooled": 'outputs["pooled_output"]',
    "before": "pass",
    "hidden": 'tf_keras.layers.Dense(16, activation="relu")(x)',
    "dropped": "tf_keras.layers.Dropout(dropout)(h)",
    "output": 'tf_keras.layers.Dense(num_classes, activation="softmax")(h)',
    "model": "tf_keras.Model(text, y)",
}


def news(**changed: str) -> str:
    """The classifier with some of its pieces changed."""
    return NEWS.format(**{**PIECES, **changed})


CORRECT = [
    news(),
    # a subclass of Model
    """
class Classifier(tf_keras.Model):
    def __init__(self, preprocess_handle, encoder_handle, num_classes, dropout, trainable):
        super().__init__()
        self.first = hub.KerasLayer(preprocess_handle)
        self.second = hub.KerasLayer(encoder_handle, trainable=trainable)
        self.hidden = tf_keras.layers.Dense(16, "relu")
        self.drop = tf_keras.layers.Dropout(dropout)
        self.out = tf_keras.layers.Dense(num_classes)

    def call(self, texts, training=None):
        pooled = self.second(self.first(texts))["pooled_output"]
        return tf.nn.softmax(self.out(self.drop(self.hidden(pooled), training=training)))

def build_news_classifier(preprocess_handle, encoder_handle, num_classes=4, dropout=0.2, trainable=True):
    return Classifier(preprocess_handle, encoder_handle, num_classes, dropout, trainable)
""",
    # frozen afterwards, activations as layers
    """
def build_news_classifier(preprocess_handle, encoder_handle, num_classes=4, dropout=0.2, trainable=True):
    layers = tf_keras.layers
    encoder = hub.KerasLayer(encoder_handle)
    encoder.trainable = trainable
    text = layers.Input(shape=(), dtype=tf.string)
    x = layers.Lambda(lambda outputs: outputs["pooled_output"])(encoder(hub.KerasLayer(preprocess_handle)(text)))
    for layer in (layers.Dense(16), layers.ReLU(), layers.Dropout(rate=dropout), layers.Dense(num_classes), layers.Softmax()):
        x = layer(x)
    return tf_keras.Model(text, x)
""",
    # preprocessing trainable in name, activations apart, dropout by hand
    """
class Drop(tf_keras.layers.Layer):
    def __init__(self, rate, **kwargs):
        super().__init__(**kwargs)
        self.rate = rate

    def call(self, x, training=False):
        return tf.nn.dropout(x, self.rate) if training else x
"""
    + news(
        rows="hub.KerasLayer(preprocess_handle, trainable=trainable)",
        hidden="tf.nn.relu(tf_keras.layers.Dense(16)(x))",
        dropped="Drop(dropout)(h)",
        output="tf.nn.softmax(tf_keras.layers.Dense(num_classes)(h))",
    ),
    # a head of its own as a model; an input of shape (1,) would do as well, but the contract has ()
    """
def head(num_classes, dropout):
    return tf_keras.Sequential([
        tf_keras.layers.Dense(16, activation=tf.nn.relu),
        tf_keras.layers.Dropout(dropout),
        tf_keras.layers.Dense(num_classes, activation=tf_keras.activations.softmax),
    ])

def build_news_classifier(preprocess_handle, encoder_handle, num_classes=4, dropout=0.2, trainable=True):
    texts = tf_keras.Input(shape=(), dtype="string", name="texts")
    inputs = hub.KerasLayer(preprocess_handle)(texts)
    outputs = hub.KerasLayer(encoder_handle, trainable=trainable)(inputs)
    return tf_keras.models.Model(inputs=[texts], outputs=head(num_classes, dropout)(outputs["pooled_output"]))
""",
    # the three rows handed over one by one
    news(
        pooled="encoder({key: rows[key] for key in "
        '("input_word_ids", "input_mask", "input_type_ids")})["pooled_output"]'
    ),
]

WRONG = [
    ("encoder_always_frozen", news(encoder="encoder_handle")),
    ("encoder_never_frozen", news(encoder="encoder_handle, trainable=True")),
    # one encoder for all calls, which a later call freezes
    (
        "frozen_later",
        "kept = {}\n"
        + news().replace(
            "encoder = hub.KerasLayer(encoder_handle, trainable=trainable)",
            "encoder = kept.setdefault(encoder_handle, hub.KerasLayer(encoder_handle))\n"
            "    encoder.trainable = trainable",
        ),
    ),
    ("trainable_inverted", news(encoder="encoder_handle, trainable=not trainable")),
    (
        "encoder_lost",
        news(
            encoder="encoder_handle)\n    loaded = hub.load(encoder_handle",
            pooled='tf_keras.layers.Lambda(lambda r: loaded(r)["pooled_output"])(rows)',
        ),
    ),
    ("head_frozen", news(model="tf_keras.Model(text, y)\n    m.trainable = trainable\n    return m").replace("return tf_keras", "m = tf_keras")),
    ("classes_ignored", news(output='tf_keras.layers.Dense(4, activation="softmax")(h)')),
    ("no_hidden_layer", news(hidden="x")),
    ("hidden_wider", news(hidden='tf_keras.layers.Dense(32, activation="relu")(x)')),
    ("first_token_taken", news(pooled='outputs["sequence_output"][:, 0]')),
    ("sequence_averaged", news(pooled='tf_keras.layers.GlobalAveragePooling1D()(outputs["sequence_output"])')),
    ("sequence_maximum", news(pooled='tf.reduce_max(outputs["sequence_output"], axis=1)')),
    ("first_layer_taken", news(pooled='outputs["encoder_outputs"][0][:, 0]')),
    ("no_relu", news(hidden="tf_keras.layers.Dense(16)(x)")),
    ("hidden_tanh", news(hidden='tf_keras.layers.Dense(16, activation="tanh")(x)')),
    ("no_softmax", news(output="tf_keras.layers.Dense(num_classes)(h)")),
    ("sigmoid_instead", news(output='tf_keras.layers.Dense(num_classes, activation="sigmoid")(h)')),
    ("softmax_over_batch", news(output="tf.nn.softmax(tf_keras.layers.Dense(num_classes)(h), axis=0)")),
    ("dropout_missing", news(dropped="h")),
    ("dropout_before", news(before="x = tf_keras.layers.Dropout(dropout)(x)", dropped="h")),
    (
        "dropout_behind_output",
        news(dropped="h", output='tf_keras.layers.Dropout(dropout)(tf_keras.layers.Dense(num_classes, activation="softmax")(h))'),
    ),
    (
        "dropout_elsewhere",
        news(dropped="h", output="tf.nn.softmax(tf_keras.layers.Dropout(dropout)(tf_keras.layers.Dense(num_classes)(h)))"),
    ),
    ("dropout_elsewhere", news(before="x = tf_keras.layers.Dropout(dropout)(x)")),
    ("dropout_rate_fixed", news(dropped="tf_keras.layers.Dropout(0.2)(h)")),
    # a rate in whole per cent, or a little more than the given one; noise, and zeros without growth
    (None, news(dropped="tf_keras.layers.Dropout(int(dropout * 100) / 100)(h)")),
    (None, news(dropped="tf_keras.layers.Dropout(dropout + 0.01)(h)")),
    ("dropout_elsewhere", news(dropped="tf_keras.layers.GaussianDropout(dropout)(h)")),
    ("dropout_rate_inverted", news(dropped="tf_keras.layers.Dropout(1 - dropout)(h)")),
    ("dropout_always", news(dropped="tf_keras.layers.Dropout(dropout)(h, training=True)")),
    ("gradients_stopped", news(pooled='tf.stop_gradient(outputs["pooled_output"])')),
    ("head_without_bias", news(
        hidden='tf_keras.layers.Dense(16, activation="relu", use_bias=False)(x)',
        output='tf_keras.layers.Dense(num_classes, activation="softmax", use_bias=False)(h)',
    )),
    # two versions of Keras: one clear sentence, whichever way they meet
    (None, news().replace("tf_keras", "keras")),
    (None, news().replace("tf_keras", "tf.keras")),
    (None, news(hidden='keras.layers.Dense(16, activation="relu")(x)')),
    (None, news(dropped="keras.layers.Dropout(dropout)(h)")),
    (None, news(model="keras.Model(text, y)")),
    (None, news().replace("return ", "")),
]  # fmt: skip
