"""Lab 07, exercise `answers`."""

from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.mistaken import bert_ag_news as mistaken
from autograder.oracles import bert_ag_news as oracles


def _answer(entry: str):
    return lambda rng: [Case({"entry": entry}, description=f'answers["{entry}"]')]


exercise = Exercise("answers", oracle=oracles.hand_calculation, mistaken=mistaken.hand_calculation, reveal=False, tolerance=0.0051)


@exercise.group("how many become [MASK]", points=1)
def masked(rng: Generator) -> list[Case]:
    return _answer("masked")(rng)


@exercise.group("who decides when to stop", points=1)
def decision(rng: Generator) -> list[Case]:
    return _answer("decision")(rng)


@exercise.group("why tf_keras", points=1)
def keras(rng: Generator) -> list[Case]:
    return _answer("keras")(rng)


exercise.mistakes(
    chosen_counted=wrong("That many are chosen. Not all of them are masked.", masked="all chosen"),
    rate_forgotten=wrong("80 % of the chosen ones, not of all.", masked="of all"),
    kept_counted=wrong("That many are kept.", masked="kept"),
    test_decides=wrong("A test set that decides anything is no longer a test set.", decision="test"),
    training_decides=wrong("The training loss falls as long as you like.", decision="training"),
    keras_for_speed=wrong("Speed is not the reason here: neither is faster.", keras="speed"),
    keras_for_text=wrong("Keras 3 takes strings, too, in `TextVectorization` for example.", keras="text"),
)


exercise.hints("Each takes a line on paper; the text of the exercises has all that is needed.")
exercise.hints("A set of texts that decides something cannot measure the result any more.", group="decision")
exercise.hints("Whose layer is `hub.KerasLayer`? Lecture 07 prints what happens when two versions of Keras meet.", group="keras")
