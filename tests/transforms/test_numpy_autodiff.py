"""Derivatives on NumPy as interpreters: nesting, control flow, NumPy's own functions, errors."""

from __future__ import annotations

import gc
import subprocess
import sys
import textwrap
import tracemalloc
import weakref
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nestarray as na
from nestarray import errors
from nestarray.testing import assert_close
from nestarray.transforms import autodiff

X = np.asarray([1.0, 2.0, 3.0])


class TestNesting:
    @pytest.mark.parametrize("inner", ["grad", "jvp"])
    @pytest.mark.parametrize("outer", ["grad", "jvp"])
    def test_perturbations_are_not_confused(self, outer: str, inner: str) -> None:
        """∂/∂x [x · ∂/∂y (x + y)] = 1: a step in y is not a step in x."""

        def derivative(mode: str, fn: Callable[[Any], Any], at: Any) -> Any:
            if mode == "grad":
                return na.grad(fn)(at)
            return na.jvp(fn, [at], [np.asarray(1.0)])[1]

        one = np.asarray(1.0)
        found = derivative(outer, lambda x: x * derivative(inner, lambda y: x + y, one), one)
        assert float(found) == 1.0
        found = derivative(
            outer, lambda x: x * derivative(inner, lambda y: x * y * y, one), 3 * one
        )
        assert float(found) == 12.0  # d/dx 2x²

    @pytest.mark.parametrize("modes", ["rr", "rf", "fr", "ff", "rrr", "rfr", "frf"])
    def test_every_order_and_mix_of_modes(self, modes: str) -> None:
        def derivative(fn: Callable[[Any], Any], mode: str) -> Callable[[Any], Any]:
            if mode == "r":
                return na.grad(fn)
            return lambda x: na.jvp(fn, [x], [np.asarray(1.0)])[1]

        def fn(x: Any) -> Any:
            return na.sin(x) * na.exp(x * 0.5) / (1.0 + x * x)

        ours, theirs = fn, lambda x: jax.numpy.sin(x) * jax.numpy.exp(x * 0.5) / (1.0 + x * x)
        for mode in modes:
            ours, theirs = derivative(ours, mode), jax.grad(theirs)
        np.testing.assert_allclose(ours(np.asarray(0.7)), theirs(0.7), rtol=1e-4)

    def test_gradient_of_a_gradient_step(self) -> None:
        """Through an inner training loop, by its learning rate."""

        def trained(rate: Any) -> Any:
            w = np.ones(3)
            for _ in range(3):
                w = w - rate * na.grad(lambda w: na.sum((w * X - 2.0) ** 2))(w)
            return na.sum((w * X - 2.0) ** 2)

        rate, step = np.asarray(0.03), 1e-5
        slope = (trained(rate + step) - trained(rate - step)) / (2 * step)
        np.testing.assert_allclose(na.grad(trained)(rate), slope, rtol=1e-6)

    def test_batches_inside_and_outside(self) -> None:
        rows = np.arange(6.0).reshape(2, 3)
        each = na.vmap(na.grad(lambda x: na.sum(x**3)))(rows)
        assert_close(each, 3 * rows**2)
        through = na.grad(lambda r: na.sum(na.vmap(lambda x: na.sum(x) ** 2)(r)))(rows)
        assert_close(through, np.broadcast_to(2 * rows.sum(1, keepdims=True), (2, 3)).copy())

    def test_a_pullback_is_differentiable_where_it_is_called(self) -> None:
        _, pull = na.vjp(lambda x: x**3, X)
        found = na.grad(lambda ct: na.sum(pull(ct)[0] ** 2))(np.ones(3))
        assert_close(found, 2 * (3 * X**2) ** 2)

    def test_linearize_evaluates_the_function_once(self) -> None:
        calls: list[int] = []

        def fn(x: Any) -> Any:
            calls.append(1)
            return na.sin(x) * x

        _, push = na.linearize(fn, X)
        for factor in (1.0, -2.0):
            assert_close(push(factor * X), factor * X * (np.cos(X) * X + np.sin(X)))
        assert calls == [1]


