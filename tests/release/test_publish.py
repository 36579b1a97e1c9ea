"""The student repository holds what students need, and no answer."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
import tomllib
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import nbformat
import pytest
import yaml
from tiny_course import LAB, TOML, released, with_secrets, write_notebook
from typer.testing import CliRunner

from autograder.cli import app as cli
from autograder.course.settings import load_course
from autograder.release.publish import MARKER, PublishRefused, pack_coursekit, publish, student_files
from autograder.release.release import release

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def course(tmp_path, monkeypatch):
    return with_secrets(tmp_path / "course", monkeypatch)


def names(folder) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_the_students_repository(course, tmp_path):
    target = tmp_path / "public"
    summary = publish(course, target)
    assert names(target) == {
        *(".gitignore", MARKER, "AGENTS.md", "README.md", "environment.yml", "nbgrader_config.py", "pyproject.toml"),
        *("requirements.txt", "coursekit/__init__.py", f"coursekit/reference/{LAB}.json", "data/README.md"),
        *("lectures/01_tiny.ipynb", f"labs/{LAB}/{LAB}.ipynb"),
    }
    assert set(summary.written) == names(target) - {MARKER}
    project = tomllib.loads((target / "pyproject.toml").read_text())
    assert project["project"]["name"] == "transformers-coursekit"
    assert any(requirement.startswith("tensorflow") for requirement in project["project"]["dependencies"])
    assert "- [A tiny lab](labs/01_tiny/01_tiny.ipynb)\n" in (target / "README.md").read_text()
    assert "- [Lecture](lectures/01_tiny.ipynb)\n" in (target / "README.md").read_text()
    assert "course, *Tiny course*.\n" in (target / "AGENTS.md").read_text()
    everything = b"".join(path.read_bytes() for path in target.rglob("*") if path.is_file())
    assert b"autograder" not in everything and b"carefully" not in everything


@pytest.mark.parametrize(
    "left",
    [
        "labs/{LAB}/{LAB}.ipynb.bak",
        "coursekit/notes.py.orig",
        "coursekit/a.py~",
        "data/notes~",
        "data/old.rej",
        "data/x",
    ],
)
def test_files_of_unknown_kinds_are_not_published_and_not_left_out_in_silence(course, tmp_path, left):
    path = course.root / left.format(LAB=LAB)
    path.write_text("nothing secret")
    with pytest.raises(PublishRefused) as refusal:
        publish(course, tmp_path / "public")
    (reason,) = refusal.value.reasons
    assert reason.startswith(f"{left.format(LAB=LAB)}: ") and "Delete it or move it out of" in reason
    assert not (tmp_path / "public").exists()


def test_a_solution_beside_the_lab_is_not_published(course, tmp_path):
    shutil.copy(course.solution_notebook(LAB), course.root / "labs" / LAB / "notes.txt")
    with pytest.raises(PublishRefused, match="BEGIN SOLUTION"):
        publish(course, tmp_path / "public")


def test_students_are_told_the_packages_of_the_course(course, tmp_path):
    publish(replace(course, packages=("polars>=1.0", "einops")), tmp_path / "public")
    read = {
        name: (tmp_path / "public" / name).read_text() for name in ("README.md", "environment.yml", "pyproject.toml")
    }
    assert 'pip install "polars>=1.0" "einops"\npip install --no-deps --editable .\n' in read["README.md"]
    assert '      - "polars>=1.0"\n      - "einops"\n' in read["environment.yml"]
    assert {"polars>=1.0", "einops"} < {*tomllib.loads(read["pyproject.toml"])["project"]["dependencies"]}


def test_a_course_without_lectures_is_not_told_of_any(course, tmp_path):
    publish(course, tmp_path / "with")
    shutil.rmtree(course.lectures)
    publish(course, tmp_path / "without")
    with_them, without = ((tmp_path / name / "README.md").read_text() for name in ("with", "without"))
    for text in ("Lectures to read", "## Lectures", "TensorFlow Text", "conda activate transformers-course"):
        assert text in with_them and text not in without
    assert "ecture" not in without.partition("## The data")[0] and "conda activate tiny\n" in without
    assert (tmp_path / "without" / "environment.yml").read_text().startswith("name: tiny\n")


def add_point(course) -> None:
    """Make the lab's first exercise worth a point more, and release it."""
    path = course.solution_notebook(LAB)
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[5].metadata.nbgrader["points"] += 1
    write_notebook(path, notebook)
    release(course)


def test_the_summary_is_on_what_students_have_already(course, tmp_path):
    """Not on the last release: there may be many between two publications."""
    target = tmp_path / "public"
    assert publish(course, target).students == (f"{LAB}: new, 2 exercises, 5 points",)
    for _ in range(2):
        add_point(course)
    assert publish(course, target).students == (f"{LAB}: double is worth 4 points, was 2",)
    assert publish(course, target).students == ()


