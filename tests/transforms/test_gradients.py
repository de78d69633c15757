"""Gradients: the same on all backends, to any order, of any nest."""

from __future__ import annotations

import threading
from functools import cache
from typing import Any

import jax
import numpy as np
import pytest
import tensorflow as tf
import torch

import nestarray as na
from nestarray import errors
from nestarray.testing import assert_close
from tests.arrays import on

DIFFERENTIABLE = ("numpy", "jax", "torch", "tensorflow")


@pytest.fixture(params=DIFFERENTIABLE)
def backend(request: pytest.FixtureRequest) -> str:
    """Each backend that differentiates."""
    return request.param


def variables(backend: str) -> na.Container:
    rng = np.random.default_rng(0)
    tree = {
        "layer": {"w": rng.normal(size=(4, 3)), "b": rng.normal(size=4)},
        "scale": [rng.normal(size=()), rng.normal(size=(2,))],
    }
    return na.Container(tree).map(lambda x: x.astype(np.float32)).to_backend(backend)


def data(backend: str) -> Any:
    return na.to_backend(np.linspace(-1, 1, 15, dtype=np.float32).reshape(5, 3).copy(), backend)


def loss(v: na.Container) -> Any:
    x = data(na.backend_of(v))
    h = na.tanh(na.linear(x, v.layer.w, v.layer.b))
    return na.mean(h * h) * na.exp(v["scale/0"]) + na.sum(v["scale/1"] ** 3)


@cache
def expected(order: int) -> na.Container:
    """Of the loss, or of the squared norm of its gradient, by JAX alone."""

    def squared(fn: Any) -> Any:
        return lambda v: sum((g**2).sum() for g in jax.grad(fn)(v).leaves())

    fn = loss
    for _ in range(order - 1):
        fn = squared(fn)
    return jax.grad(fn)(variables("jax")).to_backend("numpy")


def repeated(order: int) -> Any:
    fn = loss
    for _ in range(order - 1):
        fn = _squared(fn)
    return na.grad(fn)


def _squared(fn: Any) -> Any:
    return lambda v: na.tree_sum(na.grad(fn)(v) ** 2)


@pytest.mark.release("backend")
@pytest.mark.parametrize("order", [1, 2, 3])
def test_every_order_is_that_of_jax(order: int, backend: str) -> None:
    found = repeated(order)(variables(backend))
    assert na.backend_of(found) == backend
    reason = "sums in another order, squared twice" if order == 3 else "sums in another order"
    assert_close(found.to_backend("numpy"), expected(order), rtol=1e-4, atol=1e-5, reason=reason)


def test_the_value_comes_with_it(backend: str) -> None:
    v = variables(backend)
    value, gradients = na.execute_with_gradients(loss, v)
    assert_close(value, loss(v))
    assert gradients.spec is v.spec
    assert_close(gradients, na.grad(loss)(v))
    assert_close(na.value_and_grad(loss)(v)[1], gradients)


def test_aux_is_handed_through(backend: str) -> None:
    v = variables(backend)

    def with_aux(v: na.Container) -> Any:
        return loss(v), {"b": v.layer.b * 2, "name": "x", "c": na.Container(n=3)}

    (value, aux), gradients = na.execute_with_gradients(with_aux, v, has_aux=True)
    assert_close(value, loss(v))
    assert_close(aux["b"], v.layer.b * 2)
    assert aux["name"] == "x"
    assert aux["c"].n == 3
    found, again = na.grad(with_aux, has_aux=True)(v)
    assert_close(found, gradients)
    assert_close(again["b"], aux["b"])


def test_several_arguments_of_any_nest(backend: str) -> None:
    x, y = (na.to_backend(np.asarray(n, np.float32), backend) for n in ([1.0, 2.0], [3.0, 5.0]))

    def fn(a: Any, b: Any, power: int) -> Any:
        return na.sum(a["x"] ** power * b[0])

    first, second = na.grad(fn, argnums=(0, 1))({"x": x}, [y, 7.0], 2)
    assert_close(na.to_backend(first["x"], "numpy"), np.asarray([6.0, 20.0], np.float32))
    assert_close(na.to_backend(second[0], "numpy"), np.asarray([1.0, 4.0], np.float32))
    assert float(second[1]) == 0.0
    assert_close(na.grad(fn, argnums=1)({"x": x}, [y, 7.0], 2)[0], second[0])


def test_other_leaves_and_unused_ones(backend: str) -> None:
    v = na.Container(
        x=np.ones(2, np.float32),
        n=np.arange(3, dtype=np.int32),
        flag=np.asarray([True]),
        unused=np.ones((2, 2), np.float32),
    ).to_backend(backend)
    v = v.set("name", "x").set("none", None).set("count", 4)
    gradients = na.grad(lambda v: na.sum(v.x * 2.0))(v)
    numbers = gradients.exclude("name", "none", "count").to_backend("numpy")
    assert_close(
        numbers,
        na.Container(
            x=np.full(2, 2, np.float32),
            n=np.zeros(3, np.int32),
            flag=np.zeros(1, bool),
            unused=np.zeros((2, 2), np.float32),
        ),
    )
    assert (gradients.name, gradients.none, gradients["count"]) == ("x", None, 0)


