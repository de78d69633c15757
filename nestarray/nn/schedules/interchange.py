"""Schedules of optax, PyTorch and Keras.

A schedule here is a schedule of optax. The reverse holds on JAX only; `from_optax` makes it hold on
every backend.
"""

from __future__ import annotations

import importlib
from functools import partial
from typing import TYPE_CHECKING, Any

from nestarray import backends, lazy_imports
from nestarray.errors import ArgumentError
from nestarray.nn.schedules.count import Schedule, as_float, check_schedule
from nestarray.typing import Array

if TYPE_CHECKING:
    from nestarray.graph import Graph


def from_optax(schedule: Schedule) -> Schedule:
    """A schedule of optax, or another function of JAX, for every backend.

    It is traced with a float32 count, and the result can be pickled.

    Args:
        schedule: function of the number of steps, such as ``optax.cosine_decay_schedule(0.1, 100)``.

    Raises:
        ArgumentError: `schedule` cannot be called.
        MissingFrameworkError: JAX is not installed.

    Example:
        >>> import nestarray as na, optax
        >>> schedule = na.nn.schedules.from_optax(optax.linear_schedule(1.0, 0.0, 4))
        >>> float(schedule(1)), na.nn.Adam(schedule).b1
        (0.75, 0.9)

    References:
        https://optax.readthedocs.io/en/latest/api/optimizer_schedules.html
    """
    check_schedule("from_optax", "schedule", schedule)
    jax = backends.core("jax").jax

    def rate(count: Array) -> Array:
        return jax.numpy.asarray(schedule(count), jax.numpy.float32)

    tracing = importlib.import_module("nestarray.importers.tracing")
    return _Traced(tracing.trace_graph(rate, jax.numpy.float32(0.0)).lower())


class _Traced:
    """A traced schedule, which keeps its graph on each backend that calls it."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._graphs: dict[str, Graph] = {}

    def __call__(self, count: Array | int) -> Array:
        done = as_float(count)
        backend = backends.backend_of(done)
        if backend not in self._graphs:
            self._graphs[backend] = self._graph.to_backend(backend)
        return self._graphs[backend](done)

    def __reduce__(self) -> Any:
        return _Traced, (self._graph,)


def to_torch(schedule: Schedule, optimizer: Any, *, count: int = 0) -> Any:
    """The scheduler of PyTorch that sets the rate of an optimizer to `schedule`.

    Args:
        schedule: function of the number of steps done.
        optimizer: a ``torch.optim.Optimizer``. All its parameter groups get the rate.
        count: the number of steps done.

    Returns:
        a ``torch.optim.lr_scheduler.LambdaLR``; call its ``step()`` after each step of `optimizer`.

    Raises:
        ArgumentError: `schedule` cannot be called, or `optimizer` is not one of PyTorch.

    Example:
        >>> import torch, nestarray as na
        >>> optimizer = torch.optim.SGD([torch.zeros(2)])
        >>> scheduler = na.nn.schedules.to_torch(na.nn.schedules.linear(1.0, 0.0, 4), optimizer)
        >>> optimizer.step()
        >>> scheduler.step()
        >>> scheduler.get_last_lr()
        [0.75]

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.optim.lr_scheduler.LambdaLR.html
    """
    check_schedule("to_torch", "schedule", schedule)
    optim = backends.core("torch").torch.optim
    if not isinstance(optimizer, optim.Optimizer):
        raise ArgumentError(
            f"to_torch: optimizer: got {type(optimizer).__name__}, expected a torch.optim.Optimizer"
        )
    for group in optimizer.param_groups:
        group["lr"] = group["initial_lr"] = 1.0
    return optim.lr_scheduler.LambdaLR(optimizer, partial(_as_number, schedule), count - 1)


def _as_number(schedule: Schedule, count: int) -> float:
    return float(schedule(count))


def to_keras(schedule: Schedule) -> Any:
    """The schedule as one of Keras, for any optimizer and backend of Keras.

    Keras counts the steps. A file of Keras does not contain the schedule: load the model with
    ``compile=False``.

    Args:
        schedule: function of the number of steps done.

    Returns:
        a ``keras.optimizers.schedules.LearningRateSchedule``.

    Raises:
        ArgumentError: `schedule` cannot be called.
        MissingFrameworkError: Keras is not installed.

    Example:
        >>> import keras, nestarray as na
        >>> schedule = na.nn.schedules.to_keras(na.nn.schedules.linear(1.0, 0.0, 4))
        >>> float(keras.optimizers.Adam(schedule).learning_rate)
        1.0

    References:
        https://keras.io/api/optimizers/learning_rate_schedules/learning_rate_schedule/
    """
    check_schedule("to_keras", "schedule", schedule)
    keras = lazy_imports.optional("keras", "to_keras needs", extra="keras")

    class LearningRateSchedule(keras.optimizers.schedules.LearningRateSchedule):
        def __call__(self, step: Any) -> Any:
            return schedule(keras.ops.convert_to_tensor(step))

    return LearningRateSchedule()
