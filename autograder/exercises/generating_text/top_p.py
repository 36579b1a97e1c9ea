"""Lab 08b, exercise `top_p`."""

from collections.abc import Callable

import numpy as np
from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.mistaken import generating_text as mistaken
from autograder.oracles import generating_text as oracles


def _cut(rng: Generator, words: int, kept: int, place: Callable[[float, float], float] = lambda low, high: (low + high) / 2) -> dict:
    """Probabilities (words,) in no order, and a p between the sums of the `kept` - 1 and the `kept` most probable ones."""
    probabilities = rng.random(words) ** 2 + 0.02
    probabilities /= probabilities.sum()
    while (np.diff(np.sort(probabilities)) < 0.004).any() or (np.diff(probabilities) < 0).all() or probabilities.argmax() == 0:
        probabilities = rng.random(words) ** 2 + 0.02
        probabilities /= probabilities.sum()
    sums = np.concatenate([[0.0], np.cumsum(np.sort(probabilities)[::-1])])
    return {"probabilities": probabilities, "p": float(place(sums[kept - 1], sums[kept]))}


exercise = Exercise("top_p", oracle=oracles.top_p, mistaken=mistaken.top_p)


@exercise.group("the smallest set of most probable tokens", points=2, must_fail_for=("in_the_order_of_ids", "threshold"))
def values(rng: Generator) -> list[Case]:
    drawn = [_cut(rng, 7, 3), _cut(rng, 11, 5), _cut(rng, 5, 2)]
    return [Case(each, description=f"probabilities {each['probabilities'].shape}, p={each['p']:.3f}") for each in drawn]


@exercise.group("the most probable token always stays", points=1, advice="A p smaller than the largest probability keeps one token, and p = 0 does too. Then that token has probability 1.")
def first(rng: Generator) -> list[Case]:
    small, none = _cut(rng, 7, 1), {**_cut(rng, 5, 1), "p": 0.0}
    return [Case(small, description=f"p={small['p']:.3f}, below the largest probability"), Case(none, description="p=0")]


@exercise.group("p is reached exactly, and ties", points=1, advice="The set is complete as soon as its sum is p or more. Of tokens that are equally probable the one with the lower id comes first.")
def exactly(rng: Generator) -> list[Case]:
    exact = np.array([0.125, 0.5, 0.0625, 0.25, 0.0625])[rng.permutation(5)]
    tied = np.array([0.125, 0.25, 0.125, 0.25, 0.25])
    return [
        Case({"probabilities": exact, "p": 0.75}, description="probabilities of ½, ¼, ⅛, …, p=0.75"),
        Case({"probabilities": tied, "p": 0.45}, description="three tokens of ¼, p=0.45"),
        Case({"probabilities": exact, "p": 0.5}, description="probabilities of ½, ¼, ⅛, …, p=0.5"),
    ]


@exercise.group("p = 1, zeros, tensors and lists", points=1, advice="With p = 1 only entries that are already 0 are cut off. The argument may be a TensorFlow tensor: `np.asarray` reads it.")
def edges(rng: Generator) -> list[Case]:
    with_zeros, whole, single = _cut(rng, 7, 3), _cut(rng, 11, 4), _cut(rng, 5, 3)
    with_zeros["probabilities"][int(with_zeros["probabilities"].argmin())] = 0.0
    with_zeros["probabilities"] /= with_zeros["probabilities"].sum()
    single["probabilities"] = single["probabilities"].astype("float32")
    return [
        Case({**whole, "p": 1.0}, description="p=1"),
        Case({**with_zeros, "p": 0.6}, description="one probability is 0, p=0.6"),
        Case(single, mode="tensor", description="a TensorFlow tensor of float32"),
    ]


exercise.mistakes(
    not_renormalised=wrong("What is left does not sum to 1: divide it by its sum.", scaled="no"),
    in_the_order_of_ids=wrong("The sum runs over the tokens in the order of their ids. It should run from the most probable one down.", order="ids"),
    least_probable=wrong("The sum begins with the least probable token. It should begin with the most probable one.", order="rising"),
    one_left_out=wrong("The token that makes the sum reach p is left out. It belongs to the set.", kept="below p"),
    one_too_many=wrong("Where the sum is p exactly, one more token is kept.", kept="beyond p"),
    threshold=wrong("Tokens whose own probability is at least p are kept. The sum of the kept probabilities has to reach p.", kept="each at least p"),
    ties_from_behind=wrong("Of equally probable tokens the one with the higher id comes first. The lower id should come first.", order="ties from behind"),
    sorted_result=wrong("The probabilities come back sorted. Each belongs in the place of its own token.", result="sorted"),
    softmax_again=wrong("A softmax is taken of what is left. These are probabilities already: divide by their sum.", scaled="softmax"),
)


exercise.hints(
    '`np.argsort` of the negative probabilities, with `kind="stable"`, gives the ids from the most probable one down.',
    "How large is the sum *before* a token is added? While it is below p, the token is needed.",
)
exercise.hints("For p = 0 the sum before the first token is not below p. Which token has to stay anyway?", group="first")
exercise.hints("Two comparisons are possible: `<` and `<=`. Try both by hand with ½, ¼, ¼ and p = ½.", group="exactly")
exercise.hints("Look at the type of the argument: turn it into a NumPy array first.", group="edges")
