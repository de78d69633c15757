"""Models, functions and SavedModels as concrete functions with named variables."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import tensorflow as tf

from nestarray import backends, tree
from nestarray.errors import ArgumentError, ConversionError
from nestarray.graph.binding import argument_names
from nestarray.graph.builder import NOWHERE, Place, line_name
from nestarray.importers import keras
from nestarray.importers.patching import one_trace
from nestarray.importers.protocol import NoTrainingMode, Request, training_of_function
from nestarray.importers.selection import variables_of
from nestarray.importers.size_spec import declared_axes, named_axes, named_leaves
from nestarray.importers.tensorflow import execution, operations, version_1
from nestarray.importers.tensorflow.places import Layers
from nestarray.importers.tensorflow.selection import kind_of, modes


class Variable(NamedTuple):
    """A variable of the source.

    Attributes:
        kind: ``"v"`` or ``"s"``.
        path: in that Container.
        native: the ``tf.Variable``.
    """

    kind: str
    path: str
    native: Any


class Output(NamedTuple):
    """The results of a traced function.

    Attributes:
        structure: of the output.
        leaves: of the output; tensors, and other values that are part of the program.
    """

    structure: Any
    leaves: list[Any]


@dataclass
class Program:
    """A source, traced.

    Attributes:
        name: for the graph.
        signed: the function whose parameters name the arguments.
        args, kwargs: the example.
        leaves, structure: of the example.
        inputs: the indices of the arrays among the leaves.
        axes: {axis: name} for each leaf.
        concrete: the concrete function of the arrays.
        output: of the source.
        variables: all variables of a model; of a function, those that it reads.
        layers: the layers that made the operations.
        definition: the path of the layer, and the line of the source's definition.
    """

    name: str
    signed: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    leaves: list[Any]
    structure: Any
    inputs: list[int]
    axes: list[dict[int, str]]
    concrete: Any = None
    output: Output = field(default_factory=lambda: Output(None, []))
    variables: list[Variable] = field(default_factory=list)
    layers: Layers = field(default_factory=Layers)
    definition: Place = NOWHERE


def program_of(request: Request) -> Program:
    """The program of a request's source, traced.

    Raises:
        ArgumentError: the model is not built, `train` is given for a function, or an input is
            text or ragged.
        ConversionError: TensorFlow cannot trace the source.
    """
    source, kwargs = request.source, dict(request.kwargs)
    kind = kind_of(source)
    name = _name_of(source)
    function = _function_of(source, kind, request.args, kwargs, train=request.train)
    args, kwargs = tree.map(_as_tensor, (tuple(request.args), kwargs))
    leaves, structure = tree.flatten((args, kwargs))
    leaves = list(leaves)
    signed = source.call if kind == "keras" else function
    definition = _definition_of(source, kind)
    for leaf in named_leaves(signed, args, kwargs):
        _check_input(f"{name} ({definition})", *leaf)
    inputs = [i for i, x in enumerate(leaves) if backends.is_array(x)]
    if request.sizes.everything:
        axes = declared_axes(name, leaves, _declared(source, kind, function, leaves))
    else:
        axes = named_axes(request.sizes, "a TensorFlow program", signed, args, kwargs)
    program = Program(
        name, signed, args, kwargs, leaves, structure, inputs, axes, definition=definition
    )
    specs = [
        tf.TensorSpec(
            [None if i in axes[at] else n for i, n in enumerate(leaves[at].shape)], leaves[at].dtype
        )
        for at in inputs
    ]

    def flat(*arrays: Any) -> list[Any]:
        filled = list(leaves)
        for i, x in zip(inputs, arrays, strict=True):
            filled[i] = x
        positional, named = tree.unflatten(structure, filled)
        with program.layers.watched(source):
            result = function(*positional, **named)
        results, form = tree.flatten(result)
        program.output = Output(form, [_dense(program, x) for x in results])
        return [x for x in program.output.leaves if tf.is_tensor(x)]

    with one_trace, _explained(program):
        program.concrete = tf.function(flat, autograph=False).get_concrete_function(*specs)
        if version_1.calls_version_1(program.concrete.graph):
            program.concrete = execution.retraced(program.concrete, specs)
    program.variables = _variables_of(source, kind, program.concrete)
    return program


def _name_of(source: Any) -> str:
    name = getattr(source, "__name__", "")
    return name if name.isidentifier() else type(source).__name__


def _definition_of(source: Any, kind: str) -> Place:
    """The path of a layer, and the line of the source's definition."""
    if kind == "keras":
        return keras.definition_of(source)
    function = source.__call__ if kind == "module" else source
    code = getattr(inspect.unwrap(getattr(function, "python_function", function)), "__code__", None)
    return NOWHERE if code is None else Place("", line_name(code.co_filename, code.co_firstlineno))


