"""Lab 06, exercise `standardize`."""

import re
import string

from autograder.declare import Case, Exercise, edit
from exercises.imdb_classifier.shared import ACCENTED, WORDS, pick

OPENINGS = ("Don't", "Isn't", "Can't", "Won't")

HYPHENATED = ("well-made", "low-key", "made-up", "half-baked")


def _texts_of(rng, *patterns: str) -> list[Case]:
    """Cases of `standardize`: each pattern filled with fresh words, {0} to {5}."""
    cases = []
    for pattern in patterns:
        words = [*pick(rng, WORDS, 4), pick(rng, HYPHENATED, 1)[0], pick(rng, OPENINGS, 1)[0]]
        text = pattern.format(*words, accented=pick(rng, ACCENTED, 1)[0], number=int(rng.integers(20, 90)))
        cases.append(Case({"text": text}))
    return cases


exercise = Exercise("standardize", own_probe=True, returns=("standardized",))


@exercise.formula
def standardize(text: str) -> str:
    """Lower case; line breaks of HTML to spaces; ASCII punctuation removed; runs of white space to one space."""
    spaced = re.sub(r"<br\s*/?>", " ", text, flags=re.IGNORECASE)
    lower = spaced.lower()
    kept = "".join(c for c in lower if c not in string.punctuation)
    return " ".join(kept.split())


@exercise.group("lower case, no punctuation", points=2)
def words(rng):
    return _texts_of(
        rng, "{5} miss THE {0}: {1}, {2}; and (really) a {4} {3}!!!", 'The "{0}" of {1} & {2} is SO {4}?', "{0}"
    )


@exercise.group("line breaks of HTML become spaces")
def breaks(rng):
    return _texts_of(
        rng,
        "A {0}.<br /><br />The {1}",
        "bad {0}<br>good {1}<br/>fine {2}",
        "{0}<BR />{1}<Br>{2}",
        "{0} 5 < 6 but {1} 7 > 3 {2}",
    )


@exercise.group("letters of other languages and digits stay")
def letters(rng):
    return _texts_of(rng, "{accented} {0} – {1}_{2}, {number}/10", "ÉTÉ: the {accented} of {0}, 日本, {number}.5 stars")


exercise.group(
    "one space between words, none at the ends",
    spaces=lambda rng: _texts_of(rng, "{0}   {1}\t\t{2}\n\n{3}", "  {0} {1} <br />", "\n{0} - {1} !\t"),
)
exercise.group(
    "texts with nothing in them",
    edges=lambda rng: [Case({"text": text}) for text in ("", " ... ?! ", "<br /><br />")] + _texts_of(rng, "{number}!"),
)
BREAK = r'r"<br\s*/?>"'
KEPT = "c not in string.punctuation"
ONE_SPACE = '" ".join(kept.split())'

exercise.mistakes(
    capitals_kept=edit("spaced.lower()", "spaced", see="06#text-to-ids")
    | "Capitals stay capitals: `The` and `the` are two words.",
    br_becomes_a_word=edit(f're.sub({BREAK}, " ", text, flags=re.IGNORECASE)', "text", see="06#text-to-ids")
    | "`<br />` leaves the word `br` behind. Which of your steps removes its brackets, and when?"
    | "Look at the text after each step: in which one does `<br />` become `br `?",
    one_spelling_of_br=edit(BREAK, '"<br />"')
    | "Only `<br />` is found; `<br>` and `<br/>` are line breaks, too."
    | "In a pattern `?` makes what stands before it optional, and `*` repeats it.",
    every_tag_removed=edit(BREAK, '"<[^>]*>"')
    | "Everything between `<` and `>` is gone, also words. Remove only line breaks.",
    break_glues_words=edit('" ", text', '"", text')
    | "Two words are joined where a line break was. A line break should become a space."
    | "What do you put in the place of a line break?",
    br_in_capitals_missed=edit("flags=re.IGNORECASE", "flags=0")
    | "`<BR>` in capitals is not found: lower case first, or ignore case in the search.",
    punctuation_kept=edit(KEPT, "True") | "Punctuation is still there.",
    punctuation_to_space=edit(f"c for c in lower if {KEPT}", 'c if c not in string.punctuation else " " for c in lower')
    | "Punctuation becomes a space: `don't` becomes two words. Remove it, so that `dont` is left."
    | "How many words should `don't` be in the result?",
    apostrophes_kept=edit(KEPT, KEPT + ' or c == "\'"')
    | "The apostrophe stays. It is punctuation, too: `don't` should become `dont`.",
    other_letters_lost=edit(KEPT, f"{KEPT} and c.isascii()")
    | "Letters beyond a to z are lost: é, ü and 日 are letters.",
    other_punctuation=edit(KEPT, '(c.isalnum() or c.isspace() or c == "_")')
    | "Your pattern is not `string.punctuation`: the dash – is not in it and stays, `_` is in it and goes.",
    digits_lost=edit(KEPT, f"{KEPT} and not c.isdigit()") | "Digits are gone. `9/10` should become `910`.",
    ends_not_stripped=edit(ONE_SPACE, 're.sub(r"\\s+", " ", kept)') | "A space is left at the beginning or at the end.",
    spaces_not_collapsed=edit(ONE_SPACE, "kept") | "Runs of white space stay as they are.",
    tabs_and_newlines_kept=edit(ONE_SPACE, 're.sub(" +", " ", kept).strip(" ")')
    | "Tabs and line ends stay. White space is more than the space.",
)

exercise.advice(breaks="Three spellings, `<br>`, `<br/>` and `<br />`, in capitals too. A `<` alone is punctuation.")
exercise.hints(
    words="`re.sub` replaces what a pattern finds, `str.translate` many characters at once, `str.split()` without an "
    "argument splits at any white space.",
    breaks=(
        "Four steps. Their order matters: what happens to the `<` of a `<br />` if punctuation goes first?",
        'The pattern `r"<br\\s*/?>"` finds all three spellings, in a text that is in lower case already.',
    ),
    letters="Which characters does your code remove: those of `string.punctuation`, or all except those that you "
    "listed?",
    spaces="A tab and a line break are white space too. Which argument do you give to `split`?",
    edges="Try the empty text, and a text of punctuation only: the result has no words and no space.",
)
