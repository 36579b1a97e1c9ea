"""Lab 08, exercise `padding_mask`: solutions as different students write them, right and wrong."""

CORRECT = [
    "def padding_mask(ids, pad_id=0):\n    return (np.asarray(ids) != pad_id)[:, np.newaxis, :]",
    "def padding_mask(ids, pad_id=0):\n    return tf.math.not_equal(ids, pad_id)[:, tf.newaxis]",
    "def padding_mask(ids, pad_id=0):\n    return ops.expand_dims(ops.logical_not(ops.equal(ids, pad_id)), axis=1)",
    "def padding_mask(ids, pad_id=0):\n    ids = np.array(ids)\n    return np.where(ids == pad_id, 0, 1).reshape(len(ids), 1, -1)",
    "def padding_mask(ids, pad_id=0):\n    return [[[int(i) != pad_id for i in row]] for row in np.asarray(ids)]",
    "def padding_mask(ids, pad_id=0):\n    return tf.expand_dims(tf.cast(tf.not_equal(ids, tf.cast(pad_id, tf.convert_to_tensor(ids).dtype)), 'float32'), -2)",
]

WRONG = [
    ("true_means_padding", "def padding_mask(ids, pad_id=0):\n    return ops.equal(ids, pad_id)[:, None, :]"),
    ("no_query_axis", "def padding_mask(ids, pad_id=0):\n    return ops.not_equal(ids, pad_id)"),
    ("axis_last", "def padding_mask(ids, pad_id=0):\n    return ops.not_equal(ids, pad_id)[..., None]"),
    ("head_axis", "def padding_mask(ids, pad_id=0):\n    return ops.not_equal(ids, pad_id)[:, None, None, :]"),
    ("pad_id_ignored", "def padding_mask(ids, pad_id=0):\n    return ops.not_equal(ids, 0)[:, None]"),
    ("pad_id_ignored", "def padding_mask(ids, pad_id=0):\n    return tf.cast(ids, tf.bool)[:, None]"),
    ("larger_than_pad", "def padding_mask(ids, pad_id=0):\n    return (np.asarray(ids) > pad_id)[:, None]"),
    (
        "queries_masked_too",
        "def padding_mask(ids, pad_id=0):\n    m = np.asarray(ids) != pad_id\n    return m[:, None] & m[:, :, None]",
    ),
    (
        "by_length",
        "def padding_mask(ids, pad_id=0):\n    ids = np.asarray(ids)\n    lengths = (ids != pad_id).sum(axis=1)\n"
        "    return (np.arange(ids.shape[1]) < lengths[:, None])[:, None, :]",
    ),
    (None, "def padding_mask(ids, pad_id=0):\n    return -1e9 * (np.asarray(ids) == pad_id)[:, None]"),
]
