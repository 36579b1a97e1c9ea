"""What a browser gets of a submission's text cells; grading by nbgrader's commands is in test_nbgrader.py."""

from __future__ import annotations

import pytest

from autograder.grading.nbgrader_plugin import safe_markdown


@pytest.mark.parametrize(
    "source",
    [
        "<script>alert(1)</script>",
        '<img src="x" onerror="alert(1)">',
        '<a href="javascript:alert(1)">here</a>',
        "[here](javascript:alert(1))",
        "<style>body { display: none }</style>",
        '<iframe src="https://example.org"></iframe>',
        '<svg onload="alert(1)"></svg>',
        '<form action="https://example.org"><input></form>',
    ],
)
def test_nothing_that_runs_is_left(source):
    page = safe_markdown(f"Before.\n\n{source}\n\nAfter.")
    assert "Before." in page and "After." in page
    for word in ("<script", "onerror", "onload", "javascript:", "<style", "<iframe", "<svg", "<form", "<input"):
        assert word not in page.lower()


def test_text_code_formulas_pictures_and_links_stay():
    source = "# Why\n\n**a** `b < c` $x < y$ ![c](https://example.org/c.png) [d](https://example.org)\n\n3. one\n4. two"
    page = safe_markdown(source)
    assert "<strong>a</strong>" in page and "<code>b &lt; c</code>" in page and "x &lt; y" in page
    assert (
        'src="https://example.org/c.png"' in page and 'href="https://example.org"' in page and '<ol start="3">' in page
    )
