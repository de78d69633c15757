"""Control flow in recorded code: a loop is one node, whose body is recorded once; so is a `vmap`.

`nestarray.transforms.control_flow` checks structures and flattens nests as always; in place of a
backend's loops over tuples of arrays it is given the functions here. A body is recorded on the
arrays of the first step, and then run for all steps, so that later code has the arrays of a
plain call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from nestarray import backends, dtypes, ops, transforms
from nestarray.backends import control_flow as native
from nestarray.graph.node import Argument, Body, Function, iter_nodes, reached
from nestarray.graph.record.recorder import Recorder
from nestarray.typing import Array, Nest, is_symbolic_size

Arrays = tuple[Array, ...]


class ControlFlow:
    """The functions of `nestarray.backends.control_flow`, recorded."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def static_value(self, x: object) -> object:
        """The value of a scalar; a traced one has none."""
        if hasattr(x, "__traced_backend__"):
            return None
        return native.find(backends.backend_of(x), "static_value")(x)

    def cond(self, pred: Array, true_branch: Function, false_branch: Function) -> Nest:
        """Two branches, of which the value of `pred` chooses one."""
        branches = [
            self._body("if_true", (), (), true_branch),
            self._body("if_false", (), (), false_branch),
        ]
        return self._call("cond", (pred, *branches), {})

    def switch(self, index: Array, branches: Sequence[Function]) -> Nest:
        """Branches, of which the value of `index` chooses one."""
        found = [self._body(f"case_{i}", (), (), branch) for i, branch in enumerate(branches)]
        return self._call("switch", (index, found), {})

    def while_loop(
        self, test: Function, body: Function, carry: Arrays, max_steps: int | None
    ) -> Nest:
        """A loop as long as a value says so."""
        parts = [
            self._body("go_on", ("carry",), (carry,), test),
            self._body("body", ("carry",), (carry,), body),
        ]
        settings = {} if max_steps is None else {"max_steps": max_steps}
        return self._call("while_loop", (*parts, carry), settings)

    def fori_loop(
        self,
        lower: int,
        upper: int,
        body: Function,
        carry: Arrays,
        like: Array,
        *,
        unroll: int | bool | None = None,
    ) -> Nest:
        """A loop over integers."""
        first = ops.full((), lower, like=_value(like))
        part = self._body("body", ("i", "carry"), (first, carry), body)
        settings = {} if unroll is None else {"unroll": unroll}
        return self._call("fori_loop", (lower, upper, part, carry), settings)

    def scan(
        self,
        step: Function,
        carry: Arrays,
        xs: Arrays,
        length: int | None = None,
        *,
        reverse: bool = False,
        unroll: int | bool = 1,
    ) -> Nest:
        """A loop over rows."""
        row = tuple([self._recorder.example(x, _first_row) for x in xs])
        body = self._body("step", ("carry", "row"), (carry, row), step)
        settings = {"length": length} if not xs else {}
        settings |= {"reverse": True} if reverse else {}
        settings |= {"unroll": unroll} if unroll != 1 else {}
        return self._call("scan", (body, carry, xs), settings)

    def associative_scan(self, combine: Function, elems: Arrays, axis: int, reverse: bool) -> Nest:
        """The combinations of slices, one by one: each is of another length."""
        return native.associative_scan(combine, elems, axis, reverse)

    def vmap(self, fn: Function, arrays: Sequence[Array]) -> Nest:
        """A function of one row for all rows at once: `na.map` of a batch that has them all."""
        return self._mapped(lambda row: fn(*row), arrays)[0]

    def vmap_with_common(
        self, fn: Function, arrays: Sequence[Array]
    ) -> tuple[Nest, Nest, list[int]]:
        """Return batched outputs, unbatched outputs, and indices of the latter that use the row."""
        count = 0

        def flat(row: Arrays) -> Arrays:
            nonlocal count
            stacked, common = fn(*row)
            count = len(stacked)
            return (*stacked, *common)

        found, body = self._mapped(flat, arrays)
        rows = set(iter_nodes(body.parameters))
        differing = [i for i, x in enumerate(body.output[count:]) if rows & reached(body.nodes, x)]
        return found[:count], tuple([ops.getitem(x, 0) for x in found[count:]]), differing

    def call_with_vjp(
        self,
        fn: Function,
        forward: Function,
        backward: Function,
        args: Arrays,
        nondiff: Sequence[int],
    ) -> Nest:
        """A function with a custom pullback."""
        results: list[Nest] = []

        def with_results(args: Arrays) -> Nest:
            results[:] = forward(args)
            return tuple(results)

        whole = self._body("function", ("args",), (args,), fn)
        first = self._body("forward", ("args",), (args,), with_results)
        found, residuals = results
        cotangents = tuple([y for y in found if dtypes.dtype_of(y).is_inexact])
        names = "residuals", "cotangents"
        second = self._body("backward", names, (residuals, cotangents), backward)
        settings = {"nondiff_argnums": tuple(nondiff)} if nondiff else {}
        return self._call("call_with_vjp", (whole, first, second, args), settings)

    def call_with_jvp(self, fn: Function, rule: Function, args: Arrays) -> Nest:
        """A function with a custom directional derivative."""
        tangents = tuple([x for x in args if dtypes.dtype_of(x).is_inexact])
        parts = [
            self._body("function", ("args",), (args,), fn),
            self._body("rule", ("args", "tangents"), (args, tangents), rule),
        ]
        return self._call("call_with_jvp", (*parts, args), {})

    def derivative_state(self) -> int:
        """The depth of the code in loops, branches and mapped functions; see `collectives`."""
        return self._recorder.builder.depth

    def obstacle(self, depth: int) -> str | None:
        """The reason why a mapped function that began at `depth` cannot exchange values here."""
        if self._recorder.builder.depth != depth:
            return (
                "recorded code cannot collect values inside of a loop or a choice; call it outside "
                "of that"
            )
        return None

    def is_differentiated(self, x: object, depth: int) -> bool:
        """Whether a derivative is taken of a value: it cannot be recorded."""
        return False

    def _mapped(self, fn: Function, arrays: Sequence[Array]) -> tuple[Nest, Body]:
        given = tuple(arrays)
        row = tuple([self._recorder.example(x, _first_row) for x in given])
        body = self._body("row", ("row",), (row,), fn)
        count = int(given[0].shape[0])
        return self._call("map", (body, given), {"batch_size": max(count, 1)}), body

    def _body(self, name: str, names: tuple[str, ...], example: Arrays, fn: Function) -> Body:
        """The recorded code of `fn`, run on the arrays of `example`."""
        recorder = self._recorder
        given = [
            tuple(map(recorder.example, part))
            if isinstance(part, tuple)
            else recorder.example(part)
            for part in example
        ]
        avals = {
            label: [x._node.aval for x in part] if isinstance(part, tuple) else part._node.aval
            for label, part in zip(names, given, strict=True)
        }
        with recorder.body(name, avals) as body:
            for x, node in zip(_flat(tuple(given)), _flat(body.parameters), strict=True):
                x._node = node
            with np.errstate(all="ignore"):  # of branches that are not taken, and steps too many
                result = fn(*given)
            body.output = _nodes(result, lambda x: recorder.node_of(x, f"{name}: result"))
        return body

    def _call(self, name: str, args: tuple[Argument, ...], kwargs: Mapping[str, Argument]) -> Nest:
        public = getattr(transforms, name)
        return self._recorder.control_flow(name, public, args, kwargs)


def _value(x: Array) -> Nest:
    return x._value if hasattr(x, "__traced_backend__") else x


def _first_row(x: Array) -> Nest:
    if is_symbolic_size(x.shape[0]) or x.shape[0]:
        return ops.getitem(x, 0)
    return ops.zeros(x.shape[1:], dtype=x.dtype, like=x)


def _flat(nest: tuple[Nest, ...]) -> list[Nest]:
    return [y for x in nest for y in (x if isinstance(x, tuple) else (x,))]


def _nodes(nest: Nest, fn: Callable[[Nest], Nest]) -> Nest:
    return tuple([_nodes(x, fn) for x in nest]) if isinstance(nest, tuple) else fn(nest)
