"""Pairs of an optimizer and one of another library that computes the same.

A pair names the settings and moments of both. A setting that one of them lacks must have the value
at which the formulas agree; otherwise a conversion is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from nestarray.container import Container
from nestarray.errors import ArgumentError
from nestarray.errors.text import listed
from nestarray.nn.optimizers.optimizer import Optimizer
from nestarray.random.arguments import is_number


@dataclass(frozen=True)
class Twin:
    """An optimizer and its twin in another library.

    Args:
        cls: the class here.
        name: of the twin.
        settings: settings here → their names there; ``"betas.0"`` is a member of a tuple.
        moments: moments here → their names there.
        needs: settings that the twin lacks → the value here at which both agree.
        twin_needs: settings that the class lacks → the value there at which both agree.
        scales: moments with another scale there → (sign, power): there = sign · ηᵖᵒʷᵉʳ · here.
    """

    cls: type[Optimizer]
    name: str
    settings: Mapping[str, str]
    moments: Mapping[str, str]
    needs: Mapping[str, Any] = field(default_factory=dict)
    twin_needs: Mapping[str, Any] = field(default_factory=dict)
    scales: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    def settings_there(self, optimizer: Optimizer, function: str, library: str) -> dict[str, Any]:
        """The settings of the twin by name.

        Raises:
            ArgumentError: a setting has no equivalent.
        """
        for name, value in self.needs.items():
            if getattr(optimizer, name) != value:
                raise ArgumentError(
                    f"{function}: {name}: got {getattr(optimizer, name)!r}, expected {value!r}: "
                    f"{library} computes {self.name} with that alone"
                )
        settings: dict[str, Any] = {}
        for here, there in self.settings.items():
            name, _, member = there.partition(".")
            value = getattr(optimizer, here)
            settings[name] = (*settings.get(name, ()), value) if member else value
        return settings

    def settings_here(
        self, settings: Mapping[str, Any], function: str, library: str
    ) -> dict[str, Any]:
        """The settings of the class by name.

        Raises:
            ArgumentError: a setting of the twin has no equivalent.
        """
        for name, value in self.twin_needs.items():
            if settings.get(name, value) != value:
                raise ArgumentError(
                    f"{function}: {name}: got {settings[name]!r}, expected {value!r}: "
                    f"nn.{self.cls.__name__} has no equivalent of this setting of {library}"
                )
        values = dict(self.needs)
        for here, there in self.settings.items():
            name, _, member = there.partition(".")
            values[here] = settings[name][int(member)] if member else settings[name]
        return values

    def moment_there(self, name: str, x: Any, rate: float) -> Any:
        """A moment in the scale of the twin."""
        sign, power = self.scales.get(name, (1, 0))
        return x if (sign, power) == (1, 0) else x * (sign * rate**power)

    def moment_here(self, name: str, x: Any, rate: float) -> Any:
        """A moment of the twin in the scale here."""
        sign, power = self.scales.get(name, (1, 0))
        return x if (sign, power) == (1, 0) else x * (sign / rate**power)


def twin_of(optimizer: Optimizer, twins: Iterable[Twin], function: str, library: str) -> Twin:
    """The pair of an optimizer.

    Raises:
        ArgumentError: the library has no optimizer with the same formulas.
    """
    for twin in twins:
        if twin.cls is type(optimizer):
            return twin
    raise ArgumentError(
        f"{function}: {library} has no optimizer with the formulas of {type(optimizer).__name__}, "
        f"expected {listed(sorted({twin.cls.__name__ for twin in twins}), 20)}"
    )


def class_of(name: str, twins: Iterable[Twin], function: str, library: str) -> Twin:
    """The pair of an optimizer of the library by name.

    Raises:
        ArgumentError: nestarray has no optimizer with the same formulas.
    """
    for twin in twins:
        if twin.name == name:
            return twin
    raise ArgumentError(
        f"{function}: got {name}, expected an optimizer of {library} with an equal in nestarray: "
        f"{listed(sorted({twin.name for twin in twins}), 20)}"
    )


def rates_of(optimizer: Optimizer, v: Container, function: str) -> dict[str, float]:
    """The learning rate of each leaf by path.

    Raises:
        ArgumentError: a rate is not a number.
    """
    rate: Any = optimizer.learning_rate
    rates: dict[str, float] = {}
    for pattern, number in (rate if isinstance(rate, Mapping) else {"**": rate}).items():
        if not is_number(number):
            converter = "to_keras" if "keras" in function else "to_torch"
            raise ArgumentError(
                f"{function}: learning_rate: got {number!r}, expected a number; convert the schedule "
                f"with nn.schedules.{converter}"
            )
        hits = v.mask(pattern).flat_items()
        rates = {**{path: float(number) for path, hit in hits if hit}, **rates}
    return rates
