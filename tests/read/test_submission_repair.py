"""Repairing a submission: whatever was done to the notebook, the release decides and no earned point is lost."""

import copy
import pickle
import time

import nbformat
import pytest
from measuring import slowness
from nbgrader.nbgraderformat import MetadataValidator
from test_submission_factory import (
    ANSWERS,
    IMPORTS,
    LAB,
    LOCKED,
    POINTS,
    STUBS,
    answered,
    as_bytes,
    cell_of,
    code,
    flags,
    position_of,
    raw,
    release,
)

from autograder.course.labs import ABSENT, text_hash
from autograder.read import CellStep, ProbeStep, Unreadable, read_notebook, read_plan, read_release, repair

RELEASE = release()


def plan_of(notebook, **more):
    plan = read_plan(as_bytes(notebook), RELEASE, **more)
    assert_sound(plan)
    return plan


def assert_sound(plan):
    """Assert what holds for every plan: probes, points, locked text and a valid notebook."""
    nbformat.validate(plan.notebook)
    MetadataValidator().validate_nb(plan.notebook)
    probes = [step for step in plan.steps if isinstance(step, ProbeStep)]
    assert sorted(step.exercise for step in probes) == sorted(POINTS)
    assert all(step.points == POINTS[step.exercise] for step in probes)
    assert plan.exercises == POINTS
    locked = [step.source for step in plan.steps if isinstance(step, CellStep) and step.locked]
    assert sorted(locked) == sorted(LOCKED.values())
    code_steps = [step for step in plan.steps if isinstance(step, CellStep)]
    assert [step.source for step in code_steps[:2]] == [LOCKED["setup"], LOCKED["imports"]]
    for step in code_steps:
        cell = plan.notebook.cells[step.index]
        assert (cell.source, cell.id, cell.cell_type) == (step.source, step.cell_id, "code")
    theirs = {cell.metadata.nbgrader.grade_id: cell.metadata for cell in RELEASE.cells if "nbgrader" in cell.metadata}
    ours = {c.metadata.nbgrader.grade_id: c.metadata for c in plan.notebook.cells if "nbgrader" in c.metadata}
    assert ours == theirs
    assert all(not cell.outputs and cell.execution_count is None for cell in plan.notebook.cells if "outputs" in cell)


def sources_before(plan, exercise):
    """Return the code that has run when an exercise is probed, in order."""
    end = next(i for i, s in enumerate(plan.steps) if isinstance(s, ProbeStep) and s.exercise == exercise)
    return [step.source for step in plan.steps[:end] if isinstance(step, CellStep)]


def assert_answered(plan, *exercises):
    for exercise in exercises or POINTS:
        assert ANSWERS[exercise] in sources_before(plan, exercise)
        assert exercise not in plan.missing | plan.untouched


def test_what_the_instructor_changed_is_not_laid_to_the_student():
    """The student has the lab of last week: another helper, and an exercise fewer."""
    old = "def show(x):\n    print(x)"
    earlier = {"helper": [text_hash(f"{old}  \n")], "attend": [ABSENT], "attend-code": [ABSENT]}
    lab = read_release(RELEASE, earlier)
    notebook = answered()
    cell_of(notebook, "helper").source = old
    notebook.cells = [cell for cell in notebook.cells if cell.id not in ("attend", "attend-code")]
    plan = read_plan(as_bytes(notebook), lab)
    assert_sound(plan)
    assert plan.repairs == (
        "Your instructor changed the lab since you got it. These cells are now as in the new version: "
        "“helper”, “attend-code”, “attend”.",
    )
    assert plan.reasons == {"attend": "Your instructor added it after you got the lab."}
    cell_of(notebook, "helper").source = f"{old}\nprint(1)"
    (own, _) = read_plan(as_bytes(notebook), lab).repairs
    assert own.startswith("The locked cell “helper” was changed"), "this one the student has written"


def test_exercise_that_the_instructor_removed_is_named():
    notebook = answered()
    labelled = [("gone", "gone"), ("typed", ""), ("softmax", "gone-too")]
    notebook.cells += [code(f'check("{name}")', metadata=flags(label) if label else {}) for name, label in labelled]
    assert plan_of(notebook).repairs == ("Your instructor has removed “gone”: it earns and costs nothing.",)


