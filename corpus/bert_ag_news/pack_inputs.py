"""Lab 07, exercise `pack_inputs`: solutions as different students write them, right and wrong."""

CUTTING = """
def pack_inputs(a, b=None, *, max_length, cls_id, sep_id, pad_id=0):
    a, b = list(a), None if b is None else list(b)
    room = max_length - {extra}
    {cut}
    ids = [cls_id] + a + [sep_id]
    types = [0] * len(ids)
    if b is not None:
        ids += b + [sep_id]
        types += [1] * (len(b) + 1)
    ids, types = ids[:max_length], types[:max_length]
    mask = [1] * len(ids)
    gap = max_length - len(ids)
    return {{
        "input_word_ids": np.array(ids + {pad} * gap),
        "input_mask": np.array(mask + [0] * gap){mask_type},
        "input_type_ids": np.array(types + {type_pad} * gap),
    }}
"""

CUTS = {
    "extra": "(2 if b is None else 3)",
    "cut": "while len(a) + len(b or []) > room: (a if len(a) > len(b or []) else b).pop()",
    "pad": "[pad_id]",
    "mask_type": "",
    "type_pad": "[0]",
}


def cutting(**changed: str) -> str:
    """The packing with some of its parts changed."""
    return CUTTING.format(**{**CUTS, **changed})


CORRECT = [
    cutting(
        cut="while b is not None and len(a) + len(b) > room: (a if len(a) > len(b) else b).pop()\n    a = a[:room]"
    ),
    # one branch for each kind, lists
    """
def pack_inputs(a, b=None, *, max_length, cls_id, sep_id, pad_id=0):
    if b is None:
        ids = [cls_id] + list(a)[: max_length - 2] + [sep_id]
        types = [0] * len(ids)
    else:
        left, right = len(a), len(b)
        while left + right > max_length - 3:
            if left > right:
                left -= 1
            else:
                right -= 1
        ids = [cls_id] + a[:left] + [sep_id] + b[:right] + [sep_id]
        types = [0] * (left + 2) + [1] * (right + 1)
    mask = [1] * len(ids)
    while len(ids) < max_length:
        ids.append(pad_id)
        mask.append(0)
        types.append(0)
    return {"input_word_ids": ids, "input_mask": mask, "input_type_ids": types}
""",
    # lengths by a formula
    """
def pack_inputs(a, b=None, *, max_length, cls_id, sep_id, pad_id=0):
    second = [] if b is None else b
    room = max_length - 2 - (b is not None)
    m, n = len(a), len(second)
    if m + n > room:
        if b is None:
            m = room
        elif min(m, n) * 2 <= room:
            m, n = (m, room - m) if m <= n else (room - n, n)
        else:
            m, n = room - room // 2, room // 2
    ids = np.full(max_length, pad_id)
    mask, types = np.zeros(max_length, int), np.zeros(max_length, int)
    end = m + 2
    ids[0], ids[1 : m + 1], ids[m + 1] = cls_id, a[:m], sep_id
    if b is not None:
        ids[end : end + n], ids[end + n] = second[:n], sep_id
        types[end : end + n + 1] = 1
        end += n + 1
    mask[:end] = 1
    return dict(input_word_ids=ids, input_mask=mask, input_type_ids=types)
""",
    # NumPy, padded at the end
    """
def pack_inputs(a, b=None, *, max_length, cls_id, sep_id, pad_id=0):
    parts = [list(a)] if b is None else [list(a), list(b)]
    while sum(map(len, parts)) + len(parts) + 1 > max_length:
        longest = max(range(len(parts)), key=lambda place: (len(parts[place]), place))
        parts[longest] = parts[longest][:-1]
    rows = [(cls_id, 0)]
    for segment, part in enumerate(parts):
        rows += [(each, segment) for each in part] + [(sep_id, segment)]
    ids, types = np.array(rows).T
    gap = (0, max_length - len(ids))
    return {
        "input_type_ids": np.pad(types, gap),
        "input_mask": np.pad(np.ones_like(ids), gap),
        "input_word_ids": np.pad(ids, gap, constant_values=pad_id),
    }
""",
    # TensorFlow tensors
    """
def pack_inputs(a, b=None, *, max_length, cls_id, sep_id, pad_id=0):
    a, b, pair = a[:], (b or [])[:], b is not None
    for _ in range(len(a) + len(b)):
        if len(a) + len(b) <= max_length - 2 - pair:
            break
        if len(b) >= len(a) and pair:
            b = b[:-1]
        else:
            a = a[:-1]
    first = tf.constant([cls_id, *a, sep_id])
    second = tf.constant([*b, sep_id] if pair else [], tf.int32)
    ids = tf.concat([first, second], 0)
    gap = [[0, max_length - int(tf.size(ids))]]
    return {
        "input_word_ids": tf.pad(ids, gap, constant_values=pad_id),
        "input_mask": tf.pad(tf.ones_like(ids), gap),
        "input_type_ids": tf.pad(tf.concat([tf.zeros_like(first), tf.ones_like(second)], 0), gap),
    }
""",
    # itertools
    """
from itertools import chain, islice, repeat
def pack_inputs(a, b=None, *, max_length, cls_id, sep_id, pad_id=0):
    keep = [len(a), len(b) if b is not None else -1]
    room = max_length - (3 if b is not None else 2)
    while sum(map(lambda n: max(n, 0), keep)) > room:
        keep[0 if keep[0] > keep[1] else 1] -= 1
    tokens = [(cls_id, 1, 0), *((each, 1, 0) for each in islice(a, keep[0])), (sep_id, 1, 0)]
    if b is not None:
        tokens += [*((each, 1, 1) for each in islice(b, keep[1])), (sep_id, 1, 1)]
    filled = islice(chain(tokens, repeat((pad_id, 0, 0))), max_length)
    names = ("input_word_ids", "input_mask", "input_type_ids")
    return {name: np.array(row, dtype="int32") for name, row in zip(names, zip(*filled))}
""",
]

