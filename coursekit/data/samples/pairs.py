"""Synthetic English–German sentence pairs, with what makes German hard to translate into word by word.

Articles and adjectives agree in gender and case, the verb is second in a main clause and last in a subordinate one, an
infinitive or a participle goes to the end, and "it" is "er", "sie" or "es" by the noun that it stands for.
"""

from __future__ import annotations

from dataclasses import dataclass

from coursekit.data.samples.draws import Draws

SIZES = {"train": 3_000, "validation": 300, "test": 300}
SEED = 1


@dataclass(frozen=True)
class Noun:
    """A noun in both languages; `gender` is that of the German word: "m", "f" or "n"."""

    english: str
    german: str
    gender: str
    accusative: str = ""


@dataclass(frozen=True)
class Verb:
    """A verb: English base, third person, participle; German infinitive, third person, participle."""

    base: str
    third: str
    done: str
    infinitive: str
    dritte: str
    partizip: str


BEINGS = (
    Noun("dog", "Hund", "m"),
    Noun("man", "Mann", "m"),
    Noun("teacher", "Lehrer", "m"),
    Noun("boy", "Junge", "m", "Jungen"),
    Noun("bird", "Vogel", "m"),
    Noun("cat", "Katze", "f"),
    Noun("woman", "Frau", "f"),
    Noun("nurse", "Pflegerin", "f"),
    Noun("horse", "Pferd", "n"),
    Noun("child", "Kind", "n"),
    Noun("girl", "Mädchen", "n"),
    Noun("sheep", "Schaf", "n"),
)
THINGS = (
    Noun("ball", "Ball", "m"),
    Noun("apple", "Apfel", "m"),
    Noun("letter", "Brief", "m"),
    Noun("chair", "Stuhl", "m"),
    Noun("newspaper", "Zeitung", "f"),
    Noun("lamp", "Lampe", "f"),
    Noun("bag", "Tasche", "f"),
    Noun("door", "Tür", "f"),
    Noun("book", "Buch", "n"),
    Noun("picture", "Bild", "n"),
    Noun("house", "Haus", "n"),
    Noun("car", "Auto", "n"),
)
VERBS = (
    Verb("see", "sees", "seen", "sehen", "sieht", "gesehen"),
    Verb("look for", "looks for", "looked for", "suchen", "sucht", "gesucht"),
    Verb("find", "finds", "found", "finden", "findet", "gefunden"),
    Verb("love", "loves", "loved", "lieben", "liebt", "geliebt"),
    Verb("paint", "paints", "painted", "malen", "malt", "gemalt"),
    Verb("carry", "carries", "carried", "tragen", "trägt", "getragen"),
    Verb("hold", "holds", "held", "halten", "hält", "gehalten"),
    Verb("forget", "forgets", "forgotten", "vergessen", "vergisst", "vergessen"),
)
ADJECTIVES = (
    ("small", "klein"),
    ("big", "groß"),
    ("old", "alt"),
    ("young", "jung"),
    ("red", "rot"),
    ("white", "weiß"),
    ("beautiful", "schön"),
    ("new", "neu"),
)
STATES = (
    ("tired", "müde"),
    ("hungry", "hungrig"),
    ("happy", "froh"),
    ("ill", "krank"),
    ("wet", "nass"),
    ("new", "neu"),
)
TIMES = (
    ("today", "heute"),
    ("often", "oft"),
    ("now", "jetzt"),
    ("sometimes", "manchmal"),
    ("in the evening", "am Abend"),
)
PLACES = (
    ("in the garden", "im Garten"),
    ("at home", "zu Hause"),
    ("in the city", "in der Stadt"),
    ("outside", "draußen"),
)
MODALS = (("can", "kann"), ("must", "muss"), ("wants to", "will"), ("may", "darf"))
PRONOUNS = {"m": "er", "f": "sie", "n": "es"}
DEFINITE = {("m", 1): "der", ("m", 4): "den", ("f", 1): "die", ("f", 4): "die", ("n", 1): "das", ("n", 4): "das"}
INDEFINITE = {("m", 1): "ein", ("m", 4): "einen", ("f", 1): "eine", ("f", 4): "eine", ("n", 1): "ein", ("n", 4): "ein"}
AFTER_INDEFINITE = {("m", 1): "er", ("m", 4): "en", ("f", 1): "e", ("f", 4): "e", ("n", 1): "es", ("n", 4): "es"}


