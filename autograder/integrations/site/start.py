"""The start page's model before it is loaded: what it wrote once, recorded by `site/record_writing.mjs`."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

DARKEST, STRONGEST = 8, 45  # bits, and percent of the colour: those of `written.js`


def render_writer(site: Path) -> str:
    """The fragment of HTML; empty for a site that has no such model."""
    record, model = site / "written.json", site / "_static" / "strip" / "library_model.json"
    if not (record.is_file() and model.is_file()):
        return ""
    written, described = json.loads(record.read_text("utf-8")), json.loads(model.read_text("utf-8"))
    results: dict[str, Any] = described["results"]
    tokens = [
        {"text": "end" if text is None else text, "end": text is None, "shade": f"{_shade(bits)}%"}
        for text, bits in written["tokens"]
    ]
    template = Environment(
        loader=FileSystemLoader(site / "_templates"), undefined=StrictUndefined, autoescape=True, trim_blocks=True
    ).get_template("the-model-writes.html")
    return template.render(
        {**written, "tokens": tokens},
        parameters=sum(math.prod(array["shape"]) for array in results["arrays"].values()) / 1e6,
        megabytes=model.with_suffix(".bin").stat().st_size / 1e6,
        read=results["tokens"] / 1e6,
        minutes=round(described["seconds"] / 60),
    )


def _shade(bits: float) -> int:
    return round(STRONGEST * min(bits, DARKEST) / DARKEST)