WRONG = [
    ("cut_from_the_start", cutting(cut="while len(a) + len(b or []) > room: (a if len(a) > len(b or []) else b).pop(0)")),
    ("ties_cut_first", cutting(cut="while len(a) + len(b or []) > room: (b if len(b or []) > len(a) else a).pop()")),
    ("second_cut_first", cutting(cut="while len(a) + len(b or []) > room: (b or a).pop()")),
    ("first_cut_first", cutting(cut="while len(a) + len(b or []) > room: (a or b).pop()")),
    ("both_cut", cutting(cut="while len(a) + len(b or []) > room: a, b = a[:-1], b and b[:-1]")),
    ("whole_row_cut", cutting(cut="pass")),
    ("specials_forgotten", cutting(extra="0")),
    ("one_special_forgotten", cutting(extra="(1 if b is None else 2)")),
    ("three_specials_always", cutting(extra="3")),
    (
        "cut_in_halves",
        cutting(
            cut="if b is None: a = a[:room]\n"
            "    elif len(a) + len(b) > room: a, b = a[: room - room // 2], b[: room // 2]"
        ),
    ),
    (
        "cut_in_halves_second_more",
        cutting(
            cut="if b is None: a = a[:room]\n"
            "    elif len(a) + len(b) > room: a, b = a[: room // 2], b[: room - room // 2]"
        ),
    ),
    (
        "cut_in_proportion",
        cutting(
            cut="if b is None: a = a[:room]\n    elif len(a) + len(b) > room:\n"
            "        kept = round(room * len(a) / (len(a) + len(b)))\n        a, b = a[:kept], b[: room - kept]"
        ),
    ),
    (
        "first_cut_to_half",
        cutting(cut="if len(a) + len(b or []) > room: a = a[: room if b is None else (room + 1) // 2]; b = b and b[: room - len(a)]"),
    ),
    (
        "pair_without_last_separator",
        cutting(extra="2").replace("ids += b + [sep_id]", "ids += b").replace("[1] * (len(b) + 1)", "[1] * len(b)"),
    ),
    (
        "class_token_of_b",
        cutting(extra="(2 if b is None else 4)")
        .replace("ids += b", "ids += [cls_id] + b")
        .replace("[1] * (len(b) + 1)", "[1] * (len(b) + 2)"),
    ),
    ("empty_second_ignored", cutting().replace("None if b is None else list(b)", "list(b) if b else None")),
    ("padding_in_second", cutting(type_pad="[1]")),
    ("padding_like_the_last", cutting(type_pad="types[-1:]")),
    ("pad_id_ignored", cutting(pad="[0]")),
    ("floats", cutting(mask_type=".astype(float)")),
    ("mask_is_boolean", cutting(mask_type=".astype(bool)")),
    ("mask_all_ones", cutting(mask_type=" * 0 + 1")),
    ("mask_inverted", cutting(mask_type=" * -1 + 1")),
    ("segments_all_zero", cutting().replace("[1] * (len(b) + 1)", "[0] * (len(b) + 1)")),
    ("segments_from_one", cutting().replace("[0] * len(ids)", "[1] * len(ids)").replace("[1] * (len(b)", "[2] * (len(b)")),
    (
        "separator_in_second",
        cutting().replace("        types += [1] * (len(b) + 1)", "        types = types[:-1] + [1] * (len(b) + 2)"),
    ),
    ("last_separator_in_first", cutting().replace("[1] * (len(b) + 1)", "[1] * len(b) + [0]")),
    ("separator_missing_at_end", cutting().replace("ids += b + [sep_id]", "ids += b").replace("len(b) + 1", "len(b)")
        .replace("ids = [cls_id] + a + [sep_id]", "ids = [cls_id] + a + ([] if b is None else [sep_id])")),
    ("class_token_missing", cutting().replace("[cls_id] + a", "a")),
    ("class_token_twice", cutting().replace("ids = [cls_id] + a + [sep_id]",
        "ids = [cls_id] + a + [sep_id] + ([] if b is None else [cls_id])")),
    ("second_ignored", cutting().replace("a, b = list(a), None if b is None else list(b)", "a, b = list(a), None")),
    (
        "arguments_changed",
        cutting().replace("a, b = list(a), None if b is None else list(b)", "pass"),
    ),
    (
        "padded_in_front",
        cutting()
        .replace("ids + [pad_id] * gap", "[pad_id] * gap + ids")
        .replace("mask + [0] * gap", "[0] * gap + mask")
        .replace("types + [0] * gap", "[0] * gap + types"),
    ),
    ("specials_masked_out", cutting().replace("[1] * len(ids)\n    gap", "[int(i not in (cls_id, sep_id)) for i in ids]\n    gap")),
    (None, "def pack_inputs(a, b=None, **sizes):\n    return [a, b]\n"),
    (None, "def pack_inputs(a, b=None, **sizes):\n    return {'input_word_ids': a, 'input_mask': [1] * len(a)}\n"),
    (None, cutting(cut="a, b = a[:room], b and b[:room]")),
]  # fmt: skip
