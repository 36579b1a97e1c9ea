"""Lab 02, exercise `self_attention_loops`: solutions as different students write them, right and wrong."""

CORRECT = [
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
    """
def self_attention_loops(x):
    x = np.asarray(x)
    T, D = x.shape
    out = []
    for t in range(T):
        s = [float(x[t] @ x[u]) / D**0.5 for u in range(T)]
        m = max(s)
        e = [np.exp(v - m) for v in s]
        w = [v / sum(e) for v in e]
        out.append(sum(w[u] * x[u] for u in range(T)))
    return out
""",
]

WRONG = [
    ("", """
def self_attention_loops(x):
    x = np.asarray(x)
    out = np.zeros_like(x)
    for t in range(len(x)):
        s = np.array([x[t] @ key for key in x]) / x.shape[1] ** 0.5
        w = np.exp(s - s.max()) / np.exp(s - s.max()).sum()
        for j in range(len(x)):
            out[t] = w[j] * x[j]
    return out
"""),
    ("later_tokens_left_out", 'def self_attention_loops(x):\n    x = np.asarray(x); out = np.zeros_like(x)\n    for t in range(len(x)):\n        s = x[: t + 1] @ x[t] / x.shape[1] ** 0.5; w = np.exp(s - s.max()); out[t] = (w / w.sum()) @ x[: t + 1]\n    return out'),
    ("not_normalised", 'def self_attention_loops(x):\n    x = np.asarray(x); out = np.zeros_like(x)\n    for t in range(len(x)):\n        s = x @ x[t] / x.shape[1] ** 0.5; out[t] = np.exp(s - s.max()) @ x\n    return out'),
    ("unscaled", "def self_attention_loops(x):\n    x = np.asarray(x)\n    s = x @ x.T\n    p = np.exp(s - s.max(-1, keepdims=True))\n    return (p / p.sum(-1, keepdims=True)) @ x"),
    ("unstable_softmax", "def self_attention_loops(x):\n    x = np.asarray(x)\n    p = np.exp(x @ x.T / x.shape[1] ** 0.5)\n    return (p / p.sum(-1, keepdims=True)) @ x"),
    ("scaled_by_length", "def self_attention_loops(x):\n    x = np.asarray(x)\n    s = x @ x.T / len(x) ** 0.5\n    p = np.exp(s - s.max(-1, keepdims=True))\n    return (p / p.sum(-1, keepdims=True)) @ x"),
    ("averaged", """
def self_attention_loops(x):
    x = np.asarray(x)
    T, D = x.shape
    out = []
    for t in range(T):
        s = np.array([x[t] @ x[u] for u in range(T)]) / D**0.5
        e = np.exp(s - s.max())
        w = e / e.sum()
        out.append(np.mean([w[u] * x[u] for u in range(T)], axis=0))
    return np.stack(out)
"""),
    ("", """
def self_attention_loops(x):
    x = np.asarray(x)
    T, D = x.shape
    out = np.zeros((T, D))
    for t in range(T):
        s = np.array([x[t] @ x[u] for u in range(T)]) / D**0.5
        e = np.exp(s - s.max())
        out[t] = e / e.sum() @ x
        return out
"""),
    ("one_sum_for_all", """
def self_attention_loops(x):
    x = np.asarray(x)
    T, D = x.shape
    s = np.zeros((T, T))
    for t in range(T):
        for u in range(T):
            s[t, u] = x[t] @ x[u] / D**0.5
    e = np.exp(s - s.max(axis=1, keepdims=True))
    w = e / e.sum()
    return w @ x
"""),
    # the token's own score in the place of the largest
    ("one_maximum_for_all", """
def self_attention_loops(x):
    x = np.asarray(x)
    out = np.zeros_like(x)
    for t in range(len(x)):
        s = x @ x[t] / x.shape[1] ** 0.5
        e = np.exp(s - s[t])
        out[t] = e / e.sum() @ x
    return out
"""),
    ("one_maximum_for_all", """
def self_attention_loops(x):
    x = np.asarray(x)
    T, D = x.shape
    s = np.zeros((T, T))
    for t in range(T):
        for u in range(T):
            s[t, u] = x[t] @ x[u] / D**0.5
    e = np.exp(s - s.max())
    out = np.zeros((T, D))
    for t in range(T):
        for u in range(T):
            out[t] += e[t, u] / e[t].sum() * x[u]
    return out
"""),
]  # fmt: skip
