"""A verdict as Gradescope's results.json: each group of an exercise is a test, with the mistake named and a hint."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from autograder.course.text import on_one_line
from autograder.grade.results import ExerciseResult, LabResult, round_score
from autograder.worker.protocol import WallReport
from coursekit.check.judge import STATUS_WORDS

VISIBILITIES = ("visible", "after_due_date", "after_published")


def write_results(
    result: LabResult, walls: Sequence[WallReport], *, show: str = "visible", by_hand: float = 0.0
) -> bytes:
    """Return the file that Gradescope reads.

    Every text is declared as plain text, so nothing that a student wrote is taken for HTML. What only an instructor
    sees (statuses, ids of mistakes, seconds, walls) is in a test of its own, without points, which is hidden.

    Args:
        result: the verdict.
        walls: what stood around the student's code.
        show: when students see the tests: `visible`, `after_due_date` or `after_published`.
        by_hand: points of answers in words, which are not in the score.
    """
    head = [result.reason] if result.reason else []
    head += [f"Put right before grading: {repair}" for repair in result.repairs]
    if by_hand:
        head.append(f"Answers in words, {by_hand:g} points, are marked by a person and are not in this score.")
    if result.content_hash:
        file = on_one_line(result.file) or "a notebook"
        head.append(f"What arrived: {file}. SHA-256 of the file: {result.content_hash}")
    tests = [test | {"visibility": show} for exercise in result.exercises for test in _make_tests(exercise)]
    for number, test in enumerate(tests, start=1):
        test["number"] = str(number)
    content = {
        "score": result.score,
        "output": "\n".join(head),
        "output_format": "text",
        "visibility": show,
        "stdout_visibility": "hidden",
        "tests": [*tests, _tell_instructors(result, walls)],
    }
    return (json.dumps(content, indent=1, ensure_ascii=True) + "\n").encode()


def _make_tests(exercise: ExerciseResult) -> Iterator[dict[str, Any]]:
    if not exercise.groups:
        why = exercise.message or STATUS_WORDS[exercise.status]
        yield _make_test(exercise.exercise, exercise.score, exercise.max_score, exercise.passed, why)
        return
    said = [f"It looks like this: {sentence}" for sentence in exercise.sentences]
    said += [f"Hint: {exercise.hint}"] if exercise.hint else []
    failing = next((group for group in exercise.groups if not group.passed), None)
    given = possible = 0.0
    for number, group in enumerate(exercise.groups, start=1):
        last = number == len(exercise.groups)
        most = round_score(exercise.max_score - possible if last else exercise.points_of(group))
        score = most if group.passed else 0.0
        if last:  # what rounding leaves: the tests add up to the exercise
            score = round_score(min(max(exercise.score - given, 0.0), most))
        given, possible = given + score, possible + most
        text = [group.message] if group.message else []
        text += said if group is failing else []
        yield _make_test(f"{exercise.exercise}: {group.title}", score, most, group.passed, "\n".join(text))


def _make_test(name: str, score: float, most: float, passed: bool, output: str) -> dict[str, Any]:
    return {
        "name": name.replace("`", ""),
        "name_format": "text",
        "score": score,
        "max_score": most,
        "status": "passed" if passed else "failed",
        "output": output,
        "output_format": "text",
    }


def _tell_instructors(result: LabResult, walls: Sequence[WallReport]) -> dict[str, Any]:
    lines = [f"state {result.state}, grader {result.grader_version or '-'}, file {result.content_hash[:16] or '-'}"]
    lines += [
        f"{exercise.exercise}: {exercise.status}, {exercise.score:g}/{exercise.max_score:g}, {exercise.seconds:.1f} s"
        f"{', ' + ', '.join(exercise.misconceptions) if exercise.misconceptions else ''}"
        for exercise in result.exercises
    ]
    lines.append("walls: " + ", ".join(wall.name if wall.stands else f"NOT {wall.name} ({wall.why})" for wall in walls))
    return _make_test("For instructors", 0.0, 0.0, True, "\n".join(lines)) | {"visibility": "hidden"}
