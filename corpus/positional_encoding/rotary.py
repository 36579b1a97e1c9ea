"""Lab 05, exercise `rotary`: solutions as different students write them, right and wrong."""


def turn(result: str, angle: str = "p / 10000 ** (2 * i / D)") -> str:
    """A rotary in NumPy that returns `result`, an expression of a, b, c (cosine) and s (sine)."""
    return (
        "def rotary(x, positions):\n    x = np.asarray(x)\n    D = x.shape[-1]\n"
        "    p, i = np.asarray(positions)[:, None], np.arange(D // 2)\n"
        f"    angle = ({angle}).astype(x.dtype)\n    c, s = np.cos(angle), np.sin(angle)\n"
        f"    a, b = x[..., 0::2], x[..., 1::2]\n    return {result}\n"
    )


INTERLEAVED = "np.stack([{}, {}], axis=-1).reshape(x.shape)"

CORRECT = [
    # complex
    """
def rotary(x, positions):
    x = np.asarray(x); d = x.shape[-1]
    z = (x[..., 0::2] + 1j * x[..., 1::2]) * np.exp(1j * np.outer(positions, 10000.0 ** (-np.arange(0, d, 2) / d)))
    return np.stack([z.real, z.imag], -1).reshape(x.shape).astype(x.dtype)
""",
    turn(INTERLEAVED.format("a * c - b * s", "a * s + b * c")),
    # one pair at a time
    """
def rotary(x, positions):
    x = np.asarray(x)
    out = np.empty_like(x)
    D = x.shape[-1]
    for t, p in enumerate(np.asarray(positions)):
        for i in range(D // 2):
            theta = float(p) / 10000 ** (2 * i / D)
            a, b = x[..., t, 2 * i], x[..., t, 2 * i + 1]
            out[..., t, 2 * i] = a * np.cos(theta) - b * np.sin(theta)
            out[..., t, 2 * i + 1] = a * np.sin(theta) + b * np.cos(theta)
    return out
""",
    # complex numbers in TensorFlow
    """
def rotary(x, positions):
    x = tf.convert_to_tensor(x)
    D = x.shape[-1]
    speeds = tf.constant([10000.0 ** (-2 * i / D) for i in range(D // 2)], x.dtype)
    theta = tf.cast(positions, x.dtype)[:, None] * speeds
    turned = tf.complex(x[..., ::2], x[..., 1::2]) * tf.complex(tf.cos(theta), tf.sin(theta))
    return tf.reshape(tf.stack([tf.math.real(turned), tf.math.imag(turned)], axis=-1), tf.shape(x))
""",
    # "rotate half" with repeated angles, as in many code bases
    """
def rotate_pairs(x):
    a, b = x[..., ::2], x[..., 1::2]
    return ops.reshape(ops.stack([-b, a], axis=-1), ops.shape(x))
def rotary(x, positions):
    x = ops.convert_to_tensor(x)
    inv_freq = 1.0 / (10000.0 ** (np.arange(0, x.shape[-1], 2) / x.shape[-1]))
    angles = ops.einsum("t,d->td", ops.cast(positions, x.dtype), ops.cast(inv_freq, x.dtype))
    angles = ops.repeat(angles, 2, axis=-1)
    return x * ops.cos(angles) + rotate_pairs(x) * ops.sin(angles)
""",
    # a rotation matrix for every position and pair
    """
def rotary(x, positions):
    x = np.asarray(x)
    D = x.shape[-1]
    theta = np.outer(np.asarray(positions, dtype="float64"), 10000.0 ** (-np.arange(0, D, 2) / D))
    R = np.array([[np.cos(theta), -np.sin(theta)], [np.sin(theta), np.cos(theta)]])
    pairs = x.reshape(*x.shape[:-1], D // 2, 2)
    return np.einsum("uvti,...tiv->...tiu", R, pairs).reshape(x.shape).astype(x.dtype)
""",
    # the whole position's block matrix from exercise 2, transposed for columns
    """
def rotary(x, positions):
    x = np.asarray(x)
    rows = [x[..., t, :] @ shift_matrix(int(-p), x.shape[-1]).astype(x.dtype) for t, p in enumerate(np.asarray(positions))]
    return np.stack(rows, axis=-2).astype(x.dtype)
""",
]

