"""Lab 02: solutions as different students write them."""

CORRECT = {
    "self_attention_loops": [
        # plain Python lists and the math module
        """
import math
def self_attention_loops(x):
    rows = [[float(value) for value in row] for row in np.asarray(x)]
    width = len(rows[0])
    result = []
    for query in rows:
        scores = [sum(a * b for a, b in zip(query, key)) / math.sqrt(width) for key in rows]
        top = max(scores)
        powers = [math.exp(score - top) for score in scores]
        total = sum(powers)
        result.append([sum(p / total * row[i] for p, row in zip(powers, rows)) for i in range(width)])
    return np.array(result, dtype=np.asarray(x).dtype)
""",
        # TensorFlow, one token at a time
        """
def self_attention_loops(x):
    x = tf.convert_to_tensor(x)
    scale = tf.sqrt(tf.cast(tf.shape(x)[-1], x.dtype))
    outputs = []
    for t in range(x.shape[0]):
        scores = tf.stack([tf.tensordot(x[t], x[s], 1) / scale for s in range(x.shape[0])])
        weights = tf.nn.softmax(scores)
        outputs.append(tf.add_n([weights[s] * x[s] for s in range(x.shape[0])]))
    return tf.stack(outputs)
""",
        # keras.ops, softmax by log-sum-exp
        """
def self_attention_loops(x):
    x = ops.convert_to_tensor(x)
    rows = ops.unstack(x)
    out = []
    for query in rows:
        scores = ops.stack([ops.dot(query, key) for key in rows]) * x.shape[-1] ** -0.5
        weights = ops.exp(scores - ops.logsumexp(scores))
        out.append(ops.sum(weights[:, None] * x, axis=0))
    return ops.stack(out)
""",
        # a helper of the student's own, and a while loop
        """
def my_softmax(values):
    values = values - np.max(values)
    return np.exp(values) / np.sum(np.exp(values))

def self_attention_loops(x):
    x = np.array(x)
    out, t = np.empty_like(x), 0
    while t < len(x):
        out[t] = my_softmax(x @ x[t] / np.sqrt(x.shape[1]).astype(x.dtype)) @ x
        t += 1
    return out
""",
        # keyword with a default, enumerate, double precision inside
        """
def self_attention_loops(x, scale=None):
    tokens = np.asarray(x, dtype="float64")
    scale = scale or tokens.shape[-1] ** 0.5
    result = np.zeros_like(tokens)
    for t, query in enumerate(tokens):
        scores = np.array([np.dot(query, key) for key in tokens]) / scale
        weights = np.exp(scores - scores.max())
        for weight, value in zip(weights / weights.sum(), tokens):
            result[t] += weight * value
    return result.astype(np.asarray(x).dtype)
""",
    ],
    "self_attention_matrix": [
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
    ],
    "project_qkv": [
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
    ],
    "scaled_dot_product_attention": [
        # -inf and repaired rows: fully masked rows get weights of 0
        """
def scaled_dot_product_attention(q, k, v, mask=None):
    q, k, v = map(tf.convert_to_tensor, (q, k, v))
    scores = tf.matmul(q, k, transpose_b=True) / tf.sqrt(tf.cast(tf.shape(k)[-1], q.dtype))
    if mask is not None:
        allowed = tf.cast(mask, tf.bool)
        scores = tf.where(allowed, scores, tf.constant(-np.inf, q.dtype))
        weights = tf.nn.softmax(scores)
        weights = tf.where(tf.math.is_nan(weights), tf.zeros_like(weights), weights)
    else:
        weights = tf.nn.softmax(scores)
    return tf.matmul(weights, v), weights
""",
        # the additive form of most tutorials
        """
def scaled_dot_product_attention(q, k, v, mask=None):
    scores = ops.matmul(q, ops.swapaxes(k, -2, -1)) * (q.shape[-1] ** -0.5)
    if mask is not None:
        scores = scores + (1.0 - ops.cast(mask, scores.dtype)) * -1e9
    weights = ops.softmax(scores)
    return ops.matmul(weights, v), weights
""",
        # NumPy, exponentials times the mask, denominators guarded
        """
def scaled_dot_product_attention(q, k, v, mask=None):
    q, k, v = np.asarray(q), np.asarray(k), np.asarray(v)
    scores = np.einsum("...td,...sd->...ts", q, k) / q.shape[-1] ** 0.5
    allowed = np.ones(1, bool) if mask is None else np.asarray(mask).astype(bool)
    scores = np.where(allowed, scores, np.finfo(q.dtype).min)
    powers = np.exp(scores - scores.max(-1, keepdims=True)) * allowed
    weights = powers / np.maximum(powers.sum(-1, keepdims=True), np.finfo(q.dtype).tiny)
    return np.einsum("...ts,...sv->...tv", weights, v).astype(q.dtype), weights.astype(q.dtype)
""",
        # the softmax written out in TensorFlow
        """
def scaled_dot_product_attention(q, k, v, mask=None):
    q = tf.convert_to_tensor(q)
    scores = tf.einsum("...td,...sd->...ts", q / q.shape[-1] ** 0.5, k)
    if mask is not None:
        mask = tf.cast(tf.convert_to_tensor(mask), scores.dtype)
        scores = scores * mask + (1 - mask) * scores.dtype.min / 2
    scores -= tf.reduce_max(scores, axis=-1, keepdims=True)
    weights = tf.exp(scores) / tf.reduce_sum(tf.exp(scores), axis=-1, keepdims=True)
    return weights @ v, weights
""",
        # keras.layers.Softmax takes a mask; loops over the leading dimensions
        """
def scaled_dot_product_attention(q, k, v, mask=None):
    q, k, v = np.asarray(q), np.asarray(k), np.asarray(v)
    lead = q.shape[:-2]
    if mask is not None:
        mask = np.broadcast_to(np.asarray(mask).astype(bool), (*lead, q.shape[-2], k.shape[-2]))
    output = np.zeros((*lead, q.shape[-2], v.shape[-1]), q.dtype)
    weights = np.zeros((*lead, q.shape[-2], k.shape[-2]), q.dtype)
    for index in np.ndindex(*lead):
        for t in range(q.shape[-2]):
            row = np.array([q[index][t] @ key for key in k[index]]).astype(q.dtype) / k.shape[-1] ** 0.5
            allowed = np.ones(len(row), bool) if mask is None else mask[index][t]
            if not allowed.any():
                weights[index][t] = 1 / len(row)
            else:
                powers = np.where(allowed, np.exp(row - row[allowed].max().clip(None, None)), 0) if allowed.all() else \\
                    np.array([np.exp(r - row[allowed].max()) if a else 0 for r, a in zip(row, allowed)])
                weights[index][t] = powers / powers.sum()
        output[index] = weights[index] @ v[index]
    return output, weights
""",
        # a list instead of a tuple, and Keras's logical operations
        """
def scaled_dot_product_attention(query, key, value, mask=None):
    attention_scores = ops.einsum("...qd,...kd->...qk", query, key)
    attention_scores = ops.divide(attention_scores, ops.sqrt(ops.cast(ops.shape(key)[-1], attention_scores.dtype)))
    if mask is not None:
        blocked = ops.logical_not(ops.cast(mask, "bool"))
        attention_scores = ops.where(blocked, ops.cast(-1e30, attention_scores.dtype), attention_scores)
    attention_weights = keras.activations.softmax(attention_scores, axis=-1)
    return [ops.einsum("...qk,...kd->...qd", attention_weights, value), attention_weights]
""",
    ],
    "SelfAttention": [
        # everything in the layer, additive mask, layers made in build
        """
class SelfAttention(keras.layers.Layer):
    def __init__(self, d_k, d_v):
        super().__init__()
        self.d_k, self.d_v = d_k, d_v

    def build(self, input_shape):
        dense = keras.layers.Dense
        self.w_q, self.w_k, self.w_v = (dense(n, use_bias=False) for n in (self.d_k, self.d_k, self.d_v))
        for each in (self.w_q, self.w_k, self.w_v):
            each.build(input_shape)

    def call(self, x, mask=None, return_weights=False):
        scores = ops.einsum("btd,bsd->bts", self.w_q(x), self.w_k(x)) / ops.sqrt(ops.cast(self.d_k, "float32"))
        if mask is not None:
            mask = ops.cast(mask, "float32")
            if len(mask.shape) == 4:
                mask = ops.squeeze(mask, axis=1)
            scores += (mask - 1.0) * 1e9
        weights = ops.softmax(scores, axis=-1)
        output = ops.einsum("bts,bsv->btv", weights, self.w_v(x))
        if return_weights:
            return output, weights
        return output
""",
        # tf operations
        """
class SelfAttention(tf.keras.layers.Layer):
    def __init__(self, d_k, d_v, name=None):
        super(SelfAttention, self).__init__(name=name)
        self.w_q = tf.keras.layers.Dense(units=d_k, use_bias=False)
        self.w_k = tf.keras.layers.Dense(units=d_k, use_bias=False)
        self.w_v = tf.keras.layers.Dense(units=d_v, use_bias=False)

    def call(self, x, mask=None, return_weights=False):
        query, key, value = self.w_q(x), self.w_k(x), self.w_v(x)
        scores = tf.matmul(query, key, transpose_b=True) / tf.math.sqrt(tf.cast(tf.shape(key)[-1], tf.float32))
        if mask is not None:
            mask = tf.cast(mask, tf.bool)
            if mask.shape.rank == 4:
                mask = mask[:, 0, :, :]
            scores = tf.where(mask, scores, -1e9)
        weights = tf.nn.softmax(scores, axis=-1)
        output = tf.matmul(weights, value)
        return (output, weights) if return_weights else output
""",
        # the 4-D mask kept: scores get an axis for it
        """
class SelfAttention(keras.Layer):
    def __init__(self, d_k, d_v, **kwargs):
        super().__init__(**kwargs)
        self.w_q = keras.layers.Dense(d_k, use_bias=False)
        self.w_k = keras.layers.Dense(d_k, use_bias=False)
        self.w_v = keras.layers.Dense(d_v, use_bias=False)

    def call(self, x, mask=None, return_weights=False):
        q, k, v = self.w_q(x)[:, None], self.w_k(x)[:, None], self.w_v(x)[:, None]
        if mask is not None:
            rank = len(mask.shape)
            mask = mask if rank == 4 else mask[:, None] if rank == 3 else mask[None, None]
        output, weights = scaled_dot_product_attention(q, k, v, mask)
        return (output[:, 0], weights[:, 0]) if return_weights else output[:, 0]
""",
        # the helper for projections, Softmax layer with its own mask argument
        """
class SelfAttention(keras.Layer):
    def __init__(self, d_k, d_v, **kwargs):
        super().__init__(**kwargs)
        make = lambda units: keras.layers.Dense(units, use_bias=False, kernel_initializer="he_normal")
        self.w_q, self.w_k, self.w_v = make(d_k), make(d_k), make(d_v)
        self.softmax = keras.layers.Softmax(axis=-1)
        self.scale = d_k ** -0.5

    def call(self, x, mask=None, return_weights=False):
        scores = ops.matmul(self.w_q(x), ops.transpose(self.w_k(x), (0, 2, 1))) * self.scale
        if mask is None:
            weights = self.softmax(scores)
        else:
            mask = ops.cast(mask, "bool")
            mask = ops.reshape(mask, (-1, ops.shape(mask)[-2], ops.shape(mask)[-1]))
            weights = self.softmax(scores, mask=ops.broadcast_to(mask, ops.shape(scores)))
        output = ops.matmul(weights, self.w_v(x))
        return [output, weights] if return_weights else output
""",
        # projections through the student's own project_qkv
        """
class SelfAttention(keras.Layer):
    def __init__(self, d_k, d_v):
        super().__init__()
        self.w_q = keras.layers.Dense(d_k, use_bias=False)
        self.w_k = keras.layers.Dense(d_k, use_bias=False)
        self.w_v = keras.layers.Dense(d_v, use_bias=False)

    def build(self, shape):
        for each in (self.w_q, self.w_k, self.w_v):
            each.build(shape)

    def call(self, inputs, mask=None, return_weights=False):
        q, k, v = project_qkv(inputs, self.w_q.kernel, self.w_k.kernel, self.w_v.kernel)
        if mask is not None and mask.ndim == 4:
            mask = mask[:, 0]
        result = scaled_dot_product_attention(q, k, v, mask)
        return result if return_weights else result[0]
""",
    ],
    "attention_cost": [
        "def attention_cost(length, d_model):\n    return dict(multiply_adds=2 * length * length * d_model, weights_entries=length * length)",
        """
def attention_cost(length, d_model):
    scores = length * length * d_model
    values = length * d_model * length
    return {"weights_entries": length ** 2, "multiply_adds": scores + values}
""",
        "def attention_cost(length, d_model):\n    n = np.int64(length)\n    return {'multiply_adds': 2 * n * n * d_model, 'weights_entries': n * n}",
        """
def attention_cost(length, d_model):
    entries = sum(length for _ in range(length))
    return {"multiply_adds": float(2 * entries * d_model), "weights_entries": entries, "note": "one head"}
""",
        "attention_cost = lambda length, d_model: {'multiply_adds': 2 * d_model * length**2, 'weights_entries': pow(length, 2)}",
    ],
    "answers": [
        "answers = {'key_row': [10, 19, 8], 'scaled_scores': (21, 20), 'weights': [0.73, 0.27], 'without_scaling': 'b'}",
        "answers = {'key_row': np.array([10, 19, 8]), 'scaled_scores': [126 / 6, 120 / 6], 'weights': [0.7311, 0.2689], 'without_scaling': 'B'}",
        "answers['key_row'] = tf.constant([10.0, 19.0, 8.0])\nanswers['scaled_scores'] = [21.0, 20.0]",
        "answers = dict(key_row=(10, 19, 8), scaled_scores=[21, 20], weights=np.float32([0.731, 0.269]), without_scaling=' b ')",
        "import math\ne = math.e\nanswers.update(weights=[e / (1 + e), 1 / (1 + e)], without_scaling='b')",
    ],
    "online_attention": [
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
    ],
    "find_the_bug": [
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
    ],
    "predict": ["predict = 4", "predict = 4.0", "predict = 3.8", "predict = np.float32(4.2)", "predict = 2 * 2 * 10 / 100**0.5"],
}  # fmt: skip

