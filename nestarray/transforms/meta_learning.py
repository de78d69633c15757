"""Meta-learning steps, and gradients of batches that exceed the memory.

Tasks (or microbatches) are nests of arrays with one more axis in front. Each function
returns ``(value, gradients)`` as `na.execute_with_gradients` does, for any optimizer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nestarray import ops, tree
from nestarray.container import Container
from nestarray.errors import ShapeError
from nestarray.errors.signatures import signature_errors
from nestarray.transforms import execute_with_gradients, grad, vmap
from nestarray.transforms.arguments import is_inexact
from nestarray.transforms.loop_arguments import check_count
from nestarray.typing import Nest

Loss = Callable[[Container, Any], Any]


@signature_errors()
def maml_step(
    inner_loss: Loss,
    outer_loss: Loss,
    v: Container,
    tasks: Nest,
    *,
    steps: int = 1,
    learning_rate: float = 0.01,
    first_order: bool = False,
) -> tuple[Any, Container]:
    """The loss after adaptation, averaged over tasks, and its gradient in the start v.

    For each task φ ← v; φ ← φ − η ∇inner(φ, task), `steps` times; the value is the mean of
    outer(φ, task), and the gradient goes through the adaptation.

    Args:
        inner_loss: ``inner_loss(v, task)``, the loss that adaptation minimizes.
        outer_loss: ``outer_loss(v, task)``, a scalar: the loss of the adapted variables.
        v: variables.
        tasks: a nest of arrays `(task, ...)`.
        steps: the number of adaptation steps.
        learning_rate: η.
        first_order: treat the gradients of adaptation as constants (FOMAML), which needs no
            second derivatives.

    Returns:
        ``(value, gradients)``.

    Example:
        >>> import jax.numpy as jnp, nestarray as na
        >>> loss = lambda v, task: na.sum((v.w - task) ** 2)
        >>> v, tasks = na.Container(w=jnp.zeros(())), jnp.asarray([1.0, 3.0])
        >>> value, grads = na.nn.maml_step(loss, loss, v, tasks, learning_rate=0.25)
        >>> float(value), float(grads.w)
        (1.25, -1.0)

    References:
        Finn, Abbeel and Levine, Model-agnostic meta-learning. ICML 2017.
    """

    check_count("maml_step", "steps", steps, least=1)

    def adapted(v: Container, task: Any) -> Any:
        found = _adapt(inner_loss, v, task, steps, learning_rate, first_order)
        return outer_loss(found, task)

    def mean(v: Container) -> Any:
        return ops.mean(vmap(adapted, in_axes=(None, 0))(v, tasks))

    return execute_with_gradients(mean, v)


@signature_errors()
def reptile_step(
    loss: Loss, v: Container, tasks: Nest, *, steps: int = 1, learning_rate: float = 0.01
) -> tuple[Any, Container]:
    """The Reptile update: v minus the mean of the variables adapted to each task.

    Args:
        loss: ``loss(v, task)``, a scalar that adaptation descends.
        v: variables.
        tasks: a nest of arrays `(task, ...)`.
        steps: the number of adaptation steps.
        learning_rate: η of adaptation.

    Returns:
        ``(value, gradients)``: the mean loss after adaptation, and v − mean φ, the gradient
        for an optimizer.

    Example:
        >>> import jax.numpy as jnp, nestarray as na
        >>> loss = lambda v, task: na.sum((v.w - task) ** 2)
        >>> v, tasks = na.Container(w=jnp.zeros(())), jnp.asarray([1.0, 3.0])
        >>> value, grads = na.nn.reptile_step(loss, v, tasks, learning_rate=0.25)
        >>> float(grads.w)
        -1.0

    References:
        Nichol, Achiam and Schulman, On first-order meta-learning algorithms. 2018.
    """

    check_count("reptile_step", "steps", steps, least=1)

    def adapted(v: Container, task: Any) -> tuple[Any, Container]:
        found = _adapt(loss, v, task, steps, learning_rate, first_order=True)
        return loss(found, task), found

    losses, found = vmap(adapted, in_axes=(None, 0))(v, tasks)
    return ops.mean(losses), v - ops.mean(found, axis=0)


def _adapt(
    loss: Loss, v: Container, task: Any, steps: int, learning_rate: float, first_order: bool
) -> Container:
    for _ in range(steps):
        gradients = grad(loss)(ops.stop_gradient(v) if first_order else v, task)
        v = v - gradients * learning_rate
    return v


@signature_errors()
def accumulate_gradients(
    loss: Loss, v: Container, batch: Nest, *, microbatches: int
) -> tuple[Any, Container]:
    """The mean loss over a batch and its gradient, computed in microbatches.

    Equal to the gradient over the whole batch for losses that are means over examples; only
    one microbatch needs memory for intermediate values.

    Args:
        loss: ``loss(v, part)``, a scalar.
        v: variables.
        batch: a nest of arrays `(batch, ...)`.
        microbatches: the number of parts; divides the batch size.

    Returns:
        ``(value, gradients)``.

    Raises:
        ArgumentError: `microbatches` is not an integer.
        ShapeError: the batch does not split into equal parts.

    Example:
        >>> import jax.numpy as jnp, nestarray as na
        >>> loss = lambda v, x: na.mean((v.w - x) ** 2)
        >>> v, batch = na.Container(w=jnp.zeros(())), jnp.asarray([1.0, 2.0, 3.0, 6.0])
        >>> value, grads = na.nn.accumulate_gradients(loss, v, batch, microbatches=2)
        >>> float(value), float(grads.w)
        (12.5, -6.0)
    """
    check_count("accumulate_gradients", "microbatches", microbatches, least=1)
    leaves, structure = tree.flatten(batch, unfused=True)
    sizes = {int(x.shape[0]) for x in leaves if hasattr(x, "shape")}
    if len(sizes) != 1 or sizes.copy().pop() % microbatches:
        raise ShapeError(
            f"accumulate_gradients: microbatches: got {microbatches} for batches of "
            f"{sorted(sizes)}, expected a divisor of one size"
        )
    size = sizes.pop() // microbatches
    total: Any = None
    for start in range(0, size * microbatches, size):
        part = [x[start : start + size] if hasattr(x, "shape") else x for x in leaves]
        value, grads = execute_with_gradients(
            lambda v, p=part: loss(v, tree.unflatten(structure, p)), v
        )
        total = (value, grads) if total is None else (total[0] + value, total[1] + grads)
    value, grads = total
    mean = tree.map(lambda g: g * (1.0 / microbatches) if is_inexact(g) else g, grads)
    return value / microbatches, mean