def test_whole_notebook_runs_in_order_without_repairs():
    plan = plan_of(answered())
    names = [step.exercise if isinstance(step, ProbeStep) else step.source for step in plan.steps]
    expected = [LOCKED["setup"], IMPORTS, ANSWERS["softmax"], "softmax", LOCKED["helper"], ANSWERS["attend"], "attend"]
    expected += [ANSWERS["SelfAttention"], "SelfAttention", ANSWERS["answers"], "answers"]
    assert names == expected
    assert plan.repairs == ()
    assert [cell.id for cell in plan.notebook.cells] == [cell.id for cell in RELEASE.cells]


def test_release_itself_is_untouched_everywhere():
    plan = plan_of(RELEASE)
    assert plan.untouched == set(POINTS)
    assert plan.missing == set()
    assert plan.manual[0].untouched


def test_tags_points_and_flags_of_the_submission_have_no_effect():
    notebook = answered()
    for cell in notebook.cells:
        cell.metadata.tags = ["skip-execution", "raises-exception"]
        if "nbgrader" in cell.metadata:
            cell.metadata.nbgrader.update(points=1e9, grade=False, solution=True, locked=False, checksum="0")
    assert plan_of(notebook).steps == plan_of(answered()).steps


def test_changed_locked_cells_are_the_releases_again():
    notebook = answered()
    cell_of(notebook, "softmax").source = "pass"
    cell_of(notebook, "helper").source = "def show(x):\n    return 1\n\ndef mine(x):\n    return x"
    plan = plan_of(notebook)
    steps = [step.source for step in plan.steps if isinstance(step, CellStep)]
    changed = next(i for i, source in enumerate(steps) if "def mine" in source)
    assert steps[changed + 1] == LOCKED["helper"]
    assert_answered(plan)


def test_import_added_to_the_locked_imports_still_runs():
    notebook = answered()
    cell_of(notebook, "imports").source += "\nimport math"
    plan = plan_of(notebook)
    assert IMPORTS + "\nimport math" in sources_before(plan, "softmax")


def test_answer_written_into_a_locked_text_is_there_for_the_person_who_grades():
    lab = release()
    cell_of(lab, "essay-task").metadata = {"nbgrader": flags("essay-task", locked=True)["nbgrader"]}
    notebook = copy.deepcopy(lab)
    cell_of(notebook, "essay-task").source += "\n\nBecause of the variance."
    plan = read_plan(as_bytes(notebook), lab)
    nbformat.validate(plan.notebook)
    sources = [cell.source for cell in plan.notebook.cells]
    assert sources[-3:] == [
        "## In your words\nExplain.\n\nBecause of the variance.",
        "## In your words\nExplain.",
        "YOUR ANSWER HERE",
    ]


def test_changed_setup_cell_is_not_run():
    notebook = answered()
    cell_of(notebook, "setup").source = "!pip install everything"
    assert not any("pip" in source for source in sources_before(plan_of(notebook), "answers"))


@pytest.mark.parametrize("added, said", [("", False), ("\nimport pandas", True)])
def test_a_setup_cell_that_names_the_site_is_no_change(added, said):
    notebook = answered()
    cell_of(
        notebook, "setup"
    ).source = f"{LOCKED['setup']}\n    %pip install https://course.example/coursekit.zip{added}"
    plan = plan_of(notebook)
    assert any("setup" in sentence for sentence in plan.repairs) is said
    assert not any("pip" in source for source in sources_before(plan, "answers"))


def test_solution_written_into_the_test_cell_counts():
    notebook = answered()
    cell_of(notebook, "softmax").source = ANSWERS["softmax"] + '\ncheck("softmax")'
    notebook.cells.remove(cell_of(notebook, "softmax-code"))
    plan = plan_of(notebook)
    assert any(source.startswith(ANSWERS["softmax"]) for source in sources_before(plan, "softmax"))
    assert "softmax" not in plan.missing


