"""Lab 02, exercise `answers`."""

import numpy as np

from autograder.declaring import Questions, wrong
from exercises.formulas.attention import softmax

X = np.array([[1, 2, 3, 4], [2, 4, 8, 7], [1, 2, 1, 2]])
W_Q = np.array([[1, 1, 1], [0, 0, 0], [2, 1, 1], [3, 2, 4]])
W_K = np.array([[1, 0, 2], [0, 1, 1], [1, 1, 0], [0, 1, 0]])
SCORES = np.array([126.0, 120.0])  # of keys of width 36

exercise = Questions("answers", tolerance=0.0051)

exercise.question(
    "key_row",
    "the key of “are”",
    right=X[1] @ W_K,
    hints=("Each number takes one line on paper; the lecture does the same calculation with other numbers.",),
)
exercise.question(
    "scaled_scores",
    "the scaled scores",
    right=SCORES / 6,
    hints=("d_k is 36. Which number divides a score: 36, or its root?",),
)
exercise.question(
    "weights",
    "the weights",
    right=softmax(SCORES / 6),
    hints=("Only the difference of the two scores counts: divide e^difference by (e^difference + 1).",),
)
exercise.mistakes(
    hand_unscaled=wrong(
        "This comes from scores that are not divided at all.",
        seen={"scaled_scores": SCORES, "weights": softmax(SCORES)},
    ),
    hand_scaled_by_d=wrong(
        "The scores are divided by d_k, not by its square root.",
        seen={"scaled_scores": SCORES / 36, "weights": softmax(SCORES / 36)},
    ),
    hand_one_decimal=wrong(
        "The weights are rounded to one decimal; the question asks for two.", seen={"weights": [0.7, 0.3]}
    ),
    hand_weights_swapped=wrong(
        "The weights are in the wrong order: the larger score has the larger weight.",
        seen={"weights": softmax(SCORES / 6)[::-1]},
    ),
    hand_shares_of_scores=wrong(
        "Each score is divided by the sum of the scores. The softmax takes the exponentials first.",
        seen={"weights": SCORES / SCORES.sum()},
    ),
    hand_key_with_w_q=wrong("That is the query of the word: keys are made with W_k.", seen={"key_row": X[1] @ W_Q}),
    hand_first_row=wrong(
        "That is the key of “How”, the first token. “are” is the second row of X.", seen={"key_row": X[0] @ W_K}
    ),
    hand_third_row=wrong(
        "That is the key of “you”, the third token. “are” is the second row of X.", seen={"key_row": X[2] @ W_K}
    ),
)
