"""What stands in the place of parts of torch is gone when a trace has ended."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from nestarray.importers.torch.patching import patched


class Base:
    def value(self) -> int:
        return 1


class Derived(Base):
    pass


def test_what_was_there_is_there_again() -> None:
    functions: Any = torch._VF  # which finds them by its __getattr__
    lstm = functions.lstm
    places = (torch, "tanh", len), (Derived, "value", lambda self: 2), (functions, "lstm", len)
    before = torch.tanh

    def failing() -> None:
        with patched(*places):
            assert (torch.tanh, functions.lstm, Derived().value()) == (len, len, 2)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        failing()
    assert (torch.tanh, functions.lstm, Derived().value()) == (before, lstm, 1)
    assert vars(Derived).keys().isdisjoint(["value"])
    assert vars(functions).keys().isdisjoint(["lstm"])


def test_replacements_nest() -> None:
    with patched((Base, "value", lambda self: 2)):
        with patched((Base, "value", lambda self: 3)):
            assert Base().value() == 3
        assert Base().value() == 2
    assert Base().value() == 1
