"""Lab 09, exercise `PatchEmbedding`."""

from autograder.declare import Case, Exercise, edit
from exercises.drawing import normal, one_of, size_other_than
from exercises.vision_transformer.shared import FRONT_FIRST, IMAGE_AXES, JOINED, PIECES, draw_images, embedded


def _embedding_inputs(rng, batch, grid, size, channels, d_model):
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


exercise = Exercise("PatchEmbedding", own_probe=True, probe_only=("num_patches", "d_model"), uses=("extract_patches",))


@exercise.formula
def patch_embedding(images, patch_size, projection_kernel, projection_bias, class_token, position_embedding):
    """`embedded` with the weights by the names that the layer gives them."""
    return embedded(images, patch_size, projection_kernel, projection_bias, class_token, position_embedding)


@exercise.formula_for("parameters")
def number_of_parameters(projection_kernel, projection_bias, class_token, position_embedding):
    """All four weights learn."""
    learned = (class_token, position_embedding)
    return {"trainable_parameters": sum(weight.size for weight in (projection_kernel, projection_bias, *learned))}


@exercise.group("right values", points=3)
def values(rng):
    yield Case(_embedding_inputs(rng, 2, (2, 5), 3, 2, 7), "images (2, 6, 15, 2), patch_size=3, d_model=7")
    yield Case(_embedding_inputs(rng, 3, (7, 3), 2, 1, 5), "images (3, 14, 6, 1), patch_size=2, d_model=5")


@exercise.group("class token and positions are trained")
def parameters(rng):
    columns, width = one_of(rng, 4, 5, 7), size_other_than(rng, 7, 29, 8, 9, 10, 11, 14, 15, 18)
    description = f"trainable parameters, patch_size=3, {2 * columns} patches, 2 channels, d_model={width}"
    return Case(_embedding_inputs(rng, 2, (2, columns), 3, 2, width), description, mode="parameters")


exercise.training(
    lambda rng: (_embedding_inputs(rng, 2, (2, 3), 2, 3, 5), _embedding_inputs(rng, 2, (1, 3), 2, 1, 5)),
    unknown="batch size",
)
exercise.group(
    "survives the round trip through get_config",
    reload=lambda rng: Case(
        _embedding_inputs(rng, 2, (2, 3), 2, 3, 5), "rebuilt by from_config(get_config())", mode="reload"
    ),
)
PROJECTED = "patches_of(images, patch_size) @ kernel + bias"

exercise.mistakes(
    class_token_last=edit(FRONT_FIRST, "[tokens, front]", see="09#class-token")
    | "The class token is at the end. It should come first, before the patches."
    | "`concatenate` takes its parts in their order. Which part is first in your list?",
    class_token_missing=edit(JOINED, "tokens + positions[:, 1:]", see="09#class-token")
    | "There is no class token: N patches make N + 1 tokens."
    | "How many rows does the position table have, and how many patches are there?",
    class_token_added=edit(JOINED, "tokens + class_token + positions[:, 1:]", see="09#class-token")
    | "The class token is added to every patch. It should be a token of its own, in front of the patches."
    | "Which function puts tensors one after the other along an axis?",
    class_token_zero=edit(FRONT_FIRST, "[0 * front, tokens]", see="09#class-token")
    | "The first token holds no class token, only zeros: `class_token` is not used."
    | "Print the first token of the result, and `class_token` beside it.",
    positions_missing=edit("+ positions", "", see="09#class-token")
    | "No positions are added."
    | "What tells the model where a patch lies, once it is a row of numbers?",
    no_position_for_class_token=edit(
        JOINED, "np.concatenate([front, tokens + positions[:, 1:]], axis=1)", see="09#class-token"
    )
    | "The class token gets no position. Row 0 of the table is for it."
    | "The table has N + 1 rows: one for each token, the class token among them.",
    positions_before_class_token=edit(
        JOINED, "np.concatenate([front, tokens + positions[:, :-1]], axis=1)", see="09#class-token"
    )
    | "The positions are added to the patches from row 0 on, before the class token is there. The class token should "
    "get row 0, and the first patch row 1." | "In which order do equation 1's two operations come, joining and adding?",
    class_token_in_last_row=edit("+ positions", "+ np.roll(positions, 1, axis=1)")
    | "The class token gets the last row of the position table, and the patches get rows 0 to N − 1. The class token "
    "should get row 0.",
    position_for_class_token_only=edit(JOINED, "np.concatenate([front + positions[:, :1], tokens], axis=1)")
    | "Only the class token gets a position.",
    positions_multiplied=edit("+ positions", "* positions")
    | "Tokens and positions are multiplied. They should be added.",
    scaled_by_root_d=edit(PROJECTED, f"({PROJECTED}) * len(bias) ** 0.5")
    | "The projected patches are multiplied by √D, as words are beside sinusoidal positions. Here nothing is scaled: "
    "positions are learned.",
    all_tokens_scaled=edit(JOINED, "np.concatenate([front, tokens], axis=1) * len(bias) ** 0.5 + positions")
    | "The tokens are multiplied by √D before the positions are added. Here nothing is scaled: positions are learned.",
    patches_by_columns=edit(PIECES, f"{IMAGE_AXES}.transpose(0, 3, 1, 2, 4, 5)")
    | "The patches are counted column by column: see `extract_patches`.",
    patches_turned=edit(PIECES, f"{IMAGE_AXES}.transpose(0, 1, 3, 4, 2, 5)")
    | "Each patch is transposed: see `extract_patches`.",
    patches_channels_first=edit(PIECES, f"{IMAGE_AXES}.transpose(0, 1, 3, 5, 2, 4)")
    | "Inside a patch the channels come first: see `extract_patches`.",
    patches_by_reshape=edit(PIECES, "images")
    | "The patches are made by a reshape alone, so their pixels are not neighbours: see `extract_patches`.",
)

exercise.advice(
    values='Does check("extract_patches") pass? Then three steps are left: project, put the class token in front, add '
    "the positions.",
    parameters="`__init__` of the stub makes both as weights of the layer, with `self.add_weight`. Leave it as it is.",
    training="Inside tf.function the batch size is not known: `images.shape[0]` is None, `ops.shape(images)[0]` is "
    "not.",
)
exercise.hints(
    values=(
        "The class token is (1, 1, D) and has to become (B, 1, D) before it can be joined to the patches: "
        "`ops.broadcast_to` or `ops.repeat`.",
        "Join first, then add the whole position table, (1, N + 1, D), which broadcasts over the batch.",
    ),
    reload="`__init__` and `get_config` of the stub belong together: leave the three arguments and `**kwargs` as they "
    "are.",
)
