"""Lab 08, exercise `DecoderBlock`: solutions as different students write them, right and wrong."""

from corpus.decoder_and_masking.shared import block

CORRECT = [
    block(),
    # a mask of the student's own; residuals by name; feed-forward as a layer whose second Dense is made first
    """
class Net(keras.Layer):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.out = keras.layers.Dense(d_model)
        self.hidden = keras.layers.Dense(d_ff)

    def call(self, x):
        return self.out(ops.relu(self.hidden(x)))

class DecoderBlock(keras.layers.Layer):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__()
        width = d_model // num_heads
        self.self_attention = keras.layers.MultiHeadAttention(num_heads=num_heads, key_dim=width, value_dim=width)
        self.cross_attention = keras.layers.MultiHeadAttention(num_heads=num_heads, key_dim=width, value_dim=width)
        self.feed_forward = Net(d_model, d_ff)
        for i in (1, 2, 3):
            setattr(self, f"norm{i}", keras.layers.LayerNormalization(epsilon=1e-6))
            setattr(self, f"dropout{i}", keras.layers.Dropout(dropout))

    def call(self, x, memory, memory_mask=None, training=None):
        length = ops.shape(x)[1]
        place = ops.arange(length)
        mask = ops.expand_dims(place[:, None] >= place[None, :], 0)
        residual = x
        x = self.self_attention(query=x, key=x, value=x, attention_mask=mask, training=training)
        x = self.norm1(residual + self.dropout1(x, training=training))
        residual = x
        x = self.cross_attention(query=x, key=memory, value=memory, attention_mask=memory_mask, training=training)
        x = self.norm2(residual + self.dropout2(x, training=training))
        residual = x
        x = self.feed_forward(x)
        return self.norm3(residual + self.dropout3(x, training=training))
""",
    # everything made in build; training handed down by Keras; the mask cast and brought to rank 4
    """
class DecoderBlock(keras.Layer):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1, name=None, trainable=True, dtype=None):
        super().__init__(name=name, trainable=trainable, dtype=dtype)
        self.sizes = (d_model, num_heads, d_ff, dropout)

    def build(self, x_shape, memory_shape=None, memory_mask_shape=None):
        d_model, num_heads, d_ff, dropout = self.sizes
        make = lambda: keras.layers.MultiHeadAttention(num_heads, d_model // num_heads)
        self.self_attention, self.cross_attention = make(), make()
        self.feed_forward = keras.Sequential()
        self.feed_forward.add(keras.layers.Dense(d_ff))
        self.feed_forward.add(keras.layers.ReLU())
        self.feed_forward.add(keras.layers.Dense(d_model))
        self.norm1, self.norm2, self.norm3 = [keras.layers.LayerNormalization(epsilon=1e-6) for _ in range(3)]
        self.dropout1, self.dropout2, self.dropout3 = [keras.layers.Dropout(dropout) for _ in range(3)]

    def call(self, x, memory, memory_mask=None, training=None):
        if memory_mask is not None:
            memory_mask = tf.cast(memory_mask, tf.bool)
            memory_mask = memory_mask[None, None] if len(memory_mask.shape) == 2 else memory_mask[:, None]
        x = self.norm1(keras.layers.add([x, self.dropout1(self.self_attention(x, x, use_causal_mask=True))]))
        x = self.norm2(keras.layers.add([x, self.dropout2(self.cross_attention(x, memory, attention_mask=memory_mask))]))
        return self.norm3(keras.layers.add([x, self.dropout3(self.feed_forward(x))]))
""",
    # one helper for the three halves; a model instead of a layer; a functional feed-forward network
    """
class DecoderBlock(keras.Model):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.self_attention = keras.layers.MultiHeadAttention(num_heads=num_heads, key_dim=int(d_model / num_heads))
        self.cross_attention = keras.layers.MultiHeadAttention(num_heads=num_heads, key_dim=int(d_model / num_heads))
        tokens = keras.Input((None, d_model))
        hidden = keras.layers.Dense(d_ff, activation="relu")(tokens)
        self.feed_forward = keras.Model(tokens, keras.layers.Dense(d_model)(hidden))
        self.norm1 = keras.layers.LayerNormalization(axis=-1, epsilon=1e-6)
        self.norm2 = keras.layers.LayerNormalization(axis=-1, epsilon=1e-6)
        self.norm3 = keras.layers.LayerNormalization(axis=-1, epsilon=1e-6)
        self.dropout1 = keras.layers.Dropout(rate=dropout)
        self.dropout2 = keras.layers.Dropout(rate=dropout)
        self.dropout3 = keras.layers.Dropout(rate=dropout)

    def half(self, x, result, number, training):
        dropout, norm = getattr(self, f"dropout{number}"), getattr(self, f"norm{number}")
        return norm(x + dropout(result, training=training))

    def call(self, x, memory, memory_mask=None, training=False):
        size = tf.shape(x)[1]
        triangle = tf.linalg.band_part(tf.ones((size, size), tf.int32), -1, 0)
        x = self.half(x, self.self_attention(x, x, attention_mask=triangle), 1, training)
        x = self.half(x, self.cross_attention(x, memory, attention_mask=memory_mask), 2, training)
        return self.half(x, self.feed_forward(x), 3, training)
""",
    # a dropout of the student's own, attention scores asked for, key before value
    """
class MyDropout(keras.layers.Layer):
    def __init__(self, rate, **kwargs):
        super().__init__(**kwargs)
        self.rate = rate
        self.seed_generator = keras.random.SeedGenerator(3)

    def call(self, x, training=False):
        if not training:
            return x
        kept = keras.random.uniform(ops.shape(x), seed=self.seed_generator) >= self.rate
        return ops.where(kept, x / (1 - self.rate), 0.0)

class DecoderBlock(keras.Layer):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.self_attention = keras.layers.MultiHeadAttention(num_heads, d_model // num_heads, flash_attention=False)
        self.cross_attention = keras.layers.MultiHeadAttention(num_heads, d_model // num_heads, flash_attention=False)
        self.feed_forward = keras.Sequential([keras.layers.Dense(d_ff, activation="relu"), keras.layers.Dense(d_model)])
        self.norm1 = keras.layers.LayerNormalization(epsilon=0.000001)
        self.norm2 = keras.layers.LayerNormalization(epsilon=0.000001)
        self.norm3 = keras.layers.LayerNormalization(epsilon=0.000001)
        self.dropout1, self.dropout2, self.dropout3 = MyDropout(dropout), MyDropout(dropout), MyDropout(dropout)

    def call(self, x, memory, memory_mask=None, training=None):
        h, _ = self.self_attention(query=x, key=x, value=x, use_causal_mask=True, return_attention_scores=True)
        x = self.norm1(ops.add(x, self.dropout1(h, training=training)))
        h, self.last_scores = self.cross_attention(
            query=x, key=memory, value=memory, attention_mask=memory_mask, return_attention_scores=True
        )
        x = self.norm2(ops.add(x, self.dropout2(h, training=training)))
        return self.norm3(ops.add(x, self.dropout3(self.feed_forward(x), training=training)))

    def get_config(self):
        return super().get_config()
""",
    # two Dense of one's own around tf.nn.relu, the padding mask spread over the queries
    """
class Mlp(keras.layers.Layer):
    def __init__(self, width, hidden):
        super().__init__()
        self.width, self.hidden = width, hidden

    def build(self, shape):
        self.w1 = self.add_weight(shape=(self.width, self.hidden))
        self.b1 = self.add_weight(shape=(self.hidden,), initializer="zeros")
        self.w2 = self.add_weight(shape=(self.hidden, self.width))
        self.b2 = self.add_weight(shape=(self.width,), initializer="zeros")

    def call(self, x):
        return ops.einsum("btf,fd->btd", tf.nn.relu(ops.einsum("btd,df->btf", x, self.w1) + self.b1), self.w2) + self.b2

class DecoderBlock(keras.Layer):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.self_attention = keras.layers.MultiHeadAttention(num_heads, d_model // num_heads)
        self.cross_attention = keras.layers.MultiHeadAttention(num_heads, d_model // num_heads)
        self.feed_forward = Mlp(d_model, d_ff)
        self.norm1, self.norm2, self.norm3 = (keras.layers.LayerNormalization(epsilon=1e-6) for _ in "abc")
        self.dropout1, self.dropout2, self.dropout3 = (keras.layers.Dropout(dropout) for _ in "abc")

    def call(self, x, memory, memory_mask=None, training=None):
        if memory_mask is None:
            memory_mask = ops.ones((1, 1, ops.shape(memory)[1]), "bool")
        seen = ops.logical_and(ops.ones((ops.shape(x)[1], 1), "bool"), ops.cast(memory_mask, "bool"))
        h = self.self_attention(x, x, x, use_causal_mask=True, training=training)
        x = self.norm1(self.dropout1(h, training=training) + x)
        h = self.cross_attention(x, memory, memory, attention_mask=seen, training=training)
        x = self.norm2(self.dropout2(h, training=training) + x)
        return self.norm3(self.dropout3(self.feed_forward(x), training=training) + x)
""",
]

