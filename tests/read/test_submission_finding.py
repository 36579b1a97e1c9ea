"""Finding submissions: who and which, in every layout instructors have, without opening what must stay shut."""

import io
import os
import pwd
import re
import stat
import unicodedata
import zipfile
from datetime import UTC, datetime

import pytest
from hostile.heavy import endless_directory
from measuring import cost_of
from test_submission_factory import LAB, answered, as_bytes

from autograder.course.text import student_id
from autograder.read import Unreadable, find_submissions

GOOD = as_bytes(answered())
KNOWN = {LAB: {"softmax", "softmax-code"}, "05_other": {"other"}}


def write(root, files):
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return root


def pack(files):
    """Return a zip archive; a name may be a ZipInfo."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def find(*paths):
    found = find_submissions(paths, LAB, KNOWN).submissions
    ids = [submission.student.casefold() for submission in found]
    assert len(ids) == len(set(ids))
    for submission in found:
        assert (submission.source is None) == (submission.problem is not None)
    return {submission.student: submission for submission in found}


def read(found):
    return {student: submission.read().decode() for student, submission in found.items() if submission.source}


def test_nbgrader_submitted_layout(tmp_path):
    write(
        tmp_path,
        {
            f"ada/{LAB}/{LAB}.ipynb": "ada",
            f"ada/{LAB}/timestamp.txt": "2026-03-01 12:30:00.5 UTC",
            f"ada/{LAB}/scratch.ipynb": "x",
            f"ada/{LAB}/.ipynb_checkpoints/{LAB}-checkpoint.ipynb": "x",
            f"bob/{LAB}/{LAB}.ipynb": "bob",
            "eve/05_other/05_other.ipynb": "eve",
        },
    )
    (tmp_path / "zoe").mkdir()
    found = find(tmp_path)
    assert read(found) == {"ada": "ada", "bob": "bob"}
    assert found["ada"].timestamp == datetime(2026, 3, 1, 12, 30, 0, 500000, tzinfo=UTC)
    assert "no notebook" in found["eve"].problem
    assert "empty" in found["zoe"].problem


@pytest.mark.parametrize("layout", [f"ada/{LAB}.ipynb", "ada.ipynb", "ada/homework.ipynb", f"ada/{LAB} (1).ipynb"])
def test_short_layouts(tmp_path, layout):
    write(tmp_path, {layout: "ada", "bob.ipynb": "bob"})
    assert read(find(tmp_path)) == {"ada": "ada", "bob": "bob"}


@pytest.mark.parametrize("path", ["", LAB, f"{LAB}/{LAB}.ipynb"])
def test_folder_or_file_of_one_student(tmp_path, path):
    write(tmp_path, {f"ada/{LAB}/{LAB}.ipynb": "ada", "ada/data/more.ipynb": "x"})
    assert read(find(tmp_path / "ada" / path)) == {"ada": "ada"}


def test_exchange_takes_the_newest_attempt(tmp_path):
    write(
        tmp_path,
        {
            f"ada+{LAB}+2026-01-02 10:00:00 UTC+aaa/{LAB}.ipynb": "old",
            f"ada+{LAB}+2026-01-03 10:00:00 UTC+bbb/{LAB}.ipynb": "new",
            f"ada+05_other+2026-01-04 10:00:00 UTC/{LAB}.ipynb": "x",
        },
    )
    found = find(tmp_path)
    assert read(found) == {"ada": "new"}
    assert found["ada"].timestamp.day == 3
    assert "2 attempts" in found["ada"].note


def test_an_entry_of_the_exchange_counts_where_it_is_its_students_own(tmp_path, monkeypatch):
    """Into an inbound folder anybody can put a folder, or an archive, with anybody's name on it."""
    mine = pwd.getpwuid(os.getuid()).pw_name
    monkeypatch.setattr("autograder.read.tree.os.getuid", lambda: 12345)  # another account grades
    entries = [f"{who}+{LAB}+2026-01-0{day} 10:00:00 UTC+r" for who, day in ((mine, 2), ("ada", 3), ("ada", 4))]
    files = {f"{entries[0]}/{LAB}.ipynb": "mine", f"{entries[1]}/{LAB}.ipynb": "forged"}
    files |= {f"{mine}2/{LAB}.ipynb": "forged", "ada/work.ipynb": "forged", "bob.ipynb": "forged"}
    write(tmp_path / "inbound", files | {f"{entries[2]}.zip": pack({f"{LAB}.ipynb": "forged, too"})})
    for paths in ([tmp_path / "inbound"], sorted((tmp_path / "inbound").iterdir()), [tmp_path]):
        found = find_submissions(paths, LAB, KNOWN)
        assert {each.student: each.read().decode() for each in found.submissions} == {mine: "mine"}
        reasons = sorted(passed.reason for passed in found.passed_over)
        assert reasons[:2] == [f"It is in ada's name and belongs to {mine}."] * 2
        assert len(reasons) == 5 and all("nbgrader's exchange" in reason for reason in reasons[2:])
        assert found.layouts == ["exchange"]
    unchecked = find_submissions([tmp_path / "inbound"], LAB, KNOWN, check_owner=False).submissions
    assert {each.student: each.read().decode() for each in unchecked} == {mine: "mine", "ada": "forged, too"}


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file to another account")
def test_what_lies_in_an_entry_of_the_exchange_belongs_to_its_student(tmp_path):
    """A hard link to somebody's file, say."""
    entry = f"nobody+{LAB}+2026-01-02 10:00:00 UTC+r"
    write(tmp_path / "in", {f"{entry}/{LAB}.ipynb": "another's", f"bob+{LAB}+2026-01-02 10:00:00 UTC/{LAB}.ipynb": "b"})
    os.chown(tmp_path / "in" / entry, pwd.getpwnam("nobody").pw_uid, -1)
    found = find(tmp_path / "in")
    with pytest.raises(Unreadable, match="another account"):
        found["nobody"].read()
    os.chown(tmp_path / "in" / entry / f"{LAB}.ipynb", pwd.getpwnam("nobody").pw_uid, -1)
    assert read(find(tmp_path / "in"))["nobody"] == "another's"


