"""Lab 10, exercise `derive_base_rate`: solutions as different students write them, right and wrong."""


def returns(expression: str, before: str = "") -> str:
    return f"def derive_base_rate(period):\n{before}    return {expression}\n"


SERIES = "    def harmonic(n):\n        if n < 20:\n            return float(np.sum(1 / np.arange(1, n + 1)))\n        return np.log(n) + np.euler_gamma + 1 / (2 * n) - 1 / (12 * n**2)\n\n"

CORRECT = [
    returns("(digamma(2 * period + 1) - digamma(period + 1)) / period"),
    returns("(harmonic(2 * period) - harmonic(period)) / period", SERIES),
    returns("float(digamma(2 * period + 1.0) - digamma(period + 1.0)) / period"),
    # psi under its other name
    returns("(psi(2 * period + 1) - psi(period + 1)) / period", "    from scipy.special import psi\n"),
    # the sum where it is short, the expansion of the difference where it is long
    returns(
        "np.sum(1 / (np.arange(period, 2 * period) + 1)) / period",
        "    if period > 5000:\n        return (np.log(2) - 1 / (4 * period)) / period\n",
    ),
    # TensorFlow's digamma in float64
    returns(
        "float(tf.math.digamma(n + p) - tf.math.digamma(n)) / period",
        "    n, p = tf.constant(period + 1.0, 'float64'), tf.constant(float(period), 'float64')\n",
    ),
    # more terms of the expansion, exact for small periods
    returns(
        "np.mean(1 / np.arange(period + 1, 2 * period + 1))",
        "    if period >= 100:\n        return (np.log(2) - 1 / (4 * period) + 1 / (16 * period**2)) / period\n",
    ),
    "import math\nderive_base_rate = lambda period: (digamma(2 * period + 1) - digamma(period + 1)) * (1 / period)\n",
    returns("np.float64(digamma(2 * period + 1) - digamma(period + 1)) / np.float64(period)"),
]

WRONG = [
    ("itself_not_seen", returns("(digamma(2 * period) - digamma(period)) / period")),
    ("limit_only", returns("np.log(2) / period")),
    ("both_copies", returns("(digamma(2 * period + 1) + np.euler_gamma) / (2 * period)")),
    ("", returns("digamma(2 * period + 1) - digamma(period + 1)")),
    ("first_copy", returns("(digamma(period + 1) + np.euler_gamma) / period")),
    ("last_position", returns("1 / (2 * period)")),
    ("one_copy", returns("1 / period")),
    ("", returns("1 / (period + 1)")),
    ("mean_number_of_keys", returns("2 / (3 * period + 1)")),
    ("", returns("np.mean(1 / np.arange(period + 1, 2 * period + 1))")),
    (None, returns("sum(1 / (t + 1) for t in range(period, 2 * period)) / period")),
    (None, "def derive_base_rate(period):\n    total = 0\n    for t in range(period, 2 * period):\n        total += 1 / (t + 1)\n    return total / period\n"),
    ("", returns("(digamma(2 * period + 2) - digamma(period + 2)) / period")),
    ("", returns("(digamma(2 * period + 1) - digamma(period)) / period")),
    ("", returns("(digamma(2 * period) - digamma(period + 1)) / period")),
    ("", returns("(digamma(2 * period + 1) - digamma(period + 1)) / (period + 1)")),
    ("", returns("(digamma(2 * period + 1) - digamma(period + 1)) / (2 * period)")),
    ("", returns("(digamma(period + 1) - digamma(2 * period + 1)) / period")),
    ("", returns("(np.log(2 * period + 1) - np.log(period + 1)) / period")),
    ("", returns("(np.log(2 * period) - np.log(period)) / period")),
    ("", returns("np.log(2)")),
    ("", returns("np.log2(2) / period")),
    ("large_numbers_only", returns("(np.log(2) - 1 / (4 * period)) / period")),
    ("", returns("np.log((2 * period + 0.5) / (period + 0.5)) / period")),
    ("", returns("float(np.float16((digamma(2 * period + 1) - digamma(period + 1)) / period))")),
    ("", returns("round((digamma(2 * period + 1) - digamma(period + 1)) / period, 4)")),
    ("", returns("(digamma(2 * period + 1), period)")),
    ("", returns("str((digamma(2 * period + 1) - digamma(period + 1)) / period)")),
    ("", returns("0.0")),
    ("", "def derive_base_rate(period):\n    (digamma(2 * period + 1) - digamma(period + 1)) / period\n"),
]  # fmt: skip
