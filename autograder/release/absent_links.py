"""Takes links out of notebooks where they lead to a lecture or a lab that is not published."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping

import nbformat

_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((?![a-z]+:)([^)#\s]+\.ipynb)(#[^)\s]*)?\)")
MOST_LINES = 3


def without_absent_links(files: Mapping[str, bytes]) -> tuple[dict[str, bytes], list[str]]:
    """Return the files; links to notebooks that are not among them become plain text.

    Args:
        files: what is published, by path. Notebooks without such a link stay as they are, byte for byte.

    Returns:
        The files, and for each notebook that lost a link a line with the names of what is not there; of more than
        `MOST_LINES` notebooks one line together.
    """
    linked, lost = dict(files), dict[str, set[str]]()
    for name in files:
        if name.endswith(".ipynb"):
            linked[name], absent = _unlinked(name, files)
            if absent:
                lost[name] = absent
    if len(lost) > MOST_LINES:
        lost = {f"{len(lost)} notebooks": set().union(*lost.values())}
    return linked, [f"{name}: {', '.join(sorted(absent))}" for name, absent in lost.items()]


def _unlinked(name: str, files: Mapping[str, bytes]) -> tuple[bytes, set[str]]:
    notebook = nbformat.reads(files[name].decode("utf-8"), as_version=4)
    absent: set[str] = set()

    def kept_or_text(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(name), match[2]))
        if target in files:
            return match[0]
        absent.add(posixpath.basename(target).removesuffix(".ipynb"))
        return match[1]

    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = _LINK.sub(kept_or_text, cell.source)
    return (nbformat.writes(notebook).rstrip("\n") + "\n").encode() if absent else files[name], absent
