"""Reading a submission: every file is either a sound notebook or refused in a sentence a student understands."""

import codecs
import io
import json
import zipfile

import nbformat
import pytest
from measuring import takes_at_most
from test_submission_factory import ANSWERS, LAB, answered, as_bytes, cell_of, code, release

from autograder.course import labs
from autograder.read import Unreadable, read_notebook, read_plan, reading
from autograder.read.child import helper_cells
from coursekit.check.cells import read_cells

GOOD = as_bytes(answered())


def notebook_with(**changes):
    """Return the good notebook's JSON with the softmax cell changed; a value of None removes the key."""
    notebook = json.loads(GOOD)
    cell = next(cell for cell in notebook["cells"] if cell["id"] == "softmax-code")
    cell.update(changes)
    return json.dumps(notebook).encode()


def softmax_source(data):
    return cell_of(read_notebook(data), "softmax-code").source


def reason_for(data):
    with pytest.raises(Unreadable) as refused:
        read_notebook(data)
    assert refused.value.reason.endswith((".", "…"))
    return refused.value.reason


def docx():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("[Content_Types].xml", "x")
        archive.writestr("word/document.xml", "x")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b" \n\t", "empty"),
        (b"\0" * 5000, "zero bytes"),
        (GOOD[: len(GOOD) // 2], "cut off"),
        (GOOD[:-1], "cut off"),
        (GOOD.replace(b'"cells": [', b'"cells": [,', 1), "line 1, column"),
        (b"<!DOCTYPE html><html></html>", "web page"),
        (b"<?xml version='1.0'?><a/>", "XML"),
        (b"import numpy as np\nprint(1)", "Python script"),
        (b"Dear professor, see attached", "plain text"),
        (docx(), "Word"),
        (b"PK\x03\x04rest", "zip archive"),
        (b"%PDF-1.7 x", "PDF"),
        (b"\x89PNG\r\n\x1a\n", "picture"),
        (b"Rar!\x1a\x07", "RAR"),
        (b"[" * 200_000, "nested too deeply"),
        (b'{"cells":' * 100_000, "nested too deeply"),
        (b"42", "JSON but not a notebook"),
        (b"[]", "JSON but not a notebook"),
        (b'{"a": 1}', "no list of cells"),
        (b'{"nbformat": 4, "cells": {"a": 1}}', "no list of cells"),
        (b'{"cells": [\n<<<<<<< HEAD\n1\n=======\n2\n>>>>>>> x\n]}', "merge conflict"),
    ],
)
def test_what_is_no_notebook_is_refused_with_what_it_looks_like(data, words):
    assert words in reason_for(data)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_encodings(encoding):
    text = notebook_with(source="x = 'é√'").decode()
    text = json.dumps(json.loads(text), ensure_ascii=False)
    read = read_notebook(text.encode(encoding))
    assert cell_of(read, "softmax-code").source == "x = 'é√'"
    assert bool(read.repairs) == (not encoding.startswith("utf-8"))


def test_stray_latin_1_byte_keeps_the_utf_8_around_it():
    data = json.dumps(json.loads(notebook_with(source="x = 'é√§'")), ensure_ascii=False).encode()
    assert softmax_source(data.replace("§".encode(), b"\xa7")) == "x = 'é√§'"


def test_cut_off_utf_16_is_refused_not_a_crash():
    assert "cut off" in reason_for((codecs.BOM_UTF16_LE + GOOD.decode().encode("utf-16-le"))[:1001])


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a\nb", "a\nb"),
        (["a\n", "b"], "a\nb"),
        (["a", "b"], "a\nb"),
        (["a\n", 3, None, "b"], "a\nb"),
        ([], ""),
        (None, ""),
        (7, "7"),
        (True, ""),
        ({"a": 1}, ""),
        ("a\0b", "ab"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("\ufeffa", "a"),
        ("\ud800x", "\ufffdx"),
        ("\U0001f600", "\U0001f600"),
    ],
)
def test_sources_of_every_type(source, expected):
    assert softmax_source(notebook_with(source=source)) == expected


@pytest.mark.parametrize("junk", [None, 3, "text", [1], {"nbgrader": 3}, {"nbgrader": {"grade_id": [1]}}, float("nan")])
def test_junk_in_place_of_metadata_and_ids(junk):
    read = read_notebook(notebook_with(metadata=junk))
    nbformat.validate(read)
    nbformat.validate(read_notebook(notebook_with(id=junk)))
    nbformat.validate(read_notebook(notebook_with(outputs=junk, execution_count=junk, attachments=junk)))


@pytest.mark.parametrize("version", [3, 2, 5, 1, None, "4", -1, 4.0, {}])
def test_other_format_numbers_are_read_as_format_4(version):
    notebook = json.loads(GOOD)
    notebook["nbformat"] = version
    read = read_notebook(json.dumps(notebook).encode())
    assert cell_of(read, "softmax-code").source == ANSWERS["softmax"]


