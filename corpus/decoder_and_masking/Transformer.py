"""Lab 08, exercise `Transformer`: solutions as different students write them, right and wrong."""

from corpus.decoder_and_masking.shared import block

HELPERS = """
def waves(length, d_model):
    table = np.zeros((length, d_model), "float32")
    angle = np.arange(length)[:, None] / np.power(10000.0, np.arange(0, d_model, 2) / d_model)
    table[:, 0::2], table[:, 1::2] = np.sin(angle), np.cos(angle)
    return ops.convert_to_tensor(table)
"""

MODEL = (
    HELPERS
    + """
class Side(keras.Layer):
    def __init__(self, d_model, num_heads, d_ff, dropout, **kwargs):
        super().__init__(**kwargs)
        self.attention = keras.layers.MultiHeadAttention(num_heads, key_dim={key_dim}{inside})
        self.dense_in = keras.layers.Dense(d_ff, activation="relu")
        self.dense_out = keras.layers.Dense(d_model)
        self.norm1 = keras.layers.LayerNormalization(epsilon={epsilon})
        self.norm2 = keras.layers.LayerNormalization(epsilon={epsilon})
        self.dropout1 = keras.layers.Dropout({rate})
        self.dropout2 = keras.layers.Dropout({rate})

    def call(self, x, seen=None, training=None):
        x = self.norm1(x + self.dropout1(self.attention({encode}), training={training}))
        return self.norm2(x + self.dropout2(self.dense_out(self.dense_in(x)), training={training}))


class Transformer(keras.Model):
    def __init__(self, num_layers, d_model, num_heads, d_ff, vocab_size, max_length, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.d_model = d_model
        {tables}
        self.waves = {waves}
        self.encoders = {encoders}
        self.decoders = [DecoderBlock(d_model, num_heads, d_ff, {decoder_rate}) for _ in range(num_layers)]
        self.drop_source, self.drop_target = keras.layers.Dropout({rate}), keras.layers.Dropout({rate})

    def call(self, inputs, training=None):
        source, target = inputs
        mask = ops.not_equal(source, 0)[:, None]
        memory = self.drop_source({source}, training={training})
        outputs = [memory]
        for encoder in self.encoders:
            memory = encoder(memory, seen={seen}, training=training)
            outputs.append(memory)
        x = self.drop_target({target}, training={training})
        for number, decoder in enumerate(self.decoders):
            x = decoder(x, {memory}, memory_mask={memory_mask}, training={training})
        return {logits}
"""
)

GOOD_MODEL = {
    "key_dim": "d_model // num_heads",
    "inside": "",
    "epsilon": "1e-6",
    "rate": "dropout",
    "decoder_rate": "dropout=dropout",
    "training": "training",
    "encode": "query=x, value=x, attention_mask=seen",
    "tables": "self.table = keras.layers.Embedding(vocab_size, d_model)",
    "waves": "waves(max_length, d_model)",
    "encoders": "[Side(d_model, num_heads, d_ff, dropout) for _ in range(num_layers)]",
    "source": "self.table(source) * self.d_model**0.5 + self.waves[: ops.shape(source)[1]]",
    "target": "self.table(target) * self.d_model**0.5 + self.waves[: ops.shape(target)[1]]",
    "seen": "mask",
    "memory": "memory",
    "memory_mask": "mask",
    "logits": "x @ ops.transpose(self.table.embeddings)",
}


def model(**changes):
    """The Transformer with some of its parts changed."""
    return MODEL.format(**{**GOOD_MODEL, **changes})


