"""Lint: expressions in code over `na` whose results differ between frameworks.

A function is code over `na` if it calls `na`, is handed to a function of `na`, or is a method of a
`na.nn.Module`. Within it a name is an array if it is a parameter without default, or is assigned
from a call of `na` or from arithmetic of arrays. `v`, `s` and `key` are Containers and keys by
convention, and have Container's methods. The syntax tree has no types, so a finding can be a false
alarm: ``# noqa`` on the line silences it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nestarray import ops
from nestarray.errors import ArgumentError

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

#: Parameters that hold no array.
_CONVENTIONS = {"self", "cls", "v", "s", "key"}
#: Functions of `na` whose results are not arrays.
_METADATA = {
    "backend_of", "dtype_of", "shape", "ndim", "size", "result_type", "promote_types", "isdtype",
    "can_cast", "finfo", "iinfo", "Container", "grad", "jit", "vmap", "value_and_grad", "jacrev",
    "jacfwd", "hessian", "checkpoint",
}  # fmt: skip
#: Functions that make arrays of floats, by default float32.
_FLOATS = {"zeros", "ones", "empty", "eye", "linspace", "full"}
#: Other functions that make arrays.
_RANGES = {"arange", "tri", "hann_window"}
#: Methods and attributes of some frameworks' arrays → the function of `na`.
_METHODS = {
    "T": "matrix_transpose", "mT": "matrix_transpose", "t": "matrix_transpose",
    "transpose": "permute_dims", "permute": "permute_dims", "view": "reshape",
    "unsqueeze": "expand_dims", "squeeze": "squeeze", "flatten": "reshape", "ravel": "reshape",
    "to": "astype", "float": "astype", "long": "astype", "int": "astype", "double": "astype",
    "norm": "vector_norm", "clamp": "clip", "detach": "stop_gradient", "conj": "conj",
    "dot": "vecdot", "cumsum": "cumulative_sum", "cumprod": "cumulative_prod", "mm": "matmul",
    "numpy": "to_backend", "expand": "broadcast_to", "masked_fill": "where", "nelement": "size",
} | {
    name: name
    for name in (
        "size", "sum", "mean", "max", "min", "std", "var", "prod", "any", "all", "argmax",
        "argmin", "reshape", "astype", "clip", "round", "abs", "exp", "log", "sqrt", "sin", "cos",
        "sigmoid", "tanh", "relu", "softmax", "sort", "argsort", "repeat", "take", "matmul", "pow",
    )
}  # fmt: skip
#: Frameworks whose functions take only their own arrays.
_FRAMEWORKS = {"numpy", "torch", "jax", "tensorflow"}


@dataclass(frozen=True)
class Finding:
    """An expression whose result differs between frameworks."""

    file: str
    line: int
    column: int
    rule: str
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.rule}: {self.text}"


def lint(source: str | Path, *, file: str | None = None) -> list[Finding]:
    """Find the expressions of a Python file over `na` that differ between frameworks.

    Nothing is imported or executed.

    Args:
        source: the path of a file, or the text of one.
        file: the name in the findings; by default the path, or ``"<text>"``.

    Returns:
        the findings in the order of their lines. The rules are: ``operator`` (``@`` with vectors,
        ``+x``, `divmod`), ``index`` (negative steps, lists and arrays as indices), ``in-place``,
        ``method``, ``value`` (a branch or a Python number from an array's value), ``dtype``,
        ``like`` and ``framework``.

    Raises:
        ArgumentError: the text is not Python.

    Example:
        >>> from nestarray.testing import lint
        >>> print(*lint('''import nestarray as na
        ... def residual(matrix, x, y):
        ...     return na.sum((matrix @ x - y) ** 2)'''), sep="\\n")
        <text>:3:20: operator: @ fails for vectors on TensorFlow; na.matmul takes them everywhere
    """
    name = file or (str(source) if isinstance(source, Path) else "<text>")
    text = source.read_text(encoding="utf-8") if isinstance(source, Path) else source
    try:
        module = ast.parse(text)
    except SyntaxError as error:
        raise ArgumentError(f"lint: {name}: line {error.lineno}: {error.msg}") from error
    imports = _imports(module)
    lines = text.splitlines()
    findings = {
        Finding(name, node.lineno, node.col_offset + 1, rule, advice)
        for function in _functions_over_na(module, imports)
        for node, rule, advice in _Reader(function, imports).findings()
        if "# noqa" not in lines[node.end_lineno - 1]
    }
    return sorted(findings, key=lambda found: (found.line, found.column, found.rule))


def _imports(module: ast.Module) -> dict[str, str]:
    """Name in the file → what it is: ``na``, ``na.nn``, ``jax.numpy``."""
    names = {}
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            for alias in node.names:
                names[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return {
        name: "na" + full.removeprefix("nestarray")
        if full.partition(".")[0] == "nestarray"
        else full
        for name, full in names.items()
    }


def _full_name(node: ast.AST, imports: dict[str, str]) -> str:
    """``na.nn.Linear`` for an attribute of an imported module, else an empty text."""
    if isinstance(node, ast.Attribute):
        inner = _full_name(node.value, imports)
        return f"{inner}.{node.attr}" if inner else ""
    return imports.get(node.id, "") if isinstance(node, ast.Name) else ""


def _is_of_na(node: ast.AST, imports: dict[str, str]) -> bool:
    name = _full_name(node, imports)
    return name.startswith("na.") and not name.startswith("na.frontends")


def _functions_over_na(module: ast.Module, imports: dict[str, str]) -> Iterator[_Function]:
    """The outermost functions that compute with `na`, and lambdas that are handed to it."""
    passed = {
        argument.id if isinstance(argument, ast.Name) else argument
        for call in ast.walk(module)
        if isinstance(call, ast.Call) and _is_of_na(call.func, imports)
        for argument in (*call.args, *(keyword.value for keyword in call.keywords))
        if isinstance(argument, ast.Name | ast.Lambda)
    }

    def visit(node: ast.AST, in_module: bool) -> Iterator[_Function]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, _Function):
                calls = (n.func for n in ast.walk(child) if isinstance(n, ast.Call))
                name = getattr(child, "name", child)
                is_over_na = name in passed or (in_module and name == "forward")
                if is_over_na or any(_is_of_na(function, imports) for function in calls):
                    yield child
                    continue
            is_module = isinstance(child, ast.ClassDef) and any(
                _full_name(base, imports).endswith("Module") and _is_of_na(base, imports)
                for base in child.bases
            )
            yield from visit(child, is_module)

    return visit(module, False)


class _Reader:
    """The findings of one function and those inside of it."""

    def __init__(self, function: _Function, imports: dict[str, str]) -> None:
        self.function, self.imports = function, imports
        self.parameters = {
            name
            for inner in ast.walk(function)
            if isinstance(inner, _Function)
            for name in _parameters(inner)
        }
        #: Names that hold results of `na`.
        self.results: set[str] = set()
        for _ in range(3):  # names that depend on later assignments of a loop
            for node in ast.walk(function):
                if isinstance(node, ast.Assign) and self.is_result(node.value):
                    self.results |= {n.id for t in node.targets for n in _names(t)}

    def is_result(self, node: ast.AST) -> bool:
        """Whether a value comes from a call of `na`, by its form."""
        if isinstance(node, ast.Call):
            name = _full_name(node.func, self.imports)
            return name.count(".") == 1 and _is_of_na(node.func, self.imports) and (
                name.partition(".")[2] not in _METADATA
            )  # fmt: skip
        if isinstance(node, ast.BinOp):
            return self.is_result(node.left) or self.is_result(node.right)
        if isinstance(node, ast.UnaryOp):
            return self.is_result(node.operand)
        if isinstance(node, ast.Compare):
            is_identity = any(
                isinstance(op, ast.Is | ast.IsNot | ast.In | ast.NotIn) for op in node.ops
            )
            return not is_identity and any(map(self.is_result, (node.left, *node.comparators)))
        if isinstance(node, ast.Subscript):
            return self.is_result(node.value)
        return isinstance(node, ast.Name) and node.id in self.results

    def is_array(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Name):
            return node.id in self.parameters or node.id in self.results
        if isinstance(node, ast.BinOp):
            return self.is_array(node.left) or self.is_array(node.right)
        return self.is_result(node)

    def findings(self) -> Iterator[tuple[Any, str, str]]:
        """(node, rule, advice)."""
        for node in ast.walk(self.function):
            reader = getattr(self, f"_{type(node).__name__.lower()}", None)
            if reader is not None:
                yield from ((node, *finding) for finding in reader(node))

    def _binop(self, node: ast.BinOp) -> Iterator[tuple[str, str]]:
        if isinstance(node.op, ast.MatMult):
            yield "operator", "@ fails for vectors on TensorFlow; na.matmul takes them everywhere"

    def _unaryop(self, node: ast.UnaryOp) -> Iterator[tuple[str, str]]:
        if isinstance(node.op, ast.UAdd) and self.is_array(node.operand):
            yield "operator", "+x fails on TensorFlow; it is x, or na.positive(x)"

    def _subscript(self, node: ast.Subscript) -> Iterator[tuple[str, str]]:
        if not self.is_array(node.value):
            return
        if isinstance(node.ctx, ast.Store):
            yield (
                "in-place",
                (
                    "fails on JAX and TensorFlow, and changes the caller's array; "
                    "x = na.at(x)[i].set(value)"
                ),
            )
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        for part in parts:
            step = part.step if isinstance(part, ast.Slice) else None
            if isinstance(step, ast.UnaryOp) and isinstance(step.op, ast.USub):
                yield "index", "negative steps fail on PyTorch; na.flip(x, axis=0)"
            if isinstance(part, ast.Compare) and self.is_array(part.left):
                yield "index", "the size depends on values, which fails in na.jit; na.where"
            if isinstance(part, ast.List) or (
                isinstance(part, ast.Name | ast.Call) and self.is_result(part)
            ):
                yield (
                    "index",
                    (
                        "arrays and lists as indices fail on TensorFlow or JAX; na.take(x, i, axis=0), "
                        "na.getitem(x, i)"
                    ),
                )

    def _augassign(self, node: ast.AugAssign) -> Iterator[tuple[str, str]]:
        if isinstance(node.target, ast.Name) and node.target.id in self.parameters:
            yield "in-place", "changes the caller's array on NumPy and PyTorch; x = x + y"

    def _attribute(self, node: ast.Attribute) -> Iterator[tuple[str, str]]:
        if not self.is_array(node.value):
            return
        if node.attr in _METHODS:
            yield "method", f".{node.attr} is not on every array; na.{_METHODS[node.attr]}(x)"
        if node.attr in ("item", "tolist"):
            yield "value", f".{node.attr}() fails in na.jit, and on TensorFlow"

    def _compare(self, node: ast.Compare) -> Iterator[tuple[str, str]]:
        for side in (node.left, *node.comparators):
            if (
                isinstance(side, ast.Attribute)
                and side.attr == "dtype"
                and self.is_array(side.value)
            ):
                yield "dtype", "x.dtype differs between frameworks; na.dtype_of(x)"

    def _call(self, node: ast.Call) -> Iterator[tuple[str, str]]:
        name = _full_name(node.func, self.imports)
        root, _, function = name.partition(".")
        if isinstance(node.func, ast.Name) and not name:
            builtin = node.func.id
            is_read = self.parameters and any(map(self.is_result, node.args))
            if builtin in ("float", "int", "bool") and is_read:
                yield "value", f"{builtin}() reads a value, which fails in na.jit"
            if builtin in ("divmod", "round") and any(map(self.is_array, node.args)):
                yield "operator", f"{builtin}() is not on every array; na.floor_divide, na.round"
        elif root == "na" and function in _FLOATS | _RANGES:
            settings = {keyword.arg for keyword in node.keywords}
            if None in settings:
                return
            if not settings & {"like", "device"}:
                yield "like", f"na.{function} has the default backend; add like=x"
            elif function in _FLOATS and "dtype" not in settings:
                yield "dtype", f"na.{function} is float32; add dtype=x.dtype"
        elif root in _FRAMEWORKS and any(map(self.is_array, node.args)):
            short = function.rpartition(".")[2]
            advice = f"; na.{short}" if hasattr(ops, short) else ""
            yield "framework", f"{name} takes arrays of {root}{advice}"

    def _if(self, node: ast.If | ast.While | ast.IfExp) -> Iterator[tuple[str, str]]:
        if self.parameters and any(map(self.is_result, _operands(node.test))):
            yield "value", "a branch on an array's value fails in na.jit; na.where, na.cond"

    _while = _ifexp = _if


def _parameters(function: _Function) -> Iterator[str]:
    """The parameters that may be arrays: those without default and convention."""
    given = function.args
    positional = [*given.posonlyargs, *given.args]
    for argument in positional[: len(positional) - len(given.defaults)]:
        text = ast.unparse(argument.annotation) if argument.annotation else "Array"
        is_array = "Array" in text or "Tensor" in text or text in ("Any", "object")
        if is_array and argument.arg not in _CONVENTIONS:
            yield argument.arg


def _names(target: ast.AST) -> Iterator[ast.Name]:
    """The names that an assignment sets, without those inside of indices."""
    if isinstance(target, ast.Name):
        yield target
    elif isinstance(target, ast.Tuple | ast.List | ast.Starred):
        for child in ast.iter_child_nodes(target):
            yield from _names(child)


def _operands(test: ast.AST) -> list[ast.AST]:
    """The parts of ``a and not b``."""
    if isinstance(test, ast.BoolOp):
        return [part for value in test.values for part in _operands(value)]
    if isinstance(test, ast.UnaryOp):
        return _operands(test.operand)
    return [test]
