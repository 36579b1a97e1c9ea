"""Lab 08b, exercise `beam_search`."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.exercises.generating_text.shared import greedy, search, until
from autograder.mistaken import generating_text as mistaken
from autograder.oracles import generating_text as oracles

Flags = Mapping[str, Any]


# Ways to treat finished hypotheses that the contract does not describe and that nearly always find the same sentence;
# the cases are drawn so that all of them give the right result. Those in CUT_WRONGLY are one mistake, seen by the group `ranking` alone.
KIND: tuple[Flags, ...] = ({"finished": "moved"}, {"finished": "refilled"})
CUT_WRONGLY: tuple[Flags, ...] = ({"finished": "aside"}, {"ranked": "sum"})
READINGS = (*KIND, *CUT_WRONGLY)


def _beam(inputs: Mapping[str, Any], **flags: Any) -> tuple[str, float]:
    found = mistaken.beam_search(**inputs, **flags)
    return found["tokens"], float(found["score"])


def _beams(
    rng: Generator, *mistakes: Flags, tokens: bool = False, readings: tuple[Flags, ...] = READINGS, also: Callable[[dict, tuple[str, float]], bool] = lambda inputs, right: True, **settings: Any
) -> dict:
    """Inputs for which all readings of the contract agree and each of the mistakes changes the result.

    With `tokens` it changes the tokens and not only the score.
    """

    def accept(inputs: dict) -> bool:
        right = _beam(inputs)
        if not also(inputs, right) or any(_apart(_beam(inputs, **flags), right) for flags in readings):
            return False
        return all(_apart(_beam(inputs, **flags), right, tokens_only=tokens) for flags in mistakes)

    return until(lambda: search(rng, **settings), accept)


def _apart(one: tuple[str, float], other: tuple[str, float], tokens_only: bool = False) -> bool:
    return one[0] != other[0] or (not tokens_only and not abs(one[1] - other[1]) < 0.01)


ONE: Flags = {"width": "one"}


def _trap(rng: Generator) -> dict:
    """A table in which the best first token leads nowhere and the second best to a safe sentence."""
    start, lure, good, after, end = (int(each) for each in rng.permutation(5))
    low = rng.uniform(0.42, 0.46)
    p = np.full((5, 5), 0.2)
    p[start, [lure, good]], p[start, [after, end, start]] = (low + 0.06, low), (0.94 - 2 * low) / 3
    p[good], p[after] = 0.02, 0.02
    p[good, after], p[after, end] = 0.92, 0.92
    sizes = {"start_id": start, "end_id": end, "beam_width": 2, "max_length": 6}
    return {"table": np.log(p / p.sum(-1, keepdims=True)), "kind": "last token", **sizes}


def _tied(rng: Generator) -> dict:
    """Two first tokens are equally probable; only one of them leads to a good end."""
    start, one, other, end = (int(each) for each in rng.permutation(4))
    p = np.full((4, 4), 0.01)
    p[start, [one, other]] = 0.49
    p[one, end], p[one, start] = 0.9, 0.08
    p[other, end], p[other, one] = 0.2, 0.7
    p[end] = 0.25
    sizes = {"start_id": start, "end_id": end, "beam_width": 2, "max_length": 5}
    return {"table": np.log(p / p.sum(-1, keepdims=True)), "kind": "last token", **sizes}


exercise = Exercise("beam_search", oracle=oracles.beam_search, mistaken=mistaken.beam_search)


@exercise.group(
    "the best of several hypotheses", points=2, must_fail_for=("finished_expanded", "finished_ignored", "generated_counted"), must_pass_for=("stops_at_first_finished", "unfinished_ignored")
)
def values(rng: Generator) -> list[Case]:
    prefix = ({"handed": "last"}, {"handed": "without start"})
    return [
        Case(_beams(rng, ONE, *prefix, width=2, words=5), description="beam_width=2, 5 tokens, max_length=6"),
        Case(_beams(rng, ONE, *prefix, width=3, words=7), description="beam_width=3, 7 tokens, max_length=6"),
        Case(_beams(rng, ONE, {"pruning": "each by itself"}, width=3, words=5, kind="last token"), description="beam_width=3, 5 tokens, the last one decides about the next, max_length=6"),
    ]


@exercise.group(
    "finds a better sentence where greedy is trapped",
    points=1,
    must_fail_for=(*("only_last_token", "one_child_each", "finished_ignored", "no_length_penalty"), *("divided_by_power_of_length", "penalty_multiplied", "score_without_penalty")),
    must_pass_for=("stops_at_first_finished",),
)
def trapped(rng: Generator) -> list[Case]:
    drawn = _beams(
        rng, ONE, tokens=True, width=3, words=7, max_length=7, penalty=0.6,
        also=lambda inputs, right: right[1] > _beam(inputs, **ONE)[1] + 0.3 and right[0].endswith(f" {inputs['end_id']}]"),
    )  # fmt: skip
    return [Case(_trap(rng), description="the most probable first token leads into a trap, beam_width=2"), Case(drawn, description="greedy search is trapped, beam_width=3, length_penalty=0.6")]


@exercise.group(
    "length penalty",
    points=2,
    advice="n counts the generated tokens, the end id too and the start id not.",
    must_pass_for=("beam_of_one", "one_child_each", "finished_ignored", "stops_when_best_is_finished"),
)
def penalty(rng: Generator) -> list[Case]:
    formulas = tuple({"penalty": each} for each in ("none", "n^a", "n", "start counted", "multiplied", "without end"))
    cases = []
    for penalty, words in ((1.0, 5), (0.6, 7)):
        inputs = _beams(
            rng, *formulas, {"score": "sum"}, width=3, words=words, max_length=7, penalty=penalty, end=1.0,
            also=lambda inputs, right: _beam(inputs, penalty="none")[0] != right[0] and right[0].endswith(f" {inputs['end_id']}]"),
        )  # fmt: skip
        cases.append(Case(inputs, description=f"length_penalty={penalty} makes another sentence win, beam_width=3"))
    return cases


@exercise.group(
    "the beam is cut by the scores",
    points=1,
    advice="All candidates compete by their scores, the finished ones too. A hypothesis that has ended can be pushed out.",
    must_fail_for=("pruned_by_sums", "finished_expanded"),
    must_pass_for=("finished_ignored",),
)
def ranking(rng: Generator) -> list[Case]:
    inputs = _beams(rng, *CUT_WRONGLY, tokens=True, readings=KIND, width=2, words=5, max_length=7, penalty=1.2, end=1.0)
    return [Case(inputs, description="length_penalty=1.2 decides which hypotheses stay, beam_width=2")]


@exercise.group(
    "finished and unfinished hypotheses",
    points=2,
    advice="A finished hypothesis stays as it is and stays in the competition. The search goes on for the others.",
    must_fail_for=("beam_of_one",),
    must_pass_for=("one_child_each",),
)
def finished(rng: Generator) -> list[Case]:
    def finishes(inputs: dict, right: tuple[str, float]) -> bool:
        return right[0].endswith(f" {inputs['end_id']}]")

    return [
        Case(
            _beams(rng, {"stop": "first finished"}, {"finished": "expanded"}, width=3, words=5, end=1.0, also=finishes),
            description="some hypotheses end sooner than others, beam_width=3",
        ),
        Case(
            _beams(
                rng, {"stop": "first finished"}, {"stop": "best finished"}, width=3, words=5, end=1.0, penalty=1.2,
                also=finishes,
            ),
            description="some hypotheses end sooner than others, beam_width=3, length_penalty=1.2",
        ),
        Case(
            _beams(rng, {"pool": "unfinished"}, width=3, words=5, max_length=4, end=0.5, also=finishes),
            description="a finished hypothesis beats one without end, max_length=4",
        ),
        Case(
            _beams(
                rng, {"pool": "finished"}, {"counted": "generated"}, width=3, words=5, max_length=4, end=0.5,
                also=lambda inputs, right: not finishes(inputs, right),
            ),
            description="a hypothesis without end beats the finished ones, max_length=4",
        ),
    ]  # fmt: skip


@exercise.group("width 1 is greedy search", points=1, must_fail_for=("finished_expanded", "generated_counted", "end_not_returned"))
def width_one(rng: Generator) -> list[Case]:
    def is_greedy(inputs: dict, right: tuple[str, float]) -> bool:
        return right[0] == greedy(inputs) and right[0].count(",") > 2

    return [
        Case(_beams(rng, width=1, words=7, also=is_greedy), description="beam_width=1, 7 tokens"),
        Case(_beams(rng, width=1, words=5, penalty=0.7, also=is_greedy), description="beam_width=1, length_penalty=0.7"),
    ]


@exercise.group("wide beams, an early end, −inf, ties", points=1, must_fail_for=("finished_ignored", "unfinished_ignored"), must_pass_for=("one_child_each",))
def edges(rng: Generator) -> list[Case]:
    wide = _beams(rng, ONE, width=11, words=5, max_length=4)
    first = _beams(rng, width=2, words=5, end=4.0, also=lambda inputs, right: right[0].count(",") == 1)
    nearly_none = np.full((23, 5), -np.inf)
    for row in nearly_none:
        row[rng.choice(5, size=2, replace=False)] = np.log([0.7, 0.3])

    def possible(inputs: dict, right: tuple[str, float]) -> bool:
        return right[1] > -20 and right[0].count(",") > 2

    few = until(lambda: _beams(rng, width=4, words=5, table=nearly_none, max_length=5), lambda each: possible(each, _beam(each)))
    return [
        Case(wide, description="beam_width=11, more than the 5 tokens"),
        Case(first, description="the end id is the best first token, beam_width=2"),
        Case({**wide, "beam_width": 3, "max_length": 2}, description="max_length=2: one token after the start"),
        Case(few, description="most log-probabilities are −inf, beam_width=4"),
        Case(_tied(rng), description="two hypotheses tie for a while, beam_width=2"),
    ]


exercise.mistakes(
    beam_of_one=wrong("The search is greedy whatever beam_width says: it keeps one hypothesis.", **ONE),
    only_last_token=wrong("`step_fn` gets the last token only; it needs the whole list so far.", handed="last"),
    start_not_handed=wrong("`step_fn` gets the list without the start id; the start id belongs to it.", handed="without start"),
    no_length_penalty=wrong("The argument `length_penalty` changes nothing.", penalty="none"),
    divided_by_power_of_length=wrong("The sum is divided by n^length_penalty; the divisor should be ((5 + n)/6)^length_penalty.", penalty="n^a"),
    divided_by_length=wrong("The sum is divided by its length n, whatever length_penalty says.", penalty="n"),
    start_counted=wrong("n counts the start id too; it should count generated tokens only.", penalty="start counted"),
    end_not_counted=wrong("n does not count the end id; the end id was generated, too.", penalty="without end"),
    penalty_multiplied=wrong("The sum is multiplied by ((5 + n)/6)^length_penalty; divide by it.", penalty="multiplied"),
    finished_expanded=wrong("Finished hypotheses are lengthened. Nothing may follow the end id.", finished="expanded"),
    stops_at_first_finished=wrong("The search stops when the first hypothesis is finished. Another one may still become better.", stop="first finished"),
    stops_when_best_is_finished=wrong("The search stops when the best hypothesis is finished. With a length penalty a longer one can still pass it.", stop="best finished"),
    unfinished_ignored=wrong("Only finished hypotheses can win. Hypotheses cut off at max_length compete with them by score.", pool="finished"),
    finished_ignored=wrong("Only hypotheses that reached max_length can win. Finished ones compete with them by score.", pool="unfinished"),
    log_probabilities_multiplied=wrong("The log-probabilities are multiplied. Probabilities are multiplied; their logarithms are added.", summed="product"),
    last_step_only=wrong("Only the last token's log-probability counts; add up all of them.", summed="last"),
    one_child_each=wrong("Each hypothesis keeps its best continuation only. All continuations of all hypotheses should compete.", pruning="each by itself"),
    pruned_by_sums=wrong(
        "The beam is cut by the sums of log-probabilities, so a hypothesis that has ended is never pushed out. The scores should decide in each round, not only at the end.", ranked="sum"
    ),
    generated_counted=wrong("The list is one too long: max_length counts the start id too.", counted="generated"),
    score_without_penalty=wrong("The tokens are right; the score returned lacks the length penalty.", score="sum"),
    score_is_probability=wrong("The tokens are right; the score is a sum of logarithms.", score="probability"),
    score_negated=wrong("The tokens are right; the score has the wrong sign.", score="loss"),
    start_not_returned=wrong("The start id is missing in the result.", result="without start"),
    end_not_returned=wrong("The end id is missing in the result.", result="without end"),
    bare=wrong("Start id and end id are missing in the result.", result="bare"),
)


exercise.hints(
    "A hypothesis is a list of tokens with the sum of its log-probabilities. The beam is a list of hypotheses.",
    "A round: finished hypotheses are candidates as they are; every other one gives V candidates. Sort, cut, repeat.",
    "Sort with `key=` by a function of sum and length, so that arrays and lists are never compared with each other.",
)
exercise.hints("Print the beam after each round. Is the final winner still in it?", group="trapped")
exercise.hints("With one hypothesis a round has V candidates, and the best one stays. Where does yours differ from `greedy_decode`?", group="width_one")
exercise.hints("There may be fewer candidates than `beam_width`, and scores of −inf: a slice and a sort work with both.", group="edges")
exercise.hints("Which number does the sort use when the beam is cut, the sum or the score?", group="ranking")
exercise.hints("What happens in a round to a hypothesis that ends with the end id? Follow one through your loop.", group="finished")
