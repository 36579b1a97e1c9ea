"""Lab 05, exercise `derive_relative`: solutions as different students write them, right and wrong."""


def derived(
    along: str = "a * c + b * d",
    across: str = "a * d - b * c",
    theta: str = "offset[:, None] / 10000 ** (2 * np.arange(D // 2) / D)",
    total: str = "terms.sum(axis=-1)",
    pairs: str = "q[..., 0::2], q[..., 1::2], k[..., 0::2], k[..., 1::2]",
) -> str:
    return f"""
def derive_relative(q, k, offset):
    D = q.shape[-1]
    a, b, c, d = {pairs}
    theta = {theta}
    along, across = {along}, {across}
    terms = along[..., None, :] * np.cos(theta) + across[..., None, :] * np.sin(theta)
    return {total}
"""


CORRECT = [
    # matmul
    """
def derive_relative(q, k, offset):
    D = q.shape[-1]
    w = 10000.0 ** (-np.arange(0, D, 2) / D)
    a, b = q[..., 0::2], q[..., 1::2]
    c, d = k[..., 0::2], k[..., 1::2]
    th = offset[:, None] * w
    return (a*c + b*d) @ np.cos(th).T + (a*d - b*c) @ np.sin(th).T
""",
    derived(),
    # products with the cosines in place of a sum over an axis
    """
def derive_relative(q, k, offset):
    D = q.shape[-1]
    theta = np.outer(10000.0 ** (-np.arange(0, D, 2) / D), offset)
    a, b, c, d = q[..., ::2], q[..., 1::2], k[..., ::2], k[..., 1::2]
    return (a * c + b * d) @ np.cos(theta) + (a * d - b * c) @ np.sin(theta)
""",
    # complex numbers
    """
def derive_relative(q, k, offset):
    D = q.shape[-1]
    z = (q[..., 0::2] + 1j * q[..., 1::2]) * np.conj(k[..., 0::2] + 1j * k[..., 1::2])
    turns = np.exp(1j * np.outer(offset, 10_000.0 ** (-np.arange(0, D, 2) / D)))
    return np.real(z @ turns.T)
""",
    # the query is turned: nobody sees it in the scores
    """
def derive_relative(q, k, offset):
    D = q.shape[-1]
    speeds = 10000.0 ** (-np.arange(0, D, 2) / D)
    turned = (q[..., None, 0::2] + 1j * q[..., None, 1::2]) * np.exp(1j * offset[:, None] * speeds)
    return np.real(turned * np.conj(k[..., None, 0::2] + 1j * k[..., None, 1::2])).sum(axis=-1)
""",
    # length and phase of each pair
    """
def derive_relative(q, k, offset):
    D = q.shape[-1]
    omega = np.array([10000 ** (-2 * i / D) for i in range(D // 2)])
    r = np.hypot(q[..., 0::2], q[..., 1::2]) * np.hypot(k[..., 0::2], k[..., 1::2])
    phase = np.arctan2(q[..., 1::2], q[..., 0::2]) - np.arctan2(k[..., 1::2], k[..., 0::2])
    return np.stack([(r * np.cos(phase + omega * delta)).sum(-1) for delta in offset], axis=-1)
""",
    # pair by pair and offset by offset
    """
def derive_relative(q, k, offset):
    D = q.shape[-1]
    out = np.zeros((*q.shape[:-1], len(offset)))
    for n, delta in enumerate(offset):
        for i in range(D // 2):
            t = float(delta) / 10000 ** (2 * i / D)
            a, b, c, d = q[..., 2 * i], q[..., 2 * i + 1], k[..., 2 * i], k[..., 2 * i + 1]
            out[..., n] += (a * c + b * d) * np.cos(t) + (a * d - b * c) * np.sin(t)
    return out
""",
    # einsum
    """
def derive_relative(q, k, offset):
    D = q.shape[-1]
    theta = offset[:, None] * 10000.0 ** (-np.arange(0, D, 2) / D)
    pairs_q, pairs_k = (each.reshape(*each.shape[:-1], D // 2, 2) for each in (q, k))
    side = np.array([[0.0, 1.0], [-1.0, 0.0]])
    same = np.einsum("...iu,...iu,ni->...n", pairs_q, pairs_k, np.cos(theta))
    return same + np.einsum("...iu,uv,...iv,ni->...n", pairs_q, side, pairs_k, np.sin(theta))
""",
    # TensorFlow
    """
def derive_relative(q, k, offset):
    q, k = tf.cast(q, tf.float32), tf.cast(k, tf.float32)
    D = q.shape[-1]
    theta = tf.cast(offset, tf.float32)[:, None] * tf.constant(10000.0 ** (-np.arange(0, D, 2) / D), tf.float32)
    a, b, c, d = q[..., 0::2], q[..., 1::2], k[..., 0::2], k[..., 1::2]
    return tf.reduce_sum((a * c + b * d)[..., None, :] * tf.cos(theta) + (a * d - b * c)[..., None, :] * tf.sin(theta), -1)
""",
]  # fmt: skip

