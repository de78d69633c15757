"""PyTorch: `nestarray.transforms`.

Two mechanisms differentiate. Eager code uses ``torch.autograd.grad``: for ten layers of 64 it
takes half the time of ``torch.func.grad_and_value``, which passes every operation through
functorch's interpreter. Inside of ``torch.compile`` and ``torch.func.vmap``, which do not support
it, ``torch.func`` replaces it. Both nest: inside another gradient, or if the arguments require
gradients, autograd also records the backward pass.

`jit` traces the function with ``make_fx`` on fake tensors, including backward passes, and compiles
the graph with ``torch.compile``. This supports arbitrary Python without graph breaks, because the
function runs.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar, copy_context
from typing import Any

import torch
import torch.autograd.forward_ad as fwAD
import torch.utils.checkpoint
from torch._C import _functorch
from torch._guards import TracingContext, tracing
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import is_in_torch_dispatch_mode

from nestarray import tree
from nestarray.backends.torch.core import native_dtype
from nestarray.backends.torch.derivatives import differentiated, order, order_set
from nestarray.backends.torch.donation import writing_over
from nestarray.backends.torch.host_calls import host_call as host_call
from nestarray.backends.torch.subgraphs import lift_constants
from nestarray.dynamo import identity
from nestarray.errors import UnsupportedError

#: A list while a function is traced. Code that cannot be differentiated after compilation (nested
#: gradients, loops of unknown length) appends its name.
not_differentiable: ContextVar[list[str] | None] = ContextVar("nestarray_torch_trace", default=None)


def value_and_grad(
    fn: Callable[..., Any], leaves: list[Any], has_aux: bool, name: str
) -> tuple[Any, Any, list[Any]]:
    """https://docs.pytorch.org/docs/stable/generated/torch.autograd.grad.html"""
    if _is_functional():
        with _checkpoints_explained(name), differentiated():
            return _functional(fn, leaves, has_aux)
    connected, values = _connected(leaves, name)
    with torch.enable_grad(), differentiated(), _saving_plainly():
        value, aux = fn(*values)
        gradients = _pulled((value,), values, None, again=connected, keep=connected)
    if not connected:
        value, aux = value.detach(), tree.map(_detached, aux)
    return value, aux, gradients


def _connected(leaves: list[Any], name: str) -> tuple[bool, list[Any]]:
    """Whether outer derivatives depend on this one, and the values to differentiate at."""
    connected = torch.is_grad_enabled() and (
        order() > 0 or any(leaf.requires_grad for leaf in leaves)
    )
    trace = not_differentiable.get()
    if connected and trace is not None:
        trace.append(name)
    if not connected:
        return False, list(map(_leaf, leaves))
    with torch.enable_grad():
        # A view is a new node of the outer graph: tied arrays get one gradient each.
        return True, [leaf.view_as(leaf) if leaf.requires_grad else _leaf(leaf) for leaf in leaves]


def _leaf(x: Any) -> Any:
    """A tensor to differentiate at; autograd takes copies of tensors made in inference mode."""
    return (x.clone() if x.is_inference() else x.detach()).requires_grad_()


def _pulled(
    found: Sequence[Any],
    values: list[Any],
    cotangents: Sequence[Any] | None,
    *,
    again: bool,
    keep: bool,
) -> list[Any]:
    """The gradients of `values`; zeros if no output depends on a value."""
    places = [i for i, y in enumerate(found) if y.requires_grad]
    if not places or not values:
        return [torch.zeros_like(x) for x in values]
    gradients = torch.autograd.grad(
        [found[i] for i in places],
        values,
        None if cotangents is None else [cotangents[i] for i in places],
        retain_graph=keep,
        create_graph=again,
        allow_unused=True,
        materialize_grads=True,
    )
    return list(gradients)


def _detached(leaf: Any) -> Any:
    return leaf.detach() if isinstance(leaf, torch.Tensor) else leaf


