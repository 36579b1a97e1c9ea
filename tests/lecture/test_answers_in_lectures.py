"""A lab begins where its lecture ends: at most a quarter of an answer's statements stand in a lecture."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import jupytext
import pytest

ROOT = Path(__file__).resolve().parents[2]
LEAST = 13  # characters of a statement that says something; "return x" and "count += 1" do not
HEADERS = (ast.For, ast.While, ast.If, ast.With)  # of these the first line counts, their statements are asked alone
STATEMENTS = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return, ast.Expr, *HEADERS)


def code_cells(pattern: str) -> Iterator[tuple[Path, str, str]]:
    """Notebook, name and source of each code cell of text pairs, without magics."""
    for path in sorted(ROOT.glob(pattern)):
        for cell in jupytext.read(path).cells:
            if cell.cell_type == "code":
                lines = [line if not line.lstrip().startswith(("%", "!")) else "" for line in cell.source.split("\n")]
                yield path, cell.metadata.get("nbgrader", {}).get("grade_id", ""), "\n".join(lines)


def statements(source: str) -> Iterator[tuple[int, str]]:
    """The line and the text of each statement that says something, laid out as Python's own printer does."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, STATEMENTS) or isinstance(getattr(node, "value", None), ast.Constant):
            continue
        text = ast.unparse(node)
        if isinstance(node, HEADERS):
            text = text.split("\n")[0]
        if len(text) >= LEAST:
            yield node.lineno, text


@cache
def printed() -> frozenset[str]:
    """All statements of the lectures."""
    return frozenset(text for _, _, source in code_cells("lectures/*.py") for _, text in statements(source))


def answers() -> Iterator[tuple[str, str, list[str]]]:
    """Lab, name and statements of each answer: what stands between the marks of a solution cell."""
    for path, name, source in code_cells("solutions/*/*.py"):
        inside, lines = False, set()
        for number, line in enumerate(source.split("\n"), start=1):
            inside = (inside or "BEGIN SOLUTION" in line) and "END SOLUTION" not in line
            if inside:
                lines.add(number)
        if lines:
            yield path.stem, name, [text for number, text in statements(source) if number in lines]


ANSWERS = {f"{lab} {name}": texts for lab, name, texts in answers() if texts}


def test_all_labs_are_looked_at():
    labs = {name.split()[0] for name in ANSWERS}
    assert labs == {path.name for path in (ROOT / "solutions").iterdir() if path.is_dir()}
    assert len(ANSWERS) > 100 and len(printed()) > 1000


@pytest.mark.parametrize("lab", sorted({name.split()[0] for name in ANSWERS}))
def test_a_lecture_prints_at_most_a_quarter_of_an_answer(lab):
    for name, texts in ANSWERS.items():
        if name.startswith(lab):
            shown = [text for text in texts if text in printed()]
            assert len(shown) <= len(texts) / 4, f"{name}: {len(shown)} of {len(texts)} statements: {shown}"


def test_a_statement_counts_whatever_its_layout():
    for layout in ("total = sum(\n    values\n)", "total=sum(values)  # all"):
        assert [text for _, text in statements(layout)] == ["total = sum(values)"]
    found = [text for _, text in statements("for each in values:\n    print(each, values)")]
    assert found == ["for each in values:", "print(each, values)"]
