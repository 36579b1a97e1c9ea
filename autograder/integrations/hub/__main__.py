"""Accounts of the class server, for everybody in a list: ``python -P -m autograder.integrations.hub FILE``."""

from __future__ import annotations

import csv
import os
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from autograder.course.settings import CourseError
from autograder.integrations.hub.accounts import add_people, known_accounts, read_people, set_passwords
from autograder.integrations.hub.settings import hub_settings

out = Console()


def roster(
    people: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help='A CSV file with the columns "id" and, if you like, "role".')
    ] = None,
    reset: Annotated[
        list[str] | None, typer.Option("--reset", metavar="ID", help="Give this person a new password; repeatable.")
    ] = None,
    passwords: Annotated[
        Path, typer.Option("--passwords", metavar="FILE", help="Where the new passwords are written.")
    ] = Path("passwords.csv"),
) -> None:
    """Give everybody in a list an account on the class server.

    Each person gets a Unix account, a home that nobody else can open, and a password, which is written into FILE for
    you to hand on; people change it on the page /hub/change-password. The role is "student", or "instructor" for
    those who may open Formgrader and the course's folder. Type it again with a longer list: who has an account keeps
    it, with the password. It runs as root on the class server:

      docker compose -f compose.hub.yaml exec hub python -P -m autograder.integrations.hub /course/students.csv

      docker compose -f compose.hub.yaml exec hub python -P -m autograder.integrations.hub --reset ada

    Nobody gets an account when one id is odd, is there twice, or is an account of the system.
    """
    settings = hub_settings()
    if people is None and not reset:
        raise CourseError("name a roster, such as students.csv, or somebody with --reset")
    if os.geteuid() != 0 or not settings.state.is_dir():
        raise CourseError("accounts are made on the class server, by root: docs/teaching/class-server.md")
    if passwords.exists():
        raise CourseError(f"{passwords} is there already: hand its passwords on and remove it, or name another file")
    listed = read_people(people) if people else []
    unknown = [name for name in reset or () if name not in known_accounts(settings)]
    if unknown:
        raise CourseError(f"{', '.join(unknown)}: nobody here has this id, so there is no password to replace")
    if not settings.database.exists():
        raise CourseError("the class server has not started yet: start it, then type this again")
    new = add_people(settings, listed)
    given = set_passwords(settings, [person.id for person in listed], reset or ())
    if given:
        with os.fdopen(os.open(passwords, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(("id", "password"))
            writer.writerows(given.items())
    kept = len(listed) - len(new)
    out.print(f"{len(new)} new accounts, {kept} there already, {len(given)} new passwords.", highlight=False)
    if given:
        out.print(f"The passwords are in {passwords}: hand them on, then remove the file.", highlight=False)


def main() -> None:
    """Run the command; an error that a person can correct is a sentence."""
    try:
        typer.run(roster)
    except (CourseError, OSError) as error:
        print(f"roster: {error}", file=sys.stderr)
        raise SystemExit(2) from None


if __name__ == "__main__":
    main()
