"""Models of JAX libraries as functions of their variables.

The libraries are not imported here: a model exists only if its library has been.
"""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import jax
from jax.core import Tracer

from nestarray import backends, dtypes
from nestarray.config import use_backend
from nestarray.container import Container
from nestarray.errors import ArgumentError
from nestarray.importers import keras
from nestarray.importers.jax import objax
from nestarray.importers.jax.places import named_modules
from nestarray.importers.jax.selection import MODES, kind_of
from nestarray.importers.protocol import Request, training_of_function
from nestarray.importers.selection import variables_of
from nestarray.interchange.equinox import from_equinox, to_equinox
from nestarray.interchange.flax import from_flax, to_flax
from nestarray.interchange.haiku import from_haiku, to_haiku
from nestarray.interchange.pytrees import from_pytree, to_pytree
from nestarray.nn.module import Module

#: (output, new state by path) of variables, state, arguments and keyword arguments.
Run = Callable[[Container, Container, tuple[Any, ...], dict[str, Any]], tuple[Any, dict[str, Any]]]


@dataclass
class Program:
    """A model, or a function, to trace.

    Attributes:
        name: for the graph.
        run: the function of its variables.
        signed: the function whose parameters name the arguments.
        args, kwargs: the example, without the arguments that are variables.
        v, s: parameters and state.
        random: the keyword argument of `run` that takes the random key of a call; empty if there is
            none, or if the example gives it.
        is_closed: whether the variables are values that the function names.
        dropped: effects of the trace that the graph does not have.
    """

    name: str
    run: Run
    signed: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    v: Container = field(default_factory=Container)
    s: Container = field(default_factory=Container)
    random: str = ""
    is_closed: bool = False
    dropped: list[str] = field(default_factory=list)


def program_of(request: Request) -> Program:
    """The program of a request's source.

    Raises:
        ArgumentError: variables are missing, or `train` is given for a function.
    """
    programs = {
        "nnx": _nnx,
        "linen": _linen,
        "equinox": _equinox,
        "haiku": _haiku,
        "objax": _objax,
        "keras": _keras,
        "": _function,
    }
    if isinstance(request.source, Module):
        return _nestarray(request)
    return _with_state(programs[kind_of(request.source)](request))


def _nestarray(request: Request) -> Program:
    module, kwargs = request.source, dict(request.kwargs)
    train = request.train
    if train:
        kwargs.pop("key", None)  # of the example

    def run(v: Container, s: Container, args: Any, kwargs: Any) -> tuple[Any, dict[str, Any]]:
        with use_backend("jax"), named_modules([*module.named_modules()]):
            result = module(*args, v=v, s=s, train=train, **kwargs)
        if not train:
            return result, {}
        output, new = result
        return output, {path: x for path, x in new.flat_items() if x is not s[path]}

    random = "key" if train else ""
    name = type(module).__name__
    return Program(name, run, module.forward, request.args, kwargs, module.v, module.s, random)


def _function(request: Request) -> Program:
    function, kwargs = request.source, dict(request.kwargs)
    module = _untransformed(function)
    if request.train and kind_of(module) != "equinox":
        raise training_of_function()
    name = getattr(function, "__name__", type(function).__name__)
    if isinstance(kwargs.get("v"), str) and _is_free(function, "v", len(request.args)):
        return _function_of(function, name, kwargs.pop("v"), request.args, kwargs)

    def run(v: Container, s: Container, args: Any, kwargs: Any) -> tuple[Any, dict[str, Any]]:
        mode = _mode(module, request.train)
        modules = _closed_modules(function).items()
        parts = [part for each in modules for part in _parts(*each)]
        written = {
            _joined_path(name, path): x
            for name, part in modules
            if kind_of(part) == "objax"
            for path, x in objax.variables_of(part).items()
        }
        with (
            mode,
            named_modules(parts),
            objax.assigned(written) as new,
            _kept_attributes(function, dropped),
        ):
            return function(*args, **kwargs), new

    v, s = _closed_variables(function)
    dropped: list[str] = []
    return Program(name, run, function, request.args, kwargs, v, s, is_closed=True, dropped=dropped)


