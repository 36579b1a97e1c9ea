"""What a student's notebook imports: checks, plots, diagrams and data. Holds no answer."""

import os
import sys
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coursekit.check.lab import start_lab

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # TensorFlow's start-up messages look like errors in a notebook
os.environ.setdefault("KERAS_BACKEND", "tensorflow")

__all__ = ["__version__", "start_lab"]

__version__ = "0.1.0"


# What notebooks import as `coursekit.plots`, `coursekit.pages.parts` … lies in this folder.
_OF_LECTURES = frozenset({
    "bert", "captions", "clauses", "date_translator", "date_translators", "dates", "diagrams", "digit_images",
    "digit_scenes", "live", "looking", "memory_task", "moving_digits", "pages", "plots", "python_names", "readers",
    "recorded", "reviews", "scenes", "smollm2_heads", "sorting", "speed", "stacks", "toy_scores", "twins",
    "two_questions",
})  # fmt: skip


def spell_out(name: str) -> str:
    """The full name of what a notebook imports under its short one: `coursekit.plots` is `coursekit.lecture.plots`."""
    package, _, rest = name.partition(".")
    is_short = package == __name__ and rest.partition(".")[0] in _OF_LECTURES
    return f"{__name__}.lecture.{rest}" if is_short else name


def __getattr__(name: str) -> Any:
    """`start_lab` on first use: a lecture's page, which checks nothing, does not load what judges."""
    if name == "start_lab":
        from coursekit.check.lab import start_lab

        return start_lab
    if name in _OF_LECTURES:
        return import_module(f"{__name__}.lecture.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class _ShortNames(MetaPathFinder, Loader):
    """Imports a module of `coursekit.lecture` under its short name, as the same module."""

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if spell_out(fullname) == fullname:
            return None
        return ModuleSpec(fullname, self, origin=spell_out(fullname))

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(spell_out(spec.name))
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state


sys.meta_path.insert(0, _ShortNames())
