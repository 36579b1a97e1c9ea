"""Lab 08: solutions as different students write them."""

HELPERS = """
def waves(length, d_model):
    table = np.zeros((length, d_model), "float32")
    angle = np.arange(length)[:, None] / np.power(10000.0, np.arange(0, d_model, 2) / d_model)
    table[:, 0::2], table[:, 1::2] = np.sin(angle), np.cos(angle)
    return ops.convert_to_tensor(table)
"""

BLOCK = """
class DecoderBlock(keras.Layer):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.self_attention = keras.layers.MultiHeadAttention(num_heads, key_dim={key_dim}{inside})
        self.cross_attention = keras.layers.MultiHeadAttention(num_heads, key_dim={key_dim}{inside})
        self.feed_forward = keras.Sequential([keras.layers.Dense(d_ff, activation={activation}), keras.layers.Dense(d_model)])
        self.norm1 = keras.layers.LayerNormalization(epsilon={epsilon})
        self.norm2 = keras.layers.LayerNormalization(epsilon={epsilon})
        self.norm3 = keras.layers.LayerNormalization(epsilon={epsilon})
        self.dropout1 = keras.layers.Dropout({rate})
        self.dropout2 = keras.layers.Dropout({rate})
        self.dropout3 = keras.layers.Dropout({rate})

    def call(self, x, memory, memory_mask=None, training=None):
        first = x
{body}
"""
GOOD_BLOCK = {
    "key_dim": "d_model // num_heads",
    "inside": "",
    "activation": '"relu"',
    "epsilon": "1e-6",
    "rate": "dropout",
    "causal": "use_causal_mask=True",
    "cross": "query=x, value=memory, attention_mask=memory_mask",
    "training": "training",
    "third": "training",
    "body": """
        x = self.norm1(x + self.dropout1(self.self_attention(query=x, value=x, {causal}), training={training}))
        x = self.norm2(x + self.dropout2(self.cross_attention({cross}), training={training}))
        return self.norm3(x + self.dropout3(self.feed_forward(x), training={third}))
""",
}


def block(**changes):
    """The decoder block with some of its parts changed."""
    parts = {**GOOD_BLOCK, **changes}
    parts["body"] = parts["body"].format(**parts)
    return BLOCK.format(**parts)


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


def rows(how):
    """Source and target embedded in the same, given way."""
    return {name: how.replace("ids", name) for name in ("source", "target")}


def loss(losses="-ops.sum(wanted * log_p, axis=-1)", end="ops.sum(losses * real) / ops.sum(real)", **changes):
    """The loss with some of its parts changed."""
    parts = {
        "log_p": "ops.log_softmax(logits, axis=-1)",
        "spread": "label_smoothing / size",
        "wanted": "(1 - label_smoothing) * hot + spread",
        "real": "ops.not_equal(targets, pad_id)",
    }
    parts |= changes
    return f"""
def masked_cross_entropy(logits, targets, pad_id=0, label_smoothing=0.0):
    logits = ops.convert_to_tensor(logits)
    size = logits.shape[-1]
    log_p = {parts["log_p"]}
    hot = ops.one_hot(targets, size, dtype=logits.dtype)
    spread = {parts["spread"]}
    wanted = {parts["wanted"]}
    losses = {losses}
    real = ops.cast({parts["real"]}, logits.dtype)
    return {end}
"""


def divergence(name, body):
    """A function of two distributions with the given last lines."""
    return f"""
def {name}(p, q):
    p, q = np.asarray(p, "float64"), np.asarray(q, "float64")
    {body}
"""


ANSWERS = {
    "base_model": "[512, 8, 2048, 6]",
    "inference": '"b"',
    "vocabulary": '"c"',
    "untracked": '"a"',
}


def answered(**changes):
    """The answers with some of them changed."""
    return "answers = {" + ", ".join(f'"{key}": {value}' for key, value in {**ANSWERS, **changes}.items()) + "}"


