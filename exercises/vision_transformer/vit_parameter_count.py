"""Lab 09, exercise `vit_parameter_count`."""

from autograder.declare import Case, Exercise, edit
from exercises.vision_transformer.shared import Draw, vit_size

BASE_16 = {"image_size": 224, "patch_size": 16, "channels": 3, "d_model": 768, "num_layers": 12, "d_ff": 3072}


def _counts(*, classes: bool) -> Draw:
    def draw(rng) -> list[Case]:
        cases = [dict(BASE_16)]
        for patch, channels in ((5, 1), (7, 4)):
            side = int(rng.integers(3, 9))
            cases.append(
                {
                    "image_size": side * patch,
                    "patch_size": patch,
                    "channels": channels,
                    "d_model": int(rng.integers(20, 90)),
                    "num_layers": int(rng.integers(2, 8)),
                    "d_ff": int(rng.integers(91, 300)),
                }
            )
        if classes:
            cases = [{**case, "num_classes": number} for case, number in zip(cases, (1000, 3, 17), strict=True)]
        return [Case(case) for case in cases]

    return draw


exercise = Exercise("vit_parameter_count")


@exercise.formula
def vit_parameter_count(image_size, patch_size, channels, d_model, num_layers, d_ff, num_classes=None):
    """Trainable numbers of a Vision Transformer for square images (Dosovitskiy et al. 2021, table 1)."""
    side = image_size // patch_size
    return vit_size(side**2, patch_size**2 * channels, d_model, num_layers, d_ff, num_classes)


exercise.group("without a head", points=2, no_head=_counts(classes=False))
exercise.group(
    "with a head", head=lambda rng: [*_counts(classes=True)(rng), _counts(classes=False)(rng)[-1]]
)  # the last one again without a head

HEAD = "d_model * num_classes + num_classes"

exercise.mistakes(
    one_vector_missing=edit("class_token = d_model", "class_token = 0", see="09#counted")
    | "D numbers are missing, as many as one vector has: the class token, its row of the position table, or one of "
    "the final norm's two."
    | "Which parts are a single vector of D numbers? The class token is one, and where is the other?",
    two_vectors_missing=edit("last_norm = 2 * d_model", "last_norm = 0", see="09#counted")
    | "2·D numbers are missing, as many as two vectors have: those of the final norm, or the class token and its "
    "position." | "What stands between the last block and the head?",
    two_vectors_per_block_missing=edit("norms = 2 * 2 * d_model", "norms = 2 * d_model", see="09#counted")
    | "In every block 2·D numbers are missing, as many as one norm has; a block has two."
    | "How many norms does a block have, and how many vectors does a norm learn?",
    four_vectors_per_block_missing=edit("norms = 2 * 2 * d_model", "norms = 0", see="09#counted")
    | "In every block 4·D numbers are missing: those of its two norms."
    | "Which layers of `encoder_block` are not counted yet?",
    one_class_token_per_class=edit("class_token = d_model", "class_token = (num_classes or 1) * d_model")
    | edit("(patches + 1)", "(patches + (num_classes or 1))", see="09#class-token")
    | "There is one class token, whatever the number of classes, not one for each class."
    | "What does the class token become, and which layer knows the classes?",
    class_token_per_class=edit("class_token =", "class_token = (num_classes or 1) *", see="09#class-token")
    | "The class token is counted once for each class. There is one, whatever the number of classes."
    | "What does the class token become, and which layer knows the classes?",
    final_norm_with_head_only=edit(
        "last_norm = 2 * d_model", "last_norm = 2 * d_model if num_classes else 0", see="09#counted"
    )
    | "The final norm is counted only where there is a head. It belongs to the model without a head, too."
    | "Compare your two counts with the two numbers of the text: which one is too small, and by how much?",
    final_norm_in_every_block=edit("norms = 2 * 2 * d_model", "norms = 3 * 2 * d_model")
    | edit("last_norm = 2 * d_model", "last_norm = 0", see="09#counted")
    | "The final norm is counted in every block. It comes once, after the last one."
    | "Which norms of `build_vit` are in the loop, and which one is below it?",
    one_vector_too_many=edit("class_token = d_model", "class_token = 2 * d_model", see="09#counted")
    | "There are D numbers too many, as many as one vector has. Is the class token counted twice, or its row?"
    | "`tokens` is N + 1: whose is the 1?",
    position_as_number=edit("positions = (patches + 1) * d_model", "positions = patches + 1", see="09#class-token")
    | "A position counts as one number. Each of the N + 1 rows of the table has D."
    | "Positions are added to the tokens. How wide must a row be?",
    no_positions=edit("positions = (patches + 1) * d_model", "positions = 0", see="09#class-token")
    | "The position table is missing. It is learned, so it counts."
    | "Are the positions calculated, as in the first Transformer, or learned?",
    norms_without_beta=edit("norms = 2 * 2 * d_model", "norms = 2 * d_model")
    | edit("last_norm = 2 * d_model", "last_norm = d_model")
    | "A norm has gamma *and* beta, D numbers each.",
    no_norms_at_all=edit(("norms = 2 * 2 * d_model", "norms = 0"), ("last_norm = 2 * d_model", "last_norm = 0"))
    | "No norm is counted: two in every block, and one at the end.",
    one_block=edit("num_layers * (attention + feed_forward + norms)", "attention + feed_forward + norms")
    | "One block is counted, whatever num_layers says.",
    head_missing=edit(HEAD, "0") | "num_classes changes nothing: the head is missing.",
    norms_of_one_block=edit(
        "num_layers * (attention + feed_forward + norms)", "num_layers * (attention + feed_forward) + norms"
    )
    | "The norms of one block are counted. Each of the num_layers blocks has its own.",
    three_vectors_missing=edit("class_token = d_model", "class_token = 0")
    | edit("last_norm = 2 * d_model", "last_norm = 0", see="09#counted")
    | "3·D numbers are missing, as many as three vectors have: those of the final norm, and the class token or its "
    "row of the position table."
    | "Which parts of the model are there once, whatever the number of patches and blocks?",
)

exercise.hints(
    no_head=(
        "Make a list of the parts: projection, class token, positions, blocks, final norm, head. Count one after the "
        "other.",
        "A norm learns two vectors. One norm stands after the last block, and how many are in a block?",
        "Test the parts on ViT-B/16: the blocks have 85,054,464 of its 85,798,656 parameters.",
    ),
    head="`head` is counted already: it has to be in the sum.",
)
