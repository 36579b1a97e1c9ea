"""Lab 04: solutions as different students write them."""

CORRECT = {
    "layer_norm": [
        """
def layer_norm(x, gamma, beta, eps=1e-6):
    x = np.asarray(x)
    mean, variance = x.mean(axis=-1, keepdims=True), x.var(axis=-1, keepdims=True)
    return np.asarray(gamma) * ((x - mean) / np.sqrt(variance + eps)) + np.asarray(beta)
""",
        # tf.nn.moments
        """
def layer_norm(x, gamma, beta, eps=1e-6):
    x = tf.convert_to_tensor(x)
    mean, variance = tf.nn.moments(x, axes=[-1], keepdims=True)
    return gamma * (x - mean) * tf.math.rsqrt(variance + eps) + beta
""",
        # loops over the tokens, plain Python
        """
import math
def layer_norm(x, gamma, beta, eps=1e-6):
    x, gamma, beta = np.asarray(x), np.asarray(gamma), np.asarray(beta)
    rows = []
    for token in x.reshape(-1, x.shape[-1]).astype("float64"):
        mean = sum(token) / len(token)
        variance = sum((value - mean) ** 2 for value in token) / len(token)
        rows.append([g * (value - mean) / math.sqrt(variance + eps) + b for value, g, b in zip(token, gamma, beta)])
    return np.array(rows).reshape(x.shape).astype(x.dtype)
""",
        # the variance as mean of squares minus square of the mean, in double precision
        """
def layer_norm(x, gamma, beta, eps=1e-6):
    wide = ops.cast(x, "float64")
    mean = ops.mean(wide, axis=-1, keepdims=True)
    variance = ops.maximum(ops.mean(wide * wide, axis=-1, keepdims=True) - mean * mean, 0.0)
    normed = (wide - mean) / (variance + eps) ** 0.5
    return ops.cast(normed * ops.cast(gamma, "float64") + ops.cast(beta, "float64"), ops.convert_to_tensor(x).dtype)
""",
        # ops.moments, einsum for the scale
        """
def layer_norm(x, gamma, beta, eps=1e-6):
    x = ops.convert_to_tensor(x)
    mean, variance = ops.moments(x, axes=[-1], keepdims=True)
    return ops.einsum("...d,d->...d", (x - mean) * ops.rsqrt(variance + eps), ops.convert_to_tensor(gamma)) + beta
""",
        # a matrix that subtracts the mean; linalg for the length
        """
def layer_norm(x, gamma, beta, eps=1e-6):
    x = np.asarray(x)
    width = x.shape[-1]
    centre = np.eye(width, dtype=x.dtype) - np.ones((width, width), dtype=x.dtype) / width
    centred = x @ centre
    deviation = np.sqrt(np.linalg.norm(centred, axis=-1, keepdims=True) ** 2 / width + eps)
    return (centred / deviation * np.asarray(gamma) + np.asarray(beta)).astype(x.dtype)
""",
    ],
    "FeedForward": [
        """
class FeedForward(keras.Layer):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.dense_in = keras.layers.Dense(units=d_ff, activation=keras.activations.relu)
        self.dense_out = keras.layers.Dense(units=d_model)

    def call(self, x):
        return self.dense_out(self.dense_in(x))
""",
        # ReLU by hand
        """
class FeedForward(keras.layers.Layer):
    def __init__(self, d_model, d_ff, **kwargs):
        super().__init__(**kwargs)
        self.dense_in, self.dense_out = keras.layers.Dense(d_ff), keras.layers.Dense(d_model)

    def call(self, x):
        hidden = self.dense_in(x)
        return self.dense_out(tf.maximum(hidden, 0.0))
""",
        # layers made in build, a ReLU layer
        """
class FeedForward(keras.Layer):
    def __init__(self, d_model, d_ff, name=None, **kwargs):
        super().__init__(name=name, **kwargs)
        self.d_model, self.d_ff = d_model, d_ff
        self.relu = keras.layers.ReLU()

    def build(self, input_shape):
        self.dense_in = keras.layers.Dense(self.d_ff)
        self.dense_out = keras.layers.Dense(self.d_model)
        self.dense_in.build(input_shape)
        self.dense_out.build((*input_shape[:-1], self.d_ff))

    def call(self, x):
        return self.dense_out(self.relu(self.dense_in(x)))
""",
        # a Sequential of the two, and matrix products written out
        """
class FeedForward(keras.Layer):
    def __init__(self, d_model, d_ff, **kwargs):
        super().__init__(**kwargs)
        self.dense_in = keras.layers.Dense(d_ff, activation="relu")
        self.dense_out = keras.layers.Dense(d_model)
        self.both = keras.Sequential([self.dense_in, self.dense_out])

    def call(self, x, training=None):
        return self.both(x, training=training)
""",
        """
class FeedForward(keras.Model):
    def __init__(self, d_model, d_ff, **kwargs):
        super().__init__(**kwargs)
        self.dense_in = keras.layers.Dense(d_ff)
        self.dense_out = keras.layers.Dense(d_model)

    def build(self, shape):
        self.dense_in.build(shape)
        self.dense_out.build((None, None, self.dense_in.units))

    def call(self, x):
        hidden = ops.einsum("btd,df->btf", x, self.dense_in.kernel) + self.dense_in.bias
        return ops.einsum("btf,fd->btd", ops.relu(hidden), self.dense_out.kernel) + self.dense_out.bias
""",
    ],
    "EncoderBlock": [
        # two branches, everything spelled out
        """
class EncoderBlock(keras.layers.Layer):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1, norm="post", **kwargs):
        super().__init__(**kwargs)
        self.d_model = d_model
        self.num_heads = num_heads
        self.d_ff = d_ff
        self.rate = dropout
        self.where = norm
        self.attention = keras.layers.MultiHeadAttention(num_heads=num_heads, key_dim=d_model // num_heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm1 = keras.layers.LayerNormalization(epsilon=1e-6)
        self.norm2 = keras.layers.LayerNormalization(epsilon=1e-6)
        self.dropout1 = keras.layers.Dropout(dropout)
        self.dropout2 = keras.layers.Dropout(dropout)

    def call(self, x, mask=None, training=None):
        if self.where == "post":
            attended = self.attention(query=x, key=x, value=x, attention_mask=mask, training=training)
            y = self.norm1(x + self.dropout1(attended, training=training))
            return self.norm2(y + self.dropout2(self.feed_forward(y), training=training))
        normed = self.norm1(x)
        attended = self.attention(query=normed, key=normed, value=normed, attention_mask=mask, training=training)
        y = x + self.dropout1(attended, training=training)
        return y + self.dropout2(self.feed_forward(self.norm2(y)), training=training)

    def get_config(self):
        config = super().get_config()
        config.update(
            d_model=self.d_model, num_heads=self.num_heads, d_ff=self.d_ff, dropout=self.rate, norm=self.where
        )
        return config
""",
        # Keras's own record of the arguments serves get_config; training is handed down by Keras
        """
class EncoderBlock(keras.Layer):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1, norm="post", **kwargs):
        super().__init__(**kwargs)
        self.pre = norm == "pre"
        self.attention = keras.layers.MultiHeadAttention(num_heads, d_model // num_heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm1, self.norm2 = (keras.layers.LayerNormalization(epsilon=1e-6) for _ in range(2))
        self.dropout1, self.dropout2 = (keras.layers.Dropout(dropout) for _ in range(2))

    def call(self, x, mask=None, training=None):
        h = self.norm1(x) if self.pre else x
        x = keras.layers.add([x, self.dropout1(self.attention(h, h, attention_mask=mask))])
        x = x if self.pre else self.norm1(x)
        h = self.norm2(x) if self.pre else x
        x = keras.layers.add([x, self.dropout2(self.feed_forward(h))])
        return x if self.pre else self.norm2(x)
""",
        # a helper for both halves, the mask brought to rank 4 and to bool
        """
class EncoderBlock(keras.Layer):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1, norm="post", **kwargs):
        super().__init__(**kwargs)
        self.settings = {"d_model": d_model, "num_heads": num_heads, "d_ff": d_ff, "dropout": dropout, "norm": norm}
        self.attention = keras.layers.MultiHeadAttention(num_heads=num_heads, key_dim=int(d_model / num_heads))
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm1 = keras.layers.LayerNormalization(epsilon=1e-6)
        self.norm2 = keras.layers.LayerNormalization(epsilon=1e-6)
        self.dropout1 = keras.layers.Dropout(rate=dropout)
        self.dropout2 = keras.layers.Dropout(rate=dropout)

    def half(self, x, sub_layer, norm, dropout, training):
        if self.settings["norm"] == "pre":
            return x + dropout(sub_layer(norm(x)), training=training)
        return norm(x + dropout(sub_layer(x), training=training))

    def call(self, x, mask=None, training=False):
        if mask is not None:
            mask = tf.cast(mask, tf.bool)
            mask = mask[None, None] if len(mask.shape) == 2 else mask[:, None]
        attend = lambda h: self.attention(query=h, value=h, key=h, attention_mask=mask, training=training)
        x = self.half(x, attend, self.norm1, self.dropout1, training)
        return self.half(x, self.feed_forward, self.norm2, self.dropout2, training)

    def get_config(self):
        return {**super().get_config(), **self.settings}
""",
        # layers made in build; no **kwargs but name and dtype; from_config of its own
        """
class EncoderBlock(keras.Layer):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1, norm="post", name=None, trainable=True, dtype=None):
        super().__init__(name=name, trainable=trainable, dtype=dtype)
        self.arguments = (d_model, num_heads, d_ff, dropout, norm)

    def build(self, input_shape):
        d_model, num_heads, d_ff, dropout, _ = self.arguments
        self.attention = keras.layers.MultiHeadAttention(num_heads, key_dim=d_model // num_heads, value_dim=d_model // num_heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm1 = keras.layers.LayerNormalization(axis=-1, epsilon=1e-6)
        self.norm2 = keras.layers.LayerNormalization(axis=-1, epsilon=1e-6)
        self.dropout1 = keras.layers.Dropout(dropout)
        self.dropout2 = keras.layers.Dropout(dropout)
        self.attention.build(input_shape, input_shape)
        self.norm1.build(input_shape)
        self.norm2.build(input_shape)

    def call(self, x, mask=None, training=None):
        pre = self.arguments[-1] == "pre"
        residual = x
        if pre:
            x = self.norm1(x)
        x = self.attention(x, x, attention_mask=mask)
        x = self.dropout1(x, training=training) + residual
        if not pre:
            x = self.norm1(x)
        residual = x
        if pre:
            x = self.norm2(x)
        x = self.dropout2(self.feed_forward(x), training=training) + residual
        return x if pre else self.norm2(x)

    def get_config(self):
        names = ["d_model", "num_heads", "d_ff", "dropout", "norm"]
        return super().get_config() | dict(zip(names, self.arguments))
""",
        # post-norm block as base class, pre-norm by an attribute; dropouts of a class of the student's own
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

class EncoderBlock(keras.Layer):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1, norm="post", **kwargs):
        super().__init__(**kwargs)
        assert norm in ("post", "pre")
        for name, value in dict(d_model=d_model, num_heads=num_heads, d_ff=d_ff, dropout=dropout, norm=norm).items():
            setattr(self, name, value)
        self.attention = keras.layers.MultiHeadAttention(num_heads, d_model // num_heads, flash_attention=False)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm1 = keras.layers.LayerNormalization(epsilon=0.000001)
        self.norm2 = keras.layers.LayerNormalization(epsilon=0.000001)
        self.dropout1 = MyDropout(dropout)
        self.dropout2 = MyDropout(dropout)

    def call(self, x, mask=None, training=None):
        same = lambda value: value
        before = (self.norm1, self.norm2) if self.norm == "pre" else (same, same)
        after = (self.norm1, self.norm2) if self.norm == "post" else (same, same)
        h = before[0](x)
        h, _ = self.attention(query=h, value=h, attention_mask=mask, return_attention_scores=True)
        x = after[0](ops.add(x, self.dropout1(h, training=training)))
        h = self.feed_forward(before[1](x))
        return after[1](ops.add(x, self.dropout2(h, training=training)))

    def get_config(self):
        config = super().get_config()
        for name in ("d_model", "num_heads", "d_ff", "dropout", "norm"):
            config[name] = getattr(self, name)
        return config
""",
    ],
    "Encoder": [
        """
class Encoder(keras.Layer):
    def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.1, norm="post", **kwargs):
        super().__init__(**kwargs)
        self.blocks = []
        for i in range(num_layers):
            self.blocks.append(EncoderBlock(d_model, num_heads, d_ff, dropout, norm, name=f"block_{i}"))
        self.norm = keras.layers.LayerNormalization(epsilon=1e-6) if norm == "pre" else None

    def call(self, x, attention_mask=None, training=None):
        for block in self.blocks:
            x = block(x, training=training, attention_mask=attention_mask)
        if self.norm is not None:
            x = self.norm(x)
        return x
""",
        # without explicit training: Keras hands it down
        """
class Encoder(keras.Layer):
    def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.1, norm="post"):
        super().__init__()
        self.blocks = [EncoderBlock(d_model, num_heads, d_ff, dropout=dropout, norm=norm) for _ in range(num_layers)]
        self.pre = norm == "pre"
        if self.pre:
            self.norm = keras.layers.LayerNormalization(epsilon=1e-6)

    def call(self, x, mask=None, training=None):
        for block in self.blocks:
            x = block(x, attention_mask=mask)
        return self.norm(x) if self.pre else x
