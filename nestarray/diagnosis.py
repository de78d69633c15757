"""What was wrong with a call that a framework refused.

A call that succeeds pays for no check. When a backend's function raises, the op's arguments
are looked at here: their kinds, as the signature has them, then `RULES` in their order, then
the checks in the op's own body. The first that is broken raises the error: the same type and
the same text on every backend.
Where no rule knows what was wrong, the error lists what the op was called with. Errors that
come from the values of arrays (a singular matrix, an index out of bounds), and those of
traced code, stay the framework's own. A mistake that some framework would compute something
for is checked in that backend's function, by the same rule.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter
from types import NoneType
from typing import Any

import numpy as np

from nestarray import backends, dtypes
from nestarray.backends import matrices
from nestarray.backends.axes import (
    check_contracted,
    check_order,
    check_pad_mode,
    expanded_shape,
    many_axes,
    moved_axes,
    one_axis,
    pad_widths,
    squeezed_axes,
)
from nestarray.backends.index import (
    axes_taken,
    check_numbers,
    expanded,
    is_mask,
    outside,
    without_ones,
)
from nestarray.container import Container
from nestarray.errors import (
    ArgumentError,
    DtypeError,
    IndexingError,
    NestarrayError,
    ShapeError,
)
from nestarray.typing import check_kind

Arguments = Mapping[str, Any]
Rule = Callable[[str, Arguments], None]


def explain(
    name: str,
    chapter: str,
    error: Exception,
    arguments: Arguments,
    parameters: Mapping[str, Parameter],
    body: Callable[[], Any] | None,
    again: Callable[[Arguments], Any],
) -> None:
    """Raise our error in place of a framework's.

    Args:
        name, chapter: of the op.
        error: what the framework raised.
        arguments: of the op's parameters that were given.
        parameters: of the op's signature.
        body: a call of the op's default body with the arguments; None: it has none.
        again: calls what serves arrays of the backend with other arguments.

    Raises:
        ArgumentError, ShapeError, DtypeError: names the op, the argument, what came and what was
            expected.
    """
    if any(isinstance(x, Container) for x in arguments.values()):
        return  # of trees, the leaf's own call has said it
    is_ours = isinstance(error, NestarrayError)
    if is_ours and str(error).startswith(f"{name}: "):
        error.inner = name  # type: ignore[attr-defined]  # an op that called this one may say more
        return
    rules = [kinds_rule(parameters, body), *RULES.get(name, ()), *_GENERAL.get(chapter, ())]
    if name not in _OWN_AXIS:
        rules.append(check_axis)
    if not is_ours or hasattr(error, "inner"):
        rules += [_body_rule(body), _kernel_rule(error, again), _last_rule(error, parameters)]
    for rule in rules:
        try:
            rule(name, arguments)
        except NestarrayError as ours:
            ours.inner = name  # type: ignore[attr-defined]
            raise ours from error
        except (TypeError, ValueError, AttributeError, KeyError, IndexError):
            continue  # arguments that the rule cannot read are not what it is about


_AXES = frozenset(("axis", "axes", "source", "destination"))


def kinds_rule(parameters: Mapping[str, Parameter], body: Callable[[], Any] | None) -> Rule:
    """A rule that settings are of the kinds that the signature names.

    What `body`, a call of the op's own, says of a wrong one comes first: it may know more, such
    as the least number that it takes.
    """

    def check_kinds(name: str, arguments: Arguments) -> None:
        for parameter, value in arguments.items():
            declared = parameters[parameter]
            annotation = str(declared.annotation)
            if (
                parameter in _AXES
                and "Sequence" in annotation
                and type(value) not in (bool, NoneType)
                and not (type(value) in (tuple, list) and bool in map(type, value))
            ):
                continue  # the rules about axes say it
            by_name = value if declared.kind is declared.VAR_KEYWORD else {parameter: value}
            try:
                for own, one in by_name.items():
                    check_kind(name, own, annotation, one)
            except ArgumentError:
                _body_rule(body)(name, arguments)
                raise

    return check_kinds


# -- what no rule knows --------------------------------------------------------------------------

#: What frameworks raise over arguments. Their subclasses are about something else: memory, traces.
_OVER_ARGUMENTS = frozenset(
    ("TypeError", "ValueError", "RuntimeError", "AttributeError", "KeyError", "AssertionError",
     "AxisError", "UFuncTypeError", "_UFuncInputCastingError", "_UFuncOutputCastingError",
     "_UFuncNoLoopError", "UnboundLocalError", "InvalidArgumentError", "UnimplementedError",
     "InternalError", "ZeroDivisionError", "MLIRError", "NotImplementedError")
)  # fmt: skip

#: How they say that values were wrong, or that there was no memory.
_OVER_VALUES = re.compile(
    "index .*out of bounds|index out of (bounds|range)|Target .*out of bounds|is not in \\["
    "|not positive|positive.definite|invertible|singular|converge|successful|[Aa]llocat|out of memory|enough memory"
    "|must increase|must be monoton|[Dd]ivision by zero|ZeroDivisionError"
)
#: What an IndexError says that is about shapes.
_OVER_SHAPES = re.compile(
    "^(tuple|list) index out of range|[Tt]oo many indices|indexing arrays could not be broadcast"
    "|^Dimension out of range|empty ax[ei]s|used as ind(ices|exes) must be"
    "|only integers, slices"
)


def _body_rule(body: Callable[[], Any] | None) -> Rule:
    """What the op's own composition says of arguments that a native function refused."""

    def check_by_body(name: str, arguments: Arguments) -> None:
        if body is None or _is_any_traced(arguments):
            return
        try:
            body()
        except NestarrayError as error:
            if str(error).startswith(f"{name}: "):
                raise
        except Exception:  # no check of the body's: the framework's error again, or another
            return

    return check_by_body


