"""Side effects, inputs, outputs and wrappers of modules."""

from __future__ import annotations

import copy
import dataclasses
import enum
import functools
import io
from collections import namedtuple

import numpy as np
import pytest
import torch
from torch import nn

import nestarray as na
from nestarray import errors
from tests.graph.agreement import BACKENDS, assert_agrees, host

Pair = namedtuple("Pair", "first second")
Color = enum.Enum("Color", "RED BLUE")


@dataclasses.dataclass
class Result:
    """An output with fields of several kinds."""

    main: torch.Tensor
    parts: list
    inner: Result | None = None
    count: int = 3


@pytest.fixture(scope="module")
def x() -> torch.Tensor:
    return torch.randn(4, 3, generator=torch.Generator().manual_seed(0))


class Layer(nn.Module):
    """A module whose ``forward`` is a function of itself."""

    def __init__(self, forward, **parts) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.fc = nn.Linear(3, 3)
        self.function = forward
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, *args, **kwargs):
        return self.function(self, *args, **kwargs)


# -- writes ---------------------------------------------------------------------------------


def _writes_through_views(self, x):
    y = torch.tanh(self.fc(x))
    rows = y.clone()
    rows[:, 0] = y[:, 1]
    rows.t()[2].mul_(2)
    rows[1].add_(1)
    out = torch.zeros(2, 4, 3)
    out[0].copy_(rows)
    out[1, 1:] = y[:3]
    return nn.functional.relu(out, inplace=True), rows


