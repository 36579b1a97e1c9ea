"""Lab 06, exercise `build_vocabulary`."""

from collections import Counter
from collections.abc import Sequence

from autograder.declare import Case, Exercise, edit
from exercises.imdb_classifier.shared import ACCENTED, WORDS, pick


def _counted_texts(rng, empty: bool = False) -> list[str]:
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
    def draw(rng) -> list[Case]:
        cases = []
        for limit in limits:
            texts = _counted_texts(rng, empty)
            description = f"{len(texts)} texts, {'two of them empty, ' if empty else ''}max_tokens={limit}"
            cases.append(Case({"texts": texts, "max_tokens": limit}, description))
        return cases

    return draw


exercise = Exercise("build_vocabulary", own_probe=True, returns=("vocabulary",))


@exercise.formula
def build_vocabulary(texts: Sequence[str], max_tokens: int) -> list[str]:
    """Padding, unknown, then the words by falling count and, where counts agree, by the alphabet; max_tokens in all."""
    counts = Counter(word for text in texts for word in text.split())
    words = sorted(counts, key=lambda word: (-counts[word], word))
    head = ["", "[UNK]"]
    return (head + words)[:max_tokens]


exercise.group("right words in the right order", points=2, values=_vocabularies(50, 40))
exercise.group("at most max_tokens entries", cut=_vocabularies(5, 7))
exercise.group("max_tokens 0, 1, 2 and 3", must_fail_for=("alphabetical_only",), small=_vocabularies(0, 1, 2, 3))


@exercise.group("texts with nothing in them")
def empty(rng):
    return _vocabularies(50, empty=True)(rng)


SPECIALS = '["", "[UNK]"]'
CUT = "(head + words)[:max_tokens]"
SORTED = "sorted(counts, key=lambda word: (-counts[word], word))"

exercise.mistakes(
    no_special_entries=edit(SPECIALS, "[]", see="06#text-to-ids")
    | 'The list begins with words. It should begin with "" for padding and "[UNK]" for unknown words.'
    | "Which ids do padding and unknown words have in the next exercise?",
    special_entries_swapped=edit(SPECIALS, '["[UNK]", ""]', see="06#text-to-ids")
    | '"[UNK]" is entry 0. Padding is 0 everywhere in this course, unknown words are 1.',
    no_padding_entry=edit(SPECIALS, '["[UNK]"]', see="06#text-to-ids") | 'The entry "" for padding is missing.',
    specials_not_counted=edit(CUT, "head + words[:max_tokens]")
    | "The list is two entries too long: the special entries count."
    | "How many words fit into a list of five entries, two of which are special?",
    specials_always=edit(CUT, "head + words[: max(0, max_tokens - len(head))]")
    | "With max_tokens below 2 the list is too long: cut off the special entries like all others.",
    cut_before_ties=edit(
        CUT, "head + [word for word in words if word in dict(counts.most_common(max(0, max_tokens - 2)))]"
    )
    | "The list is cut before words that are equally frequent are put in order, so the wrong words may be left: "
    "`most_common(n)` cuts. Sort first, then cut." | "In which order come sorting and cutting in your code?",
    slice_from_the_end=edit(CUT, "head + words[: max_tokens - len(head)]")
    | "With max_tokens below 2 the end of your slice is negative, which counts from the end of the list.",
    not_cut=edit(CUT, "head + words") | "max_tokens changes nothing.",
    rare_words_first=edit("-counts[word]", "counts[word]") | "The rarest words come first.",
    alphabetical_only=edit(SORTED, "sorted(counts)") | "The words are in alphabetical order; sort by count first.",
    ties_as_seen=edit(SORTED, "sorted(counts, key=lambda word: -counts[word])")
    | "Words that are equally frequent stand in the order in which they appear (as in `Counter.most_common`); they "
    "should be in alphabetical order." | "A key may be a pair: what comes first decides first.",
    ties_backwards=edit(SORTED, "sorted(sorted(counts, reverse=True), key=lambda word: -counts[word])")
    | "Words that are equally frequent are in reverse alphabetical order, as `TextVectorization` has them, and a sort "
    "by pairs with `reverse=True`. They should be in alphabetical order.",
    texts_counted=edit("text.split()", "dict.fromkeys(text.split())")
    | "You count the texts that contain a word; count all its occurrences.",
    empty_word_counted=edit("text.split()", 'text.split(" ")') | 'An empty text adds "" once more to the vocabulary.',
)

exercise.advice(
    cut="The two special entries count: max_tokens=5 leaves room for three words.",
    small="The special entries need room, too. A slice with a negative end leaves out the last entries.",
    empty='`"".split(" ")` is a list with one empty word in it; `"".split()` is empty.',
)
exercise.hints(
    values=(
        "`collections.Counter` counts; `sorted` takes a `key`, and a key may be a pair: what comes first decides "
        "first.",
        "For falling counts inside an ordinary sort, take the negative count.",
    ),
    cut="Put the special entries and the words into one list, and cut it once, at the end.",
    small="What does a slice with a negative end do? Cutting the whole list at `max_tokens` needs no such end.",
)
