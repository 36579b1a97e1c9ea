"""Lab 01, exercise `cosine_score`: solutions as different students write them, right and wrong."""

CORRECT = [
    "def cosine_score(q, k):\n    q, k = np.asarray(q), np.asarray(k)\n    return q @ k.T / np.outer(np.linalg.norm(q, axis=1), np.linalg.norm(k, axis=1))",
    "def cosine_score(q, k):\n    return tf.matmul(tf.math.l2_normalize(q, axis=-1), tf.math.l2_normalize(k, axis=-1), transpose_b=True)",
    "def cosine_score(q, k):\n    return ops.matmul(ops.normalize(q, axis=-1), ops.transpose(ops.normalize(k, axis=-1)))",
    """
def cosine_score(q, k):
    kind = np.asarray(q).dtype
    rows = []
    for a in np.asarray(q, "float64"):
        rows.append([sum(a * b) / (sum(a * a) ** 0.5 * sum(b * b) ** 0.5) for b in np.asarray(k, "float64")])
    return np.array(rows, dtype=kind)
""",
    """
def cosine_score(q, k):
    q, k = ops.convert_to_tensor(q), ops.convert_to_tensor(k)
    lengths = ops.norm(q, axis=-1)[:, None] * ops.norm(k, axis=-1)[None, :]
    return ops.divide(dot_score(q, k), lengths + 1e-12)
""",
]

WRONG = [
    ("no_lengths", "def cosine_score(q, k):\n    return ops.matmul(q, ops.transpose(k))"),
    ("only_keys_normalised", "def cosine_score(q, k):\n    return ops.matmul(q, ops.transpose(ops.normalize(k)))"),
    ("length_of_the_matrix", "def cosine_score(q, k):\n    q, k = np.asarray(q), np.asarray(k)\n    return q @ k.T / (np.linalg.norm(q) * np.linalg.norm(k))"),
    ("lengths_of_columns", "def cosine_score(q, k):\n    q, k = np.asarray(q), np.asarray(k)\n    return (q / np.linalg.norm(q, axis=0)) @ (k / np.linalg.norm(k, axis=0)).T"),
    ("cosine_distance", "def cosine_score(q, k):\n    return 1 - ops.matmul(ops.normalize(q), ops.transpose(ops.normalize(k)))"),
    ("angle_returned", "def cosine_score(q, k):\n    return ops.arccos(ops.matmul(ops.normalize(q), ops.transpose(ops.normalize(k))))"),
    ("keys_multiplied", 'def cosine_score(q, k):\n    s = ops.matmul(q, ops.transpose(k))\n    a = ops.norm(q, axis=-1, keepdims=True)\n    b = ops.norm(k, axis=-1)\n    return s / a * b'),
]  # fmt: skip
