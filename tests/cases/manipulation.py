"""Cases of `nestarray.ops.manipulation`; the oracles are NumPy and JAX."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from tests.cases import Case

Rng = np.random.Generator


def block(rng: Rng) -> tuple[Any, ...]:
    return (rng.standard_normal((2, 3, 4)),)


def with_(*more: Any, shape: tuple[int, ...] = (2, 3, 4)) -> Any:
    """Arguments: a random array, then `more`."""
    return lambda rng: (rng.standard_normal(shape), *more)


def several(*shapes: tuple[int, ...]) -> Any:
    """One argument: a list of random arrays."""
    return lambda rng: ([rng.standard_normal(shape) for shape in shapes],)


def mixed(rng: Rng) -> tuple[Any, ...]:
    return ([rng.integers(-9, 9, (2, 2)).astype("int32"), rng.standard_normal((2, 3))],)


def sections(x: np.ndarray, sizes: Any, axis: int = 0) -> list[np.ndarray]:
    return np.split(x, np.cumsum(sizes)[:-1], axis=axis)


def windows(x: np.ndarray, window_shape: Any, axis: Any = None, step: int = 1) -> np.ndarray:
    import torch

    axes = range(x.ndim) if axis is None else np.atleast_1d(axis)
    sizes = np.broadcast_to(window_shape, len(axes))
    view = torch.as_tensor(x)
    for a, size in zip(axes, sizes):
        view = view.unfold(int(a), int(size), step)
    return view.numpy()


def pads(mode: str, shape: tuple[int, ...], width: Any, **settings: Any) -> Case:
    return Case(
        "pad",
        with_(width, shape=shape),
        {"mode": mode, **settings},
        reference=np.pad,
        id=f"{mode}{len(shape)}",
    )


CASES = [
    Case("shape", block, reference=np.shape, differentiable=False),
    Case("reshape", with_((4, -1)), reference=np.reshape),
    Case("reshape", with_((6, 4)), {"order": "F"}, reference=np.reshape, id="F"),
    Case("reshape", with_((), shape=(1, 1)), reference=np.reshape, id="0d"),
    Case("reshape", with_((3, 0), shape=(0, 2)), reference=np.reshape, id="empty"),
    Case("permute_dims", with_((2, 0, -2)), reference=np.transpose),
    Case("permute_dims", with_((), shape=()), reference=np.transpose, id="0d"),
    Case("expand_dims", with_(-1), reference=np.expand_dims),
    Case("expand_dims", with_((0, -1)), reference=np.expand_dims, id="two"),
    Case("expand_dims", with_(0, shape=()), reference=np.expand_dims, id="0d"),
    Case("squeeze", with_(-1, shape=(1, 3, 1)), reference=np.squeeze),
    Case("squeeze", with_((0, 2), shape=(1, 3, 1)), reference=np.squeeze, id="two"),
    Case("squeeze", with_(shape=(1, 3, 1)), reference=np.squeeze, id="all"),
    Case("squeeze", with_((), shape=(1, 3, 1)), reference=np.squeeze, id="none"),
    Case("flatten", block, reference=np.ravel),
    Case(
        "flatten", block, {"start_axis": -2}, reference=lambda x, **_: x.reshape(2, 12), id="last"
    ),
    Case("flatten", with_(shape=()), reference=np.ravel, id="0d"),
    Case("concat", several((2, 3), (1, 3)), reference=np.concat),
    Case("concat", several((2, 3), (2, 1), (2, 0)), {"axis": -1}, reference=np.concat, id="last"),
    Case("concat", several((2, 3), (2,), ()), {"axis": None}, reference=np.concat, id="flat"),
    Case("concat", mixed, {"axis": 1}, reference=np.concat, id="promotes"),
    Case("stack", several((2, 3), (2, 3)), reference=np.stack),
    Case("stack", several((2, 3), (2, 3)), {"axis": -1}, reference=np.stack, id="last"),
    Case("stack", several((), ()), reference=np.stack, id="0d"),
    Case("unstack", block, {"axis": 1}, reference=lambda x, axis: list(np.moveaxis(x, axis, 0))),
    Case("split", with_([1, 3], shape=(4, 2)), reference=sections),
    Case("split", with_([2, 0, 1]), {"axis": -2}, reference=sections, id="axis"),
    Case("split", with_(2, shape=(5,)), reference=lambda x, _: np.split(x, [2, 4]), id="equal"),
    Case("array_split", with_(3, shape=(5, 2)), reference=np.array_split),
    Case("array_split", with_([1, 3]), {"axis": -1}, reference=np.array_split, id="places"),
    Case("broadcast_to", with_((4, 2, 3), shape=(2, 1)), reference=np.broadcast_to),
    Case("broadcast_to", with_((2,), shape=()), reference=np.broadcast_to, id="0d"),
    Case("broadcast_to", with_(3, shape=(1,)), reference=np.broadcast_to, id="number"),
    Case(
        "broadcast_arrays",
        lambda rng: (rng.standard_normal((2, 1)), rng.standard_normal(3), rng.standard_normal(())),
        reference=lambda *x: np.broadcast_arrays(*x),
    ),
    Case("flip", block, reference=np.flip),
    Case("flip", block, {"axis": (0, -1)}, reference=np.flip, id="two"),
    Case("flip", block, {"axis": 1}, reference=np.flip, id="one"),
    Case("roll", with_(3), reference=np.roll),
    Case("roll", with_(-2), {"axis": -1}, reference=np.roll, id="axis"),
    Case("roll", with_((1, -2)), {"axis": (0, 2)}, reference=np.roll, id="two"),
    Case("roll", with_(1), {"axis": (0, 1)}, reference=np.roll, id="one-for-two"),
    Case("tile", with_((2, 1, 3), shape=(2, 2)), reference=np.tile),
    Case("tile", with_((3,), shape=(2, 2)), reference=np.tile, id="last"),
    Case("repeat", with_(2), {"axis": 1}, reference=np.repeat),
    Case("repeat", with_(2), reference=np.repeat, id="flat"),
    Case(
        "repeat",
        lambda rng: (rng.standard_normal((3, 2)), np.asarray([1, 0, 2])),
        {"axis": 0},
        reference=np.repeat,
        differentiable=(0,),
        jit=False,
        id="each",
    ),
    *(
        Case(
            "repeat",
            lambda rng: (rng.standard_normal((3, 2)), np.asarray([1, 0, 2])),
            {"axis": 0, "total_repeat_length": length},
            reference=jnp.repeat,
            differentiable=(0,),
            id=f"length-{length}",
        )
        for length in (2, 5)
    ),
    Case("moveaxis", with_(0, -1), reference=np.moveaxis),
    Case("moveaxis", with_((0, 1), (-1, 0)), reference=np.moveaxis, id="two"),
    Case("swapaxes", with_(0, -1), reference=np.swapaxes),
    pads("constant", (2, 3), ((1, 0), (2, 1)), constant_values=1.5),
    pads("constant", (3,), (1, 2)),
    Case(
        "pad",
        lambda rng: (rng.standard_normal(3) + 1j * rng.standard_normal(3), (1, 2)),
        {"constant_values": 1.5 - 2j},
        reference=lambda x, width, constant_values: np.pad(
            x, width, constant_values=constant_values
        ),
        differentiable=False,
        id="complex",
    ),
    pads("edge", (2, 3), ((1, 0), (2, 4))),
    pads("reflect", (3, 4), ((1, 0), (2, 3))),
    pads("reflect", (3,), 4),
    pads("symmetric", (2, 3), 2),
    pads("wrap", (2, 3), ((3, 1), (0, 2))),
    Case("diff", block, reference=np.diff),
    Case("diff", block, {"axis": 1, "n": 2}, reference=np.diff, id="twice"),
    Case(
        "diff",
        lambda rng: (rng.integers(0, 9, 5),),
        {"prepend": np.asarray([0]), "append": np.asarray([2, 3])},
        reference=np.diff,
        differentiable=False,
        id="ends",
    ),
    Case(
        "diff",
        with_(shape=(4,)),
        {"n": 0, "prepend": np.asarray([0.5])},
        reference=np.diff,
        id="none",
    ),
    Case(
        "diff",
        lambda rng: (rng.random(6) < 0.5,),
        reference=np.diff,
        differentiable=False,
        id="bool",
    ),
    Case("sliding_window_view", with_(2), {"axis": -1}, reference=windows),
    Case("sliding_window_view", with_((2, 3, 2)), reference=windows, id="all"),
    Case(
        "sliding_window_view",
        with_(3, shape=(2, 8)),
        {"axis": 1, "step": 2},
        reference=windows,
        id="step",
    ),
]
