"""Operations of torch that stay in torch inside of a graph on another framework."""

from __future__ import annotations

import pickle
import re

import numpy as np
import pytest
import torch
from torch import nn

import nestarray as na
from nestarray import errors
from nestarray.testing import assert_close
from tests.graph.networks import WithoutFrontend, cubed

BACKENDS = ["numpy", "torch", "jax", "tensorflow"]


@torch.library.custom_op("nestarray_tests::taken", mutates_args=())
def taken(
    tables: list[torch.Tensor], ids: torch.Tensor, *, scale: float = 1.0
) -> tuple[torch.Tensor, torch.Tensor]:
    """Rows of a table times another, and the numbers of the next rows: lists and integers."""
    torch._assert(ids.dtype is torch.int64, "as torch.gather, it takes 64-bit numbers only")
    return tables[0][ids] * tables[1] * scale, ids + 1


@taken.register_fake
def _(tables, ids, *, scale=1.0):
    return torch.empty_like(tables[1]), torch.empty_like(ids)


def _save(ctx, inputs, keyword_only_inputs, output):
    ctx.save_for_backward(*inputs[0], inputs[1])
    ctx.scale = keyword_only_inputs["scale"]


def _pull(ctx, g, _):
    table, other, ids = ctx.saved_tensors
    rows = torch.zeros_like(table).index_add(0, ids, g * other * ctx.scale)
    return [rows, table[ids] * g * ctx.scale], None


taken.register_autograd(_pull, setup_context=_save)


class Taking(nn.Module):
    """Two tables, of which the ids take rows."""

    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.randn(5, 3))
        self.other = nn.Parameter(torch.randn(4, 3))

    def forward(self, ids):
        rows, following = taken([self.table, self.other], ids, scale=2.0)
        return rows, following


@torch.library.custom_op("nestarray_tests::rounded", mutates_args=())
def rounded(x: torch.Tensor) -> torch.Tensor:
    """An operation without a derivative."""
    return torch.round(x)


@rounded.register_fake
def _(x):
    return torch.empty_like(x)


def between_layers():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(2, 3), WithoutFrontend(), nn.Dropout(0.5), nn.Linear(3, 2))


@pytest.fixture(scope="module")
def graphs():
    torch.manual_seed(0)
    ids = torch.tensor([0, 4, 4, 1])
    return {
        "layers": na.trace_graph(between_layers(), torch.randn(4, 2), islands=True),
        "lists": na.trace_graph(Taking(), ids, islands=True),
    }


