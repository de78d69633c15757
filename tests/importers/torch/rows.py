"""Small torch modules by the feature of torch that they use: a table for test_agreement.py.

Each function of a table takes a layer ``layer = nn.Linear(3, 3)`` and an input x of shape (4, 3).
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils import parametrizations, parametrize, prune
from torch.utils.checkpoint import checkpoint


class Function(nn.Module):
    """A forward that is a function of a layer and an input."""

    def __init__(self, function: Any) -> None:
        super().__init__()
        self.layer, self.function = nn.Linear(3, 3), function

    def forward(self, x: Any) -> Any:
        return self.function(self.layer, x)


# -- views and writes in place ---------------------------------------------------------------


def _write(h: Any, view: Any) -> Any:
    h = h.clone()
    view(h).mul_(3.0)
    return h


VIEWS = {
    "select": lambda layer, x: _write(layer(x), lambda h: h[0]),
    "slice": lambda layer, x: _write(layer(x), lambda h: h[1:3, ::2]),
    "narrow": lambda layer, x: _write(layer(x), lambda h: h.narrow(0, 1, 2)),
    "transpose": lambda layer, x: _write(layer(x), lambda h: h.t()[0]),
    "permute": lambda layer, x: _write(layer(x).reshape(2, 2, 3), lambda h: h.permute(2, 0, 1)[1]),
    "movedim": lambda layer, x: _write(layer(x).reshape(2, 2, 3), lambda h: h.movedim(2, 0)[0]),
    "view": lambda layer, x: _write(layer(x), lambda h: h.view(-1)[2:7]),
    "flatten": lambda layer, x: _write(layer(x), lambda h: h.flatten()[::3]),
    "unflatten": lambda layer, x: _write(layer(x), lambda h: h.unflatten(0, (2, 2))[:, 1]),
    "diagonal": lambda layer, x: _write(layer(x), lambda h: h.diagonal()),
    "chunk": lambda layer, x: sum(layer(x).chunk(2)),
    "split": lambda layer, x: layer(x).split([1, 3])[1] * 2,
    "unbind": lambda layer, x: layer(x).unbind(1)[2] * x[:, 0],
    "squeeze": lambda layer, x: _write(layer(x)[:, None], lambda h: h.squeeze(1)[1]),
    "unsqueeze": lambda layer, x: _write(layer(x), lambda h: h.unsqueeze(0)[0, 1]),
    "as_strided": lambda layer, x: _write(layer(x), lambda h: h.as_strided((2, 2), (3, 1), 1)),
    "real": lambda layer, x: torch.view_as_real(
        _write(torch.complex(layer(x), x), lambda h: h.real)
    ),
    "view_of_view": lambda layer, x: _write(layer(x), lambda h: h[1:].t()[1:]),
    "expand": lambda layer, x: layer(x)[:, :1].expand(4, 3) * x,
    "unfold": lambda layer, x: layer(x).unfold(1, 2, 1).sum(-1),
    "constant_masks": lambda layer, x: _masked(layer(x)),
    "view_dtype": lambda layer, x: layer(x) * (layer(x).view(torch.int64) >> 60),
    "view_dtype_sizes": lambda layer, x: layer(x).repeat(1, 2).view(torch.uint8)[:, 7::8] + x[0, 0],
    "two_views": lambda layer, x: _two_views(layer(x)),
    "base_through_view": lambda layer, x: _base_through_view(layer(x)),
}


def _masked(h: Any) -> Any:
    h, mask = h.clone(), torch.tensor([True, False, True])
    h[:, mask] *= 3.0
    return h[torch.arange(4) > 1][:, mask]


def _two_views(h: Any) -> Any:
    h = h.clone()
    first, last = h[:2], h[2:]
    first.add_(last)
    last.mul_(2.0)
    return h


def _base_through_view(h: Any) -> Any:
    h = h.clone()
    row = h[0]
    h.mul_(2.0)
    return row + h[1]


def _swap(h: Any) -> Any:
    h = h.clone()
    h[0], h[1] = h[1].clone(), h[0].clone()
    return h


def _loop(h: Any) -> Any:
    h = h.clone()
    for i in range(1, 4):
        h[i] += h[i - 1] * 0.5
    return h


def _filled(h: Any) -> Any:
    out = torch.zeros_like(h)
    for i in range(4):
        out[i] = h[3 - i] * i
    return out


IN_PLACE = {
    "add_": lambda layer, x: layer(x).add_(x),
    "mul_": lambda layer, x: layer(x).mul_(x).sub_(1.0),
    "relu_": lambda layer, x: F.relu_(layer(x)),
    "clamp_": lambda layer, x: layer(x).clamp_(-0.3, 0.3),
    "masked_fill_": lambda layer, x: layer(x).masked_fill_(x > 0, 2.0),
    "index_put_": lambda layer, x: layer(x).index_put_((torch.tensor([0, 2]),), x[:2]),
    "accumulate": lambda layer, x: layer(x).index_put_(
        (torch.tensor([1, 1]),), x[:2], accumulate=True
    ),
    "index_add_": lambda layer, x: layer(x).index_add_(0, torch.tensor([1, 1]), x[:2]),
    "index_copy_": lambda layer, x: layer(x).index_copy_(1, torch.tensor([2]), x[:, :1]),
    "index_fill_": lambda layer, x: layer(x).index_fill_(1, torch.tensor([0]), 5.0),
    "scatter_": lambda layer, x: layer(x).scatter_(1, torch.tensor([[0], [1], [2]]), x[:3, :1]),
    "scatter_add_": lambda layer, x: layer(x).scatter_add_(
        1, torch.tensor([[0, 0], [1, 2]]), x[:2, :2]
    ),
    "masked_scatter_": lambda layer, x: layer(x).masked_scatter_(x > 0, x),
    "copy_": lambda layer, x: layer(x).copy_(x * 2),
    "copy_broadcast": lambda layer, x: layer(x).copy_(x[0]) + x,
    "fill_diagonal_": lambda layer, x: layer(x).fill_diagonal_(0.0),
    "zero_": lambda layer, x: layer(x).zero_() + layer(x),
    "tril_": lambda layer, x: layer(x).tril_(),
    "lerp_": lambda layer, x: layer(x).lerp_(x, 0.3),
    "addcmul_": lambda layer, x: layer(x).addcmul_(x, x, value=0.5),
    "sigmoid_": lambda layer, x: layer(x).sigmoid_() * x,
    "transpose_": lambda layer, x: layer(x).t_() @ x,
    "squeeze_": lambda layer, x: layer(x).unsqueeze_(0).squeeze_(0),
    "resize_as_": lambda layer, x: (x.detach() * 2).resize_as_(torch.ones(3, 4)).t() * layer(x),
    "boolean_mask": lambda layer, x: _write_where(layer(x), x > 0),
    "augmented": lambda layer, x: _augmented(layer(x)),
    "swap": lambda layer, x: _swap(layer(x)),
    "loop": lambda layer, x: _loop(layer(x)),
    "filled": lambda layer, x: _filled(layer(x)),
    "out": lambda layer, x: torch.add(x.detach(), 1.0, out=torch.empty(4, 3).to(x)) + layer(x),
}


def _write_where(h: Any, mask: Any) -> Any:
    h = h.clone()
    h[mask] = 7.0
    return h


def _augmented(h: Any) -> Any:
    h = h.clone()
    h[:, 1:] += h[:, :-1] * 2
    h[0] *= 3
    return h


# -- gradient modes ----------------------------------------------------------------------------


def _under(mode: Any, function: Any) -> Any:
    with mode:
        return function()


@torch.no_grad()
def _decorated(h: Any) -> Any:
    return h * 2


def _detached_in_place(h: Any) -> Any:
    return h.detach_() * h


def _nested_modes(layer: Any, x: Any) -> Any:
    with torch.no_grad():
        a = layer(x)
        with torch.enable_grad():
            b = layer(x) * 2
        c = b * a
    return a + b + c + layer(x)


GRADIENT_MODES = {
    "no_grad": lambda layer, x: _under(torch.no_grad(), lambda: layer(x)) * layer(x),
    "no_grad_decorator": lambda layer, x: _decorated(layer(x)) * layer(x),
    "inference_mode": lambda layer, x: _under(torch.inference_mode(), lambda: x * 2) + layer(x),
    "set_grad_enabled": lambda layer, x: (
        _under(torch.set_grad_enabled(False), lambda: layer(x)) + layer(x)
    ),
    "enable_grad": lambda layer, x: _under(torch.enable_grad(), lambda: layer(x)),
    "nested": _nested_modes,
    "detach": lambda layer, x: layer(x).detach() * layer(x),
    "detach_": lambda layer, x: _detached_in_place(layer(x)) * layer(x),
    "data": lambda layer, x: layer(x).data * layer(x),
    "straight_through": lambda layer, x: layer(x) + (layer(x).round() - layer(x)).detach(),
    "clip_through": lambda layer, x: x + (x.clamp(-1, 1) - x).detach() + layer(x),
    "checkpoint": lambda layer, x: checkpoint(layer, torch.tanh(layer(x)), use_reentrant=False),
    "checkpoint_reentrant": lambda layer, x: checkpoint(
        layer, torch.tanh(layer(x)), use_reentrant=True
    ),
    "checkpoint_two": lambda layer, x: checkpoint(
        lambda a, b: layer(a) * b, layer(x), x * 2, use_reentrant=True
    ),
    "detached_weight": lambda layer, x: F.linear(x, layer.weight.detach(), layer.bias),
    "detached_statistics": lambda layer, x: layer(x) - layer(x).mean(0).detach(),
    "new_tensor": lambda layer, x: torch.zeros(4, 3, dtype=x.dtype).copy_(layer(x)),
}


# -- custom functions --------------------------------------------------------------------------


class Reversed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        return -ctx.factor * g, None


class Rounded(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, g):
        return g


class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y * 2, g * x * 3


class Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias):
        ctx.save_for_backward(x, weight)
        return x @ weight.t() + bias

    @staticmethod
    def backward(ctx, g):
        x, weight = ctx.saved_tensors
        return g @ weight, g.t() @ x, g.sum(0)


class SetUp(torch.autograd.Function):
    @staticmethod
    def forward(x, scale):
        return x.exp() * scale

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y, None


class TwoResults(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin(), x.cos()

    @staticmethod
    def backward(ctx, g, h):
        (x,) = ctx.saved_tensors
        return g * x.cos() - h * x.sin()


class Marked(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        values, places = x.sort(-1)
        ctx.mark_non_differentiable(places)
        ctx.save_for_backward(places)
        return values, places

    @staticmethod
    def backward(ctx, g, _):
        (places,) = ctx.saved_tensors
        return torch.zeros_like(g).scatter(-1, places, g)


class Once(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 5 * g * x


class Halved(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1.0

    @staticmethod
    def backward(ctx, g):
        return g / 2 if ctx.needs_input_grad[0] else None


class Matrix(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, a):
        ctx.save_for_backward(a)
        return x @ a

    @staticmethod
    def backward(ctx, g):
        (a,) = ctx.saved_tensors
        return g @ a.t() * 0.5, None


class Windows(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.shape = x.shape
        return x[1:3]

    @staticmethod
    def backward(ctx, g):
        out = g.new_zeros(ctx.shape)
        out[1:3] = g
        return out


CUSTOM = {
    "reversed": lambda layer, x: Reversed.apply(layer(x), 0.5),
    "rounded": lambda layer, x: Rounded.apply(layer(x)) * x,
    "product": lambda layer, x: Product.apply(layer(x), x),
    "same_twice": lambda layer, x: (lambda h: Product.apply(h, h))(layer(x)),
    "linear": lambda layer, x: Linear.apply(x, layer.weight, layer.bias),
    "set_up": lambda layer, x: SetUp.apply(layer(x), 2.0),
    "two_results": lambda layer, x: sum(TwoResults.apply(layer(x))),
    "one_of_two": lambda layer, x: TwoResults.apply(layer(x))[1],
    "marked": lambda layer, x: Marked.apply(layer(x)),
    "once": lambda layer, x: Once.apply(layer(x)),
    "halved": lambda layer, x: Halved.apply(Halved.apply(layer(x))),
    "matrix": lambda layer, x: Matrix.apply(layer(x), layer.weight),
    "windows": lambda layer, x: Windows.apply(layer(x)),
    "under_no_grad": lambda layer, x: (
        _under(torch.no_grad(), lambda: Once.apply(layer(x))) + layer(x)
    ),
}


# -- hooks ---------------------------------------------------------------------------------------


def hooked(register: Any) -> Any:
    """A network of two layers, after `register` has been called with it."""

    def make() -> nn.Module:
        net = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 3))
        register(net)
        return net

    return make


class Positive(nn.Module):
    def forward(self, x):
        return F.softplus(x)


HOOKS = {
    "forward": hooked(lambda n: n[0].register_forward_hook(lambda m, args, out: out * 2)),
    "forward_observes": hooked(lambda n: n[0].register_forward_hook(lambda m, args, out: None)),
    "forward_uses_input": hooked(
        lambda n: n[0].register_forward_hook(lambda m, args, out: out + args[0])
    ),
    "forward_of_root": hooked(lambda n: n.register_forward_hook(lambda m, args, out: (out, args))),
    "forward_with_kwargs": hooked(
        lambda n: n[2].register_forward_hook(lambda m, a, k, out: out - 1, with_kwargs=True)
    ),
    "forward_prepended": hooked(
        lambda n: [
            n[0].register_forward_hook(lambda m, a, out: out * 2),
            n[0].register_forward_hook(lambda m, a, out: out + 1, prepend=True),
        ]
    ),
    "pre": hooked(lambda n: n[2].register_forward_pre_hook(lambda m, args: (args[0] * 3,))),
    "pre_of_root": hooked(lambda n: n.register_forward_pre_hook(lambda m, args: args[0].sin())),
    "parametrization": hooked(
        lambda n: parametrize.register_parametrization(n[0], "weight", Positive())
    ),
    "weight_norm": hooked(lambda n: parametrizations.weight_norm(n[0])),
    "orthogonal": hooked(lambda n: parametrizations.orthogonal(n[0])),
    "pruned": hooked(lambda n: prune.l1_unstructured(n[0], "weight", amount=4)),
    "pruned_rows": hooked(lambda n: prune.ln_structured(n[2], "weight", amount=1, n=2, dim=0)),
    "mode_hook": hooked(
        lambda n: n[1].register_forward_hook(lambda m, a, out: out if m.training else out * 0.5)
    ),
}


# -- state -----------------------------------------------------------------------------------------


class State(nn.Module):
    """A layer with a buffer; `function` is its forward."""

    def __init__(self, function: Any, value: Any) -> None:
        super().__init__()
        self.layer, self.function = nn.Linear(3, 3), function
        self.register_buffer("h", torch.as_tensor(value))
        self.register_buffer("k", torch.ones(4, 3), persistent=False)

    def forward(self, x: Any) -> Any:
        return self.function(self, x)


class Twice(nn.Module):
    """A batch normalization that is called twice."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.layer = nn.BatchNorm1d(3), nn.Linear(3, 3)

    def forward(self, x: Any) -> Any:
        return self.norm(self.layer(self.norm(x)))


