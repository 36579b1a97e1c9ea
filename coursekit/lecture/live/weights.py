"""Live figures of attention weights: bandwidth, sharpness, heads side by side, masks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np

from coursekit.lecture.diagrams import DARK_TEXT, PALETTE
from coursekit.lecture.live.figure import (
    Chart,
    LiveFigure,
    blues,
    choice,
    dragged,
    figure,
    places,
    pointed,
    slider,
    switch,
)

CELL = 34  # pixels of one cell of a map


def matrix_rows(matrix: np.ndarray, name: str, labels: Sequence[str], **constants: object) -> alt.Data:
    """A matrix (T, S) as one row for each query, its values in a list, which the chart takes apart: small to store."""
    keys = list(labels)
    rounded = np.round(np.asarray(matrix, dtype=float), 4).tolist()
    rows = [
        {"query": query, "i": i, "key": keys, "j": list(range(len(keys))), name: row, **constants}
        for i, (query, row) in enumerate(zip(keys, rounded, strict=True))
    ]
    return alt.Data(values=rows)


def softmax(chart: Chart, score: str, weight: str, groups: Sequence[str]) -> Chart:
    """Add what computes a softmax over each group: the largest score subtracted, exponentials, divided by their sum."""
    return (
        chart.transform_joinaggregate(largest=f"max({score})", groupby=list(groups))
        .transform_calculate(exponential=f"exp(datum.{score} - datum.largest)")
        .transform_joinaggregate(total="sum(exponential)", groupby=list(groups))
        .transform_calculate(**{weight: "datum.exponential / datum.total"})
    )


def heat_map(
    chart: Chart, labels: Sequence[str], value: str, *, title: str, framed: alt.Parameter | None = None
) -> Chart:
    """Draw cells (query, key) coloured by a value from 0 to 1, with the numbers; a chosen row is framed."""
    x = alt.X("key:N", sort=list(labels), title="key: attended to", axis=alt.Axis(labelAngle=-45))
    y = alt.Y("query:N", sort=list(labels), title="query: attends from")
    colour = alt.Color(f"{value}:Q", scale=blues(0, 1), legend=None)
    cells = chart.mark_rect().encode(x=x, y=y, color=colour)
    shade = alt.when(alt.datum[value] > 0.5).then(alt.value("white")).otherwise(alt.value(DARK_TEXT))
    numbers = chart.mark_text(fontSize=10, aria=False).encode(
        x=x, y=y, text=alt.Text(f"{value}:Q", format=".2f"), color=shade
    )
    layers = [cells, numbers]
    if framed is not None:
        frame = chart.transform_filter(framed).transform_filter(alt.datum.j == 0)
        frame = frame.mark_rect(fill=None, stroke=PALETTE["accent"], strokeWidth=2, aria=False)
        layers.append(frame.encode(y=y))
    size = max(CELL * len(labels), 120)
    return alt.layer(*layers).properties(width=size, height=size, title=title)


def sharpness(scores: np.ndarray, words: Sequence[str], *, query: str | None = None) -> LiveFigure:
    """Attention weights of scores (T, T) that are divided by a number; one row as bars.

    Args:
        scores: before the softmax, query by key.
        words: the T tokens.
        query: the row that is shown at the start; the last one unless it is said.
    """
    labels = places(words)
    divided = slider("divide", "scores divided by", 0.25, 8, 0.25, 1)
    start = query if query is not None else labels[-1]
    chosen = pointed("row", "query", "query", labels, start)
    base = alt.Chart(matrix_rows(scores, "score", labels)).transform_flatten(["key", "j", "score"])
    base = softmax(base.transform_calculate(scaled="datum.score / divide"), "scaled", "weight", ["query"])
    map_ = heat_map(base, labels, "weight", title="weights: every row sums to 1", framed=chosen)
    row = base.transform_filter(chosen)
    y = alt.Y("key:N", sort=labels, title=None)
    x = alt.X("weight:Q", scale=alt.Scale(domain=[0, 1.1]), axis=alt.Axis(values=[0, 0.5, 1]), title="weight")
    bars = row.mark_bar(color=PALETTE["query"]).encode(y=y, x=x)
    numbers = row.mark_text(align="left", dx=3, aria=False).encode(y=y, x=x, text=alt.Text("weight:Q", format=".3f"))
    scores_ = row.mark_text(align="left").encode(y=y, x=alt.value(196), text=alt.Text("scaled:Q", format=".2f"))
    title = "the framed row: weight, and its divided score"
    panel = alt.layer(bars, numbers, scores_).properties(width=180, height=CELL * len(labels), title=title)
    return figure(
        map_,
        panel,
        controls=[divided, chosen],
        words="""A small divisor makes the softmax sharp, a large one makes it flat. A map of attention weights,
        query by key, and one of its rows as bars. A slider divides the scores before the softmax: a small divisor
        leaves nearly all weight on the keys with the largest score, a large one makes all weights nearly equal. The
        row is chosen with the pointer or in a menu.""",
    )


def bandwidth(keys: np.ndarray, values: np.ndarray, *, low: float, high: float) -> LiveFigure:
    """Attention pooling with a Gaussian kernel (Nadaraya 1964, Watson 1964) on measurements (S,); the query is dragged.

    Args:
        keys: places of the measurements, (S,).
        values: what was measured there, (S,).
        low, high: where the estimate begins and ends.
    """
    power = slider("power", "bandwidth σ: 10 to the power", -1.7, 0.5, 0.05, -0.7)
    sigma = "pow(10, power)"
    step = round((high - low) / 100, 4)
    asked = dragged("asked", "query", "query", low, high, step, round((low + high) / 2, 4))
    pairs = [{"key": k, "value": v} for k, v in np.round(np.stack([keys, values], axis=-1), 3).tolist()]
    points = alt.Chart(alt.Data(values=pairs))
    measured = points.mark_point(size=14, filled=True, color=PALETTE["residual"], aria=False)
    x = alt.X("key:Q", scale=alt.Scale(domain=[low, high]), title="key, query")
    y = alt.Y("value:Q", title="value")
    everywhere = alt.sequence(low, high + step / 2, step, as_="query")
    arrays = np.round(keys, 3).tolist(), np.round(values, 3).tolist()
    curve = alt.Chart(everywhere).transform_calculate(key=str(arrays[0]), value=str(arrays[1]))
    curve = curve.transform_flatten(["key", "value"])
    gap = "-pow(({query} - datum.key) / {sigma}, 2) / 2"
    curve = curve.transform_calculate(score=gap.format(query="datum.query", sigma=sigma))
    curve = softmax(curve, "score", "weight", ["query"])
    curve = curve.transform_calculate(part="datum.weight * datum.value")
    curve = curve.transform_aggregate(estimate="sum(part)", groupby=["query"])
    line = curve.mark_line(color=PALETTE["query"], strokeWidth=2, aria=False).encode(x="query:Q", y="estimate:Q")
    weighed = points.transform_calculate(score=gap.format(query="asked.query[0]", sigma=sigma), one="1")
    weighed = softmax(weighed, "score", "weight", ["one"])
    answer = weighed.transform_calculate(part="datum.weight * datum.value").transform_aggregate(estimate="sum(part)")
    answer = answer.transform_calculate(query="asked.query[0]")
    at = alt.X("query:Q", scale=alt.Scale(domain=[low, high]), title="key, query")
    dot = answer.mark_point(size=90, filled=True, color=PALETTE["accent"]).encode(x=at, y="estimate:Q")
    said = answer.mark_text(dy=-14, color=PALETTE["accent"], fontWeight="bold", aria=False)
    said = said.encode(x=at, y="estimate:Q", text=alt.Text("estimate:Q", format=".2f"))
    rule = answer.mark_rule(color=PALETTE["accent"], strokeDash=[4, 3], aria=False).encode(x=at)
    touch = (
        alt.Chart(everywhere)
        .mark_point(opacity=0, color=PALETTE["residual"], aria=False)
        .encode(x=at)
        .add_params(asked)
    )
    look: dict[str, Any] = {"width": 300, "height": 200}
    title = "measurements (grey) and estimate (line)"
    upper = alt.layer(measured.encode(x=x, y=y), line, rule, dot, said, touch).properties(**look, title=title)
    bars = weighed.mark_bar(width=2, color=PALETTE["key"]).encode(x=x, y=alt.Y("weight:Q", title="weight"))
    title_ = alt.Title(alt.expr(f"'weights for the query; σ = ' + format({sigma}, '.2f')"))
    lower = alt.layer(bars, rule, touch).properties(**look, title=title_)
    return figure(
        upper,
        lower,
        controls=[power],
        words="""A small bandwidth copies the nearest measurement, a large one averages them all. Left: noisy
        measurements and the curve of their weighted averages. Right: the weights of the measurements for one query,
        a bell around it. A small bandwidth gives a curve that jumps from point to point and a weight on one or two
        measurements; a large one gives a nearly flat curve and nearly equal weights. The query is dragged on the
        chart or moved by slider.""",
    )


def side_by_side(
    scores: np.ndarray, turned: np.ndarray, words: Sequence[str], *, query: str | None = None, asks: tuple[str, str]
) -> LiveFigure:
    """Several heads, and what they give to one query; the query matrix of head 0 can be turned to another question.

    Turned by an angle, W_Q is cos(angle)·W_Q + sin(angle)·W_Q′, and so are its scores, since they are linear in W_Q.

    Args:
        scores: before the softmax, (H, T, T): head by query by key.
        turned: the scores (T, T) of head 0 with W_Q′, at a right angle.
        words: the T tokens.
        query: the row that is shown at the start; the last one unless it is said.
        asks: what head 0 asks for, before it is turned and after.

    Raises ValueError for other shapes.
    """
    scores, turned = np.asarray(scores, dtype=float), np.asarray(turned, dtype=float)
    square = (len(words), len(words))
    if scores.ndim != 3 or scores.shape[1:] != square or turned.shape != square:
        raise ValueError(
            f"side_by_side needs scores (heads, T, T) and turned (T, T) for {len(words)} words, "
            f"got {scores.shape} and {turned.shape}"
        )
    labels = places(words)
    turn = slider("turn", f"head 0: {asks[0]} → {asks[1]}, degrees", 0, 90, 5, 0)
    chosen = pointed("row", "query", "query", labels, query if query is not None else labels[-1])
    rows = []
    for head, matrix in enumerate(scores):
        other = turned if head == 0 else np.zeros(square)
        pairs = zip(
            matrix_rows(matrix, "score", labels).values, matrix_rows(other, "other", labels).values, strict=True
        )
        rows += [row | {"other": with_other["other"], "head": f"head {head}"} for row, with_other in pairs]
    base = alt.Chart(alt.Data(values=rows)).transform_flatten(["key", "j", "score", "other"])
    angle = "datum.head == 'head 0' ? turn * PI / 180 : 0"
    base = base.transform_calculate(angle=angle)
    base = base.transform_calculate(asked="cos(datum.angle) * datum.score + sin(datum.angle) * datum.other")
    base = softmax(base, "asked", "weight", ["head", "query"])
    heads = [f"head {head}" for head in range(len(scores))]
    maps = []
    for name in heads:
        one = base.transform_filter(alt.datum.head == name)
        maps.append(heat_map(one, labels, "weight", title=name, framed=chosen))
    x = alt.X("key:N", sort=labels, title=None, axis=alt.Axis(labelAngle=-45))
    y = alt.Y("weight:Q", scale=alt.Scale(domain=[0, 1]), title="weight")
    roles = ("query", "accent", "value", "key", "output", "residual")[: len(heads)]
    colours = alt.Scale(domain=heads, range=[PALETTE[role] for role in roles])
    colour = alt.Color("head:N", scale=colours, legend=alt.Legend(title=None, orient="bottom"))
    bars = base.transform_filter(chosen).mark_bar().encode(x=x, y=y, xOffset="head:N", color=colour)
    panel = bars.properties(width=260, height=50, title="the framed row, in each head")
    return figure(
        *maps,
        panel,
        controls=[turn, chosen],
        words="""The same query looks elsewhere in each head. Maps of attention weights, query by key, one for each
        head, and below them the framed row of all heads as bars, key by key. A slider turns the query of head 0 to
        another question: half way it asks both, and one softmax shares its row among all that answer either. The row
        is chosen with the pointer or in a menu.""",
    )


def masks(scores: np.ndarray, words: Sequence[str], *, padding: int = 2) -> LiveFigure:
    """Scores (T, T) under a look-ahead mask and a padding mask, each on or off, and the weights that follow.

    Blocked scores are replaced by −1e9 before the softmax, or, to see the mistake, the blocked weights by 0 after it.

    Args:
        scores: before the softmax, query by key.
        words: the T tokens.
        padding: how many places are padding, where there is padding.
    """
    labels = places(words)
    count = len(labels)
    ahead = switch("look_ahead", "look-ahead mask", True)
    padded = choice("padded", "padding:", ["none", "at the end", "in front"])
    moment = choice("when", "blocked", ["before the softmax", "after the softmax"])
    is_real = f"(padded == 'none' || (padded == 'in front' ? datum.j >= {padding} : datum.j < {count - padding}))"
    base = alt.Chart(matrix_rows(scores, "score", labels)).transform_flatten(["key", "j", "score"])
    base = base.transform_calculate(open=f"(!look_ahead || datum.j <= datum.i) && {is_real}")
    base = base.transform_calculate(used="datum.open || when == 'after the softmax' ? datum.score : -1e9")
    base = softmax(base, "used", "before", ["query"])
    base = base.transform_calculate(weight="datum.open || when == 'before the softmax' ? datum.before : 0")
    x = alt.X("key:N", sort=labels, title="key", axis=alt.Axis(labelAngle=-45))
    y = alt.Y("query:N", sort=labels, title="query")
    shade = alt.when("datum.open").then(alt.Color("score:Q", scale=blues(-3, 3), legend=None))
    cells = base.mark_rect().encode(x=x, y=y, color=shade.otherwise(alt.value(PALETTE["mask"])))
    text = alt.Text("shown:N")
    shown = base.transform_calculate(shown="datum.open ? format(datum.score, '.1f') : '✕'")
    ink = alt.when("datum.open && datum.score > 0.8").then(alt.value("white")).otherwise(alt.value(DARK_TEXT))
    left = alt.layer(cells, shown.mark_text(fontSize=10, aria=False).encode(x=x, y=y, text=text, color=ink))
    left = left.properties(width=CELL * count, height=CELL * count, title="scores; ✕ is blocked")
    sums = base.transform_aggregate(row_sum="sum(weight)", groupby=["query"])
    sums = sums.mark_text(align="left", fontSize=11).encode(
        y=alt.Y("query:N", sort=labels, title="query: attends from"),
        x=alt.value(CELL * count + 6),
        text=alt.Text("row_sum:Q", format=".2f"),
    )
    right = alt.layer(heat_map(base, labels, "weight", title=""), sums)
    right = right.properties(width=CELL * count, height=CELL * count, title="weights, and the sum of each row")
    return figure(
        left,
        right,
        controls=[ahead, padded, moment],
        words="""Blocked before the softmax, every row still sums to one. Two maps, query by key: the scores with
        the blocked cells crossed out, and the weights after the softmax with the sum of each row. Switches turn the
        look-ahead mask and the padding mask on and off. When scores are blocked before the softmax, every row sums
        to one; when weights are blocked after it, rows sum to less.""",
    )
