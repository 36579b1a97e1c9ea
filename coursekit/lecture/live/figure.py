"""A live figure: a Vega-Lite chart that computes in the reader's browser, its picture, and what it shows in words.

JupyterLab draws the chart itself, Colab as a page, the web site with scripts of its own; none of them asks the kernel.
Where no chart can be drawn (on GitHub, in print) the picture of the chart's start is shown, which is stored beside it
when vl-convert-python is installed.
"""

from __future__ import annotations

import base64
import importlib.util
import io
import sys
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
from IPython.display import display
from matplotlib import colormaps
from matplotlib.colors import to_hex

from coursekit.lecture.diagrams import PALETTE
from coursekit.lecture.plots import below_figure

# The newest Vega-Lite that JupyterLab draws; the figures keep to what it knows.
MIME = "application/vnd.vegalite.v5+json"
_SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
_CONVERTER = "5.20"

_STYLE = {
    "font": "DejaVu Sans, Verdana, sans-serif",
    "background": "transparent",
    "padding": 8,
    "view": {"stroke": None},
    "axis": {
        "labelColor": PALETTE["ink"],
        "titleColor": PALETTE["ink"],
        "titleFontWeight": "normal",
        "labelFontSize": 11,
        "titleFontSize": 11,
        "gridColor": PALETTE["residual"],
        "gridOpacity": 0.25,
        "domainColor": PALETTE["residual"],
        "tickColor": PALETTE["residual"],
    },
    "text": {"color": PALETTE["ink"]},
    "title": {"color": PALETTE["ink"], "fontWeight": "normal", "fontSize": 12, "anchor": "middle"},
    "header": {"labelColor": PALETTE["ink"], "labelFontSize": 11, "title": None},
    "legend": {"labelColor": PALETTE["ink"], "titleColor": PALETTE["ink"], "labelFontSize": 11},
}

_BLUES = [to_hex(colormaps["Blues"](share)) for share in np.linspace(0, 1, 9)]  # those of the static maps

_VEGAS_OWN = {"autosize", "background", "height", "padding", "width"}  # a control of that name would move the frame

Chart = Any  # what Altair composes: a chart, layers, a concatenation


