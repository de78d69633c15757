"""L-BFGS with a line search."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nestarray import ops
from nestarray.container import Container
from nestarray.errors import ArgumentError
from nestarray.errors.signatures import signature_errors
from nestarray.nn.optimizers.optimizer import Optimizer, check_state, floating_part, with_floating
from nestarray.nn.optimizers.scale import LearningRate, Scale
from nestarray.nn.optimizers.settings import check_counts, refuse_setting
from nestarray.transforms import scan, value_and_grad, while_loop
from nestarray.tree_math.raveling import tree_ravel
from nestarray.typing import Array


class LBFGS(Optimizer):
    """Quasi-Newton steps v ← v − η H g, where H approximates the inverse Hessian from past steps.

    For deterministic losses. With `loss`, `step` searches an η that satisfies Wolfe's conditions, by
    bisection from the learning rate: f(v − η H g) ≤ f(v) − c₁ η gᵀ H g, and the slope there is at most
    c₂ times the slope at `v`. Without, η is the learning rate. The state holds vectors of all
    variables (see `tree_ravel`).

    Args:
        learning_rate: η, or the first η of the search.
        memory_size: the number of past steps.
        c1: c₁.
        c2: c₂.
        search_steps: the most evaluations of a search; if none satisfies the conditions, the
            step has the last η with a smaller loss, or is 0.

    Raises:
        ArgumentError: not 0 < c₁ < c₂ < 1, or an integer below 1.

    Example:
        >>> import numpy as np, nestarray as na
        >>> loss = lambda v: (1 - v.x) ** 2 + 100 * (v.y - v.x**2) ** 2
        >>> v, optimizer = na.Container(x=np.asarray(-1.0), y=np.asarray(2.0)), na.nn.LBFGS()
        >>> state = optimizer.init(v)
        >>> for _ in range(40):
        ...     value, grads = na.execute_with_gradients(loss, v)
        ...     v, state = optimizer.step(v, grads, state, loss=loss, value=value)
        >>> round(float(v.x), 4), round(float(v.y), 4)
        (1.0, 1.0)

    References:
        Nocedal and Wright, Numerical optimization, algorithms 7.4 and 7.5. Springer, 2006.
        Lewis and Overton, Nonsmooth optimization via quasi-Newton methods. Mathematical Programming
        141, 2013: the search.
    """

    moments = ("position", "gradient", "steps", "changes", "weights")
    has_one_rate = True

    @signature_errors()
    def __init__(
        self,
        learning_rate: LearningRate = 1.0,
        *,
        memory_size: int = 10,
        c1: float = 1e-4,
        c2: float = 0.9,
        search_steps: int = 25,
    ) -> None:
        super().__init__(learning_rate)
        check_counts(self, memory_size=memory_size, search_steps=search_steps)
        if not 0 < c1 < c2 < 1:
            refuse_setting(self, "c1, c2", (c1, c2), "0 < c1 < c2 < 1")
        self.memory_size, self.c1, self.c2, self.search_steps = memory_size, c1, c2, search_steps

    def init_moments(self, v: Container) -> dict[str, Any]:
        """Zeros: the last point and gradient, the past steps, changes of the gradient, 1 / ⟨s, y⟩."""
        zeros = ops.zeros_like(tree_ravel(v)[0])
        rows = ops.stack([zeros] * self.memory_size)
        return {
            "position": zeros, "gradient": zeros, "steps": rows, "changes": rows,
            "weights": ops.sum(rows, axis=1),
        }  # fmt: skip

    def step(
        self,
        v: Container,
        grads: Container,
        state: Container,
        *,
        loss: Callable[[Container], Any] | None = None,
        value: Any = None,
    ) -> tuple[Container, Container]:
        """One step; with `loss`, of the length that a line search finds.

        Args:
            v: variables.
            grads: the gradient of the loss.
            state: from `init`, or from the step before.
            loss: the loss as a function of `v`, which the search calls with its gradient.
            value: the loss at `v`, if it is known.

        Returns:
            (new variables, new state).

        Raises:
            StructureError: `v` and `grads` do not match.
            ArgumentError: an argument is not a Container, `state` does not come from `init`, or
                `loss` is not a function.
        """
        if loss is not None and not callable(loss):
            raise ArgumentError(
                f"LBFGS.step: loss: got {type(loss).__name__}, expected the loss as a function of v; "
                "its value at v is value="
            )
        old = floating_part(v, "step", "v")
        gradients = floating_part(grads, "step", "grads")
        check_state(state, ("count", *self.moments))
        x, unravel = tree_ravel(old)
        gradient = tree_ravel(old.map(lambda _, grad: grad, gradients))[0]
        scale = Scale(self.learning_rate, state["count"], old)
        moments = self._remembered(x, gradient, state)
        direction = ops.negative(_inverse_hessian_product(gradient, moments))
        length = ops.ones_like(x[0]) * scale.number
        if loss is not None:
            on_vector = lambda x: loss(with_floating(v, unravel(x)))  # noqa: E731
            start = on_vector(x) if value is None else value
            length = self._search(on_vector, x, start, gradient, direction, length)
        new = unravel(x + direction * length)
        return with_floating(v, new), Container(count=scale.count, **moments)

    def _remembered(self, x: Array, gradient: Array, state: Container) -> dict[str, Array]:
        """The state with the step that led to `x`; the newest row is the last one."""
        step, change = x - state["position"], gradient - state["gradient"]
        curvature = ops.sum(step * change)
        # the first point has no step before; a step without curvature is not remembered
        is_new = ops.logical_and(state["count"] > 0, curvature > 0)
        weight = ops.where(is_new, 1 / _or_one(curvature), ops.zeros_like(curvature))
        rows = {"steps": step, "changes": change, "weights": weight}
        remembered = {
            name: ops.where(
                is_new, ops.concat([state[name][1:], ops.expand_dims(row, 0)]), state[name]
            )
            for name, row in rows.items()
        }
        return {"position": x, "gradient": gradient, **remembered}

    def _search(
        self,
        loss: Callable[[Array], Any],
        x: Array,
        value: Any,
        gradient: Array,
        direction: Array,
        length: Array,
    ) -> Array:
        """An η that satisfies Wolfe's conditions.

        The interval (low, high) contains one: at low the loss is small and falls, at high it is not
        small. high = 0 if there is none yet.
        """
        slope = ops.sum(gradient * direction)
        is_within = lambda s: ops.logical_not(s["is_done"])  # noqa: E731

        def halved(s: dict[str, Array]) -> dict[str, Array]:
            eta, low, high = s["eta"], s["low"], s["high"]
            there, grads = value_and_grad(loss)(x + direction * eta)
            is_small = there <= value + self.c1 * eta * slope
            is_flat = ops.sum(grads * direction) >= self.c2 * slope
            is_done = ops.logical_and(is_small, is_flat)
            low, high = ops.where(is_small, eta, low), ops.where(is_small, high, eta)
            following = ops.where(high > 0, (low + high) / 2, eta * 2)
            return {
                "eta": ops.where(is_done, eta, following), "low": low, "high": high,
                "is_done": is_done,
            }  # fmt: skip

        zero = ops.zeros_like(length)
        start = {"eta": length, "low": zero, "high": zero, "is_done": length < 0}
        end = while_loop(is_within, halved, start, max_steps=self.search_steps)
        return ops.where(end["is_done"], end["eta"], end["low"])


def _inverse_hessian_product(gradient: Array, memory: dict[str, Array]) -> Array:
    """H g by the two loops over the remembered steps, from the newest to the oldest and back."""
    rows = (memory["steps"], memory["changes"], memory["weights"])

    def back(q: Array, row: tuple[Array, Array, Array]) -> tuple[Array, Array]:
        step, change, weight = row
        alpha = weight * ops.sum(step * q)
        return q - change * alpha, alpha

    def forth(r: Array, row: tuple[Any, Array]) -> tuple[Array, Array]:
        (step, change, weight), alpha = row
        beta = weight * ops.sum(change * r)
        return r + step * (alpha - beta), beta

    q, alphas = scan(back, gradient, rows, reverse=True)
    r, _ = scan(forth, q * _first_scale(gradient, memory), (rows, alphas))
    return r


def _first_scale(gradient: Array, memory: dict[str, Array]) -> Array:
    """⟨s, y⟩ / ⟨y, y⟩ of the newest step; before there is one, min(1, 1 / ‖g‖)."""
    step, change = memory["steps"][-1], memory["changes"][-1]
    norm = ops.sqrt(ops.sum(gradient * gradient))
    square = ops.sum(change * change)
    first = ops.minimum(ops.ones_like(norm), 1 / _or_one(norm))
    return ops.where(memory["weights"][-1] > 0, ops.sum(step * change) / _or_one(square), first)


def _or_one(x: Array) -> Array:
    """`x`, or 1 where it is 0."""
    return ops.where(x == 0, ops.ones_like(x), x)
