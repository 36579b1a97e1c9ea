"""`course grade` and `course watch`: what is typed, and what is said while and after submissions are graded."""

from __future__ import annotations

import logging
import signal
import threading
import traceback
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from autograder.cli.console import GRADES, Database, Lab, Seed, err, out, say, stop, warn
from autograder.course.settings import Course, CourseError, load_course
from autograder.course.text import printable

if TYPE_CHECKING:
    from autograder.grade.marks import Mark
    from autograder.integrations.cluster.client import Cluster
    from autograder.marking.run import Marking

LONGEST_TABLE = 60
MOST_PASSED_OVER = 20
LONGEST_PAUSE = 60.0  # seconds between rounds that stop, or in which the grader fails, one after the other
NOT_BOTH = "--workers and --unsafe are for this machine; --cluster grades in the sandboxes of its workers"

Folder = Annotated[Path, typer.Option("--out", metavar="DIR", help="Where tables and feedback go.")]
Workers = Annotated[
    int, typer.Option(min=1, help="How many submissions to grade at the same time; the number of cores is good.")
]
Unsafe = Annotated[
    bool,
    typer.Option("--unsafe", help="Grade without the sandbox where it cannot be built. Only for code you trust."),
]
OnlyRoster = Annotated[
    bool, typer.Option("--only-roster", help="Leave out, and list, who is not in the roster of course.toml.")
]
ClusterAddress = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Grade on a Dask cluster: tls://HOST:PORT, tcp://…, or a scheduler file."),
]

log = logging.getLogger(__name__)


def grade(
    lab: Lab,
    paths: Annotated[list[Path], typer.Argument(help="Notebooks, folders of submissions, or zip files from an LMS.")],
    out_dir: Folder = GRADES,
    workers: Workers = 1,
    seed: Seed = None,
    db: Database = None,
    unsafe: Unsafe = False,
    again: Annotated[bool, typer.Option("--again", help="Also grade submissions that are graded already.")] = False,
    only_roster: OnlyRoster = False,
    times: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="When students handed in, as Moodle or Canvas exports it; may be repeated."),
    ] = None,
    layout: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Read PATH as exchange, moodle, canvas, blackboard, students or student."),
    ] = None,
    cluster: ClusterAddress = None,
    cluster_wait: Annotated[
        float, typer.Option(metavar="SECONDS", min=0, help="How long to wait for the cluster before giving up.")
    ] = 300.0,
) -> None:
    """Grade submissions in the sandbox, with hidden cases.

    The command writes the gradebook, DIR/results.csv (one row per exercise), DIR/grades.csv (one row per student) and
    DIR/feedback/STUDENT/LAB.html. A folder may hold STUDENT/LAB/LAB.ipynb, STUDENT/LAB.ipynb or STUDENT.ipynb.

    --times takes Moodle's grading worksheet, or any CSV file with a column of times and one of ids; or what Canvas
    answers to /api/v1/courses/NUMBER/assignments/NUMBER/submissions. It also sets the times of work that is graded.

    You can stop it at any moment: the next run continues. It grades only submissions that are new or have changed.
    """
    from autograder.sandbox import SandboxUnavailable
    from autograder.sandbox.warm import start_sandbox

    course = load_course()
    zone = course.zone_of(course.lab(lab).name)  # a lab that is not there is told before a sandbox is started for it
    platform = []
    if times:
        from autograder.read.handing_in import read_times

        platform = [read_times(path, zone) for path in times]
    if cluster is not None and (unsafe or workers > 1):
        stop(NOT_BOTH, 2)
    try:
        on_cluster = nullcontext(make_cluster(cluster, cluster_wait)) if cluster else None
        with on_cluster or start_sandbox(course, lab, unsafe=unsafe) as warm:
            from autograder.course.roster import read_course_roster
            from autograder.marking.run import Marking  # slow to import: meanwhile the sandbox warms up
            from autograder.read.layouts import LAYOUTS

            best = course.attempts.counts == "best"
            url = course.gradebook_at(db)
            marking = Marking(course, lab, out_dir, db_url=url, seed=seed, again=again, keep_best=best)
            submissions = marking.find(paths, read_course_roster(course) if only_roster else None, platform, layout)
            for name in marking.layouts:
                say(f"{name}: {LAYOUTS[name]}", "[bold]layout[/]  ", to=err)
            for sentence in marking.unknown_names:
                warn(sentence)
            if not submissions:
                _show_passed_over(marking)
                stop(f"no submission of {lab} in {', '.join(map(str, paths))}", 2)
            with Progress(
                SpinnerColumn(),
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                TextColumn("left"),
                TimeRemainingColumn(),
                TextColumn("{task.fields[last]}"),
                console=err,
            ) as progress:
                waits_for = "waiting for the cluster" if cluster else "starting the sandbox"
                task = progress.add_task(f"Grading {lab}", total=len(submissions), last=waits_for)
                for result in marking.run(submissions, warm, workers=workers):
                    progress.update(task, advance=1, last=escape(f"{result.student}: {result.score:g}"))
    except SandboxUnavailable as error:
        remedy = "" if cluster else " `course doctor` explains; --unsafe grades without the sandbox."
        if number := len(marking.results):
            done = f"{number} of {len(submissions)} submissions have a verdict, which is recorded and in the tables"
            stop(f"{error}\n{done}. Correct that and run it again; it continues from there.", 3)
        stop(f"{error}\nNothing was graded.{remedy}", 3)
    _show(marking)
    _show_passed_over(marking)
    for student, reason in marking.failures.items():
        say(f"{student}: {reason}", "[red]no verdict[/] ", to=err)
    if marking.failures:
        stop("some submissions have no verdict: the grader failed, and no mark was written for them")


