"""Lab 09, exercise `vit_parameter_count`."""

from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.exercises.vision_transformer.shared import Draw
from autograder.mistaken import vision_transformer as mistaken
from autograder.oracles import vision_transformer as oracles

BASE_16 = {"image_size": 224, "patch_size": 16, "channels": 3, "d_model": 768, "num_layers": 12, "d_ff": 3072}


def _counts(*, classes: bool) -> Draw:
    def draw(rng: Generator) -> list[Case]:
        cases = [dict(BASE_16)]
        for patch, channels in ((5, 1), (7, 4)):
            side = int(rng.integers(3, 9))
            cases.append(
                {"image_size": side * patch, "patch_size": patch, "channels": channels, "d_model": int(rng.integers(20, 90)), "num_layers": int(rng.integers(2, 8)), "d_ff": int(rng.integers(91, 300))}
            )
        if classes:
            cases = [{**case, "num_classes": number} for case, number in zip(cases, (1000, 2, 17), strict=True)]
        return [Case(case) for case in cases]

    return draw


exercise = Exercise("vit_parameter_count", oracle=oracles.vit_parameter_count, mistaken=mistaken.vit_parameter_count)


@exercise.group("without a head", points=2)
def no_head(rng: Generator) -> list[Case]:
    return _counts(classes=False)(rng)


@exercise.group("with a head", points=1)
def head(rng: Generator) -> list[Case]:
    return _counts(classes=True)(rng)


exercise.mistakes(
    one_vector_missing=wrong("D numbers are missing, as many as one vector has: the class token, its row of the position table, or the bias of the projection.", class_token=False),
    two_vectors_missing=wrong("2·D numbers are missing, as many as two vectors have: those of the final norm, or the class token and its position.", final_norm=False),
    one_vector_per_block_missing=wrong("In every block D numbers are missing: the bias of the attention's output, or the second bias of the feed-forward network.", attention_bias="inputs"),
    two_vectors_per_block_missing=wrong("In every block 2·D numbers are missing, as many as one norm has; a block has two.", norms=1),
    three_vectors_per_block_missing=wrong("In every block 3·D numbers are missing: the biases of queries, keys and values.", attention_bias="output"),
    four_vectors_per_block_missing=wrong("In every block 4·D numbers are missing: those of the two norms, or the four biases of the attention.", norms=0),
    one_class_token_per_class=wrong("There is one class token, whatever the number of classes, not one for each class.", class_tokens="one per class"),
    no_positions=wrong("The position table is missing. It is learned, so it counts.", positions="none"),
    channels_forgotten=wrong("A patch has P·P·C numbers: the channels are missing.", pixels="P·P"),
    patch_not_squared=wrong("A patch has P rows *and* P columns of pixels.", pixels="P·C"),
    patches_of_one_side=wrong("You count the patches of one row only. The image has just as many rows of patches.", patches="one side"),
    pixels_as_tokens=wrong("The position table has a row for every pixel.", patches="pixels"),
    no_biases_in_blocks=wrong("No bias is counted in the blocks. Every Dense layer and every projection of the attention has one.", attention_bias="none", feed_forward_bias=False),
    no_output_projection=wrong("The attention's output projection is missing.", attention_matrices=3, attention_bias="inputs"),
    one_attention_matrix=wrong("One of the attention's four matrices is missing.", attention_matrices=3),
    feed_forward_without_bias=wrong("The biases of the feed-forward network are missing.", feed_forward_bias=False),
    one_feed_forward_matrix=wrong("The feed-forward network has two matrices: up to F, and back.", feed_forward_matrices=1),
    norms_without_beta=wrong("A norm has gamma *and* beta, D numbers each.", per_norm=1),
    no_norms_at_all=wrong("No norm is counted: two in every block, and one at the end.", norms=0, final_norm=False),
    one_block=wrong("One block is counted, whatever num_layers says.", depth="one"),
    head_without_bias=wrong("The bias of the head is missing.", head_bias=False),
    head_missing=wrong("num_classes changes nothing: the head is missing.", head="none"),
    head_with_hidden_layer=wrong("The head has a hidden layer. That is the head of pre-training; here the head is a single Dense layer.", head="with a hidden layer"),
)


exercise.hints(
    "Make a list of the parts: projection, class token, positions, blocks, final norm, head. Count one after the other.",
    "A block has four matrices D × D with their biases, D × F and F × D with theirs, and two norms of 2·D.",
    "Test the parts on ViT-B/16: the blocks have 85,054,464 of its 85,798,656 parameters.",
)
exercise.hints("The head is a Dense layer from D to num_classes, with bias.", group="head")
