"""What is released is what the solutions and declarations say: `course release --check`, as a person types it.

It is one test, in a file of its own, so that one process does this while another does the rest.
"""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_course_release_check_finds_nothing_to_do():
    command = [str(Path(sys.executable).with_name("course")), "release", "--check"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode == 0, f"course release --check\n{ran.stdout}{ran.stderr}"
