"""Lab 08b, exercise `top_p`: solutions as different students write them, right and wrong."""

RIGHT = """
def top_p(probabilities, p):
    q = np.asarray(probabilities)
    order = np.argsort(-q, kind="stable")
    sums = np.cumsum(q[order])
    kept = sums - q[order] < p
    kept[0] = True
    left = np.zeros_like(q)
    left[order[kept]] = q[order[kept]]
    return left / left.sum()
"""

CORRECT = [
    """
def top_p(probabilities, p):
    probabilities = np.array(probabilities)
    order = np.argsort(-probabilities, kind="stable")
    left = np.zeros_like(probabilities)
    total = 0.0
    for token in order:
        left[token] = probabilities[token]
        total += probabilities[token]
        if total >= p:
            break
    return left / left.sum()
""",
    """
def top_p(probabilities, p):
    values = [float(each) for each in probabilities]
    ranked = sorted(range(len(values)), key=lambda token: (-values[token], token))
    count = 1
    while count < len(values) and sum(values[token] for token in ranked[:count]) < p:
        count += 1
    whole = sum(values[token] for token in ranked[:count])
    return [values[token] / whole if token in ranked[:count] else 0.0 for token in range(len(values))]
""",
    """
def top_p(probabilities, p):
    probabilities = tf.convert_to_tensor(probabilities)
    order = tf.argsort(probabilities, direction="DESCENDING", stable=True)
    ranked = tf.gather(probabilities, order)
    kept = tf.cast(tf.cumsum(ranked, exclusive=True) < tf.cast(p, ranked.dtype), ranked.dtype)
    kept = tf.maximum(kept, tf.one_hot(0, len(ranked), dtype=ranked.dtype))
    left = tf.scatter_nd(order[:, None], ranked * kept, tf.shape(ranked, out_type=order.dtype))
    return left / tf.reduce_sum(left)
""",
    """
def top_p(probabilities, p):
    q = np.asarray(probabilities)
    order = np.argsort(-q, kind="stable")
    reached = np.cumsum(q[order]) >= p
    count = np.argmax(reached) + 1 if reached.any() else len(q)
    kept = np.isin(np.arange(len(q)), order[:count])
    return np.where(kept, q, 0) / q[kept].sum()
""",
    """
def top_p(probabilities, p):
    q = np.asarray(probabilities, "float64")
    order = np.lexsort((np.arange(len(q)), -q))
    before = np.cumsum(q[order]) - q[order]
    before[0] = -1
    left = q * (before < p)[np.argsort(order)]
    return left / left.sum()
""",
]

WRONG = [
    # the lecture's code, pasted
    (
        "lecture_cut",
        """
def top_p(probabilities, p):
    q = np.asarray(probabilities)
    falling = np.flip(np.sort(q))
    before = np.cumsum(falling) - falling
    least = np.min(np.where(before < p - 1e-9, falling, 1))
    q = np.where(q >= least, q, 0)
    return q / q.sum()
""",
    ),
    (
        "one_left_out_and_none_kept",
        """
def top_p(probabilities, p):
    q = np.asarray(probabilities)
    order = np.argsort(-q, kind="stable")
    kept = order[: np.searchsorted(np.cumsum(q[order]), p)]
    left = np.zeros_like(q)
    left[kept] = q[kept]
    return left / left.sum()
""",
    ),
    # NumPy's usual sort does not keep the order of equal numbers
    ("", RIGHT.replace(', kind="stable"', "")),
    (
        "not_renormalised",
        RIGHT.replace("left / left.sum()", "left"),
    ),
    (
        "in_the_order_of_ids",
        RIGHT.replace('np.argsort(-q, kind="stable")', "np.arange(len(q))"),
    ),
    (
        "one_left_out",
        RIGHT.replace("- q[order] <", "<"),
    ),
    (
        "one_too_many",
        RIGHT.replace("<", "<="),
    ),
    (
        "sums_in_the_order_of_ids",
        RIGHT.replace("sums = np.cumsum(q[order])", "sums = np.cumsum(q)").replace(
            "kept = sums - q[order]", "kept = np.append(0, sums[:-1])"
        ),
    ),
    (
        "divided_by_p",
        RIGHT.replace("left / left.sum()", "left / p"),
    ),
    (
        "always_one_more",
        RIGHT.replace("kept = sums - q[order] < p", "kept = np.arange(len(q)) < np.sum(sums < p) + 2"),
    ),
    (
        "threshold",
        RIGHT.replace("sums - q[order] <", "q[order] >="),
    ),
    (
        "sorted_result",
        RIGHT.replace("left / left.sum()", "(left / left.sum())[order]"),
    ),
    (
        "ties_from_behind",
        RIGHT.replace('np.argsort(-q, kind="stable")', 'np.argsort(q, kind="stable")[::-1]'),
    ),
    (
        "softmax_again",
        RIGHT.replace("left / left.sum()", "np.where(left > 0, np.exp(left), 0) / np.exp(left[left > 0]).sum()"),
    ),
    (
        "",
        """
def top_p(probabilities, p):
    q = np.asarray(probabilities)
    order = np.argsort(-q, kind="stable")
    sums = np.cumsum(q[order])
    kept = sums - q[order] < p
    left = np.zeros_like(q)
    left[order[kept]] = q[order[kept]]
    return left / left.sum() if left.any() else left
""",
    ),
    (
        "threshold_of_the_rest",
        RIGHT.replace("sums - q[order] < p", "q[order] > 1 - p"),
    ),
    (
        "ties_stay",
        RIGHT.replace(
            "left / left.sum()", "np.where(q >= left[left > 0].min(), q, 0) / q[q >= left[left > 0].min()].sum()"
        ),
    ),
    (
        "least_probable",
        RIGHT.replace("np.argsort(-q,", "np.argsort(q,"),
    ),
    ("one_minus_p", RIGHT.replace("q[order] < p", "q[order] < 1 - p")),
    (
        "share_of_the_largest",
        """
def top_p(probabilities, p):
    q = np.asarray(probabilities)
    left = np.where(q >= p * q.max(), q, 0)
    return left / left.sum()
""",
    ),
    # p = 1 is never reached where rounding leaves the sum below it: the list ends before
    (
        "",
        """
def top_p(probabilities, p):
    q = np.asarray(probabilities)
    order = np.argsort(-q, kind="stable")
    count, total = 1, q[order[0]]
    while total < p:
        total += q[order[count]]
        count += 1
    left = np.zeros_like(q)
    left[order[:count]] = q[order[:count]]
    return left / left.sum()
""",
    ),
    (  # `argmax` of sums that never reach p
        "never_reached",
        """
def top_p(probabilities, p):
    probabilities = np.asarray(probabilities)
    falling = np.argsort(-probabilities, kind="stable")
    sums = np.cumsum(probabilities[falling])
    last = np.argmax(sums >= p)
    kept = falling[: last + 1]
    result = np.zeros_like(probabilities)
    result[kept] = probabilities[kept]
    return result / result.sum()
""",
    ),
]
