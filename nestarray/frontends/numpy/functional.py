"""Functions from functions of single elements.

Upstream: https://numpy.org/doc/stable/reference/routines.functional.html
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nestarray.frontends.jax import numpy as jnp
from nestarray.frontends.jax.promotion import enable_x64
from nestarray.frontends.numpy.arrays import as_array, cast, first_array

__all__ = ["frompyfunc", "vectorize"]

frompyfunc = jnp.frompyfunc


class vectorize:
    """A function of single elements (or of the core axes of `signature`) as one of arrays.

    Args:
        pyfunc: the function.
        otypes: the dtypes of the results.
        doc: the docstring.
        excluded: positions and names of arguments that are passed as they are.
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
        self._call = jnp.vectorize(pyfunc, excluded=excluded or frozenset(), signature=signature)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        like = first_array(args)
        arrays = [as_array(x, like) if isinstance(x, (list, tuple)) else x for x in args]
        with enable_x64():
            found = self._call(*arrays, **kwargs)
        if self.otypes is None:
            return found
        several = found if isinstance(found, tuple) else (found,)
        results = tuple([cast(x, t) for x, t in zip(several, self.otypes, strict=True)])
        return results if isinstance(found, tuple) else results[0]
