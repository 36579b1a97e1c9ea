"""Lab 10, exercise `next_token_windows`: solutions as different students write them, right and wrong."""

from corpus.language_model.shared import edited

PLAIN = """
def next_token_windows(documents, end_id, length, starts):
    stream = []
    for document in documents:
        stream.extend(document)
        stream.append(end_id)
    stream = np.array(stream)
    x, y = [], []
    for start in starts:
        if start > len(stream) - length - 1:
            raise ValueError("too late: " + str(start))
        x.append(stream[start:start + length])
        y.append(stream[start + 1:start + 1 + length])
    return np.array(x), np.array(y)
"""

CORRECT = [
    PLAIN,
    edited(PLAIN, ("return np.array(x), np.array(y)", "return ops.stack(x), ops.stack(y)")),
    edited(PLAIN, ("return np.array(x), np.array(y)", "return tf.constant(np.array(x)), tf.constant(np.array(y))")),
    edited(PLAIN, ("return np.array(x), np.array(y)", "return [[int(n) for n in row] for row in x], [list(map(int, row)) for row in y]")),
    # one table of positions
    """
def next_token_windows(documents, end_id, length, starts):
    stream = np.concatenate([np.append(document, end_id) for document in documents]).astype("int32")
    starts = np.asarray(starts)
    if np.any(starts > len(stream) - length - 1):
        raise ValueError(f"{starts} in {len(stream)} tokens")
    rows = stream[starts[:, None] + np.arange(length + 1)[None]]
    return rows[:, :-1], rows[:, 1:]
""",
    # views
    """
def next_token_windows(documents, end_id, length, starts):
    stream = np.array(sum(([*document, end_id] for document in documents), []))
    views = np.lib.stride_tricks.sliding_window_view(stream, length + 1)
    if max(starts) >= len(views):
        raise ValueError("beyond the stream")
    return views[starts][:, :length], views[starts][:, 1:]
""",
    # tensors and an assertion turned into a ValueError
    """
def next_token_windows(documents, end_id, length, starts):
    stream = tf.concat([list(document) + [end_id] for document in documents], axis=0)
    try:
        assert int(max(starts)) + length < stream.shape[0]
    except AssertionError as error:
        raise ValueError("start too large") from error
    places = tf.constant(starts)[:, None] + tf.range(length, dtype="int64")
    return tf.gather(stream, places), tf.gather(stream, places + 1)
""",
    # the shift by roll
    """
def next_token_windows(documents, end_id, length, starts):
    stream = np.fromiter((n for d in documents for n in list(d) + [end_id]), dtype="int64")
    if (starts + length > len(stream) - 1).any():
        raise ValueError
    places = np.add.outer(starts, np.arange(length))
    return stream[places], np.roll(stream, -1)[places]
""",
]  # fmt: skip

CHECK = '        if start > len(stream) - length - 1:\n            raise ValueError("too late: " + str(start))\n'
WRONG = [
    ("y_is_x", edited(PLAIN, ("stream[start + 1:start + 1 + length]", "stream[start:start + length]"))),
    # the documents grow
    ("", edited(PLAIN, ("        stream.extend(document)\n        stream.append(end_id)\n", "        document.append(end_id)\n        stream.extend(document)\n"))),
    ("no_end", edited(PLAIN, ("        stream.append(end_id)\n", ""))),
    ("end_first", edited(PLAIN, ("        stream.extend(document)\n        stream.append(end_id)\n", "        stream.append(end_id)\n        stream.extend(document)\n"))),
    ("cut_at_documents", edited(PLAIN, ("    return np.array(x), np.array(y)", "    x, y = np.array(x), np.array(y)\n    for rows in (x, y):\n        for row in rows:\n            ends = np.flatnonzero(row == end_id)\n            if len(ends):\n                row[ends[0]:] = end_id\n    return x, y"))),
    ("too_late_accepted", edited(PLAIN, (CHECK, ""), ("return np.array(x), np.array(y)", "return x, y"))),
    # only the last start is looked at
    ("too_late_accepted", edited(PLAIN, (CHECK, ""), ("    x, y = [], []\n", "    x, y = [], []\n    if starts[-1] > len(stream) - length - 1:\n        raise ValueError(f'too late: {starts[-1]}')\n"), ("return np.array(x), np.array(y)", "return x, y"))),
    ("", edited(PLAIN, (CHECK, ""))),
    ("", edited(PLAIN, ("raise ValueError(", "raise IndexError("))),
    ("", edited(PLAIN, ("raise ValueError(", "print("))),
    ("", edited(PLAIN, ("len(stream) - length - 1", "len(stream) - length"))),
    ("", edited(PLAIN, ("len(stream) - length - 1", "len(stream) - length - 2"))),
    ("", edited(PLAIN, ("len(stream) - length - 1", "len(stream)"))),
    ("", edited(PLAIN, ("start + 1:start + 1 + length", "start + 2:start + 2 + length"))),
    ("exchanged", edited(PLAIN, ("return np.array(x), np.array(y)", "return np.array(y), np.array(x)"))),
    ("", edited(PLAIN, ("return np.array(x), np.array(y)", "return np.array(x)"))),
    ("", edited(PLAIN, ("return np.array(x), np.array(y)", "return np.concatenate(x), np.concatenate(y)"))),
    ("", edited(PLAIN, ("return np.array(x), np.array(y)", "return np.array(x).T, np.array(y).T"))),
    ("", edited(PLAIN, ("start:start + length", "start:start + length + 1"), ("start + 1:start + 1 + length", "start + 1:start + length + 2"))),
    ("", edited(PLAIN, ("start:start + length", "start:start + length - 1"), ("start + 1:start + 1 + length", "start + 1:start + length"))),
    ("", edited(PLAIN, ("start + 1:start + 1 + length", "start - 1:start - 1 + length"))),
    ("", edited(PLAIN, ("stream[start + 1:start + 1 + length]", "stream[np.arange(start - 1, start - 1 + length)]"))),
    ("", edited(PLAIN, ("x.append(stream[start:start + length])", "x.append(stream[start * length:start * length + length])"))),
    ("", edited(PLAIN, ("for start in starts:", "for start in sorted(starts):"))),
    ("", edited(PLAIN, ("for start in starts:", "for start in starts[:1]:"))),
    ("", edited(PLAIN, ("for start in starts:", "for start in range(len(starts)):"))),
    ("", edited(PLAIN, ("stream.append(end_id)", "stream.append(0)"))),
    ("", edited(PLAIN, ("    stream = np.array(stream)\n", "    stream = np.array(stream[:-1])\n"))),
    ("end_before_all", edited(PLAIN, ("    stream = np.array(stream)\n", "    stream = np.array([end_id] + stream)\n"))),
    ("", edited(PLAIN, ("y.append(stream[start + 1:start + 1 + length])", "y.append(stream[start + length])"))),
    ("", edited(PLAIN, ("y.append(stream[start + 1:start + 1 + length])", "y.append(np.append(stream[start + 1:start + length], end_id))"))),
    ("", edited(PLAIN, ("stream.extend(document)", "stream.extend(document[:length])"))),
    ("", edited(PLAIN, ("    return np.array(x), np.array(y)\n", ""))),
    ("", edited(PLAIN, ("        y.append(stream[start + 1:start + 1 + length])\n", "        y.append(np.where(x[-1] == end_id, end_id, stream[start + 1:start + 1 + length]))\n"))),
]  # fmt: skip
