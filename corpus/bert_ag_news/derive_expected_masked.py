"""Lab 07, exercise `derive_expected_masked`: solutions as different students write them, right and wrong."""

from corpus.bert_ag_news.shared import edited

PLAIN = """
def derive_expected_masked(lengths, specials, vocab_size, rate):
    m = lengths - specials
    chosen = rate * m
    masked = chosen * (0.8 + 0.1 / vocab_size)
    kept = chosen * (0.1 + 0.1 / vocab_size)
    replaced = chosen * 0.1 * (1 - 2 / vocab_size)
    none = (1 - rate) ** m
    return masked, replaced, kept, none
"""
MASKED, KEPT = "0.8 + 0.1 / vocab_size", "0.1 + 0.1 / vocab_size"
REPLACED, NONE = "chosen * 0.1 * (1 - 2 / vocab_size)", "(1 - rate) ** m"

CORRECT = [
    # lists
    """
def derive_expected_masked(lengths, specials, vocab_size, rate):
    n = [l - s for l, s in zip(lengths, specials)]
    V = vocab_size
    return ([rate*k*(0.8+0.1/V) for k in n], [rate*k*0.1*(1-2/V) for k in n], [rate*k*(0.1+0.1/V) for k in n], [(1-rate)**int(k) for k in n])
""",
    PLAIN,
    # the rest is replaced
    edited(PLAIN, (REPLACED, "chosen - masked - kept")),
    edited(PLAIN, (REPLACED, "chosen * 0.1 * (vocab_size - 2) / vocab_size")),
    # row by row, with a product of factors
    """
def derive_expected_masked(lengths, specials, vocab_size, rate):
    result = []
    for n, s in zip(lengths, specials):
        none = 1.0
        for _ in range(n - s):
            none *= 1 - rate
        one = 1 / vocab_size
        result.append([(n - s) * rate * share for share in (0.8 + 0.1 * one, 0.1 - 0.2 * one, 0.1 + 0.1 * one)] + [none])
    return tuple(np.array(result).T)
""",
    # a list of lists, in float32
    """
def derive_expected_masked(lengths, specials, vocab_size, rate):
    ordinary = (np.array(lengths) - np.array(specials)).astype("float32")
    draw = 0.1 / vocab_size
    return [rate * ordinary * p for p in (0.8 + draw, 0.1 - 2 * draw, 0.1 + draw)] + [np.power(1 - rate, ordinary)]
""",
    # TensorFlow
    """
def derive_expected_masked(lengths, specials, vocab_size, rate):
    m = tf.cast(lengths - specials, tf.float64)
    masked, kept = m * rate * (0.8 + 0.1 / vocab_size), m * rate * (0.1 + 0.1 / vocab_size)
    return masked, m * rate - masked - kept, kept, (1.0 - rate) ** m
""",
    # a matrix of draws (rows) and what the model sees (columns)
    """
def derive_expected_masked(lengths, specials, vocab_size, rate):
    v = vocab_size
    sees = np.array([0.8, 0.1, 0.1]) @ np.array([[1, 0, 0], [1 / v, 1 - 2 / v, 1 / v], [0, 0, 1]])
    masked, replaced, kept = np.outer(sees, (lengths - specials) * rate)
    return masked, replaced, kept, np.exp(np.log1p(-rate) * (lengths - specials)) if rate < 1 else 0.0 ** (lengths - specials)
""",
]  # fmt: skip

