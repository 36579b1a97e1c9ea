"""Lab 08b, exercise `beam_search`."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from autograder.declare import Advice, Case, Exercise, edit, instead
from coursekit.probes.generating_text import table_step
from exercises.generating_text.shared import finished_apart, greedy, is_finished, lengthened, scoring, search, until

Formula = Callable[..., dict[str, Any]]

exercise = Exercise("beam_search", own_probe=True, returns=("tokens", "score"))


@exercise.formula
def beam_search(table, kind, start_id, end_id, beam_width, max_length, length_penalty=0.0):
    """Beam search (Wu et al. 2016, section 7, without the coverage penalty).

    The beam holds the best hypotheses, finished or not, by score. In each round the finished ones stay as they are,
    every other one is lengthened by every token, and the best `beam_width` of all make the new beam.
    """
    step = table_step(table, kind)
    rank = scoring(length_penalty)
    beam = [([start_id], 0.0)]
    for _ in range(max_length - 1):
        candidates: list[tuple[list[int], float]] = []
        for hypothesis in beam:
            candidates += [hypothesis] if is_finished(hypothesis[0], end_id) else lengthened(hypothesis, step)
        candidates.sort(key=rank, reverse=True)
        beam = candidates[:beam_width]
        if all(is_finished(tokens, end_id) for tokens, _ in beam):
            break
    best = max(beam, key=rank)
    return {"tokens": str(best[0]), "score": np.asarray(rank(best))}


def divided_again(table, kind, start_id, end_id, beam_width, max_length, length_penalty=0.0):
    """A hypothesis is lengthened from its score, which is divided already, and is divided again."""
    step = table_step(table, kind)
    beam = [([start_id], 0.0)]
    for _ in range(max_length - 1):
        candidates: list[tuple[list[int], float]] = []
        for hypothesis in beam:
            if is_finished(hypothesis[0], end_id):
                candidates.append(hypothesis)
            else:
                divisor = ((5 + len(hypothesis[0])) / 6) ** length_penalty
                candidates += [(tokens, total / divisor) for tokens, total in lengthened(hypothesis, step)]
        beam = sorted(candidates, key=lambda pair: pair[1], reverse=True)[:beam_width]
    return {"tokens": str(beam[0][0]), "score": np.asarray(beam[0][1])}


# Ways to treat finished hypotheses that nearly always find the same sentence. The cases are drawn so that all of them
# give the right result; the group `ranking` alone tells them from it. CUT_WRONGLY are two faces of one mistake.
APART: tuple[Formula, ...] = (partial(finished_apart, places="given back"), finished_apart)
CUT_WRONGLY: tuple[Formula | str, ...] = (partial(finished_apart, places="kept"), "pruned_by_sums")
READINGS = (*APART, *CUT_WRONGLY)


def _found(inputs: Mapping[str, Any], by: Formula | str = beam_search) -> tuple[str, float]:
    """Tokens and score: by the right formula, by one with a mistake, given by its id, or by another formula."""
    found = (exercise.with_mistake(by) if isinstance(by, str) else by)(**inputs)
    return found["tokens"], float(found["score"])


def _beams(rng, *mistakes, tokens=False, readings=READINGS, also=lambda inputs, right: True, **settings):
    """Inputs for which all readings of the contract agree and each of the mistakes changes the result.

    With `tokens` it changes the tokens and not only the score.
    """

    def accept(inputs: dict) -> bool:
        right = _found(inputs)
        if not also(inputs, right) or any(_apart(_found(inputs, reading), right) for reading in readings):
            return False
        return all(_apart(_found(inputs, mistake), right, tokens_only=tokens) for mistake in mistakes)

    return until(lambda: search(rng, **settings), accept)


def _apart(one: tuple[str, float], other: tuple[str, float], tokens_only: bool = False) -> bool:
    return one[0] != other[0] or (not tokens_only and not abs(one[1] - other[1]) < 0.01)


def _ends(inputs: dict, right: tuple[str, float]) -> bool:
    return right[0].endswith(f" {inputs['end_id']}]")


def _trap(rng) -> dict:
    """A table in which the best first token leads nowhere and the second best to a safe sentence."""
    start, lure, good, after, end = (int(token) for token in rng.permutation(5))
    low = rng.uniform(0.42, 0.46)
    p = np.full((5, 5), 0.2)
    p[start, [lure, good]], p[start, [after, end, start]] = (low + 0.06, low), (0.94 - 2 * low) / 3
    p[good], p[after] = 0.02, 0.02
    p[good, after], p[after, end] = 0.92, 0.92
    sizes = {"start_id": start, "end_id": end, "beam_width": 2, "max_length": 6}
    return {"table": np.log(p / p.sum(-1, keepdims=True)), "kind": "last token", **sizes}


def _tied(rng) -> dict:
    """Two first tokens are equally probable; only one of them leads to a good end."""
    start, one, other, end = (int(token) for token in rng.permutation(4))
    p = np.full((4, 4), 0.01)
    p[start, [one, other]] = 0.49
    p[one, end], p[one, start] = 0.9, 0.08
    p[other, end], p[other, one] = 0.2, 0.7
    p[end] = 0.25
    sizes = {"start_id": start, "end_id": end, "beam_width": 2, "max_length": 5}
    return {"table": np.log(p / p.sum(-1, keepdims=True)), "kind": "last token", **sizes}


def _place_taken(rng) -> dict:
    """A finished hypothesis holds a place in the beam of 2 that another one would need to win at the end.

    After two rounds the beam is a, b (ln 0.36, divided by 7/6: −0.88) and the end (ln 0.25: −1.39); a, c (−1.47) has
    no place. With one it would end with ln 0.176, divided by 8/6: −1.30, better than the end at once.
    """
    start, end, a, b, c = (int(token) for token in rng.permutation(5))
    p = np.full((5, 5), 0.2)
    p[start, [a, end, b, c, start]] = 0.60, 0.25, 0.06, 0.05, 0.04
    p[a, [b, c, a, start, end]] = 0.60, 0.30, 0.04, 0.035, 0.025
    p[b, [start, a, b, c, end]] = 0.24, 0.22, 0.20, 0.18, 0.16
    p[c, [end, a, b, c, start]] = 0.98, 0.008, 0.006, 0.004, 0.002
    sizes = {"start_id": start, "end_id": end, "beam_width": 2, "max_length": 5, "length_penalty": 1.0}
    return {"table": np.log(p), "kind": "last token", **sizes}


def _fourth_wins(rng) -> dict:
    """Three tokens, and a beam of 9, in which the fourth of the second round wins at the end.

    After two rounds a, a (ln 0.146, divided by (7/6)^2.7: −1.27) is behind the end (ln 0.4: −0.92), start, start
    (−1.05), and start, end (−1.13). After four rounds a, a, a, a (ln 0.137, divided by (9/6)^2.7) has −0.67.
    """
    start, end, a = (int(token) for token in rng.permutation(3))
    p = np.zeros((3, 3))
    p[start, [start, end, a]] = 0.45, 0.40, 0.15
    p[a, [a, start, end]] = 0.97, 0.02, 0.01
    p[end] = 1 / 3
    sizes = {"start_id": start, "end_id": end, "beam_width": 9, "max_length": 5, "length_penalty": 2.7}
    return {"table": np.log(p), "kind": "last token", **sizes}


@exercise.group(
    "the best of several hypotheses",
    points=2,
    must_fail_for=("finished_expanded", "finished_ignored", "generated_counted"),
    must_pass_for=("stops_at_first_finished", "unfinished_ignored"),
)
def values(rng):
    prefix = ("only_last_token", "start_not_handed")
    yield Case(_beams(rng, "beam_of_one", *prefix, width=2, words=5), "beam_width=2, 5 tokens, max_length=6")
    yield Case(_beams(rng, "beam_of_one", *prefix, width=3, words=7), "beam_width=3, 7 tokens, max_length=6")
    yield Case(
        _beams(rng, "beam_of_one", "one_child_each", width=3, words=5, kind="last token"),
        "beam_width=3, 5 tokens, the last one decides about the next, max_length=6",
    )


@exercise.group(
    "finds a better sentence where greedy is trapped",
    must_fail_for=(
        *("only_last_token", "one_child_each", "finished_ignored", "no_length_penalty"),
        *("divided_by_power_of_length", "penalty_multiplied", "score_without_penalty", "stops_with_the_first"),
        "divided_again",
    ),
    must_pass_for=("stops_at_first_finished",),
)
def trapped(rng):
    def is_much_better(inputs: dict, right: tuple[str, float]) -> bool:
        return right[1] > _found(inputs, "beam_of_one")[1] + 0.3 and _ends(inputs, right)

    drawn = _beams(rng, "beam_of_one", tokens=True, width=3, words=7, max_length=7, penalty=0.6, also=is_much_better)
    yield Case(_trap(rng), "the most probable first token leads into a trap, beam_width=2")
    yield Case(drawn, "greedy search is trapped, beam_width=3, length_penalty=0.6")


@exercise.group(
    "length penalty",
    points=2,
    must_fail_for=("divided_again",),
    must_pass_for=("beam_of_one", "one_child_each", "finished_ignored", "stops_when_best_is_finished"),
)
def penalty(rng):
    formulas = (
        *("no_length_penalty", "divided_by_power_of_length", "divided_by_length", "start_counted"),
        *("penalty_multiplied", "end_not_counted", "score_without_penalty"),
    )

    def decides(inputs: dict, right: tuple[str, float]) -> bool:
        return _found(inputs, "no_length_penalty")[0] != right[0] and _ends(inputs, right)

    cases = []
    for penalty, words in ((1.0, 5), (0.6, 7)):
        inputs = _beams(rng, *formulas, width=3, words=words, max_length=7, penalty=penalty, end=1.0, also=decides)
        cases.append(Case(inputs, f"length_penalty={penalty} makes another sentence win, beam_width=3"))
    return cases


@exercise.group(
    "the beam is cut by the scores",
    must_fail_for=("pruned_by_sums", "finished_expanded", "finished_ignored"),
    must_pass_for=("unfinished_ignored", "generated_counted"),
)
def ranking(rng):
    inputs = _beams(
        rng, *CUT_WRONGLY, tokens=True, readings=APART, width=2, words=5, max_length=7, penalty=1.2, end=1.0
    )
    yield Case(inputs, "length_penalty=1.2 decides which hypotheses stay, beam_width=2")
    yield Case(_place_taken(rng), "a hypothesis that has ended takes one of two places, length_penalty=1")


@exercise.group(
    "finished and unfinished hypotheses",
    points=2,
    must_fail_for=("beam_of_one", "divided_again"),
    must_pass_for=("one_child_each",),
)
def finished(rng):
    beams = partial(_beams, rng, width=3, words=5)

    def goes_on(inputs: dict, right: tuple[str, float]) -> bool:
        return not _ends(inputs, right)

    yield Case(
        beams("stops_at_first_finished", "finished_expanded", end=1.0, also=_ends),
        "some hypotheses end sooner than others, beam_width=3",
    )
    yield Case(
        beams("stops_at_first_finished", "stops_when_best_is_finished", end=1.0, penalty=1.2, also=_ends),
        "some hypotheses end sooner than others, beam_width=3, length_penalty=1.2",
    )
    yield Case(
        beams("finished_ignored", max_length=4, end=0.5, also=_ends),
        "a finished hypothesis beats one without end, max_length=4",
    )
    yield Case(
        beams("unfinished_ignored", "generated_counted", max_length=4, end=0.5, also=goes_on),
        "a hypothesis without end beats the finished ones, max_length=4",
    )


@exercise.group(
    "width 1 is greedy search", must_fail_for=("finished_expanded", "generated_counted", "end_not_returned")
)
def width_one(rng):
    def is_greedy(inputs: dict, right: tuple[str, float]) -> bool:
        return right[0] == greedy(inputs) and right[0].count(",") > 2

    yield Case(_beams(rng, width=1, words=7, also=is_greedy), "beam_width=1, 7 tokens")
    yield Case(_beams(rng, width=1, words=5, penalty=0.7, also=is_greedy), "beam_width=1, length_penalty=0.7")


@exercise.group(
    "wide beams, an early end, −inf, ties",
    must_fail_for=("finished_ignored", "unfinished_ignored"),
    must_pass_for=("one_child_each",),
)
def edges(rng):
    wide = _beams(rng, "beam_of_one", width=11, words=5, max_length=4)
    first = _beams(rng, width=2, words=5, end=4.0, also=lambda inputs, right: right[0].count(",") == 1)
    nearly_none = np.full((23, 5), -np.inf)
    for row in nearly_none:
        row[rng.choice(5, size=2, replace=False)] = np.log([0.7, 0.3])

    def is_possible(inputs: dict) -> bool:
        tokens, score = _found(inputs)
        return score > -20 and tokens.count(",") > 2

    few = until(lambda: _beams(rng, width=4, words=5, table=nearly_none, max_length=5), is_possible)
    yield Case(wide, "beam_width=11, more than the 5 tokens")
    yield Case(first, "the end id is the best first token, beam_width=2")
    yield Case({**wide, "beam_width": 3, "max_length": 2}, "max_length=2: one token after the start")
    yield Case(few, "most log-probabilities are −inf, beam_width=4")
    yield Case(_tied(rng), "two hypotheses tie for a while, beam_width=2")
    yield Case(_fourth_wins(rng), "beam_width=9, more than the 3 tokens, max_length=5, length_penalty=2.7")


STEP = "step(tokens)"
SUM = "total + float(log_p)"
DIVISION = "/ ((5 + length) / 6) ** length_penalty"
BEST = "max(beam, key=rank)"
FINISHED_ONES = "[hypothesis for hypothesis in beam if is_finished(hypothesis[0], end_id)]"
TOKENS = "str(best[0])"
SCORE = "np.asarray(rank(best))"

exercise.mistakes(
    beam_of_one=edit("candidates[:beam_width]", "candidates[:1]")
    | "The search is greedy whatever beam_width says: it keeps one hypothesis."
    | "How many hypotheses does your list hold after the first round?",
    only_last_token=edit(STEP, "step(tokens[-1:])")
    | "`step_fn` gets the last token only; it needs the whole list so far."
    | "What does `greedy_decode` hand to `step_fn`?",
    start_not_handed=edit(STEP, "step(tokens[1:])")
    | "`step_fn` gets the list without the start id; the start id belongs to it."
    | "What does the list look like when the first token is asked for?",
    no_length_penalty=edit(DIVISION, "")
    | "The argument `length_penalty` changes nothing."
    | "Where is the sum divided by ((5 + n)/6)^length_penalty: at the end, in each round, or nowhere?",
    divided_by_power_of_length=edit(DIVISION, "/ max(length, 1) ** length_penalty")
    | "The sum is divided by n^length_penalty; the divisor should be ((5 + n)/6)^length_penalty."
    | "Put n = 1 into the formula of the text: the divisor is 1 whatever the penalty. And for n = 7?",
    divided_by_length=edit(DIVISION, "/ max(length, 1)")
    | "The sum is divided by its length n, whatever length_penalty says."
    | "With length_penalty=0 the score is the sum itself.",
    start_counted=edit(DIVISION, "/ ((6 + length) / 6) ** length_penalty")
    | "n counts the start id too; it should count generated tokens only."
    | "How large is n for a list of the start id and one token?",
    end_not_counted=edit(DIVISION, "/ ((5 + max(length - 1, 0)) / 6) ** length_penalty")
    | "n does not count the end id; the end id was generated, too."
    | "How many log-probabilities are in the sum of a finished hypothesis?",
    five_and_a_sixth=edit(DIVISION, "/ (5 + length / 6) ** length_penalty")
    | "The divisor is (5 + n/6)^length_penalty. Brackets are missing: it should be ((5 + n)/6)^length_penalty."
    | "Put n = 1 into the formula of the text: the divisor is 1 whatever the penalty. And in yours?",
    penalty_multiplied=edit(DIVISION, "* ((5 + length) / 6) ** length_penalty")
    | "The sum is multiplied by ((5 + n)/6)^length_penalty; divide by it.",
    divided_again=instead(divided_again)
    | "The score of the round before is lengthened and divided again. Keep the sum of the log-probabilities, and "
    "divide this whole sum once." | "How often is the first log-probability divided in a hypothesis of three tokens?",
    finished_expanded=edit("[hypothesis] if is_finished(hypothesis[0], end_id) else lengthened", "lengthened")
    | edit("all(is_finished(tokens, end_id) for tokens, _ in beam)", "False")
    | "Finished hypotheses are lengthened. Nothing may follow the end id.",
    stops_at_first_finished=edit(("all", "any"), (BEST, f"max({FINISHED_ONES} or beam, key=rank)"))
    | "The search stops when the first hypothesis is finished. Another one may still become better.",
    stops_when_best_is_finished=edit(
        "all(is_finished(tokens, end_id) for tokens, _ in beam)", "is_finished(beam[0][0], end_id)"
    )
    | "The search stops when the best hypothesis is finished. With a length penalty a longer one can still pass it.",
    unfinished_ignored=edit(BEST, f"max({FINISHED_ONES} or beam, key=rank)")
    | "Where the beam holds a finished hypothesis, no other can win. Those cut off at max_length should compete by "
    "score.",
    finished_ignored=edit(BEST, f"max({FINISHED_ONES.replace('if is_', 'if not is_')} or beam, key=rank)")
    | "Where the beam holds an unfinished hypothesis, no finished one can win. Both should compete by score.",
    log_probabilities_multiplied=edit(SUM, "total * float(log_p) if len(tokens) > 1 else float(log_p)")
    | "The log-probabilities are multiplied. Probabilities are multiplied; their logarithms are added.",
    last_step_only=edit(SUM, "float(log_p)") | "Only the last token's log-probability counts; add up all of them.",
    one_child_each=edit(
        "else lengthened(hypothesis, step)",
        "else sorted(lengthened(hypothesis, step), key=rank)[0 if len(hypothesis[0]) == 1 else -1:]",
    )
    | "Each hypothesis keeps its best continuation only. All continuations of all hypotheses should compete.",
    pruned_by_sums=edit(".sort(key=rank, reverse=True)", ".sort(key=lambda pair: pair[1], reverse=True)")
    | "The beam is cut by the sums of log-probabilities, which fall as a hypothesis grows, "
    "so those that ended early stay too long. The scores should decide in each round, not only at the end."
    | "Which number does your sort use, and which does the last line return?",
    stops_with_the_first=edit("all", "any")
    | "The search stops as soon as one hypothesis of the beam is finished. It should go on until all of them are: "
    "another one may still become better."
    | "Which hypotheses of the beam are looked at when your loop decides to end?",
    finished_kept_apart=instead(finished_apart)
    | "Finished hypotheses are put aside, and their places go to others. They should stay in the beam, and keep a "
    "place as long as their scores are good enough." | "In each round, what competes for the `beam_width` places?",
    generated_counted=edit("range(max_length - 1)", "range(max_length)")
    | "The list is one too long: max_length counts the start id too.",
    score_without_penalty=edit(SCORE, "np.asarray(best[1])")
    | "The tokens are right; the score returned lacks the length penalty.",
    score_is_probability=edit(SCORE, "np.asarray(np.exp(best[1]))")
    | "The tokens are right; the score is a sum of logarithms.",
    score_negated=edit(SCORE, "np.asarray(-rank(best))") | "The tokens are right; the score has the wrong sign.",
    start_not_returned=edit(TOKENS, "str(best[0][1:])") | "The start id is missing in the result.",
    end_not_returned=edit(TOKENS, "str(best[0][:-1] if is_finished(best[0], end_id) else best[0])")
    | "The end id is missing in the result.",
    bare=edit(TOKENS, "str(best[0][1:-1] if is_finished(best[0], end_id) else best[0][1:])")
    | "Start id and end id are missing in the result.",
    finished_dropped=edit("[hypothesis] if is_finished", "[] if is_finished")
    | "Finished hypotheses fall out of the beam in the next round. They should stay as they are, and compete."
    | "Which list holds a finished hypothesis after the next round?",
    width_capped=edit("candidates[:beam_width]", "candidates[: min(beam_width, table.shape[-1])]")
    | "The beam never holds more than V hypotheses. `beam_width` may be larger than the number of tokens."
    | "After two rounds there are more than V candidates. How many of them should stay?",
    finished_lengthened=edit("[hypothesis] if is_finished(hypothesis[0], end_id) else lengthened", "lengthened")
    | "A finished hypothesis is lengthened as long as others are not finished. Nothing may follow the end id.",
)

exercise.advice(
    penalty=Advice(
        value="The penalty decides wherever hypotheses are compared, also at the end. n counts the generated tokens, "
        "the end id too and the start id not."
    ),
    ranking=Advice(
        value="All candidates compete by their scores, the finished ones too. A hypothesis that has ended can be "
        "pushed out."
    ),
    finished=Advice(
        value="A finished hypothesis stays as it is and stays in the competition. The search goes on for the others."
    ),
)
exercise.hints(
    values=(
        "A hypothesis is a list of tokens with the sum of its log-probabilities. The beam is a list of hypotheses.",
        "A round: finished hypotheses are candidates as they are; every other one gives V candidates. Sort, cut, "
        "repeat.",
        "Sort with `key=` by a function of sum and length, so that arrays and lists are never compared with each "
        "other.",
    ),
    trapped="Are the tokens right, and the score is not? Then look at n and at the divisor. Otherwise print the beam "
    "after each round: is the final winner still in it?",
    width_one="With one hypothesis the best of V candidates stays. Where does yours differ from `greedy_decode`?",
    edges="There may be fewer candidates than `beam_width`, and scores of −inf: a slice and a sort work with both.",
    ranking="Which number does the sort use when the beam is cut, the sum or the score? And do finished hypotheses "
    "take part?",
    finished="What happens in a round to a hypothesis that ends with the end id? Follow one through your loop.",
)