def test_a_loss_that_depends_on_nothing(backend: str) -> None:
    v = variables(backend)
    value, gradients = na.execute_with_gradients(lambda v: na.mean(data(backend)), v)
    assert float(value) == pytest.approx(0.0, abs=1e-6)
    assert_close(gradients, v * 0.0)


def test_tied_leaves_get_a_gradient_each(backend: str) -> None:
    x = na.to_backend(np.asarray([1.0, 2.0], np.float32), backend)
    v = na.Container(a=x, b=x)
    gradients = na.grad(lambda v: na.sum(v.a * 3.0 + v.b * 5.0))(v).to_backend("numpy")
    assert_close(gradients.a, np.full(2, 3, np.float32))
    assert_close(gradients.b, np.full(2, 5, np.float32))


def test_arrays_that_are_closed_over_are_constants(backend: str) -> None:
    x = na.to_backend(np.asarray([1.0, 2.0], np.float32), backend)
    scaled = lambda a, b: na.sum(a * x * 3.0) + 0.0 * na.sum(b)  # noqa: E731
    gradients = na.grad(scaled, argnums=(0, 1))(x, x)
    assert_close(na.to_backend(gradients[0], "numpy"), np.asarray([3.0, 6.0], np.float32))
    assert_close(na.to_backend(gradients[1], "numpy"), np.zeros(2, np.float32))
    inner = na.vjp(lambda a: a * x, x)[1](x)[0]
    assert_close(na.to_backend(inner, "numpy"), np.asarray([1.0, 4.0], np.float32))


def test_a_number_takes_the_backend_of_the_arrays_that_the_function_names(backend: str) -> None:
    weights = on(backend, [1.0, 2.0], "float32")
    gradient = na.grad(lambda x: na.sum(x * weights))(3.0)
    assert na.backend_of(gradient) == backend
    assert float(gradient) == 3.0


def test_complex_leaves_descend(backend: str) -> None:
    z = na.to_backend(np.asarray([3.0 + 4.0j], np.complex64), backend)
    gradient = na.grad(lambda z: na.sum(na.real(z * na.conj(z))))(z)
    assert_close(na.to_backend(gradient, "numpy"), np.asarray([6.0 + 8.0j], np.complex64))


def test_a_stopped_gradient(backend: str) -> None:
    x = na.to_backend(np.asarray([3.0], np.float32), backend)
    gradient = na.grad(lambda x: na.sum(na.stop_gradient(x) * x))(x)
    assert_close(na.to_backend(gradient, "numpy"), np.asarray([3.0], np.float32))


def test_an_embedding_has_dense_gradients(backend: str) -> None:
    table = na.to_backend(np.ones((4, 2), np.float32), backend)
    rows = na.to_backend(np.asarray([1, 1, 3], np.int32), backend)
    gradient = na.grad(lambda t: na.sum(na.embedding(rows, t)))(table)
    assert type(gradient) is type(table)
    expected = np.asarray([[0, 0], [2, 2], [0, 0], [1, 1]], np.float32)
    assert_close(na.to_backend(gradient, "numpy"), expected)


def test_nothing_is_left_attached_to_torch_graphs() -> None:
    v = variables("torch")
    (value, aux), gradients = na.execute_with_gradients(
        lambda v: (loss(v), v.layer.b * 2), v, has_aux=True
    )
    assert not value.requires_grad
    assert not aux.requires_grad
    assert not any(g.requires_grad for g in gradients.leaves())


def test_inside_of_torchs_own_autograd() -> None:
    x = torch.tensor([2.0], requires_grad=True)
    gradient = na.grad(lambda x: na.sum(x**3))(x)
    (second,) = torch.autograd.grad(gradient.sum(), x)
    assert second.item() == pytest.approx(12.0)


def test_under_no_grad() -> None:
    with torch.no_grad():
        gradient = na.grad(lambda x: na.sum(x**2))(torch.tensor([3.0]))
    assert gradient.item() == 6.0


def _pushed(function: Any) -> Any:
    return lambda x: na.jvp(function, [x], [torch.ones(3)])[1]


@pytest.mark.parametrize("is_inside", [True, False], ids=["inside of the mode", "after it"])
@pytest.mark.parametrize("transform", [na.grad, na.jacrev, na.jacfwd, _pushed, na.hessian])
def test_tensors_of_inference_mode(transform: Any, is_inside: bool) -> None:
    function = transform(lambda x: na.sum(na.sin(x) * x))
    expected = function(torch.ones(3))
    with torch.inference_mode():
        x = torch.ones(3)
    with torch.inference_mode(is_inside):
        assert_close(function(x), expected)