def _all_detached(arrays: Sequence[Any]) -> list[Any]:
    return [x.detach() for x in arrays]


def _is_functional() -> bool:
    """Whether torch.func takes a derivative: autograd records no calls in inference mode."""
    return torch.compiler.is_compiling() or _in_functorch() or torch.is_inference_mode_enabled()


def _in_functorch() -> bool:
    """Whether a transformation of torch.func (vmap, grad, jvp, …) is active."""
    return torch._C._are_functorch_transforms_active()


def _functional(
    fn: Callable[..., Any], leaves: list[Any], has_aux: bool
) -> tuple[Any, Any, list[Any]]:
    """https://docs.pytorch.org/docs/stable/generated/torch.func.grad_and_value.html"""
    numbers = tuple(range(len(leaves)))
    if not leaves:
        return *fn(), []
    if not has_aux:
        differentiate = torch.func.grad_and_value(lambda *values: fn(*values)[0], argnums=numbers)
        gradients, value = differentiate(*leaves)
        return value, None, list(gradients)
    kept: list[Any] = []  # torch.func supports tensors only

    def with_tensors(*values: Any) -> tuple[Any, tuple[Any, ...]]:
        value, aux = fn(*values)
        found, structure = tree.flatten(aux)
        kept.extend((found, structure))
        return value, tuple([leaf for leaf in found if isinstance(leaf, torch.Tensor)])

    differentiate = torch.func.grad_and_value(with_tensors, argnums=numbers, has_aux=True)
    gradients, (value, tensors) = differentiate(*leaves)
    rest = iter(tensors)
    found, structure = kept
    aux = [next(rest) if isinstance(leaf, torch.Tensor) else leaf for leaf in found]
    return value, tree.unflatten(structure, aux), list(gradients)


def vjp(fn: Callable[..., Any], arrays: list[Any], name: str) -> tuple[Any, Any, Any]:
    """https://docs.pytorch.org/docs/stable/generated/torch.autograd.grad.html"""
    if not arrays:
        return *fn(), lambda cotangents: []
    orders = _ORDERS.get(name, 1)
    if _is_functional():
        with _checkpoints_explained(name), differentiated(orders):
            found, pull, others = torch.func.vjp(fn, *arrays, has_aux=True)
        return found, others, lambda cotangents: list(pull(tuple(cotangents)))
    connected, values = _connected(arrays, name)
    with torch.enable_grad(), differentiated(orders), _saving_plainly():
        found, others = fn(*values)

    def pullback(cotangents: list[Any]) -> list[Any]:
        again = torch.is_grad_enabled() and (connected or any(x.requires_grad for x in cotangents))
        return _pulled(found, values, cotangents, again=again, keep=True)

    if connected:
        return found, others, pullback
    return tuple(map(_detached, found)), tuple(map(_detached, others)), pullback


#: Transformation → the orders of the derivatives that it takes; the others take one.
_ORDERS = {
    "jvp": 2,  # the pullback is differentiated
    "jacfwd": 2,
    "jacrev": 2,  # the pullback is mapped, which a compiled one does not support
}


def jvp(
    fn: Callable[..., Any], arrays: list[Any], tangents: list[Any], name: str
) -> tuple[Any, Any, Any]:
    """J t as the derivative of the linear map u ↦ Jᴴ u, at u = 1.

    Forward mode of PyTorch has wrong second derivatives and lacks some formulas:
    https://github.com/pytorch/pytorch/issues/196699

    https://j-towns.github.io/2017/06/12/A-new-trick.html
    """
    found, others, pull = vjp(fn, arrays, name)
    ones = [torch.ones_like(y) for y in found]  # at 0, formulas with log(u) lose the derivative
    transposed = vjp(lambda *cotangents: (tuple(pull(list(cotangents))), ()), ones, name)[2]
    return found, others, transposed(tangents)


