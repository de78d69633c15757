"""Functions of torch that read values, replaced by formulas that can be exported.

``torch.cov`` checks its weights, ``one_hot`` reads the largest index and ``lstsq`` the rank,
``nn.Transformer`` checks for causal masks, ``combinations`` selects by a mask, and ``equal``
returns a Python bool. The exporter has no values and stops at each. The formulas need no values,
or take them as numbers of the graph, like all data-dependent sizes.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils._pytree import tree_map

from nestarray.errors import ConversionError
from nestarray.importers.workarounds import Workaround, always


def _is_declared_causal(mask: Any, is_causal: bool | None = None, size: Any = None) -> bool:
    """Whether the caller declares a mask as causal; torch uses it only to select a kernel."""
    return is_causal is True


def _cov(x: Any, *, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Any:
    rows = torch.atleast_2d(x)
    if not (rows.is_floating_point() or rows.is_complex()):
        rows = rows.to(torch.get_default_dtype())
    weights = [w for w in (fweights, aweights) if w is not None]
    if not weights:
        deviations = rows - rows.mean(1, keepdim=True)
        freedom = max(rows.shape[1] - correction, 0)
        return (deviations @ deviations.mH / freedom).squeeze()
    weight: Any = math.prod(weights)
    total = weight.sum()
    deviations = rows - (rows * weight).sum(1, keepdim=True) / total
    lost = correction if aweights is None else correction * (weight * aweights).sum() / total
    freedom = (total - lost).clamp(min=0)
    return ((deviations * weight).to(rows.dtype) @ deviations.mH / freedom).squeeze()


def _corrcoef(x: Any) -> Any:
    covariance = _cov(x)
    if covariance.ndim == 0:
        return covariance / covariance
    scale = covariance.diagonal().sqrt()
    covariance = covariance / scale[:, None] / scale[None, :]
    if covariance.is_complex():
        return torch.complex(covariance.real.clip(-1, 1), covariance.imag.clip(-1, 1))
    return covariance.clip(-1, 1)


def _equal(x: Any, other: Any) -> Any:
    return x.shape == other.shape and (x == other).all().item()


def _allclose(
    x: Any, other: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Any:
    return x.isclose(other, rtol, atol, equal_nan).all().item()


def _one_hot(trace: Any, native: Callable[..., Any]) -> Callable[..., Any]:
    def one_hot(tensor: Any, num_classes: int = -1) -> Any:
        if not (isinstance(num_classes, int) and num_classes == -1):
            return native(tensor, num_classes)
        classes = (tensor.max() + 1).item()
        torch._check(classes >= 0)
        return (tensor.unsqueeze(-1) == torch.arange(classes, device=tensor.device)).long()

    return one_hot


def _combinations(trace: Any, native: Callable[..., Any]) -> Callable[..., Any]:
    def combinations(input: Any, r: int = 2, with_replacement: bool = False) -> Any:
        if not isinstance(input.shape[0], int):
            return native(input, r, with_replacement)
        draw = (
            itertools.combinations_with_replacement if with_replacement else itertools.combinations
        )
        places = list(draw(range(input.shape[0]), r))
        return input[torch.tensor(places, dtype=torch.int64, device=input.device).reshape(-1, r)]

    return combinations


def _lstsq(A: Any, B: Any, rcond: float | None = None, *, driver: str | None = None) -> Any:
    vectors = B.ndim == 1 or (A.ndim - 1 == B.ndim and A.shape[:-1] == B.shape)
    solution = torch.linalg.pinv(A, rtol=rcond) @ (B.unsqueeze(-1) if vectors else B)
    return _LeastSquares(solution.squeeze(-1) if vectors else solution)


class _LeastSquares(tuple):
    """The result of ``lstsq``; only the solution has a size that does not depend on values."""

    def __new__(cls, solution: Any) -> _LeastSquares:
        return super().__new__(cls, (solution,))

    @property
    def solution(self) -> Any:
        return self[0]

    def __getattr__(self, name: str) -> Any:
        if name not in ("residuals", "rank", "singular_values"):
            raise AttributeError(name)
        raise _refusal(f".{name}")

    def __iter__(self) -> Iterator[Any]:
        raise _refusal(" as a tuple")


def _resize_as(x: Any, like: Any, **settings: Any) -> Any:
    return x.resize_(like.shape, **settings)


def _refusal(what: str) -> ConversionError:
    return ConversionError(
        f"trace_graph: torch.linalg.lstsq(A, B){what}: values decide which of its results are empty; "
        "take .solution, and compute the others from it: (A @ x - B).square().sum(-2), "
        "torch.linalg.matrix_rank(A), torch.linalg.svdvals(A)"
    )


def _linearize(function: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """The linearization at `primals`; as in torch, gradients reach only the tangents."""

    def pushed(*tangents: Any) -> Any:
        def derivative(tangents: Any) -> Any:
            return torch.func.jvp(function, primals, tangents)[1]

        value = derivative(tangents)
        # zero tangents, so that derivatives with respect to other values are zero
        slope = derivative(tree_map(lambda t: t - t.detach(), tangents))
        return tree_map(lambda y, dy: y.detach() + dy, value, slope)

    return function(*primals), pushed


DATA_DEPENDENT = Workaround(
    "functions that read values",
    "one_hot, cov, lstsq, equal and others read values, which an export does not have",
    issue="pytorch#145970, pytorch#114353",
    functions={
        **dict.fromkeys(("torch.cov", "torch.Tensor.cov"), always(_cov)),
        **dict.fromkeys(("torch.corrcoef", "torch.Tensor.corrcoef"), always(_corrcoef)),
        **dict.fromkeys(("torch.equal", "torch.Tensor.equal"), always(_equal)),
        **dict.fromkeys(("torch.allclose", "torch.Tensor.allclose"), always(_allclose)),
        "torch.nn.functional.one_hot": _one_hot,
        "torch.combinations": _combinations,
        "torch.linalg.lstsq": always(_lstsq),
        "torch.Tensor.resize_as_": always(_resize_as),
    },
)
PYTHON_FUNCTIONS = Workaround(
    "Python functions that read values",
    "torch.func.linearize and the causal masks of nn.Transformer read values",
    attributes={
        "torch.func.linearize": always(_linearize),
        "torch.nn.modules.transformer._detect_is_causal_mask": always(_is_declared_causal),
    },
)
