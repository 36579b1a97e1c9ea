"""Notebooks and archives as nobody writes them: real ones, mutated, for `test_fuzz`."""

from __future__ import annotations

import io
import json
import random
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

from hostile.making import ROOT

LAB = "02_self_attention"
SIGNS = (
    b'"',
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"\n",
    b"\0",
    b"\xff",
    b"\xed\xa0\x80",
    b"null",
    b"1e999",
    b"-",
    b'"cells"',
    b'"source"',
    b'"cell_type"',
    b'"metadata"',
    b'"nbgrader"',
    b'"grade_id"',
    b'"id"',
    b"[" * 3000,
    b"9" * 5000,
    b'"\\ud800"',
    b"NaN",
    b"<<<<<<< HEAD\n",
    b"PK\x03\x04",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
)
PIECES = (
    "%time ",
    "%%time\n",
    "%timeit -n 10 -r3 ",
    "%%writefile x.py\n",
    "%reset -f\n",
    "!ls ",
    "?",
    "x = %",
    "In [1]: ",
    ">>> ",
    "-a" * 30,
    "-a-b " * 40,
    "\n" * 3000,
    " " * 3000,
    "\t",
    "(" * 150,
    ")" * 150,
    "[" * 250,
    "{",
    "}",
    '"""',
    "'",
    "#",
    ":",
    "=",
    "==",
    ":=",
    "@",
    "lambda: ",
    "def f():\n",
    "class C:\n",
    "    ",
    "return ",
    "for i in x: ",
    "while 1:\n",
    "async def g():\n",
    "await ",
    "yield ",
    "import os\n",
    "from x import *\n",
    "global x\n",
    "f'{",
    "}'",
    "rb'\\",
    "\\",
    "\\\n",
    "\x0c",
    "\ufeff",
    "\u2028",
    "\N{GREEK SMALL LETTER ALPHA}",
    "\N{GRINNING FACE}",
    "\ud800",
    "0x",
    "1_0",
    "9" * 5000,
    "1e999",
    "- " * 500,
    "not " * 300,
    ".a" * 500,
    "a.",
    "x[",
    "*",
    "**",
    "a;" * 500,
    "if 1:\n  " * 50,
    "try:\n",
    "print ",
    "exec(",
    "getattr(x, 'y')",
    "get_ipython().run_line_magic('time', '-a-a')",
    "self_attention_loops",
    "check(",
    "def self_attention_loops(x):\n    return x\n",
    "with a: ",
    "match x:\n case _:\n  ",
    "type X = int\n",
    "del x\n",
    "...",
)


@cache
def corpus() -> tuple[bytes, ...]:
    """The notebooks of this repository, with the outputs that a kernel left in them, and the sample submissions."""
    folders = ("solutions/*", "labs/*", "lectures", "exercises/samples/*/*")
    found = [sorted(ROOT.glob(f"{folder}/*.ipynb")) for folder in folders]
    if empty := [folder for folder, paths in zip(folders, found, strict=True) if not paths]:
        raise FileNotFoundError(f"no notebook in {', '.join(empty)}")
    return tuple(path.read_bytes() for paths in found for path in paths)


def mutated(seed: int) -> bytes:
    """A notebook of the corpus with some changes; most have the cells of lab 02."""
    draw = random.Random(seed)
    own = [data for data in corpus() if LAB.encode() in data]
    data = draw.choice(own if draw.random() < 0.8 else corpus())
    if draw.random() < 0.7:
        try:
            notebook = json.loads(data)
        except ValueError:
            notebook = {}
        for _ in range(draw.randint(1, 8)):
            draw.choice(CHANGES)(notebook, draw)
        data = json.dumps(notebook).encode("utf-8", "surrogatepass")
    if draw.random() < 0.5:
        for _ in range(draw.randint(1, 5)):
            data = _torn(data, draw)
    return data


def _torn(data: bytes, draw: random.Random) -> bytes:
    at = draw.randrange(len(data) + 1)
    end = min(len(data), at + draw.choice((0, 0, 1, 5, 200, 20_000)))
    other = draw.choice(corpus())
    cut = draw.randrange(len(other))
    new = draw.choice(
        (b"", draw.choice(SIGNS), draw.randbytes(draw.randint(1, 8)), data[at:end] * 2, other[cut : cut + 5000])
    )
    return data[:at] + new + data[end:]


def _cells(notebook, draw: random.Random) -> list:
    cells = notebook.get("cells")
    if not isinstance(cells, list) or not cells:
        notebook["cells"] = cells = [{"cell_type": "code", "metadata": {}, "source": ""}]
    return cells


def _cell(notebook, draw: random.Random) -> dict:
    cell = draw.choice(_cells(notebook, draw))
    return cell if isinstance(cell, dict) else {}


