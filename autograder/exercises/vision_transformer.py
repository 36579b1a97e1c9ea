"""Lab 09, the Vision Transformer: the exercises, their cases and the mistakes that are named."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from autograder.exercise import Case, Exercise, Group, Misconception
from autograder.exercises.drawing import normal
from autograder.oracles import vision_transformer as oracles
from autograder.oracles.attention import softmax
from coursekit.probes.vision_transformer import role_shapes

READY_CUTTERS = (
    "keras.ops.image.extract_patches",
    "keras.ops.image.extract_patches_3d",
    "keras.ops.space_to_depth",
    "keras.ops.nn.space_to_depth",
    "tensorflow.image.extract_patches",
    "tensorflow.extract_volume_patches",
    "tensorflow.nn.space_to_depth",
    "tensorflow.compat.v1.extract_image_patches",
    "tensorflow.compat.v1.extract_volume_patches",
    "tensorflow.compat.v1.space_to_depth",
)
READY_MERGERS = (
    "keras.ops.depth_to_space",
    "keras.ops.nn.depth_to_space",
    "tensorflow.nn.depth_to_space",
    "tensorflow.compat.v1.depth_to_space",
)
Draw = Callable[[np.random.Generator], list[Case]]


# -- patches and tubelets ------------------------------------------------------------------------------------------


def _images(
    rng: np.random.Generator, batch: int, grid: tuple[int, int], size: int, channels: int, dtype: str = "float32"
) -> np.ndarray:
    return normal(rng, batch, grid[0] * size, grid[1] * size, channels, dtype=dtype)


def _cut(*shapes: tuple[int, tuple[int, int], int, int], **case: str) -> Draw:
    """Cases of extract_patches: batch, patches down and across, patch size, channels."""

    def draw(rng: np.random.Generator) -> list[Case]:
        cases = []
        for shape in shapes:
            images = _images(rng, *shape)
            how = f"images {images.shape}, patch_size={shape[2]}"
            cases.append(Case({"images": images, "patch_size": shape[2]}, how=how, **case))
        return cases

    return draw


def _cut_types(rng: np.random.Generator) -> list[Case]:
    shape = (2, (3, 5), 2, 3)
    wide = {"images": _images(rng, *shape, dtype="float64"), "patch_size": 2}
    return [
        *_cut(shape, mode="tensor", dtype="float32")(rng),
        *_cut(shape, dtype="float32")(rng),
        Case(wide, how="images of float64", dtype="float64"),
    ]


def _cut_refused(rng: np.random.Generator) -> list[Case]:
    size, rows, columns = int(rng.choice([3, 5])), int(rng.integers(2, 4)), int(rng.integers(4, 6))
    rest = int(rng.integers(1, size))
    shapes = [
        (rows * size + rest, columns * size, size, "does not divide the height"),
        (rows * size, columns * size + rest, size, "does not divide the width"),
        (4, 9, 6, "divides neither height nor width"),
    ]
    return [
        Case(
            {"images": normal(rng, 2, height, width, 3), "patch_size": patch},
            mode="refusal",
            how=f"images (2, {height}, {width}, 3), patch_size={patch}, which {what}",
        )
        for height, width, patch, what in shapes
    ]


def _joined(*shapes: tuple[int, tuple[int, int], int, int], floats: str = "float32", **case: str) -> Draw:
    """Cases of merge_patches: batch, patches down and across, patch size, channels."""

    def draw(rng: np.random.Generator) -> list[Case]:
        cases = []
        for batch, (rows, columns), size, channels in shapes:
            inputs = {
                "patches": normal(rng, batch, rows * columns, size * size * channels, dtype=floats),
                "height": rows * size,
                "width": columns * size,
                "channels": channels,
            }
            how = (
                f"patches {inputs['patches'].shape}, height={rows * size}, width={columns * size}, channels={channels}"
            )
            cases.append(Case(inputs, how=how, **case))
        return cases

    return draw


def _joined_types(rng: np.random.Generator) -> list[Case]:
    shape = (2, (3, 5), 2, 3)
    return [
        *_joined(shape, mode="tensor", dtype="float32")(rng),
        *_joined(shape, dtype="float32")(rng),
        *_joined(shape, floats="float64", dtype="float64")(rng),
    ]


def _tubes(*shapes: tuple[int, tuple[int, int, int], int, int, int], floats: str = "float32", **case: str) -> Draw:
    """Cases of extract_tubelets: batch, tubelets in time, down and across, frames of each, patch size, channels."""

    def draw(rng: np.random.Generator) -> list[Case]:
        cases = []
        for batch, (times, rows, columns), frames, size, channels in shapes:
            video = normal(rng, batch, times * frames, rows * size, columns * size, channels, dtype=floats)
            how = f"video {video.shape}, frames={frames}, patch_size={size}"
            cases.append(Case({"video": video, "frames": frames, "patch_size": size}, how=how, **case))
        return cases

    return draw


def _tube_types(rng: np.random.Generator) -> list[Case]:
    shape = (2, (2, 3, 1), 3, 2, 2)
    return [
        *_tubes(shape, mode="tensor", dtype="float32")(rng),
        *_tubes(shape, dtype="float32")(rng),
        *_tubes(shape, floats="float64", dtype="float64")(rng),
    ]


def _tubes_refused(rng: np.random.Generator) -> list[Case]:
    frames, size = 3, int(rng.choice([4, 5]))
    rest = int(rng.integers(1, size))
    shapes = [
        (7, 2 * size, 3 * size, "frames does not divide the length"),
        (6, 2 * size + rest, 3 * size, "patch_size does not divide the height"),
        (6, 2 * size, 3 * size + rest, "patch_size does not divide the width"),
    ]
    return [
        Case(
            {"video": normal(rng, 2, length, height, width, 1), "frames": frames, "patch_size": size},
            mode="refusal",
            how=f"video (2, {length}, {height}, {width}, 1), frames={frames}, patch_size={size}: {what}",
        )
        for length, height, width, what in shapes
    ]


COLUMNS_FIRST = Misconception(
    "columns_first",
    {"order": "columns"},
    "The patches are counted column by column. They go row by row, as one reads: the second patch is to the right of "
    "the first.",
)
PIXELS_TURNED = Misconception(
    "pixels_turned",
    {"turned": True},
    "Inside a patch, rows and columns of pixels change places: each patch lies on its side.",
)
CHANNELS_FIRST = Misconception(
    "channels_first",
    {"channels_first": True},
    "Inside a patch the channels come first, (C, P, P). They come last, (P, P, C): the numbers of a pixel stay together.",
)
RESHAPE_ALONE = Misconception(
    "reshape_alone",
    {"how": "reshape"},
    "A reshape alone does not make patches: it takes pixels that follow each other in memory, which lie in one row of "
    "the image. Some axes have to change places in between.",
)
EVERY_NTH_PIXEL = Misconception(
    "every_nth_pixel",
    {"how": "every n-th pixel"},
    "A patch takes every n-th pixel of the whole image, not neighbours. In the first reshape the number of patches "
    "comes before the patch size: (h/P, P), not (P, h/P).",
)
SIDES_SWAPPED = Misconception(
    "sides_swapped",
    {"sides_swapped": True},
    "Height and width change places. With square images nobody would notice.",
)
LAYOUT_MISTAKES = (COLUMNS_FIRST, PIXELS_TURNED, CHANNELS_FIRST, RESHAPE_ALONE, EVERY_NTH_PIXEL, SIDES_SWAPPED)


def _refusal_mistakes(what: str) -> tuple[Misconception, ...]:
    return (
        Misconception(
            "any_size_accepted",
            {"refusal": "no error"},
            f"{what} that do not fit are accepted, and part of the picture is cut off or filled up in silence.",
        ),
        Misconception(
            "refused_too_late",
            {"refusal": "InvalidArgumentError"},
            f"{what} that do not fit fail somewhere inside TensorFlow. Check them yourself, first, in words.",
        ),
        Misconception(
            "sizes_asserted",
            {"refusal": "AssertionError"},
            f"{what} that do not fit end in an AssertionError; raise a ValueError (assertions can be switched off).",
        ),
    )


# -- the embedding ---------------------------------------------------------------------------------------------------


def _embedding_inputs(
    rng: np.random.Generator, batch: int, grid: tuple[int, int], size: int, channels: int, d_model: int
) -> dict:
    patches = grid[0] * grid[1]
    return {
        "patch_size": size,
        "num_patches": patches,
        "d_model": d_model,
        "images": _images(rng, batch, grid, size, channels),
        "projection.kernel": normal(rng, size * size * channels, d_model),
        "projection.bias": normal(rng, d_model),
        "class_token": normal(rng, 1, 1, d_model),
        "position_embedding": normal(rng, 1, patches + 1, d_model),
    }


def _embedding_values(rng: np.random.Generator) -> list[Case]:
    return [
        Case(_embedding_inputs(rng, 2, (2, 5), 3, 2, 7), how="images (2, 6, 15, 2), patch_size=3, d_model=7"),
        Case(_embedding_inputs(rng, 3, (7, 3), 2, 1, 5), how="images (3, 14, 6, 1), patch_size=2, d_model=5"),
    ]


def _embedding_parameters(rng: np.random.Generator) -> list[Case]:
    inputs = _embedding_inputs(rng, 2, (2, 5), 3, 2, 7)
    return [
        Case(inputs, mode="parameters", how="trainable parameters, patch_size=3, 10 patches, 2 channels, d_model=7")
    ]


def _embedding_training(rng: np.random.Generator) -> list[Case]:
    graph = _embedding_inputs(rng, 2, (2, 3), 2, 3, 5)
    small = {**_embedding_inputs(rng, 2, (1, 3), 2, 1, 5), "cotangent.output": normal(rng, 2, 4, 5)}
    return [
        Case(graph, mode="graph", how="inside tf.function, batch size unknown"),
        Case(small, mode="gradient", how="gradients, compared with numerical ones"),
    ]


def _embedding_reload(rng: np.random.Generator) -> list[Case]:
    return [Case(_embedding_inputs(rng, 2, (2, 3), 2, 3, 5), mode="reload", how="rebuilt by from_config(get_config())")]


# -- the model -------------------------------------------------------------------------------------------------------


# Two sets of sizes, and no more: building a model takes much longer than calling it, and cases may share one.
FIRST = {
    "image_shape": [6, 9, 2],
    "patch_size": 3,
    "num_classes": 5,
    "num_layers": 2,
    "d_model": 12,
    "num_heads": 3,
    "d_ff": 17,
    "dropout": 0.5,
}
SECOND = {
    "image_shape": [10, 4, 1],
    "patch_size": 2,
    "num_classes": 7,
    "num_layers": 1,
    "d_model": 6,
    "num_heads": 2,
    "d_ff": 11,
}
BATCH = 2


def _model_inputs(rng: np.random.Generator, sizes: dict, added: float = 0.1) -> dict:
    """Inputs of build_vit, with weights for every role: γ around 1, all others around 0.

    `added` scales what is added to the residual stream: the smaller, the more the norms' epsilon matters. What GELU gets
    is small, so that its usual approximation by tanh, `ops.gelu`'s default, passes as well, whatever the seed.
    """
    adding = ("projection", "class_token", "position_embedding", "output", "dense_out")
    pieces = []
    for role, shape in role_shapes(sizes).items():
        piece = rng.normal(size=shape) * (0.6 if role.endswith("kernel") else 0.4)
        piece = piece * (added if role.startswith(adding) else 0.05 if role.startswith("dense_in") else 1)
        pieces.append(np.ravel(piece + role.endswith("gamma")))
    weights = np.concatenate(pieces).astype("float32")
    return {**sizes, "images": normal(rng, BATCH, *sizes["image_shape"]), "weights": weights}


def _described(sizes: dict, *more: str) -> str:
    shown = [f"{key}={tuple(each) if isinstance(each, list) else each}" for key, each in sizes.items()]
    return ", ".join([*shown, *more])


def _models(mode: str, *each: tuple[dict, str], **settings: float) -> Draw:
    """Cases of build_vit in one mode, each given by its sizes and by what is tried."""
    return lambda rng: [Case(_model_inputs(rng, sizes, **settings), mode=mode, how=how) for sizes, how in each]


def _model_training(rng: np.random.Generator) -> list[Case]:
    inputs = _model_inputs(rng, FIRST)
    inputs |= {
        "weighting": normal(rng, BATCH, FIRST["num_classes"]),
        "direction": normal(rng, len(inputs["weights"])),
    }
    return [
        *_models("graph", (FIRST, "inside tf.function, batch size unknown"))(rng),
        Case(inputs, mode="slopes", how="gradients, compared with numerical ones"),
    ]


# -- counting, rollout, answers --------------------------------------------------------------------------------------

BASE_16 = {"image_size": 224, "patch_size": 16, "channels": 3, "d_model": 768, "num_layers": 12, "d_ff": 3072}


def _counts(*, classes: bool) -> Draw:
    def draw(rng: np.random.Generator) -> list[Case]:
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
            cases = [{**case, "num_classes": number} for case, number in zip(cases, (1000, 2, 17), strict=True)]
        return [Case(case) for case in cases]

    return draw


def _digits(rng: np.random.Generator) -> list[Case]:
    """Digits, all turned or mirrored in the same way, their classes numbered anew: labels known from elsewhere mislead."""
    from sklearn.datasets import load_digits

    pixels, classes = load_digits(return_X_y=True)
    chosen = rng.permutation(len(pixels))[:1400]
    images = np.rot90(pixels[chosen].reshape(-1, 8, 8, 1), rng.integers(4), axes=(1, 2))[:, :, :: rng.choice([-1, 1])]
    images, labels = (images / 16).astype("float32"), rng.permutation(10)[classes[chosen]].astype("int32")
    return [
        Case(
            {
                "images": images[:1000],
                "labels": labels[:1000],
                "num_classes": 10,
                "unseen": images[1000:],
                "seed": int(rng.integers(1 << 30)),
            },
            how="1,000 digits to train on, 400 to see what was learned",
            property="names the classes",
            withheld={"withheld_labels": labels[1000:], "least_accuracy": 0.8},
        )
    ]


def _attentions(rng: np.random.Generator, *shape: int, pruned: bool = False, dtype: str = "float32") -> np.ndarray:
    weights = softmax(2 * rng.normal(size=(*shape, shape[-1])))
    if pruned:
        weights = np.where(weights < np.quantile(weights, 0.6), 0, weights)
    return weights.astype(dtype)


def _rollouts(*shapes: tuple[int, ...], pruned: bool = False, floats: str = "float32", **case: str) -> Draw:
    def draw(rng: np.random.Generator) -> list[Case]:
        cases = []
        for shape in shapes:
            attentions = _attentions(rng, *shape, pruned=pruned, dtype=floats)
            how = f"attentions {attentions.shape}" + (", small weights set to 0" if pruned else "")
            cases.append(Case({"attentions": attentions}, how=how, **case))
        return cases

    return draw


def _rollout_types(rng: np.random.Generator) -> list[Case]:
    shape = (3, 2, 2, 5)
    return [
        *_rollouts(shape, mode="tensor", dtype="float32")(rng),
        *_rollouts(shape, dtype="float32")(rng),
        *_rollouts(shape, floats="float64", dtype="float64")(rng),
    ]


def _answer(entry: str) -> Draw:
    return lambda rng: [Case({"entry": entry}, how=f'answers["{entry}"]')]


EXERCISES = (
    Exercise(
        name="extract_patches",
        oracle=oracles.extract_patches,
        groups=(
            Group(
                "values",
                "right patches, in the right order",
                2,
                _cut((2, (5, 7), 3, 11), (5, (3, 2), 7, 3), (7, (3, 5), 2, 1)),
                advice="Number the pixels of a small image (np.arange, reshaped), cut it, and compare with the drawing "
                "in the text.",
            ),
            Group(
                "corners",
                "patches of one pixel, one patch per image, one row of patches",
                1,
                _cut((2, (3, 5), 1, 7), (3, (1, 1), 5, 2), (2, (1, 3), 4, 5), (2, (3, 1), 4, 5)),
            ),
            Group("types", "arrays and tensors, float type kept", 1, _cut_types),
            Group(
                "refusal",
                "ValueError where the patch size does not divide height or width",
                1,
                _cut_refused,
                advice="Look at both remainders before anything else, and raise a ValueError that names the numbers.",
            ),
        ),
        misconceptions=(
            *LAYOUT_MISTAKES,
            Misconception(
                "every_step",
                {"how": "every step"},
                "The patches overlap: a new one begins at every pixel. The next one begins where the last one ends.",
            ),
            Misconception(
                "patches_not_flattened",
                {"result": "patches kept"},
                "Each patch is still a small image. Flatten it to one axis of P·P·C numbers.",
            ),
            Misconception(
                "grid_kept",
                {"result": "grid kept"},
                "The patches still stand in a grid, (B, h/P, w/P, P·P·C). They become one axis: (B, N, P·P·C).",
            ),
            Misconception(
                "batch_joined",
                {"result": "batch joined"},
                "The patches of all images lie on one axis. The batch keeps an axis of its own, the first.",
            ),
            *_refusal_mistakes("Images"),
            Misconception(
                "only_height_checked", {"checked": "height"}, "The height is checked, the width is not: try both."
            ),
            Misconception(
                "only_width_checked", {"checked": "width"}, "The width is checked, the height is not: try both."
            ),
            Misconception(
                "area_checked",
                {"checked": "area"},
                "What is checked is the number of pixels. It can be a multiple of P·P although P divides neither side.",
            ),
        ),
        hints=(
            "Split the height into two axes, (h/P, P), and the width in the same way: a reshape to six axes.",
            "Name the six axes: image, patch row, pixel row, patch column, pixel column, channel. Which two of them "
            "number the patches, and where do they have to stand?",
            "After the transposition: image, patch row, patch column, pixel row, pixel column, channel. Then join them "
            "by a last reshape.",
        ),
        forbidden=READY_CUTTERS,
    ),
    Exercise(
        name="merge_patches",
        oracle=oracles.merge_patches,
        groups=(
            Group(
                "values",
                "right images",
                2,
                _joined((2, (5, 7), 3, 11), (5, (3, 2), 7, 3), (7, (3, 5), 2, 1)),
                advice="merge_patches(extract_patches(images, P), h, w, C) gives the images back, also when they are "
                "not square.",
            ),
            Group(
                "corners",
                "patches of one pixel, one patch per image, one row of patches",
                1,
                _joined((2, (3, 5), 1, 7), (3, (1, 1), 5, 2), (2, (1, 3), 4, 5), (2, (3, 1), 4, 5)),
            ),
            Group("types", "arrays and tensors, float type kept", 1, _joined_types),
        ),
        misconceptions=(
            *LAYOUT_MISTAKES,
            Misconception(
                "image_turned",
                {"image_turned": True},
                "The images come back on their side: (B, w, h, C) instead of (B, h, w, C).",
            ),
        ),
        hints=(
            "The patch size is not handed over, but a patch has P·P·C numbers.",
            "Undo the steps of exercise 1 one by one, the last one first.",
            "A reshape to (B, h/P, w/P, P, P, C), one exchange of two axes, a reshape to (B, h, w, C).",
        ),
        forbidden=READY_MERGERS,
    ),
    Exercise(
        name="PatchEmbedding",
        oracle=oracles.patch_embedding,
        groups=(
            Group(
                "values",
                "right values",
                3,
                _embedding_values,
                advice='Does check("extract_patches") pass? What is left is: project, put the class token in front, '
                "add the positions.",
            ),
            Group(
                "parameters",
                "class token and positions are trained",
                1,
                _embedding_parameters,
                advice="Weights of a layer are made by `self.add_weight`: everything else Keras does not see.",
            ),
            Group(
                "training",
                "works inside tf.function, and gradients reach every weight",
                1,
                _embedding_training,
                advice="Inside tf.function the batch size is not known: `images.shape[0]` is None, `ops.shape(images)[0]` "
                "is not.",
            ),
            Group("reload", "survives the round trip through get_config", 1, _embedding_reload),
        ),
        misconceptions=(
            Misconception(
                "class_token_last",
                {"class_place": "last"},
                "The class token stands at the end. It comes first, before the patches.",
            ),
            Misconception(
                "class_token_missing",
                {"class_place": "missing"},
                "There is no class token: N patches make N + 1 tokens.",
            ),
            Misconception(
                "class_token_added",
                {"class_place": "added to every token"},
                "The class token is added to every patch. It is a token of its own, put in front of them.",
            ),
            Misconception(
                "class_token_zero",
                {"class_value": "zero"},
                "The first token holds no class token, only zeros: `class_token` is not used.",
            ),
            Misconception("positions_missing", {"positions": "none"}, "No positions are added."),
            Misconception(
                "no_position_for_class_token",
                {"positions": "patches only"},
                "The class token gets no position. Row 0 of the table is for it.",
            ),
            Misconception(
                "positions_before_class_token",
                {"positions": "patches only, from row 0"},
                "The positions are added to the patches from row 0 on, before the class token is there. It gets row 0, "
                "and the first patch row 1.",
            ),
            Misconception(
                "class_token_in_last_row",
                {"positions": "class token in the last row"},
                "The class token gets the last row of the position table, and the patches those from 0 on. The rows "
                "follow the tokens.",
            ),
            Misconception(
                "position_for_class_token_only",
                {"positions": "class token only"},
                "Only the class token gets a position.",
            ),
            Misconception(
                "positions_multiplied",
                {"joined": "product"},
                "Tokens and positions are multiplied. They are added.",
            ),
            Misconception(
                "scaled_by_root_d",
                {"token_factor": "√D"},
                "The projected patches are multiplied by √D, as words are beside sinusoidal positions. Here nothing is "
                "scaled: positions are learned.",
            ),
            Misconception(
                "projection_relu",
                {"activation": "relu"},
                "A ReLU follows the projection. It is linear.",
            ),
            Misconception(
                "projection_gelu",
                {"activation": "gelu"},
                "A GELU follows the projection. It is linear.",
            ),
            Misconception(
                "class_token_untracked",
                {"tracked": "positions"},
                "`class_token` is not among the trainable weights, so it never learns. A bare tf.Variable or a constant "
                "is not tracked by Keras 3.",
            ),
            Misconception(
                "positions_untracked",
                {"tracked": "class token"},
                "`position_embedding` is not among the trainable weights, so it never learns. A bare tf.Variable or a "
                "constant is not tracked by Keras 3.",
            ),
            Misconception(
                "neither_tracked",
                {"tracked": "none"},
                "Neither `class_token` nor `position_embedding` is among the trainable weights. A bare tf.Variable or a "
                "constant is not tracked by Keras 3.",
            ),
            Misconception(
                "patches_by_columns", {"order": "columns"}, "The patches are counted column by column: see exercise 1."
            ),
            Misconception("patches_turned", {"turned": True}, "Each patch lies on its side: see exercise 1."),
            Misconception(
                "patches_channels_first",
                {"channels_first": True},
                "Inside a patch the channels come first: see exercise 1.",
            ),
            Misconception(
                "patches_by_reshape",
                {"how": "reshape"},
                "The patches are made by a reshape alone, so their pixels are no neighbours: see exercise 1.",
            ),
        ),
        hints=(
            "`self.add_weight(shape=…, initializer=…, name=…)` makes a weight of the layer; a Dense layer makes its own.",
            "The class token is (1, 1, D) and has to become (B, 1, D) before it can be joined to the patches.",
            "Join first, then add the whole position table, (1, N + 1, D), which broadcasts over the batch.",
        ),
    ),
    Exercise(
        name="build_vit",
        oracle=oracles.vit,
        groups=(
            Group(
                "values",
                "right logits with known weights",
                3,
                _models("call", (FIRST, _described(FIRST, "known weights, not in training"))),
                advice='Does check("PatchEmbedding") pass? Then compare your blocks with the five lines of the text.',
            ),
            Group(
                "shapes",
                "another image shape, one channel, other widths",
                1,
                _models("call", (SECOND, _described(SECOND))),
            ),
            Group(
                "epsilon",
                "layer norms with epsilon 1e-6",
                1,
                _models("call", (SECOND, "tokens whose features hardly differ"), added=0.01),
                advice="Keras's own default for epsilon is 1e-3. The text says 1e-6, for every norm.",
            ),
            Group(
                "parameters",
                "the right number of parameters",
                2,
                _models("parameters", (FIRST, f"trainable parameters, {_described(FIRST)}")),
                advice="Each block has two norms, one attention and two Dense layers of its own, all with bias.",
            ),
            Group(
                "dropout",
                "dropout: in training only, in three places, at the rate given",
                1,
                _models(
                    "dropout",
                    (FIRST, "dropout=0.5, called with training=True and False"),
                    (SECOND, "dropout as it is by default, called with training=True and False"),
                ),
                advice="The places are, in this order: "
                + ", ".join(["the embedded tokens", "the attention's output", "the feed-forward network's output"])
                + ". 1 means: the logits change there.",
            ),
            Group("training", "works inside tf.function, and gradients reach every weight", 1, _model_training),
            Group(
                "saved",
                "can be saved and loaded",
                1,
                _models("saved", (SECOND, "saved with model.save, loaded with load_model")),
                advice="A layer of your own needs a get_config that holds the arguments of its __init__. A Lambda layer "
                "cannot be loaded safely.",
            ),
        ),
        misconceptions=(
            Misconception(
                "post_norm",
                {"norm_place": "post", "final_norm": False},
                "The blocks are post-norm, as in 2017, and there is no final norm. Here each norm comes before its "
                "sub-layer, and one more at the end.",
            ),
            Misconception(
                "post_norm_and_final_norm",
                {"norm_place": "post"},
                "The blocks are post-norm: each norm comes before its sub-layer here, not after the sum.",
            ),
            Misconception(
                "final_norm_missing", {"final_norm": False}, "The final norm, after the last block, is missing."
            ),
            Misconception(
                "mean_pooled",
                {"read": "mean of all"},
                "The head reads the mean of all tokens. It reads the class token, the first one.",
            ),
            Misconception(
                "patches_pooled",
                {"read": "mean of patches"},
                "The head reads the mean of the patches. It reads the class token, the first one.",
            ),
            Misconception(
                "max_pooled",
                {"read": "largest"},
                "The head reads the largest value of each feature over the tokens. It reads the class token, the first.",
            ),
            Misconception("last_token_read", {"read": "last token"}, "The head reads the last token, a patch."),
            Misconception(
                "first_patch_read",
                {"read": "first patch"},
                "The head reads the token of the first patch. The class token stands before it, at place 0.",
            ),
            Misconception(
                "softmax_output",
                {"output": "softmax"},
                "The model returns probabilities. It returns logits: the loss applies the softmax, from_logits=True.",
            ),
            Misconception(
                "sigmoid_output", {"output": "sigmoid"}, "A sigmoid follows the head. The model returns logits."
            ),
            Misconception("relu", {"activation": "relu"}, "The activation is ReLU, as in lab 04. A ViT has GELU."),
            Misconception(
                "no_activation",
                {"activation": "none"},
                "There is no activation between the two Dense layers of a block, so they collapse into one.",
            ),
            Misconception(
                "gelu_twice",
                {"activated": "hidden, output"},
                "A GELU follows both Dense layers of a block. The second one is linear.",
            ),
            Misconception(
                "no_first_residual", {"residuals": (False, True)}, "The residual path around the attention is missing."
            ),
            Misconception(
                "no_second_residual",
                {"residuals": (True, False)},
                "The residual path around the feed-forward network is missing.",
            ),
            Misconception("no_residuals", {"residuals": (False, False)}, "Both residual paths of a block are missing."),
            Misconception(
                "residual_from_normed",
                {"residual_from": "normed"},
                "The sum takes the normalised token; the residual path carries the token as it came.",
            ),
            Misconception(
                "first_residual_from_normed",
                {"residual_from": "first normed"},
                "The sum behind the attention takes the normalised token; the residual path carries the token as it came.",
            ),
            Misconception(
                "second_residual_from_normed",
                {"residual_from": "second normed"},
                "The sum behind the feed-forward network takes the normalised token; the residual path carries it as it "
                "came.",
            ),
            Misconception(
                "feed_forward_from_input",
                {"feed_input": "block input"},
                "The feed-forward network reads the block's input; it reads what the first half returned.",
            ),
            Misconception(
                "first_norm_missing", {"norms": "first missing"}, "The norm before the attention is missing."
            ),
            Misconception(
                "second_norm_missing",
                {"norms": "second missing"},
                "The norm before the feed-forward network is missing.",
            ),
            Misconception(
                "one_norm_per_block", {"norms": "one for both"}, "A block has one norm that does the work of two."
            ),
            Misconception(
                "values_not_normed",
                {"value_input": "raw"},
                "The attention takes its values from the token as it came. Query, key and value are normalised.",
            ),
            Misconception(
                "only_query_normed",
                {"value_input": "raw, as the keys"},
                "Only the query is normalised. `value`, and `key`, which is the value where it is not given, come from the "
                "token as it was.",
            ),
            Misconception(
                "causal",
                {"causal": True},
                "The attention is causal: the class token, the first, sees nothing but itself.",
            ),
            Misconception(
                "keras_epsilon", {"eps": 1e-3}, "The norms have Keras's default epsilon, 0.001; the text says 1e-6."
            ),
            Misconception("key_dim_is_d_model", {"key_dim": "D"}, "key_dim is d_model for each head; here it is D/H."),
            Misconception("one_block_only", {"blocks": "only one"}, "There is one block, whatever num_layers says."),
            Misconception(
                "blocks_shared",
                {"blocks": "shared"},
                "All blocks share their weights: the layers are made once and used again and again.",
            ),
            Misconception(
                "class_token_untracked",
                {"tracked": "positions"},
                "`class_token` is not among the trainable weights: see exercise 3.",
            ),
            Misconception(
                "positions_untracked",
                {"tracked": "class token"},
                "`position_embedding` is not among the trainable weights: see exercise 3.",
            ),
            Misconception("positions_missing", {"positions": "none"}, "No positions are added: see exercise 3."),
            Misconception(
                "no_position_for_class_token",
                {"positions": "patches only"},
                "The class token gets no position: see exercise 3.",
            ),
            Misconception(
                "class_token_last",
                {"class_place": "last"},
                "The class token stands at the end: see exercise 3.",
            ),
            Misconception(
                "patches_by_reshape",
                {"how": "reshape"},
                "The patches are made by a reshape alone: see exercise 1.",
            ),
            Misconception(
                "dropout_never", {"drop_when": "never"}, "With training=True nothing changes: dropout is never on."
            ),
            Misconception(
                "dropout_always",
                {"drop_when": "always"},
                "Two calls with training=False differ: dropout is on outside of training, too.",
            ),
            Misconception(
                "dropout_rate_ignored",
                {"drop_when": "at a rate of its own"},
                "Something is dropped although dropout is 0: the argument `dropout` does not decide.",
            ),
            Misconception(
                "tokens_not_dropped",
                {"drop": "attention, feed-forward"},
                "The embedded tokens are not dropped in training.",
            ),
            Misconception(
                "attention_not_dropped",
                {"drop": "embedding, feed-forward"},
                "The attention's output is not dropped in training.",
            ),
            Misconception(
                "feed_forward_not_dropped",
                {"drop": "embedding, attention"},
                "The feed-forward network's output is not dropped in training.",
            ),
            Misconception(
                "only_tokens_dropped",
                {"drop": "embedding"},
                "Only the embedded tokens are dropped in training; the outputs of both sub-layers are to be, too.",
            ),
        ),
        hints=(
            "Start with `keras.Input(image_shape)`, and pass it through layers until logits come out.",
            "A loop over num_layers makes new layers in every round: norm, attention, sum; norm, two Dense layers, sum.",
            "After the loop: the final norm, the first token alone, and a Dense layer without activation.",
        ),
    ),
    Exercise(
        name="vit_parameter_count",
        oracle=oracles.vit_parameter_count,
        groups=(
            Group("no_head", "without a head", 2, _counts(classes=False)),
            Group("head", "with a head", 1, _counts(classes=True)),
        ),
        misconceptions=(
            # Where several parts have the same number of entries, nobody can tell which is missing: the sentence names all.
            Misconception(
                "one_vector_missing",
                {"class_token": False},
                "D numbers are missing, as many as one vector has: the class token, its row of the position table, or the "
                "bias of the projection.",
            ),
            Misconception(
                "two_vectors_missing",
                {"final_norm": False},
                "2·D numbers are missing, as many as two vectors have: those of the final norm, or the class token and "
                "its position.",
            ),
            Misconception(
                "one_vector_per_block_missing",
                {"attention_bias": "inputs"},
                "In every block D numbers are missing: the bias of the attention's output, or the second bias of the "
                "feed-forward network.",
            ),
            Misconception(
                "two_vectors_per_block_missing",
                {"norms": 1},
                "In every block 2·D numbers are missing, as many as one norm has; a block has two.",
            ),
            Misconception(
                "three_vectors_per_block_missing",
                {"attention_bias": "output"},
                "In every block 3·D numbers are missing: the biases of queries, keys and values.",
            ),
            Misconception(
                "four_vectors_per_block_missing",
                {"norms": 0},
                "In every block 4·D numbers are missing: those of the two norms, or the four biases of the attention.",
            ),
            Misconception(
                "one_class_token_per_class",
                {"class_tokens": "one per class"},
                "There is one class token, whatever the number of classes, not one for each class.",
            ),
            Misconception(
                "no_positions", {"positions": "none"}, "The position table is missing. It is learned, so it counts."
            ),
            Misconception(
                "channels_forgotten", {"pixels": "P·P"}, "A patch has P·P·C numbers: the channels are missing."
            ),
            Misconception("patch_not_squared", {"pixels": "P·C"}, "A patch has P rows *and* P columns of pixels."),
            Misconception(
                "patches_of_one_side",
                {"patches": "one side"},
                "The number of patches is that of one row. The image has as many rows of patches.",
            ),
            Misconception("pixels_as_tokens", {"patches": "pixels"}, "The position table has a row for every pixel."),
            Misconception(
                "no_biases_in_blocks",
                {"attention_bias": "none", "feed_forward_bias": False},
                "No bias is counted in the blocks. Every Dense layer and every projection of the attention has one.",
            ),
            Misconception(
                "no_output_projection",
                {"attention_matrices": 3, "attention_bias": "inputs"},
                "The attention's output projection is missing.",
            ),
            Misconception(
                "one_attention_matrix",
                {"attention_matrices": 3},
                "One of the attention's four matrices is missing.",
            ),
            Misconception(
                "feed_forward_without_bias",
                {"feed_forward_bias": False},
                "The biases of the feed-forward network are missing.",
            ),
            Misconception(
                "one_feed_forward_matrix",
                {"feed_forward_matrices": 1},
                "The feed-forward network has two matrices: up to F, and back.",
            ),
            Misconception("norms_without_beta", {"per_norm": 1}, "A norm has gamma *and* beta, D numbers each."),
            Misconception(
                "no_norms_at_all",
                {"norms": 0, "final_norm": False},
                "No norm is counted: two in every block, and one at the end.",
            ),
            Misconception("one_block", {"depth": "one"}, "One block is counted, whatever num_layers says."),
            Misconception("head_without_bias", {"head_bias": False}, "The bias of the head is missing."),
            Misconception("head_missing", {"head": "none"}, "num_classes changes nothing: the head is missing."),
            Misconception(
                "head_with_hidden_layer",
                {"head": "with a hidden layer"},
                "The head has a hidden layer. That is the one of pre-training; here it is a single Dense layer.",
            ),
        ),
        hints=(
            "Make a list of the parts: projection, class token, positions, blocks, final norm, head. Count one after the "
            "other.",
            "A block has four matrices D × D with their biases, D × F and F × D with theirs, and two norms of 2·D.",
            "Test the parts on ViT-B/16: the blocks are 85,054,464 of its 85,798,656.",
        ),
    ),
    Exercise(
        name="train_vit",
        oracle=oracles.train_vit,
        cpu_seconds=60,
        groups=(
            Group(
                "unseen",
                "at least 80 % of digits that it has not seen are right",
                1,
                _digits,
                advice="Print the accuracy after every epoch. Does it still rise where the training stops?",
            ),
        ),
        misconceptions=(
            Misconception(
                "softmax_output",
                {"returns": "probabilities"},
                "The model returns probabilities. It returns logits: the loss applies the softmax, from_logits=True.",
            ),
            Misconception(
                "learned_nothing",
                {"learned": False},
                "Not even the images that it was trained on come out right. Is the loss told that it gets logits, is the "
                "learning rate too large or too small, and are there enough epochs?",
            ),
        ),
        hints=(
            "Three steps: build_vit, compile, fit. Labels are whole numbers: which cross-entropy takes those?",
            "With patches of 2 × 2 pixels an image has 16. Two blocks of width 32 are enough.",
            "Adam with a learning rate around 0.002 and batches of 32 is well past it after ten epochs.",
        ),
    ),
    Exercise(
        name="attention_rollout",
        oracle=oracles.attention_rollout,
        groups=(
            Group(
                "values",
                "right values",
                2,
                _rollouts((3, 2, 5, 7), (5, 3, 2, 4)),
                advice="Try it on the two layers of the text first.",
            ),
            Group("one_layer", "a single layer, a single head", 1, _rollouts((1, 2, 3, 5), (2, 3, 1, 5))),
            Group(
                "pruned",
                "rows that do not sum to 1 before",
                1,
                _rollouts((3, 2, 5, 7), pruned=True),
                advice="After half of the identity is added, every row is divided by its own sum.",
            ),
            Group("types", "arrays and tensors, float type kept", 1, _rollout_types),
        ),
        misconceptions=(
            Misconception(
                "order_reversed",
                {"product": "first on the left"},
                "The layers are multiplied in the wrong order. What the last layer does comes last, so its matrix "
                "stands on the left.",
            ),
            Misconception(
                "entry_by_entry",
                {"product": "entry by entry"},
                "The layers are multiplied entry by entry. A path from layer to layer is a matrix product.",
            ),
            Misconception("layers_averaged", {"product": "mean"}, "The layers are averaged; they are multiplied up."),
            Misconception(
                "no_identity",
                {"identity": "none"},
                "The residual path is missing: half of the identity joins half of the attention.",
            ),
            Misconception(
                "not_normalised", {"normalised": "no"}, "The rows are not normalised after the identity is added."
            ),
            Misconception(
                "identity_whole_not_normalised",
                {"identity": "whole", "normalised": "no"},
                "A + I is multiplied up as it is, so the numbers grow from layer to layer: halve, and normalise.",
            ),
            Misconception(
                "normalised_before",
                {"normalised": "rows, before"},
                "The rows are normalised before the identity is added. It comes first: with pruned weights the mixture is "
                "another.",
            ),
            Misconception(
                "identity_not_halved",
                {"identity": "beside half"},
                "The identity is added whole, the attention half: each of them counts one half.",
            ),
            Misconception(
                "columns_normalised", {"normalised": "columns"}, "Columns are normalised. Rows are: one row per query."
            ),
            Misconception(
                "divided_by_largest",
                {"normalised": "largest"},
                "Each row is divided by its largest entry, not by its sum.",
            ),
            Misconception(
                "heads_summed",
                {"heads": "sum"},
                "The heads are added up, so they outweigh the identity. They are averaged.",
            ),
            Misconception("largest_head", {"heads": "largest"}, "The largest head counts; the heads are averaged."),
            Misconception("smallest_head", {"heads": "smallest"}, "The smallest head counts; the heads are averaged."),
            Misconception("first_head_only", {"heads": "first"}, "Only the first head counts; they are averaged."),
            Misconception(
                "heads_one_by_one",
                {"heads": "one by one"},
                "The rollout is made for each head alone and averaged at the end. A path may change heads from layer to "
                "layer, so the heads are averaged first.",
            ),
            Misconception("last_layer_only", {"layers": "last"}, "Only the last layer is in the result."),
            Misconception("first_layer_only", {"layers": "first"}, "Only the first layer is in the result."),
            Misconception(
                "first_layer_twice",
                {"layers": "first twice"},
                "The first layer is in the product twice: does the loop begin with the one that you started from?",
            ),
            Misconception(
                "first_layer_left_out", {"layers": "all but the first"}, "The first layer is left out of the product."
            ),
            Misconception(
                "weights_transposed", {"transposed": True}, "Queries and keys change places: rows are queries."
            ),
        ),
        hints=(
            "The axis of the heads is number 2: (L, B, H, T, T).",
            "For each layer: average the heads, add half and half with the identity, divide each row by its sum.",
            "Start with the first layer. Each next one is multiplied onto what you have, from the left.",
        ),
    ),
    Exercise(
        name="extract_tubelets",
        oracle=oracles.extract_tubelets,
        groups=(
            Group(
                "values",
                "right tubelets, in the right order",
                2,
                _tubes((2, (3, 2, 4), 5, 3, 2), (3, (4, 3, 2), 2, 5, 1)),
                advice="Eight axes: image, then each of time, height and width split in two, then the channel.",
            ),
            Group(
                "corners",
                "tubelets of one frame, and one tubelet for the whole video",
                1,
                _tubes((2, (3, 2, 4), 1, 3, 2), (3, (1, 1, 1), 4, 5, 2)),
            ),
            Group("types", "arrays and tensors, float type kept", 1, _tube_types),
            Group(
                "refusal",
                "ValueError where a size does not fit",
                1,
                _tubes_refused,
                advice="Three remainders: length by frames, height and width by patch_size.",
            ),
        ),
        misconceptions=(
            Misconception(
                "time_last", {"time": "last"}, "The tubelets go through rows, columns, then time. Time comes first."
            ),
            Misconception(
                "columns_first",
                {"order": "columns"},
                "Within a moment the tubelets go column by column: rows come first.",
            ),
            Misconception(
                "frames_after_pixels",
                {"inner_time": "after the pixels"},
                "Inside a tubelet the frames come after the pixels, (P, P, frames, C). They come first: (frames, P, P, C).",
            ),
            Misconception(
                "frames_last",
                {"inner_time": "last"},
                "Inside a tubelet the frames come last, (P, P, C, frames). They come first: (frames, P, P, C).",
            ),
            PIXELS_TURNED,
            Misconception(
                "channels_first",
                {"channels_first": True},
                "Inside a tubelet the channels come first. They come last: (frames, P, P, C).",
            ),
            Misconception(
                "reshape_alone",
                {"how": "reshape"},
                "A reshape alone does not make tubelets: it takes pixels that follow each other in memory.",
            ),
            Misconception(
                "every_nth_frame",
                {"how": "every n-th frame"},
                "A tubelet takes every n-th frame of the video. Its frames follow each other.",
            ),
            Misconception(
                "frames_apart",
                {"frames_apart": True},
                "Every frame is cut for itself. A tubelet reaches through several frames.",
            ),
            *_refusal_mistakes("Sizes"),
            Misconception(
                "time_not_checked",
                {"checked": "height, width"},
                "Height and width are checked, the number of frames is not: a tubelet has `frames` of them.",
            ),
            Misconception("only_time_checked", {"checked": "time"}, "The length is checked, height and width are not."),
            Misconception("only_height_checked", {"checked": "height"}, "Only the height is checked."),
            Misconception("only_width_checked", {"checked": "width"}, "Only the width is checked."),
        ),
        hints=(
            "As in exercise 1, with one more axis that is split in two: time, (f/frames, frames).",
            "The three axes that number the tubelets move in front of the three that lie inside.",
        ),
        forbidden=READY_CUTTERS,
    ),
    Exercise(
        name="answers",
        oracle=oracles.answers,
        groups=(
            Group("tokens", "the number of tokens", 1, _answer("tokens")),
            Group("finer_patches", "patches of half the size", 1, _answer("finer_patches")),
            Group("class_token_numbers", "what the class token costs", 1, _answer("class_token_numbers")),
            Group("rollout_patch", "the patch that a rollout points at", 1, _answer("rollout_patch")),
            Group("shuffled_patches", "patches in another order", 1, _answer("shuffled_patches")),
        ),
        misconceptions=(
            Misconception(
                "class_token_not_counted",
                {"counting": "without class token"},
                "These are the patches. How many tokens does the encoder see?",
            ),
            Misconception("pixels_counted", {"counting": "pixels"}, "Those are pixels; a token is a patch."),
            Misconception(
                "sides_added",
                {"counting": "one side"},
                "The patches lie in a grid: rows *times* columns, not plus.",
            ),
            Misconception(
                "growth_as_tokens",
                {"growth": "as the tokens"},
                "That is how much the number of patches grows. The question is about pairs of patches.",
            ),
            Misconception(
                "growth_as_side",
                {"growth": "as the side"},
                "Half the patch size doubles the patches along *each* side, and the question is about pairs.",
            ),
            Misconception(
                "growth_as_pixels",
                {"growth": "by patch area squared"},
                "Too much: four times as many patches, and then the pairs of them.",
            ),
            Misconception(
                "class_token_per_class",
                {"class_tokens": "one per class"},
                "There is one class token, not one per class. The classes come in with the head.",
            ),
            Misconception(
                "class_token_per_patch",
                {"class_tokens": "one per patch"},
                "There is one class token, not one per patch.",
            ),
            Misconception(
                "class_token_counted_as_patch",
                {"reading": "class token counted"},
                "Entry 0 of the row belongs to the class token, so the first patch is entry 1.",
            ),
            Misconception(
                "rollout_by_columns",
                {"reading": "by columns"},
                "The patches are numbered row by row, not column by column.",
            ),
            Misconception("column_named_first", {"reading": "column first"}, "The row comes first, then the column."),
            Misconception("counted_from_one", {"reading": "from one"}, "Rows and columns are counted from 0."),
            Misconception(
                "class_token_chosen",
                {"reading": "class token itself"},
                "The largest entry is the class token's own. Which *patch* has the largest?",
            ),
            Misconception(
                "shuffling_thought_harmless",
                {"shuffled": "a"},
                "That holds without positions. Position rows stay where they are when patches move.",
            ),
            Misconception(
                "shuffling_thought_to_permute",
                {"shuffled": "c"},
                "The class token is read, and it has not moved: the logits are no list over patches.",
            ),
            Misconception(
                "shuffling_thought_forbidden",
                {"shuffled": "d"},
                "Nothing stops: the model takes any image of the right size.",
            ),
        ),
        hints=("Each answer takes a line on paper. Draw the grid of patches.",),
        reveal=False,
        tolerance=0.0051,
    ),
)
