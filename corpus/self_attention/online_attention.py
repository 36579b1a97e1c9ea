"""Lab 02, exercise `online_attention`: solutions as different students write them, right and wrong."""

CORRECT = [
    # NumPy, rows one after the other
    """
def online_attention(q, k, v, block_size):
    q, k, v = np.asarray(q), np.asarray(k), np.asarray(v)
    rows = []
    for query in q:
        m, total, mixed = -np.inf, 0.0, np.zeros(v.shape[1])
        for start in range(0, len(k), block_size):
            scores = k[start : start + block_size] @ query / np.sqrt(len(query))
            top = max(m, scores.max())
            powers = np.exp(scores - top)
            total = total * np.exp(m - top) + powers.sum()
            mixed = mixed * np.exp(m - top) + powers @ v[start : start + block_size]
            m = top
        rows.append(mixed / total)
    return np.array(rows)
""",
    # NumPy, all queries at once, blocks from array_split
    """
def online_attention(q, k, v, block_size):
    cuts = range(block_size, len(k), block_size)
    m, l, o = np.full(len(q), -np.inf, "float32"), np.zeros(len(q), "float32"), np.zeros((len(q), v.shape[1]), "float32")
    for keys, values in zip(np.split(np.asarray(k), cuts), np.split(np.asarray(v), cuts)):
        s = np.asarray(q) @ keys.T * q.shape[1] ** -0.5
        new = np.maximum(m, s.max(1))
        p = np.exp(s - new[:, None])
        f = np.exp(m - new)
        m, l, o = new, l * f + p.sum(1), o * f[:, None] + p @ values
    return o / l[:, None]
""",
    # TensorFlow, normalised after every block: the output so far is always right for the keys so far
    """
def online_attention(q, k, v, block_size):
    q, k, v = map(tf.convert_to_tensor, (q, k, v))
    log_sum = tf.fill([q.shape[0], 1], tf.constant(-np.inf, q.dtype))
    out = tf.zeros([q.shape[0], v.shape[1]], q.dtype)
    for i in range(0, k.shape[0], block_size):
        s = tf.matmul(q, k[i : i + block_size], transpose_b=True) / q.shape[1] ** 0.5
        block = tf.reduce_logsumexp(s, axis=1, keepdims=True)
        new = tf.reduce_logsumexp(tf.concat([log_sum, block], axis=1), axis=1, keepdims=True)
        out = out * tf.exp(log_sum - new) + tf.matmul(tf.exp(s - new), v[i : i + block_size])
        log_sum = new
    return out
""",
    # the first block before the loop, then two partial results are joined
    """
def online_attention(q, k, v, block_size):
    d = ops.shape(q)[-1]
    def part(start):
        s = ops.einsum("td,sd->ts", q, k[start:start + block_size]) / d ** 0.5
        m = ops.max(s, axis=-1, keepdims=True)
        e = ops.exp(s - m)
        return m, ops.sum(e, axis=-1, keepdims=True), ops.einsum("ts,se->te", e, v[start:start + block_size])
    m, total, out = part(0)
    for start in range(block_size, ops.shape(k)[0], block_size):
        m2, t2, o2 = part(start)
        top = ops.maximum(m, m2)
        a, b = ops.exp(m - top), ops.exp(m2 - top)
        m, total, out = top, a * total + b * t2, a * out + b * o2
    return out / total
""",
    # a while loop and two passes: first the maxima, then the sums; scores are computed twice and never kept
    """
def online_attention(q, k, v, block_size):
    q, k, v = (np.asarray(each, dtype="float64") for each in (q, k, v))
    q = q / np.sqrt(q.shape[1])
    m, start = np.full((len(q), 1), -1e30), 0
    while start < len(k):
        m = np.maximum(m, (q @ k[start:start + block_size].T).max(axis=1, keepdims=True))
        start += block_size
    total, out, start = 0, 0, 0
    while start < len(k):
        e = np.exp(q @ k[start:start + block_size].T - m)
        total, out, start = total + e.sum(axis=1, keepdims=True), out + e @ v[start:start + block_size], start + block_size
    return out / total
""",
]


def running(
    powers: str = "np.exp(s - new)",
    total: str = "l * f + e.sum(axis=1, keepdims=True)",
    mixed: str = "o * f + e @ v[i:i+block_size]",
    factor: str = "np.exp(m - new)",
    start: str = "-np.inf",
) -> str:
    return f"""
def online_attention(q, k, v, block_size):
    q, k, v = (np.asarray(a, "float64") for a in (q, k, v))
    T, d = q.shape
    m = np.full((T, 1), {start}); l = np.zeros((T, 1)); o = np.zeros((T, v.shape[1]))
    for i in range(0, k.shape[0], block_size):
        s = q @ k[i:i+block_size].T / np.sqrt(d)
        new = np.maximum(m, s.max(axis=1, keepdims=True))
        f = {factor}; e = {powers}
        l = {total}
        o = {mixed}
        m = new
    return o / l
"""


