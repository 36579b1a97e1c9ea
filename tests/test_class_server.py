"""The class server as people use it: an instructor and three students at once, one of whom tries what she may not."""

from __future__ import annotations

import csv
import json
import re
import textwrap
from concurrent.futures import ThreadPoolExecutor

import class_server
import pytest
from class_server import COURSE, LAB, OWNER, PREFIX, ClassServer, Visitor, out_of_reach, processes_of, wait_for
from websocket import WebSocketException

ADA, BEN, MALLORY, PROF = (PREFIX + name for name in ("ada", "ben", "mallory", "prof"))
RIGHT = "def centre(x):\n    return x - x.mean(axis=0)"
WRONG = "def centre(x):\n    return x"
MEMORY_MB = 1024
pytestmark = [pytest.mark.long, pytest.mark.sandbox]


@pytest.fixture(scope="module")
def school():
    if why := class_server.missing():
        pytest.skip(why)
    try:
        server = ClassServer(HUB_MEMORY_MB=str(MEMORY_MB))
    except ConnectionError as error:
        pytest.skip(str(error))
    try:
        server.start()
        people = [(ADA, "student"), (BEN, "student"), (MALLORY, "student"), (PROF, "instructor")]
        passwords = server.add(people)
        yield server, {name: Visitor(server, name, password) for name, password in passwords.items()}
    finally:
        server.stop()


def ask(visitor: Visitor, lines: dict[str, str]) -> dict[str, str]:
    """Evaluate each expression in a kernel of the visitor; what it is, or the name of the error."""
    code = f"""
    import glob, json, os, pathlib, shutil, signal, subprocess
    answers = {{}}
    for name, line in {lines!r}.items():
        try:
            answers[name] = repr(eval(line))
        except BaseException as error:
            answers[name] = type(error).__name__
    print(json.dumps(answers))
    """
    said = visitor.run(textwrap.dedent(code))
    return json.loads(said.strip().splitlines()[-1])


def test_an_instructor_and_three_students_at_once_and_one_who_tries_what_she_may_not(school):
    server, people = school
    students = [people[name] for name in (ADA, BEN, MALLORY)]
    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(Visitor.sign_in, people.values()))
        list(pool.map(Visitor.start, students))
        formgrader = people[PROF].at(OWNER)
        formgrader.start()
        assert formgrader.get("formgrader/manage_assignments").ok

        # the instructor hands the lab out; the students fetch it, each into her own home
        released = formgrader.post(f"formgrader/api/assignment/{LAB}/release").json()
        assert released["success"], released
        lab = {"course_id": COURSE, "assignment_id": LAB}
        for answer in pool.map(lambda visitor: visitor.post("assignments/fetch", data=lab).json(), students):
            assert answer["success"], answer
        for student, text in zip(students, (RIGHT, WRONG, WRONG), strict=True):
            write(student, text)

        # the Validate button says how it stands
        checked = {"path": f"{LAB}/{LAB}.ipynb"}
        verdicts = list(
            pool.map(lambda visitor: visitor.post("assignments/validate", data=checked).json(), students[:2])
        )
        said = [verdict["value"]["failed"][0]["source"] for verdict in verdicts]
        assert ["Success!" in source for source in said] == [True, False], verdicts
        assert all(re.match(r"[\d.]+ of [\d.]+ points", source) for source in said), verdicts
        for answer in pool.map(lambda visitor: visitor.post("assignments/submit", data=lab).json(), students):
            assert answer["success"], answer

    # `course watch` runs beside the hub and answers each of them
    pages = {
        student.name: wait_for(lambda visitor=student: feedback(visitor, lab), "feedback", 240) for student in students
    }
    assert all(page.startswith("<!") and "centre" in page for page in pages.values())
    with (server.course / "grades" / "grades.csv").open(newline="") as file:
        score = {row["student"]: (float(row["score"]), float(row["max_score"])) for row in csv.DictReader(file)}
    assert score[ADA][0] == score[ADA][1] > score[BEN][0]