@pytest.mark.parametrize("grade_id", ["setup", "imports", "helper", *POINTS])
def test_deleted_locked_cell_comes_back_in_place(grade_id):
    notebook = answered()
    notebook.cells.remove(cell_of(notebook, grade_id))
    plan = plan_of(notebook)
    assert [cell.id for cell in plan.notebook.cells] == [cell.id for cell in RELEASE.cells]
    assert plan.steps == plan_of(answered()).steps
    assert any(grade_id in sentence for sentence in plan.repairs)


def test_deleted_solution_is_missing_and_the_rest_stands():
    notebook = answered()
    notebook.cells.remove(cell_of(notebook, "attend-code"))
    plan = plan_of(notebook)
    assert plan.missing == {"attend"}
    assert STUBS["attend"] not in sources_before(plan, "attend")
    assert_answered(plan, "softmax", "SelfAttention", "answers")


@pytest.mark.parametrize("kind", ["markdown", "raw"])
def test_solution_retyped_as_text_is_code_again(kind):
    notebook = answered()
    cell_of(notebook, "softmax-code").cell_type = kind
    assert_answered(plan_of(notebook))


def test_old_version_parked_as_text_does_not_replace_the_answer():
    notebook = answered()
    labelled = cell_of(notebook, "softmax-code")
    parked = copy.deepcopy(labelled)
    parked.update(id="parked", cell_type="raw", source="def softmax(x):\n    return x")
    notebook.cells.insert(position_of(notebook, "softmax-code") + 1, parked)
    plan = plan_of(notebook)
    assert parked.source not in sources_before(plan, "answers")
    assert_answered(plan)


def test_copies_run_in_order_before_the_probe_and_the_stub_is_dropped():
    notebook = answered()
    first = copy.deepcopy(cell_of(notebook, "softmax-code"))
    first.update(id="one", source="def softmax(x):\n    return 1")
    stub = copy.deepcopy(first)
    stub.update(id="two", source=STUBS["softmax"])
    late = copy.deepcopy(first)
    late.update(id="three", source="def softmax(x):\n    return 3")
    at = position_of(notebook, "softmax-code")
    notebook.cells[at:at] = [first, stub]
    notebook.cells.insert(position_of(notebook, "softmax") + 2, late)
    plan = plan_of(notebook)
    ran = [source for source in sources_before(plan, "softmax") if "def softmax" in source]
    assert ran == [first.source, ANSWERS["softmax"], late.source]
    carrier = [
        cell for cell in plan.notebook.cells if cell.metadata.get("nbgrader", {}).get("grade_id") == "softmax-code"
    ]
    assert [cell.source for cell in carrier] == [late.source]


def test_answer_in_a_new_cell_beside_an_untouched_stub_counts():
    notebook = answered()
    cell_of(notebook, "softmax-code").source = STUBS["softmax"]
    notebook.cells.insert(position_of(notebook, "softmax") + 1, code(ANSWERS["softmax"]))
    assert_answered(plan_of(notebook))


def test_all_answers_in_one_cell_count():
    notebook = answered({})
    notebook.cells = [cell for cell in notebook.cells if not cell.id.endswith("-code")]
    together = "\n\n".join(ANSWERS.values())
    notebook.cells.append(code(together))
    plan = plan_of(notebook)
    assert plan.missing == set()
    assert all(together in sources_before(plan, name) for name in POINTS)


@pytest.mark.parametrize("keep_ids", [True, False])
def test_stripped_metadata_are_recognised(keep_ids):
    notebook = answered()
    for number, cell in enumerate(notebook.cells):
        cell.metadata = {}
        cell.id = cell.id if keep_ids else f"x{number}"
    plan = plan_of(notebook)
    assert_answered(plan)
    assert plan.manual[0].source == "Because the variance grows with d."
    assert [s.source for s in plan.steps if isinstance(s, CellStep)] == [
        s.source for s in plan_of(answered()).steps if isinstance(s, CellStep)
    ]


def test_stripped_release_is_untouched_not_missing():
    notebook = release()
    for number, cell in enumerate(notebook.cells):
        cell.update(metadata={}, id=f"x{number}")
    plan = plan_of(notebook)
    assert plan.untouched == set(POINTS)
    assert plan.missing == set()


