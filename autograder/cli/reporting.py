"""`course report` and `course similar`: pages about the whole class, for the instructor."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.progress import track

from autograder.cli.console import GRADES, Database, Lab, err, say, stop
from autograder.course.settings import CourseError, load_course

REPORT = GRADES / "report.html"
SAID_IN_TERMINAL = 10
MOST_NAMED = 40


def _find_folder(report: Path, db: str | None) -> Path | None:
    """Return the folder whose tables and pages a report updates: its own, unless it is about another gradebook."""
    is_its_own = db is None or report != REPORT
    return report.parent if is_its_own and (report.parent / "feedback").is_dir() else None


def report(
    target: Annotated[Path, typer.Option("--out", metavar="FILE", help="The page to write.")] = REPORT,
    db: Database = None,
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
    from autograder.grade.database import describe_other_cases, show_url
    from autograder.grade.gradebook import find_unknown_names, read_students
    from autograder.grade.marks import describe_waiting
    from autograder.marking.results_folder import read_current_marks
    from autograder.pages.class_report import write_report

    course = load_course()
    url = course.gradebook_at(db)
    notes = find_unknown_names(course, url)
    results = read_current_marks(course, url, _find_folder(target, db))
    if not results:
        stop(f"the gradebook {show_url(url)} holds no results yet; run course grade first", 2)
    write_report(course, results, target, last_year=last_year, enrolled=read_students(url))
    say(f"{target}: {len(results)} submissions; tables in {target.with_suffix('')}")
    if project:
        from autograder.pages.class_projection import write_projection

        write_projection(course, results, target.with_name("project.html"))
        say(f"{target.with_name('project.html')}: to show in class; it names nobody")
    for sentence in (*notes, *describe_waiting(results), *describe_other_cases(results)):
        say(f"note:  {sentence}")


def similar(
    lab: Lab,
    paths: Annotated[list[Path], typer.Argument(help="Submissions, as course grade takes them.")],
    against: Annotated[
        list[Path] | None,
        typer.Option(metavar="PATH", help="Earlier submissions, such as last year's; may be repeated."),
    ] = None,
    page: Annotated[Path, typer.Option("--out", metavar="FILE", help="The page to write.")] = GRADES / "similar.html",
    pairs: Annotated[int, typer.Option(min=1, help="How many pairs the page shows at most.")] = 30,
    common: Annotated[
        int | None,
        typer.Option(
            min=2,
            help="Leave out passages that are in more submissions than this. [default: a tenth of them, at least 10]",
        ),
    ] = None,
) -> None:
    """Find similar submissions, and write a page with pairs side by side. Similarity is no proof of anything.

    Submissions that are the same as a whole are named first, however many there are. Otherwise the comparison leaves
    out the lab's own code, and passages that many students wrote. Changed names, changed comments and another order of
    cells do not hide a copy. Short answers are often similar by chance: read the passages. The
    page shows how long each one is, but not who copied from whom, or whether both used the same source.

      course similar 02_self_attention submissions.zip

      course similar 02_self_attention submissions.zip --against ../2025/submissions.zip

    The command runs no student's code and sends nothing to another machine. It compares earlier submissions with this
    year's, but not with each other.
    """
    from autograder.course.labs import read_known_cells, read_released
    from autograder.course.text import write_atomically
    from autograder.integrations.similarity.comparing import (
        Document,
        TextReader,
        compare,
        make_document,
        read_given_text,
    )
    from autograder.pages.feedback import render
    from autograder.read import Children, Unreadable, find_submissions, read_release

    course = load_course()
    release, known = read_released(course, course.lab(lab).name), read_known_cells(course)
    reading, given = Children(TextReader(read_release(release), known)), read_given_text(release)
    documents, unread, cut = list[Document](), list[str](), list[str]()
    for folder, earlier in ((paths, False), *(((path,), True) for path in against or ())):
        handed_in = find_submissions(folder, lab, known).submissions
        for each in track(handed_in, f"Reading {'earlier ones' if earlier else lab}", console=err):
            try:
                documents.append(make_document(each.student, reading.ask("read", each.read()), given, earlier=earlier))
            except Unreadable as error:
                unread.append(f"{each.student}: {error.reason}")
            except Exception as error:  # one of a class, whatever is in it
                unread.append(f"{each.student}: it cannot be compared ({type(error).__name__}: {error}).")
            else:
                if documents[-1].text.cut:
                    cut.append(f"{documents[-1].name}: it is so large that a part of it is not compared. Look at it.")
    count = sum(not each.earlier for each in documents)
    if count < 1 or len(documents) < 2:
        raise CourseError(f"there are not two submissions of {lab} to compare in {', '.join(map(str, paths))}")
    compared = compare(documents, pairs=pairs, most=common)
    settings = {"course": course, "lab": course.lab(lab), "comparison": compared, "unread": [*unread, *cut]}
    write_atomically(page, render("similar.html.j2", count=count, earlier=len(documents) - count, **settings))
    for same in compared.same:
        names = ", ".join(each.name for each in same[:MOST_NAMED])
        more = f" and {len(same) - MOST_NAMED} more" if len(same) > MOST_NAMED else ""
        say(f"{len(same)} submissions are the same but for names, comments and order: {names}{more}")
    for pair in compared.pairs[:SAID_IN_TERMINAL]:
        names, share = f"{pair.first.name} and {pair.second.name}", 100 * max(pair.of_first, pair.of_second)
        say(f"{share:3.0f} %  {names}: {pair.characters} characters alike")
    if not compared.pairs and not compared.same:
        say("No two submissions share more than the lab's own code and what much of the class wrote.")
    if unread:
        say(f"{len(unread)} submissions cannot be read; the page names them")
    if cut:
        say(f"{len(cut)} submissions are not compared whole; the page names them")
    say(f"{page}: {len(documents)} submissions. Similarity is no proof: read the pairs.")
