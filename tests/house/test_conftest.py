"""Where the walls cannot be built, the tests say so, or fail when they are told to."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ATTACK = "import pytest\n\n@pytest.mark.sandbox\ndef test_attack():\n    pass\n"


@pytest.mark.parametrize(
    ("required", "status", "options"),
    [
        ("", 0, []),
        pytest.param("0", 0, ["-n", "1"], marks=pytest.mark.long),
        pytest.param("1", 1, [], marks=pytest.mark.long),
        pytest.param("1", 1, ["-n", "1"], marks=pytest.mark.long),
    ],
)
def test_a_run_without_security_tests_says_so_in_its_last_line_or_fails(tmp_path, required, status, options):
    (tmp_path / "test_attack.py").write_text(ATTACK)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = sandbox: as in pyproject.toml\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "conftest", "-p", "no:cacheprovider", "-p", "no:nbval", *options],
        cwd=tmp_path,
        env={
            **os.environ,
            "PATH": str(tmp_path),  # bubblewrap is not found
            "PYTEST_ADDOPTS": "",
            "PYTHONPATH": str(Path(__file__).parents[1]),
            "REQUIRE_SANDBOX": required,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stdout + done.stderr
    if status:
        assert "no sandbox here: bubblewrap: bubblewrap is not installed" in done.stdout
    else:
        assert done.stdout.splitlines()[-1].startswith("NO SECURITY TEST RAN: 1 tests of the sandbox were skipped")


@pytest.mark.sandbox
def test_a_test_that_is_skipped_for_another_reason_is_no_missing_wall(tmp_path):
    (tmp_path / "test_attack.py").write_text(ATTACK.replace("pass", "pytest.skip('only root can try it')"))
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = sandbox: as in pyproject.toml\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "conftest", "-p", "no:cacheprovider", "-p", "no:nbval"],
        cwd=tmp_path,
        env={**os.environ, "PYTEST_ADDOPTS": "", "PYTHONPATH": str(Path(__file__).parents[1])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0 and "1 skipped" in done.stdout
    assert "NO SECURITY TEST RAN" not in done.stdout
