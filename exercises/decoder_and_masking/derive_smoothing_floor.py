"""Lab 08, exercise `derive_smoothing_floor`."""

import numpy as np

from autograder.declaring import Advice, Case, Exercise, wrong
from coursekit.generator import Generator

exercise = Exercise("derive_smoothing_floor", call=("vocab_size", "smoothing"), returns=("floor", "gap"), no_loops=True)


@exercise.formula
def floor_and_gap(vocab_size: np.ndarray, smoothing: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The entropy of the smoothed target, and ln of the quotient of its two probabilities (Szegedy et al. 2016).

    The target holds 1 − ε + ε/V once and ε/V another V − 1 times. Both arguments broadcast; 0·ln 0 is 0.
    """
    right, other = probabilities(np.asarray(vocab_size, "float64"), np.asarray(smoothing, "float64"))
    costs = -right * np.log(right)
    log_other = np.log(np.where(other > 0, other, 1))
    floor = costs - (vocab_size - 1) * other * log_other
    gap = np.where(other > 0, np.log(right) - log_other, np.inf)
    return np.asarray(floor), np.asarray(gap)


def probabilities(words: np.ndarray, epsilon: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What the smoothed target gives to the right word, and to each other word."""
    return 1 - epsilon + epsilon / words, epsilon / words


def _words(rng: Generator, low: int, high: int, *shape: int) -> np.ndarray:
    return rng.integers(low, high, size=shape).astype("int64")


def _rates(rng: Generator, *shape: int) -> np.ndarray:
    return (0.05 + 0.4 * rng.random(shape)).astype("float32")


@exercise.group(
    "one vocabulary, one ε",
    points=2,
    advice=Advice(
        value="No prediction makes the loss smaller than the target itself does. What does each of the V words "
        "contribute then, and which two logits does a softmax turn into the target's two probabilities?"
    ),
)
def values(rng: Generator) -> list[Case]:
    return [
        Case({"vocab_size": int(words), "smoothing": float(rate)})
        for words, rate in zip(_words(rng, 3, 40, 3), _rates(rng, 3), strict=True)
    ]


@exercise.group(
    "arrays that broadcast",
    points=1,
    advice=Advice(
        shape="Both results have the shape that the two arguments broadcast to.",
        value="Every entry has a V and an ε of its own.",
    ),
)
def arrays(rng: Generator) -> list[Case]:
    return [
        Case({"vocab_size": _words(rng, 3, 60, 3, 1), "smoothing": _rates(rng, 5)}),
        Case({"vocab_size": _words(rng, 3, 60, 7), "smoothing": _rates(rng, 7)}),
    ]


@exercise.group(
    "without smoothing, and with nothing else",
    points=1,
    advice=Advice(
        nan="0 · ln 0 counts as 0, and a computer says that it is NaN. Take the logarithm of something else there.",
        value="With ε = 0 the target is certain: the floor is 0, and no finite gap reaches it. With ε = 1 the target "
        "gives every word the same.",
    ),
)
def edges(rng: Generator) -> list[Case]:
    words = _words(rng, 3, 60, 5)
    rates = _rates(rng, 5)
    rates[rng.permutation(5)[:2]] = 0.0, 1.0
    return [
        Case({"vocab_size": words, "smoothing": rates}, description="vocab_size (5,), smoothing (5,) with a 0 and a 1"),
        Case({"vocab_size": int(words[0]), "smoothing": 1.0}),
    ]


@exercise.group(
    "more words than fit into memory",
    points=1,
    advice="A closed form needs no array of V entries. Which words of the target are equal, and how many are there?",
)
def large(rng: Generator) -> list[Case]:
    words = np.array([int(rng.integers(1, 9)) * 10**power for power in (6, 9, 12)], "int64")
    return [Case({"vocab_size": words, "smoothing": _rates(rng, 3)}, description="vocab_size (3,), up to 10¹²")]


TARGET = "1 - epsilon + epsilon / words, epsilon / words"
FLOOR = "costs - (vocab_size - 1) * other * log_other"
RESULTS = "return np.asarray(floor), np.asarray(gap)"
GAP = "np.where(other > 0, np.log(right) - log_other, np.inf)"

exercise.mistakes(
    spread_over_others=wrong(
        "ε is spread over the other V − 1 words. Here it is spread over all V, the right word included.",
        (TARGET, "1 - epsilon, epsilon / (words - 1)"),
        hint="How much does the right word keep, and how much of ε comes back to it?",
        see="08#loss-floor",
    ),
    right_word_alone=wrong(
        "The floor holds the term of the right word only. The smoothed target asks for the other words as well.",
        (FLOOR, "costs + 0 * vocab_size"),
        hint="Over which words does the sum of a cross-entropy run?",
        see="08#loss-floor",
    ),
    cost_of_the_right_word=wrong(
        "This floor is what the right word alone costs, unweighted. Each word's cost counts with the probability that "
        "the target gives it, and all words cost.",
        (FLOOR, "-np.log(right) + 0 * vocab_size"),
        hint="Over which words does the sum of a cross-entropy run, and what is the factor before the logarithm?",
        see="08#loss-floor",
    ),
    one_other_word=wrong(
        "The other words count once, as if there were one of them.",
        (FLOOR, "costs - other * log_other + 0 * vocab_size"),
        hint="How many words have the probability ε/V?",
    ),
    in_bits=wrong(
        "Floor and gap are in bits. Loss and logits are in nats: natural logarithms.",
        ("costs = -right * np.log(right)", "costs = -right * np.log2(right)"),
        ("log_other = np.log(np.where(other > 0, other, 1))", "log_other = np.log2(np.where(other > 0, other, 1))"),
        ("np.log(right) - log_other", "np.log2(right) - log_other"),
    ),
    divergence=wrong(
        "This floor is the divergence of the target from equal probabilities, ln V minus its entropy. The smallest "
        "cross-entropy is the entropy itself.",
        (FLOOR, "np.log(vocab_size) - costs + (vocab_size - 1) * other * log_other"),
        hint="Which q makes H(p, q) smallest, and what is H(p, q) called for this q?",
        see="08#loss-floor",
    ),
    log_odds=wrong(
        "This gap compares the right word with all others together. It is asked for one logit and one other logit.",
        (GAP, "np.where(other > 0, np.log(right) - np.log(np.where(other > 0, 1 - right, 1)), np.inf)"),
        hint="The logits of two words differ by s. By which factor do their probabilities differ?",
    ),
    gap_reversed=wrong(
        "The gap has the wrong sign: the right word has the larger logit.",
        (GAP, "np.where(other > 0, log_other - np.log(right), -np.inf)"),
    ),
    own_share_missing=wrong(
        "Your right word has 1 − ε alone. ε is spread over all V words, so its own share ε/V comes back to it.",
        (TARGET, "1 - epsilon, epsilon / words"),
        hint="Add up the probabilities of your target. Is the sum 1?",
        see="08#loss-floor",
    ),
    shares_too_large=wrong(
        "Your target sums to more than 1: each other word has ε/(V − 1), and the right word still has its share ε/V.",
        (TARGET, "1 - epsilon + epsilon / words, epsilon / (words - 1)"),
        hint="Over how many words is ε spread?",
        see="08#loss-floor",
    ),
    right_word_twice=wrong(
        "The share ε/V is counted V times. The right word has a term of its own, so V − 1 are left.",
        (FLOOR, "costs - vocab_size * other * log_other"),
    ),
    minus_missing=wrong(
        "The right word's term has the wrong sign: −p ln p is positive for both kinds of words.",
        (FLOOR, "-costs - (vocab_size - 1) * other * log_other"),
    ),
    ratio=wrong(
        "This gap is the quotient of the two probabilities. Logits that differ by s make a quotient of eˢ.",
        (GAP, "np.where(other > 0, right / np.where(other > 0, other, 1), np.inf)"),
        hint="Write the softmax of the logits (s, 0) and divide its two entries.",
    ),
    difference=wrong(
        "This gap is the difference of the two probabilities. Logits that differ by s make a quotient of eˢ.",
        (GAP, "right - other"),
        hint="Write the softmax of the logits (s, 0) and divide its two entries.",
    ),
    gap_without_own_share=wrong(
        "In your gap the right word has 1 − ε alone. Its own share ε/V comes back to it.",
        ("gap = np.where(other > 0, np.log(right)", "gap = np.where(other > 0, np.log(1 - smoothing)"),
    ),
    gap_of_wrong_words=wrong(
        "Your gap knows the wrong words only. Logits that differ by s make a quotient of eˢ of two probabilities.",
        ("gap = np.where(other > 0, np.log(right)", "gap = np.where(other > 0, 0"),
    ),
    one_zero_for_all=wrong(
        "One ε of 0 decides about all results. Each entry has an ε of its own: choose with `np.where`.",
        (
            RESULTS,
            "has_zero = np.any(np.equal(smoothing, 0))\n"
            "return np.where(has_zero, 0, floor), np.where(has_zero, np.inf, gap)",
        ),
    ),
    log_of_zero=wrong(
        "Where ε is 0 the floor is NaN, because a computer says so of 0 · ln 0. That term counts as 0.",
        ("np.log(np.where(other > 0, other, 1))", "np.log(other)"),
        hint="`np.where(x > 0, x, 1)` inside the logarithm keeps it finite; where ε is 0 its factor is 0 anyway.",
    ),
    exchanged=wrong(
        "Floor and gap are exchanged: the floor comes first.", (RESULTS, "return np.asarray(gap), np.asarray(floor)")
    ),
)

exercise.hints(
    "How many different probabilities does the smoothed target have, and how often does each occur?",
    "H(p, q) is smallest for q = p. Write the sum for two kinds of words. Then write q with logits s at the right word "
    "and 0 elsewhere, and solve for s.",
)
exercise.hints("Use `np.log` and products, not `sum` and not an array of V entries.", group="arrays")
exercise.hints(
    "`np.where(x > 0, x, 1)` inside the logarithm keeps it finite; where ε is 0 its factor is 0 anyway.", group="edges"
)
exercise.hints("The V − 1 equal terms of a sum are one product.", group="large")
