"""nbgrader reads the course from here; what is particular to the course is in course.toml."""

import sys
from pathlib import Path

_root = Path(__file__).resolve().parent
sys.path.insert(0, str(_root))

from autograder.nbgrader_settings import configure_course  # noqa: E402

c = get_config()  # noqa: F821
configure_course(c, _root)

# To take marks off late work: c.LateSubmissionPlugin.penalty_method = "zero", or a plugin of your own.
