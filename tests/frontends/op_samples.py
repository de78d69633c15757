"""torch's own test inputs (``op_db``) for the functions that the frontend has."""

from __future__ import annotations

import functools
import inspect
import itertools
import random
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from torch.testing._internal import common_utils
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo import core

import nestarray.frontends.torch as frontend
from nestarray.frontends.torch import vocabulary


def _seed(seed: int | None = None) -> None:
    chosen = common_utils.SEED if seed is None else seed
    torch.default_generator.manual_seed(chosen)
    random.seed(chosen)
    np.random.seed(chosen)


# Before each sample upstream looks for a unittest on the stack and seeds all devices, and reads
# the source of every frame three times for it: most of the time of a small test.
common_utils.extract_test_fn = core.extract_test_fn = lambda: None
common_utils.set_rng_seed = _seed

#: Arguments about storage, which the frontend does not have.
STORAGE = {"device", "layout", "memory_format", "pin_memory", "requires_grad", "out", "generator"}


def function_of(info: Any) -> Callable[..., Any] | None:
    """The frontend's function for a record, ``nn.functional.relu`` or ``view``.

    An ATen operation without a function of its name is called as the importer calls it.
    """
    name = info.name.removeprefix("torch.ops.aten.").removesuffix(".default")
    for root in (frontend, frontend.Tensor, frontend.ops.aten):
        found: Any = root
        for part in name.split("."):
            found = getattr(found, part, None)
        if inspect.isfunction(found):
            return found
    operation = info.op
    if not isinstance(operation, (torch._ops.OpOverloadPacket, torch._ops.OpOverload)):
        operation = getattr(torch.ops.aten, name, None)
    if isinstance(operation, torch._ops.OpOverloadPacket):
        operation = operation.default
    if not isinstance(operation, torch._ops.OpOverload):
        return None
    rule = vocabulary.find(operation)
    return None if rule is None else _through_rule(rule, operation)


def _through_rule(rule: vocabulary.Rule, operation: torch._ops.OpOverload) -> Callable[..., Any]:
    names = [argument.name for argument in operation._schema.arguments]

    @functools.wraps(rule.function)
    def call(*args: Any, **kwargs: Any) -> Any:
        bound = rule.call(dict(zip(names, args)) | kwargs)
        return bound.function(*bound.args, **bound.kwargs)

    return call


#: Records whose arguments come in another order than the public function's.
REORDERED: dict[str, Callable[..., tuple[Any, ...]]] = {
    "einsum": lambda operands, equation: (equation, *operands),
    "where": lambda x, condition, other: (condition, x, other),
    "nn.functional.embedding": lambda weight, indices: (indices, weight),
    "nn.functional.embedding_bag": lambda weight, indices, *more: (indices, weight, *more),
    "polygamma": lambda x, n: (n, x),
    "special.polygamma": lambda x, n: (n, x),
}


@cache
def records() -> dict[str, Any]:
    """Name → the OpInfo of each function that the frontend has and that is not random."""
    found: dict[str, Any] = {}
    for info in op_db:
        function = function_of(info)
        if function is None or "key" in _keywords(function):
            continue
        found[_full_name(info)] = info
    return found


def _keywords(function: Callable[..., Any]) -> set[str]:
    parameters = inspect.signature(function).parameters.values()
    return {p.name for p in parameters if p.kind is p.KEYWORD_ONLY}


def samples(
    info: Any, dtype: torch.dtype, limit: int | None, *, requires_grad: bool = False
) -> Iterator[Any]:
    """(args, kwargs) as upstream takes them."""
    drawn = info.sample_inputs("cpu", dtype, requires_grad=requires_grad)
    for sample in itertools.islice(drawn, limit):
        kwargs = {k: v for k, v in sample.kwargs.items() if k not in STORAGE}
        args = (sample.input, *sample.args)
        if kwargs.get("dropout_p"):  # random: another function with a key
            continue
        if info.name == "nn.functional.multi_head_attention_forward" and args[10]:
            continue  # dropout, which needs a key
        if kwargs.get("output_size") and kwargs.get("scales_h"):
            continue  # a size and factors that contradict each other
        yield REORDERED.get(info.name, lambda *a: a)(*args), kwargs


