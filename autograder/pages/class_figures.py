"""The pictures of the class report, as SVG with a sentence that says what each of them shows."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from datetime import datetime

import numpy as np
from markupsafe import Markup, escape
from matplotlib import style
from matplotlib.figure import Figure

from autograder.grade.marks import Mark
from autograder.pages.class_numbers import Outcomes, compute_quartiles, count_hours

GREEN, ORANGE, RED, GREY = "#2e8b57", "#d98e04", "#c0392b", "#8a8a8a"
HOURS_SHOWN = 14 * 24  # before and after the due date

_our_style = style.context(["default", {"svg.fonttype": "none", "svg.hashsalt": "course"}])  # whatever style is in use


@_our_style
def draw_marks(percents: Sequence[float]) -> Markup:
    """A histogram of the marks."""
    figure = Figure(figsize=(7, 2.6), layout="constrained")
    axes = figure.subplots()
    axes.hist(percents, bins=range(0, 105, 5), color=GREEN, edgecolor="white")
    axes.set(xlabel="% of the points", ylabel="students", xlim=(0, 100))
    axes.locator_params(axis="y", integer=True)
    low = sum(percent < 50 for percent in percents)
    return _save(
        figure, f"Histogram of the marks of {len(percents)} students; {low} have less than half of the points."
    )


@_our_style
def draw_exercises(counted: Mapping[str, Outcomes]) -> Markup:
    """For each exercise the share of students with full marks, with some, with none, and without a submission."""
    names = list(counted)
    shares: dict[str, list[float]] = {"full marks": [], "some points": [], "no points": [], "not done": []}
    for counts in counted.values():
        for share, count in zip(shares.values(), counts, strict=True):
            share.append(100 * count / sum(counts))
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
    told = ", ".join(f"{name} {share:.0f} %" for name, share in zip(names, shares["full marks"], strict=True))
    return _save(figure, f"Bars for each exercise. Students with full marks: {told}.")


@_our_style
def draw_time_and_mark(results: Sequence[Mark], due: datetime | None) -> Markup | None:
    """Marks against the hours before the due date; None without one, or where fewer than three times are known."""
    known = [(hour, result.percent) for result in results if (hour := count_hours(due, result)) is not None]
    if len(known) < 3:
        return None
    hours = [min(max(hour, -HOURS_SHOWN), HOURS_SHOWN) for hour, _ in known]
    figure = Figure(figsize=(7, 2.6), layout="constrained")
    axes = figure.subplots()
    axes.scatter(hours, [percent for _, percent in known], s=18, alpha=0.6, color=GREEN, edgecolors="none")
    axes.axvline(0, color=GREY, linestyle="--")
    axes.set(xlabel="hours from the due date (left: before it)", ylabel="% of the points", ylim=(-4, 104))
    late = sum(hour > 0 for hour in hours)
    return _save(figure, f"Marks of {len(known)} students against the time of handing in; {late} of them came late.")


@_our_style
def draw_progress(percents: Mapping[str, Sequence[float]]) -> Markup | None:
    """Quartiles of the marks, lab after lab; None with fewer than two labs."""
    if len(percents) < 2:
        return None
    names = list(percents)
    low, middle, high = zip(*map(compute_quartiles, percents.values()), strict=True)
    figure = Figure(figsize=(7, 2.8), layout="constrained")
    axes = figure.subplots()
    axes.fill_between(names, low, high, color=GREEN, alpha=0.2, label="middle half of the class")
    axes.plot(names, middle, "o-", color=GREEN, label="median")
    axes.set(ylabel="% of the points", ylim=(-4, 104))
    axes.tick_params(axis="x", labelrotation=20)
    figure.legend(*axes.get_legend_handles_labels(), ncols=2, loc="outside upper center", frameon=False)
    told = ", ".join(f"{name} {median:.0f} %" for name, median in zip(names, middle, strict=True))
    return _save(figure, f"Median of the marks by lab: {told}; a band shows the middle half of the class.")


@_our_style
def draw_right_and_mistaken(right: np.ndarray, mistaken: np.ndarray, told: str) -> Markup:
    """Two matrices of the same shape side by side, on one scale of colours; what is not finite is hatched."""
    rows, columns = right.shape
    figure = Figure(figsize=(6, 1.2 + 2.4 * min(1.2, max(0.35, rows / columns))), layout="constrained")
    finite = np.concatenate([result[np.isfinite(result)] for result in (right, mistaken)])
    shown = {"vmin": float(finite.min()), "vmax": float(finite.max()), "cmap": "viridis"}
    plots = figure.subplots(1, 2)
    for axes, title, values in zip(plots, ("should be", "with this mistake"), (right, mistaken), strict=True):
        axes.set_facecolor("white")
        axes.patch.set(hatch="xx", edgecolor=GREY)
        image = axes.imshow(np.where(np.isfinite(values), values, np.nan), **shown)
        axes.set(title=title, xticks=[], yticks=[])
    figure.colorbar(image, ax=plots, shrink=0.8)
    return _save(figure, told)


def _save(figure: Figure, told: str) -> Markup:
    content = io.StringIO()
    figure.savefig(content, format="svg", metadata={"Date": None})
    text = content.getvalue()
    drawing = text[text.index("<svg") :].replace("<svg ", f'<svg role="img" aria-label="{escape(told)}" ', 1)
    return Markup(drawing)
