"""Random numbers behind a seed that forward sets are torch's; all others come from the key."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import nestarray as na


def seeded(x):
    torch.manual_seed(3)
    rotations = torch.randn(x.shape[1], 3, dtype=x.dtype, device=x.device)
    return x @ rotations + torch.rand(3) + torch.randint_like(x, 5) + torch.randperm(3)


def from_a_generator(x):
    generator = torch.Generator().manual_seed(7)
    return x + torch.randn(3, generator=generator) * torch.rand(x.shape, generator=generator)


class Noise(nn.Module):
    def __init__(self, draw):
        super().__init__()
        self.fc, self.draw = nn.Linear(3, 3), draw

    def forward(self, x):
        return self.fc(self.draw(x))


@pytest.mark.parametrize("draw", [seeded, from_a_generator])
def test_draws_behind_a_seed_are_those_of_torch(draw):
    net, x = Noise(draw), torch.ones(4, 3)
    state = torch.get_rng_state()
    graph = na.trace_graph(net, x)
    assert torch.equal(torch.get_rng_state(), state)
    assert not graph.needs_key
    torch.testing.assert_close(graph(x), net(x), rtol=1e-6, atol=0)
    assert graph.to_backend("numpy").verify().ok


def test_draws_behind_the_end_of_a_seed_come_from_the_key():
    def forked(x):
        with torch.random.fork_rng():
            torch.manual_seed(1)
            fixed = torch.randn(3)
        return x + fixed + torch.randn(3)

    graph = na.trace_graph(Noise(forked), torch.ones(4, 3))
    assert [n.target_name for n in graph.calls if n.is_random] == ["torch.randn"]
    assert len(graph.constants.paths()) == 1


def test_draws_of_an_open_size_and_behind_one_come_from_the_key():
    def drawn(x):
        torch.manual_seed(1)
        return x * torch.rand(3) + torch.randn_like(x) + torch.randn(3)

    graph = na.trace_graph(Noise(drawn), torch.ones(4, 3), dynamic={"x": {0: "rows"}})
    found = [n.target_name for n in graph.calls if n.is_random]
    assert found == ["torch.randn_like", "torch.randn"]
