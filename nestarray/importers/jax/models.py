"""Models of JAX libraries as functions of their variables.

The libraries are not imported here: a model exists only if its library has been.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from nestarray import dtypes
from nestarray.container import Container
from nestarray.errors import ArgumentError
from nestarray.importers.protocol import Request, training_of_function
from nestarray.interchange.equinox import from_equinox, to_equinox
from nestarray.interchange.flax import from_flax, to_flax
from nestarray.interchange.haiku import from_haiku, to_haiku

#: (output, new state by path) of variables, state, arguments and keyword arguments.
Run = Callable[[Container, Container, tuple[Any, ...], dict[str, Any]], tuple[Any, dict[str, Any]]]


#: Kind of model → the arguments of `trace_graph` that are its variables.
KEYWORDS = {
    "linen": frozenset(["variables"]),
    "haiku": frozenset(["params", "state", "rng"]),
}


@dataclass
class Program:
    """A model, or a function, to trace.

    Attributes:
        name: for the graph.
        run: the function of its variables.
        signed: the function whose parameters name the arguments.
        kwargs: the keyword arguments of the example, without those of the importer.
        v, s: parameters and state.
    """

    name: str
    run: Run
    signed: Callable[..., Any]
    kwargs: dict[str, Any]
    v: Container = field(default_factory=Container)
    s: Container = field(default_factory=Container)


def kind_of(source: Any) -> str:
    """``"nnx"``, ``"linen"``, ``"equinox"``, ``"haiku"``, or empty for another source."""
    for cls in type(source).__mro__:
        where = cls.__module__, cls.__name__
        if where[0].startswith("flax.nnx") and where[1] == "Module":
            return "nnx"
        if where[0].startswith("flax.linen") and where[1] == "Module":
            return "linen"
        if where[0].startswith("equinox") and where[1] == "Module":
            return "equinox"
        if where[0].startswith("haiku") and where[1] in ("Transformed", "TransformedWithState"):
            return "haiku"
    return ""


def program_of(request: Request) -> Program:
    """The program of a request's source.

    Raises:
        ArgumentError: variables are missing, or `train` is given for a function.
    """
    made = {"nnx": _nnx, "linen": _linen, "equinox": _equinox, "haiku": _haiku}
    kind = kind_of(request.source)
    return made[kind](request) if kind else _function(request)


def _function(request: Request) -> Program:
    function = request.source
    if request.train:
        raise training_of_function()
    name = getattr(function, "__name__", type(function).__name__)
    run: Run = lambda v, s, args, kwargs: (function(*args, **kwargs), {})  # noqa: E731
    return Program(name, run, function, request.kwargs)


def _equinox(request: Request) -> Program:
    module = request.source
    everything = from_equinox(module)
    v, s = _parted(everything, lambda path, x: dtypes.dtype_of(x).is_inexact)

    def run(v: Container, s: Container, args: Any, kwargs: Any) -> tuple[Any, dict[str, Any]]:
        filled = to_equinox(_joined(everything, v, s), module)
        return filled(*args, **kwargs), {}

    return Program(type(module).__name__, run, type(module).__call__, request.kwargs, v, s)


def _nnx(request: Request) -> Program:
    module = request.source
    everything = from_flax(module)
    arrays = everything.select(lambda path, x: not _is_key(x))
    v, s = _parted(arrays, lambda path, x: path.startswith("params/"))

    def run(v: Container, s: Container, args: Any, kwargs: Any) -> tuple[Any, dict[str, Any]]:
        filled = to_flax(_joined(everything, v, s), module)
        (filled.train if request.train else filled.eval)()
        output = filled(*args, **kwargs)
        new = dict(from_flax(filled).flat_items())
        return output, {path: new[path] for path, x in s.flat_items() if new[path] is not x}

    return Program(type(module).__name__, run, module.__call__, request.kwargs, v, s)


def _linen(request: Request) -> Program:
    module, kwargs = request.source, dict(request.kwargs)
    variables = kwargs.pop("variables", None)
    if variables is None:
        raise ArgumentError(
            f"trace_graph: {type(module).__name__} needs its variables: pass "
            "variables=module.init(key, x)"
        )
    everything = from_flax(variables)
    v, s = _parted(everything, lambda path, x: path.startswith("params/"))
    if "train" in inspect.signature(module.__call__).parameters:
        kwargs.setdefault("train", request.train)
    mutable = [name for name in everything if name != "params"] if request.train else False

    def run(v: Container, s: Container, args: Any, kwargs: Any) -> tuple[Any, dict[str, Any]]:
        filled = to_flax(_joined(everything, v, s))
        found = module.apply(filled, *args, mutable=mutable, **kwargs)
        if not request.train:
            return found, {}
        output, new = found
        return output, dict(from_flax(new).flat_items()) if new else {}

    return Program(type(module).__name__, run, module.__call__, kwargs, v, s)


def _haiku(request: Request) -> Program:
    transformed, kwargs = request.source, dict(request.kwargs)
    has_state = type(transformed).__name__ == "TransformedWithState"
    if "params" not in kwargs or (has_state and "state" not in kwargs):
        needed = "params=params, state=state" if has_state else "params=params"
        raise ArgumentError(
            f"trace_graph: a function of hk.transform needs its parameters: pass {needed}"
        )
    params, rng = kwargs.pop("params"), kwargs.pop("rng", None)
    state = kwargs.pop("state", {})
    v, s = from_haiku(params), from_haiku(state)

    def run(v: Container, s: Container, args: Any, kwargs: Any) -> tuple[Any, dict[str, Any]]:
        weights = to_haiku(v)
        if not has_state:
            return transformed.apply(weights, rng, *args, **kwargs), {}
        output, new = transformed.apply(weights, to_haiku(s), rng, *args, **kwargs)
        return output, dict(from_haiku(new).flat_items()) if request.train else {}

    return Program("Transformed", run, lambda *args: None, kwargs, v, s)


def _parted(
    everything: Container, is_parameter: Callable[[str, Any], bool]
) -> tuple[Container, Container]:
    v = everything.select(is_parameter)
    return v, everything.select(lambda path, x: not is_parameter(path, x))


def _joined(everything: Container, v: Container, s: Container) -> Container:
    """`everything` with new values."""
    new: Mapping[str, Any] = {**dict(v.flat_items()), **dict(s.flat_items())}
    return everything.map(lambda path, x: new.get(path, x), with_path=True)


def _is_key(x: Any) -> bool:
    import jax

    return jax.dtypes.issubdtype(getattr(x, "dtype", None), jax.dtypes.prng_key)
