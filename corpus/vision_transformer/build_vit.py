"""Lab 09, exercise `build_vit`: solutions as different students write them, right and wrong."""

from corpus.vision_transformer.shared import SIX, cut, embedding

CORRECT = [
    # a layer for the block, keyword arguments
    """
class Block(keras.layers.Layer):
    def __init__(self, d_model, num_heads, d_ff, rate, **kwargs):
        super().__init__(**kwargs)
        self.config = dict(d_model=d_model, num_heads=num_heads, d_ff=d_ff, rate=rate)
        self.norm1 = keras.layers.LayerNormalization(epsilon=1e-6)
        self.norm2 = keras.layers.LayerNormalization(epsilon=1e-6)
        self.attention = keras.layers.MultiHeadAttention(num_heads=num_heads, key_dim=d_model // num_heads)
        self.up = keras.layers.Dense(d_ff, activation=keras.activations.gelu)
        self.down = keras.layers.Dense(d_model)
        self.drop1, self.drop2 = keras.layers.Dropout(rate), keras.layers.Dropout(rate)

    def call(self, x, training=None):
        h = self.norm1(x)
        x = x + self.drop1(self.attention(query=h, value=h, key=h, training=training), training=training)
        return x + self.drop2(self.down(self.up(self.norm2(x))), training=training)

    def get_config(self):
        return {**super().get_config(), **self.config}

def build_vit(image_shape, patch_size, num_classes, num_layers, d_model, num_heads, d_ff, dropout=0.0):
    n = (image_shape[0] // patch_size) * (image_shape[1] // patch_size)
    inputs = keras.layers.Input(shape=image_shape)
    x = PatchEmbedding(patch_size, n, d_model)(inputs)
    x = keras.layers.Dropout(dropout)(x)
    for i in range(num_layers):
        x = Block(d_model, num_heads, d_ff, dropout, name=f"block_{i}")(x)
    x = keras.layers.LayerNormalization(epsilon=1e-6)(x)
    logits = keras.layers.Dense(num_classes)(x[:, 0, :])
    return keras.Model(inputs=inputs, outputs=logits)
""",
    # a subclassed model
    """
class ViT(keras.Model):
    def __init__(self, image_shape, patch_size, num_classes, num_layers, d_model, num_heads, d_ff, dropout=0.0, **kwargs):
        super().__init__(**kwargs)
        self.args = dict(image_shape=image_shape, patch_size=patch_size, num_classes=num_classes, num_layers=num_layers,
                         d_model=d_model, num_heads=num_heads, d_ff=d_ff, dropout=dropout)
        h, w, _ = image_shape
        L = keras.layers
        self.embed = PatchEmbedding(patch_size, h * w // patch_size**2, d_model)
        self.dropout = L.Dropout(dropout)
        self.halves = []
        for _ in range(num_layers):
            self.halves.append({
                "norm1": L.LayerNormalization(epsilon=1e-6), "attend": L.MultiHeadAttention(num_heads, d_model // num_heads),
                "norm2": L.LayerNormalization(epsilon=1e-6), "up": L.Dense(d_ff, "gelu"), "down": L.Dense(d_model),
                "drop1": L.Dropout(dropout), "drop2": L.Dropout(dropout)})
        self.norm = L.LayerNormalization(epsilon=1e-6)
        self.head = L.Dense(num_classes)

    def call(self, images, training=None):
        x = self.dropout(self.embed(images), training=training)
        for part in self.halves:
            h = part["norm1"](x)
            x = x + part["drop1"](part["attend"](query=h, value=h), training=training)
            x = x + part["drop2"](part["down"](part["up"](part["norm2"](x))), training=training)
        return self.head(self.norm(x)[:, 0])

    def get_config(self):
        return {**super().get_config(), **self.args}

def build_vit(*args, **kwargs):
    return ViT(*args, **kwargs)
""",
    # dropouts wherever the paper's code has them, the norm on the class token alone, the head on a slice of one
    """
def build_vit(image_shape, patch_size, num_classes, num_layers, d_model, num_heads, d_ff, dropout=0.0):
    K = keras.layers
    images = x = keras.Input(image_shape)
    x = PatchEmbedding(patch_size, image_shape[0] * image_shape[1] // patch_size**2, d_model)(x)
    x = K.Dropout(dropout)(x)
    for _ in range(num_layers):
        normed = K.LayerNormalization(epsilon=1e-6)(x)
        attended = K.MultiHeadAttention(num_heads, d_model // num_heads, dropout=dropout)(normed, normed, normed)
        x = K.Add()([x, K.Dropout(dropout)(attended)])
        h = K.LayerNormalization(epsilon=1e-6)(x)
        h = K.Dropout(dropout)(K.Activation("gelu")(K.Dense(d_ff)(h)))
        x = K.Add()([K.Dropout(dropout)(K.Dense(d_model)(h)), x])
    x = K.Flatten()(K.Cropping1D((0, x.shape[1] - 1))(x))
    x = K.LayerNormalization(epsilon=1e-6)(x)
    return keras.Model(images, K.Dense(num_classes, activation="linear", name="head")(x))
""",
    # 1 × 1 convolutions for the feed-forward network, a sequential model
    """
class Residual(keras.layers.Layer):
    def __init__(self, inner, dropout, **kwargs):
        super().__init__(**kwargs)
        self.inner, self.rate = inner, dropout
        self.norm = keras.layers.LayerNormalization(epsilon=1e-6)
        self.drop = keras.layers.Dropout(dropout)

    def call(self, x, training=None):
        h = self.norm(x)
        h = self.inner(h, h) if isinstance(self.inner, keras.layers.MultiHeadAttention) else self.inner(h)
        return x + self.drop(h, training=training)

    def get_config(self):
        return {**super().get_config(), "inner": keras.saving.serialize_keras_object(self.inner), "dropout": self.rate}

    @classmethod
    def from_config(cls, config):
        return cls(keras.saving.deserialize_keras_object(config.pop("inner")), **config)

class First(keras.layers.Layer):
    def call(self, x):
        return ops.take(x, 0, axis=1)

def build_vit(image_shape, patch_size, num_classes, num_layers, d_model, num_heads, d_ff, dropout=0.0):
    n = (image_shape[0] // patch_size) * (image_shape[1] // patch_size)
    stack = [keras.Input(image_shape), PatchEmbedding(patch_size, n, d_model), keras.layers.Dropout(dropout)]
    for _ in range(num_layers):
        stack.append(Residual(keras.layers.MultiHeadAttention(num_heads, d_model // num_heads), dropout))
        mlp = keras.Sequential([keras.layers.Conv1D(d_ff, 1, activation="gelu"), keras.layers.Conv1D(d_model, 1)])
        stack.append(Residual(mlp, dropout))
    stack += [keras.layers.LayerNormalization(epsilon=1e-6), First(), keras.layers.Dense(num_classes)]
    return keras.Sequential(stack)
""",
    # the head on every token, then the first; GELU by its approximation, the default of ops.gelu
    """
class Gelu(keras.layers.Layer):
    def call(self, x):
        return ops.gelu(x)

def mlp(x, d_ff, d_model):
    return keras.layers.Dense(d_model)(Gelu()(keras.layers.Dense(d_ff)(x)))

def norm(x):
    return keras.layers.LayerNormalization(axis=-1, epsilon=0.000001)(x)

def build_vit(image_shape, patch_size, num_classes, num_layers, d_model, num_heads, d_ff, dropout=0.0):
    images = keras.Input(shape=tuple(image_shape), name="images")
    patches = np.prod(image_shape[:2]) // patch_size**2
    x = keras.layers.Dropout(dropout)(PatchEmbedding(patch_size, int(patches), d_model)(images))
    layers_left = num_layers
    while layers_left:
        n = norm(x)
        x += keras.layers.Dropout(dropout)(keras.layers.MultiHeadAttention(num_heads, d_model // num_heads, value_dim=d_model // num_heads)(n, n))
        x += keras.layers.Dropout(dropout)(mlp(norm(x), d_ff, d_model))
        layers_left -= 1
    every = keras.layers.Dense(num_classes)(norm(x))
    return keras.Model(images, ops.squeeze(ops.split(every, [1], axis=1)[0], axis=1))
""",
    # einsum layers for the feed-forward network; nested functional models
    """
def block(tokens, d_model, num_heads, d_ff, dropout):
    inside = keras.Input((tokens, d_model))
    h = keras.layers.LayerNormalization(epsilon=1e-6)(inside)
    h = keras.layers.MultiHeadAttention(num_heads, d_model // num_heads)(h, h)
    x = keras.layers.add([inside, keras.layers.Dropout(dropout)(h)])
    h = keras.layers.LayerNormalization(epsilon=1e-6)(x)
    h = keras.layers.EinsumDense("btd,df->btf", (None, d_ff), bias_axes="f", activation="gelu")(h)
    h = keras.layers.EinsumDense("btf,fd->btd", (None, d_model), bias_axes="d")(h)
    return keras.Model(inside, keras.layers.add([x, keras.layers.Dropout(dropout)(h)]))

def build_vit(image_shape, patch_size, num_classes, num_layers, d_model, num_heads, d_ff, dropout=0.0):
    n = (image_shape[0] // patch_size) * (image_shape[1] // patch_size)
    images = keras.Input(image_shape)
    x = PatchEmbedding(patch_size, n, d_model)(images)
    if dropout:
        x = keras.layers.Dropout(dropout)(x)
    for _ in range(num_layers):
        x = block(n + 1, d_model, num_heads, d_ff, dropout)(x)
    x = keras.layers.LayerNormalization(epsilon=1e-6)(x)
    return keras.Model(images, keras.layers.Dense(num_classes)(x[:, 0]))
""",
    # a dropout of its own, written with TensorFlow's function, and one layer for all three places
    """
class Drop(keras.layers.Layer):
    def __init__(self, rate, **kwargs):
        super().__init__(**kwargs)
        self.rate = rate

    def call(self, x, training=None):
        return tf.nn.dropout(x, self.rate) if training else x

    def get_config(self):
        return {**super().get_config(), "rate": self.rate}

def build_vit(image_shape, patch_size, num_classes, num_layers, d_model, num_heads, d_ff, dropout=0.0):
    drop = Drop(dropout)
    images = keras.Input(image_shape)
    x = drop(PatchEmbedding(patch_size, image_shape[0] * image_shape[1] // patch_size**2, d_model)(images))
    for _ in range(num_layers):
        h = keras.layers.LayerNormalization(epsilon=1e-6)(x)
        x = x + drop(keras.layers.MultiHeadAttention(num_heads, d_model // num_heads)(h, h))
        h = keras.layers.Dense(d_ff, activation="gelu")(keras.layers.LayerNormalization(epsilon=1e-6)(x))
        x = x + drop(keras.layers.Dense(d_model)(h))
    first = keras.layers.LayerNormalization(epsilon=1e-6)(x[:, :1])
    return keras.Model(images, keras.layers.Dense(num_classes)(keras.layers.Flatten()(first)))
""",
    # seeds for the dropouts, a mask drawn and multiplied by hand for the tokens
    """
class DropTokens(keras.layers.Layer):
    def __init__(self, rate, **kwargs):
        super().__init__(**kwargs)
        self.rate, self.seed = rate, keras.random.SeedGenerator(5)

    def call(self, x, training=False):
        if not training or self.rate == 0:
            return x
        keep = keras.random.uniform(ops.shape(x), seed=self.seed) >= self.rate
        return ops.where(keep, x / (1 - self.rate), 0.0)

    def get_config(self):
        return {**super().get_config(), "rate": self.rate}

def build_vit(image_shape, patch_size, num_classes, num_layers, d_model, num_heads, d_ff, dropout=0.0):
    images = keras.Input(image_shape)
    n = (image_shape[0] // patch_size) * (image_shape[1] // patch_size)
    x = DropTokens(dropout)(PatchEmbedding(patch_size, n, d_model)(images))
    for _ in range(num_layers):
        h = keras.layers.LayerNormalization(epsilon=1e-6)(x)
        h = keras.layers.MultiHeadAttention(num_heads, d_model // num_heads)(h, h)
        x = keras.layers.Add()([x, keras.layers.Dropout(dropout, seed=1)(h)])
        h = keras.layers.Dense(d_ff, activation="gelu")(keras.layers.LayerNormalization(epsilon=1e-6)(x))
        x = keras.layers.Add()([x, keras.layers.Dropout(dropout, seed=1)(keras.layers.Dense(d_model)(h))])
    x = keras.layers.LayerNormalization(epsilon=1e-6)(x)
    return keras.Model(images, keras.layers.Dense(num_classes)(x)[:, 0])
""",
]

