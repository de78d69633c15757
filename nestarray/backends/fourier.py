"""The settings of Fourier transforms, read once for all backends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import index
from typing import Any

from nestarray.backends.axes import many_axes, one_axis
from nestarray.backends.base import own_code
from nestarray.backends.fast_paths import FastPath, noted
from nestarray.dtypes import dtype_of
from nestarray.errors import ArgumentError, DtypeError, ShapeError
from nestarray.typing import check_kind

NORMS = ("backward", "ortho", "forward")

#: What the inverse of a norm scales by: hermitian input is transformed backwards.
SWAPPED = {"backward": "forward", "ortho": "ortho", "forward": "backward"}


Function = Callable[..., Any]


def checked(
    op: str,
    shape: Sequence[int],
    s: Sequence[int] | None,
    axes: Sequence[int] | None,
    norm: str,
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The length and the place of each axis to transform.

    Raises:
        ArgumentError: `norm` is unknown.
        ShapeError: `s` and `axes` have different lengths, there is no such axis, or nothing
            of an axis is left.
    """
    check_norm(op, norm)
    check_kind(op, "s", "Sequence[int] | None", s)
    count = len(shape)
    if axes is None:
        axes = range(0 if s is None else count - len(s), count)
    places = many_axes(tuple(axes), count, op, "axes")
    lengths = tuple(shape[a] for a in places) if s is None else tuple(_whole(op, "s", n) for n in s)
    if len(lengths) != len(places):
        raise ShapeError(
            f"{op}: s: got {len(lengths)} lengths for {len(places)} axes, expected one for each"
        )
    # −1 keeps a length, as the standard says
    lengths = tuple(shape[a] if n == -1 else n for n, a in zip(lengths, places))
    for n in lengths:
        _check_length(op, "s", n)
    return lengths, places


def one_length(
    op: str, shape: Sequence[int], n: int | None, axis: int, norm: str
) -> tuple[int, int]:
    """The length and the place of the one axis to transform.

    Raises:
        ArgumentError: `norm` is unknown.
        ShapeError: there is no such axis, or nothing of it is left.
    """
    check_norm(op, norm)
    place = one_axis(axis, len(shape), op)
    length = shape[place] if n is None else _whole(op, "n", n)
    _check_length(op, "n", length)
    return length, place


def full_length(op: str, shape: Sequence[int], n: int | None, axis: int, norm: str) -> int:
    """The length of the real result of a half spectrum: `n`, or the even one."""
    check_norm(op, norm)
    half = shape[one_axis(axis, len(shape), op)]
    length = 2 * (half - 1) if n is None else _whole(op, "n", n)
    _check_length(op, "n", length)
    return length


