"""The calls of a graph as modules and classes."""

from __future__ import annotations

from typing import Any

import pytest

from nestarray.exporters.source.recording.records import Call, Value
from nestarray.exporters.source.tree.loops import Loop, with_loops
from nestarray.exporters.source.tree.modules import Module, Use
from nestarray.exporters.source.tree.settings import Setting, settings_of, with_settings
from nestarray.exporters.source.tree.ties import names_by_path, statements, ties_of
from tests.exporters.source.programs import model, written
from tests.graph.passes.programs import parsed

STACK = """
def graph(x):  # float32[2, 4]
    # v['layers/0/weight']: float32[4, 4]
    # v['layers/1/weight']: float32[4, 4]
    # v['layers/2/weight']: float32[4, 4]
    a = na.linear(x, v['layers/0/weight'])  # float32[2, 4] · layers/0
    b = na.add(a, x)  # float32[2, 4] · layers/0
    c = na.linear(b, v['layers/1/weight'])  # float32[2, 4] · layers/1
    d = na.add(c, b)  # float32[2, 4] · layers/1
    e = na.linear(d, v['layers/2/weight'])  # float32[2, 4] · layers/2
    f = na.add(e, d)  # float32[2, 4] · layers/2
    return f
"""
SCALED = """
def graph(x):  # float32[2, 4]
    # v['first/weight']: float32[4, 4]
    # v['second/weight']: float32[4, 4]
    a = na.linear(x, v['first/weight'])  # float32[2, 4] · first
    b = na.tanh(a)  # float32[2, 4] · first
    c = na.multiply(b, 0.5)  # float32[2, 4] · first
    d = na.linear(c, v['second/weight'])  # float32[2, 4] · second
    e = na.tanh(d)  # float32[2, 4] · second
    f = na.multiply(e, 0.25)  # float32[2, 4] · second
    return f
"""
OTHER = SCALED.replace("na.tanh(d)", "na.sin(d)")


def test_equal_modules_are_one_class() -> None:
    assert (
        written(parsed(STACK), "torch")
        == """\
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(4, 4))

    def forward(self, x):
        return F.linear(x, self.weight) + x


class graph(nn.Sequential):
    def __init__(self):
        super().__init__(*[Block() for _ in range(3)])"""
    )


def test_modules_that_differ_in_a_number_are_one_class_with_a_setting() -> None:
    assert (
        model(parsed(SCALED), "torch")
        == """\
class graph(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = First(mul=0.5)
        self.second = First(mul=0.25)

    def forward(self, x):
        return self.second(self.first(x))"""
    )


def test_modules_of_other_functions_are_two_classes() -> None:
    text = written(parsed(OTHER), "torch")
    assert "self.first = First()" in text
    assert "self.second = Second()" in text


@pytest.mark.parametrize(
    ("style", "line"),
    [
        ("torch", "self.count = h.detach()"),
        ("jax", 'state["count"] = h'),
        ("nnx", "self.count[...] = h"),
        ("equinox", "state = state.set(self.count, h)"),
        ("tensorflow", "self.count.assign(h)"),
        ("numpy", 'state["count"] = h'),
    ],
)
def test_a_new_state_is_assigned_where_it_is_computed(style: str, line: str) -> None:
    text = """
def graph(x):  # float32[4]
    # s['count']: float32[4]
    a = na.add(s['count'], x)
    b = na.multiply(a, x)
    s = s.set('count', a)
    return b, s
"""
    assert line in [row.strip() for row in model(parsed(text), style).splitlines()]


# -- loops ------------------------------------------------------------------------------------


def value() -> Value:
    return Value((2,), "float32")


def uses(count: int, name: str = "layers") -> tuple[list[Any], Value]:
    """Calls of the modules of a list, each of the result of the one before; and the last result."""
    module, x = Module((), "", [], [], None, {}, {}), value()
    steps = []
    for i in range(count):
        y = value()
        steps.append(Use((name, str(i)), module, [x], [y]))
        x = y
    return steps, x


def looped(steps: list[Any], output: Any, *, is_same: bool = True) -> list[type]:
    items = with_loops(steps, output, lambda a, b: is_same, lambda name: False, has_slices=False)
    return [type(item) for item in items]


def test_successive_modules_of_a_list_are_a_loop() -> None:
    assert looped(*uses(3)) == [Loop]


def test_modules_that_are_called_in_other_ways_are_no_loop() -> None:
    assert looped(*uses(3), is_same=False) == [Use] * 3


def test_results_that_are_needed_later_are_no_loop() -> None:
    steps, last = uses(3)
    assert looped(steps, [last, steps[0].outputs[0]]) == [Use] * 3


# -- settings ---------------------------------------------------------------------------------


def test_settings_have_the_name_of_their_meaning() -> None:
    x = value()
    call = Call("torch.nn.functional.layer_norm", (x, (2,)), {"eps": 1e-6}, value())
    assert [*settings_of(call)] == [("layer_norm", (2,)), ("eps", 1e-6)]
    new = with_settings(call, iter([Setting("shape"), Setting("eps")]))
    assert isinstance(new, Call)
    assert (new.args, new.kwargs) == ((x, Setting("shape")), {"eps": Setting("eps")})


def test_sizes_of_split_features_are_heads_and_their_size() -> None:
    x, y = Value((2, 3, 8), "float32"), Value((2, 3, 4, 2), "float32")
    call = Call("method:reshape", (x, 2, 3, 4, 2), {}, y)
    assert [name for name, _ in settings_of(call)] == ["size", "size", "heads", "head_size"]


# -- ties -------------------------------------------------------------------------------------


def test_parameters_with_several_names_are_tied() -> None:
    names = {"embed.weight": ("v", "embed/weight"), "head.weight": ("v", "embed/weight")}
    several = names_by_path(names)
    assert several == {"embed/weight": ["embed.weight", "head.weight"]}
    variables = {"embed.weight": Value((3, 2), "float32", "v", "embed/weight")}
    ties = ties_of(variables, {}, several)
    assert ties == {"head.weight": "embed.weight"}
    assert [*statements(ties, variables)] == [
        "self.head = nn.Module()",
        "self.head.weight = self.embed.weight",
    ]
