"""Lab 03, exercise `predict`: solutions as different students write them, right and wrong."""

CORRECT = ["predict = 0.625", "predict = 5 / 8", "predict = 0.63", "predict = np.float64(0.61)", "predict = (1 + 1 + 0.25 + 0.25) / 4"]  # fmt: skip

WRONG = [("share_of_the_cache", "predict = 0.25"), ("keys_and_values_gone", "predict = 0.5"), ("nothing_saved", "predict = 1"), ("", "predict = 0.8"), ("in_percent", "predict = 62.5"), ("one_narrowed", "predict = 0.81")]  # fmt: skip
