"""Lab 09, exercise `PatchEmbedding`: solutions as different students write them, right and wrong."""

from corpus.vision_transformer.shared import SIX, cut, embedding

CORRECT = [
    # repeat instead of broadcast, weights in build
    """
class PatchEmbedding(keras.layers.Layer):
    def __init__(self, patch_size, num_patches, d_model, **kwargs):
        super().__init__(**kwargs)
        self.patch_size, self.num_patches, self.d_model = patch_size, num_patches, d_model

    def build(self, input_shape):
        self.projection = keras.layers.Dense(self.d_model)
        self.projection.build((None, self.num_patches, self.patch_size**2 * input_shape[-1]))
        self.class_token = self.add_weight(shape=(1, 1, self.d_model), initializer="random_normal")
        self.position_embedding = self.add_weight(shape=(1, self.num_patches + 1, self.d_model), initializer="zeros")

    def call(self, images):
        x = self.projection(extract_patches(images, self.patch_size))
        token = ops.repeat(self.class_token, ops.shape(x)[0], axis=0)
        return ops.add(ops.concatenate([token, x], 1), self.position_embedding)

    def get_config(self):
        return {**super().get_config(), "patch_size": self.patch_size, "num_patches": self.num_patches, "d_model": self.d_model}
""",
    # tf.tile, tf.concat; positions added in two parts
    """
class PatchEmbedding(keras.Layer):
    def __init__(self, patch_size, num_patches, d_model, **kwargs):
        super().__init__(**kwargs)
        self.p, self.n, self.d = patch_size, num_patches, d_model
        self.projection = keras.layers.Dense(d_model, use_bias=True, name="projection")
        self.class_token = self.add_weight(name="cls", shape=(1, 1, d_model), initializer="zeros", trainable=True)
        self.position_embedding = self.add_weight(name="pos", shape=(1, num_patches + 1, d_model))

    def call(self, images):
        x = self.projection(extract_patches(images, self.p)) + self.position_embedding[:, 1:]
        token = tf.tile(self.class_token + self.position_embedding[:, :1], [tf.shape(images)[0], 1, 1])
        return tf.concat([token, x], axis=1)

    def get_config(self):
        config = super().get_config()
        config.update(patch_size=self.p, num_patches=self.n, d_model=self.d)
        return config
""",
    # cuts by itself with a strided convolution, whose kernel is the projection's
    """
class PatchEmbedding(keras.Layer):
    def __init__(self, patch_size, num_patches, d_model, **kwargs):
        super().__init__(**kwargs)
        self.patch_size, self.num_patches, self.d_model = patch_size, num_patches, d_model
        self.projection = keras.layers.Dense(d_model)
        self.class_token = self.add_weight(shape=(1, 1, d_model), initializer="zeros")
        self.position_embedding = self.add_weight(shape=(1, num_patches + 1, d_model), initializer="random_normal")

    def build(self, shape):
        self.projection.build((None, self.patch_size**2 * shape[-1]))

    def call(self, images):
        p = self.patch_size
        kernel = ops.reshape(self.projection.kernel, (p, p, images.shape[-1], self.d_model))
        x = ops.conv(images, kernel, strides=p, padding="valid") + self.projection.bias
        x = ops.reshape(x, (ops.shape(x)[0], self.num_patches, self.d_model))
        front = ops.zeros_like(x[:, :1]) + self.class_token
        return ops.concatenate([front, x], axis=1) + self.position_embedding

    def get_config(self):
        return {**super().get_config(), "patch_size": self.patch_size, "num_patches": self.num_patches, "d_model": self.d_model}
""",
    # pads an empty place in front, and fills it
    """
class PatchEmbedding(keras.Layer):
    def __init__(self, patch_size, num_patches, d_model, **kwargs):
        super().__init__(**kwargs)
        self.patch_size = patch_size
        self.num_patches = num_patches
        self.d_model = d_model
        self.projection = keras.layers.Dense(units=d_model)
        make = lambda tokens: keras.Variable(keras.random.normal((1, tokens, d_model), stddev=0.02))
        self.class_token, self.position_embedding = make(1), make(num_patches + 1)

    def call(self, images):
        tokens = self.projection(extract_patches(images, self.patch_size))
        tokens = ops.pad(tokens, [[0, 0], [1, 0], [0, 0]])
        first = ops.one_hot(0, self.num_patches + 1)[None, :, None]
        return tokens + first * self.class_token + self.position_embedding

    def get_config(self):
        base = super().get_config()
        return dict(base, patch_size=self.patch_size, num_patches=self.num_patches, d_model=self.d_model)
""",
    # a model of its own; einsum for the projection
    """
class PatchEmbedding(keras.Model):
    def __init__(self, patch_size, num_patches, d_model, **kwargs):
        super().__init__(**kwargs)
        self.settings = (patch_size, num_patches, d_model)
        self.projection = keras.layers.Dense(d_model, kernel_initializer="he_normal")
        self.class_token = self.add_weight(shape=(1, 1, d_model), initializer=keras.initializers.TruncatedNormal(stddev=0.02), name="a")
        self.position_embedding = self.add_weight(shape=(1, num_patches + 1, d_model), initializer="random_uniform", name="b")

    def call(self, images, training=None):
        x = self.projection(extract_patches(images, self.settings[0]))
        ones = ops.ones((ops.shape(images)[0], 1))
        front = ops.einsum("bt,tnd->bnd", ones, self.class_token)
        return self.position_embedding + ops.concatenate((front, x), axis=-2)

    def get_config(self):
        return dict(zip(("patch_size", "num_patches", "d_model"), self.settings))
""",
    # a bias of the projection that is added after the join, a table of positions without its first axis
    """
class PatchEmbedding(keras.Layer):
    def __init__(self, patch_size, num_patches, d_model, **kwargs):
        super().__init__(**kwargs)
        self.patch_size, self.num_patches, self.d_model = patch_size, num_patches, d_model
        self.projection = keras.layers.Dense(d_model)
        self.class_token = self.add_weight(shape=(1, 1, d_model), initializer="zeros")
        self.position_embedding = self.add_weight(shape=(1, num_patches + 1, d_model), initializer="zeros")

    def call(self, images):
        images = ops.convert_to_tensor(images)
        batch = ops.shape(images)[0]
        front = ops.reshape(ops.tile(ops.reshape(self.class_token, (-1,)), [batch]), (batch, 1, self.d_model))
        x = ops.append(front, self.projection(extract_patches(images, self.patch_size)), axis=1)
        return x + ops.squeeze(self.position_embedding, 0)

    def get_config(self):
        return {**super().get_config(), "patch_size": self.patch_size, "num_patches": self.num_patches, "d_model": self.d_model}
""",
]

