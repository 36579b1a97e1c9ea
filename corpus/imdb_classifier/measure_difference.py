"""Lab 06, exercise `measure_difference`: solutions as different students write them, right and wrong."""

PLAIN = """
def measure_difference(correct_a, correct_b, reviews, seeds_a, seeds_b):
    def accuracies(correct, seeds):
        return np.array([correct[seeds[r]][:, reviews[r]].mean() for r in range(len(reviews))])

    def ends(differences):
        return np.percentile(differences, [2.5, 97.5])

    difference = correct_a.mean() - correct_b.mean()
    again = accuracies(correct_a, seeds_a) - accuracies(correct_b, seeds_b)
    alone = correct_a.mean(axis=0)[reviews].mean(axis=1) - correct_b.mean(axis=0)[reviews].mean(axis=1)
    return difference, ends(again), ends(alone)
"""


def measured(*changes: tuple[str, str]) -> str:
    source = PLAIN
    for old, new in changes:
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    return source


RETURNED = "return difference, ends(again), ends(alone)"
ENDS = "np.percentile(differences, [2.5, 97.5])"
ALONE = "correct_a.mean(axis=0)[reviews].mean(axis=1) - correct_b.mean(axis=0)[reviews].mean(axis=1)"
AGAIN = "accuracies(correct_a, seeds_a) - accuracies(correct_b, seeds_b)"

CORRECT = [
    # arrays
    """
def measure_difference(correct_a, correct_b, reviews, seeds_a, seeds_b):
    a, b = np.asarray(correct_a, float), np.asarray(correct_b, float)
    diff = a.mean() - b.mean()
    both = []
    alone = []
    for r in range(len(reviews)):
        both.append(a[seeds_a[r]][:, reviews[r]].mean() - b[seeds_b[r]][:, reviews[r]].mean())
        alone.append(a[:, reviews[r]].mean() - b[:, reviews[r]].mean())
    q = [2.5, 97.5]
    return diff, np.percentile(both, q), list(np.percentile(alone, q))
""",
    # means of bool
    """
def measure_difference(correct_a, correct_b, reviews, seeds_a, seeds_b):
    a, b = correct_a, correct_b
    diff = a.mean() - b.mean()
    both = []
    alone = []
    for r in range(len(reviews)):
        both.append(a[seeds_a[r]][:, reviews[r]].mean() - b[seeds_b[r]][:, reviews[r]].mean())
        alone.append(a[:, reviews[r]].mean() - b[:, reviews[r]].mean())
    q = [2.5, 97.5]
    return diff, tuple(np.percentile(both, q)), tuple(np.percentile(alone, q))
""",
    PLAIN,
    measured((ENDS, "tuple(np.quantile(differences, each) for each in (0.025, 0.975))")),
    # all repeats at once
    """
def measure_difference(correct_a, correct_b, reviews, seeds_a, seeds_b):
    def of(correct, seeds):
        return correct[seeds[:, :, None], reviews[:, None, :]].mean(axis=(1, 2))

    again = of(correct_a, seeds_a) - of(correct_b, seeds_b)
    alone = (correct_a.mean(0) - correct_b.mean(0))[reviews].mean(1)
    low, high = np.percentile([again, alone], [2.5, 97.5], axis=1)
    return np.mean(correct_a) - np.mean(correct_b), [low[0], high[0]], [low[1], high[1]]
""",
    # how often each review and each model is drawn, as weights
    """
def measure_difference(correct_a, correct_b, reviews, seeds_a, seeds_b):
    def weights(drawn, size):
        return np.array([np.bincount(row, minlength=size) for row in drawn]) / drawn.shape[1]

    w = weights(reviews, correct_a.shape[1])
    a = np.einsum("rs,sn,rn->r", weights(seeds_a, len(correct_a)), 1.0 * correct_a, w)
    b = np.einsum("rs,sn,rn->r", weights(seeds_b, len(correct_b)), 1.0 * correct_b, w)
    alone = w @ (correct_a.mean(axis=0) - correct_b.mean(axis=0))
    two = np.array([0.025, 0.975])
    return correct_a.mean() - correct_b.mean(), np.quantile(a - b, two), np.quantile(alone, two)
""",
    # plain Python, percentiles by hand
    """
def measure_difference(correct_a, correct_b, reviews, seeds_a, seeds_b):
    def accuracy(correct, models, read):
        return sum(float(correct[s, n]) for s in models for n in read) / (len(models) * len(read))

    def percentile(values, share):
        values = sorted(values)
        place = share * (len(values) - 1)
        low = int(place)
        rest = place - low
        return values[low] * (1 - rest) + values[min(low + 1, len(values) - 1)] * rest

    all_a, all_b, everything = range(len(correct_a)), range(len(correct_b)), range(correct_a.shape[1])
    both, alone = [], []
    for read, a, b in zip(reviews, seeds_a, seeds_b):
        both.append(accuracy(correct_a, a, read) - accuracy(correct_b, b, read))
        alone.append(accuracy(correct_a, all_a, read) - accuracy(correct_b, all_b, read))
    difference = accuracy(correct_a, all_a, everything) - accuracy(correct_b, all_b, everything)
    return difference, *([percentile(each, 0.025), percentile(each, 0.975)] for each in (both, alone))
""",
    # TensorFlow
    """
def measure_difference(correct_a, correct_b, reviews, seeds_a, seeds_b):
    a, b = tf.cast(correct_a, tf.float64), tf.cast(correct_b, tf.float64)

    def of(correct, seeds):
        return tf.reduce_mean(tf.gather(tf.gather(correct, seeds), reviews, axis=2, batch_dims=1), axis=(1, 2))

    alone = tf.reduce_mean(tf.gather(tf.reduce_mean(a, 0) - tf.reduce_mean(b, 0), reviews), axis=1)
    again = of(a, seeds_a) - of(b, seeds_b)
    return tf.reduce_mean(a) - tf.reduce_mean(b), *(np.percentile(each, [2.5, 97.5]) for each in (again, alone))
""",
]  # fmt: skip