THREE = """
        x = self.norm1(x + self.dropout1({one}, training=training))
        y = self.norm2({base2} + self.dropout2({two}, training=training))
        return self.norm3({base3} + self.dropout3({three}, training=training))
"""

GOOD_THREE = {
    "one": "self.self_attention(query=x, value=x, use_causal_mask=True)",
    "two": "self.cross_attention(query=x, value=memory, attention_mask=memory_mask)",
    "three": "self.feed_forward(y)",
    "base2": "x",
    "base3": "y",
}


def halves(**changes):
    """The decoder block, line by line, with some parts changed; `first` is its input, x the first sum, y the second."""
    return block(body=THREE.format(**{**GOOD_THREE, **changes}))


WRONG = [
    ("not_causal", block(causal="attention_mask=None")),
    ("not_causal", block(causal="training=training")),
    ("causal_reversed", block(causal="attention_mask=np.triu(np.ones((x.shape[1], x.shape[1]), bool))")),
    ("causal_inverted", block(causal="attention_mask=np.triu(np.ones((x.shape[1], x.shape[1]), bool), 1)")),
    ("itself_hidden", block(causal="attention_mask=np.tril(np.ones((x.shape[1], x.shape[1]), bool), -1)")),
    ("cross_attention_causal", block(cross="query=x, value=memory, attention_mask=memory_mask, use_causal_mask=True")),
    ("cross_causal_unmasked", block(cross="query=x, value=memory, use_causal_mask=True")),
    (
        "",
        block(causal="attention_mask=None", cross="x, memory, attention_mask=memory_mask, use_causal_mask=True"),
    ),
    ("memory_mask_ignored", block(cross="query=x, value=memory")),
    (
        "memory_mask_ignored",
        block(
            cross="x, memory, memory, memory_mask[:, 0] if memory_mask is not None and len(memory_mask.shape) == 3 and memory_mask.shape[1] == x.shape[1] else None"
        ),
    ),
    (
        "memory_mask_inverted",
        block(
            cross="query=x, value=memory, attention_mask=None if memory_mask is None else 1 - ops.cast(memory_mask, 'int32')"
        ),
    ),
    ("cross_attends_to_itself", block(cross="query=x, value=x")),
    (
        "cross_query_from_input",
        halves(two="self.cross_attention(query=first, value=memory, attention_mask=memory_mask)"),
    ),
    ("second_residual_from_input", halves(base2="first")),
    ("third_residual_from_input", halves(base3="first")),
    ("third_residual_from_first", halves(base3="x")),
    ("feed_forward_from_first", halves(three="self.feed_forward(x)")),
    ("feed_forward_from_input", halves(three="self.feed_forward(first)")),
    ("no_second_residual", halves(base2="0")),
    ("no_third_residual", halves(base3="0")),
    (
        "cross_attention_first",
        block(
            body="""
        x = self.norm1(x + self.dropout1(self.cross_attention(query=x, value=memory, attention_mask=memory_mask), training=training))
        x = self.norm2(x + self.dropout2(self.self_attention(query=x, value=x, use_causal_mask=True), training=training))
        return self.norm3(x + self.dropout3(self.feed_forward(x), training=training))
"""
        ),
    ),
    (
        "norm_used_twice",
        block(
            body="""
        x = self.norm1(x + self.dropout1(self.self_attention(query=x, value=x, use_causal_mask=True), training=training))
        x = self.norm2(x + self.dropout2(self.cross_attention({cross}), training=training))
        return self.norm2(x + self.dropout3(self.feed_forward(x), training=training)) + 0 * self.norm3(x)
"""
        ),
    ),
    (
        "pre_norm",
        block(
            body="""
        h = self.norm1(x)
        x = x + self.dropout1(self.self_attention(query=h, value=h, use_causal_mask=True), training=training)
        h = self.norm2(x)
        x = x + self.dropout2(self.cross_attention(query=h, value=memory, attention_mask=memory_mask), training=training)
        return x + self.dropout3(self.feed_forward(self.norm3(x)), training=training)
"""
        ),
    ),
    (
        "norm_before_sum",
        block(
            body="""
        x = x + self.norm1(self.dropout1(self.self_attention(query=x, value=x, use_causal_mask=True), training=training))
        x = x + self.norm2(self.dropout2(self.cross_attention({cross}), training=training))
        return x + self.norm3(self.dropout3(self.feed_forward(x), training=training))
"""
        ),
    ),
    (
        "dropout_after_sum",
        block(
            body="""
        x = self.norm1(self.dropout1(x + self.self_attention(query=x, value=x, use_causal_mask=True), training=training))
        x = self.norm2(self.dropout2(x + self.cross_attention({cross}), training=training))
        return self.norm3(self.dropout3(x + self.feed_forward(x), training=training))
"""
        ),
    ),
    ("dropout_never", block(training="False", third="False")),
    ("dropout_always", block(training="True", third="True")),
    ("third_dropout_missing", block(third="False")),
    (
        "first_dropout_missing",
        halves().replace("self.dropout1(self.self_attention", "(lambda h, training: h)(self.self_attention"),
    ),
    # lengths that are None in a graph; a mask of the memory for the target's tokens, too
    (None, block(causal="attention_mask=causal_mask(x.shape[1])[None]")),
    (None, block(causal="attention_mask=memory_mask, use_causal_mask=True")),
    ("keras_epsilon", block(epsilon="1e-3")),
    ("", block(key_dim="d_model")),
    ("", block(activation="None")),
    ("", block(activation='"gelu"')),
    # a property or the contract says so
    (None, block(rate="0.5 * dropout")),
    (None, block(inside=", dropout=dropout")),
    (None, block(cross="query=memory, value=x")),
    (None, block(cross="x, memory, memory_mask")),
    (None, block(body="        return self.norm1(self.self_attention(x, x))")),
    (
        None,
        block().replace(
            "super().__init__(**kwargs)",
            "super().__init__(**kwargs)\n        self.extra = self.add_weight(shape=(3,))",
        ),
    ),
    (None, halves(three="tf.constant(self.feed_forward(y).numpy())")),
    # cross-attention first, each attention with its own norm and dropout
    (
        "cross_lines_first",
        block(
            body="""
        x = self.norm2(x + self.dropout2(self.cross_attention({cross}), training={training}))
        x = self.norm1(x + self.dropout1(self.self_attention(query=x, value=x, {causal}), training={training}))
        return self.norm3(x + self.dropout3(self.feed_forward(x), training={third}))
"""
        ),
    ),
    ("causal_in_training_only", block(causal="use_causal_mask=bool(training)")),
    # Keras 3.15 refuses a mask in the place of `query_mask`
    (None, block(cross="x, memory, memory, memory_mask")),
]
