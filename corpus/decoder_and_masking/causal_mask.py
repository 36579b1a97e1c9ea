"""Lab 08, exercise `causal_mask`: solutions as different students write them, right and wrong."""

CORRECT = [
    "def causal_mask(length):\n    return np.tril(np.ones((length, length), dtype=bool))",
    "def causal_mask(length):\n    return tf.linalg.band_part(tf.ones((length, length), tf.bool), -1, 0)",
    "def causal_mask(length):\n    return tf.cast(tf.linalg.band_part(tf.ones((length, length)), -1, 0), tf.int32)",
    "def causal_mask(length):\n    return [[s <= t for s in range(length)] for t in range(length)]",
    "def causal_mask(length):\n    place = ops.arange(length)\n    return ops.expand_dims(place, 1) >= place",
    "def causal_mask(length):\n    return 1 - np.triu(np.ones((length, length)), k=1)",
    "def causal_mask(length):\n    return ~np.triu(np.full((length, length), True), 1)",
    "def causal_mask(length):\n    return np.tri(length)",
]

WRONG = [
    ("transposed", "def causal_mask(length):\n    return np.triu(np.ones((length, length), bool))"),
    ("diagonal_blocked", "def causal_mask(length):\n    return np.tril(np.ones((length, length), bool), k=-1)"),
    ("true_means_blocked", "def causal_mask(length):\n    return np.triu(np.ones((length, length), bool), k=1)"),
    ("additive_large", "def causal_mask(length):\n    return -1e9 * np.triu(np.ones((length, length)), k=1)"),
    (
        "additive",
        "def causal_mask(length):\n    return np.where(np.tri(length) > 0, 0.0, -np.inf)",
    ),
    (
        "with_batch_axis",
        "def causal_mask(length):\n    return tf.linalg.band_part(tf.ones((1, length, length)), -1, 0)",
    ),
    (None, "def causal_mask(length):\n    return np.ones((length, length), bool)"),
    (None, "def causal_mask(length):\n    return np.eye(length)"),
    (None, "def causal_mask(length):\n    np.tri(length)"),
]
