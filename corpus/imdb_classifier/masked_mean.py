"""Lab 06, exercise `masked_mean`: solutions as different students write them, right and wrong."""

CORRECT = [
    # a division that knows 0/0
    """
def masked_mean(x, ids):
    x = ops.convert_to_tensor(x)
    w = ops.cast(ops.not_equal(ids, 0), x.dtype)[..., None]
    return ops.divide_no_nan(ops.sum(x * w, axis=1), ops.sum(w, axis=1))
""",
    # a mean of everything, scaled up
    """
def masked_mean(x, ids):
    x = ops.convert_to_tensor(x)
    mask = ops.cast(ops.sign(ops.absolute(ids)), x.dtype)[:, :, None]
    share = ops.mean(mask, axis=1)
    return ops.where(share > 0, ops.mean(x * mask, axis=1) / ops.where(share > 0, share, ops.ones_like(share)), 0)
""",
    # where, before and after
    """
def masked_mean(x, ids):
    x = ops.convert_to_tensor(x)
    mask = ops.expand_dims(ops.convert_to_tensor(ids) > 0, -1)
    kept = ops.where(mask, x, ops.zeros_like(x))
    count = ops.cast(ops.sum(ops.cast(mask, "int32"), axis=1), x.dtype)
    safe = ops.where(ops.equal(count, 0), ops.ones_like(count), count)
    return ops.sum(kept, axis=1) / safe
""",
    # a matrix product of one row
    """
def masked_mean(x, ids):
    x = ops.convert_to_tensor(x)
    real = ops.cast(ops.convert_to_tensor(ids) != 0, x.dtype)
    real = real / ops.maximum(ops.sum(real, axis=-1, keepdims=True), 1.0)
    return ops.squeeze(ops.matmul(real[:, None, :], x), axis=1)
""",
    # a layer of Keras around TensorFlow's functions: a keras.Input goes through a layer
    """
class MaskedMean(keras.Layer):
    def call(self, x, ids):
        words = tf.cast(tf.not_equal(ids, 0), x.dtype)
        return tf.math.divide_no_nan(tf.einsum("btd,bt->bd", x, words), tf.reduce_sum(words, axis=1, keepdims=True))

def masked_mean(x, ids):
    return MaskedMean(dtype=x.dtype, autocast=False)(x, ids)
""",
    # the ids clipped to 0 and 1
    """
def masked_mean(x, ids):
    x = ops.convert_to_tensor(x)
    mask = ops.cast(ops.clip(ops.convert_to_tensor(ids), 0, 1), x.dtype)
    total, count = ops.einsum("bt,btd->bd", mask, x), ops.einsum("bt->b", mask)
    return total / ops.cast(ops.maximum(count, ops.ones_like(count)), x.dtype)[:, None]
""",
]

