"""Lab 08b, exercise `predict`: solutions as different students write them, right and wrong."""

CORRECT = [
    "predict = 0.54",
    "predict = 0.95**12",
    "predict = np.float64(0.55)",
    "predict = [0.53]",
    "predict = tf.constant(0.55)",
]

WRONG = [
    ("as_for_one_token", "predict = 0.95"),
    ("errors_added", "predict = 1 - 12 * 0.05"),
    ("with_an_error", "predict = 1 - 0.95**12"),
    ("errors_expected", "predict = 0.6"),
    ("thirteen_tokens", "predict = 0.5"),
    ("thirteen_tokens", "predict = 0.95**13"),
    ("eleven_tokens", "predict = 0.95**11"),
    ("", "predict = 12 * 0.95"),
    ("", "predict = 54"),
    ("", "predict = 1"),
]
