"""Runs every lecture and lab as Colab would: with its versions, each notebook alone in an empty folder.

    make colab-check [TENSORFLOW=2.20] [ONLY="lab 02"]

The kernel lives in an environment of its own, made by uv from requirements/colab-VERSION.txt. It knows nothing of this
checkout: the first cell of each notebook installs coursekit, as it stands, from the students' repository that `course
publish` writes, at the version's tag. Lectures have to run, and to print what they have stored in the cells that say
NBVAL_CHECK_OUTPUT. Labs have to pass every check with the solution's answers, and none without them, where only what
waits for an answer may raise. In the end nothing may have been installed but coursekit. Everything is in
build/colab-VERSION, the executed notebooks too.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import nbformat
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode
from traitlets import Unicode
from traitlets.config import Config

from autograder.course.labs import find_defined_names, grade_id, is_solution, is_test
from autograder.course.settings import Course, load_course
from autograder.release.course_cells import write_course_cells
from autograder.release.publish import PACKAGE, publish

ROOT = Path(__file__).resolve().parents[1]
PYTHON = "3.13"  # of Colab
ADDRESS = "https://github.com/owner/students"  # where course.toml names no repository; git is sent to the local one
# Colab's kernel has imported google.colab before the first cell runs, and that is how the set-up cell knows Colab.
KERNEL = (
    "import sys, types; "
    "sys.modules['google.colab'] = types.ModuleType('google.colab'); "
    "from ipykernel.kernelapp import launch_new_instance; launch_new_instance()"
)
MARKED = "NBVAL_CHECK_OUTPUT"
CELL_SECONDS = 1800


class ColabKernel(AsyncKernelManager):
    """A kernel of the environment `python` belongs to, for nbclient."""

    python = Unicode().tag(config=True)

    def format_kernel_cmd(self, extra_arguments: list[str] | None = None) -> list[str]:
        """Called by jupyter_client."""
        return [self.python, "-c", KERNEL, "-f", self.connection_file]


@dataclasses.dataclass(frozen=True)
class Colab:
    """What a notebook runs with: Python and the environment's variables; and where its executed copy is kept."""

    python: Path
    env: dict[str, str]
    executed: Path


def make_environment(folder: Path, pins: Path) -> Path:
    """Make the environment if its pins are new; return its Python."""
    python, stamp = folder / "bin" / "python", folder / "pins.txt"
    if not stamp.is_file() or stamp.read_text() != pins.read_text():
        print(f"making {folder.relative_to(ROOT)} from {pins.relative_to(ROOT)}", flush=True)
        uv = shutil.which("uv") or sys.exit('uv is not here; "make setup" installs it')
        if subprocess.run([uv, "venv", "--quiet", "--clear", "--seed", "--python", PYTHON, folder]).returncode:
            sys.exit(f"Python {PYTHON} is neither on PATH nor could uv fetch it")
        subprocess.run([uv, "pip", "install", "--quiet", "--python", python, "--requirement", pins], check=True)
        stamp.write_text(pins.read_text())
    return python


def publish_students(course: Course, folder: Path) -> None:
    """Publish the students' repository into a new clone of nothing, with the tag that Colab installs."""
    shutil.rmtree(folder, ignore_errors=True)
    publish(course, folder)
    for path in [*folder.glob("lectures/*.ipynb"), *folder.glob("labs/*/*.ipynb")]:
        notebook = nbformat.read(path, as_version=4)
        write_course_cells(notebook, course, str(path.relative_to(folder)))
        nbformat.write(notebook, path)
    git = ["git", "-C", str(folder), "-c", "user.name=course", "-c", "user.email=course@localhost"]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "Release"], ["tag", f"v{course.version}"]):
        subprocess.run([*git, *command], check=True)


def surroundings(python: Path, course: Course, students: Path) -> dict[str, str]:
    """The kernel's environment variables: nothing of this checkout, and git finds the published repository locally."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("COURSE_", "PYTHON", "VIRTUAL_ENV"))
    }
    git = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_VALUE_0": course.repository}
    git["GIT_CONFIG_KEY_0"] = f"url.{students.as_uri()}.insteadOf"
    quiet = {"PYDEVD_DISABLE_FILE_VALIDATION": "1"}  # a warning of the debugger, which nobody uses here
    return kept | git | quiet | {"PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}"}


def run(notebook: NotebookNode, colab: Colab, *, allow_errors: bool = False) -> NotebookNode:
    """Execute a copy of a notebook, alone in an empty folder, and return it. Raises CellExecutionError."""
    with tempfile.TemporaryDirectory(prefix="content-") as folder:
        copy = nbformat.from_dict(notebook)
        client = NotebookClient(
            copy,
            kernel_manager_class=ColabKernel,
            config=Config({"ColabKernel": {"python": str(colab.python)}}),
            timeout=CELL_SECONDS,
            allow_errors=allow_errors,
            resources={"metadata": {"path": folder}},
        )
        try:
            client.execute(env=colab.env, stderr=subprocess.DEVNULL)  # logs: the notebook keeps what it shows
        finally:
            nbformat.write(copy, colab.executed)
        return copy


def printed(cell: NotebookNode) -> str:
    """What a cell prints and shows as text."""
    shown = [each.get("text") or each.get("data", {}).get("text/plain", "") + "\n" for each in cell.outputs]
    return "".join(shown).strip()


def lecture_problems(notebook: NotebookNode, colab: Colab) -> tuple[list[str], str]:
    """Problems of a lecture, and what went well in words."""
    done = run(notebook, colab)
    marked = [
        (old, new)
        for old, new in zip(notebook.cells, done.cells, strict=True)
        if MARKED in old.source.partition("\n")[0]
    ]
    problems = [
        f"cell {new.execution_count} prints\n{printed(new)}\nand has stored\n{printed(old)}"
        for old, new in marked
        if printed(old) != printed(new)
    ]
    warned = sum(each.get("name") == "stderr" for cell in done.cells for each in cell.get("outputs", ()))
    fine = f"runs, {len(marked)} marked outputs agree"
    return problems, fine + (f", {warned} warnings" if warned else "")


def answered(notebook: NotebookNode, solution: NotebookNode) -> NotebookNode:
    """A released lab with the solution's answers in it."""
    answers = {
        grade_id(cell): re.sub(r"^\s*### (?:BEGIN|END) SOLUTION\n?", "", cell.source, flags=re.MULTILINE)
        for cell in solution.cells
        if cell.cell_type == "code" and is_solution(cell)
    }
    notebook = nbformat.from_dict(notebook)
    for cell in notebook.cells:
        cell.source = answers.get(grade_id(cell), cell.source)
    return notebook


