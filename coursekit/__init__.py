"""What a student's notebook imports: checks, plots, diagrams and data. Holds no answer."""

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coursekit.lab import start_lab

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # TensorFlow's start-up messages look like errors in a notebook
os.environ.setdefault("KERAS_BACKEND", "tensorflow")

__all__ = ["__version__", "start_lab"]

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """`start_lab` on first use: a lecture's page, which checks nothing, does not load what judges."""
    if name == "start_lab":
        from coursekit.lab import start_lab

        return start_lab
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
