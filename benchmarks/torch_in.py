"""Converted PyTorch models of full size, against PyTorch and against native implementations.

The tables compare tracing with ``torch.export``, memory with the size of the weights, the forward
pass with the framework's own model, a training step with a Flax implementation, and an eager node
with the framework's call. Models have public sizes, random weights and small batches.
"""

from __future__ import annotations

import subprocess
import sys
import time
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import nestarray as na
from benchmarks.timing import Table, compare, has_compiler, ratio, readable

Functions = dict[str, Callable[[], Any]]


def tables() -> list[Table]:
    """One table for each comparison."""
    return [
        tracing(),
        memory(),
        forward(),
        tensorflow(),
        training(),
        eager(),
        beside_torchax(),
        verification(),
    ]


# -- models --------------------------------------------------------------------------------


def resnet50() -> tuple[Any, dict[str, Any]]:
    """ResNet-50 of `transformers`, an image."""
    import torch
    from transformers import ResNetConfig, ResNetForImageClassification

    net = ResNetForImageClassification(ResNetConfig(num_labels=1000))
    return net.eval(), {"pixel_values": torch.randn(1, 3, 224, 224)}


def vit_b() -> tuple[Any, dict[str, Any]]:
    """ViT-B/16, an image."""
    import torch
    from transformers import ViTConfig, ViTForImageClassification

    net = ViTForImageClassification(ViTConfig(num_labels=1000))
    return net.eval(), {"pixel_values": torch.randn(1, 3, 224, 224)}


def bert_base() -> tuple[Any, dict[str, Any]]:
    """BERT-base, 128 tokens."""
    import torch
    from transformers import BertConfig, BertModel

    net = BertModel(BertConfig())
    return net.eval(), {"input_ids": torch.randint(0, 30000, (1, 128))}


def gpt2() -> tuple[Any, dict[str, Any]]:
    """GPT-2, 128 tokens."""
    import torch
    from transformers import GPT2Config, GPT2Model

    net = GPT2Model(GPT2Config(use_cache=False))
    return net.eval(), {"input_ids": torch.randint(0, 50000, (1, 128))}


MODELS: dict[str, Callable[[], tuple[Any, dict[str, Any]]]] = {
    "ResNet-50": resnet50,
    "ViT-B/16": vit_b,
    "BERT-base": bert_base,
    "GPT-2": gpt2,
}


# -- tracing and memory --------------------------------------------------------------------


def tracing() -> Table:
    """The time of tracing and lowering, relative to the exporter."""
    import torch

    table = Table(
        "Torch in: tracing",
        [
            "model",
            "torch.export, run_decompositions",
            "na.trace_graph, to JAX",
            "ratio",
            "and lower",
        ],
        "The exporter's work is in both.",
    )
    for name, make in MODELS.items():
        net, inputs = make()
        times = compare(
            {
                "export": lambda net=net, x=inputs: torch.export.export(
                    net, (), x
                ).run_decompositions({}),
                "trace": lambda net=net, x=inputs: na.trace_graph(net, **x).to_backend("jax"),
                "lower": lambda net=net, x=inputs: (
                    na.trace_graph(net, **x).to_backend("jax").lower()
                ),
            },
            rounds=2,
            at_least=0.0,
        )
        export, trace, lowered = (times[k] for k in ("export", "trace", "lower"))
        table.add(
            name, readable(export), readable(trace), ratio(trace, export), ratio(lowered, export)
        )
    return table


_MEMORY = """
import sys, torch
sys.path.insert(0, {root!r})
from benchmarks import torch_in
import nestarray as na, transformers, torch.export, numpy
net, inputs = getattr(torch_in, {model!r})()
torch.export.export(torch.nn.Linear(2, 2), (torch.ones(1, 2),)).run_decompositions({{}})
{prepare}
def kilobytes(what):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if what in line)
open("/proc/self/clear_refs", "w").write("5")  # the peak starts again from what there is
base = kilobytes("VmRSS")
{work}
peak = kilobytes("VmHWM")
print((peak - base) * 1024, sum(p.numel() * p.element_size() for p in net.parameters()))
"""


