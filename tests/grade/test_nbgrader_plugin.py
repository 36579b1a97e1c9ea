"""What a browser gets of a submission's text cells; grading by nbgrader's commands is in test_nbgrader.py."""

from __future__ import annotations

import pytest

from autograder.grade.nbgrader_plugin import safe_markdown


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
    source = "# Why\n\n**a** `b < c` $x < y$ ![c](data/c.png) [d](https://example.org)\n\n3. one\n4. two"
    page = safe_markdown(source)
    assert "<strong>a</strong>" in page and "<code>b &lt; c</code>" in page and "x &lt; y" in page
    assert 'src="data/c.png"' in page and 'href="https://example.org"' in page and '<ol start="3">' in page


@pytest.mark.parametrize(
    "src", ["https://example.org/c.png", "//example.org/c.png", "/hub/logout", "../../x", "\\\\e\\x"]
)
def test_a_picture_from_elsewhere_does_not_tell_who_looks(src):
    page = safe_markdown(f'![one]({src}) <img alt="two" src="{src}">')
    assert "src" not in page and 'alt="one"' in page and 'alt="two"' in page


def test_no_text_looks_like_a_button_of_the_page():
    page = safe_markdown('<span class="btn btn-primary n" id="next">Next</span>\n\n```python\nx = 1\n```')
    assert (
        "btn" not in page and "id=" not in page and 'class="highlight"' in page and '<span class="n">x</span>' in page
    )
