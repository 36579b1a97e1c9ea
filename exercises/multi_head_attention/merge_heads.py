"""Lab 03, exercise `merge_heads`."""

from autograder.declare import Case, Exercise, edit
from exercises.drawing import normal
from exercises.multi_head_attention.shared import JOINED, MERGED_BY_RESHAPE, merge


def _heads(*shapes: tuple[int, int, int, int]):
    return lambda rng: [Case({"x": normal(rng, *shape)}) for shape in shapes]


exercise = Exercise("merge_heads", own_probe=True)
exercise.formula(merge)
exercise.group("right values", points=2, values=_heads((2, 3, 5, 7), (2, 5, 3, 11), (2, 1, 3, 5)))


@exercise.group("arrays and tensors, unknown sizes")
def types(rng):
    yield Case({"x": normal(rng, 2, 3, 5, 7)}, "a TensorFlow tensor", mode="tensor")
    yield Case({"x": normal(rng, 2, 3, 5, 7)}, "a NumPy array of float32")
    yield Case({"x": rng.normal(size=(2, 3, 5, 7))}, "a NumPy array of float64")
    yield Case({"x": normal(rng, 2, 3, 5, 7)}, "inside tf.function, batch size and length unknown", mode="graph")


exercise.mistakes(
    merged_by_reshape_alone=MERGED_BY_RESHAPE,
    merged_interleaved=edit(JOINED, "x.transpose(0, 2, 3, 1).reshape(batch, length, heads * size)", see="03#heads")
    | "The features of the heads alternate. A row should hold all of head 0, then all of head 1, and so on."
    | "Before the reshape the axes should be (B, T, H, K). Which are they in your code?",
    heads_added=edit(JOINED, "x.sum(axis=1)", see="03#key-dim")
    | "The heads are added up; they should stand side by side."
    | "Which matrix mixes the heads, and what does it read?",
    heads_averaged=edit(JOINED, "x.mean(axis=1)", see="03#key-dim")
    | "The heads are averaged; they should stand side by side."
    | "Which matrix mixes the heads, and what does it read?",
    heads_still_apart=edit(JOINED, "x.transpose(0, 2, 1, 3)")
    | "The axes have changed places, (B, T, H, K), but there are still four: join the last two.",
    heads_below_each_other=edit(JOINED, "x.reshape(batch, heads * length, size)")
    | "The heads stand below each other, (B, H·T, K): put them side by side, along the features.",
    features_of_all_tokens=edit("length, heads * size", "heads, length * size")
    | "The sizes are mixed up: a row holds all tokens, (B, H, T·K). After the transpose the axes are B, T, H, K.",
    sentences_joined=edit(JOINED, "np.concatenate(list(x), axis=-1)")
    | "The sentences stand side by side, and the heads do not: the first axis is the batch. In the lecture's `merge` "
    "of one sentence it is the heads.",
)

exercise.hints(
    values=(
        "It is `split_heads` backwards: undo its last step first.",
        "Only when the axes are (B, T, H, K) do the features of one token lie side by side.",
    ),
    types="Inside tf.function some sizes are None in `x.shape`. `ops.shape(x)` knows all of them, and a reshape takes "
    "one −1.",
)
