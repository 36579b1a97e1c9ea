"""Nobody disappears and nobody is taken for another, however submissions lie in the places an instructor points at."""

import io
import os
import re
import zipfile
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.read import find_submissions

LAB = "02_self_attention"
KNOWN = {LAB: {"softmax", "softmax-code"}, "01_intuition": {"other"}, "03_heads": {"split"}}
MOODLE = "_assignsubmission_file_"


def work(name):
    """Return what a notebook of the lab is told by, and a script with cells too."""
    return f'# %% nbgrader={{"grade_id": "softmax"}}\n# of {name}'


def pack(files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, pack(content) if isinstance(content, dict) else work(content))
    return buffer.getvalue()


@dataclass(frozen=True)
class Layout:
    """Files (a dictionary is an archive's), whose work each is, and what must come out.

    Attributes:
        files: name to the student whose work it is.
        found: students that must be graded with their own work; where it differs, id to whose work.
        over: ends of the paths that must be passed over.
        problems: students that have nothing to grade, and words of the reason.
        paths: what is given on the command line, globs allowed.
    """

    files: dict
    found: dict[str, str] | set[str]
    over: set[str] = field(default_factory=set)
    problems: dict[str, str] = field(default_factory=dict)
    paths: tuple[str, ...] = (".",)


L = f"{LAB}.ipynb"
P = f"{LAB}.py"
LAYOUTS = {
    "flat": Layout({"ada.ipynb": "ada", "bob.ipynb": "bob"}, {"ada", "bob"}),
    "flat and an unrenamed file": Layout({"ada.ipynb": "ada", "bob.ipynb": "bob", L: "?"}, {"ada", "bob"}, {L}),
    "flat and a copied unrenamed file": Layout({"ada.ipynb": "ada", f"{LAB} (1).ipynb": "?"}, {"ada"}, {"(1).ipynb"}),
    "a class named like the lab, and one student beside it": Layout(
        {f"class/{LAB}/ada/{L}": "ada", f"class/{LAB}/bob/{L}": "bob", "zoe.ipynb": "zoe"},
        {"ada", "bob", "zoe"},
        paths=(f"class/{LAB}", "zoe.ipynb"),
    ),
    "flat and the instructor's folder": Layout(
        {"ada.ipynb": "ada", "bob.ipynb": "bob", f"{LAB}/{L}": "?"}, {"ada", "bob"}, {f"{LAB}/{L}"}
    ),
    "flat with a PDF, a script and a RAR archive": Layout(
        {"ada.ipynb": "ada", "bob.pdf": "bob", "cyd.txt": "cyd", "dee.rar": "dee"},
        {"ada"}, {"bob.pdf", "cyd.txt", "dee.rar"},
    ),
    "flat with scripts": Layout(
        {"ada.ipynb": "ada", "bob.py": "bob", "cyd.PY.txt": "cyd", P: "?"}, {"ada", "bob", "cyd"}, {f"/{P}"}
    ),
    "a script beside the notebook of the same name": Layout(
        {"ada.ipynb": "ada", "ada.py": "old", "bob.py": "bob"}, {"ada", "bob"}, {"ada.py"}
    ),
    "scripts in folders": Layout(
        {f"ada/{P}": "ada", "bob/answers.py": "bob", f"cyd/{L}": "cyd", f"cyd/{P}": "old", f"dee/{LAB}/{P}": "dee"},
        {"ada", "bob", "cyd", "dee"},
    ),
    "a script beside another lab's notebook": Layout(
        {f"ada/{P}": "ada", "ada/01_intuition.ipynb": "?", f"bob/{L}": "bob"}, {"ada", "bob"}
    ),
    "a script named like the lab beside a notebook of notes": Layout(
        {f"ada/{P}": "ada", "ada/notes.ipynb": "?", f"bob/{L}": "bob"}, {"ada", "bob"}
    ),
    "scripts by a glob": Layout({"ada.py": "ada", "bob.py": "bob"}, {"ada", "bob"}, paths=("*.py",)),
    "one student's script": Layout({f"ada/{P}": "ada"}, {"ada"}, paths=("ada",)),
    "scripts in archives": Layout({"ada.zip": {P: "ada"}, "bob.zip": {"work.py": "bob"}}, {"ada", "bob"}),
    "one zip with one script": Layout({"ada.zip": {"homework.py": "ada"}}, {"ada"}, paths=("ada.zip",)),
    "scripts in the exchange": Layout(
        {
            f"ada+{LAB}+2026-01-02 10:00:00 UTC+aaa/{P}": "ada",
            f"bob+{LAB}+2026-01-02 10:00:00 UTC+bbb/{L}": "bob",
        },
        {"ada", "bob"},
    ),
    "scripts in a Moodle archive": Layout(
        {"m.zip": {f"Ada_1{MOODLE}/{P}": "Ada_1", f"Bob_2{MOODLE}/b.zip": {"x.py": "Bob_2"}}},
        {"Ada_1", "Bob_2"}, paths=("m.zip",),
    ),
    "scripts in a Canvas archive": Layout(
        {"c.zip": {f"ada_123_6001_{P}": "old", f"ada_123_6002_{LAB}-1.py": "ada_123", "bob_777_6003_x.py": "bob_777"}},
        {"ada_123", "bob_777"}, paths=("c.zip",),
    ),
    "flat and other labs": Layout({"ada.ipynb": "ada", "01_intuition.ipynb": "?"}, {"ada"}, {"01_intuition.ipynb"}),
    "folders": Layout({f"ada/{L}": "ada", f"bob/{L}": "bob"}, {"ada", "bob"}),
    "folders and an unrenamed file": Layout({f"ada/{L}": "ada", f"bob/{L}": "bob", L: "?"}, {"ada", "bob"}, {f"/{L}"}),
    "folders of renamed files and an unrenamed file": Layout(
        {"ada/homework.ipynb": "ada", "bob/work.ipynb": "bob", L: "?"}, {"ada", "bob"}, {f"/{L}"}
    ),
    "folders and a zip named like the lab": Layout(
        {f"ada/{L}": "ada", f"bob/{L}": "bob", f"{LAB}.zip": {L: "?"}}, {"ada", "bob"}, {f"{LAB}.zip"}
    ),
    "nbgrader": Layout({f"ada/{LAB}/{L}": "ada", f"bob/{LAB}/{L}": "bob"}, {"ada", "bob"}),
    "nbgrader, several labs": Layout(
        {f"{who}/{lab}/{lab}.ipynb": f"{who} {lab}" for who in ("ada", "bob") for lab in KNOWN},
        {who: f"{who} {LAB}" for who in ("ada", "bob")},
    ),
    "lab first": Layout({f"{LAB}/ada.ipynb": "ada", f"{LAB}/bob/{L}": "bob"}, {"ada", "bob"}),
    "lab first with the instructor's copy": Layout(
        {f"{LAB}/ada.ipynb": "ada", f"{LAB}/bob.ipynb": "bob", f"{LAB}/{L}": "?"}, {"ada", "bob"}, {f"{LAB}/{L}"}
    ),
    "lab first, several labs": Layout(
        {f"{LAB}/ada.ipynb": "ada", f"{LAB}/bob.ipynb": "bob", "01_intuition/ada.ipynb": "?"},
        {"ada", "bob"}, {"01_intuition"},
    ),
    "exchange": Layout(
        {
            f"ada+{LAB}+2026-01-02 10:00:00 UTC+aaa/{L}": "old",
            f"ada+{LAB}+2026-01-03 10:00:00 UTC+bbb/{L}": "ada",
            f"bob+{LAB}+2026-01-03 10:00:00 UTC+ccc/{L}": "bob",
            "bob+01_intuition+2026-01-03 10:00:00 UTC+ccc/01_intuition.ipynb": "?",
        },
        {"ada", "bob"},
    ),
    "exchange and a loose notebook": Layout(
        {
            f"ada+{LAB}+2026-01-02 10:00:00 UTC+aaa/{L}": "ada",
            f"bob+{LAB}+2026-01-02 10:00:00 UTC+bbb/{L}": "bob",
            "cyd+01_intuition+2026-01-02 10:00:00 UTC/01_intuition.ipynb": "?",
            L: "?",
        },
        {"ada", "bob"}, {f"/{L}"},
    ),
    "exchange of an unknown lab": Layout(
        {f"ada+{LAB}+2026-01-02 10:00:00 UTC/{L}": "ada", f"bob+02_misspelt+2026-01-02 10:00:00 UTC/{L}": "?"},
        {"ada"}, {"UTC"},
    ),
    "exchange by a glob": Layout(
        {
            f"ada+{LAB}+2026-01-02 10:00:00 UTC+aaa/{L}": "old",
            f"ada+{LAB}+2026-01-03 10:00:00 UTC+bbb/{L}": "ada",
            f"bob+{LAB}+2026-01-03 10:00:00 UTC+ccc/{L}": "bob",
        },
        {"ada", "bob"}, paths=(f"*/{L}",),
    ),
    "Moodle folders": Layout({f"Ada_1{MOODLE}/{L}": "Ada_1", f"Bob_2{MOODLE}/x.ipynb": "Bob_2"}, {"Ada_1", "Bob_2"}),
    "Moodle folders and a loose notebook": Layout(
        {f"Ada L_1{MOODLE}/{L}": "Ada L_1", f"Bob_2{MOODLE}/{L}": "Bob_2", f"Cyd_3{MOODLE}/{L}": "Cyd_3", L: "?"},
        {"Ada L_1", "Bob_2", "Cyd_3"}, {f"/{L}"},
    ),
    "Moodle folders by a glob": Layout(
        {
            f"Ada_1{MOODLE}/{L}": "Ada_1",
            f"Bob_2{MOODLE}/x.ipynb": "Bob_2",
            "Bob_2_assignsubmission_onlinetext_/onlinetext.html": "?",
        },
        {"Ada_1", "Bob_2"}, paths=("*/",),
    ),
    "one Moodle folder": Layout({f"Ada_1{MOODLE}/{L}": "Ada_1"}, {"Ada_1"}, paths=(f"Ada_1{MOODLE}",)),
    "Moodle archive and zips in it": Layout(
        {"m.zip": {f"Ada_1{MOODLE}/a.zip": {f"deep/{L}": "Ada_1"}, f"Bob_2{MOODLE}/b.zip": {"x.ipynb": "Bob_2"}}},
        {"Ada_1", "Bob_2"}, paths=("m.zip",),
    ),
    "Moodle archive with another's name inside a zip": Layout(
        {"m.zip": {f"Eve_1{MOODLE}/e.zip": {f"Bob_2{MOODLE}/{L}": "eve's", L: "Eve_1"}, f"Bob_2{MOODLE}/{L}": "Bob_2"}},
        {"Eve_1", "Bob_2"}, {f"Bob_2{MOODLE}/{L}"}, paths=("m.zip",),
    ),
    "Moodle archive beside nothing else": Layout(
        {"m.zip": {f"Ada_1{MOODLE}/{L}": "Ada_1", f"Bob_2{MOODLE}/{L}": "Bob_2"}}, {"Ada_1", "Bob_2"}
    ),
    "Canvas": Layout(
        {f"lovelaceada_12345_6001_{L}": "old", f"lovelaceada_12345_6002_{LAB}-1.ipynb": "lovelaceada_12345"},
        {"lovelaceada_12345"},
    ),
    "Canvas and a loose notebook": Layout(
        {f"lovelaceada_12345_6001_{L}": "lovelaceada_12345", f"ngbob_777_6003_{L}": "ngbob_777", L: "?"},
        {"lovelaceada_12345", "ngbob_777"}, {f"/{L}"},
    ),
    "Canvas by a glob": Layout(
        {f"ada_123_6001_{L}": "old", f"ada_123_6002_{LAB}-1.ipynb": "ada_123", "bob_777_6003_x.ipynb": "bob_777"},
        {"ada_123", "bob_777"}, paths=("*.ipynb",),
    ),
    "zips": Layout({"ada.zip": {L: "ada"}, "bob.zip": {f"bob/{L}": "bob"}}, {"ada", "bob"}),
    "zips with another's name inside": Layout(
        {"aaa.zip": {L: "aaa", f"victim/{L}": "forged"}, "victim.zip": {L: "victim"}},
        {"aaa", "victim"}, {f"aaa.zip/victim/{L}"},
    ),
    "zips by a glob, with another's name inside": Layout(
        {"aaa.zip": {L: "aaa", f"victim/{L}": "forged"}, "victim.zip": {L: "victim"}},
        {"aaa", "victim"}, {f"aaa.zip/victim/{L}"}, paths=("*.zip",),
    ),
    "zips by a glob, with nothing but another's name inside": Layout(
        {"aaa.zip": {f"victim/{L}": "aaa"}, "bob.zip": {L: "bob"}}, {"aaa", "bob"}, paths=("*.zip",)
    ),
    "zips by a glob, with an LMS's names inside one": Layout(
        {"eve.zip": {f"Bob_2{MOODLE}/{L}": "forged", f"Cyd_3{MOODLE}/{L}": "forged"}, "bob.zip": {L: "bob"}},
        {"bob"}, {"eve.zip"}, paths=("*.zip",),
    ),
    "one zip with nothing but another's name inside": Layout(
        {"aaa.zip": {f"victim/{L}": "aaa"}}, {"aaa"}, paths=("aaa.zip",)
    ),
    "one zip with one renamed notebook": Layout({"ada.zip": {"homework.ipynb": "ada"}}, {"ada"}, paths=("ada.zip",)),
    "zip in zip in zip": Layout(
        {"all.zip": {"ada.zip": {"in.zip": {L: "ada"}}, "bob.zip": {L: "bob"}}}, {"ada", "bob"}, paths=("all.zip",)
    ),
    "folders by a glob, with notes beside": Layout(
        {f"ada/{L}": "ada", "ada/notes.ipynb": "?", f"bob/{L}": "bob", f"bob/old/{L}": "?"},
        {"ada", "bob"}, {f"bob/old/{L}"}, paths=("*/",),
    ),
    "folders by a glob, one of them pretending to be a class": Layout(
        {f"ada/{L}": "ada", f"eve/ada/{L}": "forged", f"eve/bob/{L}": "forged", f"bob/{L}": "bob"},
        {"ada", "bob"}, {"eve"}, paths=("*/",),
    ),
    "notebooks by a glob": Layout({f"ada/{L}": "ada", f"bob/{L}": "bob"}, {"ada", "bob"}, paths=(f"*/{L}",)),
    "nbgrader's notebooks by a glob": Layout(
        {f"ada/{LAB}/{L}": "ada", f"bob/{LAB}/{L}": "bob"}, {"ada", "bob"}, paths=(f"*/{LAB}/{L}",)
    ),
    "nbgrader's folders by a glob": Layout(
        {f"ada/{LAB}/{L}": "ada", f"bob/{LAB}/{L}": "bob"}, {"ada", "bob"}, paths=(f"*/{LAB}",)
    ),
    "flat by a glob, with an unrenamed file": Layout(
        {"ada.ipynb": "ada", "bob.ipynb": "bob", L: "?"}, {"ada", "bob"}, {f"/{L}"}, paths=("*.ipynb",)
    ),
    "two classes": Layout(
        {f"a/ada/{L}": "ada", f"a/bob/{L}": "bob", f"b/cyd/{L}": "cyd", f"b/dee/{L}": "dee"},
        {"ada", "bob", "cyd", "dee"}, paths=("a", "b"),
    ),
    "two flat classes": Layout(
        {"a/ada.ipynb": "ada", "a/bob.ipynb": "bob", "b/cyd.ipynb": "cyd", "b/dee.ipynb": "dee"},
        {"ada", "bob", "cyd", "dee"}, paths=("a", "b"),
    ),
    "two Moodle archives": Layout(
        {
            "a.zip": {f"Ada_1{MOODLE}/{L}": "Ada_1", f"Bob_2{MOODLE}/{L}": "Bob_2"},
            "b.zip": {f"Cyd_3{MOODLE}/{L}": "Cyd_3"},
        },
        {"Ada_1", "Bob_2", "Cyd_3"}, paths=("*.zip",),
    ),
    "a class and a late notebook": Layout(
        {f"class/ada/{L}": "ada", f"class/bob/{L}": "bob", "late/zoe.ipynb": "zoe"},
        {"zoe"}, {"class"}, paths=("class", "late/zoe.ipynb"),
    ),
    "groups": Layout(
        {f"one/ada/{L}": "ada", f"one/bob/{L}": "bob", f"two/cyd/{L}": "cyd", f"two/dee/{L}": "dee"},
        {"ada", "bob", "cyd", "dee"},
    ),
    "a group among students": Layout(
        {f"ada/{L}": "ada", f"group/bob/{L}": "bob", f"group/cyd/{L}": "cyd"}, {"ada"}, {"group"}
    ),
    "a class in a folder beside notes": Layout(
        {f"class/ada/{L}": "ada", f"class/bob/{L}": "bob", "notes.ipynb": "notes"}, {"notes"}, {"class"}
    ),
    "a class wrapped twice in an archive": Layout(
        {"s.zip": {f"x/submitted/ada/{LAB}/{L}": "ada", f"x/submitted/bob/{LAB}/{L}": "bob"}},
        {"ada", "bob"}, paths=("s.zip",),
    ),
    "several notebooks of a student": Layout(
        {f"ada/{L}": "ada", f"ada/{LAB}-Copy1.ipynb": "old", "ada/notes.ipynb": "?", f"bob/{L}": "bob"},
        {"ada", "bob"}, {"Copy1.ipynb"},
    ),
    "one student's folder": Layout(
        {f"ada/{L}": "ada", "ada/01_intuition.ipynb": "?", f"ada/{LAB} (1).ipynb": "old", "ada/data/x.csv": "?"},
        {"ada"}, {"(1).ipynb"}, paths=("ada",),
    ),
    "what programs leave behind": Layout(
        {
            f"ada/{L}": "ada",
            f"ada/.ipynb_checkpoints/{LAB}-checkpoint.ipynb": "?",
            f"__MACOSX/ada/._{L}": "?",
            ".DS_Store": "?",
            f"bob/__MACOSX/._{L}": "?",
            f"bob/{L}": "bob",
        },
        {"ada", "bob"},
    ),
    "empty folders and folders without notebooks": Layout(
        {f"ada/{L}": "ada", "bob/": "", "cyd/essay.pdf": "cyd", "dee/02.rar": "dee"},
        {"ada"}, problems={"bob": "empty", "cyd": "essay.pdf", "dee": "02.rar"},
    ),
    "files that look like a Canvas upload in a student's folder": Layout(
        {f"ada/{L}": "ada", "ada/model_128_256_weights.h5": "?", f"bob/{L}": "bob"}, {"ada", "bob"}
    ),
    "the same student unpacked and packed": Layout(
        {f"ada/{L}": "ada", "ada.zip": {L: "ada too"}, f"bob/{L}": "bob"},
        {"ada~1": "ada too", "ada~2": "ada", "bob": "bob"},
    ),
}  # fmt: skip


