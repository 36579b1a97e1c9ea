"""Writes the page that says how `course watch` stands: what waits, what was graded last, what nobody can grade."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from autograder.course.settings import Course
from autograder.course.times import shown_time
from autograder.pages.rendering import render
from autograder.submission import PassedOver

if TYPE_CHECKING:
    from autograder.integrations.watching.journal import Journal

MOST_SHOWN = 50


def status_page(
    course: Course,
    *,
    now: datetime,
    last: datetime | None,
    journal: Journal,
    passed_over: Sequence[PassedOver],
    failures: Mapping[str, str],
) -> bytes:
    """The page, as HTML that loads itself anew every half minute and needs no script.

    Args:
        course: the course.
        now: when the page is written, in UTC.
        last: the end of the last whole round; None before it.
        journal: the attempts.
        passed_over: what is nobody's.
        failures: by student, why the grader has no verdict.
    """
    seconds = journal.seconds_to_feedback(now)
    return render(
        "status.html.j2",
        course=course,
        now=now,
        last=last,
        counts=journal.counts(),
        waiting=journal.waiting(MOST_SHOWN),
        latest=journal.latest(MOST_SHOWN),
        median=statistics.median(seconds) if seconds else None,
        longest=max(seconds, default=None),
        graded_in_hour=len(seconds),
        passed_over=passed_over[:MOST_SHOWN],
        failures=failures,
        most=MOST_SHOWN,
        time=lambda moment, lab: shown_time(moment, course.zone_of(lab), seconds=True),
    )
