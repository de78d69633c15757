"""Functions with custom derivatives, and rematerialization.

The arguments are flattened once; backends get functions of flat lists of arrays
(``backends/<name>/transforms.py: custom_vjp, checkpoint``). A forward-mode rule also serves
reverse mode: it is linear in the tangents, so its transpose is the pullback.

Leaves other than inexact arrays are settings: rules receive them unchanged, and their gradients
are ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import update_wrapper
from inspect import signature
from itertools import repeat
from typing import Any

from nestarray import backends, ops, tree
from nestarray.config import current_backend, current_device, use_backend
from nestarray.dynamo import ContextVariable, is_compiling
from nestarray.errors import ArgumentError, StructureError, UnsupportedError
from nestarray.errors.signatures import signature_errors
from nestarray.transforms.arguments import (
    Arguments,
    inexact_places,
    name_of,
    native_transforms,
)
from nestarray.transforms.carries import Form, take_apart
from nestarray.transforms.enclosing import running_call
from nestarray.transforms.products import Results, vjp, zero_tangent
from nestarray.transforms.recording import current_recorder
from nestarray.typing import Array

#: The functions whose forward functions are running.
_evaluated: ContextVariable[frozenset[Any]] = ContextVariable(
    "nestarray_evaluated", default=frozenset()
)


class custom_vjp:
    """A function with a custom pullback.

    ``f.defvjp(forward, backward)``: ``forward(*args)`` returns ``(value, residuals)``, any
    nests; ``backward(residuals, cotangent)`` returns a tuple with a gradient for each
    argument, where None means zeros. Nested derivatives differentiate both. The outer derivative
    of the value differentiates `forward` on JAX and NumPy, and uses the rule again on PyTorch and
    TensorFlow; both agree if the rule is the derivative. Keyword arguments pass to `fn` and
    `forward` and are not differentiated.

    Args:
        fn: function of nests that returns a nest of arrays.
        nondiff_argnums: the numbers of arguments that are settings, such as functions: `backward`
            gets them first, ``backward(*settings, residuals, cotangent)``, and returns gradients
            of the others.
        nondiff_argnames: the same by name; they may then be given by keyword too.

    Raises:
        ArgumentError: a name in `nondiff_argnames` is not a parameter of `fn`; or when called
            without `defvjp`, or without an argument of `nondiff_argnums`.
        StructureError: when `backward` returns the wrong number of gradients, or nests of another
            structure.

    Example:
        >>> import jax.numpy as jnp, nestarray as na
        >>> @na.custom_vjp
        ... def log1pexp(x):
        ...     return na.log(1 + na.exp(x))
        >>> log1pexp.defvjp(
        ...     lambda x: (log1pexp(x), x), lambda x, ct: (ct * (1 - 1 / (1 + na.exp(x))),)
        ... )
        >>> float(na.grad(log1pexp)(jnp.asarray(100.0)))
        1.0

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.custom_vjp.html
    """

    @signature_errors(callables=("fn",))
    def __init__(
        self,
        fn: Callable[..., Any],
        nondiff_argnums: int | Sequence[int] = (),
        nondiff_argnames: str | Sequence[str] = (),
    ) -> None:
        self._fn = fn
        self._nondiff = _numbers(type(self).__name__, fn, nondiff_argnums, nondiff_argnames)
        self._forward: Callable[..., Any] | None = None
        self._backward: Callable[..., Any] | None = None
        self._rule: Callable[..., Any] | None = None  # for forward mode, from custom_jvp
        update_wrapper(self, fn, updated=())

    def defvjp(self, forward: Callable[..., Any], backward: Callable[..., Any]) -> None:
        """Set the forward function, which returns residuals, and the pullback."""
        self._forward, self._backward = forward, backward

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        forward, backward = self._forward, self._backward
        if forward is None or backward is None:
            raise ArgumentError(
                f"custom_vjp: {name_of(self._fn)} has no derivative; give it one with "
                "f.defvjp(forward, backward)"
            )
        args, kwargs = _by_position(self._fn, self._nondiff, args, kwargs)
        if self in _evaluated.get():  # by its own forward function, as JAX's examples do
            forward, backward = self._evaluated_late(forward, backward, kwargs)
        settings, numbers = _settings("custom_vjp", self._fn, self._nondiff, args)
        arguments = Arguments("custom_vjp", self._fn, args, kwargs, numbers, unfused=True)
        evaluated = Arguments("custom_vjp", forward, args, kwargs, numbers, unfused=True)
        results = Results("custom_vjp", self._fn, False)

        kept: list[Form] = []  # the form of the residuals

        creating = current_backend()  # the rules run later

        def value(*values: Any) -> tuple[Any, ...]:
            return _arrays(results, arguments.call(*values))

        def with_residuals(*values: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
            with _evaluated.being(_evaluated.get() | {self}), use_backend(creating):
                out = evaluated.call(*values)
            if not (isinstance(out, tuple) and len(out) == 2):
                raise ArgumentError(
                    f"custom_vjp: the forward function of {name_of(self._fn)} returned a "
                    f"{type(out).__name__}, expected a pair (value, residuals)"
                )
            arrays, form = take_apart(out[1])
            kept[:] = [form]
            return _arrays(results, out[0]), arrays

        def pull(residuals: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
            cotangent = results.nests(cotangents[: results.count], repeat(None))[0]
            with use_backend(creating):
                gradients = backward(*settings, kept[0].nest(residuals), cotangent)
            if not isinstance(gradients, tuple) or len(gradients) != len(numbers):
                count = len(gradients) if isinstance(gradients, tuple) else type(gradients).__name__
                raise StructureError(
                    f"custom_vjp: the backward function of {name_of(self._fn)} returned {count}, "
                    f"expected a tuple of {len(numbers)}, a gradient for each argument"
                )
            return arguments.gradients(gradients, "gradients")

        native = native_transforms(arguments.backend)
        found = native.custom_vjp(
            value,
            with_residuals,
            pull,
            arguments.arrays,
            self._pushing(arguments, results, settings, kwargs),
        )
        return results.nests(found[: results.count], found[results.count :])[0]

    def _evaluated_late(
        self, forward: Callable[..., Any], backward: Callable[..., Any], kwargs: dict[str, Any]
    ) -> tuple[Callable[..., Any], Callable[..., Any]]:
        """(value, pull) for a call inside `forward`: the pullback calls `forward` for residuals."""

        def value(*args: Any, **kwargs: Any) -> Any:
            return self._fn(*args, **kwargs), args

        def pull(*given: Any) -> Any:
            *settings, args, cotangent = given
            return backward(*settings, forward(*args, **kwargs)[1], cotangent)

        return value, pull

    def _pushing(
        self,
        arguments: Arguments,
        results: Results,
        settings: Sequence[Any],
        kwargs: dict[str, Any],
    ) -> Callable[..., Any] | None:
        """The forward-mode rule on flat arrays, (primals, tangents) → (value, tangents), or None."""
        rule, creating = self._rule, current_backend()
        if rule is None:
            return None

        def push(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, list[Any]]:
            nests = tuple(arguments.nests(primals, rest=True)), tuple(arguments.nests(tangents))
            with use_backend(creating):
                value, moved = rule(*settings, *nests, **kwargs)
            arrays = _arrays(results, value)
            return arrays, results.lined_up(moved, value)

        return push


class custom_jvp:
    """A function with a custom directional derivative.

    ``f.defjvp(rule)``: ``rule(primals, tangents)``, two tuples with a nest for each
    argument, returns ``(value, tangent)``; the tangent is linear in `tangents`. Keyword arguments
    pass to `fn` and to the rule. ``f.defjvp`` is also a decorator.

    Args:
        fn: function of nests that returns a nest of arrays.
        nondiff_argnums: the numbers of arguments that are settings, such as functions: the rule
            gets them first, ``rule(*settings, primals, tangents)``, and the others as primals.

    Raises:
        ArgumentError: when called without `defjvp`, or without an argument of `nondiff_argnums`.

    Example:
        >>> import jax.numpy as jnp, nestarray as na
        >>> @na.custom_jvp
        ... def square(x):
        ...     return x * x
        >>> @square.defjvp
        ... def rule(primals, tangents):
        ...     return square(*primals), 2 * primals[0] * tangents[0]
        >>> float(na.grad(square)(jnp.asarray(3.0)))
        6.0

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.custom_jvp.html
    """

    @signature_errors(callables=("fn",))
    def __init__(
        self,
        fn: Callable[..., Any],
        nondiff_argnums: int | Sequence[int] = (),
        nondiff_argnames: str | Sequence[str] = (),
    ) -> None:
        self._fn = fn
        self._nondiff = _numbers(type(self).__name__, fn, nondiff_argnums, nondiff_argnames)
        self._function: custom_vjp | None = None
        update_wrapper(self, fn, updated=())

    def defjvp(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """Set the rule for the value and its directional derivative; returns `rule`."""

        def forward(*args: Any, **kwargs: Any) -> Any:
            primals = tuple([x for i, x in enumerate(args) if i not in self._nondiff])
            return self._fn(*args, **kwargs), (primals, kwargs)

        def backward(*given: Any) -> tuple[Any, ...]:
            *settings, (primals, kwargs), cotangent = given
            zeros = [zero_tangent(x) for x in primals]
            tangent = lambda *tangents: rule(*settings, primals, tangents, **kwargs)[1]  # noqa: E731
            return vjp(tangent, *zeros)[1](cotangent)

        self._function = custom_vjp(self._fn, self._nondiff)
        self._function.defvjp(forward, backward)
        self._function._rule = rule
        return rule

    def defjvps(self, *rules: Callable[..., Any] | None) -> None:
        """Set one rule per argument; None for an argument without a derivative.

        ``rule(tangent, value, *primals)`` is the contribution of one argument to the tangent of the
        value; contributions are added. `nondiff_argnums` must be empty.
        """
        if self._nondiff:
            raise ArgumentError(
                f"custom_jvp: defjvps: {name_of(self._fn)} has arguments that are settings "
                f"({', '.join(map(str, self._nondiff))}); give one rule with f.defjvp(rule)"
            )

        def rule(primals: tuple[Any, ...], tangents: tuple[Any, ...], **kwargs: Any) -> Any:
            if len(rules) != len(primals):
                raise ArgumentError(
                    f"custom_jvp: defjvps: got {len(rules)} rules, but {name_of(self._fn)} was called "
                    f"with {len(primals)} positional arguments"
                )
            value = self(*primals, **kwargs)
            pairs = [(f, t) for f, t in zip(rules, tangents, strict=True) if f is not None]
            shares = [f(t, value, *primals) for f, t in pairs]
            leaves, structure = tree.flatten(shares[0] if shares else zero_tangent(value))
            for share in shares[1:]:
                leaves = [
                    ops.add(a, b) for a, b in zip(leaves, tree.flatten(share)[0], strict=True)
                ]
            return value, tree.unflatten(structure, leaves)

        self.defjvp(rule)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._function is None:
            raise ArgumentError(
                f"custom_jvp: {name_of(self._fn)} has no derivative; give it one with f.defjvp(rule)"
            )
        args, kwargs = _by_position(self._fn, self._nondiff, args, kwargs)
        _settings("custom_jvp", self._fn, self._nondiff, args)
        return self._function(*args, **kwargs)


@signature_errors(callables=("fn", "forward", "backward"))
def call_with_vjp(
    fn: Callable[..., Any],
    forward: Callable[..., Any],
    backward: Callable[..., Any],
    args: Sequence[Array],
    nondiff_argnums: Sequence[int] = (),
) -> tuple[Array, ...]:
    """``fn(args)`` with a custom pullback, as one call; recorded code keeps the three functions.

    `custom_vjp` for flat arguments. Graphs of imported programs use it.

    Args:
        fn: function of a tuple of arrays that returns a tuple of arrays.
        forward: returns ``(fn(args), residuals)``, the residuals as a tuple of arrays.
        backward: ``backward(residuals, cotangents)`` returns a tuple with a gradient for each other
            inexact array of `args`; `cotangents` has an array for each inexact result.
        args: arrays.
        nondiff_argnums: the numbers of arrays in `args` without a gradient. The derivative ends at
            them; gradients of zeros would go on, and become NaN at an infinite slope.

    Returns:
        the results of `fn`.

    Raises:
        StructureError: when differentiated, if `backward` returns the wrong number of gradients.

    Example:
        >>> import numpy as np, nestarray as na
        >>> def clipped(x):  # the identity, with gradients between -1 and 1
        ...     forward = lambda args: (args, ())
        ...     backward = lambda residuals, cotangents: (na.clip(cotangents[0], -1, 1),)
        ...     return na.call_with_vjp(lambda args: args, forward, backward, (x,))[0]
        >>> na.grad(lambda x: na.sum(5 * clipped(x)))(np.asarray([2.0, 3.0]))
        array([1., 1.])

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.custom_vjp.html
    """
    args = tuple(args)
    recorder = current_recorder()
    if recorder is not None:
        return recorder.call_with_vjp(fn, forward, backward, args, nondiff_argnums)
    places = [i for i in inexact_places(args) if i not in nondiff_argnums]

    def gradients(residuals: Any, cotangents: Any) -> tuple[Any, ...]:
        found = tuple(backward(residuals, _inexact(cotangents)))
        if len(found) != len(places):
            raise StructureError(
                f"call_with_vjp: the backward function returned {len(found)} gradients, expected "
                f"{len(places)}, one for each inexact array of args without those of nondiff_argnums"
            )
        filled: list[Any] = [None] * len(args)
        for i, g in zip(places, found, strict=True):
            filled[i] = g
        return (tuple(filled),)

    function = custom_vjp(fn)
    function.defvjp(forward, gradients)
    if nondiff_argnums:
        cut = native_transforms(backends.find_backend(args) or current_backend()).without_gradient
        inexact = {*inexact_places(args)} & {*nondiff_argnums}
        args = tuple([cut(x) if i in inexact else x for i, x in enumerate(args)])
    return function(args)


@signature_errors(callables=("fn", "rule"))
def call_with_jvp(
    fn: Callable[..., Any], rule: Callable[..., Any], args: Sequence[Array]
) -> tuple[Array, ...]:
    """``fn(args)`` with a custom directional derivative, as one call; recorded code keeps both.

    `custom_jvp` for flat arguments. Graphs of imported programs use it.

    Args:
        fn: function of a tuple of arrays that returns a tuple of arrays.
        rule: ``rule(args, tangents)`` returns a tuple with a tangent for each inexact result,
            linear in `tangents`, which has an array for each inexact array of `args`.
        args: arrays.

    Returns:
        the results of `fn`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> def rounded(x):  # with the derivative of the identity
        ...     rule = lambda args, tangents: tangents
        ...     return na.call_with_jvp(lambda args: (na.round(args[0]),), rule, (x,))[0]
        >>> na.grad(lambda x: na.sum(3 * rounded(x)))(np.asarray([0.2, 0.8]))
        array([3., 3.])

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.custom_jvp.html
    """
    args = tuple(args)
    recorder = current_recorder()
    if recorder is not None:
        return recorder.call_with_jvp(fn, rule, args)

    def pushed(primals: Any, tangents: Any) -> tuple[Any, Any]:
        value = function(primals[0])  # outer derivatives of the value use the rule too
        filled: list[Any] = [None] * len(value)
        moved = rule(primals[0], _inexact(tangents[0]))
        for i, t in zip(inexact_places(value), moved, strict=True):
            filled[i] = t
        return value, tuple(filled)

    function = custom_jvp(fn)
    function.defjvp(pushed)
    return function(args)


def _inexact(arrays: Sequence[Any]) -> tuple[Any, ...]:
    return tuple([arrays[i] for i in inexact_places(arrays)])


def _numbers(
    name: str, fn: Callable[..., Any], numbers: int | Sequence[int], names: str | Sequence[str]
) -> tuple[int, ...]:
    """The numbers of the non-differentiable arguments."""
    found = [numbers] if isinstance(numbers, int) else list(numbers)
    for wanted in (names,) if isinstance(names, str) else tuple(names):
        parameters = list(signature(fn).parameters)
        if wanted not in parameters:
            raise ArgumentError(
                f"{name}: nondiff_argnames: got {wanted!r}, but the parameters of {name_of(fn)} are "
                f"{', '.join(map(repr, parameters))}"
            )
        found.append(parameters.index(wanted))
    return tuple(sorted(set(found)))


def _by_position(
    fn: Callable[..., Any], nondiff: tuple[int, ...], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments, with settings given by keyword or default moved to their positions."""
    if not nondiff or max(nondiff) < len(args):
        return args, kwargs
    try:
        bound = signature(fn).bind(*args, **kwargs)
    except (TypeError, ValueError):  # Python says so when `fn` is called
        return args, kwargs
    bound.apply_defaults()
    return bound.args, bound.kwargs


