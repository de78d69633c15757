"""Seeded random programs of PyTorch, JAX, TensorFlow and NumPy, as a person would write them.

A program has 8 to 14 lines. Each line is a call of a family (`FAMILIES`) with random operands and
settings; lines that the framework refuses at one of two sizes, or whose values are not finite or too
many, are drawn again. The framework itself is the oracle, at any size of the first axis.
"""

from __future__ import annotations

import dataclasses
import importlib
import linecache
import math
import random
import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np

import nestarray as na

SOURCES = ("torch", "jax", "tensorflow", "numpy")

#: Family → its text in each framework, in the order of `SOURCES`; "": none. ``{x}`` is a value,
#: ``{y}`` one of its shape, ``{n}`` the size of its first axis, ``{last}`` and ``{channels}`` the
#: sizes of its last and second axis, ``w`` a vector of weights, ``{axis}`` and ``{other}`` two axes,
#: ``{k}`` an integer from 1 to 3, ``{c}`` a positive number, ``{r}`` the name of the result.
FAMILIES: dict[str, tuple[str, str, str, str]] = {
    # elementwise
    "relu": ("F.relu({x})", "jax.nn.relu({x})", "tf.nn.relu({x})", "np.maximum({x}, 0)"),
    "tanh": ("torch.tanh({x})", "jnp.tanh({x})", "tf.tanh({x})", "np.tanh({x})"),
    "sigmoid": ("{x}.sigmoid()", "jax.nn.sigmoid({x})", "tf.sigmoid({x})", "1 / (1 + np.exp(-{x}))"),
    "gelu": ("F.gelu({x})", "jax.nn.gelu({x}, approximate=False)", "tf.nn.gelu({x})", ""),
    "softplus": ("F.softplus({x})", "jax.nn.softplus({x})", "tf.nn.softplus({x})", "np.logaddexp({x}, 0)"),
    "exp": ("(-{x}.abs()).exp()", "jnp.exp(-jnp.abs({x}))", "tf.exp(-tf.abs({x}))", "np.exp(-np.abs({x}))"),
    "sqrt": ("({x} * {x} + {c}).sqrt()", "jnp.sqrt({x} ** 2 + {c})", "tf.sqrt({x} ** 2 + {c})", "np.sqrt({x} ** 2 + {c})"),
    "clip": ("{x}.clamp(-{c}, 1.5)", "jnp.clip({x}, -{c}, 1.5)", "tf.clip_by_value({x}, -{c}, 1.5)", "np.clip({x}, -{c}, 1.5)"),
    "affine": ("{x} * {c} + {y}", "{x} * {c} + {y}", "{x} * {c} + {y}", "{x} * {c} + {y}"),
    "ratio": ("{x} / (1 + {y} ** 2)", "{x} / (1 + {y} ** 2)", "{x} / (1 + {y} ** 2)", "{x} / (1 + {y} ** 2)"),
    "maximum": ("torch.maximum({x}, {y})", "jnp.maximum({x}, {y})", "tf.maximum({x}, {y})", "np.maximum({x}, {y})"),
    "where": ("torch.where({x} > {y}, {x}, {c})", "jnp.where({x} > {y}, {x}, {c})", "tf.where({x} > {y}, {x}, {c})", "np.where({x} > {y}, {x}, {c})"),
    "sine": ("torch.sin({x}) * {y}.cos()", "jnp.sin({x}) * jnp.cos({y})", "tf.sin({x}) * tf.cos({y})", "np.sin({x}) * np.cos({y})"),
    "lerp": ("torch.lerp({x}, {y}, 0.25)", "{x} + 0.25 * ({y} - {x})", "{x} + 0.25 * ({y} - {x})", "{x} + 0.25 * ({y} - {x})"),
    # views
    "merge": ("{x}.reshape({n}, -1)", "{x}.reshape({n}, -1)", "tf.reshape({x}, ({n}, -1))", "{x}.reshape({n}, -1)"),
    "flatten": ("{x}.flatten()", "{x}.ravel()", "tf.reshape({x}, [-1])", "{x}.ravel()"),
    "merge first": ("{x}.reshape(-1, {last})", "{x}.reshape(-1, {last})", "tf.reshape({x}, [-1, {last}])", "{x}.reshape(-1, {last})"),
    "split axis": ("{x}.unflatten(-1, ({k}, -1))", "{x}.reshape(*{x}.shape[:-1], {k}, -1)", "tf.reshape({x}, ({n}, {k}, -1))", "{x}.reshape(*{x}.shape[:-1], {k}, -1)"),
    "swap": ("{x}.transpose({axis}, {other})", "jnp.swapaxes({x}, {axis}, {other})", "tf.experimental.numpy.swapaxes({x}, {axis}, {other})", "{x}.swapaxes({axis}, {other})"),
    "move": ("torch.movedim({x}, {axis}, {other})", "jnp.moveaxis({x}, {axis}, {other})", "tf.experimental.numpy.moveaxis({x}, {axis}, {other})", "np.moveaxis({x}, {axis}, {other})"),
    "transpose": ("{x}.T", "{x}.T", "tf.transpose({x})", "{x}.T"),
    "new axis": ("{x}.unsqueeze({axis})", "jnp.expand_dims({x}, {axis})", "tf.expand_dims({x}, {axis})", "np.expand_dims({x}, {axis})"),
    "expand": ("{x}[None].expand({k}, *{x}.shape)", "jnp.broadcast_to({x}, ({k}, *{x}.shape))", "tf.broadcast_to({x}, tf.concat([[{k}], tf.shape({x})], 0))", "np.broadcast_to({x}, ({k}, *{x}.shape))"),
    "flip": ("{x}.flip({axis})", "jnp.flip({x}, {axis})", "tf.reverse({x}, [{axis}])", "np.flip({x}, {axis})"),
    "roll": ("{x}.roll({k}, {axis})", "jnp.roll({x}, {k}, {axis})", "tf.roll({x}, {k}, {axis})", "np.roll({x}, {k}, {axis})"),
    "tile": ("{x}.tile({k})", "jnp.tile({x}, {k})", "tf.experimental.numpy.tile({x}, {k})", "np.tile({x}, {k})"),
    "repeat": ("{x}.repeat_interleave({k}, {axis})", "jnp.repeat({x}, {k}, {axis})", "tf.repeat({x}, {k}, {axis})", "np.repeat({x}, {k}, {axis})"),
    "stack": ("torch.stack([{x}, {y}], {axis})", "jnp.stack([{x}, {y}], {axis})", "tf.stack([{x}, {y}], {axis})", "np.stack([{x}, {y}], {axis})"),
    "concatenate": ("torch.cat([{x}, {y}], {axis})", "jnp.concatenate([{x}, {y}], {axis})", "tf.concat([{x}, {y}], {axis})", "np.concatenate([{x}, {y}], {axis})"),
    "halves": ("torch.chunk({x}, 2, {axis})[0]", "", "tf.split({x}, 2, {axis})[0]", "np.split({x}, 2, {axis})[0]"),
    # slices
    "tail": ("{x}[{k}:]", "{x}[{k}:]", "{x}[{k}:]", "{x}[{k}:]"),
    "head": ("{x}[:-1]", "{x}[:-1]", "{x}[:-1]", "{x}[:-1]"),
    "every second": ("{x}[::2]", "{x}[::2]", "{x}[::2]", "{x}[::2]"),
    "half": ("{x}[: {n} // 2 + 1]", "{x}[: {n} // 2 + 1]", "{x}[: {n} // 2 + 1]", "{x}[: {n} // 2 + 1]"),
    "part": ("{x}[: int({n} * 0.5) + 1]", "{x}[: int({n} * 0.5) + 1]", "", "{x}[: int({n} * 0.5) + 1]"),
    "columns": ("{x}[..., {k}:]", "{x}[..., {k}:]", "{x}[..., {k}:]", "{x}[..., {k}:]"),
    "column": ("{x}[..., -1]", "{x}[..., -1]", "{x}[..., -1]", "{x}[..., -1]"),
    "row": ("{x}[-1]", "{x}[-1]", "{x}[-1]", "{x}[-1]"),
    "differences": ("{x}[1:] - {x}[:-1]", "{x}[1:] - {x}[:-1]", "{x}[1:] - {x}[:-1]", "{x}[1:] - {x}[:-1]"),
    # writes into arrays
    "write row": ("{x}.clone(); {r}[0] = {c}", "{x}.at[0].set({c})", "", "{x}.copy(); {r}[0] = {c}"),
    "add to columns": ("{x}.clone(); {r}[..., ::2] += {c}", "{x}.at[..., ::2].add({c})", "", "{x}.copy(); {r}[..., ::2] += {c}"),
    "fill": ("{x}.masked_fill({x} > {c}, 0.5)", "jnp.where({x} > {c}, 0.5, {x})", "tf.where({x} > {c}, 0.5, {x})", "{x}.copy(); {r}[{x} > {c}] = 0.5"),
    "write slice": ("{x}.clone(); {r}[1:] = {x}[:-1]", "{x}.at[1:].set({x}[:-1])", "", "{x}.copy(); {r}[1:] = {x}[:-1]"),
    # reductions
    "sum": ("{x}.sum({axis})", "{x}.sum({axis})", "tf.reduce_sum({x}, {axis})", "{x}.sum({axis})"),
    "mean": ("{x}.mean({axis}, keepdim=True)", "{x}.mean({axis}, keepdims=True)", "tf.reduce_mean({x}, {axis}, keepdims=True)", "{x}.mean({axis}, keepdims=True)"),
    "max": ("{x}.amax({axis})", "{x}.max({axis})", "tf.reduce_max({x}, {axis})", "{x}.max({axis})"),
    "std": ("{x}.std({axis}, correction=0) + {c}", "{x}.std({axis}) + {c}", "tf.math.reduce_std({x}, {axis}) + {c}", "{x}.std({axis}) + {c}"),
    "logsumexp": ("{x}.logsumexp({axis})", "jax.nn.logsumexp({x}, {axis})", "tf.reduce_logsumexp({x}, {axis})", "np.log(np.exp({x}).sum({axis}))"),
    "norm": ("torch.linalg.vector_norm({x}, dim={axis})", "jnp.linalg.norm({x}, axis={axis})", "tf.norm({x}, axis={axis})", "np.linalg.norm({x}, axis={axis})"),
    "cumsum": ("{x}.cumsum({axis})", "{x}.cumsum({axis})", "tf.cumsum({x}, {axis})", "{x}.cumsum({axis})"),
    "cummax": ("{x}.cummax({axis}).values", "jax.lax.cummax({x}, 0)", "", "np.maximum.accumulate({x}, {axis})"),
    "argmax": ("{x}.argmax({axis}) * {c}", "{x}.argmax({axis}) * {c}", "tf.cast(tf.argmax({x}, {axis}), {x}.dtype) * {c}", "{x}.argmax({axis}).astype('float32') * {c}"),
    # sorts and gathers
    "sort": ("{x}.sort({axis}).values", "jnp.sort({x}, {axis})", "tf.sort({x}, {axis})", "np.sort({x}, {axis})"),
    "top": ("{x}.topk({k}).values", "jax.lax.top_k({x}, {k})[0]", "tf.math.top_k({x}, {k}).values", "np.sort({x})[..., -{k}:]"),
    "take": ("{x}.index_select({axis}, torch.tensor([0, 0]))", "jnp.take({x}, jnp.array([0, 0]), {axis})", "tf.gather({x}, [0, 0], axis={axis})", "np.take({x}, [0, 0], {axis})"),
    "ranks": ("{x}.gather({axis}, {y}.argsort({axis}))", "jnp.take_along_axis({x}, jnp.argsort({y}, {axis}), {axis})", "tf.experimental.numpy.take_along_axis({x}, tf.argsort({y}, {axis}), {axis})", "np.take_along_axis({x}, np.argsort({y}, {axis}), {axis})"),
    "index": ("{x}[torch.arange({n}) // 2]", "{x}[jnp.arange({n}) // 2]", "tf.gather({x}, tf.range({n}) // 2)", "{x}[np.arange({n}) // 2]"),
    # products
    "linear": ("{x} @ w[: {last} * 4].reshape({last}, 4)", "{x} @ w[: {last} * 4].reshape({last}, 4)", "tf.tensordot({x}, tf.reshape(w[: {last} * 4], ({last}, 4)), 1)", "{x} @ w[: {last} * 4].reshape({last}, 4)"),
    "gram": ("{x} @ {y}.mT / 4", "{x} @ jnp.swapaxes({y}, -1, -2) / 4", "tf.matmul({x}, {y}, transpose_b=True) / 4", "{x} @ {y}.swapaxes(-1, -2) / 4"),
    "einsum": ("torch.einsum('a...,a...->a', {x}, {y})", "jnp.einsum('a...,a...->a', {x}, {y})", "tf.einsum('ab,ab->a', {x}, {y})", "np.einsum('a...,a...->a', {x}, {y})"),
    "outer": ("{x}[:, None] * {y}[None]", "{x}[:, None] * {y}[None]", "{x}[:, None] * {y}[None]", "{x}[:, None] * {y}[None]"),
    # convolution, pooling, padding, resizing
    "conv1d": ("F.conv1d({x}, w[: {channels} * 6].reshape(2, {channels}, 3), stride={k}, padding=1)", "jax.lax.conv({x}, w[: {channels} * 6].reshape(2, {channels}, 3), ({k},), 'SAME')", "tf.nn.conv1d({x}, tf.reshape(w[: {last} * 6], (3, {last}, 2)), {k}, 'SAME')", ""),
    "conv2d": ("F.conv2d({x}, w[: {channels} * 18].reshape(2, {channels}, 3, 3), padding={k})", "jax.lax.conv({x}, w[: {channels} * 18].reshape(2, {channels}, 3, 3), ({k}, 1), 'SAME')", "tf.nn.conv2d({x}, tf.reshape(w[: {last} * 18], (3, 3, {last}, 2)), {k}, 'SAME')", ""),
    "max pool": ("F.max_pool1d({x}, 3, {k}, 1)", "", "tf.nn.max_pool1d({x}, 3, {k}, 'SAME')", ""),
    "average pool": ("F.avg_pool1d({x}, 2, {k})", "", "tf.nn.avg_pool1d({x}, 2, {k}, 'VALID')", ""),
    "adaptive pool": ("F.adaptive_avg_pool1d({x}, {k})", "", "", ""),
    "pad": ("F.pad({x}, ({k}, 1), value={c})", "jnp.pad({x}, [(0, 0)] * ({x}.ndim - 1) + [({k}, 1)])", "tf.pad({x}, [[0, 0]] * ({x}.shape.rank - 1) + [[{k}, 1]])", "np.pad({x}, [(0, 0)] * ({x}.ndim - 1) + [({k}, 1)])"),
    "reflect": ("F.pad({x}, (1, 1), mode='reflect')", "jnp.pad({x}, ((1, 1), *[(0, 0)] * ({x}.ndim - 1)), mode='edge')", "tf.pad({x}, [[1, 1]] + [[0, 0]] * ({x}.shape.rank - 1), 'REFLECT')", "np.pad({x}, ((1, 1), *[(0, 0)] * ({x}.ndim - 1)), mode='reflect')"),
    "resize": ("F.interpolate({x}, scale_factor={k}, mode='nearest')", "jax.image.resize({x}, (*{x}.shape[:-1], {last} * {k}), 'nearest')", "", ""),
    # normalization
    "softmax": ("{x}.softmax({axis})", "jax.nn.softmax({x}, {axis})", "tf.nn.softmax({x}, {axis})", "np.exp({x}) / np.exp({x}).sum({axis}, keepdims=True)"),
    "log softmax": ("{x}.log_softmax({axis})", "jax.nn.log_softmax({x}, {axis})", "tf.nn.log_softmax({x}, {axis})", ""),
    "layer norm": ("F.layer_norm({x}, ({last},))", "jax.nn.standardize({x}, axis=-1, epsilon=1e-5)", "({x} - tf.reduce_mean({x}, -1, keepdims=True)) / (tf.math.reduce_std({x}, -1, keepdims=True) + 0.1)", "({x} - {x}.mean(-1, keepdims=True)) / ({x}.std(-1, keepdims=True) + 0.1)"),
    "unit": ("F.normalize({x}, dim={axis}, eps=0.01)", "{x} / (jnp.linalg.norm({x}, axis={axis}, keepdims=True) + 0.01)", "tf.math.l2_normalize({x}, {axis}, 0.01)", "{x} / (np.linalg.norm({x}, axis={axis}, keepdims=True) + 0.01)"),
}  # fmt: skip