WRONG = [
    (
        "pairs_averaged",
        """
def derive_relative(q, k, offset):
    D = q.shape[-1]
    w = 10000.0 ** (-np.arange(0, D, 2) / D)
    a, b = q[..., 0::2], q[..., 1::2]
    c, d = k[..., 0::2], k[..., 1::2]
    th = offset[:, None] * w
    return ((a*c + b*d)[..., None, :] * np.cos(th) + (a*d - b*c)[..., None, :] * np.sin(th)).mean(-1)
""",
    ),
    (
        "one_angle_for_all",
        """
def derive_relative(q, k, offset):
    D = q.shape[-1]
    w = 10000.0 ** (-np.arange(0, D, 2) / D)
    a, b = q[..., 0::2], q[..., 1::2]
    c, d = k[..., 0::2], k[..., 1::2]
    th = offset[:, None] * np.ones_like(w)
    return ((a*c + b*d)[..., None, :] * np.cos(th) + (a*d - b*c)[..., None, :] * np.sin(th)).sum(-1)
""",
    ),
    (
        "",
        """
def derive_relative(q, k, offset):
    D = q.shape[-1]
    w = 10000.0 ** (-np.arange(0, D, 2) / D)
    a, b = q[..., 0::2], q[..., 1::2]
    c, d = k[..., 0::2], k[..., 1::2]
    th = offset[:, None] * w
    return ((a*c + b*d) * np.cos(th) + (a*d - b*c) * np.sin(th)).sum(-1)
""",
    ),
    (
        "",
        """
def derive_relative(q, k, offset):
    D = q.shape[-1]
    w = 10000.0 ** (-np.arange(0, D, 2) / D)
    a, b = q[..., 0::2], q[..., 1::2]
    c, d = k[..., 0::2], k[..., 1::2]
    th = offset[:, None] * w
    return ((a*c + b*d)[..., None, :] * np.cos(th) + (a*d - b*c)[..., None, :] * np.sin(th)).sum(-2)
""",
    ),
    # the result in the type of q
    ("", derived(total="terms.sum(axis=-1).astype(q.dtype)")),
    ("other_side", derived(across="b * c - a * d")),
    ("other_side", derived(theta="-offset[:, None] / 10000 ** (2 * np.arange(D // 2) / D)")),
    ("cosines_alone", derived(across="0 * a")),
    ("crossed_added", derived(across="a * d + b * c")),
    ("angles_added", derived(along="a * c - b * d")),
    ("one_product_for_all", derived(along="(q * k).sum(-1, keepdims=True)")),
    ("side_lost", derived(theta="np.abs(offset)[:, None] / 10000 ** (2 * np.arange(D // 2) / D)")),
    ("half_pairs", derived(pairs="q[..., : D // 2], q[..., D // 2 :], k[..., : D // 2], k[..., D // 2 :]")),
    ("scaled", derived(total="terms.sum(axis=-1) / np.sqrt(D)")),
    ("exponent_halved", derived(theta="offset[:, None] / 10000 ** (np.arange(D // 2) / D)")),
    ("base_1000", derived(theta="offset[:, None] / 1000 ** (2 * np.arange(D // 2) / D)")),
    ("", derived(theta="offset[:, None] / 10000 ** (2 * np.arange(D // 2) // D)")),
    ("", derived(theta="0 * offset[:, None] / 10000 ** (2 * np.arange(D // 2) / D)")),
    ("", derived(total="terms.mean(axis=-1)")),
    ("not_conjugated", """
def derive_relative(q, k, offset):
    D = q.shape[-1]
    products = (q[..., 0::2] + 1j * q[..., 1::2]) * (k[..., 0::2] + 1j * k[..., 1::2])
    turns = np.exp(1j * np.outer(10000.0 ** (-np.arange(0, D, 2) / D), offset))
    return np.real(products @ turns)
"""),
    ("", derived(total="terms")),
    ("", derived(total="terms.sum()")),
    ("", derived(along="a * d + b * c")),
    ("", derived(total="np.swapaxes(terms.sum(axis=-1), 0, -1)")),
    ("", derived().replace("along[..., None, :] * np.cos(theta) + across[..., None, :] * np.sin(theta)", "along[..., None, :] * np.sin(theta) + across[..., None, :] * np.cos(theta)")),
    # the offset's first entry for all
    ("", derived(theta="offset[:1, None] / 10000 ** (2 * np.arange(D // 2) / D) + 0 * offset[:, None]")),
    # forbidden: it turns
    ("", """
def derive_relative(q, k, offset):
    turned = np.stack([np.asarray(rotary(q[..., None, :], np.array([each])))[..., 0, :] for each in offset], axis=-2)
    return (turned * k[..., None, :]).sum(-1)
"""),
    ("", """
def derive_relative(q, k, offset):
    D = q.shape[-1]
    rows = [find_the_bug(q[..., None, :].repeat(2, -2), k[..., None, :].repeat(2, -2), np.array([0, -each]))[..., 0, 1] for each in offset]
    return np.stack(rows, axis=-1) * D**0.5
"""),
    # angles kept for all offsets of this number
    ("", derived(theta="kept.setdefault((len(offset), D), offset[:, None] / 10000 ** (2 * np.arange(D // 2) / D))").replace("offset):", "offset, kept={}):")),
    ("angles_cut", """
def derive_relative(q, k, offset):
    width = q.shape[-1]
    a, b, c, d = q[..., 0::2], q[..., 1::2], k[..., 0::2], k[..., 1::2]
    speeds = 10_000.0 ** (-np.arange(0, width, 2) / width)
    angles = (np.asarray(offset)[:, None] * speeds).astype(np.asarray(offset).dtype)
    along, across = a * c + b * d, a * d - b * c
    return along @ np.cos(angles).T + across @ np.sin(angles).T
"""),
]  # fmt: skip
