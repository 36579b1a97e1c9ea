"""nbval's kernels take no port, a failed check raises in them, and what they read goes on record and ages."""

import json
import os
import subprocess
import sys
from pathlib import Path

import nbval.kernel
import notebook_records
import pytest
from notebook_kernels import SocketKernelManager

ROOT = Path(__file__).resolve().parents[2]


FAILS = 'from coursekit import start_lab\n\nstart_lab("02_self_attention")("attention_cost")'


@pytest.fixture
def started(monkeypatch):
    monkeypatch.setattr(nbval.kernel, "KernelManager", SocketKernelManager)
    manager, client = nbval.kernel.start_new_kernel(kernel_name=nbval.kernel.CURRENT_ENV_KERNEL_NAME)
    yield manager, client
    client.stop_channels()
    manager.shutdown_kernel()


def test_a_kernel_of_nbval_takes_no_port(started):
    manager, _ = started
    assert manager.transport == "ipc"
    assert manager.shell_port == 1 and Path(f"{manager.ip}-1").is_socket()


def test_a_failed_check_is_a_failed_cell(started):
    """Else a broken solution would leave `make test-notebooks` green."""
    _, client = started
    reply = client.execute_interactive(FAILS, output_hook=lambda message: None)
    assert (reply["content"]["status"], reply["content"].get("ename")) == ("error", "CheckFailed")


def test_what_a_process_reads_of_the_course_is_listed(tmp_path):
    program = "import coursekit.quiet"
    ours = {"NOTEBOOK_READS": str(tmp_path / "reads"), "NOTEBOOK_ROOT": f"{ROOT}/"}
    ours["PYTHONPATH"] = str(ROOT / "tests" / "watching_reads")
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, env={**os.environ, **ours}, check=True)
    read = notebook_records.read_files(tmp_path / "reads", "lectures/none.ipynb")
    assert {"coursekit/__init__.py", "coursekit/quiet.py"} <= set(read)
    assert "coursekit/check/judge.py" not in read and not [name for name in read if name.startswith("tests/")]


@pytest.fixture
def course(tmp_path, monkeypatch):
    """Nine notebooks that read one file and have run, and nothing else."""
    monkeypatch.setattr(notebook_records, "ROOT", tmp_path)
    monkeypatch.setattr(notebook_records, "RECORDS", tmp_path / "records.jsonl")
    (tmp_path / "lectures").mkdir()
    (tmp_path / "kit.py").write_text("one")
    for number in range(9):
        write(tmp_path, number, "print(1)")
        notebook_records.save(f"lectures/{number}.ipynb", ["kit.py"], 1.0)
    return tmp_path


def write(root, number, code):
    cell = {"cell_type": "code", "source": [code], "outputs": [], "metadata": {}}
    (root / "lectures" / f"{number}.ipynb").write_text(json.dumps({"cells": [cell]}))


def test_a_record_is_behind_when_the_code_or_what_it_reads_changes(course):
    assert notebook_records.behind() == {}
    write(course, 3, "print(2)")
    assert notebook_records.behind() == {"lectures/3.ipynb": "its own code changed"}
    (course / "kit.py").write_text("two")
    assert len(notebook_records.behind()) == 9
    notebook_records.save("lectures/3.ipynb", ["kit.py"], 1.0)
    assert len(notebook_records.behind()) == 8 and "lectures/3.ipynb" not in notebook_records.behind()


def test_changed_notebooks_run_and_three_more_that_the_commit_draws(course):
    assert len(notebook_records.choose("a")) == 3  # nothing is behind
    write(course, 3, "print(2)")
    chosen = notebook_records.choose("a")
    assert chosen[0] == "lectures/3.ipynb" and len(set(chosen)) == 4
    assert len({tuple(notebook_records.choose(commit)) for commit in "abcdef"}) > 1
    for number in range(8):
        write(course, number, "print(3)")
    assert len(notebook_records.choose("a")) == 9  # six that changed; of the three others two changed, too
