"""The Fourier transforms of frameworks whose ``fft`` module has NumPy's functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from nestarray.numerics.fourier import check_real, check_some_axis, checked, full_length, one_length

Function = Callable[..., Any]


class Transforms:
    """The transforms of a framework whose ``fft`` module has NumPy's functions.

    Args:
        module: the framework's ``fft``.
        number: converts an array to a dtype that the module supports.
        axis, axes: the module's names of these settings.
        real_dtypes, complex_dtypes: the dtypes for which calls with default settings go directly
            to the module. If it raises, the checked call runs.
        adapted: extends a function of the module to arguments that it rejects.
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
        """A transform along one axis; `real` names the complex transform that the error suggests."""
        native, number, axis_name = getattr(self.module, name), self.number, self.axis
        adapted = self.adapted(native)

        def look(x: Any, n: int | None, axis: int, norm: str) -> Any:
            length, _ = one_length(name, x.shape, n, axis, norm)
            if real:
                check_real(name, x, real)
            given = None if n is None else length  # an open length is no argument of JAX
            return adapted(number(x), n=given, norm=norm, **{axis_name: axis})

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
                except Exception:  # `look` raises the error
                    pass
            return look(x, n, axis, norm)

        return call

    def along_several(self, name: str, read: Function = checked, *, real: str = "") -> Function:
        """A transform along several axes; `read` determines their lengths."""
        native, number, axes_name = getattr(self.module, name), self.number, self.axes
        adapted = self.adapted(native)
        ready = self.real_dtypes if real else self.dtypes

        def look(x: Any, s: Sequence[int] | None, axes: Sequence[int] | None, norm: str) -> Any:
            lengths, places = read(name, x.shape, s, axes, norm)
            if real:
                check_real(name, x, real)
                check_some_axis(name, places)
            if not places:  # JAX lacks this; a transform along a new axis of length 1 is equivalent
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
                except Exception:  # `look` raises the error
                    pass
            return look(x, s, axes, norm)

        return call
