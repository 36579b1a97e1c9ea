"""Lays out what Sphinx reads: one folder in which every page of the site lies where the repository has it."""

from __future__ import annotations

import json
import posixpath
import re
import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import nbformat
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from autograder.course.settings import Course, CourseError
from autograder.integrations.site.mistakes_here import MistakesHere
from autograder.integrations.site.notebooks import make_page, read_subtitle, read_title
from autograder.integrations.site.start import render_writer
from autograder.release.course_cells import ARCHIVE, setup_source
from autograder.release.publish import pack_coursekit, student_files

# Files of the repository that are pages, as the menu has them: what a first week does not need stands last.
DOCS = ("docs/course.md", "docs/students.md", "docs/instructors.md", "docs/running.md")
TEACHING = tuple(
    f"docs/teaching/{name}.md"
    for name in (
        *("every-week", "answers-in-words", "a-term", "changing-the-course", "own-course", "ways-to-hand-in"),
        *("integrity", "accessibility", "marks-and-speed", "class-server", "containers", "cluster"),
        "tried-on-public-code",
    )
)
MORE = (
    *("CONTRIBUTING.md", "docs/maintainers.md", "docs/exercises.md", "docs/lecture-pages.md"),
    *("data/README.md", "SECURITY.md", "CHANGELOG.md"),
)
HERE = "HERE"  # stands for the address of the page from which a reader downloads a notebook
_ANCHORED = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)#\s]+\.ipynb)#([^)\s]+)\)")
_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)#\s]+)(#[^)\s]*)?\)")


@dataclass(frozen=True)
class Entry:
    """One notebook in the site's lists: its page, title, sentence below the title, and the page of its lab."""

    page: str
    title: str
    subtitle: str
    lab: str = ""

    @property
    def number(self) -> str:
        """What stands in front of the title: "2" of "2 · Self-attention"."""
        return self.title.partition(" · ")[0]

    @property
    def name(self) -> str:
        return self.title.partition(" · ")[2] or self.title


@dataclass
class Sources:
    """Where things are laid out: `pages` for Sphinx to read, `extra` for files that it copies as they are."""

    pages: Path
    extra: Path
    buttons: dict[str, dict[str, str]] = field(default_factory=dict)  # page -> what it offers beside the text


