"""The record of an experiment: taken up where it stopped, written after each run; and the options of all programs."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from coursekit.lecture import recorded

Out = Annotated[Path, typer.Option(help="Folder of the record; what is recorded there is not run again.")]
Data = Annotated[Path, typer.Option("--data", help="Folder of local files, as data/README.md describes it.")]
DataOrFetched = Annotated[
    Path | None, typer.Option("--data", help="Folder of local files; without it the data are fetched.")
]
Seeds = Annotated[str, typer.Option(help="The seeds, with commas between them.")]
Minutes = Annotated[float, typer.Option(help="Start nothing new after so many minutes; the command goes on later.")]
DEVICE = f"CPU ({platform.machine()}), {os.cpu_count()} cores; seconds are processor seconds"


def numbers(listed: str) -> list[int]:
    """The numbers of an option such as "1,2,3"."""
    return [int(number) for number in listed.split(",")]


def rounded(value: Any, digits: int = 4) -> Any:
    """The same dicts and lists, with floats of so many decimals."""
    if isinstance(value, dict):
        return {name: rounded(part, digits) for name, part in value.items()}
    if isinstance(value, list):
        return [rounded(part, digits) for part in value]
    return round(value, digits) if isinstance(value, float) else value


class Record:
    """What a program has measured.

    Attributes:
        results: those of the record in `folder`; without one, `empty`.
        seconds: those of the runs in it.
        until: when `Minutes` are over, by `time.monotonic`.
    """

    def __init__(
        self, name: str, what: str, data: str, folder: Path = recorded.FOLDER, *, empty: Any = None, **others: Any
    ):
        """`others` are conditions of `recorded.save` that differ from a run on a processor without options, seed 0."""
        self.name, self.folder, self.until = name, folder, float("inf")
        self.conditions = {"what": what, "data": data, "device": DEVICE, "seed": 0}
        self.conditions |= {"command": f"python experiments/{name}.py", **others}
        path = folder / f"{name}.json"
        old = json.loads(path.read_text("utf-8")) if path.is_file() else {"results": empty or {}, "seconds": 0.0}
        self.results, self.seconds = old["results"], old["seconds"]

    def limited(self, minutes: float) -> Record:
        """The same record, which begins nothing new after so many minutes."""
        self.until = time.monotonic() + 60 * minutes
        return self

    def go_on(self) -> None:
        """End the program with 75 when its minutes are over."""
        if time.monotonic() > self.until:
            raise typer.Exit(75)

    def has(self, **case: Any) -> bool:
        """Whether one of the recorded "runs" is the one of a case."""
        return any(case.items() <= run.items() for run in self.results["runs"])

    def get(self, group: str, name: str, compute: Callable[[], dict]) -> dict:
        """A result by its group and name; computed and written if it is not recorded."""
        found = self.results.setdefault(group, {})
        if name not in found:
            self.go_on()
            print(f"{time.strftime('%H:%M')} {group}: {name}", flush=True)
            found[name] = compute()
            groups = [each.values() for each in self.results.values() if isinstance(each, dict)]
            runs = [run for group in groups for run in group if isinstance(run, dict)]
            self.save(sum(run.get("cpu_seconds", 0) for run in runs))
        return found[name]

    def add(self, spent: float, **changed: Any) -> Path:
        """Write the results after so many more seconds."""
        return self.save(self.seconds + spent, **changed)

    def save(self, seconds: float, **changed: Any) -> Path:
        """Write the results, which took so many seconds; `changed` conditions differ from those of the beginning."""
        self.seconds, self.conditions = seconds, self.conditions | changed
        return recorded.save(self.name, results=self.results, folder=self.folder, seconds=seconds, **self.conditions)
