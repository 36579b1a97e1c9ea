"""No lab goes untried."""

from pathlib import Path

from lab_matrix import LABS, ROOT, load_lab


def test_every_lab_has_a_file_here():
    here = {path.stem.removeprefix("test_") for path in Path(__file__).parent.glob("test_[0-9]*.py")}
    assert here == set(LABS)


def test_no_variants_are_of_an_exercise_that_no_lab_declares():
    variants = ROOT / "tests" / "variants"
    written = {path.relative_to(variants).with_suffix("") for path in variants.glob("*/*.py")}
    written = {path for path in written if path.name not in ("__init__", "shared")}
    assert written == {Path(lab.partition("_")[2], name) for lab in LABS for name in load_lab(lab).exercises}
