"""Lab 08, exercise `derive_smoothing_floor`."""

import numpy as np

from autograder.declare import Advice, Case, Exercise, edit
from exercises.drawing import by_hand

exercise = Exercise("derive_smoothing_floor", returns=("floor", "gap"), no_loops=True)


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


def _words(rng, low: int, high: int, *shape: int) -> np.ndarray:
    return rng.integers(low, high, size=shape).astype("int64")


def _rates(rng, *shape: int) -> np.ndarray:
    return (0.05 + 0.4 * rng.random(shape)).astype("float32")


@exercise.group("one vocabulary, one ε", points=2)
def values(rng):
    yield by_hand("both words get one half", vocab_size=2, smoothing=1.0)
    yield by_hand("the words get 1/2, 1/4 and 1/4", vocab_size=3, smoothing=0.75)
    for words, rate in zip(_words(rng, 3, 40, 3), _rates(rng, 3), strict=True):
        yield {"vocab_size": int(words), "smoothing": float(rate)}


@exercise.group("arrays that broadcast")
def arrays(rng):
    yield {"vocab_size": _words(rng, 3, 60, 3, 1), "smoothing": _rates(rng, 5)}
    yield {"vocab_size": _words(rng, 3, 60, 7), "smoothing": _rates(rng, 7)}


@exercise.group("without smoothing, and with nothing else")
def edges(rng):
    words = _words(rng, 3, 60, 5)
    rates = _rates(rng, 5)
    rates[rng.permutation(5)[:2]] = 0.0, 1.0
    yield Case({"vocab_size": words, "smoothing": rates}, "vocab_size (5,), smoothing (5,) with a 0 and a 1")
    yield Case({"vocab_size": int(words[0]), "smoothing": 1.0})


@exercise.group("more words than fit into memory")
def large(rng):
    words = np.array([int(rng.integers(1, 9)) * 10**power for power in (6, 9, 12)], "int64")
    return Case({"vocab_size": words, "smoothing": _rates(rng, 3)}, "vocab_size (3,), up to 10¹²")


TARGET = "1 - epsilon + epsilon / words, epsilon / words"
FLOOR = "costs - (vocab_size - 1) * other * log_other"
RESULTS = "return np.asarray(floor), np.asarray(gap)"
GAP = "np.where(other > 0, np.log(right) - log_other, np.inf)"

