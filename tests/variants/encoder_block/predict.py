"""Lab 04, exercise `predict`: solutions as different students write them, right and wrong."""

CORRECT = ["predict = 7", "predict = 7.0", "predict = (25 + 8 * 3) ** 0.5", "predict = np.sqrt(49)", "predict = 6.95"]

WRONG = [
    ("as_if_independent", "predict = 6.4"),
    ("covariance_once", "predict = 6.71"),
    ("tokens_left_out", "predict = 4.9"),
    ("tokens_not_squared", "predict = 5.4"),
    ("deviations_added", "predict = 21"),
    ("variance", "predict = 49"),
    ("", "predict = 12"),
    ("", "predict = 7.55"),
    (
        "one_sublayer_each",
        """
predict = 5.74
""",
    ),
]
