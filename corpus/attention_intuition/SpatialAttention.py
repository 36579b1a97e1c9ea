"""Lab 01, exercise `SpatialAttention`: solutions as different students write them, right and wrong."""

CORRECT = [
    # TensorFlow, global features resized before the convolution
    """
class SpatialAttention(tf.keras.layers.Layer):
    def __init__(self, filters):
        super().__init__()
        self.local_conv = tf.keras.layers.Conv2D(filters, kernel_size=1)
        self.global_conv = tf.keras.layers.Conv2D(filters, kernel_size=1)
        self.score_conv = tf.keras.layers.Conv2D(1, kernel_size=1)

    def call(self, features, global_features):
        size = tf.shape(features)[1:3]
        g = self.global_conv(tf.image.resize(global_features, size, method="bilinear"))
        r = self.score_conv(tf.nn.relu(self.local_conv(features) + g))
        a = tf.nn.softmax(tf.reshape(r, (tf.shape(r)[0], -1)), axis=-1)
        a = tf.reshape(a, tf.shape(r))
        return a * features, a
""",
    # no biases, places counted by -1
    """
class SpatialAttention(keras.Layer):
    def __init__(self, filters, **kwargs):
        super().__init__(**kwargs)
        self.local_conv = keras.layers.Conv2D(filters, 1, use_bias=False)
        self.global_conv = keras.layers.Conv2D(filters, 1, use_bias=False)
        self.score_conv = keras.layers.Conv2D(1, 1, use_bias=False)

    def call(self, features, global_features):
        wide = keras.ops.image.resize(global_features, features.shape[1:3])
        score = self.score_conv(keras.activations.relu(self.local_conv(features) + self.global_conv(wide)))
        h, w = features.shape[1:3]
        where = ops.reshape(ops.softmax(ops.reshape(score, (-1, h * w))), (-1, h, w, 1))
        return ops.multiply(features, where), where
""",
    # the exponentials written out
    """
class SpatialAttention(keras.layers.Layer):
    def __init__(self, filters, **kwargs):
        super().__init__(**kwargs)
        self.local_conv = keras.layers.Conv2D(filters, (1, 1), padding="same")
        self.global_conv = keras.layers.Conv2D(filters, (1, 1), padding="same")
        self.score_conv = keras.layers.Conv2D(1, (1, 1), padding="same")

    def call(self, features, global_features):
        h, w = ops.shape(features)[1], ops.shape(features)[2]
        guide = ops.image.resize(self.global_conv(global_features), (h, w), interpolation="bilinear")
        score = self.score_conv(ops.maximum(self.local_conv(features) + guide, 0))
        powers = ops.exp(score - ops.max(score, axis=(1, 2), keepdims=True))
        attention = powers / ops.sum(powers, axis=(1, 2), keepdims=True)
        return features * attention, attention
""",
    # layers made in build, layers for every step
    """
class SpatialAttention(keras.Layer):
    def __init__(self, filters, **kwargs):
        super().__init__(**kwargs)
        self.filters = filters
        self.flatten, self.softmax = keras.layers.Flatten(), keras.layers.Softmax()
        self.relu, self.add = keras.layers.ReLU(), keras.layers.Add()

    def build(self, features_shape, global_features_shape):
        self.local_conv = keras.layers.Conv2D(self.filters, 1)
        self.global_conv = keras.layers.Conv2D(self.filters, 1)
        self.score_conv = keras.layers.Conv2D(1, 1)
        self.resizing = keras.layers.Resizing(features_shape[1], features_shape[2])
        self.reshape = keras.layers.Reshape((features_shape[1], features_shape[2], 1))
        self.local_conv.build(features_shape)
        self.global_conv.build(global_features_shape)
        self.score_conv.build((None, None, None, self.filters))

    def call(self, features, global_features):
        both = self.relu(self.add([self.local_conv(features), self.resizing(self.global_conv(global_features))]))
        attention = self.reshape(self.softmax(self.flatten(self.score_conv(both))))
        return [features * attention, attention]
""",
    # einsum with the kernels, the student's own softmax
    """
class SpatialAttention(keras.Layer):
    def __init__(self, filters):
        super().__init__()
        conv = lambda n: keras.layers.Conv2D(n, 1, kernel_initializer="he_normal")
        self.local_conv, self.global_conv, self.score_conv = conv(filters), conv(filters), conv(1)

    def call(self, features, global_features):
        _, h, w, c = features.shape
        resized = ops.image.resize(global_features, (h, w), interpolation="bilinear", antialias=False)
        hidden = ops.relu(self.local_conv(features) + self.global_conv(resized))
        places = softmax(ops.reshape(self.score_conv(hidden), (-1, h * w)))
        mixed = ops.einsum("bp,bpc->bpc", places, ops.reshape(features, (-1, h * w, c)))
        return ops.reshape(mixed, (-1, h, w, c)), ops.reshape(places, (-1, h, w, 1))
""",
    # layers for every step
    """
class SpatialAttention(keras.layers.Layer):
    def __init__(self, filters, **kwargs):
        super().__init__(**kwargs)
        self.local_conv = keras.layers.Conv2D(filters, kernel_size=1, strides=1)
        self.global_conv = keras.layers.Conv2D(filters, kernel_size=1)
        self.score_conv = keras.layers.Conv2D(filters=1, kernel_size=1)
        self.add = keras.layers.Add()
        self.relu = keras.layers.ReLU()
        self.flatten = keras.layers.Flatten()
        self.softmax = keras.layers.Softmax()
    def call(self, features, global_features, training=None):
        _, h, w, _ = features.shape
        g = tf.image.resize(self.global_conv(global_features), [h, w], method="bilinear")
        s = self.score_conv(self.relu(self.add([self.local_conv(features), g])))
        m = ops.reshape(self.softmax(self.flatten(s)), (-1, h, w, 1))
        return [features * m, m]
""",
]

