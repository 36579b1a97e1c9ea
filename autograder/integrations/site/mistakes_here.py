"""Make the mistake here: lines that a reader changes in the page, and what the check of a lab says of them.

The page computes and judges them itself, with what is exported here: the lab's visible cases as `coursekit` brings
them, with right results and fingerprints of wrong ones, and the sentence of each mistake. Where no script runs, the
page shows one mistake with what the check says of it, recorded while the site is built. The pages of labs without such
lines show a wrong answer and what their check said of it (`site/checks.json`, written by `site/record_checks.py`).
"""

from __future__ import annotations

import base64
import json
import math
import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

import nbformat
import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from scipy.special import softmax

from autograder.course.settings import Course
from coursekit.check.failures import meaning
from coursekit.check.judge import Attempt, ExerciseSpec, Expectation, GroupSpec, judge
from coursekit.check.lab import load_reference
from coursekit.check.report import TO_THE_COURSE, Report
from coursekit.generator import Generator

TAG = "mistake-here"  # of the cell of a lecture below which it stands
WORDS = ("a", "brown", "dog", "is", "running")
WIDTH = 16  # of queries and keys
LARGE = 3000  # how many times larger the queries are where a mistake shows in large scores only
PROPERTIES = {None, "rows are distributions"}  # those that the page can judge, too
FAILURES = ("value", "nan", "shape", "error")
# An error of each kind that the page raises as NumPy does, for what the course says of it.
RAISED = {
    "matmul": "ValueError: matmul: Input operand 1 has a mismatch in its core dimension 0",
    "broadcast": "ValueError: operands could not be broadcast together with shapes (5,3) (5,)",
    "index": "IndexError: too many indices for array: array is 2-dimensional, but 3 were indexed",
    "mask": "IndexError: boolean index did not match indexed array along axis 0",
    "reshape": "ValueError: cannot reshape array of size 6 into shape (4,)",
}


@dataclass(frozen=True)
class Choice:
    """Lines that a reader may begin with: on the chip a label; `id` of the mistake, empty for the right lines."""

    id: str
    label: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Editor:
    """An exercise whose lines are changed in the page.

    Attributes:
        lab: the lab's folder.
        exercise: its name there.
        results: for each result of the exercise the name that the lines give it.
        says: what the lines have, in words.
        choices: what the reader may begin with.
        first: the choice that the lab's page begins with.
        before: a line that runs before the reader's.
        sentence: whether a batch is taken apart, because the lines are for one sentence.
        optional: an input without which the lines that name it are left out; the lines get it as truth values of the
            shape of the result `shaped_as`.
        defaults: what inputs are that a case leaves out.
        draws_map: whether results hold weights that the page draws.
    """

    lab: str
    exercise: str
    results: Mapping[str, str]
    says: str
    choices: tuple[Choice, ...]
    first: str
    before: str = ""
    sentence: bool = False
    optional: str = ""
    shaped_as: str = ""
    defaults: Mapping[str, float] = field(default_factory=dict)
    draws_map: bool = False


SCORES = "scores = q @ k.T / math.sqrt(k.shape[-1])"
BLOCK = "scores = np.where(mask, scores, -1e9)"
WEIGHTS = "weights = softmax(scores, axis=1)"
OUTPUT = "output = weights @ v"
OVERFLOW = "weights = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)"

