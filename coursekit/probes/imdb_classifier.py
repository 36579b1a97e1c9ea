"""Probes of lab 06, the classifier of film reviews."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from coursekit.generator import Generator
from coursekit.probes import known_weights, relus
from coursekit.probes.driving import ContractError, find, function, mended, numbers, record, unpack
from coursekit.probes.evidence import MODEL, ReadOutside, kind_of, taken
from coursekit.probes.layers import count, gradients
from coursekit.probes.review_training import train_classifier
from coursekit.probes.texts import ids_seen, of_texts, standardize

SIZES = ("max_length", "vocab_size", "d_model", "num_heads", "d_ff")
ROUNDED = 1e-3  # gradients below it are what rounding leaves: a softmax over one output is 1 but for its last digits
APART = 2e-5  # probabilities further apart than this differ by more than rounding
LIVELY = 0.1  # and further apart than this, in a model whose weights let its parts make a difference
TRIES = 8  # random weights to look for such ones
BOTH = "before and after"
LOOKS = 4  # models whose results decide which reviews are alike: in one of them a unit of a ReLU may be silent


def _masked_mean(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Call the function on arrays or tensors, inside `tf.function`, in a model, or take the gradient by x."""
    if mode in ("call", "tensor"):
        return function("masked_mean", "x", "ids")(namespace, inputs, mode)
    import tensorflow as tf

    target = find(namespace, "masked_mean")
    x, ids = tf.constant(inputs["x"]), tf.constant(inputs["ids"])
    if mode == "model":
        return {"output": _in_a_model(target, x, ids)}
    if mode == "gradient":

        def loss() -> Any:
            output = unpack(target(x, ids), ("output",), "masked_mean(x, ids)")["output"]
            return tf.reduce_sum(tf.convert_to_tensor(output) * inputs["cotangent.output"])

        return {"gradient.x": gradients(loss, [("x", x)], "mean", "Is a NumPy function in the way?")[0]}
    signature = [tf.TensorSpec((None, None, x.shape[-1]), x.dtype), tf.TensorSpec((None, None), ids.dtype)]
    try:
        return {"output": tf.function(lambda *both: target(*both), input_signature=signature)(x, ids)}
    except NotImplementedError as error:
        if "symbolic" not in str(error):  # the stub's own: nothing is written yet
            raise
        said = "inside a model a tensor has no numbers yet, and a NumPy function asked for them. Use `keras.ops`."
        raise ContractError(said) from error


def _in_a_model(target: Callable[..., Any], x: Any, ids: Any) -> Any:
    """What the function gives as a part of a model that is connected from `keras.Input`s of unknown size."""
    import keras

    given = [keras.Input((None, x.shape[-1]), dtype=x.dtype.name), keras.Input((None,), dtype=ids.dtype.name)]
    try:
        output = target(*given)
    except ValueError as error:
        if "KerasTensor" not in str(error):
            raise
        raise ContractError(
            "`keras.Input` gives a tensor that stands for numbers to come, and a function of TensorFlow or NumPy "
            "cannot take it. Use `keras.ops`: `ops.cast` for `tf.cast`, `ops.sum` for `tf.reduce_sum`, and so on."
        ) from error
    if not isinstance(output, keras.KerasTensor):
        kind = "None: is the `return` missing?" if output is None else f"{kind_of(output)}."
        raise ContractError(f"masked_mean(x, ids) of two `keras.Input`s returned {kind} Is everything `keras.ops`?")
    result = keras.Model(given, output)([x, ids])
    if np.isfinite(target(x, ids)).all() and not np.isfinite(result).all():
        raise ContractError("finite outside of a model, NaN in it: on a `keras.Input` write `ops.equal`, not `==`.")
    return result


