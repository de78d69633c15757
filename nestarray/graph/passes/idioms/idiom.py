"""`Idiom`, a pair of a pattern and its replacement, and `Match`, one place where it applies."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from nestarray import dtypes, ops
from nestarray.container import Container
from nestarray.dtypes import DType
from nestarray.graph.builder import aval_of
from nestarray.graph.node import Argument, Aval, Call, Node, Operand, is_input
from nestarray.graph.passes.idioms.matching import Bindings
from nestarray.graph.passes.idioms.terms import Atom, Axes, Scaled, Term, Terms
from nestarray.graph.passes.rewriting import Writer, arguments_of, has, is_op, op_name
from nestarray.graph.passes.view_calls import reshaped
from nestarray.graph.passes.views import order_of
from nestarray.graph.record.recorder import Recorder, Traced
from nestarray.sizes import IntOrSize
from nestarray.traits import Trait
from nestarray.typing import Array

#: Origin of the call that replaces an idiom; `Graph.report` counts them.
ORIGIN = "idiom:"


@dataclass(frozen=True, eq=False)
class Idiom:
    """A rule: calls that compute `pattern` become calls of `replacement`.

    Attributes:
        name: in the report.
        pattern: the function, of arrays.
        axes: parameter → a letter for each axis, ``"n c"``; empty for a number. A letter is one
            axis, several or none of the program, in any order.
        anchors: the parameters that are arrays into which the pattern does not look; all that
            `search` has to find.
        roots: ops of the last call.
        needs: ops of which one is among the calls.
        replacement: writes the new calls; None if it does not apply.
        shared: ops of inner values that other calls may use; they are computed twice.
        loose: parameters that lack any of their axes.
        name_of_mask: the argument of `where` that a mask selects.
        ignores_casts: whether casts between floating types do not matter; `replacement` has to look
            at `Match.floating`.
        is_read_once: whether the anchor may have one reader.
        search: the values of the anchors, given the last call; by default each value in turn.
    """

    name: str
    pattern: Callable[..., Array]
    axes: Mapping[str, str]
    roots: frozenset[str]
    needs: frozenset[str]
    replacement: Callable[[Match], Node | None]
    anchors: tuple[str, ...] = ("x",)
    shared: frozenset[str] = frozenset()
    loose: frozenset[str] = frozenset()
    name_of_mask: str = ""
    ignores_casts: bool = False
    is_read_once: bool = False
    search: Callable[[Call], Iterator[dict[str, Node]]] | None = None

    @property
    def numbers(self) -> tuple[str, ...]:
        """The parameters that are numbers."""
        return tuple([name for name, axes in self.axes.items() if not axes])

    def example(self, sizes: Mapping[str, int]) -> dict[str, np.ndarray]:
        """Zeros for each parameter."""
        return {
            name: np.zeros(tuple([sizes[letter] for letter in axes.split()]), _dtype(name))
            for name, axes in self.axes.items()
        }


def idiom_of(node: Call) -> str:
    """The op of a call that replaced an idiom; empty for other calls."""
    return node.origin.removeprefix(ORIGIN) if node.origin.startswith(ORIGIN) else ""


def behind(x: object, names: Collection[str], steps: int) -> Iterator[Call]:
    """The calls of some ops behind views and functions of elements, at most so many steps away."""
    if not isinstance(x, Call) or not steps:
        return
    if op_name(x) in names:
        yield x
    elif has(x, Trait.VIEW) or has(x, Trait.ELEMENTWISE) or op_name(x) == "bitcast":
        for arg in x.args:
            yield from behind(arg, names, steps - 1)


def range_axis_of(node: Node, constants: Container | Mapping[str, Array]) -> int | None:
    """The axis along which a value is 0, 1, 2, …: of a constant, or a call of `arange`."""
    if is_op(node, "arange"):
        operands = arguments_of(node)
        start, stop = operands["start"], operands["stop"]
        return 0 if operands["step"] == 1 and (stop is None or start == 0) else None
    if not is_input(node, "constants") or node.aval is None or not node.aval.dtype.is_integer:
        return None
    x = np.asarray(ops.to_backend(constants[node.path], "numpy"))
    for axis, size in enumerate(x.shape):
        if size > 1 and (np.moveaxis(x, axis, -1) == np.arange(size)).all():
            return axis
    return None


def number_of(
    node: Node, constants: Container | Mapping[str, Array], *, of_integers: bool = False
) -> float | None:
    """The number that all elements of a value are, if that is known.

    Args:
        node: the value.
        constants: the constants of its graph.
        of_integers: also of signed integers, which are indices elsewhere.
    """
    while has(node, Trait.VIEW):
        node = node.args[0]
    if node.aval is None:
        return None
    kinds = ("bool", "uint", "int") if of_integers else ("bool", "uint")
    if not (node.aval.dtype.is_floating or node.aval.dtype.kind in kinds):
        return None
    if is_op(node, "full"):  # whose sizes may be those of an argument
        operands = arguments_of(node)
        value, like = operands["fill_value"], operands["like"]
        return float(value) if isinstance(value, (int, float)) and like is None else None
    if not is_input(node, "constants"):
        return None
    x = np.asarray(ops.to_backend(constants[node.path], "numpy"))
    return float(x.flat[0]) if x.size and (x == x.flat[0]).all() else None


def _dtype(name: str) -> str:
    return {"mask": "bool", "indices": "int64", "bits": "uint32"}.get(name, "float64")


@cache
def traced(idiom: Idiom) -> tuple[Scaled, dict[Atom, str]]:
    """The term of the pattern, and the letter of each label."""
    letters = "".join(idiom.axes.values()).replace(" ", "")
    sizes = {letter: i + 2 for i, letter in enumerate(dict.fromkeys(letters))}
    recorder = Recorder(idiom.name, "numpy")
    arrays = idiom.example(sizes)
    nodes = {name: recorder.builder.argument(name, aval_of(x)) for name, x in arrays.items()}
    with np.errstate(all="ignore"):
        operands = [Traced(x, nodes[name], recorder) for name, x in arrays.items()]
        root = idiom.pattern(*operands)._node
    held = recorder.builder.values["constants"]
    range_axis = lambda node: range_axis_of(node, held)  # noqa: E731
    terms = Terms(
        [*nodes.values()], lambda node: False, lambda node: None, order_of, range_axis,
        ignores_casts=idiom.ignores_casts,
    )  # fmt: skip
    scaled, _ = terms.of(root)
    letter: dict[Atom, str] = {}

    def read(term: Term) -> None:
        if term.op == "leaf":
            node, axes = term.settings  # type: ignore[misc]
            for atoms, axis_name in zip(axes, idiom.axes[node.name].split(), strict=True):
                letter.update(dict.fromkeys(atoms, axis_name))
        for first, second in term.args:
            read(second if isinstance(first, float) else first)

    read(scaled[1])
    return scaled, letter


class Match:
    """An idiom in a program, and the writer of the calls that replace it.

    Args:
        root: the last call.
        axes: the labels of its axes.
        found: the match.
        letters: label → letter.
        sizes: label → size.
        floating: the floating values between the operands and the result, which is one of them.
    """

    def __init__(
        self,
        idiom: Idiom,
        root: Call,
        axes: Axes,
        found: Bindings,
        letters: dict[Atom, str],
        sizes: dict[Atom, IntOrSize],
        floating: Sequence[Node],
    ) -> None:
        self.idiom, self.root, self.root_axes = idiom, root, axes
        self.numbers, self.letters, self.sizes = found.numbers, letters, sizes
        self.nodes, self.floating = found.nodes, floating
        outer = {atom for axis in axes for atom in axis}
        self.axes: dict[str, Axes] = {}
        for name, _, inner in found.occurrences:
            known = self.axes.get(name)
            if known is None or _inside(inner, outer) > _inside(known, outer):
                self.axes[name] = inner
        self.writer: Writer

    # -- reading ---------------------------------------------------------------------

    def spelled(self, name: str) -> list[str]:
        """The letters of each axis of a parameter; empty for size 1."""
        return ["".join(dict.fromkeys(self.letters[a] for a in axis)) for axis in self.axes[name]]

    def places(self, name: str, letter: str) -> tuple[int, ...]:
        """The axes of a parameter with this letter."""
        return tuple([i for i, text in enumerate(self.spelled(name)) if text == letter])

    def atoms(self, name: str, letter: str = "") -> tuple[Atom, ...]:
        """The labels of a parameter, of one letter, in the order of its axes."""
        flat = [atom for axis in self.axes[name] for atom in axis]
        return tuple([atom for atom in flat if not letter or self.letters[atom] == letter])

    def size(self, atoms: Sequence[Atom]) -> IntOrSize | None:
        """The number of elements along labels; None if it is open and a product."""
        sizes = [self.sizes[atom] for atom in atoms]
        if len(sizes) == 1:
            return sizes[0]
        return math.prod(sizes) if all(isinstance(n, int) for n in sizes) else None

    # -- writing ---------------------------------------------------------------------------

    def replaced(self, writer: Writer) -> Node | None:
        """The new value, whose calls are written; None if the replacement does not apply."""
        self.writer = writer
        return self.idiom.replacement(self)

    def node(self, name: str) -> Node:
        """A parameter, in the new graph."""
        old = self.nodes[name]
        return self.writer.stands_for.get(old, old)

    def call(
        self,
        op: str,
        *args: Argument,
        shape: Sequence[IntOrSize],
        dtype: DType | None = None,
        **settings: Operand,
    ) -> Call:
        """Write a call of an op."""
        assert self.root.aval is not None
        aval = Aval(tuple(shape), self.root.aval.dtype if dtype is None else dtype)
        return self.writer.call(op, *args, like=self.root, aval=aval, **settings)

    def cast(self, x: Node) -> Node:
        """A value in the dtype of the result."""
        assert x.aval is not None
        assert self.root.aval is not None
        dtype = self.root.aval.dtype
        return x if x.aval.dtype is dtype else self.call("astype", x, dtype, shape=x.aval.shape)

    def arranged(self, name: str, target: Axes) -> Node | None:
        """A parameter with axes of these labels; None if a size is open."""
        return self.moved(self.node(name), self.axes[name], target)

    def moved(self, node: Node, axes: Axes, target: Axes) -> Node | None:
        """A value with its axes merged, separated and in another order; None if a size is open."""
        assert node.aval is not None
        if axes == target:
            return node
        dtype = node.aval.dtype
        want: list[tuple[Atom, ...]] = [group for group in target if group]
        have: list[tuple[Atom, ...]] = [group for group in axes if group]
        if sorted(have) != sorted(want):  # between them, an axis for each label
            want = [(atom,) for group in want for atom in group]
            have = [(atom,) for group in have for atom in group]
        if tuple(have) != axes and have != want:
            node = self._reshaped(node, have)  # type: ignore[assignment]
            if node is None:
                return None
            axes = tuple(have)
        if have != want:
            order = tuple([have.index(group) for group in want])
            assert node.aval is not None
            shape = [node.aval.shape[i] for i in order]
            op, args = "permute_dims", (order,)
            if len(order) > 1 and order == (*range(len(order) - 2), len(order) - 1, len(order) - 2):
                op, args = "matrix_transpose", ()
            node = self.call(op, node, *args, shape=shape, dtype=dtype)
            axes = tuple(want)
        return node if axes == target else self._reshaped(node, target)

    def _reshaped(self, node: Node, target: Sequence[Sequence[Atom]]) -> Node | None:
        shape = [n for n in map(self.size, target) if n is not None]
        return (
            reshaped(self.writer, node, tuple(shape), self.root)
            if len(shape) == len(target)
            else None
        )

    def finish(self, node: Call, axes: Axes, op: str = "") -> Node | None:
        """The last value with the axes of the idiom's value, under its name.

        Args:
            node: the value of the new calls.
            axes: its labels.
            op: the name in the report; by default the op of `node`.
        """
        assert self.root.aval is not None
        node.origin = f"{ORIGIN}{op or op_name(node) or self.idiom.name}"
        moved = self.moved(node, axes, self.root_axes)
        if moved is None or moved.aval is None or moved.aval.shape != self.root.aval.shape:
            return None
        if moved.aval.dtype is not self.root.aval.dtype:
            return None
        moved.name = self.root.name
        return moved


def _inside(axes: Axes, outer: set[Atom]) -> int:
    return sum(atom in outer for axis in axes for atom in axis)


def tolerance_of(node: Node) -> float:
    """The relative difference of numbers that are equal in the dtype of a value."""
    if node.aval is None or not node.aval.dtype.is_floating:
        return 1e-6
    return (
        max(1e-6, 2.0 * float(dtypes.finfo(node.aval.dtype).eps))
        if node.aval.dtype.bits < 32
        else 1e-6
    )