ATTENTION = Editor(
    "02_self_attention",
    "scaled_dot_product_attention",
    {"output": "output", "weights": "weights"},
    "`q` (T, 16), `k` (S, 16), `v` (S, 2) and a `mask` (T, S), True where a query may attend",
    (
        Choice("", "the right lines", (SCORES, BLOCK, WEIGHTS, OUTPUT)),
        Choice("unscaled", "no scaling", ("scores = q @ k.T", BLOCK, WEIGHTS, OUTPUT)),
        Choice(
            "softmax_over_queries",
            "softmax over the queries",
            (SCORES, BLOCK, "weights = softmax(scores, axis=0)", OUTPUT),
        ),
        Choice(
            "mask_after_softmax",
            "mask after the softmax",
            (SCORES, WEIGHTS, "weights = np.where(mask, weights, 0)", OUTPUT),
        ),
        Choice("mask_inverted", "mask inverted", (SCORES, "scores = np.where(mask, -1e9, scores)", WEIGHTS, OUTPUT)),
        Choice("unstable_softmax", "overflow", (SCORES, BLOCK, OVERFLOW, OUTPUT)),
    ),
    "softmax_over_queries",
    sentence=True,
    optional="mask",
    shaped_as="weights",
    draws_map=True,
)
HEADS = Editor(
    "03_multi_head_attention",
    "split_heads",
    {"output": "output"},
    "`x` (B, T, D), `num_heads`, and `batch, length, width = x.shape`",
    (
        Choice(
            "split_by_reshape_alone",
            "reshape alone",
            ("output = x.reshape(batch, num_heads, length, width // num_heads)",),
        ),
        Choice("no_transpose", "no transpose", ("output = x.reshape(batch, length, num_heads, -1)",)),
        Choice(
            "heads_interleaved",
            "every H-th feature",
            ("output = x.reshape(batch, length, -1, num_heads).transpose(0, 3, 1, 2)",),
        ),
    ),
    "split_by_reshape_alone",
    before="batch, length, width = x.shape",
)
MEAN, VARIANCE = "mean = x.mean(axis=-1, keepdims=True)", "variance = x.var(axis=-1, keepdims=True)"
NORM = Editor(
    "04_encoder_block",
    "layer_norm",
    {"output": "output"},
    "`x` (…, D), `gamma` (D,), `beta` (D,) and `eps`",
    (
        Choice(
            "eps_added_to_deviation",
            "eps beside the root",
            (MEAN, VARIANCE, "output = gamma * (x - mean) / (np.sqrt(variance) + eps) + beta"),
        ),
        Choice(
            "divides_by_variance",
            "no root",
            (MEAN, VARIANCE, "output = gamma * (x - mean) / (variance + eps) + beta"),
        ),
        Choice(
            "gamma_beta_swapped",
            "gamma and beta swapped",
            (MEAN, VARIANCE, "output = beta * (x - mean) / np.sqrt(variance + eps) + gamma"),
        ),
    ),
    "eps_added_to_deviation",
    defaults={"eps": 1e-6},
)
EDITORS = (ATTENTION, HEADS, NORM)


def make_inputs() -> dict[str, np.ndarray]:
    """Queries, keys (T, 16), values (T, 2) and the causal mask (T, T) of the page's sentence."""
    rng, tokens = Generator(24), len(WORDS)
    q, k, v = (rng.normal(size=(tokens, width)) for width in (WIDTH, WIDTH, 2))
    return {"q": q, "k": k, "v": v, "mask": np.tri(tokens, dtype=bool)}


