"""Lab 05, exercise `find_the_bug`: solutions as different students write them, right and wrong."""

CORRECT = [
    # the conjugate of the query
    """
def find_the_bug(q, k, positions):
    width = q.shape[-1]
    speeds = 10_000.0 ** (-np.arange(0, width, 2) / width)
    turns = np.exp(1j * positions[:, None] * speeds)
    q = (q[..., 0::2] + 1j * q[..., 1::2]) * turns
    k = (k[..., 0::2] + 1j * k[..., 1::2]) * turns
    return np.real(np.conj(q) @ np.swapaxes(k, -1, -2)) / width**0.5
""",
    """
def find_the_bug(q, k, positions):
    width = q.shape[-1]
    turns = np.exp(1j * positions[:, None] * 10_000.0 ** (-np.arange(0, width, 2) / width))
    q = (q[..., 0::2] + 1j * q[..., 1::2]) * turns
    k = (k[..., 0::2] - 1j * k[..., 1::2]) / turns
    return np.real(q @ np.swapaxes(k, -1, -2)) / width**0.5
""",
    """
def find_the_bug(q, k, positions):
    return ops.matmul(rotary(q, positions), ops.swapaxes(rotary(k, positions), -1, -2)) / q.shape[-1] ** 0.5
""",
    """
def find_the_bug(q, k, positions):
    width = q.shape[-1]
    turns = np.exp(1j * positions[:, None] * 10_000.0 ** (-np.arange(0, width, 2) / width))
    q, k = ((x[..., 0::2] + 1j * x[..., 1::2]) * turns for x in (q, k))
    return np.einsum("...td,...sd->...ts", q, k.conj()).real / np.sqrt(width)
""",
    """
def find_the_bug(q, k, positions):
    width = q.shape[-1]
    turns = np.exp(1j * positions[:, None] * 10_000.0 ** (-np.arange(0, width, 2) / width))
    q, k = ((x[..., 0::2] + 1j * x[..., 1::2]) * turns for x in (q, k))
    return (q.real @ np.swapaxes(k.real, -1, -2) + q.imag @ np.swapaxes(k.imag, -1, -2)) / width**0.5
""",
    """
def find_the_bug(q, k, positions):
    scores = np.zeros((*q.shape[:-1], q.shape[-2]))
    for i in range(0, q.shape[-1], 2):
        angle = (positions[:, None] - positions[None, :]) / 10_000 ** (i / q.shape[-1])
        both = (q[..., i] + 1j * q[..., i + 1])[..., :, None] * (k[..., i] - 1j * k[..., i + 1])[..., None, :]
        scores += np.real(both * np.exp(1j * angle))
    return scores / q.shape[-1] ** 0.5
""",
]

WRONG = [
    (
        "query_turn_conjugated_alone",
        """
def find_the_bug(q, k, positions):
    width = q.shape[-1]
    speeds = 10_000.0 ** (-np.arange(0, width, 2) / width)
    turns = np.exp(1j * positions[:, None] * speeds)
    q = (q[..., 0::2] + 1j * q[..., 1::2]) * turns.conj()
    k = (k[..., 0::2] + 1j * k[..., 1::2]) * turns
    return np.real(q @ np.swapaxes(k, -1, -2)) / width**0.5
""",
    ),
    (
        "",
        """
def find_the_bug(q, k, positions):
    width = q.shape[-1]
    speeds = 10_000.0 ** (-np.arange(0, width, 2) / width)
    turns = np.exp(1j * positions[:, None] * speeds)
    q = (q[..., 0::2] + 1j * q[..., 1::2]) * turns
    k = (k[..., 0::2] + 1j * k[..., 1::2]) * turns
    return np.abs(q @ np.conj(np.swapaxes(k, -1, -2))) / width**0.5
""",
    ),
    (
        "keys_turned_back",
        """
def find_the_bug(q, k, positions):
    width = q.shape[-1]
    speeds = 10_000.0 ** (-np.arange(0, width, 2) / width)
    turns = np.exp(1j * positions[:, None] * speeds)
    q = (q[..., 0::2] + 1j * q[..., 1::2]) * turns
    k = (k[..., 0::2] - 1j * k[..., 1::2]) * turns
    return np.real(q @ np.swapaxes(k, -1, -2)) / width**0.5
""",
    ),
    (
        "",
        """
def find_the_bug(q, k, positions):
    width = q.shape[-1]
    turns = np.exp(1j * positions[:, None] * 10_000.0 ** (-np.arange(0, width, 2) / width))
    q, k = ((x[..., 0::2] + 1j * x[..., 1::2]) * turns for x in (q, k))
    return np.real(q @ np.swapaxes(k, -1, -2)) / width**0.5
""",
    ),
    (
        "turn_conjugated_alone",
        """
def find_the_bug(q, k, positions):
    width = q.shape[-1]
    turns = np.exp(1j * positions[:, None] * 10_000.0 ** (-np.arange(0, width, 2) / width))
    q = (q[..., 0::2] + 1j * q[..., 1::2]) * turns
    k = (k[..., 0::2] + 1j * k[..., 1::2]) * np.conj(turns)
    return np.real(q @ np.swapaxes(k, -1, -2)) / width**0.5
""",
    ),
    (
        "unscaled",
        """
def find_the_bug(q, k, positions):
    return ops.matmul(rotary(q, positions), ops.swapaxes(rotary(k, positions), -1, -2))
""",
    ),
    # angles kept for all positions of this number and width
    (
        "",
        """
def find_the_bug(q, k, positions, kept={}):
    width = q.shape[-1]
    if q.shape[-2:] not in kept:
        kept[q.shape[-2:]] = np.exp(1j * positions[:, None] * 10_000.0 ** (-np.arange(0, width, 2) / width))
    q, k = ((x[..., 0::2] + 1j * x[..., 1::2]) * kept[q.shape[-2:]] for x in (q, k))
    return np.real(q @ np.swapaxes(k, -1, -2).conj()) / width**0.5
""",
    ),
]
