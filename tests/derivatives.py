"""The function of a `Case` that is differentiated, and its gradient on each framework."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from nestarray import dtypes
from nestarray.config import BACKENDS
from nestarray.transforms import grad
from tests.arrays import host, placed
from tests.cases import Case, convert, on_backend

AUTODIFF = BACKENDS


def problem(case: Case) -> tuple[list[np.ndarray], Callable[[str, list[Any]], list[Any]]]:
    """The inputs to differentiate by, and the op's floating results as a function of them."""
    args, kwargs = case.draw("float64")
    chosen = range(len(args)) if case.differentiable is True else case.differentiable
    inputs: list[np.ndarray] = []
    for position in chosen:
        convert(args[position], lambda x: inputs.append(x) if x.dtype.kind == "f" else None)

    def function(backend: str, values: list[Any]) -> list[Any]:
        rest = iter(values)

        def fill(x: np.ndarray) -> Any:
            return next(rest) if x.dtype.kind == "f" else on_backend(x, backend)

        filled = [
            convert(arg, fill) if position in chosen else on_backend(arg, backend)
            for position, arg in enumerate(args)
        ]
        result = case.record.function(*filled, **on_backend(kwargs, backend))
        results = result if isinstance(result, (list, tuple)) else [result]
        return [r for r in results if dtypes.dtype_of(r).is_floating]

    return inputs, function


def weighted(function: Callable[[str, list[Any]], list[Any]], backend: str) -> Callable[..., Any]:
    """⟨w, f(x)⟩ with fixed random weights w, so that no part of the gradient can hide."""

    def loss(*values: Any) -> Any:
        rng = np.random.default_rng(1)
        total = None
        for result in function(backend, list(values)):
            weight = placed(backend, rng.uniform(0.5, 1.5, tuple(result.shape)))
            part = SUM[backend](result * weight)
            total = part if total is None else total + part
        return total

    return loss


def _sum_tensorflow(x: Any) -> Any:
    import tensorflow as tf

    return tf.reduce_sum(x)


SUM: dict[str, Callable[[Any], Any]] = {
    "numpy": lambda x: x.sum(),
    "jax": lambda x: x.sum(),
    "torch": lambda x: x.sum(),
    "tensorflow": _sum_tensorflow,
}


def gradients(
    case: Case, backend: str, loss: Callable[..., Any], inputs: list[np.ndarray]
) -> list[np.ndarray]:
    """∇loss at the inputs; on JAX compiled where it can be, which takes an eighth of the time."""
    values = [on_backend(x, backend) for x in inputs]
    if backend == "jax":
        return _gradients_jax(loss, values, compiled=case.jit)
    return GRADIENTS[backend](loss, values)


def _gradients_jax(
    loss: Callable[..., Any], inputs: list[Any], *, compiled: bool = False
) -> list[np.ndarray]:
    import jax

    gradient = jax.grad(loss, tuple(range(len(inputs))))
    return [np.asarray(g) for g in (jax.jit(gradient) if compiled else gradient)(*inputs)]


def _gradients_torch(loss: Callable[..., Any], inputs: list[Any]) -> list[np.ndarray]:
    import torch

    leaves = [x.clone().requires_grad_() for x in inputs]
    found = torch.autograd.grad(loss(*leaves), leaves, allow_unused=True, materialize_grads=True)
    return [host(g) for g in found]


def _gradients_tensorflow(loss: Callable[..., Any], inputs: list[Any]) -> list[np.ndarray]:
    import tensorflow as tf

    with tf.GradientTape() as tape:
        tape.watch(inputs)
        value = loss(*inputs)
    found = tape.gradient(value, inputs, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    return [tf.convert_to_tensor(g).numpy() for g in found]


def _gradients_numpy(loss: Callable[..., Any], inputs: list[Any]) -> list[np.ndarray]:
    return list(grad(loss, tuple(range(len(inputs))))(*inputs))


#: Backend → the gradients of ``loss(*inputs)`` with respect to native arrays, by its own means.
GRADIENTS = {
    "numpy": _gradients_numpy,
    "jax": _gradients_jax,
    "torch": _gradients_torch,
    "tensorflow": _gradients_tensorflow,
}
