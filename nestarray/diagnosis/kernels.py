"""The rule about dtypes: whether a framework refused a call because it has no kernel."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from nestarray import backends, dtypes
from nestarray.config import current_backend
from nestarray.diagnosis.arguments import Arguments, Rule, arrays_in, is_any_traced
from nestarray.errors import DtypeError

#: How they say that values were wrong, or that there was no memory.
OVER_VALUES = re.compile(
    "index .*out of bounds|index out of (bounds|range)|Target .*out of bounds|is not in \\["
    "|not positive|positive.definite|invertible|singular|converge|successful|[Aa]llocat|out of memory|enough memory"
    "|must increase|must be monoton|[Dd]ivision by zero|ZeroDivisionError"
)


#: How the frameworks, and ops about ops that they are made of, say that they have no kernel for a
#: dtype, or for two together.
_NO_KERNEL = re.compile(
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


def _is_computed_in_float32(arguments: Arguments, again: Callable[[Arguments], Any]) -> bool:
    """Whether the call succeeds once its arrays of one dtype, such as bool, are float32."""
    if is_any_traced(arguments):
        return False
    found = {dtypes.dtype_of(x) for _, x in arrays_in(arguments)}
    for dtype in found - {dtypes.float32, dtypes.float64}:
        try:
            again({name: _in_float32(value, dtype) for name, value in arguments.items()})
        except Exception:  # whatever it is, it is not the dtype alone
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


def kernel_rule(error: Exception, again: Callable[[Arguments], Any]) -> Rule:
    def check_kernel(name: str, arguments: Arguments) -> None:
        """The framework has a kernel for the dtypes."""
        arrays = [x for _, x in arrays_in(arguments)]
        numbers = [x for x in arguments.values() if isinstance(x, complex)]
        if not (arrays or numbers) or not (
            _NO_KERNEL.search(str(error)) or _is_computed_in_float32(arguments, again)
        ):
            return
        if OVER_VALUES.search(str(error)):
            return
        found = map(dtypes.result_dtype, [*arrays, *numbers])
        listed = " and ".join(dict.fromkeys(dtype.name for dtype in found))
        backend = backends.backend_of(arrays[0]) if arrays else current_backend()
        raise DtypeError(
            f"{name}: {backend} cannot compute it for {listed}; cast to "
            "a dtype that it takes with na.astype"
        )

    return check_kernel
