"""Lab 06, exercise `vectorize`."""

from collections.abc import Sequence

import numpy as np

from autograder.declaring import Case, Exercise, wrong
from coursekit.generator import Generator
from exercises.drawing import one_of
from exercises.imdb_classifier.shared import WORDS, pick


def _ids_case(rng: Generator, lengths: Sequence[int], max_length: int, known: int = 8) -> Case:
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
        description=f"texts of {', '.join(map(str, lengths))} words, {len(vocabulary)} entries, "
        f"max_length={max_length}",
    )


def _ids(*sizes: tuple[Sequence[int], int], known: int = 8):
    return lambda rng: [_ids_case(rng, lengths, max_length, known) for lengths, max_length in sizes]


exercise = Exercise("vectorize")


@exercise.formula
def vectorize(texts: Sequence[str], vocabulary: Sequence[str], max_length: int) -> dict[str, np.ndarray | str]:
    """The place of each word in the vocabulary, 1 for others; cut and filled up with 0 at the end. (n, max_length)."""
    places = {word: place for place, word in enumerate(vocabulary) if place > 1}
    rows = [[places.get(word, 1) for word in text.split()][:max_length] for text in texts]
    ids = np.zeros((len(texts), max_length), int)
    for line, row in zip(ids, rows, strict=True):
        line[: len(row)] = row
    return {"ids": ids, "kind": "whole numbers"}


@exercise.group("right ids, unknown words and padding among them", points=2)
def values(rng: Generator) -> list[Case]:
    return _ids(((3, 7, 5), 7), ((11, 2), 13))(rng)


@exercise.group(
    "long texts are cut, short ones filled up, at the end",
    points=2,
    advice="A text longer than max_length keeps its first words; a shorter one gets zeros behind its last.",
)
def cut(rng: Generator) -> list[Case]:
    return _ids(((9, 17, 4), 7), ((5, 23), 11))(rng)


@exercise.group("texts with nothing in them", points=1)
def empty(rng: Generator) -> list[Case]:
    return _ids(((0, 4, 0), 5))(rng)


@exercise.group("one place for each text, and a vocabulary without words", points=1)
def small(rng: Generator) -> list[Case]:
    return [*_ids(((3, 1, 1, 2, 1), 1))(rng), *_ids(((3, 5), 7), known=0)(rng)]


IN_FRONT = ("line[: len(row)] = row", "line[len(line) - len(row) :] = row")
FIRST_LOST = ("[:max_length]", "[-max_length:]")
TABLE = "np.zeros((len(texts), max_length), int)"

exercise.mistakes(
    padded_in_front=wrong(
        "The padding is in front: the first word of a short text then gets a late position. It belongs "
        "behind the words.",
        IN_FRONT,
    ),
    cut_in_front=wrong("Long texts lose their beginning. They keep their first words.", FIRST_LOST),
    pad_sequences_defaults=wrong(
        "Padding and cutting happen in front, the defaults of `pad_sequences`: the first word of a short "
        "text then gets a"
        " late position, and a long text loses its beginning. Both belong at the end.",
        IN_FRONT,
        FIRST_LOST,
    ),
    cut_at_characters=wrong(
        "max_length counts words here, not characters: split first, then cut.",
        ("text.split()", "text[:max_length].split()"),
    ),
    unknown_dropped=wrong(
        "Unknown words are left out; they should get the id 1.",
        ("places.get(word, 1) for word in text.split()", "places[word] for word in text.split() if word in places"),
    ),
    unknown_is_padding=wrong(
        "Unknown words get the id of padding, 0. A model would overlook that a word stood there.",
        ("places.get(word, 1)", "places.get(word, 0)"),
    ),
    unknown_after_the_last=wrong(
        "Unknown words get an id beyond the vocabulary, for which an embedding has no row. They should get 1.",
        ("places.get(word, 1)", "places.get(word, len(vocabulary))"),
    ),
    ids_from_one=wrong(
        "All ids are one too large. An id is the word's place, counted from 0.",
        ("word: place for", "word: place + 1 for"),
    ),
    specials_counted_twice=wrong(
        "All ids are two too large: the vocabulary holds the two special entries already.",
        ("word: place for", "word: place + 2 for"),
    ),
    padded_with_unknown=wrong(
        "The padding is 1, the id of unknown words. Padding should be 0.",
        (TABLE, "np.ones((len(texts), max_length), int)"),
    ),
    empty_word_is_unknown=wrong(
        'An empty text gets an unknown word: `"".split(" ")` is a list with one empty word in it.',
        ("text.split()", 'text.split(" ")'),
    ),
    width_of_the_longest=wrong(
        "The rows are as wide as the longest text. They should have max_length places, whatever the texts are.",
        (TABLE, "np.zeros((len(texts), max(map(len, rows))), int)"),
    ),
    ids_are_floats=wrong(
        'Ids are whole numbers; `np.zeros` makes floats unless you give `dtype="int32"`.', seen={"kind": "float64"}
    ),
)


exercise.hints(
    "A dictionary from word to place is made once; `vocabulary.index(word)` searches the whole list every time.",
    "`dictionary.get(word, 1)` returns the right id for unknown words.",
    "Start with an array of zeros (n, max_length) of whole numbers, and write each row's ids into its beginning.",
)
exercise.hints("Which end of a long text stays, and on which side are the zeros of a short one?", group="cut")
exercise.hints(
    "A text without words is a row of zeros, and no texts are an array of shape (0, max_length).", group="empty"
)
exercise.hints("A vocabulary of two entries knows no word. Which id does every word then get?", group="small")
