"""A class on the class server, in browsers: three students and an instructor, from signing in to the marks.

One of the students then tries to reach what is not hers. With CLASS_SERVER the class server is one that is up already.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import class_server
import pytest
from class_server import LAB, PREFIX, ClassServer, RunningServer, out_of_reach
from selenium.webdriver import ActionChains
from selenium.webdriver.common.by import By
from workplace import NotebookWindow, Window

EXERCISE = "centre"
RIGHT = "def centre(x):\n    return x - x.mean(axis=0)"
OVER_ROWS = RIGHT.replace("axis=0", "axis=1")
ZEROS = "def centre(x):\n    return 0 * x"  # right for a single row
# What each student writes, what the check in the notebook says of it, and the points on the feedback page.
ANSWERS = {
    "ada": (RIGHT, "2 of 2 checks pass", "2 of 2 points (100 %)"),
    "ben": (OVER_ROWS, "0 of 2 checks pass", "0 of 2 points (0 %)"),
    "cleo": (ZEROS, "1 of 2 checks pass", "1 of 2 points (50 %)"),
}
SPY, NEIGHBOUR = "cleo", "ada"
SUBMITTED, FETCHED, RELEASED = (f"#{name}_assignments_list" for name in ("submitted", "fetched", "released"))
pytestmark = [pytest.mark.long, pytest.mark.sandbox]


class Person(NotebookWindow):
    """A person of the class in front of a Chromium window of his or her own."""

    def __init__(self, folder: Path, server: ClassServer | RunningServer, name: str, password: str):
        folder.mkdir()
        Window.__init__(self, folder)
        self.server, self.name, self.password = server, name, password
        self.account = server.prefix + name

    def sign_in(self, page: str) -> None:
        """Open a page of the hub, which asks for name and password first."""
        self.driver.get(f"{self.server.address}/hub/login?next={page}")
        self.find("#username_input").send_keys(self.account)
        self.find("#password_input").send_keys(self.password)
        self.click("#login_submit")

    def shows_lab(self) -> None:
        """Wait until the lab's notebook and its kernel are there: a cell run earlier asks which kernel to take."""
        self.shows(self.server.course / "labs" / LAB / f"{LAB}.ipynb")
        self.find("#jp-main-statusbar", "Python 3 (ipykernel) | Idle")

    def shows_list(self, which: str, text: str) -> None:
        """Wait until the list of assignments says it, asking it again as a person does."""
        self.click("#refresh_assignments_list")
        self.find(which, text)


@pytest.fixture(scope="module")
def school() -> Iterator[tuple[ClassServer | RunningServer, dict[str, str]]]:
    if up := class_server.running():
        yield up
        return
    if why := class_server.missing():
        pytest.skip(why)
    try:
        server = ClassServer()
    except ConnectionError as error:
        pytest.skip(str(error))
    try:
        server.start()
        roles = {**dict.fromkeys(ANSWERS, "student"), "grace": "instructor"}
        passwords = server.add((PREFIX + name, role) for name, role in roles.items())
        yield server, {name.removeprefix(PREFIX): password for name, password in passwords.items()}
    finally:
        server.stop()


@pytest.fixture
def people(school, tmp_path) -> Iterator[list[Person]]:
    """The students and, last, the instructor."""
    server, passwords = school
    windows: list[Person] = []
    try:
        for name in (*ANSWERS, "grace"):
            windows.append(Person(tmp_path / name, server, name, passwords[name]))
        yield windows
    finally:
        for window in windows:
            window.close()


def test_a_lab_from_handing_out_to_the_marks(people):
    *students, instructor = people
    instructor.sign_in("/hub/home")
    hand_out(instructor)
    with ThreadPoolExecutor(len(students)) as pool:
        list(pool.map(work, students))
        list(pool.map(read_feedback, students))
    look_at_marks(instructor)
    spy(next(student for student in students if student.name == SPY))


def hand_out(instructor: Person) -> None:
    """Formgrader, by its button on the hub's page; it releases the lab."""
    instructor.click("#formgrader")
    instructor.find("#main-table", LAB)
    instructor.shot("formgrader")
    instructor.click(".release a")
    instructor.find(".modal.in", "Successfully released")
    instructor.click(".modal.in button", "OK")