def lab_problems(notebook: NotebookNode, colab: Colab, *, finished: bool) -> tuple[list[str], str]:
    """Problems of a lab whose answers are all there, or all missing, and what went well in words."""
    done = run(notebook, colab, allow_errors=not finished)
    problems: list[str] = []
    missing: set[str] = set()  # what cells that raised would have defined
    for cell in done.cells:
        if is_test(cell):
            passed = any(line.startswith("✓ ") for line in printed(cell).splitlines())
            if passed is not finished:
                problems.append(f"{cell.source} {'passes' if passed else 'does not pass'}:\n{printed(cell)}")
        elif cell.cell_type == "code":
            for error in (each for each in cell.outputs if each.output_type == "error"):
                unknown = re.match(r"name '(\w+)' is not defined", error.evalue)
                if error.ename != "NotImplementedError" and (unknown is None or unknown[1] not in missing):
                    start = cell.source[:50].replace("\n", " ")
                    problems.append(f"the cell that begins “{start}” raises {error.ename}: {error.evalue}")
                missing |= find_defined_names(cell.source)
    checks = sum(map(is_test, done.cells))
    return problems, f"all {checks} checks pass" if finished else f"untouched: none of {checks} checks passes"


def installed(python: Path) -> set[str]:
    """The environment's packages with their versions, without coursekit."""
    command = [python, "-m", "pip", "freeze", "--all", "--disable-pip-version-check"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return {line for line in lines if not line.startswith(PACKAGE)}


def steps(course: Course, students: Path) -> Iterator[tuple[str, NotebookNode, bool | None]]:
    """The notebooks to run by name; `finished` is None for a lecture."""
    for path in sorted(students.glob("lectures/*.ipynb")):
        yield f"lecture {path.stem}", nbformat.read(path, as_version=4), None
    for path in sorted(students.glob("labs/*/*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        solution = nbformat.read(course.solution_notebook(path.stem), as_version=4)
        yield f"lab {path.stem}", answered(notebook, solution), True
        yield f"lab {path.stem}", notebook, False


def children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tensorflow", metavar="VERSION", default="2.20", help="which requirements/colab-VERSION.txt")
    parser.add_argument("--only", metavar="PATTERN", default="", help='only these, such as "lab 02|lecture"')
    asked = parser.parse_args()
    pins = ROOT / "requirements" / f"colab-{asked.tensorflow}.txt"
    if not pins.is_file():
        there = ", ".join(sorted(path.stem.removeprefix("colab-") for path in pins.parent.glob("colab-*.txt")))
        parser.error(f"there are no pins for TensorFlow {asked.tensorflow}, only for {there}")

    course = load_course(ROOT)
    course = dataclasses.replace(course, repository=course.repository or ADDRESS, colab_install="")
    build = ROOT / "build" / f"colab-{asked.tensorflow}"
    python, students = make_environment(build / "environment", pins), build / "students"
    publish_students(course, students)
    env = surroundings(python, course, students)
    before = installed(python)
    failed = 0
    for name, notebook, finished in steps(course, students):
        if not re.search(asked.only, name):
            continue
        print(f"{name:32}", end="", flush=True)
        kept = build / f"{name}{' untouched' if finished is False else ''}.ipynb"
        colab = Colab(python, env, kept)
        started, used = time.monotonic(), children_seconds()
        try:
            if finished is None:
                problems, fine = lecture_problems(notebook, colab)
            else:
                problems, fine = lab_problems(notebook, colab, finished=finished)
        except CellExecutionError as error:
            problems, fine = [str(error)], ""
        wall, cpu = time.monotonic() - started, children_seconds() - used
        print(f"{'FAILS' if problems else fine:46}{wall:6.0f} s,{cpu:6.0f} s CPU", flush=True)
        for problem in problems:
            print("    " + problem.replace("\n", "\n    "), flush=True)
        failed += bool(problems)
    if changed := before ^ installed(python):
        print(f"the notebooks changed what is installed: {', '.join(sorted(changed))}")
    return 1 if failed or changed else 0


if __name__ == "__main__":
    sys.exit(main())
