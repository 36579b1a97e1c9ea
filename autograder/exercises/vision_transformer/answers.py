"""Lab 09, exercise `answers`."""

from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.exercises.vision_transformer.shared import Draw
from autograder.mistaken import vision_transformer as mistaken
from autograder.oracles import vision_transformer as oracles


def _answer(entry: str) -> Draw:
    return lambda rng: [Case({"entry": entry}, description=f'answers["{entry}"]')]


exercise = Exercise("answers", oracle=oracles.answers, mistaken=mistaken.answers, reveal=False, tolerance=0.0051)


@exercise.group("what the class token costs", points=1)
def class_token_numbers(rng: Generator) -> list[Case]:
    return _answer("class_token_numbers")(rng)


@exercise.group("the patch that a rollout points at", points=1)
def rollout_patch(rng: Generator) -> list[Case]:
    return _answer("rollout_patch")(rng)


@exercise.group("patches in another order", points=1)
def shuffled_patches(rng: Generator) -> list[Case]:
    return _answer("shuffled_patches")(rng)


exercise.mistakes(
    class_token_per_class=wrong("There is one class token, not one per class. The classes come in with the head.", class_tokens="one per class"),
    class_token_per_patch=wrong("There is one class token, not one per patch.", class_tokens="one per patch"),
    class_token_counted_as_patch=wrong("Entry 0 of the row belongs to the class token, so the first patch is entry 1.", reading="class token counted"),
    rollout_by_columns=wrong("The patches are numbered row by row, not column by column.", reading="by columns"),
    column_named_first=wrong("The row comes first, then the column.", reading="column first"),
    counted_from_one=wrong("Rows and columns are counted from 0.", reading="from one"),
    class_token_chosen=wrong("The largest entry is the class token's own. Which *patch* has the largest?", reading="class token itself"),
    shuffling_thought_harmless=wrong("That holds without positions. The rows of the position table stay where they are when patches move.", shuffled="a"),
    shuffling_thought_to_permute=wrong("The class token is read, and it has not moved: the logits are not a list of patches.", shuffled="c"),
    shuffling_thought_forbidden=wrong("Nothing stops: the model takes any image of the right size.", shuffled="d"),
)


exercise.hints("Each answer takes one line on paper. Draw the grid of patches.")
exercise.hints("Draw the grid of 3 × 4, and write all entries except the first one into it.", group="rollout_patch")
exercise.hints("What is added to a patch before the encoder reads it, and does it move with the patch?", group="shuffled_patches")
