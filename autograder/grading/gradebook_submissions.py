"""nbgrader's rows for the submissions of a batch: loaded together, and made where they are missing."""

from __future__ import annotations

from collections.abc import Iterable

from nbgrader import api
from sqlalchemy import select
from sqlalchemy.orm import Session

from autograder.grading.gradebook_cells import comment_rows, grade_rows, insert_missing, notebook_query


class SubmissionRows:
    """The rows of some students' submissions of one lab.

    Attributes:
        handed_in: the submitted assignment of each student.
        submitted: the submitted notebook of each student.
        grades: of each student, by cell. Those that are new are stored by `store_new`, when they are filled in.
        comments: of each student, by cell; see `grades`.
    """

    def __init__(self, session: Session, lab: str, students: Iterable[str]):
        names = list(dict.fromkeys(students))
        known = set(session.scalars(select(api.Student.id).where(api.Student.id.in_(names))))
        session.add_all(api.Student(id=name) for name in names if name not in known)
        session.flush()
        assignment = session.scalars(select(api.Assignment).where(api.Assignment.name == lab)).one()
        notebook = session.scalars(notebook_query(lab)).one()

        kind = api.SubmittedAssignment
        stored = session.scalars(select(kind).where(kind.assignment_id == assignment.id, kind.student_id.in_(names)))
        self.handed_in = {submission.student_id: submission for submission in stored}
        for name in names:
            if name not in self.handed_in:
                self.handed_in[name] = kind(assignment_id=assignment.id, student_id=name)
                session.add(self.handed_in[name])
        session.flush()

        students_of = {submission.id: name for name, submission in self.handed_in.items()}
        rows = api.SubmittedNotebook
        notebooks = session.scalars(
            select(rows).where(rows.notebook_id == notebook.id, rows.assignment_id.in_([*students_of]))
        )
        self.submitted = {students_of[notebook.assignment_id]: notebook for notebook in notebooks}
        for name in names:
            if name not in self.submitted:
                self.submitted[name] = rows(assignment_id=self.handed_in[name].id, notebook_id=notebook.id)
                session.add(self.submitted[name])
        session.flush()

        inside = list(self.submitted.values())
        grades = grade_rows(session, notebook.id, inside)
        comments = comment_rows(session, notebook.id, inside)
        self.grades = {name: grades[submission.id] for name, submission in self.submitted.items()}
        self.comments = {name: comments[submission.id] for name, submission in self.submitted.items()}

    def store_new(self, session: Session) -> None:
        """Store the grades and comments that were missing, as they are now."""
        insert_missing(session, self.grades)
        insert_missing(session, self.comments)
