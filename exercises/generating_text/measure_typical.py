"""Lab 08b, exercise `measure_typical`."""

from functools import partial

import numpy as np

from autograder.declare import Advice, Case, Exercise, edit, seen
from coursekit.probes.generating_text import SEEDS_AGAIN, Step, each_seed, table_step
from exercises.generating_text.shared import is_finished, search, until

exercise = Exercise(
    "measure_typical",
    own_probe=True,
    returns=("log_p", "ahead", "ahead_per_token", "calls"),
    probe_only=("names", "end_id"),
)


@exercise.formula
def places_among_drawn(table, kind, sentences, drawn, seeds):
    """log p of each sentence, and the share of drawn sentences with a larger log p, in all and for each token."""
    step, others = table_step(table, kind), list(drawn)
    found = np.array([log_p_of(tokens, step) for tokens in sentences])
    base = np.array([log_p_of(tokens, step) for tokens in others])
    ahead = np.array([(base > searched).mean() for searched in found])
    rates = found / np.array([length(tokens) for tokens in sentences])
    base_rates = base / np.array([length(tokens) for tokens in others])
    ahead_per_token = np.array([(base_rates > rate).mean() for rate in rates])
    return {"log_p": found, "ahead": ahead, "ahead_per_token": ahead_per_token, "calls": each_seed(seeds)}


@exercise.formula_for("log_p")
def log_p_alone(table: np.ndarray, kind: str, sentences: list[list[int]]) -> dict[str, np.ndarray]:
    """log p of each sentence."""
    step = table_step(table, kind)
    return {"log_p": np.array([log_p_of(tokens, step) for tokens in sentences])}


@exercise.formula_for("calls")
def calls_alone(seeds: list[int]) -> dict[str, str]:
    """Which seeds sentences were drawn with, each once."""
    return {"draws": each_seed(seeds)}


def log_p_of(tokens: list[int], step: Step) -> float:
    """Σ ln p of the tokens after the start id, the end id included."""
    places = range(1, len(tokens))
    return sum(float(step(tokens[:place])[tokens[place]]) for place in places)


def length(tokens: list[int]) -> int:
    """How many tokens were written."""
    return len(tokens) - 1


def _written(rng, inputs: dict) -> list[int]:
    """A sentence drawn from the model."""
    step, tokens = table_step(inputs["table"], inputs["kind"]), [inputs["start_id"]]
    while len(tokens) < inputs["max_length"] and not is_finished(tokens, inputs["end_id"]):
        sums = np.cumsum(np.exp(step(tokens)))
        tokens.append(int(np.searchsorted(sums, rng.random() * sums[-1])))
    return tokens


def _inputs(rng, names: tuple[str, ...], count: int, **settings) -> dict:
    """Drawn sentences, and some to be placed among them, of which at least one is finished."""
    inputs = search(rng, **settings)
    sentences = [_written(rng, inputs) for _ in names]
    drawn = [_written(rng, inputs) for _ in range(count)]
    seeds = rng.permutation(900)[:count].tolist()
    keys = ("table", "kind", "end_id")
    return {key: inputs[key] for key in keys} | {
        "names": list(names),
        "sentences": sentences,
        "drawn": drawn,
        "seeds": seeds,
    }


def _is_clear(inputs: dict) -> bool:
    """Whether no two log p are nearly equal, no share is 0 or 1, and lengths differ."""
    step = table_step(inputs["table"], inputs["kind"])
    sentences, drawn = inputs["sentences"], inputs["drawn"]
    found, base = (np.array([log_p_of(tokens, step) for tokens in some]) for some in (sentences, drawn))
    lengths, base_lengths = (np.array([length(tokens) for tokens in some]) for some in (sentences, drawn))
    if len(set(lengths)) < len(lengths) or not any(is_finished(tokens, inputs["end_id"]) for tokens in sentences):
        return False
    apart = min(np.abs(base[:, None] - found).min(), np.abs((base / base_lengths)[:, None] - found / lengths).min())
    placed = places_among_drawn(inputs["table"], inputs["kind"], sentences, drawn, inputs["seeds"])
    shares = np.array([placed["ahead"], placed["ahead_per_token"]])
    return bool(
        apart > 0.01 and (shares > 0.15).all() and (shares < 0.85).all() and (np.abs(shares[0] - shares[1]) > 0.1).all()
    )


