"""Lab 10, exercise `generate`."""

from collections.abc import Sequence

import numpy as np

from autograder.declare import Case, Exercise, edit, seen
from coursekit.probes.language_model import WANTED_CALLS, from_one_seed, logits_after
from exercises.drawing import drawn_until
from exercises.formulas.attention import softmax

REPEATS = 1500
BOUND = 6 * (0.25 / REPEATS) ** 0.5  # six standard errors of a share, which are largest at ½

exercise = Exercise("generate", own_probe=True, returns=("tokens", "calls"), tolerance=BOUND, probe_only=("repeats",))


@exercise.formula
def greedy_text(table: np.ndarray, prompt: Sequence[int], max_new: int, end_id: int) -> dict[str, str]:
    """The most probable token each time, up to the end."""
    new: list[int] = []
    for _ in range(max_new):
        if end_id in new:
            break
        new.append(int(np.argmax(logits_after([*prompt, *new], table))))
    return {"tokens": str(new), "calls": WANTED_CALLS}


@exercise.formula_for("law")
def law(table: np.ndarray, prompt: Sequence[int], temperature: float, p: float) -> dict[str, np.ndarray]:
    """The probabilities of the first token: temperature first, then the nucleus (Holtzman et al. 2020)."""
    logits = logits_after(prompt, table)
    return {"shares": nucleus_of(softmax(logits / temperature), p)}


@exercise.formula_for("chance")
def chance(table, prompt, temperature, p, max_new, end_id, seed):
    """Two texts from two generators of one seed, and a third one from another seed."""
    return {"chance": from_one_seed(seed)}


def nucleus_of(probabilities: np.ndarray, p: float) -> np.ndarray:
    """The smallest set of most probable tokens whose mass reaches p, divided by it."""
    ranks = np.argsort(-probabilities, kind="stable")
    mass = np.cumsum(probabilities[ranks])
    last = int(np.argmax(mass >= p - 1e-12))
    return np.where(np.isin(np.arange(len(probabilities)), ranks[: last + 1]), probabilities, 0) / mass[last]


def near_the_largest(probabilities: np.ndarray, p: float) -> np.ndarray:
    """The tokens with at least p times the largest probability, divided by their mass: min-p, which is not top-p."""
    kept = np.where(probabilities >= p * probabilities.max() - 1e-12, probabilities, 0)
    return kept / kept.sum()


def cut_as_given(numbers: np.ndarray, p: float) -> np.ndarray:
    """The largest numbers until their sum reaches p, divided by this sum; all of them where it never does."""
    ranks = np.argsort(-numbers, kind="stable")
    before = np.concatenate([[0.0], np.cumsum(numbers[ranks])[:-1]])
    kept = np.where(np.isin(np.arange(len(numbers)), ranks[before < p - 1e-12]), numbers, 0)
    return kept / kept.sum()


def _greedy(rng, *, ends: bool, begins: bool = False, only: bool = False, inside: bool = False) -> dict:
    """A prompt after which the most probable tokens come to an end in time, or do not."""

    def draw() -> dict:
        prompt, end_id = rng.integers(11, size=3).tolist(), int(rng.integers(11))
        prompt = [end_id] if only else [end_id, *prompt[1:]] if begins else prompt
        prompt = [*prompt[:2], end_id, *prompt[2:]] if inside else prompt
        return {"table": 2 * rng.normal(size=(23, 11)), "prompt": prompt, "max_new": 9, "end_id": end_id}

    def fits(inputs: dict) -> bool:
        tokens = greedy_text(**inputs)["tokens"].strip("[]").split(", ")
        if not ends:
            return str(inputs["end_id"]) not in tokens
        return (
            4 <= len(tokens) < 9
            and len(set(tokens)) > 3
            and inputs["prompt"].count(inputs["end_id"]) == begins + inside
        )

    return drawn_until(fits, draw)


def _law(rng, logits: Sequence[float], temperature: float, p: float) -> dict:
    """One table row after every prompt; no token is the end."""
    table = np.array(logits)[rng.permutation(len(logits))][None]
    seed = int(rng.integers(10**6))
    return {"table": table, "prompt": [1, 2], "temperature": temperature, "p": p, "repeats": REPEATS, "seed": seed}


# What is kept tells the ways to cut apart. Of STEEP at temperature 2, p = 0.7: four tokens; three if it is cut before
# the temperature or ends below p; one with 1 - p or with a share of the largest. Of LEVEL at temperature 0.5, p = 0.31:
# two; one if it ends below p; three with a share of the largest; four with 1 - p.
STEEP = (0.0, -1.3, -1.4, -1.5, -1.6)
LEVEL = tuple(np.log([0.3, 0.28, 0.1, 0.09, 0.08, 0.08, 0.07]) / 2)