""",
        # functools.reduce; block and stack both keep the argument's old name
        """
from functools import reduce
class EncoderBlock(EncoderBlock):
    def call(self, x, mask=None, training=None):
        return super().call(x, attention_mask=mask, training=training)

class Encoder(keras.layers.Layer):
    def __init__(self, num_layers, *sizes, dropout=0.1, norm="post", **kwargs):
        super().__init__(**kwargs)
        self.blocks = [EncoderBlock(*sizes, dropout=dropout, norm=norm) for _ in range(num_layers)]
        self.norm = keras.layers.LayerNormalization(epsilon=1e-6) if norm == "pre" else (lambda x: x)

    def call(self, x, mask=None, training=None):
        return self.norm(reduce(lambda h, block: block(h, mask=mask, training=training), self.blocks, x))
""",
        # made in build; recursion
        """
class Encoder(keras.Layer):
    def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.1, norm="post", **kwargs):
        super().__init__(**kwargs)
        self.num_layers, self.make = num_layers, lambda: EncoderBlock(d_model, num_heads, d_ff, dropout, norm)
        self.is_pre = norm == "pre"

    def build(self, input_shape):
        self.blocks = [self.make() for _ in range(self.num_layers)]
        if self.is_pre:
            self.norm = keras.layers.LayerNormalization(epsilon=1e-6)

    def run(self, x, number, mask, training):
        if number == self.num_layers:
            return x
        return self.run(self.blocks[number](x, attention_mask=mask, training=training), number + 1, mask, training)

    def call(self, x, mask=None, training=None):
        x = self.run(x, 0, mask, training)
        return self.norm(x) if self.is_pre else x
