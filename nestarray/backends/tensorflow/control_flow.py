"""TensorFlow: `nestarray.backends.control_flow`; graph operations, or Python if eager."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from nestarray.backends import control_flow, portable
from nestarray.backends.tensorflow import lite
from nestarray.backends.tensorflow.derivatives import custom_gradient, is_mapped, lose, losing
from nestarray.backends.tensorflow.tapes import derivatives_around, is_inexact, vjp
from nestarray.errors import UnsupportedError


def static_value(x: Any) -> Any:
    """The value of an eager scalar or of a constant of the graph; else None."""
    value = tf.get_static_value(x)
    return None if value is None else value.item()


def cond(pred: Any, true_branch: Any, false_branch: Any) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/cond"""
    lose("cond")
    return _results(tf.cond(pred, _named(true_branch), _named(false_branch)))


def _named(branch: Any) -> Any:
    # TensorFlow returns no tuple for zero or one results
    return lambda: {str(i): tf.identity(x) for i, x in enumerate(branch())} | {"-": tf.constant(0)}


def _results(found: dict[str, Any]) -> tuple[Any, ...]:
    return tuple([found[str(i)] for i in range(len(found) - 1)])


def while_loop(test: Any, body: Any, carry: Any, max_steps: int | None) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/while_loop

    A body with custom derivatives has the derivative of a `scan` with as many steps.
    """
    if tf.executing_eagerly():
        return control_flow.while_loop(test, body, carry, max_steps)
    if is_mapped() and derivatives_around():
        raise UnsupportedError(
            "while_loop: tf.vectorized_map cannot map a derivative of rows that end at different steps"
        )  # `vmap` calls the function row by row

    def step(carry: Any, _: Any) -> Any:
        return body(carry), ()

    if portable.are_wanted():
        return _loop(test, body, carry, max_steps)
    steps = _Scan(step, carry, (tf.range(0),), None, False)
    if steps.reads_variables or not steps.has_rules:
        return _loop(test, body, carry, max_steps)
    width = len(carry)
    places = [i for i, x in enumerate(carry) if is_inexact(x)]

    @custom_gradient
    def loop(*inputs: Any) -> Any:
        start = (tf.constant(0), *inputs[:width])
        count, *last = _loop(
            lambda state: test(state[1:]),
            lambda state: (state[0] + 1, *body(state[1:])),
            *(start, max_steps),
        )

        def again(*inexact: Any) -> Any:
            start = _replaced(inputs[:width], places, inexact)
            last, _ = scan(step, start, (tf.range(count),))
            return tuple([last[place] for place in places]), ()

        def pullback(*cotangents: Any) -> list[Any]:
            arrays = [inputs[place] for place in places]
            pull = vjp(again, arrays, "while_loop", closed=steps.captured)[2]
            gradients = pull([cotangents[place] for place in places])
            by_place = dict(zip((*places, *range(width, len(inputs))), gradients, strict=True))
            return [by_place.get(i) for i in range(len(inputs))]

        return tuple(map(tf.stop_gradient, last)), pullback

    return tuple(loop(*carry, *steps.captured)[:width])


def _loop(test: Any, body: Any, carry: tuple[Any, ...], most: int | None) -> tuple[Any, ...]:
    """A loop over a tuple of any length; XLA can differentiate it only if it is bounded."""

    def step(turn: Any, carry: tuple[Any, ...]) -> Any:
        new = body(carry)
        for x, y in zip(tf.nest.flatten(carry), tf.nest.flatten(new), strict=True):
            if tf.is_tensor(y):  # which may have forgotten sizes
                y.set_shape(x.shape)
        return turn, new

    found = tf.while_loop(
        lambda _, carry: test(carry),
        step,
        (tf.constant(0), carry),
        maximum_iterations=most,
    )
    return tuple(found[1])


def fori_loop(
    lower: int,
    upper: int,
    body: Any,
    carry: Any,
    like: Any,
    *,
    unroll: int | bool | None = None,
) -> Any:
    """A Python loop; in a graph, a `scan` over the indices."""
    if tf.executing_eagerly() or unroll is True:
        return control_flow.fori_loop(lower, upper, body, carry, like)
    steps = tf.range(lower, max(lower, upper), dtype=tf.int64)
    return scan(lambda carry, row: (body(row[0], carry), ()), carry, (steps,))[0]


def scan(
    step: Any,
    carry: Any,
    xs: Any,
    length: int | None = None,
    *,
    reverse: bool = False,
    unroll: int | bool = 1,
) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/while_loop

    The derivative of a step with custom derivatives is a scan in the other direction, which calls
    each step again: the gradient of ``tf.while_loop`` evaluates them in another graph than the step,
    where the derivative of `vmap` is 0 for tensors of the step, and second derivatives fail.
    """
    static = xs[0].shape[0] if xs and length is None else length
    if tf.executing_eagerly() or static == 0 or unroll is True:
        return control_flow.scan(step, carry, xs, length, reverse=reverse)
    loop = _Scan(step, carry, xs, static, reverse)
    if portable.are_wanted() and not all(y.shape.is_fully_defined() for y in loop.specs):
        return lite.scan(step, carry, xs, loop.count, reverse)
    if portable.are_wanted() or loop.reads_variables or not loop.has_rules:
        return loop.run(carry, xs)
    if not derivatives_around():
        return loop.differentiable(carry, xs)
    stored = _Scan(_storing(step), carry, xs, static, reverse)
    last, ys = stored.differentiable(carry, xs, stores=True)
    return last, ys[: len(loop.specs)]


