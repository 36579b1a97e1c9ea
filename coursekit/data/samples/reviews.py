"""Synthetic film reviews in which the order of the words decides, so that counting words is not enough.

Each review has one sentence or two that decide, among neutral ones. The same words, put together differently, decide
the other way round:

- negation: "nobody could call the plot dull and everybody could call the cast charming" is praise; swap "nobody" and
  "everybody", and it is not;
- contrast: of "the plot was dull, but the cast was charming" the second half counts; of two halves one of which begins
  with "although", the other;
- reference: "the first film was dull, the second was charming. I am writing about the former".

Every construction is as often positive as negative. Some of the reviews are plain, so that single words tell something.
"""

from __future__ import annotations

from coursekit.data.samples.draws import Draws

SIZES = {"train": 4_000, "test": 1_000}
SEED = 1

ASPECTS = (
    *("plot", "story", "cast", "acting", "music", "ending", "script", "dialogue", "pacing", "humour", "opening"),
    *("photography", "editing", "direction", "soundtrack", "romance", "mystery", "setting", "finale", "villain"),
    *("heroine", "chase", "camera work", "narrator"),
)
PRAISE = (
    *("wonderful", "gripping", "moving", "clever", "charming", "brilliant", "delightful", "superb", "touching"),
    *("elegant", "witty", "convincing", "splendid", "inspired", "lovely", "excellent"),
)
BLAME = (
    *("dull", "tedious", "clumsy", "predictable", "awful", "lifeless", "bland", "hollow", "boring", "weak"),
    *("messy", "shallow", "tiresome", "wooden", "dreadful", "annoying"),
)
DEGREES = ("really", "truly", "rather", "very", "quite", "so")
# The clause keeps the sense of its adjective, or turns it round; the two differ in one word, which is not beside it.
KEEPS = (
    "everybody would call the {aspect} {degree} {word}",
    "the {aspect} was always {degree} {word}",
    "I did find the {aspect} {degree} {word}",
)
TURNS = (
    "nobody would call the {aspect} {degree} {word}",
    "the {aspect} was never {degree} {word}",
    "I did not find the {aspect} {degree} {word}",
)
NEUTRAL = (
    "We saw it on a {day} evening with {people}.",
    "It runs for about {number} minutes.",
    "{people} had told me about it.",
    "The cinema was half empty that {day}.",
    "It is set in a {place} in the {season}.",
    "I had read the book some years ago.",
    "The film was shown in the {place} last {season}.",
    "{people} sat in the row behind us.",
    "Most of it takes place in a {place}.",
    "It was filmed in {number} days.",
    "The director has made {number} films before.",
    "We talked about it on the way home.",
    "A {person} looks for {thing} and meets a {other}.",
    "The {person} comes home from the {place} after {number} years.",
    "It begins with a letter to a {person}.",
    "There is a sequel, which comes out in the {season}.",
    "Tickets cost {number} coins on {day}.",
    "The original was made in black and white.",
    "I watched it twice, once with {people}.",
    "The credits are long, and they mention a {person}.",
    "In the middle, somebody steals {thing} from a {place}.",
    "Subtitles are available in {number} languages.",
    "My copy has an interview with the {person}.",
    "It is based on the diary of a {person} from the {place}.",
)
FILLERS = {
    "day": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    "people": ("my brother", "my sister", "two friends", "my parents", "a neighbour", "some colleagues", "my aunt"),
    "number": ("ninety", "a hundred", "eighty", "three", "forty", "sixty", "twelve"),
    "place": ("village", "harbour", "hospital", "small town", "castle", "school", "theatre", "train"),
    "season": ("spring", "summer", "autumn", "winter"),
    "person": ("doctor", "sailor", "teacher", "painter", "detective", "farmer", "singer", "clerk"),
    "other": ("stranger", "thief", "general", "cousin", "widow", "pilot"),
    "thing": ("a map", "an old ring", "a suitcase", "the key of a safe", "a violin", "some photographs"),
}
PAUSE = " <br /><br />"  # as in reviews that were taken from web pages


def sample_reviews(part: str) -> tuple[list[str], list[int]]:
    """Make the part "train" or "test": texts, and labels (1 positive, 0 negative), as many of one as of the other.

    No text of one part occurs in the other.
    """
    seen: set[str] = set()
    for name, size in SIZES.items():
        draws = Draws(f"reviews {name} {SEED}")
        rows: list[tuple[str, int]] = []
        while len(rows) < size:
            label = len(rows) % 2
            text = review(draws, label)
            if text not in seen:
                seen.add(text)
                rows.append((text, label))
        if name == part:
            rows = draws.shuffled(rows)
            return [text for text, _ in rows], [label for _, label in rows]
    raise ValueError(f'no part "{part}"; there are {", ".join(SIZES)}')


def review(draws: Draws, label: int) -> str:
    """One review with the given label: the sentences that decide, then up to three neutral ones."""
    core = draws.one_of(KINDS)
    pause = PAUSE if draws.chance(0.1) else ""
    rest = [_neutral(draws) for _ in range(draws.below(4))]
    return " ".join([_capital(core(draws, label)) + pause, *map(_capital, rest)])


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _adjective(draws: Draws, positive: bool) -> str:
    return draws.one_of(PRAISE if positive else BLAME)


def _clause(draws: Draws, positive: bool, turned: bool, form: int | None = None) -> str:
    forms = TURNS if turned else KEEPS
    template = forms[draws.below(len(forms)) if form is None else form]
    return template.format(
        aspect=draws.one_of(ASPECTS), degree=draws.one_of(DEGREES), word=_adjective(draws, positive != turned)
    )


def _plain(draws: Draws, label: int) -> str:
    first, second = draws.some_of(ASPECTS, 2)
    words = _adjective(draws, bool(label)), _adjective(draws, bool(label))
    return f"the {first} was {words[0]} and the {second} was {words[1]}."


def _negation(draws: Draws, label: int) -> str:
    form = draws.below(len(KEEPS))
    if draws.chance(0.7):
        return _clause(draws, bool(label), draws.chance(0.7), form) + "."
    turned = draws.chance(0.5)
    first = _clause(draws, bool(label), turned, form)
    second = _clause(draws, bool(label), not turned, form)
    return f"{first} and {second}."


def _contrast(draws: Draws, label: int) -> str:
    counts = _simple(draws, bool(label))
    gives_way = _simple(draws, not label)
    kind = draws.below(3)
    if kind == 0:
        return f"{gives_way}, but {counts}."
    if kind == 1:
        return f"although {gives_way}, {counts}."
    return f"{counts}, although {gives_way}."


def _simple(draws: Draws, positive: bool) -> str:
    return f"the {draws.one_of(ASPECTS)} was {draws.one_of(DEGREES)} {_adjective(draws, positive)}"


def _reference(draws: Draws, label: int) -> str:
    about_first = draws.chance(0.5)
    first = _adjective(draws, bool(label) == about_first)
    second = _adjective(draws, bool(label) != about_first)
    chosen = "former" if about_first else "latter"
    return f"the first film was {first}, the second was {second}. I am writing about the {chosen}."


def _neutral(draws: Draws) -> str:
    return draws.one_of(NEUTRAL).format(**{slot: draws.one_of(words) for slot, words in FILLERS.items()})


# How often each construction occurs.
KINDS = (*(_plain,) * 4, *(_negation,) * 2, *(_contrast,) * 2, *(_reference,) * 2)