""",
        # a keras.Model with a tuple of blocks
        """
class Encoder(keras.Model):
    def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.1, norm="post", **kwargs):
        super().__init__(**kwargs)
        shared = dict(d_model=d_model, num_heads=num_heads, d_ff=d_ff, dropout=dropout, norm=norm)
        self.blocks = tuple(EncoderBlock(**shared) for _ in range(num_layers))
        self.last = {"pre": True, "post": False}[norm]
        if self.last:
            self.norm = keras.layers.LayerNormalization(epsilon=1e-6)

    def call(self, x, mask=None, training=None):
        h = x
        for i in range(len(self.blocks)):
            h = self.blocks[i](h, attention_mask=mask, training=training)
        if self.last:
            h = self.norm(h)
        return h
""",
    ],
    "encoder_parameter_count": [
        # asks Keras
        """
def encoder_parameter_count(d_model, num_heads, d_ff, key_dim=None):
    attention = keras.layers.MultiHeadAttention(num_heads, key_dim or d_model // num_heads)
    attention.build((1, 3, d_model), (1, 3, d_model))
    inner, outer, norm = keras.layers.Dense(d_ff), keras.layers.Dense(d_model), keras.layers.LayerNormalization()
    inner.build((1, d_model)), outer.build((1, d_ff)), norm.build((1, d_model))
    return sum(layer.count_params() for layer in (attention, inner, outer, norm, norm))
""",
        """
def encoder_parameter_count(d_model, num_heads, d_ff, key_dim=None):
    if key_dim is None:
        key_dim = d_model // num_heads
    qkv = 3 * num_heads * key_dim * (d_model + 1)
    out = (num_heads * key_dim + 1) * d_model
    ffn = (d_model + 1) * d_ff + (d_ff + 1) * d_model
    return qkv + out + ffn + 4 * d_model
""",
        # a list of shapes, NumPy
        """
def encoder_parameter_count(d_model, num_heads, d_ff, key_dim=None):
    k = d_model / num_heads if key_dim is None else key_dim
    shapes = 3 * [(d_model, num_heads, k), (num_heads, k)] + [(num_heads, k, d_model), (d_model,)]
    shapes += [(d_model, d_ff), (d_ff,), (d_ff, d_model), (d_model,)] + 4 * [(d_model,)]
    return sum(np.prod(shape) for shape in shapes)
""",
        """
def dense(n_in, n_out):
    return n_in * n_out + n_out

def encoder_parameter_count(d_model, num_heads, d_ff, key_dim=None):
    width = d_model if key_dim is None else num_heads * key_dim
    pieces = {"q": dense(d_model, width), "k": dense(d_model, width), "v": dense(d_model, width), "o": dense(width, d_model)}
    pieces.update(ffn=dense(d_model, d_ff) + dense(d_ff, d_model), norms=2 * (d_model + d_model))
    return sum(pieces.values())
""",
        # the student's own block, when the width is the usual one; a formula for the rest
        """
def encoder_parameter_count(d_model, num_heads, d_ff, key_dim=None):
    block = EncoderBlock(d_model, num_heads, d_ff)
    block(np.zeros((1, 2, d_model), "float32"))
    total = block.count_params()
    if key_dim is not None:
        more = num_heads * key_dim - d_model
        total += more * (3 * (d_model + 1) + d_model)
    return np.int64(total)
""",
    ],
    "rms_norm": [
        "def rms_norm(x, gamma, eps=1e-6):\n    x = np.asarray(x)\n    return x / np.sqrt((x**2).mean(-1, keepdims=True) + eps) * np.asarray(gamma)",
        "def rms_norm(x, gamma, eps=1e-6):\n    return gamma * x * tf.math.rsqrt(tf.reduce_mean(tf.square(x), axis=-1, keepdims=True) + eps)",
        "def rms_norm(x, gamma, eps=1e-6):\n    x = ops.convert_to_tensor(x)\n    length = ops.sum(ops.square(x), axis=-1, keepdims=True)\n    return gamma * x / ops.sqrt(length / x.shape[-1] + eps)",
        """
def rms_norm(x, gamma, eps=1e-6):
    wide = np.asarray(x, "float64")
    size = np.sqrt(np.einsum("...d,...d->...", wide, wide) / wide.shape[-1] + eps)
    return wide / size[..., None] * np.asarray(gamma)
""",
        """
def rms_norm(x, gamma, eps=1e-6):
    def one(token):
        total = 0.0
        for feature in token:
            total += float(feature) ** 2
        return [float(f) * float(g) / (total / len(token) + eps) ** 0.5 for f, g in zip(token, np.asarray(gamma))]
    x = np.asarray(x)
    return np.reshape([one(token) for token in x.reshape(-1, x.shape[-1])], x.shape)
""",
    ],
    "find_the_bug": [
        """
def find_the_bug(x, norms, sublayers, final_norm):
    for norm, sublayer in zip(norms, sublayers):
        h = norm(x)
        x = x + sublayer(h)
    return final_norm(x)
""",
        """
def find_the_bug(x, norms, sublayers, final_norm):
    for i in range(len(norms)):
        residual = x
        x = norms[i](x)
        x = sublayers[i](x)
        x = residual + x
    return final_norm(x)
""",
        """
def find_the_bug(x, norms, sublayers, final_norm):
    if not norms:
        return final_norm(x)
    return find_the_bug(ops.add(x, sublayers[0](norms[0](x))), norms[1:], sublayers[1:], final_norm)
""",
        """
from functools import reduce
def find_the_bug(x, norms, sublayers, final_norm):
    return final_norm(reduce(lambda token, pair: token + pair[1](pair[0](token)), zip(norms, sublayers), x))
""",
        """
def find_the_bug(x, norms, sublayers, final_norm):
    x = np.asarray(x).copy()
    for norm, sublayer in zip(norms, sublayers):
        x += np.asarray(sublayer(norm(x)))
    return np.asarray(final_norm(x))
""",
    ],
    "predict": ["predict = 5", "predict = 5.0", "predict = 24**0.5", "predict = np.sqrt(25)", "predict = 4.9"],
}

BLOCK = """
class EncoderBlock(keras.Layer):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1, norm="post", **kwargs):
        super().__init__(**kwargs)
        self.attention = keras.layers.MultiHeadAttention(num_heads, key_dim={key_dim})
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm1 = keras.layers.LayerNormalization(epsilon={epsilon})
        self.norm2 = keras.layers.LayerNormalization(epsilon={epsilon})
        self.dropout1 = keras.layers.Dropout({rate})
        self.dropout2 = keras.layers.Dropout({rate})
        self.order = norm
        self.arguments = dict(d_model=d_model, num_heads=num_heads, d_ff=d_ff, dropout=dropout, norm=norm)

    def call(self, x, mask=None, training=None):
        if self.order == "pre":
            h = self.norm1(x)
            x = x + self.dropout1(self.attention({attended}), training={training})
            return x + self.dropout2(self.feed_forward(self.norm2(x)), training={training})
        h = x
{post}
"""
GOOD = {
    "key_dim": "d_model // num_heads",
    "epsilon": "1e-6",
    "rate": "dropout",
    "attended": "query=h, value=h, attention_mask=mask",
    "training": "training",
    "post": """
        x = self.norm1(x + self.dropout1(self.attention({attended}), training={training}))
        return self.norm2(x + self.dropout2(self.feed_forward(x), training={training}))
