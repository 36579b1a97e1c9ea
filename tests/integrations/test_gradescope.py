"""What Gradescope gets: an archive with all that grading needs and nothing else, and results in its form."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import gradescope_container as container
import pytest
from hostile.corpus import CORPUS
from hostile.kinds import theft
from hostile.making import (
    FULL,
    LAB,
    LOOPS,
    POINTS,
    ROOT,
    SOON_REACHED,
    Scene,
    answered,
    as_bytes,
    grade_id,
    is_answer,
    make_course,
)

from autograder.course.settings import CourseError, load_course
from autograder.grade.lab_grader import LabGrader
from autograder.grade.results import ExerciseResult, GroupResult, LabResult
from autograder.integrations.gradescope.archive import USER, make_archive
from autograder.integrations.gradescope.results_json import write_results
from autograder.sandbox import Sandbox, SandboxUnavailable
from autograder.sandbox.bubblewrap import OtherUser
from autograder.worker import protocol, walls


def read(*exercises: ExerciseResult, **more) -> dict:
    by_hand = more.pop("by_hand", 0.0)
    show = more.pop("show", "visible")
    result = LabResult("submission", LAB, exercises, **more)
    report = [protocol.WallReport("another user", True), protocol.WallReport("system-call filter", False, "no library")]
    return json.loads(write_results(result, report, show=show, by_hand=by_hand))


def groups(*passed: bool, weights=(1, 1, 1)) -> tuple[GroupResult, ...]:
    return tuple(
        GroupResult(f"g{n}", f"title `{n}`", weight, right, "" if right else f"message {n}")
        for n, (right, weight) in enumerate(zip(passed, weights, strict=True))
    )


def test_groups_are_tests_and_the_first_that_fails_names_the_mistake():
    told = read(
        ExerciseResult(
            "scale", 10 / 3, 10, "graded", ("unscaled",), ("You do not scale.",), groups(True, False, False), hint="√d?"
        )
    )
    tests = told["tests"][:-1]
    assert [(test["name"], test["score"], test["max_score"], test["status"]) for test in tests] == [
        ("scale: title 0", 3.33, 3.33, "passed"),
        ("scale: title 1", 0, 3.33, "failed"),
        ("scale: title 2", 0, 3.34, "failed"),
    ]
    assert [test["output"] for test in tests] == [
        "",
        "message 1\nIt looks like this: You do not scale.\nHint: √d?",
        "message 2",
    ]
    assert told["score"] == 3.33 == sum(test["score"] for test in told["tests"])


@pytest.mark.parametrize("passed", [(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)])
@pytest.mark.parametrize("points", [0, 1, 2.5, 7, 10])
def test_the_tests_add_up_to_the_exercise(passed, points):
    weights = (2, 1, 4)
    score = points * sum(w for w, right in zip(weights, passed, strict=True) if right) / 7
    exercise = ExerciseResult("e", score, points, "graded", groups=groups(*map(bool, passed), weights=weights))
    tests = read(exercise)["tests"]
    assert sum(test["max_score"] for test in tests) == pytest.approx(points)
    assert sum(test["score"] for test in tests) == pytest.approx(exercise.score, abs=0.011)
    assert all(0 <= test["score"] <= test["max_score"] for test in tests)


def test_what_has_no_groups_is_one_test_with_its_reason():
    told = read(
        ExerciseResult("a", 0, 4, "timeout", message="It took too long."),
        ExerciseResult("b", 0, 2, "missing"),
        state="unreadable",
        reason="The file is empty.",
        by_hand=4.0,
    )
    first, second, _ = told["tests"]
    assert (first["name"], first["status"], first["output"]) == ("a", "failed", "It took too long.")
    assert second["output"] and told["output"].startswith("The file is empty.") and "4 points" in told["output"]


def test_the_result_is_a_receipt():
    told = read(ExerciseResult("a", 4, 4, "graded"), file="my\nwork.ipynb", content_hash="ab12")
    (line,) = told["output"].splitlines()
    assert line.startswith("What arrived: my") and line.endswith("SHA-256 of the file: ab12")
    assert "What arrived" not in read(ExerciseResult("a", 4, 4, "graded"))["output"]


@pytest.mark.parametrize("show", ["visible", "after_due_date", "after_published"])
def test_who_sees_what(show):
    told = read(ExerciseResult("a", 1, 1, "graded", ("x",), ("<b>",), groups(True, True, True)), show=show)
    *tests, hidden = told["tests"]
    assert {test["visibility"] for test in tests} == {show} == {told["visibility"]}
    assert hidden["visibility"] == "hidden" and hidden["max_score"] == 0
    assert "NOT system-call filter (no library)" in hidden["output"] and "another user" in hidden["output"]
    assert {test["output_format"] for test in told["tests"]} == {"text"} and told["stdout_visibility"] == "hidden"


def test_the_archive_holds_what_grading_needs_and_no_secret_of_the_courses(tmp_path):
    course = load_course(make_course(tmp_path / "course", **SOON_REACHED))
    toml = course.root / "course.toml"
    toml.write_text(toml.read_text().replace("[grading]", '[grading]\ndatabase = "postgresql://me:pass@host/db"'))
    course = load_course(course.root)
    content = make_archive(course, LAB, seed=7)
    assert make_archive(course, LAB, seed=7) == content
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = set(archive.namelist())
        everything = b"".join(map(archive.read, names))
        modes = {name: archive.getinfo(name).external_attr >> 16 & 0o777 for name in ("setup.sh", "run_autograder")}
        settings = json.loads(archive.read("gradescope.json"))
        solution = archive.read(f"course/solutions/{LAB}/{LAB}.ipynb").decode()
        archive.extractall(tmp_path / "source")
    assert modes == {"setup.sh": 0o755, "run_autograder": 0o755}
    assert settings == {"lab": LAB, "seed": 7, "user": USER, "show": "visible"}
    assert {f"course/labs/{LAB}/{LAB}.ipynb", "requirements.txt", "grader/coursekit/check/lab.py"} <= names
    of_solution = {Path(name).name for name in names if name.startswith("course/solutions")}
    assert of_solution == {f"{LAB}.ipynb", ".earlier_cells.json"}  # the second holds hashes of what students once got
    assert not any("__pycache__" in name for name in names)
    answers = [cell for cell in json.loads(solution)["cells"] if is_answer(cell)]  # of what another exercise calls
    assert [grade_id(cell) for cell in answers] == ["scaled_dot_product_attention-code"]
    there = LabGrader(load_course(tmp_path / "source" / "course"), LAB, seed=7)
    assert there.solution == LabGrader(course, LAB, seed=7).solution
    assert b"postgresql://me" not in everything
    assert load_course(tmp_path / "source" / "course").limits == course.limits
    for script in ("setup.sh", "run_autograder"):
        subprocess.run(["bash", "-n", tmp_path / "source" / script], check=True)


@pytest.mark.long
def test_the_set_up_installs_what_course_toml_adds_and_keeps_the_locked_versions(tmp_path):
    course = load_course(make_course(tmp_path / "course", **SOON_REACHED))
    with zipfile.ZipFile(io.BytesIO(make_archive(course, LAB, seed=7))) as archive:
        assert "packages.txt" not in archive.namelist()
    course = replace(course, packages=("pandas>=2.2", "polars[all]"))
    with zipfile.ZipFile(io.BytesIO(make_archive(course, LAB, seed=7))) as archive:
        assert archive.read("packages.txt") == b"pandas>=2.2\npolars[all]\n"
        script = " ".join(archive.read("setup.sh").decode().split())
    assert '-r "$source/packages.txt" -c "$source/requirements.txt"' in script


def test_the_archive_is_refused_where_the_lab_is_not_released(tmp_path):
    course = load_course(make_course(tmp_path / "course", **SOON_REACHED))
    course.release_notebook(LAB).unlink()
    with pytest.raises(CourseError, match="is not released"):
        make_archive(course, LAB)


@pytest.mark.parametrize("user", [0, 999, 65534])
def test_processes_of_users_who_are_not_for_submissions_are_never_ended(user):
    with pytest.raises(ValueError, match="not for submissions alone"):
        walls.end_processes(user)


def test_only_root_can_grade_this_way(tmp_path, monkeypatch):
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    with pytest.raises(SandboxUnavailable, match="only root"):
        Sandbox(preload=(), other_user=OtherUser(USER, tmp_path, tmp_path / "home")).start()


# -- in a container --------------------------------------------------------------------------------------------------

needs_container = pytest.mark.skipif(bool(container.why_not()), reason=f"no container here: {container.why_not()}")

# What these walls do not stop, and the others do, by the exercise that keeps its points; SECURITY.md, "On Gradescope",
# says each.
WEAKER = dict.fromkeys(("opens-terminals", "reads-home", "reads-processes"), LOOPS)
READS_THE_GRADER = theft("reads-the-grader", "reads what root keeps in this container", """
    import glob, os
    def loot():
        found = ["/autograder", "/opt/course/home", "/etc/shadow"]
        for name in ("source", "source/gradescope.json", "source/course", "results", "results/corpus.jsonl", "corpus",
                     "submission", "submission_metadata.json", "run_autograder"):
            found.append("/autograder/" + name)
        for name in ("mem", "environ", "maps", "cwd", "fd", "root"):
            found += glob.glob("/proc/1/" + name) + ["/proc/%d/%s" % (os.getppid(), name)]
        opened = []
        for path in found:
            try:
                opened.append(os.listdir(path) if os.path.isdir(path) else open(path, "rb").read(1))
            except OSError:
                pass
        return opened