class MistakesHere:
    """The fragments of HTML and the data of a course's editors; those of labs that it lacks are empty."""

    def __init__(self, course: Course):
        there = {lab.name for lab in course.labs}
        self._editors = {}
        for editor in EDITORS:
            if editor.lab in there and editor.exercise in load_reference(editor.lab).specs:
                self._editors[editor.lab] = editor
        folder = course.root / "site"
        recorded = folder / "checks.json"
        checks = json.loads(recorded.read_text("utf-8")) if recorded.is_file() else {}
        self._recorded = {lab: check for lab, check in checks.items() if lab in there and lab not in self._editors}
        self._templates = Environment(
            loader=FileSystemLoader(folder / "_templates"),
            undefined=StrictUndefined,
            autoescape=True,
            trim_blocks=True,
        )

    def html(self, page: str, lab: str = ATTENTION.lab, first: str | None = None) -> str:
        """For the page of this name, such as ``lectures/02_self_attention``; it begins with the choice `first`."""
        if lab not in self._editors:
            return ""
        editor = self._editors[lab]
        begun = next(each for each in editor.choices if each.id == (editor.first if first is None else first))
        here = PurePosixPath(page).parent.as_posix()
        return self._templates.get_template("make-the-mistake.html").render(
            exercise=editor.exercise,
            view=Markup(
                json.dumps(describe(editor), ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
            ),
            choice=begun,
            box=_link(render_box(editor, begun), page),
            root=posixpath.relpath(".", here),
            lab=posixpath.relpath(f"labs/{lab}/{lab}.html", here),
            number=lab.partition("_")[0].lstrip("0"),
        )

    def add(self, notebook: nbformat.NotebookNode, page: str) -> None:
        """Put it below a lecture's cell that has the tag, with the right lines to begin with; on the page of an
        editor's lab, below the check of its exercise; on another lab's page, there what was recorded of a check."""
        lab = PurePosixPath(page).name if page.startswith("labs/") else ""
        recorded = self._recorded.get(lab, {})
        checked = self._editors[lab].exercise if lab in self._editors else recorded.get("exercise")
        for number, cell in reversed(list(enumerate(notebook.cells))):
            fragment = ""
            if TAG in cell.metadata.get("tags", ()):
                fragment = self.html(page, first="")
            elif checked and cell.metadata.get("nbgrader", {}).get("grade_id") == checked:
                fragment = self._show_recorded(page, **recorded) if recorded else self.html(page, lab)
            if fragment:
                notebook.cells.insert(number + 1, nbformat.v4.new_markdown_cell(f"```{{raw}} html\n{fragment}\n```"))

    def _show_recorded(self, page: str, exercise: str, lines: str, box: str) -> str:
        template = self._templates.get_template("recorded-check.html")
        return template.render(exercise=exercise, lines=lines, box=_link(box, page))

    def scripts(self) -> dict[str, str]:
        """For each exercise the script that holds its data, by file name."""
        return {
            f"{editor.exercise}.js": f"(globalThis.courseLines ??= {{}}).{editor.exercise} = {export(editor)};\n"
            for editor in self._editors.values()
        }


def render_box(editor: Editor, choice: Choice) -> str:
    """What the check of the lab says of the lines, as a notebook shows it."""
    reference = load_reference(editor.lab)
    spec, cases = reference.specs[editor.exercise], reference.expectations[editor.exercise]
    judgement = judge(
        spec, cases, [Attempt(compute_answer(editor, choice.lines, given_inputs(editor, case))) for case in cases]
    )
    progress = dict.fromkeys(reference.specs, False) | {editor.exercise: judgement.passed}
    points = reference.points[editor.exercise] * judgement.share, sum(reference.points.values())
    return Report(spec, judgement, 1, progress, points)._repr_html_()


def given_inputs(editor: Editor, case: Expectation) -> dict[str, Any]:
    """The inputs of a case as the lines get them."""
    given = {**editor.defaults, **case.inputs}
    if editor.optional in given:
        given[editor.optional] = np.broadcast_to(given[editor.optional], case.expected[editor.shaped_as].shape) != 0
    return given


def compute_answer(editor: Editor, lines: Sequence[str], inputs: Mapping[str, Any]) -> dict[str, Any]:
    """What the lines compute from `given_inputs`; results by their names.

    Without the optional input, the lines that name it are left out.
    """
    lacks = bool(editor.optional) and editor.optional not in inputs
    used = [line for line in lines if not (lacks and editor.optional in line)]
    code = compile("\n".join([editor.before, *used]), "<lines>", "exec")

    def run(given: Mapping[str, Any]) -> dict[str, Any]:
        scope = {**given, "np": np, "math": math, "softmax": softmax}
        with np.errstate(all="ignore"):
            exec(code, scope)
        return {name: scope[own] for name, own in editor.results.items()}

    if not editor.sentence:
        return run(inputs)
    lead = next(iter(inputs.values())).shape[:-2]
    parts = [run({key: value[place] for key, value in inputs.items()}) for place in np.ndindex(*lead)]
    return {name: np.reshape([part[name] for part in parts], (*lead, *parts[0][name].shape)) for name in editor.results}


def is_judged_here(case: Expectation) -> bool:
    """Whether the page can try a case: on plain arrays, whatever their float type."""
    return case.mode == "call" and case.dtype is None


def describe(editor: Editor) -> dict[str, Any]:
    """What the page needs to show lines and to compute them."""
    view: dict[str, Any] = {
        "exercise": editor.exercise,
        "says": editor.says,
        "results": editor.results,
        "before": editor.before,
        "sentence": editor.sentence,
        "optional": editor.optional,
        "choices": [{"id": each.id, "label": each.label, "lines": "\n".join(each.lines)} for each in editor.choices],
    }
    if editor.draws_map:
        view["map"] = {"words": WORDS, "large": LARGE, "width": WIDTH} | {
            name: values.astype(float).tolist() for name, values in make_inputs().items()
        }
    return view


def export(editor: Editor) -> str:
    """What the page judges lines by, as JSON: nothing in it is not in `coursekit`'s own reference files.

    Arrays are given as [start, size, shape, kind] in `numbers`, which is a row of float32 in base 64.
    """
    reference = load_reference(editor.lab)
    spec: ExerciseSpec = reference.specs[editor.exercise]
    row: list[np.ndarray] = []
    start = 0

    def place(values: np.ndarray, shape: Sequence[int], kind: str = "f") -> list[Any]:
        nonlocal start
        row.append(np.asarray(values, "<f4").ravel())
        start += row[-1].size
        return [start - row[-1].size, row[-1].size, list(shape), kind]

    def given(value: Any) -> Any:
        return place(value, value.shape, value.dtype.kind) if isinstance(value, np.ndarray) else value

    cases: list[dict[str, Any]] = []
    for case in filter(is_judged_here, reference.expectations[editor.exercise]):
        if case.property not in PROPERTIES:
            raise ValueError(f"{editor.exercise}: the page cannot judge whether results have {case.property!r}")
        cases.append(
            {
                "group": case.group,
                "description": case.description,
                "inputs": {name: given(value) for name, value in given_inputs(editor, case).items()},
                "expected": {name: place(value, value.shape) for name, value in case.expected.items()},
                "tolerance": dict(case.tolerance),
                "property": case.property,
                "wrong": {
                    id: {name: place(each.values, each.shape) for name, each in results.items()}
                    for id, results in case.wrong.items()
                },
            }
        )
    tried = {case["group"] for case in cases}
    told = {
        "groups": [
            {"name": group.name, "title": group.title, "advice": _advice(group)}
            for group in spec.groups
            if group.name in tried
        ],
        "sentences": {id: sentence for id, sentence in spec.sentences.items() if sentence},
        "sections": {
            id: {"title": section.title, "page": section.page.replace(".ipynb", ".html")}
            for id, section in spec.sections.items()
        },
        "meanings": {kind: meaning(text) for kind, text in RAISED.items()},
        "given": sorted({name for case in cases for name in case["inputs"]} - {editor.optional}),
        "cases": cases,
    }
    told["numbers"] = base64.b64encode(np.concatenate(row).tobytes()).decode()
    return json.dumps(told, ensure_ascii=False, separators=(",", ":"))


def _advice(group: GroupSpec) -> dict[str, str]:
    """What the check advises where a group fails, by the kind of failure."""
    advice = group.advice or {}
    if isinstance(advice, str):
        advice = {kind: advice for kind in FAILURES if group.speaks_of(kind)}
    return {kind: text for kind, text in advice.items() if text}


def _link(report: str, page: str) -> Markup:
    """A report with its links to sections leading from this page of the site to those of its lectures."""
    here = PurePosixPath(page).parent.as_posix()

    def link(found: re.Match[str]) -> str:
        return f'href="{posixpath.relpath(found[1], here)}.html{found[2]}"'

    return Markup(re.sub(rf'href="{re.escape(TO_THE_COURSE)}([^"#]+)\.ipynb(#[^"]*)?"', link, report))
