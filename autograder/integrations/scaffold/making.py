"""Writes a new exercise, lab or course from templates; what exists already is refused, and nothing is overwritten."""

from __future__ import annotations

import functools
import keyword
import re
from pathlib import Path

import jupytext
from jinja2 import Environment, PackageLoader, StrictUndefined
from nbformat import NotebookNode
from nbformat.v4 import new_notebook

import coursekit
from autograder.course.labs import cells_by_id, grade_id, is_test
from autograder.course.settings import FILE_NAME, Course, CourseError, load_course
from autograder.course.text import write_atomically
from autograder.course.text_pairs import read_pair, write_pair, write_text
from autograder.declare.declaration import FOLDER, lab_folder
from autograder.release.course_cells import KERNELSPEC, tags

EXAMPLE_LAB, EXAMPLE = "01_first_lab", "centre"


def new_exercise(course: Course, lab: str, name: str, *, own: bool = False, layer: bool = False) -> list[Path]:
    """Write the files of a new exercise, each place to fill in marked TODO; return the paths that were written.

    In the repository of this package an exercise has a formula and named mistakes; in any other course, and with
    `own`, its references come from the solution. With `layer` it is a layer, which has a formula in every course; the
    notebook's cell of imports then imports Keras.

    Raises:
        CourseError: the name cannot be used, or is taken; a layer is to have its references from the solution.
    """
    lab = course.lab(lab).name
    refuse_name(name)
    if own and layer:
        raise CourseError("a layer's references come from a formula: leave out --own, or --layer")
    path = course.solution_notebook(lab)
    notebook = read_pair(path)
    if any(cell_id in cells_by_id(notebook) for cell_id in (name, f"{name}-code", f"text-{name}")):
        raise CourseError(f"{path}: has cells called {name} already; choose another name")
    own = own or not _is_repository(course)
    template = "layer_exercise.py.j2" if layer else "own_exercise.py.j2" if own else "exercise.py.j2"
    written = _write(_plan_exercise(course, lab, name, template))
    if layer:
        _import_keras(notebook)
    added = make_cells("cells.py.j2", name=name, number=_find_next_number(notebook), layer=layer)
    return [*written, *_add_cells(path, notebook, added)]


def _import_keras(notebook: NotebookNode) -> None:
    """Let the cell of imports import Keras, which the stub of a layer needs."""
    imported = any(re.search(r"^import keras$", cell.source, re.MULTILINE) for cell in notebook.cells)
    if not imported and (imports := cells_by_id(notebook).get("imports")):
        imports.source = re.sub(r"^(?=import |from )", "import keras\n", imports.source, count=1, flags=re.MULTILINE)


def _find_next_number(notebook: NotebookNode) -> int:
    """The number after the highest one of a section: several exercises may share a section."""
    headings = (re.findall(r"^## (\d+) · ", cell.source, re.MULTILINE) for cell in notebook.cells)
    return max((int(number) for found in headings for number in found), default=0) + 1


def new_lab(course: Course, lab: str, title: str = "", exercise: str = "first_exercise") -> list[Path]:
    """Write a new lab with one exercise to start from; return the paths that were written.

    Raises:
        CourseError: a name cannot be used, or is taken.
    """
    refuse_lab(course, lab)
    refuse_name(exercise)
    number, topic = lab.split("_", 1)
    title = title or topic.replace("_", " ").capitalize()
    repository = _is_repository(course)
    planned: dict[Path, str] = {}
    if repository:
        tests = course.root / "tests"
        planned = {
            course.root / FOLDER / topic / "__init__.py": f'"""Lab {number}: the exercises of {title}."""\n',
            course.root / "coursekit" / "probes" / f"{topic}.py": (
                f'"""Probes of lab {number}, {title}."""\n\n'
                "from coursekit.probes.driving import Probe\n\nPROBES: dict[str, Probe] = {}\n"
            ),
            course.root / "corpus" / topic / "__init__.py": (
                f'"""Lab {number}: solutions as different students write them."""\n'
            ),
            tests / "labs" / f"test_{lab}.py": fill("lab_test.py.j2", topic=topic, lab=lab),
        }
    written = _write(planned)
    values = {"lab": lab, "number": number, "title": title, "repository": repository}
    written += write_pair(course.solution_notebook(lab), make_notebook(make_cells("lab.py.j2", **values)))
    return [list_lab(course, lab, title), *written, *new_exercise(load_course(course.root), lab, exercise)]


def list_lab(course: Course, lab: str, title: str) -> Path:
    """Write a lab into course.toml; return its path."""
    settings = course.root / FILE_NAME
    before = settings.read_text(encoding="utf-8").rstrip("\n")
    write_atomically(settings, (before + "\n" + _spell_lab(lab, title)).encode())
    return settings


def _spell_lab(lab: str, title: str) -> str:
    escaped = title.replace("\\", "\\\\").replace('"', '\\"')
    return f'\n[[labs]]\nname = "{lab}"\ntitle = "{escaped}"\n'


