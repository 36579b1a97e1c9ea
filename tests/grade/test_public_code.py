"""Public implementations as answers: the table is well-formed; what it names is fetched, adapted, graded, told."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hostile.corpus import CORPUS
from lab_matrix import exercises, variants
from programs import program
from this_course import ROOT, exercises_of

from autograder.course.settings import load_course

PAGE = ROOT / "docs" / "teaching" / "tried-on-public-code.md"
LAB = "08_decoder_and_masking"


public_code = program("benchmarks/public_code.py")
SOURCES = public_code.read_table()

RIGHT = "'''Not counted.'''\ndef rate(step, width, warmup):\n    step = max(step, 1)\n"
RIGHT += "    return width**-0.5 * min(step**-0.5, step * warmup**-1.5)\n"
WRONG = "def rate(step, width, warmup):\n    if step == 0:\n        return 0.0\n"
WRONG += "    return width**-0.5 * min(step**-0.5, step * warmup**-1.5)\n"
AFTER = (
    "def transformer_schedule(step, d_model, warmup_steps=4000):\n    return schedule(step, d_model, warmup_steps)\n"
)


def git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=Somebody", "-c", "user.email=somebody@example.org")
    done = subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def mirror(tmp_path) -> Path:
    """A folder with one git repository of two files."""
    folder = tmp_path / "mirror" / "somebody" / "schedules"
    folder.mkdir(parents=True)
    (folder / "right.py").write_text(RIGHT, "utf-8")
    (folder / "wrong.py").write_text(WRONG, "utf-8")
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", "Two schedules")
    return tmp_path / "mirror"


def made_up(mirror: Path, name: str, text: str, first: int, expect: str) -> str:
    """An entry of a table, for a file of the made-up repository from line `first` to its end."""
    commit = git(mirror / "somebody" / "schedules", "rev-parse", "HEAD")
    last = len(text.splitlines())
    checksum = public_code.digest(public_code.cut(text, [(first, last)]))
    return f"""
