"""The ways to drive a student's object: call a function, build and call a layer, read a value.

A probe is a function ``probe(namespace, inputs, mode) -> outputs``. It takes the student's object out of
`namespace`, runs it on `inputs` and returns named results. It judges nothing.

Modes of a function: ``call`` (NumPy arguments), ``tensor`` (TensorFlow arguments), and, where a probe of
`coursekit.probes` names the sizes that are unknown there, ``graph``.
Modes of a layer: ``call``, ``graph`` (inside `tf.function` with unknown batch size and length), ``gradient``
(gradients of ``sum(output * cotangent)``), ``parameters`` (number of trainable numbers), ``reload`` (rebuilt from
`get_config`, weights copied), ``unmasked`` (called with what is optional, and then without it).
Mode of either, through `refusing`: ``refusal`` (which error is raised).
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial, wraps
from itertools import zip_longest
from typing import Any

import numpy as np

from coursekit.check.rules import ForbiddenCall
from coursekit.probes.evidence import (
    ContractError,
    ReadOutside,
    as_numbers,
    copied,
    is_deliberate,
    kind_of,
    refuse_changed,
    shorter,
    tensors,
)
from coursekit.probes.layers import LayerKey, count, current_cache, cut_for, gradients, reloaded

Probe = Callable[[Mapping[str, Any], Mapping[str, Any], str], dict[str, Any]]


class NotFound(Exception):
    """The notebook defines nothing under the exercise's name, or nothing is written in it yet."""


def find(namespace: Mapping[str, Any], name: str) -> Any:
    """Return the student's object called `name`, or raise `NotFound` with what to do."""
    if name not in namespace:
        raise NotFound(f"`{name}` is not defined. Run the cell that defines it, and keep its name as given.")
    return namespace[name]


def unpack(result: Any, names: Sequence[str], call: str) -> dict[str, Any]:
    """Give the results of a call their names, or raise `ContractError` when their number is wrong."""
    if result is None:
        raise ContractError(f"{call} returned None. Is the `return` missing?")
    if len(names) == 1:
        if isinstance(result, (tuple, list)) and not _is_numeric_list(result):
            raise ContractError(f"{call} returned {kind_of(result)} of {len(result)}; expected one array.")
        return {names[0]: result}
    wanted = ", ".join(names)
    if not isinstance(result, (tuple, list)):
        raise ContractError(f"{call} returned one {type(result).__name__}; expected the tuple ({wanted}).")
    if len(result) != len(names):
        raise ContractError(f"{call} returned {len(result)} results; expected ({wanted}).")
    for name, value in zip(names, result, strict=True):
        if value is None:
            raise ContractError(f"{call} returned None for `{name}`.")
    return dict(zip(names, result, strict=True))


def _is_numeric_list(value: Sequence[Any]) -> bool:
    try:
        return np.asarray(value).dtype.kind in "biuf"
    except (ValueError, TypeError, NotImplementedError):  # the last one for tensors of a graph
        return False


