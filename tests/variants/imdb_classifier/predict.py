"""Lab 06, exercise `predict`: solutions as different students write them, right and wrong."""

CORRECT = [
    "predict = 1.99",
    "predict = 1.8",
    "predict = [2.2]",
    "predict = 100 * (0.73 * 0.27 / 500) ** 0.5",
    "predict = np.float32(2)",
]

WRONG = [
    ("as_a_share", "predict = 0.02"),
    ("number_of_reviews", "predict = 10"),
    ("two_deviations", "predict = 4"),
    ("one_coin", "predict = 44"),
    ("", "predict = 1"),
    ("", "predict = 27"),
]
