"""Lab 08, exercise `padding_mask`."""

from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.exercises.decoder_and_masking.shared import MASK_ADVICE, draw_ids
from autograder.mistaken import decoder_and_masking as mistaken
from autograder.oracles import decoder_and_masking as oracles

exercise = Exercise("padding_mask", oracle=oracles.padding_mask, mistaken=mistaken.padding_mask)


@exercise.group("True at real tokens, shape (B, 1, S)", points=2, advice=MASK_ADVICE)
def values(rng: Generator) -> list[Case]:
    whole = draw_ids(rng, 2, 5)
    whole[1] = 0
    return [Case({"ids": draw_ids(rng, 3, 7)}, description="ids (3, 7), padded at the end and in the middle"), Case({"ids": whole}, description="ids (2, 5), one sentence is padding alone")]


@exercise.group("another padding id", points=1)
def pad_id(rng: Generator) -> list[Case]:
    pad = int(rng.integers(2, 9))
    ids = draw_ids(rng, 3, 7, pad=pad)
    ids[1, 0] = 0  # an ordinary token here
    return [Case({"ids": ids, "pad_id": pad}, description=f"ids (3, 7), pad_id={pad}")]


@exercise.group("arrays and tensors", points=1)
def types(rng: Generator) -> list[Case]:
    return [Case({"ids": draw_ids(rng, 3, 5)}, mode="tensor", description="a TensorFlow tensor of int32"), Case({"ids": draw_ids(rng, 2, 7).astype("int64")}, description="a NumPy array of int64")]


exercise.mistakes(
    true_means_padding=wrong("True stands at the padding. Here and in Keras True means: may attend.", kind="inverted"),
    no_query_axis=wrong("The axis of the queries is missing: the shape is (B, 1, S).", axes="BS"),
    axis_last=wrong("The new axis is the last one; the shape should be (B, 1, S).", axes="BS1"),
    head_axis=wrong("There is an axis for the heads as well. Keras adds this axis itself: the shape is (B, 1, S).", axes="B11S"),
    queries_masked_too=wrong("The padding's own rows are blocked as well. Mask only the keys: the shape is (B, 1, S).", axes="BSS"),
    pad_id_ignored=wrong("The argument `pad_id` changes nothing.", ignored=True),
    larger_than_pad=wrong("Ids below pad_id count as padding too. A token is padding only when its id is pad_id.", kind="positive"),
)


exercise.hints("A comparison of all ids with pad_id gives one truth value each.", "The mask says which keys may be seen, so it lies along the keys; the axis of size 1 stands for every query.")
exercise.hints("Does your comparison use the argument, or the number 0?", group="pad_id")
exercise.hints("`ops.not_equal` takes arrays and tensors. Which shape comes out before and after the new axis?", group="types")
