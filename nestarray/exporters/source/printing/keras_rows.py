"""Calls of Keras 3 as a user writes them, and the calls of JAX that they stand for.

`keras.ops` has NumPy's names. Arrays are of TensorFlow, JAX or PyTorch, which share operators of equal
dtypes, and indices without arrays and without negative steps; for others there is a function.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from nestarray.dtypes import DType, as_dtype
from nestarray.exporters.source.printing.expressions import BINARY
from nestarray.exporters.source.printing.keras_language import LANGUAGE, call_of, new_call
from nestarray.exporters.source.printing.keras_windows import (
    conv,
    conv_transpose,
    pool,
    pool_channels_first,
    resize,
)
from nestarray.exporters.source.printing.translation import Row
from nestarray.exporters.source.recording.records import Call, Name, Value, values_in
from nestarray.graph.node import map_leaves


def _row(name: str, _names: Mapping[str, str] | None = None, **defaults: Any) -> Row:
    """A row for a function of `keras.ops`; none for settings that it lacks.

    Args:
        name: of the function.
        _names: setting of JAX → its name in Keras.
        **defaults: settings that have other defaults in Keras.
    """

    def row(call: Call) -> Call | None:
        kwargs = {(_names or {}).get(key, key): value for key, value in call.kwargs.items()}
        known = LANGUAGE.parameters(f"keras.ops.{name}")
        if known and not kwargs.keys() <= known.keys():
            return None
        return call_of(name, *call.args, like=call, **{**defaults, **kwargs})

    return row


def _of_arrays(row: Row) -> Row:
    """A row for a function that takes arrays, and no variables, in Keras on JAX."""

    def converted(call: Call) -> Call | list[Call] | Value | None:
        conversions = {
            x: new_call("convert_to_tensor", x, place=call.place, shape=x.shape, dtype=x.dtype)
            for x in values_in([*call.args])
            if x.source in ("v", "s", "constants")
        }
        args = map_leaves(
            lambda x: conversions[x].result if isinstance(x, Value) and x in conversions else x,
            [*call.args],
        )
        assert not isinstance(row, str)
        new = row(dataclasses.replace(call, args=tuple(args)))
        return [*conversions.values(), new] if isinstance(new, Call) else new

    return converted


def _reduction(name: str) -> Row:
    """A sum or a mean of an array that is cast before, if its result has a dtype of its own."""

    def row(call: Call) -> Call | list[Call] | None:
        (x, *args), kwargs = call.args, dict(call.kwargs)
        dtype = kwargs.pop("dtype", None)
        if kwargs.keys() - {"axis", "keepdims"}:
            return None
        if dtype is None or dtype.name == x.dtype:
            return call_of(name, x, *args, like=call, **kwargs)
        cast = new_call("cast", x, dtype, place=call.place, shape=x.shape, dtype=dtype.name)
        return [cast, call_of(name, cast.result, *args, like=call, **kwargs)]

    return row


def _spread(name: str) -> Row:
    """A variance or a deviation; a function of the source for another divisor."""

    def row(call: Call) -> Call:
        settings = dict(call.kwargs)
        correction = settings.pop("correction", settings.pop("ddof", 0))
        if correction == 0:
            return call_of(name, *call.args, like=call, **settings)
        return call_of(f".{name}", *call.args, like=call, correction=correction, **settings)

    return row


def _taken(call: Call) -> Call | None:
    """Elements at indices, which are in range."""
    settings = {name: x for name, x in call.kwargs.items() if name != "mode"}
    is_inside = call.kwargs.get("mode") in (None, "fill", "promise_in_bounds")
    return call_of("take_along_axis", *call.args, like=call, **settings) if is_inside else None


def _argsort(call: Call) -> Call | list[Call]:
    """The order of an array; of the negative one for falling numbers."""
    (x,), kwargs = call.args, {k: v for k, v in call.kwargs.items() if k not in ("stable",)}
    if not kwargs.pop("descending", False):
        return call_of("argsort", x, like=call, **kwargs)
    negative = Call("operator.neg", (x,), {}, Value(x.shape, x.dtype), call.place)
    return [negative, call_of("argsort", negative.result, like=call, **kwargs)]


def _linear(call: Call) -> list[Call]:
    """x Wᵀ + b."""
    x, weight, *bias = call.args
    place = call.place
    transposed = new_call(
        "transpose", weight, place=place, shape=weight.shape[::-1], dtype=weight.dtype
    )
    product = dataclasses.replace(
        call, target="operator.matmul", args=(x, transposed.result), kwargs={}
    )
    if not bias or bias[0] is None:
        return [transposed, product]
    result = Value(call.result.shape, call.result.dtype)
    product = dataclasses.replace(product, result=result)
    total = dataclasses.replace(call, target="operator.add", args=(result, bias[0]), kwargs={})
    return [transposed, product, total]


def _real(call: Call) -> Call | Value:
    """The real part, or the conjugate, of real numbers is their array."""
    (x,) = call.args
    is_complex = x.dtype.startswith("complex")
    return call_of(call.target.rpartition(".")[2], x, like=call) if is_complex else x


def _at(call: Call) -> Call | None:
    """An array with other elements."""
    x, index, *values = call.args
    name = call.target.removeprefix("at:")
    items = index if isinstance(index, tuple) else (index,)
    if not values or call.kwargs:
        return None
    is_gathered = all(isinstance(i, Value) and i.dtype.startswith("int") for i in items)
    if is_gathered and name in ("set", "add", "max", "min", "multiply"):
        settings = {} if name == "set" else {"reduction": {"multiply": "mul"}.get(name, name)}
        return call_of(".scattered", x, items, values[0], like=call, **settings)
    starts, sizes = [], []
    for item, n in zip(items, x.shape, strict=False):
        if isinstance(item, int):
            starts.append(item % n)
            sizes.append(1)
        elif isinstance(item, slice) and item.step in (None, 1):
            if not all(i is None or isinstance(i, int) for i in (item.start, item.stop)):
                return None
            first, stop, _ = item.indices(n)
            starts.append(first)
            sizes.append(stop - first)
        else:
            return None
    if name != "set":
        return None
    starts += [0] * (len(x.shape) - len(items))
    sizes += [*x.shape[len(items) :]]
    return call_of(".updated", x, tuple(starts), tuple(sizes), values[0], like=call)


def _random(call: Call) -> Call:
    """Random numbers of the seed generator of the layer, in the place of a key."""
    name, (_, *args) = call.target.rpartition(".")[2], call.args
    seed = {"seed": Name("self.seed_generator")}
    return call_of(f"keras.random.{name}", *args, like=call, **call.kwargs, **seed)


def _while_loop(call: Call) -> Call:
    """A loop over one array; a function of the source for several."""
    carry = call.args[2]
    is_single = isinstance(carry, Value) and not call.kwargs
    return call_of(
        "while_loop" if is_single else ".while_loop", *call.args, like=call, **call.kwargs
    )


def _operator(call: Call) -> Call:
    """An operator; a function for arrays of several dtypes, which not all frameworks promote."""
    name = call.target.removeprefix("operator.")
    if not _is_plain(name, call.args):
        return call_of(_FUNCTIONS[name], *call.args, like=call)
    return call


def _is_plain(name: str, args: tuple[Any, ...]) -> bool:
    arrays = [x for x in args if isinstance(x, Value) and x.dtype != "size"]
    kinds = {x.dtype for x in arrays}
    if not arrays or name not in _FUNCTIONS:
        return True
    is_floating = kinds <= {"float32", "float16", "bfloat16", "float64"}
    numbers = [x for x in args if isinstance(x, (bool, int, float))]
    if name == "matmul" and any(len(x.shape) < 2 for x in arrays):
        return False
    is_number = all(type(x) is int for x in numbers) and kinds <= {"int32", "int64"}
    is_bool = kinds == {"bool"} and name in ("and_", "or_", "xor", "eq", "ne", "invert")
    is_same = is_floating or (is_number and name != "truediv") or (is_bool and not numbers)
    return len(kinds) == 1 and is_same


def _getitem(call: Call) -> Call | list[Call] | None:
    """A slice; `take` for an array as an index, and `flip` for a negative step."""
    x, index = call.args
    if not isinstance(x, Value):
        return call
    items = index if isinstance(index, tuple) else (index,)
    if any(isinstance(i, slice) and isinstance(i.step, int) and i.step < 0 for i in items):
        return _flipped(call, x, items)
    arrays = [i for i in items if isinstance(i, Value) and i.dtype not in ("size",)]
    if not arrays:
        return call
    if len(arrays) == 1 and arrays[0].dtype != "bool":
        if len(items) == 1:
            return call_of("take", x, items[0], like=call, axis=0)
        axis = items.index(arrays[0])
        others = [i for i in items if i is not arrays[0]]
        if Ellipsis not in items and all(i == slice(None) for i in others):
            return call_of("take", x, arrays[0], like=call, axis=axis)
    is_leading = all(isinstance(i, Value) for i in items)
    return call_of(".gather", x, *items, like=call) if is_leading else None


def _flipped(call: Call, x: Value, items: tuple[Any, ...]) -> Call | list[Call] | None:
    """An index with negative steps as the flip of an array, and an index."""
    axes = [i for i, item in enumerate(items) if isinstance(item, slice) and (item.step or 1) < 0]
    is_whole = all(items[i] == slice(None, None, -1) for i in axes)
    if not is_whole or Ellipsis in items or None in items:
        return None
    axis = axes[0] if len(axes) == 1 else axes
    others = tuple(slice(None) if i in axes else item for i, item in enumerate(items))
    if all(item == slice(None) for item in others):
        return call_of("flip", x, like=call, axis=axis)
    flip = new_call("flip", x, axis=axis, place=call.place, shape=x.shape, dtype=x.dtype)
    return [flip, dataclasses.replace(call, args=(flip.result, others))]


def _method(call: Call) -> Call | None:
    name, (x, *args) = call.target.removeprefix("method:"), call.args
    if name == "reshape":
        shape = args[0] if len(args) == 1 and isinstance(args[0], (tuple, list)) else tuple(args)
        return call_of("reshape", x, shape, like=call)
    if name == "astype":
        return call_of("cast", x, *args, like=call)
    if name == "transpose":
        axes = args[0] if len(args) == 1 and isinstance(args[0], (tuple, list)) else tuple(args)
        return call_of("transpose", x, *([axes] if axes else []), like=call)
    if name in ("swapaxes", "squeeze", "flatten", "ravel"):
        return call_of(name, x, *args, like=call, **call.kwargs)
    return None


def _clip(call: Call) -> Call:
    """`clip` with one bound is a maximum or a minimum."""
    x, *bounds = call.args
    low, high = (*bounds, *(call.kwargs.get(k) for k in ("min", "max")[len(bounds) :]))
    if high is None:
        return call_of("maximum", x, low, like=call)
    return (
        call_of("minimum", x, high, like=call)
        if low is None
        else call_of("clip", x, low, high, like=call)
    )


def _array(call: Call) -> Call:
    """An array of a list of numbers."""
    dtype = [x for x in (*call.args[1:], call.kwargs.get("dtype")) if isinstance(x, DType)]
    dtype = dtype or [as_dtype(call.result.dtype)]
    return call_of("convert_to_tensor", call.args[0], *dtype, like=call)


# -- table ------------------------------------------------------------------------------------

#: Operator → the function of `keras.ops`.
_FUNCTIONS = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "true_divide", "pow": "power",
    "floordiv": "floor_divide", "mod": "mod", "matmul": "matmul", "and_": "bitwise_and",
    "or_": "bitwise_or", "xor": "bitwise_xor", "invert": "bitwise_not", "lt": "less",
    "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal", "ne": "not_equal",
    "lshift": "left_shift", "rshift": "right_shift",
}  # fmt: skip

#: Functions of JAX that `keras.ops` has with the same name, arguments and defaults.
_SAME = {
    "jax.numpy": (
        "abs", "all", "any", "amax", "amin", "arange", "arccos", "arccosh", "arcsin", "arcsinh",
        "arctan", "arctan2", "arctanh", "argmax", "argmin", "argsort", "broadcast_to", "bincount",
        "ceil", "concatenate", "cos", "cosh", "count_nonzero", "cumprod", "cumsum", "diag",
        "diagonal", "diff", "einsum", "equal", "exp", "expand_dims", "expm1", "eye", "flip", "floor",
        "floor_divide", "full", "full_like", "greater", "greater_equal", "hypot", "identity", "imag",
        "isclose", "isfinite", "isinf", "isnan", "kron", "less", "less_equal", "linspace", "log",
        "log10", "log1p", "log2", "logaddexp", "logical_and", "logical_not", "logical_or",
        "logical_xor", "matmul", "max", "maximum", "median", "min", "minimum", "mod",
        "moveaxis", "multiply", "nan_to_num", "negative", "not_equal", "ones", "ones_like", "outer",
        "power", "ravel", "reciprocal", "repeat", "reshape", "sort", "roll", "searchsorted", "sign",
        "sin", "sinh", "split", "sqrt", "square", "squeeze", "stack", "subtract",
        "swapaxes", "take", "tan", "tanh", "tensordot", "trace",
        "transpose", "tri", "tril", "triu", "true_divide", "trunc", "vdot", "where", "zeros",
        "zeros_like", "add", "divide", "cross", "meshgrid", "round", "isin", "signbit", "copy",
    ),
    "jax.nn": (
        "celu", "elu", "gelu", "glu", "hard_sigmoid", "hard_tanh", "log_sigmoid", "log_softmax",
        "relu", "relu6", "selu", "sigmoid", "silu", "softmax", "softplus",
        "sparse_plus", "squareplus",
    ),
    "jax.lax": (
        "cond", "switch", "fori_loop", "rsqrt", "stop_gradient", "top_k",
        "erf",
    ),
}  # fmt: skip

#: Functions that take no variables of Keras on JAX.
_OF_ARRAYS = (
    "all", "any", "amax", "amin", "count_nonzero", "flip", "full_like", "moveaxis", "ones_like",
    "outer", "roll", "searchsorted", "tile", "where", "zeros_like",
)  # fmt: skip

#: Functions of JAX, and of the source that is recorded → row (`translated`).
ROWS: dict[str, Row] = {
    **{f"{module}.{name}": _row(name) for module, names in _SAME.items() for name in names},
    **{f"jax.numpy.{name}": _reduction(name) for name in ("sum", "mean", "prod")},
    **{f"at:{name}": _at for name in ("set", "add", "max", "min", "multiply")},
    **{f"operator.{name}": _operator for name in BINARY},
    "operator.invert": _operator,
    "operator.getitem": _getitem,
    **{f"method:{n}": _method for n in ("reshape", "astype", "transpose", "swapaxes", "squeeze")},
    "attribute:T": lambda call: call_of("transpose", *call.args, like=call),
    "jax.numpy.asarray": _array,
    "jax.numpy.array": _array,
    "jax.numpy.astype": lambda call: call_of("cast", *call.args, like=call),
    "jax.numpy.clip": _clip,
    "jax.numpy.var": _spread("var"),
    "jax.numpy.std": _spread("std"),
    "jax.numpy.take_along_axis": _taken,
    "jax.numpy.pad": lambda call: call_of(
        "pad", call.args[0], *call.args[1:], like=call,
        **{k: x for k, x in call.kwargs.items() if (k, x) != ("constant_values", 0.0)},
    ),
    "jax.numpy.tile": _row("tile", {"reps": "repeats"}),
    "jax.numpy.argsort": _argsort,
    "jax.numpy.conj": _real,
    "jax.numpy.real": _real,
    "jax.numpy.remainder": _row("mod"),
    "jax.nn.leaky_relu": _row("leaky_relu", negative_slope=0.01),
    "jax.nn.hard_swish": _row("hard_silu"),
    "jax.nn.hard_silu": _row("hard_silu"),
    "jax.nn.soft_sign": _row("softsign"),
    "jax.nn.logsumexp": _row("logsumexp"),
    "jax.scipy.special.logsumexp": _row("logsumexp"),
    "jax.scipy.special.erf": _row("erf"),
    "jax.lax.erf_inv": _row("erfinv"),
    "jax.scipy.special.erfinv": _row("erfinv"),
    "jax.nn.dot_product_attention": _row("dot_product_attention"),
    **{f"jax.random.{name}": _random for name in ("uniform", "normal", "randint")},
    "jax.random.split": "jax.random.split",  # of keys, which nothing uses
    "attribute:shape": lambda call: call_of("shape", *call.args, like=call),
    "jax.lax.scan": lambda call: call_of(".scan", *call.args, like=call, **call.kwargs),
    "jax.lax.while_loop": _while_loop,
    ".while_loop": _while_loop,
    ".linear": _linear,
    ".embedding": ".embedding",
    "jax.lax.map": lambda call: call_of("vectorized_map", *call.args, like=call),
    "jax.lax.conv_general_dilated": conv,
    "jax.lax.conv_transpose": conv_transpose,
    "jax.image.resize": resize,
    "flax.nnx.max_pool": pool("max_pool"),
    "flax.nnx.avg_pool": pool("average_pool"),
    ".max_pool": pool_channels_first("max_pool"),
    ".avg_pool": pool_channels_first("average_pool"),
    **{
        f".{name}": f".{name}"
        for name in (
            "batch_norm", "dropout", "group_norm", "layer_norm", "rms_norm",
            "scaled_dot_product_attention",
        )
    },
}  # fmt: skip
ROWS |= {
    name: _of_arrays(ROWS[name])
    for name in (
        *(f"jax.numpy.{name}" for name in _OF_ARRAYS),
        *(f"jax.lax.{name}" for name in ("top_k", "erf", "scan", "while_loop", "fori_loop")),
        *("jax.nn.logsumexp", "jax.scipy.special.logsumexp"),
    )
}
