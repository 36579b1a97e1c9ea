"""Lab 03, exercise `MultiHeadAttention`: solutions as different students write them, right and wrong."""

CORRECT = [
    # einsum on the kernels, additive mask, no use of the other exercises
    """
class MultiHeadAttention(keras.layers.Layer):
    def __init__(self, d_model, num_heads):
        if d_model % num_heads != 0:
            raise ValueError("d_model must be divisible by num_heads")
        super().__init__()
        self.h, self.k = num_heads, d_model // num_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (keras.layers.Dense(d_model) for _ in range(4))

    def build(self, query_shape, key_shape=None, value_shape=None):
        for dense in (self.w_q, self.w_k, self.w_v, self.w_o):
            dense.build(query_shape)

    def project(self, dense, x):
        kernel = ops.reshape(dense.kernel, (-1, self.h, self.k))
        return ops.einsum("btd,dhk->bhtk", x, kernel) + ops.reshape(dense.bias, (1, self.h, 1, self.k))

    def call(self, query, key, value, mask=None, return_weights=False):
        q, k, v = self.project(self.w_q, query), self.project(self.w_k, key), self.project(self.w_v, value)
        scores = ops.einsum("bhtk,bhsk->bhts", q, k) * self.k ** -0.5
        if mask is not None:
            mask = ops.cast(mask, scores.dtype)
            mask = mask[:, None] if len(mask.shape) == 3 else mask
            scores = scores + (1 - mask) * -1e9
        weights = ops.softmax(scores)
        mixed = ops.einsum("bhts,bhsk->bhtk", weights, v)
        output = ops.einsum("bhtk,hkd->btd", mixed, ops.reshape(self.w_o.kernel, (self.h, self.k, -1))) + self.w_o.bias
        if return_weights:
            return output, weights
        return output
""",
    # TensorFlow operations, heads beside the tokens until the scores
    """
class MultiHeadAttention(tf.keras.layers.Layer):
    def __init__(self, d_model, num_heads, name=None):
        super(MultiHeadAttention, self).__init__(name=name)
        if d_model % num_heads:
            raise ValueError(f"{d_model} / {num_heads}")
        self.num_heads, self.depth = num_heads, d_model // num_heads
        self.w_q = tf.keras.layers.Dense(d_model)
        self.w_k = tf.keras.layers.Dense(d_model)
        self.w_v = tf.keras.layers.Dense(d_model)
        self.w_o = tf.keras.layers.Dense(d_model)

    def split(self, x):
        return tf.reshape(x, (tf.shape(x)[0], -1, self.num_heads, self.depth))

    def call(self, query, key, value, mask=None, return_weights=False):
        q, k, v = self.split(self.w_q(query)), self.split(self.w_k(key)), self.split(self.w_v(value))
        scores = tf.einsum("bthk,bshk->bhts", q, k) / tf.sqrt(tf.cast(self.depth, tf.float32))
        if mask is not None:
            mask = tf.cast(mask, tf.bool)
            if mask.shape.rank == 3:
                mask = mask[:, tf.newaxis, :, :]
            scores = tf.where(mask, scores, scores.dtype.min)
        weights = tf.nn.softmax(scores, axis=-1)
        heads = tf.einsum("bhts,bshk->bthk", weights, v)
        output = self.w_o(tf.reshape(heads, (tf.shape(heads)[0], -1, self.num_heads * self.depth)))
        return (output, weights) if return_weights else output
""",
    # one head after the other; minus infinity and repaired rows: weights of fully masked rows are 0
    """
class MultiHeadAttention(keras.Layer):
    def __init__(self, d_model, num_heads, **kwargs):
        super().__init__(**kwargs)
        if d_model % num_heads != 0:
            raise ValueError("num_heads does not divide d_model")
        self.num_heads = num_heads
        self.size = d_model // num_heads
        for name in ("w_q", "w_k", "w_v", "w_o"):
            setattr(self, name, keras.layers.Dense(d_model, kernel_initializer="he_normal", bias_initializer="ones"))

    def call(self, query, key, value, mask=None, return_weights=False):
        q, k, v = self.w_q(query), self.w_k(key), self.w_v(value)
        outputs, all_weights = [], []
        for h in range(self.num_heads):
            part = slice(h * self.size, (h + 1) * self.size)
            scores = tf.matmul(q[..., part], k[..., part], transpose_b=True) / self.size**0.5
            if mask is not None:
                allowed = tf.cast(mask, tf.bool)
                if len(allowed.shape) == 4:
                    allowed = allowed[:, 0]
                scores = tf.where(allowed, scores, -np.inf)
            top = tf.reduce_max(scores, axis=-1, keepdims=True)
            powers = tf.exp(scores - tf.where(tf.math.is_finite(top), top, 0.0))
            weights = tf.math.divide_no_nan(powers, tf.reduce_sum(powers, axis=-1, keepdims=True))
            all_weights.append(weights)
            outputs.append(weights @ v[..., part])
        output = self.w_o(tf.concat(outputs, axis=-1))
        return [output, tf.stack(all_weights, axis=1)] if return_weights else output
""",
    # the function of lab 02 copied in; checks in build
    """
def scaled_dot_product_attention(q, k, v, mask=None):
    scores = ops.matmul(q, ops.swapaxes(k, -1, -2)) / k.shape[-1] ** 0.5
    if mask is not None:
        scores = ops.where(ops.cast(mask, "bool"), scores, -1e9)
    weights = ops.softmax(scores)
    return ops.matmul(weights, v), weights

class MultiHeadAttention(keras.Layer):
    def __init__(self, d_model, num_heads, **kwargs):
        super().__init__(**kwargs)
        self.d_model, self.num_heads = d_model, num_heads
        dense = keras.layers.Dense
        self.w_q, self.w_k, self.w_v, self.w_o = dense(d_model), dense(d_model), dense(d_model), dense(d_model)

    def build(self, *shapes, **more):
        if self.d_model % self.num_heads:
            raise ValueError("indivisible")
        super().build(*shapes, **more) if False else None

    def call(self, query, key, value, mask=None, return_weights=False):
        if mask is not None:
            mask = ops.convert_to_tensor(mask)
            if mask.ndim == 2:
                mask = mask[None, None]
            elif mask.ndim == 3:
                mask = mask[:, None]
        heads, weights = scaled_dot_product_attention(
            *(split_heads(w(x), self.num_heads) for w, x in ((self.w_q, query), (self.w_k, key), (self.w_v, value))), mask
        )
        output = self.w_o(merge_heads(heads))
        return (output, weights) if return_weights else output
""",
    # heads folded into the batch, Softmax layer with its own mask argument, mask repeated for every head
    """
class MultiHeadAttention(keras.Layer):
    def __init__(self, d_model, num_heads, **kwargs):
        super().__init__(**kwargs)
        quotient, rest = divmod(d_model, num_heads)
        if rest:
            raise ValueError(rest)
        self.H, self.K = num_heads, quotient
        self.w_q = keras.layers.Dense(d_model, use_bias=True)
        self.w_k = keras.layers.Dense(d_model, use_bias=True)
        self.w_v = keras.layers.Dense(d_model, use_bias=True)
        self.w_o = keras.layers.Dense(d_model, use_bias=True)
        self.softmax = keras.layers.Softmax()

    def fold(self, x):
        shape = ops.shape(x)
        x = ops.transpose(ops.reshape(x, (shape[0], shape[1], self.H, self.K)), (0, 2, 1, 3))
        return ops.reshape(x, (shape[0] * self.H, shape[1], self.K))

    def call(self, query, key, value, mask=None, return_weights=False):
        batch, length = ops.shape(query)[0], ops.shape(query)[1]
        keys = ops.shape(key)[1]
        q, k, v = self.fold(self.w_q(query)), self.fold(self.w_k(key)), self.fold(self.w_v(value))
        scores = ops.matmul(q, ops.transpose(k, (0, 2, 1))) / ops.sqrt(float(self.K))
        scores = ops.reshape(scores, (batch, self.H, length, keys))
        if mask is not None:
            mask = ops.cast(mask, "bool")
            while len(mask.shape) < 4:
                mask = ops.expand_dims(mask, axis=0 if len(mask.shape) == 2 else 1)
            mask = ops.broadcast_to(mask, (batch, self.H, length, keys))
        weights = self.softmax(scores, mask=mask)
        v = ops.reshape(v, (batch, self.H, keys, self.K))
        output = self.w_o(ops.reshape(ops.transpose(weights @ v, (0, 2, 1, 3)), (batch, length, self.H * self.K)))
        return (output, weights) if return_weights else output
""",
    # the smallest float blocks; a row of zeros where all is blocked
    """
class MultiHeadAttention(keras.Layer):
    def __init__(self, d_model, num_heads, **kwargs):
        super().__init__(**kwargs)
        if d_model % num_heads:
            raise ValueError
        self.num_heads = num_heads
        self.w_q, self.w_k, self.w_v, self.w_o = [keras.layers.Dense(d_model, name=name) for name in "qkvo"]

    def call(self, query, key, value, attention_mask=None, return_weights=False):
        q, k, v = (split_heads(w(x), self.num_heads) for w, x in ((self.w_q, query), (self.w_k, key), (self.w_v, value)))
        scores = ops.einsum("bhtk,bhsk->bhts", q * q.shape[-1] ** -0.5, k)
        allowed = None
        if attention_mask is not None:
            allowed = ops.cast(attention_mask, "float32")
            while 2 < len(allowed.shape) < 4:
                allowed = ops.expand_dims(allowed, -3)
            scores = ops.where(allowed > 0.5, scores, float(np.finfo("float32").min))
        weights = keras.activations.softmax(scores)
        weights = weights if allowed is None else weights * allowed
        output = self.w_o(merge_heads(ops.matmul(weights, v)))
        return (output, weights) if return_weights else output
""",
    # −inf, and what is not a number becomes 0
    """
class MultiHeadAttention(keras.Layer):
    def __init__(self, d_model, num_heads, **kwargs):
        super().__init__(**kwargs)
        if d_model % num_heads:
            raise ValueError("no")
        self.num_heads = num_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (keras.layers.Dense(d_model) for _ in range(4))

    def call(self, query, key, value, attention_mask=None, return_weights=False):
        q, k, v = (split_heads(w(x), self.num_heads) for w, x in ((self.w_q, query), (self.w_k, key), (self.w_v, value)))
        scores = ops.matmul(q, ops.swapaxes(k, -1, -2)) / q.shape[-1] ** 0.5
        if attention_mask is not None:
            mask = ops.cast(attention_mask, "bool")
            mask = mask[:, None] if len(mask.shape) == 3 else mask
            scores = ops.where(mask, scores, -np.inf)
        weights = ops.softmax(scores, axis=-1)
        weights = ops.where(ops.isnan(weights), 0.0, weights)
        output = self.w_o(merge_heads(ops.matmul(weights, v)))
        return (output, weights) if return_weights else output
""",
]

