"""Converted PyTorch models on a GPU, against PyTorch and against Flax on that GPU.

A step is the forward pass and the gradients of all parameters, in float32 with TF32 products.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import nestarray as na
from benchmarks.timing import Table, compare, ratio, readable
from nestarray.graph import passes

#: Name → the batch of the model of `torch_in`.
BATCHES = {"ResNet-50": 32, "ViT-B/16": 16, "BERT-base": 16, "GPT-2": 16}


def tables() -> list[Table]:
    """One table, where PyTorch and JAX have a GPU."""
    import jax
    import torch

    has_gpu = torch.cuda.is_available() and jax.default_backend() == "gpu"
    return [steps()] if has_gpu else []


def steps() -> Table:
    """Forward and backward pass on a GPU."""
    import torch

    from benchmarks.flax_twins import TWINS
    from benchmarks.torch_in import MODELS

    torch.set_float32_matmul_precision("high")
    table = Table(
        f"GPU: forward and backward pass on one {torch.cuda.get_device_name()}",
        ["", "torch", "in torch", "ratio", "Flax, jit", "in JAX, jit", "ratio"],
    )
    for name, batch in BATCHES.items():
        net, inputs = MODELS[name]()
        net = net.to("cuda").eval()
        (x,) = inputs.values()
        x = torch.cat([x.to("cuda")] * batch)
        graph = na.trace_graph(net, x)
        own = graph.optimize(passes.TRAINING)
        leaves = [p.requires_grad_() for p in own.v.leaves()]
        jax_graph = graph.to_backend("jax").optimize(passes.TRAINING)
        there = na.to_backend(x, "jax")
        apply, variables = TWINS[name](net.config, there)
        jitted = {
            "Flax": (lambda v, x, apply=apply: apply(v, x), variables),
            "in JAX": (lambda v, x, g=jax_graph: g(x, v=v), jax_graph.v),
        }
        times = compare(
            {
                "torch": _torch_step(net, x, list(net.parameters())),
                "in torch": _torch_step(lambda x, g=own: g(x), x, leaves),
                **{label: _jax_step(f, v, there) for label, (f, v) in jitted.items()},
            },
            rounds=5,
            at_least=0.2,
        )
        table.add(
            name, readable(times["torch"]), readable(times["in torch"]),
            ratio(times["in torch"], times["torch"]), readable(times["Flax"]),
            readable(times["in JAX"]), ratio(times["in JAX"], times["Flax"]),
        )  # fmt: skip
    return table


def _mean(output: Any) -> Any:
    for key in ("logits", "last_hidden_state"):
        output = getattr(output, key, output)
    output = output[0] if isinstance(output, tuple) else output
    return (output * output).mean()


def _torch_step(function: Callable[[Any], Any], x: Any, leaves: list[Any]) -> Callable[[], Any]:
    import torch

    def run() -> Any:
        found = torch.autograd.grad(_mean(function(x)), leaves, allow_unused=True)
        torch.cuda.synchronize()
        return found

    return run


def _jax_step(function: Callable[[Any, Any], Any], v: Any, x: Any) -> Callable[[], Any]:
    import jax

    step = jax.jit(jax.grad(lambda v: _mean(function(v, x))))
    return lambda: jax.block_until_ready(step(v))
