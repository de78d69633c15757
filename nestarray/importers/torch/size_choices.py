"""Comparisons that the size 1 answers differently from all larger sizes.

torch.export traces a program at one size, and each comparison of sizes restricts the program to
the sizes with the same answer. Comparisons with 1 have two reasons:

- An operator chooses strides (is the tensor contiguous?). A graph has no strides: the comparison
  gets the answer of the larger sizes and restricts nothing.
- The program chooses in Python, ``is_causal = length > 1 and mask is None``. The module is
  exported again with the answers of size 1. If the two programs are equal for that size, the
  choice restricts nothing; else it is a condition of the graph, with its line, and an example with a
  size of 1 is exported with its own answers.
"""

from __future__ import annotations

import functools
import itertools
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import sympy
import torch
from torch.fx.experimental.symbolic_shapes import uninteresting_files
from torch.fx.node import map_arg

from nestarray.errors import ArgumentError, Refused
from nestarray.errors.foreign import foreign
from nestarray.importers.torch.coverage import by_schema_name
from nestarray.importers.torch.export_errors import PACKAGE, line_of_forward
from nestarray.importers.torch.symbols import converted
from nestarray.sizes import Relations, named

#: The modules of torch that implement operators in Python.
_OPERATORS = (
    *("_ops.py", "_prims", "_prims_common", "_refs", "_decomp", "_subclasses", "fx"),
    *("_meta_registrations.py", "autograd", "_higher_order_ops", "_library"),
)

#: Programs are compared for all combinations of sizes of 1, up to this number of open sizes.
_LARGEST_COUNT = 3


class SizeChoices:
    """The comparisons of one attempt of a trace.

    Args:
        of_example: give the example's answers to Python code, not those of larger sizes.

    Attributes:
        lines: relation that the larger sizes fulfil → the line of Python that asks for it.
        are_of_example: whether the example has the answers of the larger sizes.
    """

    def __init__(self, *, of_example: bool = False) -> None:
        self._of_example, self.are_of_example = of_example, True
        self.lines: dict[Any, str] = {}
        self._ones: tuple[Any, ...] | None = None
        self._roots: dict[Any, Any] = {}  # size → the size that it is equal to
        self._watched: list[Any] = []

    def watch(self, tensors: Iterable[Any], *, python: bool) -> None:
        """Answer the comparisons of the sizes of traced tensors.

        Args:
            tensors: the arguments of forward.
            python: whether to answer comparisons in Python code too.
        """
        sizes = (size for x in tensors for size in x.shape if not isinstance(size, int))
        env = next((size.node.shape_env for size in sizes), None)
        if env is None or env in self._watched:
            return
        evaluate = env.evaluate_sym_node

        def answered(node: Any, *args: Any, **kwargs: Any) -> Any:
            answer = self._answer(env, node, python)
            return evaluate(node, *args, **kwargs) if answer is None else answer

        env.evaluate_sym_node = answered
        env._get_user_frame = _user_frame  # of guards
        self._watched.append(env)

    def stop(self) -> None:
        """Leave comparisons to torch again."""
        for env in self._watched:
            del env.evaluate_sym_node, env._get_user_frame
        self._watched.clear()

    def settle(self, program: Any, export: Callable[[], Any]) -> None:
        """Drop the choices of Python after which the program is the same for sizes of 1."""
        env = self._watched[-1]
        asked = set().union(*(each.free_symbols for each in self.lines))
        self._roots = {symbol: env.replace(symbol) for symbol in asked}
        symbols = sorted(set().union(*(x.free_symbols for x in self._roots.values())), key=str)
        if not symbols or len(symbols) > _LARGEST_COUNT:
            return
        lines = self.lines
        try:
            for self._ones in _combinations(symbols):
                try:
                    with foreign():
                        other = export()
                except Refused:  # the module refuses a size of 1, in its own way
                    return
                if not _is_same(program, other, self._ones):
                    return
            lines = {}
        finally:
            self.lines, self._ones = lines, None

    def _answer(self, env: Any, node: Any, python: bool) -> bool | None:
        """The answer to a comparison; None if torch decides it."""
        relation = env.replace(node.expr)
        larger = _answer_of_larger(relation)
        if larger is None or not env.backed_var_to_val.keys() >= relation.free_symbols:
            return None
        place = _place(sys._getframe(2))
        if not place:
            return None if place is None else larger
        if not python or (self._of_example and bool(node.hint) != larger):
            return None
        if self._ones is not None:
            return _at(relation.xreplace(self._roots), self._ones)
        self.are_of_example &= bool(node.hint) == larger
        self.lines.setdefault(relation if larger else ~relation, line_of_forward())
        return larger


def _user_frame() -> Any:
    """The frame that asks, as torch finds it, but beyond this package."""
    passing = uninteresting_files()
    frame: Any = sys._getframe(1)
    while frame is not None:
        filename = frame.f_code.co_filename
        if filename not in passing and not filename.startswith(PACKAGE):
            break
        frame = frame.f_back
    return frame