class _Rule:
    """The parts of a function with custom derivatives; see `custom_vjp`.

    Not a tuple, because vmap would flatten it and search for tensors.
    """

    def __init__(
        self,
        with_residuals: Callable[..., Any],
        pull: Callable[..., Any],
        push: Callable[..., Any] | None,
    ) -> None:
        self.with_residuals, self.pull, self.push = with_residuals, pull, push
        self.residuals: list[Any] = []


class _Custom(torch.autograd.Function):
    """https://docs.pytorch.org/docs/stable/notes/extending.html"""

    generate_vmap_rule = True

    @staticmethod
    def forward(rule: _Rule, *inputs: Any) -> Any:
        found, rule.residuals[:] = rule.with_residuals(*inputs)
        given = set(map(identity, inputs))  # inputs cannot be saved and returned unchanged
        return tuple([y.view_as(y) if identity(y) in given else y for y in found])

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.rule, *arrays = inputs
        ctx.save_for_backward(*arrays)
        ctx.save_for_forward(*arrays)
        ctx.mark_non_differentiable(*(y for y in output if not is_inexact(y)))

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        rule, again = ctx.rule, torch.is_grad_enabled()
        residuals = rule.with_residuals(*ctx.saved_tensors)[1] if again else rule.residuals
        return (None, *rule.pull(residuals, cotangents))

    @staticmethod
    def jvp(ctx: Any, _: Any, *tangents: Any) -> Any:
        if ctx.rule.push is None:
            raise UnsupportedError(
                "jvp: a function with custom_vjp has no derivative in forward mode on PyTorch; give "
                "it one with custom_jvp, which serves both"
            )
        with fwAD._set_fwd_grad_enabled(
            True
        ):  # rules disable it, and thereby the outer derivatives
            inputs = [_primal(x) for x in ctx.saved_tensors]
            given = [torch.zeros_like(x) if t is None else t for x, t in zip(inputs, tangents)]
            values, moved = ctx.rule.push(inputs, given)
        return (*moved, *(None for _ in values[len(moved) :]))


def _primal(x: Any) -> Any:
    """`x` without its tangent; under vmap the tangent of the underlying tensor is removed."""
    if not _functorch.is_batchedtensor(x):
        return fwAD.unpack_dual(x).primal
    inner = _primal(_functorch.get_unwrapped(x))
    return _functorch._add_batch_dim(
        inner, _functorch.maybe_get_bdim(x), _functorch.maybe_get_level(x)
    )


