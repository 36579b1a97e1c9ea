"""Lab 06, exercise `answers`."""

from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.mistaken import imdb_classifier as mistaken
from autograder.oracles import imdb_classifier as oracles


def _answer(entry: str):
    return lambda rng: [Case({"entry": entry}, description=f'answers["{entry}"]')]


exercise = Exercise("answers", oracle=oracles.hand_calculation, mistaken=mistaken.hand_calculation, reveal=False, tolerance=0.0051)


@exercise.group("the first word's place with padding in front", points=1)
def first_word(rng: Generator) -> list[Case]:
    return _answer("first_word")(rng)


@exercise.group("parameters for longer reviews", points=1)
def longer(rng: Generator) -> list[Case]:
    return _answer("longer")(rng)


@exercise.group("precision and recall by hand", points=1)
def measures(rng: Generator) -> list[Case]:
    return _answer("measures")(rng)


@exercise.group("which number to report", points=1)
def report(rng: Generator) -> list[Case]:
    return _answer("report")(rng)


exercise.mistakes(
    padding_thought_behind=wrong("That would be right with padding at the end. Here the padding is in front.", first_word="end"),
    positions_from_one=wrong("Positions are counted from 0.", first_word="from one"),
    last_word_instead=wrong("That is the position of the last word of the three.", first_word="last word"),
    length_thought_free=wrong("Attention has no weight that depends on the length, but one table has a row for every position.", longer="unchanged"),
    length_thought_everything=wrong("Only one table grows with max_length.", longer="tripled"),
    old_rows_counted_again=wrong("200 of the 600 rows were there before.", longer="added all 600"),
    hand_measures_swapped=wrong("Precision divides by a column, recall by a row.", measures="swapped"),
    hand_matrix_misread=wrong("The matrix is read as [[tp, fp], [fn, tn]]; it is [[tn, fp], [fn, tp]].", measures="tp first"),
    hand_accuracy=wrong("That is the accuracy, twice.", measures="accuracy"),
    best_epoch_reported=wrong("The best of many epochs is the luckiest, too: the validation set chose it.", report="best validation"),
    kept_epoch_reported=wrong("The validation set decided which epoch is kept: it cannot judge this epoch without bias.", report="kept epoch"),
    training_reported=wrong("The model was trained on these reviews.", report="training"),
)


exercise.hints("Each number takes a line on paper. The formulas are in lecture 04, the sizes in exercise 6.")
exercise.hints("Which weights of the model have a size that depends on `max_length`?", group="longer")
exercise.hints("Precision divides by the number predicted positive, recall by the number that are positive.", group="measures")
exercise.hints("Which of these reviews had no part in any decision?", group="report")
