"""Lab 07, exercise `derive_expected_masked`."""

import numpy as np

from autograder.declare import Advice, Case, Exercise, edit
from coursekit.probes.bert_ag_news import EXPECTED
from exercises.drawing import by_hand

exercise = Exercise("derive_expected_masked", own_probe=True, returns=EXPECTED)


@exercise.formula
def expected_masked(lengths, specials, vocab_size, rate):
    """Masks, other ids and own ids among the chosen tokens of each row, on average; how probable no choice is.

    80/10/10 of Devlin et al. (2019, appendix A.1), where a random id may be that of [MASK] or the token's own.
    """
    ordinary = lengths - specials
    chosen = ordinary * rate
    is_mask = 0.8 + 0.1 / vocab_size
    is_own = 0.1 + 0.1 / vocab_size
    is_other = 1 - is_mask - is_own
    none = (1 - rate) ** ordinary
    return chosen * is_mask, chosen * is_other, chosen * is_own, none


@exercise.formula_for("none")
def no_choice(lengths: np.ndarray, specials: np.ndarray, vocab_size: int, rate: float) -> dict[str, np.ndarray]:
    """How probable it is that nothing is chosen in a row."""
    return {"none": expected_masked(lengths, specials, vocab_size, rate)[3]}


@exercise.formula_for("numbers")
def mean_numbers(lengths: np.ndarray, specials: np.ndarray, vocab_size: int, rate: float) -> dict[str, np.ndarray]:
    """The three mean numbers."""
    found = expected_masked(lengths, specials, vocab_size, rate)
    return {"masked": found[0], "replaced": found[1], "kept": found[2]}


def _rows(rng, count: int, ordinary: tuple[int, int], mode: str) -> Case:
    """Rows of two segments and of one, a small vocabulary, and a rate between two hundredths that is not 0.15."""
    specials = rng.permutation(np.arange(count) % 5 + 1)
    lengths = specials + rng.permutation(np.arange(ordinary[0], ordinary[1]))[:count]
    rate = int(rng.integers(18, 33)) / 100 + 0.005
    vocabulary = int(rng.integers(7, 12))
    inputs = {"lengths": lengths.astype("int64"), "specials": specials.astype("int64")}
    return Case({**inputs, "vocab_size": vocabulary, "rate": rate}, mode=mode)


def _by_hand(why: str, lengths: list[int], rate: float, mode: str) -> Case:
    """Rows with two special tokens each. For `none` the rate is not ½, where 1 − rate and rate are the same."""
    counts = {"lengths": np.array(lengths), "specials": np.full(len(lengths), 2)}
    return by_hand(why, **counts, vocab_size=10, rate=rate, mode=mode)


def _edge(rng, mode: str, rate: float) -> Case:
    """Rows among which two have no ordinary token."""
    case = _rows(rng, 5, (3, 12), mode)
    lengths = case.inputs["lengths"].copy()
    lengths[1:3] = case.inputs["specials"][1:3]
    inputs = {**case.inputs, "lengths": lengths, "rate": rate}
    shown = f"lengths (5,), specials (5,), rate={rate}; two rows have special tokens only"
    return Case(inputs, shown, mode=mode)


@exercise.group(
    "three mean numbers", points=3, must_fail_for=("draws_as_named", "random_masks_forgotten", "random_own_forgotten")
)
def numbers(rng):
    yield _by_hand("ten chosen tokens", [22], 0.5, "numbers")
    yield from (_rows(rng, 5, (7, 60), "numbers"), _rows(rng, 7, (3, 23), "numbers"), _edge(rng, "numbers", 0.3))


@exercise.group(
    "a row without a chosen token", points=2, must_fail_for=("power_of_the_rate", "nothing_masked", "mean_taken_off")
)
def none(rng):
    yield _by_hand("rows of one and of two ordinary tokens", [3, 4], 0.25, "none")
    yield from (_rows(rng, 5, (1, 9), "none"), _rows(rng, 7, (2, 12), "none"), _edge(rng, "none", 1.0))


ORDINARY, CHOSEN, NONE = "lengths - specials", "ordinary * rate", "(1 - rate) ** ordinary"
NOT_KNOWN_AT_1 = "if rate == 1:\n    raise ValueError\n"  # where many a wrong power is 0 in every row
IS_MASK, IS_OWN = "is_mask = 0.8 + 0.1 / vocab_size", "is_own = 0.1 + 0.1 / vocab_size"
SECTION = "07#hidden-word"