def _function_of(
    source: Any, kind: str, args: tuple[Any, ...], kwargs: dict[str, Any], *, train: bool
) -> Callable[..., Any]:
    """The source as a function of the example; takes the keyword ``signature`` from `kwargs`."""
    if kind == "saved":
        return _signature(source, kwargs.pop("signature", None), train=train)
    if kind == "keras":
        keras.check_built(source)
        return functools.partial(source, **keras.mode(source, train=train))
    function = source.__call__ if kind == "module" else source
    if kind == "module" and not callable(source):
        raise ArgumentError(
            f"trace_graph: source: got {type(source).__name__}, a tf.Module without __call__; pass one "
            "of its methods"
        )
    takes = modes(function)
    if train and not takes:
        raise training_of_function()
    passed = {*argument_names(function, len(args)), *kwargs}
    settings = {name: train for name in takes if name not in passed}
    if kind in ("", "module") and not hasattr(function, "get_concrete_function"):
        function = tf.function(function)
    return functools.partial(function, **settings) if settings else function


def _signature(source: Any, name: str | None, *, train: bool) -> Callable[..., Any]:
    """A signature of a SavedModel, or the loaded object itself."""
    if train:
        raise NoTrainingMode(
            "trace_graph: train=True: a SavedModel has the functions that it was saved with; pass "
            "signature= or one of its methods"
        )
    known = list(source.signatures)
    if name is None and callable(source):
        return source
    if name is None and len(known) == 1:
        (name,) = known
    if name not in known:
        raise ArgumentError(
            f"trace_graph: signature: got {name!r}, expected one of {', '.join(map(repr, known))}"
        )
    function = source.signatures[name]
    names = list(function.structured_input_signature[1])

    def call(*args: Any, **kwargs: Any) -> Any:  # signatures take their arguments by name
        return function(**dict(zip(names, args)), **kwargs)

    call.structured_input_signature = function.structured_input_signature  # type: ignore[attr-defined]
    parameter = inspect.Parameter
    call.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [parameter(each, parameter.POSITIONAL_OR_KEYWORD) for each in names]
    )
    return call


def _as_tensor(x: Any) -> Any:
    """An array of NumPy as a tensor; other values unchanged."""
    return tf.convert_to_tensor(x) if backends.backend_of_value(x) == "numpy" else x


def _check_input(name: str, place: str, x: Any) -> None:
    """Refuse inputs that no graph has."""
    refused = {
        tf.RaggedTensor: "a ragged tensor, expected a dense one; give x.to_tensor() and a mask",
        tf.SparseTensor: "a sparse tensor, expected a dense one: tf.sparse.to_dense(x)",
    }
    got = refused.get(type(x))
    if tf.is_tensor(x) and x.dtype == tf.string:
        got = (
            "a tensor of strings, expected numbers; look up the strings (StringLookup, "
            "TextVectorization) before the model"
        )
    if got is not None:
        raise ArgumentError(f"trace_graph: {name}: {place}: got {got}")


