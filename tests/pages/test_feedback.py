"""The code on a student's page is coloured in a time that nobody's text can stretch."""

from __future__ import annotations

import html
import re

import pytest
from measuring import takes_at_most

from autograder.pages import feedback
from autograder.pages.feedback import LONGEST_LINE, MAX_SHOWN_CHARACTERS, _highlight

NASTY = {
    "lines of a blank": " \n",
    "lines of a tab": "\t\n",
    "lines of a form feed": "\x0c\n",
    "lines of a wide blank": "\u2003\n",
    "other ends of lines": " \r",
    "lines that another system ends": " \r\n",
    "blanks": " ",
    "form feeds": "\x0c",
    "backslashes": "\\\n",
    "open brackets": "(",
    "open braces in text": "{",
    "quotes": "'",
    "three quotes": '"""\n',
    "names of characters": "'\\N{",
    "keywords": "match \n",
    "soft keywords": "case ",
    "imports": "from ",
    "separators of lines": " \u2028",
}


def text_of(markup: str) -> str:
    return html.unescape(re.sub("<[^>]*>", "", markup))


@pytest.mark.long
@pytest.mark.parametrize("part", NASTY.values(), ids=NASTY)
@pytest.mark.parametrize("before, after", [("", ""), ("match ", "x"), ("f'", "x"), ("x =", " x")])
def test_no_text_takes_long_to_colour(before, part, after):
    long = MAX_SHOWN_CHARACTERS - len(before + after)
    with takes_at_most(1):
        _highlight(before + (part * long)[:long] + after)


def test_code_is_shown_as_it_was_written_but_for_blanks_that_nobody_sees():
    code = "def f(x):\n    a = 'b  c'\n\n\n    return x\n"
    assert text_of(_highlight(code)).strip() == code.strip()
    assert text_of(_highlight("a = 1  \n" + " \n" * 9 + "b = 2")).strip() == "a = 1\n\n\nb = 2"


def test_a_long_line_and_a_long_cell_are_cut():
    assert text_of(_highlight("x" * 2 * LONGEST_LINE + "\ny")).strip() == "x" * LONGEST_LINE + "  # …\ny"
    assert "cut here" in _highlight("x = 1\n" * MAX_SHOWN_CHARACTERS)


def test_every_page_forbids_what_is_not_its_own():
    """A browser loads nothing and runs nothing but the class report's own script, whatever a text smuggles in."""
    loader = feedback._environment().loader
    pages = {name: feedback.read_source(name) for name in loader.list_templates() if name.endswith(".html.j2")}
    assert {"feedback.html.j2", "class_report.html.j2"} <= pages.keys()
    for name, page in pages.items():
        (policy,) = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]+)">', page)
        sources = dict(part.strip().split(" ", 1) for part in policy.split(";"))
        assert sources.pop("default-src") == "'none'", name
        own = {"style-src": "'unsafe-inline'", "img-src": "data:", "script-src": "'{{ script_hash }}'"}
        assert sources.items() <= own.items(), name