def write(student: Visitor, text: str) -> None:
    """Replace the answer in the student's notebook."""
    path = f"{LAB}/{LAB}.ipynb"
    notebook = student.get(f"api/contents/{path}").json()["content"]
    cell = next(cell for cell in notebook["cells"] if "def centre" in cell["source"])
    cell["source"] = text
    answer = student.put(path, {"type": "notebook", "format": "json", "content": notebook})
    assert answer.ok, answer.text


def feedback(student: Visitor, lab: dict[str, str]) -> str | None:
    """The student's own feedback page, once it is there."""
    student.post("assignments/fetch_feedback", data=lab)
    listing = student.get(f"api/contents/{LAB}/feedback")
    if not listing.ok:
        return None
    folder = listing.json()["content"][-1]["path"]
    page = student.get(f"api/contents/{folder}/{LAB}.html")
    return page.json()["content"] if page.ok else None


def test_a_student_reaches_neither_neighbours_nor_solutions_nor_marks(school):
    server, people = school
    mallory, ada = people[MALLORY], people[ADA]
    inbound = server.exchange / COURSE / "inbound"
    assert any(inbound.iterdir()) and (server.course / "gradebook.db").exists()
    (victim,) = (path for path in inbound.iterdir() if path.name.startswith(ADA))
    ours = next(iter(ada.get("api/kernels").json()), None)
    assert ours is not None or ada.kernel()
    closed = out_of_reach(server.settings, ADA)
    processes = f"len({processes_of(server.homes / ADA)}) > 0"
    allowed = {"own home": "len(os.listdir(os.path.expanduser('~'))) > 0", "processes": processes}
    answers = ask(mallory, {**allowed, **closed})
    assert {name: answers.pop(name) for name in allowed} == dict.fromkeys(allowed, "True")
    assert answers == dict.fromkeys(closed, "PermissionError")
    assert victim.exists()


def test_a_student_reaches_no_server_but_her_own(school):
    _server, people = school
    mallory = people[MALLORY]
    for path in (f"/user/{ADA}/api/contents", f"/user/{OWNER}/formgrader/manage_assignments", "/hub/admin"):
        assert mallory.fetch(path).status_code in (403, 404), path
    for owner in (ADA, OWNER):
        assert mallory.fetch(f"/hub/spawn/{owner}").status_code in (403, 404), owner
        assert mallory.at(owner).post("api/kernels", json={"name": "python3"}).status_code in (403, 404), owner
    assert mallory.get("formgrader/manage_assignments").status_code == 404


def test_nobody_hands_in_for_another(school):
    server, people = school
    before = (server.course / "grades" / "grades.csv").read_text()
    name = f"{BEN}+{LAB}+2099-01-01 00:00:00.000000 UTC+forged"
    target = f"{server.exchange / COURSE / 'inbound'}/{name}"
    copied = f"shutil.copytree(os.path.expanduser('~/{LAB}'), {target!r}) and os.chmod({target!r}, 0o755)"
    assert ask(people[MALLORY], {"copy": copied})["copy"] == "None"
    said = wait_for(lambda: "belongs to" in (server.course / "grades" / "status.html").read_text(), "passed over", 60)
    assert said and (server.course / "grades" / "grades.csv").read_text() == before


def test_the_kernel_and_the_hub_bound_what_a_student_uses(school):
    server, people = school
    answers = ask(
        people[MALLORY],
        {
            "processes": "__import__('resource').getrlimit(__import__('resource').RLIMIT_NPROC)",
            "mask": "oct(os.umask(0o077))",
        },
    )
    assert answers == {"processes": "(512, 512)", "mask": "'0o77'"}
    code = "keep = b'x' * (2 * 2**30)\nprint(len(keep))\nimport time\ntime.sleep(600)"
    with pytest.raises(WebSocketException):  # nothing more is heard of it
        people[MALLORY].run(code, people[MALLORY].kernel(), 10)
    wait_for(lambda: f"{MALLORY} held more than {MEMORY_MB} MiB" in server.log.read_text(), "the end of the kernel")
    assert people[ADA].get("api/status").ok
