"""Adds an entry to a dictionary that a Python file spells out, and a name to one of its imports."""

from __future__ import annotations

import ast
import re


def with_entry(source: str, dictionary: str, entry: str) -> str:
    """The source with `entry`, whole lines, as the last one of the dictionary assigned at the top of the file.

    Raises:
        ValueError: no such dictionary is spelt out.
    """
    found = assigned(source, dictionary)
    if not isinstance(found, ast.Dict):
        raise ValueError(f"{dictionary} = {{…}} is not spelt out")
    assert found.end_lineno is not None and found.end_col_offset is not None  # as whatever `ast.parse` returns
    lines = source.splitlines(keepends=True)
    last = found.end_lineno - 1
    brace = len(lines[last].encode()[: found.end_col_offset - 1].decode())
    before, after = lines[last][:brace], lines[last][brace:]
    if before.strip():  # the whole dictionary, or its last entry, is in this line
        comma = "" if before.rstrip().endswith((",", "{")) else ","
        before = f"{before.rstrip()}{comma}\n"
    return "".join([*lines[:last], before, entry, after, *lines[last + 1 :]])


def assigned(source: str, name: str) -> ast.expr | None:
    """What is assigned to this name at the top of the file; None where nothing is."""
    for node in ast.parse(source).body:
        match node:
            case ast.Assign(targets=[ast.Name(id=target)], value=value) if target == name:
                return value
    return None


def with_import(source: str, module: str, name: str) -> str:
    """The source with `name` imported from `module`, from which it imports something in one line already."""
    found = re.search(rf"^from {re.escape(module)} import ([\w, ]+)$", source, re.MULTILINE)
    if found is None or name in (names := found[1].split(", ")):
        return source
    ordered = sorted([*names, name], key=lambda each: (not each.isupper(), not each[0].isupper(), each))
    return source[: found.start(1)] + ", ".join(ordered) + source[found.end(1) :]
