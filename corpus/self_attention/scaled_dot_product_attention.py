"""Lab 02, exercise `scaled_dot_product_attention`: solutions as different students write them, right and wrong."""

CORRECT = [
    # -inf and repaired rows: fully masked rows get weights of 0
    """
def scaled_dot_product_attention(q, k, v, mask=None):
    q, k, v = map(tf.convert_to_tensor, (q, k, v))
    scores = tf.matmul(q, k, transpose_b=True) / tf.sqrt(tf.cast(tf.shape(k)[-1], q.dtype))
    if mask is not None:
        allowed = tf.cast(mask, tf.bool)
        scores = tf.where(allowed, scores, tf.constant(-np.inf, q.dtype))
        weights = tf.nn.softmax(scores)
        weights = tf.where(tf.math.is_nan(weights), tf.zeros_like(weights), weights)
    else:
        weights = tf.nn.softmax(scores)
    return tf.matmul(weights, v), weights
""",
    # the additive form of most tutorials
    """
def scaled_dot_product_attention(q, k, v, mask=None):
    scores = ops.matmul(q, ops.swapaxes(k, -2, -1)) * (q.shape[-1] ** -0.5)
    if mask is not None:
        scores = scores + (1.0 - ops.cast(mask, scores.dtype)) * -1e9
    weights = ops.softmax(scores)
    return ops.matmul(weights, v), weights
""",
    # NumPy, exponentials times the mask, denominators guarded
    """
def scaled_dot_product_attention(q, k, v, mask=None):
    q, k, v = np.asarray(q), np.asarray(k), np.asarray(v)
    scores = np.einsum("...td,...sd->...ts", q, k) / q.shape[-1] ** 0.5
    allowed = np.ones(1, bool) if mask is None else np.asarray(mask).astype(bool)
    scores = np.where(allowed, scores, np.finfo(q.dtype).min)
    powers = np.exp(scores - scores.max(-1, keepdims=True)) * allowed
    weights = powers / np.maximum(powers.sum(-1, keepdims=True), np.finfo(q.dtype).tiny)
    return np.einsum("...ts,...sv->...tv", weights, v).astype(q.dtype), weights.astype(q.dtype)
""",
    # the softmax written out in TensorFlow
    """
def scaled_dot_product_attention(q, k, v, mask=None):
    q = tf.convert_to_tensor(q)
    scores = tf.einsum("...td,...sd->...ts", q / q.shape[-1] ** 0.5, k)
    if mask is not None:
        mask = tf.cast(tf.convert_to_tensor(mask), scores.dtype)
        scores = scores * mask + (1 - mask) * scores.dtype.min / 2
    scores -= tf.reduce_max(scores, axis=-1, keepdims=True)
    weights = tf.exp(scores) / tf.reduce_sum(tf.exp(scores), axis=-1, keepdims=True)
    return weights @ v, weights
""",
    # keras.layers.Softmax takes a mask; loops over the leading dimensions
    """
def scaled_dot_product_attention(q, k, v, mask=None):
    q, k, v = np.asarray(q), np.asarray(k), np.asarray(v)
    lead = q.shape[:-2]
    if mask is not None:
        mask = np.broadcast_to(np.asarray(mask).astype(bool), (*lead, q.shape[-2], k.shape[-2]))
    output = np.zeros((*lead, q.shape[-2], v.shape[-1]), q.dtype)
    weights = np.zeros((*lead, q.shape[-2], k.shape[-2]), q.dtype)
    for index in np.ndindex(*lead):
        for t in range(q.shape[-2]):
            row = np.array([q[index][t] @ key for key in k[index]]).astype(q.dtype) / k.shape[-1] ** 0.5
            allowed = np.ones(len(row), bool) if mask is None else mask[index][t]
            if not allowed.any():
                weights[index][t] = 1 / len(row)
            else:
                powers = np.where(allowed, np.exp(row - row[allowed].max().clip(None, None)), 0) if allowed.all() else \\
                    np.array([np.exp(r - row[allowed].max()) if a else 0 for r, a in zip(row, allowed)])
                weights[index][t] = powers / powers.sum()
        output[index] = weights[index] @ v[index]
    return output, weights
""",
    # a list instead of a tuple, and Keras's logical operations
    """
def scaled_dot_product_attention(query, key, value, mask=None):
    attention_scores = ops.einsum("...qd,...kd->...qk", query, key)
    attention_scores = ops.divide(attention_scores, ops.sqrt(ops.cast(ops.shape(key)[-1], attention_scores.dtype)))
    if mask is not None:
        blocked = ops.logical_not(ops.cast(mask, "bool"))
        attention_scores = ops.where(blocked, ops.cast(-1e30, attention_scores.dtype), attention_scores)
    attention_weights = keras.activations.softmax(attention_scores, axis=-1)
    return [ops.einsum("...qk,...kd->...qd", attention_weights, value), attention_weights]
""",
    """
def scaled_dot_product_attention(q, k, v, mask=None):
    s = ops.matmul(q, ops.swapaxes(k, -1, -2)) / np.sqrt(k.shape[-1])
    if mask is not None:
        s = ops.where(ops.cast(mask, "bool"), s, -1e9)
    w = ops.softmax(s, axis=-1)
    return ops.matmul(w, v), w
""",
]

