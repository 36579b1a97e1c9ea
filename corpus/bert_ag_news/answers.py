"""Lab 07, exercise `answers`: solutions as different students write them, right and wrong."""

CORRECT = [
    'answers = {"masked": 12, "decision": "b", "keras": "c"}',
    'answers = {"masked": 100 * 0.15 * 0.8, "decision": "B", "keras": "C"}',
    'answers = dict(masked=12.0, decision=" b", keras="c ")',
    'answers = {"masked": np.float32(12), "decision": "b", "keras": "c"}',
    'answers = {"keras": "c", "decision": "b", "masked": tf.constant(12)}',
]

WRONG = [
    ("chosen_counted", "answers['masked'] = 15"),
    ("training_decides", "answers['decision'] = 'c'"),
    ("keras_for_speed", "answers['keras'] = 'a'"),
]
