"""Lab 06, exercise `build_classifier`: solutions as different students write them, right and wrong."""

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

# The same with other sums: {norm1} of the tokens x and the attention's result a, {norm2} of x and the network's f.
TWO_SUMS = """
def build_classifier(max_length=200, vocab_size=20_000, d_model=32, num_heads=2, d_ff=32):
    layers = keras.layers
    ids = keras.Input((max_length,), dtype="int32")
    places = ops.cumsum(ops.ones_like(ids), axis=1) - 1
    x = layers.Embedding(vocab_size, d_model)(ids) + layers.Embedding(max_length, d_model)(places)
    attention = layers.MultiHeadAttention(num_heads, key_dim=d_model)
    norm1, norm2 = layers.LayerNormalization(epsilon=1e-6), layers.LayerNormalization(epsilon=1e-6)
    a = attention(query=x, value=x, attention_mask=ops.not_equal(ids, 0)[:, None])
    x = {norm1}
    f = layers.Dense(d_model)(layers.Dense(d_ff, activation="relu")({read}))
    x = {norm2}
    m = masked_mean(x, ids)
    return keras.Model(ids, layers.Dense(1, activation="sigmoid")(layers.Dense(20, activation="relu")(m)))
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


CORRECT = [
    # compiled
    """
def build_classifier(max_length=200, vocab_size=20_000, d_model=32, num_heads=2, d_ff=32):
    ids = keras.Input((max_length,), dtype="int32")
    places = ops.cumsum(ops.ones_like(ids), axis=1) - 1
    x = keras.layers.Embedding(vocab_size, d_model)(ids) + keras.layers.Embedding(max_length, d_model)(places)
    a = keras.layers.MultiHeadAttention(num_heads, key_dim=d_model)(query=x, value=x, attention_mask=ops.expand_dims(ops.not_equal(ids, 0), 1))
    x = keras.layers.LayerNormalization()(x + a)
    f = keras.layers.Dense(d_model)(keras.layers.Dense(d_ff, activation="relu")(x))
    x = keras.layers.LayerNormalization()(x + f)
    m = masked_mean(x, ids)
    h = keras.layers.Dense(20, activation="relu")(m)
    m = keras.Model(ids, keras.layers.Dense(1, activation="sigmoid")(h)); m.compile("adam", "binary_crossentropy"); return m
""",
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
    # a bare weight for the positions, input of any length, the mask of both axes
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
    h = keras.layers.MultiHeadAttention(num_heads, key_dim=d_model)(x, x, attention_mask=pairs)
    x = keras.layers.LayerNormalization()(x + h)
    h = keras.layers.Dense(d_ff, "relu")(x)
    x = keras.layers.LayerNormalization()(x + keras.layers.Dense(d_model)(h))
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
    # words times the root of the width, as Vaswani et al. have it; a feed-forward network of convolutions of width 1
    """
def build_classifier(max_length=200, vocab_size=20_000, d_model=32, num_heads=2, d_ff=32):
    L = keras.layers
    ids = keras.Input((max_length,), dtype="int32")
    places = ops.cumsum(ops.ones_like(ids), axis=1) - 1
    x = d_model**0.5 * L.Embedding(vocab_size, d_model)(ids) + L.Embedding(max_length, d_model)(places)
    words = ops.not_equal(ids, 0)
    a = L.MultiHeadAttention(num_heads, d_model, dropout=0.2)(x, x, attention_mask=words[:, None])
    x = L.LayerNormalization()(x + L.Dropout(0.2)(a))
    f = L.Conv1D(d_model, 1)(L.Conv1D(d_ff, 1, activation="relu")(x))
    x = L.LayerNormalization(epsilon=1e-5)(L.add([x, f]))
    m = L.Dropout(0.3)(masked_mean(x, ids))
    return keras.Model(ids, L.Dense(1, activation="sigmoid")(L.Dense(20, "relu")(m)))