#: The example and the second size at which a line has to run.
EXAMPLE, OTHER = 4, 7
#: The largest number of elements of a value, and its largest number of axes.
_MOST, _MOST_AXES = 4000, 4


@dataclasses.dataclass(frozen=True)
class Line:
    """``name = text``; `uses` are the names in the text."""

    name: str
    text: str
    uses: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Program:
    """A function of `x` and the weights `w`, with its arrays."""

    source: str
    seed: int
    shape: tuple[int, ...]
    lines: tuple[Line, ...]
    outputs: tuple[str, ...]

    def __str__(self) -> str:
        body = "".join(f"    {line.name} = {line.text}\n" for line in self.lines)
        return f"def program(x, w):\n{body}    return {', '.join(self.outputs)}\n"

    def function(self) -> Callable[..., Any]:
        """The program, with its text for `inspect`."""
        path = f"<{self.source} program {self.seed}>"
        text = str(self)
        linecache.cache[path] = (len(text), None, text.splitlines(True), path)
        space = dict(_names(self.source))
        exec(compile(text, path, "exec"), space)
        return space["program"]

    def arrays(self, size: int) -> list[Any]:
        """`x` with `size` rows, and the weights."""
        rng = np.random.default_rng(self.seed)
        w = rng.uniform(-1, 1, 2000).astype("float32")
        x = rng.standard_normal((16, *self.shape)).astype("float32")[:size]
        return [na.to_backend(a, self.source) for a in (x, w)]

    def shortened(self) -> Iterator[Program]:
        """The programs with one line less, whose name another value of its line replaces."""
        for i, line in reversed(list(enumerate(self.lines))):
            for use in dict.fromkeys(line.uses):
                rest = [_renamed(later, line.name, use) for later in self.lines[i + 1 :]]
                outputs = tuple([use if name == line.name else name for name in self.outputs])
                yield dataclasses.replace(self, lines=(*self.lines[:i], *rest), outputs=outputs)
        if len(self.outputs) > 1:
            for output in self.outputs:
                yield dataclasses.replace(self, outputs=(output,))


