"""Lab 01, exercise `general_score`: solutions as different students write them, right and wrong."""

CORRECT = [
    "def general_score(q, k, w):\n    return np.asarray(q) @ np.asarray(w) @ np.asarray(k).T",
    "def general_score(q, k, w):\n    return tf.matmul(tf.matmul(q, w), k, transpose_b=True)",
    "def general_score(q, k, w):\n    return ops.einsum('ti,ij,sj->ts', q, w, k)",
    "def general_score(q, k, w):\n    return dot_score(q, ops.matmul(k, ops.transpose(w)))",
    "def general_score(q, k, w):\n    q, k, w = np.asarray(q), np.asarray(k), np.asarray(w)\n    return np.stack([np.stack([a @ w @ b for b in k]) for a in q])",
]

WRONG = [
    ("w_transposed", "def general_score(q, k, w):\n    return ops.matmul(ops.matmul(q, ops.transpose(w)), ops.transpose(k))"),
    ("scores_transposed", "def general_score(q, k, w):\n    return ops.transpose(ops.matmul(ops.matmul(q, w), ops.transpose(k)))"),
    ("scaled_by_key_width", 'def general_score(q, k, w):\n    return ops.matmul(ops.matmul(q, w), ops.transpose(k)) / k.shape[-1] ** 0.5'),
]  # fmt: skip