class TestControlFlow:
    def test_choices_and_loops_of_python(self) -> None:
        def fn(x: Any) -> Any:
            total = na.zeros_like(x[0])
            for element in x:
                if element < 1.5:
                    total = total - element
                    continue
                total = total + element**2
            while total < 100.0:
                total = total * 2.0
            return total

        assert fn(X) == 192.0  # (−1 + 4 + 9) · 2⁴
        assert_close(na.grad(fn)(X), 16.0 * np.asarray([-1.0, 4.0, 6.0]))

    def test_recursion(self) -> None:
        def power(x: Any, n: int) -> Any:
            return 1.0 if n == 0 else x * power(x, n - 1)

        assert float(na.grad(lambda x: power(x, 5))(np.asarray(2.0))) == 80.0

    def test_truth_and_whole_numbers_are_those_of_the_value(self) -> None:
        def fn(x: Any) -> Any:
            count = int(x[2])
            return na.sum(x) * count if bool(x[0]) else na.sum(x)

        assert_close(na.grad(fn)(X), np.full(3, 3.0))

    def test_integers_inside_are_plain_arrays(self) -> None:
        seen: list[Any] = []

        def fn(x: Any) -> Any:
            seen.extend([na.argmax(x), x > 1.5, na.astype(x, "int32"), na.floor(x)])
            return x[na.argmax(x)] * x.shape[0]

        assert_close(na.grad(fn)(X), np.asarray([0.0, 0.0, 3.0]))
        assert all(isinstance(x, (np.ndarray, np.generic)) for x in seen)

    @given(st.lists(st.sampled_from(["sin", "exp", "double", "add", "split"]), max_size=8))
    def test_programs(self, program: list[str]) -> None:
        """Any composition: the gradient equals differences."""

        def fn(x: Any) -> Any:
            y = x
            for name in program:
                if name == "split":
                    first, rest = na.split(y, (1, 2))
                    y = na.concat([rest * first, first])
                elif name == "double":
                    y = y * 2.0 if na.sum(y) < 3 else y / 2.0
                elif name == "add":
                    y = y + x * y[::-1]
                elif name == "exp":
                    y = na.exp(-y * y)
                else:
                    y = na.sin(y)
            return na.sum(y * y)

        x, step = np.asarray([0.3, -0.8, 1.1]), 1e-6
        u = np.asarray([0.5, -1.0, 0.25])
        slope = (fn(x + step * u) - fn(x - step * u)) / (2 * step)
        np.testing.assert_allclose(np.vdot(na.grad(fn)(x), u), slope, rtol=1e-5, atol=1e-5)


