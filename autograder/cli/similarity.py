"""`course similar`: what is typed, and what is said afterwards."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import track

SAID_IN_TERMINAL = 10
MOST_NAMED = 40


def similar(
    lab: Annotated[str, typer.Argument(help="The lab, such as 02_self_attention.")],
    paths: Annotated[list[Path], typer.Argument(help="Submissions, as course grade takes them.")],
    against: Annotated[
        list[Path] | None,
        typer.Option(metavar="PATH", help="Earlier submissions, such as last year's; may be repeated."),
    ] = None,
    out: Annotated[Path, typer.Option(metavar="FILE", help="The page to write.")] = Path("grades/similar.html"),
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
    from autograder.course.files import write_atomically
    from autograder.course.released import read_released
    from autograder.course.settings import CourseError, load_course
    from autograder.grade.lab_grader import known_cells
    from autograder.integrations.similarity.comparing import Document, TextReader, compare, document, given_text
    from autograder.pages.rendering import render
    from autograder.read import Children, Unreadable, find_submissions, read_release

    course = load_course()
    release, known = read_released(course, course.lab(lab).name), known_cells(course)
    reading, given = Children(TextReader(read_release(release), known)), given_text(release)
    terminal, errors = Console(), Console(stderr=True)
    documents, unread, cut = list[Document](), list[str](), list[str]()
    for folder, earlier in ((paths, False), *(((path,), True) for path in against or ())):
        handed_in = find_submissions(folder, lab, known).submissions
        for each in track(handed_in, f"Reading {'earlier ones' if earlier else lab}", console=errors):
            try:
                documents.append(document(each.student, reading.ask("read", each.read()), given, earlier=earlier))
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
    found = compare(documents, pairs=pairs, most=common)
    settings = {"course": course, "lab": course.lab(lab), "comparison": found, "unread": [*unread, *cut]}
    write_atomically(out, render("similar.html.j2", count=count, earlier=len(documents) - count, **settings))
    for same in found.same:
        names = ", ".join(each.name for each in same[:MOST_NAMED])
        more = f" and {len(same) - MOST_NAMED} more" if len(same) > MOST_NAMED else ""
        alike = f"{len(same)} submissions are the same but for names, comments and order: {escape(names)}{more}"
        terminal.print(alike, highlight=False, soft_wrap=True)
    for pair in found.pairs[:SAID_IN_TERMINAL]:
        names, share = f"{pair.first.name} and {pair.second.name}", 100 * max(pair.of_first, pair.of_second)
        terminal.print(f"{share:3.0f} %  {escape(names)}: {pair.characters} characters alike", highlight=False)
    if not found.pairs and not found.same:
        terminal.print("No two submissions share more than the lab's own code and what much of the class wrote.")
    if unread:
        terminal.print(f"{len(unread)} submissions cannot be read; the page names them", highlight=False)
    if cut:
        terminal.print(f"{len(cut)} submissions are not compared whole; the page names them", highlight=False)
    said = f"{escape(str(out))}: {len(documents)} submissions. Similarity is no proof: read the pairs."
    terminal.print(said, highlight=False)
