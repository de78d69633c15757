"""What NumPy refuses, all refuse: one type and one text for each wrong argument of each op."""

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
}

#: What stands for an array and is none.
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
    """What the op raises on a backend; None: it computes something."""
    args, kwargs = (convert(x, np.asarray, of=np.generic) for x in (args, kwargs))
    args, kwargs = on_backend(args, backend), on_backend(kwargs, backend)
    try:
        with np.errstate(all="ignore"):
            case.record.function(*args, **kwargs)
    except Exception as error:
        return error
    return None


def text(error: Exception | None, backend: str) -> str:
    """Type and message; a dtype without a kernel names the backend."""
    if error is None:
        return "computes it"
    kind = type(error).__name__ if isinstance(error, NestarrayError) else "the framework's own"
    return f"{kind}: {error}".replace(f": {backend} cannot compute", ": … cannot compute")


def differences(case: Case) -> dict[str, dict[str, str]]:
    """Wrong calls that NumPy refuses and whose refusals differ, or are a framework's own."""
    found = {}
    for label, args, kwargs in wrong_calls(case):
        first = refusal(case, args, kwargs, "numpy")
        if first is None:
            continue
        texts = {"numpy": text(first, "numpy")}
        for backend in BACKENDS[1:]:
            texts[backend] = text(refusal(case, args, kwargs, backend), backend)
        if len(set(texts.values())) > 1 or not isinstance(first, NestarrayError):
            found[f"{case.op} {label}"] = texts
    return found


#: Chapters whose bodies run long before they meet what is wrong.
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
    """The first case on all backends of each op of a chapter."""
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
def test_settings_are_refused_alike(chapter: str) -> None:
    found: dict[str, Any] = {}
    for case in first_cases(chapter):
        found |= differences(case)
    assert found == {}


@pytest.mark.parametrize("op", ["sort", "argsort"])
@pytest.mark.parametrize("flag", [2, "a"])
def test_orders_are_true_or_false(op: str, flag: Any, backend: str) -> None:
    x = backends.core(backend).from_numpy(np.ones((2, 3), np.float32))
    with pytest.raises(
        ArgumentError, match=f"{op}: descending: got {flag!r}, expected True or Fal"
    ):
        getattr(na, op)(x, descending=flag)


@pytest.mark.parametrize("op", ["logsumexp", "vector_norm"])
@pytest.mark.parametrize("flag", [2, "a"])
def test_kept_axes_are_true_or_false(op: str, flag: Any, backend: str) -> None:
    x = backends.core(backend).from_numpy(np.ones((2, 3), np.float32))
    with pytest.raises(ArgumentError, match=f"{op}: keepdims: got {flag!r}, expected True or Fals"):
        getattr(na, op)(x, keepdims=flag)


@pytest.mark.parametrize(
    ("op", "setting"),
    [("leaky_relu", "negative_slope"), ("elu", "alpha"), ("celu", "alpha"), ("squareplus", "b")],
)
def test_settings_of_activations_are_real(op: str, setting: str, backend: str) -> None:
    x = backends.core(backend).from_numpy(np.ones((2, 3), np.float32))
    with pytest.raises(ArgumentError, match=f"{op}: {setting}: got 1j, expected a real number"):
        getattr(na, op)(x, **{setting: 1j})