def _written(notebook, draw: random.Random) -> None:
    """Pieces of code into a source, or in its place."""
    cell = _cell(notebook, draw)
    source = cell.get("source", "")
    text = "".join(part for part in source if isinstance(part, str)) if isinstance(source, list | str) else ""
    new = "".join(draw.choice(PIECES) for _ in range(draw.randint(1, 30)))
    at = draw.randrange(len(text) + 1)
    cell["source"] = draw.choice((new, text[:at] + new + text[at:], text[:at], (text + new) * draw.choice((1, 2, 40))))


def _added(notebook, draw: random.Random) -> None:
    cells = _cells(notebook, draw)
    for _ in range(draw.choice((1, 1, 3, 60))):
        source = "".join(draw.choice(PIECES) for _ in range(draw.randint(0, 12)))
        cell = {"cell_type": draw.choice(("code", "markdown", "raw", 3)), "metadata": {}, "source": source}
        cells.insert(draw.randrange(len(cells) + 1), cell)


def _moved(notebook, draw: random.Random) -> None:
    cells = _cells(notebook, draw)
    cell = cells.pop(draw.randrange(len(cells))) if cells else {}
    for _ in range(draw.choice((0, 1, 1, 2, 30))):
        cells.insert(draw.randrange(len(cells) + 1), cell)


def _labelled(notebook, draw: random.Random) -> None:
    ids = [cell["metadata"]["nbgrader"]["grade_id"] for cell in _cells(notebook, draw) if _is_graded(cell)]
    value = draw.choice([*ids, "", "x" * 2000, None, 3, "\ud800"])
    cell = _cell(notebook, draw)
    if draw.random() < 0.5:
        cell["metadata"] = {"nbgrader": {"grade_id": value, "solution": draw.choice((True, False, 7)), "points": 1e400}}
    else:
        cell["id"] = value


def _is_graded(cell) -> bool:
    try:
        return isinstance(cell["metadata"]["nbgrader"]["grade_id"], str)
    except (TypeError, KeyError):
        return False


def _of_another_type(notebook, draw: random.Random) -> None:
    """A value of another type somewhere in the tree."""
    place = notebook
    for _ in range(draw.randint(0, 6)):
        keys = list(place) if isinstance(place, dict) else list(range(len(place))) if isinstance(place, list) else []
        if not keys:
            return
        key = draw.choice(keys)
        if not isinstance(place[key], dict | list) or draw.random() < 0.2:
            place[key] = draw.choice(
                (None, True, -1, 1e300, "", "text", [], {}, [[]], {"a": {}}, ["x", 3, None], 10**40)
            )
            return
        place = place[key]


CHANGES: tuple[Callable, ...] = (_written, _written, _added, _moved, _labelled, _of_another_type)


def archive(seed: int) -> bytes:
    """A zip archive with odd names and archives in it, some of them damaged."""
    draw = random.Random(seed)
    data = _packed(draw, 0)
    for _ in range(draw.choice((0, 1, 1, 4))):
        at = draw.randrange(len(data) + 1)
        end = at + draw.choice((0, 1, 2, 4, 40))
        data = (
            data[:at] + draw.choice((b"", draw.randbytes(draw.randint(1, 6)), b"PK\x01\x02", b"\xff" * 4)) + data[end:]
        )
    return data


def _packed(draw: random.Random, depth: int) -> bytes:
    folders = (
        "",
        "ada/",
        "bob/02_self_attention/",
        "../",
        "/",
        "C:\\",
        "a//b/",
        "ada+02_self_attention+2026-01-01 UTC/",
        "Ada Lovelace_12345_assignsubmission_file_/",
        "x" * 300 + "/",
        ".hidden/",
        "caf\u00e9/",
        "02_self_attention/",
    )
    names = (
        "02_self_attention.ipynb",
        "x.ipynb",
        "x.zip",
        "timestamp.txt",
        "adalovelace_123_4567_02_self_attention-1.ipynb",
        "a.ipynb.txt",
        "",
        "copy of 02_self_attention (1).ipynb",
        "\x1b[2J.ipynb",
        "03_other.ipynb",
    )
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as packed:
        for _ in range(draw.randint(0, 8)):
            name = draw.choice(folders) + draw.choice(names)
            small = draw.choice((b"", b"{}", corpus()[0][:2000], bytes(5000)))
            content = _packed(draw, depth + 1) if name.endswith(".zip") and depth < 4 else small
            info = zipfile.ZipInfo(name or "x")
            info.external_attr = draw.choice((0, 0, 0o120777 << 16, 0o10644 << 16, 0o100644 << 16))
            packed.writestr(info, content, compress_type=draw.choice((0, 8, 8, 12, 14)))
    return buffer.getvalue()


def write_archive(folder: Path, seed: int) -> Path:
    path = folder / "all.zip"
    path.write_bytes(archive(seed))
    return path
