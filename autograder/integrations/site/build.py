"""Builds the site with Sphinx and its search, looks for answers in what came out, and only then puts it in place."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from autograder.course.settings import Course, CourseError
from autograder.integrations.site.formulas import find_node
from autograder.integrations.site.sources import lay_out
from autograder.integrations.site.vendored import copy_mathjax, write_vega
from autograder.release.leaks import find_leaks, find_secret_lines

MARKER = ".course-site"
# Pages that explain the harness quote its marks and imports; a line of an answer is a leak there as anywhere.
_ABOUT_THE_HARNESS = ("docs/", "reference/", "_static/", "CHANGELOG.html", "CONTRIBUTING.html", "SECURITY.html")
_TITLED_SECTION = re.compile(r'(<section id="([^"]+)">\s*(?:<span[^>]*></span>\s*)*)<(h[1-6])>')
# What a page counts for in the search: a student's question is answered in one guide; a lecture explains, a lab asks.
_WEIGHTS = (
    ("docs/students.html", "10"),
    ("lectures/evidence/", "0.5"),
    ("lectures/0", "6"),
    ("lectures/1", "6"),
    ("labs/", "0.5"),
)
_NOT_INDEXED = ("search.html", "404.html", "genindex.html", "py-modindex.html")
# Signs that link to headings; drawn formulas, since each stands beside its drawing as TeX; code of notebooks and what
# it prints, folded or not.
_LEFT_OUT = "a.headerlink, mjx-container, .cell pre, .cell summary"


class SiteRefused(ValueError):
    """The site was not written; `reasons` says why, one sentence each."""

    def __init__(self, reasons: list[str]):
        self.reasons = tuple(reasons)
        super().__init__("\n".join(reasons))


@dataclass(frozen=True)
class SiteSummary:
    """How many pages and bytes the site has."""

    pages: int
    bytes: int


def build_site(course: Course, directory: Path) -> SiteSummary:
    """Build the site into `directory`, which is replaced; no notebook is run.

    Raises CourseError when something is missing or the folder is somebody else's, SiteRefused when Sphinx warns or when
    a page holds a line of a solution, an oracle or a hidden case; then `directory` stays as it was.
    """
    directory = directory.expanduser().resolve()
    configuration = course.root / "site"
    if not (configuration / "conf.py").is_file():
        raise CourseError(f"{configuration}: the site's configuration is missing; copy the folder from the course")
    if not _may_be_replaced(directory):
        raise CourseError(f"{directory}: holds files that are not an earlier site; name a new or empty folder")
    directory.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".site-", dir=directory.parent) as name:
        work = Path(name)
        sources = lay_out(course, work / "sources")
        copy_mathjax(configuration, sources.extra / "_static", in_the_browser=find_node() is None)
        write_vega(sources.extra / "_static" / "vega" / "vega.js")
        _run_sphinx(course, configuration, sources.pages, sources.extra, work)
        built = work / "html"
        index_sections(built)
        (built / "_static" / "webpack-macros.html").unlink(missing_ok=True)  # the theme's template, no page
        (built / "searchindex.js").unlink(missing_ok=True)  # no page loads it: search reads the index above
        (built / MARKER).write_text(f"{course.course_id} {course.version}\n", encoding="utf-8")
        if leaks := _find_leaks(course, built):
            raise SiteRefused(leaks)
        summary = _summarise(built)
        shutil.rmtree(directory, ignore_errors=True)
        built.rename(directory)
    return summary


def _may_be_replaced(directory: Path) -> bool:
    if directory.is_dir():
        return (directory / MARKER).is_file() or not any(directory.iterdir())
    return not directory.exists()


def _run_sphinx(course: Course, configuration: Path, pages: Path, extra: Path, work: Path) -> None:
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-W", "--keep-going", "-q", "-j", str(os.cpu_count() or 1)]
    settings = {
        "project": course.title,
        "release": course.version,
        "html_title": course.title,
        "html_extra_path": extra,
        "html_baseurl": f"{course.site}/" if course.site else "",
        "ogp_site_url": f"{course.site}/" if course.site else "/",
        "notfound_urls_prefix": f"{urlsplit(course.site).path}/",  # 404.html is shown at any address
    }
    for key, value in settings.items():
        command += ["-D", f"{key}={value}"]
    command += ["-c", str(configuration), "-d", str(work / "doctrees"), str(pages), str(work / "html")]
    done = subprocess.run(command, cwd=work, capture_output=True, text=True)
    if done.returncode:
        said = re.sub(rf"{re.escape(str(pages))}/?", "", done.stderr)
        lines = [line for line in said.splitlines() if line.strip()]
        # First what Sphinx objects to: its libraries log more lines than anybody reads.
        reasons = [line for line in lines if re.search(r": (WARNING|ERROR|CRITICAL): ", line)]
        raise SiteRefused(list(dict.fromkeys([*reasons, *lines[-20:]])) or ["Sphinx failed silently"])


def _find_leaks(course: Course, built: Path) -> list[str]:
    """What readers must not see, in every file of the site, one sentence for each place."""
    files = {
        path.relative_to(built).as_posix(): path.read_bytes() for path in sorted(built.rglob("*")) if path.is_file()
    }
    strict = {name: content for name, content in files.items() if not _is_about_the_harness(name, content)}
    found = find_leaks(strict, course) + find_secret_lines(files, course)
    return list(dict.fromkeys(found))


def _is_about_the_harness(name: str, content: bytes) -> bool:
    """Whether a file is a page for instructors, which may name markers, or what the search keeps of such a page."""
    if name.endswith(".pf_fragment"):
        address = re.search(rb'"url":"/?([^"]*)"', gzip.decompress(content))
        name = address[1].decode() if address else name
    return name.startswith(_ABOUT_THE_HARNESS)


def _summarise(built: Path) -> SiteSummary:
    files = [path for path in built.rglob("*") if path.is_file()]
    return SiteSummary(sum(path.suffix == ".html" for path in files), sum(path.stat().st_size for path in files))


def index_sections(site: Path) -> None:
    """Add the index of all pages of `site` as `pagefind/`; its hits lead to the headings that they stand under.

    Raises CourseError when the index cannot be made.
    """
    for path in site.rglob("*.html"):
        text = path.read_text("utf-8")
        marked = _TITLED_SECTION.sub(r'\1<\3 id="\2-title">', text)
        name = path.relative_to(site).as_posix()
        if name not in _NOT_INDEXED:
            weight = next((weight for start, weight in _WEIGHTS if name.startswith(start)), "1")
            body = f'<article class="bd-article" data-pagefind-body data-pagefind-weight="{weight}"'
            marked = marked.replace('<article class="bd-article"', body, 1)
        if marked != text:
            path.write_text(marked, encoding="utf-8")
    command = [sys.executable, "-m", "pagefind", "--site", str(site), "--exclude-selectors", _LEFT_OUT]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise CourseError(
            f"the search index of the site could not be made: {(done.stderr or done.stdout).strip()[-500:]}"
        )