""")  # fmt: skip


@pytest.fixture(scope="module")
def archive(tmp_path_factory) -> bytes:
    return make_archive(
        load_course(make_course(tmp_path_factory.mktemp("gradescope") / "course", **SOON_REACHED)), LAB, seed=7
    )


@pytest.mark.long
@needs_container
def test_a_submission_is_graded_in_a_container_that_allows_no_namespaces(archive, tmp_path):
    root = container.build(tmp_path, archive)
    (root / "autograder" / "submission").mkdir()
    (root / "autograder" / "submission" / "my homework.ipynb").write_bytes(as_bytes(answered()))
    assert container.run(root, "unshare", "--user", "true").returncode != 0
    done = container.run(root, "/autograder/run_autograder", seconds=900)
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads((root / "autograder" / "results" / "results.json").read_text())
    assert told["score"] == FULL
    assert {"another user", "own files", "no new privileges", "system-call filter", "resource limits"} <= {
        name.strip() for name in told["tests"][-1]["output"].partition("walls: ")[2].split(",")
    }


# In pieces, so that a part of the corpus can be tried alone: `pytest -m exhaustive -k part-7`.
PARTS = 10
BY_NAME = sorted((*CORPUS, READS_THE_GRADER), key=lambda hostile: hostile.name)


@pytest.mark.exhaustive
@needs_container
@pytest.mark.parametrize("part", range(PARTS), ids="part-{}".format)
def test_the_corpus_gains_nothing_in_the_container(archive, tmp_path, part):
    tried = BY_NAME[part * len(BY_NAME) // PARTS : (part + 1) * len(BY_NAME) // PARTS]
    root = container.build(tmp_path, archive)
    canary = root / "autograder" / "source" / "canary.txt"
    canary.write_text("untouched")
    canary.chmod(0o666)
    scene = Scene(container.ROOT.__class__("/autograder/source/canary.txt"), "secret-of-the-grader", 4711)
    folder = root / "autograder" / "corpus"
    folder.mkdir()
    for hostile in tried:
        (folder / f"{hostile.name}.ipynb").write_bytes(hostile.make(scene))
    for name in ("aa-victim", "zz-victim"):
        (folder / f"{name}.ipynb").write_bytes(as_bytes(answered()))
    (root / "autograder" / "in_container.py").write_bytes((ROOT / "tests" / "hostile" / "in_container.py").read_bytes())
    inside = (sys.executable, "-I", "/autograder/in_container.py")
    done = container.run(root, *inside, seconds=1800, environment={"GRADER_SECRET": scene.secret})
    assert done.returncode == 0, done.stdout + done.stderr
    lines = (root / "autograder" / "results" / "corpus.jsonl").read_text("utf-8").splitlines()
    told = {line["student"]: line for line in map(json.loads, lines)}
    assert canary.read_text() == "untouched"
    assert {name for name, line in told.items() if line["left"] or line["calls"]} == set()
    for name in ("aa-victim", "zz-victim"):
        assert sum(score for _, score in told[name]["verdict"].values()) == FULL
    gained, lost = {}, {}
    for hostile in tried:
        verdict = told[hostile.name]["verdict"]
        for name, points in POINTS.items():
            _, score = verdict.get(name, ("none", 0))
            if name in hostile.lost and score > hostile.partly.get(name, 0):
                gained[hostile.name] = name
            elif name not in hostile.lost and not hostile.harms_itself and score < points:
                lost[hostile.name] = name
    assert gained == {name: exercise for name, exercise in WEAKER.items() if name in told}
    assert lost == {}
