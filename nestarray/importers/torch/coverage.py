"""What becomes of each operation of an exported program.

An operation is the frontend function of its name; else torch's own decomposition into
operations that are; else, where that is asked for, an island; else it is missing. All of this
is found out before anything of the program is translated.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

from nestarray import dtypes
from nestarray.errors import DtypeError, MissingOpError
from nestarray.frontends.torch import vocabulary
from nestarray.frontends.torch.vocabulary import Rule
from nestarray.importers.coverage import Operation
from nestarray.importers.torch.islands import why_not
from nestarray.importers.torch.places import origin


def covered(program: Any, *, islands: bool) -> tuple[Any, list[Operation]]:
    """Decompose unsupported operations, and report the status of each operation.

    A decomposition into operations that are also unsupported is not used: the operation itself
    is the better island, with the name that its author knows.

    Args:
        program: a ``torch.export.ExportedProgram``.
        islands: whether the remaining operations may be islands.
    """
    before = list(_calls(program))
    unknown = {call.target for call in before if why_unknown(call)}
    table = _decompositions() if unknown else {}
    usable, useless = unknown & table.keys(), set()
    result = program
    while usable:
        result = program.run_decompositions({target: table[target] for target in usable})
        left = [call for call in _calls(result) if why_unknown(call)]
        deeper = {call.target for call in left} & table.keys() - usable - useless
        failed = {target for target in usable if any(_is_part(call, target) for call in left)}
        if deeper:
            usable |= deeper
        elif failed:
            usable, useless, result = usable - failed, useless | failed, program
        else:
            break
    after = list(_calls(result))
    left = {call.target for call in after if why_unknown(call)}
    known = {call.target for call in before}
    found = [*before, *(call for call in after if call.target in left - known)]
    groups: dict[tuple[str, str], list[Any]] = {}
    for call in found:
        groups.setdefault((_name_of(call), why_unknown(call)), []).append(call)
    operations = [
        _operation(name, reason, calls, after, islands) for (name, reason), calls in groups.items()
    ]
    return result, operations


def _operation(
    name: str, reason: str, calls: list[Any], after: list[Any], islands: bool
) -> Operation:
    places = tuple([origin(call) for call in calls])
    if not reason:
        rule = rule_of(calls[0])
        assert rule is not None
        return Operation(name, "function", rule.name, places)
    target = calls[0].target
    if all(call.target is not target for call in after):
        parts = [rule_of(call) for call in after if _is_part(call, target)]
        names = dict.fromkeys(rule.name for rule in parts if rule is not None)
        return Operation(name, "decomposed", ", ".join(names), places)
    foreign = next((dtype for call in calls if (dtype := _foreign_dtype(call))), "")
    refusal = f"nestarray has no {foreign}" if foreign else why_not(target)
    if islands and not refusal:
        return Operation(name, "island", "na.graph.island", places)
    as_island = f"no island: {refusal}" if refusal else "islands=True would run it in torch"
    return Operation(name, "missing", "", places, f"{reason}; {as_island}")


def _name_of(call: Any) -> str:
    """The operation's name, also where the exporter wraps an operation that writes."""
    is_wrapped = getattr(call.target, "__name__", "").startswith("auto_functionalized")
    return str(call.args[0] if is_wrapped else call.target)


def _is_part(call: Any, target: Any) -> bool:
    """Whether a call comes from the decomposition of an operation, which its meta data name."""
    return str(call.meta.get("original_aten")) == str(target)


def _calls(program: Any) -> Iterator[Any]:
    """The calls of a program and of the functions inside of it, but those without effect on values."""
    import torch

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
    found = [*(getattr(x, "dtype", None) for x in arrays), *by_schema_name(call).values()]
    return next((str(dtype) for dtype in found if is_foreign(dtype)), "")


def is_foreign(value: Any) -> bool:
    """Whether a value is a dtype of torch that nestarray does not have."""
    import torch

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
