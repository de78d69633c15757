"""Variance, and layer, group, instance, batch and RMS normalization.

Before::

    def graph(x, weight, bias):  # float32[4, 3], float32[3], float32[3]
        mean = na.mean(x, axis=-1, keepdims=True)
        centered = na.subtract(x, mean)
        square = na.square(centered)
        variance = na.mean(square, axis=-1, keepdims=True)
        shifted = na.add(variance, 1e-06)
        root = na.sqrt(shifted)
        normal = na.divide(centered, root)
        scaled = na.multiply(normal, weight)
        y = na.add(scaled, bias)
        return y

After::

    def graph(x, weight, bias):  # float32[4, 3], float32[3], float32[3]
        y = na.layer_norm(x, weight, bias, eps=1e-06)
        return y
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence

import nestarray.ops as ops
from nestarray.graph.node import Call, Node, Operand, iter_nodes
from nestarray.graph.passes.idioms.idiom import Idiom, Match
from nestarray.graph.passes.idioms.terms import Axes
from nestarray.typing import Array

_ROOTS = frozenset(["add", "multiply", "divide", "subtract"])
_NEEDS = frozenset(["sqrt", "rsqrt", "pow"])
#: Inner values that running statistics use.
_MOMENTS = frozenset(
    ["sum", "mean", "var", "divide", "square", "multiply", "subtract", "maximum", "reshape",
     "expand_dims", "pow", "squeeze", "stop_gradient"]
)  # fmt: skip
#: From the operand of a variance to its result.
_MOST_STEPS = 7
_OVER = {"axis": (2, 3), "keepdims": True}


def _fast(x: Array, mean: Array) -> Array:
    """The mean of the squares, minus the square of the mean."""
    return ops.mean(x * x, **_OVER) - mean * mean


def _centered(x: Array, mean: Array) -> Array:
    """The mean square of the differences."""
    return ops.mean(ops.square(x - mean), **_OVER)


def _held(x: Array, mean: Array) -> Array:
    """`_centered`, whose derivative by the mean, 0, is left out."""
    return ops.mean(ops.square(x - ops.stop_gradient(mean)), **_OVER)


def _clipped_fast(x: Array, mean: Array) -> Array:
    return ops.maximum(_fast(x, mean), 0.0)


def _clipped_centered(x: Array, mean: Array) -> Array:
    return ops.maximum(_centered(x, mean), 0.0)


_VARIANCES = (_fast, _clipped_fast, _centered, _clipped_centered, _held)


def _scaled(x: Array, mean: Array, factor: Array, *affine: Array) -> Array:
    """(x − mean) · factor · weight + bias; None for one that is absent."""
    weight, bias = affine
    y = (x - mean) * factor
    y = y if weight is None else y * weight
    return y if bias is None else y + bias


def _two_terms(x: Array, mean: Array, factor: Array, *affine: Array) -> Array:
    """x · factor · weight + (bias − mean · factor · weight)."""
    weight, bias = affine
    factor = factor if weight is None else factor * weight
    shift = -mean * factor
    return x * factor + (shift if bias is None else bias + shift)


def _affine(has_weight: bool, has_bias: bool, given: Sequence[Array]) -> tuple[Array, Array]:
    """Weight and bias, or None."""
    return given[0] if has_weight else None, given[-1] if has_bias else None


def _normalized(
    form: Callable[..., Array], variance: Callable[..., Array], has_weight: bool, has_bias: bool
) -> Callable[..., Array]:
    """(x − mean) / √(variance + eps) · weight + bias, with x of axes n g s c."""

    def pattern(x: Array, eps: Array, *given: Array) -> Array:
        mean = ops.mean(x, **_OVER)
        given = tuple([ops.reshape(a, (1, a.shape[0], 1, a.shape[1])) for a in given])
        factor = ops.rsqrt(variance(x, mean) + eps)
        return form(x, mean, factor, *_affine(has_weight, has_bias, given))

    return pattern


def _vector_axes(has_weight: bool, has_bias: bool, axes: str) -> dict[str, str]:
    return ({"weight": axes} if has_weight else {}) | ({"bias": axes} if has_bias else {})


def _norm(match: Match) -> Node | None:
    """A call of the normalization for the axes of x that are averaged."""
    if match.numbers["eps"] < 0:
        return None
    letters = match.spelled("x")
    found = {*"".join(letters)}
    if found <= {"n", "c"}:
        return _layer_norm(match, "layer_norm")
    axes = match.axes["x"]
    if "g" in letters and letters[letters.index("g") + 1 :][:1] == ["c"]:  # groups are separate
        at = letters.index("g")
        letters = [*letters[:at], "gc", *letters[at + 2 :]]
        axes = (*axes[:at], axes[at] + axes[at + 1], *axes[at + 2 :])
    channels = [i for i, text in enumerate(letters) if "g" in text or "c" in text]
    if len(channels) != 1 or letters[channels[0]] not in ("g", "gc"):
        return None
    (channel,) = channels
    if "n" not in found and letters[channel] == "g":
        return _batch_norm(match, channel)
    first = "".join(letters[1:] if channel else letters)
    if "n" not in first and (not channel or letters[0] in ("n", "")):
        return _group_norm(match, axes, channel)
    return None


def _layer_norm(match: Match, op: str) -> Node | None:
    axis = match.places("x", "c")
    target = tuple([match.axes["x"][i] for i in axis])
    vectors = _vectors(match, target)
    if not axis or vectors is None:
        return None
    rank = len(match.axes["x"])
    if op == "rms_norm":
        vectors = vectors[:1]
    is_last = axis == (rank - 1,)
    settings: dict[str, Operand] = {} if is_last else {"axis": axis}
    x = match.node("x")
    assert x.aval is not None
    y = match.call(op, x, *vectors, shape=x.aval.shape, **settings, eps=match.numbers["eps"])
    return match.finish(y, match.axes["x"])


def _vectors(match: Match, target: Axes) -> list[Node | None] | None:
    """Weight and bias with these axes; None if they cannot be."""
    found: list[Node | None] = []
    for name in ("weight", "bias"):
        if name not in match.nodes:
            found.append(None)
            continue
        flat = sorted(atom for group in target for atom in group)
        if sorted(match.atoms(name)) != flat:
            return None
        vector = match.arranged(name, target)
        if vector is None:
            return None
        found.append(vector)
    while found and found[-1] is None:
        found.pop()
    return found


def _batch_norm(match: Match, channel: int) -> Node | None:
    vectors = _vectors(match, (match.axes["x"][channel],))
    if vectors is None:
        return None
    x = match.node("x")
    assert x.aval is not None
    shape = x.aval.shape
    settings: dict[str, Operand] = {} if channel == 1 else {"axis": channel}
    both = match.call(
        "batch_norm_training", x, *vectors, shape=shape, **settings, eps=match.numbers["eps"]
    )
    both.aval = None
    y = match.writer.item(both, 0, like=match.root, aval=x.aval)
    return match.finish(y, match.axes["x"])


def _group_norm(match: Match, axes: Axes, channel: int) -> Node | None:
    vectors = _vectors(match, (axes[channel],))
    groups = match.size(match.atoms("x", "g"))
    if vectors is None or not isinstance(groups, int):
        return None
    if not channel:  # without a batch
        axes, channel = ((), *axes), 1
    x = match.arranged("x", axes)
    if x is None or x.aval is None:
        return None
    settings: dict[str, Operand] = {"num_groups": groups}
    settings |= {} if channel == 1 else {"axis": channel}
    y = match.call(
        "group_norm", x, *vectors, shape=x.aval.shape, **settings, eps=match.numbers["eps"]
    )
    return match.finish(y, axes)


def _norms() -> list[Idiom]:
    """A rule for each formula, with and without weight and bias."""
    rules = []
    formulas = [(_scaled, variance) for variance in _VARIANCES]
    formulas += [(_two_terms, _centered), (_two_terms, _held)]
    for has_weight, has_bias in itertools.product((True, False), repeat=2):
        for form, variance in formulas:
            is_plain = not (has_weight or has_bias)  # then n and g, and s and c, are one
            letters = "n n c c" if is_plain else "n g s c"
            axes = {"x": letters, "eps": "", **_vector_axes(has_weight, has_bias, "g c")}
            pattern = _normalized(form, variance, has_weight, has_bias)
            name = "layer_norm" if is_plain else "batch_norm_training"
            rules.append(Idiom(name, pattern, axes, _ROOTS, _NEEDS, _norm, shared=_MOMENTS))
    return rules


def _root_mean_square(has_weight: bool) -> Callable[..., Array]:
    def pattern(x: Array, eps: Array, *affine: Array) -> Array:
        y = x * ops.rsqrt(ops.mean(ops.square(x), axis=1, keepdims=True) + eps)
        return y * affine[0] if has_weight else y

    return pattern


def _rms_norm(match: Match) -> Node | None:
    return None if match.numbers["eps"] < 0 else _layer_norm(match, "rms_norm")


def _rms_norms() -> list[Idiom]:
    return [
        Idiom("rms_norm", _root_mean_square(has_weight),
              {"x": "n c", "eps": "", **({"weight": "c"} if has_weight else {})},
              _ROOTS, _NEEDS, _rms_norm)
        for has_weight in (True, False)
    ]  # fmt: skip


def _given_moments(
    form: Callable[..., Array], has_weight: bool, has_bias: bool
) -> Callable[..., Array]:
    def pattern(x: Array, mean: Array, variance: Array, eps: Array, *given: Array) -> Array:
        factor = ops.rsqrt(variance + eps)
        return form(x, mean, factor, *_affine(has_weight, has_bias, given))

    return pattern


def _evaluated(match: Match) -> Node | None:
    channels = [i for i, text in enumerate(match.spelled("x")) if text == "c"]
    if len(channels) != 1 or match.numbers["eps"] < 0:
        return None
    target = (match.axes["x"][channels[0]],)
    vectors = _vectors(match, target)
    moments = [match.arranged(name, target) for name in ("mean", "variance")]
    x = match.node("x")
    assert x.aval is not None
    if vectors is None or len(x.aval.shape) < 2 or any(moment is None for moment in moments):
        return None
    settings: dict[str, Operand] = {} if channels[0] == 1 else {"axis": channels[0]}
    y = match.call(
        "batch_norm", x, *moments, *vectors, shape=x.aval.shape, **settings,
        eps=match.numbers["eps"],
    )  # fmt: skip
    return match.finish(y, match.axes["x"])


def _batch_norms() -> list[Idiom]:
    vectors = {"mean": "c", "variance": "c", "eps": ""}
    return [
        Idiom("batch_norm", _given_moments(form, has_weight, has_bias),
              {"x": "n c", **vectors, **_vector_axes(has_weight, has_bias, "c")},
              _ROOTS, _NEEDS, _evaluated, is_read_once=True)
        for form in (_scaled, _two_terms)
        for has_weight, has_bias in itertools.product((True, False), repeat=2)
    ]  # fmt: skip


def _moment(match: Match) -> Node | None:
    """The mean or the variance over the axes of letter c."""
    over = match.places("x", "c")
    if not over or not {*match.spelled("x")} <= {"n", "c", ""}:
        return None
    x, axes = match.node("x"), match.axes["x"]
    assert x.aval is not None
    shape = [n for i, n in enumerate(x.aval.shape) if i not in over]
    y = match.call(match.idiom.name, x, axis=over, shape=shape)
    return match.finish(y, tuple([axis for i, axis in enumerate(axes) if i not in over]))


def _operands(root: Node) -> Iterator[dict[str, Node]]:
    """The arrays of more axes than the result, a few calls before it."""
    axes = _long_axes(root)
    found, near = {root}, [root]
    for _ in range(_MOST_STEPS):
        near = [
            x for x in iter_nodes([n.args for n in near if isinstance(n, Call)]) if x not in found
        ]
        found.update(near)
        yield from [{"x": x} for x in dict.fromkeys(near) if _long_axes(x) > axes]


def _long_axes(x: Node) -> int:
    return 0 if x.aval is None else sum(n != 1 for n in x.aval.shape)


def _moments(
    name: str, roots: Iterable[str], patterns: Iterable[Callable[..., Array]]
) -> tuple[Idiom, ...]:
    return tuple(
        [Idiom(name, pattern, {"x": "n n c c"}, frozenset(roots), frozenset(["mean", "sum"]),
               _moment, shared=_MOMENTS, search=_operands)
         for pattern in patterns]
    )  # fmt: skip


def _mean(x: Array) -> Array:
    return ops.sum(x, **_OVER) / float(x.shape[2] * x.shape[3])


def _variances() -> Iterator[Callable[..., Array]]:
    for variance in _VARIANCES:
        yield lambda x, variance=variance: variance(x, ops.mean(x, **_OVER))


RULES = (*_norms(), *_rms_norms(), *_batch_norms())
#: For moments that are left: the mean is also part of a variance.
VARIANCES = _moments("var", ["mean", "divide", "multiply", "subtract", "maximum"], _variances())
MEANS = _moments("mean", ["divide", "multiply"], [_mean])
