"""Lab 02, exercise `project_qkv`: solutions as different students write them, right and wrong."""

CORRECT = [
    "def project_qkv(x, w_q, w_k, w_v):\n    return x @ w_q, x @ w_k, x @ w_v",
    "def project_qkv(x, w_q, w_k, w_v):\n    return tuple(ops.einsum('...td,dk->...tk', x, w) for w in (w_q, w_k, w_v))",
    "def project_qkv(x, w_q, w_k, w_v):\n    return [np.matmul(np.asarray(x), np.asarray(w)) for w in (w_q, w_k, w_v)]",
    "def project_qkv(x, w_q, w_k, w_v):\n    q, k, v = (tf.tensordot(x, w, axes=1) for w in (w_q, w_k, w_v))\n    return q, k, v",
    """
def project_qkv(x, w_q, w_k, w_v):
    d_k = w_q.shape[1]
    joined = ops.matmul(x, ops.concatenate([w_q, w_k, w_v], axis=1))
    return joined[..., :d_k], joined[..., d_k : 2 * d_k], joined[..., 2 * d_k :]
""",
]

WRONG = [
    ("values_are_inputs", 'def project_qkv(x, w_q, w_k, w_v):\n    return x @ w_q, x @ w_k, x'),
    ("keys_with_w_q", 'def project_qkv(x, w_q, w_k, w_v):\n    return x @ w_q, x @ w_q, x @ w_v'),
    ("order_k_q_v", "def project_qkv(x, w_q, w_k, w_v):\n    return x @ w_k, x @ w_q, x @ w_v"),
    ("one_matrix_for_all", "def project_qkv(x, w_q, w_k, w_v):\n    return ops.matmul(x, w_q), ops.matmul(x, w_q), ops.matmul(x, w_q)"),
    ("order_q_v_k", "def project_qkv(x, w_q, w_k, w_v):\n    return x @ w_q, x @ w_v, x @ w_k"),
]  # fmt: skip
