"""What several exercises of lab 08b share."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from coursekit.probes.generating_text import Step, table_step
from exercises.formulas.losses import log_softmax

Hypothesis = tuple[list[int], float]  # the tokens, and the sum of their log-probabilities


def greedy_decode(table: np.ndarray, kind: str, start_id: int, end_id: int, max_length: int) -> dict[str, str]:
    """From the start id on, append the most probable token until it is the end id or the list is full."""
    step = table_step(table, kind)
    tokens = [start_id]
    for _ in range(free_places(max_length)):
        log_p = step(tokens)
        tokens.append(int(log_p.argmax()))
        if is_finished(tokens, end_id):
            break
    return {"tokens": str(tokens)}


def free_places(max_length: int) -> int:
    """How many tokens may follow the start id."""
    return max_length - 1


def is_finished(tokens: Sequence[int], end_id: int) -> bool:
    """Whether a generated token, not the start id, is the end id."""
    return len(tokens) > 1 and tokens[-1] == end_id


def scoring(length_penalty: float) -> Callable[[Hypothesis], float]:
    """The score of a hypothesis: Σ ln p / ((5 + n)/6)^length_penalty of its n generated tokens."""

    def score(hypothesis: Hypothesis) -> float:
        tokens, total = hypothesis
        length = len(tokens) - 1
        return total / ((5 + length) / 6) ** length_penalty

    return score


def lengthened(hypothesis: Hypothesis, step: Step) -> list[Hypothesis]:
    """A hypothesis with each token behind it."""
    tokens, total = hypothesis
    return [([*tokens, token], total + float(log_p)) for token, log_p in enumerate(step(tokens))]


def finished_apart(table, kind, start_id, end_id, beam_width, max_length, length_penalty=0.0, places="refilled"):
    """Beam search in which finished hypotheses leave the beam, as many programs have it.

    Their places go to others at once (``refilled``), in the next round (``given back``), or never (``kept``).
    """
    step = table_step(table, kind)
    rank = scoring(length_penalty)
    beam, done, width = [([start_id], 0.0)], [], beam_width
    for _ in range(max_length - 1):
        candidates = [longer for hypothesis in beam for longer in lengthened(hypothesis, step)]
        if not candidates:
            break
        candidates.sort(key=rank, reverse=True)
        ended = [is_finished(tokens, end_id) for tokens, _ in candidates]
        new = [candidate for candidate, over in zip(candidates[:width], ended, strict=False) if over]
        done += new
        left = candidates if places == "refilled" else candidates[:width]
        beam = [candidate for candidate, over in zip(left, ended, strict=False) if not over][:width]
        width -= len(new) if places == "kept" else 0
        if not width or (places == "refilled" and len(done) >= width):
            break
    best = max([*done, *beam], key=rank)
    return {"tokens": str(best[0]), "score": np.asarray(rank(best))}


def draw_table(rng, words, kind, *, rows=23, end_id=1, end=0.0):
    """Log-probabilities of the next token for a `table_step`; a large `end` makes the end id more probable."""
    scores = 1.5 * rng.normal(size=(words if kind == "last token" else rows, words))
    scores[:, end_id] += end
    return log_softmax(scores)


def search(rng, *, words=5, kind="all tokens", end=0.0, max_length=6, width=None, penalty=None, table=None):
    """Inputs of a search: a drawn table or the given one, start and end id, and what else is given."""
    start, end_id = rng.choice(words, size=2, replace=False)
    inputs: dict[str, Any] = {
        "table": draw_table(rng, words, kind, end_id=end_id, end=end) if table is None else table,
        "kind": kind,
        "start_id": int(start),
        "end_id": int(end_id),
        "max_length": max_length,
    }
    inputs |= {} if width is None else {"beam_width": width}
    return inputs | ({} if penalty is None else {"length_penalty": penalty})


def until(make: Callable[[], dict], accept: Callable[[dict], bool], tries: int = 5000) -> dict:
    """Draw inputs until they are accepted."""
    for _ in range(tries):
        inputs = make()
        if accept(inputs):
            return inputs
    raise RuntimeError("no inputs of the wanted kind were drawn")


def greedy(inputs: Mapping[str, Any], formula: Callable[..., dict[str, Any]] = greedy_decode) -> str:
    """The sentence of greedy search for the inputs of any search."""
    return formula(**{key: inputs[key] for key in ("table", "kind", "start_id", "end_id", "max_length")})["tokens"]
