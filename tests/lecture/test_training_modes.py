"""What the lectures say of other hardware: their training runs unchanged in mixed precision and on several devices."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from training_modes import TRAIN

PROGRAM = Path(__file__).with_name("training_modes.py")


@pytest.mark.long
@pytest.mark.parametrize("lecture", TRAIN)
def test_a_lecture_trains_in_mixed_precision_and_on_two_devices(lecture):
    env = {name: value for name, value in os.environ.items() if not name.startswith("COURSE_")}
    done = subprocess.run(
        [sys.executable, PROGRAM, lecture], cwd=PROGRAM.parents[2], env=env, capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    assert "two devices: trained" in done.stdout and "outputs are float32" in done.stdout
