"""What strangers made is opened by descriptor: a link or a pipe put in its place between two looks is seen."""

from __future__ import annotations

import io
import os
import threading
import time
import zipfile
from contextlib import contextmanager
from pathlib import Path

import pytest
from measuring import cost_of
from test_submission_finding import GOOD, KNOWN, LAB, find, pack, read, write

from autograder.read import FileSource, Unreadable, find_submissions, tree


@pytest.fixture
def secret(tmp_path) -> Path:
    """A folder of the instructor's, with a notebook named like the lab."""
    return write(tmp_path / "secret", {f"{LAB}.ipynb": "the solution"})


@contextmanager
def swapped(path: Path, kind: str, secret: Path):
    """Put a link or a pipe in the place of a file or folder."""
    kept = path.with_name(f".{path.name}")
    path.rename(kept)
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(secret / f"{LAB}.ipynb" if kept.is_file() else secret)
    yield
    path.unlink()
    kept.rename(path)


@pytest.mark.parametrize("what", ["eve", f"eve/{LAB}", f"eve/{LAB}/{LAB}.ipynb"])
def test_no_folder_above_a_notebook_can_be_swapped_for_a_link(tmp_path, secret, what):
    root = write(tmp_path / "in", {f"eve/{LAB}/{LAB}.ipynb": "stub"})
    write(secret, {f"{LAB}/{LAB}.ipynb": "the solution"})
    (eve,) = find_submissions([root], LAB, KNOWN).submissions
    with swapped(root / what, "link", secret), pytest.raises(Unreadable, match="cannot be read"):
        eve.read()
    assert eve.read() == b"stub"


@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_an_archive_swapped_for_a_link_or_a_pipe_is_refused_at_once(tmp_path, secret, kind):
    root = write(tmp_path / "in", {"eve.zip": pack({f"{LAB}.ipynb": "stub"}), f"ada/{LAB}.ipynb": "ada"})
    (secret / f"{LAB}.ipynb").write_bytes(pack({f"{LAB}.ipynb": "the solution"}))
    found = find(root)
    with swapped(root / "eve.zip", kind, secret):
        with pytest.raises(Unreadable):
            found["eve"].read()
        again = find(root)
        assert read(again) == {"ada": "ada"} and again["eve"].problem  # it did not wait for the pipe's other end


def test_looks_while_files_are_swapped_end_and_read_nobody_elses_work(tmp_path, secret):
    """A loop renames pipes and links over a zip, a notebook and a folder."""
    root = write(tmp_path / "in", {"zed.zip": pack({f"{LAB}.ipynb": "zed"}), f"eve/{LAB}.ipynb": "eve"})
    (secret / "own.zip").write_bytes(pack({f"{LAB}.ipynb": "the solution"}))
    over = threading.Event()

    def swap() -> None:
        while not over.is_set():
            for name, target in (("zed.zip", secret / "own.zip"), ("eve", secret)):
                with swapped_by_rename(root / name, target):
                    pass

    attacker = threading.Thread(target=swap)
    attacker.start()
    seen = set()
    try:
        for _ in range(150):
            for submission in find_submissions([root], LAB, KNOWN).submissions:
                try:
                    seen.add(submission.read())
                except Unreadable:
                    continue
    finally:
        over.set()
        attacker.join()
    assert seen <= {b"zed", b"eve"}


@contextmanager
def swapped_by_rename(path: Path, target: Path):
    kept, link = path.with_name(f".kept-{path.name}"), path.with_name(f".link-{path.name}")
    pipe = path.with_name(f".pipe-{path.name}")
    link.symlink_to(target)
    os.mkfifo(pipe)
    path.rename(kept)
    link.rename(path)
    time.sleep(0.001)
    pipe.rename(path)
    time.sleep(0.001)
    path.unlink()
    kept.rename(path)
    yield