def full_lengths(
    op: str,
    shape: Sequence[int],
    s: Sequence[int] | None,
    axes: Sequence[int] | None,
    norm: str,
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """As `checked` where the last axis holds a half spectrum: its length is the result's."""
    lengths, places = checked(op, shape, s, axes, norm)
    check_some_axis(op, places)
    if s is None or s[-1] == -1:
        last = full_length(op, shape, None, places[-1], norm)
        lengths = (*lengths[:-1], last)
    return lengths, places


def check_some_axis(op: str, places: Sequence[int]) -> None:
    """Raise ShapeError where no axis is left to be the real one."""
    if not places:
        raise ShapeError(f"{op}: axes: got none, expected one axis at least, the last real")


def check_norm(op: str, norm: Any) -> None:
    """Raise ArgumentError where `norm` is none of `NORMS`."""
    if norm not in NORMS:
        raise ArgumentError(f"{op}: norm: got {norm!r}, expected one of {', '.join(NORMS)}")


def check_real(op: str, x: Any, other: str) -> None:
    """Raise DtypeError where `x` is complex; `other` does the same for complex numbers."""
    dtype = dtype_of(x)
    if dtype.kind == "complex":
        raise DtypeError(
            f"{op}: x: got {dtype.name}, expected real numbers; {other} takes complex ones"
        )


def _whole(op: str, argument: str, n: Any) -> int:
    """A length that was given, as an int."""
    if n.__class__ is not int:
        check_kind(op, argument, "int", n)
    return index(n)


def _check_length(op: str, argument: str, n: int) -> None:
    if n < 1:
        raise ShapeError(f"{op}: {argument}: got the length {n}, expected at least 1")


class Transforms:
    """The transforms of a framework whose ``fft`` module has NumPy's functions.

    Args:
        module: the framework's ``fft``.
        number: makes of an array one of a dtype that the module takes.
        axis, axes: what the module calls these settings.
        real_dtypes, complex_dtypes: for which calls with the settings' defaults go straight to
            the module. What it refuses there is looked at afterwards, for the error's own words.
        adapted: makes of a function of the module one that takes what the module refuses.
    """

    def __init__(
        self,
        module: Any,
        number: Function,
        axis: str = "axis",
        axes: str = "axes",
        *,
        real_dtypes: Sequence[Any] = (),
        complex_dtypes: Sequence[Any] = (),
        adapted: Callable[[Function], Function] = lambda native: native,
    ) -> None:
        self.module, self.number, self.axis, self.axes = module, number, axis, axes
        self.adapted = adapted
        self.real_dtypes = frozenset(real_dtypes)
        self.dtypes = self.real_dtypes.union(complex_dtypes)

    def along_one(self, name: str, *, real: str = "") -> Function:
        """A transform along one axis; `real` names the one for complex numbers, where it takes none."""
        native, number, axis_name = getattr(self.module, name), self.number, self.axis
        adapted = self.adapted(native)

        def look(x: Any, n: int | None, axis: int, norm: str) -> Any:
            length, _ = one_length(name, x.shape, n, axis, norm)
            if real:
                check_real(name, x, real)
            return adapted(number(x), n=length, norm=norm, **{axis_name: axis})

        return self._with_defaults(native, look, self.real_dtypes if real else self.dtypes)

    def from_half(self, name: str) -> Function:
        """A transform of a half spectrum along one axis."""
        native, number, axis_name = getattr(self.module, name), self.number, self.axis
        adapted = self.adapted(native)

        def look(x: Any, n: int | None, axis: int, norm: str) -> Any:
            length = full_length(name, x.shape, n, axis, norm)
            return adapted(number(x), n=length, norm=norm, **{axis_name: axis})

        return self._with_defaults(native, look, self.dtypes)

    def _with_defaults(self, native: Function, look: Function, ready: frozenset[Any]) -> Function:
        def call(x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Any:
            plain = n is None and norm == "backward" and axis.__class__ is int
            if plain and x.dtype in ready:
                try:
                    return native(x, None, axis)
                except Exception:  # `look` says what is wrong with the arguments
                    pass
            return look(x, n, axis, norm)

        condition = (
            "n is None and norm == 'backward' and axis.__class__ is int and x.dtype in _ready"
        )
        names = {"_ready": ready, "_native": native}
        # a call with settings takes frameworks longer
        plain_call = "_native(x) if axis == -1 else _native(x, None, axis)"
        return noted(own_code(call), FastPath(condition, plain_call, names))

    def along_several(self, name: str, read: Function = checked, *, real: str = "") -> Function:
        """A transform along several axes, whose lengths `read` finds."""
        native, number, axes_name = getattr(self.module, name), self.number, self.axes
        adapted = self.adapted(native)
        ready = self.real_dtypes if real else self.dtypes

        def look(x: Any, s: Sequence[int] | None, axes: Sequence[int] | None, norm: str) -> Any:
            lengths, places = read(name, x.shape, s, axes, norm)
            if real:
                check_real(name, x, real)
                check_some_axis(name, places)
            if not places:  # JAX lacks it; along an axis of one element it is the same
                found = adapted(number(x)[..., None], s=(1,), norm=norm, **{axes_name: (-1,)})
                return found[..., 0]
            return adapted(number(x), s=lengths, norm=norm, **{axes_name: places})

        def call(
            x: Any,
            /,
            *,
            s: Sequence[int] | None = None,
            axes: Sequence[int] | None = None,
            norm: str = "backward",
        ) -> Any:
            if s is axes is None and norm == "backward" and x.ndim and x.dtype in ready:
                try:
                    return native(x)
                except Exception:  # `look` says what is wrong with the arguments
                    pass
            return look(x, s, axes, norm)

        condition = "s is axes is None and norm == 'backward' and x.ndim and x.dtype in _ready"
        names = {"_ready": ready, "_native": native}
        return noted(own_code(call), FastPath(condition, "_native(x)", names))
