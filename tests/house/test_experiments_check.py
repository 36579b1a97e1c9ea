"""What `make experiments-check` compares and says; its runs take minutes and are left to the command."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

from coursekit.lecture import recorded

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def tool(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    return importlib.import_module("experiments_check")


def test_every_record_has_a_run_or_a_reason(tool):
    checked = [check.program for check in tool.CHECKS]
    assert sorted([*checked, *tool.WITHOUT]) == recorded.names()


def test_the_page_of_the_experiments_has_the_table(tool):
    page = (ROOT / "experiments" / "README.md").read_text(encoding="utf-8")
    assert tool.table() in page, "write what this prints into the page: python tools/experiments_check.py --table"
    assert all(f"`{name}" in tool.table() for name in recorded.names())


def test_every_pattern_finds_numbers_of_its_record(tool):
    for check in tool.CHECKS:
        results = recorded.load(check.program)["results"]
        found = tool.differences(results, results, check.numbers)
        assert found and not any(found.values()), check.program
        assert not check.until or any(re.match(check.until, path) for path in tool.numbers(results)), check.program


def test_runs_are_matched_by_what_they_are_and_not_by_their_place(tool):
    record = {"runs": [{"kind": "a", "seed": s, "test": s / 10} for s in (1, 2)], "seconds": 5.0, "name": "x"}
    found = {"runs": [{"kind": "a", "seed": 2, "test": 0.25}], "seconds": 7.0}
    assert tool.differences(found, record, r"runs/.*/test") == {"runs/a, 2/test": pytest.approx(0.05)}
    assert tool.numbers({"x": [1, [True, None]], "y": "z"}) == {"x/0": 1.0}


@pytest.mark.parametrize(
    ("value", "agrees", "says"),
    [
        (0.5, True, "| equal | 1 numbers |"),
        (0.52, True, "| agrees | 1 numbers | largest difference 0.0200 (a)"),
        (0.6, False, "| **differs** |"),
    ],
)
def test_a_run_is_judged_by_its_tolerance(tool, monkeypatch, tmp_path, value, agrees, says):
    (tmp_path / "tiny.json").write_text('{"results": {"a": 0.5, "b": 1}}')
    monkeypatch.setattr(tool, "RECORDS", tmp_path)
    monkeypatch.setattr(tool, "repeated", lambda *_: {"results": {"a": value}})
    found, row = tool.judged(tool.Check("tiny", (), "a", 0.05), tmp_path)
    assert found is agrees and says in row


def test_missing_data_and_foreign_numbers_are_told(tool, monkeypatch, tmp_path):
    check = tool.Check("lsa_controls", (), "nothing", 0.05, ("ag_news/test.csv",))
    good, row = tool.judged(check, tmp_path)
    assert good and re.search(r"skipped: .* has no ag_news/test.csv \(data/README.md", row)
    (tmp_path / "ag_news").mkdir()
    (tmp_path / "ag_news" / "test.csv").touch()
    monkeypatch.setattr(tool, "repeated", lambda *_: {"results": {"100": [0.6]}})
    assert tool.judged(check, tmp_path) == (
        False,
        "| lsa_controls | **failed**: no number of the run is in the record |",
    )


def test_a_program_runs_without_the_records_and_leaves_them_alone(tool, monkeypatch, tmp_path):
    """In place of a long program, one that lists the records it sees, and saves one."""
    for name in ("experiments", "lectures", "data"):
        (tmp_path / name).mkdir()
    (tmp_path / "coursekit").symlink_to(ROOT / "coursekit")
    (tmp_path / "experiments" / "tiny.py").write_text(
        "from coursekit import recorded\n"
        "common = dict(what='', data='', device='', command='', seed=1, seconds=1)\n"
        "recorded.save('tiny', results={'seen': len(recorded.names())}, **common)\n"
    )
    before = recorded.names()
    monkeypatch.setattr(tool, "ROOT", tmp_path)
    found = tool.repeated(tool.Check("tiny", (), "", 0), tmp_path)
    assert found["results"] == {"seen": 0} and found["run"]["program"] == "tiny.py"
    assert recorded.names() == before
    (tmp_path / "experiments" / "tiny.py").write_text("raise SystemExit('no such data')")
    with pytest.raises(RuntimeError, match="no such data"):
        tool.repeated(tool.Check("tiny", (), "", 0), tmp_path)


def test_a_run_ends_once_its_record_has_what_is_compared(tool, monkeypatch, tmp_path):
    """A program that goes on for ever after its second record, and one that would have failed later."""
    for name in ("experiments", "lectures", "data"):
        (tmp_path / name).mkdir()
    (tmp_path / "coursekit").symlink_to(ROOT / "coursekit")
    (tmp_path / "experiments" / "tiny.py").write_text(
        "import time\nfrom coursekit import recorded\n"
        "common = dict(what='', data='', device='', command='', seed=1, seconds=1)\n"
        "recorded.save('tiny', results={'first': 1}, **common)\n"
        "recorded.save('tiny', results={'first': 1, 'second': 2}, **common)\n"
        "while True:\n    time.sleep(1)\n"
    )
    monkeypatch.setattr(tool, "ROOT", tmp_path)
    found = tool.repeated(tool.Check("tiny", (), "", 0, until="second"), tmp_path)
    assert found["results"] == {"first": 1, "second": 2}
    (tmp_path / "experiments" / "tiny.py").write_text("raise SystemExit('no such data')")
    with pytest.raises(RuntimeError, match="no such data"):
        tool.repeated(tool.Check("tiny", (), "", 0, until="second"), tmp_path)


def test_a_text_that_comes_with_another_python_is_not_compared(tool, tmp_path):
    good, row = tool.judged(tool.Check("library_language_model", ("counted",), "text", 0, python="2.7.18"), tmp_path)
    assert good and "skipped: its text comes with Python 2.7.18" in row
