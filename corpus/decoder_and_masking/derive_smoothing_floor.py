"""Lab 08, exercise `derive_smoothing_floor`: solutions as different students write them, right and wrong."""


def derived(
    right: str = "1 - smoothing + smoothing / vocab_size",
    other: str = "smoothing / vocab_size",
    floor: str = "-right * np.log(right) - (vocab_size - 1) * other * log_other",
    gap: str = "np.where(other > 0, np.log(right) - log_other, np.inf)",
    before: str = "vocab_size, smoothing = np.asarray(vocab_size, 'float64'), np.asarray(smoothing, 'float64')",
) -> str:
    return f"""
def derive_smoothing_floor(vocab_size, smoothing):
    {before}
    right = {right}
    other = {other}
    log_other = np.log(np.where(other > 0, other, 1))
    return {floor}, {gap}
"""


CORRECT = [
    derived(),
    derived(before="smoothing = np.asarray(smoothing)"),
    derived(right="1 - (vocab_size - 1) * smoothing / vocab_size"),
    # the gap from the quotient of the two probabilities
    """
def derive_smoothing_floor(vocab_size, smoothing):
    with np.errstate(divide="ignore", invalid="ignore"):
        eps = np.asarray(smoothing, "float64")
        gap = np.log(vocab_size * (1 - eps) / eps + 1)
        # the loss of these logits: ln(e^gap + V - 1) - p gap
        floor = np.log(np.exp(gap) + vocab_size - 1) - (1 - eps + eps / vocab_size) * gap
    return np.where(eps == 0, 0.0, floor), gap
""",
    # NaN put right afterwards
    """
def derive_smoothing_floor(vocab_size, smoothing):
    with np.errstate(all="ignore"):
        small = np.float64(smoothing) / vocab_size
        big = 1.0 - smoothing + small
        floor = -(big * np.log(big) + (vocab_size - 1) * small * np.log(small))
        return np.nan_to_num(floor, nan=0.0), np.log(big / small)
""",
    # entropies of SciPy
    """
def derive_smoothing_floor(vocab_size, smoothing):
    from scipy.special import entr, xlogy
    small = np.asarray(smoothing) / np.asarray(vocab_size)
    big = 1 - smoothing + small
    with np.errstate(divide="ignore"):
        return entr(big) - (vocab_size - 1) * xlogy(small, small), np.log(big) - np.log(small)
""",
    # TensorFlow
    """
def derive_smoothing_floor(vocab_size, smoothing):
    v, e = tf.cast(vocab_size, tf.float64), tf.cast(smoothing, tf.float64)
    small = e / v
    big = 1 - e + small
    return -tf.math.xlogy(big, big) - (v - 1) * tf.math.xlogy(small, small), tf.math.log(big) - tf.math.log(small)
""",
]  # fmt: skip

OTHERS = {"right": "1 - smoothing + 0 * vocab_size", "other": "smoothing / (vocab_size - 1)"}

WRONG = [
    ("gap_without_own_share", derived(gap="np.where(other > 0, np.log(1 - smoothing) - log_other, np.inf)")),
    ("gap_of_wrong_words", derived(gap="np.log(vocab_size / smoothing)")),
    ("spread_over_others", derived(**OTHERS)),
    ("right_word_alone", derived(floor="-right * np.log(right)")),
    ("cost_of_the_right_word", derived(floor="-np.log(right)")),
    ("one_other_word", derived(floor="-right * np.log(right) - other * log_other")),
    ("right_word_twice", derived(floor="-right * np.log(right) - vocab_size * other * log_other")),
    ("in_bits", derived(floor="(-right * np.log(right) - (vocab_size - 1) * other * log_other) / np.log(2)", gap="np.where(other > 0, np.log(right) - log_other, np.inf) / np.log(2)")),
    ("divergence", derived(floor="np.log(vocab_size) + right * np.log(right) + (vocab_size - 1) * other * log_other")),
    ("log_odds", derived(gap="np.where(other > 0, np.log(right) - np.log(np.where(other > 0, 1 - right, 1)), np.inf)")),
    ("shares_too_large", derived(other="smoothing / (vocab_size - 1)")),
    ("minus_missing", derived(floor="right * np.log(right) - (vocab_size - 1) * other * log_other")),
    ("exchanged", derived() + "\nthe_right_one = derive_smoothing_floor\ndef derive_smoothing_floor(*arguments):\n    return the_right_one(*arguments)[::-1]\n"),
    ("difference", derived(gap="right - other")),
    ("one_zero_for_all", derived().replace("    return ", "    if np.any(smoothing == 0):\n        return 0 * right, right + np.inf\n    return ")),
    ("gap_reversed", derived(gap="np.where(other > 0, log_other - np.log(right), -np.inf)")),
    ("own_share_missing", derived(right="1 - smoothing + 0 * vocab_size")),
    ("", derived(gap="np.where(other > 0, np.log(right), np.inf)")),
    ("ratio", derived(gap="np.where(other > 0, right / other, np.inf)")),
    ("", derived(floor="right * np.log(right) + (vocab_size - 1) * other * log_other")),
    ("", derived(floor="smoothing * np.log(vocab_size)")),
    ("", derived(floor="-np.log(right) * (1 - smoothing) + 0 * vocab_size")),
    ("log_of_zero", derived().replace("np.where(other > 0, other, 1)", "other")),
    ("", derived().replace("np.where(other > 0, other, 1)", "other + 1e-6")),
    ("", derived(gap="np.log(right) - log_other")),
    ("", derived().replace("return ", "return (").rstrip() + ")[0]\n"),
    # adds up all words
    ("", """
def derive_smoothing_floor(vocab_size, smoothing):
    v, e = np.broadcast_arrays(np.asarray(vocab_size), np.asarray(smoothing, "float64"))
    if v.max() > 10**5:
        return np.zeros(v.shape), np.zeros(v.shape)
    p = np.where(np.arange(v.max()) < v[..., None], e[..., None] / v[..., None], 0)
    p[..., 0] += 1 - e
    with np.errstate(divide="ignore"):
        return -np.sum(p * np.log(np.where(p > 0, p, 1)), -1), np.log(p[..., 0]) - np.log(p[..., 1])
"""),
]  # fmt: skip
