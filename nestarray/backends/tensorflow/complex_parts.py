"""Complex numbers as pairs of real ones for TFLite, which has no arithmetic of complex numbers.

Where `portable.are_wanted`, the backend returns `Parts`, an interpreter of the ops. A Fourier
transform is a product with the matrices of cosines and sines.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from nestarray import dtypes
from nestarray.backends import xp
from nestarray.errors import UnsupportedError
from nestarray.traits import Trait

#: Ops that the backend computes with the functions of this file.
_TRANSFORMS = ("fftn", "ifftn", "irfft", "rfft")


class Parts:
    """The real and imaginary parts of a complex array."""

    __traced_backend__ = "tensorflow"

    def __init__(self, real: Any, imag: Any) -> None:
        self.real, self.imag, self.shape, self.ndim = real, imag, real.shape, len(real.shape)
        self.dtype = tf.complex128 if real.dtype == tf.float64 else tf.complex64


def of_both(real: Any, imag: Any) -> Parts:
    """``tf.complex``."""
    return Parts(real + tf.zeros_like(imag), imag + tf.zeros_like(real))  # of one shape


def of(x: Any) -> Any:
    """`Parts` of a number or an array; of booleans, which are conditions, themselves."""
    if isinstance(x, (list, tuple)):
        return type(x)(map(of, x))
    if isinstance(x, Parts):
        return x
    x = tf.convert_to_tensor(x, tf.complex64 if isinstance(x, complex) else None)
    if x.dtype == tf.bool:
        return x
    return Parts(tf.math.real(x), tf.math.imag(x) if x.dtype.is_complex else tf.zeros_like(x))


def apply(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Compute an op on `Parts`.

    Raises:
        UnsupportedError: the op has neither a rule here nor a definition by other ops.
    """
    if Trait.MULTILINEAR in op.traits:
        *before, x1, x2 = args
        return _product(lambda a, b: op.function(*before, a, b, **kwargs), x1, x2)
    if op.name in _TRANSFORMS:
        return op.implementation("tensorflow")(*args, **kwargs)
    if op.name in _RULES:
        return _RULES[op.name](*args, **kwargs)
    if Trait.LINEAR in op.traits:
        if Trait.ELEMENTWISE in op.traits or op.sequence_parameters:  # integers are no indices
            args = tuple(map(of, args))
        real, imag = [op.function(*_parts(args, part), **kwargs) for part in ("real", "imag")]
        return tuple(map(Parts, real, imag)) if isinstance(real, tuple) else Parts(real, imag)
    if op.is_primitive:
        raise UnsupportedError(
            f"TFLite lacks complex numbers, and {op.name} of pairs of real ones; compute it from "
            "real and imaginary parts, or choose another format: onnx, savedmodel"
        )
    return op.body(*args, **kwargs)


def _parts(x: Any, name: str) -> Any:
    if isinstance(x, (list, tuple)):
        return type(x)([_parts(item, name) for item in x])
    if isinstance(x, tf.Tensor) and x.dtype.is_floating:
        x = of(x)
    return getattr(x, name) if isinstance(x, Parts) else x


def _product(product: Callable[[Any, Any], Any], x1: Any, x2: Any) -> Parts:
    """A bilinear function of two arrays, of which one is complex, from `product` of real ones."""
    a, b = of(x1), of(x2)
    if not _is_complex(x1):
        return Parts(product(a.real, b.real), product(a.real, b.imag))
    if not _is_complex(x2):
        return Parts(product(a.real, b.real), product(a.imag, b.real))
    return Parts(
        product(a.real, b.real) - product(a.imag, b.imag),
        product(a.real, b.imag) + product(a.imag, b.real),
    )


def _is_complex(x: Any) -> bool:
    return isinstance(x, (Parts, complex)) or (isinstance(x, tf.Tensor) and x.dtype.is_complex)


def _divided(x1: Any, x2: Any) -> Parts:
    a, b = of(x1), of(x2)
    if not _is_complex(x2):
        return Parts(a.real / b.real, a.imag / b.real)
    size = b.real**2 + b.imag**2
    return Parts(
        (a.real * b.real + a.imag * b.imag) / size, (a.imag * b.real - a.real * b.imag) / size
    )


def _padded(x: Parts, width: Any, *, mode: str = "constant", constant_values: complex = 0) -> Parts:
    real, imag = (
        xp.pad(getattr(x, part), width, mode=mode, constant_values=getattr(constant_values, part))
        for part in ("real", "imag")
    )
    return Parts(real, imag)


_RULES: dict[str, Callable[..., Any]] = {
    "abs": lambda x: tf.sqrt(x.real**2 + x.imag**2),
    "angle": lambda x: xp.atan2(x.imag, x.real),
    "astype": lambda x, dtype, **_: x if dtypes.as_dtype(dtype).kind == "complex" else x.real,
    "conj": lambda x: Parts(x.real, -x.imag),
    "divide": _divided,
    "exp": lambda x: xp.polar(tf.exp(x.real), x.imag),
    "imag": lambda x: x.imag,
    "pad": _padded,
    "real": lambda x: x.real,
    "shape": lambda x: xp.shape(x.real),
    "square": lambda x: Parts(x.real**2 - x.imag**2, 2.0 * x.real * x.imag),
}


def fft(x: Any) -> Parts:
    """``tf.signal.fft``."""
    length = xp.shape(x)[-1]
    return _product(tf.matmul, x, _turns(x, length, length, -1.0))


def ifft(x: Any) -> Parts:
    """``tf.signal.ifft``."""
    length = xp.shape(x)[-1]
    found = _product(tf.matmul, x, _turns(x, length, length, 1.0))
    return _divided(found, tf.cast(length, found.real.dtype))


def rfft(x: Any) -> Parts:
    """``tf.signal.rfft``."""
    length = xp.shape(x)[-1]
    return _product(tf.matmul, x, _turns(x, length // 2 + 1, length, -1.0))


def irfft(x: Any, lengths: list[Any]) -> Any:
    """``tf.signal.irfft``: the other half of the spectrum has the conjugates of this one."""
    x, (length,) = of(x), lengths
    turns = _turns(x, length, length, 1.0)
    is_alone = tf.equal(2 * tf.range(xp.shape(x)[-1]) % length, 0)
    count = tf.where(is_alone, tf.constant(1.0, x.real.dtype), 2.0)
    sums = tf.matmul(x.real * count, turns.real) - tf.matmul(x.imag * count, turns.imag)
    return sums / tf.cast(length, sums.dtype)


def _turns(x: Any, columns: Any, length: Any, sign: float) -> Parts:
    """The matrix of exp(sign · 2πi jk / length), j for each element of the last axis of x."""
    dtype = x.dtype.real_dtype
    parts = tf.range(xp.shape(x)[-1])[:, None] * tf.range(columns) % length
    angles = tf.cast(parts, dtype) * (sign * 2 * math.pi / tf.cast(length, dtype))
    return Parts(tf.cos(angles), tf.sin(angles))
