"""Lab 01, exercise `attend`: solutions as different students write them, right and wrong."""

CORRECT = [
    # -inf and repaired rows
    """
def attend(scores, values, mask=None):
    scores, values = tf.convert_to_tensor(scores), tf.convert_to_tensor(values)
    if mask is not None:
        scores = tf.where(tf.cast(mask, tf.bool), scores, tf.constant(-np.inf, scores.dtype))
    weights = tf.nn.softmax(scores)
    weights = tf.where(tf.math.is_nan(weights), tf.zeros_like(weights), weights)
    return tf.matmul(weights, values), weights
""",
    # additive mask
    """
def attend(scores, values, mask=None):
    if mask is not None:
        scores = scores + (1.0 - ops.cast(mask, ops.convert_to_tensor(scores).dtype)) * -1e9
    weights = ops.softmax(scores, axis=-1)
    return ops.matmul(weights, values), weights
""",
    # NumPy, exponentials times the mask, denominators guarded
    """
def attend(scores, values, mask=None):
    scores, values = np.asarray(scores), np.asarray(values)
    allowed = np.ones(1, bool) if mask is None else np.asarray(mask) != 0
    masked = np.where(allowed, scores, np.finfo(scores.dtype).min)
    powers = np.exp(masked - masked.max(-1, keepdims=True)) * allowed
    weights = (powers / np.maximum(powers.sum(-1, keepdims=True), np.finfo(scores.dtype).tiny)).astype(scores.dtype)
    return np.einsum("...ts,...se->...te", weights, values), weights
""",
    # the students' own softmax, NumPy's where, a list
    """
def attend(scores, values, mask=None):
    scores = np.array(scores)
    if mask is not None:
        scores[~np.broadcast_to(np.array(mask).astype(bool), scores.shape)] = -1e30
    weights = np.asarray(softmax(scores))
    return [weights @ np.asarray(values), weights]
""",
    # keras' Softmax layer with its mask
    """
def attend(scores, values, mask=None):
    scores, values = ops.convert_to_tensor(scores), ops.convert_to_tensor(values)
    layer = keras.layers.Softmax(axis=-1, dtype=scores.dtype)
    if mask is None:
        weights = layer(scores)
    else:
        weights = layer(scores, mask=ops.broadcast_to(ops.cast(mask, "bool"), scores.shape))
    return ops.einsum("...ts,...se->...te", weights, values), weights
""",
    # exponentials multiplied with the mask, sums that are 0 replaced
    """
def attend(scores, values, mask=None):
    scores = ops.convert_to_tensor(scores)
    if mask is None:
        mask = ops.ones_like(scores)
    mask = ops.cast(mask, scores.dtype)
    neg = scores - 1e6 * (1 - mask)
    e = ops.exp(neg - ops.max(neg, axis=-1, keepdims=True)) * mask
    z = ops.sum(e, axis=-1, keepdims=True)
    w = e / ops.where(z == 0, ops.ones_like(z), z)
    return ops.matmul(w, values), w
""",
]