def _last_rule(error: Exception, parameters: Mapping[str, Parameter]) -> Rule:
    def check_call(name: str, arguments: Arguments) -> None:
        """There is no error over arguments."""
        if type(error) is IndexError:
            is_over_arguments = _OVER_SHAPES.search(str(error)) is not None
        elif isinstance(error, NestarrayError):
            is_over_arguments = True  # of an op that this one is made of
        else:
            is_over_arguments = type(error).__name__ in _OVER_ARGUMENTS and not _OVER_VALUES.search(
                str(error)
            )
        if is_over_arguments and not _is_any_traced(arguments):
            listed = ", ".join(
                f"{key} {_shown(value)}"
                for key, value in arguments.items()
                if value is not parameters[key].default
            )
            raise ArgumentError(
                f"{name}: cannot be computed for {listed}; help(na.{name}) says what it takes"
            )

    return check_call


def _is_any_traced(arguments: Arguments) -> bool:
    return any(backends.core(backends.backend_of(x)).is_traced(x) for _, x in _arrays(arguments))


def _shown(value: Any) -> str:
    """An array by dtype and shape, anything else as it prints."""
    if backends.backend_of_type(type(value)) is None:
        if isinstance(value, (list, tuple)) and _arrays({"": value}):
            return f"[{', '.join(map(_shown, value))}]"
    else:
        return f"{dtypes.dtype_of(value).name} {tuple(value.shape)}"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


# -- shapes ----------------------------------------------------------------------------------


def _shape(x: Any) -> tuple[int, ...]:
    """The shape of an array, all of whose lengths are known; TypeError else."""
    if not all(hasattr(n, "__index__") for n in x.shape):
        raise TypeError("a tracer does not know all lengths")
    return tuple([int(n) for n in x.shape])


def _arrays(arguments: Arguments) -> list[tuple[str, Any]]:
    """(name, array) of the arrays among the arguments, those in lists too."""
    found = []
    for name, value in arguments.items():
        many = isinstance(value, (list, tuple))
        for i, item in enumerate(value if many else [value]):
            if backends.backend_of_type(type(item)) is not None:
                found.append((f"{name}[{i}]" if many else name, item))
    return found


def check_masks(name: str, arguments: Arguments) -> None:
    """Masks in an index have the shape of the axes that they stand for; axes of 0 fit any."""
    shape, axis = tuple(arguments["x"].shape), 0
    for item in expanded(arguments["index"], len(shape)):
        taken = axes_taken(item)
        if taken and is_mask(item):
            own, other = shape[axis : axis + taken], tuple(item.shape)
            if any(None not in (a, b) and b not in (0, a) for a, b in zip(own, other)):
                raise IndexingError(
                    f"{name}: index: got a mask of shape {other} for axes of shape {tuple(own)}, "
                    "expected the same"
                )
        axis += taken


