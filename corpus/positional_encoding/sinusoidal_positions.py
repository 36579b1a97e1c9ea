"""Lab 05, exercise `sinusoidal_positions`: solutions as different students write them, right and wrong."""


def table(angles: str, columns: str = "") -> str:
    """A sinusoidal_positions that computes `angles` (length, D/2) from p, i and D, and places them."""
    columns = columns or "    out[:, 0::2], out[:, 1::2] = np.sin(angles), np.cos(angles)\n"
    return (
        "def sinusoidal_positions(length, d_model):\n"
        "    if d_model % 2:\n        raise ValueError('odd')\n"
        "    p, i, D = np.arange(length)[:, None], np.arange(d_model // 2), d_model\n"
        f"    angles = {angles}\n    out = np.zeros((length, d_model))\n{columns}    return out\n"
    )


CORRECT = [
    # list of lists
    """
def sinusoidal_positions(length, d_model):
    if d_model % 2 == 1:
        raise ValueError(f"d_model must be even, got {d_model}")
    return [[(np.sin if j % 2 == 0 else np.cos)(p / 10000 ** ((j - j % 2) / d_model)) for j in range(d_model)] for p in range(length)]
""",
    # number by number, math module
    """
import math
def sinusoidal_positions(length, d_model):
    if d_model % 2 != 0:
        raise ValueError("d_model must be even")
    rows = []
    for p in range(length):
        row = []
        for i in range(d_model // 2):
            angle = p / math.pow(10000, 2 * i / d_model)
            row += [math.sin(angle), math.cos(angle)]
        rows.append(row)
    return np.array(rows)
""",
    # the exp(log) form of many tutorials, all in float32 TensorFlow
    """
def sinusoidal_positions(length, d_model):
    if d_model & 1:
        raise ValueError(f"{d_model} is odd")
    position = tf.range(length, dtype=tf.float32)[:, tf.newaxis]
    div_term = tf.exp(tf.range(0, d_model, 2, dtype=tf.float32) * -(tf.math.log(10000.0) / d_model))
    angles = position * div_term
    return tf.reshape(tf.stack([tf.sin(angles), tf.cos(angles)], axis=-1), (length, d_model))
""",
    # the Keras / TensorFlow tutorial's form, every column its own angle
    """
def sinusoidal_positions(length, d_model):
    if d_model % 2:
        raise ValueError("even numbers only")
    columns = np.arange(d_model)[np.newaxis, :]
    rates = 1 / np.power(10000, (2 * (columns // 2)) / np.float32(d_model))
    angles = np.arange(length)[:, np.newaxis] * rates
    angles[:, 0::2] = np.sin(angles[:, 0::2])
    angles[:, 1::2] = np.cos(angles[:, 1::2])
    return angles.astype("float32")
""",
    # cosine as a shifted sine, keras.ops
    """
def sinusoidal_positions(length, d_model):
    if d_model % 2 == 1:
        raise ValueError("d_model % 2 != 0")
    column = ops.arange(d_model, dtype="float32")
    pair = ops.floor(column / 2)
    phase = (column - 2 * pair) * (np.pi / 2)
    return ops.sin(ops.arange(length, dtype="float32")[:, None] / 10000.0 ** (2 * pair / d_model) + phase)
""",
    # complex numbers, and an own error derived from ValueError
    """
class OddWidth(ValueError):
    pass
def sinusoidal_positions(length, d_model):
    if d_model % 2:
        raise OddWidth(d_model)
    turned = np.exp(1j * np.outer(np.arange(length), 10000.0 ** (-np.arange(d_model // 2) * 2 / d_model)))
    return np.dstack([turned.imag, turned.real]).reshape(length, d_model)
""",
    # np.where over columns, float16-free, length and width as NumPy integers
    """
def sinusoidal_positions(length, d_model):
    if np.mod(d_model, 2):
        raise ValueError("odd")
    p, c = np.mgrid[0:length, 0:d_model]
    angles = p * np.exp(-np.log(1e4) * (c - c % 2) / d_model)
    return np.where(c % 2 == 0, np.sin(angles), np.cos(angles)).astype(np.float32)
""",
]