def _drawn(rng, *names: str, count: int, **settings) -> dict:
    return until(partial(_inputs, rng, names, count, **settings), _is_clear)


def _with_ties(rng) -> dict:
    """Searched sentences that were drawn as well. Logarithms are whole eighths: sums are exact in every order."""
    inputs = _drawn(rng, "greedy", "beam", count=17, words=5, max_length=7)
    inputs["drawn"][3], inputs["drawn"][8] = inputs["sentences"]
    return inputs | {"table": np.round(8 * inputs["table"]) / 8}


def _with_impossible(rng) -> dict:
    """The first sentence begins with a token that is impossible there; the second one begins otherwise."""

    def draw() -> dict:
        return _inputs(rng, ("greedy", "beam"), 11, words=5, max_length=7, kind="last token")

    inputs = until(draw, lambda drawn: len({tokens[1] for tokens in drawn["sentences"]}) == 2)
    start, first = inputs["sentences"][0][:2]
    inputs["table"][start, first] = -np.inf
    return inputs


def _case(inputs: dict, text: str, mode: str = "call") -> Case:
    return Case({key: value for key, value in inputs.items() if key != "end_id"}, text, mode=mode)


@exercise.group("log p of the sentences", must_fail_for=("end_left_out", "token_in_prefix", "start_counted"))
def log_p(rng):
    yield _case(_drawn(rng, "greedy", "beam", count=13, words=5, max_length=7), "two sentences", "log_p")
    yield _case(
        _drawn(rng, "a", "b", "c", count=11, words=7, max_length=9, kind="last token"), "three sentences", "log_p"
    )
    yield _case(_with_impossible(rng), "two sentences, the first with a token whose log-probability is −inf", "log_p")


@exercise.group(
    "shares of the drawn sentences that are ahead",
    points=2,
    must_fail_for=("less_counted", "only_one_divided", "start_in_length", "end_not_in_length"),
)
def shares(rng):
    yield _case(_drawn(rng, "greedy", "beam", count=23, words=5, max_length=7), "two sentences, 23 seeds")
    yield _case(_drawn(rng, "a", "b", "c", count=19, words=7, max_length=9), "three sentences, 19 seeds")
    yield _case(_with_ties(rng), "two sentences that are among the 17 drawn ones")


@exercise.group("one drawn sentence for each seed")
def calls(rng):
    return _case(_drawn(rng, "greedy", "beam", count=11, words=5, max_length=7), "what your function drew", "calls")


LOG_P = "sum(float(step(tokens[:place])[tokens[place]]) for place in places)"

