"""Lab 01, exercise `BahdanauAttention`: solutions as different students write them, right and wrong."""

CORRECT = [
    # TensorFlow throughout, -inf avoided by a large number
    """
class BahdanauAttention(tf.keras.layers.Layer):
    def __init__(self, units):
        super(BahdanauAttention, self).__init__()
        self.query_proj = tf.keras.layers.Dense(units, use_bias=False)
        self.value_proj = tf.keras.layers.Dense(units, use_bias=False)
        self.score_proj = tf.keras.layers.Dense(1, use_bias=False)

    def call(self, query, values, mask=None):
        q = tf.expand_dims(self.query_proj(query), 2)
        v = tf.expand_dims(self.value_proj(values), 1)
        score = tf.squeeze(self.score_proj(tf.nn.tanh(q + v)), axis=-1)
        if mask is not None:
            mask = tf.cast(mask, tf.bool)
            if mask.shape.rank == 2:
                mask = mask[:, tf.newaxis, :]
            score = tf.where(mask, score, -1e9)
        weights = tf.nn.softmax(score, axis=-1)
        return tf.matmul(weights, values), weights
""",
    # einsum, additive mask, layers made in build
    """
class BahdanauAttention(keras.layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, query_shape, values_shape):
        self.query_proj = keras.layers.Dense(self.units, use_bias=False)
        self.value_proj = keras.layers.Dense(self.units, use_bias=False)
        self.score_proj = keras.layers.Dense(1, use_bias=False)
        self.query_proj.build(query_shape)
        self.value_proj.build(values_shape)
        self.score_proj.build((None, self.units))

    def call(self, query, values, mask=None):
        hidden = ops.tanh(ops.expand_dims(self.query_proj(query), 2) + ops.expand_dims(self.value_proj(values), 1))
        scores = ops.einsum("btsu,uo->bts", hidden, self.score_proj.kernel)
        if mask is not None:
            mask = ops.cast(mask, "float32")
            mask = mask if mask.ndim == 3 else ops.expand_dims(mask, 1)
            scores = scores - 1e9 * (1 - mask)
        weights = ops.softmax(scores, axis=-1)
        return ops.einsum("bts,bsv->btv", weights, values), weights
""",
    # through additive exponentials: own normalisation, weights of 0 without any key
    """
class BahdanauAttention(keras.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        make = lambda n: keras.layers.Dense(n, use_bias=False, kernel_initializer="he_normal")
        self.query_proj, self.value_proj, self.score_proj = make(units), make(units), make(1)

    def call(self, query, values, mask=None):
        pairs = self.query_proj(query)[:, :, None, :] + self.value_proj(values)[:, None, :, :]
        scores = ops.squeeze(self.score_proj(ops.tanh(pairs)), axis=-1)
        powers = ops.exp(scores - ops.max(scores, axis=-1, keepdims=True))
        if mask is not None:
            allowed = ops.cast(mask, "float32")
            powers = powers * (allowed[:, None] if len(allowed.shape) == 2 else allowed)
        weights = powers / ops.maximum(ops.sum(powers, axis=-1, keepdims=True), 1e-30)
        return ops.matmul(weights, values), weights
""",
    # the mask repeated to (B, T, S), the student's own attend
    """
class BahdanauAttention(keras.Layer):
    def __init__(self, units, name=None):
        super().__init__(name=name)
        self.query_proj = keras.layers.Dense(units=units, use_bias=False)
        self.value_proj = keras.layers.Dense(units=units, use_bias=False)
        self.score_proj = keras.layers.Dense(units=1, use_bias=False)

    def call(self, query, values, mask=None):
        t = ops.shape(query)[1]
        hidden = keras.activations.tanh(
            ops.repeat(self.query_proj(query)[:, :, None], ops.shape(values)[1], axis=2) + self.value_proj(values)[:, None]
        )
        scores = self.score_proj(hidden)[:, :, :, 0]
        if mask is not None and len(mask.shape) == 2:
            mask = ops.repeat(ops.expand_dims(mask, 1), t, axis=1)
        context, weights = attend(scores, values, mask)
        return [context, weights]
""",
    # keras' Softmax layer, the ready tanh layer
    """
class BahdanauAttention(keras.Layer):
    def __init__(self, units):
        super().__init__()
        self.query_proj = keras.layers.Dense(units, use_bias=False)
        self.value_proj = keras.layers.Dense(units, use_bias=False)
        self.score_proj = keras.layers.Dense(1, use_bias=False)
        self.tanh = keras.layers.Activation("tanh")
        self.softmax = keras.layers.Softmax()

    def call(self, query, values, mask=None):
        q, v = self.query_proj(query), self.value_proj(values)
        scores = ops.sum(self.tanh(q[:, :, None] + v[:, None]) * self.score_proj(ops.eye(v.shape[-1]))[:, 0], axis=-1)
        if mask is not None:
            mask = ops.cast(mask, "bool")
            mask = ops.broadcast_to(mask[:, None] if len(mask.shape) == 2 else mask, ops.shape(scores))
        weights = self.softmax(scores, mask=mask)
        return ops.matmul(weights, values), weights
""",
    # tf.keras, layers made in build
    """
class BahdanauAttention(tf.keras.layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.units = units
    def build(self, *shapes, **kw):
        self.query_proj = tf.keras.layers.Dense(self.units, use_bias=False)
        self.value_proj = tf.keras.layers.Dense(self.units, use_bias=False)
        self.score_proj = tf.keras.layers.Dense(1, use_bias=False)
    def call(self, query, values, mask=None):
        s = self.score_proj(tf.nn.tanh(tf.expand_dims(self.query_proj(query), 2) + tf.expand_dims(self.value_proj(values), 1)))
        s = tf.squeeze(s, axis=-1)
        if mask is not None:
            mask = tf.cast(mask, s.dtype)
            if mask.shape.rank == 2:
                mask = tf.expand_dims(mask, 1)
            s = s + (1 - mask) * -1e9
        w = tf.nn.softmax(s, axis=-1)
        return tf.matmul(w, values), w
""",
    # one reshape for both kinds of mask, a Softmax layer
    """
class BahdanauAttention(keras.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.query_proj, self.value_proj, self.score_proj = [keras.layers.Dense(n, use_bias=False) for n in (units, units, 1)]
        self.softmax = keras.layers.Softmax(axis=-1)
    def call(self, query, values, mask=None):
        hidden = ops.tanh(self.query_proj(query)[:, :, None] + self.value_proj(values)[:, None])
        scores = ops.sum(self.score_proj(hidden), axis=-1)
        if mask is not None:
            mask = ops.cast(mask, "bool")
            mask = ops.reshape(mask, (ops.shape(values)[0], -1, ops.shape(values)[1]))
            mask = ops.broadcast_to(mask, ops.shape(scores))
        weights = self.softmax(scores, mask=mask)
        context = ops.sum(weights[..., None] * values[:, None], axis=2)
        return context, weights
    def compute_mask(self, *args, **kwargs):
        return None
""",
]

