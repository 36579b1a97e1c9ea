"""Lab 07, exercise `pack_inputs`."""

import numpy as np

from autograder.declare import Case, Exercise, edit, seen


def _packed(rng, a: int, b: int | None, max_length: int, pad_id: int | None = None) -> Case:
    """Segments of so many ids, all different from one another and from the special ones."""
    drawn = [int(id) for id in rng.choice(np.arange(5, 30_000), size=a + (b or 0) + 3, replace=False)]
    cls_id, sep_id, pad, *ids = drawn
    inputs = {"a": ids[:a], **({} if b is None else {"b": ids[a:]}), "max_length": max_length}
    inputs |= {"cls_id": cls_id, "sep_id": sep_id} | ({} if pad_id is None else {"pad_id": pad})
    shown = f"a of {a} ids, " + ("" if b is None else f"b of {b}, ") + f"max_length={max_length}"
    return Case(inputs, shown if pad_id is None else f"{shown}, pad_id={pad}")


def _packing(*sizes: tuple):
    return lambda rng: [_packed(rng, *size) for size in sizes]


exercise = Exercise("pack_inputs", own_probe=True)


@exercise.formula
def pack_inputs(a, b=None, *, max_length, cls_id, sep_id, pad_id=0):
    """``[CLS] a [SEP]`` or ``[CLS] a [SEP] b [SEP]``, cut and padded to `max_length` (Devlin et al. 2019, 3)."""
    pair = b is not None
    first, second = list(a), list(b or ())
    room = max_length - 2 - pair
    first, second = shortened(first, second, room)
    front = [cls_id, *first, sep_id]
    end = [*second, sep_id] if pair else []
    ids = (front + end)[:max_length]
    segments = ([0] * len(front) + [1] * len(end))[:max_length]
    padding = max_length - len(ids)
    return {
        "input_word_ids": np.array(ids + [pad_id] * padding),
        "input_mask": np.array([1] * len(ids) + [0] * padding),
        "input_type_ids": np.array(segments + [0] * padding),
        "kinds": "whole numbers",
        "arguments": "as they were",
    }


def shortened(first: list[int], second: list[int], room: int) -> tuple[list[int], list[int]]:
    """Two segments without what does not fit: token by token from the end of the longer one, of the second on a tie."""
    while len(first) + len(second) > max(room, 0):
        (first if len(first) > len(second) else second).pop()
    return first, second


exercise.group("one segment", single=_packing((5, None, 11), (9, None, 11), (17, None, 11)))


@exercise.group("two segments that fit", points=2)
def pair(rng):
    return _packing((4, 6, 17), (7, 3, 13))(rng)


exercise.group(
    "two segments that are too long", points=2, cut=_packing((13, 4, 15), (3, 17, 12), (9, 9, 14), (10, 8, 16))
)


@exercise.group("another id for padding")
def padding(rng):
    return _packing((3, None, 7, 1), (3, 2, 11, 1))(rng)


exercise.group("hardly any room, hardly any tokens", edges=_packing((2, 3, 3), (4, 3, 5), (3, None, 2), (4, 0, 9)))

LONGER, ROOM = "first if len(first) > len(second) else second", "max_length - 2 - pair"
SHORTENED = f"while len(first) + len(second) > max(room, 0):\n    ({LONGER}).pop()"
OVER = "if len(first) + len(second) > room:\n"
LOWER_HALF, UPPER_HALF = (f"    kept = {half} if second else room\n" for half in ("room // 2", "(room + 1) // 2"))
FRONT, END, SEGMENTS = "[cls_id, *first, sep_id]", "[*second, sep_id]", "[0] * len(front) + [1] * len(end)"
HALVES = "Each segment gets half of the room, even if the other does not need its half."
IDS, MASK, TYPES = "ids + [pad_id] * padding", "[1] * len(ids) + [0] * padding", "segments + [0] * padding"