def memory() -> Table:
    """The peak of resident memory in a separate process, in excess of the model's weights.

    The graph shares the weights, which `Graph.to_backend` copies by default.
    As Linux counts it, https://docs.kernel.org/filesystems/proc.html.
    """
    from pathlib import Path

    table = Table(
        "Torch in: peak memory beyond the model's own",
        ["model", "weights", "torch.export", "traced, on JAX", "beyond torch / weights"],
    )
    root = str(Path(__file__).parent.parent)
    export = "torch.export.export(net, (), inputs).run_decompositions({})"
    trace = "graph = na.trace_graph(net, **inputs).to_backend('jax', copy=None)"
    for name, make in MODELS.items():
        found = []
        for prepare, work in (("", export), ("import jax; jax.numpy.ones(1)", trace)):
            text = _MEMORY.format(root=root, model=make.__name__, prepare=prepare, work=work)
            out = subprocess.run(
                [sys.executable, "-c", text], capture_output=True, text=True, check=True
            )
            found.append([int(x) for x in out.stdout.split()[-2:]])
        (theirs, weights), (ours, _) = found
        cells = [f"{x / 1e6:.0f} MB" for x in (weights, theirs, ours)]
        table.add(name, *cells, f"{(ours - theirs) / weights:.2f}")
    return table


# -- forward -------------------------------------------------------------------------------


def forward() -> Table:
    """One forward pass of each model."""
    import jax
    import torch

    columns = [
        "torch eager",
        "torch.compile",
        "nestarray, jax.jit",
        "optimized, jax.jit",
    ]
    table = Table(
        "Torch in: forward pass",
        ["model", *columns, "Flax twin, jax.jit"],
        "In brackets: relative to torch eager.",
    )
    for name, make in MODELS.items():
        net, inputs = make()
        graph = na.trace_graph(net, **inputs).to_backend("jax")
        given = {k: na.to_backend(x, "jax") for k, x in inputs.items()}
        functions: Functions = {"torch eager": lambda net=net, x=inputs: _no_grad(net, x)}
        if has_compiler():
            native = torch.compile(net)
            functions["torch.compile"] = lambda net=native, x=inputs: _no_grad(net, x)
        variants = {"nestarray, jax.jit": graph, "optimized, jax.jit": graph.optimize()}
        functions["Flax twin, jax.jit"] = _twin(name, net.config, *given.values())
        for label, each in variants.items():
            compiled = each.compile()
            functions[label] = lambda f=compiled, x=given: jax.block_until_ready(f(**x))
        table.add(name, *_cells(compare(functions, rounds=5, at_least=0.0), table.columns[1:]))
    return table


def _cells(times: dict[str, float], columns: list[str]) -> list[str]:
    first = times[columns[0]]
    return [
        "–" if c not in times else f"{readable(times[c])} ({ratio(times[c], first)})"
        for c in columns
    ]


def beside_torchax() -> Table:
    """The forward passes of torchax. It runs last, because its import breaks `torch.compile`."""
    import jax

    columns = ["torchax, jax.jit", "nestarray, jax.jit", "optimized, jax.jit"]
    table = Table(
        "Torch in: forward pass against torchax",
        ["model", *columns],
        "In brackets: relative to torchax.",
    )
    for name, make in MODELS.items():
        net, inputs = make()
        graph = na.trace_graph(net, **inputs).to_backend("jax")
        given = {k: na.to_backend(x, "jax") for k, x in inputs.items()}
        functions: Functions = {"torchax, jax.jit": _torchax(net, inputs)}
        for label, each in zip(columns[1:], (graph, graph.optimize()), strict=True):
            compiled = each.compile()
            functions[label] = lambda f=compiled, x=given: jax.block_until_ready(f(**x))
        table.add(name, *_cells(compare(functions, rounds=5, at_least=0.0), columns))
    return table


@contextmanager
def _named_overloads() -> Iterator[None]:
    """Placeholders for the overloads of named dimensions, which torch 2.13 removed.

    torchax 0.0.13 uses them as keys of its tables, and cannot be imported without them.
    """
    import torch

    packet: Any = torch._ops.OpOverloadPacket
    look_up = packet.__getattr__

    def or_stand_in(self: Any, name: str) -> Any:
        try:
            return look_up(self, name)
        except AttributeError:
            if name.startswith("__") or "name" not in name:  # names_dim, Dimname, …
                raise
            return (self, name)

    packet.__getattr__ = or_stand_in
    try:
        yield
    finally:
        packet.__getattr__ = look_up


def _torchax(net: Any, inputs: dict[str, Any]) -> Callable[[], Any]:
    import jax

    with _named_overloads():
        import torchax

        weights, function = torchax.extract_jax(net)
    compiled = jax.jit(lambda weights, given: function(weights, (), given).to_tuple())
    given = {k: na.to_backend(x, "jax") for k, x in inputs.items()}
    return lambda: jax.block_until_ready(compiled(weights, given))


