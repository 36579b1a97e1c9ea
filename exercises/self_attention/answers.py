"""Lab 02, exercise `answers`."""

import numpy as np

from autograder.declare import Questions, seen
from exercises.formulas.attention import softmax

X = np.array([[1, 2, 3, 4], [2, 4, 8, 7], [1, 2, 1, 2]])
W_Q = np.array([[1, 1, 1], [0, 0, 0], [2, 1, 1], [3, 2, 4]])
W_K = np.array([[1, 0, 2], [0, 1, 1], [1, 1, 0], [0, 1, 0]])
SCORES = np.array([126.0, 120.0])  # of keys of width 36

exercise = Questions("answers", tolerance=0.0051)

exercise.question("key_row", "the key of “are”", right=X[1] @ W_K)
exercise.question("scaled_scores", "the scaled scores", right=SCORES / 6)
exercise.question("weights", "the weights", right=softmax(SCORES / 6))

exercise.mistakes(
    hand_unscaled=seen({"scaled_scores": SCORES, "weights": softmax(SCORES)})
    | "This comes from scores that are not divided at all.",
    hand_scaled_by_d=seen({"scaled_scores": SCORES / 36, "weights": softmax(SCORES / 36)})
    | "The scores are divided by d_k, not by its square root.",
    hand_one_decimal=seen({"weights": [0.7, 0.3]})
    | "The weights are rounded to one decimal; the question asks for two.",
    hand_weights_swapped=seen({"weights": softmax(SCORES / 6)[::-1]})
    | "The weights are in the wrong order: the larger score has the larger weight.",
    hand_shares_of_scores=seen({"weights": SCORES / SCORES.sum()})
    | "Each score is divided by the sum of the scores. The softmax takes the exponentials first.",
    hand_key_with_w_q=seen({"key_row": X[1] @ W_Q}) | "That is the query of the word: keys are made with W_k.",
    hand_first_row=seen({"key_row": X[0] @ W_K})
    | "That is the key of “How”, the first token. “are” is the second row of X.",
    hand_third_row=seen({"key_row": X[2] @ W_K})
    | "That is the key of “you”, the third token. “are” is the second row of X.",
)

exercise.hints(
    key_row="Each number takes one line on paper; the lecture does the same calculation with other numbers.",
    scaled_scores="d_k is 36. Which number divides a score: 36, or its root?",
    weights="Only the difference of the two scores counts: divide e^difference by (e^difference + 1).",
)
