"""JAX: `nestarray.transforms`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from nestarray import tree
from nestarray.backends.jax.core import native_dtype
from nestarray.errors import UnsupportedError


def value_and_grad(
    fn: Callable[..., Any], leaves: list[Any], has_aux: bool, name: str
) -> tuple[Any, Any, list[Any]]:
    """https://docs.jax.dev/en/latest/_autosummary/jax.vjp.html

    ``jax.value_and_grad`` is the same with a check of each leaf, which takes 5 µs; these leaves
    are already checked.
    """
    kinds = dict(zip(map(type, leaves), leaves, strict=True))  # isinstance calls a metaclass
    if not all(isinstance(leaf, jax.Array) for leaf in kinds.values()):
        leaves = [x if isinstance(x, jax.Array) else jnp.asarray(x) for x in leaves]
    with _loops_explained(name):
        value, pull, aux = jax.vjp(fn, *leaves, has_aux=True)
        gradients = pull(jnp.ones_like(value))
    if any(dtype.kind == "c" for dtype in {g.dtype for g in gradients}):
        # JAX returns ∂f/∂x − i ∂f/∂y, the conjugate of the direction of ascent.
        gradients = [_conj(g) for g in gradients]
    return value, aux, list(gradients)


@contextmanager
def _loops_explained(name: str) -> Iterator[None]:
    """JAX's error about reverse mode through a loop, with the remedy in `na.while_loop`."""
    try:
        yield
    except ValueError as error:
        if not str(error).startswith("Reverse-mode differentiation does not work for lax.while"):
            raise
        raise UnsupportedError(
            f"{name}: while_loop: max_steps: got None, expected a number: in compiled code JAX has "
            "the derivative in reverse only of a loop that ends after a number of steps known "
            "beforehand. Pass max_steps= to na.while_loop, known bounds to na.fori_loop; or take "
            "the derivative forward, by na.jvp or na.jacfwd"
        ) from error


def vjp(fn: Callable[..., Any], arrays: list[Any], name: str) -> tuple[Any, Any, Any]:
    """https://docs.jax.dev/en/latest/_autosummary/jax.vjp.html"""
    with _loops_explained(name):
        found, pull, others = jax.vjp(fn, *arrays, has_aux=True)

    def pullback(cotangents: list[Any]) -> list[Any]:  # JAX multiplies with Jᵀ, we with Jᴴ
        return [_conj(x) for x in pull(tuple(_conj(ct) for ct in cotangents))]

    return found, others, pullback


def jvp(
    fn: Callable[..., Any], arrays: list[Any], tangents: list[Any], name: str
) -> tuple[Any, Any, Any]:
    """https://docs.jax.dev/en/latest/_autosummary/jax.jvp.html"""
    with _forward_explained(name):
        found, moved, others = jax.jvp(fn, arrays, tangents, has_aux=True)
    return found, others, moved


#: The public function that computes in forward mode around the running code.
_pushing: ContextVar[str | None] = ContextVar("nestarray_jax_pushing", default=None)


@contextmanager
def _forward_explained(name: str) -> Iterator[None]:
    """JAX's error about a rule for reverse mode only, worded as on all backends."""
    token = _pushing.set(name)
    try:
        yield
    except TypeError as error:
        if not str(error).startswith("can't apply forward-mode autodiff (jvp) to a custom_vjp"):
            raise
        raise _no_forward_mode(name) from error
    finally:
        _pushing.reset(token)


def _no_forward_mode(name: str) -> UnsupportedError:
    return UnsupportedError(
        f"{name}: a function with custom_vjp has no derivative in forward mode on JAX; give it "
        "one with custom_jvp, which serves both"
    )


def linearize(fn: Callable[..., Any], arrays: list[Any]) -> tuple[Any, Any, Any]:
    """https://docs.jax.dev/en/latest/_autosummary/jax.linearize.html"""
    with _forward_explained("linearize"):
        found, push, others = jax.linearize(fn, *arrays, has_aux=True)

    def pushforward(tangents: list[Any]) -> Any:
        with _forward_explained("linearize"):
            return push(*tangents)

    return found, others, pushforward


def custom_vjp(
    value: Callable[..., Any],
    with_residuals: Callable[..., Any],
    pull: Callable[..., Any],
    arrays: list[Any],
    push: Callable[..., Any] | None,
) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.custom_vjp.html"""
    if push is not None:
        return _custom_jvp(value, push, arrays)
    name = _pushing.get()
    # the class has no public name
    if name is not None and any(type(x).__name__ == "JVPTracer" for x in arrays):
        raise _no_forward_mode(name)  # JAX raises this when tangents are computed, maybe later

    def pullback(residuals: Any, cotangents: Any) -> tuple[Any, ...]:
        found = pull(residuals, [_conj(ct) for ct in cotangents])
        return tuple(None if g is None else _conj(g) for g in found)

    function = jax.custom_vjp(value)
    function.defvjp(with_residuals, pullback)
    return function(*arrays)


@jax.custom_jvp
def without_gradient(x: Any) -> Any:
    """The transpose of a loop passes zeros on, which become NaN at an infinite slope.

    `jax.lax.stop_gradient` would end the derivatives of higher order too.
    """
    return x


without_gradient.defjvp(lambda primals, tangents: (primals[0], jnp.zeros_like(tangents[0])))


def _custom_jvp(value: Callable[..., Any], push: Callable[..., Any], arrays: list[Any]) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.custom_jvp.html"""

    def rule(primals: Any, tangents: Any) -> tuple[Any, Any]:
        values, moved = push(primals, tangents)
        still = [np.zeros(x.shape, jax.dtypes.float0) for x in values[len(moved) :]]
        return values, (*moved, *still)

    function = jax.custom_jvp(value)
    function.defjvp(rule)
    return function(*arrays)


