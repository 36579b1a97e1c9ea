"""The child processes that read submissions: whatever ends one costs the submission it was reading, and no other."""

from __future__ import annotations

import gc
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest
from measuring import cost_of
from reading_faults import Faults
from test_submission_factory import ANSWERS, POINTS, answered, as_bytes, code, release
from tight_sandbox import wait_until

from autograder.read import Children, LabReader, ReaderLost, Rules, Unreadable, read_release, reading
from coursekit.check.rules import find_imports

GOOD = as_bytes(answered())


@pytest.fixture
def children():
    made = Children(LabReader(read_release(release()), {}, {name: Rules() for name in POINTS}))
    yield made
    made.close()


def ids() -> set[int]:
    return {child.pid for child in psutil.Process().children()}


def test_a_submission_is_read_as_in_this_process(children):
    reading = children.ask("read", GOOD)
    here = LabReader(read_release(release()), {}, {name: Rules() for name in POINTS}).read(GOOD)
    assert reading == here and set(reading.broken) == set(POINTS)
    assert reading.plan.notebook.cells[0].source == here.plan.notebook.cells[0].source


def test_an_answer_takes_from_the_course_what_the_release_imports_and_no_more():
    given = find_imports([cell.source for cell in release().cells if cell.cell_type == "code"])
    assert given == ("coursekit.start_lab", "google")
    reader = LabReader(read_release(release()), {}, {name: Rules() for name in POINTS}, given)
    attend = (
        "from coursekit.pages.parts import rotated\ndef attend(scores, values):\n    return rotated(scores, values)"
    )
    broken = reader.read(as_bytes(answered(ANSWERS | {"attend": attend}))).broken
    assert {name for name, sentences in broken.items() if sentences} == {"attend", "SelfAttention"}
    assert "`coursekit.lecture.pages.parts.rotated`" in broken["attend"][0]


def test_one_child_serves_many_and_threads_have_their_own(children):
    before = ids()
    for _ in range(3):
        children.ask("plan", GOOD)
    assert len(ids() - before) == 1
    with ThreadPoolExecutor(3) as pool:
        plans = pool.map(lambda _: children.ask("plan", GOOD), range(6))
        assert all(plan.exercises == POINTS for plan in plans)
    assert len(ids() - before) <= 3
    children.close()
    assert ids() == before


def test_what_is_no_notebook_is_a_sentence_and_the_child_goes_on(children):
    before = ids()
    children.ask("plan", GOOD)
    with pytest.raises(Unreadable, match="PDF"):
        children.ask("read", b"%PDF-1.7")
    children.ask("plan", GOOD)
    assert len(ids() - before) == 1


@pytest.fixture
def faults(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1]))
    made = Children(Faults(str(tmp_path / "marks")), cpu_seconds=3)
    yield made
    made.close()


@pytest.mark.parametrize(
    ("what", "told"),
    [
        pytest.param("burn", "more than 3 seconds of computing", marks=pytest.mark.long),
        ("swallow", "more memory"),
        ("crash", "ended"),
        pytest.param("leave", "ended", marks=pytest.mark.long),
    ],
)
def test_the_end_of_a_child_is_the_submissions_sentence(faults, what, told):
    with pytest.raises(Unreadable, match=told):
        faults.ask(what)
    assert faults.ask("fine") == "read"  # the next one


@pytest.mark.long
def test_what_finding_took_is_taken_from_the_time_for_reading(faults):
    assert faults.ask("compute", 2.1) == "read"
    with pytest.raises(Unreadable, match="more than 3 seconds"):
        faults.ask("compute", 2.1, spent=2.9)


@pytest.mark.long
def test_an_error_of_ours_is_no_verdict(faults):
    with pytest.raises(RuntimeError, match="KeyError") as error:
        faults.ask("stumble")
    assert "no sentence" in error.value.__notes__[0]


@pytest.mark.long
def test_a_child_that_somebody_kills_is_replaced_once(faults, tmp_path):
    assert faults.ask("killed", 1) == "read"
    (tmp_path / "marks").unlink()
    with pytest.raises(ReaderLost, match="twice"):
        faults.ask("killed", 2)


@pytest.mark.long
def test_a_child_that_held_much_is_not_kept(faults):
    before = ids()
    faults.ask("wide")
    assert ids() == before


def test_a_child_that_does_not_start_is_nobodys_fault(monkeypatch):
    monkeypatch.setattr("autograder.read.child._START", "raise SystemExit(3)")
    with pytest.raises(ReaderLost, match="code 3"):
        Children(None).ask("read")
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with pytest.raises(ReaderLost, match="started"):
        Children(None).ask("read")


def is_over(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE  # which nobody takes away in some containers
    except psutil.NoSuchProcess:
        return True


@pytest.mark.long
def test_children_end_with_their_owner(faults):
    program = (
        "import os; from autograder.read import Children\n"
        "children = Children([1]); children.ask('copy')\n"
        "print(children._idle[0]._process.pid, flush=True); os.kill(os.getpid(), 9)"
    )
    said = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True).stdout
    wait_until(lambda: is_over(int(said)))
    before = ids()
    forgotten = Children([1])
    forgotten.ask("copy")
    del forgotten
    gc.collect()
    assert ids() == before


@pytest.mark.long
def test_what_stopped_a_class_ends_with_the_submission(children):
    """A magic's options, cells of empty lines and a source of names by the thousand: seconds, and one verdict each."""
    names = ";".join(f"n{i}" for i in range(9_000))
    for source in ("%time " + "-a" * 4_000 + "!", "\n" * 199_000, "\n" * 1_000_000, names):
        notebook = answered()
        notebook.cells += [code(source) for _ in range(12)]
        assert children.ask("read", as_bytes(notebook)).plan.exercises == POINTS


@pytest.mark.long
@pytest.mark.parametrize("megabytes", [60, 120])
def test_json_that_is_larger_to_hold_than_to_write_is_refused_before_it_is_parsed(megabytes):
    cost = cost_of(
        """
        try:
            read_notebook(data)
        except Unreadable as error:
            said = error.reason
        """,
        f"from hostile.heavy import nested_empties\nfrom autograder.read import Unreadable, read_notebook\n"
        f"data = nested_empties({megabytes})",
    )
    assert "clear the outputs" in cost.said
    assert cost.megabytes < 900
    assert cost.seconds < 2


@pytest.mark.long
@pytest.mark.parametrize("piece", ["999,", '"a",', '{"a":9},'])
def test_no_json_takes_more_than_a_child_may(children, piece):
    """Whatever it holds, it is read, or it is a sentence; and the next one is read."""
    many = min(reading.MAX_CONTAINERS - 1000, reading.MAX_FILE_BYTES // len(piece) - 10_000)
    data = b'{"x": [' + piece.encode() * many + b"1], " + GOOD.removeprefix(b"{")
    assert len(data) <= reading.MAX_FILE_BYTES
    try:
        assert children.ask("plan", data).exercises == POINTS
    except Unreadable as refused:
        assert "clear the outputs" in refused.reason
    assert children.ask("plan", GOOD).exercises == POINTS