WRONG = {
    "self_attention_loops": [
        ("later_tokens_left_out", 'def self_attention_loops(x):\n    x = np.asarray(x); out = np.zeros_like(x)\n    for t in range(len(x)):\n        s = x[: t + 1] @ x[t] / x.shape[1] ** 0.5; w = np.exp(s - s.max()); out[t] = (w / w.sum()) @ x[: t + 1]\n    return out'),
        ("not_normalised", 'def self_attention_loops(x):\n    x = np.asarray(x); out = np.zeros_like(x)\n    for t in range(len(x)):\n        s = x @ x[t] / x.shape[1] ** 0.5; out[t] = np.exp(s - s.max()) @ x\n    return out'),
        ("unscaled", "def self_attention_loops(x):\n    x = np.asarray(x)\n    s = x @ x.T\n    p = np.exp(s - s.max(-1, keepdims=True))\n    return (p / p.sum(-1, keepdims=True)) @ x"),
        ("unstable_softmax", "def self_attention_loops(x):\n    x = np.asarray(x)\n    p = np.exp(x @ x.T / x.shape[1] ** 0.5)\n    return (p / p.sum(-1, keepdims=True)) @ x"),
        ("scaled_by_length", "def self_attention_loops(x):\n    x = np.asarray(x)\n    s = x @ x.T / len(x) ** 0.5\n    p = np.exp(s - s.max(-1, keepdims=True))\n    return (p / p.sum(-1, keepdims=True)) @ x"),
    ],
    "self_attention_matrix": [
        ("keepdims_forgotten", 'def self_attention_matrix(x):\n    x = np.asarray(x); s = x @ np.swapaxes(x, -1, -2) / x.shape[-1] ** 0.5\n    w = np.exp(s - s.max(-1, keepdims=True)); return (w / w.sum(-1)) @ x'),
        ("features_attend", 'def self_attention_matrix(x):\n    x = np.asarray(x); s = np.swapaxes(x, -1, -2) @ x / x.shape[-1] ** 0.5\n    w = np.exp(s - s.max(-1, keepdims=True)); return x @ (w / w.sum(-1, keepdims=True))'),
        ("softmax_over_queries", "def self_attention_matrix(x):\n    s = ops.matmul(x, ops.swapaxes(x, -1, -2)) / x.shape[-1] ** 0.5\n    return ops.matmul(ops.softmax(s, axis=-2), ops.convert_to_tensor(x))"),
        ("returns_weights", "def self_attention_matrix(x):\n    return ops.softmax(ops.matmul(x, ops.swapaxes(x, -1, -2)) / x.shape[-1] ** 0.5)"),
        (None, "def self_attention_matrix(x):\n    x = np.asarray(x)\n    s = x @ x.T / x.shape[-1] ** 0.5\n    p = np.exp(s - s.max(-1, keepdims=True))\n    return (p / p.sum(-1, keepdims=True)) @ x"),
        (None, "def self_attention_matrix(x):\n    return np.stack([self_attention_loops(each) for each in x]) if np.ndim(x) > 2 else self_attention_loops(x)"),
    ],
    "project_qkv": [
        ("values_are_inputs", 'def project_qkv(x, w_q, w_k, w_v):\n    return x @ w_q, x @ w_k, x'),
        ("keys_with_w_q", 'def project_qkv(x, w_q, w_k, w_v):\n    return x @ w_q, x @ w_q, x @ w_v'),
        ("order_k_q_v", "def project_qkv(x, w_q, w_k, w_v):\n    return x @ w_k, x @ w_q, x @ w_v"),
        ("one_matrix_for_all", "def project_qkv(x, w_q, w_k, w_v):\n    return ops.matmul(x, w_q), ops.matmul(x, w_q), ops.matmul(x, w_q)"),
        ("order_q_v_k", "def project_qkv(x, w_q, w_k, w_v):\n    return x @ w_q, x @ w_v, x @ w_k"),
    ],
    "scaled_dot_product_attention": [
        ("scores_returned", "def scaled_dot_product_attention(q, k, v, mask=None):\n    q, k, v = (ops.convert_to_tensor(a) for a in (q, k, v))\n    s = ops.matmul(q, ops.swapaxes(k, -1, -2)) / q.shape[-1] ** 0.5\n    if mask is not None:\n        s = ops.where(ops.cast(mask, 'bool'), s, ops.cast(-1e9, s.dtype))\n    return ops.matmul(ops.softmax(s), v), s"),
        (None, 'def scaled_dot_product_attention(q, k, v, mask=None):\n    q, k, v = map(np.asarray, (q, k, v))\n    s = q @ np.swapaxes(k, -1, -2) / k.shape[-1] ** 0.5\n    if mask is not None: s[~np.broadcast_to(mask, s.shape)] = -1e9\n    e = np.exp(s - s.max(-1, keepdims=True)); w = e / e.sum(-1, keepdims=True); return w @ v, w'),
        ("mask_too_weak", 'def scaled_dot_product_attention(q, k, v, mask=None):\n    s = ops.matmul(q, ops.swapaxes(k, -1, -2)) / k.shape[-1] ** 0.5\n    if mask is not None: s = s + (1 - ops.cast(mask, s.dtype)) * -10.0\n    w = ops.softmax(s); return ops.matmul(w, v), w'),
        ("mask_inverted", "def scaled_dot_product_attention(q, k, v, mask=None):\n    s = ops.matmul(q, ops.swapaxes(k, -1, -2)) / k.shape[-1] ** 0.5\n    if mask is not None:\n        s += ops.cast(mask, s.dtype) * -1e9\n    w = ops.softmax(s)\n    return ops.matmul(w, v), w"),
        ("scaled_by_d_v", "def scaled_dot_product_attention(q, k, v, mask=None):\n    s = ops.matmul(q, ops.swapaxes(k, -1, -2)) / v.shape[-1] ** 0.5\n    if mask is not None:\n        s = ops.where(ops.cast(mask, 'bool'), s, ops.cast(-1e9, s.dtype))\n    w = ops.softmax(s)\n    return ops.matmul(w, v), w"),
        ("mask_after_softmax", "def scaled_dot_product_attention(q, k, v, mask=None):\n    w = ops.softmax(ops.matmul(q, ops.swapaxes(k, -1, -2)) / k.shape[-1] ** 0.5)\n    if mask is not None:\n        w = w * ops.cast(mask, w.dtype)\n    return ops.matmul(w, v), w"),
        ("mask_ignored", "def scaled_dot_product_attention(q, k, v, mask=None):\n    s = ops.matmul(q, ops.swapaxes(k, -1, -2)) / k.shape[-1] ** 0.5\n    if mask is not None:\n        s += (1 - ops.cast(mask, s.dtype)) * -1e-9\n    w = ops.softmax(s)\n    return ops.matmul(w, v), w"),
        ("softmax_over_axis_1", "def scaled_dot_product_attention(q, k, v, mask=None):\n    s = ops.matmul(q, ops.swapaxes(k, -1, -2)) / k.shape[-1] ** 0.5\n    if mask is not None:\n        s = ops.where(ops.cast(mask, 'bool'), s, ops.cast(-1e9, s.dtype))\n    w = ops.softmax(s, axis=1)\n    return ops.matmul(w, v), w"),
        ("divided_by_sum", "def scaled_dot_product_attention(q, k, v, mask=None):\n    s = ops.matmul(q, ops.swapaxes(k, -1, -2)) / k.shape[-1] ** 0.5\n    if mask is not None:\n        s = s * ops.cast(mask, s.dtype)\n    w = s / ops.sum(s, axis=-1, keepdims=True)\n    return ops.matmul(w, v), w"),
        ("results_swapped", "def scaled_dot_product_attention(q, k, v, mask=None):\n    s = ops.matmul(q, ops.swapaxes(k, -1, -2)) / k.shape[-1] ** 0.5\n    if mask is not None:\n        s = ops.where(ops.cast(mask, 'bool'), s, ops.cast(-1e9, s.dtype))\n    w = ops.softmax(s)\n    return w, ops.matmul(w, v)"),
        (None, "def scaled_dot_product_attention(q, k, v, mask=None):\n    s = tf.matmul(q, k, transpose_b=True) / np.sqrt(k.shape[-1])\n    if mask is not None:\n        s = tf.where(tf.cast(mask, tf.bool), s, -np.inf)\n    w = tf.nn.softmax(s)\n    return w @ v, w"),
        (None, "def scaled_dot_product_attention(q, k, v, mask=None):\n    w = ops.softmax(ops.matmul(q, ops.swapaxes(k, -1, -2)))\n    return ops.matmul(w, v)"),
    ],
    "SelfAttention": [
        ("one_projection", 'class SelfAttention(keras.Layer):\n    def __init__(self, d_k, d_v, **kwargs):\n        super().__init__(**kwargs); self.supports_masking = True\n        self.w_q = keras.layers.Dense(d_k, use_bias=False); self.w_k = keras.layers.Dense(d_k, use_bias=False); self.w_v = keras.layers.Dense(d_v, use_bias=False)\n    def call(self, x, mask=None, return_weights=False):\n        q, k, v = self.w_q(x), self.w_q(x), self.w_v(x)\n        s = ops.matmul(q, ops.swapaxes(k, -1, -2)) / q.shape[-1] ** 0.5\n        if mask is not None:\n            if len(mask.shape) == 4: mask = mask[:, 0]\n            s = ops.where(ops.cast(mask, "bool"), s, -1e9)\n        w = ops.softmax(s); o = ops.matmul(w, v)\n        return (o, w) if return_weights else o'),
        ("query_key_swapped", "class SelfAttention(keras.Layer):\n    def __init__(self, d_k, d_v):\n        super().__init__()\n        D = keras.layers.Dense\n        self.w_q, self.w_k, self.w_v = D(d_k, use_bias=False), D(d_k, use_bias=False), D(d_v, use_bias=False)\n    def call(self, x, mask=None, return_weights=False):\n        if mask is not None and len(mask.shape) == 4:\n            mask = mask[:, 0]\n        o, w = scaled_dot_product_attention(self.w_k(x), self.w_q(x), self.w_v(x), mask)\n        return (o, w) if return_weights else o"),
        ("dense_with_bias", "class SelfAttention(keras.Layer):\n    def __init__(self, d_k, d_v):\n        super().__init__()\n        self.w_q, self.w_k, self.w_v = (keras.layers.Dense(n) for n in (d_k, d_k, d_v))\n    def call(self, x, mask=None, return_weights=False):\n        if mask is not None and len(mask.shape) == 4:\n            mask = mask[:, 0]\n        o, w = scaled_dot_product_attention(self.w_q(x), self.w_k(x), self.w_v(x), mask)\n        return (o, w) if return_weights else o"),
        (None, "class SelfAttention(keras.Layer):\n    def __init__(self, d_k, d_v):\n        super().__init__()\n        self.inner = keras.layers.MultiHeadAttention(1, d_k, d_v)\n        self.w_q, self.w_k, self.w_v = (keras.layers.Dense(n, use_bias=False) for n in (d_k, d_k, d_v))\n    def call(self, x, mask=None, return_weights=False):\n        return self.inner(x, x, return_attention_scores=return_weights)"),
    ],
    "attention_cost": [
        ("parameters_counted", "def attention_cost(length, d_model):\n    return {'multiply_adds': 2 * length**2 * d_model, 'weights_entries': 3 * d_model**2}"),
        ("width_left_out", 'def attention_cost(length, d_model):\n    return {"multiply_adds": 2 * length ** 2, "weights_entries": length ** 2}'),
        ("projections_counted", 'def attention_cost(length, d_model):\n    return {"multiply_adds": 2 * length ** 2 * d_model + 3 * length * d_model ** 2, "weights_entries": length ** 2}'),
        ("one_product", "def attention_cost(length, d_model):\n    return {'multiply_adds': length**2 * d_model, 'weights_entries': length**2}"),
        ("counts_flops", "def attention_cost(length, d_model):\n    return {'multiply_adds': 4 * length**2 * d_model, 'weights_entries': length**2}"),
    ],
    "answers": [
        ("hand_unscaled", "answers['scaled_scores'] = [126, 120]\nanswers['weights'] = [1.0, 0.0]"),
        ("scaling_thought_flatter", "answers['without_scaling'] = 'a'"),
    ],
    "online_attention": [
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
    ],
    "find_the_bug": [
        (
            "later_tokens_weighed",
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
    ],
    "predict": [("thought_one", "predict = 1"), ("unscaled", "predict = 40.0"), ("variance", "predict = 16"), ("", "predict = 5"), ("", "predict = 'four'")],
}  # fmt: skip
