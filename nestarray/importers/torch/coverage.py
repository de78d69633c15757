"""What becomes of each operation of an exported program.

An operation is the frontend function of its name; else torch's own decomposition into
operations that are; else, where that is asked for, an island; else it is missing. All of this
is found out before anything of the program is translated.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

import torch

from nestarray import dtypes
from nestarray.errors import DtypeError, MissingOpError
from nestarray.frontends.torch import vocabulary
from nestarray.frontends.torch.vocabulary import Rule
from nestarray.importers.torch.islands import why_not


def decomposed(program: Any) -> tuple[Any, list[Any]]:
    """Decompose unsupported operations.

    A decomposition into operations that are also unsupported is not used: the operation itself
    is the better island, with the name that its author knows.

    Returns:
        the program, and the calls of a report: those of the program as it was, and those of
        unsupported operations that it did not have.
    """
    before = list(calls_of(program))
    unknown = {call.target for call in before if why_unknown(call)}
    table = _decompositions() if unknown else {}
    usable, useless = unknown & table.keys(), set()
    result = program
    while usable:
        result = program.run_decompositions({target: table[target] for target in usable})
        left = [call for call in calls_of(result) if why_unknown(call)]
        deeper = {call.target for call in left} & table.keys() - usable - useless
        failed = {target for target in usable if any(is_part(call, target) for call in left)}
        if deeper:
            usable |= deeper
        elif failed:
            usable, useless, result = usable - failed, useless | failed, program
        else:
            break
    known = {call.target for call in before}
    if result is program:
        return program, before
    return result, [
        *before,
        *(call for call in calls_of(result) if call.target not in known and why_unknown(call)),
    ]


def why_no_island(call: Any) -> str:
    """Why an exported call cannot run in torch on the host; empty if it can."""
    foreign = _foreign_dtype(call)
    return f"nestarray has no {foreign}" if foreign else why_not(call.target)


def name_of(call: Any) -> str:
    """The operation's name, also where the exporter wraps an operation that writes."""
    is_wrapped = getattr(call.target, "__name__", "").startswith("auto_functionalized")
    return str(call.args[0] if is_wrapped else call.target)


def is_part(call: Any, target: Any) -> bool:
    """Whether a call comes from the decomposition of an operation, which its meta data name."""
    return str(call.meta.get("original_aten")) == str(target)


def calls_of(program: Any) -> Iterator[Any]:
    """The calls of a program and of the functions inside of it, but those without effect on values."""
    for module in program.graph_module.modules():
        if isinstance(module, torch.fx.GraphModule):
            for call in module.graph.nodes:
                if call.op == "call_function" and call.target is not operator.getitem:
                    rule = vocabulary.find(call.target)
                    if rule is None or not rule.is_ignored:
                        yield call


def rule_of(call: Any) -> Rule | None:
    """The rule of an exported call; None if the frontend has no function for it."""
    return vocabulary.find(call.target, by_schema_name(call), first_result=gives_first_only(call))


def why_unknown(call: Any) -> str:
    """Why the frontend cannot take an exported call; empty if it can."""
    rule = rule_of(call)
    if rule is None:
        return "there is no function of that name"
    if hasattr(call.target, "_schema"):
        named = by_schema_name(call)
        dtype = next((x for x in named.values() if is_foreign(x)), None)
        if dtype is not None:
            return f"{dtype} is none of nestarray's dtypes"
        try:
            rule.call(named)
        except MissingOpError as error:
            return str(error).removeprefix(f"{call.target}: ")
    return ""


def _foreign_dtype(call: Any) -> str:
    """The dtype of an argument or a result that nestarray does not have."""
    seen = [call.meta.get("val"), *(used.meta.get("val") for used in call.all_input_nodes)]
    arrays = [x for value in seen for x in (value if isinstance(value, (list, tuple)) else [value])]
    dtypes_of_call = [*(getattr(x, "dtype", None) for x in arrays), *by_schema_name(call).values()]
    return next((str(dtype) for dtype in dtypes_of_call if is_foreign(dtype)), "")


def is_foreign(value: Any) -> bool:
    """Whether a value is a dtype of torch that nestarray does not have."""
    if not isinstance(value, torch.dtype):
        return False
    try:
        dtypes.as_dtype(value)
    except DtypeError:
        return True
    return False


def _decompositions() -> dict[Any, Any]:
    """torch's own, by operation."""
    from torch._decomp import core_aten_decompositions, decomposition_table

    return {**decomposition_table, **core_aten_decompositions()}


def gives_first_only(call: Any) -> bool:
    """Whether all that is read of a call's results is the first."""
    return all(u.target is operator.getitem and u.args[1] == 0 for u in call.users)


def by_schema_name(call: Any) -> dict[str, Any]:
    """Argument name → value, without those at the schema's default."""
    schema = getattr(call.target, "_schema", None)
    if schema is None:
        return {**{str(i): a for i, a in enumerate(call.args)}, **call.kwargs}
    named = dict(zip((a.name for a in schema.arguments), call.args)) | dict(call.kwargs)
    defaults = {a.name: a.default_value for a in schema.arguments if a.has_default_value()}
    return {
        name: value
        for name, value in named.items()
        if not (
            name in defaults and type(value) is type(defaults[name]) and value == defaults[name]
        )
    }