""",
]

WRONG = [
    ("first_word_read", model(pooled="x[:, 0]")),
    ("words_maximum", model(pooled="ops.max(ops.where(ops.expand_dims(ids != 0, -1), x, -1e9), axis=1)")),
    ("words_summed", model(pooled="ops.sum(ops.where(ops.expand_dims(ids != 0, -1), x, 0), axis=1)")),
    ("attention_added_twice", TWO_SUMS.format(norm1="norm1(x + a)", read="x", norm2="norm2(x + f + a)")),
    ("norms_elsewhere", TWO_SUMS.format(norm1="x + norm1(a)", read="x", norm2="x + norm2(f)")),
    (
        "norms_elsewhere",  # before the parts
        TWO_SUMS.replace("attention(query=x, value=x", "attention(query=h, value=h")
        .replace("    a = ", "    h = norm1(x)\n    a = ")
        .format(norm1="x + a", read="norm2(x)", norm2="x + f"),
    ),
    (
        "dropout_forced",
        TWO_SUMS.format(norm1="norm1(x + a)", read="x", norm2="norm2(x + layers.Dropout(0.5)(f, training=True))"),
    ),
    ("dropout_forced", model(hidden="keras.layers.Dense(20, 'relu')(keras.layers.Dropout(0.1)(x, training=True))")),
    ("feed_forward_not_added", model(norm2="keras.layers.LayerNormalization(epsilon=1e-6)(h)")),
    ("no_relu_in_the_head", model(hidden="keras.layers.Dense(20)(x)")),
    (
        "no_relu",
        """
def build_classifier(max_length=200, vocab_size=20_000, d_model=32, num_heads=2, d_ff=32):
    ids = keras.Input((max_length,), dtype="int32")
    places = ops.cumsum(ops.ones_like(ids), axis=1) - 1
    x = keras.layers.Embedding(vocab_size, d_model)(ids) + keras.layers.Embedding(max_length, d_model)(places)
    a = keras.layers.MultiHeadAttention(num_heads, key_dim=d_model)(query=x, value=x, attention_mask=ops.expand_dims(ops.not_equal(ids, 0), 1))
    x = keras.layers.LayerNormalization()(x + a)
    f = keras.layers.Dense(d_model)(keras.layers.Dense(d_ff, activation=None)(x))
    x = keras.layers.LayerNormalization()(x + f)
    m = masked_mean(x, ids)
    h = keras.layers.Dense(20, activation="relu")(m)
    return keras.Model(ids, keras.layers.Dense(1, activation="sigmoid")(h))
""",
    ),
    (
        "relu_on_the_result",
        """
def build_classifier(max_length=200, vocab_size=20_000, d_model=32, num_heads=2, d_ff=32):
    ids = keras.Input((max_length,), dtype="int32")
    places = ops.cumsum(ops.ones_like(ids), axis=1) - 1
    x = keras.layers.Embedding(vocab_size, d_model)(ids) + keras.layers.Embedding(max_length, d_model)(places)
    a = keras.layers.MultiHeadAttention(num_heads, key_dim=d_model)(query=x, value=x, attention_mask=ops.expand_dims(ops.not_equal(ids, 0), 1))
    x = keras.layers.LayerNormalization()(x + a)
    f = keras.layers.Dense(d_model, activation="relu")(keras.layers.Dense(d_ff, activation="relu")(x))
    x = keras.layers.LayerNormalization()(x + f)
    m = masked_mean(x, ids)
    h = keras.layers.Dense(20, activation="relu")(m)
    return keras.Model(ids, keras.layers.Dense(1, activation="sigmoid")(h))
""",
    ),
    (
        "attention_not_added",
        """
def build_classifier(max_length=200, vocab_size=20_000, d_model=32, num_heads=2, d_ff=32):
    ids = keras.Input((max_length,), dtype="int32")
    places = ops.cumsum(ops.ones_like(ids), axis=1) - 1
    x = keras.layers.Embedding(vocab_size, d_model)(ids) + keras.layers.Embedding(max_length, d_model)(places)
    a = keras.layers.MultiHeadAttention(num_heads, key_dim=d_model)(query=x, value=x, attention_mask=ops.expand_dims(ops.not_equal(ids, 0), 1))
    x = keras.layers.LayerNormalization()(a)
    f = keras.layers.Dense(d_model)(keras.layers.Dense(d_ff, activation="relu")(x))
    x = keras.layers.LayerNormalization()(x + f)
    m = masked_mean(x, ids)
    h = keras.layers.Dense(20, activation="relu")(m)
    return keras.Model(ids, keras.layers.Dense(1, activation="sigmoid")(h))
""",
    ),
    (
        "flattened",
        """
def build_classifier(max_length=200, vocab_size=20_000, d_model=32, num_heads=2, d_ff=32):
    ids = keras.Input((max_length,), dtype="int32")
    places = ops.cumsum(ops.ones_like(ids), axis=1) - 1
    x = keras.layers.Embedding(vocab_size, d_model)(ids) + keras.layers.Embedding(max_length, d_model)(places)
    a = keras.layers.MultiHeadAttention(num_heads, key_dim=d_model)(query=x, value=x, attention_mask=ops.expand_dims(ops.not_equal(ids, 0), 1))
    x = keras.layers.LayerNormalization()(x + a)
    f = keras.layers.Dense(d_model)(keras.layers.Dense(d_ff, activation="relu")(x))
    x = keras.layers.LayerNormalization()(x + f)
    m = keras.layers.Flatten()(x)
    h = keras.layers.Dense(20, activation="relu")(m)
    return keras.Model(ids, keras.layers.Dense(1, activation="sigmoid")(h))
