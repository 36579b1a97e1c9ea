"""Writes the student repository, and finds what must not be in it."""

from __future__ import annotations

import ast
import io
import json
import re
import tomllib
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import nbformat

from autograder.course import Course, Lab
from autograder.grading.results import write_atomically
from autograder.releasing.release_notes import check_changes, student_changes
from autograder.releasing.released import parse_notebook

MARKER = ".course-publish.json"
PACKAGE = "transformers-coursekit"
_MARKS = ("BEGIN SOLUTION", "END SOLUTION", "HIDDEN TESTS")
_IMPORT = re.compile(r"^\s*(from|import)\s+(autograder|solutions)\b", re.MULTILINE)
# Lines that say nothing about an answer, however long they are.
_HARMLESS = re.compile(
    r"(from|import)\b.*|(def|class)\b.*|@.*|super\(\).*|self\.(\w+)\s*=\s*\3"
    r"|return \w+|return self\.\w+|(if|elif|for|while|with|except)\b.{,40}:|[\W\d]*|raise\b.*"
)
_LEAST_SOLUTION, _LEAST_ORACLE = 16, 40
_TEXT_SUFFIXES = {
    *("", ".cfg", ".css", ".csv", ".html", ".ini", ".md", ".py"),
    *(".rst", ".sh", ".toml", ".tsv", ".txt", ".yaml", ".yml"),
}
_LOCK = "requirements/lock.txt"
_SKIPPED_PARTS = {"__pycache__", ".ipynb_checkpoints", ".git", "real"}

Planned = Mapping[Path, bytes | None]  # files that are about to be written, or to go
_NOTHING: Planned = {}


class PublishRefused(ValueError):
    """The student repository was not written; `reasons` says why, one sentence each."""

    def __init__(self, reasons: Iterable[str]):
        self.reasons = tuple(reasons)
        super().__init__("\n".join(self.reasons))


@dataclass(frozen=True)
class PublishSummary:
    """Files of the student repository that are new or changed, those removed, and what students notice in labs."""

    written: tuple[str, ...]
    removed: tuple[str, ...]
    students: tuple[str, ...] = ()


def publish(course: Course, directory: Path) -> PublishSummary:
    """Write the student repository into `directory`: lectures, labs, coursekit, data, experiments, what installs them.

    The folder has to be new, empty, an empty git clone, or an earlier publication, in which files that this function
    did not write stay as they are. Raises PublishRefused when it is not, when a lab is not released, or when a file
    holds a line of a solution, an oracle or a hidden case; then nothing is written.
    """
    if problems := publication_problems(course, directory):
        raise PublishRefused(problems)
    directory = directory.expanduser().resolve()
    earlier = _earlier_files(directory)
    files = student_files(course)
    written = [
        name
        for name, content in files.items()
        if not (directory / name).is_file() or (directory / name).read_bytes() != content
    ]
    students = _student_changes(course, directory, files)
    # The list comes first: after a crash, the next publication still knows which files are its own.
    marker = {"course": course.course_id, "version": course.version, "files": sorted({*files, *earlier})}
    write_atomically(directory / MARKER, _json(marker))
    for name in written:
        write_atomically(directory / name, files[name])
    removed = [name for name in earlier if name not in files and (directory / name).is_file()]
    for name in removed:
        (directory / name).unlink()
        _remove_empty(directory / name, directory)
    write_atomically(directory / MARKER, _json(marker | {"files": sorted(files)}))
    return PublishSummary(tuple(sorted(written)), tuple(sorted(removed)), tuple(students))


def publication_problems(course: Course, directory: Path, planned: Planned = _NOTHING) -> list[str]:
    """Why the student repository may not be written into `directory`, one sentence each.

    Judged is the course as it will be when the `planned` files are written (path -> content, None for one that goes).
    """
    directory = directory.expanduser().resolve()
    files = student_files(course, planned)
    problems = [
        f'labs/{lab.name}: is not released; run "course release {lab.name}"'
        for lab in course.labs
        if f"labs/{lab.name}/{lab.name}.ipynb" not in files
    ]
    problems += find_leaks(files, course, planned)
    if directory == course.root or course.root.is_relative_to(directory):
        problems.append(f"{directory}: the course itself is in it; choose another folder")
    try:
        _earlier_files(directory)
    except PublishRefused as refusal:
        problems += refusal.reasons
    return problems


