"""Lab 02, exercise `SelfAttention`: solutions as different students write them, right and wrong."""

CORRECT = [
    # everything in the layer, additive mask, layers made in build
    """
class SelfAttention(keras.layers.Layer):
    def __init__(self, d_k, d_v):
        super().__init__()
        self.d_k, self.d_v = d_k, d_v

    def build(self, input_shape):
        dense = keras.layers.Dense
        self.w_q, self.w_k, self.w_v = (dense(n, use_bias=False) for n in (self.d_k, self.d_k, self.d_v))
        for each in (self.w_q, self.w_k, self.w_v):
            each.build(input_shape)

    def call(self, x, attention_mask=None, return_weights=False):
        mask = attention_mask
        scores = ops.einsum("btd,bsd->bts", self.w_q(x), self.w_k(x)) / ops.sqrt(ops.cast(self.d_k, "float32"))
        if mask is not None:
            mask = ops.cast(mask, "float32")
            if len(mask.shape) == 4:
                mask = ops.squeeze(mask, axis=1)
            scores += (mask - 1.0) * 1e9
        weights = ops.softmax(scores, axis=-1)
        output = ops.einsum("bts,bsv->btv", weights, self.w_v(x))
        if return_weights:
            return output, weights
        return output
""",
    # tf operations
    """
class SelfAttention(tf.keras.layers.Layer):
    def __init__(self, d_k, d_v, name=None):
        super(SelfAttention, self).__init__(name=name)
        self.w_q = tf.keras.layers.Dense(units=d_k, use_bias=False)
        self.w_k = tf.keras.layers.Dense(units=d_k, use_bias=False)
        self.w_v = tf.keras.layers.Dense(units=d_v, use_bias=False)

    def call(self, x, attention_mask=None, return_weights=False):
        mask = attention_mask
        query, key, value = self.w_q(x), self.w_k(x), self.w_v(x)
        scores = tf.matmul(query, key, transpose_b=True) / tf.math.sqrt(tf.cast(tf.shape(key)[-1], tf.float32))
        if mask is not None:
            mask = tf.cast(mask, tf.bool)
            if mask.shape.rank == 4:
                mask = mask[:, 0, :, :]
            scores = tf.where(mask, scores, -1e9)
        weights = tf.nn.softmax(scores, axis=-1)
        output = tf.matmul(weights, value)
        return (output, weights) if return_weights else output
""",
    # the 4-D mask kept: scores get an axis for it
    """
class SelfAttention(keras.Layer):
    def __init__(self, d_k, d_v, **kwargs):
        super().__init__(**kwargs)
        self.w_q = keras.layers.Dense(d_k, use_bias=False)
        self.w_k = keras.layers.Dense(d_k, use_bias=False)
        self.w_v = keras.layers.Dense(d_v, use_bias=False)

    def call(self, x, attention_mask=None, return_weights=False):
        mask = attention_mask
        q, k, v = self.w_q(x)[:, None], self.w_k(x)[:, None], self.w_v(x)[:, None]
        if mask is not None:
            rank = len(mask.shape)
            mask = mask if rank == 4 else mask[:, None] if rank == 3 else mask[None, None]
        output, weights = scaled_dot_product_attention(q, k, v, mask)
        return (output[:, 0], weights[:, 0]) if return_weights else output[:, 0]
""",
    # the helper for projections, Softmax layer with its own mask argument
    """
class SelfAttention(keras.Layer):
    def __init__(self, d_k, d_v, **kwargs):
        super().__init__(**kwargs)
        make = lambda units: keras.layers.Dense(units, use_bias=False, kernel_initializer="he_normal")
        self.w_q, self.w_k, self.w_v = make(d_k), make(d_k), make(d_v)
        self.softmax = keras.layers.Softmax(axis=-1)
        self.scale = d_k ** -0.5

    def call(self, x, attention_mask=None, return_weights=False):
        mask = attention_mask
        scores = ops.matmul(self.w_q(x), ops.transpose(self.w_k(x), (0, 2, 1))) * self.scale
        if mask is None:
            weights = self.softmax(scores)
        else:
            mask = ops.cast(mask, "bool")
            mask = ops.reshape(mask, (-1, ops.shape(mask)[-2], ops.shape(mask)[-1]))
            weights = self.softmax(scores, mask=ops.broadcast_to(mask, ops.shape(scores)))
        output = ops.matmul(weights, self.w_v(x))
        return [output, weights] if return_weights else output
""",
    # projections through the student's own project_qkv
    """
class SelfAttention(keras.Layer):
    def __init__(self, d_k, d_v):
        super().__init__()
        self.w_q = keras.layers.Dense(d_k, use_bias=False)
        self.w_k = keras.layers.Dense(d_k, use_bias=False)
        self.w_v = keras.layers.Dense(d_v, use_bias=False)

    def build(self, shape):
        for each in (self.w_q, self.w_k, self.w_v):
            each.build(shape)

    def call(self, inputs, attention_mask=None, return_weights=False):
        mask = attention_mask
        q, k, v = project_qkv(inputs, self.w_q.kernel, self.w_k.kernel, self.w_v.kernel)
        if mask is not None and mask.ndim == 4:
            mask = mask[:, 0]
        result = scaled_dot_product_attention(q, k, v, mask)
        return result if return_weights else result[0]
""",
]

