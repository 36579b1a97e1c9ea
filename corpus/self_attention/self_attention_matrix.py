"""Lab 02, exercise `self_attention_matrix`: solutions as different students write them, right and wrong."""

CORRECT = [
    """
def self_attention_matrix(x):
    scores = tf.matmul(x, x, transpose_b=True) * x.shape[-1] ** -0.5
    return tf.matmul(tf.nn.softmax(scores), x)
""",
    """
def self_attention_matrix(x):
    x = np.asarray(x)
    scores = np.einsum("...td,...sd->...ts", x, x) / x.shape[-1] ** 0.5
    powers = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    return np.einsum("...ts,...sd->...td", powers / powers.sum(-1, keepdims=True), x)
""",
    """
def self_attention_matrix(x):
    x = tf.convert_to_tensor(x)
    d = tf.cast(tf.shape(x)[-1], x.dtype)
    return tf.einsum("...ts,...sd->...td", tf.nn.softmax(tf.einsum("...td,...sd->...ts", x, x) / tf.math.sqrt(d)), x)
""",
    """
softmax = keras.layers.Softmax(axis=-1, dtype="float64")
def self_attention_matrix(x):
    wide = np.asarray(x).astype("float64")
    weights = softmax((wide / wide.shape[-1] ** 0.25) @ np.swapaxes(wide / wide.shape[-1] ** 0.25, -2, -1))
    return (np.asarray(weights) @ wide).astype(np.asarray(x).dtype)
""",
    """
self_attention_matrix = lambda x: ops.matmul(
    keras.activations.softmax(ops.einsum("...ij,...kj->...ik", x, x) / x.shape[-1] ** 0.5), ops.convert_to_tensor(x)
)
""",
]

PLAIN = """
def self_attention_matrix(x):
    x = np.asarray(x)
    s = x @ np.swapaxes(x, -1, -2) / x.shape[-1] ** 0.5
    e = np.exp(s - {peak})
    return e / e.sum(-1) @ x
"""

WRONG = [
    ("softmax_over_queries", PLAIN.format(peak="s.max()")),  # the scores are symmetric
    ("keepdims_forgotten_twice", PLAIN.format(peak="s.max(-1)")),
    ("keepdims_forgotten", 'def self_attention_matrix(x):\n    x = np.asarray(x); s = x @ np.swapaxes(x, -1, -2) / x.shape[-1] ** 0.5\n    w = np.exp(s - s.max(-1, keepdims=True)); return (w / w.sum(-1)) @ x'),
    ("features_attend", 'def self_attention_matrix(x):\n    x = np.asarray(x); s = np.swapaxes(x, -1, -2) @ x / x.shape[-1] ** 0.5\n    w = np.exp(s - s.max(-1, keepdims=True)); return x @ (w / w.sum(-1, keepdims=True))'),
    ("softmax_over_queries", "def self_attention_matrix(x):\n    s = ops.matmul(x, ops.swapaxes(x, -1, -2)) / x.shape[-1] ** 0.5\n    return ops.matmul(ops.softmax(s, axis=-2), ops.convert_to_tensor(x))"),
    ("returns_weights", "def self_attention_matrix(x):\n    return ops.softmax(ops.matmul(x, ops.swapaxes(x, -1, -2)) / x.shape[-1] ** 0.5)"),
    (None, "def self_attention_matrix(x):\n    x = np.asarray(x)\n    s = x @ x.T / x.shape[-1] ** 0.5\n    p = np.exp(s - s.max(-1, keepdims=True))\n    return (p / p.sum(-1, keepdims=True)) @ x"),
    (None, "def self_attention_matrix(x):\n    return np.stack([self_attention_loops(each) for each in x]) if np.ndim(x) > 2 else self_attention_loops(x)"),
    ("scaled_by_axis_1", """
def self_attention_matrix(x):
    x = np.asarray(x)
    s = x @ np.swapaxes(x, -1, -2) / np.sqrt(x.shape[1])
    return ops.softmax(s, axis=-1) @ x
"""),
    ("", """
def self_attention_matrix(x):
    x = np.asarray(x)
    s = x @ np.swapaxes(x, 1, 2) / x.shape[-1]**0.5
    return np.asarray(ops.softmax(s, axis=-1)) @ x
"""),
    ("softmax_over_axis_1", """
def self_attention_matrix(x):
    x = np.asarray(x)
    s = x @ np.swapaxes(x, -1, -2) / x.shape[-1]**0.5
    e = np.exp(s - s.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True) @ x
"""),
]  # fmt: skip