def check_index_numbers(name: str, arguments: Arguments) -> None:
    """Positions in an index count elements that there are."""
    if _is_any_traced(arguments):
        return
    index = arguments["index"]
    items = tuple(map(_on_the_host, index)) if isinstance(index, tuple) else _on_the_host(index)
    check_numbers(name, items, tuple(arguments["x"].shape))


def check_value(name: str, arguments: Arguments) -> None:
    """`value` broadcasts to what the index names."""
    if _is_any_traced(arguments):
        return
    index, x = arguments["index"], arguments["x"]
    items = tuple(map(_on_the_host, index)) if isinstance(index, tuple) else _on_the_host(index)
    part = np.broadcast_to(np.False_, _shape(x))[items].shape
    own = tuple(getattr(arguments["value"], "shape", ()))
    fitted = without_ones(own, len(part))
    padded = (1,) * (len(part) - len(fitted)) + fitted
    if len(fitted) > len(part) or any(n not in (1, m) for n, m in zip(padded, part)):
        raise ShapeError(
            f"{name}: value: got shape {own}, expected {part}, the shape of the part that the index "
            "names, or what broadcasts to it"
        )


def _on_the_host(x: Any) -> Any:
    """An array as NumPy's; anything else as it is."""
    backend = backends.backend_of_type(type(x))
    return x if backend is None else backends.core(backend).to_numpy(x)


def check_bounds(name: str, arguments: Arguments) -> None:
    """`indices` count elements that there are; JAX clips the others, or drops them."""
    indices, x = arguments["indices"], arguments["weight" if name == "embedding" else "x"]
    if _is_any_traced({"x": x, "indices": indices}):
        return
    axis, shape = arguments.get("axis", _FIRST_AXIS.get(name)), _shape(x)
    if len(shape) != {"embedding": 2, "gather": len(indices.shape)}.get(name, len(shape)):
        return  # another axis would be spoken of; the op's own check says it
    length = _size(shape) if axis is None else shape[many_axes(axis, len(shape), name)[0]]
    least = 0 if name == "embedding" else -length
    what = "x" if axis is None else f"axis {axis}"
    _check_inside(name, "indices", _on_the_host(indices), least, length, f"the length of {what}")


def _check_inside(name: str, argument: str, host: Any, least: int, length: int, what: str) -> None:
    wrong = outside(host, least, length)
    if wrong is not None:
        raise IndexingError(
            f"{name}: {argument}: got {wrong}, expected {least} <= index < {length}, which is {what}"
        )


def check_segments(name: str, arguments: Arguments) -> None:
    """`segment_ids` count segments that there are."""
    ids, count = arguments["segment_ids"], arguments.get("num_segments")
    if count is None or _is_any_traced({"segment_ids": ids}):
        return
    _check_inside(name, "segment_ids", _on_the_host(ids), -count, count, "num_segments")


def check_classes(name: str, arguments: Arguments) -> None:
    """Integers in `target` are classes that there are, or to be ignored."""
    target, (_, scores) = arguments["target"], _arrays(arguments)[0]
    if not dtypes.dtype_of(target).is_integer or _is_any_traced({"target": target}):
        return
    count = _shape(scores)[arguments.get("axis", -1)]
    host = _on_the_host(target)
    counted = host[host != arguments.get("ignore_index", -100)]
    _check_inside(name, "target", counted, 0, count, "the number of classes")


def check_images(name: str, arguments: Arguments) -> None:
    """`box_indices` count images that there are."""
    indices, x = arguments["box_indices"], arguments["x"]
    if not _is_any_traced({"box_indices": indices}):
        length = _shape(x)[0]
        _check_inside(name, "box_indices", _on_the_host(indices), 0, length, "the length of x")


#: The axis that indices count along where none is given.
_FIRST_AXIS = {"embedding": 0, "index_add": 0, "take_along_axis": -1}


def check_along(name: str, arguments: Arguments) -> None:
    """`indices` have the axes of x, and broadcast with it but for the one that they count along."""
    of_x, of_indices = _shape(arguments["x"]), _shape(arguments["indices"])
    axis = one_axis(arguments.get("axis", -1), len(of_x), name)
    others = [shape[:axis] + shape[axis + 1 :] for shape in (of_x, of_indices)]
    if len(of_x) != len(of_indices) or any(a != b and 1 not in (a, b) for a, b in zip(*others)):
        raise ShapeError(
            f"{name}: indices: got shape {of_indices} for x of shape {of_x}, expected as many axes, "
            f"which broadcast with those of x but for axis {axis}"
        )