@pytest.mark.parametrize(
    "names",
    [
        ["Ada Lovelace_12345_assignsubmission_file_/x.ipynb", "Bob Ng_77_assignsubmission_file_/y.ipynb"],
        ["Ada Lovelace_12345_assignsubmission_file_x.ipynb", "Bob Ng_77_assignsubmission_file_y.ipynb"],
        ["wrap/Ada Lovelace_12345_assignsubmission_file/x.ipynb", "wrap/Bob Ng_77_assignsubmission_file_/y.ipynb"],
    ],
)
def test_moodle_archive(tmp_path, names):
    files = dict(zip(names, ["ada", "bob"], strict=True)) | {"Cy_9_assignsubmission_file_/report.docx": "x"}
    prefix = "wrap/" if names[0].startswith("wrap") else ""
    write(
        tmp_path, {"moodle.zip": pack({prefix.join(["", k]) if k.startswith("Cy") else k: v for k, v in files.items()})}
    )
    found = find(tmp_path / "moodle.zip")
    assert read(found) == {"Ada Lovelace_12345": "ada", "Bob Ng_77": "bob"}
    assert "report.docx" in found["Cy_9"].problem


def test_canvas_archive_takes_the_newest_attempt(tmp_path):
    files = {
        f"lovelaceada_12345_6001_{LAB}.ipynb": "1",
        f"lovelaceada_12345_6002_{LAB}-1.ipynb": "2",
        f"lovelaceada_LATE_12345_6010_{LAB}-10.ipynb": "3",
        "ngbob_LATE_777_6003_homework-1.ipynb": "bob 1",
        "ngbob_777_6004_homework-2.ipynb": "bob 2",
        "cy_888_6005_essay.pdf": "x",
    }
    write(tmp_path, {"canvas.zip": pack(files)})
    found = find(tmp_path / "canvas.zip")
    assert read(found) == {"lovelaceada_12345": "3", "ngbob_777": "bob 2"}
    assert "essay.pdf" in found["cy_888"].problem


def test_canvas_archive_of_groups_of_anonymous_students_and_of_what_is_no_file(tmp_path):
    """The names that Canvas makes besides the usual ones: see `get_filename` in its `lib/content_zipper.rb`."""
    files = {
        f"team_rocket_777_6003_{LAB}.ipynb": "rocket",
        f"team_rocket_LATE_777_6009_{LAB}-1.ipynb": "rocket, late",
        f"anon_aB3xY_6004_{LAB}.ipynb": "nobody",
        f"LATE_anon_Zz9qW_6005_{LAB}-2.ipynb": "nobody, late",
        f"żółćewa_12345_6006_{LAB}-submission.ipynb": "ewa",
        "lovelaceada_12346_text.html": "<p>See my mail</p>",
        "ngbob_LATE_12347_link.html": "<a>there</a>",
    }
    write(tmp_path, {"canvas.zip": pack(files)})
    found = find(tmp_path / "canvas.zip")
    works = {"team_rocket_777": "rocket, late", "anon_aB3xY": "nobody", "anon_Zz9qW": "nobody, late"}
    assert read(found) == works | {"żółćewa_12345": "ewa"}
    assert "text.html" in found["lovelaceada_12346"].problem and "link.html" in found["ngbob_12347"].problem


