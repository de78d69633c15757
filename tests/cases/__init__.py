"""One `Case` an op at least: the rows over which the properties of ``tests/ops`` run.

Each ``tests/cases/<chapter>.py`` defines ``CASES``. Inputs are drawn as NumPy arrays from a
generator that depends on the case's id only, so that every property sees the same numbers.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import pytest

from nestarray import backends
from nestarray.config import BACKENDS
from nestarray.dispatch import OPS, Op
from tests.arrays import placed

#: Whether this is ``make test-full``.
EXHAUSTIVE = os.environ.get("HYPOTHESIS_PROFILE") == "full"

#: The types of NumPy results: an array, or NumPy's scalar in place of a 0-d one.
ARRAYS = (np.ndarray, np.generic)


@dataclass(frozen=True, eq=False)  # by identity, so that results can be cached by case
class Case:
    """Inputs of an op, the expected result, and the properties that hold.

    Args:
        op: the name of the public op.
        args: draws the positional arguments: NumPy arrays, Python values, lists of arrays.
        kwargs: settings; NumPy arrays among them are converted like arguments.
        reference: gives the expected NumPy (or torch) result for the arguments, in float64;
            None compares the four backends with NumPy's float64 result, where no oracle is.
        differentiable: gradients are checked; a tuple names the positions of the
            arguments to differentiate with respect to.
        dtypes: floating array arguments are cast to each, complex ones to the twin.
        dtype: the dtype of the result, if it differs from the floating arguments'.
        jit: the op can be compiled for these arguments (its shapes depend on no values).
        tolerance: rtol and atol, looser than the dtype's; `reason` is then required.
        reason: why `tolerance`, or why not all `backends` or `bodies`.
        backends: where the case holds.
        bodies: the backends that can compute the op's default body, where they have a
            function of their own.
        id: tells several cases of one op apart.
    """

    op: str
    args: Callable[[np.random.Generator], tuple[Any, ...]]
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    reference: Callable[..., Any] | None = None
    differentiable: bool | tuple[int, ...] = True
    dtypes: tuple[str, ...] = ("float32", "float64")
    dtype: str | None = None
    jit: bool = True
    tolerance: float | None = None
    reason: str = ""
    backends: tuple[str, ...] = BACKENDS
    bodies: tuple[str, ...] = BACKENDS
    id: str = ""

    def __post_init__(self) -> None:
        everywhere = set(self.backends) == set(self.bodies) == set(BACKENDS)
        if (self.tolerance is not None or not everywhere) and not self.reason:
            raise ValueError(f"Case {self.name}: a tolerance or fewer backends need a reason")

    @property
    def name(self) -> str:
        """The op, with the case's own id behind it."""
        return f"{self.op}-{self.id}" if self.id else self.op

    def on(self, backend: str) -> str:
        """The test's id, such as ``elementwise/abs-jax``; ``pytest -k elementwise`` takes a chapter."""
        chapter = OPS[self.op].chapter if self.op in OPS else "unknown"
        return f"{chapter}/{self.name}-{backend}"

    @property
    def record(self) -> Op:
        """The op's record."""
        return OPS[self.op]

    def draw(self, dtype: str, sample: int = 0) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Positional and keyword arguments on NumPy, floating arrays as `dtype`; others each `sample`."""
        rng = np.random.default_rng(zlib.crc32(self.name.encode()) + sample)
        args = convert(self.args(rng), lambda x: in_dtype(x, dtype))
        return args, convert(dict(self.kwargs), lambda x: in_dtype(x, dtype))

    def expected(self, dtype: str) -> Any:
        """The result in float64 for the inputs rounded to `dtype`."""
        args, kwargs = self.draw(dtype)
        wide = convert(args, lambda x: in_dtype(x, "float64"))
        settings = convert(kwargs, lambda x: in_dtype(x, "float64"))
        if self.reference is None:
            return self.record.function(*wide, **settings)
        return convert(self.reference(*wide, **settings), _from_torch, of=object)


def in_dtype(x: np.ndarray, dtype: str) -> np.ndarray:
    """A floating array as `dtype`, a complex one as its twin, any other unchanged."""
    if x.dtype.kind == "c":
        return x.astype("complex64" if dtype == "float32" else "complex128")
    if x.dtype.kind == "f" or x.dtype.name == "bfloat16":
        return x.astype(backends.core("numpy").native_dtype(dtype))
    return x


def convert(value: Any, function: Callable[[Any], Any], of: Any = np.ndarray) -> Any:
    """`value` with `function` applied to each array in its lists, tuples and dicts."""
    if isinstance(value, dict):
        return {k: convert(v, function, of) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        items = [convert(v, function, of) for v in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return function(value) if isinstance(value, of) else value


def on_backend(value: Any, backend: str) -> Any:
    """`value` with its NumPy arrays as arrays of `backend`."""
    return convert(value, lambda x: placed(backend, x))


def _from_torch(x: Any) -> Any:
    name = backends.backend_of_type(type(x))
    return x if name in (None, "numpy") else backends.core(name).to_numpy(x)


def rows(
    backends: Sequence[str] = BACKENDS,
    where: Callable[[Case], bool] = lambda case: True,
    *,
    one_an_op: bool = False,
    rest_on: Sequence[str] = BACKENDS,
) -> list[Any]:
    """Parameters ``case, backend`` of a test that runs over the cases.

    Args:
        backends: of which those that the case holds on are taken.
        where: which cases.
        one_an_op: the property is one of the machinery around an op more than of its values:
            the first case of each op on two backends, which its name chooses; the other rows
            are left to ``make test-full``.
        rest_on: the backends on which the cases after an op's first are not left to it.
    """
    seen: set[str] = set()
    found = []
    for case in filter(where, all_cases()):
        own = [backend for backend in backends if backend in case.backends]
        first = zlib.crc32(case.op.encode())
        quick = {own[(first + i) % len(own)] for i in range(2)} if own else set()
        for backend in own:
            is_left = one_an_op and (case.op in seen or backend not in quick)
            is_left |= case.op in seen and backend not in rest_on
            marks = [pytest.mark.full] if is_left else []
            found.append(pytest.param(case, backend, id=case.on(backend), marks=marks))
        seen.add(case.op)
    return found


@cache
def all_cases() -> tuple[Case, ...]:
    """The cases of all chapters.

    Raises:
        ValueError: two cases have one name.
    """
    cases: list[Case] = []
    for module in pkgutil.iter_modules(__path__):
        cases += importlib.import_module(f"{__name__}.{module.name}").CASES
    names = [case.name for case in cases]
    twice = sorted({n for n in names if names.count(n) > 1})
    if twice:
        raise ValueError(f"cases of one op need an id each: {', '.join(twice)}")
    return tuple(cases)
