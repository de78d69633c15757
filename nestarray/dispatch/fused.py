"""Fused Containers: all leaves of a dtype in one buffer, and each op one native call.

Elementwise ops on fused Containers of one layout, and on numbers, run on the buffers and return
a fused Container. So do norms, optimizer steps, and gradients with respect to a fused Container.
Ops that change the structure or read the shape of a leaf take the leaves and return an ordinary
Container.

The tree functions of the frameworks (``jax.tree.map``, optax) see the buffers. This is correct for
elementwise algorithms such as Adam, but not for algorithms that depend on the leaves, such as LARS.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from nestarray import backends
from nestarray.container import Container, FusedContainer, Leaf, method
from nestarray.container.container import from_leaves
from nestarray.container.fused import Layout, Place, from_buffers, make_layout
from nestarray.dispatch import containers
from nestarray.dispatch.operation import OPS, Op, register_interpreter
from nestarray.dtypes import dtype_of, is_key
from nestarray.errors import ArgumentError
from nestarray.traits import Trait
from nestarray.typing import NUMBERS


@method
def fuse(c: Container[Leaf], /) -> FusedContainer[Leaf]:
    """The same tree with its leaves in one buffer for each dtype; see `nestarray.dispatch.fused`.

    Args:
        c: a Container of arrays; of several backends, dtypes or devices there are as many
            buffers. A fused Container is returned unchanged.

    Returns:
        a Container that equals `c`; `Container.unfuse` is the way back.

    Raises:
        ArgumentError: a leaf is not an array; names its path.

    Example:
        >>> import numpy as np, nestarray as na
        >>> c = na.Container(w=np.ones((2, 3)), b=np.zeros(2)).fuse()
        >>> (c + 1).buffers()
        (array([2., 2., 2., 2., 2., 2., 1., 1.]),)
        >>> (c + 1)["b"]
        array([1., 1.])
    """
    if isinstance(c, FusedContainer):
        return c
    groups: dict[Any, list[Any]] = {}
    lengths: dict[Any, int] = {}
    places = []
    for path, leaf in c.flat_items():
        backend = backends.backend_of_value(leaf)
        if backend is None:
            raise ArgumentError(
                f"Container.fuse: {path!r} is a {type(leaf).__name__}, expected an array; leave it "
                "out with c.partition(...)"
            )
        array: Any = leaf
        kind = (
            backend,
            array.dtype if is_key(array) else dtype_of(array),
            str(getattr(leaf, "device", "")),
        )
        shape = tuple(int(n) for n in OPS["shape"].function(leaf))
        start = lengths.get(kind, 0)
        places.append((kind, start, shape))
        lengths[kind] = start + math.prod(shape)
        groups.setdefault(kind, []).append(leaf)
    numbers = {kind: i for i, kind in enumerate(groups)}
    layout = make_layout(
        c.spec, tuple(Place(numbers[kind], start, shape) for kind, start, shape in places)
    )
    return from_buffers(layout, tuple(_end_to_end(leaves) for leaves in groups.values()))


def _end_to_end(leaves: list[Any]) -> Any:
    flat = [OPS["reshape"].function(leaf, (-1,)) for leaf in leaves]
    return OPS["concat"].function(flat) if len(flat) > 1 else flat[0]


@method
def unfuse(c: Container[Leaf], /) -> Container[Leaf]:
    """The same tree with separate leaves: views of the buffers on NumPy and PyTorch.

    Example:
        >>> import numpy as np, nestarray as na
        >>> type(na.Container(a=np.ones(2)).fuse().unfuse()).__name__
        'Container'
    """
    return from_leaves(c.spec, c.leaves()) if isinstance(c, FusedContainer) else c


def _apply(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call `op` on the buffers if it can be, and on the leaves otherwise."""
    fused = _aligned(args) if Trait.ELEMENTWISE in op.traits else None
    if fused is None or any(isinstance(x, (Container, list, tuple)) for x in kwargs.values()):
        return containers.apply(op, args, kwargs)
    columns = [
        arg._buffers if arg.__class__ is FusedContainer else (arg,) * fused.num_buffers
        for arg in args
    ]
    try:
        results = [op.function(*row, **kwargs) for row in zip(*columns)]
    except Exception as error:
        try:
            return containers.apply(op, args, kwargs)  # its error names the leaf
        except Exception as of_leaf:
            raise of_leaf from error
    if results and isinstance(results[0], tuple):
        parts = [from_buffers(fused, column) for column in zip(*results)]
        named = hasattr(results[0], "_fields")
        return type(results[0])(*parts) if named else tuple(parts)
    return from_buffers(fused, tuple(results))


def _aligned(args: tuple[Any, ...]) -> Layout | None:
    """The common layout of the fused arguments, if the others are numbers or settings."""
    layout = None
    for arg in args:
        if arg.__class__ is FusedContainer:
            if layout is not None and arg._layout is not layout:
                return None
            layout = arg._layout
        elif isinstance(arg, (Container, list, tuple)) or len(getattr(arg, "shape", ())):
            return None
    return layout


def _shortcut(op: Op, types: tuple[type, ...], general: Callable[..., Any]) -> Callable[..., Any]:
    """The function for one or two arguments of these types: the op on one buffer, else `general`."""
    if Trait.ELEMENTWISE not in op.traits or not all(
        t is FusedContainer or t in NUMBERS for t in types
    ):
        return general
    function, are_two = op.function, types == (FusedContainer, FusedContainer)
    place = types.index(FusedContainer)

    def on_buffer(*args: Any) -> Any:
        layout, buffers = args[place]._layout, args[place]._buffers
        if len(buffers) > 1 or (are_two and args[1]._layout is not layout):
            return general(*args)
        try:
            if are_two:
                result = function(buffers[0], args[1]._buffers[0])
            else:
                result = function(*args[:place], buffers[0], *args[place + 1 :])
        except Exception:  # raised again by `general`, whose error names the leaf
            return general(*args)
        return general(*args) if isinstance(result, tuple) else from_buffers(layout, (result,))

    return on_buffer


_apply.shortcut = _shortcut  # type: ignore[attr-defined]
register_interpreter(FusedContainer, _apply, priority=90)
