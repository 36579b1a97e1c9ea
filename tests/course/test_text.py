"""Text that students chose is shown without anything in it that acts."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.course.text import on_one_line, printable
from autograder.read.layouts import show_place

ACTS = ("\x1b]0;title\x07", "\x1b[2J", "\x9b31m", "\u202e", "\u2066", "\u2028", "\u2029", "\u200b", "\ufeff", "\udce9")


@pytest.mark.parametrize("text", ACTS)
def test_what_acts_becomes_an_underscore(text):
    shown = printable(f"ada {text} bob")
    assert shown.startswith("ada _") and shown.endswith(" bob")
    shown.encode("utf-8")


@pytest.mark.parametrize("text", ["", "Zoë Ångström", "名前", "two\nlines", "👩 ½ “x”", "a\u0301"])
def test_what_is_seen_stays(text):
    assert printable(text) == text


@given(st.text(st.characters()))
def test_no_text_keeps_a_character_that_acts(text):
    shown = printable(text)
    assert len(shown) == len(text)
    assert all(unicodedata.category(character)[0] != "C" or character == "\n" for character in shown)


def test_a_name_begins_no_line_of_its_own():
    forged = "eve\nno verdict ada\x1b[2J"
    assert on_one_line(forged) == "eve_no verdict ada_[2J"
    assert "\n" not in show_place(f"/class/{forged}")
