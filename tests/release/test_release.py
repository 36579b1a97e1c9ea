"""Releasing a lab: the same bytes every time, nothing that should stay with the instructor, problems named."""

from __future__ import annotations

import io
import json
import math
import os
import sys

import nbformat
import numpy as np
import pytest
from tiny_course import LAB, TOML, build, details, export_points, released, solution_notebook, write_notebook

from autograder.course.labs import ABSENT, earlier_file, read_earlier_cells, text_hash
from autograder.course.settings import CourseError, load_course
from autograder.course.text_pairs import check_pair, read_pair, write_pair
from autograder.declare import Case, Exercise
from autograder.release.course_cells import badge_source, setup_source
from autograder.release.notes import describe_check_changes
from autograder.release.release import ReleaseRefused, release

REPOSITORY = 'repository = "https://github.com/owner/name"'


@pytest.fixture
def course(tmp_path, monkeypatch):
    return build(tmp_path / "course", monkeypatch)


def edit_solution(course, change) -> None:
    """Apply `change` to the solution notebook, as if it had been saved in JupyterLab."""
    path = course.solution_notebook(LAB)
    path.with_suffix(".py").unlink(missing_ok=True)
    notebook = solution_notebook()
    change(notebook)
    write_notebook(path, notebook)


def graded_cells(course):
    notebook = nbformat.read(course.release_notebook(LAB), as_version=4)
    return [cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade")]


def tree(course) -> dict[str, bytes]:
    folders = ("labs", "coursekit", "solutions", "lectures")
    return {
        str(path.relative_to(course.root)): path.read_bytes()
        for folder in folders
        for path in sorted((course.root / folder).rglob("*"))
        if path.is_file()
    }


def test_what_tensorflow_logs_when_a_formula_starts_it_is_dropped(course, monkeypatch, capfd):
    """Its messages come from C++."""

    def export(*given):
        os.write(2, b"I0000 oneDNN custom operations are on\n")
        return export_points(*given)

    monkeypatch.setattr("autograder.release.reference_export.export", export)
    monkeypatch.delitem(sys.modules, "tensorflow", raising=False)
    assert release(course).changed
    assert "oneDNN" not in capfd.readouterr().err


def test_release_makes_the_students_notebook(course):
    summary = release(course)
    notebook = nbformat.read(course.release_notebook(LAB), as_version=4)
    nbformat.validate(notebook)
    sources = {cell.metadata.get("nbgrader", {}).get("grade_id"): cell.source for cell in notebook.cells}
    assert sources["double-code"] == (
        'def double(x):\n    """Twice x."""\n    raise NotImplementedError("Write your code here")'
    )
    assert sources["why"] == "*Write your answer here.*"
    assert sources["setup"] == setup_source(course)
    assert "carefully" not in course.release_notebook(LAB).read_text()
    assert summary.students == [f"{LAB}: new, 2 exercises, 5 points"]
    reference = json.loads((course.root / "coursekit" / "reference" / f"{LAB}.json").read_text())
    assert reference == {"double": 2, "square": 3, "exercises": []}
    assert check_pair(course.solution_notebook(LAB)) is None


def test_release_twice_gives_the_same_bytes(course):
    release(course)
    before = tree(course)
    assert release(course).changed == ()
    assert tree(course) == before


def test_who_saved_the_solution_leaves_no_trace(course):
    """Cell ids, execution counts, outputs, editors' metadata and the Python version do not reach the release."""
    release(course)
    before = course.release_notebook(LAB).read_bytes()

    def disturb(notebook):
        notebook.metadata["language_info"] = {"name": "python", "version": "3.99"}
        notebook.metadata["vscode"] = {"interpreter": "x"}
        for number, cell in enumerate(notebook.cells):
            cell["id"] = f"other-{number}"
            cell.metadata["execution"] = {"iopub.status.busy": "2026-01-01"}
            if cell.cell_type == "code":
                cell.execution_count = 7
                cell.outputs = [nbformat.v4.new_output("stream", text="42")]

    edit_solution(course, disturb)
    release(course)
    assert course.release_notebook(LAB).read_bytes() == before


def test_check_changes_nothing_and_says_what_would(course):
    before = tree(course)
    summary = release(course, check=True)
    assert tree(course) == before
    assert f"labs/{LAB}/{LAB}.ipynb" in summary.changed and f"coursekit/reference/{LAB}.json" in summary.changed
    release(course)
    assert release(course, check=True).changed == ()


def test_an_edited_lab_is_noticed_and_put_back(course):
    release(course)
    path = course.release_notebook(LAB)
    before = path.read_bytes()
    path.write_bytes(before.replace(b"Double a number", b"Triple a number"))
    (path.parent / "stray.txt").write_text("old")
    assert release(course, check=True).changed == (f"labs/{LAB}/{LAB}.ipynb", f"labs/{LAB}/stray.txt")
    release(course)
    assert path.read_bytes() == before and not (path.parent / "stray.txt").exists()


def test_files_beside_the_solution_are_released_without_the_text_pair(course):
    release(course)
    (course.solutions / LAB / "picture.svg").write_text("<svg/>")
    release(course)
    assert sorted(path.name for path in (course.releases / LAB).iterdir()) == [f"{LAB}.ipynb", "picture.svg"]


def test_a_release_remembers_what_cells_said_before(course):
    release(course)
    assert read_earlier_cells(course, LAB) == {}
    edit_solution(course, lambda notebook: setattr(notebook.cells[2], "source", "check = repr"))
    release(course)
    assert read_earlier_cells(course, LAB) == {"imports": [text_hash("check = print")]}
    assert release(course, check=True).changed == () and not list(course.releases.rglob("*earlier*"))

    def change(notebook):
        notebook.cells[2].source = "check = print"
        notebook.cells.insert(3, nbformat.v4.new_code_cell("pass", metadata=details("helper", locked=True)))

    edit_solution(course, change)
    release(course)
    assert read_earlier_cells(course, LAB) == {
        "imports": [text_hash("check = print"), text_hash("check = repr")],
        "helper": [ABSENT],
    }
    earlier_file(course, LAB).write_text("[1]")
    edit_solution(course, lambda notebook: setattr(notebook.cells[2], "source", "check = repr"))
    with pytest.raises(ReleaseRefused, match=r"earlier_cells\.json: cannot be read"):
        release(course)


def test_the_summary_says_what_students_notice(course):
    release(course)

    def change(notebook):
        notebook.cells[5].metadata.nbgrader["points"] = 7
        notebook.cells[3].source = "Double any number."

    edit_solution(course, change)
    assert release(course).students == [
        f"{LAB}: double is worth 7 points, was 2",
        f'{LAB}: new text in "Double any number."',
    ]


def test_the_summary_has_the_points_of_a_lab_whose_sum_changed(course):
    assert release(course).totals == {}
    (before,) = (math.fsum(cell.metadata.nbgrader.get("points", 0) for cell in graded_cells(course)),)
    edit_solution(course, lambda notebook: notebook.cells[5].metadata.nbgrader.update(points=7))
    assert release(course).totals == {LAB: (before, before + 5)}
    assert release(course).totals == {}


def test_the_summary_names_the_exercises_whose_checks_changed():
    """Seen in the description and in the arrays; last digits are no change, another tolerance is one."""

    def files(hint="Divide.", value=1.0, tolerance=1e-6):
        described = {"exercises": [{"name": "double", "hints": [hint], "tolerance": {"output": tolerance}}]}
        described["exercises"].append({"name": "square", "hints": []})
        arrays = {"double.0.inputs.x": np.full(3, 2.0), "square.0.expected.output": np.array([value, 2.0])}
        packed = io.BytesIO()
        np.savez(packed, **arrays)
        return {f"{LAB}.json": json.dumps(described).encode(), f"{LAB}.npz": packed.getvalue()}

    assert describe_check_changes(LAB, files(), files(value=1.00000001, tolerance=1e-6 * (1 + 1e-9))) == []
    assert describe_check_changes(LAB, files(), files(hint="Multiply.")) == [f"{LAB}: changed checks in double"]
    assert describe_check_changes(LAB, files(), files(value=1.5)) == [f"{LAB}: changed checks in square"]
    assert describe_check_changes(LAB, {}, files()) == []


def test_points_in_a_table_follow_the_test_cells(course):
    """An instructor changes them in one place, nbgrader's toolbar."""
    table = (
        "| part | what | points |\n|---|---|---|\n| A | `double`, twice | {} |\n| | `square` | 3 |\n\n`double` | 2 |"
    )

    def change(notebook):
        notebook.cells[0].source = table.format(2)
        notebook.cells[5].metadata.nbgrader["points"] = 7

    edit_solution(course, change)
    assert f"solutions/{LAB}/{LAB}.ipynb" in release(course).changed
    for path in (course.release_notebook(LAB), course.solution_notebook(LAB)):
        assert nbformat.read(path, as_version=4).cells[0].source == table.format(7)
    assert check_pair(course.solution_notebook(LAB)) is None
    assert release(course).changed == ()


def test_a_broken_structure_is_refused_and_nothing_written(course):
    edit_solution(course, lambda notebook: notebook.cells.pop(5))
    before = tree(course)
    with pytest.raises(ReleaseRefused, match='the exercise "double" is declared and has no test cell'):
        release(course)
    assert tree(course) == before


def test_an_answer_in_a_task_is_refused(course):
    """A line of a solution that stands in the text of a lab."""
    text = "Double a number:\n```\ndoubled_carefully = x + x\n```"
    edit_solution(course, lambda notebook: notebook.cells[3].update(source=text))
    with pytest.raises(ReleaseRefused, match="holds a line of solutions"):
        release(course)


def test_what_cannot_be_published_is_not_released(course, tmp_path):
    """A leak outside the labs, and a folder that is somebody else's: both are found before anything is written."""
    leak = course.root / "coursekit" / "helper.py"
    leak.write_text("doubled_carefully = x + x\n")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "thesis.txt").write_text("precious")
    before = tree(course)
    with pytest.raises(ReleaseRefused) as refusal:
        release(course, publish_to=tmp_path / "home")
    assert len(refusal.value.reasons) == 2
    assert "coursekit/helper.py" in refusal.value.reasons[0] and "is not empty" in refusal.value.reasons[1]
    assert tree(course) == before and [path.name for path in (tmp_path / "home").iterdir()] == ["thesis.txt"]

    leak.unlink()
    release(course, publish_to=tmp_path / "new")
    assert course.release_notebook(LAB).is_file() and not (tmp_path / "new").exists()