def lay(root, files):
    for name, content in files.items():
        path = root / name
        (path if name.endswith("/") else path.parent).mkdir(parents=True, exist_ok=True)
        if not name.endswith("/"):
            path.write_bytes(pack(content) if isinstance(content, dict) else work(content).encode())
    return root


def matching(root, paths):
    return [path for pattern in paths for path in (sorted(root.glob(pattern)) if "*" in pattern else [root / pattern])]


@pytest.mark.parametrize("name", LAYOUTS)
def test_everybody_is_graded_under_their_own_id_or_named(tmp_path, name):
    layout = LAYOUTS[name]
    root = lay(tmp_path / "handed in", layout.files)
    found = find_submissions(matching(root, layout.paths), LAB, KNOWN)
    graded = {submission.student: submission.read().decode() for submission in found.submissions if submission.source}
    wanted = layout.found if isinstance(layout.found, dict) else {student: student for student in layout.found}
    if any("~" in student for student in wanted):
        plain = {re.sub("~.*", "", student) for student in wanted if "~" in student}
        assert not plain & graded.keys() and found.claimed_twice
        assert sorted(graded.values()) == sorted(map(work, wanted.values()))
    else:
        assert graded == {student: work(whose) for student, whose in wanted.items()}
        assert not found.claimed_twice
    problems = {submission.student: submission.problem for submission in found.submissions if submission.problem}
    assert problems.keys() == layout.problems.keys()
    assert all(words in problems[student] for student, words in layout.problems.items())
    places = [passed.path for passed in found.passed_over]
    assert all(any(place.endswith(end) for place in places) for end in layout.over), places
    assert len(places) == len(layout.over), places
    assert all(passed.reason.endswith(".") for passed in found.passed_over)