def function(
    name: str,
    *positional: str,
    optional: Sequence[str] = (),
    returns: Sequence[str] = ("output",),
    unknown_axes: Mapping[str, Sequence[int]] | None = None,
) -> Probe:
    """Probe that calls a function; in the mode ``graph`` it does so inside `tf.function`.

    Args:
        name: the function's name in the notebook.
        positional: inputs handed over by position, in the order of the signature.
        optional: inputs handed over by keyword, when the case has them.
        returns: names of the results; a tuple is expected when there are several.
        unknown_axes: in the mode ``graph``, the inputs that are tensors, each with the axes whose size is not known.
    """

    def in_graph(target: Callable[..., Any], inputs: Mapping[str, Any]) -> dict[str, Any]:
        unknown = unknown_axes or {}

        def run(*symbolic: Any) -> dict[str, Any]:
            given = {**inputs, **dict(zip(unknown, symbolic, strict=True))}
            return unpack(target(*(given[key] for key in positional)), returns, f"{name}({', '.join(positional)})")

        return run_in_graph(run, [tensors(inputs[key]) for key in unknown], [*unknown.values()])

    def probe(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
        target = find(namespace, name)
        if mode == "graph":
            return in_graph(target, inputs)
        convert = (lambda value: tensors(copied(value))) if mode == "tensor" else copied
        named = [key for key in optional if key in inputs and key not in positional]
        shown = f"{name}({', '.join([*positional, *(f'{key}=…' for key in named)])})"
        return unpack(_called(target, inputs, positional, named, shown, convert), returns, shown)

    return probe


def _called(
    target: Callable[..., Any],
    inputs: Mapping[str, Any],
    positional: Sequence[str],
    named: Sequence[str],
    shown: str,
    convert: Callable[[Any], Any] = copied,
) -> Any:
    """What a function returns for copies of its inputs, which it leaves as they are."""
    given = {key: convert(inputs[key]) for key in (*positional, *named)}
    result = target(*(given[key] for key in positional), **{key: given[key] for key in named})
    refuse_changed(inputs, given, shown)
    return result


def record(name: str, *positional: str, optional: Sequence[str] = (), fields: Sequence[str]) -> Probe:
    """Probe that calls a function which returns a dictionary, and returns the named `fields` of it."""

    def probe(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
        shown = f"{name}({', '.join(positional)})"
        named = [key for key in optional if key in inputs and key not in positional]
        return _fields(_called(find(namespace, name), inputs, positional, named, shown), fields, shown)

    return probe


def _fields(result: Any, fields: Sequence[str], shown: str) -> dict[str, Any]:
    if not isinstance(result, Mapping):
        raise ContractError(f"{shown} returned {kind_of(result)}; expected a dictionary.")
    missing = [field for field in fields if field not in result]
    if missing:
        raise ContractError(f"{shown} has no entry {', '.join(map(repr, missing))}.")
    return {field: result[field] for field in fields}


def numbers(value: Any, what: str) -> np.ndarray:
    """`value` as an array of numbers; raises `ContractError`, which calls it `what`, when it is none."""
    try:
        array = np.asarray(value)
    except (ValueError, TypeError) as error:
        raise ContractError(f"{what} cannot be made an array. Do its rows differ in length?") from error
    if array.dtype.kind not in "biuf":
        inside = f" of {'texts' if array.dtype.kind in 'US' else 'objects'}" if array.ndim else ""
        raise ContractError(f"{what} is {kind_of(value)}{inside}; expected numbers.")
    return array


def floats(value: Any, what: str) -> np.ndarray:
    """`value` as `numbers` reads it, in float64."""
    return numbers(value, what).astype("float64")


def entries(found: Any, names: Sequence[Any], shown: str, expected: str = "") -> dict[Any, Any]:
    """The entries `names` of a dictionary that the call `shown` returned; `ContractError` where it is none, or one is
    missing, with what was `expected` of it."""
    if not isinstance(found, Mapping):
        expected = expected or ", ".join(map(str, names))
        raise ContractError(f"{shown} returned {kind_of(found)}; expected a dictionary with {expected}.")
    if missing := [name for name in names if name not in found]:
        raise ContractError(f"the dictionary that {shown} returned has no entry {', '.join(map(repr, missing))}.")
    return {name: found[name] for name in names}


def answers(name: str = "answers") -> Probe:
    """Probe that reads one entry, ``inputs["entry"]``, of a dictionary of answers. None is no answer."""

    def probe(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
        entry = inputs["entry"]
        value = _fields(find(namespace, name), (entry,), f"`{name}`")[entry]
        if value is None or (isinstance(value, str) and not value.strip()):
            raise NotFound(f'{name}["{entry}"] is {"None" if value is None else "empty"}; expected an answer.')
        value = as_numbers(value)
        if isinstance(value, str):
            return {"answer": value.strip(" \t\n.()\"'").lower()}
        return {"answer": np.asarray(value, dtype="float64")}

    return probe


def value(name: str, *, number: bool = False) -> Probe:
    """Probe that reads the variable `name`; where a case has the input ``entry``, that entry of a dictionary.

    With `number` the variable is one number, in whatever brackets.
    """
    one_entry = answers(name)

    def probe(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
        if "entry" in inputs:
            return one_entry(namespace, inputs, mode)
        found = find(namespace, name)
        if found is None:
            raise NotFound(f"`{name}` is None: nothing is written yet.")
        if not number:
            return {"value": found}
        array = numbers(as_numbers(found), f"`{name}`").astype("float64")
        if array.size != 1:
            raise ContractError(f"`{name}` has {array.size} numbers; expected one.")
        return {"value": array.item()}

    return probe


def refusing(probe: Probe) -> Probe:
    """Probe that answers, in the mode ``refusal``, with the error that `probe` raises; in other modes it is `probe`.

    The result ``raised`` is ``"ValueError"`` for that error and errors derived from it, ``"ValueError by chance"``
    where no ``raise`` statement made it (arrays that do not fit), the error's own name for any other, and
    ``"no error"``.
    """

    def wrapped(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
        if mode != "refusal":
            return probe(namespace, inputs, mode)
        try:
            probe(namespace, inputs, "call")
        except (NotFound, ContractError, NotImplementedError, ForbiddenCall):
            raise
        except ValueError as error:
            return {"raised": "ValueError" if is_deliberate(error) else "ValueError by chance"}
        except Exception as error:
            return {"raised": type(error).__name__}
        return {"raised": "no error"}

    return wrapped


@dataclass(frozen=True, eq=False, kw_only=True)
class LayerProbe:
    """Probe that builds a layer, puts known weights into its named attributes and calls it.

    Inside `coursekit.probes.layers.sharing` cases share the layers that they build.

    Attributes:
        name: the layer's class name in the notebook.
        init: inputs given to the constructor by position.
        call: inputs given to the call by position.
        optional: inputs given to the call by keyword, when the case has them.
        weights: inputs to assign, as ``"attribute.variable"``, such as ``"w_q.kernel"``; nested attributes are joined
            by dots. Weights that a case does not hold are left as the layer made them. A function of the inputs when
            the attributes depend on them, as in a stack of layers.
        returns: names of the results.
        with_weights: name of a second result that the layer returns only under ``return_weights=True``.
        init_keywords: inputs given to the constructor by keyword, when the case has them.
        unknown_axes: axes whose size is not known in the mode ``graph``; all but the last one when None.
        packed: name of one input that holds all the weights, flattened and end to end in the order of `weights`.
        modes: further modes, by name: functions of the layer as it stands once the weights are in it.
        harmless: those of `modes` that leave the layer as they found it, but for the values of its variables; after
            any other one no later case gets the layer.
        renamed: arguments of the call that had another name in earlier releases: input -> the name of today. A layer
            that has the old one alone gets it by that.
    """

    name: str = field(kw_only=False)
    init: Sequence[str]
    call: Sequence[str]
    optional: Sequence[str] = ("mask",)
    weights: Sequence[str] | Callable[[Mapping[str, Any]], Sequence[str]]
    returns: Sequence[str] = ("output",)
    with_weights: str | None = None
    init_keywords: Sequence[str] = ()
    unknown_axes: Sequence[int] | None = None
    packed: str | None = None
    modes: Mapping[str, Callable[[BuiltLayer], dict[str, Any]]] = field(default_factory=dict)
    harmless: Sequence[str] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
        """What the student's layer gives for the inputs of a case, in a mode."""

        paths = self.weights(inputs) if callable(self.weights) else self.weights
        cls, positional = find(namespace, self.name), [inputs[key] for key in self.init]
        named = {key: inputs[key] for key in self.init_keywords if key in inputs}
        arguments = [tensors(copied(inputs[key])) for key in self.call]
        keywords = {
            _argument(cls, key, self.renamed.get(key, key)): tensors(copied(inputs[key]))
            for key in self.optional
            if key in inputs
        }
        names = list(self.returns)
        if self.with_weights and inputs.get("return_weights"):
            keywords["return_weights"] = True
            names.append(self.with_weights)
        shown = f"{self.name}(…)({', '.join([*self.call, *(f'{key}=…' for key in keywords)])})"

        def call_with(built: Any, *tensors: Any) -> dict[str, Any]:
            return unpack(built(*tensors, **keywords), names, shown)

        def first_call(built: Any) -> None:
            """On a shorter input, and without what is optional: a layer may keep nothing of what it was called on."""
            try:
                built(*map(shorter, arguments))
            except Exception:  # it cannot take this one: then it gets what the case has
                call_with(built, *arguments)

        with current_cache().layer(
            LayerKey(cls, positional, named, arguments),
            make=lambda: _construct(cls, self.name, positional, named),
            call=first_call,
            keep=mode != "unmasked" and (mode not in self.modes or mode in self.harmless),
        ) as built:
            run = partial(call_with, built)
            if self.packed is not None and self.packed in inputs:
                shapes = {path: tuple(_weight(built, path).shape) for path in paths}
                inputs = {**inputs, **cut_for(self.name, inputs[self.packed], shapes)}
            _assign_all(built, inputs, paths)
            if mode in self.modes:
                return self.modes[mode](BuiltLayer(built, arguments, keywords, inputs, paths))
            if mode == "parameters":
                return {"trainable_parameters": count(built.trainable_variables)}
            if mode == "unmasked":
                return self._without_options(built, arguments, call_with)
            if mode == "reload":
                return call_with(reloaded(built, arguments, keywords), *arguments)
            if mode == "graph":
                return run_in_graph(run, arguments, [self.unknown_axes] * len(arguments))
            if mode == "gradient":
                return _gradients(built, run, arguments, inputs, self.call, paths, shown)
            return run(*arguments)

    def _without_options(
        self, built: Any, arguments: Sequence[Any], call_with: Callable[..., dict[str, Any]]
    ) -> dict[str, Any]:
        """Call with what is optional, and then without it: nothing may be kept from one call to the next."""
        call_with(built, *arguments)
        return unpack(built(*arguments), self.returns, f"{self.name}(…)({', '.join(self.call)})")


@dataclass(frozen=True)
class BuiltLayer:
    """A layer that a probe has built: the arguments of its call, the case's inputs, the paths of its named weights."""

    built: Any
    arguments: Sequence[Any]
    keywords: Mapping[str, Any]
    inputs: Mapping[str, Any]
    paths: Sequence[str]

    def attribute(self, path: str) -> Any:
        """The layer's attribute at a dotted path, or `ContractError` when there is none."""
        return _variable(self.built, path)

    def reloaded(self) -> BuiltLayer:
        """The same with a copy of the layer, made from its `get_config` and its weights."""
        return replace(self, built=reloaded(self.built, self.arguments, self.keywords))


def run_in_graph(
    run: Callable[..., dict[str, Any]], arguments: Sequence[Any], unknown_axes: Sequence[Sequence[int] | None] = ()
) -> dict[str, Any]:
    """What `run` gives inside `tf.function` for tensors of which some sizes are not known.

    Args:
        run: called with symbolic tensors; not rewritten by AutoGraph, for Keras calls layers without it.
        arguments: the tensors.
        unknown_axes: for each of them the axes whose size is not known; all but the last one when None, or left out.
    """
    import tensorflow as tf

    signature = []
    for tensor, axes in zip_longest(arguments, unknown_axes):
        unknown = range(len(tensor.shape) - 1) if axes is None else axes
        shape = [None if axis in unknown else size for axis, size in enumerate(tensor.shape)]
        signature.append(tf.TensorSpec(shape, tensor.dtype))
    try:
        return tf.function(run, input_signature=signature, autograph=False)(*arguments)
    except NotImplementedError as error:
        if "symbolic" not in str(error):  # the stub's own: nothing is written yet
            raise
        raise ContractError(
            "inside tf.function a tensor has no numbers yet, and a NumPy function asked for them. Use `keras.ops`."
        ) from error


def _argument(cls: Any, old: str, new: str) -> str:
    """`old` where the `call` of a class has an argument of this name and none of the `new` one; otherwise `new`."""
    try:
        has = inspect.signature(cls.call).parameters
    except (AttributeError, TypeError, ValueError):  # no layer at all, which is said when it is built
        return new
    return old if old in has and new not in has else new


def _construct(cls: Any, name: str, positional: Sequence[Any], named: Mapping[str, Any]) -> Any:
    if not inspect.isclass(cls):
        raise ContractError(f"`{name}` is {kind_of(cls)}; expected a class derived from `keras.Layer`.")
    import keras

    if not issubclass(cls, keras.Layer):
        raise ContractError(f"`{name}` is not derived from `keras.Layer` (Keras {keras.__version__}).")
    return cls(*positional, **named)


def _variable(built: Any, path: str) -> Any:
    import keras

    target = built
    for part in path.split("."):
        target = target.layers if isinstance(target, keras.Sequential) else target  # a list, in other libraries
        if isinstance(target, (list, tuple)) and part.isdigit() and int(part) < len(target):
            target = target[int(part)]
        elif getattr(target, part, None) is not None:  # a Dense layer without bias has `bias = None`
            target = getattr(target, part)
        else:
            raise ContractError(_absence(target, path, part))
    return target


def _absence(owner: Any, path: str, part: str) -> str:
    """Why nothing is at `path`, of which `owner` lacks `part`: a layer that no call uses, one without bias, or none."""
    name = path.rpartition(".")[0]
    if name and _is_unused(owner):
        return f"`{name}` has no weights after a call: `call` does not use it."
    if part == "bias" and name and hasattr(owner, "use_bias"):
        return f"`{name}` has no bias; the lab's text says which layers have one."
    if not hasattr(owner, "__dict__"):
        return f"`{name}` is {kind_of(owner)}; the layer needs this name. Keep the argument under another one."
    names = [key for key, value in vars(owner).items() if value is not None and not key.startswith("_")]
    meant = "".join(f". Is `{close}` meant? The" for close in difflib.get_close_matches(part, names, n=1)) or "; the"
    return f"the layer has no `{path}`{meant} lab's text lists the attributes by name."


def _is_unused(target: Any) -> bool:
    """Whether this is a Keras layer that no call has reached, so that it has no weights yet."""
    import keras

    return isinstance(target, keras.Layer) and not target.built


def _is_reached(built: Any, path: str) -> bool:
    """Whether the call used the layer that owns the weight at `path`; if not, the weight cannot change a result."""
    owner = path.rpartition(".")[0]
    return not owner or not _is_unused(_variable(built, owner))


def _weight(built: Any, path: str) -> Any:
    """The weight at a dotted path. Raises ContractError where something else is there, such as a layer."""
    import keras

    variable = _variable(built, path)
    if not (hasattr(variable, "shape") and hasattr(variable, "assign")):
        kind = "a Keras layer" if isinstance(variable, keras.Layer) else "no weight"
        raise ContractError(
            f"`{path}` is {kind} ({type(variable).__name__}); expected a weight, as `self.add_weight` makes it."
        )
    return variable


def _assign_all(built: Any, inputs: Mapping[str, Any], weights: Sequence[str]) -> None:
    for path in weights:
        if path not in inputs or not _is_reached(built, path):
            continue
        variable, value = _weight(built, path), inputs[path]
        if tuple(variable.shape) != value.shape:
            other = _exchanged_with(built, inputs, weights, path)
            advice = f" With `{other}` it is the other way round: are the two exchanged?" if other else ""
            raise ContractError(f"`{path}` has shape {tuple(variable.shape)}; expected {value.shape}.{advice}")
        variable.assign(value)


def _exchanged_with(built: Any, inputs: Mapping[str, Any], weights: Sequence[str], path: str) -> str | None:
    """Another weight that has the shape expected of the one at `path`, while that one has its shape."""
    has, should_have = tuple(_variable(built, path).shape), inputs[path].shape
    for other in weights:
        if other not in inputs or not _is_reached(built, other):
            continue
        if (inputs[other].shape, tuple(getattr(_variable(built, other), "shape", ()))) == (has, should_have):
            return other
    return None


def _gradients(
    built: Any,
    run: Callable[..., dict[str, Any]],
    arguments: Sequence[Any],
    inputs: Mapping[str, Any],
    call: Sequence[str],
    weights: Sequence[str],
    shown: str,
) -> dict[str, Any]:
    import tensorflow as tf

    variables = {path: _variable(built, path) for path in weights if path in inputs}
    variables = {path: variable.value for path, variable in variables.items()}  # Keras variable -> tf.Variable
    numbers = {
        key: tensor for key, tensor in zip(call, arguments, strict=True) if tensor.dtype.is_floating
    }  # not token ids

    def loss() -> Any:
        return sum(
            tf.reduce_sum(tf.cast(value, "float32") * inputs[f"cotangent.{key}"])
            for key, value in run(*arguments).items()
            if f"cotangent.{key}" in inputs
        )

    sources = {**numbers, **variables}
    named = [(f"`{key}`", source) for key, source in sources.items()]
    advice = "Is a NumPy function, `.numpy()` or `stop_gradient` in the way?"
    found = gradients(loss, named, f"result of {shown}", advice)
    return {f"gradient.{key}": gradient for key, gradient in zip(sources, found, strict=True)}


def function_of(namespace: Mapping[str, Any], name: str) -> Callable[..., Any]:
    """The student's function called `name`, as `find` gives it; a call that changes an array or a list raises.

    What stands in a tuple, such as a pair of arrays, is looked at, too.

    Raises:
        NotFound: there is no such function.
        ContractError: of a call, after which an argument is another one; the text names it.
    """
    target = find(namespace, name)
    known = _names(target)  # once: some probes call thousands of times

    @wraps(target)
    def call(*given: Any, **named: Any) -> Any:
        arguments = _by_name(known, given, named)
        before = {key: copied(value) for key, value in arguments.items()}
        result = target(*given, **named)
        refuse_changed(before, arguments, f"{name}(…)")
        return result

    return call


def _names(target: Any) -> list[str]:
    """The names of the arguments that a function takes by position; none where Python knows no signature."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    with suppress(TypeError, ValueError):
        return [each.name for each in inspect.signature(target).parameters.values() if each.kind in kinds]
    return []


def _by_name(known: Sequence[str], given: tuple[Any, ...], named: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments by the names that the function has for them, else by their number; parts of a tuple by their place."""
    names = [*known[: len(given)], *(f"argument {number}" for number in range(len(known) + 1, len(given) + 1))]
    found: dict[str, Any] = {}
    for name, value in [*zip(names, given, strict=True), *named.items()]:
        if isinstance(value, tuple) and value:
            found |= {f"{name}[{number}]": part for number, part in enumerate(value)}
        else:
            found[name] = value
    return found


def mended(probe: Probe, original: str, name: str = "find_the_bug") -> Probe:
    """The probe of the exercise `original`, which drives the object called `name` in its place."""

    def driven(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
        return probe({**namespace, original: find(namespace, name)}, inputs, mode)

    return driven


# The modes that each kind understands; a misspelt one would be a plain call, and test nothing of what it names.
MODES: Mapping[str, tuple[str, ...]] = {
    "value": ("call",),
    "function": ("call", "tensor"),
    "record": ("call",),
    "layer": ("call", "parameters", "graph", "gradient", "reload", "refusal", "unmasked"),
}


def described(name: str, description: Mapping[str, Any]) -> Probe:
    """The probe of an exercise that brings no code of its own: a function, a record, a layer, or a value.

    Args:
        name: the name of the student's object.
        description: ``{"kind": "value"}``, with ``"number": True`` where it is one number;
            ``{"kind": "function", "call": [...], "optional": [...], "returns": [...]}`` with lists of names as in
            `function`; ``{"kind": "record", …}`` with ``fields`` in place of ``returns``; or ``{"kind": "layer", …}``
            with the fields of `LayerProbe`; the mode ``refusal`` says which error it raises.

    Raises:
        KeyError: it describes none of them.
    """
    if description["kind"] == "value":
        return value(name, number=description.get("number", False))
    if description["kind"] == "layer":
        return refusing(LayerProbe(name, **{key: value for key, value in description.items() if key != "kind"}))
    if description["kind"] == "record":
        return record(name, *description["call"], optional=description["optional"], fields=description["fields"])
    return function(name, *description["call"], optional=description["optional"], returns=description["returns"])


# -- a design: hands over the numbers that a student chose; what is true of them is said outside ----------------------


Reader = Callable[[Any, str], Any]


def design(says: Callable[..., str], **entries: Reader) -> ReadOutside:
    """Probe that calls ``design()``, which returns a dictionary, for the constraint ``inputs["constraint"]``.

    Args:
        says: what is true of the choice, of ``says(constraint, **chosen)``; one text for each way to keep or break it.
        entries: for each entry of the dictionary what reads it: a value and its name, which `ContractError` states.
    """
    chosen = record("design", fields=tuple(entries))

    def read(found: Mapping[str, Any]) -> dict[str, Any]:
        return {name: read_entry(found.get(name), f"`{name}`") for name, read_entry in entries.items()}

    def drive(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
        return read(chosen(namespace, inputs, mode))  # read here as well: this error shows the value as it was returned

    def standing(inputs: Mapping[str, Any], made: Mapping[str, Any]) -> dict[str, Any]:
        return {inputs["constraint"]: says(inputs["constraint"], **read(made))}

    return ReadOutside(drive, {"call": standing})


def whole(least: int = 1) -> Reader:
    """Reads a whole number of at least `least`, of whatever type: 64, 64.0 or ``np.int64(64)``."""

    def read(value: Any, name: str) -> int:
        number = _number(value)
        if number is None or number != round(number) or number < least:
            raise ContractError(f"{name} is {repr(value)[:60]}; expected a whole number of at least {least}.")
        return int(number)

    return read


def real(value: Any, name: str) -> float:
    """Reads a finite number."""
    number = _number(value)
    if number is None:
        raise ContractError(f"{name} is {repr(value)[:60]}; expected a number.")
    return float(number)


def positive(value: Any, name: str) -> float:
    """Reads a finite number above 0."""
    number = real(value, name)
    if number <= 0:
        raise ContractError(f"{name} is {repr(value)[:60]}; expected a number above 0.")
    return number


def _number(value: Any) -> int | float | None:
    """A finite number as it is; None for anything else."""
    try:
        array = np.asarray(value)
    except (ValueError, TypeError):  # a list whose rows differ in length
        return None
    is_number = array.shape == () and array.dtype.kind in "iuf" and np.isfinite(array)
    return array.item() if is_number else None
