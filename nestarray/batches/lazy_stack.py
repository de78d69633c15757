"""Stacks of Containers whose arrays differ in shape, stacked on demand.

`na.stack` needs arrays of equal shapes, which sentences, molecules and trajectories do not have. A
`LazyStack` stores the members separately and behaves as if they were stacked on a first axis;
`stack` makes arrays of equal shapes, `pad` pads them and returns a mask. Ops apply to each member.
A LazyStack is not a tree: transformations take and return its members,
``na.grad(lambda members: loss(na.LazyStack(members)))(list(s))``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from nestarray import backends, dispatch, ops
from nestarray.backends import is_array_or_number
from nestarray.batches.rows import positions
from nestarray.batches.transposition import same_keys
from nestarray.container import Container
from nestarray.container.container import from_leaves
from nestarray.container.leaf import describe
from nestarray.display.text import render
from nestarray.dtypes import dtype_of
from nestarray.errors import ArgumentError, ImmutableError, ShapeError, StructureError
from nestarray.errors.text import counted
from nestarray.errors.unknown_names import unknown_attribute
from nestarray.ops import attach_operators
from nestarray.tree_math.alignment import align


class LazyStack:
    """Containers of the same keys as if stacked on a first axis; see `nestarray.batches.lazy_stack`.

    ``s[i]`` is a member, ``s[1:3]``, ``s[[2, 0]]`` and ``s[mask]`` a LazyStack of some; ``s[:, 0]``
    and ``s[2, 0]`` also index the members. ``s["a/b"]`` is the list of the leaves at a path, or the
    LazyStack of the sub-containers there. Ops and operators accept a LazyStack like a Container:
    two of equal length are paired by member, and any other value applies to every member.

    Args:
        members: Containers of the same keys; the first one determines the order.
        fill: the value of leaves that a member lacks; their shape and dtype are copied from the first
            member that has them, as in `Container.align`.

    Raises:
        ArgumentError: a member is not a Container.
        StructureError: two members differ in their keys, and `fill` is None.

    Example:
        >>> import numpy as np, nestarray as na
        >>> s = na.LazyStack([na.Container(x=np.ones(2)), na.Container(x=np.zeros(3))])
        >>> s
        LazyStack(2 members)
          x  f64[?]
        >>> (s * 2 + 1)[0].x
        array([3., 3.])
        >>> padded, mask = s.pad(-1.0)
        >>> padded.x
        array([[ 1.,  1., -1.],
               [ 0.,  0.,  0.]])
        >>> mask.x.sum(axis=1)
        array([2, 3])
    """

    __slots__ = ("_members",)
    _members: tuple[Container, ...]

    # operators are attached below; these declarations are for type checkers
    __add__: Callable[..., LazyStack]
    __radd__: Callable[..., LazyStack]
    __sub__: Callable[..., LazyStack]
    __rsub__: Callable[..., LazyStack]
    __mul__: Callable[..., LazyStack]
    __rmul__: Callable[..., LazyStack]
    __truediv__: Callable[..., LazyStack]
    __rtruediv__: Callable[..., LazyStack]
    __floordiv__: Callable[..., LazyStack]
    __rfloordiv__: Callable[..., LazyStack]
    __mod__: Callable[..., LazyStack]
    __rmod__: Callable[..., LazyStack]
    __pow__: Callable[..., LazyStack]
    __rpow__: Callable[..., LazyStack]
    __matmul__: Callable[..., LazyStack]
    __rmatmul__: Callable[..., LazyStack]
    __and__: Callable[..., LazyStack]
    __rand__: Callable[..., LazyStack]
    __or__: Callable[..., LazyStack]
    __ror__: Callable[..., LazyStack]
    __xor__: Callable[..., LazyStack]
    __rxor__: Callable[..., LazyStack]
    __lshift__: Callable[..., LazyStack]
    __rlshift__: Callable[..., LazyStack]
    __rshift__: Callable[..., LazyStack]
    __rrshift__: Callable[..., LazyStack]
    __neg__: Callable[..., LazyStack]
    __pos__: Callable[..., LazyStack]
    __abs__: Callable[..., LazyStack]
    __invert__: Callable[..., LazyStack]
    __lt__: Callable[..., LazyStack]
    __le__: Callable[..., LazyStack]
    __gt__: Callable[..., LazyStack]
    __ge__: Callable[..., LazyStack]

    __array_ufunc__: Callable[..., Any]  # from nestarray.dispatch.numpy_functions
    __array_priority__ = 1000
    __hash__ = None  # type: ignore[assignment]  # == is elementwise, as for Containers

    def __init__(self, members: Iterable[Container], /, *, fill: Any = None) -> None:
        given = tuple(members)
        for i, member in enumerate(given):
            if not isinstance(member, Container):
                raise ArgumentError(
                    f"LazyStack: member {i}: got {type(member).__name__}, expected a Container"
                )
        if fill is not None and given:
            given = align(*given, join="outer", fill=fill)
        columns = same_keys(list(given), "LazyStack") if given else []
        stacked = tuple([from_leaves(given[0].spec, leaves) for leaves in columns])
        object.__setattr__(self, "_members", stacked)

    def __setattr__(self, name: str, value: Any) -> None:
        raise ImmutableError("LazyStack is immutable: make another one, na.LazyStack([...])")

    if not TYPE_CHECKING:  # type checkers would accept any method

        def __getattr__(self, name: str) -> Any:
            text = f"LazyStack has no attribute {name!r}"
            if name[0] == "_":  # tools probe private names
                raise AttributeError(text)
            if self._members and name in self._members[0].spec.index:
                text += f"; what the members have there is s[{name!r}]"
            elif name in dispatch.OPS:
                text += f"; write na.{name}(s)"
            elif hasattr(Container, name):
                text += f"; write [c.{name}(…) for c in s], or take s.stack() or s.pad() first"
            raise unknown_attribute(lambda: text, name)

    def __reduce__(self) -> tuple[Any, ...]:
        return LazyStack, (self._members,)

    def __len__(self) -> int:
        return len(self._members)

    def __iter__(self) -> Iterator[Container]:
        return iter(self._members)

    def __getitem__(self, place: Any) -> Any:
        entries: tuple[Any, ...] = place if isinstance(place, tuple) and place else (place,)
        first, rest = entries[0], entries[1:]
        if isinstance(first, str):
            found = [member[place] for member in self._members]
            return LazyStack(found) if found and isinstance(found[0], Container) else found
        if not isinstance(first, slice):
            chosen = positions(first, len(self), "LazyStack", "members")
            if not chosen.ndim:
                member = self._members[chosen]
                return member[rest] if rest else member
            members = [self._members[i] for i in chosen]
        else:
            members = self._members[first]
        return LazyStack([m[rest] if rest else m for m in members])

    def __repr__(self) -> str:
        head = f"LazyStack({counted(len(self), 'member')})"
        if not self._members:
            return head
        columns = zip(*[member.leaves() for member in self._members], strict=True)
        summary = from_leaves(self._members[0].spec, tuple([_Summary.of(c) for c in columns]))
        return "\n".join([head, *render(summary.spec, summary.leaves()).splitlines()[1:]])

    def stack(self) -> Container:
        """The members stacked by `na.stack`, for arrays of equal shapes.

        Raises:
            ShapeError: the arrays of two members differ in shape; the message names the path.

        Example:
            >>> import numpy as np, nestarray as na
            >>> na.LazyStack([na.Container(x=np.ones(3)), na.Container(x=np.zeros(3))]).stack().x.shape
            (2, 3)
        """
        return self._joined("stack", _stacked)

    def pad(self, value: float = 0.0) -> tuple[Container, Container]:
        """The members stacked, with arrays padded at the end to the longest, and a mask.

        Args:
        value: the padding value, cast to the dtype of each array.

        Returns:
            (padded, mask), of the same structure. The arrays of `padded` are
            `(members, *longest)`; the arrays of `mask` are bool and True for elements of
            members. Leaves that are not arrays are the same in both.

        Raises:
            ShapeError: the arrays of two members differ in their number of axes.
            StructureError: leaves that are not arrays differ; or the LazyStack is empty.
        """

        def filled(path: str, arrays: list[Any]) -> Any:
            longest = _longest(path, arrays)
            return ops.stack([_filled(x, longest, value) for x in arrays])

        def padding_mask(path: str, arrays: list[Any]) -> Any:
            longest = _longest(path, arrays)
            mask = np.zeros((len(arrays), *longest), bool)
            for i, x in enumerate(arrays):
                mask[(i, *(slice(n) for n in _shape(x)))] = True
            return _mask_like(arrays[0], mask)

        return self._joined("pad", filled), self._joined("pad", padding_mask)

    def _joined(self, name: str, join: Callable[[str, list[Any]], Any]) -> Container:
        """One Container with arrays made by `join`; leaves that are not arrays must be equal."""
        if not self._members:
            raise StructureError(f"LazyStack.{name}: there is no member, whose keys it would have")
        spec = self._members[0].spec
        leaves = []
        for path, *row in zip(spec.path_names, *[m.leaves() for m in self._members], strict=True):
            if all(map(is_array_or_number, row)):
                leaves.append(join(path, row))
                continue
            for i, leaf in enumerate(row):
                if leaf is not row[0] and (is_array_or_number(leaf) or leaf != row[0]):
                    raise StructureError(
                        f"LazyStack.{name}: {path!r} is {_shown(row[0])} in member 0, {_shown(leaf)} "
                        f"in member {i}, expected arrays or numbers, or one value in all"
                    )
            leaves.append(row[0])
        return from_leaves(spec, tuple(leaves))


class _Summary:
    """The text of one leaf of all members in the repr: their common sizes and dtypes."""

    def __init__(self, shape: tuple[int | None, ...], dtype: Any) -> None:
        self.shape, self.dtype = shape, dtype

    @classmethod
    def of(cls, leaves: tuple[Any, ...]) -> Any:
        """A summary of arrays of one rank and dtype; a word for other leaves."""
        if any(not backends.is_array(x) for x in leaves):
            texts = list(dict.fromkeys(map(describe, leaves)))
            return _Word(", ".join(texts[:3]) + (", …" if len(texts) > 3 else ""))
        ranks, dtypes = {len(x.shape) for x in leaves}, {dtype_of(x) for x in leaves}
        if len(ranks) > 1 or len(dtypes) > 1:
            return _Word("arrays of several ranks or dtypes")
        lengths = zip(*[tuple(x.shape) for x in leaves], strict=True)
        return cls(tuple([n[0] if len(set(n)) == 1 else None for n in lengths]), dtypes.pop())


class _Word:
    """A text with a repr without quotes."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _stacked(path: str, arrays: list[Any]) -> Any:
    shapes = [_shape(x) for x in arrays]
    for i, shape in enumerate(shapes):
        if shape != shapes[0]:
            raise ShapeError(
                f"LazyStack.stack: {path!r} has the shape {shapes[0]} in member 0, {shape} in "
                f"member {i}, expected one shape; pad() fills them up"
            )
    return ops.stack(arrays)