def check_positions(name: str, arguments: Arguments) -> None:
    """Rows of `indices` are positions on the first axes of x, and updates fit what they choose."""
    of_x, of_indices = _shape(arguments["x"]), _shape(arguments["indices"])
    if not of_indices or of_indices[-1] > len(of_x):
        raise ShapeError(
            f"{name}: indices: got shape {of_indices} for x of shape {of_x}, expected (*batch, k) "
            f"with k of at most {len(of_x)}"
        )
    if "updates" in arguments:
        _check_fit(name, arguments, of_indices[:-1] + of_x[of_indices[-1] :])
    if _is_any_traced({"indices": arguments["indices"]}):
        return
    host, first = _on_the_host(arguments["indices"]), arguments.get("batch_dims", 0)
    for axis, length in enumerate(of_x[first : first + of_indices[-1]], first):
        what = f"the length of axis {axis}"
        _check_inside(name, "indices", host[..., axis - first], -length, length, what)


def check_updates(name: str, arguments: Arguments) -> None:
    """`updates` fit x with `indices` in the place of an axis."""
    of_x, of_indices = _shape(arguments["x"]), _shape(arguments["indices"])
    axis = one_axis(arguments.get("axis", 0), len(of_x), name)
    _check_fit(name, arguments, of_x[:axis] + of_indices + of_x[axis + 1 :])


def _check_fit(name: str, arguments: Arguments, wanted: tuple[int, ...]) -> None:
    """`updates` broadcast to a shape."""
    own = tuple(getattr(arguments["updates"], "shape", ()))
    padded = (1,) * (len(wanted) - len(own)) + own
    if len(own) > len(wanted) or any(n not in (1, m) for n, m in zip(padded, wanted)):
        raise ShapeError(
            f"{name}: updates: got shape {own}, expected {wanted} or what broadcasts to it, for x "
            f"of shape {_shape(arguments['x'])} and indices of shape {_shape(arguments['indices'])}"
        )


def check_axis(name: str, arguments: Arguments) -> None:
    """`axis` names axes of the first array."""
    axis = arguments.get("axis")
    if axis is not None:
        many_axes(axis, len(_arrays(arguments)[0][1].shape), name)


def check_axes(name: str, arguments: Arguments) -> None:
    """`axes` names each axis of x once."""
    ndim = len(arguments["x"].shape)
    axes = many_axes(tuple(arguments["axes"]), ndim, name, "axes")
    if len(axes) != ndim:
        raise ShapeError(
            f"{name}: axes: got {tuple(arguments['axes'])}, expected each of the {ndim} axes once"
        )


def check_broadcast(name: str, arguments: Arguments) -> None:
    """The shapes of all arrays broadcast."""
    shapes = [_shape(x) for _, x in _arrays(arguments)]
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        listed = " and ".join(map(str, dict.fromkeys(shapes)))
        raise ShapeError(f"{name}: got arrays of shapes {listed}, which do not broadcast") from None


def check_moved(name: str, arguments: Arguments) -> None:
    """`source` and `destination` name as many axes."""
    moved_axes(arguments["source"], arguments["destination"], len(arguments["x"].shape), name)


def check_swapped(name: str, arguments: Arguments) -> None:
    """Both are axes of x."""
    for argument in ("axis1", "axis2"):
        one_axis(arguments[argument], len(arguments["x"].shape), name, argument)


def check_new_axis(name: str, arguments: Arguments) -> None:
    """`axis` is a place among the axes of the result."""
    expanded_shape(arguments["x"].shape, arguments.get("axis", 0), name)


def check_squeezed(name: str, arguments: Arguments) -> None:
    """The axes to drop are of length 1."""
    squeezed_axes(_shape(arguments["x"]), arguments.get("axis"), name)


def check_contraction(name: str, arguments: Arguments) -> None:
    """Columns of the first are as many as rows of the second, and the batches broadcast."""
    a, b = _shape(arguments["x1"]), _shape(arguments["x2"])
    if not a or not b:
        raise ShapeError(
            f"{name}: got arrays of shapes {a} and {b}, expected at least one axis each"
        )
    rows = b[-2:][0]
    if a[-1] != rows:
        raise ShapeError(
            f"{name}: got shapes {a} and {b}: the last axis of x1 has {a[-1]} elements, expected "
            f"{rows}, as {'the second last' if len(b) > 1 else 'the'} axis of x2"
        )
    try:
        np.broadcast_shapes(a[:-2], b[:-2])
    except ValueError:
        raise ShapeError(
            f"{name}: got shapes {a} and {b}, whose leading axes do not broadcast"
        ) from None


