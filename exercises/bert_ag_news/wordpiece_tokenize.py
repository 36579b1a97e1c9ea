"""Lab 07, exercise `wordpiece_tokenize`."""

from collections.abc import Sequence

from autograder.declare import Case, Exercise, edit, instead

LETTERS = "abcdefghiklmnoprstuvwz"


def _spelling(rng) -> dict[int, str]:
    """Other letters for a, b, c, …, so that a case is always the same puzzle, spelled differently; 0 gets an accent."""
    chosen = rng.permutation(list(LETTERS))[:12]
    accent = str(rng.choice(list("éüñøā")))
    plain = {ord(old): str(new) for old, new in zip("abcdefghijkl", chosen, strict=True)}
    capitals = {ord(old): str(new).upper() for old, new in zip("ABCDEFGHIJKL", chosen, strict=True)}
    return plain | capitals | {ord("0"): accent}


def _word(rng, word: str, pieces: str, container: str = "list", **more) -> Case:
    table = _spelling(rng)
    vocabulary = [str(piece) for piece in rng.permutation([piece.translate(table) for piece in pieces.split()])]
    word = word.translate(table)
    shown = [f'"{word}"' if len(word) < 20 else f"a word of {len(word)} characters"]
    shown += [f"the {container} of pieces {' '.join(vocabulary)}", *(f"{key}={value!r}" for key, value in more.items())]
    return Case({"word": word, "vocabulary": vocabulary, "container": container, **more}, ", ".join(shown))


exercise = Exercise(
    "wordpiece_tokenize",
    own_probe=True,
    probe_only=("container",),
    forbidden=(
        "tensorflow_text.WordpieceTokenizer",
        "tensorflow_text.FastWordpieceTokenizer",
        "tensorflow_text.BertTokenizer",
        "tensorflow_text.FastBertTokenizer",
    ),
)

Pieces = dict[str, list[str]]


@exercise.formula
def wordpiece_tokenize(word: str, vocabulary: Sequence[str], unknown: str = "[UNK]", max_chars: int = 100) -> Pieces:
    """Greedy longest match first; "##" marks what continues a word (Wu et al. 2016, 4.1; Devlin et al. 2019)."""
    missing = [unknown]
    if len(word) > max_chars:
        return {"pieces": missing}
    pieces: list[str] = []
    start = 0
    for _ in word:  # a piece has a character at least; a loop that ends, whatever is changed in it
        if start >= len(word):
            break
        end = next((end for end in range(len(word), start, -1) if marked(word, start, end) in vocabulary), None)
        if end is None:
            return {"pieces": missing}
        pieces.append(marked(word, start, end))
        start = end
    return {"pieces": pieces}


def marked(word: str, start: int, end: int) -> str:
    """A part of a word as the vocabulary spells it."""
    return ("##" if start else "") + word[start:end]


def covers(word: str, start: int, vocabulary: Sequence[str]) -> list[list[str]]:
    """Every way to cut what begins at `start` into pieces, those with the longest first piece first."""
    if start == len(word):
        return [[]]
    return [
        [marked(word, start, end), *rest]
        for end in range(len(word), start, -1)
        if marked(word, start, end) in vocabulary
        for rest in covers(word, end, vocabulary)
    ]


def first_cover(word: str, vocabulary: Sequence[str], unknown: str = "[UNK]", max_chars: int = 100) -> Pieces:
    """The longest pieces, going back where nothing fits the rest."""
    found = covers(word, 0, vocabulary) if len(word) <= max_chars else []
    return {"pieces": found[0] if found else [unknown]}


def fewest_pieces(word: str, vocabulary: Sequence[str], unknown: str = "[UNK]", max_chars: int = 100) -> Pieces:
    """As few pieces as possible."""
    found = covers(word, 0, vocabulary) if len(word) <= max_chars else []
    return {"pieces": min(found, key=len) if found else [unknown]}


