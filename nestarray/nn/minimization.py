"""Minimization of a function of a tree by the methods of SciPy.

SciPy's methods see one float64 vector on the host; the loss sees the tree, in its own framework and
dtypes. Gradients, products with the Hessian and the Hessian come from `na`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

import numpy as np

from nestarray import backends, lazy_imports, ops, tree
from nestarray.container import Container
from nestarray.container.leaf import describe
from nestarray.dtypes import dtype_of
from nestarray.errors import ArgumentError, DtypeError, ShapeError
from nestarray.errors.signatures import signature_errors
from nestarray.errors.text import listed
from nestarray.transforms import hessian, hvp, jit, value_and_grad
from nestarray.tree_math.raveling import tree_ravel
from nestarray.typing import Nest

#: Methods of ``scipy.optimize.minimize`` → the derivatives that they take.
_METHODS = {
    "Nelder-Mead": "none", "Powell": "none", "COBYLA": "none", "COBYQA": "none",
    "CG": "gradient", "BFGS": "gradient", "L-BFGS-B": "gradient", "TNC": "gradient",
    "SLSQP": "gradient",
    "Newton-CG": "product", "trust-ncg": "product", "trust-krylov": "product",
    "trust-constr": "product",
    "dogleg": "hessian", "trust-exact": "hessian",
}  # fmt: skip


@signature_errors(callables=("loss",))
def minimize(
    loss: Callable[[Nest], Any],
    v: Nest,
    *,
    method: str = "L-BFGS-B",
    bounds: tuple[Any, Any] | None = None,
    tol: float | None = None,
    options: Mapping[str, Any] | None = None,
    callback: Callable[[Nest], Any] | None = None,
    compile: bool = False,
) -> Any:
    """The tree near `v` at which a loss is smallest, by ``scipy.optimize.minimize``.

    For deterministic losses of at most some thousand parameters; `na.nn.Adam` and its relatives
    serve larger models and random batches. `loss` is computed in the framework and the dtypes of
    `v`. In float32, line searches stall near the minimum: a relative change of the loss below
    1e-7 is invisible to them. Trees of float64 converge further.

    Args:
        loss: function of a tree like `v` that returns a floating scalar, shape `()`.
        v: the start: a Container or a nest of floating arrays of one backend.
        method: ``"L-BFGS-B"``, ``"BFGS"``, ``"CG"``, ``"TNC"`` and ``"SLSQP"`` take gradients;
            ``"Newton-CG"``, ``"trust-ncg"``, ``"trust-krylov"`` and ``"trust-constr"`` products
            with the Hessian (`na.hvp`); ``"dogleg"`` and ``"trust-exact"`` the Hessian;
            ``"Nelder-Mead"``, ``"Powell"``, ``"COBYLA"`` and ``"COBYQA"`` no derivatives.
        bounds: ``(lower, upper)``, each a number or a tree of the structure of `v`, or of its first
            levels, with numbers or arrays; infinite entries do not bind. SciPy ignores them, with a
            warning, for methods that cannot respect them.
        tol: SciPy's tolerance for termination; each method has its own meaning.
        options: SciPy's options of the method, such as ``{"maxiter": 100}``.
        callback: called with the present tree after each iteration.
        compile: compile the loss and its derivatives by `na.jit`.

    Returns:
        SciPy's ``OptimizeResult``: `x` is the tree, `fun` the loss, and `jac`, where the method
        has it, the gradient as a tree; `success`, `message`, `nit`, `nfev` and the others as SciPy
        documents them.

    Raises:
        ArgumentError: an unknown method, or bounds that are no pair.
        DtypeError: a leaf of `v` is not a floating array.
        ShapeError, StructureError: bounds that do not fit `v`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> v = na.Container(x=np.asarray(-1.0), y=np.asarray(2.0))
        >>> rosenbrock = lambda v: (1 - v.x) ** 2 + 100 * (v.y - v.x**2) ** 2
        >>> best = na.minimize(rosenbrock, v, method="BFGS")
        >>> bool(best.success), round(float(best.x.x), 4), round(float(best.x.y), 4)
        (True, 1.0, 1.0)

    References:
        https://docs.scipy.org/doc/scipy/reference/generated/scipy.optimize.minimize.html
    """
    optimize = lazy_imports.optional("scipy.optimize", "minimize needs", extra="scipy")
    derivatives = _derivatives_of(method)
    _check_leaves(v)
    start, unravel = tree_ravel(v)
    dtype = dtype_of(start)

    def native(vector: np.ndarray) -> Any:
        return ops.asarray(vector, dtype=dtype, like=start)

    def on_host(function: Callable[..., Any]) -> Callable[..., Any]:
        """The function of native vectors as a function of vectors of float64."""
        computed = jit(function) if compile else function
        return lambda *vectors: tree.map(_float64, computed(*map(native, vectors)))

    @wraps(loss)
    def value(vector: Any) -> Any:
        return loss(unravel(vector))

    arguments: dict[str, Any] = {"jac": derivatives != "none" or None}
    if derivatives == "product":
        arguments["hessp"] = on_host(lambda x, t: hvp(value, [x], [t]))
    if derivatives == "hessian":
        arguments["hess"] = on_host(hessian(value))
    if bounds is not None:
        arguments["bounds"] = optimize.Bounds(*_vectors_of(bounds, v))
    if callback is not None:
        arguments["callback"] = lambda x, *_: callback(unravel(native(x))) and None
    result = optimize.minimize(
        on_host(value if derivatives == "none" else value_and_grad(value)),
        _float64(start),
        method=method,
        tol=tol,
        options=dict(options or {}),
        **arguments,
    )
    result.x = unravel(native(result.x))
    name = "grad" if method == "trust-constr" else "jac"  # there, `jac` is that of constraints
    if name in result:
        result[name] = unravel(native(result[name]))
    return result


def _derivatives_of(method: str) -> str:
    if method not in _METHODS:
        raise ArgumentError(
            f"minimize: method: got {method!r}, expected {listed(map(repr, _METHODS), len(_METHODS))}"
        )
    return _METHODS[method]


def _check_leaves(v: Nest) -> None:
    leaves = tree.leaves(v)
    places = v.paths() if isinstance(v, Container) else [f"leaf {i}" for i in range(len(leaves))]
    for place, leaf in zip(places, leaves, strict=True):
        if not backends.is_array(leaf) or not dtype_of(leaf).is_floating:
            raise DtypeError(
                f"minimize: v: {place}: got {describe(leaf)}, expected a floating array; constants "
                "belong into the loss"
            )


def _vectors_of(bounds: Any, v: Nest) -> tuple[np.ndarray, np.ndarray]:
    """The bounds of each element of the raveled tree."""
    caller, leaves = "minimize: bounds", tree.flatten(v, unfused=True)[0]
    if not isinstance(bounds, tuple | list) or len(bounds) != 2:
        raise ArgumentError(
            f"minimize: bounds: got {describe(bounds)}, expected a pair (lower, upper)"
        )
    lower, upper = (
        np.concatenate(
            [_limits(x, y) for x, y in zip(leaves, tree.spread(bound, v, caller), strict=True)]
        )
        for bound in bounds
    )
    return lower, upper


def _limits(leaf: Any, limit: Any) -> np.ndarray:
    limit = _float64(limit)
    if limit.shape not in ((), tuple(leaf.shape)):
        raise ShapeError(
            f"minimize: bounds: got the shape {limit.shape}, expected a number or an array of "
            f"shape {tuple(leaf.shape)}"
        )
    return np.broadcast_to(limit, leaf.shape).ravel()


def _float64(x: Any) -> np.ndarray:
    x = ops.to_backend(x, "numpy") if backends.is_array(x) else x
    return np.asarray(x, "float64")
