"""PyTorch: `nestarray.backends.control_flow`.

Loops run in Python; in compiled code they are the operator ``scan``, whose derivative is a second
one (`_Loop`), so that compilation takes as long for any number of steps. Files of ``torch.export``
have loops of a known length unrolled. A branch on a traced value becomes ``torch.cond`` or
``torch.while_loop``. The operators support no closures, so a first run of a function records the
tensors that it captures, and the next runs receive them as arguments (`_Lifted`). Under
``torch.func.vmap``, if the condition differs between examples, and in traces of derivatives that the
operators lack, all branches run and each example selects its result.

The operator ``scan`` is private: PyTorch 2.14 exports ``cond`` and ``while_loop`` alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import reduce
from typing import Any

import torch
from torch._C import _functorch
from torch._functorch.pyfunctorch import retrieve_all_functorch_interpreters
from torch._higher_order_ops.scan import scan as scan_of_nests
from torch._subclasses.fake_tensor import FakeTensor
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_map_only

from nestarray.backends import control_flow
from nestarray.backends.torch.derivatives import is_batched, is_compiled, order, order_set
from nestarray.backends.torch.indexing import getitem
from nestarray.backends.torch.transforms import is_inexact, not_differentiable, vjp
from nestarray.dynamo import ContextVariable
from nestarray.errors import UnsupportedError

_cond, _while_loop = torch.ops.higher_order.cond, torch.ops.higher_order.while_loop
_scan = torch.ops.higher_order.scan


#: Loops of at most so many steps are unrolled in traces.
_UNROLLED = 2


def static_value(x: Any) -> Any:
    """The value of a scalar; None if it is batched by vmap or traced."""
    if isinstance(x, bool):
        return x
    if torch.compiler.is_dynamo_compiling():
        return None
    inner = x
    while _functorch.is_functorch_wrapped_tensor(inner):
        if _functorch.is_batchedtensor(inner):
            return None
        inner = _functorch.get_unwrapped(inner)
    return None if isinstance(inner, FakeTensor) else x.item()


def _plain(x: Any) -> Any:
    """The tensor of all examples of a tensor batched by vmap."""
    while _functorch.is_functorch_wrapped_tensor(x):
        x = _functorch.get_unwrapped(x)
    return x


def cond(pred: Any, true_branch: Any, false_branch: Any) -> tuple[Any, ...]:
    """https://docs.pytorch.org/docs/stable/cond.html"""
    if torch.compiler.is_dynamo_compiling():
        true_branch(), false_branch()  # computes shapes and dtypes outside of the operator
        return tuple(torch.cond(pred, lambda: _new(true_branch()), lambda: _new(false_branch())))
    if is_batched(pred) or not _is_supported(_cond):
        masks = (pred, ~pred)
        branches = [_among(m, b) for m, b in zip(masks, (true_branch, false_branch), strict=True)]
        pair = _Lifted(branches, ((), ()))
        true, false = [
            branch(*_masked(mask, pair.captured))
            for mask, branch in zip(masks, pair.functions, strict=True)
        ]
        return _chosen(pred, true, false)
    branches = _Lifted([true_branch, false_branch], ((), ()))
    results = _cond(pred, *branches.functions, branches.captured)
    return tuple(map(_Copy.apply, results))


def _new(results: Sequence[Any]) -> tuple[Any, ...]:
    return tuple([x.clone(memory_format=torch.contiguous_format) for x in results])


def _is_supported(operator: Any) -> bool:
    """Whether an operator has the derivatives and batches that are taken of the running code.

    torch.func has rules for some: https://docs.pytorch.org/docs/stable/cond.html. The operator's
    gradient detaches values, so the gradient of the gradient would miss terms.
    """
    if torch.compiler.is_dynamo_compiling():
        return True
    levels = retrieve_all_functorch_interpreters()
    return order() <= 1 and all(level.key() in operator.functorch_table for level in levels)