def test_a_script_without_cells_or_of_no_exercise_names_nobody(tmp_path):
    root = lay(tmp_path / "in", {"ada.ipynb": "ada", "bob.ipynb": "bob"})
    (root / "helper.py").write_text("# %%\nimport os\n")
    (root / "notes.py").write_text('check("softmax")\n')
    (root / "cyd.py").write_text('# %%\ndef softmax(x): ...\n\n# %%\ncheck("softmax")\n')
    found = find_submissions([root], LAB, KNOWN)
    assert [submission.student for submission in found.submissions if submission.source] == ["ada", "bob", "cyd"]
    assert {passed.path.rpartition("/")[2] for passed in found.passed_over} == {"helper.py", "notes.py"}
    assert all(passed.reason.startswith("It is a script without cells") for passed in found.passed_over)
    (root / "dee").mkdir()
    (root / "dee" / "solution.py").write_text("def softmax(x): ...")
    (dee,) = (
        submission for submission in find_submissions([root], LAB, KNOWN).submissions if submission.student == "dee"
    )
    assert "There is no notebook for this lab; found “solution.py”" in dee.problem


def test_links_at_the_level_of_students_are_named(tmp_path):
    root = lay(tmp_path / "in", {f"ada/{L}": "ada", "bob.ipynb": "bob"})
    os.symlink("bob.ipynb", root / "cyd.ipynb")
    os.symlink(root / "ada", root / "dee")
    os.symlink("nowhere", root / "eve.pdf")
    found = find_submissions([root], LAB, KNOWN)
    assert {submission.student for submission in found.submissions if submission.source} == {"ada", "bob"}
    assert {submission.student for submission in found.submissions if "link" in (submission.problem or "")} == {
        "cyd",
        "dee",
    }
    assert [passed.path.rpartition("/")[2] for passed in found.passed_over] == ["eve.pdf"]


