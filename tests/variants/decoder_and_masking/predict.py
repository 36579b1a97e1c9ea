"""Lab 08, exercise `predict`: solutions as different students write them, right and wrong."""

CORRECT = [
    "predict = 0.547",
    "predict = 0.5",
    "predict = [0.58]",
    "predict = np.float32(0.55)",
    "predict = tf.constant(0.56)",
]

WRONG = [
    ("no_smoothing", "predict = 0"),
    ("right_word_alone", "predict = 0.1"),
    ("untrained", "predict = np.log(14)"),
    ("in_bits", "predict = 0.79"),
    ("two_outcomes", "predict = 0.325"),
    ("", "predict = 0.1 * np.log(14) - 0.03"),
    ("", "predict = 1"),
    ("", "predict = [0.5, 0.6]"),
]
