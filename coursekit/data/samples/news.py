"""Synthetic news in four classes: a title and a sentence or two, with many words that all classes share."""

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
    "mood": ("surprising", "long awaited", "narrow", "early", "late", "unexpected", "clear"),
}
TITLES = (
    (
        "{place} and {place2} resume peace talks",
        "Voters in {place} choose a new parliament",
        "{person} warns of a crisis in {place}",
        "Protest march crosses {place}",
        "Flood cuts off villages near {place}",
        "Envoy leaves {place} after {mood} vote",
        "{place} opens its border again",
        "Court in {place} frees {person}",
    ),
    (
        "{place} beats {place2} in a {mood} final",
        "{person} wins the marathon in {place}",
        "Coach of {place} resigns after {mood} defeat",
        "Injury keeps {person} out for {number} weeks",
        "{person} signs for {place2} until summer",
        "{place} draws with {place2}",
        "Record crowd sees {mood} victory of {place}",
        "{person} leads after {number} rounds",
    ),
    (
        "{firm} reports a {mood} profit",
        "Shares of {firm} fall after {mood} warning",
        "{firm} buys rival {firm2}",
        "Bank of {place} raises interest rates",
        "{firm} cuts {number} hundred jobs in {place}",
        "Oil price climbs for {number} days",
        "{person} leaves the board of {firm}",
        "Exports of {place} grow again",
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
    ),
)
BODIES = (
    (
        "The government of {place} said on {day} that the talks will go on.",
        "Soldiers withdrew from the border on {day}, the president said.",
        "The minister asked {place2} for help and food.",
        "Rebels and the government accuse each other of breaking the truce.",
        "The election is the first in {number} years.",
        "Police in {place} held {number} people after the protest.",
    ),
    (
        "The team scored {number} times in the second half.",
        "{person} took the lead in the last lap on {day}.",
        "The league will decide on {day} about the match.",
        "It was the {number}th defeat of the season for the champion.",
        "The coach praised the goalkeeper after the game.",
        "The player has trained again since {day}.",
    ),
    (
        "The company expects sales to grow by {number} per cent.",
        "Investors had hoped for more, analysts said on {day}.",
        "The stock closed {number} points lower on {day}.",
        "The merger still needs the consent of the shareholders.",
        "The firm pays {number} million for the factory.",
        "Higher costs of fuel reduce the earnings of the quarter.",
    ),
    (
        "The software will be free to download from {day}.",
        "Scientists hope to learn how the cells repair themselves.",
        "The satellite is to orbit the planet for {number} years.",
        "The device learns from data of its users, the engineers said.",
        "The laboratory published the code on {day}.",
        "The network is {number} times as fast as the old one.",
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


def sample_news(part: str) -> tuple[list[str], list[int]]:
    """Make the part "train" or "test": texts, and labels 0 to 3, as many of each. No text occurs in both parts."""
    seen: set[str] = set()
    for name, size in SIZES.items():
        draws = Draws(f"news {name} {SEED}")
        rows: list[tuple[str, int]] = []
        while len(rows) < size:
            label = len(rows) % len(TITLES)
            text = item(draws, label)
            if text not in seen:
                seen.add(text)
                rows.append((text, label))
        if name == part:
            rows = draws.shuffled(rows)
            return [text for text, _ in rows], [label for _, label in rows]
    raise ValueError(f'no part "{part}"; there are {", ".join(SIZES)}')


def item(draws: Draws, label: int) -> str:
    """One item of news of the given class."""
    slots = {slot: draws.one_of(words) for slot, words in SHARED.items()}
    for slot in ("place", "firm"):
        slots[f"{slot}2"] = draws.one_of([word for word in SHARED[slot] if word != slots[slot]])
    title = draws.one_of(TITLES[label])
    sentences = [draws.one_of(BODIES[label])] if draws.chance(0.7) else []
    sentences += [draws.one_of(ANYWHERE) for _ in range(1 + draws.below(2))]
    return ". ".join([title.format(**slots), " ".join(draws.shuffled(sentences)).format(**slots)])
