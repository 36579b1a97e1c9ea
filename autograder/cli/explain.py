"""`course explain`: repeats a graded submission, for a student who asks why."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from autograder.course.near import did_you_mean
from autograder.course.printable import printable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from autograder.course.settings import Course
    from autograder.grade.explaining import Explanation, FailedCase
    from autograder.grade.marks import Mark
    from autograder.grade.results import ExerciseResult


def explain(
    lab: Annotated[str, typer.Argument(help="The lab, such as 02_self_attention.")],
    student: Annotated[str, typer.Argument(help="The student's id, as in grades.csv.")],
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
    db: Annotated[str | None, typer.Option(metavar="URL", help="Gradebook; the course's own by default.")] = None,
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
    from autograder.course.settings import CourseError, load_course

    course = load_course()
    lab = course.lab(lab).name
    mark = _recorded(course, lab, student, course.gradebook_at(db))
    _check_exercise(course, mark, exercise)

    from autograder.grade.preloading import start_sandbox  # slow to import: what is misspelt is told before
    from autograder.read import ReaderLost
    from autograder.sandbox import SandboxUnavailable, WorkerLost

    try:
        with start_sandbox(course, lab, unsafe=unsafe) as warm:
            from autograder.grade import explaining  # slow to import: meanwhile the sandbox warms up
            from autograder.grade.lab_grader import LabGrader

            grader = LabGrader(course, lab, seed=seed)
            work = explaining.graded_work(course, lab, mark, source, grader.known)
            explained = explaining.explain(grader, work, warm.result())
    except SandboxUnavailable as error:
        raise CourseError(f"{error}\n`course doctor` explains; --unsafe runs it without the sandbox") from error
    except (WorkerLost, ReaderLost) as error:
        raise CourseError(f"nothing can be said, by no fault of the submission: {error}. Try again") from error
    out = Console()
    if work.note:
        _say(out, f"note:  {work.note}")
    if mark.result.grader_version != grader.version:
        _say(out, "note:  graded with another state of lab, grader or seed; the hidden cases may be others now")
    recorded = {result.exercise: result for result in mark.result.exercises}
    chosen = [
        explanation
        for name, explanation in explained.items()
        if name == exercise or (exercise is None and _lost(explanation))
    ]
    if save is not None:
        number = explaining.save_inputs(save, chosen)
        _say(out, f"{save}: {number} inputs of failed cases, named EXERCISE/CASE/INPUT")
    for explanation in chosen:
        _show(explanation, recorded.get(explanation.result.exercise), out)
    if not chosen:
        _say(out, f"{student} loses no points in {lab} when the work runs again; name an exercise to see its groups")


def _recorded(course: Course, lab: str, student: str, url: str) -> Mark:
    from autograder.course.settings import CourseError
    from autograder.grade.gradebook import recorded_marks

    marks = {mark.student: mark for mark in recorded_marks(course, url, lab)}
    if student not in marks:
        hint = did_you_mean(student, marks) or f"; grade first: course grade {lab} PATH"
        raise CourseError(f"{lab}: no submission of {student} is graded{hint}")
    return marks[student]


def _check_exercise(course: Course, mark: Mark, exercise: str | None) -> None:
    """Raise CourseError unless the lab, as it is released now, has this exercise."""
    from autograder.course.cells import answers_in_words, points
    from autograder.course.released import read_released
    from autograder.course.settings import CourseError

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


def _lost(explained: Explanation) -> bool:
    return bool(explained.failed) or not explained.result.passed


def _show(explained: Explanation, recorded: ExerciseResult | None, out: Console) -> None:
    result = explained.result
    _say(out, "")
    _say(out, f"{result.exercise}: {result.score:g} of {result.max_score:g} points ({result.status})")
    if recorded is None:
        _say(out, "  no mark for it yet: the lab got this exercise after the work was graded; grade it again")
    elif (recorded.score, recorded.max_score) != (result.score, result.max_score):
        graded = f"{recorded.score:g} of {recorded.max_score:g}"
        _say(out, f"  graded with {graded} points: this run differs from the recorded one")
    for sentence in (*result.sentences, result.message):
        if sentence:
            _say(out, f"  {sentence}")
    for group in result.groups:
        worth = result.points_of(group)
        _say(
            out, f"  {'passed' if group.passed else 'failed'}  {group.title}: {worth * group.passed:.4g} of {worth:.4g}"
        )
    for failed in explained.failed:
        _show_case(failed, explained.cases, out)


def _show_case(failed: FailedCase, cases: int, out: Console) -> None:
    case, came = failed.case, failed.attempt.outputs
    _say(out, "")
    _say(out, f"  case {failed.number} of {cases} ({case.group}, mode {case.mode}): {case.description}")
    _say(out, f"    {failed.problem}")
    _show_values(out, "input", case.inputs)
    _show_values(out, "came", came or {})
    _show_values(out, "expected", case.expected)
    for name in case.expected:
        _say(out, f"    bound      {name}: ± {case.tolerance.get(name, 0.0):.3g}")
    if case.property:
        _say(out, f"    property   {case.property}")


def _show_values(out: Console, heading: str, values: Mapping[str, Any]) -> None:
    from autograder.grade.explaining import shown

    for name, value in values.items():
        text = shown(value).replace("\n", "\n" + " " * 15)
        _say(out, f"    {heading:10} {name}: {text}")


def _say(out: Console, text: str) -> None:
    out.print(escape(printable(text)), highlight=False, soft_wrap=True)
