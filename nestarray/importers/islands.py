"""Islands: single operations of the source's framework in a graph on another framework.

An operation that has neither a function of a frontend nor a decomposition may stay in its own
framework: the call is made there on the host, and so is its pullback, so it has derivatives
of any order that the operation has. `HostOperation` is the interface of the framework.

In eager code an island is a plain call. In a compiled program it is the compiler's call
back to the host (``jax.pure_callback``, ``tf.numpy_function``), which waits for the arrays to
get there; such a program cannot be saved to a file that runs without Python.
"""

from __future__ import annotations

import functools
import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from nestarray import backends, dtypes, ops, tree
from nestarray.config import current_backend
from nestarray.dtypes import DType
from nestarray.errors import MissingOpError, UnsupportedError
from nestarray.transforms import custom_vjp, vjp
from nestarray.transforms.abstract import Abstract
from nestarray.transforms.arguments import native_transforms

Arrays = tuple[Any, ...]
#: Shape and dtype of an array; None for sizes that are not known yet.
Description = tuple[tuple[int | None, ...], DType]


class HostOperation(ABC):
    """A function of a flat list of arrays of one framework, called on the host.

    Args:
        function: takes and returns arrays of the framework.
        name: of the operation.
        differentiated: how many of the first arrays a pullback differentiates.

    Attributes:
        framework: for messages.
        remedy: for an operation without a derivative.
    """

    framework: str
    remedy: str

    def __init__(self, function: Callable[..., Arrays], name: str, differentiated: int = 0) -> None:
        self.function, self.name, self._differentiated = function, name, differentiated

    def value(self, *arrays: Any) -> Arrays:
        """The results, for arrays of the framework."""
        return tuple(self.function(*arrays))

    @abstractmethod
    def results(self, arrays: Sequence[Description], /) -> list[Description]:
        """Shape and dtype of each result.

        Raises:
            UnsupportedError: they depend on values.
        """

    def pullback(self, count: int, /) -> HostOperation:
        """The pullback: of `count` arguments and the cotangents of the inexact results.

        It returns the gradient of each inexact argument.
        """
        return type(self)(lambda *x: self.gradients(x[:count], x[count:]), self.name, count)

    def described(self, arrays: Sequence[Description]) -> list[Description]:
        """Shape and dtype of each result; a gradient has those of its argument."""
        arguments = arrays[: self._differentiated]
        gradients = [(shape, dtype) for shape, dtype in arguments if dtype.is_inexact]
        return gradients if self._differentiated else self.results(arrays)

    def gradients(self, arguments: Arrays, cotangents: Arrays) -> Arrays:
        """The gradient of each inexact argument, by the framework.

        Raises:
            UnsupportedError: the operation has no derivative.
        """
        moving = [i for i, x in enumerate(arguments) if dtypes.dtype_of(x).is_inexact]

        def function(*values: Any) -> list[Any]:
            known = dict(zip(moving, values, strict=True))
            results = self.function(*[known.get(i, x) for i, x in enumerate(arguments)])
            return [y for y in results if dtypes.dtype_of(y).is_inexact]

        if not (moving and cotangents):
            return tuple([ops.zeros_like(arguments[i]) for i in moving])
        try:
            _, pull = vjp(function, *[arguments[i] for i in moving])
            return tuple(pull(list(cotangents)))
        except (LookupError, NotImplementedError, RuntimeError, ValueError) as error:
            raise UnsupportedError(
                f"island: {self.name} has no derivative in {self.framework} "
                f"({str(error).splitlines()[0]}); {self.remedy}"
            ) from error


class Host(NamedTuple):
    """The operations of one framework.

    Attributes:
        find: returns the operation of a name; raises MissingOpError if the framework has none.
        operation: makes a HostOperation of a function of arrays and a name.
    """

    find: Callable[[str], Callable[..., Any]]
    operation: Callable[[Callable[..., Arrays], str], HostOperation]


class TracedOperations:
    """The operations that this process traced and that have no other name."""

    def __init__(self, framework: str, kind: str) -> None:
        self._framework, self._kind = framework, kind
        self._names: dict[Any, str] = {}
        self._operations: dict[str, Any] = {}

    def name_of(self, identity: Any, base: str, operation: Any) -> str:
        """The name of an operation: its base and a number."""
        if identity not in self._names:
            self._names[identity] = name = f"{base}_{len(self._names)}"
            self._operations[name] = operation
        return self._names[identity]

    def find(self, name: str) -> Any:
        """The operation of a name.

        Raises:
            MissingOpError: this process traced none of this name.
        """
        if name not in self._operations:
            raise MissingOpError(
                f"island: this process traced no {self._kind} {name!r} of {self._framework}; trace "
                "the source again"
            )
        return self._operations[name]


@functools.cache
def _host(framework: str) -> Host:
    """The operations of a framework."""
    return importlib.import_module(f"nestarray.importers.{framework}.islands").HOST