class _Copy(torch.autograd.Function):
    """A contiguous copy with a contiguous gradient.

    Operators for control flow forbid aliases, and Inductor refuses gradients of two branches of
    which one is expanded, as of a sum.
    """

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Any) -> Any:
        return x.clone(memory_format=torch.contiguous_format)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        if not is_inexact(output):
            ctx.mark_non_differentiable(output)

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        return _Copy.apply(*cotangents)

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        return _Copy.apply(*tangents)


#: The masks of the examples that take the running branches.
_masks: ContextVariable[tuple[Any, ...]] = ContextVariable("nestarray_torch_masks", default=())


def _among(mask: Any, branch: Callable[[], Any]) -> Callable[[], Any]:
    """The branch; loops in it end when they have ended for the examples of the mask."""

    def call() -> Any:
        with _masks.being((*_masks.get(), mask)):
            return branch()

    return call


def _masked(mask: Any, arrays: Sequence[Any]) -> list[Any]:
    """The arrays, of which examples outside of the mask have the gradient 0.

    A branch that an example does not take may have an infinite or undefined derivative there.
    """
    return [
        torch.where(mask, x, x.detach()) if x.is_floating_point() or x.is_complex() else x
        for x in arrays
    ]


def _chosen(pred: Any, new: Sequence[Any], old: Sequence[Any]) -> tuple[Any, ...]:
    return tuple([torch.where(pred, a, b) for a, b in zip(new, old, strict=True)])


def while_loop(test: Any, body: Any, carry: Any, max_steps: int | None) -> tuple[Any, ...]:
    """https://docs.pytorch.org/docs/stable/higher_order_ops/while_loop.html"""
    steps, lifted = 0, None
    while max_steps is None or steps < max_steps:
        goes_on = reduce(torch.logical_and, _masks.get(), test(carry))
        value = static_value(goes_on)
        if value is None and max_steps is not None and is_compiled() and order() > 0:
            return _masked_loop(test, body, carry, max_steps - steps)
        if value is None and (is_batched(goes_on) or not _is_supported(_while_loop)):
            goes_on_anywhere = _plain(goes_on)
            if isinstance(goes_on_anywhere, FakeTensor):
                if max_steps is None:
                    raise UnsupportedError(
                        "while_loop: PyTorch cannot compile a loop without max_steps inside of vmap, "
                        "jvp, jacrev or a gradient of the gradient; give it max_steps, or do not compile"
                    )
            elif not bool(goes_on_anywhere.any()):
                return carry
            lifted = lifted or _Lifted([lambda *c: body(c)], (carry,))
            new = lifted.functions[0](*_masked(goes_on, (*carry, *lifted.captured)))
            carry = _chosen(goes_on, new, carry)  # finished examples skip steps
        elif value is None:
            return _traced_loop(test, body, carry, None if max_steps is None else max_steps - steps)
        elif value:
            carry = body(carry)
        else:
            return carry
        steps += 1
    return carry


def _masked_loop(test: Any, body: Any, carry: Any, count: int) -> tuple[Any, ...]:
    """A loop with a derivative, which always takes `count` steps."""

    def step(carry: Any, _: Any) -> tuple[Any, Any]:
        goes_on = reduce(torch.logical_and, _masks.get(), test(carry))
        inside = _Lifted([lambda *c: body(c)], (carry,))
        new = inside.functions[0](*_masked(goes_on, (*carry, *inside.captured)))
        return _chosen(goes_on, new, carry), ()

    return scan(step, carry, (), count)[0]