def test_publishing_again_updates_and_keeps_what_is_not_ours(course, tmp_path):
    target = tmp_path / "public"
    (target / ".git").mkdir(parents=True)
    (target / ".git" / "HEAD").write_text("ref")
    publish(course, target)
    assert publish(course, target).written == ()
    (target / "CNAME").write_text("mine")
    (course.lectures / "01_tiny.ipynb").rename(course.lectures / "02_new.ipynb")
    summary = publish(course, target)
    assert summary.removed == ("lectures/01_tiny.ipynb",)
    assert "lectures/02_new.ipynb" in summary.written
    assert (target / "CNAME").read_text() == "mine" and (target / ".git" / "HEAD").exists()


def test_a_link_to_what_is_left_out_is_text(course, tmp_path):
    """An instructor takes some of the lectures: those that stay lead nowhere else than to what is there."""
    path = course.lectures / "01_tiny.ipynb"
    notebook = nbformat.read(path, as_version=4)
    there, here = f"[the lab](../labs/{LAB}/{LAB}.ipynb#part)", "[here](#part) and ![a picture](x.ipynb)"
    absent = (
        "[lab 03](../labs/03_other/03_other.ipynb) after [lecture 2](02_gone.ipynb#why), [web](https://x.org/a.ipynb)"
    )
    notebook.cells[0].source = f"{there}, {absent}, {here}"
    write_notebook(path, notebook)
    assert publish(course, tmp_path / "public").unlinked == ("lectures/01_tiny.ipynb: 02_gone, 03_other",)
    shown = nbformat.read(tmp_path / "public" / "lectures" / "01_tiny.ipynb", as_version=4).cells[0].source
    assert shown == f"{there}, lab 03 after lecture 2, [web](https://x.org/a.ipynb), {here}"
    assert publish(course, tmp_path / "public").written == ()
    for number in (5, 6, 7):
        shutil.copy(path, path.with_name(f"0{number}_more.ipynb"))
    assert publish(course, tmp_path / "public").unlinked == ("4 notebooks: 02_gone, 03_other",)


@pytest.mark.parametrize("gone", ["labs/02_gone/02_gone.ipynb", "lectures/02_gone.ipynb"])
def test_a_lab_or_lecture_that_was_withdrawn_is_told(course, tmp_path, gone):
    target = tmp_path / "public"
    publish(course, target)
    (target / gone).parent.mkdir(exist_ok=True)
    shutil.copy(target / "labs" / LAB / f"{LAB}.ipynb", target / gone)
    marker = json.loads((target / MARKER).read_text())
    (target / MARKER).write_text(json.dumps(marker | {"files": [*marker["files"], gone]}))
    summary = publish(course, target)
    assert summary.students == ("02_gone: was withdrawn",) and summary.removed == (gone,)


def test_a_foreign_folder_is_refused(course, tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "thesis.txt").write_text("precious")
    for target in (tmp_path / "home", course.root, tmp_path / "home" / "thesis.txt"):
        with pytest.raises(PublishRefused):
            publish(course, target)
    assert names(tmp_path / "home") == {"thesis.txt"}


def test_a_marker_cannot_reach_outside(course, tmp_path):
    target = tmp_path / "public"
    publish(course, target)
    (tmp_path / "victim").write_text("precious")
    (target / MARKER).write_text(json.dumps({"files": ["../victim"]}))
    with pytest.raises(PublishRefused, match="outside the folder"):
        publish(course, target)
    assert (tmp_path / "victim").exists()


def test_an_unreleased_lab_is_refused(course, tmp_path):
    course.release_notebook(LAB).unlink()
    with pytest.raises(PublishRefused, match="is not released"):
        publish(course, tmp_path / "public")
    assert not (tmp_path / "public").exists()


def test_students_are_told_where_the_exchange_is(tmp_path, monkeypatch):
    course = released(tmp_path / "course", monkeypatch, TOML + '\n[grading]\nexchange = "/srv/exchange"\n')
    config = student_files(course)["nbgrader_config.py"].decode()
    assert config.splitlines()[-2:] == ["c.Exchange.root = '/srv/exchange'", "configure_validation(c)"]