CORRECT = {
    "causal_mask": [
        "def causal_mask(length):\n    return np.tril(np.ones((length, length), dtype=bool))",
        "def causal_mask(length):\n    return tf.linalg.band_part(tf.ones((length, length), tf.bool), -1, 0)",
        "def causal_mask(length):\n    return tf.cast(tf.linalg.band_part(tf.ones((length, length)), -1, 0), tf.int32)",
        "def causal_mask(length):\n    return [[s <= t for s in range(length)] for t in range(length)]",
        "def causal_mask(length):\n    place = ops.arange(length)\n    return ops.expand_dims(place, 1) >= place",
        "def causal_mask(length):\n    return 1 - np.triu(np.ones((length, length)), k=1)",
        "def causal_mask(length):\n    return ~np.triu(np.full((length, length), True), 1)",
        "def causal_mask(length):\n    return np.tri(length)",
    ],
    "padding_mask": [
        "def padding_mask(ids, pad_id=0):\n    return (np.asarray(ids) != pad_id)[:, np.newaxis, :]",
        "def padding_mask(ids, pad_id=0):\n    return tf.math.not_equal(ids, pad_id)[:, tf.newaxis]",
        "def padding_mask(ids, pad_id=0):\n    return ops.expand_dims(ops.logical_not(ops.equal(ids, pad_id)), axis=1)",
        "def padding_mask(ids, pad_id=0):\n    ids = np.array(ids)\n    return np.where(ids == pad_id, 0, 1).reshape(len(ids), 1, -1)",
        "def padding_mask(ids, pad_id=0):\n    return [[[int(i) != pad_id for i in row]] for row in np.asarray(ids)]",
        "def padding_mask(ids, pad_id=0):\n    return tf.expand_dims(tf.cast(tf.not_equal(ids, tf.cast(pad_id, tf.convert_to_tensor(ids).dtype)), 'float32'), -2)",
    ],
    "combine_masks": [
        """
from functools import reduce
def combine_masks(*masks):
    masks = [tf.cast(mask, tf.bool) for mask in masks if mask is not None]
    return reduce(tf.logical_and, masks) if masks else None
""",
        """
def combine_masks(*masks):
    masks = [np.asarray(mask).astype(bool) for mask in masks if mask is not None]
    if not masks:
        return None
    result = np.ones((), dtype=bool)
    for mask in masks:
        result = result & mask
    return result
""",
        # a product of numbers
        """
def combine_masks(*masks):
    product = 1
    for mask in masks:
        if mask is not None:
            product = product * np.asarray(mask, "int64")
    return None if isinstance(product, int) else product
""",
        # the smallest of all
        """
def combine_masks(*masks):
    kept = [ops.cast(mask, "int32") for mask in masks if mask is not None]
    if len(kept) == 0:
        return None
    smallest = kept[0]
    for other in kept[1:]:
        smallest = ops.minimum(smallest, other)
    return ops.cast(smallest, "bool")
""",
        # by what is blocked, recursively
        """
def combine_masks(*masks):
    if not masks:
        return None
    rest = combine_masks(*masks[1:])
    if masks[0] is None or rest is None:
        return rest if masks[0] is None else tf.cast(masks[0], "bool")
    return tf.logical_not(tf.logical_or(tf.logical_not(tf.cast(masks[0], "bool")), tf.logical_not(rest)))
""",
        """
def combine_masks(*masks):
    masks = [np.array(m) for m in masks if m is not None]
    if masks:
        return np.all(np.stack([m != 0 for m in np.broadcast_arrays(*masks)]), axis=0)
""",
    ],
    "shift_right": [
        """
def shift_right(ids, start_id):
    ids = np.array(ids)
    shifted = np.roll(ids, 1, axis=1)
    shifted[:, 0] = start_id
    return shifted
""",
        "def shift_right(ids, start_id):\n    return tf.pad(ids, [[0, 0], [1, 0]], constant_values=start_id)[:, :-1]",
        "def shift_right(ids, start_id):\n    ids = np.asarray(ids)\n    return np.hstack([np.full((len(ids), 1), start_id), ids[:, :-1]])",
        "def shift_right(ids, start_id):\n    return [[start_id, *row[:-1]] for row in np.asarray(ids).tolist()]",
        """
def shift_right(ids, start_id):
    ids = tf.convert_to_tensor(ids)
    start = tf.fill([tf.shape(ids)[0], 1], tf.cast(start_id, ids.dtype))
    return tf.concat([start, ids[:, :-1]], axis=-1)
""",
        "def shift_right(ids, start_id):\n    return np.insert(np.asarray(ids), 0, start_id, axis=1)[:, : np.shape(ids)[1]]",
    ],
    "DecoderBlock": [
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
    ],
    "Transformer": [
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
    ],
    "cross_entropy": [
        divergence("cross_entropy", "return -sum(a * np.log(b) if b > 0 else -np.inf for a, b in zip(p, q) if a > 0)"),
        divergence(
            "cross_entropy", "with np.errstate(all='ignore'):\n        return -np.where(p == 0, 0, p * np.log(q)).sum()"
        ),
        # math.log, loops
        """
import math
def cross_entropy(p, q):
    total = 0.0
    for a, b in zip(np.asarray(p).tolist(), np.asarray(q).tolist()):
        if a == 0:
            continue
        if b == 0:
            return float("inf")
        total -= a * math.log(b)
    return total
""",
        "from scipy.special import xlogy\ndef cross_entropy(p, q):\n    return -xlogy(np.asarray(p), np.asarray(q)).sum()",
        "def cross_entropy(p, q):\n    return -tf.reduce_sum(tf.math.xlogy(tf.convert_to_tensor(p), tf.convert_to_tensor(q)))",
        """
def cross_entropy(p, q):
    p, q = ops.convert_to_tensor(p), ops.convert_to_tensor(q)
    safe = ops.where(p > 0, q, ops.ones_like(q))
    return -ops.sum(p * ops.log(safe))
""",
        "from scipy.special import rel_entr, entr\ndef cross_entropy(p, q):\n    p, q = np.asarray(p), np.asarray(q)\n    return rel_entr(p, q).sum() + entr(p).sum()",
    ],
    "kl_divergence": [
        "from scipy.special import rel_entr\ndef kl_divergence(p, q):\n    return rel_entr(np.asarray(p), np.asarray(q)).sum()",
        "def kl_divergence(p, q):\n    return cross_entropy(p, q) - cross_entropy(p, p)",
        divergence(
            "kl_divergence", "return sum(a * (np.log(a) - np.log(b)) if b else np.inf for a, b in zip(p, q) if a)"
        ),
        """
def kl_divergence(p, q):
    p, q = tf.convert_to_tensor(p), tf.convert_to_tensor(q)
    return tf.reduce_sum(tf.math.xlogy(p, p) - tf.math.xlogy(p, q))
""",
        """
def kl_divergence(p, q):
    p, q = ops.convert_to_tensor(p), ops.convert_to_tensor(q)
    used = p > 0
    ratio = ops.where(used, p, 1) / ops.where(used, q, 1)
    return ops.sum(p * ops.log(ratio))
""",
        "from scipy.stats import entropy\ndef kl_divergence(p, q):\n    return entropy(np.asarray(p, 'float64'), np.asarray(q, 'float64'))",
    ],
    "js_divergence": [
        "from scipy.spatial.distance import jensenshannon\ndef js_divergence(p, q):\n    return jensenshannon(np.asarray(p), np.asarray(q)) ** 2",
        "def js_divergence(p, q):\n    m = 0.5 * (p + q)\n    return 0.5 * kl_divergence(p, m) + 0.5 * kl_divergence(q, m)",
        # entropy of the middle minus the mean entropy
        """
def js_divergence(p, q):
    def entropy(r):
        return -sum(x * np.log(x) for x in np.asarray(r, "float64") if x > 0)
    return entropy((np.asarray(p) + np.asarray(q)) / 2) - (entropy(p) + entropy(q)) / 2
""",
        """
def js_divergence(p, q):
    p, q = tf.cast(p, tf.float64), tf.cast(q, tf.float64)
    m = (p + q) / 2
    return sum(tf.reduce_sum(tf.math.xlogy(r, r) - tf.math.xlogy(r, m)) for r in (p, q)) / 2
""",
        """
import math
def js_divergence(p, q):
    total = 0
    for a, b in zip(np.asarray(p), np.asarray(q)):
        for one in (a, b):
            if one > 0:
                total += one * math.log(2 * one / (a + b))
    return total / 2
""",
        "def js_divergence(p, q):\n    m = ops.mean(ops.stack([p, q]), axis=0)\n    return np.mean([kl_divergence(p, m), kl_divergence(q, m)])",
    ],
    "masked_cross_entropy": [
        loss(),
        # Keras's own loss, without reduction
        """
def masked_cross_entropy(logits, targets, pad_id=0, label_smoothing=0.0):
    logits = ops.convert_to_tensor(logits)
    hot = ops.one_hot(targets, logits.shape[-1], dtype=logits.dtype)
    function = keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=label_smoothing, reduction=None)
    losses = function(hot, logits)
    real = ops.cast(ops.not_equal(targets, pad_id), losses.dtype)
    return ops.sum(losses * real) / ops.sum(real)
""",
        # TensorFlow, by picking
        """
def masked_cross_entropy(logits, targets, pad_id=0, label_smoothing=0.0):
    log_p = tf.nn.log_softmax(logits)
    hard = -tf.gather(log_p, targets, axis=-1, batch_dims=2)
    soft = -tf.reduce_mean(log_p, axis=-1)
    each = (1 - label_smoothing) * hard + label_smoothing * soft
    return tf.reduce_mean(tf.boolean_mask(each, tf.not_equal(targets, pad_id)))
""",
        # logsumexp
        """
def masked_cross_entropy(logits, targets, pad_id=0, label_smoothing=0.0):
    logits = ops.convert_to_tensor(logits)
    total = ops.logsumexp(logits, axis=-1)
    right = ops.squeeze(ops.take_along_axis(logits, ops.expand_dims(ops.cast(targets, "int32"), -1), axis=-1), -1)
    target_logit = (1 - label_smoothing) * right + label_smoothing * ops.mean(logits, axis=-1)
    real = ops.not_equal(targets, pad_id)
    losses = ops.where(real, total - target_logit, 0.0)
    return ops.sum(losses) / ops.cast(ops.count_nonzero(real), losses.dtype)
""",
        # sparse loss, smoothing added by hand; weights normalised first
        """
def masked_cross_entropy(logits, targets, pad_id=0, label_smoothing=0.0):
    sparse = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=targets, logits=logits)
    even = tf.reduce_logsumexp(logits, axis=-1) - tf.reduce_mean(logits, axis=-1)
    weights = tf.cast(tf.math.not_equal(targets, pad_id), tf.float32)
    weights = weights / tf.reduce_sum(weights)
    return tf.reduce_sum(weights * (sparse * (1.0 - label_smoothing) + even * label_smoothing))
""",
        # flattened first
        """
def masked_cross_entropy(logits, targets, pad_id=0, label_smoothing=0.0):
    size = np.shape(logits)[-1] if isinstance(logits, np.ndarray) else logits.shape[-1]
    flat, ids = tf.reshape(logits, [-1, size]), tf.reshape(targets, [-1])
    keep = tf.where(ids != pad_id)[:, 0]
    flat, ids = tf.gather(flat, keep), tf.gather(ids, keep)
    wanted = tf.one_hot(ids, size, on_value=1 - label_smoothing + label_smoothing / size, off_value=label_smoothing / size)
    return tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=wanted, logits=flat))
""",
    ],
    "transformer_schedule": [
        """
def transformer_schedule(step, d_model, warmup_steps=4000):
    step = 1 if step == 0 else step
    return 1 / np.sqrt(d_model) * np.minimum(1 / np.sqrt(step), step / warmup_steps**1.5)
""",
        """
def transformer_schedule(step, d_model, warmup_steps=4000):
    step = float(step or 1)
    if step < warmup_steps:
        return d_model**-0.5 * step * warmup_steps**-1.5
    return (d_model * step) ** -0.5
""",
        """
def transformer_schedule(step, d_model, warmup_steps=4000):
    step = tf.maximum(tf.cast(step, tf.float32), 1.0)
    return tf.math.rsqrt(tf.cast(d_model, tf.float32)) * tf.minimum(tf.math.rsqrt(step), step * warmup_steps**-1.5)
""",
        """
import math
def transformer_schedule(step, d_model, warmup_steps=4000):
    step = max(1, step)
    peak = 1 / math.sqrt(d_model * warmup_steps)
    return peak * min(math.sqrt(warmup_steps / step), step / warmup_steps)
""",
        "def transformer_schedule(step, d_model, warmup_steps=4000):\n    step += not step\n    return sorted([step**-0.5, step * warmup_steps**-1.5])[0] / d_model**0.5",
    ],
    "answers": [
        answered(),
        answered(inference='"B"'),
        answered(base_model="(512.0, 8, 2048, 6)", untracked='" a "'),
        answered(vocabulary='"(c)"'),
        answered(base_model="np.array([512, 8, 2048, 6])"),
    ],
    "find_the_bug": [
        "find_the_bug = masked_cross_entropy",
        """
def find_the_bug(logits, targets, pad_id=0, label_smoothing=0.0):
    logits = ops.convert_to_tensor(logits)
    real = ops.cast(ops.not_equal(targets, pad_id), logits.dtype)
    wanted = ops.one_hot(targets, logits.shape[-1], dtype=logits.dtype)
    wanted = wanted * (1 - label_smoothing) + label_smoothing / logits.shape[-1]
    losses = ops.sum(-wanted * ops.log_softmax(logits), axis=-1)
    return ops.sum(losses * real) / ops.sum(real)
""",
        """
def find_the_bug(logits, targets, pad_id=0, label_smoothing=0.0):
    logits = tf.convert_to_tensor(logits)
    real = tf.cast(tf.not_equal(targets, pad_id), logits.dtype)[..., tf.newaxis]
    wanted = (1 - label_smoothing) * tf.one_hot(targets, logits.shape[-1], dtype=logits.dtype) + label_smoothing / logits.shape[-1]
    losses = -wanted * real * tf.nn.log_softmax(logits)
    return tf.reduce_sum(losses) / tf.reduce_sum(real)
""",
        """
def find_the_bug(logits, targets, pad_id=0, label_smoothing=0.0):
    logits = ops.convert_to_tensor(logits)
    real = ops.not_equal(targets, pad_id)[..., None]
    wanted = (1 - label_smoothing) * ops.one_hot(targets, logits.shape[-1], dtype=logits.dtype) + label_smoothing / logits.shape[-1]
    losses = ops.where(real, -wanted * ops.log_softmax(logits, axis=-1), 0)
    return ops.sum(losses) / ops.sum(ops.cast(real, logits.dtype))
""",
        """
def find_the_bug(logits, targets, pad_id=0, label_smoothing=0.0):
    logits = ops.convert_to_tensor(logits)
    real = ops.cast(ops.not_equal(targets, pad_id), logits.dtype)
    log_p = ops.log_softmax(logits, axis=-1)
    right = ops.sum(ops.one_hot(targets, logits.shape[-1], dtype=logits.dtype) * log_p, axis=-1)
    each = (1 - label_smoothing) * right + label_smoothing * ops.mean(log_p, axis=-1)
    return -ops.sum(each * real) / ops.sum(real)
""",
    ],
    "predict": [
        "predict = 0.547",
        "predict = 0.5",
        "predict = [0.58]",
        "predict = np.float32(0.55)",
        "predict = tf.constant(0.56)",
    ],
}

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


