"""How nbgrader works on a course of this autograder: its nbgrader_config.py calls `configure_course`."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from typing import Any

from autograder.course.settings import load_course
from autograder.grade.marks import log_changes
from autograder.release.validation import configure_validation


def configure_course(c: Any, root: Path) -> None:
    """Set up nbgrader for the course in the folder `root`.

    Args:
        c: nbgrader's configuration, as `get_config()` returns it in an nbgrader_config.py.
        root: the folder with course.toml.

    Raises:
        CourseError: course.toml cannot be read.
    """
    # nbgrader starts "alembic" by name; without this it needs an activated environment.
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    # nbgrader 0.9 says this to SQLAlchemy 2 for every submission; it is harmless.
    warnings.filterwarnings("ignore", message="Object of type .* not in session, add operation")
    course = load_course(root)

    c.CourseDirectory.root = str(course.root)
    c.CourseDirectory.course_id = course.course_id
    c.CourseDirectory.source_directory = "solutions"
    c.CourseDirectory.release_directory = "labs"
    c.CourseDirectory.submitted_directory = "submitted"
    c.CourseDirectory.autograded_directory = "autograded"
    c.CourseDirectory.feedback_directory = "feedback"
    c.CourseDirectory.solution_directory = "model_answers"
    c.CourseDirectory.db_url = course.db_url
    c.CourseDirectory.ignore = [
        ".ipynb_checkpoints",
        "__pycache__",
        "*.pyc",
        "feedback",
        *(f"{lab.name}.py" for lab in course.labs),
    ]

    # Needed only for nbgrader's own hand-out and hand-in; a shared one has to be writable for everybody.
    c.Exchange.root = os.environ.get("NBGRADER_EXCHANGE") or course.exchange or str(course.root / "exchange")
    if c.Exchange.root == str(course.root / "exchange"):
        Path(c.Exchange.root).mkdir(exist_ok=True)

    for _name in ("CourseCells", "GradeSubmission", "RestoreRelease"):
        c[_name].course_root = str(course.root)

    # Labs: "course release" uses this very pipeline, and so does Formgrader's Generate button.
    c.ClearSolutions.code_stub = {"python": 'raise NotImplementedError("Write your code here")'}
    c.ClearSolutions.text_stub = "*Write your answer here.*"
    c.GenerateAssignment.preprocessors = [
        "autograder.release.course_cells.CourseCells",
        "nbgrader.preprocessors.LockCells",
        "nbgrader.preprocessors.ClearSolutions",
        "nbgrader.preprocessors.ClearOutput",
        "nbgrader.preprocessors.CheckCellMetadata",
        "nbgrader.preprocessors.ComputeChecksums",
        "nbgrader.preprocessors.SaveCells",
        "autograder.release.course_cells.StableNotebook",
    ]

    # Grading: marks come from the sandbox and the oracles, never from what a notebook's cells displayed.
    c.Autograde.pre_convert_hook = "autograder.grade.nbgrader_plugin.prepare_gradebook"
    c.Autograde.exporter_class = "autograder.grade.nbgrader_plugin.ForgivingExporter"
    c.Autograde.sanitize_preprocessors = ["autograder.grade.nbgrader_plugin.RestoreRelease"]
    c.Autograde.autograde_preprocessors = [
        "autograder.grade.nbgrader_plugin.GradeSubmission",
        "nbgrader.preprocessors.AssignLatePenalties",
    ]
    c.AssignLatePenalties.plugin_class = "autograder.grade.nbgrader_rows.CoursePenalty"
    c.CoursePenalty.grace_minutes = course.lateness.grace_minutes
    c.CoursePenalty.percent_per_day = course.lateness.percent_per_day
    # Scripts in a submission's text cells reach neither Formgrader nor the reader of the feedback.
    c.HTMLExporter.filters = {"markdown2html": "autograder.grade.nbgrader_plugin.safe_markdown"}

    configure_validation(c)
    log_changes(course)