""",
}


def block(**changes):
    """The block with some of its parts changed."""
    parts = {**GOOD, **changes}
    parts["post"] = parts["post"].format(**parts)
    return BLOCK.format(**parts)


STACK = """
class Encoder(keras.Layer):
    def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.1, norm="post", **kwargs):
        super().__init__(**kwargs)
        {blocks}
        self.order = norm
        if norm == "pre":
            self.norm = keras.layers.LayerNormalization(epsilon=1e-6)

    def call(self, x, mask=None, training=None):
        for number, block in enumerate(self.blocks):
            x = {step}
        return {end}
"""
GOOD_STACK = {
    "blocks": "self.blocks = [EncoderBlock(d_model, num_heads, d_ff, dropout, norm) for _ in range(num_layers)]",
    "step": "block(x, attention_mask=mask, training=training)",
    "end": 'self.norm(x) if self.order == "pre" else x',
}


def stack(**changes):
    """The stack with some of its parts changed."""
    return STACK.format(**{**GOOD_STACK, **changes})


def normed_again(when):
    """A block whose result goes through a third norm where `when` holds."""
    return (
        block()
        + f"""

class EncoderBlock(EncoderBlock):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.norm3 = keras.layers.LayerNormalization(epsilon=1e-6)

    def call(self, x, mask=None, training=None):
        z = super().call(x, mask=mask, training=training)
        return self.norm3(z) if {when} else z
