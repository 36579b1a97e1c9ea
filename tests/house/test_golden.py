"""What `tools/golden.py` calls a difference, and what it leaves to the processor."""

from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

from long_runs import advise
from programs import program

golden = program("tools/golden.py")

GROUPS, NEAR = "values=2/2,large=0/2", "values=0.2"
ONE = golden.line("lab/softmax 0a1b", "graded", 0.5, GROUPS, ("overflows",), "named:12345678", NEAR)


def test_each_column_but_the_last_is_a_difference():
    for old, new in (
        ("graded", "error"),
        ("0.5", "0.75"),
        ("large=0/2", "large=2/2"),
        ("overflows", "-"),
        ("named:12345678", "named:87654321"),
    ):
        (told,) = golden.differences([ONE], [ONE.replace(old, new)])
        assert told.startswith("changed  lab/softmax 0a1b: ") and old in told and new in told
    assert list(golden.differences([ONE], [ONE.replace("values=0.2", "values=0.3")])) == []
    assert [told[:8].strip() for told in golden.differences([ONE], [])] == ["gone"]
    assert [told[:8].strip() for told in golden.differences([], [ONE])] == ["new"]


def test_numbers_and_addresses_are_no_words():
    assert golden.digest("weights[0, 1] is 0.3319") == golden.digest("weights[0, 1] is 0.3320")
    assert golden.digest("dense_3 at 0x7f") == golden.digest("dense at 0x8a") != golden.digest("conv at 0x8a")


def test_every_answer_on_record_is_one_of_the_corpus():
    """Answers that came or went are told: `python tools/golden.py record --lab LAB` puts their verdicts on record."""
    recorded = {each.split("\t")[0] for each in golden.RECORD.read_text("utf-8").splitlines()}
    of_answers = {what for what in recorded if what[0].isdigit()}
    beside = {
        what for lab in golden.lab_names() for name in golden.exercise_names(lab) for what in golden.answers(lab, name)
    }
    assert len(of_answers & beside) > 3000
    advise("answers without a verdict on record", sorted(beside - recorded))
    advise("verdicts on answers that are gone", sorted(of_answers - beside))


def test_whole_notebooks_are_handed_over_with_all_that_the_grader_asks_of_a_file(monkeypatch):
    names = []

    def grade_all(grader, found, *_, **__):
        names.extend(one.file_name for one in found)
        return []

    monkeypatch.setattr("autograder.grade.lab_grader.LabGrader", lambda *_, **__: None)
    monkeypatch.setattr("autograder.grade.lab_grader.grade_all", grade_all)
    monkeypatch.setattr("autograder.sandbox.warm.start_sandbox", lambda _: nullcontext(SimpleNamespace(result=str)))
    root = Path(__file__).resolve().parents[2]
    assert list(golden._graded(root, golden.LAB, {"hostile/one": b"{}"})) == [] and names == ["one.ipynb"]
