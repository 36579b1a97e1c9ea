"""Lab 09, exercise `predict`: solutions as different students write them, right and wrong."""

CORRECT = [
    "predict = 0.125",
    "predict = 1 / 64**0.5",
    "predict = [0.13]",
    "predict = np.float32(0.12)",
    "predict = tf.constant(0.1)",
]

WRONG = [
    ("mean_in_its_place", "predict = 0"),
    ("length_of_a_row", "predict = 8"),
    ("by_hand", "predict = 0.5"),
    ("", "predict = 0.25"),
    ("", "predict = 1 / 128**0.5"),
    ("", "predict = 1"),
    ("mean_in_its_place", "predict = 1 / 64"),
]
