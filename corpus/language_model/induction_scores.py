"""Lab 10, exercise `induction_scores`: solutions as different students write them, right and wrong."""

from corpus.language_model.shared import edited

PLAIN = """
def induction_scores(weights, period):
    weights = np.asarray(weights)
    total = np.zeros(weights.shape[1])
    for t in range(period, 2 * period):
        total += weights[:, :, t, t - period + 1].mean(axis=0)
    return total / period
"""
DIAGONAL = """
def induction_scores(weights, period):
    weights = np.asarray(weights)
    second = weights[:, :, period:2 * period, 1:period + 1]
    return np.diagonal(second, axis1=2, axis2=3).mean(axis=(0, 2))
"""

CORRECT = [
    PLAIN,
    DIAGONAL,
    "def induction_scores(weights, period):\n    t = np.arange(period) + period\n    return np.mean(np.asarray(weights)[:, :, t, t - (period - 1)], axis=-1).mean(0)\n",
    "def induction_scores(weights, period):\n    second = ops.convert_to_tensor(weights)[:, :, period:2 * period, 1:period + 1]\n    return ops.mean(ops.diagonal(second, axis1=-2, axis2=-1), axis=(0, 2))\n",
    "def induction_scores(weights, period):\n    second = tf.convert_to_tensor(weights)[:, :, period:2 * period, 1:period + 1]\n    return tf.reduce_mean(tf.linalg.diag_part(second), axis=[0, 2])\n",
    edited(PLAIN, ("return total / period", "return list(total / period)")),
    "def induction_scores(weights, period):\n    weights = np.asarray(weights, dtype='float64')\n    t = np.arange(period, 2 * period)\n    rows = weights[:, :, t]\n    picked = np.take_along_axis(rows, (t - period + 1)[None, None, :, None], axis=-1)\n    return picked.mean(axis=(0, 2, 3))\n",
    "def induction_scores(weights, period):\n    weights = np.asarray(weights)\n    return np.array([np.mean([weights[b, h, t, t - period + 1] for b in range(len(weights)) for t in range(period, 2 * period)]) for h in range(weights.shape[1])])\n",
    edited(DIAGONAL, ("np.diagonal(second, axis1=2, axis2=3)", "np.einsum('bhtt->bht', second)")),
]  # fmt: skip

AT = "weights[:, :, t, t - period + 1]"
WRONG = [
    ("same_token", edited(PLAIN, (AT, "weights[:, :, t, t - period]"))),
    ("same_token", edited(DIAGONAL, ("1:period + 1", ":period"))),
    ("to_the_end", "def induction_scores(weights, period):\n    weights = np.asarray(weights)\n    t = np.arange(period, weights.shape[-1])\n    return weights[:, :, t, t - period + 1].mean(axis=(0, 2))\n"),
    ("", edited(PLAIN, ("range(period, 2 * period)", "range(period - 1, 2 * period)"))),
    ("", edited(PLAIN, ("range(period, 2 * period)", "range(period, 2 * period - 1)"))),
    ("", edited(PLAIN, ("range(period, 2 * period)", "range(period + 1, 2 * period)"))),
    ("", edited(PLAIN, ("range(period, 2 * period)", "range(2 * period)"))),
    ("", edited(PLAIN, ("range(period, 2 * period)", "range(period)"))),
    ("query_and_key_exchanged", edited(PLAIN, (AT, "weights[:, :, t - period + 1, t]"))),
    ("", edited(PLAIN, (AT, "weights[:, :, t, t - period - 1]"))),
    ("", edited(PLAIN, (AT, "weights[:, :, t, t - period + 2]"))),
    ("", edited(PLAIN, (AT, "weights[:, :, t, t - 1]"))),
    ("", edited(PLAIN, (AT, "weights[:, :, t, t]"))),
    ("", edited(PLAIN, (AT, "weights[:, :, t, 1]"))),
    ("", edited(PLAIN, (AT, "weights[:, :, t].max(axis=-1)"))),
    ("", edited(PLAIN, ("return total / period", "return total"))),
    ("", edited(PLAIN, ("return total / period", "return total / weights.shape[-1]"))),
    ("", edited(PLAIN, ("return total / period", "return (total / period).mean()"))),
    ("", edited(PLAIN, ("return total / period", "return total / (period - 1)"))),
    ("", edited(PLAIN, ("return total / period", "return np.argmax(total)"))),
    ("", edited(PLAIN, (".mean(axis=0)", ".sum(axis=0)"))),
    ("first_of_batch", edited(PLAIN, (".mean(axis=0)", "[0]"))),
    ("", edited(PLAIN, (".mean(axis=0)", ".max(axis=0)"))),
    ("", edited(PLAIN, ("np.zeros(weights.shape[1])", "np.zeros(weights.shape[0])"), (".mean(axis=0)", ".mean(axis=1)"))),
    ("", edited(DIAGONAL, (".mean(axis=(0, 2))", ".mean(axis=2)"))),
    ("", edited(DIAGONAL, ("np.diagonal(second, axis1=2, axis2=3).mean(axis=(0, 2))", "second.mean(axis=(0, 2, 3))"))),
    ("", edited(DIAGONAL, ("np.diagonal(second, axis1=2, axis2=3).mean(axis=(0, 2))", "second.sum(axis=3).mean(axis=(0, 2))"))),
    ("", edited(DIAGONAL, (".mean(axis=(0, 2))", ".mean(axis=(1, 2))"))),
    ("", edited(PLAIN, ("    return total / period\n", ""))),
    # of the whole batch, one row's copy is looked at
    ("first_of_batch", edited(DIAGONAL, ("np.diagonal(second, axis1=2, axis2=3)", "np.diagonal(second[:1], axis1=2, axis2=3)"))),
    # the second half of the row, whatever the period is
    ("", "def induction_scores(weights, period):\n    weights = np.asarray(weights)\n    half = weights.shape[-1] // 2\n    t = np.arange(half, 2 * half)\n    return weights[:, :, t, t - half + 1].mean(axis=(0, 2))\n"),
    # how much stronger than equal weights
    ("", edited(PLAIN, ("return total / period", "return total / period * (1.5 * period)"))),
    # the share of positions where the head looks there most of all
    ("", edited(PLAIN, ("weights[:, :, t, t - period + 1].mean(axis=0)", "(weights[:, :, t].argmax(axis=-1) == t - period + 1).mean(axis=0)"))),
    ("begins_too_early", edited(PLAIN, ("range(period, 2 * period)", "range(period - 1, 2 * period - 1)"))),
    ("", edited(DIAGONAL, (".mean(axis=(0, 2))", ".max(axis=2).mean(axis=0)"))),
]  # fmt: skip