def test_who_publishes_for_colab_is_told_to_move_the_tag(course, tmp_path, monkeypatch):
    """Colab installs coursekit from the tag: left where it was, it would bring yesterday's checks to today's labs."""
    monkeypatch.chdir(course.root)
    arguments = ["publish", str(tmp_path / "public")]
    said = CliRunner(env={"COLUMNS": "300"}).invoke(cli.app, arguments).output
    assert "git tag" not in said and "public init, add -A, commit, push" in said
    (tmp_path / "public" / ".git").mkdir()
    (course.root / "course.toml").write_text(TOML.replace('repository = ""', 'repository = "https://git.example/us"'))
    (course.lectures / "01_tiny.ipynb").rename(course.lectures / "02_new.ipynb")
    said = CliRunner(env={"COLUMNS": "300"}).invoke(cli.app, arguments).output
    assert "git tag -f v0.1.0, git push -f origin v0.1.0" in said and "public add -A, commit, push" in said


def test_the_published_configuration_and_package_work(course, tmp_path):
    """nbgrader reads the students' configuration; the package builds with nothing of the instructor."""
    target = tmp_path / "public"
    publish(course, target)
    from traitlets.config import PyFileConfigLoader

    config = PyFileConfigLoader("nbgrader_config.py", path=str(target)).load_config()
    assert config.Execute.skip_cells_with_tag == "," and "root" not in config.Exchange
    code = "from setuptools import find_packages; print(find_packages(include=['coursekit*']))"
    done = subprocess.run([sys.executable, "-c", code], cwd=target, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['coursekit']"


# -- GitHub Classroom ------------------------------------------------------------------------------------------------


def git(folder, *words: str) -> str:
    identity = ("-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    done = subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout


@pytest.mark.long
def test_what_is_published_can_be_pushed_cloned_and_installed_from_its_tag(tmp_path, monkeypatch):
    """A bare repository at a file:// address stands for the host: what Colab's cell names is installed from there."""
    bare, host = tmp_path / "students.git", "https://git.example/us"
    toml = TOML.replace('repository = ""', f'repository = "{host}"')
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", f"url.{bare.as_uri()}.insteadOf")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", host)
    course = released(tmp_path / "course", monkeypatch, toml)
    git(tmp_path, "init", "-q", "--bare", "-b", "main", str(bare))
    git(tmp_path, "clone", "-q", host, "mine")
    for text in ("# Lecture", "# Lecture, second edition"):
        write_notebook(
            course.lectures / "01_tiny.ipynb", nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(text)])
        )
        publish(course, tmp_path / "mine")
        git(tmp_path / "mine", "add", "-A")
        git(tmp_path / "mine", "commit", "-q", "-m", text)
        git(tmp_path / "mine", "tag", "-f", f"v{course.version}")
        git(tmp_path / "mine", "push", "-q", "origin", "HEAD:main")
        git(tmp_path / "mine", "push", "-q", "-f", "origin", f"v{course.version}")
    git(tmp_path, "clone", "-q", host, "theirs")
    assert names(tmp_path / "theirs") - {MARKER} >= set(student_files(course))
    assert "second edition" in (tmp_path / "theirs" / "lectures" / "01_tiny.ipynb").read_text()

    notebook = nbformat.read(tmp_path / "theirs" / "labs" / LAB / f"{LAB}.ipynb", as_version=4)
    (spec,) = re.findall(r'%pip install --quiet --no-deps "(.+)"', "\n".join(cell.source for cell in notebook.cells))
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--target"]
    subprocess.run([*command, str(tmp_path / "colab"), spec], check=True, capture_output=True, timeout=300)
    assert (tmp_path / "colab" / "coursekit" / "__init__.py").is_file()


IN_COLAB = "import types; sys.modules['google.colab'] = types.ModuleType('google.colab')"
WITHOUT_COURSEKIT = "sys.modules['coursekit'] = None"


def set_up(course, folder: Path, place: str) -> str:
    """What the set-up cell of the lab prints in IPython; what it installs goes into the folder t, with nothing else."""
    notebook = nbformat.read(course.release_notebook(LAB), as_version=4)
    cell = next(cell.source for cell in notebook.cells if "google.colab" in cell.source)
    here = "%pip install -q --no-deps --no-build-isolation --target t"
    (folder / "cell.ipy").write_text(f"import sys; {place}\n" + cell.replace("%pip install --quiet --no-deps", here))
    command = [sys.executable, "-m", "IPython", "--no-banner", "--colors=NoColor", "cell.ipy"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=True).stdout


@pytest.mark.long
def test_without_an_address_colab_installs_an_archive_that_is_uploaded(course, tmp_path):
    """Before the archive is there the set-up cell says what to do, then it installs."""
    archive = pack_coursekit(student_files(course))
    assert archive == pack_coursekit(student_files(course))
    assert "Upload coursekit.zip" in set_up(course, tmp_path, IN_COLAB) and not (tmp_path / "t").exists()
    (tmp_path / "coursekit.zip").write_bytes(archive)
    assert "Upload" not in set_up(course, tmp_path, IN_COLAB)
    assert (tmp_path / "t" / "coursekit" / "__init__.py").is_file()


