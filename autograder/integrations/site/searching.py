"""Search by section: an index of the built pages that a browser reads in small pieces, without a server (Pagefind)."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from autograder.course.settings import CourseError

_TITLED_SECTION = re.compile(r'(<section id="([^"]+)">\s*(?:<span[^>]*></span>\s*)*)<(h[1-6])>')
_FIRST = "docs/students.html"  # where a student's question is answered, before what is said to instructors
_NOT_INDEXED = ("search.html", "404.html", "genindex.html", "py-modindex.html")
# Signs that link to headings; drawn formulas, since each stands beside its drawing as TeX; folded drawing code.
_LEFT_OUT = "a.headerlink, mjx-container, details.above-input"


def index_sections(site: Path) -> None:
    """Add the index of all pages of `site` as `pagefind/`; its hits lead to the headings that they stand under.

    Raises CourseError when the index cannot be made.
    """
    for path in site.rglob("*.html"):
        text = path.read_text("utf-8")
        marked = _TITLED_SECTION.sub(r'\1<\3 id="\2-title">', text)
        name = path.relative_to(site).as_posix()
        if name not in _NOT_INDEXED:
            weight = ' data-pagefind-weight="10"' if name == _FIRST else ""
            body = f'<article class="bd-article" data-pagefind-body{weight}'
            marked = marked.replace('<article class="bd-article"', body, 1)
        if marked != text:
            path.write_text(marked, encoding="utf-8")
    command = [sys.executable, "-m", "pagefind", "--site", str(site), "--exclude-selectors", _LEFT_OUT]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise CourseError(
            f"the search index of the site could not be made: {(done.stderr or done.stdout).strip()[-500:]}"
        )