@exercise.group("greedy, to the end or to max_new")
def greedy(rng):
    ending, endless = _greedy(rng, ends=True), _greedy(rng, ends=False)
    yield Case({**ending, "temperature": 0.0, "p": 1.0}, "a prompt of three ids, temperature=0, max_new=9")
    yield Case({**endless, "temperature": 0.0, "p": 0.9}, "the end does not come, max_new=9")
    yield Case({**endless, "temperature": 0.0, "p": 1.0, "max_new": 2}, "max_new=2")
    yield Case(
        {**_greedy(rng, ends=True, begins=True), "temperature": 0.0, "p": 1.0},
        "a prompt of three ids, the first one the end id",
    )
    yield Case(
        {**_greedy(rng, ends=True, begins=True, only=True), "temperature": 0.0, "p": 1.0},
        "the end id is all of the prompt",
    )
    yield Case(
        {**_greedy(rng, ends=True, begins=True, inside=True), "temperature": 0.0, "p": 1.0},
        "a prompt of four ids, the first and the third one the end id",
    )


@exercise.group(f"the law of the first token, in {REPEATS} draws")
def law_of_draws(rng):
    yield Case(_law(rng, STEEP, 2.0, 1.0), "temperature=2, p=1", mode="law")
    yield Case(_law(rng, LEVEL, 0.5, 0.31), "temperature=0.5, p=0.31", mode="law")
    yield Case(_law(rng, STEEP, 2.0, 0.7), "temperature=2, p=0.7", mode="law")
    yield Case(_law(rng, (0.0, -1.0, -1.2, -1.4), 0.4, 1.0), "temperature=0.4, p=1", mode="law")


@exercise.group("no chance but that of rng")
def one_generator(rng):
    drawn = {
        "table": rng.normal(size=(23, 11)),
        "prompt": [3, 1],
        "temperature": 1.0,
        "p": 1.0,
        "max_new": 12,
        "end_id": 11,
    }
    return Case(
        {**drawn, "seed": int(rng.integers(10**6))},
        "twice with generators of one seed, once with another seed, max_new=12",
        mode="chance",
    )


ENDS_BELOW = "max(int((mass <= p + 1e-9).sum()), 1)"

