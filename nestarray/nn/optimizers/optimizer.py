"""The base class of optimizers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nestarray import backends, dtypes, ops, tree
from nestarray.container import Container, FusedContainer
from nestarray.errors import ArgumentError
from nestarray.errors.signatures import signature_errors
from nestarray.nn.optimizers.scale import LearningRate, Scale, dtypes_of, for_leaves
from nestarray.random.arguments import is_number


class Optimizer:
    """Base class: counts steps, and applies `update` to the floating leaves.

    A subclass declares its moments (`moments`) and computes a step (`update`).

    Args:
        learning_rate: a number, a schedule (a function of the number of steps done), or a mapping
            of path patterns (see `Container.select`) to these. A leaf has the rate of the first
            pattern that matches: ``{"head/**": 1e-2, "**": 1e-3}``.

    Example:
        >>> import numpy as np, nestarray as na
        >>> class Signs(na.nn.Optimizer):
        ...     def update(self, v, grads, state, scale):
        ...         return v - scale.rate(v) * na.sign(grads), {}
        >>> v, optimizer = na.Container(w=np.ones(2, "float32")), Signs(0.25)
        >>> optimizer.step(v, v * 7, optimizer.init(v))[0].w
        array([0.75, 0.75], dtype=float32)
    """

    #: Names of the entries of the state: Containers of zeros, or values from `init_moments`.
    moments: tuple[str, ...] = ()

    #: Whether all leaves need the same learning rate.
    has_one_rate = False

    #: λ, and patterns of the leaves that decay.
    weight_decay: float = 0.0
    decay: Any = "**"

    @signature_errors()
    def __init__(self, learning_rate: LearningRate) -> None:
        by_path = isinstance(learning_rate, Mapping)
        rates = (
            list(learning_rate.values()) if isinstance(learning_rate, Mapping) else [learning_rate]
        )
        if not all(map(_is_rate, rates)) or (by_path and (self.has_one_rate or not rates)):
            patterns = "" if self.has_one_rate else ", or a mapping of path patterns to these"
            raise ArgumentError(
                f"{type(self).__name__}: learning_rate: got {learning_rate!r}, expected a number, a "
                f"function of the number of steps done{patterns}"
            )
        self.learning_rate = learning_rate

    def init(self, v: Container) -> Container:
        """The state before the first step: ``count`` and the moments, on the backend of `v`.

        Args:
            v: the variables to train, for example a part, ``v.select("head")``.

        Returns:
            a Container: ``count``, int32 of shape `()`, and for each moment zeros like the
            floating leaves of `v`, or the values that the optimizer documents.

        Raises:
            ArgumentError: `v` is not a Container with a floating leaf.

        Example:
            >>> import numpy as np, nestarray as na
            >>> na.nn.Adam(1e-3).init(na.Container(w=np.ones(2, "float32"))).paths()
            ('count', 'mu/w', 'nu/w')
        """
        floating = floating_part(v, "init", "v")
        like = next(iter(tree.flatten(floating)[0]), None)
        if like is None:
            raise ArgumentError(
                f"{self!r}.init: v has no floating leaf, so there is nothing to train"
            )
        count = ops.zeros((), dtype=dtypes.int32, like=like)
        return Container(count=count, **self.init_moments(floating))

    def init_moments(self, v: Container) -> dict[str, Any]:
        """The moments before the first step by name; zeros unless a subclass defines others.

        Args:
            v: the floating variables.
        """
        return {name: ops.zeros_like(v) for name in self.moments}

    def step(self, v: Container, grads: Container, state: Container) -> tuple[Container, Container]:
        """One optimization step.

        Args:
            v: variables.
            grads: gradients, with the keys of `v`.
            state: from `init`, or from the step before.

        Returns:
            (new variables, new state).

        Raises:
            StructureError: `v`, `grads` and `state` do not match; names the first path.
            ArgumentError: an argument is not a Container, or `state` does not come from `init`.

        Example:
            >>> import numpy as np, nestarray as na
            >>> v, optimizer = na.Container(w=np.ones(2, "float32")), na.nn.SGD(0.5)
            >>> v, state = optimizer.step(v, v, optimizer.init(v))
            >>> v.w, int(state["count"])
            (array([0.5, 0.5], dtype=float32), 1)
        """
        old = floating_part(v, "step", "v")
        gradients = floating_part(grads, "step", "grads")
        check_state(state, ("count", *self.moments))
        scale = Scale(self.learning_rate, state["count"], old)
        new, moments = self.update(old, gradients, state, scale)
        return with_floating(v, new), Container(count=scale.count, **moments)

    def update(
        self, v: Container, grads: Container, state: Container, scale: Scale
    ) -> tuple[Container, dict[str, Any]]:
        """One step: (new variables, new moments by name). Subclasses define it.

        Args:
            v: the floating variables.
            grads: their gradients.
            state: the moments before, by name.
            scale: ``scale.rate(c)`` is the learning rate in the dtypes of `c`.
        """
        raise TypeError(f"{type(self).__name__} defines no update")

    def evaluation_variables(self, v: Container, state: Container) -> Container:
        """The variables to evaluate and to store: averages, if the optimizer has them, else `v`.

        Args:
            v: the variables after a step.
            state: the state after that step.

        Example:
            >>> import numpy as np, nestarray as na
            >>> v, optimizer = na.Container(w=np.ones(2, "float32")), na.nn.ScheduleFreeSGD(0.5)
            >>> v, state = optimizer.step(v, v, optimizer.init(v))
            >>> optimizer.evaluation_variables(v, state).w
            array([0.5, 0.5], dtype=float32)
        """
        return v

    def with_decay(self, direction: Container, v: Container) -> Container:
        """direction + λ v, at the leaves that decay."""
        if not self.weight_decay:
            return direction
        hits = v.mask(self.decay)
        if all(hits.leaves()):
            return direction + v * self.weight_decay
        return direction + v * for_leaves(
            hits.map(lambda hit: self.weight_decay if hit else 0.0), v
        )

    def __repr__(self) -> str:
        settings = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({settings})"


def average(mean: Any, x: Any, decay: float) -> Any:
    """The next exponential moving average, decay · mean + (1 − decay) · x."""
    return ops.lerp(mean, x, 1 - decay)


def floating_part(c: Any, method: str, name: str) -> Container:
    """The floating leaves of an argument.

    Raises:
        ArgumentError: it is not a Container.
    """
    if not isinstance(c, Container):
        raise ArgumentError(
            f"optimizer.{method}: {name}: got {type(c).__name__}, expected a Container; "
            "convert it with na.Container(tree)"
        )
    are_arrays = all(map(backends.backend_of_type, set(map(type, tree.flatten(c)[0]))))
    if are_arrays and all(dtype.is_floating for dtype in dtypes_of(c)):
        return c
    return c.select(lambda path, leaf: _is_floating(leaf))


def with_floating(v: Container, floating: Container) -> Container:
    """`v` with other floating leaves; fused if `v` is."""
    new = floating if floating.spec is v.spec else v.update(floating)
    is_unfused = isinstance(v, FusedContainer) and not isinstance(new, FusedContainer)
    return new.fuse() if is_unfused else new


def check_state(state: Any, names: tuple[str, ...]) -> None:
    """Check that a state has these entries.

    Raises:
        ArgumentError: it has others.
    """
    entries = state.spec.index if isinstance(state, Container) else ()
    if any(name not in entries for name in names):
        shown = (
            f"a Container of {', '.join(map(str, entries))}" if entries else type(state).__name__
        )
        raise ArgumentError(
            f"optimizer.step: state: got {shown}, expected a Container of {', '.join(names)}, as "
            "optimizer.init(v) makes it; the call is step(v, grads, state)"
        )


def _is_rate(rate: Any) -> bool:
    return callable(rate) or is_number(rate) or backends.is_array(rate)


def _is_floating(leaf: Any) -> bool:
    return backends.is_array(leaf) and dtypes.dtype_of(leaf).is_floating
