"""Lab 02, exercise `report`: numbers as different students measure them, right and wrong."""

CORRECT = [
    "report = {'first': 128, 'flat': 0.39}",
    "report = {'first': 64, 'flat': 0.372}",
    "report['first'], report['flat'] = 256, np.float32(0.41)",
    """
widths = [2**n for n in range(1, 11)]
def independent(seed, d):
    rng = np.random.default_rng([seed, d])
    return rng.normal(size=(50, d)).astype("float32"), rng.normal(size=(7, d)).astype("float32")
mine = measure_saturation(independent, widths, list(range(40723, 40729)))
report = {"first": mine["first_unscaled"], "flat": mine["scaled"][widths.index(128)]}
""",
    "report = dict(first=tf.constant(128), flat=np.array(0.386))",
    "report = {'first': 128.0, 'flat': 0.4, 'seeds': [11, 12, 13, 14, 15, 16]}",
]

WRONG = [
    ("not_divided", "report = {'first': 128, 'flat': 0.92}"),
    ("base_rate", "report = {'first': 128, 'flat': 0.143}"),
    ("", "report = {'first': 7, 'flat': 0.39}"),
    ("", "report = {'first': 1024, 'flat': 0.39}"),
    ("", "report = {'first': 128, 'flat': 0.45}"),
    ("", "report = {'first': 128, 'flat': 39}"),
    ("", "report = {'first': 'None', 'flat': 0.39}"),
    ("", "report = {'flat': 0.39}"),
    ("", "report = {'first': 128, 'flat': float('nan')}"),
    ("", "report = [128, 0.39]"),
    ("base_rate", "report = {'first': 128, 'flat': 0.17}"),
]
