"""`check_grads`: derivatives against finite differences, to any order, in both modes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from nestarray import backends, dtypes, ops, tree
from nestarray.errors import ArgumentError
from nestarray.transforms import jvp, vjp
from nestarray.typing import Nest

#: By dtype: the step of central differences, and the relative error that they have at most.
_STEPS = {dtypes.float32: (1e-2, 2e-2), dtypes.float64: (1e-5, 1e-6)}


def check_grads(
    fn: Callable[..., Any],
    args: Sequence[Nest],
    *,
    order: int = 2,
    modes: Sequence[str] = ("forward", "reverse"),
    eps: float | None = None,
    rtol: float | None = None,
) -> None:
    """Assert that the derivatives of `fn` at `args` agree with finite differences.

    In one random direction t, forward mode must give (f(x + εt) − f(x − εt)) / 2ε, and reverse
    mode the same inner product with a random cotangent. Higher orders check derivatives of
    derivatives. Prefer float64: in float32 differences have two correct digits.

    Args:
        fn: function of nests that returns a nest of arrays.
        args: its arguments; all floating arrays in them are differentiated.
        order: the highest order of derivatives to check.
        modes: ``"forward"``, ``"reverse"``, or both.
        eps: ε; from the dtype if None.
        rtol: the error, relative to the largest magnitude; from the dtype if None.

    Raises:
        AssertionError: they differ; the message names mode, order and error.
        ArgumentError: a mode is unknown, or `args` contains no floating array.

    Example:
        >>> import jax, jax.numpy as jnp, nestarray as na
        >>> from nestarray.testing import check_grads
        >>> with jax.enable_x64(True):
        ...     check_grads(lambda x: na.sum(na.sin(x)), [jnp.asarray([0.3, 0.5], "float64")])
        >>> @na.custom_jvp
        ... def wrong(x):
        ...     return na.sin(x)
        >>> rule = wrong.defjvp(lambda primals, tangents: (wrong(*primals), tangents[0]))
        >>> with jax.enable_x64(True):
        ...     check_grads(wrong, [jnp.asarray(0.3, "float64")], modes=["forward"])
        Traceback (most recent call last):
            ...
        AssertionError: check_grads: forward mode, order 1: got -0.615066, differences give -0.587595

    References:
        https://docs.jax.dev/en/latest/jax.test_util.html
    """
    wrong = [mode for mode in modes if mode not in ("forward", "reverse")]
    if wrong:
        raise ArgumentError(
            f"check_grads: modes: got {wrong[0]!r}, expected 'forward' or 'reverse'"
        )
    floating = [x for x in tree.flatten(tuple(args), unfused=True)[0] if _is_floating(x)]
    if not floating:
        raise ArgumentError("check_grads: args: there is no floating array to differentiate by")
    found = {dtypes.dtype_of(x) for x in floating}
    narrow = dtypes.float64 if found == {dtypes.float64} else dtypes.float32
    step, error = _STEPS[narrow]
    _check(fn, tuple(args), modes, order, 1, eps or step, rtol or error, np.random.default_rng(0))


def _check(
    fn: Callable[..., Any],
    args: tuple[Any, ...],
    modes: Sequence[str],
    order: int,
    done: int,
    eps: float,
    rtol: float,
    rng: np.random.Generator,
) -> None:
    tangents = _random(args, rng)
    ahead, behind = (fn(*_moved(args, tangents, sign * eps)) for sign in (1.0, -1.0))
    cotangents = _random(fn(*args), rng)
    differences = _inner(cotangents, ahead, 1.0 / (2 * eps)) - _inner(
        cotangents, behind, 1.0 / (2 * eps)
    )
    scale = _inner(_absolute(cotangents), _absolute(ahead), 1.0)
    for mode in modes:
        if mode == "forward":
            actual = _inner(cotangents, jvp(fn, args, tangents)[1], 1.0)
            derivative = lambda *xs: jvp(fn, xs, tangents)[1]  # noqa: E731
        else:
            actual = _inner(tangents, vjp(fn, *args)[1](cotangents), 1.0)
            derivative = lambda *xs: vjp(fn, *xs)[1](cotangents)  # noqa: E731
        if not abs(actual - differences) <= rtol * max(abs(differences), scale, 1e-3):
            raise AssertionError(
                f"check_grads: {mode} mode, order {done}: got {actual:.6g}, differences give "
                f"{differences:.6g}"
            )
        if done < order:
            _check(derivative, args, modes, order, done + 1, eps, rtol, rng)


def _is_floating(x: Any) -> bool:
    return backends.is_array(x) and dtypes.dtype_of(x).is_floating


def _random(nest: Nest, rng: np.random.Generator) -> Nest:
    def draw(x: Any) -> Any:
        if not _is_floating(x):
            return x
        host = rng.uniform(0.5, 1.5, tuple(x.shape)) * rng.choice([-1.0, 1.0], tuple(x.shape))
        narrow = np.float64 if dtypes.dtype_of(x) is dtypes.float64 else np.float32
        made = backends.core(backends.backend_of(x)).from_numpy(np.asarray(host, narrow))
        return ops.astype(made, dtypes.dtype_of(x))

    return _mapped(draw, nest)


def _moved(args: tuple[Any, ...], tangents: Nest, step: float) -> tuple[Any, ...]:
    leaves, structure = tree.flatten(args, unfused=True)
    directions = tree.flatten(tangents, unfused=True)[0]
    moved = [
        ops.add(x, ops.multiply(t, step)) if _is_floating(x) else x
        for x, t in zip(leaves, directions, strict=True)
    ]
    return tree.unflatten(structure, moved)


def _absolute(nest: Nest) -> Nest:
    return _mapped(lambda x: ops.abs(x) if _is_floating(x) else x, nest)


def _mapped(fn: Callable[[Any], Any], nest: Nest) -> Nest:
    leaves, structure = tree.flatten(nest, unfused=True)
    return tree.unflatten(structure, [fn(x) for x in leaves])


def _inner(a: Nest, b: Nest, scale: float) -> float:
    """scale · Σ aᵢ bᵢ over the floating arrays, in float64."""
    pairs = zip(tree.flatten(a, unfused=True)[0], tree.flatten(b, unfused=True)[0], strict=True)
    return scale * sum(float(np.sum(_host(x) * _host(y))) for x, y in pairs if _is_floating(x))


def _host(x: Any) -> np.ndarray:
    return np.asarray(backends.core(backends.backend_of(x)).to_numpy(x)).astype(np.float64)
