"""The moving picture of README.md says what the check of lab 02 and the model of lecture 10 say now, and is light."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image
from programs import program

ROOT = Path(__file__).resolve().parents[2]
draw_readme = program("tools/draw_readme.py")


@pytest.mark.slow
def test_the_picture_says_what_is_said_now():
    shown = draw_readme.read_record()
    assert shown == draw_readme.record(), "the picture is old: run python tools/draw_readme.py"
    text = (ROOT / "README.md").read_text("utf-8")
    named = next(line for line in shown["failed"].splitlines() if "→" in line).strip(" →")
    assert f'"{named}"' in text and f'"{shown["answer"]}"' in text and draw_readme.QUESTION in text


def test_the_picture_is_light_and_stops_on_its_last_frame():
    assert draw_readme.PICTURE.stat().st_size <= 400_000
    with Image.open(draw_readme.PICTURE) as picture:
        assert picture.n_frames > 10 and picture.info["loop"] == 3
        assert picture.width == 2 * draw_readme.WIDTH
