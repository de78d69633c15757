"""Equations that call a public function of JAX, which stay one call of that function.

JAX traces ``jnp.clip`` to an equation with the name ``clip`` and a jaxpr. A function of the user may
have the same name, so the public function is traced again, on the same shapes and with likely
settings; the call is kept if the jaxprs are equal. JAX inlines a few functions; `kept_calls` makes
them equations too.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax

from nestarray import dtypes
from nestarray.errors import Refused
from nestarray.errors.foreign import foreign
from nestarray.frontends.jax import vocabulary
from nestarray.importers.jax.equations import call_of, is_call, open_jaxpr, refusal
from nestarray.importers.patching import one_trace, patched

#: Primitives of the calls of public functions.
_PRIMITIVES = ("jit", "pjit", "custom_jvp_call")
#: Functions of `jax.nn` that JAX inlines → their settings.
_INLINED = {"softmax": ("axis",), "gelu": ("approximate",), "logsumexp": ("axis", "keepdims")}
#: The modules in which names are looked up.
_MODULES = ("numpy", "nn", "numpy.linalg", "scipy.special")
#: An array of more axes has too many settings to try.
_MOST_AXES = 6


class NamedCall(NamedTuple):
    """A call of a public function.

    Attributes:
        rule: of the function.
        is_given: for each input of the equation, whether it is an argument.
        settings: other arguments.
    """

    rule: vocabulary.Rule
    is_given: tuple[bool, ...]
    settings: dict[str, Any]


#: Name, inputs and jaxpr of an equation → its call.
_KNOWN: dict[tuple[str, ...], NamedCall | None] = {}


@contextlib.contextmanager
def kept_calls() -> Iterator[None]:
    """Make equations of calls of the functions that JAX inlines, where code names `jax.nn`."""
    with one_trace, patched(*[(jax.nn, name, _kept(name)) for name in _INLINED]):
        yield


@functools.cache
def _kept(name: str) -> Callable[..., Any]:
    """A function of `jax.nn` as one that JAX does not inline."""
    original, settings = getattr(jax.nn, name), _INLINED[name]
    compiled = jax.jit(original, static_argnames=settings)
    signature = inspect.signature(original)

    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        array, *_ = signature.parameters
        bound = signature.bind(*args, **kwargs).arguments
        passed = {key: x for key, x in bound.items() if x is not None or key in settings}
        try:
            hash(tuple(x for key, x in passed.items() if key != array))
        except TypeError:
            return original(*args, **kwargs)
        if not {*passed} <= {array, *settings}:
            return original(*args, **kwargs)
        return compiled(passed.pop(array), **passed)

    call.__nestarray_compiled__ = compiled  # type: ignore[attr-defined]
    return call


@functools.lru_cache(maxsize=1024)
def named_call(eqn: Any) -> NamedCall | None:
    """The public function that an equation calls; None for other calls."""
    kind = eqn.primitive.name
    if kind not in _PRIMITIVES or len(eqn.outvars) != 1 or _has_keys(eqn) or refusal(eqn):
        return None
    inner, call = eqn, call_of(eqn)
    if kind == "custom_jvp_call":
        body = open_jaxpr(call.jaxpr)
        if len(body.eqns) != 1:
            return None
        inner = body.eqns[0]
    name = call_of(inner).name if is_call(inner) else str(inner.params.get("name", ""))
    if not any(_public(module, name.lstrip("_")) for module in _MODULES):
        return None
    inputs = [f"{getattr(x, 'val', '')} {x.aval}" for x in eqn.invars]
    key = kind, name, *inputs, str(call.jaxpr)
    if key not in _KNOWN:
        calls = (_in_module(eqn, module, name.lstrip("_")) for module in _MODULES)
        _KNOWN[key] = next((call for call in calls if call is not None), None)
    return _KNOWN[key]


def _has_keys(eqn: Any) -> bool:
    return any(str(v.aval.dtype).startswith("key<") for v in (*eqn.invars, *eqn.outvars))


def _public(module: str, name: str) -> Callable[..., Any] | None:
    function = getattr(functools.reduce(getattr, module.split("."), jax), name, None)
    return function if callable(function) else None


def _in_module(eqn: Any, module: str, name: str) -> NamedCall | None:
    """The call of a function of a module, if the equation is one."""
    function, printed = _public(module, name), f"jax.{module}.{name}"
    if function is None:
        return None
    try:
        vocabulary.function(printed)
        parameters = inspect.signature(function).parameters
    except (ValueError, TypeError):
        return None
    if module == "nn" and name in _INLINED:
        function = getattr(_kept(name), "__nestarray_compiled__")  # noqa: B009
    literals = _literals(eqn)
    for is_given in dict.fromkeys([tuple([x is None for x in literals]), (True,) * len(literals)]):
        for settings in _settings(name, eqn, [*parameters]):
            if not any(is_given):
                continue
            call = NamedCall(vocabulary.Rule(f"jit {name}", printed), is_given, settings)
            if _is_call(eqn, function, literals, is_given, settings):
                return call if _has_result(eqn, call, literals) else None
    return None


def _literals(eqn: Any) -> list[Any]:
    """For each input, its number if it is part of the program."""
    return [_literal(x) for x in eqn.invars]


def _literal(x: Any) -> Any:
    value = getattr(x, "val", None)
    return value if value is None else python_number(value, x.aval)


def python_number(value: Any, aval: Any) -> Any:
    """A constant, as a Python number if it is a weak one."""
    if not aval.weak_type or aval.shape != ():
        return value
    if hasattr(value, "item"):
        return value.item()
    kinds: tuple[Any, ...] = (bool, int, float, complex)
    return next(kind(value) for kind in kinds if isinstance(value, kind))


def _settings(name: str, eqn: Any, parameters: list[str]) -> Iterator[dict[str, Any]]:
    """Settings with which a function may have been called, the default ones first."""
    yield {}
    result = eqn.outvars[0].aval
    if name == "one_hot":
        dtype = dtypes.as_dtype(str(result.dtype))
        for axis in range(len(result.shape)):
            if not isinstance(result.shape[axis], int):  # an open size
                continue
            is_last = axis == len(result.shape) - 1
            place = {} if is_last else {"axis": axis}
            yield {"num_classes": result.shape[axis], "dtype": dtype, **place}
        return
    rank = len(eqn.invars[0].aval.shape)
    choices: list[list[tuple[str, Any]]] = []
    if "axis" in parameters and rank <= _MOST_AXES:
        pairs = itertools.combinations(range(rank), 2)
        choices.append([("axis", x) for x in (-1, None, *range(rank), *pairs)])
    if "keepdims" in parameters:
        choices.append([("keepdims", False), ("keepdims", True)])
    if "approximate" in parameters:
        choices.append([("approximate", True), ("approximate", False)])
    if "side" in parameters:
        choices.append([("side", "left"), ("side", "right")])
    for chosen in itertools.product(*choices):
        yield {key: x for key, x in chosen if (key, x) != ("keepdims", False)}


def _is_call(
    eqn: Any,
    function: Callable[..., Any],
    literals: list[Any],
    is_given: tuple[bool, ...],
    settings: dict[str, Any],
) -> bool:
    """Whether a function of the equation's inputs is the equation."""
    arrays = [x for x, literal in zip(eqn.invars, literals, strict=True) if literal is None]
    native = {key: str(x) if isinstance(x, dtypes.DType) else x for key, x in settings.items()}

    def call(*tracers: Any) -> Any:
        values = iter(tracers)
        inputs = [next(values) if x is None else x for x in literals]
        return function(
            *[x for x, positions in zip(inputs, is_given, strict=True) if positions], **native
        )

    try:
        with foreign():
            jaxpr = jax.make_jaxpr(call)(*[x.aval for x in arrays]).jaxpr
    except Refused:  # these settings are not of this call
        return False
    if len(jaxpr.eqns) != 1 or jaxpr.eqns[0].primitive is not eqn.primitive:
        return False
    (new,) = jaxpr.eqns
    order: dict[Any, int] = {var: i for i, var in enumerate(jaxpr.invars)}
    positions = {var: i for i, var in enumerate(arrays)}
    places = [order.get(x) if _number(x) is None else _number(x) for x in new.invars]
    expected = [positions.get(x) if _number(x) is None else _number(x) for x in eqn.invars]
    is_whole = list(jaxpr.outvars) == list(new.outvars)
    return is_whole and places == expected and str(call_of(new).jaxpr) == str(call_of(eqn).jaxpr)


def _has_result(eqn: Any, call: NamedCall, literals: list[Any]) -> bool:
    """Whether our function returns the shape and dtype of the equation; x64 may change it."""
    arrays = [x.aval for x, literal in zip(eqn.invars, literals, strict=True) if literal is None]

    def run(*tracers: Any) -> Any:
        values = iter(tracers)
        inputs = [next(values) if x is None else x for x in literals]
        operands = [x for x, passed in zip(inputs, call.is_given, strict=True) if passed]
        return call.rule.function(*operands, **call.settings)

    try:
        with foreign():
            result = jax.eval_shape(run, *[jax.ShapeDtypeStruct(x.shape, x.dtype) for x in arrays])
    except Refused:  # the frontend needs values, or does not support the arguments
        return False
    (want,) = [v.aval for v in eqn.outvars]
    return (getattr(result, "shape", None), getattr(result, "dtype", None)) == (
        want.shape,
        want.dtype,
    )


def _number(x: Any) -> Any:
    """Text of a literal and its dtype; None for a variable."""
    value = getattr(x, "val", None)
    return None if value is None else f"{value!r} {x.aval}"
