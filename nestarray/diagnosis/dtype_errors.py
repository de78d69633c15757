"""Whether a framework refused a call because it has no kernel for the dtypes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from nestarray import backends, dtypes
from nestarray.backends.checks.arguments import Arguments, arrays_in, is_any_traced
from nestarray.config import current_backend
from nestarray.errors import DtypeError

# Patterns are compiled when an error needs them, not by `import nestarray`.

#: The frameworks' messages for invalid values, and for lack of memory.
OVER_VALUES = (
    "index .*out of bounds|index out of (bounds|range)|Target .*out of bounds|is not in \\["
    "|not positive|positive.definite|invertible|singular|converge|successful|[Aa]llocat|out of memory|enough memory"
    "|must increase|must be monoton|[Dd]ivision by zero|ZeroDivisionError|infs or NaNs"
)

#: The messages of the frameworks, and of our ops, for a dtype or a pair of dtypes without a kernel.
_NO_KERNEL = (
    "not implemented for ('|complex)|not well defined for complex|does not support (complex|.* dtypes)"
    "|Expected a floating point or complex tensor|not supported for complex"
    "|not in the list of allowed values|Could not find device for node"
    "|not supported for the input types|did not contain a loop with signature"
    "|does not accept dtype|boolean subtract|Subtraction, the `-` operator, with"
    "|data type is not supported|is not supported, see docstring|cannot compute it for|[Bb]ool(ean)? inputs not supported"
    "|the same dtypes?\\b|was expected to be an? \\w+ tensor but is|should be the same"
    "|Type promoting not supported|expected scalar type|Cannot cast ufunc"
    "|to EagerTensor of dtype|carry input and carry output must have equal types"
)


def check_kernel(
    name: str, arguments: Arguments, error: Exception, again: Callable[[Arguments], Any]
) -> None:
    """Raise a `DtypeError` if the framework has no kernel for the dtypes of the arrays.

    Args:
        name: the op.
        arguments: the arguments of the call by parameter.
        error: the framework's error.
        again: calls the implementation with other arguments.
    """
    text = str(error)
    if not _operands(arguments) or re.search(OVER_VALUES, text):
        return
    if re.search(_NO_KERNEL, text) or _succeeds_in_float32(arguments, again):
        raise kernel_error(name, arguments)


def kernel_error(name: str, arguments: Arguments) -> DtypeError:
    """The error for dtypes without a kernel."""
    operands = _operands(arguments)
    found = dict.fromkeys(dtypes.result_dtype(x).name for x in operands)
    backend = next(filter(None, map(backends.backend_of_value, operands)), current_backend())
    return DtypeError(
        f"{name}: {backend} cannot compute it for {' and '.join(found)}; cast to a dtype that it "
        "takes with na.astype"
    )


def is_kernel_error(error: Exception) -> bool:
    """Whether `kernel_error` made the error."""
    return isinstance(error, DtypeError) and "cannot compute it for" in str(error)


def _operands(arguments: Arguments) -> list[Any]:
    """The arrays and complex numbers among the arguments."""
    numbers = [x for x in arguments.values() if isinstance(x, complex)]
    return [*(x for _, x in arrays_in(arguments)), *numbers]


def _succeeds_in_float32(arguments: Arguments, again: Callable[[Arguments], Any]) -> bool:
    """Whether the call succeeds if the arrays of one dtype, such as bool, are cast to float32."""
    if is_any_traced(arguments):
        return False
    found = {dtypes.dtype_of(x) for _, x in arrays_in(arguments)}
    for dtype in found - {dtypes.float32, dtypes.float64}:
        try:
            again({name: _in_float32(value, dtype) for name, value in arguments.items()})
        except Exception:  # so the dtype was not the only problem
            continue
        return True
    return False


def _in_float32(value: Any, dtype: dtypes.DType) -> Any:
    if isinstance(value, (list, tuple)):
        return [_in_float32(item, dtype) for item in value] if arrays_in({"": value}) else value
    backend = backends.backend_of_type(type(value))
    if backend is None or dtypes.dtype_of(value) is not dtype:
        return value
    core = backends.core(backend)
    host = core.to_numpy(value)
    return core.from_numpy(np.asarray(host.real if dtype.kind == "complex" else host, "float32"))
