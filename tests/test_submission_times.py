"""Times of handing in, from text that a student may have written."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.submission.times import as_time

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-01 12:00:00 UTC",
        "2026-03-01T12:00:00",
        "2026-03-01 12:00:00.000000 UTC\n",
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
