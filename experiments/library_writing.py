"""What a model of Python source writes, and four measures of it.

Samples are bodies of functions whose first line is given. The parser and the syntax tree judge them; nothing is run.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from coursekit.lecture.pages.byte_pairs import PlainBytePairs
from coursekit.lecture.pages.language_model import PlainLanguageModel

LONGEST = 256  # tokens of a body


@dataclass(frozen=True)
class Sample:
    """A body written behind a prompt; `ended` says whether the model wrote the end in time."""

    prompt: str
    body: str
    ended: bool
    ids: tuple[int, ...]


class CachedSteps:
    """The page's model in NumPy with keys and values kept: one token of B rows in, their logits (B, V) out."""

    def __init__(self, model: PlainLanguageModel, batch: int, longest: int):
        self.table = np.array(model.table)
        self.gamma = np.array(model.norm.gamma)
        self.blocks = [
            {name: np.array(getattr(block, name).gamma) for name in ("norm1", "norm2")}
            | {name: np.array(getattr(block, name).kernel) for name in ("w_gate", "w_up", "w_down")}
            | {name: np.array(getattr(block.attention, name).kernel) for name in ("w_q", "w_k", "w_v", "w_o")}
            for block in model.blocks
        ]
        self.heads, self.width = model.blocks[0].attention.split  # H, K
        self.kept = np.zeros((len(self.blocks), 2, batch, self.heads, longest, self.width), "float32")
        self.time = 0

    def __call__(self, ids: np.ndarray) -> np.ndarray:
        rows, time = len(ids), self.time
        x = self.table[ids] * np.float32(self.table.shape[1] ** 0.5)  # (B, D)
        for block, (keys, values) in zip(self.blocks, self.kept, strict=True):
            read = _norm(x, block["norm1"])
            q, k, v = ((read @ block[name]).reshape(rows, self.heads, self.width) for name in ("w_q", "w_k", "w_v"))
            keys[:, :, time], values[:, :, time] = _turned(k, time), v
            scores = np.einsum("bhk,bhtk->bht", _turned(q, time), keys[:, :, : time + 1]) / self.width**0.5
            weights = np.exp(scores - scores.max(-1, keepdims=True))
            weights /= weights.sum(-1, keepdims=True)
            heads = np.einsum("bht,bhtk->bhk", weights, values[:, :, : time + 1])
            x = x + heads.reshape(rows, -1) @ block["w_o"]
            read = _norm(x, block["norm2"])
            gate = read @ block["w_gate"]
            x = x + (gate / (1 + np.exp(-gate)) * (read @ block["w_up"])) @ block["w_down"]
        self.time += 1
        return _norm(x, self.gamma) @ self.table.T


def _norm(x: np.ndarray, gamma: np.ndarray) -> np.ndarray:
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + 1e-6) * gamma


