"""Lab 05, exercise `measure_reach`."""

from collections.abc import Sequence

import numpy as np

from autograder.declare import Advice, Case, Exercise, edit, seen
from coursekit.probes.positional_encoding import every_question
from exercises.drawing import drawn_until

exercise = Exercise("measure_reach", own_probe=True, returns=("base_rate", "reach", "calls"), probe_only=("ids",))


@exercise.formula
def reach_by_window(guesses, answers, distances, windows):
    """The base rate, and the reach of each window; guesses (W, n), answers, distances (n,).

    A distance without questions does not end the reach.
    """
    accuracy, _, counts = by_distance(guesses, answers, distances)
    base_rate = most_frequent_share(answers)
    error = np.sqrt(base_rate * (1 - base_rate) / np.maximum(counts, 1))
    reach = last_unbroken(accuracy > base_rate + 2 * error, counts)
    return {"base_rate": base_rate, "reach": reach, "calls": every_question(windows)}


@exercise.formula_for("accuracy")
def accuracy_alone(guesses, answers, distances, windows):
    """Accuracy and number of questions at each distance; ``accuracy_is_nan``, which is compared first, is 1 where there
    is no question."""
    accuracy, empty, counts = by_distance(guesses, answers, distances)
    return {"accuracy_is_nan": empty, "accuracy": accuracy, "counts": counts, "calls": every_question(windows)}


@exercise.formula_for("calls")
def calls_alone(windows: list[int]) -> dict[str, str]:
    """What the model was asked."""
    return {"calls": every_question(windows)}


def by_distance(guesses, answers, distances):
    """The share of right guesses at each distance (W, M + 1), 0 where there is none; where that is; the counts."""
    correct = (guesses == answers).astype("float64")
    at = (distances == np.arange(distances.max() + 1)[:, None]).astype("float64")
    counts = at.sum(axis=1)
    accuracy = correct @ at.T / np.maximum(counts, 1)
    empty = np.broadcast_to((counts == 0).astype("int64"), accuracy.shape)
    return accuracy, empty, counts.astype("int64")


