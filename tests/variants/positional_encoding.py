"""Lab 05: solutions as different students write them."""

LAYER_HEAD = """
    def __init__(self, max_length, vocab_size, d_model, **kwargs):
        super().__init__(**kwargs)
        self.max_length, self.vocab_size, self.d_model = max_length, vocab_size, d_model
"""
LAYER_TAIL = """
    def get_config(self):
        return {**super().get_config(), "max_length": self.max_length, "vocab_size": self.vocab_size, "d_model": self.d_model}
"""


def learned(call: str, build: str = "", tables: str | None = None) -> str:
    """A TokenAndPositionEmbedding with the given body of `call`."""
    tables = tables or (
        "        self.token_embedding = keras.layers.Embedding(vocab_size, d_model)\n"
        "        self.position_embedding = keras.layers.Embedding(max_length, d_model)\n"
    )
    return f"class TokenAndPositionEmbedding(keras.Layer):{LAYER_HEAD}{tables}{build}\n    def call(self, ids):\n{call}\n{LAYER_TAIL}"


def fixed(call: str, build: str = "") -> str:
    """A SinusoidalEmbedding with the given body of `call`."""
    table = "        self.token_embedding = keras.layers.Embedding(vocab_size, d_model)\n"
    return f"class SinusoidalEmbedding(keras.Layer):{LAYER_HEAD}{table}{build}\n    def call(self, ids):\n{call}\n{LAYER_TAIL}"


def table(angles: str, columns: str = "") -> str:
    """A sinusoidal_positions that computes `angles` (length, D/2) from p, i and D, and places them."""
    columns = columns or "    out[:, 0::2], out[:, 1::2] = np.sin(angles), np.cos(angles)\n"
    return (
        "def sinusoidal_positions(length, d_model):\n"
        "    if d_model % 2:\n        raise ValueError('odd')\n"
        "    p, i, D = np.arange(length)[:, None], np.arange(d_model // 2), d_model\n"
        f"    angles = {angles}\n    out = np.zeros((length, d_model))\n{columns}    return out\n"
    )


def shift(entries: str, angle: str = "offset / 10000 ** (2 * i / d_model)") -> str:
    """A shift_matrix whose block for pair i has the given four entries."""
    return (
        "def shift_matrix(offset, d_model):\n    M = np.zeros((d_model, d_model))\n"
        f"    for i in range(d_model // 2):\n        c, s = np.cos({angle}), np.sin({angle})\n"
        f"        M[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = {entries}\n    return M\n"
    )


def turn(result: str, angle: str = "p / 10000 ** (2 * i / D)") -> str:
    """A rotary in NumPy that returns `result`, an expression of a, b, c (cosine) and s (sine)."""
    return (
        "def rotary(x, positions):\n    x = np.asarray(x)\n    D = x.shape[-1]\n"
        "    p, i = np.asarray(positions)[:, None], np.arange(D // 2)\n"
        f"    angle = ({angle}).astype(x.dtype)\n    c, s = np.cos(angle), np.sin(angle)\n"
        f"    a, b = x[..., 0::2], x[..., 1::2]\n    return {result}\n"
    )


INTERLEAVED = "np.stack([{}, {}], axis=-1).reshape(x.shape)"

