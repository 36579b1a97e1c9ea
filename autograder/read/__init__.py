"""Finds, reads and repairs submissions: any file a student hands in becomes a plan to grade, or a reason why not."""

from autograder.course.labs import read_release
from autograder.read.child import Children, LabReader, NotebookReader, ReaderLost, Reading, Rules
from autograder.read.finding import Found, find_submissions
from autograder.read.handing_in import FoundSubmission, PassedOver
from autograder.read.reading import SubmittedNotebook, Unreadable, read_notebook
from autograder.read.repair import CellStep, ManualCell, Plan, ProbeStep, read_plan, repair
from autograder.read.tree import FileSource

__all__ = [
    "CellStep", "Children", "FileSource", "Found", "FoundSubmission", "LabReader", "ManualCell", "NotebookReader",
    "PassedOver", "Plan", "ProbeStep", "ReaderLost", "Reading", "Rules", "SubmittedNotebook", "Unreadable",
    "find_submissions", "read_notebook", "read_plan", "read_release", "repair",
]  # fmt: skip
