"""Lab 04, exercise `predict`: solutions as different students write them, right and wrong."""

CORRECT = [
    "predict = 9",
    "predict = 9.0",
    "predict = (36 + 18 * 2.5) ** 0.5",
    "predict = np.sqrt(81)",
    "predict = 8.95",
]

WRONG = [
    ("as_if_independent", "predict = 8.5"),
    ("covariance_once", "predict = 8.75"),
    ("wrong_sign", "predict = 63**0.5"),
    ("wholly_correlated", "predict = 10.4"),
    ("tokens_left_out", "predict = 6.7"),
    ("tokens_not_squared", "predict = 7.1"),
    ("deviations_added", "predict = 42"),
    ("variance", "predict = 81"),
    ("", "predict = 12"),
    ("", "predict = 9.55"),
    ("one_sublayer_each", "predict = 7.35"),
]
