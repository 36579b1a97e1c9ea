"""`course new`: every file of an exercise, a lab, a course; nothing is overwritten; what is missing is named."""

from __future__ import annotations

import ast
import re
import runpy
import shutil
from pathlib import Path

import keras
import nbformat
import numpy as np
import pytest

from autograder.course.labs import cells_by_id, grade_id, points
from autograder.course.settings import Course, CourseError, load_course
from autograder.course.text_pairs import check_pair, read_pair
from autograder.declare import Case, Exercise, OwnExercise
from autograder.declare.declaration import Declaration, declared_exercises
from autograder.integrations.scaffold.making import new_course, new_exercise, new_lab
from autograder.release.lint_lab import find_missing_parts, find_structure_problems, find_variants_left
from autograder.release.release import ReleaseRefused, release
from coursekit.probes.driving import described

ROOT = Path(__file__).resolve().parents[2]
LAB, TOPIC = "02_self_attention", "self_attention"
TOPICS = sorted(path.name.partition("_")[2] for path in (ROOT / "solutions").glob("[0-9]*"))
PARTS = {
    "declaration": f"exercises/{TOPIC}/entropy.py",
    "variants": f"corpus/{TOPIC}/entropy.py",
    "text": f"solutions/{LAB}/{LAB}.py",
    "notebook": f"solutions/{LAB}/{LAB}.ipynb",
}


@pytest.fixture
def repository(tmp_path) -> Course:
    """What `course new` looks at of this repository."""
    for folder in (
        *("exercises", "autograder/declare", "coursekit/probes"),
        *("corpus", f"solutions/{LAB}"),
    ):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "course.toml", tmp_path)
    return load_course(tmp_path)


def declared(course: Course, *names: str) -> dict[str, Declaration]:
    return {name: one for name, one in declared_exercises(course, LAB).items() if name not in names}


def missing(course: Course, known: dict) -> list[str]:
    return find_missing_parts(course, LAB, read_pair(course.solution_notebook(LAB)), known)


def test_a_new_exercise_has_every_part_and_release_names_what_is_to_be_filled_in(repository):
    assert missing(repository, declared(repository)) == []
    written = new_exercise(repository, LAB, "entropy")
    assert {str(path.relative_to(repository.root)) for path in written} == set(PARTS.values())
    for path in written:
        if path.suffix == ".py":
            ast.parse(path.read_text(encoding="utf-8"))
    notebook = read_pair(repository.solution_notebook(LAB))
    assert list(points(notebook))[-1] == "entropy" and find_structure_problems(notebook) == []
    assert check_pair(repository.solution_notebook(LAB)) is None
    heading = cells_by_id(notebook)["text-entropy"].source.splitlines()[0]
    assert heading == "## 9 · entropy", "sections are counted, not exercises: the lab's table ends with 8"
    ids = [grade_id(cell) for cell in notebook.cells]
    assert ids.index("measured") < ids.index("text-entropy") < ids.index("entropy") < ids.index("explanation")

    said = missing(repository, declared(repository))
    for part, path in PARTS.items():
        if part != "notebook":
            assert any(re.match(rf"{re.escape(path)}:\d+: to fill in", line) for line in said), (part, said)


