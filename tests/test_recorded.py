"""Results of long runs: what is saved is loaded, and every record is complete, small and on the experiments' page."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from coursekit import recorded

ROOT = Path(__file__).resolve().parents[1]


def test_what_is_saved_is_loaded(tmp_path, monkeypatch):
    program = ROOT / "experiments" / "positions.py"
    monkeypatch.setattr(sys, "argv", [str(program), "--data", "/sets/of/ada", "--out=/tmp/x", "--seeds", "1,2"])
    folder = tmp_path / "not" / "there"
    path = recorded.save(
        "tiny",
        what="a test",
        data="none",
        device="none",
        command="pytest",
        seed=1,
        seconds=1.26,
        results={"a": [0.5]},
        folder=folder,
    )
    monkeypatch.setattr(recorded, "FOLDER", folder)
    found = recorded.load("tiny")
    assert tuple(found) == recorded.FIELDS and found["results"] == {"a": [0.5]} and found["seconds"] == 1.3
    run = found["run"]
    assert run["program"] == "positions.py" and run["processor seconds"] > 0
    assert run["arguments"] == ["--data", "FOLDER", "--out=FOLDER", "--seeds", "1,2"]
    commit = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    assert (run["commit"] or "").removesuffix("-dirty") == commit.stdout.strip()
    assert recorded.names() == ["tiny"] and list(folder.iterdir()) == [path] and path.name == "tiny.json"
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", found["date"]) and found["versions"]["keras"]


def test_what_cannot_be_recorded(tmp_path):
    common = dict(what="", data="", device="", command="", seed=1, seconds=1, folder=tmp_path)
    with pytest.raises(ValueError):
        recorded.save("nan", results={"loss": float("nan")}, **common)
    with pytest.raises(ValueError, match="keep it under 200,000"):
        recorded.save("large", results={"x": "y" * 200_000}, **common)
    with pytest.raises(TypeError, match="missing or unknown: command, minutes"):
        recorded.save("other", results={}, **{key: common[key] for key in common if key != "command"}, minutes=1)
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_name():
    with pytest.raises(FileNotFoundError, match=r"nothing is recorded under \"nothing\".*experiments/nothing.py"):
        recorded.load("nothing")


@pytest.mark.parametrize("name", recorded.names())
def test_every_record_is_complete_and_small(name):
    record = recorded.load(name)
    assert tuple(record) == recorded.FIELDS
    if record["run"] == recorded.BEFORE:
        assert record["date"] <= "2026-11-25", "a record of a later day says what was run"
    else:
        assert record["run"].keys() == {"program", "arguments", "commit", "processor seconds"}
        assert record["run"]["program"] == f"{name}.py" and record["run"]["processor seconds"] > 0
    assert record["versions"].keys() >= {"python", "keras", "numpy"} and record["versions"].keys() & {
        "tensorflow",
        "jax",
    }
    assert isinstance(record["seed"], int) and record["seconds"] > 0 and f"experiments/{name}.py" in record["command"]
    assert (recorded.FOLDER / f"{name}.json").stat().st_size < recorded.LARGEST
    script = re.search(r"experiments/\w+\.py", record["command"])
    assert script and (ROOT / script[0]).is_file()


def test_records_of_which_no_run_is_known_become_fewer():
    """Their command, seed, versions and seconds are known; the commit is not. A new run takes one off."""
    assert sum(recorded.load(name)["run"] == recorded.BEFORE for name in recorded.names()) <= 20


def test_every_program_writes_its_record_with_its_run():
    """There is one way to write a record, `recorded.save`, which adds the run; and no program is without a record."""
    saving = []
    for path in sorted((ROOT / "experiments").glob("*.py")):
        program = path.read_text(encoding="utf-8")
        constant = re.search(r'^NAME\b.*?= "(\w+)"', program, re.MULTILINE)
        for written in re.findall(r'recorded\.save\(\s*(NAME|"\w+")', program):
            assert (constant[1] if written == "NAME" else written.strip('"')) == path.stem
            saving.append(path.stem)
    assert saving == recorded.names()


def test_the_experiments_page_has_every_record_with_its_minutes_and_its_lectures():
    page = (ROOT / "experiments" / "README.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)\.py` \| (.*) \|$", page, re.MULTILINE))
    assert sorted(rows) == recorded.names()
    for name, row in rows.items():
        assert int(row.rpartition("|")[2]) == round(recorded.load(name)["seconds"] / 60), name
        for lecture in re.findall(r"\.\./(lectures/\w+\.ipynb)", row):
            assert f'recorded.load(\\"{name}\\")' in (ROOT / lecture).read_text(encoding="utf-8"), (name, lecture)
