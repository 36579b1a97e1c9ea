"""Results of long runs: what is saved is loaded, and every record is complete, small and on the experiments' page."""

from __future__ import annotations

import ast
import functools
import importlib
import io
import json
import re
import subprocess
import sys
import tarfile
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from coursekit.lecture import recorded

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[2]
LIBRARIES = (
    sys.stdlib_module_names | packages_distributions().keys() - {"autograder", "coursekit"} | {"jax", "sacrebleu"}
)


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
    if is_from_history(record):
        assert record["run"]["commit_is"] == recorded.FROM_HISTORY
        assert record["date"] <= "2026-11-25", "a record of a later day says what was run"
    else:
        assert record["run"].keys() == {"program", "arguments", "commit", "processor seconds"}
        assert record["run"]["program"] == f"{name}.py" and record["run"]["processor seconds"] > 0
    assert re.fullmatch(r"[0-9a-f]{40}(-dirty)?", record["run"]["commit"])
    assert record["versions"].keys() >= {"python", "keras", "numpy"} and record["versions"].keys() & {
        "tensorflow",
        "jax",
    }
    assert isinstance(record["seed"], int) and record["seconds"] > 0 and f"experiments/{name}.py" in record["command"]
    assert (recorded.FOLDER / f"{name}.json").stat().st_size < recorded.LARGEST
    script = re.search(r"experiments/\w+\.py", record["command"])
    assert script and (ROOT / script[0]).is_file()


def test_commits_found_in_the_history_become_fewer():
    """A new run notes its commit, and takes one off."""
    assert sum(is_from_history(recorded.load(name)) for name in recorded.names()) <= 13


@pytest.mark.parametrize("name", recorded.names())
def test_the_commit_of_a_record_has_its_program_and_the_numbers(name):
    """The commit of a run has the program; one that was found in the history is also the one that brought the numbers.

    Skipped where the history is not: in an archive, a shallow clone, or a history that begins anew.
    """
    record = recorded.load(name)
    commit = record["run"]["commit"].removesuffix("-dirty")
    if not history():
        pytest.skip("needs the history of the repository")
    assert commit in history()
    needed, missing = imported(f"experiments/{name}.py", python_files(commit))
    (place,) = {"coursekit/recorded", "coursekit/lecture/recorded"} & {str(Path(each).parent) for each in needed}
    assert missing == set()
    if is_from_history(record):
        path = f"{place}/{name}.json"
        assert without_run(json.loads(git("show", f"{commit}:{path}"))) == without_run(record)
        before = git("show", f"{commit}^:{path}") if git("ls-tree", f"{commit}^", path) else "{}"
        assert json.loads(before).get("results") != record["results"], "an earlier commit has these numbers"


def test_imports_that_are_not_there_are_seen():
    texts = {
        "experiments/a.py": "import near_words, numpy\nfrom coursekit import data\nfrom coursekit.words import Words\n",
        "experiments/near_words.py": "from far_words import two\nimport coursekit.data.samples as samples\n",
        "coursekit/__init__.py": "",
        "coursekit/data/__init__.py": "from coursekit.data import of_others, local\n",
        "coursekit/data/local.py": "",
    }
    needed, missing = imported("experiments/a.py", texts)
    assert needed == texts.keys() and missing == {"coursekit.words", "far_words", "coursekit.data.samples"}


def is_from_history(record):
    return "commit_is" in record["run"]


def without_run(record):
    return {key: value for key, value in record.items() if key != "run"}


def git(*arguments):
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True).stdout


@functools.cache
def history():
    """The commits before this one; none where the history is not whole, or not that of the course."""
    commits = {recorded.load(name)["run"]["commit"].removesuffix("-dirty") for name in recorded.names()}
    try:
        is_shallow = git("rev-parse", "--is-shallow-repository").strip() == "true"
        is_inside_another = Path(git("rev-parse", "--show-toplevel").strip()) != ROOT
        known = frozenset(git("rev-list", "HEAD").split())
    except (OSError, subprocess.CalledProcessError):
        return frozenset()
    return frozenset() if is_shallow or is_inside_another or commits.isdisjoint(known) else known


