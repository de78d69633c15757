"""Containers and Haiku parameters: module names with slashes, with one level of parameters.

Haiku is not imported: its parameters and states are plain mappings.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nestarray.container import Container, constructor, method
from nestarray.container.container import from_leaves
from nestarray.container.spec import Spec
from nestarray.errors import ArgumentError, StructureError
from nestarray.interchange.fitting import convert_arrays


@constructor
def from_haiku(params: Mapping[str, Any], /, *, nested: bool = False) -> Container:
    """Haiku's parameters or state, ``{"mlp/~/linear_0": {"w": …}}``.

    Paths are the same with and without nesting: ``c["mlp/~/linear_0/w"]``. `to_haiku` is the
    inverse.

    Args:
        params: parameters or state, from ``init`` of a transformed function.
        nested: split module names at slashes, so that ``c["mlp"]`` is the subtree of a module.
            Modules of one parent become adjacent.

    Returns:
        a Container with the same leaves; without `nested` its keys are Haiku's names.

    Raises:
        ArgumentError: `params` is not a mapping of names to mappings.
        StructureError: with `nested`, a parameter and a module have the same name.

    Example:
        >>> import numpy as np, nestarray as na
        >>> params = {"mlp/~/linear_0": {"w": np.ones((2, 3))}, "mlp/~/linear_1": {"w": np.ones(3)}}
        >>> list(na.Container.from_haiku(params))
        ['mlp/~/linear_0', 'mlp/~/linear_1']
        >>> list(na.Container.from_haiku(params, nested=True)["mlp/~"])
        ['linear_0', 'linear_1']
    """
    name = "Container.from_haiku"
    if isinstance(params, tuple):
        raise ArgumentError(
            f"{name}: params: got a tuple of {len(params)}, expected one mapping; parameters and "
            "state of a transform_with_state are taken one by one"
        )
    if not isinstance(params, Mapping):
        raise ArgumentError(
            f"{name}: params: got {type(params).__name__}, expected a mapping of module names to "
            "parameters, as `init` returns it"
        )
    for module, entries in params.items():
        if not isinstance(module, str) or not isinstance(entries, Mapping):
            raise ArgumentError(
                f"{name}: params: got {type(entries).__name__} at {module!r}, expected a mapping of "
                "parameter names to arrays for each module name"
            )
    c = Container(params)
    return _nested(c) if nested else c


def _nested(c: Container) -> Container:
    """`c` with each top key split at its slashes."""
    tree: dict[str, Any] = {}
    for module, entries in c.items():
        node = tree
        for key in str(module).split("/"):
            node = node.setdefault(key, {})
            if not isinstance(node, dict):
                raise _met(module, key)
        for key, value in entries.items():
            if key in node:
                raise _met(module, key)
            if isinstance(value, Container) and value.spec.kind == "dict":
                raise StructureError(
                    f"Container.from_haiku: {key!r} in {module!r} is a mapping itself, which could "
                    "not be told from a module; leave nested=False"
                )
            node[key] = value
    return Container(tree)


def _met(module: Any, key: Any) -> StructureError:
    return StructureError(
        f"Container.from_haiku: {key!r} is a parameter and also a module, in {module!r}; leave "
        "nested=False"
    )


@method
def to_haiku(c: Container, /, *, nested: bool = False) -> dict[str, Any]:
    """Haiku's two levels, ``{"mlp/~/linear_0": {"w": array}}``; the inverse of `from_haiku`.

    Args:
        c: a Container of arrays of any backend, which are converted to JAX.
        nested: set if the modules of `c` are nested, as by ``from_haiku(params, nested=True)``;
            their names are joined by slashes.

    Returns:
        the argument of ``apply`` of a transformed function.

    Raises:
        MissingFrameworkError: JAX is not installed.
        StructureError: a leaf is outside of any module.

    Example:
        >>> import numpy as np, nestarray as na
        >>> c = na.Container({"mlp": {"~": {"linear_0": {"b": np.zeros(2, "float32")}}}})
        >>> na.to_haiku(c, nested=True)
        {'mlp/~/linear_0': {'b': Array([0., 0.], dtype=float32)}}
    """
    for key, child in zip(c.spec.keys, c.spec.children, strict=True):
        _check_module(c.spec, key, child)
    moved = from_leaves(c.spec, convert_arrays(c.leaves(), "jax"))
    if not nested:
        return moved.to_dict()
    modules: dict[str, dict[str, Any]] = {}
    _join(moved, (), modules)
    return modules


def _check_module(spec: Spec, key: Any, child: Spec) -> None:
    if spec.kind != "dict" or child.kind != "dict":
        raise StructureError(
            f"to_haiku: {key!r} is a {child.kind if spec.kind == 'dict' else 'member of a list'}, "
            "expected a mapping of parameter names to arrays for each module name"
        )


def _join(node: Container, names: tuple[str, ...], modules: dict[str, dict[str, Any]]) -> None:
    """Add the parameters in `node`, and the parameters of its submodules, to `modules`."""
    own: dict[str, Any] = {}
    module = "/".join(names)
    inside: list[tuple[str, Container]] = []
    for key, value in node.items():
        if isinstance(value, Container) and value.spec.kind == "dict":
            inside.append((str(key), value))
        else:
            own[str(key)] = value.to_dict() if isinstance(value, Container) else value
    if own or not inside:
        modules[module] = own
    for key, child in inside:
        _join(child, (*names, key), modules)
