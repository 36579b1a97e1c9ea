"""The one writer of marks: records verdicts, brings them into nbgrader's gradebook, and knows what is graded."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from shlex import quote
from typing import Any, TypeVar

from nbformat import NotebookNode
from nbgrader import api
from nbgrader.utils import parse_utc
from sqlalchemy import Connection, Row, delete, insert, inspect, make_url, select, text, update
from sqlalchemy.exc import IntegrityError, OperationalError
from sqlalchemy.orm import Session

from autograder.course.labs import cells_by_id
from autograder.course.roster import Roster, read_course_roster
from autograder.course.settings import FILE_NAME, Course, CourseError
from autograder.course.text import did_you_mean, find_near
from autograder.grade.database import (
    CaseState,
    CourseTable,
    Digests,
    GradebookError,
    MarkChange,
    NotedDate,
    Recorded,
    Removed,
    explain_failure,
    open_engine,
    open_for_reading,
    read_head,
)
from autograder.grade.marks import WHO, Mark, MarkReader, find_account, log_changes, set_by_hand, store_penalties
from autograder.grade.nbgrader_rows import (
    LabDates,
    ReleasedLab,
    add_missing_rows,
    read_cell_rows,
    read_lab,
    store_lab,
    store_submissions,
)
from autograder.grade.results import LabResult, check_path_part, cut, round_score, write_autograded

TRIES = 5
SERVER_TRIES = 14  # almost a minute, in which a server that went down can come back
LONGEST_PAUSE = 5.0
T = TypeVar("T")


class GradebookWriter:
    """Writes verdicts into nbgrader's gradebook at `db_url` (SQLite by default, any SQLAlchemy address).

    What `record` gets is one transaction: killed at any moment, the gradebook holds all of it or nothing. Two graders
    may write at once. An instructor's manual scores and comments are never changed; where the answer under one
    changed, nbgrader's "needs manual grade" is set. A context manager, or call `close`; not shared between processes.
    """

    def __init__(self, db_url: str, course: Course):
        self._course = course
        self._beside = db_url == course.db_url  # Formgrader shows the notebooks of the course's own gradebook only
        self._reader = MarkReader(course)
        log_changes(course)
        self._ready: dict[str, ReleasedLab] = {}
        with explain_failure(db_url):
            self._engine = open_engine(db_url)
            self._engine.connect().close()  # what is not there at all is not tried again, as a busy one is
            self._in_one_transaction(self._create_tables)

    def __enter__(self) -> GradebookWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the database connections back."""
        self._engine.dispose()

    # -- what grading writes -------------------------------------------------------------------------------------------

    def record(self, results: Sequence[LabResult]) -> list[LabResult]:
        """Write verdicts, with the autograded notebooks, in one transaction; return them with the state they got.

        Raises:
            GradebookError: a result names an exercise that its lab's notebook does not have; nothing is written.
        """
        by_lab: dict[str, dict[str, LabResult]] = {}
        for result in results:
            self._check(result)
            by_lab.setdefault(result.lab, {})[result.student] = result
        if self._beside:  # first, so that a row in the gradebook always has its notebook
            for result in results:
                write_autograded(self._course, result)

        def work(session: Session) -> list[LabResult]:
            recorded = {lab: self._record_lab(session, lab, of_lab) for lab, of_lab in by_lab.items()}
            return [recorded[result.lab][result.student] for result in results]

        return self._in_one_transaction(work) if results else []

    def _check(self, result: LabResult) -> None:
        check_path_part(result.student)
        self.ensure_lab(result.lab)
        graded = self._ready[result.lab].graded
        if unknown := [exercise.exercise for exercise in result.exercises if exercise.exercise not in graded]:
            raise GradebookError(
                f"{result.lab}: the result for {result.student} has the exercise {unknown[0]!r}, and the lab has no "
                f'such test cell; run "course release {result.lab}" and grade again'
            )

    def _record_lab(self, session: Session, lab: str, results: Mapping[str, LabResult]) -> dict[str, LabResult]:
        """Record verdicts on one lab, by student; what is stored of them is asked for once."""
        connection = session.connection()
        dates = LabDates(self._course, lab, connection)
        for student, handed_in in store_submissions(session, lab, results).items():
            if (came := results[student].timestamp) is not None:
                handed_in.timestamp = parse_utc(came)
            dates.write_extension(handed_in)
        session.flush()
        add_missing_rows(session, lab, results)
        of_these = (Recorded.lab == lab) & Recorded.student.in_(results)
        stored = connection.execute(select(Recorded.student, Recorded.answers).where(of_these))
        answers = {student: of_attempt for student, of_attempt in stored}
        connection.execute(delete(Recorded).where(of_these))
        grades, comments = (read_cell_rows(connection, lab, kind, results) for kind in (api.Grade, api.Comment))
        recorded, new, new_grades, new_comments = {}, [], [], []
        for student, result in results.items():
            attempt = _Attempt(result, self._ready[lab])
            changes = [attempt.grade(row, answers.get(student, {})) for row in grades[student]]
            waits = result.state == "graded" and any(change["needs_manual_grade"] for change in changes)
            recorded[student] = replace(result, state="needs_manual_grade") if waits else result
            new_grades += _find_differing(grades[student], changes)
            new_comments += _find_differing(comments[student], [attempt.comment(row.name) for row in comments[student]])
            new.append(
                {"student": student, "lab": lab, "content_hash": result.content_hash, "answers": attempt.answers}
                | {"grader_version": result.grader_version, "result": recorded[student]}
            )
        for table, rows in ((api.Grade, new_grades), (api.Comment, new_comments)):
            if rows:
                session.execute(update(table), rows)
        connection.execute(insert(Recorded), new)
        store_penalties(connection, self._reader, lab, results)
        return recorded

    def note_cases(self, lab: str, version: str, digests: Digests, *, is_now: bool = True) -> None:
        """Note the hidden cases with which a version of the grader grades, so that marks can be compared.

        Args:
            lab: the lab's name.
            version: that of the grader.
            digests: of each exercise's cases.
            is_now: whether marks of other versions are compared with these; not those of a seed of its own.
        """
        used_at = datetime.now(UTC) if is_now else None
        state = {"lab": lab, "version": version, "digests": {**digests}, "used_at": used_at}
        self._in_one_transaction(lambda session: session.merge(CaseState(**state)))

    def ensure_lab(self, lab: str) -> None:
        """Make nbgrader's gradebook know the lab's assignment, notebook and cells as they were released.

        Raises GradebookError when a cell with manual scores is no longer in the lab.
        """
        if lab not in self._ready:
            released = read_lab(self._course, lab)
            self._in_one_transaction(lambda session: store_lab(session, self._course, lab, released))
            self._ready[lab] = released

    def settle(self, lab: str) -> None:
        """Bring what nbgrader shows of a lab to what is released and to what course.toml says of lateness.

        Raises:
            GradebookError: a cell with marks by hand is no longer in the lab.
        """

        def work(session: Session) -> None:
            dates = LabDates(self._course, lab, session.connection())
            for handed_in in session.scalars(_select_work(lab)).all():
                dates.write_extension(handed_in)
            session.flush()
            store_penalties(session.connection(), self._reader, lab)

        if self._course.release_notebook(lab).is_file():
            self.ensure_lab(lab)
        self._in_one_transaction(work)

    def set_times(self, lab: str, times: Mapping[str, datetime]) -> None:
        """Set when submissions that are recorded already were handed in, by student, and what lateness costs them."""

        def work(session: Session) -> None:
            for handed_in in session.scalars(_select_work(lab).where(api.SubmittedAssignment.student_id.in_(times))):
                handed_in.timestamp = parse_utc(times[handed_in.student_id])
            for row in session.scalars(select(Recorded).where(Recorded.lab == lab, Recorded.student.in_(times))):
                row.result = replace(row.result, timestamp=times[row.student])
            session.flush()
            store_penalties(session.connection(), self._reader, lab, times.keys())

        self._in_one_transaction(work)

    # -- what a person decides -----------------------------------------------------------------------------------------

    def mark_by_hand(
        self, lab: str, student: str, part: str, points: float | None, because: str, by: str | None = None
    ) -> None:
        """Give points to a part of a submission in place of the automatic ones; with None give those back.

        Args:
            lab: the lab's name.
            student: whose submission.
            part: the graded cell.
            points: the points; None for the automatic ones.
            because: why, for the student.
            by: who does it, where it is not this account.

        Raises:
            GradebookError: there is no such submission or part, or the points are not between 0 and its maximum.
        """
        if points is not None:  # a mark on what the lab has no more can be taken back
            self.settle(lab)
        recorded = self.marks(lab, [student])
        if not recorded:
            students = [mark.student for mark in self.marks(lab)]
            raise GradebookError(f"{lab}: no submission of {student} is graded{did_you_mean(student, students)}")
        most = {candidate.name: candidate.max_score for candidate in recorded[0].parts}
        if part not in most:
            raise GradebookError(f"{lab}: has no graded part {part}; its parts are {', '.join(most)}")
        if points is not None and not 0 <= points <= most[part]:
            raise GradebookError(
                f"{lab}: {part} has {most[part]:g} points, and {points:g} is not between 0 and that; "
                "extra credit is given in Formgrader"
            )

        def work(session: Session) -> None:
            session.info[WHO] = by
            set_by_hand(session, lab, student, part, points, because)

        self._in_one_transaction(work)

    def remove(
        self, student: str, labs: Sequence[str], *, because: str = "", by: str | None = None, everything: bool = False
    ) -> None:
        """Remove the submissions of a student in some labs, and with `everything` the student as well; log it.

        Grading leaves out what is removed, until `take_back`.
        """
        scores = self.scores_of(student)

        def work(session: Session) -> None:
            for lab in labs:
                if recorded := session.get(Recorded, (student, lab)):
                    attempt = {"student": student, "lab": lab, "content_hash": recorded.content_hash}
                    session.merge(Removed(**attempt, removed_at=datetime.now(UTC)))
                    session.delete(recorded)
                own = _select_work(lab).where(api.SubmittedAssignment.student_id == student)
                for handed_in in session.scalars(own).all():
                    for notebook in handed_in.notebooks:
                        for row in (*notebook.grades, *notebook.comments, notebook):
                            session.delete(row)
                    session.delete(handed_in)
                session.execute(delete(NotedDate).where(NotedDate.lab == lab, NotedDate.student == student))
                entry = {"before": scores.get(lab), "because": cut(because), "by": by or find_account()}
                session.add(MarkChange(student=student, lab=lab, part="", **entry))
            if everything:
                session.execute(delete(api.Student).where(api.Student.id == student))
                session.execute(delete(Removed).where(Removed.student == student))  # every file of theirs is meant now
                session.add(Removed(student=student, lab="", content_hash=""))

        self._in_one_transaction(work)

    def take_back(self, student: str, lab: str | None = None) -> int:
        """Let grading take again what was removed of a student, in one lab or all; return how much that is."""
        removed = delete(Removed).where(Removed.student == student)
        removed = removed.where(Removed.lab == lab) if lab is not None else removed
        return self._in_one_transaction(lambda session: session.connection().execute(removed).rowcount)

    # -- what is there -------------------------------------------------------------------------------------------------

    def marks(self, lab: str | None = None, students: Collection[str] | None = None) -> list[Mark]:
        """What counts, without notebooks: of one lab or all, by student and lab; of some students only, if named."""
        with open_for_reading(self._engine) as connection:
            return self._reader.read(connection, lab, students)

    def scores_of(self, student: str) -> dict[str, float]:
        """What counts for a student, by lab of the course."""
        return {mark.lab: mark.score for mark in self.marks(students=[student])}

    def find_better(self, result: LabResult) -> float | None:
        """What the recorded attempt of the same student is worth, lateness counted, where that is more than this one.

        The same file graded again is no other attempt. An attempt that has no mark for an exercise of this one, or one
        out of other points, is not compared: it would have to be graded again first. Marks that a person gave by hand
        stand apart: they belong to the answer that they were given for.
        """
        query = select(Recorded.result).where(Recorded.student == result.student, Recorded.lab == result.lab)
        recorded = next((recorded for (recorded,) in self._rows(query)), None)
        if recorded is None or recorded.content_hash == result.content_hash:
            return None
        own = {exercise.exercise: exercise.max_score for exercise in result.exercises}
        common = tuple(exercise for exercise in recorded.exercises if own.get(exercise.exercise) == exercise.max_score)
        if len(common) < len(own):
            return None
        recorded = replace(recorded, exercises=common)
        worth = recorded.score - self.count_lost_by_lateness(recorded)
        return round_score(worth) if worth > result.score - self.count_lost_by_lateness(result) else None

    def count_lost_by_lateness(self, result: LabResult) -> float:
        """The points that a result loses because it came late; 0 where nothing says when it came, or was due."""
        with open_for_reading(self._engine) as connection:
            return self._reader.count_lost(result, connection)

    def find_graded(self, student: str, lab: str, content_hash: str, grader_version: str) -> LabResult | None:
        """The recorded result (without its notebook) if this very content was graded by this very grader, else None."""
        query = _select_recorded(lab, Recorded.result).where(Recorded.student == student)
        query = query.where(Recorded.content_hash == content_hash, Recorded.grader_version == grader_version)
        return next((result for (result,) in self._rows(query)), None)

    def attempts(self, lab: str) -> dict[str, tuple[datetime, str]]:
        """Of each recorded attempt of a lab whose time is known, when it was handed in, and its hash; by student."""
        came = api.SubmittedAssignment.timestamp
        query = _select_recorded(lab, Recorded.student, came, Recorded.content_hash).where(came.is_not(None))
        return {name: (when.replace(tzinfo=UTC), digest) for name, when, digest in self._rows(query)}

    def labs(self) -> list[str]:
        """The labs of the course that something was recorded of."""
        recorded = {lab for (lab,) in self._rows(select(Recorded.lab).distinct())}
        return [lab.name for lab in self._course.labs if lab.name in recorded]

    def labs_of(self, student: str) -> list[str]:
        """The labs of which there is a submission of a student, also those that the course no longer has."""
        handed_in = select(api.Assignment.name).join(api.Assignment.submissions).filter_by(student_id=student)
        recorded = select(Recorded.lab).where(Recorded.student == student)
        return sorted({lab for (lab,) in (*self._rows(handed_in), *self._rows(recorded))})

    def longest_extension(self, lab: str) -> timedelta:
        """The longest extension that counts for somebody's submission of a lab; 0 where there is none."""
        stored = _select_work(lab).with_only_columns(
            api.SubmittedAssignment.student_id, api.SubmittedAssignment.extension
        )
        with open_for_reading(self._engine) as connection:
            dates = LabDates(self._course, lab, connection)
            return max((dates.extension(*row) for row in connection.execute(stored)), default=timedelta(0))

    def read_removed(self, lab: str) -> dict[str, Removed]:
        """What grading of a lab leaves out because it was removed, by student."""
        query = select(Removed).where(Removed.lab.in_(("", lab))).order_by(Removed.lab.desc())
        return {row.student: Removed(**row._mapping) for row in self._rows(query)}

    def changes(self, lab: str, student: str | None = None) -> list[MarkChange]:
        """What was changed by hand in a lab, of one student or of all, the oldest change first."""
        query = select(MarkChange).where(MarkChange.lab == lab).order_by(MarkChange.number)
        query = query.where(MarkChange.student == student) if student is not None else query
        return [MarkChange(**row._mapping) for row in self._rows(query)]

    def _rows(self, query: Any) -> Sequence[Row]:
        with open_for_reading(self._engine) as connection:
            return connection.execute(query).all()

    # -- how it is written ---------------------------------------------------------------------------------------------

    def _create_tables(self, session: Session) -> None:
        """What nbgrader's own Gradebook does for a new database, in one transaction and without its subprocess."""
        connection = session.connection()
        fresh = not inspect(connection).get_table_names()
        api.Base.metadata.create_all(connection)
        CourseTable.metadata.create_all(connection)
        if fresh:
            connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)"))
            connection.execute(text("INSERT INTO alembic_version (version_num) VALUES (:head)"), {"head": read_head()})
        if session.get(api.Course, self._course.course_id) is None:
            session.add(api.Course(id=self._course.course_id))

    def _in_one_transaction(self, work: Callable[[Session], T]) -> T:
        """Do `work` and commit; begin anew when another writer was in the way, or the server was lost."""
        has_server = self._engine.dialect.name != "sqlite"
        for tries in count(1):
            try:
                with Session(self._engine, autoflush=True) as session, session.begin():
                    return work(session)
            except (IntegrityError, OperationalError) as error:
                lost = has_server and isinstance(error, OperationalError)
                if tries == (SERVER_TRIES if lost else TRIES):
                    raise
                time.sleep(min(0.2 * 2**tries, LONGEST_PAUSE))
        raise AssertionError("unreachable")