def test_a_link_on_the_command_line_has_the_name_of_the_link(tmp_path):
    lay(tmp_path, {f"store/x17/{L}": "ada"})
    os.symlink(tmp_path / "store" / "x17", tmp_path / "ada")
    assert [submission.student for submission in find_submissions([tmp_path / "ada"], LAB, KNOWN).submissions] == [
        "ada"
    ]


def test_the_id_of_one_of_two_does_not_depend_on_the_order_or_on_what_else_is_graded(tmp_path):
    lay(tmp_path, {"one/ada.ipynb": "1", "two/ada.ipynb": "2", "three/ada.ipynb": "3"})
    paths = [tmp_path / name / "ada.ipynb" for name in ("one", "two", "three")]

    def ids(*paths):
        return {submission.read(): submission.student for submission in find_submissions(paths, LAB, KNOWN).submissions}

    three = ids(*paths)
    assert ids(*reversed(paths)) == three
    assert ids(*paths[:2]).items() <= three.items()
    alone = ids(paths[1])
    assert set(alone.values()) == {"ada"} and "ada" not in three.values()


def test_two_ids_that_differ_in_case_or_in_what_no_file_name_has_are_claimed_twice(tmp_path):
    root = lay(tmp_path, {"all.zip": {"Ada.ipynb": "1", "ada.ipynb": "2", "a?b.ipynb": "3", "a*b.ipynb": "4"}})
    found = find_submissions([root / "all.zip"], LAB, KNOWN)
    assert len({submission.student.casefold() for submission in found.submissions}) == 4
    assert len(found.claimed_twice) == 2 and "all.zip/ada.ipynb" in " ".join(found.claimed_twice).casefold()


