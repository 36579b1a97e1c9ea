"""A viewer for all heads of the course's small BERT, on sentences that the reader types."""

from __future__ import annotations

import functools
import importlib
import json
from typing import Any

import altair as alt
import numpy as np

from coursekit.lecture import bert
from coursekit.lecture.diagrams import PALETTE
from coursekit.lecture.live.figure import LiveFigure, blues, figure, menu, places

LONGEST = 20  # pieces of a sentence, [CLS] and [SEP] included; more of them cannot be read in a map
_SMALL, _LARGE = 56, 220  # pixels of a map's side
_FIRST = 10  # the head that is drawn large at first: head 2 of block 2, whose weight lies on the last piece


def heads(*sentences: str) -> LiveFigure:
    """The attention weights of all heads of the course's small BERT, on one sentence or several.

    Raises:
        ValueError: there is no sentence, or one has more than LONGEST pieces.
    """
    if not sentences:
        raise ValueError('heads needs a sentence, such as heads("the company said its profit rose")')
    read = {sentence: attention_of(sentence) for sentence in sentences}
    names = [
        f"block {block}, head {head}"
        for block, maps in enumerate(next(iter(read.values()))[1])
        for head in range(len(maps))
    ]
    rows: list[dict[str, Any]] = []
    for sentence, (_, weights) in read.items():
        for name, matrix in zip(names, weights.reshape(-1, *weights.shape[2:]), strict=True):
            rows += [
                {"sentence": sentence, "head": name, "i": i, "weight": row}
                for i, row in enumerate(np.round(matrix, 3).tolist())
            ]
    pieces = json.dumps({sentence: places(tokens) for sentence, (tokens, _) in read.items()}, ensure_ascii=False)
    longest = max(len(tokens) for tokens, _ in read.values())
    return figure(
        *_panels(rows, pieces, names, longest), controls=[menu("sentence", "sentence", sentences)], words=_WORDS
    )


_WORDS = """In the last block some heads put much of their weight on the last piece, [SEP], or on the first, [CLS].
Small maps of the attention weights, query by key, one for each head of the small BERT: blocks from top to bottom, heads
from left to right. The chosen head is drawn large with its pieces, and one row of it as bars. Some heads of the first
block show a line beside the diagonal, which is one neighbour; heads of the last block show a dark column at the last
piece or at the first. Head and row are chosen with the pointer or by the controls."""


def _panels(rows: list[dict[str, Any]], pieces: str, names: list[str], longest: int) -> list[Any]:
    head = alt.selection_point(
        name="head", fields=["head"], on="click", clear=False, empty=False, value=[{"head": names[_FIRST]}],
        bind=alt.binding_select(options=names, name="head "),
    )  # fmt: skip
    row = alt.selection_point(
        name="row", fields=["i"], on="mouseover", clear=False, empty=False, value=[{"i": 1}],
        bind=alt.binding_range(min=0, max=longest - 1, step=1, name="query, position "),
    )  # fmt: skip
    base = alt.Chart(alt.Data(values=rows)).transform_filter("datum.sentence == sentence")
    base = base.transform_calculate(key=f"({pieces})[datum.sentence]", j="sequence(length(datum.weight))")
    base = base.transform_calculate(query="datum.key[datum.i]").transform_flatten(["key", "j", "weight"])
    place: dict[str, Any] = {"axis": None, "scale": alt.Scale(paddingInner=0, paddingOuter=0)}
    colour = alt.Color("weight:Q", scale=blues(0, 1), legend=None)
    small = base.mark_rect(aria=False).encode(x=alt.X("j:O", **place), y=alt.Y("i:O", **place), color=colour)
    small = small.encode(opacity=alt.when(head).then(alt.value(1)).otherwise(alt.value(0.75)))
    header = alt.Header(title=None, labelFontSize=9, labelPadding=2)
    overview = small.properties(width=_SMALL, height=_SMALL).add_params(head)
    overview = overview.facet(alt.Facet("head:N", sort=names, header=header), columns=4, spacing=8)
    overview = overview.properties(title="all heads: choose one")

    by_place = alt.EncodingSortField("j", op="min")
    chosen = base.transform_filter(head)
    x = alt.X("key:N", sort=by_place, title="key: attended to", axis=alt.Axis(labelAngle=-60))
    y = alt.Y("query:N", sort=alt.EncodingSortField("i", op="min"), title="query: attends from")
    cells = chosen.mark_rect().encode(x=x, y=y, color=colour).add_params(row)
    frame = chosen.transform_filter(row).transform_filter("datum.j == 0")
    frame = frame.mark_rect(fill=None, stroke=PALETTE["accent"], strokeWidth=2, aria=False).encode(y=y)
    large = alt.layer(cells, frame).properties(width=_LARGE, height=_LARGE, title="the chosen head")

    share = alt.X("weight:Q", scale=alt.Scale(domain=[0, 1.15]), axis=alt.Axis(values=[0, 0.5, 1]), title="weight")
    key = alt.Y("key:N", sort=by_place, title=None)
    one = chosen.transform_filter(row)
    bars = one.mark_bar(color=PALETTE["query"]).encode(x=share, y=key)
    numbers = one.mark_text(align="left", dx=3, fontSize=10, aria=False)
    numbers = numbers.encode(x=share, y=key, text=alt.Text("weight:Q", format=".2f"))
    panel = alt.layer(bars, numbers).properties(width=200, height=_LARGE, title="the framed row")
    return [overview, large, panel]


