"""The folder of a course in an exchange where every account may make folders."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from autograder.integrations.hub.folders import _reserve

STRANGER = 54_321
pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="only root gives folders to other accounts")


def _folder(path: Path) -> None:
    path.mkdir()
    (path / "kept").touch()


MADE = {
    "a link": lambda path: path.symlink_to("/etc"),
    "a file": lambda path: path.touch(),
    "a folder": _folder,
}


@pytest.mark.parametrize("kind", MADE)
def test_what_somebody_made_there_first_is_put_aside_and_the_hub_starts(tmp_path, kind):
    ours, modes = tmp_path / "next-term", os.stat("/etc").st_mode
    MADE[kind](ours)
    os.chown(ours, STRANGER, STRANGER, follow_symlinks=False)
    _reserve(ours, 1000)
    assert ours.is_dir() and not ours.is_symlink() and os.listdir(ours) == [] and ours.lstat().st_uid == 0
    (aside,) = (entry for entry in tmp_path.iterdir() if entry != ours)
    assert aside.name.startswith(f".next-term.made-by-{STRANGER}.") and aside.lstat().st_uid == 0
    assert os.stat("/etc").st_mode == modes


def test_the_courses_own_folder_stays(tmp_path):
    for owner in (0, 1000):
        ours = tmp_path / str(owner)
        _folder(ours)
        os.chown(ours, owner, owner)
        _reserve(ours, 1000)
        assert os.listdir(ours) == ["kept"]
