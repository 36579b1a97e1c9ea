"""A course of one lab with one submission in the working folder, and commands typed there, in this process."""

from __future__ import annotations

import io
import re
import shutil
import sys
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path

import pytest
from tiny_course import released

from autograder.cli import app as cli
from autograder.cli import console
from autograder.sandbox import SandboxUnavailable


def type_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture, *words: object) -> tuple[int, str]:
    """Type `course` and these words; the answer is the exit code, and what was said."""
    monkeypatch.setattr(sys, "argv", ["course", *map(str, words)])
    code = 0
    try:
        cli.main()
    except SystemExit as end:
        code = int(end.code or 0)
    said = capsys.readouterr()
    return code, said.out + said.err


@pytest.fixture
def course(tmp_path, monkeypatch) -> Path:
    """A course of one lab with one submission, in the working folder. No sandbox starts for it."""
    root = released(tmp_path / "course", monkeypatch).root
    shutil.copytree(root / "labs", root / "handed-in" / "ada")
    monkeypatch.setattr("autograder.grade.lab_grader.declared_exercises", lambda course, lab: {})
    monkeypatch.chdir(root)
    monkeypatch.delenv("COURSE_ROOT", raising=False)

    @contextmanager
    def no_sandbox(*_, **__):
        warm: Future = Future()
        warm.set_exception(SandboxUnavailable("no sandbox in this test"))
        yield warm

    monkeypatch.setattr("autograder.sandbox.warm.start_sandbox", no_sandbox)
    return root


@pytest.fixture
def run(monkeypatch, capsys):
    """Type a command; the answer is its exit code and what it said, as one line."""

    def typed(*words: str) -> tuple[int, str]:
        said = io.StringIO()
        for each in (console.out, console.err):  # the same objects: a command's module that is loaded now keeps them
            monkeypatch.setattr(each, "_file", said)
            monkeypatch.setattr(each, "_width", 10_000)
        code, told = type_command(monkeypatch, capsys, *words)
        return code, " ".join(re.sub("[│╭╰╮╯─]", " ", said.getvalue() + told).split())

    return typed