class TestNumPysOwnFunctions:
    W = np.linspace(-1.0, 1.0, 6).reshape(2, 3)

    @pytest.mark.parametrize(
        ("theirs", "ours"),
        [
            (lambda x: np.sum(np.sin(x) * np.exp(-x)), lambda x: na.sum(na.sin(x) * na.exp(-x))),
            (lambda x: np.arctan2(x, 2.0).mean(), lambda x: na.mean(na.atan2(x, 2.0))),
            (lambda x: np.power(x, 2).sum(axis=0).max(), lambda x: na.max(na.sum(x**2, axis=0))),
            (lambda x: np.dot(x, x.T).trace(), lambda x: na.sum(x * x)),
            (
                lambda x: np.concatenate([x, 2 * x], axis=1).std(ddof=1),
                lambda x: na.std(na.concat([x, 2 * x], axis=1), correction=1),
            ),
            (
                lambda x: np.einsum("ij,ij->i", x, x).prod(),
                lambda x: na.prod(na.sum(x * x, axis=1)),
            ),
            (
                lambda x: np.where(x > 0, x, 0.1 * x).reshape(-1)[1:].sum(),
                lambda x: na.sum(na.reshape(na.where(x > 0, x, 0.1 * x), (-1,))[1:]),
            ),
            (lambda x: np.cumsum(x, axis=1).ravel()[4], lambda x: x[1, 0] + x[1, 1]),
            (lambda x: np.linalg.inv(x[:, :2] + np.eye(2)).sum(), lambda x: na.sum(na.inv(x[:, :2] + np.eye(2)))),
            (lambda x: np.transpose(x, (1, 0)).clip(-0.5, 0.5).sum(), lambda x: na.sum(na.clip(x, -0.5, 0.5))),
            (lambda x: np.add.reduce(x, axis=None) + x.astype("float64").flatten()[0], lambda x: na.sum(x) + x[0, 0]),
            (lambda x: (np.ones((4, 2)) @ x + np.float64(2) * x[0]).sum(), lambda x: na.sum(x) * 4 + 8 * na.sum(x[0])),
            (lambda x: np.linalg.norm(x) + np.vdot(x, x), lambda x: na.vector_norm(x) + na.sum(x * x)),
            (lambda x: np.average(x, 1).prod() + np.split(x, [1], axis=1)[1].sum(), lambda x: na.prod(na.mean(x, axis=1)) + na.sum(x[:, 1:])),
            (lambda x: np.split(x, 3, 1)[2].sum() + np.trace(np.stack([x, x])).sum(), lambda x: na.sum(x[:, 2]) + na.sum(x)),
            (lambda x: np.linalg.norm(x, 1, axis=0).sum(), lambda x: na.sum(na.abs(x))),
            (lambda x: np.convolve(x[0], x[1], "same").sum() + np.trapezoid(x, None, 2.0).sum(), lambda x: na.sum(na.convolve(x[0], x[1], mode="same")) + na.sum(x[:, 1:] + x[:, :-1])),
            (lambda x: np.select([x > 1], [x * x], 3.0).sum() + np.interp(0.5, np.arange(2.0), x[0, :2]), lambda x: na.sum(na.where(x > 1, x * x, 3.0)) + na.mean(x[0, :2])),
            (lambda x: np.sum(np.linalg.norm(x, "nuc", (1, 0), True)), lambda x: na.sum(na.svdvals(x))),
            (lambda x: np.stack([x, x * x]).swapaxes(0, 2).squeeze().var(), lambda x: na.var(na.stack([x, x * x]))),
        ],
    )  # fmt: skip
    def test_they_are_the_ops(self, theirs: Callable[..., Any], ours: Callable[..., Any]) -> None:
        np.testing.assert_allclose(theirs(self.W), ours(self.W))
        np.testing.assert_allclose(na.grad(theirs)(self.W), na.grad(ours)(self.W), atol=1e-12)

    def test_what_has_no_op_says_so(self) -> None:
        for call, name in (
            (lambda x: np.sum(np.ediff1d(x)), "np.ediff1d"),
            (lambda x: np.sum(np.spacing(x)), "np.spacing"),
            (
                lambda x: np.sum(np.linalg.lstsq(np.eye(3), x, rcond=1.0)[0]),
                "np.linalg.lstsq with rcond",
            ),
            (lambda x: np.sum(np.add(x, x, out=np.zeros(3))), "np.add with out"),
            (lambda x: np.multiply.outer(x, x).sum(), "np.multiply.outer"),
            (lambda x: np.sum(x, where=X > 1), "np.sum with where"),
        ):
            with pytest.raises(errors.UnsupportedError) as info:
                na.grad(call)(X)
            assert str(info.value) == (
                f"{name}: no derivative is known of this function of NumPy; use the function of "
                "na that does the same, or hold the argument fixed with na.stop_gradient"
            )