def draw(source: str, seed: int) -> Program:
    """The program of a seed."""
    rng = random.Random(f"{source} {seed}")
    shape = rng.choice([(6,), (3, 5), (4, 6), (2, 4, 6)])
    program = Program(source, seed, shape, (), ())
    spaces = [dict(zip(("x", "w"), program.arrays(size), strict=True)) for size in (EXAMPLE, OTHER)]
    families = [row[SOURCES.index(source)] for row in FAMILIES.values()]
    families = [text for text in families if text]
    lines: list[Line] = []
    count = rng.randint(8, 14)
    while len(lines) < count:
        line = _line(rng, source, rng.choice(families), f"a{len(lines)}", spaces)
        if line and all(_runs(source, line, space) for space in spaces):
            lines.append(line)
        else:
            for space in spaces:
                space.pop(f"a{len(lines)}", None)
    used = {name for line in lines for name in line.uses}
    ends = [line.name for line in lines if line.name not in used]
    outputs = tuple(dict.fromkeys((*ends, rng.choice([line.name for line in lines]))))
    return dataclasses.replace(program, lines=tuple(lines), outputs=outputs)


def shrunk(program: Program, fails: Callable[[Program], bool]) -> Program:
    """The shortest program that fails, by leaving out lines."""
    for shorter in program.shortened():
        shorter = dataclasses.replace(shorter, lines=tuple(_needed(shorter.lines, shorter.outputs)))
        if runs(shorter) and fails(shorter):
            return shrunk(shorter, fails)
    return program


