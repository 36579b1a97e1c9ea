"""Lab 01, exercise `hard_attention`: solutions as different students write them, right and wrong."""

CORRECT = [
    "def hard_attention(weights):\n    return tf.one_hot(tf.argmax(weights, -1), weights.shape[-1])",  # any float type passes
    """
def hard_attention(weights):
    weights = np.asarray(weights)
    return np.eye(weights.shape[-1], dtype=weights.dtype)[weights.argmax(axis=-1)]
""",
    "def hard_attention(weights):\n    return tf.one_hot(tf.argmax(weights, axis=-1), tf.shape(weights)[-1], dtype=tf.convert_to_tensor(weights).dtype)",
    """
def hard_attention(weights):
    weights = ops.convert_to_tensor(weights)
    first = ops.argmax(weights, axis=-1)
    return ops.cast(ops.equal(ops.arange(weights.shape[-1]), ops.cast(first, "int32")[..., None]), weights.dtype)
""",
    """
def hard_attention(weights):
    weights = np.asarray(weights)
    result = np.zeros_like(weights)
    np.put_along_axis(result, np.argmax(weights, axis=-1)[..., None], 1, axis=-1)
    return result
""",
    """
def hard_attention(weights):
    weights = np.asarray(weights)
    result = np.zeros(weights.shape, weights.dtype)
    for index in np.ndindex(*weights.shape[:-1]):
        row = list(weights[index])
        result[index][row.index(max(row))] = 1.0
    return result
""",
    """
def hard_attention(weights):
    weights = tf.convert_to_tensor(weights)
    largest = tf.cast(tf.equal(weights, tf.reduce_max(weights, axis=-1, keepdims=True)), weights.dtype)
    return largest * tf.cast(tf.equal(tf.cumsum(largest, axis=-1), 1), weights.dtype)
""",
    # first of the largest by a running count
    """
def hard_attention(weights):
    w = ops.convert_to_tensor(weights)
    best = ops.cast(w == ops.max(w, -1, keepdims=True), "int32")
    first = ops.cumsum(best, axis=-1) * best
    return ops.cast(ops.equal(first, 1), w.dtype)
""",
]

WRONG = [
    ("all_ties", "def hard_attention(weights):\n    weights = np.asarray(weights)\n    return (weights == weights.max(-1, keepdims=True)).astype(weights.dtype)"),
    ("index_returned", "def hard_attention(weights):\n    return np.argmax(np.asarray(weights), axis=-1)"),
    ("argmax_without_axis", "def hard_attention(weights):\n    return ops.one_hot(ops.argmax(weights), weights.shape[-1], dtype=weights.dtype)"),
    ("argmax_of_columns", "def hard_attention(weights):\n    return ops.one_hot(ops.argmax(weights, axis=0), weights.shape[-1], dtype=weights.dtype)"),
    ("above_half", "def hard_attention(weights):\n    return np.round(np.asarray(weights))"),
    ("one_for_all", "def hard_attention(weights):\n    weights = np.asarray(weights)\n    out = np.zeros_like(weights)\n    out[np.unravel_index(weights.argmax(), weights.shape)] = 1\n    return out"),
]  # fmt: skip
