"""Probes of lab 09, the Vision Transformer."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from coursekit.probes.driving import (
    BuiltLayer,
    ContractError,
    LayerProbe,
    find,
    function,
    function_of,
    numbers,
    refusing,
)
from coursekit.probes.evidence import MODEL, ReadOutside, copied, kind_of, refuse_changed, taken
from coursekit.probes.layers import count, current_cache, cut, gradients, slopes
from coursekit.probes.training import no_progress_bars, optimizers_built_early
from coursekit.probes.vit_dropout import DROPOUT, dropped_seen, hand_over_dropped

EMBEDDING = ("projection.kernel", "projection.bias", "class_token", "position_embedding")
ON_THE_WAY = "Is this part used, and is everything on the way `keras.ops` or TensorFlow?"
MODEL_SIZES = ("image_shape", "patch_size", "num_classes", "num_layers", "d_model", "num_heads", "d_ff")
ATTENTION = ("query", "key", "value", "output")


def _plain_variable(variable: Any, path: str) -> Any:
    """The TensorFlow variable behind a weight, whether Keras tracks it or not."""
    import keras
    import tensorflow as tf

    variable = variable.value if isinstance(variable, keras.Variable) else variable
    if not isinstance(variable, tf.Variable):
        raise ContractError(
            f"`{path}` is of type {type(variable).__name__}; expected a weight made by `self.add_weight`."
        )
    return variable


def _embedding_gradients(driven: BuiltLayer) -> dict[str, Any]:
    """Gradients of ``sum(output * cotangent)`` for the images and each named weight of a PatchEmbedding."""
    import tensorflow as tf

    images = driven.arguments[0]
    sources = {"images": images, **{path: _plain_variable(driven.attribute(path), path) for path in driven.paths}}
    found = gradients(
        lambda: tf.reduce_sum(driven.built(images) * driven.inputs["cotangent.output"]),
        [(f"`{name}`", source) for name, source in sources.items()],
        advice=ON_THE_WAY,
        watch=sources.values(),
    )
    return {f"gradient.{name}": gradient for name, gradient in zip(sources, found, strict=True)}


class _Roles:
    """The weights of a Vision Transformer by what they do, found wherever the model keeps them.

    Weights that do the same in different blocks share a role, such as ``"dense_in.kernel"``.
    """

    def __init__(self, model: Any, inputs: Mapping[str, Any]):
        import keras

        self.found: dict[str, list[Any]] = {}
        layers = list(model._flatten_layers(include_self=False))
        names = ("class_token", "position_embedding")
        embeddings = [layer for layer in layers if all(hasattr(layer, name) for name in names)]
        if not embeddings:
            half = [(layer, name) for layer in layers for name in names if hasattr(layer, name)]
            if half:
                owner, name = half[0]
                (missing,) = set(names) - {name}
                raise ContractError(f"`{type(owner).__name__}` has `{name}` and no `{missing}`.")
            raise ContractError(
                "the model holds no PatchEmbedding, a layer with `class_token` and `position_embedding`."
            )
        attentions = [layer for layer in layers if isinstance(layer, keras.layers.MultiHeadAttention)]
        parts = {id(part) for owner in (*embeddings, *attentions) for part in owner._flatten_layers()}
        for embedding in embeddings:
            for name in names:
                _plain_variable(getattr(embedding, name), name)  # refuses what is no weight
                self._add(name, getattr(embedding, name))
            if not hasattr(embedding, "projection"):
                raise ContractError(
                    f"`{type(embedding).__name__}` has no `projection`, the Dense layer of the patches."
                )
            self._add_dense("projection", embedding.projection)
        for attention in attentions:
            for name in ATTENTION:
                self._add_dense(name, getattr(attention, f"{name}_dense"))
        for layer in layers:
            if id(layer) in parts:
                continue
            if isinstance(layer, keras.layers.LayerNormalization):
                self._add("norm.gamma", layer.gamma, layer)
                self._add("norm.beta", layer.beta, layer)
            elif hasattr(layer, "kernel"):
                self._add_dense(_place(layer, inputs), layer)
        if not attentions and "dense_in.kernel" in self.found:
            raise ContractError("the model holds no `keras.layers.MultiHeadAttention`.")
        known = {id(part) for same in self.found.values() for part in same}
        others = [variable for variable in model.trainable_variables if id(variable) not in known]
        if others:
            raise ContractError(f"the model holds weights that are not in the table: {_named(others)}.")

    def _add(self, role: str, variable: Any, owner: Any = None) -> None:
        if variable is None:
            kind, weight = type(owner).__name__, role.rpartition(".")[2]
            raise ContractError(f"the {kind} layer `{owner.path}` has no `{weight}`; in this exercise every one has.")
        self.found.setdefault(role, []).append(variable)

    def _add_dense(self, role: str, dense: Any) -> None:
        self._add(f"{role}.kernel", dense.kernel, dense)
        self._add(f"{role}.bias", dense.bias, dense)

    def assign(self, weights: Mapping[str, np.ndarray]) -> None:
        """Put given weights into the model, the same ones into every block."""
        for role, value in weights.items():
            for variable in self.found.get(role, ()):
                shape = tuple(variable.shape)
                if _squeezed(shape) != _squeezed(value.shape):
                    name = getattr(variable, "path", role)
                    raise ContractError(f"`{name}` ({role}) has shape {shape}; expected {value.shape}.")
                variable.assign(value.reshape(shape))


def _squeezed(shape: Sequence[int]) -> tuple[int, ...]:
    """A shape without axes of size 1: a convolution over single tokens is a Dense layer, too."""
    return tuple(size for size in shape if size != 1)


def _place(dense: Any, inputs: Mapping[str, Any]) -> str:
    """Which Dense layer of the architecture this is, by its sizes; they are all different."""
    width, hidden, classes = (inputs[key] for key in ("d_model", "d_ff", "num_classes"))
    places = {(width, hidden): "dense_in", (hidden, width): "dense_out", (width, classes): "head"}
    shape = _squeezed(dense.kernel.shape)
    if shape not in places:
        raise ContractError(
            f"a layer of type {type(dense).__name__} has a kernel of shape {shape}. "
            f"Besides the projection there are kernels (D, F) = {(width, hidden)}, (F, D) = {(hidden, width)} "
            f"and (D, num_classes) = {(width, classes)}."
        )
    return places[shape]


def _named(variables: Sequence[Any]) -> str:
    names = [f"`{variable.path}` {tuple(variable.shape)}" for variable in variables]
    return ", ".join(names[:3]) + (", …" if len(names) > 3 else "")


def role_shapes(sizes: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """The shape of each role's weights, in the order in which a case packs them into one vector."""
    height, width, channels = sizes["image_shape"]
    patch, d_model, d_ff, heads = (sizes[key] for key in ("patch_size", "d_model", "d_ff", "num_heads"))
    tokens, head = height // patch * (width // patch) + 1, d_model // heads
    shapes: dict[str, tuple[int, ...]] = {
        "projection.kernel": (patch * patch * channels, d_model),
        "projection.bias": (d_model,),
        "class_token": (1, 1, d_model),
        "position_embedding": (1, tokens, d_model),
        "norm.gamma": (d_model,),
        "norm.beta": (d_model,),
    }
    for name in ("query", "key", "value"):
        shapes |= {f"{name}.kernel": (d_model, heads, head), f"{name}.bias": (heads, head)}
    shapes |= {"output.kernel": (heads, head, d_model), "output.bias": (d_model,)}
    for name, ends in (
        ("dense_in", (d_model, d_ff)),
        ("dense_out", (d_ff, d_model)),
        ("head", (d_model, sizes["num_classes"])),
    ):
        shapes |= {f"{name}.kernel": ends, f"{name}.bias": ends[1:]}
    return shapes


