"""The picture of a submission's way names what is in the code, and says what the code says."""

from __future__ import annotations

import html
import pkgutil
import re
import textwrap
from pathlib import Path

import pytest
from programs import program

ROOT = Path(__file__).resolve().parents[2]
draw_submission = program("tools/draw_submission.py")

NAMES = [*(name for name, _ in draw_submission.TRUSTED), *draw_submission.SANDBOXED]


@pytest.mark.parametrize("name", NAMES)
def test_every_box_is_in_the_code_and_the_picture_says_its_first_sentence(name):
    assert callable(pkgutil.resolve_name(name))
    picture = draw_submission.PICTURE.read_text("utf-8")
    drawn = {html.unescape(text) for text in re.findall(r"<text[^>]*>([^<]*)</text>", picture)}
    shown = {name.replace(":", "."), *textwrap.wrap(draw_submission.sentence(name), draw_submission.COLUMNS)}
    assert shown <= drawn, "the picture is old: run python tools/draw_submission.py"


def test_the_manual_shows_it():
    assert "images/submission.svg" in (ROOT / "docs" / "maintainers.md").read_text("utf-8")


def test_rules_are_looked_at_before_the_code_runs():
    assert NAMES.index("coursekit.check.rules:find_violations") < NAMES.index(draw_submission.ASKS)
