"""course.toml: what is wrong in it is explained, all of it at once; the course is found from anywhere inside."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from autograder.course.settings import CourseError, CourseLab, CourseLimits, load_course

COURSE = '[course]\ntitle = "t"\nid = "c"\n'
HEAD = '[course]\ntitle = "t"\nid = "x"\n[distribution]\nversion = "1.0"\n'
LABS = '[[labs]]\nname = "a"\n'


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ("[course", "not TOML"),
        ("", r"course\.title: needs a text"),
        ('[course]\ntitle = "t"\nid = "two words"', r"course\.id: should be"),
        (COURSE + 'packages = ["a b"]', r"course\.packages: needs requirements as pip takes them"),
        (COURSE + 'packages = ["a; sys_platform == 1"]', r"course\.packages: needs requirements"),
        (COURSE + 'packages = ["a @ file:a.whl"]', r"course\.packages: needs requirements"),
        (HEAD, "labs: there are none"),
        (HEAD + LABS + "typo = 1", r"labs\.typo: is not a known key"),
        (HEAD + LABS + "due = 2026-01-01", r"labs\.due: needs"),
        (HEAD + LABS + "due = 27.11.2026  # Friday", r"line 8: due needs .* as in 2026-.*, and is 27\.11\.2026$"),
        (HEAD + LABS + "due = 27 Nov 23:59", r"line 8: due needs a date, .*, and is 27 Nov 23:59$"),
        (HEAD + LABS + "weight = -1", r"labs\.weight: needs"),
        (HEAD + LABS + 'preload = ["os; x"]', r"labs\.preload: needs names of modules"),
        (HEAD + LABS + LABS, r'labs\.name: "a" appears twice'),
        (HEAD + '[[labs]]\nname = "../a"', r"labs\.name: should be"),
        (
            HEAD + LABS + "[grading]\nmemory_mb = 600",
            r"grading\.memory_mb: .* 3072 \(TensorFlow does not run with less",
        ),
        (HEAD + 'repository = "git@host"\n' + LABS, r"distribution\.repository: should be an https address"),
    ],
)
def test_a_wrong_course_file_is_explained(tmp_path, toml, message):
    """The message names the file and the key."""
    (tmp_path / "course.toml").write_text(toml)
    with pytest.raises(CourseError, match=f"course.toml.*{message}"):
        load_course(tmp_path)


def test_the_course_is_found_from_inside_and_by_variable(tmp_path, monkeypatch):
    (tmp_path / "course.toml").write_text(HEAD + 'repository = "https://github.com/o/r"\n' + LABS)
    inside = tmp_path / "deep" / "down"
    inside.mkdir(parents=True)
    assert load_course(inside).root == tmp_path
    monkeypatch.setenv("COURSE_ROOT", str(tmp_path))
    course = load_course()
    assert course.pip_spec == '"transformers-coursekit @ git+https://github.com/o/r@v1.0"'
    assert course.db_url == f"sqlite:///{tmp_path}/gradebook.db"
    monkeypatch.setenv("COURSE_ROOT", str(inside))
    with pytest.raises(CourseError, match="correct or unset COURSE_ROOT"):
        load_course()
    with pytest.raises(CourseError, match="the labs are a"):
        course.lab("b")


def test_everything_that_is_wrong_is_said_at_once(tmp_path):
    (tmp_path / "course.toml").write_text(
        HEAD.replace('"t"', "3") + LABS + "weight = true\n[grading]\ncpu_second = 5\n"
    )
    with pytest.raises(CourseError) as refused:
        load_course(tmp_path)
    assert [line.removeprefix(f"{tmp_path / 'course.toml'}: ") for line in str(refused.value).splitlines()] == [
        "course.title: needs a text in quotes, and is 3",
        "grading.cpu_second: is not a known key; the keys are attempts_per_hour, counts, cpu_seconds, database, "
        "exchange, grace_minutes, hidden_cases, late_percent_per_day, memory_mb, time_zone, wall_seconds",
        "labs.weight: needs a number of at least 0, and is True",
    ]


def test_what_course_toml_leaves_out_has_a_default(tmp_path):
    (tmp_path / "course.toml").write_text(HEAD + LABS + "[grading]\nmemory_mb = 4000.5\n")
    course = load_course(tmp_path)
    assert course.limits == CourseLimits(cpu_seconds=20.0, wall_seconds=60.0, memory_mb=4000)
    assert course.labs == (CourseLab(name="a", title="a", weight=1.0, due=None),)
    assert (course.branch, course.repository, course.exchange) == ("main", "", "")


def test_days_of_an_extension_are_those_of_the_clock_in_the_zone_of_the_course(tmp_path):
    """Over the end of summer time seven days have an hour more, and the date ends at the same time of day."""
    lab = LABS + "due = 2026-10-23T23:59:00+02:00\n"
    days = '[[extensions]]\nstudent = "ben"\ndays = 7\n'
    file = tmp_path / "course.toml"
    file.write_text(HEAD + lab + days)
    plain = load_course(tmp_path)
    name = plain.labs[-1].name
    assert plain.lateness.extension("ben", name) == datetime.fromisoformat("2026-10-30T23:59:00+02:00")
    assert plain.zone_of(name).utcoffset(datetime(2026, 12, 1)) == timedelta(hours=2)
    file.write_text(HEAD + lab + '[grading]\ntime_zone = "Europe/Berlin"\n' + days)
    zoned = load_course(tmp_path)
    assert zoned.lateness.extension("ben", name) == datetime.fromisoformat("2026-10-30T23:59:00+01:00")
    assert zoned.zone_of(name).utcoffset(datetime(2026, 12, 1)) == timedelta(hours=1)
    file.write_text(HEAD + lab + '[grading]\ntime_zone = "Berlin"\n')
    with pytest.raises(CourseError, match="the name of a time zone, as in \"Europe/Berlin\", and is 'Berlin'"):
        load_course(tmp_path)
