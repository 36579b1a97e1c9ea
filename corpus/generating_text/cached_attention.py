"""Lab 08b, exercise `cached_attention`: solutions as different students write them, right and wrong."""

RIGHT = """
def cached_attention(query, key, value, cache=None):
    keys, values = (key, value) if cache is None else (np.concatenate([cache[0], key], axis=2), np.concatenate([cache[1], value], axis=2))
    scores = np.matmul(query, np.swapaxes(keys, -1, -2)) / np.sqrt(np.shape(query)[-1])
    weights = np.array(tf.nn.softmax(scores))
    return np.matmul(weights, values), (keys, values)
"""

CORRECT = [
    RIGHT,
    RIGHT.replace("(keys, values)", "[keys, values]"),
    """
def cached_attention(query, key, value, cache=None):
    if cache is None:
        cache = (key[:, :, :0], value[:, :, :0])
    keys, values = (tf.concat(pair, axis=2) for pair in zip(cache, (key, value)))
    weights = tf.nn.softmax(tf.matmul(query, keys, transpose_b=True) / tf.shape(query)[-1].numpy() ** 0.5)
    return weights @ values, (keys, values)
""",
    """
def cached_attention(query, key, value, cache=None):
    keys = [] if cache is None else [cache[0]]
    values = [] if cache is None else [cache[1]]
    keys, values = ops.concatenate([*keys, key], axis=2), ops.concatenate([*values, value], axis=2)
    scores = ops.einsum("bhtk,bhsk->bhts", query, keys) / ops.sqrt(ops.cast(ops.shape(query)[-1], "float32"))
    return ops.einsum("bhts,bhsk->bhtk", ops.softmax(scores), values), (keys, values)
""",
    """
def cached_attention(query, key, value, cache=None):
    query, key, value = (np.asarray(each) for each in (query, key, value))
    pair = (key, value) if cache is None else tuple(np.append(old, new, axis=2) for old, new in zip(cache, (key, value)))
    scores = (query * pair[0]).sum(-1) / query.shape[-1] ** 0.5
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights = weights / weights.sum(-1, keepdims=True)
    return (weights[..., None] * pair[1]).sum(2, keepdims=True), pair
""",
]

WRONG = [
    (
        "unscaled",
        RIGHT.replace("/ np.sqrt(np.shape(query)[-1])", ""),
    ),
    (
        "divided_by_tokens",
        RIGHT.replace("np.sqrt(np.shape(query)[-1])", "np.sqrt(1 if cache is None else np.shape(cache[0])[2] + 1)"),
    ),
    (
        "divided_by_width",
        RIGHT.replace("np.sqrt(np.shape(query)[-1])", "np.shape(query)[-1]"),
    ),
    (
        "newest_first",
        RIGHT.replace(
            "(np.concatenate([cache[0], key], axis=2), np.concatenate([cache[1], value],",
            "(np.concatenate([key, cache[0]], axis=2), np.concatenate([value, cache[1]],",
        ),
    ),
    (
        "cache_ignored",
        RIGHT.replace("np.swapaxes(keys,", "np.swapaxes(key,").replace("values),", "value),"),
    ),
    (
        "",
        RIGHT.replace(
            "(np.concatenate([cache[0], key], axis=2), np.concatenate([cache[1],",
            "(np.concatenate([cache[1], key], axis=2), np.concatenate([cache[0],",
        ).replace("(keys, values)", "(values, keys)"),
    ),
    (
        "softmax_missing",
        RIGHT.replace("np.array(tf.nn.softmax(scores))", "scores"),
    ),
    # the weights know the cache, the values do not
    ("cache_ignored", RIGHT.replace("np.matmul(weights, values)", "weights.sum(-1, keepdims=True) * value")),
    # exponentials of scores as they are
    (
        "unstable_softmax",
        RIGHT.replace("np.array(tf.nn.softmax(scores))", "np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)"),
    ),
    (
        "keys_mixed",
        RIGHT.replace("np.matmul(weights, values)", "np.matmul(weights, keys)"),
    ),
    (
        "cache_not_extended",
        RIGHT.replace("(keys, values)", "(cache or (keys, values))"),
    ),
    (
        "only_the_newest",
        RIGHT.replace("(keys, values)", "(key, value)"),
    ),
    (
        "softmax_over_queries",
        RIGHT.replace("np.array(tf.nn.softmax(scores))", "np.array(tf.nn.softmax(scores, axis=-2))"),
    ),
    (
        "cache_changed",
        """
store = {}
def cached_attention(query, key, value, cache=None):
    for name, new in (("k", key), ("v", value)):
        store[name] = np.asarray(new) if cache is None else np.concatenate([store[name], new], axis=2)
    scores = np.matmul(query, np.swapaxes(store["k"], -1, -2)) / np.sqrt(np.shape(query)[-1])
    return np.matmul(np.array(tf.nn.softmax(scores)), store["v"]), (store["k"], store["v"])
""",
    ),
    (
        "cache_changed",
        """
def cached_attention(query, key, value, cache=None):
    if cache is None:
        cache = [key, value]
    else:
        cache[0] = np.concatenate([cache[0], key], axis=2)
        cache[1] = np.concatenate([cache[1], value], axis=2)
    scores = np.matmul(query, np.swapaxes(cache[0], -1, -2)) / np.sqrt(np.shape(query)[-1])
    return np.matmul(np.array(tf.nn.softmax(scores)), cache[1]), cache
""",
    ),
    (
        "",
        """
def cached_attention(query, key, value, cache=None):
    return value, (key, value)
""",
    ),
    (
        "",
        """
def cached_attention(query, key, value, cache=None):
    return value
""",
    ),
]
