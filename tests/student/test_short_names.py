"""What notebooks import under a short name, `coursekit.plots`, is a module of `coursekit/lecture`."""

import importlib
from pathlib import Path

import pytest
from coursekit.pages import parts

import coursekit
from coursekit import plots
from coursekit.lecture import plots as long_name
from coursekit.lecture.pages.parts import PlainRMSNorm


def test_both_names_mean_one_module():
    assert plots is long_name is importlib.import_module("coursekit.plots")
    assert plots.__spec__.name == plots.__name__ == "coursekit.lecture.plots"
    assert parts.PlainRMSNorm is PlainRMSNorm


def test_every_module_of_lectures_has_its_short_name():
    folder = Path(coursekit.__file__).parent / "lecture"
    modules = {path.stem for path in folder.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert {name for name in modules if coursekit.spell_out(f"coursekit.{name}") != f"coursekit.{name}"} == modules - {
        "__init__"
    }
    assert coursekit.spell_out("coursekit.data.files") == "coursekit.data.files"
    assert coursekit.spell_out("plots") == "plots"


def test_a_name_that_is_in_neither_place_is_an_error():
    with pytest.raises(ImportError):
        importlib.import_module("coursekit.pages.nothing")
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        coursekit.nothing  # noqa: B018
