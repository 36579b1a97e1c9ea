"""Damaged files, archives and names: what is no notebook, or comes in a way that is meant to do harm."""

from __future__ import annotations

import io
import json
import os
import stat
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import jupytext
import nbformat

from hostile.heavy import endless_directory, nested_empties
from hostile.making import FULL, LAB, answered, as_bytes, code_cell, right_answers


@dataclass(frozen=True)
class Damaged:
    """A file that is handed in as ``<name>/<lab>.ipynb``, the score it must get, and words of the reason or repair."""

    name: str
    what: str
    put: Callable[[Path], object]
    score: float = 0
    state: str = "unreadable"
    told: str = ""


def _bytes(name: str, what: str, content: Callable[[], bytes], told: str = "", score: float = 0) -> Damaged:
    state = "graded" if score else "unreadable"
    return Damaged(name, what, lambda path: path.write_bytes(content()), score, state, told)


def _notebook(**changes: object) -> bytes:
    return as_bytes({**answered(), **changes})


def _other_lab() -> bytes:
    cells = [code_cell('from coursekit import start_lab\ncheck = start_lab("03_multi_head_attention")')]
    for name in ("split_heads", "merge_heads"):
        metadata = {"nbgrader": {"grade_id": name, "grade": True, "points": 4, "locked": True, "solution": False}}
        cells.append({**code_cell(f'check("{name}")'), "metadata": metadata})
    return _notebook(cells=cells)


def _script() -> bytes:
    return jupytext.writes(nbformat.reads(_notebook(), 4), fmt="py:percent").encode()


def _version_3() -> bytes:
    cells = [
        {"cell_type": "code", "input": cell["source"], "outputs": [], "metadata": cell["metadata"]}
        if cell["cell_type"] == "code"
        else {"cell_type": "markdown", "source": cell["source"], "metadata": cell["metadata"]}
        for cell in answered()["cells"]
    ]
    return json.dumps({"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": [{"cells": cells}]}).encode()


def _hundred_megabytes() -> bytes:
    notebook = answered()
    output = {"output_type": "stream", "name": "stdout", "text": "x" * (100 << 20)}
    next(cell for cell in notebook["cells"] if cell["cell_type"] == "code")["outputs"] = [output]
    return as_bytes(notebook)


def _many_cells() -> bytes:
    return _notebook(cells=[*answered()["cells"], *(code_cell("pass") for _ in range(6000))])


def _huge_cell() -> bytes:
    notebook = answered()
    notebook["cells"].insert(3, code_cell("x = '" + "a" * (3 << 20) + "'"))
    return as_bytes(notebook)


def _wide_cell() -> bytes:
    notebook = answered()
    notebook["cells"].insert(3, code_cell("x = '" + "\N{GRINNING FACE}" * 1_000_000 + "'"))
    return as_bytes(notebook)


def _many_trees() -> bytes:
    notebook = answered()
    notebook["cells"] += [code_cell("a;" * 4000) for _ in range(250)]
    return as_bytes(notebook)


def _slow_magics() -> bytes:
    """Options of magics that can be split in many ways, and names by the thousand beside cells that are not read."""
    notebook = answered()
    sources = [f"%{name} " + "-a" * 60 + "!" for name in ("time", "timeit", "capture", "prun", "debug")]
    sources += ["%%time\n%time " + "-a-b " * 9000, ";".join(f"n{at}" for at in range(9000))]
    notebook["cells"] += map(code_cell, sources)
    return as_bytes(notebook)


def _empty_lines() -> bytes:
    notebook = answered()
    notebook["cells"] += [code_cell("\n" * 190_000) for _ in range(40)] + [code_cell("\n" * 1_000_000)]
    return as_bytes(notebook)


def _large_unread_cells() -> bytes:
    """Cells that are too large to be read, and an answer with a thousand names to look for in them."""
    notebook = answered()
    notebook["cells"][3:3] = [code_cell("a = 1\n" * 160_000) for _ in range(15)]
    names = "\n".join(f"    n{at} = m{at}" for at in range(1000))
    notebook["cells"].append(code_cell(f"def unused(x):\n{names}"))
    return as_bytes(notebook)


