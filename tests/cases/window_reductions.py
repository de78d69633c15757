"""Cases of `nestarray.ops.window_reductions`; the oracles are torch.nn.functional and jax.lax."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch
import torch.nn.functional as F
from jax import lax

from tests.cases import Case

Rng = np.random.Generator
Draw = Callable[[Rng], tuple[Any, ...]]


def apart(*shape: int) -> Draw:
    """Elements far enough apart that a small step does not change their order."""
    return lambda rng: (rng.permutation(np.prod(shape)).reshape(shape) / 8 - 2.05,)


def lp_pool(
    x: Any, *, ord: float = 2.0, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
) -> Any:
    pool = (F.lp_pool1d, F.lp_pool2d, F.lp_pool3d)[x.ndim - 3]
    size = torch.as_tensor(np.abs(x))  # torch's odd powers keep the sign
    return pool(size, ord, kernel_size, stride, ceil_mode)


def with_indices(x: Any, **settings: Any) -> Any:
    pool = (F.max_pool1d, F.max_pool2d, F.max_pool3d)[x.ndim - 3]
    return tuple(pool(torch.as_tensor(x), return_indices=True, **settings))


def pooled(*shape: int, **settings: Any) -> Draw:
    """Maxima and where they stood; no two windows share one."""

    def draw(rng: Rng) -> tuple[Any, ...]:
        values, indices = with_indices(apart(*shape)(rng)[0], **settings)
        return values.numpy(), indices.numpy()

    return draw


def max_unpool(x: Any, indices: Any, *, output_size: Any = None, **settings: Any) -> Any:
    function = (F.max_unpool1d, F.max_unpool2d, F.max_unpool3d)[x.ndim - 3]
    arrays = torch.as_tensor(x), torch.as_tensor(indices)
    return function(*arrays, output_size=output_size, **settings)


def random(*shape: int) -> Draw:
    return lambda rng: (*apart(*shape)(rng), rng.integers(0, 2**32, 2, dtype=np.uint32))


def fractional(x: Any, key: Any, **settings: Any) -> Any:
    with jax.enable_x64(True):
        shape = (*x.shape[:2], x.ndim - 2)
        samples = np.array(jax.random.uniform(jnp.asarray(key), shape, "float64"))
    if x.ndim == 3:  # torch pools rows of an image of height 1
        settings = {name: (1, n) for name, n in settings.items()}
        samples = np.repeat(samples, 2, axis=-1)
        return fractional_of(x[:, :, None], samples, settings)[:, :, 0]
    return fractional_of(x, samples, settings)


def fractional_of(x: Any, samples: Any, settings: Any) -> Any:
    return (F.fractional_max_pool2d, F.fractional_max_pool3d)[x.ndim - 4](
        torch.as_tensor(x), _random_samples=torch.as_tensor(samples), **settings
    )


def reduce_window(
    x: Any, *, computation: str, window: Any, strides: Any = None, padding: Any = "valid",
    base_dilation: Any = None, window_dilation: Any = None, init: Any = None,
) -> Any:  # fmt: skip
    function, neutral = {
        "add": (lax.add, 0.0),
        "mul": (lax.mul, 1.0),
        "max": (lax.max, -np.inf),
        "min": (lax.min, np.inf),
    }[computation]
    if x.dtype.kind != "f":
        neutral = np.iinfo(x.dtype).max
    start = np.asarray(neutral if init is None else init, x.dtype)
    pads = padding.upper() if isinstance(padding, str) else padding
    with jax.enable_x64(True):
        strides = strides or (1,) * x.ndim
        return np.asarray(
            lax.reduce_window(
                jnp.asarray(x),
                start,
                function,
                window,
                strides,
                pads,
                base_dilation,
                window_dilation,
            )
        )


CASES = [
    Case("lp_pool", apart(2, 3, 5, 4), {"kernel_size": (3, 2), "stride": 1}, lp_pool),
    Case("lp_pool", apart(2, 1, 6), {"kernel_size": 2, "ord": 3.0}, lp_pool, id="cubes"),
    Case(
        "lp_pool",
        apart(1, 1, 2, 2, 4),
        {"kernel_size": 2, "ord": np.inf},
        lambda x, **_: F.max_pool3d(torch.as_tensor(np.abs(x)), 2),
        id="largest",
    ),
    Case(
        "lp_pool",
        apart(2, 1, 5, 7),
        {"kernel_size": (2, 3), "ceil_mode": True},
        lp_pool,
        id="ceil",
    ),
    Case(
        "lp_pool",
        apart(1, 2, 6),
        {"kernel_size": 3, "stride": 2, "ord": 1.0, "ceil_mode": True},
        lp_pool,
        id="ceil-sums",
    ),
    Case(
        "lp_pool",
        apart(1, 2, 6),
        {"kernel_size": 8, "stride": 8, "ceil_mode": True},
        lp_pool,
        id="ceil-larger",
    ),
    Case(
        "lp_pool",
        apart(1, 2, 6),
        {"kernel_size": 4, "ord": np.inf, "ceil_mode": True},
        lambda x, **_: F.max_pool1d(torch.as_tensor(np.abs(x)), 4, ceil_mode=True),
        id="ceil-largest",
    ),
    Case("max_pool_with_indices", apart(2, 1, 5, 4), {"kernel_size": 2}, with_indices),
    Case(
        "max_pool_with_indices",
        apart(1, 2, 7),
        {"kernel_size": 3, "stride": 2, "padding": 1, "dilation": 2, "ceil_mode": True},
        with_indices,
        id="settings",
    ),
    Case(
        "max_pool_with_indices",
        lambda rng: (rng.integers(-9, -1, (1, 2, 3, 4, 2)).astype("int32"),),
        {"kernel_size": (1, 2, 2), "padding": (0, 1, 0)},
        lambda x, **s: tuple(
            y.astype(x.dtype) if i == 0 else y
            for i, y in enumerate(t.numpy() for t in with_indices(x.astype("float64"), **s))
        ),
        differentiable=False,
        id="integers",
    ),
    Case(
        "max_pool_with_indices",
        lambda rng: (np.asarray([[[np.nan, 1, np.nan, 0, -np.inf, -np.inf, -np.inf]]]),),
        {"kernel_size": 3, "stride": 1, "padding": 1},
        with_indices,
        differentiable=False,
        id="nan",
    ),
    Case("max_unpool", pooled(2, 1, 4, 6, kernel_size=2), {"kernel_size": 2}, max_unpool),
    Case(
        "max_unpool",
        pooled(1, 2, 7, kernel_size=2, stride=2),
        {"kernel_size": 2, "stride": 2, "output_size": (7,)},
        max_unpool,
        id="size",
    ),
    Case(
        "fractional_max_pool1d",
        random(2, 3, 9),
        {"kernel_size": 3, "output_size": 4},
        fractional,
        dtypes=("float64",),
    ),
    Case(
        "fractional_max_pool2d",
        random(2, 2, 7, 6),
        {"kernel_size": (2, 3), "output_size": (4, 3)},
        fractional,
        dtypes=("float64",),
    ),
    Case(
        "fractional_max_pool3d",
        random(2, 2, 7, 6, 5),
        {"kernel_size": (2, 3, 2), "output_size": (4, 3, 2)},
        fractional,
        dtypes=("float64",),
    ),
    Case(
        "reduce_window",
        apart(2, 4, 5),
        {"computation": "add", "window": (1, 2, 3), "strides": (1, 2, 1), "padding": "same"},
        reduce_window,
    ),
    Case(
        "reduce_window",
        apart(4, 5),
        {
            "computation": "mul",
            "window": (2, 2),
            "padding": ((1, 0), (0, 2)),
            "init": 0.5,
            "window_dilation": (1, 2),
        },
        reduce_window,
        id="init",
    ),
    Case(
        "reduce_window",
        lambda rng: (rng.integers(-9, 9, 6).astype("int32"),),
        {"computation": "min", "window": (3,), "padding": ((1, 1),)},
        reduce_window,
        differentiable=False,
        id="integers",
    ),
    *(
        Case(
            "reduce_window",
            apart(3, 4),
            {
                "computation": computation,
                "window": (2, 3),
                "strides": (1, 2),
                "padding": ((1, 0), (0, 1)),
                "base_dilation": (3, 2),
                "window_dilation": (2, 1),
                "init": 0.25,
            },
            reduce_window,
            differentiable=computation == "add",  # of windows of nothing else, init is the result
            id=f"dilated-{computation}",
        )
        for computation in ("add", "mul", "max")
    ),
]
