"""Lab 05, exercise `design`: solutions as different students write them, right and wrong."""


def chosen(*slopes: object) -> str:
    return f"def design():\n    return dict(slopes=[{', '.join(map(str, slopes))}])\n"


CORRECT = [
    chosen(0.5, 0.1, 0.02, 0.004),
    chosen(0.004, 0.02, 0.1, 0.5),
    chosen(0.4, 0.2, 0.1, 0.003),
    chosen(0.8, 0.02, 0.01, 0.005),
    chosen("1 / 2", "1 / 16", "1 / 64", "1 / 256"),
    "def design():\n    return {'slopes': np.geomspace(0.4, 0.004, 4), 'heads': 4}\n",
    "def design():\n    return {'slopes': tuple(2.0 ** -np.array([1, 3, 6, 8]))}\n",
    "def design():\n    return {'slopes': tf.constant([0.6, 0.06, 0.02, 0.0035])}\n",
]

WRONG = [
    ("near_too_flat", chosen("1 / 4", "1 / 16", "1 / 64", "1 / 256")),  # the usual slopes of four heads
    ("near_too_flat", chosen(0.37, 0.1, 0.02, 0.004)),
    ("far_too_steep", chosen(0.5, 0.25, 0.125, 0.0625)),
    ("far_too_steep", chosen(0.5, 0.1, 0.02, 0.007)),
    ("far_too_flat", chosen(0.5, 0.1, 0.02, 0.001)),
    ("near_too_steep", chosen(1, 0.1, 0.02, 0.004)),
    ("sign", chosen(0.5, 0.1, 0.02, 0)),
    ("sign", chosen(-0.5, -0.1, -0.02, -0.004)),
    ("too_close", chosen(0.5, 0.3, 0.02, 0.004)),
    ("too_close", chosen(0.5, 0.5, 0.004, 0.004)),
    ("", chosen(1, 0.1, 0.02, 0.1)),
    ("", chosen(0.5, 0.1, 0.004)),
    ("", chosen(0.5, 0.1, 0.02, 0.01, 0.004)),
    ("", chosen("float('nan')", 0.1, 0.02, 0.004)),
    ("", chosen("'0.5'", 0.1, 0.02, 0.004)),
    ("", chosen("None", 0.1, 0.02, 0.004)),
    ("", "def design():\n    return [0.5, 0.1, 0.02, 0.004]\n"),
    ("", "def design():\n    return {'slope': [0.5, 0.1, 0.02, 0.004]}\n"),
    ("", "def design():\n    return {'slopes': 0.5}\n"),
    ("", "def design():\n    pass\n"),
]