WRONG = [
    ("scores_returned", "def attend(scores, values, mask=None):\n    s = ops.convert_to_tensor(scores)\n    if mask is not None:\n        s = ops.where(ops.cast(mask, 'bool'), s, ops.cast(-1e9, s.dtype))\n    return ops.matmul(ops.softmax(s), ops.convert_to_tensor(values)), s"),
    ("mask_inverted", "def attend(scores, values, mask=None):\n    scores = ops.convert_to_tensor(scores)\n    if mask is not None:\n        scores = ops.where(ops.cast(mask, 'bool'), ops.cast(-1e9, scores.dtype), scores)\n    w = ops.softmax(scores)\n    return ops.matmul(w, values), w"),
    ("mask_after_softmax", "def attend(scores, values, mask=None):\n    w = ops.softmax(ops.convert_to_tensor(scores))\n    if mask is not None:\n        w = w * ops.cast(mask, w.dtype)\n    return ops.matmul(w, values), w"),
    ("mask_zeroes_scores", "def attend(scores, values, mask=None):\n    scores = ops.convert_to_tensor(scores)\n    if mask is not None:\n        scores = scores * ops.cast(mask, scores.dtype)\n    w = ops.softmax(scores)\n    return ops.matmul(w, values), w"),
    ("softmax_over_queries", "def attend(scores, values, mask=None):\n    scores = ops.convert_to_tensor(scores)\n    if mask is not None:\n        scores = ops.where(ops.cast(mask, 'bool'), scores, ops.cast(-1e9, scores.dtype))\n    w = ops.softmax(scores, axis=-2)\n    return ops.matmul(w, values), w"),
    ("fill_too_small", "def attend(scores, values, mask=None):\n    s = ops.convert_to_tensor(scores)\n    if mask is not None:\n        s = ops.where(ops.cast(mask, 'bool'), s, ops.cast(-1e4, s.dtype))\n    w = ops.softmax(s)\n    return ops.matmul(w, values), w"),
    ("mask_ignored", "def attend(scores, values, mask=None):\n    w = ops.softmax(ops.convert_to_tensor(scores))\n    return ops.matmul(w, values), w"),
    ("", "def attend(scores, values, mask=None):\n    s = ops.convert_to_tensor(scores)\n    powers = ops.exp(s)\n    if mask is not None:\n        powers = powers * ops.cast(mask, s.dtype)\n    w = powers / ops.sum(powers, axis=-1, keepdims=True)\n    return ops.matmul(w, values), w"),
    ("", "def attend(scores, values, mask=None):\n    s = ops.convert_to_tensor(scores)\n    if mask is not None:\n        s = ops.where(ops.cast(mask, 'bool'), s, ops.cast(-1e9, s.dtype))\n    powers = ops.exp(s - ops.max(s))\n    w = powers / ops.sum(powers, axis=-1, keepdims=True)\n    return ops.matmul(w, values), w"),
    ("", "def attend(scores, values, mask=None):\n    s, values = np.asarray(scores), np.asarray(values)\n    if mask is not None:\n        s = np.where(np.asarray(mask).astype(bool), s, -1e9).astype(s.dtype)\n    powers = np.exp(s - s.max())\n    w = powers / powers.sum(-1, keepdims=True)\n    return w @ values, w"),
    (None, "def attend(scores, values, mask=None):\n    scores = tf.convert_to_tensor(scores)\n    if mask is not None:\n        scores = tf.where(tf.cast(mask, tf.bool), scores, tf.constant(-np.inf, scores.dtype))\n    w = tf.nn.softmax(scores)\n    return w @ values, w"),
    (None, 'def attend(scores, values, mask=None):\n    scores = ops.convert_to_tensor(scores)\n    if mask is not None:\n        scores = tf.where(mask, scores, tf.cast(-1e9, scores.dtype))\n    w = ops.softmax(scores, axis=-1)\n    return ops.matmul(w, values), w'),
    ("normalised_after", """
def attend(scores, values, mask=None):
    scores = ops.convert_to_tensor(scores)
    if mask is not None:
        pass
    w = ops.softmax(scores, axis=-1)
    if mask is not None:
        w = w * ops.cast(mask, w.dtype); w = w / ops.sum(w, axis=-1, keepdims=True)
    return ops.matmul(w, values), w
"""),
    ("softmax_over_axis_1", """
def attend(scores, values, mask=None):
    scores = ops.convert_to_tensor(scores)
    if mask is not None:
        scores = ops.where(ops.cast(mask, "bool"), scores, ops.cast(-1e9, scores.dtype))
    w = ops.softmax(scores, axis=1)
    return ops.matmul(w, values), w
"""),
    ("scaled_by_length", """
def attend(scores, values, mask=None):
    scores = ops.convert_to_tensor(scores)
    if mask is not None:
        scores = ops.where(ops.cast(mask, "bool"), scores, ops.cast(-1e9, scores.dtype))
    scores = scores / scores.shape[-1]**0.5
    w = ops.softmax(scores, axis=-1)
    return ops.matmul(w, values), w
"""),
    ("", """
def attend(scores, values, mask=None):
    scores = ops.convert_to_tensor(scores)
    if mask is not None:
        scores = ops.where(ops.cast(mask, "bool"), scores, ops.cast(-1e9, scores.dtype))
    w = ops.softmax(scores, axis=-1)
    return ops.matmul(ops.swapaxes(w, -1, -2), values), w
"""),
    *[("normalised_with_epsilon", """
def attend(scores, values, mask=None):
    scores = ops.convert_to_tensor(scores)
    w = ops.softmax(scores, axis=-1)
    if mask is not None:
        w = w * ops.cast(mask, w.dtype); w = w / (ops.sum(w, axis=-1, keepdims=True) + EPS)
    return ops.matmul(w, values), w
""".replace("EPS", eps)) for eps in ("1e-9", "1e-12", "1e-7")],
    ("lowered_too_little", """
def attend(scores, values, mask=None):
    scores = ops.convert_to_tensor(scores)
    if mask is not None:
        scores = scores + (1 - ops.cast(mask, scores.dtype)) * -1e4
    w = ops.softmax(scores, axis=-1)
    return ops.matmul(w, values), w
"""),
    ("normalised_with_epsilon", """
def attend(scores, values, mask=None):
    scores, values = np.asarray(scores), np.asarray(values)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    if mask is not None:
        powers = powers * np.asarray(mask)
    weights = powers / np.maximum(powers.sum(axis=-1, keepdims=True), 1e-30)
    return weights @ values, weights
"""),
]  # fmt: skip
