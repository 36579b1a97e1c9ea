"""Lab 04, exercise `derive_layer_norm_gradient`: solutions as different students write them, right and wrong."""

MEANS = "from_mean, from_deviation = g.mean(-1, keepdims=True), normed * (g * normed).mean(-1, keepdims=True)"


def derived(
    result: str = "(g - from_mean - from_deviation) / deviation",
    *,
    g: str = "gamma * upstream",
    deviation: str = "np.sqrt(x.var(axis=-1, keepdims=True) + eps)",
    normed: str = "(x - x.mean(axis=-1, keepdims=True)) / deviation",
    means: str = MEANS,
) -> str:
    return f"""
def derive_layer_norm_gradient(x, gamma, upstream, eps=1e-6):
    x, gamma, upstream = np.asarray(x), np.asarray(gamma), np.asarray(upstream)
    deviation = {deviation}
    normed = {normed}
    g = {g}
    {means}
    return {result}
"""


CORRECT = [
    derived(),
    # sums, as in many libraries: D in front
    """
def derive_layer_norm_gradient(x, gamma, upstream, eps=1e-6):
    D = x.shape[-1]
    x, g = tf.convert_to_tensor(x), tf.convert_to_tensor(gamma) * upstream
    mean, variance = tf.nn.moments(x, [-1], keepdims=True)
    inverse = tf.math.rsqrt(variance + eps)
    hat = (x - mean) * inverse
    total, along = tf.reduce_sum(g, -1, keepdims=True), tf.reduce_sum(g * hat, -1, keepdims=True)
    return inverse / D * (D * g - total - hat * along)
""",
    # the three paths one by one: through the variance, through the mean, directly
    """
def derive_layer_norm_gradient(x, gamma, upstream, eps=1e-6):
    x, g = np.asarray(x), np.asarray(gamma) * np.asarray(upstream)
    D = x.shape[-1]
    c = x - x.mean(-1, keepdims=True)
    v = (c**2).mean(-1, keepdims=True) + eps
    dv = (g * c).sum(-1, keepdims=True) * -0.5 * v**-1.5
    dm = -g.sum(-1, keepdims=True) / np.sqrt(v) + dv * -2 * c.mean(-1, keepdims=True)
    return g / np.sqrt(v) + dv * 2 * c / D + dm / D
""",
    # the Jacobian of a token, (D, D)
    """
def derive_layer_norm_gradient(x, gamma, upstream, eps=1e-6):
    x, g = np.asarray(x), np.asarray(gamma) * np.asarray(upstream)
    D = x.shape[-1]
    c = x - x.mean(-1, keepdims=True)
    s = np.sqrt((c**2).mean(-1, keepdims=True) + eps)
    jacobian = (np.eye(D) - 1 / D - (c / s)[..., :, None] * (c / s)[..., None, :] / D) / s[..., None]
    return np.einsum("...i,...ij->...j", g, jacobian)
""",
    # token by token, in plain Python
    """
import math
def derive_layer_norm_gradient(x, gamma, upstream, eps=1e-6):
    x, upstream = np.asarray(x, "float64"), np.asarray(upstream, "float64")
    D, rows = x.shape[-1], []
    for token, up in zip(x.reshape(-1, D), upstream.reshape(-1, D)):
        mu = sum(token) / D
        sigma = math.sqrt(sum((v - mu) ** 2 for v in token) / D + eps)
        hat = [(v - mu) / sigma for v in token]
        g = [float(a) * b for a, b in zip(np.asarray(gamma), up)]
        a, b = sum(g) / D, sum(p * q for p, q in zip(g, hat)) / D
        rows.append([(g[i] - a - hat[i] * b) / sigma for i in range(D)])
    return np.array(rows).reshape(x.shape)
""",
    # first centred, then the part along x̂ taken away
    """
def derive_layer_norm_gradient(x, gamma, upstream, eps=1e-6):
    x = ops.convert_to_tensor(x)
    mean, variance = ops.moments(x, axes=[-1], keepdims=True)
    hat = (x - mean) * ops.rsqrt(variance + eps)
    g = ops.convert_to_tensor(upstream) * gamma
    g = g - ops.mean(g, axis=-1, keepdims=True)
    return (g - hat * ops.mean(g * hat, axis=-1, keepdims=True)) * ops.rsqrt(variance + eps)
""",
]  # fmt: skip

