"""Containers and Keras models: variables by path.

Paths are Keras' own, such as ``"dense/kernel"``: names of layers, then the name of the variable.
Keras numbers unnamed layers consecutively in a process: a second model has ``"dense_1/kernel"``.
`load_into_keras` matches such names by type and order.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from nestarray import backends, ops
from nestarray.backends import is_array_or_number
from nestarray.backends.transfer import move
from nestarray.config import BACKENDS
from nestarray.container import Container, constructor, method
from nestarray.container.numbered_names import same_order
from nestarray.container.spec import join_path
from nestarray.dtypes import as_dtype, dtype_of
from nestarray.errors import ArgumentError, StructureError
from nestarray.interchange.fitting import check_names, check_shapes


@constructor
def from_keras(
    model: Any, /, *, trainable: bool | None = None, random_state: bool = False
) -> Container:
    """The weights of a Keras model or layer, nested by their paths.

    The arrays belong to Keras' backend and are copies of the present values, so training does
    not change them. A variable that several layers share is included once. `load_into_keras` is
    the inverse.

    Args:
        model: a built ``keras.Model`` or ``keras.Layer``.
        trainable: True selects the trainable variables, False the others (running statistics,
            frozen layers), None both.
        random_state: include the states of random generators (of dropout, …); Keras renumbers
            their paths for each model.

    Returns:
        a Container of arrays.

    Raises:
        ArgumentError: `model` is not a Keras layer, or has no variables yet.
        StructureError: two variables have the same path.

    Example:
        >>> import keras, nestarray as na
        >>> model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2, name="fc")], name="net")
        >>> na.Container.from_keras(model).paths()
        ('net/fc/kernel', 'net/fc/bias')

    References:
        https://keras.io/api/models/model/
    """
    function = "Container.from_keras"
    variables = _variables(model, function)
    if not random_state:
        weights = {id(v) for v in model.weights}
        variables = {n: v for n, v in variables.items() if id(v) in weights}
    if trainable is not None:
        trained = {id(v) for v in model.trainable_variables}
        variables = {n: v for n, v in variables.items() if (id(v) in trained) is trainable}
    return Container.from_flat_dict({name: _value(v) for name, v in variables.items()})


@method
def load_into_keras(c: Container, /, model: Any) -> Any:
    """Assign the leaves to the variables of a Keras model or layer, in place.

    The inverse of `Container.from_keras`. Nothing is assigned unless all leaves fit. Variables
    that are not trainable may be missing in `c`; of the trainable variables, `c` must contain all
    or none.

    Unnamed layers get other numbers in each model, such as ``sequential_1/dense_2``. If the paths
    differ, these are matched by type and order.

    Args:
        c: a Container of arrays of any backend, nested by the paths of the variables.
        model: a built ``keras.Model`` or ``keras.Layer``; values are cast to the dtypes of its
            variables.

    Returns:
        `model`.

    Raises:
        ArgumentError: `model` is not a Keras layer, or has no variables yet.
        StructureError: a leaf has no variable in the model, or a trainable variable has no leaf.
        ShapeError: a leaf and its variable differ in shape.

    Example:
        >>> import keras, nestarray as na
        >>> layer = keras.layers.Dense(2, name="fc")
        >>> layer.build((None, 3))
        >>> v = na.Container.from_keras(layer)
        >>> layer = na.load_into_keras(v * 0.0 + 1.0, layer)
        >>> float(layer.bias[0])
        1.0
    """
    function = "load_into_keras"
    variables = _variables(model, function)
    new = _renamed(c, model, variables)
    trained = {id(v) for v in model.trainable_variables}
    required = [name for name, v in variables.items() if id(v) in trained]
    if new and new.keys() <= variables.keys() - set(required):
        required = []
    advice = (
        "Nothing was written; rename, exclude or set leaves so that the paths are those of the "
        "model's variables, or map them: c.match(na.Container.from_keras(model)).apply(c)"
    )
    check_names(function, type(model).__name__, new, required, variables, advice)
    for name, leaf in new.items():
        if not is_array_or_number(leaf):
            raise ArgumentError(
                f"{function}: {name!r} is a {type(leaf).__name__}, expected an array or a number; "
                "leave it out with c.exclude(...)"
            )
    check_shapes(function, new, variables)
    ready = {name: _fitted(leaf, variables[name]) for name, leaf in new.items()}
    for name, value in ready.items():
        variables[name].assign(value)
    return model


def _variables(model: Any, function: str) -> dict[str, Any]:
    """Path → variable, in the order of the model."""
    keras = sys.modules.get("keras")  # already imported if a model exists
    if keras is None or not isinstance(model, keras.Layer):
        raise ArgumentError(
            f"{function}: model: got {type(model).__name__}, expected a keras.Model or keras.Layer"
        )
    if not model.built:
        raise ArgumentError(
            f"{function}: model: got a {type(model).__name__} that is not built, so that it has no "
            "variables yet; call it on an input, or its build(input_shape), first"
        )
    named: dict[str, Any] = {}
    for variable in model.variables:
        if named.setdefault(variable.path, variable) is not variable:
            raise StructureError(
                f"{function}: two variables of the model have the path {variable.path!r}; give "
                "their layers different names"
            )
    return named


def _renamed(c: Container, model: Any, variables: Mapping[str, Any]) -> dict[str, Any]:
    """Path → leaf; with the paths of the model if they differ in automatic numbers only."""
    given = dict(c.flat_items())
    if given.keys() <= variables.keys():
        return given
    types = {type(layer).__name__.lower() for layer in model._flatten_layers()}
    counterparts = same_order(
        c.spec.paths,
        [tuple(name.split("/")) for name in variables],
        lambda name: name.replace("_", "") in types,  # batch_normalization: BatchNormalization
    )
    if counterparts is None:
        return given
    names = [join_path(counterparts[path]) for path in c.spec.paths]
    return dict(zip(names, c.leaves(), strict=True))


def _value(variable: Any) -> Any:
    """A copy of the present value of a variable."""
    framework = sys.modules["keras"].backend.backend()
    if framework == "torch":
        return variable.value.detach().clone()  # assign modifies the tensor in place
    if framework == "tensorflow":
        return variable.value.read_value()
    return variable.value


def _fitted(leaf: Any, variable: Any) -> Any:
    """The leaf in the dtype of a variable, as an array of Keras' backend."""
    if not backends.is_array(leaf):
        return leaf
    dtype = as_dtype(
        variable.value.dtype
    )  # the storage dtype, which may differ from variable.dtype
    if dtype_of(leaf) != dtype:
        leaf = ops.astype(leaf, dtype)
    backend = sys.modules["keras"].backend.backend()
    return move(leaf, backend if backend in BACKENDS else "numpy")
