"""Lab 02, exercise `answers`: solutions as different students write them, right and wrong."""

CORRECT = [
    "answers = {'key_row': [10, 19, 8], 'scaled_scores': (21, 20), 'weights': [0.73, 0.27]}",
    "answers = {'key_row': np.array([10, 19, 8]), 'scaled_scores': [126 / 6, 120 / 6], 'weights': [0.7311, 0.2689]}",
    "answers['key_row'] = tf.constant([10.0, 19.0, 8.0])\nanswers['scaled_scores'] = [21.0, 20.0]",
    "answers = dict(key_row=(10, 19, 8), scaled_scores=[21, 20], weights=np.float32([0.731, 0.269]))",
    "answers = {'key_row': '10 19 8', 'scaled_scores': '[21, 20]', 'weights': '0.73; 0.27'}",
    "import math\ne = math.e\nanswers.update(weights=[e / (1 + e), 1 / (1 + e)])",
]

WRONG = [
    ("hand_unscaled", "answers['scaled_scores'] = [126, 120]\nanswers['weights'] = [1.0, 0.0]"),
    ("hand_scaled_by_d", "answers['scaled_scores'] = [3.5, 3.33]\nanswers['weights'] = [0.54, 0.46]"),
    ("hand_key_with_w_q", "answers['key_row'] = [39, 24, 38]"),
    (
        "",
        """
answers = {"key_row": [6, 5, 4], "scaled_scores": [21, 20], "weights": [0.73, 0.27]}
""",
    ),
    (
        "hand_scaled_by_d",
        """
answers = {"key_row": [10, 19, 8], "scaled_scores": [3.5, 3.33], "weights": [0.54, 0.46]}
""",
    ),
    (
        "hand_one_decimal",
        """
answers = {"key_row": [10, 19, 8], "scaled_scores": [21, 20], "weights": [0.7, 0.3]}
""",
    ),
    (
        "hand_shares_of_scores",
        """
answers = {"key_row": [13, 10, 8], "scaled_scores": [21, 20], "weights": [0.51, 0.49]}
""",
    ),
    (
        "hand_weights_swapped",
        """
answers = {"key_row": [3, 5, 5], "scaled_scores": [21, 20], "weights": [0.27, 0.73]}
""",
    ),
    # each answer is named alone, whatever the others are
    (
        "hand_scaled_by_d",
        "answers['key_row'] = [13, 10, 8]\nanswers['scaled_scores'] = [3.5, 3.33]\nanswers['weights'] = [0.54, 0.46]",
    ),
]
