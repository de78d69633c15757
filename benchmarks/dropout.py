"""Compiled training with dropout: the first call and later ones, against the frameworks' own dropout.

Each framework runs in a fresh process with an empty compiler cache.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time as clock
from collections.abc import Callable
from typing import Any

import numpy as np

import nestarray as na
from benchmarks.timing import Table, compare, has_compiler, ratio, readable
from nestarray import backends

BATCH, WIDTH, STEPS, HEADS, RATE = 32, 64, 8, 4, 0.1
FRAMEWORKS = ("torch", "jax", "tensorflow")
KINDS = ("native", "na")
_COMPILERS = {
    "torch": "`torch.compile(dynamic=False)`",
    "jax": "`jax.jit`",
    "tensorflow": "`tf.function`",
}

#: x, weights, drop → y; `drop` draws a new mask in each call.
Program = Callable[[Any, dict[str, Any], Callable[[Any], Any]], Any]


def tables() -> list[Table]:
    """The first call and the steady state of six programs on three frameworks."""
    return [_table(framework) for framework in FRAMEWORKS]


def _table(framework: str) -> Table:
    table = Table(
        f"Dropout on {framework}, compiled",
        ["value and gradients", "first call", "nestarray", "ratio", "later", "nestarray", "ratio"],
        f"A training step of one program of `na`, compiled by {_COMPILERS[framework]}, with the dropout of "
        "the framework and of `na`. First call: with compilation and an empty cache of compiled code. "
        "Later: the lower quartile of the following calls. Load averages of the machine, before and after: ",
    )
    if framework == "torch" and not has_compiler():
        raise SystemExit("dropout: found no C++ compiler, which torch.compile needs; install g++")
    load = [os.getloadavg()[0]]
    for name, (native, ours, later, our_later) in _in_process(framework).items():
        table.add(
            name,
            readable(native), readable(ours), ratio(ours, native),
            readable(later), readable(our_later), ratio(our_later, later),
        )  # fmt: skip
    load.append(os.getloadavg()[0])
    table.note += f"{load[0]:.1f} and {load[1]:.1f}, with {os.cpu_count()} cores."
    return table


def _in_process(framework: str) -> dict[str, list[float]]:
    code = f"import json; from benchmarks import dropout; print(json.dumps(dropout.measure({framework!r})))"
    with tempfile.TemporaryDirectory() as cache:
        run = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code],
            check=True, stdout=subprocess.PIPE, text=True,
            env=os.environ | {"TORCHINDUCTOR_CACHE_DIR": cache},
        )  # fmt: skip
    return json.loads(run.stdout.splitlines()[-1])


def measure(framework: str) -> dict[str, list[float]]:
    """Program → seconds of the first call with native dropout and ours, then of later calls."""
    for kind in KINDS:  # load the compiler
        _step(framework, "warm-up", kind)()
    result = {}
    for i, name in enumerate(PROGRAMS):
        if name == "warm-up":
            continue
        if framework == "torch":
            _forget_compiled_code()
        steps = {kind: _step(framework, name, kind) for kind in KINDS}
        first = {kind: _seconds(steps[kind]) for kind in KINDS[:: 1 if i % 2 else -1]}
        later = compare(steps)
        result[name] = [*(first[kind] for kind in KINDS), *(later[kind] for kind in KINDS)]
        print(name, result[name], file=sys.stderr, flush=True)
    return result


def _forget_compiled_code() -> None:
    """All steps are one code object, which torch.compile stops compiling after eight programs."""
    import torch

    torch._dynamo.reset()


def _seconds(call: Callable[[], Any]) -> float:
    start = clock.perf_counter()
    call()
    return clock.perf_counter() - start


def _step(framework: str, name: str, kind: str) -> Callable[[], Any]:
    """A compiled step that waits for its result."""
    program, shapes, size = PROGRAMS[name]
    rng = np.random.default_rng(0)
    arrays = {n: 0.1 * rng.standard_normal(s, np.float32) for n, s in shapes.items()}
    v = {n: na.to_backend(x, framework) for n, x in arrays.items()}
    x = na.to_backend(rng.standard_normal(size, np.float32), framework)
    key = na.random.key(0, backend=framework)

    def loss(v: dict[str, Any], x: Any, key: Any) -> Any:
        drop = _ours(key) if kind == "na" else _NATIVE[framework](key)
        return na.mean(na.square(program(x, v, drop)))

    compiled = _COMPILE[framework](lambda v, x, key: na.value_and_grad(loss)(v, x, key))
    return lambda: _ready(compiled(v, x, key))


def _ready(nest: Any) -> None:
    for leaf in na.tree.leaves(nest):
        backends.core(na.backend_of(leaf)).block_until_ready(leaf)


# -- compilers and dropout --------------------------------------------------------------------


def _torch_compile(function: Any) -> Any:
    import torch

    return torch.compile(function, dynamic=False)


def _jax_compile(function: Any) -> Any:
    import jax

    return jax.jit(function)


def _tensorflow_compile(function: Any) -> Any:
    import tensorflow as tf

    return tf.function(function)


_COMPILE = {"torch": _torch_compile, "jax": _jax_compile, "tensorflow": _tensorflow_compile}


def _ours(key: Any) -> Callable[[Any], Any]:
    draws = iter(range(1000))
    return lambda x: x * na.random.dropout_mask(na.random.fold_in(key, next(draws)), RATE, x.shape)


def _torch_dropout(key: Any) -> Callable[[Any], Any]:
    import torch

    return lambda x: torch.nn.functional.dropout(x, RATE)


def _jax_dropout(key: Any) -> Callable[[Any], Any]:
    import jax

    draws = iter(range(1000))

    def drop(x: Any) -> Any:
        kept = jax.random.bernoulli(jax.random.fold_in(key, next(draws)), 1 - RATE, x.shape)
        return jax.numpy.where(kept, x / (1 - RATE), 0)

    return drop


def _tensorflow_dropout(key: Any) -> Callable[[Any], Any]:
    import tensorflow as tf

    return lambda x: tf.nn.dropout(x, RATE)


_NATIVE = {"torch": _torch_dropout, "jax": _jax_dropout, "tensorflow": _tensorflow_dropout}


# -- programs ---------------------------------------------------------------------------------


def _four(x: Any, v: dict[str, Any], drop: Any) -> Any:
    for _ in range(4):
        x = na.sin(drop(x * v["w"]))
    return x


def _mlp(x: Any, v: dict[str, Any], drop: Any) -> Any:
    for name in ("w1", "w2", "w3"):
        x = drop(na.relu(x @ v[name]))
    return x


def _recurrent(x: Any, v: dict[str, Any], drop: Any) -> Any:
    hidden = x[:, 0] @ v["w"]
    for i in range(1, STEPS):
        hidden = na.tanh(x[:, i] @ v["w"] + drop(hidden) @ v["u"])
    return hidden


def _convolutional(x: Any, v: dict[str, Any], drop: Any) -> Any:
    for name in ("k1", "k2"):
        x = drop(na.relu(na.conv2d(x, v[name], padding=1)))
    return x


def _attention(x: Any, v: dict[str, Any], drop: Any, name: str = "") -> Any:
    batch, length, width = x.shape
    parts = (x @ v[f"{name}{part}"] for part in "qkv")
    q, k, values = (
        na.permute_dims(na.reshape(part, (batch, length, HEADS, width // HEADS)), axes=(0, 2, 1, 3))
        for part in parts
    )
    scores = na.softmax(q @ na.matrix_transpose(k) * (width // HEADS) ** -0.5, axis=-1)
    return na.reshape(na.permute_dims(drop(scores) @ values, axes=(0, 2, 1, 3)), x.shape)


def _transformer(x: Any, v: dict[str, Any], drop: Any) -> Any:
    for name in ("a", "b"):
        x = x + drop(_attention(na.layer_norm(x, axis=-1), v, drop, name) @ v[f"{name}o"])
        x = x + drop(na.gelu(na.layer_norm(x, axis=-1) @ v[f"{name}1"]) @ v[f"{name}2"])
    return x


_SQUARE, _WIDE = (WIDTH, WIDTH), (WIDTH, 4 * WIDTH)
_BLOCK = {**dict.fromkeys("qkvo", _SQUARE), "1": _WIDE, "2": _WIDE[::-1]}
#: Name → program, shapes of the weights, shape of x.
PROGRAMS: dict[str, tuple[Program, dict[str, tuple[int, ...]], tuple[int, ...]]] = {
    "warm-up": (_mlp, dict.fromkeys(("w1", "w2", "w3"), (8, 8)), (4, 8)),
    "four dropouts": (_four, {"w": (512,)}, (512, 512)),
    "dense layers": (_mlp, dict.fromkeys(("w1", "w2", "w3"), (512, 512)), (256, 512)),
    "recurrent network": (_recurrent, dict.fromkeys("wu", _SQUARE), (BATCH, STEPS, WIDTH)),
    "convolutional network": (
        _convolutional, {"k1": (16, 3, 3, 3), "k2": (16, 16, 3, 3)}, (16, 3, 32, 32),
    ),
    "attention": (_attention, dict.fromkeys("qkv", _SQUARE), (BATCH, 64, WIDTH)),
    "transformer": (
        _transformer, {b + n: shape for b in "ab" for n, shape in _BLOCK.items()},
        (BATCH, 32, WIDTH),
    ),
}  # fmt: skip