"""
    )


def norm(line, axis="-1"):
    """A layer norm whose last line is the given one."""
    return f"""
def layer_norm(x, gamma, beta, eps=1e-6):
    x = np.asarray(x)
    mean, variance = x.mean(axis={axis}, keepdims=True), x.var(axis={axis}, keepdims=True)
    return {line}
"""


def feed(call, activation='"relu"', more=""):
    """A feed-forward network whose call returns the given expression."""
    return f"""
class FeedForward(keras.Layer):
    def __init__(self, d_model, d_ff, **kwargs):
        super().__init__(**kwargs)
        self.dense_in = keras.layers.Dense(d_ff, activation={activation}{more})
        self.dense_out = keras.layers.Dense(d_model{more})

    def call(self, x):
        return {call}
"""


def count(
    attention, feed_forward="2 * d_model * d_ff + d_ff + d_model", norms="4 * d_model", default="d_model // num_heads"
):
    """A count made of the given sums."""
    return f"""
def encoder_parameter_count(d_model, num_heads, d_ff, key_dim=None):
    width = num_heads * ({default} if key_dim is None else key_dim)
    return {attention} + {feed_forward} + {norms}
"""


ATTENTION = "4 * d_model * width + 3 * width + d_model"

WRONG = {
    "layer_norm": [
        (
            "eps_as_floor",
            norm("(x - mean) / np.sqrt(np.maximum(variance, eps)) * np.asarray(gamma) + np.asarray(beta)"),
        ),
        (
            "rms_norm",
            norm(
                "x / np.sqrt((x**2).mean(-1, keepdims=True) + eps) * np.asarray(gamma) + np.asarray(beta) + 0 * (mean + variance)"
            ),
        ),
        ("eps_added_to_deviation", norm("(x - mean) / (np.sqrt(variance) + eps) * gamma + beta")),
        ("divides_by_variance", norm("(x - mean) / (variance + eps) * gamma + beta")),
        ("gamma_missing", norm("(x - mean) / np.sqrt(variance + eps) + beta")),
        ("shift_before_scale", norm("((x - mean) / np.sqrt(variance + eps) + beta) * gamma")),
        ("eps_missing", norm("(x - mean) / np.sqrt(variance) * gamma + beta")),
        ("batch_norm", norm("(x - mean) / np.sqrt(variance + eps) * gamma + beta", axis="tuple(range(x.ndim - 1))")),
        (
            "unbiased_variance",
            """
