"""Lab 06: solutions as different students write them."""

# A classifier in pieces, so that variants can change one of them.
MODEL = """
def build_classifier(max_length=200, vocab_size=20_000, d_model=32, num_heads=2, d_ff=32):
    ids = keras.Input((max_length,), dtype="int32")
    positions = {positions}
    x = {words}(ids){added}
    attention = keras.layers.MultiHeadAttention(num_heads, key_dim={key_dim})
    x = keras.layers.LayerNormalization(epsilon=1e-6)(x + {attended})
    h = keras.layers.Dense(d_model)(keras.layers.Dense(d_ff, activation="relu")(x))
    x = {norm2}
    x = {pooled}
    x = {hidden}
    return keras.Model(ids, {output})
"""
PIECES = {
    "positions": "ops.cumsum(ops.ones_like(ids), axis=1) - 1",
    "words": "keras.layers.Embedding(vocab_size, d_model)",
    "added": " + keras.layers.Embedding(max_length, d_model)(positions)",
    "key_dim": "d_model",
    "attended": "attention(query=x, value=x, attention_mask=ops.expand_dims(ops.not_equal(ids, 0), 1))",
    "norm2": "keras.layers.LayerNormalization(epsilon=1e-6)(x + h)",
    "pooled": "masked_mean(x, ids)",
    "hidden": 'keras.layers.Dense(20, activation="relu")(x)',
    "output": 'keras.layers.Dense(1, activation="sigmoid")(x)',
}


def model(**changed: str) -> str:
    """The classifier with some of its pieces changed."""
    return MODEL.format(**{**PIECES, **changed})


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


