"""Lab 06, the classifier of film reviews: the exercises, their cases and the mistakes that are named."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from autograder.exercise import Case, Exercise, Group, Misconception
from autograder.exercises.drawing import normal
from autograder.oracles import imdb_classifier as oracles
from coursekit.data.samples.draws import Draws
from coursekit.data.samples.reviews import review

WORDS = (
    "actor", "banal", "camera", "drama", "editing", "finale", "genre", "humour", "icon", "jokes", "kitsch", "laugh",
    "music", "noise", "opera", "plot", "queen", "role", "scene", "theme", "utter", "villain", "wit", "yawn", "zeal",
)  # fmt: skip
ACCENTED = ("café", "naïve", "fiancée", "über", "señor", "cliché", "déjà")
OPENINGS = ("Don't", "Isn't", "Can't", "Won't")
HYPHENATED = ("well-made", "low-key", "made-up", "half-baked")


def _pick(rng: np.random.Generator, words: Sequence[str], count: int) -> list[str]:
    return [str(word) for word in rng.permutation(list(words))[:count]]


def _texts_of(rng: np.random.Generator, *patterns: str) -> list[Case]:
    """Cases of `standardize`: each pattern filled with fresh words, {0} to {5}."""
    cases = []
    for pattern in patterns:
        words = [*_pick(rng, WORDS, 4), _pick(rng, HYPHENATED, 1)[0], _pick(rng, OPENINGS, 1)[0]]
        text = pattern.format(*words, accented=_pick(rng, ACCENTED, 1)[0], number=int(rng.integers(20, 90)))
        cases.append(Case({"text": text}))
    return cases


def _standard_words(rng: np.random.Generator) -> list[Case]:
    return _texts_of(
        rng, "{5} miss THE {0}: {1}, {2}; and (really) a {4} {3}!!!", 'The "{0}" of {1} & {2} is SO {4}?', "{0}"
    )


def _standard_breaks(rng: np.random.Generator) -> list[Case]:
    return _texts_of(
        rng,
        "A {0}.<br /><br />The {1}",
        "bad {0}<br>good {1}<br/>fine {2}",
        "{0}<BR />{1}<Br>{2}",
        "{0} 5 < 6 but {1} 7 > 3 {2}",
    )


def _standard_letters(rng: np.random.Generator) -> list[Case]:
    return _texts_of(rng, "{accented} {0}, {number}/10", "ÉTÉ: the {accented} of {0}, 日本, {number}.5 stars")


def _standard_spaces(rng: np.random.Generator) -> list[Case]:
    return _texts_of(rng, "{0}   {1}\t\t{2}\n\n{3}", "  {0} {1} <br />", "\n{0} - {1} !\t")


def _standard_edges(rng: np.random.Generator) -> list[Case]:
    return [Case({"text": text}) for text in ("", " ... ?! ", "<br /><br />")] + _texts_of(rng, "{number}!")


def _counted_texts(rng: np.random.Generator, empty: bool = False) -> list[str]:
    """Standardised texts: one word most often but in one text only, then three, three and two words as often."""
    words = sorted(_pick(rng, WORDS, 9)[:7] + _pick(rng, ACCENTED, 2))
    top = words.pop(int(rng.integers(len(words))))
    second, first, rest = words[:3], words[3:6], words[6:]  # what is frequent comes late in the alphabet
    ties = [[each[1], each[2], each[0]] for each in (first, second)] + [rest[::-1]]
    texts = [" ".join([top] * 5), *[" ".join(ties[0] + ties[1][:]) for _ in range(2)]]
    texts += [" ".join(ties[0]), " ".join([*ties[0], *ties[2]])]
    if empty:
        texts[2:2] = ["", ""]
    return [str(text) for text in texts]


def _vocabularies(*limits: int, empty: bool = False):
    def draw(rng: np.random.Generator) -> list[Case]:
        cases = []
        for limit in limits:
            texts = _counted_texts(rng, empty)
            how = f"{len(texts)} texts, {'two of them empty, ' if empty else ''}max_tokens={limit}"
            cases.append(Case({"texts": texts, "max_tokens": limit}, how=how))
        return cases

    return draw


def _ids_case(rng: np.random.Generator, lengths: Sequence[int], max_length: int, known: int = 8) -> Case:
    """Texts of the given lengths, in words; about a third of the words are not in the vocabulary."""
    words = _pick(rng, WORDS, known + 5)
    vocabulary = ["", "[UNK]", *words[:known]]
    texts = [" ".join(str(word) for word in rng.choice(words, size=length)) for length in lengths]
    if known:  # in every text that has room, a stranger first, a known word last
        texts = [
            " ".join([words[-1], *text.split()[1:-1], words[0]]) if len(text.split()) > 1 else text for text in texts
        ]
    return Case(
        {"texts": texts, "vocabulary": vocabulary, "max_length": max_length},
        how=f"texts of {', '.join(map(str, lengths))} words, {len(vocabulary)} entries, max_length={max_length}",
    )


def _ids(*sizes: tuple[Sequence[int], int], known: int = 8):
    return lambda rng: [_ids_case(rng, lengths, max_length, known) for lengths, max_length in sizes]


def _padded(rng: np.random.Generator, batch: int, length: int, least: int = 1) -> np.ndarray:
    """Ids (B, T) with words of ids from 1 on, then padding; the rows differ in length, and each has an unknown word."""
    ids = rng.integers(2, 31, size=(batch, length))
    for row, words in enumerate(rng.permutation(np.linspace(max(least, 2), length - 1, batch).astype(int))):
        ids[row, words:] = 0
        ids[row, int(rng.integers(words))] = 1
    return ids


def _mean_case(rng: np.random.Generator, ids: np.ndarray, width: int, dtype: str = "float32", **settings) -> Case:
    x = rng.normal(size=(*ids.shape, width)) + 1.5
    x[ids == 0] *= 20
    return Case({"x": x.astype(dtype), "ids": ids}, **settings)


def _means(rng: np.random.Generator) -> list[Case]:
    return [_mean_case(rng, _padded(rng, 3, 7), 5), _mean_case(rng, _padded(rng, 2, 11), 3)]


def _means_anywhere(rng: np.random.Generator) -> list[Case]:
    ids = _padded(rng, 3, 7)
    return [
        _mean_case(rng, ids[:, ::-1].copy(), 5, how="x (3, 7, 5), padding in front"),
        _mean_case(rng, rng.permuted(ids, axis=1), 5, how="x (3, 7, 5), padding anywhere"),
    ]


def _means_empty(rng: np.random.Generator) -> list[Case]:
    ids = _padded(rng, 3, 7)
    ids[int(rng.integers(3))] = 0
    return [_mean_case(rng, ids, 5, how="x (3, 7, 5), one row is all padding")]


def _means_types(rng: np.random.Generator) -> list[Case]:
    return [
        _mean_case(rng, _padded(rng, 3, 7), 5, mode="tensor", how="TensorFlow tensors", dtype="float32"),
        _mean_case(rng, _padded(rng, 3, 7).astype("int32"), 5, how="NumPy arrays, ids of int32"),
        _mean_case(rng, _padded(rng, 2, 5), 3, "float64", how="NumPy arrays of float64"),
    ]


def _means_training(rng: np.random.Generator) -> list[Case]:
    ids = _padded(rng, 3, 5)
    ids[0] = 0
    slope = _mean_case(rng, ids, 2, mode="gradient", how="gradients, one row is all padding")
    return [
        _mean_case(rng, ids, 3, mode="graph", how="inside tf.function, batch size and length unknown"),
        Case({**slope.inputs, "cotangent.output": normal(rng, 3, 2)}, mode="gradient", how=slope.how),
    ]


TINY = {"max_length": 13, "vocab_size": 31, "d_model": 6, "num_heads": 3, "d_ff": 11}
TINY_SHOWN = "max_length=13, vocab_size=31, d_model=6, num_heads=3, d_ff=11"


def _reviews_case(rng: np.random.Generator, mode: str, how: str, batch: int = 7, **more) -> Case:
    ids = _padded(rng, batch, TINY["max_length"], least=3)
    return Case({**TINY, "ids": ids, "weights": int(rng.integers(1 << 30)), **more}, mode=mode, how=how)


def _classifier_sizes(rng: np.random.Generator) -> list[Case]:
    heads = int(rng.integers(2, 6))
    sizes = {"max_length": 37, "vocab_size": int(rng.integers(100, 900)), "d_model": heads * int(rng.integers(3, 9))}
    sizes |= {"num_heads": heads, "d_ff": int(rng.integers(41, 90))}
    return [
        Case({}, mode="parameters", how="parameters of build_classifier()"),
        Case(
            sizes, mode="parameters", how=f"parameters, {', '.join(f'{key}={value}' for key, value in sizes.items())}"
        ),
    ]


def _classifier_values(rng: np.random.Generator) -> list[Case]:
    return [_reviews_case(rng, "values", f"seven reviews, {TINY_SHOWN}")]


def _classifier_padding(rng: np.random.Generator) -> list[Case]:
    case = _reviews_case(rng, "padding", f"four places of padding more, {TINY_SHOWN}", batch=5, more=4, word=30)
    ids = case.inputs["ids"]
    for row, place in enumerate((0, 1, 2, 1, 0)):
        ids[row, place] = 30  # its vector will be changed: do the others notice?
        ids[row, -1] = 0
    return [case]


def _classifier_order(rng: np.random.Generator) -> list[Case]:
    case = _reviews_case(rng, "order", "the words of seven reviews in another order")
    reordered = case.inputs["ids"].copy()
    for row in reordered:
        words = np.count_nonzero(row)
        row[:words] = np.roll(row[:words], 1)
    return [Case({**case.inputs, "reordered": reordered}, mode=case.mode, how=case.how)]


def _classifier_learning(rng: np.random.Generator) -> list[Case]:
    case = _reviews_case(rng, "learning", "gradients inside tf.function, batch size unknown")
    ids = case.inputs["ids"].astype("int32")
    return [Case({**case.inputs, "ids": ids}, mode=case.mode, how=case.how)]


def _results(rng: np.random.Generator, tn: int, fp: int, fn: int, tp: int, threshold: float = 0.5) -> dict:
    """Probabilities (n,) and labels (n,) with these counts; the first of each side stands on the threshold or next to it."""
    n = tn + fp + fn + tp
    labels = np.repeat([0, 0, 1, 1], [tn, fp, fn, tp])
    said = np.repeat([False, True, False, True], [tn, fp, fn, tp])
    above, below = rng.uniform(threshold, 1, size=n), rng.uniform(0, threshold, size=n) * 0.99
    for group in (fp, tp):
        start = tn if group is fp else tn + fp + fn
        above[start : start + min(group, 1)] = threshold
    order = rng.permutation(n)
    return {
        "probabilities": np.where(said, above, below).astype("float32")[order],
        "labels": labels[order].astype("int32"),
        **({} if threshold == 0.5 else {"threshold": threshold}),
    }


def _shown(counts: Sequence[int], **others) -> str:
    return ", ".join([f"{sum(counts)} reviews", *(f"{key}={value}" for key, value in others.items())])


def _measured(*counts: tuple[int, int, int, int]):
    return lambda rng: [Case(_results(rng, *each), how=_shown(each)) for each in counts]


def _measured_thresholds(rng: np.random.Generator) -> list[Case]:
    cases = [((7, 3, 2, 11), 0.25), ((5, 2, 4, 13), 0.75)]
    return [Case(_results(rng, *each, threshold), how=_shown(each, threshold=threshold)) for each, threshold in cases]


def _measured_column(rng: np.random.Generator) -> list[Case]:
    inputs = _results(rng, 7, 3, 2, 11)
    column = {**inputs, "probabilities": inputs["probabilities"][:, None]}
    return [Case(column, how="probabilities (23, 1), as model.predict returns them")]


LEAST_ACCURACY = 0.9
LENGTH = 64
ALONE = 40  # words that occur in a single review, to see from their vectors who learned from that review


def _sample(rng: np.random.Generator, count: int) -> tuple[list[str], np.ndarray]:
    """Fresh reviews by the grammar of the sample, standardised, and their labels."""
    draws = Draws(f"lab 06 {int(rng.integers(1 << 60))}")
    labels = rng.permutation(np.arange(count) % 2)
    return [oracles.standardize(review(draws, int(label)))["text"] for label in labels], labels.astype("int32")


def _rows(texts: Sequence[str], vocabulary: Sequence[str]) -> np.ndarray:
    return oracles.vectorize(texts, vocabulary, LENGTH)["ids"].astype("uint16")


def _marked(ids: np.ndarray, first: int) -> np.ndarray:
    """Put the ids from `first` on behind the last word of one review each, evenly spread. Returns these ids."""
    chosen = np.linspace(0, len(ids) - 1, ALONE).astype(int)
    words = np.minimum((ids[chosen] != 0).sum(axis=1), LENGTH - 1)
    ids[chosen, words] = np.arange(first, first + ALONE)
    return np.arange(first, first + ALONE)


def _training_reviews(rng: np.random.Generator) -> list[Case]:
    (texts, y), (val_texts, y_val), (test_texts, labels) = (_sample(rng, count) for count in (1600, 320, 500))
    vocabulary = oracles.build_vocabulary(texts, 20_000)["vocabulary"]
    x, x_val, x_test = (_rows(each, vocabulary) for each in (texts, val_texts, test_texts))
    return [
        Case(
            {
                **{"x": x, "y": y, "x_val": x_val, "y_val": y_val, "x_test": x_test},
                "only_in_x": _marked(x, len(vocabulary)),
                "only_in_x_val": _marked(x_val, len(vocabulary) + ALONE),
                "vocab_size": len(vocabulary) + 2 * ALONE,
                "seed": int(rng.integers(1 << 30)),
            },
            mode="learning",
            how="1,600 reviews to train on, 320 to decide when to stop, 500 to see what was learned",
            property="classifies well",
            withheld={"labels": labels, "least_accuracy": LEAST_ACCURACY},
        )
    ]


def _simple_reviews(rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of neutral words, with three words of praise (ids 2 to 9) or blame (10 to 17) in each."""
    labels = rng.permutation(np.arange(count) % 2)
    ids = rng.integers(18, 60, size=(count, 16))
    for row, label in zip(ids, labels, strict=True):
        row[rng.permutation(16)[:3]] = rng.integers(2, 10, size=3) + 8 * (1 - label)
    return ids.astype("uint16"), labels.astype("int32")


