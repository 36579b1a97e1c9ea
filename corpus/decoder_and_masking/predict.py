"""Lab 08, exercise `predict`: solutions as different students write them, right and wrong."""

CORRECT = [
    "predict = 0.547",
    "predict = 0.54",
    "predict = [0.56]",
    "predict = np.float32(0.55)",
    "predict = tf.constant(0.5472)",
]

WRONG = [
    ("no_smoothing", "predict = 0"),
    ("right_word_alone", "predict = 0.1"),
    ("untrained", "predict = np.log(14)"),
    ("in_bits", "predict = 0.79"),
    ("two_outcomes", "predict = 0.325"),
    ("", "predict = 0.1 * np.log(14) - 0.03"),
    ("own_share_missing", "predict = 0.581"),
    ("own_share_missing", "predict = -(0.9 + 0.1 / 14) * np.log(0.9 + 0.1 / 14) - 0.1 * np.log(0.1 / 14)"),
    ("own_share_missing", "predict = -0.9 * np.log(0.9) - 0.1 * np.log(0.1 / 14)"),
    ("", "predict = 0.5"),
    ("", "predict = 0.6155"),
    ("", "predict = 1"),
    ("", "predict = [0.5, 0.6]"),
]
