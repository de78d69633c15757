"""Islands: single operations of torch inside of a graph on another framework.

What neither a frontend function nor torch's decompositions cover may stay what it is: the
call is handed to torch on the host, and its gradient to torch.autograd. The call is a
function of tensors; so is its pullback, which is called in the same way, so derivatives of
any order that the operation has are there. Shapes of results are found by running the
function on torch's fake tensors, so an island takes arrays of any size.

In eager code an island is a plain call. In a compiled program it is the compiler's call
back to the host (``jax.pure_callback``, ``tf.numpy_function``), which waits for the arrays to
get there; such a program cannot be saved to a file that runs without Python.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nestarray import backends, dtypes, ops, tree
from nestarray.config import current_backend
from nestarray.dtypes import DType
from nestarray.errors import MissingOpError, UnsupportedError
from nestarray.graph.node import iter_nodes
from nestarray.transforms import custom_vjp
from nestarray.transforms.arguments import native_transforms

Tensors = tuple[Any, ...]


def island(name: str, /, *args: Any, takes: Sequence[DType] | None = None, **kwargs: Any) -> Any:
    """Call an operation of torch on arrays of any framework.

    The operation runs in torch on the host; on torch itself it is the plain call. It is
    differentiated by torch, to any order that it has, and may stand in compiled functions.
    Under `vmap` it is called once for each row. It must be a function of its arguments alone.

    Args:
        name: ``"library::operation"``, or ``"library::operation.overload"``.
        *args, **kwargs: as the operation takes them, in nests of lists and tuples, with
            arrays in place of tensors.
        takes: the dtypes of the arrays among them, where the framework has narrower ones
            (64-bit integers on JAX without x64); by default they go as they are.

    Returns:
        what the operation returns, as arrays of the same framework.

    Raises:
        MissingOpError: torch has no such operation; the package that registers it is not imported.
        UnsupportedError: the operation has no derivative, or in a compiled function a
            result whose shape depends on values.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.graph.island("aten::special_airy_ai", np.zeros(2, "float32"))
        array([0.35502806, 0.35502806], dtype=float32)
    """
    leaves, structure = tree.flatten((args, kwargs))
    traced = next((x for x in leaves if hasattr(x, "__traced_backend__")), None)
    if traced is not None:
        settings = kwargs if takes is None else {**kwargs, "takes": takes}
        return traced._recorder.control_flow("graph.island", island, (name, *args), settings)
    call = _Call(name, leaves, structure, takes)
    backend = backends.find_backend(call.arrays) or current_backend()
    if backend == "torch":
        return call.nest(call(*call.arrays))
    if not call.arrays:
        return call.nest(_moved(call(), backend))
    return call.nest(_differentiable(call, call.arrays, backend))


class _Call:
    """A call of an operation as a function of a flat list of tensors."""

    def __init__(
        self, name: str, leaves: Sequence[Any], structure: Any, takes: Sequence[DType] | None
    ) -> None:
        self.name, self.operation = name, find_operation(name)
        self._structure, self._takes = structure, takes
        self._rest = [_setting(x) for x in leaves]
        self._places = [i for i, x in enumerate(leaves) if backends.backend_of_value(x) is not None]
        self.arrays = [leaves[i] for i in self._places]
        self._returned: Any = None

    def __call__(self, *tensors: Any) -> Tensors:
        """All tensors that the operation returns; `nest` knows how."""
        import torch

        wanted = self._takes or [dtypes.dtype_of(x) for x in tensors]
        native = backends.core("torch").native_dtype
        filled = list(self._rest)
        for place, x, dtype in zip(self._places, tensors, wanted, strict=True):
            filled[place] = x.to(native(dtype))
        args, kwargs = tree.unflatten(self._structure, filled)
        returned = self.operation(*args, **kwargs)
        if isinstance(returned, torch.Tensor):
            self._returned = None
            return (returned,)
        found, self._returned = tree.flatten(returned)
        return found

    def nest(self, found: Sequence[Any]) -> Any:
        """What the operation returns, from its tensors or arrays in their place."""
        return found[0] if self._returned is None else tree.unflatten(self._returned, found)


class _Pullback:
    """The pullback of a function of tensors: of its arguments and cotangents, for both inexact."""

    def __init__(self, function: Callable[..., Tensors], count: int, name: str) -> None:
        self._function, self._count, self.name = function, count, name

    def __call__(self, *values: Any) -> Tensors:
        """The gradient for each inexact argument."""
        import torch

        is_differentiated = torch.is_grad_enabled()
        given, cotangents = values[: self._count], values[self._count :]
        with torch.enable_grad():
            xs = [
                x.detach().requires_grad_() if _is_inexact(x) and not x.requires_grad else x
                for x in given
            ]
            ys = [y for y in self._function(*xs) if _is_inexact(y)]
            moving = [(y, ct) for y, ct in zip(ys, cotangents, strict=True) if y.requires_grad]
            wanted = [x for x in xs if _is_inexact(x)]
            found: Sequence[Any] = [None] * len(wanted)
            if moving and wanted:
                try:
                    found = torch.autograd.grad(
                        [y for y, _ in moving],
                        wanted,
                        [ct for _, ct in moving],
                        create_graph=is_differentiated,
                        allow_unused=True,
                    )
                except RuntimeError as error:
                    raise UnsupportedError(
                        f"island: {self.name} has no derivative in torch ({error}); give it one "
                        "with torch.library.register_autograd"
                    ) from error
        return tuple(torch.zeros_like(x) if g is None else g for x, g in zip(wanted, found))


def _differentiable(function: _Call | _Pullback, arrays: Sequence[Any], backend: str) -> Tensors:
    """The results of a function of tensors for arrays of `backend`, with its derivatives."""

    def value(*arrays: Any) -> Tensors:
        return _on_host(function, arrays, backend)

    def pull(arrays: Tensors, cotangents: Tensors) -> tuple[Any, ...]:
        given = [ct for ct in cotangents if ct is not None]  # of integers there are none
        pullback = _Pullback(function, len(arrays), function.name)
        found = iter(_differentiable(pullback, [*arrays, *given], backend))
        return tuple(next(found) if dtypes.dtype_of(x).is_inexact else None for x in arrays)

    call = custom_vjp(value)
    call.defvjp(lambda *arrays: (call(*arrays), arrays), pull)
    return call(*arrays)


def _on_host(function: _Call | _Pullback, arrays: Sequence[Any], backend: str) -> Tensors:
    """Now, if the arrays are there; else when the program that is being made runs."""
    core = backends.core(backend)
    if not any(core.is_traced(x) for x in arrays):
        return _moved(_run(function, arrays), backend)

    def run(*arrays: Any) -> list[Any]:
        return [ops.to_backend(y, "numpy") for y in _run(function, arrays)]

    return native_transforms(backend).host_call(run, arrays, _results_of(function, arrays))


def _run(function: Callable[..., Tensors], arrays: Sequence[Any]) -> Tensors:
    import torch

    with torch.no_grad():
        return function(*_moved(arrays, "torch"))


def _moved(arrays: Sequence[Any], backend: str) -> Tensors:
    return tuple([ops.to_backend(x, backend) for x in arrays])


def _results_of(
    function: _Call | _Pullback, arrays: Sequence[Any]
) -> list[tuple[tuple[int | None, ...], DType]]:
    """Shape and dtype of each result, None for sizes that are not known yet."""
    import torch
    from torch._subclasses.fake_tensor import DynamicOutputShapeException, FakeTensorMode

    shapes = [tuple(x.shape) for x in arrays]
    is_known = all(None not in shape for shape in shapes)
    native = backends.core("torch").native_dtype
    with FakeTensorMode(), torch.no_grad():
        fakes = [
            torch.empty([2 if n is None else n for n in shape], dtype=native(dtypes.dtype_of(x)))
            for shape, x in zip(shapes, arrays, strict=True)
        ]
        try:
            found = function(*fakes)
        except DynamicOutputShapeException as error:
            raise UnsupportedError(
                f"island: the shape of the result of {function.name} depends on values, which a "
                "compiled program cannot have; call the graph without compiling it"
            ) from error
    return [(tuple(y.shape) if is_known else (None,) * y.ndim, dtypes.dtype_of(y)) for y in found]


def _is_inexact(x: Any) -> bool:
    return x.is_floating_point() or x.is_complex()


def _setting(value: Any) -> Any:
    """An argument that is no array in torch's words."""
    return backends.core("torch").native_dtype(value) if isinstance(value, DType) else value


