"""Lab 01, exercise `derive_pooling_gradient`: solutions as different students write them, right and wrong."""


def derived(*changes: tuple[str, str]) -> str:
    source = PLAIN
    for old, new in changes:
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    return source


PLAIN = """
def derive_pooling_gradient(query, keys, values, bandwidth=1.0):
    query, keys, values = np.asarray(query), np.asarray(keys), np.asarray(values)
    if query.ndim == 2:
        return np.array([derive_pooling_gradient(one, keys, values, bandwidth) for one in query])
    s = -((query - keys) ** 2).sum(axis=1) / (2 * bandwidth**2)
    w = np.exp(s - s.max())
    w = w / w.sum()
    v = values - w @ values
    k = keys - w @ keys
    return (w[:, None] * v).T @ k / bandwidth**2
"""

CORRECT = [
    PLAIN,
    # one mean is enough
    derived(("v = values - w @ values", "v = values")),
    derived(("k = keys - w @ keys", "k = keys")),
    # measured from the query
    derived(("k = keys - w @ keys", "k = keys - query")),
    # any leading axes at once
    """
def derive_pooling_gradient(query, keys, values, bandwidth=1.0):
    query, keys, values = (ops.convert_to_tensor(each) for each in (query, keys, values))
    w = ops.softmax(-ops.sum((query[..., None, :] - keys) ** 2, axis=-1) / (2 * bandwidth**2), axis=-1)
    away = keys - ops.matmul(w, keys)[..., None, :]
    return ops.einsum("...s,se,...sd->...ed", w, values, away) / bandwidth**2
""",
    # the Jacobian of the softmax, then that of the exponents
    """
def derive_pooling_gradient(query, keys, values, bandwidth=1.0):
    q, keys, values = np.asarray(query, "float64"), np.asarray(keys, "float64"), np.asarray(values, "float64")
    results = []
    for one in np.atleast_2d(q):
        s = -np.sum((one - keys) ** 2, axis=1) / 2 / bandwidth / bandwidth
        w = np.exp(s - np.max(s)) / np.sum(np.exp(s - np.max(s)))
        jacobian = np.diag(w) - np.outer(w, w)
        results.append(values.T @ jacobian @ ((keys - one) / bandwidth**2))
    return np.array(results) if q.ndim == 2 else results[0]
""",
    # E[v kᵀ] − E[v] E[k]ᵀ, keys measured from their plain mean
    """
def derive_pooling_gradient(query, keys, values, bandwidth=1.0):
    query, keys, values = np.asarray(query), np.asarray(keys), np.asarray(values)
    centre = keys.mean(axis=0)
    w = np.asarray(softmax(-np.sum((query[..., None, :] - keys) ** 2, axis=-1) / (2 * bandwidth**2)))
    both = np.einsum("...s,se,sd->...ed", w, values, keys - centre)
    return (both - (w @ values)[..., :, None] * (w @ (keys - centre))[..., None, :]) / bandwidth**2
""",
    # loops
    """
def derive_pooling_gradient(query, keys, values, bandwidth=1.0):
    query, keys, values = np.asarray(query), np.asarray(keys), np.asarray(values)
    queries = query.reshape(-1, query.shape[-1])
    out = np.zeros((len(queries), values.shape[1], keys.shape[1]))
    for t, q in enumerate(queries):
        d2 = ((q - keys) ** 2).sum(1)
        w = np.exp(-(d2 - d2.min()) / (2 * bandwidth**2))
        w /= w.sum()
        for s in range(len(keys)):
            out[t] += w[s] * np.outer(values[s] - w @ values, keys[s] - w @ keys) / bandwidth**2
    return out.reshape(*query.shape[:-1], *out.shape[1:])
""",
    """
def derive_pooling_gradient(query, keys, values, bandwidth=1.0):
    q, k, v = (np.asarray(a, "float64") for a in (query, keys, values))
    one = q.ndim == 1
    q = np.atleast_2d(q)
    d2 = ((q[:, None] - k) ** 2).sum(-1)
    z = -d2 / (2 * bandwidth**2)
    w = np.exp(z - z.max(-1, keepdims=True)); w /= w.sum(-1, keepdims=True)
    kbar = w @ k
    g = np.einsum("ts,tse,si->tei", w, v - (w @ v)[:, None], k) / bandwidth**2
    return g[0] if one else g
""",
]

QUOTIENT = """
def derive_pooling_gradient(query, keys, values, bandwidth=1.0):
    query, keys, values = (np.asarray(each, "float64") for each in (query, keys, values))
    if query.ndim == 2:
        return np.array([derive_pooling_gradient(one, keys, values, bandwidth) for one in query])
    def pooled(q):
        s = -((q - keys) ** 2).sum(axis=1) / (2 * bandwidth**2)
        w = np.exp(s - s.max())
        return w @ values / w.sum()
    away = np.sqrt(((query - keys) ** 2).sum(axis=1)).mean()
    h = STEP
    return np.stack([(pooled(query + h * e) - pooled(query - h * e)) / (2 * h) for e in np.eye(len(query))], axis=1)
"""
STEPS = [f"{size} * {unit}" for size in (1e-4, 1e-5, 1e-6) for unit in ("bandwidth", "away", "bandwidth**2 / away")]
NO_MEANS = (("v = values - w @ values", "v = values"), ("k = keys - w @ keys", "k = keys"))

