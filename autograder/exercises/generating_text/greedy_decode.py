"""Lab 08b, exercise `greedy_decode`."""

import math
from functools import partial
from typing import Any

import numpy as np
from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.exercises.generating_text.shared import greedy, search, until
from autograder.mistaken import generating_text as mistaken
from autograder.oracles import generating_text as oracles

exercise = Exercise("greedy_decode", oracle=oracles.greedy_decode, mistaken=mistaken.greedy_decode)


@exercise.group("the most probable token, one after the other", points=2, advice="`step_fn` gets the whole list so far, the start id first.")
def values(rng: Generator) -> list[Case]:
    """Sentences of several tokens that end by themselves, and that the whole prefix decides."""

    def ends(inputs: dict) -> bool:
        tokens = greedy(inputs)
        changed: list[dict[str, Any]] = [{"handed": "last"}, {"handed": "without start"}, {"stop": False}, {"choice": "smallest"}]
        return 3 < tokens.count(",") < 7 and all(greedy(inputs, **flags) != tokens for flags in changed)

    inputs = [until(partial(search, rng, words=words, max_length=9), ends) for words in (5, 7)]
    last = until(lambda: search(rng, words=7, kind="last token", max_length=9), lambda each: 2 < greedy(each).count(",") < 7)
    return [
        Case(inputs[0], description="5 tokens, max_length=9"),
        Case(inputs[1], description="7 tokens, max_length=9"),
        Case(last, description="7 tokens, the last one decides about the next, max_length=9"),
    ]


@exercise.group("no end id, an end id at once, max_length=1", points=1, must_fail_for=("only_last_token",))
def limits(rng: Generator) -> list[Case]:
    never = until(lambda: search(rng, words=7, end=-3.0, max_length=5), lambda each: greedy(each).count(",") == 4 and not greedy(each).endswith(f" {each['end_id']}]"))
    first = until(lambda: search(rng, words=5, end=3.0), lambda each: greedy(each).count(",") == 1)
    return [
        Case(never, description="the end id never comes, max_length=5"),
        Case(first, description="the end id comes first"),
        Case({**never, "max_length": 1}, description="max_length=1: only the start id has a place"),
    ]


@exercise.group("ties and impossible tokens", points=1, must_fail_for=("only_last_token", "start_not_handed", "generated_counted"), must_pass_for=("end_ignored", "end_not_returned"))
def ties(rng: Generator) -> list[Case]:
    """Two tokens share the first place in every row; the others are impossible."""

    def make() -> dict:
        scores = np.full((23, 7), -np.inf)
        for row in scores:
            row[rng.choice(7, size=2, replace=False)] = math.log(0.5)
        return search(rng, words=7, max_length=6, table=scores)

    tied = until(make, lambda each: greedy(each) != greedy(each, choice="last of ties") and greedy(each).count(",") > 2)
    return [Case(tied, description="two tokens tie, all others have log-probability −inf, max_length=6")]


exercise.mistakes(
    only_last_token=wrong("`step_fn` gets the last token only; it needs the whole list so far.", handed="last"),
    start_not_handed=wrong("`step_fn` gets the list without the start id; the start id belongs to it.", handed="without start"),
    least_probable=wrong("The least probable token is taken.", choice="smallest"),
    last_of_ties=wrong("On ties the smallest id is taken, as by `argmax`.", choice="last of ties"),
    generated_counted=wrong("The list is one too long: max_length counts the start id too.", counted="generated"),
    end_ignored=wrong("The end id does not end the sentence.", stop=False),
    start_not_returned=wrong("The start id is missing in the result.", result="without start"),
    end_not_returned=wrong("The end id is missing in the result.", result="without end"),
    bare=wrong("Start id and end id are missing in the result.", result="bare"),
)


exercise.hints("A list that begins with start_id; append one token after the other.")
exercise.hints("Two reasons to stop: the token was end_id, or the list is max_length long. Check both before you ask again.", group="limits")
exercise.hints("`np.argmax` takes the first of equal values. Does your comparison use `>` or `>=`?", group="ties")
