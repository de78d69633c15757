"""Arrays move between all frameworks: values, dtypes, memory, and refused conversions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray import backends, dtypes
from nestarray.config import BACKENDS
from nestarray.errors import ArgumentError, DtypeError
from nestarray.testing import assert_close
from tests.arrays import host, on

PAIRS = [(a, b) for a in BACKENDS for b in BACKENDS]
IDS = [f"{a}-{b}" for a, b in PAIRS]


def numbers(dtype: str, shape: tuple[int, ...] = (2, 3)) -> np.ndarray:
    native = backends.core("numpy").native_dtype(dtype)
    values = np.arange(int(np.prod(shape)), dtype="int64") % 5
    return values.reshape(shape).astype(native)


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize(("source", "target"), PAIRS, ids=IDS)
@pytest.mark.parametrize("shape", [(2, 3), (), (0, 3)], ids=str)
def test_values_shape_and_dtype(source: str, target: str, shape: tuple[int, ...]) -> None:
    for dtype in dtypes.ALL:
        expected = numbers(dtype.name, shape)
        moved = na.to_backend(on(source, expected), target)
        assert na.backend_of(moved) == target
        assert na.dtype_of(moved) is dtype
        assert_close(host(moved), expected)


@pytest.mark.parametrize(("source", "target"), PAIRS, ids=IDS)
def test_round_trip_through_a_container(source: str, target: str) -> None:
    c = na.Container(
        a=on(source, numbers("float32")), b={"n": None, "w": on(source, numbers("int32"))}
    )
    back = c.to_backend(target).to_backend(source)
    assert back.b.n is None
    assert_close(back.delete("b/n"), c.delete("b/n"))


@pytest.mark.parametrize("target", BACKENDS)
def test_strides_of_numpy(target: str) -> None:
    x = numbers("float32", (4, 6))
    for view in (x.T, x[::2], x[::-1], x[:, 1:], x.reshape(-1)[1:], np.broadcast_to(x[0], (3, 6))):
        assert_close(host(na.to_backend(view, target)), np.ascontiguousarray(view))


@pytest.mark.parametrize("target", BACKENDS)
def test_strides_of_torch(target: str) -> None:
    import torch

    x = torch.arange(24.0).reshape(4, 6)
    for view in (x.T, x[::2], x[:, 1:], x.reshape(-1)[1:], x[:1].expand(3, 6), x[0, 0]):
        moved = na.to_backend(view, target)
        assert_close(host(moved), view.numpy())
        assert_close(host(na.add(moved, moved)), (view + view).numpy())


def test_byte_order_and_read_only_memory() -> None:
    swapped = numbers("float32").astype(">f4")
    frozen = numbers("float32")
    frozen.flags.writeable = False
    for target in BACKENDS:
        for x in (swapped, frozen):
            assert_close(host(na.to_backend(x, target)), numbers("float32"), check_dtype=False)
    na.to_backend(frozen, "torch").add_(1)
    assert_close(frozen, numbers("float32"))


SHARING = [
    ("numpy", "torch"), ("torch", "numpy"), ("jax", "numpy"), ("tensorflow", "numpy"),
    ("jax", "torch"), ("torch", "jax"), ("tensorflow", "torch"), ("torch", "tensorflow"),
    ("tensorflow", "jax"), ("jax", "tensorflow"),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int64", "bool"])
@pytest.mark.parametrize(("source", "target"), SHARING, ids=[f"{a}-{b}" for a, b in SHARING])
@pytest.mark.usefixtures("x64")
def test_memory_is_shared(source: str, target: str, dtype: str) -> None:
    # Frameworks align their own memory; what JAX and TensorFlow take over must be.
    x = backends.core(source).copied(on(source, numbers(dtype, (64,))))
    moved = na.to_backend(x, target, copy=False)
    assert backends.core(target).address(moved) == backends.core(source).address(x)
    apart = na.to_backend(x, target, copy=True)
    assert backends.core(target).address(apart) != backends.core(source).address(x)
    assert_close(host(apart), host(x))


@pytest.mark.parametrize("source", ["numpy", "torch", "tensorflow"])
def test_a_step_of_moved_parameters_is_compiled_once(source: str) -> None:
    """JAX compiles again for arrays that are bound to a device."""
    import jax
    import jax.numpy as jnp

    v, count = na.to_backend(na.Container(w=on(source, numbers("float32"))), "jax"), jnp.zeros(())
    step = jax.jit(lambda v, count: (v * 2, count + 1))
    for _ in range(2):
        v, count = step(v, count)
    assert step._cache_size() == 1


def test_arrays_moved_while_jax_traces_have_values() -> None:
    import jax

    def add(x: Any) -> Any:
        return x + host(na.to_backend(numbers("float32"), "jax")).sum()

    assert_close(jax.jit(add)(np.float32(1)), 1 + numbers("float32").sum(), check_dtype=False)


def test_device_while_jax_traces() -> None:
    import jax

    core = backends.core("jax")

    def devices(x: Any) -> Any:
        assert core.device_of(x) in core.devices()
        return x.sum()

    for transform in (jax.grad, jax.jit):
        transform(devices)(numbers("float32"))


@pytest.mark.parametrize("target", BACKENDS)
def test_a_copy_does_not_see_later_writes(target: str) -> None:
    x = numbers("float32", (64,))
    moved = na.to_backend(x, target, copy=True)
    x[:] = 9
    assert_close(host(moved), numbers("float32", (64,)))


@pytest.mark.parametrize("backend", BACKENDS)
def test_copy_within_one_framework(backend: str) -> None:
    x = on(backend, numbers("bfloat16", (64,)))
    assert na.to_backend(x, backend) is x
    assert na.to_backend(x, backend, copy=False) is x
    apart = na.to_backend(x, backend, copy=True)
    assert backends.core(backend).address(apart) != backends.core(backend).address(x)
    assert_close(apart, x)


def test_copy_false_raises_where_it_would_copy() -> None:
    import torch

    strided = torch.arange(10.0)[::2]
    message = (
        "to_backend: copy=False, but moving this array from torch to jax copies it; leave copy=None"
    )
    with pytest.raises(ArgumentError) as error:
        na.to_backend(strided, "jax", copy=False)
    assert str(error.value) == message


def test_gradients_and_variables_are_left_behind() -> None:
    import tensorflow as tf
    import torch

    parameter = torch.nn.Parameter(torch.ones(3))
    assert_close(host(na.to_backend(parameter, "jax")), np.ones(3, "float32"))
    variable = tf.Variable([1.0, 2.0])
    assert_close(na.to_backend(variable, "torch").numpy(), np.asarray([1, 2], "float32"))


def test_pending_conjugation_of_torch_is_resolved() -> None:
    import torch

    x = torch.tensor([1 + 2j]).conj()
    for target in ("numpy", "jax", "tensorflow"):
        assert_close(host(na.to_backend(x, target)), np.asarray([1 - 2j], "complex64"))


def test_zeros_without_memory_of_torch_are_zeros_elsewhere() -> None:
    import torch

    zero = torch._efficientzerotensor((2, 3))  # as some derivatives are
    for target in ("numpy", "jax", "tensorflow"):
        assert_close(host(na.to_backend(zero, target)), np.zeros((2, 3), "float32"))


def test_float64_on_jax_without_x64_is_refused() -> None:
    for source in ("numpy", "torch", "tensorflow"):
        with pytest.raises(DtypeError, match="jax computes in 32 bits and has no float64 now"):
            na.to_backend(on(source, np.ones(2)), "jax")


def test_int64_on_jax_without_x64_is_int32() -> None:
    for source in ("numpy", "torch", "tensorflow"):
        moved = na.to_backend(on(source, np.arange(3)), "jax")
        assert na.dtype_of(moved) is na.int32


def test_tracers_are_refused() -> None:
    import jax
    import tensorflow as tf

    message = (
        "to_backend: x: got an array that {} is tracing, which has no values yet; move it to numpy"
    )
    with pytest.raises(ArgumentError, match=message.format("jax")):
        jax.jit(lambda x: na.to_backend(x, "numpy"))(1.0)
    with pytest.raises(ArgumentError, match=message.format("tensorflow")):
        tf.function(lambda x: na.to_backend(x, "numpy"), autograph=False)(tf.ones(2))


def test_sparse_tensors_are_refused() -> None:
    import torch

    with pytest.raises(ArgumentError, match=r"expected a dense one; call x\.to_dense\(\) first"):
        na.to_backend(torch.eye(2).to_sparse(), "numpy")


def test_masked_arrays_are_no_arrays() -> None:
    """Some functions of NumPy drop masks in silence: the sum of one counts masked elements."""
    masked = np.ma.masked_greater([1.0, 2.0, 3.0], 2)
    for call in (na.sum, na.exp, lambda x: na.add(1.0, x), lambda x: na.stack([x, x])):
        with pytest.raises(ArgumentError) as info:
            call(masked)
        assert str(info.value).endswith(
            "got MaskedArray, expected an array of numpy, jax, torch or tensorflow, a Container or a "
            "number; pass x.filled(value), or x.data and x.mask as two arrays"
        )
    with pytest.raises(ArgumentError, match="got MaskedArray") as info:
        na.Container(a={"b": masked}).to_backend("torch")
    assert "a/b" in "".join([str(info.value), *info.value.__notes__])


@pytest.mark.parametrize("backend", ["numpy", "jax", "torch", "tensorflow"])
def test_masked_arrays_are_converted_where_nothing_is_hidden(backend: str) -> None:
    like = na.to_backend(np.ones(1, "float32"), backend)
    shown, hidden = (np.ma.masked_greater(np.asarray([1.0, 2.0], "float32"), n) for n in (5, 1))
    for settings in ({}, {"dtype": "float16"}):
        for data in (shown, [shown, shown]):
            x = na.asarray(data, like=like, **settings)
            assert na.backend_of(x) == backend
            assert np.asarray(x).tolist() == np.asarray(data).tolist()
        for data in (hidden, [shown, hidden]):
            with pytest.raises(ArgumentError) as info:
                na.asarray(data, like=like, **settings)
            assert str(info.value) == (
                "asarray: obj: got a masked array that hides elements, expected all of them; pass "
                "x.filled(value), or x.data and x.mask as two arrays"
            )


def test_unknown_backend_and_device() -> None:
    with pytest.raises(ArgumentError, match="backend: got 'caffe', expected one of numpy, jax"):
        na.to_backend(np.ones(2), "caffe")
    with pytest.raises(ArgumentError, match="to_device: device: got 'gpu', expected one of cpu"):
        na.to_device(np.ones(2), "gpu")
    with pytest.raises(ArgumentError, match="to_device: device: got 'tpu', expected one of cpu"):
        na.to_device(on("jax", numbers("float32")), "tpu")


def test_values_that_are_no_arrays_stay() -> None:
    c = na.Container(a=np.ones(2), s="text", n=None).to_backend("torch")
    assert (c.s, c.n) == ("text", None)


@pytest.mark.parametrize("backend", BACKENDS)
def test_from_dlpack_and_asarray_follow_like(backend: str) -> None:
    import torch

    like = on(backend, numbers("int32"))
    for made in (
        na.from_dlpack(torch.ones(3), like=like),
        na.asarray([1.0, 1.0, 1.0], like=like),
        na.asarray(np.ones(3, "float32"), like=like),
        na.asarray(torch.ones(3), like=like),
        na.ones(3, like=like),
        na.full((3,), 1.0, like=like),
        na.linspace(1.0, 1.0, 3, like=like),
        na.eye(3, like=like)[0, :] * 0 + 1,
    ):
        assert na.backend_of(made) == backend
        assert_close(host(made), np.ones(3, "float32"))
    assert na.backend_of(na.arange(3, like=like)) == backend


@pytest.mark.parametrize("backend", BACKENDS)
def test_default_backend_makes_new_arrays(backend: str) -> None:
    with na.use_backend(backend):
        made = [na.zeros(2), na.ones(2), na.empty(2), na.full(2, 1), na.arange(3), na.eye(2)]
        made += [na.asarray([1]), na.asarray(np.ones(2, "float32")), na.linspace(0, 1, 2)]
    assert {na.backend_of(x) for x in made} == {backend}


def test_asarray_keeps_the_framework_of_an_array() -> None:
    x = on("torch", numbers("float32"))
    assert na.asarray(x) is x
    assert na.dtype_of(na.asarray(x, dtype="int8")) is na.int8


def test_asarray_refuses_objects_without_data() -> None:
    with pytest.raises(ArgumentError, match="asarray: obj: got str of <U1, expected numbers"):
        na.asarray("x")
    with pytest.raises(ArgumentError, match="asarray: obj: the lists in it have different lengths"):
        na.asarray([[1], [1, 2]])
    with pytest.raises(ArgumentError, match="asarray: copy=False, but list has no memory"):
        na.asarray([1], copy=False)
    with pytest.raises(
        ArgumentError, match="from_dlpack: x: got list, expected an object with __dlpack__"
    ):
        na.from_dlpack([1])


def test_asarray_of_a_container() -> None:
    c = na.asarray(na.Container(a=[1.0], b=2), dtype="float32")
    assert_close(c.b, np.asarray(2.0, "float32"))
