"""Lab 08, exercise `js_divergence`: solutions as different students write them, right and wrong."""

from corpus.decoder_and_masking.shared import divergence

CORRECT = [
    "from scipy.spatial.distance import jensenshannon\ndef js_divergence(p, q):\n    return jensenshannon(np.asarray(p), np.asarray(q)) ** 2",
    "def js_divergence(p, q):\n    m = 0.5 * (p + q)\n    return 0.5 * kl_divergence(p, m) + 0.5 * kl_divergence(q, m)",
    # entropy of the middle minus the mean entropy
    """
def js_divergence(p, q):
    def entropy(r):
        return -sum(x * np.log(x) for x in np.asarray(r, "float64") if x > 0)
    return entropy((np.asarray(p) + np.asarray(q)) / 2) - (entropy(p) + entropy(q)) / 2
""",
    """
def js_divergence(p, q):
    p, q = tf.cast(p, tf.float64), tf.cast(q, tf.float64)
    m = (p + q) / 2
    return sum(tf.reduce_sum(tf.math.xlogy(r, r) - tf.math.xlogy(r, m)) for r in (p, q)) / 2
""",
    """
import math
def js_divergence(p, q):
    total = 0
    for a, b in zip(np.asarray(p), np.asarray(q)):
        for one in (a, b):
            if one > 0:
                total += one * math.log(2 * one / (a + b))
    return total / 2
""",
    "def js_divergence(p, q):\n    m = ops.mean(ops.stack([p, q]), axis=0)\n    return np.mean([kl_divergence(p, m), kl_divergence(q, m)])",
]

WRONG = [
    (
        "half_forgotten",
        divergence("js_divergence", "m = (p + q) / 2; return kl_divergence(p, m) + kl_divergence(q, m)"),
    ),
    (
        "middle_not_halved",
        divergence("js_divergence", "m = p + q; return (kl_divergence(p, m) + kl_divergence(q, m)) / 2"),
    ),
    (
        "distance",
        "from scipy.spatial.distance import jensenshannon\ndef js_divergence(p, q):\n    return jensenshannon(np.asarray(p), np.asarray(q))",
    ),
    ("one_side_only", divergence("js_divergence", "return kl_divergence(p, (p + q) / 2)")),
    (
        "from_the_middle",
        divergence("js_divergence", "m = (p + q) / 2; return (kl_divergence(m, p) + kl_divergence(m, q)) / 2"),
    ),
    ("no_middle", divergence("js_divergence", "return (kl_divergence(p, q) + kl_divergence(q, p)) / 2")),
    (
        "zero_times_log_zero",
        divergence(
            "js_divergence", "m = (p + q) / 2; return (np.sum(p * np.log(p / m)) + np.sum(q * np.log(q / m))) / 2"
        ),
    ),
    (
        "log_to_base_2",
        "from scipy.spatial.distance import jensenshannon\ndef js_divergence(p, q):\n    return jensenshannon(np.asarray(p), np.asarray(q), 2) ** 2",
    ),
    (
        "geometric_middle",
        divergence("js_divergence", "m = np.sqrt(p * q); return (kl_divergence(p, m) + kl_divergence(q, m)) / 2"),
    ),
    (
        None,
        divergence("js_divergence", "m = (p + q) / 2; return kl_divergence(p, m) / 2 - kl_divergence(q, m) / 2"),
    ),
]