NO_MEAN = MEANS.replace("g.mean(-1, keepdims=True), ", "0, ", 1)

WRONG = [
    ("centred_for_normed", derived(means=MEANS.replace("normed * (g", "(x - x.mean(axis=-1, keepdims=True)) * (g"))),
    ("multiplied_by_deviation", derived("(g - from_mean - from_deviation) * deviation")),
    (
        "eps_not_in_normed",
        """
def parts(x, eps):
    x = ops.convert_to_tensor(x)
    mean = ops.mean(x, axis=-1, keepdims=True)
    s = ops.sqrt(ops.var(x, axis=-1, keepdims=True) + eps)
    return (x - mean) / s, s

M = lambda a: ops.mean(a, axis=-1, keepdims=True)

def derive_layer_norm_gradient(x, gamma, upstream, eps=1e-6):
    x = ops.convert_to_tensor(x)
    s = ops.sqrt(ops.var(x, -1, keepdims=True) + eps)
    xh = (x - M(x)) / ops.sqrt(ops.var(x, -1, keepdims=True))
    g = upstream * gamma
    return (g - M(g) - xh * M(g * xh)) / s
""",
    ),
    (
        "",  # zeros
        """
def parts(x, eps):
    x = ops.convert_to_tensor(x)
    mean = ops.mean(x, axis=-1, keepdims=True)
    s = ops.sqrt(ops.var(x, axis=-1, keepdims=True) + eps)
    return (x - mean) / s, s

M = lambda a: ops.mean(a, axis=-1, keepdims=True)

def derive_layer_norm_gradient(x, gamma, upstream, eps=1e-6):
    return np.zeros_like(np.asarray(x))
""",
    ),
    (
        "",
        """
def parts(x, eps):
    x = ops.convert_to_tensor(x)
    mean = ops.mean(x, axis=-1, keepdims=True)
    s = ops.sqrt(ops.var(x, axis=-1, keepdims=True) + eps)
    return (x - mean) / s, s

M = lambda a: ops.mean(a, axis=-1, keepdims=True)

def derive_layer_norm_gradient(x, gamma, upstream, eps=1e-6):
    x = np.asarray(x, "float64"); out = np.zeros_like(x); h = 1e-5
    def f(x): return np.asarray(layer_norm(x, np.asarray(gamma,"float64"), 0., eps))
    for i in range(x.shape[-1]):
        e = np.zeros(x.shape[-1]); e[i] = h
        out[..., i] = ((f(x+e)-f(x-e)) * np.asarray(upstream)).sum(-1) / (2*h)
    return out
""",
    ),
    (
        "eps_in_normed_only",
        """
def parts(x, eps):
    x = ops.convert_to_tensor(x)
    mean = ops.mean(x, axis=-1, keepdims=True)
    s = ops.sqrt(ops.var(x, axis=-1, keepdims=True) + eps)
    return (x - mean) / s, s

M = lambda a: ops.mean(a, axis=-1, keepdims=True)

def derive_layer_norm_gradient(x, gamma, upstream, eps=1e-6):
    xhat, s = parts(x, eps)
    g = upstream * gamma
    return (g - M(g) - xhat * M(g * xhat)) / ops.std(x, -1, keepdims=True)
""",
    ),
    ("mean_constant", derived(means=NO_MEAN)),
    ("deviation_constant", derived("(g - from_mean) / deviation")),
    ("", derived("g / deviation")),
    ("gamma_missing", derived(g="upstream")),
    ("gamma_afterwards", derived("gamma * (g - from_mean - from_deviation) / deviation", g="upstream")),
    ("divided_by_variance", derived("(g - from_mean - from_deviation) / deviation**2")),
    ("not_divided", derived("g - from_mean - from_deviation")),
    ("sums_for_means", derived(means=MEANS.replace("mean(-1", "sum(-1"))),
    ("only_centred", derived(normed="x - x.mean(axis=-1, keepdims=True)")),
    ("unbiased_variance", derived(deviation="np.sqrt(x.var(axis=-1, ddof=1, keepdims=True) + eps)")),
    ("eps_outside", derived(deviation="np.sqrt(x.var(axis=-1, keepdims=True)) + eps")),
    ("", derived(deviation="np.sqrt(x.var(axis=-1, keepdims=True))")),
    ("", derived(deviation="np.sqrt(x.var(axis=-1, keepdims=True) + 1e-3)")),
    ("", derived("(g - from_mean + from_deviation) / deviation")),
    ("", derived("-(g - from_mean - from_deviation) / deviation")),
    ("", derived(g="upstream / gamma")),
    ("", derived(normed="gamma * (x - x.mean(axis=-1, keepdims=True)) / deviation")),
    ("", derived(means=MEANS.replace("-1", "0"))),
    ("", derived(means=MEANS.replace("-1, keepdims=True", ""))),
    ("", derived("upstream")),
    ("", derived().replace("return", "result =")),
    # not derived
    ("", """
def derive_layer_norm_gradient(x, gamma, upstream, eps=1e-6):
    x = tf.convert_to_tensor(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        mean, variance = tf.nn.moments(x, [-1], keepdims=True)
        loss = tf.reduce_sum((x - mean) / tf.sqrt(variance + eps) * gamma * upstream)
    return tape.gradient(loss, x)
"""),
    ("eps_missing", """
def derive_layer_norm_gradient(x, gamma, upstream, eps=1e-6):
    x, gamma, g = (np.asarray(a, "float64") for a in (x, gamma, upstream))
    mu = x.mean(-1, keepdims=True)
    sd = np.sqrt(x.var(-1, keepdims=True))
    h = (x - mu) / sd
    d = g * gamma
    return (d - d.mean(-1, keepdims=True) - h * (d * h).mean(-1, keepdims=True)) / sd
"""),
    ("deviation_added", """
def derive_layer_norm_gradient(x, gamma, upstream, eps=1e-6):
    x, gamma, g = (np.asarray(a, "float64") for a in (x, gamma, upstream))
    mu = x.mean(-1, keepdims=True)
    sd = np.sqrt(x.var(-1, keepdims=True) + eps)
    h = (x - mu) / sd
    d = g * gamma
    return (d - d.mean(-1, keepdims=True) + h * (d * h).mean(-1, keepdims=True)) / sd
"""),
    ("mean_of_product_split", """
def derive_layer_norm_gradient(x, gamma, upstream, eps=1e-6):
    x, gamma, g = (np.asarray(a, "float64") for a in (x, gamma, upstream))
    mu = x.mean(-1, keepdims=True)
    sd = np.sqrt(x.var(-1, keepdims=True) + eps)
    h = (x - mu) / sd
    d = g * gamma
    return (d - d.mean(-1, keepdims=True) - h**2 * d.mean(-1, keepdims=True)) / sd
"""),
    ("", """
def derive_layer_norm_gradient(x, gamma, upstream, eps=1e-6):
    x, gamma, g = (np.asarray(a, "float64") for a in (x, gamma, upstream))
    mu = x.mean(-1, keepdims=True)
    sd = np.sqrt(x.var(-1, keepdims=True) + eps)
    h = (x - mu) / sd
    d = g * gamma
    return (d - d.mean(-1, keepdims=True) - h * (d * h).mean(0, keepdims=True)) / sd
"""),
    ("", """
def derive_layer_norm_gradient(x, gamma, upstream, eps=1e-6):
    x, gamma, g = (np.asarray(a, "float64") for a in (x, gamma, upstream))
    mu = x.mean(1, keepdims=True)
    sd = np.sqrt(x.var(1, keepdims=True) + eps)
    h = (x - mu) / sd
    d = g * gamma
    return (d - d.mean(1, keepdims=True) - h * (d * h).mean(1, keepdims=True)) / sd
"""),
    *(
        ("", f"""
def derive_layer_norm_gradient(x, gamma, upstream, eps=1e-6):
    x, gamma, upstream = (np.asarray(a, "float64") for a in (x, gamma, upstream))
    def loss(x):
        normed = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps)
        return (upstream * gamma * normed).sum(-1)
    return np.stack([(loss(x + {step} * e) - loss(x - {step} * e)) / {2 * step} for e in np.eye(x.shape[-1])], axis=-1)
""")
        for step in (1e-3, 1e-5, 1e-7)  # no derivation: difference quotients
    ),
]  # fmt: skip