def runs(program: Program, size: int = EXAMPLE) -> bool:
    """Whether the framework itself runs the program at a size, to finite values."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            function = program.function()
            results = (jax.jit(function) if program.source == "jax" else function)(
                *program.arrays(size)
            )
        return all(map(_is_fine, results if isinstance(results, tuple) else (results,)))
    except Exception:  # any error of the framework
        return False


def _names(source: str) -> dict[str, Any]:
    modules = {
        "torch": {"torch": "torch", "F": "torch.nn.functional"},
        "jax": {"jax": "jax", "jnp": "jax.numpy"},
        "tensorflow": {"tf": "tensorflow"},
        "numpy": {"np": "numpy"},
    }
    return {name: importlib.import_module(path) for name, path in modules[source].items()}


def _line(
    rng: random.Random, source: str, text: str, name: str, spaces: list[dict[str, Any]]
) -> Line | None:
    """A line of a family, with random operands; None if an operand is no array of rank 1 or more."""
    names = [n for n in spaces[0] if n != "w"]
    x = rng.choice(names[-2:] if rng.random() < 0.7 else names)
    shapes = [tuple(space[x].shape) for space in spaces]
    rank = len(shapes[0])
    if not rank:
        return None
    alike = [n for n in names if [tuple(space[n].shape) for space in spaces] == shapes]
    settings = {
        "x": x,
        "y": rng.choice(alike),
        "n": f"tf.shape({x})[0]" if source == "tensorflow" else f"{x}.shape[0]",
        "last": shapes[0][-1],
        "channels": shapes[0][1] if rank > 1 else 1,
        "axis": rng.randrange(-rank, rank),
        "other": rng.randrange(rank),
        "k": rng.randint(1, 3),
        "c": rng.choice([0.5, 1.5, 2.0]),
        "r": name,
    }
    for size, axis in (("last", -1), ("channels", min(1, rank - 1))):
        if f"{{{size}}}" in text and shapes[0][axis] != shapes[1][axis]:
            return None  # a constant that is right at the example alone
    written = text.format(**settings)
    uses = tuple(n for n in dict.fromkeys(re.findall(r"\b(?:x|a\d+)\b", written)) if n != name)
    return Line(name, written.replace("; ", "\n    "), uses)


def _runs(source: str, line: Line, space: dict[str, Any]) -> bool:
    """Run a line in `space`; whether its value is finite, floating, and not too large."""
    text = f"{line.name} = {line.text}".replace("\n    ", "\n")

    def value(space: dict[str, Any]) -> Any:
        names = _names(source) | space
        exec(text, names)
        return names[line.name]

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # JAX would compile each line
            result = jax.eval_shape(value, space) if source == "jax" else value(space)
    except Exception:  # any error of the framework
        return False
    space[line.name] = result
    few = 0 < math.prod(result.shape) <= _MOST and len(result.shape) <= _MOST_AXES
    return few and (source == "jax" or _is_fine(result))


def _is_fine(value: Any) -> bool:
    array = np.asarray(value)
    is_floating = array.dtype in (np.float32, np.float64)
    return is_floating and bool(np.isfinite(array).all()) and float(np.abs(array).max()) < 1e4


def _renamed(line: Line, old: str, new: str) -> Line:
    text = re.sub(rf"\b{old}\b", new, line.text)
    return Line(line.name, text, tuple([new if use == old else use for use in line.uses]))


def _needed(lines: Any, outputs: tuple[str, ...]) -> list[Line]:
    """The lines that the outputs use."""
    needed, chosen = set(outputs), []
    for line in reversed(lines):
        if line.name in needed:
            needed |= set(line.uses)
            chosen.append(line)
    return chosen[::-1]
