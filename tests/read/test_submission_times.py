"""Times of handing in, from text that a student may have written."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.read import FileSource
from autograder.read.handing_in import as_platform_time, as_time, time_in

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-01 12:00:00 UTC",
        "2026-03-01T12:00:00",
        "2026-03-01T12:00:00Z",
        "2026-03-01 12:00:00.000000 UTC\n",
        "2026-03-01 13:00:00.0000000+01:00",
        "2026-03-01 13:00:00 +0100",
        "2026-03-01 13:00:00 +01:00",
        "2026-03-01 13:00:00 Europe/Berlin",
        "2026-03-01 13:00:00 CET",
    ],
)
def test_times_are_read_in_utc(text):
    assert as_time(text) == NOON
    assert as_time(text).tzinfo is UTC


@pytest.mark.parametrize(
    "text",
    [
        "9999-12-31 23:59:59 -2359",
        "0001-01-01 00:00:00 +2359",
        "0000-01-01 00:00:00",
        "1969-01-01 00:00:00 UTC",
        "2101-01-01 00:00:00 UTC",
        "2026-02-30 12:00:00 UTC",
        "2026-03-01 25:00:00 UTC",
        "2026-03-01 12:00:00 +9999",
        "2026-03-01 12:00:00 Nowhere/Land",
        "2026-03-01 12:00:00 /etc/passwd",
        "2026-03-01 12:00:00 Europe",
        "٢٠٢٦-03-01 12:00:00",
        "yesterday",
        "",
    ],
)
def test_what_cannot_be_true_is_no_time(text):
    assert as_time(text) is None


@given(
    st.from_regex(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d{1,6})?\s*([+-]\d\d:?\d\d|[A-Za-z_/+-]+)?")
    | st.text()
    | st.datetimes().map(lambda moment: f"{moment} -2359")
)
def test_no_text_raises(text):
    found = as_time(text)
    assert found is None or 2000 <= found.year <= 2100


@pytest.mark.parametrize(
    "text",
    [
        "Sunday, 1 March 2026, 1:00 PM",
        "Sunday, 1 Mar 2026, 01:00 PM",
        "1 March 2026, 13:00",
        "1 March 2026, 13:00:00",
        "2026-03-01 13:00:00",
        "2026-03-01T12:00:00Z",
        "2026-03-01 12:00:00 UTC",
    ],
)
def test_times_of_platforms_are_read_in_the_zone_of_the_course(text):
    assert as_platform_time(text, timezone(timedelta(hours=1))) == NOON


@pytest.mark.parametrize(
    "text",
    [
        "-",
        "",
        "Sunday, 30 February 2026, 1:00 PM",
        "1 März 2026, 13:00",
        "1 March 2026, 13:00 PM",
        "1 March 2026, 0:30 am",
        "2026-03-01 13:00:00 (EST)",
    ],
)
def test_other_texts_of_platforms_are_no_times(text):
    assert as_platform_time(text, UTC) is None


def test_midnight_and_noon_have_the_right_half_of_the_day():
    assert as_platform_time("1 March 2026, 12:30 AM", UTC).hour == 0
    assert as_platform_time("1 March 2026, 12:30 PM", UTC).hour == 12
    assert as_platform_time("1 March 2026, 11:59 PM", UTC).hour == 23


def test_a_file_that_holds_no_time_or_cannot_be_read_says_nothing(tmp_path):
    path = tmp_path / "timestamp.txt"
    assert time_in(FileSource(path)) is None
    path.write_bytes(b"\xff\xfe")
    assert time_in(FileSource(path)) is None
    path.write_text("2026-03-01 12:00:00 UTC\n")
    assert time_in(FileSource(path)) == datetime(2026, 3, 1, 12, tzinfo=UTC)