def custom_vjp(
    value: Callable[..., Any],
    with_residuals: Callable[..., Any],
    pull: Callable[..., Any],
    arrays: list[Any],
    push: Callable[..., Any] | None,
) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.autograd.Function.html

    Residuals from the forward pass have no graph, so a differentiated backward pass computes them
    again from the arguments.
    """
    if not arrays:
        return value()
    return _Custom.apply(_Rule(with_residuals, pull, push), *arrays)


def is_inexact(x: Any) -> bool:
    return x.is_floating_point() or x.is_complex()


_aten = torch.ops.aten
_PRODUCTS = [_aten.mm.default, _aten.addmm.default, _aten.mv.default, _aten.dot.default]
#: Policy → operations whose results a checkpoint stores.
_KEPT = {
    "dots_with_no_batch_dims_saveable": _PRODUCTS,
    "dots_saveable": [*_PRODUCTS, _aten.bmm.default, _aten.baddbmm.default],
}


def without_gradient(x: Any) -> Any:
    """Gradients that are None end here."""
    return x


def checkpoint(fn: Callable[..., Any], arrays: list[Any], policy: Any) -> Any:
    """https://docs.pytorch.org/docs/stable/checkpoint.html

    torch.func has no checkpoints; inside of it, and without derivatives, the function runs without
    one.
    """
    if _in_functorch() or torch.compiler.is_compiling():
        return fn(*arrays)
    if not order() and not any(x.requires_grad for x in arrays):
        return fn(*arrays)

    context = copy_context()  # the second run may be outside: order and masks decide operations
    context.run(_in_checkpoint.set, True)

    def inside(*values: Any) -> Any:
        return context.copy().run(fn, *values)

    checkpointed = torch.utils.checkpoint.checkpoint
    if policy == "nothing_saveable":
        return checkpointed(inside, *arrays, use_reentrant=False)
    contexts = torch.utils.checkpoint.create_selective_checkpoint_contexts
    kept = policy if callable(policy) else _KEPT[policy]
    return checkpointed(inside, *arrays, use_reentrant=False, context_fn=lambda: contexts(kept))


#: Whether the running code is in a checkpoint, which hooks saved tensors.
_in_checkpoint: ContextVar[bool] = ContextVar("nestarray_torch_checkpoint", default=False)


def _saving_plainly() -> AbstractContextManager[Any]:
    """Disable the checkpoint's hooks for derivatives and traces inside of it.

    The checkpoint counts saved tensors and expects only the tensors of its function.
    """
    if not _in_checkpoint.get():
        return nullcontext()
    return torch.autograd.graph.saved_tensors_hooks(_itself, _itself)


def _itself(x: Any) -> Any:
    return x


@contextmanager
def _checkpoints_explained(name: str) -> Iterator[None]:
    """Reword torch.func's error about an enclosing checkpoint to name the function."""
    try:
        yield
    except RuntimeError as error:
        if "saved tensor hooks" not in str(error):
            raise
        raise UnsupportedError(
            f"{name}: PyTorch has no {name} inside of na.vmap or na.jvp inside of na.checkpoint that "
            "is differentiated; checkpoint the function that the derivative is taken of"
        ) from error


def vmap(fn: Callable[..., tuple[Any, ...]], arrays: list[Any]) -> tuple[Any, ...]:
    """https://docs.pytorch.org/docs/stable/generated/torch.func.vmap.html"""
    return torch.func.vmap(fn)(*arrays)


def vmap_with_common(
    fn: Callable[..., tuple[Any, Any]], arrays: list[Any]
) -> tuple[Any, Any, list[int]]:
    """Return batched outputs, unbatched outputs, and the indices that should have been batched.

    Unbatched outputs bypass torch.func, which confuses tensors of an outer vmap with its own.
    """
    kept: list[Any] = [(), []]

    def rows_of(*rows: Any) -> tuple[Any, ...]:
        stacked, common = fn(*rows)
        level = _functorch.maybe_current_level()
        differing = [i for i, x in enumerate(common) if _functorch.maybe_get_level(x) == level]
        kept[:] = [common, differing]
        return stacked

    return torch.func.vmap(rows_of)(*arrays), *kept


def runs_inline(arrays: list[Any]) -> bool:
    """Whether a jitted function runs uncompiled.

    Inside another trace it becomes a part of it; torch.func transforms its operations one by one;
    a compiled function has no second derivative:
    https://github.com/pytorch/pytorch/issues/91469
    """
    return (
        torch.compiler.is_compiling()
        or _in_functorch()
        or is_in_torch_dispatch_mode()
        or order() > 1
    )


def trace_guard(arrays: list[Any]) -> Callable[[list[Any]], bool]:
    """A test whether a trace made with `arrays` is valid for other arrays.

    It compares types, shapes, strides, dtypes, devices and requires_grad in C++, as torch.compile
    does; in Python this would take a third of the time of a compiled function of a hundred small
    tensors.
    https://github.com/pytorch/pytorch/blob/main/torch/csrc/dynamo/guards.cpp
    """
    from torch._C._dynamo.guards import TensorGuards

    # without its keywords it reads invalid memory
    guards = TensorGuards(*arrays, dynamic_dims_sizes=None, dynamic_dims_strides=None)
    like, grad = guards.check, torch.is_grad_enabled()
    return lambda others: torch.is_grad_enabled() == grad and like(*others)


