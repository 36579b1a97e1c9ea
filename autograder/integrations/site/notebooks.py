"""A notebook as a page of the site: its figures are numbered files with their words, its answers stay folded."""

from __future__ import annotations

import ast
import base64
import html
import io
import json
import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import nbformat
from nbformat import NotebookNode
from PIL import Image

from coursekit.lecture.plots import caption_and_rest

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
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        cell.source = _FOR_TESTS.sub("", cell.source)
        _fold(cell)
        outputs = []
        for output in cell.outputs:
            if "image/png" in output.get("data", {}):
                number = len(pictures) + 1
                picture = Image.open(io.BytesIO(base64.b64decode(output.data["image/png"])))
                file = f"{name}-{number}.webp"
                pictures[file] = _write_webp(picture)
                alt = output.get("metadata", {}).get("image/png", {}).get("alt", "")
                chart = output.data.get(_LIVE)
                output.data = NotebookNode(
                    {"text/html": _write_figure(f"{chapter}.{number}", file, picture.size, alt, chart)}
                )
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


def _write_webp(picture: Image.Image) -> bytes:
    """The same pixels in fewer bytes."""
    written = io.BytesIO()
    picture.save(written, "WEBP", lossless=True, quality=75, method=4)  # here, quality is how hard it tries
    return written.getvalue()


def _write_figure(number: str, file: str, size: tuple[int, int], alt: str, chart: dict[str, Any] | None) -> str:
    width, height = size
    source = PurePosixPath("figures", file)
    words = html.escape(alt)
    caption, rest = map(html.escape, caption_and_rest(alt))
    folded = f"<details><summary>in words</summary>{rest}</details>" if rest else ""
    kind, live = "course-figure", ""
    if chart is not None:
        kind = "course-figure course-live"
        written = json.dumps(chart, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
        live = f'<script type="application/json">{written}</script>'
    return (
        f'<figure class="{kind}" id="figure-{number.replace(".", "-")}">'
        f'<img src="{source}" alt="{words}" width="{width}" height="{height}" loading="lazy">{live}'
        f"<figcaption><span>Figure {number}. {caption}</span>{folded}</figcaption>"
        "</figure>"
    )