def test_a_solution_edited_as_text_is_a_secret_at_once(course):
    """Not only when the notebook beside it has been brought up to date."""
    release(course)
    text = course.solution_notebook(LAB).with_suffix(".py")
    text.write_text(text.read_text().replace("doubled_carefully", "made_twice_as_big"))
    text.write_text(text.read_text().replace("# Square a number.", "#     made_twice_as_big = x + x"))
    with pytest.raises(ReleaseRefused, match="made_twice_as_big"):
        release(course)


def test_a_group_that_expects_the_same_for_every_seed_needs_a_reason(course, monkeypatch):
    """Whoever copies what a lab ships would earn its points."""

    def declaring(fixed: str, groups: int = 1) -> None:
        exercise = Exercise("double", oracle=lambda x: {"output": 2 * x})

        for name in ("zeros", "nulls")[:groups]:

            @exercise.group("two zeros", points=1, name=name, fixed=fixed)
            def zeros(rng):
                return [Case({"x": np.zeros(2)})]

        declared = {"double": exercise, "square": Exercise("square")}
        monkeypatch.setattr("autograder.release.release.declared_exercises", lambda course, lab: declared)

    declaring("")
    before = tree(course)
    with pytest.raises(ReleaseRefused, match="double: the group zeros expects the same for every seed"):
        release(course)
    assert tree(course) == before
    declaring("zero is the same twice")
    assert release(course, check=True).fixed == [f"{LAB}, double, group zeros, 2 points: zero is the same twice"]
    declaring("zero is the same twice", groups=2)
    named = "double, group zeros; double, group nulls"
    assert release(course).fixed == [f"{LAB}, {named}, 2 points: zero is the same twice"]