def _place(frame: Any) -> str | None:
    """The file of the program that asks for a comparison.

    "" for an operator; None for other questions, such as checks and numbers.
    """
    folder = os.path.dirname(torch.__file__)
    names: list[str] = []
    file = ""
    while frame is not None and _is_of_symbols(frame.f_code.co_filename):
        names.append(frame.f_code.co_name)
        if names[-1] == "guard_bool":
            file = frame.f_locals.get("file", "")
        frame = frame.f_back
    if frame is None or "guard_bool" not in names or "expect_true" in names:
        return None
    if (
        frame.f_code.co_filename == "<string>"
    ):  # the checks of a graph module, which torch generates
        return ""
    path = os.path.relpath(frame.f_code.co_filename, folder)
    return "" if file or path.split(os.sep)[0] in _OPERATORS else path


def _is_of_symbols(filename: str) -> bool:
    """Whether a file of torch passes a question on."""
    return filename.endswith(
        (
            os.path.join("torch", "__init__.py"),
            os.path.join("fx", "experimental", "sym_node.py"),
            os.path.join("fx", "experimental", "symbolic_shapes.py"),
            os.path.join("fx", "experimental", "recording.py"),
        )
    )


def _at(relation: Any, ones: tuple[Any, ...]) -> bool | None:
    """The answer if some sizes are 1, and the others any larger ones; None if these decide."""
    value: Any = relation.xreplace(dict.fromkeys(ones, sympy.Integer(1)))
    parts = value.atoms(sympy.core.relational.Relational)
    sizes = [x for x in parts if not any(side.is_Boolean or side.is_Relational for side in x.args)]
    value = value.xreplace({each: _of_larger(each) for each in sizes})
    return bool(value) if value in (sympy.true, sympy.false) else None


def _of_larger(comparison: Any) -> Any:
    """The answer to a comparison for all sizes above 1; itself if it depends on them."""
    try:
        (condition,) = converted(comparison, lambda symbol: named(symbol.name))
    except ArgumentError:  # of other functions
        return comparison
    relations = Relations(dict.fromkeys(condition.names, (2, None)))
    answer = relations.decide(condition.left, condition.sign, condition.right)
    return comparison if answer is None else sympy.true if answer else sympy.false


@functools.lru_cache(maxsize=4096)
def _answer_of_larger(relation: Any) -> bool | None:
    """The answer of all sizes above 1, if a size of 1 has another answer."""
    if not isinstance(relation, sympy.logic.boolalg.Boolean):
        return None
    larger = _at(relation, ())
    ones = _combinations(sorted(relation.free_symbols, key=str))
    return None if larger is None or all(_at(relation, some) == larger for some in ones) else larger


def _combinations(symbols: list[Any]) -> Iterator[tuple[Any, ...]]:
    """All selections of symbols, the whole first."""
    for count in range(len(symbols), 0, -1):
        yield from itertools.combinations(symbols, count)


# -- programs --------------------------------------------------------------------------------


def _is_same(program: Any, other: Any, ones: tuple[Any, ...]) -> bool:
    """Whether two exported programs compute the same if some sizes are 1."""
    lines, others = ([*_lines(each.graph, ones)] for each in (program, other))
    return (
        _inputs(program) == _inputs(other)
        and all(
            x is (y := other.constants[name]) or (isinstance(x, torch.Tensor) and torch.equal(x, y))
            for name, x in program.constants.items()
        )
        and len(lines) == len(others)
        and all(
            a.text == b.text or (a.is_single and a.without_mask == b.without_mask)
            for a, b in zip(lines, others, strict=True)
        )
    )


def _inputs(program: Any) -> tuple[Any, ...]:
    """The inputs and outputs, without the names of calls, which count unused calls too."""
    signature = program.graph_signature
    outputs = [(each.kind, type(each.arg), each.target) for each in signature.output_specs]
    return str(signature.input_specs), outputs, program.constants.keys()


class _Line(NamedTuple):
    """A call as text.

    Attributes:
        text: the operation and its arguments.
        without_mask: the same without ``is_causal``.
        is_single: whether it is attention of a single query to a single key, from which a causal mask
            hides nothing.
    """

    text: str
    without_mask: str
    is_single: bool


def _lines(graph: Any, ones: tuple[Any, ...]) -> Iterator[_Line]:
    """The calls of a graph, and of the functions in it, that its results need, or that may write."""
    used: set[Any] = set()
    for node in reversed(graph.nodes):
        is_region = any(each.op == "get_attr" for each in node.all_input_nodes)
        if node.is_impure() or is_region or any(user in used for user in node.users):
            used.add(node)
    numbers = {node: i for i, node in enumerate(node for node in graph.nodes if node in used)}
    for node in numbers:
        body: Any = getattr(graph.owning_module, node.target) if node.op == "get_attr" else None
        if hasattr(body, "graph"):  # of a loop, a branch or a context
            yield from _lines(body.graph, ones)
            continue
        arguments = dict(map_arg(by_schema_name(node), lambda x: ("node", numbers[x])))
        name = node.target if node.op == "call_function" else f"{node.op} {id(body)}"
        text = f"{name} {arguments}"
        is_attention = str(name).startswith("aten.scaled_dot_product_attention")
        lengths = [node.args[i].meta["val"].shape[-2] for i in (0, 1)] if is_attention else [0]
        arguments.pop("is_causal", False)
        yield _Line(text, f"{name} {arguments}", all(_is_one(n, ones) for n in lengths))


def _is_one(size: Any, ones: tuple[Any, ...]) -> bool:
    if isinstance(size, int):
        return size == 1
    expression = size.node.shape_env.replace(size.node.expr)
    return expression.xreplace(dict.fromkeys(ones, 1)) == 1
