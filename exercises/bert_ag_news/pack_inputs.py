"""Lab 07, exercise `pack_inputs`."""

from collections.abc import Sequence

import numpy as np

from autograder.declaring import Case, Exercise, wrong
from coursekit.generator import Generator


def _packed(rng: Generator, a: int, b: int | None, max_length: int, pad_id: int | None = None) -> Case:
    """Segments of so many ids, all different from one another and from the special ones."""
    drawn = [int(id) for id in rng.choice(np.arange(5, 30_000), size=a + (b or 0) + 3, replace=False)]
    cls_id, sep_id, pad, *ids = drawn
    inputs = {"a": ids[:a], **({} if b is None else {"b": ids[a:]}), "max_length": max_length}
    inputs |= {"cls_id": cls_id, "sep_id": sep_id} | ({} if pad_id is None else {"pad_id": pad})
    shown = f"a of {a} ids, " + ("" if b is None else f"b of {b}, ") + f"max_length={max_length}"
    return Case(inputs, description=shown if pad_id is None else f"{shown}, pad_id={pad}")


def _packing(*sizes: tuple):
    return lambda rng: [_packed(rng, *size) for size in sizes]


exercise = Exercise("pack_inputs")


@exercise.formula
def pack_inputs(
    a: Sequence[int], b: Sequence[int] | None = None, *, max_length: int, cls_id: int, sep_id: int, pad_id: int = 0
) -> dict[str, np.ndarray | str]:
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


@exercise.group(
    "one segment",
    points=1,
    advice="[CLS] a [SEP], then padding up to max_length. Two of the places are taken by special ids.",
)
def single(rng: Generator) -> list[Case]:
    return _packing((5, None, 11), (9, None, 11), (17, None, 11))(rng)


@exercise.group(
    "two segments that fit",
    points=2,
    advice="[CLS] a [SEP] b [SEP]: segment 0 up to the first [SEP], segment 1 from b to the second.",
)
def pair(rng: Generator) -> list[Case]:
    return _packing((4, 6, 17), (7, 3, 13))(rng)


@exercise.group(
    "two segments that are too long",
    points=2,
    advice="One token at a time, from the end of whichever segment is longer at that moment; of b when they tie.",
)
def cut(rng: Generator) -> list[Case]:
    return _packing((13, 4, 15), (3, 17, 12), (9, 9, 14), (10, 8, 16))(rng)


@exercise.group("another id for padding", points=1)
def padding(rng: Generator) -> list[Case]:
    return _packing((3, None, 7, 1), (3, 2, 11, 1))(rng)


@exercise.group("hardly any room, hardly any tokens", points=1)
def edges(rng: Generator) -> list[Case]:
    return _packing((2, 3, 3), (4, 3, 5), (3, None, 2), (4, 0, 9))(rng)


LONGER, ROOM = "first if len(first) > len(second) else second", "max_length - 2 - pair"
SHORTENED = f"while len(first) + len(second) > max(room, 0):\n    ({LONGER}).pop()"
OVER = "if len(first) + len(second) > room:\n"
FRONT, END, SEGMENTS = "[cls_id, *first, sep_id]", "[*second, sep_id]", "[0] * len(front) + [1] * len(end)"
IDS, MASK, TYPES = "ids + [pad_id] * padding", "[1] * len(ids) + [0] * padding", "segments + [0] * padding"

