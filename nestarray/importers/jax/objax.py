"""Variables of Objax modules, by Objax's names.

Objax is not imported here: a module exists only if it has been.
"""

from __future__ import annotations

import contextlib
import inspect
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from nestarray.container import Container


def variables_of(module: Any) -> dict[str, Any]:
    """Name → variable; one with several names is included once, under the first."""
    variables: dict[int, tuple[str, Any]] = {}
    for name, x in module.vars().items():
        if not _is_reference(x):
            variables.setdefault(id(x), (name, x))
    return dict(variables.values())


def parted(module: Any) -> tuple[Container, Container]:
    """The values of the trained variables, and of the others.

    Variables to which an optimizer in the module refers are among the others: it writes them.
    """
    written = {id(x.ref) for x in module.vars().values() if _is_reference(x)}
    v: dict[str, Any] = {}
    s: dict[str, Any] = {}
    for name, x in variables_of(module).items():
        is_trained = isinstance(x, sys.modules["objax"].TrainVar) and id(x) not in written
        (v if is_trained else s)[name] = x.value
    return Container(v), Container(s)


def _is_reference(x: Any) -> bool:
    return isinstance(x, sys.modules["objax"].TrainRef)


@contextlib.contextmanager
def assigned(
    variables: Mapping[str, Any], given: Mapping[str, Any] | None = None
) -> Iterator[dict[str, Any]]:
    """Give variables other values for a while; the dict then has the values that code wrote.

    Args:
        variables: path → variable.
        given: path → value; the others keep theirs.
    """
    before = {path: x.value for path, x in variables.items()}
    start = before | dict(given or {})
    new: dict[str, Any] = {}
    _assign(variables, start)
    try:
        yield new
        new |= {path: x.value for path, x in variables.items() if x.value is not start[path]}
    finally:
        _assign(variables, before)


def _assign(variables: Mapping[str, Any], values: Mapping[str, Any]) -> None:
    for path, x in variables.items():
        x.assign(values[path], check=False)  # the check needs a class that JAX has removed


def members(module: Any) -> Iterator[tuple[str, Any]]:
    """(attribute or number, module) of the modules in a module."""
    numbered = enumerate(module) if isinstance(module, list) else ()
    for key, part in (*vars(module).items(), *numbered):
        if isinstance(part, sys.modules["objax"].Module):
            yield str(key).strip("_"), part


def passed_on(source: Any, signature: inspect.Signature) -> tuple[str, ...]:
    """The settings that ``objax.nn.Sequential`` passes to the layers that have them."""
    kinds = {parameter.kind for parameter in signature.parameters.values()}
    is_objax = type(source).__module__.startswith("objax.")
    return ("training",) if is_objax and inspect.Parameter.VAR_KEYWORD in kinds else ()
