"""Lab 06, exercise `answers`: solutions as different students write them, right and wrong."""

CORRECT = [
    """
answers = {"first_word": 197, "longer": 670537, "measures": [0.79, 0.75], "report": "c"}
""",
    """
answers = {"first_word": 197.0, "longer": 670_537.0, "measures": (0.789, 0.75), "report": "C"}
""",
    """
answers = {"first_word": 200 - 3, "longer": 657_737 + 400 * 32, "measures": np.array([30 / 38, 30 / 40]), "report": "c "}
""",
    """
answers = dict(first_word=tf.constant(197), longer=670537, report="c")
answers["measures"] = tf.constant([0.79, 0.75])
""",
    """
answers = { "report": "c", "first_word": [197][0], "longer": int("670537"),
           "measures": [0.7895, 0.75], "note": "done"}
""",
]

WRONG = [
    ("padding_thought_behind", "answers['first_word'] = 0"),
    ("length_thought_free", "answers['longer'] = 657_737"),
    ("hand_measures_swapped", "answers['measures'] = [0.75, 0.79]"),
    ("hand_negative_class", "answers['measures'] = (0.84, 0.87)"),
    ("hand_one_decimal", "answers['measures'] = [0.8, 0.8]"),
    ("only_what_is_added", "answers['longer'] = 12_800"),
    ("hand_percent", "answers['measures'] = [78.95, 75]"),
    ("hand_accuracy_first", "answers['measures'] = [0.82, 0.75]"),
    ("kept_epoch_reported", "answers['report'] = 'b'"),
]
