"""Open sizes: one graph for all of them, equal to the torch module at each."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import nn
from torch.export import Dim

import nestarray as na
from nestarray import errors
from nestarray.graph import sizes
from nestarray.sizes import Condition, named
from tests import models
from tests.graph.agreement import host

BACKENDS = ("numpy", "jax", "torch", "tensorflow")


class Tagger(nn.Module):
    """Sizes as numbers, in shapes, in ranges, in a choice, among the outputs; nested inputs."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Linear(3, 4)

    def forward(self, x, extra=None):
        batch, length, _ = x.shape
        rows = self.embed(x).reshape(batch * length, 4)
        if length > 4:
            rows = rows + 1
        half = torch.ones(batch, length // 2 + 1)
        return {
            "rows": rows.view(batch, length, -1) * extra["weights"][0][..., None],
            "places": torch.arange(length),
            "half": half,
            "last": x[:, -1, : length - 3],
            "count": batch * 2,
        }


class ConvNet(nn.Module):
    """Images of any number and size."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, padding=1, stride=2)
        self.norm = nn.BatchNorm2d(4)
        self.pool = nn.AdaptiveAvgPool2d((2, 2))
        self.fc = nn.Linear(16, 3)

    def forward(self, x):
        x = torch.max_pool2d(torch.relu(self.norm(self.conv(x))), 2)
        return self.fc(self.pool(x).flatten(1))


def _encoder() -> nn.Module:
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    return nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)


def _sequence(batch: int, length: int) -> dict[str, torch.Tensor]:
    padding = torch.arange(length)[None] >= torch.tensor([[length - i % 2] for i in range(batch)])
    return {"src": torch.randn(batch, length, 8), "src_key_padding_mask": padding}


#: name → (network, inputs of sizes, dynamic, sizes of the trace, other sizes)
NETWORKS = {
    "mlp": (
        lambda: nn.Sequential(nn.Linear(3, 5), nn.GELU(), nn.Linear(5, 2)),
        lambda batch: {"input": torch.randn(batch, 3)},
        {"input": {0: "batch"}},
        (2,),
        [(1,), (3,), (7,)],
    ),
    "convolutions": (
        ConvNet,
        lambda batch, *size: {"x": torch.randn(batch, 1, *size)},
        {"x": {0: "batch", 2: "height", 3: "width"}},
        (2, 16, 16),
        [(1, 16, 24), (3, 17, 9), (2, 8, 8)],
    ),
    "encoder": (
        _encoder,
        _sequence,
        {
            "src": {0: "batch", 1: "length"},
            "src_key_padding_mask": {0: "batch", 1: "length"},
        },
        (2, 5),
        [(1, 5), (3, 9), (4, 2)],
    ),
}


#: JAX compiles each operation for each size, so one network in the default run is enough
_IN_DEFAULT = {("mlp", "jax"), ("convolutions", "tensorflow"), ("encoder", "numpy")}


@pytest.mark.parametrize(
    ("name", "backend"),
    [
        pytest.param(
            name, backend, marks=() if (name, backend) in _IN_DEFAULT else pytest.mark.full
        )
        for name in NETWORKS
        for backend in ("numpy", "jax", "tensorflow")
    ],
)
def test_one_graph_equals_the_network_at_all_sizes(name, backend):
    torch.manual_seed(0)
    make, inputs, dynamic, example, others = NETWORKS[name]
    net = make().eval()
    graph = na.trace_graph(net, dynamic=dynamic, **inputs(*example)).to_backend(backend)
    for other in others:
        kwargs = inputs(*other)
        got = graph(**na.Container(kwargs).to_backend(backend).to_dict())
        with torch.no_grad():
            expected = net(**kwargs).numpy()
        np.testing.assert_allclose(na.to_backend(got, "numpy"), expected, rtol=1e-4, atol=1e-5)
        report = graph.verify(**kwargs)
        assert report.ok, str(report)
        assert len(report.gradients) == len(graph.v.leaves())


def _words(name: str, batch: int, length: int) -> dict[str, torch.Tensor]:
    ids = torch.randint(0, 50, (batch, length), generator=torch.Generator().manual_seed(length))
    mask = torch.ones(batch, length, dtype=torch.int64)
    mask[-1, length - 1 :] = 0  # padding at the end of the last text
    return {"input_ids": ids, "attention_mask": mask}


@pytest.mark.parametrize(
    ("name", "backend"),
    [
        pytest.param(
            name, backend, marks=() if (name, backend) == ("bert", "numpy") else pytest.mark.full
        )
        for name in ("bert", "gpt2")
        for backend in ("numpy", "jax", "tensorflow")
    ],
)
def test_a_language_model_takes_batches_and_texts_of_all_sizes(name, backend):
    net, _ = models.build(name)
    both = {0: "batch", 1: "length"}
    graph = na.trace_graph(
        net, dynamic={"input_ids": both, "attention_mask": both}, **_words(name, 2, 6)
    ).to_backend(backend)
    for other in ((1, 6), (3, 9), (2, 4)):
        report = graph.verify(**_words(name, *other))
        assert report.ok, str(report)
        assert len(report.gradients) == len(graph.v.leaves())


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    torch.manual_seed(0)
    return Tagger().eval()


def _tagged(batch: int, length: int) -> tuple[torch.Tensor, dict]:
    return torch.randn(batch, length, 3), {"weights": [torch.randn(batch, length)]}


@pytest.fixture(scope="module")
def graph(tagger):
    x, extra = _tagged(2, 6)
    names = {0: "batch", 1: "length"}
    return na.trace_graph(
        tagger, x, extra=extra, dynamic={"x": names, "extra": {"weights": [names]}}
    )


@pytest.mark.parametrize("backend", BACKENDS)
def test_sizes_are_numbers_of_the_call(graph, tagger, backend):
    moved = graph.to_backend(backend)
    for batch, length in ((1, 5), (3, 8)):
        x, extra = _tagged(batch, length)
        got = moved(na.to_backend(x, backend), extra=na.Container(extra).to_backend(backend))
        expected = tagger(x, extra)
        assert got["count"] == expected.pop("count")
        for name, want in expected.items():
            host = na.to_backend(got[name], "numpy")
            np.testing.assert_allclose(host, want.detach().numpy(), rtol=1e-5, atol=1e-6)


def test_the_program_computes_with_sizes_as_python_does(graph):
    text = str(graph)
    assert "    length = torch.Tensor.size(x, dim=1)\n" in text
    assert " = batch * length\n" in text
    assert "# float32[batch * length, 4]" in text
    assert [str(node.aval) for node in graph.inputs] == [
        "float32[batch, length, 3]", "float32[batch, length]",
    ]  # fmt: skip
    assert graph.sizes == sizes.Sizes(
        {"batch": (0, None), "length": (5, None)}, (Condition(named("length"), ">", 4),)
    )
    namespace: dict = {}
    exec(text, namespace)
    x, extra = _tagged(3, 7)
    moved = graph.to_backend("torch")
    variables = {"v": moved.v, "s": moved.s, "constants": moved.constants}
    out = namespace["graph"](x, extra["weights"][0], **variables)
    torch.testing.assert_close(out["rows"], moved(x, extra=extra)["rows"])


def test_everything_that_can_be_open(tagger):
    x, extra = _tagged(2, 6)
    graph = na.trace_graph(tagger, x, extra=extra, dynamic=True)
    assert [str(node.aval) for node in graph.inputs] == [
        "float32[x_0, x_1, 3]", "float32[x_0, x_1]",
    ]  # fmt: skip
    x, extra = _tagged(3, 9)
    assert graph.verify(x, extra=extra).ok


def test_a_module_of_open_sizes_trains_at_all_of_them():
    torch.manual_seed(0)
    net = ConvNet()
    module = na.to_module(net, torch.randn(4, 1, 8, 8), dynamic={"x": {0: "batch"}})
    moved = module.to_backend("jax")
    for batch in (2, 5):
        x = torch.randn(batch, 1, 8, 8)
        assert module.verify(x, train=True).ok
        out, s = moved(na.to_backend(x, "jax"), v=moved.v, s=moved.s, train=True)
        expected = ConvNet()
        expected.load_state_dict(net.state_dict())
        torch.testing.assert_close(torch.tensor(np.asarray(out)), expected.train()(x).detach())
        mean = expected.norm.running_mean.numpy()
        np.testing.assert_allclose(s["norm/running_mean"], mean, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("backend", ["jax", "tensorflow", "torch"])
def test_compiled_for_each_size(backend):
    graph = na.trace_graph(
        nn.Linear(3, 2), torch.randn(2, 3), dynamic={"input": {0: "batch"}}
    ).to_backend(backend)
    options = {"backend": "aot_eager"} if backend == "torch" else {}
    x = [na.to_backend(np.ones((n, 3), "float32"), backend) for n in (2, 5)]
    compiled = graph.compile(**options)
    for value in x:
        host = [np.asarray(na.to_backend(f(value), "numpy")) for f in (compiled, graph)]
        np.testing.assert_allclose(*host, rtol=1e-6)
    strict = graph.compile(new_shapes="raise", **options)
    strict(x[0])
    strict(x[0])
    with pytest.raises(
        errors.ShapeError,
        match="Linear: got batch = 5, compiled for batch = 2; say new_shapes='recompile' to compile",
    ):
        strict(x[1])
    with pytest.raises(errors.ArgumentError, match="compile: new_shapes: got 'ignore', expected"):
        graph.compile(new_shapes="ignore")


# -- checks of a call's sizes ----------------------------------------------------------------


def _message(error: type[Exception], call) -> str:
    with pytest.raises(error) as caught:
        call()
    return str(caught.value)


def test_sizes_that_do_not_fit(graph):
    x, extra = _tagged(2, 6)
    call = lambda x, w: _message(errors.ShapeError, lambda: graph(x, extra={"weights": [w]}))  # noqa: E731
    assert call(x, torch.ones(3, 6)) == (
        "Tagger: argument \"extra['weights'][0]\": batch (dimension 0) is 3, but 2 in dimension 0 of "
        "'x'; sizes of one name are equal"
    )
    assert call(torch.ones(2, 6, 4), extra["weights"][0]) == (
        "Tagger: argument 'x': got shape (2, 6, 4), the graph was traced with (batch, length, 3); only "
        "sizes with names may change"
    )
    assert call(torch.ones(2, 4, 3), torch.ones(2, 4)).startswith(
        "Tagger: got length = 4, but the model was traced for sizes with length > 4, on which its program "
        "depends: if length > 4: (test_dynamic.py:"
    )


def test_a_fixed_size_says_how_to_leave_it_open():
    graph = na.trace_graph(nn.Linear(3, 2), torch.ones(2, 3))
    message = _message(errors.ShapeError, lambda: graph(torch.ones(4, 3)))
    assert message == (
        "Linear: argument 'input': got shape (4, 3), the graph was traced with (2, 3); trace again "
        "with the new shape, or leave sizes open: na.trace_graph(..., dynamic=True), or with names, "
        "dynamic={'x': {0: 'batch'}}"
    )


class OfOneRow(nn.Module):
    """A choice by a size, which decides the program."""

    def forward(self, x):
        return x.sum() if x.shape[0] == 1 else x * 2


_ONE_ROW = (
    "return x.sum() if x.shape[0] == 1 else x * 2 "
    f"(test_dynamic.py:{OfOneRow.forward.__code__.co_firstlineno + 1})"
)


def test_a_choice_by_a_size_is_a_condition_of_the_graph():
    dynamic = {"x": {0: "batch"}}
    graph = na.trace_graph(OfOneRow(), torch.ones(4, 3), dynamic=dynamic)
    assert [*map(str, graph.sizes.conditions)] == ["batch != 1"]
    assert graph(torch.ones(7, 3)).shape == (7, 3)
    assert _message(errors.ShapeError, lambda: graph(torch.ones(1, 3))) == (
        "OfOneRow: got batch = 1, but the model was traced for sizes with batch != 1, on which its "
        f"program depends: {_ONE_ROW}; trace it with an example of these sizes"
    )


def test_a_choice_by_a_size_takes_the_course_of_an_example_of_one():
    graph = na.trace_graph(OfOneRow(), torch.ones(1, 3), dynamic={"x": {0: "batch"}})
    assert graph(torch.ones(1, 3)).shape == ()
    assert _message(errors.ShapeError, lambda: graph(torch.ones(2, 3))) == (
        "OfOneRow: got batch = 2, but the model was traced for sizes with batch == 1, on which its "
        f"program depends: {_ONE_ROW}; trace it with an example of these sizes"
    )


class Squeezed(nn.Module):
    """Dimensions of size 1 are dropped."""

    def forward(self, x):
        y = x.squeeze(0)
        return y.sum(-1) if y.ndim == 2 else y.sum(0)


def test_a_rank_that_depends_on_a_size_is_a_condition_too():
    graph = na.trace_graph(Squeezed(), torch.ones(4, 3), dynamic={"x": {0: "batch"}})
    assert [*map(str, graph.sizes.conditions)] == ["batch != 1"]


def test_an_example_of_one_whose_rank_depends_on_it_is_refused():
    with pytest.raises(
        errors.ConversionError,
        match=r"dynamic: the example has batch = 1, and the open program needs batch != 1: "
        r"test_dynamic\.py:\d+\. Leave the size out",
    ):
        na.trace_graph(Squeezed(), torch.ones(1, 3), dynamic={"x": {0: "batch"}})


class Attention(nn.Module):
    """Positions of an image attend to each other; the layer makes its tensors contiguous."""

    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, image):
        batch, channels, height, width = image.shape
        rows = image.flatten(2).transpose(1, 2).contiguous()
        out, _ = self.attention(rows, rows, rows)
        return image + out.transpose(1, 2).reshape(batch, channels, height, width)


class Decoder(nn.Module):
    """Attention that is causal for more than one token, as in transformers."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 8)

    def forward(self, tokens, mask=None):
        with torch.autocast("cpu", enabled=False):
            x = self.embed(tokens)[:, None]
        is_causal = x.shape[2] > 1 and mask is None
        if is_causal:
            x.mean()  # as of a mask: no result needs it
        x = nn.functional.scaled_dot_product_attention(x, x, x, mask, is_causal=is_causal)
        return x.squeeze(1)


class Written(nn.Module):
    """A mask for more than one token only."""

    def forward(self, x):
        scores = x @ x.mT
        if x.shape[1] > 1:
            length = x.shape[1]
            scores = scores + torch.full((length, length), -torch.inf).triu(1)
        return scores.softmax(-1) @ x


def _image(batch, length):
    return torch.randn(batch, 8, length, 3)


def _tokens(batch, length):
    return torch.randint(0, 20, (batch, length))


def _rows(batch, length):
    return torch.randn(batch, length, 4)


@pytest.mark.parametrize(
    ("network", "example", "axes"),
    [
        (Attention, _image, {"image": {0: "batch", 2: "length"}}),
        (Decoder, _tokens, {"tokens": {0: "batch", 1: "length"}}),
        (lambda: nn.LSTM(4, 6, batch_first=True), _rows, {"input": {0: "batch"}}),
    ],
    ids=["attention", "decoder", "lstm"],
)
@pytest.mark.parametrize("sizes", [(1, 1), (4, 6)], ids=str)
def test_open_sizes_include_one_whatever_the_example(network, example, axes, sizes):
    torch.manual_seed(0)
    net = network().eval()
    graph = na.trace_graph(net, example(*sizes), dynamic=axes)
    assert not graph.sizes.conditions
    (names,) = (set(axis.values()) for axis in axes.values())
    for batch in (1, 2, 5) if "batch" in names else sizes[:1]:
        for length in (1, 2, 7) if "length" in names else sizes[1:]:
            x = example(batch, length)
            expected, got = net(x), graph(x)
            if isinstance(got, (tuple, list)):
                expected, got = expected[0], got[0]
            torch.testing.assert_close(got, expected, rtol=1e-5, atol=1e-6)


def test_all_sizes_are_open_of_an_example_of_one():
    net = Attention().eval()
    graph = na.trace_graph(net, _image(1, 4), dynamic=True)
    x = _image(3, 1)
    torch.testing.assert_close(graph(x), net(x), rtol=1e-5, atol=1e-6)


class Shortened(nn.Module):
    """The last columns of a mask, as many as there are columns of x but at most nine."""

    def forward(self, x):
        return x + torch.ones(2, 9)[:, -x.shape[1] :].contiguous().sum()


def test_a_minimum_of_sizes_may_be_one():
    graph = na.trace_graph(Shortened(), torch.ones(2, 3), dynamic={"x": {1: "length"}})
    for length in (1, 2, 4):
        expected = torch.full((2, length), 2.0 * length)
        torch.testing.assert_close(graph(torch.zeros(2, length)), expected)


class OneOfTwo(nn.Module):
    """A choice by two sizes, which two of one answer as two larger ones do."""

    def forward(self, x, y):
        is_broadcast = x.shape[0] == 1
        if is_broadcast != (y.shape[0] == 1):
            return x.sum() + y.sum()
        return x.sum() - y.sum()


class Gated(nn.Module):
    """A part for more than one row, which its initial value hides."""

    def __init__(self):
        super().__init__()
        self.gate = nn.Parameter(torch.zeros(()))

    def forward(self, x):
        return x + self.gate * x.mean(0) if x.shape[0] > 1 else x


def test_a_choice_that_one_changes_stays_a_condition():
    graph = na.trace_graph(Gated(), torch.ones(4, 3), dynamic={"x": {0: "batch"}})
    assert [*map(str, graph.sizes.conditions)] == ["batch > 1"]
    pair = {"x": {0: "rows"}, "y": {0: "lines"}}
    graph = na.trace_graph(OneOfTwo(), torch.ones(3), torch.ones(4), dynamic=pair)
    with pytest.raises(errors.ShapeError, match=r"got rows = 1, but .* with rows != 1"):
        graph(torch.ones(1), torch.ones(2))


def test_an_open_size_that_can_only_be_one_is_refused():
    class Pair(nn.Module):
        def forward(self, x, y):
            return torch.cat([x, y], 1)

    with pytest.raises(
        errors.ConversionError, match=r"has batch = 1, and the open program needs batch == 1\."
    ):
        na.trace_graph(Pair(), torch.ones(1, 2), torch.ones(1, 2), dynamic={"x": {0: "batch"}})


class Contraction(nn.Module):
    """Three operands, for which torch asks opt_einsum for an order."""

    def forward(self, x):
        weights = torch.ones(x.shape[-1], 2, dtype=x.dtype)
        return torch.einsum("bi,ij,bi->bj", x, weights, x)


def test_the_order_of_a_contraction_leaves_sizes_open():
    assert torch.backends.opt_einsum.enabled
    graph = na.trace_graph(Contraction(), torch.ones(4, 3), dynamic={"x": {0: "batch"}})
    assert torch.backends.opt_einsum.enabled
    x = torch.arange(21.0).reshape(7, 3)
    torch.testing.assert_close(graph(x), Contraction()(x))


def test_ranges_and_multiples():
    half = Dim("half", max=8)
    net = nn.GLU(dim=0)
    graph = na.trace_graph(net, torch.ones(4, 3), dynamic={"input": {0: 2 * half}})
    assert str(graph.inputs[0].aval) == "float32[2 * half, 3]"
    x = torch.randn(6, 3)
    torch.testing.assert_close(graph(x), net(x))
    assert _message(errors.ShapeError, lambda: graph(torch.ones(5, 3))) == (
        "GLU: dimension 0 of 'input' is 5, expected a size that is 2 * half"
    )
    assert _message(errors.ShapeError, lambda: graph(torch.ones(20, 3))) == (
        "GLU: half (dimension 0 of 'input') is 10, expected from 2 to 8"
    )


# -- what dynamic= may say -------------------------------------------------------------------


class NeedsFour(nn.Module):
    """A model that holds the size of its input in a constant."""

    def forward(self, x, other=None, *, scale=1.0):
        return x + torch.zeros(4, 3)


_X = "trace_graph: dynamic"
_LINE = NeedsFour.forward.__code__.co_firstlineno + 1


@pytest.mark.parametrize(
    ("dynamic", "error", "message"),
    [
        (
            {"y": {0: "batch"}},
            errors.ArgumentError,
            f"{_X}: got 'y', which the example does not have; it has 'x', 'scale'",
        ),
        (
            {"x": {2: "batch"}},
            errors.ArgumentError,
            f"{_X}['x']: got the dimension 2, expected one of an array of shape (4, 3)",
        ),
        (
            {"x": {0: "a batch"}},
            errors.ArgumentError,
            f"{_X}['x'][0]: got the name 'a batch', expected one that is a Python name, such as 'batch'",
        ),
        (
            {"x": {0: 4}},
            errors.ArgumentError,
            f"{_X}['x'][0]: got 4, expected a name such as 'batch', a torch.export.Dim, or None for a "
            "fixed size",
        ),
        (
            {"x": "batch"},
            errors.ArgumentError,
            f"{_X}['x']: got 'batch', expected a mapping from dimensions to names, for example "
            '{0: "batch"}',
        ),
        (
            {"scale": {0: "batch"}},
            errors.ArgumentError,
            f"{_X}['scale']: the example is of type float, expected a tensor; numbers and strings are "
            "part of the program",
        ),
        (
            "x",
            errors.ArgumentError,
            f"{_X}: got 'x', expected a mapping from 'x', 'scale', for example "
            '{"x": {0: "batch"}}, or True',
        ),
        (
            {"x": {0: "n", 1: "n"}},
            errors.ShapeError,
            f"{_X}: 'n' is 4 in dimension 0 of 'x' and 3 in dimension 1 of 'x' of the example; sizes "
            "of one name are equal",
        ),
        (
            {"x": {0: "batch"}},
            errors.ConversionError,
            "trace_graph: torch.export cannot export NeedsFour: UserError: You marked batch (dimension "
            "0 of 'x') as dynamic but your code specialized it to be a constant (4): return x + "
            f"torch.zeros(4, 3) (test_dynamic.py:{_LINE}). A size on which the model depends in this way "
            "stays out of dynamic=, or gets a torch.export.Dim with the range that it has; len(x) and "
            "int() make numbers of sizes, x.shape[0] stays open",
        ),
    ],
)  # fmt: skip
def test_errors_of_dynamic(dynamic, error, message):
    call = lambda: na.trace_graph(NeedsFour(), torch.ones(4, 3), scale=2.0, dynamic=dynamic)  # noqa: E731
    assert _message(error, call) == message


def test_an_example_serves_again_after_a_size_that_cannot_be_open():
    x = torch.ones(4, 3)
    with pytest.raises(errors.ConversionError, match="specialized it to be a constant"):
        na.trace_graph(NeedsFour(), x, scale=2.0, dynamic={"x": {0: "batch"}})
    assert na.trace_graph(NeedsFour(), x, scale=2.0).verify().ok


def test_two_names_for_one_size():
    class Add(nn.Module):
        def forward(self, x, y):
            return x + y

    assert _message(
        errors.ConversionError,
        lambda: na.trace_graph(
            Add(), torch.ones(4), torch.ones(4), dynamic={"x": {0: "rows"}, "y": {0: "lines"}}
        ),
    ) == (
        "trace_graph: dynamic: 'rows' and 'lines' are one size in this model, whose operations need "
        "them to be equal; give them one name"
    )


# -- numbers of elements ------------------------------------------------------------------


class Part(nn.Module):
    """The first elements of an axis, as many as a function of its size says."""

    def __init__(self, count):
        super().__init__()
        self.count = count

    def forward(self, x):
        return x[:, : self.count(x.shape[1])] * self.count(x.shape[1])


@pytest.mark.parametrize(
    "count",
    [
        lambda n: round(n / 3),
        lambda n: round(n / 2),
        lambda n: math.floor(n * 0.3),
        lambda n: math.ceil(n / 3),
        lambda n: math.trunc(n / 3),
        lambda n: min(5, round(n**0.5)),
        lambda n: abs(math.floor(-n / 3)),
        lambda n: n >> 1,
    ],
    ids=["round", "ties", "floor", "ceil", "trunc", "root", "abs", "shift"],
)
def test_rounded_sizes(count):
    graph = na.trace_graph(Part(count), torch.ones(2, 9), dynamic={"x": {1: "n"}})
    for backend in BACKENDS:
        moved = graph.to_backend(backend)
        for n in (4, 7, 10, 15, 16):
            x = torch.arange(2.0 * n).reshape(2, n)
            np.testing.assert_array_equal(host(moved(na.to_backend(x, backend))), Part(count)(x))


@pytest.mark.parametrize("sign", [1, -1])
def test_a_size_that_int_makes_a_number_is_a_condition(sign):
    graph = na.trace_graph(
        Part(lambda n: abs(int(sign * n / 3))), torch.ones(2, 9), dynamic={"x": {1: "n"}}
    )
    assert graph(torch.ones(2, 11)).shape == (2, 3)
    with pytest.raises(errors.ShapeError, match=r"== -?3"):
        graph(torch.ones(2, 7))
