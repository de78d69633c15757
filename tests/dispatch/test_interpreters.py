"""Interpreters of values: which of several takes a call, and in which context."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray.dispatch import INTERPRETERS, Op, register_interpreter

X = np.asarray([1.0, -2.0])


class Quiet(np.ndarray):
    """An array whose calls are interpreted in some contexts."""


class Outer:
    """A value without arithmetic of its own."""


@pytest.fixture(autouse=True)
def no_more_interpreters() -> Iterator[None]:
    """Remove the interpreters of a test."""
    before = list(INTERPRETERS)
    yield
    for added in set(INTERPRETERS) - set(before):
        INTERPRETERS.remove(added)
        na.add.op.forget(added.kind)


def test_an_interpreter_takes_calls_in_its_context_only() -> None:
    is_active = ContextVar("is_active", default=False)
    calls: list[str] = []

    def note(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        calls.append(op.name)
        return op.call_native(args, kwargs)

    x = X.view(Quiet)
    na.add(x, 1.0)  # known as an array before the interpreter is
    na.add(X, 1.0)
    register_interpreter(Quiet, note, priority=0, is_active=is_active.get)
    na.add(X, 1.0)
    na.add(x, 1.0)
    assert calls == []
    known = dict(na.add.op.table[np.ndarray])
    token = is_active.set(True)
    na.add(x, 1.0)
    assert calls == ["add"]
    other = threading.Thread(target=na.add, args=(x, 1.0))
    other.start()
    other.join()
    na.add(X, 1.0)
    assert calls == ["add"]
    is_active.reset(token)
    na.add(x, 1.0)
    assert calls == ["add"]
    assert na.add.op.table[np.ndarray] == known


def test_the_interpreter_of_the_highest_priority_takes_a_call() -> None:
    register_interpreter(Outer, lambda op, args, kwargs: "low", priority=1)
    register_interpreter(Quiet, lambda op, args, kwargs: "high", priority=2)
    assert na.add(Outer(), X.view(Quiet)) == "high"
    assert na.add(Outer(), 1.0) == "low"
    assert [each.priority for each in INTERPRETERS] == sorted(
        [each.priority for each in INTERPRETERS], reverse=True
    )


def test_an_interpreter_that_is_registered_later_takes_known_types() -> None:
    x = X.view(Quiet)
    np.testing.assert_array_equal(na.add(x, 1.0), X + 1.0)
    register_interpreter(Quiet, lambda op, args, kwargs: op.name, priority=0)
    assert na.add(x, 1.0) == "add"


def test_creations_are_interpreted_in_their_context_only() -> None:
    from nestarray.dispatch import without_arrays

    with contextlib.ExitStack() as stack:
        stack.enter_context(without_arrays(lambda op, args, kwargs: "outer"))
        stack.enter_context(without_arrays(lambda op, args, kwargs: NotImplemented))
        assert na.zeros((2,)) == "outer"
        results: list[Any] = []
        other = threading.Thread(target=lambda: results.append(na.zeros((2,))))
        other.start()
        other.join()
        np.testing.assert_array_equal(results[0], np.zeros(2))
    np.testing.assert_array_equal(na.zeros((2,)), np.zeros(2))
