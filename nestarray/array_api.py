"""The Array API standard: a namespace and an array object for each backend.

Portable code obtains the namespace from an array and calls its functions. `array_namespace`
returns the namespace of a backend; its array object is a Container of one bare array, and its
functions are the ops of `na`. So the same code runs on NumPy, JAX, PyTorch and TensorFlow, even
where their own namespaces are incomplete.

https://data-apis.org/array-api/2025.12/
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from functools import cache, wraps
from types import SimpleNamespace
from typing import Any

import numpy as np

from nestarray import backends, dtypes, lazy_imports, ops
from nestarray.backends.transfer import move
from nestarray.config import check_backend_name, use_backend
from nestarray.container import Container, method
from nestarray.container.access import bare
from nestarray.container.container import Leaf, from_leaves
from nestarray.container.spec import LEAF
from nestarray.dispatch import OPS
from nestarray.dtypes import DType
from nestarray.errors import ArgumentError, DtypeError, StructureError

__array_api_version__ = "2025.12"

e, inf, nan, newaxis, pi = math.e, math.inf, math.nan, None, math.pi

#: Creation functions of the main namespace, which take no array.
_CREATION = (
    "arange",
    "asarray",
    "empty",
    "eye",
    "from_dlpack",
    "full",
    "linspace",
    "ones",
    "zeros",
)

_FUNCTIONS = [
    "abs",
    "acos",
    "acosh",
    "add",
    "all",
    "any",
    "argmax",
    "argmin",
    "argsort",
    "asin",
    "asinh",
    "astype",
    "atan",
    "atan2",
    "atanh",
    "bitwise_and",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "can_cast",
    "ceil",
    "clip",
    "concat",
    "conj",
    "copysign",
    "cos",
    "cosh",
    "count_nonzero",
    "cumulative_prod",
    "cumulative_sum",
    "diff",
    "divide",
    "empty_like",
    "equal",
    "exp",
    "expand_dims",
    "expm1",
    "finfo",
    "flip",
    "floor",
    "floor_divide",
    "full_like",
    "greater",
    "greater_equal",
    "hypot",
    "iinfo",
    "imag",
    "isdtype",
    "isfinite",
    "isin",
    "isinf",
    "isnan",
    "less",
    "less_equal",
    "log",
    "log10",
    "log1p",
    "log2",
    "logaddexp",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "matmul",
    "matrix_transpose",
    "max",
    "maximum",
    "mean",
    "meshgrid",
    "min",
    "minimum",
    "moveaxis",
    "multiply",
    "negative",
    "nextafter",
    "nonzero",
    "not_equal",
    "ones_like",
    "permute_dims",
    "positive",
    "pow",
    "prod",
    "real",
    "reciprocal",
    "remainder",
    "repeat",
    "reshape",
    "result_type",
    "roll",
    "round",
    "searchsorted",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "sort",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "std",
    "subtract",
    "sum",
    "take",
    "take_along_axis",
    "tan",
    "tanh",
    "tensordot",
    "tile",
    "tril",
    "triu",
    "trunc",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
    "unstack",
    "var",
    "vecdot",
    "where",
    "zeros_like",
]

_LINALG = [
    "cholesky",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]

_FFT_TRANSFORMS = [
    "fft",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfftn",
    "rfft",
    "rfftn",
]
_FFT_CREATION = ("fftfreq", "rfftfreq")

_DTYPES = [d.name for d in dtypes.ALL]


# -- the namespace ---------------------------------------------------------------------------


class ArrayNamespace:
    """The standard's namespace for one backend; made by `array_namespace`.

    Its functions accept and return Containers of one bare array, or native arrays; creation
    functions return Containers.
    """

    def __init__(self, backend: str) -> None:
        self._backend = backend
        self.__name__ = f"nestarray.array_namespace({backend!r})"
        self.__array_api_version__ = __array_api_version__
        names = vars(self)
        names.update(e=e, inf=inf, nan=nan, newaxis=newaxis, pi=pi)
        names.update({name: getattr(dtypes, name) for name in _DTYPES})
        names.update({name: _function(name) for name in _FUNCTIONS})
        names.update({name: _creation(name, backend) for name in _CREATION})
        self.asarray = _converter(self.asarray, backend)
        self.linalg = SimpleNamespace(**{name: OPS[name].function for name in _LINALG})
        self.fft = SimpleNamespace(
            **{name: OPS[name].function for name in _FFT_TRANSFORMS if name in OPS},
            **{name: _creation(name, backend) for name in _FFT_CREATION if name in OPS},
        )

    def __array_namespace_info__(self) -> NamespaceInfo:
        """Inspection of the backend: capabilities, devices, dtypes, defaults."""
        return NamespaceInfo(self._backend)

    def __repr__(self) -> str:
        return f"<{self.__name__}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return array_namespace, (self._backend,)


def array_namespace(*arrays: Any) -> ArrayNamespace:
    """The namespace of the Array API standard for a backend, or for the backend of some arrays.

    Args:
        *arrays: the name of a backend; or arrays and Containers of one backend.

    Returns:
        a namespace with the functions of `na` under the standard's names, with
        ``linalg`` and ``fft``; its array object is a Container of one bare array.

    Raises:
        ArgumentError: neither a name nor an array is given.
        MixedBackendError: the arrays are of two backends.
        MissingFrameworkError: the framework is not installed.

    Example:
        >>> import numpy as np, nestarray as na
        >>> xp = na.array_namespace("numpy")
        >>> x = xp.asarray([[1.0, 2.0], [3.0, 4.0]])
        >>> x.shape, x.dtype, float(xp.sum(x[0] @ x.T))
        ((2, 2), nestarray.float32, 16.0)
        >>> x.__array_namespace__() is xp is na.array_namespace(np.ones(2))
        True

    References:
        https://data-apis.org/array-api/2025.12/
    """
    if len(arrays) == 1 and isinstance(arrays[0], str):
        return _namespace(check_backend_name(arrays[0]))
    return _namespace(backends.backend_of(list(arrays)))


@cache
def _namespace(backend: str) -> ArrayNamespace:
    backends.core(backend)
    return ArrayNamespace(backend)


def _function(name: str) -> Callable[..., Any]:
    return OPS[name].function if name in OPS else getattr(ops, name, None) or getattr(dtypes, name)


def _creation(name: str, backend: str) -> Callable[..., Any]:
    """The op `name` as a creation function of Containers on `backend`."""
    function = OPS[name].function

    @wraps(function)
    def create(*args: Any, **kwargs: Any) -> Container:
        with use_backend(backend):
            return Container(function(*bare(args), **kwargs))

    return create


def _converter(create: Callable[..., Any], backend: str) -> Callable[..., Any]:
    """`asarray`, which returns an array object itself if no copy is needed.

    Item assignment through one name is then visible through the other, as in the standard.
    """

    @wraps(create)
    def asarray(obj: Any, /, *, dtype: Any = None, copy: bool | None = None, **kwargs: Any) -> Any:
        is_array = isinstance(obj, Container) and obj.spec is LEAF
        if is_array and not copy and backends.backend_of_type(type(obj.leaves()[0])) == backend:
            same_dtype = dtype is None or dtypes.as_dtype(dtype) is obj.dtype
            if same_dtype and kwargs.get("device") in (None, obj.device):
                return obj
        return create(obj, dtype=dtype, copy=copy, **kwargs)

    return asarray


class NamespaceInfo:
    """Capabilities of a backend; from ``xp.__array_namespace_info__()``.

    https://data-apis.org/array-api/2025.12/API_specification/inspection.html
    """

    def __init__(self, backend: str) -> None:
        self._backend = backend

    def capabilities(self) -> dict[str, Any]:
        """Boolean indexing and shapes that depend on values work eagerly on every backend."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> str:
        """The default device of new arrays."""
        core = backends.core(self._backend)
        with use_backend(self._backend):
            return core.device_of(OPS["zeros"].function(()))

    def devices(self) -> tuple[str, ...]:
        """All devices of the backend."""
        return tuple(backends.core(self._backend).devices())

    def default_dtypes(self, *, device: Any = None) -> dict[str, DType]:
        """The default dtypes of Python numbers."""
        with use_backend(self._backend):
            integer = dtypes.dtype_of(OPS["asarray"].function(0))
        return {
            "real floating": dtypes.float32,
            "complex floating": dtypes.complex64,
            "integral": integer,
            "indexing": integer,
        }

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, DType]:
        """The standard's dtypes on the backend, of one or several kinds.

        Args:
            device: a device of the backend; it does not change the result.
            kind: as for `na.isdtype`; by default all kinds.
        """
        found = {}
        for name in _DTYPES:
            dtype = getattr(dtypes, name)
            if name in _BEYOND or not (kind is None or dtypes.isdtype(dtype, kind)):
                continue
            try:
                backends.core(self._backend).native_dtype(dtype)
            except DtypeError:  # 64-bit dtypes on JAX without x64
                continue
            found[name] = dtype
        return found


