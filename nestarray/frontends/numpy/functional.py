"""Functions from functions of single elements.

Upstream: https://numpy.org/doc/stable/reference/routines.functional.html
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nestarray.frontends.jax import numpy as jnp
from nestarray.frontends.jax.promotion import enable_x64
from nestarray.frontends.numpy.adaptation import adapted
from nestarray.frontends.numpy.arrays import as_array, cast, first_array
from nestarray.frontends.numpy.ndarray import natives, wrapped

__all__ = ["apply_along_axis", "frompyfunc", "vectorize"]

frompyfunc = jnp.frompyfunc


class vectorize:
    """A function of single elements (or of the core axes of `signature`) as one of arrays.

    Args:
        pyfunc: the function.
        otypes: the dtypes of the results.
        doc: the docstring.
        excluded: positions and names of arguments that are passed whole.
        cache: has no effect.
        signature: such as ``"(m,n),(n)->(m)"``.
    """

    def __init__(
        self,
        pyfunc: Callable[..., Any],
        otypes: Any = None,
        doc: str | None = None,
        excluded: Any = None,
        cache: bool = False,
        signature: str | None = None,
    ) -> None:
        self.pyfunc, self.otypes = pyfunc, otypes
        self.__doc__ = doc or pyfunc.__doc__
        self._excluded, self._signature = excluded or frozenset(), signature

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        function, arrays, result = _on_native_arrays(self.pyfunc, args)
        like = first_array(arrays)
        arrays = [as_array(x, like) if isinstance(x, (list, tuple)) else x for x in arrays]
        call = jnp.vectorize(function, excluded=self._excluded, signature=self._signature)
        with enable_x64():
            found = call(*arrays, **kwargs)
        if self.otypes is None:
            return result(found)
        several = found if isinstance(found, tuple) else (found,)
        results = tuple([cast(x, t) for x, t in zip(several, self.otypes, strict=True)])
        return result(results if isinstance(found, tuple) else results[0])


_apply_along_axis = adapted("apply_along_axis", jnp.apply_along_axis)


def apply_along_axis(
    func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any
) -> Any:
    """A function of each vector along an axis; its result takes the place of the axis."""
    function, arrays, result = _on_native_arrays(func1d, (arr, *args))
    return result(_apply_along_axis(function, axis, *arrays, **kwargs))


def _on_native_arrays(
    function: Callable[..., Any], args: Any
) -> tuple[Callable[..., Any], Any, Callable[[Any], Any]]:
    """(function of native arrays, native arguments, function that gives results their class).

    `na.vmap`, which maps the function, takes native arrays; the function gets the class of `args`.
    """
    given = natives(args)
    is_native = all(x is y for x, y in zip(given, args, strict=True))
    enter = _same if is_native else wrapped
    return (lambda *a, **k: natives(function(*map(enter, a), **k))), given, enter


def _same(x: Any) -> Any:
    return x