def compile_leaves(
    fn: Callable[..., tuple[Any, ...]],
    arrays: list[Any],
    options: dict[str, Any],
    donated: Sequence[int],
) -> Callable[..., tuple[Any, ...]]:
    """https://github.com/pytorch/pytorch/blob/main/torch/_inductor/__init__.py

    The graph goes directly to Inductor: Dynamo would trace it again and add guards that
    `trace_guard` already checks. With `options` it goes to ``torch.compile``, which interprets
    them.

    A trace of a backward pass has detached values instead of the tensors that autograd saved, so
    it must not be differentiated. Hence a function that computes gradients runs uncompiled if its
    arguments require gradients.
    """
    from torch.fx.experimental.proxy_tensor import make_fx

    not_again, stops = [], []
    token = not_differentiable.set(not_again)
    try:
        # its arguments carry the outer gradients
        with _plain_modes(), order_set(0), _saving_plainly(), _NotedStops(stops):
            arrays = _leaves(arrays)
            graph = make_fx(fn, tracing_mode="fake", _allow_non_fake_inputs=True)(*arrays)
    finally:
        not_differentiable.reset(token)
    _detach(graph, stops)
    graph.graph.eliminate_dead_code()  # checks of forward mode, which compilers do not support
    lift_constants(graph)
    is_differentiated = torch.is_grad_enabled() and any(x.requires_grad for x in arrays)
    if not_again and is_differentiated:
        return fn
    if is_differentiated and any(
        n.target is torch.ops.higher_order.scan for n in graph.graph.nodes
    ):
        return _Differentiable(fn, _compiled(graph, _all_detached(arrays), options), options)
    plain = _compiled(graph, arrays, options)
    if not donated or is_differentiated:
        return plain
    return writing_over(graph, arrays, donated, plain, lambda g: _compiled(g, arrays, options))


@contextmanager
def _plain_modes() -> Iterator[None]:
    """Leave the modes that a trace cannot be in; anomaly detection reads values."""
    with torch.inference_mode(False), torch.autograd.set_detect_anomaly(False):
        yield


class _Differentiable:
    """A compiled function with a compiled pullback, which computes the function again.

    The operator of loops has a derivative for some carries alone.
    """

    def __init__(
        self, fn: Callable[..., Any], forward: Callable[..., Any], options: dict[str, Any]
    ) -> None:
        self._fn, self.forward, self._options = fn, forward, options
        #: compiled pullbacks by the inputs and outputs that have gradients
        self._pullbacks: dict[Any, Callable[..., Any]] = {}

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        return _Pulled.apply(self, *arrays)

    def pull(self, arrays: Sequence[Any], inputs: Sequence[int], cotangents: Any) -> list[Any]:
        outputs = [i for i, x in enumerate(cotangents) if x is not None]
        values = _all_detached([*arrays, *(cotangents[i] for i in outputs)])

        def pulled(*values: Any) -> tuple[Any, ...]:
            def function(*changed: Any) -> tuple[Any, ...]:
                filled = list(values[: len(arrays)])
                for i, x in zip(inputs, changed, strict=True):
                    filled[i] = x
                results = self._fn(*filled)
                return tuple([results[i] for i in outputs]), ()

            pull = vjp(function, [values[i] for i in inputs], "jit")[2]
            return tuple(pull(list(values[len(arrays) :])))

        key = (*inputs, None, *outputs)
        if key not in self._pullbacks:
            with torch.no_grad():
                self._pullbacks[key] = compile_leaves(pulled, values, self._options, ())
        return list(self._pullbacks[key](*values))


