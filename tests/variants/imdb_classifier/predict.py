"""Lab 06, exercise `predict`: solutions as different students write them, right and wrong."""

CORRECT = [
    "predict = 5",
    "predict = 4.97",
    "predict = [5.03]",
    "predict = 100 * (0.8 * 0.2 / 64) ** 0.5",
    "predict = np.float32(5)",
]

WRONG = [
    ("as_a_share", "predict = 0.05"),
    ("variance_of_points", "predict = 80 * 20 / 64"),
    ("variance_of_the_share", "predict = 0.8 * 0.2 / 64"),
    ("variance_times_100", "predict = 100 * 0.8 * 0.2 / 64"),
    ("number_of_reviews", "predict = (64 * 0.8 * 0.2) ** 0.5"),
    ("two_deviations", "predict = 9.8"),
    ("twice_the_deviation", "predict = 10"),
    ("fair_coin", "predict = 100 * (0.5 * 0.5 / 64) ** 0.5"),
    ("not_of_both", "predict = 100 * (0.2 / 64) ** 0.5"),
    ("one_coin", "predict = 40"),
    ("divided_without_root", "predict = 100 * (0.8 * 0.2) ** 0.5 / 64"),
    ("", "predict = 1"),
    ("", "predict = 20"),
]
