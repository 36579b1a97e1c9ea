"""Makes nbval compare what a cell prints by its numbers, not by their text: last digits differ between processors."""

from __future__ import annotations

import math
import re

from nbval.plugin import IPyNbCell

RELATIVE = 1e-4  # float32 through some layers
ABSOLUTE = 1e-6  # what float32 leaves where numbers near 1 cancel

_NUMBER = re.compile(r"(?<![\w.])[-−+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|\.\d+(?:e[-+]?\d+)?)(?![\w.]*\w)")


class Printed(str):
    """A cell's output as text, equal to another whose words are the same and whose numbers are the same up to rounding.

    A number with a decimal point or an exponent may be off by one in its last printed digit, by `RELATIVE` or by
    `ABSOLUTE`. A whole number has to be equal: it counts something. In brackets the last digit is that of the longest
    number, since numpy leaves out the zeros behind the others. Spaces are compared as one: numpy aligns columns.
    """

    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, str):
            return NotImplemented
        if str.__eq__(self, other):
            return True
        ours, theirs = _NUMBER.findall(self), _NUMBER.findall(other)
        return (
            _words(self) == _words(other)
            and len(ours) == len(theirs)
            and all(map(_close, ours, theirs, map(max, _last_digits(self), _last_digits(other))))
        )

    def __ne__(self, other: object) -> bool:
        return not self == other


def _words(text: str) -> str:
    """The text with a mark in place of each number, and no spaces at brackets, which numpy aligns."""
    marked = re.sub(r"\s+", " ", _NUMBER.sub("#", text)).strip()
    return re.sub(r"(?<=[\[(]) | (?=[\])])", "", marked)


def _close(ours: str, theirs: str, last_digit: float) -> bool:
    one, other = (float(number.replace("−", "-")) for number in (ours, theirs))
    if not re.search("[.e]", ours + theirs):
        return one == other
    return math.isclose(one, other, rel_tol=RELATIVE, abs_tol=max(ABSOLUTE, 1.001 * last_digit))


def _last_digits(text: str) -> list[float]:
    """For each number in the text, what one more in its last printed digit adds; 0 where no digit is behind a point."""
    digits, in_brackets = [], []
    for found in _NUMBER.finditer(text):
        mantissa, _, exponent = found[0].partition("e")
        decimals = len(mantissa.partition(".")[2])
        digits.append(10.0 ** (int(exponent or 0) - decimals) if decimals or exponent else 0.0)
        before = text[: found.start()]
        in_brackets.append(before.count("[") > before.count("]"))
    finest = min((digit for digit, inside in zip(digits, in_brackets, strict=True) if inside and digit), default=0.0)
    return [finest if inside else digit for digit, inside in zip(digits, in_brackets, strict=True)]


def install() -> None:
    """Make nbval hand out `Printed` where it cleans an output before it compares it."""
    clean = IPyNbCell.sanitize

    def sanitize(cell: IPyNbCell, output: object) -> object:
        cleaned = clean(cell, output)
        return Printed(cleaned) if isinstance(cleaned, str) else cleaned

    IPyNbCell.sanitize = sanitize