class _Pulled(torch.autograd.Function):
    """https://docs.pytorch.org/docs/stable/notes/extending.html"""

    @staticmethod
    def forward(ctx: Any, function: _Differentiable, *arrays: Any) -> Any:
        ctx.function = function
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*arrays)
        results = tuple(function.forward(*arrays))
        ctx.mark_non_differentiable(*(y for y in results if not is_inexact(y)))
        return results

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *cotangents: Any) -> Any:
        inputs = [i for i, needed in enumerate(ctx.needs_input_grad[1:]) if needed]
        gradients = ctx.function.pull(ctx.saved_tensors, inputs, cotangents)
        result: list[Any] = [None] * len(ctx.needs_input_grad)
        for i, gradient in zip(inputs, gradients, strict=True):
            result[i + 1] = gradient
        return tuple(result)


class _NotedStops(TorchFunctionMode):
    """Notes the recorded calls at which gradients stop.

    Since PyTorch 2.14 a trace records a detach as ``aten.alias``, as it does ``x[...]``.
    """

    def __init__(self, stops: list[str]) -> None:
        super().__init__()
        self.stops = stops

    def __torch_function__(
        self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        if function not in (torch.detach, torch.Tensor.detach):
            return function(*args, **(kwargs or {}))
        before, value = _last_node(), function(*args, **(kwargs or {}))
        node = _last_node()
        if node is not before:
            self.stops.append(node.name)
        return value


def _last_node() -> Any:
    """The last call that the running trace recorded."""
    from torch.fx.experimental.proxy_tensor import get_proxy_mode

    mode = get_proxy_mode()
    return None if mode is None else next(iter(reversed(mode.tracer.graph.nodes)), None)


def _detach(graph: Any, stops: Sequence[str]) -> None:
    for node in graph.graph.nodes:
        if node.name in stops and node.target is torch.ops.aten.alias.default:
            node.target = torch.ops.aten.detach.default


def _leaves(arrays: list[Any]) -> list[Any]:
    """Different leaf tensors like these; for other tensors, tracing reads ``grad``, which warns.

    A trace identifies its arguments by the tensors, so that one tensor for two arguments would make
    them equal in later calls too.
    """
    leaves = [x if x.is_leaf else x.detach().requires_grad_() for x in arrays]
    seen: set[int] = set()
    for i, x in enumerate(leaves):
        if id(x) in seen:
            leaves[i] = x.detach().clone().requires_grad_(x.requires_grad)
        seen.add(id(x))
    return [x.clone() if x.is_inference() else x for x in leaves]


def _compiled(graph: Any, arrays: list[Any], options: dict[str, Any]) -> Callable[..., Any]:
    if options:
        return torch.compile(graph, **{"fullgraph": True, "dynamic": False} | options)
    from torch import _inductor  # half a second to import
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    # compilation of a loop reads the symbols of a torch.compile context
    fake = FakeTensorMode(
        shape_env=ShapeEnv(assume_static_by_default=True), allow_non_fake_inputs=True
    )
    # of real tensors Inductor would make the sizes variable
    examples = [fake.from_tensor(x, static_shapes=True) for x in arrays]
    with warnings.catch_warnings(), tracing(TracingContext(fake)):
        warnings.simplefilter("ignore", DeprecationWarning)  # imports use deprecated functions
        try:
            return _inductor.compile(graph, examples)
        except AssertionError as error:
            if not any("while_loop_stack_output" in str(n.target) for n in graph.graph.nodes):
                raise
            raise UnsupportedError(
                "jit: while_loop: PyTorch cannot compile this gradient of a loop whose length "
                "depends on values; take na.fori_loop with known bounds, or do not compile"
            ) from error


def call_without_numbers(fn: Callable[..., Any], arrays: Sequence[tuple[Any, Any]]) -> None:
    """https://docs.pytorch.org/docs/stable/user_guide/torch_compiler/torch.compiler_fake_tensor.html"""
    with FakeTensorMode(), torch.no_grad():
        fn(*[torch.empty(shape, dtype=native_dtype(d)) for shape, d in arrays])
