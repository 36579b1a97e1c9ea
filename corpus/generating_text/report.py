"""Lab 08b, exercise `report`: numbers as different students measure them, right and wrong."""

CORRECT = [
    "report = {'ahead': 0.42, 'per_token': 0.29}",
    "report = {'ahead': 0.528, 'per_token': 0.388}",  # the largest of 10,000 measurements
    "report = {'ahead': 0.374, 'per_token': 0.245}",  # the smallest
    "report['ahead'], report['per_token'] = 270 / 600, np.float64(0.3)",
    "report = dict(ahead=tf.constant(0.46), per_token=np.array(0.33))",
    "found = (-5.6, 0.45, 0.31)\n_, ahead, per_token = found\nreport = {'ahead': ahead, 'per_token': per_token}",
]

WRONG = [
    ("", "report = {'ahead': 0.32, 'per_token': 0.45}"),
    # what the lab prints, with p = 1 and 300 seeds
    ("drawn_with_one", "report = {'ahead': 0.18, 'per_token': 0.12}"),
    ("drawn_with_one", "report = {'ahead': 0.2, 'per_token': 0.15}"),
    ("share_behind", "report = {'ahead': 0.5, 'per_token': 0.64}"),
    (("share_behind", "ahead_behind"), "report = {'ahead': 0.552, 'per_token': 0.708}"),
    ("ahead_behind", "report = {'ahead': 0.552, 'per_token': 0.3}"),
    ("", "report = {'ahead': 0.55, 'per_token': 0.42}"),
    ("", "report = {'ahead': 0.0, 'per_token': 0.32}"),
    ("", "report = {'ahead': 0.7, 'per_token': 0.32}"),
    ("", "report = {'ahead': 0.45, 'per_token': 0.003}"),
    ("", "report = {'ahead': 52, 'per_token': 36}"),
    ("", "report = {'ahead': 0.45}"),
    ("", "report = {'ahead': 'a sixth', 'per_token': 0.32}"),
    ("", "report = {'ahead': 0.45, 'per_token': float('inf')}"),
]
