"""The course's site, built once for a run of the tests; skipped where npm cannot give what it is made with."""

from __future__ import annotations

import fcntl
import os
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def need_mathjax(folder: Path) -> None:
    """Skip the test where MathJax is not here and cannot be fetched."""
    from autograder.course.settings import CourseError  # imports of what most tests do without
    from autograder.integrations.site.vendored import copy_mathjax

    try:
        copy_mathjax(ROOT / "site", folder / "static", in_the_browser=False)
    except CourseError as error:
        pytest.skip(str(error))
    shutil.rmtree(folder / "static")


@pytest.fixture(scope="session")
def site(tmp_path_factory) -> Path:
    """The folder of the built site, to be read only: tests that run in parallel share it."""
    from autograder.course.settings import load_course
    from autograder.integrations.site.build import build_site

    own = tmp_path_factory.mktemp("site")
    need_mathjax(own)
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    with (shared / "site.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (shared / "site").exists():
            build_site(load_course(ROOT), own / "html")
            (own / "html").rename(shared / "site")
    return shared / "site"
