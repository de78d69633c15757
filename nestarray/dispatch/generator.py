"""Generated code of public ops: the one place of the package where code is text.

``def op(*args, **kwargs)`` would build a tuple and a dictionary for every call, which takes 0.3 µs.
A generated function declares the parameters of the op itself. It checks the call, looks the
implementation up by type, and calls it:

    def op(x, *_extra, axis=None, keepdims=False, **_unknown):
        if _extra or _unknown: return _other_call(locals())
        if (axis is not _default_axis and type(axis) not in _types_axis or …) or …:
            return _check_settings(x, axis=axis, keepdims=keepdims)
        try: _function = _table[type(x)]
        except KeyError: _function = _resolve(type(x))
        try: return _function(x, axis=axis, keepdims=keepdims)
        except Exception as _error: …

``out``, which every op takes, is among the unknown arguments, and costs other calls nothing. Ops of
arrays alone declare it, as a parameter with a position: a keyword's default takes five times as long.
"""

from __future__ import annotations

import builtins
import linecache
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache, wraps
from inspect import Parameter
from types import CodeType, FunctionType
from typing import Any
from zlib import crc32

from nestarray.errors import signatures
from nestarray.typing import quick_types

#: Names of generated functions, which appear there behind an underscore, and "type".
RESERVED = frozenset(
    ("table", "resolve", "array_types", "explain", "implementation", "type", "missing", "other_call",
     "extra", "check_settings", "unknown", "supports", "native", "fallback", "out", "written")
)  # fmt: skip


def public_function(
    name: str,
    parameters: Sequence[Parameter],
    array_names: Collection[str],
    sequence_names: Collection[str],
    namespace: Mapping[str, Any],
) -> Any:
    """The public function of an op; its first call compiles it.

    Compiling all ops would take a third of the import time.

    Args:
        name: of the op.
        parameters: of its signature.
        array_names: the parameters that are arrays.
        sequence_names: those that are sequences of arrays.
        namespace: the objects that `RESERVED` names.
    """
    are_all_arrays = all(p.kind is p.POSITIONAL_ONLY and p.name in array_names for p in parameters)
    declared = (
        [*parameters, signatures.SURPLUS, signatures.OUT]
        if are_all_arrays
        else signatures.accept_any_call(parameters)
    )
    condition, checked = _wrong_settings(parameters)

    def compile_first(*args: Any, **kwargs: Any) -> Any:
        own = function.__name__
        code = _public_code(declared, parameters, array_names, sequence_names, condition)
        function.__code__ = code.replace(co_name=own, co_qualname=own)
        return function(*args, **kwargs)

    names = {**namespace, **checked, "_compile_first": compile_first}
    function = _function(_uncompiled.__code__, names, name, declared)
    # where torch.compile looks for the default of the function that it traces instead
    function.__kwdefaults__["out"] = None
    return function


def _uncompiled(*args: Any, **kwargs: Any) -> Any:
    return _compile_first(*args, **kwargs)  # type: ignore[name-defined] # noqa: F821


def traceable_function(
    name: str,
    parameters: Sequence[Parameter],
    array_names: Collection[str],
    sequence_names: Collection[str],
    namespace: Mapping[str, Any],
) -> Any:
    """The function that torch.compile traces for an op: without a growing table and `explain`."""
    passed = _texts(parameters)[1]
    condition, checked = _wrong_settings(parameters)
    types = [f"*map(type, {n})" if n in sequence_names else f"type({n})" for n in array_names]
    out = signatures.OUT.replace(kind=Parameter.KEYWORD_ONLY)
    position = sum(p.kind is not p.VAR_KEYWORD for p in parameters)
    declared = [*parameters[:position], out, *parameters[position:]]
    source = (
        f"def op({_texts(declared)[0]}):\n"
        + (f"    if {condition}:\n        _check_settings({passed})\n" if condition else "")
        + f"    _result = _implementation({', '.join(types)})({passed})\n"
        + "    return _result if out is None else _written(out, _result)\n"
    )
    return _function(_code_of(source), {**namespace, **checked}, name, declared)


def partial_function(
    parameters: Sequence[Parameter],
    supports: Callable[..., bool],
    native: Callable[..., Any],
    default: Callable[..., Any],
) -> Any:
    """`native` for the arguments that `supports` accepts, else `default`."""
    declared, passed = _texts(parameters)
    source = (
        f"def op({declared}):\n"
        f"    return (_native if _supports({passed}) else _fallback)({passed})\n"
    )
    names = {"_supports": supports, "_native": native, "_fallback": default}
    return wraps(native)(_function(_code_of(source), names, native.__name__, parameters))