def _turned_round(rng: np.random.Generator) -> list[Case]:
    (x, y), (x_val, y_val) = _simple_reviews(rng, 512), _simple_reviews(rng, 128)
    inputs = {"x": x, "y": y, "x_val": x_val, "y_val": 1 - y_val, "vocab_size": 60, "seed": int(rng.integers(1 << 30))}
    return [Case(inputs, mode="stopping", how="512 reviews to train on, 128 others whose labels are turned round")]


def _answer(entry: str):
    return lambda rng: [Case({"entry": entry}, how=f'answers["{entry}"]')]


EXERCISES = (
    Exercise(
        name="standardize",
        oracle=oracles.standardize,
        groups=(
            Group("words", "lower case, no punctuation", 2, _standard_words),
            Group(
                "breaks",
                "line breaks of HTML become spaces",
                1,
                _standard_breaks,
                advice="Three spellings, `<br>`, `<br/>` and `<br />`, in capitals too. A `<` alone is punctuation.",
            ),
            Group("letters", "letters of other languages and digits stay", 1, _standard_letters),
            Group("spaces", "one space between words, none at the ends", 1, _standard_spaces),
            Group("edges", "texts with nothing in them", 1, _standard_edges),
        ),
        misconceptions=(
            Misconception("capitals_kept", {"lower": False}, "Capitals stay capitals: `The` and `the` are two words."),
            Misconception(
                "br_becomes_a_word",
                {"breaks": "none"},
                "`<br />` leaves the word `br` behind. Which of your steps takes its brackets away, and when?",
            ),
            Misconception(
                "one_spelling_of_br",
                {"breaks": "one spelling"},
                "Only `<br />` is found; `<br>` and `<br/>` are line breaks, too.",
            ),
            Misconception(
                "every_tag_removed",
                {"breaks": "every tag"},
                "Everything between `<` and `>` is gone, with the words in it. Only line breaks are asked for.",
            ),
            Misconception(
                "break_glues_words",
                {"break_becomes": ""},
                "Where a line break was, two words grow together. It becomes a space.",
            ),
            Misconception(
                "br_in_capitals_missed",
                {"any_case": False},
                "`<BR>` in capitals is not found: lower case first, or ignore case in the search.",
            ),
            Misconception("punctuation_kept", {"punctuation": "kept"}, "Punctuation is still there."),
            Misconception(
                "punctuation_to_space",
                {"punctuation": "to space"},
                "Punctuation becomes a space: `don't` falls into two words. It is removed, which gives `dont`.",
            ),
            Misconception(
                "apostrophes_kept",
                {"punctuation": "but apostrophes"},
                "The apostrophe stays. It is punctuation like the rest: `don't` becomes `dont`.",
            ),
            Misconception(
                "other_letters_lost",
                {"letters": "ascii"},
                "Letters beyond a to z are lost: é, ü and 日 are letters.",
            ),
            Misconception("digits_lost", {"digits": False}, "Digits are gone. `9/10` becomes `910`."),
            Misconception(
                "ends_not_stripped",
                {"spaces": "ends stay"},
                "A space is left at the beginning or at the end.",
            ),
            Misconception("spaces_not_collapsed", {"spaces": "stay"}, "Runs of white space stay as they are."),
            Misconception(
                "tabs_and_newlines_kept",
                {"spaces": "only doubled"},
                "Tabs and line ends stay. White space is more than the space.",
            ),
        ),
        hints=(
            "Four steps. Their order matters: what happens to the `<` of a `<br />` if punctuation goes first?",
            "`re.sub` replaces what a pattern finds, `str.translate` many characters at once, `str.split()` without an "
            "argument splits at any white space.",
            'The pattern `r"<br\\s*/?>"` finds all three spellings, in a text that is in lower case already.',
        ),
    ),
    Exercise(
        name="build_vocabulary",
        oracle=oracles.build_vocabulary,
        groups=(
            Group("values", "right words in the right order", 2, _vocabularies(50, 40)),
            Group(
                "cut",
                "at most max_tokens entries",
                1,
                _vocabularies(5, 7),
                advice="The two special entries count: max_tokens=5 leaves room for three words.",
            ),
            Group(
                "small",
                "max_tokens 0, 1, 2 and 3",
                1,
                _vocabularies(0, 1, 2, 3),
                advice="Even the special entries need room. A slice with a negative end leaves out the last ones.",
            ),
            Group(
                "empty",
                "texts with nothing in them",
                1,
                _vocabularies(50, empty=True),
                advice='`"".split(" ")` is a list with one empty word in it; `"".split()` is empty.',
            ),
        ),
        misconceptions=(
            Misconception(
                "no_special_entries",
                {"specials": "none"},
                'The list begins with words. "" for padding and "[UNK]" for unknown words come first.',
            ),
            Misconception(
                "special_entries_swapped",
                {"specials": "swapped"},
                '"[UNK]" is entry 0. Padding is 0 everywhere in this course, unknown words are 1.',
            ),
            Misconception("no_padding_entry", {"specials": "no padding"}, 'The entry "" for padding is missing.'),
            Misconception(
                "specials_not_counted",
                {"room": "words only"},
                "The list is two entries too long: the special entries count.",
            ),
            Misconception(
                "specials_always",
                {"room": "specials always"},
                "With max_tokens below 2 the list is too long: the special entries are cut off like all others.",
            ),
            Misconception(
                "cut_before_ties",
                {"room": "cut before ties"},
                "The list is cut before words that are equally frequent are put in order, so the wrong ones of them may be "
                "left: `most_common(n)` cuts. Sort first, then cut.",
            ),
            Misconception(
                "slice_from_the_end",
                {"room": "slice from the end"},
                "With max_tokens below 2 the end of your slice is negative, which counts from the end of the list.",
            ),
            Misconception("not_cut", {"room": "no limit"}, "max_tokens changes nothing."),
            Misconception("rare_words_first", {"order": "rising"}, "The rarest words come first."),
            Misconception(
                "alphabetical_only",
                {"order": "alphabetical"},
                "The words are in alphabetical order; count comes first.",
            ),
            Misconception(
                "ties_as_seen",
                {"ties": "first seen"},
                "Words that are equally frequent stand in the order in which they appear (as in "
                "`Counter.most_common`); the alphabet decides.",
            ),
            Misconception(
                "ties_backwards",
                {"ties": "backwards"},
                "Words that are equally frequent stand in the alphabet backwards: `reverse=True` turns both around.",
            ),
            Misconception(
                "texts_counted",
                {"count": "texts"},
                "You count the texts that a word is in; its occurrences count.",
            ),
            Misconception(
                "empty_word_counted",
                {"empty_word": True},
                'An empty text adds "" once more to the vocabulary.',
            ),
        ),
        hints=(
            "`collections.Counter` counts; `sorted` takes a `key`, and a key may be a pair: what comes first decides first.",
            "For falling counts inside an ordinary sort, take the negative count.",
            "Put the special entries and the words into one list, and cut it once, at the end.",
        ),
    ),
    Exercise(
        name="vectorize",
        oracle=oracles.vectorize,
        groups=(
            Group("values", "right ids, unknown words and padding among them", 2, _ids(((3, 7, 5), 7), ((11, 2), 13))),
            Group(
                "cut",
                "long texts are cut, short ones filled up, at the end",
                2,
                _ids(((9, 17, 4), 7), ((5, 23), 11)),
                advice="A text longer than max_length keeps its first words; a shorter one gets zeros behind its last.",
            ),
            Group("empty", "texts with nothing in them", 1, _ids(((0, 3, 0), 5))),
            Group(
                "small",
                "one place for each text, and a vocabulary without words",
                1,
                lambda rng: [*_ids(((3, 2), 1))(rng), *_ids(((3, 5), 7), known=0)(rng)],
            ),
        ),
        misconceptions=(
            Misconception(
                "padded_in_front",
                {"pad": "front"},
                "The padding stands in front: the first word of a short text then gets a late position. It belongs "
                "behind the words.",
            ),
            Misconception(
                "cut_in_front",
                {"cut": "front"},
                "Long texts lose their beginning. They keep their first words.",
            ),
            Misconception(
                "pad_sequences_defaults",
                {"pad": "front", "cut": "front"},
                "Padding and cutting happen in front, the defaults of `pad_sequences`: the first word of a short text then "
                "gets a late position, and a long text loses its beginning. Both belong at the end.",
            ),
            Misconception(
                "cut_at_characters",
                {"unit": "characters"},
                "max_length counts words here, not characters: split first, then cut.",
            ),
            Misconception("unknown_dropped", {"unknown": "dropped"}, "Unknown words are left out; they get the id 1."),
            Misconception(
                "unknown_is_padding",
                {"unknown": "0"},
                "Unknown words get the id of padding, 0. A model would overlook that a word stood there.",
            ),
            Misconception(
                "unknown_after_the_last",
                {"unknown": "after the last"},
                "Unknown words get an id beyond the vocabulary, for which an embedding has no row. They get 1.",
            ),
            Misconception(
                "ids_from_one", {"shift": 1}, "All ids are one too large. An id is the word's place, counted from 0."
            ),
            Misconception(
                "specials_counted_twice",
                {"shift": 2},
                "All ids are two too large: the vocabulary holds the two special entries already.",
            ),
            Misconception(
                "padded_with_unknown", {"padding": 1}, "The padding is 1, the id of unknown words. Padding is 0."
            ),
            Misconception(
                "empty_word_is_unknown",
                {"empty_word": True},
                'An empty text gets an unknown word: `"".split(" ")` is a list with one empty word in it.',
            ),
            Misconception(
                "width_of_the_longest",
                {"width": "longest"},
                "The rows are as wide as the longest text. They have max_length places, whatever the texts.",
            ),
            Misconception(
                "ids_are_floats",
                {"kind": "float64"},
                'Ids are whole numbers; `np.zeros` makes floats unless it is told `dtype="int32"`.',
            ),
        ),
        hints=(
            "A dictionary from word to place is made once; `vocabulary.index(word)` searches the whole list every time.",
            "`dictionary.get(word, 1)` has the answer for unknown words ready.",
            "Start with an array of zeros (n, max_length) of whole numbers, and write each row's ids into its beginning.",
        ),
    ),
    Exercise(
        name="masked_mean",
        oracle=oracles.masked_mean,
        groups=(
            Group("values", "right values, padding at the end", 2, _means),
            Group(
                "anywhere",
                "padding in other places",
                1,
                _means_anywhere,
                advice="An id of 0 is padding wherever it stands.",
            ),
            Group(
                "all_padding",
                "a row that is all padding gives 0",
                1,
                _means_empty,
                advice="A row without words has the sum 0. What may its count be, so that 0 divided by it is 0?",
            ),
            Group("types", "arrays and tensors, float type kept", 1, _means_types),
            Group(
                "training",
                "works inside tf.function, and gradients are finite",
                1,
                _means_training,
                advice="The model of the next exercise needs this function. NumPy stops graphs and gradients; "
                "`keras.ops` does not.",
            ),
        ),
        misconceptions=(
            Misconception(
                "padding_in_the_mean",
                {"kept": "all"},
                "This is the mean over all places: padding is part of it.",
            ),
            Misconception(
                "divided_by_length",
                {"divisor": "length"},
                "The words alone are added up, but the sum is divided by T. How many words has the row?",
            ),
            Misconception(
                "divided_by_one_more", {"divisor": "one more"}, "The divisor is one larger than the number of words."
            ),
            Misconception(
                "divided_by_the_longest",
                {"divisor": "most words"},
                "All rows are divided by the same number. Each row has its own number of words.",
            ),
            Misconception(
                "divided_by_the_batch",
                {"divisor": "batch"},
                "The words of the whole batch are counted together: sum the mask along the tokens only.",
            ),
            Misconception("not_divided", {"reduce": "sum"}, "This is the sum of the words; it is not divided."),
            Misconception("maximum", {"reduce": "max"}, "This is the largest value of each feature, not its mean."),
            Misconception(
                "mask_inverted",
                {"kept": "padding"},
                "The mask is the wrong way round: this is the mean of the padding.",
            ),
            Misconception(
                "unknown_left_out",
                {"kept": "known words"},
                "Words of id 1 are left out, too. `[UNK]` is a word, one that the vocabulary does not know.",
            ),
            Misconception(
                "stops_at_padding",
                {"kept": "up to the first padding"},
                "What stands behind the first padding is left out. Look at each id, not at the length.",
            ),
            Misconception(
                "empty_row_nan",
                {"guarded": False},
                "A row without words is 0/0. Divide by at least 1.",
            ),
            Misconception("over_batch", {"axis": 0}, "The mean runs over the batch. It runs over the tokens, axis 1."),
            Misconception(
                "over_features", {"axis": 2}, "The mean runs over the features. It runs over the tokens, axis 1."
            ),
            Misconception(
                "axis_kept",
                {"keepdims": True},
                "The result has an axis of size 1 too many: the tokens' axis goes away.",
            ),
        ),
        hints=(
            "The mask `ids != 0` is (B, T). Which axis does it lack to multiply x (B, T, D)?",
            "Sum the words along axis 1, and sum the mask along the same axis: the second is what to divide by.",
            "`ops.maximum(count, 1)` leaves every count as it is, but that of a row without words.",
        ),
    ),
    Exercise(
        name="build_classifier",
        oracle=oracles.build_classifier,
        cpu_seconds=40,
        groups=(
            Group(
                "parameters",
                "657,737 parameters, and as many as the table says for other sizes",
                2,
                _classifier_sizes,
                advice="Print `model.summary()` and compare each line with the table of the lab's text.",
            ),
            Group(
                "values",
                "one number from 0 to 1 for each review",
                1,
                _classifier_values,
                advice="A review's result depends on that review alone: not on its neighbours in the batch, not on chance.",
            ),
            Group(
                "padding",
                "padding changes nothing",
                3,
                _classifier_padding,
                advice="Two places can let it in: the attention's keys, and the mean over the tokens.",
            ),
            Group(
                "order",
                "the order of the words counts",
                1,
                _classifier_order,
                advice="Attention and mean are blind to order. The vector of the position is added to that of the word.",
            ),
            Group(
                "learning",
                "works inside tf.function, and gradients reach every weight",
                1,
                _classifier_learning,
                advice="NumPy stops graphs and gradients. A layer that is called on a fixed array while the model is "
                "built becomes a constant.",
            ),
        ),
        misconceptions=(
            Misconception(
                "attention_unmasked",
                {"attention_hears": (True, True)},
                "The words attend to padding: the attention layer needs `attention_mask=`, by name, which says of every "
                "key whether it is a word.",
            ),
            Misconception(
                "attention_mask_inverted",
                {"attention_hears": (False, True)},
                "The words attend to the padding and to nothing else: True means may attend, here and in Keras.",
            ),
            Misconception(
                "pooling_unmasked",
                {"pooling_hears": (True, True)},
                "The attention is masked, but padding gets into the mean over the tokens (`GlobalAveragePooling1D` "
                "without a mask does that).",
            ),
            Misconception(
                "no_mask_at_all",
                {"attention_hears": (True, True), "pooling_hears": (True, True)},
                "There is no mask: words attend to padding, and padding gets into the mean. Both need to know which ids "
                "are 0.",
            ),
            Misconception(
                "pooling_mask_inverted",
                {"pooling_hears": (False, True)},
                "What is pooled is padding, not words: is the mask the wrong way round, or is the last place taken?",
            ),
            Misconception(
                "padding_leaks",
                {"leaks": True},
                "Padding changes the result, though neither attention nor mean seems to let it in. Does something "
                "depend on the length of the input?",
            ),
            Misconception(
                "only_padding_nan",
                {"empty": "not finite"},
                "A review of nothing but padding gives NaN. `masked_mean` of such a row is 0.",
            ),
            Misconception(
                "positions_missing",
                {"positions": "none"},
                "Words in another order give the same result: no positions are added to the words.",
            ),
            Misconception(
                "positions_constant",
                {"positions": "constant"},
                "The order counts, but the positions have no weights in the model, and other values in every model: an "
                "Embedding that is called on a fixed array while the model is built leaves a random constant behind.",
            ),
            Misconception(
                "positions_not_learned",
                {"positions": "fixed"},
                "The order counts, but the positions have no weights in the model: sinusoids are fixed, and the "
                "contract asks for learned positions.",
            ),
            Misconception(
                "key_dim_divided",
                {"key_dim": "D/H"},
                "The heads are d_model / num_heads wide. This published model keeps `key_dim=d_model`: each head is as "
                "wide as the model.",
            ),
            Misconception(
                "attention_without_bias",
                {"attention_bias": False},
                "The attention's projections have no bias; Keras's default has.",
            ),
            Misconception("feed_forward_missing", {"feed_forward": False}, "The feed-forward network is missing."),
            Misconception("one_norm", {"norms": 1}, "The block has one layer norm; there are two."),
            Misconception("no_norm", {"norms": 0}, "The block has no layer norm; there are two."),
            Misconception("two_blocks", {"blocks": 2}, "There are two encoder blocks; the model has one."),
            Misconception(
                "no_hidden_layer",
                {"hidden": "none"},
                "The mean goes straight to the output. A hidden layer of 20 units with ReLU lies between.",
            ),
            Misconception(
                "hidden_as_wide_as_model", {"hidden": "D"}, "The head's hidden layer has d_model units; it has 20."
            ),
            Misconception(
                "hidden_as_wide_as_d_ff", {"hidden": "F"}, "The head's hidden layer has d_ff units; it has 20."
            ),
            Misconception(
                "spare_row",
                {"spare_rows": 1},
                "The words' table has one row too many: padding is id 0 of the vocab_size ids, not one more.",
            ),
            Misconception(
                "spare_rows",
                {"spare_rows": 2},
                'The words\' table has two rows too many: "" and "[UNK]" are among the vocab_size entries.',
            ),
            Misconception("words_frozen", {"frozen": True}, "The words' table does not learn: it is not trainable."),
            Misconception(
                "two_outputs",
                {"outputs": 2},
                "There are two outputs for each review. Two classes need one: the probability of the second.",
            ),
            Misconception(
                "no_sigmoid",
                {"activation": "none"},
                "The results leave the range from 0 to 1: the last layer lacks its sigmoid.",
            ),
            Misconception(
                "same_result_for_all",
                {"activation": "softmax"},
                "Every review gets the same result. A softmax over a single output is 1 whatever it gets: one output "
                "takes a sigmoid. Or does the head not read the mean at all?",
            ),
            Misconception("axis_lost", {"squeezed": True}, "The results are (B,); the contract is (B, 1)."),
            Misconception(
                "not_pooled",
                {"pooled": False},
                "There is a result for every token: the mean over the tokens is missing.",
            ),
            Misconception(
                "dropout_always",
                {"dropout_always": True},
                "The same review gives another result each time: something is random with `training=False`.",
            ),
            Misconception(
                "batch_mixed",
                {"batch_mixed": True},
                "A review's result depends on which others are in the batch.",
            ),
        ),
        hints=(
            '`ids = keras.Input((max_length,), dtype="int32")`, and from there on each layer is called on what the '
            "layer before returned. Count after each one.",
            "Positions in the form of ids: `ops.cumsum(ops.ones_like(ids), axis=1) - 1` is 0, 1, 2, … in every row. An "
            "Embedding with max_length rows makes vectors of them.",
            "The mask of the keys is `ids != 0` with an axis for the queries, (B, 1, T). The same ids go into "
            "`masked_mean`.",
        ),
    ),
    Exercise(
        name="train_classifier",
        oracle=oracles.train_classifier,
        cpu_seconds=60,
        groups=(
            Group(
                "learning",
                "at least 90 % of reviews that it has not seen are right",
                3,
                _training_reviews,
                advice="Draw the history. Does the loss still fall where it stops, or does it never fall at all?",
            ),
            Group(
                "stopping",
                "the weights of the epoch with the lowest validation loss",
                2,
                _turned_round,
                advice="Compare `model.evaluate(*validation)` after your training with the lowest `val_loss` of the history.",
            ),
        ),
        misconceptions=(
            Misconception(
                "validation_unused",
                {"watched": "nothing"},
                "The history has no `val_loss`: the validation reviews are not used. Give them to `fit`.",
            ),
            Misconception(
                "own_split",
                {"watched": "other reviews"},
                "The `val_loss` of the history is not that of the validation reviews. `validation_split` cuts off a "
                "part of the training reviews; `validation_data=` takes those that you are given.",
            ),
            Misconception(
                "training_watched",
                {"watched": "the training reviews"},
                "`val_loss` is the loss of the training reviews. That falls as long as the model learns them by heart.",
            ),
            Misconception(
                "learned_from_validation",
                {"validation_learned": True},
                "The model learned from the validation reviews: words that occur nowhere else have new vectors. Then "
                "their loss no longer says when to stop.",
            ),
            Misconception(
                "nothing_restored",
                {"kept": "the last epoch"},
                "The model has the weights of its last epoch. Those of the epoch with the lowest `val_loss` come back "
                "only if you ask for it.",
            ),
            Misconception(
                "other_epoch_kept",
                {"kept": "another epoch"},
                "The model has the weights of an epoch that is neither the last nor the best on the validation reviews: what "
                "does the callback watch? It is to be `val_loss`.",
            ),
            Misconception(
                "squared_error",
                {"loss": "mean squared error"},
                "The loss is the mean squared error. For a probability it is the binary cross-entropy.",
            ),
            Misconception(
                "loss_of_logits",
                {"loss": "cross-entropy of logits"},
                "The loss takes the model's probabilities for logits, and squashes them a second time.",
            ),
            Misconception(
                "loss_over_classes",
                {"loss": "cross-entropy over classes"},
                "The loss compares classes, and the model has one output: of one class the probability is always 1, the "
                "loss 0, and nothing is learned. One output takes the binary cross-entropy.",
            ),
            Misconception(
                "accuracy_not_measured",
                {"accuracy": False},
                'The history has no accuracy: `compile(…, metrics=["accuracy"])` adds it.',
            ),
            Misconception(
                "part_of_the_reviews",
                {"part": True},
                "The model learned from a part of the training reviews only: most words that occur once still have "
                "their first vectors. Does `fit` get all of x, and every epoch all batches?",
            ),
            Misconception(
                "another_model_trained",
                {"same_model": False},
                "The model that you were given is as it was: another one was trained, a copy or one of your own.",
            ),
            Misconception(
                "nothing_learned",
                {"learned": False},
                "On its own training reviews the model is hardly better than a coin. Do the labels still belong to their "
                "reviews, or was one of them shuffled alone? Is the learning rate far too small, or too large?",
            ),
            Misconception("one_epoch", {"several": False}, "There is one epoch only, so there is nothing to stop."),
        ),
        hints=(
            "Three steps: `compile`, a callback that stops in time, `fit` with validation data. Return what `fit` returns.",
            "Print the `val_loss` of the history. Is the lowest at the end? Then the training stopped too early, or not at "
            "all. If not: which weights has the model now?",
            "`restore_best_weights=True` makes EarlyStopping bring the best weights back.",
        ),
    ),
    Exercise(
        name="evaluate_predictions",
        oracle=oracles.evaluate_predictions,
        groups=(
            Group("values", "right counts and measures", 2, _measured((7, 3, 2, 11), (13, 5, 8, 3))),
            Group(
                "threshold",
                "other thresholds",
                1,
                _measured_thresholds,
                advice="A probability that equals the threshold counts as positive.",
            ),
            Group(
                "column",
                "probabilities of shape (n, 1)",
                1,
                _measured_column,
                advice="(n, 1) compared with (n,) broadcasts to (n, n). Flatten both first.",
            ),
            Group(
                "zero",
                "0 where there is nothing to divide by",
                1,
                _measured((9, 0, 4, 0), (8, 3, 0, 0), (6, 0, 0, 0)),
                advice="Nothing said to be positive, nothing that is positive, or both: each divisor may be 0.",
            ),
        ),
        misconceptions=(
            Misconception(
                "threshold_exclusive",
                {"inclusive": False},
                "A probability that equals the threshold counts as negative; positive is from the threshold up.",
            ),
            Misconception(
                "rounded",
                {"inclusive": False, "fixed": True},
                "`round` takes 0.5 to 0 (halves go to the even number), and knows no other threshold.",
            ),
            Misconception("threshold_ignored", {"fixed": True}, "The threshold is 0.5 whatever the argument says."),
            Misconception(
                "column_broadcast",
                {"broadcast": True},
                "Probabilities (n, 1) against labels (n,) made a table (n, n): every review is compared with every label.",
            ),
            Misconception(
                "confusion_transposed",
                {"layout": "[[tn, fn], [fp, tp]]"},
                "The confusion matrix is transposed: rows are true classes, columns are what the model said.",
            ),
            Misconception(
                "confusion_positive_first",
                {"layout": "[[tp, fn], [fp, tn]]"},
                "The confusion matrix begins with the positive class. Class 0 comes first: [[tn, fp], [fn, tp]].",
            ),
            Misconception(
                "confusion_both",
                {"layout": "[[tp, fp], [fn, tn]]"},
                "The confusion matrix is [[tp, fp], [fn, tn]], as in some textbooks; here it is [[tn, fp], [fn, tp]].",
            ),
            Misconception("confusion_shares", {"shares": True}, "The confusion matrix holds shares; it holds counts."),
            Misconception(
                "precision_recall_swapped",
                {"swapped": True},
                "Precision and recall are swapped. Precision: of those said to be positive, how many are?",
            ),
            Misconception(
                "f1_arithmetic", {"f1": "arithmetic"}, "F1 is the harmonic mean, not the ordinary one: 2PR / (P + R)."
            ),
            Misconception("f1_halved", {"f1": "half"}, "F1 is half of what it should be: the harmonic mean has a 2."),
            Misconception(
                "f1_geometric", {"f1": "geometric"}, "F1 is the harmonic mean, without a root: 2PR / (P + R)."
            ),
            Misconception(
                "nothing_is_nan", {"nothing": float("nan")}, "0/0 is NaN. Where nothing can be divided, give 0."
            ),
            Misconception("nothing_is_one", {"nothing": 1.0}, "Where there is nothing to divide by, the measure is 0."),
            Misconception(
                "negative_class_measured",
                {"positive": 0},
                "Class 0 is treated as the positive one. Positive is class 1.",
            ),
            Misconception(
                "accuracy_in_percent", {"percent": True}, "The accuracy is in per cent; it is a share from 0 to 1."
            ),
        ),
        hints=(
            "Make two flat boolean arrays first: said to be positive, and really positive.",
            "The four counts are sums of `said & true`, `said & ~true`, `~said & true` and `~said & ~true`.",
            "A small helper that divides, or gives 0 when the divisor is 0, serves three measures.",
        ),
    ),
    Exercise(
        name="answers",
        oracle=oracles.hand_calculation,
        groups=(
            Group("first_word", "where padding in front puts the first word", 1, _answer("first_word")),
            Group("longer", "parameters for longer reviews", 1, _answer("longer")),
            Group("narrower", "what narrower heads would save", 1, _answer("narrower")),
            Group("unit", "what is counted to 600", 1, _answer("unit")),
            Group("measures", "precision and recall by hand", 1, _answer("measures")),
            Group("report", "which number to report", 1, _answer("report")),
        ),
        misconceptions=(
            Misconception(
                "padding_thought_behind",
                {"first_word": "end"},
                "That is so with padding behind. Here it stands in front.",
            ),
            Misconception("positions_from_one", {"first_word": "from one"}, "Positions are counted from 0."),
            Misconception(
                "last_word_instead", {"first_word": "last word"}, "That is the position of the last word of the three."
            ),
            Misconception(
                "length_thought_free",
                {"longer": "unchanged"},
                "Attention has no weight that depends on the length, but one table has a row for every position.",
            ),
            Misconception("length_thought_everything", {"longer": "tripled"}, "Only one table grows with max_length."),
            Misconception(
                "old_rows_counted_again",
                {"longer": "added all 600"},
                "200 of the 600 rows were there before.",
            ),
            Misconception(
                "output_bias_halved",
                {"narrower": "half of all"},
                "Half of everything is nearly right. One bias of the four does not depend on key_dim.",
            ),
            Misconception("biases_forgotten", {"narrower": "no biases"}, "Three of the biases shrink, too."),
            Misconception(
                "one_matrix_counted", {"narrower": "one matrix"}, "Four matrices shrink: queries, keys, values, output."
            ),
            Misconception(
                "characters_thought",
                {"unit": "characters"},
                "600 characters are about a hundred words. What does one row of the ids hold?",
            ),
            Misconception("reviews_thought", {"unit": "reviews"}, "Every review is cut, however many there are."),
            Misconception(
                "hand_measures_swapped", {"measures": "swapped"}, "Precision divides by a column, recall by a row."
            ),
            Misconception(
                "hand_matrix_misread",
                {"measures": "tp first"},
                "The matrix is read as [[tp, fp], [fn, tn]]; it is [[tn, fp], [fn, tp]].",
            ),
            Misconception("hand_accuracy", {"measures": "accuracy"}, "That is the accuracy, twice."),
            Misconception(
                "best_epoch_reported",
                {"report": "best validation"},
                "The best of many epochs is the luckiest, too: the validation set chose it.",
            ),
            Misconception(
                "kept_epoch_reported",
                {"report": "kept epoch"},
                "The validation set decided which epoch is kept: it cannot be an unbiased judge of it.",
            ),
            Misconception("training_reported", {"report": "training"}, "On these reviews it was trained."),
        ),
        hints=("Each number takes a line on paper. The formulas are in lecture 04, the sizes in exercise 5.",),
        reveal=False,
        tolerance=0.0051,
    ),
)
