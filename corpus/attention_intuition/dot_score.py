"""Lab 01, exercise `dot_score`: solutions as different students write them, right and wrong."""

CORRECT = [
    "def dot_score(q, k):\n    return np.asarray(q) @ np.asarray(k).T",
    "def dot_score(q, k):\n    return tf.matmul(q, k, transpose_b=True)",
    "def dot_score(q, k):\n    return ops.einsum('td,sd->ts', q, k)",
    "def dot_score(q, k):\n    return np.array([[np.dot(a, b) for b in np.asarray(k)] for a in np.asarray(q)])",
    "dot_score = lambda q, k: tf.reduce_sum(tf.convert_to_tensor(q)[:, None, :] * tf.convert_to_tensor(k)[None], axis=-1)",
]

WRONG = [
    ("scores_transposed", "def dot_score(q, k):\n    return ops.matmul(k, ops.transpose(q))"),
    ("averaged", "def dot_score(q, k):\n    return ops.mean(ops.expand_dims(q, 1) * ops.expand_dims(k, 0), axis=-1)"),
    ("weights_instead_of_scores", "def dot_score(q, k):\n    return softmax(ops.matmul(q, ops.transpose(k)))"),
    (None, "def dot_score(q, k):\n    return ops.sum(q * k, axis=-1)"),
]