WRONG = [
    (
        "",
        """
def masked_mean(x, ids):
    x = ops.convert_to_tensor(x)
    n = ops.sum(ops.cast(ops.not_equal(ids, 0), "int32"), axis=1)
    w = ops.cast(ops.arange(ops.shape(x)[1])[None] < n[:, None], x.dtype)[..., None]
    return ops.sum(x * w, axis=1) / ops.maximum(ops.sum(w, axis=1), 1)
""",
    ),
    (
        "",
        """
def masked_mean(x, ids):
    return keras.layers.GlobalAveragePooling1D()(x, mask=ops.not_equal(ids, 0))
""",
    ),
    (
        "",
        """
def masked_mean(x, ids):
    x = ops.convert_to_tensor(x)
    w = ops.cast(ops.not_equal(ids, 0), x.dtype)[..., None]
    return ops.sum(x * w, axis=1) / ops.maximum(ops.sum(w), 1)
""",
    ),
    (
        "",
        """
def masked_mean(x, ids):
    x = ops.convert_to_tensor(x)
    w = ops.cast(ops.any(x != 0, axis=-1), x.dtype)[..., None]
    return ops.sum(x * w, axis=1) / ops.maximum(ops.sum(w, axis=1), 1)
""",
    ),
    # right from two words on
    (
        "",
        """
def masked_mean(x, ids):
    x = ops.convert_to_tensor(x)
    w = ops.cast(ops.not_equal(ids, 0), x.dtype)[..., None]
    return ops.sum(x * w, axis=1) / ops.maximum(ops.sum(w, axis=1), 2)
""",
    ),
    ("padding_in_the_mean", "def masked_mean(x, ids):\n    return ops.mean(ops.convert_to_tensor(x), axis=1)\n"),
    (
        "divided_by_length",
        """
def masked_mean(x, ids):
    x = ops.convert_to_tensor(x)
    return ops.mean(x * ops.cast(ops.not_equal(ids, 0), x.dtype)[..., None], axis=1)
""",
    ),
    (
        "empty_row_nan",
        """
def masked_mean(x, ids):
    x = ops.convert_to_tensor(x)
    mask = ops.cast(ops.not_equal(ids, 0), x.dtype)[..., None]
    return ops.sum(x * mask, axis=1) / ops.sum(mask, axis=1)
""",
    ),
    (
        "empty_row_nan",
        """
def masked_mean(x, ids):
    return keras.layers.GlobalAveragePooling1D(dtype=x.dtype)(x, mask=ops.not_equal(ids, 0))
""",
    ),
    (
        "unknown_left_out",
        """
def masked_mean(x, ids):
    x = ops.convert_to_tensor(x)
    mask = ops.cast(ops.convert_to_tensor(ids) > 1, x.dtype)[..., None]
    return ops.sum(x * mask, axis=1) / ops.maximum(ops.sum(mask, axis=1), 1)
""",
    ),
    # right values, and a gradient that is not a number for the empty row: the trap of `where` around a division
    (
        None,
        """
def masked_mean(x, ids):
    x = ops.convert_to_tensor(x)
    mask = ops.cast(ops.not_equal(ids, 0), x.dtype)[..., None]
    count = ops.sum(mask, axis=1)
    mean = ops.sum(x * mask, axis=1) / count
    return ops.where(count > 0, mean, ops.zeros_like(mean))
""",
    ),
    # TensorFlow: right, but a keras.Input cannot go through it
    (
        None,
        """
def masked_mean(x, ids):
    x = tf.convert_to_tensor(x)
    weights = tf.cast(tf.not_equal(ids, 0), x.dtype)
    total = tf.einsum("btd,bt->bd", x, weights)
    return tf.math.divide_no_nan(total, tf.reduce_sum(weights, axis=1, keepdims=True))
""",
    ),
    # a mean of everything, scaled up
    (
        None,
        """
def masked_mean(x, ids):
    x = tf.convert_to_tensor(x)
    mask = tf.cast(tf.sign(tf.abs(ids)), x.dtype)[:, :, tf.newaxis]
    share = tf.reduce_mean(mask, axis=1)
    return tf.where(share > 0, tf.reduce_mean(x * mask, axis=1) / tf.where(share > 0, share, tf.ones_like(share)), 0)
""",
    ),
    # tf.math.unsorted sums: row by row with a loop over the graph
    (
        None,
        """
def masked_mean(x, ids):
    x, ids = tf.convert_to_tensor(x), tf.convert_to_tensor(ids)
    def one(pair):
        row, numbers = pair
        words = tf.boolean_mask(row, numbers != 0)
        size = tf.cast(tf.maximum(tf.shape(words)[0], 1), row.dtype)
        return tf.reduce_sum(words, axis=0) / size
    return tf.map_fn(one, (x, ids), fn_output_signature=x.dtype)
""",
    ),
    # on a keras.Input `==` compares the objects and is False: an empty row is 0/0 in the model
    (
        None,
        """
def masked_mean(x, ids):
    x = ops.convert_to_tensor(x)
    mask = ops.expand_dims(ops.convert_to_tensor(ids) > 0, -1)
    kept = ops.where(mask, x, ops.zeros_like(x))
    count = ops.cast(ops.sum(ops.cast(mask, "int32"), axis=1), x.dtype)
    safe = ops.where(count == 0, ops.ones_like(count), count)
    return ops.sum(kept, axis=1) / safe
""",
    ),
    # right values, in the float type that Keras would choose: float32 for float64
    (
        None,
        """
def masked_mean(x, ids):
    x = ops.cast(x, "float32")
    mask = ops.cast(ops.not_equal(ids, 0), "float32")[..., None]
    return ops.sum(x * mask, axis=1) / ops.maximum(ops.sum(mask, axis=1), 1)
""",
    ),
    # NumPy: right, but of no use inside a model
    (
        None,
        """
def masked_mean(x, ids):
    x, mask = np.asarray(x), (np.asarray(ids) != 0)[..., None]
    return ((x * mask).sum(axis=1) / np.maximum(mask.sum(axis=1), 1)).astype(x.dtype)
""",
    ),
    (
        "empty_row_nan",
        """
def masked_mean(x, ids):
    words = tf.ragged.boolean_mask(x, tf.not_equal(ids, 0))
    return tf.reduce_mean(words, axis=1)
""",
    ),
]