def _public_code(
    declared: Sequence[Parameter],
    parameters: Sequence[Parameter],
    array_names: Collection[str],
    sequence_names: Collection[str],
    wrong_settings: str,
) -> CodeType:
    passed = _texts(parameters)[1]
    wrong = [p.name for p in (signatures.EXTRA, signatures.UNKNOWN) if p in declared]
    wrong += [
        f"{p.name} is _missing"
        for p in parameters
        if signatures.is_required(p) and p.name not in array_names
    ]
    if signatures.OUT in declared:
        wrong = ["out is not None", "_extra is not _missing"]
    # type(2.0) and not 2.0.__class__, which torch.compile does not find in a table
    types = [f"_array_types({n})" if n in sequence_names else f"type({n})" for n in array_names]
    source = f"def op({_texts(declared)[0]}):\n"
    if wrong:
        source += f"    if {' or '.join(wrong)}:\n        return _other_call(locals())\n"
    if wrong_settings:
        source += f"    if {wrong_settings}:\n        return _check_settings({passed})\n"
    source += (
        "    try:\n"
        f"        _function = _table[{']['.join(types)}]\n"
        "    except KeyError:\n"
        f"        _function = _resolve({', '.join(types)})\n"
        "    try:\n"
        f"        return _function({passed})\n"
        "    except Exception as _error:\n"
        f"        _function = _explain(_error, {passed})\n"
        "        if _function is None:\n"
        "            raise\n"
        "    return _function()\n"
    )
    return _code_of(source)


def _wrong_settings(parameters: Sequence[Parameter]) -> tuple[str, dict[str, Any]]:
    """The condition that a setting is neither the default nor of a type that its annotation names.

    Sequences of ints may not contain bools: True is neither an axis nor a length.
    """
    conditions = []
    names: dict[str, Any] = {}
    for p in parameters:
        types = quick_types(str(p.annotation))
        if not types or p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            continue
        names[f"_types_{p.name}"] = types
        condition = f"type({p.name}) not in _types_{p.name}"
        if tuple in types:
            condition += f" or type({p.name}) in (tuple, list) and bool in map(type, {p.name})"
        elif "Ints" in str(p.annotation).split(" | "):
            are_ints = f"type({p.name}) in (tuple, list) and {{*map(type, {p.name})}} == {{int}}"
            condition += f" and not ({are_ints})"
        if p.default is None or isinstance(p.default, bool):
            condition = f"{p.name} is not {p.default} and ({condition})"
        elif p.default is not p.empty:
            names[f"_default_{p.name}"] = p.default
            condition = f"{p.name} is not _default_{p.name} and ({condition})"
        conditions.append(f"({condition})")
    return " or ".join(conditions), names


def _texts(parameters: Sequence[Parameter]) -> tuple[str, str]:
    """The text of the declaration (without defaults), and of the arguments of a call."""
    declared, passed = [], []
    has_star = False
    for i, p in enumerate(parameters):
        if p.kind is p.KEYWORD_ONLY and not has_star:
            declared.append("*")
            has_star = True
        if p.kind is p.VAR_POSITIONAL:
            has_star = True
        stars = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        declared.append(f"{stars}{p.name}")
        passed.append(f"{p.name}={p.name}" if p.kind is p.KEYWORD_ONLY else declared[-1])
        is_last = i + 1 == len(parameters) or parameters[i + 1].kind is not p.POSITIONAL_ONLY
        if p.kind is p.POSITIONAL_ONLY and is_last:
            declared.append("/")
    return ", ".join(declared), ", ".join(passed)


def _function(
    code: CodeType, namespace: Mapping[str, Any], name: str, parameters: Sequence[Parameter]
) -> Any:
    """The function of `code` with the defaults of `parameters`."""
    # torch.compile looks for builtins here; a __name__ would make it use that module's globals
    names = {**namespace, "__builtins__": builtins.__dict__}
    function = FunctionType(code.replace(co_name=name, co_qualname=name), names, name)
    given = [p for p in parameters if p.default is not p.empty]
    function.__defaults__ = tuple(p.default for p in given if p.kind is not p.KEYWORD_ONLY)
    function.__kwdefaults__ = {p.name: p.default for p in given if p.kind is p.KEYWORD_ONLY}
    return function


@cache
def _code_of(source: str) -> CodeType:
    """The code of the one function in `source`, which tracebacks show."""
    filename = f"<nestarray op {crc32(source.encode()):08x}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    module = compile(source, filename, "exec")
    return next(c for c in module.co_consts if isinstance(c, CodeType))
