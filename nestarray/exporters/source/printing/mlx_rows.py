"""The calls of JAX as calls of MLX: `mlx.core` has NumPy's names, and `mlx.nn` the activations."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from nestarray.dtypes import as_dtype
from nestarray.exporters.source.printing.mlx_language import (
    JAX,
    LANGUAGE,
    InverseRoot,
    call_of,
    defaults_of,
    signature,
)
from nestarray.exporters.source.printing.mlx_windows import conv, conv_transpose, pool
from nestarray.exporters.source.printing.translation import Row
from nestarray.exporters.source.recording.records import Call, Name, Value


def _then(first: Call, dtype: str, name: str, *args: Any) -> list[Call]:
    """A call of another dtype, and a call of its result."""
    result = first.result
    before = dataclasses.replace(first, result=Value(result.shape, dtype))
    return [before, call_of(name, before.result, *args, like=first)]


def _same(name: str) -> Callable[[Call], Call | None]:
    """A row for a function of the same arguments, perhaps with other names or without."""

    def row(call: Call) -> Call | None:
        arguments = signature(LANGUAGE.function_of(f"mlx.core.{name}"))
        assert arguments is not None
        order = [*JAX.parameters(call.target)]
        args = list(call.args)
        named: dict[str, Any] = {}
        keywords = {argument.arg for argument in (*arguments.args, *arguments.kwonlyargs)}
        for key, value in call.kwargs.items():
            if key in keywords:
                named[key] = value
            elif key in order and order.index(key) == len(args) < len(defaults_of(arguments)):
                args.append(value)
            else:
                return None
        return call_of(name, *args, like=call, **named)

    return row


def _in_dtype(name: str) -> Row:
    """A row for a reduction, whose elements get the dtype of the result first."""

    def row(call: Call) -> Call | list[Call]:
        x, *args = call.args
        settings = dict(call.kwargs)
        dtype = settings.pop("dtype", None)
        if dtype is None or dtype.name == x.dtype:
            return call_of(name, x, *args, like=call, **settings)
        copy = Value(x.shape, dtype.name)
        cast = dataclasses.replace(call_of("method:astype", x, dtype, like=call), result=copy)
        return [cast, call_of(name, copy, *args, like=call, **settings)]

    return row


def _taken(name: str) -> Row:
    """A row for elements at indices, which are in range in MLX."""
    same = _same(name)

    def row(call: Call) -> Call | None:
        kwargs = dict(call.kwargs)
        if kwargs.pop("mode", None) not in (None, "fill", "promise_in_bounds"):
            return None
        return same(dataclasses.replace(call, kwargs=kwargs))

    return row


def _spread(name: str) -> Row:
    """A row for a variance or a deviation, whose divisor is smaller by a whole number."""

    def row(call: Call) -> Call | None:
        settings = dict(call.kwargs)
        correction = settings.pop("correction", settings.pop("ddof", 0))
        if correction != int(correction):
            return None
        settings |= {"ddof": int(correction)} if correction else {}
        return call_of(name, *call.args, like=call, **settings)

    return row


def _complex(call: Call) -> list[Call]:
    """real + 1j · imag."""
    real, imag = call.args
    product = Value(call.result.shape, call.result.dtype)
    first = dataclasses.replace(call_of("operator.mul", imag, 1j, like=call), result=product)
    return [first, call_of("operator.add", real, product, like=call)]


def _sorted(call: Call) -> list[Call] | None:
    """Elements in order; MLX has the ascending one."""
    x, *args = call.args
    axis = call.kwargs.get("axis", args[0] if args else -1)
    ascending = call_of("sort", x, like=call, axis=axis)
    if not call.kwargs.get("descending"):
        return [ascending]
    return _then(ascending, x.dtype, "flip", axis)


def _order(call: Call) -> list[Call] | None:
    """The order of elements, by their opposites for the descending one."""
    x, *args = call.args
    axis = call.kwargs.get("axis", args[0] if args else -1)
    if not call.kwargs.get("descending"):
        return _as_index(call_of("argsort", x, like=call, axis=axis))
    if x.dtype == "bool" or x.dtype.startswith("uint"):
        return None
    opposite = Value(x.shape, x.dtype)
    negative = dataclasses.replace(call_of("operator.neg", x, like=call), result=opposite)
    return [negative, *_as_index(call_of("argsort", opposite, like=call, axis=axis))]


def _with_default(name: str, **defaults: Any) -> Row:
    """A row for a function whose settings have other defaults."""
    return lambda call: call_of(name, *call.args, like=call, **{**defaults, **call.kwargs})


def _unchanged(call: Call) -> Call:
    return call


def _operator(sign: str) -> Row:
    return lambda call: dataclasses.replace(call, target=f"operator.{sign}", kwargs={})


def _method(name: str) -> Row:
    """A row for a function that reads better as a method."""

    def row(call: Call) -> Call:
        args = call.args
        if name == "transpose" and len(args) == 2:
            args = (args[0], *args[1])
        return call_of(f"method:{name}", *args, *call.kwargs.values(), like=call)

    return row


def _index(name: str) -> Row:
    """A row for indices."""
    return lambda call: _as_index(call_of(name, *call.args, like=call, **call.kwargs))


def _as_index(call: Call) -> list[Call]:
    """Indices as int32, where MLX has uint32, without a gradient, which MLX refuses for them."""
    first, second = (Value(call.result.shape, "uint32") for _ in range(2))
    calls = [dataclasses.replace(call, result=first)]
    if call.args[0].dtype.startswith(("float", "bfloat")):
        calls.append(dataclasses.replace(call_of("stop_gradient", first, like=call), result=second))
    return [*calls, call_of("method:astype", calls[-1].result, _INT32, like=call)]


_INT32 = as_dtype("int32")


def _clip(call: Call) -> Call:
    x, *limits = call.args
    low, high = (call.kwargs.get(name) for name in ("min", "max"))
    low, high = [*limits, *([low, high][len(limits) :])]
    return call_of("clip", x, low, high, like=call)


def _gelu(call: Call) -> Call:
    is_approximate = call.kwargs.get("approximate", True)
    return call_of("mlx.nn.gelu_approx" if is_approximate else "mlx.nn.gelu", *call.args, like=call)


def _attention(call: Call) -> Call:
    """Attention of heads: fused, if there is an axis of examples and one of heads."""
    query, key, value, *masks = call.args
    settings = dict(call.kwargs)
    mask = masks[0] if masks else settings.pop("mask", None)
    if len(query.shape) != 4 or (mask is not None and settings.get("is_causal")):
        return call
    scale = settings.get("scale") or InverseRoot(query.shape[-1])
    options = {} if mask is None else {"mask": mask}
    if settings.get("is_causal"):
        if query.shape[-2] != key.shape[-2]:  # MLX aligns the last query with the last key
            return call
        options = {"mask": "causal"}
    name = "mlx.core.fast.scaled_dot_product_attention"
    return call_of(name, query, key, value, like=call, scale=scale, **options)


def _norm(name: str, count: int) -> Row:
    """A normalization of the last axis by the fused function, which takes None for no variable."""

    def row(call: Call) -> Call:
        x, *affine = call.args
        axis, eps = call.kwargs.get("axis", -1), call.kwargs.get("eps", 1e-5)
        is_last = axis in (-1, len(x.shape) - 1)
        if not is_last or any(v is not None and len(v.shape) != 1 for v in affine):
            return call
        affine += [None] * (count - len(affine))
        return call_of(f"mlx.core.fast.{name}", x, *affine, eps, like=call)

    return row


def _bounded(index: Any) -> Any:
    """An index whose slices have no end of 64 bits, as PyTorch writes for none."""
    if isinstance(index, tuple):
        return tuple(map(_bounded, index))
    is_open = isinstance(index, slice) and isinstance(index.stop, int) and index.stop >= 2**31 - 1
    return slice(index.start, None, index.step) if is_open else index


def _set(call: Call) -> list[Call]:
    """New elements in a copy of an array."""
    x, index, new = call.args
    copy = Value(x.shape, x.dtype)
    return [
        dataclasses.replace(call_of("array", x, like=call), result=copy),
        dataclasses.replace(
            call, target="operator.setitem", args=(copy, _bounded(index), new), kwargs={}
        ),
    ]


def _at(call: Call) -> Call:
    x, index, *values = call.args
    return dataclasses.replace(call, args=(x, _bounded(index), *values), kwargs={})


def _getitem(call: Call) -> Call | None:
    """An element; MLX has no index of booleans."""
    x, index = call.args
    items = index if isinstance(index, tuple) else (index,)
    is_mask = any(isinstance(i, Value) and i.dtype == "bool" for i in items)
    return None if is_mask else dataclasses.replace(call, args=(x, _bounded(index)))


def _drawn(name: str) -> Row:
    """Random numbers of the global generator."""

    def row(call: Call) -> Call | None:
        key, shape = call.args
        if not isinstance(key, Value) or key.dtype != "subkey":
            return None
        limits = {"minval": "low", "maxval": "high"}
        settings = {limits.get(key, key): x for key, x in call.kwargs.items()}
        return call_of(f"mlx.core.random.{name}", like=call, shape=shape, **settings)

    return row


def _split(call: Call) -> list[Call] | None:
    """No call, as the global generator has no keys."""
    return [] if call.args[0].dtype == "key" else None


def _linalg(name: str) -> Row:
    """A decomposition, which MLX has on the CPU only."""
    return lambda call: call_of(
        f"mlx.core.linalg.{name}", *call.args, like=call, stream=Name("mlx.core.cpu")
    )


def _roll(call: Call) -> Call:
    """A roll along one axis by numbers, along several by tuples."""
    settings = call.kwargs
    if all(isinstance(x, tuple) and len(x) == 1 for x in settings.values()):
        settings = {name: x[0] for name, x in settings.items()}
    shift = settings.get("shift", *call.args[1:])
    return call_of("roll", call.args[0], shift, like=call, axis=settings.get("axis"))


def _full_like(call: Call) -> Call:
    x, *values = call.args
    value = values[0] if values else call.kwargs["fill_value"]
    dtype = call.kwargs.get("dtype") or as_dtype(x.dtype)
    return call_of("full", x.shape, value, dtype, like=call)


def _filled(name: str) -> Row:
    """A row for an array like another one, perhaps of another dtype."""

    def row(call: Call) -> Call:
        dtype = call.kwargs.get("dtype")
        if dtype is None:
            return call_of(f"{name}_like", call.args[0], like=call)
        return call_of(name, call.args[0].shape, dtype, like=call)

    return row


def _asarray(call: Call) -> Call | list[Call]:
    x, *_ = call.args
    if isinstance(x, Value) and x.dtype not in ("size",):
        return call_of("method:astype", x, as_dtype(call.result.dtype), like=call)
    return call_of("array", x, like=call, dtype=as_dtype(call.result.dtype))


#: Functions of `jax.numpy` with the name and the arguments of those of `mlx.core`.
_SAME = (
    "add", "all", "any", "arange", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2",
    "arctanh", "bitwise_and", "bitwise_invert", "bitwise_or", "bitwise_xor", "broadcast_to",
    "ceil", "concatenate", "conj", "cos", "cosh", "degrees", "diag", "diff",
    "diagonal", "divide", "einsum", "equal", "exp", "expand_dims", "expm1", "eye", "flip", "floor",
    "floor_divide", "full", "greater", "greater_equal", "imag", "isclose", "isfinite", "isinf", "isnan",
    "isneginf", "isposinf", "kron", "left_shift", "less", "less_equal", "linspace", "log",
    "log10", "log1p", "log2", "logaddexp", "logical_and", "logical_not", "logical_or",
    "logical_xor", "matmul", "max", "maximum", "meshgrid", "min", "minimum", "moveaxis",
    "multiply", "nan_to_num", "negative", "not_equal", "ones", "outer", "pad",
    "positive", "power", "radians", "real", "reciprocal", "remainder", "repeat",
    "right_shift", "round", "sign", "sin", "sinh", "split", "sqrt", "square",
    "squeeze", "stack", "subtract", "tan", "tanh",
    "tensordot", "tile", "tri", "tril", "triu", "trunc", "vecdot", "where",
    "zeros", "abs",
)  # fmt: skip
#: Activations of `jax.nn` with the name and the arguments of those of `mlx.nn`.
_SAME_ACTIVATIONS = (
    "celu", "elu", "glu", "leaky_relu", "log_sigmoid", "log_softmax", "mish", "relu", "relu6",
    "selu", "silu", "softplus",
)  # fmt: skip

#: Public name of a function of JAX → its spelling in MLX.
ROWS: dict[str, Row] = {
    **{f"jax.numpy.{name}": _same(name) for name in _SAME},
    **{
        f"jax.numpy.{name}": _in_dtype(name)
        for name in ("cumprod", "cumsum", "mean", "prod", "sum", "trace")
    },
    **{f"jax.numpy.{name}_like": _filled(name) for name in ("ones", "zeros")},
    **{f"jax.nn.{name}": f"mlx.nn.{name}" for name in _SAME_ACTIVATIONS},
    **{f"jax.numpy.{name}": _index(name) for name in ("argmax", "argmin")},
    **{f"jax.numpy.{name}": _method(name) for name in ("swapaxes", "transpose")},
    **{f"method:{name}": _unchanged for name in ("astype", "reshape", "swapaxes", "squeeze")},
    **{
        f".{name}": _unchanged
        for name in ("batch_norm", "custom_vjp", "dropout", "embedding", "group_norm", "linear")
    },
    **{
        f"at:{name}": _at
        for name in ("add", "divide", "multiply")
    },
    "at:mul": lambda call: dataclasses.replace(_at(call), target="at:multiply"),
    "at:max": lambda call: dataclasses.replace(_at(call), target="at:maximum"),
    "at:min": lambda call: dataclasses.replace(_at(call), target="at:minimum"),
    "at:set": _set,
    "method:transpose": _method("transpose"),
    "attribute:T": _unchanged,
    "attribute:shape": _unchanged,
    "operator.getitem": _getitem,
    "jax.numpy.array": _asarray,
    "jax.numpy.asarray": _asarray,
    "jax.numpy.clip": _clip,
    "jax.numpy.matrix_transpose": lambda call: call_of("method:swapaxes", *call.args, -1, -2, like=call),
    "jax.numpy.take_along_axis": _taken("take_along_axis"),
    "jax.numpy.take": _taken("take"),
    "jax.numpy.var": _spread("var"),
    "jax.numpy.std": _spread("std"),
    "jax.lax.complex": _complex,
    "jax.numpy.argsort": _order,
    "jax.numpy.sort": _sorted,
    "jax.numpy.roll": _roll,
    "jax.numpy.full_like": _full_like,
    "jax.numpy.fft.fft": "mlx.core.fft.fft",
    "jax.numpy.fft.ifft": "mlx.core.fft.ifft",
    "jax.numpy.fft.rfft": "mlx.core.fft.rfft",
    "jax.numpy.fft.irfft": "mlx.core.fft.irfft",
    **{f"jax.numpy.linalg.{name}": _linalg(name) for name in ("cholesky", "inv", "solve", "qr")},
    **{
        f"jax.lax.{name}": f"mlx.core.{name}"
        for name in (
            "abs", "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "cos",
            "cosh", "erf", "exp", "expm1", "floor", "log", "log1p", "rsqrt", "sign", "sin", "sinh",
            "sqrt", "square", "stop_gradient", "tan", "tanh",
        )
    },
    **{
        f"jax.lax.{name}": _operator(sign)
        for name, sign in (("add", "add"), ("sub", "sub"), ("mul", "mul"), ("div", "truediv"))
    },
    "jax.lax.max": "mlx.core.maximum",
    "jax.lax.min": "mlx.core.minimum",
    "jax.scipy.special.erf": "mlx.core.erf",
    "jax.lax.erf_inv": "mlx.core.erfinv",
    "jax.lax.cummax": _with_default("cummax", axis=0),
    "jax.lax.cummin": _with_default("cummin", axis=0),
    "jax.lax.cumlogsumexp": _with_default("logcumsumexp", axis=0),
    "jax.lax.top_k": ".top_k",
    "jax.lax.conv_general_dilated": conv,
    "jax.lax.conv_transpose": conv_transpose,
    "jax.nn.sigmoid": "mlx.core.sigmoid",
    "jax.nn.softmax": _with_default("softmax", axis=-1),
    "jax.nn.logsumexp": "mlx.core.logsumexp",
    "jax.scipy.special.logsumexp": "mlx.core.logsumexp",
    "jax.nn.gelu": _gelu,
    "jax.nn.hard_sigmoid": ".hard_sigmoid",
    "jax.nn.hard_swish": "mlx.nn.hardswish",
    "jax.nn.one_hot": ".one_hot",
    "jax.image.resize": lambda call: call_of(".resize", *call.args, call.kwargs["method"], like=call),
    "jax.random.split": _split,
    "jax.random.normal": _drawn("normal"),
    "jax.random.uniform": _drawn("uniform"),
    "jax.random.randint": _drawn("randint"),
    ".scaled_dot_product_attention": _attention,
    ".layer_norm": _norm("layer_norm", 2),
    ".rms_norm": _norm("rms_norm", 1),
    ".max_pool": pool,
    ".avg_pool": pool,
}  # fmt: skip