WRONG = [
    (
        "",
        """
def rotary(x, positions):
    x = np.asarray(x); B, T, D = x.shape
    d = x.shape[-1]
    theta = positions[:, None] / 10000 ** (np.arange(0, d, 2) / d)
    cos, sin = np.cos(theta), np.sin(theta)
    a, b = x[..., 0::2], x[..., 1::2]
    out = np.empty_like(x)
    out[..., 0::2] = a*cos - b*sin; out[..., 1::2] = a*sin + b*cos
    return out
""",
    ),
    (
        "",
        """
def rotary(x, positions):
    x = np.asarray(x)
    d = x.shape[-1]
    theta = positions[:, None] / 10000 ** (np.arange(0, d, 2) / d)
    cos, sin = np.cos(theta), np.sin(theta)
    a, b = x[..., 0::2], x[..., 1::2]
    out = np.empty_like(x)
    x[..., 0::2] = x[..., 0::2]*cos - x[..., 1::2]*sin; x[..., 1::2] = x[..., 0::2]*sin + x[..., 1::2]*cos
    return x
""",
    ),
    (
        "not_interleaved",
        """
def rotary(x, positions):
    x = np.asarray(x); positions = np.asarray(positions)
    d = x.shape[-1]
    theta = positions[:, None] / 10000 ** (np.arange(0, d, 2) / d)
    cos, sin = np.cos(theta), np.sin(theta)
    a, b = x[..., 0::2], x[..., 1::2]
    out = np.empty_like(x)
    out = np.stack([a*cos - b*sin, a*sin + b*cos], axis=-2).reshape(x.shape).astype(x.dtype)
    return out
""",
    ),
    ("angles_in_halves", 'def rotary(x, positions):\n    x = ops.convert_to_tensor(x); d = x.shape[-1]\n    th = ops.cast(positions, x.dtype)[:, None] * ops.cast(10000.0 ** (-np.arange(0, d, 2) / d), x.dtype)\n    th = ops.concatenate([th, th], -1)\n    rot = ops.reshape(ops.stack([-x[..., 1::2], x[..., ::2]], -1), ops.shape(x))\n    return x * ops.cos(th) + rot * ops.sin(th)'),
    ("positions_plus_one", 'def rotary(x, positions):\n    x = np.asarray(x); d = x.shape[-1]; positions = np.asarray(positions)\n    th = np.outer(positions + 1, 10000.0 ** (-np.arange(0, d, 2) / d))\n    out = np.empty_like(x)\n    a, b = x[..., ::2], x[..., 1::2]\n    c, s = np.cos(th), np.sin(th)\n    out[..., ::2] = a * c - b * s\n    out[..., 1::2] = a * s + b * c\n    return out'),
    ("rotary_sin_cos_exchanged", 'def rotary(x, positions):\n    x = np.asarray(x); d = x.shape[-1]; positions = np.asarray(positions)\n    th = np.outer(positions, 10000.0 ** (-np.arange(0, d, 2) / d))\n    out = np.empty_like(x)\n    a, b = x[..., ::2], x[..., 1::2]\n    c, s = np.sin(th), np.cos(th)\n    out[..., ::2] = a * c - b * s\n    out[..., 1::2] = a * s + b * c\n    return out'),
    ("turns_backwards", turn(INTERLEAVED.format("a * c + b * s", "b * c - a * s"))),
    ("rotary_minus_missing", turn(INTERLEAVED.format("a * c + b * s", "a * s + b * c"))),
    ("turned_pair_added", turn("x + " + INTERLEAVED.format("a * c - b * s", "a * s + b * c"))),
    ("pairs_mirrored", turn(INTERLEAVED.format("a * c - b * s", "a * s - b * c"))),
    ("exponent_without_brackets", turn(INTERLEAVED.format("a * c - b * s", "a * s + b * c"), "p / 10000 ** (2 * i) / D")),
    ("cosine_factor_only", turn(INTERLEAVED.format("a * c", "b * c"))),
    ("not_interleaved", turn("np.concatenate([a * c - b * s, a * s + b * c], axis=-1)")),
    ("half_pairs", "def rotary(x, positions):\n    x = np.asarray(x)\n    h = x.shape[-1] // 2\n    t = (np.asarray(positions)[:, None] * 10000.0 ** (-np.arange(h) / h)).astype(x.dtype)\n    a, b = x[..., :h], x[..., h:]\n    return np.concatenate([a * np.cos(t) - b * np.sin(t), a * np.sin(t) + b * np.cos(t)], -1)"),
    ("exponent_halved", turn(INTERLEAVED.format("a * c - b * s", "a * s + b * c"), "p / 10000 ** (i / D)")),
    ("positions_counted", turn(INTERLEAVED.format("a * c - b * s", "a * s + b * c"), "np.arange(len(p))[:, None] / 10000 ** (2 * i / D)")),
    ("degrees", turn(INTERLEAVED.format("a * c - b * s", "a * s + b * c"), "np.deg2rad(p / 10000 ** (2 * i / D))")),
    ("added_instead", "def rotary(x, positions):\n    x = np.asarray(x)\n    D = x.shape[-1]\n    t = np.asarray(positions)[:, None] * 10000.0 ** (-np.arange(0, D, 2) / D)\n    return (x + np.stack([np.sin(t), np.cos(t)], -1).reshape(len(t), D)).astype(x.dtype)"),
    ("overwritten_pair", "def rotary(x, positions):\n    x = np.array(x)\n    D = x.shape[-1]\n    t = (np.asarray(positions)[:, None] * 10000.0 ** (-np.arange(0, D, 2) / D)).astype(x.dtype)\n    x[..., 0::2] = x[..., 0::2] * np.cos(t) - x[..., 1::2] * np.sin(t)\n    x[..., 1::2] = x[..., 0::2] * np.sin(t) + x[..., 1::2] * np.cos(t)\n    return x"),
    (None, "def rotary(x, positions):\n    x = np.asarray(x)\n    D = x.shape[-1]\n    t = np.asarray(positions)[:, None] * 10000.0 ** (-np.arange(0, D, 2) / D)\n    out = np.empty_like(x, dtype='float64')\n    out[:, 0::2] = x[:, 0::2] * np.cos(t) - x[:, 1::2] * np.sin(t)\n    out[:, 1::2] = x[:, 0::2] * np.sin(t) + x[:, 1::2] * np.cos(t)\n    return out"),
    ("", """
def rotary(x, positions):
    x = np.asarray(x)
    angles = np.asarray(positions)[:, None] / 10_000 ** (np.arange(0, x.shape[-1], 2) / x.shape[-1])
    result = np.zeros(x.shape)
    result[..., 0::2] = x[..., 0::2] * np.cos(angles) - x[..., 1::2] * np.sin(angles)
    result[..., 1::2] = x[..., 0::2] * np.sin(angles) + x[..., 1::2] * np.cos(angles)
    return result
"""),
    ("exponent_floored", """
def rotary(x, positions):
    x = ops.convert_to_tensor(x)
    width = x.shape[-1]
    speeds = 10_000.0 ** (-np.arange(0, width, 2) // width)
    angles = np.asarray(positions, "float64")[:, None] * speeds
    cos, sin = ops.cast(np.cos(angles), x.dtype), ops.cast(np.sin(angles), x.dtype)
    a, b = x[..., 0::2], x[..., 1::2]
    turned = ops.stack([a * cos - b * sin, a * sin + b * cos], axis=-1)
    return ops.reshape(turned, x.shape)
"""),
]  # fmt: skip
