"""Calls around an idiom as terms, which are equal for programs that differ in notation.

A term has labels for axes: broadcasting, transposes and most reshapes leave no trace, and a product
of matrices is a sum of products. Sums and products are flat; divisions and roots are powers.
Real arithmetic decides which terms are equal, so a match may round differently.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Container, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

from nestarray import dtypes
from nestarray.graph.node import Argument, Call, Node
from nestarray.graph.passes.rewriting import arguments_of, has, op_name
from nestarray.graph.passes.views import Shape
from nestarray.sizes import IntOrSize, Size
from nestarray.traits import Trait

#: A label of an axis, or of a factor of its size.
Atom = tuple[Hashable, ...]
#: For each axis of an array its labels; none for size 1 and for broadcast axes.
Axes = tuple[tuple[Atom, ...], ...]
#: A factor and a term.
Scaled = tuple[float, "Term"]


#: A factor and a term, of a sum and of an op; a term and its exponent, of a product.
Pair: TypeAlias = Any


@dataclass(eq=False)
class Term:
    """An expression.

    Attributes:
        op: ``"leaf"``, ``"one"``, ``"sum"``, ``"product"``, ``"reduce"``, or the name of an op.
        args: of a sum and of ops, scaled terms; of a product, pairs (term, exponent).
        settings: of a leaf, the value and its axes.
        atoms: the labels of the axes of a reduction.
    """

    op: str
    args: tuple[Pair, ...] = ()
    settings: Hashable = ()
    atoms: frozenset[Atom] = frozenset()

    @cached_property
    def key(self) -> str:
        """Text that is equal for equal terms."""
        args = ",".join(
            [f"{x[0]!r}*{x[1].key}" if isinstance(x[1], Term) else f"{x[0].key}^{x[1]!r}"
             for x in self.args]
        )  # fmt: skip
        return f"{self.op}({args}){self.settings!r}{sorted(self.atoms)!r}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Term) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


ONE = Term("one")

#: Sums: the factor of each argument.
_FACTORS = {"add": (1, 1), "subtract": (1, -1), "negative": (-1,)}
#: Products: the exponent of each argument.
_EXPONENTS = {
    "multiply": (1, 1), "divide": (1, -1), "square": (2,), "sqrt": (0.5,), "rsqrt": (-0.5,),
    "reciprocal": (-1,),
}  # fmt: skip
_REDUCTIONS = frozenset(["sum", "mean", "max", "logsumexp", "var"])
#: Ops along one axis that keep the shape.
_ALONG_AXIS = frozenset(["softmax", "log_softmax"])
#: Terms are for idioms, which are small.
_MOST_CALLS = 60


class _Split(Exception):
    """An axis has to be read as the product of two."""


class NoTerm(Exception):
    """The calls are too many, or have no normal form."""


def looks_into(x: Node) -> bool:
    """Whether the term of a call may be more than a leaf."""
    name = op_name(x)
    is_read = has(x, Trait.VIEW) or has(x, Trait.ELEMENTWISE) or name in _ALONG_AXIS | _REDUCTIONS
    return is_read or hasattr(Terms, f"_{name}")


class Terms:
    """The terms of the values around some anchors.

    Args:
        anchors: values that terms do not look into.
        is_leaf: whether terms look into none of the calls behind a value.
        number_of: the number that a value is, or None.
        order_of: the order of axes of a transposing call, or None.
        range_axis: the axis along which a value is 0, 1, 2, …, or None.
        ignores_casts: leave out casts between floating types.
    """

    def __init__(
        self,
        anchors: Sequence[Node],
        is_leaf: Callable[[Node], bool],
        number_of: Callable[[Node], float | None],
        order_of: Callable[[Node], tuple[int, ...] | None],
        range_axis: Callable[[Node], int | None],
        *,
        ignores_casts: bool = False,
    ) -> None:
        self.anchors, self.is_leaf = frozenset(anchors), is_leaf
        self.number_of, self.order_of = number_of, order_of
        self.range_axis, self.ignores_casts = range_axis, ignores_casts
        self.sizes: dict[Atom, IntOrSize] = {}
        self.splits: dict[Atom, tuple[Atom, Atom]] = {}
        self.seen: dict[tuple[Node, Axes], Scaled] = {}

    def of(self, root: Node) -> tuple[Scaled, Axes]:
        """The term of a value, and the labels of its axes."""
        for _ in range(8):
            self.seen = {}
            try:
                axes = tuple([self._labels(("root", i), n) for i, n in enumerate(_shape(root))])
                return self._scaled(root, axes), axes
            except _Split:
                continue
        raise NoTerm

    # -- labels ----------------------------------------------------------------------------

    def _labels(self, atom: Atom, size: IntOrSize) -> tuple[Atom, ...]:
        """The label of an axis, or the labels of its parts."""
        if size == 1:
            return ()
        self.sizes[atom] = size
        if atom in self.splits:
            return self.splits[atom]
        return (atom,)

    def _split(self, atom: Atom, size: int) -> None:
        before = self.sizes[atom]
        parts = [(f"{atom[0]}.{i}", *atom[1:]) for i in (0, 1)]
        self.sizes[parts[0]], self.sizes[parts[1]] = size, before // size
        new = (parts[0], parts[1])
        for whole, factors in self.splits.items():
            if atom in factors:
                at = factors.index(atom)
                self.splits[whole] = (*factors[:at], *new, *factors[at + 1 :])  # type: ignore[assignment]
                raise _Split
        self.splits[atom] = new
        raise _Split

    def _reshaped(self, axes: Axes, shape: Sequence[IntOrSize]) -> Axes:
        """The labels before a reshape from `shape`."""
        atoms = [atom for axis in axes for atom in axis]
        groups: list[tuple[Atom, ...]] = []
        for size in shape:
            group: list[Atom] = []
            while size != 1:
                if not atoms:
                    raise NoTerm
                factor = self.sizes[atoms[0]]
                if factor == size:
                    group.append(atoms.pop(0))
                    break
                if isinstance(factor, Size) or isinstance(size, Size) or not size:
                    raise NoTerm
                if size % factor == 0:
                    group.append(atoms.pop(0))
                    size //= factor
                elif factor % size == 0:
                    self._split(atoms[0], size)
                else:
                    raise NoTerm
            groups.append(tuple(group))
        if atoms:
            raise NoTerm
        return tuple(groups)

    def _viewed(self, node: Call, axes: Axes) -> Axes:
        """The labels of the argument of a view."""
        shape = _shape(node.args[0])
        order = self.order_of(node)
        if order is not None:
            return tuple([axes[order.index(i)] for i in range(len(order))])
        if op_name(node) == "broadcast_to":
            return _aligned(axes, shape)
        return self._reshaped(axes, shape)

    # -- terms -----------------------------------------------------------------------------

    def _scaled(self, x: Argument, axes: Axes) -> Scaled:
        """The term of an argument, whose axes have these labels."""
        if not isinstance(x, Node):
            if isinstance(x, (int, float)):
                return float(x), ONE
            raise NoTerm
        number = self.number_of(x)
        if number is not None:
            return number, ONE
        axes = _aligned(axes, _shape(x))
        key = x, axes
        if key not in self.seen:
            if len(self.seen) > _MOST_CALLS:
                raise NoTerm
            self.seen[key] = self._made(x, axes)
        return self.seen[key]

    def node_of(self, term: Term, without: Container[Node]) -> tuple[Node, Axes] | None:
        """A value, not one of `without`, that has a term, and the labels of its axes."""
        of_term = (key for key, scaled in self.seen.items() if scaled == (1.0, term))
        use = next(of_term, None)
        return None if use is None or use[0] in without else use

    def _made(self, x: Node, axes: Axes) -> Scaled:
        name = op_name(x)
        if x in self.anchors or not isinstance(x, Call) or not name:
            return leaf(x, axes)
        if has(x, Trait.VIEW):
            try:
                return self._scaled(x.args[0], self._viewed(x, axes))
            except NoTerm:
                return leaf(x, axes)
        same = self._unchanged(x)
        if same is not None:
            return self._scaled(same, axes)
        if self.is_leaf(x):
            return leaf(x, axes)
        if name in _FACTORS:
            parts = zip(_FACTORS[name], x.args, strict=True)
            return total(
                [(sign * c, term) for sign, arg in parts for c, term in [self._scaled(arg, axes)]]
            )
        if name in _EXPONENTS:
            pairs = zip(x.args, _EXPONENTS[name], strict=True)
            return self._product([(self._scaled(arg, axes), power) for arg, power in pairs])
        if name in _REDUCTIONS:
            return self._reduced(x, axes)
        method = getattr(self, f"_{name}", None)
        if method is not None:
            return method(x, axes)
        is_plain = not x.kwargs and all(isinstance(arg, (Node, int, float)) for arg in x.args)
        if is_plain and has(x, Trait.ELEMENTWISE):
            return 1.0, Term(name, tuple([self._scaled(arg, axes) for arg in x.args]))
        if name in _ALONG_AXIS:
            axis = arguments_of(x)["axis"]
            along = () if axis is None else (axis,) if isinstance(axis, int) else axis
            if along:
                atoms = frozenset(atom for i in along for atom in axes[i])
                return 1.0, Term(name, (self._scaled(x.args[0], axes),), atoms=atoms)
        return leaf(x, axes)

    def _unchanged(self, x: Call) -> Node | None:
        """The argument whose values a call returns: of a cast that is ignored, or a mask."""
        name = op_name(x)
        if name == "astype" and self.ignores_casts:
            avals = [node.aval for node in (x, x.args[0]) if isinstance(node, Node)]
            if all(aval is not None and aval.dtype.is_floating for aval in avals):
                return x.args[0]
        if name == "logical_and":
            for mask, other in (x.args, x.args[::-1]):
                if isinstance(other, Node) and isinstance(mask, Node) and self.number_of(mask) == 1:
                    return other
        return None

    def _take_along_axis(self, x: Call, axes: Axes) -> Scaled:
        operands = arguments_of(x)
        array, indices, axis = operands["x"], operands["indices"], operands["axis"] % len(axes)
        if _shape(indices)[axis] != 1:
            return leaf(x, axes)
        return self._picked(x, array, indices, axis, axes, axes)

    def _getitem(self, x: Call, axes: Axes) -> Scaled:
        """Axes of size 1 left out or added, or one element of each row."""
        array, index = x.args
        index = index if isinstance(index, tuple) else (index,)
        shape = _shape(array)
        if None in index and len(index) == len(axes) and Ellipsis not in index:
            axes = tuple([axis for axis, i in zip(axes, index, strict=True) if i is not None])
            index = tuple([i for i in index if i is not None])
        if all(isinstance(i, Node) for i in index) and len(index) == len(shape):
            return self._rows(x, array, index, axes)
        missing = [slice(None)] * (len(shape) - len([i for i in index if i is not Ellipsis]))
        index = (*missing, *index[1:]) if index[:1] == (...,) else (*index, *missing)
        is_whole = [i in (slice(None), slice(None, None, 1)) for i in index]
        is_only = [type(i) is int and i == 0 and n == 1 for i, n in zip(index, shape, strict=False)]
        if len(index) != len(shape) or not all(map(operator.or_, is_whole, is_only)):
            return leaf(x, axes)
        labels = iter(axes)
        return self._scaled(array, tuple([next(labels) if whole else () for whole in is_whole]))

    def _rows(self, x: Node, array: Node, index: tuple[Node, ...], axes: Axes) -> Scaled:
        """An element of each row: all indices but one count the rows."""
        labels: list[tuple[Atom, ...] | None] = []
        for i, size in zip(index, _shape(array), strict=True):
            group = self._counted(i, axes) or ()
            labels.append(group if [self.sizes[atom] for atom in group] == [size] else None)
        if labels.count(None) != 1:
            return leaf(x, axes)
        axis = labels.index(None)
        return self._picked(x, array, index[axis], axis, tuple([g or () for g in labels]), axes)

    def _picked(
        self, x: Node, array: Node, indices: Node, axis: int, axes: Axes, of_indices: Axes
    ) -> Scaled:
        """The elements of an array at indices along one axis, whose label is new."""
        labels = self._labels(("pick", x.name), _shape(array)[axis])
        args = (
            self._scaled(array, (*axes[:axis], labels, *axes[axis + 1 :])),
            self._scaled(indices, of_indices),
        )
        return 1.0, Term("pick", args, atoms=frozenset(labels))

    def _counted(self, x: Argument, axes: Axes) -> tuple[Atom, ...] | None:
        """The label of the axis along which a value is 0, 1, 2, …."""
        return self.counted(self._scaled(x, axes)[1])

    def counted(self, term: Term) -> tuple[Atom, ...] | None:
        """The same of a term."""
        if term.op != "leaf":
            return None
        node, labels = term.settings  # type: ignore[misc]
        axis = self.range_axis(node)
        return None if axis is None else labels[axis]

    def _pow(self, x: Call, axes: Axes) -> Scaled:
        base, exponent = x.args
        if isinstance(exponent, (int, float)):
            return self._product([(self._scaled(base, axes), exponent)])
        return leaf(x, axes)

    def _stop_gradient(self, x: Call, axes: Axes) -> Scaled:
        c, term = _without_floor(self._scaled(x.args[0], axes))
        return c, Term("stop_gradient", ((1.0, term),))

    def _astype(self, x: Call, axes: Axes) -> Scaled:
        assert x.aval is not None
        arg = x.args[0]
        if isinstance(arg, Node) and arg.aval is not None and arg.aval.dtype is x.aval.dtype:
            return self._scaled(arg, axes)
        c, term = self._scaled(arg, axes)
        if term.op == "one_hot":
            return c, term
        is_any = self.ignores_casts and x.aval.dtype.is_floating
        return 1.0, Term("astype", ((c, term),), "floating" if is_any else x.aval.dtype.name)

    def _bitcast(self, x: Call, axes: Axes) -> Scaled:
        arg = x.args[0]
        if x.aval is None or _shape(arg) != x.aval.shape:
            return leaf(x, axes)
        return 1.0, Term("bitcast", (self._scaled(arg, axes),), x.aval.dtype.name)

    def _equal(self, x: Call, axes: Axes) -> Scaled:
        for other, steps in (x.args, x.args[::-1]):
            counted = self._counted(steps, axes)
            if counted is not None:
                args = (self._scaled(other, axes),)
                return 1.0, Term("one_hot", args, atoms=frozenset(counted))
        return leaf(x, axes)

    def _where(self, x: Call, axes: Axes) -> Scaled:
        condition, *choices = x.args
        if not isinstance(condition, Node):
            raise NoTerm
        seen = self._scaled(condition, axes)
        if seen[1] is ONE:
            return self._scaled(choices[0] if seen[0] else choices[1], axes)
        return 1.0, Term("where", (seen, *[self._scaled(arg, axes) for arg in choices]))

    def _full(self, x: Call, axes: Axes) -> Scaled:
        value = arguments_of(x)["fill_value"]
        return (float(value), ONE) if isinstance(value, (int, float)) else leaf(x, axes)

    _full_like = _full

    def _reduced(self, x: Call, axes: Axes) -> Scaled:
        """A reduction of the first argument; a variance is the mean of squared differences."""
        kind, arguments = op_name(x), arguments_of(x)
        arg = arguments[next(iter(arguments))]
        if not isinstance(arg, Node) or arg.aval is None:
            raise NoTerm
        shape, dtype, axis = arg.aval.shape, arguments.get("dtype"), arguments["axis"]
        is_cast = dtype is not None and dtypes.as_dtype(dtype) is not arg.aval.dtype
        if is_cast or arguments.get("correction", 0) != 0 or arguments.get("b") is not None:
            return leaf(x, axes)
        over = range(len(shape)) if axis is None else (axis,) if isinstance(axis, int) else axis
        over = [a % len(shape) for a in over]
        if arguments["keepdims"]:
            axes = tuple([labels for i, labels in enumerate(axes) if i not in over])

        def inside(name: str) -> tuple[Scaled, frozenset[Atom]]:
            """The argument with new labels, which `name` makes unique, and these labels."""
            outer = iter(axes)
            inner = [
                self._labels(("over", name, i, _text(axes)), n) if i in over else next(outer)
                for i, n in enumerate(shape)
            ]
            atoms = frozenset(atom for i in over for atom in inner[i])
            return self._scaled(arg, tuple(inner)), atoms

        if kind != "var":
            return self._reduce(kind, *inside(arg.name))
        c, mean = self._reduce("mean", *inside(arg.name))
        value, atoms = inside(x.name)
        return self._reduce("mean", self._product([(total([value, (-c, mean)]), 2)]), atoms)

    def _reduce(self, kind: str, arg: Scaled, atoms: frozenset[Atom]) -> Scaled:
        if kind in ("sum", "mean"):
            c, term = arg
            factors = term.args if term.op == "product" else ((term, 1),)
            outer = [(t, e) for t, e in factors if t.op == "leaf" and t.settings[1] == ()]  # type: ignore[index]
            if not outer or len(factors) == len(outer):
                return c, Term("reduce", ((1.0, term),), kind, atoms)
            inner = [((1.0, t), e) for t, e in factors if (t, e) not in outer]
            reduced = self._reduce(kind, self._product(inner), atoms)
            return self._product([((c, ONE), 1), (reduced, 1), *[((1.0, t), e) for t, e in outer]])
        return 1.0, Term("reduce", (arg,), kind, atoms)

    def _matmul(self, x: Call, axes: Axes) -> Scaled:
        a, b = x.args
        ranks = len(_shape(a)), len(_shape(b))
        if min(ranks) < 2:
            return leaf(x, axes)
        bound = self._labels(("sum", x.name), _shape(a)[-1])
        *batch, rows, columns = axes
        factors = [
            self._scaled(a, (*batch, rows, bound)), self._scaled(b, (*batch, bound, columns))
        ]  # fmt: skip
        return self._contracted(factors, bound)

    def _linear(self, x: Call, axes: Axes) -> Scaled:
        arguments = arguments_of(x)
        bound = self._labels(("sum", x.name), _shape(x.args[0])[-1])
        *batch, columns = axes
        factors = [
            self._scaled(arguments["x"], (*batch, bound)),
            self._scaled(arguments["weight"], (columns, bound)),
        ]
        contraction = self._contracted(factors, bound)
        bias = arguments["bias"]
        return contraction if bias is None else total([contraction, self._scaled(bias, (columns,))])

    def _einsum(self, x: Call, axes: Axes) -> Scaled:
        text, *arrays = x.args
        inputs, arrow, result = text.replace(" ", "").partition("->")
        if not arrow or "." in text:
            return leaf(x, axes)
        labels = dict(zip(result, axes, strict=True))
        bound: list[Atom] = []
        for letters, array in zip(inputs.split(","), arrays, strict=True):
            for letter, size in zip(letters, _shape(array), strict=True):
                if letter not in labels:
                    labels[letter] = self._labels(("sum", x.name, letter), size)
                    bound += labels[letter]
        pairs = zip(inputs.split(","), arrays, strict=True)
        factors = [self._scaled(a, tuple([labels[i] for i in spec])) for spec, a in pairs]
        return self._contracted(factors, tuple(bound))

    def _contracted(self, factors: list[Scaled], bound: tuple[Atom, ...]) -> Scaled:
        c, product = self._product([(factor, 1) for factor in factors])
        return self._reduce("sum", (c, product), frozenset(bound))

    def _product(self, factors: Sequence[tuple[Scaled, float]]) -> Scaled:
        """Π factors, each with its exponent."""
        c, bag = 1.0, list[tuple[Term, float]]()
        for (factor, term), exponent in factors:
            is_integer = exponent == int(exponent)
            if not is_integer and factor <= 0 and term is not ONE:
                term, factor = Term("scaled", ((factor, term),)), 1.0
            if factor == 0 and exponent < 0:
                raise NoTerm
            c *= factor**exponent
            if isinstance(c, complex):
                raise NoTerm
            if term.op == "product" and is_integer:
                for inner, power in term.args:
                    _collect(bag, inner, power * exponent)
            elif term is not ONE:
                _collect(bag, term, exponent)
        for i, (term, exponent) in enumerate(bag):
            if exponent == 1 and term.op == "reduce" and term.settings == "sum":
                count = math.prod([self.sizes[atom] for atom in term.atoms])
                if (
                    isinstance(count, int)
                    and count > 1
                    and math.isclose(c * count, 1.0, rel_tol=1e-6)
                ):
                    bag[i] = Term("reduce", term.args, "mean", term.atoms), 1
                    c = 1.0
                    break
        if not bag:
            return c, ONE
        if len(bag) == 1 and bag[0][1] == 1:
            return c, bag[0][0]
        return c, Term("product", tuple(sorted(bag, key=lambda factor: factor[0].key)))


def total(terms: Iterable[Scaled]) -> Scaled:
    """Σ terms; the largest factor is taken out."""
    factors: dict[Term, float] = {}
    for c, term in terms:
        items = term.args if term.op == "sum" else ((1.0, term),)
        for inner, part in items:
            factors[part] = factors.get(part, 0.0) + c * inner
    items = [(c, term) for term, c in factors.items() if c]
    largest = [c for c, term in items if term is not ONE]
    if not items:
        return 0.0, ONE
    if len(items) == 1:
        return items[0]
    scale = max(largest, key=lambda c: (abs(c), c)) if largest else 1.0
    parts = [(c / scale, term) for c, term in items]
    return scale, Term("sum", tuple(sorted(parts, key=lambda part: part[1].key)))


def _without_floor(x: Scaled) -> Scaled:
    """A term in which the larger of a value and −∞ is the value, which only derivatives tell apart."""
    c, term = x
    if term.op == "maximum":
        others = [arg for arg in term.args if arg != (-math.inf, ONE)]
        if len(others) == 1 and c == 1.0:
            return _without_floor(others[0])
    if not term.args or term.op == "product":
        return x
    args = tuple([_without_floor(arg) for arg in term.args])
    return c, Term(term.op, args, term.settings, term.atoms)


def _collect(bag: list[tuple[Term, float]], term: Term, exponent: float) -> None:
    """Multiply by a power; powers of one sign are one."""
    for i, (other, power) in enumerate(bag):
        if other == term and power * exponent > 0:
            bag[i] = other, power + exponent
            return
    bag.append((term, exponent))


def leaf(x: Node, axes: Axes) -> Scaled:
    return 1.0, Term("leaf", settings=(x, axes))


def _shape(x: Argument) -> Shape:
    if not isinstance(x, Node) or x.aval is None:
        raise NoTerm
    return x.aval.shape


def _text(axes: Axes) -> str:
    """Equal for equal labels, with axes of size 1 and without."""
    return str([axis for axis in axes if axis])


def _aligned(axes: Axes, shape: Sequence[IntOrSize]) -> Axes:
    """The labels of an operand that is broadcast; from the last axis."""
    if len(shape) > len(axes):
        raise NoTerm
    last = axes[len(axes) - len(shape) :]
    return tuple([() if size == 1 else axis for axis, size in zip(last, shape, strict=True)])