def _traced_loop(test: Any, body: Any, carry: Any, most: int | None) -> tuple[Any, ...]:
    if most is not None:  # count steps
        start = torch.zeros((), dtype=torch.int64, device=carry[0].device)
        counted = _traced_loop(
            lambda state: test(state[1:]) & (state[0] < most),
            lambda state: (state[0] + 1, *body(state[1:])),
            (start, *carry),
            None,
        )
        return counted[1:]
    if torch.compiler.is_dynamo_compiling():
        last = torch.while_loop(lambda *c: test(c), lambda *c: _new(body(c)), carry)
    else:
        parts = _Lifted([lambda *c: (test(c),), lambda *c: body(c)], (carry, carry))
        run_test, run_body = parts.functions
        trace = not_differentiable.get()
        if trace is not None and any(x.requires_grad for x in (*carry, *parts.captured)):
            trace.append("while_loop")  # its compiled form has no derivative
        last = _while_loop(lambda *c: run_test(*c)[0], run_body, _new(carry), parts.captured)
    return tuple(last)


def fori_loop(
    lower: int,
    upper: int,
    body: Any,
    carry: Any,
    like: Any,
    *,
    unroll: int | bool | None = None,
) -> Any:
    """A Python loop with constant indices; in a trace, a `scan` over the indices."""
    device = None if like is None else like.device
    if _is_native(upper - lower, unroll):
        steps = torch.arange(lower, upper, device=device)
        return scan(lambda c, row: (body(row[0], c), ()), carry, (steps,))[0]
    for i in range(lower, upper):
        carry = body(torch.tensor(i, device=device), carry)
    return carry


def scan(
    step: Any,
    carry: Any,
    xs: Any,
    length: int | None = None,
    *,
    reverse: bool = False,
    unroll: int | bool = 1,
) -> Any:
    """https://docs.pytorch.org/docs/stable/higher_order_ops/scan.html"""
    is_open = bool(xs) and isinstance(xs[0].shape[0], torch.SymInt)
    count = length if length is not None else xs[0].shape[0]
    if not is_open and not _is_native(count, unroll):
        return control_flow.scan(step, carry, xs, length, reverse=reverse)
    if not xs:
        xs = (torch.arange(count, device=carry[0].device if carry else None),)
        return scan(lambda c, _: step(c, ()), carry, xs, reverse=reverse)
    if not carry:  # the operator needs one
        start = (torch.zeros((), device=xs[0].device),)
        return (), scan(lambda c, row: (c, step((), row)[1]), start, xs, reverse=reverse)[1]
    width, rows = len(carry), [torch.flip(x, (0,)) if reverse else x.clone() for x in xs]

    def flat(*values: Any) -> tuple[Any, ...]:
        new, results = step(values[:width], values[width:])
        return *new, *results

    if torch.compiler.is_dynamo_compiling():
        results = _read_by_dynamo(flat, _new(carry), _new(rows))
    else:
        parts = _Lifted([flat], ((*carry, *(x[0] for x in rows)),))
        loop = _Loop(parts.functions[0], width, len(rows), order())
        results = loop.run((*_new(carry), *rows, *parts.captured))
    columns = [torch.flip(x, (0,)) if reverse else x for x in results[width:]]
    return tuple(results[:width]), tuple(columns)


def _read_by_dynamo(
    flat: Callable[..., tuple[Any, ...]], carry: Sequence[Any], rows: Sequence[Any]
) -> tuple[Any, ...]:
    """The operator in ``torch.compile``, which lifts captured tensors.

    Its derivative, of the first order, takes floating results alone, all of which need a gradient:
    https://github.com/pytorch/pytorch/blob/v2.14.1/torch/_higher_order_ops/scan.py
    Integers are pairs of floats, and results without a gradient get the gradient of an empty sum.
    """
    first = flat(*carry, *(x[0] for x in rows))  # shapes and dtypes, outside of the operator
    width, dtypes = len(carry), [x.dtype for x in first]
    differentiable = [x for x in first if x.requires_grad and x.is_floating_point()]
    nothing = differentiable[0].flatten()[:0].sum() if differentiable else None

    def coded(results: Sequence[Any]) -> tuple[Any, ...]:
        if nothing is None:
            return _new(results)
        floats = [x if is_inexact(x) else _as_floats(x) for x in results]
        return _new([x + nothing.to(x.dtype) for x in floats])

    def decoded(values: Sequence[Any], dtypes: Sequence[Any]) -> list[Any]:
        if nothing is None:
            return list(values)
        return [x if x.dtype == d else _as_integers(x, d) for x, d in zip(values, dtypes)]

    def body(carry: Any, row: Any) -> Any:
        results = coded(flat(*decoded(carry, dtypes), *row))
        return results[:width], results[width:]

    last, columns = scan_of_nests(body, coded(carry), tuple(rows))
    return (*decoded(last, dtypes), *decoded(columns, dtypes[width:]))


