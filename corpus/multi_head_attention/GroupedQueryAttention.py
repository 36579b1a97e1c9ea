"""Lab 03, exercise `GroupedQueryAttention`: solutions as different students write them, right and wrong."""

# what most of them begin with
START = """
class GroupedQueryAttention(keras.Layer):
    def __init__(self, d_model, num_heads, num_kv_heads, **kwargs):
        super().__init__(**kwargs)
        if d_model % num_heads or num_heads % num_kv_heads:
            raise ValueError("these numbers do not divide each other")
        self.h, self.g, self.size = num_heads, num_kv_heads, d_model // num_heads
        self.w_q, self.w_o = keras.layers.Dense(d_model), keras.layers.Dense(d_model)
        self.w_k, self.w_v = (keras.layers.Dense(self.g * self.size) for _ in range(2))
"""

CORRECT = [
    # the groups as an axis of the queries: nothing is repeated
    START
    + """\
    def call(self, query, key, value, attention_mask=None, return_weights=False):
        b, t, s = ops.shape(query)[0], ops.shape(query)[1], ops.shape(key)[1]
        q = ops.reshape(self.w_q(query), (b, t, self.g, self.h // self.g, self.size))
        k = ops.reshape(self.w_k(key), (b, s, self.g, self.size))
        v = ops.reshape(self.w_v(value), (b, s, self.g, self.size))
        scores = ops.einsum("btgnk,bsgk->bgnts", q, k) / self.size**0.5
        if attention_mask is not None:
            mask = ops.cast(attention_mask, "bool")
            if len(mask.shape) == 3:
                mask = mask[:, None]
            if len(mask.shape) == 4:
                mask = mask[:, None]
            scores = ops.where(mask, scores, -1e9)
        weights = ops.softmax(scores, axis=-1)
        mixed = ops.reshape(ops.einsum("bgnts,bsgk->btgnk", weights, v), (b, t, self.h * self.size))
        out = self.w_o(mixed)
        return (out, ops.reshape(weights, (b, self.h, t, s))) if return_weights else out
""",
    # the old name of the mask, ops.take, the function of lab 02
    """
def attention(q, k, v, mask=None):
    scores = ops.matmul(q, ops.swapaxes(k, -1, -2)) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = ops.where(ops.cast(mask, "bool"), scores, -1e9)
    weights = ops.softmax(scores)
    return ops.matmul(weights, v), weights

class GroupedQueryAttention(keras.Layer):
    def __init__(self, d_model, num_heads, num_kv_heads, **kwargs):
        super().__init__(**kwargs)
        if d_model % num_heads or num_heads % num_kv_heads:
            raise ValueError("these numbers do not divide each other")
        self.h, self.g, self.size = num_heads, num_kv_heads, d_model // num_heads
        self.w_q, self.w_o = keras.layers.Dense(d_model), keras.layers.Dense(d_model)
        self.w_k, self.w_v = (keras.layers.Dense(self.g * self.size) for _ in range(2))
    def call(self, query, key, value, mask=None, return_weights=False):
        heads = [h // (self.h // self.g) for h in range(self.h)]
        q = split_heads(self.w_q(query), self.h)
        k, v = (ops.take(split_heads(each, self.g), heads, axis=1) for each in (self.w_k(key), self.w_v(value)))
        if mask is not None and len(mask.shape) == 3:
            mask = mask[:, None]
        out, weights = attention(q, k, v, mask)
        out = self.w_o(merge_heads(out))
        return (out, weights) if return_weights else out
""",
    # TensorFlow
    START
    + """\
    def split(self, x, n):
        return tf.transpose(tf.reshape(x, [tf.shape(x)[0], -1, n, self.size]), [0, 2, 1, 3])

    def call(self, query, key, value, attention_mask=None, return_weights=False):
        q = self.split(self.w_q(query), self.h)
        k, v = (tf.repeat(self.split(x, self.g), self.h // self.g, axis=1) for x in (self.w_k(key), self.w_v(value)))
        scores = tf.matmul(q, k, transpose_b=True) * self.size**-0.5
        if attention_mask is not None:
            mask = tf.cast(attention_mask, tf.float32)
            scores += -1e9 * (1.0 - (mask[:, tf.newaxis] if mask.shape.rank == 3 else mask))
        weights = tf.nn.softmax(scores)
        out = tf.transpose(tf.matmul(weights, v), [0, 2, 1, 3])
        out = self.w_o(tf.reshape(out, [tf.shape(out)[0], -1, self.h * self.size]))
        return (out, weights) if return_weights else out
""",
    # one head after the other
    START
    + """\
    def call(self, query, key, value, attention_mask=None, return_weights=False):
        q, k, v = self.w_q(query), self.w_k(key), self.w_v(value)
        mask = attention_mask
        if mask is not None:
            mask = ops.cast(mask, "bool")
            mask = mask[:, 0] if len(mask.shape) == 4 else mask
        outs, maps = [], []
        for h in range(self.h):
            g = h // (self.h // self.g)
            mine = slice(h * self.size, (h + 1) * self.size)
            theirs = slice(g * self.size, (g + 1) * self.size)
            scores = ops.einsum("btk,bsk->bts", q[..., mine], k[..., theirs]) / self.size**0.5
            if mask is not None:
                scores = ops.where(mask, scores, -1e9)
            maps.append(ops.softmax(scores))
            outs.append(ops.matmul(maps[-1], v[..., theirs]))
        out = self.w_o(ops.concatenate(outs, axis=-1))
        return (out, ops.stack(maps, axis=1)) if return_weights else out
""",
    # the kernels widened, handed to the student's own multi-head attention of exercise 3
    START
    + """\
    def call(self, query, key, value, attention_mask=None, return_weights=False):
        def wide(x):
            x = ops.reshape(x, (ops.shape(x)[0], ops.shape(x)[1], self.g, 1, self.size))
            x = ops.broadcast_to(x, (*ops.shape(x)[:3], self.h // self.g, self.size))
            return split_heads(ops.reshape(x, (*ops.shape(x)[:2], self.h * self.size)), self.h)
        q, k, v = split_heads(self.w_q(query), self.h), wide(self.w_k(key)), wide(self.w_v(value))
        scores = ops.einsum("bhtk,bhsk->bhts", q, k) / self.size**0.5
        if attention_mask is not None:
            mask = ops.cast(attention_mask, "float32")
            scores = scores - 1e9 * (1 - (mask[:, None] if len(mask.shape) == 3 else mask))
        weights = ops.softmax(scores)
        out = self.w_o(merge_heads(ops.einsum("bhts,bhsk->bhtk", weights, v)))
        return (out, weights) if return_weights else out
""",
]