#: Dtypes of nestarray that the standard does not have.
_BEYOND = ("float16", "bfloat16")


# -- the array object ------------------------------------------------------------------------


def _of_leaves(c: Container, read: Callable[[Any], Any]) -> Any:
    """The value for a bare array, or a Container of the values for each leaf."""
    if c.spec is LEAF:
        return read(c.leaves()[0])
    return from_leaves(c.spec, tuple([read(leaf) for leaf in c.leaves()]))


def _device(leaf: Any) -> str:
    return backends.core(backends.backend_of(leaf)).device_of(leaf)


@method
@property
def shape(c: Container, /) -> Any:
    """The shape; for a tree, a Container of shapes."""
    return _of_leaves(c, lambda leaf: tuple(leaf.shape))


@method
@property
def ndim(c: Container, /) -> Any:
    """The number of axes; for a tree, a Container of numbers."""
    return _of_leaves(c, lambda leaf: len(leaf.shape))


@method
@property
def dtype(c: Container, /) -> Any:
    """The `DType`; for a tree, a Container of dtypes."""
    return _of_leaves(c, dtypes.dtype_of)


@method
@property
def device(c: Container, /) -> Any:
    """The device; for a tree, a Container of devices."""
    return _of_leaves(c, _device)


@method
@property
def T(c: Container[Leaf], /) -> Container[Leaf]:
    """The transposed matrix."""
    return OPS["matrix_transpose"].function(c)