def by_role(vector: np.ndarray, sizes: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Cut one vector into the weights of the roles."""
    return cut(vector, role_shapes(sizes))


def _model(namespace: Mapping[str, Any], inputs: Mapping[str, Any]) -> Any:
    """The student's model, built; cases of the same sizes share it, and each gives it all its weights."""
    import keras

    target = find(namespace, "build_vit")
    sizes = [tuple(inputs[key]) if key == "image_shape" else inputs[key] for key in MODEL_SIZES]
    keywords = {"dropout": inputs["dropout"]} if "dropout" in inputs else {}
    key = ("build_vit", id(target), *sizes, *keywords.items())
    model = current_cache().once(key, lambda: target(*sizes, **keywords))
    if not isinstance(model, keras.Model):
        raise ContractError(f"build_vit(…) returned {kind_of(model)}; expected a `keras.Model`.")
    if not model.built:
        model(np.zeros((1, *inputs["image_shape"]), "float32"))
    return model


def _logits(model: Any, images: Any, **keywords: Any) -> Any:
    result = model(images, **keywords)
    if isinstance(result, (tuple, list, dict)):
        raise ContractError(f"the model returns {kind_of(result)}; expected one tensor of logits.")
    return result


def _build_vit(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Build the model, put the given weights into it by their roles, and use it as `mode` says.

    Modes: ``call``; ``graph`` (inside `tf.function`, batch size unknown); ``parameters``; ``slopes`` (derivative of
    ``sum(logits * weighting)`` along a direction, for each role); ``dropout`` (how much is dropped, and where);
    ``saved`` (saved, loaded, called).
    """
    import tensorflow as tf

    model = _model(namespace, inputs)
    if mode == "parameters":
        return {"trainable_parameters": count(model.trainable_variables)}
    roles = _Roles(model, inputs)
    weights = by_role(inputs["weights"], inputs)
    roles.assign(weights)
    images = tf.convert_to_tensor(inputs["images"])
    if mode == "dropout":
        return hand_over_dropped(
            model, partial(_logits, model), roles.assign, images, weights, inputs.get("dropout", 0.0)
        )
    if mode == "slopes":
        return _slopes(model, roles, images, inputs)
    if mode == "saved":
        model = _saved(model, namespace)
    if mode == "graph":
        signature = [tf.TensorSpec((None, *images.shape[1:]), images.dtype)]
        return {"logits": tf.function(lambda batch: _logits(model, batch), input_signature=signature)(images)}
    return {"logits": _logits(model, images)}


def _dropout_seen(inputs: Mapping[str, Any], made: Mapping[str, Any]) -> dict[str, Any]:
    weights = by_role(inputs["weights"], inputs)
    return dropped_seen(made, weights, inputs["num_layers"], inputs.get("dropout", 0.0))


def _slopes(model: Any, roles: _Roles, images: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    import tensorflow as tf

    along = by_role(inputs["direction"], inputs)
    used = [
        (role, _plain_variable(variable, role), along[role]) for role in along for variable in roles.found.get(role, ())
    ]
    found = slopes(
        lambda: tf.reduce_sum(_logits(model, images) * inputs["weighting"]),
        [(f"{role} of {variable.name}", variable, step) for role, variable, step in used],
        advice=ON_THE_WAY,
    )
    summed = dict.fromkeys(along, 0.0)
    for (role, _, _), slope in zip(used, found, strict=True):
        summed[role] += slope
    return {"slopes": np.array(list(summed.values()))}


def _saved(model: Any, namespace: Mapping[str, Any]) -> Any:
    """The model as it comes back from a file."""
    import keras

    own = {
        name: value for name, value in namespace.items() if isinstance(value, type) and issubclass(value, keras.Layer)
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vit.keras"
        model.save(path)
        return keras.models.load_model(path, custom_objects=own)


def _train_vit(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Let the student train on the images given, and ask the model that comes back about others."""
    import keras

    target = function_of(namespace, "train_vit")
    images, labels = inputs["images"], inputs["labels"].astype("int32")
    keras.utils.set_random_seed(inputs["seed"])
    with no_progress_bars(), optimizers_built_early():
        model = target(images.copy(), labels.copy(), inputs["num_classes"])
    if not isinstance(model, keras.Model):
        raise ContractError(f"train_vit(…) returned {kind_of(model)}; expected the trained `keras.Model`.")
    layers = list(model._flatten_layers(include_self=False))
    if not any(isinstance(layer, keras.layers.MultiHeadAttention) for layer in layers):
        raise ContractError("the model that came back holds no attention: train the one that build_vit makes.")
    if not any(hasattr(layer, "position_embedding") for layer in layers):
        raise ContractError(
            "the model that came back holds no `PatchEmbedding` with `position_embedding`: train the one that your"
            " build_vit makes."
        )
    _refuse_other_patches(layers, images.shape[1:3])
    fitted, unseen = (np.asarray(_logits(model, batch, training=False)) for batch in (images, inputs["unseen"]))
    if fitted.shape != (len(images), inputs["num_classes"]):
        raise ContractError(f"the model returns {fitted.shape}; expected {(len(images), inputs['num_classes'])}.")
    return {"fitted": fitted, "logits": unseen}


def _training_seen(inputs: Mapping[str, Any], made: Mapping[str, Any]) -> dict[str, Any]:
    """What the model returns of its own training images; the labels of the others are withheld."""
    fitted = taken(made, "fitted", (len(inputs["images"]), inputs["num_classes"]))
    sums = (fitted >= 0).all() and np.allclose(fitted.sum(axis=-1), 1, atol=1e-3)
    right = np.mean(np.argmax(fitted, axis=-1) == inputs["labels"])
    return {
        "returns": "probabilities" if sums else "logits",
        "fits": "its training images" if right >= 0.5 else "nothing",
        "logits": taken(made, "logits"),
    }


def _refuse_other_patches(layers: Sequence[Any], sides: tuple[int, int]) -> None:
    """Refuse a table of positions that has not one row for the class token and one for each patch of 2 × 2 pixels."""
    rows = [layer.position_embedding.shape[-2] for layer in layers if hasattr(layer, "position_embedding")]
    patches = sides[0] // 2 * (sides[1] // 2)
    if patches + 1 not in rows:
        raise ContractError(
            f"the model that came back cuts an image into {rows[0] - 1} patches; expected {patches}. The patches are"
            f" 2 × 2 pixels, since the cells below need their grid: call build_vit with patch_size=2."
        )


WHOLE_PATCHES = "at whole patches, and None elsewhere"


def logits_of(images: np.ndarray, weights: np.ndarray, columns: int) -> np.ndarray:
    """Logits (n, K) of a linear model (h, w, C, K) that looks for everything so many columns further right."""
    return np.einsum("nhwc,hwck->nk", images.astype("float64"), np.roll(weights, columns, axis=1).astype("float64"))


def answers_of(images: np.ndarray, weights: np.ndarray, columns: int) -> np.ndarray:
    """The class with the largest of these logits for each image, (n,)."""
    return logits_of(images, weights, columns).argmax(axis=-1)


def _measure_shift(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Hand over images and a model that knows where things stand; read the entries of all shifts."""
    shape, size = inputs["images"].shape[1:], inputs["patch_size"]

    def predict(images: Any, rows: Any) -> np.ndarray:
        given = numbers(images, "what `predict` gets as images")
        if given.shape[1:] != shape or given.ndim != 4:
            raise ContractError(f"`predict` got images of the shape {given.shape}; expected (n, {str(shape)[1:]}.")
        steps = numbers(rows, "`rows`")
        if steps.shape != () or steps != np.round(steps):
            raise ContractError(f"`predict` got rows={rows!r}; expected a whole number of patches.")
        return answers_of(given, inputs["weights"], int(steps) * size)

    names = ("images", "labels", "shifts", "patch_size")
    given = {name: copied(inputs[name]) for name in names}
    found = find(namespace, "measure_shift")(predict, *given.values())
    shown = f"measure_shift(predict, {', '.join(names)})"
    refuse_changed(inputs, given, shown)
    if not isinstance(found, Mapping):
        raise ContractError(f"{shown} returned {kind_of(found)}; expected a dictionary.")
    lacking = [shift for shift in inputs["shifts"] if shift not in found]
    if lacking:
        raise ContractError(f"{shown} has no entry for the shift {lacking[0]}.")
    entries = [found[shift] for shift in inputs["shifts"]]
    if any(not isinstance(entry, (tuple, list, np.ndarray)) or len(entry) != 4 for entry in entries):
        raise ContractError(f"{shown} has an entry that is not the tuple (accuracy, change, error, along).")
    if mode == "along":
        return _along({shift: entry[3] for shift, entry in zip(inputs["shifts"], entries, strict=True)}, size)
    columns = [_one_each([entry[column] for entry in entries], what) for column, what in enumerate(CHANGES)]
    return {"accuracy": columns[0]} if mode == "accuracy" else dict(zip(CHANGES, columns, strict=True))


CHANGES = ("accuracy", "change", "error")


def _one_each(values: Sequence[Any], what: str) -> np.ndarray:
    array = numbers(values, f"`{what}`")
    if array.size != len(values):
        raise ContractError(f"`{what}` has the shape {array.shape[1:]} at one shift; expected one number.")
    return array.reshape(len(values)).astype("float64")


def _along(found: Mapping[int, Any], size: int) -> dict[str, Any]:
    """The accuracies at whole patches, and at which shifts there are any."""
    there = {
        shift: value is not None and not np.all(np.isnan(numbers(value, "`along`"))) for shift, value in found.items()
    }
    whole = [shift for shift in found if shift % size == 0]
    for shift in whole:
        if not there[shift]:
            raise ContractError(f"`along` is {found[shift]} at the shift {shift}, a whole number of patches of {size}.")
    values = _one_each([found[shift] for shift in whole], "along")
    return {"along": values, "there": np.array([*there.values()])}


def _along_seen(inputs: Mapping[str, Any], made: Mapping[str, Any]) -> dict[str, Any]:
    shifts = np.array(inputs["shifts"])
    elsewhere = taken(made, "there", shifts.shape, "b")[shifts % inputs["patch_size"] != 0].any()
    return {"along": taken(made, "along"), "rows": "at other shifts as well" if elsewhere else WHOLE_PATCHES}


PROBES = {
    "measure_shift": ReadOutside(_measure_shift, {"along": _along_seen}),
    "extract_patches": refusing(function("extract_patches", "images", "patch_size", unknown_axes={"images": (0,)})),
    "PatchEmbedding": LayerProbe(
        "PatchEmbedding",
        init=("patch_size", "num_patches", "d_model"),
        call=("images",),
        optional=(),
        weights=EMBEDDING,
        unknown_axes=(0,),
        modes={"gradient": _embedding_gradients},
    ),
    "build_vit": ReadOutside(_build_vit, {"dropout": _dropout_seen}, dict.fromkeys(DROPOUT, MODEL)),
    "train_vit": ReadOutside(_train_vit, {"call": _training_seen}),
    "extract_tubelets": refusing(function("extract_tubelets", "video", "frames", "patch_size")),
}