def island(
    name: str,
    /,
    *args: Any,
    takes: Sequence[DType] | None = None,
    framework: str = "torch",
    **kwargs: Any,
) -> Any:
    """Call an operation of one framework on arrays of any framework.

    The operation runs in its framework on the host; on arrays of that framework it is the plain
    call. It is differentiated by its framework, to any order that it has, and may stand in compiled functions.
    Under `vmap` it is called once for each row. It must be a function of its arguments alone.

    Args:
        name: ``"library::operation"``, or ``"library::operation.overload"``; the name of a traced
            call of JAX.
        *args, **kwargs: as the operation takes them, in nests of lists and tuples, with
            arrays in place of tensors.
        takes: the dtypes of the arrays among them, where the framework has narrower ones
            (64-bit integers on JAX without x64); by default they are not cast.
        framework: the framework of the operation, ``"torch"``, ``"jax"``, ``"tensorflow"``, or ``"numpy"`` for a
            function of SciPy, by its name.

    Returns:
        the result of the operation, as arrays of the same framework.

    Raises:
        MissingOpError: the framework has no such operation; the package that registers it is not imported.
        UnsupportedError: the operation has no derivative, or in a compiled function a
            result whose shape depends on values.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.graph.island("aten::special_airy_ai", np.zeros(2, "float32"))
        array([0.35502806, 0.35502806], dtype=float32)
    """
    leaves, structure = tree.flatten((args, kwargs))
    traced = next((x for x in leaves if hasattr(x, "__traced_backend__")), None)
    if isinstance(traced, Abstract):
        raise UnsupportedError(f"island: {name}: it computes on arrays that have elements")
    if traced is not None:
        settings = kwargs if takes is None else {**kwargs, "takes": takes}
        settings = settings if framework == "torch" else {**settings, "framework": framework}
        return traced._recorder.control_flow("graph.island", island, (name, *args), settings)
    call = _Call(framework, name, leaves, structure, takes)
    backend = backends.find_backend(call.arrays) or current_backend()
    if backend == framework != "numpy":  # which has no derivatives
        return call.nest(call(*call.arrays))
    operation = _host(framework).operation(call, name)
    if not call.arrays:
        return call.nest(_moved(operation.value(), backend))
    return call.nest(_differentiable(operation, call.arrays, backend, framework))


class _Call:
    """A call of an operation as a function of a flat list of arrays."""

    def __init__(
        self,
        framework: str,
        name: str,
        leaves: Sequence[Any],
        structure: Any,
        takes: Sequence[DType] | None,
    ) -> None:
        self._operation = _host(framework).find(name)
        native = backends.core(framework).native_dtype
        self._structure, self._takes = structure, takes
        self._rest = [native(x) if isinstance(x, DType) else x for x in leaves]
        self._places = [i for i, x in enumerate(leaves) if backends.backend_of_value(x) is not None]
        self.arrays = [leaves[i] for i in self._places]
        self._returned: Any = None

    def __call__(self, *arrays: Any) -> Arrays:
        """All arrays that the operation returns; `nest` puts them into its nest."""
        kinds = self._takes or [dtypes.dtype_of(x) for x in arrays]
        filled = list(self._rest)
        for place, x, dtype in zip(self._places, arrays, kinds, strict=True):
            filled[place] = ops.astype(x, dtype, copy=False)
        args, kwargs = tree.unflatten(self._structure, filled)
        returned = self._operation(*args, **kwargs)
        if backends.backend_of_value(returned) is not None:
            self._returned = None
            return (returned,)
        leaves, self._returned = tree.flatten(returned)
        return tuple(leaves)

    def nest(self, arrays: Sequence[Any]) -> Any:
        """The result of the operation, from the arrays in it."""
        return arrays[0] if self._returned is None else tree.unflatten(self._returned, arrays)


def _differentiable(
    operation: HostOperation, arrays: Sequence[Any], backend: str, framework: str
) -> Arrays:
    """The results of an operation for arrays of `backend`, with its derivatives."""

    def value(*arrays: Any) -> Arrays:
        return _on_host(operation, arrays, backend, framework)

    def pull(arrays: Arrays, cotangents: Arrays) -> tuple[Any, ...]:
        inexact = [ct for ct in cotangents if ct is not None]  # of integers there are none
        pullback = operation.pullback(len(arrays))
        gradients = iter(_differentiable(pullback, [*arrays, *inexact], backend, framework))
        return tuple(next(gradients) if dtypes.dtype_of(x).is_inexact else None for x in arrays)

    call = custom_vjp(value)
    call.defvjp(lambda *arrays: (call(*arrays), arrays), pull)
    return call(*arrays)


def _on_host(
    operation: HostOperation, arrays: Sequence[Any], backend: str, framework: str
) -> Arrays:
    """The results now if the arrays have values; else when the compiled program runs."""
    core = backends.core(backend)

    def run(arrays: Sequence[Any], to: str) -> Arrays:
        return _moved(operation.value(*_moved(arrays, framework)), to)

    if not any(core.is_traced(x) for x in arrays):
        return run(arrays, backend)
    described = [(tuple(x.shape), dtypes.dtype_of(x)) for x in arrays]
    return native_transforms(backend).host_call(
        lambda *arrays: list(run(arrays, "numpy")), arrays, operation.described(described)
    )


def _moved(arrays: Sequence[Any], backend: str) -> Arrays:
    return tuple([ops.to_backend(x, backend) for x in arrays])
