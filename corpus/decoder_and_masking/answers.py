"""Lab 08, exercise `answers`: solutions as different students write them, right and wrong."""

ANSWERS = {
    "base_model": "[512, 8, 2048, 6]",
    "inference": '"b"',
    "vocabulary": '"c"',
    "untracked": '"a"',
}


def answered(**changes):
    """The answers with some of them changed."""
    return "answers = {" + ", ".join(f'"{key}": {value}' for key, value in {**ANSWERS, **changes}.items()) + "}"


CORRECT = [
    answered(),
    answered(inference='"B"'),
    answered(base_model="(512.0, 8, 2048, 6)", untracked='" a "'),
    answered(vocabulary='"(c)"'),
    answered(base_model="np.array([512, 8, 2048, 6])"),
]

WRONG = [
    ("numbers_of_bert", answered(base_model="[768, 12, 3072, 12]")),
    ("mask_for_training_only", answered(inference='"a"')),
    ("softmax_thought_over_positions", answered(vocabulary='"a"')),
    ("untracked_thought_an_error", answered(untracked='"b"')),
    ("mask_thought_turned", answered(inference='"c"')),
    ("padding_mask_thought_enough", answered(inference='"d"')),
    ("softmax_thought_over_the_batch", answered(vocabulary='"b"')),
    ("logits_thought_probabilities", answered(vocabulary='"d"')),
    ("untracked_thought_to_learn", answered(untracked='"c"')),
    ("bare_variable_thought_tracked", answered(untracked='"d"')),
    ("blocks_of_both_stacks", answered(base_model="[512, 8, 2048, 12]")),
    (None, answered(base_model="[512, 8, 2048, 8]")),
]
