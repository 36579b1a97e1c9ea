"""The class server's roster refuses what cannot be an account with one sentence, before it makes anything."""

from __future__ import annotations

import csv
import pwd

import pytest

from autograder.course.settings import CourseError
from autograder.integrations.hub import __main__ as command
from autograder.integrations.hub import accounts
from autograder.integrations.hub.accounts import (
    ROLES,
    Person,
    add_people,
    known_accounts,
    read_people,
    set_passwords,
)
from autograder.integrations.hub.settings import hub_settings


def table(tmp_path, text: str, encoding: str = "utf-8"):
    path = tmp_path / "students.csv"
    path.write_bytes(text.encode(encoding))
    return path


def test_a_roster_is_read_by_its_headings(tmp_path):
    text = "Name,ID,Role\nAda Lovelace, ada ,\nGrace Hopper,grace,Instructor\n"
    assert read_people(table(tmp_path, text, "utf-8-sig")) == [Person("ada", ROLES[0]), Person("grace", ROLES[1])]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_a_roster_is_read_as_spreadsheets_write_it(tmp_path, delimiter, encoding):
    text = f"ID{delimiter}role\nada{delimiter}\ngrace{delimiter}instructor\n"
    assert read_people(table(tmp_path, text, encoding)) == [Person("ada", ROLES[0]), Person("grace", ROLES[1])]


@pytest.mark.parametrize(
    "text, said",
    [
        ("id\nada\nben\nada\n", "ada more than once"),
        ("id\nAda\n", "'Ada' cannot be an account"),
        ("id\n../root\n", "cannot be an account"),
        ("id\nada@example.org\n", "cannot be an account"),
        ("id\n12345\n", "a letter first"),
        ("id\n-rf\n", "cannot be an account"),
        ("id\n" + "a" * 33 + "\n", "at most 32"),
        ("id\n\x1b[31mada\n", "cannot be an account"),
        ("id,role\n\n,student\n", "line 3: ''"),
        ("id\n,\n", "names nobody"),
        ("id\nada,student\n", "line 2: has more cells"),
        ("id,role\nada,boss\n", "the role 'boss'"),
        ("name\nAda\n", 'no column "id"'),
        ("id\n", "no line of headings with people below it"),
        ("", "no line of headings with people below it"),
    ],
)
def test_an_odd_roster_is_refused_with_a_sentence(tmp_path, text, said):
    with pytest.raises(CourseError) as refused:
        read_people(table(tmp_path, text))
    assert said in str(refused.value) and "\x1b" not in str(refused.value)


def test_another_encoding_is_named(tmp_path):
    with pytest.raises(CourseError, match="UTF-8"):
        read_people(table(tmp_path, "id,name\nada,Zoë\n", "latin-1"))


def test_an_account_of_the_system_is_nobodys_to_take(tmp_path):
    settings = hub_settings({"HUB_STATE": str(tmp_path), "HUB_HOMES": str(tmp_path / "homes")})
    taken = pwd.getpwuid(0).pw_name
    with pytest.raises(CourseError, match=f"{taken} is an account of this machine already"):
        add_people(settings, [Person("nobody-has-this-name", "student"), Person(taken, "student")])
    assert known_accounts(settings) == {} and not settings.homes.exists()


@pytest.fixture
def machine(monkeypatch):
    """The accounts of a machine of the test's own, by id; one that is called "full" cannot be made."""
    there: dict[str, int] = {}

    def make(settings, account):
        if account.id == "full":
            raise CourseError("no account full could be made")
        there[account.id] = account.uid

    monkeypatch.setattr(accounts, "_uid", there.get)
    monkeypatch.setattr(accounts, "_make", make)
    return there


def test_a_run_that_failed_is_taken_up_by_the_next_one(tmp_path, machine, monkeypatch):
    settings = hub_settings({"HUB_STATE": str(tmp_path)})
    settings.database.touch()
    people = [Person(name, "student") for name in ("ada", "ben", "full", "dan")]
    with pytest.raises(CourseError, match="could be made"):
        add_people(settings, people)
    assert list(machine) == ["ada", "ben"]
    monkeypatch.setattr(accounts, "_make", lambda settings, account: machine.update({account.id: account.uid}))
    assert add_people(settings, people) == ["full", "dan"]
    assert machine == {name: account.uid for name, account in known_accounts(settings).items()}
    names = [person.id for person in people]
    assert list(set_passwords(settings, names)) == names
    assert list(set_passwords(settings, names, ["ben"])) == ["ben"]  # who has one keeps it


def test_recorded_accounts_keep_their_numbers(tmp_path, machine):
    settings = hub_settings({"HUB_STATE": str(tmp_path)})
    with settings.accounts.open("w", newline="") as file:
        csv.writer(file).writerows([("id", "uid", "role"), ("ada", 20007, "student")])
    machine["ada"] = 20007
    assert add_people(settings, [Person("ada", "instructor")]) == []
    assert known_accounts(settings)["ada"].uid == 20007 and known_accounts(settings)["ada"].role == "instructor"


def test_elsewhere_than_on_a_class_server_it_says_where_it_belongs(tmp_path, monkeypatch):
    monkeypatch.setenv("HUB_STATE", str(tmp_path / "none"))
    with pytest.raises(CourseError, match="on the class server"):
        command.roster(table(tmp_path, "id\nada\n"))
    monkeypatch.setattr("sys.argv", ["roster", str(table(tmp_path, "id\nada\n"))])
    with pytest.raises(SystemExit) as stopped:
        command.main()
    assert stopped.value.code == 2
