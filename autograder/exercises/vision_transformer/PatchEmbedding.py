"""Lab 09, exercise `PatchEmbedding`."""

from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.exercises.drawing import normal
from autograder.exercises.vision_transformer.shared import draw_images
from autograder.mistaken import vision_transformer as mistaken
from autograder.oracles import vision_transformer as oracles


def _embedding_inputs(rng: Generator, batch: int, grid: tuple[int, int], size: int, channels: int, d_model: int) -> dict:
    patches = grid[0] * grid[1]
    return {
        "patch_size": size,
        "num_patches": patches,
        "d_model": d_model,
        "images": draw_images(rng, batch, grid, size, channels),
        "projection.kernel": normal(rng, size * size * channels, d_model),
        "projection.bias": normal(rng, d_model),
        "class_token": normal(rng, 1, 1, d_model),
        "position_embedding": normal(rng, 1, patches + 1, d_model),
    }


exercise = Exercise("PatchEmbedding", oracle=oracles.patch_embedding, mistaken=mistaken.patch_embedding, by_mode={"parameters": oracles.patch_embedding_parameters})


@exercise.group("right values", points=3, advice='Does check("extract_patches") pass? Then three steps are left: project, put the class token in front, add the positions.')
def values(rng: Generator) -> list[Case]:
    return [
        Case(_embedding_inputs(rng, 2, (2, 5), 3, 2, 7), description="images (2, 6, 15, 2), patch_size=3, d_model=7"),
        Case(_embedding_inputs(rng, 3, (7, 3), 2, 1, 5), description="images (3, 14, 6, 1), patch_size=2, d_model=5"),
    ]


@exercise.group("class token and positions are trained", points=1, advice="Make weights of a layer with `self.add_weight`: Keras does not see anything else.")
def parameters(rng: Generator) -> list[Case]:
    inputs = _embedding_inputs(rng, 2, (2, 5), 3, 2, 7)
    return [Case(inputs, mode="parameters", description="trainable parameters, patch_size=3, 10 patches, 2 channels, d_model=7")]


@exercise.group(
    "works inside tf.function, and gradients reach every weight", points=1, advice="Inside tf.function the batch size is not known: `images.shape[0]` is None, `ops.shape(images)[0]` is not."
)
def training(rng: Generator) -> list[Case]:
    graph = _embedding_inputs(rng, 2, (2, 3), 2, 3, 5)
    small = {**_embedding_inputs(rng, 2, (1, 3), 2, 1, 5), "cotangent.output": normal(rng, 2, 4, 5)}
    return [Case(graph, mode="graph", description="inside tf.function, batch size unknown"), Case(small, mode="gradient", description="gradients, compared with numerical ones")]


@exercise.group("survives the round trip through get_config", points=1)
def reload(rng: Generator) -> list[Case]:
    return [Case(_embedding_inputs(rng, 2, (2, 3), 2, 3, 5), mode="reload", description="rebuilt by from_config(get_config())")]


exercise.mistakes(
    class_token_last=wrong("The class token is at the end. It should come first, before the patches.", class_place="last"),
    class_token_missing=wrong("There is no class token: N patches make N + 1 tokens.", class_place="missing"),
    class_token_added=wrong("The class token is added to every patch. It should be a token of its own, in front of the patches.", class_place="added to every token"),
    class_token_zero=wrong("The first token holds no class token, only zeros: `class_token` is not used.", class_value="zero"),
    positions_missing=wrong("No positions are added.", positions="none"),
    no_position_for_class_token=wrong("The class token gets no position. Row 0 of the table is for it.", positions="patches only"),
    positions_before_class_token=wrong(
        "The positions are added to the patches from row 0 on, before the class token is there. The class token should get row 0, and the first patch row 1.", positions="patches only, from row 0"
    ),
    class_token_in_last_row=wrong(
        "The class token gets the last row of the position table, and the patches get rows 0 to N − 1. The class token should get row 0.", positions="class token in the last row"
    ),
    position_for_class_token_only=wrong("Only the class token gets a position.", positions="class token only"),
    positions_multiplied=wrong("Tokens and positions are multiplied. They should be added.", joined="product"),
    scaled_by_root_d=wrong("The projected patches are multiplied by √D, as words are beside sinusoidal positions. Here nothing is scaled: positions are learned.", token_factor="√D"),
    projection_relu=wrong("A ReLU follows the projection. The projection should be linear.", activation="relu"),
    projection_gelu=wrong("A GELU follows the projection. The projection should be linear.", activation="gelu"),
    class_token_untracked=wrong("`class_token` is not among the trainable weights, so it never learns. A bare tf.Variable or a constant is not tracked by Keras 3.", tracked="positions"),
    positions_untracked=wrong("`position_embedding` is not among the trainable weights, so it never learns. A bare tf.Variable or a constant is not tracked by Keras 3.", tracked="class token"),
    neither_tracked=wrong("Neither `class_token` nor `position_embedding` is among the trainable weights. A bare tf.Variable or a constant is not tracked by Keras 3.", tracked="none"),
    patches_by_columns=wrong("The patches are counted column by column: see exercise 1.", order="columns"),
    patches_turned=wrong("Each patch is transposed: see exercise 1.", turned=True),
    patches_channels_first=wrong("Inside a patch the channels come first: see exercise 1.", channels_first=True),
    patches_by_reshape=wrong("The patches are made by a reshape alone, so their pixels are not neighbours: see exercise 1.", how="reshape"),
)


exercise.hints(
    "`self.add_weight(shape=…, initializer=…, name=…)` makes a weight of the layer; a Dense layer makes its own.",
    "The class token is (1, 1, D) and has to become (B, 1, D) before it can be joined to the patches.",
    "Join first, then add the whole position table, (1, N + 1, D), which broadcasts over the batch.",
)
exercise.hints("`__init__` and `get_config` of the stub belong together: leave the three arguments and `**kwargs` as they are.", group="reload")
