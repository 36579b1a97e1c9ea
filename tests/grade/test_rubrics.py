"""Rubrics of answers in words: every lab has them, a wrong one is refused before release, and students get no line."""

from __future__ import annotations

from pathlib import Path

import pytest
from tiny_course import LAB, with_secrets

from autograder.course.labs import answers_in_words, read_released
from autograder.course.settings import CourseError, load_course
from autograder.declare.rubrics import rubrics
from autograder.release.leaks import find_leaks
from autograder.release.publish import PublishRefused, publish, student_files
from autograder.release.release import ReleaseRefused, release

COURSE = load_course(Path(__file__).parents[2])
ITEM = "Says that a square grows with the second power of the number"
RUBRIC = f"""
[why]
items = ["{ITEM}", "Gives an example of its own"]
points = [3, 1]
half = "It is a square because of what I have learned in the lecture of today."
half_meets = [2]
"""


@pytest.fixture
def course(tmp_path, monkeypatch):
    course = with_secrets(tmp_path / "course", monkeypatch)
    write(course, RUBRIC)
    return course


def write(course, text: str) -> None:
    (course.root / "exercises" / "tiny" / "rubrics.toml").write_text(text, encoding="utf-8")


@pytest.mark.parametrize("lab", [lab.name for lab in COURSE.labs])
def test_every_answer_in_words_of_a_lab_has_three_items_and_half_an_answer(lab):
    released = read_released(COURSE, lab)
    found = rubrics(COURSE, lab, released)
    assert found.keys() == answers_in_words(released).keys()
    for rubric in found.values():
        assert len(rubric.items) == len({item.says for item in rubric.items}) == 3
        assert rubric.half and 0 < len(rubric.half_meets) < 3


def test_points_are_those_of_the_file_or_equal_shares(course):
    (rubric,) = rubrics(course, LAB, read_released(course, LAB)).values()
    assert [item.points for item in rubric.items] == [3, 1]
    assert (rubric.points({1}), rubric.points({1, 2}), rubric.points(())) == (3, 4, 0)
    write(course, RUBRIC.replace("points = [3, 1]", "").replace('"Gives', '"", "Gives'))
    (rubric,) = rubrics(course, LAB, read_released(course, LAB)).values()
    assert rubric.points({1, 2, 3}) == 4 and rubric.points({1}) == pytest.approx(4 / 3)
    assert rubric.describe({1}, "Well.").splitlines()[0] == f"✓ {ITEM} (1.33 of 1.33)"


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("[why]", "[wy]", "the lab has no such answer in words; did you mean why?"),
        ("[why]", "[double]", "the lab has no such answer in words; these are why"),
        ("[3, 1]", "[3, 2]", "have to add up to the cell's points, which are 4"),
        ("[3, 1]", "[5, -1]", "have to add up to the cell's points"),
        ("[3, 1]", "[4]", "there are 1 for 2 items"),
        ("half_meets = [2]", "half_meets = [3]", "there is no item 3; the items are 1 to 2"),
        ("half_meets", "half_met", "has the keys items, points, half, half_meets"),
        ("half =", "half", "this is not TOML"),
        ("items =", "item =", "why.items"),
    ],
)
def test_a_rubric_that_does_not_fit_is_refused_before_release(course, old, new, told):
    write(course, RUBRIC.replace(old, new))
    with pytest.raises((ReleaseRefused, CourseError), match=r"rubrics\.toml") as refusal:
        release(course)
    assert told in str(refusal.value)


def test_students_get_no_line_of_a_rubric_or_of_the_instructors_answer(course, tmp_path):
    assert not [name for name in student_files(course) if "rubric" in name or name.startswith("exercises")]
    assert find_leaks(student_files(course), course) == []
    own = "Because a square has two factors that are the same number."
    solution = course.solution_notebook(LAB)
    solution.write_text(solution.read_text().replace("Because.", own))
    for line in (ITEM, f"> {ITEM}", "It is a square because of what I have learned in the lecture of today.", own):
        (leak,) = find_leaks({"labs/notes.md": f"Hello\n\n{line}\n".encode()}, course)
        assert "rubrics.toml" in leak or "solutions/" in leak
    (course.root / "data" / "README.md").write_text(ITEM)
    with pytest.raises(PublishRefused, match=r"rubrics.toml"):
        publish(course, tmp_path / "public")


def test_the_course_publishes_no_rubric():
    files = student_files(COURSE)
    assert not [name for name in files if "rubric" in name]