VIT = """
def build_vit(image_shape, patch_size, num_classes, num_layers, d_model, num_heads, d_ff, dropout=0.0):
    L = keras.layers
    norm = lambda: L.LayerNormalization(epsilon={epsilon})
    attention = lambda: L.MultiHeadAttention(num_heads, {key_dim}{bias})
    dense_in, dense_out = lambda: L.Dense(d_ff, activation={activation}{bias}), lambda: L.Dense(d_model{bias})
    drop = lambda x: L.Dropout({rate})(x{training})
    {shared}
    n = (image_shape[0] // patch_size) * (image_shape[1] // patch_size)
    images = keras.Input(image_shape)
    x = {dropped_tokens}(PatchEmbedding(patch_size, n, d_model)(images))
    for number in range({layers}):
        {first}
        {second}
    {end}
    return keras.Model(images, logits)
"""

GOOD_VIT = {
    "epsilon": "1e-6",
    "key_dim": "d_model // num_heads",
    "bias": "",
    "activation": "'gelu'",
    "rate": "dropout",
    "training": "",
    "shared": "",
    "dropped_tokens": "drop",
    "layers": "num_layers",
    "first": "h = norm()(x); x = x + drop(attention()(h, h))",
    "second": "h = norm()(x); x = x + drop(dense_out()(dense_in()(h)))",
    "end": "logits = L.Dense(num_classes)(norm()(x)[:, 0])",
}