def test_a_compiled_loop_in_inference_mode() -> None:
    gradient = na.grad(lambda x: na.sum(na.fori_loop(0, 3, lambda _, c: na.sin(c * x), x)))
    with torch.inference_mode():
        x = torch.tensor([0.3, -0.5])
        assert_close(na.jit(gradient, backend="eager")(x), gradient(x))


@pytest.mark.filterwarnings("ignore:Anomaly Detection")
def test_compilation_with_torchs_detection_of_anomalies() -> None:
    x, gradient = torch.tensor([0.3, -0.5]), na.grad(lambda x: na.sum(na.sin(x)))
    with torch.autograd.detect_anomaly(check_nan=True):
        assert_close(na.jit(gradient, backend="eager")(x), gradient(x))


@pytest.mark.parametrize(
    "transform", [na.grad, na.jacfwd, na.hessian, lambda f: na.jit(na.grad(f))]
)
def test_derivatives_where_tensorflow_records_none(transform: Any) -> None:
    function = transform(lambda x: na.sum(x**2))
    with (
        tf.init_scope(),
        pytest.raises(errors.UnsupportedError, match="records no derivatives here"),
    ):
        function(tf.ones(3))
    constant = na.grad(lambda x: na.sum(tf.ones(2)))
    assert_close(constant(tf.ones(3)), tf.zeros(3))


def test_the_program_is_that_of_jax() -> None:
    v = variables("jax")
    ours, native = (jax.make_jaxpr(f(loss))(v) for f in (na.value_and_grad, jax.value_and_grad))
    assert str(ours) == str(native)


def test_inside_of_vmap() -> None:
    xs = torch.linspace(-1, 1, 6).reshape(3, 2)
    found = torch.func.vmap(na.grad(lambda x: na.sum(x**3)))(xs)
    assert_close(found, 3 * xs**2)
    fn = na.value_and_grad(lambda x: (na.sum(x**3), {"y": x * 2, "n": 1}), has_aux=True)
    found = torch.func.vmap(lambda x: fn(x)[0][1]["y"])(xs)
    assert_close(found, xs * 2)
    second = torch.func.vmap(na.grad(na.grad(lambda x: x**3)))(torch.ones(3))
    assert_close(second, torch.full((3,), 6.0))


def test_inside_of_tape_and_variable() -> None:
    x = tf.Variable([2.0])
    with tf.GradientTape() as tape:
        gradient = na.grad(lambda x: na.sum(x**3))(x)
    assert_close(tape.gradient(gradient, x), tf.constant([12.0]))


def test_threads_do_not_see_each_other() -> None:
    attached: list[bool] = []

    def inner(v: na.Container) -> Any:
        thread = threading.Thread(
            target=lambda: attached.append(na.grad(loss)(variables("torch")).layer.b.requires_grad)
        )
        thread.start()
        thread.join()
        return loss(v)

    na.grad(inner)(variables("torch"))
    assert attached == [False]


class TestErrors:
    def test_a_loss_that_is_no_scalar(self, backend: str) -> None:
        message = (
            rf"^grad: the function '<lambda>' returned an array of float32, shape \(4,\), expected "
            rf"a floating scalar of {backend}, shape \(\); reduce it, for example with na\.mean"
        )
        with pytest.raises(errors.ArgumentError, match=message):
            na.grad(lambda v: v.layer.b)(variables(backend))

    def test_a_loss_of_integers(self, backend: str) -> None:
        with pytest.raises(errors.ArgumentError, match=r"returned an array of int32, shape \(\)"):
            na.grad(lambda v: na.astype(na.sum(v.layer.b), "int32"))(variables(backend))

    def test_a_tuple_without_has_aux(self, backend: str) -> None:
        with pytest.raises(errors.ArgumentError, match=r"returned a tuple, .*; use has_aux=True"):
            na.grad(lambda v: (loss(v), 1))(variables(backend))

    def test_has_aux_without_a_tuple(self, backend: str) -> None:
        with pytest.raises(errors.ArgumentError, match=r"expected a pair \(value, aux\)"):
            na.grad(loss, has_aux=True)(variables(backend))

    def test_a_missing_argument(self, backend: str) -> None:
        with pytest.raises(errors.ArgumentError, match=r"argnums: got 2, but the function 'loss'"):
            na.grad(loss, argnums=2)(variables(backend))

    def test_two_frameworks(self) -> None:
        v = na.Container(a=torch.ones(1), b=variables("jax").layer.b)
        with pytest.raises(
            errors.MixedBackendError, match=r"^grad: got arrays of torch and of jax"
        ):
            na.grad(lambda v: na.sum(v.a))(v)
