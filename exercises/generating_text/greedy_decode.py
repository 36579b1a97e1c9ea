"""Lab 08b, exercise `greedy_decode`."""

import math
from functools import partial

import numpy as np

from autograder.declare import Advice, Case, Exercise, edit, seen
from exercises.generating_text.shared import free_places, greedy, greedy_decode, search, until

exercise = Exercise("greedy_decode", own_probe=True, returns=("tokens",))
exercise.formula(greedy_decode)


@exercise.formula_for("asked")
def is_asked(max_length: int) -> dict[str, bool]:
    """Whether `step_fn` is asked at all."""
    return {"asked": free_places(max_length) > 0}


def _greedy(inputs: dict, mistake: str) -> str:
    return greedy(inputs, exercise.with_mistake(mistake))


@exercise.group("the most probable token, one after the other", points=2)
def values(rng):
    """Sentences of several tokens that end by themselves, and that the whole prefix decides."""
    told_apart = ("only_last_token", "start_not_handed", "end_ignored", "least_probable")

    def ends(inputs: dict) -> bool:
        tokens = greedy(inputs)
        return 3 < tokens.count(",") < 7 and all(_greedy(inputs, mistake) != tokens for mistake in told_apart)

    drawn = until(partial(search, rng, words=7, max_length=9), ends)
    last = until(
        lambda: search(rng, words=7, kind="last token", max_length=9), lambda drawn: 2 < greedy(drawn).count(",") < 7
    )
    yield Case(drawn, "7 tokens, max_length=9")
    yield Case(last, "7 tokens, the last one decides about the next, max_length=9")
    again = until(
        partial(search, rng, words=7, max_length=9),
        lambda inputs: ends(inputs) and _greedy(inputs, "start_never_again") != greedy(inputs),
    )
    yield Case(again, "7 tokens, one of them is the start id again, max_length=9")


@exercise.group(
    "no end id, an end id at once, max_length=1",
    must_fail_for=("only_last_token",),
    must_pass_for=("start_never_again",),
)
def limits(rng):
    def never_ends(inputs: dict) -> bool:
        tokens = greedy(inputs)
        return tokens.count(",") == 4 and not tokens.endswith(f" {inputs['end_id']}]")

    never = until(lambda: search(rng, words=7, end=-3.0, max_length=5), never_ends)
    first = until(lambda: search(rng, words=5, end=3.0), lambda drawn: greedy(drawn).count(",") == 1)
    full = {**never, "max_length": 1}
    yield Case(never, "the end id never comes, max_length=5")
    yield Case(first, "the end id comes first")
    yield Case(full, "max_length=1: only the start id has a place")
    yield Case(full, "max_length=1: is `step_fn` asked?", mode="asked")


@exercise.group(
    "ties and impossible tokens",
    must_fail_for=("only_last_token", "start_not_handed", "generated_counted"),
    must_pass_for=("end_ignored", "end_not_returned", "start_never_again"),
)
def ties(rng):
    """Two tokens share the first place in every row; the others are impossible."""

    def make() -> dict:
        scores = np.full((23, 7), -np.inf)
        for row in scores:
            row[rng.choice(7, size=2, replace=False)] = math.log(0.5)
        return search(rng, words=7, max_length=6, table=scores)

    tied = until(make, lambda drawn: greedy(drawn) != _greedy(drawn, "last_of_ties") and greedy(drawn).count(",") > 2)
    nearly = until(lambda: search(rng, words=7, max_length=6, table=_nearly_tied(rng)), _never_ends_unless_rounded)
    yield Case(tied, "two tokens tie, all others have log-probability −inf, max_length=6")
    yield Case(nearly, "two log-probabilities differ by 0.0001, max_length=6")


def _nearly_tied(rng) -> np.ndarray:
    """Of two tokens in every row the one with the higher id is more probable, by little; others are impossible."""
    table = np.full((23, 7), -np.inf)
    for row in table:
        row[np.sort(rng.choice(7, size=2, replace=False))] = -0.6932, -0.6931
    return table


def _never_ends_unless_rounded(inputs: dict) -> bool:
    """Whether the sentence has no end id, and rounding to three digits makes it another one."""
    tokens = greedy(inputs)
    is_cut = tokens.count(",") == 5 and not tokens.endswith(f" {inputs['end_id']}]")
    return is_cut and greedy({**inputs, "table": np.round(inputs["table"], 3)}) != tokens


exercise.mistakes(
    only_last_token=edit("step(tokens)", "step(tokens[-1:])", see="08#teacher-forcing")
    | "`step_fn` gets the last token only; it needs the whole list so far."
    | "What does a decoder need to know to go on: the last word, or the sentence so far?",
    start_not_handed=edit("step(tokens)", "step(tokens[1:])")
    | "`step_fn` gets the list without the start id; the start id belongs to it."
    | "What does the list look like when the first token is asked for?",
    least_probable=edit("log_p.argmax()", "log_p.argmin()") | "The least probable token is taken.",
    start_never_again=edit("log_p.argmax()", "np.where(np.arange(len(log_p)) == start_id, -np.inf, log_p).argmax()")
    | "The start id never comes a second time: your code rules it out. It should count like any other token.",
    last_of_ties=edit("log_p.argmax()", "len(log_p) - 1 - log_p[::-1].argmax()")
    | "Of equally probable tokens the largest id is taken. Take the smallest, as `argmax` does."
    | "Which of two equal numbers does your comparison keep: the first or the last?",
    generated_counted=edit("max_length - 1", "max_length")
    | "The list is one too long: max_length counts the start id too."
    | "How many tokens does the list hold before the first one is generated?",
    end_ignored=edit("is_finished(tokens, end_id)", "False")
    | "The end id does not end the sentence."
    | "After a token is appended: which token should stop the loop?",
    start_not_returned=edit("str(tokens)", "str(tokens[1:])") | "The start id is missing in the result.",
    end_not_returned=edit("str(tokens)", "str(tokens[:-1] if is_finished(tokens, end_id) else tokens)")
    | "The end id is missing in the result.",
    bare=edit("str(tokens)", "str(tokens[1:-1] if is_finished(tokens, end_id) else tokens[1:])")
    | "Start id and end id are missing in the result.",
    asked_at_once=seen({"asked": True})
    | "`step_fn` is asked although the list is full: with max_length=1 it should never be asked."
    | "Look whether there is a place before you ask.",
    end_appended=edit("str(tokens)", "str(tokens if is_finished(tokens, end_id) else [*tokens, end_id])")
    | "A sentence that is cut at max_length has no end id. Yours gets one all the same.",
)

exercise.advice(
    values=Advice(
        value="Take the most probable token, and draw nothing. `step_fn` gets the whole list so far, start id first."
    )
)
exercise.hints(
    values="A list that begins with start_id; append one token after the other.",
    limits="Two reasons to stop: the token was end_id, or the list is max_length long. Check both before you ask "
    "again.",
    ties="`np.argmax` takes the first of equal values. Does your comparison use `>` or `>=`?",
)
