"""Reading of lab 07's masking: what is true of masked ids.

What may differ from call to call is counted over many tokens and compared with what chance allows. Every comparison is
with an exact binomial distribution, and rejects a correct function with a probability of at most `ALARM`. For all
comparisons of one mark together that is 3 in 10 million: `tests/probes/test_bert_ag_news.py` adds up the exact tails.
The counts depend on the joint distribution of the draws alone, so their order does not matter.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from coursekit.check.chance import ALARM, is_likely, likely_counts, log_binomial
from coursekit.probes.evidence import ContractError, Says, taken
from coursekit.probes.token_masking import SHORT_CALLS, texts_of

RIGHT_LABELS = "the original ids where chosen, -100 elsewhere"


def _ids(array: np.ndarray) -> np.ndarray:
    """Whole numbers, also where they came as floats. Raises ContractError where they are none."""
    if array.dtype.kind == "f" and not ((np.abs(array) < 2**53) & (array == np.round(array))).all():
        raise ContractError("what came back are no whole numbers.")
    return array.astype("int64")


class _Masked:
    """Texts of ids, and what the student's function made of them, over several calls."""

    def __init__(self, inputs: Mapping[str, Any], made: Mapping[str, Any]):
        self.inputs, self.made = inputs, made
        self.vocab_size, self.mask_id = inputs["vocab_size"], inputs["mask_id"]
        self.specials = list(inputs["special_ids"])
        self.rate = inputs.get("rate", 0.15)
        self.ids = texts_of(inputs)
        arrays = [self.array(name, (len(self.ids), *self.ids[0].shape)) for name in ("inputs", "labels")]
        self.are_whole = all(array.dtype.kind in "iu" for array in arrays)
        self.outs, self.labels = (list(_ids(array)) for array in arrays)
        self.given = self.array("given", self.ids[-1].shape)

    def array(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        """An array that came back, of this shape. Raises ContractError where it is none."""
        return taken(self.made, name, shape)

    def all(self, arrays: Sequence[np.ndarray]) -> np.ndarray:
        """The arrays of all calls, end to end."""
        return np.concatenate([array.reshape(-1) for array in arrays])

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
        others = np.setdiff1d(values, self.inputs["words"])
        fill = int(others[0] if len(others) == 1 else values[np.argmax(counts)])
        chosen = labels != fill
        if fill not in self.inputs["words"] and (labels[chosen] == ids[chosen]).all():
            return f"{fill} elsewhere, not -100", chosen
        return ("the ids everywhere, masked" if (labels == outs).all() else "other numbers than the ids"), outs != ids

    def chosen(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray] | None:
        """Ids, inputs, which tokens are words and which are chosen, over all calls; None where labels do not tell."""
        ids, outs, labels = map(self.all, (self.ids, self.outs, self.labels))
        told, chosen = self.marked(ids, outs, labels)
        if told not in (RIGHT_LABELS, "the ids after masking") and not told.endswith("elsewhere, not -100"):
            return None
        return ids, outs, ~np.isin(ids, self.specials), chosen

    def leave_out_repeats(self) -> None:
        """Keep the first call only, if every call chose the same places: the others would be counted as chance."""
        words = ~np.isin(np.stack(self.ids), self.specials)  # (calls, …)
        chosen = np.stack(self.labels) != -100
        if ((chosen == chosen[0]) | ~words | ~words[0]).all():
            self.ids, self.outs, self.labels = self.ids[:1], self.outs[:1], self.labels[:1]

    def by_call(self, values: np.ndarray) -> np.ndarray:
        """What `chosen` gives, with an axis for the calls and the axes of the ids again."""
        return values.reshape(len(self.ids), *self.ids[0].shape)


# What is true of a right function names numbers of the case, which are drawn: nobody can copy it from another case.


def never_chosen(specials: Sequence[int]) -> str:
    """Special ids are never chosen."""
    return f"{', '.join(map(str, specials))} never chosen"


def at_the_rate(rate: float) -> str:
    """As many tokens are chosen as the rate says."""
    return f"the rate, {rate:g}"


def in_three_kinds(mask_id: int) -> str:
    """What becomes of the chosen tokens."""
    return f"80 % mask, which is {mask_id}, 10 % random, 10 % kept"


def uniform_over(ids: Iterable[int]) -> str:
    """Each of these ids is drawn equally often."""
    return f"uniform over the vocabulary: {', '.join(map(str, sorted(ids)))}"


def each_for_itself(columns: int) -> str:
    """No token's choice depends on another's."""
    return f"each of {columns} tokens of a text for itself"


def _labels(masked: _Masked) -> dict[str, str]:
    ids, outs, labels = map(masked.all, (masked.ids, masked.outs, masked.labels))
    told, chosen = masked.marked(ids, outs, labels)
    facts = {"labels": told, "special": "not known", "unlabelled": "not known"}
    if masked.chosen() is not None:
        facts["special"] = (
            "chosen, too" if np.isin(ids[chosen], masked.specials).any() else never_chosen(masked.specials)
        )
        facts["unlabelled"] = "change, too" if (outs != ids)[~chosen].any() else "stay as they are"
    same = np.array_equal(masked.given, masked.ids[-1])
    facts["argument"] = "as it was" if same else "changed in place"
    facts["shape"] = "that of ids" if masked.are_whole else "that of ids, but the numbers are floats"
    return facts


def _share(masked: _Masked) -> dict[str, str]:
    seen = masked.chosen()
    if seen is None:
        return {"share": "not known"}
    _, _, words, chosen = seen
    count, size, rate = int((chosen & words).sum()), int(words.sum()), masked.rate
    texts, hit = masked.by_call(words)[0], masked.by_call(chosen & words)[0]
    if masked.inputs["rows"]:  # all of a row or none, or all of a column: then these are counted, not words
        for axis in (1, 0):
            lines = hit.any(axis=axis)
            if (hit == texts & np.expand_dims(lines, axis)).all():
                count, size = int(lines.sum()), len(lines)
    hypotheses = {
        at_the_rate(rate): rate,
        "15 %, whatever the rate": 0.15,
        "all but the rate": 1 - rate,
        "the rate, of the special tokens' number as well": rate * len(words) / int(words.sum()),
        "nine tenths of the rate": 0.9 * rate,
        "eight tenths of the rate": 0.8 * rate,
    }
    percent = round(100 * rate, 6)
    whole = {math.floor(percent) / 100, math.ceil(percent) / 100} - {percent / 100}
    if any(is_likely(count, size, p) for p in whole) and _is_right_at_15(masked):
        hypotheses["the rate in whole per cent"] = min(whole, key=lambda p: abs(count - p * size))
    fitting = [name for name, p in hypotheses.items() if p < 1 and is_likely(count, size, p)]
    if at_the_rate(rate) in fitting:
        return {"share": at_the_rate(rate)}
    nearest = min(fitting, key=lambda name: abs(count - hypotheses[name] * size), default="")
    return {"share": nearest or f"{100 * count / size:.3g}% of the words"}


def _is_right_at_15(masked: _Masked) -> bool:
    """Whether as many words as the rate says are chosen when the function gets the rate 0.15."""
    if "rate" not in masked.inputs:
        return False
    ids = masked.ids[0]
    labels = masked.array("at_15", (2, *ids.shape))[1]
    words = ~np.isin(ids, masked.specials)
    return is_likely(int(((labels != -100) & words).sum()), int(words.sum()), 0.15)


KINDS = {  # wrong shares of mask, random and kept; what is kept for lack of a label counts as not chosen
    "100 % mask, 0 % random, 0 % kept": (1.0, 0.0, 0.0),
    "80 % mask, 20 % random, 0 % kept": (0.8, 0.2, 0.0),
    "80 % mask, 0 % random, 20 % kept": (0.8, 0.0, 0.2),
    "80 % mask, 2 % random, 18 % kept": (0.8, 0.02, 0.18),
    "72 % mask, 10 % random, 18 % kept": (0.72, 0.1, 0.18),
    "89 % mask, 11 % random, 0 % kept": (8 / 9, 1 / 9, 0.0),
    "10 % mask, 80 % random, 10 % kept": (0.1, 0.8, 0.1),
    "10 % mask, 10 % random, 80 % kept": (0.1, 0.1, 0.8),
    "33 % mask, 33 % random, 33 % kept": (1 / 3, 1 / 3, 1 / 3),
    "15 % mask, 10 % random, 75 % kept": (0.15, 0.1, 0.75),
    "40 % mask, 5 % random, 55 % kept": (0.4, 0.05, 0.55),  # of all words, with the rate 0.5
}


LEAST_CHOSEN = 100  # of some hundred thousand tokens: of fewer, nearly every share is likely


def _kinds(masked: _Masked) -> dict[str, str]:
    seen = masked.chosen()
    if seen is None:
        return {"kinds": "not known"}
    ids, outs, words, chosen = seen
    chosen = chosen & words
    if chosen.sum() < LEAST_CHOSEN:
        return {"kinds": "too few are chosen to tell"}
    mask, kept = outs == masked.mask_id, outs == ids
    fate = _one_fate(masked, chosen, mask, kept)
    if fate:
        return {"kinds": fate}
    stray = 1 / masked.vocab_size  # a random id is now and then that of the mask, or the token's own
    counts, size = [int(which[chosen].sum()) for which in (mask, ~mask & ~kept, kept)], int(chosen.sum())
    if _by_count(
        *(masked.by_call(which).reshape(len(masked.ids), -1).sum(axis=1) for which in (chosen, chosen & mask))
    ):
        return {"kinds": "exactly 80 % mask in every call"}
    for name, (m, r, k) in {in_three_kinds(masked.mask_id): (0.8, 0.1, 0.1), **KINDS}.items():
        expected = (m + r * stray, r * (1 - 2 * stray), k + r * stray)
        if all(is_likely(count, size, p) for count, p in zip(counts, expected, strict=True)):
            return {"kinds": name}
    names = zip(counts, ("mask", "random", "kept"), strict=True)
    return {"kinds": ", ".join(f"{100 * count / max(size, 1):.0f} % {name}" for count, name in names)}


CALL_ALIKE, LINE_ALIKE = (f"one kind for all tokens of a {what}" for what in ("call", "row, or of a column"))


def _one_fate(masked: _Masked, chosen: np.ndarray, mask: np.ndarray, kept: np.ndarray) -> str:
    """What says that one number decides for many tokens; empty if each is decided for itself."""
    stray = 1 / masked.vocab_size
    calls = [masked.by_call(which) for which in (chosen, mask, kept)]  # (calls, T) or (calls, B, T)
    if _all_alike(calls, stray):
        return CALL_ALIKE
    lines = (calls, [call.swapaxes(1, 2) for call in calls]) if masked.inputs["rows"] else ()
    alike = any(_all_alike([call.reshape(-1, call.shape[-1]) for call in line], stray) for line in lines)
    return LINE_ALIKE if alike else ""


def _all_alike(parts: Sequence[np.ndarray], stray: float) -> bool:
    """Whether in each call, row or column all chosen tokens met the same fate, though not the same in all of them.

    The parts (lines, T) say which tokens are chosen, which are the mask and which are as they were. A random id is that
    of the mask, or the token's own, with the probability `stray` each.
    """
    fates = set()
    for places, masked, same in zip(*parts, strict=True):
        size = int(places.sum())
        shares = [which[places].mean() if size else 0.0 for which in (masked, same, ~masked & ~same)]
        strays = 2 * stray * size
        if size * (1 - max(shares)) > strays + max(2.0, 0.03 * size, 6 * math.sqrt(strays)):
            return False
        fates.add(int(np.argmax(shares)))
    return len(fates) > 1


def _by_count(chosen: np.ndarray, masked: np.ndarray) -> bool:
    """Whether in more calls than chance allows four fifths of the chosen tokens are masked, give or take one."""
    near = int((np.abs(masked - 0.8 * chosen) <= 1).sum())
    least = max(int(chosen.min()), 1)  # the fewer are chosen, the more probable it is
    k = np.arange(least + 1)
    probable = np.exp(log_binomial(least, 0.8))[np.abs(k - 0.8 * least) <= 2].sum()
    return near > likely_counts(len(chosen), float(min(probable, 1.0)))[1]


def _random_ids(masked: _Masked) -> dict[str, str]:
    """Which ids take the place of tokens, and whether all do so equally often.

    A token that got another id than its own and the mask's got each of the rest with the same probability. Whether
    the mask's id and the token's own are drawn as well shows in the shares of masked, replaced and kept tokens only.
    """
    masked.leave_out_repeats()
    seen = masked.chosen()
    if seen is None:
        return {"random_ids": "not known"}
    ids, outs, words, chosen = seen
    before, after = ids[chosen & words], outs[chosen & words]
    visible, size = after != masked.mask_id, masked.vocab_size
    replaced = visible & (after != before)
    if not replaced.any():
        return {"random_ids": CALL_ALIKE if _fates_differ(masked) else "none"}
    fate = _one_fate(masked, chosen & words, outs == masked.mask_id, outs == ids)
    if fate == CALL_ALIKE:
        return {"random_ids": fate}
    drawn = masked.by_call(np.where(chosen & words & (outs != ids) & (outs != masked.mask_id), outs, -1))
    if any((_different(drawn, axis) <= 1).all() for axis in (1, 2)) and _different(drawn, (1, 2)).max() > 1:
        return {"random_ids": "one id for all tokens of a row, or of a column"}
    found, others = set(after[replaced].tolist()), set(range(size)) - {masked.mask_id}
    equally = found <= others and _equally_often(masked, before[replaced], after[replaced], others)
    if not equally:
        kind = _kind_of_ids(masked, found, others, masked.by_call(outs), masked.by_call(ids))
        if kind.startswith("never") and not _equally_often(masked, before[replaced], after[replaced], found):
            kind = "not equally often"
        return {"random_ids": kind}
    told = uniform_over({*found, masked.mask_id})
    if fate:  # the shares depend on a few rows
        return {"random_ids": told}
    draws = {  # how often a random id is that of the mask, and the token's own
        told: (1 / size, 1 / size),
        "never the token's own id": (1 / (size - 1), 0.0),
        "never that of the mask": (0.0, 1 / (size - 1)),
        "never that of the mask, nor the token's own": (0.0, 0.0),
    }
    counts = [int(which.sum()) for which in (~visible, replaced, visible & ~replaced)]
    for name, (of_mask, own) in draws.items():
        shares = 0.8 + 0.1 * of_mask, 0.1 * (1 - of_mask - own), 0.1 + 0.1 * own
        if all(is_likely(count, len(after), share) for count, share in zip(counts, shares, strict=True)):
            return {"random_ids": name if name == told or _has_right_kinds(masked) else told}
    return {"random_ids": told}  # the shares themselves are wrong, which the mode `kinds` says


def _equally_often(masked: _Masked, before: np.ndarray, after: np.ndarray, drawn: set[int]) -> bool:
    """Whether for each word all of these ids but its own take its place with the same probability."""
    return all(
        is_likely(int((after[before == word] == other).sum()), int((before == word).sum()), 1 / len(drawn - {word}))
        for word in masked.inputs["words"]
        for other in drawn - {word}
    )


def _has_right_kinds(masked: _Masked) -> bool:
    """Whether 80, 10 and 10 % are right in a vocabulary of which hardly a random id is the mask's or the own."""
    wide = masked.array("wide", (masked.inputs["calls"], 2, *masked.ids[0].shape))[: len(masked.ids)]
    ids, outs, labels = masked.all(masked.ids), *(masked.all(list(wide[:, half])) for half in (0, 1))
    chosen = (labels != -100) & ~np.isin(ids, masked.specials)
    kinds = outs == masked.mask_id, (outs != masked.mask_id) & (outs != ids), outs == ids
    counts = [int((kind & chosen).sum()) for kind in kinds]
    return all(is_likely(count, sum(counts), share) for count, share in zip(counts, (0.8, 0.1, 0.1), strict=True))


def _different(ids: np.ndarray, axis: int | tuple[int, ...]) -> np.ndarray:
    """How many different ids there are along axes, -1 not counted."""
    axes = (axis,) if isinstance(axis, int) else axis
    last = np.moveaxis(ids, axes, range(-len(axes), 0))
    ordered = np.sort(last.reshape(*last.shape[: -len(axes)], -1), axis=-1)
    return ((ordered[..., 1:] != ordered[..., :-1]) & (ordered[..., 1:] >= 0)).sum(axis=-1) + (ordered[..., 0] >= 0)


def _fates_differ(masked: _Masked) -> bool:
    """Whether all tokens of a call meet one fate, but not the same in every call: seen in many calls of one row."""
    ids = masked.ids[0][0]
    short = masked.array("short", (SHORT_CALLS, 2, *ids.shape))
    outs, chosen = short[:, 0], (short[:, 1] != -100) & ~np.isin(ids, masked.specials)
    return _all_alike([chosen, outs == masked.mask_id, outs == ids], 1 / masked.vocab_size)


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
    rate = masked.rate if is_likely(int(chosen.sum()), int(words.sum()), masked.rate) else float(chosen[words].mean())
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
    alike = _too_alike(counts, masked, rate)
    return {"chosen": "a fixed number of tokens" if alike else each_for_itself(words.shape[1])}


def _too_alike(counts: np.ndarray, masked: _Masked, rate: float) -> bool:
    """Whether more rows have the same number of chosen tokens than chance allows, whatever the number."""
    words = masked.inputs["columns"] - masked.inputs["columns"] // 5
    if not 0 < rate < 1:
        return True
    most = np.bincount(counts)
    likely = np.exp(log_binomial(words, rate))
    limits = [likely_counts(len(counts), float(p), ALARM / (words + 1))[1] for p in likely]
    return any(count > limit for count, limit in zip(most, limits, strict=False))


def _numbers_of(masked: _Masked) -> dict[str, str]:
    """Whose random numbers decide: asked for twice with the same generator, and with others."""
    once, again, other, first, second = masked.array("by_rng", (5, 2, *masked.ids[0].shape))
    if not np.array_equal(once, again):
        return {"numbers": "from another generator than rng"}
    if np.array_equal(once, other):
        return {"numbers": "always the same"}
    return {"numbers": "from a copy of rng" if np.array_equal(first, second) else "from rng"}


MASKING = {
    "labels": _labels,
    "share": _share,
    "kinds": _kinds,
    "random": _random_ids,
    "independent": _independent,
    "numbers": _numbers_of,
}


def _reading(says: Callable[[_Masked], dict[str, str]]) -> Says:
    """What is true of masked texts, in words that name numbers of the case."""
    return lambda inputs, made: dict(says(_Masked(inputs, made)))


MASKING_SEEN = {mode: _reading(says) for mode, says in MASKING.items()}
