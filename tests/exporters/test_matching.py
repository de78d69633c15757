"""Programs that are equal up to settings and absent children."""

from __future__ import annotations

from collections.abc import Sequence

from nestarray.exporters.source.recording.records import Call, Value
from nestarray.exporters.source.tree.matching import Match, is_same_program, matched
from nestarray.exporters.source.tree.modules import Module, Step, Use, output_of


def value(dtype: str = "float32") -> Value:
    return Value((2, 3), dtype)


def call(target: str, result: Value, *args: object) -> Call:
    return Call(target, args, {}, result)


def module(steps: Sequence[Step], inputs: list[Value], outputs: list[Value]) -> Module:
    children = {step.name: step.module for step in steps if isinstance(step, Use)}
    return Module((), "Block", [*steps], inputs, output_of(outputs), children, {})


def clipped(most: float) -> Module:
    """``tanh(clip(x, most))``."""
    x, y, z = value(), value(), value()
    return module([call("clip", y, x, most), call("tanh", z, y)], [x], [z])


def attention(is_to_itself: bool) -> Module:
    """``matmul(x, memory)``, where the memory may be the argument itself."""
    x, memory, y = value(), value(), value()
    inputs = [x] if is_to_itself else [x, memory]
    return module([call("matmul", y, x, x if is_to_itself else memory)], inputs, [y])


def residual(has_child: bool, name: str = "project") -> Module:
    """``add(tanh(x), project(x))``; the child may be absent."""
    x, h, projected, y = value(), value(), value(), value()
    steps: list[Step] = [call("tanh", h, x)]
    if has_child:
        steps.append(Use((name,), clipped(1.0), [x], [projected]))
    return module([*steps, call("add", y, h, projected if has_child else x)], [x], [y])


def match(first: Module, second: Module) -> Match | None:
    return matched(first, second, is_same_program)


def test_settings_may_differ() -> None:
    assert match(clipped(1.0), clipped(2.0)) is not None
    assert not is_same_program(clipped(1.0), clipped(2.0))
    assert is_same_program(clipped(1.0), clipped(1.0))


def test_functions_may_not_differ() -> None:
    x, y = value(), value()
    assert (
        match(module([call("exp", y, x)], [x], [y]), module([call("sin", y, x)], [x], [y])) is None
    )


def test_arguments_may_not_differ() -> None:
    x, y, z = value(), value(), value()
    first = module([call("sub", z, x, y)], [x, y], [z])
    twice = module([call("sub", z, x, x), call("add", value(), y, y)], [x, y], [z])
    assert match(first, twice) is None


def test_one_value_may_be_two_inputs() -> None:
    found = match(attention(False), attention(True))
    assert found is not None
    assert len({*found.values.values()}) == 2  # of the argument and the result
    assert match(attention(True), attention(False)) is None


def test_a_child_may_be_absent() -> None:
    found = match(residual(True), residual(False))
    assert found is not None
    assert [step is None for step in found.steps] == [False, True, False]
    (places,) = found.bypasses.values()
    assert places == (0,)
    assert match(residual(False), residual(True)) is None


def test_children_have_one_name_and_program() -> None:
    assert match(residual(True), residual(True, "other")) is None
    found = match(residual(True), residual(True))
    assert found is not None
    assert found.is_whole


def test_more_results_may_be_returned() -> None:
    x, h, y = value(), value(), value()
    steps = [call("tanh", h, x), call("exp", y, h)]
    found = match(module(steps, [x], [y]), module(steps, [x], [h, y]))
    assert found is not None
    assert found.outputs == [y]
    assert found.more == [h]
    found = match(module(steps, [x], [h, y]), module(steps, [x], [y]))
    assert found is not None
    assert found.outputs == [None, y]


def test_masks_may_be_integers() -> None:
    x, y = value("bool"), value("int32")
    assert match(module([call("not", x, x)], [x], [x]), module([call("not", y, y)], [y], [y]))
    z = value()
    assert (
        match(module([call("not", x, x)], [x], [x]), module([call("not", z, z)], [z], [z])) is None
    )