def sample_pairs(part: str) -> tuple[list[str], list[str]]:
    """Make the part "train", "validation" or "test": English lines and their translations. No line is in two parts."""
    seen: set[str] = set()
    for name, size in SIZES.items():
        draws = Draws(f"pairs {name} {SEED}")
        rows: list[tuple[str, str]] = []
        while len(rows) < size:
            pair = sentence(draws)
            if pair[0] not in seen:
                seen.add(pair[0])
                rows.append(pair)
        if name == part:
            return [english for english, _ in rows], [german for _, german in rows]
    raise ValueError(f'no part "{part}"; there are {", ".join(SIZES)}')


def sentence(draws: Draws) -> tuple[str, str]:
    """One sentence in both languages, with a capital and a full stop."""
    make = draws.one_of((_statement, _statement, _modal, _perfect, _because, _that))
    english, german = make(draws)
    return english[0].upper() + english[1:] + ".", german[0].upper() + german[1:] + "."


def _phrase(draws: Draws, noun: Noun, case: int) -> tuple[str, str]:
    """A noun with its article, and an adjective now and then; case 1 is the nominative, 4 the accusative."""
    definite = draws.chance(0.6)
    key = noun.gender, case
    word = (noun.accusative or noun.german) if case == 4 else noun.german
    english_article = "the" if definite else "a"
    german_article = (DEFINITE if definite else INDEFINITE)[key]
    if not draws.chance(0.4):
        return f"{_an(english_article, noun.english)} {noun.english}", f"{german_article} {word}"
    english, german = draws.one_of(ADJECTIVES)
    ending = ("en" if key == ("m", 4) else "e") if definite else AFTER_INDEFINITE[key]
    return f"{_an(english_article, english)} {english} {noun.english}", f"{german_article} {german}{ending} {word}"


def _an(article: str, following: str) -> str:
    return "an" if article == "a" and following[0] in "aeiou" else article


def _parts(draws: Draws) -> tuple[Noun, tuple[str, str], Verb, tuple[str, str]]:
    """Subject (the noun, and its phrase), verb and object of a clause."""
    noun = draws.one_of(BEINGS)
    other = draws.one_of([other for other in (*BEINGS, *THINGS) if other is not noun])
    return noun, _phrase(draws, noun, 1), draws.one_of(VERBS), _phrase(draws, other, 4)


def _statement(draws: Draws) -> tuple[str, str]:
    """The verb is second; an adverb at the front moves the subject behind the verb."""
    _, subject, verb, thing = _parts(draws)
    if draws.chance(0.5):
        time = draws.one_of(TIMES)
        return (
            f"{time[0]} {subject[0]} {verb.third} {thing[0]}",
            f"{time[1]} {verb.dritte} {subject[1]} {thing[1]}",
        )
    return f"{subject[0]} {verb.third} {thing[0]}", f"{subject[1]} {verb.dritte} {thing[1]}"


def _modal(draws: Draws) -> tuple[str, str]:
    """The infinitive is last."""
    _, subject, verb, thing = _parts(draws)
    modal, place = draws.one_of(MODALS), draws.one_of(PLACES)
    return (
        f"{subject[0]} {modal[0]} {verb.base} {thing[0]} {place[0]}",
        f"{subject[1]} {modal[1]} {thing[1]} {place[1]} {verb.infinitive}",
    )


def _perfect(draws: Draws) -> tuple[str, str]:
    """The participle is last."""
    _, subject, verb, thing = _parts(draws)
    return f"{subject[0]} has {verb.done} {thing[0]}", f"{subject[1]} hat {thing[1]} {verb.partizip}"


def _because(draws: Draws) -> tuple[str, str]:
    """The verb is last, and the pronoun has the gender of the subject."""
    noun, subject, verb, thing = _parts(draws)
    state = draws.one_of(STATES)
    return (
        f"{subject[0]} {verb.third} {thing[0]} because it is {state[0]}",
        f"{subject[1]} {verb.dritte} {thing[1]}, weil {PRONOUNS[noun.gender]} {state[1]} ist",
    )


def _that(draws: Draws) -> tuple[str, str]:
    """The verb of the subordinate clause is last."""
    _, subject, verb, thing = _parts(draws)
    opening = draws.one_of((("i know", "ich weiß"), ("we hope", "wir hoffen"), ("she says", "sie sagt")))
    return (
        f"{opening[0]} that {subject[0]} {verb.third} {thing[0]}",
        f"{opening[1]}, dass {subject[1]} {thing[1]} {verb.dritte}",
    )