# -- operations ----------------------------------------------------------------------------


def find_operation(name: str) -> Any:
    """The ``OpOverload`` of a name such as ``"aten::sin"``.

    Raises:
        MissingOpError: torch has none.
    """
    import torch

    library, _, rest = name.partition("::")
    base, _, overload = rest.partition(".")
    try:
        return getattr(getattr(getattr(torch.ops, library), base), overload or "default")
    except AttributeError:
        raise MissingOpError(
            f"island: torch has no operation {name!r}; import the package that registers it "
            "with torch.library"
        ) from None


def why_not(target: Any) -> str:
    """Why an operation cannot be an island; empty if it can.

    Args:
        target: what an exported node calls.
    """
    import torch

    schema = getattr(target, "_schema", None)
    if getattr(target, "__name__", "").startswith("auto_functionalized"):
        return "it writes into its arguments; register one that returns the new values"
    if not isinstance(target, torch._ops.OpOverload) or schema is None:
        return "it is not an operation of torch's dispatcher"
    if torch.Tag.nondeterministic_seeded in target.tags:
        return "it draws random numbers from torch's own generator"
    others = [str(r.type) for r in schema.returns if str(r.type) not in ("Tensor", "List[Tensor]")]
    if not schema.returns:
        return "it returns nothing"
    return f"it returns {others[0]}" if others else ""


def island_arguments(
    target: Any, named: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Positional and keyword arguments of `island` for a call of an operation.

    Args:
        target: the operation.
        named: arguments by the names of its schema, with Nodes for arrays; those at their
            default may be left out.
    """
    schema = target._schema
    overload = f".{schema.overload_name}" if schema.overload_name else ""
    positional = [a for a in schema.arguments if not a.kwarg_only]
    last = max((i for i, a in enumerate(positional) if a.name in named), default=-1)
    args = [named.get(a.name, a.default_value) for a in positional[: last + 1]]
    kwargs = {a.name: named[a.name] for a in schema.arguments if a.kwarg_only and a.name in named}
    nodes = iter_nodes([args, [value for _, value in sorted(kwargs.items())]])
    takes = tuple([node.aval.dtype for node in nodes if node.aval is not None])
    if any(dtype.is_integer and dtype.bits == 64 for dtype in takes):
        kwargs["takes"] = takes
    return (f"{schema.name}{overload}", *args), kwargs
