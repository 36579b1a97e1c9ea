"""Lab 10, exercise `bpe_encode`."""

from functools import partial
from itertools import pairwise

from autograder.declare import Case, Exercise, edit, instead
from exercises.drawing import drawn_until
from exercises.language_model.shared import FORBIDDEN_BYTE_PAIRS, drawn_chunks, joined, learned

exercise = Exercise("bpe_encode", own_probe=True, forbidden=FORBIDDEN_BYTE_PAIRS)


@exercise.formula
def bpe_encode(chunk: str, merges: list[list[int]]) -> dict[str, str]:
    """The ids of a chunk as text: every merge in the order in which it was learned."""
    ids = list(chunk.encode())
    for rank, pair in enumerate(merges):
        ids = joined(ids, (pair[0], pair[1]), 256 + rank)
    return {"ids": str(ids)}


@exercise.formula_for("again")
def encoded_again(chunk: str, merges: list[list[int]], other_merges: list[list[int]]) -> dict[str, str]:
    """The ids of a chunk that was encoded with other merges before."""
    return bpe_encode(chunk, merges)


def longest_pieces(chunk: str, merges: list[list[int]]) -> dict[str, str]:
    """From left to right the longest token that fits."""
    pieces = [bytes([byte]) for byte in range(256)]
    for one, two in merges:
        pieces.append(pieces[one] + pieces[two])
    rest, ids = chunk.encode(), []
    while rest:
        ids.append(
            max(
                (number for number, piece in enumerate(pieces) if rest.startswith(piece)),
                key=lambda number: len(pieces[number]),
            )
        )
        rest = rest[len(pieces[ids[-1]]) :]
    return {"ids": str(ids)}


def from_the_left(chunk: str, merges: list[list[int]]) -> dict[str, str]:
    """The first pair from the left that has a merge, again and again."""
    ranks = {tuple(pair): rank for rank, pair in enumerate(merges)}
    ids = list(chunk.encode())
    while places := [place for place, pair in enumerate(pairwise(ids)) if pair in ranks]:
        ids[places[0] : places[0] + 2] = [256 + ranks[ids[places[0]], ids[places[0] + 1]]]
    return {"ids": str(ids)}


def replaced_once(chunk: str, merges: list[list[int]]) -> dict[str, str]:
    """Every merge in its order, at the first occurrence of its pair."""
    ids = list(chunk.encode())
    for rank, pair in enumerate(merges):
        places = [place for place, both in enumerate(pairwise(ids)) if both == tuple(pair)]
        for place in places[:1]:
            ids[place : place + 2] = [256 + rank]
    return {"ids": str(ids)}


def _inputs(rng, letters: str, size: int, count: int = 8) -> dict:
    """A chunk of these letters, and merges that were learned from others."""
    merges = learned(drawn_chunks(rng, letters, count), 9)
    return {
        "chunk": "".join(letters[int(place)] for place in rng.integers(len(letters), size=size)),
        "merges": [list(pair) for pair in merges],
    }


def _orders(inputs: dict) -> int:
    """How many different results the three orders of merging give."""
    return len({merged(**inputs)["ids"] for merged in (bpe_encode, longest_pieces, from_the_left)})


@exercise.group("the earliest merge first", must_fail_for=("longest_piece", "first_from_the_left"))
def order(rng):
    return [
        Case(
            drawn_until(lambda inputs: _orders(inputs) == 3, partial(_inputs, rng, "abc", size)),
            f"a chunk of {size} letters, nine merges",
        )
        for size in (15, 19)
    ]


@exercise.group("bytes, runs, and chunks without a merge", must_fail_for=("characters",))
def edges(rng):
    number = int(rng.integers(97, 110))
    run = 2 * chr(number) + chr(number + 1)
    yield Case(
        drawn_until(lambda inputs: _orders(inputs) == 1, partial(_inputs, rng, "aéö", 9, 5)), "letters of two bytes"
    )
    yield Case({"chunk": chr(number) * 5 + "z", "merges": [[number, number], [256, 256]]}, "a run of five")
    yield Case({"chunk": chr(number) + "z", "merges": [[number, 122]]}, "two letters, one merge")
    yield Case({"chunk": "xy", "merges": [[97, 98]]}, "no merge fits")
    yield Case(
        {"chunk": run, "merges": [[number, number + 1]], "other_merges": [[number, number]]},
        "the same chunk with other merges, and then with these",
        mode="again",
    )


exercise.mistakes(
    longest_piece=instead(longest_pieces, see="10#byte-pairs")
    | "From the left the longest token is taken. Byte pairs should be merged in the order in which they were learned."
    | "With the merges (b, c), (a, b): what becomes of “abc”?",
    first_from_the_left=instead(from_the_left)
    | "The first pair from the left is merged, whatever its rank. The pair that was learned first should come first."
    | "A dictionary pair -> rank, and `min` over the pairs of the chunk.",
    characters=edit("list(chunk.encode())", "[ord(letter) for letter in chunk]", see="10#byte-pairs")
    | "The chunk is read as characters. Begin with its bytes: `chunk.encode()`.",
    last_merge_first=edit("enumerate(merges)", "list(enumerate(merges))[::-1]")
    | "The merges are applied from the last to the first. A token of tokens needs its parts first."
    | "Which merge has to come before (256, 99)?",
    first_occurrence=instead(replaced_once)
    | "Each merge replaces its pair only once. It should replace every occurrence in the chunk.",
    ids_from_0=edit("256 + rank", "rank")
    | "The new ids begin at 0, and those are bytes already. Merge number 0 should make the id 256.",
    ids_from_257=edit("256 + rank", "257 + rank") | "The new ids begin at 257. Merge number 0 should make the id 256.",
    end_added=edit('"ids": str(ids)', '"ids": str([*ids, 256 + len(merges)])')
    | "An end stands behind the ids. A chunk is only a piece of a document.",
)

exercise.advice(
    order="Take the merges in the order in which they were learned. Merge k replaces its pair by the id 256 + k, "
    "wherever the pair stands.",
    edges="A letter outside ASCII is several bytes. The new token of merge k is 256 + k. A chunk without any pair "
    "keeps its bytes.",
)
exercise.hints(
    order=(
        "Lowest rank first: which pair of the chunk stands earliest in `merges`?",
        "To apply all merges in their order, one after the other, gives the same result.",
    ),
    edges="Print the ids of “é” before any merge: how many are there?",
)
