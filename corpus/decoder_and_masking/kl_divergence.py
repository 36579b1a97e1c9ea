"""Lab 08, exercise `kl_divergence`: solutions as different students write them, right and wrong."""

from corpus.decoder_and_masking.shared import divergence

CORRECT = [
    "from scipy.special import rel_entr\ndef kl_divergence(p, q):\n    return rel_entr(np.asarray(p), np.asarray(q)).sum()",
    "def kl_divergence(p, q):\n    return cross_entropy(p, q) - cross_entropy(p, p)",
    divergence("kl_divergence", "return sum(a * (np.log(a) - np.log(b)) if b else np.inf for a, b in zip(p, q) if a)"),
    """
def kl_divergence(p, q):
    p, q = tf.convert_to_tensor(p), tf.convert_to_tensor(q)
    return tf.reduce_sum(tf.math.xlogy(p, p) - tf.math.xlogy(p, q))
""",
    """
def kl_divergence(p, q):
    p, q = ops.convert_to_tensor(p), ops.convert_to_tensor(q)
    used = p > 0
    ratio = ops.where(used, p, 1) / ops.where(used, q, 1)
    return ops.sum(p * ops.log(ratio))
""",
    "from scipy.stats import entropy\ndef kl_divergence(p, q):\n    return entropy(np.asarray(p, 'float64'), np.asarray(q, 'float64'))",
]

WRONG = [
    ("factor_missing", divergence("kl_divergence", "return np.sum(np.log(p[p > 0] / q[p > 0]))")),
    ("arguments_swapped", divergence("kl_divergence", "return np.sum(q[q > 0] * np.log(q[q > 0] / p[q > 0]))")),
    ("log_to_base_2", divergence("kl_divergence", "return np.sum(p[p > 0] * np.log2(p[p > 0] / q[p > 0]))")),
    ("sign_wrong", divergence("kl_divergence", "return np.sum(p[p > 0] * np.log(q[p > 0] / p[p > 0]))")),
    ("eps_added", divergence("kl_divergence", "return np.sum(p * np.log((p + 1e-9) / (q + 1e-9)))")),
    ("zero_times_log_zero", divergence("kl_divergence", "return np.sum(p * np.log(p / q))")),
    (
        "zero_q_skipped",
        divergence("kl_divergence", "k = (p > 0) & (q > 0); return np.sum(p[k] * np.log(p[k] / q[k]))"),
    ),
    ("entropy_not_subtracted", divergence("kl_divergence", "return -np.sum(p[p > 0] * np.log(q[p > 0]))")),
    (
        "both_ways",
        divergence(
            "kl_divergence",
            "f = lambda a, b: np.sum(a[a > 0] * np.log(a[a > 0] / b[a > 0])); return f(p, q) + f(q, p)",
        ),
    ),
    (
        "absolute_terms",
        divergence("kl_divergence", "return np.sum(np.abs(p[p > 0] * np.log(p[p > 0] / q[p > 0])))"),
    ),
    ("averaged", divergence("kl_divergence", "return np.sum(p[p > 0] * np.log(p[p > 0] / q[p > 0])) / p.size")),
    (None, "def kl_divergence(p, q):\n    return keras.losses.kl_divergence(p, q)"),
]
