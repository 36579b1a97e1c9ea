"""Lab 01, exercise `additive_score`: solutions as different students write them, right and wrong."""

CORRECT = [
    "def additive_score(q, k, w_q, w_k, v):\n    a, b = np.asarray(q) @ np.asarray(w_q), np.asarray(k) @ np.asarray(w_k)\n    return np.tanh(a[:, None, :] + b[None, :, :]) @ np.asarray(v)",
    "def additive_score(q, k, w_q, w_k, v):\n    hidden = tf.tanh(tf.expand_dims(q @ w_q, 1) + tf.expand_dims(k @ w_k, 0))\n    return tf.tensordot(hidden, v, axes=1)",
    "def additive_score(q, k, w_q, w_k, v):\n    a, b = ops.matmul(q, w_q), ops.matmul(k, w_k)\n    return ops.einsum('tsu,u->ts', ops.tanh(ops.expand_dims(a, 1) + b), v)",
    """
def additive_score(q, k, w_q, w_k, v):
    q, k, w_q, w_k, v = (np.asarray(each) for each in (q, k, w_q, w_k, v))
    scores = np.empty((len(q), len(k)), dtype=q.dtype)
    for t in range(len(q)):
        for s in range(len(k)):
            scores[t, s] = v @ np.tanh(w_q.T @ q[t] + w_k.T @ k[s])
    return scores
""",
    """
def additive_score(q, k, w_q, w_k, v):
    q, k = tf.convert_to_tensor(q), tf.convert_to_tensor(k)
    t, s = q.shape[0], k.shape[0]
    pairs = tf.concat([tf.repeat(q, s, axis=0), tf.tile(k, [t, 1])], axis=-1)
    hidden = tf.tanh(pairs @ tf.concat([w_q, w_k], axis=0))
    return tf.reshape(tf.linalg.matvec(hidden, v), (t, s))
""",
]

WRONG = [
    ("no_tanh", "def additive_score(q, k, w_q, w_k, v):\n    return ops.sum((ops.matmul(q, w_q)[:, None] + ops.matmul(k, w_k)[None]) * v, axis=-1)"),
    ("tanh_outside", "def additive_score(q, k, w_q, w_k, v):\n    return ops.tanh(ops.sum((ops.matmul(q, w_q)[:, None] + ops.matmul(k, w_k)[None]) * v, axis=-1))"),
    ("v_missing", "def additive_score(q, k, w_q, w_k, v):\n    return ops.sum(ops.tanh(ops.matmul(q, w_q)[:, None] + ops.matmul(k, w_k)[None]), axis=-1)"),
    ("not_summed", "def additive_score(q, k, w_q, w_k, v):\n    return ops.tanh(ops.matmul(q, w_q)[:, None] + ops.matmul(k, w_k)[None]) * v"),
    ("multiplied", "def additive_score(q, k, w_q, w_k, v):\n    return ops.sum(ops.tanh(ops.matmul(q, w_q)[:, None] * ops.matmul(k, w_k)[None]) * v, axis=-1)"),
    ("v_inside", "def additive_score(q, k, w_q, w_k, v):\n    return ops.sum(ops.tanh((ops.matmul(q, w_q)[:, None] + ops.matmul(k, w_k)[None]) * v), axis=-1)"),
    ("averaged_over_units", 'def additive_score(q, k, w_q, w_k, v):\n    h = ops.tanh(ops.matmul(q, w_q)[:, None, :] + ops.matmul(k, w_k)[None, :, :])\n    return ops.mean(h * v, axis=-1)'),
    ("scaled_here", 'def additive_score(q, k, w_q, w_k, v):\n    h = ops.tanh(ops.matmul(q, w_q)[:, None, :] + ops.matmul(k, w_k)[None, :, :])\n    return ops.sum(h * v, axis=-1) / v.shape[0] ** 0.5'),
]  # fmt: skip