class TestResults:
    def test_gradients_are_arrays_of_their_own(self) -> None:
        v = na.Container(a=np.ones((2, 3)), b=np.ones((2, 3)), c=np.asarray(2.0))
        gradients = na.grad(lambda v: na.sum(v.a + v.b) * v.c)(v)
        assert all(type(g) is np.ndarray and g.flags.writeable for g in gradients.leaves())
        gradients.a[0, 0] = 7.0
        assert gradients.b[0, 0] == 2.0
        x = np.ones(3)
        (found,) = na.vjp(lambda x: x, x)[1](x)
        found[0] = 5.0
        assert x[0] == 1.0

    def test_values_and_aux_are_plain(self) -> None:
        (value, aux), gradient = na.value_and_grad(
            lambda x: (na.sum(x * x), {"y": x * 2, "c": na.Container(z=x), "n": 1}), has_aux=True
        )(X)
        assert isinstance(value, (np.ndarray, np.generic))
        assert type(aux["y"]) is type(aux["c"].z) is np.ndarray
        assert_close(gradient, 2 * X)

    def test_fused_containers(self) -> None:
        c = na.Container(a=X, b={"c": np.ones((2, 2))}).fuse()
        gradient = na.grad(lambda c: na.tree_sum(c * c) + c["b/c"][0, 1])(c)
        assert_close(gradient["a"], 2 * X)
        assert_close(gradient["b/c"], np.asarray([[2.0, 3.0], [2.0, 2.0]]))

    def test_edges_warn_of_nothing(self) -> None:
        gradient = na.grad(lambda x: na.sum(na.sqrt(x)) + na.sum(na.where(x > 0, x**0.5, 0.0)))
        assert gradient(np.asarray([0.0, 4.0])).tolist()[1] == 0.5
        assert np.isposinf(na.grad(lambda x: na.sum(na.sqrt(x)))(np.zeros(1)))[0]

    def test_the_tape_goes_with_the_results(self) -> None:
        kept: list[weakref.ref[Any]] = []

        def fn(x: Any) -> Any:
            y = na.exp(x)
            kept.append(weakref.ref(y.value))
            return na.sum(y * y)

        na.grad(fn)(X)
        gc.collect()
        assert kept[0]() is None

    def test_activations_make_room_for_gradients(self) -> None:
        count, size = 16, 100_000
        weights = na.Container({f"w{i}": np.full(size, 0.1) for i in range(count)})

        def loss(v: na.Container) -> Any:
            h = np.ones(size)
            for w in v.values():
                h = na.relu(h * w)  # a rule that needs its result only
            return na.sum(h)

        tracemalloc.start()
        na.execute_with_gradients(loss, weights)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak / weights.w0.nbytes < count + 5

    def test_a_checkpoint_keeps_no_inside(self) -> None:
        kept: list[weakref.ref[Any]] = []
        alive: list[bool] = []

        def layer(x: Any) -> Any:
            y = na.exp(x)
            kept.append(weakref.ref(getattr(y, "value", y)))
            return na.sin(y)

        def loss(x: Any) -> Any:
            y = na.checkpoint(layer)(x)
            alive.append(kept[0]() is not None)
            return na.sum(y)

        assert_close(na.grad(loss)(X), np.cos(np.exp(X)) * np.exp(X))
        assert alive == [False]
        assert len(kept) == 2

    def test_a_checkpoint_of_a_function_that_closes_over_more(self) -> None:
        found = na.grad(lambda x: na.sum(na.checkpoint(lambda y: y * x)(x * 2.0)))(X)
        assert_close(found, 4 * X)