def from_the_end(word: str, vocabulary: Sequence[str], unknown: str = "[UNK]", max_chars: int = 100) -> Pieces:
    """The longest pieces from the end of the word to its beginning."""
    pieces: list[str] = []
    end = len(word) if len(word) <= max_chars else -1
    while end > 0:
        start = next((start for start in range(end) if marked(word, start, end) in vocabulary), -1)
        if start >= 0:
            pieces.insert(0, marked(word, start, end))
        end = start
    return {"pieces": [unknown] if end < 0 or not pieces else pieces}


exercise.group(
    "words that the vocabulary covers",
    points=3,
    values=lambda rng: [
        _word(rng, "abcdefgh", "ab a ##b ##c ##cd ##cde ##d ##e ##f ##g ##h ##fgh ##defgh cde fgh cdef"),
        _word(rng, "abcdeab", "a ab abc ##a ##b ##d ##e ##de ##cdeab", "dict"),
        _word(rng, "abcdef", "abcdef abc ##def a ##b ##c ##d ##e ##f", "set"),
        _word(rng, "Abcd", "Ab ab ##c ##d ##cd"),
    ],
)


@exercise.group("words that it does not cover", points=2)
def unknown(rng):
    stranger = f"<{''.join(str(letter) for letter in rng.permutation(list(LETTERS))[:3])}>"
    yield _word(rng, "abcdef", "ab abc ##cd ##ef ##f", "set")
    yield _word(rng, "abc", "b ##b ##c ##bc bc", unknown=stranger)
    yield _word(rng, "abc", "ab a ##b abcd ##d", "dict")


exercise.group(
    "words of more than max_chars characters",
    long=lambda rng: [
        _word(rng, "abcdef", "abc ##def ##d", max_chars=6),
        _word(rng, "abcdefg", "abc ##def ##g", max_chars=6),
        _word(rng, "a0bc0d", "a0b ##c0d ##c", max_chars=6),
        _word(rng, "ab" * 50, "ab ##ab a"),
        _word(rng, "ab" * 50 + "a", "ab ##ab ##a", "set"),
        _word(rng, "abcdefg", "abc ##defg abcdefg abcde", "dict", max_chars=6),
    ],
)

SHOWN, LOOKED_UP = "pieces.append(marked(word, start, end))", "marked(word, start, end) in vocabulary"
NOTHING_FITS = 'if end is None:\n    return {"pieces": missing}'
TOO_LONG = "len(word) > max_chars"
PLAIN_TOO = (LOOKED_UP, f"{LOOKED_UP} or word[start:end] in vocabulary")

