"""Lab 02, exercise `answers`."""

from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.mistaken import self_attention as mistaken
from autograder.oracles import self_attention as oracles


def _answer(entry: str):
    return lambda rng: [Case({"entry": entry}, description=f'answers["{entry}"]')]


exercise = Exercise("answers", oracle=oracles.hand_calculation, mistaken=mistaken.hand_calculation, reveal=False, tolerance=0.0051)


@exercise.group("the key of “are”", points=1)
def key_row(rng: Generator) -> list[Case]:
    return _answer("key_row")(rng)


@exercise.group("the scaled scores", points=1)
def scaled_scores(rng: Generator) -> list[Case]:
    return _answer("scaled_scores")(rng)


@exercise.group("the weights", points=1)
def weights(rng: Generator) -> list[Case]:
    return _answer("weights")(rng)


@exercise.group("what happens without √d_k", points=1)
def without_scaling(rng: Generator) -> list[Case]:
    return _answer("without_scaling")(rng)


exercise.mistakes(
    hand_unscaled=wrong("This comes from scores that are not divided at all.", scaling="none"),
    hand_scaled_by_d=wrong("The scores are divided by d_k, not by its square root.", scaling="d_k"),
    hand_key_with_w_q=wrong("That is the query of the word: keys are made with W_k.", queries_for_keys=True),
    hand_first_row=wrong("That is the key of “How”, the first token. “are” is the second row of X.", row=0),
    hand_third_row=wrong("That is the key of “you”, the third token. “are” is the second row of X.", row=2),
    scaling_thought_flatter=wrong("Without the division the scores grow with d_k. Do larger differences make a softmax flatter or sharper?", effect="flatter"),
    scaling_thought_harmless=wrong("A factor on all scores does change the softmax; only a constant added to all of them does not.", effect="nothing"),
    scaling_thought_normalising=wrong("The softmax makes every row sum to 1 whatever the scale of the scores.", effect="sum"),
)


exercise.hints("Each number takes one line on paper; the lecture does the same calculation with other numbers.")
exercise.hints("d_k is 36. Which number divides a score: 36, or its root?", group="scaled_scores")
exercise.hints("Only the difference of the two scores counts: divide e^difference by (e^difference + 1).", group="weights")
exercise.hints("Lecture 02 measures it: what happens to the variance of a score as d_k grows?", group="without_scaling")
