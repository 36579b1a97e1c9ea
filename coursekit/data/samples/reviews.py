"""Synthetic film reviews in which the order of the words decides, so that counting words is not enough.

Each review has one sentence or two that decide, among neutral ones. The same words, put together differently, decide
the other way round:

- negation: "nobody could call the plot dull and everybody could call the cast charming" is praise; swap "nobody" and
  "everybody", and it is not;
- contrast: of "the plot was dull, but the cast was charming" the second half counts; of two halves one of which begins
  with "although", the other;
- reference: "the first film was dull, the second was charming. this review is about the first one".

Every construction is as often positive as negative. Some of the reviews are plain, so that single words tell something.
"""

from __future__ import annotations

from coursekit.data.samples.draws import Draws

SIZES = {"train": 4_000, "test": 1_000}
SEED = 1

ASPECTS = (
    *("plot", "story", "cast", "acting", "music", "ending", "script", "dialogue", "pacing", "humour", "opening"),
    *("photography", "editing", "direction", "soundtrack", "romance", "mystery", "setting", "finale", "villain"),
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
    "i did find the {aspect} {degree} {word}",
)
TURNS = (
    "nobody would call the {aspect} {degree} {word}",
    "the {aspect} was never {degree} {word}",
    "i did not find the {aspect} {degree} {word}",
)
NEUTRAL = (
    "we saw it on a {day} evening with {people}.",
    "it runs for about {number} minutes.",
    "{people} had told me about it.",
    "the cinema was half empty that {day}.",
    "it is set in a {place} in the {season}.",
    "i had read the book some years ago.",
    "the film was shown in the {place} last {season}.",
    "{people} sat in the row behind us.",
    "most of it takes place in a {place}.",
    "it was filmed in {number} days.",
    "the director has made {number} films before.",
    "we talked about it on the way home.",
)
FILLERS = {
    "day": ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
    "people": ("my brother", "my sister", "two friends", "my parents", "a neighbour", "some colleagues", "my aunt"),
    "number": ("ninety", "a hundred", "eighty", "three", "forty", "sixty", "twelve"),
    "place": ("village", "harbour", "hospital", "small town", "castle", "school", "theatre", "train"),
    "season": ("spring", "summer", "autumn", "winter"),
}


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
    """One review with the given label."""
    core = draws.one_of(KINDS)
    after = [_neutral(draws) for _ in range(draws.below(4))]
    pause = " <br /><br />" if draws.chance(0.1) else ""
    opener = draws.one_of(OPENERS)
    return " ".join([opener + core(draws, label) + pause, *after])


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
    return f"the first film was {first}, the second was {second}. i am writing about the {chosen}."


def _neutral(draws: Draws) -> str:
    return draws.one_of(NEUTRAL).format(**{slot: draws.one_of(words) for slot, words in FILLERS.items()})


OPENERS = ("", "", "well, ", "to be honest, ", "i think ")
KINDS = (*(_plain,) * 4, *(_negation,) * 2, *(_contrast,) * 2, *(_reference,) * 2)