""",
    ),
    (
        "unknown_unheard",
        model(attended="attention(query=x, value=x, attention_mask=ops.expand_dims(ops.greater(ids, 1), 1))"),
    ),
    (
        "attention_causal",
        model(attended="attention(x, x, attention_mask=(ids != 0)[:, None], use_causal_mask=True)"),
    ),
    ("gelu_inside", TWO_SUMS.replace("relu", "gelu", 1).format(norm1="norm1(x + a)", read="x", norm2="norm2(x + f)")),
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
    ("maximum_of_all", model(pooled="ops.max(x, axis=1)")),
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
    (
        "",
        """
def build_classifier(max_length=200, vocab_size=20_000, d_model=32, num_heads=2, d_ff=32):
    ids = keras.Input((max_length,), dtype="int32")  # (B, T)
    places = ops.cumsum(ops.ones_like(ids), axis=1) - 1  # (B, T): 0, 1, 2, … in every row
    x = keras.layers.Embedding(vocab_size, d_model)(ids) * keras.layers.Embedding(max_length, d_model)(places)
    mask = ops.expand_dims(ops.not_equal(ids, 0), axis=1)  # (B, 1, T)
    attended = keras.layers.MultiHeadAttention(num_heads, key_dim=d_model)(x, x, attention_mask=mask)
    x = keras.layers.LayerNormalization()(x + attended)
    hidden = keras.layers.Dense(d_ff, activation="relu")(x)
    x = keras.layers.LayerNormalization()(x + keras.layers.Dense(d_model)(hidden))
    mean = masked_mean(x, ids)
    hidden = keras.layers.Dense(20, activation="relu")(mean)
    return keras.Model(ids, keras.layers.Dense(1, activation="sigmoid")(hidden))
""",
    ),
    (
        "attention_unmasked",
        """
def build_classifier(max_length=200, vocab_size=20_000, d_model=32, num_heads=2, d_ff=32):
    ids = keras.Input((max_length,), dtype="int32")  # (B, T)
    places = ops.cumsum(ops.ones_like(ids), axis=1) - 1  # (B, T): 0, 1, 2, … in every row
    x = keras.layers.Embedding(vocab_size, d_model)(ids) + keras.layers.Embedding(max_length, d_model)(places)
    mask = ops.expand_dims(ops.not_equal(ids, 0), axis=2)  # (B, 1, T)
    attended = keras.layers.MultiHeadAttention(num_heads, key_dim=d_model)(x, x, attention_mask=mask)
    x = keras.layers.LayerNormalization()(x + attended)
    hidden = keras.layers.Dense(d_ff, activation="relu")(x)
    x = keras.layers.LayerNormalization()(x + keras.layers.Dense(d_model)(hidden))
    mean = masked_mean(x, ids)
    hidden = keras.layers.Dense(20, activation="relu")(mean)
    return keras.Model(ids, keras.layers.Dense(1, activation="sigmoid")(hidden))
""",
    ),
    (
        "",
        """
def build_classifier(max_length=200, vocab_size=20_000, d_model=32, num_heads=2, d_ff=32):
    ids = keras.Input((max_length,), dtype="int32")  # (B, T)
    places = ops.cumsum(ops.ones_like(ids), axis=1) - 1  # (B, T): 0, 1, 2, … in every row
    x = keras.layers.Embedding(vocab_size, d_model)(ids) + keras.layers.Embedding(max_length, d_model)(places)
    mask = ops.expand_dims(ops.not_equal(ids, 0), axis=1)  # (B, 1, T)
    attended = keras.layers.MultiHeadAttention(num_heads, key_dim=d_model)(x, x, attention_mask=mask)
    x = keras.layers.LayerNormalization()(x + attended)
    hidden = keras.layers.Dense(d_ff, activation="relu")(x)
    kept = x
    x = keras.layers.LayerNormalization()(x + keras.layers.Dense(d_model)(hidden))
    mean = masked_mean(kept, ids)
    hidden = keras.layers.Dense(20, activation="relu")(mean)
    return keras.Model(ids, keras.layers.Dense(1, activation="sigmoid")(hidden))
""",
    ),
]
