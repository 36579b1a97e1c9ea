"""Lectures with other seeds: the cells and the seed that the experiment names exist, and the record has its numbers."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from programs import program

from coursekit.lecture import recorded

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def experiment():
    return program("experiments/lecture_seeds.py")


def test_the_named_cells_exist_and_the_seed_is_replaced(experiment):
    for lecture, measured in experiment.MEASURED.items():
        notebook = nbformat.read(ROOT / "lectures" / f"{lecture}.ipynb", as_version=4)
        ids = [cell.id for cell in notebook.cells]
        assert set(measured.without) <= set(ids[: ids.index(measured.last)])
        kept = [cell.source for cell in experiment.cells(lecture)]
        for source in kept:
            compile(source, lecture, "exec")  # a line of IPython's, such as %pip, would fail
        assert any(f"set_random_seed({measured.seed})" in source for source in kept)
        assert any(measured.rate in source for source in kept)
        assert not any("recorded.load" in source for source in kept), "a record cannot be made from itself"


def test_the_record_has_every_number_for_every_seed(experiment):
    results = recorded.load("lecture_seeds")["results"]
    for lecture, measured in experiment.MEASURED.items():
        for numbers in results[lecture].values():
            assert numbers.keys() == measured.numbers.keys()
    for key, seeds in results.items():
        lecture, _, rate = key.partition(" --rate ")
        if rate:
            assert all(numbers.keys() == experiment.MEASURED[lecture].at_rate.keys() for numbers in seeds.values())


def test_a_rate_replaces_the_lectures_own_and_only_where_there_is_one(experiment, monkeypatch):
    source = "set_random_seed(5)\nfound = dict(rate=4e-3)"
    cell = nbformat.v4.new_code_cell(source, id="last")
    monkeypatch.setattr(experiment.nbformat, "read", lambda *_, **__: nbformat.v4.new_notebook(cells=[cell]))
    tiny = experiment.Measured(
        seed=5, last="last", numbers={"rate": "found['rate']"}, rate="rate=4e-3", at_rate={"at": "found['rate']"}
    )
    cell.source = "def set_random_seed(seed): pass\n" + source
    monkeypatch.setitem(experiment.MEASURED, "tiny", tiny)
    assert experiment.run("tiny", 1) == {"rate": 0.004}
    assert experiment.run("tiny", 1, rate=0.001) == {"at": 0.001}
    with pytest.raises(experiment.typer.BadParameter, match="no rate is replaced"):
        experiment.main("09b_many_images_and_video", rate=0.001)
