"""What all commands say in a terminal alike, how they stop, and the arguments that several of them have."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console
from rich.markup import escape

from autograder.course.text import printable

out = Console()
err = Console(stderr=True)

Lab = Annotated[str, typer.Argument(help="The lab, such as 02_self_attention.")]
Student = Annotated[str, typer.Argument(help="The student's id, as in grades.csv.")]
Database = Annotated[
    str | None,
    typer.Option(metavar="URL", help="Gradebook, such as sqlite:///gradebook.db. [default: the course's own]"),
]
Decided = Annotated[str | None, typer.Option(metavar="NAME", help="Who decided. [default: the account that types]")]
ToUpdate = Annotated[Path, typer.Option("--out", metavar="DIR", help="Tables and feedback pages to bring up to date.")]
Seed = Annotated[int | None, typer.Option(min=0, help="Seed of the hidden cases. [default: the course's secret seed]")]
GRADES = Path("grades")  # tables and pages, where no other folder is named


def say(text: str, heading: str = "", *, to: Console | None = None, wraps: bool = False) -> None:
    """Print a text in which nothing acts on the terminal, behind a heading in rich's markup.

    A line stays one line, in a file or a pipe as well, unless it `wraps` at the terminal's width.
    """
    (to or out).print(f"{heading}{escape(printable(text))}", highlight=False, soft_wrap=not wraps)


def warn(text: str, heading: str = "note") -> None:
    """Print what a person should know beside the results, with a heading."""
    say(text, f"[bold yellow]{heading}[/]  ", to=err)


def stop(message: str, code: int = 1, reasons: Iterable[str] = ()) -> NoReturn:
    """End the command with a sentence, after a list of reasons where there are any."""
    for reason in reasons:
        say(reason, "[red]✗[/] ", to=err)
    say(message, "[bold red]course:[/] ", to=err, wraps=True)
    raise SystemExit(code)


def say_written(paths: Iterable[Path]) -> None:
    """Name the files that a command wrote, each once, as they are reached from the working folder."""
    here = Path.cwd()
    for path in dict.fromkeys(paths):
        say(f"wrote  {path.relative_to(here) if path.is_relative_to(here) else path}")
