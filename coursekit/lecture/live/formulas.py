"""Live figures of formulas: layer norm, the dot product of two positions, the learning rate's warm-up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from coursekit.lecture.diagrams import PALETTE
from coursekit.lecture.live.figure import Chart, LiveFigure, figure, menu, pointed, slider


def layer_norm(token: Sequence[float], *, power: float = 0) -> LiveFigure:
    """Layer norm of one token (D,): what its length, its mean and ε do to x̂, and what γ and β do to the output.

    Ba et al. 2016; ε stands under the root. γ and β change one feature, as each feature has its own. The figure starts
    with the token times 10 to the `power`.
    """
    features = [f"feature {i}" for i in range(len(token))]
    length = slider("length", "length: times 10 to the power", -5, 2, 0.5, power)
    shift = slider("shift", "added to every feature", -20, 20, 1, 0)
    epsilon = slider("epsilon", "ε: 10 to the power", -12, 1, 0.5, -6)
    which = pointed("which", "feature", "γ and β of", features, features[0], on="click")
    gamma = slider("gamma", "γ", -3, 3, 0.1, 1)
    beta = slider("beta", "β", -3, 3, 0.1, 0)
    rows = [{"feature": name, "number": number} for name, number in zip(features, map(float, token), strict=True)]
    base = alt.Chart(alt.Data(values=rows)).transform_calculate(x="datum.number * pow(10, length) + shift")
    base = base.transform_joinaggregate(mean="mean(x)", variance="variancep(x)")
    base = base.transform_calculate(x_hat="(datum.x - datum.mean) / sqrt(datum.variance + pow(10, epsilon))")
    mine = "datum.feature == which.feature[0]"
    base = base.transform_calculate(y=f"({mine} ? gamma : 1) * datum.x_hat + ({mine} ? beta : 0)")

    def bars(field: str, title: str, colour: str, limits: list[float] | None) -> Chart:
        feature = alt.Y("feature:N", sort=features, title=None)
        scale = alt.Scale(domain=limits, clamp=True) if limits else alt.Scale()
        value = alt.X(f"{field}:Q", scale=scale, title=None, axis=alt.Axis(tickCount=5))
        drawn = base.mark_bar(color=colour).encode(y=feature, x=value)
        texts = base.transform_calculate(shown=f"format(datum.{field}, '.3~g')")
        text = texts.mark_text(align="left", fontSize=11, aria=False)
        text = text.encode(y=feature, x=alt.value(186), text="shown:N")
        chosen = alt.when(which).then(alt.value(PALETTE["accent"])).otherwise(alt.value("transparent"))
        row = base.mark_rect(fill="white", fillOpacity=0.01, cursor="pointer", aria=False)  # bars of 0 are clicked, too
        row = row.encode(y=feature, x=alt.value(0), x2=alt.value(180), stroke=chosen).add_params(which)
        return alt.layer(drawn, text, row).properties(width=180, height=110, title=title)

    return figure(
        bars("x", "token x", PALETTE["residual"], None),
        bars("x_hat", "x̂: mean 0, variance 1", PALETTE["query"], [-6, 6]),
        bars("y", "output y = γ x̂ + β", PALETTE["output"], [-6, 6]),
        controls=[length, shift, epsilon, gamma, beta],
        columns=3,
        words="""Layer norm forgets the length and the mean of a token. Three bar charts of the features of one
        token: as it is, after layer norm, and after the learned scale and shift. Length and mean of the token do
        not change the second chart until the variance is as small as epsilon; then its bars shrink towards zero.
        Gamma and beta stretch and move one feature of the third, which is framed; a click on a feature, or the menu,
        chooses it.""",
    )


def positions(longest: int = 60) -> LiveFigure:
    """Sinusoidal positions (Vaswani et al. 2017, 3.5): PE[p]·PE[p + k] by k, and one pair of columns.

    The products are summed from the table's own sines and cosines, not from the formula for their sum.

    Args:
        longest: offsets and positions reach so far.
    """
    width = menu("model_width", "width D", [8, 16, 32, 64, 128], 64)
    place = slider("place", "position p", 0, longest, 1, 20)
    offset = slider("offset", "offset k", -longest, longest, 1, 3)
    base = alt.Chart(alt.sequence(-longest, longest + 1, as_="k"))
    base = base.transform_calculate(i="sequence(model_width / 2)").transform_flatten(["i"])
    base = base.transform_calculate(omega="pow(10000, -2 * datum.i / model_width)")
    here, there = "place * datum.omega", "(place + datum.k) * datum.omega"
    base = base.transform_calculate(product=f"sin({here}) * sin({there}) + cos({here}) * cos({there})")
    base = base.transform_aggregate(dot="sum(product)", groupby=["k"])
    x, y = alt.X("k:Q", title="offset k"), alt.Y("dot:Q", title="PE[p] · PE[p + k]")
    line = base.mark_line(color=PALETTE["query"], aria=False).encode(x=x, y=y)
    here_ = base.transform_filter("datum.k == offset")
    dot = here_.mark_point(size=80, filled=True, color=PALETTE["accent"]).encode(x=x, y=y)
    text = here_.mark_text(dy=-12, fontWeight="bold", color=PALETTE["accent"], aria=False)
    text = text.encode(x=x, y=y, text=alt.Text("dot:Q", format=".2f"))
    left = alt.layer(line, dot, text).properties(width=280, height=190, title="dot product of two positions")

    column = slider("column", "column pair i", 0, 63, 1, 4)
    waves = alt.Chart(alt.sequence(0, longest + 0.25, 0.25, as_="position"))
    waves = waves.transform_calculate(omega="pow(10000, -2 * min(column, model_width / 2 - 1) / model_width)")
    waves = waves.transform_calculate(
        sine="sin(datum.position * datum.omega)", cosine="cos(datum.position * datum.omega)"
    )
    waves = waves.transform_fold(["sine", "cosine"], as_=["wave", "height"])
    names = alt.Scale(domain=["sine", "cosine"], range=[PALETTE["query"], PALETTE["accent"]])
    look = {
        "x": alt.X("position:Q", title="position"),
        "y": alt.Y("height:Q", scale=alt.Scale(domain=[-1, 1]), title="entry"),
        "color": alt.Color("wave:N", scale=names, legend=alt.Legend(title=None, orient="bottom")),
    }
    dashes = alt.StrokeDash("wave:N", scale=alt.Scale(domain=["sine", "cosine"], range=[[1, 0], [5, 3]]), legend=None)
    lines = waves.mark_line(aria=False).encode(**look, strokeDash=dashes)
    both = waves.transform_filter("datum.position == place || datum.position == place + offset")
    points = both.mark_point(size=60, filled=True).encode(**look)
    right = alt.layer(lines, points).properties(
        width=280, height=190, title="columns 2i and 2i + 1; dots at p and p + k"
    )
    return figure(
        left,
        right,
        _clock_hands(),
        columns=3,
        controls=[place, offset, width, column],
        words="""The dot product of two positions depends on their offset alone. Left: the dot product of the
        vectors of two positions against their offset. It is largest at offset zero, the same on both sides, and
        falls with ripples; moving the first position leaves the curve as it is. Right: sine and cosine of one pair
        of columns against the position, slower for later columns, with dots at the two positions. Last: the same
        pair as a point on a circle. From p to p + k it turns by an angle that depends on the offset alone.""",
    )


def _clock_hands() -> Chart:
    """One pair of columns as a hand on a circle, at the position `place` and `offset` further, and the turn between."""
    omega = "pow(10000, -2 * min(column, model_width / 2 - 1) / model_width)"
    none: dict[str, Any] = {"scale": alt.Scale(domain=[-1.15, 1.15]), "axis": None}
    x, y = alt.X("cosine:Q", **none), alt.Y("sine:Q", **none)

    def turned(chart: Chart, angle: str) -> Chart:
        return chart.transform_calculate(angle=angle).transform_calculate(
            cosine="cos(datum.angle)", sine="sin(datum.angle)", zero="0"
        )

    whole = turned(alt.Chart(alt.sequence(0, 101, as_="n")), "datum.n * PI / 50")
    circle = whole.mark_line(color=PALETTE["residual"], strokeWidth=1, aria=False).encode(x=x, y=y, order="n:Q")
    both = alt.Chart(alt.Data(values=[{"at": "p", "k": 0}, {"at": "p + k", "k": 1}]))
    both = turned(both, f"(place + datum.k * offset) * {omega}")
    colour = alt.Color(
        "at:N",
        scale=alt.Scale(domain=["p", "p + k"], range=[PALETTE["query"], PALETTE["key"]]),
        legend=alt.Legend(title=None, orient="bottom"),
    )
    hands = both.mark_rule(strokeWidth=3, aria=False).encode(x=x, y=y, x2="zero:Q", y2="zero:Q", color=colour)
    ends = both.mark_point(size=60, filled=True, opacity=1).encode(x=x, y=y, color=colour)
    title = alt.Title(alt.expr(f"'turned by kω = ' + format(offset * {omega}, '.2f')"))
    return alt.layer(circle, hands, ends).properties(width=170, height=170, title=title)


def warm_up(steps: int = 20_000) -> LiveFigure:
    """The learning rate D^-½ · min(step^-½, step · W^-1.5) of Vaswani et al. 2017, equation 3; width and warm-up move.

    Args:
        steps: how many steps are drawn.
    """
    width = menu("model_width", "width D", [256, 512, 1024], 512)
    warmup = slider("warmup", "warm-up W", 1000, 16_000, 500, 8000)
    rate = "pow({d}, -0.5) * min(pow(datum.s, -0.5), datum.s * pow({w}, -1.5))"
    base = alt.Chart(alt.sequence(0, steps + 1, 100, as_="step")).transform_calculate(s="max(datum.step, 1)")
    base = base.transform_calculate(rate=rate.format(d="model_width", w="warmup"), paper=rate.format(d=512, w=4000))
    x = alt.X("step:Q", title="step", axis=alt.Axis(format=",d", values=list(range(0, steps + 1, 5000))))
    limits = alt.Scale(domain=[0, 0.002], clamp=True)
    mine = base.mark_line(color=PALETTE["query"], strokeWidth=2.2, aria=False)
    paper = base.mark_line(color=PALETTE["residual"], strokeDash=[5, 3], aria=False)
    y = alt.Y("rate:Q", scale=limits, title="learning rate", axis=alt.Axis(format=".4f"))
    peak = base.transform_filter("datum.step == warmup")
    dot = peak.transform_calculate(told="'peak at step ' + datum.step + ': ' + format(datum.rate, '.7f')")
    dot = dot.mark_point(size=80, filled=True, color=PALETTE["accent"])
    dot = dot.encode(x=x, y=y, description=alt.Description("told:N"))
    text = peak.mark_text(dy=-14, fontWeight="bold", color=PALETTE["accent"], aria=False)
    text = text.encode(x=x, y=y, text=alt.Text("rate:Q", format=".5f"))
    layers = alt.layer(paper.encode(x=x, y=alt.Y("paper:Q", scale=limits)), mine.encode(x=x, y=y), dot, text)
    return figure(
        layers.properties(width=280, height=210, title="dashed: the base model, D = 512, W = 4,000"),
        controls=[width, warmup],
        words="""A warm-up climbs in a straight line, then the rate falls. The learning rate against the step:
        straight up to the warm-up step, then falling with the root of the step. A longer warm-up moves the peak
        right and down, a larger width lowers the whole curve. After the longer of two warm-ups the curves of equal
        width are one. A dashed line shows the base model of the paper.""",
    )
