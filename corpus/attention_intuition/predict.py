"""Lab 01, exercise `predict`: solutions as different students write them, right and wrong."""

CORRECT = ["predict = 18", "predict = 17.7", "predict = 35 / 2", "predict = np.float32(17)", "predict = 20"]

WRONG = [("thought_quartered", "predict = 9"), ("thought_doubled", "predict = 70"), ("thought_unchanged", "predict = 35"), ("thought_a_length", "predict = 1.77"), ("thought_fourfold", "predict = 140"), ("", "predict = 201"),
    ("thought_quartered", "predict = 11"),
]  # fmt: skip
