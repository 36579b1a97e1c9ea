"""Draws the way of one submission through the autograder, from the code itself, into docs/images/submission.svg.

Every box is a function or class, with the first sentence of its docstring. The test fails when one is renamed, or says
something else than the picture: run this program again then.
"""

from __future__ import annotations

import inspect
import pkgutil
import re
import textwrap
from itertools import pairwise
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from coursekit.lecture import diagrams

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "images" / "submission.svg"

# module:name, and what it hands on. Everything here is trusted code, outside of the sandbox.
TRUSTED = (
    ("autograder.read.finding:find_submissions", "bytes"),
    ("autograder.read.reading:read_notebook", "notebook"),
    ("autograder.read.repair:repair", "Plan"),
    ("coursekit.check.rules:find_violations", "Plan, broken rules"),
    ("autograder.grade.submission_run:SubmissionRun", "arrays, or how they failed"),
    ("coursekit.check.judge:judge", "Judgement"),
    ("autograder.grade.lab_grader:LabGrader", "LabResult"),
    ("autograder.grade.gradebook:GradebookWriter", "LabResult"),
    ("autograder.pages.feedback:write_feedback", ""),
)
ASKS = "autograder.grade.submission_run:SubmissionRun"
# The student's code runs here. It can see no answer, no other student's work and no network.
SANDBOXED = (
    "autograder.worker.zygote:main",
    "autograder.worker.runner:serve",
    "coursekit.check.attempts:attempt",
)
WIDTH, HEIGHT, GAP = 5.4, 0.92, 0.42  # of a box, and the space to the next one, in inches
COLUMNS = 66  # characters of a line in a box


def sentence(name: str) -> str:
    """The first sentence of the docstring of `module:name`."""
    text = " ".join((inspect.getdoc(pkgutil.resolve_name(name)) or "").split())
    return re.split(r"(?<=[.;:])\s", text, maxsplit=1)[0].rstrip(".;:") + "."


def draw() -> Figure:
    """Return the picture."""
    top = len(TRUSTED) * (HEIGHT + GAP) + 0.5
    figure, ax = diagrams.canvas(2 * WIDTH + 3.2, top + 0.1)

    def box(name: str, x: float, y: float, role: str = "neutral") -> diagrams.Box:
        text = f"{name.replace(':', '.')}\n" + "\n".join(textwrap.wrap(sentence(name), COLUMNS))
        return diagrams.box(ax, x, y, text, role=role, width=WIDTH, height=HEIGHT, fontsize=8.5)

    left, right = WIDTH / 2 + 0.3, 1.5 * WIDTH + 2.5
    trusted: dict[str, diagrams.Box] = {}
    for number, (name, _) in enumerate(TRUSTED):
        trusted[name] = box(name, left, top - 0.5 - HEIGHT / 2 - number * (HEIGHT + GAP))
    boxes = list(trusted.values())
    for above, below, (_, hands_on) in zip(boxes, boxes[1:], TRUSTED, strict=False):
        diagrams.arrow(ax, above.bottom, below.top, label=hands_on)

    middle = trusted[ASKS].y
    hostile = [
        box(name, right, middle + (1 - number) * (HEIGHT + GAP), "mask") for number, name in enumerate(SANDBOXED)
    ]
    for above, below in pairwise(hostile):
        diagrams.arrow(ax, above.bottom, below.top)
    diagrams.group(ax, hostile, "in the sandbox, beside the student's code", pad=0.3)
    ask, answer = middle + 0.2, middle - 0.2
    start, end = trusted[ASKS].right[0], hostile[1].left[0]
    diagrams.arrow(ax, (start, ask), (end, ask), label="cells, inputs")
    diagrams.arrow(ax, (end, answer), (start, answer), label="arrays")
    return figure


def main() -> None:
    PICTURE.parent.mkdir(exist_ok=True)
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "submission"}):
        draw().savefig(PICTURE, bbox_inches="tight", metadata={"Date": None})


if __name__ == "__main__":
    main()
