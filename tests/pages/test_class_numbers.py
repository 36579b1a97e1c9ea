"""Item analysis, mistakes and standings of the class report, on classes whose numbers can be checked by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import pearsonr, ttest_ind

from autograder.course.settings import Course, CourseError, CourseLab
from autograder.grade.marks import Mark, make_mark
from autograder.grade.results import ExerciseResult, GroupResult, LabResult
from autograder.pages.class_numbers import (
    _compare_means,
    analyse,
    compute_quartiles,
    count_hours,
    count_mistakes,
    count_outcomes,
    find_standings,
    read_last_year,
)

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


def course(*labs: CourseLab) -> Course:
    return Course(Path("."), "A course", "2026", "course", labs)


def result(student: str, lab: str = "a", first: float = 0, second: float = 0, **more) -> Mark:
    groups = (GroupResult("values", "right values", 1, bool(first), ""),)
    exercises = (
        ExerciseResult("first", first, 2, "graded", groups=groups, misconceptions=more.pop("made", ())),
        ExerciseResult("second", second, 4, "graded" if second else "missing"),
    )
    return make_mark(LabResult(student, lab, exercises))


def test_difficulty_and_groups_are_shares():
    first, second = analyse([result("ada", first=2, second=4), result("bob", first=1)], {})
    assert (first.difficulty, first.groups, first.not_done) == (0.75, (("right values", 1.0),), 0)
    assert (second.difficulty, second.students, second.not_done) == (0.5, 2, 1)
    assert first.discrimination is None  # two students say nothing


def test_discrimination_leaves_the_exercise_itself_out():
    """With the exercise inside the total it would correlate with itself; here both exercises are independent."""
    class_ = [result(f"s{n}", first=2 * (n % 2), second=4 * (n // 2 % 2)) for n in range(16)]
    assert [item.discrimination for item in analyse(class_, {})] == pytest.approx([0, 0], abs=1e-12)
    together = [result(f"s{n}", first=2 * (n % 2), second=4 * (n % 2)) for n in range(16)]
    assert [item.discrimination for item in analyse(together, {})] == pytest.approx([1, 1])
    assert analyse([result(f"s{n}", first=2) for n in range(16)], {})[0].discrimination is None  # nothing varies


def test_difficulty_and_discrimination_are_those_of_the_table_of_points():
    points = np.random.default_rng(0).integers(0, 9, size=(30, 3)) / 4  # student by exercise, of 2 points each
    class_ = [
        make_mark(
            LabResult(f"s{n}", "a", tuple(ExerciseResult(f"e{k}", score, 2, "graded") for k, score in enumerate(row)))
        )
        for n, row in enumerate(points.tolist())
    ]
    for k, item in enumerate(analyse(class_, {})):
        assert item.difficulty == pytest.approx(points[:, k].mean() / 2)
        rest = np.delete(points, k, axis=1).sum(axis=1)
        assert item.discrimination == pytest.approx(pearsonr(points[:, k], rest).statistic)


def test_who_answered_nothing_at_all_says_nothing_about_an_exercise():
    """Zeros of what cannot be read, and of an untouched lab, would make every exercise look alike."""
    class_ = [result(f"s{n}", first=2 * (n % 2), second=4 * (n // 2 % 2)) for n in range(16)]
    unread = LabResult(
        "zoe", "a", (ExerciseResult("first", 0, 2, "missing"),), state="unreadable", reason="It is empty."
    )
    untouched = [
        LabResult(f"t{n}", "a", tuple(ExerciseResult(name, 0, 2, "missing") for name in ("first", "second")))
        for n in range(4)
    ]
    assert analyse([*class_, make_mark(unread), *map(make_mark, untouched)], {}) == analyse(class_, {})


def test_what_became_of_an_exercise_is_counted():
    class_ = [
        *(result("ada", first=2, second=4), result("bob", first=1), result("cyd", first=0, second=3)),
        *(result("dan", first=2), result("eve", first=2, second=4)),
    ]
    assert count_outcomes(class_) == {"first": (3, 1, 1, 0), "second": (2, 1, 0, 2)}


@given(st.lists(st.floats(0, 100), min_size=1, max_size=30))
def test_quartiles_are_the_percentiles(percents):
    assert compute_quartiles(percents) == pytest.approx(tuple(np.percentile(percents, [25, 50, 75])))


def test_hours_count_from_the_due_date():
    early = make_mark(LabResult("ada", "a", (), timestamp=NOW - timedelta(hours=30)))
    assert count_hours(NOW, early) == -30 and count_hours(NOW - timedelta(days=2), early) == 18
    assert count_hours(None, early) is count_hours(NOW, make_mark(LabResult("bob", "a", ()))) is None


def test_the_most_common_mistake_comes_first_with_all_who_made_it():
    class_ = [result("cyd", made=("x",)), result("ada", made=("y", "x")), result("bob", made=("x",))]
    common, rare = count_mistakes(class_, {("first", "x"): "A sentence."})
    assert (common.sentence, common.students) == ("A sentence.", ("ada", "bob", "cyd"))
    assert (rare.sentence, rare.students) == ("y", ("ada",))
    assert count_mistakes([], {}) == []


def test_who_may_need_help_is_said_by_the_rule():
    labs = course(CourseLab("a", "A"), CourseLab("b", "B"), CourseLab("c", "C", due=NOW - timedelta(days=3)))
    results = [
        *(result("fine", lab, 2, 4) for lab in "abc"),
        *(result("falls", lab, *points) for lab, points in (("a", (2, 4)), ("b", (2, 4)), ("c", (0, 4)))),
        result("low", "c", 0, 2),
        result("gone", "a", 2, 4),
    ]
    told = {standing.student: standing.concerns for standing in find_standings(labs, results, NOW)}
    assert told == {
        "falls": ("66.67 % in c, after 100 % (median)",),
        "fine": (),
        "gone": ("nothing handed in for c",),
        "low": ("33.33 % in c",),
    }
    assert find_standings(labs, results, NOW + timedelta(days=30))[2].concerns == ()  # it was due long ago


def test_who_is_enrolled_and_has_handed_in_nothing_is_among_them():
    labs = course(CourseLab("a", "A", due=NOW - timedelta(days=3)))
    found = find_standings(labs, [result("ada", "a", 2, 4)], NOW, enrolled=["ada", "bob"])
    assert [(standing.student, dict(standing.percents), standing.concerns) for standing in found] == [
        ("ada", {"a": 100}, ()),
        ("bob", {}, ("nothing handed in for a",)),
    ]


@given(
    st.lists(st.sampled_from([0, 0.25, 0.5, 1]), min_size=3, max_size=40),
    st.lists(st.sampled_from([0, 0.25, 0.5, 1]), min_size=3, max_size=40),
)
def test_the_interval_is_welchs(now, before):
    if np.ptp(now) == np.ptp(before) == 0:
        difference = now[0] - before[0]
        assert _compare_means(np.array(now), np.array(before)) == (difference, difference)
        return
    expected = ttest_ind(now, before, equal_var=False).confidence_interval(0.95)
    assert _compare_means(np.array(now), np.array(before)) == pytest.approx((expected.low, expected.high))


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(CourseError, match=r"name the results.csv of last year"):
        read_last_year(tmp_path / "none.csv")
    assert read_last_year(None) == {}
