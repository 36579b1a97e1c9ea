"""Notebooks as Python scripts with cells: the percent format, as jupytext, VS Code and Spyder write it."""

from __future__ import annotations

import re
from typing import Any

MAX_SCRIPT = 16 * 2**20  # characters; a larger one is not read
_MARK = r"[ \t]*#[ \t]*(?:%%+(?:[ \t].*)?|<codecell>|In\[[0-9 ]*\]:?)[ \t]*\r?$"
_CELL = re.compile(rf"^{_MARK}", re.MULTILINE)
_LONG_MARK = re.compile(r"^([ \t]*#[ \t]*%%.{1000}).+", re.MULTILINE)  # jupytext takes the square of the length
_CELL_BYTES = re.compile(_CELL.pattern.encode(), re.MULTILINE)
_FORMAT = {"extension": ".py", "format_name": "percent", "comment_magics": False}  # a comment stays a comment


def has_cells(data: bytes) -> bool:
    """Say whether a script has at least one line that begins a cell, such as `# %%`, in a part that can be read."""
    return _CELL_BYTES.search(data, 0, MAX_SCRIPT) is not None


def count_cells(text: str) -> int:
    """Return how many lines of a text begin a cell; those in strings count too."""
    return len(_CELL.findall(text))


def cells_of(text: str) -> list[dict[str, Any]]:
    """Return the cells of a script as those of nbformat 4: type, source and metadata.

    The script's own header is left out, because it can choose another reader than this one. Magics that jupytext made
    comments come back in locked cells only: elsewhere nothing tells them from a student's comment.

    Raises:
        Exception: whatever jupytext raises at text that it does not understand.
    """
    import jupytext  # here, because few submissions need it and it takes a second
    from jupytext.magics import uncomment_magic

    text = _without_header(text.replace("\r\n", "\n").replace("\r", "\n"))
    text = _LONG_MARK.sub(r"\1", text)
    if _CELL.match(text) is None:
        text = f"# %%\n{text}"  # so that nothing before the first cell is taken for a header
    cells = []
    for cell in jupytext.reads(text, fmt=_FORMAT).cells:
        source = cell.source
        if cell.cell_type == "code" and _is_locked(cell.metadata):
            source = "\n".join(uncomment_magic(source.split("\n")))
        if source.strip() or cell.metadata:
            cells.append({"cell_type": cell.cell_type, "source": source, "metadata": cell.metadata})
    return cells


def _without_header(text: str) -> str:
    """Leave out comments between two lines `# ---`, at the top or below a line for the shell or the encoding."""
    lines = text.split("\n")
    begin = next((number for number, line in enumerate(lines[:3]) if line == "# ---"), 0)
    above = lines[:begin] if lines[begin] == "# ---" else [""]
    if all(line.startswith("#!") or (line.startswith("#") and "coding" in line) for line in above):
        for end, line in enumerate(lines[begin + 1 :], begin + 1):
            if line.rstrip(" \t") == "# ---":
                return "\n".join(lines[end + 1 :])
            if not line.startswith("#"):
                break
    return text


def _is_locked(metadata: Any) -> bool:
    nbgrader = metadata.get("nbgrader")
    return isinstance(nbgrader, dict) and nbgrader.get("locked") is True and nbgrader.get("solution") is not True