def test_a_students_own_time_is_not_believed(tmp_path):
    stamp = b"2026-01-02 03:04:05 UTC"
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr(f"{LAB}/{L}", work("ada"))
        file.writestr(f"{LAB}/timestamp.txt", stamp)
    lay(tmp_path / "class", {f"bob/{LAB}/{L}": "bob"})
    (tmp_path / "class" / "bob" / LAB / "timestamp.txt").write_bytes(stamp)
    (tmp_path / "class" / "ada.zip").write_bytes(archive.getvalue())
    (tmp_path / "ada.zip").write_bytes(archive.getvalue())
    with zipfile.ZipFile(tmp_path / "moodle.zip", "w") as file:
        for who in ("Ada_1", "Bob_2"):
            file.writestr(f"{who}{MOODLE}/{who}.zip", archive.getvalue())
            file.writestr(f"{who}{MOODLE}/{LAB}/timestamp.txt", stamp)
    with zipfile.ZipFile(tmp_path / "submitted.zip", "w") as file:
        for who in ("cyd", "dee"):
            file.writestr(f"{who}/{LAB}/{L}", work(who))
            file.writestr(f"{who}/{LAB}/timestamp.txt", stamp)

    def believed(*paths):
        found = find_submissions([tmp_path / path for path in paths], LAB, KNOWN).submissions
        return {submission.student: submission.timestamp is not None for submission in found}

    assert believed("class") == {"ada": False, "bob": True}
    assert believed("ada.zip") == {"ada": False}
    assert believed("ada.zip", f"class/bob/{LAB}") == {"ada": False, "bob": True}
    assert believed("moodle.zip") == {"Ada_1": False, "Bob_2": False}
    assert believed("submitted.zip") == {"cyd": True, "dee": True}
    assert believed(f"class/bob/{LAB}") == {"bob": True}