exercise.mistakes(
    cut_from_the_start=edit(".pop()", ".pop(0)") | "Segments lose their beginning. Cut them at the end.",
    ties_cut_first=edit(LONGER, "second if len(second) > len(first) else first")
    | "When both segments are equally long, the first one is cut. The second one should be cut.",
    cut_in_proportion=edit(
        SHORTENED,
        OVER + "    kept = round(room * len(first) / (len(first) + len(second)))\n    first, second = "
        "first[:kept], second[: room - kept]",
    )
    | "Both segments are cut in proportion. Cut one token at a time from the longer one, so that a short segment "
    "stays whole.",
    cut_in_halves=edit(SHORTENED, OVER + UPPER_HALF + "    first, second = first[:kept], second[: room - kept]")
    | HALVES,
    cut_in_halves_second_more=edit(
        SHORTENED, OVER + LOWER_HALF + "    first, second = first[:kept], second[: room - kept]"
    )
    | HALVES,
    first_cut_to_half=edit(
        SHORTENED, OVER + UPPER_HALF + "    first = first[:kept]\n    second = second[: room - len(first)]"
    )
    | "The first segment is cut to half of the room, even if the second does not need the other half.",
    second_cut_first=edit(LONGER, "second or first")
    | "The second segment is cut until nothing is left of it. Cut the longer of the two, whichever it is.",
    first_cut_first=edit(LONGER, "first or second")
    | "The first segment is cut until nothing is left of it. Cut the longer of the two, whichever it is.",
    both_cut=edit(f"({LONGER}).pop()", "first, second = first[:-1], second[:-1]")
    | "Both segments lose a token each time. Only the longer of the two should lose one.",
    shorter_cut=edit(LONGER, "(first if len(first) < len(second) and first else second) or first")
    | "The shorter segment is cut. The longer one should be cut.",
    whole_row_cut=edit("shortened(first, second, room)", "(first, second)")
    | "The finished row is cut at max_length, and loses its last [SEP]. Cut the segments first.",
    specials_forgotten=edit(ROOM, "max_length") | "No room is kept for [CLS] and [SEP]: the last [SEP] is cut off.",
    one_special_forgotten=edit(ROOM, "max_length - 1 - pair")
    | "Room is kept for one special id too few: two of them stand around a single segment, three in a pair.",
    three_specials_always=edit(ROOM, "max_length - 3")
    | "A single segment has two special ids, not three: one token of it is lost unnecessarily.",
    separator_missing_between=edit(FRONT, f"[cls_id, *first] if pair else {FRONT}")
    | "There is no [SEP] between the two segments.",
    separator_missing_at_end=edit((FRONT, f"{FRONT} if pair else [cls_id, *first]"), (END, "list(second)"))
    | "The last [SEP] is missing: it should end the text, also when there is one segment only.",
    pair_without_last_separator=edit((ROOM, "max_length - 2"), (END, "list(second)"))
    | "With two segments the last [SEP] is missing: one should stand behind a, and one behind b.",
    separators_missing=edit(FRONT, "[cls_id, *first]") | edit(END, "list(second)") | "There is no [SEP] at all.",
    class_token_missing=edit(FRONT, "[*first, sep_id]") | "The row does not begin with [CLS].",
    class_token_twice=edit(FRONT, "[cls_id, *first, sep_id, *[cls_id] * pair]")
    | "There is a second [CLS] before b. One should stand at the beginning of the row, for both segments.",
    class_token_of_b=edit((ROOM, "max_length - 2 - 2 * pair"), (END, "[cls_id, *second, sep_id]"))
    | "The second segment begins with a [CLS] of its own. One should stand at the beginning of the row, for both.",
    separator_in_second=edit(SEGMENTS, "[0] * (len(front) - pair) + [1] * (len(end) + pair)")
    | "The [SEP] behind a belongs to segment 1 here. It ends segment 0, and belongs to it.",
    last_separator_in_first=edit(SEGMENTS, "[0] * len(front) + [1] * (len(end) - pair) + [0] * pair")
    | "The last [SEP] has segment id 0. It ends segment 1, and belongs to it.",
    segments_all_zero=edit(SEGMENTS, "[0] * len(front + end)") | "All segment ids are 0; those of b should be 1.",
    segments_from_one=edit(SEGMENTS, "[1] * len(front) + [2] * len(end)")
    | "Segments are numbered 1 and 2; they should be 0 and 1.",
    padding_in_second=edit(TYPES, "segments + [1] * padding") | "Padding has segment id 1. It should be 0.",
    padding_like_the_last=edit(TYPES, "segments + [segments[-1]] * padding")
    | "Padding has the segment id of the last token. It should be 0.",
    mask_all_ones=edit(MASK, "[1] * max_length") | "The mask is 1 for padding, too.",
    mask_inverted=edit(MASK, "[0] * len(ids) + [1] * padding")
    | "The mask is the wrong way round: 1 should be for real tokens.",
    specials_masked_out=edit(MASK, "[int(number not in (cls_id, sep_id)) for number in ids] + [0] * padding")
    | "The mask is 0 for [CLS] and [SEP]. They are real tokens; only padding is 0.",
    pad_id_ignored=edit(IDS, "ids + [0] * padding") | "Padding is 0 whatever `pad_id` says.",
    padded_in_front=edit(IDS, "[pad_id] * padding + ids")
    | edit(MASK, "[0] * padding + [1] * len(ids)")
    | edit(TYPES, "[0] * padding + segments")
    | "Padding stands in front; it belongs behind the last [SEP].",
    second_ignored=edit("b is not None", "False") | edit("list(b or ())", "[]") | "The second segment is missing.",
    empty_second_ignored=edit("b is not None", "bool(b)")
    | "An empty list is treated like None: `if b` is False for both. An empty list is a segment, with a [SEP] of its "
    "own; `b is None` tells the two apart.",
    floats=seen({"kinds": "float64"})
    | 'Ids, mask and segments should be whole numbers; `np.zeros` makes floats unless you give `dtype="int32"`.',
    mask_is_boolean=seen({"kinds": "bool"}) | "The mask is True and False; the encoder wants 1 and 0.",
    arguments_changed=edit('"as they were"', '"as they were" if len(a) + len(b or ()) <= room else "changed in place"')
    | "The rows are right, but a or b has lost its end: `pop` and `del` change the list that you were given. Work on "
    "a copy.",
)

exercise.advice(
    single="[CLS] a [SEP], then padding up to max_length. Two of the places are taken by special ids.",
    pair="[CLS] a [SEP] b [SEP]: segment 0 up to the first [SEP], segment 1 from b to the second.",
    cut="One token at a time, from the end of whichever segment is longer at that moment; of b when they tie.",
)
exercise.hints(
    single=(
        "Count first: how many places are left for tokens of a and b, with one segment and with two?",
        "Put ids, segment ids and mask together as lists of the same length, then append what is missing to "
        "max_length.",
    ),
    padding="Where does your function write 0, and where `pad_id`? The segment ids and the mask keep their zeros.",
    edges="With `max_length` 2 and one segment, no token has room. With an empty second segment there are still two "
    "[SEP].",
    cut="`while len(a) + len(b) > room:` and in it one decision: whose last token goes?",
)
