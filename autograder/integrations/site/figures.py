"""A stored figure as files of the site, one for light pages and one for dark ones, and as the HTML that shows them."""

from __future__ import annotations

import base64
import html
import io
import json
import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import numpy as np
from matplotlib.colors import to_rgb
from PIL import Image

from coursekit.lecture.diagrams import PALETTE
from coursekit.lecture.plots import DRAWING, caption_and_rest
from coursekit.lecture.scenes import FUR

_SVG = "http://www.w3.org/2000/svg"
_COLOUR = re.compile(r"#[0-9a-f]{6}")
# Figures are drawn once, in middle tones. These are their colours on each kind of page: those of the page's own text.
_SHAPES = {
    "light": {PALETTE["ink"]: "#48566b", PALETTE["residual"]: "#69727f"},
    "dark": {PALETTE["ink"]: "#b4bcc7", PALETTE["residual"]: "#98a1ad", FUR["black"]: "#656b75"},
}
# A drawing says which of its shapes are words: where these have a role's colour, they need more contrast than an area.
_WORDS = {
    "light": _SHAPES["light"] | {PALETTE["accent"]: "#c23a27", PALETTE["value"]: "#17795a", PALETTE["key"]: "#92600a"},
    "dark": _SHAPES["dark"] | {PALETTE["query"]: "#7ba7ee", PALETTE["output"]: "#c78ad1", PALETTE["accent"]: "#ee7a69"},
}


@dataclass(frozen=True)
class Figure:
    """Its HTML, and its files by name."""

    text: str
    files: dict[str, bytes]


def make_figure(output: Any, number: str, name: str, chart: dict[str, Any] | None) -> Figure:
    """The figure of a notebook's output; its files are called after `name`, a live figure has a `chart`."""
    told = output.get("metadata", {}).get("image/png", {})
    picture = Image.open(io.BytesIO(base64.b64decode(output.data["image/png"])))
    if chart is not None:  # on white, until the chart takes its place
        written = {"": _write_webp(np.asarray(picture))}
        ending = ".webp"
    elif DRAWING in output.data:
        drawn = ElementTree.fromstring(output.data[DRAWING])
        written = {theme: _colour_drawing(drawn, theme) for theme in _SHAPES}
        ending = ".svg"
    else:
        pixels = np.asarray(picture.convert("RGBA"))
        written = {theme: _write_webp(_colour_pixels(pixels, theme)) for theme in _SHAPES}
        ending = ".webp"
    files = {theme: f"{name}{'-' if theme else ''}{theme}{ending}" for theme in written}
    text = _write_figure(number, files, picture.size, told.get("alt", ""), told.get("cuts", ()), chart)
    return Figure(text, {file: written[theme] for theme, file in files.items()})


def _colour_pixels(pixels: np.ndarray, theme: str) -> np.ndarray:
    """Pixels (H, W, 4) with what stands on the page itself in the theme's colours; areas keep theirs.

    The edge of a letter has the letter's colour and is half transparent, where rounding moves it by a few steps.
    """
    coloured = pixels.copy()
    alpha = pixels[..., 3].astype(int)
    for old, new in _SHAPES[theme].items():
        apart = np.abs(pixels[..., :3].astype(int) - _bytes_of(old)).max(axis=-1)
        coloured[..., :3][(alpha > 0) & (apart <= np.where(alpha == 255, 0, 4))] = _bytes_of(new)
    return coloured


def _bytes_of(colour: str) -> np.ndarray:
    return np.round(255 * np.array(to_rgb(colour))).astype(int)


def _colour_drawing(drawn: ElementTree.Element, theme: str) -> bytes:
    """An SVG of matplotlib in the theme's colours; its words are the groups that are called text."""
    copy = ElementTree.fromstring(ElementTree.tostring(drawn))

    def colour(element: ElementTree.Element, colours: dict[str, str]) -> None:
        if element.get("id", "").startswith("text_"):
            colours = _WORDS[theme]
        for key, value in element.items():
            element.set(key, _COLOUR.sub(lambda found: colours.get(found[0], found[0]), value))
        for child in element:
            colour(child, colours)

    colour(copy, _SHAPES[theme])
    ElementTree.register_namespace("", _SVG)
    return ElementTree.tostring(copy)


def _write_webp(pixels: np.ndarray) -> bytes:
    """The same pixels in fewer bytes."""
    written = io.BytesIO()
    Image.fromarray(pixels).save(written, "WEBP", lossless=True, quality=75, method=4)  # quality: how hard it tries
    return written.getvalue()


def _write_figure(
    number: str,
    files: dict[str, str],
    size: tuple[int, int],
    alt: str,
    cuts: tuple[float, ...],
    chart: dict[str, Any] | None,
) -> str:
    caption, rest = map(html.escape, caption_and_rest(alt))
    folded = f"<details><summary>in words</summary>{rest}</details>" if rest else ""
    kind, live = "course-figure", ""
    if chart is not None:
        kind = "course-figure course-live"
        written = json.dumps(chart, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
        live = f'<script type="application/json">{written}</script>'
    pictures = "".join(_write_panels(theme, file, size, alt, cuts) for theme, file in files.items())
    if len(files) > 1:
        pictures = f"<div>{pictures}</div>"  # the theme hides a caption beside the picture of the other theme
    return (
        f'<figure class="{kind}" id="figure-{number.replace(".", "-")}">{pictures}{live}'
        f"<figcaption><span>Figure {number}. {caption}</span>{folded}</figcaption>"
        "</figure>"
    )


def _write_panels(theme: str, file: str, size: tuple[int, int], alt: str, cuts: tuple[float, ...]) -> str:
    """A picture, or its panels: each shows its part of one file, side by side or, on a phone, one below the other."""
    width, height = size
    panels = []
    for left, right in pairwise((0, *cuts, 1)):
        part = round((right - left) * width)
        at = f";object-position:{100 * left / (1 - right + left):.2f}% 0" if cuts else ""
        panels.append(
            f'<img src="figures/{file}" alt="{"" if left else html.escape(alt)}" width="{part}" height="{height}" '
            f'loading="lazy" style="--width:{part};--share:{right - left:.4f};aspect-ratio:{part}/{height}{at}">'
        )
    hidden = f" only-{theme}" if theme else ""
    return f'<span class="course-panels{hidden}">{"".join(panels)}</span>'