def check_tensordot(name: str, arguments: Arguments) -> None:
    """The contracted axes are equally long."""
    a, b, axes = _shape(arguments["x1"]), _shape(arguments["x2"]), arguments.get("axes", 2)
    check_contracted(axes, name)
    if isinstance(axes, int):
        left, right = a[len(a) - axes :], b[:axes]
    else:
        first, second = axes
        left = tuple(a[n] for n in many_axes(first, len(a), name, "axes"))
        right = tuple(b[n] for n in many_axes(second, len(b), name, "axes"))
    if left != right:
        raise ShapeError(
            f"{name}: axes: got {axes} for shapes {a} and {b}: lengths {left} of x1 against {right} "
            "of x2, expected equal ones"
        )


def check_einsum(name: str, arguments: Arguments) -> None:
    """Each letter stands for one length, and there is a letter for each axis."""
    terms = arguments["subscripts"].replace(" ", "").split("->")[0].split(",")
    lengths: dict[str, int] = {}
    for term, (argument, x) in zip(terms, _arrays(arguments)):
        shape = _shape(x)
        if "..." in term:
            continue
        if len(term) != len(shape):
            raise ShapeError(
                f"{name}: {argument}: got shape {shape} for {term!r}, expected {len(term)} axes"
            )
        for letter, length in zip(term, shape):
            known = lengths.setdefault(letter, length)
            if length != known and 1 not in (length, known):
                raise ShapeError(
                    f"{name}: {argument}: got shape {shape} for {term!r}: {letter} is {length}, and "
                    f"{known} before"
                )


def check_linear(name: str, arguments: Arguments) -> None:
    """Features of x are those of the weight, and the bias is one for each output."""
    x, weight = _shape(arguments["x"]), _shape(arguments["weight"])
    if len(weight) != 2 or not x or x[-1] != weight[1]:
        raise ShapeError(
            f"{name}: got x of shape {x} and weight of shape {weight}, expected x (*batch, in) and "
            "weight (out, in)"
        )
    bias = arguments.get("bias")
    if bias is not None and _shape(bias) != weight[:1]:
        raise ShapeError(f"{name}: bias: got shape {_shape(bias)}, expected {weight[:1]}")


def check_square(name: str, arguments: Arguments) -> None:
    """The matrices of the first argument are square."""
    matrices.check_square(name, *_arrays(arguments)[0])


def check_right_side(name: str, arguments: Arguments) -> None:
    """The right-hand side has as many rows as the matrix."""
    a, b = _shape(arguments["x1"]), _shape(arguments["x2"])
    rows = b[0] if len(b) == 1 else b[-2]
    if rows != a[-1]:
        raise ShapeError(
            f"{name}: x2: got shape {b}, expected {a[-1]} rows, as x1 of shape {a} has"
        )


def check_matrices(name: str, arguments: Arguments) -> None:
    """There are two axes at least."""
    matrices.check_matrices(name, *_arrays(arguments)[0])


def check_concatenated(name: str, arguments: Arguments) -> None:
    """All arrays have one shape, but for the axis along which they are joined."""
    arrays = _arrays(arguments)
    shapes = [_shape(x) for _, x in arrays]
    axis = arguments.get("axis", 0)
    if axis is None:
        return
    (place,) = many_axes(axis, len(shapes[0]), name)
    for (argument, _), shape in zip(arrays, shapes):
        if len(shape) != len(shapes[0]) or any(
            n != m for i, (n, m) in enumerate(zip(shape, shapes[0])) if i != place
        ):
            raise ShapeError(
                f"{name}: {argument}: got shape {shape}, expected that of the first, {shapes[0]}, "
                f"but for axis {axis}"
            )


def check_stacked(name: str, arguments: Arguments) -> None:
    """All arrays have one shape."""
    arrays = _arrays(arguments)
    first = _shape(arrays[0][1])
    for argument, x in arrays:
        if _shape(x) != first:
            raise ShapeError(
                f"{name}: {argument}: got shape {_shape(x)}, expected {first}, as the first"
            )
    expanded_shape(first, arguments.get("axis", 0), name)