def test_few_of_many_notebooks_are_read_and_their_archive_is_opened_once(tmp_path, monkeypatch):
    opened = []
    real = zipfile.ZipFile
    many = {f"{number:04}.ipynb": f"{number}" for number in range(400)} | {"a.ipynb": "ada"}
    with real(tmp_path / "m.zip", "w") as file:
        file.writestr(f"Ada_1{MOODLE}/a.zip", pack(many))
        file.writestr(f"Bob_2{MOODLE}/{L}", work("bob"))
    monkeypatch.setattr("zipfile.ZipFile", lambda *args, **more: opened.append(args) or real(*args, **more))
    found = find_submissions([tmp_path / "m.zip"], LAB, KNOWN)
    problems = {submission.student: submission.problem for submission in found.submissions}
    assert problems["Bob_2"] is None and "401 notebooks" in problems["Ada_1"]
    assert len(opened) < 8


SIGNS = {
    "exchange": {f"{who}+{LAB}+2026-01-02 10:00:00 UTC+r/{L}": who for who in ("ada", "bob")},
    "moodle": {f"{who}{MOODLE}/{L}": who for who in ("Ada_1", "Bob_2")},
    "canvas": {f"{who}_6001_{L}": who for who in ("ada_123", "bob_777")},
    "blackboard": {f"ps1_{who}_attempt_2026-01-02-10-00-00_{L}": who for who in ("ada", "bob")},
    "students": {f"{who}/{L}": who for who in ("ada", "bob")},
}


