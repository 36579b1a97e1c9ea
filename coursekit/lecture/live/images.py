"""A live figure over images: which patches a token of a Vision Transformer reads, block by block."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np

from coursekit.lecture.diagrams import DARK_TEXT, PALETTE
from coursekit.lecture.live.figure import LiveFigure, blues, choice, figure, menu, pointed, slider

_SIDE = 200  # pixels of an image on the page
CLASS = "class token"


def rollout(images: np.ndarray, weights: Sequence[np.ndarray], names: Sequence[str]) -> LiveFigure:
    """One block's attention, or the rollout up to it (Abnar and Zuidema 2020), over images; the query is pointed at.

    Args:
        images: grey, 0 to 1, (B, h, w), with h = w.
        weights: of the L blocks, first block first, each (B, H, T, T); token 0 is the class token, the others are the
            patches, row by row.
        names: of the B images, different from each other.
    """
    images = np.asarray(images, dtype=float)
    side = round((weights[0].shape[-1] - 1) ** 0.5)
    if images.ndim != 3 or side * side + 1 != weights[0].shape[-1]:
        raise ValueError(
            f"rollout needs images (B, h, w) and a square of patches, got {images.shape}, {weights[0].shape}"
        )
    tokens = [CLASS, *(f"patch {number}" for number in range(1, side * side + 1))]
    rows: list[dict[str, Any]] = []
    mixing = np.eye(len(tokens))
    for block, maps_of_block in enumerate(weights, 1):
        mean = np.asarray(maps_of_block, dtype=float).mean(axis=1)  # (B, T, T)
        mixing = (mean @ mixing + mixing) / 2
        for what, maps in (("this block alone", mean), ("rollout up to it", mixing)):
            for name, matrix in zip(names, maps, strict=True):
                rows += [
                    {"image": name, "block": block, "what": what, "query": query, "share": row}
                    for query, row in zip(tokens, np.round(matrix, 3).tolist(), strict=True)
                ]
    inks = np.round(images.reshape(len(images), -1), 2).tolist()
    pixels = [{"image": name, "ink": row} for name, row in zip(names, inks, strict=True)]
    which = menu("image", "image", names)
    block_ = slider("block", "block", 1, len(weights), 1, len(weights))
    what_ = choice("what", "show", ["rollout up to it", "this block alone"])
    query = pointed("query", "query", "query", tokens, CLASS)
    return figure(
        *_panels(rows, pixels, side, images.shape[-1], tokens, query),
        controls=[which, block_, what_],
        words="""What a token has read spreads over the patches from block to block. An image of a digit, and the
        same image under its patches, darker blue for a larger share of what one token has read. A field above
        stands for the class token. Controls choose the image, the block, and whether the block's own attention is
        shown or the rollout, which follows it down to the patches; the query is chosen with the pointer or in a
        menu.""",
    )


def _panels(
    rows: list[dict[str, Any]],
    pixels: list[dict[str, Any]],
    side: int,
    width: int,
    tokens: list[str],
    query: alt.Parameter,
) -> list[Any]:
    across: dict[str, Any] = {"scale": alt.Scale(domain=[0, side]), "axis": None}
    down: dict[str, Any] = {"scale": alt.Scale(domain=[-0.8, side], reverse=True), "axis": None}
    cell = side / width
    image = alt.Chart(alt.Data(values=pixels)).transform_filter("datum.image == image")
    image = image.transform_calculate(n=f"sequence({width * width})").transform_flatten(["ink", "n"])
    image = image.transform_calculate(x=f"(datum.n % {width}) * {cell}", y=f"floor(datum.n / {width}) * {cell}")
    image = image.transform_calculate(right=f"datum.x + {cell}", bottom=f"datum.y + {cell}")
    box = {"x": alt.X("x:Q", **across), "x2": "right:Q", "y": alt.Y("y:Q", **down), "y2": "bottom:Q"}
    greys = alt.Scale(domain=[0, 1], range=["white", DARK_TEXT], interpolate="rgb")
    grey = image.mark_rect(aria=False).encode(**box, color=alt.Color("ink:Q", scale=greys, legend=None))

    patches = alt.Chart(alt.Data(values=rows))
    patches = patches.transform_filter("datum.image == image && datum.block == block && datum.what == what")

    def laid_out(chart: Any, number: str) -> Any:
        chart = chart.transform_calculate(
            x=f"{number} == 0 ? 0 : ({number} - 1) % {side}", y=f"{number} == 0 ? -0.7 : floor(({number} - 1) / {side})"
        )
        return chart.transform_calculate(
            right=f"{number} == 0 ? {side} : datum.x + 1", bottom=f"{number} == 0 ? -0.1 : datum.y + 1"
        )

    chosen = patches.transform_filter(query)
    chosen = chosen.transform_calculate(key=str(tokens), n=f"sequence({len(tokens)})")
    chosen = laid_out(chosen.transform_flatten(["key", "share", "n"]), "datum.n")
    all_ = laid_out(patches.transform_calculate(n=f"indexof({tokens}, datum.query)"), "datum.n")
    touch = all_.mark_rect(fill="white", fillOpacity=0.01, stroke=PALETTE["mask"]).encode(
        **box, description=alt.Description("query:N")
    )
    frame = all_.transform_filter(query).mark_rect(fill=None, stroke=PALETTE["accent"], strokeWidth=3, aria=False)
    label: dict[str, Any] = {"fontSize": 11, "aria": False}
    said = all_.transform_filter("datum.n == 0").mark_text(**label)
    middle = {"x": alt.value(_SIDE / 2), "y": alt.datum(-0.4, type="quantitative", scale=down["scale"], axis=None)}
    left = alt.layer(grey, said.encode(**middle, text="query:N"), touch.add_params(query), frame.encode(**box))

    shares = chosen.mark_rect(opacity=0.75).encode(
        **box,
        color=alt.Color("share:Q", scale=blues(0, 0.3), legend=None),
        description=alt.Description("told:N"),
    )
    shares = shares.transform_calculate(told="datum.key + ': ' + format(datum.share, '.3f')")
    numbers = chosen.transform_calculate(cx="(datum.x + datum.right) / 2", cy="(datum.y + datum.bottom) / 2")
    numbers = numbers.mark_text(**label).encode(
        x=alt.X("cx:Q", **across), y=alt.Y("cy:Q", **down), text=alt.Text("share:Q", format=".2f"),
        color=alt.when("datum.share > 0.17").then(alt.value("white")).otherwise(alt.value(DARK_TEXT)),
    )  # fmt: skip
    # Its own pixels are pale here, so that the numbers can be read.
    pale = grey.encode(opacity=alt.value(0.35))
    size = {"width": _SIDE, "height": round(_SIDE * (side + 0.8) / side)}
    return [
        left.properties(**size, title="the image; the query is framed"),
        alt.layer(pale, shares, numbers)
        .resolve_scale(color="independent")
        .properties(**size, title="shares of what the query has read"),
    ]
