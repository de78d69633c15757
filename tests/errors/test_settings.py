"""Wrong settings of every op: all backends refuse them, with one exception type."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray import backends
from nestarray.config import BACKENDS
from nestarray.dispatch import OPS
from nestarray.errors import ArgumentError, NestarrayError
from tests.arrays import on
from tests.cases import Case, all_cases, convert, on_backend

AXES = ("axis", "axes", "axis1", "axis2", "source", "destination", "start_axis", "end_axis")

#: Wrong values of settings by annotation.
WRONG: dict[str, tuple[Any, ...]] = {
    "str": ("no such", 3),
    "int": (1.5, "a"),
    "int | None": ("a",),
    "float": ("a",),
    "float | None": ("a",),
    "Ints": ("a",),
    "Shape": ("a", 1.5),
    "Sequence[int]": ("a", 1.5),
    "DTypeLike": ("no such", 3),
    "DTypeLike | None": ("no such", 3),
}

#: Values that are not arrays.
ARRAYS: dict[str, Callable[[np.ndarray], Any]] = {
    "None": lambda x: None,
    "list": lambda x: x.tolist(),
}


def wrong_calls(case: Case) -> Iterator[tuple[str, Any, Any]]:
    """(label, positional arguments, keyword arguments), one of them wrong in each."""
    args, kwargs = case.draw("float32")
    for parameter in case.record.parameters:
        if parameter.kind is parameter.VAR_KEYWORD:
            continue
        given = case.record.signature.bind(*args, **kwargs).arguments
        name, value = parameter.name, given.get(parameter.name)
        changed: list[tuple[str, Any]] = []
        if name in AXES:
            changed = [(f"{name}={wrong!r}", wrong) for wrong in (99, "a", (0, 0))]
        elif str(parameter.annotation) in WRONG:
            wrong_values = WRONG[str(parameter.annotation)]
            changed = [(f"{name}={wrong!r}", wrong) for wrong in wrong_values]
        elif isinstance(value, np.ndarray) and value.ndim:
            changed = [(f"{name}: {label}", ARRAYS[label](value)) for label in ARRAYS]
        for label, wrong in changed:
            bound = case.record.signature.bind(*args, **kwargs)
            bound.arguments[name] = wrong
            yield label, bound.args, bound.kwargs


def refusal(case: Case, args: Any, kwargs: Any, backend: str) -> Exception | None:
    """The error of the op on a backend; None if it computes something."""
    args, kwargs = (convert(x, np.asarray, of=np.generic) for x in (args, kwargs))
    args, kwargs = on_backend(args, backend), on_backend(kwargs, backend)
    try:
        with np.errstate(all="ignore"):
            case.record.function(*args, **kwargs)
    except Exception as error:
        return error
    return None


def kind(error: Exception | None) -> str:
    """The type of our error."""
    if error is None:
        return "computes it"
    return type(error).__name__ if isinstance(error, NestarrayError) else "the framework's own"


def differences(case: Case) -> dict[str, Any]:
    """Wrong calls that NumPy refuses, and whose errors differ in type or name another function."""
    found = {}
    for label, args, kwargs in wrong_calls(case):
        first = refusal(case, args, kwargs, "numpy")
        if first is None:
            continue
        kinds = {"numpy": kind(first)}
        for backend in BACKENDS[1:]:
            kinds[backend] = kind(refusal(case, args, kwargs, backend))
        is_named = isinstance(first, NestarrayError) and str(first).startswith(f"{case.op}: ")
        if len(set(kinds.values())) > 1 or not is_named:
            found[f"{case.op} {label}"] = kinds | {"message": str(first)}
    return found


#: Chapters with slow bodies.
LONG = {
    "boxes",
    "losses",
    "margin_losses",
    "nan_reductions",
    "normalization",
    "regression_losses",
    "sequence_losses",
}


def first_cases(chapter: str) -> list[Case]:
    """The first case of each op of a chapter that runs on all backends."""
    found: dict[str, Case] = {}
    for case in all_cases():
        if case.record.chapter == chapter and set(case.backends) == set(BACKENDS):
            found.setdefault(case.op, case)
    return list(found.values())


CHAPTERS = sorted({op.chapter for op in OPS.values()})


@pytest.mark.parametrize(
    "chapter",
    [pytest.param(c, marks=[pytest.mark.full] if c in LONG else []) for c in CHAPTERS],
)
def test_wrong_settings_raise_one_type(chapter: str) -> None:
    found: dict[str, Any] = {}
    for case in first_cases(chapter):
        found |= differences(case)
    assert found == {}


@pytest.mark.parametrize(
    ("op", "setting", "value"),
    [
        ("sort", "descending", 2), ("sort", "descending", "a"),
        ("argsort", "descending", 2), ("argsort", "descending", "a"),
        ("logsumexp", "keepdims", 2), ("logsumexp", "keepdims", "a"),
        ("vector_norm", "keepdims", 2), ("vector_norm", "keepdims", "a"),
        ("leaky_relu", "negative_slope", 1j), ("elu", "alpha", 1j), ("celu", "alpha", 1j),
        ("squareplus", "b", 1j),
    ],
)  # fmt: skip
def test_wrong_flags_and_numbers(op: str, setting: str, value: Any, backend: str) -> None:
    with pytest.raises(ArgumentError, match=f"^{op}: {setting}: got {value!r}, expected"):
        getattr(na, op)(on(backend, np.ones((2, 3), np.float32)), **{setting: value})


@pytest.mark.parametrize("device", ["cpu:99", "tpu", "no such", 3])
def test_unknown_devices(device: Any, backend: str) -> None:
    have = ", ".join(backends.core(backend).devices())
    x = on(backend, np.ones((2, 3), np.float32))
    for call, name in (
        (lambda: na.zeros((2,), device=device, like=x), "zeros"),
        (lambda: na.ones_like(x, device=device), "ones_like"),
        (lambda: na.to_device(x, device), "to_device"),
    ):
        with pytest.raises(ArgumentError) as caught:
            call()
        assert str(caught.value) == f"{name}: device: got {device!r}, expected one of {have}"
