"""Transformations of functions.

Upstream: https://docs.jax.dev/en/latest/jax.html. Arguments and results are trees
(`tree_util`); `jit` takes Containers, dicts, lists and tuples. Conventions for complex numbers are
upstream's: `grad` is the conjugate of the direction of steepest ascent.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.dynamo import ContextVariable
from nestarray.errors import ArgumentError, DtypeError
from nestarray.frontends.jax import tree_util
from nestarray.frontends.jax.arrays import ShapeDtypeStruct
from nestarray.typing import Nest

__all__ = [
    "checkpoint", "checkpoint_policies", "closure_convert", "custom_gradient", "custom_jvp",
    "custom_vjp", "disable_jit", "eval_shape", "fwd_and_bwd", "grad", "hessian", "jacfwd",
    "jacobian", "jacrev", "jit", "jvp", "linear_transpose", "linearize", "named_call",
    "named_scope", "remat", "value_and_grad", "vjp", "vmap",
]  # fmt: skip

Function = Callable[..., Any]


# -- trees and complex numbers ---------------------------------------------------------------


def _is_container(x: Any) -> bool:
    return isinstance(x, na.Container)


class _Listed:
    """A function of lists of leaves, which `na` transforms, for a function of trees.

    Attributes:
        lists: the leaves of each argument.
        structures: the structure of each argument.
        result: the structure of the last result.
    """

    def __init__(self, fun: Function, args: Sequence[Any], kwargs: Any, has_aux: bool) -> None:
        self._fun, self._kwargs, self._has_aux = fun, kwargs, has_aux
        flat = [tree_util.tree_flatten(x, _is_container) for x in args]
        self.lists = [leaves for leaves, _ in flat]
        self.structures = [structure for _, structure in flat]
        self.result: Any = None

    def trees(self, lists: Sequence[Any], numbers: Sequence[int] | None = None) -> tuple[Any, ...]:
        """Trees like the arguments of these numbers."""
        chosen = range(len(self.structures)) if numbers is None else numbers
        pairs = zip(chosen, lists, strict=True)
        return tuple([self.structures[i].unflatten(leaves) for i, leaves in pairs])

    def value(self, *lists: Any) -> Any:
        """The result of the function, unchanged."""
        return self._fun(*self.trees(lists), **self._kwargs)

    def __call__(self, *lists: Any) -> Any:
        """The leaves of the result; under `has_aux` (leaves, aux)."""
        found = self.value(*lists)
        if self._has_aux and not (isinstance(found, tuple) and len(found) == 2):
            raise ArgumentError(
                f"has_aux: the function returned a {type(found).__name__}, expected a pair "
                "(value, aux)"
            )
        out, aux = found if self._has_aux else (found, None)
        leaves, self.result = tree_util.tree_flatten(out, _is_container)
        return (leaves, aux) if self._has_aux else leaves


def _conjugated(nest: Nest) -> Nest:
    """Complex arrays conjugated."""
    return na.tree.map(_conj, nest)


def _conj(x: Any) -> Any:
    is_complex = hasattr(x, "dtype") and dtypes.dtype_of(x).kind == "complex"
    return na.conj(x) if is_complex else x


def _expect_inexact(
    name: str, lists: Sequence[Any], argnums: int | Sequence[int], allow_int: bool
) -> None:
    for i in (argnums,) if isinstance(argnums, int) else argnums:
        for x in tree_util.tree_leaves(lists[i]) if -len(lists) <= i < len(lists) else ():
            is_number = isinstance(x, (bool, int)) or hasattr(x, "dtype")
            if is_number and not allow_int and not dtypes.dtype_of(x).is_inexact:
                raise DtypeError(
                    f"{name}: argument {i}: got {dtypes.dtype_of(x)}, expected a floating or "
                    "complex array; for zeros say allow_int=True"
                )


# -- derivatives -----------------------------------------------------------------------------


def value_and_grad(
    fun: Function,
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Sequence[Any] = (),
) -> Function:
    """A function that returns (value, gradients), or ((value, aux), gradients)."""

    @functools.wraps(fun)
    def call(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        listed = _Listed(fun, args, kwargs, has_aux)
        _expect_inexact("grad", listed.lists, argnums, allow_int)
        settings: dict[str, Any] = {"has_aux": has_aux, "holomorphic": holomorphic}
        function = na.value_and_grad(listed.value, argnums, **settings)
        value, found = function(*listed.lists)
        numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)
        found = (found,) if isinstance(argnums, int) else found
        gradients = listed.trees(found if holomorphic else _conjugated(found), numbers)
        return value, gradients[0] if isinstance(argnums, int) else gradients

    return call


def grad(
    fun: Function,
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Sequence[Any] = (),
) -> Function:
    """A function that returns the gradients of a scalar function, or (gradients, aux)."""
    function = value_and_grad(fun, argnums, has_aux, holomorphic, allow_int)

    @functools.wraps(fun)
    def call(*args: Any, **kwargs: Any) -> Any:
        value, gradients = function(*args, **kwargs)
        return (gradients, value[1]) if has_aux else gradients

    return call


def jvp(
    fun: Function, primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool = False
) -> tuple[Any, ...]:
    """(value, derivative in the direction of `tangents`), and aux."""
    listed = _Listed(fun, primals, {}, has_aux)
    pairs = zip(listed.structures, tangents, strict=True)
    directions = [structure.flatten_up_to(tangent) for structure, tangent in pairs]
    value, tangent, *aux = na.jvp(listed, listed.lists, directions, has_aux=has_aux)
    return (listed.result.unflatten(value), listed.result.unflatten(tangent), *aux)


def linearize(fun: Function, *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """(value, the derivative as a function of tangents), and aux."""
    listed = _Listed(fun, primals, {}, has_aux)
    value, product, *aux = na.linearize(listed, *listed.lists, has_aux=has_aux)
    result = listed.result

    def pushforward(*tangents: Any) -> Any:
        pairs = zip(listed.structures, tangents, strict=True)
        return result.unflatten(product(*[s.flatten_up_to(t) for s, t in pairs]))

    return (result.unflatten(value), pushforward, *aux)


def vjp(
    fun: Function, *primals: Any, has_aux: bool = False, reduce_axes: Sequence[Any] = ()
) -> tuple[Any, ...]:
    """(value, the function of a cotangent that returns a gradient for each primal), and aux."""
    listed = _Listed(fun, primals, {}, has_aux)
    value, pull, *aux = na.vjp(listed, *listed.lists, has_aux=has_aux)
    result = listed.result

    def pullback(cotangent: Any) -> tuple[Any, ...]:
        found = pull(_conjugated(result.flatten_up_to(cotangent)))
        return listed.trees(_conjugated(found))

    return (result.unflatten(value), pullback, *aux)


def fwd_and_bwd(
    fun: Function, argnums: int | Sequence[int], has_aux: bool = False, jitted: bool = True
) -> tuple[Function, Function]:
    """(forward, backward): ``forward(*args)`` returns `vjp`, ``backward(pullback, cotangent)``."""

    def forward(*args: Any) -> Any:
        return vjp(fun, *args, has_aux=has_aux)

    def backward(pullback: Function, cotangent: Any) -> Any:
        found = pullback(cotangent)
        return found[argnums] if isinstance(argnums, int) else tuple([found[i] for i in argnums])

    return forward, backward


def linear_transpose(fun: Function, *primals: Any, reduce_axes: Sequence[Any] = ()) -> Function:
    """The transpose of a linear function of arguments of these shapes; it returns a tuple."""
    zeros = tree_util.tree_map(_zeros, primals, is_leaf=_is_container)
    return vjp(fun, *zeros)[1]


def _zeros(x: Any) -> Any:
    return na.zeros(x.shape, dtype=x.dtype) if isinstance(x, ShapeDtypeStruct) else x


def _jacobian(native: Function, name: str) -> Function:
    def jacobian(
        fun: Function,
        argnums: int | Sequence[int] = 0,
        has_aux: bool = False,
        holomorphic: bool = False,
        allow_int: bool = False,
    ) -> Function:
        @functools.wraps(fun)
        def call(*args: Any, **kwargs: Any) -> Any:
            listed = _Listed(fun, args, kwargs, has_aux)
            _expect_inexact(name, listed.lists, argnums, allow_int)
            settings: dict[str, Any] = {"has_aux": has_aux, "holomorphic": holomorphic}
            found = native(listed, argnums, **settings)(*listed.lists)
            rows, aux = found if has_aux else (found, None)
            rows = [_row(listed, row, argnums) for row in rows]
            jacobian = listed.result.unflatten(rows)
            return (jacobian, aux) if has_aux else jacobian

        return call

    return jacobian


def _row(listed: _Listed, row: Any, argnums: int | Sequence[int]) -> Any:
    """The derivatives of one leaf of the result by the arguments."""
    if isinstance(argnums, int):
        return listed.trees([row], (argnums,))[0]
    return listed.trees(row, tuple(argnums))


_jacfwd, _jacrev = _jacobian(na.jacfwd, "jacfwd"), _jacobian(na.jacrev, "jacrev")


def jacfwd(
    fun: Function,
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Function:
    """A function that returns the Jacobian, column by column."""
    return _jacfwd(fun, argnums, has_aux, holomorphic)


def jacrev(
    fun: Function,
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Function:
    """A function that returns the Jacobian, row by row."""
    return _jacrev(fun, argnums, has_aux, holomorphic, allow_int)


jacobian = jacrev


def hessian(
    fun: Function,
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Function:
    """A function that returns the second derivatives."""
    return jacfwd(jacrev(fun, argnums, has_aux, holomorphic), argnums, has_aux, holomorphic)


# -- custom derivatives ----------------------------------------------------------------------


class custom_jvp(na.custom_jvp):
    """A function with a custom directional derivative, ``f.defjvp(rule)``; see `na.custom_jvp`."""

    def defjvp(self, jvp: Function, symbolic_zeros: bool = False) -> Function:
        """Set the rule, (primals, tangents) ↦ (value, tangent); returns it."""
        return super().defjvp(jvp)


class custom_vjp(na.custom_vjp):
    """A function with a custom pullback, ``f.defvjp(fwd, bwd)``; see `na.custom_vjp`."""

    def defvjp(
        self,
        fwd: Function,
        bwd: Function,
        symbolic_zeros: bool = False,
        optimize_remat: bool = False,
    ) -> None:
        """Set the forward function, which returns (value, residuals), and the pullback."""

        def backward(*given: Any) -> Any:
            *rest, cotangent = given
            return _conjugated(bwd(*rest, _conjugated(cotangent)))

        super().defvjp(fwd, backward)


def custom_gradient(fun: Function) -> Function:
    """`fun` returns (value, pullback); the result returns the value, and has this pullback."""

    @custom_vjp
    def value(*args: Any) -> Any:
        return fun(*args)[0]

    def backward(args: tuple[Any, ...], cotangent: Any) -> tuple[Any, ...]:
        found = fun(*args)[1](cotangent)
        return found if isinstance(found, tuple) else (found,)

    value.defvjp(lambda *args: (fun(*args)[0], args), backward)
    return functools.wraps(fun)(lambda *args: value(*args))


def closure_convert(fun: Function, *example_args: Any) -> tuple[Function, list[Any]]:
    """(`fun`, []): derivatives by arrays that a function closes over need no conversion here."""
    return fun, []


#: The intermediate values that `checkpoint` stores.
checkpoint_policies = SimpleNamespace(
    nothing_saveable="nothing_saveable",
    everything_saveable="everything_saveable",
    dots_saveable="dots_saveable",
    checkpoint_dots="dots_saveable",
    dots_with_no_batch_dims_saveable="dots_with_no_batch_dims_saveable",
    checkpoint_dots_with_no_batch_dims="dots_with_no_batch_dims_saveable",
)


def checkpoint(
    fun: Function,
    *,
    prevent_cse: bool | Sequence[bool] = True,
    policy: Any = None,
    static_argnums: int | tuple[int, ...] = (),
    static_argnames: str | Iterable[str] = (),
) -> Function:
    """`fun`, with intermediate values computed again in the backward pass."""
    return na.checkpoint(fun, policy="nothing_saveable" if policy is None else policy)


def remat(
    fun: Function,
    *,
    prevent_cse: bool = True,
    policy: Any = None,
    static_argnums: int | tuple[int, ...] = (),
) -> Function:
    """`checkpoint`."""
    return checkpoint(fun, policy=policy)


# -- mapping and compilation -----------------------------------------------------------------


def vmap(
    fun: Function,
    in_axes: Any = 0,
    out_axes: Any = 0,
    axis_name: Any = None,
    axis_size: int | None = None,
    spmd_axis_name: Any = None,
    sum_match: bool = False,
) -> Function:
    """`fun` of one example as a function of a batch; axes are trees that are prefixes."""
    settings = {"axis_name": axis_name, "axis_size": axis_size}

    @functools.wraps(fun)
    def call(*args: Any, **kwargs: Any) -> Any:
        axes = tuple(in_axes) if isinstance(in_axes, (tuple, list)) else (in_axes,) * len(args)
        if len(axes) != len(args):
            raise ArgumentError(
                f"vmap: in_axes: got {in_axes!r}, expected an axis for each of {len(args)} arguments"
            )
        of_all = lambda kwargs, *args: fun(*args, **kwargs)  # noqa: E731
        listed = _Listed(of_all, (kwargs, *args), {}, False)
        spread = tuple(
            [_spread(axis, x) for axis, x in zip((0, *axes), (kwargs, *args), strict=True)]
        )
        if not isinstance(out_axes, int):
            return na.vmap(listed.value, spread, out_axes, **settings)(*listed.lists)
        found = na.vmap(listed, spread, out_axes, **settings)(*listed.lists)
        return listed.result.unflatten(found)

    return call


def _spread(prefix: Any, tree: Any) -> list[int | None]:
    """The axis of each leaf, from a prefix of the tree."""
    axes, structure = tree_util.tree_flatten(prefix, lambda x: x is None)
    pairs = zip(axes, structure.flatten_up_to(tree), strict=True)
    return [axis for axis, part in pairs for _ in tree_util.tree_leaves(part, _is_container)]


#: Whether `jit` calls functions without compilation.
_is_disabled: ContextVariable[bool] = ContextVariable("nestarray_jax_disable_jit", default=False)


@contextlib.contextmanager
def disable_jit(disable: bool = True) -> Iterator[None]:
    """Inside of a ``with`` block, `jit` calls functions without compilation."""
    with _is_disabled.being(disable):
        yield


def jit(
    fun: Function | None = None,
    /,
    *,
    in_shardings: Any = None,
    out_shardings: Any = None,
    static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Iterable[str] | None = None,
    donate_argnums: int | Sequence[int] | None = None,
    donate_argnames: str | Iterable[str] | None = None,
    keep_unused: bool = False,
    device: Any = None,
    backend: str | None = None,
    inline: bool = False,
    compiler_options: Any = None,
) -> Function:
    """`fun` compiled by the framework of its arguments; `na.jit`."""
    settings: dict[str, Any] = {
        "static_argnums": _of_one(static_argnums),
        "static_argnames": _of_one(static_argnames),
        "donate_argnums": _of_one(donate_argnums),
        "donate_argnames": _of_one(donate_argnames),
    }
    if fun is None:
        return lambda fun: jit(fun, **settings)
    compiled = na.jit(fun, **settings)

    @functools.wraps(fun)
    def call(*args: Any, **kwargs: Any) -> Any:
        return (fun if _is_disabled.get() else compiled)(*args, **kwargs)

    return call


def _of_one(value: Any) -> Any:
    """Numbers or names as `na.jit` takes them."""
    return () if value is None else value if isinstance(value, (int, str)) else tuple(value)


def eval_shape(fun: Function, *args: Any, **kwargs: Any) -> Any:
    """Shapes and dtypes of the result, as `ShapeDtypeStruct`; computed on zeros."""
    args, kwargs = tree_util.tree_map(_zeros, (args, kwargs), is_leaf=_is_container)
    found = fun(*args, **kwargs)
    return tree_util.tree_map(lambda x: ShapeDtypeStruct(na.shape(x), dtypes.dtype_of(x)), found)


def named_call(fun: Function, *, name: str | None = None) -> Function:
    """`fun`: names of calls serve upstream's profiler."""
    return fun


def named_scope(name: str) -> Any:
    """A context without effect: names of scopes serve upstream's profiler."""
    return contextlib.nullcontext()
