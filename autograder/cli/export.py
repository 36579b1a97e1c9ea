"""`course export canvas`, `moodle`, `csv`, `term`, `gradescope`: what is typed, and what is said afterwards."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from autograder.cli.console import GRADES, Database, Lab, Seed, say
from autograder.course.roster import Roster, read_roster
from autograder.course.settings import CourseError, load_course
from autograder.course.text import write_atomically

if TYPE_CHECKING:
    from autograder.grade.marks import Mark
    from autograder.integrations.exporting.tables import Row, Table

app = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown")

Labs = Annotated[list[str], typer.Argument(metavar="LAB…", help="The labs, such as 02_self_attention.")]
RosterPath = Annotated[
    Path, typer.Option("--roster", metavar="CSV", help="The list of people that the platform exports.")
]
People = Annotated[
    Path | None, typer.Option("--roster", metavar="CSV", help="A list of people, to write before the marks.")
]
Without = Annotated[
    list[str] | None, typer.Option(metavar="STUDENT", help="Leave out this student of the gradebook; may be repeated.")
]
OnlyRoster = Annotated[
    bool, typer.Option("--only-roster", help="Leave out, and list, every student who is not in the roster.")
]
Zeros = Annotated[
    bool, typer.Option("--zeros", help="Write 0 for people in the roster who handed in nothing; empty by default.")
]
Columns = Annotated[
    list[str] | None, typer.Option("--column", metavar="LAB=HEADING", help="The lab's column on the platform.")
]
PAGES = GRADES / "feedback"
Pages = Annotated[Path, typer.Option(metavar="DIR", help="Feedback pages, as course grade writes them.")]
FeedbackArchive = Annotated[
    Path | None,
    typer.Option("--feedback", metavar="ZIP", help="Also pack the lab's feedback pages into this archive."),
]


@app.callback()
def export() -> None:
    """Write what another system imports: tables of marks, archives of feedback.

    The marks are those of the gradebook. They include marks given by hand, extensions, and penalties for late work. If
    a student is not in the roster, or is in it twice, nothing is written, and a sentence names each such student.
    """


@app.command()
def canvas(
    labs: Labs,
    roster: RosterPath,
    out: Annotated[Path, typer.Option(metavar="CSV", help="The table to write.")] = GRADES / "canvas.csv",
    column: Columns = None,
    zeros: Zeros = False,
    without: Without = None,
    only_roster: OnlyRoster = False,
    feedback: FeedbackArchive = None,
    download: Annotated[
        Path | None, typer.Option(metavar="ZIP", help="With --feedback: the submissions, as Canvas packed them.")
    ] = None,
    pages: Pages = PAGES,
    db: Database = None,
) -> None:
    """Write the table for Canvas's gradebook, and the archive that gives feedback pages back.

    The roster is the file that Canvas exports: Grades › Export › Export Entire Gradebook. It has the students' numbers,
    SIS ids and sections, and the columns of the assignments. Afterwards, upload in Canvas:

      Grades › Import: grades/canvas.csv

      the assignment › Upload Submissions: the archive of pages (each becomes a comment with a file)

    For example:

      course export canvas 02_self_attention --roster Grades.csv --feedback pages.zip --download submissions.zip
    """
    if feedback and download is None:
        raise CourseError(
            "--feedback needs --download with the archive of submissions from Canvas, because Canvas matches pages by "
            "the names of the files in it"
        )
    made = _Export(labs, roster, without, only_roster, columns=column, zeros=zeros, db=db, pages=pages)

    from autograder.integrations.exporting.feedback_archives import find_canvas_names
    from autograder.integrations.exporting.tables import make_canvas_table

    table = made.table(make_canvas_table)
    archive = None
    if feedback and download:
        lab = made.only_lab()
        archive = made.archive(
            pages, find_canvas_names(made.course, lab, made.marks[lab].keys() & made.people, download)
        )
    made.write(table, out, archive, feedback)


@app.command()
def moodle(
    labs: Labs,
    roster: RosterPath,
    out: Annotated[Path, typer.Option(metavar="CSV", help="The table to write.")] = GRADES / "moodle.csv",
    column: Columns = None,
    zeros: Zeros = False,
    without: Without = None,
    only_roster: OnlyRoster = False,
    feedback: FeedbackArchive = None,
    pages: Pages = PAGES,
    db: Database = None,
) -> None:
    """Write the table for Moodle, and the archive that gives feedback pages back.

    The roster is the assignment's grading worksheet: View all submissions › Download grading worksheet. Its headings
    have to be in English. The command fills in the grades. Afterwards, upload in Moodle:

      View all submissions › Upload grading worksheet: grades/moodle.csv

      View all submissions › Upload multiple feedback files in a zip: the archive of pages

    Any other list of people (ID number, Email address, Username) becomes a table for Grades › Import › CSV file.

      course export moodle 02_self_attention --roster "Grades-Lab 2.csv" --feedback pages.zip
    """
    made = _Export(labs, roster, without, only_roster, columns=column, zeros=zeros, db=db, pages=pages)

    from autograder.integrations.exporting.feedback_archives import make_moodle_names
    from autograder.integrations.exporting.tables import make_moodle_table

    table = made.table(make_moodle_table)
    archive = None
    if feedback:
        lab = made.only_lab()
        own = {student: row for student, row in made.people.items() if student in made.marks[lab]}
        archive = made.archive(pages, make_moodle_names(lab, made.roster, own))
    made.write(table, out, archive, feedback)


@app.command(name="csv")
def csv_(
    labs: Labs,
    roster: People = None,
    out: Annotated[Path, typer.Option(metavar="CSV", help="The table to write.")] = GRADES / "export.csv",
    zeros: Zeros = False,
    without: Without = None,
    only_roster: OnlyRoster = False,
    db: Database = None,
) -> None:
    """Write one plain table: the students, and for each lab the score, the maximum, the late penalty, and the state.

    With --roster the table begins with the columns of that list, in its order; without it, with the gradebook's ids.
    The state is "graded", "waits" (for a mark by hand, or to be graded again), "unreadable" (the grader gave 0 points,
    because the file cannot be read), "excused", or "nothing handed in".

      course export csv 01_attention_intuition 02_self_attention --roster people.csv
    """
    made = _Export(labs, roster, without, only_roster, zeros=zeros, db=db)

    from autograder.integrations.exporting.tables import make_plain_table

    made.write(make_plain_table(made.marks, made.own_roster, made.people, made.cell), out)


@app.command()
def term(
    labs: Annotated[
        list[str] | None, typer.Argument(metavar="[LAB]…", help="The labs; all that have marks when none is named.")
    ] = None,
    roster: People = None,
    weight: Annotated[
        list[str] | None, typer.Option(metavar="LAB=NUMBER", help="A weight other than the one in course.toml.")
    ] = None,
    drop: Annotated[int, typer.Option(min=0, metavar="K", help="Drop the K labs with the lowest percents.")] = 0,
    out: Annotated[Path, typer.Option(metavar="CSV", help="The table to write.")] = GRADES / "term.csv",
    without: Without = None,
    only_roster: OnlyRoster = False,
    db: Database = None,
) -> None:
    """Write one table over the labs of a term: percents, weights, and their weighted mean.

    For each lab there are two columns: "LAB %" and "LAB counts", which has the lab's weight, or the word that says why
    it has none: dropped, excused, not due yet, waits. Then "weighted sum" is the sum of percent times weight, "weights"
    the sum of the weights, and "term %" the first divided by the second. The weights are those of course.toml.

      course export term --drop 1

      course export term --roster Grades.csv --only-roster --weight 10_language_model=2

    A lab that was not handed in counts as 0 percent, once it is due for the student. An excused lab is left out of the
    mean and of what is dropped. Of labs with equal percents the heaviest is dropped first, and one lab always stays.
    """
    from datetime import UTC, datetime

    made = _Export(labs or [], roster, without, only_roster, zeros=True, db=db)

    from autograder.integrations.exporting.term import TermRules, make_term_table, read_weights

    rules = TermRules(read_weights(made.course, [*made.marks], weight or ()), drop, datetime.now(UTC))
    table = make_term_table(made.course, made.marks, made.own_roster, made.people, rules)
    over = [] if labs else [lab.name for lab in made.course.labs if lab.due is not None and lab.due < rules.now]
    if absent := [name for name in over if name not in made.marks]:
        table.notes.append(f"{', '.join(absent)}: due, and nobody has a mark; left out of the table until somebody has")
    made.write(table, out)


@app.command()
def gradescope(
    lab: Lab,
    out: Annotated[
        Path | None, typer.Option(metavar="ZIP", help="The archive to write. [default: grades/gradescope-LAB.zip]")
    ] = None,
    show: Annotated[
        str, typer.Option(metavar="WHEN", help="When students see the tests: visible, after_due_date, after_published.")
    ] = "visible",
    seed: Seed = None,
) -> None:
    """Make an autograder for Gradescope, where students hand in and see their marks.

    Upload the archive in Gradescope: a Programming Assignment › Configure Autograder. Its set-up installs Python,
    the course's locked packages and those that course.toml adds, once, in some minutes. Choose a container with at
    least 4 GB of memory, and a time limit of 20 minutes. Then use Test Autograder with your solution: it
    must get full marks.

      course export gradescope 02_self_attention

    Each group of an exercise becomes a test that names the mistake and gives a hint. A hidden test tells instructors
    more. The walls around student code are weaker on Gradescope: read SECURITY.md, "On Gradescope", first. The archive
    holds the hidden cases and, for exercises of your own, the solution: give it to nobody else.
    """
    from autograder.integrations.gradescope.archive import make_archive
    from autograder.integrations.gradescope.results_json import VISIBILITIES

    if show not in VISIBILITIES:
        raise CourseError(f"--show {show} is unknown to Gradescope; choose one of {', '.join(VISIBILITIES)}")
    target = out or GRADES / f"gradescope-{lab}.zip"
    content = make_archive(load_course(), lab, show=show, seed=seed)
    write_atomically(target, content)
    say(f"wrote  {target}: {len(content) / 2**20:.1f} MB; upload it as the autograder")


class _Export:
    """The marks and people of one command, without whom it leaves out. Notes say what may surprise an instructor."""

    def __init__(
        self,
        labs: list[str],
        roster: Path | None,
        without: list[str] | None,
        only_roster: bool,
        *,
        columns: list[str] | None = None,
        zeros: bool,
        db: str | None,
        pages: Path = PAGES,
    ):
        self.course = load_course()
        self.headings = dict(column.partition("=")[::2] for column in columns or ())
        for lab in (*labs, *self.headings):
            self.course.lab(lab)  # a misspelt one is told before what is slow to import

        from autograder.course.roster import read_course_roster
        from autograder.grade.database import show_url
        from autograder.grade.gradebook import find_unknown_names
        from autograder.integrations.exporting.tables import Cell
        from autograder.marking.results_folder import read_current_marks

        self.cell = Cell(zeros)
        if empty := [lab for lab, heading in self.headings.items() if not heading]:
            raise CourseError(f"--column {empty[0]} has no heading; write --column {empty[0]}='HEADING'")
        self.own_roster: Roster | None = read_roster(roster) if roster else None
        if only_roster and self.own_roster is None:
            self.own_roster = read_course_roster(self.course)
        url = self.course.gradebook_at(db)
        self.notes = find_unknown_names(self.course, url)
        left_out = set(without or ())
        # The pages and tables of the course are not written from another gradebook than its own.
        is_its_own = pages.is_dir() and (db is None or pages != PAGES)
        recorded = read_current_marks(self.course, url, pages.parent if is_its_own else None)
        if only_roster and self.own_roster:
            named = {mark.student for mark in recorded if mark.lab in labs or not labs} - left_out
            if strangers := self.own_roster.strangers(sorted(named)):
                left_out.update(strangers)
                self.notes.append(
                    f"left out, because {self.own_roster.path} has nobody of this id: {', '.join(strangers)}"
                )
        self.marks: dict[str, dict[str, Mark]] = {}
        with_marks = [lab.name for lab in self.course.labs if any(mark.lab == lab.name for mark in recorded)]
        if not (labs := list(dict.fromkeys(labs)) or with_marks):
            raise CourseError(f"the gradebook {show_url(url)} holds no marks yet; run: course grade LAB PATH")
        for lab in labs:
            of_lab = [mark for mark in recorded if mark.lab == lab]
            if not of_lab:
                raise CourseError(
                    f"the gradebook {show_url(url)} holds no marks of {lab} yet; run: course grade {lab} PATH"
                )
            self.marks[lab] = {mark.student: mark for mark in of_lab if mark.student not in left_out}
            if not self.marks[lab]:
                raise CourseError(f"{lab}: no student is left after --without and --only-roster; leave out fewer")
            self.marks[lab] |= self._excused(lab, {*left_out, *self.marks[lab]})
        students = dict.fromkeys(student for of_lab in self.marks.values() for student in of_lab)
        self.people: dict[str, Row] = self.own_roster.match(students) if self.own_roster else {}

    def _excused(self, lab: str, others: Collection[str]) -> dict[str, Mark]:
        """The students who are excused from a lab and have handed in nothing, without the `others`."""
        from autograder.grade.marks import Mark
        from autograder.grade.results import LabResult

        return {
            student: Mark(LabResult(student, lab, ()), (), excused=True)
            for student, what in self.course.lateness.excused
            if what == lab and student not in others and (self.own_roster is None or self.own_roster.places(student))
        }

    @property
    def roster(self) -> Roster:
        assert self.own_roster is not None  # the command asks for it
        return self.own_roster

    def table(self, make: Callable[..., Table]) -> Table:
        return make(self.course, self.roster, self.marks, self.people, headings=self.headings, cell=self.cell)

    def only_lab(self) -> str:
        if len(self.marks) != 1:
            raise CourseError("--feedback packs the pages of one assignment: name one lab only")
        return next(iter(self.marks))

    def archive(self, pages: Path, names: dict[str, str]) -> tuple[bytes, int]:
        from autograder.integrations.exporting.feedback_archives import pack

        return pack(self.only_lab(), pages, names), len(names)

    def write(
        self, table: Table, target: Path, archive: tuple[bytes, int] | None = None, feedback: Path | None = None
    ) -> None:
        from autograder.grade.database import describe_other_cases
        from autograder.grade.marks import describe_waiting
        from autograder.integrations.exporting.term import NOT_DUE

        write_atomically(target, table.as_csv())
        count = len({student for of_lab in self.marks.values() for student in of_lab})
        whose = "1 student" if count == 1 else f"{count} students"
        say(f"wrote  {target}: marks of {whose}")
        if archive and feedback:
            write_atomically(feedback, archive[0])
            say(f"wrote  {feedback}: {archive[1]} pages")
        marks = [mark for of_lab in self.marks.values() for mark in of_lab.values()]
        waiting = [f"{sentence}; the cell is empty" for sentence in describe_waiting(marks)]
        for note in (*self.notes, *table.notes, *waiting, *describe_other_cases(marks)):
            say(f"note:  {note}")
        for lab, of_lab in self.marks.items():
            later = sum(row.get(f"{lab} counts") == NOT_DUE for row in table.rows)
            if self.own_roster and (absent := self.own_roster.people - len(of_lab) - later) > 0:
                written = "0" if self.cell.zeros else "nothing"
                people = "1 person of the roster has" if absent == 1 else f"{absent} people of the roster have"
                say(f"note:  {lab}: {people} no mark; {written} is written there")
