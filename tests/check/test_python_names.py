"""Which names a function reads, and which exist in it."""

import ast

import pytest

from coursekit.lecture.python_names import bound_names, names_read, only_statement, parameter_names

SOURCE = """
async def outer(self, first, /, second=default, *rest, key: Kind = None, **options):
    import os.path, json as codec
    from sys import argv
    with open(first) as file, lock:
        total = sum(each for each in rest)
    for number, _ in options:
        total += number
    try:
        inner = lambda value: value + (late := 1)
    except ValueError as error:
        raise Missing from error
    def helper(part):
        return helper(part)
    class Local:
        pass
    return [os, codec, argv, outside]
"""


@pytest.fixture
def function():
    return ast.parse(SOURCE).body[0]


def test_parameters_come_in_their_order(function):
    assert parameter_names(function) == ["self", "first", "second", "rest", "key", "options"]


def test_everything_that_binds_a_name_binds_it(function):
    bound = bound_names(function)
    names = "first key file total each number _ inner value late error helper part Local os codec argv print"
    assert set(names.split()) <= bound
    assert not {"outer", "default", "Kind", "lock", "Missing", "outside", "path", "json"} & bound


def test_each_reading_in_the_body_counts_and_the_first_line_does_not(function):
    read = names_read(function)
    assert read.count("helper") == 1 and read.count("outside") == 1 and "default" not in read and "Kind" not in read
    assert read.count("total") == 0 and read.count("part") == 1


@pytest.mark.parametrize("text", ["", "def f(:", "x = 1\ny = 2", "x = '\0'", "(" * 100_000, "-" * 100_000 + "1"])
def test_a_text_that_is_not_one_statement_gives_none(text):
    assert only_statement(text) is None


def test_the_one_statement_of_a_text_is_parsed_without_a_warning(recwarn):
    statement = only_statement("def f(x):\n    return '\\d'\n")
    assert isinstance(statement, ast.FunctionDef) and statement.name == "f" and not recwarn