def attention_of(sentence: str) -> tuple[list[str], np.ndarray]:
    """The pieces (T,) of a sentence, and the weights (L, H, T, T) of all heads of the course's small BERT.

    A SavedModel returns no weights; they follow from its matrices as in lecture 7: normalise, project, scale, softmax.

    Raises:
        ValueError: it has more than LONGEST pieces.
    """
    pieces, states = tokens_by_block(sentence)
    _, _, matrices = _small_bert()
    weights = []
    for block, state in enumerate(states[:-1]):
        x = _normed(state, matrices, f"norm_1_{block}")
        q, k = (
            np.einsum("td,dhk->htk", x, matrices[f"attention_{block}/{part}/kernel"])
            + matrices[f"attention_{block}/{part}/bias"][:, None]
            for part in ("query", "key")
        )  # (H, T, K) each
        scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])  # (H, T, T)
        exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights.append(exponentials / exponentials.sum(axis=-1, keepdims=True))
    return pieces, np.stack(weights)


def tokens_by_block(sentence: str) -> tuple[list[str], np.ndarray]:
    """The pieces (T,) of a sentence, and their vectors (L + 1, T, D) in the small BERT: at its start, after each block.

    Raises:
        ValueError: it has more than LONGEST pieces.
    """
    preprocess, encoder, matrices = _small_bert()
    cut = preprocess.tokenize([sentence])
    length = int(cut.merge_dims(1, 2).row_lengths()[0]) + 2  # [CLS] and [SEP]
    if length > LONGEST:
        raise ValueError(f"this sentence has {length} pieces, more than {LONGEST}: {sentence!r}; take a shorter one")
    row = preprocess.bert_pack_inputs([cut], seq_length=length)
    ids = np.asarray(row["input_word_ids"])[0]  # (T,)
    vocabulary = (bert.FOLDER / "preprocess" / "assets" / "vocab.txt").read_text("utf-8").split("\n")
    start = matrices["words/embeddings"][ids] + matrices["segments/embeddings"][0]
    start = _normed(start + matrices["positions/table"][:length], matrices, "embedding_norm")  # (T, D)
    after = [np.asarray(state)[0] for state in encoder(row)["encoder_outputs"]]  # L times (T, D)
    return [vocabulary[number] for number in ids], np.stack([start, *after])


def position_table() -> np.ndarray:
    """The learned position vectors (positions, D) of the small BERT."""
    return _small_bert()[2]["positions/table"]


def _normed(x: np.ndarray, matrices: dict[str, np.ndarray], name: str) -> np.ndarray:
    x = (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-6)
    return x * matrices[f"{name}/gamma"] + matrices[f"{name}/beta"]


@functools.cache
def _small_bert() -> tuple[Any, Any, dict[str, np.ndarray]]:
    """Both halves of the small BERT, loaded once, and the second one's matrices by name.

    Always those of the course, whatever handles a notebook has put in their place: other encoders have other names.
    """
    import tensorflow as tf

    importlib.import_module("tensorflow_text")  # the preprocessing needs its operations

    encoder = tf.saved_model.load(str(bert.FOLDER / "encoder"))
    matrices = {variable.name.split(":")[0]: variable.numpy() for variable in encoder.variables}
    return tf.saved_model.load(str(bert.FOLDER / "preprocess")), encoder, matrices
