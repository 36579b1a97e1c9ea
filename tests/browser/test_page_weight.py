"""A lecture and the start page stay light: bytes over the wire, compressed as web servers send them."""

from __future__ import annotations

import gzip

import pytest
from page_weight import served, weigh
from test_web_site import window as window  # a fixture

pytestmark = [pytest.mark.long, pytest.mark.slow]

START, LECTURE = 300_000, 1_200_000  # bytes


def test_the_start_page_is_light(window, site):
    with served(site) as home:
        weight = weigh(window, f"{home}/index.html")
    assert 50_000 < weight.opened <= weight.read <= START


def test_a_lecture_is_light_read_to_its_end(window, site):
    """With all its pictures and live figures, which come when the reader does: Vega is weighed where there is one."""
    pages = sorted((site / "lectures").glob("[0-9]*.html"))
    with served(site) as home:
        weights = {page.stem: weigh(window, f"{home}/lectures/{page.name}") for page in pages}
    assert len(weights) > 10
    assert all(150_000 < weight.opened <= weight.read <= LECTURE for weight in weights.values()), weights
    vega = len(gzip.compress((site / "_static" / "vega" / "vega.js").read_bytes(), 6))
    live = [page for page in pages if 'class="course-figure course-live"' in page.read_text("utf-8")]
    assert len(live) > 5 and all(weights[page.stem].read - weights[page.stem].opened > vega for page in live), weights