def _student_changes(course: Course, directory: Path, files: Mapping[str, bytes]) -> list[str]:
    """What is new in the labs for those who have what `directory` holds."""
    lines: list[str] = []
    for lab in (each.name for each in course.labs):
        path = f"labs/{lab}/{lab}.ipynb"
        old = {each.name: each.read_bytes() for each in _files(directory / "coursekit" / "reference", (f"{lab}.*",))}
        new = {Path(name).name: text for name, text in files.items() if name.startswith(f"coursekit/reference/{lab}.")}
        shipped = (directory / path).read_bytes() if (directory / path).is_file() else b""
        if shipped != files[path]:
            before = nbformat.reads(shipped.decode("utf-8"), as_version=4) if shipped else None
            lines += student_changes(lab, before, nbformat.reads(files[path].decode("utf-8"), as_version=4))
        lines += check_changes(lab, old, new)
    return lines


def student_files(course: Course, planned: Planned = _NOTHING) -> dict[str, bytes]:
    """Everything that students get, by path in their repository; `planned` files as they will be."""
    root = course.root
    files: dict[str, bytes] = {}
    for folder, patterns in (
        ("lectures", ("*.ipynb",)),
        ("coursekit", ("*",)),
        ("data", ("*",)),
        ("experiments", ("*.py",)),
    ):
        for path, content in _contents(root / folder, patterns, planned):
            files[str(path.relative_to(root))] = content
    for lab in course.labs:
        for path, content in _contents(course.releases / lab.name, ("*",), planned):
            files[str(path.relative_to(root))] = content
    for name in ("LICENSE", "LICENSE-CONTENT", _LOCK):
        if (root / name).is_file():
            files[name] = (root / name).read_bytes()
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    files["README.md"] = _readme(course, files).encode()
    files["pyproject.toml"] = _pyproject(course, project).encode()
    files["requirements.txt"] = _requirements(project).encode()
    files["environment.yml"] = _environment(course, _LOCK in files).encode()
    files["nbgrader_config.py"] = _student_config(course).encode()
    files[".gitignore"] = b".ipynb_checkpoints/\n.venv/\n__pycache__/\n*.egg-info/\nbuild/\ndata/real/\nwork/\n"
    return dict(sorted(files.items()))


def find_leaks(files: Mapping[str, bytes], course: Course, planned: Planned = _NOTHING) -> list[str]:
    """What students must not see in `files` (path -> content), one sentence for each place.

    Looked for are whole lines, without regard to white space and comment signs: lines of the solutions that neither a
    lecture nor the given code of a lab shows, lines of oracles and of the code that draws hidden cases; besides
    solution markers and imports of `autograder`. `planned` files of the course are taken as they will be.
    """
    secrets = secret_lines(course, planned)
    leaks = []
    for name, content in files.items():
        for where, text in _texts(name, content):
            leaks += [f'{where}: holds the marker "{mark}"' for mark in _MARKS if mark in text]
            if found := _IMPORT.search(text):
                leaks.append(f"{where}: imports {found[2]}, which students do not have")
            for line in text.splitlines():
                source = secrets.get(_normal(line))
                if source is not None:
                    leaks.append(f"{where}: holds a line of {source}: {line.strip()[:80]}")
    return list(dict.fromkeys(leaks))


def secret_lines(course: Course, planned: Planned = _NOTHING) -> dict[str, str]:
    """Normalised lines that give an answer away -> the file each is from."""
    public: set[str] = set()
    answers: dict[str, str] = {}
    for path, content in _contents(course.lectures, ("*.ipynb",), planned):
        for source, _ in _cells(path, content):
            public |= {_normal(line) for line in source.splitlines()}
    for lab in course.labs:
        for path, content in _contents(course.solutions / lab.name, (f"{lab.name}.ipynb",), planned):
            for source, is_code in _cells(path, content):
                inside, outside = _split_regions(source)
                told = [line for line in inside if _tells(line, _LEAST_SOLUTION)]
                answers |= {_normal(line): str(path.relative_to(course.root)) for line in told}
                # Given code is public. Text is not taken for public here: an answer spelt out in a task is a leak.
                if is_code:
                    public |= {_normal(line) for line in outside}
    hidden: dict[str, str] = {}
    for folder in ("oracles", "mistaken", "exercises"):
        for path in sorted((course.root / "autograder" / folder).rglob("*.py")):
            for line in _function_lines(path.read_text(encoding="utf-8")):
                if _tells(line, _LEAST_ORACLE):
                    hidden[_normal(line)] = str(path.relative_to(course.root))
    return {line: source for line, source in (hidden | answers).items() if line not in public}


def _tells(line: str, least: int) -> bool:
    return len(_normal(line)) >= least and _HARMLESS.fullmatch(line.strip()) is None


def _normal(line: str) -> str:
    """A line without white space, without comment, quote and list signs around it, and without a comment at its end."""
    return re.sub(r"\s+", "", re.sub(r"\s+#\s.*$", "", line.strip())).strip("#>`\"',;")


