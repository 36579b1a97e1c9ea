"""Lab 03, exercise `split_heads`: solutions as different students write them, right and wrong."""

CORRECT = [
    # TensorFlow with -1
    """
def split_heads(x, num_heads):
    x = tf.convert_to_tensor(x)
    x = tf.reshape(x, (tf.shape(x)[0], -1, num_heads, x.shape[-1] // num_heads))
    return tf.transpose(x, perm=[0, 2, 1, 3])
""",
    # slices of the last axis, stacked
    """
def split_heads(x, num_heads):
    size = x.shape[-1] // num_heads
    return ops.stack([x[..., h * size : (h + 1) * size] for h in range(num_heads)], axis=1)
""",
    # split along the last axis
    """
def split_heads(x, num_heads):
    return tf.stack(tf.split(x, num_heads, axis=-1), axis=1)
""",
    "def split_heads(x, num_heads):\n    return ops.stack(ops.split(x, num_heads, axis=-1), axis=1)",
    # einsum does the transpose
    """
def split_heads(x, num_heads):
    shape = ops.shape(x)
    return ops.einsum("bthk->bhtk", ops.reshape(x, (shape[0], shape[1], num_heads, shape[2] // num_heads)))
""",
    """
def split_heads(x, num_heads):
    return ops.stack(ops.split(ops.convert_to_tensor(x), num_heads, axis=-1), axis=1)
""",
]

WRONG = [
    ("batch_taken_for_tokens", "def split_heads(x, num_heads):\n    x = np.asarray(x)\n    return x.reshape(len(x), num_heads, -1).transpose(1, 0, 2)"),
    ("size_and_number_exchanged", 'def split_heads(x, num_heads):\n    b, t, d = ops.shape(x)\n    return ops.transpose(ops.reshape(x, (b, t, d // num_heads, num_heads)), (0, 2, 1, 3))'),
    ("heads_in_batch", 'def split_heads(x, num_heads):\n    return tf.concat(tf.split(x, num_heads, axis=-1), axis=0)'),
    ("heads_not_narrower", "def split_heads(x, num_heads):\n    return ops.repeat(ops.expand_dims(x, 1), num_heads, axis=1)"),
    ("split_by_reshape_alone", "def split_heads(x, num_heads):\n    x = np.asarray(x)\n    b, t, d = x.shape\n    return x.reshape(b, num_heads, t, d // num_heads)"),
    ("no_transpose", "def split_heads(x, num_heads):\n    x = np.asarray(x)\n    return x.reshape(*x.shape[:2], num_heads, -1)"),
    ("heads_interleaved", "def split_heads(x, num_heads):\n    return ops.stack([x[..., h::num_heads] for h in range(num_heads)], axis=1)"),
    ("heads_before_batch", "def split_heads(x, num_heads):\n    return np.stack(np.split(np.asarray(x), num_heads, axis=-1))"),
    (None, "def split_heads(x, num_heads):\n    return np.stack(np.split(np.asarray(x, 'float32'), num_heads, axis=-1), axis=1)"),
    # static shapes: `None` where the layer of exercise 3 runs
    (None, "def split_heads(x, num_heads):\n    B, T, D = x.shape\n    return ops.transpose(ops.reshape(x, (B, T, num_heads, D // num_heads)), (0, 2, 1, 3))"),
    (None, "def split_heads(x, num_heads):\n    x = np.asarray(x)\n    b, t, d = x.shape\n    return x.reshape(b, t, num_heads, d // num_heads).swapaxes(1, 2)"),
    ("", """
def split_heads(x, num_heads):
    B, T, D = ops.shape(x)
    return ops.transpose(ops.reshape(x, (B, T, D // num_heads, num_heads)), (0, 3, 1, 2))
"""),
    ("", """
def split_heads(x, num_heads):
    x = ops.convert_to_tensor(x)
    B, T, D = x.shape
    return ops.transpose(ops.reshape(x, (B, T, num_heads, D // num_heads)), (0, 2, 1, 3))
"""),
]  # fmt: skip
