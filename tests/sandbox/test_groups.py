"""Control groups: what is written and read, on files that look like them."""

import os

import pytest

from autograder.cli import doctor
from autograder.sandbox import meter
from autograder.sandbox.meter import ControlGroup

MEBIBYTE = 1 << 20


def test_a_group_is_bounded_and_read(tmp_path):
    """What is written where; a kernel of version 2 with the memory controller was not there to try."""
    group = ControlGroup(tmp_path, 4711, 100 * MEBIBYTE)
    (folder,) = tmp_path.iterdir()
    assert {file.name: file.read_text() for file in folder.iterdir()} == {
        "memory.max": str(100 * MEBIBYTE), "memory.swap.max": "0", "memory.oom.group": "1", "cgroup.procs": "4711",
    }  # fmt: skip
    (folder / "cpu.stat").write_text("usage_usec 1500000\nuser_usec 1000000\nsystem_usec 500000\n")
    (folder / "memory.events").write_text("low 0\nhigh 0\nmax 9\noom 1\noom_kill 0\n")
    assert group.cpu_seconds() == 1.5
    assert not group.ran_out_of_memory()
    (folder / "memory.events").write_text("max 9\noom 1\noom_kill 1\n")
    assert group.ran_out_of_memory()
    for file in folder.iterdir():
        file.unlink()
    group.remove()
    assert not folder.exists()


def test_a_group_that_cannot_be_filled_is_not_left_behind(tmp_path, monkeypatch):
    def refuse(path, value):
        if path.name == "cgroup.procs":
            raise PermissionError

    monkeypatch.setattr(meter, "_write", refuse)
    with pytest.raises(PermissionError):
        ControlGroup(tmp_path, 1, 1)
    assert not list(tmp_path.iterdir())


@pytest.fixture
def handed_over(tmp_path, monkeypatch):
    """A folder that looks like a group of version 2 which has been handed over to this process."""
    for name, content in {
        "cgroup.controllers": "cpu memory pids", "cgroup.subtree_control": "", "cgroup.procs": str(os.getpid()),
    }.items():  # fmt: skip
        (tmp_path / name).write_text(content)
    monkeypatch.setattr(meter, "_mount", lambda: ("/", "/sys/fs/cgroup"))
    monkeypatch.setattr(meter, "_own", lambda mount: tmp_path)
    meter.find_control_group.cache_clear()
    yield tmp_path
    meter.find_control_group.cache_clear()


def test_a_group_that_was_handed_over_is_used(handed_over):
    assert meter.find_control_group() == handed_over
    assert (handed_over / "course-grader" / "cgroup.procs").read_text() == str(os.getpid())
    assert (handed_over / "cgroup.subtree_control").read_text() == "+memory"
    assert doctor._look_at_counting().text == "counted by the kernel: control groups"


def test_a_group_with_other_peoples_processes_is_left_alone(handed_over):
    (handed_over / "cgroup.procs").write_text(f"{os.getppid()}\n{os.getpid()}")
    assert meter.find_control_group() == "no control group has been handed over to the grader"
    found = doctor._look_at_counting()
    assert not found.works and not found.needed
    assert found.text.startswith("sampled four times a second")
    assert "--scope -p Delegate=yes" in found.remedy
    assert not (handed_over / "course-grader").exists()


def test_without_the_memory_controller_nothing_is_moved(handed_over):
    (handed_over / "cgroup.controllers").write_text("cpu pids")
    assert isinstance(meter.find_control_group(), str)
    assert not (handed_over / "course-grader").exists()


def test_what_a_killed_grader_left_is_removed(handed_over):
    (handed_over / "course-grader-4194305-0").mkdir()
    (handed_over / f"course-grader-{os.getpid()}-0").mkdir()
    meter.find_control_group()
    assert {folder.name for folder in handed_over.iterdir() if folder.is_dir()} == {
        "course-grader", f"course-grader-{os.getpid()}-0",
    }  # fmt: skip
