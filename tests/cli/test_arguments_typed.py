"""Arguments that are no text are refused in a sentence, whatever the command."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tiny_course import LAB, released
from typed_commands import type_command

from autograder.cli import app as cli
from autograder.cli.app import find_no_text


@pytest.fixture
def course(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return released(tmp_path / "course", monkeypatch).root


@pytest.mark.parametrize(
    "words",
    [
        ("mark", LAB, b"ev\xff"),
        ("mark", LAB, "ada", "double", "2", "--because", "right", b"--by=ev\xff"),
        ("export", "csv", LAB, "--out", b"grades\xff"),
        ("explain", LAB, "\x1b]0;PWNED\x07"),
    ],
)
def test_what_is_no_text_is_refused_in_a_sentence(course, words, monkeypatch, capsys):
    monkeypatch.chdir(course)
    code, said = type_command(monkeypatch, capsys, *map(os.fsdecode, words))
    assert code == 2 and "Traceback" not in said and "\x1b]0" not in said
    assert "has bytes that are no UTF-8, or control characters" in " ".join(said.split())


def test_a_name_that_is_there_and_cannot_be_written_is_told(course, monkeypatch, capsys):
    monkeypatch.chdir(course)
    odd = os.fsdecode(b"ev\xff")
    Path(odd).mkdir()
    monkeypatch.setattr(cli, "app", odd.encode)
    code, said = type_command(monkeypatch, capsys, "mark", LAB, odd)
    assert code == 2 and "“ev_” has characters that cannot be written" in said


def test_text_in_any_language_is_taken_and_so_is_what_is_there(course, monkeypatch):
    because = "شما می\u200cتوانید\n\tبهتر 👩\u200d💻 Zoë e\u0301"
    assert find_no_text(["mark", LAB, "--because", because, "--out", "a b"]) is None
    monkeypatch.chdir(course)
    odd = os.fsdecode(b"inbox-\xff.ipynb")
    assert find_no_text([odd]) == odd
    Path(odd).touch()
    assert find_no_text([odd]) is None
