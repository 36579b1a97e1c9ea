"""Lab 01, exercise `answers`."""

import numpy as np

from autograder.declare import Questions, seen
from exercises.formulas.attention import softmax

SCORES = np.array([0.0, -2.0])  # of two keys at distances 0 and 2, bandwidth 1
VALUES = np.array([10.0, 12.0])

exercise = Questions("answers", tolerance=0.0051)

exercise.question("pooling_weights", "the weights by hand", right=softmax(SCORES))
exercise.question("pooling_output", "the output by hand", right=softmax(SCORES) @ VALUES)
exercise.question("weights_shape", "the shape of the weights", right=[7.0, 11.0])
exercise.question(
    "learnable", "which score functions learn", right=[0, 1, 1, 1, 0, 0]
)  # cosine, additive, location, general, dot, scaled dot
exercise.question("additive_parameters", "how many numbers additive attention learns", right=3 * 7 + 5 * 7 + 7)
exercise.question("hard_attention", "what hard attention costs", right="c")

exercise.mistakes(
    hand_without_2=seen(
        {"pooling_weights": softmax(np.array([0.0, -4.0])), "pooling_output": softmax(np.array([0.0, -4.0])) @ VALUES}
    )
    | "The 2 under the squared distance is missing.",
    hand_not_squared=seen(
        {"pooling_weights": softmax(np.array([0.0, -1.0])), "pooling_output": softmax(np.array([0.0, -1.0])) @ VALUES}
    )
    | "The distance is not squared.",
    hand_sign_reversed=seen(
        {"pooling_weights": softmax(np.array([0.0, 2.0])), "pooling_output": softmax(np.array([0.0, 2.0])) @ VALUES}
    )
    | "The far key has the larger weight: the minus is missing.",
    hand_not_normalised=seen({"pooling_weights": np.exp(SCORES), "pooling_output": np.exp(SCORES) @ VALUES})
    | "The kernels have to be divided by their sum.",
    axes_swapped=seen({"weights_shape": [11.0, 7.0]})
    | "Rows are queries. In a translator, do the queries come from the source or from the target?",
    thought_self=seen({"weights_shape": [7.0, 7.0]}) | "That would be self-attention of the target.",
    scaled_dot_thought_learnable=seen({"learnable": [0, 1, 1, 1, 0, 1]})
    | "√d is a constant; nothing in the scaled dot product learns.",
    location_forgotten=seen({"learnable": [0, 1, 0, 1, 0, 0]})
    | "Location-based scores come from the query alone. What turns the query into scores?",
    cosine_thought_learnable=seen({"learnable": [1, 1, 1, 1, 0, 0]})
    | "A cosine is calculated from q and k; there is nothing to learn in it.",
    all_thought_learnable=seen({"learnable": [1, 1, 1, 1, 1, 1]})
    | "Look at the formulas: where is there a letter that is neither q nor k nor their width?",
    v_forgotten=seen({"additive_parameters": 56}) | "The vector v has U numbers too.",
    one_projection=seen({"additive_parameters": 28}) | "There are two matrices: one for q, one for k.",
    bias_counted=seen({"additive_parameters": 77}) | "There is no bias in the formula.",
    hard_thought_slow=seen({"hard_attention": "a"}) | "Reading one place is less work than reading all of them.",
    hard_thought_unnormalised=seen({"hard_attention": "b"}) | "A one-hot row does sum to 1.",
    hard_thought_large=seen({"hard_attention": "d"}) | "A one-hot row can be stored as one number: its place.",
)

exercise.hints(
    pooling_weights="Each number takes a line on paper. The lecture has the same calculations with other numbers.",
    pooling_output="Use the weights of the first question, and the two values.",
    weights_shape="A row of the matrix is one word that is written.",
    learnable="In each formula look for a letter that is neither q nor k nor their width. Location-based scores come "
    "from the query alone. What turns the query into scores?",
    additive_parameters="Write down the shape of each of the three, two matrices and a vector.",
    hard_attention="Move one score a little. What does that change in the result of hard attention?",
)
