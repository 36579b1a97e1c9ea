"""Lab 04, exercise `rms_norm`: solutions as different students write them, right and wrong."""

CORRECT = [
    "def rms_norm(x, gamma, eps=1e-6):\n    x = np.asarray(x)\n    return x / np.sqrt((x**2).mean(-1, keepdims=True) + eps) * np.asarray(gamma)",
    "def rms_norm(x, gamma, eps=1e-6):\n    return gamma * x * tf.math.rsqrt(tf.reduce_mean(tf.square(x), axis=-1, keepdims=True) + eps)",
    "def rms_norm(x, gamma, eps=1e-6):\n    x = ops.convert_to_tensor(x)\n    length = ops.sum(ops.square(x), axis=-1, keepdims=True)\n    return gamma * x / ops.sqrt(length / x.shape[-1] + eps)",
    """
def rms_norm(x, gamma, eps=1e-6):
    wide = np.asarray(x, "float64")
    size = np.sqrt(np.einsum("...d,...d->...", wide, wide) / wide.shape[-1] + eps)
    return wide / size[..., None] * np.asarray(gamma)
""",
    """
def rms_norm(x, gamma, eps=1e-6):
    def one(token):
        total = 0.0
        for feature in token:
            total += float(feature) ** 2
        return [float(f) * float(g) / (total / len(token) + eps) ** 0.5 for f, g in zip(token, np.asarray(gamma))]
    x = np.asarray(x)
    return np.reshape([one(token) for token in x.reshape(-1, x.shape[-1])], x.shape)
""",
]

WRONG = [
    (
        "centred_above",
        """
def rms_norm(x, gamma, eps=1e-6):
    x = ops.convert_to_tensor(x)
    return gamma * (x-ops.mean(x,-1,keepdims=True)) / ops.sqrt(ops.mean(x**2, axis=-1, keepdims=True) + eps)
""",
    ),
    (
        "mean_of_sizes",
        """
def rms_norm(x, gamma, eps=1e-6):
    x = ops.convert_to_tensor(x)
    return gamma * x / (ops.mean(ops.abs(x), axis=-1, keepdims=True) + eps)
""",
    ),
    (
        "eps_fixed",
        """
def rms_norm(x, gamma, eps=1e-6):
    x = ops.convert_to_tensor(x)
    return gamma * x / ops.sqrt(ops.mean(x**2, axis=-1, keepdims=True) + 1e-6)
""",
    ),
    ("layer_norm", "def rms_norm(x, gamma, eps=1e-6):\n    return layer_norm(x, gamma, 0 * gamma, eps)"),
    (
        "squares_the_mean",
        "def rms_norm(x, gamma, eps=1e-6):\n    return gamma * x / ops.sqrt(ops.mean(x, axis=-1, keepdims=True)**2 + eps)",
    ),
    (
        "sum_not_mean",
        "def rms_norm(x, gamma, eps=1e-6):\n    return gamma * x / ops.sqrt(ops.sum(x**2, axis=-1, keepdims=True) + eps)",
    ),
    (
        "eps_behind_root",
        "def rms_norm(x, gamma, eps=1e-6):\n    return gamma * x / (ops.sqrt(ops.mean(x**2, axis=-1, keepdims=True)) + eps)",
    ),
    (
        "eps_added_to_result",
        "def rms_norm(x, gamma, eps=1e-6):\n    return gamma * x / ops.sqrt(ops.mean(x**2, axis=-1, keepdims=True)) + eps",
    ),
    (
        "eps_times_gamma",
        "def rms_norm(x, gamma, eps=1e-6):\n    return (x / ops.sqrt(ops.mean(x**2, axis=-1, keepdims=True)) + eps) * gamma",
    ),
    (
        "gamma_missing",
        "def rms_norm(x, gamma, eps=1e-6):\n    return x / ops.sqrt(ops.mean(x**2, axis=-1, keepdims=True) + eps)",
    ),
]