@contextlib.contextmanager
def _kept_attributes(source: Any, dropped: list[str]) -> Iterator[None]:
    """Undo writes of traced arrays into an object's attributes, and note them."""

    def is_traced(x: Any) -> bool:
        return any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(x))

    before = dict(getattr(source, "__dict__", {}))
    try:
        yield
    finally:
        after = dict(getattr(source, "__dict__", {}))
        for name in filter(lambda name: is_traced(after[name]), after):
            dropped.append(f"{type(source).__name__}.{name}, which a call writes")
            object.__delattr__(source, name)
            if name in before:
                object.__setattr__(source, name, before[name])


def _function_of(
    function: Callable[..., Any],
    name: str,
    parameter: str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Program:
    """The program of a function whose argument `parameter` holds the variables."""
    signature = inspect.signature(function)
    bound = signature.bind(*args, **kwargs)
    if parameter not in bound.arguments:
        names = ", ".join(bound.arguments)
        raise ArgumentError(
            f"trace_graph: v: got {parameter!r}, expected the name of an argument of {name}: {names}"
        )
    place = list(signature.parameters).index(parameter)
    is_positional = place < len(args)
    argument = {parameter: args[place] if is_positional else kwargs[parameter]}
    is_array = backends.is_array(argument[parameter])
    variables = argument if is_array else argument[parameter]  # an array has the argument's name
    form = _FORMS.get(kind_of(variables), _FORMS[""])
    everything = form.read(variables)
    v, s = form.parted(everything)

    def run(v: Container, s: Container, args: Any, kwargs: Any) -> tuple[Any, dict[str, Any]]:
        filled = form.write(_joined(everything, v, s), variables)
        filled = filled[parameter] if is_array else filled
        if is_positional:
            return function(*args[:place], filled, *args[place:], **kwargs), {}
        return function(*args, **kwargs, **{parameter: filled}), {}

    if is_positional:
        args = (*args[:place], *args[place + 1 :])
    else:
        kwargs = {key: x for key, x in kwargs.items() if key != parameter}
    return Program(name, run, _without(function, parameter), args, kwargs, v, s)


def _closed_variables(function: Callable[..., Any]) -> tuple[Container, Container]:
    """The variables of the modules that a function names, or that a transformation wraps."""
    containers: tuple[dict[str, Any], dict[str, Any]] = {}, {}
    for name, module in _closed_modules(function).items():
        if kind_of(module) == "objax":
            parted = objax.parted(module)
        else:
            form = _FORMS[kind_of(module)]
            everything = form.read(module).select(lambda path, x: not dtypes.is_key(x))
            parted = form.parted(everything)
        for part, c in zip(containers, parted, strict=True):
            part |= {_joined_path(name, path): x for path, x in c.flat_items()}
    return Container.from_flat_dict(containers[0]), Container.from_flat_dict(containers[1])


def _has_variables(value: Any) -> bool:
    """Whether a value is a module that holds its variables."""
    kind = kind_of(value)
    return kind in ("equinox", "nnx", "objax") or (kind == "linen" and value.scope is not None)


class _Form(NamedTuple):
    """Conversion of variables.

    Attributes:
        read: variables as a Container.
        write: a Container, and variables of the same structure, as variables.
        parted: the parameters and the other arrays of a Container.
    """

    read: Callable[[Any], Container]
    write: Callable[[Container, Any], Any]
    parted: Callable[[Container], tuple[Container, Container]]


def _is_free(function: Callable[..., Any], name: str, count: int) -> bool:
    """Whether a function that got `count` positional arguments lacks a keyword."""
    names = list(inspect.signature(function).parameters)
    return name not in names or names.index(name) < count


@contextlib.contextmanager
def _mode(module: Any, train: bool) -> Iterator[None]:
    """The layers of an ``equinox.Module`` in a mode; a transformation of JAX holds the module itself."""
    layers = [part for _, part in _parts("", module) if getattr(part, "inference", None) is train]
    for layer in layers:
        object.__setattr__(layer, "inference", not train)
    try:
        yield
    finally:
        for layer in layers:
            object.__setattr__(layer, "inference", train)


def _closed_modules(function: Callable[..., Any]) -> dict[str, Any]:
    """Name → module that a function names, or that a transformation wraps."""
    wrapped = _untransformed(function)
    named = {"": wrapped} if _has_variables(wrapped) else variables_of(wrapped)
    return {name: value for name, value in named.items() if _has_variables(value)}


def _parts(path: str, module: Any) -> Iterator[tuple[str, Any]]:
    """(path, module) of a module and of those in it."""
    if kind_of(module) == "nnx":
        for keys, part in sys.modules["flax.nnx"].iter_modules(module):
            yield _joined_path(path, *map(str, keys)), part
        return
    yield path, module
    if kind_of(module) == "objax":
        for key, part in objax.members(module):
            yield from _parts(_joined_path(path, key), part)
        return
    leaves, _ = jax.tree_util.tree_flatten_with_path(
        module, is_leaf=lambda x: x is not module and kind_of(x) == "equinox"
    )
    for keys, part in leaves:
        if kind_of(part) == "equinox":
            yield from _parts(
                _joined_path(path, jax.tree_util.keystr(keys, simple=True, separator="/")), part
            )


def _joined_path(*keys: str) -> str:
    return "/".join(filter(None, keys))


def _untransformed(function: Any) -> Any:
    """The function, or the module, to which transformations of JAX were applied."""
    function = inspect.unwrap(function)
    if isinstance(function, types.FunctionType) and str(function.__module__).startswith("jax."):
        inner = inspect.getclosurevars(function).nonlocals.get("fun")
        return function if inner is None else _untransformed(inner)
    return function


def _equinox(request: Request) -> Program:
    module = request.source
    everything = from_equinox(module)
    v, s = _by_dtype(everything)

    def run(v: Container, s: Container, args: Any, kwargs: Any) -> tuple[Any, dict[str, Any]]:
        filled = to_equinox(_joined(everything, v, s), module)
        filled = sys.modules["equinox"].nn.inference_mode(filled, value=not request.train)
        with named_modules([*_parts("", filled)]):
            return filled(*args, **kwargs), {}

    name, signed = type(module).__name__, module.__call__
    bound = inspect.signature(signed).bind_partial(*request.args, **request.kwargs).arguments
    takes_key = "key" in inspect.signature(signed).parameters and "key" not in bound
    random = "key" if request.train and takes_key else ""
    return Program(name, run, signed, request.args, request.kwargs, v, s, random)


def _with_state(program: Program) -> Program:
    """The program with an ``eqx.nn.State`` among its arguments as state."""
    places = [i for i, x in enumerate(program.args) if _is_state(x)]
    if not places:
        return program
    (place,) = places
    current = program.args[place]
    everything = Container(state=from_pytree(current))

    def run(v: Container, s: Container, args: Any, kwargs: Any) -> tuple[Any, dict[str, Any]]:
        before = _joined(everything, Container(), s.select("state"))
        state = to_pytree(before["state"], current)
        args = (*args[:place], state, *args[place:])
        output, new = program.run(v, s.exclude("state"), args, kwargs)
        returned = output if isinstance(output, tuple) else (output,)
        for after in filter(_is_state, returned):
            leaves = Container(state=from_pytree(after)).flat_items()
            new |= {path: x for path, x in leaves if x is not before[path]}
        others = tuple([x for x in returned if not _is_state(x)])
        return others[0] if len(others) == 1 else others, new

    return dataclasses.replace(
        program,
        run=run,
        signed=_without(program.signed, list(inspect.signature(program.signed).parameters)[place]),
        args=(*program.args[:place], *program.args[place + 1 :]),
        s=program.s.combine(everything),
    )


def _is_state(x: Any) -> bool:
    cls = type(x)
    return cls.__name__ == "State" and cls.__module__.startswith("equinox.")


def _without(function: Callable[..., Any], parameter: str) -> Callable[..., Any]:
    """A function with the signature of `function` without a parameter."""
    signature = inspect.signature(function)
    return _signed([p for name, p in signature.parameters.items() if name != parameter])


def _without_first(function: Callable[..., Any], count: int) -> Callable[..., Any]:
    """A function with the signature of `function` without the first parameters."""
    return _signed(list(inspect.signature(function).parameters.values())[count:])


def _signed(parameters: list[inspect.Parameter]) -> Callable[..., Any]:
    """A function with a signature."""

    def signed(*args: Any, **kwargs: Any) -> Any: ...

    signed.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return signed


def _nnx(request: Request) -> Program:
    module = request.source
    kwargs = _with_modes(module.__call__, request, request.kwargs)
    everything = from_flax(module)
    v, s = _by_collection(everything)

    def run(v: Container, s: Container, args: Any, kwargs: Any) -> tuple[Any, dict[str, Any]]:
        values = _joined(everything, v, s)
        filled = to_flax(values, module)
        (filled.train if request.train else filled.eval)()
        with named_modules([*_parts("", filled)]):
            output = filled(*args, **kwargs)
        new = from_flax(filled)
        changed = [path for path in s.paths() if new[path] is not values[path]]
        return output, {path: key_words(new[path]) for path in changed}

    name = type(module).__name__
    return Program(name, run, module.__call__, request.args, kwargs, v, s)


def _with_modes(
    function: Callable[..., Any], request: Request, kwargs: Mapping[str, Any], module: Any = None
) -> dict[str, Any]:
    """The keyword arguments, with those that `train` determines."""
    signature = inspect.signature(function)
    bound = signature.bind_partial(*request.args).arguments
    names = {*signature.parameters, *objax.passed_on(request.source, signature)}
    modes = {
        name: request.train is value
        for name, value in MODES.items()
        if name in names and name not in bound and getattr(module, name, None) is None
    }
    return modes | dict(kwargs)


def _linen(request: Request) -> Program:
    module, kwargs = request.source, dict(request.kwargs)
    variables, rngs = kwargs.pop("variables", None), kwargs.pop("rngs", None)
    if variables is None and module.scope is not None:  # a bound module
        rngs = rngs or {name: rng.as_jax_rng() for name, rng in module.scope.rngs.items()}
        module, variables = module.unbind()
    if variables is None:
        raise ArgumentError(
            f"trace_graph: {type(module).__name__} needs its variables: pass "
            "variables=module.init(key, x)"
        )
    everything = from_flax(variables)
    v, s = _by_collection(everything)
    # a cache is written in evaluation
    written = [
        name for name in everything if name != "params" and (request.train or name == "cache")
    ]
    mutable = kwargs.pop("mutable", written)
    method = kwargs.pop("method", None) or "__call__"
    called = getattr(module, method if isinstance(method, str) else method.__name__)
    kwargs = _with_modes(called, request, kwargs, module) | ({"rngs": rngs} if rngs else {})

    def run(v: Container, s: Container, args: Any, kwargs: Any) -> tuple[Any, dict[str, Any]]:
        filled = to_flax(_joined(everything, v, s), variables)
        result = module.apply(filled, *args, mutable=mutable or False, method=method, **kwargs)
        if not mutable:
            return result, {}
        output, new = result
        after = dict(from_flax(new).flat_items()) if new else {}
        return output, {path: key_words(x) for path, x in after.items() if path in s}

    random = "rngs" if request.train and not rngs else ""
    return Program(type(module).__name__, run, called, request.args, kwargs, v, s, random)


def _haiku(request: Request) -> Program:
    transformed, kwargs = request.source, dict(request.kwargs)
    has_state = type(transformed).__name__ == "TransformedWithState"
    if "params" not in kwargs or (has_state and "state" not in kwargs):
        needed = "params=params, state=state" if has_state else "params=params"
        raise ArgumentError(
            f"trace_graph: a function of hk.transform needs its parameters: pass {needed}"
        )
    params, state = kwargs.pop("params"), kwargs.pop("state", {})
    rng = kwargs.pop("rng", None)
    v, s = from_haiku(params), from_haiku(state)
    leading = 1 + has_state
    takes_rng = [*inspect.signature(transformed.apply).parameters][leading : leading + 1] == ["rng"]
    signed = _without_first(transformed.apply, leading + takes_rng)
    kwargs = _with_modes(signed, request, kwargs) | ({} if rng is None else {"rng": rng})

    def run(v: Container, s: Container, args: Any, kwargs: Any) -> tuple[Any, dict[str, Any]]:
        others = {key: x for key, x in kwargs.items() if key != "rng"}
        first = [to_haiku(v), *([to_haiku(s)] if has_state else [])]
        first += [kwargs.get("rng")] if takes_rng else []
        result = transformed.apply(*first, *args, **others)
        if not has_state:
            return result, {}
        output, new = result
        return output, dict(from_haiku(new).flat_items()) if request.train else {}

    random = "rng" if request.train and takes_rng and rng is None else ""
    return Program("Transformed", run, signed, request.args, kwargs, v, s, random)


def _objax(request: Request) -> Program:
    module = request.source
    kwargs = _with_modes(module, request, request.kwargs)
    variables, (v, s) = objax.variables_of(module), objax.parted(module)

    def run(v: Container, s: Container, args: Any, kwargs: Any) -> tuple[Any, dict[str, Any]]:
        values = {**v.to_dict(), **s.to_dict()}
        with named_modules([*_parts("", module)]), objax.assigned(variables, values) as new:
            return module(*args, **kwargs), new

    return Program(type(module).__name__, run, module, request.args, kwargs, v, s)


def _keras(request: Request) -> Program:
    model = request.source
    keras.check_built(model)
    settings = keras.mode(model, train=request.train)
    v, s = [
        Container.from_flat_dict({variable.path: variable.value for variable in variables})
        for variables in (model.trainable_variables, model.non_trainable_variables)
    ]

    def run(v: Container, s: Container, args: Any, kwargs: Any) -> tuple[Any, dict[str, Any]]:
        output, new = model.stateless_call(
            list(v.leaves()), list(s.leaves()), *args, **kwargs, **settings
        )
        return output, dict(zip(s.paths(), new, strict=True)) if request.train else {}

    return Program(type(model).__name__, run, model.call, request.args, request.kwargs, v, s)


def _parted(
    everything: Container, is_parameter: Callable[[str, Any], bool]
) -> tuple[Container, Container]:
    """(parameters, the rest); random keys are words, and no parameters."""
    arrays = everything.map(key_words)
    v = arrays.select(is_parameter)
    return v, arrays.select(lambda path, x: not is_parameter(path, x))


def _joined(everything: Container, v: Container, s: Container) -> Container:
    """`everything` with new values."""
    new: Mapping[str, Any] = {**dict(v.flat_items()), **dict(s.flat_items())}
    return everything.map(lambda path, x: key_like(x, new.get(path, x)), with_path=True)


def _by_dtype(everything: Container) -> tuple[Container, Container]:
    """The inexact arrays, and the others."""
    return _parted(everything, lambda path, x: dtypes.dtype_of(x).is_inexact)


def _by_collection(everything: Container) -> tuple[Container, Container]:
    """The collection "params", and the others."""
    return _parted(everything, lambda path, x: path.startswith("params/"))


def _by_collection_or_dtype(everything: Container) -> tuple[Container, Container]:
    """The collections of Flax, if these are the keys; else by dtype."""
    arrays = everything.select(lambda path, x: backends.is_array(x))
    has_collections = arrays.spec.kind == "dict" and "params" in arrays and len(arrays) > 1
    return (_by_collection if has_collections else _by_dtype)(arrays)


#: Kind of module, or empty for a pytree → the form of its variables.
_FORMS = {
    "nnx": _Form(from_flax, to_flax, _by_collection),
    "linen": _Form(lambda module: from_flax(module.variables), to_flax, _by_collection),
    "equinox": _Form(from_equinox, to_equinox, _by_dtype),
    "": _Form(from_pytree, to_pytree, _by_collection_or_dtype),
}


def key_words(x: Any) -> Any:
    """The words of a typed random key; other values unchanged."""
    return backends.chapter("jax", "keys").words_of(x) if dtypes.is_key(x) else x


def key_like(like: Any, x: Any) -> Any:
    """Words as a typed random key if `like` is one; other values unchanged."""
    return backends.chapter("jax", "keys").typed_like(like, x) if dtypes.is_key(like) else x
