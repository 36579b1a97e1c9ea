"""Lecture 10b's machinery: a small model that is stored with the course, drawing many answers at once, and two loops.

The model is that of lecture 10, stored by `experiments/assistant.py`. The losses and the rewards stand on the page and
in `coursekit.lecture.pages.answering`.
"""

from __future__ import annotations

import ast
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from coursekit.lecture.pages.answering import advantages, answer_loss, parses, policy_loss
from coursekit.lecture.pages.byte_pairs import PlainBytePairs
from coursekit.lecture.pages.language_model import PlainLanguageModel
from coursekit.lecture.pages.parts import rotated

FILE = Path(__file__).resolve().parents[1] / "recorded" / "assistant.npz"
SIZE = (128, 4, 4, 344)  # D, blocks, H, inner width
MOST = 48  # tokens of an answer, the end included
LONGEST_PROMPT = 24  # tokens
PROMPTS, GROUP = 8, 8  # a batch of the reward: prompts, and answers for each
RATE, PEAK = 3e-4, 1e-3  # of the reward and of fine-tuning

Reward = Callable[[str, str], float]


# -- the stored model ------------------------------------------------------------------------------------------------


def in_eight_bits(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A matrix as whole numbers of one byte, with one scale for each of its rows.

    >>> numbers, scales = in_eight_bits(np.array([[0.5, -1.27]]))
    >>> numbers, scales.round(2)
    (array([[  50, -127]], dtype=int8), array([[0.01]], dtype=float32))
    """
    scales = np.abs(matrix).max(axis=-1, keepdims=True) / 127
    numbers = np.round(matrix / np.maximum(scales, 1e-12)).astype("int8")
    return numbers, scales.astype("float32")


def empty_model(vocab_size: int = 512) -> PlainLanguageModel:
    """The page's class in the stored model's size, with weights at random."""
    model = PlainLanguageModel(vocab_size, *SIZE)
    model(np.zeros((1, 2), "int32"))
    return model


def copied(model: PlainLanguageModel) -> PlainLanguageModel:
    """Another model with the same numbers."""
    other = empty_model(int(model.table.shape[0]))
    other.set_weights(model.get_weights())
    return other


def store(model: PlainLanguageModel, pairs: PlainBytePairs, path: Path = FILE) -> None:
    """Write a model of SIZE in 8 bits a number, with the merges of its tokens."""
    arrays: dict[str, Any] = {"merges": np.array(pairs.merges, "int16")}
    for place, array in enumerate(model.get_weights()):
        if array.ndim == 2:
            arrays[f"numbers {place}"], arrays[f"scales {place}"] = in_eight_bits(array)
        else:
            arrays[f"plain {place}"] = array
    np.savez_compressed(path, **arrays)


def stored_writer(path: Path = FILE) -> tuple[PlainBytePairs, PlainLanguageModel]:
    """The tokens and the model that come with the course: lecture 10's, after 1,960 steps on Python 3.11's library."""
    with np.load(path) as arrays:
        pairs = PlainBytePairs.of([(int(one), int(two)) for one, two in arrays["merges"]])
        model = empty_model(len(pairs.pieces) + 1)
        weights = [
            arrays[f"plain {place}"]
            if f"plain {place}" in arrays
            else arrays[f"numbers {place}"].astype("float32") * arrays[f"scales {place}"]
            for place in range(len(model.get_weights()))
        ]
    model.set_weights(weights)
    return pairs, model


# -- drawing many answers at once ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class WrittenAnswer:
    """What a model wrote behind a prompt: its ids, the end among them where it came, and its text."""

    prompt: str
    ids: tuple[int, ...]
    body: str
    ended: bool


class Writer:
    """Draws answers for many prompts side by side, with keys and values kept; shorter prompts are padded in front."""

    def __init__(self, model: PlainLanguageModel, pairs: PlainBytePairs):
        self.model, self.pairs = model, pairs
        numbers, switch = tf.TensorSpec((None, None), "int32"), tf.TensorSpec((), "float32")
        spec = [numbers, tf.TensorSpec((None,), "int32"), tf.TensorSpec((), "int32"), switch, switch]
        self._graph = tf.function(self._draw, input_signature=spec)

    def __call__(
        self, prompts: Sequence[str], *, temperature: float = 1.0, p: float = 1.0, seed: int = 0
    ) -> list[WrittenAnswer]:
        """One answer of at most MOST tokens for each prompt."""
        rows = [[self.pairs.end_id, *ids] for ids in self.pairs.encode(prompts)]
        longest = max(map(len, rows))
        padded = np.array([[0] * (longest - len(row)) + row for row in rows], "int32")
        before = np.array([longest - len(row) for row in rows], "int32")
        drawn = self._graph(padded, before, seed, temperature, p).numpy()  # (B, steps)
        answers = []
        for prompt, ids in zip(prompts, drawn.tolist(), strict=True):
            ended = self.pairs.end_id in ids
            ids = ids[: ids.index(self.pairs.end_id) + 1] if ended else ids
            answers.append(WrittenAnswer(prompt, tuple(ids), self.pairs.decode(ids), ended))
        return answers

    def _draw(self, ids, before, seed, temperature, p):
        length, end = tf.shape(ids)[1], self.pairs.end_id
        time_ = tf.range(length)
        seen = time_ >= before[:, None]  # (B, T)
        x, kept = self._embedded(ids), []
        for block in self.model.blocks:
            x, keys, values = _through(block, x, None, time_, (time_[:, None] >= time_) & seen[:, None])
            kept += [keys, values]
        written = tf.TensorArray("int32", MOST, element_shape=(None,))
        done = tf.zeros(tf.shape(ids)[0], bool)

        def going(step, scores, done, seen, written, *kept):
            return (step < MOST) & ~tf.reduce_all(done)

        def one(step, scores, done, seen, written, *kept):
            chosen = tf.where(done, end, _drawn(scores, temperature, p, tf.stack([seed, step])))
            seen = tf.concat([seen, tf.ones_like(seen[:, :1])], 1)
            x, longer = self._embedded(chosen[:, None]), []
            for place, block in enumerate(self.model.blocks):
                past = kept[2 * place], kept[2 * place + 1]
                x, keys, values = _through(block, x, past, length + step[None], seen[:, None])
                longer += [keys, values]
            return step + 1, self._scores(x), done | (chosen == end), seen, written.write(step, chosen), *longer

        grows = tf.TensorShape((None, kept[0].shape[1], None, kept[0].shape[3]))
        rows, row = tf.TensorShape((None, None)), tf.TensorShape((None,))
        shapes = (tf.TensorShape(()), rows, row, rows, tf.TensorShape(None), *[grows] * len(kept))
        state = (tf.constant(0), self._scores(x), done, seen, written, *kept)
        steps, _, _, _, written, *_ = tf.while_loop(going, one, state, shapes)
        return tf.transpose(written.gather(tf.range(steps)))

    def _embedded(self, ids):
        return tf.gather(tf.convert_to_tensor(self.model.table), ids) * self.model.table.shape[-1] ** 0.5

    def _scores(self, x):
        return tf.matmul(self.model.norm(x[:, -1]), tf.convert_to_tensor(self.model.table), transpose_b=True)


def _through(block, x, past, positions, mask):
    """A block with keys and values kept: mask (B, T, S) says what each position may see."""
    attention = block.attention
    heads, width = attention.split
    normed = block.norm1(x)
    q, k, v = (
        tf.transpose(tf.reshape(dense(normed), (tf.shape(x)[0], -1, heads, width)), (0, 2, 1, 3))
        for dense in (attention.w_q, attention.w_k, attention.w_v)
    )
    q, k = rotated(q, positions), rotated(k, positions)
    if past:
        k, v = tf.concat([past[0], k], 2), tf.concat([past[1], v], 2)
    scores = tf.matmul(q, k, transpose_b=True) / width**0.5
    weights = tf.nn.softmax(tf.where(mask[:, None], scores, -1e9))
    joined = tf.reshape(tf.transpose(tf.matmul(weights, v), (0, 2, 1, 3)), tf.shape(x))
    x = x + attention.w_o(joined)
    normed = block.norm2(x)
    return x + block.w_down(tf.nn.silu(block.w_gate(normed)) * block.w_up(normed)), k, v


def _drawn(scores, temperature, p, seed):
    """One token a row, temperature first, then the smallest set with mass p."""
    scores = scores / temperature

    def nucleus():
        order = tf.argsort(scores, direction="DESCENDING")
        falling = tf.nn.softmax(tf.gather(scores, order, batch_dims=1))
        rest = tf.cumsum(falling, axis=1, exclusive=True) >= p
        cut = tf.where(rest, -1e9, tf.gather(scores, order, batch_dims=1))
        places = tf.random.stateless_categorical(cut, 1, seed, dtype="int32")
        return tf.gather(order, places, batch_dims=1)[:, 0]

    return tf.cond(p < 1, nucleus, lambda: tf.random.stateless_categorical(scores, 1, seed, dtype="int32")[:, 0])


# -- rows to learn from ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Functions:
    """Functions cut into a prompt, the first line, and an answer, the body with its end."""

    prompts: list[str]
    bodies: list[str]


def short_functions(texts: Sequence[str], pairs: PlainBytePairs) -> Functions:
    """Those functions of one-line heads whose head and body are short enough to be drawn: LONGEST_PROMPT and MOST."""
    parts = [text.partition("\n") for text in texts]
    heads = [(head, "\n" + body) for head, _, body in parts if head.startswith("def ") and head.endswith("):") and body]
    ids = pairs.encode([head for head, _ in heads]), pairs.encode([body for _, body in heads])
    kept = [
        pair
        for pair, head, body in zip(heads, *ids, strict=True)
        if len(head) < LONGEST_PROMPT and len(body) < MOST and parses(*pair)
    ]
    return Functions([head for head, _ in kept], [body for _, body in kept])


def in_rows(prompts: Sequence[Sequence[int]], answers: Sequence[Sequence[int]], end_id: int):
    """Rows (B, T + 1) of prompt and answer, padded with the end, and the mask (B, T) of the answers' tokens.

    >>> rows, mask = in_rows([[5, 6]], [[7, 0]], end_id=0)
    >>> rows.tolist(), mask.tolist()
    ([[0, 5, 6, 7, 0]], [[0.0, 0.0, 1.0, 1.0]])
    """
    rows = [[end_id, *prompt, *answer] for prompt, answer in zip(prompts, answers, strict=True)]
    width = max(map(len, rows))
    ids = np.array([row + [end_id] * (width - len(row)) for row in rows], "int32")
    at = np.arange(1, width)
    starts = np.array([1 + len(prompt) for prompt in prompts])[:, None]
    ends = np.array([len(row) for row in rows])[:, None]
    return ids, ((at >= starts) & (at < ends)).astype("float32")


def rows_of(functions: Functions, pairs: PlainBytePairs, chosen: np.ndarray | None = None):
    """Rows and mask of some functions, or of all; each body has its end."""
    places = range(len(functions.prompts)) if chosen is None else chosen
    prompts = pairs.encode([functions.prompts[place] for place in places])
    bodies = pairs.encode([functions.bodies[place] for place in places])
    return in_rows(prompts, [[*body, pairs.end_id] for body in bodies], pairs.end_id)


# -- two loops -------------------------------------------------------------------------------------------------------


def learner(variables: Sequence[Any], rate: Any, loss_of: Callable[..., Any]) -> Callable[..., float]:
    """A step of Adam on `loss_of(*arrays)` for some variables, as one graph."""
    optimizer = keras.optimizers.Adam(rate)
    optimizer.build(list(variables))

    @tf.function(reduce_retracing=True)
    def step(*arrays):
        with tf.GradientTape() as tape:
            loss = loss_of(*arrays)
        optimizer.apply(tape.gradient(loss, list(variables)), list(variables))
        return loss

    return lambda *arrays: float(step(*map(tf.constant, arrays)))


def fine_tune(
    model: PlainLanguageModel,
    batches: Sequence[tuple[np.ndarray, np.ndarray]],
    *,
    variables: Sequence[Any] | None = None,
    rate: float = PEAK,
    watch: Callable[[int, float], None] = lambda step, loss: None,
) -> None:
    """Train on rows and masks, in place, with a cosine from `rate` to 0."""
    step = learner(
        variables or model.trainable_variables,
        keras.optimizers.schedules.CosineDecay(rate, len(batches)),
        lambda rows, mask: answer_loss(model, rows, mask),
    )
    for number, (rows, mask) in enumerate(batches, 1):
        watch(number, step(rows, mask))


def batches_of(functions: Functions, pairs: PlainBytePairs, steps: int, *, size: int = 32, seed: int = 0):
    """Rows and masks for so many steps: all functions in a random order, again and again."""
    rng, places = np.random.default_rng(seed), np.zeros(0, int)
    while len(places) < steps * size:
        places = np.concatenate([places, rng.permutation(len(functions.prompts))])
    return [rows_of(functions, pairs, places[begin : begin + size]) for begin in range(0, steps * size, size)]


@dataclass
class History:
    """What a model wrote at each step of a training by rewards, as it was drawn.

    Attributes:
        reward: the mean reward of each step.
        parse: the share of the answers that parse.
        same: the share of groups whose rewards are all equal: they teach nothing.
        ended: the share of the answers that ended in time.
        length: mean tokens of an answer.
        bodies: the commonest answers of each step with their counts.
        distinct: the share of answers that differ.
    """

    reward: list[float] = field(default_factory=list)
    parse: list[float] = field(default_factory=list)
    same: list[float] = field(default_factory=list)
    ended: list[float] = field(default_factory=list)
    length: list[float] = field(default_factory=list)
    bodies: list[list[tuple[str, int]]] = field(default_factory=list)
    distinct: list[float] = field(default_factory=list)
    seconds: float = 0.0

    def add(self, answers: Sequence[WrittenAnswer], rewards: np.ndarray) -> None:
        common = Counter(plain_body(answer) for answer in answers)
        self.reward.append(float(rewards.mean()))
        self.parse.append(float(np.mean([answer.ended and parses(answer.prompt, answer.body) for answer in answers])))
        self.same.append(float(np.mean(np.ptp(rewards, axis=1) < 1e-6)))
        self.ended.append(float(np.mean([answer.ended for answer in answers])))
        self.length.append(float(np.mean([len(answer.ids) for answer in answers])))
        self.bodies.append(common.most_common(6))
        self.distinct.append(len(common) / len(answers))


def plain_body(answer: WrittenAnswer) -> str:
    """The body in one line, as it is counted and shown.

    >>> plain_body(WrittenAnswer("def f(x):", (7, 8, 0), "\\n    y = x\\n    return y", ended=True))
    'y = x ⏎ return y'
    """
    text = " ⏎ ".join(line.strip() for line in answer.body.strip().splitlines() if line.strip())
    return text if answer.ended else f"{text} …"


def shape_of(body: str) -> str:
    """A body with x for every name: how it is built, not what it names.

    >>> shape_of(" return self.data(key)") == shape_of(" return text.strip(end)")
    True
    """
    try:
        tree = ast.parse("def f():" + body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return body
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = "x"
        elif isinstance(node, ast.Attribute):
            node.attr = "x"
    return ast.unparse(tree)


def learn_from_reward(
    model: PlainLanguageModel,
    pairs: PlainBytePairs,
    prompts: Sequence[str],
    reward: Reward,
    *,
    steps: int,
    beta: float = 0.0,
    shared: bool = False,
    skip_equal: bool = False,
    seed: int = 0,
    watch: Callable[[int, History, np.ndarray, np.ndarray], None] = lambda step, history, rows, mask: None,
) -> History:
    """Group-relative policy optimisation (Shao et al. 2024), in place, one step of Adam for each batch.

    Args:
        model: is trained; as it is at the start it is the reference of the KL.
        prompts: first lines to draw from, PROMPTS a step.
        reward: of a prompt and a body that ended; what does not end gets 0.
        steps: how many batches of GROUP answers for each prompt.
        beta: the price of the KL.
        shared: divide a reward by how often this body stands in the batch.
        skip_equal: take no step where every group's rewards are equal.
        seed: of prompts and draws.
        watch: called before each step, with the rows and the mask of the answers that were drawn.
    """
    began, history = time.process_time(), History()
    rng, draw, reference = np.random.default_rng(seed), Writer(model, pairs), copied(model)
    step = learner(
        model.trainable_variables,
        RATE,
        lambda rows, mask, advantage: policy_loss(model, reference, rows, mask, advantage, beta),
    )
    for number in range(1, steps + 1):
        asked = [prompts[place] for place in rng.choice(len(prompts), PROMPTS, replace=False) for _ in range(GROUP)]
        answers = draw(asked, seed=1_000 * seed + number)
        rewards = np.array([reward(each.prompt, each.body) if each.ended else 0.0 for each in answers], "float32")
        if shared:
            times = Counter(plain_body(answer) for answer in answers)
            rewards /= [times[plain_body(answer)] for answer in answers]
        rewards = rewards.reshape(PROMPTS, GROUP)
        history.add(answers, rewards)
        rows, mask = in_rows(pairs.encode(asked), [answer.ids for answer in answers], pairs.end_id)
        watch(number, history, rows, mask)
        if not (skip_equal and history.same[-1] == 1):
            step(rows, mask, advantages(rewards).reshape(-1).astype("float32"))
    history.seconds = time.process_time() - began
    return history