def _turned(x: np.ndarray, time: int) -> np.ndarray:
    width = x.shape[-1]
    angles = np.float32(time) / np.float32(10_000) ** (np.arange(0, width, 2, dtype="float32") / width)
    cos, sin = np.cos(angles), np.sin(angles)
    turned = np.empty_like(x)
    turned[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin
    turned[..., 1::2] = x[..., 0::2] * sin + x[..., 1::2] * cos
    return turned


def drawn(logits: np.ndarray, temperature: float, p: float, rng: np.random.Generator) -> np.ndarray:
    """One token for each row of logits (B, V): temperature first, then the smallest set with mass p; 0 is greedy."""
    if temperature == 0:
        return logits.argmax(-1)
    scaled = logits.astype("float64") / temperature
    probabilities = np.exp(scaled - scaled.max(-1, keepdims=True))
    probabilities /= probabilities.sum(-1, keepdims=True)
    order = np.argsort(-probabilities, axis=-1)
    mass = np.take_along_axis(probabilities, order, axis=-1)
    mass[np.cumsum(mass, -1) - mass >= p] = 0
    reached = np.cumsum(mass, -1) / mass.sum(-1, keepdims=True)
    places = (reached > rng.random(len(logits))[:, None]).argmax(-1)
    return np.take_along_axis(order, places[:, None], axis=-1)[:, 0]


def write(
    model: PlainLanguageModel, pairs: PlainBytePairs, prompts: Sequence[str], temperature: float, p: float, seed: int
) -> list[Sample]:
    """A body of at most LONGEST tokens for each prompt. All rows take the same steps; a prompt's tokens are forced."""
    given = [[pairs.end_id, *ids] for ids in pairs.encode(prompts)]
    rng, longest = np.random.default_rng(seed), max(map(len, given)) + LONGEST
    step, rows = CachedSteps(model, len(given), longest), [ids[:1] for ids in given]
    done = np.zeros(len(given), bool)
    while not done.all():
        chosen = drawn(step(np.array([row[-1] for row in rows])), temperature, p, rng)
        for number, (row, ids) in enumerate(zip(rows, given, strict=True)):
            row.append(ids[len(row)] if len(row) < len(ids) else int(chosen[number]))
            new = len(row) - len(ids)
            done[number] |= new > 0 and (row[-1] == pairs.end_id or new == LONGEST)
    return [_sample(pairs, prompt, row[len(ids) :]) for prompt, row, ids in zip(prompts, rows, given, strict=True)]


def _sample(pairs: PlainBytePairs, prompt: str, ids: list[int]) -> Sample:
    """What stands before the first end: the rows that end early go on being stepped."""
    ids = ids[:LONGEST]
    ended = pairs.end_id in ids
    ids = ids[: ids.index(pairs.end_id)] if ended else ids
    return Sample(prompt, pairs.decode(ids), ended, tuple(ids))


def prompts_of(texts: Sequence[str], number: int, seed: int) -> list[str]:
    """First lines of functions that have a body on further lines, without their newline, drawn without repetition."""
    firsts = [first for text in texts for first, _, body in [text.partition("\n")] if first.endswith(":") and body]
    chosen = np.random.default_rng(seed).choice(len(firsts), number, replace=False)
    return [firsts[place] for place in sorted(chosen)]


@dataclass(frozen=True)
class Judged:
    """Of one body that parses: its lines that are not blank, and two shares in [0, 1] or None where none can be had."""

    lines: int
    bound: float | None
    used: float | None


def judged(sample: Sample) -> Judged | None:
    """Judge a sample; None when it did not end, or prompt and body do not parse as exactly one function."""
    try:
        tree = ast.parse(sample.prompt + sample.body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if not sample.ended or len(tree.body) != 1 or not isinstance(tree.body[0], ast.FunctionDef | ast.AsyncFunctionDef):
        return None
    names = [node for part in tree.body[0].body for node in ast.walk(part) if isinstance(node, ast.Name)]
    read = [node.id for node in names if isinstance(node.ctx, ast.Load) and node.id == node.id.lower()]
    known, own = _bound_names(tree), _parameters(tree.body[0]) - {"self", "cls"}
    return Judged(
        lines=sum(bool(line.strip()) for line in sample.body.splitlines()),
        bound=sum(name in known for name in read) / len(read) if read else None,
        used=len(own & {node.id for node in names if isinstance(node.ctx, ast.Load)}) / len(own) if own else None,
    )


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    return {node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)}


def _bound_names(tree: ast.AST) -> set[str]:
    """Every name that something in the tree gives a value, and the builtins."""
    names = set(dir(builtins))
    for node in ast.walk(tree):
        match node:
            case ast.arg(arg=name) | ast.ExceptHandler(name=str(name)) | ast.Name(id=name, ctx=ast.Store()):
                names.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.alias(name=name, asname=other):
                names.add(other or name.partition(".")[0])
    return names


def summary(samples: Sequence[Sample]) -> dict:
    """The shares of one set of samples, with how often by number of lines."""
    found = [judged(sample) for sample in samples]
    good = [each for each in found if each]
    bound, used = ([v for v in values if v is not None] for values in ([e.bound for e in good], [e.used for e in good]))
    lines = [sum(bool(line.strip()) for line in sample.body.splitlines()) for sample in samples if sample.ended]
    return {
        "samples": len(samples),
        "ended": sum(sample.ended for sample in samples),
        "parse": len(good),
        "median lines": float(np.median(lines)) if lines else None,
        "bound": round(float(np.mean(bound)), 3) if bound else None,
        "used": round(float(np.mean(used)), 3) if used else None,
        "lines of ended": lines,
        "lines of parsed": [each.lines for each in good],
    }