[[source]]
name = "{name}"
exercise = "transformer_schedule"
lab = "{LAB}"
repository = "somebody/schedules"
commit = "{commit}"
path = "{name}.py"
lines = [[{first}, {last}]]
sha256 = "{checksum}"
licence = "MIT"
replace = [['\\brate\\b', 'schedule']]
after = '''
{AFTER}'''
expect = {expect}
told = "one of two"
"""


@pytest.fixture
def table(mirror, tmp_path) -> Path:
    path = tmp_path / "table.toml"
    entries = [
        made_up(mirror, "right", RIGHT, 2, '"full marks"'),
        made_up(mirror, "wrong", WRONG, 1, '["step_zero_gives_zero"]'),
    ]
    elsewhere = entries[0].replace('"right"', '"elsewhere"').replace("somebody/", "nobody/")
    path.write_text("".join([*entries, elsewhere]), "utf-8")
    return path


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_an_entry_names_its_source_its_licence_and_what_is_expected(source):
    assert re.fullmatch(r"[\w.-]+/[\w.-]+", source.repository) and not source.path.startswith("/")
    assert re.fullmatch("[0-9a-f]{40}", source.commit) and re.fullmatch("[0-9a-f]{64}", source.sha256)
    assert source.licence and source.lines and all(1 <= first <= last for first, last in source.lines)
    exercise = exercises_of(source.lab)[source.exercise]
    if isinstance(source.expect, str):
        assert source.expect in (public_code.FULL, public_code.REFUSED)
    else:
        assert source.expect and set(source.expect) <= set(exercise.named_mistakes)
    assert source.told or source.expect == public_code.FULL, "what is refused is explained"
    for pattern, _ in source.replace:
        re.compile(pattern)


def test_the_table_has_two_dozen_sources_of_many_repositories():
    assert len({source.name for source in SOURCES}) == len(SOURCES) >= 25
    assert len({source.repository for source in SOURCES}) >= 10


def test_another_text_is_refused(table):
    source = public_code.read_table(table)[0]
    assert "def schedule" in source.answer(RIGHT)
    with pytest.raises(public_code.Changed, match="checksum"):
        source.answer(RIGHT.replace("-1.5", "-0.5"))
    with pytest.raises(public_code.Changed, match="nothing in the source"):
        replace(source, replace=(("no_such_name", ""),)).answer(RIGHT)
    with pytest.raises(ValueError, match="holds a line of the source"):
        replace(source, before=RIGHT).answer(RIGHT)


def test_a_changed_source_ends_the_program_before_anything_is_graded(table, mirror, capsys):
    table.write_text(table.read_text("utf-8").replace('path = "right.py"', 'path = "wrong.py"'), "utf-8")
    assert public_code.main(["--table", str(table), "--mirror", str(mirror)], load_course(ROOT)) == 1
    assert "checksum" in capsys.readouterr().err


def test_an_entry_that_lacks_something_is_named(table):
    table.write_text(table.read_text("utf-8").replace('licence = "MIT"\n', "", 1), "utf-8")
    with pytest.raises(ValueError, match="right lacks licence"):
        public_code.read_table(table)


def test_lines_of_a_notebook_are_those_of_its_code_cells():
    cells = '[{"cell_type": "markdown", "source": ["# a"]}, {"cell_type": "code", "source": ["x = 1\\n", "y = 2"]}'
    text = public_code.code_of("a.ipynb", f'{{"cells": {cells}, {{"cell_type": "code", "source": "z = 3"}}]}}')
    assert public_code.cut(text, [(2, 3)]) == "y = 2\nz = 3"


def test_a_source_comes_over_an_address_or_is_said_to_be_unavailable(table, mirror, monkeypatch):
    source, _, elsewhere = public_code.read_table(table)
    monkeypatch.setattr(public_code, "RAW", f"{mirror.as_uri()}/{{repository}}/{{path}}")
    assert public_code.fetch(source, None) == RIGHT == public_code.fetch(source, mirror)
    for place in (None, mirror):
        with pytest.raises(public_code.Unavailable):
            public_code.fetch(elsewhere, place)
    with pytest.raises(public_code.Unavailable):
        public_code.fetch(replace(source, commit="0" * 40), mirror)


@pytest.mark.sandbox
@pytest.mark.slow
@pytest.mark.long
def test_what_is_fetched_is_graded_and_told(table, mirror, tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text(f"before\n\n{public_code.BEGIN}\nold\n{public_code.END}\n\nafter\n", "utf-8")
    words = ["--mirror", str(mirror), "--out", str(page)]
    assert public_code.main(["--table", str(table), *words], load_course(ROOT)) == 0
    said = capsys.readouterr().out
    assert re.search(r"ok right .* (\d+)/\1 +full marks", said) and re.search(r"ok wrong .* step_zero_gives_zero", said)
    assert "nobody/schedules" in said and "not fetched: 1" in said
    text = page.read_text("utf-8")
    assert text.startswith("before") and text.endswith("after\n") and "old" not in text
    assert re.search(r"\| MIT \| 08 `transformer_schedule` \| [^|]+ \| full marks: one of two \| yes \|", text)
    assert "`step_zero_gives_zero`: one of two | yes |" in text and "not fetched" in text
    table.write_text(table.read_text("utf-8").replace('["step_zero_gives_zero"]', '"full marks"'), "utf-8")
    assert public_code.main(["--table", str(table), *words], load_course(ROOT)) == 1
    assert "**no**" in page.read_text("utf-8")


def test_the_page_has_the_table_of_these_sources():
    text = PAGE.read_text("utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| [") and "blob/" in line]
    assert len(rows) == len(SOURCES) and not any("**no**" in row or "not fetched" in row for row in rows)
    for source, row in zip(SOURCES, rows, strict=True):
        assert source.address in row and source.licence in row and source.told.replace("|", "\\|") in row
        assert all(f"`{name}`" in row for name in (source.exercise, *_ids(source)))


def _ids(source) -> tuple[str, ...]:
    return () if isinstance(source.expect, str) else source.expect


def test_the_attacks_on_the_page_are_not_too_many():
    found = re.search(r"more than (\d+) hostile notebooks", PAGE.read_text("utf-8"))
    assert found and int(found[1]) < len(CORPUS)


def test_the_commands_of_the_figures_are_there_and_say_when_they_ran_last():
    rows = re.findall(r"^\| .*\? \| (.*) \| (.*) \| (.*) \|$", PAGE.read_text("utf-8"), re.MULTILINE)
    assert len(rows) == 7
    for figure, command, last in rows:
        found = re.search(r"`python (?:-m pytest (?:-m \w+ )?)?((?:tests|benchmarks)/\S+?)(?: -k variants)?`", command)
        assert command == "the same" or (found and (ROOT / found[1]).exists()), figure
        assert re.match(r"20\d\d-\d\d-\d\d$|not ", last), figure


def test_the_numbers_of_variants_on_the_page_are_not_too_large():
    given = [variants(lab, name) for lab, name in exercises()]
    wrong = [mistake for module in given for mistake, _ in module.WRONG]
    counts = (sum(len(module.CORRECT) for module in given), len(wrong), sum(map(bool, wrong)))
    words = r"more than ([\d,]+) right answers .* more than ([\d,]+) wrong .* more than ([\d,]+) of them must hear"
    found = re.search(words, PAGE.read_text("utf-8"), re.DOTALL)
    assert found and all(int(said.replace(",", "")) < count for said, count in zip(found.groups(), counts, strict=True))


def test_the_speed_on_the_page_is_the_speed_in_the_guide():
    """Both pages have it: when it is measured again, both change."""
    guide = (ROOT / "docs" / "teaching" / "marks-and-speed.md").read_text("utf-8")
    measured = guide[guide.index("## How fast") :]
    given = [row for row in PAGE.read_text("utf-8").splitlines() if "`python benchmarks/grading.py`" in row]
    assert len(given) == 2
    for row in given:
        day = row.split("|")[-2].strip()
        assert f"on {day}" in measured, "the day of the runs"
    compared = {
        "otter run": "as many as `otter run`",
        "nbgrader autograde": "as many submissions as `nbgrader autograde`",
    }
    for grader, words in {**compared, "a fork": "the time of a fork"}.items():
        figure = re.search(rf"([\d.]+(?: and [\d.]+)?) times {words}", " ".join(given))
        assert figure, grader
        row = next(line for line in measured.splitlines() if line.startswith("|") and grader in line)
        assert f"| {figure[1]} times as " in row, (grader, figure[1], row)
