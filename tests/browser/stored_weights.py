"""The numbers that lecture 2's live figure has to show, from the scores stored in it."""

from __future__ import annotations

from pathlib import Path

import nbformat
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
CHART = "application/vnd.vegalite.v5+json"


def largest_weight(query: str, divided_by: float) -> str:
    """The largest weight of a row of the map, as the figure writes it, once its scores are divided by this number."""
    notebook = nbformat.read(ROOT / "lectures" / "02_self_attention.ipynb", as_version=4)
    charts = (
        output["data"].get(CHART) for cell in notebook.cells for output in cell.get("outputs", ()) if "data" in output
    )
    rows = [row for chart in charts if chart for rows in chart["datasets"].values() for row in rows]
    scores = np.array(next(row["score"] for row in rows if row["query"] == query)) / divided_by
    powers = np.exp(scores - scores.max())
    return f"{powers.max() / powers.sum():.3f}"