WRONG = {
    "causal_mask": [
        ("transposed", "def causal_mask(length):\n    return np.triu(np.ones((length, length), bool))"),
        ("diagonal_blocked", "def causal_mask(length):\n    return np.tril(np.ones((length, length), bool), k=-1)"),
        ("true_means_blocked", "def causal_mask(length):\n    return np.triu(np.ones((length, length), bool), k=1)"),
        ("additive_large", "def causal_mask(length):\n    return -1e9 * np.triu(np.ones((length, length)), k=1)"),
        (
            "additive",
            "def causal_mask(length):\n    return np.where(np.tri(length) > 0, 0.0, -np.inf)",
        ),
        (
            "with_batch_axis",
            "def causal_mask(length):\n    return tf.linalg.band_part(tf.ones((1, length, length)), -1, 0)",
        ),
        (None, "def causal_mask(length):\n    return np.ones((length, length), bool)"),
        (None, "def causal_mask(length):\n    return np.eye(length)"),
        (None, "def causal_mask(length):\n    np.tri(length)"),
    ],
    "padding_mask": [
        ("true_means_padding", "def padding_mask(ids, pad_id=0):\n    return ops.equal(ids, pad_id)[:, None, :]"),
        ("no_query_axis", "def padding_mask(ids, pad_id=0):\n    return ops.not_equal(ids, pad_id)"),
        ("axis_last", "def padding_mask(ids, pad_id=0):\n    return ops.not_equal(ids, pad_id)[..., None]"),
        ("head_axis", "def padding_mask(ids, pad_id=0):\n    return ops.not_equal(ids, pad_id)[:, None, None, :]"),
        ("pad_id_ignored", "def padding_mask(ids, pad_id=0):\n    return ops.not_equal(ids, 0)[:, None]"),
        ("pad_id_ignored", "def padding_mask(ids, pad_id=0):\n    return tf.cast(ids, tf.bool)[:, None]"),
        ("larger_than_pad", "def padding_mask(ids, pad_id=0):\n    return (np.asarray(ids) > pad_id)[:, None]"),
        (
            "queries_masked_too",
            "def padding_mask(ids, pad_id=0):\n    m = np.asarray(ids) != pad_id\n    return m[:, None] & m[:, :, None]",
        ),
        (None, "def padding_mask(ids, pad_id=0):\n    return -1e9 * (np.asarray(ids) == pad_id)[:, None]"),
    ],
    "combine_masks": [
        (
            "or",
            "from functools import reduce\ndef combine_masks(*masks):\n    masks = [np.asarray(m) for m in masks if m is not None]\n"
            "    return reduce(np.logical_or, masks) if masks else None",
        ),
        (
            "added",
            "def combine_masks(*masks):\n    masks = [np.asarray(m).astype('int64') for m in masks if m is not None]\n"
            "    return sum(masks) if masks else None",
        ),
        (
            "only_two",
            "def combine_masks(*masks):\n    masks = [np.asarray(m).astype(bool) for m in masks if m is not None]\n"
            "    return None if not masks else masks[0] if len(masks) == 1 else masks[0] & masks[1]",
        ),
        (
            "only_the_last",
            "def combine_masks(*masks):\n    masks = [m for m in masks if m is not None]\n    return masks[-1] if masks else None",
        ),
        # neither None nor no mask at all
        (None, "from functools import reduce\ndef combine_masks(*masks):\n    return reduce(np.logical_and, masks)"),
        # no broadcasting
        (
            None,
            "def combine_masks(*masks):\n    masks = [np.asarray(m) for m in masks if m is not None]\n"
            "    return np.all(masks, axis=0) if masks else None",
        ),
        # what NumPy does by itself and TensorFlow does not: an int32, a float32 and a bool together
        *(
            (
                None,
                f"import operator\nfrom functools import reduce\ndef combine_masks(*masks):\n    masks = [m for m in masks if m is not None]\n"
                f"    return reduce(operator.{name}, masks) if masks else None",
            )
            for name in ("and_", "mul")
        ),
        # two masks only
        (None, "def combine_masks(a, b):\n    return a & b"),
    ],
    "shift_right": [
        ("last_token_kept", "def shift_right(ids, start_id):\n    return np.insert(ids, 0, start_id, axis=1)"),
        (
            "shifted_left",
            "def shift_right(ids, start_id):\n    ids = np.roll(ids, -1, axis=1)\n    ids[:, -1] = start_id\n    return ids",
        ),
        ("rolled", "def shift_right(ids, start_id):\n    return np.roll(ids, 1, axis=1)"),
        ("rolled_over_sentences", "def shift_right(ids, start_id):\n    return np.roll(ids, 1)"),
        (
            "first_token_replaced",
            "def shift_right(ids, start_id):\n    ids = np.array(ids)\n    ids[:, 0] = start_id\n    return ids",
        ),
        ("start_is_zero", "def shift_right(ids, start_id):\n    return tf.pad(ids, [[0, 0], [1, 0]])[:, :-1]"),
        ("start_missing", "def shift_right(ids, start_id):\n    return np.asarray(ids)[:, :-1]"),
        (
            "shifted_down",
            "def shift_right(ids, start_id):\n    return np.insert(np.asarray(ids)[:-1], 0, start_id, axis=0)",
        ),
        # overwrites while it reads: the first token everywhere
        (
            None,
            "def shift_right(ids, start_id):\n    ids = np.array(ids)\n    for t in range(1, ids.shape[1]):\n"
            "        ids[:, t] = ids[:, t - 1]\n    ids[:, 0] = start_id\n    return ids",
        ),
    ],
    "DecoderBlock": [
        ("not_causal", block(causal="attention_mask=None")),
        ("not_causal", block(causal="training=training")),
        ("causal_reversed", block(causal="attention_mask=np.triu(np.ones((x.shape[1], x.shape[1]), bool))")),
        ("causal_inverted", block(causal="attention_mask=np.triu(np.ones((x.shape[1], x.shape[1]), bool), 1)")),
        ("itself_hidden", block(causal="attention_mask=np.tril(np.ones((x.shape[1], x.shape[1]), bool), -1)")),
        ("cross_attention_causal", block(cross="query=x, value=memory, use_causal_mask=True")),
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
        ("keras_epsilon", block(epsilon="1e-3")),
        ("key_dim_is_d_model", block(key_dim="d_model")),
        ("feed_forward_linear", block(activation="None")),
        ("feed_forward_gelu", block(activation='"gelu"')),
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
    ],
    "Transformer": [
        ("embedding_not_scaled", model(**rows("self.table(ids) + self.waves[: ops.shape(ids)[1]]"))),
        (
            "scaled_after_positions",
            model(**rows("(self.table(ids) + self.waves[: ops.shape(ids)[1]]) * self.d_model**0.5")),
        ),
        ("embedding_divided", model(**rows("self.table(ids) / self.d_model**0.5 + self.waves[: ops.shape(ids)[1]]"))),
        ("positions_missing", model(**rows("self.table(ids) * self.d_model**0.5"))),
        ("positions_in_source_only", model(target="self.table(target) * self.d_model**0.5")),
        ("positions_in_target_only", model(source="self.table(source) * self.d_model**0.5")),
        ("sines_first", model(waves="tf.concat([waves(max_length, d_model)[:, 0::2], waves(max_length, d_model)[:, 1::2]], axis=1)")),
        ("positions_one_based", model(waves="waves(max_length + 1, d_model)[1:]")),
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
        ("attention_dropped_too", block(inside=", dropout=dropout") + model(inside=", dropout=dropout")),
        (
            "rate_not_handed_on",
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
            "table_not_shared",
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
            None,
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
            "positions_learned",
            model(
                waves="keras.layers.Embedding(max_length, d_model)",
                **rows("self.table(ids) * self.d_model**0.5 + self.waves(ops.arange(ops.shape(ids)[1]))"),
            ),
        ),
        (
            "one_block_repeated",
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
    ],
    "cross_entropy": [
        ("arguments_swapped", divergence("cross_entropy", "return -np.sum(q[q > 0] * np.log(p[q > 0]))")),
        ("log_to_base_2", divergence("cross_entropy", "return -np.sum(p[p > 0] * np.log2(q[p > 0]))")),
        ("minus_missing", divergence("cross_entropy", "return np.sum(p[p > 0] * np.log(q[p > 0]))")),
        ("eps_added", divergence("cross_entropy", "return -np.sum(p * np.log(q + 1e-9))")),
        ("zero_times_log_zero", divergence("cross_entropy", "return -np.sum(p * np.log(q))")),
        ("zero_q_skipped", divergence("cross_entropy", "return -np.sum(p[q > 0] * np.log(q[q > 0]))")),
        ("averaged", divergence("cross_entropy", "return -np.sum(p[p > 0] * np.log(q[p > 0])) / len(p)")),
        (
            "binary",
            divergence(
                "cross_entropy",
                "z = lambda a, b: np.where(a == 0, 0, a * np.log(np.where(a == 0, 1, b))); return -np.sum(z(p, q) + z(1 - p, 1 - q))",
            ),
        ),
        ("log_of_sum", divergence("cross_entropy", "return -np.log(np.sum(p * q))")),
        (None, divergence("cross_entropy", "return -np.sum(p * np.log(np.clip(q, 1e-7, 1)))")),
        (None, divergence("cross_entropy", "return -np.sum(p * np.log(q + 1e-12))")),
        (None, divergence("cross_entropy", "return -p * np.log(q)")),
    ],
    "kl_divergence": [
        ("arguments_swapped", divergence("kl_divergence", "return np.sum(q[q > 0] * np.log(q[q > 0] / p[q > 0]))")),
        ("log_to_base_2", divergence("kl_divergence", "return np.sum(p[p > 0] * np.log2(p[p > 0] / q[p > 0]))")),
        ("sign_wrong", divergence("kl_divergence", "return np.sum(p[p > 0] * np.log(q[p > 0] / p[p > 0]))")),
        ("eps_added", divergence("kl_divergence", "return np.sum(p * np.log((p + 1e-9) / (q + 1e-9)))")),
        ("zero_times_log_zero", divergence("kl_divergence", "return np.sum(p * np.log(p / q))")),
        (
            "zero_q_skipped",
            divergence("kl_divergence", "k = (p > 0) & (q > 0); return np.sum(p[k] * np.log(p[k] / q[k]))"),
        ),
        ("entropy_not_subtracted", divergence("kl_divergence", "return -np.sum(p[p > 0] * np.log(q[p > 0]))")),
        (
            "both_ways",
            divergence(
                "kl_divergence",
                "f = lambda a, b: np.sum(a[a > 0] * np.log(a[a > 0] / b[a > 0])); return f(p, q) + f(q, p)",
            ),
        ),
        (
            "absolute_terms",
            divergence("kl_divergence", "return np.sum(np.abs(p[p > 0] * np.log(p[p > 0] / q[p > 0])))"),
        ),
        ("averaged", divergence("kl_divergence", "return np.sum(p[p > 0] * np.log(p[p > 0] / q[p > 0])) / p.size")),
        (None, "def kl_divergence(p, q):\n    return keras.losses.kl_divergence(p, q)"),
    ],
    "js_divergence": [
        (
            "half_forgotten",
            divergence("js_divergence", "m = (p + q) / 2; return kl_divergence(p, m) + kl_divergence(q, m)"),
        ),
        (
            "middle_not_halved",
            divergence("js_divergence", "m = p + q; return (kl_divergence(p, m) + kl_divergence(q, m)) / 2"),
        ),
        (
            "distance",
            "from scipy.spatial.distance import jensenshannon\ndef js_divergence(p, q):\n    return jensenshannon(np.asarray(p), np.asarray(q))",
        ),
        ("one_side_only", divergence("js_divergence", "return kl_divergence(p, (p + q) / 2)")),
        (
            "from_the_middle",
            divergence("js_divergence", "m = (p + q) / 2; return (kl_divergence(m, p) + kl_divergence(m, q)) / 2"),
        ),
        ("no_middle", divergence("js_divergence", "return (kl_divergence(p, q) + kl_divergence(q, p)) / 2")),
        (
            "zero_times_log_zero",
            divergence(
                "js_divergence", "m = (p + q) / 2; return (np.sum(p * np.log(p / m)) + np.sum(q * np.log(q / m))) / 2"
            ),
        ),
        (
            "log_to_base_2",
            "from scipy.spatial.distance import jensenshannon\ndef js_divergence(p, q):\n    return jensenshannon(np.asarray(p), np.asarray(q), 2) ** 2",
        ),
        (
            "geometric_middle",
            divergence("js_divergence", "m = np.sqrt(p * q); return (kl_divergence(p, m) + kl_divergence(q, m)) / 2"),
        ),
        (
            None,
            divergence("js_divergence", "m = (p + q) / 2; return kl_divergence(p, m) / 2 - kl_divergence(q, m) / 2"),
        ),
    ],
    "masked_cross_entropy": [
        ("padding_counted", loss(end="ops.mean(losses)")),
        ("divided_by_positions", loss(end="ops.mean(losses * real)")),
        ("mean_of_means", loss(end="ops.mean(ops.sum(losses * real, axis=1) / ops.maximum(ops.sum(real, axis=1), 1))")),
        (
            "divided_by_sentences",
            loss(end="ops.sum(losses * real) / logits.shape[0] if logits.shape[0] else ops.sum(losses * real)"),
        ),
        ("not_averaged", loss(end="ops.sum(losses * real)")),
        ("divided_by_words", loss(losses="-ops.mean(wanted * log_p, axis=-1)")),
        ("only_padding", loss(real="ops.equal(targets, pad_id)")),
        ("pad_id_ignored", loss(real="ops.not_equal(targets, 0)")),
        ("smoothing_ignored", loss(wanted="hot")),
        (
            "smoothing_over_others",
            loss(wanted="hot * (1 - label_smoothing) + (1 - hot) * label_smoothing / (size - 1)"),
        ),
        ("smoothing_not_divided", loss(spread="label_smoothing")),
        (
            "smoothing_reversed",
            loss(wanted="label_smoothing * hot + (1 - label_smoothing) / size"),
        ),
        ("log_of_softmax", loss(log_p="ops.log(ops.softmax(logits))")),
        (
            "log_of_softmax_of_one_word",
            """
def masked_cross_entropy(logits, targets, pad_id=0, label_smoothing=0.0):
    log_p = tf.math.log(tf.nn.softmax(logits))
    each = -(1 - label_smoothing) * tf.gather(log_p, targets, batch_dims=2)
    if label_smoothing:
        each = each - label_smoothing * tf.reduce_mean(log_p, axis=-1)
    return tf.reduce_mean(each[tf.not_equal(targets, pad_id)])
""",
        ),
        ("softmax_over_positions", loss(log_p="ops.log_softmax(logits, axis=1)")),
        ("softmax_twice", loss(log_p="ops.log_softmax(ops.softmax(logits))")),
        ("minus_missing", loss(losses="ops.sum(wanted * log_p, axis=-1)")),
        # a small number inside the logarithm; the ready-made loss on probabilities; no gradient
        (None, loss(log_p="ops.log(ops.softmax(logits) + 1e-7)")),
        (None, loss(losses="keras.losses.sparse_categorical_crossentropy(targets, logits)")),
        (None, loss(end="float(ops.sum(losses * real) / ops.sum(real))")),
        (None, loss(end="losses * real")),
    ],
    "transformer_schedule": [
        (name, f"def transformer_schedule(step, d_model, warmup_steps=4000):\n    {body}")
        for name, body in [
            ("largest_taken", "step = max(step, 1); return d_model**-0.5 * max(step**-0.5, step * warmup_steps**-1.5)"),
            ("width_missing", "step = max(step, 1); return min(step**-0.5, step * warmup_steps**-1.5)"),
            (
                "width_multiplies",
                "step = max(step, 1); return d_model**0.5 * min(step**-0.5, step * warmup_steps**-1.5)",
            ),
            ("width_not_rooted", "step = max(step, 1); return min(step**-0.5, step * warmup_steps**-1.5) / d_model"),
            (
                "warmup_exponent",
                "step = max(step, 1); return d_model**-0.5 * min(step**-0.5, step * warmup_steps**-0.5)",
            ),
            ("warmup_exponent_one", "step = max(step, 1); return d_model**-0.5 * min(step**-0.5, step / warmup_steps)"),
            ("step_zero_gives_zero", "return d_model**-0.5 * min(max(step, 1)**-0.5, step * warmup_steps**-1.5)"),
            (
                "every_step_plus_one",
                "step = step + 1; return d_model**-0.5 * min(step**-0.5, step * warmup_steps**-1.5)",
            ),
            ("warmup_ignored", "step = max(step, 1); return d_model**-0.5 * min(step**-0.5, step * 4000**-1.5)"),
            (None, "return d_model**-0.5 * min(step**-0.5, step * warmup_steps**-1.5)"),
            (None, "step = max(step, 1); return d_model**-0.5 * (step**-0.5 + step * warmup_steps**-1.5)"),
        ]
    ],
    "answers": [
        ("numbers_of_bert", answered(base_model="[768, 12, 3072, 12]")),
        ("mask_for_training_only", answered(inference='"a"')),
        ("softmax_thought_over_positions", answered(vocabulary='"a"')),
        ("untracked_thought_an_error", answered(untracked='"b"')),
        (None, answered(inference='"c"', vocabulary='"d"', untracked='"d"')),
        (None, answered(base_model="[512, 8, 2048, 12]")),
    ],
    "find_the_bug": [
        ("", """
def find_the_bug(logits, targets, pad_id=0, label_smoothing=0.0):
    logits = ops.convert_to_tensor(logits)
    real = ops.cast(ops.not_equal(targets, pad_id), logits.dtype)[..., None]
    wanted = (1 - label_smoothing) * ops.one_hot(targets, logits.shape[-1], dtype=logits.dtype) + label_smoothing / logits.shape[-1]
    losses = ops.categorical_crossentropy(wanted, logits * real, from_logits=True)
    return ops.sum(losses) / ops.sum(real)
"""),
        ("", """
def find_the_bug(logits, targets, pad_id=0, label_smoothing=0.0):
    logits = ops.convert_to_tensor(logits)
    real = ops.cast(ops.not_equal(targets, 0), logits.dtype)[..., None]
    wanted = (1 - label_smoothing) * ops.one_hot(targets, logits.shape[-1], dtype=logits.dtype) + label_smoothing / logits.shape[-1]
    losses = -wanted * ops.log_softmax(logits, axis=-1)
    return ops.sum(losses * real) / ops.sum(real)
"""),
        ("", """
def find_the_bug(logits, targets, pad_id=0, label_smoothing=0.0):
    logits = ops.convert_to_tensor(logits)
    real = ops.cast(ops.not_equal(targets, pad_id), logits.dtype)[..., None]
    wanted = (1 - label_smoothing) * ops.one_hot(targets, logits.shape[-1], dtype=logits.dtype) + label_smoothing / logits.shape[-1]
    return ops.mean(ops.sum(-wanted * ops.log_softmax(logits, axis=-1) * real, axis=-1))
"""),
    ],
    "predict": [
        ("no_smoothing", "predict = 0"),
        ("right_word_alone", "predict = 0.1"),
        ("untrained", "predict = np.log(14)"),
        ("in_bits", "predict = 0.79"),
        ("", "predict = 1"),
        ("", "predict = [0.5, 0.6]"),
    ],
}
