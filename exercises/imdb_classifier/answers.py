"""Lab 06, exercise `answers`."""

from autograder.declare import Questions, seen

LENGTH, LONGER, WIDTH = 200, 600, 32
PARAMETERS = 657_737  # of the published model, with 200 positions
TN, FP, FN, TP = 52, 8, 10, 30  # the matrix of the third question

exercise = Questions("answers", tolerance=0.0051)

exercise.question("first_word", "the first word's place with padding in front", right=LENGTH - 3)
exercise.question("longer", "parameters for longer reviews", right=PARAMETERS + (LONGER - LENGTH) * WIDTH)
exercise.question("measures", "precision and recall by hand", right=[TP / (TP + FP), TP / (TP + FN)])
exercise.question("report", "which number to report", right="c")

exercise.mistakes(
    padding_thought_behind=seen({"first_word": 0})
    | "That would be right with padding at the end. Here the padding is in front.",
    positions_from_one=seen({"first_word": LENGTH - 2}) | "Positions are counted from 0.",
    last_word_instead=seen({"first_word": LENGTH - 1}) | "That is the position of the last word of the three.",
    length_thought_free=seen({"longer": PARAMETERS}, see="04#parameters")
    | "Attention has no weight that depends on the length, but one table has a row for every position.",
    length_thought_everything=seen({"longer": 3 * PARAMETERS}, see="04#parameters")
    | "Only one table grows with max_length.",
    only_what_is_added=seen({"longer": (LONGER - LENGTH) * WIDTH})
    | "This is what is added. The question asks for all parameters.",
    old_rows_counted_again=seen({"longer": PARAMETERS + LONGER * WIDTH}) | "200 of the 600 rows were there before.",
    hand_measures_swapped=seen({"measures": [TP / (TP + FN), TP / (TP + FP)]})
    | "Precision divides by a column, recall by a row.",
    hand_one_decimal=seen({"measures": [0.8, 0.8]}) | "One decimal is too few: give two.",
    hand_matrix_misread=seen({"measures": [TN / (TN + FP), TN / (TN + FN)]})
    | "The matrix is read as [[tp, fp], [fn, tn]]; it is [[tn, fp], [fn, tp]].",
    hand_negative_class=seen({"measures": [TN / (TN + FN), TN / (TN + FP)]})
    | "These are the measures of the negative class. The positive one comes second, in rows and in columns.",
    hand_percent=seen({"measures": [100 * TP / (TP + FP), 100 * TP / (TP + FN)]})
    | "These are percentages. Give shares of 1.",
    hand_accuracy_first=seen({"measures": [(TN + TP) / 100, TP / (TP + FN)]})
    | "The first number is the accuracy. Precision looks only at those called positive.",
    hand_accuracy=seen({"measures": [(TN + TP) / 100] * 2}) | "That is the accuracy, twice.",
    best_epoch_reported=seen({"report": "a"}, see="06b#three-splits")
    | "The best of many epochs is the luckiest, too: the validation set chose it.",
    kept_epoch_reported=seen({"report": "b"}, see="06b#three-splits")
    | "The validation set decided which epoch is kept: it cannot judge this epoch without bias.",
    training_reported=seen({"report": "d"}, see="06#overfitting") | "The model was trained on these reviews.",
)

exercise.hints(
    first_word="Write down the positions of the three words from the end. What is the last position of all?",
    longer="Which line of the table of `build_classifier` depends on T? All other lines stay.",
    measures="Write tn, fp, fn and tp beside the four numbers. Which column is “called positive”, which row "
    "“positive”?",
    report="Which of these reviews had no part in any decision?",
)
