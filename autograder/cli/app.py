"""The `course` command: what an instructor types."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
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

from autograder.cli import author, exporting, remove, scaffold, watching
from autograder.cli.arguments import no_text
from autograder.cli.cluster import cluster_at
from autograder.cli.data_sets import data
from autograder.cli.explain import explain
from autograder.cli.importing import import_
from autograder.cli.interrupting import send_again_what_is_lost
from autograder.cli.mark import mark
from autograder.cli.overview import Overview
from autograder.cli.similarity import similar
from autograder.course.printable import printable
from autograder.course.settings import Course, CourseError, load_course
from autograder.grade.results import STATUSES
from coursekit import terminal

if TYPE_CHECKING:
    from autograder.grade.marks import Mark
    from autograder.marking.run import Marking
    from autograder.read.handing_in import PlatformTimes

LONGEST_TABLE = 60
MOST_PASSED_OVER = 20
UNUSED = "rfc3987_syntax"  # jsonschema imports it to check addresses, and it makes a grammar for that in two seconds
NO_THREAD = "can't start new thread"  # what Python says where the machine's table of processes is full

app = typer.Typer(
    name="course",
    cls=Overview,
    add_completion=False,
    rich_markup_mode="markdown",
)
out = Console()
err = Console(stderr=True)


def main() -> None:
    """Run the command. An error that a person can correct becomes a sentence, without a traceback."""
    logging.getLogger("alembic").setLevel(logging.WARNING)
    sys.modules.setdefault(UNUSED, None)  # type: ignore[arg-type]  # not to be found: no notebook has such addresses
    send_again_what_is_lost()
    if (word := no_text(sys.argv[1:])) is not None:
        _stop(f"“{word}” has bytes that are no UTF-8, or control characters: type it without them", 2)
    try:
        app()
    except CourseError as error:
        _stop(str(error), 2)
    except OSError as error:  # somebody's folder, file or disk; a fault of a submission never comes this far
        where = error.filename2 or error.filename
        _stop(f"{where}: {error.strerror}: correct this, or name another path" if where else str(error), 2)
    except UnicodeEncodeError as error:  # the name of a file or folder that is there
        _stop(f"“{error.object}” has characters that cannot be written: rename what is called so", 2)
    except RuntimeError as error:
        if NO_THREAD not in str(error):
            raise
        err.show_cursor()  # a display that got no thread has hidden it
        _stop(
            "this machine lets no further thread or process start: end other programs, or raise the limit (`ulimit -u`;"
            " in a container its pids limit). What has a verdict is recorded: the next run continues.",
            3,
        )


def _stop(message: str, code: int = 1) -> NoReturn:
    err.print(f"[bold red]course:[/] {escape(printable(message))}", highlight=False)
    raise SystemExit(code)


@app.command()
def release(
    labs: Annotated[list[str] | None, typer.Argument(help="Labs to release; all of them when none is named.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Change nothing; exit 1 if something would change.")] = False,
    directory: Annotated[
        Path | None, typer.Option("--publish", metavar="DIR", help="Write the students' repository as well.")
    ] = None,
) -> None:
    """Make the students' labs and the reference outputs from the solutions. --publish also writes their repository.

    Run it after every edit of a solution, of an exercise or of course.toml. It refuses, and changes nothing, when a
    published file would leak a solution, when a lab's notebook and its declared exercises disagree, or when the
    solution of a changed lab no longer passes every check. To drop an exercise, delete its file and its cells: the
    sections, the table and "exercise 5" in texts are numbered anew.
    """
    from autograder.release.graded_before import graded_before
    from autograder.release.release import ReleaseRefused
    from autograder.release.release import release as make_release

    if check and directory:
        _stop("--check changes nothing, and --publish writes: give one of them", 2)
    course = load_course()
    try:
        with out.status("Releasing; the solutions of changed labs run …"):
            summary = make_release(course, labs or None, check=check, publish_to=directory)
    except ReleaseRefused as refusal:
        for reason in refusal.reasons:
            err.print(f"[red]✗[/] {escape(reason)}", highlight=False, soft_wrap=True)
        _stop("nothing was released; correct what is named above and run it again")
    if not summary.changed:
        out.print("Everything is up to date.")
    for path in summary.changed:
        out.print(f"{'would change' if check else 'wrote'}  {escape(path)}", highlight=False)
    for line in summary.numbered:
        out.print(f"numbered anew: {escape(line)}", highlight=False)
    for line in summary.failing:
        err.print(f"[bold yellow]note[/]  {escape(line)}", highlight=False, soft_wrap=True)
    for line in summary.left:
        out.print(f"left over: {escape(line)}", highlight=False)
    for line in summary.fixed:
        out.print(f"the same for every seed: {escape(line)}", highlight=False)
    for line in summary.students if directory is None else ():  # publishing says what is new for those who have DIR
        out.print(f"for students: {escape(line)}", highlight=False)
    if check and summary.changed:
        raise typer.Exit(1)
    for sentence in () if check else graded_before(course, labs, summary.totals):
        out.print(f"graded work: {escape(sentence)}", highlight=False, soft_wrap=True)
    if directory:
        publish(directory, None)


@app.command()
def grade(
    lab: Annotated[str, typer.Argument(help="The lab, such as 02_self_attention.")],
    paths: Annotated[list[Path], typer.Argument(help="Notebooks, folders of submissions, or zip files from an LMS.")],
    out_dir: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where tables and feedback go.")] = Path(
        "grades"
    ),
    workers: Annotated[
        int, typer.Option(min=1, help="How many submissions to grade at the same time; the number of cores is good.")
    ] = 1,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Seed of the hidden cases. [default: the course's secret seed]")
    ] = None,
    db: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Gradebook, such as sqlite:///gradebook.db. [default: the course's own]"),
    ] = None,
    unsafe: Annotated[
        bool,
        typer.Option("--unsafe", help="Grade without the sandbox where it cannot be built. Only for code you trust."),
    ] = False,
    again: Annotated[bool, typer.Option("--again", help="Also grade submissions that are graded already.")] = False,
    only_roster: Annotated[
        bool, typer.Option("--only-roster", help="Leave out, and list, who is not in the roster of course.toml.")
    ] = False,
    times: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="When students handed in, as Moodle or Canvas exports it; may be repeated."),
    ] = None,
    layout: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Read PATH as exchange, moodle, canvas, blackboard, students or student."),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Grade on a Dask cluster: tls://HOST:PORT, tcp://…, or a scheduler file."),
    ] = None,
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
    from autograder.grade.preloading import start_sandbox
    from autograder.sandbox import SandboxUnavailable

    course = load_course()
    course.lab(lab)  # a lab that is not there is told before a sandbox is started for it
    platform = _platform_times(course, lab, times) if times else []
    if cluster is not None and (unsafe or workers > 1):
        _stop("--workers and --unsafe are for this machine; --cluster grades in the sandboxes of its workers", 2)
    try:
        on_cluster = nullcontext(cluster_at(cluster, cluster_wait)) if cluster else None
        with on_cluster or start_sandbox(course, lab, unsafe=unsafe) as warm:
            from autograder.grade.people import course_roster
            from autograder.marking.run import Marking  # slow to import: meanwhile the sandbox warms up

            best = course.attempts.counts == "best"
            url = course.gradebook_at(db)
            marking = Marking(course, lab, out_dir, db_url=url, seed=seed, again=again, keep_best=best)
            found = marking.find(paths, course_roster(course) if only_roster else None, platform, layout)
            from autograder.read.layouts import LAYOUTS

            for name in marking.layouts:
                err.print(f"[bold]layout[/]  {name}: {escape(LAYOUTS[name])}", highlight=False, soft_wrap=True)
            for sentence in marking.unknown_names:
                err.print(f"[bold yellow]note[/]  {escape(sentence)}", highlight=False, soft_wrap=True)
            if not found:
                _show_passed_over(marking)
                _stop(f"no submission of {lab} in {', '.join(map(str, paths))}", 2)
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
                task = progress.add_task(
                    f"Grading {lab}",
                    total=len(found),
                    last="waiting for the cluster" if cluster else "starting the sandbox",
                )
                for result in marking.run(found, warm, workers=workers):
                    progress.update(task, advance=1, last=escape(f"{result.student}: {result.score:g}"))
    except SandboxUnavailable as error:
        remedy = "" if cluster else " `course doctor` explains; --unsafe grades without the sandbox."
        done = f"{len(marking.results)} of {len(found)} submissions have a verdict, which is recorded and in the tables"
        if marking.results:
            _stop(f"{error}\n{done}. Correct that and run it again; it continues from there.", 3)
        _stop(f"{error}\nNothing was graded.{remedy}", 3)
    _show(marking)
    _show_passed_over(marking)
    if marking.failures:
        for student, reason in marking.failures.items():
            err.print(f"[red]no verdict[/] {escape(student)}: {escape(reason)}", highlight=False)
        _stop("some submissions have no verdict: the grader failed, and no mark was written for them")


def _platform_times(course: Course, lab: str, paths: list[Path]) -> list[PlatformTimes]:
    from autograder.read.handing_in import read_times

    return [read_times(path, course.zone_of(lab)) for path in paths]


def _show(marking: Marking) -> None:
    from autograder.grade.database import shown_url
    from autograder.grade.marks import sentences_on_waiting

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
                "\n".join(_findings(result, attempts[result.student])),
            )
        out.print(table)
    else:
        mean = sum(result.percent for result in results) / len(results)
        out.print(f"{len(results)} submissions, mean {mean:.1f} %")
    for sentence in sentences_on_waiting(results):
        out.print(f"{escape(sentence)}\n", highlight=False, soft_wrap=True)
    out.print(
        f"gradebook   {shown_url(marking.db_url)}\ntables      {marking.results_csv}, {marking.grades_csv}",
        highlight=False,
    )
    out.print(f"feedback    {marking.feedback}/<student>/{marking.lab}.html", highlight=False)


def _show_passed_over(marking: Marking) -> None:
    """Show in the terminal the files without a row in the tables, and the ids that may surprise an instructor."""
    for sentence in marking.sentences_on_lateness():
        err.print(f"[bold yellow]times[/]  {escape(printable(sentence))}", highlight=False, soft_wrap=True)
    for sentence in marking.claimed_twice:
        err.print(f"[bold yellow]an id claimed twice[/]  {escape(sentence)}", highlight=False, soft_wrap=True)
    for passed in marking.passed_over[:MOST_PASSED_OVER]:
        shown = f"[bold yellow]passed over[/]  {escape(passed.path)}: {escape(passed.reason)}"
        err.print(shown, highlight=False, soft_wrap=True)
    if (more := len(marking.passed_over) - MOST_PASSED_OVER) > 0:
        err.print(f"[bold yellow]passed over[/]  and {more} more: see {marking.passed_over_csv}", highlight=False)


def _findings(result: Mark, attempt: Mark) -> Iterator[str]:
    """Lines on a result: named mistakes, groups that fail without one, exercises without a verdict, what is by hand.

    `attempt` is what was graded just now; where an earlier one counts, `result` is that one's.
    """
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


app.command()(watching.watch)
app.add_typer(scaffold.app, name="new")
app.add_typer(exporting.app, name="export")
app.add_typer(remove.app, name="remove")
app.add_typer(author.app, name="author")
app.command()(similar)
app.command()(explain)
app.command()(mark)
app.command()(data)
app.command(name="import")(import_)
app.command()(terminal.check)
app.command()(terminal.pack)


@app.command()
def publish(
    directory: Annotated[Path, typer.Argument(help="Where the students' repository is made.")],
    site_directory: Annotated[
        Path | None, typer.Option("--site", metavar="SITE", help="Build the web site as well, into SITE.")
    ] = None,
    archive: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write coursekit.zip there: for Colab, where no repository is published."),
    ] = None,
) -> None:
    """Write the students' repository: lectures, labs, coursekit, data. Refuse if it holds an answer.

    If course.toml names no repository, give students coursekit.zip beside the notebooks: in Colab they upload it, and
    the first cell of each notebook installs it.
    """
    from autograder.release.publish import PublishRefused
    from autograder.release.publish import publish as make

    try:
        course = load_course()
        summary = make(course, directory)
    except PublishRefused as refusal:
        for reason in refusal.reasons:
            err.print(f"[red]✗[/] {escape(reason)}", highlight=False, soft_wrap=True)
        _stop("nothing was published")
    changed = len(summary.written) + len(summary.removed)
    out.print(f"{directory}: {changed} files changed" if changed else f"{directory} is up to date", highlight=False)
    for line in summary.students:
        out.print(f"for students: {escape(line)}", highlight=False)
    for line in summary.unlinked:
        out.print(f"not there, so without a link: {escape(line)}", highlight=False)
    if changed:
        first = "" if (directory / ".git").exists() else "init, "
        todo = f"Look at it, then publish it: git -C {directory} {first}add -A, commit, push"
        out.print(todo, highlight=False, soft_wrap=True)
        if course.repository:
            out.print(f"Colab installs the tag: git tag -f v{course.version}, git push -f origin v{course.version}")
    if archive:
        from autograder.course.files import write_atomically
        from autograder.release.colab_archive import ARCHIVE, coursekit_archive
        from autograder.release.publish import student_files

        write_atomically(archive / ARCHIVE, coursekit_archive(student_files(course)))
        out.print(f"{archive / ARCHIVE}: students upload it in Colab beside a notebook", highlight=False)
    if site_directory:
        site(site_directory)


@app.command()
def site(
    directory: Annotated[Path, typer.Argument(metavar="[DIR]", help="Where the site is written.")] = Path("build/site"),
) -> None:
    """Build the web site from the executed lectures, the released labs and the docs. Refuse if it holds an answer.

    The command runs no notebook and replaces all of DIR. The pages load nothing from other servers, so any web server,
    or GitHub Pages, can serve them.
    """
    from autograder.integrations.site.build import SiteRefused, build_site

    course = load_course()
    try:
        with out.status("Building the site …"):
            summary = build_site(course, directory)
    except SiteRefused as refusal:
        for reason in refusal.reasons:
            err.print(f"[red]✗[/] {escape(reason)}", highlight=False, soft_wrap=True)
        _stop("no site was written; correct what is named above and run it again")
    out.print(f"{directory}: {summary.pages} pages, {summary.bytes / 1e6:.0f} MB", highlight=False)
    if not course.site:
        without = (
            "Without an address (site in course.toml) it has no canonical addresses, no sitemap, no picture for links."
        )
        out.print(without, highlight=False, soft_wrap=True)
    out.print(f"Look at it: python -m http.server -d {directory}, then http://localhost:8000", highlight=False)


REPORT = Path("grades/report.html")


def _folder_of(report: Path, db: str | None) -> Path | None:
    """Return the folder whose tables and pages a report updates: its own, unless it is about another gradebook."""
    is_its_own = db is None or report != REPORT
    return report.parent if is_its_own and (report.parent / "feedback").is_dir() else None


@app.command()
def report(
    target: Annotated[Path, typer.Option("--out", metavar="FILE", help="The page to write.")] = REPORT,
    db: Annotated[str | None, typer.Option(metavar="URL", help="Gradebook to read.")] = None,
    last_year: Annotated[
        Path | None, typer.Option("--last-year", metavar="CSV", help="A results.csv of last year to compare with.")
    ] = None,
    project: Annotated[
        bool, typer.Option("--project", help="Also write project.html beside FILE: to show in class, without names.")
    ] = False,
) -> None:
    """Write one page about the class: marks, hard exercises, common mistakes.

    It also shows progress, and who may need help. The command writes everything behind the page as CSV into a folder
    beside FILE, one row for each lab, exercise, group of tests, mistake, submission and student. The page names
    students. With --project there is a second one to show in class: for each lab the three commonest mistakes as
    pictures, and what failed most, without a name.
    """
    from autograder.grade.case_states import sentences_on_cases
    from autograder.grade.database import shown_url
    from autograder.grade.gradebook import known_students
    from autograder.grade.marks import sentences_on_waiting
    from autograder.grade.people import unknown_names
    from autograder.marking.results_folder import current_marks
    from autograder.pages.class_report import write_report

    course = load_course()
    url = course.gradebook_at(db)
    notes = unknown_names(course, url)
    results = current_marks(course, url, _folder_of(target, db))
    if not results:
        _stop(f"the gradebook {shown_url(url)} holds no results yet; run course grade first", 2)
    write_report(course, results, target, last_year=last_year, enrolled=known_students(url))
    out.print(f"{target}: {len(results)} submissions; tables in {target.with_suffix('')}", highlight=False)
    if project:
        from autograder.pages.class_projection import write_projection

        write_projection(course, results, target.with_name("project.html"))
        out.print(f"{target.with_name('project.html')}: to show in class; it names nobody", highlight=False)
    for sentence in (*notes, *sentences_on_waiting(results), *sentences_on_cases(results)):
        out.print(f"note:  {escape(sentence)}", highlight=False, soft_wrap=True)


@app.command()
def doctor() -> None:
    """Say what works on this machine, and how to repair the rest. Exit 1 when grading would refuse to run."""
    from autograder.cli.doctor import findings

    fine = True
    table = Table("", "what", show_lines=False)
    for heading in ("finding", "what to do"):
        table.add_column(heading, overflow="fold")  # a command to type is shown whole
    with out.status("Looking …"):
        for finding in findings(load_course()):
            fine = fine and (finding.works or not finding.needed)
            sign = "[green]✓[/]" if finding.works else "[red]✗[/]" if finding.needed else "[yellow]–[/]"
            table.add_row(sign, finding.name, escape(finding.text), escape(finding.remedy))
    out.print(table)
    if not fine:
        raise typer.Exit(1)
