"""The `course` command: the table of all commands, each imported when it is typed, and how errors are told."""

from __future__ import annotations

import ast
import logging
import os
import signal
import sys
import threading
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperGroup
from typer.main import get_group

from autograder.cli.console import err, stop

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

COMMANDS = {
    "Students": {
        "check": "coursekit.terminal:check",
        "pack": "coursekit.terminal:pack",
    },
    "Every week": {
        "release": "autograder.cli.releasing:release",
        "grade": "autograder.cli.grading:grade",
        "watch": "autograder.cli.grading:watch",
        "mark": "autograder.cli.mark:mark",
        "explain": "autograder.cli.explain:explain",
        "report": "autograder.cli.reporting:report",
        "export": "autograder.cli.export:app",
        "similar": "autograder.cli.reporting:similar",
        "remove": "autograder.cli.remove:app",
    },
    "A course": {
        "new": "autograder.cli.new:app",
        "import": "autograder.cli.new:import_",
        "author": "autograder.cli.author:app",
        "publish": "autograder.cli.releasing:publish",
        "site": "autograder.cli.releasing:site",
        "data": "autograder.cli.data_sets:data",
        "doctor": "autograder.cli.doctor:doctor",
    },
}
RENAMED = {
    "answers": "`course answers` is `course mark LAB --answers` now",
    "mistake": "`course mistake` is `course author mistake` now",
    "mutants": "`course mutants` is `course author mutants` now",
    "roster": "`course roster` is gone: JupyterHub makes the accounts (docs/teaching/class-server.md)",
}
WIDTH = 100
UNUSED = "rfc3987_syntax"  # jsonschema imports it to check addresses, and it makes a grammar for that in two seconds
NO_THREAD = "can't start new thread"  # what Python says where the machine's table of processes is full
SECONDS_UNTIL_AGAIN = 0.05
LINES = "\n\t"  # a reason may have several lines


class _Commands(Mapping[str, Any]):
    """The commands by name. The modules of one are imported when it is asked for: most commands need few of them."""

    def __init__(self) -> None:
        self._places = {name: place for places in COMMANDS.values() for name, place in places.items()}

    def __getitem__(self, name: str) -> Any:
        module, _, attribute = self._places[name].partition(":")
        function_or_group, parent = getattr(import_module(module), attribute), typer.Typer(rich_markup_mode="markdown")
        if isinstance(function_or_group, typer.Typer):
            parent.add_typer(function_or_group, name=name)
        else:
            parent.command(name)(function_or_group)
        return get_group(parent).commands[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def says(self, name: str) -> str:
        """The first sentence of a command's help: that of its function, or of its group's callback. Nothing runs."""
        module, _, attribute = self._places[name].partition(":")
        spec = find_spec(module)
        assert spec is not None and spec.origin is not None
        function = name if attribute == "app" else attribute
        for node in ast.parse(Path(spec.origin).read_bytes()).body:
            if isinstance(node, ast.FunctionDef) and node.name == function:
                first = (ast.get_docstring(node) or "").partition("\n\n")[0]
                return f"{' '.join(first.split()).partition('. ')[0].rstrip('.')}."
        return ""


class Overview(TyperGroup):
    """The group of all commands. Its first page has each on a line, on one screen, students' first."""

    def __init__(self, **attributes: Any):
        super().__init__(**attributes)
        self.commands: Any = _Commands()

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, args or ["--help"])

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.commands)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        formatter.write("Usage: course COMMAND …        course COMMAND --help says what a command does\n\n")
        for heading, places in COMMANDS.items():
            for name in places:
                first = f"{heading:<12}{name:<9}"
                formatter.write(f"{first}{shorten(self.commands.says(name), WIDTH - len(first), placeholder=' …')}\n")
                heading = ""
        formatter.write("\nThe settings are in course.toml, in this folder or above it.\n")

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] in RENAMED:
            stop(RENAMED[args[0]], 2)
        return super().resolve_command(ctx, args)


app = typer.Typer(name="course", cls=Overview, add_completion=False, rich_markup_mode="markdown")


@app.callback()
def course() -> None:
    """Release labs, grade submissions in a sandbox, explain every mark."""


def main() -> None:
    """Run the command. An error that a person can correct becomes a sentence, without a traceback."""
    logging.getLogger("alembic").setLevel(logging.WARNING)
    sys.modules.setdefault(UNUSED, None)  # type: ignore[arg-type]  # not to be found: no notebook has such addresses
    send_again_what_is_lost()
    if (word := find_no_text(sys.argv[1:])) is not None:
        stop(f"“{word}” has bytes that are no UTF-8, or control characters: type it without them", 2)
    try:
        app()
    except UnicodeEncodeError as error:  # the name of a file or folder that is there
        stop(f"“{error.object}” has characters that cannot be written: rename what is called so", 2)
    except ValueError as error:
        from autograder.course.settings import CourseError  # slow to import, and help does without it

        if not isinstance(error, CourseError):
            raise
        stop(str(error), 2)
    except OSError as error:  # somebody's folder, file or disk; a fault of a submission never comes this far
        where = error.filename2 or error.filename
        stop(f"{where}: {error.strerror}: correct this, or name another path" if where else str(error), 2)
    except RuntimeError as error:
        if NO_THREAD not in str(error):
            raise
        err.show_cursor()  # a display that got no thread has hidden it
        stop(
            "this machine lets no further thread or process start: end other programs, or raise the limit (`ulimit -u`;"
            " in a container its pids limit). What has a verdict is recorded: the next run continues.",
            3,
        )


def find_no_text(words: Iterable[str]) -> str | None:
    """Return the first argument with bytes that are no UTF-8, or control characters, such as escape sequences.

    What is typed ends in a gradebook, a page and a terminal, so it has to be text. What exists under such a name is
    taken: students choose the names that a pattern like `inbox/*` stands for.
    """
    return next((word for word in words if _acts(word) and not os.path.lexists(word)), None)


def _acts(word: str) -> bool:
    return any(unicodedata.category(character) in ("Cc", "Cs") and character not in LINES for character in word)


def send_again_what_is_lost() -> None:
    """Send Ctrl-C once more where Python loses it, so that it ends a command wherever it arrives.

    Python raises `KeyboardInterrupt` between any two steps of the main thread. In the callback of a weak reference, or
    in `__del__`, nobody can catch it: Python prints it and goes on, and so would the command.
    """
    report = sys.unraisablehook

    def hook(unraisable: UnraisableHookArgs) -> None:
        if not issubclass(unraisable.exc_type, KeyboardInterrupt):
            report(unraisable)
            return
        main = threading.main_thread().ident
        if main is not None:
            # Not at once: this hook runs where the interrupt was lost.
            threading.Timer(SECONDS_UNTIL_AGAIN, signal.pthread_kill, (main, signal.SIGINT)).start()

    sys.unraisablehook = hook
