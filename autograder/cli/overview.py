"""The first page of `course`: every command on a line, on one screen; and what commands of earlier releases are now."""

from __future__ import annotations

from textwrap import shorten
from typing import Any

from typer.core import TyperGroup

from autograder.course.settings import CourseError

WIDTH = 100
COMMANDS = {
    "Students": ("check", "pack"),
    "Every week": ("release", "grade", "watch", "mark", "explain", "report", "export", "similar", "remove"),
    "A course": ("new", "import", "author", "publish", "site", "data", "doctor"),
}
RENAMED = {
    "answers": "`course answers` is `course mark LAB --answers` now",
    "mistake": "`course mistake` is `course author mistake` now",
    "mutants": "`course mutants` is `course author mutants` now",
    "roster": "`course roster` is gone: JupyterHub makes the accounts (docs/teaching/class-server.md)",
}


class Overview(TyperGroup):
    """The group of all commands, students' first."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, args or ["--help"])

    def list_commands(self, ctx: Any) -> list[str]:
        return [name for names in COMMANDS.values() for name in names]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        formatter.write("Usage: course COMMAND …        course COMMAND --help says what a command does\n\n")
        for heading, names in COMMANDS.items():
            for name in names:
                first = f"{heading if name == names[0] else '':<12}{name:<9}"
                formatter.write(f"{first}{shorten(self._says(name), WIDTH - len(first), placeholder=' …')}\n")
        formatter.write("\nThe settings are in course.toml, in this folder or above it.\n")

    def _says(self, name: str) -> str:
        """The first sentence of a command's own help."""
        return f"{(self.commands[name].help or '').partition('. ')[0].partition(chr(10))[0].rstrip('.')}."

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] in RENAMED:
            raise CourseError(RENAMED[args[0]])
        return super().resolve_command(ctx, args)