def _as_floats(x: Any) -> Any:
    """The high and the low half of integers, in a new last axis."""
    x = x.to(torch.int64)
    return torch.stack((x >> 32, x & 0xFFFFFFFF), -1).to(torch.float64)


def _as_integers(x: Any, dtype: Any) -> Any:
    high, low = x.detach().to(torch.int64).unbind(-1)
    return ((high << 32) | low).to(dtype)


def _is_native(count: int, unroll: int | bool | None) -> bool:
    """Whether a loop of `count` steps becomes an operator; files of ``torch.export`` unroll it."""
    if count <= _UNROLLED or unroll is True or not is_compiled():
        return False
    return order() == 0 or not torch.compiler.is_dynamo_compiling()


class _Loop:
    """A scan whose derivative is a scan in the other direction, to any order.

    ``torch.ops.higher_order.scan`` has a first derivative alone.

    Attributes:
        step: ``(*carry, *row, *constants) → (*new carry, *results)``; it captures no tensors.
        width: the number of arrays in the carry.
        constants: the place of the first constant, after the carry and the rows.
        order: the order of the derivative that is taken of the step.
    """

    def __init__(self, step: Callable[..., Any], carry: int, rows: int, order: int) -> None:
        self.step, self.order = step, order
        self.width, self.constants = carry, carry + rows

    def run(self, arrays: Sequence[Any]) -> tuple[Any, ...]:
        """(last carry, stacked results) of (carry, rows, constants)."""
        is_differentiated = self.order > 0 or any(x.requires_grad for x in arrays)
        is_transformed = _functorch.get_dynamic_layer_stack_depth() > 0
        if not is_transformed and not (is_differentiated and torch.is_grad_enabled()):
            return self.operator(arrays, with_carries=False)
        results = _Scan.apply(self, *arrays)
        return tuple(results[: len(results) - self.width])

    def operator(self, arrays: Sequence[Any], *, with_carries: bool) -> tuple[Any, ...]:
        """The results of `run` and, if asked for, the carries before all steps."""
        carry, rows, constants = self._split(arrays)
        keys = _dispatch_keys()
        # Inductor finds the sizes of the results among the arguments
        sizes = {str(n): n for x in arrays for n in x.shape if isinstance(n, torch.SymInt)}
        # and reads the only result of an operator as a tensor, not as a list of one
        spare = (torch.zeros((), device=arrays[0].device),) if self.width == 1 else ()
        first, last = self.width, self.width + len(spare)

        def body(*values: Any) -> tuple[Any, ...]:
            carry, arguments = values[:first], (*values[:first], *values[last:])
            with keys(), order_set(self.order):
                results = self.step(*arguments[: len(arrays)])
                results = (*results[:first], *values[first:last], *results[first:])
                return _new((*results, *(carry if with_carries else ())))

        results = _scan(body, [*_new(carry), *spare], _new(rows), (*constants, *sizes.values()))
        return (*results[:first], *results[last:])

    def pull(
        self, arrays: Sequence[Any], carries: Sequence[Any], cotangents: Any, needed: Sequence[bool]
    ) -> list[Any]:
        """The gradients of (carry, rows, constants), None where none is needed.

        Each step computes the step forward again, from the carry before it.
        """
        carry, rows, constants = self._split(arrays)
        width = self.width
        of_last, of_carries = cotangents[:width], cotangents[len(cotangents) - width :]
        state = [i for i, x in enumerate(carry) if is_inexact(x)]
        others = [i for i in range(width, len(arrays)) if needed[i] and is_inexact(arrays[i])]
        places = [*state, *others]
        outputs = [
            i for i, c in enumerate(cotangents[: -width or None]) if c is not None and i >= width
        ]
        direct = [i for i in state if of_carries[i] is not None]
        of_rows = len([i for i in others if i < self.constants])

        def step(*values: Any) -> tuple[Any, ...]:
            parts = iter(values)
            pulled = [next(parts) for _ in state]
            sums = [next(parts) for _ in others[of_rows:]]
            inputs = [next(parts) for _ in range(self.constants)]
            pulled += [next(parts) for _ in outputs]
            added = {i: next(parts) for i in direct}
            inputs += parts

            def function(*values: Any) -> tuple[Any, ...]:
                arguments = list(inputs)
                for i, x in zip(places, values, strict=True):
                    arguments[i] = x
                results = self.step(*arguments)
                return tuple([results[i] for i in (*state, *outputs)]), ()

            with order_set(max(self.order - 1, 0)):
                pull = vjp(function, [inputs[i] for i in places], "scan")[2]
                gradients = pull(pulled)
            new = [g + added[i] if i in added else g for i, g in zip(state, gradients)]
            of_row = gradients[len(state) : len(state) + of_rows]
            of_constants = gradients[len(state) + of_rows :]
            return *new, *(a + b for a, b in zip(sums, of_constants, strict=True)), *of_row

        start = [torch.zeros_like(carry[i]) if of_last[i] is None else of_last[i] for i in state]
        start += [torch.zeros_like(arrays[i]) for i in others[of_rows:]]
        stacked = [*carries, *rows, *(cotangents[i] for i in outputs)]
        stacked += [of_carries[i] for i in direct]
        stacked = [torch.flip(x, (0,)) for x in stacked]
        loop = _Loop(step, len(start), len(stacked), self.order)
        results = loop.run((*start, *stacked, *constants))
        result: list[Any] = [None] * len(arrays)
        flipped = [torch.flip(x, (0,)) for x in results[len(start) :]]
        gradients = [*results[: len(state)], *flipped, *results[len(state) : len(start)]]
        for i, gradient in zip(places, gradients, strict=True):
            result[i] = gradient
        return result

    def mapped(self, batched: Sequence[bool]) -> _Loop:
        """The loop over arrays of which some have a batch: the second axis of rows, else the first.

        All carries and results have one.
        """
        step = torch.func.vmap(self.step, tuple([0 if b else None for b in batched]))
        return _Loop(step, self.width, self.constants - self.width, self.order)

    def _split(self, arrays: Sequence[Any]) -> tuple[list[Any], list[Any], list[Any]]:
        first, last = self.width, self.constants
        return list(arrays[:first]), list(arrays[first:last]), list(arrays[last:])