def vit(**changes):
    """The model with some of its parts changed."""
    return VIT.format(**{**GOOD_VIT, **changes})


NORMED = "h = norm()(x); "
BLOCK_DROPPED = NORMED + "x = drop(x + drop(dense_out()(dense_in()(h))))"
HEAD_DROPPED = "logits = L.Dense(num_classes)(drop(norm()(x)[:, 0]))"

BY_HAND = vit(dropped_tokens="Drop(dropout)")
HANDWRITTEN = """
class Drop(keras.layers.Layer):
    def __init__(self, rate, **kwargs):
        super().__init__(**kwargs)
        self.rate = rate

    def call(self, x, training=None):
        return {} if training and self.rate else x

    def get_config(self):
        return {{**super().get_config(), "rate": self.rate}}
"""

WRONG = [
    (
        None,
        vit(
            first="x = norm()(x + drop(attention()(x, x)))",
            second="x = norm()(x + drop(dense_out()(dense_in()(x))))",
            end="logits = L.Dense(num_classes)(x[:, 0])",
        ),
    ),
    ("final_norm_missing", vit(end="logits = L.Dense(num_classes)(x[:, 0])")),
    ("mean_pooled", vit(end="logits = L.Dense(num_classes)(L.GlobalAveragePooling1D()(norm()(x)))")),
    ("patches_pooled", vit(end="logits = L.Dense(num_classes)(ops.mean(norm()(x)[:, 1:], axis=1))")),
    ("every_token_read", vit(end="logits = L.Dense(num_classes)(norm()(x))")),
    (
        "norm_in_every_block",
        vit(
            second=NORMED + "x = norm()(x + drop(dense_out()(dense_in()(h))))",
            end="logits = L.Dense(num_classes)(x[:, 0])",
        ),
    ),
    (None, vit(dropped_tokens="(lambda x: L.Dropout(dropout)(x, training=True))")),
    ("last_token_read", vit(end="logits = L.Dense(num_classes)(norm()(x)[:, -1])")),
    ("first_patch_read", vit(end="logits = L.Dense(num_classes)(norm()(x)[:, 1])")),
    (None, vit(first=NORMED + "x = x + drop(attention()(query=h, value=x))")),
    (None, vit(first=NORMED + "x = h + drop(attention()(h, h))")),
    (None, vit(second=NORMED + "x = h + drop(dense_out()(dense_in()(h)))")),
    # the attention's own dropout instead of one on its output
    (
        None,
        vit(key_dim="d_model // num_heads, dropout=dropout", first=NORMED + "x = x + attention()(h, h)"),
    ),
    ("softmax_output", vit(end="logits = L.Dense(num_classes, activation='softmax')(norm()(x)[:, 0])")),
    (None, vit(activation="'relu'")),
    (None, vit(activation="None")),
    (None, vit(second=NORMED + "x = x + drop(ops.gelu(dense_out()(dense_in()(h)), approximate=False))")),
    (None, vit(first=NORMED + "x = drop(attention()(h, h))")),
    (None, vit(second=NORMED + "x = drop(dense_out()(dense_in()(h)))")),
    (
        None,
        vit(
            first="x = norm()(x); x = x + drop(attention()(x, x))",
            second="x = norm()(x); x = x + drop(dense_out()(dense_in()(x)))",
        ),
    ),
    (None, vit(first="x = x + drop(attention()(x, x))")),
    (None, vit(second="x = x + drop(dense_out()(dense_in()(x)))")),
    (None, vit(first=NORMED + "x = x + drop(attention()(query=h, value=x, key=h))")),
    (None, vit(first=NORMED + "x = x + drop(attention()(h, h, use_causal_mask=True))")),
    (None, vit(epsilon="1e-3")),
    ("keras_epsilon", vit(end="logits = L.Dense(num_classes)(L.LayerNormalization()(x)[:, 0])")),
    (
        "only_tokens_dropped",
        vit(first=NORMED + "x = x + attention()(h, h)", second=NORMED + "x = x + dense_out()(dense_in()(h))"),
    ),
    (None, vit(key_dim="d_model")),
    ("one_block_only", vit(layers="1")),
    ("one_block_too_few", vit(layers="num_layers - 1")),
    ("one_block_too_few", vit(layers="1, num_layers")),
    ("one_block_too_many", vit(layers="num_layers + 1")),
    (
        None,
        vit(
            shared="n1, n2, last, att, up, down = norm(), norm(), norm(), attention(), dense_in(), dense_out()",
            first="h = n1(x); x = x + drop(att(h, h))",
            second="h = n2(x); x = x + drop(down(up(h)))",
            end="logits = L.Dense(num_classes)(last(x)[:, 0])",
        ),
    ),
    (
        None,
        vit(
            first="n = norm(); h = n(x); x = x + drop(attention()(h, h))",
            second="h = n(x); x = x + drop(dense_out()(dense_in()(h)))",
        ),
    ),
    ("dropped_before_head_only", vit(dropped_tokens="", end=HEAD_DROPPED)),
    ("dropped_before_head_only", vit(dropped_tokens="", end="logits = drop(L.Dense(num_classes)(norm()(x)[:, 0]))")),
    ("dropped_after_last_norm", vit(end=HEAD_DROPPED)),
    ("dropped_after_last_norm", vit(end="logits = L.Dense(num_classes)(drop(norm()(x))[:, 0])")),
    ("dropped_after_last_norm", vit(end=HEAD_DROPPED.replace("drop(", "L.Dropout(0.1)("))),
    ("tokens_dropped_twice", vit(dropped_tokens="(lambda x: drop(drop(x)))")),
    ("blocks_dropped_again", vit(second=BLOCK_DROPPED)),
    ("blocks_dropped_again", vit(end="logits = L.Dense(num_classes)(norm()(drop(x))[:, 0])")),
    ("blocks_dropped_not_tokens", vit(dropped_tokens="", second=BLOCK_DROPPED)),
    # no dropout but the one on the logits; a rate of its own, and what should be kept
    (
        None,
        vit(
            dropped_tokens="",
            first=NORMED + "x = x + attention()(h, h)",
            second=NORMED + "x = x + dense_out()(dense_in()(h))",
            end="logits = drop(L.Dense(num_classes)(norm()(x)[:, 0]))",
        ),
    ),
    (None, vit(dropped_tokens="L.Dropout(0.1)")),
    (None, vit(dropped_tokens="L.Dropout(dropout / 2)")),
    (None, vit(rate="(1 - dropout if dropout else 0.0)")),
    (None, vit(first=NORMED + "x = drop(x + attention()(h, h))")),
    ("dropout_never", vit(rate="0.0")),
    ("dropout_rate_ignored", vit(rate="0.1")),
    ("dropout_always", vit(training=", training=True")),
    ("tokens_not_dropped", vit(dropped_tokens="")),
    (None, vit(first=NORMED + "x = x + attention()(h, h)")),
    (None, vit(second=NORMED + "x = x + dense_out()(dense_in()(h))")),
    # noise in place of zeros, in one place and in all; zeros for whole tokens, or the same for all tokens
    ("noise_for_dropout", vit(dropped_tokens="L.GaussianDropout(dropout)")),
    ("noise_for_dropout", vit(dropped_tokens="L.GaussianNoise(dropout)")),
    ("noise_for_dropout", vit(dropped_tokens="L.AlphaDropout(dropout)")),
    ("noise_for_dropout", vit(dropped_tokens="L.SpatialDropout1D(dropout)")),
    ("noise_for_dropout", vit(dropped_tokens="L.Dropout(dropout, noise_shape=(None, None, 1))")),
    ("noise_for_dropout", vit().replace("L.Dropout(", "L.GaussianDropout(")),
    ("noise_for_dropout", vit(second=NORMED + "x = x + L.GaussianDropout(dropout)(dense_out()(dense_in()(h)))")),
    # by hand: noise, zeros without growth, whole tokens
    ("noise_for_dropout", HANDWRITTEN.format("x * (1 + keras.random.normal(ops.shape(x), 0, 0.65))") + BY_HAND),
    (
        "noise_for_dropout",
        HANDWRITTEN.format("x * ops.cast(keras.random.uniform((*ops.shape(x)[:2], 1)) > self.rate, x.dtype) / 0.7")
        + BY_HAND,
    ),
    ("kept_not_grown", HANDWRITTEN.format("tf.nn.dropout(x, self.rate) * (1 - self.rate)") + BY_HAND),
    # a little more, and more than asked for in all places
    ("kept_not_grown", vit(rate="(dropout + 0.01 if dropout else 0.0)")),
    ("kept_not_grown", vit(dropped_tokens="L.Dropout(int(dropout * 10 + 1e-9) / 10.5)")),
    # what a sub-layer reads is dropped: instead of what it returns, and as well
    ("attention_input_dropped", vit(first="h = drop(norm()(x)); x = x + attention()(h, h)")),
    ("attention_input_dropped", vit(first="h = norm()(drop(x)); x = x + attention()(h, h)")),
    ("feed_forward_input_dropped", vit(second="h = drop(norm()(x)); x = x + dense_out()(dense_in()(h))")),
    (
        "inputs_dropped_only",
        vit(
            first="h = drop(norm()(x)); x = x + attention()(h, h)",
            second="h = drop(norm()(x)); x = x + dense_out()(dense_in()(h))",
        ),
    ),
    ("inputs_dropped_too", vit(first="h = drop(norm()(x)); x = x + drop(attention()(h, h))")),
    ("inputs_dropped_too", vit(first="h = norm()(drop(x)); x = x + drop(attention()(h, h))")),
    ("inputs_dropped_too", vit(second="h = drop(norm()(x)); x = x + drop(dense_out()(dense_in()(h)))")),
    # the hidden layer's numbers are dropped, and not the network's
    (None, vit(second=NORMED + "x = x + dense_out()(drop(dense_in()(h)))")),
    ("class_token_last", embedding(result="ops.concatenate([x, front], axis=1) + table")),
    ("positions_missing", embedding(result="ops.concatenate([front, x], axis=1) + 0 * table")),
    (None, embedding(class_token="tf.Variable(tf.zeros((1, 1, d_model)))")),
    ("patches_by_reshape", cut(SIX, "(0, 1, 2, 3, 4, 5)")),
    # no bias; a hidden layer in the head; batch norm
    (None, vit(bias=", use_bias=False")),
    (None, vit(end="logits = L.Dense(num_classes)(L.Dense(d_model, 'tanh')(norm()(x)[:, 0]))")),
    (None, vit(end="logits = L.Dense(num_classes)(L.BatchNormalization()(norm()(x)[:, 0]))")),
    # every token is flattened into the head
    (None, vit(end="logits = L.Dense(num_classes)(L.Flatten()(norm()(x)))")),
    # cannot be saved
    (None, vit(end="logits = L.Dense(num_classes)(L.Lambda(lambda tokens: tokens[:, 0])(norm()(x)))")),
    # no gradient to the embedding
    (None, vit(dropped_tokens="ops.stop_gradient")),
    (
        None,
        vit()
        + "    keras.Model.extra = 1\n"
        + "build_vit_again = build_vit\ndef build_vit(*a, **k):\n    return build_vit_again(*a, **k).predict",
    ),
]
