"""Functions generated with the parameters of others, so that calls go through them unpacked.

``def call(*args, **kwargs)`` makes a tuple and a dictionary of every call, which takes longer
than most look-ups that such a function is there for. One that declares the parameters
themselves hands them on as they lie. Where a condition decides between two functions it is
part of the generated code, not a call.
"""

from __future__ import annotations

import builtins
import linecache
from collections.abc import Callable, Mapping, Sequence
from functools import cache, wraps
from inspect import Parameter
from types import CodeType, FunctionType
from typing import Any
from zlib import crc32

from nestarray.backends.fast_paths import fast_path_of, noted
from nestarray.backends.parameters import texts

Function = Callable[..., Any]


def generated(
    code: CodeType, namespace: Mapping[str, Any], name: str, parameters: Sequence[Parameter]
) -> Any:
    """The function of `code` with the defaults of `parameters`.

    Args:
        code: of a function that declares `parameters`; see `code_of`.
        namespace: what its free names mean.
        name: the name of the function.
        parameters: of which it takes the defaults.
    """
    # torch.compile looks for builtins here; a __name__ would send it to that module
    names = {**namespace, "__builtins__": builtins.__dict__}
    function = FunctionType(code.replace(co_name=name, co_qualname=name), names, name)
    given = [p for p in parameters if p.default is not p.empty]
    function.__defaults__ = tuple(p.default for p in given if p.kind is not p.KEYWORD_ONLY)
    function.__kwdefaults__ = {p.name: p.default for p in given if p.kind is p.KEYWORD_ONLY}
    return function


def _op(*args: Any, **kwargs: Any) -> Any:
    return _at_first(*args, **kwargs)  # type: ignore[name-defined] # noqa: F821


def generated_when_called(
    code: Callable[[], CodeType],
    namespace: Mapping[str, Any],
    name: str,
    parameters: Sequence[Parameter],
) -> Any:
    """`generated`, with `code` made by the first call: few of many functions are ever called."""

    def at_first(*args: Any, **kwargs: Any) -> Any:
        recompile(function, code(), {})
        return function(*args, **kwargs)

    function = generated(_op.__code__, {**namespace, "_at_first": at_first}, name, parameters)
    return function


def recompile(function: Any, code: CodeType, names: Mapping[str, Any]) -> None:
    """Give a generated function other code, whose free names mean `names` too; calls go on."""
    function.__globals__.update(names)
    own = function.__name__
    function.__code__ = code.replace(co_name=own, co_qualname=own)


@cache
def code_of(source: str, what: str) -> CodeType:
    """The code of the one function in a fixed template, as dataclasses make it.

    Args:
        source: the text, which tracebacks show.
        what: what the function is, for the name of the file in tracebacks.
    """
    filename = f"<nestarray {what} {crc32(source.encode()):08x}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    module = compile(source, filename, "exec")
    return next(c for c in module.co_consts if isinstance(c, CodeType))


def choosing(
    parameters: Sequence[Parameter],
    condition: str,
    native: Function,
    otherwise: Function,
    **names: Any,
) -> Any:
    """`native` where `condition` holds for the arguments, else `otherwise`.

    Args:
        parameters: of both functions.
        condition: an expression of the parameters' names and of `names`.
        native: what the result is named and documented as, too.
        otherwise: what serves the rest.
        **names: what else the condition looks at.
    """
    declared, passed = texts(parameters)
    source = f"def op({declared}):\n    return (_native if {condition} else _otherwise)({passed})\n"
    code = code_of(source, "choice")
    name = getattr(native, "__name__", "choice")
    namespace = {**names, "_native": native, "_otherwise": otherwise}
    chosen = wraps(native)(generated(code, namespace, name, parameters))
    return noted(chosen, fast_path_of(native, parameters).behind(condition, names))
