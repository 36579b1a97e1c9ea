"""Lab 08b, exercise `top_p`."""

import numpy as np

from autograder.declare import Advice, Case, Exercise, edit, instead
from exercises.drawing import drawn_until

exercise = Exercise("top_p")


@exercise.formula
def top_p(probabilities: np.ndarray, p: float) -> np.ndarray:
    """The nucleus (Holtzman et al. 2020): the fewest of the most probable tokens that reach p, divided by their sum."""
    ranked = np.argsort(-probabilities, kind="stable")
    sums = np.cumsum(probabilities[ranked])
    is_in = np.concatenate([[True], sums[:-1] < p])
    nucleus = np.zeros_like(probabilities)
    nucleus[ranked[is_in]] = probabilities[ranked[is_in]]
    output = nucleus / nucleus.sum()
    return output


def all_ties(probabilities: np.ndarray, p: float) -> np.ndarray:
    """The lecture's cut: whatever is as probable as the last token that is needed stays, and nothing for p = 0."""
    falling = np.sort(probabilities)[::-1]
    before = np.cumsum(falling) - falling
    least = np.min(np.where(before < p - 1e-9, falling, 1))
    kept = np.where(probabilities >= least, probabilities, 0)
    return kept / kept.sum()


def _cut(rng, words, kept, place=lambda low, high: (low + high) / 2):
    """Probabilities (words,) in no order, and a p that the `kept` most probable ones reach and one fewer do not."""
    probabilities = rng.random(words) ** 2 + 0.02
    probabilities /= probabilities.sum()
    while (
        (np.diff(np.sort(probabilities)) < 0.004).any()
        or (np.diff(probabilities) < 0).all()
        or probabilities.argmax() == 0
    ):
        probabilities = rng.random(words) ** 2 + 0.02
        probabilities /= probabilities.sum()
    sums = np.concatenate([[0.0], np.cumsum(np.sort(probabilities)[::-1])])
    return {"probabilities": probabilities, "p": float(place(sums[kept - 1], sums[kept]))}


def _sums_to_less_than_one(drawn: dict) -> bool:
    return bool(np.cumsum(np.sort(drawn["probabilities"])[::-1])[-1] < 1)


@exercise.group(
    "the smallest set of most probable tokens", points=2, must_fail_for=("in_the_order_of_ids", "threshold")
)
def values(rng):
    drawn = [_cut(rng, 7, 3), _cut(rng, 11, 5), _cut(rng, 5, 2)]
    return [Case(inputs, f"probabilities {inputs['probabilities'].shape}, p={inputs['p']:.3f}") for inputs in drawn]


@exercise.group("the most probable token always stays")
def first(rng):
    small, none = _cut(rng, 7, 1, lambda low, high: high - 0.002), {**_cut(rng, 5, 1), "p": 0.0}
    return [Case(small, f"p={small['p']:.3f}, below the largest probability"), Case(none, "p=0")]


@exercise.group("p is reached exactly, and ties")
def exactly(rng):
    exact = np.array([0.125, 0.5, 0.0625, 0.25, 0.0625])[rng.permutation(5)]
    tied = np.array([0.125, 0.25, 0.125, 0.25, 0.25])
    yield Case({"probabilities": exact, "p": 0.75}, "probabilities of ½, ¼, ⅛, …, p=0.75")
    yield Case({"probabilities": tied, "p": 0.45}, "three tokens of ¼, p=0.45")
    yield Case({"probabilities": exact, "p": 0.5}, "probabilities of ½, ¼, ⅛, …, p=0.5")
    yield Case({"probabilities": np.tile([1, 2, 1], 64) / 256, "p": 0.1875}, "64 equal tokens, p=24/128")


@exercise.group("p = 1, zeros, tensors and lists")
def edges(rng):
    whole = drawn_until(_sums_to_less_than_one, lambda: _cut(rng, 11, 4))  # a sum that never reaches p, by rounding
    with_zeros, single = _cut(rng, 7, 3), _cut(rng, 5, 3)
    with_zeros["probabilities"][int(with_zeros["probabilities"].argmin())] = 0.0
    with_zeros["probabilities"] /= with_zeros["probabilities"].sum()
    single["probabilities"] = single["probabilities"].astype("float32")
    yield Case({**whole, "p": 1.0}, "p=1")
    yield Case({**with_zeros, "p": 0.6}, "one probability is 0, p=0.6")
    yield Case(single, "a TensorFlow tensor of float32", mode="tensor")


ORDER = 'np.argsort(-probabilities, kind="stable")'
KEPT = "np.concatenate([[True], sums[:-1] < p])"