class TestErrors:
    def raised(self, fn: Callable[[Any], Any], error: type[Exception]) -> str:
        with pytest.raises(error) as info:
            na.grad(fn)(X)
        return str(info.value)

    def test_what_would_lose_the_derivative(self) -> None:
        import math

        for fn in (
            lambda x: math.exp(x[0]),
            lambda x: np.float64(float(x[0])),
            lambda x: x.tolist(),
        ):
            message = self.raised(fn, errors.ConversionError)
            assert message.startswith(
                "a derivative is being taken: the code makes a plain number or array of Taped("
            )
            assert message.endswith(
                "which would lose the derivative. Use functions of na or NumPy; what is meant to "
                "be a constant pass through na.stop_gradient"
            )

        def fills(x: Any) -> Any:
            y = np.zeros(3)
            y[0] = x[0]
            return na.sum(y)

        with pytest.raises(ValueError, match="setting an array element") as info:
            na.grad(fills)(X)
        assert isinstance(info.value.__cause__, errors.ConversionError)

    def test_writing_into_an_array(self) -> None:
        def fn(x: Any) -> Any:
            x[0] = 1.0
            return na.sum(x)

        assert self.raised(fn, errors.ImmutableError) == (
            "a derivative is being taken: the code writes into an array; "
            "use x = na.setitem(x, index, value)"
        )

    def test_an_attribute_that_arrays_have(self) -> None:
        assert self.raised(lambda x: x.tobytes(), AttributeError) == (
            "an array whose derivative is being taken has no attribute 'tobytes'; "
            "use a function of na"
        )
        assert self.raised(lambda x: x.gelu(), AttributeError).endswith("use na.gelu(x, ...)")

    def test_factors_that_are_not_determined(self) -> None:
        a = np.arange(6.0).reshape(3, 2)
        with pytest.raises(errors.UnsupportedError, match=r"^qr: the derivative of the complete"):
            na.grad(lambda a: na.sum(na.qr(a, mode="complete").Q))(a)
        with pytest.raises(errors.UnsupportedError, match=r"^svd: the derivative of the complete"):
            na.grad(lambda a: na.sum(na.svd(a).U))(a)

    def test_custom_derivatives_that_close_over_a_value(self) -> None:
        def loss(x: Any) -> Any:
            scaled = na.custom_vjp(lambda y: y * x)
            scaled.defvjp(lambda y: (y * x, None), lambda _, ct: (ct,))
            return na.sum(scaled(x * 1.0))

        message = self.raised(loss, errors.UnsupportedError)
        assert message == (
            "custom_vjp: the function closes over an array of which a derivative is being taken, "
            "and its own derivative knows nothing of that; make it an argument"
        )

    def test_another_framework_inside(self) -> None:
        with pytest.raises(errors.MixedBackendError, match=r"^multiply: got arrays of "):
            na.grad(lambda x: na.sum(na.multiply(jax.numpy.ones(3), x)))(X)


def test_a_stand_in_looks_like_its_array() -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    seen: list[Any] = []

    def fn(x: Any) -> Any:
        seen.extend(
            [x.shape, x.ndim, x.size, len(x), x.dtype, x.nbytes, x.device, f"{x[0, 1]:.1f}"]
        )
        seen.extend([repr(x[0, 0]), na.backend_of(x), hash(x) == hash(x), x.T.shape, x.mT.shape])
        return na.sum(x.real) + na.sum(x.imag)

    na.grad(fn)(x)
    assert seen[:8] == [(2, 3), 2, 6, 2, np.float32, 24, "cpu", "1.0"]
    assert seen[8:] == ["Taped(np.float32(0.0))", "numpy", True, (3, 2), (3, 2)]


def test_the_package_is_imported_when_it_is_needed() -> None:
    code = (
        "import sys, numpy as np, nestarray as na\n"
        "name = 'nestarray.transforms.autodiff'\n"
        "print(name in sys.modules)\n"
        "na.grad(na.sum)(np.ones(2)); print(name in sys.modules)"
    )
    assert run(code) == ["False", "True"]
    assert autodiff.__doc__


def test_a_network_trains_with_numpy_and_dm_tree_alone() -> None:
    code = """
        import sys
        for name in ("jax", "torch", "tensorflow", "scipy", "einops", "ml_dtypes", "optax"):
            sys.modules[name] = None
        import nestarray as na

        class MLP(na.nn.Module):
            def __init__(self):
                super().__init__()
                self.hidden = na.nn.Linear(8, 32)
                self.out = na.nn.Linear(32, 1)

            def forward(self, x):
                return self.out(na.relu(self.hidden(x)))

        model = MLP().init(na.random.key(0))
        x = na.random.normal(na.random.key(1), (64, 8))
        target = na.sum(x, axis=1, keepdims=True)
        optimizer = na.nn.Adam(1e-2)
        v, state = model.v, optimizer.init(model.v)
        for step in range(50):
            loss, grads = na.execute_with_gradients(
                lambda v: na.mean((model(x, v=v) - target) ** 2), v
            )
            v, state = optimizer.step(v, grads, state)
        print(type(loss).__module__, float(loss) < 0.5)
    """
    assert run(textwrap.dedent(code)) == ["numpy True"]


def run(code: str) -> list[str]:
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.strip().splitlines()
