"""Lab 08, exercise `shift_right`: solutions as different students write them, right and wrong."""

CORRECT = [
    """
def shift_right(ids, start_id):
    ids = np.array(ids)
    shifted = np.roll(ids, 1, axis=1)
    shifted[:, 0] = start_id
    return shifted
""",
    "def shift_right(ids, start_id):\n    return tf.pad(ids, [[0, 0], [1, 0]], constant_values=start_id)[:, :-1]",
    "def shift_right(ids, start_id):\n    ids = np.asarray(ids)\n    return np.hstack([np.full((len(ids), 1), start_id), ids[:, :-1]])",
    "def shift_right(ids, start_id):\n    return [[start_id, *row[:-1]] for row in np.asarray(ids).tolist()]",
    """
def shift_right(ids, start_id):
    ids = tf.convert_to_tensor(ids)
    start = tf.fill([tf.shape(ids)[0], 1], tf.cast(start_id, ids.dtype))
    return tf.concat([start, ids[:, :-1]], axis=-1)
""",
    "def shift_right(ids, start_id):\n    return np.insert(np.asarray(ids), 0, start_id, axis=1)[:, : np.shape(ids)[1]]",
]

WRONG = [
    ("last_token_kept", "def shift_right(ids, start_id):\n    return np.insert(ids, 0, start_id, axis=1)"),
    (
        "shifted_left",
        "def shift_right(ids, start_id):\n    ids = np.roll(ids, -1, axis=1)\n    ids[:, -1] = start_id\n    return ids",
    ),
    ("rolled", "def shift_right(ids, start_id):\n    return np.roll(ids, 1, axis=1)"),
    ("rolled_over_sentences", "def shift_right(ids, start_id):\n    return np.roll(ids, 1)"),
    (
        "first_token_replaced",
        "def shift_right(ids, start_id):\n    ids = np.array(ids)\n    ids[:, 0] = start_id\n    return ids",
    ),
    ("start_is_zero", "def shift_right(ids, start_id):\n    return tf.pad(ids, [[0, 0], [1, 0]])[:, :-1]"),
    ("start_missing", "def shift_right(ids, start_id):\n    return np.asarray(ids)[:, :-1]"),
    (
        "shifted_down",
        "def shift_right(ids, start_id):\n    return np.insert(np.asarray(ids)[:-1], 0, start_id, axis=0)",
    ),
    # overwrites while it reads: the first token everywhere
    (
        None,
        "def shift_right(ids, start_id):\n    ids = np.array(ids)\n    for t in range(1, ids.shape[1]):\n"
        "        ids[:, t] = ids[:, t - 1]\n    ids[:, 0] = start_id\n    return ids",
    ),
]
