"""Random damage to submissions: nothing but a reason is raised, the release decides, and no earned point is lost."""

import copy
import json

import nbformat
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from test_submission_factory import ANSWERS, LOCKED, POINTS, STUBS, answered, as_bytes, release
from test_submission_repair import assert_sound, sources_before

from autograder.course.labs import find_checked_exercise, find_defined_names, only_checks
from autograder.read import CellStep, Unreadable, find_submissions, read_notebook, read_plan

RELEASE = release()
GRADE_IDS = [cell.metadata.nbgrader.grade_id for cell in RELEASE.cells if "nbgrader" in cell.metadata]
SLOW = settings(suppress_health_check=[HealthCheck.too_slow])

junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
positions = st.integers(0, 200)
damage = st.one_of(
    st.tuples(st.just("delete"), positions),
    st.tuples(st.just("duplicate"), positions, positions),
    st.tuples(st.just("move"), positions, positions),
    st.tuples(st.just("retype"), positions, st.sampled_from(["code", "markdown", "raw"])),
    st.tuples(st.just("strip"), positions),
    st.tuples(st.just("strip_all")),
    st.tuples(st.just("relabel"), positions, st.sampled_from([*GRADE_IDS, "unknown", "other-code"])),
    st.tuples(st.just("flags"), positions, st.dictionaries(st.sampled_from(["points", "grade", "locked"]), junk)),
    st.tuples(st.just("tags"), positions),
    st.tuples(st.just("id"), positions, st.sampled_from([*GRADE_IDS, "", "x y", "dup"])),
    st.tuples(st.just("stub"), positions, st.sampled_from(sorted(STUBS))),
    st.tuples(st.just("text"), positions, st.sampled_from(["", "x = (", "%%bash\nls", "notes", 'check("softmax")'])),
    st.tuples(st.just("split_lines"), positions),
)


def hurt(cells, kind, *how):
    """Apply one piece of damage to a list of cells of plain JSON."""
    if kind == "strip_all":
        for cell in cells:
            cell["metadata"] = {}
            cell.pop("id", None)
    if not how or not cells:
        return
    at = how[0] % len(cells)
    cell = cells[at]
    match kind:
        case "delete":
            del cells[at]
        case "duplicate":
            cells.insert(how[1] % (len(cells) + 1), copy.deepcopy(cell))
        case "move":
            cells.insert(how[1] % len(cells), cells.pop(at))
        case "retype":
            cell["cell_type"] = how[1]
        case "strip":
            cell["metadata"] = {}
            cell.pop("id", None)
        case "relabel":
            cell["metadata"] = {"nbgrader": {"grade_id": how[1], "solution": True}}
        case "flags":
            cell["metadata"].setdefault("nbgrader", {}).update(how[1])
        case "tags":
            cell["metadata"]["tags"] = ["skip-execution", "raises-exception"]
        case "id":
            cell["id"] = how[1]
        case "stub":
            fresh = {"cell_type": "code", "metadata": {"nbgrader": {"grade_id": f"{how[1]}-code"}}}
            cells.insert(at, fresh | {"source": STUBS[how[1]]})
        case "text":
            cells.insert(at, {"cell_type": "code", "metadata": {}, "source": how[1]})
        case "split_lines":
            cell["source"] = "".join(cell["source"]).splitlines(keepends=True)


@pytest.mark.long
@SLOW
@given(st.lists(damage, max_size=12))
def test_damaged_cells_cost_no_earned_point(wounds):
    notebook = json.loads(as_bytes(answered()))
    for wound in wounds:
        hurt(notebook["cells"], *wound)
    left = {"".join(cell["source"]) for cell in notebook["cells"]}
    try:
        plan = read_plan(json.dumps(notebook).encode(), RELEASE)
    except Unreadable:
        assert not left & set(ANSWERS.values())
        return
    assert_sound(plan)
    for name, source in ANSWERS.items():
        if source in left:
            assert source in sources_before(plan, name)
            assert name not in plan.missing | plan.untouched
        assert not plan.missing & plan.untouched
    assert {step.source for step in plan.steps if isinstance(step, CellStep) and step.locked} == set(LOCKED.values())


@SLOW
@given(st.data())
def test_json_of_any_shape_is_read_or_refused(data):
    notebook = json.loads(as_bytes(answered()))
    for _ in range(data.draw(st.integers(1, 6))):
        put_junk(notebook, data)
    refused_or_sound(json.dumps(notebook).encode())


def put_junk(notebook, data):
    """Replace a random part of a JSON tree by something else."""
    place = notebook
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            return
        key = data.draw(st.sampled_from(keys))
        if isinstance(place[key], dict | list) and place[key] and data.draw(st.integers(0, 3)):
            place = place[key]
            continue
        place[key] = data.draw(junk)
        return


@SLOW
@given(st.lists(st.tuples(st.integers(0, 20_000), st.binary(max_size=4), st.integers(0, 50)), min_size=1, max_size=4))
def test_damaged_bytes_are_read_or_refused(wounds):
    data = as_bytes(answered())
    for at, new, length in wounds:
        at %= len(data)
        data = data[:at] + new + data[at + length :]
        assume(data)
    refused_or_sound(data)


@SLOW
@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(data):
    refused_or_sound(data)


@SLOW
@given(junk)
def test_any_json_is_read_or_refused(content):
    refused_or_sound(json.dumps(content).encode())
    refused_or_sound(json.dumps({"cells": content}).encode())
    refused_or_sound(json.dumps({"nbformat": 3, "worksheets": [{"cells": [content]}]}).encode())


def refused_or_sound(data):
    try:
        nbformat.validate(read_notebook(data))
        plan = read_plan(data, RELEASE)
    except Unreadable as refused:
        assert refused.reason.encode()
        return
    assert_sound(plan)
    assert set(plan.exercises) == set(POINTS)
    assert all(sentence.encode() for sentence in plan.repairs)


@SLOW
@given(st.text(alphabet="def ass x=()[]:%!?\n'\"#\\", max_size=60))
def test_what_a_source_defines_is_told_for_any_text(source):
    find_defined_names(source)
    find_checked_exercise(source)
    only_checks(source)


@SLOW
@given(st.binary(max_size=200), st.integers(0, 2000))
def test_damaged_archives_give_verdicts(tmp_path_factory, junk_bytes, at):
    from test_submission_finding import pack

    data = pack({"ada/02_self_attention.ipynb": as_bytes(answered()), "bob.zip": pack({"x.ipynb": "x"})})
    at %= len(data)
    path = tmp_path_factory.mktemp("zips") / "all.zip"
    path.write_bytes(data[:at] + junk_bytes + data[at + len(junk_bytes) :])
    found = find_submissions([path], "02_self_attention")
    assert found.submissions or found.passed_over
    for submission in found.submissions:
        try:
            submission.read()
        except Unreadable as refused:
            assert refused.reason
