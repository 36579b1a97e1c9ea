"""Lab 10, exercise `bpe_decode`."""

from autograder.declare import Case, Exercise, edit
from exercises.language_model.shared import FORBIDDEN_BYTE_PAIRS

exercise = Exercise("bpe_decode", own_probe=True, returns=("text",), forbidden=FORBIDDEN_BYTE_PAIRS)


@exercise.formula
def bpe_decode(ids: list[int], merges: list[list[int]]) -> str:
    """The text of ids; the end is nothing, and what is no UTF-8 becomes U+FFFD."""
    pieces = [bytes([byte]) for byte in range(256)]
    for one, two in merges:
        pieces.append(pieces[one] + pieces[two])
    pieces.append(b"")
    return b"".join(pieces[number] for number in ids).decode("utf-8", errors="replace")


def _spelt(rng, letters: str, size: int) -> list[int]:
    return [byte for place in rng.integers(len(letters), size=size) for byte in letters[int(place)].encode()]


MERGES = [[97, 98], [256, 99], [257, 256], [195, 169]]


@exercise.group("tokens of tokens")
def values(rng):
    others = (100 + rng.permutation(20)[:3]).tolist()
    other_merges = [others[:2], [256, others[2]], [256, 257], [195, 169]]
    ids = rng.permutation([97, 98, 99, 256, 257, 258, 256, 258]).tolist()
    yield Case({"ids": ids, "merges": MERGES}, "eight ids, four merges")
    yield Case(
        {"ids": [*_spelt(rng, "aé", 4), 195, 169, *_spelt(rng, "aé", 1), 259, 258], "merges": MERGES},
        "letters of two bytes, spelt in bytes and in tokens",
    )
    yield Case(
        {"ids": rng.permutation([*others, 256, 257, 258, 256]).tolist(), "merges": other_merges},
        "seven ids, four other merges",
    )


@exercise.group("the end, and broken bytes")
def edges(rng):
    yield Case({"ids": [*_spelt(rng, "abc", 3), 260], "merges": MERGES}, "an end behind three letters")
    yield Case(
        {"ids": [*_spelt(rng, "abc", 3), 260, *_spelt(rng, "ab", 2), 260], "merges": MERGES},
        "two documents, each with its end",
    )
    yield Case({"ids": [*_spelt(rng, "abc", 3), 195, 97, 255, 257, 195], "merges": MERGES}, "bytes that are no UTF-8")


exercise.mistakes(
    one_by_one=edit(
        'b"".join(pieces[number] for number in ids).decode("utf-8", errors="replace")',
        '"".join(pieces[number].decode("utf-8", errors="replace") for number in ids)',
    )
    | "Each token is decoded on its own. A letter of two bytes may lie in two tokens: join the bytes first, and "
    "decode once." | "“é” is the bytes 195 and 169. What is each of them alone?",
    broken_bytes_dropped=edit('errors="replace"', 'errors="ignore"')
    | "Bytes that are no UTF-8 are dropped. They should become U+FFFD, so that one sees them."
    | "What can `errors=` be in `bytes.decode`?",
    pieces_turned=edit("pieces[one] + pieces[two]", "pieces[two] + pieces[one]")
    | "The two pieces of a merge are joined in the wrong order. The first id's piece should come first.",
    stops_at_the_end=edit("in ids", "in (ids[: ids.index(len(pieces) - 1)] if len(pieces) - 1 in ids else ids)")
    | "The text stops at the first end. The end stands for nothing, and what comes after it is text as well."
    | "A list of ids may hold two documents. What is the text of [97, end, 98]?",
    read_as_latin=edit('.decode("utf-8", errors="replace")', '.decode("latin-1")')
    | "Each byte is read as one letter. The text is UTF-8: “é” is two bytes.",
)

exercise.advice(
    values="The piece of merge k is the piece of its first id, followed by the piece of its second. Build the table "
    "of pieces from the front.",
    edges="end_id is 256 + len(merges) and stands for no byte. A model may write bytes that are no UTF-8: "
    '`errors="replace"`.',
)
exercise.hints(
    values='`bytes([65])` is one byte, `b"".join(…)` many. What is the piece of id 258, if merge 2 is (257, 256)?',
    edges="Which id has no piece in a table of 256 + len(merges) entries?",
)
