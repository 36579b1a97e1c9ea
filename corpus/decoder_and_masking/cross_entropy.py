"""Lab 08, exercise `cross_entropy`: solutions as different students write them, right and wrong."""

from corpus.decoder_and_masking.shared import divergence

CORRECT = [
    divergence("cross_entropy", "return -sum(a * np.log(b) if b > 0 else -np.inf for a, b in zip(p, q) if a > 0)"),
    divergence(
        "cross_entropy", "with np.errstate(all='ignore'):\n        return -np.where(p == 0, 0, p * np.log(q)).sum()"
    ),
    # math.log, loops
    """
import math
def cross_entropy(p, q):
    total = 0.0
    for a, b in zip(np.asarray(p).tolist(), np.asarray(q).tolist()):
        if a == 0:
            continue
        if b == 0:
            return float("inf")
        total -= a * math.log(b)
    return total
""",
    "from scipy.special import xlogy\ndef cross_entropy(p, q):\n    return -xlogy(np.asarray(p), np.asarray(q)).sum()",
    "def cross_entropy(p, q):\n    return -tf.reduce_sum(tf.math.xlogy(tf.convert_to_tensor(p), tf.convert_to_tensor(q)))",
    """
def cross_entropy(p, q):
    p, q = ops.convert_to_tensor(p), ops.convert_to_tensor(q)
    safe = ops.where(p > 0, q, ops.ones_like(q))
    return -ops.sum(p * ops.log(safe))
""",
    "from scipy.special import rel_entr, entr\ndef cross_entropy(p, q):\n    p, q = np.asarray(p), np.asarray(q)\n    return rel_entr(p, q).sum() + entr(p).sum()",
]

WRONG = [
    ("arguments_swapped", divergence("cross_entropy", "return -np.sum(q[q > 0] * np.log(p[q > 0]))")),
    ("log_to_base_2", divergence("cross_entropy", "return -np.sum(p[p > 0] * np.log2(q[p > 0]))")),
    ("minus_missing", divergence("cross_entropy", "return np.sum(p[p > 0] * np.log(q[p > 0]))")),
    ("eps_added", divergence("cross_entropy", "return -np.sum(p * np.log(q + 1e-9))")),
    ("zero_times_log_zero", divergence("cross_entropy", "return -np.sum(p * np.log(q))")),
    ("zero_q_skipped", divergence("cross_entropy", "return -np.sum(p[q > 0] * np.log(q[q > 0]))")),
    ("averaged", divergence("cross_entropy", "return -np.sum(p[p > 0] * np.log(q[p > 0])) / len(p)")),
    (
        "binary",
        divergence(
            "cross_entropy",
            "z = lambda a, b: np.where(a == 0, 0, a * np.log(np.where(a == 0, 1, b))); return -np.sum(z(p, q) + z(1 - p, 1 - q))",
        ),
    ),
    ("log_of_sum", divergence("cross_entropy", "return -np.log(np.sum(p * q))")),
    (None, divergence("cross_entropy", "return -np.sum(p * np.log(np.clip(q, 1e-7, 1)))")),
    (None, divergence("cross_entropy", "return -np.sum(p * np.log(q + 1e-12))")),
    (None, divergence("cross_entropy", "return -p * np.log(q)")),
]