CORRECT = {
    "sinusoidal_positions": [
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
    ],
    "shift_matrix": [
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
    ],
    "TokenAndPositionEmbedding": [
        learned(
            "        length = tf.shape(ids)[-1]\n"
            "        return self.token_embedding(ids) + self.position_embedding(tf.range(start=0, limit=length, delta=1))"
        ),
        learned(
            "        words = self.token_embedding(ids)\n"
            "        rows = self.position_embedding.embeddings[: ops.shape(ids)[1]]\n"
            "        return words + rows[None]",
            "\n    def build(self, shape):\n        self.token_embedding.build(shape)\n        self.position_embedding.build(shape)\n",
        ),
        learned(
            "        places = ops.cumsum(ops.ones_like(ids), axis=1) - 1\n"
            "        return ops.add(self.token_embedding(ids), self.position_embedding(places))"
        ),
        learned(
            "        all_positions = self.position_embedding(self.places)\n"
            "        return self.token_embedding(ids) + all_positions[:, : ops.shape(ids)[1], :]",
            "        self.places = np.arange(max_length)[None, :]\n",
        ),
        learned(
            "        batch, length = ops.shape(ids)\n"
            "        places = ops.broadcast_to(ops.arange(length, dtype='int32'), (batch, length))\n"
            "        return keras.layers.add([self.token_embedding(ids), self.position_embedding(places)])",
            tables="        self.token_embedding = keras.layers.Embedding(input_dim=vocab_size, output_dim=d_model, mask_zero=True)\n"
            "        self.position_embedding = keras.layers.Embedding(input_dim=max_length, output_dim=d_model, embeddings_initializer='zeros')\n",
        ),
    ],
    "SinusoidalEmbedding": [
        fixed(
            "        x = self.token_embedding(ids)\n"
            "        x *= tf.math.sqrt(tf.cast(self.d_model, tf.float32))\n"
            "        return x + self.pos_encoding[tf.newaxis, : tf.shape(ids)[1], :]",
            "        self.pos_encoding = tf.cast(sinusoidal_positions(max_length, d_model), tf.float32)\n",
        ),
        fixed(
            "        places = ops.arange(ops.shape(ids)[1])\n"
            "        return np.sqrt(self.d_model) * self.token_embedding(ids) + ops.take(self.table, places, axis=0)",
            "        self.table = np.asarray(sinusoidal_positions(max_length, d_model), 'float32')\n",
        ),
        fixed(
            "        rows = ops.slice(self.table, (0, 0), (ops.shape(ids)[1], self.d_model))\n"
            "        return ops.multiply(self.token_embedding(ids), ops.sqrt(float(self.d_model))) + rows",
            "        self.table = self.add_weight(shape=(max_length, d_model), trainable=False)\n"
            "        self.table.assign(sinusoidal_positions(max_length, d_model))\n",
        ),
        fixed(
            "        p = ops.cast(ops.arange(ops.shape(ids)[1]), 'float32')[:, None]\n"
            "        w = ops.exp(ops.arange(0, self.d_model, 2, dtype='float32') * (-np.log(10000.0) / self.d_model).astype('float32'))\n"
            "        waves = ops.reshape(ops.stack([ops.sin(p * w), ops.cos(p * w)], axis=-1), (-1, self.d_model))\n"
            "        return self.token_embedding(ids) * self.d_model ** 0.5 + waves",
        ),
        fixed(
            "        place = ops.cumsum(ops.ones_like(ids), axis=1) - 1\n"
            "        return self.token_embedding(ids) * float(np.sqrt(self.d_model)) + self.positions(place)",
            "        self.positions = keras.layers.Embedding(max_length, d_model, trainable=False)\n"
            "        self.positions.build((None,))\n"
            "        self.positions.set_weights([np.asarray(sinusoidal_positions(max_length, d_model))])\n",
        ),
    ],
    "is_permutation_equivariant": [
        """
def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):
    left = np.asarray(fn(tf.gather(x, permutation, axis=1)))
    right = np.asarray(fn(x))[:, np.asarray(permutation)]
    return np.allclose(left, right, rtol=0, atol=tolerance)
""",
        """
def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):
    a = ops.take(fn(x), permutation, axis=1)
    b = fn(ops.take(x, permutation, axis=1))
    return ops.all(ops.abs(a - b) <= tolerance)
""",
        # loops, numbers one by one, early exit
        """
def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):
    x = np.array(x)
    order = [int(p) for p in permutation]
    shuffled = np.stack([np.stack([sequence[p] for p in order]) for sequence in x])
    one, other = np.array(fn(shuffled)), np.array(fn(x))
    for b in range(len(x)):
        for t, p in enumerate(order):
            if np.abs(one[b, t] - other[b, p]).max() > tolerance:
                return False
    return True
""",
        # permutation matrix
        """
def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):
    P = tf.one_hot(permutation, tf.shape(x)[1], dtype=x.dtype)
    first = fn(tf.einsum("ts,bsd->btd", P, x))
    last = tf.einsum("ts,bsd->btd", tf.cast(P, first.dtype), fn(tf.convert_to_tensor(x)))
    return bool(tf.reduce_max(tf.abs(first - last)) <= tolerance)
""",
        # undo the shuffle with the inverse permutation; the type of np.bool_
        """
def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):
    x, permutation = np.asarray(x), np.asarray(permutation)
    undone = np.asarray(fn(x[:, permutation]))[:, np.argsort(permutation)]
    return np.max(np.abs(undone - np.asarray(fn(x)))) <= tolerance
""",
        # numpy's allclose with its relative part left in
        """
def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):
    permute = lambda z: np.take(np.asarray(z), permutation, axis=1)
    return np.allclose(fn(permute(x)), permute(fn(x)), atol=tolerance)
""",
    ],
    "rotary": [
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
    ],
    "find_the_bug": [
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
    ],
    "predict": ["predict = 11", "predict = 10", "predict = 12.0", "predict = np.int64(11)", "predict = 32 * (1 - 0.63)"],
}

