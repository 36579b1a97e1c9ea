"""Lab 07, fine-tuning BERT on news: the exercises, their cases and the mistakes that are named."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from autograder.exercise import Case, Exercise, Group, Misconception
from autograder.exercises.drawing import normal
from autograder.oracles import bert_ag_news as oracles

# ---- word pieces ----

LETTERS = "abcdefghiklmnoprstuvwz"


def _spelling(rng: np.random.Generator) -> dict[int, str]:
    """Other letters for a, b, c, …, so that a case is always the same puzzle, spelled differently; 0 gets an accent."""
    chosen = rng.permutation(list(LETTERS))[:12]
    accent = str(rng.choice(list("éüñøā")))
    plain = {ord(old): str(new) for old, new in zip("abcdefghijkl", chosen, strict=True)}
    capitals = {ord(old): str(new).upper() for old, new in zip("ABCDEFGHIJKL", chosen, strict=True)}
    return plain | capitals | {ord("0"): accent}


def _word(rng: np.random.Generator, word: str, pieces: str, container: str = "list", **more) -> Case:
    table = _spelling(rng)
    vocabulary = [str(each) for each in rng.permutation([piece.translate(table) for piece in pieces.split()])]
    word = word.translate(table)
    shown = [f'"{word}"' if len(word) < 20 else f"a word of {len(word)} characters"]
    shown += [f"the {container} of pieces {' '.join(vocabulary)}", *(f"{key}={value!r}" for key, value in more.items())]
    return Case({"word": word, "vocabulary": vocabulary, "container": container, **more}, how=", ".join(shown))


def _words_covered(rng: np.random.Generator) -> list[Case]:
    return [
        _word(rng, "abcdefgh", "ab a ##b ##c ##cd ##cde ##d ##e ##f ##g ##h ##fgh ##defgh cde fgh cdef"),
        _word(rng, "abcdeab", "a ab abc ##a ##b ##d ##e ##de ##cdeab", "dict"),
        _word(rng, "abcdef", "abcdef abc ##def a ##b ##c ##d ##e ##f", "set"),
        _word(rng, "Abcd", "Ab ab ##c ##d ##cd"),
    ]


def _words_unknown(rng: np.random.Generator) -> list[Case]:
    return [
        _word(rng, "abcdef", "ab abc ##cd ##ef ##f", "set"),
        _word(rng, "abc", "b ##b ##c ##bc bc", unknown="<oov>"),
        _word(rng, "abc", "ab a ##b abcd ##d", "dict"),
    ]


def _words_long(rng: np.random.Generator) -> list[Case]:
    return [
        _word(rng, "abcdef", "abc ##def ##d", max_chars=6),
        _word(rng, "abcdefg", "abc ##def ##g", max_chars=6),
        _word(rng, "a0bc0d", "a0b ##c0d ##c", max_chars=6),
        _word(rng, "ab" * 50, "ab ##ab a"),
        _word(rng, "ab" * 50 + "a", "ab ##ab ##a", "set"),
    ]


# ---- packing ----


def _packed(rng: np.random.Generator, a: int, b: int | None, max_length: int, pad_id: int | None = None) -> Case:
    """Segments of so many ids, all different from one another and from the special ones."""
    drawn = [int(each) for each in rng.choice(np.arange(5, 30_000), size=a + (b or 0) + 3, replace=False)]
    cls_id, sep_id, pad, *ids = drawn
    inputs = {"a": ids[:a], **({} if b is None else {"b": ids[a:]}), "max_length": max_length}
    inputs |= {"cls_id": cls_id, "sep_id": sep_id} | ({} if pad_id is None else {"pad_id": pad})
    shown = f"a of {a} ids, " + ("" if b is None else f"b of {b}, ") + f"max_length={max_length}"
    return Case(inputs, how=shown if pad_id is None else f"{shown}, pad_id={pad}")


def _packing(*sizes: tuple):
    return lambda rng: [_packed(rng, *each) for each in sizes]


# ---- masking ----

LARGE = {"vocab_size": 1009, "special_ids": [0, 1, 2, 3], "mask_id": 4, "words": list(range(7, 900, 3)), "unused": [8]}
SMALL = {"vocab_size": 8, "special_ids": [0, 2, 3], "mask_id": 4, "words": [5, 6], "unused": [1, 7]}


def _texts(
    rng: np.random.Generator, mode: str, *, how: str, vocabulary: dict, calls: int, rows: int, columns: int, **more
) -> Case:
    """Texts that the probe draws: in each row four fifths are words, the rest special ids."""
    sizes = {"calls": calls, "rows": rows, "columns": columns, "dtype": "int64", "seed": int(rng.integers(1 << 40))}
    return Case({**vocabulary, **sizes, **more}, mode=mode, how=how)


def _masked_labels(rng: np.random.Generator) -> list[Case]:
    one = {"vocabulary": LARGE, "calls": 1}
    return [
        _texts(rng, "labels", how="ids (53, 61)", **one, rows=53, columns=61),
        _texts(rng, "labels", how="ids (997,), rate=0.4", **one, rows=0, columns=997, rate=0.4),
    ]


def _masked_shares(rng: np.random.Generator) -> list[Case]:
    big = {"vocabulary": LARGE, "calls": 1, "rows": 211, "columns": 241}
    return [
        _texts(rng, "share", how="how many of 40,723 words are chosen by default", **big),
        _texts(rng, "share", how="how many of 40,723 words are chosen with rate=0.4", rate=0.4, **big),
    ]


def _masked_kinds(rng: np.random.Generator) -> list[Case]:
    how = "what becomes of the words that are chosen, 40 texts (17, 61) with rate=0.5"
    return [_texts(rng, "kinds", how=how, vocabulary=LARGE, calls=40, rows=17, columns=61, rate=0.5)]


def _masked_random(rng: np.random.Generator) -> list[Case]:
    how = "which ids replace words, vocabulary of 8, special_ids [0, 2, 3], mask_id 4, four texts (101, 131)"
    return [_texts(rng, "random", how=how, vocabulary=SMALL, calls=4, rows=101, columns=131, rate=0.8)]


def _masked_independent(rng: np.random.Generator) -> list[Case]:
    rows = {"vocabulary": LARGE, "calls": 1, "rows": 300, "columns": 63}
    calls = {"vocabulary": LARGE, "calls": 150, "rows": 0, "columns": 63}
    short = {"vocabulary": LARGE, "calls": 150, "rows": 0, "columns": 7}
    again = {"vocabulary": LARGE, "calls": 1, "rows": 11, "columns": 61}
    return [
        _texts(rng, "independent", how="which words of a text (300, 63) are chosen", **rows),
        _texts(rng, "independent", how="how many words of 150 texts (63,) are chosen", **calls),
        _texts(rng, "independent", how="how many words of 150 texts (7,) are chosen", **short),
        _texts(rng, "numbers", how="the same ids again, with the same rng and with others", **again),
    ]


# ---- the schedule ----


def _rates(*steps: tuple[float, float], warmup: tuple[int, int] = (11, 20), whole: bool = True):
    """Steps at these places: from 0 to 1 in the climb, from 1 to 2 in the descent, above 2 beyond the end."""

    def draw(rng: np.random.Generator) -> list[Case]:
        cases = []
        for low, high in steps:
            first = int(rng.integers(*warmup))
            total = first + int(rng.integers(60, 90))
            place = float(rng.uniform(low, high))
            step = place * first if place < 1 else first + (place - 1) * (total - first)
            step = round(step) if whole else math.floor(step) + 0.5
            peak = round(float(rng.uniform(1.5, 4)), 2)
            cases.append(Case({"step": step, "peak": peak, "warmup_steps": first, "total_steps": total}))
        return cases

    return draw


def _rate_ends(rng: np.random.Generator) -> list[Case]:
    cases = []
    for place in ("start", "top", "end", "beyond"):
        first = int(rng.integers(11, 20))
        total = first + int(rng.integers(60, 90))
        step = {"start": 0, "top": first, "end": total, "beyond": total + int(rng.integers(7, 30))}[place]
        inputs = {"step": step, "peak": round(float(rng.uniform(1.5, 4)), 2)}
        cases.append(Case({**inputs, "warmup_steps": first, "total_steps": total}))
    return cases


# ---- the classifier ----

SENTENCES = (
    "Bees find home", "Rain stops play", "Shares fall", "A comet", "Vote delayed", "Goal!", "New chip", "Oil", "Ülkü wins",
    "Peace talks go on", "Robots pick plums", "x",
)  # fmt: skip
FIRST = {"width": 6, "num_classes": 4}
SECOND = {"width": 6, "num_classes": 7, "dropout": 0.5, "trainable": False}
FIRST_SHOWN = "build_news_classifier(preprocess_handle, encoder_handle)"
SECOND_SHOWN = "build_news_classifier(…, num_classes=7, dropout=0.5, trainable=False)"


def _news(rng: np.random.Generator, mode: str, sizes: dict, how: str) -> Case:
    width, classes = sizes["width"], sizes["num_classes"]
    weights = {
        "table": normal(rng, 19, width),
        "pooler": normal(rng, width, width),
        "w1": normal(rng, width, 16),
        "b1": normal(rng, 16),
        "w2": 0.3 * normal(rng, 16, classes),
        "b2": normal(rng, classes),
    }
    texts = [str(each) for each in rng.permutation(SENTENCES)[:5]]
    shown = FIRST_SHOWN if sizes is FIRST else SECOND_SHOWN
    return Case({**sizes, "texts": texts, **weights}, mode=mode, how=f"{how} of {shown}")


def _both_news(mode: str, how: str):
    return lambda rng: [_news(rng, mode, sizes, how) for sizes in (FIRST, SECOND)]


def _one_news(mode: str, sizes: dict, how: str):
    return lambda rng: [_news(rng, mode, sizes, how)]


# ---- class names ----

TOPICS = ("World", "Sports", "Business", "Sci/Tech")
OTHERS = ("art", "cooking", "gardens", "law", "maths", "music", "travel")


def _named(rng: np.random.Generator, names: Sequence[str], count: int) -> Case:
    """Texts of which each class but one has some, and two of which no class gets more than one half."""
    classes = len(names)
    first = rng.permutation(classes)
    top = np.array([first[0], first[1], first[1], first[2], first[0], *first[1 : max(2, classes - 1)]])[:count]
    rows = rng.uniform(0.05, 0.1, size=(len(top), classes))
    rows[np.arange(len(top)), top] = rng.uniform(2, 3, size=len(top))
    second = (top + 1 + rng.integers(classes - 1, size=len(top))) % classes
    for row in (0, 1):  # of two different classes, so that one of them is not the first
        rows[row, top[row]] = 0.45
        rows[row, second[row]] = 0.4
    rows /= rows.sum(axis=1, keepdims=True)
    for row in (0, 1):
        rows[row] = 0.9 * rows[row] + 0.1 / classes
    texts = [f"{sentence} {number}" for number, sentence in enumerate(rng.permutation(SENTENCES)[: len(top)])]
    inputs = {
        "texts": [str(each) for each in texts],
        "probabilities": rows.astype("float32"),
        "class_names": list(names),
    }
    return Case(inputs, how=f"{len(texts)} texts, {classes} classes")


def _names_of(rng: np.random.Generator) -> list[Case]:
    names = [str(each) for each in rng.permutation(OTHERS)]
    return [_named(rng, TOPICS, 6), _named(rng, names, 11)]


def _names_of_one(rng: np.random.Generator) -> list[Case]:
    case = _named(rng, TOPICS, 6)
    places = {"texts": case.inputs["texts"][:1], "probabilities": case.inputs["probabilities"][:1]}
    return [Case({**case.inputs, **places}, how="a single text, 4 classes")]


def _names_of_none(rng: np.random.Generator) -> list[Case]:
    nothing = {"texts": [], "probabilities": np.zeros((0, 4), "float32"), "class_names": list(TOPICS)}
    return [Case(nothing, how="an empty list of texts")]


def _answer(entry: str):
    return lambda rng: [Case({"entry": entry}, how=f'answers["{entry}"]')]


EXERCISES = (
    Exercise(
        name="wordpiece_tokenize",
        oracle=oracles.wordpiece_tokenize,
        forbidden=(
            "tensorflow_text.WordpieceTokenizer",
            "tensorflow_text.FastWordpieceTokenizer",
            "tensorflow_text.BertTokenizer",
            "tensorflow_text.FastBertTokenizer",
        ),
        groups=(
            Group(
                "values",
                "words that the vocabulary covers",
                3,
                _words_covered,
                advice="At each place take the longest piece that the vocabulary has, and go on behind it.",
            ),
            Group(
                "unknown",
                "words that it does not cover",
                2,
                _words_unknown,
                advice="Where no piece fits, the whole word becomes `[unknown]`: one entry, whatever was found before.",
            ),
            Group(
                "long",
                "words of more than max_chars characters",
                1,
                _words_long,
                advice="A word of exactly max_chars characters is still cut into pieces. Count characters, not bytes.",
            ),
        ),
        misconceptions=(
            Misconception(
                "shortest_first",
                {"search": "shortest first"},
                "The shortest piece is taken. The longest one that fits comes first.",
            ),
            Misconception(
                "any_cover",
                {"search": "any cover"},
                "You go back and try a shorter piece where the rest has none. WordPiece is greedy: it never goes back, and "
                "such a word is unknown.",
            ),
            Misconception(
                "fewest_pieces",
                {"search": "fewest pieces"},
                "These are the fewest pieces, not the greedy ones: the longest first piece may cost pieces later.",
            ),
            Misconception(
                "from_the_end",
                {"search": "from the end"},
                "You begin at the end of the word. The longest piece is looked for at its beginning.",
            ),
            Misconception(
                "last_character_never",
                {"search": "last character never"},
                "No piece ever reaches the end of the word: which is the last index behind `end` that is tried?",
            ),
            Misconception(
                "single_characters_never",
                {"search": "single characters never"},
                "A piece of a single character is never found: does the inner loop stop one too early?",
            ),
            Misconception(
                "never_cut",
                {"search": "never cut"},
                "A word is found as a whole or not at all. Where it is not, the longest piece at its beginning is looked for, "
                "then the next.",
            ),
            Misconception(
                "marks_left_out",
                {"prefix": "left out of the result"},
                'The pieces are right, but their "##" is gone: it is part of the piece, with an id of its own.',
            ),
            Misconception(
                "marks_not_looked_for",
                {"prefix": "not looked for"},
                'What continues a word is looked up without "##". `able` and `##able` are two pieces.',
            ),
            Misconception(
                "marks_added_only",
                {"prefix": "added to the result"},
                'What continues a word is looked up without "##", which is put in front afterwards. Look up what you return.',
            ),
            Misconception(
                "marks_everywhere",
                {"prefix": "everywhere"},
                'The first piece is looked up with "##", too. Only what continues a word has it.',
            ),
            Misconception(
                "plain_pieces_inside",
                {"prefix": "either"},
                'Inside a word a piece without "##" is taken as well. That one may only begin a word.',
            ),
            Misconception(
                "rest_unknown",
                {"failure": "the rest"},
                "Pieces are kept in front of the unknown rest. If any part of a word has no piece, the whole word is unknown.",
            ),
            Misconception(
                "character_unknown",
                {"failure": "a character"},
                "A character without a piece becomes unknown, and you go on. The whole word becomes unknown, once.",
            ),
            Misconception(
                "rest_dropped",
                {"failure": "stops"},
                "Where no piece fits you stop, and return what you have. The whole word becomes unknown.",
            ),
            Misconception(
                "character_skipped",
                {"failure": "skipped"},
                "A character without a piece is left out, as if it were not there. The whole word becomes unknown.",
            ),
            Misconception("nothing_for_unknown", {"failure": "nothing"}, "A word without a cover gives an empty list."),
            Misconception(
                "unknown_fixed",
                {"own_unknown": False},
                'The result is "[UNK]" whatever the argument `unknown` says.',
            ),
            Misconception(
                "limit_one_too_early",
                {"limit": "one too early"},
                "A word of exactly max_chars characters is unknown. Only longer ones are.",
            ),
            Misconception(
                "limit_ignored",
                {"limit": "none"},
                "Words of more than max_chars characters are cut into pieces, too. They are unknown.",
            ),
            Misconception(
                "limit_fixed", {"limit": "default"}, "The limit is 100 characters whatever `max_chars` says."
            ),
            Misconception(
                "limit_in_bytes",
                {"limit": "bytes"},
                "max_chars counts characters; you count bytes, of which an é has two.",
            ),
            Misconception(
                "long_word_cut",
                {"limit": "cut"},
                "A word that is too long loses its end. It becomes unknown instead.",
            ),
            Misconception(
                "lowercased",
                {"lower": True},
                "The word is brought to lower case. That is done before, by who wants it; here `Ab` and `ab` are two pieces.",
            ),
        ),
        hints=(
            "Two loops: the outer one moves the start, the inner one tries ends from the end of the word towards the start.",
            'What is looked up is `word[start:end]`, with "##" in front when start is not 0.',
            "When the inner loop finds nothing, there is nothing left to decide: return at once.",
        ),
    ),
    Exercise(
        name="pack_inputs",
        oracle=oracles.pack_inputs,
        groups=(
            Group(
                "single",
                "one segment",
                1,
                _packing((5, None, 11), (9, None, 11), (17, None, 11)),
                advice="[CLS] a [SEP], then padding up to max_length. Two of the places are taken by special ids.",
            ),
            Group(
                "pair",
                "two segments that fit",
                2,
                _packing((4, 6, 17), (7, 3, 13)),
                advice="[CLS] a [SEP] b [SEP]: segment 0 up to the first [SEP], segment 1 from b to the second.",
            ),
            Group(
                "cut",
                "two segments that are too long",
                2,
                _packing((13, 4, 15), (3, 17, 12), (9, 9, 14), (10, 8, 16)),
                advice="One token at a time, from the end of whichever segment is longer at that moment; of b when they tie.",
            ),
            Group("padding", "another id for padding", 1, _packing((3, None, 7, 1), (3, 2, 11, 1))),
            Group(
                "edges",
                "hardly any room, hardly any tokens",
                1,
                _packing((2, 3, 3), (4, 3, 5), (3, None, 2), (4, 0, 9)),
            ),
        ),
        misconceptions=(
            Misconception(
                "cut_from_the_start",
                {"cut": "from the start"},
                "Segments lose their beginning. They are cut at the end.",
            ),
            Misconception(
                "ties_cut_first",
                {"cut": "ties first"},
                "When both segments are equally long, the first one is cut. It is the second one's turn.",
            ),
            Misconception(
                "cut_in_proportion",
                {"cut": "in proportion"},
                "Both segments are cut in proportion. A token at a time comes off the longer one, so a short segment stays "
                "whole.",
            ),
            Misconception(
                "cut_in_halves",
                {"cut": "halves"},
                "Each segment gets half of the room, even if the other does not need its half.",
            ),
            Misconception(
                "first_cut_to_half",
                {"cut": "first to half"},
                "The first segment is cut to half of the room, even if the second does not need the other half.",
            ),
            Misconception(
                "second_cut_first",
                {"cut": "second first"},
                "The second segment is cut until nothing is left of it. The longer of the two is cut, whichever it is.",
            ),
            Misconception(
                "first_cut_first",
                {"cut": "first first"},
                "The first segment is cut until nothing is left of it. The longer of the two is cut, whichever it is.",
            ),
            Misconception(
                "both_cut",
                {"cut": "both"},
                "Both segments lose a token each time. One token goes, from the longer of the two.",
            ),
            Misconception("shorter_cut", {"cut": "the shorter"}, "The shorter segment is cut. The longer one is."),
            Misconception(
                "whole_row_cut",
                {"cut": "whole row"},
                "The finished row is cut at max_length, and loses its last [SEP]. Cut the segments first.",
            ),
            Misconception(
                "specials_forgotten",
                {"room": "forgotten"},
                "No room is kept for [CLS] and [SEP]: the last [SEP] is cut off.",
            ),
            Misconception(
                "one_special_forgotten",
                {"room": "one too few"},
                "Room is kept for one special id too few: two of them stand around a single segment, three in a pair.",
            ),
            Misconception(
                "three_specials_always",
                {"room": "always three"},
                "A single segment has two special ids, not three: one token of it is lost without need.",
            ),
            Misconception(
                "separator_missing_between",
                {"specials": "no separator between"},
                "There is no [SEP] between the two segments.",
            ),
            Misconception(
                "separator_missing_at_end",
                {"specials": "no separator at the end"},
                "The last [SEP] is missing: it ends the text, also when there is one segment only.",
            ),
            Misconception(
                "pair_without_last_separator",
                {"specials": "no last separator in a pair"},
                "With two segments the last [SEP] is missing: one stands behind a, and one behind b.",
            ),
            Misconception("separators_missing", {"specials": "no separators"}, "There is no [SEP] at all."),
            Misconception("class_token_missing", {"specials": "no class token"}, "The row does not begin with [CLS]."),
            Misconception(
                "class_token_twice",
                {"specials": "class token again"},
                "There is a second [CLS] before b. One stands at the beginning of the row, for both segments.",
            ),
            Misconception(
                "class_token_of_b",
                {"specials": "class token of b"},
                "The second segment begins with a [CLS] of its own. One stands at the beginning of the row, for both.",
            ),
            Misconception(
                "separator_in_second",
                {"segments": "separator second"},
                "The [SEP] behind a belongs to segment 1 here. It ends segment 0, and belongs to it.",
            ),
            Misconception(
                "last_separator_in_first",
                {"segments": "last separator first"},
                "The last [SEP] has segment id 0. It ends segment 1, and belongs to it.",
            ),
            Misconception("segments_all_zero", {"segments": "all zero"}, "All segment ids are 0; those of b are 1."),
            Misconception(
                "segments_from_one", {"segments": "from one"}, "Segments are numbered 1 and 2; they are 0 and 1."
            ),
            Misconception(
                "padding_in_second",
                {"segments": "padding second"},
                "Padding has segment id 1. It is 0.",
            ),
            Misconception(
                "padding_like_the_last",
                {"segments": "padding like the last"},
                "Padding has the segment id of the last token. It is 0.",
            ),
            Misconception("mask_all_ones", {"mask": "all ones"}, "The mask is 1 for padding, too."),
            Misconception(
                "mask_inverted", {"mask": "inverted"}, "The mask is the wrong way round: 1 is for real tokens."
            ),
            Misconception(
                "specials_masked_out",
                {"mask": "specials blocked"},
                "The mask is 0 for [CLS] and [SEP]. They are real tokens; only padding is 0.",
            ),
            Misconception("pad_id_ignored", {"own_pad": False}, "Padding is 0 whatever `pad_id` says."),
            Misconception(
                "padded_in_front", {"pad": "front"}, "Padding stands in front; it belongs behind the last [SEP]."
            ),
            Misconception(
                "second_ignored",
                {"second": False},
                "The second segment is missing.",
            ),
            Misconception(
                "empty_second_ignored",
                {"empty": "no segment"},
                "An empty list is taken for None: `if b` is False for both. It is a segment, with a [SEP] of its own; "
                "`b is None` tells them apart.",
            ),
            Misconception(
                "floats",
                {"kind": "float64"},
                'Ids, mask and segments are whole numbers; `np.zeros` makes floats unless it is told `dtype="int32"`.',
            ),
            Misconception(
                "mask_is_boolean", {"kind": "bool"}, "The mask is True and False; the encoder wants 1 and 0."
            ),
            Misconception(
                "arguments_changed",
                {"argument": "changed in place"},
                "The rows are right, but a or b has lost its end: `pop` and `del` change the list that you were given. "
                "Work on a copy.",
            ),
        ),
        hints=(
            "Count first: how many places are left for tokens of a and b, with one segment and with two?",
            "`while len(a) + len(b) > room:` and in it one decision: whose last token goes?",
            "Put ids, segment ids and mask together as lists of the same length, then append what is missing to max_length.",
        ),
    ),
    Exercise(
        name="mask_tokens",
        oracle=oracles.mask_tokens,
        groups=(
            Group(
                "labels",
                "labels, special ids, and the argument",
                2,
                _masked_labels,
                advice="Labels are the original ids where a token is chosen and -100 elsewhere; what is not chosen stays.",
            ),
            Group(
                "share",
                "the right share is chosen",
                1,
                _masked_shares,
                advice="Counted over 40,723 words: a right function falls outside of what is allowed here less than once in "
                "a million marks.",
            ),
            Group(
                "kinds",
                "80 % mask, 10 % random, 10 % kept",
                2,
                _masked_kinds,
                advice="Counted over about 16,600 chosen words: a right function falls outside of what is allowed here "
                "less than once in a million marks.",
            ),
            Group(
                "random",
                "random ids from the whole vocabulary",
                1,
                _masked_random,
                advice="Every id from 0 to vocab_size - 1 is as probable as every other, that of a special token, too.",
            ),
            Group(
                "independent",
                "each token for itself, by the numbers of rng",
                2,
                _masked_independent,
                advice="Whether a token is chosen says nothing about any other. How many are chosen is left to chance, too.",
            ),
        ),
        misconceptions=(
            Misconception(
                "labels_zero",
                {"labels": "0 elsewhere, not -100"},
                "Labels are 0 where nothing is chosen. 0 is an id that could be asked for: -100 is what the loss passes over.",
            ),
            Misconception(
                "labels_minus_one",
                {"labels": "-1 elsewhere, not -100"},
                "Labels are -1 where nothing is chosen; they are -100 there.",
            ),
            Misconception(
                "labels_everywhere",
                {"labels": "the ids everywhere"},
                "Labels are the ids at every place: the model would be asked for tokens that it can see. -100 where nothing "
                "is chosen.",
            ),
            Misconception(
                "labels_inverted",
                {"labels": "-100 where chosen, the ids elsewhere"},
                "Labels are the wrong way round: -100 where tokens are chosen, ids where they are not.",
            ),
            Misconception(
                "labels_after_masking",
                {"labels": "the ids after masking"},
                "Labels are the ids after masking, so the model is asked for `[MASK]`. They are the original ids: is a copy "
                "made too late?",
            ),
            Misconception(
                "labels_for_masks_only",
                {
                    "share": "eight tenths of the rate",
                    "kinds": "100 % mask, 0 % random, 0 % kept",
                    "unlabelled": "change, too",
                },
                "Only masked tokens have labels. All chosen tokens have one, those that are replaced or kept as well.",
            ),
            Misconception(
                "kept_without_label",
                {"share": "nine tenths of the rate", "kinds": "89 % mask, 11 % random, 0 % kept"},
                "Tokens that are chosen and kept have no label: are labels set where inputs and ids differ? The model is "
                "asked for kept tokens, too.",
            ),
            Misconception(
                "specials_chosen",
                {"special": "chosen, too"},
                "Special tokens are chosen, too. `special_ids` lists those that never are.",
            ),
            Misconception(
                "unlabelled_changed",
                {"unlabelled": "change, too"},
                "Tokens without a label change, too. What is not chosen stays as it is.",
            ),
            Misconception(
                "argument_changed",
                {"argument": "changed in place"},
                "The ids that you were given are changed. The next epoch masks what is masked already: work on a copy.",
            ),
            Misconception(
                "ids_are_floats",
                {"shape": "that of ids, but the numbers are floats"},
                "Inputs or labels are floats. Ids are whole numbers.",
            ),
            Misconception(
                "rate_ignored", {"share": "15 %, whatever the rate"}, "15 % are chosen whatever `rate` says."
            ),
            Misconception(
                "rate_inverted",
                {"share": "all but the rate"},
                "The share that is chosen is 1 - rate: is the comparison the wrong way round?",
            ),
            Misconception(
                "rate_of_all",
                {"share": "the rate, of the special tokens' number as well"},
                "Too many are chosen: the rate is taken of all tokens, special ones included. It is the share of the others.",
            ),
            Misconception(
                "always_masked",
                {"kinds": "100 % mask, 0 % random, 0 % kept"},
                "Every chosen token becomes `[MASK]`. Is the number that decides what becomes of it the same that chose it? "
                "It needs one of its own.",
            ),
            Misconception(
                "never_kept",
                {"kinds": "80 % mask, 20 % random, 0 % kept"},
                "Whatever is not masked is replaced. Half of it keeps its own id.",
            ),
            Misconception(
                "never_replaced",
                {"kinds": "80 % mask, 0 % random, 20 % kept"},
                "Whatever is not masked is kept. Half of it gets a random id.",
            ),
            Misconception(
                "tenth_of_the_rest",
                {"kinds": "80 % mask, 2 % random, 18 % kept"},
                "A tenth of what is not masked is replaced. It is a tenth of all that is chosen: half of what is not masked.",
            ),
            Misconception(
                "mask_and_random_swapped",
                {"kinds": "10 % mask, 80 % random, 10 % kept"},
                "80 % get a random id, 10 % are masked: it is the other way round.",
            ),
            Misconception(
                "mask_and_kept_swapped",
                {"kinds": "10 % mask, 10 % random, 80 % kept"},
                "80 % are kept, 10 % are masked: it is the other way round.",
            ),
            Misconception(
                "kinds_in_thirds",
                {"kinds": "33 % mask, 33 % random, 33 % kept"},
                "The three kinds are equally frequent. They are 80, 10 and 10 %.",
            ),
            Misconception(
                "kinds_by_count",
                {"kinds": "exactly 80 % mask in every call"},
                "In every call exactly 80 % of the chosen tokens are masked. Each token's fate is drawn for itself; how many "
                "are masked is left to chance, too.",
            ),
            Misconception(
                "one_kind_for_all",
                {"kinds": "one kind for all tokens of a call"},
                "All chosen tokens of a call meet the same fate: a single random number decides for all of them.",
            ),
            Misconception(
                "random_never_zero",
                {"random_ids": "never 0"},
                "Random ids are never 0. The vocabulary begins at 0.",
            ),
            Misconception(
                "random_never_last",
                {"random_ids": "never the last of the vocabulary"},
                "The last id of the vocabulary is never drawn. `rng.integers(n)` draws from 0 to n - 1 already.",
            ),
            Misconception(
                "random_from_one",
                {"random_ids": "from 1 to the vocabulary's size"},
                "Random ids go from 1 to vocab_size; for the last one an embedding has no row. They go from 0 to "
                "vocab_size - 1.",
            ),
            Misconception(
                "random_beyond",
                {"random_ids": "beyond the vocabulary, too"},
                "Some random ids lie beyond the vocabulary. The last one is vocab_size - 1.",
            ),
            Misconception(
                "random_never_special",
                {"random_ids": "never special ids"},
                "Special ids are never drawn. They are never chosen, but a random id may be any of the vocabulary.",
            ),
            Misconception(
                "random_from_above",
                {"random_ids": "never the lowest ids"},
                "The lowest ids are never drawn: does the draw begin above 0? A random id may be any of the vocabulary, a "
                "special one, too.",
            ),
            Misconception(
                "random_from_the_text",
                {"random_ids": "ids that occur in the text"},
                "Random ids come from the text itself: are tokens shuffled? Each id of the vocabulary is equally probable.",
            ),
            Misconception(
                "random_never_own",
                {"random_ids": "never the token's own id"},
                "A random id is never the token's own. It is drawn from the whole vocabulary, the token's own id included.",
            ),
            Misconception(
                "random_one_id",
                {"random_ids": "one id for all tokens of a call"},
                "All replaced tokens of a call get the same random id. Each token gets one of its own: does the draw have a "
                "size?",
            ),
            Misconception(
                "random_not_uniform",
                {"random_ids": "not equally often"},
                "Some random ids are drawn more often than others. All of the vocabulary are equally probable.",
            ),
            Misconception(
                "fixed_number",
                {"chosen": "a fixed number of tokens"},
                "In each text the same number of tokens is chosen. Each is chosen for itself, with probability `rate`; "
                "their number is left to chance.",
            ),
            Misconception(
                "at_least_one",
                {"chosen": "at least one token"},
                "In every text at least one token is chosen. A short text may go without: each token is chosen for itself.",
            ),
            Misconception(
                "whole_texts",
                {"chosen": "all tokens of a text, or none"},
                "All tokens of a text are chosen, or none: one random number decides for the whole row. Draw one for each "
                "token.",
            ),
            Misconception(
                "same_in_every_row",
                {"chosen": "the same places in every row"},
                "In all rows of a batch the same places are chosen. Draw one number for each token, not for each column.",
            ),
            Misconception(
                "neighbours_together",
                {"chosen": "neighbours together"},
                "Neighbours are chosen together. Spans are another way of masking; here each token is chosen for itself.",
            ),
            Misconception(
                "other_generator",
                {"numbers": "from another generator than rng"},
                "The same `rng` gives another result the second time: the numbers come from elsewhere, `np.random` or "
                "`random`. Then no experiment can be repeated.",
            ),
            Misconception(
                "always_the_same",
                {"numbers": "always the same"},
                "Every `rng` gives the same result: is a seed fixed inside? Then every epoch masks the same tokens.",
            ),
            Misconception(
                "generator_copied",
                {"numbers": "from a copy of rng"},
                "A second call with the same `rng` gives the same result: it is copied, and never moves on.",
            ),
        ),
        hints=(
            "First which: `rng.random(ids.shape) < rate`, and not a special id (`np.isin`). Then, for these, what becomes of "
            "them: a second draw.",
            "The second draw in three parts: below 0.8, from 0.8 to 0.9, above. What is in the third is left alone.",
            "`labels = np.where(chosen, ids, -100)` before anything is replaced, and replace in a copy.",
        ),
    ),
    Exercise(
        name="warmup_linear_decay",
        oracle=oracles.warmup_linear_decay,
        groups=(
            Group(
                "climb",
                "the way up",
                1,
                _rates((0.2, 0.4), (0.5, 0.8)),
                advice="From 0 at step 0 to the peak at warmup_steps: which share of the way is done at this step?",
            ),
            Group(
                "descent",
                "the way down",
                1,
                _rates((1.15, 1.35), (1.6, 1.8)),
                advice="From the peak at warmup_steps to 0 at total_steps: which share of this way is left?",
            ),
            Group("ends", "step 0, the peak, the end, and beyond", 1, _rate_ends),
            Group("fractions", "steps between whole numbers", 1, _rates((0.3, 0.7), (1.6, 1.8), whole=False)),
            Group(
                "no_warmup",
                "warmup_steps=0",
                1,
                _rates((1, 1), (1.15, 1.35), (1.6, 1.8), warmup=(0, 1)),
                advice="Without a warm-up no step is on the way up, not even step 0, and nothing may be divided by "
                "warmup_steps.",
            ),
        ),
        misconceptions=(
            Misconception(
                "without_warmup",
                {"warmup": "none", "decay": "from step 0"},
                "There is no warm-up: the rate falls from the first step on.",
            ),
            Misconception(
                "warmup_at_the_peak",
                {"warmup": "constant"},
                "During the warm-up the rate is at its peak already. It climbs from 0.",
            ),
            Misconception("warmup_squared", {"warmup": "squared"}, "The way up is a curve. It is a straight line."),
            Misconception(
                "warmup_integer_division",
                {"warmup": "integer division"},
                "The rate stays at 0 until it jumps to the peak: `//` throws the fraction away.",
            ),
            Misconception("no_decay", {"decay": "none"}, "The rate stays at its peak. It falls to 0 at total_steps."),
            Misconception(
                "decay_from_step_0",
                {"decay": "from step 0"},
                "The way down is counted from step 0, so the rate jumps where the two lines meet. It begins at warmup_steps.",
            ),
            Misconception(
                "decay_over_all_steps",
                {"decay": "over all steps"},
                "The way down takes total_steps steps, and does not arrive at 0 in time. It has total_steps - warmup_steps.",
            ),
            Misconception("decay_cosine", {"decay": "cosine"}, "The way down is a cosine. It is a straight line."),
            Misconception(
                "decay_square_root",
                {"decay": "square root"},
                "The way down is that of the Transformer's paper, 1/√step. It is a straight line to 0.",
            ),
            Misconception("decay_squared", {"decay": "squared"}, "The way down is a parabola. It is a straight line."),
            Misconception(
                "decay_integer_division",
                {"decay": "integer division"},
                "Behind the peak the rate is 0 at once: `//` throws the fraction away.",
            ),
            Misconception(
                "below_zero",
                {"clamped": False},
                "Beyond total_steps the rate is negative: such a step would undo what was learned. It stays at 0.",
            ),
            Misconception(
                "one_step_early",
                {"early": 1},
                "The rate is one step early: at step 0 it is 0.",
            ),
            Misconception(
                "one_step_late", {"early": -1}, "The rate is one step late: it is 0 at step 0, not at step 1."
            ),
            Misconception(
                "climb_one_step_early",
                {"warmup": "one step early"},
                "The way up is one step early, as if step 0 were the first step of it: at step 0 the rate is 0.",
            ),
            Misconception(
                "gap_at_the_peak",
                {"gap": True},
                "At warmup_steps itself the rate is 0: neither of your two lines takes this step. It is that of the peak.",
            ),
            Misconception(
                "cold_without_warmup",
                {"cold": True},
                "With warmup_steps=0 the rate is 0 at step 0. There is no climb then: the first step has the peak.",
            ),
            Misconception("peak_ignored", {"top": False}, "The rate climbs to 1. It climbs to `peak`."),
        ),
        hints=(
            "Two straight lines, and a test which of them a step is on.",
            "The share of the way down that is left is (total_steps - step) / (total_steps - warmup_steps).",
            "`max(0.0, …)` takes care of all steps beyond the end.",
        ),
    ),
    Exercise(
        name="build_news_classifier",
        oracle=oracles.build_news_classifier,
        groups=(
            Group(
                "head",
                "16 hidden values, then as many as there are classes",
                2,
                _both_news("parameters", "trainable numbers"),
                advice="`model.summary()` lists every layer. The head has two: Dense 16 and Dense num_classes, each with bias.",
            ),
            Group(
                "values",
                "right probabilities with given weights",
                3,
                _both_news("values", "probabilities"),
                advice="From strings to probabilities: preprocessing, encoder, its `pooled_output`, Dense 16 with ReLU, "
                "dropout, Dense with softmax.",
            ),
            Group(
                "dropout",
                "dropout behind the hidden layer, in training only",
                2,
                _both_news("dropout", "results with training=True"),
                advice="One `tf_keras.layers.Dropout`, between the two Dense layers, with the rate that you are given.",
            ),
            Group(
                "learning",
                "gradients reach the encoder",
                1,
                _one_news("gradients", FIRST, "gradients"),
                advice="A trainable encoder is changed by training: nothing may stand between it and the loss.",
            ),
        ),
        misconceptions=(
            Misconception(
                "encoder_always_frozen",
                {"learns": "never"},
                "The encoder never learns. `hub.KerasLayer` is frozen unless it is told `trainable=True`.",
            ),
            Misconception(
                "encoder_never_frozen",
                {"learns": "always"},
                "The encoder learns even with trainable=False. Hand the argument on to its layer.",
            ),
            Misconception(
                "trainable_inverted",
                {"learns": "the other way round"},
                "The encoder learns with trainable=False and is frozen with trainable=True.",
            ),
            Misconception(
                "encoder_lost",
                {"learns": "lost"},
                "The encoder's weights are no part of the model: it is called inside a function or Lambda, where no model "
                "finds them. Make it a layer with `hub.KerasLayer`.",
            ),
            Misconception(
                "handles_ignored",
                {"handle": "is not the one of the handle"},
                "The encoder is not the one that `encoder_handle` names: is another one written into the function?",
            ),
            Misconception(
                "head_frozen",
                {"head_learns": "with the encoder"},
                "With trainable=False the head does not learn either: `model.trainable` concerns all of the model. Only the encoder is "
                "frozen.",
            ),
            Misconception(
                "classes_ignored",
                {"classes": "always 4"},
                "The last layer has four values whatever `num_classes` says.",
            ),
            Misconception(
                "no_hidden_layer",
                {"layers": 1},
                "The Dense layer with 16 values is missing: the probabilities come straight from the pooled output.",
            ),
            Misconception("two_hidden_layers", {"layers": 3}, "There are two hidden layers; there is one."),
            Misconception("hidden_wider", {"units": 32}, "The hidden layer has 32 values; it has 16."),
            Misconception("head_without_bias", {"bias": False}, "The layers of the head have no bias."),
            Misconception(
                "first_token_taken",
                {"source": "first token"},
                "You take the first token of `sequence_output`. `pooled_output` is that vector after one more layer, which "
                "was trained with the encoder.",
            ),
            Misconception(
                "sequence_averaged",
                {"source": "mean of the tokens"},
                "You take the mean of `sequence_output`, padding included. Take `pooled_output`.",
            ),
            Misconception(
                "words_averaged",
                {"source": "mean of the words"},
                "You take the mean of the real tokens of `sequence_output`. Take `pooled_output`.",
            ),
            Misconception(
                "sequence_maximum",
                {"source": "largest of the tokens"},
                "You take the largest value of each feature of `sequence_output`. Take `pooled_output`.",
            ),
            Misconception(
                "first_layer_taken",
                {"source": "first layer"},
                "You take the first of `encoder_outputs`, what the lowest layer gives. Take `pooled_output`.",
            ),
            Misconception(
                "no_relu",
                {"hidden": "none"},
                "The hidden layer has no activation: two linear layers are one. It has a ReLU.",
            ),
            Misconception("hidden_tanh", {"hidden": "tanh"}, "The hidden layer has a tanh; it has a ReLU."),
            Misconception("hidden_sigmoid", {"hidden": "sigmoid"}, "The hidden layer has a sigmoid; it has a ReLU."),
            Misconception(
                "no_softmax",
                {"output": "none"},
                "The results are logits: the last layer has no softmax.",
            ),
            Misconception(
                "sigmoid_instead",
                {"output": "sigmoid"},
                "The last layer has a sigmoid, as if a text could be of several classes. A softmax makes them share 1.",
            ),
            Misconception(
                "softmax_over_batch",
                {"output": "softmax over the batch"},
                "The softmax runs over the texts of a batch. It runs over the classes, the last axis.",
            ),
            Misconception(
                "dropout_missing",
                {"drops": "nowhere"},
                "Nothing is dropped in training: the dropout is missing, or is off.",
            ),
            Misconception(
                "dropout_before",
                {"drops": "before the hidden layer"},
                "The dropout stands before the hidden layer. It comes between the two Dense layers.",
            ),
            Misconception(
                "dropout_behind_output",
                {"drops": "behind the output"},
                "In training the probabilities do not sum to 1: the dropout comes behind the softmax.",
            ),
            Misconception(
                "dropout_elsewhere",
                {"drops": "somewhere else"},
                "In training something else is random than a share of the 16 hidden values: one Dropout, between the two "
                "Dense layers.",
            ),
            Misconception(
                "dropout_rate_fixed", {"rate": "default"}, "The rate of the dropout is 0.2 whatever `dropout` says."
            ),
            Misconception(
                "dropout_rate_inverted",
                {"rate": "kept"},
                "The dropout drops 1 - dropout: its argument is the share that is lost, not the share that is kept.",
            ),
            Misconception(
                "dropout_always",
                {"outside": "another result each time"},
                "With training=False the same text gets another result each time: the dropout is on all the time.",
            ),
            Misconception(
                "gradients_stopped",
                {"gradients": "do not reach the encoder"},
                "No gradient reaches the encoder, though it is trainable: `stop_gradient`, NumPy or `.numpy()` is in the way.",
            ),
        ),
        hints=(
            "Every layer, the Input and the Model come from `tf_keras`. The input is one string for each text: shape (), "
            "dtype tf.string.",
            "`hub.KerasLayer(handle)` is called like any layer. The encoder's result is a dictionary with three entries.",
            "`hub.KerasLayer(encoder_handle, trainable=trainable)`. The preprocessing has nothing to learn.",
        ),
    ),
    Exercise(
        name="predict_class_names",
        oracle=oracles.predict_class_names,
        groups=(
            Group(
                "values",
                "a name for each text, in their order",
                2,
                _names_of,
                advice="`model.predict` gives a row of probabilities for each text, (n, classes). Where is its largest value?",
            ),
            Group("one", "a single text", 1, _names_of_one, tells=("over_one_half",)),
            Group(
                "none",
                "no text at all",
                1,
                _names_of_none,
                advice="Keras refuses to predict nothing. No texts have no names: `[]`.",
            ),
        ),
        misconceptions=(
            Misconception("least_probable", {"pick": "smallest"}, "You take the least probable class (`argmin`)."),
            Misconception("second_best", {"pick": "second"}, "You take the second best class."),
            Misconception(
                "over_one_half",
                {"pick": "over one half"},
                "You look for a probability above one half. With several classes the largest may be less.",
            ),
            Misconception(
                "counted_from_one",
                {"shift": -1},
                "Every name is the one before the right one: places are counted from 0, as the labels of `data.news` are. (In "
                "the files of AG News they are counted from 1.)",
            ),
            Misconception(
                "one_too_far", {"shift": 1}, "Every name is the one behind the right one: is 1 added to the place?"
            ),
            Misconception(
                "names_sorted",
                {"sort": True},
                "The names are those of another order: are they sorted? `class_names[0]` belongs to the first column.",
            ),
            Misconception(
                "places_returned", {"answer": "places"}, "You return places, not names: `class_names[place]`."
            ),
            Misconception(
                "only_the_first",
                {"which": "first only"},
                "There is one name, however many texts there are: `argmax` of row 0 only, or is the `return` in the loop?",
            ),
            Misconception("order_reversed", {"which": "reversed"}, "The names are in reverse order."),
            Misconception(
                "each_name_once", {"repeated": False}, "Each name occurs once only: a name for each text is asked for."
            ),
            Misconception(
                "over_the_texts",
                {"axis": 0},
                "`argmax` runs over the texts: for each class, the text that fits best. It runs over the classes, axis 1.",
            ),
            Misconception(
                "array_returned",
                {"kind": "an array"},
                "The names are right, in a NumPy array; a list of str is asked for.",
            ),
            Misconception(
                "tuple_returned", {"kind": "a tuple"}, "The names are right, in a tuple; a list is asked for."
            ),
        ),
        hints=(
            "`model.predict(texts)` wants the texts as an array or a tensor: `tf.constant(texts)`.",
            "`np.argmax(…, axis=-1)` gives one place for each text.",
            "A list comprehension turns places into names.",
        ),
    ),
    Exercise(
        name="answers",
        oracle=oracles.hand_calculation,
        groups=(
            Group("pieces", "pieces of a word", 1, _answer("pieces")),
            Group("masked", "how many become [MASK]", 1, _answer("masked")),
            Group("rate", "the learning rate at a step", 1, _answer("rate")),
            Group("head", "parameters of the head", 1, _answer("head")),
            Group("decision", "who decides when to stop", 1, _answer("decision")),
            Group("keras", "why tf_keras", 1, _answer("keras")),
        ),
        misconceptions=(
            Misconception("counted_shortest", {"pieces": "shortest"}, "The longest piece that fits comes first."),
            Misconception("thought_unknown", {"pieces": "unknown"}, "The vocabulary covers the word: try `un` first."),
            Misconception(
                "counted_fewest", {"pieces": "fewest"}, "Greedy takes the longest first piece, even if that costs one."
            ),
            Misconception(
                "chosen_counted", {"masked": "all chosen"}, "That many are chosen. Not all of them are masked."
            ),
            Misconception("rate_forgotten", {"masked": "of all"}, "80 % of the chosen ones, not of all."),
            Misconception("kept_counted", {"masked": "kept"}, "That many are kept."),
            Misconception(
                "rate_over_all_steps", {"rate": "of all steps"}, "The way down has 900 steps, from the peak to the end."
            ),
            Misconception("rate_climbing", {"rate": "climbing"}, "Step 400 is beyond the warm-up."),
            Misconception(
                "rate_without_climb", {"rate": "without climb"}, "The way down begins at warmup_steps, not at 0."
            ),
            Misconception("head_biases_forgotten", {"head": "no biases"}, "Each Dense layer has a bias, too."),
            Misconception("head_one_layer", {"head": "one layer"}, "There is a layer of 16 values between."),
            Misconception(
                "head_for_all_positions",
                {"head": "all positions"},
                "The pooled output is one vector for a text, not one for each of its tokens.",
            ),
            Misconception(
                "test_decides", {"decision": "test"}, "A test set that decides anything is no test set any more."
            ),
            Misconception("training_decides", {"decision": "training"}, "The training loss falls as long as you like."),
            Misconception("keras_for_speed", {"keras": "speed"}, "Neither is faster in this matter."),
            Misconception(
                "keras_for_text", {"keras": "text"}, "Keras 3 takes strings, too, in `TextVectorization` for example."
            ),
        ),
        hints=("Each takes a line on paper; the text of the exercises has all that is needed.",),
        reveal=False,
        tolerance=0.0051,
    ),
)
