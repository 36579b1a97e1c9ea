"""Lab 05, exercise `predict`: solutions as different students write them, right and wrong."""

CORRECT = ["predict = 11", "predict = 10", "predict = 12.0", "predict = np.int64(11)", "predict = 32 * (1 - 0.63)"]

WRONG = [("thought_half", "predict = 16"), ("fast_pairs_counted", "predict = 21"), ("thought_all_slow", "predict = 32"), ("", "predict = 6"),
    ("fast_pairs_counted", "predict = 19"),
]  # fmt: skip
