"""Lab 07, exercise `predict`: solutions as different students write them, right and wrong."""

CORRECT = [
    "predict = 1.386",
    "predict = 1.5",
    "predict = [1.4]",
    "predict = np.log(4)",
    "predict = tf.constant(1.6)",
]

WRONG = [
    ("errors_or_two_classes", "predict = 0.75"),
    ("errors_or_two_classes", "predict = 0.69"),
    ("loss_in_bits", "predict = 2"),
    ("already_trained", "predict = 0.45"),
    ("already_trained", "predict = 0.3"),
    ("already_trained", "predict = 0"),
    ("errors_or_two_classes", "predict = 0.602"),
    ("", "predict = 1"),
]
