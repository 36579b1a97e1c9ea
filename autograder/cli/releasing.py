"""`course release`, `course publish` and `course site`: what students get, made from the solutions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from autograder.cli.console import out, say, stop, warn
from autograder.course.settings import load_course


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
    from autograder.release.notes import find_work_to_redo
    from autograder.release.release import ReleaseRefused
    from autograder.release.release import release as make_release

    if check and directory:
        stop("--check changes nothing, and --publish writes: give one of them", 2)
    course = load_course()
    try:
        with out.status("Releasing; the solutions of changed labs run …"):
            summary = make_release(course, labs or None, check=check, publish_to=directory)
    except ReleaseRefused as refusal:
        stop("nothing was released; correct what is named above and run it again", reasons=refusal.reasons)
    if not summary.changed:
        say("Everything is up to date.")
    for path in summary.changed:
        say(f"{'would change' if check else 'wrote'}  {path}")
    for line in summary.numbered:
        say(f"numbered anew: {line}")
    for line in summary.failing:
        warn(line)
    for line in summary.left:
        say(f"left over: {line}")
    for line in summary.fixed:
        say(f"the same for every seed: {line}")
    for line in summary.students if directory is None else ():  # publishing says what is new for those who have DIR
        say(f"for students: {line}")
    if check and summary.changed:
        raise typer.Exit(1)
    for sentence in () if check else find_work_to_redo(course, labs, summary.totals):
        say(f"graded work: {sentence}")
    if directory:
        publish(directory, None)


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
        stop("nothing was published", reasons=refusal.reasons)
    changed = len(summary.written) + len(summary.removed)
    say(f"{directory}: {changed} files changed" if changed else f"{directory} is up to date")
    for line in summary.students:
        say(f"for students: {line}")
    for line in summary.unlinked:
        say(f"not there, so without a link: {line}")
    if changed:
        first = "" if (directory / ".git").exists() else "init, "
        say(f"Look at it, then publish it: git -C {directory} {first}add -A, commit, push")
        if course.repository:
            say(
                f"Colab installs the tag: git tag -f v{course.version}, git push -f origin v{course.version}",
                wraps=True,
            )
    if archive:
        from autograder.course.text import write_atomically
        from autograder.release.course_cells import ARCHIVE
        from autograder.release.publish import pack_coursekit, student_files

        write_atomically(archive / ARCHIVE, pack_coursekit(student_files(course)))
        say(f"{archive / ARCHIVE}: students upload it in Colab beside a notebook")
    if site_directory:
        site(site_directory)


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
        stop("no site was written; correct what is named above and run it again", reasons=refusal.reasons)
    say(f"{directory}: {summary.pages} pages, {summary.bytes / 1e6:.0f} MB")
    if not course.site:
        say("Without an address (site in course.toml) it has no canonical addresses, no sitemap, no picture for links.")
    say(f"Look at it: python -m http.server -d {directory}, then http://localhost:8000")
