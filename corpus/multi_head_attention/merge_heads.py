"""Lab 03, exercise `merge_heads`: solutions as different students write them, right and wrong."""

CORRECT = [
    """
def merge_heads(x):
    x = tf.transpose(x, [0, 2, 1, 3])
    shape = tf.shape(x)
    return tf.reshape(x, tf.stack([shape[0], shape[1], shape[2] * shape[3]]))
""",
    "def merge_heads(x):\n    return ops.concatenate([x[:, h] for h in range(x.shape[1])], axis=-1)",
    "def merge_heads(x):\n    return tf.concat(tf.unstack(x, axis=1), -1)",
    "def merge_heads(x):\n    return ops.reshape(ops.swapaxes(x, 1, 2), (ops.shape(x)[0], ops.shape(x)[2], -1))",
    "merge_heads = lambda x: tf.reshape(tf.einsum('bhtk->bthk', x), (tf.shape(x)[0], -1, x.shape[1] * x.shape[3]))",
    """
def merge_heads(x):
    x = ops.convert_to_tensor(x)
    return ops.concatenate([x[:, h] for h in range(x.shape[1])], axis=-1)
""",
]

WRONG = [
    ("sentences_joined", "def merge_heads(x):\n    return np.concatenate(list(x), axis=-1)"),
    ("heads_still_apart", 'def merge_heads(x):\n    return ops.transpose(x, (0, 2, 1, 3))'),
    ("merged_by_reshape_alone", "def merge_heads(x):\n    b, h, t, k = x.shape\n    return ops.reshape(x, (b, t, h * k))"),
    ("merged_interleaved", "def merge_heads(x):\n    b, h, t, k = x.shape\n    return ops.reshape(ops.transpose(x, (0, 2, 3, 1)), (b, t, h * k))"),
    ("heads_below_each_other", "def merge_heads(x):\n    return ops.concatenate([x[:, h] for h in range(x.shape[1])], axis=1)"),
    ("features_of_all_tokens", "def merge_heads(x):\n    b, t, h, k = x.shape\n    return ops.reshape(ops.transpose(x, (0, 2, 1, 3)), (b, t, h * k))"),
    ("heads_added", "def merge_heads(x):\n    return ops.sum(x, axis=1)"),
    ("heads_averaged", "def merge_heads(x):\n    return ops.mean(x, axis=1)"),
    (None, "def merge_heads(x):\n    B, H, T, K = x.shape\n    return ops.reshape(ops.transpose(x, (0, 2, 1, 3)), (B, T, H * K))"),
    (None, "def merge_heads(x):\n    x = np.asarray(x)\n    return x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)"),
    ("", """
def merge_heads(x):
    return ops.concatenate(ops.unstack(ops.convert_to_tensor(x), axis=1), axis=1)
"""),
    ("", """
def merge_heads(x):
    B, H, T, K = x.shape
    return ops.reshape(ops.transpose(x, (0, 2, 1, 3)), (B, T, -1))
"""),
]  # fmt: skip
