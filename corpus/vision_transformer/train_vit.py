"""Lab 09, exercise `train_vit`: solutions as different students write them, right and wrong."""

CORRECT = [
    # labels as rows of zeros and one 1, AdamW
    """
def train_vit(images, labels, num_classes):
    model = build_vit((8, 8, 1), 2, num_classes, 2, 32, 4, 64)
    model.compile(keras.optimizers.AdamW(2e-3, weight_decay=1e-4), keras.losses.CategoricalCrossentropy(from_logits=True))
    model.fit(images, keras.utils.to_categorical(labels, num_classes), batch_size=32, epochs=10, verbose=0)
    return model
""",
    # tf.data, a schedule, one wide block
    """
def train_vit(images, labels, num_classes):
    model = build_vit(tuple(images.shape[1:]), 2, num_classes, 1, 48, 3, 96)
    rows = tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(len(images), seed=1).batch(25)
    rate = keras.optimizers.schedules.CosineDecay(4e-3, 11 * 40)
    model.compile(optimizer=keras.optimizers.Adam(rate), loss=keras.losses.SparseCategoricalCrossentropy(True))
    model.fit(rows, epochs=11, verbose=0)
    return model
""",
    # a training model with softmax around the one that is returned
    """
def train_vit(images, labels, num_classes):
    vit = build_vit(images.shape[1:], 2, num_classes, 2, 24, 4, 48, 0.05)
    trained = keras.Sequential([keras.Input(images.shape[1:]), vit, keras.layers.Softmax()])
    trained.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    trained.optimizer.learning_rate = 0.003
    trained.fit(images, labels, epochs=12, verbose=0)
    return vit
""",
    # a loop of its own
    """
def train_vit(images, labels, num_classes):
    model = build_vit(images.shape[1:], 2, num_classes, 2, 32, 2, 64)
    optimizer = keras.optimizers.Adam(2e-3)
    optimizer.build(model.trainable_variables)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=model(x, training=True))
            loss = tf.reduce_mean(losses)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))

    rng = np.random.default_rng(0)
    for epoch in range(12):
        order = rng.permutation(len(images))
        for start in range(0, len(images), 40):
            chosen = order[start : start + 40]
            step(tf.constant(images[chosen]), tf.constant(labels[chosen], tf.int32))
    return model
""",
    # keeps some images aside to stop, and the best weights
    """
def train_vit(images, labels, num_classes):
    model = build_vit(images.shape[1:], 2, num_classes, num_layers=2, d_model=32, num_heads=4, d_ff=64)
    model.compile(keras.optimizers.Nadam(2e-3), keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    stop = keras.callbacks.EarlyStopping("val_accuracy", patience=5, restore_best_weights=True)
    model.fit(images[100:], labels[100:], validation_data=(images[:100], labels[:100]), epochs=13, batch_size=32, callbacks=[stop], verbose=0)
    return model
""",
]


def train(
    model="build_vit((8, 8, 1), 2, num_classes, 1, 24, 4, 48)",
    rate=4e-3,
    logits=True,
    x="images",
    y="labels",
    epochs=8,
    result="model",
):
    """A training with some of its parts changed."""
    return f"""
def train_vit(images, labels, num_classes):
    model = {model}
    model.compile(keras.optimizers.Adam({rate}), keras.losses.SparseCategoricalCrossentropy(from_logits={logits}))
    history = model.fit({x}, {y}, batch_size=32, epochs={epochs}, verbose=0)
    return {result}
"""


WRONG = [
    ("learned_nothing", train(result="build_vit((8, 8, 1), 2, num_classes, 1, 24, 4, 48)", epochs=1)),
    ("learned_nothing", train(rate=1e-5, epochs=1)),
    ("learned_nothing", train(rate=3.0, epochs=2)),
    ("learned_nothing", train(y="np.random.default_rng(0).permutation(labels)", epochs=2)),
    (
        "softmax_output",
        train(
            logits=False,
            model="keras.Sequential([build_vit((8, 8, 1), 2, num_classes, 1, 24, 4, 48), keras.layers.Softmax()])",
        ),
    ),
    # labels from elsewhere
    (
        "learned_nothing",
        "from sklearn.datasets import load_digits\n"
        + train(x="load_digits().images[:, :, :, None] / 16", y="load_digits().target", epochs=3),
    ),
    # the lecture's model, which is not the one that build_vit makes
    (
        None,
        train(
            "plain_vit((8, 8, 1), patch=2, width=32, heads=4, hidden=64, blocks=1, classes=num_classes)[0]", epochs=10
        ),
    ),
    # patches of other sizes
    (None, train("build_vit((8, 8, 1), 4, num_classes, 1, 24, 4, 48)")),
    (None, train("build_vit((8, 8, 1), 1, num_classes, 1, 8, 2, 16)", epochs=1)),
    # too early to stop; a history instead of a model; no Vision Transformer
    (None, train(epochs=2)),
    (None, train(epochs=1, result="history")),
    (None, train(epochs=1, result="None")),
    (
        None,
        train("keras.Sequential([keras.Input((8, 8, 1)), keras.layers.Flatten(), keras.layers.Dense(num_classes)])"),
    ),
]