def checkpoint(fn: Callable[..., Any], arrays: list[Any], policy: Any) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.checkpoint.html"""
    if not callable(policy):
        policy = getattr(jax.checkpoint_policies, policy)
    return jax.checkpoint(fn, policy=policy)(*arrays)


def _conj(x: Any) -> Any:
    return x.conj() if x.dtype.kind == "c" else x


def jit(fn: Callable[..., Any], options: dict[str, Any]) -> Callable[..., Any]:
    """https://docs.jax.dev/en/latest/_autosummary/jax.jit.html

    Text in arguments, and text and numbers in results are static: `_Static` makes them a part of
    the structure. Arguments are searched only if JAX refuses a call, results when they are traced.
    """
    static_in: set[str] = set()

    @wraps(fn)
    def traced(*args: Any, **kwargs: Any) -> Any:
        if "arguments" in static_in:
            args, kwargs = _without_static((args, kwargs))
        result = fn(*args, **kwargs)
        if _has(_is_constant, result):
            static_in.add("result")
            return _with_static(_is_constant, result)
        return result

    compiled = jax.jit(traced, **options)

    @wraps(fn)
    def call(*args: Any, **kwargs: Any) -> Any:
        if "arguments" in static_in:
            args, kwargs = _with_static(_is_text, (args, kwargs))
        try:
            result = compiled(*args, **kwargs)
        except TypeError:
            if "arguments" in static_in or not _has(_is_text, (args, kwargs)):
                raise
            static_in.add("arguments")
            return call(*args, **kwargs)
        return _without_static(result) if "result" in static_in else result

    return call


@jax.tree_util.register_static
@dataclass(frozen=True)
class _Static:
    value: str | bytes | complex


def _is_text(leaf: Any) -> bool:
    return isinstance(leaf, (str, bytes))


def _is_constant(leaf: Any) -> bool:
    """Whether a leaf of a result is text or a Python number; NumPy's numbers are arrays."""
    return _is_text(leaf) or type(leaf) in (bool, int, float, complex)


def _has(kind: Callable[[Any], bool], nest: Any) -> bool:
    return any(map(kind, tree.flatten(nest)[0]))


def _with_static(kind: Callable[[Any], bool], nest: Any) -> Any:
    return tree.map(lambda x: _Static(x) if kind(x) else x, nest)


def _without_static(nest: Any) -> Any:
    return tree.map(lambda x: x.value if isinstance(x, _Static) else x, nest)


def vmap(
    fn: Callable[..., tuple[Any, ...]], arrays: list[Any], *, axis_name: Any = None
) -> tuple[Any, ...]:
    """https://docs.jax.dev/en/latest/_autosummary/jax.vmap.html"""
    return jax.vmap(fn, axis_name=axis_name)(*arrays)


def vmap_with_common(
    fn: Callable[..., tuple[Any, Any]], arrays: list[Any], *, axis_name: Any = None
) -> tuple[Any, Any, list[int]]:
    """Return batched outputs, unbatched outputs, and the indices that should have been batched."""
    try:
        return *jax.vmap(fn, out_axes=(0, None), axis_name=axis_name)(*arrays), []
    except ValueError as error:
        if "out_axes" not in str(error):
            raise
        differing = []

        def common_of(*rows: Any) -> tuple[Any, ...]:
            return fn(*rows)[1]

        count = len(jax.eval_shape(jax.vmap(common_of, axis_name=axis_name), *arrays))
        for i in range(count):
            try:
                one = jax.vmap(
                    lambda *rows, i=i: common_of(*rows)[i], out_axes=None, axis_name=axis_name
                )
                jax.eval_shape(one, *arrays)
            except ValueError:
                differing.append(i)
        if not differing:
            raise
        return (), (), differing


def host_call(
    fn: Callable[..., Any], arrays: Sequence[Any], results: Sequence[tuple[Any, Any]]
) -> tuple[Any, ...]:
    """https://docs.jax.dev/en/latest/_autosummary/jax.pure_callback.html"""
    wanted = tuple([jax.ShapeDtypeStruct(shape, native_dtype(d)) for shape, d in results])

    def on_host(*given: Any) -> tuple[Any, ...]:
        found = fn(*map(np.asarray, given))
        return tuple([np.asarray(y, want.dtype) for y, want in zip(found, wanted, strict=True)])

    return jax.pure_callback(on_host, wanted, *arrays, vmap_method="sequential")


def call_without_numbers(fn: Callable[..., Any], arrays: Sequence[tuple[Any, Any]]) -> None:
    """https://docs.jax.dev/en/latest/_autosummary/jax.eval_shape.html"""
    jax.eval_shape(fn, *[jax.ShapeDtypeStruct(shape, native_dtype(d)) for shape, d in arrays])
