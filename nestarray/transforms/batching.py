"""`vmap`: a function of one example becomes one of a batch.

The nests are flattened once, the mapped axes moved to the front, and a function of flat
arrays is handed to the backend (``backends/<name>/transforms.py: vmap``): ``jax.vmap``,
``torch.func.vmap`` and ``tf.vectorized_map`` run each operation once for the whole batch;
NumPy calls the function once for each example and stacks the results. While code is recorded as a
graph, the function of one example is recorded, and mapped in one call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, wraps
from typing import Any

import numpy as np

from nestarray import backends, ops, tree
from nestarray.config import current_backend
from nestarray.errors import ArgumentError, IndexingError, ShapeError, UnsupportedError
from nestarray.errors.signatures import signature_errors
from nestarray.transforms.arguments import name_of, native_transforms
from nestarray.transforms.carries import ARRAY, take_apart
from nestarray.transforms.collectives import collecting, is_any_named, moved
from nestarray.transforms.loop_arguments import check_count
from nestarray.transforms.recording import current_recorder
from nestarray.typing import Nest

#: An axis; None for what is not mapped; or a nest of these, a prefix of the argument.
Axes = Any


@signature_errors(callables=("fn",))
def vmap(
    fn: Callable[..., Any],
    in_axes: Axes = 0,
    out_axes: Axes = 0,
    *,
    axis_name: Any = None,
    axis_size: int | None = None,
) -> Callable[..., Any]:
    """The function that maps `fn` over an axis of its arguments.

    Arguments by keyword are handed through, and so are leaves that are no arrays. The
    function nests, and goes together with `grad`, `jit` and random keys
    (``na.vmap(sample)(key.split(n))``).

    Args:
        fn: function of nests that returns a nest of arrays.
        in_axes: the axis of the positional arguments to map over, None for those that every
            call gets whole; a tuple gives one for each argument, a Container or dict in it
            one for each part of that argument.
        out_axes: where the mapped axis stands in the results; for results that are several,
            a nest as for `in_axes`. None for a result that is the same for all examples, which
            comes back once: on JAX, PyTorch and TensorFlow one that is not computed from what
            is mapped, on NumPy one with the same bits for every example.
        axis_name: a name for the mapped axis, by which `psum`, `pmean`, `all_gather` and their
            like see all examples inside of `fn`. On NumPy and TensorFlow `fn` runs once more
            for each of them.
        axis_size: the number of examples; needed only if nothing is mapped, when each result is
            repeated as often.

    Returns:
        a function of the same arguments, each with one more axis.

    Raises:
        ArgumentError: `axis_size` is no number of examples; or when called, if nothing is mapped and
            there is no `axis_size`, `in_axes` does not fit the arguments, or `out_axes` is None for a
            result that is not the same for all examples.
        ShapeError: when called, if the mapped axes have different sizes, or one that is not
            `axis_size`, or `in_axes` names an axis that is not there.
        UnsupportedError: when called, if the axis has an `axis_name` and a length that is not known
            while it is traced.

    Example:
        >>> import numpy as np, nestarray as na
        >>> v = na.Container(w=np.asarray([[1.0, 2.0], [3.0, 4.0]]))
        >>> x = np.asarray([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
        >>> na.vmap(lambda v, x: v.w @ x, in_axes=(None, 0))(v, x)
        array([[1., 3.],
               [2., 4.],
               [3., 7.]])

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.vmap.html
    """
    check_count("vmap", "axis_size", axis_size)

    @wraps(fn)
    def call(*args: Any, **kwargs: Any) -> Any:
        if isinstance(in_axes, (tuple, list)) and len(in_axes) != len(args):
            raise ArgumentError(
                f"vmap: in_axes: got {len(in_axes)} axes, but {name_of(fn)} was called with "
                f"{len(args)} positional arguments"
            )
        axes_of = in_axes if isinstance(in_axes, (tuple, list)) else (in_axes,) * len(args)
        leaves, structure = tree.flatten(args, unfused=True)
        axes = [
            axis for arg, given in zip(args, axes_of) for axis in _spread(given, arg, "in_axes")
        ]
        places = [i for i, leaf in enumerate(leaves) if backends.backend_of_value(leaf)]
        mapped = [i for i in places if axes[i] is not None]
        _check_sizes(fn, leaves, axes, mapped, axis_size)
        backend = backends.find_backend(tuple(leaves[i] for i in places)) or current_backend()
        arrays = [_in_front(leaves[i], axes[i]) for i in mapped]
        if not mapped:  # what is mapped instead is not looked at
            assert axis_size is not None
            arrays = [_counted(axis_size, [leaves[i] for i in places], backend)]
        returned: list[Any] = []

        def flat(*rows: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
            filled = list(leaves)
            for i, row in zip(mapped, rows, strict=False):
                filled[i] = row
            result = fn(*tree.unflatten(structure, filled), **kwargs)
            found, form = take_apart(result, unfused=True)
            spread = _spread(out_axes, result, "out_axes")
            axes = [axis for axis, leaf in zip(spread, form.rest, strict=True) if leaf is ARRAY]
            returned[:] = [form, axes]
            pairs = list(zip(found, axes, strict=True))
            return (
                tuple([x for x, axis in pairs if axis is not None]),
                tuple([x for x, axis in pairs if axis is None]),
            )

        has_common = None in tree.flatten(out_axes)[0]
        stacked, common, differing = map_rows(flat, arrays, backend, axis_name, has_common)
        form, axes = returned
        if differing:
            place = [i for i, axis in enumerate(axes) if axis is None][differing[0]]
            raise ArgumentError(
                f"vmap: out_axes: got None for the result{form.path(place)} of {name_of(fn)}, which "
                "is not the same for all examples; give the axis along which they are to stand"
            )
        rows, others = iter(stacked), iter(common)
        return form.nest([next(others) if a is None else moved(next(rows), a) for a in axes])

    return call


def map_rows(
    flat: Callable[..., tuple[Any, Any]],
    arrays: Sequence[Any],
    backend: str,
    axis_name: Any = None,
    has_common: bool = False,
) -> tuple[Any, Any, Any]:
    """What a function of rows gives for all rows, where collectives find their examples.

    Args:
        flat: of rows: what is to be stacked, and, if `has_common`, what all have in common.
        arrays: with the rows along their first axes.
        backend: of the arrays.
        axis_name: for collectives; None: the axis has none.
        has_common: the second of what `flat` gives is asked for.

    Returns:
        (stacked, common, the places of what is not the same for all examples).
    """
    native = current_recorder() or native_transforms(backend)
    if backend == "jax" and not current_recorder():
        return _run(native, has_common, arrays, flat, axis_name=axis_name)
    if axis_name is None and not is_any_named():
        return _run(native, has_common, arrays, flat)
    count = _check_named(arrays[0].shape[0], axis_name)
    index = _counted(count, list(arrays), backend)
    run = partial(_run, native, has_common, [index, *arrays])
    return collecting(run, flat, axis_name, count, backend)


def _run(
    native: Any,
    has_common: bool,
    arrays: Sequence[Any],
    flat: Callable[..., tuple[Any, Any]],
    **settings: Any,
) -> tuple[Any, Any, Any]:
    """What is stacked, what all examples have in common, and which of that is not."""
    if has_common:
        return native.vmap_with_common(flat, list(arrays), **settings)
    return native.vmap(lambda *rows: flat(*rows)[0], list(arrays), **settings), (), ()


def _check_named(count: Any, axis_name: Any) -> int:
    """The length of an axis that has a name, or is inside of one that has."""
    if count is None:
        raise UnsupportedError(
            f"vmap: axis_name: got {axis_name!r} for an axis whose length is not known while it is "
            "traced; trace it for each shape, without an input_signature"
        )
    return count


def _in_front(x: Any, axis: int | None) -> Any:
    """`x` with `axis` in the place of its first."""
    return ops.moveaxis(x, axis, 0) if axis else x


def _spread(axes: Axes, nest: Nest, name: str) -> list[int | None]:
    """One axis for each leaf of `nest`, from a prefix of it."""
    found = tree.spread(axes, nest, f"vmap: {name}")
    for axis in found:
        if axis is not None and (not isinstance(axis, int) or isinstance(axis, bool)):
            raise ArgumentError(f"vmap: {name}: got {axis!r}, expected an axis or None")
    return found


def _counted(count: int, arrays: list[Any], backend: str) -> Any:
    """As many numbers, on the device of `arrays`, if there are any."""
    host = np.arange(count, dtype=np.int32)
    return ops.asarray(host, like=arrays[0]) if arrays else backends.core(backend).from_numpy(host)


def _check_sizes(
    fn: Callable[..., Any],
    leaves: tuple[Any, ...],
    axes: list[int | None],
    mapped: list[int],
    axis_size: int | None,
) -> None:
    if not mapped and axis_size is None:
        raise ArgumentError(
            f"vmap: {name_of(fn)} was called without an array to map over; in_axes must name an "
            "axis of at least one, or axis_size say how often the results are to stand"
        )
    sizes: dict[int, tuple[int, ...]] = {}
    for i in mapped:
        shape, axis = tuple(leaves[i].shape), axes[i]
        assert axis is not None
        if not -len(shape) <= axis < len(shape):
            raise IndexingError(
                f"vmap: in_axes: got the axis {axis} for an array of shape {shape}; give None for "
                "what every call gets whole"
            )
        sizes.setdefault(shape[axis], shape)
    if axis_size is not None and set(sizes) - {axis_size}:
        size, shape = next((n, shape) for n, shape in sizes.items() if n != axis_size)
        raise ShapeError(
            f"vmap: axis_size: got {axis_size}, but a mapped axis has the size {size} (of shape "
            f"{shape}); leave axis_size out, the arrays say it"
        )
    if len(sizes) > 1:
        shown = ", ".join(f"{n} (of shape {shape})" for n, shape in sizes.items())
        raise ShapeError(f"vmap: the mapped axes have different sizes: {shown}")