def layer_norm(x, gamma, beta, eps=1e-6):
    x = np.asarray(x)
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True, ddof=1) + eps) * gamma + beta
""",
        ),
        # the float type is lost: no misconception of the oracle, a message of its own
        (None, norm("np.float64(1) * (x - mean) / np.sqrt(variance + eps) * gamma + beta")),
        # a ready-made layer does the work
        (
            None,
            """
def layer_norm(x, gamma, beta, eps=1e-6):
    layer = keras.layers.LayerNormalization(epsilon=eps)
    layer.build(x.shape)
    layer.set_weights([gamma, beta])
    return layer(x)
""",
        ),
        (
            None,
            "def layer_norm(x, gamma, beta, eps=1e-6):\n    return ops.layer_normalization(x, gamma, beta, epsilon=eps)",
        ),
    ],
    "FeedForward": [
        ("no_relu", feed("self.dense_out(self.dense_in(x))", activation="None")),
        ("gelu", feed("self.dense_out(self.dense_in(x))", activation='"gelu"')),
        ("relu_on_output", feed("ops.relu(self.dense_out(self.dense_in(x)))")),
        ("residual_inside", feed("x + self.dense_out(self.dense_in(x))")),
        (None, feed("self.dense_out(self.dense_in(x))", more=", use_bias=False")),
        (None, feed("tf.constant(self.dense_out(self.dense_in(x)).numpy())")),
    ],
    "EncoderBlock": [
        ("keras_epsilon", block(epsilon="1e-3")),
        ("key_dim_is_d_model", block(key_dim="d_model")),
        ("mask_ignored", block(attended="query=h, value=h")),
        (
            "mask_inverted",
            block(attended="query=h, value=h, attention_mask=None if mask is None else 1 - ops.cast(mask, 'int32')"),
        ),
        ("dropout_never", block(training="False")),
        ("dropout_always", block(training="True")),
        (
            "dropout_after_norm",
            block(
                post="""
        x = self.dropout1(self.norm1(x + self.attention({attended})), training=training)
        return self.dropout2(self.norm2(x + self.feed_forward(x)), training=training)