WRONG = [
    ("class_token_last", embedding(result="ops.concatenate([x, front], axis=1) + table")),
    ("class_token_missing", embedding(result="x + table[:, 1:]")),
    ("class_token_added", embedding(result="x + front + table[:, 1:]")),
    ("class_token_zero", embedding(result="ops.concatenate([0 * front, x], axis=1) + table")),
    ("positions_missing", embedding(result="ops.concatenate([front, x], axis=1) + 0 * table")),
    ("no_position_for_class_token", embedding(result="ops.concatenate([front, x + table[:, 1:]], axis=1)")),
    ("positions_before_class_token", embedding(result="ops.concatenate([front, x + table[:, :-1]], axis=1)")),
    ("positions_multiplied", embedding(result="ops.concatenate([front, x], axis=1) * table")),
    ("all_tokens_scaled", embedding(result="ops.concatenate([front, x], axis=1) * self.d_model**0.5 + table")),
    (None, embedding(result="ops.concatenate([ops.mean(x, axis=1, keepdims=True), x], axis=1) + table")),
    ("scaled_by_root_d", embedding(result="ops.concatenate([front, x * self.d_model**0.5], axis=1) + table")),
    (None, embedding(dense=", activation='relu'")),
    (None, embedding(dense=", activation='gelu'")),
    # no bias, which a message of its own says
    (None, embedding(dense=", use_bias=False")),
    (None, embedding(class_token="tf.Variable(tf.zeros((1, 1, d_model)))")),
    (None, embedding(positions="tf.Variable(tf.zeros((1, num_patches + 1, d_model)))")),
    (
        None,
        embedding(
            class_token="tf.Variable(tf.zeros((1, 1, d_model)))",
            positions="tf.Variable(tf.zeros((1, num_patches + 1, d_model)))",
        ),
    ),
    (None, embedding(class_token="self.add_weight(shape=(1, 1, d_model), trainable=False)")),
    # a table that is an Embedding layer; a constant; one class token for each class; no class token at all
    (
        None,
        embedding(
            positions="keras.layers.Embedding(num_patches + 1, d_model)",
            result="ops.concatenate([front, x], axis=1) + table(ops.arange(self.num_patches + 1))",
        ),
    ),
    (None, embedding(class_token="ops.zeros((1, 1, d_model))")),
    (
        None,
        embedding(
            class_token="self.add_weight(shape=(1, 10, d_model))",
            result="ops.concatenate([front[:, :1], x], axis=1) + table",
        ),
    ),
    (None, embedding(class_token="None")),
    # works for one batch size only, or outside of graphs only
    (
        None,
        embedding(
            result="ops.concatenate([ops.broadcast_to(self.class_token, (images.shape[0], 1, self.d_model)), x], axis=1) + table"
        ),
    ),
    (None, embedding(patches="np.asarray(extract_patches(images, self.patch_size).numpy())")),
    (None, embedding(result="ops.concatenate([self.class_token, x], axis=1) + table")),
    # the configuration is not complete
    (None, embedding(config="return super().get_config()")),
    ("patches_by_columns", cut(SIX, "(0, 3, 1, 2, 4, 5)")),
    ("patches_by_reshape", cut(SIX, "(0, 1, 2, 3, 4, 5)")),
    ("patches_channels_first", cut(SIX, "(0, 1, 3, 5, 2, 4)")),
    ("patches_turned", cut(SIX, "(0, 1, 3, 4, 2, 5)")),
]