exercise.mistakes(
    start_counted=edit("range(1, len(tokens))", "range(len(tokens))")
    | "A log p is asked for the start id as well. It is given, not written."
    | "Which is the first token that the model chose?",
    end_left_out=edit("range(1, len(tokens))", "range(1, len(tokens) - 1)")
    | "The last token is left out. The end id was chosen like every other token.",
    one_place_too_early=edit("range(1, len(tokens))", "range(len(tokens) - 1)")
    | "The start id is counted, and the last token is not."
    | "Which is the first token that the model chose, and which is the last?",
    token_in_prefix=edit("tokens[:place]", "tokens[:place + 1]", see="08#teacher-forcing")
    | "The prefix holds the token already whose log p is read. Hand over the tokens before it."
    | "`tokens[:i]` ends before token i.",
    mean_in_place_of_sum=edit(LOG_P, f"{LOG_P} / max(len(places), 1)")
    | "This is log p per token. The log p of a sentence is a sum.",
    less_counted=edit(("base > searched", "base < searched"), ("base_rates > rate", "base_rates < rate"))
    | "The drawn sentences that are less probable are counted. `ahead` should count the more probable ones."
    | "For the most probable sentence of all, which share of the drawn ones is ahead?",
    only_one_divided=edit("base_rates = base / np.array([length(tokens) for tokens in others])", "base_rates = base")
    | "Per token, a searched sentence is compared with whole drawn ones. Divide both sides by their lengths."
    | "Two sentences of different lengths: which two numbers do you compare?",
    start_in_length=edit("len(tokens) - 1", "len(tokens)")
    | "The start id counts in the length. It was not written."
    | "How many logarithms does the sum have?",
    counts=edit("(base > searched).mean()", "(base > searched).sum()")
    | edit("(base_rates > rate).mean()", "(base_rates > rate).sum()")
    | "These are numbers of sentences, not shares.",
    one_seed=edit("list(drawn)", "drawn[:1]")
    | seen({"calls": "one seed only", "draws": "one seed only"})
    | "All sentences are drawn with one seed, so they are one sentence.",
    drawn_again=seen({"draws": SEEDS_AGAIN})
    | "Sentences are drawn again for each searched one. Draw one for each seed first, and compare all with these."
    | "Which loop calls `draw`, and how often does it run?",
    start_not_handed=edit("tokens[:place]", "tokens[1:place]")
    | "`step_fn` gets the tokens without the start id. A prefix begins with it."
    | "What does `step_fn` get when the first token's log p is asked for?",
    end_not_in_length=edit("len(tokens) - 1", "len(tokens) - 2")
    | "The lengths leave out the end id as well. It was written, and its log p is in the sum."
    | "How many logarithms does the sum have?",
    total_reversed=edit("base > searched", "base < searched")
    | "`ahead` counts the drawn sentences that are less probable. It asks for the more probable ones."
    | "For the most probable sentence of all, which share of the drawn ones is ahead?",
    not_per_token=edit("base_rates > rate).mean() for rate in rates", "base > searched).mean() for searched in found")
    | "The second share is the first one again: nothing is divided by the number of tokens.",
    drawn_alone_divided=edit("rates = found / np.array([length(tokens) for tokens in sentences])", "rates = found")
    | "Per token, a whole searched sentence is compared with drawn ones per token. Divide both sides by their lengths."
    | "Two sentences of different lengths: which two numbers do you compare?",
    start_in_drawn_length=edit("([length(tokens) for tokens in others])", "([len(tokens) for tokens in others])")
    | "The lengths of the drawn sentences count the start id. It was not written."
    | "How many logarithms does the sum have?",
    probabilities_added=edit(LOG_P, "sum(float(np.exp(step(tokens[:place])[tokens[place]])) for place in places)")
    | "These are sums of probabilities. `step_fn` returns logarithms, and these are added as they are.",
    last_token_alone=edit("tokens[:place]", "tokens[place - 1 : place]", see="08#teacher-forcing")
    | "`step_fn` gets one token. It needs all tokens before the one whose log p is read."
    | "What does a decoder need to know to go on: the last word, or the sentence so far?",
    exchanged=edit(': ahead, "ahead_per_token": ahead_per_token', ': ahead_per_token, "ahead_per_token": ahead')
    | "The two shares are exchanged: the one of log p should come first, the one per token last.",
    total_ties_ahead=edit("base > searched", "base >= searched")
    | "`ahead` counts a drawn sentence that is as probable as the searched one. Ahead means more probable."
    | "The model draws the searched sentence itself. Is it ahead of itself?",
    impossible_left_out=edit(LOG_P, LOG_P[:-1] + " if step(tokens[:place])[tokens[place]] > -np.inf)")
    | "A token that is impossible is left out of the sum. Its logarithm is −inf, and so is the sum."
    | "How probable is a sentence with a token that the model never writes?",
    ties_ahead=edit(("base > searched", "base >= searched"), ("base_rates > rate", "base_rates >= rate"))
    | "A drawn sentence that is as probable as the searched one counts as ahead. Ahead means more probable."
    | "The model draws the searched sentence itself. Is it ahead of itself?",
)

exercise.advice(
    log_p=Advice(
        value="`step_fn(tokens[:i])[tokens[i]]` is the log-probability of token i. Add up all but the start id's; the "
        "end id counts.",
        nan="`step_fn` returns logarithms already.",
    ),
    shares=Advice(
        value="One log p for each drawn sentence. The share ahead is the mean of a comparison; for the second "
        "share both sides are divided by their number of tokens, the start id left out."
    ),
    calls="Draw before you compare: one sentence for each seed, the same ones for every searched sentence.",
)
exercise.hints(
    log_p=(
        "Write a helper `log_p(tokens)` first, and use it for searched and for drawn sentences.",
        "`sum(step_fn(tokens[:i])[tokens[i]] for i in range(1, len(tokens)))`: which place of which result is read?",
    ),
    shares=(
        "`np.mean(drawn > one)` is a share, where `drawn` is an array of all log p.",
        "Lengths of drawn sentences differ: keep an array of them beside the array of log p.",
    ),
    calls="`draw` takes one seed. Which loop calls it?",
)
