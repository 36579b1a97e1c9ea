"""Who belongs to the course: a name in course.toml that is nobody's is refused, with the names most like it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from shlex import quote

from autograder.course.roster import Roster, read_roster
from autograder.course.settings import FILE_NAME, Course, CourseError
from autograder.course.text import find_near
from autograder.grade.gradebook import read_students
from autograder.read import FoundSubmission, PassedOver
from autograder.read.layouts import show_place


def read_course_roster(course: Course) -> Roster:
    """The list of people that course.toml names.

    Raises:
        CourseError: it names none, or the file is no list of people.
    """
    if course.roster is None:
        raise CourseError(
            f'{course.root / FILE_NAME}: names no list of people; add roster = "people.csv" under [course], with the '
            "file that your platform exports"
        )
    return read_roster(course.roster)


def split_by_roster(
    roster: Roster, submissions: Iterable[FoundSubmission]
) -> tuple[list[FoundSubmission], list[PassedOver]]:
    """The submissions of those who are in the roster, and the others as passed over."""
    theirs, others = [], []
    for submission in submissions:
        if roster.places(submission.student):
            theirs.append(submission)
        else:
            others.append(pass_over_stranger(roster, submission))
    return theirs, others


def pass_over_stranger(roster: Roster, submission: FoundSubmission) -> PassedOver:
    """A submission that is passed over because its student is not in the roster."""
    place = show_place(str(submission.path)) if submission.path else submission.student
    return PassedOver(place, f"“{submission.student}” is not in {roster.path.name}.")


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