def _longest(path: str, arrays: list[Any]) -> tuple[int, ...]:
    shapes = [_shape(x) for x in arrays]
    for i, shape in enumerate(shapes):
        if len(shape) != len(shapes[0]):
            raise ShapeError(
                f"LazyStack.pad: {path!r} has the shape {shapes[0]} in member 0, {shape} in member "
                f"{i}, expected one number of axes"
            )
    return tuple([max(lengths) for lengths in zip(*shapes, strict=True)])


def _filled(x: Any, longest: tuple[int, ...], value: float) -> Any:
    margins = [(0, n - m) for n, m in zip(longest, _shape(x), strict=True)]
    return ops.pad(x, margins, constant_values=value) if any(m for _, m in margins) else x


def _mask_like(x: Any, mask: Any) -> Any:
    """A NumPy mask as an array on the backend and device of `x`."""
    backend = backends.backend_of_type(type(x))
    if backend is None:  # a number, which stacks to an array of the default backend
        return ops.asarray(mask)
    core = backends.core(backend)
    return core.from_numpy(mask, None if core.is_traced(x) else core.device_of(x))


def _shape(x: Any) -> tuple[int, ...]:
    return tuple(getattr(x, "shape", ()))


def _shown(leaf: Any) -> str:
    return f"a {type(leaf).__name__}" if is_array_or_number(leaf) else repr(leaf)