def make_cluster(address: str, wait_seconds: float = 300.0) -> Cluster:
    """Return the cluster at an address. It tells its state in the terminal, and first what is not safe about it.

    Args:
        address: of the scheduler, or the path of a scheduler file.
        wait_seconds: how long to wait for it before giving up.

    Raises:
        CourseError: it is no address.
    """
    from autograder.integrations.cluster.client import Cluster

    cluster = Cluster(address, wait_seconds=wait_seconds, tell=lambda sentence: warn(sentence, "cluster"))
    if cluster.address.startswith("tcp://"):  # on this machine, too, others can connect
        warn(
            f"{cluster.address} has no encryption and asks for no certificate: whoever can connect to it, other "
            "accounts of the machine included, can run code there, read hidden cases and write marks. Use tls:// "
            "unless nobody else can.",
            "cluster",
        )
    return cluster


def _show(marking: Marking) -> None:
    from autograder.grade.database import show_url
    from autograder.grade.marks import describe_waiting

    attempts = {result.student: result for result in marking.results}
    results = [marking.counts_instead.get(student, attempts[student]) for student in sorted(attempts)]
    if len(results) <= LONGEST_TABLE:
        table = Table(box=SIMPLE_HEAD, title=marking.lab, title_justify="left", title_style="bold", pad_edge=False)
        table.add_column("student", no_wrap=True)
        table.add_column("points", no_wrap=True, justify="right")
        table.add_column("%", no_wrap=True, justify="right")
        table.add_column("what was found", overflow="fold")
        for result in results:
            table.add_row(
                escape(result.student),
                f"{result.score:g}/{result.max_score:g}",
                f"{result.percent:g}",
                "\n".join(_describe_findings(result, attempts[result.student])),
            )
        out.print(table)
    else:
        mean = sum(result.percent for result in results) / len(results)
        out.print(f"{len(results)} submissions, mean {mean:.1f} %")
    for sentence in describe_waiting(results):
        say(f"{sentence}\n")
    say(f"gradebook   {show_url(marking.db_url)}")
    say(f"tables      {marking.results_csv}, {marking.grades_csv}")
    say(f"feedback    {marking.feedback}/<student>/{marking.lab}.html")


def _show_passed_over(marking: Marking) -> None:
    """Show in the terminal the files without a row in the tables, and the ids that may surprise an instructor."""
    for sentence in marking.sentences_on_lateness():
        warn(sentence, "times")
    for sentence in marking.claimed_twice:
        warn(sentence, "an id claimed twice")
    for passed in marking.passed_over[:MOST_PASSED_OVER]:
        warn(f"{passed.path}: {passed.reason}", "passed over")
    if (more := len(marking.passed_over) - MOST_PASSED_OVER) > 0:
        warn(f"and {more} more: see {marking.passed_over_csv}", "passed over")