@functools.cache
def python_files(commit):
    """The texts of `coursekit` and `experiments` at a commit, by path."""
    command = ["git", "-C", str(ROOT), "archive", commit, "coursekit/*.py", "experiments/*.py"]
    packed = subprocess.run(command, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        return {file.name: archive.extractfile(file).read().decode() for file in archive if file.isfile()}


def imported(program, texts):
    """The files of ours that a program needs, itself among them, and the modules that are not there."""
    needed, missing, waiting = set(), set(), [program]
    while waiting:
        path = waiting.pop()
        needed.add(path)
        for module, is_surely_one in modules(texts[path]):
            if module.partition(".")[0] in LIBRARIES:
                continue
            place = module.replace(".", "/")
            short = place.replace(
                "coursekit/", "coursekit/lecture/", 1
            )  # the name without the folder, as notebooks say
            files = {f"{each}{end}" for each in (place, short) for end in (".py", "/__init__.py")}
            places = {f"experiments/{place}.py", *files} & texts.keys()
            waiting += places - needed
            package, _, name = module.rpartition(".")
            if is_surely_one and not places and name not in texts.get(f"{package}/__init__.py", ""):
                missing.add(module)
    return needed, missing


def modules(text):
    """What a text imports, each with whether it is surely a module: `b` of `from a import b` may be a name in it."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from ((name.name, True) for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module, True
            yield from ((f"{node.module}.{name.name}", node.module == "coursekit") for name in node.names)


@pytest.mark.parametrize("program", ["imdb_classifier", "imdb_by_film"])
def test_a_record_says_how_many_reviews_were_read(program, monkeypatch, tmp_path):
    """With --whole there are 50,000, and 49,992 in the records at hand."""
    monkeypatch.syspath_prepend(ROOT / "experiments")
    experiment = importlib.import_module(program)
    if program == "imdb_classifier":
        record = experiment.record_of("25,000 + 25,000", tmp_path)
        record.get("search", "one", lambda: {"cpu_seconds": 1})
    else:
        record = experiment.Runs(tmp_path, tmp_path, "25,000 + 25,000")
        record.answered("search", "one", lambda: ({}, {}))
    assert "25,000 + 25,000 reviews" in json.loads((tmp_path / f"{program}.json").read_text("utf-8"))["data"]


def test_every_program_writes_its_record_with_its_run():
    """There is one way to write a record, `Record`, which adds the run; and no program is without a record."""
    saving = []
    for path in sorted((ROOT / "experiments").glob("*.py")):
        program = path.read_text(encoding="utf-8")
        assert ("recorded.save(" in program) == (path.stem == "records")
        constant = re.search(r'^NAME\b.*?= "(\w+)"', program, re.MULTILINE)
        for written in re.findall(r'(?:\bRecord|super\(\)\.__init__|\brecord_of)\(\s*(NAME|"\w+")', program):
            assert (constant[1] if written == "NAME" else written.strip('"')) == path.stem
            saving.append(path.stem)
    assert saving == recorded.names()


def test_a_record_is_taken_up_where_it_stopped(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(ROOT / "experiments")
    records = importlib.import_module("records")

    def record():
        return records.Record("tiny", "a test", "none", tmp_path, empty={"runs": []})

    first = record()
    assert first.results == {"runs": []} and not first.has(seed=1)
    first.results["runs"].append({"seed": 1, "test": 0.5})
    first.add(2.0)
    first.add(3.0, seed=4)
    second = record()
    assert second.has(seed=1) and not second.has(seed=2) and second.seconds == 5.0
    assert second.get("a", "b", lambda: {"cpu_seconds": 7}) == {"cpu_seconds": 7}
    assert record().get("a", "b", None) == {"cpu_seconds": 7}, "it is not computed again"
    saved = json.loads((tmp_path / "tiny.json").read_text("utf-8"))
    assert saved["seconds"] == 7 and saved["command"] == "python experiments/tiny.py"
    with pytest.raises(records.typer.Exit) as ended:
        record().limited(-1).get("a", "c", dict)
    assert ended.value.exit_code == 75
    assert records.rounded({"x": [0.123456, "y", 1]}) == {"x": [0.1235, "y", 1]}


def test_the_experiments_page_has_every_record_with_its_minutes_and_its_lectures():
    page = (ROOT / "experiments" / "README.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)\.py` \| (.*) \|$", page, re.MULTILINE))
    assert sorted(rows) == recorded.names()
    for name, row in rows.items():
        assert int(row.rpartition("|")[2]) == round(recorded.load(name)["seconds"] / 60), name
        for lecture in re.findall(r"\.\./(lectures/\w+\.ipynb)", row):
            assert f'recorded.load(\\"{name}\\")' in (ROOT / lecture).read_text(encoding="utf-8"), (name, lecture)
