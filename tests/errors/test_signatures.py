"""Calls that do not fit a signature raise an error that names the argument that was meant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray.dispatch import OPS
from nestarray.errors import ArgumentError
from nestarray.errors.signatures import signature_errors

X = np.ones((2, 3))
C = na.Container(a=X)
KEY = na.random.key(0, backend="numpy")

#: A wrong call, and its message.
CALLS: dict[str, tuple[Callable[[], Any], str]] = {
    "op, by another name": (
        lambda: na.sum(X, dim=0),  # pyright: ignore[reportCallIssue]
        "sum: dim: unknown argument, use axis; sum(x, /, *, axis=None, dtype=None, keepdims=False)",
    ),
    "op on a Container": (
        lambda: na.mean(C, keepdim=True),  # pyright: ignore[reportCallIssue]
        "mean: keepdim: unknown argument, use keepdims; mean(x, /, *, axis=None, keepdims=False)",
    ),
    "op, array by name": (
        lambda: na.softmax(input=X),  # pyright: ignore[reportCallIssue]
        "softmax: input: unknown argument, use x; softmax(x, /, *, axis=-1)",
    ),
    "op, array by its own name": (
        lambda: na.softmax(x=X),  # pyright: ignore[reportCallIssue]
        "softmax: x: got it by name, expected it by position; softmax(x, /, *, axis=-1)",
    ),
    "op, setting by position": (
        lambda: na.softmax(X, -1),  # pyright: ignore[reportCallIssue]
        "softmax: got 2 positional arguments, expected 1, and the others by name; "
        "softmax(x, /, *, axis=-1)",
    ),
    "op, no array": (
        lambda: na.softmax(axis=-1),  # pyright: ignore[reportCallIssue]
        "softmax: x: missing argument; softmax(x, /, *, axis=-1)",
    ),
    "op, no sequence": (
        lambda: na.concat(axis=-1),  # pyright: ignore[reportCallIssue]
        "concat: arrays: missing argument; concat(arrays, /, *, axis=0)",
    ),
    "op, no setting": (
        lambda: na.broadcast_to(X),  # pyright: ignore[reportCallIssue]
        "broadcast_to: shape: missing argument; broadcast_to(x, /, shape)",
    ),
    "op, nothing near": (
        lambda: na.einsum("ij->i", X, qqq=1),  # pyright: ignore[reportCallIssue]
        "einsum: qqq: unknown argument; einsum(subscripts, /, *operands)",
    ),
    "op as a method": (
        lambda: C.sum(0),  # pyright: ignore[reportCallIssue]
        "sum: got 2 positional arguments, expected 1, and the others by name; "
        "sum(x, /, *, axis=None, dtype=None, keepdims=False)",
    ),
    "method of the class": (
        lambda: C.keys(True, True),  # pyright: ignore[reportCallIssue]
        "Container.keys: got 2 positional arguments, expected 0; Container.keys()",
    ),
    "method, by name": (
        lambda: C.select(pattern="a"),  # pyright: ignore[reportCallIssue]
        "Container.select: pattern: unknown argument, use *patterns; "
        "Container.select(*patterns, dtype=None, shape=None)",
    ),
    "class method": (
        lambda: na.Container.from_flat_dict({}, separator="."),  # pyright: ignore[reportCallIssue]
        "Container.from_flat_dict: separator: unknown argument, use sep; "
        "Container.from_flat_dict(flat, sep='/', *, lists=False)",
    ),
    "attached method": (
        lambda: C.tree_norm(1),  # pyright: ignore[reportCallIssue]
        "Container.tree_norm: got 1 positional argument, expected 0, and the others by name; "
        "Container.tree_norm(*, ord=2)",
    ),
    "the same as a function": (
        lambda: na.tree_norm(C, 1),  # pyright: ignore[reportCallIssue]
        "tree_norm: got 2 positional arguments, expected 1, and the others by name; "
        "tree_norm(c, /, *, ord=2)",
    ),
    "constructor": (
        lambda: na.Container.from_pytree(),  # pyright: ignore[reportCallIssue]
        "Container.from_pytree: pytree: missing argument; Container.from_pytree(pytree, /)",
    ),
    "sizes that are no tuple": (
        lambda: na.zeros(2, 3),  # pyright: ignore[reportCallIssue]
        "zeros: got 2 positional arguments, expected 1, shape as one tuple, and the others by name; "
        "zeros(shape, *, dtype=None, device=None, like=None)",
    ),
    "axes that are no tuple": (
        lambda: C.permute_dims(1, 0),  # pyright: ignore[reportCallIssue]
        "permute_dims: got 3 positional arguments, expected 2, axes as one tuple; "
        "permute_dims(x, /, axes)",
    ),
    "no function": (
        lambda: na.grad(3),  # pyright: ignore[reportArgumentType]
        "grad: fn: got int, expected a function; "
        "grad(fn, argnums=0, has_aux=False, *, holomorphic=False, wrt=None)",
    ),
    "arguments exchanged": (
        lambda: na.tree.map(C, np.exp),  # pyright: ignore[reportArgumentType]
        "tree.map: fn: got Container, expected a function; tree.map(fn, nest, *others)",
    ),
    "values in place of functions": (
        lambda: na.cond(True, 1, 2),  # pyright: ignore[reportArgumentType]
        "cond: true_fn: got int, expected a function; cond(pred, true_fn, false_fn, *operands)",
    ),
    "a branch that is none": (
        lambda: na.switch(0, [abs, 2], 1.0),  # pyright: ignore[reportArgumentType]
        "switch: branches[1]: got 2, expected a function, called as branch(*operands)",
    ),
    "transformation": (
        lambda: na.vmap(len, in_dims=0),  # pyright: ignore[reportCallIssue]
        "vmap: in_dims: unknown argument, use in_axes; "
        "vmap(fn, in_axes=0, out_axes=0, *, axis_name=None, axis_size=None)",
    ),
    "loop": (
        lambda: na.cond(True, len),  # pyright: ignore[reportCallIssue]
        "cond: false_fn: missing argument; cond(pred, true_fn, false_fn, *operands)",
    ),
    "sampler": (
        lambda: na.random.normal(KEY, size=(2,)),  # pyright: ignore[reportCallIssue]
        "random.normal: size: unknown argument, use shape; "
        "random.normal(key, shape=(), dtype='float32')",
    ),
    "sampler without a key": (
        lambda: na.random.bits(shape=(2,)),  # pyright: ignore[reportCallIssue]
        "random.bits: key: missing argument; random.bits(key, shape=(), dtype='uint32')",
    ),
    "layer": (
        lambda: na.nn.Conv2d(3, 4, 3, use_bias=False),  # pyright: ignore[reportCallIssue]
        "Conv2d: use_bias: unknown argument, use bias; "
        "Conv2d(in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, "
        "bias=True, padding_mode='zeros', *, initializer=None)",
    ),
    "optimizer": (
        lambda: na.nn.SGD(lr=0.1),  # pyright: ignore[reportCallIssue]
        "SGD: lr: unknown argument, use learning_rate; "
        "SGD(learning_rate, *, momentum=0.0, nesterov=False)",
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_message_names_the_argument(name: str) -> None:
    call, message = CALLS[name]
    with pytest.raises(ArgumentError) as info:
        call()
    assert str(info.value) == message
    assert info.value.__cause__ is None


def test_unknown_arguments_of_every_op() -> None:
    for name, record in OPS.items():
        takes_any = any(p.kind is p.VAR_KEYWORD for p in record.parameters)
        if record.is_of_arrays or takes_any:
            continue
        with pytest.raises(ArgumentError, match=rf"^{name}: qqq: unknown argument; {name}\("):
            record.function(qqq=1)


def test_errors_from_inside_the_function_do_not_change() -> None:
    @signature_errors()
    def outer(fn: Callable[..., Any]) -> Any:
        return fn(1, 2, 3)

    with pytest.raises(TypeError, match=r"takes 1 positional argument but 3 were given") as info:
        outer(lambda x: x)
    assert type(info.value) is TypeError
    assert outer(max) == 3


def test_settings_work_by_position_and_name() -> None:
    assert na.broadcast_to(X, shape=(4, 2, 3)).shape == (4, 2, 3)
    assert na.sum(X, axis=0, keepdims=True).shape == (1, 3)
    assert na.clip(X, max=0.5).max() == 0.5
