"""Every op acts on Containers leaf by leaf, on every backend."""

from __future__ import annotations

from typing import Any

import pytest

from nestarray.container import Container
from nestarray.testing import assert_close
from tests.cases import EXHAUSTIVE, Case, on_backend, rows

pytestmark = pytest.mark.one_in(4)


def has_arrays(case: Case) -> bool:
    args, kwargs = case.draw(case.dtypes[0])
    return bool(positions(case, args, kwargs))


def positions(case: Case, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[str]:
    """The array parameters that got an array or a list of arrays."""
    given = case.record.arrays(args, kwargs)
    return [name for name, value in given.items() if _is_array(value)]


def _is_array(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return bool(value) and all(hasattr(v, "dtype") for v in value)
    return hasattr(value, "dtype")


#: The chapters that take the quick ways of trees on JAX; the others cost a compilation each.
ON_JAX = ("elementwise", "logic", "transcendental", "activations", "statistical", "manipulation")


def is_quick(row: Any) -> bool:
    """Whether a row is part of ``make test``."""
    case, backend = row.values
    return EXHAUSTIVE or backend != "jax" or case.record.chapter in ON_JAX


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize(
    ("case", "backend"), list(filter(is_quick, rows(where=has_arrays, one_an_op=True)))
)
def test_container_is_leaf_by_leaf(case: Case, backend: str) -> None:
    args, kwargs = on_backend(case.draw(case.dtypes[0]), backend)
    names = positions(case, args, kwargs)
    bound = case.record.signature.bind(*args, **kwargs)
    for name in names:
        bound.arguments[name] = _wrapped(bound.arguments[name])
    actual = case.record.function(*bound.args, **bound.kwargs)
    expected = case.record.function(*args, **kwargs)
    if isinstance(expected, (list, tuple)):
        assert len(actual) == len(expected)
        assert_close(list(actual), [_wrapped(e) for e in expected])
    else:
        assert_close(actual, _wrapped(expected))


def _wrapped(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(_wrapped(v) for v in value)
    return Container(a=value, b={"c": value})
