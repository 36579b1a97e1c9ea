"""Lab 06, exercise `train_classifier`: solutions as different students write them, right and wrong."""

TRAINING = """
def train_classifier(model, x, y, validation):
    {first}
    model.compile(optimizer={optimizer}, loss={loss}, metrics={metrics})
    stop = keras.callbacks.EarlyStopping({stop})
    return model.fit({data}, batch_size=32, epochs={epochs}, callbacks=[stop], verbose=0)
"""

PARTS = {
    "first": "pass",
    "optimizer": "keras.optimizers.Adam(3e-3)",
    "loss": '"binary_crossentropy"',
    "metrics": '["accuracy"]',
    "stop": "patience=3, restore_best_weights=True",
    "data": "x, y, validation_data=validation",
    "epochs": "8",
}


def training(**changed: str) -> str:
    """The training with some of its parts changed."""
    return TRAINING.format(**{**PARTS, **changed})


CORRECT = [
    training(),
    # objects instead of names, another optimizer, tf.data
    """
def train_classifier(model, x, y, validation):
    batches = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(len(x), seed=1).batch(64).prefetch(2)
    model.compile(
        keras.optimizers.AdamW(4e-3, weight_decay=0.01),
        keras.losses.BinaryCrossentropy(),
        metrics=[keras.metrics.BinaryAccuracy(name="accuracy")],
    )
    best = keras.callbacks.EarlyStopping("val_loss", patience=2, restore_best_weights=True, mode="min")
    watched = tf.data.Dataset.from_tensor_slices(validation).batch(64)
    return model.fit(batches, validation_data=watched, epochs=7, callbacks=[best], verbose=0)
""",
    # a checkpoint in a file
    """
import os, tempfile
def train_classifier(model, x, y, validation):
    model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
    path = os.path.join(tempfile.mkdtemp(), "best.weights.h5")
    keep = keras.callbacks.ModelCheckpoint(path, save_best_only=True, save_weights_only=True)
    stop = keras.callbacks.EarlyStopping(patience=2)
    history = model.fit(x, y, 16, 6, callbacks=[keep, stop], validation_data=validation, verbose=0)
    model.load_weights(path)
    return history
""",
    # epoch by epoch
    """
def train_classifier(model, x, y, validation):
    model.compile(optimizer=keras.optimizers.RMSprop(2e-3), loss="binary_crossentropy", metrics=["accuracy"])
    history, best, weights, bad = {}, np.inf, None, 0
    for epoch in range(10):
        once = model.fit(x, y, batch_size=32, validation_data=validation, verbose=0).history
        for name, values in once.items():
            history.setdefault(name, []).extend(values)
        if once["val_loss"][0] < best:
            best, weights, bad = once["val_loss"][0], model.get_weights(), 0
        else:
            bad += 1
        if bad == 2:
            break
    model.set_weights(weights)
    return history
""",
    # a training loop by hand
    """
def train_classifier(model, x, y, validation):
    x_val, y_val = validation
    optimizer, loss = keras.optimizers.Adam(3e-3), keras.losses.BinaryCrossentropy()
    column = lambda labels: tf.cast(tf.reshape(labels, (-1, 1)), tf.float32)

    @tf.function(reduce_retracing=True)
    def step(ids, labels):
        with tf.GradientTape() as tape:
            said = model(ids, training=True)
            value = loss(labels, said)
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(value, variables), variables))
        return value, tf.reduce_mean(tf.cast((said >= 0.5) == (labels == 1), tf.float32))

    history = keras.callbacks.History()
    history.history = {"loss": [], "accuracy": [], "val_loss": [], "val_accuracy": []}
    best = None
    for epoch in range(8):
        order = np.random.permutation(len(x))
        losses = [step(tf.constant(x[rows]), column(y[rows])) for rows in np.array_split(order, len(x) // 32)]
        said = model(x_val, training=False)
        row = *np.mean(losses, axis=0), float(loss(column(y_val), said)), np.mean((said[:, 0] >= 0.5) == (y_val == 1))
        for values, value in zip(history.history.values(), row):
            values.append(float(value))
        if best is None or row[2] < best[0]:
            best = row[2], model.get_weights(), epoch
        if epoch - best[2] >= 3:
            break
    model.set_weights(best[1])
    return history
""",
    # a fall has to be larger than a least one
    training(stop='monitor="val_loss", min_delta=0.01, patience=3, restore_best_weights=True', epochs="15"),
    # the best weights in a file, the stop by a callback that compares losses itself
    """
class Stop(keras.callbacks.Callback):
    def on_train_begin(self, logs=None):
        self.losses = []
    def on_epoch_end(self, epoch, logs=None):
        self.losses.append(logs["val_loss"])
        if min(self.losses) < self.losses[-1]:
            self.model.stop_training = len(self.losses) - int(np.argmin(self.losses)) > 8
        else:
            self.weights = self.model.get_weights()
    def on_train_end(self, logs=None):
        self.model.set_weights(self.weights)

def train_classifier(model, x, y, validation):
    model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
    return model.fit(x, y, batch_size=32, epochs=12, validation_data=validation, callbacks=[Stop()], verbose=0)
""",
]

