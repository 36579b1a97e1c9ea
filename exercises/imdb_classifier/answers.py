"""Lab 06, exercise `answers`."""

from autograder.declaring import Questions, wrong

LENGTH, LONGER, WIDTH = 200, 600, 32
PARAMETERS = 657_737  # of the published model, with 200 positions
TN, FP, FN, TP = 52, 8, 10, 30  # the matrix of the third question

exercise = Questions("answers", tolerance=0.0051)

exercise.question(
    "first_word",
    "the first word's place with padding in front",
    right=LENGTH - 3,  # three words
    hints=("Write down the positions of the three words from the end. What is the last position of all?",),
)
exercise.question(
    "longer",
    "parameters for longer reviews",
    right=PARAMETERS + (LONGER - LENGTH) * WIDTH,
    hints=("Which line of the table of `build_classifier` depends on T? All other lines stay.",),
)
exercise.question(
    "measures",
    "precision and recall by hand",
    right=[TP / (TP + FP), TP / (TP + FN)],
    hints=(
        "Write tn, fp, fn and tp beside the four numbers. Which column is “called positive”, which row “positive”?",
    ),
)
exercise.question(
    "report", "which number to report", right="c", hints=("Which of these reviews had no part in any decision?",)
)

exercise.mistakes(
    padding_thought_behind=wrong(
        "That would be right with padding at the end. Here the padding is in front.", seen={"first_word": 0}
    ),
    positions_from_one=wrong("Positions are counted from 0.", seen={"first_word": LENGTH - 2}),
    last_word_instead=wrong("That is the position of the last word of the three.", seen={"first_word": LENGTH - 1}),
    length_thought_free=wrong(
        "Attention has no weight that depends on the length, but one table has a row for every position.",
        seen={"longer": PARAMETERS},
        see="04#parameters",
    ),
    length_thought_everything=wrong(
        "Only one table grows with max_length.", seen={"longer": 3 * PARAMETERS}, see="04#parameters"
    ),
    only_what_is_added=wrong(
        "This is what is added. The question asks for all parameters.", seen={"longer": (LONGER - LENGTH) * WIDTH}
    ),
    old_rows_counted_again=wrong(
        "200 of the 600 rows were there before.", seen={"longer": PARAMETERS + LONGER * WIDTH}
    ),
    hand_measures_swapped=wrong(
        "Precision divides by a column, recall by a row.", seen={"measures": [TP / (TP + FN), TP / (TP + FP)]}
    ),
    hand_one_decimal=wrong("One decimal is too few: give two.", seen={"measures": [0.8, 0.8]}),
    hand_matrix_misread=wrong(
        "The matrix is read as [[tp, fp], [fn, tn]]; it is [[tn, fp], [fn, tp]].",
        seen={"measures": [TN / (TN + FP), TN / (TN + FN)]},
    ),
    hand_negative_class=wrong(
        "These are the measures of the negative class. The positive one comes second, in rows and in columns.",
        seen={"measures": [TN / (TN + FN), TN / (TN + FP)]},
    ),
    hand_percent=wrong(
        "These are percentages. Give shares of 1.", seen={"measures": [100 * TP / (TP + FP), 100 * TP / (TP + FN)]}
    ),
    hand_accuracy_first=wrong(
        "The first number is the accuracy. Precision looks only at those called positive.",
        seen={"measures": [(TN + TP) / 100, TP / (TP + FN)]},
    ),
    hand_accuracy=wrong("That is the accuracy, twice.", seen={"measures": [(TN + TP) / 100] * 2}),
    best_epoch_reported=wrong(
        "The best of many epochs is the luckiest, too: the validation set chose it.",
        seen={"report": "a"},
        see="06b#three-splits",
    ),
    kept_epoch_reported=wrong(
        "The validation set decided which epoch is kept: it cannot judge this epoch without bias.",
        seen={"report": "b"},
        see="06b#three-splits",
    ),
    training_reported=wrong("The model was trained on these reviews.", seen={"report": "d"}, see="06#overfitting"),
)