class _Scan(torch.autograd.Function):
    """https://docs.pytorch.org/docs/stable/notes/extending.html"""

    @staticmethod
    def vmap(info: Any, axes: Any, loop: _Loop, *arrays: Any) -> Any:
        values, batched = [], []
        for i, (x, axis) in enumerate(zip(arrays, axes[1:], strict=True)):
            place = int(loop.width <= i < loop.constants)
            if axis is not None:
                x = x.movedim(axis, place)
            elif i < loop.width:
                x = x.expand(info.batch_size, *x.shape)
            values.append(x)
            batched.append(axis is not None or i < loop.width)
        results = _Scan.apply(loop.mapped(batched), *values)
        return results, (*[0] * loop.width, *[1] * (len(results) - loop.width))

    @staticmethod
    def forward(loop: _Loop, *arrays: Any) -> Any:
        return loop.operator(arrays, with_carries=True)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.loop, *arrays = inputs
        ctx.save_for_backward(*arrays, *output[len(output) - ctx.loop.width :])
        ctx.mark_non_differentiable(*(y for y in output if not is_inexact(y)))
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        saved = ctx.saved_tensors
        count = len(saved) - ctx.loop.width
        arrays, carries = saved[:count], saved[count:]
        return None, *ctx.loop.pull(arrays, carries, cotangents, ctx.needs_input_grad[1:])


