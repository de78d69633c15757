"""Programs that show the behaviours of torch which workarounds repair.

Each function uses torch only, and raises an error while torch has the behaviour.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx.experimental.proxy_tensor import make_fx
from torch.nn import functional as F
from torch.nn.utils import rnn

from nestarray.errors import Refused
from nestarray.errors.foreign import foreign


def _exported(forward: Any, *args: Any, parts: Any = (), shapes: Any = None) -> Any:
    """A module or function, exported and decomposed; callable.

    Args:
        forward: the module or function.
        *args: example tensors.
        parts: modules that the function calls.
        shapes: the open axes of each tensor: ``({0: Dim.DYNAMIC}, ...)``.
    """
    import torch.fx.experimental._config as settings

    class Adapter(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.source, self.parts = forward, torch.nn.ModuleList(parts)

        def forward(self, *args: Any) -> Any:
            return self.source(*args)

    shapes = None if shapes is None else (shapes,)
    with settings.patch(backed_size_oblivious=shapes is not None):  # type: ignore[attr-defined]
        program = torch.export.export(Adapter(), args, dynamic_shapes=shapes)
    return program.run_decompositions({}).module()


def autograd_function_backward() -> None:
    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return 2 * grad

    x = torch.ones(3, requires_grad=True)
    _exported(Doubled.apply, torch.ones(3))(x).sum().backward()
    assert x.grad is not None
    assert x.grad[0] == 2


def inference_mode_in_forward() -> None:
    def forward(x: Any) -> Any:
        with torch.inference_mode():
            y = x * 2
        return x + y

    x = torch.ones(3, requires_grad=True)
    _exported(forward, torch.ones(3))(x).sum().backward()
    assert x.grad is not None
    assert x.grad[0] == 1


def recurrent_network_of_open_length() -> None:
    shapes = ({0: torch.export.Dim.DYNAMIC},)
    program = _exported(torch.nn.LSTM(2, 3), torch.ones(4, 1, 2), shapes=shapes)
    assert program(torch.ones(5, 1, 2))[0].shape == (5, 1, 3)


def packed_sequence() -> None:
    network = torch.nn.GRU(2, 3)

    def forward(x: Any, lengths: Any) -> Any:
        return network(rnn.pack_padded_sequence(x, lengths))[1]

    x, lengths, others = torch.rand(4, 2, 2), torch.tensor([4, 2]), torch.tensor([4, 3])
    program = _exported(forward, x, lengths, parts=[network])
    torch.testing.assert_close(program(x, others), forward(x, others))


def ctc_loss_export() -> None:
    def forward(x: Any) -> Any:
        targets, lengths = torch.ones(2, 2, dtype=torch.int64), torch.tensor([4, 4])
        return F.ctc_loss(x, targets, lengths, torch.tensor([2, 2]))

    x = torch.rand(4, 2, 3).log_softmax(-1)
    torch.testing.assert_close(_exported(forward, x)(x), forward(x))


def ctc_loss_recorded() -> None:
    def loss(x: Any) -> Any:
        targets, lengths = torch.ones(2, 2, dtype=torch.int64), torch.tensor([4, 4])
        return F.ctc_loss(x, targets, lengths, torch.tensor([2, 2]))

    make_fx(torch.func.grad(loss), tracing_mode="symbolic")(torch.rand(4, 2, 3).log_softmax(-1))


def batch_norm_without_momentum() -> None:
    norm, x = torch.nn.BatchNorm1d(2, momentum=None), torch.rand(4, 2)
    _exported(norm, x)(x)


def instance_norm_statistics() -> None:
    norm: Any = torch.nn.InstanceNorm1d(2, track_running_stats=True)
    x = torch.rand(4, 2, 3)

    def forward(x: Any) -> Any:
        norm(x)
        return norm.running_mean.clone()

    expected = 0.1 * x.mean((0, 2))
    torch.testing.assert_close(_exported(forward, x, parts=[norm])(x), expected)


def flex_attention_with_gradients() -> None:
    from torch.nn.attention.flex_attention import flex_attention

    layer, x = torch.nn.Linear(8, 8), torch.rand(1, 1, 4, 8)
    _exported(lambda x: flex_attention(layer(x), x, x), x, parts=[layer])(x)


def second_tangent_of_layer_norm() -> None:
    def slope(x: Any) -> Any:
        outputs = lambda x: torch.layer_norm(x, (4,))[0]  # noqa: E731
        return torch.func.jvp(outputs, (x,), (x.square(),))[1]

    x, h = torch.rand(4, dtype=torch.float64), 1e-6
    direction = torch.ones(4, dtype=torch.float64).cumsum(0)
    found = torch.func.jvp(slope, (x,), (direction,))[1]
    expected = (slope(x + h * direction) - slope(x - h * direction)) / (2 * h)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


def second_tangent_of_batch_norm() -> None:
    def slope(x: Any) -> Any:
        outputs = lambda x: torch.nn.functional.batch_norm(x, None, None, training=True)[0]  # noqa: E731
        return torch.func.jvp(outputs, (x,), (x.square(),))[1]

    x, h = torch.rand(4, 2, dtype=torch.float64), 1e-6
    direction = torch.ones(4, 2, dtype=torch.float64).cumsum(0)
    found = torch.func.jvp(slope, (x,), (direction,))[1]
    expected = (slope(x + h * direction) - slope(x - h * direction)) / (2 * h)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


def mapped_slope_of_layer_norm_of_open_size() -> None:
    slope = torch.func.grad(lambda x: torch.layer_norm(x, (4,)).pow(3).sum())
    program = make_fx(torch.vmap(slope), tracing_mode="symbolic")(torch.rand(3, 4))
    x = torch.rand(5, 4)
    torch.testing.assert_close(program(x), torch.vmap(slope)(x))


def tangent_of_batch_norm_of_open_size() -> None:
    norm = lambda x: torch.nn.functional.batch_norm(x, None, None, training=True)  # noqa: E731
    tangent = lambda x: torch.func.jvp(norm, (x,), (x.square(),))[1]  # noqa: E731
    program = make_fx(tangent, tracing_mode="symbolic")(torch.rand(3, 4))
    x = torch.rand(5, 4)
    torch.testing.assert_close(program(x), tangent(x))


def mapped_group_norm_of_open_size() -> None:
    mapped = torch.vmap(lambda x: torch.group_norm(x, 2))
    program = make_fx(mapped, tracing_mode="symbolic")(torch.rand(3, 1, 4, 5))
    x = torch.rand(2, 1, 4, 5)
    torch.testing.assert_close(program(x), mapped(x))


def tangent_of_cat_of_open_size() -> None:
    tangent = lambda x: torch.func.jvp(lambda y: torch.cat([y, x]), (x,), (x,))[1]  # noqa: E731
    program = make_fx(tangent, tracing_mode="symbolic")(torch.rand(4))
    x = torch.rand(5)
    torch.testing.assert_close(program(x), tangent(x))


def fake_quantize_switches() -> None:
    from torch.ao.quantization import FakeQuantize

    module, x = FakeQuantize(), torch.rand(4)
    module(x)
    torch.testing.assert_close(_exported(module, x)(x), module(x))


def moving_average_observer() -> None:
    from torch.ao.quantization import MovingAverageMinMaxObserver

    _exported(MovingAverageMinMaxObserver(), torch.rand(4))


def assertion() -> None:
    def forward(x: Any) -> Any:
        assert (x == x).all()
        return x

    _exported(forward, torch.ones(4))


def assertion_of_number() -> None:
    def forward(x: Any) -> Any:
        if x.max().item() > 5:
            raise ValueError
        return x

    _exported(forward, torch.ones(4))


def distribution_checks() -> None:
    x = torch.rand(4) + 1
    _exported(lambda x: torch.distributions.Normal(x, x, validate_args=True).mean, x)(x)


def gamma_gradient() -> None:
    def forward(x: Any) -> Any:
        return torch.distributions.Gamma(x, x, validate_args=False).rsample()

    program = _exported(forward, torch.ones(4))
    assert program(torch.ones(4, requires_grad=True)).requires_grad


def covariance() -> None:
    x, weights = torch.rand(2, 3), torch.tensor([1, 2, 3])
    program = _exported(lambda x, w: torch.cov(x, fweights=w), x, weights)
    torch.testing.assert_close(program(x, weights), torch.cov(x, fweights=weights))


def one_hot_without_classes() -> None:
    one_hot = torch.nn.functional.one_hot
    assert _exported(one_hot, torch.tensor([0, 2]))(torch.tensor([0, 3])).shape == (2, 4)


def least_squares() -> None:
    A, b = torch.rand(4, 2), torch.rand(4, 1)
    program = _exported(lambda A, b: torch.linalg.lstsq(A, b).solution, A, b)
    torch.testing.assert_close(program(A, b), torch.linalg.lstsq(A, b).solution)


def equality_as_number() -> None:
    x, y = torch.ones(2), torch.zeros(2)
    assert _exported(lambda x, y: x * torch.equal(x, y), x, x)(x, y)[0] == 0


def closeness_as_number() -> None:
    x, y = torch.ones(2), torch.zeros(2)
    assert _exported(lambda x, y: x * torch.allclose(x, y), x, x)(x, y)[0] == 0


def mask_of_transformer_encoder() -> None:
    layer = torch.nn.TransformerEncoderLayer(4, 2, 8)
    encoder = torch.nn.TransformerEncoder(layer, 1).eval()
    x, mask = torch.rand(3, 1, 4), torch.zeros(3, 3)
    _exported(encoder, x, mask)(x, mask)


def linearization() -> None:
    def forward(x: Any) -> Any:
        return torch.func.linearize(torch.sin, x)[1](x)

    x = torch.rand(4)
    torch.testing.assert_close(_exported(forward, torch.zeros(4))(x), forward(x))


def resize_as_of_open_size() -> None:
    dim = torch.export.Dim.DYNAMIC
    shapes = ({0: dim}, {0: dim})
    forward = lambda x, y: x.clone().resize_as_(y)  # noqa: E731
    program = _exported(forward, torch.rand(4), torch.rand(2, 2), shapes=shapes)
    assert program(torch.rand(6), torch.rand(3, 2)).shape == (3, 2)


def seed_in_forward() -> None:
    def forward(x: Any) -> Any:
        torch.manual_seed(0)
        return x + torch.rand(3)

    x = torch.zeros(3)
    program = _exported(forward, x)
    torch.testing.assert_close(program(x), program(x))


def generator_in_forward() -> None:
    def forward(x: Any) -> Any:
        return x + torch.rand(3, generator=torch.Generator().manual_seed(0))

    x = torch.zeros(3)
    program = _exported(forward, x)
    torch.testing.assert_close(program(x), program(x))


def embedding_with_max_norm() -> None:
    table, rows = torch.nn.Embedding(5, 3, max_norm=0.5), torch.tensor([0, 1])
    torch.testing.assert_close(_exported(table, rows)(rows), table(rows))


def embedding_bag_with_max_norm() -> None:
    table, rows = torch.nn.EmbeddingBag(5, 3, max_norm=0.5), torch.tensor([[0, 1]])
    torch.testing.assert_close(_exported(table, rows)(rows), table(rows))


def padded_labels_of_margin_loss() -> None:
    from torch._decomp import decomposition_table

    loss = torch.ops.aten.multilabel_margin_loss_forward.default
    x, labels = torch.tensor([[0.1, 0.2, 0.4, 0.8]]), torch.tensor([[3, -1, -1, -1]])
    found = decomposition_table[loss](x, labels, 1)[0]
    torch.testing.assert_close(found, loss(x, labels, 1)[0])


def submodule_named_like_a_keyword() -> None:
    parts = torch.nn.ModuleDict({"class": torch.nn.Linear(2, 2)})
    _exported(lambda x: parts["class"](x), torch.rand(1, 2), parts=[parts])


def annotations_of_another_thread() -> None:
    from concurrent.futures import ThreadPoolExecutor

    from torch.fx import Graph, traceback

    node = Graph().placeholder("x")
    node.meta["stack_trace"] = ""
    annotation = traceback.annotate({})  # torch._dynamo.disable enters it during an export
    with ThreadPoolExecutor(1) as other:
        with traceback.preserve_node_meta(), traceback.set_current_meta(node):  # the exporter
            other.submit(annotation.__enter__).result()
        other.submit(annotation.__exit__, None, None, None).result()


def line_of_a_constant() -> None:
    shapes, message = ({0: torch.export.Dim.DYNAMIC},), ""
    try:
        with foreign(str):
            _exported(lambda x: x + torch.ones(4), torch.ones(4), shapes=shapes)
    except Refused as error:
        message = str(error)
    assert "torch.ones(4)" in message


def mapped_pooling_of_open_size() -> None:
    shapes = ({0: torch.export.Dim.DYNAMIC},)
    mapped = torch.func.vmap(lambda x: torch.nn.functional.max_pool2d(x, 2))
    program = _exported(mapped, torch.ones(3, 1, 2, 4, 4), shapes=shapes)
    assert program(torch.ones(5, 1, 2, 4, 4)).shape == (5, 1, 2, 2, 2)


def attention_that_a_size_makes_causal() -> None:
    def forward(x: Any) -> Any:
        causal = x.shape[-2] > 1 and x.ndim == 3
        return torch.nn.functional.scaled_dot_product_attention(x, x, x, is_causal=causal)

    _exported(forward, torch.ones(2, 1, 4), shapes=({1: torch.export.Dim.DYNAMIC},))


#: Name of a workaround → the programs that show its behaviour.
REPRODUCERS = {
    "attention that a comparison of sizes makes causal": (attention_that_a_size_makes_causal,),
    "torch.autograd.Function": (autograd_function_backward,),
    "concatenation in torch.func.jvp": (tangent_of_cat_of_open_size,),
    "CTC loss": (
        ctc_loss_export,
        ctc_loss_recorded,
    ),
    "functions that read values": (
        covariance,
        one_hot_without_classes,
        least_squares,
        equality_as_number,
        closeness_as_number,
        resize_as_of_open_size,
    ),
    "Python functions that read values": (
        mask_of_transformer_encoder,
        linearization,
    ),
    "checks of distributions": (distribution_checks,),
    "gamma samples": (gamma_gradient,),
    "names that are keywords": (submodule_named_like_a_keyword,),
    "annotations of other threads": (annotations_of_another_thread,),
    "lines of conditions": (line_of_a_constant,),
    "fake quantization": (
        fake_quantize_switches,
        moving_average_observer,
    ),
    "flex_attention": (flex_attention_with_gradients,),
    "inference mode": (inference_mode_in_forward,),
    "padded labels": (padded_labels_of_margin_loss,),
    "embedding with max_norm": (
        embedding_with_max_norm,
        embedding_bag_with_max_norm,
    ),
    "normalizations in transformations": (
        second_tangent_of_layer_norm,
        second_tangent_of_batch_norm,
        mapped_slope_of_layer_norm_of_open_size,
        tangent_of_batch_norm_of_open_size,
        mapped_group_norm_of_open_size,
    ),
    "cumulative averages": (batch_norm_without_momentum,),
    "instance norm": (instance_norm_statistics,),
    "seeds in forward": (
        seed_in_forward,
        generator_in_forward,
    ),
    "sequences": (
        recurrent_network_of_open_length,
        packed_sequence,
    ),
    "checks of values": (assertion,),
    "checks of numbers": (assertion_of_number,),
    "rules for vmap": (mapped_pooling_of_open_size,),
}