def _deep_source() -> bytes:
    notebook = answered()
    notebook["cells"].insert(3, code_cell("x = " + "(" * 5000 + ")" * 5000 + "\ny = " + "-" * 100_000 + "1"))
    return as_bytes(notebook)


def _odd_characters() -> bytes:
    notebook = answered()
    notebook["cells"].insert(3, code_cell("x = '\ud800\u202e\0\x1b[2J'"))
    return as_bytes(notebook)


def _huge_number() -> bytes:
    return _notebook(nbformat_minor=5).replace(b'"nbformat_minor": 5', b'"nbformat_minor": ' + b"9" * 100_000, 1)


def _link(target: str) -> Callable[[Path], object]:
    return lambda path: path.symlink_to(target)


def _folder(path: Path) -> None:
    path.mkdir()
    (path / "inside.txt").write_text("nothing")


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(4 << 30)


FILES: tuple[Damaged, ...] = (
    _bytes("empty", "an empty file", lambda: b"", "empty"),
    _bytes("zero-bytes", "nothing but zero bytes", lambda: b"\0" * 4096, "zero bytes"),
    _bytes("cut-off", "a notebook that is cut off", lambda: _notebook()[:9000], "cut off"),
    _bytes("no-json", "JSON with a hole in it", lambda: _notebook().replace(b'"source"', b"source", 1), "damaged"),
    _bytes("merge-conflict", "the marks of a merge conflict", lambda: b"{\n<<<<<<< HEAD\n" + _notebook(), "merge"),
    _bytes("html", "a web page", lambda: b"<!DOCTYPE html><html><script>alert(1)</script></html>", "HTML"),
    _bytes("python", "a Python script", lambda: right_answers()["SelfAttention"].encode(), "Python script"),
    _bytes("pdf", "a PDF document", lambda: b"%PDF-1.7\n" + b"x" * 1000, "PDF"),
    _bytes("pickle", "a pickle", lambda: b"\x80\x04\x95cos\nsystem\n(S'touch /tmp/x'\ntR.", "not a notebook"),
    _bytes("other-json", "JSON that is no notebook", lambda: b'{"score": 32}', "not a notebook"),
    _bytes("other-lab", "another lab's notebook", _other_lab, "another lab"),
    _bytes("no-lab", "a notebook of no lab", lambda: _notebook(cells=[code_cell("1 + 1")]), "no cell of this lab"),
    _bytes("no-cells", "a notebook without cells", lambda: _notebook(cells=[]), "no cell of this lab"),
    _bytes("deep-json", "JSON nested a million deep", lambda: b"[" * 1_000_000 + b"]" * 1_000_000, "nested"),
    _bytes("many-cells", "six thousand cells", _many_cells, "cells"),
    _bytes("utf-16", "written in UTF-16", lambda: _notebook().decode().encode("utf-16"), "UTF-16", FULL),
    _bytes("latin-1", "written in Latin-1", lambda: _notebook().decode().encode("latin-1", "replace"), "", FULL),
    _bytes("byte-order-mark", "with a byte order mark", lambda: b"\xef\xbb\xbf" + _notebook(), "", FULL),
    _bytes("tail", "text after the end", lambda: _notebook() + b"\n}}] and more", "has more text after the end", FULL),
    _bytes("script", "a Python script with cells", _script, "read as a notebook", FULL),
    _bytes("version-3", "a notebook of nbformat 3", _version_3, "old format", FULL),
    _bytes("version-99", "an unknown format", lambda: _notebook(nbformat=99), "format", FULL),
    _bytes("large-output", "a hundred megabytes of output", _hundred_megabytes, "", FULL),
    _bytes("huge-cell", "a cell of three megabytes", _huge_cell, "more than 1 MB", FULL),
    _bytes("wide-cell", "a million characters of four bytes each", _wide_cell, "more than 1 MB", FULL),
    _bytes("deep-source", "a source nested too deep for the parser", _deep_source, "", FULL),
    _bytes("many-trees", "two megabytes of the smallest statements", _many_trees, "more code than", FULL),
    _bytes("slow-magics", "options of magics that can be split in many ways", _slow_magics, "", FULL),
    _bytes("empty-lines", "nine million empty lines", _empty_lines, "", FULL),
    _bytes("large-unread-cells", "large cells that no rule can read", _large_unread_cells, "", FULL),
    _bytes("nested-empties", "sixty megabytes of nothing", lambda: nested_empties(60), "clear the outputs"),
    _bytes("odd-characters", "halves of characters and zero bytes", _odd_characters, "", FULL),
    _bytes("huge-number", "a format number of a hundred thousand digits", _huge_number, "", FULL),
    Damaged("link-out", "a link to a file of the system", _link("/etc/passwd"), told="link"),
    Damaged("link-to-victim", "a link to another student's work", _link(f"../victim/{LAB}.ipynb"), told="link"),
    Damaged("link-to-itself", "a link to itself", _link(f"{LAB}.ipynb"), told="link"),
    Damaged("link-to-device", "a link to a device that never ends", _link("/dev/zero"), told="link"),
    Damaged("pipe", "a pipe that nobody writes to", lambda path: os.mkfifo(path), told="pipe"),
    Damaged("folder", "a folder named like the notebook", _folder, told=""),
    Damaged("sparse", "four gigabytes of nothing", _sparse, told="more than"),
)

