"""`Graph.parse`: the graph of a printed program.

The text is read as a syntax tree and never run: functions are looked up by name, as for files
(`files.py`). Comments hold shapes and dtypes; those of calls without a comment are computed.
"""

from __future__ import annotations

import ast
import io
import operator
import re
import tokenize
from collections.abc import Mapping, Sequence

from nestarray import ops
from nestarray.backends import is_array
from nestarray.config import use_backend
from nestarray.container import Container
from nestarray.errors import ConversionError, NestarrayError
from nestarray.graph.assumptions import Assumption
from nestarray.graph.builder import aval_of
from nestarray.graph.codegen import SYMBOLS, is_reserved
from nestarray.graph.files import find_function, named_dtype
from nestarray.graph.graph import Graph
from nestarray.graph.node import (
    Aval,
    Body,
    Call,
    Function,
    Input,
    Node,
    Operand,
    iter_nodes,
    map_nodes,
)
from nestarray.graph.sizes import Sizes
from nestarray.sizes import names_of, value_at
from nestarray.sizes import parse as size_of_text
from nestarray.transforms.abstract import Abstract, Scope, evaluate
from nestarray.typing import Nest

_VARIABLES = ("v", "s", "constants")
_AVAL = re.compile(r"(\w+)\[([^\]]*)\]|\.\.\.")
_VARIABLE = re.compile(r"# (v|s|constants)\['([^']+)'\]: (.*)")
_ASSUMPTION = re.compile(r"assumed (\w+): (.*)")


def _operator(function: Function, sign: str) -> type:
    """The class of an operator in a syntax tree."""
    is_unary = function in (operator.neg, operator.not_)
    match ast.parse(f"{sign}x" if is_unary else f"x {sign} x", mode="eval").body:
        case ast.Compare(ops=[sign_of]) | ast.BinOp(op=sign_of) | ast.UnaryOp(op=sign_of):
            return type(sign_of)
    raise ValueError(sign)


#: Operator in a syntax tree → the printed name of its function.
_OPERATORS = {_operator(fn, sign): f"operator.{fn.__name__}" for fn, sign in SYMBOLS.items()}


def parse(
    text: str,
    *,
    v: Container | None = None,
    s: Container | None = None,
    constants: Container | None = None,
    backend: str = "numpy",
) -> Graph:
    """Read a graph from the text that ``print(graph)`` writes; no code in the text is run.

    Args:
        text: the program. Comments give shapes and dtypes: of the arguments and of values that are
            unpacked in the line that names them, of a call in its line, and of a variable in a
            separate line, ``# v['weight']: float32[3, 2]``. A call may have no comment.
        v, s, constants: the variables that the program reads; None: arrays of ones, of the shapes
            in the comments.
        backend: on which the graph runs, where the text does not say it.

    Returns:
        a graph with the same calls. It has no source to verify, and no values that the text does
        not name: nests of arguments are flat, and sizes have no conditions.

    Raises:
        ConversionError: the text is not the program of a graph; names the line.

    Example:
        >>> import nestarray as na
        >>> graph = na.Graph.parse('''
        ... def graph(x, *, v, s, constants, key=None):  # float32[4, 3]
        ...     # v['weight']: float32[2, 3]
        ...     linear = na.linear(x, v['weight'])
        ...     return linear
        ... ''')
        >>> print(graph)
        import nestarray as na
        <BLANKLINE>
        <BLANKLINE>
        def graph(x, *, v, s, constants, key=None):  # float32[4, 3]
            linear = na.linear(x, v['weight'])  # float32[4, 2]
            return linear
        <BLANKLINE>
    """
    try:
        module = ast.parse(text)
    except SyntaxError as error:
        raise ConversionError(f"Graph.parse: line {error.lineno}: {error.msg}") from error
    reader = _Reader(text, {"v": v, "s": s, "constants": constants}, backend)
    try:
        return reader.graph(module)
    except (ValueError, KeyError) as error:
        raise ConversionError(f"Graph.parse: line {reader.line}: {error}") from error


Graph.parse = staticmethod(parse)  # type: ignore[attr-defined]


