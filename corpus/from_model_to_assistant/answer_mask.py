"""Lab 10b, exercise `answer_mask`: solutions as different students write them, right and wrong."""


def masked(**changes: str) -> str:
    """The mask with some of its parts changed."""
    parts = {
        "targets": "rows[:, 1:]",
        "inside": "places >= np.reshape(prompt_lengths, (-1, 1))",
        "ends": "inside & (targets == end_id)",
        "before": "np.cumsum(ends, axis=1) - ends",
        "returned": "inside & (before == 0)",
    } | changes
    return f"""
def answer_mask(rows, prompt_lengths, end_id):
    targets = {parts["targets"]}
    places = np.arange(targets.shape[1])
    inside = {parts["inside"]}
    ends = {parts["ends"]}
    before = {parts["before"]}
    return {parts["returned"]}
"""


def looped(
    start: str = "1 + length", stop: str = "end + 1", column: str = "place - 1", width: str = "len(row) - 1"
) -> str:
    """The mask token by token."""
    return f"""
def answer_mask(rows, prompt_lengths, end_id):
    mask = []
    for row, length in zip(rows.tolist(), prompt_lengths):
        end = next((place for place in range(1 + length, len(row)) if row[place] == end_id), len(row) - 1)
        line = [0.0] * ({width})
        for place in range({start}, {stop}):
            line[{column}] = 1.0
        mask.append(line)
    return np.array(mask)
"""


CORRECT = [
    masked(),
    looped(),
    # where each answer begins and ends
    """
def answer_mask(rows, prompt_lengths, end_id):
    mask = np.zeros((len(rows), rows.shape[1] - 1), "float32")
    for number, (row, length) in enumerate(zip(rows, prompt_lengths)):
        found = np.flatnonzero(row[length + 1 :] == end_id)
        stop = length + found[0] + 1 if len(found) else len(row) - 1
        mask[number, length:stop] = 1
    return mask
""",
    # argmax, with an end behind each row
    """
def answer_mask(rows, prompt_lengths, end_id):
    places = np.arange(rows.shape[1] - 1)[None]
    starts = np.asarray(prompt_lengths)[:, None]
    ends = (rows[:, 1:] == end_id) & (places >= starts)
    last = np.where(ends.any(axis=1), ends.argmax(axis=1), rows.shape[1])[:, None]
    return ((places >= starts) & (places <= last)).astype(int)
""",
    # keras.ops
    """
def answer_mask(rows, prompt_lengths, end_id):
    rows = ops.convert_to_tensor(rows)
    places = ops.arange(rows.shape[1] - 1)
    inside = places >= ops.reshape(ops.cast(prompt_lengths, places.dtype), (-1, 1))
    ends = ops.cast(ops.logical_and(inside, rows[:, 1:] == end_id), "int32")
    return ops.cast(ops.logical_and(inside, ops.cumsum(ends, axis=1) - ends < 1), "float32")
""",
    # what stands before has no end: a cumulative product
    """
def answer_mask(rows, prompt_lengths, end_id):
    inside = np.arange(rows.shape[1] - 1) >= np.array(prompt_lengths)[:, None]
    goes_on = np.where(inside, rows[:, 1:] != end_id, 1)
    open_before = np.cumprod(np.concatenate([np.ones((len(rows), 1)), goes_on[:, :-1]], axis=1), axis=1)
    return inside * open_before
""",
]

WRONG = [
    ("end_left_out", masked(returned="inside & (targets != end_id) & (before == 0)")),
    ("end_left_out", looped(stop="end + (row[end] != end_id)")),
    ("padding_counted", masked(returned="inside")),
    ("last_of_prompt", masked(inside="places >= np.reshape(prompt_lengths, (-1, 1)) - 1")),
    ("first_left_out", masked(inside="places >= np.reshape(prompt_lengths, (-1, 1)) + 1")),
    ("tokens_read", looped(column="place", stop="min(end + 1, len(row) - 1)")),
    ("tokens_read", masked(targets="rows[:, :-1]", inside="places > np.reshape(prompt_lengths, (-1, 1))")),
    ("prompt_counted", masked(returned="before == 0")),
    ("inverted", masked(returned="~(inside & (before == 0))")),
    ("end_of_a_turn", masked(ends="targets == end_id")),
    (
        "no_end_found",
        """
def answer_mask(rows, prompt_lengths, end_id):
    mask = np.zeros((rows.shape[0], rows.shape[1] - 1))
    for line, row, length in zip(mask, rows, prompt_lengths):
        end = np.argmax(row[length + 1 :] == end_id)
        line[length : length + end + 1] = 1
    return mask
""",
    ),
    # one token too late, and without the END
    (
        "",
        """
def answer_mask(rows, prompt_lengths, end_id):
    mask = np.zeros((rows.shape[0], rows.shape[1] - 1))
    for line, row, length in zip(mask, rows, prompt_lengths):
        line[length + 1 :] = 1
        line[row[1:] == end_id] = 0
    return mask
""",
    ),
    ("one_prompt_length", masked(inside="np.tile(places >= prompt_lengths[0], (len(rows), 1))")),
    ("one_padding_counted", masked(returned="inside & (before <= 1)")),
    ("first_left_out", looped(start="2 + length")),
    # one column for each token; all but the end id; the mask of the prompt; nothing returned; the last END
    ("", looped(width="len(row)")),
    ("", looped(width="len(row)", column="place")),
    ("", masked(returned="targets != end_id")),
    ("", masked(returned="~inside")),
    ("", masked(returned="None")),
    ("", masked(returned="(inside & (before == 0))[:, 1:]")),
    ("", masked(returned="(inside & (before == 0)).sum(axis=1)")),
    ("", masked(ends="targets == end_id", returned="inside & (before == 0) & (targets != end_id)")),
    ("", masked(inside="places >= np.max(prompt_lengths)", returned="inside & (before == 0)")),
    ("", masked(returned="np.where(inside & (before == 0), targets, 0)")),
]
