"""Records of workers are read under a schema: what is odd, too large or about something else is no verdict."""

from __future__ import annotations

import json
import pickle
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.grading.results import ExerciseResult, GroupResult, LabResult
from autograder.integrations.cluster import records

GROUP = GroupResult("values", "right values", 1.0, False, "The columns sum to 1.", ("softmax_over_queries",))
EXERCISES = (
    ExerciseResult("double", 2, 2, "graded", seconds=0.25),
    ExerciseResult("square", 0.5, 3, "graded", ("half",), ("You halve it.",), (GROUP,), "why \ud800", "a hint"),
)
RESULT = LabResult("ada", "01_tiny", EXERCISES, repairs=("A cell came back.",), content_hash="c1", grader_version="g1")


def content() -> dict:
    return json.loads(records.verdict(RESULT))


def test_a_verdict_comes_back_as_it_was_without_the_students_name():
    record = records.read(records.verdict(RESULT))
    assert record.kind == "verdict"
    assert b"ada" not in records.verdict(RESULT)
    assert record.lab_result().to_dict() == RESULT.to_dict() | {"student": ""}


def test_why_there_is_no_verdict_comes_back():
    assert (records.read(records.failed("x" * 10_000)).kind, records.read(records.unfit("disk")).reason) == (
        "failed",
        "disk",
    )
    with pytest.raises(records.RecordError):
        records.read(records.failed("x")).lab_result()


def _changed(**values) -> bytes:
    record = content()
    record["result"] |= values
    return json.dumps(record).encode()


def _of_exercise(**values) -> bytes:
    record = content()
    record["result"]["exercises"][0] |= values
    return json.dumps(record).encode()


@pytest.mark.parametrize(
    "data",
    [
        None,
        "text",
        b"",
        b"null",
        b"[]",
        b'{"kind": "marvel"}',
        b'{"kind": "failed", "more": 1}',
        b"[" * 100_000,
        pickle.dumps(RESULT),
        b" " * (records.MOST_BYTES + 1),
        _changed(student="ada"),
        _changed(score=100),
        _changed(lab=7),
        _changed(timestamp="2026-01-01T00:00:00"),
        _changed(repairs=["x" * 100_000]),
        _of_exercise(score="2"),
        _of_exercise(score=-1),
        _of_exercise(score=1e300),
        _of_exercise(message=None),
        _of_exercise(groups=[{}]),
    ],
)
def test_what_is_no_record_is_refused(data):
    with pytest.raises(records.RecordError):
        records.read(data)


@pytest.mark.parametrize("values", [{"score": 3}, {"status": "marvellous"}])
def test_a_record_that_no_grader_writes_is_no_verdict(values):
    record = records.read(_of_exercise(**values))
    with pytest.raises(records.RecordError):
        record.lab_result()


def test_numbers_that_are_none_are_refused():
    with pytest.raises(records.RecordError):
        records.read(records.verdict(RESULT).replace(b'"score": 2.0', b'"score": NaN'))


@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: json.dumps(text).encode()))
def test_any_bytes_are_a_record_or_refused(data):
    with suppress(records.RecordError):
        records.read(data)


def test_whatever_a_submission_writes_its_record_can_be_read():
    """14,400 repairs and a message of a million characters: a client would refuse the record, for ever."""
    long = "x" * 1_700_000
    group = GroupResult("values", long[:100], 1.0, False, long)
    exercise = ExerciseResult("double", 0, 2, "graded", groups=(group,), message=long, hint="a hint")
    repairs = tuple(f"The cell {number} came back. {long[:3000]}" for number in range(14_400))
    data = records.verdict(LabResult("ada", "01_tiny", (exercise,), reason=long, repairs=repairs))
    result = records.read(data).lab_result()
    assert len(data) < 1 << 20 and len(result.repairs) == 200 and "and 14201 more" in result.repairs[-1]
    assert max(len(result.reason), len(result.exercises[0].message), len(result.exercises[0].groups[0].message)) == 2000
