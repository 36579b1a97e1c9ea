"""The numbers behind the class report: item analysis, mistakes, progress over labs, and who may need help."""

from __future__ import annotations

import csv
import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.stats import t as student_t

from autograder.course.settings import Course, CourseError
from autograder.grade.marks import Mark

LEAST_FOR_CORRELATION = 10  # students; with fewer the coefficient says nothing
LOW_PERCENT = 50.0
FALL = 25.0  # points of a hundred below the student's own median
RECENT = timedelta(days=14)


@dataclass(frozen=True)
class ItemStatistics:
    """One exercise in one lab.

    Attributes:
        lab, exercise: which one.
        students: how many submissions have it; those that cannot be read, or answer nothing at all, are left out.
        difficulty: mean share of its points that was earned, 0 to 1; a small number means hard.
        discrimination: correlation between the share earned here and the points earned in the lab's other exercises
            (the corrected item-total correlation); None where nothing varies or fewer than `LEAST_FOR_CORRELATION`
            students are there.
        not_done: how many left it out.
        groups: for each group of tests its title and the share of students who pass it, of those whose code ran.
        last_year: mean share in the file of last year; None where it is not there.
        change: 95 % interval of the difference between this year's mean and last year's; None likewise.
    """

    lab: str
    exercise: str
    students: int
    difficulty: float
    discrimination: float | None
    not_done: int
    groups: tuple[tuple[str, float], ...]
    last_year: float | None = None
    change: tuple[float, float] | None = None


class Outcomes(NamedTuple):
    """How many students have all points of an exercise, some of them, none of them, and how many left it out."""

    full: int
    some: int
    none: int
    not_done: int


@dataclass(frozen=True)
class MistakeCount:
    """A mistake that was named, and the students who made it."""

    lab: str
    exercise: str
    id: str
    sentence: str
    students: tuple[str, ...]


@dataclass(frozen=True)
class Standing:
    """One student: percent for each lab, and why help may be needed; empty if there is no sign of it."""

    student: str
    percents: Mapping[str, float]
    concerns: tuple[str, ...]


def analyse(results: Sequence[Mark], last_year: Mapping[tuple[str, str], Sequence[float]]) -> list[ItemStatistics]:
    """The exercises of one lab, in the notebook's order.

    Args:
        results: the verdicts on one lab.
        last_year: the shares that students earned, by lab and exercise.
    """
    results = [
        result for result in results if not result.reason and any(part.status != "missing" for part in result.exercises)
    ]
    names = list(dict.fromkeys(verdict.exercise for result in results for verdict in result.exercises))
    analysed = []
    for name in names:
        verdicts = [
            (verdict, result)
            for result in results
            for verdict in result.exercises
            if verdict.exercise == name and verdict.max_score
        ]
        if not verdicts:
            continue
        lab = verdicts[0][1].lab
        shares = np.array([verdict.score / verdict.max_score for verdict, _ in verdicts])
        rest = np.array([result.earned - verdict.score for verdict, result in verdicts])
        passed: dict[str, list[bool]] = defaultdict(list)
        for verdict, _ in verdicts:
            for group in verdict.groups:
                passed[group.title].append(group.passed)
        before = last_year.get((lab, name))
        analysed.append(
            ItemStatistics(
                lab,
                name,
                len(verdicts),
                float(shares.mean()),
                _correlate(shares, rest),
                sum(verdict.status == "missing" for verdict, _ in verdicts),
                tuple((title, statistics.fmean(outcomes)) for title, outcomes in passed.items()),
                statistics.fmean(before) if before else None,
                _compare_means(shares, np.array(before)) if before else None,
            )
        )
    return analysed


def count_outcomes(results: Sequence[Mark]) -> dict[str, Outcomes]:
    """What became of each exercise of one lab, in the notebook's order; also of those without points."""
    names = list(dict.fromkeys(verdict.exercise for result in results for verdict in result.exercises))
    counted = {}
    for name in names:
        verdicts = [verdict for result in results for verdict in result.exercises if verdict.exercise == name]
        missing = sum(verdict.status == "missing" for verdict in verdicts)
        full = sum(verdict.passed for verdict in verdicts)
        some = sum(verdict.score > 0 and not verdict.passed for verdict in verdicts)
        counted[name] = Outcomes(full, some, len(verdicts) - full - some - missing, missing)
    return counted


def compute_quartiles(percents: Sequence[float]) -> tuple[float, float, float]:
    """Lower quartile, median and upper quartile of at least one mark, interpolated between neighbours."""
    if len(percents) == 1:
        return percents[0], percents[0], percents[0]
    low, middle, high = statistics.quantiles(percents, n=4, method="inclusive")
    return low, middle, high