def on_one_backend(names: Sequence[str], backends: Sequence[str], every: int = 1) -> list[Any]:
    """Parameters (name, backend): each `every`-th function on one backend, which its name chooses.

    ``make test-full`` takes all functions on all backends.
    """
    found = []
    for name in names:
        number = zlib.crc32(name.encode())
        for i, backend in enumerate(backends):
            is_chosen = number % every == 0 and (number // every) % len(backends) == i
            marks = [] if is_chosen else [pytest.mark.full]
            found.append(pytest.param(name, backend, id=f"{backend}-{name}", marks=marks))
    return found


def _by_scipy(name: str) -> Callable[[torch.Tensor], torch.Tensor]:
    def function(x: torch.Tensor) -> torch.Tensor:
        import scipy.special

        wide = x.double().numpy()
        found = (
            scipy.special.airy(wide)[0] if name == "airy" else getattr(scipy.special, name)(wide)
        )
        return torch.as_tensor(found).to(x.dtype if x.is_floating_point() else torch.float32)

    return function


def _trigamma_at_integers(n: int, x: torch.Tensor) -> torch.Tensor:
    """torch.polygamma; upstream's 1 / sin² is finite where integers have their poles."""
    if n != 1 or x.is_floating_point():
        return torch.polygamma(n, x)
    import scipy.special

    return torch.as_tensor(scipy.special.polygamma(n, x.double().numpy())).float()


def _by_single_precision(function: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    def call(x: torch.Tensor) -> torch.Tensor:
        return function(x.float()).to(x.dtype) if x.itemsize == 2 else function(x)

    return call


#: Record → whose result it is compared with, and why.
ORACLES_INSTEAD = {
    **dict.fromkeys(
        (
            "special.airy_ai", "special.bessel_j0", "special.bessel_j1", "special.bessel_y0",
            "special.bessel_y1",
        ),
        "SciPy's: upstream's lose half of the digits, or more",
    ),
    "matrix_exp": "half precision with upstream's float32: its own is NaN",
    "polygamma": "trigamma of integers with SciPy's: upstream's poles are finite",
    "special.polygamma": "trigamma of integers with SciPy's: upstream's poles are finite",
}  # fmt: skip

#: Records whose results are another's: upstream's own lose half of the digits, or more.
ORACLES: dict[str, Callable[..., Any]] = {
    "matrix_exp": _by_single_precision(torch.matrix_exp),  # NaN in half precision
    "polygamma": _trigamma_at_integers,
    "special.polygamma": _trigamma_at_integers,
    "special.airy_ai": _by_scipy("airy"),
    "special.bessel_j0": _by_scipy("j0"),
    "special.bessel_j1": _by_scipy("j1"),
    "special.bessel_y0": _by_scipy("y0"),
    "special.bessel_y1": _by_scipy("y1"),
}


def expected(info: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """torch's result, or a more accurate oracle's."""
    operation = {
        "einsum": torch.einsum,
        "where": torch.where,
        "nn.functional.embedding": torch.nn.functional.embedding,
        "nn.functional.embedding_bag": torch.nn.functional.embedding_bag,
        **ORACLES,
    }.get(info.name, info.op)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's notes on its own interface
        return operation(*args, **kwargs)


#: Records that the frontend has no function for, and why.
WITHOUT_FUNCTION = {
    "_batch_norm_with_update": "writes its statistics; `_native_batch_norm_legit_functional` gives new ones",
    "resize_": "changes an array in place",
    "resize_as_": "changes an array in place",
    "zero_": "changes an array in place",
    "to_sparse": "sparse",
    "sparse.sampled_addmm": "sparse",
    "sparse.mm-reduce": "sparse",
    "torch._scaled_mm": "quantized: products of 8-bit floats with scales",
    "torch._scaled_mm_v2": "quantized: products of 8-bit floats with scales",
    "torch.ops.aten._flash_attention_forward": "a kernel of CUDA; `scaled_dot_product_attention`",
    "torch.ops.aten._efficient_attention_forward": "a kernel of CUDA; `scaled_dot_product_attention`",
    "torch.ops.aten._scaled_dot_product_flash_attention_for_cpu": "a kernel; `scaled_dot_product_attention`",
    "chalf": "complex32 is not supported",
    **dict.fromkeys(
        (
            "jiterator_unary", "jiterator_binary", "jiterator_4inputs_with_extra_args",
            "jiterator_binary_return_by_ref", "jiterator_2inputs_2outputs",
        ),
        "compiles code of CUDA from a string",
    ),
}  # fmt: skip


def names_without_function() -> set[str]:
    """The records that the frontend has no function for."""
    return {_full_name(info) for info in op_db if function_of(info) is None}


def _full_name(info: Any) -> str:
    return info.name + (f"-{info.variant_test_name}" if info.variant_test_name else "")
