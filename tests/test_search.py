"""What the search page makes of a reader's words before it looks in the index: run in Node.js."""

from __future__ import annotations

import json
import subprocess

import pytest
from site_building import ROOT

from autograder.integrations.site.formulas import node_here

# The page's script, in a window whose search only tells how it reads words.
_PROGRAM = """
const told = {};
class PagefindUI { constructor(options) { Object.assign(told, options); } }
globalThis.window = { location: { search: "" }, PagefindUI };
require(process.argv[1]);
const words = JSON.parse(process.argv[2]);
console.log(JSON.stringify(words.map((each) => told.processTerm(each))));
"""
READ = {
    "√d": "sqrt d",
    "why divide by √ d_k": "divide sqrt d_k",
    "KV cache": "key value cache",
    "how do I hand in": "submit",
    "handing in": "submit",
    "FFN": "feed-forward",
    "ViT": "vision transformer",
    "the": "the",
    "softmax": "softmax",
}


def test_signs_short_forms_and_words_that_stand_everywhere():
    if node_here() is None:
        pytest.skip("needs Node.js")
    command = ["node", "-e", _PROGRAM, "--", str(ROOT / "site" / "_static" / "search.js"), json.dumps(list(READ))]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert [" ".join(each.split()) for each in json.loads(done.stdout)] == list(READ.values())