@pytest.mark.long
def test_without_a_repository_colab_installs_the_archive_of_the_site(tmp_path, monkeypatch):
    (tmp_path / "site").mkdir()
    serve = partial(SimpleHTTPRequestHandler, directory=tmp_path / "site")
    with ThreadingHTTPServer(("127.0.0.1", 0), serve) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        toml = TOML.replace('repository = ""', f'repository = ""\nsite = "{address}"')
        course = released(tmp_path / "course", monkeypatch, toml)
        (tmp_path / "site" / "coursekit.zip").write_bytes(pack_coursekit(student_files(course)))
        set_up(course, tmp_path, IN_COLAB)
        server.shutdown()
    assert (tmp_path / "t" / "coursekit" / "__init__.py").is_file()
    typed = set_up(course, tmp_path, WITHOUT_COURSEKIT).splitlines()[-1]
    assert typed == f"%pip install {address}/coursekit.zip"


def test_outside_of_colab_the_set_up_cell_speaks_only_where_coursekit_is_missing(course, tmp_path):
    assert set_up(course, tmp_path, "") == ""
    told = set_up(course, tmp_path, WITHOUT_COURSEKIT).splitlines()
    assert "coursekit.zip, which comes with this course" in told[0] and told[1:] == ["%pip install ./coursekit.zip"]


@pytest.mark.parametrize("change", ["none", "copy", "work", "labs", "update"])
def test_the_workflow_checks_what_was_worked_on_and_nothing_else(tmp_path, monkeypatch, change):
    """The step's own text, run by bash in a student's copy; `python` stands for the check, and fails."""
    toml = TOML.replace('version = "0.1.0"', 'version = "0.1.0"\nclassroom = true')
    course = released(tmp_path / "course", monkeypatch, toml)
    target = tmp_path / "copy"
    publish(course, target)
    git(target, "init", "-q")
    git(target, "add", "-A")
    git(target, "commit", "-q", "-m", "handed out")
    own = target / "work" / LAB / f"{LAB}.ipynb"
    given = target / "labs" / LAB / f"{LAB}.ipynb"
    if change in ("copy", "work"):
        own.parent.mkdir(parents=True)
        own.write_text(given.read_text() + (" " if change == "work" else ""))
    if change == "labs":
        given.write_text(given.read_text() + " ")
    if change == "update":  # the instructor's, which reaches a copy that shares the repository's history
        add_point(course)
        publish(course, target)
    git(target, "add", "-A")
    git(target, "commit", "-q", "--allow-empty", "-m", "mine")
    workflow = yaml.safe_load((target / ".github" / "workflows" / "checks.yml").read_text())
    assert workflow["permissions"] == {"contents": "read"}
    step = workflow["jobs"]["checks"]["steps"][-1]["run"]
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "python").write_text('#!/bin/sh\necho "checked $*"\nexit 1\n')
    (programs / "python").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    done = subprocess.run(["bash", "-e", "-c", step], cwd=target, capture_output=True, text=True)
    checked = {"work": [own], "labs": [given]}.get(change, [])
    shown = [line.split()[-1] for line in done.stdout.splitlines() if line.startswith("checked")]
    assert shown == [str(path.relative_to(target)) for path in checked], done.stderr
    assert done.returncode == (1 if checked else 0)


def test_each_action_has_one_version_in_all_workflows(tmp_path, monkeypatch):
    course = released(
        tmp_path / "course", monkeypatch, TOML.replace("[distribution]", "[distribution]\nclassroom = true")
    )
    publish(course, tmp_path / "public")
    workflows = [
        *(ROOT / ".github" / "workflows").iterdir(),
        tmp_path / "public" / ".github" / "workflows" / "checks.yml",
    ]
    jobs = [job for path in workflows for job in yaml.safe_load(path.read_text())["jobs"].values()]
    used = {step["uses"] for job in jobs for step in job["steps"] if "uses" in step}
    assert len(used) == len({action.split("@")[0] for action in used}), used


def test_the_workflow_goes_when_the_switch_goes(tmp_path, monkeypatch):
    toml = TOML.replace("[distribution]", "[distribution]\nclassroom = true")
    course = released(tmp_path / "course", monkeypatch, toml)
    publish(course, tmp_path / "public")
    assert (tmp_path / "public" / ".github" / "workflows" / "checks.yml").is_file()
    (course.root / "course.toml").write_text(TOML)
    publish(load_course(course.root), tmp_path / "public")
    assert not (tmp_path / "public" / ".github").exists()
