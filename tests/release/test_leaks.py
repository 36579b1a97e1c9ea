"""A line of a solution, an oracle or a hidden case is found wherever it stands; what a lecture shows is no secret."""

from __future__ import annotations

import gzip
import io
import json
import zipfile

import nbformat
import numpy as np
import pytest
from tiny_course import with_secrets, write_notebook

from autograder.release.leaks import find_leaks
from autograder.release.publish import PublishRefused, publish


@pytest.fixture
def course(tmp_path, monkeypatch):
    return with_secrets(tmp_path / "course", monkeypatch)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("    doubled_carefully = x + x", "a line of solutions"),
        ("#   doubled_carefully   =  x + x  # a comment", "a line of solutions"),
        ("> `doubled_carefully = x + x`", "a line of solutions"),
        (
            'return {"output": np.multiply(np.asarray(x, dtype="float64"), factor)}',
            "a line of exercises/formulas/tiny.py",
        ),
        ("return {'output': np.multiply(np.asarray(x) + 1, factor)}", "a line of exercises/formulas/double.py"),
        ("return [Case({'x': rng.normal(size=(17, 23))}, mode='tensor')]", "exercises/tiny/double.py"),
        ("### BEGIN SOLUTION", 'the marker "BEGIN SOLUTION"'),
        ("    from exercises.formulas import tiny", "imports exercises"),
        ("import autograder", "imports autograder"),
    ],
)
def test_leaks_are_found_wherever_they_hide(course, tmp_path, text, found):
    """In code, prose, an output of a notebook, and a string of a JSON file; then nothing is published."""
    display = nbformat.v4.new_output("stream", text=f"first\n{text}\nlast")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1", outputs=[display])])
    places = {
        "coursekit/helper.py": f"x = 1\n{text}\ny = 2\n".encode(),
        "data/README.md": f"Hello\n\n{text}\n".encode(),
        "labs/out.ipynb": nbformat.writes(notebook).encode(),
        "coursekit/reference/x.json": json.dumps({"a": [{"b": text}]}).encode(),
    }
    for name, content in places.items():
        leaks = find_leaks({name: content}, course)
        assert len(leaks) == 1 and found in leaks[0] and name in leaks[0], (name, leaks)
    (course.root / "coursekit" / "helper.py").write_bytes(places["coursekit/helper.py"])
    with pytest.raises(PublishRefused):
        publish(course, tmp_path / "public")
    assert not (tmp_path / "public").exists()


LINE = "doubled_carefully = x + x"
SOLUTION = nbformat.writes(
    nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(f"def double(x):\n    {LINE}\n    return 0")])
)
COLOURED = LINE.replace(" ", "\x1b[49m ")
TRACEBACK = f"\x1b[32m      2\x1b[39m x = 1\n\x1b[32m----> 3\x1b[39m \x1b[43m{COLOURED}\x1b[39m"


def stored_array(*lines: str) -> bytes:
    target = io.BytesIO()
    np.save(target, np.array(lines))
    return target.getvalue()


def archived(name: str, content: bytes) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr(name, content)
    return target.getvalue()


def notebook(*outputs, **cell) -> bytes:
    cells = [nbformat.v4.new_code_cell("1", outputs=list(outputs)), nbformat.v4.new_markdown_cell("a", **cell)]
    return nbformat.writes(nbformat.v4.new_notebook(cells=cells)).encode()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("labs/a.ipynb.bak", SOLUTION.encode()),
        ("labs/a.ipynb.bak", SOLUTION.encode("utf-16")),
        ("coursekit/a.py.orig", f"def double(x):\n    {LINE}\n".encode()),
        *((f"data/a{end}", f"one\n{LINE}\n".encode()) for end in (".log", ".js", ".svg", ".pyi", "", "~", ".png")),
        ("data/a.jsonl", (json.dumps({"a": 1}) + "\n" + json.dumps({"b": f"x\n    {LINE}\n"})).encode()),
        ("data/a.json", json.dumps({"b": {LINE: 1}}).encode()),
        ("data/a.json", json.dumps({"b": SOLUTION}).encode()),
        ("data/a.json", f"{{broken\n{LINE}\n".encode()),
        ("data/a.npy", stored_array("one", LINE)),
        ("data/a.csv.gz", gzip.compress(LINE.encode())),
        ("data/a.tar.gz", gzip.compress(b"\0" * 512 + b"\n" + LINE.encode() + b"\n")),
        ("data/a.whl", archived("a.py", LINE.encode())),
        ("data/a.xlsx", archived(f"{LINE}.xml", b"")),
        (f"data/{LINE}.txt", b""),
        *(("data/a.txt", LINE.encode(encoding)) for encoding in ("utf-16", "utf-16-le", "utf-16-be", "utf-32")),
        ("labs/a.ipynb", notebook(nbformat.v4.new_output("error", ename="E", evalue="", traceback=[TRACEBACK]))),
        ("labs/a.ipynb", notebook(attachments={f"{LINE}": {"image/png": "aGk="}})),
        ("labs/a.ipynb", notebook(nbformat.v4.new_output("display_data", data={"image/svg+xml": f"a\n{LINE}\n"}))),
        *(
            ("data/a.md", f"one\n{line}\ntwo".encode())
            for line in (
                f" 12  {LINE}", f"12: {LINE}", f"12|{LINE}", f"+    {LINE}", f"| 3 | `{LINE}` |", f"> > {LINE}",
                f"x = 1; {LINE}; y = 2", LINE.replace(" ", "&nbsp;"), f"&gt; {LINE}", f"    * {LINE}",
            )
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",  # archives hold the time at which they were made
)  # fmt: skip
def test_a_line_is_found_in_every_kind_of_file_and_in_every_dress(course, name, content):
    (leak,) = find_leaks({name: content}, course)
    assert "a line of solutions" in leak and leak.startswith(name.removesuffix(".gz"))


def test_a_marker_is_found_in_every_dress(course):
    for text in ("\x1b[1mBEGIN\x1b[0m SOLUTION", "BEGIN&#32;SOLUTION"):
        (leak,) = find_leaks({"a.log": text.encode()}, course)
        assert "BEGIN SOLUTION" in leak


def test_an_archive_that_cannot_be_opened_is_no_place_to_hide(course):
    whole = archived("a.txt", b"nothing")
    for name, content in (("a.zip", whole.replace(b"nothing", b"changed")), ("a.gz", gzip.compress(b"nothing")[:-9])):
        (leak,) = find_leaks({name: content}, course)
        assert leak.startswith(f"{name}: cannot be opened")


def test_numbers_and_pictures_are_no_leak(course):
    array = io.BytesIO()
    np.save(array, np.arange(3))
    files = {"a.npy": array.getvalue(), "a.png": b"\x89PNG\0\xff" + LINE.encode(), "a.csv": b"1 2 3\n4;5|6\n"}
    assert find_leaks(files, course) == []


def test_what_a_lecture_shows_is_no_secret(course):
    """A line that a lecture teaches may stand anywhere; so may lines that say nothing."""
    path = course.lectures / "01_tiny.ipynb"
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[1].source = "doubled_carefully = x + x"
    write_notebook(path, notebook)
    assert find_leaks({"a.py": b"doubled_carefully = x + x\n"}, course) == []
    harmless = "def double(x):\nimport numpy as np\nself.factor_of_it = factor_of_it\nif something_is is None:\n"
    assert find_leaks({"a.py": harmless.encode()}, course) == []
