"""Finds, reads and repairs submissions: any file a student hands in becomes a plan to grade, or a reason why not."""

from autograder.submission.choosing import FoundSubmission, PassedOver
from autograder.submission.file_names import student_id
from autograder.submission.finding import Found, find_submissions
from autograder.submission.reading import SubmittedNotebook, Unreadable, read_notebook
from autograder.submission.repair import CellStep, ManualCell, Plan, ProbeStep, read_plan, repair
from autograder.submission.skeleton import read_release
from autograder.submission.tree import FileSource

__all__ = [
    "CellStep",
    "FileSource",
    "Found",
    "FoundSubmission",
    "ManualCell",
    "PassedOver",
    "Plan",
    "ProbeStep",
    "SubmittedNotebook",
    "Unreadable",
    "find_submissions",
    "read_notebook",
    "read_plan",
    "read_release",
    "repair",
    "student_id",
]