REPEATED = (
    START
    + """\
    def call(self, query, key, value, attention_mask=None, return_weights=False):
        q = split_heads(self.w_q(query), self.h)
        k, v = (ops.repeat(split_heads(w(x), self.g), self.h // self.g, axis=1) for w, x in ((self.w_k, key), (self.w_v, value)))
        scores = ops.matmul(q, ops.swapaxes(k, -1, -2)) / self.size**0.5
        if attention_mask is not None:
            mask = ops.cast(attention_mask, "bool")
            scores = ops.where(mask[:, None] if len(mask.shape) == 3 else mask, scores, -1e9)
        weights = ops.softmax(scores)
        out = self.w_o(merge_heads(ops.matmul(weights, v)))
        return (out, weights) if return_weights else out
"""
)


def changed(old: str, new: str) -> str:
    """The layer with one place written wrongly."""
    assert REPEATED.count(old) == 1, old
    return REPEATED.replace(old, new)


CORRECT.append(REPEATED)

WRONG = [
    ("key_value_swapped", changed("(self.w_k, key), (self.w_v, value)", "(self.w_v, key), (self.w_k, value)")),
    ("blocked_not_low_enough", changed("-1e9", "-1e4")),
    ("blocked_loses_too_little", changed("scores, -1e9", "scores, scores - 1e4")),
    (
        "unstable_softmax",
        changed("ops.softmax(scores)", "ops.exp(scores) / ops.sum(ops.exp(scores), axis=-1, keepdims=True)"),
    ),
    ("nothing_refused_early", changed("if d_model % num_heads or num_heads % num_kv_heads:", "if False:")),
    ("heads_refused_too_late", changed("d_model % num_heads or ", "")),
    ("groups_refused_too_late", changed(" or num_heads % num_kv_heads", "")),
    (
        "first_key_head_for_all",
        START
        + """\
    def call(self, query, key, value, attention_mask=None, return_weights=False):
        q = split_heads(self.w_q(query), self.h)
        k, v = (ops.repeat(split_heads(x, self.g)[:, :1], self.h, axis=1) for x in (self.w_k(key), self.w_v(value)))
        scores = ops.matmul(q, ops.swapaxes(k, -1, -2)) / self.size**0.5
        if attention_mask is not None:
            mask = ops.cast(attention_mask, "bool")
            scores = ops.where(mask[:, None] if len(mask.shape) == 3 else mask, scores, -1e9)
        weights = ops.softmax(scores)
        out = self.w_o(merge_heads(ops.matmul(weights, v)))
        return (out, weights) if return_weights else out
""",
    ),
    (
        "mean_of_the_key_heads",
        START
        + """\
    def call(self, query, key, value, attention_mask=None, return_weights=False):
        q = split_heads(self.w_q(query), self.h)
        k, v = (ops.repeat(ops.mean(split_heads(x, self.g), axis=1, keepdims=True), self.h, axis=1) for x in (self.w_k(key), self.w_v(value)))
        scores = ops.matmul(q, ops.swapaxes(k, -1, -2)) / self.size**0.5
        if attention_mask is not None:
            mask = ops.cast(attention_mask, "bool")
            scores = ops.where(mask[:, None] if len(mask.shape) == 3 else mask, scores, -1e9)
        weights = ops.softmax(scores)
        out = self.w_o(merge_heads(ops.matmul(weights, v)))
        return (out, weights) if return_weights else out
""",
    ),
    (
        "key_heads_in_turn",
        START
        + """\
    def call(self, query, key, value, attention_mask=None, return_weights=False):
        q = split_heads(self.w_q(query), self.h)
        k, v = (ops.tile(split_heads(x, self.g), (1, self.h // self.g, 1, 1)) for x in (self.w_k(key), self.w_v(value)))
        scores = ops.matmul(q, ops.swapaxes(k, -1, -2)) / self.size**0.5
        if attention_mask is not None:
            mask = ops.cast(attention_mask, "bool")
            scores = ops.where(mask[:, None] if len(mask.shape) == 3 else mask, scores, -1e9)
        weights = ops.softmax(scores)
        out = self.w_o(merge_heads(ops.matmul(weights, v)))
        return (out, weights) if return_weights else out
""",
    ),
    (
        "",
        """
class GroupedQueryAttention(MultiHeadAttention):
    def __init__(self, d_model, num_heads, num_kv_heads, **kwargs):
        super().__init__(d_model, num_heads, **kwargs)
""",
    ),
    (
        "value_heads_in_turn",
        """
class GroupedQueryAttention(keras.Layer):
    def __init__(self, d_model, num_heads, num_kv_heads, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        if d_model % num_heads or num_heads % num_kv_heads:
            raise ValueError("heads")
        self.h, self.g = num_heads, num_kv_heads
        width = num_kv_heads * (d_model // num_heads)
        self.w_q = keras.layers.Dense(d_model)
        self.w_k = keras.layers.Dense(width)
        self.w_v = keras.layers.Dense(width)
        self.w_o = keras.layers.Dense(d_model)
    def call(self, query, key, value, attention_mask=None, return_weights=False):
        q = split_heads(self.w_q(query), self.h)
        k = split_heads(self.w_k(key), self.g)
        v = split_heads(self.w_v(value), self.g)
        k = ops.repeat(k, self.h // self.g, axis=1)
        v = ops.tile(v, (1, self.h // self.g, 1, 1))
        scores = ops.matmul(q, ops.transpose(k, (0, 1, 3, 2))) / q.shape[-1] ** 0.5
        if attention_mask is not None:
            mask = attention_mask[:, None] if len(attention_mask.shape) == 3 else attention_mask
            scores = ops.where(mask, scores, -1e9)
        w = ops.softmax(scores, axis=-1)
        out = self.w_o(merge_heads(ops.matmul(w, v)))
        return (out, w) if return_weights else out
""",
    ),
    ("scaled_by_num_heads", changed("self.size**0.5", "self.h**0.5")),
    ("scaled_by_num_kv_heads", changed("self.size**0.5", "self.g**0.5")),
    (
        "keys_alone_in_turn",
        changed(
            "        scores = ops.matmul",
            "        k = ops.tile(split_heads(self.w_k(key), self.g), (1, self.h // self.g, 1, 1))\n"
            "        scores = ops.matmul",
        ),
    ),
    (
        "first_value_head_for_all",
        changed("ops.matmul(weights, v)", "ops.matmul(weights, ops.repeat(v[:, :1], self.h, axis=1))"),
    ),
    (
        "mask_kept",
        changed(
            "        if attention_mask is not None:",
            "        self.last = attention_mask if attention_mask is not None else getattr(self, 'last', None)\n"
            "        attention_mask = self.last\n        if attention_mask is not None:",
        ),
    ),
]