WRONG = [
    (
        "odd_fails_by_chance",
        """
def sinusoidal_positions(length, d_model):
    
    p = np.arange(length)[:, None]
    i = np.arange(0, d_model, 2)
    angles = p / 10000 ** (i / d_model)
    table = np.zeros((length, d_model))
    table[:, 0::2] = np.sin(angles)
    table[:, 1::2] = np.cos(angles)
    return table
""",
    ),
    (
        "exponent_by_column",
        """
def sinusoidal_positions(length, d_model):
    if d_model % 2: raise ValueError("odd")
    p = np.arange(length)[:, None]; j = np.arange(d_model)
    ang = p / 10000 ** (j / d_model)
    return np.where(j % 2 == 0, np.sin(ang), np.cos(ang))
""",
    ),
    (
        "",
        """
def sinusoidal_positions(length, d_model):
    if d_model % 2: raise ValueError("odd")
    table = np.zeros((length, d_model), dtype=int)
    for p in range(length):
        for i in range(d_model // 2):
            w = 10000 ** (-2 * i / d_model)
            table[p, 2*i] = np.sin(w*p); table[p, 2*i+1] = np.cos(w*p)
    return table
""",
    ),
    # a table is kept, and is made anew only if it is too small
    (
        "",
        """
def sinusoidal_positions(length, d_model, kept=[np.zeros((0, 0))]):
    if d_model % 2: raise ValueError("odd")
    if length > kept[0].shape[0] or d_model > kept[0].shape[1]:
        angles = np.arange(length)[:, None] / 10000 ** (np.arange(0, d_model, 2) / d_model)
        kept[0] = np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(length, d_model)
    return kept[0][:length, :d_model]
""",
    ),
    ("exponent_doubled", 'def sinusoidal_positions(length, d_model):\n    if d_model % 2: raise ValueError("d_model must be even")\n    pos = np.arange(length)[:, np.newaxis]\n    ang = pos / np.power(10000, 2 * np.arange(0, d_model, 2) / d_model)\n    pe = np.zeros((length, d_model))\n    pe[:, 0::2] = np.sin(ang)\n    pe[:, 1::2] = np.cos(ang)\n    return pe'),
    ("exponent_halved", table("p / 10000 ** (i / D)")),
    ("floor_division", table("p / 10000 ** (2 * i // D)")),
    ("exponent_sign", table("p * 10000.0 ** (2 * i / D)")),
    ("exponent_without_brackets", table("p / 10000 ** (2 * i) / D")),
    ("exponent_ends_at_one", table("p / 10000 ** (i / (D // 2 - 1))")),
    ("base_1000", table("p / 1000 ** (2 * i / D)")),
    ("one_based", table("(p + 1) / 10000 ** (2 * i / D)")),
    ("sines_then_cosines", table("p / 10000 ** (2 * i / D)", "    out = np.concatenate([np.sin(angles), np.cos(angles)], -1)\n")),
    ("cos_first", table("p / 10000 ** (2 * i / D)", "    out[:, 0::2], out[:, 1::2] = np.cos(angles), np.sin(angles)\n")),
    ("table_transposed", table("p / 10000 ** (2 * i / D)", "    out[:, 0::2], out[:, 1::2] = np.sin(angles), np.cos(angles)\n    out = out.T\n")),
    ("exponent_by_column", "def sinusoidal_positions(length, d_model):\n    if d_model % 2:\n        raise ValueError\n    c = np.arange(d_model)\n    angles = np.arange(length)[:, None] / 10000 ** (c / d_model)\n    return np.where(c % 2 == 0, np.sin(angles), np.cos(angles))"),
    ("odd_accepted", "def sinusoidal_positions(length, d_model):\n    c = np.arange(d_model)\n    angles = np.arange(length)[:, None] / 10000 ** (c // 2 * 2 / d_model)\n    return np.where(c % 2 == 0, np.sin(angles), np.cos(angles))"),
    ("odd_asserted", "def sinusoidal_positions(length, d_model):\n    assert d_model % 2 == 0\n    c = np.arange(d_model)\n    angles = np.arange(length)[:, None] / 10000 ** (c // 2 * 2 / d_model)\n    return np.where(c % 2 == 0, np.sin(angles), np.cos(angles))"),
]  # fmt: skip
