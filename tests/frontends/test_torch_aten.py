"""Every rule of the vocabulary against its ATen operation."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import jax
import pytest
import torch

import nestarray as na
from nestarray.frontends.rules import Call
from nestarray.frontends.torch import vocabulary
from tests.frontends import aten_cases
from tests.frontends.compare import assert_same, to_backend

EXACT = [(name, i) for name, cases in aten_cases.EXACT.items() for i in range(len(cases))]
SHAPES = [(name, i) for name, cases in aten_cases.UNDEFINED.items() for i in range(len(cases))]
RANDOM = [(name, i) for name, cases in aten_cases.RANDOM.items() for i in range(len(cases))]


def _operation(name: str) -> Any:
    library, base, overload = name.split(".")
    if library == "transformers":
        importlib.import_module("transformers.integrations.moe")
        if not hasattr(torch.ops.transformers, base):
            pytest.skip(f"this release of transformers has no {base}")
    return getattr(getattr(getattr(torch.ops, library), base), overload)


def _schema_args(operation: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    return dict(zip((a.name for a in operation._schema.arguments), args)) | kwargs


def _run(call: Call, backend: str) -> Any:
    kwargs = call.kwargs
    if call.is_random:
        kwargs = {**kwargs, "key": na.random.key(0, backend=backend)}
    with na.use_backend(backend):
        return call.function(*call.args, **kwargs)


def _check(name: str, case: Any, backend: str, *, values: bool = True) -> Call:
    operation = _operation(name)
    args, kwargs = case(aten_cases.Draw())
    expected = operation(*args, **kwargs)
    named = _schema_args(operation, args, kwargs)
    rule = vocabulary.find(operation, named)
    assert rule is not None, f"no rule for {name}"
    with jax.enable_x64(True):
        call = rule.call(to_backend(named, backend))
        assert_same(_run(call, backend), expected, backend, values=values)
    return call


@pytest.mark.release("name")
@pytest.mark.one_in(32)
@pytest.mark.parametrize(("name", "number"), EXACT)
def test_a_rule_computes_what_the_operation_computes(name: str, number: int, backend: str) -> None:
    call = _check(name, aten_cases.EXACT[name][number], backend)
    assert not call.is_random


@pytest.mark.parametrize(("name", "number"), SHAPES)
def test_undefined_elements_have_shape_and_dtype(name: str, number: int, backend: str) -> None:
    _check(name, aten_cases.UNDEFINED[name][number], backend, values=False)


@pytest.mark.parametrize(("name", "number"), RANDOM)
def test_random_operations_have_shape_and_dtype(name: str, number: int, backend: str) -> None:
    call = _check(name, aten_cases.RANDOM[name][number], backend, values=False)
    assert call.is_random


@pytest.mark.parametrize("name", sorted(aten_cases.EXACT | aten_cases.RANDOM))
def test_a_rule_names_an_importable_function(name: str) -> None:
    rule = vocabulary.find(_operation(name))
    assert rule is not None
    found: Any = importlib.import_module("nestarray.frontends.torch")
    for part in rule.name.split(".")[1:]:
        found = getattr(found, part)
    assert found is rule.function
    module = sys.modules[rule.function.__module__]
    assert getattr(module, rule.function.__name__) is rule.function
