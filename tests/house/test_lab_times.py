"""Minutes and dots of the labs are counted, not guessed: the table of each lab shows what the rule gives.

It is a rule and no measurement of students; `docs/maintainers.md` says what it was compared with. What is too long for
it is told, and fails nothing: no check is left out for it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import nbformat
import pytest
from long_runs import advise
from this_course import exercises_of

from autograder.course.labs import points

ROOT = Path(__file__).resolve().parents[2]
OVERVIEW = (ROOT / "docs" / "course.md").read_text(encoding="utf-8")
LABS = sorted(set(re.findall(r"\(\.\./labs/(\w+)/", OVERVIEW)))

WORDS_A_MINUTE = 200  # as in the lectures
MINUTES_A_LINE = 1.0  # a line of the solution: thought, written, run
MINUTES_A_MISTAKE = 0.4  # a mistake that has a name: what can go wrong
MOST_MINUTES_FOR_MISTAKES = 4  # a student makes few of the mistakes that a check can name
CHECKS_TO_WAIT_FOR = 10  # where an exercise has a CPU limit of its own, because it trains or builds a model
CODE_LINES_A_MINUTE = 15  # given code, read as in the lectures
LONGEST_LAB, LONGEST_LAST_LAB = 120, 125  # minutes counted; the last one is that of lab 10
MINUTES_OF_WRITING = 5  # "In your own words"
MORE_DOTS_FROM = (10, 15, 25, 45)  # minutes shown from which an exercise has two, three, four, five dots


@dataclass(frozen=True)
class Counted:
    """Minutes of the exercises by name, their texts, and the minutes of everything around them: introduction,
    demonstrations, own words. The total leaves out what is optional: exercises that earn no points."""

    exercises: dict[str, float]
    texts: dict[str, str]
    rest: float
    optional: frozenset[str]

    @property
    def total(self) -> float:
        return sum(minutes for name, minutes in self.exercises.items() if name not in self.optional) + self.rest


def to_five(minutes: float) -> int:
    return max(5, 5 * int(minutes / 5 + 0.5))


def is_counted(shown: int, minutes: float) -> bool:
    """Whether `shown` is what the rule gives, rounded to five; a minute beyond passes: a word must not matter."""
    return shown % 5 == 0 and (shown == to_five(minutes) or abs(shown - minutes) <= 2.5 + 1)


def dots(minutes: float) -> str:
    full = 1 + sum(to_five(minutes) >= limit for limit in MORE_DOTS_FROM)
    return "●" * full + "○" * (5 - full)


def reading(text: str) -> float:
    return len(re.findall(r"\w+", re.sub(r"<[^>]+>|\$\$.*?\$\$", "", text, flags=re.DOTALL))) / WORDS_A_MINUTE


def minutes_for(mistakes: int) -> float:
    """Minutes for what can go wrong, in an exercise whose check names so many mistakes."""
    return min(mistakes * MINUTES_A_MISTAKE, MOST_MINUTES_FOR_MISTAKES)


def code_lines(source: str) -> int:
    return sum(bool(line.strip()) and not line.strip().startswith("#") for line in source.splitlines())


SOLUTION = re.compile(r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", re.DOTALL)


@cache
def counted(lab: str) -> Counted:
    notebook = nbformat.read(ROOT / "solutions" / lab / f"{lab}.ipynb", as_version=4)
    declared = exercises_of(lab)
    exercises: dict[str, float] = {}
    texts: dict[str, str] = {}
    rest, text = 0.0, ""
    for cell in notebook.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id", "").removesuffix("-code")
        if name == "explanation":  # the instructor's own words: students get an empty cell
            continue
        if cell.cell_type == "markdown":
            text += f"\n{cell.source}"
            rest += MINUTES_OF_WRITING * ("## In your own words" in cell.source)
        elif name in declared and name not in exercises:  # its text and its stub; the check comes later
            lines = code_lines("\n".join(SOLUTION.findall(cell.source)))
            minutes = reading(text + SOLUTION.sub("", cell.source)) + lines * MINUTES_A_LINE
            minutes += minutes_for(len(declared[name].named_mistakes))
            exercises[name] = minutes + CHECKS_TO_WAIT_FOR * (declared[name].cpu_seconds or 0) / 60
            texts[name], text = text, ""
        elif name not in declared:  # given code; what led to it is not the next exercise's text
            rest += reading(text) + code_lines(cell.source) / CODE_LINES_A_MINUTE
            text = ""
    optional = frozenset(name for name, worth in points(notebook).items() if not worth)
    return Counted(exercises, texts, rest + reading(text), optional)


@cache
def introduction(lab: str) -> str:
    notebook = nbformat.read(ROOT / "solutions" / lab / f"{lab}.ipynb", as_version=4)
    return next(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


def rows(lab: str) -> Iterator[dict[str, str]]:
    """The rows of the table of exercises, by column."""
    table = [line.strip("|").split("|") for line in introduction(lab).splitlines() if line.startswith("|")]
    head = [cell.strip() for cell in table[0]]
    for row in table[2:]:
        yield dict(zip(head, (cell.strip() for cell in row), strict=True))


@pytest.mark.parametrize("lab", LABS)
def test_the_table_shows_the_minutes_and_dots_of_the_rule(lab):
    table = {re.search(r"`(\w+)`", row["what you write"]).group(1): row for row in rows(lab)}
    right = counted(lab).exercises
    assert list(table) == list(right)
    wrong = {
        name: f"write: {dots(right[name])} {to_five(right[name])}"
        for name, row in table.items()
        if not is_counted(int(row["minutes"]), right[name]) or row["difficulty"] != dots(int(row["minutes"]))
    }
    advise(f"{lab}: minutes and dots", wrong)
    for name, text in counted(lab).texts.items():
        assert set(re.findall("[●○]{5}", text)) <= {table[name]["difficulty"]}, f"{name}: other dots in its text"
    said = {name for name, row in table.items() if "optional" in row["what you write"]}
    assert said == counted(lab).optional, "what earns no points is optional, and the table says so"


@pytest.mark.parametrize("lab", LABS)
def test_the_minutes_of_the_whole_lab_are_counted_too(lab):
    total = counted(lab).total
    most = LONGEST_LAST_LAB if lab == LABS[-1] else LONGEST_LAB
    too_many = math.ceil((total - most) * WORDS_A_MINUTE)
    advise(f"{lab}: {total:.1f} minutes, about {too_many} words too many", [most] if total > most else [])
    stated = re.search(r"\*\*Time:\*\*\s+about\s+(\d+)\s+minutes", introduction(lab))
    assert stated
    apart = abs(int(stated.group(1)) - total) > 5
    advise(f"{lab}: write about {to_five(total)} minutes", [stated.group(1)] if apart else [])
    listed = re.search(rf"\(\.\./labs/{lab}/{lab}\.ipynb\) \([\d.]+ points, about (\d+) min\)", OVERVIEW)
    assert listed and listed.group(1) == stated.group(1), f"docs/course.md: about {stated.group(1)} min"


def test_a_check_that_names_more_mistakes_does_not_make_a_lab_longer():
    assert minutes_for(0) == 0
    assert minutes_for(5) == 5 * MINUTES_A_MISTAKE
    assert minutes_for(10) == minutes_for(25) == MOST_MINUTES_FOR_MISTAKES


def test_the_rule_is_told_to_maintainers():
    text = (ROOT / "docs" / "maintainers.md").read_text(encoding="utf-8")
    for number in (
        WORDS_A_MINUTE,
        MINUTES_A_LINE,
        MINUTES_A_MISTAKE,
        MOST_MINUTES_FOR_MISTAKES,
        CHECKS_TO_WAIT_FOR,
        CODE_LINES_A_MINUTE,
        *MORE_DOTS_FROM,
    ):
        assert re.search(rf"(?<![\d.]){number:g}(?![\d.]\d)", text), number