CORRECT = {
    "standardize": [
        # character by character
        """
def standardize(text):
    text = text.lower()
    for spelling in ("<br />", "<br/>", "<br>"):
        text = text.replace(spelling, " ")
    kept = [character for character in text if character not in string.punctuation]
    return " ".join("".join(kept).split())
""",
        # regular expressions throughout
        r"""
def standardize(text):
    text = re.sub(r"<br\s*/?\s*>", " ", text, flags=re.IGNORECASE)
    text = re.sub("[" + re.escape(string.punctuation) + "]", "", text)
    return re.sub(r"\s+", " ", text).strip().lower()
""",
        # word characters and spaces
        r"""
import re as regex
BREAK = regex.compile("<br ?/?>", regex.I)
def standardize(text):
    return " ".join(regex.sub(r"[^\w\s]", "", BREAK.sub(" ", text)).lower().split())
""",
        # TensorFlow's strings, joined outside
        r"""
def standardize(text):
    text = tf.strings.lower(text, encoding="utf-8")
    text = tf.strings.regex_replace(text, r"<br\s*/?>", " ")
    text = tf.strings.regex_replace(text, r"[!-/:-@\[-`{-~]", "")
    return " ".join(text.numpy().decode("utf-8").split())
""",
        # a table for everything
        """
def standardize(text):
    table = {ord(mark): None for mark in string.punctuation} | {ord(blank): " " for blank in "\\t\\n\\r"}
    words = re.split("<br */?>", text.casefold())
    return " ".join(word for part in words for word in part.translate(table).split(" ") if word)
""",
        # isalnum
        """
def standardize(text):
    text = text.replace("<BR", "<br").replace("<Br", "<br").replace("<bR", "<br")
    text = text.replace("<br />", "\\n").replace("<br/>", "\\n").replace("<br>", "\\n").lower()
    return " ".join("".join(c for c in text if c.isalnum() or c.isspace()).split())
""",
    ],
    "build_vocabulary": [
        """
def build_vocabulary(texts, max_tokens):
    counts = {}
    for text in texts:
        for word in text.split():
            counts[word] = counts.get(word, 0) + 1
    pairs = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    vocabulary = ["", "[UNK]"]
    for word, count in pairs:
        vocabulary.append(word)
    return vocabulary[:max_tokens]
""",
        # two stable sorts
        """
def build_vocabulary(texts, max_tokens):
    words = " ".join(texts).split()
    names = sorted(set(words))
    counts = Counter(words)
    names.sort(key=counts.get, reverse=True)
    return (["", "[UNK]"] + names)[:max_tokens]
""",
        # NumPy: unique is sorted, a stable argsort keeps that
        """
def build_vocabulary(texts, max_tokens):
    words = [word for text in texts for word in text.split(" ") if word]
    names, counts = np.unique(words, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    return ["", "[UNK]", *names[order].tolist()][:max_tokens]
""",
        # most_common of a sorted counter
        """
def build_vocabulary(texts, max_tokens):
    counter = Counter()
    for text in texts:
        counter.update(text.split())
    ordered = Counter(dict(sorted(counter.items())))
    room = max(0, max_tokens - 2)
    special = ["", "[UNK]"][: max(0, max_tokens)]
    return special + [word for word, _ in ordered.most_common(room)]
""",
        # a heap, one word at a time, a tuple of strings
        """
import heapq
def build_vocabulary(texts, max_tokens):
    counts = Counter(word for text in texts for word in text.split())
    heap = [(-count, word) for word, count in counts.items()]
    heapq.heapify(heap)
    result = [entry for entry, _ in zip(["", "[UNK]"], range(max_tokens))]
    while heap and len(result) < max_tokens:
        result.append(heapq.heappop(heap)[1])
    return tuple(result)
""",
        # standardises once more, which changes nothing
        """
def build_vocabulary(texts, max_tokens):
    counts = Counter(word for text in texts for word in standardize(text).split())
    return ["", "[UNK]", *sorted(sorted(counts), key=lambda word: -counts[word])][:max_tokens]
""",
    ],
    "vectorize": [
        """
def vectorize(texts, vocabulary, max_length):
    rows = []
    for text in texts:
        row = []
        for word in text.split():
            row.append(vocabulary.index(word) if word in vocabulary else 1)
        row = row[:max_length] + [0] * (max_length - len(row))
        rows.append(row)
    return np.array(rows)
""",
        # plain lists
        """
def vectorize(texts, vocabulary, max_length):
    ids = dict(zip(vocabulary, range(len(vocabulary))))
    return [([ids.get(w, 1) for w in t.split()] + max_length * [0])[:max_length] for t in texts]
""",
        # pad_sequences, told where
        """
def vectorize(texts, vocabulary, max_length):
    lookup = {word: i for i, word in enumerate(vocabulary)}
    rows = [[lookup.get(word, 1) for word in text.split()] for text in texts]
    return keras.utils.pad_sequences(rows, maxlen=max_length, padding="post", truncating="post")
""",
        # Keras's own layer
        """
def vectorize(texts, vocabulary, max_length):
    words = list(vocabulary[2:]) or ["nosuchword"]
    layer = keras.layers.TextVectorization(
        standardize=None, split="whitespace", output_sequence_length=max_length, vocabulary=words
    )
    return layer(tf.constant(texts))
""",
        # a ragged tensor
        """
from collections import defaultdict
def vectorize(texts, vocabulary, max_length):
    place = defaultdict(lambda: 1, {word: i for i, word in enumerate(vocabulary) if word})
    ragged = tf.ragged.constant([[place[word] for word in text.split()] for text in texts], dtype=tf.int64)
    return ragged.to_tensor(default_value=0, shape=(len(texts), max_length))
""",
        # itertools, int16
        """
from itertools import chain, islice, repeat
def vectorize(texts, vocabulary, max_length):
    place = {word: number for number, word in reversed(list(enumerate(vocabulary)))}
    row = lambda text: chain((place.get(word, 1) for word in text.split()), repeat(0))
    return np.array([list(islice(row(standardize(text)), max_length)) for text in texts], dtype=np.int16)
""",
    ],
    "masked_mean": [
        # a mean of everything, scaled up
        """
def masked_mean(x, ids):
    x = ops.convert_to_tensor(x)
    mask = ops.cast(ops.sign(ops.absolute(ids)), x.dtype)[:, :, None]
    share = ops.mean(mask, axis=1)
    return ops.where(share > 0, ops.mean(x * mask, axis=1) / ops.where(share > 0, share, ops.ones_like(share)), 0)
""",
        # where, before and after
        """
def masked_mean(x, ids):
    x = ops.convert_to_tensor(x)
    mask = ops.expand_dims(ops.convert_to_tensor(ids) > 0, -1)
    kept = ops.where(mask, x, ops.zeros_like(x))
    count = ops.cast(ops.sum(ops.cast(mask, "int32"), axis=1), x.dtype)
    safe = ops.where(ops.equal(count, 0), ops.ones_like(count), count)
    return ops.sum(kept, axis=1) / safe
""",
        # a matrix product of one row
        """
def masked_mean(x, ids):
    x = ops.convert_to_tensor(x)
    real = ops.cast(ops.convert_to_tensor(ids) != 0, x.dtype)
    real = real / ops.maximum(ops.sum(real, axis=-1, keepdims=True), 1.0)
    return ops.squeeze(ops.matmul(real[:, None, :], x), axis=1)
""",
        # a layer of Keras around TensorFlow's functions: a keras.Input goes through a layer
        """
class MaskedMean(keras.Layer):
    def call(self, x, ids):
        words = tf.cast(tf.not_equal(ids, 0), x.dtype)
        return tf.math.divide_no_nan(tf.einsum("btd,bt->bd", x, words), tf.reduce_sum(words, axis=1, keepdims=True))

def masked_mean(x, ids):
    return MaskedMean(dtype=x.dtype, autocast=False)(x, ids)
""",
        # the ids clipped to 0 and 1
        """
def masked_mean(x, ids):
    x = ops.convert_to_tensor(x)
    mask = ops.cast(ops.clip(ops.convert_to_tensor(ids), 0, 1), x.dtype)
    total, count = ops.einsum("bt,btd->bd", mask, x), ops.einsum("bt->b", mask)
    return total / ops.cast(ops.maximum(count, ops.ones_like(count)), x.dtype)[:, None]
""",
    ],
    "build_classifier": [
        model(),
        # the masks of Keras, carried from layer to layer; pooling by its layer, with a guard for empty rows
        """
class Positions(keras.Layer):
    def __init__(self, length, width, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.table = keras.layers.Embedding(length, width)

    def build(self, shape):
        self.table.build(shape[:2])

    def call(self, x):
        return x + self.table(ops.arange(ops.shape(x)[1]))

class Mean(keras.Layer):
    def call(self, x, mask=None):
        weights = ops.cast(mask, x.dtype)[:, :, None]
        return ops.sum(x * weights, axis=1) / ops.maximum(ops.sum(weights, axis=1), 1e-9)

    def compute_mask(self, x, mask=None):
        return None

def build_classifier(max_length=200, vocab_size=20_000, d_model=32, num_heads=2, d_ff=32):
    inputs = keras.Input(shape=(max_length,))
    x = keras.layers.Embedding(vocab_size, d_model, mask_zero=True)(inputs)
    x = Positions(max_length, d_model)(x)
    h = keras.layers.MultiHeadAttention(num_heads=num_heads, key_dim=d_model)(x, x)
    h = keras.layers.Dropout(0.1)(h)
    x = keras.layers.LayerNormalization()(keras.layers.Add()([x, h]))
    h = keras.layers.Dense(d_ff, activation="relu")(x)
    h = keras.layers.Dense(d_model)(h)
    x = keras.layers.LayerNormalization()(keras.layers.Add()([x, h]))
    x = Mean()(x)
    x = keras.layers.Dropout(0.1)(x)
    x = keras.layers.Dense(20, activation="relu")(x)
    return keras.Model(inputs, keras.layers.Dense(1, activation="sigmoid")(x))
""",
        # a subclass of Model, any length
        """
class Classifier(keras.Model):
    def __init__(self, max_length, vocab_size, d_model, num_heads, d_ff, **kwargs):
        super().__init__(**kwargs)
        layers = keras.layers
        self.words = layers.Embedding(vocab_size, d_model)
        self.places = layers.Embedding(max_length, d_model)
        self.attention = layers.MultiHeadAttention(num_heads, d_model)
        self.norms = [layers.LayerNormalization(epsilon=1e-6) for _ in range(2)]
        self.network = keras.Sequential([layers.Dense(d_ff, activation="relu"), layers.Dense(d_model)])
        self.head = keras.Sequential([layers.Dense(20, activation="relu"), layers.Dense(1, activation="sigmoid")])
        self.drop = layers.Dropout(0.2)

    def call(self, ids, training=None):
        mask = tf.not_equal(ids, 0)
        x = self.words(ids) + self.places(tf.range(tf.shape(ids)[1]))[tf.newaxis]
        h = self.attention(x, x, attention_mask=mask[:, tf.newaxis, tf.newaxis, :], training=training)
        x = self.norms[0](x + self.drop(h, training=training))
        x = self.norms[1](x + self.drop(self.network(x), training=training))
        weights = tf.cast(mask, x.dtype)[..., tf.newaxis]
        return self.head(tf.math.divide_no_nan(tf.reduce_sum(x * weights, 1), tf.reduce_sum(weights, 1)))

def build_classifier(max_length=200, vocab_size=20_000, d_model=32, num_heads=2, d_ff=32):
    model = Classifier(max_length, vocab_size, d_model, num_heads, d_ff)
    model(tf.zeros((1, max_length), tf.int32))
    return model
""",
        # pre-norm, a bare weight for the positions, input of any length, the mask of both axes
        """
class Front(keras.Layer):
    def __init__(self, max_length, vocab_size, d_model):
        super().__init__()
        self.sizes = max_length, vocab_size, d_model

    def build(self, shape):
        max_length, vocab_size, d_model = self.sizes
        self.rows = self.add_weight(shape=(vocab_size, d_model), initializer="uniform")
        self.places = self.add_weight(shape=(max_length, d_model), initializer="uniform")

    def call(self, ids):
        ids = ops.cast(ids, "int32")
        return ops.take(self.rows, ids, axis=0) + self.places[: ops.shape(ids)[1]]

def build_classifier(max_length=200, vocab_size=20_000, d_model=32, num_heads=2, d_ff=32):
    ids = keras.Input((None,), dtype="int64")
    words = keras.layers.Lambda(lambda ids: ops.cast(ids != 0, "float32"))(ids)
    x = Front(max_length, vocab_size, d_model)(ids)
    pairs = keras.layers.Lambda(lambda w: w[:, :, None] * w[:, None, :])(words)
    h = keras.layers.LayerNormalization()(x)
    x = x + keras.layers.MultiHeadAttention(num_heads, key_dim=d_model)(h, h, attention_mask=pairs)
    h = keras.layers.LayerNormalization()(x)
    h = keras.layers.Dense(d_ff, "relu")(h)
    x = x + keras.layers.Dense(d_model)(h)
    mean = keras.layers.Lambda(lambda both: masked_mean(*both), output_shape=(d_model,))([x, ids])
    y = keras.layers.Dense(20, "relu")(mean)
    y = keras.layers.Dense(1)(y)
    return keras.Model(ids, keras.layers.Activation("sigmoid")(y))
""",
        # an attention of its own, heads by einsum
        """
class Heads(keras.Layer):
    def __init__(self, heads, width, **kwargs):
        super().__init__(**kwargs)
        self.heads, self.width = heads, width
        self.q, self.k, self.v = (keras.layers.Dense(heads * width) for _ in range(3))
        self.o = keras.layers.Dense(width)

    def build(self, x_shape, words_shape):
        for dense in (self.q, self.k, self.v):
            dense.build(x_shape)
        self.o.build((*x_shape[:-1], self.heads * self.width))

    def call(self, x, words):
        split = lambda y: ops.reshape(y, (-1, ops.shape(y)[1], self.heads, self.width))
        q, k, v = split(self.q(x)), split(self.k(x)), split(self.v(x))
        scores = ops.einsum("bthk,bshk->bhts", q, k) / self.width**0.5
        scores = ops.where(words[:, None, None, :], scores, -1e9)
        heads = ops.einsum("bhts,bshk->bthk", ops.softmax(scores), v)
        return self.o(ops.reshape(heads, (-1, ops.shape(x)[1], self.heads * self.width)))

def build_classifier(max_length=200, vocab_size=20_000, d_model=32, num_heads=2, d_ff=32):
    ids = keras.Input((max_length,), dtype="int32")
    places = ops.cumsum(ops.ones_like(ids), axis=1) - 1
    x = keras.layers.Embedding(vocab_size, d_model)(ids) + keras.layers.Embedding(max_length, d_model)(places)
    x = keras.layers.LayerNormalization()(x + Heads(num_heads, d_model)(x, ids != 0))
    h = keras.layers.Dense(d_ff, activation="relu")(x)
    x = keras.layers.LayerNormalization()(x + keras.layers.Dense(d_model)(h))
    x = keras.layers.Dense(20, activation="relu")(masked_mean(x, ids))
    return keras.Model(ids, keras.layers.Dense(1, activation="sigmoid")(x))
""",
        # pooled at the first word; every row keeps an empty review finite
        model(pooled="x[:, 0]"),
        # the largest value of each feature among the words
        model(pooled="ops.max(ops.where(ops.expand_dims(ids != 0, -1), x, -1e4), axis=1)"),
    ],
    "train_classifier": [
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
        # watches the accuracy, one class more in the metrics
        training(stop='monitor="val_accuracy", mode="max", patience=3, restore_best_weights=True', epochs="9"),
    ],
    "evaluate_predictions": [
        # loops
        """
def evaluate_predictions(probabilities, labels, threshold=0.5):
    confusion = [[0, 0], [0, 0]]
    for probability, label in zip(np.asarray(probabilities).ravel(), labels):
        confusion[int(label)][int(probability >= threshold)] += 1
    (tn, fp), (fn, tp) = confusion
    precision = tp / (tp + fp) if tp + fp > 0 else 0
    recall = tp / (tp + fn) if tp + fn > 0 else 0
    f1 = 2 * tp / (2 * tp + fp + fn) if tp > 0 else 0
    return dict(accuracy=(tp + tn) / (tn + fp + fn + tp), precision=precision, recall=recall, f1=f1, confusion=confusion)
""",
        # scikit-learn
        """
from sklearn import metrics
def evaluate_predictions(probabilities, labels, threshold=0.5):
    said = (np.reshape(probabilities, -1) >= threshold).astype(int)
    scores = {name: getattr(metrics, f"{name}_score") for name in ("precision", "recall", "f1")}
    return {
        "accuracy": metrics.accuracy_score(labels, said),
        "confusion": metrics.confusion_matrix(labels, said, labels=[0, 1]),
        **{name: score(labels, said, zero_division=0) for name, score in scores.items()},
    }
""",
        # TensorFlow
        """
def evaluate_predictions(probabilities, labels, threshold=0.5):
    said = tf.cast(tf.reshape(tf.convert_to_tensor(probabilities), [-1]) >= threshold, tf.int32)
    confusion = tf.math.confusion_matrix(labels, said, num_classes=2)
    wide = tf.cast(confusion, tf.float64)
    tp = wide[1, 1]
    precision = tf.math.divide_no_nan(tp, tf.reduce_sum(wide[:, 1]))
    recall = tf.math.divide_no_nan(tp, tf.reduce_sum(wide[1]))
    return {
        "accuracy": tf.linalg.trace(wide) / tf.reduce_sum(wide),
        "precision": precision,
        "recall": recall,
        "f1": tf.math.divide_no_nan(2 * precision * recall, precision + recall),
        "confusion": confusion,
        "support": tf.reduce_sum(confusion, axis=1),
    }
""",
        # a histogram of two bits
        """
def evaluate_predictions(probabilities, labels, threshold=0.5):
    said = np.squeeze(np.asarray(probabilities) >= threshold).reshape(-1)
    counts = np.bincount(2 * np.asarray(labels).astype(int) + said, minlength=4).reshape(2, 2)
    with np.errstate(invalid="ignore"):
        precision, recall = np.nan_to_num(counts[1, 1] / counts[:, 1].sum()), np.nan_to_num(counts[1, 1] / counts[1].sum())
        f1 = np.nan_to_num(2 / (1 / precision + 1 / recall)) if precision and recall else 0.0
    return {"accuracy": np.mean(said == labels), "precision": precision, "recall": recall, "f1": f1, "confusion": counts}
""",
        # Keras's ops, a small class
        """
class Counts(dict):
    def ratio(self, part, *parts):
        whole = sum(self[each] for each in (part, *parts))
        return self[part] / whole if whole else 0.0

def evaluate_predictions(probabilities, labels, threshold=0.5):
    said = ops.convert_to_numpy(ops.reshape(ops.greater_equal(probabilities, threshold), (-1,)))
    pairs = list(zip(np.asarray(labels, bool).tolist(), said.tolist()))
    counts = Counts(tn=pairs.count((False, False)), fp=pairs.count((False, True)),
                    fn=pairs.count((True, False)), tp=pairs.count((True, True)))
    p, r = counts.ratio("tp", "fp"), counts.ratio("tp", "fn")
    return {"accuracy": 1 - (counts["fp"] + counts["fn"]) / len(pairs), "precision": p, "recall": r,
            "f1": 2 * p * r / (p + r) if p + r else 0, "confusion": ((counts["tn"], counts["fp"]), (counts["fn"], counts["tp"]))}
""",
    ],
    "answers": [
        """
answers = {"first_word": 197, "longer": 670537, "measures": [0.79, 0.75], "report": "c"}
""",
        """
answers = {"first_word": 197.0, "longer": 670_537.0, "measures": (0.789, 0.75), "report": "C"}
""",
        """
answers = {"first_word": 200 - 3, "longer": 657_737 + 400 * 32, "measures": np.array([30 / 38, 30 / 40]), "report": "c "}
""",
        """
answers = dict(first_word=tf.constant(197), longer=670537, report="c")
answers["measures"] = tf.constant([0.79, 0.75])
""",
        """
answers = { "report": "c", "first_word": [197][0], "longer": int("670537"),
           "measures": [0.7895, 0.75], "note": "done"}
""",
    ],
    "linear_baseline": [
        """
from sklearn.feature_extraction.text import TfidfVectorizer, TfidfTransformer, CountVectorizer
from sklearn.linear_model import LogisticRegression
def linear_baseline(train_texts, train_labels, texts):
    vectorizer = TfidfVectorizer(ngram_range=(1, 2))
    x = vectorizer.fit_transform(train_texts)
    new = vectorizer.transform(texts)
    model = LogisticRegression().fit(x, train_labels)
    return model.predict_proba(new)[:, 1]
""",
        """
from sklearn.pipeline import Pipeline
from sklearn.feature_extraction.text import TfidfVectorizer, TfidfTransformer, CountVectorizer
from sklearn.linear_model import LogisticRegression
def linear_baseline(train_texts, train_labels, texts):
    steps = [("count", CountVectorizer(ngram_range=(1, 2))), ("weigh", TfidfTransformer()), ("judge", LogisticRegression(max_iter=1000))]
    return Pipeline(steps).fit(train_texts, list(train_labels)).predict_proba(texts)[:, 1].tolist()
""",
        """
from sklearn.feature_extraction.text import TfidfVectorizer, TfidfTransformer, CountVectorizer
from sklearn.linear_model import LogisticRegression
def linear_baseline(train_texts, train_labels, texts):
    vectorizer = TfidfVectorizer(ngram_range=(1, 2))
    x = vectorizer.fit_transform(train_texts)
    new = vectorizer.transform(texts)
    model = LogisticRegression().fit(x, train_labels)
    return 1 / (1 + np.exp(-model.decision_function(new)))
""",
        """
from sklearn.feature_extraction.text import TfidfVectorizer, TfidfTransformer, CountVectorizer
from sklearn.linear_model import LogisticRegression
def linear_baseline(train_texts, train_labels, texts):
    vectorizer = TfidfVectorizer(ngram_range=(1, 2))
    x = vectorizer.fit_transform(train_texts)
    new = vectorizer.transform(texts)
    model = LogisticRegression().fit(x, train_labels)
    return model.predict_proba(new)[:, list(model.classes_).index(1)]
""",
        """
from sklearn.feature_extraction.text import TfidfVectorizer, TfidfTransformer, CountVectorizer
from sklearn.linear_model import LogisticRegression
def linear_baseline(train_texts, train_labels, texts):
    vectorizer = TfidfVectorizer(ngram_range=(1, 2))
    x = vectorizer.fit_transform(train_texts)
    new = vectorizer.transform(texts)
    model = LogisticRegression().fit(x, train_labels)
    return tf.constant(model.predict_proba(new)[:, 1])
""",
    ],
    "find_the_bug": [
        "find_the_bug = masked_mean",
        """
def find_the_bug(x, ids):
    x = ops.convert_to_tensor(x)
    is_word = ops.cast(ops.not_equal(ids, 0), x.dtype)
    length = ops.maximum(ops.sum(is_word, axis=1), 1)
    return ops.einsum("btd,bt->bd", x, is_word) / length[:, None]
""",
        """
def find_the_bug(x, ids):
    x = ops.convert_to_tensor(x)
    is_word = ops.cast(ops.not_equal(ids, 0), x.dtype)[..., None]
    length = ops.sum(is_word, axis=1)
    return ops.sum(x * is_word, axis=1) / ops.where(length > 0, length, 1)
""",
        """
def find_the_bug(x, ids):
    x = ops.convert_to_tensor(x)
    is_word = ops.cast(ops.not_equal(ids, 0), x.dtype)
    share = is_word / ops.maximum(ops.sum(is_word, axis=1, keepdims=True), 1)
    return ops.einsum("btd,bt->bd", x, share)
""",
        """
def find_the_bug(x, ids):
    x = ops.convert_to_tensor(x)
    is_word = ops.cast(ops.not_equal(ids, 0), x.dtype)
    length = ops.maximum(ops.mean(ops.sum(is_word, axis=1, keepdims=True), axis=1, keepdims=True), 1)
    return ops.squeeze(ops.matmul(is_word[:, None, :], x), axis=1) / length
""",
    ],
    "predict": [
        "predict = 1.99",
        "predict = 1.8",
        "predict = [2.2]",
        "predict = 100 * (0.73 * 0.27 / 500) ** 0.5",
        "predict = np.float32(2)",
    ],
}

