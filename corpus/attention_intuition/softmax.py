"""Lab 01, exercise `softmax`: solutions as different students write them, right and wrong."""

CORRECT = [
    # NumPy
    """
def softmax(x, axis=-1):
    x = np.asarray(x)
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)
""",
    # TensorFlow
    """
def softmax(x, axis=-1):
    x = tf.convert_to_tensor(x)
    shifted = x - tf.reduce_max(x, axis=axis, keepdims=True)
    return tf.exp(shifted) / tf.reduce_sum(tf.exp(shifted), axis=axis, keepdims=True)
""",
    # log-sum-exp
    """
def softmax(x, axis=-1):
    x = ops.convert_to_tensor(x)
    return ops.exp(x - ops.logsumexp(x, axis=axis, keepdims=True))
""",
    # the axis moved to the end, slices one by one
    """
import math
def softmax(x, axis=-1):
    original = np.asarray(x)
    moved = np.moveaxis(original, axis, -1)
    result = np.zeros(moved.shape)
    for index in np.ndindex(moved.shape[:-1]):
        row = [float(value) for value in moved[index]]
        top = max(row)
        powers = [math.exp(value - top) for value in row]
        result[index] = [power / sum(powers) for power in powers]
    return np.moveaxis(result, -1, axis).astype(original.dtype)
""",
    # np.apply_along_axis with a helper, double precision inside
    """
def one_row(row):
    row = row.astype("float64") - row.max()
    return np.exp(row) / np.exp(row).sum()

def softmax(x, axis=-1):
    return np.apply_along_axis(one_row, axis, np.asarray(x)).astype(np.asarray(x).dtype)
""",
    # subtracting a bound that is not the largest entry but large enough
    """
def softmax(x, axis=-1):
    x = np.array(x)
    x -= x.max(axis, keepdims=True) + 1
    powers = np.exp(x)
    powers /= powers.sum(axis, keepdims=True)
    return powers
""",
]

WRONG = [
    ("unstable_softmax", "def softmax(x, axis=-1):\n    e = np.exp(np.asarray(x))\n    return e / e.sum(axis=axis, keepdims=True)"),
    ("last_axis_only", "def softmax(x, axis=-1):\n    x = np.asarray(x)\n    e = np.exp(x - x.max(-1, keepdims=True))\n    return e / e.sum(-1, keepdims=True)"),
    ("global_maximum", "def softmax(x, axis=-1):\n    x = np.asarray(x)\n    e = np.exp(x - np.max(x))\n    return e / e.sum(axis=axis, keepdims=True)"),
    ("softmax_over_everything", "def softmax(x, axis=-1):\n    x = np.asarray(x)\n    e = np.exp(x - np.max(x))\n    return e / np.sum(e)"),
    (None, "def softmax(x, axis=-1):\n    return ops.softmax(x, axis=axis)"),
    (None, "def softmax(x, axis=-1):\n    return tf.nn.softmax(x, axis=axis)"),
    (None, "from scipy.special import softmax"),
    (None, "def softmax(x, axis=-1):\n    x = np.asarray(x)\n    e = np.exp(x - x.max(axis=axis))\n    return e / e.sum(axis=axis)"),
    ("smallest_subtracted", "def softmax(x, axis=-1):\n    e = ops.exp(x - ops.min(x, axis=axis, keepdims=True))\n    return e / ops.sum(e, axis=axis, keepdims=True)"),
    ("divided_by_largest", "def softmax(x, axis=-1):\n    x = np.asarray(x)\n    e = np.exp(x / x.max(axis=axis, keepdims=True))\n    return e / e.sum(axis=axis, keepdims=True)"),
    ("logarithms", "def softmax(x, axis=-1):\n    x = np.asarray(x)\n    x = x - x.max(axis=axis, keepdims=True)\n    return x - np.log(np.exp(x).sum(axis=axis, keepdims=True))"),
    ("sigmoids", "def softmax(x, axis=-1):\n    return ops.sigmoid(ops.convert_to_tensor(x))"),
    ("sum_of_everything", 'def softmax(x, axis=-1):\n    x = ops.convert_to_tensor(x)\n    e = ops.exp(x - ops.max(x, axis=axis, keepdims=True))\n    return e / ops.sum(e)'),
    ("no_exponential", 'def softmax(x, axis=-1):\n    x = ops.convert_to_tensor(x)\n    e = x\n    return e / ops.sum(e, axis=axis, keepdims=True)'),
    ("", """
def softmax(x, axis=-1):
    x = ops.convert_to_tensor(x)
    e = ops.exp(x - ops.max(x, axis=axis, keepdims=True))
    return e / ops.sum(e, axis=axis)
"""),
    ("", """
def softmax(x, axis=-1):
    x = np.asarray(x, dtype="float64")
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
"""),
    ("", """
def softmax(x, axis=-1):
    x = np.asarray(x)
    powers = np.exp(x - np.abs(x).max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)
"""),
]  # fmt: skip
