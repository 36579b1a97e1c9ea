"""Live figure of a model that learns from a reward: what it writes at each step, and how often."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt

from coursekit.lecture.diagrams import PALETTE
from coursekit.lecture.live.figure import LiveFigure, figure, slider

SHOWN = 5  # bodies of a step
_LONGEST = 34  # letters of a body


def answers(
    curves: Mapping[str, Sequence[float]], bodies: Sequence[Sequence[tuple[str, int]]], *, drawn: int = 64
) -> LiveFigure:
    """The commonest answers at a step of training, beside curves over all steps; it opens at the last.

    Args:
        curves: shares over the steps, by name; three at most.
        bodies: for each step the commonest answers with their counts, the commonest first.
        drawn: how many answers a step draws.

    Raises:
        ValueError: a curve has another number of steps than the bodies, or there are more than three.
    """
    steps = len(bodies)
    if len(curves) > 3 or any(len(curve) != steps for curve in curves.values()):
        raise ValueError(f"at most three curves of {steps} steps each")
    step = slider("step", "step", 1, steps, 1, steps)
    rows = [
        {"step": number, "rank": rank, "body": _short(body), "count": count}
        for number, some in enumerate(bodies, 1)
        for rank, (body, count) in enumerate(some[:SHOWN], 1)
    ]
    now = alt.Chart(alt.Data(values=rows)).transform_filter("datum.step == step")
    now = now.transform_calculate(told="datum.body + ': ' + datum.count + ' of " + str(drawn) + "'")
    y = alt.Y("rank:O", axis=None, scale=alt.Scale(domain=list(range(1, SHOWN + 1))))
    bars = now.mark_bar(color=PALETTE["query"], height=12, yOffset=10).encode(
        x=alt.X("count:Q", scale=alt.Scale(domain=[0, drawn]), title=f"of {drawn} answers drawn in this step"),
        y=y,
        description=alt.Description("told:N"),
    )
    names = now.mark_text(align="left", dy=-5, fontSize=11, aria=False).encode(x=alt.value(0), y=y, text="told:N")
    left = alt.layer(bars, names).properties(width=300, height=34 * SHOWN, title="the commonest answers")
    points = [
        {"step": number, "what": name, "share": round(float(value), 3)}
        for name, curve in curves.items()
        for number, value in enumerate(curve, 1)
    ]
    colours = alt.Scale(
        domain=list(curves), range=[PALETTE["key"], PALETTE["accent"], PALETTE["residual"]][: len(curves)]
    )
    base = alt.Chart(alt.Data(values=points))
    x = alt.X("step:Q", scale=alt.Scale(domain=[1, steps]), title="step", axis=alt.Axis(format="d"))
    lines = base.mark_line(strokeWidth=2.2, aria=False).encode(
        x=x,
        y=alt.Y("share:Q", scale=alt.Scale(domain=[0, 1]), title="share"),
        color=alt.Color("what:N", scale=colours, legend=alt.Legend(title=None, orient="bottom", columns=1)),
        strokeDash=alt.StrokeDash("what:N", scale=alt.Scale(domain=list(curves)), legend=None),
    )
    here = base.transform_filter("datum.step == step").transform_calculate(told="datum.what + ': ' + datum.share")
    dots = here.mark_point(size=60, filled=True, opacity=1).encode(
        x=x, y="share:Q", color=alt.Color("what:N", scale=colours), description=alt.Description("told:N")
    )
    right = alt.layer(lines, dots).properties(width=260, height=34 * SHOWN, title="over all steps")
    last, times = bodies[-1][0]
    ends = ", ".join(f"{name} from {curve[0]:.2f} to {curve[-1]:.2f}" for name, curve in curves.items())
    return figure(
        left,
        right,
        controls=[step],
        words=f"""Move the step and read what the model writes. Left, the commonest answers of a step as bars, of
        {drawn} that were drawn; right, shares over all {steps} steps: {ends}.
        The commonest answer of the last step is “{_short(last)}”, {times} of {drawn} times.""",
    )


def _short(body: str) -> str:
    return body if len(body) <= _LONGEST else body[: _LONGEST - 1] + "…"