WRONG = [
    ("softmax_in_every_block", running("np.exp(s - new) / np.exp(s - new).sum(axis=1, keepdims=True)")),
    ("", running("np.exp(s - new) / np.exp(s - new).sum(axis=1, keepdims=True)").replace("o / l", "o")),
    (
        "new_block_rescaled",
        running(total="(l + e.sum(axis=1, keepdims=True)) * f", mixed="(o + e @ v[i:i+block_size]) * f"),
    ),
    ("", running("np.exp(s - m)", start="-1e9")),  # NaN everywhere
    ("", running(factor="np.exp(new - m)", start="-1e9")),  # NaN everywhere
    ("factor_inverted", running(factor="np.where(np.isinf(m), 0, np.exp(new - m))")),
    (
        "nothing_rescaled",
        """
def online_attention(q, k, v, block_size):
    total, out, m = 0, 0, np.full((len(q), 1), -np.inf)
    for start in range(0, len(k), block_size):
        s = q @ k[start:start + block_size].T / q.shape[1] ** 0.5
        m = np.maximum(m, s.max(axis=1, keepdims=True))
        e = np.exp(s - m)
        total, out = total + e.sum(axis=1, keepdims=True), out + e @ v[start:start + block_size]
    return out / total
""",
    ),
    ("all_scores_held", "def online_attention(q, k, v, block_size):\n    return scaled_dot_product_attention(q, k, v)[0]"),
    (
        "all_scores_held",
        """
def online_attention(q, k, v, block_size):
    blocks = [q @ k[start:start + block_size].T / q.shape[1] ** 0.5 for start in range(0, len(k), block_size)]
    top = np.max([block.max(axis=1) for block in blocks], axis=0)[:, None]
    total = sum(np.exp(block - top).sum(axis=1, keepdims=True) for block in blocks)
    values = [v[start:start + block_size] for start in range(0, len(k), block_size)]
    return sum(np.exp(block - top) / total @ value for block, value in zip(blocks, values))
""",
    ),
    (
        "last_keys_dropped",
        """
def online_attention(q, k, v, block_size):
    total, out = 0, np.zeros((len(q), v.shape[1]))
    m = np.full((len(q), 1), -np.inf)
    for b in range(len(k) // block_size):
        rows = slice(b * block_size, (b + 1) * block_size)
        s = q @ k[rows].T / q.shape[1] ** 0.5
        new = np.maximum(m, s.max(axis=1, keepdims=True))
        e, f = np.exp(s - new), np.exp(m - new)
        total, out, m = total * f + e.sum(axis=1, keepdims=True), out * f + e @ v[rows], new
    return out / total
""",
    ),
    (
        "maximum_starts_at_zero",
        """
def online_attention(q, k, v, block_size):
    total, out, m = 0, 0, np.zeros((len(q), 1), "float32")
    for start in range(0, len(k), block_size):
        s = q @ k[start:start + block_size].T / q.shape[1] ** 0.5
        new = np.maximum(m, s.max(axis=1, keepdims=True))
        e, f = np.exp(s - new), np.exp(m - new)
        total, out, m = total * f + e.sum(axis=1, keepdims=True), out * f + e @ v[start:start + block_size], new
    return out / total
""",
    ),
    (
        "maximum_starts_at_zero",  # or at another number that is not low enough
        """
def online_attention(q, k, v, block_size):
    total, out, m = 0, 0, np.full((len(q), 1), -100.0, "float32")
    for start in range(0, len(k), block_size):
        s = q @ k[start:start + block_size].T / q.shape[1] ** 0.5
        new = np.maximum(m, s.max(axis=1, keepdims=True))
        e, f = np.exp(s - new), np.exp(m - new)
        total, out, m = total * f + e.sum(axis=1, keepdims=True), out * f + e @ v[start:start + block_size], new
    return out / total
""",
    ),
    (
        "divided_in_every_block",
        """
def online_attention(q, k, v, block_size):
    total, out, m = 0, 0, np.full((len(q), 1), -np.inf)
    for start in range(0, len(k), block_size):
        s = q @ k[start:start + block_size].T / q.shape[1] ** 0.5
        new = np.maximum(m, s.max(axis=1, keepdims=True))
        e, f = np.exp(s - new), np.exp(m - new)
        total = total * f + e.sum(axis=1, keepdims=True)
        out, m = (out * f + e @ v[start:start + block_size]) / total, new
    return out
""",
    ),
    ("maximum_not_kept", """
def online_attention(q, k, v, block_size):
    q, k, v = (np.asarray(a, "float64") for a in (q, k, v))
    T, d = q.shape
    m = np.full((T, 1), -np.inf); l = np.zeros((T, 1)); o = np.zeros((T, v.shape[1]))
    for i in range(0, k.shape[0], block_size):
        s = q @ k[i:i+block_size].T / np.sqrt(d)
        new = np.maximum(m, s.max(axis=1, keepdims=True))
        f = np.exp(m - new); e = np.exp(s - new)
        l = l * f + e.sum(axis=1, keepdims=True)
        o = o * f + e @ v[i:i+block_size]
    return o / l
"""),
    ("maximum_of_the_block", """
def online_attention(q, k, v, block_size):
    q, k, v = (np.asarray(a, "float64") for a in (q, k, v))
    T, d = q.shape
    m = np.full((T, 1), -np.inf); l = np.zeros((T, 1)); o = np.zeros((T, v.shape[1]))
    for i in range(0, k.shape[0], block_size):
        s = q @ k[i:i+block_size].T / np.sqrt(d)
        new = s.max(axis=1, keepdims=True)
        f = np.exp(m - new); e = np.exp(s - new)
        l = l * f + e.sum(axis=1, keepdims=True)
        o = o * f + e @ v[i:i+block_size]
        m = new
    return o / l
"""),
    ("one_maximum_for_all", """
def online_attention(q, k, v, block_size):
    q, k, v = (np.asarray(a, "float64") for a in (q, k, v))
    T, d = q.shape
    m = -np.inf; l = np.zeros((T, 1)); o = np.zeros((T, v.shape[1]))
    for i in range(0, k.shape[0], block_size):
        s = q @ k[i:i+block_size].T / np.sqrt(d)
        new = max(m, s.max())
        f = np.exp(m - new); e = np.exp(s - new)
        l = l * f + e.sum(axis=1, keepdims=True)
        o = o * f + e @ v[i:i+block_size]
        m = new
    return o / l
"""),
    ("scaled_by_block_size", """
def online_attention(q, k, v, block_size):
    q, k, v = (np.asarray(a) for a in (q, k, v))
    m, total, out = np.full((len(q), 1), -np.inf), 0, 0
    for start in range(0, len(k), block_size):
        s = q @ k[start:start + block_size].T / block_size ** 0.5
        new = np.maximum(m, s.max(axis=1, keepdims=True))
        e, f = np.exp(s - new), np.exp(m - new)
        total, out, m = total * f + e.sum(axis=1, keepdims=True), out * f + e @ v[start:start + block_size], new
    return out / total
"""),
    ("no_maximum", """
def online_attention(q, k, v, block_size):
    q, k, v = (np.asarray(a) for a in (q, k, v))
    m, total, out = np.full((len(q), 1), -np.inf), 0, 0
    for start in range(0, len(k), block_size):
        s = q @ k[start:start + block_size].T / q.shape[1] ** 0.5
        new = s.max(axis=1, keepdims=True) if start == 0 else m
        e, f = np.exp(s - new), np.exp(m - new)
        total, out, m = total * f + e.sum(axis=1, keepdims=True), out * f + e @ v[start:start + block_size], new
    return out / total
"""),
    ("all_keys_at_once", """
def online_attention(q, k, v, block_size):
    q, k, v = (np.asarray(a) for a in (q, k, v))
    rows = []
    for start in range(0, len(q), block_size):
        s = q[start:start + block_size] @ k.T / q.shape[1] ** 0.5
        e = np.exp(s - s.max(1, keepdims=True))
        rows.append(e / e.sum(1, keepdims=True) @ v)
    return np.concatenate(rows)
"""),
    ("all_keys_at_once", """
def online_attention(q, k, v, block_size):
    k, v, rows = np.array(k), np.array(v), []
    for query in np.array(q, "float64"):
        e = np.exp(k @ query / len(query) ** 0.5 - np.max(k @ query / len(query) ** 0.5))
        rows.append(e @ v / e.sum())
    return np.stack(rows)
"""),
    ("all_keys_at_once", """
def online_attention(q, k, v, block_size):
    return ops.stack([scaled_dot_product_attention(row[None], k, v)[0][0] for row in q])
"""),
    ("", """
def online_attention(q, k, v, block_size):
    q, k, v = (np.asarray(each) for each in (q, k, v))
    m = np.full((q.shape[0], 1), -1e4)
    total = np.zeros((q.shape[0], 1))
    mixed = np.zeros((q.shape[0], v.shape[1]))
    for start in range(0, k.shape[0], block_size):
        scores = q @ k[start : start + block_size].T / k.shape[1] ** 0.5
        new = np.maximum(m, scores.max(axis=1, keepdims=True))
        powers = np.exp(scores - new)
        old = np.exp(new - m)
        total = total * old + powers.sum(axis=1, keepdims=True)
        mixed = mixed * old + powers @ v[start : start + block_size]
        m = new
    return mixed / total
"""),
]  # fmt: skip