class _Reader:
    """Reads one program.

    Attributes:
        line: the number of the line that is read.
        names: name → its node, or its function.
        variables: (source, path) → its node.
    """

    def __init__(self, text: str, given: Mapping[str, Container | None], backend: str) -> None:
        self.backend, self.given, self.line = backend, given, 1
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        self.comments = {t.start[0]: t.string for t in tokens if t.type == tokenize.COMMENT}
        self.names: dict[str, Node | Body] = {}
        self.variables: dict[tuple[str, str], Node] = {}
        self.abstract: dict[Node, Nest] = {}  # the values, without elements
        self.updates: dict[str, Node] = {}
        self.assumptions: list[Assumption] = []
        self.scope = Scope({})

    def graph(self, module: ast.Module) -> Graph:
        """The graph of a module, whose last statement defines it."""
        function = module.body[-1] if module.body else None
        if not isinstance(function, ast.FunctionDef):
            raise ValueError("expected a function")
        for decorator in function.decorator_list:
            match decorator:
                case ast.Call(args=[ast.Constant(value=str(name))]):
                    self.backend = name
        values = {source: self._values(source) for source in _VARIABLES}
        inputs = self._parameters(function, "x")
        sizes = [n for node in inputs if node.aval for n in node.aval.shape]
        ranges = dict.fromkeys(sorted({name for n in sizes for name in names_of(n)}), (1, None))
        self.scope = Scope(ranges)
        key = self.names["key"] = Input(name="key", source="key", path="key")
        nodes: list[Call] = []
        output, returns_state = self._statements(function.body, nodes)
        read = iter_nodes((output, [(node.args, node.kwargs) for node in nodes]))
        keys = [key] if key in read else []
        return Graph(
            name=function.name,
            backend=self.backend,
            train=returns_state and not self.updates,
            nodes=[*inputs, *self.variables.values(), *keys, *nodes],
            signature=(tuple(inputs), {}),
            output=output,
            state_updates=self.updates,
            v=values["v"],
            s=values["s"],
            constants=values["constants"],
            sizes=Sizes(ranges),
            assumptions=tuple(self.assumptions),
        )

    def _values(self, source: str) -> Container:
        """The variables of one kind, with their nodes."""
        held = self.given[source]
        if held is None:
            lines = filter(None, map(_VARIABLE.fullmatch, self.comments.values()))
            avals = {line[2]: _avals(line[3])[0] for line in lines if line[1] == source}
            with use_backend(self.backend):
                arrays = {
                    p: ops.ones(tuple([value_at(n, {}) for n in a.shape]), dtype=a.dtype)
                    for p, a in avals.items()
                    if a
                }
            held = Container.from_flat_dict(arrays)
        for path, x in held.flat_items():
            node = Input(name=path, source=source, path=path, aval=aval_of(x))
            self.variables[source, path] = node
        return held

    def _parameters(self, function: ast.FunctionDef, source: str) -> list[Input]:
        """Nodes for the parameters of a function."""
        names = [each.arg for each in function.args.args]
        return self._bound(names, self.comments.get(function.lineno, ""), source)

    def _bound(self, names: Sequence[str], comment: str, source: str) -> list[Input]:
        """Nodes for names that a line binds, with the shapes and dtypes of its comment."""
        avals = _avals(comment) or [None] * len(names)
        nodes = []
        for name, aval in zip(names, avals, strict=True):
            if is_reserved(name) or name in self.names:
                raise ValueError(f"the name {name!r} is taken")
            path = name if source == "x" else ""
            nodes.append(Input(name=name, source=source, path=path, aval=aval))
            self.names[name] = nodes[-1]
        return nodes

    def _statements(
        self, statements: Sequence[ast.stmt], nodes: list[Call]
    ) -> tuple[Operand, bool]:
        """The result of a function, and whether it returns the state; adds its calls to `nodes`."""
        for statement in statements:
            self.line = statement.lineno
            match statement:
                case ast.FunctionDef():
                    self.names[statement.name] = self._body(statement)
                case ast.Assign(
                    [ast.Name("s")], ast.Call(ast.Attribute(ast.Name("s"), "set"), args)
                ):
                    path, node = [self._value(x) for x in args]
                    self.updates[path] = node
                case ast.Assign([ast.Name(name)], value):
                    nodes.append(self._call(name, value))
                case ast.Return(ast.Tuple([value, ast.Name("s")])):
                    return self._value(value), True
                case ast.Return(value) if value is not None:
                    return self._value(value), False
                case _:
                    raise ValueError(f"expected a call, got {ast.unparse(statement)!r}")
        raise ValueError("expected a return")

    def _body(self, function: ast.FunctionDef) -> Body:
        """A function that a call takes; its first lines unpack parameters."""
        parameters: dict[str, Input | tuple[Input, ...]] = {
            n.name: n for n in self._parameters(function, "body")
        }
        statements = [*function.body]
        while isinstance(first := statements[0], ast.Assign) and isinstance(first.value, ast.Name):
            names = [ast.unparse(each) for each in getattr(first.targets[0], "elts", ())]
            comment = self.comments.get(first.lineno, "")
            parameters[first.value.id] = tuple(self._bound(names, comment, "body"))
            statements.pop(0)
        nodes: list[Call] = []
        output, _ = self._statements(statements, nodes)
        read = {*iter_nodes(([(node.args, node.kwargs) for node in nodes], output))}
        for name, each in parameters.items():
            if isinstance(each, Node) and each.aval is None and each not in read:
                parameters[name] = ()  # nothing is unpacked
        return Body(function.name, tuple(parameters), tuple(parameters.values()), nodes, output)

    def _call(self, name: str, expression: ast.expr) -> Call:
        """The node of a call, under its name."""
        if is_reserved(name) or name in self.names:
            raise ValueError(f"the name {name!r} is taken")
        keywords: dict[str, ast.expr] = {}
        match expression:
            case ast.Subscript(of, index):
                target_name, args = "getitem", [of, index]
            case ast.BinOp(left, op, right) | ast.Compare(left, [op], [right]):
                target_name, args = _OPERATORS[type(op)], [left, right]
            case ast.UnaryOp(op, operand):
                target_name, args = _OPERATORS[type(op)], [operand]
            case ast.Call(function, args, settings):
                target_name = ast.unparse(function)
                keywords = {str(each.arg): each.value for each in settings}
            case _:
                raise ValueError(f"expected a call, got {ast.unparse(expression)!r}")
        is_random = isinstance(keywords.get("key"), ast.Call)
        if is_random:
            del keywords["key"]
        aval, module, assumed = self._comment()
        node = self.names[name] = Call(
            name=name,
            target=find_function(target_name),
            target_name=target_name,
            args=tuple([self._value(each) for each in args]),
            kwargs={key: self._value(each) for key, each in keywords.items()},
            aval=aval,
            is_random=is_random,
            module=module,
        )
        self.abstract[node] = self._evaluated(node)
        is_array = isinstance(self.abstract[node], Abstract)
        if is_array and self.line not in self.comments:
            node.aval = Aval(self.abstract[node].sizes, self.abstract[node].dtype)
        self.assumptions += [
            Assumption(use, ast.literal_eval(value), "", "", node) for use, value in assumed
        ]
        return node

    def _evaluated(self, node: Call) -> Nest:
        """The value of a call without elements; None where elements decide its shape."""
        if node.aval is not None or node.is_random:
            return self._abstract(node)
        if any(self._abstract(each) is None for each in iter_nodes((node.args, node.kwargs))):
            return None
        args, kwargs = map_nodes(self._abstract, [list(node.args), node.kwargs])
        try:
            with use_backend(self.backend):
                value = evaluate(node.target, args, kwargs)
        except (NestarrayError, TypeError, ValueError):
            return None
        # an op without array arguments makes an array
        return self._of_aval(aval_of(value)) if is_array(value) else value

    def _abstract(self, node: Node) -> Nest:
        if node.aval is None or node in self.abstract:
            return self.abstract.get(node)
        return self._of_aval(node.aval)

    def _of_aval(self, aval: Aval) -> Abstract:
        return Abstract(aval.shape, aval.dtype, self.scope)

    def _comment(self) -> tuple[Aval | None, str, list[tuple[str, str]]]:
        """Shape and dtype, module and assumptions in the comment of a call."""
        aval, module, assumed = None, "", []
        parts = self.comments.get(self.line, "# ")[2:].split(" · ")
        for i, part in enumerate(filter(None, parts)):
            assumption = _ASSUMPTION.fullmatch(part)
            if assumption is not None:
                assumed.append((assumption[1], assumption[2]))
            elif i == 0 and _AVAL.fullmatch(part):
                (aval,) = _avals(part)
            else:
                module = part
        return aval, module, assumed

    def _value(self, expression: ast.expr) -> Operand:
        """An argument: a nest of names and constants."""
        value = self._value
        match expression:
            case ast.Subscript(ast.Name(source), ast.Constant(str() as path)) if (
                source in _VARIABLES
            ):
                if (source, path) not in self.variables:
                    raise ValueError(
                        f"{source}[{path!r}] has no shape: pass {source}=, or write a line "
                        f"`# {source}[{path!r}]: float32[2, 3]`"
                    )
                return self.variables[source, path]
            case ast.Name(name) if name in self.names:
                return self.names[name]
            case ast.Constant(constant):
                return constant
            case ast.UnaryOp(ast.USub(), ast.Constant(int() | float() | complex() as number)):
                return -number
            case ast.List(items):
                return [value(each) for each in items]
            case ast.Tuple(items):
                return tuple([value(each) for each in items])
            case ast.Attribute(ast.Name(), name):
                return named_dtype(name)
            case ast.Call(ast.Name("float"), [ast.Constant(str() as text)]):
                return float(text)
            case ast.Call(ast.Name("complex"), [real, imag]):
                return complex(value(real), value(imag))
            case ast.Call(ast.Name("slice"), parts):
                return slice(*[value(each) for each in parts])
            case ast.Call(ast.Attribute(ast.Name("na"), "Container"), [ast.Dict(keys, items)]):
                return {value(key): value(x) for key, x in zip(keys, items, strict=True) if key}
        raise ValueError(f"expected a name or a constant, got {ast.unparse(expression)!r}")


def _avals(text: str) -> list[Aval | None]:
    """The shapes and dtypes in a comment; None for dots."""
    return [_aval(*each.groups()) if each[1] else None for each in _AVAL.finditer(text)]


def _aval(dtype: str, shape: str) -> Aval:
    sizes = ast.parse(f"[{shape}]", mode="eval").body.elts  # type: ignore[attr-defined]
    return Aval(tuple([size_of_text(ast.unparse(each)) for each in sizes]), named_dtype(dtype))
