"""Lab 06, exercise `standardize`."""

import re
import string

from autograder.declaring import Case, Exercise, wrong
from coursekit.generator import Generator
from exercises.imdb_classifier.shared import ACCENTED, WORDS, pick

OPENINGS = ("Don't", "Isn't", "Can't", "Won't")


HYPHENATED = ("well-made", "low-key", "made-up", "half-baked")


def _texts_of(rng: Generator, *patterns: str) -> list[Case]:
    """Cases of `standardize`: each pattern filled with fresh words, {0} to {5}."""
    cases = []
    for pattern in patterns:
        words = [*pick(rng, WORDS, 4), pick(rng, HYPHENATED, 1)[0], pick(rng, OPENINGS, 1)[0]]
        text = pattern.format(*words, accented=pick(rng, ACCENTED, 1)[0], number=int(rng.integers(20, 90)))
        cases.append(Case({"text": text}))
    return cases


exercise = Exercise("standardize", returns=("standardized",))


@exercise.formula
def standardize(text: str) -> str:
    """Lower case; line breaks of HTML to spaces; ASCII punctuation removed; runs of white space to one space."""
    spaced = re.sub(r"<br\s*/?>", " ", text, flags=re.IGNORECASE)
    lower = spaced.lower()
    kept = "".join(c for c in lower if c not in string.punctuation)
    return " ".join(kept.split())


@exercise.group("lower case, no punctuation", points=2)
def words(rng: Generator) -> list[Case]:
    return _texts_of(
        rng, "{5} miss THE {0}: {1}, {2}; and (really) a {4} {3}!!!", 'The "{0}" of {1} & {2} is SO {4}?', "{0}"
    )


@exercise.group(
    "line breaks of HTML become spaces",
    points=1,
    advice="Three spellings, `<br>`, `<br/>` and `<br />`, in capitals too. A `<` alone is punctuation.",
)
def breaks(rng: Generator) -> list[Case]:
    return _texts_of(
        rng,
        "A {0}.<br /><br />The {1}",
        "bad {0}<br>good {1}<br/>fine {2}",
        "{0}<BR />{1}<Br>{2}",
        "{0} 5 < 6 but {1} 7 > 3 {2}",
    )


@exercise.group("letters of other languages and digits stay", points=1)
def letters(rng: Generator) -> list[Case]:
    return _texts_of(rng, "{accented} {0} – {1}_{2}, {number}/10", "ÉTÉ: the {accented} of {0}, 日本, {number}.5 stars")


@exercise.group("one space between words, none at the ends", points=1)
def spaces(rng: Generator) -> list[Case]:
    return _texts_of(rng, "{0}   {1}\t\t{2}\n\n{3}", "  {0} {1} <br />", "\n{0} - {1} !\t")


@exercise.group("texts with nothing in them", points=1)
def edges(rng: Generator) -> list[Case]:
    return [Case({"text": text}) for text in ("", " ... ?! ", "<br /><br />")] + _texts_of(rng, "{number}!")


BREAK = r'r"<br\s*/?>"'
KEPT = "c not in string.punctuation"
ONE_SPACE = '" ".join(kept.split())'

exercise.mistakes(
    capitals_kept=wrong(
        "Capitals stay capitals: `The` and `the` are two words.", ("spaced.lower()", "spaced"), see="06#text-to-ids"
    ),
    br_becomes_a_word=wrong(
        "`<br />` leaves the word `br` behind. Which of your steps removes its brackets, and when?",
        (f're.sub({BREAK}, " ", text, flags=re.IGNORECASE)', "text"),
        hint="Look at the text after each step: in which one does `<br />` become `br `?",
        see="06#text-to-ids",
    ),
    one_spelling_of_br=wrong(
        "Only `<br />` is found; `<br>` and `<br/>` are line breaks, too.",
        (BREAK, '"<br />"'),
        hint="In a pattern `?` makes what stands before it optional, and `*` repeats it.",
    ),
    every_tag_removed=wrong(
        "Everything between `<` and `>` is gone, also words. Remove only line breaks.", (BREAK, '"<[^>]*>"')
    ),
    break_glues_words=wrong(
        "Two words are joined where a line break was. A line break should become a space.",
        ('" ", text', '"", text'),
        hint="What do you put in the place of a line break?",
    ),
    br_in_capitals_missed=wrong(
        "`<BR>` in capitals is not found: lower case first, or ignore case in the search.",
        ("flags=re.IGNORECASE", "flags=0"),
    ),
    punctuation_kept=wrong("Punctuation is still there.", (KEPT, "True")),
    punctuation_to_space=wrong(
        "Punctuation becomes a space: `don't` becomes two words. Remove it, so that `dont` is left.",
        (f"c for c in lower if {KEPT}", 'c if c not in string.punctuation else " " for c in lower'),
        hint="How many words should `don't` be in the result?",
    ),
    apostrophes_kept=wrong(
        "The apostrophe stays. It is punctuation, too: `don't` should become `dont`.", (KEPT, KEPT + ' or c == "\'"')
    ),
    other_letters_lost=wrong(
        "Letters beyond a to z are lost: é, ü and 日 are letters.", (KEPT, f"{KEPT} and c.isascii()")
    ),
    other_punctuation=wrong(
        "Your pattern is not `string.punctuation`: the dash – is not in it and stays, `_` is in it and goes.",
        (KEPT, '(c.isalnum() or c.isspace() or c == "_")'),
    ),
    digits_lost=wrong("Digits are gone. `9/10` should become `910`.", (KEPT, f"{KEPT} and not c.isdigit()")),
    ends_not_stripped=wrong(
        "A space is left at the beginning or at the end.", (ONE_SPACE, r're.sub(r"\s+", " ", kept)')
    ),
    spaces_not_collapsed=wrong("Runs of white space stay as they are.", (ONE_SPACE, "kept")),
    tabs_and_newlines_kept=wrong(
        "Tabs and line ends stay. White space is more than the space.",
        (ONE_SPACE, 're.sub(" +", " ", kept).strip(" ")'),
    ),
)


exercise.hints(
    "`re.sub` replaces what a pattern finds, `str.translate` many characters at once, `str.split()` without an "
    "argument splits at any white space."
)
exercise.hints(
    "Four steps. Their order matters: what happens to the `<` of a `<br />` if punctuation goes first?",
    'The pattern `r"<br\\s*/?>"` finds all three spellings, in a text that is in lower case already.',
    group="breaks",
)
exercise.hints(
    "Which characters does your code remove: those of `string.punctuation`, or all except those that you listed?",
    group="letters",
)
exercise.hints("A tab and a line break are white space too. Which argument do you give to `split`?", group="spaces")
exercise.hints(
    "Try the empty text, and a text of punctuation only: the result has no words and no space.", group="edges"
)