def lay_out(course: Course, folder: Path) -> Sources:
    """Write the sources of the site into `folder`, which is emptied. Raises CourseError where a part is missing."""
    shutil.rmtree(folder, ignore_errors=True)
    sources = Sources(folder / "pages", folder / "extra")
    sources.pages.mkdir(parents=True)
    sources.extra.mkdir(parents=True)
    (sources.extra / ARCHIVE).write_bytes(pack_coursekit(student_files(course)))
    mistakes = MistakesHere(course)
    labs = [_add_notebook(course, path, sources, mistakes=mistakes) for path in _find_released(course)]
    of_number = {Path(lab.page).name.partition("_")[0]: lab.page for lab in labs}
    lectures = []
    for path in sorted(course.lectures.glob("*.ipynb")):
        number = re.match(r"\d*", path.name)
        entry = _add_notebook(course, path, sources, of_number.get(number[0] if number else "", ""), mistakes)
        lectures.append(entry)
    evidence = [_add_notebook(course, path, sources) for path in sorted((course.lectures / "evidence").glob("*.ipynb"))]
    if not lectures:
        raise CourseError(f"{course.lectures}: there is no lecture to show")
    _add_documents(course, sources)
    templates = Environment(
        loader=FileSystemLoader(course.root / "site"), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    listed: dict[str, Any] = {"lectures": lectures, "evidence": evidence, "labs": labs}
    listed |= {
        "docs": _choose_existing(course, DOCS),
        "teaching": _choose_existing(course, TEACHING),
        "more": _choose_existing(course, MORE),
        "mistakes": mistakes.html("index"),
        "writer": render_writer(course.root / "site"),
    }
    for name, script in mistakes.scripts().items():
        _write(sources.extra / "_static" / "mistakes" / name, script)
    for path in sorted((course.root / "site").rglob("*.md")):
        name = path.relative_to(course.root / "site").as_posix()
        if name.startswith(("node_modules/", "_")) or (name == "lectures/evidence/index.md" and not evidence):
            continue
        text = templates.get_template(name).render(course=course, **listed)
        _write(sources.pages / name, text)
    _write(sources.pages / "buttons.json", json.dumps(sources.buttons, indent=1))
    return sources


def _find_released(course: Course) -> list[Path]:
    paths = [course.release_notebook(lab.name) for lab in course.labs]
    for path in paths:
        if not path.is_file():
            raise CourseError(f'{path}: is not released; run "course release {path.stem}"')
    return paths


def _add_notebook(
    course: Course, path: Path, sources: Sources, lab: str = "", mistakes: MistakesHere | None = None
) -> Entry:
    """Add the page of a notebook, its pictures, and the notebook itself for those who want to run it."""
    place = path.relative_to(course.root)
    notebook = nbformat.read(path, as_version=4)
    name = f"evidence-{path.stem}" if path.parent != course.lectures and path.parent.name == "evidence" else path.stem
    page = make_page(notebook, name)
    _link_anchors(page.notebook, path)
    if mistakes is not None:
        mistakes.add(page.notebook, place.with_suffix("").as_posix())
    _write(sources.pages / place, nbformat.writes(page.notebook))
    for name, picture in page.pictures.items():
        target = sources.extra / place.parent / "figures" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(picture)
    (sources.extra / place.parent).mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, sources.extra / place)
    docname = place.with_suffix("").as_posix()
    address = place.as_posix()
    without_address = not (course.pip_spec or course.site)  # with one, the first cell names it
    sources.buttons[docname] = {
        "notebook": path.name,
        "archive": ARCHIVE if without_address else "",
        "setup": setup_source(replace(course, site=HERE)) if without_address else "",  # course.js writes it
        "colab": course.colab_url(address),
        "jupyterlab": course.jupyterlab_url(address),
        "subtitle": read_subtitle(notebook),
        "picture": next(
            (f"{place.parent.as_posix()}/figures/{name}" for name in page.pictures if name.endswith("webp")), ""
        ),
    }
    return Entry(docname, read_title(notebook), read_subtitle(notebook), lab)


def _link_anchors(notebook: nbformat.NotebookNode, path: Path) -> None:
    """Make HTML of links to ids that another notebook sets by hand: Sphinx knows the ids of headings only."""

    def link(found: re.Match[str]) -> str:
        label, target, anchor = found.groups()
        other = path.parent / target
        if not other.is_file() or f'<a id=\\"{anchor}\\"></a>' not in other.read_text("utf-8"):
            return found[0]
        return f'<a href="{target.removesuffix(".ipynb")}.html#{anchor}">{label}</a>'

    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = _ANCHORED.sub(link, cell.source)


def _choose_existing(course: Course, names: tuple[str, ...]) -> list[str]:
    return [name.removesuffix(".md") for name in names if (course.root / name).is_file()]


def _add_documents(course: Course, sources: Sources) -> None:
    for name in (*DOCS, *TEACHING, *MORE):
        if (course.root / name).is_file():
            text = (course.root / name).read_text("utf-8")
            _write(sources.pages / name, _drop_dead_links(text, name, course, sources))
    for path in sorted((course.root / "docs" / "images").glob("*")):
        target = sources.pages / "docs" / "images" / path.name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)


def _drop_dead_links(text: str, name: str, course: Course, sources: Sources) -> str:
    """Links to files of the repository that the site does not show become their text; README.md is the start page."""

    def replaced(found: re.Match[str]) -> str:
        label, target = found[1], found[2]
        if re.match(r"\w+:", target):
            return found[0]
        place = posixpath.normpath(posixpath.join(posixpath.dirname(name), target))
        if place in (*DOCS, *TEACHING, *MORE) or (sources.pages / place).is_file():
            return found[0]
        if place == "README.md":
            return f"[{label}]({posixpath.relpath('index.md', posixpath.dirname(name) or '.')})"
        return label if "`" in label else f"`{label}`" if "/" in label or "." in label else label

    return _LINK.sub(replaced, text)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
