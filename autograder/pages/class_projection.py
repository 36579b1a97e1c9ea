"""A page to show in class: for each lab one screen with the commonest mistakes as pictures. It names nobody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup

from autograder.course.settings import Course, CourseLab
from autograder.course.text import write_atomically
from autograder.declare.declaration import Declaration, declared_exercises, describe
from autograder.declare.exercise import VISIBLE_SEED, Exercise
from autograder.grade.marks import Mark
from autograder.pages import class_figures
from autograder.pages.class_numbers import MistakeCount, analyse, count_mistakes, count_outcomes
from autograder.pages.feedback import render
from autograder.release.reference_export import is_left_out, section
from coursekit.check.judge import Section

SHOWN = 3  # mistakes, and groups of tests, of a lab
LARGEST = (24, 32)  # rows and columns of a result that is drawn


@dataclass(frozen=True)
class MistakeCard:
    """A mistake, how many made it, what it does to a result of the visible cases, and where it is explained."""

    mistake: MistakeCount
    tried: str
    picture: Markup | None
    section: Section | None


@dataclass(frozen=True)
class FailedGroup:
    """A group of tests that many did not pass, of those whose code ran."""

    exercise: str
    title: str
    failed: float


@dataclass(frozen=True)
class LabScreen:
    """What the page shows of one lab; `full` says of each exercise how many have all its points."""

    title: str
    submissions: int
    cards: tuple[MistakeCard, ...]
    failed: tuple[FailedGroup, ...]
    full: tuple[tuple[str, int], ...]


def write_projection(course: Course, results: Sequence[Mark], target: Path) -> None:
    """Write the page to show in class, one screen for each lab that has results, the newest first.

    Pictures are made from the visible cases, so they hold nothing that students cannot see in their own checks.

    Args:
        course: the course.
        results: what the gradebook holds, as it counts.
        target: the page.
    """
    by_lab = [(lab, [result for result in results if result.lab == lab.name]) for lab in reversed(course.labs)]
    screens = [_make_screen(course, lab, of_lab) for lab, of_lab in by_lab if of_lab]
    write_atomically(target, render("class_projection.html.j2", course=course, screens=screens))


def _make_screen(course: Course, lab: CourseLab, results: Sequence[Mark]) -> LabScreen:
    declared = declared_exercises(course, lab.name)
    sentences = {
        (name, id): text for name, exercise in declared.items() for id, text in exercise.spec.sentences.items()
    }
    made = count_mistakes(results, sentences)[:SHOWN]
    groups = [
        FailedGroup(item.exercise, title, 1 - share) for item in analyse(results, {}) for title, share in item.groups
    ]
    worst = sorted((group for group in groups if group.failed > 0), key=lambda group: -group.failed)
    return LabScreen(
        lab.title,
        len(results),
        tuple(_make_card(course, mistake, declared.get(mistake.exercise)) for mistake in made),
        tuple(worst[:SHOWN]),
        tuple((name, counts.full) for name, counts in count_outcomes(results).items()),
    )


def _make_card(course: Course, made: MistakeCount, exercise: Declaration | None) -> MistakeCard:
    if not isinstance(exercise, Exercise) or made.id not in exercise.named_mistakes:
        return MistakeCard(made, "", None, None)
    see = exercise.named_mistakes[made.id].see
    explained_in = section(course, see) if see and not is_left_out(course, see) else None
    return MistakeCard(made, *_draw_mistake(exercise, made.id), explained_in)


def _draw_mistake(exercise: Exercise, id: str) -> tuple[str, Markup | None]:
    """Return what was tried, and a picture of right and wrong result; nothing if no array of a case differs."""
    cases = [case for group, rng in exercise.generators(VISIBLE_SEED) for case in group.draw(rng)]
    for case in cases:
        try:
            right, mistaken = exercise.reference(case), exercise.mistaken_results(case, id)
        except (ValueError, IndexError, OverflowError):
            continue
        for name in sorted(right, key=lambda result: result != "weights"):
            if pair := _find_drawable(right[name], mistaken.get(name)):
                told = f"{name}: on the left as it should be, on the right with this mistake."
                return case.description or describe(case), class_figures.draw_right_and_mistaken(*pair, told)
    return "", None


def _find_drawable(right: Any, mistaken: Any) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the first matrix, or row, in which two results of the same shape differ; None if none can be drawn."""
    if not all(isinstance(result, np.ndarray) and result.dtype.kind in "fiub" for result in (right, mistaken)):
        return None
    if right.shape != mistaken.shape or right.ndim < 1 or right.size < 2:
        return None
    matrices = [np.asarray(result, float).reshape(-1, *((1, *result.shape)[-2:])) for result in (right, mistaken)]
    for ours, theirs in zip(*matrices, strict=True):
        if np.isfinite(ours).all() and ours.size > 1 and not np.allclose(ours, theirs, atol=1e-3, equal_nan=True):
            return (ours, theirs) if all(a <= b for a, b in zip(ours.shape, LARGEST, strict=True)) else None
    return None
