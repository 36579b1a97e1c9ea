"""Probes of lab 07, fine-tuning BERT on news."""

from __future__ import annotations

import contextlib
import math
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from coursekit import bert
from coursekit.probes.driving import ContractError, answers, find, numbers
from coursekit.probes.sharing import current_shelf

# ---- word pieces ----


def _wordpiece_tokenize(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Call the function with the vocabulary as a list, a set or a dictionary from piece to id."""
    kinds: dict[str, Callable[[list[str]], Any]] = {
        "list": list,
        "set": set,
        "dict": lambda pieces: {piece: number for number, piece in enumerate(pieces)},
    }
    vocabulary = kinds[inputs["container"]](inputs["vocabulary"])
    named = {key: inputs[key] for key in ("unknown", "max_chars") if key in inputs}
    return {"pieces": _strings(find(namespace, "wordpiece_tokenize")(inputs["word"], vocabulary, **named), "pieces")}


def _strings(value: Any, what: str) -> list[str]:
    if value is None:
        raise ContractError("the function returned None. Is the `return` missing?")
    value = value.tolist() if isinstance(value, np.ndarray) else value
    if not isinstance(value, (list, tuple)) or not all(isinstance(each, str) for each in value):
        raise ContractError(f"the function returned {repr(value)[:80]}; expected a list of {what}, each a str.")
    return [str(each) for each in value]


# ---- packing ----


def _pack_inputs(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Call the function on lists of ids, and look whether it left them as they were."""
    segments = [[int(each) for each in inputs[key]] for key in ("a", "b") if key in inputs]
    given = [list(each) for each in segments]
    named = {key: inputs[key] for key in ("max_length", "cls_id", "sep_id", "pad_id") if key in inputs}
    result = find(namespace, "pack_inputs")(*given, **named)
    if not isinstance(result, Mapping):
        raise ContractError(f"pack_inputs(…) returned a {type(result).__name__}; expected a dictionary.")
    missing = [key for key in bert.INPUTS if key not in result]
    if missing:
        raise ContractError(f"the dictionary has no entry {', '.join(map(repr, missing))}; it has {list(result)}.")
    rows = {key: numbers(result[key], f"the entry {key!r}") for key in bert.INPUTS}
    other = {row.dtype.name for row in rows.values() if row.dtype.kind not in "iu"}
    return {
        **rows,
        "kinds": ", ".join(sorted(other)) if other else "whole numbers",
        "arguments": "as they were" if given == segments else "changed in place",
    }


# ---- masking ----
#
# What may differ from call to call is counted over many tokens and compared with what chance allows. Every comparison
# is with an exact binomial distribution, and rejects a correct function with a probability of at most `ALARM`. For all
# comparisons of one mark together that is 3 in 10 million: `tests/test_bert_ag_news.py` adds up the exact tails. The
# counts depend on the joint distribution of the draws alone, so their order does not matter.

ALARM = 1e-8
RIGHT_LABELS = "the original ids where chosen, -100 elsewhere"


def _log_binomial(n: int, p: float) -> np.ndarray:
    """Logarithms of the probabilities of 0, 1, …, n successes in n trials."""
    k = np.arange(n)
    steps = np.log((n - k) / (k + 1)) + math.log(p / (1 - p))
    return n * math.log1p(-p) + np.concatenate([[0.0], np.cumsum(steps)])


def likely_counts(n: int, p: float, alarm: float = ALARM) -> tuple[int, int]:
    """The smallest and the largest count that n trials of probability p are allowed: beyond lies `alarm` in all."""
    if n == 0 or p <= 0 or p >= 1:
        return (n, n) if p >= 1 else (0, 0)
    probabilities = np.exp(_log_binomial(n, p))
    below, above = np.cumsum(probabilities), np.cumsum(probabilities[::-1])[::-1]
    return int(np.argmax(below > alarm / 2)), int(n - np.argmax(above[::-1] > alarm / 2))


def _is_likely(count: int, n: int, p: float) -> bool:
    low, high = likely_counts(n, p)
    return low <= count <= high


class _Masked:
    """Texts of ids, and what the student's function made of them, over several calls with generators of their own."""

    def __init__(self, namespace: Mapping[str, Any], inputs: Mapping[str, Any]):
        self.target = find(namespace, "mask_tokens")
        self.inputs = inputs
        self.vocab_size, self.mask_id = inputs["vocab_size"], inputs["mask_id"]
        self.specials = list(inputs["special_ids"])
        self.rate = inputs.get("rate", 0.15)
        self.words = np.array(inputs["words"])  # the ids that texts are made of
        self.ids = [self._text(number) for number in range(inputs["calls"])]
        pairs = [self.call(ids, number) for number, ids in enumerate(self.ids)]
        self.outs, self.labels = [pair[0] for pair in pairs], [pair[1] for pair in pairs]

    def _text(self, number: int) -> np.ndarray:
        """Ids (rows, columns), or (columns,): in each row as many words as in every other, special ids between them."""
        rng = np.random.default_rng([self.inputs["seed"], 0, number])
        rows, columns = self.inputs["rows"], self.inputs["columns"]
        shape = (max(rows, 1), columns)
        ids = self.words[
            np.minimum(rng.integers(len(self.words), size=shape), rng.integers(len(self.words), size=shape))
        ]
        places = rng.permuted(np.tile(np.arange(columns) < columns // 5, (shape[0], 1)), axis=1)
        ids = np.where(places, np.array(self.specials)[rng.integers(len(self.specials), size=shape)], ids)
        return (ids if rows else ids[0]).astype(self.inputs["dtype"])

    def generator(self, number: int) -> np.random.Generator:
        """The generator that a call gets."""
        return np.random.default_rng([self.inputs["seed"], 1, number])

    def call(self, ids: np.ndarray, number: int, rng: np.random.Generator | None = None) -> tuple[np.ndarray, ...]:
        """What the function makes of these ids: inputs and labels as arrays."""
        self.given = ids.copy()
        named = {"rate": self.rate} if "rate" in self.inputs else {}
        rng = rng or self.generator(number)
        result = self.target(self.given, rng, self.vocab_size, self.mask_id, list(self.specials), **named)
        if not isinstance(result, (tuple, list)) or len(result) != 2:
            kind = "None. Is the `return` missing?" if result is None else f"a {type(result).__name__}"
            raise ContractError(f"mask_tokens(…) returned {kind}; expected the pair (inputs, labels).")
        pair = tuple(numbers(each, name) for each, name in zip(result, ("`inputs`", "`labels`"), strict=True))
        for each, name in zip(pair, ("inputs", "labels"), strict=True):
            if each.shape != ids.shape:
                raise ContractError(f"`{name}` has shape {each.shape}; the ids have {ids.shape}.")
        if (pair[0] == -100).any():
            raise ContractError("`inputs` holds -100, which is no id. Are inputs and labels in the wrong order?")
        return pair

    def all(self, arrays: Sequence[np.ndarray]) -> np.ndarray:
        """The arrays of all calls, end to end."""
        return np.concatenate([each.reshape(-1) for each in arrays])

    def marked(self, ids: np.ndarray, outs: np.ndarray, labels: np.ndarray) -> tuple[str, np.ndarray]:
        """What the labels are, in words, and which tokens they say are chosen."""
        changed = outs != ids
        labelled = labels != -100
        if labelled.all():
            return self._without_blanks(ids, outs, labels)
        if changed.any() and not (changed & labelled).any():
            return "-100 where chosen, the ids elsewhere", ~labelled
        if (labels[labelled] == ids[labelled]).all():
            return RIGHT_LABELS, labelled
        if (labels[labelled] == outs[labelled]).all():
            return "the ids after masking", labelled
        return "other numbers than the ids", labelled

    def _without_blanks(self, ids: np.ndarray, outs: np.ndarray, labels: np.ndarray) -> tuple[str, np.ndarray]:
        if (labels == ids).all():
            return "the ids everywhere", outs != ids
        values, counts = np.unique(labels, return_counts=True)
        fill = int(values[np.argmax(counts)])
        chosen = labels != fill
        if fill not in self.words and (labels[chosen] == ids[chosen]).all():
            return f"{fill} elsewhere, not -100", chosen
        return ("the ids everywhere, masked" if (labels == outs).all() else "other numbers than the ids"), outs != ids

    def chosen(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray] | None:
        """Ids, inputs, which tokens are words and which are chosen, over all calls; None where labels do not tell."""
        ids, outs, labels = map(self.all, (self.ids, self.outs, self.labels))
        told, chosen = self.marked(ids, outs, labels)
        if told not in (RIGHT_LABELS, "the ids after masking") and not told.endswith("elsewhere, not -100"):
            return None
        return ids, outs, ~np.isin(ids, self.specials), chosen

    def by_call(self, values: np.ndarray) -> np.ndarray:
        """What `chosen` gives, with an axis for the calls and the axes of the ids again."""
        return values.reshape(len(self.ids), *self.ids[0].shape)


def _labels(masked: _Masked) -> dict[str, str]:
    ids, outs, labels = map(masked.all, (masked.ids, masked.outs, masked.labels))
    told, chosen = masked.marked(ids, outs, labels)
    facts = {"labels": told, "special": "not known", "unlabelled": "not known"}
    if masked.chosen() is not None:
        facts["special"] = "chosen, too" if np.isin(ids[chosen], masked.specials).any() else "never chosen"
        facts["unlabelled"] = "change, too" if (outs != ids)[~chosen].any() else "stay as they are"
    same = np.array_equal(masked.given, masked.ids[-1])
    facts["argument"] = "as it was" if same else "changed in place"
    whole = all(each.dtype.kind in "iu" for each in (*masked.outs, *masked.labels))
    facts["shape"] = "that of ids" if whole else "that of ids, but the numbers are floats"
    return facts


def _share(masked: _Masked) -> dict[str, str]:
    seen = masked.chosen()
    if seen is None:
        return {"share": "not known"}
    _, _, words, chosen = seen
    count, size, rate = int((chosen & words).sum()), int(words.sum()), masked.rate
    hypotheses = {
        "the rate": rate,
        "15 %, whatever the rate": 0.15,
        "all but the rate": 1 - rate,
        "the rate, of the special tokens' number as well": rate * len(words) / size,
        "nine tenths of the rate": 0.9 * rate,
        "eight tenths of the rate": 0.8 * rate,
    }
    fitting = [name for name, p in hypotheses.items() if p < 1 and _is_likely(count, size, p)]
    return {"share": fitting[0] if fitting else f"{count / size:.0%} of the words"}


KINDS = {  # shares of mask, random and kept; what is kept for lack of a label counts as not chosen
    "80 % mask, 10 % random, 10 % kept": (0.8, 0.1, 0.1),
    "100 % mask, 0 % random, 0 % kept": (1.0, 0.0, 0.0),
    "80 % mask, 20 % random, 0 % kept": (0.8, 0.2, 0.0),
    "80 % mask, 0 % random, 20 % kept": (0.8, 0.0, 0.2),
    "80 % mask, 2 % random, 18 % kept": (0.8, 0.02, 0.18),
    "89 % mask, 11 % random, 0 % kept": (8 / 9, 1 / 9, 0.0),
    "10 % mask, 80 % random, 10 % kept": (0.1, 0.8, 0.1),
    "10 % mask, 10 % random, 80 % kept": (0.1, 0.1, 0.8),
    "33 % mask, 33 % random, 33 % kept": (1 / 3, 1 / 3, 1 / 3),
    "15 % mask, 10 % random, 75 % kept": (0.15, 0.1, 0.75),
}


def _kinds(masked: _Masked) -> dict[str, str]:
    seen = masked.chosen()
    if seen is None:
        return {"kinds": "not known"}
    ids, outs, words, chosen = seen
    chosen = chosen & words
    mask, kept = outs == masked.mask_id, outs == ids
    if _all_alike(*(masked.by_call(each) for each in (chosen, mask, kept))):
        return {"kinds": "one kind for all tokens of a call"}
    counts, size = [int(each[chosen].sum()) for each in (mask, ~mask & ~kept, kept)], int(chosen.sum())
    stray = 1 / masked.vocab_size  # a random id is now and then that of the mask, or the token's own
    if _by_count(*(masked.by_call(each).reshape(len(masked.ids), -1).sum(axis=1) for each in (chosen, chosen & mask))):
        return {"kinds": "exactly 80 % mask in every call"}
    for name, (m, r, k) in KINDS.items():
        expected = (m + r * stray, r * (1 - 2 * stray), k + r * stray)
        if all(_is_likely(count, size, p) for count, p in zip(counts, expected, strict=True)):
            return {"kinds": name}
    names = zip(counts, ("mask", "random", "kept"), strict=True)
    return {"kinds": ", ".join(f"{100 * count / max(size, 1):.0f} % {name}" for count, name in names)}


def _all_alike(chosen: np.ndarray, mask: np.ndarray, kept: np.ndarray) -> bool:
    """Whether in every call all chosen tokens met the same fate, though not the same in all calls."""
    fates = set()
    for places, masked, same in zip(chosen, mask, kept, strict=True):
        shares = [each[places].mean() if places.any() else 0.0 for each in (masked, same, ~masked & ~same)]
        if max(shares) < 0.97:  # a random id is now and then the token's own
            return False
        fates.add(int(np.argmax(shares)))
    return len(fates) > 1


def _by_count(chosen: np.ndarray, masked: np.ndarray) -> bool:
    """Whether in more calls than chance allows four fifths of the chosen tokens are masked, give or take one."""
    near = int((np.abs(masked - 0.8 * chosen) <= 1).sum())
    least = max(int(chosen.min()), 1)  # the fewer are chosen, the more probable it is
    k = np.arange(least + 1)
    probable = np.exp(_log_binomial(least, 0.8))[np.abs(k - 0.8 * least) <= 2].sum()
    return near > likely_counts(len(chosen), float(min(probable, 1.0)))[1]


def _random_ids(masked: _Masked) -> dict[str, str]:
    """Which ids take the place of tokens, and whether all do so equally often.

    A token that got another id than its own and the mask's got each of the rest with the same probability.
    """
    seen = masked.chosen()
    if seen is None:
        return {"random_ids": "not known"}
    ids, outs, words, chosen = seen
    before, after = ids[chosen & words], outs[chosen & words]
    visible, size = after != masked.mask_id, masked.vocab_size
    replaced = visible & (after != before)
    if not replaced.any():
        return {"random_ids": "none"}
    found, others = set(after[replaced].tolist()), set(range(size)) - {masked.mask_id}
    equally = found <= others and all(
        _is_likely(
            int((after[replaced & (before == word)] == each).sum()),
            int((replaced & (before == word)).sum()),
            1 / (size - 2),
        )
        for word in masked.inputs["words"]
        for each in others - {word}
    )
    if not equally:
        return {"random_ids": _kind_of_ids(masked, found, others, masked.by_call(outs), masked.by_call(ids))}
    own, remaining = int((visible & ~replaced).sum()), int(visible.sum())
    rightly, never = (0.1 + 0.1 / size) / (0.2 - 0.1 / size), 1 / (1 + (size - 2) / (size - 1))
    avoided = not _is_likely(own, remaining, rightly) and _is_likely(own, remaining, never)
    return {"random_ids": "never the token's own id" if avoided else "uniform over the vocabulary"}


def _kind_of_ids(masked: _Masked, found: set[int], others: set[int], outs: np.ndarray, ids: np.ndarray) -> str:
    missing, size = others - found, masked.vocab_size
    if found - set(range(size)):
        return "from 1 to the vocabulary's size" if 0 in missing else "beyond the vocabulary, too"
    changed = [np.unique(out[(out != before) & (out != masked.mask_id)]) for out, before in zip(outs, ids, strict=True)]
    if max(map(len, changed)) == 1:
        return "one id for all tokens of a call"
    if missing == {0}:
        return "never 0"
    if missing == {size - 1}:
        return "never the last of the vocabulary"
    if len(missing) > 1 and missing == set(range(len(missing))):
        return "never the lowest ids"
    if found <= {*masked.inputs["words"], *masked.specials} and missing & set(masked.inputs["unused"]):
        return "ids that occur in the text"
    return "never special ids" if missing == set(masked.specials) else "not equally often"


def _independent(masked: _Masked) -> dict[str, str]:
    """Whether each token is chosen for itself: seen from how many a row has, and from pairs of tokens."""
    seen = masked.chosen()
    if seen is None:
        return {"chosen": "not known"}
    words, chosen = masked.by_call(seen[2]), masked.by_call(seen[3] & seen[2])
    rate = masked.rate if _is_likely(int(chosen.sum()), int(words.sum()), masked.rate) else float(chosen[words].mean())
    if masked.inputs["rows"]:
        words, chosen = words[0], chosen[0]
    counts, most = chosen.sum(axis=1), words.sum(axis=1)
    if ((counts == 0) | (counts == most)).all() and counts.any():
        return {"chosen": "all tokens of a text, or none"}

    def together(first: Any, second: Any) -> bool:
        both = words[first] & words[second]
        count = int((chosen[first] & chosen[second] & both).sum())
        return count > likely_counts(int(both.sum()), rate**2)[1]

    rows, columns = (size // 2 * 2 for size in words.shape)
    if together(np.s_[0:rows:2], np.s_[1:rows:2]):
        return {"chosen": f"the same places in every {'row' if masked.inputs['rows'] else 'call'}"}
    if masked.inputs["rows"] and together(np.s_[:, 0:columns:2], np.s_[:, 1:columns:2]):
        return {"chosen": "neighbours together"}
    none = likely_counts(len(counts), (1 - rate) ** int(most[0]))[0]
    if (counts == 0).sum() < none and np.unique(counts).size > 2:
        return {"chosen": "at least one token"}
    return {"chosen": "a fixed number of tokens" if _too_alike(counts, masked, rate) else "each token for itself"}


def _too_alike(counts: np.ndarray, masked: _Masked, rate: float) -> bool:
    """Whether more rows have the same number of chosen tokens than chance allows, whatever the number."""
    words = masked.inputs["columns"] - masked.inputs["columns"] // 5
    if not 0 < rate < 1:
        return True
    most = np.bincount(counts)
    likely = np.exp(_log_binomial(words, rate))
    limits = [likely_counts(len(counts), float(p), ALARM / (words + 1))[1] for p in likely]
    return any(count > limit for count, limit in zip(most, limits, strict=False))


def _numbers_of(masked: _Masked) -> dict[str, str]:
    """Whose random numbers decide: asked for twice with the same generator, and with others."""
    ids = masked.ids[0]

    def alike(first: tuple[np.ndarray, ...], second: tuple[np.ndarray, ...]) -> bool:
        return all(np.array_equal(*both) for both in zip(first, second, strict=True))

    if not alike(masked.call(ids, 0), masked.call(ids, 0)):
        return {"numbers": "from another generator than rng"}
    if alike(masked.call(ids, 0), masked.call(ids, 1)):
        return {"numbers": "always the same"}
    one = masked.generator(0)
    if alike(masked.call(ids, 0, one), masked.call(ids, 0, one)):
        return {"numbers": "from a copy of rng"}
    return {"numbers": "from rng"}


MASKING = {
    "labels": _labels,
    "share": _share,
    "kinds": _kinds,
    "random": _random_ids,
    "independent": _independent,
    "numbers": _numbers_of,
}


def _mask_tokens(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Mask texts drawn from the case's seed, and say in words what happened to them."""
    return MASKING[mode](_Masked(namespace, inputs))


# ---- the schedule ----


def _warmup_linear_decay(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    result = find(namespace, "warmup_linear_decay")(
        *(inputs[key] for key in ("step", "peak", "warmup_steps", "total_steps"))
    )
    if result is None:
        raise ContractError("warmup_linear_decay(…) returned None. Is the `return` missing, or one of several?")
    value = np.asarray(result)
    if value.size != 1 or value.dtype.kind not in "iuf":
        raise ContractError(f"warmup_linear_decay(…) returned {repr(result)[:80]}; expected one number.")
    return {"rate": float(value.reshape(()))}


# ---- the classifier ----

LENGTH, CODES = 13, 17  # of the tiny halves: bytes of a text, and how many ids there are for bytes


def write_tiny_halves(folder: Path, width: int) -> tuple[str, str]:
    """Write a preprocessing and an encoder with the names, types and ranks of TF Hub's, and return their handles.

    Small enough to be written and read in a moment: an id for each byte, a table of vectors, a mean, a pooler.
    """
    import tensorflow as tf

    @tf.function(input_signature=[tf.TensorSpec((None,), tf.string)])
    def preprocess(texts: tf.Tensor) -> dict[str, tf.Tensor]:
        codes = tf.cast(tf.io.decode_raw(texts, tf.uint8, fixed_length=LENGTH - 1), tf.int32)
        ids = tf.pad(tf.where(codes > 0, 2 + codes % CODES, 0), [[0, 0], [1, 0]], constant_values=1)
        return {
            "input_word_ids": ids,
            "input_mask": tf.cast(ids > 0, tf.int32),
            "input_type_ids": tf.zeros_like(ids),
        }

    table = tf.Variable(tf.zeros((2 + CODES, width)), name="table")
    pooler = tf.Variable(tf.zeros((width, width)), name="pooler")
    whole = {key: tf.TensorSpec((None, None), tf.int32, name=key) for key in bert.INPUTS}

    @tf.function(input_signature=[whole])
    def encode(inputs: dict[str, tf.Tensor]) -> dict[str, Any]:
        vectors = tf.gather(table, inputs["input_word_ids"])  # (B, L, D)
        real = tf.cast(inputs["input_mask"], tf.float32)[..., None]
        mean = tf.reduce_sum(vectors * real, axis=1, keepdims=True) / tf.reduce_sum(real, axis=1, keepdims=True)
        sequence = vectors + 2 * mean
        pooled = tf.tanh(sequence[:, 0] @ pooler)
        return {
            "default": pooled,
            "pooled_output": pooled,
            "sequence_output": sequence,
            "encoder_outputs": [vectors, sequence],
        }

    first, second = tf.train.Checkpoint(), tf.train.Checkpoint()
    first.__call__, second.__call__ = preprocess, encode
    second.variables = second.trainable_variables = [table, pooler]  # where hub.KerasLayer looks for them
    handles = str(folder / "preprocess"), str(folder / "encoder")
    for module, handle in zip((first, second), handles, strict=True):
        tf.saved_model.save(module, handle)
    return handles


class _News:
    """A model from the student's `build_news_classifier`, made with tiny halves of this width."""

    def __init__(self, namespace: Mapping[str, Any], inputs: Mapping[str, Any]):
        import tf_keras

        self.width, self.classes = inputs["width"], inputs["num_classes"]
        self.dropout = inputs.get("dropout", 0.2)
        target = find(namespace, "build_news_classifier")
        handles = current_shelf().once(("halves", self.width), lambda: _written(self.width))
        named = {key: inputs[key] for key in ("num_classes", "dropout", "trainable") if key in inputs}
        if inputs["num_classes"] == 4:
            named.pop("num_classes")
        with _one_keras():
            model = target(*handles[:2], **named)
        if not isinstance(model, tf_keras.Model):
            if model is None:
                raise ContractError("build_news_classifier(…) returned None. Is the `return` missing?")
            if _is_keras_3(type(model)):
                raise ContractError(bert.MIXED)
            raise ContractError(
                f"build_news_classifier(…) returned a {type(model).__name__}; expected a tf_keras.Model."
            )
        self.model = model
        self._run(["a", "b"], False)  # a model that is built by its first call has its weights now

    def _run(self, texts: Sequence[str], training: bool) -> Any:
        import tensorflow as tf

        with _one_keras():
            return self.model(tf.constant(list(texts)), training=training)

    def __call__(self, texts: Sequence[str], training: bool = False) -> np.ndarray:
        """The probabilities of texts, (n, classes)."""
        result = self._run(texts, training)
        if isinstance(result, (list, tuple, Mapping)) or result is None:
            raise ContractError(f"the model returns a {type(result).__name__}; expected one tensor of probabilities.")
        result = np.asarray(result)
        if result.shape != (len(texts), self.classes):
            raise ContractError(
                f"for {len(texts)} texts the model gives {result.shape}; expected {(len(texts), self.classes)}."
            )
        return result

    def encoder(self) -> tuple[Any, Any] | None:
        """The encoder's table and pooler among the model's weights; None where they are not."""
        wanted = [(2 + CODES, self.width), (self.width, self.width)]
        found = [[each for each in self.model.weights if tuple(each.shape) == shape] for shape in wanted]
        return (found[0][0], found[1][0]) if all(found) else None

    def head(self) -> list[Any]:
        """The four weights of the head, trainable or not, or `ContractError` when there are others."""
        inner = {id(each) for each in self.encoder() or ()}
        found = [each for each in self.model.weights if id(each) not in inner]
        shapes = [(self.width, 16), (16,), (16, self.classes), (self.classes,)]
        if sorted(tuple(each.shape) for each in found) != sorted(shapes):
            shown = ", ".join(str(tuple(each.shape)) for each in found) or "none"
            raise ContractError(f"the head has weights of the shapes {shown}; expected {shapes}.")
        by_shape = {tuple(each.shape): each for each in found}
        return [by_shape[shape] for shape in shapes]


def _written(width: int) -> tuple[str, str, Any]:
    folder = tempfile.TemporaryDirectory(prefix="tiny-bert-")
    return *write_tiny_halves(Path(folder.name), width), folder  # the folder goes when the shelf does


def _is_keras_3(kind: type) -> bool:
    import keras

    return issubclass(kind, (keras.Model, keras.Layer, keras.KerasTensor))


@contextlib.contextmanager
def _one_keras() -> Iterator[None]:
    """`bert.one_keras`, whose error is the student's to mend."""
    try:
        with bert.one_keras():
            yield
    except bert.KerasMixError as error:
        raise ContractError(str(error)) from error


def _parameters(built: _News, inputs: Mapping[str, Any]) -> dict[str, Any]:
    parts = built.encoder()
    trainable = {id(each) for each in built.model.trainable_weights}
    inner = {id(each) for each in parts or ()}
    head = sum(int(np.prod(each.shape)) for each in built.model.trainable_weights if id(each) not in inner)
    if parts is None:
        other = bool(built.model.weights) and head > 20 * (built.width + built.classes + 17)
        return (
            {"encoder": "is not the one of the handle", "head": -1}
            if other
            else {"encoder": "is no part of the model", "head": head}
        )
    return {"encoder": "learns" if inner <= trainable else "is frozen", "head": head}


WEIGHTS = ("w1", "b1", "w2", "b2")


def _with_weights(built: _News, inputs: Mapping[str, Any]) -> None:
    parts = built.encoder()
    if parts is None:
        raise ContractError(
            "the encoder's weights are not among the model's: is it a layer of the model, made from its handle?"
        )
    for variable, name in zip((*parts, *built.head()), ("table", "pooler", *WEIGHTS), strict=True):
        variable.assign(inputs[name])


def _values(built: _News, inputs: Mapping[str, Any]) -> dict[str, Any]:
    _with_weights(built, inputs)
    result = built(inputs["texts"])
    if np.abs(built(inputs["texts"]) - result).max() > 1e-6:
        raise ContractError("with training=False the same texts get another result each time.")
    return {"probabilities": result}


def _gradients(built: _News, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Whether a training step reaches every weight that is to learn."""
    import tensorflow as tf

    _with_weights(built, inputs)
    variables = built.model.trainable_variables
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(built.model(tf.constant(inputs["texts"]), training=False)[:, 0])
    lost = [each.name for each, slope in zip(variables, tape.gradient(loss, variables), strict=True) if slope is None]
    if not lost:
        return {"gradients": "reach every weight that learns"}
    inner = {each.name for each in built.encoder() or ()}
    return {"gradients": f"do not reach {'the encoder' if inner & set(lost) else 'the whole head'}"}


COPIES, STEP = 2500, 1e-4


def _dropout(built: _News, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Where the dropout is and how much it drops, seen from the results for many copies of one text.

    With w1 = 0 and b1 = 1 all 16 hidden values are the same. With powers of 2 in w2 the result tells which of them
    were dropped.
    """
    values = {name: np.zeros_like(inputs[name]) for name in WEIGHTS}
    values["b1"][:] = 1
    values["w2"][:, 0] = STEP * 2.0 ** np.arange(16)
    _with_weights(built, {**inputs, **values})
    copies = [inputs["texts"][0]] * COPIES
    still, said = built(copies[:50]), built(copies, training=True)
    moves = np.ptp(still, axis=0).max() > 1e-6
    if _is_no_distribution(still):
        where = "not known"
    elif _is_no_distribution(said):
        where = "behind the output"
    else:
        step = STEP if moves else _scores(still)[0] / (2**16 - 1)  # less than STEP where the activation is no ReLU
        where = _dropped(_scores(said), float(step), built, inputs, settled=not moves)
    return {"training": where, "outside": "another result each time" if moves else "the same result"}


def _is_no_distribution(said: np.ndarray) -> bool:
    return bool(np.abs(said.astype("float64").sum(axis=1) - 1).max() > 1e-4)


def _scores(said: np.ndarray) -> np.ndarray:
    said = said.astype("float64")
    return np.log(said[:, 0]) - np.log(said[:, 1])


def _dropped(scores: np.ndarray, step: float, built: _News, inputs: Mapping[str, Any], *, settled: bool) -> str:
    if step < STEP / 4:
        return "somewhere else"
    if np.ptp(scores) < step / 4:
        _with_weights(built, inputs)
        said = built([inputs["texts"][0]] * 200, training=True)
        return "before the hidden layer" if np.ptp(said, axis=0).max() > 1e-6 else "nowhere"
    for rate in dict.fromkeys((built.dropout, 0.2, 1 - built.dropout, *np.arange(1, 20) / 20)):
        codes = scores / step * (1 - rate)
        if np.abs(codes - np.round(codes)).max() < 0.2 and np.unique(np.round(codes)).size > 20:
            bits = (np.round(codes).astype(int)[:, None] >> np.arange(16)) & 1
            if _is_likely(int((bits == 0).sum()), bits.size, float(rate)):
                alone = not settled or _only_there(built, inputs, float(rate))
                return f"{rate:.0%} behind the hidden layer" if alone else "somewhere else"
    return "somewhere else"


def _only_there(built: _News, inputs: Mapping[str, Any], rate: float) -> bool:
    """Whether nothing else is dropped: with equal hidden values that the pooled output decides, a result tells how many
    of the 16 were kept, and a dropped part of the pooled output would give fractions of them."""
    values = {name: np.zeros_like(inputs[name]) for name in WEIGHTS}
    values |= {"w1": np.ones_like(inputs["w1"]), "table": np.ones_like(inputs["table"])}
    values["w2"][:, 0] = 0.05
    _with_weights(built, {**inputs, **values, "pooler": np.full_like(inputs["pooler"], 0.1)})
    copies = [inputs["texts"][0]] * 500
    whole = _scores(built(copies[:2]))[0]
    kept = _scores(built(copies, training=True)) / whole * 16 * (1 - rate)
    return not whole or bool(np.abs(kept - np.round(kept)).max() < 0.05)


NEWS = {"parameters": _parameters, "values": _values, "gradients": _gradients, "dropout": _dropout}


def _build_news_classifier(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Build a model on tiny halves and drive it; cases with the same arguments share it."""
    sizes = tuple(inputs.get(key) for key in ("width", "num_classes", "dropout", "trainable"))
    key = ("news", id(find(namespace, "build_news_classifier")), *sizes)
    return NEWS[mode](current_shelf().once(key, lambda: _News(namespace, inputs)), inputs)


# ---- class names ----


class _Oracle:
    """Stands for a model: its `predict` knows the probabilities of the case's texts, and nothing else."""

    def __init__(self, texts: Sequence[str], probabilities: np.ndarray):
        self._rows = dict(zip(texts, probabilities, strict=True))

    def predict(
        self, x: Any, batch_size: int | None = None, verbose: Any = "auto", steps: Any = None, **_: Any
    ) -> np.ndarray:
        """Probabilities (n, classes) for texts in any form that Keras takes."""
        texts = [str(each) for each in _flat(x)]
        if not texts:
            raise ValueError("Unexpected result of `predict_function`: the input is empty.")
        unknown = [text for text in texts if text not in self._rows]
        if unknown:
            raise ContractError(f"the model got the text {unknown[0][:60]!r}, which is none of those given.")
        return np.stack([self._rows[text] for text in texts])

    def __call__(self, *_: Any, **__: Any) -> None:
        raise ContractError("the model was called itself; take its `predict`, which every model here has.")


def _flat(x: Any) -> list[str]:
    """The texts in a list, an array, a tensor or a tf.data.Dataset of them, batched or not."""
    if isinstance(x, (str, bytes)):
        return [x.decode() if isinstance(x, bytes) else x]
    if hasattr(x, "as_numpy_iterator"):
        return [text for batch in x.as_numpy_iterator() for text in _flat(batch)]
    if hasattr(x, "numpy"):
        x = x.numpy()
    if isinstance(x, np.ndarray):
        return [text for each in x.reshape(-1).tolist() for text in _flat(each)]
    if isinstance(x, Collection):
        return [text for each in x for text in _flat(each)]
    raise ContractError(f"`predict` got a {type(x).__name__}; expected texts.")


def _predict_class_names(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    texts, names = list(inputs["texts"]), tuple(inputs["class_names"])
    model = _Oracle(texts, inputs["probabilities"])
    result = find(namespace, "predict_class_names")(model, texts, names)
    if result is None:
        raise ContractError("predict_class_names(…) returned None. Is the `return` missing?")
    values = list(np.asarray(result).reshape(-1)) if isinstance(result, np.ndarray) else result
    if isinstance(values, str) or not isinstance(values, Collection):
        return {"names": [str(values)], "kind": f"a {type(result).__name__}"}
    kind = (
        "a list"
        if isinstance(result, list)
        else "an array"
        if isinstance(result, np.ndarray)
        else f"a {type(result).__name__}"
    )
    if not all(isinstance(each, str) for each in values):
        kind = "a list of numbers"
    return {"names": [str(each) for each in values], "kind": kind}


PROBES = {
    "wordpiece_tokenize": _wordpiece_tokenize,
    "pack_inputs": _pack_inputs,
    "mask_tokens": _mask_tokens,
    "warmup_linear_decay": _warmup_linear_decay,
    "build_news_classifier": _build_news_classifier,
    "predict_class_names": _predict_class_names,
    "answers": answers(),
}
