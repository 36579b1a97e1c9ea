"""Arguments that are no text are refused in a sentence, whatever the command."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tiny_course import LAB, released

from autograder.cli import app as cli
from autograder.cli.app import find_no_text


@pytest.fixture
def course(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return released(tmp_path / "course", monkeypatch).root


def typed(course: Path, *words: str | bytes) -> subprocess.CompletedProcess:
    call = [sys.executable, "-P", "-m", "autograder.cli", *words]
    return subprocess.run(call, cwd=course, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize(
    "words",
    [
        ("mark", LAB, b"ev\xff"),
        ("mark", LAB, "ada", "double", "2", "--because", "right", b"--by=ev\xff"),
        ("export", "csv", LAB, "--out", b"grades\xff"),
        ("explain", LAB, "\x1b]0;PWNED\x07"),
    ],
)
def test_what_is_no_text_is_refused_in_a_sentence(course, words):
    done = typed(course, *words)
    assert done.returncode == 2 and "Traceback" not in done.stderr and "\x1b]0" not in done.stderr
    assert "has bytes that are no UTF-8, or control characters" in " ".join(done.stderr.split())


def test_a_name_that_is_there_and_cannot_be_written_is_told(course, monkeypatch, capsys):
    monkeypatch.chdir(course)
    odd = os.fsdecode(b"ev\xff")
    Path(odd).mkdir()
    monkeypatch.setattr(cli, "app", odd.encode)
    monkeypatch.setattr(sys, "argv", ["course", "mark", LAB, odd])
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 2 and "“ev_” has characters that cannot be written" in capsys.readouterr().err


def test_text_in_any_language_is_taken_and_so_is_what_is_there(course, monkeypatch):
    because = "شما می\u200cتوانید\n\tبهتر 👩\u200d💻 Zoë e\u0301"
    assert find_no_text(["mark", LAB, "--because", because, "--out", "a b"]) is None
    monkeypatch.chdir(course)
    odd = os.fsdecode(b"inbox-\xff.ipynb")
    assert find_no_text([odd]) == odd
    Path(odd).touch()
    assert find_no_text([odd]) is None