# -- ops --------------------------------------------------------------------------------------


def _apply(op: dispatch.Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call `op` on each member: the handler of LazyStack in `nestarray.dispatch`."""
    lengths = {len(s) for value in (*args, *kwargs.values()) for s in _stacks(value)}
    if len(lengths) > 1:
        raise ShapeError(
            f"{op.name}: LazyStacks of {' and '.join(map(str, sorted(lengths)))} members, expected "
            "one number"
        )
    results = []
    columns = [_column(value) for value in args]
    settings = {name: _column(value) for name, value in kwargs.items()}
    for i in range(lengths.pop()):
        row = [next(column) for column in columns]
        own = {name: next(column) for name, column in settings.items()}
        try:
            results.append(op.function(*row, **own))
        except Exception as error:
            error.add_note(f"at member {i} of the LazyStack")
            raise
    return _combine_results(results)


def _stacks(value: Any) -> list[LazyStack]:
    if isinstance(value, LazyStack):
        return [value]
    return [v for v in value if isinstance(v, LazyStack)] if type(value) in (list, tuple) else []


def _column(value: Any) -> Iterator[Any]:
    """The argument for each member."""
    if isinstance(value, LazyStack):
        return iter(value)
    if _stacks(value):
        return map(type(value), zip(*map(_column, value)))
    return repeat(value)


def _combine_results(results: list[Any]) -> Any:
    """A LazyStack of results that are Containers; a tuple of LazyStacks of tuples."""
    if not results or isinstance(results[0], Container):
        return LazyStack(results)
    if isinstance(results[0], tuple):
        if any(len(r) != len(results[0]) for r in results):
            return results
        parts = [_combine_results(list(part)) for part in zip(*results, strict=True)]
        return type(results[0])(*parts) if hasattr(results[0], "_fields") else tuple(parts)
    return results


dispatch.register_interpreter(LazyStack, _apply, priority=100)
dispatch.numpy_functions.attach(LazyStack)
attach_operators(LazyStack)