KEPT_IN_A_FILE = """
import os, tempfile
def train_classifier(model, x, y, validation):
    model.compile(keras.optimizers.Adam(3e-3), "binary_crossentropy", metrics=["accuracy"])
    path = os.path.join(tempfile.mkdtemp(), "best.weights.h5")
    keep = keras.callbacks.ModelCheckpoint(path, {keep}, save_best_only=True, save_weights_only=True)
    history = model.fit(x, y, validation_data=validation, epochs={epochs}, callbacks=[keep{stop}], verbose=0)
    model.load_weights(path)
    return history
"""

WRONG = [
    ("accuracy_watched", training(stop='monitor="val_accuracy", patience=3, restore_best_weights=True', epochs="20")),
    (
        "accuracy_watched",
        training(stop='"val_accuracy", mode="max", patience=2, restore_best_weights=True', epochs="9"),
    ),
    (
        "accuracy_watched",
        training(stop='"val_accuracy", mode="min", patience=5, restore_best_weights=True', epochs="30"),
    ),
    ("accuracy_watched", KEPT_IN_A_FILE.format(keep='monitor="val_accuracy"', epochs="6", stop="")),
    ("stops_late", KEPT_IN_A_FILE.format(keep='monitor="val_loss"', epochs="20", stop="")),
    (
        "stops_late",
        KEPT_IN_A_FILE.format(
            keep='monitor="val_loss"', epochs="25", stop=', keras.callbacks.EarlyStopping("loss", patience=2)'
        ),
    ),
    (
        "",
        """
def train_classifier(model, x, y, validation):
    model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
    stop = keras.callbacks.EarlyStopping(monitor="loss", patience=4, restore_best_weights=True)
    return model.fit(x, y, validation_data=validation, epochs=40, batch_size=32, callbacks=[stop], verbose=0)
""",
    ),
    ("nothing_restored", training(stop="patience=3")),
    (
        "",
        training(stop='monitor="accuracy", patience=3, restore_best_weights=True'),
    ),
    ("nothing_restored", training(stop='monitor="loss", patience=3, restore_best_weights=True')),
    (
        "validation_unused",
        training(data="x, y", stop='monitor="loss", patience=3, restore_best_weights=True'),
    ),
    ("own_split", training(data="x, y, validation_split=0.2")),
    ("training_watched", training(data="x, y, validation_data=(x, y)")),
    (
        "learned_from_validation",
        training(
            first="x, y = np.concatenate([x, validation[0]]), np.concatenate([y, validation[1]])",
        ),
    ),
    ("squared_error", training(loss='"mse"')),
    (  # Keras's own from_logits=True finds the sigmoid and its logits; TensorFlow's function takes what it gets
        "loss_of_logits",
        training(loss="lambda t, p: tf.nn.sigmoid_cross_entropy_with_logits(tf.cast(t, p.dtype), p)"),
    ),
    ("loss_over_classes", training(loss='"categorical_crossentropy"', epochs="3")),
    ("accuracy_not_measured", training(metrics="[]")),
    ("part_of_the_reviews", training(data="x[:32], y[:32], validation_data=validation")),
    ("another_model_trained", training(first="model = keras.models.clone_model(model)", epochs="3")),
    ("nothing_learned", training(first="y = np.random.default_rng(1).permutation(y)", epochs="4")),
    ("nothing_learned", training(optimizer="keras.optimizers.Adam(1e-7)", epochs="3")),
    ("one_epoch", training(epochs="1")),
    ("one_batch", training().replace("batch_size=32", "batch_size=512")),
    (None, "def train_classifier(model, x, y, validation):\n    return None\n"),
    (None, "def train_classifier(model, x, y, validation):\n    return model\n"),
    (
        None,  # not compiled
        "def train_classifier(model, x, y, validation):\n    return model.fit(x, y, validation_data=validation)\n",
    ),
    (
        None,  # invented curves
        """
def train_classifier(model, x, y, validation):
    return {"loss": [0.7, 0.1], "accuracy": [0.5, 0.99], "val_loss": [0.7, 0.2], "val_accuracy": [0.5, 0.95]}
""",
    ),
]
