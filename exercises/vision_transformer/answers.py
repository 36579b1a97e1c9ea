"""Lab 09, exercise `answers`."""

from autograder.declare import Questions, seen

D_MODEL, CLASSES, PATCHES = 768, 1000, 196  # of ViT-B/16 for images of 224 × 224
COLUMNS, LARGEST = 4, 6  # the grid has 3 rows; the largest of the patches' entries is patch 6

exercise = Questions("answers", tolerance=0.0051)

exercise.question("class_token_numbers", "what the class token costs", right=D_MODEL)
exercise.question("rollout_patch", "the patch that a rollout points at", right=divmod(LARGEST, COLUMNS))
exercise.question("shuffled_patches", "patches in another order", right="b")

exercise.mistakes(
    class_token_per_class=seen({"class_token_numbers": D_MODEL * CLASSES}, see="09#class-token")
    | "There is one class token, not one per class. The classes come in with the head.",
    class_token_per_patch=seen({"class_token_numbers": D_MODEL * PATCHES}, see="09#class-token")
    | "There is one class token, not one per patch.",
    class_token_counted_as_patch=seen({"rollout_patch": divmod(LARGEST + 1, COLUMNS)}, see="09#rollout")
    | "Entry 0 of the row belongs to the class token, so the first patch is entry 1.",
    rollout_by_columns=seen({"rollout_patch": divmod(LARGEST, 3)[::-1]})
    | "The patches are numbered row by row, not column by column.",
    column_named_first=seen({"rollout_patch": divmod(LARGEST, COLUMNS)[::-1]})
    | "The row comes first, then the column.",
    counted_from_one=seen({"rollout_patch": (2, 3)}) | "Rows and columns are counted from 0.",
    class_token_chosen=seen({"rollout_patch": (0, 0)})
    | "The largest entry is the class token's own. Which *patch* has the largest?",
    shuffling_thought_harmless=seen({"shuffled_patches": "a"}, see="09#class-token")
    | "That holds without positions. The rows of the position table stay where they are when patches move.",
    shuffling_thought_to_permute=seen({"shuffled_patches": "c"})
    | "The class token is read, and it has not moved: the logits are not a list of patches.",
    shuffling_thought_forbidden=seen({"shuffled_patches": "d"})
    | "Nothing stops: the model takes any image of the right size.",
)

exercise.hints(
    class_token_numbers="Each answer takes one line on paper. Draw the grid of patches.",
    rollout_patch="Draw the grid of 3 × 4, and write all entries except the first one into it.",
    shuffled_patches="What is added to a patch before the encoder reads it, and does it move with the patch?",
)
