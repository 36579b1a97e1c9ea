"""Lab 08b, exercise `greedy_decode`."""

import math
from functools import partial

import numpy as np

from autograder.declaring import Advice, Case, Exercise, wrong
from coursekit.generator import Generator
from exercises.generating_text.shared import free_places, greedy, greedy_decode, search, until

exercise = Exercise("greedy_decode", returns=("tokens",))
exercise.formula(greedy_decode)


@exercise.formula_for("asked")
def is_asked(max_length: int) -> dict[str, bool]:
    """Whether `step_fn` is asked at all."""
    return {"asked": free_places(max_length) > 0}


def _greedy(inputs: dict, mistake: str) -> str:
    return greedy(inputs, exercise.with_mistake(mistake))


@exercise.group(
    "the most probable token, one after the other",
    points=2,
    advice=Advice(
        value="Take the most probable token, and draw nothing. `step_fn` gets the whole list so far, start id first."
    ),
)
def values(rng: Generator) -> list[Case]:
    """Sentences of several tokens that end by themselves, and that the whole prefix decides."""
    told_apart = ("only_last_token", "start_not_handed", "end_ignored", "least_probable")

    def ends(inputs: dict) -> bool:
        tokens = greedy(inputs)
        return 3 < tokens.count(",") < 7 and all(_greedy(inputs, mistake) != tokens for mistake in told_apart)

    drawn = until(partial(search, rng, words=7, max_length=9), ends)
    last = until(
        lambda: search(rng, words=7, kind="last token", max_length=9), lambda drawn: 2 < greedy(drawn).count(",") < 7
    )
    return [
        Case(drawn, description="7 tokens, max_length=9"),
        Case(last, description="7 tokens, the last one decides about the next, max_length=9"),
    ]


@exercise.group("no end id, an end id at once, max_length=1", points=1, must_fail_for=("only_last_token",))
def limits(rng: Generator) -> list[Case]:
    def never_ends(inputs: dict) -> bool:
        tokens = greedy(inputs)
        return tokens.count(",") == 4 and not tokens.endswith(f" {inputs['end_id']}]")

    never = until(lambda: search(rng, words=7, end=-3.0, max_length=5), never_ends)
    first = until(lambda: search(rng, words=5, end=3.0), lambda drawn: greedy(drawn).count(",") == 1)
    full = {**never, "max_length": 1}
    return [
        Case(never, description="the end id never comes, max_length=5"),
        Case(first, description="the end id comes first"),
        Case(full, description="max_length=1: only the start id has a place"),
        Case(full, mode="asked", description="max_length=1: is `step_fn` asked?"),
    ]


@exercise.group(
    "ties and impossible tokens",
    points=1,
    must_fail_for=("only_last_token", "start_not_handed", "generated_counted"),
    must_pass_for=("end_ignored", "end_not_returned"),
)
def ties(rng: Generator) -> list[Case]:
    """Two tokens share the first place in every row; the others are impossible."""

    def make() -> dict:
        scores = np.full((23, 7), -np.inf)
        for row in scores:
            row[rng.choice(7, size=2, replace=False)] = math.log(0.5)
        return search(rng, words=7, max_length=6, table=scores)

    tied = until(make, lambda drawn: greedy(drawn) != _greedy(drawn, "last_of_ties") and greedy(drawn).count(",") > 2)
    nearly = until(lambda: search(rng, words=7, max_length=6, table=_nearly_tied(rng)), _never_ends_unless_rounded)
    return [
        Case(tied, description="two tokens tie, all others have log-probability −inf, max_length=6"),
        Case(nearly, description="two log-probabilities differ by 0.0001, max_length=6"),
    ]


def _nearly_tied(rng: Generator) -> np.ndarray:
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
    only_last_token=wrong(
        "`step_fn` gets the last token only; it needs the whole list so far.",
        ("step(tokens)", "step(tokens[-1:])"),
        hint="What does a decoder need to know to go on: the last word, or the sentence so far?",
        see="08#teacher-forcing",
    ),
    start_not_handed=wrong(
        "`step_fn` gets the list without the start id; the start id belongs to it.",
        ("step(tokens)", "step(tokens[1:])"),
        hint="What does the list look like when the first token is asked for?",
    ),
    least_probable=wrong("The least probable token is taken.", ("log_p.argmax()", "log_p.argmin()")),
    last_of_ties=wrong(
        "On ties the smallest id is taken, as by `argmax`.",
        ("log_p.argmax()", "len(log_p) - 1 - log_p[::-1].argmax()"),
        hint="Which of two equal numbers does your comparison keep: the first or the last?",
    ),
    generated_counted=wrong(
        "The list is one too long: max_length counts the start id too.",
        ("max_length - 1", "max_length"),
        hint="How many tokens does the list hold before the first one is generated?",
    ),
    end_ignored=wrong(
        "The end id does not end the sentence.",
        ("is_finished(tokens, end_id)", "False"),
        hint="After a token is appended: which token should stop the loop?",
    ),
    start_not_returned=wrong("The start id is missing in the result.", ("str(tokens)", "str(tokens[1:])")),
    end_not_returned=wrong(
        "The end id is missing in the result.",
        ("str(tokens)", "str(tokens[:-1] if is_finished(tokens, end_id) else tokens)"),
    ),
    bare=wrong(
        "Start id and end id are missing in the result.",
        ("str(tokens)", "str(tokens[1:-1] if is_finished(tokens, end_id) else tokens[1:])"),
    ),
    asked_at_once=wrong(
        "`step_fn` is asked although the list is full: with max_length=1 it should never be asked.",
        seen={"asked": True},
        hint="Look whether there is a place before you ask.",
    ),
    end_appended=wrong(
        "A sentence that is cut at max_length has no end id. Yours gets one all the same.",
        ("str(tokens)", "str(tokens if is_finished(tokens, end_id) else [*tokens, end_id])"),
    ),
)


exercise.hints("A list that begins with start_id; append one token after the other.")
exercise.hints(
    "Two reasons to stop: the token was end_id, or the list is max_length long. Check both before you ask again.",
    group="limits",
)
exercise.hints("`np.argmax` takes the first of equal values. Does your comparison use `>` or `>=`?", group="ties")
