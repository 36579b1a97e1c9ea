"""The course's site, built once for a session of tests; skipped where npm cannot give what it is made with."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from autograder.course import CourseError, load_course
from autograder.site.build import build_site
from autograder.site.vendored import copy_mathjax

ROOT = Path(__file__).resolve().parents[1]


def need_mathjax(folder: Path) -> None:
    """Skip the test where MathJax is not here and cannot be fetched."""
    try:
        copy_mathjax(ROOT / "site", folder / "mathjax")
    except CourseError as error:
        pytest.skip(str(error))
    shutil.rmtree(folder / "mathjax")


@pytest.fixture(scope="session")
def site(tmp_path_factory) -> Path:
    """The folder of the built site."""
    folder = tmp_path_factory.mktemp("site")
    need_mathjax(folder)
    build_site(load_course(ROOT), folder / "html")
    return folder / "html"
