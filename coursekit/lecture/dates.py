"""Makes lines of dates as people write them, with their ISO 8601 form: a small translation task without a download.

Nothing is read from a file: dates are drawn evenly from 1950 to 2049, and each is written in one of six formats. It is
always clear which part is the month: it is a name, or the separator shows the order (27.3.1994 against 3/27/1994). A
line may hold several dates, so that what has to be carried from source to target grows with the line.

    sources, targets = date_lines([1, 2], rng=np.random.default_rng(0))
    " ".join(sources[0])    # "march 2 7 1 9 9 4": words are tokens as a whole, digits are tokens of their own
    " ".join(targets[0])    # "1 9 9 4 0 3 2 7": ISO 8601 basic format, YYYYMMDD
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence

import numpy as np

PAD, START = "<pad>", "<start>"
SEPARATOR = ";"

# Written out: `calendar.month_name` speaks the language of the locale.
MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
FIRST, LAST = datetime.date(1950, 1, 1), datetime.date(2049, 12, 31)

FORMATS = (
    "{day} {month} {year}",
    "{month} {day} {year}",
    "{day}.{number}.{year}",
    "{number}/{day}/{year}",
    "{weekday} {day} {month} {year}",
    "{weekday} {month} {day} {year}",
)

# Id 0 is padding; the source and the target share one list of tokens.
VOCABULARY = [PAD, START, SEPARATOR, ".", "/", *"0123456789", *MONTHS, *WEEKDAYS]
IDS = {token: number for number, token in enumerate(VOCABULARY)}


def tokenize(text: str) -> list[str]:
    """Split a line into words, single digits and separators."""
    return re.findall(r"[a-z]+|[0-9]|[./;]", text)


def human_date(date: datetime.date, style: int) -> str:
    """Write a date in one of `FORMATS`."""
    return FORMATS[style].format(
        day=date.day,
        month=MONTHS[date.month - 1],
        number=date.month,
        year=date.year,
        weekday=WEEKDAYS[date.weekday()],
    )


def date_lines(dates_per_line: Sequence[int], rng: np.random.Generator) -> tuple[list[list[str]], list[list[str]]]:
    """Draw one line per entry of `dates_per_line`, with that many dates.

    Returns:
        Sources and targets, as lists of tokens. Dates are separated by ";" on both sides.
    """
    span = (LAST - FIRST).days + 1
    sources, targets = [], []
    for count in dates_per_line:
        dates = [FIRST + datetime.timedelta(days=int(day)) for day in rng.integers(span, size=count)]
        styles = rng.integers(len(FORMATS), size=count)
        written = [human_date(date, style) for date, style in zip(dates, styles, strict=True)]
        sources.append(tokenize(SEPARATOR.join(written)))
        targets.append(tokenize(SEPARATOR.join(date.strftime("%Y%m%d") for date in dates)))
    return sources, targets


def encode(lines: Sequence[Sequence[str]], length: int) -> np.ndarray:
    """Turn lists of tokens into ids (N, length), padded at the end with 0.

    Raises:
        ValueError: a line is longer than `length`.
    """
    longest = max(map(len, lines))
    if longest > length:
        raise ValueError(f"the longest line has {longest} tokens, length is {length}; choose length={longest} or more")
    ids = np.zeros((len(lines), length), dtype="int32")
    for row, line in zip(ids, lines, strict=True):
        row[: len(line)] = [IDS[token] for token in line]
    return ids


def decode(ids: Sequence[int]) -> list[str]:
    """Turn ids back into tokens; padding is left out."""
    return [VOCABULARY[number] for number in ids if number]