@pytest.mark.parametrize("version", [2, 3])
def test_old_formats_are_upgraded(version):
    cells = [
        {"cell_type": "heading", "level": 2, "source": ["Lab\n", "one"], "metadata": {}},
        {"cell_type": "code", "language": "python", "input": [ANSWERS["softmax"]], "outputs": [], "collapsed": False},
    ]
    old = {"nbformat": version, "nbformat_minor": 0, "metadata": {}, "worksheets": [{"cells": cells}]}
    read = read_notebook(json.dumps(old).encode())
    nbformat.validate(read)
    assert [cell.source for cell in read.cells] == ["## Lab one", ANSWERS["softmax"]]
    assert "old format" in read.repairs[0]
    assert "softmax" not in read_plan(json.dumps(old).encode(), release()).missing


def test_small_breaches_of_json_are_mended():
    assert softmax_source(GOOD + b"\0\0\n")
    assert softmax_source(GOOD + b'{"second": 1}')
    assert softmax_source(GOOD.replace(b"\\n", b"\n")) == ANSWERS["softmax"]
    assert softmax_source(notebook_with(execution_count=float("inf")))
    assert softmax_source(GOOD.replace(b'"execution_count": 1', b'"execution_count": ' + b"9" * 6000))


def test_cells_that_are_none_are_left_out():
    notebook = json.loads(GOOD)
    notebook["cells"][0:0] = [None, 3, "text", {}, {"cell_type": []}]
    read = read_notebook(json.dumps(notebook).encode())
    nbformat.validate(read)
    assert len(read.cells) == len(answered().cells) + 2


def test_pictures_in_text_are_kept_and_everything_else_is_dropped():
    notebook = json.loads(GOOD)
    notebook["cells"][0]["attachments"] = {"a.png": {"image/png": "aGk=", "text/html": "<script>"}, "b": 3}
    notebook["metadata"]["widgets"] = {"state": 1}
    read = read_notebook(json.dumps(notebook).encode())
    assert read.cells[0].attachments == {"a.png": {"image/png": "aGk="}}
    assert read.metadata == {}


def test_limits(monkeypatch):
    monkeypatch.setattr(reading, "MAX_FILE_BYTES", 2**20)
    assert "are not read" in reason_for(b" " * (2**20 + 1))
    monkeypatch.setattr(reading, "MAX_SOURCE_CHARACTERS", 100)
    assert "of text" in reason_for(GOOD)
    monkeypatch.setattr(reading, "MAX_CELLS", 3)
    assert "more than 3" in reason_for(GOOD)


def test_large_outputs_do_not_matter():
    outputs = [{"output_type": "stream", "name": "stdout", "text": "x" * 30_000_000}]
    data = notebook_with(outputs=outputs)
    with takes_at_most(5):
        assert softmax_source(data) == ANSWERS["softmax"]


def test_note_a_student_writes_into_the_file_is_no_repair():
    notebook = json.loads(GOOD) | {"repairs": ["full marks"]}
    assert read_notebook(json.dumps(notebook).encode()).repairs == ()
    assert LAB in read_notebook(GOOD).cells[2].source


@pytest.mark.long
@pytest.mark.parametrize(
    "source", [" " * 900_000 + "%", "a" * 900_000 + "?!", "x = [" + "1," * 450_000 + "]", "x=" + "-" * 900_000 + "1"]
)
def test_hostile_sources_are_looked_through_in_no_time(source):
    with takes_at_most(3):
        labs.find_defined_names("def softmax():\n    pass\n" + source)
        labs.only_checks(source)


@pytest.mark.long
def test_a_notebook_with_much_output_is_read():
    notebook = json.loads(GOOD)
    table = {"data": [{"x": number, "y": [number, "text"]} for number in range(200_000)]}
    notebook["cells"][3]["outputs"] = [{"output_type": "display_data", "data": {"application/json": table}}]
    data = json.dumps(notebook).encode()
    assert len(data) > 5_000_000 and read_notebook(data) == read_notebook(GOOD)


@pytest.mark.long
def test_latin_1_throughout_is_read_in_no_time():
    with takes_at_most(10):
        assert "not a notebook" in reason_for(b"\xe9" * 20_000_000)


def test_more_code_than_can_be_read_is_not_run():
    notebook = json.loads(GOOD)
    spare = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": "a;" * 4000}
    notebook["cells"] += [spare] * 300
    read = read_notebook(json.dumps(notebook).encode())
    assert read.repairs == (reading.TOO_MUCH,)
    assert read.cells[-1].source == "" and read.cells[len(notebook["cells"]) - 300].source
    assert cell_of(read, "softmax-code").source == ANSWERS["softmax"]


@pytest.mark.long
@pytest.mark.parametrize("magic", ["time", "timeit", "capture", "prun", "debug"])
def test_options_of_a_magic_are_read_once(magic):
    """Each option could be split in two ways, and 40 pairs of them took years."""
    with takes_at_most(10):
        read_cells([f"%{magic} " + "-a" * 40 + "!", f"%{magic} " + "-a-b " * 5_000 + "!"])


def test_cells_of_empty_lines_are_read_at_once():
    notebook = answered()
    notebook.cells += [code("\n" * 190_000) for _ in range(8)] + [code("\n" * 1_000_000)]
    with takes_at_most(20):
        plan = read_plan(as_bytes(notebook), release())
        helper_cells(plan.steps)
    assert not plan.missing