def _dense(program: Program, x: Any) -> Any:
    """A result as a tensor."""
    if isinstance(x, tf.IndexedSlices):
        return tf.convert_to_tensor(x)
    if isinstance(x, (tf.RaggedTensor, tf.SparseTensor)):
        values = x.flat_values if isinstance(x, tf.RaggedTensor) else x.values
        while values.op.type in (*operations.INLINED, "Identity"):
            is_call = values.op.type != "Identity"
            called = operations.functions_of(values.op)[0].outputs if is_call else values.op.inputs
            values = called[values.value_index]
        place = program.layers.place_of(values.op)
        raise ConversionError(
            f"trace_graph: {program.name} returns a {type(x).__name__} ({values.op.type}, {place}), "
            "expected dense tensors; convert it in the function"
        )
    return tf.convert_to_tensor(x) if hasattr(x, "assign") else x


def _declared(
    source: Any, kind: str, function: Callable[..., Any], leaves: list[Any]
) -> list[Any] | None:
    """The shape of each leaf of the example as the source declares it; None if it does not."""
    if kind == "keras":
        return keras.declared_shapes(source, leaves)
    of = getattr(function, "func", function)  # a choice of behaviour is partial
    signature = getattr(of, "structured_input_signature", getattr(of, "input_signature", None))
    return None if signature is None else [tuple(x.shape) for x in tree.leaves(signature)]


def _variables_of(source: Any, kind: str, concrete: Any) -> list[Variable]:
    """The variables of a model, then further variables that the program reads."""
    function = getattr(source, "python_function", source)
    owners = {"": source} if kind in ("keras", "module") else variables_of(function)
    variables: dict[int, Variable] = {}
    taken: set[str] = set()
    for name, owner in owners.items():
        for path, native, is_trained in _variables_in(owner, name):
            if id(native.handle) not in variables:  # layers of two models may have equal paths
                path = _unused(f"{name}/{path}" if name and path in taken else path, taken)
                variables[id(native.handle)] = _variable(path, native, is_trained)
    read = {id(handle): native for native in concrete.graph.variables for handle in [native.handle]}
    for handle, native in read.items():
        if handle not in variables:
            path = _unused(native.name.rpartition(":")[0], taken)
            variables[handle] = _variable(path, native, native.trainable)
    return list(variables.values())


def _variables_in(owner: Any, name: str) -> Iterator[tuple[str, Any, bool]]:
    """(path, tf.Variable, whether it is trained) of a model, a module or a variable."""
    kind = kind_of(owner)
    if kind == "keras":
        trained = {id(v) for v in owner.trainable_variables}
        for v in owner.variables:
            yield v.path, _native(v), id(v) in trained
    elif kind == "module":
        variables = owner._flatten(predicate=lambda x: isinstance(x, tf.Variable), with_path=True)
        for path, native in variables:
            yield "/".join([*filter(None, [name]), *map(str, path)]), native, native.trainable
    elif isinstance(owner, tf.Variable):
        yield name, owner, owner.trainable


def _native(variable: Any) -> Any:
    """The ``tf.Variable`` of a variable of Keras."""
    return getattr(variable, "_value", variable)


def _variable(path: str, native: Any, is_trained: bool) -> Variable:
    return Variable("v" if is_trained and native.dtype.is_floating else "s", path, native)


def _unused(path: str, taken: set[str]) -> str:
    name, count = path, 0
    while name in taken:
        count += 1
        name = f"{path}_{count}"
    taken.add(name)
    return name


@contextlib.contextmanager
def _explained(program: Program) -> Iterator[None]:
    """Advice for errors of TensorFlow's trace."""
    try:
        yield
    except ValueError as error:
        text = str(error)
        if "singleton tf.Variable" in text or "create variables on non-first call" in text:
            place = program.layers.place_of_error(error)
            raise ConversionError(
                f"trace_graph: {program.name} creates variables in the call (tf.Variable, {place}); "
                "create them before, in __init__ or build, or call the source once"
            ) from error
        raise
