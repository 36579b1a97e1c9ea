"""Lab 02, exercise `find_the_bug`: solutions as different students write them, right and wrong."""

CORRECT = [
    """
def find_the_bug(x, w_q, w_k, w_v):
    q, k, v = (ops.einsum("...td,dk->...tk", x, w) for w in (w_q, w_k, w_v))
    scores = ops.einsum("...tk,...sk->...ts", q, k) / w_k.shape[1] ** 0.5
    scores = scores - 1e9 * (1 - np.tri(x.shape[-2], dtype="float32"))
    weights = ops.softmax(scores, axis=-1)
    return ops.einsum("...ts,...sv->...tv", weights, v)
""",
    """
def find_the_bug(x, w_q, w_k, w_v):
    q, k, v = project_qkv(x, w_q, w_k, w_v)
    return scaled_dot_product_attention(q, k, v, mask=np.tri(x.shape[-2]))[0]
""",
    """
def find_the_bug(x, w_q, w_k, w_v):
    x = np.asarray(x)
    q, k, v = x @ np.asarray(w_q), x @ np.asarray(w_k), x @ np.asarray(w_v)
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(k.shape[-1])
    scores = np.where(np.tri(x.shape[-2]) == 1, scores, -np.inf)
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True) @ v
""",
    """
def find_the_bug(x, w_q, w_k, w_v):
    q, k, v = (tf.einsum("...td,dk->...tk", x, w) for w in (w_q, w_k, w_v))
    scores = tf.einsum("...tk,...sk->...ts", q, k) / w_k.shape[1] ** 0.5
    later = tf.linalg.band_part(tf.ones([x.shape[-2]] * 2), 0, -1) - tf.eye(x.shape[-2])
    weights = tf.nn.softmax(tf.where(later > 0, tf.constant(-1e9), scores))
    return tf.einsum("...ts,...sv->...tv", weights, v)
""",
    """
def find_the_bug(x, w_q, w_k, w_v):
    rows = []
    for t in range(x.shape[-2]):
        seen = ops.convert_to_tensor(x)[..., : t + 1, :]
        q, k, v = seen[..., -1:, :] @ w_q, seen @ w_k, seen @ w_v
        weights = ops.softmax(ops.matmul(q, ops.swapaxes(k, -1, -2)) / w_k.shape[1] ** 0.5)
        rows.append(ops.matmul(weights, v)[..., 0, :])
    return ops.stack(rows, axis=-2)
""",
]

