"""Lab 06, exercise `predict`: solutions as different students write them, right and wrong."""

CORRECT = [
    "predict = 5",
    "predict = 4.97",
    "predict = [5.03]",
    "predict = 100 * (0.8 * 0.2 / 64) ** 0.5",
    "predict = np.float32(5)",
]

WRONG = [
    ("not_in_points", "predict = 0.05"),
    ("not_in_points", "predict = 0.8 * 0.2 / 64"),
    ("root_missing", "predict = 80 * 20 / 64"),
    ("number_of_reviews", "predict = (64 * 0.8 * 0.2) ** 0.5"),
    ("two_deviations", "predict = 9.8"),
    ("one_coin", "predict = 40"),
    ("", "predict = 100 * 0.8 * 0.2 / 64"),
    ("", "predict = 10"),
    ("fair_coin", "predict = 100 * (0.5 * 0.5 / 64) ** 0.5"),
    ("", "predict = 100 * (0.2 / 64) ** 0.5"),
    ("", "predict = 100 * (0.8 * 0.2) ** 0.5 / 64"),
    ("", "predict = 1"),
    ("", "predict = 20"),
]