def _split_regions(source: str) -> tuple[list[str], list[str]]:
    inside: list[str] = []
    outside: list[str] = []
    target = outside
    for line in source.splitlines():
        if "BEGIN SOLUTION" in line:
            target = inside
        elif "END SOLUTION" in line:
            target = outside
        else:
            target.append(line)
    return inside, outside


def _cells(path: Path, content: bytes) -> Iterator[tuple[str, bool]]:
    for cell in parse_notebook(path, content).cells:
        yield cell.source, cell.cell_type == "code"


def _function_lines(source: str) -> Iterator[str]:
    """Lines inside functions, without docstrings: the formulas and the draws, but no sentences for students."""
    lines = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.FunctionDef | ast.Lambda):
            continue
        body = node.body if isinstance(node.body, list) else [node.body]
        for statement in body:
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                continue
            yield from lines[statement.lineno - 1 : statement.end_lineno]


def _texts(name: str, content: bytes) -> Iterator[tuple[str, str]]:
    """The texts in a file, each with where it is: lines of text, strings of JSON and notebooks, members of archives."""
    if name.endswith((".npz", ".zip")):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for member in archive.namelist():
                yield from _texts(f"{name}/{member}", archive.read(member))
    elif name.endswith((".ipynb", ".json")):
        for text in _strings(json.loads(content)):
            yield name, text
    elif Path(name).suffix in _TEXT_SUFFIXES:
        yield name, content.decode("utf-8", "replace")


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        if value and all(isinstance(item, str) for item in value):
            yield "".join(value) if any(item.endswith("\n") for item in value) else "\n".join(value)
        else:
            for item in value:
                yield from _strings(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if not str(key).startswith("image/"):
                yield from _strings(item)


def _files(folder: Path, patterns: Iterable[str]) -> Iterator[Path]:
    for pattern in patterns:
        for path in sorted(folder.rglob(pattern)):
            inside = path.relative_to(folder)
            if path.is_file() and not path.is_symlink() and not _SKIPPED_PARTS & set(inside.parts):
                yield path


def _contents(folder: Path, patterns: Iterable[str], planned: Planned) -> Iterator[tuple[Path, bytes]]:
    """The files of a folder with what is in them once the `planned` ones are written."""
    patterns = tuple(patterns)
    for path in _files(folder, patterns):
        if path not in planned:
            yield path, path.read_bytes()
    for path, content in planned.items():
        if content is not None and path.is_relative_to(folder) and any(map(path.match, patterns)):
            yield path, content


def _earlier_files(directory: Path) -> list[str]:
    """The files of an earlier publication; none for a new folder. Raises PublishRefused for anybody else's folder."""
    if directory.exists() and not directory.is_dir():
        raise PublishRefused([f"{directory}: is a file; name a folder"])
    marker = directory / MARKER
    if marker.is_file():
        try:
            names = json.loads(marker.read_text(encoding="utf-8"))["files"]
        except (ValueError, KeyError, TypeError) as error:
            raise PublishRefused([f"{marker}: cannot be read ({error}); publish into a new folder"]) from error
        if not all((directory / name).resolve().is_relative_to(directory) for name in names):
            raise PublishRefused([f"{marker}: names files outside the folder; publish into a new folder"])
        return names
    if directory.is_dir() and any(path.name != ".git" for path in directory.iterdir()):
        raise PublishRefused([f"{directory}: is not empty and was not published before; name a new or empty folder"])
    return []


def _remove_empty(path: Path, top: Path) -> None:
    for folder in path.parents:
        if folder == top or any(folder.iterdir()):
            return
        folder.rmdir()


def _json(content: dict) -> bytes:
    return (json.dumps(content, indent=1, sort_keys=True) + "\n").encode()


def _readme(course: Course, files: Mapping[str, bytes]) -> str:
    locked = _LOCK in files
    # Editable, so that a "git pull" brings the checks along with the labs.
    install = (f"pip install -r {_LOCK if locked else 'requirements.txt'}", "pip install --no-deps --editable .")
    lectures = sorted(name for name in files if name.startswith("lectures/") and name.endswith(".ipynb"))
    first = f"work/{course.labs[0].name}/{course.labs[0].name}.ipynb"
    lines = [
        f"# {course.title}",
        "",
        *([course.term, ""] if course.term else []),
        "Lectures to read and run, and labs to work on. Each lab checks your work while you write it.",
        "",
        "## Start",
        "",
        "You need Python 3.11, 3.12 or 3.13. On Windows, use WSL 2: TensorFlow Text has no Windows version.",
        "",
        "```bash",
        "python3 -m venv .venv && source .venv/bin/activate",
        *install,
        "cp -r labs work",
        "jupyter lab",
        "```",
        "",
        "Do the labs in `work/`, your own copy. When the course changes, `git pull` brings the new lectures and labs",
        "and leaves your copy alone: take a lab that has changed from `labs/` again. From the second time on, you need",
        "only `source .venv/bin/activate` and `jupyter lab`.",
        "",
        "With conda, instead of the first three lines:",
        "",
        "```bash",
        "conda env create -f environment.yml && conda activate transformers-course",
        *install[1:],
        "```",
        "",
        "## Lectures",
        "",
        *(f"- [{_heading(name, files[name])}]({name}){_colab(course, name)}" for name in lectures),
        "",
        "## Labs",
        "",
        *(_lab_line(course, lab) for lab in course.labs),
        "",
        "## How a lab works",
        "",
        '- Write your code where the cell says `raise NotImplementedError("Write your code here")`.',
        '- Run the cell below it, `check("…")`. It says what was tried, what came out, and what to look at next.',
        "- The marks come from further cases that you do not see. Code that does what the task says passes them.",
        "- Keep the names of functions, classes and attributes. You may add cells of your own anywhere.",
        "- Before you hand in: restart the kernel, run all cells, save. JupyterLab's *Validate* button runs every",
        "  check once more. Then make the one file to hand in; you are told what is unfinished in it:",
        "",
        "  ```bash",
        f"  python -m coursekit pack {first}",
        "  ```",
        "",
        "  From Colab, download the notebook and hand in that.",
        "",
        "## The data",
        "",
        "Small samples are in `data/`, so everything runs offline. `data/README.md` names the full data sets.",
        "`experiments/` holds the long runs whose results the lectures show: each says how to repeat it.",
    ]
    return "\n".join(lines) + "\n"


def _heading(name: str, content: bytes) -> str:
    """The title of a lecture: its first heading, else its file name."""
    for source, is_code in _cells(Path(name), content):
        if not is_code and (found := re.search(r"^# +(.+)$", source, re.MULTILINE)):
            return found[1].strip()
    return Path(name).stem


def _lab_line(course: Course, lab: Lab) -> str:
    path = f"labs/{lab.name}/{lab.name}.ipynb"
    due = f", due {lab.due.day} {lab.due:%B %Y, %H:%M} ({lab.due.tzname()})" if lab.due else ""
    return f"- [{lab.title}]({path}){_colab(course, path)}{due}"


def _colab(course: Course, path: str) -> str:
    target = course.colab_url(path)
    return f" ([Colab]({target}))" if target else ""


def _pyproject(course: Course, project: Mapping) -> str:
    dependencies = "".join(f"    {json.dumps(each)},\n" for each in project["dependencies"])
    return (
        "[build-system]\n"
        'requires = ["setuptools>=77,<82"]\n'
        'build-backend = "setuptools.build_meta"\n'
        "\n"
        "[project]\n"
        f'name = "{PACKAGE}"\n'
        f'version = "{course.version}"\n'
        f"description = {json.dumps('Checks, plots and data for: ' + course.title, ensure_ascii=False)}\n"
        f"requires-python = {json.dumps(project['requires-python'])}\n"
        f"dependencies = [\n{dependencies}]\n"
        "\n"
        "[tool.setuptools.packages.find]\n"
        'include = ["coursekit*"]\n'
        "\n"
        "[tool.setuptools.package-data]\n"
        'coursekit = ["**/*.json", "**/*.npz", "data/bert/**"]\n'
    )


def _requirements(project: Mapping) -> str:
    extra = project.get("optional-dependencies", {}).get("instructor", [])
    tools = [each for each in extra if re.match(r"(jupyterlab|nbgrader)\b", each)]
    return (
        "\n".join(
            ["# The course's package with what it needs, JupyterLab, and nbgrader's Validate button.", ".", *tools]
        )
        + "\n"
    )


def _environment(course: Course, locked: bool) -> str:
    requirements = _LOCK if locked else "requirements.txt"
    return (
        "name: transformers-course\n"
        "channels:\n"
        "  - conda-forge\n"
        "  - nodefaults\n"
        "dependencies:\n"
        "  - python >=3.11,<3.14\n"
        "  - pip >=24\n"
        "  - pip:\n"
        f"      - -r {requirements}\n"
    )


def _student_config(course: Course) -> str:
    shared = (Path(__file__).parent / "validation.py").read_text(encoding="utf-8")
    settings = (
        "c = get_config()  # noqa: F821",
        f'c.CourseDirectory.course_id = "{course.course_id}"',
        *([f"c.Exchange.root = {course.exchange!r}"] if course.exchange else []),
        "configure_validation(c)",
    )
    return "\n".join([shared, "", *settings, ""])
