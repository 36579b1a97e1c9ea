"""No lab goes untried."""

from pathlib import Path

from lab_matrix import LABS


def test_every_lab_has_a_file_here():
    here = {path.stem.removeprefix("test_") for path in Path(__file__).parent.glob("test_[0-9]*.py")}
    assert here == set(LABS)