def _no_grad(net: Any, inputs: dict[str, Any]) -> Any:
    import torch

    with torch.no_grad():
        return net(**inputs)


def _twin(name: str, config: Any, example: Any) -> Callable[[], Any]:
    import jax

    from benchmarks.flax_twins import TWINS

    apply, variables = TWINS[name](config, example)
    compiled = jax.jit(apply)
    return lambda: jax.block_until_ready(compiled(variables, example))


def tensorflow() -> Table:
    """ResNet-50 under ``tf.function``, against Keras."""
    import keras
    import tensorflow as tf

    table = Table(
        "Torch in: ResNet-50 under tf.function",
        ["", "time", "relative to Keras", "transposes of the program"],
    )
    net, inputs = resnet50()
    graph = na.trace_graph(net, **inputs).to_backend("tensorflow")
    x = na.to_backend(inputs["pixel_values"], "tensorflow")
    functions: Functions = {}
    reports = {}
    if keras.backend.backend() == "tensorflow":
        applications: Any = keras.applications
        twin = applications.ResNet50(weights=None)
        last = tf.transpose(x, (0, 2, 3, 1))
        native = tf.function(lambda x: twin(x, training=False), autograph=False)
        functions["keras.applications.ResNet50"] = lambda: native(last)
    for label, each in (("nestarray", graph), ("nestarray, optimized", graph.optimize())):
        compiled = each.compile()
        functions[label] = lambda f=compiled: f(pixel_values=x)
        report = each.report()
        reports[label] = str(report.transposes + report.hidden_transposes)
    times = compare(functions, rounds=5, at_least=0.0)
    first = next(iter(times.values()))
    for label, seconds in times.items():
        table.add(label, readable(seconds), ratio(seconds, first), reports.get(label, "–"))
    return table


# -- verification --------------------------------------------------------------------------


def verification() -> Table:
    """``verify`` of a ResNet-18, against compiling and running one training step."""
    import torch
    from transformers import ResNetConfig, ResNetForImageClassification

    table = Table(
        "Torch in: verify a ResNet-18, images of 64 × 64",
        ["", "compile and run one step", "verify", "relative"],
    )
    config = ResNetConfig(
        depths=[2, 2, 2, 2], hidden_sizes=[64, 128, 256, 512], layer_type="basic", num_labels=10
    )
    images = torch.randn(8, 3, 64, 64)
    traced = na.trace_graph(ResNetForImageClassification(config), images, train=True)
    for backend in ("jax", "tensorflow"):
        graph = traced.to_backend(backend)
        x = na.to_backend(images, backend)

        def step(v: Any, graph: Any = graph, x: Any = x) -> Any:
            def loss(v: Any) -> Any:
                out, _ = graph(x, v=v)
                return na.mean(na.square(out["logits"]))

            value, grads = na.execute_with_gradients(loss, v)
            return v - 0.01 * grads, value

        start = time.perf_counter()
        _, value = na.jit(step)(graph.v)
        float(value)
        one_step = time.perf_counter() - start
        start = time.perf_counter()
        graph.verify().raise_if_failed()
        proof = time.perf_counter() - start
        table.add(backend, readable(one_step), readable(proof), ratio(proof, one_step))
    return table


# -- training ------------------------------------------------------------------------------


def training() -> Table:
    """An SGD step of a ViT-S under ``jax.jit``, against a Flax implementation."""
    import jax
    import torch
    from transformers import ViTConfig, ViTForImageClassification

    from benchmarks import flax_twins

    config = ViTConfig(
        hidden_size=384, num_attention_heads=6, intermediate_size=1536,
        image_size=96, num_labels=100, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
    )  # fmt: skip
    net, images = ViTForImageClassification(config), torch.randn(4, 3, 96, 96)
    graph = na.trace_graph(net, pixel_values=images, train=True).to_backend("jax")
    x, labels = na.to_backend(images, "jax"), jax.numpy.arange(4)

    def loss(v: Any) -> Any:
        out, _ = graph(pixel_values=x, v=v)
        return na.cross_entropy(out["logits"], labels)

    def step(v: Any) -> Any:
        value, grads = jax.value_and_grad(loss)(v)
        return jax.tree.map(lambda p, g: p - 0.01 * g, v, grads), value

    twin, variables = flax_twins.vit(config, x)

    def twin_loss(v: Any) -> Any:
        logits = twin(v, x)
        chosen = jax.numpy.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1)
        return -chosen.mean()

    def twin_step(v: Any) -> Any:
        value, grads = jax.value_and_grad(twin_loss)(v)
        return jax.tree.map(lambda p, g: p - 0.01 * g, v, grads), value

    ours, theirs = jax.jit(step), jax.jit(twin_step)
    times = compare(
        {
            "Flax twin": lambda: jax.block_until_ready(theirs(variables)),
            "nestarray": lambda: jax.block_until_ready(ours(graph.v)),
        },
        rounds=5,
        at_least=0.0,
    )
    table = Table(
        "Torch in: a step of training of ViT-S under jax.jit",
        ["", "time", "ratio"],
        "Forward, backward and SGD; 4 images of 96 × 96 in patches of 16.",
    )
    for label, seconds in times.items():
        table.add(label, readable(seconds), ratio(seconds, times["Flax twin"]))
    return table