WRONG = [
    (
        "specials_in_none",
        """
def derive_expected_masked(lengths, specials, vocab_size, rate):
    n = np.asarray(lengths) - np.asarray(specials)
    c = n * rate
    masked = c * (0.8 + 0.1 / vocab_size)
    replaced = c * (0.1 * (vocab_size - 2) / vocab_size)
    kept = c * (0.1 + 0.1 / vocab_size)
    none = (1 - rate) ** np.asarray(lengths)
    return masked, replaced, kept, none
""",
    ),
    (
        "one_id_fewer",
        """
def derive_expected_masked(lengths, specials, vocab_size, rate):
    n = np.asarray(lengths) - np.asarray(specials)
    c = n * rate
    masked = c * (0.8 + 0.1 / (vocab_size - 1))
    replaced = c * (0.1 * (vocab_size - 2) / (vocab_size - 1))
    kept = c * 0.1
    none = (1 - rate) ** n
    return masked, replaced, kept, none
""",
    ),
    (
        "",
        """
def derive_expected_masked(lengths, specials, vocab_size, rate):
    n = np.asarray(lengths) - np.asarray(specials)
    c = rate
    masked = c * (0.8 + 0.1 / vocab_size)
    replaced = c * (0.1 * (vocab_size - 2) / vocab_size)
    kept = c * (0.1 + 0.1 / vocab_size)
    none = (1 - rate) ** n
    return masked, replaced, kept, none
""",
    ),
    (
        "",
        """
def derive_expected_masked(lengths, specials, vocab_size, rate):
    n = np.asarray(lengths) - np.asarray(specials)
    c = n * rate
    masked = c * (0.8 + 0.1 / vocab_size)
    replaced = c * (0.1 * (vocab_size - 2) / vocab_size)
    kept = c * (0.1 + 0.1 / vocab_size)
    none = np.exp(n * np.log(1 - rate))
    return masked, replaced, kept, none
""",
    ),
    (
        "",
        """
def derive_expected_masked(lengths, specials, vocab_size, rate):
    n = np.asarray(lengths) - np.asarray(specials)
    c = n * rate
    masked = c * (0.8 + 0.1 / vocab_size)
    replaced = c * (0.1 * (vocab_size - 2) / vocab_size)
    kept = c * (0.1 + 0.1 / vocab_size)
    none = (1 - rate) ** n
    return np.round(masked), replaced, kept, none
""",
    ),
    ("specials_counted", edited(PLAIN, ("lengths - specials", "lengths"))),
    ("share_of_all", edited(PLAIN, ("rate * m", "m"))),
    ("draws_as_named", edited(PLAIN, (MASKED, "0.8"), (KEPT, "0.1"), (REPLACED, "chosen * 0.1"))),
    ("random_masks_forgotten", edited(PLAIN, (MASKED, "0.8"), ("1 - 2 / vocab_size", "1 - 1 / vocab_size"))),
    ("random_own_forgotten", edited(PLAIN, (KEPT, "0.1"), ("1 - 2 / vocab_size", "1 - 1 / vocab_size"))),
    ("exchanged", edited(PLAIN, ("masked, replaced, kept,", "masked, kept, replaced,"))),
    ("at_least_one", edited(PLAIN, (NONE, "1 - (1 - rate) ** m"))),
    ("power_of_the_rate", edited(PLAIN, (NONE, "1 - rate**m"))),
    ("all_chosen", edited(PLAIN, (NONE, "rate**m"))),
    ("nothing_masked", edited(PLAIN, (NONE, "(1 - 0.8 * rate) ** m"))),
    ("none_to_change", edited(PLAIN, (NONE, "(1 - 0.9 * rate) ** m"))),
    ("nothing_changed", edited(PLAIN, (NONE, "(1 - rate * (0.9 - 0.1 / vocab_size)) ** m"))),
    ("none_in_the_batch", edited(PLAIN, (NONE, "np.full(len(m), (1 - rate) ** m.sum())"))),
    ("", edited(PLAIN, (NONE, "np.full(len(m), (1 - rate) ** m.mean())"))),
    ("", edited(PLAIN, (NONE, "np.full(len(m), (1 - rate) ** m.max())"))),
    ("mask_never_drawn", edited(PLAIN, (MASKED, "0.8"), (KEPT, "0.1 + 0.1 / (vocab_size - 1)"), (REPLACED, "chosen - masked - kept"))),
    (
        "one_in_fewer",
        edited(PLAIN, (MASKED, "0.8 + 0.1 / (vocab_size - 1)"), (KEPT, "0.1 + 0.1 / (vocab_size - 1)"), (REPLACED, "chosen - masked - kept")),
    ),
    ("mean_taken_off", edited(PLAIN, (NONE, "1 - rate * m"))),
    ("for_small_rates", edited(PLAIN, (NONE, "np.exp(-rate * m)"))),
    ("", edited(PLAIN, ("lengths - specials", "lengths - 2"))),
    ("one_of_two_left_out", edited(PLAIN, (REPLACED, "chosen * 0.1 * (1 - 1 / vocab_size)"))),
    ("replaced_as_drawn", edited(PLAIN, (REPLACED, "chosen * 0.1"))),
    ("", edited(PLAIN, (MASKED, "0.8"))),
    ("", edited(PLAIN, (NONE, "1 - rate"))),
    ("", edited(PLAIN, (NONE, "(1 - 0.15) ** m"))),
    ("", edited(PLAIN, ("rate * m", "0.15 * m"))),
    ("", edited(PLAIN, (NONE, "(1 - rate) ** lengths"))),
    ("", edited(PLAIN, (NONE, "m * 0.0"))),
    ("", edited(PLAIN, (NONE, "np.exp(np.log(1 - rate) * m)"))),
    ("", edited(PLAIN, ("masked, replaced, kept, none\n", "masked, replaced, kept\n"))),
    ("", edited(PLAIN, ("masked, replaced, kept, none\n", "masked.sum(), replaced.sum(), kept.sum(), none.mean()\n"))),
    ("", edited(PLAIN, ("return masked", "masked"))),
    ("", edited(PLAIN, ("    m = lengths - specials", "    lengths -= specials\n    m = lengths"))),
    ("", edited(PLAIN, ("rate * m", "int(100 * rate) / 100 * m"))),
    ("", edited(PLAIN, ("    m = lengths - specials", "    m, rate = lengths - specials, round(rate, 2)"))),
    ("", edited(PLAIN, ("rate * m", "(rate + 0.01) * m"))),
    # by simulation
    ("", """
def derive_expected_masked(lengths, specials, vocab_size, rate):
    rng = np.random.default_rng(0)
    found = []
    for m in lengths - specials:
        chosen = rng.random((2000, m)) < rate
        fate = rng.random((2000, m))
        drawn = rng.integers(vocab_size, size=(2000, m))
        ids = np.where(fate < 0.8, 0, np.where(fate < 0.9, drawn, 1))
        found.append([(chosen & (ids == 0)).sum() / 2000, (chosen & (ids > 1)).sum() / 2000, (chosen & (ids == 1)).sum() / 2000, (~chosen.any(1)).mean()])
    return tuple(np.array(found).T)
"""),
]  # fmt: skip
