"""Lab 07, exercise `pack_inputs`."""

import numpy as np

from autograder.declaring import Case, Exercise, wrong
from coursekit.generator import Generator
from exercises.formulas import bert_ag_news as oracles
from exercises.mistaken import bert_ag_news as mistaken


def _packed(rng: Generator, a: int, b: int | None, max_length: int, pad_id: int | None = None) -> Case:
    """Segments of so many ids, all different from one another and from the special ones."""
    drawn = [int(each) for each in rng.choice(np.arange(5, 30_000), size=a + (b or 0) + 3, replace=False)]
    cls_id, sep_id, pad, *ids = drawn
    inputs = {"a": ids[:a], **({} if b is None else {"b": ids[a:]}), "max_length": max_length}
    inputs |= {"cls_id": cls_id, "sep_id": sep_id} | ({} if pad_id is None else {"pad_id": pad})
    shown = f"a of {a} ids, " + ("" if b is None else f"b of {b}, ") + f"max_length={max_length}"
    return Case(inputs, description=shown if pad_id is None else f"{shown}, pad_id={pad}")


def _packing(*sizes: tuple):
    return lambda rng: [_packed(rng, *each) for each in sizes]


exercise = Exercise("pack_inputs", oracle=oracles.pack_inputs, mistaken=mistaken.pack_inputs)


@exercise.group("one segment", points=1, advice="[CLS] a [SEP], then padding up to max_length. Two of the places are taken by special ids.")
def single(rng: Generator) -> list[Case]:
    return _packing((5, None, 11), (9, None, 11), (17, None, 11))(rng)


@exercise.group("two segments that fit", points=2, advice="[CLS] a [SEP] b [SEP]: segment 0 up to the first [SEP], segment 1 from b to the second.")
def pair(rng: Generator) -> list[Case]:
    return _packing((4, 6, 17), (7, 3, 13))(rng)


@exercise.group("two segments that are too long", points=2, advice="One token at a time, from the end of whichever segment is longer at that moment; of b when they tie.")
def cut(rng: Generator) -> list[Case]:
    return _packing((13, 4, 15), (3, 17, 12), (9, 9, 14), (10, 8, 16))(rng)


@exercise.group("another id for padding", points=1)
def padding(rng: Generator) -> list[Case]:
    return _packing((3, None, 7, 1), (3, 2, 11, 1))(rng)


@exercise.group("hardly any room, hardly any tokens", points=1)
def edges(rng: Generator) -> list[Case]:
    return _packing((2, 3, 3), (4, 3, 5), (3, None, 2), (4, 0, 9))(rng)


exercise.mistakes(
    cut_from_the_start=wrong("Segments lose their beginning. They are cut at the end.", cut="from the start"),
    ties_cut_first=wrong("When both segments are equally long, the first one is cut. The second one should be cut.", cut="ties first"),
    cut_in_proportion=wrong("Both segments are cut in proportion. Cut one token at a time from the longer one, so that a short segment stays whole.", cut="in proportion"),
    cut_in_halves=wrong("Each segment gets half of the room, even if the other does not need its half.", cut="halves"),
    first_cut_to_half=wrong("The first segment is cut to half of the room, even if the second does not need the other half.", cut="first to half"),
    second_cut_first=wrong("The second segment is cut until nothing is left of it. Cut the longer of the two, whichever it is.", cut="second first"),
    first_cut_first=wrong("The first segment is cut until nothing is left of it. Cut the longer of the two, whichever it is.", cut="first first"),
    both_cut=wrong("Both segments lose a token each time. Only the longer of the two should lose one.", cut="both"),
    shorter_cut=wrong("The shorter segment is cut. The longer one should be cut.", cut="the shorter"),
    whole_row_cut=wrong("The finished row is cut at max_length, and loses its last [SEP]. Cut the segments first.", cut="whole row"),
    specials_forgotten=wrong("No room is kept for [CLS] and [SEP]: the last [SEP] is cut off.", room="forgotten"),
    one_special_forgotten=wrong("Room is kept for one special id too few: two of them stand around a single segment, three in a pair.", room="one too few"),
    three_specials_always=wrong("A single segment has two special ids, not three: one token of it is lost unnecessarily.", room="always three"),
    separator_missing_between=wrong("There is no [SEP] between the two segments.", specials="no separator between"),
    separator_missing_at_end=wrong("The last [SEP] is missing: it ends the text, also when there is one segment only.", specials="no separator at the end"),
    pair_without_last_separator=wrong("With two segments the last [SEP] is missing: one stands behind a, and one behind b.", specials="no last separator in a pair"),
    separators_missing=wrong("There is no [SEP] at all.", specials="no separators"),
    class_token_missing=wrong("The row does not begin with [CLS].", specials="no class token"),
    class_token_twice=wrong("There is a second [CLS] before b. One stands at the beginning of the row, for both segments.", specials="class token again"),
    class_token_of_b=wrong("The second segment begins with a [CLS] of its own. One stands at the beginning of the row, for both.", specials="class token of b"),
    separator_in_second=wrong("The [SEP] behind a belongs to segment 1 here. It ends segment 0, and belongs to it.", segments="separator second"),
    last_separator_in_first=wrong("The last [SEP] has segment id 0. It ends segment 1, and belongs to it.", segments="last separator first"),
    segments_all_zero=wrong("All segment ids are 0; those of b are 1.", segments="all zero"),
    segments_from_one=wrong("Segments are numbered 1 and 2; they are 0 and 1.", segments="from one"),
    padding_in_second=wrong("Padding has segment id 1. It is 0.", segments="padding second"),
    padding_like_the_last=wrong("Padding has the segment id of the last token. It is 0.", segments="padding like the last"),
    mask_all_ones=wrong("The mask is 1 for padding, too.", mask="all ones"),
    mask_inverted=wrong("The mask is the wrong way round: 1 is for real tokens.", mask="inverted"),
    specials_masked_out=wrong("The mask is 0 for [CLS] and [SEP]. They are real tokens; only padding is 0.", mask="specials blocked"),
    pad_id_ignored=wrong("Padding is 0 whatever `pad_id` says.", own_pad=False),
    padded_in_front=wrong("Padding stands in front; it belongs behind the last [SEP].", pad="front"),
    second_ignored=wrong("The second segment is missing.", second=False),
    empty_second_ignored=wrong(
        "An empty list is treated like None: `if b` is False for both. An empty list is a segment, with a [SEP] of its own; `b is None` tells the two apart.", empty="no segment"
    ),
    floats=wrong('Ids, mask and segments are whole numbers; `np.zeros` makes floats unless you give `dtype="int32"`.', kind="float64"),
    mask_is_boolean=wrong("The mask is True and False; the encoder wants 1 and 0.", kind="bool"),
    arguments_changed=wrong("The rows are right, but a or b has lost its end: `pop` and `del` change the list that you were given. Work on a copy.", argument="changed in place"),
)


exercise.hints(
    "Count first: how many places are left for tokens of a and b, with one segment and with two?",
    "Put ids, segment ids and mask together as lists of the same length, then append what is missing to max_length.",
)
exercise.hints("Where does your function write 0, and where `pad_id`? The segment ids and the mask keep their zeros.", group="padding")
exercise.hints("With `max_length` 2 and one segment, no token has room. With an empty second segment there are still two [SEP].", group="edges")
exercise.hints("`while len(a) + len(b) > room:` and in it one decision: whose last token goes?", group="cut")
