"""Make the mistake here: the lines of attention with one of five mistakes, the map that they give, and what the check
says of them. All numbers and words are computed while the site is built; the page only chooses which it shows."""

from __future__ import annotations

import math
import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

import nbformat
import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from matplotlib import colormaps
from matplotlib.colors import to_hex
from scipy.special import softmax

from autograder.course.settings import Course
from autograder.declare.declaration import Case, declared_exercises
from autograder.declare.exercise import Exercise
from coursekit.check.judge import Attempt, judge
from coursekit.check.lab import load_reference
from coursekit.check.report import TO_THE_COURSE, Report
from coursekit.generator import Generator

LAB, EXERCISE = "02_self_attention", "scaled_dot_product_attention"
TAG = "mistake-here"  # of the cell of a lecture below which it stands
WORDS = ("a", "brown", "dog", "is", "running")
WIDTH = 16  # of queries and keys
LARGE = 3000  # how many times larger the queries are where a mistake shows in large scores only
SCORES = "scores = q @ k.T / math.sqrt(k.shape[-1])"
BLOCK = "scores = np.where(mask, scores, -1e9)"
WEIGHTS = "weights = softmax(scores, axis=1)"
OUTPUT = "output = weights @ v"
LEADING = {"k.T": "np.swapaxes(k, -1, -2)", "axis=1": "axis=-1", "axis=0": "axis=-2"}  # for more than one sentence
RIGHT = (SCORES, BLOCK, WEIGHTS, OUTPUT)


@dataclass(frozen=True)
class Choice:
    """What a reader may choose.

    Attributes:
        id: of the mistake in the exercise's declaration; empty for the right lines.
        label: on the chip.
        lines: what is computed, in the order in which it runs.
        seen: where in the map it shows; `{…}` are numbers of `_measure`.
        large: whether the queries are `LARGE` times as large.
    """

    id: str
    label: str
    lines: tuple[str, ...]
    seen: str
    large: bool = False


CHOICES = (
    Choice(
        "",
        "no mistake",
        RIGHT,
        "Every row sums to 1: a query shares its weight among the words up to itself, because the mask is causal.",
    ),
    Choice(
        "unscaled",
        "no scaling",
        ("scores = q @ k.T", *RIGHT[1:]),
        "Rows still sum to 1, but they are sharper: the largest weight of “dog” is {dog}, and should be {right_dog}.",
    ),
    Choice(
        "softmax_over_queries",
        "softmax over the queries",
        (SCORES, BLOCK, "weights = softmax(scores, axis=0)", OUTPUT),
        "The sums: every column has 1, and rows have from {least} to {most}.",
    ),
    Choice(
        "mask_after_softmax",
        "mask after the softmax",
        (SCORES, WEIGHTS, "weights = np.where(mask, weights, 0)", OUTPUT),
        "The sums of rows: what blocked words had is lost. “a” keeps {least}; “running”, which may see all, has 1.",
    ),
    Choice(
        "mask_inverted",
        "mask inverted",
        (SCORES, "scores = np.where(mask, -1e9, scores)", *RIGHT[2:]),
        "The wrong triangle: words look only ahead. “running” has no word ahead, so its weights are equal.",
    ),
    Choice(
        "unstable_softmax",
        "overflow",
        (SCORES, BLOCK, "weights = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)", OUTPUT),
        "Only where scores are large, so queries are larger here: NaN (∞/∞ or 0/0) in {bad} of the 5 rows.",
        large=True,
    ),
)


def make_inputs(choice: Choice) -> dict[str, np.ndarray]:
    """Queries, keys (T, 16), values (T, 2) and the causal mask (T, T) of the page's sentence."""
    rng, tokens = Generator(24), len(WORDS)
    q, k, v = (rng.normal(size=(tokens, width)) for width in (WIDTH, WIDTH, 2))
    return {"q": q * LARGE if choice.large else q, "k": k, "v": v, "mask": np.tri(tokens, dtype=bool)}


def compute_answer(
    choice: Choice, q: np.ndarray, k: np.ndarray, v: np.ndarray, mask: np.ndarray | None = None
) -> dict[str, np.ndarray]:
    """What the lines of the page compute, for any leading dimensions: `output` (…, T, d_v) and `weights` (…, T, S).

    Without a mask, the line that has one is left out.
    """
    names = {"q": q, "k": k, "v": v, "mask": mask, "np": np, "math": math, "softmax": softmax}
    code = "\n".join(line for line in choice.lines if mask is not None or "mask" not in line)
    for one, any_number in LEADING.items():
        code = code.replace(one, any_number)
    with np.errstate(all="ignore"):
        exec(code, names)
    return {"output": names["output"], "weights": names["weights"]}


