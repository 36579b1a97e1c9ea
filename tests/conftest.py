"""Shared set-up of the tests."""

import os
import re
import sys
from functools import cache
from pathlib import Path
from unittest.mock import Mock

import pytest
from hypothesis import settings

# jsonschema, which reads notebooks' schema, takes seconds to make a checker of addresses out of it, and does without.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("MPLBACKEND", "Agg")
TESTS = Path(__file__).parent
sys.path[:0] = [str(TESTS), str(TESTS.parent)]  # helpers lie beside this file, the corpus in the root
pytest.register_assert_rewrite("lab_matrix")

import long_runs  # noqa: E402
from site_building import site as site  # noqa: E402  a fixture

# A busy machine is no defect. `make test-long` asks for ten times as many examples.
EXAMPLES = int(os.environ.get("HYPOTHESIS_EXAMPLES", "50"))
settings.register_profile("course", deadline=None, max_examples=EXAMPLES)
settings.load_profile("course")

REQUIRED = os.environ.get("REQUIRE_SANDBOX", "0") not in ("", "0")

NO_SANDBOX = "no sandbox here"


@cache
def fallen_walls() -> str:
    """What keeps this machine from grading other people's code; empty where nothing does."""
    from autograder.sandbox import check_walls

    return "; ".join(f"{wall.name}: {wall.why}" for wall in check_walls() if wall.required and not wall.stands)


@pytest.fixture
def students_kernel(tmp_path, monkeypatch):
    """Where a student works: in a kernel, in a folder of her own, with nothing that says otherwise."""
    (tmp_path / "work" / "lab").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "work" / "lab")
    monkeypatch.setattr("IPython.get_ipython", Mock())
    from coursekit.beside import RAISING

    for name in RAISING:
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


def pytest_addoption(parser):
    parser.addoption("--resume", action="store_true", help="leave out what passed before in this state of the files")


def pytest_configure(config):
    long_runs.configure(config)


ALL_LONG = re.compile(r"^pytestmark = (?:\[[^\]]*)?pytest\.mark\.(?:long|exhaustive)\b", re.MULTILINE)


def pytest_ignore_collect(collection_path, config):
    """A run without long tests does not import files that hold nothing else: that would be half of what it imports."""
    leaves_out = config.getoption("markexpr") == "not long and not exhaustive"
    if leaves_out and collection_path.suffix == ".py" and ALL_LONG.search(collection_path.read_text("utf-8")):
        return True
    return None


def pytest_collection_modifyitems(items):
    """Put files with slow tests first: otherwise one of them is left for the end, and one worker for it."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Skip, or with REQUIRE_SANDBOX=1 fail, a test that needs the walls where they cannot be built."""
    if item.get_closest_marker("sandbox") and (why := fallen_walls()):
        (pytest.fail if REQUIRED else pytest.skip)(f"{NO_SANDBOX}: {why}")


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config):
    """Say in the very last line that the security of grading was not tested."""
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    if terminal is None or hasattr(config, "workerinput"):
        return
    skipped = sum(NO_SANDBOX in str(report.longrepr) for report in terminal.stats.get("skipped", ()))
    if skipped:
        terminal.write_line(
            f"NO SECURITY TEST RAN: {skipped} tests of the sandbox were skipped, see `course doctor`. "
            "REQUIRE_SANDBOX=1 makes that a failure.",
            red=True,
            bold=True,
        )
