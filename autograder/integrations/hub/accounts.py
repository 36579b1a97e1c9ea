"""The accounts of a class server: a Unix account for each person of a roster, and a password to sign in."""

from __future__ import annotations

import csv
import io
import os
import pwd
import re
import secrets
import subprocess
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from autograder.course.files import write_atomically
from autograder.course.printable import printable
from autograder.course.roster import read_roster
from autograder.course.settings import CourseError
from autograder.integrations.hub.settings import HubSettings

ROLES = ("student", "instructor")
FIRST_UID = 20_000  # above the accounts of people and services that a system makes itself
COLUMNS = ("id", "uid", "role")
_ID = re.compile(r"[a-z][a-z0-9_-]{0,31}")
_ID_COLUMNS = ("id", "student", "student_id", "username", "login")


@dataclass(frozen=True)
class Person:
    """Somebody of the roster: the id, which is also the Unix account, and "student" or "instructor"."""

    id: str
    role: str


@dataclass(frozen=True)
class Account:
    """A person's Unix account."""

    id: str
    uid: int
    role: str


def read_people(path: Path) -> list[Person]:
    """Read a roster: a CSV file with a column `id` and, where there are instructors, a column `role`.

    Raises:
        CourseError: an id is odd or there twice, a role is unknown, or the file is no such table. It names the row.
    """
    roster = read_roster(path)
    column, role_column = roster.column(*_ID_COLUMNS), roster.column("role")
    if column is None:
        raise CourseError(f'{path} has no column "id": its first line has to name the columns, such as "id,role"')
    people = []
    for line, row in zip(roster.lines, roster.rows, strict=True):
        name = row[column].strip()
        role = (row[role_column].strip().lower() if role_column else "") or "student"
        shown = f"{path}, line {line}: {printable(name)!r}"
        if not _ID.fullmatch(name):
            raise CourseError(
                f"{shown} cannot be an account: small letters a to z, digits, - and _, a letter first, at most 32"
            )
        if role not in ROLES:
            raise CourseError(f"{shown} has the role {printable(role)!r}: student or instructor")
        people.append(Person(name, role))
    if not people:
        raise CourseError(f"{path} names nobody: a line for each person belongs below the headings")
    twice = sorted(name for name, times in Counter(person.id for person in people).items() if times > 1)
    if twice:
        raise CourseError(f"{path} has {', '.join(twice)} more than once: every id is one person's, remove one")
    return people


def known_accounts(settings: HubSettings) -> dict[str, Account]:
    """The accounts that a roster has made, by id; empty before its first run."""
    if not settings.accounts.exists():
        return {}
    with settings.accounts.open(encoding="utf-8", newline="") as file:
        return {row["id"]: Account(row["id"], int(row["uid"]), row["role"]) for row in csv.DictReader(file)}


def add_people(settings: HubSettings, people: Collection[Person]) -> list[str]:
    """Make the Unix accounts that are missing, change roles that differ, and return the ids of the new accounts.

    Raises:
        CourseError: an id is an account of this machine that the roster did not make, and nothing is done; or an
            account cannot be made, and the next run goes on there.
    """
    known = known_accounts(settings)
    missing = [person.id for person in people if _uid(person.id) is None]
    for person in people:
        if person.id not in known and person.id not in missing:
            raise CourseError(f"{person.id} is an account of this machine already: give this person another id")
    uid = max([FIRST_UID - 1, *(account.uid for account in known.values())])
    accounts = dict(known)
    for person in people:
        if person.id in known:
            accounts[person.id] = Account(person.id, known[person.id].uid, person.role)
        else:
            uid = _free_uid(uid + 1)
            accounts[person.id] = Account(person.id, uid, person.role)
    _record(settings, accounts)  # first, so that an account that stops here has the same number in the next run
    for name in missing:
        _make(settings, accounts[name])
    return missing


def restore(settings: HubSettings) -> None:
    """Make the accounts again that a new container does not have, each with its old number."""
    for account in known_accounts(settings).values():
        if _uid(account.id) is None:
            _make(settings, account)


def set_passwords(settings: HubSettings, ids: Collection[str], renewed: Collection[str] = ()) -> dict[str, str]:
    """Give a password for signing in to those of `ids` who have none, and a new one to each of `renewed`; return them.

    Only their hashes are stored.

    Raises:
        CourseError: the hub has not made its database yet.
    """
    import bcrypt
    from nativeauthenticator.orm import UserInfo
    from sqlalchemy import create_engine
    from sqlalchemy.orm import Session

    if not settings.database.exists():
        raise CourseError("the class server has not started yet: start it, then type this again")
    passwords: dict[str, str] = {}
    engine = create_engine(f"sqlite:///{settings.database}")
    UserInfo.__table__.create(engine, checkfirst=True)  # not there where people sign in by other means
    with Session(engine) as session:
        for name in dict.fromkeys((*ids, *renewed)):
            entry = UserInfo.find(session, name)
            if entry is not None and name not in renewed:
                continue
            passwords[name] = secrets.token_urlsafe(9)
            digest = bcrypt.hashpw(passwords[name].encode(), bcrypt.gensalt())
            if entry is None:
                session.add(UserInfo(username=name, password=digest, is_authorized=True))
            else:
                entry.password, entry.is_authorized = digest, True
        session.commit()
    engine.dispose()
    return passwords


def _uid(name: str) -> int | None:
    try:
        return pwd.getpwnam(name).pw_uid
    except KeyError:
        return None


def _free_uid(uid: int) -> int:
    taken = {entry.pw_uid for entry in pwd.getpwall()}
    return next(number for number in range(uid, 2**31) if number not in taken)


def _make(settings: HubSettings, account: Account) -> None:
    home = settings.homes / account.id
    command = ["useradd", "--uid", str(account.uid), "--user-group", "--home-dir", str(home), "--shell", "/bin/bash"]
    done = subprocess.run([*command, "--no-create-home", account.id], capture_output=True, text=True)
    if done.returncode:
        raise CourseError(
            f"no account {account.id} could be made: {done.stderr.strip()}; put this right and type it again"
        )
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    entry = pwd.getpwnam(account.id)
    os.chown(home, entry.pw_uid, entry.pw_gid)
    home.chmod(0o700)


def _record(settings: HubSettings, accounts: dict[str, Account]) -> None:
    table = io.StringIO(newline="")
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows((account.id, account.uid, account.role) for account in accounts.values())
    write_atomically(settings.accounts, table.getvalue().encode())
