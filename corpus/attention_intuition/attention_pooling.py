"""Lab 01, exercise `attention_pooling`: solutions as different students write them, right and wrong."""

CORRECT = [
    """
def attention_pooling(query, keys, values, bandwidth=1.0):
    query, keys, values = np.asarray(query), np.asarray(keys), np.asarray(values)
    exponents = -np.linalg.norm(keys - query, axis=1) ** 2 / (2 * bandwidth**2)
    kernel = np.exp(exponents - exponents.max())
    weights = kernel / kernel.sum()
    return weights @ values, weights
""",
    """
def attention_pooling(query, keys, values, bandwidth=1.0):
    z = (tf.convert_to_tensor(keys) - query) / bandwidth
    weights = tf.nn.softmax(-0.5 * tf.reduce_sum(tf.square(z), axis=-1))
    return tf.linalg.matvec(values, weights, transpose_a=True), weights
""",
    # loops
    """
def attention_pooling(query, keys, values, bandwidth=1.0):
    kind = np.asarray(values).dtype
    query, keys, values = (np.asarray(each, "float64") for each in (query, keys, values))
    scores = np.array([-sum((a - b) ** 2 for a, b in zip(query, key)) / 2 / bandwidth / bandwidth for key in keys])
    weights = np.array([1 / sum(np.exp(np.clip(other - score, -700, 700)) for other in scores) for score in scores])
    output = sum(weight * value for weight, value in zip(weights, values))
    return output.astype(kind), weights.astype(kind)
""",
    # the squares expanded, einsum
    """
def attention_pooling(query, keys, values, bandwidth=1.0):
    query, keys, values = (ops.convert_to_tensor(each) for each in (query, keys, values))
    difference = ops.expand_dims(query, 0) - keys
    scores = -ops.einsum("md,md->m", difference, difference) / (2.0 * float(bandwidth) ** 2)
    weights = keras.activations.softmax(scores[None])[0]
    return ops.einsum("m,me->e", weights, values), weights
""",
    # a list, weights as a column on the way
    """
def attention_pooling(q, k, v, bandwidth=1.0):
    k, v = np.array(k), np.array(v)
    distance = ((np.array(q)[np.newaxis, :] - k) ** 2).sum(axis=1, keepdims=True)
    score = -(distance - distance.min()) / (2 * bandwidth * bandwidth)
    column = np.exp(score) / np.exp(score).sum()
    return [(column * v).sum(axis=0), column[:, 0]]
""",
]