@dataclass(frozen=True)
class LiveFigure:
    """A chart with its alternative text; as the last line of a cell it is shown.

    Attributes:
        chart: Altair's chart. Its named parameters are the controls below the figure.
        words: what the figure shows, for readers who do not see it. Must not be empty.
    """

    chart: Chart
    words: str

    def __post_init__(self) -> None:
        if not self.words.strip():
            raise ValueError("a live figure needs words: say in a sentence or two what the reader should see")

    def specification(self, **values: Any) -> dict[str, Any]:
        """The chart in Vega-Lite's own form, with other values at the start for the named controls.

        Raises KeyError when there is no control of that name.
        """
        drawn: dict[str, Any] = self.chart.to_dict()
        drawn.update({"$schema": _SCHEMA, "description": self.words, "config": _STYLE})
        drawn["datasets"] = _taken_out(drawn, {})
        controls = {parameter["name"]: parameter for parameter in drawn.get("params", ())}
        for name, value in values.items():
            controls[name]["value"] = value
        return drawn

    def picture(self) -> bytes | None:
        """The figure at its start as PNG on white, so on any page; None where vl-convert-python is not installed."""
        if importlib.util.find_spec("vl_convert") is None:
            return None
        import vl_convert
        from PIL import Image

        drawn = self.specification()
        # on a transparent ground vl-convert 1.9 turns what is half transparent into grey
        drawn["config"] = {**_STYLE, "background": "white"}
        png = vl_convert.vegalite_to_png(drawn, vl_version=_CONVERTER, scale=1.5)
        small = io.BytesIO()
        Image.open(io.BytesIO(png)).convert("RGB").save(small, "png", optimize=True)
        return small.getvalue()

    def bundle(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """What Jupyter stores: the forms of the figure by their types, and the metadata."""
        forms: dict[str, Any] = {MIME: self.specification(), "text/plain": f"[Figure: {self.words}]"}
        metadata: dict[str, Any] = {MIME: {"embed_options": {"actions": False, "renderer": "svg"}}}
        picture = self.picture()
        if picture is not None:
            forms["image/png"] = base64.b64encode(picture).decode("ascii")
            metadata["image/png"] = {"alt": self.words}
        if "google.colab" in sys.modules:  # it draws no chart from its specification, only pages
            forms["text/html"] = self.chart.to_html()
        return forms, metadata

    def _ipython_display_(self) -> None:
        forms, metadata = self.bundle()
        display(forms, raw=True, metadata=metadata)
        display({"text/html": below_figure(self.words), "text/plain": ""}, raw=True)


def _taken_out(part: Any, datasets: dict[str, Any]) -> dict[str, Any]:
    """Replace the rows of each part's data by a name, equal rows by the same name; returns the rows by name."""
    if isinstance(part, dict):
        rows = part.get("values")
        if isinstance(rows, list) and rows and isinstance(rows[0], dict):
            name = next((name for name, known in datasets.items() if known == rows), f"rows_{len(datasets)}")
            datasets[name] = rows
            del part["values"]
            part["name"] = name
    for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        _taken_out(inner, datasets)
    return datasets


def figure(*panels: Chart, words: str, controls: Sequence[alt.Parameter] = (), columns: int = 2) -> LiveFigure:
    """A live figure of one or more panels; the line breaks of its words say nothing.

    Panels side by side stand below each other where the page is narrow, so each is at most 340 pixels wide.
    """
    if taken := _VEGAS_OWN & {control.name for control in controls}:
        raise ValueError(f"Vega itself uses {sorted(taken)}: give these controls other names")
    with warnings.catch_warnings():  # one selection for all panels is what is meant
        warnings.filterwarnings("ignore", "Automatically deduplicated")
        chart = alt.concat(*panels, columns=columns).resolve_scale(color="independent")
        chart = chart.add_params(*controls)
    return LiveFigure(chart, " ".join(words.split()))


def blues(low: float, high: float) -> alt.Scale:
    """The colours of the static maps, from white at `low` to dark blue at `high`."""
    return alt.Scale(domain=np.linspace(low, high, len(_BLUES)).tolist(), range=_BLUES, clamp=True)


def slider(name: str, label: str, low: float, high: float, step: float, start: float) -> alt.Parameter:
    """A number that the reader moves."""
    return alt.param(name, value=start, bind=alt.binding_range(min=low, max=high, step=step, name=f"{label} "))


def choice(name: str, label: str, options: Sequence[Any], start: Any | None = None) -> alt.Parameter:
    """One of a few options, all of them visible; `start` is the first one by default."""
    bound = alt.binding_radio(options=list(options), name=f"{label} ")
    return alt.param(name, value=options[0] if start is None else start, bind=bound)


def menu(name: str, label: str, options: Sequence[Any], start: Any | None = None) -> alt.Parameter:
    """One of many options, in a menu; `start` is the first one by default."""
    bound = alt.binding_select(options=list(options), name=f"{label} ")
    return alt.param(name, value=options[0] if start is None else start, bind=bound)


def switch(name: str, label: str, start: bool) -> alt.Parameter:
    """Something that is on or off."""
    return alt.param(name, value=start, bind=alt.binding_checkbox(name=f"{label} "))


def pointed(
    name: str, field: str, label: str, options: Sequence[str], start: str, *, on: str = "mouseover"
) -> alt.Parameter:
    """One value of a field: the one that the pointer or a finger touches, or that is chosen in the menu.

    `on` is the event that chooses: "click" where a pointer on its way to a control must change nothing.
    """
    bound = alt.binding_select(options=list(options), name=f"{label} ")
    return alt.selection_point(
        name=name, fields=[field], bind=bound, on=on, clear=False, empty=False, value=[{field: start}]
    )


def dragged(name: str, field: str, label: str, low: float, high: float, step: float, start: float) -> alt.Parameter:
    """A number that the reader drags across the chart, or moves by slider; in expressions it is `name.field[0]`.

    It belongs to marks, one for each value, that are laid out along x by the field: the nearest of them is taken,
    however far the pointer is above or below it.
    """
    bound: Any = {field: alt.binding_range(min=low, max=high, step=step, name=f"{label} ")}
    return alt.selection_point(
        name=name, fields=[field], nearest=True, on="mousedown, [mousedown, window:mouseup] > mousemove", toggle=False,
        clear=False, empty=False, value=[{field: start}], bind=bound,
    )  # fmt: skip


def places(words: Sequence[str]) -> list[str]:
    """The words as labels of places: a word that occurs more than once is followed by its place, counted from 0."""
    counts = Counter(words)
    return [word if counts[word] == 1 else f"{word} ({place})" for place, word in enumerate(words)]
