"""Lab 08, decoder and masking: the exercises, their cases and the mistakes that are named."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from autograder.exercise import Case, Exercise, Group, Misconception
from autograder.exercises.drawing import normal, partial_mask
from autograder.oracles import decoder_and_masking as oracles

Flags = Mapping[str, Any]

# ---- masks and shifted targets ----


def _ids(rng: np.random.Generator, batch: int, length: int, *, words: int = 13, pad: int = 0) -> np.ndarray:
    """Token ids with padding: rows end in padding of different lengths, and one row has some in the middle."""
    ids = rng.integers(1, words, size=(batch, length)).astype("int32")
    ids = np.where(ids == pad, words, ids).astype("int32")
    for row in range(1, batch):
        ids[row, length - row % (length - 1) :] = pad
    ids[0, length // 2] = pad
    return ids


def _causal(*lengths: int):
    return lambda rng: [Case({"length": length}) for length in lengths]


def _causal_drawn(rng: np.random.Generator) -> list[Case]:
    return [Case({"length": int(length)}) for length in (*rng.choice(np.arange(4, 12), size=2, replace=False), 1)]


def _padded(rng: np.random.Generator) -> list[Case]:
    whole = _ids(rng, 2, 5)
    whole[1] = 0
    return [
        Case({"ids": _ids(rng, 3, 7)}, how="ids (3, 7), padded at the end and in the middle"),
        Case({"ids": whole}, how="ids (2, 5), one sentence is padding alone"),
    ]


def _padded_otherwise(rng: np.random.Generator) -> list[Case]:
    pad = int(rng.integers(2, 9))
    ids = _ids(rng, 3, 7, pad=pad)
    ids[1, 0] = 0  # an ordinary token here
    return [Case({"ids": ids, "pad_id": pad}, how=f"ids (3, 7), pad_id={pad}")]


def _padded_types(rng: np.random.Generator) -> list[Case]:
    return [
        Case({"ids": _ids(rng, 3, 5)}, mode="tensor", how="a TensorFlow tensor of int32"),
        Case({"ids": _ids(rng, 2, 7).astype("int64")}, how="a NumPy array of int64"),
    ]


def _joined(*masks: np.ndarray | None, how: str = "", mode: str = "call") -> Case:
    shapes = " and ".join("None" if mask is None else str(mask.shape) for mask in masks)
    named = {f"mask_{number}": mask for number, mask in enumerate(masks, 1)}
    return Case({"count": len(masks), **named}, mode=mode, how=how or f"masks {shapes}")


def _two_masks(rng: np.random.Generator) -> list[Case]:
    """Random masks and not the usual ones, so that no shortcut for a causal mask helps."""
    return [
        _joined(partial_mask(rng, 5, 5), partial_mask(rng, 3, 1, 5)),
        _joined(partial_mask(rng, 2, 1, 7), partial_mask(rng, 2, 5, 7)),
        _joined(partial_mask(rng, 7), partial_mask(rng, 2, 3, 5, 7)),
    ]


def _other_counts(rng: np.random.Generator) -> list[Case]:
    return [
        _joined(
            partial_mask(rng, 5, 5), partial_mask(rng, 3, 1, 5), np.array([[[True], [True], [False], [True], [True]]])
        ),
        _joined(partial_mask(rng, 3, 1, 5)),
    ]


def _left_out(rng: np.random.Generator) -> list[Case]:
    return [
        _joined(None, partial_mask(rng, 5, 5), partial_mask(rng, 3, 1, 5)),
        _joined(partial_mask(rng, 3, 1, 5), None),
        _joined(None, None),
        _joined(how="no mask at all"),
    ]


def _mask_types(rng: np.random.Generator) -> list[Case]:
    ones = partial_mask(rng, 5, 5).astype("int32")
    return [
        _joined(ones, partial_mask(rng, 3, 1, 5), how="one mask of int32, one of bool"),
        _joined(partial_mask(rng, 5, 5), partial_mask(rng, 3, 1, 5), mode="tensor", how="TensorFlow tensors"),
    ]


def _shifted(rng: np.random.Generator) -> list[Case]:
    start = int(rng.integers(2, 6))
    inputs = {"ids": _ids(rng, 3, 5), "start_id": start}
    return [
        Case(inputs, how=f"ids (3, 5), start_id={start}"),
        Case({"ids": _ids(rng, 2, 7).astype("int64"), "start_id": 11}, how="ids (2, 7) of int64, start_id=11"),
    ]


def _shifted_edges(rng: np.random.Generator) -> list[Case]:
    square = rng.integers(1, 13, size=(5, 5)).astype("int32")
    return [
        Case({"ids": square[:3, :1], "start_id": 17}, how="ids (3, 1): one token each"),
        Case({"ids": square, "start_id": 17}, mode="tensor", how="ids (5, 5), a TensorFlow tensor"),
    ]


# ---- the decoder block ----


def _weights(
    rng: np.random.Generator, shapes: Mapping[str, tuple[int, ...]], scale: float = 0.5, spread: float = 0.5
) -> np.ndarray:
    """Weights end to end: γ around 1, all others around 0."""
    pieces = []
    for name, shape in shapes.items():
        width = scale if "kernel" in name or name == "embedding" else spread * min(1, scale)
        pieces.append(float(name.endswith("gamma")) + width * rng.normal(size=math.prod(shape)))
    return np.concatenate(pieces).astype("float32")


def _block_inputs(
    rng: np.random.Generator,
    *,
    batch: int = 2,
    length: int = 5,
    memory: int = 7,
    sizes: tuple[int, int, int] = (15, 3, 11),
    scale: float = 0.5,
    spread: float = 1.5,
    dropout: float | None = 0.3,
) -> dict:
    inputs: dict[str, Any] = dict(zip(("d_model", "num_heads", "d_ff"), sizes, strict=True))
    inputs |= {} if dropout is None else {"dropout": dropout}
    return {
        **inputs,
        "x": (spread * rng.normal(size=(batch, length, sizes[0]))).astype("float32"),
        "memory": (spread * rng.normal(size=(batch, memory, sizes[0]))).astype("float32"),
        "weights": _weights(rng, oracles.decoder_block_shapes(*sizes), scale),
    }


SMALL = (6, 2, 5)


def _block_values(rng: np.random.Generator) -> list[Case]:
    return [
        Case(_block_inputs(rng), how="x (2, 5, 15), memory (2, 7, 15), num_heads=3, d_ff=11"),
        Case(
            _block_inputs(rng, sizes=SMALL, batch=3, length=7, memory=5),
            how="x (3, 7, 6), memory (3, 5, 6), num_heads=2, d_ff=5",
        ),
    ]


def _block_prefix(rng: np.random.Generator) -> list[Case]:
    cases = []
    for cut in (1, 3):
        how = f"five tokens, and the first {cut if cut > 1 else 'one'} of them alone"
        cases.append(Case({**_block_inputs(rng), "cut": cut}, mode="prefix", how=how))
    return cases


def _block_masked(rng: np.random.Generator) -> list[Case]:
    cases = []
    for shape, dtype in (((2, 1, 7), "bool"), ((5, 7), "int32"), ((2, 5, 7), "float32")):
        mask = partial_mask(rng, *shape).astype(dtype)
        cases.append(Case({**_block_inputs(rng), "memory_mask": mask}, how=f"memory_mask {shape} of {dtype}"))
    mask = partial_mask(rng, 2, 1, 7)
    mask[1] = False
    how = "memory_mask (2, 1, 7), one source is padding alone"
    return [*cases, Case({**_block_inputs(rng), "memory_mask": mask}, how=how)]


def _block_epsilon(rng: np.random.Generator) -> list[Case]:
    return [Case(_block_inputs(rng, scale=0.02, spread=0.01), how="tokens whose features hardly differ")]


def _block_dropout(rng: np.random.Generator) -> list[Case]:
    erased = "each dropout set to erase a third of the features"
    many: dict[str, Any] = {"batch": 5, "length": 41, "sizes": SMALL}
    return [
        Case(_block_inputs(rng), mode="training", how=f"training=True, {erased}"),
        Case(_block_inputs(rng), mode="inference", how=f"training=False, {erased}"),
        Case(
            _block_inputs(rng, **many),
            mode="dropped",
            how="dropout=0.3, called with training=True and False",
            property="drops at its rate",
        ),
        Case(
            _block_inputs(rng, **many, dropout=None),
            mode="dropped",
            how="dropout as it is by default, called with training=True and False",
            property="drops at its rate",
        ),
    ]


def _block_parameters(rng: np.random.Generator) -> list[Case]:
    how = "trainable parameters, d_model=15, num_heads=3, d_ff=11"
    return [Case(_block_inputs(rng), mode="parameters", how=how)]


def _block_training(rng: np.random.Generator) -> list[Case]:
    inputs = _block_inputs(rng, sizes=SMALL, length=3, memory=4)
    inputs |= {"weighting": normal(rng, 2, 3, 6), "direction_x": normal(rng, 2, 3, 6)}
    inputs |= {"direction_memory": normal(rng, 2, 4, 6), "direction": normal(rng, len(inputs["weights"]))}
    return [
        Case(_block_inputs(rng), mode="graph", how="inside tf.function, batch size and lengths unknown"),
        Case(inputs, mode="slopes", how="gradients, compared with numerical ones"),
    ]


# ---- the Transformer ----


def _model_inputs(
    rng: np.random.Generator,
    num_layers: int = 1,
    *,
    source: tuple[int, int] = (2, 7),
    length: int = 5,
    dropout: float | None = 0.3,
    scale: float = 0.4,
) -> dict:
    sizes = {"num_layers": num_layers, "d_model": 10, "num_heads": 2, "d_ff": 7, "vocab_size": 13, "max_length": 11}
    shapes = oracles.transformer_shapes(10, 2, 7, 13)
    return {
        **sizes,
        **({} if dropout is None else {"dropout": dropout}),
        "source": rng.integers(1, 13, size=source).astype("int32"),
        "target": rng.integers(1, 13, size=(source[0], length)).astype("int32"),
        "weights": _weights(rng, shapes, scale, 0.6),
    }


def _model_embedding(rng: np.random.Generator) -> list[Case]:
    return [
        Case(_model_inputs(rng, 0), how="num_layers=0: embedding, positions and output alone, target_in (2, 5)"),
        Case(_model_inputs(rng, 0, source=(3, 5), length=11), how="num_layers=0, target_in (3, 11), max_length=11"),
    ]


def _model_values(rng: np.random.Generator) -> list[Case]:
    return [
        Case(_model_inputs(rng), how="one layer, source (2, 7), target_in (2, 5)"),
        Case(_model_inputs(rng, 2, source=(3, 5), length=7), how="two layers, source (3, 5), target_in (3, 7)"),
    ]


def _model_padding(rng: np.random.Generator) -> list[Case]:
    ended, everywhere, empty = (_model_inputs(rng, source=(3, 7)) for _ in range(3))
    ended["source"][0, 4:] = ended["source"][1, 2:] = 0
    everywhere["source"][0, 0] = everywhere["source"][1, 2:4] = everywhere["source"][2, 6] = 0
    everywhere["target"][0, 3:] = 0
    empty["source"][1, 5:] = empty["source"][2] = 0
    return [
        Case(ended, how="source (3, 7), two of the sentences padded"),
        Case(everywhere, how="padding in the source at other places, and at the end of target_in"),
        Case(empty, how="source (3, 7), one source is padding alone"),
    ]


def _model_prefix(rng: np.random.Generator) -> list[Case]:
    return [
        Case(
            {**_model_inputs(rng), "cut": cut},
            mode="prefix",
            how=f"target_in of five tokens, and the first {cut} alone",
        )
        for cut in (2, 4)
    ]


def _model_dropout(rng: np.random.Generator) -> list[Case]:
    erased = "every Dropout set to erase a third of the features"
    return [
        Case(_model_inputs(rng), mode="training", how=f"training=True, dropout=0.3, {erased}"),
        Case(_model_inputs(rng), mode="inference", how=f"training=False, {erased}"),
        Case(_model_inputs(rng, 0, dropout=None), mode="training", how="num_layers=0, dropout as it is by default"),
    ]


def _model_parameters(rng: np.random.Generator) -> list[Case]:
    how = "trainable parameters, d_model=10, num_heads=2, d_ff=7, 13 words"
    return [Case(_model_inputs(rng, layers), mode="parameters", how=f"{how}, num_layers={layers}") for layers in (1, 2)]


def _model_training(rng: np.random.Generator) -> list[Case]:
    inputs = _model_inputs(rng, source=(2, 4), length=3)
    inputs |= {"weighting": normal(rng, 2, 3, 13), "direction": normal(rng, len(inputs["weights"]))}
    return [
        Case(_model_inputs(rng), mode="graph", how="inside tf.function, batch size and lengths unknown"),
        Case(inputs, mode="slopes", how="gradients of each kind of weight, compared with numerical ones"),
    ]


# ---- distributions ----


def _distribution(rng: np.random.Generator, size: int, zeros: int = 0, dtype: str = "float64") -> np.ndarray:
    p = rng.dirichlet(np.full(size, 0.8)) + 0.01
    p[rng.choice(size, size=zeros, replace=False)] = 0
    return (p / p.sum()).astype(dtype)


def _pairs(*sizes: int):
    def draw(rng: np.random.Generator) -> list[Case]:
        return [Case({"p": _distribution(rng, size), "q": _distribution(rng, size)}) for size in sizes]

    return draw


def _zeros_in_p(rng: np.random.Generator) -> list[Case]:
    one_hot = np.zeros(7)
    one_hot[int(rng.integers(7))] = 1
    both = _distribution(rng, 7, zeros=2)
    other = np.where(both == 0, 0, _distribution(rng, 7))
    return [
        Case({"p": one_hot, "q": _distribution(rng, 7)}, how="p one-hot (7,), no zero in q"),
        Case({"p": both, "q": other / other.sum()}, how="p and q (7,) are 0 at the same places"),
    ]


def _zeros_in_q(rng: np.random.Generator) -> list[Case]:
    p, q = _distribution(rng, 5), _distribution(rng, 5, zeros=1)
    second = np.where(np.arange(7) < 2, 0, _distribution(rng, 7))
    other = np.where((np.arange(7) > 0) & (np.arange(7) < 5), _distribution(rng, 7), 0)
    return [
        Case({"p": p, "q": q}, how="q (5,) is 0 once where p is positive"),
        Case({"p": second / second.sum(), "q": other / other.sum()}, how="p and q (7,) are 0 at different places"),
    ]


def _pair_types(rng: np.random.Generator) -> list[Case]:
    return [
        Case({"p": _distribution(rng, 7, dtype="float32"), "q": _distribution(rng, 7, dtype="float32")}, mode="tensor",
             how="TensorFlow tensors of float32"),
        Case({"p": _distribution(rng, 5), "q": _distribution(rng, 5)}, mode="tensor", how="TensorFlow tensors of float64"),
    ]  # fmt: skip


def _extreme_pairs(rng: np.random.Generator) -> list[Case]:
    p, q = np.zeros(5), np.zeros(5)
    p[:2], q[2:] = _distribution(rng, 2), _distribution(rng, 3)
    return [
        Case({"p": p, "q": q}, how="p and q (5,) have no word in common"),
        Case({"p": _distribution(rng, 7, zeros=3), "q": _distribution(rng, 7, zeros=2)}, how="zeros in p and in q"),
    ]


# ---- the loss ----


def _loss_inputs(rng: np.random.Generator, batch: int = 3, length: int = 5, words: int = 7, scale: float = 2.0) -> dict:
    targets = rng.integers(1, words, size=(batch, length)).astype("int32")
    for row in range(batch):
        targets[row, length - row * (length - 1) // batch :] = 0
    return {"logits": (scale * rng.normal(size=(batch, length, words))).astype("float32"), "targets": targets}


def _loss_values(rng: np.random.Generator) -> list[Case]:
    wide = _loss_inputs(rng, 2, 7, 11)
    return [
        Case(_loss_inputs(rng), how="logits (3, 5, 7), sentences of different lengths"),
        Case({**wide, "targets": wide["targets"].astype("int64")}, how="logits (2, 7, 11), targets of int64"),
    ]


def _loss_padding(rng: np.random.Generator) -> list[Case]:
    other, empty = _loss_inputs(rng), _loss_inputs(rng)
    other["targets"] = np.where(other["targets"] == 4, 0, other["targets"]).astype("int32")
    other["targets"][0, 0], other["targets"][1, 1] = 4, 0
    empty["targets"][1] = 0
    return [
        Case({**other, "pad_id": 4}, how="logits (3, 5, 7), pad_id=4"),
        Case(empty, how="logits (3, 5, 7), one sentence is padding alone"),
    ]


def _loss_smoothing(rng: np.random.Generator) -> list[Case]:
    cases = []
    for epsilon in (0.1, 0.3):
        inputs = {**_loss_inputs(rng), "label_smoothing": epsilon}
        cases.append(Case(inputs, how=f"logits (3, 5, 7), label_smoothing={epsilon}"))
    both = {**_loss_inputs(rng), "pad_id": 2, "label_smoothing": 0.2}
    return [*cases, Case(both, how="logits (3, 5, 7), pad_id=2, label_smoothing=0.2")]


def _loss_large(rng: np.random.Generator) -> list[Case]:
    return [
        Case(_loss_inputs(rng, scale=1000), how="logits (3, 5, 7) in the thousands"),
        Case({**_loss_inputs(rng, scale=1000), "label_smoothing": 0.1}, how="the same with label_smoothing=0.1"),
    ]


def _loss_training(rng: np.random.Generator) -> list[Case]:
    smooth = {**_loss_inputs(rng), "label_smoothing": 0.1}
    return [
        Case(_loss_inputs(rng), mode="tensor", how="TensorFlow tensors"),
        Case(smooth, mode="graph", how="inside tf.function, batch size and length unknown, label_smoothing=0.1"),
        Case(smooth, mode="derivative", how="gradient with respect to the logits, label_smoothing=0.1"),
    ]


# ---- the schedule ----


def _schedule(*steps: tuple[int, ...]):
    """Small widths and short warm-ups, so that the rates are large beside the rounding."""

    def draw(rng: np.random.Generator) -> list[Case]:
        cases = []
        for low, high in steps:
            sizes = {"d_model": int(rng.integers(2, 9)), "warmup_steps": int(rng.integers(11, 20))}
            cases.append(Case({"step": int(rng.integers(low, high)), **sizes}))
        return cases

    return draw


def _schedule_edges(rng: np.random.Generator) -> list[Case]:
    sizes = {"d_model": int(rng.integers(2, 9)), "warmup_steps": int(rng.integers(2, 5))}
    return [
        Case({"step": 0, **sizes}),
        Case({"step": 1, **sizes}),
        Case({"step": sizes["warmup_steps"], **sizes}),
        Case({"step": int(rng.integers(3000, 5000)), "d_model": 2}, how="warmup_steps as it is by default"),
    ]


# ---- decoding ----


def _log_softmax(scores: np.ndarray) -> np.ndarray:
    shifted = scores - scores.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


def _table(
    rng: np.random.Generator, words: int, kind: str, *, rows: int = 23, end_id: int = 1, end: float = 0.0
) -> np.ndarray:
    """Log-probabilities of the next token for a `table_step`; a large `end` makes the end id more probable."""
    scores = 1.5 * rng.normal(size=(words if kind == "last token" else rows, words))
    scores[:, end_id] += end
    return _log_softmax(scores)


def _search(
    rng: np.random.Generator,
    *,
    words: int = 5,
    kind: str = "all tokens",
    end: float = 0.0,
    max_length: int = 6,
    width: int | None = None,
    penalty: float | None = None,
    table: np.ndarray | None = None,
) -> dict:
    start, end_id = rng.choice(words, size=2, replace=False)
    inputs: dict[str, Any] = {
        "table": _table(rng, words, kind, end_id=end_id, end=end) if table is None else table,
        "kind": kind,
        "start_id": int(start),
        "end_id": int(end_id),
        "max_length": max_length,
    }
    inputs |= {} if width is None else {"beam_width": width}
    return inputs | ({} if penalty is None else {"length_penalty": penalty})


def _until(make: Callable[[], dict], accept: Callable[[dict], bool], tries: int = 5000) -> dict:
    """Draw inputs until they are accepted."""
    for _ in range(tries):
        inputs = make()
        if accept(inputs):
            return inputs
    raise RuntimeError("no inputs of the wanted kind were drawn")


def _greedy(inputs: Mapping[str, Any], **flags: Any) -> str:
    wanted = {key: inputs[key] for key in ("table", "kind", "start_id", "end_id", "max_length")}
    return oracles.greedy_decode(**wanted, **flags)["tokens"]


def _greedy_values(rng: np.random.Generator) -> list[Case]:
    """Sentences of several tokens that end by themselves, and that the whole prefix decides."""

    def ends(inputs: dict) -> bool:
        tokens = _greedy(inputs)
        changed = [{"handed": "last"}, {"handed": "without start"}, {"stop": False}, {"choice": "smallest"}]
        return 3 < tokens.count(",") < 7 and all(_greedy(inputs, **flags) != tokens for flags in changed)

    inputs = [_until(lambda words=words: _search(rng, words=words, max_length=9), ends) for words in (5, 7)]
    last = _until(
        lambda: _search(rng, words=7, kind="last token", max_length=9),
        lambda each: 2 < _greedy(each).count(",") < 7,
    )
    return [
        Case(inputs[0], how="5 tokens, max_length=9"),
        Case(inputs[1], how="7 tokens, max_length=9"),
        Case(last, how="7 tokens, the last one decides about the next, max_length=9"),
    ]


def _greedy_limits(rng: np.random.Generator) -> list[Case]:
    never = _until(
        lambda: _search(rng, words=7, end=-3.0, max_length=5),
        lambda each: _greedy(each).count(",") == 4 and not _greedy(each).endswith(f" {each['end_id']}]"),
    )
    first = _until(lambda: _search(rng, words=5, end=3.0), lambda each: _greedy(each).count(",") == 1)
    return [
        Case(never, how="the end id never comes, max_length=5"),
        Case(first, how="the end id comes first"),
        Case({**never, "max_length": 1}, how="max_length=1: only the start id has a place"),
    ]


def _greedy_ties(rng: np.random.Generator) -> list[Case]:
    """Two tokens share the first place in every row; the others are impossible."""

    def make() -> dict:
        scores = np.full((23, 7), -np.inf)
        for row in scores:
            row[rng.choice(7, size=2, replace=False)] = math.log(0.5)
        return _search(rng, words=7, max_length=6, table=scores)

    tied = _until(
        make, lambda each: _greedy(each) != _greedy(each, choice="last of ties") and _greedy(each).count(",") > 2
    )
    return [Case(tied, how="two tokens tie, all others have log-probability −inf, max_length=6")]


# Ways to read or write the same contract; the cases are drawn so that all of them give the right result.
READINGS: tuple[Flags, ...] = (
    {"finished": "aside"},
    {"finished": "moved"},
    {"finished": "refilled"},
    {"ranked": "sum"},
)


def _beam(inputs: Mapping[str, Any], **flags: Any) -> tuple[str, float]:
    found = oracles.beam_search(**inputs, **flags)
    return found["tokens"], float(found["score"])


def _beams(
    rng: np.random.Generator,
    *mistakes: Flags,
    tokens: bool = False,
    also: Callable[[dict, tuple[str, float]], bool] = lambda inputs, right: True,
    **settings: Any,
) -> dict:
    """Inputs for which all readings of the contract agree and each of the mistakes changes the result.

    With `tokens` it changes the tokens and not only the score.
    """

    def accept(inputs: dict) -> bool:
        right = _beam(inputs)
        if not also(inputs, right) or any(_apart(_beam(inputs, **flags), right) for flags in READINGS):
            return False
        return all(_apart(_beam(inputs, **flags), right, tokens_only=tokens) for flags in mistakes)

    return _until(lambda: _search(rng, **settings), accept)


def _apart(one: tuple[str, float], other: tuple[str, float], tokens_only: bool = False) -> bool:
    return one[0] != other[0] or (not tokens_only and not abs(one[1] - other[1]) < 0.01)


ONE: Flags = {"width": "one"}


def _beam_values(rng: np.random.Generator) -> list[Case]:
    prefix = ({"handed": "last"}, {"handed": "without start"})
    return [
        Case(_beams(rng, ONE, *prefix, width=2, words=5), how="beam_width=2, 5 tokens, max_length=6"),
        Case(_beams(rng, ONE, *prefix, width=3, words=7), how="beam_width=3, 7 tokens, max_length=6"),
        Case(
            _beams(rng, ONE, {"pruning": "each by itself"}, width=3, words=5, kind="last token"),
            how="beam_width=3, 5 tokens, the last one decides about the next, max_length=6",
        ),
    ]


def _trap(rng: np.random.Generator) -> dict:
    """A table in which the best first token leads nowhere and the second best to a safe sentence."""
    start, lure, good, after, end = (int(each) for each in rng.permutation(5))
    low = rng.uniform(0.42, 0.46)
    p = np.full((5, 5), 0.2)
    p[start, [lure, good]], p[start, [after, end, start]] = (low + 0.06, low), (0.94 - 2 * low) / 3
    p[good], p[after] = 0.02, 0.02
    p[good, after], p[after, end] = 0.92, 0.92
    sizes = {"start_id": start, "end_id": end, "beam_width": 2, "max_length": 6}
    return {"table": np.log(p / p.sum(-1, keepdims=True)), "kind": "last token", **sizes}


def _beam_trapped(rng: np.random.Generator) -> list[Case]:
    drawn = _beams(
        rng, ONE, tokens=True, width=3, words=7, max_length=7, penalty=0.6,
        also=lambda inputs, right: right[1] > _beam(inputs, **ONE)[1] + 0.3 and right[0].endswith(f" {inputs['end_id']}]"),
    )  # fmt: skip
    return [
        Case(_trap(rng), how="the most probable first token leads into a trap, beam_width=2"),
        Case(drawn, how="greedy search is trapped, beam_width=3, length_penalty=0.6"),
    ]


def _beam_penalty(rng: np.random.Generator) -> list[Case]:
    formulas = tuple({"penalty": each} for each in ("none", "n^a", "n", "start counted", "multiplied", "without end"))
    cases = []
    for penalty, words in ((1.0, 5), (0.6, 7)):
        inputs = _beams(
            rng, *formulas, {"score": "sum"}, width=3, words=words, max_length=7, penalty=penalty, end=1.0,
            also=lambda inputs, right: _beam(inputs, penalty="none")[0] != right[0] and right[0].endswith(f" {inputs['end_id']}]"),
        )  # fmt: skip
        cases.append(Case(inputs, how=f"length_penalty={penalty} makes another sentence win, beam_width=3"))
    return cases


def _beam_finished(rng: np.random.Generator) -> list[Case]:
    def finishes(inputs: dict, right: tuple[str, float]) -> bool:
        return right[0].endswith(f" {inputs['end_id']}]")

    return [
        Case(
            _beams(rng, {"stop": "first finished"}, {"finished": "expanded"}, width=3, words=5, end=1.0, also=finishes),
            how="some hypotheses end sooner than others, beam_width=3",
        ),
        Case(
            _beams(
                rng, {"stop": "first finished"}, {"stop": "best finished"}, width=3, words=5, end=1.0, penalty=1.2,
                also=finishes,
            ),
            how="some hypotheses end sooner than others, beam_width=3, length_penalty=1.2",
        ),
        Case(
            _beams(rng, {"pool": "unfinished"}, width=3, words=5, max_length=4, end=0.5, also=finishes),
            how="a finished hypothesis beats one without end, max_length=4",
        ),
        Case(
            _beams(
                rng, {"pool": "finished"}, {"counted": "generated"}, width=3, words=5, max_length=4, end=0.5,
                also=lambda inputs, right: not finishes(inputs, right),
            ),
            how="a hypothesis without end beats the finished ones, max_length=4",
        ),
    ]  # fmt: skip


def _beam_one(rng: np.random.Generator) -> list[Case]:
    def is_greedy(inputs: dict, right: tuple[str, float]) -> bool:
        return right[0] == _greedy(inputs) and right[0].count(",") > 2

    return [
        Case(_beams(rng, width=1, words=7, also=is_greedy), how="beam_width=1, 7 tokens"),
        Case(_beams(rng, width=1, words=5, penalty=0.7, also=is_greedy), how="beam_width=1, length_penalty=0.7"),
    ]


def _beam_edges(rng: np.random.Generator) -> list[Case]:
    wide = _beams(rng, ONE, width=11, words=5, max_length=4)
    first = _beams(rng, width=2, words=5, end=4.0, also=lambda inputs, right: right[0].count(",") == 1)
    nearly_none = np.full((23, 5), -np.inf)
    for row in nearly_none:
        row[rng.choice(5, size=2, replace=False)] = np.log([0.7, 0.3])

    def possible(inputs: dict, right: tuple[str, float]) -> bool:
        return right[1] > -20 and right[0].count(",") > 2

    few = _until(
        lambda: _beams(rng, width=4, words=5, table=nearly_none, max_length=5), lambda each: possible(each, _beam(each))
    )
    return [
        Case(wide, how="beam_width=11, more than the 5 tokens"),
        Case(first, how="the end id is the best first token, beam_width=2"),
        Case({**wide, "beam_width": 3, "max_length": 2}, how="max_length=2: one token after the start"),
        Case(few, how="most log-probabilities are −inf, beam_width=4"),
        Case(_tied(rng), how="two hypotheses tie for a while, beam_width=2"),
    ]


def _tied(rng: np.random.Generator) -> dict:
    """Two first tokens are equally probable; only one of them leads to a good end."""
    start, one, other, end = (int(each) for each in rng.permutation(4))
    p = np.full((4, 4), 0.01)
    p[start, [one, other]] = 0.49
    p[one, end], p[one, start] = 0.9, 0.08
    p[other, end], p[other, one] = 0.2, 0.7
    p[end] = 0.25
    sizes = {"start_id": start, "end_id": end, "beam_width": 2, "max_length": 5}
    return {"table": np.log(p / p.sum(-1, keepdims=True)), "kind": "last token", **sizes}


def _answer(entry: str):
    return lambda rng: [Case({"entry": entry}, how=f'answers["{entry}"]')]


LOG_TWO = Misconception(
    "log_to_base_2", {"log": "2"}, "The logarithm is to the base 2, so these are bits; nats use ln."
)
LOG_TEN = Misconception("log_to_base_10", {"log": "10"}, "The logarithm is to the base 10; nats use the natural one.")
EPS_ADDED = Misconception(
    "eps_added",
    {"eps": 1e-9},
    "A small number is added before the logarithm. It hides what is infinite, and no zero of p needs it.",
)
NOT_A_NUMBER = Misconception(
    "zero_times_log_zero",
    {"zeros": "nan"},
    "A zero of p gives NaN: 0 · log 0 is 0 by its limit, and a computer says NaN. Leave these terms out.",
)
ZERO_Q_SKIPPED = Misconception(
    "zero_q_skipped",
    {"zeros": "skipped"},
    "Where q is 0 the term is left out. If p is positive there, q rules out what happens, and the sum is infinite.",
)
SWAPPED = Misconception(
    "arguments_swapped", {"swapped": True}, "p and q are swapped: p weights, q is in the logarithm."
)
AVERAGED = Misconception("averaged", {"joined": "mean"}, "The terms are averaged; they are summed.")
MASK_ADVICE = "In this course True means: may attend."
PAIR_GROUPS = (
    Group("values", "right values, in nats", 2, _pairs(5, 7, 2)),
    Group(
        "zeros_in_p",
        "zeros in p",
        1,
        _zeros_in_p,
        advice="A term whose p is 0 counts 0, whatever q is there. Choose the terms before you take logarithms.",
    ),
)
TYPES = Group("types", "TensorFlow tensors", 1, _pair_types)

EXERCISES = (
    Exercise(
        name="causal_mask",
        oracle=oracles.causal_mask,
        groups=(Group("values", "True on and below the diagonal", 1, _causal_drawn, advice=MASK_ADVICE),),
        misconceptions=(
            Misconception(
                "transposed",
                {"shape": "upper"},
                "The mask is True on and above the diagonal. Row t is the query: may token 0 see the last one?",
            ),
            Misconception(
                "diagonal_blocked", {"shape": "strictly lower"}, "The diagonal is False. A token may see itself."
            ),
            Misconception(
                "true_means_blocked",
                {"shape": "strictly upper"},
                "True stands where a token may not look. Here and in Keras True means: may attend.",
            ),
            Misconception(
                "additive",
                {"shape": "additive"},
                "This is a mask to be added to scores: 0 and −inf. Here a mask is True and False.",
            ),
            Misconception(
                "additive_large",
                {"shape": "large negative"},
                "This is a mask to be added to scores: 0 and a large negative number. Here a mask is True and False.",
            ),
            Misconception("with_batch_axis", {"shape": "with batch"}, "The result has an axis too many; it is (T, T)."),
        ),
        hints=(
            "Row t belongs to the query at position t, column s to the key at position s.",
            "NumPy and `keras.ops` have a function that keeps one triangle of a matrix. A comparison of positions does it too.",
        ),
    ),
    Exercise(
        name="padding_mask",
        oracle=oracles.padding_mask,
        groups=(
            Group("values", "True at real tokens, shape (B, 1, S)", 2, _padded, advice=MASK_ADVICE),
            Group("pad_id", "another padding id", 1, _padded_otherwise),
            Group("types", "arrays and tensors", 1, _padded_types),
        ),
        misconceptions=(
            Misconception(
                "true_means_padding",
                {"kind": "inverted"},
                "True stands at the padding. Here and in Keras True means: may attend.",
            ),
            Misconception(
                "no_query_axis", {"axes": "BS"}, "The axis of the queries is missing: the shape is (B, 1, S)."
            ),
            Misconception("axis_last", {"axes": "BS1"}, "The new axis stands last; the shape is (B, 1, S)."),
            Misconception(
                "head_axis",
                {"axes": "B11S"},
                "There is an axis for the heads as well. Keras adds that one itself: the shape is (B, 1, S).",
            ),
            Misconception(
                "queries_masked_too",
                {"axes": "BSS"},
                "The padding's own rows are blocked as well. Only what is looked at is masked: the shape is (B, 1, S).",
            ),
            Misconception("pad_id_ignored", {"ignored": True}, "The argument `pad_id` changes nothing."),
            Misconception(
                "larger_than_pad",
                {"kind": "positive"},
                "Ids below pad_id count as padding too. A token is padding only when its id is pad_id.",
            ),
        ),
        hints=(
            "A comparison of all ids with pad_id gives one truth value each.",
            "The mask says who is looked at, so it lies along the keys; the axis of size 1 stands for every query.",
        ),
    ),
    Exercise(
        name="combine_masks",
        oracle=oracles.combine_masks,
        groups=(
            Group("two", "two masks, broadcast", 2, _two_masks),
            Group("counts", "one mask, three masks", 1, _other_counts),
            Group(
                "none",
                "None, and no mask at all",
                1,
                _left_out,
                advice="A mask that is None blocks nothing, so it can be left out. Without any mask the result is None.",
            ),
            Group("types", "integers and tensors", 1, _mask_types),
        ),
        misconceptions=(
            Misconception(
                "or",
                {"how": "or"},
                "A position is open when any of the masks opens it. It has to be open in all of them.",
            ),
            Misconception("added", {"how": "sum"}, "The masks are added: where two of them are open stands 2."),
            Misconception("only_the_first", {"how": "first"}, "Only the first mask counts."),
            Misconception("only_the_last", {"how": "last"}, "Only the last mask counts."),
            Misconception("only_two", {"how": "only two"}, "The third mask is not used."),
            Misconception("inverted", {"how": "nand"}, "The result is the wrong way round: True means: may attend."),
            Misconception(
                "exclusive_or", {"how": "xor"}, "Open in exactly one of the masks is not open in all of them."
            ),
        ),
        hints=(
            "Two masks are joined by a logical and, which broadcasts. How do you get from two to any number?",
            "Start with the first mask and join the others to it, one after the other.",
        ),
    ),
    Exercise(
        name="shift_right",
        oracle=oracles.shift_right,
        groups=(
            Group("values", "start id first, last token gone", 2, _shifted),
            Group("edges", "one token, a square batch, a tensor", 1, _shifted_edges),
        ),
        misconceptions=(
            Misconception(
                "last_token_kept", {"kind": "longer"}, "The result is one longer than ids: the last token falls out."
            ),
            Misconception(
                "shifted_left",
                {"kind": "left"},
                "The tokens move to the left. The decoder's input at position t is the target at t − 1.",
            ),
            Misconception(
                "rolled", {"kind": "rolled"}, "The last token comes back in front; the start id belongs there."
            ),
            Misconception(
                "rolled_over_sentences",
                {"kind": "rolled all"},
                "The tokens move on from one sentence to the next: the shift runs along the wrong axes.",
            ),
            Misconception(
                "first_token_replaced",
                {"kind": "replaced"},
                "The start id takes the place of the first token, and nothing moves.",
            ),
            Misconception(
                "start_is_zero", {"kind": "zero"}, "A 0 stands in front; it is the start id that belongs there."
            ),
            Misconception(
                "shifted_down", {"kind": "down"}, "Whole sentences move; each sentence is shifted by itself."
            ),
            Misconception(
                "start_missing", {"kind": "shorter"}, "The start id is missing: the result has shape (B, T)."
            ),
        ),
        hints=(
            "All tokens but the last of each sentence: which slice of the second axis is that?",
            "Put a column of start ids, (B, 1), in front of it. `np.full` or `ops.full_like` makes one.",
        ),
    ),
    Exercise(
        name="DecoderBlock",
        oracle=oracles.decoder_block,
        groups=(
            Group("values", "right values", 3, _block_values),
            Group(
                "causal",
                "what stands later changes nothing",
                2,
                _block_prefix,
                advice="The output at a position is the same whether or not later tokens follow. Which attention has to be causal?",
                tells=("keras_epsilon",),
            ),
            Group(
                "memory_mask",
                "memory masks of shape (B, 1, S), (T, S) and (B, T, S)",
                2,
                _block_masked,
                advice="Keras takes these shapes as they are, if the mask is handed over by its name.",
            ),
            Group(
                "epsilon",
                "layer norms with epsilon 1e-6",
                1,
                _block_epsilon,
                advice="Keras's own default for epsilon is 1e-3. The contract says 1e-6, for all three norms.",
                spares=("cross_attention_causal", "feed_forward_from_first"),
            ),
            Group(
                "dropout",
                "dropout: in training only, on each sub-layer's output, at its rate",
                2,
                _block_dropout,
                advice="Each sub-layer's output goes through its own dropout, then the sum. No other dropout is in the block.",
                tells=("keras_epsilon",),
            ),
            Group("parameters", "the right number of parameters", 1, _block_parameters),
            Group("training", "works inside tf.function, and gradients reach every weight", 1, _block_training),
        ),
        misconceptions=(
            Misconception(
                "not_causal",
                {"causal": "none"},
                "The self-attention sees later tokens. The block has to be causal by itself, without a mask from outside.",
            ),
            Misconception(
                "causal_reversed",
                {"causal": "reversed"},
                "The self-attention sees a token and what comes after it, the wrong half of the sentence.",
            ),
            Misconception(
                "itself_hidden",
                {"causal": "strict"},
                "A token does not see itself. The target is shifted already: position t may see positions up to t.",
            ),
            Misconception(
                "cross_attention_causal",
                {"cross_mask": "causal"},
                "The cross-attention is causal too. The source is known from the start: every target token may see all of it.",
            ),
            Misconception(
                "memory_mask_ignored",
                {"masking": "ignore"},
                "memory_mask changes nothing. Does it reach the cross-attention, and by its name, `attention_mask=`?",
            ),
            Misconception(
                "memory_mask_inverted",
                {"masking": "invert"},
                "memory_mask is read the wrong way round. Here and in Keras True means: may attend.",
            ),
            Misconception(
                "cross_attends_to_itself",
                {"cross_source": "x"},
                "The cross-attention takes keys and values from the target. They come from the memory.",
            ),
            Misconception(
                "cross_attention_first",
                {"order": "cross, self"},
                "The cross-attention comes first. The self-attention does, so that the question to the source knows its context.",
            ),
            Misconception(
                "cross_query_from_input",
                {"cross_query": "block input"},
                "The cross-attention's query is the block's input; it is what the first sub-layer returned.",
            ),
            Misconception(
                "second_residual_from_input",
                {"second_base": "block input"},
                "The second sum adds the block's input again; it adds what the first sub-layer returned.",
            ),
            Misconception(
                "third_residual_from_input",
                {"third_base": "block input"},
                "The third sum adds the block's input; it adds what the second sub-layer returned.",
            ),
            Misconception(
                "third_residual_from_first",
                {"third_base": "first sum"},
                "The third sum adds what the first sub-layer returned; it adds what the second one returned.",
            ),
            Misconception(
                "feed_forward_from_input",
                {"feed_input": "block input"},
                "The feed-forward network reads the block's input; it reads what the cross-attention's half returned.",
            ),
            Misconception(
                "feed_forward_from_first",
                {"feed_input": "first sum"},
                "The feed-forward network reads what the self-attention's half returned; the cross-attention comes between.",
            ),
            Misconception(
                "no_first_residual",
                {"residual": (False, True, True)},
                "The residual path around the self-attention is missing.",
            ),
            Misconception(
                "no_second_residual",
                {"residual": (True, False, True)},
                "The residual path around the cross-attention is missing.",
            ),
            Misconception(
                "no_third_residual",
                {"residual": (True, True, False)},
                "The residual path around the feed-forward network is missing.",
            ),
            Misconception(
                "no_residuals",
                {"residual": (False, False, False)},
                "All residual paths are missing: each sub-layer's output is added to its input.",
            ),
            Misconception(
                "norm_used_twice",
                {"norms": ("norm1", "norm2", "norm2")},
                "norm2 does the work of norm3 as well: the block has three norms.",
            ),
            Misconception(
                "one_norm_for_all",
                {"norms": ("norm1", "norm1", "norm1")},
                "norm1 does the work of all three norms.",
            ),
            Misconception(
                "norms_two_and_three_swapped",
                {"norms": ("norm1", "norm3", "norm2")},
                "norm2 and norm3 are swapped: norm2 belongs to the cross-attention.",
            ),
            Misconception(
                "pre_norm",
                {"norm_place": "before the sub-layer"},
                "The norms come before the sub-layers. This block is post-norm: each sum is normalised.",
            ),
            Misconception(
                "norm_before_sum",
                {"norm_place": "before the sum"},
                "The sub-layer's output is normalised and then added; the norm comes after the sum.",
            ),
            Misconception(
                "dropout_never",
                {"drop": "never"},
                "With `training=True` nothing is dropped: are all three dropouts called, and told so?",
            ),
            Misconception(
                "dropout_always",
                {"drop": "always"},
                "Something is dropped with `training=False` too: `training` does not decide about it.",
            ),
            Misconception(
                "dropout_after_sum",
                {"drop": "after the sum"},
                "Dropout comes after the sum, so it erases parts of the residual path.",
            ),
            Misconception(
                "dropout_after_norm",
                {"drop": "after the norm"},
                "Dropout comes after the norm; it belongs to the sub-layer's output, before the sum.",
            ),
            Misconception(
                "dropout_on_input",
                {"drop": "on the input"},
                "Dropout is applied to the sub-layer's input, not to its output.",
            ),
            Misconception(
                "second_dropout_missing",
                {"drops": (0, -1, 2)},
                "The cross-attention's output is not dropped in training: is dropout2 called, and told `training`?",
            ),
            Misconception(
                "third_dropout_missing",
                {"drops": (0, 1, -1)},
                "The feed-forward network's output is not dropped in training: is dropout3 called, and told `training`?",
            ),
            Misconception(
                "dropout_used_three_times",
                {"drops": (0, 0, 0)},
                "dropout1 does the work of dropout2 and dropout3 as well.",
            ),
            Misconception(
                "keras_epsilon", {"eps": 1e-3}, "The norms have Keras's default epsilon, 0.001; the contract says 1e-6."
            ),
            Misconception("key_dim_is_d_model", {"key_dim": "D"}, "key_dim is d_model for each head; here it is D/H."),
            Misconception(
                "feed_forward_linear", {"activation": "none"}, "There is no ReLU in the feed-forward network."
            ),
            Misconception(
                "feed_forward_gelu", {"activation": "gelu"}, "The feed-forward network has a GELU, not a ReLU."
            ),
        ),
        hints=(
            "Three halves of the same form: self-attention with norm1 and dropout1, cross-attention with norm2 and dropout2, "
            "feed-forward network with norm3 and dropout3.",
            "Each line has the form `x = self.norm1(x + self.dropout1(…, training=training))`: what stands at the dots?",
            "Who asks in the cross-attention, and who is asked? The output has one row for each target token.",
        ),
    ),
    Exercise(
        name="Transformer",
        oracle=oracles.transformer,
        groups=(
            Group(
                "embedding",
                "embedding, positions and output, without any block",
                2,
                _model_embedding,
                advice="Without blocks the logits are (E[ids]·√D + positions) Eᵀ for the target ids.",
            ),
            Group("values", "right logits with one and two layers", 2, _model_values),
            Group(
                "padding",
                "padding in the source changes nothing",
                2,
                _model_padding,
                advice="Padding is masked twice: in the encoder's self-attention and in the decoder's cross-attention.",
            ),
            Group("causal", "what stands later in the target changes nothing", 1, _model_prefix),
            Group(
                "dropout",
                "dropout on both embeddings and in every block, in training only",
                2,
                _model_dropout,
                advice="Every `keras.layers.Dropout` of the model gets `training` and the rate `dropout`. The attention layers "
                "have none of their own.",
            ),
            Group("parameters", "one table, and blocks with weights of their own", 1, _model_parameters),
            Group(
                "training",
                "works inside tf.function, and gradients reach every weight",
                1,
                _model_training,
                advice="Inside a graph a sentence's length may be unknown. A NumPy array cannot be cut there; a tensor can, at "
                "`ops.shape(ids)[1]`.",
            ),
        ),
        misconceptions=(
            Misconception(
                "embedding_not_scaled",
                {"scale": "none"},
                "The embeddings are not multiplied by √D before positions are added.",
            ),
            Misconception(
                "scaled_after_positions",
                {"scale": "after"},
                "The positions are multiplied by √D as well: scale, then add.",
            ),
            Misconception(
                "embedding_divided",
                {"scale": "divided"},
                "The embeddings are divided by √D; they are multiplied by it.",
            ),
            Misconception("positions_missing", {"positions": "none"}, "There are no positions."),
            Misconception("positions_in_source_only", {"positions": "source"}, "The target has no positions."),
            Misconception("positions_in_target_only", {"positions": "target"}, "The source has no positions."),
            Misconception(
                "positions_one_based", {"first_position": 1}, "The first token has position 1; count from 0."
            ),
            Misconception(
                "encoder_sees_padding",
                {"encoder_mask": "none"},
                "The encoder attends to padding: its self-attention needs the source's padding mask.",
            ),
            Misconception(
                "memory_padding_seen",
                {"memory_mask": "none"},
                "The decoder attends to the source's padding: hand the padding mask on as memory_mask.",
            ),
            Misconception(
                "encoder_mask_inverted",
                {"encoder_mask": "inverted"},
                "The encoder attends to the padding and to nothing else.",
            ),
            Misconception(
                "memory_mask_inverted",
                {"memory_mask": "inverted"},
                "The decoder attends to the source's padding and to nothing else.",
            ),
            Misconception(
                "encoder_causal",
                {"encoder_mask": "causal"},
                "The encoder is causal. The source is known as a whole: its tokens see each other in both directions.",
            ),
            Misconception(
                "decoder_not_causal",
                {"causal": "none"},
                "The decoder sees later target tokens, and training learns to copy.",
            ),
            Misconception(
                "memory_is_embedding",
                {"memory_from": "embedding"},
                "The decoder reads the source's embeddings; it reads what the last encoder block returns.",
            ),
            Misconception(
                "memory_from_same_block",
                {"memory_from": "same block"},
                "Each decoder block reads the encoder block of the same number. All of them read the last one's output.",
            ),
            Misconception(
                "softmax_over_vocabulary",
                {"logits": "softmax"},
                "These are probabilities. The model returns logits; the loss and the decoding take the softmax.",
            ),
            Misconception(
                "softmax_over_positions",
                {"logits": "softmax over positions"},
                "The columns sum to 1: a softmax over the positions. A prediction is a distribution over the vocabulary, "
                "and the model returns logits.",
            ),
            Misconception(
                "log_probabilities",
                {"logits": "log softmax"},
                "These are log-probabilities. The model returns the logits.",
            ),
            Misconception(
                "logits_scaled", {"logits": "scaled"}, "The logits are divided by √D. Only the embedding is scaled."
            ),
            Misconception(
                "keras_epsilon", {"eps": 1e-3}, "The norms have Keras's default epsilon, 0.001; the contract says 1e-6."
            ),
            Misconception(
                "pre_norm", {"norm_place": "before the sub-layer"}, "The blocks are pre-norm; this model is post-norm."
            ),
            Misconception(
                "dropout_never",
                {"drop": "never"},
                "With `training=True` nothing is dropped: does `training` reach the blocks?",
            ),
            Misconception(
                "dropout_always",
                {"drop": "always"},
                "Something is dropped with `training=False` too: `training` does not decide about it.",
            ),
            Misconception(
                "embedding_not_dropped",
                {"drop": "not on embeddings"},
                "The sums of embedding and position are not dropped in training.",
            ),
            Misconception(
                "attention_dropped_too",
                {"drop": "attention too"},
                "The attention layers have a dropout of their own, on their weights. Here they have none.",
            ),
            Misconception(
                "rate_not_handed_on", {"rate": 0.1}, "The dropout rate is 0.1 whatever `dropout` says: hand it on."
            ),
            Misconception(
                "table_not_shared",
                {"tables": 2},
                "V·D numbers too many: there is a second table. Source, target and output share one embedding.",
            ),
            Misconception(
                "three_tables",
                {"tables": 3},
                "2·V·D numbers too many: there are three tables. Source, target and output share one embedding.",
            ),
            Misconception(
                "output_bias",
                {"output_bias": True},
                "V numbers too many: the output has a bias. The logits are x Eᵀ alone.",
            ),
            Misconception(
                "embedding_not_tracked",
                {"tracked": False},
                "V·D numbers are missing: Keras does not know the embedding. A bare `tf.Variable` on a layer is not tracked.",
            ),
            Misconception(
                "positions_learned",
                {"learned_positions": True},
                "max_length·D numbers too many: are the positions learned? Here they are fixed sine and cosine waves.",
            ),
            Misconception(
                "one_block_repeated",
                {"shared_blocks": True},
                "One block is used several times; each layer of a stack has weights of its own.",
            ),
            Misconception("key_dim_is_d_model", {"key_dim": "D"}, "key_dim is d_model for each head; here it is D/H."),
        ),
        hints=(
            "Write it from both ends: the embedding and the logits first, with no block between. That is the first group.",
            "The mask is made from the source's ids, by your `padding_mask`, and goes to every encoder and every decoder block.",
            "An encoder block is a decoder block without its middle sub-layer; its self-attention looks both ways.",
            "The table of a `keras.layers.Embedding` is its attribute `embeddings`, (V, D), once it is built: "
            "calling the layer builds it.",
        ),
    ),
    Exercise(
        name="cross_entropy",
        oracle=oracles.cross_entropy,
        groups=(
            *PAIR_GROUPS,
            Group(
                "zeros_in_q",
                "a zero of q where p is positive",
                1,
                _zeros_in_q,
                advice="q says that this cannot happen, and it does: the cross-entropy is inf.",
            ),
            TYPES,
        ),
        misconceptions=(
            SWAPPED,
            LOG_TWO,
            LOG_TEN,
            Misconception(
                "minus_missing", {"sign": 1}, "The minus sign is missing: logarithms of probabilities are negative."
            ),
            EPS_ADDED,
            NOT_A_NUMBER,
            ZERO_Q_SKIPPED,
            AVERAGED,
            Misconception(
                "log_of_sum", {"formula": "log of the sum"}, "The logarithm is taken of the sum; it is taken of each q."
            ),
            Misconception(
                "binary",
                {"formula": "binary"},
                "The terms of 1 − p and 1 − q are added: that is the loss for independent yes-or-no labels.",
            ),
        ),
        hints=(
            "H(p, q) is the mean, under p, of −log q.",
            "Select the entries where p is positive, and sum over those. A logarithm of 0 is −inf by itself.",
        ),
    ),
    Exercise(
        name="kl_divergence",
        oracle=oracles.kl_divergence,
        groups=(
            *PAIR_GROUPS,
            Group(
                "zeros_in_q",
                "a zero of q where p is positive",
                1,
                _zeros_in_q,
                advice="q says that this cannot happen, and it does: the divergence is inf.",
            ),
            TYPES,
        ),
        misconceptions=(
            SWAPPED,
            LOG_TWO,
            LOG_TEN,
            Misconception("sign_wrong", {"sign": -1}, "The sign is wrong: a divergence is never negative."),
            EPS_ADDED,
            NOT_A_NUMBER,
            ZERO_Q_SKIPPED,
            AVERAGED,
            Misconception(
                "entropy_not_subtracted",
                {"formula": "cross-entropy"},
                "This is the cross-entropy. The divergence is what it exceeds the entropy of p by.",
            ),
            Misconception(
                "both_ways", {"formula": "both ways"}, "This is KL(p ‖ q) + KL(q ‖ p). The divergence goes one way."
            ),
            Misconception(
                "absolute_terms",
                {"formula": "absolute"},
                "The absolute values of the terms are summed; some are negative.",
            ),
        ),
        hints=(
            "It is the cross-entropy of p and q minus that of p with itself.",
            "p·log(p/q) entry by entry, over the entries where p is positive.",
        ),
    ),
    Exercise(
        name="js_divergence",
        oracle=oracles.js_divergence,
        groups=(
            *PAIR_GROUPS,
            Group(
                "extremes",
                "zeros on both sides, nothing in common",
                1,
                _extreme_pairs,
                advice="The middle m is positive wherever p or q is, so no term is infinite. Nothing in common gives ln 2.",
            ),
            TYPES,
        ),
        misconceptions=(
            LOG_TWO,
            LOG_TEN,
            Misconception(
                "half_forgotten", {"half": False}, "The ½ is missing: JS is the mean of the two divergences."
            ),
            Misconception("middle_not_halved", {"middle": "sum"}, "m is p + q here; it is their mean."),
            Misconception("geometric_middle", {"middle": "root"}, "m is √(p·q) here; it is the mean of p and q."),
            Misconception("distance", {"root": True}, "This is the square root, the Jensen–Shannon distance."),
            Misconception("one_side_only", {"formula": "first only"}, "Only KL(p ‖ m) counts; KL(q ‖ m) is missing."),
            Misconception(
                "from_the_middle",
                {"formula": "from the middle"},
                "The divergences run from m to p and q; they run to m.",
            ),
            Misconception(
                "no_middle",
                {"formula": "each other"},
                "This is KL(p ‖ q) and KL(q ‖ p); both are compared with the middle m.",
            ),
            NOT_A_NUMBER,
        ),
        hints=(
            "First the distribution in the middle, m = ½ (p + q).",
            "Your `kl_divergence` does the rest, called twice.",
        ),
    ),
    Exercise(
        name="masked_cross_entropy",
        oracle=oracles.masked_cross_entropy,
        groups=(
            Group(
                "values",
                "mean over all real tokens of the batch",
                2,
                _loss_values,
                advice="These are logits. A ready-made loss takes them for probabilities unless it is told `from_logits=True`.",
            ),
            Group(
                "padding",
                "another padding id, and a sentence without tokens",
                1,
                _loss_padding,
                advice="Count the real tokens of the whole batch. A sentence without any adds 0 to both sums.",
            ),
            Group(
                "smoothing",
                "label smoothing",
                2,
                _loss_smoothing,
                advice="The right word gets 1 − ε + ε/V and every other word ε/V: together 1.",
            ),
            Group(
                "large_logits",
                "finite and right for large logits",
                1,
                _loss_large,
                advice="The softmax of large logits has exact zeros, and their logarithm is −inf. There is a log-softmax.",
            ),
            Group("training", "tensors, tf.function, gradients", 1, _loss_training),
        ),
        misconceptions=(
            Misconception("padding_counted", {"masked": "nothing"}, "Padding counts as if it were words."),
            Misconception(
                "divided_by_positions",
                {"mean": "positions"},
                "The sum is divided by all positions, padding too. Divide by the number of real tokens.",
            ),
            Misconception(
                "mean_of_means",
                {"mean": "sequences"},
                "Each sentence is averaged by itself, so tokens of short sentences weigh more. Average over all tokens at once.",
            ),
            Misconception(
                "divided_by_sentences",
                {"mean": "per sequence"},
                "The sum is divided by the number of sentences, not of tokens.",
            ),
            Misconception(
                "not_averaged", {"mean": "sum"}, "The losses are summed; divide by the number of real tokens."
            ),
            Misconception(
                "divided_by_words",
                {"mean": "tokens and words"},
                "The loss is divided by V too: a loss is a sum over the words.",
            ),
            Misconception(
                "only_padding", {"masked": "inverted"}, "Only the padding counts: the mask is the wrong way round."
            ),
            Misconception(
                "pad_id_ignored", {"masked": "zero"}, "The argument `pad_id` changes nothing: id 0 is left out."
            ),
            Misconception(
                "smoothing_ignored", {"smoothing": "ignored"}, "The argument `label_smoothing` changes nothing."
            ),
            Misconception(
                "smoothing_over_others",
                {"smoothing": "others"},
                "ε is spread over the other V − 1 words. Here it is spread over all V, the right one too.",
            ),
            Misconception(
                "smoothing_not_divided", {"smoothing": "whole"}, "Every word gets the whole ε; it is spread: ε/V each."
            ),
            Misconception(
                "smoothing_without_padding",
                {"smoothing": "without pad"},
                "The padding id gets no share of ε. Here ε is spread over all V ids.",
            ),
            Misconception(
                "smoothing_reversed",
                {"smoothing": "reversed"},
                "The right word gets ε and the spread 1 − ε: they are swapped.",
            ),
            Misconception(
                "log_of_softmax",
                {"logarithm": "of the softmax"},
                "The logarithm is taken of a softmax. For large logits that is the logarithm of 0, and 0 times it is NaN.",
            ),
            Misconception(
                "log_of_softmax_of_one_word",
                {"logarithm": "of the softmax, of one word"},
                "The logarithm is taken of a softmax. For large logits that is the logarithm of 0.",
            ),
            Misconception(
                "softmax_over_positions",
                {"axis": -2},
                "The softmax runs over the positions; it runs over the vocabulary.",
            ),
            Misconception(
                "logits_taken_as_probabilities",
                {"taken_as": "probabilities"},
                "The logits are taken for probabilities: the softmax is missing. (In Keras: `from_logits=True`.)",
            ),
            Misconception(
                "softmax_twice",
                {"taken_as": "softmax twice"},
                "The softmax is taken twice: a loss from logits got probabilities.",
            ),
            Misconception("log_to_base_2", {"log": "2"}, "The logarithm is to the base 2; nats use the natural one."),
            Misconception("minus_missing", {"sign": -1}, "The minus sign is missing."),
        ),
        hints=(
            "One loss for each position first, (B, T); then a weight of 1 or 0 for each; then one division.",
            "With smoothing the loss of a token is (1 − ε) times that of the right word plus ε times the mean over all V words.",
            "`ops.log_softmax` does not overflow, and `ops.one_hot` makes targets (B, T, V).",
        ),
    ),
    Exercise(
        name="transformer_schedule",
        oracle=oracles.transformer_schedule,
        groups=(
            Group("values", "warm-up and decay", 2, _schedule((2, 10), (21, 60), (200, 900))),
            Group(
                "edges",
                "step 0, step 1, the peak, warmup_steps by default",
                1,
                _schedule_edges,
                advice="Step 0 counts as step 1, and only that step is special.",
            ),
        ),
        misconceptions=(
            Misconception(
                "largest_taken", {"choice": "max"}, "The larger of the two curves is taken; it is the smaller one."
            ),
            Misconception("width_missing", {"width": 0.0}, "The factor D^−0.5 is missing."),
            Misconception("width_multiplies", {"width": 0.5}, "The rate grows with √D; it is divided by it."),
            Misconception("width_not_rooted", {"width": -1.0}, "The rate is divided by D; it is divided by √D."),
            Misconception(
                "warmup_exponent", {"warmup": -0.5}, "The warm-up line has warmup^−0.5; its exponent is −1.5."
            ),
            Misconception(
                "warmup_exponent_one", {"warmup": -1.0}, "The warm-up line has warmup^−1; its exponent is −1.5."
            ),
            Misconception("decay_exponent", {"decay": -1.5}, "The decay is step^−1.5; that exponent is the warm-up's."),
            Misconception("step_zero_gives_zero", {"first": "zero"}, "Step 0 gives 0; it counts as step 1."),
            Misconception(
                "every_step_plus_one", {"first": "all shifted"}, "Every step counts one more. Only step 0 counts as 1."
            ),
            Misconception("warmup_ignored", {"ignored": True}, "The argument `warmup_steps` changes nothing."),
        ),
        hints=("Two curves, one rising and one falling; the rate is the smaller of them, times D^−0.5.",),
    ),
    Exercise(
        name="greedy_decode",
        oracle=oracles.greedy_decode,
        groups=(
            Group(
                "values",
                "the most probable token, one after the other",
                2,
                _greedy_values,
                advice="`step_fn` gets the whole list so far, the start id first.",
            ),
            Group(
                "limits", "no end in sight, an end at once, max_length=1", 1, _greedy_limits, tells=("only_last_token",)
            ),
            Group(
                "ties",
                "ties and impossible tokens",
                1,
                _greedy_ties,
                tells=("only_last_token", "start_not_handed", "generated_counted"),
                spares=("end_ignored", "end_not_returned"),
            ),
        ),
        misconceptions=(
            Misconception(
                "only_last_token",
                {"handed": "last"},
                "`step_fn` gets the last token only; it needs the whole list so far.",
            ),
            Misconception(
                "start_not_handed",
                {"handed": "without start"},
                "`step_fn` gets the list without the start id; the start id belongs to it.",
            ),
            Misconception("least_probable", {"choice": "smallest"}, "The least probable token is taken."),
            Misconception(
                "last_of_ties", {"choice": "last of ties"}, "On ties the smallest id is taken, as by `argmax`."
            ),
            Misconception(
                "generated_counted",
                {"counted": "generated"},
                "The list is one too long: max_length counts the start id too.",
            ),
            Misconception("end_ignored", {"stop": False}, "The end id does not end the sentence."),
            Misconception("start_not_returned", {"result": "without start"}, "The start id is missing in the result."),
            Misconception("end_not_returned", {"result": "without end"}, "The end id is missing in the result."),
            Misconception("bare", {"result": "bare"}, "Start id and end id are missing in the result."),
        ),
        hints=(
            "A list that begins with start_id; append one token after the other.",
            "Two reasons to stop: the token was end_id, or the list is max_length long. Check both before you ask again.",
        ),
    ),
    Exercise(
        name="beam_search",
        oracle=oracles.beam_search,
        groups=(
            Group(
                "values",
                "the best of several hypotheses",
                2,
                _beam_values,
                tells=("finished_expanded", "finished_ignored", "generated_counted"),
                spares=("stops_at_first_finished", "unfinished_ignored"),
            ),
            Group(
                "trapped",
                "finds a better sentence where greedy is trapped",
                1,
                _beam_trapped,
                tells=(
                    *("only_last_token", "one_child_each", "finished_ignored", "no_length_penalty"),
                    *("divided_by_power_of_length", "penalty_multiplied", "score_without_penalty"),
                ),
                spares=("stops_at_first_finished",),
            ),
            Group(
                "penalty",
                "length penalty",
                2,
                _beam_penalty,
                advice="n counts the generated tokens, the end id too and the start id not.",
                spares=("beam_of_one", "one_child_each", "finished_ignored", "stops_when_best_is_finished"),
            ),
            Group(
                "finished",
                "finished and unfinished hypotheses",
                2,
                _beam_finished,
                advice="A finished hypothesis stays as it is and stays in the competition. The search goes on for the others.",
                tells=("beam_of_one",),
                spares=("one_child_each",),
            ),
            Group(
                "width_one",
                "width 1 is greedy search",
                1,
                _beam_one,
                tells=("finished_expanded", "generated_counted", "end_not_returned"),
            ),
            Group(
                "edges",
                "wide beams, an early end, −inf, ties",
                1,
                _beam_edges,
                tells=("finished_ignored", "unfinished_ignored"),
                spares=("one_child_each",),
            ),
        ),
        misconceptions=(
            Misconception("beam_of_one", ONE, "The search is greedy whatever beam_width says: one hypothesis is kept."),
            Misconception(
                "only_last_token",
                {"handed": "last"},
                "`step_fn` gets the last token only; it needs the whole list so far.",
            ),
            Misconception(
                "start_not_handed",
                {"handed": "without start"},
                "`step_fn` gets the list without the start id; the start id belongs to it.",
            ),
            Misconception("no_length_penalty", {"penalty": "none"}, "The argument `length_penalty` changes nothing."),
            Misconception(
                "divided_by_power_of_length",
                {"penalty": "n^a"},
                "The sum is divided by n^length_penalty; the divisor is ((5 + n)/6)^length_penalty.",
            ),
            Misconception(
                "divided_by_length",
                {"penalty": "n"},
                "The sum is divided by its length n, whatever length_penalty says.",
            ),
            Misconception(
                "start_counted", {"penalty": "start counted"}, "n counts the start id too; it counts generated tokens."
            ),
            Misconception(
                "end_not_counted", {"penalty": "without end"}, "n does not count the end id; it was generated too."
            ),
            Misconception(
                "penalty_multiplied",
                {"penalty": "multiplied"},
                "The sum is multiplied by ((5 + n)/6)^length_penalty; it is divided by it.",
            ),
            Misconception(
                "finished_expanded",
                {"finished": "expanded"},
                "Finished hypotheses are lengthened. After the end id nothing follows.",
            ),
            Misconception(
                "stops_at_first_finished",
                {"stop": "first finished"},
                "The search stops when the first hypothesis is finished. Another may still turn out better.",
            ),
            Misconception(
                "stops_when_best_is_finished",
                {"stop": "best finished"},
                "The search stops when the best hypothesis is finished. With a length penalty a longer one can still pass it.",
            ),
            Misconception(
                "unfinished_ignored",
                {"pool": "finished"},
                "Only finished hypotheses can win. Those cut off at max_length are compared with them by the score.",
            ),
            Misconception(
                "finished_ignored",
                {"pool": "unfinished"},
                "Only hypotheses that reached max_length can win. Finished ones are compared with them by the score.",
            ),
            Misconception(
                "log_probabilities_multiplied",
                {"summed": "product"},
                "The log-probabilities are multiplied. Probabilities are multiplied, their logarithms added.",
            ),
            Misconception(
                "last_step_only",
                {"summed": "last"},
                "Only the last token's log-probability counts; all of them are added up.",
            ),
            Misconception(
                "one_child_each",
                {"pruning": "each by itself"},
                "Each hypothesis keeps its best continuation only. All continuations of all hypotheses compete.",
            ),
            Misconception(
                "generated_counted",
                {"counted": "generated"},
                "The list is one too long: max_length counts the start id too.",
            ),
            Misconception(
                "score_without_penalty",
                {"score": "sum"},
                "The tokens are right; the score returned lacks the length penalty.",
            ),
            Misconception(
                "score_is_probability",
                {"score": "probability"},
                "The tokens are right; the score is a sum of logarithms.",
            ),
            Misconception("score_negated", {"score": "loss"}, "The tokens are right; the score has the wrong sign."),
            Misconception("start_not_returned", {"result": "without start"}, "The start id is missing in the result."),
            Misconception("end_not_returned", {"result": "without end"}, "The end id is missing in the result."),
            Misconception("bare", {"result": "bare"}, "Start id and end id are missing in the result."),
        ),
        hints=(
            "A hypothesis is a list of tokens with the sum of its log-probabilities. The beam is a list of hypotheses.",
            "A round: finished hypotheses are candidates as they are; every other one gives V candidates. Sort, cut, repeat.",
            "Sort by a function of sum and length, with `key=`; so arrays and lists are never compared with each other.",
        ),
    ),
    Exercise(
        name="answers",
        oracle=oracles.answers,
        groups=(
            Group("base_model", "the base model of 2017", 1, _answer("base_model")),
            Group("divergence", "cross-entropy and divergence by hand", 1, _answer("divergence")),
            Group("beam", "two scores by hand", 1, _answer("beam")),
            Group("inference", "the causal mask at inference", 1, _answer("inference")),
            Group("vocabulary", "the axis of the softmax", 1, _answer("vocabulary")),
            Group("untracked", "a bare variable", 1, _answer("untracked")),
        ),
        misconceptions=(
            Misconception(
                "numbers_of_bert",
                {"thought": "bert"},
                "These are the numbers of BERT-base. The question is about the base model of the paper of 2017.",
            ),
            Misconception(
                "answered_in_bits",
                {"thought": "bits"},
                "These are bits. The question asks for nats: natural logarithms.",
            ),
            Misconception("answer_swapped", {"thought": "swapped"}, "p and q are swapped."),
            Misconception(
                "answer_start_counted",
                {"thought": "start counted"},
                "n counts one too many: the start id is not generated.",
            ),
            Misconception(
                "answer_divided_by_length",
                {"thought": "divided by length"},
                "The sums are divided by n; the divisor is ((5 + n)/6)^length_penalty.",
            ),
            Misconception(
                "mask_for_training_only",
                {"thought": "mask for training only"},
                "Nothing follows the last token, but something follows all the others, and their outputs go into the next layer.",
            ),
            Misconception(
                "softmax_thought_over_positions",
                {"thought": "softmax over positions"},
                "At each position the model chooses between words. What has to sum to 1, then?",
            ),
            Misconception(
                "untracked_thought_an_error",
                {"thought": "error when compiled"},
                "Keras does not complain, and the loss still falls. What does `fit` hand to the optimiser?",
            ),
        ),
        hints=("The exercises of this lab and section “What other texts get wrong” of the lecture hold all six.",),
        reveal=False,
        tolerance=0.0051,
    ),
)
