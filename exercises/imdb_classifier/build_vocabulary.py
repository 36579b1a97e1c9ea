"""Lab 06, exercise `build_vocabulary`."""

from collections import Counter
from collections.abc import Sequence

from autograder.declaring import Case, Exercise, wrong
from coursekit.generator import Generator
from exercises.imdb_classifier.shared import ACCENTED, WORDS, pick


def _counted_texts(rng: Generator, empty: bool = False) -> list[str]:
    """Standardised texts: one word most often but in one text only, then three, three and two words as often."""
    words = sorted(pick(rng, WORDS, 9)[:7] + pick(rng, ACCENTED, 2))
    top = words.pop(int(rng.integers(len(words))))
    second, first, rest = words[:3], words[3:6], words[6:]  # what is frequent comes late in the alphabet
    ties = [[three[1], three[2], three[0]] for three in (first, second)] + [rest[::-1]]
    texts = [" ".join([top] * 5), *[" ".join(ties[0] + ties[1][:]) for _ in range(2)]]
    texts += [" ".join(ties[0]), " ".join([*ties[0], *ties[2]])]
    if empty:
        texts[2:2] = ["", ""]
    return [str(text) for text in texts]


def _vocabularies(*limits: int, empty: bool = False):
    def draw(rng: Generator) -> list[Case]:
        cases = []
        for limit in limits:
            texts = _counted_texts(rng, empty)
            description = f"{len(texts)} texts, {'two of them empty, ' if empty else ''}max_tokens={limit}"
            cases.append(Case({"texts": texts, "max_tokens": limit}, description=description))
        return cases

    return draw


exercise = Exercise("build_vocabulary", returns=("vocabulary",))


@exercise.formula
def build_vocabulary(texts: Sequence[str], max_tokens: int) -> list[str]:
    """Padding, unknown, then the words by falling count and, where counts agree, by the alphabet; max_tokens in all."""
    counts = Counter(word for text in texts for word in text.split())
    words = sorted(counts, key=lambda word: (-counts[word], word))
    head = ["", "[UNK]"]
    return (head + words)[:max_tokens]


@exercise.group("right words in the right order", points=2)
def values(rng: Generator) -> list[Case]:
    return _vocabularies(50, 40)(rng)


@exercise.group(
    "at most max_tokens entries",
    points=1,
    advice="The two special entries count: max_tokens=5 leaves room for three words.",
)
def cut(rng: Generator) -> list[Case]:
    return _vocabularies(5, 7)(rng)


@exercise.group(
    "max_tokens 0, 1, 2 and 3",
    points=1,
    advice="The special entries need room, too. A slice with a negative end leaves out the last entries.",
    must_fail_for=("alphabetical_only",),  # the most frequent word is not the first of the alphabet
)
def small(rng: Generator) -> list[Case]:
    return _vocabularies(0, 1, 2, 3)(rng)


@exercise.group(
    "texts with nothing in them",
    points=1,
    advice='`"".split(" ")` is a list with one empty word in it; `"".split()` is empty.',
)
def empty(rng: Generator) -> list[Case]:
    return _vocabularies(50, empty=True)(rng)


SPECIALS = '["", "[UNK]"]'
CUT = "(head + words)[:max_tokens]"
SORTED = "sorted(counts, key=lambda word: (-counts[word], word))"

exercise.mistakes(
    no_special_entries=wrong(
        'The list begins with words. It should begin with "" for padding and "[UNK]" for unknown words.',
        (SPECIALS, "[]"),
        hint="Which ids do padding and unknown words have in the next exercise?",
        see="06#text-to-ids",
    ),
    special_entries_swapped=wrong(
        '"[UNK]" is entry 0. Padding is 0 everywhere in this course, unknown words are 1.',
        (SPECIALS, '["[UNK]", ""]'),
        see="06#text-to-ids",
    ),
    no_padding_entry=wrong('The entry "" for padding is missing.', (SPECIALS, '["[UNK]"]'), see="06#text-to-ids"),
    specials_not_counted=wrong(
        "The list is two entries too long: the special entries count.",
        (CUT, "head + words[:max_tokens]"),
        hint="How many words fit into a list of five entries, two of which are special?",
    ),
    specials_always=wrong(
        "With max_tokens below 2 the list is too long: cut off the special entries like all others.",
        (CUT, "head + words[: max(0, max_tokens - len(head))]"),
    ),
    cut_before_ties=wrong(
        "The list is cut before words that are equally frequent are put in order, so the wrong words may be left: "
        "`most_common(n)` cuts. Sort first, then cut.",
        (CUT, "head + [word for word in words if word in dict(counts.most_common(max(0, max_tokens - 2)))]"),
        hint="In which order come sorting and cutting in your code?",
    ),
    slice_from_the_end=wrong(
        "With max_tokens below 2 the end of your slice is negative, which counts from the end of the list.",
        (CUT, "head + words[: max_tokens - len(head)]"),
    ),
    not_cut=wrong("max_tokens changes nothing.", (CUT, "head + words")),
    rare_words_first=wrong("The rarest words come first.", ("-counts[word]", "counts[word]")),
    alphabetical_only=wrong("The words are in alphabetical order; sort by count first.", (SORTED, "sorted(counts)")),
    ties_as_seen=wrong(
        "Words that are equally frequent stand in the order in which they appear (as in `Counter.most_common`); they "
        "should be in alphabetical order.",
        (SORTED, "sorted(counts, key=lambda word: -counts[word])"),
        hint="A key may be a pair: what comes first decides first.",
    ),
    ties_backwards=wrong(
        "Words that are equally frequent are in reverse alphabetical order, as `TextVectorization` has them, and a "
        "sort by pairs with `reverse=True`. They should be in alphabetical order.",
        (SORTED, "sorted(sorted(counts, reverse=True), key=lambda word: -counts[word])"),
    ),
    texts_counted=wrong(
        "You count the texts that contain a word; count all its occurrences.",
        ("text.split()", "dict.fromkeys(text.split())"),
    ),
    empty_word_counted=wrong('An empty text adds "" once more to the vocabulary.', ("text.split()", 'text.split(" ")')),
)


exercise.hints(
    "`collections.Counter` counts; `sorted` takes a `key`, and a key may be a pair: what comes first decides first.",
    "For falling counts inside an ordinary sort, take the negative count.",
)
exercise.hints("Put the special entries and the words into one list, and cut it once, at the end.", group="cut")
exercise.hints(
    "What does a slice with a negative end do? Cutting the whole list at `max_tokens` needs no such end.", group="small"
)