def check_reshaped(name: str, arguments: Arguments) -> None:
    """The new shape has as many elements."""
    check_order(arguments.get("order", "C"))
    old, new = _shape(arguments["x"]), arguments["shape"]
    new = (new,) if isinstance(new, int) else tuple(new)
    size, known = _size(old), _size([n for n in new if n != -1])
    fits = size == known if -1 not in new else known and size % known == 0 and new.count(-1) == 1
    if not fits:
        raise ShapeError(
            f"{name}: shape: got {new} for an array of shape {old} with {size} elements"
        )


def check_pad(name: str, arguments: Arguments) -> None:
    """The mode is known, and there is a pair for each axis."""
    check_pad_mode(arguments.get("mode", "constant"), name)
    pad_widths(arguments["pad_width"], len(arguments["x"].shape), name)


def check_broadcast_to(name: str, arguments: Arguments) -> None:
    """The array broadcasts to the shape."""
    old, new = _shape(arguments["x"]), tuple(arguments["shape"])
    padded = (1,) * (len(new) - len(old)) + old
    if len(old) > len(new) or any(n not in (1, m) for n, m in zip(padded, new)):
        raise ShapeError(
            f"{name}: shape: got {new}, to which an array of shape {old} does not broadcast"
        )


def _size(shape: Sequence[int]) -> int:
    return int(np.prod(shape, dtype=np.int64)) if len(shape) else 1


def check_side(name: str, arguments: Arguments) -> None:
    """`side` is a side of equal elements, and x1 a vector."""
    side = arguments.get("side", "left")
    if side not in ("left", "right"):
        raise ArgumentError(f"{name}: side: got {side!r}, expected 'left' or 'right'")
    if len(arguments["x1"].shape) != 1:
        raise ShapeError(f"{name}: x1: got shape {_shape(arguments['x1'])}, expected (n,)")


def check_elements(name: str, arguments: Arguments) -> None:
    """There is an element to choose in each reduced part."""
    shape, axis = _shape(arguments["x"]), arguments.get("axis")
    reduced = [shape[i] for i in many_axes(axis, len(shape), name)]
    if 0 in reduced:
        over = "" if axis is None else f" over axis {axis}"
        raise ShapeError(
            f"{name}: x: got shape {shape}, which has no elements to reduce{over}; there is no {name} "
            "of nothing"
        )


# -- dtypes ----------------------------------------------------------------------------------


def check_indices(name: str, arguments: Arguments) -> None:
    """`indices` are integers."""
    indices = arguments["indices"]
    dtype = dtypes.dtype_of(indices)
    if not dtype.is_integer:
        raise DtypeError(
            f"{name}: indices: got {dtype.name}, expected integers; cast with na.astype"
        )


def check_condition(name: str, arguments: Arguments) -> None:
    """`condition`, or `mask`, is bool."""
    argument = "condition" if "condition" in arguments else "mask"
    dtype = dtypes.dtype_of(arguments[argument])
    if dtype is not dtypes.bool:
        raise DtypeError(
            f"{name}: {argument}: got {dtype.name}, expected bool; compare it with 0 to make it one"
        )


#: How the frameworks, and ops about ops that they are made of, say that they have no kernel for a
#: dtype, or for two together.
_NO_KERNEL = re.compile(
    "not implemented for ('|complex)|does not support .* dtypes"
    "|Expected a floating point or complex tensor|not supported for complex"
    "|not in the list of allowed values|Could not find device for node"
    "|not supported for the input types|did not contain a loop with signature"
    "|does not accept dtype|boolean subtract|Subtraction, the `-` operator, with"
    "|data type is not supported|cannot compute it for|[Bb]ool(ean)? inputs not supported"
    "|the same dtypes?\\b|was expected to be an? \\w+ tensor but is|should be the same"
    "|Type promoting not supported|expected scalar type|Cannot cast ufunc"
    "|to EagerTensor of dtype|carry input and carry output must have equal types"
)


def _is_computed_in_float32(arguments: Arguments, again: Callable[[Arguments], Any]) -> bool:
    """Whether the call succeeds once its arrays of one dtype, such as bool, are float32."""
    if _is_any_traced(arguments):
        return False
    found = {dtypes.dtype_of(x) for _, x in _arrays(arguments)}
    for dtype in found - {dtypes.float32, dtypes.float64}:
        try:
            again({name: _in_float32(value, dtype) for name, value in arguments.items()})
        except Exception:  # whatever it is, it is not the dtype alone
            continue
        return True
    return False