WRONG = [
    ("softmax_over_queries", "class BahdanauAttention(keras.Layer):\n    def __init__(self, units):\n        super().__init__()\n        D = keras.layers.Dense\n        self.query_proj, self.value_proj, self.score_proj = D(units, use_bias=False), D(units, use_bias=False), D(1, use_bias=False)\n    def call(self, query, values, mask=None):\n        s = self.score_proj(ops.tanh(self.query_proj(query)[:, :, None] + self.value_proj(values)[:, None]))[..., 0]\n        if mask is not None:\n            m = ops.cast(mask, 'bool')\n            s = ops.where(m[:, None] if len(m.shape) == 2 else m, s, -1e9)\n        w = ops.softmax(s, axis=1)\n        return ops.matmul(w, values), w"),
    ("values_projected", "class BahdanauAttention(keras.Layer):\n    def __init__(self, units):\n        super().__init__()\n        D = keras.layers.Dense\n        self.query_proj, self.value_proj, self.score_proj = D(units, use_bias=False), D(units, use_bias=False), D(1, use_bias=False)\n    def call(self, query, values, mask=None):\n        v = self.value_proj(values)\n        s = self.score_proj(ops.tanh(self.query_proj(query)[:, :, None] + v[:, None]))[..., 0]\n        return attend(s, v, mask[:, None] if mask is not None and len(mask.shape) == 2 else mask)"),
    ("no_tanh", "class BahdanauAttention(keras.Layer):\n    def __init__(self, units):\n        super().__init__()\n        D = keras.layers.Dense\n        self.query_proj, self.value_proj, self.score_proj = D(units, use_bias=False), D(units, use_bias=False), D(1, use_bias=False)\n    def call(self, query, values, mask=None):\n        s = self.score_proj(self.query_proj(query)[:, :, None] + self.value_proj(values)[:, None])[..., 0]\n        return attend(s, values, mask[:, None] if mask is not None and len(mask.shape) == 2 else mask)"),
    ("tanh_outside", "class BahdanauAttention(keras.Layer):\n    def __init__(self, units):\n        super().__init__()\n        D = keras.layers.Dense\n        self.query_proj, self.value_proj, self.score_proj = D(units, use_bias=False), D(units, use_bias=False), D(1, use_bias=False)\n    def call(self, query, values, mask=None):\n        s = ops.tanh(self.score_proj(self.query_proj(query)[:, :, None] + self.value_proj(values)[:, None]))[..., 0]\n        return attend(s, values, mask[:, None] if mask is not None and len(mask.shape) == 2 else mask)"),
    ("dense_with_bias", "class BahdanauAttention(keras.Layer):\n    def __init__(self, units):\n        super().__init__()\n        D = keras.layers.Dense\n        self.query_proj, self.value_proj, self.score_proj = D(units), D(units), D(1)\n    def call(self, query, values, mask=None):\n        s = self.score_proj(ops.tanh(self.query_proj(query)[:, :, None] + self.value_proj(values)[:, None]))[..., 0]\n        return attend(s, values, mask[:, None] if mask is not None and len(mask.shape) == 2 else mask)"),
    ("mask_by_query", "class BahdanauAttention(keras.Layer):\n    def __init__(self, units):\n        super().__init__()\n        D = keras.layers.Dense\n        self.query_proj, self.value_proj, self.score_proj = D(units, use_bias=False), D(units, use_bias=False), D(1, use_bias=False)\n    def call(self, query, values, mask=None):\n        s = self.score_proj(ops.tanh(self.query_proj(query)[:, :, None] + self.value_proj(values)[:, None]))[..., 0]\n        return attend(s, values, mask)"),
    ("softmax_over_one", "class BahdanauAttention(keras.Layer):\n    def __init__(self, units):\n        super().__init__()\n        D = keras.layers.Dense\n        self.query_proj, self.value_proj, self.score_proj = D(units, use_bias=False), D(units, use_bias=False), D(1, use_bias=False)\n    def call(self, query, values, mask=None):\n        w = ops.softmax(self.score_proj(ops.tanh(self.query_proj(query)[:, :, None] + self.value_proj(values)[:, None])))\n        return ops.sum(w * values[:, None], axis=2), w[..., 0]"),
    (None, "class BahdanauAttention(keras.Layer):\n    def __init__(self, units):\n        super().__init__()\n        D = keras.layers.Dense\n        self.query_proj, self.value_proj, self.score_proj = D(units, use_bias=False), D(units, use_bias=False), D(1, use_bias=False)\n        self.inner = keras.layers.AdditiveAttention()\n    def call(self, query, values, mask=None):\n        return self.inner([self.query_proj(query), values, self.value_proj(values)], return_attention_scores=True)"),
    ("mask_on_queries", 'class BahdanauAttention(keras.Layer):\n    def __init__(self, units, **kwargs):\n        super().__init__(**kwargs)\n        self.supports_masking = True\n        self.query_proj = keras.layers.Dense(units, use_bias=False)\n        self.value_proj = keras.layers.Dense(units, use_bias=False)\n        self.score_proj = keras.layers.Dense(1, use_bias=False)\n    def call(self, query, values, mask=None):\n        q = self.query_proj(query)[:, :, None, :]\n        k = self.value_proj(values)[:, None, :, :]\n        s = self.score_proj(ops.tanh(q + k))[..., 0]\n        if mask is not None:\n            if len(mask.shape) == 2:\n                mask = mask[:, :, None]\n            s = ops.where(ops.cast(mask, "bool"), s, -1e9)\n        w = ops.softmax(s, axis=-1)\n        return ops.matmul(w, values), w\n    def compute_mask(self, *a, **k):\n        return None'),
    ("", """
class BahdanauAttention(keras.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.query_proj = keras.layers.Dense(units, use_bias=False)
        self.value_proj = keras.layers.Dense(units, use_bias=False)
        self.score_proj = keras.layers.Dense(1, use_bias=False)
    def call(self, query, values, mask=None):
        h = ops.tanh(self.query_proj(query)[:, None] + self.value_proj(values)[:, :, None])
        scores = self.score_proj(h)[..., 0]
        if mask is not None and len(mask.shape) == 2:
            mask = mask[:, None]
        return attend(scores, values, mask)
    def compute_mask(self, *args, **kwargs):
        return None
"""),
    ("", """
class BahdanauAttention(keras.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.query_proj = keras.layers.Dense(units, use_bias=False)
        self.value_proj = keras.layers.Dense(units, use_bias=False)
        self.score_proj = keras.layers.Dense(1, use_bias=False)
    def call(self, query, values, mask=None):
        h = ops.tanh(self.query_proj(query)[:, :, None] + self.value_proj(values)[:, None])
        scores = ops.squeeze(self.score_proj(h))
        if mask is not None and len(mask.shape) == 2:
            mask = mask[:, None]
        return attend(scores, values, mask)
    def compute_mask(self, *args, **kwargs):
        return None
"""),
    ("", """
class BahdanauAttention(keras.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.query_proj = keras.layers.Dense(units, use_bias=False)
        self.value_proj = keras.layers.Dense(units, use_bias=False)
        self.score_proj = keras.layers.Dense(1, use_bias=False)
    def call(self, query, values, mask=None):
        h = ops.tanh(self.query_proj(query)[:, :, None] + self.value_proj(values)[:, None])
        scores = self.score_proj(h)[..., 0]
        if mask is not None:
            mask = mask[:, None]
        return attend(scores, values, mask)
    def compute_mask(self, *args, **kwargs):
        return None
"""),
    ("softmax_over_queries_unmasked", """
class BahdanauAttention(keras.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.query_proj = keras.layers.Dense(units, use_bias=False)
        self.value_proj = keras.layers.Dense(units, use_bias=False)
        self.score_proj = keras.layers.Dense(1, use_bias=False)
    def call(self, query, values, mask=None):
        h = ops.tanh(self.query_proj(query)[:, :, None] + self.value_proj(values)[:, None])
        weights = ops.softmax(self.score_proj(h)[..., 0], axis=1)
        return ops.matmul(weights, values), weights
    def compute_mask(self, *args, **kwargs):
        return None
"""),
    ("score_proj_unused", """
class BahdanauAttention(keras.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.query_proj = keras.layers.Dense(units, use_bias=False)
        self.value_proj = keras.layers.Dense(units, use_bias=False)
        self.score_proj = keras.layers.Dense(1, use_bias=False)
    def call(self, query, values, mask=None):
        h = ops.tanh(self.query_proj(query)[:, :, None] + self.value_proj(values)[:, None])
        scores = ops.sum(h, axis=-1)
        if mask is not None and len(mask.shape) == 2:
            mask = mask[:, None]
        return attend(scores, values, mask)
    def compute_mask(self, *args, **kwargs):
        return None
"""),
    ("", """
# another layer in each call
class BahdanauAttention(keras.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.query_proj = keras.layers.Dense(units, use_bias=False)
        self.value_proj = keras.layers.Dense(units, use_bias=False)
        self.score_proj = keras.layers.Dense(1, use_bias=False)
    def call(self, query, values, mask=None):
        h = ops.tanh(self.query_proj(query)[:, :, None] + self.value_proj(values)[:, None])
        scores = keras.layers.Dense(1, use_bias=False)(h)[..., 0]
        if mask is not None and len(mask.shape) == 2:
            mask = mask[:, None]
        return attend(scores, values, mask)
    def compute_mask(self, *args, **kwargs):
        return None
"""),
    ("", """
# two slips: no tanh, and the mask the wrong way round
class BahdanauAttention(keras.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.query_proj = keras.layers.Dense(units, use_bias=False)
        self.value_proj = keras.layers.Dense(units, use_bias=False)
        self.score_proj = keras.layers.Dense(1, use_bias=False)
    def call(self, query, values, mask=None):
        h = (self.query_proj(query)[:, :, None] + self.value_proj(values)[:, None])
        mask = None if mask is None else 1 - ops.cast(mask, 'int32')
        scores = self.score_proj(h)[..., 0]
        if mask is not None and len(mask.shape) == 2:
            mask = mask[:, None]
        return attend(scores, values, mask)
    def compute_mask(self, *args, **kwargs):
        return None
"""),
]  # fmt: skip