def _replaced(values: Any, places: list[int], arrays: Any) -> tuple[Any, ...]:
    """The values, with other arrays at some places."""
    by_place = dict(zip(places, arrays, strict=True))
    return tuple([by_place.get(i, x) for i, x in enumerate(values)])


def _storing(step: Any) -> Any:
    """The step, with the carry before it as further results."""

    def stored(carry: Any, row: Any) -> Any:
        new, ys = step(carry, row)
        return new, (*ys, *carry)

    return stored


class _Scan:
    """A scan with a derivative of any order.

    The backward pass carries the cotangents of the carry and of the captured tensors.
    """

    def __init__(self, step: Any, carry: Any, xs: Any, length: int | None, reverse: bool) -> None:
        self.step, self.length, self.reverse = step, length, reverse
        self.count = tf.shape(xs[0])[0] if length is None else length
        self.width, self.inputs = len(carry), len(carry) + len(xs)

        def spec(x: Any, first: int) -> Any:
            return tf.TensorSpec(x.shape[first:], x.dtype)

        inputs = tuple([spec(x, 0) for x in carry]), tuple([spec(x, 1) for x in xs])
        with losing() as names:
            traced = tf.function(step, autograph=False).get_concrete_function(*inputs)
        self.has_rules = any(name != "cond" for name in names)
        self.specs = traced.structured_outputs[1]
        captured = traced.captured_inputs
        self.captured = list(filter(is_inexact, captured))
        self.reads_variables = any(x.dtype == tf.resource for x in captured)

    def run(self, carry: Any, xs: Any) -> tuple[Any, Any]:
        """The last carry, and the results of all steps.

        A TensorArray holds the rows of `xs`: the gradient of a slice is as large as all rows.
        """
        columns = [tf.TensorArray(y.dtype, self.count, element_shape=y.shape) for y in self.specs]
        rows = [
            tf.TensorArray(x.dtype, self.count, element_shape=x.shape[1:]).unstack(x) for x in xs
        ]

        def body(state: tuple[Any, ...]) -> tuple[Any, ...]:
            done, carry, columns = state
            place = self.count - 1 - done if self.reverse else done
            new, ys = self.step(carry, tuple([row.read(place) for row in rows]))
            written = [column.write(place, y) for column, y in zip(columns, ys, strict=True)]
            return done + 1, tuple(new), tuple(written)

        start = (tf.constant(0), tuple(carry), tuple(columns))
        _, last, columns = _loop(lambda state: state[0] < self.count, body, start, self.length)
        return tuple(last), tuple([column.stack() for column in columns])

    def differentiable(self, carry: Any, xs: Any, stores: bool = False) -> tuple[Any, Any]:
        """`run`; if `stores`, the last results are the carries before each step."""
        width = self.width

        @custom_gradient
        def loop(*inputs: Any) -> Any:
            last, ys = self.run(inputs[:width], inputs[width : self.inputs])

            def pullback(*cotangents: Any) -> list[Any]:
                carry, xs = inputs[:width], inputs[width : self.inputs]
                if stores:
                    carries = results[len(results) - width :]
                else:
                    step = _storing(self.step)
                    ys = scan(step, carry, xs, self.length, reverse=self.reverse)[1]
                    carries = ys[len(ys) - width :]
                gradients = self._pulled((*carries, *xs), cotangents)
                return [gradients.get(i) for i in range(len(inputs))]

            return tuple(map(tf.stop_gradient, (*last, *ys))), pullback

        results = loop(*carry, *xs, *self.captured)
        return tuple(results[:width]), tuple(results[width:])

    def _pulled(self, rows: Any, cotangents: Any) -> dict[int, Any]:
        """The gradients by place among (carry, xs, captured).

        Args:
            rows: the carry before each step, and `xs`.
            cotangents: of the last carry and of the results.
        """
        places = [i for i, x in enumerate(rows) if is_inexact(x)]
        inner = sum(place < self.width for place in places)

        def back(state: Any, row: Any) -> Any:
            values, by_ys = row[: self.inputs], row[self.inputs :]

            def of_a_step(*inexact: Any) -> Any:
                arrays = _replaced(values, places, inexact)
                new, ys = self.step(arrays[: self.width], arrays[self.width :])
                return tuple(filter(is_inexact, (*new, *ys))), ()

            inputs = [values[place] for place in places]
            pull = vjp(of_a_step, inputs, "scan", closed=self.captured)[2]
            gradients = pull([*state[:inner], *by_ys])
            pairs = zip(state[inner:], gradients[len(places) :], strict=True)
            sums = [total + gradient for total, gradient in pairs]
            return (*gradients[:inner], *sums), tuple(gradients[inner : len(places)])

        pairs = zip(cotangents, (*rows[: self.width], *self.specs), strict=True)
        inexact = [i for i, (_, y) in enumerate(pairs) if is_inexact(y)]
        by_last = [cotangents[i] for i in inexact if i < self.width]
        by_ys = [cotangents[i] for i in inexact if i >= self.width]
        start = (*by_last, *map(tf.zeros_like, self.captured))
        last, by_xs = scan(back, start, (*rows, *by_ys), self.length, reverse=not self.reverse)
        keys = (*places, *range(self.inputs, self.inputs + len(self.captured)))
        return dict(zip(keys, (*last[:inner], *by_xs, *last[inner:]), strict=True))