exercise.mistakes(
    shortest_first=edit("range(len(word), start, -1)", "range(start + 1, len(word) + 1)")
    | "The shortest piece is taken. Take the longest one that fits.",
    any_cover=instead(first_cover)
    | "You go back and try a shorter piece when nothing fits the rest. WordPiece is greedy: it never goes back, and "
    "such a word is unknown.",
    fewest_pieces=instead(fewest_pieces)
    | "These are the fewest pieces, not the greedy ones: the longest first piece may cost pieces later.",
    from_the_end=instead(from_the_end)
    | "You begin at the end of the word. Look for the longest piece at the beginning of the word.",
    last_character_never=edit("range(len(word), start, -1)", "range(len(word) - 1, start, -1)")
    | "No piece ever reaches the end of the word: which is the last index behind `end` that is tried?",
    single_characters_never=edit("range(len(word), start, -1)", "range(len(word), start + 1, -1)")
    | "A piece of a single character is never found: does the inner loop stop one step too early?",
    never_cut=edit("range(len(word), start, -1)", "range(len(word), len(word) - 1, -1)")
    | "A word is found as a whole or not at all. If it is not in the vocabulary, look for the longest piece at its "
    "beginning, then for the next.",
    marks_left_out=edit(SHOWN, "pieces.append(word[start:end])")
    | 'The pieces are right, but their "##" is gone: it is part of the piece, with an id of its own.',
    marks_not_looked_for=edit('("##" if start else "") + word[start:end]', "word[start:end]")
    | 'A piece that continues a word is looked up without "##". `able` and `##able` are two pieces.',
    marks_added_only=edit(LOOKED_UP, "word[start:end] in vocabulary")
    | 'A piece that continues a word is looked up without "##", and "##" is added afterwards. Look up exactly the '
    "piece that you return.",
    marks_everywhere=edit('("##" if start else "")', '"##"')
    | 'The first piece is looked up with "##", too. Only pieces that continue a word have it.',
    plain_pieces_inside=edit(PLAIN_TOO)
    | edit(
        SHOWN, "pieces.append(marked(word, start, end) if marked(word, start, end) in vocabulary else word[start:end])"
    )
    | 'Inside a word a piece without "##" is taken as well. Such a piece may only begin a word.',
    rest_unknown=edit(NOTHING_FITS, 'if end is None:\n    return {"pieces": [*pieces, *missing]}')
    | "Pieces are kept in front of the unknown rest. If any part of a word has no piece, the whole word should become "
    "unknown.",
    character_unknown=edit(NOTHING_FITS, "if end is None:\n    pieces += missing\n    start += 1\n    continue")
    | "A character without a piece becomes unknown, and you go on. The whole word should become unknown, once.",
    rest_dropped=edit(NOTHING_FITS, 'if end is None:\n    return {"pieces": pieces}')
    | "Where no piece fits, you stop and return the pieces so far. The whole word should become unknown.",
    character_skipped=edit(NOTHING_FITS, "if end is None:\n    start += 1\n    continue")
    | "A character without a piece is left out, as if it were not there. The whole word should become unknown.",
    nothing_for_unknown=edit(NOTHING_FITS, 'if end is None:\n    return {"pieces": []}')
    | "A word that no pieces can cover gives an empty list. It should become unknown.",
    unknown_fixed=edit("[unknown]", '["[UNK]"]') | 'The result is "[UNK]" whatever the argument `unknown` says.',
    limit_one_too_early=edit(TOO_LONG, "len(word) >= max_chars")
    | "A word of exactly max_chars characters is unknown. Only longer ones should be.",
    limit_ignored=edit(TOO_LONG, "False")
    | "Words of more than max_chars characters are cut into pieces, too. They should become unknown.",
    whole_word_first=edit(TOO_LONG, "len(word) > max_chars and word not in vocabulary")
    | "A word of more than max_chars characters is returned as it is where the vocabulary holds it. It should become "
    "unknown, too." | "Which of your two tests comes first, and which should?",
    limit_fixed=edit(TOO_LONG, "len(word) > 100") | "The limit is 100 characters whatever `max_chars` says.",
    limit_in_bytes=edit(TOO_LONG, "len(word.encode()) > max_chars")
    | "max_chars counts characters; you count bytes, of which an é has two.",
    long_word_cut=edit('if len(word) > max_chars:\n    return {"pieces": missing}', "word = word[:max_chars]")
    | "A word that is too long loses its end. It should become unknown instead.",
    lowercased=edit("missing = [unknown]", "missing = [unknown]\nword = word.lower()")
    | "The word is turned into lower case. Here `Ab` and `ab` are two pieces.",
)

exercise.advice(
    values="At each place take the longest piece that the vocabulary has, and continue behind it.",
    unknown="Where no piece fits, the whole word becomes `[unknown]`: one entry, whatever was found before.",
    long="A word of exactly max_chars characters is still cut into pieces. Count characters, not bytes.",
)
exercise.hints(
    values=(
        "Two loops: the outer one moves the start, the inner one tries ends from the end of the word towards the "
        "start.",
        'Look up `word[start:end]`, with "##" in front when start is not 0.',
    ),
    unknown="When the inner loop finds nothing, there is nothing left to decide: return at once.",
    long="One comparison at the very beginning is enough.",
)
