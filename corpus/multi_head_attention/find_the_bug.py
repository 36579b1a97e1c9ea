"""Lab 03, exercise `find_the_bug`: solutions as different students write them, right and wrong."""

CORRECT = [
    """
def find_the_bug(q, k, v):
    weights = ops.softmax(ops.einsum("bthk,bshk->bhts", q, k) / q.shape[-1] ** 0.5)
    return ops.einsum("bhts,bshk->bthk", weights, v)
""",
    """
def find_the_bug(q, k, v):
    q, k, v = (ops.transpose(each, (0, 2, 1, 3)) for each in (q, k, v))
    weights = ops.softmax(ops.matmul(q, ops.swapaxes(k, -1, -2)) / q.shape[-1] ** 0.5)
    return ops.transpose(ops.matmul(weights, v), (0, 2, 1, 3))
""",
    """
def find_the_bug(q, k, v):
    q, k, v = (np.asarray(each, "float64") for each in (q, k, v))
    scores = np.einsum("bthk,bshk->bhts", q, k) / np.sqrt(q.shape[-1])
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return np.einsum("bhts,bshk->bthk", powers / powers.sum(-1, keepdims=True), v)
""",
    """
def find_the_bug(q, k, v):
    heads = []
    for h in range(q.shape[2]):
        scores = tf.matmul(q[:, :, h], k[:, :, h], transpose_b=True) / q.shape[-1] ** 0.5
        heads.append(tf.matmul(tf.nn.softmax(scores), v[:, :, h]))
    return tf.stack(heads, axis=2)
""",
    """
def find_the_bug(q, k, v):
    weights = tf.nn.softmax(tf.einsum("bthk,bshk->bths", q, k) / q.shape[-1] ** 0.5)
    return tf.einsum("bths,bshk->bthk", weights, v)
""",
]

WRONG = [
    (
        "",
        """
def find_the_bug(q, k, v):
    weights = ops.softmax(ops.einsum("bthk,bshk->bhts", q, k) / q.shape[-1] ** 0.5)
    return ops.einsum("bhts,bthk->bthk", weights, v)
""",
    ),
    (
        "summed_over_queries",
        """
def find_the_bug(q, k, v):
    weights = ops.softmax(ops.einsum("bthk,bshk->bhts", q, k) / q.shape[-1] ** 0.5)
    return ops.einsum("bhts,bthk->bshk", weights, v)
""",
    ),
    (
        "",
        """
def find_the_bug(q, k, v):
    scores = ops.einsum("bthk,bshk->bhts", q, k) / q.shape[-1] ** 0.5  # (B, H, T, S)
    weights = ops.softmax(scores, axis=-2)  # (B, H, T, S)
    return ops.einsum("bhts,bthk->bthk", weights, v)  # (B, T, H, K)
""",
    ),
    (
        "summed_over_queries",
        """
def find_the_bug(q, k, v):
    scores = ops.einsum("bthk,bshk->bhts", q, k) / q.shape[-1] ** 0.5  # (B, H, T, S)
    weights = ops.softmax(scores, axis=-1)  # (B, H, T, S)
    return ops.einsum("bhst,bshk->bthk", weights, v)  # (B, T, H, K)
""",
    ),
    (
        "scaled_by_heads",
        """
def find_the_bug(q, k, v):
    scores = ops.einsum("bthk,bshk->bhts", q, k) / q.shape[-2] ** 0.5  # (B, H, T, S)
    weights = ops.softmax(scores, axis=-1)  # (B, H, T, S)
    return ops.einsum("bhts,bshk->bthk", weights, v)  # (B, T, H, K)
""",
    ),
]