exercise.mistakes(
    not_renormalised=edit("/ nucleus.sum()", "")
    | "What is left does not sum to 1: divide it by its sum."
    | "What must the numbers sum to before `rng.choice` can draw with them?",
    in_the_order_of_ids=edit(ORDER, "np.arange(len(probabilities))")
    | "The sum runs over the tokens in the order of their ids. It should run from the most probable one down."
    | "Which token should be the first in the sum: the one with id 0, or the most probable one?",
    least_probable=edit(ORDER, 'np.argsort(probabilities, kind="stable")')
    | "The sum begins with the least probable token. It should begin with the most probable one."
    | "`np.argsort` sorts in rising order. What changes if you sort the negative probabilities?",
    one_left_out=edit(KEPT, "np.concatenate([[True], sums[1:] < p])")
    | "The token that makes the sum reach p is left out. It belongs to the set."
    | "Take ½, ¼, ¼ and p = 0.6: which tokens reach 0.6 together?",
    one_too_many=edit("sums[:-1] < p", "sums[:-1] <= p")
    | "Where the sum is p exactly, one more token is kept."
    | "Take ½, ¼, ¼ and p = ½: the first token reaches p alone.",
    one_minus_p=edit("sums[:-1] < p", "sums[:-1] < 1 - p")
    | "The sum runs up to 1 − p. The set is complete when its sum reaches p."
    | "What should p = 1 keep, and what p close to 0?",
    share_of_the_largest=edit(KEPT, "np.concatenate([[True], probabilities[ranked][1:] >= p * probabilities.max()])")
    | "The tokens are kept whose probability is at least p times the largest (min-p). Keep the most probable ones "
    "until their sum reaches p.",
    threshold=edit(KEPT, "np.concatenate([[True], probabilities[ranked][1:] >= p])")
    | "Tokens whose own probability is at least p are kept. The sum of the kept probabilities has to reach p."
    | "Ten tokens of 0.1 and p = 0.5: how many of them have to stay?",
    ties_from_behind=edit(ORDER, 'np.argsort(probabilities, kind="stable")[::-1]')
    | "Of equally probable tokens the one with the higher id comes first. The lower id should come first.",
    sorted_result=edit("return output", "return output[ranked]")
    | "The probabilities come back sorted. Each belongs in the place of its own token."
    | "At which place of the result does the probability of token 3 belong?",
    softmax_again=edit(
        "output = nucleus / nucleus.sum()",
        "powers = np.where(nucleus > 0, np.exp(nucleus), 0)\noutput = powers / powers.sum()",
    )
    | "A softmax is taken of what is left. These are probabilities already: divide by their sum.",
    threshold_of_the_rest=edit(KEPT, "np.concatenate([[True], probabilities[ranked][1:] > 1 - p])")
    | "Tokens whose own probability is above 1 − p are kept. The sum of the kept probabilities has to reach p."
    | "Ten tokens of 0.1 and p = 0.5: how many of them have to stay?",
    ties_stay=edit(
        "nucleus[ranked[is_in]] = probabilities[ranked[is_in]]",
        "nucleus = np.where(probabilities >= probabilities[ranked[is_in]].min(), probabilities, 0)",
        see="08b#choosing",
    )
    | "At the cut all equally probable tokens stay. Keep only as many as it takes to reach p, the lower ids first."
    | "Three tokens of ¼ and p = 0.45: how many of them have to stay?",
    sums_in_the_order_of_ids=edit("np.cumsum(probabilities[ranked])", "np.cumsum(probabilities)")
    | "The sums run over the tokens in the order of their ids. Sort first, and then sum the sorted probabilities."
    | "Which token should be the first in the sum: the one with id 0, or the most probable one?",
    divided_by_p=edit("/ nucleus.sum()", "/ max(p, 1e-30)")
    | "What is left is divided by p. Its sum is p or more: divide by the sum."
    | "What must the numbers sum to before `rng.choice` can draw with them?",
    always_one_more=edit(KEPT, "np.concatenate([[True, True], sums[:-2] < p])")
    | "One token too many is kept. The one with which the sum reaches p is the last."
    | "Take ½, ¼, ¼ and p = 0.6: which tokens reach 0.6 together?",
    one_left_out_and_none_kept=edit(KEPT, "sums < p")
    | "The token that makes the sum reach p is left out, and for a small p no token is kept. It belongs to the set."
    | "Take ½, ¼, ¼ and p = 0.6: which tokens reach 0.6 together?",
    never_reached=edit(KEPT, "np.arange(len(sums)) <= np.argmax(sums >= p)")
    | "One token alone is kept where the rounded sum never reaches p; all should stay. Is it an `argmax`, "
    "which is 0 for a row without True?" | "With p = 1, can the last of your sums be 0.9999999999999999?",
    lecture_cut=instead(all_ties, see="08b#choosing")
    | "At the cut all equally probable tokens stay, as in the lecture's code. Here only as many as it takes to reach "
    "p, the lower ids first; and one stays for p = 0."
    | "The lecture compares each probability with the smallest one that is kept. Which ids are kept instead?",
)

exercise.advice(
    first=Advice(
        value="A p smaller than the largest probability keeps one token, and p = 0 does too. Then that token has "
        "probability 1."
    ),
    exactly=Advice(
        value="The set is complete as soon as its sum is p or more. Of tokens that are equally probable the one with "
        "the "
        "lower id comes first."
    ),
    edges=Advice(
        value="With p = 1 only entries that are already 0 are cut off, also where the rounded sum stays below 1."
    ),
)
exercise.hints(
    values=(
        '`np.argsort` of the negative probabilities, with `kind="stable"`, gives the ids from the most probable one '
        "down.",
        "How large is the sum *before* a token is added? While it is below p, the token is needed.",
    ),
    first="For p = 0 the sum before the first token is not below p. Which token has to stay anyway?",
    exactly="Two comparisons are possible: `<` and `<=`. Try both by hand with ½, ¼, ¼ and p = ½.",
    edges="Print the last sum for p = 1: is it 1? A tensor becomes an array with `np.asarray`.",
)