@pytest.mark.parametrize("which", ["layers", "lists"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_values_gradients_and_compiled_values_are_torchs(graphs, which, backend):
    graph = graphs[which].to_backend(backend)
    report = graph.verify(samples=1)
    assert report.ok, str(report)
    assert len(report.gradients) == len(graph.v.leaves())
    options = {"backend": "aot_eager"} if backend == "torch" else {}
    inputs = [na.to_backend(x, backend) for x in graph.reference.args]
    assert_close(graph.compile(**options)(*inputs), graph(*inputs))


@pytest.mark.parametrize("backend", BACKENDS)
def test_derivatives_of_first_and_second_order_also_compiled(backend):
    x = torch.tensor([1.0, 2.0, 3.0])

    def fn(x):
        return na.sum(na.graph.island("nestarray_tests::cubed", na.sin(x), 2.0))

    def curvature(x):
        return na.grad(lambda x: na.sum(na.grad(fn)(x) ** 2))(x)

    given = x.clone().requires_grad_()
    (first,) = torch.autograd.grad(cubed(torch.sin(given), 2.0).sum(), given, create_graph=True)
    (second,) = torch.autograd.grad((first**2).sum(), given)
    there = na.to_backend(x, backend)
    want = na.to_backend(first.detach(), backend), na.to_backend(second, backend)
    assert_close(na.grad(fn)(there), want[0])
    assert_close(curvature(there), want[1])
    if backend in ("jax", "tensorflow"):
        assert_close(na.jit(na.grad(fn))(there), want[0])
        assert_close(na.jit(curvature)(there), want[1])


@pytest.mark.parametrize("backend", ["numpy", "jax", "tensorflow"])
def test_under_vmap_it_is_called_for_each_row(backend):
    x = na.to_backend(torch.arange(6.0).reshape(2, 3), backend)
    rows = na.vmap(lambda row: na.graph.island("nestarray_tests::cubed", row))(x)
    assert_close(rows, x**3)


@pytest.mark.parametrize("backend", BACKENDS)
def test_half_precision_and_complex_numbers_go_there_and_back(backend):
    for dtype in (torch.bfloat16, torch.complex64):
        x = torch.tensor([1.0, -2.0]).to(dtype)
        found = na.graph.island("nestarray_tests::cubed", na.to_backend(x, backend), 2.0)
        assert_close(na.to_backend(found, "torch"), cubed(x, 2.0))


def test_it_prints_pickles_and_lowers_under_its_name(graphs):
    text = str(graphs["layers"])
    assert "cubed = na.graph.island('nestarray_tests::cubed', linear, 2.0)" in text
    assert (
        "na.graph.island('nestarray_tests::taken', [v['table'], v['other']], ids, scale=2.0, "
        "takes=(na.float32, na.float32, na.int64))"
    ) in str(graphs["lists"])
    lowered = graphs["layers"].lower()
    assert "na.graph.island('nestarray_tests::cubed', linear, 2.0)" in str(lowered)
    assert "torch." not in str(lowered)
    x = np.ones((4, 2), "float32")
    graph = graphs["layers"].to_backend("numpy")
    assert_close(pickle.loads(pickle.dumps(graph))(x), graph(x))


def test_sizes_that_were_left_open():
    net = between_layers().eval()
    graph = na.trace_graph(
        net, torch.ones(4, 2), islands=True, dynamic={"input": {0: "batch"}}
    ).to_backend("jax")
    for rows in (3, 7):
        x = torch.randn(rows, 2)
        assert_close(
            graph.compile()(na.to_backend(x, "jax")), na.to_backend(net(x).detach(), "jax")
        )


def test_in_training_on_another_backend():
    module = na.to_module(between_layers(), torch.randn(4, 2), islands=True).to_backend("jax")
    report = module.verify(train=True)
    assert report.ok, str(report)
    assert report.train


def test_a_large_array_reaches_the_host_of_a_compiled_program():
    x = na.to_backend(torch.ones(1 << 22), "jax")
    fn = na.jit(lambda x: na.graph.island("nestarray_tests::cubed", x + 1))
    assert float(na.sum(fn(x) == 8.0)) == 1 << 22


def test_an_operation_without_a_derivative():
    for backend in BACKENDS[:1] + BACKENDS[2:]:
        x = na.to_backend(torch.ones(2), backend)
        fn = lambda x: na.sum(na.graph.island("nestarray_tests::rounded", x))  # noqa: E731
        with pytest.raises(
            errors.UnsupportedError,
            match=r"island: nestarray_tests::rounded has no derivative in torch \(.*"
            r"\); give it one with torch\.library\.register_autograd",
        ):
            na.grad(fn)(x)


def test_an_operation_that_nobody_has_registered():
    with pytest.raises(
        errors.MissingOpError,
        match="island: torch has no operation 'nobody::knows'; import the package that registers",
    ):
        na.graph.island("nobody::knows", np.ones(2))


def test_a_shape_that_depends_on_values():
    x = np.asarray([0.0, 1.0, 2.0], "float32")
    found = na.graph.island("aten::nonzero", x)
    assert found.tolist() == [[1], [2]]
    with pytest.raises(
        errors.UnsupportedError,
        match="the shape of the result of aten::nonzero depends on values, which a compiled "
        "program cannot have; call the graph without compiling it",
    ):
        na.jit(lambda x: na.graph.island("aten::nonzero", x))(na.to_backend(x, "jax"))


class _Drawing(nn.Module):
    def forward(self, x):
        y = torch.ops.nestarray_tests.drawn(x)
        torch.ops.nestarray_tests.doubled_in_place(y)
        return y


@torch.library.custom_op(
    "nestarray_tests::drawn", mutates_args=(), tags=(torch.Tag.nondeterministic_seeded,)
)
def drawn(x: torch.Tensor) -> torch.Tensor:
    """Noise from torch's own generator."""
    return x + torch.randn_like(x)


@drawn.register_fake
def _(x):
    return torch.empty_like(x)


@torch.library.custom_op("nestarray_tests::doubled_in_place", mutates_args=("x",))
def doubled_in_place(x: torch.Tensor) -> None:
    """An operation that writes."""
    x.mul_(2)


def test_what_cannot_be_an_island_says_why():
    with pytest.raises(errors.MissingOpError) as caught:
        na.trace_graph(_Drawing(), torch.ones(2), islands=True)
    message = str(caught.value)
    assert "uses 2 operation(s) that nestarray.frontends.torch does not have" in message
    assert re.search(
        r"drawn\.default \(test_islands\.py:\d+\): there is no function of that name; "
        r"no island: it draws random numbers from torch's own generator",
        message,
    )
    assert re.search(
        r"doubled_in_place\.default \(test_islands\.py:\d+\): there is no function of that name; "
        r"no island: it writes into its arguments; register one that returns the new values",
        message,
    )