@method
@property
def mT(c: Container[Leaf], /) -> Container[Leaf]:
    """The transpose of each matrix in the last two axes."""
    return OPS["matrix_transpose"].function(c)


def _leaf_of(c: Container, name: str) -> Any:
    if c.spec is LEAF:
        return c.leaves()[0]
    raise StructureError(
        f"{name}: this Container is a tree of arrays; only one of a single bare array is an array "
        "object. Take a leaf, c[path], or use the function of na, which takes trees"
    )


def _number_of(c: Container, name: str, convert: type) -> Any:
    leaf = _leaf_of(c, name)
    if tuple(leaf.shape) != ():
        raise ArgumentError(f"{name}: got an array of shape {tuple(leaf.shape)}, expected shape ()")
    return _number(leaf, convert)


@method
def __int__(c: Container, /) -> int:
    """A bare array of shape () as int."""
    return _number_of(c, "__int__", int)


@method
def __float__(c: Container, /) -> float:
    """A bare array of shape () as float."""
    return _number_of(c, "__float__", float)


@method
def __complex__(c: Container, /) -> complex:
    """A bare array of shape () as complex."""
    return _number_of(c, "__complex__", complex)


@method
def __index__(self: Container, /) -> int:
    """A bare integer array of shape () as an index."""
    leaf = _leaf_of(self, "__index__")
    if not dtypes.dtype_of(leaf).is_integer:
        raise ArgumentError(
            f"__index__: got an array of {dtypes.dtype_of(leaf)}, expected one of integers"
        )
    return _number(leaf, int)


def _number(leaf: Any, convert: type) -> Any:
    try:
        return convert(leaf)
    except RuntimeError:  # PyTorch, for integers of more than 63 bits
        return convert(leaf.item())


@method
def __array_namespace__(self: Container, /, *, api_version: str | None = None) -> ArrayNamespace:
    """The standard's namespace for the backend of this array.

    Args:
        api_version: ``"2025.12"``, or an earlier version, with which it is compatible.

    Raises:
        ArgumentError: the version is unknown or not supported.
    """
    if api_version not in (None, *_VERSIONS):
        raise ArgumentError(
            f"__array_namespace__: api_version: got {api_version!r}, expected one of {_VERSIONS}"
        )
    return _namespace(backends.backend_of(_leaf_of(self, "__array_namespace__")))


_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")


@method
def __dlpack__(
    self: Container,
    /,
    *,
    stream: Any = None,
    max_version: tuple[int, int] | None = None,
    dl_device: Any = None,
    copy: bool | None = None,
) -> Any:
    """A DLPack capsule of the array, from the framework's own export."""
    leaf = _exported(_leaf_of(self, "__dlpack__"))
    if copy:  # some frameworks do not support the argument
        leaf, copy = backends.core(backends.backend_of(leaf)).copied(leaf), None
    if dl_device is not None and tuple(dl_device) == tuple(map(int, leaf.__dlpack_device__())):
        dl_device = None
    if max_version is not None and tuple(max_version) < (1, 0):
        max_version = None  # unversioned capsules are the older format
    given = {"stream": stream, "max_version": max_version, "dl_device": dl_device, "copy": copy}
    return leaf.__dlpack__(**{k: v for k, v in given.items() if v is not None})


@method
def __dlpack_device__(self: Container, /) -> tuple[Any, int]:
    """The device as (type, number) of DLPack."""
    return _exported(_leaf_of(self, "__dlpack_device__")).__dlpack_device__()


@method
def __array__(self: Container, /, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
    """The array as a NumPy array, for `numpy.asarray`."""
    return np.asarray(move(_leaf_of(self, "__array__"), "numpy"), dtype=dtype, copy=copy)


def _exported(leaf: Any) -> Any:
    exported = backends.core(backends.backend_of(leaf)).for_dlpack(leaf)
    if exported is None:
        raise ArgumentError(
            f"__dlpack__: an array of {dtypes.dtype_of(leaf)} on {_device(leaf)} cannot be exported"
        )
    return exported


@method
def __str__(self: Container, /) -> str:
    return str(self.leaves()[0]) if self.spec is LEAF else repr(self)


@method
def __format__(self: Container, spec: str, /) -> str:
    return format(self.leaves()[0], spec) if self.spec is LEAF else object.__format__(self, spec)


def _register_in_einops() -> None:
    importlib.import_module("nestarray.interchange.einops")


lazy_imports.after_import("einops._backends", _register_in_einops)