def test_canvas_users_with_short_numbers_are_recognised_and_groups_with_numbers_are_not_taken_for_them(tmp_path):
    files = {
        f"lovelaceada_7_6001_{LAB}.ipynb": "ada",
        f"lovelaceada_LATE_7_6008_{LAB}-1.ipynb": "ada, late",
        f"ngbob_42_6002_{LAB}.ipynb": "bob",
        f"team_1_777_6003_{LAB}.ipynb": "a group",
        f"team_2_8_6004_{LAB}.ipynb": "a group with a short number",
        "cy_9_text.html": "<p>See my mail</p>",
        f"dee_1_{LAB}.ipynb": "not named by Canvas",  # labs are numbered, with a 0 in front
    }
    write(tmp_path, {"canvas.zip": pack(files)})
    found = find(tmp_path / "canvas.zip")
    works = {"lovelaceada_7": "ada, late", "ngbob_42": "bob", "team_1_777": "a group"}
    works |= {"team_2_8": "a group with a short number"}
    assert read(found) == works
    assert "text.html" in found["cy_9"].problem


@pytest.mark.parametrize("form", ["{0}_/work.ipynb", "{0}_work.ipynb", f"{{0}}_/{LAB}/{LAB}.ipynb", "{0}_/work.zip"])
def test_a_full_name_that_holds_moodles_sign_takes_nobodys_place(tmp_path, form):
    sign = "_assignsubmission_file"
    eve = f"Vic Tim_100{sign}_x_200{sign}"
    files = {
        form.format(name): pack({f"{LAB}.ipynb": name}) if form.endswith("zip") else name
        for name in (f"Vic Tim_100{sign}", eve, f"Ada_300{sign}")
    }
    write(tmp_path, {"moodle.zip": pack(files)})
    found = find_submissions([tmp_path / "moodle.zip"], LAB, KNOWN)
    assert {each.student: each.read().decode() for each in found.submissions} == {
        "Vic Tim_100": f"Vic Tim_100{sign}",
        "Ada_300": f"Ada_300{sign}",
    }
    (passed,) = found.passed_over
    assert "_200_" in passed.path and "two students" in passed.reason


def test_in_canvas_a_name_that_ends_in_anothers_number_adds_nothing_to_anothers_work(tmp_path):
    lab = '{"metadata": {"nbgrader": {"grade_id": "softmax"}}}'
    files = {
        "vic_12345_6001_homework.ipynb": f"{lab} vic",
        "vic_12345_777_6002_homework.ipynb": f'{lab} eve "grade_id": "softmax-code"',  # the user vic_12345, number 777
        "ada_888_6003_2026_homework.ipynb": f"{lab} ada",  # a file name that begins with a number
    }
    write(tmp_path, {"canvas.zip": pack(files)})
    found = find(tmp_path / "canvas.zip")
    assert read(found) == {"vic_12345": f"{lab} vic", "ada_888": f"{lab} ada"}


def test_moodle_archive_with_text_typed_in_and_blind_marking(tmp_path):
    files = {
        "Ada Lovelace_12345_assignsubmission_onlinetext/onlinetext.html": "<p>done</p>",
        f"Ada Lovelace_12345_assignsubmission_file/{LAB}-submission.ipynb": "ada",
        f"Participant_77_assignsubmission_file_/{LAB}.ipynb": "blind",
        "Group A-Cy Twombly_9_assignsubmission_onlinetext_onlinetext.html": "<p>later</p>",
    }
    write(tmp_path, {"moodle.zip": pack(files)})
    found = find(tmp_path / "moodle.zip")
    assert read(found) == {"Ada Lovelace_12345": "ada", "Participant_77": "blind"}
    assert "onlinetext.html" in found["Group A-Cy Twombly_9"].problem


