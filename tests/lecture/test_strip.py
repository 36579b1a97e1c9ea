"""What the strip of the site's lectures is made from: the encoder's parameters but for rounding, and one palette."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from models_in_pages import SITE, library_model, small_bert

from coursekit.lecture import bert, recorded
from coursekit.lecture.diagrams import PALETTE

tf = pytest.importorskip("tensorflow")


def test_the_files_hold_every_parameter_that_the_page_needs_half_of_the_bytes_or_more_in_float16(tmp_path):
    small_bert().write(tmp_path / "strip")
    written = (tmp_path / "strip" / "small_bert.bin").read_bytes()
    header = json.loads((tmp_path / "strip" / "small_bert.json").read_text("utf-8"))
    named = {
        variable.name.split(":")[0]: variable.numpy() for variable in tf.saved_model.load(bert.ENCODER).mlm.variables
    }
    half = end = 0
    for name, told in header["arrays"].items():
        stored = {"float16": "<f2", "float32": "<f4"}[told["type"]]
        assert told["start"] == end and end % 4 == 0
        value = np.frombuffer(written, stored, named[name].size, end).reshape(told["shape"])
        np.testing.assert_allclose(value, named.pop(name), rtol=2**-11 if stored == "<f2" else 0, atol=2**-25)
        end += value.nbytes
        half += value.nbytes * (stored == "<f2")
    assert end == len(written) < 3.5e6
    assert half >= end / 2
    assert header["arrays"]["words/embeddings"]["type"] == "float16"
    assert {name.split("/")[0] for name in named} <= {"pooler"}
    assert len(header["pieces"]) == header["arrays"]["words/embeddings"]["shape"][0]


def test_the_language_model_s_files_say_where_they_come_from_and_hold_the_lecture_s_model(tmp_path):
    folder = SITE / "_static" / "strip"
    record = json.loads((folder / "library_model.json").read_text("utf-8"))
    assert set(record) == set(recorded.FIELDS)
    assert record["command"] == "python site/library_model.py" and record["seed"] == 1
    assert "standard library of Python 3" in record["data"] and "PSF licence" in record["data"]
    model, results = library_model().load()
    written = (folder / "library_model.bin").read_bytes()
    end = 0
    for name, value in library_model().arrays_of(model).items():
        told = results["arrays"][name]
        assert told == {"shape": list(value.shape), "type": value.dtype.name, "start": end}
        assert written[end : end + value.nbytes] == value.tobytes()
        end += value.nbytes
    assert end == len(written) < 2e6
    assert sum(value.size for value in library_model().arrays_of(model).values()) == model.count_params()
    assert model.blocks[0].attention.split == (results["heads"], 128 // results["heads"])
    assert results["held-out bits a byte"] < 2.1  # 1.70 to 1.71 in three recorded runs of as many steps


def test_the_strip_has_the_colours_of_the_courses_pictures():
    sheet = (SITE / "_static" / "strip" / "strip.css").read_text("utf-8").partition("html[data-theme")[0]
    used = dict(re.findall(r"--strip-(\w+): (#\w{6});", sheet))
    assert {"query", "key", "value"} < used.keys()
    assert used == {name: PALETTE[name] for name in used}


def test_each_lecture_with_a_strip_exists_and_its_part_has_stages():
    parts = dict(re.findall(r'"(lectures/\w+)": "(\w+)"', (SITE / "conf.py").read_text("utf-8")))
    assert len(parts) == 7
    assert parts.pop("lectures/10_language_model") == "writer"
    assert all((SITE.parent / f"{page}.ipynb").is_file() for page in parts)
    script = (SITE / "_static" / "strip" / "strip.js").read_text("utf-8")
    offered = re.search(r"const PARTS = \{(.*?)\};", script, re.DOTALL)
    assert set(parts.values()) == set(re.findall(r"^  (\w+): \[", offered[1], re.MULTILINE))