def _describe_findings(result: Mark, attempt: Mark) -> Iterator[str]:
    """Lines on a result: named mistakes, groups that fail without one, exercises without a verdict, what is by hand.

    `attempt` is what was graded just now; where an earlier one counts, `result` is that one's.
    """
    from autograder.grade.results import STATUSES

    if attempt is not result:
        yield f"an earlier attempt counts; this one has {attempt.score:g} points"
    if result.penalty:
        yield f"late: {result.penalty:g} of {result.earned:g} points lost"
    for part in result.parts:
        if part.by_hand is not None:
            worth = f"{part.by_hand:g} of {part.max_score:g}" if part.by_hand or part.max_score else "a comment"
            yield f"{part.name}: {worth} by hand"
    if result.reason:
        yield escape(result.reason)
        return
    for exercise in result.exercises:
        if exercise.misconceptions:
            yield f"{exercise.exercise}: {', '.join(exercise.misconceptions)}"
        elif exercise.status == "graded" and not exercise.passed:
            failed = ", ".join(group.name for group in exercise.groups if not group.passed)
            yield f"{exercise.exercise}: fails {failed}"
    for status in STATUSES[1:]:
        names = [exercise.exercise for exercise in result.exercises if exercise.status == status]
        if names:
            yield f"{status}: {', '.join(names)}"


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
    out_dir: Folder = GRADES,
    workers: Workers = 1,
    db: Database = None,
    cluster: ClusterAddress = None,
    unsafe: Unsafe = False,
    only_roster: OnlyRoster = False,
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
    from autograder.course.roster import read_course_roster
    from autograder.grade.gradebook import find_unknown_names  # slow to import
    from autograder.integrations.watching.watcher import EVERYBODYS, Watcher

    course = load_course()
    names = [course.lab(name).name for name in labs] if labs else _find_released(course)
    for folder in drops or ():
        if not folder.is_dir():
            raise CourseError(f"there is no folder {folder}: make it, or name another with --drop")
    if cluster is not None and (unsafe or workers > 1):
        raise CourseError(NOT_BOTH)
    if only_roster:
        read_course_roster(course)  # one that is not there, or cannot be read, is told before anything starts
    url = course.gradebook_at(db)
    for sentence in find_unknown_names(course, url):
        warn(sentence)
    ended, told, pause = threading.Event(), set[tuple[str, str]](), every
    grader = Watcher(
        course,
        names,
        out_dir,
        url,
        drops=drops or (),
        only_roster=only_roster,
        workers=workers,
        unsafe=unsafe,
        cluster=make_cluster(cluster) if cluster else None,
    )
    with grader as watcher:
        if not once:
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, lambda *_: ended.set())
            say(f"Watching {', '.join(names)}. Ctrl-C ends it.")
        while not ended.is_set():
            stopped = ""
            try:
                for result in watcher.round():
                    late = f"late: {result.penalty:g} of {result.earned:g} points lost" if result.penalty else ""
                    why = f"  {text}" if (text := result.reason or late) else ""
                    say(f"{result.student}  {result.lab}  {result.score:g}/{result.max_score:g}{why}")
                    if ended.is_set():
                        break  # the attempt is answered; the others wait in the record
            except Exception as error:  # whatever it is, the next round is tried
                stopped = str(getattr(error, "orig", None) or error)
                if not isinstance(error, EVERYBODYS):
                    log.error("%s", printable(traceback.format_exc()))
                    stopped = f"{type(error).__name__}: {stopped}"
                if once:
                    raise CourseError(f"{stopped}. What was graded is recorded, and the rest waits") from error
                say(stopped, "[red]this round stopped[/] ", to=err)
            failures, passed_over = watcher.last_round.failures, watcher.last_round.passed_over
            lines = [("[bold yellow]passed over[/]  ", f"{each.path}: {each.reason}") for each in passed_over]
            lines += [("[red]no verdict[/] ", f"{student}: {why}") for student, why in failures.items()]
            for heading, text in dict.fromkeys(line for line in lines if line not in told):
                say(text, heading, to=err)
            told = set(lines)
            if once:
                raise typer.Exit(1 if failures or any(passed.is_fault for passed in passed_over) else 0)
            pause = min(2 * pause, max(every, LONGEST_PAUSE)) if stopped or failures else every
            ended.wait(pause)


def _find_released(course: Course) -> list[str]:
    names = [lab.name for lab in course.labs if course.release_notebook(lab.name).exists()]
    if not names:
        raise CourseError("no lab is released yet: run `course release` first")
    return names
