"""Synthetic news in four classes: a title and a sentence or two, with many words that all classes share.

The title tells the class. One item in five goes on with a sentence of another class, such as would be a title there, so
that counting words does not tell which of the two the item is about.
"""

from __future__ import annotations

from coursekit.data.samples.draws import Draws

SIZES = {"train": 1_200, "test": 400}
SEED = 1

# Every name is made up. Places, firms and people occur in all classes.
SHARED = {
    "place": ("Norland", "Vestria", "Calder Bay", "Ostmark City", "Lindhaven", "Taravia", "Port Ellis", "Marrowdale"),
    "firm": (
        "Halden Group",
        "Brightwell",
        "Kestrel Works",
        "Orbis and Sons",
        "Tannwick",
        "Northgate",
        "Velora",
        "Pemberly",
    ),
    "person": ("Anna Brandt", "Tomas Reed", "Ilse Varga", "Peter Okoro", "Mira Solano", "Jonas Hale", "Clara Wenz"),
    "day": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    "number": ("two", "three", "four", "five", "seven", "nine", "ten", "twelve"),
    "mood": ("surprising", "long awaited", "narrow", "hasty", "late", "sudden", "clear"),
}
# What an item of each class is about: any of these makes a title.
ABOUT = (
    (
        "{place} and {place2} resume peace talks",
        "Voters in {place} choose a new parliament",
        "{person} warns of a crisis in {place}",
        "Protest march crosses {place}",
        "Flood cuts off villages near {place}",
        "Envoy leaves {place} after {mood} vote",
        "{place} opens its border again",
        "Court in {place} frees a journalist",
        "Rebels and government of {place} accuse each other",
        "President of {place} asks {place2} for food",
        "Soldiers withdraw from {place}",
        "Police in {place} hold {number} people",
    ),
    (
        "{place} beats {place2} in a {mood} final",
        "{person} wins the marathon in {place}",
        "Coach of {place} resigns after {mood} defeat",
        "Injury keeps {person} out for {number} weeks",
        "{person} plays for {place2} until summer",
        "{place} draws with {place2}",
        "Record crowd sees {mood} victory of {place}",
        "{person} leads the race after {number} rounds",
        "{place} scores {number} goals in the second half",
        "League moves the match of {place} to {day}",
        "Goalkeeper of {place} saves a penalty",
        "Champion {place} loses for the {mood} time",
    ),
    (
        "{firm} reports a {mood} profit",
        "Shares of {firm} fall after {mood} warning",
        "{firm} buys its rival {firm2}",
        "Bank of {place} raises interest rates",
        "{firm} cuts {number} hundred jobs in {place}",
        "Oil price climbs for {number} days",
        "{person} leaves the board of {firm}",
        "Exports of {place} grow again",
        "Investors hope for more from {firm}",
        "{firm} pays {number} million for a factory",
        "Costs of fuel reduce the earnings of {firm}",
        "Shareholders of {firm} vote on the merger",
    ),
    (
        "{firm} shows a robot that walks",
        "Probe sends pictures from a distant moon",
        "{place} tests {mood} software for schools",
        "Researchers in {place} read an old genome",
        "{firm} mends a hole in its browser",
        "New chip from {firm2} needs less power",
        "Telescope near {place} finds {number} planets",
        "{person} builds a computer from light",
        "Satellite of {place} reaches its orbit",
        "Scientists in {place} watch cells repair themselves",
        "{firm} publishes the code of its network",
        "Engineers of {firm} store data in glass",
    ),
)
ANYWHERE = (
    "{person} of {place} said so on {day}.",
    "It is the {mood} result of {number} months of work.",
    "Nobody in {place} had expected it.",
    "More is to be known on {day}.",
    "{person} did not want to comment.",
    "The news reached {place2} on {day}.",
    "{firm} and the city of {place} wait for the outcome.",
    "{person} of {firm} called it a {mood} success.",
)
SECOND, ASIDE = 0.5, 0.2  # how often a second sentence is of the item's class, and of another


def sample_news(part: str) -> tuple[list[str], list[int]]:
    """Make the part "train" or "test": texts, and labels 0 to 3, as many of each. No text occurs in both parts."""
    seen: set[str] = set()
    for name, size in SIZES.items():
        draws = Draws(f"news {name} {SEED}")
        rows: list[tuple[str, int]] = []
        while len(rows) < size:
            label = len(rows) % len(ABOUT)
            text = item(draws, label)
            if text not in seen:
                seen.add(text)
                rows.append((text, label))
        if name == part:
            rows = draws.shuffled(rows)
            return [text for text, _ in rows], [label for _, label in rows]
    raise ValueError(f'no part "{part}"; there are {", ".join(SIZES)}')


def item(draws: Draws, label: int) -> str:
    """One item of news of the given class: its title is of that class, a sentence further on may be of another."""
    title, second = draws.some_of(ABOUT[label], 2)
    texts = [_fill(draws, title)]
    kind = draws.below(100) / 100
    if kind < SECOND:
        texts.append(_fill(draws, second))
    elif kind < SECOND + ASIDE:
        other = draws.one_of([number for number in range(len(ABOUT)) if number != label])
        texts.append(_fill(draws, draws.one_of(ABOUT[other])))
    tail = [_fill(draws, draws.one_of(ANYWHERE)) for _ in range(1 + draws.below(2))]
    return " ".join([*(f"{text}." for text in texts), *tail])


def _fill(draws: Draws, template: str) -> str:
    """Put names into a template; two places, or two firms, are never the same."""
    slots = {slot: draws.one_of(words) for slot, words in SHARED.items()}
    for slot in ("place", "firm"):
        slots[f"{slot}2"] = draws.one_of([word for word in SHARED[slot] if word != slots[slot]])
    return template.format(**slots)