def test_a_missing_lab_and_an_unknown_lab_are_named(course):
    with pytest.raises(CourseError, match='no lab "99_none"'):
        release(course, ["99_none"])
    course.solution_notebook(LAB).unlink()
    with pytest.raises(ReleaseRefused, match="is missing; write it"):
        release(course)


def test_another_version_of_coursekit_is_refused(course):
    (course.root / "coursekit" / "__init__.py").write_text('__version__ = "9.9"\n')
    with pytest.raises(ReleaseRefused, match=r"coursekit is 9\.9"):
        release(course)


def test_the_badge_comes_and_goes_with_the_repository(tmp_path, monkeypatch):
    course = released(tmp_path / "course", monkeypatch)
    plain = course.release_notebook(LAB).read_bytes()
    lecture = course.lectures / "01_tiny.ipynb"
    cells = [
        nbformat.v4.new_markdown_cell("# Lecture"),
        nbformat.v4.new_code_cell("old", metadata={"tags": ["course-setup"]}),
    ]
    write_notebook(lecture, nbformat.v4.new_notebook(cells=cells))
    write_pair(lecture, read_pair(lecture))
    release(course)
    told = lecture.read_text()
    assert "Upload coursekit.zip" in told and "git+" not in told and "colab-badge" not in told

    (course.root / "course.toml").write_text(TOML.replace('repository = ""', REPOSITORY))
    online = load_course(course.root)
    release(online)
    for path in (lecture, online.release_notebook(LAB)):
        notebook = json.loads(path.read_text())
        where = path.relative_to(online.root)
        assert "".join(notebook["cells"][1]["source"]) == badge_source(online, str(where))
        assert f"blob/main/{where}" in path.read_text()
        assert "git+https://github.com/owner/name@v0.1.0" in path.read_text()
    assert check_pair(lecture) is None
    assert release(online).changed == ()

    (course.root / "course.toml").write_text(TOML)
    release(course)
    assert course.release_notebook(LAB).read_bytes() == plain
    assert "colab-badge" not in lecture.read_text()


def test_metadata_helper_matches_nbgraders_schema(course):
    """The synthetic lab is what nbgrader accepts, so the other tests mean something."""
    from nbgrader.nbgraderformat import MetadataValidator

    MetadataValidator().validate_nb(solution_notebook())
    assert details("x")["nbgrader"]["schema_version"] == 3