exercise.mistakes(
    spread_over_others=edit(TARGET, "1 - epsilon, epsilon / (words - 1)", see="08#loss-floor")
    | "ε is spread over the other V − 1 words. Here it is spread over all V, the right word included."
    | "How much does the right word keep, and how much of ε comes back to it?",
    right_word_alone=edit(FLOOR, "costs + 0 * vocab_size", see="08#loss-floor")
    | "The floor holds the term of the right word only. The smoothed target asks for the other words as well."
    | "Over which words does the sum of a cross-entropy run?",
    cost_of_the_right_word=edit(FLOOR, "-np.log(right) + 0 * vocab_size", see="08#loss-floor")
    | "This floor is what the right word alone costs, unweighted. Each word's cost counts with the probability that "
    "the target gives it, and all words cost."
    | "Over which words does the sum of a cross-entropy run, and what is the factor before the logarithm?",
    one_other_word=edit(FLOOR, "costs - other * log_other + 0 * vocab_size")
    | "The other words count once, as if there were one of them."
    | "How many words have the probability ε/V?",
    in_bits=edit("costs = -right * np.log(right)", "costs = -right * np.log2(right)")
    | edit("log_other = np.log(np.where(other > 0, other, 1))", "log_other = np.log2(np.where(other > 0, other, 1))")
    | edit("np.log(right) - log_other", "np.log2(right) - log_other")
    | "Floor and gap are in bits. Loss and logits are in nats: natural logarithms.",
    divergence=edit(FLOOR, "np.log(vocab_size) - costs + (vocab_size - 1) * other * log_other", see="08#loss-floor")
    | "This floor is the divergence of the target from equal probabilities, ln V minus its entropy. The smallest "
    "cross-entropy is the entropy itself." | "Which q makes H(p, q) smallest, and what is H(p, q) called for this q?",
    log_odds=edit(GAP, "np.where(other > 0, np.log(right) - np.log(np.where(other > 0, 1 - right, 1)), np.inf)")
    | "This gap compares the right word with all others together. It is asked for one logit and one other logit."
    | "The logits of two words differ by s. By which factor do their probabilities differ?",
    gap_reversed=edit(GAP, "np.where(other > 0, log_other - np.log(right), -np.inf)")
    | "The gap has the wrong sign: the right word has the larger logit.",
    own_share_missing=edit(TARGET, "1 - epsilon, epsilon / words", see="08#loss-floor")
    | "Your right word has 1 − ε alone. ε is spread over all V words, so its own share ε/V should come back to it."
    | "Add up the probabilities of your target. Is the sum 1?",
    shares_too_large=edit(TARGET, "1 - epsilon + epsilon / words, epsilon / (words - 1)", see="08#loss-floor")
    | "Your target sums to more than 1: each other word has ε/(V − 1), and the right word still has its share ε/V."
    | "Over how many words is ε spread?",
    right_word_twice=edit(FLOOR, "costs - vocab_size * other * log_other")
    | "The share ε/V is counted V times. The right word has a term of its own, so V − 1 are left.",
    minus_missing=edit(FLOOR, "-costs - (vocab_size - 1) * other * log_other")
    | "The right word's term has the wrong sign: −p ln p is positive for both kinds of words.",
    ratio=edit(GAP, "np.where(other > 0, right / np.where(other > 0, other, 1), np.inf)")
    | "This gap is the quotient of the two probabilities. Logits that differ by s make a quotient of eˢ."
    | "Write the softmax of the logits (s, 0) and divide its two entries.",
    difference=edit(GAP, "right - other")
    | "This gap is the difference of the two probabilities. Logits that differ by s make a quotient of eˢ."
    | "Write the softmax of the logits (s, 0) and divide its two entries.",
    gap_without_own_share=edit("other > 0, np.log(right)", "other > 0, np.log(1 - smoothing)")
    | "In your gap the right word has 1 − ε alone. Its own share ε/V should come back to it.",
    gap_of_wrong_words=edit("gap = np.where(other > 0, np.log(right)", "gap = np.where(other > 0, 0")
    | "Your gap knows the wrong words only. Logits that differ by s make a quotient of eˢ of two probabilities.",
    one_zero_for_all=edit(
        RESULTS,
        "has_zero = np.any(np.equal(smoothing, 0))\n"
        "return np.where(has_zero, 0, floor), np.where(has_zero, np.inf, gap)",
    )
    | "One ε of 0 decides about all results. Each entry has an ε of its own: choose with `np.where`.",
    log_of_zero=edit("np.log(np.where(other > 0, other, 1))", "np.log(other)")
    | "Where ε is 0 the floor is NaN, because a computer says so of 0 · ln 0. That term counts as 0."
    | "`np.where(x > 0, x, 1)` inside the logarithm keeps it finite; where ε is 0 its factor is 0 anyway.",
    exchanged=edit(RESULTS, "return np.asarray(gap), np.asarray(floor)")
    | "Floor and gap are exchanged: the floor comes first.",
)

exercise.advice(
    values=Advice(
        value="The loss is smallest where the prediction is the target. How much does each of the V words add to it "
        "then? Which two logits give the target's two probabilities in a softmax?"
    ),
    arrays=Advice(
        shape="Both results have the shape that the two arguments broadcast to.",
        value="Every entry has a V and an ε of its own.",
    ),
    edges=Advice(
        nan="0 · ln 0 counts as 0, and a computer says that it is NaN. Take the logarithm of something else there.",
        value="With ε = 0 the target is certain: the floor is 0, and no finite gap reaches it. With ε = 1 the target "
        "gives every word the same.",
    ),
    large="A closed form needs no array of V entries. Which words of the target are equal, and how many are there?",
)
exercise.hints(
    values=(
        "How many different probabilities does the smoothed target have, and how often does each occur?",
        "H(p, q) is smallest for q = p. Write the sum for two kinds of words. Then write q with logits s at the right "
        "word and 0 elsewhere, and solve for s.",
    ),
    arrays="Use `np.log` and products, not `sum` and not an array of V entries.",
    edges="In the floor `np.where(x > 0, x, 1)` inside the logarithm keeps it finite; where ε is 0 its factor is 0 "
    "anyway. The gap has no such factor: there a second `np.where` chooses the result.",
    large="The V − 1 equal terms of a sum are one product.",
)
exercise.worked = (
    "The smoothed target gives a = 1 − ε + ε/V to the right word, and b = ε/V to each of the other V − 1 words.\n"
    "The loss is the cross-entropy of this target and the prediction q. It is the entropy of the target plus a "
    "divergence, and the divergence is 0 for q equal to the target and positive for any other q.\n"
    "So the floor is the entropy. The right word has one term, and the V − 1 equal terms of the others are one "
    "product: −a ln a − (V − 1) b ln b.\n"
    "A softmax divides every exponential by the same sum. Two probabilities therefore have the quotient e^(s), "
    "where s is the difference of their logits.\n"
    "Here the quotient is a/b, so the gap is ln(a/b) = ln a − ln b.\n"
    "For ε = 0 the product b ln b counts as 0, the limit for small b: the floor is 0, and ln b has no finite "
    "value, so the gap is infinite. For ε = 1 all words are equal: ln V and 0."
)