@pytest.mark.parametrize("name", SIGNS)
def test_a_layout_is_recognised_by_what_most_of_the_names_are(tmp_path, name):
    """One entry of a stranger's changes neither the layout nor anybody else's work, whatever it is called."""
    strangers = [next(iter(files)).replace("ada", "eve").replace("Ada", "Eve") for files in SIGNS.values()]
    for number, stranger in enumerate([None, *strangers]):
        files = SIGNS[name] | ({stranger: "eve"} if stranger else {})
        root = lay(tmp_path / str(number), files)
        found = find_submissions([root], LAB, KNOWN)
        assert found.layouts == [name]
        graded = {submission.student: submission.read().decode() for submission in found.submissions}
        works = {who: work(who) for who in SIGNS[name].values()}
        assert works.items() <= graded.items()
        assert len(graded) + len(found.passed_over) == len(files)


def test_an_inbound_folder_is_the_exchange_however_much_is_put_into_it(tmp_path):
    forged = {f"ada{n}.ipynb": "forged" for n in range(9)} | {"ada/work.ipynb": "forged"}
    root = lay(tmp_path / "inbound", forged | SIGNS["exchange"])
    for paths in ([root], [tmp_path], sorted(root.iterdir())):
        found = find_submissions(paths, LAB, KNOWN)
        assert {each.student: each.read().decode() for each in found.submissions} == {
            "ada": work("ada"),
            "bob": work("bob"),
        }
        assert len(found.passed_over) == len(forged)


def test_the_layout_that_is_named_is_read(tmp_path):
    root = lay(tmp_path / "ada", {L: "ada", "old/a.ipynb": "?", "drafts/b.ipynb": "?"})
    assert find_submissions([root], LAB, KNOWN).layouts == ["students"]
    (ada,) = find_submissions([root], LAB, KNOWN, layout="student").submissions
    assert ada.student == "ada" and ada.read().decode() == work("ada")
    class_ = lay(tmp_path / "course_101_2026_autumn", SIGNS["students"])  # as Canvas names the file of user 101
    for layout, students in ((None, {"course_101"}), ("students", {"ada", "bob"})):
        found = find_submissions([class_], LAB, KNOWN, layout=layout)
        assert {each.student for each in found.submissions} == students
    one = lay(tmp_path / "in", {"all.zip": {"bob.ipynb": "bob"}}) / "all.zip"
    for layout, student in ((None, "all"), ("student", "all"), ("students", "bob")):
        (found,) = find_submissions([one], LAB, KNOWN, layout=layout).submissions
        assert found.student == student and found.read().decode() == work("bob")


