"""`vmap` turns a function of one example into a function of a batch.

The nests are flattened once, the mapped axes move to the front, and the backend gets a function of
flat arrays (``backends/<name>/transforms.py: vmap``). ``jax.vmap``, ``torch.func.vmap`` and
``tf.vectorized_map`` run each operation once for the whole batch; NumPy calls the function for each
example and stacks the results. A recorder records the function of one example and maps it in one
call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, wraps
from typing import Any

import numpy as np

from nestarray import backends, ops, tree
from nestarray.config import current_backend
from nestarray.dynamo import is_compiling
from nestarray.errors import ArgumentError, IndexingError, ShapeError, UnsupportedError
from nestarray.errors.signatures import signature_errors
from nestarray.transforms.arguments import name_of, native_transforms
from nestarray.transforms.carries import ARRAY, take_apart
from nestarray.transforms.collectives import collecting, is_any_named, moved
from nestarray.transforms.enclosing import without_states
from nestarray.transforms.loop_arguments import check_count
from nestarray.transforms.recording import current_recorder
from nestarray.typing import NUMBERS, Nest

#: An axis, None for an unmapped argument, or a nest of these that is a prefix of the argument.
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
    """Map `fn` over an axis of its arguments.

    Keyword arguments and leaves other than arrays pass unchanged to every call. A result that does
    not depend on the mapped arguments, such as a number, is repeated. `vmap` nests, and composes with `grad`, `jit` and random keys (``na.vmap(sample)(key.split(n))``).

    Args:
        fn: function of nests that returns a nest of arrays.
        in_axes: the axis of the positional arguments to map over, or None for an unmapped
            argument; a tuple gives one axis per argument, and a Container or dict in it one axis
            per part of that argument.
        out_axes: the position of the mapped axis in the results, or a nest as for `in_axes`. None
            returns an unbatched result once: on JAX, PyTorch and TensorFlow the result must not
            depend on mapped arguments; on NumPy it must have the same bits for every example.
        axis_name: a name for the mapped axis, for `psum`, `pmean`, `all_gather` and the other
            collectives inside `fn`. On NumPy and TensorFlow each collective runs `fn` once more.
        axis_size: the number of examples; required only if no argument is mapped. Each result is
            then repeated.

    Returns:
        a function of the same arguments, each with one more axis.

    Raises:
        ArgumentError: `axis_size` is not a positive integer; or when called, if no argument is
            mapped and `axis_size` is None, `in_axes` does not fit the arguments, or `out_axes` is
            None for a result that depends on the example; or, in a call of a `Module`, a layer in
            `fn` updates its state.
        ShapeError: when called, if the mapped axes differ in size from each other or from
            `axis_size`, or `in_axes` names an axis that an argument lacks.
        UnsupportedError: when called, if the axis has an `axis_name` and its length is unknown at
            trace time.

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

    def call(each: Callable[..., Any], /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
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
        if not mapped:  # map over a counter, which `flat` ignores
            assert axis_size is not None
            arrays = [_counted(axis_size, [leaves[i] for i in places], backend)]
        returned: list[Any] = []

        def flat(*rows: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
            filled = list(leaves)
            for i, row in zip(mapped, rows, strict=False):
                filled[i] = row
            result, drawn = each(*tree.unflatten(structure, filled), **kwargs)
            spread = _spread(out_axes, result, "out_axes")
            found, form = take_apart(_with_arrays(result, spread, rows[0]), unfused=True)
            axes = [axis for axis, leaf in zip(spread, form.rest, strict=True) if leaf is ARRAY]
            returned[:] = [form, axes, list(drawn)]
            pairs = list(zip(found, axes, strict=True))
            return (
                (*drawn.values(), *[x for x, axis in pairs if axis is not None]),
                tuple([x for x, axis in pairs if axis is None]),
            )

        has_common = None in tree.flatten(out_axes)[0]
        stacked, common, differing = map_rows(flat, arrays, backend, axis_name, has_common)
        form, axes, prefixes = returned
        if differing:
            place = [i for i, axis in enumerate(axes) if axis is None][differing[0]]
            raise ArgumentError(
                f"vmap: out_axes: got None for the result{form.path(place)} of {name_of(fn)}, which "
                "is not the same for all examples; give the axis along which they are to stand"
            )
        rows, others = iter(stacked), iter(common)
        drawn = {prefix: ops.max(next(rows)) for prefix in prefixes}
        found = [next(others) if a is None else moved(next(rows), a) for a in axes]
        return form.nest(found), drawn

    def stateless(*args: Any, **kwargs: Any) -> Any:
        remedy = "each example would have its own state; call the layer on all examples, outside"
        return without_states("vmap", fn, lambda each: call(each, *args, **kwargs), remedy)

    # torch.compile cannot read the name of the module of a graph's functions
    return stateless if is_compiling() else wraps(fn)(stateless)


def map_rows(
    flat: Callable[..., tuple[Any, Any]],
    arrays: Sequence[Any],
    backend: str,
    axis_name: Any = None,
    has_common: bool = False,
) -> tuple[Any, Any, Any]:
    """Map a function of rows over all rows, with collectives.

    Args:
        flat: function of rows that returns (batched outputs, unbatched outputs).
        arrays: arrays with the rows along their first axes.
        backend: the backend of the arrays.
        axis_name: the name of the axis for collectives, or None.
        has_common: whether to return the unbatched outputs.

    Returns:
        (batched outputs, unbatched outputs, indices of outputs that should have been batched).
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
    """(batched outputs, unbatched outputs, indices of those that should have been batched)."""
    if has_common:
        return native.vmap_with_common(flat, list(arrays), **settings)
    return native.vmap(lambda *rows: flat(*rows)[0], list(arrays), **settings), (), ()


def _check_named(count: Any, axis_name: Any) -> int:
    """The length of an axis that is named or inside a named axis."""
    if count is None:
        raise UnsupportedError(
            f"vmap: axis_name: got {axis_name!r} for an axis whose length is not known while it is "
            "traced; trace it for each shape, without an input_signature"
        )
    return count


def _in_front(x: Any, axis: int | None) -> Any:
    """`x` with `axis` moved to the front."""
    return ops.moveaxis(x, axis, 0) if axis else x


def _spread(axes: Axes, nest: Nest, name: str) -> list[int | None]:
    """One axis for each leaf of `nest`, from a prefix of it."""
    found = tree.spread(axes, nest, f"vmap: {name}")
    for axis in found:
        if axis is not None and (not isinstance(axis, int) or isinstance(axis, bool)):
            raise ArgumentError(f"vmap: {name}: got {axis!r}, expected an axis or None")
    return found


def _with_arrays(nest: Nest, axes: list[int | None], like: Any) -> Nest:
    """`nest` with arrays instead of the numbers that have an axis."""
    leaves, structure = tree.flatten(nest, unfused=True)
    is_number = [axis is not None and isinstance(leaf, NUMBERS) for leaf, axis in zip(leaves, axes)]
    if not any(is_number):
        return nest
    pairs = zip(leaves, is_number, strict=True)
    return tree.unflatten(
        structure, [ops.asarray(leaf, like=like) if hit else leaf for leaf, hit in pairs]
    )


def _counted(count: int, arrays: list[Any], backend: str) -> Any:
    """The numbers from 0 to `count` - 1, on the device of `arrays`, if there are any."""
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
