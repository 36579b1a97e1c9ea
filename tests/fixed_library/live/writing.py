"""Live figures of a model that writes: what is drawn from, a beam on a tree, the key-value cache step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np

from coursekit.diagrams import PALETTE
from coursekit.live.figure import LiveFigure, choice, figure, slider
from coursekit.live.weights import softmax

_SEEN: dict[str, Any] = {"fontSize": 11, "aria": False}


def sampling(logits: Sequence[float], words: Sequence[str]) -> LiveFigure:
    """A distribution over V words after temperature and a cut, beside the one as it is.

    Top-k keeps the k most probable words (Fan et al. 2018), top-p the fewest that reach p together (Holtzman et al.
    2020); of ties at the cut all stay.

    Args:
        logits: of the next word, (V,).
        words: the V words, different from each other.
    """
    heat = slider("temperature", "temperature τ", 0.1, 3, 0.1, 1)
    cut = choice("cut", "keep:", ["all words", "top-k", "top-p"])
    k = slider("k", "k", 1, len(words), 1, 2)
    p = slider("p", "p", 0.05, 1, 0.05, 0.9)
    rows = [
        {"word": word, "logit": round(float(z), 6), "at_one": round(float(q), 6), "all": 1}
        for word, z, q in zip(words, logits, np.exp(logits) / np.exp(logits).sum(), strict=True)
    ]
    base = alt.Chart(alt.Data(values=rows)).transform_calculate(z="datum.logit / temperature")
    base = softmax(base, "z", "probability", ["all"])
    falling = [alt.SortField("probability", order="descending")]
    base = base.transform_window(rank="row_number()", reached="sum(probability)", sort=falling, frame=[None, 0])
    base = base.transform_calculate(
        inside="cut == 'top-k' ? datum.rank <= k : cut == 'top-p' ? datum.reached - datum.probability < p - 1e-9 : true"
    )
    base = base.transform_calculate(candidate="datum.inside ? datum.probability : 1")
    base = base.transform_joinaggregate(least="min(candidate)")
    base = base.transform_calculate(kept="datum.probability >= datum.least ? datum.probability : 0")
    base = base.transform_joinaggregate(left="sum(kept)")
    base = base.transform_calculate(drawn="datum.kept / datum.left")
    x = alt.X("word:N", sort=list(words), title=None, axis=alt.Axis(labelAngle=-45))
    limits = alt.Scale(domain=[0, 1])
    bars = base.mark_bar(color=PALETTE["key"]).encode(x=x, y=alt.Y("drawn:Q", scale=limits, title="probability"))
    before = base.mark_tick(color=PALETTE["ink"], thickness=2, aria=False)
    before = before.encode(x=x, y=alt.Y("at_one:Q", scale=limits, title="probability"))
    numbers = base.mark_text(dy=-7, **_SEEN).encode(x=x, y="drawn:Q", text=alt.Text("drawn:Q", format=".2f"))
    return figure(
        alt.layer(bars, before, numbers).properties(
            width=280, height=200, title="bars: drawn from; lines: the model's own"
        ),
        controls=[heat, cut, k, p],
        words="""Bars of the probabilities that the next word is drawn from, with a line where the model's own
        probability lies. A low temperature makes the largest bar larger, a high one makes all bars more equal.
        Top-k keeps a fixed number of words; top-p keeps fewer words when the distribution is sharp. The bars that
        are left sum to one again.""",
    )


def beam(tree: Mapping[str, tuple[float, Mapping[str, float]]]) -> LiveFigure:
    """Beam search on a tree of two-word sentences; its width and the first word's probability move.

    Args:
        tree: first word → (its probability, {second word: its probability after the first}).
    """
    first_word, (start, _) = next(iter(tree.items()))
    width = slider("beam_width", "width of the beam", 1, len(tree), 1, 1)
    share = slider("share", f"probability of “{first_word}”", 0.05, 0.95, 0.05, start)
    rows: list[dict[str, Any]] = []
    place = 0
    for number, (first, (p_first, seconds)) in enumerate(tree.items()):
        middle = place + (len(seconds) - 1) / 2
        for second, p_second in seconds.items():
            row = {"first": first, "second": second, "p_first": p_first, "p_second": p_second}
            rows.append(row | {"number": number, "y": place, "middle": middle})
            place += 1
    base = alt.Chart(alt.Data(values=rows)).transform_calculate(
        p1=f"datum.number == 0 ? share : datum.p_first * (1 - share) / {1 - start}"
    )
    base = base.transform_calculate(order="datum.p1 - 1e-9 * datum.number", p="datum.p1 * datum.p_second")
    base = base.transform_window(rank_first="dense_rank()", sort=[alt.SortField("order", order="descending")])
    base = base.transform_calculate(candidate="datum.rank_first <= beam_width ? datum.p : 0")
    base = base.transform_window(rank="row_number()", sort=[alt.SortField("candidate", order="descending")])
    base = base.transform_joinaggregate(best="max(p)")
    base = base.transform_calculate(
        state="datum.rank == 1 ? 'what it writes' : datum.rank_first <= beam_width && datum.rank <= beam_width ? 'kept'"
        " : 'dropped'",
        state_first="datum.rank_first <= beam_width ? 'kept' : 'dropped'",
        sentence="datum.first + ' ' + datum.second + '  ' + format(datum.p, '.3f')"
        " + (datum.p == datum.best ? '  ★' : '')",
        beginning="datum.first + '  ' + format(datum.p1, '.2f')",
        one="1",
        two="2",
        zero="0.25",
        root=str((place - 1) / 2),
    )
    states = alt.Scale(
        domain=["what it writes", "kept", "dropped"], range=[PALETTE["accent"], PALETTE["query"], PALETTE["residual"]]
    )
    legend = alt.Legend(title=None, orient="bottom")
    across = alt.Scale(domain=[0, 2.75])
    down = alt.Scale(domain=[-0.6, place - 0.4], reverse=True)

    def x(field: str) -> alt.X:
        return alt.X(f"{field}:Q", scale=across, axis=None)

    def y(field: str) -> alt.Y:
        return alt.Y(f"{field}:Q", scale=down, axis=None)

    firsts = base.transform_aggregate(
        groupby=["first", "beginning", "state_first", "middle", "one", "zero", "root", "p1"], leaves="count()"
    )
    colour_first = alt.Color("state_first:N", scale=states, legend=legend)
    colour = alt.Color("state:N", scale=states, legend=legend)
    thick = alt.StrokeWidth("p1:Q", scale=alt.Scale(domain=[0, 1], range=[1, 6]), legend=None)
    thin = alt.StrokeWidth("p_second:Q", scale=alt.Scale(domain=[0, 1], range=[1, 6]), legend=None)
    roots = firsts.mark_rule(aria=False).encode(
        x=x("zero"), x2="one:Q", y=y("root"), y2="middle:Q", color=colour_first, strokeWidth=thick
    )
    twigs = base.mark_rule(aria=False).encode(
        x=x("one"), x2="two:Q", y=y("middle"), y2="y:Q", color=colour, strokeWidth=thin
    )
    boxes: dict[str, Any] = {"filled": True, "opacity": 1, "size": 120}
    nodes = firsts.mark_point(**boxes).encode(
        x=x("one"), y=y("middle"), color=colour_first, description=alt.Description("beginning:N")
    )
    leaves = base.mark_point(shape="square", **boxes).encode(
        x=x("two"), y=y("y"), color=colour, description=alt.Description("told:N")
    )
    leaves = leaves.transform_calculate(told="datum.sentence + ', ' + datum.state")
    above = firsts.mark_text(dy=-13, **_SEEN).encode(x=x("one"), y=y("middle"), text="beginning:N")
    beside = base.mark_text(align="left", dx=10, **_SEEN).encode(x=x("two"), y=y("y"), text="sentence:N")
    return figure(
        alt.layer(roots, twigs, nodes, leaves, above, beside).properties(
            width=320, height=270, title="★ marks the most probable sentence"
        ),
        controls=[width, share],
        words="""A tree of two-word sentences with the probabilities of its branches. The sentence that the beam
        writes is red, what the beam keeps is blue, what it drops is grey, and a star marks the most probable
        sentence. Width one is greedy search: it follows the more probable first word and can miss the star. A wider
        beam keeps several beginnings.""",
    )


def cache(words: Sequence[str]) -> LiveFigure:
    """Writing step by step, with a key-value cache or everything again: what each step computes, and the sum so far.

    Args:
        words: the T tokens.
    """
    count = len(words)
    step = slider("step", "step", 1, count, 1, 3)
    how = choice("how", "keys and values:", ["computed again", "from the cache"])
    labels = [f"{place + 1} {word}" for place, word in enumerate(words)]
    cells = [{"query": labels[t], "key": labels[s], "t": t + 1, "s": s + 1} for t in range(count) for s in range(count)]
    again = "how == 'computed again'"
    base = alt.Chart(alt.Data(values=cells)).transform_calculate(
        state=f"max(datum.t, datum.s) > step || (datum.s > datum.t && !({again})) ? 'not computed'"
        f" : datum.t == step || {again} ? 'computed in this step' : 'not needed any more'"
    )
    x = alt.X("key:N", sort=labels, title="key", axis=alt.Axis(labelAngle=-45))
    y = alt.Y("query:N", sort=labels, title="query")
    states = alt.Scale(
        domain=["computed in this step", "taken from the cache", "not needed any more", "not computed"],
        range=[PALETTE["accent"], PALETTE["key"], PALETTE["mask"], PALETTE["neutral"]],
    )
    colour = alt.Color("state:N", scale=states, legend=alt.Legend(title=None, orient="bottom", columns=2))
    size = 30 * count
    scores = base.mark_rect(stroke="white").encode(x=x, y=y, color=colour)
    left = scores.properties(width=size, height=size, title="scores, query by key")
    tokens = alt.Chart(alt.Data(values=[{"key": label, "s": s + 1} for s, label in enumerate(labels)]))
    tokens = tokens.transform_calculate(
        state=f"datum.s > step ? 'not computed' : datum.s == step || {again} ? 'computed in this step'"
        " : 'taken from the cache'"
    )
    pairs = tokens.mark_rect(stroke="white").encode(x=alt.X("key:N", sort=labels, title=None, axis=None), color=colour)
    pairs = pairs.properties(width=size, height=24, title="a key and a value for each token")
    work = alt.Chart(alt.sequence(1, count + 1, as_="t")).transform_calculate(
        tokens=f"{again} ? datum.t : 1", scores=f"{again} ? datum.t * datum.t : datum.t"
    )
    work = work.transform_fold(["tokens", "scores"], as_=["what", "in_step"])
    work = work.transform_window(so_far="sum(in_step)", groupby=["what"], sort=[alt.SortField("t")], frame=[None, 0])
    work = work.transform_calculate(name="datum.what == 'tokens' ? 'tokens through the layers' : 'scores'")
    now = work.transform_filter("datum.t == step").transform_calculate(
        told="datum.name + ': ' + datum.in_step + ' in this step, ' + datum.so_far + ' so far'"
    )
    bars = (
        work.transform_filter("datum.t <= step")
        .mark_bar(color=PALETTE["query"])
        .encode(
            x=alt.X(
                "t:O", title="step", scale=alt.Scale(domain=list(range(1, count + 1))), axis=alt.Axis(labelAngle=0)
            ),
            y=alt.Y("in_step:Q", title="scores in this step"),
        )
    )
    bars = bars.transform_filter("datum.what == 'scores'").properties(width=240, height=130)
    text = now.mark_text(align="left", **_SEEN | {"fontSize": 12, "aria": True})
    text = text.encode(
        y=alt.Y("what:N", axis=None, sort=["tokens", "scores"]), x=alt.value(0), text="told:N",
        description=alt.Description("told:N"),
    ).properties(width=240, height=44)  # fmt: skip
    right = alt.vconcat(pairs, text, bars).resolve_scale(color="shared")
    return figure(
        left,
        right,
        controls=[step, how],
        words="""Left: the scores of the tokens written so far, query by key. Right: which keys and values are
        computed and which come from the cache, and the work of each step as bars. Without the cache every step
        computes all keys, values and scores again, and the work grows with the square of the length; with it a step
        computes one key, one value and one row of scores.""",
    )