def new_course(folder: Path) -> list[Path]:
    """Write a course with one lab and one exercise that works; return the paths that were written.

    Raises:
        CourseError: there is something in the folder already.
    """
    folder = folder.expanduser().resolve()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise CourseError(f"{folder}: is there already and is not empty; name a new folder")
    title = folder.name.replace("_", " ").replace("-", " ").strip().capitalize() or "Course"
    id = re.sub(r"[^A-Za-z0-9_.-]+", "-", folder.name).strip("-._") or "course"
    number, topic = EXAMPLE_LAB.split("_", 1)
    lab_title = topic.replace("_", " ").capitalize()
    lab = _spell_lab(EXAMPLE_LAB, lab_title)
    written = _write(
        {
            folder / FILE_NAME: fill("course.toml.j2", title=title, id=id, version=coursekit.__version__) + lab,
            folder / "nbgrader_config.py": fill("nbgrader_config.py.j2"),
            folder / "README.md": fill("course_readme.md.j2", title=title, lab=EXAMPLE_LAB),
            folder / ".gitignore": fill("gitignore.j2"),
            folder / "jupytext.toml": fill("jupytext.toml.j2"),
            folder / FOLDER / topic / f"{EXAMPLE}.py": fill("example_exercise.py.j2", name=EXAMPLE),
        }
    )
    values = {"lab": EXAMPLE_LAB, "number": number, "title": lab_title, "repository": False}
    made = [*make_cells("lab.py.j2", **values), *make_cells("example_cells.py.j2", name=EXAMPLE, number=1)]
    path = folder / "solutions" / EXAMPLE_LAB / f"{EXAMPLE_LAB}.ipynb"
    return [*written, *write_pair(path, make_notebook(made))]


def _is_repository(course: Course) -> bool:
    """Whether the course is the one that this package's repository holds, with probes and tests."""
    return (course.root / "autograder" / "declare").is_dir() and (course.root / "coursekit" / "probes").is_dir()


def refuse_name(name: str) -> None:
    """Raise CourseError where no exercise can have this name."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) or keyword.iskeyword(name):
        raise CourseError(f'"{name}" cannot be the name of a function; take letters, digits and _')


def refuse_lab(course: Course, lab: str) -> None:
    """Raise CourseError where no new lab can have this name."""
    if not re.fullmatch(r"\d\d[a-z]?_[a-z][a-z0-9_]*", lab):
        raise CourseError(f'"{lab}" cannot be the name of a lab; take two digits and small letters, as in 10_averages')
    topic = lab.split("_", 1)[1]
    for path in (course.solutions / lab, course.root / FOLDER / topic):
        if path.exists():
            raise CourseError(f"{path}: is there already; choose another name")
    if any(declared.name == lab for declared in course.labs):
        raise CourseError(f"{course.root / FILE_NAME}: lists {lab} already; choose another name")


def _plan_exercise(course: Course, lab: str, name: str, template: str) -> dict[Path, str]:
    number, _, topic = lab.partition("_")
    values = {"number": number, "topic": topic, "name": name}
    planned = {lab_folder(course, lab) / f"{name}.py": fill(template, **values)}
    if template != "own_exercise.py.j2" and _is_repository(course):
        planned[course.root / "corpus" / topic / f"{name}.py"] = fill("variants.py.j2", **values)
    return planned


def _write(planned: dict[Path, str]) -> list[Path]:
    for path in planned:
        if path.exists():
            raise CourseError(f"{path}: is there already; choose another name")
    for path, content in planned.items():
        write_atomically(path, content.encode())
    return list(planned)


def _add_cells(path: Path, notebook: NotebookNode, added: list[NotebookNode]) -> list[Path]:
    """Put cells after the last exercise and its demonstrations, or at the end of a lab that has none."""
    tests = [index for index, cell in enumerate(notebook.cells) if is_test(cell)]
    place = tests[-1] + 1 if tests else len(notebook.cells)
    while place < len(notebook.cells) and "demonstration" in tags(notebook.cells[place]):
        place += 1
    notebook.cells[place:place] = added
    return write_pair(path, notebook)


def make_notebook(made: list[NotebookNode]) -> NotebookNode:
    """A notebook of these cells for Python's kernel."""
    notebook = new_notebook(cells=made, metadata={"kernelspec": dict(KERNELSPEC), "language_info": {"name": "python"}})
    write_text(notebook)  # a template that is no notebook fails here, before anything is written
    return notebook


def fill(template: str, **values: object) -> str:
    """A template of ``autograder/integrations/scaffold/templates`` with its values filled in."""
    return _environment().get_template(template).render(**values)


def make_cells(template: str, **values: object) -> list[NotebookNode]:
    """The cells that a template in the percent format makes, their ids the same every time."""
    made = jupytext.reads(fill(template, **values), fmt="py:percent").cells
    for cell in made:
        cell["id"] = grade_id(cell)
    return made


@functools.cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("autograder.integrations.scaffold"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
