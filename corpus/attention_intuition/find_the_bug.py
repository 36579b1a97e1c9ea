"""Lab 01, exercise `find_the_bug`: solutions as different students write them, right and wrong."""

CORRECT = [
    """
def find_the_bug(queries, keys, values, bandwidth=1.0):
    queries, keys, values = (ops.convert_to_tensor(each) for each in (queries, keys, values))
    squared_distances = ops.sum((queries[:, None] - keys) ** 2, axis=-1)
    weights = ops.softmax(-squared_distances / 2 / bandwidth**2, axis=-1)
    return ops.matmul(weights, values), weights
""",
    """
def find_the_bug(queries, keys, values, bandwidth=1.0):
    pairs = [attention_pooling(query, keys, values, bandwidth) for query in queries]
    return ops.stack([output for output, _ in pairs]), ops.stack([weights for _, weights in pairs])
""",
    """
def find_the_bug(queries, keys, values, bandwidth=1.0):
    d2 = ((queries[:, None, :] - keys[None]) ** 2).sum(-1)
    e = -0.5 * d2 * bandwidth**-2
    p = np.exp(e - e.max(1, keepdims=True))
    w = p / p.sum(1, keepdims=True)
    return w @ values, w
""",
    """
def find_the_bug(queries, keys, values, bandwidth=1.0):
    q, k = tf.expand_dims(queries, 1) / bandwidth, tf.expand_dims(keys, 0) / bandwidth
    w = tf.nn.softmax(-0.5 * tf.reduce_sum(tf.square(q - k), -1))
    return w @ values, w
""",
    """
def find_the_bug(queries, keys, values, bandwidth=1.0):
    weights = []
    for query in queries:
        scores = [-sum(float(a - b) ** 2 for a, b in zip(query, key)) / (2 * bandwidth**2) for key in keys]
        powers = [np.exp(score - max(scores)) for score in scores]
        weights.append([power / sum(powers) for power in powers])
    return (np.array(weights) @ values).tolist(), weights
""",
]

WRONG = [
    (
        "",
        """
def find_the_bug(queries, keys, values, bandwidth=1.0):
    squared_distances = ops.sum((queries[:, None] - keys) ** 2, axis=-1)
    weights = ops.softmax(-squared_distances / 2 * bandwidth**2, axis=-1)
    return ops.matmul(weights, values), weights
""",
    ),
    (
        "bandwidth_not_squared",
        """
def find_the_bug(queries, keys, values, bandwidth=1.0):
    squared_distances = ops.sum((queries[:, None] - keys) ** 2, axis=-1)
    weights = ops.softmax(-squared_distances / (2 * bandwidth), axis=-1)
    return ops.matmul(weights, values), weights
""",
    ),
    (
        "weights_over_queries",
        """
def find_the_bug(queries, keys, values, bandwidth=1.0):
    squared_distances = ops.sum((queries[:, None] - keys) ** 2, axis=-1)
    weights = ops.softmax(-squared_distances / (2 * bandwidth**2), axis=0)
    return ops.matmul(weights, values), weights
""",
    ),
    (
        "factor_2_squared",
        """
def find_the_bug(queries, keys, values, bandwidth=1.0):
    queries, keys, values = (ops.convert_to_tensor(each) for each in (queries, keys, values))
    squared_distances = ops.sum((queries[:, None] - keys) ** 2, axis=-1)  # (T, S)
    weights = ops.softmax(-squared_distances / (2 * bandwidth)**2, axis=-1)  # (T, S)
    return ops.matmul(weights, values), weights
""",
    ),
]