@pytest.mark.parametrize(
    "source",
    [
        "%%time\n{}",
        "%matplotlib inline\n!ls\nfiles = !ls\n?print\nnp.exp?\n{}",
        "{}\nthis is no Python",
        "if True:\n    pass\n{}\nx = (1",
        "# café\r\n{}",
    ],
)
def test_solution_is_recognised_through_magics_and_errors(source):
    notebook = answered()
    solution = cell_of(notebook, "softmax-code")
    solution.update(metadata={}, id="changed", source=source.format(ANSWERS["softmax"]))
    plan = plan_of(notebook)
    assert "softmax" not in plan.missing
    assert any(ANSWERS["softmax"] in source for source in sources_before(plan, "softmax"))


def test_swapped_labels_are_told_by_content():
    notebook = answered()
    one, other = cell_of(notebook, "softmax-code"), cell_of(notebook, "attend-code")
    one.metadata, other.metadata = other.metadata, one.metadata
    one.id, other.id = other.id, one.id
    plan = plan_of(notebook)
    assert_answered(plan)
    step = next(s for s in plan.steps if isinstance(s, CellStep) and s.source == ANSWERS["softmax"])
    assert step.exercise == "softmax"


def test_test_moved_above_its_solution_probes_after_it():
    notebook = answered()
    test = cell_of(notebook, "attend")
    notebook.cells.remove(test)
    notebook.cells.insert(0, test)
    assert_answered(plan_of(notebook))


def test_own_cells_stay_in_place():
    notebook = answered()
    notebook.cells.insert(position_of(notebook, "attend-code"), code("%%bash\nls"))
    notebook.cells.insert(position_of(notebook, "attend-code"), code("def mine(x):\n    return x"))
    notebook.cells.append(raw("notes"))
    plan = plan_of(notebook)
    assert sources_before(plan, "attend")[-3:-1] == ["%%bash\nls", "def mine(x):\n    return x"]
    assert plan.notebook.cells[-1].source == "notes"


def test_too_long_solution_is_missing_with_a_reason():
    notebook = answered()
    cell_of(notebook, "attend-code").source = "def attend(scores, values):\n    pass\n" + "#" * 2**20
    plan = plan_of(notebook)
    assert plan.missing == {"attend"}
    assert "1 MB" in plan.reasons["attend"]


def test_other_lab_is_named():
    other = release()
    for cell in other.cells:
        if "nbgrader" in cell.metadata and cell.id not in ("setup", "imports", "answers", "answers-code"):
            cell.metadata.nbgrader.grade_id = "other_" + cell.metadata.nbgrader.grade_id
        cell.id = "o-" + cell.id
        cell.source = cell.source.replace("softmax", "other").replace("attend", "another").replace("Self", "Else")
        cell.source = cell.source.replace(LAB, "05_positional_encoding")
    ids = {
        lab: {c.metadata.nbgrader.grade_id for c in notebook.cells if "nbgrader" in c.metadata}
        for lab, notebook in {LAB: RELEASE, "05_positional_encoding": other}.items()
    }
    with pytest.raises(Unreadable, match="05_positional_encoding"):
        read_plan(as_bytes(other), RELEASE, ids)
    assert_answered(plan_of(answered(), known=ids))


def test_notebook_of_no_lab_is_refused():
    with pytest.raises(Unreadable, match="no cell of this lab"):
        read_plan(as_bytes(nbformat.v4.new_notebook(cells=[code("x = 1")])), RELEASE)


def test_lab_with_every_exercise_deleted_is_all_missing():
    notebook = answered()
    notebook.cells = notebook.cells[:3]
    assert plan_of(notebook).missing == set(POINTS)


def test_plan_survives_pickling_and_the_arguments_are_left_alone():
    notebook, before = read_notebook(as_bytes(answered())), release()
    plan = repair(notebook, before)
    assert pickle.loads(pickle.dumps(plan)) == plan
    assert before == release()


def test_notebook_read_by_nbformat_gives_the_same_plan():
    assert repair(answered(), RELEASE) == plan_of(answered())


def test_normal_notebook_takes_milliseconds():
    data = as_bytes(answered())
    read_plan(data, RELEASE)
    best = min(_timed(data) for _ in range(20))
    assert best / slowness() < 0.015


def _timed(data):
    start = time.process_time()
    read_plan(data, RELEASE)
    return time.process_time() - start
