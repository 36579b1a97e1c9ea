"""Lab 09, exercise `answers`: solutions as different students write them, right and wrong."""

CORRECT = [
    'answers = {"class_token_numbers": 768, "rollout_patch": (1, 2), "shuffled_patches": "B"}',
    'answers = {"class_token_numbers": tf.constant(768), "rollout_patch": np.array([1, 2]), "shuffled_patches": " b "}',
    'answers = dict(class_token_numbers=768, rollout_patch=list(divmod(6, 4)), shuffled_patches="b")',
    'answers = {}\nanswers["class_token_numbers"] = 768\nanswers["rollout_patch"] = [1.0, 2.0]\nanswers["shuffled_patches"] = "b"',
    'answers = {"class_token_numbers": 768, "rollout_patch": tf.constant([1, 2]), "shuffled_patches": "b", "more": 1}',
]


def answered(**changes):
    """Answers with some of them changed."""
    right = {"class_token_numbers": 768, "rollout_patch": [1, 2]}
    return f"answers = { ({**right, 'shuffled_patches': 'b'} | changes)!r}"


WRONG = [
    ("class_token_per_class", answered(class_token_numbers=768_000)),
    ("class_token_counted_as_patch", answered(rollout_patch=[1, 3])),
    ("rollout_by_columns", answered(rollout_patch=[0, 2])),
    ("column_named_first", answered(rollout_patch=[2, 1])),
    ("counted_from_one", answered(rollout_patch=[2, 3])),
    ("class_token_chosen", answered(rollout_patch=[0, 0])),
    ("shuffling_thought_harmless", answered(shuffled_patches="a")),
    ("shuffling_thought_to_permute", answered(shuffled_patches="c")),
    ("shuffling_thought_forbidden", answered(shuffled_patches="D")),
    (None, answered(rollout_patch=6)),
    # several wrong answers: each is named by itself
    (
        ("class_token_per_class", "class_token_chosen", "shuffling_thought_harmless"),
        answered(class_token_numbers=768_000, rollout_patch=[0, 0], shuffled_patches="a"),
    ),
    (
        ("class_token_counted_as_patch", "shuffling_thought_to_permute"),
        answered(class_token_numbers=769, rollout_patch=[1, 3], shuffled_patches="c"),
    ),
]
