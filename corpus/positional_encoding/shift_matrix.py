"""Lab 05, exercise `shift_matrix`: solutions as different students write them, right and wrong."""


def shift(entries: str, angle: str = "offset / 10000 ** (2 * i / d_model)") -> str:
    """A shift_matrix whose block for pair i has the given four entries."""
    return (
        "def shift_matrix(offset, d_model):\n    M = np.zeros((d_model, d_model))\n"
        f"    for i in range(d_model // 2):\n        c, s = np.cos({angle}), np.sin({angle})\n"
        f"        M[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = {entries}\n    return M\n"
    )


CORRECT = [
    shift("[[c, -s], [s, c]]"),
    # TensorFlow, block diagonal operator
    """
def shift_matrix(offset, d_model):
    speeds = [10000.0 ** (-2 * i / d_model) for i in range(d_model // 2)]
    blocks = []
    for speed in speeds:
        a = tf.constant(offset * speed, tf.float32)
        blocks.append(tf.linalg.LinearOperatorFullMatrix(tf.stack([[tf.cos(a), -tf.sin(a)], [tf.sin(a), tf.cos(a)]])))
    return tf.linalg.LinearOperatorBlockDiag(blocks).to_dense()
""",
    # index arrays
    """
def shift_matrix(offset, d_model):
    even = np.arange(0, d_model, 2)
    angle = offset * 10000.0 ** (-even / d_model)
    M = np.diag(np.repeat(np.cos(angle), 2)).astype("float32")
    M[even, even + 1] = -np.sin(angle)
    M[even + 1, even] = np.sin(angle)
    return M
""",
    # a power of the matrix for one step
    """
def shift_matrix(offset, d_model):
    step = np.zeros((d_model, d_model))
    for k in range(0, d_model, 2):
        w = 1 / 10000 ** (k / d_model)
        step[k : k + 2, k : k + 2] = np.array([[np.cos(w), np.sin(w)], [-np.sin(w), np.cos(w)]]).T
    return np.linalg.matrix_power(step, offset)
""",
    # matrix exponential of the generator
    """
from scipy.linalg import expm
def shift_matrix(offset, d_model):
    generator = np.zeros((d_model, d_model))
    for k in range(0, d_model, 2):
        w = 10000.0 ** (-k / d_model)
        generator[k, k + 1], generator[k + 1, k] = -w, w
    return expm(offset * generator)
""",
    # rows of the own table: sin and cos of the offset are row `offset`
    """
def shift_matrix(offset, d_model):
    row = np.asarray(sinusoidal_positions(abs(offset) + 1, d_model))[abs(offset)]
    s, c = np.sign(offset) * row[0::2], row[1::2]
    M = np.zeros((d_model // 2, 2, d_model // 2, 2))
    i = np.arange(d_model // 2)
    M[i, 0, i, 0] = M[i, 1, i, 1] = c
    M[i, 0, i, 1], M[i, 1, i, 0] = -s, s
    return ops.convert_to_tensor(M.reshape(d_model, d_model))
""",
]

WRONG = [
    (None, 'def shift_matrix(offset, d_model):\n    return np.roll(np.eye(d_model), offset, axis=0)'),
    ("offset_without_sign", 'def shift_matrix(offset, d_model):\n    m = np.zeros((d_model, d_model))\n    for i in range(d_model // 2):\n        a = abs(offset) / 10000 ** (2 * i / d_model)\n        c, s = np.cos(a), np.sin(a)\n        m[2*i, 2*i], m[2*i, 2*i+1] = c, -s\n        m[2*i+1, 2*i], m[2*i+1, 2*i+1] = s, c\n    return m'),
    ("offset_plus_one", 'def shift_matrix(offset, d_model):\n    m = np.zeros((d_model, d_model))\n    for i in range(d_model // 2):\n        a = (offset + 1) / 10000 ** (2 * i / d_model)\n        c, s = np.cos(a), np.sin(a)\n        m[2*i, 2*i], m[2*i, 2*i+1] = c, -s\n        m[2*i+1, 2*i], m[2*i+1, 2*i+1] = s, c\n    return m'),
    ("shifts_backwards", shift("[[c, s], [-s, c]]")),
    ("minus_missing", shift("[[c, s], [s, c]]")),
    ("two_minus_signs", shift("[[c, -s], [-s, c]]")),
    ("exponent_without_brackets", shift("[[c, -s], [s, c]]", "offset / 10000 ** (2 * i) / d_model")),
    ("cosines_only", shift("[[c, 0], [0, c]]")),
    ("offset_ignored", shift("[[c, -s], [s, c]]", "1 / 10000 ** (2 * i / d_model)")),
    ("exponent_halved", shift("[[c, -s], [s, c]]", "offset / 10000 ** (i / d_model)")),
    ("pairs_by_halves", "def shift_matrix(offset, d_model):\n    h = d_model // 2\n    a = offset * 10000.0 ** (-2 * np.arange(h) / d_model)\n    c, s = np.diag(np.cos(a)), np.diag(np.sin(a))\n    return np.block([[c, -s], [s, c]])"),
    (None, "def shift_matrix(offset, d_model):\n    t = np.asarray(sinusoidal_positions(2 * d_model + abs(offset), d_model), 'float32')\n    return np.linalg.lstsq(t[: 2 * d_model], t[abs(offset) :], rcond=None)[0]"),
]  # fmt: skip