class MistakesHere:
    """The fragment of HTML, for the pages of a course that has the exercise; without it all is empty."""

    def __init__(self, course: Course):
        self._states: list[dict[str, object]] = []
        if LAB not in {lab.name for lab in course.labs}:
            return
        exercise = declared_exercises(course, LAB).get(EXERCISE)
        if isinstance(exercise, Exercise):
            self._states = [_make_state(choice, exercise) for choice in CHOICES]
            folder = course.root / "site" / "_templates"
            self._template = Environment(
                loader=FileSystemLoader(folder), undefined=StrictUndefined, autoescape=True, trim_blocks=True
            ).get_template("make-the-mistake.html")

    def html(self, page: str, first: str = "right") -> str:
        """For the page of this name, such as ``lectures/02_self_attention``; it begins with the choice `first`."""
        if not self._states:
            return ""
        states = [{**state, "box": _link(str(state["box"]), page)} for state in self._states]
        here = PurePosixPath(page).parent.as_posix()
        lab = posixpath.relpath(f"labs/{LAB}/{LAB}.html", here)
        return self._template.render(states=states, words=WORDS, width=WIDTH, lab=lab, first=first)

    def add(self, notebook: nbformat.NotebookNode, page: str) -> None:
        """Put it below the notebook's cell that has the tag."""
        for number, cell in reversed(list(enumerate(notebook.cells))):
            if TAG in cell.metadata.get("tags", ()) and self._states:
                raw = f"```{{raw}} html\n{self.html(page)}\n```"
                notebook.cells.insert(number + 1, nbformat.v4.new_markdown_cell(raw))


def render_box(choice: Choice) -> str:
    """What the check of the lab says of the lines, as a notebook shows it."""
    reference = load_reference(LAB)
    spec, cases = reference.specs[EXERCISE], reference.expectations[EXERCISE]
    judgement = judge(spec, cases, [Attempt(compute_answer(choice, **case.inputs)) for case in cases])
    progress = dict.fromkeys(reference.specs, False) | {EXERCISE: judgement.passed}
    points = reference.points[EXERCISE] * judgement.share, sum(reference.points.values())
    return Report(spec, judgement, 1, progress, points)._repr_html_()


def compute_weights(choice: Choice, exercise: Exercise) -> np.ndarray:
    """The map (T, T), by the formula of the exercise in float64 with the mistake in it."""
    case = Case(make_inputs(choice))
    results = exercise.mistaken_results(case, choice.id) if choice.id else exercise.reference(case)
    return np.asarray(results["weights"])


def find_marks(weights: np.ndarray, right: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """What of the map (T, T) and its sums is to be looked at, (T + 1, T + 1): what is no number or stands on a blocked
    key, sums of rows that are not 1, sums of columns if all are 1; where nothing of this is wrong, the weights that are
    much too large."""
    size = len(weights)
    marked = np.zeros((size + 1, size + 1), dtype=bool)
    marked[:size, :size] = np.isnan(weights) | (~mask & (np.abs(weights) > 0.005))
    marked[:size, size] = ~np.isclose(weights.sum(axis=1), 1)
    marked[size, :size] = np.isclose(weights.sum(axis=0), 1).all()
    if not marked.any():
        marked[:size, :size] = weights > right + 0.2
    return marked


def _measure(weights: np.ndarray, right: np.ndarray) -> Mapping[str, object]:
    sums, dog = weights.sum(axis=1), WORDS.index("dog")
    shown = {"dog": weights[dog].max(), "right_dog": right[dog].max(), "least": sums.min(), "most": sums.max()}
    return {name: f"{value:.2f}" for name, value in shown.items()} | {"bad": int(np.isnan(sums).sum())}


def _make_state(choice: Choice, exercise: Exercise) -> dict[str, object]:
    weights, right = compute_weights(choice, exercise), compute_weights(CHOICES[0], exercise)
    marked = find_marks(weights, right, make_inputs(choice)["mask"])
    rows = [
        [_make_cell(value, mark, is_weight=True) for value, mark in zip(row, of_row, strict=True)]
        for row, of_row in zip(weights, marked[:-1, :-1], strict=True)
    ]
    sums, below = (
        [_make_cell(value, mark) for value, mark in zip(weights.sum(axis=axis), of_sums, strict=True)]
        for axis, of_sums in ((1, marked[:-1, -1]), (0, marked[-1, :-1]))
    )
    return {
        "id": choice.id or "right",
        "label": choice.label,
        "lines": _list_lines(choice),
        "rows": list(zip(WORDS, rows, sums, strict=True)),
        "below": below,
        "seen": choice.seen.format(**_measure(weights, right)),
        "box": render_box(choice),
    }


def _make_cell(value: float, marked: bool, *, is_weight: bool = False) -> dict[str, object]:
    """One number of the map: its text, whether it is marked, and a weight's colour, on which dark text is legible."""
    finite = math.isfinite(value)
    blue = to_hex(colormaps["Blues"](0.6 * min(1.0, value))) if is_weight and finite else ""
    return {"text": f"{value:.2f}" if finite else "NaN", "colour": blue, "marked": marked}


def _list_lines(choice: Choice) -> Sequence[tuple[str, str]]:
    """The lines, each with what is said in front of it: whether it differs from the right ones, or is about inputs."""
    large = [("larger", f"q = {LARGE} * q")] if choice.large else []
    return large + [("changed" if line not in RIGHT else "", line) for line in choice.lines]


def _link(report: str, page: str) -> Markup:
    """A report with its links to sections leading from this page of the site to those of its lectures."""
    here = PurePosixPath(page).parent.as_posix()

    def link(found: re.Match[str]) -> str:
        return f'href="{posixpath.relpath(found[1], here)}.html{found[2]}"'

    return Markup(re.sub(rf'href="{re.escape(TO_THE_COURSE)}([^"#]+)\.ipynb(#[^"]*)?"', link, report))
