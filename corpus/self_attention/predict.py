"""Lab 02, exercise `predict`: solutions as different students write them, right and wrong."""

CORRECT = ["predict = 4", "predict = 4.0", "predict = ' 4 '", "predict = 3.8", "predict = np.float32(4.2)", "predict = 2 * 2 * 10 / 100**0.5"]  # fmt: skip

WRONG = [("thought_one", "predict = 1"), ("unscaled", "predict = 40.0"), ("variance", "predict = 16"), ("", "predict = 5"), ("", "predict = 'four'"), ("thought_one", "predict = '1'")]  # fmt: skip
