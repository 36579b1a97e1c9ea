"""Lab 06, exercise `vectorize`."""

from collections.abc import Sequence

import numpy as np

from autograder.declare import Case, Exercise, edit, seen
from exercises.drawing import one_of
from exercises.imdb_classifier.shared import WORDS, pick


def _ids_case(rng, lengths: Sequence[int], max_length: int, known: int = 8) -> Case:
    """Texts of the given lengths, in words; about a third of the words are not in the vocabulary."""
    words = pick(rng, WORDS, known + 5)
    vocabulary = ["", "[UNK]", *words[:known]]
    texts = [" ".join(str(word) for word in rng.choice(words, size=length)) for length in lengths]
    if known:  # in every text that has room, a stranger first, a known word last
        texts = [
            " ".join([words[-1], *text.split()[1:-1], one_of(rng, *words[:known])]) if " " in text else text
            for text in texts
        ]
    return Case(
        {"texts": texts, "vocabulary": vocabulary, "max_length": max_length},
        f"texts of {', '.join(map(str, lengths))} words, {len(vocabulary)} entries, max_length={max_length}",
    )


def _ids(*sizes: tuple[Sequence[int], int], known: int = 8):
    return lambda rng: [_ids_case(rng, lengths, max_length, known) for lengths, max_length in sizes]


exercise = Exercise("vectorize", own_probe=True)


@exercise.formula
def vectorize(texts: Sequence[str], vocabulary: Sequence[str], max_length: int) -> dict[str, np.ndarray | str]:
    """The place of each word in the vocabulary, 1 for others; cut and filled up with 0 at the end. (n, max_length)."""
    places = {word: place for place, word in enumerate(vocabulary) if place > 1}
    rows = [[places.get(word, 1) for word in text.split()][:max_length] for text in texts]
    ids = np.zeros((len(texts), max_length), int)
    for line, row in zip(ids, rows, strict=True):
        line[: len(row)] = row
    return {"ids": ids, "kind": "whole numbers"}


exercise.group("right ids, unknown words and padding among them", points=2, values=_ids(((3, 7, 5), 7), ((11, 2), 13)))
exercise.group(
    "long texts are cut, short ones filled up, at the end", points=2, cut=_ids(((9, 17, 4), 7), ((5, 23), 11))
)
exercise.group("texts with nothing in them", empty=_ids(((0, 4, 0), 5)))
exercise.group(
    "one place for each text, and a vocabulary without words",
    small=lambda rng: [*_ids(((3, 1, 1, 2, 1), 1))(rng), *_ids(((3, 5), 7), known=0)(rng)],
)
IN_FRONT = ("line[: len(row)] = row", "line[len(line) - len(row) :] = row")
FIRST_LOST = ("[:max_length]", "[-max_length:]")
TABLE = "np.zeros((len(texts), max_length), int)"

exercise.mistakes(
    padded_in_front=edit(IN_FRONT)
    | "The padding is in front: the first word of a short text then gets a late position. It belongs behind the words.",
    cut_in_front=edit(FIRST_LOST) | "Long texts lose their beginning. They keep their first words.",
    pad_sequences_defaults=edit(IN_FRONT, FIRST_LOST)
    | "Padding and cutting happen in front, the defaults of `pad_sequences`: the first word of a short text then gets "
    "a late position, and a long text loses its beginning. Both belong at the end.",
    cut_at_characters=edit("text.split()", "text[:max_length].split()")
    | "max_length counts words here, not characters: split first, then cut.",
    unknown_dropped=edit(".get(word, 1) for word in text.split()", "[word] for word in text.split() if word in places")
    | "Unknown words are left out; they should get the id 1.",
    unknown_is_padding=edit("places.get(word, 1)", "places.get(word, 0)")
    | "Unknown words get the id of padding, 0. A model would overlook that a word stood there.",
    unknown_after_the_last=edit("places.get(word, 1)", "places.get(word, len(vocabulary))")
    | "Unknown words get an id beyond the vocabulary, for which an embedding has no row. They should get 1.",
    ids_from_one=edit("word: place for", "word: place + 1 for")
    | "All ids are one too large. An id is the word's place, counted from 0.",
    specials_counted_twice=edit("word: place for", "word: place + 2 for")
    | "All ids are two too large: the vocabulary holds the two special entries already.",
    padded_with_unknown=edit(TABLE, "np.ones((len(texts), max_length), int)")
    | "The padding is 1, the id of unknown words. Padding should be 0.",
    empty_word_is_unknown=edit("text.split()", 'text.split(" ")')
    | 'An empty text gets an unknown word: `"".split(" ")` is a list with one empty word in it.',
    width_of_the_longest=edit(TABLE, "np.zeros((len(texts), max(map(len, rows))), int)")
    | "The rows are as wide as the longest text. They should have max_length places, whatever the texts are.",
    ids_are_floats=seen({"kind": "float64"})
    | 'Ids are whole numbers; `np.zeros` makes floats unless you give `dtype="int32"`.',
)

exercise.advice(cut="A text longer than max_length keeps its first words; a shorter one gets zeros behind its last.")
exercise.hints(
    values=(
        "A dictionary from word to place is made once; `vocabulary.index(word)` searches the whole list every time.",
        "`dictionary.get(word, 1)` returns the right id for unknown words.",
        "Start with an array of zeros (n, max_length) of whole numbers, and write each row's ids into its beginning.",
    ),
    cut="Which end of a long text stays, and on which side are the zeros of a short one?",
    empty="A text without words is a row of zeros, and no texts are an array of shape (0, max_length).",
    small="A vocabulary of two entries knows no word. Which id does every word then get?",
)