CORRECT = [
    model(),
    # the table as a weight of its own, a layer and not a model, one dropout for both sides
    HELPERS
    + """
class EncoderHalf(keras.Layer):
    def __init__(self, layer, dropout):
        super().__init__()
        self.layer, self.dropout = layer, keras.layers.Dropout(dropout)
        self.norm = keras.layers.LayerNormalization(epsilon=1e-6)

    def call(self, x, training=None, **given):
        return self.norm(x + self.dropout(self.layer(x, **given), training=training))

class Transformer(keras.Layer):
    def __init__(self, num_layers, d_model, num_heads, d_ff, vocab_size, max_length, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.scale = float(np.sqrt(d_model))
        self.table = self.add_weight(shape=(vocab_size, d_model), initializer="normal", name="table")
        self.waves = waves(max_length, d_model)
        self.drop = keras.layers.Dropout(dropout)
        self.attention, self.feed, self.decoders = [], [], []
        for _ in range(num_layers):
            self.attention.append(EncoderHalf(keras.layers.MultiHeadAttention(num_heads, d_model // num_heads), dropout))
            net = keras.Sequential([keras.layers.Dense(d_ff, activation="relu"), keras.layers.Dense(d_model)])
            self.feed.append(EncoderHalf(net, dropout))
            self.decoders.append(DecoderBlock(d_model, num_heads, d_ff, dropout))

    def embed(self, ids, training):
        x = ops.take(self.table, ids, axis=0) * self.scale
        return self.drop(x + self.waves[: ops.shape(ids)[1]], training=training)

    def call(self, pair, training=None):
        source, target = pair
        real = tf.cast(tf.not_equal(source, 0), tf.int32)[:, tf.newaxis, :]
        h = self.embed(source, training)
        for attend, feed in zip(self.attention, self.feed):
            h = attend(h, training=training, value=h, attention_mask=real)
            h = feed(h, training=training)
        y = self.embed(target, training)
        for decoder in self.decoders:
            y = decoder(y, h, memory_mask=real, training=training)
        return ops.einsum("btd,vd->btv", y, self.table)
""",
    # training left to Keras; positions by a formula for each column; a dictionary of layers
    """
import math
class Stack(keras.Layer):
    def __init__(self, d_model, num_heads, d_ff, dropout):
        super().__init__()
        self.parts = {
            "attention": keras.layers.MultiHeadAttention(num_heads=num_heads, key_dim=d_model // num_heads),
            "in": keras.layers.Dense(d_ff, activation="relu"),
            "out": keras.layers.Dense(d_model),
            "norm a": keras.layers.LayerNormalization(epsilon=1e-6),
            "norm b": keras.layers.LayerNormalization(epsilon=1e-6),
            "drop a": keras.layers.Dropout(dropout),
            "drop b": keras.layers.Dropout(dropout),
        }

    def call(self, x, keys):
        p = self.parts
        x = p["norm a"](x + p["drop a"](p["attention"](x, x, attention_mask=keys)))
        return p["norm b"](x + p["drop b"](p["out"](p["in"](x))))

class Transformer(keras.Model):
    def __init__(self, num_layers, d_model, num_heads, d_ff, vocab_size, max_length, dropout=0.1):
        super().__init__()
        self.width = d_model
        self.embedding = keras.layers.Embedding(vocab_size, d_model)
        table = [[0.0] * d_model for _ in range(max_length)]
        for p in range(max_length):
            for c in range(d_model):
                angle = p / 10_000 ** ((c - c % 2) / d_model)
                table[p][c] = math.cos(angle) if c % 2 else math.sin(angle)
        self.places = ops.convert_to_tensor(np.array(table, "float32"))
        self.encoder = [Stack(d_model, num_heads, d_ff, dropout) for _ in range(num_layers)]
        self.decoder = [DecoderBlock(d_model, num_heads, d_ff, dropout=dropout) for _ in range(num_layers)]
        self.dropouts = [keras.layers.Dropout(dropout), keras.layers.Dropout(dropout)]

    def tokens(self, ids, which):
        vectors = ops.multiply(self.embedding(ids), ops.sqrt(float(self.width)))
        return self.dropouts[which](vectors + self.places[None, : ids.shape[1] or tf.shape(ids)[1]])

    def call(self, inputs, training=None):
        source, target_in = inputs[0], inputs[1]
        mask = padding_mask(source)
        memory = self.tokens(source, 0)
        for block in self.encoder:
            memory = block(memory, mask)
        y = self.tokens(target_in, 1)
        for block in self.decoder:
            y = block(y, memory, mask)
        return ops.tensordot(y, self.embedding.embeddings, axes=[[2], [1]])
""",
    # Keras's own masks: mask_zero, which masks padding in the target as well
    model(tables="self.table = keras.layers.Embedding(vocab_size, d_model, mask_zero=True)"),
    # encoder and decoder as layers of their own; the padding mask at full size
    HELPERS
    + """
class Encoder(keras.Layer):
    def __init__(self, num_layers, **sizes):
        super().__init__()
        self.blocks = [EncoderBlock(**sizes) for _ in range(num_layers)]

    def call(self, x, keys, training=None):
        for block in self.blocks:
            x = block(x, attention_mask=keys, training=training)
        return x

class Decoder(keras.Layer):
    def __init__(self, num_layers, **sizes):
        super().__init__()
        self.blocks = [DecoderBlock(**sizes) for _ in range(num_layers)]

    def call(self, x, memory, keys, training=None):
        for block in self.blocks:
            x = block(x, memory, keys, training=training)
        return x

class Transformer(keras.Model):
    def __init__(self, num_layers, d_model, num_heads, d_ff, vocab_size, max_length, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        sizes = dict(d_model=d_model, num_heads=num_heads, d_ff=d_ff, dropout=dropout)
        self.shared = keras.layers.Embedding(input_dim=vocab_size, output_dim=d_model)
        self.factor = tf.math.sqrt(tf.cast(d_model, tf.float32))
        self.position = waves(max_length, d_model)[None]
        self.encoder, self.decoder = Encoder(num_layers, **sizes), Decoder(num_layers, **sizes)
        self.dropout_layer = keras.layers.Dropout(dropout)

    def build(self, input_shape):
        self.shared.build()
        self.built = True

    def call(self, inputs, training=None):
        source, target = inputs
        sums = [self.shared(ids) * self.factor + self.position[:, : tf.shape(ids)[1]] for ids in (source, target)]
        x, y = (self.dropout_layer(each, training=training) for each in sums)
        keys = tf.not_equal(source, 0)[:, None, :]
        square = tf.repeat(keys, tf.shape(source)[1], axis=1)
        memory = self.encoder(x, square, training=training)
        y = self.decoder(y, memory, tf.repeat(keys, tf.shape(target)[1], axis=1), training=training)
        return tf.matmul(y, self.shared.embeddings, transpose_b=True)
""",
]


