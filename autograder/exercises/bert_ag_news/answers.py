"""Lab 07, exercise `answers`."""

from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.mistaken import bert_ag_news as mistaken
from autograder.oracles import bert_ag_news as oracles


def _answer(entry: str):
    return lambda rng: [Case({"entry": entry}, how=f'answers["{entry}"]')]


exercise = Exercise("answers", oracle=oracles.hand_calculation, mistaken=mistaken.hand_calculation, reveal=False, tolerance=0.0051)


@exercise.group("pieces of a word", points=1)
def pieces(rng: Generator) -> list[Case]:
    return _answer("pieces")(rng)


@exercise.group("how many become [MASK]", points=1)
def masked(rng: Generator) -> list[Case]:
    return _answer("masked")(rng)


@exercise.group("the learning rate at a step", points=1)
def rate(rng: Generator) -> list[Case]:
    return _answer("rate")(rng)


@exercise.group("parameters of the head", points=1)
def head(rng: Generator) -> list[Case]:
    return _answer("head")(rng)


@exercise.group("who decides when to stop", points=1)
def decision(rng: Generator) -> list[Case]:
    return _answer("decision")(rng)


@exercise.group("why tf_keras", points=1)
def keras(rng: Generator) -> list[Case]:
    return _answer("keras")(rng)


exercise.mistakes(
    counted_shortest=wrong("The longest piece that fits comes first.", pieces="shortest"),
    thought_unknown=wrong("The vocabulary covers the word: try `un` first.", pieces="unknown"),
    counted_fewest=wrong("Greedy takes the longest first piece, even if that costs one.", pieces="fewest"),
    chosen_counted=wrong("That many are chosen. Not all of them are masked.", masked="all chosen"),
    rate_forgotten=wrong("80 % of the chosen ones, not of all.", masked="of all"),
    kept_counted=wrong("That many are kept.", masked="kept"),
    rate_over_all_steps=wrong("The way down has 900 steps, from the peak to the end.", rate="of all steps"),
    rate_climbing=wrong("Step 400 is beyond the warm-up.", rate="climbing"),
    rate_without_climb=wrong("The way down begins at warmup_steps, not at 0.", rate="without climb"),
    head_biases_forgotten=wrong("Each Dense layer has a bias, too.", head="no biases"),
    head_one_layer=wrong("There is a layer of 16 values between.", head="one layer"),
    head_for_all_positions=wrong("The pooled output is one vector for a text, not one for each of its tokens.", head="all positions"),
    test_decides=wrong("A test set that decides anything is no test set any more.", decision="test"),
    training_decides=wrong("The training loss falls as long as you like.", decision="training"),
    keras_for_speed=wrong("Neither is faster in this matter.", keras="speed"),
    keras_for_text=wrong("Keras 3 takes strings, too, in `TextVectorization` for example.", keras="text"),
)


exercise.hints("Each takes a line on paper; the text of the exercises has all that is needed.")
