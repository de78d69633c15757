"""Checks of the settings of optimizers."""

from __future__ import annotations

from typing import Any, NoReturn

from nestarray.errors import ArgumentError
from nestarray.random.arguments import is_number


def check_decays(optimizer: object, **decays: float) -> None:
    """Check that decays of running means are in [0, 1).

    Raises:
        ArgumentError: one is outside.
    """
    for name, value in decays.items():
        if not is_number(value) or not 0 <= value < 1:
            refuse_setting(optimizer, name, value, "a number of at least 0 and below 1")


def check_not_negative(optimizer: object, **numbers: float) -> None:
    """Check that settings are 0 or more.

    Raises:
        ArgumentError: one is negative.
    """
    for name, value in numbers.items():
        if not is_number(value) or not value >= 0:
            refuse_setting(optimizer, name, value, "a number of at least 0")


def check_counts(optimizer: object, **counts: int) -> None:
    """Check that settings are integers of at least 1.

    Raises:
        ArgumentError: one is not.
    """
    for name, value in counts.items():
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            refuse_setting(optimizer, name, value, "an integer of at least 1")


def refuse_setting(optimizer: object, name: str, value: Any, expected: str) -> NoReturn:
    """Raise the error of a wrong setting.

    Raises:
        ArgumentError: always.
    """
    raise ArgumentError(f"{type(optimizer).__name__}: {name}: got {value!r}, expected {expected}")
