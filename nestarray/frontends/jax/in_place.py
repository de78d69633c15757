"""Arguments that ask for writes into an array: upstream has them for NumPy's sake, and refuses them."""

from __future__ import annotations

from typing import Any

from nestarray.errors import ArgumentError, UnsupportedError


def refuse_in_place(name: str, out: Any, overwrite_input: bool = False) -> None:
    """Raise an UnsupportedError if a result is to be written into an array."""
    if out is not None:
        raise UnsupportedError(
            f"{name}: out: got {type(out).__name__}, expected None: arrays are not changed; use the "
            "result"
        )
    if overwrite_input:
        raise UnsupportedError(
            f"{name}: overwrite_input: got True, expected False: arrays are not changed"
        )


def expect_functional(name: str, inplace: bool) -> None:
    """Raise an ArgumentError unless a function is asked for a new array."""
    if inplace:
        raise ArgumentError(
            f"{name}: inplace: got True, expected False: arrays are not changed; use the result"
        )
