"""Lab 01, exercise `answers`: solutions as different students write them, right and wrong."""

CORRECT = [
    "answers = {'pooling_weights': [0.88, 0.12], 'pooling_output': 10.24, 'weights_shape': (7, 11), 'learnable': [0, 1, 1, 1, 0, 0], 'additive_parameters': 63, 'hard_attention': 'c'}",
    "answers.update(pooling_weights=np.array([0.8808, 0.1192]), learnable=[False, True, True, True, False, False], hard_attention='C ')",
    "answers = dict(answers, pooling_output=10.24, weights_shape=[7, 11], additive_parameters=63.0)",
    "answers['pooling_weights'] = tf.constant([0.881, 0.119])\nanswers['pooling_output'] = np.float32(10.238)",
    "e = 1 / (1 + np.exp(-2))\nanswers['pooling_weights'] = (e, 1 - e)\nanswers['pooling_output'] = 10 * e + 12 * (1 - e)\nanswers['additive_parameters'] = 7 * (3 + 5 + 1)",
]

WRONG = [
    ("hand_without_2", "answers.update(pooling_weights=[0.98, 0.02], pooling_output=10.04)"),
    ("hand_not_normalised", "answers.update(pooling_weights=[1, 0.14], pooling_output=11.62)"),
    ("scaled_dot_thought_learnable", "answers['learnable'] = [0, 1, 1, 1, 0, 1]"),
    ("v_forgotten", "answers['additive_parameters'] = 56"),
    ("axes_swapped", "answers['weights_shape'] = [11, 7]"),
    ("hard_thought_slow", "answers['hard_attention'] = 'a'"),
]
