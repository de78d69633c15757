"""Cases of `nestarray.ops.activations`; the oracle is torch.nn.functional."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch
import torch.nn.functional as F

from tests.cases import Case

Rng = np.random.Generator


def real(rng: Rng) -> tuple[Any, ...]:
    """Numbers well away from 0, ±0.5, ±1, …, where derivatives jump."""
    return (rng.permutation(np.linspace(-3.9, 3.9, 12)).reshape(3, 4),)


def far(rng: Rng) -> tuple[Any, ...]:
    """Where exponentials overflow or vanish."""
    return (np.asarray([-800.0, -90.0, -30.0, 30.0, 90.0, 800.0]),)


def by_torch(function: Callable[..., Any], **settings: Any) -> Callable[..., Any]:
    """`function` of torch on the case's arrays; its settings are torch's own."""

    def reference(*arrays: Any, **_: Any) -> Any:
        return function(*map(torch.as_tensor, arrays), **settings)

    return reference


def key(rng: Rng) -> np.ndarray:
    return rng.integers(0, 2**32, 2, dtype=np.uint32)


def random_slopes(x: Any, key: Any, *, lower: float, upper: float) -> Any:
    with jax.enable_x64(True):
        slopes = jax.random.uniform(jnp.asarray(key), x.shape, x.dtype, lower, upper)
        return np.where(x > 0, x, x * np.asarray(slopes))


def squareplus(x: Any, *, b: float = 4.0) -> Any:
    return (x + np.sqrt(x**2 + b)) / 2


def softplus(x: Any, **_: Any) -> Any:
    return np.logaddexp(x, 0)


CASES = [
    Case("relu", real, reference=by_torch(F.relu)),
    Case(
        "relu6", lambda rng: (rng.permutation(np.linspace(-4, 9, 12)),), reference=by_torch(F.relu6)
    ),
    Case("leaky_relu", real, reference=by_torch(F.leaky_relu)),
    Case(
        "leaky_relu",
        real,
        {"negative_slope": 0.2},
        by_torch(F.leaky_relu, negative_slope=0.2),
        id="slope",
    ),
    Case("elu", real, reference=by_torch(F.elu)),
    Case("elu", real, {"alpha": 0.7}, by_torch(F.elu, alpha=0.7), id="alpha"),
    Case("elu", far, reference=by_torch(F.elu), id="far"),
    Case("selu", real, reference=by_torch(F.selu)),
    Case("celu", real, {"alpha": 0.7}, by_torch(F.celu, alpha=0.7)),
    Case("celu", far, reference=by_torch(F.celu), id="far"),
    Case("gelu", real, reference=by_torch(F.gelu)),
    Case("gelu", real, {"approximate": True}, by_torch(F.gelu, approximate="tanh"), id="tanh"),
    Case("silu", real, reference=by_torch(F.silu)),
    Case("softplus", real, reference=softplus),
    Case("softplus", far, reference=softplus, id="far"),
    Case("softplus", real, {"beta": 2.0}, by_torch(F.softplus, beta=2.0), id="beta"),
    Case(
        "softplus",
        real,
        {"beta": 2.0, "threshold": 1.5},
        by_torch(F.softplus, beta=2.0, threshold=1.5),
        id="threshold",
    ),
    Case("softsign", real, reference=by_torch(F.softsign)),
    Case("sigmoid", real, reference=by_torch(torch.sigmoid)),
    Case("sigmoid", far, reference=by_torch(torch.sigmoid), id="far"),
    Case("log_sigmoid", real, reference=by_torch(F.logsigmoid)),
    Case("log_sigmoid", far, reference=by_torch(F.logsigmoid), id="far"),
    Case("hard_sigmoid", real, reference=by_torch(F.hardsigmoid)),
    Case("hard_swish", real, reference=by_torch(F.hardswish)),
    Case("hard_tanh", real, reference=by_torch(F.hardtanh)),
    Case(
        "hard_tanh",
        real,
        {"min_value": -0.5, "max_value": 2.0},
        by_torch(F.hardtanh, min_val=-0.5, max_val=2.0),
        id="limits",
    ),
    Case("hard_shrink", real, reference=by_torch(F.hardshrink)),
    Case("hard_shrink", real, {"threshold": 1.5}, by_torch(F.hardshrink, lambd=1.5), id="wide"),
    Case("soft_shrink", real, reference=by_torch(F.softshrink)),
    Case("soft_shrink", real, {"threshold": 1.5}, by_torch(F.softshrink, lambd=1.5), id="wide"),
    Case("tanh_shrink", real, reference=by_torch(F.tanhshrink)),
    Case(
        "threshold",
        real,
        {"threshold": 0.5, "value": -7.0},
        by_torch(F.threshold, threshold=0.5, value=-7.0),
    ),
    Case("squareplus", real, reference=squareplus),
    Case("squareplus", real, {"b": 0.5}, squareplus, id="b"),
    Case("mish", real, reference=by_torch(F.mish)),
    Case("softmax", real, reference=by_torch(F.softmax, dim=-1)),
    Case("softmax", real, {"axis": 0}, by_torch(F.softmax, dim=0), id="axis"),
    Case("softmax", far, reference=by_torch(F.softmax, dim=-1), id="far"),
    Case(
        "softmax",
        real,
        {"axis": (0, 1)},
        lambda x, **_: torch.softmax(torch.as_tensor(x).flatten(), 0).reshape(x.shape),
        id="axes",
    ),
    Case("log_softmax", real, reference=by_torch(F.log_softmax, dim=-1)),
    Case("log_softmax", real, {"axis": 0}, by_torch(F.log_softmax, dim=0), id="axis"),
    Case("log_softmax", far, reference=by_torch(F.log_softmax, dim=-1), id="far"),
    Case(
        "log_softmax",
        real,
        {"axis": None},
        lambda x, **_: torch.log_softmax(torch.as_tensor(x).flatten(), 0).reshape(x.shape),
        id="all",
    ),
    Case("glu", real, reference=by_torch(F.glu)),
    Case(
        "glu",
        lambda rng: (rng.normal(size=(2, 4, 3)),),
        {"axis": 1},
        by_torch(F.glu, dim=1),
        id="axis",
    ),
    Case(
        "prelu",
        lambda rng: (rng.normal(size=(2, 3, 2, 2)), rng.uniform(0.1, 0.5, 3)),
        reference=by_torch(F.prelu),
    ),
    Case(
        "prelu",
        lambda rng: (rng.normal(size=(4,)), np.asarray([0.3])),
        reference=by_torch(F.prelu),
        id="one",
    ),
    Case(
        "crelu",
        real,
        {"axis": 0},
        lambda x, **_: np.maximum(np.concatenate([x, -x], axis=0), 0),
    ),
    Case("rrelu", real, reference=by_torch(F.rrelu)),
    Case(
        "rrelu",
        lambda rng: (*real(rng), key(rng)),
        {"lower": 0.25, "upper": 0.5},
        random_slopes,
        dtypes=("float64",),
        id="random",
    ),
]