WRONG = [
    ("one_projection", 'class SelfAttention(keras.Layer):\n    def __init__(self, d_k, d_v, **kwargs):\n        super().__init__(**kwargs); self.supports_masking = True\n        self.w_q = keras.layers.Dense(d_k, use_bias=False); self.w_k = keras.layers.Dense(d_k, use_bias=False); self.w_v = keras.layers.Dense(d_v, use_bias=False)\n    def call(self, x, attention_mask=None, return_weights=False):\n        mask = attention_mask\n        q, k, v = self.w_q(x), self.w_q(x), self.w_v(x)\n        s = ops.matmul(q, ops.swapaxes(k, -1, -2)) / q.shape[-1] ** 0.5\n        if mask is not None:\n            if len(mask.shape) == 4: mask = mask[:, 0]\n            s = ops.where(ops.cast(mask, "bool"), s, -1e9)\n        w = ops.softmax(s); o = ops.matmul(w, v)\n        return (o, w) if return_weights else o'),
    ("query_key_swapped", "class SelfAttention(keras.Layer):\n    def __init__(self, d_k, d_v):\n        super().__init__()\n        D = keras.layers.Dense\n        self.w_q, self.w_k, self.w_v = D(d_k, use_bias=False), D(d_k, use_bias=False), D(d_v, use_bias=False)\n    def call(self, x, attention_mask=None, return_weights=False):\n        mask = attention_mask\n        if mask is not None and len(mask.shape) == 4:\n            mask = mask[:, 0]\n        o, w = scaled_dot_product_attention(self.w_k(x), self.w_q(x), self.w_v(x), mask)\n        return (o, w) if return_weights else o"),
    ("dense_with_bias", "class SelfAttention(keras.Layer):\n    def __init__(self, d_k, d_v):\n        super().__init__()\n        self.w_q, self.w_k, self.w_v = (keras.layers.Dense(n) for n in (d_k, d_k, d_v))\n    def call(self, x, attention_mask=None, return_weights=False):\n        mask = attention_mask\n        if mask is not None and len(mask.shape) == 4:\n            mask = mask[:, 0]\n        o, w = scaled_dot_product_attention(self.w_q(x), self.w_k(x), self.w_v(x), mask)\n        return (o, w) if return_weights else o"),
    (None, "class SelfAttention(keras.Layer):\n    def __init__(self, d_k, d_v):\n        super().__init__()\n        self.inner = keras.layers.MultiHeadAttention(1, d_k, d_v)\n        self.w_q, self.w_k, self.w_v = (keras.layers.Dense(n, use_bias=False) for n in (d_k, d_k, d_v))\n    def call(self, x, attention_mask=None, return_weights=False):\n        mask = attention_mask\n        return self.inner(x, x, return_attention_scores=return_weights)"),
    ("head_axis_kept", """
class SelfAttention(keras.Layer):
    def __init__(self, d_k, d_v, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.w_q = keras.layers.Dense(d_k, use_bias=False)
        self.w_k = keras.layers.Dense(d_k, use_bias=False)
        self.w_v = keras.layers.Dense(d_v, use_bias=False)
    def call(self, x, attention_mask=None, return_weights=False):
        out, w = scaled_dot_product_attention(self.w_q(x), self.w_k(x), self.w_v(x), attention_mask)
        return (out, w) if return_weights else out
"""),
    ("activated", """
class SelfAttention(keras.Layer):
    def __init__(self, d_k, d_v, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.w_q = keras.layers.Dense(d_k, use_bias=False, activation="relu")
        self.w_k = keras.layers.Dense(d_k, use_bias=False, activation="relu")
        self.w_v = keras.layers.Dense(d_v, use_bias=False, activation="relu")
    def call(self, x, attention_mask=None, return_weights=False):
        if attention_mask is not None and len(attention_mask.shape) == 4:
            attention_mask = attention_mask[:, 0]
        out, w = scaled_dot_product_attention(self.w_q(x), self.w_k(x), self.w_v(x), attention_mask)
        return (out, w) if return_weights else out
"""),
    ("", """
class SelfAttention(keras.Layer):
    def __init__(self, d_k, d_v, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.w_q = keras.layers.Dense(d_k, use_bias=False)
        self.w_k = keras.layers.Dense(d_k, use_bias=False)
        self.w_v = keras.layers.Dense(d_v, use_bias=False)
    def call(self, x, attention_mask=None, return_weights=False):
        if attention_mask is not None:
            attention_mask = ops.squeeze(attention_mask)
        out, w = scaled_dot_product_attention(self.w_q(x), self.w_k(x), self.w_v(x), attention_mask)
        return (out, w) if return_weights else out
"""),
    ("", """
class SelfAttention(keras.Layer):
    def __init__(self, d_k, d_v, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.w_q = keras.layers.Dense(d_v, use_bias=False)
        self.w_k = keras.layers.Dense(d_v, use_bias=False)
        self.w_v = keras.layers.Dense(d_v, use_bias=False)
    def call(self, x, attention_mask=None, return_weights=False):
        if attention_mask is not None and len(attention_mask.shape) == 4:
            attention_mask = attention_mask[:, 0]
        out, w = scaled_dot_product_attention(self.w_q(x), self.w_k(x), self.w_v(x), attention_mask)
        return (out, w) if return_weights else out
"""),
    ("one_dense", """
class SelfAttention(keras.Layer):
    def __init__(self, d_k, d_v, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.w_q = keras.layers.Dense(d_k, use_bias=False)
        self.w_k = self.w_q
        self.w_v = keras.layers.Dense(d_v, use_bias=False)
    def call(self, x, attention_mask=None, return_weights=False):
        if attention_mask is not None and len(attention_mask.shape) == 4:
            attention_mask = attention_mask[:, 0]
        out, w = scaled_dot_product_attention(self.w_q(x), self.w_k(x), self.w_v(x), attention_mask)
        return (out, w) if return_weights else out
"""),
    ("", """
class SelfAttention(keras.Layer):
    def __init__(self, d_k, d_v, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.w_q = keras.layers.Dense(d_k, use_bias=False)
        self.w_k = keras.layers.Dense(d_k, use_bias=False)
        self.w_v = keras.layers.Dense(d_v, use_bias=False)
    def call(self, x, attention_mask=None, return_weights=False):
        if attention_mask is not None and len(attention_mask.shape) == 4:
            attention_mask = ops.squeeze(attention_mask)
        out, w = scaled_dot_product_attention(self.w_q(x), self.w_k(x), self.w_v(x), attention_mask)
        return (out, w) if return_weights else out
"""),
    ("", """
class SelfAttention(keras.Layer):
    def __init__(self, d_k, d_v, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.w_q = keras.layers.Dense(d_k, use_bias=False)
        self.w_k = keras.layers.Dense(d_k, use_bias=False)
        self.w_v = keras.layers.Dense(d_v, use_bias=False)
    def call(self, x, mask=None, return_weights=False):
        if mask is not None and len(mask.shape) == 4:
            mask = mask[:, 0]
        out, w = scaled_dot_product_attention(self.w_q(x), self.w_k(x), self.w_v(x), mask)
        return (out, w) if return_weights else out
"""),
    ("", """
class SelfAttention(keras.Layer):
    def __init__(self, d_k, d_v, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.w_q = keras.layers.Dense(d_k, use_bias=False)
        self.w_k = keras.layers.Dense(d_k, use_bias=False)
        self.w_v = keras.layers.Dense(d_v, use_bias=False)
    def call(self, x, attention_mask=None, return_weights=False):
        if attention_mask is not None and len(attention_mask.shape) == 4:
            attention_mask = attention_mask[:, 0]
        out, w = scaled_dot_product_attention(self.w_q(x), self.w_k(x), self.w_v(x), attention_mask)
        return out, w
"""),
]  # fmt: skip