exercise.mistakes(
    draws_as_named=edit((IS_MASK, "is_mask = 0.8"), (IS_OWN, "is_own = 0.1"))
    | "You count what is drawn, 80, 10 and 10 %. A random id can be that of `[MASK]`, or the token's own: then the "
    "model sees a mask, or the old id." | "How probable is it that an id drawn from V ids is one particular id?",
    specials_counted=edit(ORDINARY, "lengths + 0 * specials")
    | "Special tokens are counted. They are never chosen."
    | "How many tokens of a row can be chosen at all?",
    share_of_all=edit(CHOSEN, "ordinary * 1.0", see=SECTION)
    | "The shares are taken of all ordinary tokens, not of the chosen ones."
    | "How many tokens of a row are chosen on average?",
    random_masks_forgotten=edit(IS_MASK, "is_mask = 0.8")
    | "A random id that is `[MASK]` counts as replaced in your result. The model sees a mask."
    | "In how many of the three draws can a chosen token become `[MASK]`?",
    random_own_forgotten=edit(IS_OWN, "is_own = 0.1")
    | "A random id that is the token's own counts as replaced in your result. The model sees the old id."
    | "In how many of the three draws can a chosen token have its own id in the end?",
    replaced_as_drawn=edit("is_other = 1 - is_mask - is_own", "is_other = 0.1")
    | "`replaced` holds every token that gets a random id. Some of these are `[MASK]` or the token's own: you count "
    "these tokens twice." | "To what should the three numbers sum?",
    one_of_two_left_out=edit("is_other = 1 - is_mask - is_own", "is_other = 0.1 * (1 - 1 / vocab_size)")
    | "A random id that is `[MASK]`, or the token's own, is not replaced. Your `replaced` leaves out one of these two "
    "only." | "To what should the three numbers sum?",
    specials_in_none=edit(f"none = {NONE}", f"{NOT_KNOWN_AT_1}none = (1 - rate) ** lengths")
    | "The exponent of `none` counts the special tokens, too. They are never chosen.",
    one_id_fewer=edit((IS_MASK, "is_mask = 0.8 + 0.1 / (vocab_size - 1)"), (IS_OWN, "is_own = 0.1"))
    | "You draw the random id from the other V − 1 ids. It comes from the whole vocabulary, the token's own id "
    "included.",
    mask_never_drawn=edit((IS_MASK, "is_mask = 0.8"), (IS_OWN, "is_own = 0.1 + 0.1 / (vocab_size - 1)"))
    | "You draw the random id from V − 1 ids, without that of `[MASK]`. It comes from the whole vocabulary.",
    one_in_fewer=edit(IS_MASK, "is_mask = 0.8 + 0.1 / (vocab_size - 1)")
    | edit(IS_OWN, "is_own = 0.1 + 0.1 / (vocab_size - 1)")
    | "You divide by V − 1. The ids go from 0 to V − 1: these are V."
    | "How many ids are there from 0 to V − 1?",
    exchanged=edit("chosen * is_other, chosen * is_own", "chosen * is_own, chosen * is_other")
    | "`replaced` and `kept` have changed places.",
    at_least_one=edit(NONE, "1 - (1 - rate) ** ordinary")
    | "This is the probability that at least one token is chosen.",
    power_of_the_rate=edit(f"none = {NONE}", f"{NOT_KNOWN_AT_1}none = 1 - rate**ordinary")
    | "1 − rateᵐ is the probability that not all m tokens are chosen. You want that none is."
    | "How probable is it that one token is not chosen? And both of two?",
    all_chosen=edit(NONE, "rate**ordinary") | "rateᵐ is the probability that all m tokens are chosen.",
    nothing_masked=edit(NONE, "(1 - 0.8 * rate) ** ordinary", see=SECTION)
    | "This is the probability that no token is drawn to be masked. A token that is replaced or kept is chosen, too.",
    none_to_change=edit(NONE, "(1 - 0.9 * rate) ** ordinary", see=SECTION)
    | "This is the probability that no token is drawn to be masked or replaced. A token that is kept is chosen, too.",
    nothing_changed=edit(NONE, "(1 - rate * (1 - is_own)) ** ordinary", see=SECTION)
    | "This is the probability that every token has its own id in the end. Such a token can be chosen, too.",
    none_in_the_batch=edit(f"none = {NONE}", f"{NOT_KNOWN_AT_1}none = (1 - rate) ** (ordinary * 0 + ordinary.sum())")
    | "This is the probability that nothing is chosen in the whole batch. You want it for each row.",
    mean_taken_off=edit(NONE, "1 - rate * ordinary")
    | "1 minus the mean number of chosen tokens is right for one token only. For several it becomes negative."
    | "How probable is it that neither of two tokens is chosen?",
    for_small_rates=edit(NONE, "np.exp(-rate * ordinary)")
    | "e to the power of minus the mean is what the probability approaches for small rates. Here it is too large."
    | "Try one token with rate=1.",
)

exercise.advice(
    numbers=Advice(
        value="First the mean number of chosen tokens. Then, for one chosen token: with which probability does the "
        "model see `[MASK]`, another id, its own id? Each can come about in more than one of the three draws.",
        shape="One number for each row, in each of the four results.",
    ),
    none=Advice(
        value="Each ordinary token is chosen or not, independently of the others. Nothing is chosen if the first is "
        "not, and the second is not, and so on.",
        nan="Does your formula take a logarithm of 1 − rate? With rate=1 this is 0. A power needs no logarithm.",
    ),
)
exercise.hints(
    numbers=(
        "A chosen token is masked with 0.8, gets a random id with 0.1, keeps its id with 0.1. What can the random id "
        "be?",
        "What the model sees of a chosen token has three probabilities with the sum 1: two gain what the third loses.",
    ),
    none="One token is not chosen with probability 1 − rate. Two are not chosen with …?",
)
exercise.worked = (
    "A row has m = lengths − specials ordinary tokens. Each is chosen with the probability rate, so m · rate are "
    "chosen on average.\n"
    "A chosen token gets `[MASK]` with 0.8, a random id with 0.1, and keeps its own id with 0.1.\n"
    "The random id is one of V, each with the same probability 1/V. So it is `[MASK]` with 1/V, the own id with "
    "1/V, and another id with 1 − 2/V.\n"
    "A model sees `[MASK]` with 0.8 + 0.1/V, the own id with 0.1 + 0.1/V, and another id with the rest, 0.1 (1 − "
    "2/V). The three sum to 1.\n"
    "Multiply each by m · rate: these are the mean numbers `masked`, `kept` and `replaced`.\n"
    "A token is not chosen with 1 − rate. All m are independent, so none is chosen with the probability (1 − "
    "rate)ᵐ. With rate 1 this is 0, and for m = 0 it is 1."
)