def test_archives_inside_archives(tmp_path):
    files = {
        "ada.zip": pack({f"{LAB}.ipynb": "ada", f"__MACOSX/._{LAB}.ipynb": "x"}),
        "bob/work.zip": pack({f"deep/er/{LAB}.ipynb": "bob"}),
        "cy.zip": b"PK\x03\x04 broken",
    }
    write(tmp_path, {"all.zip": pack(files)})
    found = find(tmp_path / "all.zip")
    assert read(found) == {"ada": "ada", "bob": "bob"}
    assert "cannot be opened" in found["cy"].problem


def test_archive_of_one_student_and_folder_of_archives(tmp_path):
    write(tmp_path, {"ada.zip": pack({f"{LAB}/{LAB}.ipynb": "ada"}), "bob.zip": pack({"bob/work.ipynb": "bob"})})
    assert read(find(tmp_path)) == {"ada": "ada", "bob": "bob"}
    assert read(find(tmp_path / "ada.zip")) == {"ada": "ada"}


@pytest.mark.parametrize("inside", ["bob.ipynb", f"bob/{LAB}.ipynb", f"submitted/bob/{LAB}/{LAB}.ipynb", "bob.zip"])
def test_an_archive_with_one_notebook_is_one_students_whatever_is_written_in_it(tmp_path, inside):
    """Students pack such archives themselves: a name in it could be another student's. A folder's names count."""
    data = pack({f"{LAB}.ipynb": "x"}) if inside.endswith(".zip") else b"x"
    write(tmp_path, {"ada.zip": pack({inside: data}), f"class/{inside}": data})
    assert read(find(tmp_path / "ada.zip")) == {"ada": "x"}
    assert read(find(tmp_path / "class")) == {"bob": "x"}


def test_wrapped_nbgrader_folder_in_an_archive(tmp_path):
    write(tmp_path, {"s.zip": pack({f"submitted/{n}/{LAB}/{LAB}.ipynb": n for n in ("ada", "bob")})})
    assert read(find(tmp_path / "s.zip")) == {"ada": "ada", "bob": "bob"}


def test_several_notebooks_are_told_by_their_cells(tmp_path):
    write(tmp_path, {"ada/a.ipynb": GOOD, "ada/b.ipynb": '{"cells": []}', "bob/a.ipynb": "1", "bob/b.ipynb": "2"})
    found = find(tmp_path)
    assert found["ada"].path.name == "a.ipynb"
    assert "none is named" in found["bob"].problem


def test_two_claims_on_one_id_are_both_kept(tmp_path):
    write(tmp_path, {"one/ada.ipynb": "1", "one/Ada/work.ipynb": "2", "two/ada.ipynb": "3"})
    found = find(tmp_path / "one/ada.ipynb", tmp_path / "one/Ada", tmp_path / "two/ada.ipynb", tmp_path / "one/Ada")
    assert sorted(read(found).values()) == ["1", "2", "3"]
    assert all(re.fullmatch("ada~[0-9a-f]{8}", name.casefold()) for name in found)
    assert all("3 submissions have the id" in submission.note for submission in found.values())


@pytest.mark.parametrize("name", ["../evil.ipynb", "/etc/evil.ipynb", "C:\\evil.ipynb", "..\\..\\evil.ipynb"])
def test_path_without_a_student_is_the_archives_finding(tmp_path, name):
    write(tmp_path, {"all.zip": pack({name: "x", f"ada/{LAB}.ipynb": "ada", "bob/x.ipynb": "bob"})})
    found = find(tmp_path / "all.zip")
    assert read(found) == {"ada": "ada", "bob": "bob"} and len(found) == 2
    (over,) = find_submissions([tmp_path / "all.zip"], LAB, KNOWN).passed_over
    assert over.path.endswith("all.zip") and "leads out" in over.reason


def test_path_trick_inside_a_students_folder_is_that_students(tmp_path):
    write(tmp_path, {"all.zip": pack({f"eve/../../{LAB}.ipynb": "x", f"ada/{LAB}.ipynb": "ada"})})
    found = find(tmp_path / "all.zip")
    assert read(found) == {"ada": "ada"}
    assert "leads out" in found["eve"].problem


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFCHR, stat.S_IFIFO])
def test_links_and_devices_in_an_archive_are_refused(tmp_path, kind):
    link = zipfile.ZipInfo(f"eve/{LAB}.ipynb")
    link.external_attr = (kind | 0o777) << 16
    write(tmp_path, {"all.zip": pack({link: "/etc/passwd", f"ada/{LAB}.ipynb": "ada"})})
    found = find(tmp_path / "all.zip")
    assert read(found) == {"ada": "ada"}
    assert "link or device" in found["eve"].problem


