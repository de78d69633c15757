"""Small converted models: speed in JAX and TensorFlow against PyTorch; `torch_in` has full-size models."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import nestarray as na
from benchmarks.timing import Table, compare, has_compiler, ratio, readable


def tables() -> list[Table]:
    """The forward pass of three models."""
    return [_forward({name: make() for name, make in MODELS.items()})]


def _convolutional() -> tuple[Any, Any]:
    import torch
    from torch import nn

    def block(inputs: int, outputs: int) -> list[Any]:
        convolution = nn.Conv2d(inputs, outputs, 3, padding=1, bias=False)
        return [convolution, nn.BatchNorm2d(outputs), nn.ReLU(), nn.MaxPool2d(2)]

    layers = [*block(3, 32), *block(32, 64), *block(64, 128), nn.Flatten(), nn.Linear(2048, 10)]
    return nn.Sequential(*layers).eval(), torch.randn(32, 3, 32, 32)


def _transformer() -> tuple[Any, Any]:
    import torch
    from torch import nn

    class Encoder(nn.Module):
        """Pre-norm blocks of attention and a feed-forward part."""

        def __init__(self, size: int = 256, heads: int = 4, layers: int = 4) -> None:
            super().__init__()
            self.heads = heads
            self.blocks = nn.ModuleList(
                nn.ModuleDict(
                    {
                        "norm1": nn.LayerNorm(size), "qkv": nn.Linear(size, 3 * size),
                        "out": nn.Linear(size, size), "norm2": nn.LayerNorm(size),
                        "up": nn.Linear(size, 4 * size), "down": nn.Linear(4 * size, size),
                    }
                )
                for _ in range(layers)
            )  # fmt: skip

        def forward(self, x: Any) -> Any:
            for block in self.blocks:
                b, n, size = x.shape
                qkv = block["qkv"](block["norm1"](x)).view(b, n, 3, self.heads, size // self.heads)
                q, k, v = qkv.permute(2, 0, 3, 1, 4)
                attended = nn.functional.scaled_dot_product_attention(q, k, v)
                x = x + block["out"](attended.transpose(1, 2).reshape(b, n, size))
                hidden = nn.functional.gelu(block["up"](block["norm2"](x)))
                x = x + block["down"](hidden)
            return x

    return Encoder().eval(), torch.randn(4, 128, 256)


def _gpt2() -> tuple[Any, Any]:
    import torch
    from transformers import GPT2Config, GPT2Model

    config = GPT2Config(
        n_layer=3, n_head=4, n_embd=192, vocab_size=1000, n_positions=128, use_cache=False
    )
    return GPT2Model(config).eval(), torch.randint(0, 1000, (2, 96))


MODELS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "convolutional network": _convolutional,
    "transformer encoder": _transformer,
    "GPT-2, small": _gpt2,
}


def _forward(networks: dict[str, tuple[Any, Any]]) -> Table:
    import torch

    compiler = has_compiler()
    table = Table(
        "Forward pass of models converted from PyTorch",
        ["model", "torch eager", "torch.compile", "nestarray on torch", "jax.jit", "tf.function"],
        "In brackets: the time relative to torch eager."
        + ("" if compiler else " No C++ compiler here, which torch.compile needs."),
    )
    for name, (net, x) in networks.items():
        graph = na.trace_graph(net, x)
        functions: dict[str, Callable[[], Any]] = {
            "torch eager": _without_gradients(net, x),
            "nestarray on torch": _without_gradients(graph, x),
        }
        if compiler:
            functions["torch.compile"] = _without_gradients(torch.compile(net), x)
        jax_graph, jax_x = graph.to_backend("jax"), na.to_backend(x, "jax")
        compiled = jax_graph.compile()
        functions["jax.jit"] = lambda f=compiled, x=jax_x: _wait(f(x))
        tf_compiled = graph.to_backend("tensorflow").compile()
        tf_x = na.to_backend(x, "tensorflow")
        functions["tf.function"] = lambda f=tf_compiled, x=tf_x: f(x)
        times = compare(functions, rounds=9, at_least=0.05)
        eager = times["torch eager"]
        cells = [
            f"{readable(times[c])} ({ratio(times[c], eager)})" if c in times else "–"
            for c in table.columns[2:]
        ]
        table.add(name, readable(eager), *cells)
    return table


def _without_gradients(fn: Callable[..., Any], x: Any) -> Callable[[], Any]:
    import torch

    def call() -> Any:
        with torch.no_grad():
            return fn(x)

    return call


def _wait(result: Any) -> Any:
    import jax

    return jax.block_until_ready(result)


if __name__ == "__main__":
    start = time.perf_counter()
    for each in tables():
        each.print()
    print(f"{time.perf_counter() - start:.0f} s")
