"""Lab 02, exercise `answers`: solutions as different students write them, right and wrong."""

CORRECT = [
    "answers = {'key_row': [10, 19, 8], 'scaled_scores': (21, 20), 'weights': [0.73, 0.27], 'without_scaling': 'b'}",
    "answers = {'key_row': np.array([10, 19, 8]), 'scaled_scores': [126 / 6, 120 / 6], 'weights': [0.7311, 0.2689], 'without_scaling': 'B'}",
    "answers['key_row'] = tf.constant([10.0, 19.0, 8.0])\nanswers['scaled_scores'] = [21.0, 20.0]",
    "answers = dict(key_row=(10, 19, 8), scaled_scores=[21, 20], weights=np.float32([0.731, 0.269]), without_scaling=' b ')",
    "import math\ne = math.e\nanswers.update(weights=[e / (1 + e), 1 / (1 + e)], without_scaling='b')",
]

WRONG = [
    ("hand_unscaled", "answers['scaled_scores'] = [126, 120]\nanswers['weights'] = [1.0, 0.0]"),
    ("scaling_thought_flatter", "answers['without_scaling'] = 'a'"),
]
