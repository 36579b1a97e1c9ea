"""A line of a solution, an oracle or a hidden case is found wherever it stands; what a lecture shows is no secret."""

from __future__ import annotations

import json

import nbformat
import pytest
from tiny_course import with_secrets, write_notebook

from autograder.releasing.leaks import find_leaks
from autograder.releasing.publish import PublishRefused, publish


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


def test_what_a_lecture_shows_is_no_secret(course):
    """A line that a lecture teaches may stand anywhere; so may lines that say nothing."""
    path = course.lectures / "01_tiny.ipynb"
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[1].source = "doubled_carefully = x + x"
    write_notebook(path, notebook)
    assert find_leaks({"a.py": b"doubled_carefully = x + x\n"}, course) == []
    harmless = "def double(x):\nimport numpy as np\nself.factor_of_it = factor_of_it\nif something_is is None:\n"
    assert find_leaks({"a.py": harmless.encode()}, course) == []
