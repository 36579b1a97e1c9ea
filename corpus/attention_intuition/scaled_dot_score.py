"""Lab 01, exercise `scaled_dot_score`: solutions as different students write them, right and wrong."""

CORRECT = [
    "def scaled_dot_score(q, k):\n    return np.asarray(q) @ np.asarray(k).T / np.sqrt(q.shape[-1])",  # any float type passes
    "def scaled_dot_score(q, k):\n    return dot_score(q, k) * q.shape[1] ** -0.5",
    "def scaled_dot_score(q, k):\n    return tf.matmul(q, k, transpose_b=True) / tf.sqrt(tf.cast(tf.shape(k)[-1], q.dtype))",
    "def scaled_dot_score(q, k):\n    q, k = np.asarray(q), np.asarray(k)\n    return q @ k.T / np.sqrt(k.shape[-1]).astype(q.dtype)",
    "import math\ndef scaled_dot_score(q, k):\n    return ops.einsum('td,sd->ts', q, k) / math.sqrt(k.shape[-1])",
    "def scaled_dot_score(q, k):\n    root = np.asarray(q).shape[-1] ** 0.25\n    return dot_score(np.asarray(q) / root, np.asarray(k) / root)",
]

WRONG = [
    ("unscaled", "def scaled_dot_score(q, k):\n    return ops.matmul(q, ops.transpose(k))"),
    ("scaled_by_d", "def scaled_dot_score(q, k):\n    return ops.matmul(q, ops.transpose(k)) / q.shape[-1]"),
    ("scaled_by_length", "def scaled_dot_score(q, k):\n    return ops.matmul(q, ops.transpose(k)) / len(k) ** 0.5"),
    ("scaled_by_queries", "def scaled_dot_score(q, k):\n    return ops.matmul(q, ops.transpose(k)) / len(q) ** 0.5"),
]