def rows(how):
    """Source and target embedded in the same, given way."""
    return {name: how.replace("ids", name) for name in ("source", "target")}


WRONG = [
    ("embedding_not_scaled", model(**rows("self.table(ids) + self.waves[: ops.shape(ids)[1]]"))),
    (
        "scaled_after_positions",
        model(**rows("(self.table(ids) + self.waves[: ops.shape(ids)[1]]) * self.d_model**0.5")),
    ),
    ("multiplied_by_d", model(**rows("self.table(ids) * self.d_model + self.waves[: ops.shape(ids)[1]]"))),
    ("embedding_divided", model(**rows("self.table(ids) / self.d_model**0.5 + self.waves[: ops.shape(ids)[1]]"))),
    ("positions_missing", model(**rows("self.table(ids) * self.d_model**0.5"))),
    ("positions_in_source_only", model(target="self.table(target) * self.d_model**0.5")),
    ("positions_in_target_only", model(source="self.table(source) * self.d_model**0.5")),
    (
        "",
        model(waves="tf.concat([waves(max_length, d_model)[:, 0::2], waves(max_length, d_model)[:, 1::2]], axis=1)"),
    ),
    ("positions_from_one", model(waves="waves(max_length + 1, d_model)[1:]")),
    ("encoder_sees_padding", model(seen="None")),
    ("memory_padding_seen", model(memory_mask="None")),
    (None, model(seen="None", memory_mask="None")),
    ("encoder_mask_inverted", model(seen="ops.logical_not(mask)")),
    ("encoder_causal", model(encode="query=x, value=x, attention_mask=seen, use_causal_mask=True")),
    ("decoder_not_causal", block(causal="attention_mask=None") + model()),
    ("memory_is_embedding", model(memory="outputs[0]")),
    ("memory_from_same_block", model(memory="outputs[number + 1]")),
    ("softmax_over_vocabulary", model(logits="ops.softmax(x @ ops.transpose(self.table.embeddings))")),
    ("softmax_over_positions", model(logits="ops.softmax(x @ ops.transpose(self.table.embeddings), axis=1)")),
    ("log_probabilities", model(logits="ops.log_softmax(x @ ops.transpose(self.table.embeddings))")),
    ("logits_scaled", model(logits="x @ ops.transpose(self.table.embeddings) / self.d_model**0.5")),
    ("dropout_never", model(training="False").replace("seen=mask, training=training", "seen=mask, training=False")),
    (
        "embedding_not_dropped",
        model()
        .replace("self.drop_source(", "(lambda h, training: h)(")
        .replace("self.drop_target(", "(lambda h, training: h)("),
    ),
    ("", block(inside=", dropout=dropout") + model(inside=", dropout=dropout")),
    (
        "",
        model(rate="0.1", decoder_rate="dropout=0.1"),
    ),
    (
        "table_not_shared",
        model(
            tables="self.table = keras.layers.Embedding(vocab_size, d_model); self.other = keras.layers.Embedding(vocab_size, d_model)",
            source="self.other(source) * self.d_model**0.5 + self.waves[: ops.shape(source)[1]]",
        ),
    ),
    (
        "output_layer_without_bias",
        model(
            tables="self.table = keras.layers.Embedding(vocab_size, d_model); self.out = keras.layers.Dense(vocab_size, use_bias=False)",
            logits="self.out(x)",
        ),
    ),
    (
        "output_bias",
        model(
            tables="self.table = keras.layers.Embedding(vocab_size, d_model); self.bias = self.add_weight(shape=(vocab_size,))",
            logits="x @ ops.transpose(self.table.embeddings) + self.bias",
        ),
    ),
    (
        "output_layer",
        model(
            tables="self.table = keras.layers.Embedding(vocab_size, d_model); self.out = keras.layers.Dense(vocab_size)",
            logits="self.out(x)",
        ),
    ),
    (
        "embedding_not_tracked",
        model(
            tables="self.weights_table = tf.Variable(tf.random.normal((vocab_size, d_model)))",
            logits="x @ ops.transpose(self.weights_table)",
            **rows("tf.gather(self.weights_table, ids) * self.d_model**0.5 + self.waves[: ops.shape(ids)[1]]"),
        ),
    ),
    (
        "",
        model(
            waves="keras.layers.Embedding(max_length, d_model)",
            **rows("self.table(ids) * self.d_model**0.5 + self.waves(ops.arange(ops.shape(ids)[1]))"),
        ),
    ),
    (
        "",
        model(encoders="[Side(d_model, num_heads, d_ff, dropout)] * num_layers").replace(
            "[DecoderBlock(d_model, num_heads, d_ff, dropout=dropout) for _ in range(num_layers)]",
            "[DecoderBlock(d_model, num_heads, d_ff, dropout=dropout)] * num_layers",
        ),
    ),
    ("keras_epsilon", block(epsilon="1e-3") + model(epsilon="1e-3")),
    # the encoder alone is blocked from training, or repeated, or has another epsilon
    (None, model(rate="0.1")),
    (None, model(encoders="[Side(d_model, num_heads, d_ff, dropout)] * num_layers")),
    (None, model(epsilon="1e-3")),
    (None, model().replace("seen=mask, training=training", "seen=mask, training=False")),
    # a length that is None in a graph; `training` by position
    (None, model(**rows("self.table(ids) * self.d_model**0.5 + self.waves[: ids.shape[1]]"))),
    (None, model().replace("memory_mask=mask, training=training", "mask, training")),
    # the loop ends with its first block
    (
        "blocks_side_by_side",
        model().replace("        return x @", "            return x @"),
    ),
    # gradients of the table come from the output alone
    (
        None,
        model(**rows("ops.stop_gradient(self.table(ids)) * self.d_model**0.5 + self.waves[: ops.shape(ids)[1]]")),
    ),
    # the target is shifted once more inside
    (
        None,
        model(target="self.table(shift_right(target, 2)) * self.d_model**0.5 + self.waves[: ops.shape(target)[1]]"),
    ),
    # positions as sines in the left half and cosines in the right one
    (
        None,
        model(
            waves="ops.concatenate([waves(max_length, d_model)[:, 0::2], waves(max_length, d_model)[:, 1::2]], axis=1)"
        ),
    ),
    # nothing of the source
    (None, model(memory="0 * memory")),
    (None, model(logits="x")),
    (None, "def Transformer(*sizes):\n    return None"),
    # what `embed` does too much
    (
        "padding_erased",
        model(
            **rows(
                "(self.table(ids) * self.d_model**0.5 + self.waves[: ops.shape(ids)[1]]) * ops.cast(ids != 0, 'float32')[..., None]"
            )
        ),
    ),
    (
        "embedding_dropped_twice",
        model(**rows("self.drop_source(self.table(ids) * self.d_model**0.5 + self.waves[: ops.shape(ids)[1]])")),
    ),
    # blocks that do not read each other; an encoder block that is another one
    (
        "blocks_side_by_side",
        model()
        .replace("x = decoder(x,", "y = decoder(x,")
        .replace("return x @", "return (y if self.decoders else x) @"),
    ),
    (
        "encoder_pre_norm",
        model()
        .replace(
            "x = self.norm1(x + self.dropout1(self.attention(query=x, value=x, attention_mask=seen), training=training))",
            "h = self.norm1(x); x = x + self.dropout1(self.attention(query=h, value=h, attention_mask=seen), training=training)",
        )
        .replace(
            "self.norm2(x + self.dropout2(self.dense_out(self.dense_in(x)), training=training))",
            "x + self.dropout2(self.dense_out(self.dense_in(self.norm2(x))), training=training)",
        ),
    ),
    (
        "encoder_is_decoder",
        """
class Side(DecoderBlock):
    def call(self, x, seen=None, training=None):
        return super().call(x, x, seen, training=training)
"""
        + model().replace("class Side(", "class Unused("),
    ),
]