class Tied(nn.Module):
    """Two names for one buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.register_buffer("h", torch.ones(3))
        self.register_buffer("k", self.h)

    def forward(self, x: Any) -> Any:
        self.h.mul_(0.5)
        return self.layer(x) * self.k


def _of_two_names(norm: nn.Module) -> nn.Module:
    return nn.Sequential(norm, nn.Linear(3, 3), norm)


def _assigned(s: Any, x: Any) -> Any:
    s.h = s.h * 0.9 + s.layer(x).detach() * 0.1
    return s.layer(x) - s.h


def _old_returned(s: Any, x: Any) -> Any:
    old = s.h
    s.h = old + x.detach()
    return old + s.layer(x), old


def _swapped(s: Any, x: Any) -> Any:
    s.h, s.k = s.k, s.h
    return s.layer(x) * s.h + s.k


def _counted(s: Any, x: Any) -> Any:
    s.h += 1
    return s.layer(x) * s.h


def _trained_only(s: Any, x: Any) -> Any:
    if s.training:
        s.h.mul_(0.5).add_(x.detach(), alpha=0.5)
    return s.layer(x) + s.h


def _ring(s: Any, x: Any) -> Any:
    s.h.copy_(torch.cat([s.h[1:], s.layer(x).detach()[:1]]))
    return s.h + s.layer(x)


def _indexed(s: Any, x: Any) -> Any:
    s.h[1] = x.detach()[0]
    s.h[:, 2].zero_()
    return s.layer(x) * s.h


def _aliased(s: Any, x: Any) -> Any:
    view = s.h[0]
    s.h.add_(1.0)
    return s.layer(x) + view


def _copied(s: Any, x: Any) -> Any:
    s.h.copy_(x)
    return s.layer(x) * s.k


def _under_no_grad(s: Any, x: Any) -> Any:
    with torch.no_grad():
        s.h.lerp_(s.layer(x), 0.25)
    return s.layer(x) * s.h


def _nearest(s: Any, x: Any) -> Any:
    z = s.layer(x)
    codes = torch.cdist(z, s.h).argmin(-1)
    one = F.one_hot(codes, 4).to(z.dtype)
    s.h.copy_(0.9 * s.h + 0.1 * one.t() @ z.detach())
    return z + (s.h[codes] - z).detach()


def _double() -> Any:
    return torch.linspace(-1.0, 1.0, 12).reshape(4, 3)


STATE = {
    "assigned": lambda: State(_assigned, _double()),
    "old_returned": lambda: State(_old_returned, _double()),
    "swapped": lambda: State(_swapped, _double()),
    "counted": lambda: State(_counted, 0),
    "trained_only": lambda: State(_trained_only, _double()),
    "ring": lambda: State(_ring, _double()),
    "indexed": lambda: State(_indexed, _double()),
    "aliased": lambda: State(_aliased, _double()),
    "copied": lambda: State(_copied, _double()),
    "under_no_grad": lambda: State(_under_no_grad, _double()),
    "nearest": lambda: State(_nearest, _double()),
    "batch_norm": lambda: nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3)),
    "cumulative": lambda: nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3, momentum=None)),
    "plain_batch_norm": lambda: nn.BatchNorm1d(3, affine=False),
    "untracked": lambda: nn.BatchNorm1d(3, track_running_stats=False),
    "frozen": lambda: nn.BatchNorm1d(3).requires_grad_(False),
    "batch_norm_twice": Twice,
    "batch_norm_of_two_names": lambda: _of_two_names(nn.BatchNorm1d(3)),
    "plain_norm_of_two_names": lambda: _of_two_names(nn.BatchNorm1d(3, affine=False)),
    "cumulative_of_two_names": lambda: _of_two_names(nn.BatchNorm1d(3, momentum=None)),
    "buffer_of_two_names": Tied,
    "instance_norm": lambda: nn.Sequential(
        nn.Unflatten(0, (2, 2)), nn.InstanceNorm1d(2, track_running_stats=True)
    ),
    "instance_norm_affine": lambda: nn.Sequential(
        nn.Unflatten(0, (2, 2)), nn.InstanceNorm1d(2, affine=True, track_running_stats=True)
    ),
    "spectral_norm": lambda: parametrizations.spectral_norm(nn.Linear(3, 3)),
}

# -- parameters that forward overwrites --------------------------------------------------------


def _projected(layer: Any, x: Any) -> Any:
    with torch.no_grad():
        layer.weight.copy_(layer.weight / layer.weight.norm(dim=1, keepdim=True))
    return layer(x)


def _clamped(layer: Any, x: Any) -> Any:
    layer.weight.data.clamp_(-0.3, 0.3)
    return layer(x).tanh()


def _decayed(layer: Any, x: Any) -> Any:
    for parameter in layer.parameters():
        parameter.data.mul_(0.9)
    return layer(x)


def _data_assigned(layer: Any, x: Any) -> Any:
    layer.weight.data = layer.weight.data * 0.9 + 0.1
    return layer(x)


def _detached_written(layer: Any, x: Any) -> Any:
    weight = layer.weight.detach()
    weight += 0.5
    return layer(x) + weight[0]


def _parts_written(layer: Any, x: Any) -> Any:
    with torch.no_grad():
        layer.weight[0].zero_()
        layer.weight[:, 1] = 2.0
    layer.weight.data[2] *= 3.0
    return layer(x)


def _read_before(layer: Any, x: Any) -> Any:
    before = layer.weight.sum(0)
    layer.weight.data.mul_(0.5)
    return layer(x) + before


def _written_twice(layer: Any, x: Any) -> Any:
    with torch.no_grad():
        layer.weight.mul_(0.5)
    between = 3.0 * layer.weight.sum(0)
    with torch.no_grad():
        layer.weight.add_(1.0)
    return layer(x).tanh() + between


def _written_from_input(layer: Any, x: Any) -> Any:
    layer.bias.data.lerp_(x.mean(0), 0.25)
    return layer(x)


def _parameter_returned(layer: Any, x: Any) -> Any:
    with torch.no_grad():
        layer.weight.mul_(0.5)
    return layer(x), layer.weight


def _written_in_training(layer: Any, x: Any) -> Any:
    if layer.training:
        layer.weight.data.sign_()
    return layer(x)


def _result_read(layer: Any, x: Any) -> Any:
    with torch.no_grad():
        weight = layer.weight.mul_(0.5)
    return x @ weight.t() + layer(x)


def _read_under_no_grad(layer: Any, x: Any) -> Any:
    layer.weight.data.mul_(0.5)
    with torch.no_grad():
        scale = layer.weight.abs().max()
    return layer(x) / scale


def _written_at_the_end(layer: Any, x: Any) -> Any:
    y = x + layer.bias
    with torch.no_grad():
        layer.bias.sub_(y.mean(0))
    return y


class Table(nn.Module):
    """An embedding whose rows are shortened."""

    def __init__(self) -> None:
        super().__init__()
        self.table, self.layer = nn.Embedding(6, 3, max_norm=1.0), nn.Linear(3, 3)

    def forward(self, x: Any) -> Any:
        return self.layer(x) * self.table((x[:, 0] > 0).long().cumsum(0))


OVERWRITTEN = {
    "projected": _projected,
    "clamped": _clamped,
    "decayed": _decayed,
    "data_assigned": _data_assigned,
    "detached_written": _detached_written,
    "parts_written": _parts_written,
    "read_before": _read_before,
    "written_twice": _written_twice,
    "written_from_input": _written_from_input,
    "parameter_returned": _parameter_returned,
    "written_in_training": _written_in_training,
    "result_read": _result_read,
    "read_under_no_grad": _read_under_no_grad,
    "written_at_the_end": _written_at_the_end,
}

#: Family → row → function that makes a module.
FAMILIES: dict[str, dict[str, Any]] = {
    **{
        family: {name: lambda f=f: Function(f) for name, f in rows.items()}
        for family, rows in (
            ("views", VIEWS),
            ("in_place", IN_PLACE),
            ("gradient_modes", GRADIENT_MODES),
            ("custom", CUSTOM),
            ("overwritten", OVERWRITTEN),
        )
    },
    "hooks": HOOKS,
    "state": STATE,
}
FAMILIES["overwritten"]["max_norm"] = Table
