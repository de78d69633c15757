"""torch's own test inputs (``op_db``) for the functions that the frontend has."""

from __future__ import annotations

import inspect
import itertools
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import torch
from torch.testing._internal.common_methods_invocations import op_db

import nestarray.frontends.torch as frontend

#: Arguments about storage, which the frontend does not have.
STORAGE = {"device", "layout", "memory_format", "pin_memory", "requires_grad", "out", "generator"}


def function_of(name: str) -> Callable[..., Any] | None:
    """The frontend's function for a record's name, ``nn.functional.relu`` or ``view``."""
    for root in (frontend, frontend.Tensor):
        found: Any = root
        for part in name.split("."):
            found = getattr(found, part, None)
        if inspect.isfunction(found):
            return found
    return None


#: Records whose arguments come in an order of their own, as the public function takes them.
REORDERED: dict[str, Callable[..., tuple[Any, ...]]] = {
    "einsum": lambda operands, equation: (equation, *operands),
    "where": lambda x, condition, other: (condition, x, other),
    "nn.functional.embedding": lambda weight, indices: (indices, weight),
    "polygamma": lambda x, n: (n, x),
    "special.polygamma": lambda x, n: (n, x),
}


@cache
def records() -> dict[str, Any]:
    """Name → the OpInfo of each function that the frontend has and that is not random."""
    found: dict[str, Any] = {}
    for info in op_db:
        function = function_of(info.name)
        if function is None or "key" in _keywords(function):
            continue
        name = info.name + (f"-{info.variant_test_name}" if info.variant_test_name else "")
        found[name] = info
    return found


def _keywords(function: Callable[..., Any]) -> set[str]:
    parameters = inspect.signature(function).parameters.values()
    return {p.name for p in parameters if p.kind is p.KEYWORD_ONLY}


def samples(info: Any, dtype: torch.dtype, limit: int | None) -> Iterator[Any]:
    """(args, kwargs) as upstream takes them."""
    drawn = info.sample_inputs("cpu", dtype, requires_grad=False)
    for sample in itertools.islice(drawn, limit):
        kwargs = {k: v for k, v in sample.kwargs.items() if k not in STORAGE}
        args = (sample.input, *sample.args)
        if kwargs.get("dropout_p"):  # random: another function with a key
            continue
        if info.name == "nn.functional.grid_sample" and (
            kwargs.get("mode") == "bicubic" or sample.input.ndim == 5
        ):
            continue  # na.grid_sample has neither, and says so
        yield REORDERED.get(info.name, lambda *a: a)(*args), kwargs


def expected(info: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """torch's result."""
    operation = {
        "einsum": torch.einsum,
        "where": torch.where,
        "nn.functional.embedding": torch.nn.functional.embedding,
        "polygamma": torch.polygamma,
        "special.polygamma": torch.special.polygamma,
    }.get(info.name, info.op)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's notes on its own interface
        return operation(*args, **kwargs)