exercise.mistakes(
    cut_before_temperature=edit(
        "nucleus_of(softmax(logits / temperature), p)",
        "softmax(np.log(nucleus_of(softmax(logits), p) + 1e-300) / temperature)",
        see="10#sample",
    )
    | "The nucleus is cut before the temperature: the tail is gone before it could grow. First temperature, then p."
    | "With a high temperature, which is larger: the set of the flat law, or that of the steep one?",
    whole_prefix=seen({"calls": "the whole prefix in each call"})
    | "The model gets the whole prefix in each call. With the caches it needs the newest id alone."
    | "Which ids has the cache not seen yet?",
    whole_prefix_and_caches=edit(
        "[*prompt, *new]", "[token for size in range(len(new) + 1) for token in [*prompt, *new[:size]]]"
    )
    | seen({"calls": "the whole prefix in each call, and the caches"}, see="08b#cache")
    | "The model gets the whole prefix and the caches as well, so it reads the prefix again in each call."
    | "The cache knows the prompt. Which ids has it not seen yet?",
    temperature_multiplied=edit("softmax(logits / temperature)", "softmax(logits * temperature)", see="10#sample")
    | "The logits are multiplied by the temperature. A high one should make the law flatter.",
    p_ignored=edit("nucleus_of(softmax(logits / temperature), p)", "softmax(logits / temperature)", see="10#sample")
    | "The argument p changes nothing: it is the mass of the nucleus.",
    end_dropped=edit('"tokens": str(new)', '"tokens": str([number for number in new if number != end_id])')
    | "The end is missing in the result. It belongs to what the model wrote.",
    other_chance=seen({"chance": "another text from the same seed"})
    | "The same seed gives another text: chance comes from somewhere else than `rng`."
    | "`np.random.choice` and `keras.random` have generators of their own; `rng.choice` is the one that was handed "
    "over.",
    temperature_ignored=edit("softmax(logits / temperature)", "softmax(logits)", see="10#sample")
    | "The temperature changes nothing. The logits should be divided by it before the softmax.",
    temperature_from_one=edit("softmax(logits / temperature)", "softmax(logits / max(temperature, 1))", see="10#sample")
    | "A temperature below 1 changes nothing. The logits should be divided by it, whatever it is.",
    one_plus_temperature=edit("softmax(logits / temperature)", "softmax(logits / (1 + temperature))", see="10#sample")
    | "The logits are divided by 1 + temperature. Divide them by the temperature.",
    power_not_normalised=edit("nucleus_of(softmax(logits /", "cut_as_given(softmax(logits) ** (1 /", see="10#sample")
    | "The powers of the probabilities do not sum to 1, and `nucleus` cuts them all the same. Divide them by their "
    "sum first, or divide the logits by the temperature." | "What is the sum of the square roots of ½, ¼ and ¼?",
    always_the_largest=edit("nucleus_of(softmax(logits / temperature), p)", "1.0 * (logits == logits.max())")
    | seen({"chance": "the same text from another seed"}, see="10#sample")
    | "Every draw gives the most probable token, as only temperature 0 should: let `rng` draw.",
    one_minus_p=edit("softmax(logits / temperature), p)", "softmax(logits / temperature), 1 - p)")
    | seen({"chance": "the same text from another seed"}, see="10#sample")
    | "The nucleus has the mass 1 − p. Its mass should be p: a small p leaves few tokens."
    | "What should p = 1 leave of the law, and what p close to 0?",
    share_of_the_largest=edit("nucleus_of", "near_the_largest")
    | seen({"chance": "the same text from another seed"}, see="10#sample")
    | "The tokens are kept whose probability is at least p times the largest (min-p). Keep the most probable ones "
    "until their sum reaches p.",
    stops_below_p=edit("ranks[: last + 1]", f"ranks[:{ENDS_BELOW}]")
    | edit("mass[last]", f"mass[{ENDS_BELOW} - 1]", see="10#sample")
    | "The nucleus ends before its mass reaches p. The token with which it reaches p belongs to it.",
    end_not_seen=edit("if end_id in new:", "if not max_new:")
    | "The text goes on behind the end. With `end_id` it should be over.",
    end_of_the_prompt=edit("if end_id in new:", "if end_id in [*prompt, *new]:")
    | edit('"calls": WANTED_CALLS', '"calls": WANTED_CALLS if new else "calls with [] ids"')
    | "The prompt may hold the end id: only a new one should end the text."
    | "Among which ids do you look for the end?",
    end_behind_the_prompt=edit("if end_id in new:", "if end_id in [*prompt[-1:], *new]:")
    | edit('"calls": WANTED_CALLS', '"calls": WANTED_CALLS if new else "calls with [] ids"')
    | "A prompt whose last id is the end stops the text. The prompt may hold it: only a new one should end the text."
    | "Which id do you compare with the end before the first one is written?",
    end_inside_the_prompt=edit("if end_id in new:", "if end_id in [*prompt[1:], *new]:")
    | edit('"calls": WANTED_CALLS', '"calls": WANTED_CALLS if new else "calls with [] ids"')
    | "An end id inside the prompt stops the text. The prompt may hold it: only a new one should end the text."
    | "Among which ids do you look for the end?",
    prompt_in_result=edit('"tokens": str(new)', '"tokens": str([*prompt, *new])')
    | "The prompt stands in the result. Only the new ids are asked for.",
    one_too_many=edit("range(max_new)", "range(max_new + 1)")
    | "There is one id too many: `max_new` should be the most that are written.",
    first_position=edit("[*prompt, *new]", "[*(prompt if new else prompt[:1]), *new]")
    | "The first position's logits decide. The last position is the one that the next id follows."
    | "The logits are (1, t, V). Which of the t rows was computed from the whole prompt?",
    first_caches_again=edit("[*prompt, *new]", "[*prompt, *new[-1:]]")
    | "Every call gets the caches of the first one, so the model sees the prompt and the newest id alone."
    | "What does a call return besides the logits?",
    without_caches=edit("[*prompt, *new]", "(new[-1:] or prompt)")
    | seen({"calls": "one id a call, without the caches"})
    | "The later calls get no caches, so the model sees the newest id alone.",
)

exercise.advice(
    greedy="Temperature 0 takes the most probable token. The end belongs to the result; the prompt does not.",
    law_of_draws="Divide the logits by the temperature, take the softmax, cut with `nucleus`, and draw with "
    "`rng.choice`.",
    one_generator="All chance comes from the generator that is handed over, so that a text can be had again.",
)
exercise.hints(
    greedy=(
        "The first call gets the whole prompt, [prompt], a table of one row. What does the last position's row of "
        "logits say?",
        "After each call keep the caches; the next call gets [[newest id]] and these caches.",
    ),
    law_of_draws="Five steps: logits of the last position, divided by the temperature, softmax, `nucleus`, "
    "`rng.choice`.",
)