def count_hours(due: datetime | None, result: Mark) -> float | None:
    """Hours from the due date to the handing in, below 0 before it; None where one of the two is not known."""
    if due is None or result.timestamp is None:
        return None
    return (result.timestamp - due).total_seconds() / 3600


def count_mistakes(results: Sequence[Mark], sentences: Mapping[tuple[str, str], str]) -> list[MistakeCount]:
    """The mistakes of one lab, the most common first; ties in the order of the notebook."""
    who: dict[tuple[str, str], list[str]] = defaultdict(list)
    for result in sorted(results, key=lambda result: result.student):
        for exercise in result.exercises:
            for name in exercise.misconceptions:
                who[exercise.exercise, name].append(result.student)
    lab = results[0].lab if results else ""
    counts = [MistakeCount(lab, *place, sentences.get(place, place[1]), tuple(names)) for place, names in who.items()]
    return sorted(counts, key=lambda mistake: -len(mistake.students))


def find_standings(
    course: Course, results: Sequence[Mark], now: datetime, enrolled: Iterable[str] = ()
) -> list[Standing]:
    """Every student who has handed in something or is enrolled, with what says that help may be needed this week.

    A student may need help who has less than `LOW_PERCENT` of the points in the newest lab they handed in, or `FALL`
    points of a hundred less there than their own median before; or who has handed in nothing for a lab that was due in
    the last `RECENT`, though others have.
    """
    percents: dict[str, dict[str, float]] = {student: {} for student in enrolled}
    for result in results:
        of_student = percents.setdefault(result.student, {})
        if not result.excused:
            of_student[result.lab] = result.percent
    order = [lab.name for lab in course.labs]
    handed_in = {result.lab for result in results}
    due = [
        lab for lab in course.labs if lab.due is not None and now - RECENT <= lab.due <= now and lab.name in handed_in
    ]
    listed = []
    for student in sorted(percents):
        mine = {name: percents[student][name] for name in order if name in percents[student]}
        concerns = [
            f"nothing handed in for {lab.name}"
            for lab in due
            if lab.name not in mine and not course.lateness.is_excused(student, lab.name)
        ]
        if mine:
            *before, newest = mine
            if mine[newest] < LOW_PERCENT:
                concerns.append(f"{mine[newest]:g} % in {newest}")
            elif before and (median := statistics.median(mine[name] for name in before)) - mine[newest] >= FALL:
                concerns.append(f"{mine[newest]:g} % in {newest}, after {median:.0f} % (median)")
        listed.append(Standing(student, mine, tuple(concerns)))
    return listed


def read_last_year(path: Path | None) -> dict[tuple[str, str], list[float]]:
    """The shares that students earned, by lab and exercise, from a `results.csv` of another year.

    Raises:
        CourseError: the file is not there, or is no `results.csv`.
    """
    shares: dict[tuple[str, str], list[float]] = defaultdict(list)
    if path is None:
        return shares
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            for row in csv.DictReader(file):
                if (most := float(row["max_score"])) > 0:
                    shares[row["lab"], row["exercise"]].append(float(row["score"]) / most)
    except OSError as error:
        raise CourseError(f"{path}: {error.strerror}: name the results.csv of last year") from error
    except (KeyError, TypeError, ValueError, csv.Error) as error:
        raise CourseError(f"{path}: this is no results.csv of `course grade` ({error})") from error
    return shares


def _correlate(shares: np.ndarray, rest: np.ndarray) -> float | None:
    if len(shares) < LEAST_FOR_CORRELATION or np.ptp(shares) == 0 or np.ptp(rest) == 0:
        return None
    return float(np.corrcoef(shares, rest)[0, 1])


def _compare_means(now: np.ndarray, before: np.ndarray) -> tuple[float, float] | None:
    """Welch's 95 % interval of the difference of two means (Welch 1947); None with fewer than two students a year."""
    if min(len(now), len(before)) < 2:
        return None
    parts = np.array([now.var(ddof=1) / len(now), before.var(ddof=1) / len(before)])
    difference = float(now.mean() - before.mean())
    if not parts.sum():
        return difference, difference
    freedom = parts.sum() ** 2 / (parts**2 / np.array([len(now) - 1, len(before) - 1])).sum()
    half = float(student_t.ppf(0.975, freedom) * parts.sum() ** 0.5)
    return difference - half, difference + half