NAMES: tuple[str, ...] = (
    "=HYPERLINK(1)", "+1-1", "@SUM(A1)", "-rf", "<script>alert(1)<", "Zoë Ångström", "名前", "a b'c\"d", "{{7*7}}",
    "[bold red]x[", "new\nline", "tab\there", "nul\\null", "x" * 200, "%s%n", "$(touch x)", "comma,quote\"",
)  # fmt: skip


def tricky_archive(path: Path) -> None:
    """An archive with paths out of it, links, bombs and other archives, and two sound notebooks among them."""
    bomb, lzma = io.BytesIO(), list[zipfile.ZipInfo]()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as inner:
        inner.writestr(f"{LAB}.ipynb", b"\0" * (300 << 20))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"zip-sound/{LAB}.ipynb", _notebook())
        archive.writestr(f"zip-deep/{LAB}/{LAB}.ipynb", _notebook())
        archive.writestr(f"zip-escape/../../../escaped/{LAB}.ipynb", _notebook())
        archive.writestr(f"zip-bomb/{LAB}.ipynb", b" " * (300 << 20))
        archive.writestr("zip-nested-bomb/work.zip", bomb.getvalue())
        link = zipfile.ZipInfo(f"zip-link/{LAB}.ipynb")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
        archive.writestr("zip-broken/work.zip", b"PK\x03\x04 not an archive")
        archive.writestr("zip-empty/readme.txt", "nothing")
        archive.writestr("zip-endless/work.zip", endless_directory(200_000))
        for name in (f"zip-lzma/{LAB}.ipynb", "zip-lzma-inside/work.zip"):
            archive.writestr(name, _notebook(), compress_type=zipfile.ZIP_LZMA)
            lzma.append(archive.getinfo(name))
    data = bytearray(path.read_bytes())
    for info in lzma:  # damaged, for whoever unpacks it
        begins = info.header_offset + 30 + len(info.filename) + 12
        data[begins : begins + 400] = bytes(400)
    path.write_bytes(data)


ARCHIVED = {
    "zip-sound": FULL,
    "zip-deep": FULL,
    "zip-escape": 0,
    "zip-bomb": 0,
    "zip-nested-bomb": 0,
    "zip-link": 0,
    "zip-broken": 0,
    "zip-empty": 0,
    "zip-endless": 0,
    "zip-lzma": 0,
    "zip-lzma-inside": 0,
}
