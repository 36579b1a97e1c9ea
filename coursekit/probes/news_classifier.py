"""Probe of lab 07: a classifier on BERT, built on two tiny halves of a BERT of its own."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from coursekit.check.chance import is_likely
from coursekit.lecture import bert
from coursekit.probes.driving import ContractError, find
from coursekit.probes.evidence import kind_of, taken
from coursekit.probes.layers import count, current_cache

LENGTH, CODES = 13, 17  # of the tiny halves: bytes of a text, and how many ids there are for bytes
COPIES, STEP = 2500, 1e-4


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
        handles = current_cache().once(("halves", self.width), lambda: _written(self.width))
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
            raise ContractError(f"build_news_classifier(…) returned {kind_of(model)}; expected a tf_keras.Model.")
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
            raise ContractError(f"the model returns {kind_of(result)}; expected one tensor of probabilities.")
        result = np.asarray(result)
        if result.shape != (len(texts), self.classes):
            raise ContractError(
                f"for {len(texts)} texts the model gives {result.shape}; expected {(len(texts), self.classes)}."
            )
        return result

    def encoder(self) -> tuple[Any, Any] | None:
        """The encoder's table and pooler among the model's weights; None where they are not."""
        wanted = [(2 + CODES, self.width), (self.width, self.width)]
        found = [[weight for weight in self.model.weights if tuple(weight.shape) == shape] for shape in wanted]
        return (found[0][0], found[1][0]) if all(found) else None

    def head(self) -> list[Any]:
        """The four weights of the head, trainable or not, or `ContractError` when there are others."""
        inner = {id(weight) for weight in self.encoder() or ()}
        found = [weight for weight in self.model.weights if id(weight) not in inner]
        shapes = [(self.width, 16), (16,), (16, self.classes), (self.classes,)]
        if sorted(tuple(weight.shape) for weight in found) != sorted(shapes):
            shown = ", ".join(str(tuple(weight.shape)) for weight in found) or "none"
            raise ContractError(f"the head has weights of the shapes {shown}; expected {shapes}.")
        by_shape = {tuple(weight.shape): weight for weight in found}
        return [by_shape[shape] for shape in shapes]


def _written(width: int) -> tuple[str, str, Any]:
    folder = tempfile.TemporaryDirectory(prefix="tiny-bert-")
    return *write_tiny_halves(Path(folder.name), width), folder  # the folder goes when the cache does


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
    trainable = {id(weight) for weight in built.model.trainable_weights}
    inner = {id(part) for part in parts or ()}
    return {
        "there": parts is not None,
        "learns": inner <= trainable,
        "weights": len(built.model.weights),
        "head": count([weight for weight in built.model.trainable_weights if id(weight) not in inner]),
    }


def _parts_seen(inputs: Mapping[str, Any], made: Mapping[str, Any]) -> dict[str, Any]:
    if made["there"]:
        return {"encoder": "learns" if made["learns"] else "is frozen", "head": made["head"]}
    if made["weights"] and made["head"] > 20 * (inputs["width"] + inputs["num_classes"] + 17):
        return {"encoder": "is not the one of the handle", "head": -1}
    return {"encoder": "is no part of the model", "head": made["head"]}


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


FROZEN = "do not go on to an encoder that is frozen"


def _gradients(built: _News, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Whether a training step reaches every weight that is to learn, and how steep the loss is along `direction`.

    The encoder is among these weights, with the arguments by default.
    """
    import tensorflow as tf

    _values(built, inputs)  # puts the weights in; raises where chance would decide about the slope
    variables = built.model.trainable_variables
    inner = {id(weight) for weight in built.encoder() or ()}
    if not inner <= {id(variable) for variable in variables}:
        return {"frozen": True, "lost": np.zeros(0, bool), "inner": np.zeros(0, bool), "slope": np.array(0.0)}
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(built.model(tf.constant(inputs["texts"]), training=False)[:, 0])
    slopes = list(zip(variables, tape.gradient(loss, variables), strict=True))
    table = built.encoder()[0]  # type: ignore[index]  # _values has found it
    reached = [tf.convert_to_tensor(slope) for variable, slope in slopes if variable is table and slope is not None]
    return {
        "frozen": False,
        "lost": np.array([slope is None for _, slope in slopes]),
        "inner": np.array([id(variable) in inner for variable in variables]),
        "slope": np.array(sum(np.sum(np.asarray(slope, "float64") * inputs["direction"]) for slope in reached)),
    }


def _gradients_seen(inputs: Mapping[str, Any], made: Mapping[str, Any]) -> dict[str, Any]:
    lost, inner = taken(made, "lost", kinds="b"), taken(made, "inner", kinds="b")
    said = "reach every weight that learns"
    if made["frozen"]:
        said = FROZEN
    elif lost.any():
        said = f"do not reach {'the encoder' if (lost & inner).any() else 'the whole head'}"
    return {"gradients": said, "slope": made["slope"]}