class Counter(nn.Module):
    """Writes into its buffers whenever it is called."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))
        self.register_buffer("cache", torch.zeros(2, 3))

    def forward(self, x):
        self.calls += 1
        self.cache = torch.cat([self.cache[1:], x.mean(0, keepdim=True)])
        return self.fc(x) * self.calls + self.cache.sum(0)


def test_writes_through_views(x):
    graph = assert_agrees(Layer(_writes_through_views), x)
    assert graph.verify().ok


@pytest.mark.parametrize("backend", BACKENDS)
def test_buffers_written_in_evaluation_are_returned(x, backend):
    net = Counter().eval()
    graph = na.trace_graph(copy.deepcopy(net), x).to_backend(backend)
    s, given = graph.s, na.to_backend(x, backend)
    for _ in range(3):
        out, s = graph(given, s=s)
        np.testing.assert_allclose(host(out), host(net(x)), rtol=1e-5)
    assert int(host(s["calls"])) == 3
    np.testing.assert_allclose(host(s["cache"]), host(net.cache), rtol=1e-5)
    assert int(host(graph.s["calls"])) == 0
    assert graph.verify().ok


def test_a_module_of_a_graph_returns_its_output_alone_in_evaluation(x):
    module = na.to_module(Counter(), x)
    np.testing.assert_array_equal(host(module(x)), host(module.graph(x)[0]))


def test_state_that_is_written_is_not_folded(x):
    graph = na.trace_graph(Counter(), x).to_backend("numpy")
    out, s = graph.optimize()(x.numpy())
    expected, state = graph(x.numpy())
    np.testing.assert_allclose(out, expected, rtol=1e-6)
    np.testing.assert_array_equal(s["calls"], state["calls"])


class Teacher(nn.Module):
    """A layer and its moving average, as in self-supervised learning."""

    def __init__(self, follow):
        super().__init__()
        torch.manual_seed(0)
        self.fc, self.slow, self.follow = nn.Linear(3, 3), nn.Linear(3, 3), follow
        self.slow.requires_grad_(False)

    def forward(self, x):
        if self.training:
            with torch.no_grad():
                for fast, slow in zip(self.fc.parameters(), self.slow.parameters(), strict=True):
                    self.follow(fast, slow)
        return (self.fc(x) - self.slow(x)).square().mean()


def followed_in_place(fast, slow):
    slow.mul_(0.9).add_(fast, alpha=0.1)


def followed_by_assignment(fast, slow):
    slow.data = slow.data * 0.9 + fast.data * 0.1


@pytest.mark.parametrize("follow", [followed_in_place, followed_by_assignment])
def test_a_parameter_that_follows_others_is_state(x, follow):
    net = Teacher(follow)
    graph = na.trace_graph(net, x, train=True)
    assert graph.verify().ok
    graph = graph.to_backend("numpy")
    s = graph.s
    for _ in range(2):
        loss, s = graph(x.numpy(), s=s)
        np.testing.assert_allclose(loss, net.train()(x).detach(), rtol=1e-5)
    other = Teacher(follow)
    other.load_state_dict(graph.to_torch_state_dict(s=s))
    torch.testing.assert_close(other.slow.weight, net.slow.weight)
    evaluated = na.trace_graph(Teacher(follow), x).to_backend("numpy")
    expected = net.eval()(x).detach()
    np.testing.assert_allclose(evaluated(x.numpy(), v=graph.v, s=s), expected, rtol=1e-5)
    with pytest.raises(errors.StructureError, match="v has no 'slow/weight'"):
        evaluated(x.numpy(), v=graph.v)


def test_data_of_another_shape_is_refused(x):
    def forward(self, x):
        self.fc.bias.data = x
        return self.fc(x)

    text = r"Layer assigns float32\[4, 3\] to \.data of float32\[3\]; a graph keeps shapes"
    with pytest.raises(errors.ConversionError, match=text):
        na.trace_graph(Layer(forward), x)


def test_writes_into_arguments_are_refused_with_their_line(x):
    def writes_argument(self, images):
        images.mul_(2)
        return self.fc(images)

    with pytest.raises(
        errors.ConversionError,
        match=r"Layer writes into its argument 'x' \(test_corner_cases\.py:\d+\), and a graph "
        r"changes no array; write into a copy, x = x\.clone\(\), and return what the "
        r"caller needs of it",
    ):
        na.trace_graph(Layer(writes_argument), x.clone())
    first = nn.Sequential(nn.ReLU(inplace=True), nn.Linear(3, 3))
    with pytest.raises(errors.ConversionError, match=r"argument 'input' \(0, activation\.py:\d+\)"):
        na.trace_graph(first, x.clone())


class Shared(nn.Module):
    """A buffer with a second name for a part of it."""

    def __init__(self, part):
        super().__init__()
        self.register_buffer("h", torch.ones(4))
        self.register_buffer("k", self.h[part])

    def forward(self, x):
        self.h.add_(1)
        return x * self.k


def test_writes_into_memory_of_two_buffers_are_refused():
    text = (
        r"Shared writes into 'h' \(test_corner_cases\.py:\d+, aten\.add_\.Tensor\), which shares its "
        r"memory with 'k'; make one of them a copy, or compute it in forward"
    )
    with pytest.raises(errors.ConversionError, match=text):
        na.trace_graph(Shared(slice(1, None)), torch.ones(3))


# -- arguments and outputs ------------------------------------------------------------------


def test_outputs_of_all_kinds(x):
    def forward(self, x):
        y = self.fc(x)
        return {
            "pair": Pair(y, x * 2),
            "result": Result(y + 1, [x, (y,)], Result(y * 2, [])),
            3: [None, "text", 2.5, True, x.shape[0]],
            "twice": (y, y),
            "weight": self.fc.weight,
            "given": x,
        }

    graph = assert_agrees(Layer(forward), x)
    out = graph(x)
    assert out["result/count"] == 3
    assert out["result/inner/inner"] is None


def test_arguments_with_one_tensor_are_separate(x):
    layer = nn.Linear(4, 4)
    cases = (
        (lambda a, b: a.sin() * b, x, x),
        (lambda pair: pair[0].sin() * pair[1], [x, x]),
        (functools.partial(torch.func.jvp, torch.sin), (x,), (x,)),
        (layer, layer.weight),
    )
    for function, *example in cases:
        graph = na.trace_graph(function, *example)
        assert len(graph.inputs) == len(na.tree.leaves(example))
        report = graph.verify()
        assert report.ok, str(report)


def test_arguments_of_all_kinds(x):
    def forward(self, first, *rest, flag, mode="sum", scale=1.5, tree=None, **more):
        y = self.fc(first)
        for other in rest:
            y = y + other
        y = y * tree["a"][0] + tree["b"]["c"].second
        y = y * more["factor"] if mode == "sum" and flag else -y
        return y[: int(scale)]

    tree = {"a": [x, None], "b": {"c": Pair(1, x + 1)}}
    graph = assert_agrees(
        Layer(forward), x, x, x + 2, flag=True, mode="sum", scale=3.5, tree=tree, factor=x
    )
    with pytest.raises(errors.ArgumentError, match="argument 'flag': got False, but the graph was"):
        graph(x, x, x, flag=False, tree=tree, factor=x)


@pytest.mark.parametrize(
    ("value", "kind"), [(torch.float64, "torch.dtype"), (Result(torch.ones(2), []), "Result")]
)
def test_arguments_that_the_exporter_does_not_know(x, value, kind):
    with pytest.raises(errors.ConversionError) as caught:
        na.trace_graph(Layer(lambda self, x, other: self.fc(x)), x, value)
    message = str(caught.value)
    assert "Unsupported input type" in message
    assert kind in message
    assert message.endswith(
        "register a dataclass once with torch.export.register_dataclass(cls), and make whatever "
        "else is a setting an attribute of the module"
    )


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda x: (Layer(lambda self, x: self.fc(x)), x.numpy()),
            r'Give torch tensors as examples: na\.to_backend\(x, "torch"\)$',
        ),
        (
            lambda x: (Layer(lambda self, x: self.fc(x)), na.to_backend(x, "jax")),
            r'Give torch tensors as examples: na\.to_backend\(x, "torch"\)$',
        ),
        (
            lambda x: (nn.Linear(3, 3), x.to("meta")),
            r"Bring the module and its arguments to one device: net\.to\(x\.device\)$",
        ),
        (
            lambda x: (nn.LazyLinear(3), x),
            r"Call the module once, so that its lazy layers have shapes$",
        ),
    ],
)
def test_what_the_exporter_refuses_comes_with_what_to_do(x, make, text):
    with pytest.raises(errors.ConversionError, match=text):
        na.trace_graph(*make(x))


# -- wrappers and hooks ---------------------------------------------------------------------


def test_wrappers_come_off(x):
    net = nn.Sequential(nn.Linear(3, 3), nn.Tanh())
    expected = str(na.trace_graph(net, x))
    compiled = torch.compile(net, backend="eager")
    for wrapped in (compiled, nn.DataParallel(net), nn.DataParallel(compiled)):
        graph = na.trace_graph(wrapped, x)
        assert graph.v.paths() == ("0/weight", "0/bias")
        assert str(graph) == expected


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_recorded_modules_work_and_scripted_submodules_are_refused(x):
    net = nn.Sequential(nn.Linear(3, 3), nn.Tanh())
    graph = na.trace_graph(torch.jit.trace(net, x), x)
    np.testing.assert_allclose(host(graph(x)), host(net(x)), rtol=1e-6)
    text = (
        r"trace_graph: module '1' of Sequential is compiled by torch\.jit\.script, which "
        r"torch\.export does not read inside of other modules; script the whole module, or give "
        r"the Python module that was scripted, with the weights of its state_dict\(\)"
    )
    with pytest.raises(errors.ConversionError, match=text):
        na.trace_graph(nn.Sequential(nn.Linear(3, 3), torch.jit.script(nn.Linear(3, 3))), x)


class Looped(nn.Module):
    """Control flow of Python, a default argument and a dictionary."""

    def __init__(self) -> None:
        super().__init__()
        self.fc, self.norm, self.steps = nn.Linear(3, 3), nn.BatchNorm1d(3), 2

    def forward(self, x: torch.Tensor, scale: float = 2.0):
        for _ in range(self.steps):
            x = torch.relu(self.norm(self.fc(x))) + x
        if x.shape[0] > 2:
            x = x * scale
        return x, {"rows": x + 1}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("is_loaded", [False, True], ids=["scripted", "loaded"])
@pytest.mark.parametrize("train", [False, True], ids=["eval", "train"])
@pytest.mark.parametrize("make", [lambda: nn.Linear(3, 3), Looped], ids=["layer", "looped"])
def test_scripted_modules(x, make, train, is_loaded):
    torch.manual_seed(0)
    scripted = torch.jit.script(make())
    if is_loaded:
        file = io.BytesIO()
        torch.jit.save(scripted, file)
        file.seek(0)
        scripted = torch.jit.load(file)
    for _ in range(3):  # torch optimizes a script after some calls
        scripted.eval()(x)
    before = copy.deepcopy(scripted.train().state_dict())
    graph = na.trace_graph(scripted, x, train=train)
    for backend in ("torch", "jax"):
        report = graph.to_backend(backend).verify()
        assert report.ok, str(report)
        assert report.export
    assert graph.name == make().__class__.__name__
    state = graph.to_torch_state_dict()
    assert scripted.training
    assert {*state} == {*before} == {*scripted.state_dict()}
    assert all(torch.equal(before[n], y) for n, y in scripted.state_dict().items())


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_scripted_layers_with_overloads_are_refused(x):
    with pytest.raises(errors.ConversionError, match="scripted LSTM has overloads"):
        na.trace_graph(torch.jit.script(nn.LSTM(3, 4)), x)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_scripted_and_recorded_functions_work(x):
    def double(x: torch.Tensor) -> torch.Tensor:
        for _ in range(2):
            x = torch.relu(x) + x
        return x * 2

    for function in (torch.jit.script(double), torch.jit.trace(double, x)):
        graph = na.trace_graph(function, x).to_backend("jax")
        np.testing.assert_allclose(host(graph(na.to_backend(x, "jax"))), host(double(x)), rtol=1e-6)


def test_forward_hooks_run_and_backward_hooks_are_refused(x):
    net = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
    net[0].register_forward_hook(lambda module, args, out: out * 2)
    net.register_forward_pre_hook(lambda module, args: (args[0] + 1,))
    net.register_forward_hook(lambda module, args, kwargs, out: out + 3, with_kwargs=True)
    assert_agrees(net, x)
    handle = net[0].register_full_backward_hook(lambda module, got, out: None)
    text = (
        r"trace_graph: module '0' of Sequential has a backward hook, which a graph does not run; "
        r"remove it \(handle\.remove\(\)\), and change gradients where they are used"
    )
    with pytest.raises(errors.ConversionError, match=text):
        na.trace_graph(net, x)
    handle.remove()
    net[0].weight.register_hook(lambda g: g * 2)
    with pytest.raises(
        errors.ConversionError, match=r"parameter '0\.weight' of Sequential has a h"
    ):
        na.trace_graph(net, x)


# -- shapes without values ------------------------------------------------------------------


def test_a_graph_of_shapes_takes_its_variables_at_the_call(x):
    def make() -> nn.Module:
        return nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))

    with torch.device("meta"):
        graph = na.trace_graph(make(), torch.empty(4, 3))
        with pytest.raises(
            errors.ConversionError, match="to_module: Sequential is on the meta dev"
        ):
            na.to_module(make(), torch.empty(4, 3))
    net = make().eval()
    net(x)
    own = na.trace_graph(net, x)
    for backend in BACKENDS:
        moved = graph.to_backend(backend)
        v, s, given = (
            own.v.to_backend(backend),
            own.s.to_backend(backend),
            na.to_backend(x, backend),
        )
        np.testing.assert_allclose(host(moved(given, v=v, s=s)), host(net(x)), rtol=1e-5, atol=1e-6)
        text = (
            "Sequential: v: this graph was traced on the meta device and has shapes only; pass v=, "
            "a Container with the keys of graph.v"
        )
        with pytest.raises(errors.ArgumentError, match=text):
            moved(given)
        with pytest.raises(errors.ArgumentError, match="Sequential: s: this graph was traced on"):
            moved(given, v=v)
    assert graph.v["0/weight"].shape == (3, 3)
    with pytest.raises(errors.ConversionError, match="traced on the meta device and has no values"):
        graph.verify()