WRONG = [
    (
        "still_in_interval",
        """
def measure_difference(correct_a, correct_b, reviews, seeds_a, seeds_b):
    a, b = np.asarray(correct_a, float), np.asarray(correct_b, float)
    pair = lambda d: tuple(np.percentile(d, [2.5, 97.5]))
    both, alone = [], []
    for r, sa, sb in zip(reviews, seeds_a, seeds_b):
        both.append(a[sa][:, r].mean() - b[sb].mean())
        alone.append(a[:, r].mean() - b[:, r].mean())
    return a.mean() - b.mean(), pair(both), pair(alone)
""",
    ),
    (
        "seeds_of_a",
        """
def measure_difference(correct_a, correct_b, reviews, seeds_a, seeds_b):
    a, b = np.asarray(correct_a, float), np.asarray(correct_b, float)
    pair = lambda d: tuple(np.percentile(d, [2.5, 97.5]))
    both, alone = [], []
    for r, sa, sb in zip(reviews, seeds_a, seeds_b):
        both.append(a[sa][:, r].mean() - b[sa % len(b)][:, r].mean())
        alone.append(a[:, r].mean() - b[:, r].mean())
    return a.mean() - b.mean(), pair(both), pair(alone)
""",
    ),
    (
        "normal_of_repeats",
        """
def measure_difference(correct_a, correct_b, reviews, seeds_a, seeds_b):
    a, b = np.asarray(correct_a, float), np.asarray(correct_b, float)
    pair = lambda d: (np.mean(d)-1.96*np.std(d), np.mean(d)+1.96*np.std(d))
    both, alone = [], []
    for r, sa, sb in zip(reviews, seeds_a, seeds_b):
        both.append(a[sa][:, r].mean() - b[sb][:, r].mean())
        alone.append(a[:, r].mean() - b[:, r].mean())
    return a.mean() - b.mean(), pair(both), pair(alone)
""",
    ),
    (
        "",  # other reviews for B
        """
def measure_difference(correct_a, correct_b, reviews, seeds_a, seeds_b):
    a, b = np.asarray(correct_a, float), np.asarray(correct_b, float)
    rv = np.roll(np.asarray(reviews), 1, axis=0)
    both = [a[s][:, r].mean()-b[t][:, u].mean() for r, u, s, t in zip(reviews, rv, seeds_a, seeds_b)]
    al = [a[:, r].mean()-b[:, u].mean() for r, u in zip(reviews, rv)]
    q = lambda d: tuple(np.percentile(d, [2.5, 97.5]))
    return a.mean()-b.mean(), q(both), q(al)
""",
    ),
    (
        "shares_for_percents",
        """
def measure_difference(correct_a, correct_b, reviews, seeds_a, seeds_b):
    a, b = np.asarray(correct_a, float), np.asarray(correct_b, float)
    diff = a.mean() - b.mean()
    both = []
    alone = []
    for r in range(len(reviews)):
        both.append(a[seeds_a[r]][:, reviews[r]].mean() - b[seeds_b[r]][:, reviews[r]].mean())
        alone.append(a[:, reviews[r]].mean() - b[:, reviews[r]].mean())
    q = [0.025, 0.975]
    return diff, tuple(np.percentile(both, q)), tuple(np.percentile(alone, q))
""",
    ),
    (
        "intervals_exchanged",
        """
def measure_difference(correct_a, correct_b, reviews, seeds_a, seeds_b):
    a, b = np.asarray(correct_a, float), np.asarray(correct_b, float)
    diff = a.mean() - b.mean()
    both = []
    alone = []
    for r in range(len(reviews)):
        both.append(a[seeds_a[r]][:, reviews[r]].mean() - b[seeds_b[r]][:, reviews[r]].mean())
        alone.append(a[:, reviews[r]].mean() - b[:, reviews[r]].mean())
    q = [2.5, 97.5]
    return diff, tuple(np.percentile(alone, q)), tuple(np.percentile(both, q))
""",
    ),
    (
        "",
        """
def measure_difference(correct_a, correct_b, reviews, seeds_a, seeds_b):
    a, b = np.asarray(correct_a, float), np.asarray(correct_b, float)
    diff = a.mean() - b.mean()
    both = []
    alone = []
    for r in range(len(reviews)):
        both.append(a[seeds_a[r]][:, reviews[r]].mean() - b[seeds_a[r] % len(b)][:, reviews[r]].mean())
        alone.append(a[:, reviews[r]].mean() - b[:, reviews[r]].mean())
    q = [2.5, 97.5]
    return diff, tuple(np.percentile(both, q)), tuple(np.percentile(alone, q))
""",
    ),
    (
        "",
        """
def measure_difference(correct_a, correct_b, reviews, seeds_a, seeds_b):
    a, b = np.asarray(correct_a, float), np.asarray(correct_b, float)
    diff = a.mean() - b.mean()
    both = []
    alone = []
    for r in range(len(reviews)):
        both.append(a[seeds_a[r]][:, reviews[r]].mean() - b[seeds_b[r]][:, reviews[r]].mean())
        alone.append(a[:, reviews[r]].mean() - b[:, reviews[r]].mean())
    q = [2.5, 97.5]
    return diff, (np.mean(both) - 1.96*np.std(both), np.mean(both) + 1.96*np.std(both)), (np.mean(alone) - 1.96*np.std(alone), np.mean(alone) + 1.96*np.std(alone))
""",
    ),
    (
        "",
        """
def measure_difference(correct_a, correct_b, reviews, seeds_a, seeds_b):
    a, b = np.asarray(correct_a, float), np.asarray(correct_b, float)
    diff = a.mean() - b.mean()
    both = []
    alone = []
    for r in range(len(reviews)):
        both.append(a[seeds_a[r]][:, reviews[r]].mean() - b[seeds_b[r]][:, reviews[r]].mean())
        alone.append(a[seeds_a[r]].mean() - b[seeds_b[r]].mean())
    q = [2.5, 97.5]
    return diff, tuple(np.percentile(both, q)), tuple(np.percentile(alone, q))
""",
    ),
    (
        "",
        """
def measure_difference(correct_a, correct_b, reviews, seeds_a, seeds_b):
    a, b = np.asarray(correct_a, float), np.asarray(correct_b, float)
    diff = a.mean() - b.mean()
    both = []
    alone = []
    for r in range(len(reviews)):
        both.append(a[seeds_a[r], reviews[r]].mean() - b[seeds_b[r], reviews[r]].mean())
        alone.append(a[:, reviews[r]].mean() - b[:, reviews[r]].mean())
    q = [2.5, 97.5]
    return diff, tuple(np.percentile(both, q)), tuple(np.percentile(alone, q))
""",
    ),
    (
        "",
        """
def measure_difference(correct_a, correct_b, reviews, seeds_a, seeds_b):
    a, b = np.asarray(correct_a, float), np.asarray(correct_b, float)
    diff = a.mean(axis=1).max() - b.mean(axis=1).max()
    both = []
    alone = []
    for r in range(len(reviews)):
        both.append(a[seeds_a[r]][:, reviews[r]].mean() - b[seeds_b[r]][:, reviews[r]].mean())
        alone.append(a[:, reviews[r]].mean() - b[:, reviews[r]].mean())
    q = [2.5, 97.5]
    return diff, tuple(np.percentile(both, q)), tuple(np.percentile(alone, q))
""",
    ),
    ("other_sign", """
def measure_difference(correct_a, correct_b, reviews, seeds_a, seeds_b):
    again = [b[t][:, r].mean() - a[s][:, r].mean() for a, b, r, s, t in zip([correct_a] * len(reviews), [correct_b] * len(reviews), reviews, seeds_a, seeds_b)]
    alone = (correct_b.mean(0) - correct_a.mean(0))[reviews].mean(1)
    return correct_b.mean() - correct_a.mean(), np.percentile(again, [2.5, 97.5]), np.percentile(alone, [2.5, 97.5])
"""),
    ("seeds_not_drawn", measured((AGAIN, ALONE))),
    ("one_seed", measured(("    def accuracies", "    correct_a, correct_b = correct_a[:1], correct_b[:1]\n\n    def accuracies"), ("correct[seeds[r]]", "correct"))),
    ("ends_subtracted", measured((RETURNED, "return difference, ends(accuracies(correct_a, seeds_a)) - ends(accuracies(correct_b, seeds_b)), ends(correct_a.mean(axis=0)[reviews].mean(axis=1)) - ends(correct_b.mean(axis=0)[reviews].mean(axis=1))"))),
    ("ends_crossed", measured((RETURNED, "return difference, ends(accuracies(correct_a, seeds_a)) - ends(accuracies(correct_b, seeds_b))[::-1], ends(correct_a.mean(axis=0)[reviews].mean(axis=1)) - ends(correct_b.mean(axis=0)[reviews].mean(axis=1))[::-1]"))),
    ("ninety", measured(("[2.5, 97.5]", "[5, 95]"))),
    ("normal", measured((ENDS, "difference - 1.96 * differences.std(), difference + 1.96 * differences.std()"))),
    ("standard_error", measured((ENDS, "difference + np.array([-1.96, 1.96]) * differences.std() / np.sqrt(len(differences))"))),
    ("mean_of_repeats", measured((RETURNED, "return again.mean(), ends(again), ends(alone)"))),
    ("duplicates_once", """
def measure_difference(correct_a, correct_b, reviews, seeds_a, seeds_b):
    again, alone = [], []
    for read, s, t in zip(reviews, seeds_a, seeds_b):
        is_drawn = np.zeros(correct_a.shape[1], bool)
        is_drawn[read] = True
        a, b = correct_a[:, is_drawn], correct_b[:, is_drawn]
        again.append(a[s].mean() - b[t].mean())
        alone.append(a.mean() - b.mean())
    return correct_a.mean() - correct_b.mean(), np.percentile(again, [2.5, 97.5]), np.percentile(alone, [2.5, 97.5])
"""),
    # other reviews for B, by a chance of its own
    ("", measured(("correct_b.mean(axis=0)[reviews]", "correct_b.mean(axis=0)[np.random.default_rng(0).permutation(reviews)]"))),
    ("", measured(("accuracies(correct_b, seeds_b)", "accuracies(correct_b, seeds_b)[::-1]"))),
    # B reads the reviews of the repeat before
    ("", measured(
        ("    difference =", "    before = np.roll(reviews, 1, axis=0)\n    difference ="),
        ("seeds[r]][:, reviews[r]].mean()", "seeds[r]][:, (before if correct is correct_b else reviews)[r]].mean()"),
        ("correct_b.mean(axis=0)[reviews]", "correct_b.mean(axis=0)[before]"),
    )),
    ("only_a_redrawn", measured(
        (AGAIN, "accuracies(correct_a, seeds_a) - np.array([correct_b[seeds].mean() for seeds in seeds_b])"),
        (ALONE, "correct_a.mean(axis=0)[reviews].mean(axis=1) - correct_b.mean()"),
    )),
    # reviews not drawn
    ("", measured(("[:, reviews[r]]", ""))),
    # seeds of A for B
    ("", measured(("accuracies(correct_b, seeds_b)", "accuracies(correct_b, seeds_a)"))),
    # each review with a seed of its own: seeds and reviews mixed
    ("", measured(("correct[seeds[r]][:, reviews[r]]", "correct[np.resize(seeds[r], len(reviews[r])), reviews[r]]"))),
    ("one_drawn_model", measured(("correct[seeds[r]][:, reviews[r]]", "correct[seeds[r][0], reviews[r]]"))),
    ("models_once", measured(("correct[seeds[r]][:, reviews[r]]", "correct[np.unique(seeds[r])][:, reviews[r]]"))),
    ("alone_is_still", measured((ALONE, "np.array([difference] * len(reviews))"))),
    ("", measured((RETURNED, "return difference, ends(alone), ends(again)"))),
    ("", measured((RETURNED, "return difference, ends(again)"))),
    ("", measured((RETURNED, "return abs(difference), ends(again), ends(alone)"))),
    ("", measured((RETURNED, "return difference, difference + ends(again), difference + ends(alone)"))),
    ("", measured(("[2.5, 97.5]", "[0.025, 0.975]"))),
    ("ends_exchanged", measured(("[2.5, 97.5]", "[97.5, 2.5]"))),
    ("alone_of_one_model", measured((ALONE, "(correct_a[0][reviews] * 1.0 - correct_b[0][reviews]).mean(axis=1)"))),
    ("", measured((ENDS, "differences.min(), differences.max()"))),
    ("", measured(("    return difference, ends(again), ends(alone)", "    pass"))),
    ("models_vote", """
def measure_difference(correct_a, correct_b, reviews, seeds_a, seeds_b):
    difference = correct_a.mean() - correct_b.mean()
    both, alone = [], []
    for drawn, models_a, models_b in zip(reviews, seeds_a, seeds_b):
        a, b = correct_a[:, drawn], correct_b[:, drawn]
        both.append((a[models_a].mean(axis=0) > 0.5).mean() - (b[models_b].mean(axis=0) > 0.5).mean())
        alone.append(a.mean() - b.mean())
    return difference, np.percentile(both, [2.5, 97.5]), np.percentile(alone, [2.5, 97.5])
"""),
]  # fmt: skip
