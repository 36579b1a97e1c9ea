"""`course watch`, as it is typed."""

from __future__ import annotations

import logging
import signal
import threading
import traceback
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from autograder.cli.cluster import cluster_at
from autograder.course.printable import printable
from autograder.course.settings import Course, CourseError, load_course

LONGEST_PAUSE = 60.0  # seconds between rounds that stop, or in which the grader fails, one after the other

log = logging.getLogger(__name__)
out = Console()
err = Console(stderr=True)


def watch(
    labs: Annotated[
        list[str] | None, typer.Argument(metavar="[LAB]…", help="Labs to watch; all of the course when none is named.")
    ] = None,
    drops: Annotated[
        list[Path] | None,
        typer.Option("--drop", metavar="DIR", help="A folder for notebooks that are handed in; may be repeated."),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Do one round and end; for cron.")] = False,
    every: Annotated[float, typer.Option(min=1, metavar="SECONDS", help="Seconds between two rounds.")] = 5.0,
    out_dir: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where tables and feedback go.")] = Path(
        "grades"
    ),
    workers: Annotated[int, typer.Option(min=1, help="How many submissions to grade at the same time.")] = 1,
    db: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Gradebook, such as sqlite:///gradebook.db. [default: the course's own]"),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Grade on a Dask cluster: tls://HOST:PORT, tcp://…, or a scheduler file."),
    ] = None,
    unsafe: Annotated[
        bool,
        typer.Option("--unsafe", help="Grade without the sandbox where it cannot be built. Only for code you trust."),
    ] = False,
    only_roster: Annotated[
        bool, typer.Option("--only-roster", help="Pass over, and list, who is not in the roster of course.toml.")
    ] = False,
) -> None:
    """Grade submissions as soon as students hand them in, and give the feedback back.

    The command looks into nbgrader's exchange, and into the folders given with --drop, every few seconds. It grades new
    submissions as `course grade` does. Students who handed in through the exchange get their page with nbgrader's Fetch
    Feedback. course.toml says which attempt counts, how many are graded in an hour, due dates, grace time and
    extensions (see docs/teaching/every-week.md). What waits, or is nobody's, is told here, with the reason.

      course watch

      course watch 02_self_attention --drop /srv/uploads --workers 2

    You can stop it at any moment, and a power cut does no harm: the next start continues from there.
    """
    from autograder.grade.people import course_roster, unknown_names  # slow to import
    from autograder.integrations.watching.watcher import EVERYBODYS, Watcher

    course = load_course()
    names = [course.lab(name).name for name in labs] if labs else _released(course)
    for folder in drops or ():
        if not folder.is_dir():
            raise CourseError(f"there is no folder {folder}: make it, or name another with --drop")
    if cluster is not None and (unsafe or workers > 1):
        raise CourseError(
            "--workers and --unsafe are for this machine; --cluster grades in the sandboxes of its workers"
        )
    if only_roster:
        course_roster(course)  # one that is not there, or cannot be read, is told before anything starts
    url = course.gradebook_at(db)
    for sentence in unknown_names(course, url):
        err.print(f"[bold yellow]note[/]  {escape(sentence)}", highlight=False, soft_wrap=True)
    stop, told, pause = threading.Event(), set[str](), every
    graders: dict[str, Any] = {
        "workers": workers,
        "unsafe": unsafe,
        "cluster": cluster_at(cluster) if cluster else None,
    }
    with Watcher(course, names, out_dir, url, drops=drops or (), only_roster=only_roster, **graders) as watcher:
        if not once:
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, lambda *_: stop.set())
            out.print(f"Watching {', '.join(names)}. Ctrl-C ends it.", highlight=False)
        while not stop.is_set():
            stopped = ""
            try:
                for result in watcher.round():
                    late = f"late: {result.penalty:g} of {result.earned:g} points lost" if result.penalty else ""
                    why = f"  {escape(printable(text))}" if (text := result.reason or late) else ""
                    line = f"{escape(result.student)}  {result.lab}  {result.score:g}/{result.max_score:g}{why}"
                    out.print(line, highlight=False, soft_wrap=True)
                    if stop.is_set():
                        break  # the attempt is answered; the others wait in the record
            except Exception as error:  # whatever it is, the next round is tried
                stopped = str(getattr(error, "orig", None) or error)
                if not isinstance(error, EVERYBODYS):
                    log.error("%s", printable(traceback.format_exc()))
                    stopped = f"{type(error).__name__}: {stopped}"
                if once:
                    raise CourseError(f"{stopped}. What was graded is recorded, and the rest waits") from error
                err.print(f"[red]this round stopped[/] {escape(printable(stopped))}", highlight=False)
            failures, passed_over = watcher.last_round.failures, watcher.last_round.passed_over
            lines = [f"[bold yellow]passed over[/]  {escape(each.path)}: {escape(each.reason)}" for each in passed_over]
            lines += [f"[red]no verdict[/] {escape(who)}: {escape(printable(why))}" for who, why in failures.items()]
            for line in dict.fromkeys(line for line in lines if line not in told):
                err.print(line, highlight=False)
            told = set(lines)
            if once:
                raise typer.Exit(1 if failures or any(passed.is_fault for passed in passed_over) else 0)
            pause = min(2 * pause, max(every, LONGEST_PAUSE)) if stopped or failures else every
            stop.wait(pause)


def _released(course: Course) -> list[str]:
    names = [lab.name for lab in course.labs if course.release_notebook(lab.name).exists()]
    if not names:
        raise CourseError("no lab is released yet: run `course release` first")
    return names
