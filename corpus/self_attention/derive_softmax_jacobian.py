"""Lab 02, exercise `derive_softmax_jacobian`: solutions as different students write them, right and wrong."""


def derived(
    result: str, weights: str = "powers / powers.sum(-1, keepdims=True)", peak: str = "z.max(-1, keepdims=True)"
) -> str:
    return f"""
def derive_softmax_jacobian(scores):
    z = np.asarray(scores)
    powers = np.exp(z - {peak})
    p = {weights}
    eye = np.eye(p.shape[-1])
    return {result}
"""


CORRECT = [
    derived("p[..., None] * eye - p[..., None] * p[..., None, :]"),
    derived("eye * p[..., None, :] - np.einsum('...i,...j->...ij', p, p)"),
    derived("(eye - p[..., None]) * p[..., None, :]"),
    # diagonal and the rest apart
    derived("np.where(eye == 1, (p * (1 - p))[..., None], -p[..., None] @ p[..., None, :])"),
    # row by row, entry by entry
    """
def derive_softmax_jacobian(scores):
    z = np.asarray(scores, dtype="float64")
    size = z.shape[-1]
    result = []
    for row in z.reshape(-1, size):
        powers = np.exp(row - row.max())
        p = powers / powers.sum()
        result.append([[p[i] * ((i == j) - p[j]) for j in range(size)] for i in range(size)])
    return np.array(result).reshape(*z.shape, size)
""",
    # TensorFlow
    """
def derive_softmax_jacobian(scores):
    p = tf.nn.softmax(tf.convert_to_tensor(scores), axis=-1)
    return tf.linalg.diag(p) - tf.einsum("...i,...j->...ij", p, p)
""",
    # keras.ops, the softmax from pairwise differences
    """
def derive_softmax_jacobian(scores):
    z = ops.convert_to_tensor(scores)
    p = ops.exp(z - ops.logsumexp(z, axis=-1, keepdims=True))
    return ops.expand_dims(p, -1) * (ops.eye(z.shape[-1], dtype=z.dtype) - ops.expand_dims(p, -2))
""",
    """
def derive_softmax_jacobian(scores):
    z = np.asarray(scores, "float64")
    h = 1e-5
    cols = []
    from scipy.special import softmax
    for j in range(z.shape[-1]):
        d = np.zeros(z.shape[-1]); d[j] = h
        cols.append((softmax(z + d, axis=-1) - softmax(z - d, axis=-1)) / (2*h))
    return np.stack(cols, axis=-1)
""",
]  # fmt: skip

RIGHT = "p[..., None] * (eye - p[..., None, :])"

WRONG = [
    ("diagonal_only", derived("(p * (1 - p))[..., None] * eye")),
    ("outer_left_out", derived("p[..., None] * eye")),
    ("sign_turned", derived(f"-{RIGHT}")),
    ("added", derived("p[..., None] * (eye + p[..., None, :])")),
    ("outer_only", derived("-p[..., None] * p[..., None, :]")),
    ("of_the_logarithm", derived("eye - p[..., None, :] + 0 * p[..., None]")),
    ("not_normalised", derived(RIGHT, weights="powers")),
    ("from_scores", derived(RIGHT, weights="z")),
    ("softmax_over_axis_0", derived(RIGHT, weights="powers / powers.sum(0, keepdims=True)", peak="z.max(0, keepdims=True)")),
    ("unstable_softmax", derived(RIGHT, peak="0")),
    ("one_maximum_for_all", derived(RIGHT, peak="z.max()")),
    ("", derived("p * (1 - p)")),
    ("", derived("np.diag(p) - np.outer(p, p)")),
    ("", derived("p[..., None] * p[..., None, :]")),
    ("", derived("p[..., None] * (eye - p[..., None])")),
    ("", derived("(p[..., None] * (eye - p[..., None, :])).sum(-1)")),
    # a difference quotient in float32
    ("", """
def derive_softmax_jacobian(scores):
    z = np.asarray(scores).astype("float32")
    columns = []
    for j in range(z.shape[-1]):
        moved = z + np.float32(1e-3) * np.eye(z.shape[-1], dtype="float32")[j]
        columns.append((np.asarray(ops.softmax(moved)) - np.asarray(ops.softmax(z))) / np.float32(1e-3))
    return np.stack(columns, axis=-1)
"""),
    ("", """
def derive_softmax_jacobian(scores):
    z = tf.convert_to_tensor(scores)
    with tf.GradientTape() as tape:
        tape.watch(z)
        p = tf.nn.softmax(z)
    return tape.jacobian(p, z)
"""),
    ("numerator_for_every_pair", """
def derive_softmax_jacobian(scores):
    p = np.asarray(ops.softmax(scores, axis=-1))
    return p[..., :, None] * (1 - p[..., None, :])
"""),
    ("diagonal_of_ones", """
def derive_softmax_jacobian(scores):
    p = np.asarray(ops.softmax(scores, axis=-1))
    return np.eye(p.shape[-1]) - p[..., :, None] * p[..., None, :]
"""),
    ("added_beside", """
def derive_softmax_jacobian(scores):
    p = np.asarray(ops.softmax(scores, axis=-1))
    n = p.shape[-1]
    J = np.zeros(p.shape + (n,))
    for i in range(n):
        for j in range(n):
            J[..., i, j] = p[..., i] * (1 - p[..., j]) if i == j else p[..., i] * p[..., j]
    return J
"""),
]  # fmt: skip
