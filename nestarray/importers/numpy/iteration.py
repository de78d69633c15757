"""Iteration over the elements of recording arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from nestarray.errors import UnsupportedError


def enumerated(x: Any) -> Iterator[tuple[tuple[int, ...], Any]]:
    """(index, element) of all elements; see `numpy.ndenumerate`."""
    for index in np.ndindex(*x.shape):
        yield index, x[index]


class NdIter:
    """All elements of arrays as views, in NumPy's order; see `numpy.nditer`.

    Args:
        op: arrays; None for a result that is allocated.
        flags, order: of NumPy.
        op_flags, op_dtypes, casting: have no effect.
    """

    def __init__(
        self,
        op: Any,
        flags: Sequence[str] = (),
        op_flags: Any = None,
        op_dtypes: Any = None,
        order: Any = "K",
        casting: Any = "safe",
    ) -> None:
        if "external_loop" in flags:
            raise UnsupportedError("nditer: flags: 'external_loop' is not recorded; leave it out")
        several = op if isinstance(op, (list, tuple)) else [op]
        given = [x if x is None or hasattr(x, "_example") else np.asarray(x) for x in several]
        known = [x for x in given if x is not None]
        shape = np.broadcast_shapes(*[x.shape for x in known])
        dtype = np.result_type(*[x.dtype for x in known])
        # of an array among the arguments, whose class the result has
        like = next(x for x in known if hasattr(x, "_example"))
        self.operands = tuple(
            [np.zeros_like(like, dtype, shape=shape) if x is None else x for x in given]
        )
        self._is_single = several is not op
        kept = {"c_index", "f_index", "zerosize_ok"} & set(flags)
        self._positions = np.nditer(
            [getattr(x, "_example", lambda x=x: x)() for x in self.operands],
            flags=["multi_index", *kept],  # type: ignore[list-item]
            order=order,
        )

    def __getattr__(self, name: str) -> Any:
        return getattr(self._positions, name)

    def __enter__(self) -> NdIter:
        return self

    def __exit__(self, *error: Any) -> None:
        self._positions.close()

    def __iter__(self) -> NdIter:
        return self

    def __next__(self) -> Any:
        next(self._positions)
        return self.value

    def __getitem__(self, i: int) -> Any:
        """The element of an operand, as a view that can be written."""
        x, index = self.operands[i], self._positions.multi_index
        own = index[len(index) - x.ndim :]
        own = [0 if n == 1 else k for k, n in zip(own, x.shape, strict=True)]
        return x[(*own, ...)]

    @property
    def value(self) -> Any:
        """The current element, or a tuple of those of several operands."""
        found = tuple([self[i] for i in range(len(self.operands))])
        return found[0] if self._is_single else found