WRONG = {
    "standardize": [
        (
            "br_becomes_a_word",
            r"""
def standardize(text):
    text = "".join(c for c in text.lower() if c not in string.punctuation)
    return " ".join(text.replace("<br />", " ").split())
""",
        ),
        (
            "every_tag_removed",
            r"""
def standardize(text):
    text = re.sub(r"<[^>]+>", " ", text.lower()).translate(str.maketrans("", "", string.punctuation))
    return " ".join(text.split())
""",
        ),
        (
            "other_letters_lost",
            r"""
def standardize(text):
    text = re.sub(r"<br ?/?>", " ", text.lower())
    return " ".join(re.sub(r"[^a-z0-9\s]", "", text).split())
""",
        ),
        (
            "punctuation_to_space",
            r"""
def standardize(text):
    text = re.sub(r"<br ?/?>", " ", text.lower())
    return " ".join(re.sub(r"[^\w\s]", " ", text).split())
""",
        ),
        (
            "ends_not_stripped",
            r"""
def standardize(text):
    text = re.sub(r"<br ?/?>", " ", text.lower()).translate(str.maketrans("", "", string.punctuation))
    return re.sub(r"\s+", " ", text)
""",
        ),
        (
            "br_in_capitals_missed",
            r"""
def standardize(text):
    text = re.sub(r"<br ?/?>", " ", text).translate(str.maketrans("", "", string.punctuation))
    return " ".join(text.lower().split())
""",
        ),
        (
            "apostrophes_kept",
            r"""
def standardize(text):
    text = re.sub(r"<br ?/?>", " ", text.lower())
    return " ".join(re.sub(r"[^\w\s']", "", text).split())
""",
        ),
        (None, "def standardize(text):\n    return text\n"),
        (None, "def standardize(text):\n    return text.lower().split()\n"),
        (None, "def standardize(text):\n    return tf.strings.lower(text)\n"),
    ],
    "build_vocabulary": [
        (
            "ties_as_seen",
            """
def build_vocabulary(texts, max_tokens):
    counts = Counter(word for text in texts for word in text.split())
    return (["", "[UNK]"] + [word for word, _ in counts.most_common()])[:max_tokens]
""",
        ),
        (
            "slice_from_the_end",
            """
def build_vocabulary(texts, max_tokens):
    counts = Counter(word for text in texts for word in text.split())
    words = sorted(counts, key=lambda word: (-counts[word], word))
    return ["", "[UNK]"] + words[: max_tokens - 2]
""",
        ),
        (
            "specials_not_counted",
            """
def build_vocabulary(texts, max_tokens):
    counts = Counter(word for text in texts for word in text.split())
    return ["", "[UNK]"] + sorted(counts, key=lambda word: (-counts[word], word))[:max_tokens]
""",
        ),
        (
            "ties_backwards",
            """
def build_vocabulary(texts, max_tokens):
    counts = Counter(word for text in texts for word in text.split())
    words = sorted(counts, key=lambda word: (counts[word], word), reverse=True)
    return ["", "[UNK]", *words][:max_tokens]
""",
        ),
        (
            "empty_word_counted",
            """
def build_vocabulary(texts, max_tokens):
    counts = Counter(word for text in texts for word in text.split(" "))
    words = sorted(counts, key=lambda word: (-counts[word], word))
    return ["", "[UNK]", *words][:max_tokens]
""",
        ),
        (
            "texts_counted",
            """
def build_vocabulary(texts, max_tokens):
    counts = Counter(word for text in texts for word in set(text.split()))
    return ["", "[UNK]", *sorted(counts, key=lambda word: (-counts[word], word))][:max_tokens]
""",
        ),
        (
            "cut_before_ties",
            """
def build_vocabulary(texts, max_tokens):
    counts = Counter(word for text in texts for word in text.split())
    frequent = [word for word, _ in counts.most_common(max_tokens - 2)]
    return ["", "[UNK]", *sorted(frequent, key=lambda word: (-counts[word], word))]
""",
        ),
        (None, "def build_vocabulary(texts, max_tokens):\n    return sorted(set(' '.join(texts)))\n"),
        (None, "def build_vocabulary(texts, max_tokens):\n    return {'': 0, '[UNK]': 1}\n"),
    ],
    "vectorize": [
        (
            "pad_sequences_defaults",
            """
def vectorize(texts, vocabulary, max_length):
    place = {word: i for i, word in enumerate(vocabulary)}
    return keras.utils.pad_sequences([[place.get(w, 1) for w in t.split()] for t in texts], maxlen=max_length)
""",
        ),
        (
            "cut_in_front",
            """
def vectorize(texts, vocabulary, max_length):
    place = {word: i for i, word in enumerate(vocabulary)}
    rows = [[place.get(w, 1) for w in t.split()] for t in texts]
    return keras.utils.pad_sequences(rows, maxlen=max_length, padding="post")
""",
        ),
        (
            "ids_are_floats",
            """
def vectorize(texts, vocabulary, max_length):
    ids = np.zeros((len(texts), max_length))
    for row, text in enumerate(texts):
        for column, word in enumerate(text.split()[:max_length]):
            ids[row, column] = vocabulary.index(word) if word in vocabulary else 1
    return ids
""",
        ),
        (
            "cut_at_characters",
            """
def vectorize(texts, vocabulary, max_length):
    ids = np.zeros((len(texts), max_length), int)
    for row, text in enumerate(texts):
        for column, word in enumerate(text[:max_length].split()):
            ids[row, column] = vocabulary.index(word) if word in vocabulary else 1
    return ids
""",
        ),
        (
            "specials_counted_twice",
            """
def vectorize(texts, vocabulary, max_length):
    place = {word: i for i, word in enumerate(vocabulary, start=2)}
    rows = [[place.get(w, 1) for w in t.split()][:max_length] for t in texts]
    return np.array([row + [0] * (max_length - len(row)) for row in rows])
""",
        ),
        (
            "empty_word_is_unknown",
            """
def vectorize(texts, vocabulary, max_length):
    place = {word: i for i, word in enumerate(vocabulary) if i > 1}
    rows = [[place.get(w, 1) for w in t.split(" ")][:max_length] for t in texts]
    return np.array([row + [0] * (max_length - len(row)) for row in rows])
""",
        ),
        (
            None,
            """
def vectorize(texts, vocabulary, max_length):
    return [[vocabulary.index(w) if w in vocabulary else 1 for w in t.split()] for t in texts]
""",
        ),
        (
            None,
            """
def vectorize(texts, vocabulary, max_length):
    rows = [[vocabulary.index(w) for w in t.split()][:max_length] for t in texts]
    return np.array([row + [0] * (max_length - len(row)) for row in rows])
""",
        ),
    ],
    "masked_mean": [
        ("padding_in_the_mean", "def masked_mean(x, ids):\n    return ops.mean(ops.convert_to_tensor(x), axis=1)\n"),
        (
            "divided_by_length",
            """
def masked_mean(x, ids):
    x = ops.convert_to_tensor(x)
    return ops.mean(x * ops.cast(ops.not_equal(ids, 0), x.dtype)[..., None], axis=1)
""",
        ),
        (
            "empty_row_nan",
            """
def masked_mean(x, ids):
    x = ops.convert_to_tensor(x)
    mask = ops.cast(ops.not_equal(ids, 0), x.dtype)[..., None]
    return ops.sum(x * mask, axis=1) / ops.sum(mask, axis=1)
""",
        ),
        (
            "empty_row_nan",
            """
def masked_mean(x, ids):
    return keras.layers.GlobalAveragePooling1D(dtype=x.dtype)(x, mask=ops.not_equal(ids, 0))
""",
        ),
        (
            "unknown_left_out",
            """
def masked_mean(x, ids):
    x = ops.convert_to_tensor(x)
    mask = ops.cast(ops.convert_to_tensor(ids) > 1, x.dtype)[..., None]
    return ops.sum(x * mask, axis=1) / ops.maximum(ops.sum(mask, axis=1), 1)
""",
        ),
        # right values, and a gradient that is not a number for the empty row: the trap of `where` around a division
        (
            None,
            """
def masked_mean(x, ids):
    x = ops.convert_to_tensor(x)
    mask = ops.cast(ops.not_equal(ids, 0), x.dtype)[..., None]
    count = ops.sum(mask, axis=1)
    mean = ops.sum(x * mask, axis=1) / count
    return ops.where(count > 0, mean, ops.zeros_like(mean))
""",
        ),
        # TensorFlow: right, but a keras.Input cannot go through it
        (
            None,
            """
def masked_mean(x, ids):
    x = tf.convert_to_tensor(x)
    weights = tf.cast(tf.not_equal(ids, 0), x.dtype)
    total = tf.einsum("btd,bt->bd", x, weights)
    return tf.math.divide_no_nan(total, tf.reduce_sum(weights, axis=1, keepdims=True))
""",
        ),
        # a mean of everything, scaled up
        (
            None,
            """
def masked_mean(x, ids):
    x = tf.convert_to_tensor(x)
    mask = tf.cast(tf.sign(tf.abs(ids)), x.dtype)[:, :, tf.newaxis]
    share = tf.reduce_mean(mask, axis=1)
    return tf.where(share > 0, tf.reduce_mean(x * mask, axis=1) / tf.where(share > 0, share, tf.ones_like(share)), 0)
""",
        ),
        # tf.math.unsorted sums: row by row with a loop over the graph
        (
            None,
            """
def masked_mean(x, ids):
    x, ids = tf.convert_to_tensor(x), tf.convert_to_tensor(ids)
    def one(pair):
        row, numbers = pair
        words = tf.boolean_mask(row, numbers != 0)
        size = tf.cast(tf.maximum(tf.shape(words)[0], 1), row.dtype)
        return tf.reduce_sum(words, axis=0) / size
    return tf.map_fn(one, (x, ids), fn_output_signature=x.dtype)
""",
        ),
        # on a keras.Input `==` compares the objects and is False: an empty row is 0/0 in the model
        (
            None,
            """
def masked_mean(x, ids):
    x = ops.convert_to_tensor(x)
    mask = ops.expand_dims(ops.convert_to_tensor(ids) > 0, -1)
    kept = ops.where(mask, x, ops.zeros_like(x))
    count = ops.cast(ops.sum(ops.cast(mask, "int32"), axis=1), x.dtype)
    safe = ops.where(count == 0, ops.ones_like(count), count)
    return ops.sum(kept, axis=1) / safe
""",
        ),
        # NumPy: right, but of no use inside a model
        (
            None,
            """
def masked_mean(x, ids):
    x, mask = np.asarray(x), (np.asarray(ids) != 0)[..., None]
    return ((x * mask).sum(axis=1) / np.maximum(mask.sum(axis=1), 1)).astype(x.dtype)
""",
        ),
    ],
    "build_classifier": [
        ("attention_unmasked", model(attended="attention(x, x)")),
        (
            "attention_unmasked",  # by position the mask lands in query_mask
            model(attended="attention(x, x, x, ids != 0)"),
        ),
        (
            "attention_mask_inverted",
            model(attended="attention(x, x, attention_mask=ops.expand_dims(ops.equal(ids, 0), 1))"),
        ),
        ("pooling_unmasked", model(pooled="keras.layers.GlobalAveragePooling1D()(x)")),
        ("pooling_unmasked", model(pooled="ops.max(x, axis=1)")),
        ("no_mask_at_all", model(attended="attention(x, x)", pooled="ops.mean(x, axis=1)")),
        ("positions_missing", model(added="")),
        (
            "positions_constant",  # called on an array
            model(positions="ops.arange(max_length)"),
        ),
        (
            "positions_not_learned",
            """
def sinusoids(length, width):
    angles = np.arange(length)[:, None] / 10_000 ** (np.arange(width // 2) * 2 / width)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(length, width).astype("float32")
"""
            + model(added=" + sinusoids(max_length, d_model)"),
        ),
        ("key_dim_divided", model(key_dim="d_model // num_heads")),
        ("attention_without_bias", model(key_dim="d_model, use_bias=False")),
        ("one_norm", model(norm2="x + h")),
        ("feed_forward_missing", model(norm2="keras.layers.LayerNormalization()(x)")),
        ("no_hidden_layer", model(hidden="x")),
        ("hidden_as_wide_as_model", model(hidden='keras.layers.Dense(d_model, activation="relu")(x)')),
        ("spare_row", model(words="keras.layers.Embedding(vocab_size + 1, d_model)")),
        ("words_frozen", model(words="keras.layers.Embedding(vocab_size, d_model, trainable=False)")),
        ("two_outputs", model(output='keras.layers.Dense(2, activation="softmax")(x)')),
        ("no_sigmoid", model(output="keras.layers.Dense(1)(x)")),
        ("same_result_for_all", model(output='keras.layers.Dense(1, activation="softmax")(x)')),
        ("axis_lost", model(output='keras.layers.Dense(1, activation="sigmoid")(x)[:, 0]')),
        ("not_pooled", model(pooled="x")),
        (
            "dropout_always",
            """
class Noise(keras.Layer):
    def call(self, x):
        return keras.random.dropout(x, 0.5)
"""
            + model(pooled="Noise()(masked_mean(x, ids))"),
        ),
        ("only_padding_nan", model(pooled="keras.layers.GlobalAveragePooling1D()(x, mask=ids != 0)")),
        (None, model(hidden='keras.layers.Dense(20, activation="relu")(ops.stop_gradient(x))')),
        ("pooling_mask_inverted", model(pooled="x[:, -1]")),
        (None, "def build_classifier(**sizes):\n    return keras.layers.Dense(1)\n"),
        (None, "def build_classifier(max_length=200, **sizes):\n    keras.Sequential([keras.layers.Dense(1)])\n"),
        # a bag of words of the right size
        (
            None,
            """
def build_classifier(max_length=200, vocab_size=20_000, d_model=32, num_heads=2, d_ff=32):
    ids = keras.Input((max_length,), dtype="int32")
    x = masked_mean(keras.layers.Embedding(vocab_size, d_model)(ids), ids)
    x = keras.layers.Dense(20, activation="relu")(x)
    return keras.Model(ids, keras.layers.Dense(1, activation="sigmoid")(x))
""",
        ),
        # says the same of every review, with all the right parameters
        ("same_result_for_all", model(output='keras.layers.Dense(1, activation="sigmoid")(x * 0.0)')),
    ],
    "train_classifier": [
        ("nothing_restored", training(stop="patience=3")),
        ("other_epoch_kept", training(stop='monitor="accuracy", patience=3, restore_best_weights=True')),
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
    ],
    "evaluate_predictions": [
        (
            "rounded",  # rounding halves to even
            """
def evaluate_predictions(probabilities, labels, threshold=0.5):
    said = np.round(np.ravel(probabilities)).astype(bool)
    return measures(said, np.asarray(labels) == 1)
""",
        ),
        (
            "threshold_exclusive",
            """
def evaluate_predictions(probabilities, labels, threshold=0.5):
    return measures(np.ravel(probabilities) > threshold, np.asarray(labels) == 1)
""",
        ),
        (
            "column_broadcast",
            """
def evaluate_predictions(probabilities, labels, threshold=0.5):
    return measures(probabilities >= threshold, np.asarray(labels) == 1)
""",
        ),
        (
            "precision_recall_swapped",
            """
def evaluate_predictions(probabilities, labels, threshold=0.5):
    result = measures(np.ravel(probabilities) >= threshold, np.asarray(labels) == 1)
    return {**result, "precision": result["recall"], "recall": result["precision"]}
""",
        ),
        (
            "confusion_transposed",
            """
def evaluate_predictions(probabilities, labels, threshold=0.5):
    result = measures(np.ravel(probabilities) >= threshold, np.asarray(labels) == 1)
    return {**result, "confusion": np.transpose(result["confusion"])}
""",
        ),
        (
            "f1_halved",
            """
def evaluate_predictions(probabilities, labels, threshold=0.5):
    result = measures(np.ravel(probabilities) >= threshold, np.asarray(labels) == 1)
    return {**result, "f1": result["f1"] / 2}
""",
        ),
        (
            "nothing_is_nan",
            """
def evaluate_predictions(probabilities, labels, threshold=0.5):
    said, true = np.ravel(probabilities) >= threshold, np.asarray(labels) == 1
    tp, fp, fn = np.sum(said & true), np.sum(said & ~true), np.sum(~said & true)
    with np.errstate(all="ignore"):
        precision, recall = tp / (tp + fp), tp / (tp + fn)
        f1 = 2 * precision * recall / (precision + recall)
    return {**measures(said, true), "precision": precision, "recall": recall, "f1": f1}
""",
        ),
        (
            None,  # stops with an error instead of a zero
            """
def evaluate_predictions(probabilities, labels, threshold=0.5):
    said, true = np.ravel(probabilities) >= threshold, np.asarray(labels) == 1
    tp, fp = int(np.sum(said & true)), int(np.sum(said & ~true))
    return {**measures(said, true), "precision": tp / (tp + fp)}
""",
        ),
        (
            None,
            """
def evaluate_predictions(probabilities, labels, threshold=0.5):
    said, true = np.ravel(probabilities) >= threshold, np.asarray(labels) == 1
    return {"accuracy": np.mean(said == true)}
""",
        ),
    ],
    "answers": [
        ("padding_thought_behind", "answers['first_word'] = 0"),
        ("length_thought_free", "answers['longer'] = 657_737"),
        ("hand_measures_swapped", "answers['measures'] = [0.75, 0.79]"),
        ("kept_epoch_reported", "answers['report'] = 'b'"),
    ],
    "linear_baseline": [
        ("single_words_only", """
from sklearn.feature_extraction.text import TfidfVectorizer, TfidfTransformer, CountVectorizer
from sklearn.linear_model import LogisticRegression
def linear_baseline(train_texts, train_labels, texts):
    vectorizer = TfidfVectorizer()
    x = vectorizer.fit_transform(train_texts)
    new = vectorizer.transform(texts)
    model = LogisticRegression().fit(x, train_labels)
    return model.predict_proba(new)[:, 1]
"""),
        ("pairs_only", """
from sklearn.feature_extraction.text import TfidfVectorizer, TfidfTransformer, CountVectorizer
from sklearn.linear_model import LogisticRegression
def linear_baseline(train_texts, train_labels, texts):
    vectorizer = TfidfVectorizer(ngram_range=(2, 2))
    x = vectorizer.fit_transform(train_texts)
    new = vectorizer.transform(texts)
    model = LogisticRegression().fit(x, train_labels)
    return model.predict_proba(new)[:, 1]
"""),
        ("triples_too", """
from sklearn.feature_extraction.text import TfidfVectorizer, TfidfTransformer, CountVectorizer
from sklearn.linear_model import LogisticRegression
def linear_baseline(train_texts, train_labels, texts):
    vectorizer = TfidfVectorizer(ngram_range=(1, 3))
    x = vectorizer.fit_transform(train_texts)
    new = vectorizer.transform(texts)
    model = LogisticRegression().fit(x, train_labels)
    return model.predict_proba(new)[:, 1]
"""),
        ("counts_alone", """
from sklearn.feature_extraction.text import TfidfVectorizer, TfidfTransformer, CountVectorizer
from sklearn.linear_model import LogisticRegression
def linear_baseline(train_texts, train_labels, texts):
    vectorizer = CountVectorizer(ngram_range=(1, 2))
    x = vectorizer.fit_transform(train_texts)
    new = vectorizer.transform(texts)
    model = LogisticRegression().fit(x, train_labels)
    return model.predict_proba(new)[:, 1]
"""),
        ("negative_class", """
from sklearn.feature_extraction.text import TfidfVectorizer, TfidfTransformer, CountVectorizer
from sklearn.linear_model import LogisticRegression
def linear_baseline(train_texts, train_labels, texts):
    vectorizer = TfidfVectorizer(ngram_range=(1, 2))
    x = vectorizer.fit_transform(train_texts)
    new = vectorizer.transform(texts)
    model = LogisticRegression().fit(x, train_labels)
    return model.predict_proba(new)[:, 0]
"""),
        ("decisions", """
from sklearn.feature_extraction.text import TfidfVectorizer, TfidfTransformer, CountVectorizer
from sklearn.linear_model import LogisticRegression
def linear_baseline(train_texts, train_labels, texts):
    vectorizer = TfidfVectorizer(ngram_range=(1, 2))
    x = vectorizer.fit_transform(train_texts)
    new = vectorizer.transform(texts)
    model = LogisticRegression().fit(x, train_labels)
    return model.predict(new)
"""),
        ("scores", """
from sklearn.feature_extraction.text import TfidfVectorizer, TfidfTransformer, CountVectorizer
from sklearn.linear_model import LogisticRegression
def linear_baseline(train_texts, train_labels, texts):
    vectorizer = TfidfVectorizer(ngram_range=(1, 2))
    x = vectorizer.fit_transform(train_texts)
    new = vectorizer.transform(texts)
    model = LogisticRegression().fit(x, train_labels)
    return model.decision_function(new)
"""),
        ("fitted_on_all_texts", """
from sklearn.feature_extraction.text import TfidfVectorizer, TfidfTransformer, CountVectorizer
from sklearn.linear_model import LogisticRegression
def linear_baseline(train_texts, train_labels, texts):
    vectorizer = TfidfVectorizer(ngram_range=(1, 2))
    x = vectorizer.fit_transform(train_texts)
    vectorizer.fit([*train_texts, *texts]); x = vectorizer.transform(train_texts); new = vectorizer.transform(texts)
    model = LogisticRegression().fit(x, train_labels)
    return model.predict_proba(new)[:, 1]
"""),
        ("", """
from sklearn.feature_extraction.text import TfidfVectorizer, TfidfTransformer, CountVectorizer
from sklearn.linear_model import LogisticRegression
def linear_baseline(train_texts, train_labels, texts):
    vectorizer = TfidfVectorizer(ngram_range=(1, 2))
    x = vectorizer.fit_transform(train_texts)
    new = vectorizer.fit_transform(texts)
    model = LogisticRegression().fit(x, train_labels)
    return model.predict_proba(new)[:, 1]
"""),
        ("", """
from sklearn.feature_extraction.text import TfidfVectorizer, TfidfTransformer, CountVectorizer
from sklearn.linear_model import LogisticRegression
def linear_baseline(train_texts, train_labels, texts):
    vectorizer = TfidfVectorizer(ngram_range=(1, 2))
    x = vectorizer.fit_transform(train_texts)
    new = vectorizer.transform(texts)
    model = LogisticRegression().fit(x, train_labels)
    return model.predict_proba(new)
"""),
    ],
    "find_the_bug": [
        ("", """
def find_the_bug(x, ids):
    x = ops.convert_to_tensor(x)
    is_word = ops.cast(ops.not_equal(ids, 0), x.dtype)
    length = ops.maximum(ops.mean(ops.sum(is_word, axis=1)), 1)
    return ops.einsum("btd,bt->bd", x, is_word) / length
"""),
        ("", """
def find_the_bug(x, ids):
    x = ops.convert_to_tensor(x)
    is_word = ops.cast(ops.not_equal(ids, 0), x.dtype)
    return ops.einsum("btd,bt->bd", x, is_word) / ops.sum(is_word, axis=1, keepdims=True)
"""),
    ],
    "predict": [
        ("as_a_share", "predict = 0.02"),
        ("number_of_reviews", "predict = 10"),
        ("two_deviations", "predict = 4"),
        ("one_coin", "predict = 44"),
        ("", "predict = 1"),
        ("", "predict = 27"),
    ],
}

# The measures of boolean arrays, for the wrong ones above that are wrong elsewhere.
MEASURES = """
def measures(said, true):
    tn, fp, fn, tp = (int(np.sum(each)) for each in (~said & ~true, said & ~true, ~said & true, said & true))
    share = lambda part, whole: part / whole if whole else 0.0
    precision, recall = share(tp, tp + fp), share(tp, tp + fn)
    return {"accuracy": share(tp + tn, tn + fp + fn + tp), "precision": precision, "recall": recall,
            "f1": share(2 * precision * recall, precision + recall), "confusion": [[tn, fp], [fn, tp]]}
"""
WRONG["evaluate_predictions"] = [(name, MEASURES + source) for name, source in WRONG["evaluate_predictions"]]
