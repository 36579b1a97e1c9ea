"""What the search page makes of a reader's words before it looks in the index: run in Node.js."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest
from site_building import ROOT

from autograder.integrations.site.formulas import find_node

# The page's script, in a window whose search only tells how it reads words.
_PROGRAM = """
const told = {};
class PagefindUI { constructor(options) { Object.assign(told, options); } }
globalThis.window = { location: { search: "" }, PagefindUI };
require(process.argv[1]);
const [name, given] = JSON.parse(process.argv[2]);
console.log(JSON.stringify(given.map((each) => told[name](each))));
"""
READ = {
    "√d": "sqrt d",
    "why divide by √ d_k": "divide sqrt d_k",
    "KV cache": "key-value cache",
    "how do I hand in": "submit",
    "handing in": "submit",
    "FFN": "feed-forward",
    "ViT": "vision transformer",
    "the": "the",
    "softmax": "softmax",
}


def answers(name: str, given: list[object]) -> list[Any]:
    """What an option of the search makes of each of the things that are given."""
    if find_node() is None:
        pytest.skip("needs Node.js")
    command = ["node", "-e", _PROGRAM, "--", str(ROOT / "site" / "_static" / "search.js"), json.dumps([name, given])]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def test_signs_short_forms_and_words_that_stand_everywhere():
    assert [" ".join(text.split()) for text in answers("processTerm", list(READ))] == list(READ.values())


def test_a_root_in_a_heading_and_in_an_excerpt_is_shown_as_a_root():
    part = {"title": r"5 · Why \sqrt{d_k}", "excerpt": r"by <mark>\sqrt{d_k};</mark> then \operatorname{softmax}(s)"}
    (found,) = answers("processResult", [{"excerpt": r"· Why <mark>\sqrt</mark> D", "sub_results": [part]}])
    assert found == {
        "excerpt": "Why <mark>√</mark> D",
        "sub_results": [{"title": "5 · Why √d_k", "excerpt": "by <mark>√d_k;</mark> then softmax(s)"}],
    }