WRONG = [
    ("means_missing", derived(*NO_MEANS)),
    ("sum_held_fixed", derived(("v = values - w @ values", "v = values"), ("k = keys - w @ keys", "k = keys - query"))),
    ("bandwidth_not_squared", derived(("@ k / bandwidth**2", "@ k / bandwidth"))),
    ("bandwidth_forgotten", derived(("@ k / bandwidth**2", "@ k"))),
    ("half_as_large", derived(("@ k / bandwidth**2", "@ k / (2 * bandwidth**2)"))),
    ("twice_as_large", derived(("@ k / bandwidth**2", "@ k * 2 / bandwidth**2"))),
    ("other_sign", derived(("@ k / bandwidth**2", "@ -k / bandwidth**2"))),
    ("transposed", derived(("return (w[:, None] * v).T @ k", "return k.T @ (w[:, None] * v)"))),
    ("diagonal_only", derived(("v = values - w @ values", "v = (1 - w)[:, None] * values"), ("k = keys - w @ keys", "k = keys - query"))),
    ("weights_left_out", derived(("(w[:, None] * v).T", "v.T"))),
    ("weights_left_out_from_query", derived(("(w[:, None] * v).T", "v.T"), ("k = keys - w @ keys", "k = keys - query"))),
    ("plain_means", derived(("values - w @ values", "values - values.mean(axis=0)"), ("keys - w @ keys", "keys - keys.mean(axis=0)"))),
    ("weights_twice", derived(("w[:, None] * v", "w[:, None] ** 2 * v"))),
    ("unstable_kernel", derived(("np.exp(s - s.max())", "np.exp(s)"))),
    # for many queries: not at all, one for all, summed
    ("", derived(("np.array([derive_pooling_gradient(one, keys, values, bandwidth) for one in query])", "derive_pooling_gradient(query[0], keys, values, bandwidth)"))),
    ("", derived(("np.array([derive_pooling_gradient(one, keys, values, bandwidth) for one in query])", "sum(derive_pooling_gradient(one, keys, values, bandwidth) for one in query)"))),
    # the bandwidth in the weights
    ("", derived(("/ (2 * bandwidth**2)", "/ 2"))),
    ("", derived(("/ (2 * bandwidth**2)", "/ bandwidth**2"))),
    # the covariance of keys and keys
    ("", derived(("v = values - w @ values", "v = keys - w @ keys"))),
    ("", derived(("@ k / bandwidth**2", "@ k / bandwidth**4"))),
    # difference quotients, their steps measured in bandwidths, in distances of the keys, and by both
    *[("", QUOTIENT.replace("STEP", step)) for step in STEPS],
    # a tape
    (None, """
def derive_pooling_gradient(query, keys, values, bandwidth=1.0):
    query = tf.convert_to_tensor(query)
    with tf.GradientTape() as tape:
        tape.watch(query)
        w = ops.softmax(-ops.sum((query[..., None, :] - keys) ** 2, axis=-1) / (2 * bandwidth**2), axis=-1)
        output = ops.matmul(w, values)
    return tape.jacobian(output, query)
"""),
    ("", "def derive_pooling_gradient(query, keys, values, bandwidth=1.0):\n    pass\n"),
    ("plain_mean_of_keys", """
def derive_pooling_gradient(query, keys, values, bandwidth=1.0):
    q, k, v = (np.asarray(a, "float64") for a in (query, keys, values))
    one = q.ndim == 1
    q = np.atleast_2d(q)
    d2 = ((q[:, None] - k) ** 2).sum(-1)
    z = -d2 / (2 * bandwidth**2)
    w = np.exp(z - z.max(-1, keepdims=True)); w /= w.sum(-1, keepdims=True)
    kbar = np.broadcast_to(k.mean(0), q.shape)
    g = np.einsum("ts,se,tsi->tei", w, v, k - kbar[:, None]) / bandwidth**2
    return g[0] if one else g
"""),
    ("", """
def derive_pooling_gradient(query, keys, values, bandwidth=1.0):
    q, k, v = (np.asarray(a, "float64") for a in (query, keys, values))
    one = q.ndim == 1
    q = np.atleast_2d(q)
    d2 = ((q[:, None] - k) ** 2).sum(-1)
    z = -d2 / (2 * bandwidth**2)
    w = np.exp(z - z.max(-1, keepdims=True)); w /= w.sum(-1, keepdims=True)
    kbar = w @ k
    g = np.einsum("ts,se,tsi->tei", w, v, k - kbar[:, None]) / bandwidth**2
    return g
"""),
    *(
        (named, f"""
def derive_pooling_gradient(query, keys, values, bandwidth=1.0):
    q, k, v = (np.asarray(a, "float64") for a in (query, keys, values))
    def pooled(q):
        z = -((q[..., None, :] - k) ** 2).sum(-1) / (2 * bandwidth**2)
        w = np.exp(z - z.max(-1, keepdims=True))
        return (w / w.sum(-1, keepdims=True)) @ v
    return np.stack([(pooled(q + {step} * e) - pooled(q - {step} * e)) / {2 * step} for e in np.eye(k.shape[1])], axis=-1)
""")
        for named, step in (
            ("quotient_with_step_1e_3", 1e-3),
            ("quotient_with_step_1e_4", 1e-4),
            ("difference_quotient", 1e-5),
            ("", 1e-7),
        )  # no derivation: difference quotients
    ),
]  # fmt: skip