# -- eager ---------------------------------------------------------------------------------


def eager() -> Table:
    """The time of a graph node, relative to the native function that it calls."""
    import torch

    table = Table(
        "Torch in: eager execution of converted graphs",
        ["graph", "backend", "nodes", "native calls", "optimized", "traced", "µs a node more"],
        "The fastest of many calls; more: of the optimized graph. Native calls: the functions that the ops end in, in the same order, found beforehand, "
        "without any check of the arguments.",
    )
    layers = [torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU()) for _ in range(50)]
    for name, net, x in (
        ("50 linear layers", torch.nn.Sequential(*layers).eval(), torch.randn(2, 8)),
        ("small convolutional", _small_convolutional(), torch.randn(1, 3, 8, 8)),
    ):
        traced = na.trace_graph(net, x)
        for backend in ("torch", "jax", "numpy"):
            graph, given = traced.to_backend(backend).optimize(), na.to_backend(x, backend)
            native = _native(graph, given)
            functions: Functions = {"native": lambda f=native, x=given: f(x)}
            functions["optimized"] = lambda f=graph, x=given: f(x)
            moved = traced.to_backend(backend)
            functions["traced"] = lambda f=moved, x=given: f(x)
            with torch.no_grad(), graph.running():
                times = _fastest(functions)
            more = (times["optimized"] - times["native"]) / len(graph.calls) * 1e6
            cells = [readable(times[k]) for k in ("native", "optimized", "traced")]
            table.add(name, backend, str(len(graph.calls)), *cells, f"{more:.2f}")
    return table


def _fastest(functions: Functions, rounds: int = 400) -> dict[str, float]:
    """The minimum time of a call of each, because the overhead is smaller than typical load."""
    times = dict.fromkeys(functions, float("inf"))
    for _ in range(rounds):
        for name, fn in functions.items():
            start = time.perf_counter()
            fn()
            times[name] = min(times[name], time.perf_counter() - start)
    return times


def _small_convolutional() -> Any:
    from torch import nn

    def block(channels: int) -> list[Any]:
        layers = nn.Conv2d(channels, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU()
        return list(layers)

    blocks = [layer for i in range(8) for layer in block(4 if i else 3)]
    return nn.Sequential(*blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 3)).eval()


def _native(graph: Any, x: Any) -> Callable[[Any], Any]:
    """The program with each op replaced by its native function."""
    import dataclasses

    from nestarray.graph import codegen
    from nestarray.graph.execution import compute, given_values
    from nestarray.graph.node import substituted

    space = types.SimpleNamespace()
    values = given_values(graph, [x], None)
    stands_for: dict[Any, Any] = {}
    for i, node in enumerate(graph.calls):
        values[node] = compute(graph, node, values.__getitem__, None)
        op = node.target.op
        args = [values.get(a, a) if isinstance(a, type(node)) else a for a in node.args]
        arrays = op.signature.bind(*args, **node.kwargs)
        arrays.apply_defaults()
        found = op.resolve(*(type(arrays.arguments[name]) for name in op.array_parameters))
        setattr(space, f"f{i}", found)
        new_args, kwargs = substituted((node.args, node.kwargs), stands_for)
        stands_for[node] = dataclasses.replace(
            node, target_name=f"native.f{i}", args=new_args, kwargs=kwargs
        )
    renamed = graph.replace(
        nodes=[stands_for.get(node, node) for node in graph.nodes],
        output=substituted(graph.output, stands_for),
    )
    function = codegen.compile_graph(renamed)
    function.__globals__["native"] = space
    v, s, constants = graph.v, graph.s, graph.constants
    return lambda x: function(x, v=v, s=s, constants=constants)


if __name__ == "__main__":
    for each in tables():
        each.print()