def _derive_loss_gradient(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Call the function; in the mode `logit` only the first of its results counts."""
    probe = function("derive_loss_gradient", "logits", "labels", "ids", "head", returns=("by_logit", "by_token"))
    results = probe(namespace, inputs, "call")
    return {"by_logit": results["by_logit"]} if mode == "logit" else results


# -- the classifier ------------------------------------------------------------------------------------------------


class _Classifier:
    """A model from the student's `build_classifier`, with weights put in that make every part of it felt."""

    def __init__(self, namespace: Mapping[str, Any], inputs: Mapping[str, Any], more: int = 0):
        import keras

        given = {key: inputs[key] for key in SIZES if key in inputs}
        if more:
            given["max_length"] += more
        model = find(namespace, "build_classifier")(**given)
        if not isinstance(model, keras.Model):
            kind = "None: is the `return` missing?" if model is None else f"{kind_of(model)}."
            wanted = f"Expected a keras.Model (Keras {keras.__version__})."
            raise ContractError(f"build_classifier(…) returned {kind} {wanted}")
        self.model = self.run = model
        self.length, self.width = given.get("max_length", 200), given.get("d_model", 32)
        self(np.zeros((1, self.length), "int32"))  # a model that is built by its first call has its weights now
        self.fresh = [np.asarray(variable) for variable in model.trainable_variables]

    def __call__(self, ids: np.ndarray) -> np.ndarray:
        result = self.run(ids, training=False)
        if isinstance(result, (list, tuple, dict)) or result is None:
            raise ContractError(f"the model returns {kind_of(result)}; expected one tensor.")
        return np.asarray(result)

    def trace(self, ids: np.ndarray) -> None:
        """From now on run the model in one graph, which is much quicker, if it has the same results there."""
        import tensorflow as tf

        graph, outside = tf.function(self.model), self(ids)
        with contextlib.suppress(Exception):  # a model that cannot be traced goes on as it is
            if np.abs(np.asarray(graph(ids, training=False)) - outside).max() <= APART:
                self.run = graph

    def shake(self, seed: Sequence[int]) -> None:
        """Add random numbers to all fresh weights: these are so small that no part makes a difference."""
        rng = Generator(seed)
        for variable, values in zip(self.model.trainable_variables, self.fresh, strict=True):
            spread = 0.5 if values.ndim > 1 else 0.3
            variable.assign(values + spread * rng.normal(size=values.shape))

    def settled(self, seed: int, ids: np.ndarray) -> np.ndarray:
        """Shake the weights until the results of different reviews are far apart; give up after some tries.

        Weights at random may leave every unit of a ReLU layer at 0, or the sigmoid at its end. That says nothing of
        how the model is built, so such weights are not looked at.
        """
        for attempt in range(TRIES):
            self.shake([seed, attempt])
            result = self(ids)
            if np.ptp(result.reshape(len(ids), -1), axis=0).max() > LIVELY:
                break
        return result

    def looks(self, seed: int, ids: np.ndarray) -> Iterator[np.ndarray]:
        """The results with several settled weights, one after the other, which the model has until the next.

        Raises:
            ContractError: the results of the same weights are others each time.
        """
        for look in range(LOOKS):
            result = self.settled(seed + look, ids)
            if np.abs(self(ids) - result).max() > APART:
                raise ContractError("with training=False the same reviews get another result each time.")
            yield result

    def take_weights_of(self, other: _Classifier, seed: int) -> None:
        """Copy the weights of a model for shorter reviews; the table of positions gets more rows."""
        rng = Generator(seed)
        pairs = list(zip(other.model.weights, self.model.weights, strict=True))
        for source, target in pairs:
            values = np.asarray(source)
            missing = target.shape[0] - len(values) if values.ndim else 0
            if missing > 0 and tuple(target.shape[1:]) == values.shape[1:]:
                values = np.concatenate([values, rng.normal(size=(missing, *values.shape[1:]))])
            if values.shape != tuple(target.shape):
                raise ContractError(
                    f"with a larger max_length the weight `{target.path}` has shape {tuple(target.shape)} "
                    f"instead of {values.shape}. Only the table of positions grows with it."
                )
            target.assign(values)

    def embeddings(self, rows: int) -> Any:
        """The table of the words: the largest matrix of the tokens' width with at least this many rows."""
        shapes = [(variable, tuple(variable.shape)) for variable in self.model.trainable_variables]
        tables = [each for each, shape in shapes if len(shape) == 2 and shape[0] >= rows and shape[1] == self.width]
        return max(tables, key=lambda each: each.shape[0], default=None)

    def attention(self) -> list[Any]:
        """The model's layers of `keras.layers.MultiHeadAttention`."""
        import keras

        layers = self.model._flatten_layers(include_self=False)
        return [layer for layer in layers if isinstance(layer, keras.layers.MultiHeadAttention)]


def _parameters(built: _Classifier, inputs: Mapping[str, Any], longer: Callable[[], _Classifier]) -> dict[str, Any]:
    return {"parameters": count(built.model.weights), "trainable": count(built.model.trainable_weights)}


def _values(built: _Classifier, inputs: Mapping[str, Any], longer: Callable[[], _Classifier]) -> dict[str, Any]:
    ids, seed = inputs["ids"], inputs["weights"]
    made: dict[str, Any] = {"fresh": built(ids)}
    made["settled"] = np.array([built.settled(seed + n, ids) for n in range(LOOKS)])
    shaken = []
    for look in range(TRIES):  # a number beyond 0 and 1 may take a second look
        built.shake([seed, look])
        shaken.append(built(ids))
    made["shaken"], made["result"] = np.array(shaken), built.settled(seed, ids)
    made["alone"] = np.concatenate([built(ids[row : row + 1]).reshape(1, -1) for row in range(2)])
    return made | {"again": built(ids), "untold": np.asarray(built.model(ids))}


def _values_seen(inputs: Mapping[str, Any], made: Mapping[str, Any]) -> dict[str, Any]:
    result = taken(made, "result")
    again = [taken(made, name, result.shape) for name in ("again", "untold")]
    alone = np.abs(taken(made, "alone") - result.reshape(len(inputs["ids"]), -1)[:2]).max() > APART
    beyond = (np.abs(taken(made, "shaken") - 0.5) > 0.5).any()
    return {
        "shape of the result": str(taken(made, "fresh").shape),
        "range of the results": "beyond 0 and 1" if beyond else "from 0 to 1",
        "first review with the same result": _first_alike(_of_looks(inputs, made, "settled")),
        "result of a second call": "another" if max(np.abs(a - result).max() for a in again) > APART else "the same",
        "result of a review alone": "another" if alone else "the same",
    }


def _of_looks(inputs: Mapping[str, Any], made: Mapping[str, Any], name: str, *inner: int) -> np.ndarray:
    """An array that came back with an entry for each look and for each review: (LOOKS, …, B, …)."""
    array, first = taken(made, name), (LOOKS, *inner, len(inputs["ids"]))
    if array.shape[: len(first)] != first:
        raise ContractError(f"`{name}` has the shape {array.shape}; it begins with {first}.")
    return array


def _changed(pairs: np.ndarray) -> np.ndarray:
    """Which reviews have another result in any pair of results (N, 2, B, …), as (B,)."""
    apart = np.abs(pairs[:, 1] - pairs[:, 0])
    return (apart.reshape(*apart.shape[:2], -1).max(axis=-1) > APART).any(axis=0)


def _first_alike(results: np.ndarray) -> np.ndarray:
    """For each review the place of the first one whose results (N, B, …) are all the same, as (B,)."""
    flat = np.moveaxis(results, 0, 1).reshape(results.shape[1], -1)
    return (np.abs(flat[:, None] - flat[None]).max(axis=-1) <= APART).argmax(axis=1)


def _shaken_rows(built: _Classifier, run: Callable[[], Any], word: int, rows: int, seed: int) -> tuple[Any, Any]:
    """What `run` gives before and after the vector of one word is changed; the word gets its own vector back."""
    table = built.embeddings(rows)
    kept = np.asarray(table)
    changed = kept.copy()
    changed[word] += 2 * Generator(seed).normal(size=kept.shape[1])
    before = run()
    table.assign(changed)
    after = run()
    table.assign(kept)
    return before, after


def _moved(built: _Classifier, run: Callable[[], np.ndarray], inputs: Mapping[str, Any]) -> np.ndarray:
    """What `run` gives before and after the vector of a word, of padding, and of [UNK] is changed: (3, 2, B, …)."""
    words = (inputs["word"], 0, 1)
    return np.array([_shaken_rows(built, run, word, inputs["vocab_size"], inputs["weights"]) for word in words])


def _heard(moved: np.ndarray, where: np.ndarray) -> str:
    """Whose vectors change what `_moved` gives at the chosen places: those of words, of padding, of [UNK]."""
    words, padding, unknown = (np.abs(after - before)[where].max(initial=0) > APART for before, after in moved)
    if words and not padding:
        return "the words" if unknown else "the words but [UNK]"
    if words:
        return "the words and the padding"
    return "the padding" if padding else "nothing else"


def _padding(built: _Classifier, inputs: Mapping[str, Any], longer: Callable[[], _Classifier]) -> dict[str, Any]:
    """What padding changes, and by which way it gets there; where the ways cannot be told apart, only that it does."""
    ids = inputs["ids"]
    wider, pairs = longer(), []
    for look, result in enumerate(built.looks(inputs["weights"], ids)):
        wider.take_weights_of(built, inputs["weights"] + look)
        pairs.append((result, wider(inputs["longer"])))
    made = {"pairs": np.array(pairs), "padding": built(np.zeros_like(ids))}
    layers = built.attention()
    if len(layers) == 1 and built.embeddings(inputs["vocab_size"]) is not None:
        made["attention"] = _moved(built, _watch(layers[0], built, ids), inputs)
        for variable in layers[0].trainable_variables:
            variable.assign(np.zeros(variable.shape))  # the attention is silent: what remains comes by the pooling
        made["mean"] = _moved(built, lambda: built(ids), inputs)
    return made


def _padding_seen(inputs: Mapping[str, Any], made: Mapping[str, Any]) -> dict[str, Any]:
    ids, is_told = inputs["ids"], "attention" in made
    others = ~np.isin(ids, (0, 1, inputs["word"]))
    ahead = others & ((ids == inputs["word"]).cumsum(axis=1) == 0)  # of a word that changes
    everywhere = np.full(len(ids), True)
    return {
        "reviews with another result": _changed(_of_looks(inputs, made, "pairs", 2)),
        "what the attention reads": _heard(taken(made, "attention"), others) if is_told else "the words",
        "which words it reads": _sides(taken(made, "attention")[0], others, ahead) if is_told else BOTH,
        "what the mean reads": _heard(taken(made, "mean"), everywhere) if is_told else "the words",
        "result of padding alone": "finite" if np.isfinite(taken(made, "padding")).all() else "not finite",
    }


def _sides(moved: np.ndarray, others: np.ndarray, ahead: np.ndarray) -> str:
    """Whether a word that changes is read by others `ahead` of it, too, where it is read at all."""
    apart = np.abs(moved[1] - moved[0])
    return "those before" if apart[others].max() > APART >= apart[ahead].max() else BOTH


def _watch(layer: Any, built: _Classifier, ids: np.ndarray) -> Callable[[], np.ndarray]:
    """A function that runs the model and returns what this attention layer gave, (B, T, D)."""
    seen: list[Any] = []
    original = layer.call

    def watched(*arguments: Any, **keywords: Any) -> Any:
        result = original(*arguments, **keywords)
        seen.append(result[0] if isinstance(result, (tuple, list)) else result)
        return result

    def run() -> np.ndarray:
        layer.call = watched
        try:
            built(ids)
        finally:
            layer.call = original
        return np.asarray(seen[-1])

    return run


def _order(built: _Classifier, inputs: Mapping[str, Any], longer: Callable[[], _Classifier]) -> dict[str, Any]:
    looks = built.looks(inputs["weights"], inputs["ids"])
    return {"pairs": np.array([(result, built(inputs["reordered"])) for result in looks])}


def _order_seen(inputs: Mapping[str, Any], made: Mapping[str, Any]) -> dict[str, Any]:
    return {"reviews with another result": _changed(_of_looks(inputs, made, "pairs", 2))}


def _learning(built: _Classifier, inputs: Mapping[str, Any], longer: Callable[[], _Classifier]) -> dict[str, Any]:
    import tensorflow as tf

    ids, variables = tf.constant(inputs["ids"]), built.model.trainable_variables

    @tf.function(input_signature=[tf.TensorSpec((None, built.length), ids.dtype)])
    def gradients_of(ids: tf.Tensor) -> tuple[Any, list[Any]]:
        with tf.GradientTape() as tape:
            output = built.model(ids, training=False)
            # Another weight for each entry: the sum of a softmax has no gradient, and what rounding leaves is luck.
            loss = tf.reduce_sum(output * tf.reshape(tf.linspace(1.0, 2.0, tf.size(output)), tf.shape(output)))
        return output, [
            None if gradient is None else tf.convert_to_tensor(gradient)
            for gradient in tape.gradient(loss, [variable.value for variable in variables])
        ]

    looks = [(result, *gradients_of(ids)) for result in built.looks(inputs["weights"], inputs["ids"])]
    found = list(zip(variables, looks[0][2], strict=True))
    if paths := ", ".join(f"`{variable.path}`" for variable, gradient in found if gradient is None):
        raise ContractError(f"no gradient reaches {paths}. Is this part of the model used?")
    return {
        "pairs": np.array([(result, np.asarray(output)) for result, output, _ in looks]),
        "largest": np.array([np.abs(gradient).max(initial=0) for _, gradient in found]),
    }


def _learning_seen(inputs: Mapping[str, Any], made: Mapping[str, Any]) -> dict[str, Any]:
    pairs, is_zero = _of_looks(inputs, made, "pairs", 2), (taken(made, "largest") <= ROUNDED).all()
    return {
        "first review with the same result": _first_alike(pairs[:, 1]),
        "gradients of the weights": "all zero" if is_zero else "not zero",
        "result inside tf.function": "another" if _changed(pairs).any() else "the same",
    }


def _inside(built: _Classifier, inputs: Mapping[str, Any], longer: Callable[[], _Classifier]) -> dict[str, Any]:
    """What the two hidden layers do with negative sums, and what is left of the words without the second one's part."""
    ids, sizes = inputs["ids"], (inputs["d_model"], inputs["d_ff"])
    built.shake([inputs["weights"], 0])
    built.trace(ids)
    results = np.array([*built.looks(inputs["weights"], ids)])
    if not _first_alike(results).any():  # every review has the same result, so nothing inside can be heard
        return {"results": results, "moves": {}}

    def shake(look: int) -> None:
        built.shake([inputs["weights"], look])

    shaken = map(shake, range(LOOKS))
    return {
        "results": results,
        "moves": relus.inside(built.model.trainable_variables, *sizes, lambda: built(ids), shaken),
    }


def _inside_seen(inputs: Mapping[str, Any], made: Mapping[str, Any]) -> dict[str, Any]:
    moves = {name: float(taken(made["moves"], name, ())) for name in made["moves"]}
    return {
        "first review with the same result": _first_alike(_of_looks(inputs, made, "results")),
        **relus.seen(moves, APART),
    }


CLASSIFIER_MODES = {
    "inside": _inside,
    "parameters": _parameters,
    "values": _values,
    "padding": _padding,
    "order": _order,
    "learning": _learning,
    "given": lambda built, inputs, _: known_weights.probabilities(built.model, inputs),
}


CLASSIFIER_SEEN = {
    "inside": _inside_seen,
    "values": _values_seen,
    "padding": _padding_seen,
    "order": _order_seen,
    "learning": _learning_seen,
}


def _build_classifier(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Build a model and hand over its results, with weights at random: its parts have no names in the contract."""
    built = _Classifier(namespace, inputs)
    return CLASSIFIER_MODES[mode](
        built, inputs, lambda: _Classifier(namespace, inputs, more=inputs["longer"].shape[1] - inputs["max_length"])
    )


CLASSIFIER_FACTS = (
    *("shape of the result", "range of the results", "result of a second call", "result of a review alone"),
    *("first review with the same result", "reviews with another result", "result of padding alone"),
    *("what the attention reads", "which words it reads", "what the mean reads"),
    *("gradients of the weights", "result inside tf.function"),
    *relus.RIGHT,
)


MEASURES = ("accuracy", "precision", "recall", "f1", "confusion")


def _evaluate_predictions(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Call the function; every entry of its dictionary becomes an array, numbers too."""
    read = record("evaluate_predictions", "probabilities", "labels", optional=("threshold",), fields=MEASURES)
    return {name: numbers(value, f"the entry {name!r}") for name, value in read(namespace, inputs, mode).items()}


PROBES = {
    "standardize": standardize,
    "build_vocabulary": of_texts("build_vocabulary", "max_tokens", result="vocabulary"),
    "vectorize": ReadOutside(of_texts("vectorize", "vocabulary", "max_length", result="ids"), {"call": ids_seen}),
    "masked_mean": _masked_mean,
    "derive_loss_gradient": _derive_loss_gradient,
    "build_classifier": ReadOutside(_build_classifier, CLASSIFIER_SEEN, dict.fromkeys(CLASSIFIER_FACTS, MODEL)),
    "train_classifier": train_classifier,
    "evaluate_predictions": _evaluate_predictions,
    "linear_baseline": function("linear_baseline", "train_texts", "train_labels", "texts"),
    "find_the_bug": mended(_masked_mean, "masked_mean"),
}