def test_member_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("autograder.read.tree.RATIO_FROM_BYTES", 2**16)
    write(tmp_path, {"all.zip": pack({f"eve/{LAB}.ipynb": b" " * 2**20, f"ada/{LAB}.ipynb": "ada"})})
    found = find(tmp_path / "all.zip")
    assert read(found) == {"ada": "ada"}
    assert "trap" in found["eve"].problem


def test_limits_on_members_and_total(tmp_path, monkeypatch):
    write(tmp_path, {"all.zip": pack({f"{n}.ipynb": "x" * 10 for n in "abcde"})})
    monkeypatch.setattr("autograder.read.tree.MAX_TOTAL_BYTES", 25)
    assert len(read(find(tmp_path / "all.zip"))) == 2
    monkeypatch.setattr("autograder.read.tree.MAX_MEMBERS", 3)
    assert "too many files" in find(tmp_path / "all.zip")["all"].problem


def test_a_students_archive_has_limits_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setattr("autograder.read.tree.MAX_MEMBERS", 5)
    work = {name: pack({f"{LAB}.ipynb": name, **{f"{n}.txt": "x" for n in range(4)}}) for name in ("ada", "bob")}
    many = pack({f"{n}.txt": "x" for n in range(6)})
    write(tmp_path, {"all.zip": pack({"ada/work.zip": work["ada"], "bob/work.zip": work["bob"], "eve/work.zip": many})})
    found = find(tmp_path / "all.zip")
    assert read(found) == {"ada": "ada", "bob": "bob"}
    assert "too many files" in found["eve"].problem


@pytest.mark.long
def test_a_list_of_two_hundred_thousand_files_is_refused_before_it_is_read(tmp_path):
    inner = {zipfile.ZipInfo("eve/work.zip"): endless_directory(200_000), f"ada/{LAB}.ipynb": "ada"}  # not packed
    write(tmp_path, {"all.zip": pack(inner)})
    found = find(tmp_path / "all.zip")
    assert read(found) == {"ada": "ada"}
    assert "too many files" in found["eve"].problem
    cost = cost_of(
        f"read_archive(FileSource(Path({str(tmp_path / 'all.zip')!r})))",
        "from pathlib import Path\nfrom autograder.read.tree import FileSource, read_archive",
    )
    assert cost.seconds < 2
    assert cost.megabytes < 300


def test_encrypted_and_damaged_members(tmp_path):
    data = bytearray(pack({"ada.ipynb": "a" * 100, "bob.ipynb": "b"}))
    data[data.index(b"ada.ipynb") + 12] ^= 0xFF
    central = data.rindex(b"PK\x01\x02")
    data[central + 8] |= 1
    write(tmp_path, {"all.zip": bytes(data)})
    found = find(tmp_path / "all.zip")
    with pytest.raises(Unreadable, match="unpacked"):
        found["ada"].read()
    assert "encrypted" in found["bob"].problem


def test_links_in_folders_are_not_followed_out(tmp_path):
    secret = write(tmp_path / "secret", {f"{LAB}.ipynb": "secret"})
    root = write(tmp_path / "in", {f"ada/{LAB}/real.ipynb": "ada"})
    os.symlink(root / "ada" / LAB / "real.ipynb", root / "ada" / LAB / f"{LAB}.ipynb")
    (root / "eve").mkdir()
    os.symlink(secret / f"{LAB}.ipynb", root / "eve" / f"{LAB}.ipynb")
    os.symlink(secret, root / "mal")
    os.mkfifo(root / "pipe.ipynb")
    found = find(root)
    assert read(found) == {"ada": "ada"}
    assert "link" in found["eve"].problem and "link" in found["mal"].problem
    assert "device or pipe" in found["pipe"].problem


def test_file_swapped_for_a_link_after_finding_is_not_followed(tmp_path):
    secret = write(tmp_path / "secret", {"s.ipynb": "secret"})
    root = write(tmp_path / "in", {"ada.ipynb": "ada"})
    found = find(root)
    (root / "ada.ipynb").unlink()
    os.symlink(secret / "s.ipynb", root / "ada.ipynb")
    with pytest.raises(Unreadable):
        found["ada"].read()


