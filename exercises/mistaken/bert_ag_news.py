"""Mistakes of lab 07: in word pieces, packing, masking, the schedule, the news classifier, class names."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from exercises.formulas.bert_ag_news import tiny_ids

# ---- word pieces ----


def _piece(text: str, first: bool, prefix: str) -> tuple[str, str]:
    """What is looked up for a part of a word, and what stands in the result."""
    marked = f"##{text}"
    return {
        "behind the first": (text, text) if first else (marked, marked),
        "left out of the result": (text, text) if first else (marked, text),
        "not looked for": (text, text),
        "added to the result": (text, text) if first else (text, marked),
        "everywhere": (marked, marked),
    }[prefix]


def _found(text: str, first: bool, vocabulary: Collection[str], prefix: str) -> str | None:
    """The piece that stands for a part of a word; None when the vocabulary has none."""
    if prefix == "either":
        return next((each for each in ([text] if first else [f"##{text}", text]) if each in vocabulary), None)
    wanted, shown = _piece(text, first, prefix)
    return shown if wanted in vocabulary else None


def _covers(word: str, start: int, vocabulary: Collection[str], prefix: str) -> list[list[str]]:
    """Every way to cut what begins at `start` into pieces, those with the longest first piece first."""
    if start == len(word):
        return [[]]
    found = []
    for end in range(len(word), start, -1):
        piece = _found(word[start:end], start == 0, vocabulary, prefix)
        if piece is not None:
            found += [[piece, *rest] for rest in _covers(word, end, vocabulary, prefix)]
    return found


def _from_the_end(word: str, vocabulary: Collection[str], prefix: str) -> list[str] | None:
    pieces: list[str] = []
    end = len(word)
    while end:
        for start in range(end):
            piece = _found(word[start:end], start == 0, vocabulary, prefix)
            if piece is not None:
                pieces.insert(0, piece)
                end = start
                break
        else:
            return None
    return pieces


def wordpiece_tokenize(
    word: str,
    vocabulary: Sequence[str],
    unknown: str = "[UNK]",
    max_chars: int = 100,
    *,
    search: str = "longest first",
    prefix: str = "behind the first",
    failure: str = "the word",
    limit: str = "characters",
    lower: bool = False,
    own_unknown: bool = True,
) -> dict[str, list[str]]:
    """Greedy longest match first; "##" marks what continues a word (Wu et al. 2016, 4.1; Devlin et al. 2019)."""
    unknown = unknown if own_unknown else "[UNK]"
    word = word.lower() if lower else word
    size = len(word.encode()) if limit == "bytes" else len(word)
    most = {"default": 100, "none": size}.get(limit, max_chars)
    if limit == "cut":
        word = word[:max_chars]
    elif size > most or (limit == "one too early" and size == most):
        return {"pieces": [unknown]}
    if search in ("any cover", "fewest pieces"):
        covers = _covers(word, 0, vocabulary, prefix)
        if not covers:
            return {"pieces": [unknown]}
        return {"pieces": min(covers, key=len) if search == "fewest pieces" else covers[0]}
    if search == "from the end":
        return {"pieces": _from_the_end(word, vocabulary, prefix) or [unknown]}
    pieces: list[str] = []
    start = 0
    while start < len(word):
        ends = {"last character never": range(start + 1, len(word)), "single characters never": range(start + 2, len(word) + 1), "never cut": range(len(word), len(word) + 1)}.get(
            search, range(start + 1, len(word) + 1)
        )
        for end in ends if search == "shortest first" else reversed(ends):
            piece = _found(word[start:end], start == 0, vocabulary, prefix)
            if piece is not None:
                break
        else:
            if failure == "the word":
                return {"pieces": [unknown]}
            if failure == "the rest":
                return {"pieces": [*pieces, unknown]}
            if failure == "stops":
                return {"pieces": pieces}
            if failure == "nothing":
                return {"pieces": []}
            piece, end = (unknown if failure == "a character" else None), start + 1
        pieces += [] if piece is None else [piece]
        start = end
    return {"pieces": pieces}


# ---- packing ----


def _shortened(a: list[int], b: list[int], room: int, cut: str) -> tuple[list[int], list[int]]:
    a, b = list(a), list(b)
    if cut == "in proportion":
        if (total := len(a) + len(b)) > room:
            kept = round(room * len(a) / total)
            a, b = a[:kept], b[: room - kept]
        return a, b
    if cut == "halves":
        if len(a) + len(b) > room:
            a, b = a[: room - room // 2], b[: room // 2]
        return a, b
    if cut == "first to half":
        if len(a) + len(b) > room:
            a = a[: room - room // 2]
            b = b[: room - len(a)]
        return a, b
    while len(a) + len(b) > max(room, 0):
        if cut == "both":
            a, b = a[:-1], b[:-1]
            continue
        longer = {"second first": b or a, "first first": a or b, "the shorter": (a if len(a) < len(b) and a else b) or a, "ties first": b if len(b) > len(a) else a}.get(
            cut, a if len(a) > len(b) else b
        )
        longer.pop(0 if cut == "from the start" else -1)
    return a, b


def pack_inputs(
    a: Sequence[int],
    b: Sequence[int] | None = None,
    *,
    max_length: int,
    cls_id: int,
    sep_id: int,
    pad_id: int = 0,
    cut: str = "the longer",
    room: str = "specials counted",
    specials: str = "all",
    segments: str = "right",
    mask: str = "right",
    own_pad: bool = True,
    pad: str = "end",
    kind: str = "whole numbers",
    second: bool = True,
    empty: str = "a segment",
    argument: str = "as it was",
) -> dict[str, Any]:
    """``[CLS] a [SEP]`` or ``[CLS] a [SEP] b [SEP]``, cut and padded to `max_length` (Devlin et al. 2019, 3)."""
    pad_id = pad_id if own_pad else 0
    b = b if second and (b or empty == "a segment") else None
    pair = b is not None
    extra = {"specials counted": 2 + pair, "forgotten": 0, "one too few": 1 + pair, "always three": 3}[room]
    if pair:
        extra += {"class token of b": 1, "no last separator in a pair": -1}.get(specials, 0)
    longest = 10**6 if cut == "whole row" else max_length - extra
    first, other = _shortened(list(a), list(b or ()), longest, cut)
    front, middle, end = [cls_id], [sep_id], [sep_id]
    if specials in ("no separator between", "no separators"):
        middle = [] if pair else middle
    if specials in ("no separator at the end", "no separators"):
        middle, end = (middle, []) if pair else ([], end)
    if specials == "no class token":
        front = []
    if specials == "class token again":
        middle = [*middle, cls_id] if pair else middle
    if specials == "no last separator in a pair":
        end = []
    if specials == "class token of b":
        other = [cls_id, *other]
    ids = front + first + middle + ((other + end) if pair else [])
    lengths = [len(front) + len(first) + len(middle), len(other) + len(end)] if pair else [len(ids), 0]
    if segments == "separator second":
        lengths = [lengths[0] - len(middle), lengths[1] + len(middle)] if pair else lengths
    types = [0] * lengths[0] + [1] * lengths[1]
    if segments == "last separator first" and pair and end:
        types[-1] = 0
    if segments == "all zero":
        types = [0] * len(ids)
    if segments == "from one":
        types = [each + 1 for each in types]
    real = [0 if mask == "specials blocked" and each in (cls_id, sep_id) else 1 for each in ids]
    ids, types, real = ids[:max_length], types[:max_length], real[:max_length]
    free = max_length - len(ids)
    last = types[-1] if segments == "padding like the last" else 1 if segments == "padding second" else 0
    filled = {"input_word_ids": (ids, [pad_id] * free), "input_mask": (real, [1 if mask == "all ones" else 0] * free), "input_type_ids": (types, [last] * free)}
    rows = {key: np.array((gap + row) if pad == "front" else (row + gap)) for key, (row, gap) in filled.items()}
    if mask == "inverted":
        rows["input_mask"] = 1 - rows["input_mask"]
    too_long = len(a) + len(b or ()) > max_length - 2 - pair
    return {**rows, "kinds": kind, "arguments": "as they were" if argument == "as it was" or not too_long else argument}


# ---- masking ----


def mask_tokens(
    rate: float = 0.15,
    rows: int = 0,
    columns: int = 63,
    *,
    mode: str = "labels",
    labels: str = "the original ids where chosen, -100 elsewhere",
    special: str = "never chosen",
    unlabelled: str = "stay as they are",
    argument: str = "as it was",
    shape: str = "that of ids",
    kinds: str = "80 % mask, 10 % random, 10 % kept",
    share: str = "the rate",
    random_ids: str = "uniform over the vocabulary",
    chosen: str = "each token for itself",
    numbers: str = "from rng",
) -> dict[str, str]:
    """What is true of the masking, in words; which tokens are chosen is left to chance (Devlin et al. 2019, 3.1)."""
    known = labels in ("the original ids where chosen, -100 elsewhere", "0 elsewhere, not -100", "-1 elsewhere, not -100", "the ids after masking")
    hidden = "not known"
    if mode == "labels":
        seen = {"special": special, "unlabelled": unlabelled} if known else {"special": hidden, "unlabelled": hidden}
        return {"labels": labels, **seen, "argument": argument, "shape": shape}
    if mode == "share":
        same = share == "15 %, whatever the rate" and rate == 0.15
        return {"share": ("the rate" if same else share) if known else hidden}
    if mode == "kinds":
        return {"kinds": kinds if known else hidden}
    if mode == "random":
        found = "none" if ", 0 % random" in kinds or kinds == "one kind for all tokens of a call" else random_ids
        return {"random_ids": found if known else hidden}
    if mode == "independent":
        if numbers == "always the same" and not rows:
            chosen = "the same places in every call"
        unseen: tuple[str, ...] = ("at least one token",) if rows or columns > 20 else ()
        if not rows:
            unseen += ("the same places in every row", "neighbours together")
        return {"chosen": ("each token for itself" if chosen in unseen else chosen) if known else hidden}
    return {"numbers": numbers}


# ---- the classifier ----


def build_news_classifier(
    texts: Sequence[str] = (),
    num_classes: int = 4,
    dropout: float = 0.2,
    trainable: bool = True,
    table: np.ndarray | None = None,
    pooler: np.ndarray | None = None,
    w1: np.ndarray | None = None,
    b1: np.ndarray | None = None,
    w2: np.ndarray | None = None,
    b2: np.ndarray | None = None,
    length: int = 13,
    codes: int = 17,
    width: int = 6,
    *,
    mode: str = "values",
    handle: str = "the given one",
    source: str = "pooled output",
    hidden: str = "relu",
    units: int = 16,
    layers: int = 2,
    bias: bool = True,
    output: str = "softmax",
    classes: str = "given",
    learns: str = "as told",
    head_learns: str = "always",
    drops: str = "behind the hidden layer",
    rate: str = "given",
    outside: str = "the same result",
    gradients: str = "reach every weight that learns",
) -> dict[str, Any]:
    """Probabilities of the classifier with the given weights, or what is true of its weights and its dropout."""
    count = num_classes if classes == "given" else 4
    plain = units == 16 and layers == 2 and bias and count == num_classes and handle == "the given one"
    if mode == "parameters":
        if handle != "the given one":
            return {"encoder": handle, "head": -1}
        head = width * units + units * bias + units * count + count * bias
        if layers == 1:
            head = width * count + count * bias
        elif layers == 3:
            head += units * units + units
        encoder = {
            "as told": "learns" if trainable else "is frozen",
            "always": "learns",
            "never": "is frozen",
            "the other way round": "is frozen" if trainable else "learns",
            "lost": "is no part of the model",
        }[learns]
        return {"encoder": encoder, "head": head if trainable or head_learns == "always" else 0}
    if not plain or (learns == "lost" and mode == "values"):
        raise ValueError("the weights of the case do not fit this model")
    if mode == "dropout":
        asked = dropout if rate == "given" else 0.2 if rate == "default" else 1 - dropout
        where = f"{asked:.0%} {drops}" if drops == "behind the hidden layer" else drops
        where = where if output == "softmax" else "not known"
        return {"training": where, "outside": outside if drops != "nowhere" else "the same result"}
    if mode == "gradients":
        frozen = learns in ("never", "the other way round") and trainable
        return {"gradients": "do not reach the encoder" if frozen else gradients}
    if outside != "the same result":
        raise ValueError("the result is left to chance")
    assert table is not None  # every mode but those above gives it
    ids = tiny_ids(texts, length, codes)
    real = (ids != 0)[..., None]
    x = table[ids]  # (B, L, D)
    mean = (x * real).sum(axis=1, keepdims=True) / real.sum(axis=1, keepdims=True)
    sequence = x + 2 * mean  # (B, L, D)
    pooled = {
        "pooled output": lambda: np.tanh(sequence[:, 0] @ pooler),
        "first token": lambda: sequence[:, 0],
        "mean of the tokens": lambda: sequence.mean(axis=1),
        "mean of the words": lambda: (sequence * real).sum(axis=1) / real.sum(axis=1),
        "first layer": lambda: x[:, 0],
        "largest of the tokens": lambda: sequence.max(axis=1),
    }[source]()
    h = pooled @ w1 + b1
    h = {"relu": lambda: np.maximum(h, 0), "none": lambda: h, "tanh": lambda: np.tanh(h), "sigmoid": lambda: _sigmoid(h)}[hidden]()
    logits = h @ w2 + b2
    if output == "sigmoid":
        return {"probabilities": _sigmoid(logits)}
    if output == "none":
        return {"probabilities": logits}
    axis = 0 if output == "softmax over the batch" else -1
    powers = np.exp(logits - logits.max(axis=axis, keepdims=True))
    return {"probabilities": powers / powers.sum(axis=axis, keepdims=True)}


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


# ---- class names ----


def predict_class_names(
    probabilities: np.ndarray,
    class_names: Sequence[str],
    *,
    pick: str = "largest",
    shift: int = 0,
    answer: str = "names",
    which: str = "all",
    axis: int = 1,
    kind: str = "a list",
    repeated: bool = True,
    sort: bool = False,
) -> dict[str, Any]:
    """The name of each text's most probable class, in the order of the texts."""
    names = sorted(class_names) if sort else list(class_names)
    if not len(probabilities):
        return {"names": [], "kind": kind if answer == "names" else "a list"}
    if pick == "over one half":
        places = [int(np.argmax(row > 0.5)) for row in probabilities]
    else:
        best: dict[str, Callable[..., np.ndarray]] = {"largest": np.argmax, "smallest": np.argmin, "second": _second}
        places = [int(each) for each in best[pick](probabilities, axis)]
    chosen = [names[(place + shift) % len(names)] for place in places]
    if which == "first only":
        chosen, places = chosen[:1], places[:1]
    elif which == "reversed":
        chosen, places = chosen[::-1], places[::-1]
    if not repeated:
        chosen = list(dict.fromkeys(chosen))
    if answer == "places":
        return {"names": [str(each) for each in places], "kind": "a list of numbers"}
    return {"names": chosen, "kind": kind}


def _second(probabilities: np.ndarray, axis: int) -> np.ndarray:
    return np.take(np.argsort(probabilities, axis=axis), -2, axis=axis)