WRONG = [
    (
        "",
        """
def find_the_bug(x, w_q, w_k, w_v):
    q, k, v = (ops.einsum("...td,dk->...tk", x, w) for w in (w_q, w_k, w_v))
    scores = ops.einsum("...tk,...sk->...ts", q, k) / w_k.shape[1] ** 0.5
    weights = ops.softmax(scores, axis=-1)
    weights = weights * np.tri(x.shape[-2], dtype="float32")
    return ops.einsum("...ts,...sv->...tv", weights, v)
""",
    ),
    (
        "normalised_after",
        """
def find_the_bug(x, w_q, w_k, w_v):
    q, k, v = (ops.einsum("...td,dk->...tk", x, w) for w in (w_q, w_k, w_v))
    scores = ops.einsum("...tk,...sk->...ts", q, k) / w_k.shape[1] ** 0.5
    weights = ops.softmax(scores, axis=-1) * np.tri(x.shape[-2], dtype="float32")
    return ops.einsum("...ts,...sv->...tv", weights / ops.sum(weights, axis=-1, keepdims=True), v)
""",
    ),
    (
        "earlier_blocked",
        """
def find_the_bug(x, w_q, w_k, w_v):
    q, k, v = project_qkv(x, w_q, w_k, w_v)
    return scaled_dot_product_attention(q, k, v, mask=np.tri(x.shape[-2]).T)[0]
""",
    ),
    (
        "itself_blocked",
        """
def find_the_bug(x, w_q, w_k, w_v):
    q, k, v = (ops.einsum("...td,dk->...tk", x, w) for w in (w_q, w_k, w_v))
    scores = ops.einsum("...tk,...sk->...ts", q, k) / w_k.shape[1] ** 0.5  # (…, T, T)
    scores = ops.where(np.tri(x.shape[-2], k=-1, dtype=bool), scores, -1e9)
    weights = ops.softmax(scores, axis=-1)
    return ops.einsum("...ts,...sv->...tv", weights, v)
""",
    ),
    (
        "past_blocked",
        """
def find_the_bug(x, w_q, w_k, w_v):
    q, k, v = (ops.einsum("...td,dk->...tk", x, w) for w in (w_q, w_k, w_v))
    scores = ops.einsum("...tk,...sk->...ts", q, k) / w_k.shape[1] ** 0.5  # (…, T, T)
    scores = ops.where(np.tri(x.shape[-2], dtype=bool), -1e9, scores)
    weights = ops.softmax(scores, axis=-1)
    return ops.einsum("...ts,...sv->...tv", weights, v)
""",
    ),
    (
        "past_blocked_by_addition",
        """
def find_the_bug(x, w_q, w_k, w_v):
    q, k, v = (ops.einsum("...td,dk->...tk", x, w) for w in (w_q, w_k, w_v))
    scores = ops.einsum("...tk,...sk->...ts", q, k) / w_k.shape[1] ** 0.5  # (…, T, T)
    scores = scores + np.tri(x.shape[-2], dtype="float32") * -1e9
    weights = ops.softmax(scores, axis=-1)
    return ops.einsum("...ts,...sv->...tv", weights, v)
""",
    ),
    (
        "scores_zeroed",
        """
def find_the_bug(x, w_q, w_k, w_v):
    q, k, v = (ops.einsum("...td,dk->...tk", x, w) for w in (w_q, w_k, w_v))
    scores = ops.einsum("...tk,...sk->...ts", q, k) / w_k.shape[1] ** 0.5  # (…, T, T)
    scores = scores * np.tri(x.shape[-2], dtype="float32")
    weights = ops.softmax(scores, axis=-1)
    return ops.einsum("...ts,...sv->...tv", weights, v)
""",
    ),
    (
        "blocked_not_low_enough",
        """
def find_the_bug(x, w_q, w_k, w_v):
    q, k, v = (ops.einsum("...td,dk->...tk", x, w) for w in (w_q, w_k, w_v))
    scores = ops.einsum("...tk,...sk->...ts", q, k) / w_k.shape[1] ** 0.5
    weights = ops.softmax(ops.where(np.tri(x.shape[-2], dtype=bool), scores, -1e4), axis=-1)
    return ops.einsum("...ts,...sv->...tv", weights, v)
""",
    ),
    (
        "",
        """
def find_the_bug(x, w_q, w_k, w_v):
    q, k, v = (ops.einsum("...td,dk->...tk", x, w) for w in (w_q, w_k, w_v))
    scores = ops.einsum("...tk,...sk->...ts", q, k) / w_k.shape[1] ** 0.5
    weights = ops.softmax(scores, axis=-1) * np.tri(x.shape[-2], dtype="float32")
    weights = weights / (ops.sum(weights, axis=-1, keepdims=True) + 1e-9)
    return ops.einsum("...ts,...sv->...tv", weights, v)
""",
    ),
    (
        "",
        """
def find_the_bug(x, w_q, w_k, w_v):
    q, k, v = (ops.einsum("...td,dk->...tk", x, w) for w in (w_q, w_k, w_v))
    scores = ops.einsum("...tk,...sk->...ts", q, k) / w_k.shape[1] ** 0.5
    weights = ops.softmax(ops.where(np.tri(x.shape[-2], k=1, dtype=bool), scores, -1e9), axis=-1)
    return ops.einsum("...ts,...sv->...tv", weights, v)
""",
    ),
]
