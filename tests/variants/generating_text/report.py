"""Lab 08b, exercise `report`: numbers as different students measure them, right and wrong."""

CORRECT = [
    "report = {'ahead': 0.137, 'per_token': 0.107}",
    "report = {'ahead': 0.22, 'per_token': 0.177}",
    "report = {'ahead': 0.273, 'per_token': 0.207}",  # the largest of 10,000 measurements
    "report['ahead'], report['per_token'] = 53 / 300, np.float64(0.1)",
    "report = dict(ahead=tf.constant(0.15), per_token=np.array(0.12))",
    "found = (-5.6, 0.18, 0.13)\n_, ahead, per_token = found\nreport = {'ahead': ahead, 'per_token': per_token}",
]

WRONG = [
    ("share_behind", "report = {'ahead': 0.83, 'per_token': 0.88}"),
    ("", "report = {'ahead': 0.0, 'per_token': 0.12}"),
    ("", "report = {'ahead': 0.5, 'per_token': 0.12}"),
    ("", "report = {'ahead': 0.17, 'per_token': 0.003}"),
    ("", "report = {'ahead': 52, 'per_token': 36}"),
    ("", "report = {'ahead': 0.17}"),
    ("", "report = {'ahead': 'a sixth', 'per_token': 0.12}"),
    ("", "report = {'ahead': 0.17, 'per_token': float('inf')}"),
]