def test_a_blackboard_archive_takes_the_newest_attempt_and_mixes_nobody(tmp_path):
    """As in nbgrader's guide to its zip collector; Blackboard adds a text to each attempt."""
    files = {
        f"ps1_ada_attempt_2026-01-02-10-00-00_{L}": "old",
        f"ps1_ada_attempt_2026-01-03-10-00-00_{L}": "ada",
        "ps1_ada_attempt_2026-01-03-10-00-00.txt": "?",
        "ps1_bob_attempt_2026-01-01-10-00-00_homework.ipynb": "bob",
        "ps1_cyd_attempt_2026-01-01-10-00-00.txt": "?",
        f"ps1_x_bob_attempt_2026-01-04-10-00-00_{L}": "x_bob",  # a user name with `_`: could be bob's
        f"ps1_eve_attempt_2026-01-04-10-00-00_ps1_bob_attempt_2026-01-04-10-00-00_{L}": "eve",
    }
    path = tmp_path / "all.zip"
    path.write_bytes(pack(files))
    found = find_submissions([path], LAB, KNOWN)
    graded = {each.student: each.read().decode() for each in found.submissions if each.source}
    assert found.layouts == ["blackboard"] and graded == {"ada": work("ada"), "bob": work("bob")}
    assert {each.student for each in found.submissions if each.problem} == {"cyd"}
    assert [("two students" in each.reason) for each in found.passed_over] == [False, True]
    assert next(each.note for each in found.submissions if each.student == "ada") == "The newest of 2 attempts."


FOLDERS = st.sampled_from(["ada", "bob", "group", LAB, "01_intuition", f"Cyd_3{MOODLE}", "old", "ada.zip", "x.zip"])
NAMES = st.sampled_from(
    [L, f"{LAB} (1).ipynb", "bob.ipynb", "notes.ipynb", "01_intuition.ipynb", "essay.pdf", "bob.py", P]
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.lists(FOLDERS, max_size=3), NAMES), min_size=1, max_size=7), st.booleans())
def test_no_notebook_named_like_the_lab_disappears(tmp_path_factory, files, packed):
    """Each is graded, or named as passed over with a folder around it, or its student's problem is told."""
    root = tmp_path_factory.mktemp("any") / "in"
    tree: dict = {}
    for number, (folders, name) in enumerate(files):
        inner = tree
        for folder in folders:
            inner = inner.setdefault(folder, {})
        inner[name] = str(number)
    path = root.with_suffix(".zip") if packed else root
    if packed:
        path.write_bytes(pack(_flat(tree)))
    else:
        lay(root, _flat(tree))
    root.mkdir(exist_ok=True)
    found = find_submissions([path], LAB, KNOWN)
    named = [passed.path for passed in found.passed_over]
    graded = [submission.read().decode() for submission in found.submissions if submission.source]
    told = any(submission.problem for submission in found.submissions)
    for place, whose in _works(tree, str(path)):
        other_lab = "01_intuition/" in place
        assert work(whose) in graded or any(place.startswith(start) for start in named) or other_lab or told, place
    assert len(graded) == len(set(graded))


def test_an_archive_that_is_packed_too_deep_is_named_beside_the_notebook_that_counts(tmp_path):
    deep = {"ada.zip": {"ada.zip": {"ada.zip": {L: "1"}}}}
    path = tmp_path / "in.zip"
    path.write_bytes(pack({L: "0", **deep}))
    found = find_submissions([path], LAB, KNOWN)
    assert [submission.read().decode() for submission in found.submissions] == [work("0")]
    (passed,) = found.passed_over
    assert passed.path == f"{path}/ada.zip/ada.zip/ada.zip" and passed.reason.endswith("inside too many others.")


def _flat(tree):
    """Return what `pack` and `lay` take: archives are dictionaries, folders are parts of names."""
    flat = {}
    for name, content in tree.items():
        if isinstance(content, str):
            flat[name] = content
        elif name.endswith(".zip"):
            flat[name] = _flat(content)
        else:
            flat |= {f"{name}/{inner}": value for inner, value in _flat(content).items()}
    return flat


def _works(tree, place):
    for name, content in tree.items():
        if isinstance(content, dict):
            yield from _works(content, f"{place}/{name}")
        elif name == L:
            yield f"{place}/{name}", content
