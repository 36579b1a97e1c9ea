"""`course import`: what of an nbgrader assignment becomes a lab, and what is named as left."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from tiny_course import details
from typed_commands import type_command

from autograder.course.settings import load_course
from autograder.declare.declaration import declared_exercises, lab_files
from autograder.integrations.importing.cases import Target, find_targets, find_tried
from autograder.integrations.scaffold.making import new_course
from autograder.release.lint_lab import find_missing_parts, find_structure_problems

LAB = "02_taken"
R = {"language": "R", "name": "ir", "display_name": "R"}
SOLUTION = "def double(x, times=2):\n    ### BEGIN SOLUTION\n    return x * times\n    ### END SOLUTION"
TESTS = (
    '"""Right values."""\nassert double(3) == 6\nassert np.allclose(double(np.array([1.5]), times=4), 6)\n'
    "with pytest.raises(TypeError):\n    double(None)\n"
    "### BEGIN HIDDEN TESTS\nassert double(x=1000) == 2000\n### END HIDDEN TESTS\n"
)


def of_nbgrader():
    cells = [
        new_markdown_cell("# Doubling", metadata=details("title", locked=True)),
        new_code_cell("import pytest"),
        new_code_cell(SOLUTION, metadata=details("double-it", solution=True)),
        new_code_cell(TESTS, metadata=details("test-1", grade=True, locked=True, points=3)),
        new_markdown_cell("Because.", metadata=details("why", grade=True, solution=True, points=2)),
    ]
    return new_notebook(cells=cells)


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """Write a notebook and type `course import`; the answer is the exit code and what was said."""
    root = tmp_path / "course"
    new_course(root)
    monkeypatch.chdir(root)
    monkeypatch.delenv("COURSE_ROOT", raising=False)
    monkeypatch.setenv("COLUMNS", "500")

    def typed(notebook, *words: str, lab: str = LAB) -> tuple[int, str]:
        path = tmp_path / "theirs" / "work.ipynb"
        path.parent.mkdir(exist_ok=True)
        if notebook is not None:
            path.write_text(notebook if isinstance(notebook, str) else nbformat.writes(notebook))
        return type_command(monkeypatch, capsys, "import", *(words or (path,)), lab)

    return typed


def imported():
    course = load_course(Path.cwd())
    notebook = nbformat.read(course.solution_notebook(LAB), as_version=4)
    named = {cell.metadata.nbgrader["grade_id"]: cell for cell in notebook.cells if "nbgrader" in cell.metadata}
    return course, notebook, named


def test_an_assignment_becomes_a_lab_that_lacks_only_what_is_marked(run):
    code, said = run(of_nbgrader())
    assert code == 0 and "taken over  double" in said
    (folder,) = {path.parent for path in lab_files(load_course(Path.cwd()), LAB)}
    assert f"Now read {folder.relative_to(Path.cwd())}/, fill in" in said, "the folder that is there"
    course, notebook, named = imported()
    assert find_structure_problems(notebook) == []
    assert named["double"].source == 'check("double")' and named["double"].metadata.nbgrader["points"] == 3
    missing = find_missing_parts(course, LAB, notebook, declared_exercises(course, LAB))
    assert [line for line in missing if "to fill in" not in line] == []
    assert "were hidden" in "".join(missing)
    groups = {group.title: group.draw(None) for group in declared_exercises(course, LAB)["double"].groups}
    assert groups["tests 1"][0].inputs == {"x": 3}
    assert groups["hidden tests 2"][0].inputs == {"x": 1000}


def test_what_nbgrader_says(run):
    run_code, said = run(of_nbgrader())
    _, notebook, named = imported()
    assert named["double-code"].source == SOLUTION
    assert dict(named["why"].metadata.nbgrader)["points"] == 2 and "why: 2 points, marked by a person" in said
    assert "not taken over  double: the test “with pytest.raises(TypeError): double(None)”" in said
    assert "import pytest" in [cell.source for cell in notebook.cells]
    text = lab_files(load_course(Path.cwd()), LAB)[0].read_text()
    assert "taken over  double: its points are shared as tests 1 3, hidden tests 2 1; change it" in said
    assert '"times": 4' in text and "#   with pytest.raises(TypeError):" in text and run_code == 0


def test_no_solution_gets_out_by_a_question_without_tests(run):
    notebook = of_nbgrader()
    del notebook.cells[3]
    code, said = run(notebook)
    assert code == 0 and "no test asks for it" in said
    _, made, _ = imported()
    assert any("the solution; take it away" in cell.source for cell in made.cells if "TODO" in cell.source)


def test_files_beside_come_along_and_notebooks_do_not(run, tmp_path):
    folder = tmp_path / "theirs"
    run(of_nbgrader(), lab="03_first")
    (folder / "data").mkdir()
    (folder / "data" / "table.csv").write_text("1\n")
    (folder / ".secret").write_text("x")
    (folder / "link").symlink_to("/etc/passwd")
    assert run(None, str(folder))[0] == 0
    solutions = load_course(Path.cwd()).solutions / LAB
    assert {str(path.relative_to(solutions)) for path in solutions.rglob("*") if path.is_file()} == {
        *(f"{LAB}.ipynb", f"{LAB}.py", "data/table.csv"),
    }


def test_a_notebook_alone_takes_the_files_that_it_names_and_says_what_it_left(run, tmp_path):
    folder = tmp_path / "theirs"
    run(of_nbgrader(), lab="03_first")
    (folder / "data").mkdir()
    for name in ("data/heights.csv", "other.csv", "data/notes.txt", ".hidden.csv"):
        (folder / name).write_text("1\n")
    notebook = of_nbgrader()
    notebook.cells.append(new_code_cell('open("data/heights.csv"), open(".hidden.csv"), open("../up.csv")'))
    code, said = run(notebook)
    assert code == 0, said
    solutions = load_course(Path.cwd()).solutions / LAB
    assert [path.name for path in solutions.rglob("*.csv")] == ["heights.csv"]
    assert "not taken over  1 file beside work.ipynb, which the notebook does not name" in said


@pytest.mark.parametrize(
    ("notebook", "lab", "told"),
    [
        ("no notebook", LAB, "name the instructor's version"),
        (new_notebook(cells=[new_code_cell("x = 1")]), LAB, "has no metadata of nbgrader"),
        (new_notebook(metadata={"kernelspec": R}), LAB, "is written in R"),
        (of_nbgrader(), "taken", "cannot be the name of a lab"),
        (of_nbgrader(), "01_first_lab", "is there already"),
    ],
)
def test_mistakes_get_a_sentence_and_write_nothing(run, notebook, lab, told):
    before = Path("course.toml").read_text()
    code, said = run(notebook, lab=lab)
    assert (code, told in " ".join(said.split())) == (2, True), said
    assert Path("course.toml").read_text() == before


def test_a_folder_of_several_notebooks_is_refused(run, tmp_path):
    run(of_nbgrader(), lab="03_first")
    (tmp_path / "theirs" / "second.ipynb").write_text("{}")
    code, said = run(None, str(tmp_path / "theirs"))
    assert code == 2 and "here are 2 (second.ipynb, work.ipynb)" in said


@pytest.mark.parametrize(
    ("test", "inputs"),
    [
        ("assert f(1, 2) == 3", [{"a": "1", "b": "2"}]),
        ("f(a=1, b=-2.5) == 3", [{"a": "1", "b": "-2.5"}]),
        ("assert f(1, 2) == f(1, 2) == f(2, 1)", [{"a": "1", "b": "2"}, {"a": "2", "b": "1"}]),
        ("assert f(np.eye(3), [1, 2])[0] > 0", [{"a": "np.eye(3)", "b": "[1, 2]"}]),
        ("for i in range(3):\n    assert f(i, i) == 0", []),
        ("assert f(np.random.rand(3), 1)", []),
        ("assert f(np.load('x'), np.array([1]).tofile('y'))", []),
        ("assert f(().__class__, 1)", []),
        ("assert f(open('x').read(), 1)", []),
        ("assert f(np.zeros((3, 4)), np.arange(0, 1, 0.1))", [{"a": "np.zeros((3, 4))", "b": "np.arange(0, 1, 0.1)"}]),
        ("assert f(2 * np.ones(3), -1 / 3)", [{"a": "2 * np.ones(3)", "b": "-1 / 3"}]),
        ("assert f(list(range(5)), [1, [2]])", [{"a": "list(range(5))", "b": "[1, [2]]"}]),
        ("assert f(10**10**9, 1)", []),
        ("assert f(1 << 10000000000, 1)", []),
        ("assert f(np.full((1000000, 1000000), 1.0), 1)", []),
        ("assert f(np.eye(100000, 100000), 1)", []),
        ("assert f(np.zeros(shape=(1000000, 1000000)), 1)", []),
        ("assert f(list(range(100000000000)), 1)", []),
        ("assert f(list(range(int('9' * 20))), 1)", []),
        ("assert f(np.arange(0, 1, 1e-12), 1)", []),
        ("assert f(np.linspace(0, 1, 10000000000), 1)", []),
        ("assert f(str('a') * 1000000000000, 1)", []),
        ("assert f([0] * 1000000000000, 1)", []),
        ("assert f(np.ones((1000, 1, 1)) + np.ones((1, 1000, 1)) + np.ones((1, 1, 1000)), 1)", []),
        ("assert f(np.diag(np.ones(1000000)), 1)", []),
        ("assert f(np.identity(1000000), 1)", []),
        ("assert f(np.ones(1000)[:, np.newaxis] + np.ones(10000), 1)", []),
        ("assert f(np.ones(1000)[np.zeros((1000, 1000), dtype=int)], 1)", []),
        (
            "assert f([np.ones((20, 30)), np.ones((20, 30)), np.eye(30)], np.diag([1.0, 2.0]))",
            [{"a": "[np.ones((20, 30)), np.ones((20, 30)), np.eye(30)]", "b": "np.diag([1.0, 2.0])"}],
        ),
        ("assert f(np.ones((30, 20)) + np.arange(20), 1)", [{"a": "np.ones((30, 20)) + np.arange(20)", "b": "1"}]),
        ("assert f(int('9' * 10000), 1)", []),
        ("assert f((yield), 1)", []),
        ("assert f(*[1, 2])", []),
        ("assert f(1) == 2", []),
        ("assert ((", []),
    ],
)
def test_only_what_is_spelt_out_is_taken(test, inputs):
    found = find_tried(test, Target("f", ("a", "b")))
    assert found.inputs == inputs
    assert bool(found.left) != bool(inputs)


def test_what_a_solution_defines():
    source = "import x\ndef f(a, b=1, *, c=2): pass\nanswer = 3\ndef g(*rest): pass\n"
    assert find_targets(source) == [Target("f", ("a",), ("b", "c")), Target("answer")]
    assert find_targets("def (") == []