def last_unbroken(is_clear: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The last clear distance before the first one that has questions and is not clear (W,); -1 where there is none."""
    holds = np.logical_and.accumulate(is_clear | (counts == 0), axis=1)
    return np.where(holds & (counts > 0), np.arange(len(counts)), -1).max(axis=1)


def last_unbroken_seen(is_clear: np.ndarray, counts: np.ndarray, windows: list[int]) -> np.ndarray:
    """The same where distances that a window hides are left out."""
    seen = (np.arange(len(counts)) < np.array(windows)[:, None]) & (counts > 0)
    holds = np.logical_and.accumulate(is_clear | ~seen, axis=1)
    return np.where(holds & seen, np.arange(len(counts)), -1).max(axis=1)


def by_distance_seen(guesses, answers, distances, windows):
    """`by_distance` where there is no accuracy at the distances that a window hides."""
    accuracy, empty, counts = by_distance(guesses, answers, distances)
    seen = np.arange(len(counts)) < np.array(windows)[:, None]
    return np.where(seen, accuracy, 0.0), np.where(seen, empty, 1), counts


def most_frequent_share(answers: np.ndarray) -> float:
    """What somebody gets right who always gives the most frequent answer."""
    shares = np.bincount(answers) / len(answers)
    return float(shares.max())


LETTERS, LENGTH = 4, 13


def _asked(rng, distances: np.ndarray, answers: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Questions (n, T) whose letters stand at these distances (n,) before the end, and their answers (n,)."""
    count = len(distances)
    if answers is None:
        answers = np.where(rng.random(count) < 0.25, 2, rng.integers(0, LETTERS, size=count))
    ids = 1 + rng.integers(1, LETTERS + 1, size=(count, LENGTH)) * (rng.random((count, LENGTH)) < 0.5)
    for row, (distance, answer) in enumerate(zip(distances, answers, strict=True)):
        ids[row, LENGTH - 1 - distance :] = 1
        ids[row, LENGTH - 1 - distance] = 2 + answer
    ids[:, 0] = np.arange(count) + 100  # so that no two rows are equal
    return ids.astype("int32"), answers.astype("int64")


def _guesses(rng, answers: np.ndarray, distances: np.ndarray, right: Sequence[int]) -> np.ndarray:
    """Guesses (n,), of which so many are right at each distance; which ones is drawn."""
    is_right = np.zeros(len(answers), bool)
    for distance, number in enumerate(right):
        is_right[rng.permutation(np.flatnonzero(distances == distance))[:number]] = True
    other = (answers + rng.integers(1, LETTERS, size=len(answers))) % LETTERS
    return np.where(is_right, answers, other)


def _questions(rng, windows: list[int], at_each: int, farthest: int, empty: int) -> dict:
    """Questions at all distances but one, and a model that reads up to some distance, and once more beyond it."""
    asked = np.array([d for d in range(farthest + 1) if d != empty])
    after = np.cumsum(np.arange(farthest + 1) != empty)  # distances with questions, counted
    distances = np.repeat(asked, at_each * (1 + rng.permutation(farthest) % 2) if at_each > 6 else at_each)
    distances = distances[rng.permutation(len(distances))[: len(distances) - 3]]
    ids, answers = _asked(rng, distances)
    base_rate, counts = most_frequent_share(answers), np.bincount(distances, minlength=farthest + 1)
    guesses = []
    reaches = [empty - 1, int(rng.integers(empty + 1, farthest - 4))]  # before the empty distance, and beyond it
    for ends in rng.permutation([*reaches, -1][: len(windows)]):  # one of three windows reads nothing
        beyond = after - (after[ends] if ends >= 0 else 0)
        right = [_right(int(n), int(at), base_rate) for n, at in zip(counts, beyond, strict=True)]
        guesses.append(_guesses(rng, answers, distances, right))
    return _inputs(ids, answers, distances, guesses, windows)


def _inputs(ids: np.ndarray, answers: np.ndarray, distances: np.ndarray, guesses: list, windows: list[int]) -> dict:
    guessed, distances = np.array(guesses).astype("int64"), distances.astype("int64")
    return {"guesses": guessed, "answers": answers, "distances": distances, "ids": ids, "windows": windows}


FEW = np.array([31, 3, 0, 4, 0, 1, 29, 1])  # questions at the distances from 0 to 7; a number for 0 at 4 is drawn


def _few(rng, windows: list[int]) -> dict:
    """Three or four questions can be clear and one cannot, whatever its answer: each of them counts like the others.

    The three windows end at distance 3, where a limit of 1.96 errors would not, at 0, and at 4, before a single
    question that is answered wrongly.
    """
    counts = np.where(np.arange(8) == 4, rng.integers(20, 60), FEW)
    distances = np.repeat(np.arange(8), counts)[rng.permutation(counts.sum())]
    ids, answers = _asked(rng, distances)
    base_rate = most_frequent_share(answers)
    at_the_limit = int(base_rate * counts[4] + 2 * np.sqrt(counts[4] * base_rate * (1 - base_rate)))
    right = [[*counts[:4], at_the_limit, 1, *counts[6:]], [counts[0], 2, *counts[2:]], [*counts[:5], 0, *counts[6:]]]
    guesses = [_guesses(rng, answers, distances, numbers) for numbers in right]
    return _inputs(ids, answers, distances, guesses, windows)


def _few_decide(inputs: dict) -> bool:
    """Whether three right answers of three are clear, by n and not by n − 1, and 1.96 errors give another reach."""
    accuracy, _, counts = by_distance(inputs["guesses"], inputs["answers"], inputs["distances"])
    base_rate = most_frequent_share(inputs["answers"])
    variance = base_rate * (1 - base_rate)
    three_is_clear = base_rate + 2 * np.sqrt(variance / 3) < 0.98 and base_rate + 2 * np.sqrt(variance / 2) > 1.02
    errors_above = (accuracy[0, 4] - base_rate) / np.sqrt(variance / counts[4])
    return bool(three_is_clear and 1.97 < errors_above < 1.99)


def _at_the_limit(rng, windows: list[int]) -> dict:
    """Half of the answers are one letter, so that four right ones of four are at the limit: ½ + 2·√(¼/4) is 1.

    The first window ends before them, at distance 0; the second one reads nothing.
    """
    counts = np.array([20, 4, 20])
    distances = np.repeat(np.arange(3), counts)[rng.permutation(counts.sum())]
    ids, answers = _asked(rng, distances, rng.permutation(np.repeat(np.arange(LETTERS), [8, 7, 22, 7])))
    guesses = [_guesses(rng, answers, distances, right) for right in (counts.tolist(), [9, 4, 20])]
    return _inputs(ids, answers, distances, guesses, windows)


ERRORS_ABOVE = {0: 2.1, 1: 1.9, 3: 0.3, 5: 0.3}  # by the distance beyond the reach, in standard errors


def _right(count: int, beyond: int, base_rate: float) -> int:
    """How many of `count` answers are right so many distances with questions beyond the reach.

    The last clear distance is clear by little, the next one fails by little, then clear ones and such that are just
    above the base rate alternate: each wrong rule for the reach ends somewhere else.
    """
    if beyond in ERRORS_ABOVE:
        above = count * base_rate + ERRORS_ABOVE[beyond] * np.sqrt(count * base_rate * (1 - base_rate))
        return int(np.floor(above) if beyond == 1 else np.ceil(above))
    return count if beyond < 0 else count - 1 if beyond in (2, 4) else int(base_rate * count)


def _is_clear(inputs: dict) -> bool:
    """Whether only two standard errors of each distance, hidden or not, give the right reach, and one answer is most
    frequent."""
    accuracy, _, counts = by_distance(inputs["guesses"], inputs["answers"], inputs["distances"])
    shares = np.sort(np.bincount(inputs["answers"], minlength=LETTERS) / len(inputs["answers"]))
    error = np.sqrt(shares[-1] * (1 - shares[-1]) / np.maximum(counts, 1))
    distance_in_errors = ((accuracy - shares[-1]) / error)[:, counts > 0]
    near = [((distance_in_errors > low) & (distance_in_errors < low + 0.95)).any() for low in (0.0, 1.0, 2.05)]
    apart = min(np.abs(distance_in_errors - factor).min() for factor in (0, 1, 2, 3))
    is_clear = accuracy > shares[-1] + 2 * error
    reached = last_unbroken(is_clear, counts)
    of_mean = last_unbroken(accuracy > shares[-1] + 2 * np.sqrt(shares[-1] * (1 - shares[-1]) / counts.mean()), counts)
    own_counts_matter = counts.max() < 8 or (of_mean != reached).any()
    hidden_matter = (last_unbroken_seen(is_clear, counts, inputs["windows"]) != reached).any()
    apart_shares = shares[-1] > shares[-2] + 0.1 and shares[0] > 0.1
    return bool(all(near) and own_counts_matter and hidden_matter and apart > 0.03 and apart_shares)


def _listed(windows: list[int]) -> str:
    """The windows, with the index that each has in what is compared."""
    return "windows " + ", ".join(f"{window} [{index}]" for index, window in enumerate(windows))


def _case(rng, windows: list[int], text: str, mode: str = "call", **sizes: int) -> Case:
    inputs = drawn_until(_is_clear, lambda: _questions(rng, windows, **sizes))
    return Case(inputs, f"{_listed(windows)}, {text}", mode=mode)


@exercise.group(
    "accuracy and number of questions at each distance",
    must_fail_for=("zero_without_questions", "up_to_the_distance", "share_of_all"),
)
def accuracy(rng):
    yield _case(rng, [4, 8], "distances 0 to 10", "accuracy", at_each=9, farthest=10, empty=2)
    yield _case(rng, [3, 5, 20], "distances 0 to 11", "accuracy", at_each=11, farthest=11, empty=4)


@exercise.group(
    "base rate and reach",
    points=2,
    must_fail_for=(
        "last_clear_one",
        "no_error_allowed_for",
        "own_error",
        "equal_guessing",
        "stops_at_a_gap",
        "one_too_far",
    ),
)
def reach(rng):
    yield _case(rng, [4, 8], "distances 0 to 10", at_each=13, farthest=10, empty=2)
    yield _case(rng, [3, 5, 9], "distances 0 to 11", at_each=11, farthest=11, empty=4)
    yield _case(rng, [2, 6], "at most 6 questions at a distance", at_each=6, farthest=10, empty=2)
    few = drawn_until(_few_decide, lambda: _few(rng, [3, 6, 20]))
    yield Case(few, f"{_listed([3, 6, 20])}, from 0 to 60 questions at a distance")
    yield Case(_at_the_limit(rng, [3, 6]), f"{_listed([3, 6])}, and an accuracy that equals the limit")


@exercise.group("every question under every window")
def calls(rng):
    # The first ones hide the keys of some questions, which all the same have to be asked.
    windows = [int(rng.integers(least, most)) for least, most in ((2, 5), (5, 9), (9, 40))]
    return _case(rng, windows, "what your function asked the model", "calls", at_each=9, farthest=10, empty=3)


COUNTED = "np.maximum(counts, 1)"
SHARE = f"correct @ at.T / {COUNTED}"
UP_TO = "Your accuracy counts all questions up to a distance. Count those at the distance alone."
CLEAR = "last_unbroken(accuracy > base_rate + 2 * error, counts)"
FEW_LEFT_OUT = (
    "Distances with few questions are left out. They count like the others: 2·√(b(1 − b)/n) already asks for more "
    "where n is small."
)
ONE_QUESTION = "One question: can its accuracy, 0 or 1, be above the limit?"
ERROR_OF_ALL = "np.sqrt(base_rate * (1 - base_rate) / len(answers)) + 0 * counts"
HOLDS = "np.logical_and.accumulate(is_clear | (counts == 0), axis=1)"
REACH = "np.where(holds & (counts > 0), np.arange(len(counts)), -1).max(axis=1)"

exercise.mistakes(
    zero_without_questions=edit("(counts == 0).astype('int64')", "(counts < 0).astype('int64')")
    | "Where no question has a distance, your accuracy is a number. Nothing was measured there: write NaN."
    | "What would a reader of your table conclude from a 0 there?",
    stops_at_a_gap=edit("is_clear | (counts == 0)", "is_clear")
    | "A distance without questions ends your reach. Nothing was measured there, so nothing has failed."
    | "What does a comparison with NaN give?",
    last_clear_one=edit(HOLDS, "is_clear")
    | "Your reach is the largest distance that is clearly above the base rate, although a smaller one fails. The "
    "reach ends where the first distance fails." | "Walk from distance 0 outwards. Where do you have to stop?",
    no_error_allowed_for=edit("base_rate + 2 * error", "base_rate")
    | "Your limit is the base rate, or hardly above it. With few questions a guesser is often above it, too: ask for "
    "two standard errors more, 2·√(b(1 − b)/n)." | "How often is a guesser above b at ten questions?",
    error_of_all_questions=edit("np.sqrt(base_rate * (1 - base_rate) / np.maximum(counts, 1))", ERROR_OF_ALL)
    | "Your standard error takes the number of all questions for n. At a distance with few questions chance does "
    "more: n is the number of questions there.",
    one_error=edit("base_rate + 2 * error", "base_rate + error")
    | "Your limit is one standard error above the base rate. At one distance in six a guesser is above it, too: ask "
    "for two.",
    gap_counted=edit("holds & (counts > 0)", "holds")
    | "Your reach ends at a distance without questions. Nothing was measured there: the reach is the last distance "
    "that is clear.",
    own_error=edit("base_rate * (1 - base_rate) / np.maximum", "accuracy * (1 - accuracy) / np.maximum")
    | "Your standard error is that of the measured accuracy. The question is what a guesser reaches by chance: b(1 − "
    "b)/n." | "With an accuracy of 1 your error is 0, also for one question. Is one correct answer proof of reading?",
    equal_guessing=edit("shares.max()", "1 / np.count_nonzero(shares)")
    | "Your base rate is one divided by the number of different answers. The answers are not equally frequent."
    | "Which answer would you give if you had to give the same one to all questions?",
    one_too_far=edit(REACH, f"{REACH} + 1")
    | "Your reach is the first distance that fails; it should be the last one before it.",
    up_to_the_distance=edit(SHARE, "correct @ at.cumsum(axis=0).T / counts.cumsum()")
    | edit("(counts == 0).astype('int64')", "(counts.cumsum() == 0).astype('int64')")
    | UP_TO,
    up_to_asked_distances=edit(SHARE, "correct @ at.cumsum(axis=0).T / counts.cumsum() * (counts > 0)") | UP_TO,
    any_for_all=edit(SHARE, f"(correct @ at.T > 0) / {COUNTED}")
    | "At each distance one correct answer is counted at most. `@` of two arrays of True and False gives True or "
    "False, not a number of them: make one of the two an array of floats, or take the mean of each row."
    | "What is `np.array([True, True]) @ np.array([True, True])`?",
    share_of_all=edit(SHARE, "correct @ at.T / len(answers)")
    | "The correct answers at a distance are divided by the number of all questions. Divide by the number at this "
    "distance.",
    few_left_out=edit(CLEAR, CLEAR.replace("counts", "np.where(counts < 5, 0, counts)")) | FEW_LEFT_OUT | ONE_QUESTION,
    single_left_out=edit(CLEAR, CLEAR.replace("counts", "np.where(counts < 2, 0, counts)"))
    | FEW_LEFT_OUT
    | ONE_QUESTION,
    distances_counted=edit(REACH, "(holds & (counts > 0)).sum(axis=1) - 1")
    | "Your reach is the number of clear distances, less 1. That is too small behind a distance without questions: the "
    "reach is the last clear distance itself."
    | "No question has distance 2, and 0, 1 and 3 are clear: what is the reach?",
    all_clear_counted=edit(REACH, "is_clear.sum(axis=1) - 1")
    | "Your reach is the number of all clear distances, less 1. Clear ones behind the first that fails do not count, "
    "and a distance without questions ends nothing: the reach is itself a distance."
    | "Walk from distance 0 outwards. Where do you have to stop, and at which distance are you then?",
    one_reach_for_all=edit(REACH, f"np.full(len(is_clear), {REACH}[-1])")
    | "Every window has the reach of the last one.",
    zero_in_place_of_none=edit(REACH, REACH.replace("-1", "0"))
    | "Where already the first distance fails, your reach is 0. That would say that distance 0 is clear: it is −1.",
    base_rate_of_the_model=edit("most_frequent_share(answers)", "most_frequent_share(guesses[-1])")
    | "Your base rate counts what the model answers. A base rate knows no model: it is the share of the most frequent "
    "right answer.",
    hidden_left_out=edit(CLEAR, "last_unbroken_seen(accuracy > base_rate + 2 * error, counts, windows)")
    | edit(
        "accuracy, empty, counts = by_distance(guesses, answers, distances)",
        "accuracy, empty, counts = by_distance_seen(guesses, answers, distances, windows)",
    )
    | "Questions whose letter the window hides are left out. They should count like all others: without them a "
    "window could not shorten the reach."
    | "What does the accuracy at a distance beyond the window tell you, if the model answers well there?",
    window_bounds_reach=edit(CLEAR, "last_unbroken_seen(accuracy > base_rate + 2 * error, counts, windows)")
    | "Your reach ends where the window ends. The window says what the model may see, not how far you measure: a "
    "clear distance behind it counts like the others."
    | "What does the accuracy at a distance beyond the window tell you, if the model answers well there?",
    window_not_asked=seen({"calls": "nothing under one of the windows"})
    | "Under one of the windows the model was asked nothing at all. Does each call get the window of its turn?",
    other_questions=seen({"calls": "other questions under each window"})
    | "The windows get different questions. Then a difference may be one of questions."
    | "A window that hides the key is part of the measurement: ask these questions as well.",
    limit_reached=edit(CLEAR, CLEAR.replace("accuracy >", "accuracy >="))
    | "A distance whose accuracy equals the limit counts as clear. Only one above the limit is."
    | "Half of the answers are one letter, and four of four are right: what is the limit, and is 1 above it?",
)

exercise.advice(
    accuracy=Advice(
        value="At each distance: of the questions with exactly this distance, the share that is answered correctly, "
        "also where the window hides the letter.",
        shape="There is an entry for each distance from 0 to the largest one, also where no question has it.",
        nan="Where no question has a distance, its count is 0 and its accuracy is unknown: NaN. Everywhere else it is "
        "a number.",
    ),
    reach="Walk from distance 0 outwards, under each window as far as there are questions: skip a distance "
    "without questions, stop at the first one that is not clearly above the base rate, and keep the last one "
    "before it.",
    calls="A loop over windows, and in it all questions. Only so a difference is that of the window.",
)
exercise.hints(
    accuracy=(
        "For one window: one array of right and wrong, from one call. Then a loop over the distances, with `distances "
        "== d` as a mask.",
        "`correct[distances == d].mean()` is the accuracy at d. What does it give, and warn of, where the mask is "
        "empty?",
    ),
    reach=(
        "`limit` is given: compare the accuracy at d with `limit[d]`, at each d that has questions.",
        "Start with a reach of −1. At each clear distance the "
        "reach becomes this distance; at the first one that is not clear you stop.",
    ),
    calls="Nothing is left out before the model is asked; what a window hides shows in the answers.",
)
