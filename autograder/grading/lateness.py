"""What lateness costs: the plugin that follows course.toml, and asking the one that nbgrader_config.py chooses."""

from __future__ import annotations

import math
from types import SimpleNamespace

from nbgrader.plugins import LateSubmissionPlugin
from nbgrader.preprocessors import AssignLatePenalties
from traitlets import Float

from autograder.course.settings import Course, load_nbgrader_config


class CoursePenalty(LateSubmissionPlugin):
    """Nothing within the grace time; after it a share of the earned points for each day that has begun.

    Without a share it does what `LateSubmissionPlugin.penalty_method` says, once the grace time is over. Seconds are
    counted from the student's own due date: nbgrader adds an extension before it asks.
    """

    grace_minutes = Float(0.0, min=0.0, help="Minutes after the due date that cost nothing.").tag(config=True)
    percent_per_day = Float(
        0.0, min=0.0, max=100.0, help="Share of the earned points that each day costs; 0 for none."
    ).tag(config=True)

    def late_submission_penalty(self, student_id: str, score: float, total_seconds_late: float) -> float | None:
        """The points that are taken off, at most all; None where nothing is.

        Args:
            student_id: the student.
            score: the points that were earned.
            total_seconds_late: seconds after the student's due date.
        """
        if total_seconds_late <= 60 * self.grace_minutes:
            return None
        if not self.percent_per_day:
            return super().late_submission_penalty(student_id, score, total_seconds_late)
        days = math.ceil(total_seconds_late / 86_400)
        return min(score, score * days * self.percent_per_day / 100)


class LatePenalties:
    """Asks nbgrader's late submission plugin, as nbgrader's own AssignLatePenalties does."""

    def __init__(self, course: Course):
        self._preprocessor = AssignLatePenalties(config=load_nbgrader_config(course))
        self._preprocessor.init_plugin()

    def penalty(self, student: str, score: float, seconds_late: float) -> float | None:
        """Return the points that a submission loses: at most its `score`, None where the plugin takes nothing.

        Args:
            student: the student's id; a plugin may count late days by it.
            score: the points before the penalty.
            seconds_late: seconds after the due date, the student's extension included; 0 is in time.
        """
        if seconds_late <= 0:
            return None
        penalty = self._preprocessor.plugin_inst.late_submission_penalty(student, score, seconds_late)
        if penalty is None:
            return None
        return self._preprocessor._check_late_penalty(SimpleNamespace(score=score), penalty)