WRONG = [
    ("softmax_over_channels", "class SpatialAttention(keras.Layer):\n    def __init__(self, filters):\n        super().__init__()\n        C = keras.layers.Conv2D\n        self.local_conv, self.global_conv, self.score_conv = C(filters, 1), C(filters, 1), C(1, 1)\n    def call(self, f, g):\n        up = ops.image.resize(self.global_conv(g), f.shape[1:3])\n        a = ops.softmax(self.score_conv(ops.relu(self.local_conv(f) + up)))\n        return f * a, a"),
    ("projection_attended", "class SpatialAttention(keras.Layer):\n    def __init__(self, filters):\n        super().__init__()\n        C = keras.layers.Conv2D\n        self.local_conv, self.global_conv, self.score_conv = C(filters, 1), C(filters, 1), C(1, 1)\n    def call(self, f, g):\n        h, w = f.shape[1:3]\n        near, far = self.local_conv(f), ops.image.resize(self.global_conv(g), (h, w))\n        a = ops.reshape(ops.softmax(ops.reshape(self.score_conv(ops.relu(near + far)), (-1, h * w))), (-1, h, w, 1))\n        return near * a, a"),
    ("sum_attended", "class SpatialAttention(keras.Layer):\n    def __init__(self, filters):\n        super().__init__()\n        C = keras.layers.Conv2D\n        self.local_conv, self.global_conv, self.score_conv = C(filters, 1), C(filters, 1), C(1, 1)\n    def call(self, f, g):\n        h, w = f.shape[1:3]\n        near, far = self.local_conv(f), ops.image.resize(self.global_conv(g), (h, w))\n        a = ops.reshape(ops.softmax(ops.reshape(self.score_conv(ops.relu(near + far)), (-1, h * w))), (-1, h, w, 1))\n        return ops.relu(near + far) * a, a"),
    ("global_attended", "class SpatialAttention(keras.Layer):\n    def __init__(self, filters):\n        super().__init__()\n        C = keras.layers.Conv2D\n        self.local_conv, self.global_conv, self.score_conv = C(filters, 1), C(filters, 1), C(1, 1)\n    def call(self, f, g):\n        h, w = f.shape[1:3]\n        near, far = self.local_conv(f), ops.image.resize(self.global_conv(g), (h, w))\n        a = ops.reshape(ops.softmax(ops.reshape(self.score_conv(ops.relu(near + far)), (-1, h * w))), (-1, h, w, 1))\n        return ops.image.resize(g, (h, w)) * a, a"),
    ("no_relu", "class SpatialAttention(keras.Layer):\n    def __init__(self, filters):\n        super().__init__()\n        C = keras.layers.Conv2D\n        self.local_conv, self.global_conv, self.score_conv = C(filters, 1), C(filters, 1), C(1, 1)\n    def call(self, f, g):\n        up = ops.image.resize(self.global_conv(g), f.shape[1:3])\n        a = ops.softmax(self.score_conv(self.local_conv(f) + up), axis=(1, 2))\n        return f * a, a"),
    ("relu_of_each", "class SpatialAttention(keras.Layer):\n    def __init__(self, filters):\n        super().__init__()\n        C = keras.layers.Conv2D\n        self.local_conv, self.global_conv, self.score_conv = C(filters, 1, activation='relu'), C(filters, 1), C(1, 1)\n    def call(self, f, g):\n        up = ops.relu(ops.image.resize(self.global_conv(g), f.shape[1:3]))\n        a = ops.softmax(self.score_conv(self.local_conv(f) + up), axis=(1, 2))\n        return f * a, a"),
    ("nearest_resize", "class SpatialAttention(keras.Layer):\n    def __init__(self, filters):\n        super().__init__()\n        C = keras.layers.Conv2D\n        self.local_conv, self.global_conv, self.score_conv = C(filters, 1), C(filters, 1), C(1, 1)\n    def call(self, f, g):\n        up = ops.image.resize(self.global_conv(g), f.shape[1:3], interpolation='nearest')\n        a = ops.softmax(self.score_conv(ops.relu(self.local_conv(f) + up)), axis=(1, 2))\n        return f * a, a"),
    ("sigmoid_map", "class SpatialAttention(keras.Layer):\n    def __init__(self, filters):\n        super().__init__()\n        C = keras.layers.Conv2D\n        self.local_conv, self.global_conv, self.score_conv = C(filters, 1), C(filters, 1), C(1, 1)\n    def call(self, f, g):\n        up = ops.image.resize(self.global_conv(g), f.shape[1:3])\n        a = ops.sigmoid(self.score_conv(ops.relu(self.local_conv(f) + up)))\n        return f * a, a"),
    (None, "class SpatialAttention(keras.Layer):\n    def __init__(self, filters):\n        super().__init__()\n        C = keras.layers.Conv2D\n        self.local_conv, self.global_conv, self.score_conv = C(filters, 3, padding='same'), C(filters, 1), C(1, 1)\n    def call(self, f, g):\n        up = ops.image.resize(self.global_conv(g), f.shape[1:3])\n        a = ops.softmax(self.score_conv(ops.relu(self.local_conv(f) + up)), axis=(1, 2))\n        return f * a, a"),
    ("relu_on_scores", 'class SpatialAttention(keras.Layer):\n    def __init__(self, filters, **kwargs):\n        super().__init__(**kwargs)\n        self.local_conv = keras.layers.Conv2D(filters, 1)\n        self.global_conv = keras.layers.Conv2D(filters, 1)\n        self.score_conv = keras.layers.Conv2D(1, 1)\n    def call(self, features, global_features):\n        h, w = features.shape[1], features.shape[2]\n        g = ops.image.resize(self.global_conv(global_features), (h, w), interpolation="bilinear")\n        s = ops.relu(self.score_conv(self.local_conv(features) + g))\n        m = ops.reshape(ops.softmax(ops.reshape(s, (-1, h * w)), axis=-1), (-1, h, w, 1))\n        return features * m, m'),
]  # fmt: skip