"""
            ),
        ),
        ("values_not_normed", block(attended="query=h, value=x, attention_mask=mask")),
        (
            "always_pre",
            block(
                post="        self.order = 'pre'\n        return self.call(x, mask, training)",
            ),
        ),
        (
            "norm_used_twice",
            block(
                post="""
        x = self.norm1(x + self.dropout1(self.attention({attended}), training=training))
        return self.norm1(x + self.dropout2(self.feed_forward(x), training=training)) + 0 * self.norm2(x)
"""
            ),
        ),
        (
            "norm_before_sum",
            block(
                post="""
        x = x + self.norm1(self.dropout1(self.attention({attended}), training=training))
        return x + self.norm2(self.dropout2(self.feed_forward(x), training=training))
"""
            ),
        ),
        (
            "dropout_after_sum",
            block(
                post="""
        x = self.norm1(self.dropout1(x + self.attention({attended}), training=training))
        return self.norm2(self.dropout2(x + self.feed_forward(x), training=training))
"""
            ),
        ),
        (
            "second_residual_from_input",
            block(
                post="""
        y = self.norm1(x + self.dropout1(self.attention({attended}), training=training))
        return self.norm2(x + self.dropout2(self.feed_forward(y), training=training))
"""
            ),
        ),
        # the wrong rate, the wrong scale: properties say so
        (None, block(rate="0.5 * dropout")),
        # the arguments are not in the configuration
        (
            "norm_not_in_config",
            block() + "\n    def get_config(self):\n        return {**super().get_config(), 'd_model': 15, 'num_heads': 3, 'd_ff': 11}",
        ),
        # every argument, and nothing of what Keras keeps itself
        (
            "config_without_super",
            block()
            + """
    def get_config(self):
        return dict(self.arguments)