class _Attempt:
    """What nbgrader is to hold of one verdict, cell by cell.

    Attributes:
        answers: of each graded cell, a hash of what its mark depends on, as far as a mark by hand is concerned.
    """

    def __init__(self, result: LabResult, lab: ReleasedLab):
        self._cells = cells_by_id(result.notebook) if result.notebook is not None else {}
        self._lab = lab
        self._scores: dict[str, float | None] = {exercise.exercise: exercise.score for exercise in result.exercises}
        for name in lab.by_hand:
            to_mark = self._cells and (name in lab.tasks or self._is_answered(name))
            self._scores[name] = None if to_mark else 0.0
        self.answers = {name: self._answer_hash(name, result) for name in (*lab.graded, *lab.tasks)}

    def grade(self, row: Any, answers: Mapping[str, str]) -> dict[str, Any]:
        """The columns of a grade; `answers` are those of the attempt that it was for. A mark by hand stays."""
        score = self._scores.get(row.name, 0.0)
        is_same = answers.get(row.name) == self.answers[row.name] and row.auto_score == score
        waits = score is None if row.manual_score is None else row.needs_manual_grade or not is_same
        return {"auto_score": score, "needs_manual_grade": waits}

    def comment(self, name: str) -> dict[str, Any]:
        """The columns of the comment on a cell."""
        is_untouched = name in self._lab.solutions and name in self._cells and not self._is_answered(name)
        return {"auto_comment": "No response." if is_untouched else None}

    def _is_answered(self, name: str) -> bool:
        own: NotebookNode | None = self._cells.get(name)
        return own is not None and own.source.strip() != self._lab.cells[name].source.strip()

    def _answer_hash(self, name: str, result: LabResult) -> str:
        answer = self._cells.get(f"{name}-code") or self._cells.get(name)
        return hashlib.sha256((answer.source if answer else result.content_hash).encode("utf-8", "replace")).hexdigest()