class _Lifted:
    """Functions of tensors whose captured tensors are further arguments.

    Attributes:
        captured: copies of the tensors that any of the functions captures.
        functions: functions of (arguments, `captured`); they return new tensors, as the operators
            for control flow require.
    """

    def __init__(self, functions: list[Callable[..., Any]], args: Sequence[Sequence[Any]]) -> None:
        outside: dict[int, Any] = {}
        for function, values in zip(functions, args, strict=True):
            copies = tuple(map(torch.clone, values))  # the function may also capture `values`
            with _Watch(copies) as watch:
                results = function(*copies)
            watch.note(results)
            outside |= watch.outside
        self._keys = _dispatch_keys()
        self._outside = tuple(outside.values())
        self.captured = tuple([torch.clone(x) for x in self._outside])
        self.functions = [self._lifted(f, len(values)) for f, values in zip(functions, args)]

    def _lifted(self, function: Callable[..., Any], count: int) -> Callable[..., Any]:
        def call(*values: Any) -> tuple[Any, ...]:
            inside = tuple(map(_Copy.apply, values))
            swap = _Swap(self._outside, inside[count:])
            with self._keys(), swap:
                results = function(*inside[:count])
            return _new([swap.of(x) for x in results])

        return call


def _dispatch_keys() -> Callable[[], AbstractContextManager[Any]]:
    """A context that restores the present dispatch keys.

    Operators for control flow trace their functions below autograd, where a gradient inside would
    be zero, because nothing is recorded.
    """
    if _functorch.get_dynamic_layer_stack_depth():
        return nullcontext
    included = torch._C._dispatch_tls_local_include_set()
    excluded = torch._C._dispatch_tls_local_exclude_set()

    def restored() -> AbstractContextManager[Any]:
        if _functorch.get_dynamic_layer_stack_depth():  # torch.func has its dispatch keys
            return nullcontext()
        return torch._C._ForceDispatchKeyGuard(included, excluded)

    return restored


class _Watch(TorchFunctionMode):
    """Records the input tensors of torch functions that no torch function produced.

    No torch function produces the wrappers of torch.func, but the tensors inside them.
    """

    def __init__(self, inside: Sequence[Any]) -> None:
        super().__init__()
        self._depth = _functorch.get_dynamic_layer_stack_depth()
        self._inside = {id(x): x for x in inside}  # kept alive, so that ids stay unique
        self.outside: dict[int, Any] = {}

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.note((args, kwargs or {}))
        result = func(*args, **kwargs or {})
        tree_map_only(torch.Tensor, self._add, result)
        return result

    def note(self, nest: Any) -> None:
        """Record the captured tensors in `nest`."""
        tree_map_only(torch.Tensor, self._capture, nest)

    def _add(self, x: Any) -> None:
        self._inside[id(x)] = x

    def _capture(self, x: Any) -> None:
        while id(x) not in self._inside and _functorch.maybe_get_level(x) > self._depth:
            x = _functorch.get_unwrapped(x)
        if id(x) not in self._inside:
            self.outside[id(x)] = x


class _Swap(TorchFunctionMode):
    """Replaces tensors in the arguments of torch functions."""

    def __init__(self, old: Sequence[Any], new: Sequence[Any]) -> None:
        super().__init__()
        self._new = {id(a): b for a, b in zip(old, new, strict=True)}

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        args, kwargs = tree_map_only(torch.Tensor, self.of, (args, kwargs or {}))
        if func is torch.Tensor.__getitem__:  # torch reads the value of an index of shape ()
            return getitem(*args)
        return func(*args, **kwargs)

    def of(self, x: Any) -> Any:
        """The replacement of `x`."""
        return self._new.get(id(x), x)
