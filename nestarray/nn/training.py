"""`train_step`: loss, gradients and optimizer as one compiled function of a training state.

The training state is one Container: variables, model state, state of the optimizer, key and number of
steps. It can be stored, moved to another framework and continued there. The loop stays in the user's
program.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nestarray import backends, dtypes, ops, random, tree
from nestarray.container import Container
from nestarray.container.leaf import describe
from nestarray.errors import ArgumentError, ShapeError, StructureError
from nestarray.errors.signatures import signature_errors
from nestarray.nn.loss_scaling import DynamicLossScale
from nestarray.nn.optimizers import Optimizer
from nestarray.transforms import execute_with_gradients, jit, scan
from nestarray.transforms.arguments import is_inexact
from nestarray.transforms.loop_arguments import check_count
from nestarray.typing import Array, Nest


@signature_errors(callables=("loss_fn",))
def train_step(
    loss_fn: Callable[..., Any],
    optimizer: Optimizer,
    *,
    has_aux: bool = False,
    accumulate: int = 1,
    compute: Any = None,
    keep: str | Sequence[str] = (),
    loss_scale: DynamicLossScale | None = None,
    compile: bool = True,
    donate: bool = True,
    **options: Any,
) -> TrainStep:
    """A compiled function ``state, metrics = step(state, batch)`` of a loss and an optimizer.

    Args:
        loss_fn: ``loss_fn(v, batch)``, which returns a floating scalar, shape `()`. It may have further
            parameters: ``key``, a new key for each step; and ``s``, the state of the model, whose
            new value it then returns: ``(loss, s)``.
        optimizer: an `Optimizer`, or any object with its `init` and `step`.
        has_aux: `loss_fn` returns one more value at the end, a mapping of metrics:
            ``(loss, aux)``, or ``(loss, s, aux)``.
        accumulate: the number of equal parts of a batch whose gradients are averaged. Only one part
            needs memory for intermediate values. The model state goes from part to part, and each
            part has another key.
        compute: ``"bfloat16"`` or ``"float16"``: products compute in this dtype, softmax, losses and
            normalizations in float32, as with `Graph.cast`; the variables stay in float32.
        keep: patterns of the paths of modules that compute in float32, such as ``"**/norm*"``.
        loss_scale: for float16: the loss is scaled, and its gradients are divided again. Steps with
            gradients that are not finite change nothing but the scale and the number of steps.
        compile: compile the step by `na.jit`, on frameworks that compile.
        donate: let results reuse the memory of the state, which must not be used after the call.
        **options: options of the backend's compiler; see `na.jit`.

    Returns:
        a `TrainStep`; its `init` makes the state before the first step.

    Raises:
        ArgumentError: a setting is not as described; when called, if `loss_fn` returns something else.
        ShapeError: when called, if `accumulate` does not divide the size of the batch.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.Linear(2, 1).init(na.random.key(0))
        >>> def loss_fn(v, batch):
        ...     return na.mse_loss(net(batch.x, v=v), batch.y)
        >>> step = na.train_step(loss_fn, na.nn.Adam(0.1))
        >>> state = step.init(net.v)
        >>> data = na.Container(x=np.eye(2, dtype="float32"), y=np.ones((2, 1), "float32"))
        >>> for epoch in range(100):
        ...     for batch in data.batches(2):
        ...         state, metrics = step(state, batch)
        >>> bool(metrics.loss < 1e-3), int(state["step"])
        (True, 100)
    """
    check_count("train_step", "accumulate", accumulate, least=1)
    if not (
        callable(getattr(optimizer, "init", None)) and callable(getattr(optimizer, "step", None))
    ):
        raise ArgumentError(
            f"train_step: optimizer: got {describe(optimizer)}, expected an object with init and step, "
            "such as na.nn.Adam(1e-3)"
        )
    if compute is None and keep:
        raise ArgumentError(f"train_step: keep: got {keep!r} without compute, expected compute=...")
    return TrainStep(
        loss_fn, optimizer, has_aux, accumulate, compute, keep, loss_scale, compile, donate, options
    )


class TrainStep:
    """The result of `train_step`: a function of the training state and a batch."""

    def __init__(
        self,
        loss_fn: Callable[..., Any],
        optimizer: Optimizer,
        has_aux: bool,
        accumulate: int,
        compute: Any,
        keep: str | Sequence[str],
        loss_scale: DynamicLossScale | None,
        compile: bool,
        donate: bool,
        options: dict[str, Any],
    ) -> None:
        self.loss_fn, self.optimizer, self.has_aux = loss_fn, optimizer, has_aux
        self.accumulate, self.compute, self.keep = accumulate, compute, keep
        self.loss_scale = loss_scale
        parameters = inspect.signature(loss_fn).parameters
        self.has_state, self.has_key = "s" in parameters, "key" in parameters
        self._parts_of_state = ["v", "s", "optimizer", "step"]
        self._parts_of_state += ["key"] * self.has_key + ["scale"] * (loss_scale is not None)
        self._graphs: dict[Any, Callable[..., Any]] = {}
        self._compiled = (
            jit(self._step, donate_argnums=0 if donate else (), **options) if compile else None
        )

    def __repr__(self) -> str:
        name = getattr(self.loss_fn, "__qualname__", self.loss_fn)
        return f"TrainStep({name}, {self.optimizer!r})"

    def init(self, v: Container, s: Container | None = None, key: Array | None = None) -> Container:
        """The state before the first step; it shares no memory with the arguments.

        Args:
            v: the variables to train.
            s: the state of the model; required if the loss has a parameter `s`.
            key: the key of all steps; required if the loss has a parameter `key`. The step number n
                uses ``na.random.fold_in(key, n)``.

        Returns:
            a Container: ``v``, ``s``, ``optimizer``, ``step`` (int32, `()`), and where they are in use
            ``key`` and ``scale``.

        Raises:
            ArgumentError: `s` or `key` is missing.
        """
        for name, value, needs in (("s", s, self.has_state), ("key", key, self.has_key)):
            if needs and value is None:
                raise ArgumentError(
                    f"TrainStep.init: {name}: got None, but the loss has a parameter {name!r}; the call "
                    "is step.init(net.v, net.s, key)"
                )
        optimizer = self.optimizer.init(v)
        parts = {"v": v, "s": Container() if s is None else s, "optimizer": optimizer}
        parts["step"] = ops.zeros((), dtype=dtypes.int32, like=tree.leaves(v)[0])
        if key is not None:
            parts["key"] = key
        if self.loss_scale is not None:
            parts["scale"] = self.loss_scale.init(v)
        return Container(**tree.map(_copy, parts))

    def __call__(self, state: Container, batch: Nest) -> tuple[Container, Container]:
        """One step.

        Args:
            state: from `init`, or from the step before.
            batch: any nest of arrays, as `loss_fn` takes it.

        Returns:
            ``(state, metrics)``: the new state, and a Container of the loss and the aux of `loss_fn`.
            Under `accumulate` the loss is the mean over the parts, and every array of aux has a first
            axis of parts.
        """
        entries = state.spec.index if isinstance(state, Container) else ()
        missing = [name for name in self._parts_of_state if name not in entries]
        if missing:
            raise ArgumentError(
                f"TrainStep: state: has no {', '.join(missing)}; expected the Container that "
                "step.init(net.v) makes, or that a step returned; the call is step(state, batch)"
            )
        return (self._compiled or self._step)(state, batch)

    def _step(self, state: Container, batch: Nest) -> tuple[Container, Container]:
        v, s = state["v"], state["s"]
        scale = state.get("scale")
        key = random.fold_in(state["key"], state["step"]) if "key" in state else None
        if self.accumulate == 1:
            loss, s, aux, grads = self._gradients(v, s, batch, key, scale)
        else:
            loss, s, aux, grads = self._accumulated(v, s, batch, key, scale)
        new: dict[Any, Any] = {"step": state["step"] + 1, "s": s}
        if self.loss_scale is None or scale is None:
            new["v"], new["optimizer"] = self.optimizer.step(v, grads, state["optimizer"])
        else:
            grads, is_finite = self.loss_scale.unscale(grads, scale)
            new["v"], new["optimizer"] = self.loss_scale.apply(
                self.optimizer, v, grads, state["optimizer"], is_finite
            )
            new["s"] = tree.map(lambda x, old: ops.where(is_finite, x, old), s, state["s"])
            new["scale"] = self.loss_scale.update(scale, is_finite)
        return Container({name: new.get(name, part) for name, part in state.items()}), Container(
            loss=loss, **aux
        )

    def _gradients(
        self, v: Container, s: Container, batch: Nest, key: Array | None, scale: Container | None
    ) -> tuple[Any, ...]:
        """Loss, new model state, aux, and gradients of the scaled loss."""
        function = self._function(v, batch, s, key)

        def scaled(v: Container) -> tuple[Array, Any]:
            loss, new, aux = self._parts(function(v, batch, s, key), s)
            if self.loss_scale is None or scale is None:
                return loss, (loss, new, aux)
            return self.loss_scale.scale(loss, scale), (loss, new, aux)

        (_, (loss, new, aux)), grads = execute_with_gradients(scaled, v, has_aux=True)
        return loss, new, aux, grads

    def _accumulated(
        self, v: Container, s: Container, batch: Nest, key: Array | None, scale: Container | None
    ) -> tuple[Any, ...]:
        """The same, of the parts of a batch in turn."""
        count = self.accumulate
        keys = None if key is None else random.split(key, count)

        def part(carry: Any, xs: Any) -> tuple[Any, Any]:
            loss, s, aux, grads = self._gradients(v, carry[0], xs[0], xs[1], scale)
            return (s, carry[1] + grads), (loss, aux)

        carry, (losses, aux) = scan(part, (s, ops.zeros_like(v)), (_split(batch, count), keys))
        grads = tree.map(lambda g: g * (1.0 / count) if is_inexact(g) else g, carry[1])
        return ops.mean(losses), carry[0], aux, grads

    def _call(self, v: Container, batch: Nest, s: Container, key: Array | None) -> Any:
        named: dict[str, Any] = {"s": s} if self.has_state else {}
        if self.has_key:
            named["key"] = key
        return self.loss_fn(v, batch, **named)

    def _function(self, *arguments: Any) -> Callable[..., Any]:
        """The loss as a function of (v, batch, s, key), in mixed precision if it is asked for."""
        if self.compute is None:
            return self._call
        leaves, structure = tree.flatten(arguments)
        arrays = [x for x in leaves if backends.is_array(x)]
        core = backends.core(backends.backend_of(arrays[0]))
        is_traced = any(map(core.is_traced, arrays))
        kinds = tuple([(tuple(x.shape), dtypes.dtype_of(x)) for x in arrays])
        function = None if is_traced else self._graphs.get((structure.key, kinds))
        if function is None:
            tracing = importlib.import_module("nestarray.importers.tracing")
            function = tracing.trace_graph(self._call, *arguments).cast(
                compute=self.compute, keep=self.keep
            )
            if not is_traced:  # the constants of a graph may belong to a trace
                self._graphs[structure.key, kinds] = function
        return function

    def _parts(self, result: Any, s: Container) -> tuple[Array, Container, Mapping[str, Any]]:
        """Loss, new model state and aux from the result of the loss function."""
        names = ("loss", *(["s"] if self.has_state else []), *(["aux"] if self.has_aux else []))
        values = result if isinstance(result, tuple) else (result,)
        if len(values) != len(names):
            raise ArgumentError(
                f"train_step: loss_fn returned {describe(result)}, expected {', '.join(names)}"
            )
        parts = dict(zip(names, values, strict=True))
        new, aux = parts.get("s", s), parts.get("aux", {})
        if not isinstance(new, Container) or new.spec != s.spec:
            raise StructureError(
                f"train_step: loss_fn returned the model state {describe(new)}, expected one with the "
                f"structure of s: {describe(s)}"
            )
        if not isinstance(aux, Mapping) or "loss" in aux:
            raise ArgumentError(
                f"train_step: loss_fn returned the aux {describe(aux)}, expected a mapping of metrics "
                "with other names than 'loss'"
            )
        return parts["loss"], new, aux


def _split(batch: Nest, count: int) -> Nest:
    """The batch with a first axis of `count` parts."""
    leaves, structure = tree.flatten(batch, unfused=True)
    sizes = {tuple(x.shape[:1]) for x in leaves if backends.is_array(x)}
    size = next(iter(sizes))[0] if len(sizes) == 1 and () not in sizes else None
    if size is None or size % count:
        shown = ", ".join(str(axis[0]) if axis else "none" for axis in sorted(sizes))
        raise ShapeError(
            f"train_step: accumulate: got {count} for first axes of {shown}, expected a divisor of one "
            "size"
        )
    parts = [
        ops.reshape(x, (count, size // count, *x.shape[1:])) if backends.is_array(x) else x
        for x in leaves
    ]
    return tree.unflatten(structure, parts)


def _copy(x: Any) -> Any:
    return ops.asarray(x, copy=True) if backends.is_array(x) else x
