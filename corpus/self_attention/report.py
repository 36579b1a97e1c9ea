"""Lab 02, exercise `report`: numbers as different students measure them, right and wrong."""

CORRECT = [
    "report = {'first': 512, 'flat': 0.081}",
    "report = {'first': 256, 'flat': 0.0743}",
    "report['first'], report['flat'] = 1024, np.float32(0.0892)",
    """
widths = [2**n for n in range(1, 11)]
def hundred(seed, d):
    rng = np.random.default_rng([seed, d])
    return rng.normal(size=(50, d)).astype("float32"), rng.normal(size=(100, d)).astype("float32")
mine = measure_saturation(hundred, widths, list(range(40723, 40729)))
report = {"first": mine["first_unscaled"], "flat": mine["scaled"][widths.index(128)]}
""",
    "report = dict(first=tf.constant(512), flat=np.array(0.0806))",
    "report = {'first': 512.0, 'flat': 0.08, 'seeds': [11, 12, 13, 14, 15, 16]}",
]

WRONG = [
    ("not_divided", "report = {'first': 512, 'flat': 0.84}"),
    # what the lab prints
    ("seven_keys", "report = {'first': 128, 'flat': 0.39}"),
    ("", "report = {'first': 128, 'flat': 0.081}"),
    ("", "report = {'first': 512, 'flat': 0.01}"),
    ("", "report = {'first': 7, 'flat': 0.081}"),
    ("", "report = {'first': 2048, 'flat': 0.081}"),
    ("", "report = {'first': 512, 'flat': 0.143}"),
    ("", "report = {'first': 512, 'flat': 8.1}"),
    ("", "report = {'first': 'None', 'flat': 0.081}"),
    ("", "report = {'flat': 0.081}"),
    ("", "report = {'first': 512, 'flat': float('nan')}"),
    ("", "report = [512, 0.081]"),
    ("", 'report = {"first": None, "flat": 0.080}'),
]
