"""What a worker says of one submission: JSON of plain types, which the client reads under a schema with limits."""

from __future__ import annotations

import json
from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from autograder.grading.results import LabResult

MOST_BYTES = 4 << 20

_Name = Annotated[str, Field(max_length=256)]
_Text = Annotated[str, Field(max_length=65_536)]
_Names = Annotated[list[_Name], Field(max_length=256)]
_Number = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]


class RecordError(ValueError):
    """Bytes that are no record, or a record that answers another question."""


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class _Group(_Strict):
    name: _Name
    title: _Text
    weight: _Number
    passed: bool
    message: _Text
    misconceptions: _Names


class _Exercise(_Strict):
    exercise: _Name
    score: _Number
    max_score: _Number
    status: _Name
    misconceptions: _Names
    sentences: Annotated[list[_Text], Field(max_length=256)]
    groups: Annotated[list[_Group], Field(max_length=256)]
    message: _Text
    hint: _Text
    seconds: _Number


class _Result(_Strict):
    student: Literal[""]
    lab: _Name
    exercises: Annotated[list[_Exercise], Field(max_length=1024)]
    state: _Name
    reason: _Text
    repairs: Annotated[list[_Text], Field(max_length=10_000)]
    content_hash: _Name
    grader_version: _Name
    timestamp: AwareDatetime | None
    file: _Name = ""


class Record(_Strict):
    """What came of one submission.

    `kind` is "verdict" with a `result`, or says why there is none, with a `reason`: "failed" where a fault of the
    grader or of the machine stands in the way of this one, "unfit" where the worker can grade nobody at present.
    """

    kind: Literal["verdict", "failed", "unfit"]
    reason: _Text = ""
    result: _Result | None = None

    def lab_result(self) -> LabResult:
        """The verdict, for a student who is not named in it. Raises RecordError where there is none, or an odd one."""
        if self.result is None:
            raise RecordError("a verdict without a result")
        try:
            return LabResult.from_dict(self.result.model_dump())
        except (ValueError, TypeError, KeyError) as error:
            raise RecordError(str(error)) from error


def verdict(result: LabResult) -> bytes:
    """The record of a verdict. It names no student: the client knows whose submission it was."""
    return _encoded({"kind": "verdict", "result": result.to_dict() | {"student": ""}})


def failed(reason: str) -> bytes:
    """The record of a submission that the grader could not judge, by no fault of the submission."""
    return _encoded({"kind": "failed", "reason": reason[:4096]})


def unfit(reason: str) -> bytes:
    """The record of a worker that can grade nobody at present."""
    return _encoded({"kind": "unfit", "reason": reason[:4096]})


def read(data: object) -> Record:
    """The record in what a worker returned.

    Raises:
        RecordError: anything else than the bytes of a well-formed record.
    """
    if not isinstance(data, bytes) or len(data) > MOST_BYTES:
        raise RecordError("not the bytes of a record, or too many of them")
    try:
        return Record.model_validate_json(data)
    except ValidationError as error:
        raise RecordError(str(error.errors(include_input=False, include_url=False)[0])) from error


def _encoded(content: object) -> bytes:
    return json.dumps(content, allow_nan=False).encode("utf-8", "replace")