def test_missing_path_is_the_instructors_mistake(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        find(tmp_path / "nowhere")


def test_broken_archive_and_other_files_get_a_verdict(tmp_path):
    write(tmp_path, {"bad.zip": b"no zip", "page.html": "<html>"})
    assert "cannot be opened" in find(tmp_path / "bad.zip")["bad"].problem
    found = find_submissions([tmp_path / "page.html"], LAB, KNOWN)
    assert not found.submissions and "not a notebook" in found.passed_over[0].reason


@pytest.mark.parametrize(
    ("name", "expected"),
    [("Ada Lovelace", "Ada Lovelace"), ("a/b\\c", "a_b_c"), ("..", "unnamed"), ("-rf", "_rf"), ("Jose\u0301", "José")],
)
def test_student_ids_are_safe_names(name, expected):
    assert student_id(name) == expected


def test_a_link_to_anothers_work_takes_nothing_from_anybody(tmp_path):
    folders = write(tmp_path / "folders", {f"ada/{LAB}.ipynb": "ada", "eve/notes.txt": ""})
    os.symlink(f"../ada/{LAB}.ipynb", folders / "eve" / f"{LAB}.ipynb")
    flat = write(tmp_path / "flat", {"bob.ipynb": "bob", "cyd.ipynb": "cyd"})
    os.symlink("bob.ipynb", flat / "all.ipynb")
    for root, names in ((folders, ["ada"]), (flat, ["bob", "cyd"])):
        found = {submission.student: submission for submission in find_submissions([root], LAB).submissions}
        assert [found[name].read().decode() for name in names] == names
        assert all("link" in submission.problem for name, submission in found.items() if name not in names)


@pytest.mark.parametrize("acts", ["\x1b]0;title\x07", "\x1b[2J", "\x9b31m", "\u202e", "\u2028", "\u200b", "\r", "\t"])
def test_neither_ids_nor_reasons_hold_characters_that_act(tmp_path, acts):
    files = {f"a{acts}b/{LAB}.ipynb": "x", f"eve/{acts}.pdf": "x", f"cy/{acts}.zip": b"PK\x03\x04 broken"}
    write(tmp_path, {"all.zip": pack(files)})
    for student, submission in find(tmp_path / "all.zip").items():
        told = student + (submission.problem or "") + (submission.note or "")
        assert not any(unicodedata.category(character)[0] == "C" or character in "\u2028\u2029" for character in told)


def test_a_name_that_is_not_utf_8_can_be_written_everywhere(tmp_path):
    (tmp_path / os.fsdecode(b"caf\xe9")).mkdir()
    (tmp_path / os.fsdecode(b"caf\xe9") / os.fsdecode(b"r\xe9sum\xe9.txt")).write_text("x")
    ((student, found),) = find(tmp_path).items()
    assert student == "caf_" and "r_sum_.txt" in found.problem


def test_a_long_id_has_room_in_the_gradebook():
    assert len(student_id("x" * 300)) + len("~12345678") < 128
    assert len(student_id("名" * 300).encode()) <= 110


@pytest.mark.parametrize("name", ["eve.zip", f"eve/{LAB}.ipynb"])
@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_damaged_member_costs_its_owner_alone(tmp_path, name, method):
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr(f"{LAB}.ipynb", GOOD)
    outer = io.BytesIO()
    with zipfile.ZipFile(outer, "w", method) as archive:
        archive.writestr(f"ada/{LAB}.ipynb", GOOD, zipfile.ZIP_DEFLATED)
        archive.writestr(name, inner.getvalue() if name.endswith(".zip") else GOOD)
        member = archive.getinfo(name)
    data = bytearray(outer.getvalue())
    begins = member.header_offset + 30 + len(name)
    for at in range(begins + 12, begins + member.compress_size):
        data[at] ^= 0xFF
    (tmp_path / "all.zip").write_bytes(data)
    ada, eve = sorted(
        find_submissions([tmp_path / "all.zip"], LAB, KNOWN).submissions, key=lambda submission: submission.student
    )
    assert ada.read() == GOOD and (ada.student, eve.student) == ("ada", "eve")
    with pytest.raises(Unreadable):
        eve.read()


def test_a_script_beside_the_notebook_that_counts_is_told_apart_from_other_files(tmp_path):
    write(tmp_path, {"ada.ipynb": "ada", "ada.py": '# %%\ncheck("softmax")\n', "notes.pdf": "notes"})
    passed_over = find_submissions([tmp_path], LAB, KNOWN).passed_over
    assert {passed.path.rpartition("/")[2]: passed.reason for passed in passed_over} == {
        "ada.py": "It is a script, and the notebook of the same name beside it counts.",
        "notes.pdf": "It is not a notebook, a folder or a zip archive.",
    }
