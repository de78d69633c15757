"""Properties of the arguments of a call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from nestarray import backends, dtypes
from nestarray.config import current_backend
from nestarray.errors import ArgumentError
from nestarray.typing import NUMBERS

Arguments = Mapping[str, Any]


Rule = Callable[[str, Arguments], None]


def is_any_traced(arguments: Arguments) -> bool:
    if any(hasattr(x, "__traced_backend__") for x in arguments.values()):
        return True
    return any(backends.core(backends.backend_of(x)).is_traced(x) for _, x in arrays_in(arguments))


def shown(value: Any) -> str:
    """Text for an error: dtype and shape of an array, the repr of other values."""
    if not backends.is_array(value):
        if isinstance(value, (list, tuple)) and arrays_in({"": value}):
            return f"[{', '.join(map(shown, value))}]"
    else:
        return f"{dtypes.dtype_of(value).name} {tuple(value.shape)}"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def shape_of(x: Any) -> tuple[int, ...]:
    """The shape of an array, () for a number; TypeError if a length is unknown."""
    if x.__class__ in NUMBERS:
        return ()
    if not all(hasattr(n, "__index__") for n in x.shape):
        raise TypeError("a tracer does not know all sizes")
    return tuple([int(n) for n in x.shape])


def arrays_in(arguments: Arguments) -> list[tuple[str, Any]]:
    """(name, array) of all array arguments, also inside lists."""
    found = []
    for name, value in arguments.items():
        many = isinstance(value, (list, tuple))
        for i, item in enumerate(value if many else [value]):
            if backends.is_array(item):
                found.append((f"{name}[{i}]" if many else name, item))
    return found


def check_device(name: str, arguments: Arguments) -> None:
    """The framework has the device."""
    device = arguments.get("device")
    if device is None:
        return
    found = [backends.backend_of(x) for _, x in arrays_in(arguments)]
    core = backends.core(found[0] if found else current_backend())
    try:
        core.from_numpy(np.zeros(()), device)
    except Exception as error:  # each framework has its own
        have = ", ".join(core.devices())
        text = f"{name}: device: got {device!r}, expected one of {have}"
        raise ArgumentError(text) from error


def on_the_host(x: Any) -> Any:
    """An array converted to NumPy; other values unchanged."""
    backend = backends.backend_of_type(type(x))
    return x if backend is None else backends.core(backend).to_numpy(x)


def size_of(shape: Sequence[int]) -> int:
    return int(np.prod(shape, dtype=np.int64)) if len(shape) else 1