def _find_differing(rows: Sequence[Any], changes: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The changed columns of those rows that change, each with the row's id, as a bulk update takes them."""
    differing = []
    for row, change in zip(rows, changes, strict=True):
        if columns := {name: value for name, value in change.items() if getattr(row, name) != value}:
            differing.append({"id": row.id, **columns})
    return differing


def _select_work(lab: str) -> Any:
    """nbgrader's submissions of a lab, as a query."""
    return select(api.SubmittedAssignment).join(api.Assignment).where(api.Assignment.name == lab)


def _select_recorded(lab: str, *columns: Any) -> Any:
    """Columns of what is recorded of a lab and still is a submission to nbgrader, as a query."""
    own = (Recorded.lab == api.Assignment.name) & (Recorded.student == api.SubmittedAssignment.student_id)
    query = select(*columns).select_from(api.SubmittedAssignment).join(api.SubmittedAssignment.assignment)
    return query.join(Recorded, own).where(api.Assignment.name == lab)


def read_marks(course: Course, db_url: str, lab: str | None = None) -> list[Mark]:
    """The marks that the gradebook at `db_url` holds, of one lab or of all; nothing is made or changed.

    Raises:
        CourseError: there is no such lab, something else is at this address, or it cannot be read.
    """
    name = course.lab(lab).name if lab is not None else None
    reader = MarkReader(course)
    return _read(db_url, Recorded, lambda connection: reader.read(connection, name))


def read_students(db_url: str) -> list[str]:
    """The names of all students in the gradebook at `db_url`, also of those who have handed in nothing.

    Raises:
        GradebookError: something else is at this address, or it cannot be read.
    """
    students = select(api.Student.id).order_by(api.Student.id)
    return _read(db_url, api.Student, lambda connection: [*connection.scalars(students)])


def _read(db_url: str, table: Any, query: Callable[[Connection], list[T]]) -> list[T]:
    """What `query` finds in a gradebook that has the table; nothing where no such gradebook is."""
    with explain_failure(db_url):
        url = make_url(db_url)
        if url.get_backend_name() == "sqlite" and not (url.database and Path(url.database).exists()):
            return []
        engine = open_engine(db_url)
        try:
            with open_for_reading(engine) as connection:
                return query(connection) if inspect(connection).has_table(table.__tablename__) else []
        finally:
            engine.dispose()


# -- names in course.toml that are nobody's ---------------------------------------------------------------------------


def find_unknown_names(course: Course, db_url: str, handed_in: Iterable[str] = ()) -> list[str]:
    """What is to be said of extensions and excuses in course.toml that are for nobody, one sentence for each.

    Somebody is who is in the gradebook, in the course's roster, or among those who have handed in just now. Where all
    three are empty there is nothing to compare with, and every name passes. Without a roster, who has handed in nothing
    yet looks like a misspelt name: then the sentences are notes, and nothing is refused.

    Args:
        course: the course.
        db_url: the gradebook.
        handed_in: students of the submissions that are about to be graded.

    Raises:
        CourseError: the course has a roster, and a student is unknown, who would get neither extension nor excuse.
    """
    named = [("extensions", student) for student, _, _ in course.lateness.extensions]
    named += [("excused", student) for student, _ in course.lateness.excused]
    if not named:
        return []
    students = {*read_students(db_url), *handed_in}
    roster = read_course_roster(course) if course.roster else None
    sentences = list(dict.fromkeys(_find_unknown(course, named, students, roster)))
    if roster and sentences:
        raise CourseError("\n".join(sentences))
    return sentences


def _find_unknown(
    course: Course, named: Iterable[tuple[str, str]], students: set[str], roster: Roster | None
) -> Iterator[str]:
    for table, student in named:
        if student in students or not (students or roster):
            continue
        places = set(roster.places(student)) if roster else set()
        same = sorted(student for student in students if roster and places & set(roster.places(student)))
        begin = f'{course.root / FILE_NAME}: {table}: "{student}"'
        if same:
            yield f'{begin} is {same[0]} in the gradebook; write student = "{same[0]}"'
        elif not places:
            where = f"neither in the gradebook nor in {roster.path}" if roster else "not in the gradebook"
            meant = find_near(student, [*sorted(students), *(roster.ids() if roster else ())])
            remedy = f"did you mean {' or '.join(meant)}? Write this name; " if meant else "correct the name; "
            right = (
                f"if it is right and nothing was handed in yet, type: nbgrader db student add {quote(student)}"
                if roster
                else "if it is right and nothing was handed in yet, nothing is to be done"
            )
            yield f"{begin} is {where}; {remedy}or, {right}"
