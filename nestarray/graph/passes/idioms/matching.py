"""Match of a pattern's term with a program's, up to the order of sums and products."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from nestarray.dispatch import OPS
from nestarray.graph.node import Node
from nestarray.graph.passes.idioms.terms import ONE, Atom, Axes, Pair, Scaled, Term
from nestarray.traits import Trait

#: Terms whose arguments match in any order.
_UNORDERED = {"sum", "product", *(n for n, op in OPS.items() if Trait.COMMUTATIVE in op.traits)}


@dataclass(frozen=True)
class Bindings:
    """The values of the parameters of a pattern in a program.

    Attributes:
        nodes: parameter → the value.
        numbers: parameter → the number.
        occurrences: (parameter, the pattern's axes, the program's axes) of each use.
        reductions: pairs of the labels of a reduction.
    """

    nodes: dict[str, Node]
    numbers: dict[str, float]
    occurrences: tuple[tuple[str, Axes, Axes], ...] = ()
    reductions: tuple[tuple[frozenset[Atom], frozenset[Atom]], ...] = ()


class Matcher:
    """Compares terms.

    Args:
        node_of: the value of the program that has a term, and its axes, or None; for parameters
            that are calls.
        anchors: parameter → the value that it has to be.
        numbers: the parameters that are numbers.
        tolerance: relative, of numbers.
    """

    def __init__(
        self,
        node_of: Callable[[Term], tuple[Node, Axes] | None],
        anchors: dict[str, Node],
        numbers: Sequence[str],
        tolerance: float,
    ) -> None:
        self.node_of, self.anchors, self.numbers = node_of, anchors, numbers
        self.tolerance = tolerance

    def matches(self, pattern: Scaled, program: Scaled, bindings: Bindings) -> Iterator[Bindings]:
        """The extensions of `found` by which a scaled term is the pattern."""
        (c, term), (d, inner) = pattern, program
        name = self._parameter(term)
        factors = [self._parameter(x) for x, _ in term.args] if term.op == "product" else []
        number = next((i for i, x in enumerate(factors) if x in self.numbers), None)
        if name in self.numbers:
            if inner == ONE:
                value = d / c
                before = bindings.numbers.get(name)
                if before is None or math.isclose(before, value, rel_tol=self.tolerance):
                    yield replace(bindings, numbers={**bindings.numbers, name: value})
        elif number is not None:  # any factor
            name, others = factors[number], [x for i, x in enumerate(term.args) if i != number]
            if name in bindings.numbers:
                return
            left = (
                others[0][0]
                if len(others) == 1 and others[0][1] == 1
                else Term("product", tuple(others))
            )
            bindings = replace(bindings, numbers={**bindings.numbers, name: d / c})
            yield from self.terms(left, inner, bindings)
        elif c == d or math.isclose(c, d, rel_tol=self.tolerance):
            yield from self.terms(term, inner, bindings)

    def terms(self, pattern: Term, program: Term, bindings: Bindings) -> Iterator[Bindings]:
        """The extensions of `found` by which a term is the pattern."""
        name = self._parameter(pattern)
        if name:
            yield from self._bound(name, pattern, program, bindings)
        elif pattern.op != program.op or len(pattern.args) != len(program.args):
            return
        elif pattern.op in _UNORDERED:
            yield from self._unordered(pattern.args, program.args, bindings)
        elif pattern.settings == program.settings:
            if pattern.atoms or program.atoms:
                pair = pattern.atoms, program.atoms
                bindings = replace(bindings, reductions=(*bindings.reductions, pair))
            yield from self._ordered(pattern.args, program.args, bindings)

    def _parameter(self, term: Term) -> str:
        return term.settings[0].name if term.op == "leaf" else ""  # type: ignore[index]

    def _bound(
        self, name: str, pattern: Term, program: Term, bindings: Bindings
    ) -> Iterator[Bindings]:
        use = program.settings if program.op == "leaf" else self.node_of(program)
        if use is None:
            return
        node, axes = use  # type: ignore[misc]
        want = self.anchors.get(name, bindings.nodes.get(name, node))
        if node is not want or (name not in self.anchors and node in self.anchors.values()):
            return
        occurrence = name, pattern.settings[1], axes  # type: ignore[index]
        nodes = {**bindings.nodes, name: node}
        yield replace(bindings, nodes=nodes, occurrences=(*bindings.occurrences, occurrence))

    def _pair(self, first: Pair, second: Pair, bindings: Bindings) -> Iterator[Bindings]:
        if isinstance(first[0], Term):  # factors of a product
            if first[1] == second[1]:
                yield from self.terms(first[0], second[0], bindings)
        else:
            yield from self.matches(first, second, bindings)

    def _ordered(
        self, first: tuple[Pair, ...], second: tuple[Pair, ...], bindings: Bindings
    ) -> Iterator[Bindings]:
        if not first:
            yield bindings
            return
        for extended in self._pair(first[0], second[0], bindings):
            yield from self._ordered(first[1:], second[1:], extended)

    def _unordered(
        self, first: tuple[Pair, ...], second: tuple[Pair, ...], bindings: Bindings
    ) -> Iterator[Bindings]:
        if not first:
            yield bindings
            return
        for i, other in enumerate(second):
            for extended in self._pair(first[0], other, bindings):
                others = (*second[:i], *second[i + 1 :])
                yield from self._unordered(first[1:], others, extended)


def letters_of(
    found: Bindings, letter: dict[Atom, str], loose: frozenset[str] = frozenset()
) -> dict[Atom, str] | None:
    """The pattern's letter of each label of the program; None if the axes do not correspond.

    A letter of the pattern may be several labels, or none. Labels correspond if they belong to the
    same uses and the same reductions.

    Args:
        found: the match.
        letter: label of the pattern → its letter.
        loose: parameters that lack any of their axes.
    """
    strict = [use for use in found.occurrences if use[0] not in loose]
    pairs = [(_atoms(a), _atoms(b)) for _, a, b in strict]
    pairs += [(a, b) for a, b in found.reductions]
    possible: dict[tuple[bool, ...], set[str]] = {}
    for atom in frozenset(atom for a, _ in pairs for atom in a):
        possible.setdefault(tuple([atom in a for a, _ in pairs]), set()).add(letter[atom])
    letters: dict[Atom, set[str]] = {}
    for atom in frozenset(atom for _, b in pairs for atom in b):
        use = tuple([atom in b for _, b in pairs])
        if use not in possible:
            return None
        letters[atom] = possible[use]
    # an axis has the same letters in all uses of a value
    first: dict[str, Axes] = {}
    for name, _, axes in (*found.occurrences, *found.occurrences):
        if any(atom not in letters for axis in axes for atom in axis):
            return None
        labels = first.setdefault(name, axes)
        if [*map(len, labels)] != [*map(len, axes)]:
            return None
        for one, other in zip(sum(labels, ()), sum(axes, ()), strict=True):
            letters[one] = letters[other] = letters[one] & letters[other]
    if any(len(names) != 1 for names in letters.values()):
        return None
    return {atom: next(iter(names)) for atom, names in letters.items()}


def _atoms(axes: Axes) -> frozenset[Atom]:
    return frozenset(atom for axis in axes for atom in axis)
