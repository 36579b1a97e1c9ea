"""What the solutions have stored of their checks names the groups that the checks have now."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest

from coursekit.check.lab import load_reference

ROOT = Path(__file__).resolve().parents[2]
PASSED = re.compile(r"✓</span> ([^<]+)</div>")


@pytest.mark.parametrize("folder", sorted((ROOT / "solutions").glob("[0-9]*")), ids=lambda folder: folder.name)
def test_a_stored_check_names_groups_that_there_are(folder):
    titles = {group.title for spec in load_reference(folder.name).specs.values() for group in spec.groups}
    cells = json.loads((folder / f"{folder.name}.ipynb").read_text("utf-8"))["cells"]
    outputs = [output.get("data", {}).get("text/html", "") for cell in cells for output in cell.get("outputs", [])]
    told = {html.unescape(title) for output in outputs for title in PASSED.findall("".join(output))}
    assert len(told) >= 20
    assert told <= titles
