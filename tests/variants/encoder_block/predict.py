"""Lab 04, exercise `predict`: solutions as different students write them, right and wrong."""

CORRECT = ["predict = 5", "predict = 5.0", "predict = 24**0.5", "predict = np.sqrt(25)", "predict = 4.9"]

WRONG = [
    ("deviations_added", "predict = 25"),
    ("sublayers_counted", "predict = 24"),
    ("kept_at_one", "predict = 1"),
    ("", "predict = 12"),
]