def test_what_a_pattern_of_the_shell_found_is_followed_through_no_link(tmp_path, secret):
    """`course grade LAB inbox/*` and `inbox/*/LAB.ipynb`, where a student has put a link into the inbox."""
    root = write(tmp_path / "in", {f"ada/{LAB}.ipynb": "ada", f"bob/{LAB}.ipynb": "bob", "cyd.ipynb": "cyd"})
    (root / "eve").symlink_to(secret)
    (root / "mal.ipynb").symlink_to(secret / f"{LAB}.ipynb")
    (root / "off").symlink_to("nowhere")
    for paths in (sorted(root.iterdir()), sorted(root.glob(f"*/{LAB}.ipynb"))):
        found = find_submissions(paths, LAB, KNOWN)
        got = {submission.student: submission.read() for submission in found.submissions}
        assert b"the solution" not in got.values() and {"ada", "bob"} <= got.keys()
        assert any("link" in passed.reason for passed in found.passed_over)


def test_one_path_that_is_a_link_is_the_instructors_own(tmp_path, secret):
    (tmp_path / "here").symlink_to(write(tmp_path / "in", {f"ada/{LAB}.ipynb": "ada", f"bob/{LAB}.ipynb": "bob"}))
    assert read(find(tmp_path / "here")) == {"ada": "ada", "bob": "bob"}


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file to another account")
def test_a_file_of_another_account_than_its_folder_is_not_read(tmp_path):
    root = write(tmp_path, {"eve/lab.ipynb": "x"})
    os.chown(root / "eve", 65534, 65534)
    source = FileSource(root, ("eve", "lab.ipynb"), owner=65534)
    with pytest.raises(Unreadable, match="another account"):
        source.read()
    os.chown(root / "eve" / "lab.ipynb", 65534, 65534)
    assert source.read() == b"x"


# -- archives and folders that are large to look at ------------------------------------------------------------------


def cost(root: Path):
    return cost_of(
        f"said = [each.student for each in find_submissions([Path({str(root)!r})], {LAB!r}).submissions]",
        "from pathlib import Path\nfrom autograder.read import find_submissions",
    )