def test_the_parts_that_are_missing_altogether_are_named_with_their_line(repository):
    new_exercise(repository, LAB, "entropy")
    said = missing(repository, declared(repository, "entropy"))
    (line,) = [line for line in said if "belongs to no declared exercise" in line]
    text = (repository.root / PARTS["text"]).read_text(encoding="utf-8").splitlines()
    assert '"entropy"' in text[int(line.split(":")[1]) - 1] and line.startswith(PARTS["text"])

    said = missing(repository, declared(repository) | {"spare": Exercise("spare", oracle=lambda x: {}, call=("x",))})
    assert any('"spare" is declared and has no test cell' in line for line in said)


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        (
            "exercises/{}/SelfAttention.py",
            "uses=(",
            'uses=("scaled_dot_product_attentoin", ',
            "uses scaled_dot_product",
        ),
        ("corpus/{}/project_qkv.py", "WRONG = [", 'WRONG = [("not_named_so", ""),', "declares no mistake not_named_so"),
        (
            "corpus/{}/project_qkv.py",
            "CORRECT = [",
            "CORRECT = []; _ = [",
            "holds 0 right answers to project_qkv; write",
        ),
    ],
)
def test_a_name_that_is_not_there_and_an_empty_corpus_are_named_with_their_line(repository, file, old, new, said):
    path = repository.root / file.format(TOPIC)
    text = path.read_text("utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), "utf-8")
    (line,) = missing(repository, declared(repository))
    number = 1 if "holds" in said else text[: text.index(old)].count("\n") + 1
    assert line.startswith(f"{file.format(TOPIC)}:{number}: ") and said in line


def test_variants_of_an_exercise_that_is_gone_are_named_and_hinder_no_release(repository):
    """They are to be deleted with the exercise; what is to be filled in there concerns nobody."""
    known = declared(repository)
    assert find_variants_left(repository, LAB, known) == []
    path = repository.root / PARTS["variants"]
    path.write_text("# TODO: another solution\n", encoding="utf-8")
    path.with_name("shared.py").write_text("X = 1\n", encoding="utf-8")
    assert missing(repository, known) == []
    assert find_variants_left(repository, LAB, known) == [
        f"{PARTS['variants']} varies an exercise that is not declared: delete it"
    ]


def test_what_is_taken_or_no_name_is_refused_and_nothing_is_written(repository):
    before = {path: path.read_bytes() for path in repository.root.rglob("*") if path.is_file()}
    for name in ("project_qkv", "two words", "class", "9th"):
        with pytest.raises(CourseError, match=r"choose another name|cannot be the name"):
            new_exercise(repository, LAB, name)
    for lab in (LAB, "10_self_attention", "averages", "10_Averages"):
        with pytest.raises(CourseError, match=r"choose another name|cannot be the name"):
            new_lab(repository, lab)
    assert {path: path.read_bytes() for path in repository.root.rglob("*") if path.is_file()} == before


def test_a_new_lab_has_its_modules_its_tests_and_its_entry(repository):
    new_lab(repository, "10_averages", 'The "mean"', "weighted_mean")
    course = load_course(repository.root)
    assert course.lab("10_averages").title == 'The "mean"'
    for part in PARTS.values():
        path = part.replace(LAB, "10_averages").replace(TOPIC, "averages").replace("entropy", "weighted_mean")
        assert (course.root / path).is_file(), path
    assert "TestAverages" in (course.root / "tests" / "labs" / "test_10_averages.py").read_text()
    notebook = read_pair(course.solution_notebook("10_averages"))
    assert find_structure_problems(notebook) == [] and list(points(notebook)) == ["weighted_mean"]


def test_another_course_gets_its_own_exercises_and_labs(tmp_path):
    folder = tmp_path / "My statistics (2027)"
    new_course(folder)
    with pytest.raises(CourseError, match="is not empty"):
        new_course(folder)
    course = load_course(folder)
    assert course.course_id == "My-statistics-2027"
    assert (folder / "jupytext.toml").read_text() == (ROOT / "jupytext.toml").read_text()  # one text half for all
    new_exercise(course, "01_first_lab", "spread")
    assert (folder / "exercises" / "first_lab" / "spread.py").is_file() and not (folder / "autograder").exists()
    new_lab(course, "02_more")
    course = load_course(folder)
    for lab in course.labs:
        notebook = read_pair(course.solution_notebook(lab.name))
        assert find_structure_problems(notebook) == []
    said = find_missing_parts(
        course, "02_more", notebook, {"first_exercise": OwnExercise("first_exercise", call=("x",))}
    )
    assert any(line.startswith("exercises/more/first_exercise.py:5: to fill in") for line in said)
    assert any(line.startswith("solutions/02_more/02_more.py") for line in said)


def test_a_new_course_keeps_what_grading_writes_out_of_its_repository(tmp_path):
    """And so does this one: marks, and the files that students handed in."""
    new_course(tmp_path / "course")
    common = {
        ".grading-seed",
        ".nbgrader.log",
        "gradebook.db*",
        "/handed-in/",
        "/*.csv",
        "/*.npz",
        "/*.zip",
    }
    folders = {"autograded", "downloaded", "exchange", "feedback", "grades", "release", "submitted"}
    for path, before in ((tmp_path / "course", ""), (ROOT, "/")):
        lines = set((path / ".gitignore").read_text("utf-8").splitlines())
        assert common | {f"{before}{folder}/" for folder in folders} | {f"{before}START.ipynb"} <= lines


def test_marks_are_looked_for_in_the_newer_half_of_the_notebook(tmp_path):
    new_course(tmp_path / "course")
    course = load_course(tmp_path / "course")
    path = course.solution_notebook("01_first_lab")
    notebook = nbformat.read(path, as_version=4)
    cells_by_id(notebook)["text-centre"].source = "TODO: say it"
    nbformat.write(notebook, path)
    known = {"centre": OwnExercise("centre", call=("x",))}
    assert [line for line in find_missing_parts(course, "01_first_lab", read_pair(path), known) if "say it" in line]


def test_a_new_layer_has_every_part_and_is_driven_in_each_mode_once_it_is_filled_in(tmp_path):
    new_course(tmp_path / "course")
    course = load_course(tmp_path / "course")
    with pytest.raises(CourseError, match="leave out --own, or --layer"):
        new_exercise(course, "01_first_lab", "Scale", own=True, layer=True)
    declaration = new_exercise(course, "01_first_lab", "Scale", layer=True)[0]
    path = course.solution_notebook("01_first_lab")
    assert cells_by_id(read_pair(path))["imports"].source.startswith("import keras\nimport numpy as np\n")
    new_exercise(course, "01_first_lab", "Shift", layer=True)
    assert cells_by_id(read_pair(path))["imports"].source.count("import keras") == 1
    known = {"centre": OwnExercise("centre", call=("x",)), "Scale": OwnExercise("Scale", call=("x",))}
    said = find_missing_parts(course, "01_first_lab", read_pair(path), known)
    assert any(line.startswith("exercises/first_lab/Scale.py:5: to fill in") for line in said)

    written = declaration.read_text(encoding="utf-8").replace("    # a_mistake", "    a_mistake")
    filled = re.sub(r"raise NotImplementedError\(.*\)", "return x * scale", written)
    declaration.write_text(filled.replace("TODO", "Done"), encoding="utf-8")
    cases = runpy.run_path(str(declaration))["exercise"].expectations(3)
    assert [case.mode for case in cases] == ["call", "call", "parameters", "graph", "gradient"]
    assert all("a_mistake" in case.wrong for case in cases if case.mode in ("call", "graph"))

    stub = cells_by_id(read_pair(path))["Scale-code"].source
    bodies = ['self.scale = self.add_weight(shape=(features,), name="scale")', "return x * self.scale"]
    answer = re.sub(r'raise NotImplementedError\("TODO: the solution"\)', lambda _: bodies.pop(0), stub)
    namespace = {"keras": keras}
    exec(answer, namespace)
    probe = described("Scale", runpy.run_path(str(declaration))["exercise"].probe)
    for case in cases:
        found = probe(namespace, case.inputs, case.mode)
        for key, value in case.expected.items():
            np.testing.assert_allclose(found[key], value, rtol=1e-4, atol=1e-5)


def test_cases_of_the_templates_are_what_the_declaration_takes(tmp_path):
    new_course(tmp_path / "course")
    from autograder.declare.declaration import declared_exercises

    course = load_course(tmp_path / "course")
    (exercise,) = declared_exercises(course, "01_first_lab").values()
    drawn = [case for group, rng in exercise.generators(1) for case in group.draw(rng)]
    assert len(drawn) == 3 and all(isinstance(case, Case) and set(case.inputs) == {"x"} for case in drawn)


FAILING = """
from autograder.declare import Case, Exercise

exercise = Exercise("centre", call=("x",))


@exercise.formula
def centre(x):
    return np.mean(x)


@exercise.group("right values", points=1)
def values(rng):
    return [Case({"x": rng.normal(size=5)})]
"""


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (("", ""), "exercises/first_lab/centre.py:9: NameError: name 'np' is not defined; correct it"),
        (("rng.normal(", "rng.norm("), "exercises/first_lab/centre.py:14: AttributeError"),
        (('Case({"x"', 'Case({"X"'), "exercises/first_lab/centre.py:13: centre, group values: the formula takes no X."),
        (
            ("size=5)}", 'size=5)}, mode="tensors"'),
            'exercises/first_lab/centre.py:13: centre, group values: there is no mode "tensors" of a function.',
        ),
    ],
)
def test_an_exercise_that_fails_when_a_lab_is_released_is_told_with_its_line(tmp_path, edit, said):
    new_course(tmp_path / "course")
    path = tmp_path / "course" / "exercises" / "first_lab" / "centre.py"
    path.write_text(FAILING.replace(*edit), encoding="utf-8")
    with pytest.raises(ReleaseRefused) as refusal:
        release(load_course(tmp_path / "course"))
    assert [reason[: len(said)] for reason in refusal.value.reasons] == [said]
