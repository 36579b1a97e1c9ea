"""Reference files come back as they were written, whatever order the results were made in."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from importlib import resources

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.declare import Case, Exercise, edit
from autograder.release import reference_export
from coursekit.check import lab
from coursekit.check.comparison import FINGERPRINT_SIZE, fingerprint

LAB = "01_turned"
SHIPPED = resources.files("coursekit") / "reference"
LABS = sorted(path.name.removesuffix(".json") for path in SHIPPED.iterdir() if path.name.endswith(".json"))


TURNED = ("results.items()", "reversed(results.items())")


def two_results(x):
    """Results whose order an edit turns, and whose shape another one changes."""
    factor, rows = 1.0, None
    results = {"first": factor * x[:rows], "second": factor + np.arange(5.0), "count": 3.0 * factor}
    return dict(results.items())


def make_exercise(shape: tuple[int, int]) -> Exercise:
    exercise = Exercise("turned", oracle=two_results)

    @exercise.group("values", points=1)
    def values(rng):
        yield Case({"x": np.arange(1.0, 1.0 + math.prod(shape)).reshape(shape)}, description="two results")

    exercise.mistakes(
        halved=edit("1.0", "0.5") | "It is half.",
        turned=edit("1.0", "0.25") | edit(TURNED) | "It is half, and comes in another order.",
        cut=edit("None", "1") | edit(TURNED) | "Rows are missing, and the order is another.",
    )
    exercise.worked = "Take x.\nTurn it."
    return exercise


@pytest.mark.long
@given(shape=st.tuples(st.integers(2, 9), st.integers(1, 9)))
def test_what_is_written_comes_back(tmp_path_factory, shape):
    folder = tmp_path_factory.mktemp("reference")
    exercise = make_exercise(shape)
    given = ("coursekit.lecture.plots", "matplotlib.pyplot")
    files = reference_export.export(LAB, "Turned", {"turned": 2}, {"turned": exercise}, {}, imports=given)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    read = lab._load(LAB, folder)
    assert read.imports == given
    (case,) = read.expectations["turned"]
    (made,) = exercise.expectations(reference_export.VISIBLE_SEED)
    assert (read.title, read.points, read.specs["turned"]) == ("Turned", {"turned": 2}, exercise.spec)
    assert list(case.wrong) == list(made.wrong) and list(case.wrong) == ["halved", "turned", "cut"]
    for results in ("inputs", "expected"):
        assert getattr(case, results).keys() == getattr(made, results).keys()
    np.testing.assert_array_equal(case.expected["first"], made.expected["first"])
    for mistakes, results in made.wrong.items():
        assert case.wrong[mistakes].keys() == results.keys()
        assert case.wrong[mistakes]["count"] == results["count"]
        for key in ("first", "second"):
            assert case.wrong[mistakes][key].shape == results[key].shape
            np.testing.assert_allclose(case.wrong[mistakes][key].values, results[key].values, rtol=1e-6)


@pytest.mark.parametrize("lab", LABS)
def test_every_number_of_a_shipped_lab_is_read_once(lab):
    """A result with other arrays than the right one would move all that follow it out of place."""
    description = json.loads((SHIPPED / f"{lab}.json").read_text("utf-8"))
    with np.load(SHIPPED / f"{lab}.npz", allow_pickle=False) as stored:
        for entry in description["exercises"]:
            for index, case in enumerate(entry["cases"]):
                prefix = f"{entry['name']}.{index}"
                shapes = [
                    changed.get(key, stored[f"{prefix}.expected.{key}"].shape)
                    for mistakes, changed in case["wrong"].items()
                    for _ in mistakes.split()
                    for key in case["expected_arrays"]
                ]
                wanted = sum(min(math.prod(shape), FINGERPRINT_SIZE) for shape in shapes)
                assert not case["wrong"] or stored[f"{prefix}.wrong"].size == wanted, prefix


def test_what_every_student_downloads_stays_small():
    """A course of eleven labs on a slow line: 6 MB, of which two thirds are random numbers that do not shrink."""
    assert sum(path.stat().st_size for path in SHIPPED.iterdir()) <= 6_000_000


def test_an_array_where_the_right_result_has_none_is_not_written():
    exercise = make_exercise((2, 3))
    (made,) = exercise.expectations(reference_export.VISIBLE_SEED)
    made = replace(made, wrong={"halved": {**made.wrong["halved"], "count": fingerprint(np.zeros(2))}})
    with pytest.raises(ValueError, match="first, second, count are arrays with halved, and first, second without"):
        reference_export.export(LAB, "Turned", {"turned": 2}, {"turned": exercise}, {"turned": [made]})


def test_a_lab_that_is_not_there_is_named_with_those_that_are():
    with pytest.raises(ValueError, match=rf"no lab '99_none'.*{LABS[0]}"):
        lab.load_reference("99_none")


def test_a_file_of_another_form_ends_in_a_sentence_and_one_with_pairs_is_read(tmp_path):
    files = reference_export.export(LAB, "Turned", {"turned": 2}, {"turned": make_exercise((2, 3))})

    def read(folder: str, change):
        description = json.loads(files[f"{LAB}.json"])
        change(description["exercises"][0])
        (tmp_path / folder).mkdir()
        (tmp_path / folder / f"{LAB}.json").write_text(json.dumps(description))
        (tmp_path / folder / f"{LAB}.npz").write_bytes(files[f"{LAB}.npz"])
        return lab._load(LAB, tmp_path / folder).expectations["turned"][0]

    with pytest.raises(ValueError, match="are of another release of the course than coursekit"):
        read("groups", lambda entry: entry["groups"][0].update(colour="red"))
    with pytest.raises(ValueError, match="are of another release of the course than coursekit"):
        read("cases", lambda entry: entry["cases"][0].pop("tolerance"))

    def with_pair(entry):
        wrong = entry["cases"][0]["wrong"]
        entry["cases"][0]["wrong"] = {mistakes.replace("cut", "halved+cut"): said for mistakes, said in wrong.items()}

    case, older = read("new", lambda entry: None), read("older", with_pair)
    assert set(older.wrong) == {"halved", "turned", "halved+cut"}
    np.testing.assert_array_equal(older.wrong["turned"]["first"].values, case.wrong["turned"]["first"].values)