exercise.mistakes(
    cut_from_the_start=wrong("Segments lose their beginning. They are cut at the end.", (".pop()", ".pop(0)")),
    ties_cut_first=wrong(
        "When both segments are equally long, the first one is cut. The second one should be cut.",
        (LONGER, "second if len(second) > len(first) else first"),
    ),
    cut_in_proportion=wrong(
        "Both segments are cut in proportion. Cut one token at a time from the longer one, so that a short "
        "segment stays whole.",
        (
            SHORTENED,
            OVER + "    kept = round(room * len(first) / (len(first) + len(second)))\n    first, second = "
            "first[:kept], second[: room - kept]",
        ),
    ),
    cut_in_halves=wrong(
        "Each segment gets half of the room, even if the other does not need its half.",
        (SHORTENED, OVER + "    first, second = first[: room - room // 2], second[: room // 2]"),
    ),
    first_cut_to_half=wrong(
        "The first segment is cut to half of the room, even if the second does not need the other half.",
        (SHORTENED, OVER + "    first = first[: room - room // 2]\n    second = second[: room - len(first)]"),
    ),
    second_cut_first=wrong(
        "The second segment is cut until nothing is left of it. Cut the longer of the two, whichever it is.",
        (LONGER, "second or first"),
    ),
    first_cut_first=wrong(
        "The first segment is cut until nothing is left of it. Cut the longer of the two, whichever it is.",
        (LONGER, "first or second"),
    ),
    both_cut=wrong(
        "Both segments lose a token each time. Only the longer of the two should lose one.",
        (f"({LONGER}).pop()", "first, second = first[:-1], second[:-1]"),
    ),
    shorter_cut=wrong(
        "The shorter segment is cut. The longer one should be cut.",
        (LONGER, "(first if len(first) < len(second) and first else second) or first"),
    ),
    whole_row_cut=wrong(
        "The finished row is cut at max_length, and loses its last [SEP]. Cut the segments first.",
        ("shortened(first, second, room)", "(first, second)"),
    ),
    specials_forgotten=wrong("No room is kept for [CLS] and [SEP]: the last [SEP] is cut off.", (ROOM, "max_length")),
    one_special_forgotten=wrong(
        "Room is kept for one special id too few: two of them stand around a single segment, three in a pair.",
        (ROOM, "max_length - 1 - pair"),
    ),
    three_specials_always=wrong(
        "A single segment has two special ids, not three: one token of it is lost unnecessarily.",
        (ROOM, "max_length - 3"),
    ),
    separator_missing_between=wrong(
        "There is no [SEP] between the two segments.", (FRONT, f"[cls_id, *first] if pair else {FRONT}")
    ),
    separator_missing_at_end=wrong(
        "The last [SEP] is missing: it ends the text, also when there is one segment only.",
        (FRONT, f"{FRONT} if pair else [cls_id, *first]"),
        (END, "list(second)"),
    ),
    pair_without_last_separator=wrong(
        "With two segments the last [SEP] is missing: one stands behind a, and one behind b.",
        (ROOM, "max_length - 2"),
        (END, "list(second)"),
    ),
    separators_missing=wrong("There is no [SEP] at all.", (FRONT, "[cls_id, *first]"), (END, "list(second)")),
    class_token_missing=wrong("The row does not begin with [CLS].", (FRONT, "[*first, sep_id]")),
    class_token_twice=wrong(
        "There is a second [CLS] before b. One stands at the beginning of the row, for both segments.",
        (FRONT, "[cls_id, *first, sep_id, *[cls_id] * pair]"),
    ),
    class_token_of_b=wrong(
        "The second segment begins with a [CLS] of its own. One stands at the beginning of the row, for both.",
        (ROOM, "max_length - 2 - 2 * pair"),
        (END, "[cls_id, *second, sep_id]"),
    ),
    separator_in_second=wrong(
        "The [SEP] behind a belongs to segment 1 here. It ends segment 0, and belongs to it.",
        (SEGMENTS, "[0] * (len(front) - pair) + [1] * (len(end) + pair)"),
    ),
    last_separator_in_first=wrong(
        "The last [SEP] has segment id 0. It ends segment 1, and belongs to it.",
        (SEGMENTS, "[0] * len(front) + [1] * (len(end) - pair) + [0] * pair"),
    ),
    segments_all_zero=wrong("All segment ids are 0; those of b are 1.", (SEGMENTS, "[0] * len(front + end)")),
    segments_from_one=wrong(
        "Segments are numbered 1 and 2; they are 0 and 1.", (SEGMENTS, "[1] * len(front) + [2] * len(end)")
    ),
    padding_in_second=wrong("Padding has segment id 1. It is 0.", (TYPES, "segments + [1] * padding")),
    padding_like_the_last=wrong(
        "Padding has the segment id of the last token. It is 0.", (TYPES, "segments + [segments[-1]] * padding")
    ),
    mask_all_ones=wrong("The mask is 1 for padding, too.", (MASK, "[1] * max_length")),
    mask_inverted=wrong(
        "The mask is the wrong way round: 1 is for real tokens.", (MASK, "[0] * len(ids) + [1] * padding")
    ),
    specials_masked_out=wrong(
        "The mask is 0 for [CLS] and [SEP]. They are real tokens; only padding is 0.",
        (MASK, "[int(number not in (cls_id, sep_id)) for number in ids] + [0] * padding"),
    ),
    pad_id_ignored=wrong("Padding is 0 whatever `pad_id` says.", (IDS, "ids + [0] * padding")),
    padded_in_front=wrong(
        "Padding stands in front; it belongs behind the last [SEP].",
        (IDS, "[pad_id] * padding + ids"),
        (MASK, "[0] * padding + [1] * len(ids)"),
        (TYPES, "[0] * padding + segments"),
    ),
    second_ignored=wrong("The second segment is missing.", ("b is not None", "False"), ("list(b or ())", "[]")),
    empty_second_ignored=wrong(
        "An empty list is treated like None: `if b` is False for both. An empty list is a segment, with a "
        "[SEP] of its own; `b is None` tells the two apart.",
        ("b is not None", "bool(b)"),
    ),
    floats=wrong(
        'Ids, mask and segments are whole numbers; `np.zeros` makes floats unless you give `dtype="int32"`.',
        seen={"kinds": "float64"},
    ),
    mask_is_boolean=wrong("The mask is True and False; the encoder wants 1 and 0.", seen={"kinds": "bool"}),
    arguments_changed=wrong(
        "The rows are right, but a or b has lost its end: `pop` and `del` change the list that you were "
        "given. Work on a copy.",
        ('"as they were"', '"as they were" if len(a) + len(b or ()) <= room else "changed in place"'),
    ),
)


exercise.hints(
    "Count first: how many places are left for tokens of a and b, with one segment and with two?",
    "Put ids, segment ids and mask together as lists of the same length, then append what is missing to max_length.",
)
exercise.hints(
    "Where does your function write 0, and where `pad_id`? The segment ids and the mask keep their zeros.",
    group="padding",
)
exercise.hints(
    "With `max_length` 2 and one segment, no token has room. With an empty second segment there are still two [SEP].",
    group="edges",
)
exercise.hints("`while len(a) + len(b) > room:` and in it one decision: whose last token goes?", group="cut")
