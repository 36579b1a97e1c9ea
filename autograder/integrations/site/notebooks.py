"""A notebook as a page of the site: its figures are numbered files with their words, its answers stay folded."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

import nbformat
from nbformat import NotebookNode

from autograder.integrations.site.figures import make_figure

_WORDS = ('<small class="figure-caption">', "<details><summary><small>Figure in words")  # what stands below a figure
_LIVE = "application/vnd.vegalite.v5+json"  # a live figure, which the page's script draws over its picture
_MOST_LINES = 25  # of code in sight; what is longer, and what trains or samples, is folded
_RUNS = re.compile(r"\.fit\(|GradientTape|\bgenerate\(|\.sample\(")
_FOR_TESTS = re.compile(r"^# NBVAL_\w+\n", re.MULTILINE)


@dataclass(frozen=True)
class Page:
    """A notebook that is ready for Sphinx, and its pictures by file name."""

    notebook: NotebookNode
    pictures: dict[str, bytes]


def make_page(notebook: NotebookNode, name: str) -> Page:
    """The page of a notebook called `name`, such as ``02_self_attention``; its pictures lie in ``figures/``."""
    notebook = nbformat.from_dict(notebook)
    notebook.metadata.language_info = NotebookNode({"name": "python", "pygments_lexer": "ipython3"})
    chapter = re.sub(r"^0+", "", name.partition("_")[0])
    pictures: dict[str, bytes] = {}
    shown = 0
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        cell.source = _FOR_TESTS.sub("", cell.source)
        _fold(cell)
        outputs = []
        for output in cell.outputs:
            if "image/png" in output.get("data", {}):
                shown += 1
                figure = make_figure(output, f"{chapter}.{shown}", f"{name}-{shown}", output.data.get(_LIVE))
                pictures |= figure.files
                output.data = NotebookNode({"text/html": figure.text})
                output.metadata = NotebookNode()
            elif "".join(output.get("data", {}).get("text/html", "")).startswith(_WORDS):
                continue  # the figure says it
            outputs.append(output)
        cell.outputs = outputs
    return Page(notebook, pictures)


def _fold(cell: NotebookNode) -> None:
    """Code that only draws, trains or samples, and long code, is folded; set-up stays away, and its output with it."""
    tags = set(cell.metadata.get("tags", ()))
    if tags & {"course-setup", "setup"}:
        shown = any("image/png" in output.get("data", {}) for output in cell.outputs)
        tags.add("hide-input" if shown else "remove-cell")
    elif "drawing" in tags:
        tags.add("hide-input")
    elif cell.source.count("\n") >= _MOST_LINES or _RUNS.search(cell.source):
        tags.add("hide-input")
        said = _summarise_code(cell.source)
        cell.metadata["mystnb"] = {"code_prompt_show": f"Show {said}", "code_prompt_hide": f"Hide {said}"}
    cell.metadata["tags"] = sorted(tags)


def _summarise_code(source: str) -> str:
    """What a cell holds, in words: "code that trains: def trained (19 lines)"."""
    kind = "code that trains" if re.search(r"\.fit\(|GradientTape", source) else "code"
    if kind == "code" and _RUNS.search(source):
        kind = "code that samples"
    try:
        body = ast.parse(source).body
    except SyntaxError:  # magics, or a stub that is not Python yet
        body = []
    words = {ast.ClassDef: "class", ast.FunctionDef: "def"}
    names = [f"{words[type(each)]} {each.name}" for each in body if isinstance(each, ast.ClassDef | ast.FunctionDef)]
    lines = source.count("\n") + 1
    return f"{kind}{': ' if names else ''}{', '.join(names)} ({lines} {'line' if lines == 1 else 'lines'})"


def read_title(notebook: NotebookNode) -> str:
    """The notebook's first heading; empty where there is none."""
    return _find_first(r"^# +(.+)$", notebook)


def read_subtitle(notebook: NotebookNode) -> str:
    """The sentence in bold or italics below the first heading; empty where there is none."""
    return " ".join(_find_first(r"^# .+\n+\*{1,2}([^*]+)\*{1,2}$", notebook).split())


def _find_first(pattern: str, notebook: NotebookNode) -> str:
    text = next((cell.source for cell in notebook.cells if cell.cell_type == "markdown"), "")
    found = re.search(pattern, text, re.MULTILINE)
    return found[1].strip() if found else ""
