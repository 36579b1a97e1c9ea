"""Lab 04, exercise `layer_norm`: solutions as different students write them, right and wrong."""

CORRECT = [
    """
def layer_norm(x, gamma, beta, eps=1e-6):
    x = np.asarray(x)
    mean, variance = x.mean(axis=-1, keepdims=True), x.var(axis=-1, keepdims=True)
    return np.asarray(gamma) * ((x - mean) / np.sqrt(variance + eps)) + np.asarray(beta)
""",
    # tf.nn.moments
    """
def layer_norm(x, gamma, beta, eps=1e-6):
    x = tf.convert_to_tensor(x)
    mean, variance = tf.nn.moments(x, axes=[-1], keepdims=True)
    return gamma * (x - mean) * tf.math.rsqrt(variance + eps) + beta
""",
    # loops over the tokens, plain Python
    """
import math
def layer_norm(x, gamma, beta, eps=1e-6):
    x, gamma, beta = np.asarray(x), np.asarray(gamma), np.asarray(beta)
    rows = []
    for token in x.reshape(-1, x.shape[-1]).astype("float64"):
        mean = sum(token) / len(token)
        variance = sum((value - mean) ** 2 for value in token) / len(token)
        rows.append([g * (value - mean) / math.sqrt(variance + eps) + b for value, g, b in zip(token, gamma, beta)])
    return np.array(rows).reshape(x.shape).astype(x.dtype)
""",
    # the variance as mean of squares minus square of the mean, in double precision
    """
def layer_norm(x, gamma, beta, eps=1e-6):
    wide = ops.cast(x, "float64")
    mean = ops.mean(wide, axis=-1, keepdims=True)
    variance = ops.maximum(ops.mean(wide * wide, axis=-1, keepdims=True) - mean * mean, 0.0)
    normed = (wide - mean) / (variance + eps) ** 0.5
    return ops.cast(normed * ops.cast(gamma, "float64") + ops.cast(beta, "float64"), ops.convert_to_tensor(x).dtype)
""",
    # ops.moments, einsum for the scale
    """
def layer_norm(x, gamma, beta, eps=1e-6):
    x = ops.convert_to_tensor(x)
    mean, variance = ops.moments(x, axes=[-1], keepdims=True)
    return ops.einsum("...d,d->...d", (x - mean) * ops.rsqrt(variance + eps), ops.convert_to_tensor(gamma)) + beta
""",
    # a matrix that subtracts the mean; linalg for the length
    """
def layer_norm(x, gamma, beta, eps=1e-6):
    x = np.asarray(x)
    width = x.shape[-1]
    centre = np.eye(width, dtype=x.dtype) - np.ones((width, width), dtype=x.dtype) / width
    centred = x @ centre
    deviation = np.sqrt(np.linalg.norm(centred, axis=-1, keepdims=True) ** 2 / width + eps)
    return (centred / deviation * np.asarray(gamma) + np.asarray(beta)).astype(x.dtype)
""",
    """
def layer_norm(x, gamma, beta, eps=1e-6):
    x = ops.convert_to_tensor(x)
    mu = ops.mean(x, axis=-1, keepdims=True)
    var = ops.mean(x**2, axis=-1, keepdims=True) - mu**2
    return (x - mu) / ops.sqrt(var + eps) * gamma + beta
""",
]


def norm(line, axis="-1"):
    """A layer norm whose last line is the given one."""
    return f"""
def layer_norm(x, gamma, beta, eps=1e-6):
    x = np.asarray(x)
    mean, variance = x.mean(axis={axis}, keepdims=True), x.var(axis={axis}, keepdims=True)
    return {line}
"""


PLAIN = """
def layer_norm(x, gamma, beta, eps=1e-6):
    x = np.asarray(x)
    mean, variance = x.mean(axis={axis}, keepdims=True), x.var(axis={axis}, keepdims=True)
    return gamma * (x - mean) / np.sqrt(variance + {eps}) + beta
"""

WRONG = [
    ("eps_squared", PLAIN.format(axis="-1", eps="eps ** 2")),
    ("over_everything", PLAIN.format(axis="None", eps="eps")),
    ("over_axis_0", PLAIN.format(axis="0", eps="eps")),
    (
        "eps_fixed",
        """
def layer_norm(x, gamma, beta, eps=1e-6):
    x = ops.convert_to_tensor(x)
    m = ops.mean(x, -1, keepdims=True); v = ops.var(x, -1, keepdims=True)
    return (x - m) / ops.sqrt(v + 1e-6) * gamma + beta
""",
    ),
    (
        "eps_as_floor",
        norm("(x - mean) / np.sqrt(np.maximum(variance, eps)) * np.asarray(gamma) + np.asarray(beta)"),
    ),
    (
        "rms_norm",
        norm(
            "x / np.sqrt((x**2).mean(-1, keepdims=True) + eps) * np.asarray(gamma) + np.asarray(beta) + 0 * (mean + variance)"
        ),
    ),
    ("eps_added_to_deviation", norm("(x - mean) / (np.sqrt(variance) + eps) * gamma + beta")),
    ("divides_by_variance", norm("(x - mean) / (variance + eps) * gamma + beta")),
    ("gamma_missing", norm("(x - mean) / np.sqrt(variance + eps) + beta")),
    ("shift_before_scale", norm("((x - mean) / np.sqrt(variance + eps) + beta) * gamma")),
    ("eps_missing", norm("(x - mean) / np.sqrt(variance) * gamma + beta")),
    ("batch_norm", norm("(x - mean) / np.sqrt(variance + eps) * gamma + beta", axis="tuple(range(x.ndim - 1))")),
    (
        "unbiased_variance",
        """
def layer_norm(x, gamma, beta, eps=1e-6):
    x = np.asarray(x)
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True, ddof=1) + eps) * gamma + beta
""",
    ),
    # the float type is lost: no misconception of the oracle, a message of its own
    (None, norm("np.float64(1) * (x - mean) / np.sqrt(variance + eps) * gamma + beta")),
    # a ready-made layer does the work
    (
        None,
        """
def layer_norm(x, gamma, beta, eps=1e-6):
    layer = keras.layers.LayerNormalization(epsilon=eps)
    layer.build(x.shape)
    layer.set_weights([gamma, beta])
    return layer(x)
""",
    ),
    (
        None,
        "def layer_norm(x, gamma, beta, eps=1e-6):\n    return ops.layer_normalization(x, gamma, beta, epsilon=eps)",
    ),
    (
        "over_axis_1",
        """
def layer_norm(x, gamma, beta, eps=1e-6):
    x = ops.convert_to_tensor(x)
    mu = ops.mean(x, axis=1, keepdims=True)
    var = ops.mean((x - mu) ** 2, axis=1, keepdims=True)
    return (x - mu) / ops.sqrt(var + eps) * gamma + beta
""",
    ),
    (
        "",
        """
def layer_norm(x, gamma, beta, eps=1e-6):
    x = ops.convert_to_tensor(x)
    mu = ops.mean(x, axis=-1)
    var = ops.mean((x - mu) ** 2, axis=-1)
    return (x - mu) / ops.sqrt(var + eps) * gamma + beta
""",
    ),
    (
        "",
        """
def layer_norm(x, gamma, beta, eps=1e-6):
    x = ops.convert_to_tensor(x)
    mu = ops.mean(x, axis=-1, keepdims=True)
    var = ops.mean((x - mu) ** 2, axis=-1, keepdims=True)
    return (x - mu) / ops.sqrt(var + 1e-6) * gamma + beta
""",
    ),
]