WRONG = [
    (
        "renormalised",
        """
def scaled_dot_product_attention(q, k, v, mask=None):
    s = ops.einsum("...td,...sd->...ts", q, k) / q.shape[-1] ** 0.5
    w = ops.softmax(s, axis=-1)
    if mask is not None:
        w = w * ops.cast(mask, w.dtype)
        w = w / (ops.sum(w, axis=-1, keepdims=True) + 1e-9)
    return ops.einsum("...ts,...sd->...td", w, v), w
""",
    ),
    ("scores_returned", "def scaled_dot_product_attention(q, k, v, mask=None):\n    q, k, v = (ops.convert_to_tensor(a) for a in (q, k, v))\n    s = ops.matmul(q, ops.swapaxes(k, -1, -2)) / q.shape[-1] ** 0.5\n    if mask is not None:\n        s = ops.where(ops.cast(mask, 'bool'), s, ops.cast(-1e9, s.dtype))\n    return ops.matmul(ops.softmax(s), v), s"),
    (None, 'def scaled_dot_product_attention(q, k, v, mask=None):\n    q, k, v = map(np.asarray, (q, k, v))\n    s = q @ np.swapaxes(k, -1, -2) / k.shape[-1] ** 0.5\n    if mask is not None: s[~np.broadcast_to(mask, s.shape)] = -1e9\n    e = np.exp(s - s.max(-1, keepdims=True)); w = e / e.sum(-1, keepdims=True); return w @ v, w'),
    ("mask_too_weak", 'def scaled_dot_product_attention(q, k, v, mask=None):\n    s = ops.matmul(q, ops.swapaxes(k, -1, -2)) / k.shape[-1] ** 0.5\n    if mask is not None: s = s + (1 - ops.cast(mask, s.dtype)) * -10.0\n    w = ops.softmax(s); return ops.matmul(w, v), w'),
    ("mask_inverted", "def scaled_dot_product_attention(q, k, v, mask=None):\n    s = ops.matmul(q, ops.swapaxes(k, -1, -2)) / k.shape[-1] ** 0.5\n    if mask is not None:\n        s += ops.cast(mask, s.dtype) * -1e9\n    w = ops.softmax(s)\n    return ops.matmul(w, v), w"),
    ("scaled_by_d_v", "def scaled_dot_product_attention(q, k, v, mask=None):\n    s = ops.matmul(q, ops.swapaxes(k, -1, -2)) / v.shape[-1] ** 0.5\n    if mask is not None:\n        s = ops.where(ops.cast(mask, 'bool'), s, ops.cast(-1e9, s.dtype))\n    w = ops.softmax(s)\n    return ops.matmul(w, v), w"),
    ("mask_after_softmax", "def scaled_dot_product_attention(q, k, v, mask=None):\n    w = ops.softmax(ops.matmul(q, ops.swapaxes(k, -1, -2)) / k.shape[-1] ** 0.5)\n    if mask is not None:\n        w = w * ops.cast(mask, w.dtype)\n    return ops.matmul(w, v), w"),
    ("mask_ignored", "def scaled_dot_product_attention(q, k, v, mask=None):\n    s = ops.matmul(q, ops.swapaxes(k, -1, -2)) / k.shape[-1] ** 0.5\n    if mask is not None:\n        s += (1 - ops.cast(mask, s.dtype)) * -1e-9\n    w = ops.softmax(s)\n    return ops.matmul(w, v), w"),
    ("softmax_over_axis_1", "def scaled_dot_product_attention(q, k, v, mask=None):\n    s = ops.matmul(q, ops.swapaxes(k, -1, -2)) / k.shape[-1] ** 0.5\n    if mask is not None:\n        s = ops.where(ops.cast(mask, 'bool'), s, ops.cast(-1e9, s.dtype))\n    w = ops.softmax(s, axis=1)\n    return ops.matmul(w, v), w"),
    ("divided_by_sum", "def scaled_dot_product_attention(q, k, v, mask=None):\n    s = ops.matmul(q, ops.swapaxes(k, -1, -2)) / k.shape[-1] ** 0.5\n    if mask is not None:\n        s = s * ops.cast(mask, s.dtype)\n    w = s / ops.sum(s, axis=-1, keepdims=True)\n    return ops.matmul(w, v), w"),
    ("results_swapped", "def scaled_dot_product_attention(q, k, v, mask=None):\n    s = ops.matmul(q, ops.swapaxes(k, -1, -2)) / k.shape[-1] ** 0.5\n    if mask is not None:\n        s = ops.where(ops.cast(mask, 'bool'), s, ops.cast(-1e9, s.dtype))\n    w = ops.softmax(s)\n    return w, ops.matmul(w, v)"),
    (None, "def scaled_dot_product_attention(q, k, v, mask=None):\n    s = tf.matmul(q, k, transpose_b=True) / np.sqrt(k.shape[-1])\n    if mask is not None:\n        s = tf.where(tf.cast(mask, tf.bool), s, -np.inf)\n    w = tf.nn.softmax(s)\n    return w @ v, w"),
    (None, "def scaled_dot_product_attention(q, k, v, mask=None):\n    w = ops.softmax(ops.matmul(q, ops.swapaxes(k, -1, -2)))\n    return ops.matmul(w, v)"),
    ("blocked_not_low_enough", """
def scaled_dot_product_attention(q, k, v, mask=None):
    s = ops.matmul(q, ops.swapaxes(k, -1, -2)) / k.shape[-1]**0.5
    if mask is not None:
        s = ops.where(ops.cast(mask, "bool"), s, -100.)
    w = ops.softmax(s, axis=-1)
    return ops.matmul(w, v), w
"""),
    ("", """
def scaled_dot_product_attention(q, k, v, mask=None):
    s = ops.matmul(q, ops.swapaxes(k, -1, -2)) / k.shape[-1]**0.5
    if mask is not None:
        s += (1 - mask) * -1e9
    w = ops.softmax(s, axis=-1)
    return ops.matmul(w, v), w
"""),
    ("", """
def scaled_dot_product_attention(q, k, v, mask=None):
    s = ops.matmul(q, ops.swapaxes(k, -1, -2)) / k.shape[-1]**0.5
    if mask:
        s = ops.where(ops.cast(mask, "bool"), s, -1e9)
    w = ops.softmax(s, axis=-1)
    return ops.matmul(w, v), w
"""),
    ("blocked_not_low_enough", """
def scaled_dot_product_attention(q, k, v, mask=None):
    s = ops.matmul(q, ops.swapaxes(k, -1, -2)) / k.shape[-1]**0.5
    if mask is not None:
        s = ops.where(ops.cast(mask, "bool"), s, -1e4)
    w = ops.softmax(s, axis=-1)
    return ops.matmul(w, v), w
"""),
    ("blocked_loses_too_little", """
def scaled_dot_product_attention(q, k, v, mask=None):
    s = ops.matmul(q, ops.swapaxes(k, -1, -2)) / k.shape[-1]**0.5
    if mask is not None:
        s += (1 - ops.cast(mask, s.dtype)) * -1e4
    w = ops.softmax(s, axis=-1)
    return ops.matmul(w, v), w
"""),
]  # fmt: skip