def archive_of(files: dict[str, bytes]) -> bytes:
    """Each content is packed once, and is a member under all of its names."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


@pytest.mark.long
def test_archives_in_an_archive_are_counted_together(tmp_path):
    """Thirty archives of ninety thousand files each, in less than three megabytes."""
    from hostile.heavy import endless_directory

    inner = endless_directory(90_000)
    write(tmp_path / "in", {f"ada/{LAB}.ipynb": "ada", "eve.zip": archive_of({f"{n}.zip": inner for n in range(30)})})
    spent = cost(tmp_path / "in")
    assert spent.said == ["ada", "eve"]
    assert spent.seconds < 5 and spent.megabytes < 400


@pytest.mark.long
def test_archives_full_of_zeros_are_not_unpacked(tmp_path):
    zeros = archive_of({"a.zip": bytes(60 << 20)})
    many = {f"{n}.zip": zeros for n in range(40)} | {f"z{n}.zip": bytes(60 << 20) for n in range(4)}
    write(tmp_path / "in", {f"ada/{LAB}.ipynb": "ada", "eve.zip": archive_of(many)})
    spent = cost(tmp_path / "in")
    assert spent.said == ["ada", "eve"] and spent.seconds < 5


@pytest.mark.long
def test_names_by_the_thousand_are_a_sentence(tmp_path):
    deep = "/".join(f"d{n}" for n in range(30))
    files = {f"{deep}/{n}/x{n}.ipynb": b"" for n in range(3_000)}
    write(tmp_path / "in", {f"ada/{LAB}.ipynb": "ada", "eve.zip": archive_of(files)})
    spent = cost(tmp_path / "in")
    assert spent.said == ["ada", "eve"] and spent.seconds < 10


@pytest.mark.long
def test_folders_in_folders_fill_no_memory(tmp_path):
    """Thirty-eight new folders for each file; the list of names is repetitive, and packs to little."""
    inner = archive_of({"/".join([f"{n:05}" + "d" * 20] * 38) + "/x.ipynb": b"" for n in range(1_500)})
    write(tmp_path / "in", {f"ada/{LAB}.ipynb": "ada", "eve.zip": archive_of({"a.zip": inner})})
    spent = cost(tmp_path / "in")
    assert spent.said == ["ada", "eve"] and spent.seconds < 5 and spent.megabytes < 200
    assert "too many files" in find(tmp_path / "in")["eve"].problem


@pytest.mark.long
def test_ten_thousand_names_like_the_labs_are_looked_at_in_little_time(tmp_path):
    files = {f"{LAB}{'_1' * 100}_{n}.ipynb": b"" for n in range(10_000)}
    write(tmp_path / "in", {f"ada/{LAB}.ipynb": "ada", "eve.zip": archive_of(files)})
    spent = cost(tmp_path / "in")
    assert spent.said == ["ada", "eve"] and spent.seconds < 4


def test_of_many_notebooks_that_do_not_count_some_are_named(tmp_path):
    write(tmp_path / "in", {"eve.zip": archive_of({f"{LAB}-{n}.ipynb": b"" for n in range(1_000)})})
    found = find_submissions([tmp_path / "in"], LAB, KNOWN)
    assert len(found.passed_over) == 21 and "979 more" in found.passed_over[-1].reason


@pytest.mark.parametrize("where", ["folder", "archive", "archive in a folder"])
def test_what_takes_too_long_to_look_through_costs_its_owner_alone(tmp_path, monkeypatch, where):
    """A hundred thousand files in some kilobytes."""
    from hostile.heavy import endless_directory

    monkeypatch.setattr(tree, "SECONDS", 100 if where == "archive in a folder" else 0.2)
    monkeypatch.setattr(tree, "INNER_SECONDS", 0.02)
    heavy = archive_of({f"{n}.zip": endless_directory(19_000) for n in range(5)})
    good = {f"{who}.zip": archive_of({f"{LAB}.ipynb": who.encode()}) for who in ("ada", "zoe")}
    files = {"eve.zip": heavy} | good
    root = tmp_path / "in"
    if where == "folder":
        write(root, files)
    else:
        write(root, {"all.zip": archive_of(files), "notes.txt": "x"})
    found = find(root / "all.zip" if where == "archive" else root)
    assert read(found) == {"ada": "ada", "zoe": "zoe"}
    assert "seconds of computing" in found["eve"].problem


def test_a_look_for_several_labs_lists_once_and_who_spent_all_stays_refused(tmp_path, monkeypatch):
    write(tmp_path / "in", {"eve.zip": archive_of({f"{LAB}.ipynb": b"x"}), f"ada/{LAB}.ipynb": "ada"})
    listed = {}
    find_submissions([tmp_path / "in"], LAB, KNOWN, listed=listed)
    listed[tmp_path / "in"].folders["eve.zip"].budget.spent = 1e9
    monkeypatch.setattr(zipfile, "ZipFile", None)
    again = find_submissions([tmp_path / "in"], "05_other", KNOWN, listed=listed)
    assert "seconds of computing" in next(each.problem for each in again.submissions if each.student == "eve")


def test_a_class_is_told_from_a_student_by_few_notebooks_each_read_once(tmp_path, monkeypatch):
    files = {f"a/b/c/d/{number:02}/work.ipynb": "x" * number for number in range(40)}
    write(tmp_path / "in", files)
    reads = []
    real = FileSource.read
    monkeypatch.setattr(FileSource, "read", lambda source: reads.append(source.path) or real(source))
    find_submissions([tmp_path / "in"], LAB, KNOWN)
    assert len(reads) == len(set(reads)) <= 40


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_member_packed_in_an_odd_way_is_refused_with_a_way_out(tmp_path, method):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        archive.writestr(f"{LAB}.ipynb", GOOD)
    write(tmp_path / "in", {"eve.zip": buffer.getvalue(), f"ada/{LAB}.ipynb": "ada"})
    assert "ordinary zip" in find(tmp_path / "in")["eve"].problem
