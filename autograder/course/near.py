"""Says what a misspelt name may have meant."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher

MOST = 3
LEAST_LIKE = 0.5  # of two names: the share of characters that they have in common, in order
LEAST_LIKE_LETTERS = 0.6  # of their letters alone
LEAST_INSIDE = 3  # characters of a word that is searched in a name, and not only where a word of it begins
_NOT_LETTERS = re.compile(r"[\W\d_]+")
_BETWEEN_WORDS = re.compile(r"[\W_]+")


def near(name: str, known: Iterable[str]) -> list[str]:
    """Return the known names that are most like `name`, the closest first; upper and lower case count as the same.

    One that has all of its words in it is like it, such as a full name where `name` is a first name. Otherwise, where
    both have letters, these decide: the numbers of two students are always like each other.
    """
    by_key: dict[str, str] = {}
    for candidate in known:
        by_key.setdefault(candidate.casefold(), candidate)
    found = [(likeness, key) for key in by_key if (likeness := _likeness(name.casefold(), key)) >= LEAST_LIKE]
    return [by_key[key] for _, key in sorted(found, key=lambda each: -each[0])[:MOST]]


def _likeness(name: str, other: str) -> float:
    """Return how similar two lower-case names are, from 0 to 1."""
    likeness = SequenceMatcher(None, name, other).ratio()
    words, of_other = (list(filter(None, _BETWEEN_WORDS.split(text))) for text in (name, other))
    if words and all(_is_in(word, of_other) for word in words):
        return max(likeness, LEAST_LIKE)
    one, two = (_NOT_LETTERS.sub("", text) for text in (name, other))
    if one and two and SequenceMatcher(None, one, two).ratio() < LEAST_LIKE_LETTERS:
        return 0.0
    return likeness


def _is_in(word: str, words: Iterable[str]) -> bool:
    return any(other.startswith(word) or (len(word) >= LEAST_INSIDE and word in other) for other in words)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the end of a sentence that refuses a name: "; did you mean a or b?", or nothing if no name is close."""
    found = near(name, known)
    return f"; did you mean {' or '.join(found)}?" if found else ""
