"""Ties what a lecture says to the numbers that its stored outputs show.

A claims file (`tests/claims/<lecture>.py`) reads numbers from the outputs of cells, by the cells' ids, or from
`coursekit/lecture/recorded`, and says which sentence each of them stands in. `tests/lecture/test_claims.py`
fails when a sentence is no
longer in the lecture, when its numbers are no longer the ones of the outputs, when a comparison no longer holds, and
when the lecture states a number that no claim and no reason accounts for. Calculations that the text
writes out are done again; questions and sentences that cite somebody measure nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from claims.arithmetic import calculations

ROOT = Path(__file__).resolve().parents[2]
NUMBER = r"[-−+]?\d+(?:[.,]\d+)*(?:e[-+]?\d+)?"
HEADING_OR_CODE = re.compile(  # also the numbers of a list, of questions and of mistakes
    r"^#+ [^\n]*$|^```.*?^```|^\s*(?:<details><summary>)?(?:\*\*\d+(?:\.\*\*| ·)|\d+\.) ", re.MULTILINE | re.DOTALL
)
NAMED = r"lectures?|labs?|sections?|figures?|tables?|equations?|chapters?|parts?|panels?|appendix|footnotes?|ISO|GPT|AG"
NO_MEASUREMENT = re.compile(  # formulas, code, links, years, and what has a number for a name
    r"\$\$.*?\$\$|\$[^$]*\$|`[^`]*`|\[[^][]*\]\([^)]*\.ipynb\)|\]\([^)]*\)|\b(?:19|20)\d\d[a-z]?\b|\[\d[^]]*\]|"
    rf"\b(?:{NAMED}) *-?\d+(?:\.\d+)*(?:(?:,| and|–) \d+(?:\.\d+)*)*",
    re.IGNORECASE,
)
CITED = re.compile(r"\b[A-ZÀ-Ý][\w’'-]+(?: et al\.| (?:and|&) [A-ZÀ-Ý][\w’'-]+)?,? \(?(?:19|20)\d\d|\]\(https?:")
END_OF_CLAIMS = re.compile(r"^#+ .*\b(references|further reading|sources)\b", re.IGNORECASE | re.MULTILINE)


class Page:
    """A lecture with its stored outputs, and the sentences that are accounted for so far.

    Args:
        lecture: the notebook's name in `lectures/`, without its ending.
        notebook: the notebook, where it is not to be read from `lectures/`.
    """

    def __init__(self, lecture: str, notebook: nbformat.NotebookNode | None = None):
        self.lecture = lecture
        self.notebook = notebook or nbformat.read(ROOT / "lectures" / f"{lecture}.ipynb", as_version=4)
        self.cells = {cell.id: cell for cell in self.notebook.cells}
        self.failures: list[str] = []
        self.read: set[str] = set()
        self._accounted: list[str] = []
        self.prose = plain(" ".join(self._texts()))
        self._calculations = list(calculations(self.prose))
        self.failures += [f"miscalculated: {found.text!r}" for found in self._calculations if not found.right]

    def output(self, cell_id: str) -> str:
        """All text that a cell shows: what it prints, its value, the figures' alternative texts.

        Raises:
            KeyError: the lecture has no such cell.
        """
        self.read.add(cell_id)
        texts = []
        for output in self.cells[cell_id].outputs:
            texts.append(output.get("text") or output.get("data", {}).get("text/plain", ""))
        return "".join(texts)

    def numbers(self, cell_id: str, pattern: str = f"({NUMBER})") -> list[float]:
        """The numbers in a cell's output that the groups of a regular expression find, from top to bottom.

        Raises:
            AssertionError: nothing is found.
        """
        found = [text for match in re.finditer(pattern, self.output(cell_id)) for text in match.groups()]
        assert found, f"{self.lecture}, cell {cell_id}: no {pattern!r} in {self.output(cell_id)[:400]!r}"
        return [as_number(text) for text in found]

    def number(self, cell_id: str, pattern: str) -> float:
        """The one number that the group of a regular expression finds in a cell's output.

        Raises:
            AssertionError: there is none, or more than one.
        """
        found = self.numbers(cell_id, pattern)
        assert len(found) == 1, f"{self.lecture}, cell {cell_id}: {pattern!r} finds {len(found)} numbers, not one"
        return found[0]

    @staticmethod
    def recorded(name: str) -> Any:
        """The results of a long run: `coursekit/lecture/recorded/<name>.json`."""
        return json.loads((ROOT / "coursekit" / "lecture" / "recorded" / f"{name}.json").read_text("utf-8"))

    @staticmethod
    def evidence(number: str) -> Page:
        """The notebook of evidence of a lecture, `lectures/evidence/<number>.ipynb`, to read its outputs."""
        return Page(f"evidence/{number}")

    def says(self, sentence: str, *values: float, holds: bool | list[bool] = True) -> None:
        """The lecture says this, and it is so.

        Args:
            sentence: a sentence or part of one, as it stands in the text, in an answer or in an alternative text;
                places in braces are filled with the values as `str.format` does it: "it falls to {:.0f} %".
            values: what the lecture's own outputs say.
            holds: whether what the sentence compares or explains is true of the outputs.
        """
        text = plain(sentence.format(*values) if values else sentence)
        self._accounted.append(text)
        if text not in self.prose:
            self.failures.append(f"not in the lecture: {text!r}")
        if not (all(holds) if isinstance(holds, list) else holds):
            self.failures.append(f"the outputs do not bear it out: {text!r}")

    def given(self, *texts: str, because: str) -> None:
        """Sentences, or parts of them, with numbers that no output of this lecture has to show.

        Args:
            texts: as they stand in the lecture.
            because: why: "cited", "defined", "calculated by hand", "an example".
        """
        assert because, "a number that is not measured needs its reason"
        for text in map(plain, texts):
            self._accounted.append(text)
            if text not in self.prose:
                self.failures.append(f"not in the lecture: {text!r}")

    def unaccounted(self) -> list[str]:
        """The sentences with a number that no claim covers. Formulas, code, headings and links are not looked at."""
        covered = bytearray(len(self.prose))
        for text in self._accounted:
            start = self.prose.find(text)
            while start >= 0:
                covered[start : start + len(text)] = b"\1" * len(text)
                start = self.prose.find(text, start + 1)
        for found in self._calculations:
            covered[found.start : found.end] = b"\1" * (found.end - found.start)
        left = []
        for start, sentence in _sentences(self.prose):
            if sentence.rstrip().endswith("?") or CITED.search(sentence):
                continue
            shown = NO_MEASUREMENT.sub(lambda hidden: " " * len(hidden.group()), sentence)
            places = [start + match.start() for match in re.finditer(r"(?<![\w.^_])\d", shown)]
            if any(not covered[place] for place in places):
                left.append(sentence.strip())
        return left

    def _texts(self) -> Iterator[str]:
        for cell in self.notebook.cells:
            if cell.cell_type == "markdown":
                end = END_OF_CLAIMS.search(cell.source)
                text = cell.source[: end.start()] if end else cell.source
                yield HEADING_OR_CODE.sub(" ", text)
                if end:
                    return
            else:
                for output in cell.get("outputs", ()):
                    shown = output.get("data", {}).get("text/plain", "")
                    if shown.startswith("[Figure: "):
                        yield shown.removeprefix("[Figure: ").removesuffix("]") + "\n"


def plain(text: str) -> str:
    """Text without emphasis and HTML tags, with single spaces: line breaks say nothing."""
    return " ".join(re.sub(r"</?\w[^<>]*>|\*+", " ", text.replace("\xa0", " ").replace("\u202f", " ")).split())


def as_number(text: str) -> float:
    """The number that a text writes: "1,234", "−3" and "2e-5" included."""
    return float(text.replace(",", "").replace("−", "-"))


def _sentences(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    for match in re.finditer(r"[.?!:;](?:\s|$)(?=\W*[A-ZÀ-Ý0-9(])|\|", text):
        yield start, text[start : match.end()]
        start = match.end()
    yield start, text[start:]
