"""Lab 03, exercise `merge_heads`."""

from autograder.declaring import Case, Exercise, wrong
from coursekit.generator import Generator
from exercises.drawing import normal
from exercises.multi_head_attention.shared import JOINED, MERGED_BY_RESHAPE, merge


def _heads(*shapes: tuple[int, int, int, int]):
    return lambda rng: [Case({"x": normal(rng, *shape)}) for shape in shapes]


exercise = Exercise("merge_heads")
exercise.formula(merge)


@exercise.group("right values", points=2)
def values(rng: Generator) -> list[Case]:
    return _heads((2, 3, 5, 7), (2, 5, 3, 11), (2, 1, 3, 5))(rng)


@exercise.group("arrays and tensors, unknown sizes", points=1)
def types(rng: Generator) -> list[Case]:
    return [
        Case({"x": normal(rng, 2, 3, 5, 7)}, mode="tensor", description="a TensorFlow tensor"),
        Case({"x": normal(rng, 2, 3, 5, 7)}, description="a NumPy array of float32"),
        Case({"x": rng.normal(size=(2, 3, 5, 7))}, description="a NumPy array of float64"),
        Case(
            {"x": normal(rng, 2, 3, 5, 7)},
            mode="graph",
            description="inside tf.function, batch size and length unknown",
        ),
    ]


exercise.mistakes(
    merged_by_reshape_alone=MERGED_BY_RESHAPE,
    merged_interleaved=wrong(
        "The features of the heads alternate. A row should hold all of head 0, then all of head 1, and so on.",
        (JOINED, "x.transpose(0, 2, 3, 1).reshape(batch, length, heads * size)"),
        hint="Before the reshape the axes should be (B, T, H, K). Which are they in your code?",
        see="03#heads",
    ),
    heads_added=wrong(
        "The heads are added up; they should stand side by side.",
        (JOINED, "x.sum(axis=1)"),
        hint="Which matrix mixes the heads, and what does it read?",
        see="03#key-dim",
    ),
    heads_averaged=wrong(
        "The heads are averaged; they should stand side by side.",
        (JOINED, "x.mean(axis=1)"),
        hint="Which matrix mixes the heads, and what does it read?",
        see="03#key-dim",
    ),
    heads_still_apart=wrong(
        "The axes have changed places, (B, T, H, K), but there are still four: join the last two.",
        (JOINED, "x.transpose(0, 2, 1, 3)"),
    ),
    heads_below_each_other=wrong(
        "The heads stand below each other, (B, H·T, K): put them side by side, along the features.",
        (JOINED, "x.reshape(batch, heads * length, size)"),
    ),
    features_of_all_tokens=wrong(
        "The sizes are mixed up: a row holds all tokens, (B, H, T·K). After the transpose the axes are B, T, H, K.",
        ("length, heads * size", "heads, length * size"),
    ),
    sentences_joined=wrong(
        "The sentences stand side by side, and the heads do not: the first axis is the batch. In the lecture's `merge` "
        "of one sentence it is the heads.",
        (JOINED, "np.concatenate(list(x), axis=-1)"),
    ),
)


exercise.hints(
    "It is `split_heads` backwards: undo its last step first.",
    "Only when the axes are (B, T, H, K) do the features of one token lie side by side.",
)
exercise.hints(
    "Inside tf.function some sizes are None in `x.shape`. `ops.shape(x)` knows all of them, and a reshape takes"
    " one −1.",
    group="types",
)
