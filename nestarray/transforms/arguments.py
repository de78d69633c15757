"""The differentiated arguments of a function: the inexact leaves of selected arguments.

The arguments are flattened once; backends get a function of a flat list of arrays
(`Arguments.call`), and their results for these arrays are put back into the arguments' nests once
(`Arguments.nests`).
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from nestarray import backends, dtypes, ops, tree
from nestarray.config import current_backend
from nestarray.container import Container
from nestarray.container.access import align_leaves
from nestarray.container.selection import matches, selected
from nestarray.errors import (
    ArgumentError,
    MixedBackendError,
    ShapeError,
    StructureError,
    UnsupportedError,
)
from nestarray.typing import Array, Nest

#: Patterns as `Container.select` takes them; None for all leaves.
Wrt = Any


class Arguments:
    """The leaves of a call that are differentiated, and the function of them alone.

    Args:
        name: the public function, for messages.
        fn: the function.
        args: its positional arguments.
        kwargs: its keyword arguments, which are not differentiated.
        argnums: the numbers of the arguments; one, or several.
        wrt: patterns that leaves of Containers must match; the others are constants, and
            are left out of what `nests` gives.
        unfused: take fused Containers leaf by leaf, which tangents and patterns need.
    """

    def __init__(
        self,
        name: str,
        fn: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        argnums: int | Sequence[int] = 0,
        wrt: Wrt = None,
        *,
        unfused: bool = False,
    ) -> None:
        self.name, self.fn = name, fn
        self._args, self._kwargs, self._argnums = args, kwargs, argnums
        self._numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)
        try:
            chosen = tuple([args[i] for i in self._numbers])
        except IndexError:
            raise ArgumentError(
                f"{name}: argnums: got {argnums!r}, but {name_of(fn)} was called with "
                f"{len(args)} positional arguments"
            ) from None
        self._masks = None if wrt is None else [_mask(name, nest, wrt) for nest in chosen]
        self._flat = [tree.flatten(x, unfused=unfused or wrt is not None) for x in chosen]
        self._leaves = [leaf for part, _ in self._flat for leaf in part]
        kinds = list(dict.fromkeys([type(leaf) for leaf in self._leaves]))
        self._are_arrays = None not in [backends.backend_of_type(kind) for kind in kinds]
        self.backend = (
            _backend(name, kinds, self._leaves)
            or backends.find_backend((args, kwargs))
            or _backend_of_captured(fn)
            or current_backend()
        )
        self._places = inexact_places(self._leaves)
        if self._masks is not None:
            hits = [h for mask in self._masks for h in mask]
            self._places = [i for i in self._places if hits[i]]

    @property
    def arrays(self) -> list[Any]:
        """The leaves that are differentiated, as arrays of the backend."""
        found = [self._leaves[i] for i in self._places]
        return found if self._are_arrays else [_as_array(x, self.backend) for x in found]

    def call(self, *values: Any) -> Any:
        """The function of `values` in place of `arrays`."""
        filled = self._filled(values, self._leaves)
        changed = list(self._args)
        for number, nest in zip(self._numbers, self._rebuilt(filled), strict=True):
            changed[number] = nest
        return self.fn(*changed, **self._kwargs)

    def nests(self, found: Sequence[Any], *, rest: bool = False) -> Nest:
        """The nests of the arguments with `found` for `arrays`, zeros for other numbers.

        One nest for one argument, a tuple for several. With `rest` other numbers stay.
        """
        still = [] if len(found) == len(self._leaves) else self._leaves
        others = still if rest else [_zeros(leaf) for leaf in still]
        parts = self._selected(self._rebuilt(self._filled(found, others)))
        return parts[0] if isinstance(self._argnums, int) else tuple(parts)

    def tangents(self, given: Nest, what: str) -> list[Any]:
        """The arrays of `given`, as `gradients` has them, with zeros for None."""
        pairs = zip(self.gradients(given, what), self.arrays, strict=True)
        return [ops.zeros_like(x) if t is None else t for t, x in pairs]

    def gradients(self, given: Nest, what: str) -> list[Any]:
        """The arrays of `given`, a nest as from `nests`, one for each of `arrays`; or None.

        Raises:
            StructureError: `given` is of another structure.
            ShapeError: an array in `given` is of another shape.
        """
        nests = (given,) if isinstance(self._argnums, int) else tuple(given)
        found: list[Any] = []
        for own, nest in zip(self._selected(self._rebuilt(self._leaves)), nests, strict=True):
            leaves = tree.flatten(own, unfused=True)[0]
            if nest is None:
                found += [None for _ in filter(is_inexact, leaves)]
                continue
            if isinstance(own, Container) and isinstance(nest, Container):
                given_leaves: Sequence[Any] = align_leaves(own.spec, nest, f"{self.name}: {what}")
            else:
                given_leaves = tree.flatten(nest, unfused=True)[0]
            if len(given_leaves) != len(leaves):
                raise StructureError(
                    f"{self.name}: {what}: got {len(given_leaves)} leaves, expected "
                    f"{len(leaves)}, the structure of the argument"
                )
            pairs = zip(leaves, given_leaves, strict=True)
            found += [self._tangent(leaf, x, what) for leaf, x in pairs if is_inexact(leaf)]
        return found

    def _tangent(self, leaf: Any, x: Any, what: str) -> Array | None:
        """The tangent or cotangent `x` of `leaf`, in its dtype; None stays None."""
        if x is None:
            return None
        own = _as_array(leaf, self.backend)
        if backends.backend_of_value(x) in (None, "numpy"):
            x = ops.asarray(x, dtype=own.dtype, like=own)
        shape, expected = tuple(x.shape), tuple(own.shape)
        if shape != expected and None not in (*shape, *expected):
            raise ShapeError(
                f"{self.name}: {what}: got an array of shape {shape}, expected the shape {expected}"
            )
        return x if dtypes.dtype_of(x) is dtypes.dtype_of(own) else ops.astype(x, own.dtype)

    def _filled(self, values: Sequence[Any], others: Sequence[Any]) -> list[Any]:
        """All leaves: `values` where differentiated, `others` elsewhere."""
        if len(values) == len(self._leaves) == len(self._places):
            return list(values)
        filled = list(others)
        for i, value in zip(self._places, values, strict=True):
            filled[i] = value
        return filled

    def _selected(self, nests: list[Any]) -> list[Any]:
        if self._masks is None:
            return nests
        pairs = zip(nests, self._masks, strict=True)
        return [selected(c, mask) for c, mask in pairs]

    def _rebuilt(self, leaves: list[Any]) -> list[Any]:
        nests, start = [], 0
        for part, structure in self._flat:
            nests.append(tree.unflatten(structure, leaves[start : start + len(part)]))
            start += len(part)
        return nests


def _mask(name: str, nest: Any, wrt: Wrt) -> list[bool]:
    patterns = tuple(wrt) if isinstance(wrt, (tuple, list)) else (wrt,)
    if not isinstance(nest, Container):
        raise ArgumentError(
            f"{name}: wrt: patterns choose leaves of a Container, got {type(nest).__name__}; "
            "na.Container(tree) makes one of nested dicts"
        )
    mask = matches(nest.spec, nest.leaves(), patterns)
    if not any(mask):
        raise ArgumentError(
            f"{name}: wrt: no leaf matches {wrt!r}; the first leaves are "
            f"{', '.join(map(repr, nest.paths()[:5]))}"
        )
    return mask


def is_inexact(leaf: Any) -> bool:
    """Whether a leaf can be differentiated: floating or complex, array or number."""
    if hasattr(leaf, "dtype"):
        return not dtypes.is_key(leaf) and dtypes.dtype_of(leaf).is_inexact
    return isinstance(leaf, (float, complex))


def inexact_places(leaves: Sequence[Any]) -> list[int]:
    """The indices of leaves that can be differentiated.

    Consecutive leaves mostly share a dtype, so the test is repeated only when it changes.
    """
    places: list[int] = []
    before, is_hit = _NONE, False
    for i, leaf in enumerate(leaves):
        dtype = getattr(leaf, "dtype", leaf)
        if dtype is not before:
            before, is_hit = dtype, is_inexact(leaf)
        if is_hit:
            places.append(i)
    return places


_NONE: Any = object()


def name_of(fn: Callable[..., Any]) -> str:
    """The name of a function for error messages."""
    return f"the function {getattr(fn, '__name__', type(fn).__name__)!r}"


def describe(value: Any) -> str:
    """A value returned by a function, for error messages."""
    if backends.is_array(value):
        return f"an array of {dtypes.dtype_of(value)}, shape {tuple(value.shape)}"
    return f"a {type(value).__name__}"


def native_transforms(backend: str) -> Any:
    """The module that implements `nestarray.backends.protocol.Transforms` for a backend."""
    return native_chapter(backend, "transforms")


def native_chapter(backend: str, name: str) -> Any:
    """The backend's ``transforms`` or ``collectives``; for NumPy, from `autodiff`.

    `autodiff` is imported by the first derivative on NumPy.
    """
    chapter = backends.chapter(backend, name)
    if chapter is None:
        chapter = importlib.import_module(f"nestarray.transforms.autodiff.{backend}_{name}")
    return chapter


def backend_of_leaf(leaf: Any) -> str | None:
    """The backend of an array, None of anything else."""
    return backends.backend_of_type(type(leaf))


def _backend(name: str, kinds: list[type], leaves: list[Any]) -> str | None:
    found = dict.fromkeys([backends.backend_of_type(kind) for kind in kinds])
    names = [backend for backend in found if backend is not None]
    if len(names) > 1:
        raise MixedBackendError(backends.mixed_message(name, names))
    if not names and any(map(backends.backend_of_value, leaves)):
        raise UnsupportedError(
            f"{name}: derivatives cannot be recorded; trace the function without them, and "
            "differentiate the graph, which is a function of v: na.grad(lambda v: graph(x, v=v))"
        )
    return names[0] if names else None


def _backend_of_captured(fn: Callable[..., Any]) -> str | None:
    """The backend of the arrays that a Python function names; None if it names none, or several."""
    try:
        names = inspect.getclosurevars(fn)
    except (TypeError, ValueError):  # not a Python function, or one whose variables are not set
        return None
    captured = [*names.nonlocals.values(), *names.globals.values()]
    owners = {backends.backend_of_value(x) for x in captured} - {None}
    return owners.pop() if len(owners) == 1 else None


def _as_array(leaf: Any, backend: str) -> Array:
    if hasattr(leaf, "dtype"):
        return leaf
    dtype = "float32" if isinstance(leaf, float) else "complex64"
    return backends.core(backend).from_numpy(np.asarray(leaf, dtype))


def _zeros(leaf: Any) -> Any:
    """The gradient of an undifferentiated leaf; floating leaves are replaced later."""
    if hasattr(leaf, "dtype"):
        return leaf if is_inexact(leaf) else ops.zeros_like(leaf)
    return type(leaf)(0) if isinstance(leaf, (bool, int)) else leaf