WRONG = [
    ("bandwidth_not_squared", "def attention_pooling(query, keys, values, bandwidth=1.0):\n    w = softmax(-ops.sum((query - keys) ** 2, axis=-1) / (2 * bandwidth))\n    return ops.matmul(w, values), w"),
    ("factor_2_missing", "def attention_pooling(query, keys, values, bandwidth=1.0):\n    w = softmax(-ops.sum((query - keys) ** 2, axis=-1) / bandwidth**2)\n    return ops.matmul(w, values), w"),
    ("unstable_kernel", "def attention_pooling(query, keys, values, bandwidth=1.0):\n    k = np.exp(-np.sum((np.asarray(query) - np.asarray(keys)) ** 2, -1) / (2 * bandwidth**2))\n    return k / k.sum() @ np.asarray(values), k / k.sum()"),
    ("distance_not_squared", "def attention_pooling(query, keys, values, bandwidth=1.0):\n    w = softmax(-np.linalg.norm(np.asarray(query) - np.asarray(keys), axis=-1) / (2 * bandwidth**2))\n    return ops.matmul(w, values), w"),
    ("results_swapped", "def attention_pooling(query, keys, values, bandwidth=1.0):\n    w = softmax(-ops.sum((query - keys) ** 2, axis=-1) / (2 * bandwidth**2))\n    return w, ops.matmul(w, values)"),
    (None, "def attention_pooling(query, keys, values, bandwidth=1.0):\n    return ops.matmul(softmax(-ops.sum((query - keys) ** 2, axis=-1) / (2 * bandwidth**2)), values)"),
    ("exponential_twice", "def attention_pooling(query, keys, values, bandwidth=1.0):\n    w = softmax(ops.exp(-ops.sum((query - keys) ** 2, axis=-1) / (2 * bandwidth**2)))\n    return ops.matmul(w, values), w"),
    ("two_squared", "def attention_pooling(query, keys, values, bandwidth=1.0):\n    w = ops.softmax(-ops.sum((query - keys) ** 2, axis=-1) / (2 * bandwidth) ** 2)\n    return ops.matmul(w, values), w"),
    ("dot_product", "def attention_pooling(query, keys, values, bandwidth=1.0):\n    w = ops.softmax(ops.sum(query * keys, axis=-1) / (2 * bandwidth**2))\n    return ops.matmul(w, values), w"),
    ("multiplied_by_bandwidth", 'def attention_pooling(query, keys, values, bandwidth=1.0):\n    d2 = ops.sum((query - keys) ** 2, axis=-1)\n    w = ops.softmax(-d2 / 2 * bandwidth ** 2)\n    return ops.matmul(w, values), w'),
    (None, 'def attention_pooling(query, keys, values, bandwidth=1.0):\n    d2 = ops.sum((query - keys) ** 2, axis=-1)\n    w = ops.exp(-d2 / (2 * bandwidth ** 2)) / (bandwidth * (2 * np.pi) ** 0.5)\n    return ops.matmul(w, values), w'),
    (None, 'def attention_pooling(query, keys, values, bandwidth=1.0):\n    d2 = ops.sum((query - keys) ** 2, axis=-1)\n    w = ops.exp(-d2 / (2 * bandwidth ** 2)); w = w / (ops.sum(w) + 1e-8)\n    return ops.matmul(w, values), w'),
    ("", """
def attention_pooling(query, keys, values, bandwidth=1.0):
    d2 = np.sum((np.asarray(query) - np.asarray(keys)) ** 2, axis=-1)
    k = np.exp(-d2 / (2 * bandwidth**2))
    w = k / (k.sum() + 1e-9)
    return w @ np.asarray(values), w
"""),
    ("", """
def attention_pooling(query, keys, values, bandwidth=1.0):
    d2 = ops.sum((query - keys) ** 2, axis=-1)
    w = ops.softmax(-d2 / (2 * bandwidth**2))
    w = w / (bandwidth * np.sqrt(2 * np.pi))
    return ops.matmul(w, values), w
"""),
    ("", """
def attention_pooling(query, keys, values, bandwidth=1.0):
    d2 = ops.sum((query - keys) ** 2, axis=-1)
    w = ops.softmax(-d2 / (2 * bandwidth**2))
    return ops.mean(w[:, None] * values, axis=0), w
"""),
    ("squared_after_sum", """
def attention_pooling(query, keys, values, bandwidth=1.0):
    query, keys, values = (ops.convert_to_tensor(each) for each in (query, keys, values))
    squared = ops.sum(ops.abs(keys - query), axis=-1) ** 2
    weights = ops.softmax(-squared / (2 * bandwidth**2))
    return ops.matmul(weights, values), weights
"""),
    ("equal_where_all_are_0", """
def attention_pooling(query, keys, values, bandwidth=1.0):
    query, keys, values = (np.asarray(each) for each in (query, keys, values))
    kernel = np.exp(-np.sum((keys - query) ** 2, axis=1) / (2 * bandwidth**2))
    total = kernel.sum()
    weights = kernel / total if total > 0 else np.full(len(keys), 1 / len(keys))
    return weights @ values, weights
"""),
    ("smallest_exponent_subtracted", """
def attention_pooling(query, keys, values, bandwidth=1.0):
    query, keys, values = map(np.asarray, (query, keys, values))
    u = (keys - query) / bandwidth
    energy = np.einsum("sd,sd->s", u, u)
    weights = np.exp(-0.5 * (energy - energy.max()))
    weights = weights / weights.sum()
    return np.einsum("s,sv->v", weights, values), weights
"""),
    ("nothing_where_all_are_0", """
def attention_pooling(query, keys, values, bandwidth=1.0):
    query, keys, values = (np.asarray(each) for each in (query, keys, values))
    kernels = np.exp(-((keys - query) ** 2).sum(axis=1) / (2 * bandwidth**2))
    weights = np.nan_to_num(kernels / kernels.sum())
    return weights @ values, weights
"""),
]  # fmt: skip