def work(student: Person) -> None:
    """Sign in, fetch the lab, answer, check, validate and submit."""
    text, said, _points = ANSWERS[student.name]
    student.sign_in("/hub/")
    student.menu("Nbgrader", "Assignment List")
    student.shows_list(RELEASED, LAB)
    student.click(f"{RELEASED} button", "Fetch")
    student.click_for(f"{FETCHED} .assignment-notebooks-link", LAB, f"{FETCHED} .nested_list_item a")
    student.shot("fetched")
    student.click(f"{FETCHED} .nested_list_item a", LAB)
    student.shows_lab()
    for cell in ("setup", "imports"):
        student.run(cell)
    student.write(f"{EXERCISE}-code", text)
    student.run(f"{EXERCISE}-code")
    assert said in student.check(EXERCISE).text
    student.shot("checked")
    student.click(".jp-NotebookPanel-toolbar .jp-ToolbarButton", "Validate")
    verdict = student.find(".jp-Dialog-content", "Validation Results").text
    assert ("Success! Your notebook passes all the tests." in verdict) == (text == RIGHT), verdict
    student.shot("validated")
    student.click(".jp-Dialog-button")
    student.menu("Nbgrader", "Assignment List")
    student.click(f"{FETCHED} button", "Submit")
    student.find(f"{SUBMITTED} .item_name", LAB)
    student.shot("submitted")


def read_feedback(student: Person) -> None:
    """Ask for the feedback until it has come, open it, and read the points."""

    def fetched() -> bool:
        student.click(f"{SUBMITTED} button", "Fetch Feedback")
        student.find(f"{SUBMITTED} button:not([disabled])", "Fetch Feedback")
        return any("view feedback" in row.text for row in student.all(SUBMITTED))

    student.wait(fetched, "the feedback is there")
    student.click(f"{SUBMITTED} a", "view feedback")
    _answer, _said, points = ANSWERS[student.name]

    def opened() -> bool:
        page = student.find(".jp-DirListing-item", f"{LAB}.html")
        ActionChains(student.driver).double_click(page).perform()
        return bool(student.all("iframe"))

    student.wait(opened, "the feedback page is open")
    student.driver.switch_to.frame(student.find("iframe"))
    student.find(".total", points)
    student.click("section > details > summary", EXERCISE)
    student.find(f"#{EXERCISE}", "Your code")
    student.driver.switch_to.default_content()
    student.shot("feedback")


def look_at_marks(instructor: Person) -> None:
    """The gradebook in Formgrader has each student's points."""
    instructor.click("a", "Manage Students")
    for name, (_answer, _said, points) in ANSWERS.items():
        earned, most = points.split()[0], points.split()[2]
        instructor.find("#main-table tr", f"{instructor.server.prefix}{name} None {earned} / {most}")
    instructor.shot("marks")


def spy(student: Person) -> None:
    """In a cell of her notebook and in her browser, a student tries to reach what is not hers."""
    server = student.server
    tries = out_of_reach(server.settings, server.prefix + NEIGHBOUR)
    code = f"""import os, shutil
for what, line in {tries!r}.items():
    try:
        print(what, "is open:", eval(line))
    except OSError as error:
        print(what, "-", type(error).__name__)
"""
    student.driver.get(f"{server.address}/user/{student.account}/lab/tree/{LAB}/{LAB}.ipynb?reset")
    student.shows_lab()
    student.write(f"{EXERCISE}-code", code)
    said = student.run(f"{EXERCISE}-code").find_element(By.CSS_SELECTOR, ".jp-OutputArea-output").text
    student.shot("spy")
    assert said.splitlines() == [f"{what} - PermissionError" for what in tries]
    for page in (f"{server.prefix + NEIGHBOUR}/lab", f"{server.settings.account}/formgrader/manage_assignments"):
        student.driver.get(f"{server.address}/user/{page}")
        student.find("h1", "403")
