"""Cases of `nestarray.ops.signal`; the oracles are SciPy and PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.fft
import torch

from tests.cases import Case

Args = Callable[[np.random.Generator], tuple[Any, ...]]


def reals(*shapes: tuple[int, ...]) -> Args:
    return lambda rng: tuple(rng.standard_normal(shape) for shape in shapes)


def windowed(shape: tuple[int, ...], length: int) -> Args:
    """A signal and a window that is nowhere 0."""
    return lambda rng: (rng.standard_normal(shape), rng.uniform(0.5, 1.5, length))


def spectrum(shape: tuple[int, ...], length: int | None = None) -> Args:
    """A spectrum, and a window if its length is given."""

    def args(rng: np.random.Generator) -> tuple[Any, ...]:
        x = rng.standard_normal(shape) + 1j * rng.standard_normal(shape)
        return (x,) if length is None else (x, rng.uniform(0.5, 1.5, length))

    return args


def cosine(op: str, shape: tuple[int, ...], id: str, *, kind: int = 2, **kwargs: Any) -> Case:
    def reference(x: np.ndarray, kind: int = 2, **settings: Any) -> np.ndarray:
        return getattr(scipy.fft, op)(x, type=kind, **settings)

    return Case(op, reals(shape), {"kind": kind, **kwargs}, reference=reference, id=id)


def of_torch(function: Callable[..., Any], **always: Any) -> Callable[..., Any]:
    def call(x: np.ndarray, window: Any = None, **kwargs: Any) -> Any:
        length = len(window) if window is not None else kwargs.get("win_length", kwargs["n_fft"])
        weights = np.ones(length) if window is None else window
        settings = {"win_length": length, "window": torch.from_numpy(weights), **always, **kwargs}
        return function(torch.from_numpy(x), **settings)

    return call


def short(op: str, args: Args, id: str, **kwargs: Any) -> Case:
    reference = of_torch(torch.stft, return_complex=True) if op == "stft" else of_torch(torch.istft)
    return Case(op, args, kwargs, reference=reference, differentiable=False, id=id)


CASES = [
    *(
        case
        for op in ("dct", "idct")
        for case in (
            cosine(op, (2, 5), "kind1-ortho", kind=1, norm="ortho"),
            cosine(op, (6,), "kind1", kind=1),
            cosine(op, (2, 5), "kind2"),
            cosine(op, (5, 2), "kind2-ortho", axis=0, norm="ortho"),
            cosine(op, (2, 5), "kind3-forward", kind=3, norm="forward"),
            cosine(op, (4, 2), "kind3-ortho", kind=3, axis=-2, norm="ortho"),
            cosine(op, (2, 4), "kind4-longer", kind=4, n=6),
            cosine(op, (2, 5), "kind4-shorter", kind=4, n=3, norm="ortho"),
        )
    ),
    Case(
        "dct",
        lambda rng: (rng.integers(-9, 9, 4),),
        reference=lambda x: scipy.fft.dct(x.astype(float)).astype("float32"),
        differentiable=False,
        id="int",
    ),
    short("stft", reals((16,)), "plain", n_fft=4),
    short("stft", windowed((2, 15), 5), "window", n_fft=8, hop_length=3, normalized=True),
    short("stft", windowed((2, 11), 5), "not-centred", n_fft=5, center=False, onesided=False),
    short("stft", spectrum((14,)), "complex", n_fft=4, win_length=3, pad_mode="constant"),
    short("istft", spectrum((3, 5)), "plain", n_fft=4),
    short("istft", spectrum((2, 5, 6), 7), "window", n_fft=8, hop_length=3, normalized=True),
    short("istft", spectrum((4, 4), 6), "not-centred", n_fft=6, center=False, length=9),
    short("istft", spectrum((2, 4, 5)), "complex", n_fft=4, hop_length=2, return_complex=True),
]