def _dropout(built: _News, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The results for many copies of one text, with weights that let be seen what is dropped, and where.

    With w1 = 0 and b1 = 1 all 16 hidden values are the same. With powers of 2 in w2 the result tells which of them
    were dropped. With equal hidden values that the pooled output decides, it tells how many of the 16 were kept.
    """
    values = {name: np.zeros_like(inputs[name]) for name in WEIGHTS}
    powers = {**values, "b1": np.ones_like(inputs["b1"]), "w2": values["w2"].copy()}
    powers["w2"][:, 0] = STEP * 2.0 ** np.arange(16)
    even = {**values, "w1": np.ones_like(inputs["w1"]), "table": np.ones_like(inputs["table"])}
    even["w2"] = values["w2"].copy()
    even["w2"][:, 0] = 0.05
    even["pooler"] = np.full_like(inputs["pooler"], 0.1)
    made = {}
    for name, weights, still, copies in (("powers", powers, 50, COPIES), ("own", {}, 2, 200), ("even", even, 2, 500)):
        _with_weights(built, {**inputs, **weights})
        made[f"{name}.still"] = built([inputs["texts"][0]] * still)
        made[f"{name}.said"] = built([inputs["texts"][0]] * copies, training=True)
    return made


def _dropout_seen(inputs: Mapping[str, Any], made: Mapping[str, Any]) -> dict[str, Any]:
    """Where the dropout is and how much it drops."""
    results = {
        f"{name}.{what}": taken(made, f"{name}.{what}", (size, inputs["num_classes"]), "f")
        for name, sizes in (("powers", (50, COPIES)), ("own", (2, 200)), ("even", (2, 500)))
        for what, size in zip(("still", "said"), sizes, strict=True)
    }
    still, said = results["powers.still"], results["powers.said"]
    moves = np.ptp(still, axis=0).max() > 1e-6
    if _is_no_distribution(still):
        where = "not known"
    elif _is_no_distribution(said):
        where = "behind the output"
    else:
        step = STEP if moves else _scores(still)[0] / (2**16 - 1)  # less than STEP where the activation is no ReLU
        own_moves = bool(np.ptp(results["own.said"], axis=0).max() > 1e-6)
        found = _dropped(_scores(said), float(step), inputs.get("dropout", 0.2), own_moves=own_moves)
        alone = isinstance(found, str) or moves or _only_there(results, found)
        where = found if isinstance(found, str) else f"{100 * found:g}% behind the hidden layer"
        where = where if alone else "somewhere else"
    return {"training": where, "outside": "another result each time" if moves else "the same result"}


def _is_no_distribution(said: np.ndarray) -> bool:
    return bool(np.abs(said.astype("float64").sum(axis=1) - 1).max() > 1e-4)


def _scores(said: np.ndarray) -> np.ndarray:
    said = said.astype("float64")
    return np.log(said[:, 0]) - np.log(said[:, 1])


def _dropped(scores: np.ndarray, step: float, wanted: float, *, own_moves: bool) -> float | str:
    """The share that is dropped behind the hidden layer, or in words where else.

    Args:
        scores: of many copies: `step` times the sum of the powers of 2 that were kept, divided by 1 − rate.
        step: the smallest one.
        wanted: the rate that was asked for.
        own_moves: whether copies have different results with the case's own weights.
    """
    if step < STEP / 4:
        return "somewhere else"
    if np.ptp(scores) < step / 4:
        return "before the hidden layer" if own_moves else "nowhere"
    for rate in dict.fromkeys((wanted, 0.2, 1 - wanted, *np.arange(1, 200) / 200)):
        codes = scores / step * (1 - rate)
        if np.abs(codes - np.round(codes)).max() < 0.2 and np.unique(np.round(codes)).size > 20:
            bits = (np.round(codes).astype(int)[:, None] >> np.arange(16)) & 1
            if is_likely(int((bits == 0).sum()), bits.size, float(rate)):
                return float(rate)
    return "somewhere else"


def _only_there(results: Mapping[str, np.ndarray], rate: float) -> bool:
    """Whether nothing else is dropped: a dropped part of the pooled output would give fractions of the 16 that were
    kept."""
    whole = _scores(results["even.still"])[0]
    kept = _scores(results["even.said"]) / whole * 16 * (1 - rate)
    return not whole or bool(np.abs(kept - np.round(kept)).max() < 0.05)


NEWS = {"parameters": _parameters, "values": _values, "gradients": _gradients, "dropout": _dropout}
SEEN = {"parameters": _parts_seen, "gradients": _gradients_seen, "dropout": _dropout_seen}


def build_news_classifier(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Build a model on tiny halves and drive it; cases with the same arguments share it."""
    sizes = tuple(inputs.get(key) for key in ("width", "num_classes", "dropout", "trainable"))
    key = ("news", id(find(namespace, "build_news_classifier")), *sizes)
    return NEWS[mode](current_cache().once(key, lambda: _News(namespace, inputs)), inputs)