def _in_float32(value: Any, dtype: dtypes.DType) -> Any:
    if isinstance(value, (list, tuple)):
        return [_in_float32(item, dtype) for item in value] if _arrays({"": value}) else value
    backend = backends.backend_of_type(type(value))
    if backend is None or dtypes.dtype_of(value) is not dtype:
        return value
    core = backends.core(backend)
    host = core.to_numpy(value)
    return core.from_numpy(np.asarray(host.real if dtype.kind == "complex" else host, "float32"))


def _kernel_rule(error: Exception, again: Callable[[Arguments], Any]) -> Rule:
    def check_kernel(name: str, arguments: Arguments) -> None:
        """The framework has a kernel for the dtypes."""
        arrays = [x for _, x in _arrays(arguments)]
        if not arrays or not (
            _NO_KERNEL.search(str(error)) or _is_computed_in_float32(arguments, again)
        ):
            return
        if _OVER_VALUES.search(str(error)):
            return
        found = " and ".join(dict.fromkeys(dtypes.dtype_of(x).name for x in arrays))
        raise DtypeError(
            f"{name}: {backends.backend_of(arrays[0])} cannot compute it for {found}; cast to "
            "a dtype that it takes with na.astype"
        )

    return check_kernel


# -- which rules hold for which ops ------------------------------------------------------------

_GENERAL: dict[str, tuple[Rule, ...]] = dict.fromkeys(
    ("elementwise", "logic", "transcendental", "special", "gamma", "bessel", "representation"),
    (check_broadcast,),
)

_SQUARE = [
    "cholesky",
    "cho_solve",
    "det",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "expm",
    "inv",
    "matrix_power",
    "slogdet",
    "sqrtm",
]

#: Op → its rules, in the order in which they are tried; `check_axis` holds for all.
RULES: dict[str, tuple[Rule, ...]] = {
    **dict.fromkeys(_SQUARE, (check_square,)),
    **dict.fromkeys(
        (
            "argmax",
            "argmin",
            "max",
            "min",
            "median",
            "nanmax",
            "nanmin",
            "percentile",
            "ptp",
            "quantile",
        ),
        (check_elements,),
    ),
    **dict.fromkeys(("cross_entropy", "multi_margin_loss", "nll_loss"), (check_classes,)),
    **dict.fromkeys(("crop_and_resize", "roi_align"), (check_images,)),
    **dict.fromkeys(("gather_nd", "scatter_nd"), (check_indices, check_positions)),
    **dict.fromkeys(
        ("embedding", "gather", "put_along_axis", "scatter"), (check_indices, check_bounds)
    ),
    "index_add": (check_indices, check_axis, check_updates, check_bounds),
    "take_along_axis": (check_indices, check_axis, check_along, check_bounds),
    **dict.fromkeys(
        ("lu", "matrix_rank", "pinv", "qr", "svd", "svdvals", "tril", "triu"), (check_matrices,)
    ),
    "broadcast_to": (check_broadcast_to,),
    "concat": (check_concatenated,),
    "einsum": (check_einsum,),
    "expand_dims": (check_new_axis,),
    "getitem": (check_masks, check_index_numbers),
    "searchsorted": (check_side,),
    "setitem": (check_masks, check_index_numbers, check_value),
    "linear": (check_linear,),
    "matmul": (check_contraction,),
    "moveaxis": (check_moved,),
    "pad": (check_pad,),
    "permute_dims": (check_axes,),
    "reshape": (check_reshaped,),
    "solve": (check_square, check_right_side),
    "squeeze": (check_squeezed,),
    "stack": (check_stacked,),
    "swapaxes": (check_swapped,),
    "tensordot": (check_tensordot,),
    "take": (check_axis, check_indices, check_bounds),
    "masked_fill": (check_condition,),
    "masked_select": (check_condition,),
    **dict.fromkeys(
        ("segment_max", "segment_mean", "segment_min", "segment_prod", "segment_sum"),
        (check_segments,),
    ),
    "where": (check_condition, check_broadcast),
}

#: Ops whose `axis` counts places of the result, and says so by its own rule.
_OWN_AXIS = frozenset(("expand_dims", "stack"))