def _settings(
    name: str, fn: Callable[..., Any], nondiff: tuple[int, ...], args: tuple[Any, ...]
) -> tuple[list[Any], list[int]]:
    """(non-differentiable arguments, numbers of the differentiable ones)."""
    for i in nondiff:
        if not 0 <= i < len(args):
            raise ArgumentError(
                f"{name}: nondiff_argnums: got {i}, but {name_of(fn)} was called with {len(args)} "
                "positional arguments; give settings by position, and count from 0"
            )
    return [args[i] for i in nondiff], [i for i in range(len(args)) if i not in nondiff]


#: Policies by JAX's names: the intermediate values that a checkpoint stores.
POLICIES = (
    "nothing_saveable",
    "everything_saveable",
    "dots_saveable",
    "dots_with_no_batch_dims_saveable",
)


@signature_errors(callables=("fn",))
def checkpoint(
    fn: Callable[..., Any], *, policy: str | Callable[..., Any] = "nothing_saveable"
) -> Callable[..., Any]:
    """Recompute the intermediate values of `fn` in the backward pass instead of storing them.

    Value and gradients are unchanged; memory for intermediate values is used only during the
    function's backward pass. Random keys are arguments, so random masks are reproduced. Arguments
    other than arrays are settings and need not be named. ``torch.compile``, which chooses itself, and
    graphs of `trace_graph` store as without it.

    Args:
        fn: a pure function of nests that returns a nest of arrays. In a call of a `Module`, also a
            layer, or a function that calls layers: their variables are arguments, their states
            results.
        policy: the values to store, which affects time and memory only:
            ``"nothing_saveable"``; ``"dots_saveable"``, the results of matrix products, on JAX and
            PyTorch; ``"dots_with_no_batch_dims_saveable"``, of matrix products without batch axes;
            ``"everything_saveable"``. TensorFlow and NumPy store everything or nothing. Or a policy
            of the framework: one of ``jax.checkpoint_policies``, or a function for
            ``torch.utils.checkpoint.create_selective_checkpoint_contexts``.

    Returns:
        a function of the same arguments.

    Raises:
        ArgumentError: `policy` is unknown.
        UnsupportedError: when called, if `policy` is a function, on TensorFlow and NumPy.

    Example:
        >>> import jax.numpy as jnp, nestarray as na
        >>> layer = na.checkpoint(lambda x: na.sin(na.sin(x)))
        >>> float(na.grad(layer)(jnp.asarray(0.0)))
        1.0

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.checkpoint.html
        Chen et al., Training deep nets with sublinear memory cost. 2016.
    """

    if not callable(policy) and policy not in POLICIES:
        raise ArgumentError(
            f"checkpoint: policy: got {policy!r}, expected one of {', '.join(map(repr, POLICIES))}, or "
            "a policy of JAX or PyTorch"
        )
    if policy == "everything_saveable":
        return fn

    def call(*args: Any, **kwargs: Any) -> Any:
        if is_compiling() or current_recorder() is not None:
            return fn(*args, **kwargs)
        enclosing = running_call.get()
        if enclosing is None:
            return checkpointed(fn, args, kwargs)
        pure, values = enclosing.lifted(fn)
        result, updates = checkpointed(pure, (values, *args), kwargs)
        enclosing.update(updates, name_of(fn))
        return result

    def checkpointed(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        arguments = Arguments(
            "checkpoint",
            lambda given: fn(*given[0], **given[1]),
            ((args, kwargs),),
            {},
            unfused=True,
        )
        results = Results("checkpoint", fn, False)

        name = current_backend()
        device = current_device(name)

        def flat(*values: Any) -> tuple[Any, ...]:
            with use_backend(name, device=device):  # the second run may be outside of it
                return _arrays(results, arguments.call(*values))

        if callable(policy) and arguments.backend not in ("jax", "torch"):
            raise UnsupportedError(
                f"checkpoint: policy: got {name_of(policy)}, but {arguments.backend} has no policies of "
                "its own; leave policy out, or name one of nestarray's"
            )
        native = native_transforms(arguments.backend)
        found = native.checkpoint(flat, arguments.arrays, policy)
        return results.nests(found[: results.count], found[results.count :])[0]

    return update_wrapper(call, fn)


def _arrays(results: Results, value: Any) -> tuple[Any, ...]:
    """All arrays of a value, the inexact ones first."""
    inexact, others = results.taken(value)
    return (*inexact, *others)