""",
        ),
        # by position the mask is a query mask, which blocks no key
        ("mask_ignored", block(attended="h, h, h, mask")),
        # dropout inside the attention as well
        ("third_dropout", block(key_dim="d_model // num_heads, dropout=dropout")),
        ("extra_norm_in_pre", normed_again('self.order == "pre"')),
        ("extra_norm", normed_again("True")),
        (
            "heads_and_key_dim_exchanged",
            block(key_dim="num_heads").replace("tion(num_heads,", "tion(d_model // num_heads,"),
        ),
        ("one_norm_under_two_names", block().replace("self.norm2 = ", "self.norm2 = self.norm1  # ")),
    ],
    "Encoder": [
        (
            "one_block_repeated",
            stack(blocks="self.blocks = [EncoderBlock(d_model, num_heads, d_ff, dropout, norm)] * num_layers"),
        ),
        (
            "final_norm_in_the_loop",
            stack(
                step="block(x, attention_mask=mask, training=training)\n            x = self.norm(x) if self.order == 'pre' else x",
                end="x",
            ),
        ),
        ("final_norm_missing", stack(end="x + 0 * self.norm(x) if self.order == 'pre' else x")),
        ("mask_ignored", stack(step="block(x, training=training)")),
        ("mask_in_first_block_only", stack(step="block(x, attention_mask=mask if number == 0 else None, training=training)")),
        ("dropout_never", stack(step="block(x, attention_mask=mask, training=False)")),
        (
            "norm_not_handed_on",
            stack(blocks="self.blocks = [EncoderBlock(d_model, num_heads, d_ff, dropout) for _ in range(num_layers)]"),
        ),
        ("blocks_reversed", stack(step="self.blocks[-1 - number](x, attention_mask=mask, training=training)")),
        # the rate is not handed on: a property says so
        (
            None,
            stack(
                blocks="self.blocks = [EncoderBlock(d_model, num_heads, d_ff, norm=norm) for _ in range(num_layers)]"
            ),
        ),
        (
            "one_block_too_many",
            stack(
                blocks="self.blocks = [EncoderBlock(d_model, num_heads, d_ff, dropout, norm) for _ in range(num_layers + 1)]"
            ),
        ),
        (
            "one_block_too_few",
            stack(
                blocks="self.blocks = [EncoderBlock(d_model, num_heads, d_ff, dropout, norm) for _ in range(num_layers - 1)]"
            ),
        ),
    ],
    "encoder_parameter_count": [
        ("one_bias_missing", count("4 * d_model * width + 3 * width")),
        ("attention_without_bias", count("4 * d_model * width")),
        ("default_key_dim_is_d_model", count(ATTENTION, default="d_model")),
        ("biases_of_width_d", count("4 * d_model * width + 4 * d_model")),
        ("norms_missing", count(ATTENTION, norms="0")),
        ("half_the_norms", count(ATTENTION, norms="2 * d_model")),
        ("final_norm_counted", count(ATTENTION, norms="6 * d_model")),
        ("no_output_projection", count("3 * d_model * width + 3 * width")),
        ("feed_forward_without_bias", count(ATTENTION, feed_forward="2 * d_model * d_ff")),
        (
            "key_dim_of_all_heads",
            count(ATTENTION)
            .replace("width = num_heads * (", "width = (")
            .replace("d_model // num_heads if", "d_model if"),
        ),
        ("output_bias_too_wide", count("4 * d_model * width + 4 * width")),
        (None, "def encoder_parameter_count(d_model, num_heads, d_ff, key_dim=None):\n    return 10_656"),
    ],
    "rms_norm": [
        ("layer_norm", "def rms_norm(x, gamma, eps=1e-6):\n    return layer_norm(x, gamma, 0 * gamma, eps)"),
        ("sum_not_mean", "def rms_norm(x, gamma, eps=1e-6):\n    return gamma * x / ops.sqrt(ops.sum(x**2, axis=-1, keepdims=True) + eps)"),
        ("eps_behind_root", "def rms_norm(x, gamma, eps=1e-6):\n    return gamma * x / (ops.sqrt(ops.mean(x**2, axis=-1, keepdims=True)) + eps)"),
        ("gamma_missing", "def rms_norm(x, gamma, eps=1e-6):\n    return x / ops.sqrt(ops.mean(x**2, axis=-1, keepdims=True) + eps)"),
    ],
    "find_the_bug": [
        (
            "normed_token_carried",
            """
def find_the_bug(x, norms, sublayers, final_norm):
    for norm, sublayer in zip(norms, sublayers, strict=True):
        x = norm(x)
        x = x + sublayer(x)
    return final_norm(x)
""",
        ),
        (
            "sublayer_not_normed",
            """
def find_the_bug(x, norms, sublayers, final_norm):
    for norm, sublayer in zip(norms, sublayers, strict=True):
        x = x + sublayer(x)
    return final_norm(x)
""",
        ),
        (
            "norm_after_sum",
            """
def find_the_bug(x, norms, sublayers, final_norm):
    for norm, sublayer in zip(norms, sublayers, strict=True):
        x = norm(x + sublayer(x))
    return final_norm(x)
""",
        ),
    ],
    "predict": [("deviations_added", "predict = 25"), ("sublayers_counted", "predict = 24"), ("kept_at_one", "predict = 1"), ("", "predict = 12")],
}
