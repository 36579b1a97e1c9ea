"""`course explain`: repeats a graded submission, for a student who asks why."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from autograder.cli.console import Database, Lab, Student, say
from autograder.course.settings import Course, CourseError, load_course
from autograder.course.text import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from autograder.grade.explaining import Explanation, FailedCase
    from autograder.grade.marks import Mark
    from autograder.grade.results import ExerciseResult


def explain(
    lab: Lab,
    student: Student,
    exercise: Annotated[
        str | None, typer.Argument(metavar="[EXERCISE]", help="Only this exercise; all that lost points by default.")
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option("--from", metavar="PATH", help="The notebook, folder or archive that was handed in."),
    ] = None,
    save: Annotated[
        Path | None, typer.Option(metavar="FILE.npz", help="Write the inputs of the failed cases here.")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of the hidden cases, if grading was given one.")] = None,
    db: Database = None,
    unsafe: Annotated[
        bool, typer.Option("--unsafe", help="Run without the sandbox where it cannot be built. Only for trusted code.")
    ] = False,
) -> None:
    """Repeat the failed cases of a graded submission, for a student who asks why.

      course explain 02_self_attention ada_1815

      course explain 02_self_attention ada_1815 SelfAttention --save case.npz

    The work runs in the sandbox as it does in grading, and the comparison happens outside. The command shows the points
    of each group, and for each failed case its inputs, what came, what was expected and the bound. It changes no mark.

    --save writes the inputs: numpy.load("case.npz")["SelfAttention/3/x"] is the input x of case 3. They are hidden
    cases: who gets them can test an answer against them.

    The work is looked for in submitted/, then in autograded/. Where it is gone, name it with --from.
    """
    course = load_course()
    lab = course.lab(lab).name
    mark = _read_mark(course, lab, student, course.gradebook_at(db))
    _check_exercise(course, mark, exercise)

    from autograder.read import ReaderLost
    from autograder.sandbox import SandboxUnavailable, WorkerLost
    from autograder.sandbox.warm import start_sandbox  # slow to import: what is misspelt is told before

    try:
        with start_sandbox(course, lab, unsafe=unsafe) as warm:
            from autograder.grade import explaining  # slow to import: meanwhile the sandbox warms up
            from autograder.grade.lab_grader import LabGrader

            grader = LabGrader(course, lab, seed=seed)
            work = explaining.find_work(course, lab, mark, source, grader.known)
            explained = explaining.explain(grader, work, warm.result())
    except SandboxUnavailable as error:
        raise CourseError(f"{error}\n`course doctor` explains; --unsafe runs it without the sandbox") from error
    except (WorkerLost, ReaderLost) as error:
        raise CourseError(f"nothing can be said, by no fault of the submission: {error}. Try again") from error
    if work.note:
        say(f"note:  {work.note}")
    if mark.result.grader_version != grader.version:
        say("note:  graded with another state of lab, grader or seed; the hidden cases may be others now")
    recorded = {result.exercise: result for result in mark.result.exercises}
    chosen = [
        explanation
        for name, explanation in explained.items()
        if name == exercise or (exercise is None and _loses_points(explanation))
    ]
    if save is not None:
        number = explaining.save_inputs(save, chosen)
        say(f"{save}: {number} inputs of failed cases, named EXERCISE/CASE/INPUT")
    for explanation in chosen:
        _show(explanation, recorded.get(explanation.result.exercise))
    if not chosen:
        say(f"{student} loses no points in {lab} when the work runs again; name an exercise to see its groups")


def _read_mark(course: Course, lab: str, student: str, url: str) -> Mark:
    from autograder.grade.gradebook import read_marks

    marks = {mark.student: mark for mark in read_marks(course, url, lab)}
    if student not in marks:
        hint = did_you_mean(student, marks) or f"; grade first: course grade {lab} PATH"
        raise CourseError(f"{lab}: no submission of {student} is graded{hint}")
    return marks[student]


def _check_exercise(course: Course, mark: Mark, exercise: str | None) -> None:
    """Raise CourseError unless the lab, as it is released now, has this exercise."""
    from autograder.course.labs import answers_in_words, points, read_released

    released = read_released(course, mark.lab)
    words = answers_in_words(released)
    names = [name for name in points(released) if name not in words]
    if exercise is None or exercise in names:
        return
    there = f"its exercises are {', '.join(names)}"
    for verdict in mark.result.exercises:
        if verdict.exercise == exercise:
            worth = f"it was graded with {verdict.score:g} of {verdict.max_score:g} points"
            raise CourseError(f"{exercise} is no longer in {mark.lab}, so nothing can be repeated; {worth}; {there}")
    raise CourseError(f"{mark.lab} has no exercise {exercise}; {there}")


def _loses_points(explained: Explanation) -> bool:
    return bool(explained.failed) or not explained.result.passed


def _show(explained: Explanation, recorded: ExerciseResult | None) -> None:
    result = explained.result
    say("")
    say(f"{result.exercise}: {result.score:g} of {result.max_score:g} points ({result.status})")
    if recorded is None:
        say("  no mark for it yet: the lab got this exercise after the work was graded; grade it again")
    elif (recorded.score, recorded.max_score) != (result.score, result.max_score):
        graded = f"{recorded.score:g} of {recorded.max_score:g}"
        say(f"  graded with {graded} points: this run differs from the recorded one")
    for sentence in (*result.sentences, result.message):
        if sentence:
            say(f"  {sentence}")
    for group in result.groups:
        worth = result.points_of(group)
        verdict = "passed" if group.passed else "failed"
        say(f"  {verdict}  {group.title}: {worth * group.passed:.4g} of {worth:.4g}")
    for failed in explained.failed:
        _show_case(failed, explained.cases)


def _show_case(failed: FailedCase, cases: int) -> None:
    case, came = failed.case, failed.attempt.outputs
    say("")
    say(f"  case {failed.number} of {cases} ({case.group}, mode {case.mode}): {case.description}")
    say(f"    {failed.problem}")
    _show_values("input", case.inputs)
    _show_values("came", came or {})
    _show_values("expected", case.expected)
    for name in case.expected:
        say(f"    bound      {name}: ± {case.tolerance.get(name, 0.0):.3g}")
    if case.property:
        say(f"    property   {case.property}")


def _show_values(heading: str, values: Mapping[str, Any]) -> None:
    from autograder.grade.explaining import show_value

    for name, value in values.items():
        text = show_value(value).replace("\n", "\n" + " " * 15)
        say(f"    {heading:10} {name}: {text}")
