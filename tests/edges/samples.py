"""Variants of the inputs of torch's own tests (`op_db`): what PyTorch's frontend and torch give."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.utils import _pytree

from tests.edges.variants import VARIANTS
from tests.frontends import test_torch_functions as functions
from tests.frontends.compare import to_backend
from tests.frontends.op_samples import expected, function_of, records, samples

#: How many inputs of a record are compared.
_COUNT = 4
#: Records of which only the first result is compared: the others name one of equal elements.
_FIRST = functions.TIES - {"argsort"}
#: Records that are not compared: factors up to signs, and results without values.
_LEFT_OUT = functions.UNDEFINED | functions.FACTORS | {"argsort", "linalg.eigvals"}
#: Upstream's loops over the degree do not end, which is one of the arrays.
_ENDLESS = "_polynomial_"


@dataclass(frozen=True)
class Sample:
    """A call with the inputs of a record; the members are those of `tests.edges.frontends.Call`."""

    record: str
    number: int
    args: Any
    framework: str = "torch"

    @property
    def name(self) -> str:
        """The record and the number of its input."""
        return f"torch: {self.record}({self.number})"

    @property
    def functions(self) -> list[str]:
        """The function that is called."""
        return [records()[self.record].name]

    def variant(self, name: str) -> list[np.ndarray] | None:
        """The arrays in a variant; None if none changes, or if it is not compared."""
        if name == "integers":  # sizes and positions
            return None
        if _ENDLESS in self.record and name not in ("empty", "reversed", "small"):
            return None
        arrays = [_host(x) for x in _tensors(self.args)]
        if name == "empty" and len(arrays) != 1:
            return None
        rng = np.random.default_rng(len(name))
        changed = [VARIANTS[name](x, rng) for x in arrays]
        pairs = zip(changed, arrays, strict=True)
        are_equal = all(x.shape == y.shape and x.tobytes() == y.tobytes() for x, y in pairs)
        return None if are_equal else changed

    def results(self, arrays: list[np.ndarray], backend: str | None) -> Any:
        """The result of the frontend on a backend; None: of torch."""
        info = records()[self.record]
        args, kwargs = _with_arrays(self.args, arrays)
        if backend is None:
            found = expected(info, args, kwargs)
        else:
            function = function_of(info)
            assert function is not None
            found = function(*to_backend(args, backend), **to_backend(kwargs, backend))
        if info.name in _FIRST and isinstance(found, tuple):
            return found[0]
        return tuple(found)[:2] if info.name == "linalg.lstsq" else found


def torch_samples(every: int) -> list[Sample]:
    """Calls of each `every`-th record."""
    names = sorted(set(records()) - set(functions.LEFT_OUT))
    return [call for name in names[::every] for call in _samples_of(name)]


def _samples_of(name: str) -> Iterator[Sample]:
    info = records()[name]
    if info.name in _LEFT_OUT or not info.supports_dtype(torch.float64, "cpu"):
        return
    torch.manual_seed(0)
    for number, sample in enumerate(samples(info, torch.float64, _COUNT)):
        yield Sample(name, number, sample)


def _tensors(nest: Any) -> list[torch.Tensor]:
    return [x for x in _pytree.tree_leaves(nest) if isinstance(x, torch.Tensor)]


def _host(x: torch.Tensor) -> np.ndarray:
    return x.detach().resolve_conj().resolve_neg().numpy()


def _with_arrays(nest: Any, arrays: list[np.ndarray]) -> Any:
    rest = iter(arrays)
    take = lambda _: torch.from_numpy(np.array(next(rest)))  # noqa: E731
    return _pytree.tree_map_only(torch.Tensor, take, nest)
