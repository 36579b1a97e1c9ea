"""One page on the whole class: how marks are spread, which exercises are hard, which mistakes are common."""

from __future__ import annotations

import io
import statistics
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import matplotlib
from markupsafe import Markup
from matplotlib.figure import Figure

from autograder.course import Course, CourseLab
from autograder.declaring.course_exercises import declared_exercises
from autograder.grading.results import LabResult, write_atomically
from autograder.pages.rendering import render

GREEN, ORANGE, RED, GREY = "#2e8b57", "#d98e04", "#c0392b", "#8a8a8a"
MOST_SHOWN = 12


def write_report(course: Course, results: Sequence[LabResult], target: Path) -> None:
    """Write the page for all recorded results, one part for each lab that has any."""
    labs = [(lab, [each for each in results if each.lab == lab.name]) for lab in course.labs]
    parts = [_part(course, lab, found) for lab, found in labs if found]
    write_atomically(target, render("class_report.html.j2", course=course, parts=parts))


def _part(course: Course, lab: CourseLab, results: Sequence[LabResult]) -> dict[str, object]:
    sentences = {
        (name, id): sentence
        for name, exercise in declared_exercises(course, lab.name).items()
        for id, sentence in exercise.spec.sentences.items()
    }
    mistakes = Counter(
        (exercise.exercise, name)
        for result in results
        for exercise in result.exercises
        for name in exercise.misconceptions
    )
    percents = [result.percent for result in results]
    return {
        "title": lab.title,
        "submissions": len(results),
        "unreadable": [each.student for each in results if each.state == "unreadable"],
        "mean": statistics.fmean(percents),
        "median": statistics.median(percents),
        "marks": _marks(percents),
        "exercises": _exercises(results),
        "mistakes": [
            (exercise, sentences.get((exercise, name), name), count)
            for (exercise, name), count in mistakes.most_common(MOST_SHOWN)
        ],
    }


def _marks(percents: Sequence[float]) -> Markup:
    """A histogram of the marks."""
    figure = Figure(figsize=(7, 2.6), layout="constrained")
    axes = figure.subplots()
    axes.hist(percents, bins=range(0, 105, 5), color=GREEN, edgecolor="white")
    axes.set(xlabel="% of the points", ylabel="students", xlim=(0, 100))
    axes.locator_params(axis="y", integer=True)
    return _svg(figure)


def _exercises(results: Sequence[LabResult]) -> Markup:
    """For each exercise the share of students with full marks, with some, with none, and without a submission."""
    names = list(dict.fromkeys(each.exercise for result in results for each in result.exercises))
    shares: dict[str, list[float]] = {"full marks": [], "some points": [], "no points": [], "not done": []}
    for name in names:
        found = [each for result in results for each in result.exercises if each.exercise == name]
        missing = sum(each.status == "missing" for each in found)
        full = sum(each.passed for each in found)
        some = sum(each.score > 0 and not each.passed for each in found)
        for share, count in zip(
            shares.values(), (full, some, len(found) - full - some - missing, missing), strict=True
        ):
            share.append(100 * count / len(found))
    figure = Figure(figsize=(7, 0.6 + 0.42 * len(names)), layout="constrained")
    axes = figure.subplots()
    left = [0.0] * len(names)
    looks = zip((GREEN, ORANGE, RED, GREY), ("", "//", "xx", ".."), strict=True)
    for (label, values), (colour, hatch) in zip(shares.items(), looks, strict=True):
        axes.barh(names, values, left=left, label=label, color=colour, hatch=hatch, edgecolor="white")
        left = [a + b for a, b in zip(left, values, strict=True)]
    axes.invert_yaxis()
    axes.set(xlabel="% of the students", xlim=(0, 100))
    figure.legend(*axes.get_legend_handles_labels(), ncols=4, loc="outside upper center", frameon=False)
    return _svg(figure)


def _svg(figure: Figure) -> Markup:
    content = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "course"}):
        figure.savefig(content, format="svg", metadata={"Date": None})
    text = content.getvalue()
    return Markup(text[text.index("<svg") :])