WRONG = {
    "sinusoidal_positions": [
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
    ],
    "shift_matrix": [
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
    ],
    "TokenAndPositionEmbedding": [
        ("position_missing", learned("        return self.token_embedding(ids) + 0 * self.position_embedding(ops.arange(ops.shape(ids)[1]))")),
        ("scaled_by_root", learned("        return self.token_embedding(ids) * self.d_model ** 0.5 + self.position_embedding(ops.arange(ops.shape(ids)[1]))")),
        ("position_from_the_end", learned("        n = ops.shape(ids)[1]\n        return self.token_embedding(ids) + self.position_embedding(ops.arange(self.max_length - n, self.max_length))")),
        ("position_of_sequence", learned("        return self.token_embedding(ids) + self.position_embedding(ops.arange(ops.shape(ids)[0]))[:, None]")),
        ("appended", learned("        p = self.position_embedding(ops.arange(ops.shape(ids)[1]))[None] + 0 * self.token_embedding(ids)\n        return ops.concatenate([self.token_embedding(ids), p], axis=-1)")),
        ("position_by_id", learned("        return self.token_embedding(ids) + self.position_embedding(ids)")),
        ("tables_exchanged", learned("        return self.position_embedding(ids) + self.token_embedding(ops.arange(ops.shape(ids)[1]))")),
        ("positions_frozen", learned("        return self.token_embedding(ids) + self.position_embedding(ops.arange(ops.shape(ids)[1]))", "        self.position_embedding.trainable = False\n")),
        (None, learned("        return self.token_embedding(ids) + self.position_embedding(ops.arange(self.max_length))")),
        (None, learned("        return self.token_embedding(ids) + self.position_embedding(ops.arange(ids.shape[1]))")),
    ],
    "SinusoidalEmbedding": [
        ("unscaled", fixed("        return self.token_embedding(ids) + self.t[: ops.shape(ids)[1]]", "        self.t = ops.convert_to_tensor(sinusoidal_positions(max_length, d_model))\n")),
        ("position_by_id", fixed("        return self.token_embedding(ids) * self.d_model**0.5 + ops.take(self.t, ids, axis=0)", "        self.t = ops.convert_to_tensor(sinusoidal_positions(max_length, d_model))\n")),
        ("scaled_by_width", fixed("        return self.token_embedding(ids) * self.d_model + self.t[: ops.shape(ids)[1]]", "        self.t = ops.convert_to_tensor(sinusoidal_positions(max_length, d_model))\n")),
        ("scaled_position_too", fixed("        return (self.token_embedding(ids) + self.t[: ops.shape(ids)[1]]) * self.d_model**0.5", "        self.t = ops.convert_to_tensor(sinusoidal_positions(max_length, d_model))\n")),
        ("positions_trainable", fixed("        return self.token_embedding(ids) * self.d_model**0.5 + self.t[: ops.shape(ids)[1]]", "        self.t = self.add_weight(shape=(max_length, d_model))\n        self.t.assign(sinusoidal_positions(max_length, d_model))\n")),
        (None, fixed("        return self.token_embedding(ids) * self.d_model**0.5 + sinusoidal_positions(ops.shape(ids)[1], self.d_model)")),
    ],
    "is_permutation_equivariant": [
        ("one_entry_suffices", 'def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):\n    x = np.asarray(x)\n    a = np.asarray(fn(x[:, permutation])); b = np.asarray(fn(x))[:, permutation]\n    return bool(np.min(np.abs(a - b)) <= tolerance)'),
        ("permutation_ignored", 'def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):\n    x = np.asarray(x); permutation = np.arange(x.shape[1])[::-1]\n    a = np.asarray(fn(x[:, permutation])); b = np.asarray(fn(x))[:, permutation]\n    return bool(np.max(np.abs(a - b)) <= tolerance)'),
        ("no_absolute_value", 'def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):\n    x = np.asarray(x)\n    a = np.asarray(fn(x[:, permutation])); b = np.asarray(fn(x))[:, permutation]\n    return bool(np.max(a - b) <= tolerance)'),
        ("tests_invariance", "def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):\n    return bool(ops.max(ops.abs(fn(ops.take(x, permutation, axis=1)) - fn(x))) <= tolerance)"),
        ("always_no", "def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):\n    back = np.argsort(np.asarray(permutation))\n    return bool(ops.max(ops.abs(fn(ops.take(x, permutation, axis=1)) - ops.take(fn(x), back, axis=1))) <= tolerance)"),
        ("always_yes", "def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):\n    y = ops.take(fn(x), permutation, axis=1)\n    return bool(ops.max(ops.abs(y - ops.take(fn(x), permutation, axis=1))) <= tolerance)"),
        ("mean_difference", "def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):\n    return bool(ops.mean(ops.abs(fn(ops.take(x, permutation, axis=1)) - ops.take(fn(x), permutation, axis=1))) <= tolerance)"),
        ("tolerance_ignored", "def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):\n    return bool(ops.max(ops.abs(fn(ops.take(x, permutation, axis=1)) - ops.take(fn(x), permutation, axis=1))) <= 1e-5)"),
        ("first_sequence_only", "def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):\n    return bool(ops.max(ops.abs(fn(ops.take(x, permutation, axis=1)) - ops.take(fn(x), permutation, axis=1))[0]) <= tolerance)"),
        ("negated", "def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):\n    return bool(ops.max(ops.abs(fn(ops.take(x, permutation, axis=1)) - ops.take(fn(x), permutation, axis=1))) > tolerance)"),
        ("shuffles_sequences", "def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):\n    return np.allclose(fn(x[permutation]), fn(x)[permutation], atol=tolerance)"),
        ("shuffles_features", "def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):\n    return np.allclose(fn(x[..., permutation]), fn(x)[..., permutation], atol=tolerance)"),
        (None, "def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):\n    return float(ops.max(ops.abs(fn(ops.take(x, permutation, axis=1)) - ops.take(fn(x), permutation, axis=1))))"),
    ],
    "rotary": [
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
    ],
    "find_the_bug": [
        (
            "positions_added_up",
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
    ],
    "predict": [("thought_half", "predict = 16"), ("fast_pairs_counted", "predict = 21"), ("thought_all_slow", "predict = 32"), ("", "predict = 6")],
}  # fmt: skip
