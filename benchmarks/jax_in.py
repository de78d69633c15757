"""Flax models in PyTorch, against the same networks written for PyTorch.

A step is the forward pass and the gradients of all parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import nestarray as na
from benchmarks.timing import Table, compare, has_compiler, ratio, readable
from nestarray.graph import passes


def tables() -> list[Table]:
    """One table."""
    return [steps()]


def _resnet50() -> tuple[Any, dict[str, Any]]:
    import torch
    from transformers import ResNetConfig, ResNetForImageClassification

    config = ResNetConfig(num_labels=100)
    return ResNetForImageClassification(config), {"pixel_values": torch.randn(2, 3, 96, 96)}


def _vit_s() -> tuple[Any, dict[str, Any]]:
    import torch
    from transformers import ViTConfig, ViTForImageClassification

    config = ViTConfig(
        hidden_size=384, num_attention_heads=6, intermediate_size=1536, image_size=96,
        num_labels=100,
    )  # fmt: skip
    return ViTForImageClassification(config), {"pixel_values": torch.randn(4, 3, 96, 96)}


def _gpt2_block() -> tuple[Any, dict[str, Any]]:
    import torch
    from transformers import GPT2Config, GPT2Model

    config = GPT2Config(use_cache=False, n_layer=1, vocab_size=1000)
    return GPT2Model(config), {"input_ids": torch.randint(0, 1000, (4, 128))}


#: Name → (maker of the torch model and its input, name of the Flax twin).
_MODELS: dict[str, tuple[Callable[[], tuple[Any, dict[str, Any]]], str]] = {
    "ResNet-50": (_resnet50, "ResNet-50"),
    "ViT-S": (_vit_s, "ViT-B/16"),
    "GPT-2 block": (_gpt2_block, "GPT-2"),
}


def steps() -> Table:
    """Forward and backward pass in PyTorch, eager and compiled."""
    import torch

    columns = ["", "torch", "converted", "ratio"]
    columns += ["compiled torch", "compiled", "ratio"] if has_compiler() else []
    table = Table("JAX in: forward and backward of Flax models in PyTorch", columns)
    for name, (make, twin) in _MODELS.items():
        net, inputs = make()
        net.eval()
        (x,) = inputs.values()
        graph, own = _converted(twin, net.config, x)
        trained = graph.v.select("params")  # the twin's running statistics are no parameters
        leaves = [p.requires_grad_() for p in trained.leaves()]
        program = graph.optimize(passes.TRAINING)
        functions: dict[str, Callable[..., Any]] = {
            "torch": net,
            "converted": lambda x, graph=program, v=graph.v: graph(x, v=v),
        }
        cells = [name]
        for compiled in [False, True] if has_compiler() else [False]:
            runs = {
                label: _step(
                    torch.compile(f, dynamic=False) if compiled else f,  # models share code
                    x if label == "torch" else own,
                    list(net.parameters()) if label == "torch" else leaves,
                )
                for label, f in functions.items()
            }
            times = compare(runs, rounds=5, at_least=0.0)
            cells += [readable(t) for t in times.values()]
            cells.append(ratio(times["converted"], times["torch"]))
        table.add(*cells)
    return table


def _converted(twin: str, config: Any, x: Any) -> Any:
    """The graph of the Flax twin in PyTorch, and its input: JAX has integers of 32 bits."""
    from benchmarks.flax_twins import TWINS

    example = na.to_backend(x, "jax")
    apply, variables = TWINS[twin](config, example)
    graph = na.trace_graph(apply, variables, example, v="variables").to_backend("torch")
    return graph, na.to_backend(example, "torch")


def _step(function: Callable[[Any], Any], x: Any, leaves: list[Any]) -> Callable[[], Any]:
    """A forward and a backward pass."""
    import torch

    def run() -> Any:
        found = function(x)
        for key in ("logits", "last_hidden_state"):
            found = getattr(found, key, found)
        return torch.autograd.grad(found.square().mean(), leaves, allow_unused=True)

    return run