LAYER = """
class MultiHeadAttention(keras.Layer):
    def __init__(self, d_model, num_heads, **kwargs):
        super().__init__(**kwargs)
        if d_model % num_heads:
            raise ValueError("num_heads does not divide d_model")
        self.d_model, self.num_heads = d_model, num_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (keras.layers.Dense(d_model) for _ in range(4))

    def call(self, query, key, value, mask=None, return_weights=False):
        q, k, v = (split_heads(w(x), self.num_heads) for w, x in ((self.w_q, query), (self.w_k, key), (self.w_v, value)))
        scores = ops.matmul(q, ops.swapaxes(k, -1, -2)) / q.shape[-1] ** 0.5
        if mask is not None:
            mask = ops.cast(mask, "bool")
            mask = mask[:, None] if len(mask.shape) == 3 else mask
            scores = ops.where(mask, scores, -1e9)
        weights = ops.softmax(scores, axis=-1)
        output = self.w_o(merge_heads(ops.matmul(weights, v)))
        return (output, weights) if return_weights else output
"""


def changed(old: str, new: str) -> str:
    """The layer with one place written wrongly."""
    assert LAYER.count(old) == 1, old
    return LAYER.replace(old, new)


WRONG = [
    ("no_output_projection", 'class MultiHeadAttention(keras.Layer):\n    def __init__(self, d_model, num_heads, **kwargs):\n        super().__init__(**kwargs)\n        self.supports_masking = True\n        if d_model % num_heads:\n            raise ValueError("num_heads must divide d_model")\n        self.d_model, self.num_heads, self.key_dim = d_model, num_heads, d_model // num_heads\n        self.w_q = keras.layers.Dense(d_model)\n        self.w_k = keras.layers.Dense(d_model)\n        self.w_v = keras.layers.Dense(d_model)\n        self.w_o = keras.layers.Dense(d_model)\n    def _split(self, x):\n        s = ops.shape(x)\n        return ops.transpose(ops.reshape(x, (s[0], s[1], self.num_heads, self.key_dim)), (0, 2, 1, 3))\n    def _merge(self, x):\n        s = ops.shape(x)\n        return ops.reshape(ops.transpose(x, (0, 2, 1, 3)), (s[0], s[2], self.d_model))\n    def call(self, query, key, value, mask=None, return_weights=False):\n        q, k, v = self._split(self.w_q(query)), self._split(self.w_k(key)), self._split(self.w_v(value))\n        s = ops.matmul(q, ops.swapaxes(k, -1, -2)) / self.key_dim ** 0.5\n        if mask is not None:\n            mask = ops.cast(mask, "bool")\n            if len(mask.shape) == 3:\n                mask = mask[:, None]\n            s = ops.where(mask, s, -1e9)\n        w = ops.softmax(s, axis=-1)\n        out = self._merge(ops.matmul(w, v))\n        return (out, w) if return_weights else out'),
    ("one_head", LAYER.replace("split_heads(w(x), self.num_heads)", "w(x)").replace("merge_heads(ops.matmul(weights, v))", "ops.matmul(weights, v)").replace("mask[:, None] if len(mask.shape) == 3", "mask[:, 0] if len(mask.shape) == 4")),
    ("unscaled", changed(" / q.shape[-1] ** 0.5", "")),
    ("scaled_by_d_model", changed("q.shape[-1] ** 0.5", "self.d_model ** 0.5")),
    ("scaled_by_head_size", changed("q.shape[-1] ** 0.5", "q.shape[-1]")),
    ("softmax_over_queries", changed("axis=-1)", "axis=-2)")),
    ("softmax_over_heads", changed("axis=-1)", "axis=1)")),
    ("mask_meets_heads", changed("mask = mask[:, None] if len(mask.shape) == 3 else mask\n", "pass\n")),
    ("mask_inverted", changed("ops.where(mask, scores, -1e9)", "ops.where(mask, -1e9, scores)")),
    ("mask_zeroes_scores", changed("ops.where(mask, scores, -1e9)", "ops.where(mask, scores, 0.0)")),
    ("no_output_projection", changed("self.w_o(merge_heads(ops.matmul(weights, v)))", "merge_heads(ops.matmul(weights, v))\n        self.w_o(output)")),
    ("keras_argument_order", changed("query, key, value, mask=None", "query, value, key, mask=None")),
    ("query_attends_to_itself", changed("((self.w_q, query), (self.w_k, key), (self.w_v, value))", "((self.w_q, query), (self.w_k, query), (self.w_v, query))")),
    ("weights_averaged", changed("(output, weights) if", "(output, ops.mean(weights, axis=1)) if")),
    ("refused_too_late", changed("if d_model % num_heads:", "if False:")),
    ("residual_inside", changed("self.w_o(merge_heads(ops.matmul(weights, v)))", "query + self.w_o(merge_heads(ops.matmul(weights, v)))")),
    ("relu_on_projections", changed("split_heads(w(x), self.num_heads)", "split_heads(ops.relu(w(x)), self.num_heads)")),
    ("relu_before_w_o", changed("self.w_o(merge_heads(ops.matmul(weights, v)))", "self.w_o(ops.relu(merge_heads(ops.matmul(weights, v))))")),
    ("relu_after_w_o", changed("(keras.layers.Dense(d_model) for _ in range(4))", "(keras.layers.Dense(d_model, activation=a) for a in (None, None, None, 'relu'))")),
    ("one_layer_twice", changed("(keras.layers.Dense(d_model) for _ in range(4))", "(keras.layers.Dense(d_model) for _ in range(4))\n        self.w_k = self.w_q")),
    ("one_layer_three_times", changed("(keras.layers.Dense(d_model) for _ in range(4))", "(keras.layers.Dense(d_model) for _ in range(4))\n        self.w_q = self.w_k = self.w_v")),
    ("scores_returned", changed("(output, weights) if", "(output, scores) if")),
    ("results_swapped", changed("(output, weights) if", "(weights, output) if")),
    ("unstable_softmax", changed("weights = ops.softmax(scores, axis=-1)", "weights = ops.exp(scores) / ops.sum(ops.exp(scores), axis=-1, keepdims=True)")),
    ("one_maximum_for_all", changed("weights = ops.softmax(scores, axis=-1)", "weights = ops.exp(scores - ops.max(scores))\n        weights = weights / ops.sum(weights, axis=-1, keepdims=True)")),
    ("blocked_not_low_enough", changed("-1e9", "-1e4")),
    ("blocked_not_low_enough", changed("-1e9", "-1e3")),
    ("blocked_loses_too_little", changed("ops.where(mask, scores, -1e9)", "scores + (1 - ops.cast(mask, scores.dtype)) * -1e4")),
    ("blocked_loses_too_little", changed("ops.where(mask, scores, -1e9)", "ops.where(mask, scores, scores - 100)")),
    ("", changed("ops.where(mask, scores, -1e9)", "scores + (1 - ops.cast(mask, scores.dtype)) * -10")),
    ("mask_meets_heads", changed("mask[:, None] if", "mask[None] if")),
    ("key_value_swapped", changed("(self.w_k, key), (self.w_v, value)", "(self.w_v, key), (self.w_k, value)")),
    ("relu_everywhere", changed("Dense(d_model)", "Dense(d_model, activation='relu')")),
    # the outputs of the heads are added up, and the sum is repeated
    ("", changed("merge_heads(ops.matmul(weights, v))", "ops.tile(ops.sum(ops.matmul(weights, v), axis=1), (1, 1, self.num_heads))")),
    # what the weights are without the mask; the axes of tokens and heads exchanged
    ("", changed("(output, weights) if", "(output, ops.softmax(ops.matmul(q, ops.swapaxes(k, -1, -2)) / q.shape[-1] ** 0.5)) if")),
    ("", changed("(output, weights) if", "(output, ops.swapaxes(weights, 1, 2)) if")),
    (None, changed("Dense(d_model)", "Dense(d_model, use_bias=False)")),
    (None, changed("scores = ops.where(mask, scores, -1e9)", "scores = ops.where(mask, scores, -np.inf)")),
    (None, changed("weights = ops.softmax(scores, axis=-1)", "weights = keras.ops.softmax(np.asarray(scores), axis=-1)")),
    (None, """
class MultiHeadAttention(keras.Layer):
    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads:
            raise ValueError
        self.inner = keras.layers.MultiHeadAttention(num_heads, d_model // num_heads)
        self.w_q = self.w_k = self.w_v = self.w_o = keras.layers.Dense(d_model)
    def call(self, query, key, value, mask=None, return_weights=False):
        return self.inner(query=self.w_q(query), key=key, value=value, attention_mask=mask, return_attention_scores=return_weights)
"""),
    ("scaled_by_num_heads", changed("q.shape[-1] ** 0.5", "self.num_heads ** 0.5")),
    ("mask_kept", changed("        if mask is not None:", "        self.last = mask if mask is not None else getattr(self, 'last', None)\n        mask = self.last\n        if mask is not None:")),
]  # fmt: skip
